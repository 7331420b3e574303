import numpy as np
import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku
from pipeline_src.games.gomoku import GomokuState, from_fen
from pipeline_src.learning.symmetry import COUNT, board_maps
from pipeline_src.systems.gomoku_zero.backends import legal_priors, plane_count, zero_planes


def stacked(states: list[GomokuState]) -> GomokuState:
    return GomokuState(*(np.stack(arrays) for arrays in zip(*states, strict=True)))


def planes_of(states: list[GomokuState], positions: int, dtype: type = np.float32) -> np.ndarray:
    height, width = states[0].board.shape
    out = np.full((len(states), plane_count(positions), height, width), 7, dtype)
    zero_planes(stacked(states), positions, out)
    return out


def played(actions: list[int], size: int = 9) -> list[GomokuState]:
    """The start and the state after each action."""
    states = [gomoku.initial_state(size)]
    for action in actions:
        states.append(gomoku.play(states[-1], action))
    return states


def random_game(seed: int, size: int = 9, plies: int = 40) -> list[int]:
    rng, state, actions = np.random.default_rng(seed), gomoku.initial_state(size), []
    while gomoku.winner(state) is None and len(actions) < plies:
        actions.append(int(rng.choice(gomoku.legal_actions(state))))
        state = gomoku.play(state, actions[-1])
    return actions


def by_hand(states: list[GomokuState], ply: int, positions: int) -> np.ndarray:
    """From the list of boards themselves."""
    side = ply % 2
    boards = [states[max(0, ply - back)].board for back in range(positions)]
    planes = [board == side + 1 for board in boards] + [board == 2 - side for board in boards]
    return np.stack([*planes, np.full(boards[0].shape, side == 0)])


@pytest.mark.parametrize("positions", [1, 2, 5])
@pytest.mark.parametrize("dtype", [np.float32, np.uint8])
def test_planes_are_the_boards_of_the_last_plies(positions: int, dtype: type) -> None:
    for seed in range(4):
        states = played(random_game(seed))
        planes = planes_of(states, positions, dtype)
        assert planes.dtype == dtype
        for ply in range(len(states)):
            assert (planes[ply] == by_hand(states, ply, positions)).all()


def test_position_without_history_repeats_its_board() -> None:
    known = played(random_game(3, plies=12))[-1]
    state = from_fen(gomoku.to_fen(known))
    planes = planes_of([state], 5)[0]
    for k in range(5):
        assert (planes[k] == (state.board == 1)).all()
        assert (planes[5 + k] == (state.board == 2)).all()
    after = gomoku.play(state, int(gomoku.legal_actions(state)[0]))
    later = planes_of([after], 5)[0]
    assert (later[5:10].sum((1, 2)) == [7, 6, 6, 6, 6]).all()  # one ply is known, and only one
    assert (later[:5].sum((1, 2)) == 6).all()


@pytest.mark.parametrize("seed", range(3))
def test_planes_turn_with_the_board(seed: int) -> None:
    actions, maps = random_game(seed), board_maps(9)
    planes = planes_of([played(actions)[-1]], 3)[0]
    for g in range(COUNT):
        there = np.argsort(maps[g])  # cell s of the board goes to cell there[s] of the board under g
        turned = planes_of([played([int(there[action]) for action in actions])[-1]], 3)[0]
        assert (turned.reshape(7, 81) == planes.reshape(7, 81)[:, maps[g]]).all()


def test_another_shape_is_refused() -> None:
    states = stacked([gomoku.initial_state(9)])
    for positions, shape in ((2, (1, 4, 9, 9)), (2, (2, 5, 9, 9)), (2, (1, 5, 9, 8)), (0, (1, 1, 9, 9))):
        with pytest.raises(ZugwerkError, match="history"):
            zero_planes(states, positions, np.empty(shape, np.float32))


def test_priors_are_the_softmax_over_legal_steps() -> None:
    rng = np.random.default_rng(0)
    logits = (rng.normal(size=(3, 20)) * 30).astype(np.float32)
    steps, counts = np.full((2, 6), 99, np.int32), np.array([4, 6], np.int32)
    for b in range(2):
        steps[b, : counts[b]] = rng.choice(20, counts[b], replace=False)
    out = np.full((2, 6), 9, np.float32)
    legal_priors(logits, steps, counts, out)
    for b in range(2):
        weights = np.exp(logits[b, steps[b, : counts[b]]].astype(float) - logits[b].max())
        np.testing.assert_allclose(out[b, : counts[b]], weights / weights.sum(), rtol=1e-5)
        assert (out[b, counts[b] :] == 0).all()


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_broken_net_is_reported(number: float) -> None:
    logits, steps = np.zeros((1, 4), np.float32), np.arange(3, dtype=np.int32)[None]
    logits[0, 1] = number
    with pytest.raises(ZugwerkError, match="not finite"):
        legal_priors(logits, steps, np.array([3], np.int32), np.empty((1, 3), np.float32))
    logits[0, 3], logits[0, 1] = number, 0  # not a legal step
    legal_priors(logits, steps, np.array([3], np.int32), np.empty((1, 3), np.float32))
