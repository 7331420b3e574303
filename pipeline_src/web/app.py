"""`create_app` joins the routers of all pages and their files, and `Guard` lets pages of this server alone ask it.

A browser sends requests to loopback for any page of the web. Three headers reveal such a page: ``Host`` is the page's
own domain if DNS points it to this machine (rebinding), ``Origin`` is the origin of a script, and ``Sec-Fetch-Site``
shows another site even without an origin. Programs other than browsers do not send the last two.
"""

import ipaddress
import json
import logging
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from pipeline_src import __version__
from pipeline_src.errors import ZugwerkError
from pipeline_src.project.plots_page import bundle
from pipeline_src.web import analyse, choices, go, joseki, messages, nets, play
from pipeline_src.web.settings import GAME_FILES, Settings

ROUTERS = (play.router, nets.router, analyse.router, go.router, joseki.router)
"""Routers, one per page, and that of searches of Go; their paths begin with ``/api/PAGE``."""
SPOKEN = (
    messages.Act, messages.GameMessage, messages.ThoughtMessage, messages.Problem, messages.AnalysisRequest,
    messages.PlyAnalysis, messages.AnalysisState, messages.ThinkRequest, messages.Thinking,
)  # fmt: skip
"""Messages of the WebSockets, which OpenAPI has no place for."""
STATIC = Path(__file__).parent / "static"
CHARTS = Path(__file__).parents[1] / "report" / "specs"
LOG = logging.getLogger(__name__)
MOST_BODY = 8 << 20  # Largest number of bytes of a request's body
TOO_LARGE = f"the request is larger than {MOST_BODY >> 20} MiB"
READS = ("GET", "HEAD")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
REPORT = Path("artifacts/reports/index.html")
REPORT_POLICY = (  # of the report, one file with its own scripts, which may ask nothing of anybody
    "sandbox allow-popups allow-scripts; default-src 'none'; img-src data:; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; font-src data:"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-cache"),
)


class Guard:
    """ASGI middleware that refuses requests of other sites and large bodies."""

    def __init__(self, app: ASGIApp, host: str) -> None:
        """Guard an application; ``host`` is the address at which the server listens."""
        self.app, self._host = app, host.strip("[]").lower()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        why = self.refusal(scope["type"], scope.get("method", "GET"), headers)
        if scope["type"] == "websocket":
            if why:
                await send({"type": "websocket.close", "code": 1008, "reason": why})
            else:
                await self.app(scope, receive, send)
        elif why:
            await _refuse(send, 403, why)
        elif _length(headers) > MOST_BODY:
            await _refuse(send, 413, TOO_LARGE)
        else:
            await self._pass_on(scope, receive, send)

    def refusal(self, kind: str, method: str, headers: MutableMapping[str, str]) -> str:
        """Return why a request (``kind`` http or websocket) is refused, else ""; headers by name in lower case."""
        host, origin = headers.get("host", ""), headers.get("origin")
        if not self._is_own(_name(host)):
            return f"this server does not answer to the name {host[:100]!r}; open it as http://{self._host}"
        if origin is not None and origin.lower() not in (f"http://{host.lower()}", f"https://{host.lower()}"):
            return f"a page of {origin[:100]!r} may not use this server"
        site, mode = headers.get("sec-fetch-site", "none"), headers.get("sec-fetch-mode", "")
        is_link = kind == "http" and method in READS and mode == "navigate"
        if site not in ("same-origin", "none") and not is_link:
            return "a page of another site may not use this server"
        return ""

    def _is_own(self, name: str) -> bool:
        """Whether a name belongs to this server. An IP address cannot be a rebound name."""
        if name in ("localhost", self._host):
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        return address.is_loopback or not _is_loopback(self._host)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and add the common headers to the answer, unless the body exceeds its limit."""
        taken, begun, refused = 0, False, False

        async def counted() -> Message:
            nonlocal taken, refused
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > MOST_BODY:
                refused = True
                return {"type": "http.disconnect"}
            return message

        async def answer(message: Message) -> None:
            nonlocal begun
            if refused:
                return
            if message["type"] == "http.response.start":
                begun = True
                given = {name for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *(h for h in HEADERS if h[0] not in given)]
            await send(message)

        try:
            await self.app(scope, counted, answer)
        finally:
            if refused and not begun:
                await _refuse(send, 413, TOO_LARGE)


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _name(host: str) -> str:
    """Return ``Host`` without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower()


def _length(headers: MutableMapping[str, str]) -> int:
    text = headers.get("content-length", "0")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else 0


async def _refuse(send: Send, status: int, why: str) -> None:
    body = json.dumps({"error": why}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


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
        docs_url=None,  # these pages load scripts from elsewhere; ours is static/pages/interface.js
        redoc_url=None,
        lifespan=play.opened,
    )
    app.state.settings = settings
    GAME_FILES.update(settings.games)
    app.include_router(choices.router)
    for router in ROUTERS:
        app.include_router(router, dependencies=[Depends(play.rules)])
    app.get("/api/report", response_class=Response)(report)
    app.get("/vega.js", include_in_schema=False)(vega)
    app.get("/docs", include_in_schema=False)(lambda: RedirectResponse("/#/interface"))
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
    """Return an error as an answer."""
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
