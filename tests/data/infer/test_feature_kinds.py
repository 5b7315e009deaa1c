"""Columns of a plain table as a person would read them."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import scumble
from scumble import MultilabelDataset
from scumble._core.errors import (
    DataError,
    LabelError,
    ParameterError,
    ReadError,
    ScumbleError,
    ScumbleWarning,
)
from scumble.data import Feature
from scumble.data.infer.feature_kinds import parse_dates

N = 40
DAY = 86_400_000.0
TICKETS = pd.DataFrame(
    {
        "ticket": [f"T-{at:04}" for at in range(N)],
        "serial_no": [(7 * at) % 41 + 1000 for at in range(N)],
        "created": [f"2024-05-{at % 28 + 1:02} 10:{at:02}" for at in range(N)],
        "subject": [f"The printer number {at} does not print" for at in range(N)],
        "priority": ["low", "high", "low", "urgent"] * (N // 4),
        "amount": [(13 * at) % 41 for at in range(N)],
        "tags": ["printer;paper", "", "printer;;ink", "paper"] * (N // 4),
    }
)
LEFT = ["created", "priority", "amount"]
FORMS = ("pandas", "polars", "pyarrow", "csv", "parquet", "arrow")


def read_tickets(form, tmp_path, **how):
    how = {"label_separator": ";"} | how
    if form in ("pandas", "polars", "pyarrow"):
        frame = {"pandas": lambda x: x, "polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}
        return MultilabelDataset.from_frame(frame[form](TICKETS), label_columns="tags", **how)
    path = tmp_path / f"tickets.{form}"
    if form == "csv":
        TICKETS.to_csv(path, index=False)
    elif form == "parquet":
        TICKETS.to_parquet(path)
    else:
        TICKETS.to_feather(path)
    return scumble.read(path, label_column="tags", **how)


def names(data):
    return list(data.feature_names)


@pytest.mark.parametrize("form", FORMS)
def test_what_names_rows_and_long_text_are_left_out_by_name_and_dates_are_dates(form, tmp_path):
    with pytest.warns(ScumbleWarning) as caught:
        data = read_tickets(form, tmp_path)
    told = [str(warning.message) for warning in caught]
    assert len(told) == 4
    assert any("'ticket', 'serial_no' hold a different value" in one for one in told)
    assert any("'subject' holds text: left out. text='subject'" in one for one in told)
    assert any("'created' holds dates: read as milliseconds" in one for one in told)
    assert any("10 empty label names were left out" in one for one in told)
    assert names(data) == LEFT
    assert [feature.kind for feature in data.features] == ["date", "nominal", "numeric"]
    assert data.X[0, 0] == 19844 * DAY + 10 * 3_600_000
    assert data.labels == ("ink", "paper", "printer")
    assert data.Y[:4].toarray().astype(int).tolist() == [[0, 1, 1], [0, 0, 0], [1, 0, 1], [0, 1, 0]]


def test_a_column_without_a_name_is_asked_for_by_its_number(tmp_path):
    path = tmp_path / "bare.csv"
    path.write_text("".join(f"{at % 3}.5,u{at},1,0\n" for at in range(40)))
    told = r"'x1' holds a different value in most rows: left out.*keep=1 takes it as it is"
    with pytest.warns(ScumbleWarning, match=told):
        assert names(scumble.read(path, labels=-2, header=False)) == ["x0"]
    assert names(scumble.read(path, labels=-2, header=False, keep=[1])) == ["x0", "x1"]


@pytest.mark.parametrize("form", FORMS)
def test_nothing_is_guessed_of_what_the_user_names(form, tmp_path):
    with pytest.warns(ScumbleWarning, match="empty label names") as caught:
        data = read_tickets(
            form, tmp_path, ignore=["serial_no"], text=["subject"], keep=["ticket", "created"]
        )
    assert len(caught) == 1
    assert names(data) == ["ticket", "created", "subject", "priority", "amount"]
    kinds = ["nominal", "nominal", "text", "nominal", "numeric"]
    assert [feature.kind for feature in data.features] == kinds
    subject = data.features[2]
    assert [subject.categories[int(code)] for code in data.X[:, 2]] == TICKETS["subject"].tolist()


@pytest.mark.parametrize("form", FORMS)
def test_true_takes_all_columns_as_they_are(form, tmp_path):
    with pytest.warns(ScumbleWarning, match="empty label names") as caught:
        data = read_tickets(form, tmp_path, keep=True)
    assert len(caught) == 1
    assert names(data) == [column for column in TICKETS if column != "tags"]
    assert data.features[3].kind == "nominal"


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_columns_by_number_and_several_in_one_text(form, tmp_path):
    with pytest.warns(ScumbleWarning, match="empty label names") as caught:
        data = read_tickets(form, tmp_path, ignore="ticket, created", text=3, keep=1)
    assert len(caught) == 1
    assert names(data) == ["serial_no", "subject", "priority", "amount"]


def test_a_few_rows_are_no_reason_to_leave_anything_out():
    few = TICKETS.head(19)
    with pytest.warns(ScumbleWarning) as caught:
        data = MultilabelDataset.from_frame(few, label_columns="tags", label_separator=";")
    assert ["empty" in str(w.message) or "dates" in str(w.message) for w in caught] == [True, True]
    assert "ticket" in names(data)


def test_what_names_rows_may_repeat_now_and_then_and_categories_may_be_many():
    rng = np.random.default_rng(0)
    twice = np.r_[np.arange(430), rng.permutation(430)[:70]]  # 14 of 100 values repeat another
    cities = rng.zipf(1.5, 500) % 200  # 65 cities, half of them met once
    frame = pd.DataFrame(
        {
            "customer": [f"C-{7 * at % 997:03}" for at in twice],
            "customer_id": (7 * twice) % 997,
            "amount": (7 * twice) % 997,
            "city": [f"city {at}" for at in cities],
            "y": rng.integers(0, 2, 500),
        }
    ).sample(frac=1, random_state=0)
    told = "'customer', 'customer_id' hold a different value in most rows"
    with pytest.warns(ScumbleWarning, match=told) as caught:
        data = MultilabelDataset.from_frame(frame, label_columns=["y"])
    assert len(caught) == 1
    assert [(f.name, f.kind) for f in data.features] == [("amount", "numeric"), ("city", "nominal")]
    some = frame.head(25).assign(country=[f"c{at % 20}" for at in range(25)])  # 15 met once
    few = MultilabelDataset.from_frame(some[["country", "y"]], label_columns=["y"])
    assert few.feature_names == ("country",)


def test_row_numbers_with_a_name_are_named(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,x,l\n" + "".join(f"{at},{at % 3}.5,1\n" for at in range(1, 31)))
    with pytest.warns(ScumbleWarning, match="'id' holds a different value"):
        assert names(scumble.read(path, labels=["l"])) == ["x"]
    assert names(scumble.read(path, labels=["l"], keep="id")) == ["id", "x"]
    path.write_text(path.read_text().replace("id,", ",", 1))  # as pandas writes its index
    assert names(scumble.read(path, labels=["l"])) == ["x"]


def test_declared_categories_are_believed():
    frame = TICKETS[["ticket", "tags"]].astype({"ticket": "category"})
    frame["tags"] = "a"
    data = MultilabelDataset.from_frame(frame, label_columns="tags", label_separator=";")
    assert names(data) == ["ticket"]
    table = pa.Table.from_pandas(frame)
    assert names(MultilabelDataset.from_frame(table, label_columns=[], ignore="tags")) == ["ticket"]


def test_a_file_of_ours_comes_back_whole(tmp_path):
    data = MultilabelDataset.from_frame(
        TICKETS.drop(columns="tags"), label_columns=[], keep=True, text="subject", name="tickets"
    )
    for suffix in ("csv", "parquet", "arrow", "arff"):
        path = tmp_path / f"tickets.{suffix}"
        if suffix == "csv":
            with pytest.warns(ScumbleWarning, match="feature kinds"):
                scumble.write(data, path)
            assert names(scumble.read(path)) == names(data)
        else:
            scumble.write(data, path)
            assert scumble.read(path) == data


@pytest.mark.parametrize("suffix", ["arff", "parquet"])
def test_features_of_any_format_can_be_left_out_or_read_as_text(tmp_path, suffix):
    features = [Feature("id"), Feature("words", "string", ("a b", "c"))]
    data = MultilabelDataset([[1.0, 0.0], [2.0, 1.0]], [[1], [0]], features=features)
    scumble.write(data, tmp_path / f"a.{suffix}")
    again = scumble.read(tmp_path / f"a.{suffix}", ignore="id", text="words", keep="words")
    assert again.features == (Feature("words", "text", ("a b", "c")),)
    assert again.X.ravel().tolist() == [0.0, 1.0]
    with pytest.raises(ReadError, match="ignore names 'jd'"):
        scumble.read(tmp_path / f"a.{suffix}", ignore="jd")


@pytest.mark.parametrize(
    ("how", "error", "reason"),
    [
        ({"text": "amount"}, DataError, "text='amount' names a column of numeric values"),
        ({"text": "subjekt"}, DataError, "no column 'subjekt'"),
        ({"keep": "nothing"}, DataError, "no column 'nothing'"),
        ({"text": "tags"}, DataError, "named twice, in label_columns and text"),
        ({"ignore": "amount", "text": "amount"}, DataError, "in ignore and text"),
        ({"label_separator": ""}, ParameterError, "must be a text"),
        ({"label_columns": ["amount"]}, ParameterError, "parts the labels of one column"),
        ({"label_columns": "amount"}, LabelError, "holds values of type int64"),
    ],
)
def test_refusals(how, error, reason):
    how = {"label_columns": "tags", "label_separator": ";"} | how
    with pytest.raises(error, match=reason):
        MultilabelDataset.from_frame(TICKETS[::4], **how)


def test_text_that_is_no_feature_is_refused_in_files(tmp_path):
    with pytest.raises(ReadError, match="text names the column 'tags', which is not a feature"):
        read_tickets("csv", tmp_path, text="tags")


@pytest.mark.parametrize(
    ("texts", "days"),
    [
        (["1970-01-02", "1970-01-03"], [1, 2]),
        (["1970-01-02 12:00", "1970-01-03T00:00:00Z"], [1.5, 2]),
        (["1970-01-02T01:00:00+01:00"], [1]),
        (["02.01.1970", "03.1.1970"], [1, 2]),
        (["02.01.1970 12:00"], [1.5]),
        (["20/01/1970", "01/02/1970"], [19, 31]),
        (["01/20/1970", "02/01/1970"], [19, 31]),
        (["1970/01/02"], [1]),
        (["01/01/1970"], [0]),  # the same day in either order
        (["1970-02-30"], None),
        (["1970-01-02", "soon"], None),
        (["3.5", "4.5"], None),
        ([], None),
    ],
)
def test_dates(texts, days):
    found, is_ambiguous, _ = parse_dates(texts)
    assert not is_ambiguous
    assert days is None if found is None else (found / DAY).tolist() == days


def test_dates_of_which_month_and_day_cannot_be_told_are_left_out():
    frame = pd.DataFrame({"at": ["03/04/2024", "05/06/2024"], "x": [0.5, 1.0], "a": [1, 0]})
    with pytest.warns(ScumbleWarning, match="'at' holds dates that do not show"):
        data = MultilabelDataset.from_frame(frame, label_columns=["a"])
    assert names(data) == ["x"]


@pytest.mark.parametrize(
    ("texts", "form"),
    [
        (["31/05/2024", "01/06/2024"], "dd/MM/yyyy"),
        (["05/31/2024 10:00", "06/01/2024 11:30"], "MM/dd/yyyy HH:mm"),
        (["2024/05/31", "2024/06/01"], "yyyy/MM/dd"),
        (["31.5.2024", "1.6.2024"], "dd.MM.yyyy"),
        (["2024-05-31", "2024-06-01"], None),
    ],
)
def test_how_dates_are_written_is_kept(tmp_path, texts, form):
    frame = pd.DataFrame({"opened": texts, "y": [1, 0]})
    with pytest.warns(ScumbleWarning, match="'opened' holds dates"):
        data = MultilabelDataset.from_frame(frame, label_columns=["y"])
    assert data.features == (Feature("opened", "date", date_format=form),)
    scumble.write(data, tmp_path / "d.arff")
    assert scumble.read(tmp_path / "d.arff").X.tolist() == data.X.tolist()


def test_missing_dates_and_sparse_neighbours():
    frame = pd.DataFrame(
        {
            "at": ["1970-01-02", None, "1970-01-03"],
            "x": pd.arrays.SparseArray([0.0, 2.0, 0.0], fill_value=0.0),
            "a": [1, 0, 0],
        }
    )
    with pytest.warns(ScumbleWarning, match="'at' holds dates"):
        data = MultilabelDataset.from_frame(frame, label_columns=["a"])
    assert data.is_sparse
    np.testing.assert_array_equal(data.X.toarray(), [[DAY, 0], [np.nan, 2], [2 * DAY, 0]])


def test_data_sets_with_other_texts_are_joined():
    def part(texts, codes):
        feature = Feature("t", "text", tuple(texts))
        return MultilabelDataset([[code] for code in codes], [[1]] * len(codes), features=[feature])

    both = part(["a", "b"], [1, 0]) + part(["c", "b"], [0, np.nan, 1])
    assert both.features[0].categories == ("a", "b", "c")
    np.testing.assert_array_equal(both.X.ravel(), [1, 0, 2, np.nan, 1])
    with pytest.raises(DataError, match="cannot be joined"):
        part(["a"], [0]) + MultilabelDataset([[0.0]], [[1]], features=["t"])


def test_a_text_column_of_a_frame_without_any_text():
    frame = pd.DataFrame({"subject": [None, None], "size": [1, 2], "tags": ["a", "b"]})
    data = MultilabelDataset.from_frame(
        frame, label_columns="tags", label_separator=";", text="subject"
    )
    assert data.features[0] == Feature("subject", "text")
    assert np.isnan(data.X[:, 0]).all()


def test_numbers_can_be_categories(tmp_path):
    rows = [(at, 100 + at % 3, at % 2) for at in range(24)]
    text = "row,code,urgent\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows)
    (tmp_path / "a.csv").write_text(text)
    table = pa.table(
        dict(zip(("row", "code", "urgent"), map(list, zip(*rows, strict=True)), strict=True))
    )
    pq.write_table(table, tmp_path / "a.parquet")
    for name in ("a.csv", "a.parquet"):
        data = scumble.read(tmp_path / name, labels=["urgent"], category=["code", "row"])
        assert data.features[1] == Feature("code", "nominal", ("100", "101", "102"))
        assert data.X[:5, 1].tolist() == [0.0, 1.0, 2.0, 0.0, 1.0]
        assert len(data.features[0].categories) == 24
    for option, message in (
        ("ignore", "named twice|is not a feature"),
        ("text", "twice|both name"),
    ):
        for name in ("a.csv", "a.parquet"):
            how = {"labels": ["urgent"], "category": "code", option: "code"}
            with pytest.raises(ScumbleError, match=message):
                scumble.read(tmp_path / name, **how)
    with pytest.raises(ScumbleError, match="category names 'nonesuch'"):
        scumble.read(tmp_path / "a.csv", labels=["urgent"], category="nonesuch")
