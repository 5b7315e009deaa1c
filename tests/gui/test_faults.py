"""What goes wrong in a long day: killed servers, silent clients, closed data sets, bombs."""

import asyncio
import gzip
import io
import os
import pickle
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock

import httpx
import numpy as np
import pytest

import scumble
from scumble._core.processes import ChildExitedError
from scumble.gui import folders
from scumble.gui.api.conversion import convert_query
from scumble.gui.api.datasets import _parse_label_indices
from scumble.gui.api.queries import TableQuery
from scumble.gui.folders import (
    PrivateFolder,
    Uploads,
    receive_with_timeout,
    remove_abandoned_folders,
)
from scumble.gui.guard import MEGABYTE, Settings
from scumble.gui.http_messages import RequestError
from scumble.gui.jobs import Job, Jobs
from scumble.gui.server import _listen
from scumble.gui.state import OpenDatasets, ServerState
from scumble.gui.tasks.packing import pack_with_measures
from scumble.gui.worker import Worker
from tests.gui.conftest import PATIENCE, TOKEN, Client, all_busy, asleep, running
from tests.gui.files import BROKEN, CSV, MEKA

SMALL = {"n_instances": 60, "n_labels": 4, "cardinality": 1.5, "mean_ir": 2, "scumble": 0.03}
REMEDIAL = {"steps": [{"method": "remedial"}]}


# How soon it answers


def test_small_answers_are_sent_at_once():
    # asyncio turns Nagle's algorithm off only on sockets that say they speak TCP; otherwise
    # every answer waits 40 ms for an acknowledgement.
    with _listen("127.0.0.1", 0) as listener:
        assert listener.proto == socket.IPPROTO_TCP


def test_the_server_can_answer_before_anything_that_computes_is_imported():
    code = (
        "import sys, uvicorn\n"
        "from scumble.gui import server\n"
        "from scumble.gui.guard import Settings\n"
        "from scumble.cli.gui import _check_exists\n"
        "_check_exists('debtags')\n"
        "server.create_app(Settings(port=1))\n"
        "heavy = {'numpy', 'scipy', 'pandas', 'pyarrow', 'sklearn', 'matplotlib'}\n"
        # Who waits for the page waits neither for the list of public data nor for the calls.
        "later = {'tomllib', 'webbrowser', 'scumble.gui.api.routes'}\n"
        "later |= {'scumble.data.public.repository'}\n"
        "print(sorted((heavy | later) & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_worker_opens_the_first_data_set_without_what_it_does_not_need():
    code = (
        "import sys\n"
        "from scumble.gui.tasks import run\n"
        "end, _ = run.run_task(('open_path', {'name': 'debtags', 'options': {}}), print)\n"
        "needless = {'asyncio', 'scumble.data.preview', 'scumble.gui.folders', 'sklearn'}\n"
        "print(end, sorted(needless & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "done []"


def test_a_dataset_stays_packed_until_its_content_is_used():
    data = scumble.make_multilabel(**SMALL, random_state=0)
    packed = pickle.loads(pickle.dumps(pack_with_measures(data), 5))  # as the server receives it
    assert packed.metadata == {
        "name": data.name,
        "n_instances": 60,
        "n_features": 20,
        "n_labels": 4,
    }
    assert packed.overview["summary"] == scumble.characterize(data).to_dict()
    assert not packed.is_unpickled
    assert packed.data == data
    assert packed.summary.to_dict() == scumble.characterize(data).to_dict()
    assert packed.is_unpickled
    # Not twice in memory: the arrays use the memory of the received buffers.
    buffers = [np.frombuffer(buffer, np.uint8) for buffer in packed._buffers if len(buffer)]
    assert any(np.shares_memory(packed.data.X, buffer) for buffer in buffers)
    kind, arguments = packed.__reduce__()
    assert kind(*arguments).data == data


def test_waiting_for_a_job_ends_with_the_job(client, server, monkeypatch):
    over = client.job(client.post("/examples/synthetic", json=SMALL))
    assert over["state"] == "done"
    waits = []
    monkeypatch.setattr(server.state.jobs.get(over["id"]), "wait", waits.append)
    again = client.get(f"/jobs/{over['id']}", params={"wait": 30}).json()
    assert again == over
    assert waits == []  # what is over is not waited for
    assert client.get(f"/jobs/{over['id']}", params={"wait": 31}).status_code == 422
    client.delete(f"/datasets/{over['result']['dataset']['id']}")


# What a client may say


@pytest.mark.parametrize("text", ["0" * 12 + "9" * 5000, "0" * 13, "1" * 13, "٣", "²", "", "+1"])
def test_odd_numbers_are_refused(text):
    with pytest.raises(RequestError, match="whole number"):
        convert_query({"offset": text}, TableQuery)


def test_too_many_labels_are_refused_and_not_cut_short():
    with pytest.raises(RequestError, match="at most 2,000"):
        _parse_label_indices(",".join(["100000000"] * 2500), 10**9)
    assert len(_parse_label_indices(",".join(["100000000"] * 2000), 10**9)) == 2000


def test_on_port_80_browsers_leave_the_port_out():
    assert "localhost" in Settings(port=80).authorities
    assert "http://127.0.0.1" in Settings(port=80).origins
    assert "localhost" not in Settings(port=8080).authorities


# Data sets that are closed while something is made of them


def treat(client, name):
    return client.post(f"/datasets/{name}/treatments", json=REMEDIAL)


def test_a_name_is_not_given_to_another_while_something_made_of_it_is_open(client):
    first = client.open(("twins.arff", MEKA.replace("photos", "twins").encode()))["id"]
    treated = client.result(treat(client, first))["dataset"]
    assert treated["parent"] == first == "twins"
    client.delete(f"/datasets/{first}")
    # Two labels instead of three: compared with the treated one it would make no sense.
    second = client.open(("twins.csv", CSV.encode()), labels=-2)["id"]
    assert second != first
    result = client.get(f"/datasets/{treated['id']}/before-and-after")
    assert result.status_code == 200
    assert result.json()["labels"] == []  # the first is gone
    client.delete(f"/datasets/{treated['id']}")
    client.delete(f"/datasets/{second}")
    assert client.open(("twins.arff", MEKA.replace("photos", "twins").encode()))["id"] == "twins"
    client.delete("/datasets/twins")


def test_waiting_ends_as_soon_as_the_job_does():
    async def main():
        job = Job("1", "a job")
        waiting = asyncio.ensure_future(job.wait(10**6))
        await asyncio.sleep(0)
        assert not waiting.done()
        job.set_final_state("done")
        await waiting
        await job.wait(10**6)  # and does not begin where there is nothing to wait for

    asyncio.run(main())


def test_a_data_set_closed_during_its_treatment_is_not_a_parent(client, server):
    name = client.open(("brief.arff", MEKA.encode()))["id"]
    with all_busy(server, client):
        job = treat(client, name)  # queued behind them
        assert client.delete(f"/datasets/{name}").status_code == 204
    result = client.result(job)["dataset"]
    assert result["parent"] is None
    assert result["n_labels"] == 3
    assert client.get(f"/datasets/{result['id']}/before-and-after").json()["labels"] == []
    client.delete(f"/datasets/{result['id']}")


def test_two_tabs_treat_the_same_data_at_the_same_time(client, debtags):
    jobs = [treat(client, debtags), treat(client, debtags)]
    results = [client.result(job)["dataset"] for job in jobs]
    assert results[0]["id"] != results[1]["id"]
    first, second = (client.get(f"/datasets/{dataset['id']}").json() for dataset in results)
    assert first["summary"] == second["summary"]
    for dataset in results:
        client.delete(f"/datasets/{dataset['id']}")


def test_the_limit_of_open_data_sets_holds_when_work_finishes():
    datasets = OpenDatasets(1)
    data = scumble.make_multilabel(**SMALL, random_state=0)
    datasets.add(pack_with_measures(data), "first")
    with pytest.raises(RequestError, match="Close one first"):
        datasets.add(pack_with_measures(data), "second")


# Work that ends badly


def test_a_cancelled_export_leaves_nothing_behind(client, server, debtags):
    before = set((server.state.folder / "files").iterdir())
    with all_busy(server, client):
        queued = client.post(f"/datasets/{debtags}/exports", json={"format": "csv"})
        client.delete(f"/jobs/{queued.json()['id']}")
    assert client.job(queued)["state"] == "cancelled"
    with asleep(server, client):
        running = client.post(f"/datasets/{debtags}/exports", json={"format": "csv"})
        client.delete(f"/jobs/{client.until_running(running)}")
    assert client.job(running)["state"] == "cancelled"
    until = time.monotonic() + PATIENCE
    while set((server.state.folder / "files").iterdir()) != before:  # its process has to end first
        assert time.monotonic() < until, "a folder is left"
        time.sleep(0.05)


def test_warnings_of_a_reader_reach_the_overview(client):
    latin = MEKA.replace("heron", "h\xe9ron").encode("latin-1")
    result = client.open(("old.arff", latin))
    [note] = client.get(f"/datasets/{result['id']}").json()["dataset"]["notes"]
    assert note.startswith("old.arff, line 4: the file is not UTF-8 and was read as Latin-1.")
    client.delete(f"/datasets/{result['id']}")


def test_an_answer_that_cannot_be_understood_ends_the_worker():
    worker = Worker()
    worker._out.close()
    worker._out = io.BytesIO(b"no pickle at all")
    with pytest.raises(ChildExitedError):
        worker.run("describe_catalogue", {}, lambda *_: None)
    assert not worker.is_alive
    worker.close()


def test_a_killed_worker_is_not_used_again():
    worker = Worker()
    assert worker.is_alive
    worker.kill()
    assert not worker.is_alive
    worker.kill()  # twice does no harm
    worker.close()


def test_a_job_whose_result_cannot_be_kept_fails_instead_of_running_for_ever(capfd):
    def finish(result, notes):
        raise ZeroDivisionError

    async def main():
        jobs = Jobs(1)
        try:
            job = jobs.submit("odd", "describe_catalogue", {}, finish)
            await job.wait(PATIENCE)
            return job
        finally:
            await jobs.close()

    job = asyncio.run(main())
    assert (job.state, job.error) == (
        "failed",
        "An internal error occurred; the terminal shows the details.",
    )
    assert "ZeroDivisionError" in capfd.readouterr().err


def test_a_job_that_cannot_be_sent_fails_instead_of_running_for_ever(capfd):
    async def main():
        jobs = Jobs(1)
        try:
            job = jobs.submit("odd", "describe_catalogue", {"lock": Lock()}, lambda *_: {})
            await asyncio.wait([job._task], timeout=PATIENCE)
            next_one = jobs.submit("fine", "describe_catalogue", {}, lambda *_: {})
            await next_one.wait(PATIENCE)
            return job.state, next_one.state
        finally:
            await jobs.close()

    assert asyncio.run(main()) == ("failed", "done")
    assert "cannot pickle" in capfd.readouterr().err


def test_a_job_for_which_no_process_can_be_started_fails(monkeypatch):
    def refuse(*_, **__):
        raise BlockingIOError(11, "Resource temporarily unavailable")

    async def main():
        jobs = Jobs(1)
        try:
            job = jobs.submit("odd", "describe_catalogue", {}, lambda *_: {})
            await asyncio.wait([job._task], timeout=PATIENCE)
            return job.state, job.error
        finally:
            await jobs.close()

    monkeypatch.setattr(subprocess, "Popen", refuse)
    state, error = asyncio.run(main())
    assert state == "failed"
    assert "Resource temporarily unavailable" in error


def test_the_pipes_of_a_worker_that_died_idle_are_closed():
    dead = Worker()

    async def main():
        jobs = Jobs(1, [dead])
        dead.kill()
        dead.describe_exit()
        try:
            await jobs.submit("fine", "describe_catalogue", {}, lambda *_: {}).wait(PATIENCE)
        finally:
            await jobs.close()

    asyncio.run(main())
    assert dead._in.closed


def test_a_file_named_on_the_command_line_that_cannot_be_read_is_told_of(tmp_path):
    path = tmp_path / "broken.csv"
    path.write_text("a,b\n1\n")
    with running(path, tmp_path) as (base, headers, _):
        until = time.monotonic() + PATIENCE
        while True:
            about = httpx.get(f"{base}/api/v1/about", headers=headers, timeout=PATIENCE)
            job = about.json()["first_job"]
            if job["state"] == "failed":
                break
            assert time.monotonic() < until
            time.sleep(0.05)
        assert "broken.csv" in job["error"]


# Files


def parquet_of(n_rows, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    piece = pa.array(np.zeros(1_000_000, np.int8))
    column = pa.chunked_array([piece] * (n_rows // 1_000_000))
    pq.write_table(pa.table({"a": column, "label:x": column}), tmp_path / "bomb.parquet")
    return (tmp_path / "bomb.parquet").read_bytes()


def arrow_of(n_rows, tmp_path):
    import pyarrow as pa

    piece = pa.record_batch({"a": np.zeros(1_000_000), "label:x": np.zeros(1_000_000)})
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    path = tmp_path / "bomb.arrow"
    with pa.ipc.new_file(str(path), piece.schema, options=options) as out:
        for _ in range(n_rows // 1_000_000):
            out.write_batch(piece)
    return path.read_bytes()


@pytest.mark.parametrize("make", [parquet_of, arrow_of])
def test_a_bomb_inside_a_column_format_does_not_go_off(client, tmp_path, make):
    content = make(20_000_000, tmp_path)
    assert len(content) < 300_000
    name = f"bomb.{make.__name__.partition('_')[0]}"
    upload = client.upload(name, content).json()
    job = client.job(client.post("/datasets", json={"uploads": [upload["id"]]}))
    assert job["state"] == "failed"
    assert job["error"].startswith(f"{name}: the file has more than 8 MB when decompressed")


@pytest.mark.parametrize("content", [BROKEN.encode(), b"@relation bomb\n" + b"%" * (30 << 20)])
def test_nothing_unpacked_is_left_of_a_file_that_is_refused(client, server, content):
    upload = client.upload("refused.arff.gz", gzip.compress(content)).json()["id"]
    folder = server.state.folder / "uploads" / upload
    for _ in range(2):  # the second time as well
        assert client.job(open_upload(client, upload))["state"] == "failed"
        wait_until(lambda: [path.name for path in folder.iterdir()] == ["data.arff.gz"])
    assert client.delete(f"/uploads/{upload}").status_code == 204
    assert not folder.exists()
    assert client.delete(f"/uploads/{upload}").status_code == 404
    assert open_upload(client, upload).status_code == 404


def test_nothing_is_left_of_a_file_that_is_dismissed_while_it_is_read(client, server):
    upload = client.upload("photos.arff.gz", gzip.compress(MEKA.encode())).json()["id"]
    folder = server.state.folder / "uploads" / upload
    with asleep(server, client):
        job = open_upload(client, upload)
        number = client.until_running(job)
    client.delete(f"/uploads/{upload}")
    assert not folder.exists()
    folder.mkdir()  # as if the process had just made it once more
    (folder / "partial").write_bytes(b"half of it")
    client.delete(f"/jobs/{number}")
    wait_until(lambda: not folder.exists())


def wait_until(is_so):
    until = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.01)


def open_upload(client, upload):
    return client.post("/datasets", json={"uploads": [upload], "labels": -1})


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on the size of files")
def test_a_full_disk_bombs_slow_and_silent_connections_and_sixty_senders_at_once(tmp_path):
    """No file may have more than 1 MB, as on a disk with no more room."""
    import resource

    def fill_disk():
        resource.setrlimit(resource.RLIMIT_FSIZE, (MEGABYTE, MEGABYTE))

    path = tmp_path / "films.csv"
    path.write_text("minutes,label:war,label:love\n90,1,0\n150,1,1\n")
    large = MEKA.encode() + b"%" * (3 * MEGABYTE)
    bomb = gzip.compress(b"@relation bomb\n" + b"%" * (30 << 20))
    with running(path, tmp_path, preexec_fn=fill_disk) as (base, headers, process):
        port = int(base.rpartition(":")[2])
        silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(15)]
        for connection in silent:
            connection.sendall(
                f"POST /api/v1/uploads?name=a.csv HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
                f"Authorization: {headers['authorization']}\r\n"
                "Content-Length: 1000\r\n\r\nsome bytes".encode()
            )
        mute = [socket.create_connection(("127.0.0.1", port)) for _ in range(15)]
        for connection in mute:
            connection.sendall(b"POST /api/v1/upl")

        free_places = threading.Semaphore(20)  # 24 data sets may be open

        def slowly():
            for start in range(0, len(MEKA), 16):
                time.sleep(0.02)
                yield MEKA[start : start + 16].encode()

        def send(number):
            name, content = (
                ("a.arff", MEKA.encode()),
                ("b.arff", large),
                ("c.arff.gz", bomb),
                ("d.arff", slowly()),
            )[number % 4]
            address = f"{base}/api/v1"
            with Client(base_url=address, headers=headers, timeout=PATIENCE) as client:
                sent = client.upload(name, content)
                if sent.status_code != 201:
                    return sent.status_code, sent.json()["error"]
                with free_places:
                    job = client.job(
                        client.post("/datasets", json={"uploads": [sent.json()["id"]]})
                    )
                    if job["state"] == "done":
                        client.delete(f"/datasets/{job['result']['dataset']['id']}")
                client.delete(f"/uploads/{sent.json()['id']}")
                return job["state"], job["error"]

        with ThreadPoolExecutor(60) as crowd:
            answers = list(crowd.map(send, range(60)))
        disk_full = (
            f"The disk of {tmp_path} is full. No part of this was kept. Free some space, or start "
            "the server with TMPDIR set to a folder on a larger disk."
        )
        assert (
            answers
            == [("done", None), (507, disk_full), ("failed", disk_full), ("done", None)] * 15
        )
        for connection in (*silent, *mute):
            connection.close()
        with Client(base_url=f"{base}/api/v1", headers=headers, timeout=PATIENCE) as client:
            name = client.open(("last.arff", MEKA.encode()))["id"]
            assert client.get(f"/datasets/{name}").json()["summary"]["n_labels"] == 3
            for body in ({"format": "csv"}, {"kind": "report", "format": "json"}):
                client.download(name, **body)
        [folder] = tmp_path.glob("scumble-gui-*/uploads")
        wait_until(lambda: not list(folder.iterdir()))  # the silent ones have hung up
        assert process.poll() is None


def test_a_sender_who_falls_silent_is_given_up(server, monkeypatch):
    monkeypatch.setattr(folders, "TRANSFER_TIMEOUT", 0.2)
    before = set((server.state.folder / "uploads").iterdir())
    request = (
        f"POST /api/v1/uploads?name=a.csv HTTP/1.1\r\nHost: 127.0.0.1:{server.settings.port}\r\n"
        f"Authorization: Bearer {TOKEN}\r\nContent-Length: 1000\r\n\r\nsome bytes"
    )
    with socket.create_connection(("127.0.0.1", server.settings.port)) as slow:
        slow.settimeout(PATIENCE)
        slow.sendall(request.encode())
        assert slow.recv(4096).startswith(b"HTTP/1.1 408")
    assert set((server.state.folder / "uploads").iterdir()) == before
    assert server.state.uploads._transfer_slots._value == folders.MAX_CONCURRENT_UPLOADS


def test_clients_wait_for_a_transfer_slot(tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "MAX_CONCURRENT_UPLOADS", 2)
    options = {"declared_size": None, "suffixes": frozenset()}

    async def send_when(may_finish):
        yield b"x"
        await may_finish.wait()

    async def main():
        box, may_finish = Uploads(tmp_path, 100), asyncio.Event()

        def send():
            return asyncio.ensure_future(box.store("a", send_when(may_finish), **options))

        receiving, waiting = [send(), send()], send()
        while len(list(tmp_path.glob("*/data"))) < 2:  # until all have read how patient to be
            await asyncio.sleep(0.01)
        with monkeypatch.context() as hurry:
            hurry.setattr(folders, "TRANSFER_TIMEOUT", 0.01)
            with pytest.raises(RequestError, match="Too many files") as caught:
                await send()
        assert not waiting.done()
        assert len(list(tmp_path.iterdir())) == 2
        may_finish.set()
        return caught.value.status, [(await upload).size for upload in (*receiving, waiting)]

    assert asyncio.run(main()) == (503, [1, 1, 1])


def test_a_body_that_falls_silent_is_given_up():
    async def silent():
        yield b"a"
        await asyncio.sleep(60)

    async def main():
        pieces = receive_with_timeout(silent(), 0.05)
        first = await anext(pieces)
        with pytest.raises(RequestError, match="transfer stopped") as caught:
            await anext(pieces)
        return first, caught.value.status

    assert asyncio.run(main()) == (b"a", 408)


def test_an_upload_that_is_being_read_is_not_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "MAX_UPLOADS", 2)

    async def once(content):
        yield content

    async def main():
        box = Uploads(tmp_path, 100)
        options = {"declared_size": None, "suffixes": frozenset()}
        stored = [(await box.store(f"{name}", once(b"x"), **options)).id for name in range(2)]
        release = box.reserve([stored[0]], is_last=False)
        stored += [(await box.store(f"{name}", once(b"x"), **options)).id for name in (2, 3)]
        return stored, {path.name for path in tmp_path.iterdir()}, box, options, release

    stored, left, box, options, release = asyncio.run(main())
    assert left == {stored[0], stored[2], stored[3]}
    release(None)

    async def large():
        monkeypatch.setattr(folders, "MAX_UPLOADS_SIZE_RATIO", 1)
        return (await box.store("large", once(b"x" * 99), **options)).id

    assert asyncio.run(large()) in {path.name for path in tmp_path.iterdir()}
    assert sum(path.stat().st_size for path in tmp_path.glob("*/data")) <= 100


def test_unfetched_downloads_stay_longer_than_fetched_ones(tmp_path, monkeypatch):
    monkeypatch.setattr(folders.tempfile, "tempdir", str(tmp_path))
    state = ServerState(Settings(port=1))

    def offered():
        folder = state.files.new_folder()
        (folder / "a.csv").write_text(folder.name)
        return state.files.offer(folder.name, "a.csv")["file"]

    first = [offered() for _ in range(50)]
    assert [state.files.fetch(number).content.read_text() for number in first] == first
    last = offered()  # now the older ones make room
    assert {path.name for path in (state.folder / "files").iterdir()} == {*first[-12:], last}
    with pytest.raises(RequestError, match="Create it again"):
        state.files.fetch(first[0])
    later = [offered() for _ in range(64)]
    with pytest.raises(RequestError, match="Create it again"):
        state.files.fetch(last)
    assert state.files.fetch(later[0]).content.exists()
    asyncio.run(state.close())


# Servers that were killed


def test_the_folder_of_a_killed_server_is_removed_by_the_next(tmp_path):
    path = tmp_path / "films.csv"
    path.write_text("minutes,label:war,label:love\n90,1,0\n150,1,1\n")
    with running(path, tmp_path) as (_, _, process):
        process.kill()
        process.wait()
        [left] = tmp_path.glob("scumble-gui-*")
        os.utime(left, (0, 0))  # it is older than a server takes to begin
    with running(path, tmp_path):
        [folder] = tmp_path.glob("scumble-gui-*")
        assert folder != left
    assert list(tmp_path.glob("scumble-gui-*")) == []


def test_folders_in_use_young_ones_and_those_of_others_stay(tmp_path, monkeypatch):
    monkeypatch.setattr(folders.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(folders, "LOCK_GRACE_SECONDS", 10**6)  # young for longer than this takes
    used, left, young = PrivateFolder(), PrivateFolder(), PrivateFolder()
    (left.path / "uploads").mkdir()
    (left.path / "uploads" / "data").write_text("secret")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "lock").touch()
    (tmp_path / "scumble-gui-link").symlink_to(outside)
    (tmp_path / "scumble-gui-file").write_text("no folder")
    (tmp_path / "scumble-gui-alien").mkdir()  # without a lock: not made by us
    for folder in (left, young):
        folders.fcntl.flock(folder._remover.peek()[2][1], folders.fcntl.LOCK_UN)
    for path in (used.path, left.path, tmp_path / "scumble-gui-alien"):
        os.utime(path, (0, 0))
    assert remove_abandoned_folders() == 1
    assert {path.name for path in tmp_path.glob("scumble-gui-*")} == {
        used.path.name,
        young.path.name,
        "scumble-gui-link",
        "scumble-gui-file",
        "scumble-gui-alien",
    }
    assert Path(outside / "lock").exists()
    for folder in (used, left, young):
        folder.remove()
    assert not used.path.exists()


# Many at once


def test_fifty_clients_open_look_and_close_at_once(server, client):
    before = {dataset["id"] for dataset in client.get("/datasets").json()["datasets"]}
    headers = {"authorization": f"Bearer {TOKEN}"}

    def visit(number):
        label = f"own{number}"
        content = MEKA.replace("heron", label).replace("photos", f"crowd{number}").encode()
        with Client(
            base_url=f"{server.address}/api/v1", headers=headers, timeout=PATIENCE
        ) as client:
            name = client.open((f"crowd{number}.arff", content))["id"]
            rows = client.get(f"/datasets/{name}/labels", params={"sort": "label"}).json()["rows"]
            chord = client.get(f"/datasets/{name}/chord").json()
            assert client.delete(f"/datasets/{name}").status_code == 204
        return label in {row["name"] for row in rows}, len(chord["arcs"])

    with ThreadPoolExecutor(50) as crowd:
        assert list(crowd.map(visit, range(50))) == [(True, 3)] * 50
    assert {dataset["id"] for dataset in client.get("/datasets").json()["datasets"]} == before
