"""Connections that never get round to asking: given up, so that they cannot use up all there are.

uvicorn waits for ever for the head of a request. Whoever reaches the port could hold as many
connections as the process may have, without knowing the token.
"""

from __future__ import annotations

import asyncio
from typing import Any

#: Seconds from the beginning of a connection, or of a further request on it, to its whole head.
PATIENCE = 30.0
#: Connections that may wait for a head at a time; one more pushes out the one that waits longest.
MAX_WAITING = 512


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
