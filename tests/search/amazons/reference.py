"""The terms of the Amazons evaluation square by square, slow and obvious; and positions to try them on."""

import numpy as np

from pipeline_src.games import amazons as board
from pipeline_src.games import amazons as turns
from pipeline_src.search.amazons.evaluation import make_evaluator, rank_all

FAR = 999
RAYS = [(r, c) for r in (-1, 0, 1) for c in (-1, 0, 1) if (r, c) != (0, 0)]


def look(empty, r, c, dr, dc):
    """Empty squares from (r, c) on in a direction, up to the first that is not."""
    seen = []
    while 0 <= r + dr < empty.shape[0] and 0 <= c + dc < empty.shape[1] and empty[r + dr, c + dc]:
        r, c = r + dr, c + dc
        seen.append((r, c))
    return seen


def distances(empty, amazons, queen):
    """Moves needed to each square, breadth first; FAR where there is no way."""
    found = np.full(empty.shape, FAR)
    frontier, steps = amazons, 0
    while frontier:
        steps, reached = steps + 1, []
        for r, c in frontier:
            for dr, dc in RAYS:
                for square in look(empty, r, c, dr, dc)[: None if queen else 1]:
                    if found[square] == FAR:
                        found[square] = steps
                        reached.append(square)
        frontier = reached
    return found


def mobility(empty, amazons, reached):
    """Of one side; ``reached`` are the squares that the other side reaches."""
    padded = np.pad(empty, 1)
    total = 0.0
    for r, c in amazons:
        for dr, dc in RAYS:
            for distance, (y, x) in enumerate(look(empty, r, c, dr, dc), 1):
                if reached[y, x]:
                    total += 2.0**-distance * padded[y : y + 3, x : x + 3].sum() - 2.0**-distance
    return total


def enclosed(shared, amazons):
    """Of one side; ``shared`` are the squares that both sides reach."""
    padded = np.pad(shared, 1)
    beside = [padded[r : r + 3, c : c + 3].sum() for r, c in amazons]
    return beside.count(0) + beside.count(1) / 4


def slow_terms(state, tempo):
    """t1, t2, c1, c2, w, m, e."""
    empty, width = state.board == board.EMPTY, state.board.shape[1]
    sides = [[divmod(int(s), width) for s in row if s >= 0] for row in state.amazons]
    own, other = sides[board.to_play(state)], sides[1 - board.to_play(state)]
    territory = []
    for queen in (True, False):
        a, b = distances(empty, own, queen), distances(empty, other, queen)
        territory.append((a < b).sum() - 1.0 * (a > b).sum() + tempo * ((a == b) & (a < FAR)).sum())
        if queen:
            both = (a < FAR) & (b < FAR)
            c1 = 2 * ((2.0**-a)[a < FAR].sum() - (2.0**-b)[b < FAR].sum())
            w = (2.0 ** -np.abs(a - b))[both].sum()
            m = mobility(empty, own, b < FAR) - mobility(empty, other, a < FAR)
            e = enclosed(both, own) - enclosed(both, other)
        else:
            c2 = np.clip((b - a) / 6, -1, 1).sum()
    return (*territory, c1, c2, w, m, e)


def games(size, count, greedy, seed):
    """Positions of random games (``greedy``: games one ply deep from four random plies), the last ones finished."""
    rng, evaluator = np.random.default_rng([seed, size]), make_evaluator()
    for _ in range(count):
        state = board.initial_state(size)
        yield state
        while turns.has_turn(state):
            actions = turns.legal_actions(state)
            if greedy and state.turn[2] >= 4:
                values = np.empty(4 * 35 * 35 + 9, np.float32)
                rank_all(state, evaluator, np.empty(values.size, np.int32), values)
                action = actions[np.argmax(values[: actions.size])]
            else:
                action = rng.choice(actions)
            state = turns.play(state, int(action))
            yield state
