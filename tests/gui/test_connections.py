"""Connections that never ask, and those that only take their time."""

import socket
import threading
import time
from contextlib import contextmanager

import pytest

from scumble.gui import guard
from scumble.gui.server import _listen, make_server
from tests.gui.conftest import PATIENCE

REQUEST = b"GET /quick HTTP/1.1\r\nhost: x\r\n\r\n"
#: Longer than the little patience of these tests.
LONG = 1.0


async def app(scope, receive, send):
    """Answer with the length of the body; /slow takes its time."""
    if scope["type"] == "lifespan":
        for step in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{step}.complete"})
        return
    n_bytes, more = 0, True
    while more:
        message = await receive()
        n_bytes, more = n_bytes + len(message.get("body", b"")), message.get("more_body", False)
    if scope["path"] == "/slow":
        await guard.asyncio.sleep(LONG)
    text = f"{n_bytes} bytes".encode()
    length = (b"content-length", str(len(text)).encode())
    await send({"type": "http.response.start", "status": 200, "headers": [length]})
    await send({"type": "http.response.body", "body": text})


@pytest.fixture
def server(monkeypatch):
    """Address and waiting connections of a server."""
    monkeypatch.setattr(guard, "REQUEST_HEAD_TIMEOUT", PATIENCE)
    listener = _listen("127.0.0.1", 0)
    result = make_server(app)
    thread = threading.Thread(target=result.run, kwargs={"sockets": [listener]})
    thread.start()
    while not result.started:
        assert thread.is_alive()
        time.sleep(0.01)
    try:
        yield listener.getsockname(), result.config.http_protocol_class.pending_timers
    finally:
        result.should_exit = True
        thread.join()
        listener.close()


@contextmanager
def little_patience():
    """Be impatient with those who begin to wait in here; not with a client that is only slow."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(guard, "REQUEST_HEAD_TIMEOUT", 0.2)
        yield


@contextmanager
def connected(server):
    with socket.create_connection(server[0], timeout=PATIENCE) as client:
        yield client


def answer(client):
    """Read one answer; empty where the server hung up."""
    result = b""
    while not result.endswith(b" bytes"):
        block = client.recv(4096)
        if not block:
            return result
        result += block
    return result.rpartition(b"\r\n\r\n")[2]


def test_only_connections_without_a_request_are_closed(server):
    with connected(server) as honest:
        honest.sendall(REQUEST)
        assert answer(honest) == b"0 bytes"
        assert server[1] == {}  # its request is complete
        with little_patience(), connected(server) as silent:
            assert silent.recv(1) == b""  # the end, not an answer
        honest.sendall(REQUEST)
        assert answer(honest) == b"0 bytes"
    assert server[1] == {}


def test_a_byte_now_and_then_buys_no_time(server):
    with little_patience(), connected(server) as trickling:
        began = time.monotonic()
        trickling.settimeout(0.05)
        while time.monotonic() - began < PATIENCE:
            try:
                trickling.sendall(b"G")
                if trickling.recv(1) == b"":
                    break
            except TimeoutError:
                continue
            except ConnectionError:  # the connection was closed in the meantime
                break
        else:
            pytest.fail("still connected")


def test_the_head_of_a_second_request_must_end_as_well(server):
    with connected(server) as client:
        client.sendall(REQUEST)
        assert answer(client) == b"0 bytes"
        with little_patience():
            client.sendall(REQUEST[:10])
            assert answer(client) == b""


def test_an_idle_connection_is_kept_after_an_answer(server):
    with connected(server) as client:
        for _ in range(2):
            client.sendall(REQUEST)
            assert answer(client) == b"0 bytes"
            assert server[1] == {}
            with little_patience():
                time.sleep(LONG)
            assert server[1] == {}
        client.sendall(REQUEST[:10])
        client.sendall(REQUEST[10:])
        assert answer(client) == b"0 bytes"


def test_slow_answers_and_slow_bodies_are_waited_for(server):
    with connected(server) as patient, connected(server) as sender:
        patient.sendall(REQUEST.replace(b"quick", b"slow"))
        sender.sendall(b"POST /quick HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n")
        with little_patience():
            for _ in range(10):
                time.sleep(LONG / 10)
                sender.sendall(b"x")
        assert answer(sender) == b"10 bytes"
        assert answer(patient) == b"0 bytes"


def test_too_many_that_wait_push_out_the_one_that_waits_longest(server, monkeypatch):
    monkeypatch.setattr(guard, "MAX_PENDING_CONNECTIONS", 3)
    clients = []
    try:
        for index in range(5):
            clients.append(socket.create_connection(server[0], timeout=PATIENCE))
            while len(server[1]) < min(index + 1, 3):
                time.sleep(0.01)
        assert [client.recv(1) for client in clients[:2]] == [b"", b""]
        for client in clients[2:]:
            client.sendall(REQUEST)
            assert answer(client) == b"0 bytes"
        assert server[1] == {}
    finally:
        for client in clients:
            client.close()
