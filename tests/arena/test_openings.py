"""Openings: random ones, those of a file, and balanced ones."""

from functools import reduce

import numpy as np
import pytest

from pipeline_src.arena.game import (
    LEVEL,
    LEVEL_OTHERS,
    Opening,
    balanced_openings,
    canonical_form,
    central_cells,
    level_openings,
    random_openings,
)
from pipeline_src.arena.match import MatchSpec, read_openings
from pipeline_src.arena.runner import Board, swapped_pairs
from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons, gomoku
from pipeline_src.games.amazons import format_move, parse_move
from pipeline_src.games.game import get_game, load_game
from pipeline_src.learning.symmetry import transform_boards
from pipeline_src.players.player import Position
from pipeline_src.players.registry import make_player
from pipeline_src.search.gomoku.engine import Engine
from pipeline_src.search.limits import Limit
from tests.arena.gomoku_stubs import stubs  # noqa: F401

GAME = get_game("amazons")
FEN = "1q1/3/1Q1 w"


def read(text, pairs=2, size=10):
    return read_openings(GAME, str(text), GAME.initial_state(size), pairs, [1, 0])


def test_random_openings_are_the_same_whatever_the_number_of_pairs():
    many = read("random:3", 6)
    assert read("random:3", 4) == many[:4]
    assert {len(opening.actions) for opening in many} == {3}
    assert len(set(many)) == 6
    assert read("none", 3) == [Opening()] * 3
    assert read("random:1", 1, 6)[0].actions[0] < 36**3


def test_a_file_holds_moves_and_positions(tmp_path):
    path = tmp_path / "openings.txt"
    path.write_text(f"# two\n\nd1d7g7 a7-b7/b9\n{FEN} 0 1\nd1d7,g7\n")
    first = parse_move("d1d7g7")
    assert format_move(first) == "d1-d7/g7"
    assert read(path, 3) == [Opening("", (first, parse_move("a7-b7/b9"))), Opening(FEN), Opening("", (first,))]
    assert len(read(path, 2)) == 2
    with pytest.raises(ZugwerkError, match="3 openings for 4 pairs"):
        read(path, 4)


ONE, TWO = Opening("", (parse_move("d1d7g7"),)), Opening("", (parse_move("d1d7g7"), parse_move("a7-b7/b9")))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("\ufeff# of an editor\nd1d7g7", [ONE]),
        ("\ufeffd1d7g7\n\ufeffd1d7g7 a7-b7/b9", [ONE, TWO]),  # two joined files
        ("d1d7g7 # centre\nd1d7g7#a7-b7/b9\n # no more\n", [ONE, ONE]),
        ('d1d7g7 ; id "two; d1d7g7"\nd1d7g7 id "# 1";\n; of another program\n', [ONE, ONE]),
        ('d1d7g7; c1 "d1d7g7"; bm a7-b7/b9;\nd1d7g7 bm a7-b7/b9;', [ONE, ONE]),
        (f'{FEN} ; id "two"\n{FEN} id "two"; D1 20;\n{FEN};D1 20 ;D2 400\n{FEN} 0 1 # end', [Opening(FEN)] * 4),
    ],
)
def test_keeps_opening_before_comments_and_operations(tmp_path, text, found):
    path = tmp_path / "openings.txt"
    path.write_text(text)
    assert read(path, len(found)) == found
    with pytest.raises(ZugwerkError, match="openings for"):
        read(path, len(found) + 1)


def test_reads_openings_in_the_charset_of_their_mark(tmp_path):
    path = tmp_path / "openings.txt"
    path.write_text("d1d7g7 # erste Eröffnung", encoding="utf-16")
    assert read(path, 1) == [ONE]
    path.write_bytes("d1d7g7\nd1d7g7 # Eröffnung".encode("latin-1"))
    with pytest.raises(ZugwerkError, match=r"openings.txt, line 2: not text in UTF-8; save it as UTF-8"):
        read(path, 1)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("d1d7g7; a7-b7/b9", "a7-b7/b9 after a semicolon"),
        ("d1d7g7 centre", "not a turn"),
        ("d1d7g7 d1d7g7", "d1d7g7 is not legal there"),
        ("hello", "not a turn"),
        ("3/3 w", "board 2x3"),
        ("1q1/3/3 w", "over after it"),
    ],
)
def test_bad_lines_are_named(tmp_path, line, complaint):
    path = tmp_path / "openings.txt"
    path.write_text(f"d1d7g7\n{line}\n")
    with pytest.raises(ZugwerkError, match=f"openings.txt:2: .*{complaint}"):
        read(path)


@pytest.mark.parametrize("text", ["random:", "random:x", "random:-1", "/no/such/file", "/"])
def test_bad_texts_are_refused(text):
    with pytest.raises(ZugwerkError, match="openings"):
        read(text)


START = amazons.initial_state(6)


def after(actions):
    state = START
    for action in actions:
        assert amazons.is_legal(state, action)
        state = amazons.play(state, action)
    return state


def test_openings_are_distinct_legal_and_leave_the_game_open():
    openings = random_openings(GAME, START, 200, 2, [4])
    assert len(set(openings)) == 200
    assert all(len(opening) == 2 and amazons.winner(after(opening)) is None for opening in openings)


def test_an_opening_depends_on_its_number_alone():
    assert random_openings(GAME, START, 20, 3, [5]) == random_openings(GAME, START, 40, 3, [5])[:20]
    assert random_openings(GAME, START, 20, 3, [5]) != random_openings(GAME, START, 20, 3, [6])
    assert random_openings(GAME, START, 3, 0, [5]) == [()] * 3


def test_too_few_openings_is_an_error():
    tight = amazons.from_fen("q**/***/Q1* w")  # one move, one arrow; and then Black has lost
    with pytest.raises(ZugwerkError, match="no opening of 1 plies"):
        random_openings(GAME, tight, 1, 1, [7])
    few = amazons.from_fen("q2/***/Q1* w")
    assert len(amazons.legal_actions(few)) == 1
    with pytest.raises(ZugwerkError, match="beside the 1 already drawn"):
        random_openings(GAME, few, 2, 1, [7])


def test_level_openings_of_gomoku_are_central():
    spec = MatchSpec("gomoku", "random", "random", 24, "level:4", 15)
    found = spec.read_openings()
    assert found == spec.read_openings()
    assert spec.identity()["openings"] == "level:4"
    assert len({opening.actions for opening in found}) == 12
    for opening in found:
        assert len(opening.actions) == 4
        assert all(3 <= k <= 11 for action in opening.actions for k in divmod(action, 15))
    with pytest.raises(ZugwerkError, match="expected level:PLIES, a number of plies"):
        MatchSpec("gomoku", "random", "random", 4, "level:x", 15).read_openings()


@pytest.mark.parametrize(("game", "judge", "bound"), [("amazons", *LEVEL["amazons"]), ("hex", *LEVEL_OTHERS)])
def test_level_openings_of_all_games_are_level_to_a_search(game, judge, bound):
    spec, rules = MatchSpec(game, "random", "random", 24, "level:2", 10 if game == "amazons" else 7), load_game(game)
    start = spec.board.start()
    expert = make_player(game, judge)

    def worth(actions):
        state = reduce(rules.play, actions, start)
        return abs(expert.think(Position(state, np.random.default_rng(0), start, actions)).found.value)

    assert max(worth(one.actions) for one in spec.read_openings()) <= bound
    drawn = random_openings(rules, start, 12, 2, [1, 0])
    assert max(map(worth, drawn)) > bound


def test_pairs_of_a_stage_may_begin_from_level_openings():
    board = Board("amazons", 10)
    drawn = level_openings("amazons", board.start(), 3, 2, [7, 0])
    played = swapped_pairs(board, "random", "one_ply", 3, 2, [7], level=True)
    assert [one.opening for one in played] == [opening for opening in drawn for _ in range(2)]
    assert {one.opening for one in played} != {one.opening for one in swapped_pairs(board, "a", "b", 3, 2, [7])}


@pytest.mark.parametrize(("game", "words"), [("go", "no player 'mcts' for go"), ("chess", "no game called 'chess'")])
def test_a_game_without_players_has_no_level_openings(game, words):
    with pytest.raises(ZugwerkError, match=words):
        level_openings(game, None, 1, 2, [1])


pytestmark = pytest.mark.usefixtures("stubs")
NINE = gomoku.initial_state(5, "freestyle-4")


def draw(count, plies=2, bound=1.0, among=None, start=NINE, judge="judge"):
    return balanced_openings("gomoku", start, count, plies, [3, 1], judge, bound, among)


def test_openings_are_passed_on_one_by_one():
    found = list[tuple[int, ...]]()
    assert balanced_openings("gomoku", NINE, 4, 2, [3, 1], "judge", 1.0, on_found=found.append) == found == draw(4)


def stones_after(opening, start=NINE):
    for action in opening:
        start = gomoku.play(start, action)
    return start


def test_openings_are_balanced_distinct_and_independent_of_their_number():
    found = draw(20)
    boards = [stones_after(opening).board for opening in found]
    values = [abs(sum(sign * (action // 5) for sign, action in zip((1, -1), one, strict=True))) for one in found]
    assert max(values) == 1
    assert len({canonical_form(board, 0) for board in boards}) == 20
    assert len(set(draw(20, bound=100))) == 20
    assert draw(5) == found[:5]
    assert draw(3, 0) == [(), (), ()]


def test_stones_may_be_held_in_the_middle():
    cells = central_cells(5, 3)
    assert cells == [6, 7, 8, 11, 12, 13, 16, 17, 18]
    assert {action for opening in draw(10, 3, 50, cells) for action in opening} <= set(cells)
    assert central_cells(4, 2) == [5, 6, 9, 10]
    assert central_cells(3, 0) == list(range(9))
    with pytest.raises(ZugwerkError, match="no square of 6"):
        central_cells(5, 6)


def test_openings_do_not_end_the_game():
    tiny = gomoku.initial_state(3, "freestyle-3")
    assert all(gomoku.winner(stones_after(one, tiny)) is None for one in draw(8, 5, 100, start=tiny))


@pytest.mark.parametrize(("changes", "complaint"), [
    ({"count": 4, "plies": 1, "among": central_cells(5, 1)}, "calls balanced .within 1. beside the 0 already"),
    ({"count": 7, "plies": 1, "bound": 50}, "beside the 6 already found"),
    ({"count": 1, "judge": "random"}, "'random' cannot judge openings"),
])  # fmt: skip
def test_too_few_openings_or_judge_without_values_is_refused(changes, complaint):
    """Six cells of 5x5 are different up to symmetry; a stone in the middle is worth 2 to the judge."""
    with pytest.raises(ZugwerkError, match=complaint):
        draw(**changes)


def test_canonical_form_is_shared_by_symmetries_and_keeps_side():
    board = stones_after((0, 7, 13)).board
    turned = transform_boards(np.repeat(board[None], 8, 0), np.arange(8))
    assert len({canonical_form(one, 1) for one in turned}) == 1
    assert canonical_form(board, 0) != canonical_form(board, 1)
    assert canonical_form(stones_after((0, 7, 12)).board, 1) != canonical_form(board, 1)


def test_each_side_wins_once_from_an_opening(monkeypatch):
    monkeypatch.setattr("pipeline_src.arena.game.ATTEMPTS", 10)
    start, played = gomoku.initial_state(9), [30, 60, 120]
    found = balanced_openings("gomoku", start, 1, 5, [1], "engine:nodes=30", 3000, central_cells(9, 7), played)
    for opening in found:
        winners = set()
        for nodes in played:
            state = stones_after(opening, start)
            while gomoku.winner(state) is None:
                state = gomoku.play(state, Engine().search(state, Limit(nodes=nodes)).action)
            winners.add(gomoku.winner(state))
        assert winners >= {"first", "second"}
    four = gomoku.initial_state(7, "freestyle-4")  # who moves next wins it at once
    with pytest.raises(ZugwerkError, match="calls balanced"):
        balanced_openings("gomoku", four, 1, 2, [1], "engine:nodes=30", 20_000, central_cells(7, 3), [100])
