"""All games that the server keeps: `Store`."""

import asyncio
import secrets
import time

from pipeline_src.web.engine.pool import Engines
from pipeline_src.web.messages.play import NewGame
from pipeline_src.web.sessions.game import Game
from pipeline_src.web.sessions.session import Session

MOST = 200
"""Games that are kept; for another one, the one that nobody has looked at for longest goes."""
KEPT_S = 24 * 3600.0
"""For how long one is kept that nobody looks at."""


class FullError(Exception):
    """So many games are open in tabs that no other can be begun."""


class Store:
    """Sessions by their names, which nobody can guess."""

    def __init__(self, engines: Engines, most: int = MOST) -> None:
        self.engines, self._most = engines, most
        self._sessions: dict[str, Session] = {}

    def get(self, name: str) -> Session | None:
        """The game of this name, if it is still kept."""
        return self._sessions.get(name)

    async def begin(self, wanted: NewGame) -> Session:
        """A new game.

        Raises:
            FullError: no room.
            ZugwerkError: there is no such place.
        """
        await self._make_room()
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
        """End all."""
        for one in self._sessions.values():
            await one.close()
        await self.engines.close()
