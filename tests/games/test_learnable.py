"""Games in one file: the packaged ones against slow rules, files of one's own, and what such a file may leave out."""

import random
import subprocess
import sys

import numpy as np
import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import check as checking
from pipeline_src.games import kernels
from pipeline_src.games.game import GAMES, LEARNABLE, get_game, load_game
from pipeline_src.jit import plainly
from tests.games.learnable_reference import PERFT, SLOW
from tests.games.test_conformance import perft_entries
from tests.layout.imports import ROOT

FOLDER = ROOT / "pipeline_src" / "games" / "learnable"
CONNECT_FOUR = (FOLDER / "connect_four.py").read_text()
OWN = """@njit(cache=True)
def _copy_into(state, other):
    other.board[:] = state.board
    other.turn[:] = state.turn
    other.hash[0] = state.hash[0]


@njit(cache=True)
def _write_actions(state, out):
    count = 0
    for column in range(state.board.shape[1]):
        if _is_legal(state, column):
            out[count] = column
            count += 1
    return count


implement_game(
    ConnectFourState,
    copy_into=_copy_into,
    write_actions=_write_actions,
"""
OWN_KERNELS = ("implement_game(\n    ConnectFourState,\n", OWN)  # in place of the defaults


def test_packaged_games_are_no_games_of_other_commands():
    assert set(LEARNABLE) == set(SLOW)
    assert not set(LEARNABLE) & set(GAMES)
    assert load_game("gomoku") is get_game("gomoku")


@pytest.mark.parametrize("name", LEARNABLE)
@pytest.mark.parametrize("seed", range(4))
def test_random_game_goes_as_by_the_slow_rules(name, seed):
    rules, rng = load_game(name), random.Random(seed)
    size = rules.SIZES[seed % len(rules.SIZES)]
    state, slow = rules.initial_state(size), SLOW[name].start(size)
    every = 1 if size < 11 else 7  # on large boards the slow rules are too slow for each ply
    for ply in range(1000):
        legal = {
            rules.format_move(int(action), *state.board.shape): int(action) for action in rules.legal_actions(state)
        }
        if ply % every == 0 or not legal:
            assert sorted(legal) == sorted(slow.moves())
            assert rules.winner(state) == slow.winner()
            board = [[rules.LETTERS[code] for code in row] for row in state.board]
            assert board == [[slow.cells[r, c] for c in range(slow.width)] for r in range(slow.height)]
            assert rules.to_play(state) == "xo".index(slow.side)
        if not legal:
            break
        move = rng.choice(sorted(legal))
        state, slow = rules.play(state, rules.parse_move(move, *state.board.shape)), slow.after(move)
    assert rules.winner(state) is not None


@pytest.mark.parametrize("name", LEARNABLE)
def test_slow_rules_count_as_the_perft_file(name):
    size = PERFT.get(name, (load_game(name).SIZES[0],))[0]
    for entry in perft_entries(name):
        _, _, depth, count = entry.values
        if count < 2000:
            assert SLOW[name].start(size).perft(depth) == count


@pytest.mark.parametrize(
    ("name", "moves", "squares"),
    [
        ("connect_four", "d d d", [(-1, 3 * 7 + 3)]),
        ("othello", "d6", [(-1, 2 * 8 + 3)]),
        ("breakthrough", "d2-e3", [(6 * 8 + 3, 5 * 8 + 4)]),
        ("hex", "g7", [(-1, 6)]),
    ],
)
def test_squares_of_an_action(name, moves, squares):
    rules = load_game(name)
    state = rules.initial_state()
    found = []
    for move in moves.split():
        action = rules.parse_move(move, *state.board.shape)
        found.append(tuple(map(int, kernels.squares(state, action))))
        state = rules.play(state, action)
    assert found[-1:] == squares


def test_a_pass_has_no_cell_and_margins_are_the_movers():
    rules = load_game("othello")
    state = rules.initial_state()
    assert tuple(kernels.squares(state, 64)) == (-1, -1)
    assert rules.format_move(64, 8, 8) == "pass"
    assert rules.parse_move("PASS", 8, 8) == 64
    after = rules.play(state, rules.parse_move("d6", 8, 8))
    assert (rules.margin(state), rules.margin(after)) == (0, (1 - 4) / 64)


def test_first_of_two_stones_can_win():
    rules = load_game("connect6")
    state = rules.initial_state()
    for move in ["a1", "a15", "c15", "b1", "c1", "e15", "g15", "d1", "e1", "i15", "k15", "f1"]:
        state = rules.play(state, rules.parse_move(move, 15, 15))
    assert rules.to_play(state) == 0
    assert rules.winner(state) == "first"


# Files of one's own.


def written(folder, *edits, name="my_game"):
    """The path of a game's file: Connect Four's with some of its text replaced."""
    text = CONNECT_FOUR
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    path = folder / f"{name}.py"
    path.write_text(text)
    return str(path)


COMMENT = ("# Columns", "# Number of columns")


def test_file_is_a_game(tmp_path):
    rules = load_game(written(tmp_path, name="my four"))
    assert (rules.NAME, rules.VERSION, rules.VARIANTS, rules.OWNERS) == ("my four", 1, ("standard",), (0, 1))
    assert rules is load_game(str(tmp_path / "my four.py"))
    assert rules.perft(rules.initial_state(), 3) == 343
    assert rules.diagram(rules.play(rules.initial_state(), 3)).splitlines()[-2] == " 1  .  .  .  x  .  .  .  1"


def test_digest_is_of_the_code_and_not_of_comments(tmp_path):
    first = load_game(written(tmp_path))
    assert load_game(written(tmp_path, COMMENT)).DIGEST == first.DIGEST
    edited = load_game(written(tmp_path, ("length >= 4", "length >= 3")))
    assert edited.DIGEST != first.DIGEST
    state, other = first.initial_state(), edited.initial_state()
    for column in (0, 6, 0, 6, 0):
        state, other = first.play(state, column), edited.play(other, column)
    assert (first.winner(state), edited.winner(other)) == (None, "first")


PROGRAM = """
import sys
from pipeline_src.games.game import load_game
from pipeline_src.jit import ready, Need
from pipeline_src.games import kernels
rules = load_game(sys.argv[1])
state = rules.initial_state()
print(ready([Need(kernels.outcome, (state,)), Need(kernels.max_actions, (state,))]), kernels.max_actions(state))
"""
ROOM = "return int(state.board.shape[1])"


def test_kernels_of_a_file_are_kept_until_an_edit(tmp_path, monkeypatch):
    monkeypatch.setenv("ZUGWERK_CACHE", str(tmp_path / "cache"))

    def compiled(*edits):
        command = [sys.executable, "-W", "error", "-c", PROGRAM, written(tmp_path, *edits)]
        return subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout.split()

    assert compiled() == ["2", "7"]
    assert compiled(COMMENT) == ["0", "7"]
    assert compiled((ROOM, f"{ROOM} + 1")) == ["2", "8"]
    assert compiled() == ["0", "7"]
    # what it imports from elsewhere could be edited unnoticed
    (tmp_path / "other.py").write_text("MORE = 1\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    other = ("import numpy as np\n", "import numpy as np\nimport other\n")
    assert compiled(other) == compiled(other) == ["2", "7"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("SIZES = (7,)", "LENGTHS = (7,)", "no SIZES"),
        ("def initial_state", "def start", "no initial_state"),
        ('SYMMETRIES = "mirror"', 'SYMMETRIES = "round"', "SYMMETRIES cannot be 'round'"),
        ("SIZES = (7,)", "SIZES = (7,)\nOWNERS = (0, 2)", "OWNERS"),
        ("SIZES = (7,)", "SIZES = (30,)", "sides go to 26"),
        ("np.zeros((size - 1, size), np.int8)", "np.zeros((size - 1, size), np.int16)", r"board, int8 \[H, W\]"),
        ("np.zeros(1, np.uint64))", "0)", r"hash, uint64 \[1\]"),
        ("implement_game(\n    ConnectFourState,", "dict(", "no kernels copy_into"),
        ("    take_back=_take_back,\n", "", r"line \d+: KeyError: 'take_back'"),
        ("import numpy as np\n", "import nunpy\n", r"line \d+: ModuleNotFoundError"),
        ("def _outcome(", "def _outcome((", r"line \d+"),
        ("SIZES", "\0", "null"),
    ],
)
def test_file_that_is_no_game_is_refused_by_name(tmp_path, old, new, said):
    path = written(tmp_path, (old, new))
    with pytest.raises(ZugwerkError, match=said) as caught:
        load_game(path)
    assert "my_game.py" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"), [("chess", "no game called 'chess'.*connect_four"), ("none/of.py", "none/of.py: No such file")]
)
def test_a_text_that_names_no_game_is_refused(text, said):
    with pytest.raises(ZugwerkError, match=said):
        load_game(text)


FULL = "3x3/7/7/7/7/7 "


@pytest.mark.parametrize(
    "fen", [FULL, FULL + "1,1,0", FULL + "1,1,0,0 0", FULL + "9,1 0", FULL + "x 0", "8/8 0 0", "7/7/7/7/7/2#4 0 0"]
)
def test_position_text_that_no_state_has_is_refused(fen):
    with pytest.raises(ZugwerkError, match="bad FEN"):
        load_game("connect_four").from_fen(fen)


@pytest.mark.parametrize("text", ["a", "a9", "i1", "a1-a2-a3", "a1-", "", "a1a2"])
def test_move_text_that_names_no_cells_is_refused(text):
    with pytest.raises(ZugwerkError, match=r"move|point"):
        load_game("breakthrough").parse_move(text, 8, 8)


def test_states_are_arrays_apart():
    rules = load_game("breakthrough")
    one, other = rules.initial_state(), rules.initial_state()
    assert not any(np.shares_memory(a, b) for a, b in zip(one, other, strict=True))


# `zugwerk check`.


@pytest.fixture
def interpreted(monkeypatch):
    """Nothing is compiled: for each small edit of a file that would take seconds."""
    monkeypatch.setattr(checking, "_compile", lambda game, state: None)
    with plainly():
        yield


@pytest.mark.parametrize("name", LEARNABLE)
def test_packaged_games_have_no_fault(name, interpreted, monkeypatch):
    monkeypatch.setattr(checking, "PLAIN_PLIES", 2)
    rules = load_game(name)
    monkeypatch.setattr(rules, "SIZES", rules.SIZES[-1:] if name in ("othello", "breakthrough") else rules.SIZES[:1])
    (found,) = checking.check(rules, seconds=0)
    assert found.board == rules.initial_state(rules.SIZES[0]).board.shape
    assert len(found.plies) == sum(found.winners.values()) == 1


PLAYED = "    state.hash[0] ^= KEYS[side, row, action]\n    state.turn[SIDE] = 1 - side\n"
TAKEN = "    state.board[row, action] = 0\n    state.hash[0] ^= KEYS[side, row, action]\n"
FALLEN = "_lowest(state.board, action) * state.board.shape[1] + action"
NO_LINES = ("length >= 4:", "length >= 9:")
BY_PLY = [
    (PLAYED, PLAYED.replace("action]", "action] * np.uint64(state.turn[PLY] + 1)")),
    (TAKEN, TAKEN.replace("row, action]\n", "row, action] * np.uint64(state.turn[PLY])\n")),
]
EACH = "for column in range(state.board.shape[1]):\n        if _is"


@pytest.mark.parametrize(
    ("edits", "said"),
    [
        (
            [OWN_KERNELS, ("        if _is_legal(state, column):", "        if True:")],
            "the game is over, and . is legal",
        ),
        ([OWN_KERNELS, (EACH, EACH.replace("state.board.shape[1]", "6"))], r"is_legal\(6\)"),
        ([OWN_KERNELS, ("out[count] = column", "out[count] = min(column, 5)")], "twice"),
        ([("    state.turn[PLY] -= 1\n", "")], "take_back does not restore the state: turn"),
        ([(TAKEN, TAKEN.splitlines()[1] + "\n")], "take_back does not restore the state: board"),
        ([OWN_KERNELS, ("    other.hash[0] = state.hash[0]\n", "")], "copy_into leaves out something: hash"),
        (BY_PLY[:1], "restore the state: hash"),
        (BY_PLY, "two orders of moves to the same position give two hashes"),
        ([("integers(0, 1 << 64", "integers(0, 1 << 4")], "two positions of this game have the hash"),
        ([NO_LINES, ("elif state.turn[PLY] == state.board.size", "elif state.turn[PLY] == 999")], "no action is legal"),
        ([(FALLEN, "action")], "names the squares .*, and changes"),
        ([(FALLEN, "3")], "name the same squares"),
        ([(FALLEN, "action + 99")], "no cell"),
        ([('"mirror"', '"square"')], "'square', and the upside down|turn"),
        ([('"mirror"', '"turn"')], "'turn', and the turn of this position goes on otherwise"),
        ([("-1.0 if", "-2.0 if")], r"outcome is \(True, -2"),
        ([("state.board[row, action] = side + 1", "state.board[row, action] = side + 3")], "code 3"),
        ([("np.zeros(3, np.int16)", "np.full(3, 2, np.int16)")], "side's number"),
        ([("(2, 6, 7)", "(2, 6, 6)")], r"IndexError \(\w+.py, line \d+, in \w+, run as plain Python\)"),
        ([(ROOM, "return 3")], "writes 7 actions, max_actions says 3"),
        ([("def format_move", "def _unused")], "the text of action 0.*define format_move"),
    ],
)
def test_broken_promise_is_found(tmp_path, interpreted, edits, said):
    path = written(tmp_path, *edits)
    with pytest.raises(checking.GameError, match=said) as caught:
        checking.check(load_game(path), seconds=0)
    assert "moves: " in str(caught.value)


def test_game_without_lines_is_drawn(tmp_path, interpreted):
    assert checking.check(load_game(written(tmp_path, NO_LINES)), seconds=0)[0].winners == {"draw": 1}


def test_game_without_end_is_found(interpreted, monkeypatch):
    monkeypatch.setattr(checking, "MOST_PLIES", 0)
    with pytest.raises(checking.GameError, match="no end after 0 plies"):
        checking.check(load_game("connect_four"), seconds=0)


def test_kernel_that_does_not_compile_is_found(tmp_path):
    path = written(
        tmp_path, OWN_KERNELS, ("    count = 0\n", "    count = 0\n    out.append(1) if out.size == 0 else None\n")
    )
    with pytest.raises(checking.GameError, match="does not compile") as caught:
        checking.check(load_game(path), seconds=0)
    assert "\x1b" not in str(caught.value)
