"""Download of files whose size and checksum are known."""

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

#: Seconds without an answer of the server after which a download fails.
TIMEOUT = 30.0
#: Average rate, in bytes per second, below which a download fails, so that a server that sends
#: single bytes cannot make it last for ever.
MIN_BYTES_PER_SECOND = 4096
#: Bytes that are read from the network at a time: few, so that the rate is checked often.
BLOCK_BYTES = 1 << 16
#: Whether http://127.0.0.1 is allowed. Only tests set it, to serve files on this machine; any other
#: download requires TLS.
allow_loopback_http = False


def download(
    address: str, path: Path, *, size: int, sha256: str, timeout: float | None = None
) -> None:
    """Download ``address`` to ``path``; raise DownloadError unless size and checksum match.

    ``timeout`` is in seconds, by default `TIMEOUT`. Raise WriteError if ``path`` cannot be written.
    The file is complete when it appears, so several processes may download the same file at the
    same time, and a failed download leaves nothing behind.
    """
    _check_is_secure(address)
    blocks = _received_blocks(address, size, TIMEOUT if timeout is None else timeout)
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
        # On Windows another process may have the file open, which then has been downloaded already.
        if path.is_file() and checksum(path) == sha256:
            return
        if not isinstance(error, WriteError):
            error = WriteError(f"{path}: cannot be written: {error.strerror or error}.")
        raise WriteError(f"{error} Set SCUMBLE_CACHE to a folder with room for it.") from error


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


class _SecureRedirects(urllib.request.HTTPRedirectHandler):
    """Handler of redirections that follows them only to addresses with TLS."""

    def redirect_request(
        self, req: Any, fp: Any, code: Any, msg: Any, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        """Return the redirected request; raise DownloadError for an address without TLS."""
        _check_is_secure(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _check_is_secure(address: str) -> None:
    """Raise DownloadError unless the address begins with ``https://``.

    While `allow_loopback_http` is set, ``http://127.0.0.1`` is accepted, too.
    """
    parts = urlsplit(address)
    is_test_server = (
        allow_loopback_http and parts.scheme == "http" and parts.hostname == "127.0.0.1"
    )
    if parts.scheme != "https" and not is_test_server:
        raise DownloadError(f"{address}: only addresses with https:// are fetched.")


def _open_address(address: str, timeout: float) -> Any:
    """Return the response of an address by HTTP or HTTPS; ``timeout`` is in seconds.

    Unlike with `urllib.request.urlopen`, other protocols and local files are not supported.
    """
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


def _received_blocks(address: str, size: int, timeout: float) -> Generator[bytes, None, None]:
    """Download a file and yield it in blocks; show a progress bar.

    Raise DownloadError if the server fails, is too slow, or sends other than ``size`` bytes.
    """
    n_received = 0
    deadline = time.monotonic() + timeout + size / MIN_BYTES_PER_SECOND
    with (
        _translate_network_errors(address, timeout),
        _open_address(address, timeout) as response,
        progress_bar(f"Fetching {address.rpartition('/')[2]}", size) as advance,
    ):
        content_length = response.headers.get("Content-Length", "")
        if content_length.isdigit() and int(content_length) > size:
            raise _too_large_error(address, size)
        while block := response.read1(BLOCK_BYTES):
            n_received += len(block)
            if n_received > size:
                raise _too_large_error(address, size)
            if time.monotonic() > deadline:
                raise TimeoutError
            yield block
            advance(len(block))
    if n_received < size:
        raise DownloadError(
            f"{address}: the file was cut short: {n_received} bytes came, expected {size}. Try "
            "again."
        )


def _too_large_error(address: str, size: int) -> DownloadError:
    """Return the error for a file of more than ``size`` bytes."""
    return DownloadError(
        f"{address}: the file is larger than the {size} bytes expected. It was not kept."
    )


@contextmanager
def _translate_network_errors(address: str, timeout: float) -> Iterator[None]:
    """Turn exceptions of urllib and sockets within the ``with`` block into DownloadError."""
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
