"""Tickets: addresses that a browser may fetch once without the token, to save a file.

A browser that saves a file sends no header of ours. So the page, which knows the token, asks for
an address that works for one file, once, and not for long.
"""

from __future__ import annotations

import time
from secrets import token_urlsafe
from urllib.parse import parse_qsl, urlencode

#: Seconds in which a ticket must be used.
LIFETIME = 60.0
#: Tickets that are valid at a time; more push out the oldest.
KEPT = 256
#: What a ticket is called in an address.
KEY = "ticket"


class Tickets:
    """Tickets that were given out and not used.

    Examples
    --------
    >>> from scumble.gui.tickets import Tickets
    >>> tickets = Tickets()
    >>> path, _, query = tickets.give("/files/a").partition("?")
    >>> tickets.take(path, query), tickets.take(path, query)
    (True, False)
    """

    def __init__(self) -> None:
        self._valid: dict[str, tuple[str, float]] = {}

    def give(self, address: str) -> str:
        """Make an address that can be fetched once."""
        path, _, query = address.partition("?")
        ticket = token_urlsafe(24)
        self._valid[ticket] = (_canonical(path, query), time.monotonic() + LIFETIME)
        for old in list(self._valid)[:-KEPT]:
            del self._valid[old]
        return f"{path}?{urlencode([*parse_qsl(query), (KEY, ticket)])}"

    def take(self, path: str, query: str) -> bool:
        """Use up the ticket in an address; whether it was one for this address."""
        given = [value for key, value in parse_qsl(query) if key == KEY]
        if len(given) != 1:
            return False
        address, until = self._valid.pop(given[0], ("", 0.0))
        return address == _canonical(path, query) and time.monotonic() < until


def _canonical(path: str, query: str) -> str:
    return f"{path}?{urlencode([pair for pair in parse_qsl(query) if pair[0] != KEY])}"
