"""`Late` serves the files of the pages at once, and imports the rest of the server at the first request of a page."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from pipeline_src.web.guard import Guard, Receive, Scope, Send
from pipeline_src.web.settings import Settings

if TYPE_CHECKING:
    from fastapi import FastAPI

STATIC = Path(__file__).parent / "static"
CHARTS = Path(__file__).parents[1] / "report" / "specs"


class Late:
    """The server's application. The part below ``/api/`` takes half a second to import; a page is painted meanwhile."""

    def __init__(self, settings: Settings) -> None:
        self.settings, self._stack = settings, AsyncExitStack()
        self._files = Starlette(
            routes=[
                Route("/vega.js", _vega),
                Mount("/charts", StaticFiles(directory=CHARTS)),
                Mount("/", StaticFiles(directory=STATIC, html=True)),
            ],
            exception_handlers={HTTPException: _told},
        )
        self._guarded = Guard(self._answer, settings.host)
        self._app: asyncio.Task[FastAPI] | None = None

    @property
    def app(self) -> "FastAPI":
        """The application below ``/api/``, imported at the first use."""
        assert self._app is not None
        return self._app.result()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        else:
            await self._guarded(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not scope["path"].startswith("/api/"):
            await self._files(scope, receive, send)
            return
        if self._app is None:
            self._app = asyncio.create_task(self._open())
        await (await asyncio.shield(self._app))(scope, receive, send)

    async def _open(self) -> "FastAPI":
        app = await asyncio.to_thread(_create, self.settings)
        await self._stack.enter_async_context(app.router.lifespan_context(app))
        return app

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        if self._app is not None:
            await self._app
        await self._stack.aclose()
        await send({"type": "lifespan.shutdown.complete"})


def _create(settings: Settings) -> "FastAPI":
    # The games too, before routes run in threads: of a package that two threads import, one may see a part alone.
    from pipeline_src.games import amazons, go, gomoku  # noqa: F401
    from pipeline_src.web.app import create_app

    return create_app(settings)


async def _vega(_: Request) -> Response:
    """Answer with the library that draws charts, which a page asks for at its first chart."""
    from pipeline_src.project.plots_page import bundle

    return Response(await asyncio.to_thread(bundle), media_type="text/javascript")


async def _told(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": str(error.detail)}, error.status_code)
