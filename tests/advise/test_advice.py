"""From a data set to a decision."""

import math
from dataclasses import replace

import numpy as np
import pytest

import scumble
from scumble import MultilabelDataset
from scumble._core.errors import DataError, ParameterError, ParameterTypeError
from scumble.advice import CANDIDATES, Advice, advise, candidates, diagnose
from scumble.advice.advice import CandidateResult, _select_method
from scumble.advice.advice_text import python_lines, sentences
from scumble.advice.candidates import (
    N_FOLDS,
    N_THRESHOLD_FOLDS,
    CandidateRunner,
    _predict_cross_fitted,
)
from scumble.advice.diagnosis import Diagnosis
from scumble.advice.estimates import MetricEstimate
from scumble.evaluate import run_fold
from scumble.learn import BinaryRelevance, RareLabelClassifier, fit_dataset, label_thresholds
from scumble.measures.stratification import assign_folds

BY_NAME = {candidate.name: candidate for candidate in CANDIDATES}


@pytest.fixture(scope="module")
def data():
    return scumble.make_multilabel(240, 8, mean_ir=8, scumble=None, random_state=2)


@pytest.fixture(scope="module")
def found(data):
    return advise(data, budget=None, random_state=4)


def test_all_candidates_are_judged_and_a_rare_label_classifier_is_advised(found):
    assert [one.candidate.name for one in found.results] == [c.name for c in CANDIDATES]
    assert found.selected in ("rare", "rare(quality=best)")
    assert not found.left_out
    assert found[found.selected].gain.value > 0
    assert found["br after remedial"].gain.value < 0


def test_one_seed_one_answer_for_any_number_of_threads(data, found):
    again = advise(data, budget=None, random_state=4, n_jobs=2)
    for one, other in zip(found.results, again.results, strict=True):
        assert one.expected == other.expected
    assert again.selected == found.selected


def test_rows_are_judged_by_models_that_have_not_seen_them(data):
    """Binary relevance on the same folds, one by one."""
    tried = CandidateRunner(data, 9).run(BY_NAME["br"])
    dealt = assign_folds(data.Y, N_FOLDS, np.random.default_rng([9, 1]))
    for fold in range(N_FOLDS):
        train, test = np.flatnonzero(dealt != fold), np.flatnonzero(dealt == fold)
        alone = run_fold(data[train], data[test], BinaryRelevance(), random_state=9)
        assert (tried.predictions[test] != alone.predictions).nnz == 0
        assert np.array_equal(tried.scores[test], alone.scores)


def test_thresholds_are_tried_on_rows_they_were_not_chosen_on(data):
    scores = np.random.default_rng(0).random(data.Y.shape)
    decided = _predict_cross_fitted(scores, data.Y, 5).toarray()
    parts = assign_folds(data.Y, N_THRESHOLD_FOLDS, np.random.default_rng([5, 2]))
    for part in range(N_THRESHOLD_FOLDS):
        own = np.flatnonzero(parts == part)
        others = np.flatnonzero(parts != part)
        thresholds = label_thresholds(scores[others], data.Y[others])
        assert np.array_equal(decided[own], scores[own] >= thresholds)


def test_shuffled_labels_cannot_be_learnt(data):
    rows = np.random.default_rng(0).permutation(len(data))
    shuffled = MultilabelDataset(data.X, data.Y[rows], labels=data.labels)
    found = advise(shuffled, budget=None, random_state=0)
    assert found.nothing_to_learn
    assert "Nothing can be learnt from this data" in str(found)
    assert not sentences(found)["What does not"]
    assert "What to do" not in str(found)


def test_what_only_trees_can_learn_is_learnt():
    """Stripes of one column among many: distances between rows see little of them."""
    rng = np.random.default_rng(0)
    X = np.c_[rng.random(400), rng.normal(size=(400, 20))]
    Y = np.c_[np.floor(8 * X[:, 0]) % 2 == 0, np.floor(8 * X[:, 0]) % 4 == 1]
    found = advise(MultilabelDataset(X, Y), budget=None, random_state=0)
    # In the blend of "best" the trees are measured to be the loudest: it is as good as they are.
    assert found.selected == "rare(quality=best)"
    assert found.expected["macro_f1"].value > 0.95 > 0.8 > found["rare"].expected["macro_f1"].value
    assert found["br"].expected["macro_f1"].value - found.expected["macro_f1"].value < 0.02
    assert not found.nothing_to_learn
    assert "Nothing can be learnt" not in str(found)
    assert not found.not_learnable_yet.any()


def test_labels_on_all_rows_or_none_are_not_waited_for():
    rng = np.random.default_rng(0)
    X = rng.random((60, 2))
    Y = np.c_[np.ones(60, bool), X[:, 0] > 0.5, np.zeros(60, bool)]
    data = MultilabelDataset(X, Y, labels=("always", "half", "never"))
    found = advise(data, random_state=0)
    wrong = " ".join(sentences(found)["What is wrong"])
    assert "1 label is present in every row, so there is nothing to learn: always." in wrong
    assert "1 label never occurs in this data: never." in wrong
    assert "Not learnt yet" not in wrong

    alone = advise(MultilabelDataset(X, Y[:, [1]]), random_state=0)  # no label is a rare one
    assert sentences(alone)["How sure this is"][-1].startswith("More rows or other features")

    fixed = advise(MultilabelDataset(X, Y[:, [0, 2]]), random_state=0)
    told = sentences(fixed)
    assert told["What helps here"] == [
        "Nothing can be learnt from this data as it is: every label is present in all rows or in "
        "none."
    ]
    assert told["How sure this is"] == []  # no number is shown


def test_no_change_at_all_is_not_called_chance():
    advised = known_advice()
    same = replace(advised.results[0], gain=MetricEstimate(0.0, 0.0, 0.0))
    told = sentences(replace(advised, results=(same, *advised.results[1:])))["What helps here"]
    assert "Untreated trees would give 0.400, 0.200 and 0.600; macro F1 does not change." in told


def test_a_row_with_two_rare_labels_is_one_row():
    advised = known_advice()
    both = replace(advised.diagnosis, is_rare=np.array([False, True, True]))  # they meet on a row
    told = sentences(replace(advised, diagnosis=both))["How sure this is"]
    assert "The numbers for rare labels are based on only 11 rows with such a label." in told


def test_where_nothing_can_be_learnt_no_brackets_are_spoken_of():
    advised = known_advice()
    told = sentences(replace(advised, learnable=advised.learnable & False))["How sure this is"]
    assert told[0] == (
        "All methods were evaluated out of sample. "
        "A pattern that is too weak for 40 rows cannot be distinguished from chance."
    )
    assert "brackets" not in " ".join(told)


def test_what_is_trained_is_what_is_advised(data, found):
    quality = "best" if "best" in found.selected else "fast"
    wanted = fit_dataset(RareLabelClassifier(quality), data, random_state=4)
    assert np.array_equal(found.train().predict_proba(data.X), wanted.predict_proba(data.X))


@pytest.mark.parametrize("candidate", CANDIDATES, ids=lambda one: one.name)
def test_the_suggested_lines_train_what_was_judged(data, candidate):
    """The Python lines are run, as a user would."""
    advised = replace(known_advice(), selected=candidate.name, results=(judged(candidate.name),))
    lines = python_lines(advised)
    names: dict = {}
    exec("\n".join(lines[:-2]), names)
    names["data"] = data
    exec(lines[-1], names)
    own = candidate.fit(data, random_state=0)
    assert type(names["model"]) is type(own)
    assert names["model"].predict(data.X).shape == own.predict(data.X).shape


def test_the_default_is_left_only_for_a_clear_gain():
    rng = np.random.default_rng(0)

    def around(mean, spread=0.01):
        return np.tile(rng.normal(mean, spread, (200, 1)), 3)

    fast, best = around(0.50), around(0.52)
    assert _select_method({"rare": fast, "br": around(0.3), "rare(quality=best)": best}) == (
        "rare(quality=best)"
    )
    assert _select_method({"rare": fast, "rare(quality=best)": fast + 0.001}) == "rare"
    assert _select_method({"rare": fast, "br": fast + 0.01}) == "rare"
    assert _select_method({"rare": fast, "br": fast + 0.05}) == "br"
    assert _select_method({"rare": fast, "br": around(0.53, 0.2)}) == "rare"  # as likely by chance
    assert _select_method({"br": fast}) == "br"


def test_a_small_budget_shortens_the_list_and_names_what_is_missing(data, monkeypatch):
    clock = iter(np.arange(0, 10_000, 30.0))
    monkeypatch.setattr(candidates.time, "perf_counter", lambda: next(clock))
    found = advise(data, budget=100, random_state=4)
    judged = [one.candidate.name for one in found.results]
    assert judged == [c.name for c in CANDIDATES][: len(judged)]
    assert len(judged) < len(CANDIDATES)
    assert [name for name, _ in found.left_out] == [c.name for c in CANDIDATES][len(judged) :]
    assert f"Not evaluated: {found.left_out[0][0]}" in str(found)


def test_a_method_that_turns_out_too_long_is_given_up_after_a_fold(data, monkeypatch):
    now = [0.0]

    def ten_seconds(*given, **more):
        now[0] += 10
        return run_fold(*given, **more)

    monkeypatch.setattr(candidates.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(candidates, "run_fold", ten_seconds)
    found = advise(data, budget=25, random_state=4)
    assert [one.candidate.name for one in found.results] == ["rare", "rare(quality=best)"]
    assert found.left_out[0] == ("br", "it would take about 50 s")
    assert now[0] <= 1.2 * 25  # a fold for each of the first two; the others are not begun


def test_an_interruption_gives_what_is_known_so_far(data, monkeypatch):
    asked, run = [], CandidateRunner.run

    def try_some(results, candidate):
        asked.append(candidate.name)
        if len(asked) == 4:
            raise KeyboardInterrupt
        return run(results, candidate)

    monkeypatch.setattr(CandidateRunner, "run", try_some)
    found = advise(data, random_state=4)
    assert [one.candidate.name for one in found.results] == asked[:3]
    assert found.interrupted
    assert "stopped before all methods were evaluated" in str(found)

    def stop_when_guessing(results, candidate):
        if candidate.name == "br with thresholds":
            raise KeyboardInterrupt
        return 0.0

    monkeypatch.setattr(CandidateRunner, "run", run)
    monkeypatch.setattr(CandidateRunner, "_estimate_seconds", stop_when_guessing)
    found = advise(data, random_state=4)
    assert [one.candidate.name for one in found.results] == ["rare", "br"]
    assert found.interrupted

    def stop_at_once(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(CandidateRunner, "run", stop_at_once)
    with pytest.raises(KeyboardInterrupt):
        advise(data, random_state=4)


def test_missing_values_leave_out_what_cannot_cope(data):
    X = np.array(data.X)
    X[3, 0] = np.nan
    found = advise(MultilabelDataset(X, data.Y), budget=None, random_state=0)
    names = [name for name, _ in found.left_out]
    assert "balanced logistic regression" in names
    assert {"rare", "br"} <= {one.candidate.name for one in found.results}


def test_the_advised_model_and_what_to_expect_of_it(found):
    assert found.model.quality == ("best" if "best" in found.selected else "fast")
    assert not hasattr(found.model, "thresholds_")
    assert found.expected["macro_f1"] == found[found.selected].expected["macro_f1"]


def test_the_room_itself_can_be_called(data, found):
    assert isinstance(scumble.advise(data, budget=None, random_state=4), Advice)
    with pytest.raises(ParameterError, match="'ecc' was not evaluated"):
        found["ecc"]


@pytest.mark.parametrize(
    ("given", "options", "error", "text"),
    [
        ([[1]], {}, ParameterTypeError, "advise takes a MultilabelDataset"),
        (None, {"budget": 0}, ParameterError, "positive number of seconds"),
        (None, {"budget": "2m"}, ParameterError, "must be a positive number of seconds"),
        (None, {"random_state": -1}, ParameterError, "negative"),
    ],
)
def test_bad_input_is_named(data, given, options, error, text):
    with pytest.raises(error, match=text):
        advise(data if given is None else given, **options)


def test_too_few_rows_are_refused(data):
    with pytest.raises(DataError, match=r"found 12 rows\. Expected at least 20"):
        advise(data[:12])


def test_data_without_labels_are_refused(data):
    bare = MultilabelDataset(data.X, data.Y[:, :0])
    assert diagnose(bare).top_cooccurrence == ()
    with pytest.raises(DataError, match=r"has no labels\. Expected at least one"):
        advise(bare)


def judged(name, macro=0.5, gain=0.1, f1=(1.0, 0.5, 0.0)):
    expected = {
        "macro_f1": MetricEstimate(macro, macro - 0.05, macro + 0.05),
        "minority_f1": MetricEstimate(macro / 2, macro / 2 - 0.1, macro / 2 + 0.1),
        "micro_f1": MetricEstimate(macro + 0.2, macro + 0.1, macro + 0.3),
    }
    change = MetricEstimate(gain, gain - 0.04, gain + 0.04)
    return CandidateResult(BY_NAME[name], expected, change, np.array(f1), 1.5)


def known_advice():
    """An advice made by hand, so that its words do not hang on any method."""
    rng = np.random.default_rng(0)
    Y = np.column_stack([np.ones(40), np.arange(40) % 4 == 0, np.arange(40) < 2]).astype(bool)
    data = MultilabelDataset(rng.random((40, 2)), Y, labels=("song", "duet", "yodel"), name="tunes")
    diagnosis = Diagnosis(
        counts=np.array([40, 10, 2]),
        irlbl=np.array([1.0, 4.0, 20.0]),
        scumble=np.array([0.02, 0.1, 0.31]),
        is_rare=np.array([False, False, True]),
        top_cooccurrence=((1, 0.25), (0, 1.0), (0, 1.0)),
        near_duplicates=((0, 1, 0.92),),
        identifiers=(0,),
        leaks=((1, 1, -0.98),),
    )

    return Advice(
        data=data,
        diagnosis=diagnosis,
        results=(
            judged("rare", 0.6, 0.2, [1.0, 0.5, 0.0]),
            judged("br", 0.4, 0.0, [1.0, 0.2, 0.0]),
            judged("br with thresholds", 0.45, 0.05, [1.0, 0.3, 0.0]),
            judged("br after remedial", 0.2, -0.2, [0.6, 0.0, 0.0]),
        ),
        selected="rare",
        learnable=np.array([True, True, False]),
        left_out=(("br after mlros", "it would take about 90 s"),),
        rows_needed=11,
        random_state=0,
    )


def test_the_words_read_aloud(golden):
    golden("advice.txt", str(known_advice()))


def test_plain_values_have_no_nan():
    told = known_advice().to_dict()
    assert told["methods"][0]["chosen"]
    assert told["labels"][2]["company"] == "song"
    assert not told["labels"][2]["learnable"]

    def walk(value):
        for part in value.values() if isinstance(value, dict) else value:
            if isinstance(part, dict | list):
                walk(part)
            assert not (isinstance(part, float) and math.isnan(part))

    walk(told)
