"""Workers keep data sets and are asked by key; a data set is pickled once."""

import pickle
from collections import Counter, deque

import numpy as np
import pytest

import scumble
from scumble.data import MultilabelDataset
from scumble.gui.packed_dataset import DatasetReference, HeldDatasets, PackedDataset
from scumble.gui.tasks import run
from scumble.gui.worker import Task, Worker
from tests.gui.conftest import PATIENCE

#: Large enough that its size shows in the size of a message.
OPTIONS = {"n_instances": 2000, "n_labels": 6, "n_features": 20, "random_state": 0}
#: More bytes than a request without a data set has.
SMALL_REQUEST = 20_000
REMEDIAL = [{"method": "remedial", "parameters": {}}]


class LocalWorker(Worker):
    """A worker in this process; its messages are pickled as for a pipe."""

    def __init__(self):
        self.request_sizes = []
        self._messages = deque()

    def send(self, request):
        pickled = pickle.dumps(request, protocol=5)
        self.request_sizes.append(len(pickled))
        last_message = run.handle_request(pickle.loads(pickled), self._store_message)
        self._store_message(last_message)

    def _store_message(self, message):
        self._messages.append(pickle.dumps(message, protocol=5))

    def receive(self):
        return pickle.loads(self._messages.popleft())

    def result(self, task, **arguments):
        """Run a task and return its result without the warnings."""
        return self.run(task, arguments, lambda *_: None)[0]


@pytest.fixture
def worker(monkeypatch):
    monkeypatch.setattr(run, "HELD_DATASETS", HeldDatasets())
    return LocalWorker()


@pytest.fixture
def n_pickled(monkeypatch):
    """How often data sets were pickled in this process, by their number of instances."""
    counts = Counter()
    reduce_ex = MultilabelDataset.__reduce_ex__

    def count(self, protocol):
        counts[self.n_instances] += 1
        return reduce_ex(self, protocol)

    monkeypatch.setattr(MultilabelDataset, "__reduce_ex__", count)
    return counts


def use(worker, packed, tmp_path):
    """Run a treatment, an export and an advice on a data set; return the resampled data set."""
    treated, _ = worker.result(Task.TREAT, packed=packed, steps=REMEDIAL)
    written = {"folder": tmp_path, "stem": "a", "format_name": "csv", "compression": ""}
    worker.result(Task.EXPORT_DATA, packed=packed, **written)
    advice = {"source": "a.csv", "options": {}, "budget": 0.1, "random_state": 0}
    worker.result(Task.ADVISE, packed=packed, **advice)
    return treated


def test_from_opening_to_advice_a_data_set_is_pickled_once(worker, n_pickled, tmp_path):
    packed = worker.result(Task.OPEN_NAMED, name="synthetic", options=OPTIONS)
    assert packed.data.n_instances == 2000  # the server shows a table
    treated = use(worker, packed, tmp_path)
    assert n_pickled == {2000: 1, treated.metadata["n_instances"]: 1}
    assert packed.n_bytes > 10 * SMALL_REQUEST
    assert max(worker.request_sizes) < SMALL_REQUEST  # and never sent to its worker


def test_another_worker_gets_the_bytes_once_and_pickles_nothing(
    worker, n_pickled, tmp_path, monkeypatch
):
    packed = worker.result(Task.OPEN_NAMED, name="synthetic", options=OPTIONS)
    expected = use(worker, packed, tmp_path)
    n_pickled.clear()
    monkeypatch.setattr(run, "HELD_DATASETS", HeldDatasets())  # as in a new process
    other_worker = LocalWorker()
    treated = use(other_worker, packed, tmp_path)
    assert treated.data == expected.data
    assert n_pickled == {treated.metadata["n_instances"]: 1}
    n_large = sum(size > SMALL_REQUEST for size in other_worker.request_sizes)
    assert (n_large, len(other_worker.request_sizes)) == (1, 4)


def test_a_worker_keeps_what_it_used_last_within_its_limit():
    held = HeldDatasets(max_bytes=20)
    for key in ("first", "second"):
        held.add(PackedDataset(key, {}, {}, b"x" * 10, []))
    held.use("first")
    held.add(PackedDataset("third", {}, {}, b"x", [np.zeros(9, np.uint8)]))
    assert [key for key in ("first", "second", "third") if key in held] == ["first", "third"]
    held.add(PackedDataset("large", {}, {}, b"x" * 100, []))
    assert [key for key in ("first", "third", "large") if key in held] == ["first", "third"]


def test_a_data_set_that_is_too_large_to_keep_is_sent_with_every_task(
    worker, n_pickled, tmp_path, monkeypatch
):
    packed = worker.result(Task.OPEN_NAMED, name="synthetic", options=OPTIONS)
    monkeypatch.setattr(run, "HELD_DATASETS", HeldDatasets(max_bytes=1))
    n_pickled.clear()
    treated = use(worker, packed, tmp_path)
    assert n_pickled == {treated.metadata["n_instances"]: 1}  # bytes are handed on
    n_large = sum(size > SMALL_REQUEST for size in worker.request_sizes)
    assert n_large == 3  # a treatment, an export and an advice


def is_held(worker, packed):
    """Return whether a worker process has a data set; it is given a task that fails at once."""
    worker.send((Task.TREAT, {"packed": DatasetReference(packed.key), "steps": "none"}))
    while True:
        kind, *_ = worker.receive()
        if kind in ("failed", "missing"):
            return kind == "failed"


def test_closing_a_data_set_frees_it_in_the_workers(client, server, capfd):
    options = {"n_instances": 60, "n_labels": 4, "cardinality": 1.5, "mean_ir": 2, "scumble": 0.03}
    dataset_id = client.result(client.post("/examples/synthetic", json=options))["dataset"]["id"]
    packed = server.state.datasets.get(dataset_id).packed
    worker = server.state.jobs._idle[-1]
    assert is_held(worker, packed)
    client.delete(f"/datasets/{dataset_id}")
    assert not is_held(worker, packed)


def test_a_killed_worker_loses_nothing(client, server):
    name = client.open(("photos.csv", b"a,b,sky,sea\n1,2,1,0\n3,4,1,1\n5,6,0,1\n"), labels=-2)["id"]
    before = client.get(f"/datasets/{name}").json()
    for worker in server.state.jobs._idle:
        worker.kill()
        worker._process.wait(timeout=PATIENCE)
    assert client.get(f"/datasets/{name}").json() == before
    result = client.result(client.post(f"/datasets/{name}/treatments", json={"steps": REMEDIAL}))
    assert result["dataset"]["parent"] == name
    filename, content = client.download(name, format="csv")
    assert (filename, content.count(b"\n")) == ("photos.csv", 4)
    for dataset_id in (name, result["dataset"]["id"]):
        client.delete(f"/datasets/{dataset_id}")


def test_a_received_data_set_is_that_of_the_library():
    data = scumble.make_multilabel(**OPTIONS)
    packed = PackedDataset.pack({}, (data, scumble.characterize(data), None))
    received = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(packed, 5)), 5))
    assert received.data == data
    assert received.n_bytes == packed.n_bytes


def test_every_task_has_a_function():
    assert set(run.TASK_FUNCTIONS) == set(Task)
