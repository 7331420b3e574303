"""A game with its participants: people in tabs, players in processes, and clocks."""

import asyncio
import contextlib
import secrets
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pipeline_src.errors import ZugwerkError
from pipeline_src.players.packaged import level_words
from pipeline_src.web.choices import hinting
from pipeline_src.web.engine import Answer, Call, Chosen, EngineError, Engines, Message, Task, Thinking, TimeLeft
from pipeline_src.web.messages import (
    PERSON,
    Act,
    Choice,
    Clocks,
    Ending,
    GameMessage,
    NewGame,
    OpeningKind,
    OpeningStep,
    Problem,
    ThoughtMessage,
    Winner,
)

if TYPE_CHECKING:
    from pipeline_src.web.game import Game


GRACE_S = 0.3  # Seconds between the closing of the last tab and the end of the search. A reload takes less.
SHORTEST_MOVE_S = 0.25  # Least seconds between two moves of players, so that a person can follow
MOST = 200  # Largest number of games. A further one replaces the one that has been without a tab for the longest time.
KEPT_S = 24 * 3600.0  # Seconds that a game without a tab is kept
OTHER: dict[int, Winner] = {0: "second", 1: "first"}  # Winner by the losing side
Hear = Callable[[Message], None]
Purpose = Literal["move", "hint"]


class Taken(NamedTuple):
    """A choice that was made."""

    ply: int  # Number of stones on the board
    choice: Choice
    turned: bool  # Whether the seats changed places


class Opening:
    """How far the opening of a game has come. Seat 0 places the first three stones; see `players.gomocup`."""

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


class Session:
    """A game with participants. Methods run in the server's event loop; rules run in threads, one at a time."""

    def __init__(self, name: str, wanted: NewGame, game: "Game", engines: Engines) -> None:
        self.name, self.game, self.used = name, game, time.monotonic()
        self._seats, self._engines = (wanted.first, wanted.second), engines
        self._watchers: set[Hear] = set()
        self._lock = asyncio.Lock()
        self._ended: Ending | None = None
        self._winner: Winner | None = None
        self._opening = Opening(wanted.opening)
        self.paused = False
        self._failed = False
        self._search: asyncio.Task[None] | None = None
        self._thinking: Thinking | None = None
        self._purpose: Purpose = "move"
        self._latest: ThoughtMessage | None = None
        self._flag: asyncio.TimerHandle | None = None
        self._leaving: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._increment_ms = 1000 * wanted.increment_s
        self._left_ms = None if wanted.minutes is None else [60_000 * wanted.minutes] * 2
        self._times = [list(self._left_ms)] * (len(game.moves) + 1) if self._left_ms else []
        self._since: float | None = None

    @property
    def tabs(self) -> int:
        """Number of tabs that show the game."""
        return len(self._watchers)

    @property
    def over(self) -> bool:
        """Whether the game is over."""
        return self._ended is not None or self.game.winner is not None

    @property
    def winner(self) -> Winner | None:
        """Winner by the rules, by resignation or on time."""
        return self._winner or self.game.winner

    @property
    def _step(self) -> OpeningStep | None:
        """The next thing to do in the opening, or None."""
        return None if self.over else self._opening.step(len(self.game.moves))

    @property
    def _awaits_person(self) -> bool:
        return not self.over and self._acts(self._step, self.game.to_play, self._seats)

    @staticmethod
    def _acts(step: OpeningStep | None, side: int, seats: tuple[str, str]) -> bool:
        """Whether a person has to act, in a step of the opening or, without one, for the side to move."""
        seat = side if step is None else step.seat
        return seat is not None and seats[seat] == PERSON

    @property
    def _persons_turn(self) -> bool:
        """Whether a person may move, or place a stone of the opening."""
        return self._awaits_person and (self._step is None or self._step.stones > 0)

    # Tabs.

    async def join(self, hear: Hear) -> None:
        """Add a tab, which gets all messages from now on."""
        if self._leaving is not None:
            self._leaving.cancel()
            self._leaving = None
        self._watchers.add(hear)
        async with self._lock:
            self._start_clock()
            hear(await self._message())
            if self._latest is not None:
                hear(self._latest)
            self._let_play()

    async def show(self, hear: Hear) -> None:
        """Send a tab the state of the game."""
        async with self._lock:
            hear(await self._message())

    def leave(self, hear: Hear) -> None:
        """Remove a closed tab. After the last one, searches and clocks stop."""
        self._watchers.discard(hear)
        self.used = time.monotonic()
        if not self._watchers:
            self._leaving = asyncio.get_running_loop().call_later(GRACE_S, self._rest)

    def _rest(self) -> None:
        self._stop_clock()
        self._abandon()

    def _tell(self, message: Message) -> None:
        for hear in list(self._watchers):
            hear(message)

    async def _message(self) -> GameMessage:
        board = await asyncio.to_thread(self.game.board, self._persons_turn)
        clocks = None
        if self._left_ms is not None:
            running = None if self._since is None else self.game.to_play
            clocks = Clocks(left_ms=(self._left(0), self._left(1)), running=running)
        return GameMessage(
            id=self.name,
            place=self.game.place,
            seats=self._seats,
            levels=(self._level(0), self._level(1)),
            board=board.model_copy(update={"winner": self.winner}),
            ended=self._ended or ("board" if self.game.winner else None),
            opening=self._step,
            counted=None if self.over else await asyncio.to_thread(self.game.counted),
            clocks=clocks,
            persons_turn=self._persons_turn,
            can_undo=self._undo_to() is not None,
            paused=self.paused,
            thinking=self._step is None and (self._due or (self._search is not None and self._purpose == "move")),
            formats=self.game.formats,
        )

    def _level(self, side: int) -> str:
        from pipeline_src.players.levels import BOARDS

        game = self.game.place.game
        return level_words(BOARDS[game](self.game.start), game, self._seats[side]) if game in BOARDS else ""

    # What a person does.

    async def act(self, act: Act) -> None:
        """Carry out an action, and send the game to all tabs (`ZugwerkError`: the action is impossible now)."""
        if act.do == "stop":
            if self._thinking is not None:
                await self._thinking.stop()
            return
        async with self._lock:
            await getattr(self, f"_{act.do}")(act)
            self._tell(await self._message())
            self._let_play()

    async def _move(self, act: Act) -> None:
        if self.over:
            raise ZugwerkError("the game is over")
        if not self._persons_turn:
            choose = self._awaits_person
            raise ZugwerkError("choose a colour first" if choose else "it is the player's turn")
        if act.ply is not None and act.ply != len(self.game.moves):
            raise ZugwerkError("the game has moved on meanwhile; this is how it stands")
        await self._play(act.move)

    async def _play(self, text: str) -> None:
        side, opens = self.game.to_play, self._step is not None
        await asyncio.to_thread(self.game.play, text)
        self._abandon()
        if self._left_ms is not None:
            self._stop_clock(side)
            self._left_ms[side] += 0 if opens else self._increment_ms
            self._times.append(list(self._left_ms))
            self._start_clock()
        self._failed = False

    def _undo_to(self) -> int | None:
        """Return the ply that an undo goes back to: the last one with a person to move, or any if no person plays."""
        now, taken = len(self.game.moves), self._opening.taken
        at_a_choice = bool(taken) and taken[-1].ply == now  # which is taken back itself
        has_person, opening = PERSON in self._seats, self._opening

        def asked(ply: int) -> bool:
            seats = self._seats[::-1] if opening.turned_since(ply) else self._seats
            return self._acts(opening.step(ply, opening.before(ply)), self.game.side_at(ply), seats)

        plies = range(now - (self._ended is None and not at_a_choice), -1, -1)
        return next((ply for ply in plies if not has_person or asked(ply)), None)

    async def _undo(self, _: Act) -> None:
        ply = self._undo_to()
        if ply is None:
            raise ZugwerkError("there is no move of a person to take back")
        self._abandon()
        self._stop_clock()
        self.game.back_to(ply)
        if self._opening.back_to(ply):
            self._seats = self._seats[::-1]
        self._ended = self._winner = None
        self._failed, self.paused = False, self.paused or PERSON not in self._seats
        if self._left_ms is not None:
            self._left_ms = list(self._times[ply])
            del self._times[ply + 1 :]
        self._start_clock()

    async def _resign(self, _: Act) -> None:
        if self.over:
            raise ZugwerkError("the game is over")
        if not self._persons_turn:
            raise ZugwerkError("resign when it is your turn")
        self._after_opening()
        self._end("resigned", OTHER[self.game.to_play])

    async def _agree(self, _: Act) -> None:
        found = None if self.over else await asyncio.to_thread(self.game.counted)
        if found is None:
            raise ZugwerkError("the result is not settled yet; play on")
        self._end("agreed", found.winner)

    async def _hint(self, act: Act) -> None:
        if not self._persons_turn:
            raise ZugwerkError("a hint is for a person whose turn it is")
        self._after_opening()
        self._abandon()
        place = self.game.place
        self._think("hint", act.player or hinting(place.game, place.fen or place.variant))

    def _after_opening(self) -> None:
        if self._step is not None:
            raise ZugwerkError("the opening comes first: place its stones, and choose colours")

    async def _choose(self, act: Act) -> None:
        step = self._step
        if step is None or step.stones or not self._awaits_person:
            raise ZugwerkError("there is no colour to choose now")
        if act.choice == "place" and not step.may_place:
            raise ZugwerkError("two more stones are placed in swap2 alone, after the first three")
        self._settle(act.choice)

    def _settle(self, choice: Choice) -> None:
        self._abandon()
        if self._opening.take(len(self.game.moves), choice):
            self._seats = self._seats[::-1]
        self._start_clock()

    async def _balance(self, _: Act) -> None:
        step = self._step
        if step is None or not step.stones or not self._awaits_person:
            raise ZugwerkError("there are no stones of the opening to place now")
        self._abandon()
        self._search = self._keep(self._open(step))

    async def _open(self, step: OpeningStep) -> None:
        """Have a process place the stones of the opening, or choose."""
        place = self.game.place.model_copy(update={"moves": tuple(self.game.moves)})
        arguments = (place.model_dump(), step.stones, step.may_place)
        try:
            (found,) = await self._engines.values(Call(function="opened", arguments=arguments, key=self.name))
        except EngineError as error:
            if self._search is asyncio.current_task():
                await self._fail(error, True)
            return
        async with self._lock:
            if self._search is not asyncio.current_task():
                return
            self._search = None
            if isinstance(found, str):
                self._settle("swap" if found == "swap" else "stay")
            else:
                if not step.stones:
                    self._settle("place")
                for text in found:
                    await self._play(text)
            self._tell(await self._message())
            self._let_play()

    async def _pause(self, _: Act) -> None:
        self.paused = True
        self._abandon()
        self._stop_clock()

    async def _go(self, _: Act) -> None:
        self.paused = self._failed = False
        self._start_clock()

    def _end(self, how: Ending, winner: Winner) -> None:
        self._abandon()
        self._stop_clock()
        self._ended, self._winner = how, winner

    # Players.

    @property
    def _due(self) -> bool:
        idle = self.over or self._awaits_person or self.paused or self._failed or self._search is not None
        return not idle and self.tabs > 0

    def _let_play(self) -> None:
        if not self._due:
            return
        step = self._step
        if step is not None:
            self._search = self._keep(self._open(step))
        else:
            self._think("move", self._seats[self.game.to_play])

    def _think(self, purpose: Purpose, player: str) -> None:
        side, game = self.game.to_play, self.game
        clock = None
        if purpose == "move" and self._left_ms is not None:
            clock = TimeLeft(
                own_ms=max(1.0, self._left(side)), other_ms=self._left(1 - side), increment_ms=self._increment_ms
            )
        place = game.place.model_copy(update={"moves": tuple(game.moves)})
        task = Task(place=place, player=player, key=f"{self.name}/{purpose}{side}", clock=clock)
        self._purpose = purpose
        self._thinking = self._engines.begin(task, lambda heard: self._heard(purpose, side, heard))
        self._search = self._keep(self._follow(self._thinking, purpose, side))

    async def _follow(self, thinking: Thinking, purpose: Purpose, side: Literal[0, 1]) -> None:
        began = time.monotonic()
        try:
            chosen = await thinking.chosen()
            if PERSON not in self._seats:
                await asyncio.sleep(max(0.0, SHORTEST_MOVE_S - (time.monotonic() - began)))
        except EngineError as error:
            if self._thinking is thinking:
                await self._fail(error, purpose == "move")
            return
        async with self._lock:
            if self._thinking is thinking:
                await self._take(chosen, purpose, side)

    async def _take(self, chosen: Chosen, purpose: Purpose, side: Literal[0, 1]) -> None:
        """Use the move of a player, or of a hint, if the game has not changed meanwhile."""
        hint = chosen.move if purpose == "hint" else ""
        done = ThoughtMessage(purpose=purpose, side=side, thought=chosen.thought, stage="done", hint=hint)
        self._search = self._thinking = None  # the end of this one; nothing is to be given up
        if purpose == "move" and not self.over:
            await self._play(chosen.move)
        self._latest = done
        self._tell(done)
        if purpose == "move":
            self._tell(await self._message())
            self._let_play()

    def _heard(self, purpose: Purpose, side: Literal[0, 1], heard: Answer | int) -> None:
        if isinstance(heard, int):
            message = ThoughtMessage(purpose=purpose, side=side, thought=None, stage="waiting", before=heard)
        else:
            stage = heard.stage or "thinking"
            message = ThoughtMessage(purpose=purpose, side=side, thought=heard.thought, stage=stage)
        self._latest = message
        self._tell(message)

    def _abandon(self) -> None:
        """End the running search. Its process is free or killed within `engine.STOP_S`."""
        search, self._search, self._thinking, self._latest = self._search, None, None, None
        if search is not None and search is not asyncio.current_task():
            search.cancel()

    async def _fail(self, error: EngineError, moves: bool) -> None:
        """Report to the tabs that a player failed; one that has to move is asked again by a person."""
        self._search = self._thinking = self._latest = None
        self._failed = moves
        self._stop_clock()
        self._tell(Problem(text=str(error), engine=moves))
        async with self._lock:
            self._tell(await self._message())

    def _keep(self, work: Any) -> asyncio.Task[Any]:
        task: asyncio.Task[Any] = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    # Clocks.

    def _left(self, side: int) -> float:
        assert self._left_ms is not None
        passed = 0.0 if self._since is None or side != self.game.to_play else 1000 * (time.monotonic() - self._since)
        return self._left_ms[side] - passed

    def _start_clock(self) -> None:
        """Start the clock of the side to move, after the first move of the game."""
        if self._left_ms is None or self._since is not None or self.over or self.paused or not self.game.moves:
            return
        if not self._watchers or self._step is not None:
            return
        self._since = time.monotonic()
        left = max(0.0, self._left_ms[self.game.to_play]) / 1000
        self._flag = asyncio.get_running_loop().call_later(left, lambda: self._keep(self._lose_on_time()))

    def _stop_clock(self, side: int | None = None) -> None:
        if self._flag is not None:
            self._flag.cancel()
            self._flag = None
        if self._left_ms is not None and self._since is not None:
            self._left_ms[self.game.to_play if side is None else side] -= 1000 * (time.monotonic() - self._since)
        self._since = None

    async def _lose_on_time(self) -> None:
        async with self._lock:
            if self._since is not None and not self.over and self._left(self.game.to_play) <= 0:
                self._end("time", OTHER[self.game.to_play])
                self._tell(await self._message())

    async def save(self, suffix: str) -> bytes:
        """Return the game as a file with this suffix (`ZugwerkError`: the game cannot be saved in this format)."""
        from pipeline_src.web.trees import saved

        async with self._lock:
            people = ("First person", "Second person") if self._seats == (PERSON, PERSON) else ("You", "You")
            first, second = (
                people[side] if self._seats[side] == PERSON else self._level(side) or self._seats[side]
                for side in (0, 1)
            )
            resigned = self._ended == "resigned"
            return await asyncio.to_thread(saved, self.game, suffix, (first, second), self.winner, resigned)

    async def close(self) -> None:
        """End searches, timers and messages."""
        self._rest()
        for task in list(self._tasks):
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await task


class FullError(Exception):
    """No game can be begun because too many are open in tabs."""


class Store:
    """Sessions by random names that cannot be guessed."""

    def __init__(self, engines: Engines) -> None:
        self.engines = engines
        self._sessions: dict[str, Session] = {}

    def get(self, name: str) -> Session | None:
        """Return the game with this name, or None if it is not kept."""
        return self._sessions.get(name)

    async def begin(self, wanted: NewGame) -> Session:
        """Begin a game.

        Raises:
            FullError: all places are taken by games that are open in tabs.
            ZugwerkError: the position is invalid.
        """
        await self._make_room()
        place = wanted.place
        if wanted.opening and (place.game != "gomoku" or place.fen or place.moves):
            raise ZugwerkError(f"the opening {wanted.opening} is for Gomoku from the empty board")
        from pipeline_src.web.game import Game

        game = await asyncio.to_thread(Game, wanted.place)
        session = Session(secrets.token_urlsafe(9), wanted, game, self.engines)
        self._sessions[session.name] = session
        return session

    async def _make_room(self) -> None:
        quiet = sorted((one for one in self._sessions.values() if not one.tabs), key=lambda one: one.used)
        old = [one for one in quiet if time.monotonic() - one.used > KEPT_S]
        more = len(self._sessions) - len(old) - MOST + 1
        going = [*old, *[one for one in quiet if one not in old][: max(0, more)]]
        for one in going:
            del self._sessions[one.name]
            await one.close()
        if len(self._sessions) >= MOST:
            raise FullError

    async def close(self) -> None:
        """Close all games."""
        for one in self._sessions.values():
            await one.close()
        await self.engines.close()
