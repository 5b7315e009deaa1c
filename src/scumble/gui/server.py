"""The server: its start and end, its addresses and the files of its page; nothing here computes."""

import asyncio
import inspect
import json
import socket
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from scumble._core.errors import ParameterError, ScumbleError
from scumble._core.optional import import_optional_dependency
from scumble.gui.folders import PATIENCE, receive_with_timeout
from scumble.gui.guard import (
    LOOPBACK,
    MEGABYTE,
    ASGIApp,
    DownloadTokens,
    Guard,
    Settings,
    make_timeout_protocol,
)
from scumble.gui.http_messages import ApiRequest, ApiResponse, RequestError
from scumble.gui.jobs import Job
from scumble.gui.state import ServerState
from scumble.gui.worker import Worker, disk_full_message

#: Tried first, so that the address stays the same from day to day.
PORT = 8707
WILDCARDS = ("0.0.0.0", "::", "")
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
CSV = "text/csv; charset=utf-8"
#: What a download may do if a browser shows it after all: nothing.
SANDBOX = {"content-security-policy": "default-src 'none'; sandbox"}


def serve(
    file: str | None = None,
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    allow_hosts: tuple[str, ...] = (),
    open_browser: bool = True,
    max_upload_mb: int = 512,
    max_unpacked_mb: int = 4096,
    announce: Callable[[str], None] = print,
    on_error: Callable[[str], None] = print,
    worker: Worker | None = None,
    **options: Any,
) -> None:
    """Serve the page until Ctrl-C; a process that can work may have been started before."""
    if host in WILDCARDS and not allow_hosts:
        raise ParameterError(
            f"The address {host!r} means every network this machine is in. Say by which name "
            "browsers will address it, with --allow-host NAME."
        )
    with _listen(host, port) as listener, worker or Worker() as idle:
        names = _own_names(host, allow_hosts)
        settings = Settings(
            port=listener.getsockname()[1],
            hosts=tuple(dict.fromkeys((*LOOPBACK, *names))),
            max_upload=max_upload_mb * MEGABYTE,
            max_unpacked=max_unpacked_mb * MEGABYTE,
        )
        address = f"http://{names[0]}:{settings.port}/?token={settings.token}"

        def on_start(state: ServerState) -> None:
            state.is_closing = lambda: server.should_exit
            if file is not None:
                state.open_initial_dataset(file, options, on_error)
            announce(address)
            if open_browser:
                import webbrowser

                # Some browsers keep the caller waiting; the server must not.
                threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

        server = make_server(create_app(settings, on_start, [idle]))
        with suppress(KeyboardInterrupt):  # that is how it is ended, and all is cleaned up by now
            server.run(sockets=[listener])


def make_server(app: ASGIApp) -> Any:
    """Make the server of an application."""
    uvicorn = import_optional_dependency("uvicorn", purpose="scumble gui", extra="gui")
    config = uvicorn.Config(
        app,
        http=make_timeout_protocol(),
        log_level="warning",
        access_log=False,  # addresses may hold the token
        server_header=False,
        ws="none",
        lifespan="on",
        # Where the server hangs up just when a client asks again, the client sees an error.
        timeout_keep_alive=60,
        timeout_graceful_shutdown=2,
    )
    return uvicorn.Server(config)


def _listen(host: str, port: int | None) -> socket.socket:
    """Bind now, so that the port is ours before anyone is told of it."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    reason = ""
    for candidate in (port,) if port is not None else (PORT, 0):
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, candidate))
            listener.listen(128)
            return listener
        except (OSError, OverflowError) as error:
            listener.close()
            reason = getattr(error, "strerror", None) or str(error)
    raise ScumbleError(
        f"Cannot listen on {host}, port {port}: {reason}. Choose another with --port."
    )


def _own_names(host: str, allow_hosts: tuple[str, ...]) -> tuple[str, ...]:
    """List the names by which browsers may address us, first the one that is announced."""
    own = f"[{host}]" if ":" in host else host.lower()
    return allow_hosts if host in WILDCARDS else (own, *allow_hosts)


def create_app(
    settings: Settings,
    on_start: Callable[[ServerState], None] = lambda _: None,
    idle: Sequence[Worker] = (),
) -> ASGIApp:
    """Make the application of one server."""
    import_optional_dependency("starlette", purpose="scumble gui", extra="gui")
    from starlette.applications import Starlette
    from starlette.routing import Mount, Route

    tickets = DownloadTokens()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        state = app.state.server = ServerState(settings, tickets, idle)
        try:
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
def _router() -> ASGIApp:
    """Import what answers calls, once it is told where the page is.

    By then a worker is opening the data, and nobody waits for this process.
    """
    from starlette.routing import Route, Router

    from scumble.gui.api.routes import ROUTES, UPLOAD_ROUTE

    routes = [
        *(Route(path, _endpoint(handler), methods=[method]) for method, path, handler in ROUTES),
        Route(UPLOAD_ROUTE[1], _upload, methods=[UPLOAD_ROUTE[0]]),
        Route("/{rest:path}", _no_such_call),
    ]
    return Router(routes)


def _endpoint(handler: Callable[..., Any]) -> Any:
    """Let an API function answer HTTP requests."""

    async def answer(request: Any) -> Any:
        state: ServerState = request.app.state.server
        try:
            body = await _body(request) if request.method == "POST" else b""
            call = ApiRequest(request.path_params, request.query_params, body)
            named = [getattr(state, PLACES[n]).get(call.path[n]) for n in call.path if n in PLACES]
            if inspect.iscoroutinefunction(handler):
                content = await handler(state, call, *named)
            else:
                content = await asyncio.to_thread(handler, state, call, *named)
        except (RequestError, ScumbleError, OSError) as error:
            return _refused(error)
        return _response(content)

    return answer


async def _upload(request: Any) -> Any:
    """Receive one file as the body of a request."""
    from starlette.requests import ClientDisconnect

    state: ServerState = request.app.state.server
    length = request.headers.get("content-length", "")
    declared = int(length) if length.isdecimal() else None
    name = request.query_params.get("name", "data")
    try:
        known = {"declared": declared, "suffixes": (await state.catalogue())["suffixes"]}
        stored = await state.uploads.store(name, request.stream(), **known)
    except ClientDisconnect:
        return _refused(RequestError("The upload was broken off.", 400))
    except (RequestError, OSError) as error:
        refused = _refused(error)
        if refused.status_code != 408:  # who has fallen silent need not be waited for once more
            await _drain(request)
        refused.headers["connection"] = "close"
        return refused
    shown = {"id": stored.id, "name": stored.shown, "size": stored.size}
    return _response(ApiResponse(shown, 201))


async def _drain(request: Any) -> None:
    """Read some of what is not wanted: a client that is still sending would miss the answer."""
    from starlette.requests import ClientDisconnect

    # It may be gone, silent, still sending, or read to its end.
    with suppress(ClientDisconnect, RequestError, RuntimeError):
        async for _ in receive_with_timeout(request.stream(), PATIENCE, MAX_DRAINED):
            pass


async def _no_such_call(request: Any) -> Any:
    return _refused(RequestError("There is no such call; see /api/v1/openapi.json.", 404))


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
        return _refused(RequestError("There is no such file.", 404))
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
    blocks = receive_with_timeout(request.stream(), PATIENCE, MAX_BODY, refusal)
    return b"".join([block async for block in blocks])


def _response(content: Any) -> Any:
    from starlette.responses import FileResponse, Response

    if isinstance(content, Job):
        content = ApiResponse(content.to_dict(), 202)
    answer = content if isinstance(content, ApiResponse) else ApiResponse(content)
    if isinstance(answer.content, Path):
        return FileResponse(answer.content, filename=answer.filename, headers=SANDBOX)
    if answer.content is None:
        return Response(status_code=204)
    if isinstance(answer.content, str):
        disposition = {"content-disposition": f'attachment; filename="{answer.filename}"'}
        return Response(answer.content, media_type=CSV, headers=disposition | SANDBOX)
    text = json.dumps(answer.content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    body = text.encode(errors="replace")  # a name may hold half a surrogate pair
    return Response(body, status_code=answer.status, media_type="application/json")


def _refused(error: RequestError | ScumbleError | OSError) -> Any:
    """Say why not, and that the disk is full; what else the system refuses is for the terminal."""
    if isinstance(error, OSError):
        told = disk_full_message(error)
        if told is None:
            raise error
        error = RequestError(told, 507)
    status = error.status if isinstance(error, RequestError) else 422
    return _response(ApiResponse({"error": str(error)}, status))
