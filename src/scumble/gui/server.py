"""The web server: start and end, HTTP requests and responses, and the files of the page."""

import asyncio
import inspect
import json
import socket
import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scumble._core.errors import ParameterError, ScumbleError
from scumble._core.optional import import_optional_dependency
from scumble.gui.folders import TRANSFER_TIMEOUT, receive_with_timeout
from scumble.gui.guard import (
    LOOPBACK,
    MEGABYTE,
    ASGIApp,
    DownloadTokens,
    Guard,
    Settings,
    make_timeout_protocol,
)
from scumble.gui.http_messages import ApiResponse, RequestError
from scumble.gui.jobs import Job
from scumble.gui.state import ServerState
from scumble.gui.worker import Worker, disk_full_message

if TYPE_CHECKING:  # the first page does not wait for the handlers
    from scumble.gui.api.route import Route as ApiRoute

#: The default port. It is fixed so that the address stays the same from day to day.
PORT = 8707
#: Addresses that mean all networks of this machine.
WILDCARD_HOSTS = ("0.0.0.0", "::", "")
#: Path of the API.
PREFIX = "/api/v1"
#: Maximum bytes of a JSON body: the options of tens of thousands of columns.
MAX_BODY = 1 << 20
#: Maximum bytes of a refused upload that are read and discarded, so that the client gets the
#: response.
MAX_DRAINED = 16 << 20
#: Path parameters that are the id of an item, and the attribute of `ServerState` with these items.
#: Handlers get the item itself.
ITEM_COLLECTIONS = {"dataset": "datasets", "upload": "uploads", "model": "models", "job": "jobs"}
CONTENT_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
CSV_TYPE = "text/csv; charset=utf-8"
#: Headers of a download: if a browser displays the file after all, it may load and run nothing.
SANDBOX_HEADERS = {"content-security-policy": "default-src 'none'; sandbox"}


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
    """Serve the page until Ctrl-C.

    Parameters
    ----------
    file : str, optional
        A file or public data set to open at once.
    host : str
        Address to listen on.
    port : int, optional
        By default 8707, or a free one.
    allow_hosts : tuple of str
        Further names by which browsers may address the server.
    open_browser : bool
        Whether to open the page in the browser.
    max_upload_mb, max_unpacked_mb : int
        Maximum size of an uploaded file, as sent and decompressed.
    announce : callable
        Is called with the address of the page, which contains the token.
    on_error : callable
        Is called with the reason if ``file`` cannot be opened.
    worker : Worker, optional
        A worker process that has been started already.
    **options : object
        Options for the reader of ``file``.
    """
    if host in WILDCARD_HOSTS and not allow_hosts:
        raise ParameterError(
            f"The address {host!r} stands for all networks of this machine. Specify the name that "
            "browsers will use, with --allow-host NAME."
        )
    with _listen(host, port) as listener, worker or Worker() as idle_worker:
        host_names = _host_names(host, allow_hosts)
        settings = Settings(
            port=listener.getsockname()[1],
            hosts=tuple(dict.fromkeys((*LOOPBACK, *host_names))),
            max_upload=max_upload_mb * MEGABYTE,
            max_unpacked=max_unpacked_mb * MEGABYTE,
        )
        address = f"http://{host_names[0]}:{settings.port}/?token={settings.token}"

        def on_start(state: ServerState) -> None:
            """Open the file, announce the address and open the browser."""
            state.is_closing = lambda: server.should_exit
            if file is not None:
                state.open_initial_dataset(file, options, on_error)
            announce(address)
            if open_browser:
                import webbrowser

                # In a thread: some browsers make the caller wait.
                threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

        server = make_server(create_app(settings, on_start, [idle_worker]))
        with suppress(KeyboardInterrupt):  # the normal end; everything has been cleaned up by now
            server.run(sockets=[listener])


def make_server(app: ASGIApp) -> Any:
    """Return the uvicorn server of an application."""
    uvicorn = import_optional_dependency("uvicorn", purpose="scumble gui", extra="gui")
    config = uvicorn.Config(
        app,
        http=make_timeout_protocol(),
        log_level="warning",
        access_log=False,  # addresses may contain the token
        server_header=False,
        ws="none",
        lifespan="on",
        # If the server closes a connection just when a client sends a request, the client gets an
        # error. A long time makes this rare.
        timeout_keep_alive=60,
        timeout_graceful_shutdown=2,
    )
    return uvicorn.Server(config)


def _listen(host: str, port: int | None) -> socket.socket:
    """Return a listening socket; the port is reserved before the address is announced."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    candidates = (PORT, 0) if port is None else (port,)  # 0 is any free port
    reason = ""
    for candidate in candidates:
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


def _host_names(host: str, allow_hosts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names by which browsers may address the server; the first one is announced."""
    if host in WILDCARD_HOSTS:
        return allow_hosts
    name = f"[{host}]" if ":" in host else host.lower()
    return (name, *allow_hosts)


def create_app(
    settings: Settings,
    on_start: Callable[[ServerState], None] = lambda _: None,
    idle: Sequence[Worker] = (),
) -> ASGIApp:
    """Return the application of a server.

    Parameters
    ----------
    settings : Settings
        Address, secret and limits.
    on_start : callable
        Is called with the state of the server when it starts.
    idle : sequence of Worker
        Workers that have been started already.
    """
    import_optional_dependency("starlette", purpose="scumble gui", extra="gui")
    from starlette.applications import Starlette
    from starlette.routing import Mount, Route

    download_tokens = DownloadTokens()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        """Create the state of the server when it starts, and close it when it ends."""
        state = app.state.server = ServerState(settings, download_tokens, idle)
        try:
            on_start(state)
            # Imported now: a worker is opening the data, so no request waits for the imports.
            asyncio.get_running_loop().call_soon(_api_router)
            yield
        finally:
            await state.close()

    routes = [
        Mount(PREFIX, _serve_api),
        Route("/static/{path:path}", _serve_static_file),
        Route("/{path:path}", _serve_page),
    ]
    return Guard(Starlette(routes=routes, lifespan=lifespan), settings, download_tokens)


async def _serve_api(scope: Any, receive: Any, send: Any) -> None:
    """Answer a request to the API."""
    await _api_router()(scope, receive, send)


@cache
def _api_router() -> ASGIApp:
    """Return the router of the API; the first call imports the handlers."""
    from starlette.routing import Route, Router

    from scumble.gui.api.routes import ROUTES

    routes = [
        Route(
            route.path,
            _receive_upload if route.handler is None else _make_endpoint(route),
            methods=[route.method],
        )
        for route in ROUTES
    ]
    routes.append(Route("/{path:path}", _unknown_address))
    return Router(routes)


def _make_endpoint(route: "ApiRoute") -> Any:
    """Return the endpoint that calls the handler of a route.

    The handler gets the state of the server and, by name, the items whose ids are in the path,
    other variable parts of the path as texts, and the converted body and query.
    """
    from scumble.gui.api.conversion import convert_body, convert_query

    handler: Any = route.handler

    async def endpoint(http_request: Any) -> Any:
        """Call the handler with the items of path, query and body; return its response.

        Synchronous handlers run in a thread. Errors of users become error responses.
        """
        state: ServerState = http_request.app.state.server
        try:
            body = await _read_body(http_request) if http_request.method == "POST" else b""
            arguments = _path_items(state, http_request.path_params)
            if route.body is not None:
                arguments["body"] = convert_body(body, route.body)
            if route.query is not None:
                arguments["query"] = convert_query(http_request.query_params, route.query)
            if inspect.iscoroutinefunction(handler):
                content = await handler(state, **arguments)
            else:
                content = await asyncio.to_thread(handler, state, **arguments)
        except (RequestError, ScumbleError, OSError) as error:
            return _error_response(error)
        return _response(content)

    return endpoint


def _path_items(state: ServerState, path_variables: Mapping[str, str]) -> dict[str, Any]:
    """Return the variable parts of a path by name; ids are replaced by their items."""
    items: dict[str, Any] = {}
    for name, value in path_variables.items():
        if name in ITEM_COLLECTIONS:
            items[name] = getattr(state, ITEM_COLLECTIONS[name]).get(value)
        else:
            items[name] = value
    return items


async def _receive_upload(http_request: Any) -> Any:
    """Store the body of a request as an uploaded file."""
    from starlette.requests import ClientDisconnect

    from scumble.gui.api.conversion import convert_query
    from scumble.gui.api.queries import UploadQuery

    state: ServerState = http_request.app.state.server
    content_length = http_request.headers.get("content-length", "")
    try:
        catalogue = await state.catalogue()
        upload = await state.uploads.store(
            convert_query(http_request.query_params, UploadQuery).name,
            http_request.stream(),
            declared_size=int(content_length) if content_length.isdecimal() else None,
            suffixes=catalogue["suffixes"],
        )
    except ClientDisconnect:
        return _error_response(RequestError("The client disconnected during the upload.", 400))
    except (RequestError, OSError) as error:
        response = _error_response(error)
        if response.status_code != 408:  # a client that has stopped sending gets no further time
            await _drain(http_request)
        response.headers["connection"] = "close"
        return response
    content = {"id": upload.id, "name": upload.display_name, "size": upload.size}
    return _response(ApiResponse(content, 201))


async def _drain(http_request: Any) -> None:
    """Read a part of a refused body: a client that is still sending would miss the response."""
    from starlette.requests import ClientDisconnect

    # The client may have disconnected, stopped sending or sent everything.
    with suppress(ClientDisconnect, RequestError, RuntimeError):
        async for _ in receive_with_timeout(http_request.stream(), TRANSFER_TIMEOUT, MAX_DRAINED):
            pass


async def _unknown_address(http_request: Any) -> Any:
    """Return the error for an address that the API does not have."""
    return _error_response(RequestError("There is no such address; see /api/v1/openapi.json.", 404))


async def _serve_static_file(http_request: Any) -> Any:
    """Return a file of the page, from a fixed list."""
    return _asset_response(http_request, http_request.path_params["path"])


async def _serve_page(http_request: Any) -> Any:
    """Return the page, which is the same for all addresses; its script interprets them."""
    is_icon = http_request.path_params["path"] == "favicon.ico"
    return _asset_response(http_request, "icon.svg" if is_icon else "index.html")


def _asset_response(http_request: Any, name: str) -> Any:
    """Return the response with a file of the page, compressed if the browser accepts it."""
    from starlette.responses import Response

    content = assets().get(name)
    if content is None:
        return _error_response(RequestError("There is no such file.", 404))
    headers = {
        "content-type": CONTENT_TYPES[Path(name).suffix],
        "cache-control": "no-cache",
        "vary": "accept-encoding",
    }
    if "gzip" in http_request.headers.get("accept-encoding", ""):
        content = _compressed_asset(name)
        headers["content-encoding"] = "gzip"
    return Response(content, headers=headers)


@cache
def _compressed_asset(name: str) -> bytes:
    """Return a file of the page compressed to about a third, which matters over a network."""
    import gzip

    return gzip.compress(assets()[name], mtime=0)


@cache
def assets() -> dict[str, bytes]:
    """Return the files of the page by name."""
    folder = Path(__file__).with_name("static")
    paths = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*.*")}
    paths["chord.js"] = folder.parents[1] / "report" / "assets" / "chord.js"
    return {name: path.read_bytes() for name, path in paths.items() if path.suffix in CONTENT_TYPES}


async def _read_body(http_request: Any) -> bytes:
    """Return the body of a request."""
    blocks = receive_with_timeout(
        http_request.stream(),
        seconds=TRANSFER_TIMEOUT,
        max_bytes=MAX_BODY,
        too_large_message=f"The body of a request has at most {MAX_BODY:,} bytes.",
    )
    return b"".join([block async for block in blocks])


def _response(content: Any) -> Any:
    """Return the HTTP response with the result of a handler."""
    from starlette.responses import FileResponse, Response

    if isinstance(content, Job):
        response = ApiResponse(content.to_dict(), 202)
    elif isinstance(content, ApiResponse):
        response = content
    else:
        response = ApiResponse(content)
    if isinstance(response.content, Path):
        return FileResponse(response.content, filename=response.filename, headers=SANDBOX_HEADERS)
    if response.content is None:
        return Response(status_code=204)
    if isinstance(response.content, str):
        headers = {
            "content-disposition": f'attachment; filename="{response.filename}"',
            **SANDBOX_HEADERS,
        }
        return Response(response.content, media_type=CSV_TYPE, headers=headers)
    text = json.dumps(response.content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    body = text.encode(errors="replace")  # a name may contain half of a surrogate pair
    return Response(body, status_code=response.status, media_type="application/json")


def _error_response(error: RequestError | ScumbleError | OSError) -> Any:
    """Return the response with a reason; raise an `OSError` again unless the disk is full."""
    status = 422
    message = str(error)
    if isinstance(error, RequestError):
        status = error.status
    elif isinstance(error, OSError):
        disk_full = disk_full_message(error)
        if disk_full is None:  # the terminal shows its traceback
            raise error
        status = 507
        message = disk_full
    return _response(ApiResponse({"error": message}, status))
