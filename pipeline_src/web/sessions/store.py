"""`Store` keeps the games of the server."""

import asyncio
import secrets
import time

from pipeline_src.errors import ZugwerkError
from pipeline_src.web.engine.pool import Engines
from pipeline_src.web.messages.play import NewGame
from pipeline_src.web.sessions.game import Game
from pipeline_src.web.sessions.session import Session

MOST = 200
"""Largest number of games. A further one replaces the one that has been without a tab for the longest time."""
KEPT_S = 24 * 3600.0
"""Seconds that a game without a tab is kept."""


class FullError(Exception):
    """No game can be begun because too many are open in tabs."""


class Store:
    """Sessions by random names that cannot be guessed."""

    def __init__(self, engines: Engines, most: int = MOST) -> None:
        self.engines, self._most = engines, most
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
        game = await asyncio.to_thread(Game, wanted.place)
        session = Session(secrets.token_urlsafe(9), wanted, game, self.engines)
        self._sessions[session.name] = session
        return session

    async def _make_room(self) -> None:
        quiet = sorted((one for one in self._sessions.values() if not one.watched), key=lambda one: one.used)
        old = [one for one in quiet if time.monotonic() - one.used > KEPT_S]
        more = len(self._sessions) - len(old) - self._most + 1
        going = [*old, *[one for one in quiet if one not in old][: max(0, more)]]
        for one in going:
            del self._sessions[one.name]
            await one.close()
        if len(self._sessions) >= self._most:
            raise FullError

    async def close(self) -> None:
        """Close all games."""
        for one in self._sessions.values():
            await one.close()
        await self.engines.close()
