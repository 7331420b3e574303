"""Games with an analysis as SGF, for Sabaki and other editors. This package reads the games back without comments."""

import numpy as np

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.game import get_game
from pipeline_src.games.gomoku.board import BLACK, WHITE, GomokuState, format_variant, to_play
from pipeline_src.records.record import GameRecord
from pipeline_src.records.sgf import write_sgf
from pipeline_src.records.sgf_games import LETTERS, NUMBERS
from pipeline_src.web.messages.analyse import AnalysisRequest, PlyAnalysis
from pipeline_src.web.record_files import start_of

DOUBTFUL, BAD = 0.1, 0.2
"""Least loss of win rate for a move to be marked doubtful (DO) or bad (BM)."""
LONGEST = 6
"""Largest number of moves of a line in a comment."""


def annotated(record: GameRecord, analyses: list[tuple[AnalysisRequest, dict[int, PlyAnalysis]]]) -> str:
    """Return the record as SGF text (FF 4, UTF-8). Go has no analysis, so its records have no comments.

    Raises:
        ZugwerkError: the game's start position has no name.
    """
    if record.game == "go":
        return write_sgf(record).decode()
    if " " in record.variant and record.game != "gomoku":
        raise ZugwerkError("the game begins from a position without a name, which this export cannot write")
    rules, letters, state = get_game(record.game), LETTERS[record.game], start_of(record)
    setup = _setup(state) if " " in record.variant else ""
    size = f"{record.width}" if record.width == record.height else f"{record.width}:{record.height}"
    root = {
        "FF": "4",
        "CA": "UTF-8",
        "GM": str(NUMBERS[record.game]),
        "SZ": size,
        "RU": format_variant(state) if record.game == "gomoku" else record.variant,
        "PB": record.first_name,
        "PW": record.second_name,
        "EV": record.event,
        "RE": {"first": f"{letters[0]}+", "second": f"{letters[1]}+", "draw": "0", None: ""}[record.winner],
        "AP": "Zugwerk",
        "C": comment(0, analyses),
    }
    nodes = ["".join(f"{key}[{_escaped(value)}]" for key, value in root.items() if value) + setup]
    for ply, action in enumerate(record.actions):
        letter = letters[rules.to_play(state)]
        move = rules.format_move(action, record.height, record.width)
        text = move if record.game == "amazons" else _point(action, record.width)
        state = rules.play(state, action)
        lost = max((found[ply + 1].lost or 0.0 for _, found in analyses if ply + 1 in found), default=0.0)
        mark = "BM[1]" if lost >= BAD else "DO[]" if lost >= DOUBTFUL else ""
        said = comment(ply + 1, analyses)
        nodes.append(f"{letter}[{text}]{mark}" + (f"C[{_escaped(said)}]" if said else ""))
    if record.resigned:
        nodes.append(f"{letters[rules.to_play(state)]}[resign]")
    return "(;" + "\n;".join(nodes) + ")\n"


def comment(ply: int, analyses: list[tuple[AnalysisRequest, dict[int, PlyAnalysis]]]) -> str:
    """Return the comment of all analyses on the position after ``ply`` moves."""
    lines = []
    for request, found in analyses:
        one = found.get(ply)
        if one is None:
            continue
        words = [f"{request.player}, {request.movetime:g} ms: first side wins {100 * one.win_rate:.1f} %"]
        if one.lost:
            words.append(f"the move gave away {100 * one.lost:.1f} %")
        if one.line:
            words.append(f"best {' '.join(one.line[:LONGEST])} (depth {one.depth}, {one.nodes} nodes)")
        lines.append("; ".join(words))
    return "\n".join(lines)


def _setup(state: GomokuState) -> str:
    """Return the stones of a start position of Gomoku, and the side to move."""
    width, text = state.board.shape[1], ""
    for key, colour in (("AB", BLACK), ("AW", WHITE)):
        points = [f"[{_point(int(cell), width)}]" for cell in np.flatnonzero(state.board == colour)]
        text += key + "".join(points) if points else ""
    return text + f"PL[{'BW'[to_play(state)]}]"


def _point(cell: int, width: int) -> str:
    """Return a point as SGF writes it: column, then row from the top."""
    row, column = divmod(cell, width)
    return chr(ord("a") + column) + chr(ord("a") + row)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("]", "\\]")
