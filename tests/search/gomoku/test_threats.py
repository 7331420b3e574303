"""The threat search: what it says is won is won, whatever is played against it."""

from threading import Event

import numpy as np
import pytest

from pipeline_src.games import gomoku
from pipeline_src.games.gomoku import format_variant, from_board, from_fen
from pipeline_src.games.kernels import stack, write_steps
from pipeline_src.players.player import Position
from pipeline_src.players.registry import make_player
from pipeline_src.records.forced_wins import read_forced_wins
from pipeline_src.search.gomoku import solver as net_solver
from pipeline_src.search.gomoku import threats
from pipeline_src.search.gomoku.lines import make_lines
from pipeline_src.search.gomoku.proving import ProvingEvaluator, TreeThreats
from pipeline_src.search.gomoku.solver import Found, NetSolver, Solver
from pipeline_src.search.limits import Limit
from pipeline_src.search.mcts.puct import PuctOptions
from pipeline_src.search.mcts.puct_search import Puct
from pipeline_src.systems.gomoku_zero.proving_player import packaged_solver
from tests.layout.imports import ROOT
from tests.search.gomoku.references import THREES, position
from tests.search.mcts.references import hashed

# The threat search together with an evaluator: what is certain, and moves that meet a threat.


WON = position(
    """
    . . . . . . .
    . . . . . . .
    . . x x x . .
    . . . o . . .
    . . . o . . .
    . . . . o . .
    . . . . . . .
    """
)
PRESSED = position(
    """
    . . . . . . .
    . . . . . . .
    . . x x x . .
    . . . o . . .
    . . . o . . .
    . . . . . . .
    . . . . . . .
    """
)
LOST = position(
    """
    . . . . . . .
    . x x x x . .
    . . . . . . .
    . . . o o . .
    . . . o . . .
    . . . . . . .
    . . . . . . .
    """
)


def even(states, steps, counts):
    """The same prior for each step, and no opinion."""
    priors = np.zeros(steps.shape, np.float32)
    for row, count in zip(priors, counts, strict=True):
        row[:count] = 1 / count
    return priors, np.zeros(len(counts), np.float32)


def answer(evaluator, *states):
    stacked = stack(states[0], len(states))
    steps, counts = np.zeros((len(states), states[0].board.size), np.int32), np.zeros(len(states), np.int32)
    for i, state in enumerate(states):
        for column, array in zip(stacked, state, strict=True):
            column[i] = array
        counts[i] = write_steps(state, steps[i])
    return steps, *evaluator(stacked, steps, counts)


def test_certain_results_and_forced_answers():
    evaluator = ProvingEvaluator(even, 200, 200)
    steps, priors, values = answer(evaluator, WON, PRESSED, LOST, gomoku.initial_state(7))
    assert values.tolist() == [1.0, 0.0, -1.0, 0.0]
    assert evaluator.decided == 2
    best = [gomoku.format_move(int(row[np.argmax(prior)]), 7, 7) for row, prior in zip(steps, priors, strict=True)]
    assert best[0] in ("b5", "f5")
    assert priors[0].max() == 1.0
    met = {gomoku.format_move(int(step), 7, 7) for step, prior in zip(steps[1], priors[1], strict=True) if prior > 0}
    assert {"b5", "f5"} <= met <= {"a5", "b5", "f5", "g5"}
    assert np.allclose(np.maximum(priors, 0).sum(axis=1), 1)
    assert (priors[1] == -1).sum() == (PRESSED.board == 0).sum() - len(met)  # what does not meet the threat loses


def test_fours_alone_see_wins_and_answers_of_one_kind():
    _, priors, values = answer(ProvingEvaluator(even, 40), WON, PRESSED, LOST, gomoku.initial_state(7))
    assert values.tolist() == [1.0, 0.0, -1.0, 0.0]
    assert (priors[1] > 0).sum() < 10
    _, priors, values = answer(ProvingEvaluator(even, 40), THREES)
    assert values.tolist() == [0.0]
    assert priors.min() == 0, "a win by threes takes another search"
    assert answer(ProvingEvaluator(even, 40, 200), THREES)[2].tolist() == [1.0]


SCATTERED = position(
    """
    . . . . . . . . .
    . . x . . . o o .
    . . . . . . o x .
    . o . . x . . . .
    . . o o o . . x .
    . . . x . x . x .
    . . . o . . . . .
    . . . . . . x . .
    . . . . . . . . .
    """
)
"""Black wins by fours, after more than eight positions, unless some of those that do not win are known."""


@pytest.mark.parametrize(("alone", "values"), [(False, [0.0, 1.0]), (True, [0.0, 0.0])])
def test_alone_a_search_does_not_learn_from_another(alone, values):
    evaluator = ProvingEvaluator(even, 8, alone=alone)
    assert [float(answer(evaluator, SCATTERED)[2][0]) for _ in values] == values


def test_black_without_a_legal_defence_in_renju_has_lost():
    state = from_fen("15/15/15/15/15/15/15/7x7/5x1x7/5xo8/6o8/6o8/6o8/6x8/o14 b renju")
    steps, priors, values = answer(ProvingEvaluator(even, 40), state)
    assert values.tolist() == [-1.0]
    legal = write_steps(state, steps[0])
    assert priors[0, :legal] == pytest.approx(1 / legal), "one move is as good as another"


def test_a_tree_search_sees_the_win():
    found = Puct(ProvingEvaluator(even, 200, 200)).search(WON, Limit(nodes=20))
    assert gomoku.format_move(found.action, 7, 7) in ("b5", "f5")
    assert found.value > 0.9


# Searches by threats at nodes of a tree.


def searcher(rate):
    between = None if rate is None else TreeThreats(rate)
    return Puct(ProvingEvaluator(even, 40, alone=True), PuctOptions(solve=True, share=True), between=between)


@pytest.mark.parametrize(("rate", "value"), [(None, 0.0), (1000.0, 1.0)])
def test_root_won_by_threes_plays_its_move(rate, value):
    found = searcher(rate).search(THREES, Limit(nodes=2))
    assert found.value == pytest.approx(value, abs=0.1)
    refuted = not Solver().solve(gomoku.play(THREES, found.action), Limit(nodes=1000)).win
    assert rate is None or refuted, "the other side must not win after it"


def test_move_refuted_by_threes_is_given_up():
    state = from_fen("2o12/3xx1o8/3oxoo1x6/4oxoo7/4xoxo7/2xox1xo7/6xx7/4x3x6/7o1x5/10o4/15/15/15/15/15 w")
    net = make_player("gomoku", "zero:simulations=2000,threats=10")
    found = net.think(Position(state, np.random.default_rng(0)))
    assert not Solver().solve(gomoku.play(state, found.action), Limit(nodes=20_000)).win
    assert found.found is not None
    assert found.found.value > -1


def test_threats_found_before_change_no_limited_search():
    one = searcher(20.0)
    first = one.search(SCATTERED, Limit(nodes=900, lines=5))
    one.search(THREES, Limit(nodes=300))
    assert one.search(SCATTERED, Limit(nodes=900, lines=5)).lines == first.lines
    assert searcher(20.0).search(SCATTERED, Limit(nodes=900, lines=5)).lines == first.lines


@pytest.mark.parametrize("variant", ["freestyle-4", "exact-3"])
def test_proofs_at_nodes_are_those_of_full_playout(variant):
    rng, found = np.random.default_rng(5), [0, 0]
    for _ in range(30):
        state = random_position(rng, 4, variant, int(rng.integers(7, 12)))
        for proven, rate in enumerate((None, 1000.0)):
            value = searcher(rate).search(state, Limit(nodes=30)).value
            assert abs(value) < 1 or value == best_result(state), gomoku.to_fen(state)
            found[proven] += abs(value) == 1
    assert found[1] >= found[0] > 0


# Forced wins, slow and obvious: every legal move of both sides, and the rules' own functions.


def legal(state):
    return [int(action) for action in gomoku.legal_actions(state)]


def wins(state):
    """Whether an action ends the game with a line of the side to move."""
    return any(gomoku.winner(gomoku.play(state, action)) not in (None, "draw") for action in legal(state))


def best_result(state, known=None):
    """1, 0 or -1 to the side to move, all lines played to their end."""
    known = {} if known is None else known
    key = state.board.tobytes()  # the number of stones says who is to move
    if key not in known:
        after = [gomoku.play(state, action) for action in legal(state)]
        ends, best = [gomoku.winner(one) for one in after], -1
        if any(end not in (None, "draw") for end in ends):
            best = 1
        for one, end in zip(after, ends, strict=True):
            if best == 1:
                break
            best = max(best, 0 if end == "draw" else -best_result(one, known))
        known[key] = best
    return known[key]


def wins_by_fours(state, fours=6):
    """Whether the side to move wins by at most so many fours in a row, each of which has one answer."""
    if wins(state):
        return True
    for action in legal(state) if fours else ():
        after = gomoku.play(state, action)
        passed = from_board(after.board, 1 - gomoku.to_play(after), format_variant(after))
        if gomoku.winner(after) is not None or wins(after) or not wins(passed):
            continue
        answers = [a for a in legal(after) if not wins(gomoku.play(after, a))]
        if not answers or (len(answers) == 1 and wins_by_fours(gomoku.play(after, answers[0]), fours - 1)):
            return True
    return False


def refutation(solver, state, limit):
    """Defences against which the solver's own moves do not win, as a line of moves; None if there are none.

    The attacker plays what the solver finds, searched again in each position; the defender everything that is legal.
    """
    seen = set()

    def refuted(position):
        found = solver.solve(position, limit)
        if not found.win:
            return []
        after = gomoku.play(position, found.line[0])
        if gomoku.winner(after) is not None:
            return None if gomoku.winner(after) != "draw" else [found.line[0]]
        for answer in legal(after):
            reply = gomoku.play(after, answer)
            if gomoku.winner(reply) is not None:
                return [found.line[0], answer]
            key = reply.board.tobytes()
            if key in seen:
                continue
            seen.add(key)
            line = refuted(reply)
            if line is not None:
                return [found.line[0], answer, *line]
        return None

    return refuted(state)


RECORDED = ROOT / "../shared/data/gomoku/forced_wins.jsonl"
SOLVER = Solver(1 << 16)


def random_position(rng, size, variant, stones, side=0):
    """A board of so many stones with nobody having won; Black is to move, or ``side``."""
    while True:
        board = np.zeros(size * size, np.int8)
        cells = rng.permutation(size * size)[: 2 * (stones // 2) + side]
        board[cells[::2]], board[cells[1::2]] = 1, 2
        state = from_board(board.reshape(size, size), side, variant)
        if gomoku.winner(state) is None and gomoku.winner(from_board(state.board, 1 - side, variant)) is None:
            return state


@pytest.mark.parametrize(
    ("variant", "side"),
    [
        ("freestyle", 0),
        ("exact", 0),
        ("freestyle-4", 0),
        ("exact-4", 0),
        ("renju", 0),
        ("renju", 1),
        ("caro", 0),
        ("caro-4", 1),
    ],
)
def test_no_defence_beats_a_proof_on_small_boards(variant, side):
    rng, won = np.random.default_rng(3), 0
    for _ in range(30):
        state = random_position(rng, 7, variant, int(rng.integers(8, 24)), side)
        found = SOLVER.solve(state, Limit(nodes=20_000))
        if found.win:
            won += 1
            assert refutation(SOLVER, state, Limit(nodes=20_000)) is None, gomoku.to_fen(state)
    assert won > 3


@pytest.mark.parametrize("variant", ["freestyle-4", "exact-4", "freestyle-3", "exact-3"])
def test_proven_wins_are_won_in_full_playout(variant):
    rng, both = np.random.default_rng(5), [0, 0]
    for _ in range(30):
        state = random_position(rng, 4, variant, int(rng.integers(8, 14)))
        best, found = best_result(state), SOLVER.solve(state, Limit(nodes=20_000))
        assert not found.win or best == 1, gomoku.to_fen(state)
        both[0] += best == 1
        both[1] += found.win
    assert both[1] > 0.7 * both[0] > 0, "most wins on so small a board are by threats"


@pytest.mark.parametrize(("variant", "side", "barred"), [("freestyle", 0, 0), ("exact", 0, 0), ("renju", 1, 5)])
def test_fours_are_found_where_the_slow_search_finds_them(variant, side, barred):
    rng, space, counts = np.random.default_rng(7), threats.make_four_space(), [0, 0, 0]
    for i in range(60 if side == 0 else 200):
        state = random_position(rng, 7 + side, variant, int(rng.integers(14, 30 + 10 * side)), side)
        space.counts[threats.SALT] = i
        found = threats.win_by_fours(make_lines(state), space, np.int64(side), np.int64(100_000)) > 0
        assert found == wins_by_fours(state), gomoku.to_fen(state)
        counts[found] += 1
        counts[2] += space.counts[threats.BARRED]
    assert min(counts[:2]) > 10
    assert counts[2] >= barred


@pytest.mark.parametrize("size", [6, 9, 15, 20])
@pytest.mark.parametrize(("variant", "side"), [("freestyle", 0), ("exact", 0), ("renju", 0), ("renju", 1), ("caro", 0)])
def test_lines_are_played_to_their_end(size, variant, side):
    rng, won = np.random.default_rng(size), 0
    for _ in range(20):
        state = random_position(rng, size, variant, int(rng.integers(size * size // 5, size * size // 2)), side)
        found = SOLVER.solve(state, Limit(nodes=5_000))
        if not found.win:
            assert (found.line, found.plies) == ((), None)
            continue
        won += 1
        for action in found.line:
            assert gomoku.winner(state) is None
            state = gomoku.play(state, action)
        assert (gomoku.winner(state), found.plies) == (("first", "second")[side], len(found.line))
    assert won > 2


@pytest.mark.parametrize(
    "board",
    [
        "15/15/15/15/5x2x6/5o2x6/5o2x6/4xoooox5/7x7/4x10/10o4/15/15/15/15",
        "1o3x1o5xo/4x1x2x4x/13x1/15/3o6o4/5x9/15/3o11/x4o5o3/4x4o5/2x4x1o5/5x7o1/15/8ox5/4o10",
        "15/15/15/15/7x7/6x8/5oxooxo4/5ooox6/5ox8/4xx2x6/15/15/15/15/15",  # a four whose answer is forbidden
    ],
)
def test_a_line_against_black_in_renju_has_no_forbidden_stone(board):
    state = gomoku.from_fen(f"{board} w renju")
    found = Solver().solve(state, Limit(nodes=300_000))
    assert found.win
    for action in found.line:
        state = gomoku.play(state, action)
    assert gomoku.winner(state) == "second"


def test_the_same_position_gives_the_same_line():
    state = gomoku.from_fen("9/9/9/3xo4/3oxx3/4o4/3x1o3/9/9 b")
    one, other = (Solver(1 << 14).solve(state, Limit(nodes=50_000)) for _ in range(2))
    again = SOLVER.solve(state, Limit(nodes=50_000))
    assert (one.line, one.nodes) == (other.line, other.nodes)
    assert again.win == one.win


def test_time_and_stop_end_a_search():
    found = SOLVER.solve(gomoku.initial_state(15), Limit(movetime_ms=50))
    assert not found.win
    assert found.seconds < 2


def test_finished_game_is_not_searched():
    from pipeline_src.errors import ZugwerkError

    with pytest.raises(ZugwerkError, match="the game is over"):
        SOLVER.solve(gomoku.from_fen("xxx/oo1/3 w freestyle-3"), Limit(nodes=10))


@pytest.mark.skipif(not RECORDED.exists(), reason="the recorded positions are not here")
def test_forced_wins_that_a_strong_engine_announced():
    solver = Solver()
    won = [solver.solve(state, Limit(nodes=100_000)).win for state, plies in read_forced_wins(RECORDED) if plies <= 9]
    assert sum(won) >= 0.95 * len(won)


# Forced wins by threats or in a tree: what is said to be won is won, and its line is played to the end.


def won_at_the_end(state, line):
    side = state.turn[0]
    for action in line:
        assert gomoku.winner(state) is None
        state = gomoku.play(state, action)
    return gomoku.winner(state) == ("first", "second")[side]


@pytest.fixture
def trees_first(monkeypatch):
    """Threats alone have no more than a few positions of the limit, and trees are full soon."""
    monkeypatch.setattr(net_solver, "TREE_SHARE", 0.001)
    monkeypatch.setattr(net_solver, "NODES", 500)


@pytest.mark.usefixtures("trees_first")
@pytest.mark.parametrize("variant", ["freestyle-4", "exact-3"])
def test_wins_in_a_tree_are_won_in_full_playout(variant):
    rng, evaluator, found = np.random.default_rng(5), ProvingEvaluator(hashed, 40), [0, 0]
    solver = NetSolver(lambda _: evaluator)
    for _ in range(30):
        state = random_position(rng, 4, variant, int(rng.integers(7, 12)))
        best, win = best_result(state), solver.solve(state, Limit(nodes=8000))
        assert not win.win or best == 1, gomoku.to_fen(state)
        assert not win.win or won_at_the_end(state, win.line), gomoku.to_fen(state)
        found[0] += best == 1
        found[1] += win.win
    assert found[1] == found[0] > 0


@pytest.mark.usefixtures("trees_first")
@pytest.mark.parametrize(("variant", "side"), [("freestyle", 0), ("exact", 1), ("renju", 0), ("renju", 1)])
def test_lines_from_trees_end_with_the_win(variant, side):
    rng, solver, threats, by_tree = np.random.default_rng(side), packaged_solver(), Solver(1 << 14), 0
    for _ in range(16):
        state = random_position(rng, 15, variant, int(rng.integers(16, 40)), side)
        found = solver.solve(state, Limit(nodes=30_000))
        by_tree += found.win and not threats.solve(state, Limit(nodes=30)).win
        assert not found.win or won_at_the_end(state, found.line), gomoku.to_fen(state)
    assert by_tree > 2


class Threats:
    """In place of a search by threats in time: answers at once, or once it is stopped."""

    def __init__(self, answer, at_once):
        self.answer, self.over = answer, Event()
        if at_once:
            self.over.set()

    def solve(self, state, limit):
        if limit.nodes is not None:
            return Solver(1 << 14).solve(state, limit)
        assert self.over.wait(60)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def stop(self):
        self.over.set()


FOUR, NOTHING = gomoku.from_fen("9/9/9/9/2xxx4/9/2oo5/2o6/9 b"), Found((), 1, 0.0)


@pytest.mark.parametrize("threads", [2, 3])
@pytest.mark.parametrize("at_once", [False, True])
def test_a_proof_in_the_tree_ends_the_search(threads, at_once):
    solver, long = packaged_solver(threads), won_in_a_tree()
    for state in (FOUR, long):
        solver._threats = Threats(NOTHING, at_once)
        assert won_at_the_end(state, solver.solve(state, Limit(movetime_ms=1e9)).line)


def won_in_a_tree():
    """A position of which few positions by threats prove nothing, and a tree a win."""
    rng, solver = np.random.default_rng(0), packaged_solver()
    while True:
        state = random_position(rng, 15, "freestyle", int(rng.integers(16, 40)))
        if not Solver(1 << 14).solve(state, Limit(nodes=500)).win and solver.solve(state, Limit(nodes=30_000)).win:
            return state


def test_threats_that_win_end_the_search_in_the_tree():
    solver, won = packaged_solver(2), Found((40,), 1, 0.0)
    solver._threats = Threats(won, at_once=True)
    assert solver.solve(gomoku.initial_state(15), Limit(movetime_ms=1e9)) is won


def test_an_error_of_the_threats_ends_the_search():
    solver = packaged_solver(2)
    solver._threats = Threats(MemoryError("no room"), at_once=True)
    with pytest.raises(MemoryError, match="no room"):
        solver.solve(gomoku.initial_state(15), Limit(movetime_ms=1e9))


def test_several_threads_solve_what_one_does():
    rng, one, three = np.random.default_rng(3), packaged_solver(), packaged_solver(3)
    for _ in range(8):
        state = random_position(rng, 15, "freestyle", int(rng.integers(16, 40)))
        if one.solve(state, Limit(nodes=30_000)).win:
            found = three.solve(state, Limit(movetime_ms=60_000))
            assert won_at_the_end(state, found.line), gomoku.to_fen(state)


def test_a_limit_of_nodes_is_kept_by_any_threads():
    state = random_position(np.random.default_rng(8), 15, "freestyle", 30)
    one, other = (packaged_solver(n).solve(state, Limit(nodes=5000)) for n in (1, 4))
    assert (one.line, one.nodes) == (other.line, other.nodes)


def test_a_rule_without_a_net_is_solved_by_threats():
    state = random_position(np.random.default_rng(8), 15, "caro", 50)
    one, other = (solver.solve(state, Limit(nodes=5000)) for solver in (packaged_solver(), Solver()))
    assert (one.line, one.nodes) == (other.line, other.nodes)


def test_a_search_in_time_ends_in_time():
    solver = packaged_solver()
    solver.solve(gomoku.initial_state(15), Limit(nodes=1))
    found = solver.solve(gomoku.initial_state(15), Limit(movetime_ms=50))
    assert not found.win
    assert found.seconds < 2


@pytest.mark.skipif(not RECORDED.exists(), reason="the recorded positions are not here")
def test_long_wins_that_a_strong_engine_announced():
    solver, won = packaged_solver(), []
    for state, plies in read_forced_wins(RECORDED):
        if 16 <= plies <= 21:
            found = solver.solve(state, Limit(nodes=400_000))
            won.append(found.win)
            assert not found.win or won_at_the_end(state, found.line)
    assert sum(won) >= 0.8 * len(won)
