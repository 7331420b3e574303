"""Trees of variations: from the main line of a record, from an SGF file, from a page, and from pasted text."""

import re
from collections.abc import Sequence
from typing import Any

from sgfmill.sgf_grammar import main_sequence_iter
from sgfmill.sgf_properties import interpret_go_point

from pipeline_src.arena.runner import Board
from pipeline_src.errors import ZugwerkError
from pipeline_src.games.game import Game, get_game
from pipeline_src.records.record import GameRecord
from pipeline_src.records.rejects import RecordError, shown
from pipeline_src.records.sgf_games import LETTERS, RESIGN, word_of
from pipeline_src.records.sgf_text import paragraphs_of, text_of, trees
from pipeline_src.web.engine.tasks import Place
from pipeline_src.web.messages.analyse import MOST_LETTERS, MOST_NODES, DrawnNode, Tree, TreeNode
from pipeline_src.web.moves import step
from pipeline_src.web.record_files import kind_of, start_of

_SIDES = {**LETTERS, "go": "BW"}
_NUMBERED = re.compile(r"\b\d+\.+(?=\s|$|[a-z])")
_TURN = re.compile(r"[a-z]\d+-[a-z]\d+/[a-z]\d+|[a-z]\d+")


def drawn(tree: Tree) -> tuple[Any, tuple[DrawnNode, ...]]:
    """Return the start position of a tree, and its nodes with their positions; those of ``place.moves`` come first.

    Raises:
        ZugwerkError: a move is illegal, a node comes before its parent, or the start position is malformed.
    """
    rules = get_game(tree.place.game)
    start = Board(tree.place.game, tree.place.size, tree.place.variant or None).start(tree.place.fen)
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
    return start, tuple(found)


def tree_of(record: GameRecord, data: bytes = b"") -> tuple[Tree, tuple[str, ...]]:
    """Return a record as a tree, and error messages about moves that are left out.

    Args:
        record: a game.
        data: the file that it is from. If that is SGF, variations, names of positions and comments are read too.

    Raises:
        ZugwerkError: the game has no such start.
    """
    rules, start = get_game(record.game), start_of(record)
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

    def __init__(self, rules: Game, game: str, start: Any) -> None:
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
            self.left_out.append(f"move {depth}, {move}, is not legal; it is left out with all that follows it")
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
        """Add all nodes of a game's tree of `sgf_text.trees`."""
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
            self.left_out.append(f"move {self._depths[at] + 1}: {why}; left out with all that follows")
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
            self.left_out.append(f"move {self._depths[at] + 1}, {shown(text)}, is no move; it is left out")
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


def read_text(place: Place, text: str) -> Place:
    """Return the position that a text describes: a FEN, or moves from the start position of ``place``.

    Raises:
        ZugwerkError: the text is neither; the message has the reason for its likely format.
    """
    words = text.split()
    if not words:
        raise ZugwerkError("nothing to read: paste a FEN, or moves such as h8 i9 or d1-d7/g7")
    if len(words) > 1 and words[1] in ("b", "w") and "/" in words[0] and "-" not in words[0]:
        get_game(place.game).from_fen(" ".join(words))
        return place.model_copy(update={"fen": " ".join(words), "moves": ()})
    moves = tuple(_moves(_NUMBERED.sub(" ", text.lower())))
    return place.model_copy(update={"moves": moves})


def _moves(text: str) -> Sequence[str]:
    words = text.replace(",", " ").replace(";", " ").split()
    found = list[str]()
    for word in words:
        parts = _TURN.findall(word)
        if "".join(parts) != word:
            raise ZugwerkError(f"{shown(word)} is no move; expected moves such as h8 i9 or d1-d7/g7, or a FEN")
        found += parts
    return found
