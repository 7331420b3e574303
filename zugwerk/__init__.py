"""Board games, players, matches, records and nets under one name.

>>> import zugwerk
>>> position = zugwerk.game("gomoku", 15).play("h8", "j9")
>>> player = zugwerk.player("alphabeta:depth=2", "gomoku")
>>> position.play(player.think(position).move).to_play
1

A `Position` is a value: `Position.play` returns another one. Players and nets are named by texts, which
``zugwerk players GAME`` and `nets` list. Every error is a `ZugwerkError`, whose text says what to do. What a name needs
(numba, onnxruntime) is imported when it is first used.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from string import ascii_lowercase
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from pipeline_src import __version__
from pipeline_src.errors import ZugwerkError

if TYPE_CHECKING:
    import os

    import numpy as np
    import numpy.typing as npt

    from pipeline_src.arena.result import Match
    from pipeline_src.games.game import Game
    from pipeline_src.players.packaged import Card, PackagedNet
    from pipeline_src.records.record import GameRecord
    from pipeline_src.search.mcts.puct_trees import EvaluateBatch

__all__ = [
    "Evaluation",
    "Line",
    "Net",
    "Player",
    "Position",
    "Thought",
    "ZugwerkError",
    "__version__",
    "game",
    "games",
    "learn",
    "match",
    "net",
    "nets",
    "player",
    "read",
    "replay",
]


@dataclass(frozen=True, eq=False)
class Position:
    """A position of a game, with the actions that led to it.

    ``state`` is the engine's own state: ``state.board`` is the board, int8 [H, W], with the codes of docs/glossary.md.
    """

    game: str
    state: Any
    start: Any  # The state of the first position
    actions: tuple[int, ...] = ()  # Ids of the actions since then

    def play(self, *moves: str | int) -> "Position":
        """Return the position after moves, given as texts (``"h8"``, ``"d1-d7/g7"``) or as ids of actions.

        Raises:
            ZugwerkError: a move cannot be read or is not legal; the message names it.
        """
        rules, state, actions = self._rules, self.state, list(self.actions)
        for move in moves:
            action = rules.parse_move(move, *self.shape) if isinstance(move, str) else int(move)
            try:
                state = rules.play(state, action)
            except ZugwerkError:
                why = f"in {rules.to_fen(state)}" if rules.winner(state) is None else "the game is over"
                raise ZugwerkError(f"{move!r} is not legal: {why}") from None
            actions.append(action)
        return Position(self.game, state, self.start, tuple(actions))

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width of the board."""
        height, width = self.state.board.shape
        return int(height), int(width)

    @property
    def to_play(self) -> int:
        """The side to move: 0 is the side that moved first, 1 the other."""
        return self._rules.to_play(self.state)

    @property
    def winner(self) -> Literal["first", "second", "draw"] | None:
        """The result of a finished game, None for an unfinished one."""
        return self._rules.winner(self.state)

    @property
    def legal_actions(self) -> "npt.NDArray[np.int32]":
        """Ids of all legal actions, int32 [A]."""
        return self._rules.legal_actions(self.state)

    @property
    def legal_moves(self) -> list[str]:
        """Texts of all legal moves, in the order of `legal_actions`."""
        return [self.text(action) for action in self.legal_actions.tolist()]

    @property
    def moves(self) -> list[str]:
        """Texts of the moves that led here."""
        return [self.text(action) for action in self.actions]

    @property
    def fen(self) -> str:
        """The position as a text, which `game` reads."""
        return self._rules.to_fen(self.state)

    def text(self, action: int) -> str:
        """Return the text of an action's id."""
        return self._rules.format_move(action, *self.shape)

    @property
    def _rules(self) -> "Game":
        return _rules(self.game)

    def _repr_svg_(self) -> str | None:
        """Return the board as notebooks show it; None, for the text, if it is no square or has kinds of pieces."""
        from pipeline_src.report.board_picture import BoardPicture, SquaresPicture

        height, width = self.shape
        if height != width or len(getattr(self._rules, "OWNERS", (0, 1))) != 2:
            return None
        files = ascii_lowercase.replace("i", "") if self.game == "go" else ascii_lowercase
        if self.game != "amazons":
            picture, codes = BoardPicture(width, files), self.state.board.ravel()
            for point in codes.nonzero()[0].tolist():
                picture.piece(point, int(codes[point]) - 1)
            return picture.svg()
        squares, codes = SquaresPicture(width, files), self.state.board[::-1].ravel()  # row 0 is rank 1
        for point, code in enumerate(codes.tolist()):
            if code == 0:
                squares.arrow(point)
            elif code > 1:
                squares.piece(point, 3 - code)
        return squares.svg()

    def __repr__(self) -> str:
        return f"<zugwerk.Position {self.game} {self.fen!r}>"


def games() -> dict[str, tuple[int, ...]]:
    """Return the names of the games, each with the board sizes that have a start of their own."""
    from pipeline_src.games.game import GAMES, LEARNABLE, load_game

    return {name: load_game(name).SIZES for name in (*GAMES, *LEARNABLE)}


def _rules(game: str) -> "Game":
    """Return a game's module. That of a file is read once, and again after an edit."""
    from pipeline_src.files import stamp

    return _loaded(game, stamp(Path(game)))


@lru_cache
def _loaded(game: str, state: tuple[int, int]) -> "Game":  # noqa: ARG001
    from pipeline_src.games.game import load_game

    return load_game(game)


def game(name: str, size: int | None = None, variant: str | None = None, *, fen: str | None = None) -> Position:
    """Return the first position of a game, or the one of a text.

    Args:
        name: one of `games`, or the file of a game of your own, ``my_game.py``.
        size: squares along a side; the game's usual board if None.
        variant: rules or start (``renju``, ``cross``, ``komi-6.5``); the standard one if None.
        fen: a position's text (docs/glossary.md), in place of size and variant.

    Raises:
        ZugwerkError: no such game, size, variant or position; the message says what there is.
    """
    rules = _rules(name)
    if fen is not None:
        if size is not None or variant is not None:
            raise ZugwerkError("a fen has its own board and rule: leave out size and variant")
        state = rules.from_fen(fen)
    else:
        given: dict[str, Any] = {"size": size, "variant": variant}
        state = rules.initial_state(**{key: value for key, value in given.items() if value is not None})
    return Position(name, state, state)


@dataclass(frozen=True)
class Line:
    """One of the best moves, with the expected continuation."""

    moves: tuple[str, ...]
    value: float  # In the unit of `Thought.value`
    visits: int | None = None  # Simulations of a tree search that began with the move


@dataclass(frozen=True)
class Thought:
    """A player's move, and what its search found."""

    move: str
    action: int
    value: float | None = None
    """Value to the side to move: the expected result from -1 to 1 where `by_results`, else points of the evaluation;
    None for a player that does not search."""
    by_results: bool = False
    lines: tuple[Line, ...] = ()  # Best first; the first one begins with ``move``
    depth: int | None = None
    nodes: int | None = None

    @property
    def policy(self) -> dict[str, float]:
        """Share of a tree search's simulations by move, of the lines that there are; empty for other players."""
        visits = {line.moves[0]: line.visits for line in self.lines if line.visits is not None}
        total = sum(visits.values())
        return {move: count / total for move, count in visits.items()} if total else {}


@dataclass(eq=False)
class Player:
    """A player of one game. Use it in a ``with`` statement, or `close` it, if it is an outside engine."""

    text: str
    game: str
    _player: Any = field(repr=False)

    def think(
        self,
        position: Position,
        *,
        depth: int | None = None,
        nodes: int | None = None,
        movetime: float | None = None,
        lines: int = 1,
        seed: int = 0,
    ) -> Thought:
        """Choose a move.

        Args:
            position: an unfinished position of the player's game.
            depth: plies; None of these three is the player's own limit.
            nodes: positions, or simulations of a tree search.
            movetime: milliseconds.
            lines: number of best moves to report.
            seed: of players that play at random.

        Raises:
            ZugwerkError: the game is over or another one, or the player cannot play on this board; an outside engine
                that gives no legal move in time raises its subclass `PlayerError`.
        """
        import numpy as np

        from pipeline_src.players.player import Bounds, by_results
        from pipeline_src.players.player import Position as Seen

        if position.game != self.game:
            raise ZugwerkError(f"the player {self.text!r} plays {self.game}, not {position.game}")
        if position.winner is not None:
            raise ZugwerkError("the game is over: the side to move has no move")
        self._player.check(position.state)
        seen = Seen(position.state, np.random.default_rng(seed), position.start, position.actions)
        thought = self._player.think(seen, Bounds(depth, nodes, movetime, lines=lines))
        found, move = thought.found, position.text(thought.action)
        if found is None:
            return Thought(move, thought.action)
        best = [(line.pv, line.value, line.visits) for line in found.lines] or [(found.pv, found.value, None)]
        told = tuple(Line(tuple(map(position.text, pv)), value, visits) for pv, value, visits in best)
        return Thought(move, thought.action, found.value, by_results(self.text), told, found.depth, found.nodes)

    def close(self) -> None:
        """End an outside engine's process. The next move starts it again."""
        self._player.close()

    def __enter__(self) -> "Player":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def player(text: str, game: str | None = None) -> Player:
    """Make a player.

    Args:
        text: ``NAME[:VALUE][,key=value...]``, such as ``zero:movetime=300``, ``level:4`` or ``uci:./engine``.
        game: the game that it plays, as of `game`; None where only one game has a player of this name.

    Raises:
        ZugwerkError: no such player or option, or several games have it and ``game`` is None.
    """
    from pipeline_src.games.game import GAMES
    from pipeline_src.players.player import PlayerText
    from pipeline_src.players.registry import make_player, players_of

    if game is None:
        name = PlayerText.parse(text).name
        having = [one for one in GAMES if name in players_of(one)]
        if len(having) != 1:
            there = f"{', '.join(having)} have it: say which, as in player({text!r}, {having[0]!r})" if having else ""
            raise ZugwerkError(f"player {name!r}: {there or 'no game has it; `zugwerk players GAME` lists them'}")
        game = having[0]
    return Player(text, game, make_player(game, text))


def match(
    game: str, a: str, b: str, games: int = 100, size: int | None = None, *, workers: int = 1, **spec: Any
) -> "Match":
    """Play a match in colour-swapped pairs; ``score`` of the result is player a's, with its 95 % interval.

    Args:
        game: as of `game`.
        a: text of a player.
        b: text of the other.
        games: number of games, even.
        size: squares along a side; the game's usual board if None.
        workers: processes that play pairs side by side.
        spec: further fields of `pipeline_src.arena.MatchSpec`: variant, openings, seed, clock, margin.

    Raises:
        ZugwerkError: no such player, board or option.
    """
    from pipeline_src.arena.match import MatchSpec, run_match
    from pipeline_src.parallel import Parallel

    side = size if size is not None else max(_rules(game).initial_state().board.shape)
    return run_match(MatchSpec(game, a, b, games, size=side, **spec), parallel=Parallel(workers=workers))


def learn(
    game: str,
    folder: "str | os.PathLike[str]",
    minutes: float = 10.0,
    *,
    size: int | None = None,
    variant: str | None = None,
    seed: int = 0,
    workers: int = 1,
    rounds: int | None = None,
    start: "str | os.PathLike[str] | None" = None,
    say: Callable[[str], None] = print,
    **options: Any,
) -> Path:
    """Learn a game from nothing by self-play; ``net:FILE`` is the player of the file that is returned.

    The same call goes on where an interrupted one ended. Needs ``pip install 'zugwerk[reproduce]'``.

    Args:
        game: a packaged game of one file (``connect_four``), or a file of your own.
        folder: of the net and of the work; it is made.
        minutes: core minutes, with those of earlier calls for this folder.
        size: squares along a side; the game's first board if None.
        variant: the game's first one if None.
        seed: the same one gives the same net for as many rounds.
        workers: processes that play games; they change no net.
        rounds: most rounds, however much time is left.
        start: folder of a net to begin with, of a smaller board or of another game with the same lines.
        say: is given the lines of progress.
        options: ``games`` of a round, ``simulations`` of a move, ``margin``: its share of a finished game's value.

    Raises:
        ZugwerkError: no such game or board, or the folder is of another game or other options.
    """
    from pipeline_src.parallel import Parallel
    from pipeline_src.selfplay.any_game.learn import learn as run
    from pipeline_src.selfplay.any_game.subject import setting_of

    setting = setting_of(_rules(game), size, variant, seed, **options)
    Path(folder).mkdir(parents=True, exist_ok=True)
    begun = None if start is None else Path(start)
    return run(game, Path(folder), minutes, setting, Parallel(workers=workers), say, rounds, begun)


def read(path: "str | os.PathLike[str]") -> "list[GameRecord]":
    """Read the games of a file: SGF, psq, LittleGolem's text, a Parquet archive or a match's journal.

    Raises:
        ZugwerkError: the file is none of these, or none of its games can be read; the message names it.
    """
    from pipeline_src.records.files import read_file

    return read_file(Path(path))


def replay(record: "GameRecord", game: str | None = None) -> Iterator[Position]:
    """Yield the positions of a record, the first one included.

    Args:
        record: as `read` gives it.
        game: the file of your own rules, where the record is of such a game: no record makes a file run.

    Raises:
        ZugwerkError: there is no such game, or no such start or move in it.
    """
    from pipeline_src.games.game import LEARNABLE, get_game, load_game
    from pipeline_src.records.sgf_games import start_of

    name = game or record.game
    start = start_of(record, load_game(name) if game or name in LEARNABLE else get_game(name))
    position = Position(name, start, start)
    yield position
    for action in record.actions:
        position = position.play(action)
        yield position


@dataclass(frozen=True)
class Evaluation:
    """A net's answer on a position, without a search."""

    value: float  # Expected result from -1 to 1, to the side to move
    policy: dict[str, float]  # Probability of each legal move, the likeliest first


@dataclass(frozen=True)
class Net:
    """A net that comes with the package."""

    name: str
    file: Path
    card: "Card"  # Origin, shape, figures and digest

    def evaluate(self, position: Position) -> Evaluation:
        """Return the net's value and policy.

        A net with a table (``.lines``) takes boards of any size. In the Amazons a turn has the probability of its move
        times that of its arrow after it.

        Raises:
            ZugwerkError: the game is over, or the game, the board or the rule is not the net's.
        """
        import numpy as np

        from pipeline_src.games import kernels

        if position.game != self.card.game:
            raise ZugwerkError(f"the net {self.name} plays {self.card.game}, not {position.game}")
        if position.winner is not None:
            raise ZugwerkError("the game is over: no move has a probability")
        state, actions = position.state, position.legal_actions
        check, answer = self._opened
        check(state)

        def ask(states: Any) -> tuple[Any, Any]:
            """Return the priors float [B, A] by step's id, and the values [B]."""
            count = len(states.board)
            steps, counts = np.zeros((count, kernels.max_steps(state)), np.int32), np.empty(count, np.int32)
            for b in range(count):
                counts[b] = kernels.write_steps(kernels.row(states, b), steps[b])
            priors, values = answer(states, steps[:, : counts.max()], counts)
            by_step = np.zeros((count, int(steps.max()) + 1))
            for b in range(count):
                by_step[b, steps[b, : counts[b]]] = priors[b, : counts[b]]
            return by_step, values

        shares, values = ask(kernels.stack(state, 1))
        if kernels.max_steps(state) == kernels.max_actions(state):
            policy = shares[0][actions]
        else:  # an action has two steps
            moves, which = np.unique(actions // state.board.size, return_inverse=True)
            after = kernels.stack(state, len(moves))
            for b, move in enumerate(moves.tolist()):
                kernels.play_step(kernels.row(after, b), move)
            policy = shares[0][moves][which] * ask(after)[0][which, actions % state.board.size]
        order = np.argsort(-policy, kind="stable")
        likeliest = {position.text(int(actions[k])): float(policy[k]) for k in order}
        return Evaluation(float(values[0]), likeliest)

    @cached_property
    def _opened(self) -> "tuple[Callable[[Any], None], EvaluateBatch]":
        """A check of a state's board, and the net's answers."""
        if self.card.game == "amazons":
            from pipeline_src.systems.amazons_net.player import BATCH, open_nets

            nets = open_nets(str(self.file), "auto", BATCH)
            return lambda state: nets.check_board(*state.board.shape), nets
        from pipeline_src.systems.gomoku_zero.evaluator import make_evaluator
        from pipeline_src.systems.gomoku_zero.player import check_state

        answer, about = make_evaluator(self.file)
        return lambda state: check_state(about, state, any_size=about.kind == "lines"), answer


def nets() -> list[str]:
    """Return the names of the packaged nets, such as ``gomoku-15x15-renju``."""
    return list(_nets())


def net(name: str) -> Net:
    """Return a packaged net by its name, its file compared with the digest of its card.

    Raises:
        ZugwerkError: no net has this name, and the message lists those that there are; or its file is another one.
    """
    found = _nets()
    if name not in found:
        raise ZugwerkError(f"no net {name!r}; there are: {', '.join(found)}")
    found[name].checked()
    return Net(name, found[name].file, found[name].card)


def _nets() -> "dict[str, PackagedNet]":
    from pipeline_src.players.packaged import packaged_nets

    return {f"{one.card.game}-{one.card.size}x{one.card.size}-{one.card.rule}": one for one in packaged_nets()}
