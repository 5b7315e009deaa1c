"""LP, PS and EPS: pruning by hand and by enumeration, votes, and labelsets of any size."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import sparse

from scumble.learn import EnsembleOfPrunedSets, LabelPowerset, PrunedSets
from scumble.learn.transformation.label_powerset import LabelsetProblem, repeat_rows_for_problems
from scumble.learn.transformation.pruned_sets import prune_labelsets


def test_label_powerset_by_hand():
    # Three rows of {a}, then two of {a, b} and one of {b}: the right leaf has 2/3 and 1/3.
    X = [[1], [2], [3], [7], [8], [9]]
    Y = [[1, 0], [1, 0], [1, 0], [1, 1], [1, 1], [0, 1]]
    fitted = LabelPowerset().fit(X, Y)
    assert fitted.labelsets_.toarray().astype(int).tolist() == [[1, 0], [1, 1], [0, 1]]
    labels, confidences = fitted.predict_both([[2], [8]])
    assert labels.tolist() == [[1, 0], [1, 1]]
    np.testing.assert_allclose(confidences, [[1, 0], [2 / 3, 2 / 3]])


def test_of_equally_probable_labelsets_the_more_frequent_in_training_wins():
    X = [[0], [0], [1], [1], [1]]
    Y = [[0, 1], [1, 0], [1, 0], [1, 0], [1, 0]]
    assert LabelPowerset().fit(X, Y).predict([[0]]).tolist() == [[1, 0]]


def test_pruned_sets_add_up_what_contains_a_label():
    X = [[1]] * 6 + [[9]] * 5
    Y = [[1, 0]] * 4 + [[1, 1]] * 2 + [[0, 1]] * 5
    fitted = PrunedSets(p=1).fit(X, Y)
    np.testing.assert_allclose(fitted.predict_proba([[1]]), [[1, 1 / 3]])
    assert fitted.predict([[1]]).tolist() == [[1, 0]]


#: {a}, {b}, {a, b} three times each; {a, b, c}, {c} and {} once each.
ROWS = [[1, 0, 0]] * 3 + [[0, 1, 0]] * 3 + [[1, 1, 0]] * 3 + [[1, 1, 1], [0, 0, 1], [0, 0, 0]]


@pytest.mark.parametrize(
    ("strategy", "b", "expected"),
    [
        ("A", 1, ["ab"]),
        ("A", 2, ["ab", "b"]),  # {b} comes before {a}: the first label is the highest bit
        ("A", 3, ["ab", "b", "a"]),
        ("B", 0, ["ab", "b", "a"]),
        ("B", 1, ["ab"]),
        ("B", 2, []),
    ],
)
def test_a_rare_labelset_is_taken_apart(strategy, b, expected):
    problem = prune_labelsets(sparse.csr_array(np.array(ROWS, bool)), p=2, strategy=strategy, b=b)
    names = ["".join(np.array(list("abc"))[row]) for row in problem.labelsets.toarray()]
    assert names == ["a", "b", "ab"]
    assert [names[code] for code in problem.codes[problem.row_indices == 9]] == expected
    assert (problem.row_indices < 10).all()  # {c} and {} are rare and have no part that is kept
    assert len(problem.row_indices) == 9 + len(expected)


def slow_pruning(rows, p, strategy, b):
    """Enumerate all subsets of each rare labelset with a binary counter, as MULAN does."""
    counts = {row: rows.count(row) for row in rows}
    taken = []
    for at, row in enumerate(rows):
        if counts[row] > p:
            taken.append((at, row))
            continue
        active = [j for j, bit in enumerate(row) if bit]
        found = []
        for counter in range(1, 2 ** len(active) - 1):
            bits = f"{counter:0{len(active)}b}"
            chosen = {j for j, bit in zip(active, bits, strict=True) if bit == "1"}
            subset = tuple(int(j in chosen) for j in range(len(row)))
            if counts.get(subset, 0) > p:
                found.append(subset)
        found.sort(key=lambda subset: (-sum(subset), -counts[subset]))
        kept = found[:b] if strategy == "A" else [s for s in found if sum(s) > b]
        taken += [(at, subset) for subset in kept]
    return taken


@given(
    st.lists(st.tuples(*[st.integers(0, 1)] * 4), min_size=1, max_size=40),
    st.integers(0, 3),
    st.sampled_from("AB"),
    st.integers(0, 3),
)
def test_pruning_equals_the_enumeration(rows, p, strategy, b):
    Y = sparse.csr_array(np.array(rows, bool))
    problem = prune_labelsets(Y, p=p, strategy=strategy, b=b)
    sets = [tuple(row) for row in problem.labelsets.toarray().astype(int).tolist()]
    found = [
        (int(at), sets[code]) for at, code in zip(problem.row_indices, problem.codes, strict=True)
    ]
    expected = slow_pruning(rows, p, strategy, b)
    assert found == (expected or list(enumerate(rows)))  # where none is frequent, all are kept


def test_rows_that_count_twice_are_laid_out_twice():
    X = np.arange(8.0).reshape(4, 2)
    sets = sparse.csr_array(np.eye(3, dtype=bool))
    first = LabelsetProblem(sets, np.array([0, 1, 1, 3]), np.array([0, 1, 2, 0], np.int32))
    second = LabelsetProblem(sets, np.array([1, 1, 1]), np.array([2, 0, 1], np.int32))
    table, targets = repeat_rows_for_problems(X, [first, second])
    assert table.tolist() == X[[0, 1, 2, 3, 1, 1]].tolist()
    assert [target.rows.tolist() for target in targets] == [[0, 1, 3, 4], [1, 4, 5]]
    assert [target.y.tolist() for target in targets] == [[0, 1, 0, 2], [2, 0, 1]]


def test_large_labelsets_cost_nothing():
    # 60 labels at once: an enumeration would have 2 to the power of 60 subsets.
    X = np.arange(20.0).reshape(-1, 1)
    Y = np.ones((20, 60), int)
    Y[:10, 30:] = 0
    Y[np.arange(20), np.arange(20)] = 0  # every labelset is unique
    Y[15:] = Y[15]
    for classifier in (PrunedSets(), EnsembleOfPrunedSets(random_state=0)):
        assert classifier.fit(X, Y).predict([[19.0]]).tolist() == [Y[15].tolist()]


def test_members_vote():
    class Given(EnsembleOfPrunedSets):
        def _draw_samples(self, n_rows, generator):
            return [np.array([0, 1, 2]), np.array([3, 4, 5]), np.array([0, 1, 2])]

    X = np.arange(6.0).reshape(-1, 1)
    Y = np.array([[1, 0]] * 3 + [[1, 1]] * 3)
    fitted = Given(p=0).fit(X, Y)
    labels, confidences = fitted.predict_both([[0.0]])
    np.testing.assert_allclose(confidences, [[1, 1 / 3]])
    assert labels.tolist() == [[1, 0]]
    assert Given(p=0, threshold=0.3).fit(X, Y).predict([[0.0]]).tolist() == [[1, 1]]


def test_samples_are_drawn_without_replacement():
    drawn = EnsembleOfPrunedSets()._draw_samples(391, np.random.default_rng(0))
    assert len(drawn) == 10
    assert {len(rows) for rows in drawn} == {258}
    assert all(len(np.unique(rows)) == 258 for rows in drawn)
    assert all((a != b).any() for a, b in combinations(drawn, 2))
