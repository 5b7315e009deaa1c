"""A server for tests, and a client that knows its token."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from scumble.gui.guard import MEGABYTE, Settings
from scumble.gui.worker import Worker

httpx = pytest.importorskip("httpx", reason="pip install 'scumble[dev]'")
pytest.importorskip("uvicorn", reason="pip install 'scumble[gui]'")

TOKEN = "a-token-for-tests"
#: Seconds after which something hangs rather than being slow, on however busy a machine.
PATIENCE = 600.0


@dataclass
class Running:
    """A server in a thread."""

    settings: Settings
    state: Any

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.settings.port}"


class Client(httpx.Client):
    """A client of the API that can wait for jobs."""

    def job(self, response: Any, *, patience: float = PATIENCE) -> dict[str, Any]:
        """Wait for the job of a response and return its final description."""
        assert response.status_code == 202, response.text
        job: dict[str, Any] = response.json()
        until = time.monotonic() + patience
        while job["state"] in ("queued", "running"):
            assert time.monotonic() < until, job
            job = self.get(f"/jobs/{job['id']}", params={"wait": 2}).json()
        return job

    def result(self, response: Any) -> dict[str, Any]:
        """Wait for the job of a response and return its result."""
        job = self.job(response)
        assert job["state"] == "done", job["error"]
        result: dict[str, Any] = job["result"]
        return result

    def until_running(self, response: Any) -> str:
        """Wait until the job of a response has a process; return its id."""
        number: str = response.json()["id"]
        until = time.monotonic() + PATIENCE
        while (state := self.get(f"/jobs/{number}").json()["state"]) == "queued":
            assert time.monotonic() < until
            time.sleep(0.01)
        assert state == "running"
        return number

    def upload(self, name: str, content: bytes) -> Any:
        """Send a file and return the response."""
        return self.post("/uploads", params={"name": name}, content=content)

    def open(self, *files: tuple[str, bytes], **options: Any) -> dict[str, Any]:
        """Send files, open them as a data set and return its description."""
        uploads = [self.upload(*file).json()["id"] for file in files]
        job = self.job(self.post("/datasets", json={"uploads": uploads, **options}))
        assert job["state"] == "done", job["error"]
        dataset: dict[str, Any] = job["result"]["dataset"]
        return dataset

    def download(self, dataset: str, **body: Any) -> tuple[str, bytes]:
        """Export a data set and return the name and the content of the file."""
        file = self.result(self.post(f"/datasets/{dataset}/exports", json=body))
        response = self.get(f"/files/{file['file']}")
        assert len(response.content) == file["size"]
        return file["name"], response.content


def serve_in_thread(**limits: Any) -> Iterator[Running]:
    """Run a server in a thread until the generator is resumed."""
    from scumble.gui.server import _listen, create_app, make_server

    listener = _listen("127.0.0.1", 0)
    settings = Settings(port=listener.getsockname()[1], token=TOKEN, **limits)
    states: list[Any] = []
    server = make_server(create_app(settings, states.append))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    try:
        yield Running(settings, states[0])
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


@pytest.fixture(scope="session")
def server() -> Iterator[Running]:
    """One server for all tests of this process."""
    # Enough for the data sets that tests leave open, and for fifty clients at once.
    yield from serve_in_thread(max_upload=2 * MEGABYTE, max_unpacked=8 * MEGABYTE, max_open=200)


@pytest.fixture(scope="session")
def client(server: Running) -> Iterator[Client]:
    """A client of it; all its requests and responses are compared with the OpenAPI document."""
    headers = {"authorization": f"Bearer {TOKEN}"}
    address = f"{server.address}/api/v1"
    hooks = {"response": [check_described]}
    with Client(base_url=address, headers=headers, timeout=PATIENCE, event_hooks=hooks) as client:
        yield client


def check_described(response: Any) -> None:
    """Compare a response, and the request if it was not refused, with the OpenAPI document."""
    from scumble.gui.api.routes import ROUTES, openapi_document
    from tests.gui.test_api import check

    request = response.request
    path = request.url.path.removeprefix("/api/v1")
    where = f"{request.method} {path}"
    for route in ROUTES:
        pattern = re.sub(r"{\w+}", "[^/]+", route.path.replace(".", r"\."))
        if route.method == request.method and re.fullmatch(pattern, path):
            break
    else:
        assert response.status_code in (404, 405), where
        return
    operation = openapi_document()["paths"][route.path][route.method.lower()]
    described = operation["responses"].get(str(response.status_code))
    assert described is not None, f"{where}: {response.status_code}"
    content = described.get("content", {})
    media_type = response.headers.get("content-type", "").partition(";")[0]
    if "application/json" in content:
        assert media_type == "application/json", where
        response.read()
        check(response.json(), content["application/json"]["schema"], where)
    is_json_body = "application/json" in operation.get("requestBody", {}).get("content", {})
    if response.is_success and is_json_body and request.content:
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        check(json.loads(request.content), schema, where)


@pytest.fixture(scope="session")
def debtags(client: Client) -> str:
    """The embedded data set, open."""
    name: str = client.result(client.post("/examples/debtags"))["dataset"]["id"]
    return name


@contextmanager
def asleep(server: Running, client: Client) -> Iterator[None]:
    """Give the jobs that begin in here processes that never do anything.

    Such a job runs until it is ended. A large piece of work would be done some day, perhaps just
    while the test is kept from going on.
    """

    def take_worker() -> Worker:
        worker = Worker()
        worker._process.send_signal(signal.SIGSTOP)
        return worker

    client.get("/catalogue")  # it is made by a job, too
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server.state.jobs, "_take_worker", take_worker)
        yield


@contextmanager
def workers_asleep(process: Any) -> Iterator[list[Any]]:
    """Stop the processes that a server has for heavy work, also those it starts in here."""
    psutil = pytest.importorskip("psutil", reason="pip install 'scumble[cluster]'")
    server, stopped, over = psutil.Process(process.pid), [], threading.Event()
    command = server.cmdline()

    def has_begun(worker: Any) -> bool:
        """Whether it runs a program of its own; until then the server waits for it to begin."""
        return bool(worker.cmdline() != command)

    def stop_new() -> None:
        for worker in server.children():
            if worker not in stopped:
                with suppress(psutil.NoSuchProcess):
                    if has_begun(worker):
                        worker.suspend()
                        stopped.append(worker)

    def watch() -> None:
        while not over.wait(0.01):  # importing takes a worker longer than this
            with suppress(psutil.NoSuchProcess):
                stop_new()

    stop_new()
    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield stopped
    finally:
        over.set()
        watching.join()
        for worker in stopped:
            with suppress(psutil.NoSuchProcess):
                worker.resume()


@contextmanager
def all_busy(server: Running, client: Client) -> Iterator[list[Any]]:
    """Occupy all processes with jobs that never end; yield the responses with these jobs."""
    n_workers = server.settings.n_workers
    with asleep(server, client):
        held = [client.post("/examples/synthetic") for _ in range(n_workers)]
        numbers = [client.until_running(response) for response in held]
    try:
        yield held
    finally:
        for number in numbers:
            client.delete(f"/jobs/{number}")


@contextmanager
def running(
    path: Path, folder: Path, *words: str, **more: Any
) -> Iterator[tuple[str, dict[str, str], Any]]:
    """Run ``scumble gui`` with arguments; yield its address, headers to send, and the process."""
    command = [sys.executable, "-m", "scumble", "gui", str(path), "--no-browser", "--port", "0"]
    with subprocess.Popen(
        [*command, *words],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(folder), "PYTHONUNBUFFERED": "1"},
        **more,
    ) as process:
        try:
            base, _, token = re.search(r"http://\S+", process.stdout.readline())[0].partition(
                "/?token="
            )
            yield base, {"authorization": f"Bearer {token}"}, process
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=PATIENCE)


def with_token(base: str, headers: dict[str, str]) -> str:
    """Return the address that a server prints, from what `running` yields."""
    return f"{base}/?token={headers['authorization'].removeprefix('Bearer ')}"


@pytest.fixture(scope="module")
def refusals() -> tuple[str, ...]:
    """How errors begin that the tests of a file provoke."""
    return ()


@pytest.fixture
def open_page(
    browser: Any, address: str, refusals: tuple[str, ...]
) -> Iterator[Callable[..., Any]]:
    """Make pages; afterwards: no error in any of them, and no request to anyone else.

    ``address`` is a fixture of the file: where its server is, with the token, and with a data set
    whose numbers a page shows. ``other_address`` is another one, whatever it shows.
    """
    contexts: list[Any] = []
    servers: set[str] = set()
    requests: list[str] = []
    errors: list[str] = []

    def make(other_address: str | None = None, **options: Any) -> Any:
        servers.add((other_address or address).partition("/?")[0])
        context = browser.new_context(**options)
        contexts.append(context)
        context.set_default_timeout(1000 * PATIENCE)
        context.on("request", lambda request: requests.append(request.url))
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: message.type == "error" and errors.append(message.text))
        page.goto(other_address or address)
        if other_address is None:
            page.wait_for_url("**/overview")
            page.wait_for_selector("[data-measure=scumble]")
        page.wait_for_selector("main h1")
        return page

    yield make
    for context in contexts:
        context.close()
    prefixes = tuple(f"{scheme}{base}/" for base in servers for scheme in ("", "blob:"))
    assert [url for url in requests if not url.startswith(prefixes)] == []
    assert [error for error in errors if not error.startswith(refusals)] == []


@pytest.fixture
def page(open_page: Callable[..., Any]) -> Any:
    """A page of its own."""
    return open_page()
