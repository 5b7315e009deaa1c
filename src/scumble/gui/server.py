"""Start the server, open the browser, hang up on who never asks, clean up.

uvicorn waits for ever for the head of a request. Whoever reaches the port could hold as many
connections as the process may have, without knowing the token.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any

from scumble._core.errors import ParameterError, ScumbleError
from scumble._core.optional import require
from scumble.gui.guard import LOOPBACK, MEGABYTE, App, Settings
from scumble.gui.worker import Worker

if TYPE_CHECKING:
    from scumble.gui.state import ServerState

#: Tried first, so that the address stays the same from day to day.
PORT = 8707
WILDCARDS = ("0.0.0.0", "::", "")
#: Seconds from the beginning of a connection, or of a further request on it, to its whole head.
PATIENCE = 30.0
#: Connections that may wait for a head at a time; one more pushes out the one that waits longest.
MAX_WAITING = 512


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
    complain: Callable[[str], None] = print,
    worker: Worker | None = None,
    **options: Any,
) -> None:
    """Serve the page until Ctrl-C; a process that can work may have been started before."""
    if host in WILDCARDS and not allow_hosts:
        raise ParameterError(
            f"The address {host!r} means every network this machine is in. Say by which name "
            "browsers will address it, with --allow-host NAME."
        )
    with ExitStack() as stack:
        listener = stack.enter_context(_listen(host, port))
        worker = worker or Worker()
        stack.callback(worker.close)
        settings = Settings(
            port=listener.getsockname()[1],
            hosts=tuple(dict.fromkeys((*LOOPBACK, *_own_name(host), *allow_hosts))),
            max_upload=max_upload_mb * MEGABYTE,
            max_unpacked=max_unpacked_mb * MEGABYTE,
        )
        address = f"http://{_authority(host, allow_hosts)}:{settings.port}/?token={settings.token}"

        def on_start(state: ServerState) -> None:
            state.is_closing = lambda: server.should_exit
            if file is not None:
                state.begin_with(file, options, complain)
            announce(address)
            if open_browser:
                import webbrowser

                # Some browsers keep the caller waiting; the server must not.
                threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

        from scumble.gui.web import create_app

        server = make_server(create_app(settings, on_start, [worker]))
        with suppress(KeyboardInterrupt):  # that is how it is ended, and all is cleaned up by now
            server.run(sockets=[listener])


def make_server(app: App) -> Any:
    """Make the server of an application."""
    uvicorn = require("uvicorn", purpose="scumble gui", extra="gui")
    config = uvicorn.Config(
        app,
        http=impatient_protocol(),
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


def _own_name(host: str) -> tuple[str, ...]:
    if host in WILDCARDS:
        return ()
    return (f"[{host}]" if ":" in host else host.lower(),)


def _authority(host: str, allow_hosts: tuple[str, ...]) -> str:
    return allow_hosts[0] if host in WILDCARDS else _own_name(host)[0]


def impatient_protocol() -> Any:
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
