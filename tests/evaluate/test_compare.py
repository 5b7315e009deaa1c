"""Methods on the same folds, and what may be said of their differences."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import ttest_rel
from sklearn.base import BaseEstimator, ClassifierMixin

import scumble
from scumble._core.errors import ParameterError, ParameterTypeError
from scumble.evaluate import Comparison, MethodResult, compare, cross_validate
from scumble.evaluate.model_selection.folds import LabelCounts
from scumble.evaluate.statistics import corrected_t_test

values = st.lists(
    st.tuples(st.floats(0, 1, width=16), st.floats(0, 1, width=16)), min_size=2, max_size=12
)


@pytest.fixture(scope="module")
def data():
    return scumble.make_multilabel(240, 6, mean_ir=6, scumble=0.1, random_state=3)


class Constant(BaseEstimator):
    """Predict one value for everything."""

    def __init__(self, value=0):
        self.value = value

    def fit(self, X, Y):
        self.n_labels_ = Y.shape[1]
        return self

    def predict(self, X):
        return np.full((X.shape[0], self.n_labels_), self.value)


def test_the_corrected_test_by_hand():
    # Differences .1, .3, .2, .2: mean .2, variance .02 / 3; 1/4 + 1/3 of it is .00388889.
    found = corrected_t_test([0, 0, 0, 0], [0.1, 0.3, 0.2, 0.2], test_over_train=1 / 3)
    error = math.sqrt((1 / 4 + 1 / 3) * 0.02 / 3)
    assert found.difference == pytest.approx(0.2)
    assert found.high - found.low == pytest.approx(2 * 3.182446305 * error)


@given(values)
def test_without_overlap_it_is_the_paired_t_test(pairs):
    x, y = np.array(pairs).T
    found = corrected_t_test(x, y, test_over_train=0.0)
    if np.ptp(y - x) > 1e-6:
        assert found.p_value == pytest.approx(ttest_rel(y, x).pvalue, abs=1e-9)
        interval = ttest_rel(y, x).confidence_interval()
        assert (found.low, found.high) == pytest.approx(tuple(interval))


@given(values, st.floats(0, 2))
def test_overlap_only_widens_and_turning_round_only_turns_signs(pairs, overlap):
    x, y = np.array(pairs).T
    plain, wide = (corrected_t_test(x, y, test_over_train=r) for r in (0.0, overlap))
    back = corrected_t_test(y, x, test_over_train=overlap)
    assert wide.low <= plain.low <= plain.high <= wide.high
    assert wide.p_value >= plain.p_value - 1e-12
    assert (back.low, back.high) == pytest.approx((-wide.high, -wide.low))


def test_one_fold_tells_nothing_of_chance_and_equal_folds_everything():
    assert corrected_t_test([0.1], [0.3], test_over_train=0.25).high == math.inf
    assert corrected_t_test([0, 0], [1, 1], test_over_train=0.25).p_value == 0
    assert corrected_t_test([1, 1], [1, 1], test_over_train=0.25).p_value == 1


@pytest.mark.parametrize(("share", "confidence"), [(-1, 0.9), (math.nan, 0.9), (0.1, 1), (0.1, 0)])
def test_nonsense_is_refused(share, confidence):
    with pytest.raises(ParameterError, match=r"corrected_t_test"):
        corrected_t_test([0, 1], [1, 2], test_over_train=share, confidence=confidence)


def trial(name, folds):
    counts = LabelCounts(*(np.array([n]) for n in (5, 1, 1, 1)), n_test=9, groups={})
    return MethodResult(name, {"micro_f1": np.array(folds)}, (counts,) * len(folds), 1.0)


def comparison(*results, metric="micro_f1"):
    return Comparison("x", ("a",), results, (metric,), 0.25, 0)


def test_verdicts_follow_the_intervals():
    base = trial("base", [0.5, 0.52, 0.48, 0.5, 0.51])
    up = trial("up", [0.6, 0.63, 0.58, 0.61, 0.6])
    down = trial("down", [0.4, 0.42, 0.37, 0.41, 0.4])
    same = trial("same", [0.49, 0.53, 0.48, 0.51, 0.5])
    found = comparison(base, up, down, same)
    assert [one.verdict for one in found.table] == [
        "better",
        "worse",
        "no difference that these folds can show",
    ]
    assert found.best == "up"
    assert found.verdicts()[0] == (
        "up: better (micro F1 0.604 instead of 0.502; a change between "
        f"{found.table[0].low:+.3f} and {found.table[0].high:+.3f})."
    )


def test_more_methods_take_wider_intervals():
    base, up = trial("base", [0.5, 0.6, 0.4]), trial("up", [0.7, 0.75, 0.62])
    alone = comparison(base, up).table[0]
    among = comparison(base, up, trial("other", [0.1, 0.2, 0.3])).table[0]
    assert among.low < alone.low < alone.high < among.high
    risk = corrected_t_test(
        [0.5, 0.6, 0.4], [0.7, 0.75, 0.62], test_over_train=0.25, confidence=0.975
    )
    assert (among.low, among.high) == (risk.low, risk.high)


def test_the_best_of_equals_is_flattered_and_a_clear_winner_is_not():
    rng = np.random.default_rng(0)
    equals = [trial(str(n), rng.normal(0.5, 0.05, 10)) for n in range(20)]
    best = max(np.mean(one.values["micro_f1"]) for one in equals)
    flattered = comparison(*equals)
    assert best - flattered.optimism < best - 0.01
    winner = trial("winner", [0.9] * 10)
    assert comparison(*equals, winner).optimism == pytest.approx(0, abs=1e-12)


def test_values_are_those_of_cross_validation(data):
    found = compare(data, ["br", "rare"], folds="1x3", random_state=7)
    splitter = scumble.evaluate.IterativeStratification(3, random_state=7)
    for one in found.results:
        alone = cross_validate(data, one.name, splitter=splitter, random_state=7)
        for metric in found.metrics:
            assert np.array_equal(one.values[metric], alone[metric].values, equal_nan=True)
    again = compare(data, ["br", "rare"], folds="1x3", random_state=7, n_jobs=2)
    assert again.to_dict()["differences"] == found.to_dict()["differences"]


def test_gains_are_those_of_the_label_tables(data):
    found = compare(data, ["br", "rare"], folds="1x3", random_state=7)
    tables = [
        cross_validate(
            data,
            name,
            splitter=scumble.evaluate.IterativeStratification(3, random_state=7),
            random_state=7,
        ).label_table()
        for name in ("br", "rare")
    ]
    before, after = ({row["name"]: row["f1"] for row in table} for table in tables)
    for row in found.gains("rare"):
        assert row["gain"] == pytest.approx(
            np.nan_to_num(after[row["name"]]) - np.nan_to_num(before[row["name"]])
        )
    gains = [row["gain"] for row in found.gains("rare")]
    assert gains == sorted(gains, reverse=True)


def test_a_metric_of_scores_of_a_classifier_without_scores_is_an_error(data):
    class Silent(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.n_labels_ = y.shape[1]
            return self

        def predict(self, X):
            return np.ones((X.shape[0], self.n_labels_), int)

    with pytest.raises(scumble.ScumbleError, match="one has no value of one_error"):
        scumble.evaluate.compare(data, {"one": Silent()}, folds="1x2", metrics=["one_error"])


def test_combinations_are_named_and_the_first_is_the_baseline(data):
    found = compare(
        data, {"all": Constant(1), "nothing": Constant(0)}, ["none", "remedial"], folds="1x2"
    )
    assert [one.name for one in found.results] == [
        "all",
        "nothing",
        "all after remedial",
        "nothing after remedial",
    ]
    assert found.table[0].mean == 0  # nothing was predicted
    assert found.table[0].metric == "all.macro_f1"


def test_a_test_part_instead_of_folds(data):
    found = compare(data[:160], ["br", "rare"], test=data[160:], random_state=0)
    fold = scumble.evaluate.run_fold(
        data[:160],
        data[160:],
        scumble.learn.make_classifier("br"),
        random_state=int(np.random.SeedSequence([0, 0]).generate_state(2)[1]),
    )
    assert found.results[0].values["micro_f1"][0] == fold.evaluation["micro_f1"]
    one = found.table[0]
    assert one.low < one.difference < one.high
    assert math.isfinite(one.low)
    assert compare(data[:160], ["br", "rare"], test=data[160:], random_state=0).table[0] == one


def test_drawn_rows_never_tell_that_chance_is_impossible(data):
    found = compare(data[:160], {"none": Constant(0), "rare": "rare"}, test=data[160:])
    one = found.table[-1]
    assert one.verdict == "better"
    assert one.p_value == pytest.approx(2 / 501)  # 500 draws, all of them on one side


def test_a_test_part_on_which_nothing_differs(data):
    found = compare(data[:160], {"a": Constant(1), "b": Constant(1)}, test=data[160:])
    assert (found.table[0].low, found.table[0].high) == (0, 0)
    assert found.table[0].verdict == "no difference that these folds can show"


def test_losses_are_better_where_they_are_smaller(data):
    found = compare(
        data, {"all": Constant(1), "mlknn": "mlknn"}, folds="1x4", metrics=["hamming_loss"]
    )
    assert found.table[0].difference < 0
    assert found.table[0].verdict == "better"
    assert found.best == "mlknn"


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"classifiers": "br"}, ParameterError, "must be a list with at least one entry"),
        ({"classifiers": []}, ParameterError, "must be a list"),
        ({"classifiers": ["br", "br"]}, ParameterError, "occurs twice"),
        ({"metrics": ["pooled.macro_f1"]}, ParameterError, "one value of all folds"),
        ({"metrics": ["macro_f2"]}, ParameterError, "There is no metric"),
        ({"metrics": []}, ParameterError, "at least one metric"),
        ({"folds": "five"}, ParameterError, "Folds must be"),
        ({"test": [[1]]}, ParameterTypeError, "'test' parameter of compare must be a Multilabel"),
        ({"confidence": 1.5}, ParameterError, "confidence"),
    ],
)
def test_bad_input_is_named(data, change, error, text):
    with pytest.raises(error, match=text):
        compare(data, **{"classifiers": ["br", "lp"], "folds": "1x2", **change})
    with pytest.raises(ParameterError, match="no method 'ecc'"):
        comparison(trial("a", [1.0])).gains("ecc")
