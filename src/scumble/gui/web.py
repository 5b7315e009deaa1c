"""The web application: addresses, files of the page, and nothing that computes."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scumble._core.errors import ScumbleError
from scumble._core.optional import require
from scumble.gui.answers import Answer, Call, RefusedError
from scumble.gui.folders import PATIENCE, patiently
from scumble.gui.guard import App, Guard, Settings, Tickets
from scumble.gui.jobs import Job
from scumble.gui.state import ServerState
from scumble.gui.worker import Worker, no_room

if TYPE_CHECKING:
    from scumble.gui.api.routes import Handler

#: Where the API begins.
PREFIX = "/api/v1"
#: Bytes of a JSON body.
MAX_BODY = 1 << 20
#: Bytes of a refused file that are read and thrown away.
MAX_DRAINED = 16 << 20
#: Parts of an address that name something the server holds; what answers is given that.
PLACES = {"dataset": "datasets", "upload": "uploads", "model": "models", "job": "jobs"}
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
#: What a download may do if a browser shows it after all: nothing.
SANDBOX = {"content-security-policy": "default-src 'none'; sandbox"}


def create_app(
    settings: Settings,
    on_start: Callable[[ServerState], None] | None = None,
    idle: Sequence[Worker] = (),
) -> App:
    """Make the application of one server."""
    require("starlette", purpose="scumble gui", extra="gui")
    from starlette.applications import Starlette
    from starlette.routing import Mount, Route

    tickets = Tickets()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        state = app.state.server = ServerState(settings, tickets, idle)
        try:
            if on_start is not None:
                on_start(state)
            asyncio.get_running_loop().call_soon(_router)
            yield
        finally:
            await state.close()

    routes = [
        Mount(PREFIX, _api),
        Route("/static/{path:path}", _static),
        Route("/{path:path}", _page),
    ]
    return Guard(Starlette(routes=routes, lifespan=lifespan), settings, tickets)


async def _api(scope: Any, receive: Any, send: Any) -> None:
    await _router()(scope, receive, send)


@cache
def _router() -> App:
    """Import what answers calls, once it is told where the page is.

    By then a worker is opening the data, and nobody waits for this process.
    """
    from starlette.routing import Route, Router

    from scumble.gui.api.routes import ROUTES, UPLOAD

    answered = ((path, _endpoint(handler), method) for method, path, handler in ROUTES)
    routes = [
        *(Route(path, endpoint, methods=[method]) for path, endpoint, method in answered),
        Route(UPLOAD[1], _upload, methods=[UPLOAD[0]]),
        Route("/{rest:path}", _no_such_call),
    ]
    return Router(routes)


def _endpoint(handler: Handler) -> Any:
    """Let an API function answer HTTP requests."""

    async def answer(request: Any) -> Any:
        state: ServerState = request.app.state.server
        try:
            body = await _body(request) if request.method == "POST" else b""
            call = Call(request.path_params, request.query_params, body)
            named = [getattr(state, PLACES[n]).get(call.path[n]) for n in call.path if n in PLACES]
            if inspect.iscoroutinefunction(handler):
                content = await handler(state, call, *named)
            else:
                content = await asyncio.to_thread(handler, state, call, *named)
        except (RefusedError, ScumbleError, OSError) as error:
            return _refused(error)
        return _response(content)

    return answer


async def _upload(request: Any) -> Any:
    """Receive one file as the body of a request."""
    from starlette.requests import ClientDisconnect

    state: ServerState = request.app.state.server
    length = request.headers.get("content-length", "")
    try:
        suffixes = frozenset((await state.catalogue())["suffixes"])
        stored = await state.uploads.store(
            request.query_params.get("name", "data"),
            request.stream(),
            declared=int(length) if length.isdecimal() else None,
            suffixes=suffixes,
        )
    except ClientDisconnect:
        return _refused(RefusedError(400, "The upload was broken off."))
    except (RefusedError, OSError) as error:
        refused = _refused(error)
        if refused.status_code != 408:  # who has fallen silent need not be waited for once more
            await _drain(request)
        refused.headers["connection"] = "close"
        return refused
    shown = {"id": stored.id, "name": stored.shown, "size": stored.size}
    return _response(Answer(shown, 201))


async def _drain(request: Any) -> None:
    """Read some of what is not wanted: a client that is still sending would miss the answer."""
    from starlette.requests import ClientDisconnect

    # It may be gone, silent, still sending, or read to its end.
    with suppress(ClientDisconnect, RefusedError, RuntimeError):
        async for _ in patiently(request.stream(), PATIENCE, MAX_DRAINED):
            pass


async def _no_such_call(request: Any) -> Any:
    return _refused(RefusedError(404, "There is no such call; see /api/v1/openapi.json."))


async def _static(request: Any) -> Any:
    """Give a file of the page, from a list of those there are."""
    return _asset(request, request.path_params["path"])


async def _page(request: Any) -> Any:
    """Give the page; its script reads the address."""
    is_icon = request.path_params["path"] == "favicon.ico"
    return _asset(request, "icon.svg" if is_icon else "index.html")


def _asset(request: Any, name: str) -> Any:
    from starlette.responses import Response

    content = assets().get(name)
    if content is None:
        return _refused(RefusedError(404, "There is no such file."))
    headers = {"content-type": TYPES[name[name.rindex(".") :]], "cache-control": "no-cache"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        content, headers["content-encoding"] = _packed(name), "gzip"
    return Response(content, headers={**headers, "vary": "accept-encoding"})


@cache
def _packed(name: str) -> bytes:
    """Compress a file of the page: a third of it is sent, which tells over a network."""
    import gzip

    return gzip.compress(assets()[name], mtime=0)


@cache
def assets() -> dict[str, bytes]:
    """Read the files of the page."""
    folder = Path(__file__).with_name("static")
    paths = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*.*")}
    paths["chord.js"] = folder.parents[1] / "report" / "assets" / "chord.js"
    return {name: path.read_bytes() for name, path in paths.items() if path.suffix in TYPES}


async def _body(request: Any) -> bytes:
    refusal = f"The body of a call has at most {MAX_BODY:,} bytes."
    blocks = patiently(request.stream(), PATIENCE, MAX_BODY, refusal)
    return b"".join([block async for block in blocks])


def _response(content: Any) -> Any:
    from starlette.responses import FileResponse, Response

    if isinstance(content, Job):
        content = Answer(content.to_dict(), 202)
    answer = content if isinstance(content, Answer) else Answer(content)
    if isinstance(answer.content, Path):
        return FileResponse(answer.content, filename=answer.filename, headers=SANDBOX)
    if answer.content is None:
        return Response(status_code=204)
    if isinstance(answer.content, str):
        disposition = {"content-disposition": f'attachment; filename="{answer.filename}"'}
        return Response(answer.content, media_type=answer.media_type, headers=disposition | SANDBOX)
    text = json.dumps(answer.content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    body = text.encode(errors="replace")  # a name may hold half a surrogate pair
    return Response(body, status_code=answer.status, media_type="application/json")


def _refused(error: RefusedError | ScumbleError | OSError) -> Any:
    """Say why not, and that the disk is full; what else the system refuses is for the terminal."""
    if isinstance(error, OSError):
        told = no_room(error)
        if told is None:
            raise error
        error = RefusedError(507, told)
    status = error.status if isinstance(error, RefusedError) else 422
    return _response(Answer({"error": str(error)}, status))
