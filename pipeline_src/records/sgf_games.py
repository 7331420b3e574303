"""SGF records of all games of this package: Go (GM[1]), Gomoku (GM[4]) and the Amazons (GM[18]).

In Gomoku and the Amazons, moves are read from the root node on, and each has to be legal and of the side to move: Black
begins in Gomoku, White in the Amazons. Points are SGF's (``hh``, and ``djddgd`` for a turn of the Amazons) or names
(``h8``, ``d1-d7/g7``), and ``resign`` ends a game. PB and PW name the players of the colours, but with turns of the
Amazons as LittleGolem writes them (``d1-d7/g7``) PB is the first player. RU is the rule of Gomoku or the start position
of the Amazons, by its name or its text (FEN). Pieces that are set up before the first move make the start position; its
text is then the record's variant, unless it has a name. RE names the winner where the board does not, and has to agree
with it where it does.
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sgfmill import sgf_grammar

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_bytes
from pipeline_src.games import amazons, gomoku
from pipeline_src.games.game import GAMES, Game, get_game
from pipeline_src.games.gomoku import BLACK, MAX_SIDE, MIN_SIDE, WHITE, from_board
from pipeline_src.records.go_games import read_tree
from pipeline_src.records.psq import read_rule
from pipeline_src.records.record import GameRecord, RecordError, Reject, Winner, shown
from pipeline_src.records.sgf import SgfGame, choose, count_variations, read_result, read_trees, text_of

NUMBERS = {"amazons": 18, "gomoku": 4}  # SGF's numbers of games
LETTERS = {"amazons": "WB", "gomoku": "BW"}  # Move properties of the first and second side
PIECES = {
    "amazons": {"AB": amazons.BLACK, "AW": amazons.WHITE, "AA": amazons.ARROW},
    "gomoku": {"AB": BLACK, "AW": WHITE},
}
"""Codes of the pieces that a property sets up."""
RESIGN = "resign"
_NAMES = {"B": "Black", "W": "White"}
_OTHER: dict[Winner | None, Winner | None] = {"first": "second", "second": "first", "draw": "draw", None: None}

Node = dict[str, list[bytes]]


class _Line(NamedTuple):
    setup: Node  # Values of AB, AW, AA, AE and PL before the first move
    moves: list[tuple[str, str]]  # Letters of the sides, and texts of the moves


class _Played(NamedTuple):
    actions: tuple[int, ...]
    state: Any
    resigned: bool  # Whether the line ends in a resignation


def parse_games(data: bytes, gid: int = 0, *, name: str = "record") -> list[SgfGame | Reject]:
    """Read the games of a file's bytes, of any games, sizes and rules, numbered from ``gid`` on.

    The list has at least one entry. Details of rejects begin with the ``name`` of the file.
    """
    return read_trees(data, gid, name, lambda tree, number: _read(tree, number, name))


def read_game(path: Path | str, number: int | None = None) -> SgfGame:
    """Read a game of a file: the only one, or the one with a ``number`` from 1 on.

    Raises:
        ZugwerkError: the file is missing; as `pipeline_src.records.sgf.choose`.
    """
    return choose(parse_games(read_bytes(path), 1, name=str(path)), path, number)


def _read(tree: Any, gid: int, name: str) -> SgfGame:
    root: Node = tree.sequence[0]
    number = text_of(root, "GM").strip()
    game = next((game for game, known in NUMBERS.items() if number == str(known)), None)
    if game is None:
        return read_tree(tree, gid, None, name)
    rules, (width, height) = get_game(game), _size(root, "10" if game == "amazons" else "15")
    line = _main_line(tree)
    if game == "gomoku":
        variant, played = _gomoku(root, line, width, height)
    else:
        variant, played = _amazons(root, line, width, height)
    winner, resigned = _result(text_of(root, "RE"), rules, game, played)
    letters = LETTERS[game] if all(text.isalpha() for _, text in line.moves) else "BW"
    first, second = text_of(root, f"P{letters[0]}"), text_of(root, f"P{letters[1]}")
    record = GameRecord(
        game, gid, "file", variant, height, width, played.actions, winner, resigned,
        first, second, event=text_of(root, "EV"),
    )  # fmt: skip
    return SgfGame(record, name, count_variations(tree), 0, 0)


def _size(root: Node, default: str) -> tuple[int, int]:
    text = text_of(root, "SZ").strip() or default
    sides = text.split(":") * 2
    if not all(side.isdecimal() and len(side) < 4 for side in sides) or len(sides) > 4:
        raise RecordError("other_variant", f"SZ is not a size: {shown(text)}")
    width, height = int(sides[0]), int(sides[1])
    if not (MIN_SIDE <= width <= MAX_SIDE and MIN_SIDE <= height <= MAX_SIDE):
        raise RecordError("other_variant", f"a board of {width}x{height}; sides go from {MIN_SIDE} to {MAX_SIDE}")
    return width, height


def _main_line(tree: Any) -> _Line:
    setup: Node = {}
    moves: list[tuple[str, str]] = []
    for node in sgf_grammar.main_sequence_iter(tree):
        found = {key: node[key] for key in ("AB", "AW", "AA", "AE", "PL") if key in node}
        letters = [letter for letter in "BW" if letter in node]
        if found and moves and set(found) != {"PL"}:
            raise RecordError("other_variant", "pieces are set up after the first move", len(moves))
        if letters and set(found) - {"PL"}:
            raise RecordError("bad_text", "a move and pieces that are set up in one node", len(moves))
        if not moves:
            setup |= found
        if len(letters) > 1 or any(len(node[letter]) > 1 for letter in letters):
            raise RecordError("bad_text", "several moves in one node", len(moves))
        moves += [(letter, text_of(node, letter).strip()) for letter in letters]
    return _Line(setup, moves)


def _gomoku(root: Node, line: _Line, width: int, height: int) -> tuple[str, _Played]:
    rule = read_rule(text_of(root, "RU")) if text_of(root, "RU").strip() else gomoku.VARIANTS[0]
    stones = _set_up("gomoku", line.setup, np.zeros((height, width), np.int8))
    side = int((stones == BLACK).sum() > (stones == WHITE).sum())
    if "PL" in line.setup:
        side = _side(line.setup)
    try:
        state = from_board(stones, side, rule)
        variant = gomoku.to_fen(state) if stones.any() or side else rule
        if " " in variant:
            gomoku.from_fen(variant)  # checks the numbers of stones
    except ZugwerkError as error:
        raise RecordError("other_variant", str(error), 0) from None
    return variant, _play("gomoku", state, line.moves)


def _set_up(game: str, setup: Node, empty: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
    """Return a board, row 0 at the top, with the pieces that are set up."""
    if odd := sorted(set(setup) - {*PIECES[game], "PL"}):
        raise RecordError("other_variant", f"pieces that are set up by {odd[0]} are not read", 0)
    found, (height, width) = empty.copy(), empty.shape
    for key, code in PIECES[game].items():
        for row, column in [cell for value in setup.get(key, ()) for cell in _cells(value, width, height)]:
            if found[row, column] != empty[row, column]:
                raise RecordError("bad_text", f"two pieces on {chr(97 + column)}{height - row}", 0)
            found[row, column] = code
    return found


def _side(setup: Node) -> int:
    """Return the side that PL names: 0 Black, 1 White."""
    text = text_of(setup, "PL").strip().lower()[:1]
    if text not in ("b", "w"):
        raise RecordError("bad_text", f"PL is no side: {shown(text_of(setup, 'PL'))}", 0)
    return "bw".index(text)


def _cells(value: bytes, width: int, height: int) -> list[tuple[int, int]]:
    """Return the cells (row, column) of a point or of a rectangle of points."""
    corners = [(part[1] - 97, part[0] - 97) for part in value.strip().split(b":") if len(part) == 2]
    inside = all(0 <= row < height and 0 <= column < width for row, column in corners)
    if not inside or len(corners) != value.count(b":") + 1 or len(corners) > 2:
        raise RecordError("bad_text", f"no point that can be set up: {shown(value.decode())}", 0)
    (top, left), (bottom, right) = corners[0], corners[-1]
    return [(row, column) for row in range(top, bottom + 1) for column in range(left, right + 1)]


def _amazons(root: Node, line: _Line, width: int, height: int) -> tuple[str, _Played]:
    black = "PL" in line.setup and not _side(line.setup)
    if max(width, height) > amazons.MAX_SIDE:
        raise RecordError("other_variant", f"no Amazons board of {width}x{height}; sides go to {amazons.MAX_SIDE}")
    if set(line.setup) - {"PL"}:
        ranks = _set_up("amazons", line.setup, np.full((height, width), amazons.EMPTY, np.int8))[::-1]
        return _amazons_from(amazons.to_fen(amazons.from_board(ranks, int(black))), line)
    if black:
        raise RecordError("other_variant", "PL[B], and no position that is set up", 0)
    if width != height:
        raise RecordError("other_variant", f"no Amazons board of {width}x{height}")
    if "/" in text_of(root, "RU"):
        return _amazons_from(text_of(root, "RU").strip(), line)
    variant = text_of(root, "RU").strip().lower()
    error = RecordError("other_variant", f"no Amazons start of size {width}, variant {shown(variant)}")
    for one in [variant] if variant else amazons.VARIANTS:
        try:
            state = amazons.initial_state(width, one)
        except ZugwerkError:
            continue
        try:
            return one, _play("amazons", state, line.moves)
        except RecordError as found:
            error = found if found.ply > error.ply else error
    raise error


def _amazons_from(fen: str, line: _Line) -> tuple[str, _Played]:
    try:
        state = amazons.from_fen(fen)
    except ZugwerkError as error:
        raise RecordError("other_variant", str(error), 0) from None
    fen = amazons.to_fen(state)
    names = (name for (_, name), start in amazons.START.items() if amazons.to_fen(amazons.from_fen(start)) == fen)
    return next(names, fen), _play("amazons", state, line.moves)


def _play(game: str, state: Any, moves: list[tuple[str, str]]) -> _Played:
    rules, actions = get_game(game), list[int]()
    for ply, (letter, text) in enumerate(moves):
        to_move = LETTERS[game][rules.to_play(state)]
        if letter != to_move:
            raise RecordError("contradiction", f"{_NAMES[letter]} moves where {_NAMES[to_move]} should", ply)
        if text.lower() == RESIGN and ply == len(moves) - 1:
            return _Played(tuple(actions), state, True)
        word = word_of(text, state.board.shape[0])
        try:
            action = rules.parse_move(word, *state.board.shape)
        except ZugwerkError:
            raise RecordError("bad_text", f"move {ply + 1}, {shown(text)}, is no move", ply) from None
        if not rules.is_legal(state, action):
            why = "comes after the end of the game" if rules.winner(state) is not None else "is not legal here"
            raise RecordError("illegal_move", f"move {ply + 1}, {text}, {why}", ply)
        state = rules.play(state, action)
        actions.append(action)
    return _Played(tuple(actions), state, False)


def word_of(text: str, height: int) -> str:
    """Return SGF's ``hh``, or ``djddgd``, as the rules read it; other text is unchanged."""
    if len(text) not in (2, 6) or not (text.isascii() and text.isalpha()):
        return text
    pairs = zip(text[::2].lower(), text[1::2].lower(), strict=True)
    return "".join(f"{column}{height - (ord(row) - ord('a'))}" for column, row in pairs)


def _result(text: str, rules: Game, game: str, played: _Played) -> tuple[Winner | None, bool]:
    """Return the winner and whether the other side has resigned, with that side to move."""
    said, resigned = read_result(text)
    said = said if LETTERS[game][0] == "B" else _OTHER[said]
    loser: Winner = "second" if rules.to_play(played.state) else "first"
    of_board: Winner | None = _OTHER[loser] if played.resigned else rules.winner(played.state)
    if said and of_board and said != of_board:
        how = "the resignation" if played.resigned else "the final position"
        raise RecordError("contradiction", f"{said} won by RE, {of_board} by {how}", len(played.actions))
    return of_board or said, played.resigned or (resigned and of_board is None and said == _OTHER[loser])


def start_of(record: GameRecord, game: Game | None = None) -> Any:
    """Return the first state of a record, of ``game`` or of the one that it names.

    The variant of a record may be the text of a position.

    Raises:
        ZugwerkError: the game has no such start.
    """
    rules = game or get_game(record.game)
    if " " in record.variant:
        state = rules.from_fen(record.variant)
    elif record.game == "gomoku" and record.height != record.width:
        state = from_board(np.zeros((record.height, record.width), np.int8), 0, record.variant)
    elif record.game in GAMES:
        state = rules.initial_state(record.height, record.variant)
    else:  # of a game in one file, where a size need not be the height
        states = [rules.initial_state(size, record.variant) for size in rules.SIZES]
        state = next((one for one in states if one.board.shape == (record.height, record.width)), states[0])
    if state.board.shape != (record.height, record.width):
        raise ZugwerkError(f"game {record.gid}: its start is not on {record.height}x{record.width}")
    return state
