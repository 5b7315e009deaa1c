"""The door of the server: who may come in, and what answers may do in a browser.

Plain ASGI, so that nothing, not even an error page, gets past it.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from scumble.gui.settings import Settings
from scumble.gui.tickets import Tickets

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

#: Nothing but our own files; no markup from strings at all (Trusted Types), so that a label
#: called ``<img ...>`` could not become an element even by mistake.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
)
NO_TOKEN = (
    "This address needs its token. Open the address that 'scumble gui' printed when it started; "
    "scripts send it as 'Authorization: Bearer TOKEN'."
)


class Guard:
    """Check Host, Origin and token of every request; put security headers on every answer.

    The files of the page say nothing about anybody's data and need no token: the browser fetches
    them before the page can send one. A cookie would go along, but to every other port of this
    machine as well.
    """

    def __init__(self, app: App, settings: Settings, tickets: Tickets) -> None:
        self._app, self._settings, self._tickets = app, settings, tickets

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
        guarded = _with_headers(send)
        if refusal is not None:
            await _refuse(guarded, *refusal)
            return
        await self._app(scope, receive, guarded)

    def _foreign(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        """Refuse what was not addressed to us, or was sent by a page that is not ours."""
        if headers.get("host", "").lower() not in self._settings.authorities:
            return 421, "This server does not answer to that host name."
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in self._settings.origins:
            return 403, "Requests from other pages are refused."
        site = headers.get("sec-fetch-site", "none")
        if site not in ("none", "same-origin") and not _opens_page(scope, headers):
            return 403, "Requests from other pages are refused."
        return None

    def _unknown(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        """Refuse who asks the API and does not know the token."""
        if not scope["path"].startswith("/api/") or self._is_token(_bearer(headers)):
            return None
        query = scope.get("query_string", b"").decode("latin-1")
        if scope["method"] == "GET" and self._tickets.take(scope["path"], query):
            return None
        return 401, NO_TOKEN

    def _is_token(self, text: str | None) -> bool:
        return text is not None and hmac.compare_digest(
            text.encode(errors="replace"), self._settings.token.encode()
        )


def _with_headers(send: Send) -> Send:
    """Add our headers to an answer."""

    async def send_guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = {name.lower() for name, _ in message.get("headers", [])}
            added = [pair for pair in HEADERS if pair[0] not in own]
            if b"cache-control" not in own:
                added.append((b"cache-control", b"no-store"))
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


def _bearer(headers: dict[str, str]) -> str | None:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


async def _refuse(send: Send, status: int, text: str) -> None:
    body = f"{text}\n".encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),  # an upload nobody reads would otherwise follow
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
