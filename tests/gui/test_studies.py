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
from scumble.gui import folders, jobs
from scumble.gui.methods import make_model
from scumble.gui.recipes import format_recipe
from scumble.gui.state import LatestJobs
from scumble.gui.tasks import run
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
    body = {"budget": None, "random_state": 1}
    return client.result(client.post(f"/datasets/{photos}/advice", json=body))


@pytest.fixture(scope="module")
def comparison(client, photos):
    body = {
        "classifiers": [
            {"classifier": "br"},
            {"classifier": "mlknn", "parameters": {"n_neighbors": 3}},
        ],
        "treatments": [[{"method": "remedial", "parameters": {"one_sided": "keep"}}]],
        "repeats": 1,
        "folds": 3,
        "random_state": 2,
    }
    return client.result(client.post(f"/datasets/{photos}/comparison", json=body))


@pytest.fixture(scope="module")
def model(client, photos, comparison):
    body = {**comparison["recipes"][2], "random_state": 5}
    return client.result(client.post(f"/datasets/{photos}/models", json=body))


# Advise


def without_times(advice):
    methods = [{**method, "seconds": 0} for method in advice["methods"]]
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
    result = client.result(client.post(f"/datasets/{photos}/advice/page"))
    page = client.get(f"/files/{result['file']}").text
    assert result["name"] == "synthetic-advice.html"
    assert all(sentence in page for sentence in advice["sentences"]["What helps here"])


def test_the_overview_speaks_by_the_advice_once_there_is_one(client, photos, advice):
    overview = client.get(f"/datasets/{photos}").json()
    assert overview["advice"] == advice["sentences"]["What helps here"]
    other = client.result(client.post("/examples/synthetic", json=SMALL))["dataset"]["id"]
    before = client.get(f"/datasets/{other}").json()
    assert before["advice"] is None
    general = treatment_sentences(before["summary"]["scumble"])
    assert set(general) < set(before["verdict"])
    assert overview["verdict"] == [
        sentence for sentence in before["verdict"] if sentence not in general
    ]
    assert client.post(f"/datasets/{other}/advice/page").status_code == 409


def stop_by_message(monkeypatch):
    """Stop when the second method is told of, while that message is on its way."""
    messages = []

    def send(message):
        messages.append(message)
        if len([message for message in messages if message[2]]) == 2:
            signal.raise_signal(signal.SIGINT)
            messages.append("sent")

    return send, 2


def stop_in_the_midst(monkeypatch):
    """Stop while the fourth method is being tried."""
    calls, run = [], CandidateRunner.run

    def try_some(*arguments):
        calls.append(arguments)
        if len(calls) == 4:
            signal.raise_signal(signal.SIGINT)
        return run(*arguments)

    monkeypatch.setattr(CandidateRunner, "run", try_some)
    return lambda message: None, 3


@pytest.mark.parametrize("stop", [stop_by_message, stop_in_the_midst])
def test_stopped_advice_contains_the_methods_evaluated_so_far(
    data, server, photos, advice, monkeypatch, stop
):
    monkeypatch.setattr(run, "PROGRESS_INTERVAL", 0)
    send, n_judged = stop(monkeypatch)
    before = signal.getsignal(signal.SIGINT)
    packed = server.state.datasets.get(photos).packed
    body = {"packed": packed, "source": "a.csv", "options": {}, "budget": None, "random_state": 1}
    end, (result, notes) = run.run_task(("advise", body), send)
    assert (end, result["interrupted"], notes) == ("done", True, [])
    assert len(result["methods"]) == n_judged
    expected = {method["name"]: method["expected"] for method in advice["methods"]}
    assert all(method["expected"] == expected[method["name"]] for method in result["methods"])
    assert signal.getsignal(signal.SIGINT) is before


def test_advice_stopped_before_the_first_method_has_no_result(server, photos, monkeypatch):
    def stop(*arguments, **options):
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(CandidateRunner, "run", stop)
    packed = server.state.datasets.get(photos).packed
    body = {"packed": packed, "source": "a.csv", "options": {}, "budget": None, "random_state": 1}
    assert run.run_task(("advise", body), lambda message: None) == ("stopped", None)


def test_a_cancelled_advice_is_shown_as_far_as_it_came(client, server, monkeypatch):
    monkeypatch.setattr(jobs, "STOP_GRACE_SECONDS", PATIENCE)
    body = {**SMALL, "n_instances": 600}
    name = client.result(client.post("/examples/synthetic", json=body))["dataset"]["id"]
    started = client.post(f"/datasets/{name}/advice", json={"budget": None})
    number, until = started.json()["id"], time.monotonic() + PATIENCE
    while not client.get(f"/jobs/{number}").json()["progress"].get("done"):
        assert time.monotonic() < until
    worker = server.state.jobs.get(number)._worker
    stopping = client.delete(f"/jobs/{number}").json()
    assert (stopping["state"], stopping["progress"]["title"]) == ("running", "Stopping")
    result = client.result(started)
    assert result["interrupted"]
    assert 1 <= len(result["methods"]) < len(CANDIDATES)
    sentence = "The evaluation was stopped before all methods were evaluated."
    assert sentence in result["sentences"]["How sure this is"]
    check(result, schema("Advice"))
    assert client.get(f"/datasets/{name}/advice").json()["job"]["result"] == result
    assert worker.is_alive  # and takes the next task
    client.delete(f"/datasets/{name}")


@pytest.mark.parametrize("grace", [0, PATIENCE])
def test_advice_that_does_not_stop_is_ended(client, server, photos, monkeypatch, grace):
    monkeypatch.setattr(jobs, "STOP_GRACE_SECONDS", grace)
    with asleep(server, client):
        started = client.post(f"/datasets/{photos}/advice", json={})
        number = client.until_running(started)
    job = server.state.jobs.get(number)
    worker, job.has_completed_step = job._worker, True
    assert client.delete(f"/jobs/{number}").json()["progress"]["title"] == "Stopping"
    if grace:  # who does not want to wait says so again
        assert client.delete(f"/jobs/{number}").json()["state"] == "cancelled"
    assert client.job(started)["state"] == "cancelled"
    worker._process.wait(timeout=PATIENCE)


# Compare


def test_methods_side_by_side_are_the_librarys(client, photos, data):
    body = [
        {"method": "remedial"},
        {"method": "mlros", "parameters": {"percent": 50, "random_state": 0}},
    ]
    result = client.result(client.post(f"/datasets/{photos}/methods", json={"methods": body}))
    chains = {
        "remedial": [REMEDIAL()],
        "mlros(percent=50,random_state=0)": [scumble.resample.MLROS(percent=50, random_state=0)],
    }
    expected = resampler_comparison(compare_methods(data, chains))
    for method in (*result["methods"], *expected["methods"]):
        method["seconds"] = 0
    assert {key: result[key] for key in expected} == expected
    assert result["chains"]["mlros(percent=50,random_state=0)"] == [body[1]]
    check(result, schema("ResamplerComparison"))
    latest = client.get(f"/datasets/{photos}/methods").json()["job"]["result"]
    assert latest["verdict"] == result["verdict"]


def test_by_default_all_methods_are_run_and_the_advised_one_has_its_reason(client, data):
    body = {**SMALL, "n_instances": 60}
    name = client.result(client.post("/examples/synthetic", json=body))["dataset"]["id"]
    result = client.result(client.post(f"/datasets/{name}/methods"))
    names = {method["name"] for method in client.get("/catalogue").json()["methods"]}
    assert {method["method"] for method in result["methods"]} == names
    summary = client.get(f"/datasets/{name}").json()["summary"]
    method, reason = best_resampler_in_evidence(summary["scumble"])
    assert result["advised"] == {"method": method, "reason": reason, "measured_here": False}


def test_what_was_measured_on_this_data_counts_more_than_public_data(client, photos, advice):
    body = {"methods": [{"method": "remedial"}]}
    advised = client.result(client.post(f"/datasets/{photos}/methods", json=body))["advised"]
    gains = {
        method["name"].removeprefix("br after "): method["gain"]["value"]
        for method in advice["methods"]
        if method["family"] == "resampling"
    }
    best = max(gains, key=gains.get)
    assert advised["method"] == best
    assert advised["measured_here"] is True
    assert f"changed by {gains[best]:+.3f}" in advised["reason"]


def test_the_advised_resampler_has_the_best_record():
    for scumble_value, concurrent in ((0.3, True), (0.02, False)):
        name, reason = best_resampler_in_evidence(scumble_value)
        changes = {
            name: method_evidence(f"br after {name}", concurrent=concurrent).change
            for name in ("remedial", "mlsmote", "mlros")
        }
        assert name == max(changes, key=changes.get)
        assert f"{changes[name]:+.3f} on average" in reason


# Prove


def test_the_comparison_is_the_librarys(client, photos, data, comparison):
    expected = compare(
        data,
        {"br": "br", "mlknn(n_neighbors=3)": scumble.learn.MLkNN(n_neighbors=3)},
        {"none": None, "remedial(one_sided=keep)": REMEDIAL(one_sided="keep")},
        folds="1x3",
        random_state=2,
    )
    plain = expected.to_dict()
    for key in ("baseline", "best", "differences", "verdicts", "metrics", "optimism"):
        assert comparison[key] == plain[key], key
    assert [method["means"] for method in comparison["methods"]] == [
        method["means"] for method in plain["methods"]
    ]
    assert comparison["metrics"] == ["all.macro_f1", "minority.macro_f1", "micro_f1"]
    assert comparison["n_folds"] == 3
    for trial in expected.results[1:]:
        after = dict(
            zip(comparison["gains"]["label"], comparison["gains"]["after"][trial.name], strict=True)
        )
        assert after == {row["name"]: row["after"] for row in expected.gains(trial.name)}
    check(comparison, schema("Comparison"))
    assert comparison["shell"] == (
        "scumble compare synthetic.arff -c 'br,mlknn(n_neighbors=3)' -r "
        "'none,remedial(one_sided=keep)' --folds 1x3 --seed 2"
    )


def test_recipes_stand_in_the_order_of_the_methods(comparison):
    assert [format_recipe(recipe) for recipe in comparison["recipes"]] == [
        m["name"] for m in comparison["methods"]
    ]


def test_evaluated_folds_are_not_evaluated_again(client, photos, comparison, server):
    from scumble.experiment import Store

    def attempts():
        with Store(server.state.folder / "comparisons.db", create=False) as store:
            return {cell["key"]: cell["attempts"] for cell in store.cells()}

    before = attempts()
    body = {
        "classifiers": [{"classifier": "br"}, {"classifier": "ridge"}],
        "repeats": 1,
        "folds": 3,
        "random_state": 2,
    }
    result = client.result(client.post(f"/datasets/{photos}/comparison", json=body))
    assert result["methods"][0]["means"] == comparison["methods"][0]["means"]
    after = attempts()
    assert {key: after[key] for key in before} == before
    assert len(after) - len(before) == 3  # ridge on three folds


def test_wrong_comparisons_are_refused_with_the_reason(client, photos):
    body = {"classifiers": [{"classifier": "br"}], "treatments": [], "folds": 2, "repeats": 1}
    assert (
        "second classifier"
        in client.post(f"/datasets/{photos}/comparison", json=body).json()["error"]
    )
    body["classifiers"] = [{"classifier": "mlknn", "parameters": {"n_neighbors": 0}}] * 2
    body["treatments"] = [[{"method": "remedial"}]]
    job = client.job(client.post(f"/datasets/{photos}/comparison", json=body))
    assert job["error"] == (
        "The 'n_neighbors' parameter of MLkNN must be an int in [1, inf). Got 0 instead."
    )


def test_resampled_data_is_not_split(client, photos):
    steps = {"steps": [{"method": "remedial"}]}
    treated = client.result(client.post(f"/datasets/{photos}/treatments", json=steps))
    name = treated["dataset"]["id"]
    for kind, body in (("advice", {}), ("comparison", {"classifiers": [{"classifier": "br"}]})):
        refused = client.post(f"/datasets/{name}/{kind}", json=body)
        assert refused.status_code == 409
        assert "copies of one row" in refused.json()["error"]


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("advice", {"budget": 0}),
        ("advice", {"budget": "long"}),
        ("advice", {"random_state": -1}),
        ("advice", {"random_state": True}),
        ("methods", {"methods": []}),
        ("methods", {"methods": [{"method": "os.path"}]}),
        ("methods", {"methods": [{"method": "remedial"}] * 31}),
        ("comparison", {}),
        ("comparison", {"classifiers": ["br"]}),
        ("comparison", {"classifiers": [{"classifier": "sklearn.svm.SVC"}]}),
        ("comparison", {"classifiers": [{"classifier": "br", "parameters": {"estimator": []}}]}),
        ("comparison", {"classifiers": [{"classifier": "br"}], "treatments": [[{"method": "os"}]]}),
        ("comparison", {"classifiers": [{"classifier": "br"}], "treatments": "remedial"}),
        ("comparison", {"classifiers": [{"classifier": "br"}], "folds": 1}),
        ("comparison", {"classifiers": [{"classifier": "br"}], "repeats": 11}),
        ("models", {}),
        ("models", {"candidate": "os.system"}),
        ("models", {"classifier": {"classifier": "br"}, "treatment": "remedial"}),
    ],
)
def test_wrong_bodies_are_refused(client, photos, kind, body):
    assert client.post(f"/datasets/{photos}/{kind}", json=body).status_code == 422


@pytest.mark.parametrize("name", ["page_code.Evil", "sklearn.svm.SVC", "os.system"])
def test_no_classifier_comes_in_through_the_page(name):
    with pytest.raises(scumble.ScumbleError, match="There is no classifier"):
        make_model(name, {})
    with pytest.raises(scumble.ScumbleError, match="has no parameter 'estimator' here"):
        make_model("br", {"estimator": name})


def test_every_classifier_of_the_catalogue_can_be_made_with_its_defaults(client):
    for classifier in client.get("/catalogue").json()["classifiers"]:
        defaults = {
            parameter["name"]: parameter["default"] for parameter in classifier["parameters"]
        }
        assert type(make_model(classifier["name"], defaults)).__name__ == classifier["title"]


# Models


def test_a_model_is_what_the_library_trains_and_can_be_downloaded(
    client, photos, data, model, tmp_path
):
    check(model, schema("ModelDescription"))
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
    body = {"candidate": "balanced logistic regression", "random_state": 1}
    result = client.result(client.post(f"/datasets/{photos}/models", json=body))
    path = tmp_path / "model"
    offer = client.post(f"/models/{result['model']}/file").json()
    path.write_bytes(client.get(f"/files/{offer['file']}").content)
    assert predict_dataset(read_model(path), data).labels.shape == data.Y.shape


def features_of(data):
    names = [feature.name for feature in data.features]
    rows = [",".join(map(repr, row)) for row in data.X.tolist()]
    return "\n".join([",".join(names), *rows, ""]).encode()


def test_a_second_file_without_labels_is_predicted(client, data, model, tmp_path):
    upload = client.upload("new rows.csv", features_of(data)).json()["id"]
    result = client.result(
        client.post(f"/models/{model['model']}/predictions", json={"uploads": [upload]})
    )
    assert result["name"] == "new-rows-predicted.csv"
    offer = client.post(f"/models/{model['model']}/file").json()
    path = tmp_path / "model"
    path.write_bytes(client.get(f"/files/{offer['file']}").content)
    expected = predict_dataset(read_model(path), data).labels.toarray()
    table = list(csv.reader(io.StringIO(client.get(f"/files/{result['file']}").text)))
    assert table[0] == list(data.labels)
    assert [[int(cell) for cell in row] for row in table[1:]] == expected.astype(int).tolist()
    assert result["n_predicted"] == expected.sum()
    assert client.post("/datasets", json={"uploads": [upload]}).status_code == 404  # it is gone


def test_confidences_and_other_columns(client, data, model):
    upload = client.upload("a.csv", features_of(data)).json()["id"]
    body = {"uploads": [upload], "format": ".parquet", "confidences": True}
    result = client.result(client.post(f"/models/{model['model']}/predictions", json=body))
    assert result["name"] == "a-predicted.parquet"
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
    body = {"uploads": [upload], "file_format": "csv"}
    result = client.result(client.post(f"/models/{model['model']}/predictions", json=body))
    assert result["name"] == "new-rows-predicted.csv"
    assert result["n_instances"] == len(data)


@pytest.mark.parametrize("is_treated", [False, True])
def test_a_second_file_is_read_as_the_one_that_was_learnt_from(client, is_treated):
    rows = "".join(f"{'öü'[row % 2]};{row % 5},5;{row % 2};{row % 3 // 2}\n" for row in range(30))
    content = f"größe;alt;war;see\n{rows}".encode("cp1252")
    body = {"labels": ["war", "see"], "encoding": "cp1252", "decimal": ",", "header": True}
    name = client.open(("west.csv", content), **body)["id"]
    if is_treated:
        steps = {"steps": [{"method": "mlros", "parameters": {"random_state": 0}}]}
        treated = client.result(client.post(f"/datasets/{name}/treatments", json=steps))
        name = treated["dataset"]["id"]
    recipe = {"classifier": {"classifier": "br"}}
    model = client.result(client.post(f"/datasets/{name}/models", json=recipe))["model"]

    def predict(content, **options):
        upload = client.upload("new.csv", content).json()["id"]
        body = {"uploads": [upload], **options}
        job = client.job(client.post(f"/models/{model}/predictions", json=body))
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
    rows = "".join(f"{'öü'[row % 2]},{row % 5}.5,{row % 2}\n" for row in range(30))
    text = f"größe,alt,war\n{rows}"
    name = client.open(("west.csv", text.encode()), labels=["war"])["id"]
    recipe = {"classifier": {"classifier": "br"}}
    model = client.result(client.post(f"/datasets/{name}/models", json=recipe))["model"]
    answers = []
    for encoding in ("utf-8", "cp1252"):
        upload = client.upload("new.csv", text.encode(encoding)).json()["id"]
        job = client.job(client.post(f"/models/{model}/predictions", json={"uploads": [upload]}))
        answers.append((client.get(f"/files/{job['result']['file']}").text, job["notes"]))
    (expected, _), (result, notes) = answers
    assert result == expected
    assert notes == ["new.csv is not UTF-8. It is read as cp1252."]


def test_models_take_so_many_bytes_and_no_more(tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "MAX_MODEL_BYTES", 100)
    models = folders.TrainedModels(tmp_path)

    def add(number, size):
        (models.new_folder(number) / "a.model").write_bytes(b"x" * size)
        models.add(number, "photos", {"name": "a.model"})
        return sorted(path.name for path in tmp_path.iterdir())

    assert add("1", 40) == ["1"]
    assert add("2", 60) == ["1", "2"]
    assert add("3", 30) == ["2", "3"]
    assert add("4", 500) == ["4"]  # who has just waited for it may have it
    assert [model.id for model in models.list_trained_on("photos")] == ["4"]


def test_a_store_that_is_too_large_is_deleted(client, server, photos, comparison):
    store = server.state.folder / "comparisons.db"
    assert store.stat().st_size > 0
    body = {"classifiers": [{"classifier": "br"}, {"classifier": "rare"}]}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("scumble.gui.state.MAX_COMPARISON_STORE_BYTES", 0)
        with asleep(server, client):
            number = client.until_running(client.post(f"/datasets/{photos}/comparison", json=body))
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
    for job_id in (number, second.json()["id"]):
        assert client.delete(f"/jobs/{job_id}").json()["state"] == "cancelled"


def test_a_cancelled_comparison_leaves_the_last_one(client, server, photos, comparison):
    last = client.get(f"/datasets/{photos}/comparison").json()["job"]
    body = {"classifiers": [{"classifier": "br"}, {"classifier": "rare"}]}
    with asleep(server, client):
        job = client.post(f"/datasets/{photos}/comparison", json=body)
        number = client.until_running(job)
        assert client.get(f"/datasets/{photos}/comparison").json()["job"]["id"] == number
        worker = server.state.jobs.get(number)._worker
        client.delete(f"/jobs/{number}")
    worker._process.wait(timeout=60)  # its process ends
    assert client.get(f"/datasets/{photos}/comparison").json()["job"]["id"] == last["id"]


def test_closing_a_data_set_ends_what_is_being_found_out_about_it(client, server):
    name = client.result(client.post("/examples/synthetic", json=SMALL))["dataset"]["id"]
    with asleep(server, client):
        number = client.until_running(client.post(f"/datasets/{name}/advice", json={}))
        assert client.delete(f"/datasets/{name}").status_code == 204
    assert client.get(f"/jobs/{number}").json()["state"] == "cancelled"


def test_closing_a_data_set_removes_its_models_and_ends_their_training(client, server):
    name = client.result(client.post("/examples/synthetic", json=SMALL))["dataset"]["id"]
    body = {"classifier": {"classifier": "br"}}
    model = client.result(client.post(f"/datasets/{name}/models", json=body))
    path = server.state.models.get(model["model"]).path
    assert path.is_file()
    with asleep(server, client):
        number = client.until_running(client.post(f"/datasets/{name}/models", json=body))
        assert client.delete(f"/datasets/{name}").status_code == 204
    assert client.get(f"/jobs/{number}").json()["state"] == "cancelled"
    assert not path.parent.exists()
    assert client.post(f"/models/{model['model']}/file").status_code == 404
    again = client.result(client.post("/examples/synthetic", json={**SMALL, "n_labels": 7}))
    assert again["dataset"]["id"] == name  # another data set, with models of its own
    assert client.get(f"/datasets/{name}/models").json()["models"] == []
    description = client.get("/openapi.json").json()["paths"]["/datasets/{dataset}"]["delete"]
    assert "the models trained on it are removed" in description["description"]


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
    assert "is full" in refused.json()["error"]
    assert set(folder.iterdir()) == before


def test_what_was_done_last_is_shown_until_something_else_is():
    class Job:
        def __init__(self, state, result=None):
            self.state, self.result = state, result

        @property
        def is_finished(self):
            return self.state not in ("queued", "running")

    latest, first, second = LatestJobs(), Job("running"), Job("running")
    assert latest.get("comparison") is None
    latest.add_job("comparison", first)
    assert (latest.get("comparison"), latest.result("comparison")) == (first, None)
    first.state, first.result = "done", {"best": "br"}
    latest.add_job("comparison", second)
    assert (latest.get("comparison"), latest.result("comparison")) == (second, {"best": "br"})
    second.state = "failed"
    assert latest.get("comparison") is first
    assert latest.get("advice") is None


def test_a_study_waits_while_all_processes_are_busy(client, server, photos):
    with all_busy(server, client):
        job = client.post(f"/datasets/{photos}/advice", json={"budget": 1}).json()
        assert job["state"] == "queued"
        assert math.isclose(job["seconds"], 0, abs_tol=60)
        assert client.delete(f"/jobs/{job['id']}").json()["state"] == "cancelled"
