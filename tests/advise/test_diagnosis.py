"""What the data alone says is wrong."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import sparse

import scumble
from scumble import MultilabelDataset
from scumble.advice import diagnose
from scumble.measures import irlbl


def make(Y, X=None, **more):
    Y = np.asarray(Y)
    X = np.random.default_rng(0).normal(size=(len(Y), 3)) if X is None else X
    return MultilabelDataset(X, Y, **more)


def test_company_and_rarity_by_hand():
    Y = [[1, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 0, 1]]
    found = diagnose(make(Y))
    assert found.counts.tolist() == [4, 2, 1, 1]
    assert found.irlbl.tolist() == [1, 2, 4, 4]
    assert found.is_rare.tolist() == [False, False, True, True]  # the mean is 2.75
    assert found.top_cooccurrence == ((1, 0.5), (0, 1.0), (0, 1.0), None)


def test_labels_that_are_nearly_the_same():
    one = np.arange(40) < 20
    other = one.copy()
    other[19] = False
    Y = np.column_stack([one, np.arange(40) % 2 == 0, other])
    assert diagnose(make(Y)).near_duplicates == ((0, 2, 19 / 20),)
    few = np.arange(40) < 4  # so many common rows may be an accident
    assert diagnose(make(np.column_stack([few, few]))).near_duplicates == ()


@given(st.integers(0, 10**6))
def test_pairs_agree_with_a_slow_count(seed):
    Y = np.random.default_rng(seed).random((30, 5)) < 0.5
    Y[:, 4] = Y[:, 0] if seed % 2 else Y[:, 4]
    expected = {}
    for a in range(5):
        for b in range(a + 1, 5):
            both, either = (Y[:, a] & Y[:, b]).sum(), (Y[:, a] | Y[:, b]).sum()
            if both >= 5 and both / either >= 0.9:
                expected[a, b] = both / either
    assert {(a, b): share for a, b, share in diagnose(make(Y)).near_duplicates} == pytest.approx(
        expected
    )


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_leaks_and_identifiers_in_dense_and_sparse_columns(form):
    rng = np.random.default_rng(1)
    Y = rng.random((60, 2)) < 0.4
    X = rng.random((60, 4))
    X[:, 1] = 3 * Y[:, 1] + 1
    X[:, 2] = 1 - Y[:, 0]
    X[:, 3] = np.arange(60) + 5
    found = diagnose(make(Y, form(X)))
    assert found.identifiers == (3,)
    assert [(c, at) for c, at, _ in found.leaks] == [(2, 0), (1, 1)]
    assert [r for _, _, r in found.leaks] == pytest.approx([-1, 1])


def test_a_nominal_column_of_names():
    pd = pytest.importorskip("pandas", reason="pip install 'scumble[frames]'")
    frame = pd.DataFrame(
        {"name": [f"row {n}" for n in range(30)], "kind": list("abc") * 10, "y": [0, 1] * 15}
    )
    data = MultilabelDataset.from_frame(frame, label_columns=["y"], keep="name")
    assert [data.feature_names[at] for at in diagnose(data).identifiers] == ["name"]


def test_what_names_rows_is_what_readers_leave_out():
    pd = pytest.importorskip("pandas", reason="pip install 'scumble[frames]'")
    names = [f"c{n}" for n in range(16)] + ["a", "b"] * 3  # 16 of 22 occur once: seven in ten
    numbers = np.random.default_rng(0).permutation(22)
    columns = {"customer": names, "ticket_id": numbers, "size": numbers, "shop": list("ab") * 11}
    frame = pd.DataFrame({**columns, "y": [0, 1] * 11})
    with pytest.warns(scumble.ScumbleWarning, match="'customer', 'ticket_id' hold a different"):
        read = MultilabelDataset.from_frame(frame, label_columns=["y"])
    data = MultilabelDataset.from_frame(frame, label_columns=["y"], keep=True)
    named = [data.feature_names[at] for at in diagnose(data).identifiers]
    assert named == ["customer", "ticket_id"]
    assert read.feature_names == ("size", "shop")


def test_missing_values_do_not_hide_a_leak():
    Y = np.arange(50)[:, None] % 2 == 0
    X = np.c_[Y[:, 0].astype(float), np.arange(50) % 7]
    X[3, 0] = np.nan
    assert [(c, at) for c, at, _ in diagnose(make(Y, X)).leaks] == [(0, 0)]


def test_correlations_are_numpys():
    data = scumble.load("debtags")
    found = diagnose(data)
    assert np.array_equal(found.irlbl, irlbl(data.Y))
    Y = data.Y.toarray().astype(float)
    X = data.X.toarray() if sparse.issparse(data.X) else data.X
    for column, label, strength in found.leaks:
        assert np.corrcoef(X[:, column], Y[:, label])[0, 1] == pytest.approx(strength)
