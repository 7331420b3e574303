"""A game of a person against a player, without a user interface: moves, undo and the record."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pipeline_src.arena.runner import Board
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import written_aside
from pipeline_src.games.game import Game
from pipeline_src.games.game import load_game as rules_of
from pipeline_src.players.player import Player, Position, Thought
from pipeline_src.records.psq import read_psq, write_psq
from pipeline_src.records.record import GameRecord, read_records, write_records

PERSON = "person"


@dataclass
class PersonGame:
    """One game. ``side`` is the person's side: 0 (first) or 1 (second)."""

    game: str
    opponent: str  # Text of the player
    side: int
    size: int
    variant: str
    actions: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rules: Game = rules_of(self.game)
        self.start: Any = Board(self.game, self.size, self.variant).start()
        self._states = [self.start]
        given, self.actions = self.actions, []
        for action in given:
            self.play(action)

    @property
    def state(self) -> Any:
        """The position."""
        return self._states[-1]

    @property
    def before(self) -> Any:
        """The position before the last move; None before the first."""
        return self._states[-2] if self.actions else None

    @property
    def winner(self) -> str | None:
        """``first``, ``second`` or ``draw``; None for an unfinished game."""
        return self.rules.winner(self.state)

    @property
    def persons_turn(self) -> bool:
        """Whether the person is to move."""
        return self.rules.to_play(self.state) == self.side

    def read(self, text: str) -> int:
        """Return the action id of a move's text.

        Raises:
            ZugwerkError: the text is not a move, or the move is illegal.
        """
        action = self.rules.parse_move(text, *self.state.board.shape)
        if self.winner is not None:
            raise ZugwerkError("the game is over; undo, save FILE or quit")
        if not self.rules.is_legal(self.state, action):
            raise ZugwerkError(f"{text} is not a legal move here")
        return action

    def play(self, action: int) -> None:
        """Make a legal move.

        Raises:
            ZugwerkError: the move is illegal.
        """
        if self.winner is not None or not self.rules.is_legal(self.state, action):
            raise ZugwerkError(f"move {len(self.actions) + 1} is not legal")
        self._states.append(self.rules.play(self.state, action))
        self.actions.append(action)

    def answer(self, player: Player, rng: np.random.Generator) -> Thought:
        """Return the player's move, without playing it."""
        return player.think(Position(self.state, rng, self.start, tuple(self.actions)))

    def undo(self) -> int:
        """Go back to the person's previous turn; return the number of moves undone.

        Raises:
            ZugwerkError: the person has not moved yet.
        """
        turns = [k for k, state in enumerate(self._states[:-1]) if self.rules.to_play(state) == self.side]
        if not turns:
            raise ZugwerkError("there is no move of yours to undo")
        taken = len(self.actions) - turns[-1]
        del self._states[turns[-1] + 1 :], self.actions[turns[-1] :]
        return taken

    def moves(self) -> list[str]:
        """Return the texts of the moves."""
        return [self.rules.format_move(action, *self.state.board.shape) for action in self.actions]

    def record(self) -> GameRecord:
        """Return the record of the game so far."""
        names = (PERSON, self.opponent) if self.side == 0 else (self.opponent, PERSON)
        height, width = self.start.board.shape
        winner: Any = self.winner
        return GameRecord(self.game, 1, "file", self.variant, height, width, (*self.actions,), winner, False, *names)

    def save(self, path: Path) -> None:
        """Write the game as a Piskvorky record (``.psq``) or as an archive of one game (``.parquet``).

        Raises:
            ZugwerkError: the suffix is another one.
            OSError: the file cannot be written.
        """
        check_suffix(self.game, path)
        if path.suffix == ".psq":
            with written_aside(path) as aside:
                aside.write_text(write_psq(self.record()), encoding="utf-8", errors="replace")
        else:
            write_records([self.record()], path)


def suffixes(game: str) -> tuple[str, ...]:
    """Return the suffixes of files that hold a game; the first is the default."""
    return (".psq", ".parquet") if game == "gomoku" else (".parquet",)


def check_suffix(game: str, path: Path) -> None:
    """Raise an error for a file name without one of the `suffixes`; it lists them."""
    if path.suffix not in suffixes(game):
        raise ZugwerkError(f"{path}: a game of {game} is saved as {' or '.join('NAME' + s for s in suffixes(game))}")


def load_game(game: str, path: Path, opponent: str, variant: str | None = None) -> PersonGame:
    """Load a game to continue it. The person's side is that of the player ``person``, or else the side to move.

    Raises:
        ZugwerkError: the file is missing, holds another game, or does not hold exactly one game.
    """
    check_suffix(game, path)
    if path.suffix == ".psq":
        record = read_psq(path, variant=variant).record
    else:
        if not path.is_file():
            raise ZugwerkError(f"{path}: no such file")
        records = read_records(path)
        if len(records) != 1 or records[0].game != game:
            raise ZugwerkError(f"{path}: expected one game of {game}, found {len(records)} games")
        record = records[0]
        if variant not in (None, record.variant):
            raise ZugwerkError(f"{path}: a game of {record.variant}, not of {variant}")
    size = max(record.height, record.width)
    if Board(game, size, record.variant).start().board.shape != (record.height, record.width):
        raise ZugwerkError(f"{path}: a board of {record.width}x{record.height}; only square ones are played here")
    names = (record.first_name, record.second_name)
    side = names.index(PERSON) if PERSON in names else len(record.actions) % 2
    return PersonGame(game, opponent, side, size, record.variant, list(record.actions))


RESULTS = {"first": "1-0", "draw": "1/2-1/2", "second": "0-1", None: "*"}
A_LINE = 10  # Move numbers per line


def game_text(record: GameRecord) -> str:
    """Return a game in the style of PGN: tags, numbered moves, the result, an empty line.

    The tag ``Forfeit`` has the reason of a forfeit.
    """
    rules, result = rules_of(record.game), RESULTS[record.winner]
    tags = {
        "Game": record.game,
        "Round": str(record.gid),
        "First": record.first_name,
        "Second": record.second_name,
        "Board": f"{record.width}x{record.height} {record.variant}",
        "Result": result,
    }
    if record.event.startswith("forfeit:"):
        tags["Forfeit"] = record.event.removeprefix("forfeit:")
    moves = [rules.format_move(action, record.height, record.width) for action in record.actions]
    words = [f"{i // 2 + 1}. {' '.join(moves[i : i + 2])}" for i in range(0, len(moves), 2)]
    lines = [" ".join(words[i : i + A_LINE]) for i in range(0, len(words), A_LINE)]
    escapes = str.maketrans({"\\": "\\\\", '"': '\\"'})  # as PGN does: the last lines of an engine may contain quotes
    said = [f'[{key} "{value.translate(escapes)}"]' for key, value in tags.items()]
    return "\n".join([*said, "", *lines, result]) + "\n\n"
