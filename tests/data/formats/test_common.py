"""What every format must do: carry what it claims, and say what it loses."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from scipy import sparse

import scumble
import scumble.data.formats  # registers them
from scumble._core.errors import ScumbleWarning, WriteError
from scumble._core.registry import registered_objects, unregister
from scumble.data import Feature, MultilabelDataset
from scumble.data.formats.base import DATASET_PARTS, present_parts
from scumble.testing.strategies import datasets

FORMATS = dict(registered_objects("format"))
EXAMPLES = settings(max_examples=40, suppress_health_check=list(HealthCheck))

#: One data set for each part, holding it and nothing else.
PLAIN = MultilabelDataset([[1.5], [2.5]], [[1, 0], [1, 1]])
HOLDERS = {
    "data set name": replace(PLAIN, name="films"),
    "feature names": replace(PLAIN, features=(Feature("minutes"),)),
    "feature kinds": replace(
        PLAIN, X=np.array([[0.0], [1.0]]), features=(Feature("x0", "nominal", ("b", "a")),)
    ),
    "label names": replace(PLAIN, labels=("war", "love")),
    "labels never seen": replace(PLAIN, Y=np.array([[1, 0], [1, 0]])),
    "label hierarchy": replace(PLAIN, label_parents=(-1, 0)),
    "instance weights": replace(PLAIN, weights=np.array([1.0, 0.5])),
    "missing values": replace(PLAIN, X=np.array([[1.5], [np.nan]])),
    "rows without labels": replace(PLAIN, Y=np.array([[0, 0], [1, 1]])),
    "sparse storage": replace(PLAIN, X=sparse.csr_array(PLAIN.X)),
}


def there_and_back(folder, form, data: MultilabelDataset) -> MultilabelDataset:
    path = folder / f"data{form.suffixes[0]}"
    scumble.write(data, path, format=form.name)
    return scumble.read(path, format=form.name)


def datasets_for(form, **options):
    """Return a strategy for data sets that the format can hold."""
    return datasets(min_instances=0 if form.can_hold_zero_rows else 1, **options)


def expected(form, data: MultilabelDataset) -> MultilabelDataset:
    """Expect the file's name where a format has no place for another."""
    return data if "data set name" in form.preserved_parts else replace(data, name="data")


def test_each_part_has_an_example():
    assert tuple(HOLDERS) == DATASET_PARTS
    for part, data in HOLDERS.items():
        assert present_parts(data) == {part}


@pytest.mark.parametrize("name", FORMATS)
def test_what_a_format_carries_survives(tmp_path_factory, name):
    form = FORMATS[name]

    @EXAMPLES
    @given(data=datasets_for(form, parts=form.preserved_parts))
    def check(data):
        again = there_and_back(tmp_path_factory.mktemp(name), form, data)
        assert again == expected(form, data)
        if data.is_sparse:
            assert again.is_sparse

    check()


@pytest.mark.parametrize("name", FORMATS)
def test_the_same_data_gives_the_same_bytes(tmp_path_factory, name):
    form = FORMATS[name]

    @settings(EXAMPLES, max_examples=10)
    @given(data=datasets_for(form, parts=form.preserved_parts))
    def check(data):
        contents = []
        for _ in range(2):
            folder = tmp_path_factory.mktemp(name)
            scumble.write(data, folder / f"data{form.suffixes[0]}", format=name)
            contents.append({file.name: file.read_bytes() for file in folder.iterdir()})
        assert contents[0] == contents[1]

    check()


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("part", DATASET_PARTS)
def test_what_is_lost_is_said(tmp_path, name, part):
    form, data = FORMATS[name], HOLDERS[part]
    if part in form.preserved_parts:
        assert there_and_back(tmp_path, form, data) == expected(form, data)
        return
    with pytest.warns(ScumbleWarning, match=f"the {name} format cannot carry: {part}\\."):
        there_and_back(tmp_path, form, data)


@pytest.mark.parametrize("name", FORMATS)
def test_the_rest_survives_a_loss(tmp_path_factory, name):
    """Whatever a data set holds, its labels come back."""
    form = FORMATS[name]

    @settings(EXAMPLES, max_examples=25)
    @given(data=datasets_for(form))
    def check(data):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ScumbleWarning)
            again = there_and_back(tmp_path_factory.mktemp(name), form, data)
        assert again.n_features == data.n_features
        assert (again.Y != data.Y).nnz == 0
        if "label names" in form.preserved_parts:
            assert again.labels == data.labels

    check()


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(
    "shape",
    [(0, 0, 1), (0, 3, 2), (1, 0, 1), (3, 0, 2), (1, 1, 1)],
    ids=lambda shape: "x".join(map(str, shape)),
)
def test_small_shapes(tmp_path, name, shape):
    n_instances, n_features, n_labels = shape
    data = MultilabelDataset(
        np.arange(n_instances * n_features).reshape(n_instances, n_features) / 2,
        np.eye(n_instances, n_labels, dtype=bool),
    )
    if n_instances == 0 and not FORMATS[name].can_hold_zero_rows:
        with pytest.raises(WriteError, match=f"the {name} format cannot hold a data set without"):
            there_and_back(tmp_path, FORMATS[name], data)
        return
    again = there_and_back(tmp_path, FORMATS[name], data)
    assert again.X.shape == data.X.shape
    assert again.Y.shape == data.Y.shape
    assert again == replace(data, name=again.name)


@pytest.mark.parametrize("name", FORMATS)
def test_no_two_formats_want_the_same_first_suffix(name):
    form = FORMATS[name]
    assert all(suffix.startswith(".") and suffix == suffix.lower() for suffix in form.suffixes)
    assert form.title


def test_a_format_that_cannot_hold_zero_rows_refuses_them(tmp_path):
    form = replace(FORMATS["csv"], name="rows", suffixes=(".rows",), can_hold_zero_rows=False)
    try:
        with pytest.raises(WriteError, match="the rows format cannot hold a data set without inst"):
            scumble.write(PLAIN[:0], tmp_path / "a.rows")
        scumble.write(PLAIN, tmp_path / "a.rows")
    finally:
        unregister("format", "rows")
    assert form.can_hold_zero_rows is False
    assert [path.name for path in tmp_path.iterdir()] == ["a.rows"]
