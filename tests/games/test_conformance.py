"""What every game promises (`pipeline_src.games.game.Game`, `pipeline_src.games.kernels`), on random games of each."""

import os
import random
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import kernels
from pipeline_src.games.game import GAMES, LEARNABLE, get_game, load_game
from pipeline_src.games.rules import copy_state
from pipeline_src.jit import njit

KNOWN = [
    ("amazons", 6, "standard"),
    ("amazons", 10, "cross"),
    ("gomoku", 3, "freestyle-3"),
    ("gomoku", 7, "exact-4"),
    ("gomoku", 9, "freestyle"),
    ("gomoku", 15, "exact"),
    ("go", 3, "standard"),
    ("go", 5, "komi-0"),
    ("go", 7, "komi-0.5/handicap-2:cc,ee"),
]
NEW = [name for name in (*GAMES, *LEARNABLE) if name not in {known for known, *_ in KNOWN}]
CASES = KNOWN + [(name, size, load_game(name).VARIANTS[0]) for name in NEW for size in load_game(name).SIZES[:2]]
PLAYED = 2  # Random games a case
HERE = Path(__file__).parent


def perft_entries(name):
    """(FEN, depth, count) of every entry of a game's file; lines are ``FEN ;D1 count ;D2 count``."""
    for line in (HERE / "perft" / f"{name}.txt").read_text().splitlines():
        fen, *counts = line.split(";")
        for count in counts if not line.startswith("#") else []:
            depth, number = count.split()
            slow = [pytest.mark.slow] * (name == "amazons" and int(depth[1:]) > 2)
            yield pytest.param(name, fen.strip(), int(depth[1:]), int(number), marks=slow)


@lru_cache
def random_game(name, size, variant, seed):
    """The states of a random game, the last one finished, and the actions between them."""
    rules, rng = load_game(name), random.Random(f"{name} {size} {variant} {seed}")
    states, actions = [rules.initial_state(size, variant)], []
    while rules.winner(states[-1]) is None:
        actions.append(int(rng.choice(rules.legal_actions(states[-1]))))
        states.append(rules.play(states[-1], actions[-1]))
    return states, actions


@pytest.fixture(params=CASES, ids=lambda case: "-".join(map(str, case)))
def case(request):
    """The rules of a game, and random games by them as (states, actions)."""
    return load_game(request.param[0]), [random_game(*request.param, seed) for seed in range(PLAYED)]


def all_states(games):
    return [state for states, _ in games for state in states]


def assert_equal(state, other):
    for name, found, expected in zip(state._fields, state, other, strict=True):
        np.testing.assert_array_equal(found, expected, err_msg=name)


@pytest.mark.parametrize("name", [*GAMES, *LEARNABLE])
def test_game_describes_itself(name):
    rules = load_game(name)
    assert name == rules.NAME
    assert rules.VERSION >= 1
    for size in rules.SIZES:
        for variant in rules.VARIANTS[:1]:
            if name != "gomoku" or size >= 5:
                assert max(rules.initial_state(size, variant).board.shape) == size
    assert rules.to_play(rules.initial_state()) == 0
    with pytest.raises(ZugwerkError):
        rules.initial_state(1000)
    with pytest.raises(ZugwerkError):
        rules.initial_state(max(rules.SIZES), "no such variant")


def test_there_is_no_other_game():
    with pytest.raises(ZugwerkError, match=f"no game called 'chess'; there are: {', '.join(GAMES)}"):
        get_game("chess")


def test_legal_actions_are_those_that_are_legal(case):
    rules, games = case
    rng = random.Random(1)
    for state in all_states(games):
        legal = rules.legal_actions(state)
        assert legal.dtype == np.int32
        assert len(set(legal.tolist())) == len(legal)
        some = rng.sample(legal.tolist(), min(20, len(legal)))
        assert all(rules.is_legal(state, action) for action in some)
        top = state.board.size ** (3 if rules.NAME == "amazons" else 1)
        tried = [rng.randrange(top) for _ in range(20)] + [-1, top, 1 << 40, -(1 << 40)]
        assert [rules.is_legal(state, action) for action in tried] == [action in legal for action in tried]


@pytest.mark.parametrize("name", ["gomoku", "go"])
def test_illegal_actions_are_refused(name):
    rules = get_game(name)
    state = rules.play(rules.initial_state(9), 40)
    for action in (40, -1, 82, 1 << 40):
        with pytest.raises(ZugwerkError, match=f"action {action} is not legal"):
            rules.play(state, action)


def test_playing_leaves_the_state_as_it_was(case):
    rules, games = case
    for states, actions in games:
        for state, action, after in zip(states, actions, states[1:], strict=False):
            before = copy_state(state)
            assert_equal(rules.play(state, action), after)
            assert_equal(state, before)
            assert not any(np.shares_memory(a, b) for a, b in zip(state, after, strict=True))


def test_game_ends_when_won(case):
    rules, games = case
    for states, _ in games:
        assert [rules.winner(state) for state in states[:-1]] == [None] * (len(states) - 1)
        assert rules.winner(states[-1]) in ("first", "second", "draw")
        assert len(rules.legal_actions(states[-1])) == 0


def test_fen_round_trip(case):
    rules, games = case
    for state in all_states(games):
        fen = rules.to_fen(state)
        again = rules.from_fen(fen)
        assert rules.to_fen(again) == fen
        assert rules.to_play(again) == rules.to_play(state)
        assert rules.winner(again) == rules.winner(state)
        np.testing.assert_array_equal(again.board, state.board)
        np.testing.assert_array_equal(rules.legal_actions(again), rules.legal_actions(state))


def test_equal_positions_and_only_these_share_a_hash(case):
    """However they came about: in a game, or from a text."""
    rules, games = case
    by_hash = {}
    for state in all_states(games):
        fen = rules.to_fen(state)
        found = int(kernels.position_hash(state))
        assert int(kernels.position_hash(rules.from_fen(fen))) == found
        assert by_hash.setdefault(found, fen) == fen


def test_move_text_round_trip(case):
    rules, games = case
    for states, actions in games:
        for state, action in zip(states, actions, strict=False):
            text = rules.format_move(action, *state.board.shape)
            assert rules.parse_move(text, *state.board.shape) == action


@pytest.mark.parametrize("text", ["", "?", "a99", "resign"])
def test_bad_move_text_is_refused(case, text):
    rules, games = case
    with pytest.raises(ZugwerkError):
        rules.parse_move(text, *games[0][0][0].board.shape)


@pytest.mark.parametrize("fen", ["", "?", "8/8 w", "3/3/3 x", "x" * 10**6])
def test_bad_fen_is_refused_in_few_words(case, fen):
    with pytest.raises(ZugwerkError) as caught:
        case[0].from_fen(fen)
    assert len(str(caught.value)) < 1000


def test_kernels_play_and_undo_as_the_game(case):
    _, games = case
    for states, actions in games:
        state = copy_state(states[0])
        for action, after in zip(actions, states[1:], strict=True):
            assert kernels.is_legal(state, action)
            kernels.play(state, action)
            assert_equal(state, after)
        for action, before in zip(reversed(actions), reversed(states[:-1]), strict=True):
            kernels.take_back(state, action)
            assert_equal(state, before)


def test_kernels_observe_as_the_game(case):
    rules, games = case
    for state in all_states(games):
        room = np.full(kernels.max_actions(state), -1, np.int32)
        np.testing.assert_array_equal(room[: kernels.write_actions(state, room)], rules.legal_actions(state))
        assert kernels.to_play(state) == rules.to_play(state)
        winner = rules.winner(state)
        over, value = kernels.outcome(state)
        assert over == (winner is not None)
        expected = {None: 0.0, "draw": 0.0}.get(winner)
        if expected is None:
            expected = 1.0 if ("first", "second").index(winner) == rules.to_play(state) else -1.0
        assert value == expected


def test_a_copy_is_equal_and_apart(case):
    for states, _ in case[1]:
        other = copy_state(states[0])
        for state in states:
            kernels.copy_into(state, other)
            assert_equal(other, state)


def test_steps_lead_where_actions_do(case):
    """Near the end of a game, where that is quick: all ways of stepping until the other side is to move."""
    rules, games = case
    if rules.NAME == "connect6":
        pytest.skip("one side makes two actions in a row, and a step is an action")
    for states, _ in games:
        for state in states[-6:]:
            wanted = {rules.to_fen(rules.play(state, int(a))) for a in rules.legal_actions(state)}
            found, todo = set(), [state]
            while todo:
                before = todo.pop()
                room = np.empty(kernels.max_steps(before), np.int32)
                for step in room[: kernels.write_steps(before, room)]:
                    after = copy_state(before)
                    kernels.play_step(after, int(step))
                    if kernels.to_play(after) == rules.to_play(state):
                        todo.append(after)
                    else:
                        found.add(rules.to_fen(after))
            assert found == wanted


def test_perft_counts_sequences(case):
    rules, games = case
    for states, _ in games:
        for state in states[-4:]:
            assert rules.perft(state, 0) == 1
            assert rules.perft(state, 1) == len(rules.legal_actions(state))
            behind = {int(a): rules.play(state, int(a)) for a in rules.legal_actions(state)}
            expected = {a: len(rules.legal_actions(after)) for a, after in behind.items()}
            assert rules.divide(state, 2) == expected
            assert rules.perft(state, 2) == sum(expected.values())
            assert rules.perft(state, 3) == sum(rules.perft(after, 2) for after in behind.values())


@pytest.mark.parametrize(
    ("name", "fen", "depth", "count"), [entry for name in (*GAMES, *LEARNABLE) for entry in perft_entries(name)]
)
def test_perft_file(name, fen, depth, count):
    rules = load_game(name)
    state = rules.from_fen(fen)
    assert rules.perft(state, depth) == count, rules.divide(state, 1)
    assert rules.to_fen(state) == fen


@pytest.mark.parametrize("depth", [-1, 13])
@pytest.mark.parametrize("name", ["gomoku", "go"])
def test_perft_refuses_other_depths(name, depth):
    rules = get_game(name)
    with pytest.raises(ZugwerkError, match="depth"):
        rules.perft(rules.initial_state(9), depth)
    with pytest.raises(ZugwerkError, match="depth of 1 to 12"):
        rules.divide(rules.initial_state(9), depth)


@pytest.mark.parametrize(
    ("name", "seed", "board"), [("amazons", 2020, [10]), ("gomoku", 2020, [9]), ("go", 2007, [5, "komi-0.5"])]
)
def test_playthrough_file_is_regenerated(name, seed, board):
    """A recorded random game: any change of rules, numbering or text shows as a diff of this file."""
    rules, rng = get_game(name), random.Random(seed)
    state, lines = rules.initial_state(*board), []
    while rules.winner(state) is None:
        legal = rules.legal_actions(state)
        action = int(legal[rng.randrange(len(legal))])
        position = f"{rules.to_fen(state)} | {len(legal)} legal, {legal.sum(dtype=np.int64)}"
        hashed = f"hash {int(kernels.position_hash(state)):016x}"
        lines.append(f"{position}, {hashed} | {action} {rules.format_move(action, *state.board.shape)}")
        state = rules.play(state, action)
    lines.append(f"{rules.to_fen(state)} | {rules.winner(state)} wins")
    recorded, text = HERE / "playthroughs" / f"{name}.txt", "\n".join(lines) + "\n"
    if not recorded.exists():  # delete it to record it again; the run that writes it fails
        recorded.write_text(text)
        pytest.fail(f"wrote {recorded}; look at it and run again")
    assert recorded.read_text() == text


PLAY = """
import random
from pipeline_src.games import get_game, kernels
rules, rng, played = get_game({!r}), random.Random(3), []
state = rules.initial_state({}, {!r})
while rules.winner(state) is None and len(played) < 60:
    played.append(int(rng.choice(rules.legal_actions(state))))
    kernels.play(state, played[-1])
print(rules.to_fen(state), state.hash[0], *map(float, kernels.outcome(state)))
for action in reversed(played):
    kernels.take_back(state, action)
print(rules.to_fen(state), state.hash[0], rules.perft(state, 1), *map(float, kernels.outcome(state)))
"""


@pytest.mark.parametrize("board", [("amazons", 6, "standard"), ("gomoku", 7, "exact-4"), ("go", 5, "komi-0")])
def test_without_a_compiler_the_kernels_play_the_same_game(board, capsys):
    program, env = PLAY.format(*board), {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    exec(program, {})
    command = [sys.executable, "-W", "error", "-c", program]
    found = subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout
    assert found == capsys.readouterr().out


@njit(allocates=True)
def played_and_taken_back(state, numbers, actions):
    """Play on by ``numbers``, one a ply, then take all of it back; return (plies, hash at the end)."""
    played = np.empty(numbers.size, np.int32)
    plies = 0
    while not kernels.outcome(state)[0]:
        count = kernels.write_actions(state, actions)
        played[plies] = actions[numbers[plies] % count]
        kernels.play(state, played[plies])
        plies += 1
    end = kernels.position_hash(state)
    for ply in range(plies - 1, -1, -1):
        kernels.take_back(state, played[ply])
    return plies, end


@pytest.mark.parametrize("size", [6, 8, 10])
def test_compiled_code_plays_a_game_through_the_generic_functions(size):
    rules = get_game("amazons")
    start = rules.initial_state(size)
    state, by_python = copy_state(start), copy_state(start)
    numbers = np.random.default_rng(size).integers(0, 1 << 20, 200)
    plies, end = played_and_taken_back(state, numbers, np.empty(kernels.max_actions(state), np.int32))
    assert plies > 8
    assert end != start.hash[0]
    assert_equal(state, start)
    for ply in range(plies):
        legal = rules.legal_actions(by_python)
        kernels.play(by_python, int(legal[numbers[ply] % len(legal)]))
    assert kernels.position_hash(by_python) == end
    assert kernels.outcome(by_python) == (True, -1.0)


def test_states_of_no_game_are_refused():
    with pytest.raises(TypeError, match="tuple"):
        kernels.play((1, 2), 3)
