"""Trees of variations: from the main line of a record, from an SGF file and from a page."""

import datetime
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sgfmill import sgf_grammar
from sgfmill.sgf_grammar import escape_text, main_sequence_iter
from sgfmill.sgf_properties import interpret_go_point

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.amazons import parse_square
from pipeline_src.games.game import GAMES, get_game
from pipeline_src.games.game import Game as Rules
from pipeline_src.games.gomoku import format_variant
from pipeline_src.games.rules import to_play
from pipeline_src.players.player import RATES
from pipeline_src.records.files import kind_of
from pipeline_src.records.go_games import write_sgf
from pipeline_src.records.littlegolem.amazons import write_alone
from pipeline_src.records.psq import write_psq
from pipeline_src.records.record import GameRecord, RecordError, shown, write_records
from pipeline_src.records.sgf import paragraphs_of, text_of, trees
from pipeline_src.records.sgf_games import LETTERS, NUMBERS, PIECES, RESIGN, start_of, word_of
from pipeline_src.web.engine import Place
from pipeline_src.web.game import Game, began, played, rules_of, step
from pipeline_src.web.messages import MOST_LETTERS, MOST_NODES, DrawnNode, Judgement, Tree, TreeNode

DOUBTFUL, BAD = 0.1, 0.2  # Least loss of win rate for a move to be marked doubtful (DO) or bad (BM)
LONGEST = 6  # Largest number of moves of a line in a comment
_SIDES = {**LETTERS, "go": "BW"}

Properties = dict[str, list[bytes]]


def drawn(tree: Tree) -> tuple[list[Any], tuple[DrawnNode, ...]]:
    """Return the states of a tree, the start first, and its nodes with their texts, those of ``place.moves`` first.

    Raises:
        ZugwerkError: a move is illegal, a node comes before its parent, or the start position is malformed.
    """
    rules, start = began(tree.place)
    moves = len(tree.place.moves)
    nodes = [TreeNode(parent=k, move=move) for k, move in enumerate(tree.place.moves)]
    nodes += [node.model_copy(update={"parent": node.parent + moves}) for node in tree.nodes]
    states, depths, found = [start], [0], list[DrawnNode]()
    for number, node in enumerate(nodes, 1):
        if node.parent >= number:
            raise ZugwerkError(f"position {number} of the tree is after position {node.parent}, which is not before it")
        depth = depths[node.parent] + 1
        action, state = step(rules, states[node.parent], node.move, depth)
        states.append(state)
        depths.append(depth)
        move = rules.format_move(action, *state.board.shape)
        found.append(DrawnNode(**{**dict(node), "move": move}, fen=rules.to_fen(state)))
    return states, tuple(found)


def tree_of(record: GameRecord, data: bytes = b"") -> tuple[Tree, tuple[str, ...]]:
    """Return a record as a tree, and error messages about moves that are left out.

    Args:
        record: a game.
        data: the file that it is from. If that is SGF, variations, names of positions and comments are read too.

    Raises:
        ZugwerkError: the game has no such start.
    """
    rules = rules_of(record.game)
    start = start_of(record, rules)
    grown = _Growing(rules, record.game, start)
    at = 0
    for action in record.actions:
        child = grown.play(at, action)
        if child is None:
            break
        at = child
    if data and kind_of(data) == "sgf":
        of_file = list(trees(data))[record.gid - 1]
        if not isinstance(of_file, RecordError):
            grown.read(of_file)
    if max(len(text) for text in (grown.comment, *(one["comment"] for one in grown.nodes))) > MOST_LETTERS:
        grown.left_out.append(f"a comment has more than {MOST_LETTERS:,} letters; the others are left out")
    variant = record.variant if " " not in record.variant else ""
    place = Place(game=record.game, size=record.width, variant=variant, fen=rules.to_fen(start))
    tree = Tree(
        place=place,
        nodes=tuple(TreeNode(**{**one, "comment": one["comment"][:MOST_LETTERS]}) for one in grown.nodes),
        comment=grown.comment[:MOST_LETTERS],
        first_name=record.first_name[:200],
        second_name=record.second_name[:200],
        event=record.event[:4_000],
        winner=record.winner,
        resigned=record.resigned,
    )
    return tree, tuple(grown.left_out)


class _Growing:
    """A tree under construction."""

    def __init__(self, rules: Rules, game: str, start: Any) -> None:
        self.rules, self.game, self.states = rules, game, [start]
        self.nodes: list[dict[str, Any]] = []
        self.left_out: list[str] = []
        self.comment = ""
        self._children: list[dict[int, int]] = [{}]
        self._depths = [0]

    def play(self, at: int, action: int) -> int | None:
        """Return the position after an action, a known or a new one; None if it is illegal, which is noted."""
        if action in self._children[at]:
            return self._children[at][action]
        state, depth = self.states[at], self._depths[at] + 1
        move = self.rules.format_move(action, *state.board.shape)
        if not self.rules.is_legal(state, action):
            self.left_out.append(f"move {depth}, {move}, is not legal: left out with what follows")
            return None
        if len(self.nodes) == MOST_NODES:
            self.left_out.append(f"the file has more than {MOST_NODES:,} positions; the others are left out")
            return None
        self.nodes.append({"parent": at, "move": move, "name": "", "comment": ""})
        number = self._children[at][action] = len(self.nodes)
        self.states.append(self.rules.play(state, action))
        self._children.append({})
        self._depths.append(depth)
        return number

    def read(self, tree: Any) -> None:
        """Add all nodes of a game's tree of `records.sgf.trees`."""
        todo, main = [(tree, 0)], {id(node) for node in main_sequence_iter(tree)}
        while todo:
            below, at = todo.pop()
            for node in below.sequence:
                found = self._move(at, node, id(node) in main)
                if found is None:
                    break
                at = found
                self._note(at, text_of(node, "N").strip(), paragraphs_of(node, "C").strip())
            else:
                todo += [(child, at) for child in reversed(below.children)]

    def _move(self, at: int, node: dict[str, list[bytes]], main: bool) -> int | None:
        moves = [(letter, value) for letter in "BW" for value in node.get(letter, ())]
        sets_up = not main and any(key in node for key in ("AB", "AW", "AE", "AA"))
        if sets_up or len(moves) > 1:
            why = "a variation sets up pieces" if sets_up else "two moves in one node"
            self.left_out.append(f"move {self._depths[at] + 1}: {why}: left out with what follows")
            return None
        if not moves:
            return at
        letter = moves[0][0]
        text, state = text_of(node, letter).strip(), self.states[at]
        size, to_play = state.board.shape[0], _SIDES[self.game][self.rules.to_play(state)]
        try:
            if self.game == "go":
                point = interpret_go_point(text.encode(), size)
                action = size * size if point is None else (size - 1 - point[0]) * size + point[1]
                if letter != to_play:  # a pass that the file leaves out
                    passed = self.play(at, size * size)
                    return None if passed is None else self.play(passed, action)
            elif text.lower() == RESIGN:
                return at
            else:
                action = self.rules.parse_move(word_of(text, size), *state.board.shape)
        except (ValueError, ZugwerkError):
            what = f"{text}, is off the board" if re.fullmatch("[A-Za-z]{2}", text) else f"{shown(text)}, is no move"
            self.left_out.append(f"move {self._depths[at] + 1}, {what}: left out with what follows")
            return None
        if letter != to_play:
            self.left_out.append(f"move {self._depths[at] + 1}, {shown(text)}, is not of the side to move; left out")
            return None
        return self.play(at, action)

    def _note(self, at: int, name: str, comment: str) -> None:
        """Add the texts of a node. Those of several nodes of one position are joined."""
        if at == 0:
            self.comment = "\n".join(filter(None, [self.comment, name, comment]))
            return
        node = self.nodes[at - 1]
        node["name"] = node["name"] or name[:200]
        node["comment"] = "\n".join(filter(None, [node["comment"], comment]))


# Trees of variations as files: SGF for Sabaki and other editors, and the main line in other formats.


def formats(game: str, start: Any) -> tuple[str, ...]:
    """Return the formats that trees from a start position can be written in, as suffixes of files."""
    if game not in GAMES:
        return ()
    if game == "gomoku" and not start.board.any() and to_play(start) == 0:
        return ("sgf", "psq")
    return ("sgf", "txt") if game == "amazons" and _start_name(start) and start.board.shape[0] == 10 else ("sgf",)


def written(tree: Tree, suffix: str) -> str:
    """Return a tree as a file's text (`ZugwerkError`: an illegal move, or a start that the format cannot hold)."""
    (start, *_), nodes = drawn(tree)
    if suffix not in formats(tree.place.game, start):
        raise ZugwerkError(f".{suffix} cannot hold this start position; export it as .sgf")
    if suffix == "sgf":
        return _sgf(tree, start, nodes)
    record = _record(tree, start, nodes)
    return write_psq(record) if suffix == "psq" else write_alone(record).decode("latin-1")


def saved(game: Game, suffix: str, names: tuple[str, str], winner: Any, resigned: bool) -> bytes:
    """Return a game that was played as a file's bytes (`ZugwerkError`: the format cannot hold it)."""
    if suffix not in game.formats:
        raise ZugwerkError(f".{suffix[:20]}: this game can be saved as {', '.join(game.formats)}")
    place, (first, second) = game.place.model_copy(update={"moves": tuple(game.moves)}), (name[:200] for name in names)
    date = datetime.date.today().isoformat()
    tree = Tree(place=place, first_name=first, second_name=second, winner=winner, resigned=resigned, date=date)
    if suffix != "parquet":
        return written(tree, suffix).encode("latin-1" if suffix == "txt" else "utf-8", "replace")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "game.parquet"
        (start, *_), nodes = drawn(tree)
        write_records([_record(tree, start, nodes)], path)
        return path.read_bytes()


def record_at(place: Place) -> GameRecord:
    """Return a place's moves as a record without names; its variant is the start's FEN (`ZugwerkError`: see `step`)."""
    rules, start = began(place)
    height, width = start.board.shape
    actions, _ = played(rules, start, place.moves)
    return GameRecord(place.game, 0, "file", rules.to_fen(start), height, width, actions, None)


def main_line(nodes: Sequence[TreeNode]) -> list[str]:
    """Return the moves of a tree's main line."""
    found, at = list[str](), 0
    for number, node in enumerate(nodes, 1):
        if node.parent == at:
            found.append(node.move)
            at = number
    return found


def _record(tree: Tree, start: Any, nodes: tuple[TreeNode, ...]) -> GameRecord:
    game, (height, width) = tree.place.game, start.board.shape
    actions, state = played(rules := rules_of(game), start, main_line(nodes))
    named = {"gomoku": format_variant, "amazons": _start_name}
    variant = named[game](start) if game in named else tree.place.variant
    winner = rules.winner(state) or tree.winner
    return GameRecord(
        game, 1, "file", variant, height, width, actions, winner, tree.resigned,
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
        "DT": tree.date,
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


def _move(rules: Rules, game: str, letters: str, before: Any, move: str) -> Properties:
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
    words = [f"{one.player}: first side wins {100 * one.win_rate:.1f} %"]
    if one.lost:
        words.append(f"the move gave away {100 * one.lost:.1f} %")
    if one.line:
        words.append(f"best {' '.join(one.line[:LONGEST])} (depth {one.depth}, {one.nodes} {_counted(one)})")
    return "; ".join(words)


def _counted(one: Judgement) -> str:
    unit = "simulation" if one.player.partition(":")[0] in RATES else "node"
    return unit if one.nodes == 1 else f"{unit}s"


def _point(cell: int, width: int) -> str:
    """Return a point as SGF writes it: column, then row from the top."""
    row, column = divmod(cell, width)
    return chr(ord("a") + column) + chr(ord("a") + row)


def _text(text: str) -> bytes:
    escaped: bytes = escape_text(text.encode("utf-8", "replace"))
    return escaped
