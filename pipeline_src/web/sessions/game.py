"""A game in progress, without clocks and players: moves, the board as a message, the record."""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pipeline_src.errors import ZugwerkError
from pipeline_src.web.engine.pool import Place
from pipeline_src.web.messages.play import Board, Choice, Counted, OpeningKind, OpeningStep
from pipeline_src.web.moves import step, turn_tree

# Openings of Gomoku before the game proper: level stones, and swap and swap2, in which the players choose colours.


SECONDS = 2.0  # Time of a player for its stones or its choice
FUNCTION = f"{__name__}:opened"


class Taken(NamedTuple):
    """A choice that was made."""

    ply: int  # Number of stones on the board
    choice: Choice
    turned: bool  # Whether the seats changed places


class Opening:
    """How far the opening of a game has come. Seat 0 places the first three stones; see `arena.gomocup`."""

    def __init__(self, kind: OpeningKind) -> None:
        self.kind, self.taken = kind, list[Taken]()

    def step(self, plies: int, taken: Sequence[Taken] | None = None) -> OpeningStep | None:
        """Return the next step after ``plies`` stones and the choices ``taken``, by default all; None: play."""
        made = [one.choice for one in (self.taken if taken is None else taken)]
        if not self.kind or (made and made[-1] != "place"):
            return None
        if plies < 3:
            return OpeningStep(seat=None if self.kind == "balanced" else 0, stones=3 - plies)
        if self.kind == "balanced":
            return None
        if not made:
            return OpeningStep(seat=1, stones=0, may_place=self.kind == "swap2")
        return OpeningStep(seat=1, stones=5 - plies) if plies < 5 else OpeningStep(seat=0, stones=0)

    def before(self, ply: int) -> list[Taken]:
        """Return the choices made with fewer than ``ply`` stones on the board."""
        return [one for one in self.taken if one.ply < ply]

    def take(self, plies: int, choice: Choice) -> bool:
        """Note a choice; return whether the seats change places. ``swap`` takes Black, ``stay`` White."""
        step = self.step(plies)
        assert step is not None
        turned = choice != "place" and (choice == "swap") != (step.seat == 0)
        self.taken.append(Taken(plies, choice, turned))
        return turned

    def turned_since(self, ply: int) -> bool:
        """Whether the choices from ``ply`` on have made the seats change places."""
        return sum(one.turned for one in self.taken if one.ply >= ply) % 2 == 1

    def back_to(self, ply: int) -> bool:
        """Take back the choices from ``ply`` on; return whether the seats change places."""
        turned, self.taken = self.turned_since(ply), self.before(ply)
        return turned


def opened(place: dict[str, Any], stones: int, may_place: bool) -> Iterator[Any]:
    """Yield level stones as texts, or if there are none to place, a choice, which may be two stones to place."""
    import numpy as np

    from pipeline_src.arena.gomocup import choose, first_stones
    from pipeline_src.web.engine.child import placed
    from pipeline_src.web.engine.pool import Place

    rng = np.random.default_rng()
    rules, position = placed(Place.model_validate(place), rng)
    state = position.state
    found = first_stones(state, rng, SECONDS, stones) if stones else choose(state, rng, SECONDS, may_place)
    yield found if isinstance(found, str) else [rules.format_move(action, *state.board.shape) for action in found]


FORMATS = {"gomoku": ("sgf", "psq", "parquet"), "amazons": ("sgf", "txt", "parquet")}
"""Suffixes of files by game; txt is LittleGolem's text."""


class Game:
    """A game with moves as texts. Calls may come from any thread, one at a time."""

    def __init__(self, place: Place) -> None:
        """Load the rules, and play the moves of a place.

        Raises:
            ZugwerkError: the game, size or variant is unknown, the FEN malformed, or a move illegal.
        """
        from pipeline_src.arena.runner import Board as Table  # numba: not before a game is wanted
        from pipeline_src.games.game import get_game

        self.rules = get_game(place.game)
        self.start: Any = Table(place.game, place.size, place.variant).start(place.fen)
        self.place = place.model_copy(update={"moves": ()})
        self._states, self.moves, self._actions = [self.start], list[str](), list[int]()
        for text in place.moves:
            self.play(text)

    @property
    def state(self) -> Any:
        """The position."""
        return self._states[-1]

    @property
    def to_play(self) -> Literal[0, 1]:
        """Side to move, 0 or 1."""
        return 1 if self.rules.to_play(self.state) else 0

    @property
    def winner(self) -> Literal["first", "second", "draw"] | None:
        """Winner by the rules."""
        return self.rules.winner(self.state)

    def play(self, text: str) -> None:
        """Play a move.

        Raises:
            ZugwerkError: the move is malformed or illegal.
        """
        action, state = step(self.rules, self.state, text, len(self.moves) + 1)
        self._states.append(state)
        self._actions.append(action)
        self.moves.append(self.rules.format_move(action, *self.state.board.shape))

    def back_to(self, ply: int) -> None:
        """Take back all moves after the first ``ply``."""
        del self._states[ply + 1 :], self.moves[ply:], self._actions[ply:]

    def side_at(self, ply: int) -> int:
        """Return the side to move after ``ply`` moves."""
        return self.rules.to_play(self._states[ply])

    def board(self, legal: bool = True) -> Board:
        """Return the position as a message, with the legal moves if a person is to move."""
        height, width = self.start.board.shape
        over = self.winner is not None
        texts: list[str] = []
        if legal and not over:
            actions = self.rules.legal_actions(self.state).tolist()
            texts = [self.rules.format_move(action, height, width) for action in actions]
        is_turns, line, forbidden = self.place.game == "amazons", [], {}
        if self.place.game == "gomoku":
            from pipeline_src.web.marks import forbidden_cells, winning_line

            line, forbidden = winning_line(self.state), forbidden_cells(self.state)
        return Board(
            game=self.place.game,
            fen=self.rules.to_fen(self.state),
            height=height,
            width=width,
            moves=tuple(self.moves),
            to_play=self.to_play,
            winner=self.winner,
            cells=() if is_turns else tuple(texts),
            turns=turn_tree(texts) if is_turns else {},
            line=tuple(self.rules.format_move(cell, height, width) for cell in line),
            forbidden={self.rules.format_move(cell, height, width): why for cell, why in forbidden.items()},
        )

    def counted(self) -> Counted | None:
        """Return the result of an unfinished game of the Amazons, if counting decides it."""
        if self.place.game != "amazons" or self.winner is not None:
            return None
        from pipeline_src.web.marks import counted

        return counted(self.state)

    @property
    def formats(self) -> tuple[str, ...]:
        """Return the suffixes of files that the game can be saved as."""
        if self.place.fen:
            return ("sgf",)
        found = FORMATS.get(self.place.game, ("parquet",))
        return found if self.place.game != "amazons" or self.place.size == 10 else ("sgf", "parquet")

    def saved(self, suffix: str, names: tuple[str, str], winner: Any, resigned: bool) -> bytes:
        """Return the game as the bytes of a file.

        Raises:
            ZugwerkError: the game cannot be saved in this format.
        """
        from pipeline_src.records.littlegolem.amazons import write_alone
        from pipeline_src.records.psq import write_psq
        from pipeline_src.records.record import GameRecord, write_records
        from pipeline_src.web.messages.analyse import Tree
        from pipeline_src.web.trees import written

        if suffix not in self.formats:
            raise ZugwerkError(f".{suffix[:20]}: this game can be saved as {', '.join(self.formats)}")
        if suffix == "sgf":
            place = self.place.model_copy(update={"moves": tuple(self.moves)})
            first, second = (name[:200] for name in names)
            tree = Tree(place=place, first_name=first, second_name=second, winner=winner, resigned=resigned)
            return written(tree, suffix).encode()
        place, (height, width) = self.place, self.start.board.shape
        actions = tuple(self._actions)
        record = GameRecord(
            place.game, 1, "file", place.variant, height, width, actions, winner, resigned, names[0], names[1]
        )
        if suffix == "psq":
            return write_psq(record).encode("utf-8", "replace")
        if suffix == "txt":
            return write_alone(record)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "game.parquet"
            write_records([record], path)
            return path.read_bytes()
