"""The door of the server: who may come in, with a token or a ticket, and what answers may do there.

Plain ASGI, so that nothing, not even an error page, gets past it. Before the door nobody waits for
long: uvicorn waits for ever for the head of a request, and whoever reaches the port could hold as
many connections as the process may have, without knowing the token.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import time
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
ASGIApp = Callable[[Scope, Receive, Send], Awaitable[None]]

#: Nothing but our own files; no markup from strings at all (Trusted Types), so that a label
#: called ``<img ...>`` could not become an element even by mistake.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS = (
    (b"content-security-policy", CONTENT_SECURITY_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
    (b"cache-control", b"no-store"),
)
NO_TOKEN = (
    "This address needs its token. Open the address that 'scumble gui' printed when it started; "
    "scripts send it as 'Authorization: Bearer TOKEN'."
)

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
MEGABYTE = 1 << 20
#: Seconds in which a ticket must be used.
LIFETIME = 60.0
#: Tickets that are valid at a time; more push out the oldest.
KEPT = 256
#: What a ticket is called in an address.
KEY = "ticket"
#: Seconds from the beginning of a connection, or of a further request on it, to its whole head.
PATIENCE = 30.0
#: Connections that may wait for a head at a time; one more pushes out the one that waits longest.
MAX_WAITING = 512


@dataclass(frozen=True)
class Settings:
    """Address, secret and limits of a server.

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
        """Values of the ``Host`` header that are answered."""
        named = tuple(f"{host}:{self.port}" for host in self.hosts)
        return (*named, *self.hosts) if self.port == 80 else named  # browsers leave it out

    @property
    def origins(self) -> tuple[str, ...]:
        """Values of the ``Origin`` header that are answered."""
        return tuple(f"http://{authority}" for authority in self.authorities)


class DownloadTokens:
    """Addresses that a browser may fetch once without the token, to save a file.

    A browser that saves a file sends no header of ours. So the page, which knows the token, asks
    for an address that works for one file, once, and not for long.

    Examples
    --------
    >>> from scumble.gui.guard import DownloadTokens
    >>> tickets = DownloadTokens()
    >>> path, _, query = tickets.issue("/files/a").partition("?")
    >>> tickets.redeem(path, query), tickets.redeem(path, query)
    (True, False)
    """

    def __init__(self) -> None:
        self._valid: dict[str, tuple[str, float]] = {}

    def issue(self, address: str) -> str:
        """Make an address that can be fetched once."""
        path, _, query = address.partition("?")
        ticket = secrets.token_urlsafe(24)
        self._valid[ticket] = (_canonical(path, query), time.monotonic() + LIFETIME)
        for old in list(self._valid)[:-KEPT]:
            del self._valid[old]
        return f"{path}?{urlencode([*parse_qsl(query), (KEY, ticket)])}"

    def redeem(self, path: str, query: str) -> bool:
        """Use up the ticket in an address; whether it was one for this address."""
        given = [value for key, value in parse_qsl(query) if key == KEY]
        if len(given) != 1:
            return False
        address, until = self._valid.pop(given[0], ("", 0.0))
        return address == _canonical(path, query) and time.monotonic() < until


def _canonical(path: str, query: str) -> str:
    return f"{path}?{urlencode([pair for pair in parse_qsl(query) if pair[0] != KEY])}"


class Guard:
    """Check Host, Origin and token of every request; put security headers on every answer.

    The files of the page say nothing about anybody's data and need no token: the browser fetches
    them before the page can send one. A cookie would go along, but to every other port of this
    machine as well.
    """

    def __init__(self, app: ASGIApp, settings: Settings, download_tokens: DownloadTokens) -> None:
        self._app, self._settings, self._tickets = app, settings, download_tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one connection."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # we speak no web sockets
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = _headers(scope)
        refusal = self._foreign(scope, headers) or self._unknown(scope, headers)
        app = self._app if refusal is None else _refused(*refusal)
        await app(scope, receive, _with_headers(send))

    def _foreign(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        """Refuse what was not addressed to us, or was sent by a page that is not ours."""
        if headers.get("host", "").lower() not in self._settings.authorities:
            return 421, "This server does not answer to that host name."
        origin, site = headers.get("origin"), headers.get("sec-fetch-site", "none")
        is_ours = origin is None or origin.lower() in self._settings.origins
        if is_ours and (site in ("none", "same-origin") or _opens_page(scope, headers)):
            return None
        return 403, "Requests from other pages are refused."

    def _unknown(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        """Refuse who asks the API and does not know the token."""
        if not scope["path"].startswith("/api/") or self._knows_token(headers):
            return None
        query = scope.get("query_string", b"").decode("latin-1")
        if scope["method"] == "GET" and self._tickets.redeem(scope["path"], query):
            return None
        return 401, NO_TOKEN

    def _knows_token(self, headers: dict[str, str]) -> bool:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        given, own = token.strip().encode(errors="replace"), self._settings.token.encode()
        return scheme.lower() == "bearer" and hmac.compare_digest(given, own)


def _with_headers(send: Send) -> Send:
    """Add our headers to an answer."""

    async def send_guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = {name.lower() for name, _ in message.get("headers", [])}
            added = [pair for pair in HEADERS if pair[0] not in own]
            message = {**message, "headers": [*message.get("headers", []), *added]}
        await send(message)

    return send_guarded


def _headers(scope: Scope) -> dict[str, str]:
    """Read the headers; one that comes twice matches nothing."""
    found: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        found[key] = text if key not in found else f"{found[key]}, {text}"
    return found


def _opens_page(scope: Scope, headers: dict[str, str]) -> bool:
    """Tell whether a person follows a link to one of our pages."""
    is_navigation = headers.get("sec-fetch-mode") == "navigate" and scope["method"] == "GET"
    return is_navigation and not scope["path"].startswith("/api/")


def _refused(status: int, text: str) -> ASGIApp:
    """Make the answer to who may not come in."""
    from starlette.responses import PlainTextResponse

    # Without an end to the connection an upload that nobody reads would follow.
    return PlainTextResponse(f"{text}\n", status, {"connection": "close"})


def make_timeout_protocol() -> Any:
    """Make the class by which uvicorn speaks HTTP, with an end to its patience."""
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    return type("ImpatientProtocol", (_Impatience, AutoHTTPProtocol), {"waiting": {}})


class _Impatience(asyncio.Protocol):
    """Hang up on who does not ask; put before one of uvicorn's protocols.

    Bodies and answers are none of its business: only the time in which nothing is asked counts,
    and between two requests only from the first byte of the second, before which uvicorn's own
    ``timeout_keep_alive`` runs.
    """

    waiting: dict[_Impatience, asyncio.TimerHandle]  # the longest waiting first
    loop: asyncio.AbstractEventLoop
    transport: asyncio.Transport
    cycle: Any

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:
            self._wait_for_head()
        else:
            self._wait_no_more()

    def connection_lost(self, exc: Exception | None) -> None:
        self._wait_no_more()
        super().connection_lost(exc)

    def _wait_for_head(self) -> None:
        if self in self.waiting or self.transport.is_closing():
            return  # a byte now and then buys no time
        if len(self.waiting) >= MAX_WAITING:
            next(iter(self.waiting))._hang_up()
        self.waiting[self] = self.loop.call_later(PATIENCE, self._hang_up)

    def _wait_no_more(self) -> None:
        timer = self.waiting.pop(self, None)
        if timer is not None:
            timer.cancel()

    def _hang_up(self) -> None:
        # Without a word: browsers open connections in advance, and would take it for an answer.
        self._wait_no_more()
        self.transport.close()
