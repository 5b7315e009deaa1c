"""Opening plain tables and public data sets through the API."""

import errno
import gzip
import os
import time

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import scumble
from scumble.cli.main import main
from scumble.data.public import repository
from scumble.gui.folders import Upload, UploadedDataset
from scumble.gui.tasks import uploads
from scumble.gui.tasks.commands import as_python_call, as_shell_options
from scumble.gui.tasks.display_names import replace_paths_in_messages
from tests.gui.conftest import PATIENCE, Client, all_busy, running
from tests.gui.files import ARFF, CSV, MEKA
from tests.gui.test_api import check, zipped

TICKETS = "id;hours;code;subject;tags\n" + "".join(
    f"T-{number};{number % 7},5;{100 + number % 3};please help me with {number};"
    + ("sound|picture\n" if number % 3 else "sound|urgent\n")
    for number in range(24)
)


def look(client, name, content, **options):
    upload = client.upload(name, content).json()["id"]
    job = client.job(client.post(f"/uploads/{upload}/preview", json=options))
    return upload, job


def test_a_preview_tells_how_a_table_is_written_and_what_its_columns_are_for(client):
    upload, job = look(client, "tickets.csv", TICKETS.encode())
    result = job["result"]
    check(result, {"$ref": "#/components/schemas/Preview"})
    assert (result["delimiter"], result["decimal"], result["separator"]) == (";", ",", "|")
    assert [column["role"] for column in result["columns"]] == [
        "ignore",
        "number",
        "number",
        "text",
        "list",
    ]
    assert result["rows"][1] == ["T-1", "1,5", "101", "please help me with 1", "sound|picture"]
    assert len(result["rows"]) == 8
    # The upload waits, and is opened by the reader's own options.
    body = {
        "uploads": [upload],
        "label_column": "tags",
        "label_separator": "|",
        "ignore": ["id"],
        "text": ["subject"],
        "category": ["code"],
        "decimal": ",",
    }
    dataset = client.result(client.post("/datasets", json=body))["dataset"]
    assert (dataset["n_instances"], dataset["n_labels"], dataset["n_features"]) == (24, 3, 3)
    assert dataset["notes"] == []
    rows = client.get(f"/datasets/{dataset['id']}/features").json()["rows"]
    assert [(row["name"], row["kind"]) for row in rows] == [
        ("hours", "numeric"),
        ("code", "nominal"),
        ("subject", "text"),
    ]
    client.delete(f"/datasets/{dataset['id']}")


def test_settings_that_are_given_are_not_guessed(client):
    _, job = look(client, "a.csv", "größe,war\n1,1\n2,0\n".encode("cp1252"), encoding="latin-1")
    assert job["result"]["encoding"] == "latin-1"
    _, job = look(client, "a.csv", b"a,b\n1,2\n", delimiter=";", header=False)
    assert job["result"]["rows"] == [["a,b"], ["1,2"]]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("twice.csv", b"a,a\n1,0\n", "twice.csv, line 1, value 2: two columns are called 'a'"),
        ("noise.csv", bytes(range(256)), "noise.csv: this is not text"),
        ("blank.csv", b" \n \n", "blank.csv: the file is empty"),
        ("cut.csv.gz", gzip.compress(CSV.encode() * 99)[:40], "cut.csv.gz: the compressed file is"),
        ("two.zip", zipped(a_csv=CSV, b_csv=CSV), "two.zip: the archive holds 'a.csv', 'b.csv'"),
        ("cut.parquet", b"PAR1 and nothing", "cut.parquet: the Parquet file is damaged"),
    ],
    ids=lambda value: "bytes" if isinstance(value, bytes) else None,  # gzip writes the time
)
def test_what_cannot_be_looked_at_says_why_by_the_users_name(
    client, server, name, content, message
):
    _, job = look(client, name, content)
    assert job["state"] == "failed"
    assert job["error"].startswith(message)
    assert str(server.state.folder) not in job["error"]


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.arff", MEKA.encode()), ("b.arff", ARFF.encode()), ("c.csv", b"x,label:a\n1,0\n")],
)
def test_files_that_say_all_themselves_ask_nothing(client, name, content):
    _, job = look(client, name, content)
    assert (job["result"]["asks"], job["result"]["columns"]) == (False, [])
    check(job["result"], {"$ref": "#/components/schemas/Preview"})


def members(client, content):
    upload = client.upload("several.zip", content).json()["id"]
    return upload, client.result(client.post(f"/uploads/{upload}/members"))


def test_a_file_of_an_archive_is_chosen_by_its_name(client, server):
    other = "minutes,war\n90,1\n150,0\n"
    upload, result = members(client, zipped(a_csv=CSV, b_csv=other, readme_md="hello"))
    check(result, {"$ref": "#/components/schemas/Members"})
    assert result == {"members": ["a.csv", "b.csv"], "taken": None}
    look_at = f"/uploads/{upload}/preview"
    preview = client.result(client.post(look_at, json={"member": "b.csv"}))
    assert [column["name"] for column in preview["columns"]] == ["minutes", "war"]
    absent = client.job(client.post(look_at, json={"member": "../../etc/passwd"}))
    assert absent["error"].startswith("several.zip: the archive holds no '../../etc/passwd'")
    body = {"uploads": [upload], "member": "b.csv", "labels": ["war"]}
    wrong = client.job(client.post("/datasets", json={**body, "labels": ["love"]}))
    assert wrong["error"].startswith("several.zip/b.csv")
    dataset = client.result(client.post("/datasets", json=body))["dataset"]
    assert (dataset["name"], dataset["n_instances"], dataset["n_labels"]) == ("b", 2, 1)
    options = server.state.datasets.get(dataset["id"]).options
    assert as_shell_options(options) == ["--option", "member=b.csv", "--labels", "war"]


def test_of_a_complete_file_and_its_parts_the_complete_one_is_the_default(client):
    parts = zipped(whole_csv=CSV, **{"whole-train_csv": CSV, "whole-test_csv": CSV})
    _, result = members(client, parts)
    assert result["members"] == ["whole.csv", "whole-train.csv", "whole-test.csv"]
    assert result["taken"] == "whole.csv"


def test_a_member_of_what_is_no_archive_is_refused(client):
    upload = client.upload("photos.csv", CSV.encode()).json()["id"]
    body = {"uploads": [upload], "member": "a.csv", "labels": -3}
    job = client.job(client.post("/datasets", json=body))
    assert job["error"].startswith("photos.csv: the file is not a .zip archive")
    assert client.job(client.post(f"/uploads/{upload}/members"))["state"] == "failed"


def test_all_columns_are_kept_where_that_is_said(client):
    body = {"label_column": "tags", "label_separator": "|", "decimal": ","}
    name = ("tickets.csv", TICKETS.encode())
    assert client.open(name, **body)["n_features"] == 2  # neither what names rows nor texts
    assert client.open(name, **body, keep=True)["n_features"] == 4
    upload = client.upload(*name).json()["id"]
    for key, value in (("keep", "true"), ("ignore", True), ("labels", True), ("header", 1)):
        refused = client.post("/datasets", json={"uploads": [upload], **body, key: value})
        assert refused.status_code == 422
        assert f"'{key}' has a wrong type" in refused.json()["error"]


def test_five_thousand_columns_make_a_short_answer(client):
    names = ",".join(f"column {index}" for index in range(5000))
    rows = "\n".join(",".join(["0.5"] * 4990 + ["1", "0"] * 5) for _ in range(9))
    upload = client.upload("wide.csv", f"{names}\n{rows}\n".encode()).json()["id"]
    answer = client.post(f"/uploads/{upload}/preview", json={})
    job = client.job(answer)
    assert job["result"]["n_columns"] == 5000
    assert len(job["result"]["columns"]) == 60
    assert job["result"]["labels"] == list(range(4990, 5000))
    assert len(str(job["result"])) < 20_000


def test_a_preview_unpacks_no_more_than_the_beginning(tmp_path, monkeypatch):
    path = tmp_path / "data.csv.gz"
    path.write_bytes(gzip.compress(CSV.encode() + b"0.3,0,0,1\n" * 2_000_000))
    monkeypatch.setattr("scumble.data.preview.N_INSPECTED_BYTES", 1000)
    result = uploads.preview_upload(Upload(path, "a.csv.gz"), {}, max_unpacked=1 << 20)
    assert result["labels"] == [1, 2, 3]
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv.gz"]


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.parquet"])
def test_a_file_that_is_gone_says_so(tmp_path, name):
    path = tmp_path / "data"
    path.symlink_to(tmp_path / "moved")  # as files of the command line are lent
    file = Upload(path, name)
    message = rf"^{name}: (the file is gone. Put it back, or send it again|no such file)\."
    with pytest.raises(scumble.ScumbleError, match=message):
        uploads.preview_upload(file, {}, max_unpacked=1 << 20)
    with pytest.raises(scumble.ScumbleError, match=message):
        uploads.open_upload(UploadedDataset(file, None, {}, max_unpacked=1 << 20))


def test_a_file_that_may_not_be_read_says_so(tmp_path):
    fault = PermissionError(errno.EACCES, "Permission denied", str(tmp_path / "data.csv"))
    with (
        pytest.raises(scumble.ScumbleError, match=r"^a.csv: no permission to read the file\.$"),
        replace_paths_in_messages({str(tmp_path / "data.csv"): "a.csv"}),
    ):
        raise fault
    with (
        pytest.raises(PermissionError),
        replace_paths_in_messages({"/elsewhere/data.csv": "a.csv"}),
    ):
        raise fault  # it is not about this file


def test_a_file_of_the_command_line_that_was_moved_is_told_of(tmp_path, capfd):
    path = tmp_path / "photos.csv"
    path.write_text(CSV)
    with running(path, tmp_path) as (base, headers, _):
        file = waiting(base, headers)["waiting"]["id"]
        path.rename(tmp_path / "moved.csv")
        with Client(base_url=f"{base}/api/v1", headers=headers, timeout=PATIENCE) as client:
            job = client.job(client.post(f"/uploads/{file}/preview", json={}))
            assert job["error"] == f"{path}: the file is gone. Put it back, or send it again."
            (tmp_path / "moved.csv").rename(path)
            job = client.job(client.post(f"/uploads/{file}/preview", json={}))
            assert job["result"]["labels"] == [1, 2, 3]
    assert "Traceback" not in capfd.readouterr().err


def test_an_upload_that_is_discarded_while_it_is_looked_at_says_so(client, server):
    with all_busy(server, client):
        upload = client.upload("a.csv", CSV.encode()).json()["id"]
        answer = client.post(f"/uploads/{upload}/preview", json={})
        assert client.delete(f"/uploads/{upload}").status_code == 204
    job = client.job(answer)
    assert job["error"] == "a.csv: the file is gone. Put it back, or send it again."


def test_a_large_parquet_file_is_refused_by_its_footer(tmp_path):
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({"x": np.zeros(1_000_000)}), path)
    with pytest.raises(scumble.ScumbleError, match=r"^a.parquet: the file has more than 1 MB"):
        uploads.preview_upload(Upload(path, "a.parquet"), {}, max_unpacked=1 << 20)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"labels": -3}, 422),
        ({"path": "/etc/passwd"}, 422),
        ({"delimiter": 5}, 422),
        ({"header": "yes"}, 422),
        ({"encoding": ["utf-8"]}, 422),
    ],
)
def test_wrong_bodies_for_a_preview_are_refused(client, body, status):
    upload = client.upload("a.csv", CSV.encode()).json()["id"]
    refused = client.post(f"/uploads/{upload}/preview", json=body)
    assert (refused.status_code, bool(refused.json()["error"])) == (status, True)
    assert client.post("/uploads/nonesuch/preview", json={}).status_code == 404
    assert client.post("/uploads/..%2f..%2fetc/preview", json={}).status_code in (404, 405)


@pytest.mark.parametrize(
    "body",
    [
        {"ignore": "light"},
        {"ignore": [True]},
        {"text": [["light"]]},
        {"header": 1},
        {"labels": []},
        {"delimiter": True},
    ],
)
def test_wrong_options_of_readers_are_refused(client, body):
    upload = client.upload("a.csv", CSV.encode()).json()["id"]
    assert client.post("/datasets", json={"uploads": [upload], **body}).status_code == 422


# Public data sets


def test_the_public_datasets_are_the_librarys(client):
    rows = client.get("/public-datasets").json()["datasets"]
    assert [(row["name"], row["place"]) for row in rows] == [
        (entry.name, repository.availability(entry.name)) for entry in repository.entries()
    ]


@pytest.fixture
def small_repository(client, tmp_path, monkeypatch):
    """A folder of the user's own with one data set of the repository, and no network."""
    folder = tmp_path / "own"
    folder.mkdir()
    labels = [f"l{index}" for index in range(14)]
    head = ",".join(["x", *(f"label:{name}" for name in labels)])
    (folder / "yeast.csv").write_text(f"{head}\n" + ("1" + ",1,0" * 7 + "\n") * 4)
    for name, value in (("SCUMBLE_DATA", folder), ("SCUMBLE_CACHE", tmp_path / "cache")):
        monkeypatch.setenv(name, str(value))
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    return folder


def test_what_is_on_this_machine_opens_and_what_cannot_be_fetched_says_so(
    tmp_path, small_repository
):
    path = tmp_path / "films.csv"
    path.write_text("minutes,label:war\n90,1\n150,0\n")
    with running(path, tmp_path) as (base, headers, _):
        with Client(base_url=f"{base}/api/v1", headers=headers, timeout=PATIENCE) as client:
            availability = {
                row["name"]: row["place"]
                for row in client.get("/public-datasets").json()["datasets"]
            }
            assert (availability["yeast"], availability["emotions"]) == ("here", "to fetch")
            result = client.result(client.post("/public-datasets/yeast"))["dataset"]
            assert (result["name"], result["n_labels"], result["source"]) == ("yeast", 14, "yeast")
            job = client.job(client.post("/public-datasets/emotions"))
            assert job["state"] == "failed"
            assert "cannot be reached" in job["error"]
            for name in ("nonesuch", "films.csv", "..%2ffilms"):
                assert client.post(f"/public-datasets/{name}").status_code in (404, 405)


# Files of the command line


def waiting(base, headers):
    until = time.monotonic() + PATIENCE
    while True:
        answer = httpx.get(f"{base}/api/v1/about", headers=headers, timeout=PATIENCE)
        about = answer.json()
        if about["first_job"]["state"] in ("done", "failed"):
            return about
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_plain_table_of_the_command_line_waits_to_be_asked_about(tmp_path):
    path = tmp_path / "photos.csv"
    path.write_text(CSV)
    with running(path, tmp_path) as (base, headers, _):
        about = waiting(base, headers)
        assert about["first_job"]["state"] == "done"
        file = about["waiting"]
        assert (file["name"], file["error"], file["options"]) == (str(path), None, {})
        with Client(base_url=f"{base}/api/v1", headers=headers, timeout=PATIENCE) as client:
            job = client.job(client.post(f"/uploads/{file['id']}/preview", json={}))
            assert job["result"]["labels"] == [1, 2, 3]
            body = {"uploads": [file["id"]], "labels": ["sky", "sea"], "ignore": ["heron"]}
            result = client.result(client.post("/datasets", json=body))["dataset"]
            assert (result["name"], result["n_labels"], result["n_features"]) == ("photos", 2, 1)
            assert result["source"] == str(path)
            assert client.get("/about").json()["waiting"] is None
    assert path.read_text() == CSV


def test_a_broken_table_of_the_command_line_waits_with_its_fault(tmp_path):
    path = tmp_path / "broken.csv"
    path.write_text("a,b\n1\n")
    with running(path, tmp_path) as (base, headers, _):
        about = waiting(base, headers)
        assert about["first_job"]["state"] == "failed"
        assert about["waiting"]["error"] == about["first_job"]["error"]
        assert "broken.csv, line 2" in about["waiting"]["error"]
        upload = about["waiting"]["id"]
        gone = httpx.delete(f"{base}/api/v1/uploads/{upload}", headers=headers, timeout=PATIENCE)
        assert gone.status_code == 204
        assert waiting(base, headers)["waiting"] is None
    assert path.read_text() == "a,b\n1\n"


def test_a_local_file_stays_where_it_is_and_has_no_limit(server, tmp_path):
    path = tmp_path / "my table.csv.gz"
    path.write_bytes(gzip.compress(CSV.encode()))
    stored = server.state.uploads.add_local_file(path, "my table.csv.gz")
    assert stored.is_local_file
    assert stored.path.name == "data.csv.gz"
    assert os.path.samefile(stored.path, path)
    server.state.uploads.discard(stored.id)
    assert not server.state.uploads.holds(stored.id)
    assert path.exists()


# The same on the command line


OPENED = {
    "label_column": "tags",
    "label_separator": "|",
    "ignore": ["id"],
    "text": ["subject"],
    "category": ["code"],
    "decimal": ",",
}


@pytest.mark.parametrize(
    ("name", "content", "options"),
    [
        ("tickets.csv", TICKETS, OPENED),
        ("photos.csv", CSV, {"labels": -2, "ignore": [0]}),
        ("photos.csv", CSV, {"labels": ["sky"], "ignore": ["light", "sea"]}),
        ("photos.csv", CSV, {"labels": [3], "header": True}),
        ("a b.csv", "x\tsky\n1\t0\n2\t1\n", {"labels": ["sky"], "delimiter": "\t"}),
        ("t.csv", "x,y\n1,a\tb\n2,b\n", {"label_column": "y", "label_separator": "\t"}),
    ],
)
def test_command_and_call_read_a_file_as_it_was_opened(tmp_path, name, content, options):
    path = tmp_path / name
    path.write_text(content)
    expected = scumble.read(path, **options)
    arguments = ["convert", str(path), str(tmp_path / "out.parquet"), *as_shell_options(options)]
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert not stopped.value.code
    assert scumble.read(tmp_path / "out.parquet") == expected
    assert eval(as_python_call(str(path), options), {"scumble": scumble}) == expected


def test_a_comparison_names_the_options_the_file_was_opened_with(client):
    rows = "".join(f"{row % 5}.5,{row % 2},{row % 3 // 2}\n" for row in range(30))
    result = client.open(
        ("my photos.csv", f"light,sky,sea\n{rows}".encode()), labels=["sky", "sea"]
    )
    body = {
        "classifiers": [{"classifier": "br"}, {"classifier": "mlknn"}],
        "repeats": 1,
        "folds": 2,
    }
    comparison = client.result(client.post(f"/datasets/{result['id']}/comparison", json=body))
    assert comparison["shell"] == (
        "scumble compare 'my photos.csv' --labels sky,sea -c br,mlknn -r none --folds 1x2 --seed 0"
    )
    client.delete(f"/datasets/{result['id']}")
