"""The rules of Go as kernels that change a state in place."""

import numpy as np
import numpy.typing as npt

from pipeline_src.games.go.board import (
    BLACK,
    EMPTY,
    KEYS,
    KO,
    KO_KEYS,
    MOVES_KEPT,
    NOWHERE,
    PASS_KEYS,
    PASSES,
    PLY,
    SIDE,
    SIDE_KEY,
    WHITE,
    GoState,
)
from pipeline_src.jit import njit

Board = npt.NDArray[np.int8]
Points = npt.NDArray[np.int16]
DOWN = (-1, 1, 0, 0)
RIGHT = (0, 0, -1, 1)  # The four directions in the order of the bits of `GoState.undo`: up, down, left, right
MARK = 2  # Number added to a stone's code while a group is walked. It is removed before the kernel returns.


@njit(cache=True)
def copy_into(state: GoState, other: GoState) -> None:
    """Make ``other``, a state of the same board size, equal to ``state``."""
    for i in range(state.board.size):  # entry by entry: numba makes an array for each slice that it copies
        other.board.flat[i] = state.board.flat[i]
    for i in range(state.moves.size):
        other.moves.flat[i] = state.moves.flat[i]
    for i in range(state.undo.size):
        other.undo.flat[i] = state.undo.flat[i]
    for i in range(state.turn.size):
        other.turn[i] = state.turn[i]
    other.hash[0] = state.hash[0]


@njit(cache=True)
def captured(board: Board, row: int, column: int, points: Points) -> int:
    """Return the size of the group at (row, column) if it has no liberty, with its points in ``points`` [N]; else 0."""
    height, width = board.shape
    colour = board[row, column]
    board[row, column] = colour + MARK
    points[0] = row * width + column
    count, at, free = 1, 0, False
    while at < count and not free:
        row = points[at] // width
        column = points[at] - row * width
        at += 1
        for direction in range(4):
            beside, along = row + DOWN[direction], column + RIGHT[direction]
            if 0 <= beside < height and 0 <= along < width:
                code = board[beside, along]
                if code == EMPTY:
                    free = True
                elif code == colour:
                    board[beside, along] = colour + MARK
                    points[count] = beside * width + along
                    count += 1
    for entry in range(count):
        row = points[entry] // width
        board[row, points[entry] - row * width] = colour
    return 0 if free else count


@njit(cache=True)
def _neighbours(board: Board, row: int, column: int, code: int) -> int:
    """Count the points next to (row, column) that hold ``code``."""
    height, width = board.shape
    found = 0
    for direction in range(4):
        beside, along = row + DOWN[direction], column + RIGHT[direction]
        if 0 <= beside < height and 0 <= along < width and board[beside, along] == code:
            found += 1
    return found


@njit(cache=True, allocates=True)
def all_breathe(board: Board) -> bool:
    """Whether every stone's group has a liberty."""
    points = np.empty(board.size, np.int16)
    for row in range(board.shape[0]):
        for column in range(board.shape[1]):
            if board[row, column] != EMPTY and captured(board, row, column, points):
                return False
    return True


@njit(cache=True)
def may_be_ko(board: Board, point: int, colour: int) -> bool:
    """Whether ``colour`` can just have lost a stone on a point: it is empty and surrounded by the opponent's stones."""
    row = point // board.shape[1]
    column = point - row * board.shape[1]
    return bool(
        board[row, column] == EMPTY
        and _neighbours(board, row, column, EMPTY) == 0
        and _neighbours(board, row, column, colour) == 0
    )


@njit(cache=True, allocates=True)
def _stands(board: Board, row: int, column: int, colour: int) -> bool:
    """Whether a stone on an empty point has a liberty after its captures are removed."""
    if _neighbours(board, row, column, EMPTY):
        return True
    height, width = board.shape
    points = np.empty(board.size, np.int16)
    board[row, column] = colour
    stands = captured(board, row, column, points) == 0
    for direction in range(4):
        beside, along = row + DOWN[direction], column + RIGHT[direction]
        if not stands and 0 <= beside < height and 0 <= along < width and board[beside, along] != colour:
            stands = captured(board, beside, along, points) > 0
    board[row, column] = EMPTY
    return stands


@njit(cache=True)
def legal(state: GoState, action: int) -> bool:
    """Whether the game is unfinished and ``action``, any int, is a pass or a point where a stone may be placed."""
    board, turn = state.board, state.turn
    if turn[PASSES] >= 2 or not 0 <= action <= board.size:
        return False
    if action == board.size:
        return True
    row = action // board.shape[1]
    column = action - row * board.shape[1]
    if board[row, column] != EMPTY or action == turn[KO]:
        return False
    return _stands(board, row, column, turn[SIDE] + 1)


@njit(cache=True)
def write_actions(state: GoState, out: npt.NDArray[np.int32]) -> int:
    """Write the legal points, ascending, and the pass to ``out``, or nothing if the game is over; return the number."""
    count = 0
    for action in range(state.board.size + 1):
        if legal(state, action):
            out[count] = action
            count += 1
    return count


@njit(cache=True)
def _set_ko(state: GoState, point: int) -> None:
    if state.turn[KO] != NOWHERE:
        state.hash[0] ^= KO_KEYS[state.turn[KO]]
    state.turn[KO] = point
    if point != NOWHERE:
        state.hash[0] ^= KO_KEYS[point]


@njit(cache=True)
def _set_passes(state: GoState, passes: int) -> None:
    state.hash[0] ^= PASS_KEYS[state.turn[PASSES]] ^ PASS_KEYS[passes]
    state.turn[PASSES] = passes


@njit(cache=True, allocates=True)
def _place(state: GoState, point: int, side: int) -> int:
    """Place a stone and remove the captured ones; return a bit for each direction in which stones were captured."""
    board = state.board
    height, width = board.shape
    row = point // width
    column = point - row * width
    board[row, column] = side + 1
    state.hash[0] ^= KEYS[side, point]
    directions, taken, last = 0, 0, NOWHERE
    for direction in range(4):
        beside, along = row + DOWN[direction], column + RIGHT[direction]
        if not (0 <= beside < height and 0 <= along < width) or board[beside, along] != 2 - side:
            continue
        if _neighbours(board, beside, along, EMPTY):
            continue  # most stones have a liberty of their own
        points = np.empty(board.size, np.int16)
        size = captured(board, beside, along, points)
        for entry in range(size):
            last = points[entry]
            board[last // width, last - (last // width) * width] = EMPTY
            state.hash[0] ^= KEYS[1 - side, last]
        if size:
            directions |= 1 << direction
            taken += size
    alone = _neighbours(board, row, column, side + 1) == 0 and _neighbours(board, row, column, EMPTY) == 1
    _set_ko(state, last if taken == 1 and alone else NOWHERE)
    return directions


@njit(cache=True)
def play(state: GoState, action: int) -> None:
    """Play a legal action, in place."""
    turn = state.turn
    side, entry = int(turn[SIDE]), turn[PLY] % MOVES_KEPT
    before = 32 * (turn[KO] + 1) + 16 * turn[PASSES]
    if action == state.board.size:
        _set_passes(state, int(turn[PASSES]) + 1)
        _set_ko(state, NOWHERE)
    else:
        before |= _place(state, action, side)
        _set_passes(state, 0)
    state.moves[entry] = action
    state.undo[entry] = before
    state.hash[0] ^= SIDE_KEY
    turn[SIDE] = 1 - side
    turn[PLY] += 1


@njit(cache=True, allocates=True)
def _fill(state: GoState, row: int, column: int, side: int) -> None:
    """Fill the empty region that contains (row, column) with stones of ``side``."""
    board = state.board
    height, width = board.shape
    points = np.empty(board.size, np.int16)
    board[row, column] = side + 1
    points[0] = row * width + column
    count, at = 1, 0
    while at < count:
        row = points[at] // width
        column = points[at] - row * width
        state.hash[0] ^= KEYS[side, points[at]]
        at += 1
        for direction in range(4):
            beside, along = row + DOWN[direction], column + RIGHT[direction]
            if 0 <= beside < height and 0 <= along < width and board[beside, along] == EMPTY:
                board[beside, along] = side + 1
                points[count] = beside * width + along
                count += 1


@njit(cache=True)
def take_back(state: GoState, action: int) -> None:
    """Undo the last action, in place."""
    board, turn = state.board, state.turn
    width = board.shape[1]
    side, entry = 1 - int(turn[SIDE]), (turn[PLY] - 1) % MOVES_KEPT
    before = int(state.undo[entry])
    if action != board.size:
        # The only liberty of a captured group was the point of this stone, so the fill stops at the group's own points.
        row = action // width
        column = action - row * width
        for direction in range(4):
            if before >> direction & 1 and board[row + DOWN[direction], column + RIGHT[direction]] == EMPTY:
                _fill(state, row + DOWN[direction], column + RIGHT[direction], 1 - side)
        board[row, column] = EMPTY
        state.hash[0] ^= KEYS[side, action]
    _set_passes(state, before >> 4 & 1)
    _set_ko(state, (before >> 5) - 1)
    state.moves[entry] = -1
    state.undo[entry] = 0
    state.hash[0] ^= SIDE_KEY
    turn[SIDE] = side
    turn[PLY] -= 1


@njit(cache=True, allocates=True)
def area(board: Board) -> int:
    """Return Black's area less White's: stones, and empty points that reach one colour only. All stones are alive."""
    height, width = board.shape
    seen = np.zeros(board.size, np.bool_)
    points = np.empty(board.size, np.int16)
    total = 0
    for start in range(board.size):
        code = board[start // width, start % width]
        if code != EMPTY:
            total += 1 if code == BLACK else -1
        elif not seen[start]:
            black, white = False, False
            points[0], count, at = start, 1, 0
            seen[start] = True
            while at < count:
                row = points[at] // width
                column = points[at] - row * width
                at += 1
                for direction in range(4):
                    beside, along = row + DOWN[direction], column + RIGHT[direction]
                    if 0 <= beside < height and 0 <= along < width:
                        code, point = board[beside, along], beside * width + along
                        black |= code == BLACK
                        white |= code == WHITE
                        if code == EMPTY and not seen[point]:
                            seen[point] = True
                            points[count] = point
                            count += 1
            if black != white:
                total += count if black else -count
    return total
