"""Real data sets through the table formats: dense numbers, categories, sparse categories."""

import numpy as np
import pytest

import scumble
from scumble._core.errors import ScumbleWarning

NAMES = ("emotions", "flags", "enron")


@pytest.fixture(params=NAMES)
def data(request, datasets):
    return scumble.read(next((datasets / request.param).glob(f"{request.param}.arff*")))


def dense(data) -> np.ndarray:
    return data.X.toarray() if data.is_sparse else data.X


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_everything_survives(tmp_path, data, suffix):
    scumble.write(data, tmp_path / f"a{suffix}")
    again = scumble.read(tmp_path / f"a{suffix}")
    assert again == data
    assert again.is_sparse == data.is_sparse


@pytest.mark.parametrize("suffix", [".svm", ".txt"])
def test_numbers_and_labels_survive(tmp_path, data, suffix):
    with pytest.warns(ScumbleWarning, match="cannot carry: data set name"):
        scumble.write(data, tmp_path / f"a{suffix}")
    again = scumble.read(tmp_path / f"a{suffix}")
    np.testing.assert_array_equal(dense(again), dense(data))
    assert (again.Y != data.Y).nnz == 0


def test_texts_and_labels_survive(tmp_path, data):
    with pytest.warns(ScumbleWarning, match="cannot carry: data set name"):
        scumble.write(data, tmp_path / "a.csv")
    again = scumble.read(tmp_path / "a.csv")
    assert again.feature_names == data.feature_names
    assert again.labels == data.labels
    assert (again.Y != data.Y).nnz == 0
    for at, feature in enumerate(data.features):
        assert _texts(again, at) == _texts(data, at), feature.name


def test_a_table_of_pandas_gives_it_back(data):
    again = data.from_frame(data.to_frame(), label_columns=data.labels, name=data.name)
    assert again == data


def _texts(data, at: int) -> list[float | None]:
    """Read a column's values as numbers where they can be."""
    values = dense(data)[:, at].tolist()
    categories = data.features[at].categories
    if categories:
        values = [categories[int(code)] for code in values]
    try:
        return [float(value) for value in values]
    except ValueError:
        return values
