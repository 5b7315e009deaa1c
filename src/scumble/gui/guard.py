"""Access control of the server: host, origin and token of requests, security headers of responses.

This is plain ASGI around the whole application, so that every response passes through it, also an
error page. Clients that have not sent a complete request are disconnected after a while: uvicorn
waits without limit for the head of a request, so anyone who reaches the port could use up the
connections of the process without knowing the token.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import time
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple
from urllib.parse import parse_qsl, urlencode

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
ASGIApp = Callable[[Scope, Receive, Send], Awaitable[None]]

#: The page may load only files of this server, and no markup may be made from strings (Trusted
#: Types): a label called ``<img ...>`` cannot become an element, even by mistake.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
#: Headers that every response gets unless it has its own.
SECURITY_HEADERS = (
    (b"content-security-policy", CONTENT_SECURITY_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
    (b"cache-control", b"no-store"),
)
NO_TOKEN_MESSAGE = (
    "This address needs its token. Open the address that 'scumble gui' printed when it started; "
    "scripts send it as 'Authorization: Bearer TOKEN'."
)

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
MEGABYTE = 1 << 20
#: Seconds for which a download token is valid: a browser uses it at once, and an address may be
#: copied or logged.
DOWNLOAD_TOKEN_SECONDS = 60.0
#: Maximum number of valid download tokens; a further one replaces the oldest. It bounds the memory.
MAX_DOWNLOAD_TOKENS = 256
#: Query parameter that holds the download token.
DOWNLOAD_TOKEN_PARAMETER = "ticket"
#: Seconds from the start of a connection, or of a further request on it, to the end of the
#: request's head. Browsers send it at once.
REQUEST_HEAD_TIMEOUT = 30.0
#: Maximum number of connections without a complete head; a further one closes the oldest. Many
#: systems allow a process 1,024 open files, and connections are among them.
MAX_PENDING_CONNECTIONS = 512


@dataclass(frozen=True)
class Settings:
    """Address, secret and limits of a server.

    Attributes
    ----------
    port : int
        The port.
    hosts : tuple of str
        Names by which browsers may address the server.
    token : str
        The secret that every request to the API must contain.
    max_upload : int
        Maximum bytes of an uploaded file.
    max_unpacked : int
        Maximum bytes of an uploaded file when it is decompressed.
    max_open : int
        Maximum number of open data sets.
    n_workers : int
        Number of worker processes.

    Examples
    --------
    >>> from scumble.gui.guard import Settings
    >>> Settings(port=8000).origins
    ('http://127.0.0.1:8000', 'http://localhost:8000', 'http://[::1]:8000')
    """

    port: int
    hosts: tuple[str, ...] = LOOPBACK
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    max_upload: int = 512 * MEGABYTE
    max_unpacked: int = 4096 * MEGABYTE
    max_open: int = 24
    n_workers: int = 2

    @property
    def authorities(self) -> tuple[str, ...]:
        """Accepted values of the ``Host`` header."""
        with_port = tuple(f"{host}:{self.port}" for host in self.hosts)
        if self.port == 80:  # browsers omit it
            return (*with_port, *self.hosts)
        return with_port

    @property
    def origins(self) -> tuple[str, ...]:
        """Accepted values of the ``Origin`` header."""
        return tuple(f"http://{authority}" for authority in self.authorities)


class DownloadTokens:
    """Tokens that let a browser fetch one address once, to save a file.

    A browser that saves a file cannot send the token of the server as a header. Instead, the page
    requests an address with a download token, which is valid for this address, once, and only for
    a short time.

    Examples
    --------
    >>> from scumble.gui.guard import DownloadTokens
    >>> tokens = DownloadTokens()
    >>> path, _, query = tokens.issue("/files/a").partition("?")
    >>> tokens.redeem(path, query), tokens.redeem(path, query)
    (True, False)
    """

    def __init__(self) -> None:
        self._valid: dict[str, tuple[str, float]] = {}

    def issue(self, address: str) -> str:
        """Return an address with a new download token."""
        path, _, query = address.partition("?")
        token = secrets.token_urlsafe(24)
        expires = time.monotonic() + DOWNLOAD_TOKEN_SECONDS
        self._valid[token] = (_address_without_token(path, query), expires)
        for old_token in list(self._valid)[:-MAX_DOWNLOAD_TOKENS]:
            del self._valid[old_token]
        parameters = [*parse_qsl(query), (DOWNLOAD_TOKEN_PARAMETER, token)]
        return f"{path}?{urlencode(parameters)}"

    def redeem(self, path: str, query: str) -> bool:
        """Use up the token in an address; return whether it was valid for this address."""
        tokens = [value for name, value in parse_qsl(query) if name == DOWNLOAD_TOKEN_PARAMETER]
        if len(tokens) != 1:
            return False
        address, expires = self._valid.pop(tokens[0], ("", 0.0))
        return address == _address_without_token(path, query) and time.monotonic() < expires


def _address_without_token(path: str, query: str) -> str:
    """Return an address in canonical form, without a download token."""
    parameters = [
        (name, value) for name, value in parse_qsl(query) if name != DOWNLOAD_TOKEN_PARAMETER
    ]
    return f"{path}?{urlencode(parameters)}"


class _Refusal(NamedTuple):
    """Status and text of the response to a request that is refused."""

    status: int
    text: str


class Guard:
    """Check host, origin and token of every request; add security headers to every response.

    The files of the page contain nobody's data and need no token: the browser fetches them before
    the page can send one. A cookie would come with these requests, but browsers would send it to
    every other port of this machine as well.
    """

    def __init__(self, app: ASGIApp, settings: Settings, download_tokens: DownloadTokens) -> None:
        self._app = app
        self._settings = settings
        self._download_tokens = download_tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on to the application, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # the server has no web sockets
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = _header_values(scope)
        refusal = self._check_host_and_origin(scope, headers)
        if refusal is None:
            refusal = self._check_token(scope, headers)
        app = self._app if refusal is None else _refusal_response(refusal)
        await app(scope, receive, _add_security_headers(send))

    def _check_host_and_origin(self, scope: Scope, headers: dict[str, str]) -> _Refusal | None:
        """Return a refusal if a request names another host or comes from another page."""
        if headers.get("host", "").lower() not in self._settings.authorities:
            return _Refusal(421, "This server does not answer to that host name.")
        origin = headers.get("origin")
        if origin is None or origin.lower() in self._settings.origins:
            site = headers.get("sec-fetch-site", "none")
            if site in ("none", "same-origin") or _opens_page(scope, headers):
                return None
        return _Refusal(403, "Requests from other pages are refused.")

    def _check_token(self, scope: Scope, headers: dict[str, str]) -> _Refusal | None:
        """Return a refusal if a request to the API has no valid token."""
        if not scope["path"].startswith("/api/") or self._has_valid_token(headers):
            return None
        query = scope.get("query_string", b"").decode("latin-1")
        if scope["method"] == "GET" and self._download_tokens.redeem(scope["path"], query):
            return None
        return _Refusal(401, NO_TOKEN_MESSAGE)

    def _has_valid_token(self, headers: dict[str, str]) -> bool:
        """Return whether the headers contain the token of the server."""
        scheme, _, token = headers.get("authorization", "").partition(" ")
        received_token = token.strip().encode(errors="replace")
        if scheme.lower() != "bearer":
            return False
        # In constant time: the time of a plain comparison depends on the first wrong character.
        return hmac.compare_digest(received_token, self._settings.token.encode())


def _add_security_headers(send: Send) -> Send:
    """Return a function that sends messages and adds the security headers to responses."""

    async def send_with_headers(message: Message) -> None:
        """Send a message; to the start of a response, add the headers that it lacks."""
        if message["type"] == "http.response.start":
            headers = list(message.get("headers", []))
            names = {name.lower() for name, _ in headers}
            added = [(name, value) for name, value in SECURITY_HEADERS if name not in names]
            message = {**message, "headers": [*headers, *added]}
        await send(message)

    return send_with_headers


def _header_values(scope: Scope) -> dict[str, str]:
    """Return the headers of a request; the values of repeated ones are joined and so invalid."""
    values: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name = raw_name.decode("latin-1").lower()
        value = raw_value.decode("latin-1")
        values[name] = f"{values[name]}, {value}" if name in values else value
    return values


def _opens_page(scope: Scope, headers: dict[str, str]) -> bool:
    """Return whether a person follows a link to a page of this server."""
    is_navigation = headers.get("sec-fetch-mode") == "navigate" and scope["method"] == "GET"
    return is_navigation and not scope["path"].startswith("/api/")


def _refusal_response(refusal: _Refusal) -> ASGIApp:
    """Return the response to a request that is refused."""
    from starlette.responses import PlainTextResponse

    # The connection is closed: otherwise the client would send an upload that nobody reads.
    return PlainTextResponse(f"{refusal.text}\n", refusal.status, {"connection": "close"})


def make_timeout_protocol() -> Any:
    """Return the HTTP protocol class of uvicorn, with a time limit for the head of a request."""
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    class TimeoutProtocol(_RequestHeadTimeout, AutoHTTPProtocol):
        """HTTP with a time limit for the head of a request."""

        pending_timers: ClassVar[dict[_RequestHeadTimeout, asyncio.TimerHandle]] = {}

    return TimeoutProtocol


class _RequestHeadTimeout(asyncio.Protocol):
    """Close a connection whose request has no complete head in time; a mixin for uvicorn.

    Bodies and responses may take any time. Between two requests the time starts with the first byte
    of the second one; before that uvicorn's own ``timeout_keep_alive`` applies.
    """

    #: The timers of all connections without a complete head, the oldest first.
    pending_timers: ClassVar[dict[_RequestHeadTimeout, asyncio.TimerHandle]]
    loop: asyncio.AbstractEventLoop
    transport: asyncio.Transport
    cycle: Any

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the timer of a new connection."""
        super().connection_made(transport)
        self._start_timer()

    def data_received(self, data: bytes) -> None:
        """Start the timer if a request has begun; cancel it if its head is complete."""
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:
            self._start_timer()
        else:
            self._cancel_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timer."""
        self._cancel_timer()
        super().connection_lost(exc)

    def _start_timer(self) -> None:
        """Close the connection after the time limit; of too many, close the oldest now."""
        if self in self.pending_timers or self.transport.is_closing():
            return  # single bytes from time to time do not extend the limit
        if len(self.pending_timers) >= MAX_PENDING_CONNECTIONS:
            oldest = next(iter(self.pending_timers))
            oldest._close_connection()
        self.pending_timers[self] = self.loop.call_later(
            REQUEST_HEAD_TIMEOUT, self._close_connection
        )

    def _cancel_timer(self) -> None:
        """Cancel the timer of this connection, if it has one."""
        timer = self.pending_timers.pop(self, None)
        if timer is not None:
            timer.cancel()

    def _close_connection(self) -> None:
        """Close the connection without a response."""
        # Browsers open connections in advance and would take a response for that to a request.
        self._cancel_timer()
        self.transport.close()
