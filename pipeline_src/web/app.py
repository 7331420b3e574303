"""`create_app` joins the routers of all pages and their files."""

import logging
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocketClose

from pipeline_src import __version__
from pipeline_src.errors import ZugwerkError
from pipeline_src.games.game import GAMES, get_game
from pipeline_src.project.plots_page import bundle
from pipeline_src.web import analyse, go, joseki, nets, play
from pipeline_src.web.messages.analyse import AnalysisRequest, AnalysisState, PlyAnalysis, Thinking, ThinkRequest
from pipeline_src.web.messages.play import Act, GameMessage, Problem, ThoughtMessage
from pipeline_src.web.settings import Settings

ROUTERS = (play.router, nets.router, analyse.router, go.router, joseki.router)
"""Routers, one per page, and that of searches of Go; their paths begin with ``/api/PAGE``."""
SPOKEN = (
    Act, GameMessage, ThoughtMessage, Problem, AnalysisRequest, PlyAnalysis, AnalysisState, ThinkRequest, Thinking,
)  # fmt: skip
"""Messages of the WebSockets, which OpenAPI has no place for."""
STATIC = Path(__file__).parent / "static"
CHARTS = Path(__file__).parents[1] / "report" / "specs"
REPORT = Path("artifacts/reports/index.html")
REPORT_POLICY = (
    "sandbox allow-popups allow-scripts; default-src 'none'; img-src data:; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; font-src data:"
)
"""Content security policy of the report, one file with its own scripts, which may ask nothing of anybody."""
LOG = logging.getLogger(__name__)


class _Application(FastAPI):
    def openapi(self) -> dict[str, Any]:
        """Return the interface as OpenAPI, whose schemas have the messages of the WebSockets too."""
        if not self.openapi_schema:
            modes: list[tuple[type[BaseModel], JsonSchemaMode]] = [(one, "serialization") for one in SPOKEN]
            _, spoken = models_json_schema(modes, ref_template="#/components/schemas/{model}")
            super().openapi()["components"]["schemas"].update(spoken["$defs"])
        assert self.openapi_schema is not None
        return self.openapi_schema


class _Files(StaticFiles):
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await WebSocketClose()(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)


def create_app(settings: Settings) -> FastAPI:
    """Return the application. Its settings are in ``request.app.state.settings``."""
    app = _Application(
        title="Zugwerk in the browser",
        version=__version__,
        openapi_url="/api/openapi.json",
        docs_url=None,  # these pages load scripts from elsewhere
        redoc_url=None,
        lifespan=play.opened,
    )
    app.state.settings = settings
    for game in GAMES:  # before routes run in threads: of a package that two threads import, one may see a part alone
        get_game(game)
    for router in ROUTERS:
        app.include_router(router)
    app.get("/api/report", response_class=Response)(report)
    app.get("/vega.js", include_in_schema=False)(vega)
    app.mount("/charts", _Files(directory=CHARTS))
    app.mount("/", _Files(directory=STATIC, html=True))
    app.add_exception_handler(ZugwerkError, _expected)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(Exception, _unexpected)
    return app


def report(request: Request) -> Response:
    """Return the report page of the project that one of the server's folders belongs to."""
    for folder in request.app.state.settings.folders:
        for project in (folder, folder.parent):
            if (path := project / REPORT).is_file():
                return FileResponse(path, media_type="text/html", headers={"content-security-policy": REPORT_POLICY})
    return PlainTextResponse(f"There is no {REPORT} yet: `dvc repro report_page` makes it.", 404)


def vega() -> Response:
    """Return the library that draws charts, which a page asks for at its first chart."""
    return Response(bundle(), media_type="text/javascript")


def failure(status: int, text: str) -> JSONResponse:
    """Return an error as an answer (`messages.message.Failure`)."""
    return JSONResponse({"error": text}, status)


async def _expected(_: Request, error: Exception) -> JSONResponse:
    return failure(400, str(error))


async def _http(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    return failure(error.status_code, str(error.detail))


async def _invalid(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"][1:]) or "the request"
    return failure(422, f"{where[:200]}: {first['msg']}")


async def _unexpected(request: Request, error: Exception) -> JSONResponse:
    LOG.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return failure(500, f"{type(error).__name__}: {error}; the server's terminal has the details")
