"""What one server is allowed to do."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
MEGABYTE = 1 << 20


@dataclass(frozen=True)
class Settings:
    """Address, secret and limits of a server.

    Examples
    --------
    >>> from scumble.gui.settings import Settings
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
