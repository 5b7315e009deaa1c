import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from scipy import sparse

from scumble._core.errors import LabelError, ParameterError, ParameterTypeError, ScumbleError
from scumble._core.parameters import as_generator, check_choice, check_count
from scumble._validation.labels import check_labels, check_named_labels
from tests.measures.test_concurrence import matrices

DENSE = np.array([[1, 0, 1], [0, 0, 0], [0, 1, 1]])


def is_canonical(Y):
    rows = [Y.indices[a:b].tolist() for a, b in zip(Y.indptr, Y.indptr[1:], strict=False)]
    return (
        isinstance(Y, sparse.csr_array)
        and Y.dtype == bool
        and Y.data.all()
        and all(row == sorted(set(row)) for row in rows)
    )


@pytest.mark.parametrize(
    "make",
    [
        np.asarray,
        lambda Y: Y.astype(bool),
        lambda Y: Y.astype(float),
        lambda Y: Y.astype(object),
        lambda Y: Y.tolist(),
        sparse.csr_matrix,
        sparse.csc_array,
        sparse.coo_array,
        sparse.lil_matrix,
        lambda Y: pd.DataFrame(Y, columns=list("abc")),
        lambda Y: pd.DataFrame(Y, columns=list("abc")).astype(bool),
        lambda Y: pl.DataFrame(Y, schema=list("abc")),
        lambda Y: pl.DataFrame(Y.astype(bool), schema=list("abc")).to_arrow(),
        lambda Y: [{0, 2}, set(), {1, 2}],
        lambda Y: [[0, 2], [], [1, 2]],
        lambda Y: [["a", "c"], [], ["b", "c"]],
    ],
)
def test_every_container_gives_the_same_canonical_matrix(make):
    Y = check_labels(make(DENSE))
    assert is_canonical(Y)
    assert (Y.toarray() == DENSE.astype(bool)).all()


def test_names_come_along():
    assert check_named_labels(pd.DataFrame(DENSE, columns=list("abc")))[1] == ("a", "b", "c")
    assert check_named_labels([["war", "love"], ["war"]])[1] == ("love", "war")
    assert check_named_labels(DENSE)[1] is None


def test_a_canonical_matrix_is_not_copied():
    Y = check_labels(DENSE)
    assert check_labels(Y) is Y


def test_duplicates_disorder_and_stored_zeros_are_mended_without_touching_the_input():
    data = np.array([True, True, True, False, True])
    indices, indptr = np.array([2, 0, 2, 1, 1]), np.array([0, 3, 4, 5])
    messy = sparse.csr_array((data, indices, indptr), shape=(3, 3))
    Y = check_labels(messy)
    assert is_canonical(Y)
    assert Y.toarray().astype(int).tolist() == [[1, 0, 1], [0, 0, 0], [0, 1, 0]]
    assert messy.indices.tolist() == [2, 0, 2, 1, 1]
    assert messy.nnz == 5


def test_scipys_own_flags_are_not_trusted():
    Y = sparse.csr_array(([True, True], [1, 0], [0, 2]), shape=(1, 2))
    Y.has_sorted_indices = Y.has_canonical_format = True
    assert check_labels(Y).indices.tolist() == [0, 1]


@pytest.mark.parametrize("index", [-1, 3, 2**31 - 1])
def test_an_index_out_of_range_is_refused_before_any_kernel_reads_it(index):
    Y = sparse.csr_array(([True], [0], [0, 1]), shape=(1, 3))
    Y.indices = np.array([index], np.int64)
    with pytest.raises(LabelError, match="outside of them"):
        check_labels(Y)


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        (np.array([[0, 1], [2, 1]]), r"row 1, column 0 holds 2"),
        (np.array([[0.0, np.nan]]), r"row 0, column 1 is missing"),
        (np.array([[0.5, 1]]), r"row 0, column 0 holds 0.5"),
        (sparse.csr_array([[0, 1], [-1, 1]]), r"row 1, column 0 holds -1"),
        (sparse.coo_array(([1, 1], ([0, 0], [0, 0]))), r"row 0, column 0 holds 2"),
        (pd.DataFrame({"war": [0, 3]}), r"row 1, column 'war' holds 3"),
        (pd.DataFrame({"war": [0, None]}), r"row 1, column 'war' is missing"),
        (pl.DataFrame({"war": [1, None]}), r"row 1, column 'war' is missing"),
        (pd.DataFrame({"war": ["yes", "no"]}), r"column 'war' holds 'yes'"),
        (pd.DataFrame([[0, 1]], columns=["a", "a"]), r"two label columns of Y have the same name"),
        ([[1, 2], [0, 1]], r"row 0, column 1 holds 2.*label lists"),
        ([["a"], ["b", 3]], r"row 1 of the label lists holds 3"),
        ([[0], [-1, 2]], r"holds -1"),
        ([[1, [2, 3]], [0, 1]], r"row 0, column 1 holds \[2, 3\]"),
        ([[10**30], [1, 2]], r"row 0 of the label lists holds 10{30}"),
        (pd.DataFrame({"war": ["1", "0"]}), r"row 0, column 'war' holds '1'"),
        (np.array([[1, "0"]], object), r"row 0, column 1 holds '0'"),
        (np.array([[1, pd.NA]], object), r"row 0, column 1 is missing"),
        (np.array([[1, 10**400]], object), r"row 0, column 1 holds 10"),
        (np.array([[1, 1j]], object), r"row 0, column 1 holds 1j"),
        ([], r"empty list"),
        (["abc"], r"row 0 is 'abc'"),
        (np.array([0, 1]), r"two-dimensional.*\(2,\).*reshape"),
        (np.zeros((2, 2, 2)), r"two-dimensional"),
    ],
)
def test_the_first_offending_cell_is_named(Y, message):
    with pytest.raises(LabelError, match=message):
        check_labels(Y, caller="here")


@pytest.mark.parametrize("Y", [None, 3, "abc", np.array([["a"]]), np.array([[1j]]), object()])
def test_what_cannot_be_labels_is_refused(Y):
    with pytest.raises(ScumbleError):
        check_labels(Y)
    with pytest.raises(ParameterTypeError):
        check_labels(np.array([["a"]]))


@given(matrices())
def test_any_boolean_matrix_survives(dense):
    Y = check_labels(sparse.coo_array(dense))
    assert is_canonical(Y)
    assert (Y.toarray() == dense).all()


def test_parameters():
    assert check_choice("a", ("a", "b"), name="x", caller="F") == "a"
    with pytest.raises(ParameterError, match="'x' parameter of F must be one of 'a', 'b'"):
        check_choice(3, ("a", "b"), name="x", caller="F")
    assert check_count(np.int64(3), name="k", caller="F") == 3
    for wrong in (0, 1.5, True, "3", None):
        with pytest.raises(
            ParameterError, match=r"'k' parameter of F must be an int in \[1, inf\)"
        ):
            check_count(wrong, name="k", caller="F")


@pytest.mark.parametrize("make", [pd.Series, pl.Series, np.array])
def test_a_column_of_label_lists(make):
    lists = [["b", "a"], [], ["b"]]
    column = make(lists, dtype=object) if make is np.array else make(lists)
    Y, names = check_named_labels(column, caller="here")
    assert names == ("a", "b")
    assert Y.toarray().tolist() == [[True, True], [False, False], [False, True]]


def test_what_a_random_state_may_be():
    with pytest.raises(ParameterError, match=r"None, an int of at least 0, or a.*Got 'a' instead"):
        as_generator("a", caller="here")
    with pytest.raises(ParameterError, match=r"Got -1 instead"):
        as_generator(-1, caller="here")


@pytest.mark.parametrize("kinds", [("int32", "int64"), ("int64", "int32"), ("int16", "uint32")])
def test_indices_of_any_type_and_layout(kinds):
    Y = sparse.csr_array(np.array([[1, 0, 1], [0, 1, 0]], bool))
    Y.indptr = Y.indptr.astype(kinds[0])
    Y.indices = np.repeat(Y.indices, 2).astype(kinds[1])[::2]
    found = check_labels(Y)
    assert found.toarray().tolist() == [[True, False, True], [False, True, False]]
    assert found.indptr.dtype == found.indices.dtype
    assert found.indices.flags.c_contiguous


@pytest.mark.parametrize("indptr", [[0, 40, 2], [0, 2, 1, 2], [0, 100, 200, 2]])
def test_row_pointers_that_step_back_are_refused_before_any_kernel_follows_them(indptr):
    Y = sparse.csr_array((len(indptr) - 1, 3), dtype=bool)
    Y.data, Y.indices = np.ones(2, bool), np.array([0, 1], np.int32)
    Y.indptr = np.array(indptr, np.int32)
    with pytest.raises(LabelError, match="step back"):
        check_labels(Y)
