"""Players of each game that belong to no system: one conformance test for all, then what each is known for."""

import numpy as np
import pytest

from pipeline_src.arena.runner import Board, play_match
from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons, gomoku
from pipeline_src.games.game import get_game
from pipeline_src.parallel import Parallel
from pipeline_src.players.amazons import OnePlyOptions, OnePlyPlayer, amazons_engine, one_ply_values
from pipeline_src.players.amazons import make_evaluator as own_evaluator
from pipeline_src.players.player import Position
from pipeline_src.players.registry import make_player
from pipeline_src.search.amazons.evaluation import HAND, LEARNED, AmazonsEngine, make_evaluator, value_of
from pipeline_src.search.limits import Clock, Limit
from tests.players.positions import positions, random_states
from tests.search.gomoku.references import random_states as gomoku_states
from tests.search.references import least_seconds

TEXTS = {
    "amazons": ["random", "one_ply:noise=3", "alphabeta:depth=1", "uct:nodes=40", "uct:iterations=60,prior=0"],
    "gomoku": [
        *("random", "one_ply:noise=50", "minimax:depth=2", "alphabeta:depth=2", "alphabeta:nodes=500"),
        "mcts:playouts=50",
    ],
}
EACH = pytest.mark.parametrize(("game", "text"), [(game, text) for game, texts in TEXTS.items() for text in texts])


@EACH
def test_they_play_legally_on_any_board(game, text):
    player, rules = make_player(game, text), get_game(game)
    if game == "amazons":
        boards = [[rules.initial_state(10)], [rules.initial_state(10, "cross")], random_states(6, 6)]
    else:
        boards = [
            [rules.initial_state(size, variant), *gomoku_states(4, size, variant, seed=1)]
            for size, variant in ((5, "freestyle-4"), (9, "exact"), (15, "freestyle"), (3, "freestyle-1"))
        ]
    for states in boards:
        for state, action in zip(states, player.choose(positions(states)), strict=True):
            assert rules.is_legal(state, action)


@EACH
def test_a_choice_depends_on_the_position_and_its_own_generator(game, text):
    player, states = make_player(game, text), random_states(5, 6) if game == "amazons" else gomoku_states(4, 9, seed=2)
    together = player.choose(positions(states))
    assert player.choose(positions(states)) == together
    assert [make_player(game, text).choose([one])[0] for one in positions(states)] == together
    if text.startswith(("random", "mcts", "one_ply:noise=3")):
        assert any(player.choose(positions(states, seed)) != together for seed in (1, 2))


@pytest.mark.parametrize(("game", "fen"), [("gomoku", "3/3/3 b freestyle-3"), ("amazons", "Q2/3/2q w")])
def test_random_takes_every_action_sometimes(game, fen):
    state = get_game(game).from_fen(fen)
    chosen = make_player(game, "random").choose(positions([state] * 600))
    assert {*chosen} == {*get_game(game).legal_actions(state).tolist()}


def test_one_ply_wins_or_blocks_unless_noise_hides_it():
    wins = gomoku.from_fen("9/9/9/9/2xxxx3/9/2oooo3/9/9 b")
    blocks = gomoku.from_fen("9/9/9/9/2xxx4/9/1xoooo3/9/9 b")
    plain, blind = make_player("gomoku", "one_ply"), make_player("gomoku", "one_ply:noise=20000")
    assert plain.choose(positions([wins]))[0] in (gomoku.parse_move("b5", 9, 9), gomoku.parse_move("g5", 9, 9))
    assert plain.choose(positions([blocks] * 3)) == [gomoku.parse_move("g3", 9, 9)] * 3
    assert len(set(blind.choose(positions([blocks] * 30)))) > 3


@pytest.mark.parametrize(
    ("game", "text", "limit"),
    [
        ("amazons", "alphabeta", Limit(movetime_ms=1000)),
        ("amazons", "alphabeta:depth=3", Limit(depth=3)),
        ("amazons", "alphabeta:nodes=5000,depth=4", Limit(nodes=5000, depth=4)),
        ("amazons", "alphabeta:movetime=12.5", Limit(movetime_ms=12.5)),
        ("amazons", "uct", Limit(movetime_ms=1000)),
        ("amazons", "uct:iterations=7,movetime=50", Limit(nodes=7, movetime_ms=50)),
        ("gomoku", "alphabeta", Limit(depth=4)),
        ("gomoku", "mcts", Limit(nodes=1000)),
        ("gomoku", "mcts:playouts=70,c=0.5", Limit(nodes=70)),
        ("gomoku", "mcts:movetime=20", Limit(movetime_ms=20)),
        ("gomoku", "minimax:depth=3", Limit(depth=3)),
    ],
)
def test_limits_are_read(game, text, limit):
    assert make_player(game, text).limit == limit


def test_options_are_read():
    assert make_player("gomoku", "mcts:playouts=70,c=0.5").searcher.c == 0.5
    full, narrow, given = (
        make_player("gomoku", f"alphabeta:{words}").searcher.options
        for words in ("depth=3", "movetime=9", "nodes=9,width=7,reduce_after=0,table_mb=1")
    )
    assert (full.widths, full.reduce_after) == ((0,), 0)
    assert min(narrow.widths) > 0
    assert given.widths == (7,)
    search = make_player("amazons", "uct:c=0.25,prior=2,tree=100").searcher.searcher
    assert (search.options.c, search.options.prior, search.nodes) == (0.25, 2.0, 100)
    options, standard = of("alphabeta:width=7,width4=3,table_mb=2,futility=1.5"), of("alphabeta")
    assert (options.widths, options.table_mb, options.futility) == ((7, 7, 3), 2.0, 1.5)
    assert of("alphabeta:width3=9").widths == (standard.widths[0], 9, 9)
    whole = of("alphabeta:width=0")
    assert (whole.widths, whole.breadth, whole.inner_breadth) == ((0, 0, 0), 0, 0)
    assert (whole.futility, standard.futility) == (float("inf"), 3.0)
    assert of("alphabeta:width=0,breadth=3").breadth == 3


def of(text):
    """Options of a search of the Amazons."""
    return make_player("amazons", text).searcher.searcher.options


def test_players_rank_in_known_order():
    """Alpha-beta beats random play from any opening, and with few playouts so does UCT."""
    for text in ("alphabeta:depth=2", "mcts:playouts=200"):
        match = play_match(Board("gomoku", 9), text, "random", 4, 4, [5], Parallel(workers=1))
        assert match.standing.wins >= 7


def test_one_ply_plays_turn_with_worst_evaluation_for_opponent():
    states, evaluator = random_states(12, size=6), make_evaluator()
    for state, chosen in zip(states, OnePlyPlayer(OnePlyOptions()).choose(positions(states)), strict=True):
        turns, values = one_ply_values(state, evaluator)
        assert turns.tolist() == amazons.legal_actions(state).tolist()
        assert np.allclose(values, [-value_of(amazons.play(state, int(a)), evaluator) for a in turns])
        assert np.isclose(values[turns.tolist().index(chosen)], values.max())


def test_weights_come_from_the_params_file_or_an_option(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert amazons_engine() == AmazonsEngine()
    (tmp_path / "params.yaml").write_text("seed: 1\n")
    assert amazons_engine() == AmazonsEngine()
    assert np.array_equal(own_evaluator().knots[1:, :8], AmazonsEngine().table()[1:])
    (tmp_path / "params.yaml").write_text("amazons_engine: {phases: [{w: 3, t1: 1}]}\n")
    with pytest.raises(ZugwerkError, match="w = 0"):
        own_evaluator()
    text = "amazons_engine: {tempo: 0.1, phases: [{w: 0, t1: 1}, {w: 20, t1: 0.5, t2: 0.5}]}\n"
    (tmp_path / "params.yaml").write_text(text)
    evaluator = own_evaluator()
    assert evaluator.tempo[0] == 0.1
    assert evaluator.knots[:, :7].tolist() == [[0, 1, 0, 0, 0, 0, 0], [20, 0.5, 0.5, 0, 0, 0, 0]]
    knots = {}
    for words in ("alphabeta", "alphabeta:weights=hand", "alphabeta:weights=learned"):
        knots[words] = make_player("amazons", words).searcher.searcher.evaluator.knots[:, 0].tolist()
    assert list(knots.values()) == [[0, 20], [phase.w for phase in HAND], [phase.w for phase in LEARNED]]
    with pytest.raises(ZugwerkError, match="weights"):
        make_player("amazons", "alphabeta:weights=none")


def test_plays_move_of_its_search_without_using_generator():
    state = amazons.initial_state(6)
    player = make_player("amazons", "alphabeta:nodes=4000,table_mb=1")
    chosen = player.choose([Position(state, np.random.default_rng(seed)) for seed in range(3)])
    assert set(chosen) == {player.searcher.search(state, Limit(nodes=4000)).action}


def test_on_a_clock_it_uses_its_share_not_its_limit():
    state = amazons.initial_state()
    player = make_player("amazons", "alphabeta:movetime=30000")
    position = Position(state, np.random.default_rng(0), clock=Clock(own_ms=1000, other_ms=1000))

    def choose():
        assert amazons.is_legal(state, player.choose([position])[0])

    assert least_seconds(choose, 0.5) < 0.5
