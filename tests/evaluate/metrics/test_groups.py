"""Groups of labels, pooled metrics and the table of labels: values worked by hand."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

import scumble
from scumble import MultilabelDataset
from scumble._core.errors import ParameterError
from scumble.evaluate import (
    LabelCounts,
    cross_validate,
    evaluate,
    find_metric,
    label_groups,
    metric_names,
    pooled_metrics,
)
from scumble.evaluate.metrics.label_groups import metric_title

#: Counts 6, 3, 1, 1, 0: IRLbl 1, 2, 6, 6; MeanIR 3.75. Label 2 meets label 0, label 3 nobody.
TRAINING = np.array(
    [
        [1, 0, 1, 0, 0],
        [1, 1, 0, 0, 0],
        [1, 1, 0, 0, 0],
        [1, 0, 0, 0, 0],
        [1, 1, 0, 0, 0],
        [1, 0, 0, 0, 0],
        [0, 0, 0, 1, 0],
    ]
)


def test_groups_by_their_rules():
    found = label_groups(TRAINING)
    assert list(found) == ["all", "minority", "difficult", "few"]
    assert found["all"].tolist() == [True] * 5
    assert found["minority"].tolist() == [False, False, True, True, False]
    assert found["difficult"].tolist() == [False, False, True, False, False]
    assert found["few"].tolist() == [True, True, True, True, False]
    many = np.repeat(TRAINING, 2, axis=0)
    assert label_groups(many)["few"].tolist() == [False, True, True, True, False]


def test_equally_difficult_labels_do_not_lie_above_their_median():
    Y = np.array([[1, 1, 0]] * 3 + [[1, 0, 1]] * 3 + [[1, 0, 0]] * 30)
    found = label_groups(Y)
    assert found["minority"].tolist() == [False, True, True]
    assert not found["difficult"].any()
    nothing = label_groups(np.zeros((3, 2)))
    assert not nothing["minority"].any()
    assert not nothing["difficult"].any()
    assert not nothing["few"].any()


def test_groups_of_ones_own_by_name_number_and_mask():
    data = MultilabelDataset(np.zeros((7, 1)), TRAINING, labels=list("abcde"))
    for mine in (
        ["b", "e"],
        [1, 4],
        [False, True, False, False, True],
        ("e", "b"),
        np.array([4, 1]),
    ):
        found = label_groups(data, {"mine": mine, "few": None})
        assert np.flatnonzero(found["mine"]).tolist() == [1, 4]
        assert found["few"].tolist() == [True, True, True, True, False]
    assert not label_groups(data, {"nobody": []})["nobody"].any()
    assert label_groups(data, None) == {}


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (["minorty"], r"no group of labels 'minorty'. Did you mean 'minority'"),
        ({"mine": None}, "no group of labels 'mine'"),
        (3, "'groups' parameter of label_groups must be names"),
        ({"a.b": [0]}, "cannot be called 'a.b'"),
        ({"pooled": [0]}, "cannot be called 'pooled'"),
        ({"mine": [5]}, "The group 'mine': there is no label 5. Expected a number from 0 to 4"),
        ({"mine": ["dd"]}, "The group 'mine': there is no label 'dd'"),
        ({"mine": [0.5]}, "by their names, their numbers, or a mask with 5 values"),
        ({"mine": [True, False]}, "a mask of labels must have 5 values"),
    ],
)
def test_refused_groups(groups, message):
    with pytest.raises(scumble.ScumbleError, match=message):
        label_groups(TRAINING, groups, labels=list("abcde"))


#: Of labels 0 to 3: tp 2 1 0 0, fp 1 0 0 2, fn 0 1 1 0.
TRUTH = np.array([[1, 1, 0, 0], [1, 1, 1, 0], [0, 0, 0, 0]])
SAID = np.array([[1, 1, 0, 1], [1, 0, 0, 1], [1, 0, 0, 0]])


def test_metrics_of_a_group_by_hand():
    found = evaluate(TRUTH, SAID, groups={"two": [1, 2], "absent": [3], "both": [2, 3]})
    # F of labels 1 and 2: 2/3 and 0; label 2 is never predicted, so its precision counts 0.
    assert found["two.macro_f1"] == pytest.approx(1 / 3)
    assert found["two.macro_precision"] == 0.5
    assert found["two.macro_recall"] == 0.25
    assert found["two.micro_f1"] == 0.5  # tp 1, fp 0, fn 2
    assert found["two.micro_precision"] == 1
    assert found["two.never_predicted"] == 0.5
    # Label 3 does not occur: no mean has it, and its group is empty.
    assert all(math.isnan(found[name]) for name in found if name.startswith("absent."))
    assert found["both.macro_f1"] == 0
    assert found["both.never_predicted"] == 1
    assert found["never_predicted"] == pytest.approx(1 / 3)
    assert "two.macro_auc" not in found
    with pytest.raises(KeyError, match=r"two.macro_auc evaluates scores"):
        found["two.macro_auc"]
    with pytest.raises(KeyError, match="no group 'few'"):
        found["few.macro_f1"]


def test_labels_that_cannot_be_learnt_are_in_no_mean_of_a_group():
    # Training positives 2, 1, 3, 0: label 1 occurs once only.
    training = np.array([[1, 1, 1, 0], [1, 0, 1, 0], [0, 0, 1, 0]])
    found = evaluate(TRUTH, SAID, groups=["all", "few"], training=training)
    assert found["all.macro_f1"] == pytest.approx((4 / 5 + 0) / 2)
    assert found["all.micro_f1"] == pytest.approx(4 / 6)  # tp 2, fp 1, fn 1
    assert found["all.never_predicted"] == 0.5
    assert found["few.macro_f1"] == found["all.macro_f1"]
    assert found["macro_f1"] == pytest.approx((4 / 5 + 2 / 3 + 0 + 0) / 4)
    assert found.by_label["training_positives"].tolist() == [2, 1, 3, 0]


def test_the_rule_for_what_is_undefined_does_not_touch_groups():
    scores = np.random.default_rng(0).random(TRUTH.shape)
    groups = {"two": [1, 2]}
    one, other = (evaluate(TRUTH, SAID, scores, groups=groups, undefined=u) for u in ("ignore", 1))
    for name in one:
        if name.startswith("two."):
            assert one[name] == other[name]


def test_areas_of_a_group_are_the_means_of_its_labels():
    scores = np.random.default_rng(0).random(TRUTH.shape)
    found = evaluate(TRUTH, SAID, scores, groups={"two": [1, 2], "three": [1, 2, 3]})
    areas = found.by_label["auc"]
    assert found["two.macro_auc"] == pytest.approx(areas[1:3].mean())
    assert found["three.macro_auc"] == found["two.macro_auc"]
    assert math.isnan(found["macro_auc"])
    assert "two.micro_auc" not in found
    always = evaluate([[1, 1], [1, 0]], None, [[0.1, 0.2], [0.3, 0.1]], groups=["all"])
    assert always["all.macro_auc"] == 1  # label 0 has no area


def test_a_group_by_rule_needs_the_training_part():
    with pytest.raises(scumble.ScumbleError, match=r"which labels are few and minority. Give its"):
        evaluate(TRUTH, SAID, groups=["minority", "few"])
    with pytest.raises(scumble.ScumbleError, match=r"must have the labels of Y, 4. Got 5"):
        evaluate(TRUTH, SAID, groups=["few"], training=TRAINING)


def counts(training, hits, predicted, true, **groups):
    arrays = (np.array(part) for part in (training, hits, predicted, true))
    masks = {name: np.array(mask, bool) for name, mask in groups.items()}
    return LabelCounts(*arrays, n_test=10, groups=masks)


def test_pooling_by_hand():
    folds = [
        counts([5, 3, 2], [2, 1, 0], [3, 1, 1], [2, 2, 0], minority=[0, 1, 1]),
        counts([4, 4, 1], [1, 0, 1], [1, 4, 1], [3, 0, 1], minority=[0, 0, 1]),
    ]
    found = pooled_metrics(folds)
    # Label 0: tp 3, predicted 4, true 5. Label 1: 1, 5, 2. Label 2 can be learnt on the first fold
    # only, where it does not occur: it counts nowhere.
    assert found["macro_f1"] == pytest.approx((6 / 9 + 2 / 7) / 2)
    assert found["micro_f1"] == pytest.approx(2 * 4 / (9 + 7))
    assert found["macro_precision"] == pytest.approx((3 / 4 + 1 / 5) / 2)
    assert found["macro_specificity"] == pytest.approx((14 / 15 + 14 / 18) / 2)
    assert found["never_predicted"] == 0
    # As a minority label, label 1 is pooled on the first fold alone.
    assert found["minority.macro_f1"] == pytest.approx(2 / 3)
    assert found["minority.micro_recall"] == 0.5


def test_pooling_nothing_is_nan():
    found = pooled_metrics([counts([1], [1], [1], [1], few=[1])])
    assert all(math.isnan(value) for value in found.values())


@given(st.integers(0, 2**32 - 1))
def test_one_fold_pooled_is_that_fold(seed):
    rng = np.random.default_rng(seed)
    Y, said, training = (rng.random((n, 5)) < 0.3 for n in (12, 12, 20))
    groups = ["all", "minority", "difficult", "few"]
    found = evaluate(Y, said, groups=groups, training=training)
    pooled = pooled_metrics([LabelCounts.of(found)])
    for name, value in pooled.items():
        expected = found[name if "." in name else f"all.{name}"]
        assert value == pytest.approx(expected, nan_ok=True), name
    again = LabelCounts.from_dict(LabelCounts.of(found).to_dict())
    np.testing.assert_equal(pooled_metrics([again]), pooled)


def test_named_metrics_have_the_values_that_they_have_among_all():
    rng = np.random.default_rng(5)
    Y, said, training = (rng.random((n, 5)) < 0.3 for n in (12, 12, 20))
    options = {"groups": ["all", "minority"], "training": training, "label_parents": [-1] * 5}
    scores = rng.random((12, 5))
    full = evaluate(Y, said, scores, **options)
    for name, value in full.items():
        found = evaluate(Y, said, scores, metrics=[name], **options)
        np.testing.assert_equal(dict(found), {name: value})
        by_label = {key: full.by_label[key] for key in found.by_label}
        np.testing.assert_equal(dict(found.by_label), by_label)
    none = evaluate(Y, said, scores, metrics=(), **options)
    assert not none
    assert "auc" not in none.by_label
    for name in ("macro_f1", "one_error"):
        with pytest.raises(KeyError, match=f"{name} was not computed"):
            none[name]
    with pytest.raises(KeyError, match="one_error evaluates scores: give evaluate the scores"):
        evaluate(Y, said, metrics=["macro_f1"])["one_error"]
    pooled = pooled_metrics([LabelCounts.of(full)])
    for name, value in pooled.items():
        found = pooled_metrics([LabelCounts.of(full)], metrics=[name])
        np.testing.assert_equal(found, {name: value})


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("macro_f2", "There is no metric"),
        ("few.macro_f1", "There is no metric"),
        ("pooled.macro_f1", "computed from several folds. Expected for example 'macro_f1'"),
    ],
)
def test_metrics_that_cannot_be_computed(name, message):
    with pytest.raises(ParameterError, match=message):
        evaluate([[1, 0]], [[1, 0]], metrics=[name], groups=["all"])


@pytest.fixture(scope="module")
def judged():
    """Two folds by hand: a nearest neighbour copies the labels of the training row before."""
    from sklearn.neighbors import KNeighborsClassifier

    X = np.array([0, 1, 2, 3, 0.1, 1.1, 2.1, 3.1])[:, None]
    Y = [[1, 0], [1, 0], [1, 1], [0, 1], [1, 0], [1, 1], [0, 1], [0, 0]]
    data = MultilabelDataset(X, np.array(Y), labels=["war", "love"])
    halves = np.arange(4), np.arange(4, 8)
    splits = [halves, halves[::-1]]
    return cross_validate(data, KNeighborsClassifier(1), splitter=splits)


def test_the_table_of_labels_by_hand(judged):
    war, love = judged.label_table()
    # Each half predicts the labels of the other: of war two rows of three agree, then two of two.
    assert war == {
        "name": "war", "training_positives": 2.5, "test_positives": 5, "true_positives": 4,
        "false_positives": 1, "false_negatives": 1, "precision": 0.8, "recall": 0.8,
        "f1": pytest.approx(0.8), "minority": 0, "difficult": 0, "few": 2,
    }  # fmt: skip
    assert (love["test_positives"], love["true_positives"]) == (4, 2)
    assert (love["false_positives"], love["false_negatives"]) == (2, 2)
    assert judged.pooled["macro_f1"] == pytest.approx((0.8 + 0.5) / 2)
    assert judged["pooled.macro_f1"].mean == judged.pooled["macro_f1"]
    assert judged.to_dict()["pooled"]["macro_f1"] == judged.pooled["macro_f1"]


def test_means_of_groups_leave_out_folds_without_them(judged):
    # War and love have three and two training rows, then two each: love is rare on one fold.
    np.testing.assert_equal(judged["minority.macro_f1"].values, [0.5, math.nan])
    assert judged["minority.macro_f1"].mean == judged.pooled["minority.macro_f1"] == 0.5
    rng = np.random.default_rng(1)
    Y = rng.random((60, 4)) < [0.6, 0.4, 0.3, 0.12]
    data = MultilabelDataset(rng.random((60, 2)), Y)
    found = cross_validate(data, "mlknn", splitter=6, random_state=0)["few.macro_f1"]
    known = found.values[~np.isnan(found.values)]
    assert 0 < len(known) < 6
    assert found.mean == known.mean()
    own = cross_validate(data, "mlknn", splitter=2, random_state=0, groups={"mine": ["y3"]})
    assert own["mine.macro_f1"].mean >= 0
    assert "minority.macro_f1" not in own
    assert not any("." in n for n in cross_validate(data, "mlknn", splitter=2, groups=None))
    with pytest.raises(scumble.ScumbleError, match="there is no label 'y9'"):
        cross_validate(data, "mlknn", splitter=2, groups={"mine": ["y9"]})


def test_groups_come_from_the_training_part_before_resampling():
    rng = np.random.default_rng(0)
    data = MultilabelDataset(rng.random((60, 2)), rng.random((60, 4)) < [0.8, 0.6, 0.2, 0.1])
    found = cross_validate(data, "mlknn", "mlros", splitter=3, random_state=0)
    from scumble.evaluate import RepeatedKFold

    splits = RepeatedKFold(3, 1, random_state=0).split(data)
    for fold, (train, _) in zip(found.folds, splits, strict=True):
        expected = label_groups(data[train])
        for name, mask in expected.items():
            assert fold.evaluation.groups[name].tolist() == mask.tolist()
        counted = fold.evaluation.by_label["training_positives"]
        assert counted.tolist() == data.Y[train].sum(axis=0).tolist()


def test_names_of_metrics():
    names = metric_names()
    assert len(set(names)) == len(names)
    assert find_metric("pooled.few.never_predicted", groups=["few"]).greater_is_better is False
    for name in (
        "few.f1",
        "few.micro_auc",
        "pooled.macro_auc",
        "pooled.hamming_loss",
        "x.macro_f1",
    ):
        assert name not in names
        with pytest.raises(scumble.ScumbleError, match=f"no metric '{name}'"):
            find_metric(name, groups=["few", "minority"])
    with pytest.raises(scumble.ScumbleError, match=r"no metric 'few.macro_f1'"):
        find_metric("few.macro_f1")


def test_a_title_says_a_metric_in_words():
    assert metric_title("all.macro_f1") == "macro F1"
    assert metric_title("pooled.minority.macro_auc_pr") == "pooled macro AUC-PR of minority labels"
