import numpy as np
import pytest
from scipy import sparse

from scumble import MultilabelDataset, ScumbleError
from scumble._core.errors import DataError, LabelError, ParameterError
from scumble.data import Feature


def small(**changes):
    parts = {
        "X": np.array([[1.0, 0.0], [np.nan, 1.0], [3.0, 0.0]]),
        "Y": np.array([[1, 0], [1, 1], [0, 0]]),
        "features": [Feature("size"), Feature("colour", "nominal", ("red", "green"))],
        "labels": ["war", "love"],
        "name": "films",
        "weights": [1.0, 2.0, 0.5],
        "label_parents": [-1, 0],
    }
    return MultilabelDataset(**{**parts, **changes})


def test_parts_are_kept_in_canonical_form():
    data = small()
    assert data.Y.dtype == bool
    assert data.X.dtype == np.float64
    assert data.feature_names == ("size", "colour")
    assert data.categorical_features == {1: 2}
    assert (len(data), data.n_features, data.n_labels) == (3, 2, 2)
    assert repr(data) == "<MultilabelDataset 'films': 3 instances, 2 features, 2 labels>"


def test_nothing_in_it_can_be_changed():
    data = small()
    with pytest.raises(AttributeError):
        data.name = "other"
    with pytest.raises(ValueError, match="read-only"):
        data.X[0, 0] = 5
    with pytest.raises(ValueError, match="read-only"):
        data.Y.indices[0] = 1
    sparse_data = small(X=sparse.csr_array([[1.0, 0], [0, 1], [0, 0]]))
    with pytest.raises(ValueError, match="read-only"):
        sparse_data.X.data[0] = 5


def test_the_callers_arrays_stay_writable():
    X, Y = np.zeros((2, 1)), np.ones((2, 1), bool)
    MultilabelDataset(X, Y)
    X[0, 0] = 1
    Y[0, 0] = False


def test_defaults_name_features_and_labels():
    data = MultilabelDataset([[1, 2]], [[1, 0, 1]])
    assert data.feature_names == ("x0", "x1")
    assert data.labels == ("y0", "y1", "y2")


@pytest.mark.parametrize("rows", [[2, 0], np.array([False, True, True]), slice(1, None)])
def test_rows_are_selected_with_everything_that_belongs_to_them(rows):
    data, index = small(), np.arange(3)[rows]
    chosen = data[rows]
    np.testing.assert_array_equal(chosen.X, data.X[index])
    np.testing.assert_array_equal(chosen.Y.toarray(), data.Y.toarray()[index])
    np.testing.assert_array_equal(chosen.weights, data.weights[index])
    assert (chosen.name, chosen.labels) == (data.name, data.labels)


def test_a_single_number_is_no_selection():
    with pytest.raises(DataError, match=r"data\[\[1\]\]"):
        small()[1]


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_concatenation_undoes_selection(storage):
    data = small(X=storage(small().X))
    assert data[:1] + data[1:] == data
    assert MultilabelDataset.concat([data[[i]] for i in range(3)]) == data


def test_joining_other_columns_is_refused():
    with pytest.raises(DataError, match="cannot be joined"):
        small() + small(labels=["war", "peace"])


def test_weights_that_are_no_numbers():
    with pytest.raises(DataError, match=r"Weights must be 3 numbers >= 0 \(.*'heavy'"):
        small(weights=["heavy", 1, 2])


def test_missing_weights_count_as_one():
    joined = small() + small(weights=None)
    assert joined.weights.tolist() == [1.0, 2.0, 0.5, 1.0, 1.0, 1.0]


def test_equality_looks_at_everything():
    data = small()
    assert data == small()
    assert data == small(X=sparse.csr_array(small().X))  # storage is no difference
    for change in (
        {"name": "x"},
        {"labels": ["a", "b"]},
        {"weights": None},
        {"label_parents": None},
        {"Y": np.ones((3, 2), int)},
        {"X": np.zeros((3, 2))},
        {"features": ["size", "colour"]},
    ):
        assert data != small(**change), change
    assert data != "films"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.zeros((2, 2))}, "X has 2 rows and Y has 3"),
        ({"X": np.zeros(3)}, "two-dimensional"),
        ({"X": [["a", 1], ["b", 2], ["c"]]}, "X must be a table"),
        ({"X": [["a", 1], ["b", "x"], ["c", 3]]}, "column 1 of type object cannot be read"),
        ({"features": ["a"]}, "2 columns, but 1 features"),
        ({"features": ["a", "a"]}, "Two features are called 'a'"),
        ({"labels": ["a", "a"]}, "Two labels are called 'a'"),
        ({"labels": ["a"]}, "2 columns, but 1 labels"),
        ({"weights": [1, 2]}, "3 finite numbers"),
        ({"weights": [1, 2, -1]}, ">= 0"),
        ({"label_parents": [1, 0]}, "circle"),
        ({"label_parents": [5, -1]}, "2 label numbers"),
    ],
)
def test_parts_that_do_not_fit_are_refused(change, message):
    with pytest.raises(DataError, match=message):
        small(**change)


def test_labels_and_features_are_checked():
    with pytest.raises(LabelError, match="holds 2"):
        small(Y=np.full((3, 2), 2))
    with pytest.raises(ParameterError, match="kind of feature 'a'"):
        Feature("a", "colour")
    with pytest.raises(DataError, match="cannot have categories"):
        Feature("a", "numeric", ("x",))
    with pytest.raises(DataError, match="repeat a value"):
        Feature("a", "nominal", ("x", "x"))


def test_sparse_features_lose_stored_zeros_but_keep_missing_values():
    X = sparse.csr_array((np.array([0.0, np.nan]), [0, 1], [0, 2]), shape=(1, 2))
    data = MultilabelDataset(X, [[1]])
    assert data.X.nnz == 1
    assert np.isnan(data.X.data).all()
    assert X.nnz == 2


def genres(**given):
    Y = np.array([[1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 0, 1]])
    names = ("film", "war", "love", "noir")
    return MultilabelDataset([[1.0], [2.0], [3.0]], Y, labels=names, weights=[1, 2, 3], **given)


@pytest.mark.parametrize(
    "asked", [["noir", "film"], ("noir", 0), np.array([3, 0]), [-1, 0], np.array(["noir", "film"])]
)
def test_labels_are_selected_in_the_order_asked(asked):
    data = genres()
    found = data.select_labels(asked)
    assert found.labels == ("noir", "film")
    assert found.Y.toarray().astype(int).tolist() == [[0, 1], [0, 1], [1, 0]]
    assert found.X is data.X or (found.X == data.X).all()
    assert found.weights.tolist() == [1, 2, 3]
    assert data[:, asked] == found
    assert data[[2, 0], asked] == found[[2, 0]]
    assert data[[2, 0], asked].weights.tolist() == [3, 1]


@pytest.mark.parametrize(
    ("asked", "labels"),
    [
        ([True, False, False, True], ("film", "noir")),
        (np.array([False, True, True, False]), ("war", "love")),
        (slice(1, 3), ("war", "love")),
        (slice(None, None, -1), ("noir", "love", "war", "film")),
        ("love", ("love",)),
        ([], ()),
    ],
)
def test_labels_are_selected_by_masks_slices_and_one_name(asked, labels):
    data = genres()
    assert data[:, asked].labels == labels
    columns = [data.labels.index(name) for name in labels]
    np.testing.assert_array_equal(data[:, asked].Y.toarray(), data.Y.toarray()[:, columns])


def test_a_label_hangs_below_the_next_one_above_that_stays():
    data = genres(label_parents=[-1, 0, 1, 2])
    assert data[:, ["noir", "film"]].label_parents == (1, -1)
    assert data[:, ["noir", "love"]].label_parents == (1, -1)
    assert data[:, ["noir"]].label_parents is None


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ((slice(None), ["waar"]), "select_labels: there is no label 'waar'. Did you mean 'war'?"),
        ((slice(None), ["zzz"]), "There are: 'film', 'war', 'love', 'noir'"),
        ((slice(None), [4]), "there is no label 4. Expected a number from 0 to 3"),
        ((slice(None), ["war", 1]), "the label 'war' is given twice"),
        ((slice(None), [True]), "a mask of labels must have 4 values, one per label. Got 1"),
        ((slice(None), 1.5), "by their names, their numbers, or a mask with 4 values. Got 1.5"),
        ((slice(None), [1.5]), "by their names, their numbers, or a mask with 4 values. Got 1.5"),
        ((0, "war"), r"A single row is not a data set. Use data\[\[0\]\]"),
        ((slice(None), 0, 0), "Got 3 indices"),
        ("war", "'war' is not a row. Labels come after a comma"),
        ([7], "a mask with 3 values: index 7 is out of bounds"),
    ],
)
def test_refused_selections(key, message):
    with pytest.raises(ScumbleError, match=message.replace("?", r"\?")):
        genres()[key]
