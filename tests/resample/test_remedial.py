import gzip
import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import sparse
from sklearn.base import clone

from scumble import limit_threads, read
from scumble._core.errors import LabelError, ParameterError, ScumbleError
from scumble.learn import BinaryRelevance, C45Classifier
from scumble.measures import irlbl, is_minority, label_counts, mean_ir, scumble, scumble_by_instance
from scumble.resample import REMEDIAL
from tests.measures.test_concurrence import matrices

X = np.arange(4).reshape(-1, 1)
Y = np.array([[1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 0]])


def slow_remedial(X, Y, *, one_sided="clone", unseen="nan"):
    """The pseudo-code of the paper, line by line."""
    ratios, mean = irlbl(Y), mean_ir(Y, unseen=unseen)
    scores, threshold = scumble_by_instance(Y), scumble(Y)
    originals, clones, sources = Y.copy(), [], list(range(len(Y)))
    for i in range(len(Y)):
        if not scores[i] > threshold + 1e-12:
            continue
        clone = Y[i].copy()
        for label in range(Y.shape[1]):
            if ratios[label] > mean:
                clone[label] = 0
            else:
                originals[i, label] = 0
        if one_sided == "keep" and (not clone.any() or not originals[i].any()):
            originals[i] = Y[i]
            continue
        clones.append(clone)
        sources.append(i)
    return X[sources], np.vstack([originals, *clones]), sources


def test_only_the_instance_mixing_rare_and_frequent_labels_is_split():
    X_new, Y_new = REMEDIAL().fit_resample(X, Y)

    assert X_new.ravel().tolist() == [0, 1, 2, 3, 2]
    assert Y_new[2].tolist() == [0, 0, 1]  # the rare half stays in place
    assert Y_new[4].tolist() == [1, 0, 0]  # the frequent half is appended


def test_what_it_tells_afterwards():
    sampler = REMEDIAL()
    sampler.fit_resample(X, Y)
    assert sampler.sample_indices_.tolist() == [0, 1, 2, 3, 2]
    assert (sampler.n_added_, sampler.n_removed_, sampler.n_one_sided_) == (1, 0, 0)
    assert sampler.passes_[0].scumble == pytest.approx(scumble(Y))
    report = sampler.summary()
    assert report["before"]["n_instances"] == 4
    assert report["after"]["n_instances"] == 5
    assert report["after"]["mean_ir"] == report["before"]["mean_ir"]
    assert report["after"]["scumble"] < report["before"]["scumble"]


# Label 0 in 9 rows, 1 in 3, 2 in 1, MeanIR = (1 + 3 + 9) / 3. The rows with labels 0 and 1 lie
# above the mean and hold majority labels only.
ONE_SIDED = np.array([[1, 0, 0]] * 6 + [[1, 1, 0]] * 3 + [[0, 0, 1]])


def test_one_sided_rows_are_cloned_empty_or_kept():
    cloned = REMEDIAL()
    _, Y_new = cloned.fit_resample(np.zeros((10, 1)), ONE_SIDED)
    assert cloned.n_one_sided_ == 3
    assert Y_new[6:9].sum() == 0
    assert (Y_new[10:] == ONE_SIDED[6:9]).all()
    kept = REMEDIAL(one_sided="keep")
    _, Y_new = kept.fit_resample(np.zeros((10, 1)), ONE_SIDED)
    assert (kept.n_one_sided_, kept.n_added_) == (3, 0)
    assert (Y_new == ONE_SIDED).all()


@pytest.mark.parametrize(
    "flat", [np.eye(3, dtype=int), np.ones((4, 2), int), np.zeros((4, 2), int)]
)
def test_without_a_row_above_the_mean_the_data_comes_back_unchanged(flat):
    sampler = REMEDIAL(passes=3)
    X_new, Y_new = sampler.fit_resample(np.arange(len(flat)).reshape(-1, 1), flat)
    assert (Y_new == flat).all()
    assert X_new.ravel().tolist() == list(range(len(flat)))
    assert len(sampler.passes_) == 3


@given(matrices(), st.sampled_from(["clone", "keep"]), st.sampled_from(["nan", "zero"]))
def test_equals_the_pseudo_code(dense, one_sided, unseen):
    rows = np.arange(len(dense)).reshape(-1, 1)
    parameters = {"one_sided": one_sided, "unseen": unseen}
    X_new, Y_new = REMEDIAL(**parameters).fit_resample(rows, dense)
    X_slow, Y_slow, _ = slow_remedial(rows, dense, **parameters)
    np.testing.assert_array_equal(X_new, X_slow)
    np.testing.assert_array_equal(Y_new, Y_slow)


@given(matrices(), st.integers(1, 4), st.sampled_from(["clone", "keep"]))
def test_label_counts_never_change_and_sources_hold(dense, passes, one_sided):
    sampler = REMEDIAL(passes=passes, one_sided=one_sided)
    rows = np.arange(len(dense)).reshape(-1, 1)
    X_new, Y_new = sampler.fit_resample(rows, dense)
    assert label_counts(Y_new).tolist() == label_counts(dense).tolist()
    assert X_new.ravel().tolist() == sampler.sample_indices_.tolist()
    # The parts of a row put together again are the row.
    together = np.zeros_like(dense)
    np.logical_or.at(together, sampler.sample_indices_, Y_new)
    np.testing.assert_array_equal(together, dense)


@pytest.mark.parametrize("one_sided", ["clone", "keep"])
@pytest.mark.parametrize("n_rows", [1, 63, 64, 1000])
def test_many_rows_are_cut_into_parts_with_the_same_result(monkeypatch, n_rows, one_sided):
    dense = np.random.default_rng(n_rows).random((n_rows, 12)) < np.linspace(0.02, 0.6, 12)
    X = np.arange(n_rows).reshape(-1, 1)
    method = REMEDIAL(passes=2, one_sided=one_sided)
    expected = method.fit_resample(X, dense)
    monkeypatch.setattr("scumble.resample.remedial.SERIAL_BELOW", 0)
    with limit_threads(3):
        found = method.fit_resample(X, dense)
    assert (found[0] == expected[0]).all()
    assert (found[1] == expected[1]).all()


@given(matrices())
def test_passes_are_repetitions(dense):
    rows = np.arange(len(dense)).reshape(-1, 1)
    once = REMEDIAL().fit_resample(rows, dense)
    twice = REMEDIAL().fit_resample(*once)
    for got, expected in zip(REMEDIAL(passes=2).fit_resample(rows, dense), twice, strict=True):
        np.testing.assert_array_equal(got, expected)


def test_labels_never_seen_count_as_zero_if_asked():
    # Ratios 1, 4/3 and 4, and two labels without one: MeanIR is 19/9, or 19/15 with zeros, and
    # label 1 joins the rare ones. The same row is split, at another place.
    dense = np.zeros((4, 5), int)
    dense[:, :3] = [[1, 0, 0], [1, 1, 0], [1, 1, 1], [1, 1, 0]]
    halves = {
        unseen: REMEDIAL(unseen=unseen).fit_resample(X, dense)[1][[2, 4], :3].tolist()
        for unseen in ("nan", "zero")
    }

    assert is_minority(dense).tolist() == [False, False, True, False, False]
    assert is_minority(dense, unseen="zero").tolist() == [False, True, True, False, False]
    assert halves == {"nan": [[0, 0, 1], [1, 1, 0]], "zero": [[0, 1, 1], [1, 0, 0]]}


def test_slashdot_is_split_alike_with_and_without_its_two_labels_never_seen(datasets):
    # mldr's MeanIR is 17.69, ours 19.46; the ratios next to them are 10.43 and 36.5.
    data = read(datasets / "slashdot" / "slashdot.arff")
    ours, theirs = (REMEDIAL(unseen=unseen).resample(data).Y for unseen in ("nan", "zero"))
    assert is_minority(data.Y, unseen="zero").sum() == is_minority(data.Y).sum() == 4
    assert (ours != theirs).nnz == 0


def deal_at_random(Y_new, sources, rng):
    """Give every label of a row that was split to one of its copies, whichever."""
    dealt = np.zeros_like(Y_new)
    for source in np.unique(sources):
        copies = np.flatnonzero(sources == source)
        for label in np.flatnonzero(Y_new[copies].any(axis=0)):
            dealt[rng.choice(copies), label] = 1
    return dealt


def seen_by_binary_relevance(Y_new, sources):
    """Multisets of (row, has the label), one per label: what each binary learner is given."""
    return [Counter(zip(sources.tolist(), column.tolist(), strict=True)) for column in Y_new.T]


@given(matrices(), st.integers(1, 3), st.sampled_from(["clone", "keep"]), st.integers(0, 999))
def test_binary_relevance_cannot_see_which_side_a_label_went_to(dense, passes, one_sided, seed):
    sampler = REMEDIAL(passes=passes, one_sided=one_sided)
    _, Y_new = sampler.fit_resample(np.zeros((len(dense), 1)), dense)
    sources = sampler.sample_indices_
    copies = np.bincount(sources)
    for row in np.flatnonzero(copies > 1):
        with_label = Y_new[sources == row].sum(axis=0)
        assert with_label.tolist() == dense[row].astype(int).tolist()  # one copy has it, no more

    dealt = deal_at_random(Y_new, sources, np.random.default_rng(seed))

    assert seen_by_binary_relevance(dealt, sources) == seen_by_binary_relevance(Y_new, sources)


@settings(max_examples=25)
@given(st.integers(0, 10_000))
def test_trees_of_binary_relevance_predict_the_same_however_labels_are_dealt(seed):
    # Ties in X and nominal columns, but no missing values: C4.5 counts whole rows then, and its
    # choices depend on counts alone. (Fractions of rows would be summed in row order.)
    rng = np.random.default_rng(seed)
    dense = (rng.random((60, 5)) < [0.7, 0.5, 0.3, 0.15, 0.08]).astype(int)
    X = np.column_stack([rng.integers(0, 4, 60), rng.normal(size=(60, 2)).round(1)])
    sampler = REMEDIAL()
    X_new, Y_new = sampler.fit_resample(X, dense)
    dealt = deal_at_random(Y_new, sampler.sample_indices_, rng)
    model = BinaryRelevance(C45Classifier(categorical_features={0: 4}))

    one, two = (clone(model).fit(X_new, labels).predict_both(X) for labels in (Y_new, dealt))

    np.testing.assert_array_equal(one[0], two[0])
    np.testing.assert_array_equal(one[1], two[1])


def test_a_learner_of_labelsets_does_see_the_sides():
    _, Y_new = REMEDIAL().fit_resample(X, Y)
    swapped = Y_new.copy()
    swapped[2], swapped[4] = [1, 0, 1], [0, 0, 0]  # the split row whole, beside an empty copy
    sources = np.array([0, 1, 2, 3, 2])

    assert seen_by_binary_relevance(swapped, sources) == seen_by_binary_relevance(Y_new, sources)
    assert Counter(map(tuple, swapped.tolist())) != Counter(map(tuple, Y_new.tolist()))


@pytest.mark.parametrize(
    "wrong", [{"passes": 0}, {"passes": 1.5}, {"one_sided": "drop"}, {"unseen": "one"}]
)
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(ParameterError, match=f"The '{next(iter(wrong))}' parameter of REMEDIAL"):
        REMEDIAL(**wrong).fit_resample(X, Y)


def test_wrong_input_is_refused():
    with pytest.raises(LabelError, match="two-dimensional"):
        REMEDIAL().fit_resample(X, np.array([0, 1, 0, 1]))
    with pytest.raises(LabelError, match=r"inconsistent numbers of samples: 3 in X and 4 in Y"):
        REMEDIAL().fit_resample(X[:3], Y)
    with pytest.raises(ScumbleError, match="not resampled anything"):
        REMEDIAL().summary()


@pytest.mark.parametrize("name", ["emotions", "enron", "flags", "genbase", "medical"])
def test_equals_mulan_row_by_row(name, datasets, golden):
    expected = json.loads((golden / "mulan" / "remedial" / f"{name}_imbalance.json").read_text())
    data = read(next((datasets / name).glob(f"{name}.arff*")))
    order = [data.labels.index(label) for label in expected["labels"]]
    after = REMEDIAL().resample(data)
    assert len(after) == expected["remedial_n"]
    dense = after.Y.toarray()[:, order].astype(int)
    assert ["".join(map(str, row)) for row in dense] == expected["after_labelsets"]
    assert scumble(after.Y) == pytest.approx(expected["after_SCUMBLE"], abs=1e-12)
    assert mean_ir(after.Y) == pytest.approx(expected["after_MeanIR"], abs=1e-12)


CASES = [
    *((name, 1, "remedial") for name in ("bibtex", "corel5k", "enron", "flags", "medical")),
    *((name, k, f"remedial{k}") for name in ("emotions", "genbase", "yeast") for k in (1, 2, 3)),
]


@pytest.mark.parametrize(("name", "passes", "step"), CASES)
def test_equals_mldr_042_as_a_multiset_of_rows(name, passes, step, golden):
    before = _read_labelsets(golden, name, "measures")
    expected = _read_labelsets(golden, name, step)
    facts = json.loads((golden / "mldr" / f"{name}.{step}.json").read_text())
    n_labels = int(facts["measures"]["num.labels"])
    Y = _matrix(before, n_labels)
    rows = np.arange(len(before)).reshape(-1, 1)
    sampler = REMEDIAL(passes=passes)
    _, Y_new = sampler.fit_resample(rows, Y)
    found = [
        tuple(Y_new.indices[a:b].tolist())
        for a, b in zip(Y_new.indptr, Y_new.indptr[1:], strict=False)
    ]
    assert Counter(found) == Counter(expected)
    assert sampler.passes_[-1].n_above_mean == facts["remedial"]["n_high"]
    one_sided = (
        facts["remedial"]["high_with_only_majority"] + facts["remedial"]["high_with_only_minority"]
    )
    assert sampler.passes_[-1].n_one_sided == one_sided
    assert scumble(Y_new) == pytest.approx(facts["measures"]["scumble"], abs=1e-9)


def _read_labelsets(golden, name, step):
    path = golden / "mldr" / "perinstance" / f"{name}.{step}.labels.txt.gz"
    with gzip.open(path, "rt") as file:
        return [
            tuple(int(label) for label in line.split()) for line in file.read().split("\n")[:-1]
        ]


def _matrix(labelsets, n_labels):
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in labelsets])])
    indices = np.concatenate([np.array(row, int) for row in labelsets])
    return sparse.csr_array(
        (np.ones(len(indices), bool), indices, indptr), shape=(len(labelsets), n_labels)
    )
