"""Advice, methods side by side, proofs, models and predictions, as a client gets them."""

import csv
import errno
import io
import math
import signal
import time
import zipfile

import pytest

import scumble
from scumble.advice import CANDIDATES, advise
from scumble.advice.candidates import CandidateRunner
from scumble.advice.evidence import best_resampler_in_evidence, method_evidence, treatment_sentences
from scumble.evaluate import compare
from scumble.gui import folders, jobs, tasks
from scumble.gui.methods import make_model
from scumble.gui.state import LatestJobs
from scumble.gui.studies import format_recipe
from scumble.learn import load, predict_dataset, read_model
from scumble.report.treatment import resampler_comparison
from scumble.resample import REMEDIAL, compare_methods
from tests.gui.conftest import PATIENCE, all_busy, asleep
from tests.gui.test_api import check

SMALL = {
    "n_instances": 160,
    "n_labels": 6,
    "n_features": 8,
    "mean_ir": 5,
    "scumble": 0.1,
    "random_state": 3,
}


def schema(name):
    return {"$ref": f"#/components/schemas/{name}"}


@pytest.fixture(scope="module")
def photos(client):
    """A small data set, open."""
    name: str = client.result(client.post("/examples/synthetic", json=SMALL))["dataset"]["id"]
    return name


@pytest.fixture(scope="module")
def data(server, photos):
    return server.state.datasets.get(photos).packed.data


@pytest.fixture(scope="module")
def advice(client, photos):
    wish = {"budget": None, "random_state": 1}
    return client.result(client.post(f"/datasets/{photos}/advice", json=wish))


@pytest.fixture(scope="module")
def proof(client, photos):
    wish = {
        "classifiers": [
            {"classifier": "br"},
            {"classifier": "mlknn", "parameters": {"n_neighbors": 3}},
        ],
        "treatments": [[{"method": "remedial", "parameters": {"one_sided": "keep"}}]],
        "repeats": 1,
        "folds": 3,
        "random_state": 2,
    }
    return client.result(client.post(f"/datasets/{photos}/proof", json=wish))


@pytest.fixture(scope="module")
def model(client, photos, proof):
    wish = {**proof["recipes"][2], "random_state": 5}
    return client.result(client.post(f"/datasets/{photos}/models", json=wish))


# Advise


def without_times(advice):
    methods = [{**one, "seconds": 0} for one in advice["methods"]]
    return {**advice, "methods": methods, "shell": "", "python": []}


def test_the_advice_is_the_librarys_with_the_users_file(client, photos, data, advice):
    expected = advise(data, budget=None, random_state=1).to_dict()
    assert without_times(advice) == without_times(expected)
    assert advice["shell"] == expected["shell"].replace("DATA", "synthetic.arff").replace(
        "MODEL", "synthetic.model"
    )
    assert "data = scumble.read('synthetic.arff')" in advice["python"]
    _, saved = client.download(photos, kind="data", format="mulan")
    assert "synthetic.arff" in zipfile.ZipFile(io.BytesIO(saved)).namelist()
    check(advice, schema("Advice"))
    latest = client.get(f"/datasets/{photos}/advice").json()["job"]
    assert (latest["state"], latest["result"]) == ("done", advice)


def test_the_advice_can_be_had_as_a_page(client, photos, advice):
    found = client.result(client.post(f"/datasets/{photos}/advice/page"))
    page = client.get(f"/files/{found['file']}").text
    assert found["name"] == "synthetic-advice.html"
    assert all(sentence in page for sentence in advice["sentences"]["What helps here"])


def test_the_overview_speaks_by_the_advice_once_there_is_one(client, photos, advice):
    told = client.get(f"/datasets/{photos}").json()
    assert told["advice"] == advice["sentences"]["What helps here"]
    other = client.result(client.post("/examples/synthetic", json=SMALL))["dataset"]["id"]
    before = client.get(f"/datasets/{other}").json()
    assert before["advice"] is None
    general = treatment_sentences(before["summary"]["scumble"])
    assert set(general) < set(before["verdict"])
    assert told["verdict"] == [each for each in before["verdict"] if each not in general]
    assert client.post(f"/datasets/{other}/advice/page").status_code == 409


def stop_by_message(monkeypatch):
    """Stop when the second method is told of, while that message is on its way."""
    told = []

    def tell(message):
        told.append(message)
        if len([each for each in told if each[2]]) == 2:
            signal.raise_signal(signal.SIGINT)
            told.append("sent")

    return tell, 2


def stop_in_the_midst(monkeypatch):
    """Stop while the fourth method is being tried."""
    asked, run = [], CandidateRunner.run

    def try_some(*given):
        asked.append(given)
        if len(asked) == 4:
            signal.raise_signal(signal.SIGINT)
        return run(*given)

    monkeypatch.setattr(CandidateRunner, "run", try_some)
    return lambda message: None, 3


@pytest.mark.parametrize("stop", [stop_by_message, stop_in_the_midst])
def test_advice_that_is_stopped_tells_of_the_methods_it_has_judged(
    data, server, photos, advice, monkeypatch, stop
):
    monkeypatch.setattr(tasks, "BEAT", 0)
    tell, n_judged = stop(monkeypatch)
    before = signal.getsignal(signal.SIGINT)
    packed = server.state.datasets.get(photos).packed
    wish = {"packed": packed, "source": "a.csv", "options": {}, "budget": None, "random_state": 1}
    end, (found, notes) = tasks.answer(("studies.advise_on", wish), tell)
    assert (end, found["interrupted"], notes) == ("done", True, [])
    assert len(found["methods"]) == n_judged
    whole = {one["name"]: one["expected"] for one in advice["methods"]}
    assert all(one["expected"] == whole[one["name"]] for one in found["methods"])
    assert signal.getsignal(signal.SIGINT) is before


def test_advice_that_is_stopped_before_it_knows_anything_has_nothing_to_tell(
    server, photos, monkeypatch
):
    def stop(*given, **more):
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(CandidateRunner, "run", stop)
    packed = server.state.datasets.get(photos).packed
    wish = {"packed": packed, "source": "a.csv", "options": {}, "budget": None, "random_state": 1}
    assert tasks.answer(("studies.advise_on", wish), lambda message: None) == ("stopped", None)


def test_a_cancelled_advice_is_shown_as_far_as_it_came(client, server, monkeypatch):
    monkeypatch.setattr(jobs, "GRACE", PATIENCE)
    wish = {**SMALL, "n_instances": 600}
    name = client.result(client.post("/examples/synthetic", json=wish))["dataset"]["id"]
    started = client.post(f"/datasets/{name}/advice", json={"budget": None})
    number, until = started.json()["id"], time.monotonic() + PATIENCE
    while not client.get(f"/jobs/{number}").json()["progress"].get("done"):
        assert time.monotonic() < until
    worker = server.state.jobs.get(number)._worker
    stopping = client.delete(f"/jobs/{number}").json()
    assert (stopping["state"], stopping["progress"]["title"]) == ("running", "Stopping")
    found = client.result(started)
    assert found["interrupted"]
    assert 1 <= len(found["methods"]) < len(CANDIDATES)
    assert (
        "The evaluation was stopped before all methods were evaluated."
        in found["sentences"]["How sure this is"]
    )
    check(found, schema("Advice"))
    assert client.get(f"/datasets/{name}/advice").json()["job"]["result"] == found
    assert worker.is_alive  # and takes the next task
    client.delete(f"/datasets/{name}")


@pytest.mark.parametrize("grace", [0, PATIENCE])
def test_advice_that_does_not_stop_is_ended(client, server, photos, monkeypatch, grace):
    monkeypatch.setattr(jobs, "GRACE", grace)
    with asleep(server, client):
        started = client.post(f"/datasets/{photos}/advice", json={})
        number = client.until_running(started)
    job = server.state.jobs.get(number)
    worker, job.has_begun = job._worker, True
    assert client.delete(f"/jobs/{number}").json()["progress"]["title"] == "Stopping"
    if grace:  # who does not want to wait says so again
        assert client.delete(f"/jobs/{number}").json()["state"] == "cancelled"
    assert client.job(started)["state"] == "cancelled"
    worker._process.wait(timeout=PATIENCE)


# Compare


def test_methods_side_by_side_are_the_librarys(client, photos, data):
    wish = [
        {"method": "remedial"},
        {"method": "mlros", "parameters": {"percent": 50, "random_state": 0}},
    ]
    found = client.result(client.post(f"/datasets/{photos}/methods", json={"methods": wish}))
    chains = {
        "remedial": [REMEDIAL()],
        "mlros(percent=50,random_state=0)": [scumble.resample.MLROS(percent=50, random_state=0)],
    }
    expected = resampler_comparison(compare_methods(data, chains))
    for one in (*found["methods"], *expected["methods"]):
        one["seconds"] = 0
    assert {key: found[key] for key in expected} == expected
    assert found["chains"]["mlros(percent=50,random_state=0)"] == [wish[1]]
    check(found, schema("SideBySide"))
    latest = client.get(f"/datasets/{photos}/methods").json()["job"]["result"]
    assert latest["verdict"] == found["verdict"]


def test_without_a_wish_all_methods_are_run_and_the_advised_one_has_its_reason(client, data):
    wish = {**SMALL, "n_instances": 60}
    name = client.result(client.post("/examples/synthetic", json=wish))["dataset"]["id"]
    found = client.result(client.post(f"/datasets/{name}/methods"))
    known = {method["name"] for method in client.get("/catalogue").json()["methods"]}
    assert {one["method"] for one in found["methods"]} == known
    summary = client.get(f"/datasets/{name}").json()["summary"]
    method, reason = best_resampler_in_evidence(summary["scumble"])
    assert found["advised"] == {"method": method, "reason": reason, "measured_here": False}


def test_what_was_measured_on_this_data_counts_more_than_public_data(client, photos, advice):
    wish = {"methods": [{"method": "remedial"}]}
    advised = client.result(client.post(f"/datasets/{photos}/methods", json=wish))["advised"]
    gains = {
        one["name"].removeprefix("br after "): one["gain"]["value"]
        for one in advice["methods"]
        if one["family"] == "resampling"
    }
    best = max(gains, key=gains.get)
    assert advised["method"] == best
    assert advised["measured_here"] is True
    assert f"changed by {gains[best]:+.3f}" in advised["reason"]


def test_the_advised_resampler_has_the_best_record():
    for scumble_value, concurrent in ((0.3, True), (0.02, False)):
        name, reason = best_resampler_in_evidence(scumble_value)
        changes = {
            each: method_evidence(f"br after {each}", concurrent=concurrent).change
            for each in ("remedial", "mlsmote", "mlros")
        }
        assert name == max(changes, key=changes.get)
        assert f"{changes[name]:+.3f} on average" in reason


# Prove


def test_the_proof_is_the_librarys(client, photos, data, proof):
    expected = compare(
        data,
        {"br": "br", "mlknn(n_neighbors=3)": scumble.learn.MLkNN(n_neighbors=3)},
        {"none": None, "remedial(one_sided=keep)": REMEDIAL(one_sided="keep")},
        folds="1x3",
        random_state=2,
    )
    plain = expected.to_dict()
    for key in ("baseline", "best", "differences", "verdicts", "metrics", "optimism"):
        assert proof[key] == plain[key], key
    assert [one["means"] for one in proof["methods"]] == [one["means"] for one in plain["methods"]]
    assert proof["metrics"] == ["all.macro_f1", "minority.macro_f1", "micro_f1"]
    assert proof["n_folds"] == 3
    for trial in expected.results[1:]:
        after = dict(zip(proof["gains"]["label"], proof["gains"]["after"][trial.name], strict=True))
        assert after == {row["name"]: row["after"] for row in expected.gains(trial.name)}
    check(proof, schema("Proof"))
    assert proof["shell"] == (
        "scumble compare synthetic.arff -c 'br,mlknn(n_neighbors=3)' -r "
        "'none,remedial(one_sided=keep)' --folds 1x3 --seed 2"
    )


def test_recipes_stand_in_the_order_of_the_methods(proof):
    assert [format_recipe(one) for one in proof["recipes"]] == [m["name"] for m in proof["methods"]]


def test_folds_that_were_judged_are_not_judged_again(client, photos, proof, server):
    from scumble.experiment import Store

    def attempts():
        with Store(server.state.folder / "proofs.db", create=False) as store:
            return {cell["key"]: cell["attempts"] for cell in store.cells()}

    before = attempts()
    wish = {
        "classifiers": [{"classifier": "br"}, {"classifier": "ridge"}],
        "repeats": 1,
        "folds": 3,
        "random_state": 2,
    }
    found = client.result(client.post(f"/datasets/{photos}/proof", json=wish))
    assert found["methods"][0]["means"] == proof["methods"][0]["means"]
    after = attempts()
    assert {key: after[key] for key in before} == before
    assert len(after) - len(before) == 3  # ridge on three folds


def test_what_cannot_be_proven_says_why(client, photos):
    wish = {"classifiers": [{"classifier": "br"}], "treatments": [], "folds": 2, "repeats": 1}
    assert (
        "second classifier" in client.post(f"/datasets/{photos}/proof", json=wish).json()["error"]
    )
    wish["classifiers"] = [{"classifier": "mlknn", "parameters": {"n_neighbors": 0}}] * 2
    wish["treatments"] = [[{"method": "remedial"}]]
    job = client.job(client.post(f"/datasets/{photos}/proof", json=wish))
    assert job["error"] == (
        "The 'n_neighbors' parameter of MLkNN must be an int in [1, inf). Got 0 instead."
    )


def test_resampled_data_is_not_split(client, photos):
    steps = {"steps": [{"method": "remedial"}]}
    treated = client.result(client.post(f"/datasets/{photos}/treatments", json=steps))
    name = treated["dataset"]["id"]
    for kind, wish in (("advice", {}), ("proof", {"classifiers": [{"classifier": "br"}]})):
        refused = client.post(f"/datasets/{name}/{kind}", json=wish)
        assert refused.status_code == 409
        assert "copies of one row" in refused.json()["error"]


@pytest.mark.parametrize(
    ("kind", "wish"),
    [
        ("advice", {"budget": 0}),
        ("advice", {"budget": "long"}),
        ("advice", {"random_state": -1}),
        ("advice", {"random_state": True}),
        ("methods", {"methods": []}),
        ("methods", {"methods": [{"method": "os.path"}]}),
        ("methods", {"methods": [{"method": "remedial"}] * 31}),
        ("proof", {}),
        ("proof", {"classifiers": ["br"]}),
        ("proof", {"classifiers": [{"classifier": "sklearn.svm.SVC"}]}),
        ("proof", {"classifiers": [{"classifier": "br", "parameters": {"estimator": []}}]}),
        ("proof", {"classifiers": [{"classifier": "br"}], "treatments": [[{"method": "os"}]]}),
        ("proof", {"classifiers": [{"classifier": "br"}], "treatments": "remedial"}),
        ("proof", {"classifiers": [{"classifier": "br"}], "folds": 1}),
        ("proof", {"classifiers": [{"classifier": "br"}], "repeats": 11}),
        ("models", {}),
        ("models", {"candidate": "os.system"}),
        ("models", {"classifier": {"classifier": "br"}, "treatment": "remedial"}),
    ],
)
def test_wrong_wishes_are_refused(client, photos, kind, wish):
    assert client.post(f"/datasets/{photos}/{kind}", json=wish).status_code == 422


@pytest.mark.parametrize("name", ["page_code.Evil", "sklearn.svm.SVC", "os.system"])
def test_no_classifier_comes_in_through_the_page(name):
    with pytest.raises(scumble.ScumbleError, match="There is no classifier"):
        make_model(name, {})
    with pytest.raises(scumble.ScumbleError, match="has no parameter 'estimator' here"):
        make_model("br", {"estimator": name})


def test_every_classifier_of_the_catalogue_can_be_made_with_its_defaults(client):
    for each in client.get("/catalogue").json()["classifiers"]:
        defaults = {one["name"]: one["default"] for one in each["parameters"]}
        assert type(make_model(each["name"], defaults)).__name__ == each["title"]


# Models


def test_a_model_is_what_the_library_trains_and_can_be_downloaded(
    client, photos, data, model, tmp_path
):
    check(model, schema("Model"))
    assert model["title"] == "br after remedial(one_sided=keep)"
    offer = client.post(f"/models/{model['model']}/file").json()
    path = tmp_path / offer["name"]
    path.write_bytes(client.get(f"/files/{offer['file']}").content)
    assert path.stat().st_size == offer["size"] == model["size"]
    treated = REMEDIAL(one_sided="keep").resample(data)
    expected = scumble.learn.fit_dataset(scumble.learn.BinaryRelevance(), treated, random_state=5)
    assert (load(path).predict(data.X) != expected.predict(data.X)).nnz == 0
    assert client.get(f"/datasets/{photos}/models").json()["models"][-1] == model


def test_what_is_advised_can_be_trained(client, photos, data, advice, tmp_path):
    wish = {"candidate": "balanced logistic regression", "random_state": 1}
    found = client.result(client.post(f"/datasets/{photos}/models", json=wish))
    path = tmp_path / "model"
    offer = client.post(f"/models/{found['model']}/file").json()
    path.write_bytes(client.get(f"/files/{offer['file']}").content)
    assert predict_dataset(read_model(path), data).labels.shape == data.Y.shape


def features_of(data):
    names = [feature.name for feature in data.features]
    rows = [",".join(map(repr, row)) for row in data.X.tolist()]
    return "\n".join([",".join(names), *rows, ""]).encode()


def test_a_second_file_without_labels_is_predicted(client, data, model, tmp_path):
    upload = client.upload("new rows.csv", features_of(data)).json()["id"]
    found = client.result(
        client.post(f"/models/{model['model']}/predictions", json={"uploads": [upload]})
    )
    assert found["name"] == "new-rows-predicted.csv"
    offer = client.post(f"/models/{model['model']}/file").json()
    path = tmp_path / "model"
    path.write_bytes(client.get(f"/files/{offer['file']}").content)
    expected = predict_dataset(read_model(path), data).labels.toarray()
    table = list(csv.reader(io.StringIO(client.get(f"/files/{found['file']}").text)))
    assert table[0] == list(data.labels)
    assert [[int(cell) for cell in row] for row in table[1:]] == expected.astype(int).tolist()
    assert found["n_predicted"] == expected.sum()
    assert client.post("/datasets", json={"uploads": [upload]}).status_code == 404  # it is gone


def test_confidences_and_other_columns(client, data, model):
    upload = client.upload("a.csv", features_of(data)).json()["id"]
    wish = {"uploads": [upload], "format": ".parquet", "confidences": True}
    found = client.result(client.post(f"/models/{model['model']}/predictions", json=wish))
    assert found["name"] == "a-predicted.parquet"
    upload = client.upload("b.csv", b"height,width\n1,2\n").json()["id"]
    job = client.job(
        client.post(f"/models/{model['model']}/predictions", json={"uploads": [upload]})
    )
    assert job["state"] == "failed"
    assert data.features[0].name in job["error"]
    assert str(upload) not in job["error"]
    wrong = client.post(f"/models/{model['model']}/predictions", json={"uploads": [], "format": 1})
    assert wrong.status_code == 422
    assert client.post("/models/nonesuch/file").status_code == 404
    assert client.post("/models/nonesuch/predictions", json={}).status_code == 404


def test_a_file_whose_name_does_not_tell_its_format_is_predicted(client, data, model):
    upload = client.upload("new rows.txt", features_of(data)).json()["id"]
    wish = {"uploads": [upload], "file_format": "csv"}
    found = client.result(client.post(f"/models/{model['model']}/predictions", json=wish))
    assert found["name"] == "new-rows-predicted.csv"
    assert found["n_instances"] == len(data)


@pytest.mark.parametrize("is_treated", [False, True])
def test_a_second_file_is_read_as_the_one_that_was_learnt_from(client, is_treated):
    rows = "".join(f"{'öü'[at % 2]};{at % 5},5;{at % 2};{at % 3 // 2}\n" for at in range(30))
    content = f"größe;alt;war;see\n{rows}".encode("cp1252")
    wish = {"labels": ["war", "see"], "encoding": "cp1252", "decimal": ",", "header": True}
    name = client.open(("west.csv", content), **wish)["id"]
    if is_treated:
        steps = {"steps": [{"method": "mlros", "parameters": {"random_state": 0}}]}
        treated = client.result(client.post(f"/datasets/{name}/treatments", json=steps))
        name = treated["dataset"]["id"]
    recipe = {"classifier": {"classifier": "br"}}
    model = client.result(client.post(f"/datasets/{name}/models", json=recipe))["model"]

    def predict(content, **how):
        upload = client.upload("new.csv", content).json()["id"]
        wish = {"uploads": [upload], **how}
        job = client.job(client.post(f"/models/{model}/predictions", json=wish))
        result = job["result"]
        return job["error"] or client.get(f"/files/{result['file']}").text

    expected = predict(content)
    assert expected.splitlines()[0] == '"war","see"'
    assert len(expected.splitlines()) == 31
    # What is said of the file counts more, and so does what can be seen in it.
    assert predict(content, encoding="cp1250", delimiter=";") == expected
    assert predict(content.decode("cp1252").encode()) == expected
    assert predict(content.decode("cp1252").replace(",5", ".5").encode()) == expected
    assert "größe" in predict("weg;alt\nä;1,5\n".encode("cp1252"))
    assert "is not UTF-8" in predict(content, encoding="utf-8")


def test_an_encoding_is_found_for_a_second_file_as_the_form_finds_it(client):
    rows = "".join(f"{'öü'[at % 2]},{at % 5}.5,{at % 2}\n" for at in range(30))
    text = f"größe,alt,war\n{rows}"
    name = client.open(("west.csv", text.encode()), labels=["war"])["id"]
    recipe = {"classifier": {"classifier": "br"}}
    model = client.result(client.post(f"/datasets/{name}/models", json=recipe))["model"]
    answers = []
    for encoding in ("utf-8", "cp1252"):
        upload = client.upload("new.csv", text.encode(encoding)).json()["id"]
        job = client.job(client.post(f"/models/{model}/predictions", json={"uploads": [upload]}))
        answers.append((client.get(f"/files/{job['result']['file']}").text, job["notes"]))
    (expected, _), (found, notes) = answers
    assert found == expected
    assert notes == ["new.csv is no UTF-8. It is read as cp1252."]


def test_models_take_so_many_bytes_and_no_more(tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "KEPT_BYTES", 100)
    kept = folders.TrainedModels(tmp_path)

    def add(number, size):
        (kept.new_folder(number) / "a.model").write_bytes(b"x" * size)
        kept.add(number, "photos", {"name": "a.model"})
        return sorted(path.name for path in tmp_path.iterdir())

    assert add("1", 40) == ["1"]
    assert add("2", 60) == ["1", "2"]
    assert add("3", 30) == ["2", "3"]
    assert add("4", 500) == ["4"]  # who has just waited for it may have it
    assert [model.id for model in kept.list_trained_on("photos")] == ["4"]


def test_judged_folds_are_forgotten_where_they_are_too_many(client, server, photos, proof):
    store = server.state.folder / "proofs.db"
    assert store.stat().st_size > 0
    wish = {"classifiers": [{"classifier": "br"}, {"classifier": "rare"}]}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("scumble.gui.state.MAX_PROOFS", 0)
        with asleep(server, client):
            number = client.until_running(client.post(f"/datasets/{photos}/proof", json=wish))
        assert not store.exists()
        store.write_bytes(b"of the one that runs")
        assert server.state.comparison_store_path() == store
        assert store.exists()
        client.delete(f"/jobs/{number}")
    store.unlink()


# Long work


def test_long_work_leaves_a_process_to_quick_work(client, server, photos):
    with asleep(server, client):
        first = client.post(f"/datasets/{photos}/advice", json={})
        number = client.until_running(first)
    second = client.post(f"/datasets/{photos}/methods", json={})
    assert client.get(f"/jobs/{second.json()['id']}").json()["state"] == "queued"
    quick = client.result(client.post("/examples/synthetic", json=SMALL))  # it need not wait
    assert quick["dataset"]["n_labels"] == 6
    again = client.post(f"/datasets/{photos}/advice", json={})
    assert again.status_code == 409
    assert "still running" in again.json()["error"]
    for each in (number, second.json()["id"]):
        assert client.delete(f"/jobs/{each}").json()["state"] == "cancelled"


def test_a_cancelled_proof_leaves_the_last_one(client, server, photos, proof):
    last = client.get(f"/datasets/{photos}/proof").json()["job"]
    wish = {"classifiers": [{"classifier": "br"}, {"classifier": "rare"}]}
    with asleep(server, client):
        job = client.post(f"/datasets/{photos}/proof", json=wish)
        number = client.until_running(job)
        assert client.get(f"/datasets/{photos}/proof").json()["job"]["id"] == number
        worker = server.state.jobs.get(number)._worker
        client.delete(f"/jobs/{number}")
    worker._process.wait(timeout=60)  # its process ends
    assert client.get(f"/datasets/{photos}/proof").json()["job"]["id"] == last["id"]


def test_closing_a_data_set_ends_what_is_being_found_out_about_it(client, server):
    name = client.result(client.post("/examples/synthetic", json=SMALL))["dataset"]["id"]
    with asleep(server, client):
        number = client.until_running(client.post(f"/datasets/{name}/advice", json={}))
        assert client.delete(f"/datasets/{name}").status_code == 204
    assert client.get(f"/jobs/{number}").json()["state"] == "cancelled"


def test_closing_a_data_set_removes_its_models_and_ends_their_training(client, server):
    name = client.result(client.post("/examples/synthetic", json=SMALL))["dataset"]["id"]
    wish = {"classifier": {"classifier": "br"}}
    model = client.result(client.post(f"/datasets/{name}/models", json=wish))
    path = server.state.models.get(model["model"]).path
    assert path.is_file()
    with asleep(server, client):
        number = client.until_running(client.post(f"/datasets/{name}/models", json=wish))
        assert client.delete(f"/datasets/{name}").status_code == 204
    assert client.get(f"/jobs/{number}").json()["state"] == "cancelled"
    assert not path.parent.exists()
    assert client.post(f"/models/{model['model']}/file").status_code == 404
    again = client.result(client.post("/examples/synthetic", json={**SMALL, "n_labels": 7}))
    assert again["dataset"]["id"] == name  # another data set, with models of its own
    assert client.get(f"/datasets/{name}/models").json()["models"] == []
    told = client.get("/openapi.json").json()["paths"]["/datasets/{dataset}"]["delete"]
    assert "the models trained on it are removed" in told["description"]


def test_a_model_that_does_not_fit_on_the_disk_leaves_nothing(client, server, model, monkeypatch):
    def no_links(path, target):
        raise OSError(errno.EPERM, "no links here")

    def half_a_copy(path, target):
        target.write_bytes(b"half")
        raise OSError(errno.ENOSPC, "full")

    folder = server.state.folder / "files"
    before = set(folder.iterdir())
    monkeypatch.setattr("os.link", no_links)
    monkeypatch.setattr("shutil.copyfile", half_a_copy)
    refused = client.post(f"/models/{model['model']}/file")
    assert refused.status_code == 507
    assert "no room left" in refused.json()["error"]
    assert set(folder.iterdir()) == before


def test_what_was_done_last_is_shown_until_something_else_is():
    class Job:
        def __init__(self, state, result=None):
            self.state, self.result = state, result

        @property
        def is_finished(self):
            return self.state not in ("queued", "running")

    latest, first, second = LatestJobs(), Job("running"), Job("running")
    assert latest.get("proof") is None
    latest.add_job("proof", first)
    assert (latest.get("proof"), latest.result("proof")) == (first, None)
    first.state, first.result = "done", {"best": "br"}
    latest.add_job("proof", second)
    assert (latest.get("proof"), latest.result("proof")) == (second, {"best": "br"})
    second.state = "failed"
    assert latest.get("proof") is first
    assert latest.get("advice") is None


def test_a_study_waits_while_all_processes_are_busy(client, server, photos):
    with all_busy(server, client):
        job = client.post(f"/datasets/{photos}/advice", json={"budget": 1}).json()
        assert job["state"] == "queued"
        assert math.isclose(job["seconds"], 0, abs_tol=60)
        assert client.delete(f"/jobs/{job['id']}").json()["state"] == "cancelled"
