"""``zugwerk play``: a person against a player, in the terminal. No input, and no end of input, loses the game."""

import contextlib
import math
import shlex
import signal
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from pipeline_src.cli.tables import board_text, value_text
from pipeline_src.errors import ZugwerkError
from pipeline_src.games.game import GAMES, LEARNABLE, load_game

if TYPE_CHECKING:
    import numpy as np

    from pipeline_src.arena.person import PersonGame
    from pipeline_src.players.player import OneBoard, Player, Thought

EXAMPLE = "Example: zugwerk play gomoku --level 4 --side second"
SIDES = {"first": 0, "second": 1}
NAMES = {"gomoku": ("Black (x)", "White (o)"), "amazons": ("White (w)", "Black (b)")}
OTHER_NAMES = ("the first side (x)", "the second side (o)")
MOVES = {"gomoku": "h8", "amazons": "d1-d7/g7"}
LONGEST = 1 << 12


def play(
    game: str = typer.Argument(..., help="amazons, gomoku, another game with players, or a file of rules, my_game.py."),
    against: str | None = typer.Option(
        None, help="Opponent: any player, e.g. zero:MODEL, or a learnt net's file.  [default: alphabeta:movetime=1000]"
    ),
    level: int | None = typer.Option(None, min=1, help="Opponent of measured strength; `zugwerk levels` lists them."),
    side: str = typer.Option("first", help="Your side: first, second or random."),
    size: int | None = typer.Option(
        None, help="Size of the board: Amazons 10, 8 or 6; Gomoku 3 to 25.  [default: 10; Gomoku 15]"
    ),
    variant: str | None = typer.Option(None, help="Variant of the game, e.g. exact or freestyle-4."),
    save: Path | None = typer.Option(None, help="File for the game when you leave.  [default: a new name]"),
    load: Path | None = typer.Option(None, help="Saved game to continue, with its side and size."),
    seed: int | None = typer.Option(None, min=0, help="Seed of the player and of a random side."),
) -> None:
    """Play a game against a player in the terminal; `help` in the game lists the commands."""
    import numpy as np

    from pipeline_src.arena.person import PersonGame, check_suffix
    from pipeline_src.arena.person import load_game as load_saved
    from pipeline_src.players.player import PlayerText
    from pipeline_src.players.registry import make_player, players_of

    in_one_file = game in LEARNABLE or game.endswith(".py")
    if not in_one_file and (game not in GAMES or not players_of(game)):
        names = ", ".join((*filter(players_of, GAMES), *LEARNABLE))
        raise ZugwerkError(f"no game {game!r} to play; there are: {names}; a game of your own is a path ending in .py")
    if level is not None and against is not None:
        raise ZugwerkError("--level and --against both name the opponent; leave one of them out")
    if in_one_file and against is not None and Path(against).is_file():
        against = str(PlayerText("net", against, {}))
    against = against or (("mcts" if in_one_file else "alphabeta:movetime=1000") if level is None else f"level:{level}")
    rng = np.random.default_rng(seed)
    if side not in (*SIDES, "random"):
        raise ZugwerkError(f"side {side!r}: expected first, second or random")
    number = int(rng.integers(2)) if side == "random" else SIDES[side]
    if save is not None:
        check_suffix(game, save)
        if save.exists() and save != load:
            raise ZugwerkError(f"{save} exists already; choose another name, or go on with it by --load {save}")
    player = make_player(game, against)
    try:
        if load is None:
            board = _board(game, player, size, variant)
            one = PersonGame(game, against, number, board.height, variant or board.variant)
        elif size is not None:
            raise ZugwerkError("a saved game contains its size; remove --size")
        else:
            one = load_saved(game, load, against, variant)
        _check_board(player, one.start)
        Table(one, player, rng, save, load).sit()
    finally:
        player.close()


def _board(game: str, player: "Player", size: int | None, variant: str | None) -> "OneBoard":
    """The game's standard board or one of that size; where the player has none, the largest that it has.

    Of a game in one file it is the first one that the player plays on, such as a net's.
    """
    from pipeline_src.players.player import OneBoard

    rules = load_game(game)

    def fits(side: int) -> bool:
        try:
            player.check(rules.initial_state(side))
        except ZugwerkError:
            return False
        return True

    usual = max(rules.initial_state().board.shape) if game in GAMES else next(filter(fits, rules.SIZES), rules.SIZES[0])
    side = usual if size is None else size
    standard = OneBoard(side, side, rules.VARIANTS[0])
    boards = [board for board in player.boards if variant in (None, board.variant)]
    fitting = [board for board in boards if board.height == side]
    if not boards or standard in fitting:
        return standard
    return (fitting or boards)[-1] if fitting or size is None else standard


def _check_board(player: "Player", start: object) -> None:
    try:
        player.check(start)
    except ZugwerkError as error:
        if player.only is None:
            raise
        offer = f"--size {player.only.height} --variant {player.only.variant}"
        raise ZugwerkError(f"{error}; play by {offer}, or against alphabeta, which plays them all") from None


class Table:
    """A game of a person against a player."""

    def __init__(
        self, game: "PersonGame", player: "Player", rng: "np.random.Generator", save: Path | None, load: Path | None
    ) -> None:
        """``save`` is the file for the game, None for a new name; ``load`` is the file that it was loaded from."""
        from rich.console import Console

        from pipeline_src.arena.person import suffixes

        self.game, self.player, self.rng = game, player, rng
        self.suffixes = suffixes(game.game)
        self.path = save or load
        self.saved = list(game.actions)
        self.own: set[Path] = set() if self.path is None else {self.path.resolve()}
        self.console = Console(highlight=False, soft_wrap=True)
        self.waiting = False  # after an error of the player, until the command go

    def sit(self) -> None:
        """Play until the person leaves, then save the game if it has unsaved moves."""
        you = self._names()[self.game.side]
        self.console.print(f"You are {you} against {self.game.opponent}. `help` lists the commands.", markup=False)
        self._show()
        with _ends_are_interrupts(), contextlib.suppress(_Leave):
            try:
                while True:
                    self._turn()
            except KeyboardInterrupt:
                self.console.print()
            except EOFError:
                self.console.print()
        self._keep()

    def _turn(self) -> None:
        game = self.game
        if game.winner is None and not game.persons_turn and not self.waiting:
            self._let_play()
            return
        line = self._ask().strip()
        name, _, rest = line.partition(" ")
        command = self._COMMANDS.get(name.lower())
        try:
            if not line:
                return
            if command is not None:
                command(self, rest.strip())
            elif not game.persons_turn and game.winner is None:
                raise ZugwerkError("it is the other side's turn; go, undo, save FILE or quit")
            else:
                game.play(game.read(line))
                self._show()
        except ZugwerkError as error:
            hint = "" if command is not None else "; `help` lists the commands"
            self.console.print(f"{str(error)[:300]}{hint}", markup=False, style="red")

    def _let_play(self) -> None:
        game = self.game
        try:
            thought = self._thought()
            game.play(thought.action)
        except Exception as error:  # after any error, the game continues
            self.waiting = True
            self.console.print(f"{game.opponent} has not moved: {error}", markup=False, style="red")
            self.console.print("`go` asks it again; undo, save FILE and quit work as ever", markup=False)
            return
        self._show()
        self._say("plays", thought)

    def _thought(self) -> "Thought":
        with self.console.status("thinking") if self.console.is_terminal else contextlib.nullcontext():
            return self.game.answer(self.player, self.rng)

    def _say(self, does: str, thought: "Thought") -> None:
        from pipeline_src.players.levels import plays_as

        game, found = self.game, thought.found
        move = game.rules.format_move(thought.action, *game.start.board.shape)
        said = f"{game.opponent} {does} {move}"
        if found is not None and math.isfinite(found.value):
            value = value_text(plays_as(game.game, game.opponent, game.start), found.value)
            said += f": {value}, depth {found.depth}, {found.nodes:,} nodes"
        self.console.print(said, markup=False)

    def _show(self) -> None:
        game = self.game
        self.console.print()
        self.console.print(board_text(game.game, game.state, game.before))
        winner = game.winner
        if winner is None:
            return
        if winner == "draw":
            self.console.print("The game is drawn.")
        else:
            side = ("first", "second").index(winner)
            who = "You have" if side == game.side else f"{game.opponent} has"
            self.console.print(f"{who} won as {self._names()[side]}.", markup=False, style="bold")

    def _names(self) -> tuple[str, str]:
        return NAMES.get(self.game.game, OTHER_NAMES)

    def _example(self) -> str:
        game, start = self.game, self.game.start
        return MOVES.get(game.game) or game.rules.format_move(
            int(game.rules.legal_actions(start)[0]), *start.board.shape
        )

    def _ask(self) -> str:
        prompt = f"{len(self.game.actions) + 1}> "
        if sys.stdin.isatty():
            try:
                return input(prompt)
            except UnicodeDecodeError:
                return "?"
        self.console.print(prompt, end="", markup=False)
        raw = sys.stdin.buffer.readline(LONGEST)
        if not raw:
            raise EOFError
        line = raw.decode("utf-8-sig", "replace")
        self.console.print(line.strip(), markup=False)  # as a terminal would show it
        return line

    def _help(self, _: str) -> None:
        self.console.print(
            f"a move, such as {self._example()}\n"
            "undo        back to your turn before\n"
            "hint        what the player would do in your place\n"
            f"save FILE   write the game: {' or '.join('NAME' + suffix for suffix in self.suffixes)}\n"
            "board       show it again\n"
            "moves       all moves so far\n"
            "go          ask the player again, where it has failed\n"
            "quit        leave; the game is saved, as at the end of the input and at Ctrl-C",
            markup=False,
        )

    def _undo(self, _: str) -> None:
        taken = self.game.undo()
        self.waiting = False
        self._show()
        self.console.print(f"{taken} move{'s' * (taken > 1)} taken back")

    def _hint(self, _: str) -> None:
        if self.game.winner is not None or not self.game.persons_turn:
            raise ZugwerkError("a hint is for your turn")
        try:
            thought = self._thought()
        except Exception as error:  # of the player, as when it moves
            raise ZugwerkError(f"{self.game.opponent} has no hint: {error}") from error
        self._say("would play", thought)

    def _save(self, name: str) -> None:
        if not name:
            raise ZugwerkError("save: expected the name of a file, such as save mine" + self.suffixes[0])
        path = Path(name)
        if path.exists() and path.resolve() not in self.own:
            raise ZugwerkError(f"{path} exists already; choose another name")
        self._write(path)

    def _write(self, path: Path) -> None:
        try:
            self.game.save(path)
        except OSError as error:
            raise ZugwerkError(f"{path} cannot be written: {error.strerror or error}") from None
        self.own.add(path.resolve())
        self.path, self.saved = path, list(self.game.actions)
        self.console.print(f"saved to {path}", markup=False)

    def _board(self, _: str) -> None:
        self._show()

    def _moves(self, _: str) -> None:
        self.console.print(" ".join(self.game.moves()) or "none yet", markup=False)

    def _go(self, _: str) -> None:
        if not self.waiting:
            raise ZugwerkError("nothing to wait for: it is your turn")
        self.waiting = False

    def _quit(self, _: str) -> None:
        raise _Leave

    _COMMANDS: dict[str, Any] = {  # noqa: RUF012 - a table, never changed
        "help": _help,
        "?": _help,
        "undo": _undo,
        "hint": _hint,
        "save": _save,
        "board": _board,
        "moves": _moves,
        "go": _go,
        "quit": _quit,
        "exit": _quit,
    }

    def _keep(self) -> None:
        """Save unsaved moves; if no file can be written, print the game."""
        game = self.game
        if game.actions == self.saved:
            return
        goes_on = game.actions[: len(self.saved)] == self.saved  # otherwise the file has moves that were undone since
        first = self.path if self.path is not None and goes_on else self._new_name()
        for path in dict.fromkeys((first, self._new_name())):
            try:
                self._write(path)
            except ZugwerkError as error:
                self.console.print(str(error), markup=False, style="red")
            else:
                again = shlex.join(["zugwerk", "play", game.game, "--against", game.opponent, "--load", str(path)])
                self.console.print(f"go on with: {again}", markup=False)
                return
        self.console.print("not saved; the moves: " + " ".join(game.moves()), markup=False)

    def _new_name(self) -> Path:
        stem, number = f"{Path(self.game.game).stem}-{datetime.now():%Y%m%d-%H%M%S}", 1
        path = Path(stem + self.suffixes[0])
        while path.exists():
            number += 1
            path = Path(f"{stem}-{number}{self.suffixes[0]}")
        return path


class _Leave(Exception):  # noqa: N818 - no error
    """The person leaves the game."""


@contextlib.contextmanager
def _ends_are_interrupts() -> Iterator[None]:
    """Treat a closed terminal or SIGTERM like Ctrl-C, so that the game is saved."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    try:
        before = {name: signal.signal(getattr(signal, name), interrupt) for name in names}
    except ValueError:  # not the main thread
        yield
        return
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)
