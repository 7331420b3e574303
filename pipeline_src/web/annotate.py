"""Trees of variations as files: SGF for Sabaki and other editors, and the main line in other formats."""

import re
from typing import Any

import numpy as np
import numpy.typing as npt
from sgfmill import sgf_grammar
from sgfmill.sgf_grammar import escape_text

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.amazons.notation import parse_square
from pipeline_src.games.game import Game, get_game
from pipeline_src.games.gomoku.board import format_variant, to_play
from pipeline_src.records.littlegolem.amazons import write_alone
from pipeline_src.records.psq import write_psq
from pipeline_src.records.record import GameRecord
from pipeline_src.records.sgf import write_sgf
from pipeline_src.records.sgf_games import LETTERS, NUMBERS, PIECES
from pipeline_src.web.messages.analyse import Judgement, Tree, TreeNode
from pipeline_src.web.trees import drawn

DOUBTFUL, BAD = 0.1, 0.2
"""Least loss of win rate for a move to be marked doubtful (DO) or bad (BM)."""
LONGEST = 6
"""Largest number of moves of a line in a comment."""

Properties = dict[str, list[bytes]]


def formats(game: str, start: Any) -> tuple[str, ...]:
    """Return the formats that trees from a start position can be written in, as suffixes of files."""
    if game == "gomoku" and not start.board.any() and to_play(start) == 0:
        return ("sgf", "psq")
    return ("sgf", "txt") if game == "amazons" and _start_name(start) and start.board.shape[0] == 10 else ("sgf",)


def written(tree: Tree, suffix: str) -> str:
    """Return a tree as the text of a file.

    Raises:
        ZugwerkError: a move is illegal, or the format cannot hold the start position.
    """
    start, nodes = drawn(tree)
    if suffix not in formats(tree.place.game, start):
        raise ZugwerkError(f".{suffix} cannot hold this start position; export it as .sgf")
    if suffix == "sgf":
        return _sgf(tree, start, nodes)
    record = _record(tree, start, nodes)
    return write_psq(record) if suffix == "psq" else write_alone(record).decode("latin-1")


def _record(tree: Tree, start: Any, nodes: tuple[TreeNode, ...]) -> GameRecord:
    """Return the main line."""
    game, (height, width) = tree.place.game, start.board.shape
    rules, actions, at, state = get_game(game), list[int](), 0, start
    for number, node in enumerate(nodes, 1):
        if node.parent == at:
            actions.append(rules.parse_move(node.move, height, width))
            state, at = rules.play(state, actions[-1]), number
    variant = format_variant(start) if game == "gomoku" else _start_name(start) if game == "amazons" else ""
    winner = rules.winner(state) or tree.winner
    return GameRecord(
        game, 1, "file", variant, height, width, tuple(actions), winner, tree.resigned,
        tree.first_name, tree.second_name, event=tree.event,
    )  # fmt: skip


def _sgf(tree: Tree, start: Any, nodes: tuple[TreeNode, ...]) -> str:
    """Return a tree as SGF (FF 4, UTF-8), with points as SGF writes them."""
    game = tree.place.game
    rules = get_game(game)
    letters = LETTERS.get(game, "BW")
    children: list[list[int]] = [[] for _ in range(len(nodes) + 1)]
    for number, node in enumerate(nodes, 1):
        children[node.parent].append(number)
    found: list[Properties] = [_root(tree, start) | _notes("", tree.comment, tree.judgements)]
    states = [start]
    for node in nodes:
        before = states[node.parent]
        found.append(_move(rules, game, letters, before, node.move) | _notes(node.name, node.comment, node.judgements))
        states.append(rules.play(before, rules.parse_move(node.move, *before.board.shape)))
    coarse = sgf_grammar.make_coarse_game_tree(0, children.__getitem__, found.__getitem__)
    text: bytes = sgf_grammar.serialise_game_tree(coarse, wrap=None)
    return text.decode()


def _root(tree: Tree, start: Any) -> Properties:
    game, (height, width) = tree.place.game, start.board.shape
    if game == "go":
        if not tree.place.variant:
            raise ZugwerkError("a game of Go from a position of its own cannot be exported; open it from its record")
        empty = GameRecord(game, 1, "file", tree.place.variant, height, width, (), tree.winner, tree.resigned,
                           tree.first_name, tree.second_name, event=tree.event)  # fmt: skip
        root: Properties = sgf_grammar.parse_sgf_game(write_sgf(empty)).sequence[0]
        return root
    letters = LETTERS[game]
    setup: Properties = {}
    if game == "gomoku":
        rule = format_variant(start)
        setup = _setup(game, start.board, to_play(start)) if start.board.any() or to_play(start) else {}
    else:
        rule = _start_name(start)
        setup = _setup(game, start.board[::-1], get_game(game).to_play(start))
    how = "R" if tree.resigned else ""
    texts = {
        "FF": "4",
        "CA": "UTF-8",
        "GM": str(NUMBERS[game]),
        "SZ": f"{width}" if width == height else f"{width}:{height}",
        "RU": rule,
        f"P{letters[0]}": tree.first_name,
        f"P{letters[1]}": tree.second_name,
        "EV": tree.event,
        "RE": {"first": f"{letters[0]}+{how}", "second": f"{letters[1]}+{how}", "draw": "0", None: ""}[tree.winner],
        "AP": "Zugwerk",
    }
    return {key: [_text(value)] for key, value in texts.items() if value} | setup


def _start_name(start: Any) -> str:
    """Return the name of a start position of the Amazons, or an empty text."""
    rules, size = get_game("amazons"), start.board.shape[0]
    for name in rules.VARIANTS:
        try:
            if rules.to_fen(rules.initial_state(size, name)) == rules.to_fen(start):
                return name
        except ZugwerkError:  # this size has no such start
            continue
    return ""


def _setup(game: str, board: npt.NDArray[np.int8], side: int) -> Properties:
    """Return the pieces of a start position, whose row 0 is at the top, and the side to move."""
    found: Properties = {"PL": [LETTERS[game][side].encode()]}
    for key, code in PIECES[game].items():
        points = [_point(int(cell), board.shape[1]).encode() for cell in np.flatnonzero(board == code)]
        found |= {key: points} if points else {}
    return found


def _move(rules: Game, game: str, letters: str, before: Any, move: str) -> Properties:
    height, width = before.board.shape
    if game == "amazons":
        squares = (parse_square(word, height, width) for word in re.findall(r"[a-j]\d+", move))
        text = "".join(_point((height - 1 - square // width) * width + square % width, width) for square in squares)
    else:
        action = rules.parse_move(move, height, width)
        text = "" if action == height * width else _point(action, width)  # a pass of Go
    return {letters[rules.to_play(before)]: [text.encode()]}


def _notes(name: str, comment: str, judgements: tuple[Judgement, ...]) -> Properties:
    lost = max((one.lost or 0.0 for one in judgements), default=0.0)
    said = "\n".join(filter(None, [comment, *map(judged, judgements)]))
    found: Properties = {"BM": [b"1"]} if lost >= BAD else {"DO": [b""]} if lost >= DOUBTFUL else {}
    return found | {key: [_text(text)] for key, text in (("N", name), ("C", said)) if text}


def judged(one: Judgement) -> str:
    """Return a judgement in words."""
    how = "" if one.movetime is None else f", {one.movetime:g} ms"
    words = [f"{one.player}{how}: first side wins {100 * one.win_rate:.1f} %"]
    if one.lost:
        words.append(f"the move gave away {100 * one.lost:.1f} %")
    if one.line:
        words.append(f"best {' '.join(one.line[:LONGEST])} (depth {one.depth}, {one.nodes} nodes)")
    return "; ".join(words)


def _point(cell: int, width: int) -> str:
    """Return a point as SGF writes it: column, then row from the top."""
    row, column = divmod(cell, width)
    return chr(ord("a") + column) + chr(ord("a") + row)


def _text(text: str) -> bytes:
    escaped: bytes = escape_text(text.encode("utf-8", "replace"))
    return escaped
