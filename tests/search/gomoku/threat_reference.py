"""Forced wins, slow and obvious: every legal move of both sides, and the rules' own functions."""

from pipeline_src.games import gomoku
from pipeline_src.games.gomoku import format_variant, from_board


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
