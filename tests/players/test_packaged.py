"""The nets that come with the package: files, cards, and which one a player takes."""

import json
import re
import shutil
import threading
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from pipeline_src import yaml12
from pipeline_src.arena.calibration import CONSTANT, MOST_AT_START, MOST_BIAS
from pipeline_src.arena.runner import Board
from pipeline_src.arena.score import CalibrationParams
from pipeline_src.cli.app import app
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json
from pipeline_src.games.game import get_game
from pipeline_src.parallel.tasks import MOST_WORKERS
from pipeline_src.players import levels, packaged
from pipeline_src.players.packaged import (
    ANCHOR_ELO,
    FOLDER,
    LENT,
    MOST_BYTES,
    MOST_BYTES_IN_ALL,
    Ladder,
    Level,
    elo_range,
    ladders,
    level_words,
    packaged_nets,
)
from pipeline_src.players.player import NO_BOUNDS, Bounds, OneBoard, Player, Position, Thought
from pipeline_src.players.registry import build_player, limits_in, make_player
from pipeline_src.players.searching import ByBoard
from pipeline_src.reference.package_net import package_net, write_card
from pipeline_src.report.figures import REGISTRY
from pipeline_src.search.limits import Clock, Limit
from pipeline_src.systems.amazons_net.player import open_forward, open_nets
from pipeline_src.systems.gomoku_zero.evaluator import make_evaluator
from pipeline_src.systems.gomoku_zero.models import save_model
from tests.arena import fakes  # noqa: F401 - registers the player
from tests.systems.gomoku_zero.small import SMALL, fresh

NETS = {net.card.name: net for net in packaged_nets()}
ZERO = "gomoku_zero-15x15-freestyle"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A copy of the package's nets, which players take theirs from."""
    shutil.copytree(FOLDER, tmp_path / "nets")
    real = packaged.packaged_nets
    monkeypatch.setattr(packaged, "packaged_nets", lambda game, _=None: real(game, tmp_path / "nets"))
    return tmp_path / "nets"


def change(folder, name, **fields):
    card = folder / f"{name}.yaml"
    card.write_text(yaml12.dump(yaml12.parse(card.read_text()) | fields))


@pytest.mark.parametrize("name", NETS)
def test_a_card_fits_its_net(name):
    net = NETS[name]
    assert net.file.stat().st_size <= MOST_BYTES
    if net.card.game == "amazons":
        size = open_forward(net.checked(), 1).size
        assert open_nets(net.checked(int8=net.card.int8 is not None), "auto", 1).size == size
        net.check_board(OneBoard(size, size, "standard"))
    else:
        _, about = make_evaluator(net.checked())
        net.check_board(OneBoard(about.height, about.width, about.variant))


@pytest.mark.parametrize("name", NETS)
def test_its_win_rates_are_right(name):
    found = NETS[name].card.calibration
    assert found.games >= 40
    assert found.brier_low <= CONSTANT
    assert abs(found.predicted - found.scored) <= MOST_BIAS
    assert abs(found.start_first + found.start_second - 1) <= MOST_AT_START


def test_the_nets_are_small_and_of_different_boards():
    assert {"amazons_net-10x10-standard", ZERO} <= NETS.keys()
    assert sum(net.file.stat().st_size for net in NETS.values()) <= MOST_BYTES_IN_ALL
    assert {path.suffix for path in FOLDER.iterdir()} == {".rays", ".lines", ".yaml", ".md"}


def test_solver_with_net_takes_the_boards_net():
    player = build_player("gomoku", "zero:simulations=8,solver=20")
    assert OneBoard(9, 9, "freestyle") in player.boards
    state = get_game("gomoku").from_fen("9/9/9/9/xxxx5/oooo5/9/9/9 b freestyle")
    (action,) = player.choose([Position(state, np.random.default_rng(1), state)])
    assert get_game("gomoku").format_move(action, 9, 9) == "e5"


def test_board_without_net_is_named_with_those_that_have_one():
    with pytest.raises(ZugwerkError, match=r"no net for 15x15 caro-4 comes .* nets for .*15x15 freestyle.*zero:MODEL"):
        build_player("gomoku", "zero").check(get_game("gomoku").initial_state(15, "caro-4"))
    for size, start in ((10, "cross"), (8, "standard"), (6, "standard")):
        build_player("amazons", "nets").check(get_game("amazons").initial_state(size, start))


def test_a_net_that_is_added_is_taken_on_its_board(folder, tmp_path, monkeypatch):
    monkeypatch.setenv(MOST_WORKERS, "1")
    net = fresh(SMALL["plain"])
    torch.nn.init.zeros_(net.value.weight)
    torch.nn.init.zeros_(net.value.bias)
    save_model(tmp_path / "best.pt", net, variant="exact")
    shutil.copy("params.yaml", tmp_path)
    few = CalibrationParams(games=4, simulations=2)
    made = package_net(tmp_path / "best.pt", "growing_boards", hours=2.0, folder=folder, games=few)
    size = made.card.size
    assert made.file == folder / f"growing_boards-{size}x{size}-exact.onnx"
    assert (made.card.hours, made.card.figures) == (2.0, ())
    player = build_player("gomoku", "zero:simulations=2")
    assert isinstance(player, ByBoard)
    for side, variant, made_for in ((size, "exact", size), (15, "freestyle", 15), (20, "freestyle", 15)):
        start = get_game("gomoku").initial_state(side, variant)
        player.check(start)
        assert player.player_for(start).boards == (OneBoard(made_for, made_for, variant),)


def test_a_named_model_comes_first(tmp_path):
    save_model(tmp_path / "best.pt", fresh(SMALL["plain"]), variant="exact")
    player = build_player("gomoku", f"zero:{tmp_path}/best.pt")
    assert player.only is not None
    assert player.only.variant == "exact"


@pytest.mark.parametrize(
    ("name", "game", "text"), [(ZERO, "gomoku", "zero"), ("amazons_net-10x10-standard", "amazons", "nets")]
)
def test_net_for_other_board_than_its_card_is_refused(folder, name, game, text):
    side = {"gomoku": 7, "amazons": 8}[game]
    other = re.sub(r"\d+x\d+", f"{side}x{side}", name)
    for file in folder.glob(f"{name}.*"):
        file.rename(folder / file.name.replace(name, other))
    change(folder, other, size=side)
    with pytest.raises(ZugwerkError, match=f"a net for .*, but its card says {other}"):
        build_player(game, text).check(get_game(game).initial_state(side))


def test_two_nets_for_one_board_are_refused(folder):
    for suffix in (".lines", ".yaml"):
        shutil.copy(folder / f"{ZERO}{suffix}", folder / f"growing_boards-15x15-freestyle{suffix}")
    change(folder, "growing_boards-15x15-freestyle", system="growing_boards")
    with pytest.raises(ZugwerkError, match="two nets for one board"):
        packaged_nets("gomoku", folder)


def test_a_card_comes_back_as_it_was_written(tmp_path):
    net = NETS["amazons_net-10x10-standard"]
    write_card(tmp_path / f"{net.card.name}.yaml", net.card)
    shutil.copy(net.file, tmp_path)
    assert [again.card for again in packaged_nets(folder=tmp_path)] == [net.card]


# A player with a net for each board: which net is asked, and which calls reach all of them.


SIX, NINE = OneBoard(6, 6, "exact"), OneBoard(9, 9, "exact")


class Recorder(Player):
    """Answers with the side of its board, and records its calls."""

    def __init__(self, board):
        self.board, self.told = board, []
        for name, word in (("use_memory", "use"), ("take_memory", "take")):
            setattr(self, name, lambda size, word=word: self.told.append((word, size)))
        for name in ("new_game", "stop", "close"):
            setattr(self, name, partial(self.told.append, name))

    def consider(self, positions):
        self.told.append(("consider", len(positions)))
        return [Thought(100 * self.board.height + position.state.number) for position in positions]

    def think(self, position, bounds=NO_BOUNDS, on_info=None):
        return Thought(self.board.height)

    def needs(self, start):
        return [self.board.height]

    def ready(self, start=None):
        self.told.append("ready")


@pytest.fixture
def player():
    made = {}

    def open_net(net):
        made[net.card.board] = Recorder(net.card.board)
        return made[net.card.board]

    nets = {board: SimpleNamespace(card=SimpleNamespace(board=board)) for board in (SIX, NINE)}
    one = ByBoard("zero", nets, open_net, lambda state: state.board, searches=True, limit=Limit(nodes=3))
    one.made = made
    return one


def position(board, number=0):
    return Position(SimpleNamespace(board=board, number=number), np.random.default_rng(0))


def test_positions_are_batched_by_board_for_its_net(player):
    positions = [position(NINE, 1), position(SIX, 2), position(NINE, 3)]
    assert player.made == {}, "no net is read before it is asked for"
    assert player.choose(positions) == [901, 602, 903]
    assert player.made[NINE].told == [("consider", 2)]
    assert player.made[SIX].told == [("consider", 1)]
    assert player.think(positions[1]).action == 6
    assert player.consider([]) == []
    assert (player.searches, player.limit, player.boards, player.only) == (True, Limit(nodes=3), (SIX, NINE), None)


def test_calls_are_forwarded_to_all_players(player):
    player.use_memory(7)
    player.check(position(SIX).state)
    player.take_memory(8)
    player.check(position(NINE).state)
    player.ready(position(SIX).state)
    player.ready()
    player.new_game()
    player.stop()
    player.close()
    assert player.made[SIX].told == [("use", 7), ("take", 8), "ready", "new_game", "stop", "close"]
    assert player.made[NINE].told == [("use", 7), ("take", 8), "new_game", "stop", "close"]


def test_kernels_come_from_the_boards_net_or_any(player):
    assert player.needs(position(NINE).state) == [9]
    assert player.needs(position(OneBoard(15, 15, "exact")).state) == [6]


def test_concurrent_threads_open_a_net_once_within_memory_limit():
    opened, may_open = [], threading.Event()

    def open_net(net):
        opened.append(Recorder(net.card.board))
        may_open.wait(10)
        return opened[-1]

    net = SimpleNamespace(card=SimpleNamespace(board=SIX))
    one = ByBoard("zero", {SIX: net}, open_net, lambda state: state.board)
    asked = [threading.Thread(target=one.needs, args=(SimpleNamespace(board=SIX),)) for _ in range(2)]
    asked.append(threading.Thread(target=one.use_memory, args=(1000,)))
    for thread in asked:
        thread.start()
    may_open.set()
    for thread in asked:
        thread.join()
    assert [recorder.told for recorder in opened] == [[("use", 1000)]]


# Levels: the table, and the player that plays at one of them whatever time it gets.


MEASURED = Path(__file__).parents[2] / "docs/measured"
SYSTEMS = {"amazons": "amazons_engine", "gomoku": "gomoku_engine"}


def every(ladder):
    return pytest.param(ladder, id=f"{ladder.game}-{ladder.size}-{ladder.variant}")


@pytest.mark.parametrize("ladder", map(every, ladders()))
def test_each_level_is_stronger_than_the_one_before(ladder):
    assert elo_range(ladder.game)[0] <= ladder.levels[0].elo + 0.5
    assert 6 <= len(ladder.levels) <= 9
    for weaker, stronger in pairwise(ladder.levels):
        assert weaker.elo < stronger.elo, (weaker.name, stronger.name)
    for level in ladder.levels:
        assert level.low < level.elo < level.high or level.player == ladder.anchor
        assert level.games >= 20


@pytest.mark.parametrize("ladder", map(every, ladders()))
def test_the_table_has_the_elo_of_the_committed_match(ladder):
    name, found = f"levels_{ladder.size}_{ladder.variant}", read_json(MEASURED / f"{SYSTEMS[ladder.game]}.json")
    assert name in REGISTRY[SYSTEMS[ladder.game]]
    first, last = ladder.levels[0], ladder.levels[-1]
    assert last.elo - first.elo == pytest.approx(found[name]["value"], abs=1.5)  # each is rounded
    rows = found["levels"][f"{ladder.game}-{ladder.size}-{ladder.variant}"]
    assert {one for row in rows for one in (row["a"], row["b"])} == {level.player for level in ladder.levels}
    assert [level.player for level in ladder.levels if level.elo == ANCHOR_ELO] == [ladder.anchor]


@pytest.mark.parametrize("ladder", map(every, ladders()))
def test_no_level_is_limited_by_time(ladder):
    for text in (ladder.anchor, *(level.player for level in ladder.levels)):
        limit = limits_in(ladder.game, text)
        if limit is not None and "search=none" not in text:
            assert limit.movetime_ms is None
            assert limit.nodes or limit.depth, text


def at_start(game, size, variant=None, seed=0, clock=None):
    state = get_game(game).initial_state(*[size, variant][: 2 if variant else 1])
    return Position(state, np.random.default_rng(seed), state, (), clock)


@pytest.mark.parametrize(("game", "size", "number"), [("gomoku", 9, 1), ("amazons", 6, 2)])
def test_a_level_plays_the_moves_of_its_player(game, size, number):
    (ladder,) = [one for one in ladders(game) if one.size == size]
    text = ladder.levels[number - 1].player
    level, own = make_player(game, f"level:{number}"), make_player(game, text)
    chosen = [level.think(at_start(game, size, seed=k)).action for k in range(6)]
    assert chosen == level.choose([at_start(game, size, seed=k) for k in range(6)])
    assert chosen == own.choose([at_start(game, size, seed=k) for k in range(6)])
    assert len(set(chosen)) > 1, "a weak level does not always play the same"
    assert levels.plays_as(game, f"level:{number}", at_start(game, size).state) == text
    assert levels.plays_as(game, "random", at_start(game, size).state) == "random"


@pytest.mark.parametrize(
    ("size", "text", "words"),
    [
        (15, "level:5", "Level 5, strong club player, about 1,500"),
        (15, "level:number=5", "Level 5, strong club player, about 1,500"),
        (15, "level:elo=1490", "Level 5, strong club player, about 1,500"),
        (15, "level:8", ""),
        (15, "random", ""),
        (11, "level:5", "Level 5, strong club player, about 1,500 on 20x20"),
        (8, "level:5", ""),
    ],
)
def test_level_from_text(size, text, words):
    assert level_words(OneBoard(size, size, "freestyle"), "gomoku", text) == words


@pytest.mark.parametrize("ladder", map(every, ladders()))
def test_a_level_names_the_net_that_it_was_measured_with(ladder):
    start = Board(ladder.game, ladder.size, ladder.variant).start()
    for level in ladder.levels:
        player = build_player(ladder.game, level.player)
        net = player.net_for(start) if isinstance(player, ByBoard) else None
        assert (level.net is None) == (net is None), level.player
        assert level.measured == (net is None or level.net == net.card.sha256)


def test_a_level_of_another_net_is_not_measured(monkeypatch):
    board, text = OneBoard(15, 15, "freestyle"), "level:7"
    before = level_words(board, "gomoku", text)
    monkeypatch.setattr(packaged, "digests", lambda: frozenset({"0" * 64}))
    assert before.startswith("Level 7, strongest level, about ")
    assert level_words(board, "gomoku", text) == "Level 7, strongest level, not measured"
    (ladder,) = (one for one in ladders("gomoku") if one.board == OneBoard(15, 15, "renju"))
    assert ladder.levels[ladder.number(elo=9999) - 1].net is None
    told = [CliRunner().invoke(app, ["levels", "gomoku", *words]).stdout for words in (["--json"], [])]
    (row,) = (row for row in json.loads(told[0]) if (row["size"], row["variant"]) == (15, "renju"))
    assert [row["levels"][-1][key] for key in ("elo", "low", "high", "ms")] == [None] * 4
    assert "not measured" in told[1]


def test_board_without_ladder_borrows_levels_of_its_rule():
    (ladder,) = [one for one in ladders("gomoku") if (one.size, one.variant) == (20, "freestyle")]
    at = at_start("gomoku", 13, seed=3)
    for number in (1, 4):
        assert levels.plays_as("gomoku", f"level:{number}", at.state) == ladder.levels[number - 1].player
    chosen = make_player("gomoku", "level:1").think(at).action
    assert [chosen] == make_player("gomoku", ladder.levels[0].player).choose([at_start("gomoku", 13, seed=3)])


@pytest.mark.parametrize("ladder", [every(ladder) for ladder in ladders() if ladder.lends])
def test_levels_that_are_lent_play_on_any_board(ladder):
    lent = {OneBoard(size, size, ladder.variant) for size in LENT}
    for text in (level.player for level in ladder.levels):
        player = build_player(ladder.game, text)
        assert not player.boards or lent <= set(player.boards), text
        player.close()


def test_amazons_levels_are_those_of_the_start_position():
    standard, cross = (
        next(one for one in ladders("amazons") if one.board == OneBoard(10, 10, variant))
        for variant in ("standard", "cross")
    )
    players = [[level.player for level in ladder.levels] for ladder in (standard, cross)]
    assert players[0] == players[1], "level:4 is one player, also where the start is not known"
    for start, ladder in (("standard", standard), ("cross", cross)):
        for level in ladder.levels:
            at = at_start("amazons", 10, start)
            assert levels.plays_as("amazons", f"level:elo={level.elo:.0f}", at.state) == level.player


@pytest.fixture
def ladder(monkeypatch):
    """Two levels of a player that notes its limits, on 9x9."""

    def level(text, elo):
        return Level(name=text, player=text, elo=elo, low=elo - 1, high=elo + 1, games=2, ms=1.0)

    both = (level("fake:nodes=5", 1000.0), level("fake:nodes=50,depth=4", 1400.0))
    found = Ladder(game="gomoku", size=9, variant="exact", anchor="random", openings="none", levels=both)
    monkeypatch.setattr(levels, "ladders", lambda _: (found,))
    return found


@pytest.mark.parametrize(
    ("text", "player"),
    [
        ("level:1", "fake:nodes=5"),
        ("level:2", "fake:nodes=50,depth=4"),
        ("level", "fake:nodes=50,depth=4"),
        ("level:elo=0", "fake:nodes=5"),
        ("level:elo=1190", "fake:nodes=5"),
        ("level:elo=1210", "fake:nodes=50,depth=4"),
    ],
)
def test_a_level_is_found_by_its_number_or_its_elo(ladder, text, player):
    assert levels.plays_as("gomoku", text, at_start("gomoku", 9, "exact").state) == player


@pytest.mark.parametrize(
    ("bounds", "limit"),
    [
        (Bounds(), Limit(depth=4, nodes=50)),
        (Bounds(infinite=True), Limit(depth=4, nodes=50)),
        (Bounds(movetime_ms=100.0), Limit(depth=4, nodes=50, movetime_ms=100.0)),
        (Bounds(depth=2, nodes=9), Limit(depth=2, nodes=9)),
        (Bounds(depth=9, nodes=90), Limit(depth=4, nodes=50)),
        (Bounds(lines=3), Limit(depth=4, nodes=50, lines=3)),
    ],
)
def test_no_limit_from_outside_makes_a_level_stronger(ladder, bounds, limit):
    level, at = build_player("gomoku", "level:2"), at_start("gomoku", 9, "exact")
    level.think(at, bounds)
    assert level.player_for(at.state).searcher.limits == [limit]


def test_a_clock_makes_no_level_stronger(ladder):
    level = build_player("gomoku", "level:2")
    at = at_start("gomoku", 9, "exact", clock=Clock(60_000, 60_000))
    level.choose([at])
    (limit,) = level.player_for(at.state).searcher.limits
    assert (limit.depth, limit.nodes) == (4, 50)
    assert 0 < limit.movetime_ms < 60_000


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("level:3", "no level 3 on any board; there are at most 2, on 9x9 exact"),
        ("level:0", "number must be at least 1, not 0"),
        ("level:2.5", "number must be a whole number, not 2.5"),
        ("level:club", "number='club' is not a number"),
        ("level:1,elo=1000", "takes a number or an elo, not both"),
        ("level:1,nodes=5", "has no option 'nodes'; its options: elo"),
    ],
)
def test_unknown_levels_are_refused(ladder, text, complaint):
    with pytest.raises(ZugwerkError, match=complaint):
        build_player("gomoku", text)


def test_a_board_without_levels_is_refused():
    words = "no levels on 8x8 renju; there are levels on .*, and by the rules .*renju.* on all from 9x9 to 25x25; other"
    with pytest.raises(ZugwerkError, match=words):
        build_player("gomoku", "level:1").check(at_start("gomoku", 8, "renju").state)


def test_level_that_the_usual_board_lacks_is_made_for_others():
    """`make_player` does not know the board yet."""
    (usual,) = (one for one in ladders("gomoku") if (one.size, one.variant) == (15, "freestyle"))
    longer = next(one for one in ladders("gomoku") if len(one.levels) > len(usual.levels))
    player = make_player("gomoku", f"level:{len(longer.levels)}")
    player.check(at_start("gomoku", longer.size, longer.variant).state)
    with pytest.raises(ZugwerkError, match=f"no level {len(longer.levels)} on 15x15 freestyle; there are 1 to"):
        player.check(at_start("gomoku", 15).state)
