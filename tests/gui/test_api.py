"""The HTTP API: every address, and that its numbers are the library's."""

import csv
import gzip
import io
import json
import math
import re
import sys
import warnings
import zipfile
from concurrent.futures import ThreadPoolExecutor

import httpx
import numpy as np
import pytest

import scumble
from scumble.gui.api.routes import ROUTES, openapi_document
from scumble.gui.methods import make_resampler
from scumble.gui.pages import _row_order
from scumble.measures.summary import to_json_value
from scumble.plots.chord_layout import chord_layout
from scumble.report import concurrence_report, render_html, render_pdf
from scumble.report.concurrence import labelset_rows, origin_text
from scumble.resample import make_chain, run_chain
from tests.gui.conftest import PATIENCE, TOKEN, all_busy, asleep
from tests.gui.files import ARFF, BROKEN, CSV, HOSTILE, MEKA, XML

SMALL = {"n_instances": 60, "n_labels": 4, "cardinality": 1.5, "mean_ir": 2, "scumble": 0.03}


@pytest.fixture(scope="module")
def data():
    return scumble.load("debtags")


@pytest.fixture(scope="module")
def summary(data):
    return scumble.characterize(data)


@pytest.fixture(scope="module")
def films(client):
    result = client.open(("films.arff", ARFF.encode()), ("films.xml", XML.encode()))
    yield result
    client.delete(f"/datasets/{result['id']}")


def all_rows(client, path, **query):
    rows, offset = [], 0
    while True:
        page = client.get(path, params={"limit": 500, "offset": offset, **query}).json()
        rows += page["rows"]
        offset += 500
        if offset >= page["n_matches"]:
            assert len(rows) == page["n_matches"]
            return rows


# The description of the API


def described():
    return openapi_document()


def check(value, schema, where="answer"):
    """Compare a value with a schema: the part of JSON Schema that we use."""
    if "$ref" in schema:
        schema = described()["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    for part in schema.get("allOf", ()):
        check(value, part, where)
    if "anyOf" in schema:
        assert any(conforms(value, part) for part in schema["anyOf"]), where
    kinds = {
        "object": dict,
        "array": list,
        "string": str,
        "boolean": bool,
        "null": type(None),
        "integer": int,
        "number": (int, float),
    }
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types:
        is_bool = isinstance(value, bool) and "boolean" not in types
        assert not is_bool, where
        assert any(isinstance(value, kinds[kind]) for kind in types), where
    if "enum" in schema:
        assert value in schema["enum"], where
    if isinstance(value, dict):
        assert set(schema.get("required", ())) <= set(value), (where, set(value))
        if schema.get("additionalProperties") is False:
            assert set(value) <= set(schema["properties"]), (where, set(value))
        for key, item in value.items():
            part = schema.get("properties", {}).get(key) or schema.get("additionalProperties")
            if part:
                check(item, part, f"{where}.{key}")
    if isinstance(value, list) and "items" in schema:
        assert schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", math.inf), where
        for item in value[:20]:
            check(item, schema["items"], f"{where}[]")


def conforms(value, schema):
    try:
        check(value, schema)
    except AssertionError:
        return False
    return True


def test_the_description_names_every_address_and_no_other(client):
    described_addresses = {
        (method.upper(), path)
        for path, calls in described()["paths"].items()
        for method in calls
        if method != "parameters"
    }
    assert described_addresses == {(route.method, route.path) for route in ROUTES}
    assert len(ROUTES) == len(described_addresses)
    assert client.get("/openapi.json").json() == described()


def all_schemas(part):
    """Yield all schemas of a part of the description."""
    if isinstance(part, list):
        for item in part:
            yield from all_schemas(item)
    elif isinstance(part, dict):
        for key, item in part.items():
            if key == "properties":
                for schema in item.values():
                    yield schema
                    yield from all_schemas(schema)
            elif key not in ("default", "enum"):
                if key in ("schema", "items", "additionalProperties") and isinstance(item, dict):
                    yield item
                yield from all_schemas(item)


def test_the_description_is_openapi():
    """The rules of OpenAPI 3.1 and of JSON Schema for what we use of them."""
    document = described()
    assert document["openapi"] == "3.1.0"
    assert {"title", "version"} <= set(document["info"])
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    for path, calls in document["paths"].items():
        variables = set(re.findall(r"{(\w+)}", path))
        for method, operation in calls.items():
            assert method in ("get", "post", "delete")
            assert operation["summary"]
            parameters = operation.get("parameters", [])
            names = [(parameter["in"], parameter["name"]) for parameter in parameters]
            assert len(set(names)) == len(names)
            assert {name for place, name in names if place == "path"} == variables
            assert all(parameter["in"] in ("path", "query") for parameter in parameters)
            assert all(p["required"] for p in parameters if p["in"] == "path")
            assert all("schema" in parameter for parameter in parameters)
            assert ("requestBody" in operation) <= (method == "post")
            for status, response in operation["responses"].items():
                assert re.fullmatch(r"[245]\d\d", status)
                assert response["description"]
            assert sum(status.startswith("2") for status in operation["responses"]) == 1
    types = {"object", "array", "string", "boolean", "null", "integer", "number"}
    keywords = {
        *("type", "enum", "default", "description", "format", "$ref", "anyOf", "allOf"),
        *("properties", "required", "additionalProperties", "items", "minItems", "maxItems"),
        *("minimum", "maximum", "exclusiveMinimum", "minLength", "maxLength"),
    }
    components = document["components"]["schemas"]
    schemas = [*components.values(), *all_schemas(document["paths"]), *all_schemas(components)]
    assert len(schemas) > 300
    for schema in schemas:
        assert set(schema) <= keywords
        listed = schema.get("type", [])
        assert {listed} <= types if isinstance(listed, str) else set(listed) <= types
        assert set(schema.get("required", ())) <= set(schema.get("properties", {}))
        if "default" in schema:
            check(schema["default"], schema)
    references = re.findall(r'"\$ref": "#/components/schemas/(\w+)"', json.dumps(document))
    assert set(references) == set(components)


@pytest.mark.parametrize("path", ["labels", "labelsets", "features", "labels/0/partners"])
def test_every_column_of_a_table_can_be_sorted_by(client, films, path):
    address = f"/datasets/{films['id']}/{path}"
    operations = described()["paths"][f"/datasets/{{dataset}}/{path.replace('0', '{label}')}"]
    [sort] = [item for item in operations["get"]["parameters"] if item["name"] == "sort"]
    columns = sort["schema"]["enum"]
    header = client.get(f"{address}.csv").text.splitlines()[0].split(",")
    if path == "labelsets":
        header.remove("labels")  # a list of names
    assert columns == header
    for column in columns:
        assert client.get(address, params={"sort": column}).json()["sort"] == column


def test_answers_look_as_described(client, debtags):
    treated = client.result(
        client.post(f"/datasets/{debtags}/treatments", json={"steps": [{"method": "remedial"}]})
    )["dataset"]["id"]
    for path, calls in described()["paths"].items():
        content = calls.get("get", {}).get("responses", {}).get("200", {}).get("content", {})
        if "application/json" not in content or "{job}" in path:
            continue
        answer = client.get(
            path.replace("{dataset}", treated).replace("{label}", "0").replace("{feature}", "0")
        )
        assert answer.status_code == 200, path
        check(answer.json(), content["application/json"]["schema"], path)
    job = client.post("/examples/synthetic", json=SMALL)
    check(job.json(), {"$ref": "#/components/schemas/JobDescription"})
    check(client.job(job), {"$ref": "#/components/schemas/JobDescription"})


# Numbers


def test_the_overview_has_the_numbers_of_the_library(client, debtags, data, summary):
    result = client.get(f"/datasets/{debtags}").json()
    report = concurrence_report(data)
    assert result["summary"] == summary.to_dict()
    assert result["verdict"] == report["verdict"]
    assert [label["name"] for label in result["difficult"]] == [
        label["name"] for label in report["difficult"][:12]
    ]
    first = result["difficult"][0]
    assert first["partners"] == report["difficult"][0]["partners"][:4]
    sizes = np.bincount(np.diff(data.Y.indptr))
    assert result["histograms"]["labels_per_instance"]["counts"] == sizes.tolist()
    assert result["histograms"]["labels_per_instance"]["edges"] == list(range(len(sizes) + 1))
    assert sum(result["histograms"]["scumble_by_instance"]["counts"]) == len(data)
    assert sum(result["histograms"]["label_frequency"]["counts"]) == data.n_labels
    assert sum(result["histograms"]["labelset_count"]["counts"]) == summary.n_labelsets
    assert result["points"]["n_left_out"] == 0
    assert sorted(result["points"]["label"]) == list(range(data.n_labels))
    assert result["kinds"] == {"numeric": 949}


def test_bins_of_counts_grow_as_one_two_five(client, films):
    counts = client.get(f"/datasets/{films['id']}").json()["histograms"]["label_frequency"]
    assert counts == {"edges": [1, 2, 5, 10], "counts": [1, 1, 1]}  # 6, 2 and 1 films


def test_the_label_table_is_the_librarys(client, debtags, summary):
    rows = all_rows(client, f"/datasets/{debtags}/labels", sort="label", order="ascending")
    rare = summary.labels.is_minority
    assert rows == [
        {
            "label": index,
            **{key: to_json_value(value) for key, value in row.items()},
            "is_minority": bool(rare[index]),
        }
        for index, row in enumerate(summary.labels)
    ]


def test_the_labelset_table_is_the_librarys(client, debtags, data):
    rows = all_rows(client, f"/datasets/{debtags}/labelsets")
    expected, n_all = labelset_rows(data)
    assert len(rows) == n_all
    for row, other in zip(rows, expected, strict=True):
        assert row["labels"] == other["labels"]
        assert row["size"] == len(other["labels"])
        assert {key: row[key] for key in ("count", "imbalance", "scumble")} == {
            key: other[key] for key in ("count", "imbalance", "scumble")
        }


def test_the_attribute_table_describes_the_columns(client, debtags, data):
    rows = all_rows(client, f"/datasets/{debtags}/features")
    dense = data.X.toarray()
    assert [row["name"] for row in rows] == list(data.feature_names)
    assert [row["maximum"] for row in rows] == dense.max(axis=0).tolist()
    assert [row["minimum"] for row in rows] == dense.min(axis=0).tolist()
    np.testing.assert_allclose([row["mean"] for row in rows], dense.mean(axis=0))
    assert [row["n_nonzero"] for row in rows] == np.count_nonzero(dense, axis=0).tolist()
    assert rows[3]["quartiles"] == np.quantile(dense[:, 3], (0.25, 0.5, 0.75)).tolist()


def test_nominal_attributes_list_their_values(client, films):
    minutes, script = client.get(f"/datasets/{films['id']}/features").json()["rows"]
    assert minutes["quartiles"] == [91.25, 97.5, 115.0]
    assert script["name"] == "<script>alert(1)</script>"
    assert script["values"] == [["yes", 3], ["no", 3]]
    assert script["minimum"] is None
    assert script["n_nonzero"] is None  # codes are no amounts
    assert minutes["n_nonzero"] == 6
    assert script["n_values"] == 2


def test_the_values_of_an_attribute_are_counted(client, debtags, films, data):
    address = f"/datasets/{films['id']}/features"
    minutes = client.get(f"{address}/0/distribution").json()
    assert sum(minutes["counts"]) == 6
    assert (minutes["edges"][0], minutes["edges"][-1]) == (80.0, 150.0)
    script = client.get(f"{address}/1/distribution").json()
    assert script == {"edges": [], "counts": [], "values": [["yes", 3], ["no", 3]]}
    for wrong in ("2", "-1", "x", "²"):
        assert client.get(f"{address}/{wrong}/distribution").status_code == 404
    for column in (0, 3, 948):  # sparse: most are zeros that are not stored
        result = client.get(f"/datasets/{debtags}/features/{column}/distribution").json()
        dense = data.X[:, [column]].toarray().ravel()
        assert result["counts"] == np.bincount(dense.astype(int)).tolist()
        assert result["edges"][0] == -0.5


def test_the_chord_is_the_librarys_layout(client, debtags, data, summary):
    address = f"/datasets/{debtags}/chord"
    assert client.get(address).json() == plain_json(chord_layout(data, summary=summary))
    labels = [3, 200, 77]
    result = client.get(address, params={"labels": "3,200,77"}).json()
    assert result == plain_json(chord_layout(data, labels, summary=summary))
    result = client.get(address, params={"labels": "3,200,77", "order": "given"}).json()
    assert [arc["label"] for arc in result["arcs"]] == labels
    assert client.get(address, params={"labels": ","}).json()["arcs"] == []
    for wrong in ("431", "-1", "a", "1.5", "²", "9" * 30):
        refused = client.get(address, params={"labels": wrong})
        assert refused.status_code == 422
        assert "from 0 to 430" in refused.json()["error"]


def test_a_label_brings_its_partners(client, debtags, data):
    label = data.labels.index("protocol::telnet")
    dense = data.Y.toarray()
    joint = dense[dense[:, label]].sum(axis=0)
    joint[label] = 0
    rows = all_rows(client, f"/datasets/{debtags}/labels/{label}/partners")
    assert {row["label"]: row["joint_count"] for row in rows} == {
        partner: joint[partner] for partner in np.flatnonzero(joint)
    }
    counts = [row["joint_count"] for row in rows]
    assert counts == sorted(counts, reverse=True)
    assert rows[0]["share"] == rows[0]["joint_count"] / dense[:, label].sum()
    result = client.get(f"/datasets/{debtags}/chord", params={"around": label}).json()
    drawn = {arc["label"] for arc in result["arcs"]}
    assert drawn == {label, *(row["label"] for row in rows[:15])}
    text = client.get(f"/datasets/{debtags}/labels/{label}/partners.csv").text
    assert len(text.splitlines()) == len(rows) + 1
    assert client.get(f"/datasets/{debtags}/chord", params={"around": 431}).status_code == 422
    for wrong in ("431", "x", "1,2", "-1"):
        refused = client.get(f"/datasets/{debtags}/labels/{wrong}/partners")
        assert refused.status_code in (404, 422)


def plain_json(layout):
    return json.loads(json.dumps(layout.to_json(), allow_nan=False))


# Pages of tables


@pytest.mark.parametrize("order", ["ascending", "descending"])
@pytest.mark.parametrize("sort", ["name", "count", "irlbl", "scumble", "scumble_cv"])
def test_tables_are_sorted_with_gaps_last_and_ties_in_data_order(client, debtags, sort, order):
    rows = all_rows(client, f"/datasets/{debtags}/labels", sort=sort, order=order)
    sign = -1 if order == "descending" else 1
    if sort == "name":
        names = [row["name"].casefold() for row in rows]
        assert names == sorted(names, reverse=order == "descending")
        return
    keys = [(math.inf if row[sort] is None else sign * row[sort], row["label"]) for row in rows]
    assert keys == sorted(keys)


@pytest.mark.parametrize(("descending", "order"), [(False, [1, 3, 0, 2]), (True, [0, 2, 1, 3])])
def test_equal_texts_keep_the_order_of_the_data(descending, order):
    assert _row_order(["b", "a", "B", "A"], descending).tolist() == order


def test_a_page_says_where_it_lies(client, debtags):
    query = {"q": "ROLE::", "sort": "count", "limit": 3, "offset": 2}
    page = client.get(f"/datasets/{debtags}/labels", params=query).json()
    everything = all_rows(client, f"/datasets/{debtags}/labels", sort="count")
    fitting = [row for row in everything if "role::" in row["name"]]
    assert page["rows"] == fitting[2:5]
    assert page["n_matches"] == len(fitting)
    assert page["total"] == 431
    assert (page["sort"], page["order"]) == ("count", "descending")


def test_searching_labelsets_looks_at_their_labels(client, debtags):
    rows = all_rows(client, f"/datasets/{debtags}/labelsets", q="telnet")
    assert rows
    assert all(any("telnet" in name for name in row["labels"]) for row in rows)
    assert sum(row["count"] for row in rows) == 5


@pytest.mark.parametrize(
    "query",
    ["sort=nonesuch", "order=up", "limit=0", "limit=501", "limit=x", "offset=-1", "offset=1e3"],
)
def test_wrong_pages_are_refused(client, debtags, query):
    refused = client.get(f"/datasets/{debtags}/labels?{query}")
    assert refused.status_code == 422
    assert refused.json()["error"].startswith(f"'{query.partition('=')[0]}' must be")


def test_too_long_a_search_is_refused(client, debtags):
    assert client.get(f"/datasets/{debtags}/labels", params={"q": "a" * 1001}).status_code == 422


@pytest.mark.parametrize("table", ["labels", "labelsets", "features"])
def test_csv_has_all_rows_and_runs_no_formula(client, debtags, films, table):
    text = client.get(f"/datasets/{debtags}/{table}.csv").text
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == client.get(f"/datasets/{debtags}/{table}").json()["total"]
    answer = client.get(f"/datasets/{films['id']}/{table}.csv")
    assert answer.headers["content-disposition"] == f'attachment; filename="films-{table}.csv"'
    assert "sandbox" in answer.headers["content-security-policy"]
    for row in csv.reader(io.StringIO(answer.text)):
        assert not any(cell.startswith(("=", "+", "@")) for cell in row)
    if table == "labels":
        names = {row["name"] for row in csv.DictReader(io.StringIO(answer.text))}
        assert names == {HOSTILE, "'=HYPERLINK(1)", "../../etc/passwd"}


# Opening files


def test_mulan_in_two_files(client, films):
    assert films["name"] == "films"
    assert (films["n_instances"], films["n_features"], films["n_labels"]) == (6, 2, 3)
    rows = client.get(f"/datasets/{films['id']}/labels", params={"sort": "label"}).json()["rows"]
    assert {row["name"] for row in rows} == {HOSTILE, "=HYPERLINK(1)", "../../etc/passwd"}


def test_meka_and_csv(client):
    meka = client.open(("photos.arff", MEKA.encode()))
    table = client.open(("photos.csv", CSV.encode()), labels=-3)
    for result in (meka, table):
        assert result["name"] == "photos"
        assert (result["n_instances"], result["n_labels"]) == (4, 3)
    assert meka["id"] != table["id"]


def test_a_csv_that_does_not_say_its_labels_can_be_tried_again(client, server):
    upload = client.upload("photos.csv", CSV.encode()).json()
    job = client.job(client.post("/datasets", json={"uploads": [upload["id"]]}))
    assert job["state"] == "failed"
    assert job["error"].startswith("photos.csv: which columns are labels?")
    body = {"uploads": [upload["id"]], "labels": ["sky", "heron"]}
    assert client.result(client.post("/datasets", json=body))["dataset"]["n_labels"] == 2
    # Now that it is open the upload is gone.
    assert client.post("/datasets", json=body).status_code == 404
    assert not (server.state.folder / "uploads" / upload["id"]).exists()


def test_compressed_files_are_unpacked(client):
    import gzip

    result = client.open(("photos.arff.gz", gzip.compress(MEKA.encode())))
    assert (result["name"], result["n_instances"]) == ("photos", 4)


def zipped(**members: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("_", "."), content)
    return packed.getvalue()


def test_archives_are_unpacked(client, server):
    xml = "<labels><label name='y'/></labels>"
    arff = "@relation a\n@attribute x numeric\n@attribute y {0,1}\n@data\n5,1\n"
    result = client.open(("photos.zip", zipped(a_arff=arff, a_xml=xml, readme_md="hello")))
    assert (result["n_instances"], result["n_features"], result["n_labels"]) == (1, 1, 1)
    bomb = zipped(bomb_arff="@relation bomb\n" + "%" * (30 << 20))
    for name, content, message in (
        ("bomb.zip", bomb, "bomb.zip: the file has more than 8 MB when decompressed"),
        ("broken.zip", zipped(a_arff=arff + "x\n", a_xml=xml), "broken.zip, line 6"),
        ("two.zip", zipped(a_csv="", b_csv=""), "two.zip: the archive holds 'a.csv', 'b.csv'"),
    ):
        uploads = [client.upload(name, content).json()["id"]]
        job = client.job(client.post("/datasets", json={"uploads": uploads}))
        assert job["state"] == "failed"
        assert job["error"].startswith(message)
        assert str(server.state.folder) not in job["error"]


def test_a_broken_file_is_named_as_the_user_knows_it(client, server):
    uploads = [client.upload("my broken.arff", BROKEN.encode()).json()["id"]]
    job = client.job(client.post("/datasets", json={"uploads": uploads, "labels": -1}))
    assert job["state"] == "failed"
    assert job["error"].startswith("my broken.arff, line 6")
    assert "maybe" in job["error"]
    assert str(server.state.folder) not in job["error"]


@pytest.mark.parametrize(
    ("name", "xml"),
    [
        ("emotions.arff", "emotions.xml"),
        ("Emotions Train.arff.gz", "Emotions Train.xml"),
        ("C:\\data sets\\emotions.arff", "emotions.xml"),
        ("emotions.txt", "emotions.xml"),
    ],
)
def test_a_missing_xml_is_asked_for_by_the_users_own_name(client, name, xml):
    content = gzip.compress(ARFF.encode()) if name.endswith(".gz") else ARFF.encode()
    upload = client.upload(name, content).json()["id"]
    assert client.job(client.post("/datasets", json={"uploads": [upload]}))["error"] == (
        f"{name}: an ARFF file of MULAN does not say which attributes are labels. Expected {xml} "
        "beside it: send both files together, or say which columns are labels."
    )
    # Both of the ways it names lead on.
    result = client.result(client.post("/datasets", json={"uploads": [upload], "labels": -3}))
    assert result["dataset"]["n_labels"] == 3
    client.delete(f"/datasets/{result['dataset']['id']}")
    both = client.open((name, content), (xml, XML.encode()))
    assert (both["n_labels"], both["n_instances"]) == (3, 6)
    client.delete(f"/datasets/{both['id']}")


def test_names_of_clients_never_reach_the_disk(client, server):
    name = "../../../../tmp/owned<b>\x00.csv"
    upload = client.upload(name, CSV.encode()).json()
    assert upload["name"] == name
    [stored] = (server.state.folder / "uploads" / upload["id"]).iterdir()
    assert stored.name == "data.csv"
    # Labels as the path of an XML file is for the command line only.
    body = {"uploads": [upload["id"]], "labels": "/etc/passwd.xml"}
    assert client.post("/datasets", json=body).status_code == 422
    odd = client.upload("x.py.exe", CSV.encode()).json()
    [stored] = (server.state.folder / "uploads" / odd["id"]).iterdir()
    assert stored.name == "data"


def test_an_oversized_file_is_refused_before_and_while_it_is_sent(client, server):
    before = set((server.state.folder / "uploads").iterdir())
    declared = client.upload("big.csv", b"x" * (2 * 1024 * 1024 + 1))
    assert declared.status_code == 413
    assert "2 MB" in declared.json()["error"]

    def endless():
        for _ in range(40):
            yield b"x" * 100_000

    headers = {"authorization": f"Bearer {TOKEN}"}
    address = f"{server.address}/api/v1/uploads?name=a.csv"
    streamed = httpx.post(address, content=endless(), headers=headers, timeout=PATIENCE)
    assert streamed.status_code == 413
    assert set((server.state.folder / "uploads").iterdir()) == before


@pytest.mark.parametrize("suffix", ["gz", "xz", "bz2"])
def test_a_bomb_does_not_go_off(client, server, suffix):
    import bz2
    import gzip
    import lzma

    pack = {"gz": gzip.compress, "xz": lzma.compress, "bz2": bz2.compress}[suffix]
    bomb = pack(b"@relation bomb\n" + b"%" * (30 << 20))
    assert len(bomb) < 100_000
    uploads = [client.upload(f"bomb.arff.{suffix}", bomb).json()["id"]]
    job = client.job(client.post("/datasets", json={"uploads": uploads}))
    assert job["state"] == "failed"
    assert job["error"].startswith(f"bomb.arff.{suffix}: the file has more than 8 MB")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"uploads": []}, 422),
        ({"uploads": ["a", "b", "c"]}, 422),
        ({"uploads": ["../../etc"]}, 404),
        ({"uploads": "a"}, 422),
        ({"uploads": ["a"], "path": "/etc/passwd"}, 422),
        ({"uploads": ["a"], "labels": True}, 422),
        ({"uploads": ["a"], "labels": [1, "b"]}, 422),
        ({"uploads": ["a"], "labels": [[1]]}, 422),
        ({"uploads": ["a"], "format": 1}, 422),
    ],
)
def test_wrong_bodies_are_refused(client, body, status):
    refused = client.post("/datasets", json=body)
    assert refused.status_code == status
    assert refused.json()["error"]


READ_OPTIONS = (
    "format, member, labels, label_column, label_separator, weight_column, ignore, text, "
    "category, keep, delimiter, encoding, decimal, header"
)
ITEM = "Each item must have a {!r} and may have 'parameters'."
STEPS = "'steps' must list 1 to 6 methods with their parameters."


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        ("/datasets", {}, "'uploads' must list one file, or a MULAN file and its XML."),
        (
            "/datasets",
            {"uploads": ["a"], "path": "b"},
            f"There is no option 'path'. Known are: {READ_OPTIONS}.",
        ),
        (
            "/datasets",
            {"uploads": ["a"], "header": 1},
            "The option 'header' has a wrong type.",
        ),
        (
            "/datasets",
            {"uploads": ["a"], "ignore": [None]},
            "The option 'ignore' must list names or numbers of columns.",
        ),
        (
            "/datasets",
            {"uploads": ["a"], "labels": [1, "b"]},
            "'labels' must be names, or column numbers, or a count.",
        ),
        ("/examples/synthetic", {"n_labels": "5"}, "'n_labels' must be a number."),
        (
            "/examples/synthetic",
            {"n_labels": 10_001},
            "'n_labels' must be between 0 and 10,000.",
        ),
        (
            "/tickets",
            {"address": 1},
            "'address' must be an address of this API, such as /api/v1/files/NUMBER.",
        ),
        ("{dataset}/treatments", {"steps": []}, STEPS),
        ("{dataset}/treatments", {"steps": [{"method": 3}]}, ITEM.format("method")),
        ("{dataset}/treatments", {"steps": ["remedial"]}, ITEM.format("method")),
        (
            "{dataset}/treatments",
            {"steps": [{"method": "remedial", "parameters": {"passes": [1]}}]},
            "'parameters' must hold numbers, words, true, false or null.",
        ),
        (
            "{dataset}/exports",
            {"format": 1},
            "'kind' must be data or report, and 'format' one of the formats of this kind.",
        ),
        ("{dataset}/advice", {"budget": 0}, "'budget' must be seconds up to 86,400, or null."),
        (
            "{dataset}/advice",
            {"random_state": True},
            "'random_state' must be a whole number from 0 to 2,147,483,648.",
        ),
        ("{dataset}/comparison", {}, "'classifiers' must list 1 to 30 of them."),
        ("{dataset}/comparison", {"classifiers": ["br"]}, ITEM.format("classifier")),
        (
            "{dataset}/comparison",
            {"classifiers": [{"classifier": "br"}], "treatments": "remedial"},
            "'treatments' must list at most 30 lists of steps.",
        ),
        (
            "{dataset}/comparison",
            {"classifiers": [{"classifier": "br"}], "treatments": [[{"method": "mlros"}] * 7]},
            STEPS,
        ),
        (
            "{dataset}/comparison",
            {"classifiers": [{"classifier": "br"}], "folds": 1},
            "'repeats' must be 1 to 10, and 'folds' 2 to 20.",
        ),
        ("{dataset}/models", {}, ITEM.format("classifier")),
    ],
)
def test_refusals_say_what_is_allowed(client, films, path, body, message):
    address = path.replace("{dataset}", f"/datasets/{films['id']}")
    refused = client.post(address, json=body)
    assert (refused.status_code, refused.json()) == (422, {"error": message})


def test_files_that_do_not_belong_together_are_refused(client):
    xml = client.upload("a.xml", XML.encode()).json()["id"]
    first = client.upload("a.csv", CSV.encode()).json()["id"]
    second = client.upload("b.csv", CSV.encode()).json()["id"]
    assert "send both" in client.post("/datasets", json={"uploads": [xml]}).json()["error"]
    both = client.post("/datasets", json={"uploads": [first, second]})
    assert "one by one" in both.json()["error"]
    assert client.upload("empty.csv", b"").status_code == 422


@pytest.mark.parametrize(
    "body",
    [b"{", b"[1]", b"\xff", b'"a"', b"[" * 100_000, b'{"path": NaN}', b'{"path": -Infinity}'],
)
def test_bodies_that_are_no_objects_are_refused(client, body):
    assert client.post("/datasets", content=body).status_code == 400


def test_a_body_of_megabytes_is_refused(client):
    assert client.post("/datasets", content=b" " * (1 << 20) + b"{}").status_code == 413


# Examples, data sets, jobs


def test_synthetic_data_is_what_was_asked_for(client):
    body = {"n_instances": 300, "n_labels": 8, "cardinality": 2, "mean_ir": 4, "scumble": 0.1}
    result = client.result(client.post("/examples/synthetic", json=body))["dataset"]
    expected = scumble.characterize(scumble.make_multilabel(**body, random_state=0)).to_dict()
    assert client.get(f"/datasets/{result['id']}").json()["summary"] == expected


@pytest.mark.parametrize(
    ("name", "body", "status"),
    [
        ("nonesuch", {}, 404),
        ("debtags", {"n_labels": 3}, 422),
        ("synthetic", {"n_instances": 10**9}, 422),
        ("synthetic", {"n_jobs": 1}, 422),
        ("synthetic", {"n_labels": "5"}, 422),
        ("synthetic", {"n_labels": True}, 422),
        ("synthetic", {"scumble": -1}, 422),
    ],
)
def test_wrong_examples_are_refused(client, name, body, status):
    assert client.post(f"/examples/{name}", json=body).status_code == status


def test_options_that_contradict_each_other_fail_with_the_reason(client):
    body = {"n_instances": 10, "n_labels": 50, "cardinality": 1}
    job = client.job(client.post("/examples/synthetic", json=body))
    assert job["state"] == "failed"
    assert "every label must occur" in job["error"]


def test_a_data_set_can_be_closed_once(client):
    body = SMALL
    name = client.result(client.post("/examples/synthetic", json=body))["dataset"]["id"]
    assert name in {dataset["id"] for dataset in client.get("/datasets").json()["datasets"]}
    assert client.delete(f"/datasets/{name}").status_code == 204
    assert client.delete(f"/datasets/{name}").status_code == 404
    assert name not in {dataset["id"] for dataset in client.get("/datasets").json()["datasets"]}


@pytest.mark.parametrize(
    "path",
    ["", "/labels", "/labels.csv", "/labelsets", "/features", "/chord", "/before-and-after"],
)
def test_what_is_not_open_cannot_be_seen(client, path):
    refused = client.get(f"/datasets/nonesuch{path}")
    assert refused.status_code == 404
    assert "open it again" in refused.json()["error"]


@pytest.mark.parametrize("path", ["/nowhere", "/jobs/99999", "/files/99", "/files/..%2f..%2fx"])
def test_what_does_not_exist_is_404(client, path):
    assert client.get(path).status_code == 404


def test_a_job_can_be_cancelled_and_the_server_goes_on(client, server):
    before = len(client.get("/datasets").json()["datasets"])
    with asleep(server, client):
        started = client.post("/examples/synthetic", json=SMALL)
        number = client.until_running(started)
    assert number in {job["id"] for job in client.get("/jobs").json()["jobs"]}
    assert client.delete(f"/jobs/{number}").json()["state"] == "cancelled"
    assert client.job(started)["state"] == "cancelled"
    assert client.delete(f"/jobs/{number}").json()["state"] == "cancelled"  # twice does no harm
    assert client.get("/jobs").json()["jobs"] == []
    assert client.job(client.post("/examples/synthetic", json=SMALL))["state"] == "done"
    assert len(client.get("/datasets").json()["datasets"]) == before + 1
    assert client.delete("/jobs/99999").status_code == 404


def test_a_queued_job_can_be_cancelled(client, server):
    with all_busy(server, client) as held:
        jobs = [*held, *(client.post("/examples/synthetic", json=SMALL) for _ in range(2))]
        assert client.get(f"/jobs/{jobs[3].json()['id']}").json()["state"] == "queued"
        for job in reversed(jobs):
            client.delete(f"/jobs/{job.json()['id']}")
    assert [client.job(job)["state"] for job in jobs] == ["cancelled"] * 4
    assert client.get("/jobs").json()["jobs"] == []


def test_a_process_that_dies_fails_its_job_only(client, server):
    with asleep(server, client):
        started = client.post("/examples/synthetic", json=SMALL)
        number = client.until_running(started)
    server.state.jobs.get(number)._worker._process.kill()
    job = client.job(started)
    assert job["state"] == "failed"
    assert "memory ran out" in job["error"]
    assert client.get("/about").status_code == 200


# Treatments and files


@pytest.fixture(scope="module")
def treated(client, debtags):
    steps = [
        {"method": "remedial", "parameters": {"passes": 1, "one_sided": "keep"}},
        {"method": "mlros", "parameters": {"percent": 10, "random_state": 7}},
    ]
    job = client.post(f"/datasets/{debtags}/treatments", json={"steps": steps})
    result = client.result(job)["dataset"]
    yield result
    client.delete(f"/datasets/{result['id']}")


TREATED = "REMEDIAL(one_sided=keep) + MLROS(percent=10, random_state=7)"


@pytest.fixture(scope="module")
def expected(data):
    chain = [
        *make_chain("remedial", one_sided="keep"),
        *make_chain("mlros", percent=10, random_state=7),
    ]
    return run_chain(data, chain)


def test_a_treatment_is_what_the_library_does(client, debtags, treated, data, expected):
    assert treated["id"] == "debtags-remedial-one-sided-keep-mlros-percent-10-random-state-7"
    assert (treated["parent"], treated["treatment"], treated["copy"]) == (debtags, TREATED, 1)
    after = scumble.characterize(expected)
    assert client.get(f"/datasets/{treated['id']}").json()["summary"] == after.to_dict()
    result = client.get(f"/datasets/{treated['id']}/before-and-after").json()
    measures = {row["key"]: row for row in result["measures"]}
    assert measures["scumble"]["before"] == scumble.characterize(data).scumble
    assert measures["scumble"]["steps"][-1] == after.scumble
    assert measures["n_instances"]["steps"][-1] == len(expected)
    assert [step["method"] for step in result["steps"]] == ["REMEDIAL", "MLROS"]
    assert result["steps"][0]["n_one_sided"] > 1000
    first = result["labels"][0]
    assert first["after"]["scumble"] == to_json_value(after.labels.scumble[first["label"]])
    assert sum(result["histograms"]["after"]["counts"]) == len(expected)


def test_only_what_was_treated_can_be_compared(client, debtags):
    assert client.get(f"/datasets/{debtags}/before-and-after").status_code == 409


@pytest.mark.parametrize(
    ("name", "suffix"),
    [
        ("mulan", ".zip"),
        ("meka", ".arff"),
        ("csv", ".csv"),
        ("parquet", ".parquet"),
        ("arrow", ".arrow"),
        ("libsvm", ".svm"),
        ("extreme", ".txt"),
        ("keel", ".dat"),
    ],
)
def test_downloads_can_be_read_back(client, treated, expected, tmp_path, name, suffix):
    filename, content = client.download(treated["id"], format=name)
    stem = treated["id"]
    assert filename == f"{stem}{suffix}"
    path = tmp_path / filename
    path.write_bytes(content)
    if suffix == ".zip":
        with zipfile.ZipFile(path) as box:
            assert sorted(box.namelist()) == [f"{stem}.arff", f"{stem}.xml"]
            box.extractall(tmp_path)
        path = path.with_suffix(".arff")
    again = scumble.read(path, format=name)
    expected_path = tmp_path / "expected" / path.name
    expected_path.parent.mkdir()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", scumble.ScumbleWarning)
        scumble.write(expected, expected_path, format=name)
    assert again == scumble.read(expected_path, format=name)
    assert path.read_bytes() == expected_path.read_bytes()


@pytest.mark.parametrize(
    "name", ["mulan", "meka", "csv", "parquet", "arrow", "libsvm", "extreme", "keel"]
)
@pytest.mark.parametrize("compression", ["", ".gz"])
def test_every_download_opens_again_as_it_is(client, films, name, compression):
    body = {"format": name, "compression": compression}
    filename, content = client.download(films["id"], **body)
    again = client.open((filename, content))
    sizes = ("n_instances", "n_labels")
    assert [again[size] for size in sizes] == [films[size] for size in sizes]
    tables = [
        client.get(f"/datasets/{dataset_id}/labels", params={"sort": "label"}).json()["rows"]
        for dataset_id in (films["id"], again["id"])
    ]
    assert [row["count"] for row in tables[1]] == [row["count"] for row in tables[0]]
    client.delete(f"/datasets/{again['id']}")


def test_runs_with_other_parameters_have_other_names(client, films):
    def run(**parameters):
        body = {"steps": [{"method": "remedial", "parameters": parameters}]}
        answer = client.post(f"/datasets/{films['id']}/treatments", json=body)
        return answer.json()["title"], client.result(answer)["dataset"]

    titles, result = zip(*(run(), run(passes=2, one_sided="clone"), run(passes=2)), strict=True)
    assert titles == ("REMEDIAL on films", *["REMEDIAL(passes=2) on films"] * 2)
    assert [dataset["treatment"] for dataset in result] == ["REMEDIAL", *["REMEDIAL(passes=2)"] * 2]
    assert [dataset["copy"] for dataset in result] == [1, 1, 2]
    assert [dataset["id"] for dataset in result] == [
        "films-remedial",
        "films-remedial-passes-2",
        "films-remedial-passes-2-2",
    ]
    comparison = client.get(f"/datasets/{result[1]['id']}/before-and-after").json()
    assert comparison["chain"][0]["parameters"] == {"passes": 2, "one_sided": "clone"}
    assert comparison["steps"][0]["title"] == "REMEDIAL(passes=2)"
    for dataset in result:
        client.delete(f"/datasets/{dataset['id']}")


def test_the_result_says_that_there_are_rows_without_labels_and_why_it_matters(client, debtags):
    for one_sided, words in (
        ("clone", "one has no label at all"),
        ("keep", "had only rare or only frequent labels and stayed whole."),
    ):
        steps = [{"method": "remedial", "parameters": {"one_sided": one_sided}}]
        job = client.post(f"/datasets/{debtags}/treatments", json={"steps": steps})
        name = client.result(job)["dataset"]["id"]
        result = client.get(f"/datasets/{name}/before-and-after").json()
        [note] = result["notes"]
        assert words in note
        n_one_sided = result["steps"][0]["n_one_sided"]
        assert f"{n_one_sided:,} instances had only rare or only frequent labels" in note
        [row] = [measure for measure in result["measures"] if measure["key"] == "n_unlabelled"]
        n_empty = row["steps"][0] - row["before"]
        assert n_empty == (n_one_sided if one_sided == "clone" else 0)
        assert (f"({n_empty:,} rows in all)" in note) == (one_sided == "clone")
        client.delete(f"/datasets/{name}")


@pytest.mark.parametrize("compression", [".gz", ".bz2", ".xz", ".zst"])
def test_downloads_can_be_compressed(client, films, tmp_path, compression):
    filename, content = client.download(films["id"], format="meka", compression=compression)
    assert filename == f"films.arff{compression}"
    (tmp_path / filename).write_bytes(content)
    assert scumble.read(tmp_path / filename).labels[0] == HOSTILE


def test_what_a_format_cannot_carry_is_told(client, films):
    job = client.job(client.post(f"/datasets/{films['id']}/exports", json={"format": "libsvm"}))
    assert any("cannot carry" in note for note in job["notes"])
    assert not any("/tmp" in note or "files/" in note for note in job["notes"])


def test_the_report_is_the_librarys(client, debtags, treated, data, expected):
    name, page = client.download(debtags, kind="report", format="html")
    assert name == "debtags-report.html"
    report = concurrence_report(data, origin=origin_text("built-in example"))
    assert page.decode() == render_html(report)
    assert client.get("/catalogue").json()["reports"] == ["html", "pdf", "json"]
    name, pdf = client.download(debtags, kind="report", format="pdf")
    assert name == "debtags-report.pdf"
    assert pdf == render_pdf(report)
    name, text = client.download(treated["id"], kind="report", format="json")
    report = json.loads(text)
    assert name == f"{treated['id']}-report.json"
    assert report["summary"] == concurrence_report(expected)["summary"]
    assert report["treatment"]["before"]["scumble"] == scumble.characterize(data).scumble
    assert report["treatment"]["title"] == TREATED
    assert report["origin"].startswith(f"From built-in example, treated with {TREATED}; made on ")
    assert report["treatment"]["chain"][1]["parameters"] == {"percent": 10, "random_state": 7}
    _, page = client.download(treated["id"], kind="report", format="html")
    assert f"<h3><b>{TREATED}</b></h3>" in page.decode()
    assert "after MLROS(percent=10, random_state=7)" in page.decode()


def test_a_hostile_label_is_text_in_the_report(client, films):
    _, page = client.download(films["id"], kind="report", format="html")
    assert HOSTILE not in page.decode()
    assert "&lt;img src=x onerror=" in page.decode()


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"steps": []},
        {"steps": "remedial"},
        {"steps": [{"method": "nonesuch"}]},
        {"steps": [{"method": 3}]},
        {"steps": [{"method": "remedial"}] * 7},
        {"steps": [{"method": "remedial", "parameters": {"passes": [1]}}]},
        {"steps": [{"method": "remedial", "parameters": "x"}]},
    ],
)
def test_wrong_treatments_are_refused(client, debtags, body):
    assert client.post(f"/datasets/{debtags}/treatments", json=body).status_code == 422


@pytest.mark.parametrize(
    ("method", "parameters", "message"),
    [
        ("remedial", {"passes": 0}, "passes"),
        ("remedial", {"nonesuch": 1}, "no parameter 'nonesuch'"),
        ("mlros", {"percent": "many"}, "percent"),
        ("mlsmote", {"n_jobs": 4}, "no parameter 'n_jobs'"),
        ("remedialhwr", {"resampler": "nonesuch"}, "nonesuch"),
    ],
)
def test_wrong_parameters_fail_with_the_librarys_words(
    client, debtags, method, parameters, message
):
    body = {"steps": [{"method": method, "parameters": parameters}]}
    job = client.job(client.post(f"/datasets/{debtags}/treatments", json=body))
    assert job["state"] == "failed"
    assert message in job["error"]


@pytest.mark.parametrize(
    "body",
    [
        {"format": "nonesuch"},
        {"format": "html"},
        {"kind": "report", "format": "csv"},
        {"kind": "file", "format": "csv"},
        {"format": "csv", "compression": ".zip"},
        {"kind": "report", "format": "html", "compression": ".gz"},
    ],
)
def test_wrong_files_are_refused(client, debtags, body):
    assert client.post(f"/datasets/{debtags}/exports", json=body).status_code == 422


def test_every_method_of_the_catalogue_runs_with_its_defaults(client):
    body = {**SMALL, "n_instances": 120, "n_features": 4}
    name = client.result(client.post("/examples/synthetic", json=body))["dataset"]["id"]
    for method in client.get("/catalogue").json()["methods"]:
        defaults = {parameter["name"]: parameter["default"] for parameter in method["parameters"]}
        body = {"steps": [{"method": method["name"], "parameters": defaults}]}
        result = client.result(client.post(f"/datasets/{name}/treatments", json=body))["dataset"]
        assert result["treatment"].split("(")[0] == method["title"]
        assert client.delete(f"/datasets/{result['id']}").status_code == 204


def test_a_resampler_inside_another_that_is_no_name():
    with pytest.raises(scumble.ScumbleError, match=r"name of a resampler must be a text\. Got 5"):
        make_resampler("remedialhwr", {"resampler": 5})
    assert make_resampler("remedialhwr", {"resampler": None}).resampler is None


@pytest.mark.parametrize(
    "step",
    [
        {"method": "page_code.Evil", "parameters": {}},
        {"method": "remedial+page_code.Evil", "parameters": {}},
        {"method": "remedialhwr", "parameters": {"resampler": "page_code.Evil"}},
        {"method": "remedialhwr", "parameters": {"resampler": "remedial+page_code.Evil"}},
    ],
    ids=["method", "chain", "parameter", "chain in a parameter"],
)
def test_no_code_comes_in_through_the_page(tmp_path, monkeypatch, step):
    (tmp_path / "page_code.py").write_text(
        "from scumble.resample import MLROS\nclass Evil(MLROS): ...\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(scumble.ScumbleError, match="There is no resampler"):
        make_resampler(**step)
    assert "page_code" not in sys.modules
    assert type(make_chain("page_code.Evil")[0]).__name__ == "Evil"  # it can be had in Python
    del sys.modules["page_code"]


def test_a_dotted_name_is_refused_before_any_work(client, debtags):
    body = {"steps": [{"method": "os.path", "parameters": {}}]}
    refused = client.post(f"/datasets/{debtags}/treatments", json=body)
    assert refused.status_code == 422
    assert "There is no method 'os.path'" in refused.json()["error"]


# Many at once


def test_fifty_clients_at_once_get_the_same_answers(server, debtags):
    paths = ["", "/labels?q=role", "/labelsets?offset=50", "/features", "/chord"]
    headers = {"authorization": f"Bearer {TOKEN}"}

    def visit(number):
        path = f"{server.address}/api/v1/datasets/{debtags}{paths[number % 5]}"
        answer = httpx.get(path, headers=headers, timeout=PATIENCE)
        return number % 5, answer.status_code, answer.content

    with ThreadPoolExecutor(50) as crowd:
        answers = list(crowd.map(visit, range(50)))
    assert {status for _, status, _ in answers} == {200}
    assert len({(kind, content) for kind, _, content in answers}) == 5
