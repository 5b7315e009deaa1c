"""Fetch a file whose size and checksum are known: whole and right, or not at all."""

import hashlib
import http.client
import time
import urllib.error
import urllib.request
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from scumble._core.errors import DownloadError, WriteError
from scumble._core.files import atomic_write
from scumble._core.progress import progress_bar
from scumble._core.version import __version__

#: Seconds a server may keep silent.
TIMEOUT = 30.0
#: Bytes a second below which a download is given up.
SLOWEST = 4096
BLOCK = 1 << 16
#: Tests set it to serve files on this machine; nothing else may be fetched without TLS.
allow_loopback_http = False


def download(
    address: str, path: Path, *, size: int, sha256: str, timeout: float | None = None
) -> None:
    """Fetch ``address`` into ``path`` if it is exactly the file that was promised."""
    # It appears whole or not at all, so several processes may fetch the same file at once, and a
    # broken download leaves nothing behind.
    _refuse_insecure(address)
    blocks = _received(address, size, TIMEOUT if timeout is None else timeout)
    digest = hashlib.sha256()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as target, target.open(path) as file, closing(blocks):
            for block in blocks:
                digest.update(block)
                file.write(block)
            if digest.hexdigest() != sha256:
                raise DownloadError(
                    f"{address}: the file is not the expected one: its SHA-256 is "
                    f"{digest.hexdigest()}, expected {sha256}. It may have been changed at its "
                    "source; it was not kept."
                )
    except (OSError, WriteError) as error:
        # Windows: someone may have the same file open. Then it is there, which is what we want.
        if path.is_file() and checksum(path) == sha256:
            return
        if not isinstance(error, WriteError):
            error = WriteError(f"{path}: cannot be written: {error.strerror or error}.")
        raise WriteError(f"{error} Set SCUMBLE_CACHE to a folder with room for it.") from error


def checksum(path: Path) -> str:
    """Compute the SHA-256 of a file."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


class _SecureRedirects(urllib.request.HTTPRedirectHandler):
    """Follow redirections, but not out of TLS."""

    def redirect_request(
        self, req: Any, fp: Any, code: Any, msg: Any, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        """Refuse an address without TLS."""
        _refuse_insecure(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _refuse_insecure(address: str) -> None:
    parts = urlsplit(address)
    local = allow_loopback_http and parts.scheme == "http" and parts.hostname == "127.0.0.1"
    if parts.scheme != "https" and not local:
        raise DownloadError(f"{address}: only addresses with https:// are fetched.")


def _open(address: str, timeout: float) -> Any:
    """Open an address with no other protocols than those of the web, and no local files."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler({} if allow_loopback_http else None),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        _SecureRedirects(),
    ):
        opener.add_handler(handler)
    request = urllib.request.Request(address, headers={"User-Agent": f"scumble/{__version__}"})
    return opener.open(request, timeout=timeout)


def _received(address: str, size: int, timeout: float) -> Generator[bytes, None, None]:
    """Receive ``size`` bytes, block by block; more or fewer are refused."""
    received = 0
    give_up_at = time.monotonic() + timeout + size / SLOWEST
    with (
        _network_errors(address, timeout),
        _open(address, timeout) as response,
        progress_bar(f"Fetching {address.rpartition('/')[2]}", size) as advance,
    ):
        announced = response.headers.get("Content-Length", "")
        if announced.isdigit() and int(announced) > size:
            raise _too_large(address, size)
        while block := response.read1(BLOCK):
            received += len(block)
            if received > size:
                raise _too_large(address, size)
            if time.monotonic() > give_up_at:
                raise TimeoutError
            yield block
            advance(len(block))
    if received < size:
        raise DownloadError(
            f"{address}: the file was cut short: {received} bytes came, expected {size}. Try again."
        )


def _too_large(address: str, size: int) -> DownloadError:
    return DownloadError(
        f"{address}: the file is larger than the {size} bytes expected. It was not kept."
    )


@contextmanager
def _network_errors(address: str, timeout: float) -> Iterator[None]:
    try:
        yield
    except urllib.error.HTTPError as error:
        error.close()
        raise DownloadError(f"{address}: the server answers {error.code} {error.reason}.") from None
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        if isinstance(reason, TimeoutError):
            message = f"the server was silent for {timeout:g} seconds, or too slow. Try again."
        else:
            message = f"the server cannot be reached or broke off ({reason}). Are you online?"
        raise DownloadError(f"{address}: {message}") from error
