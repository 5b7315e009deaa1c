"""All 28 measures of MULAN's train/test splits and folds, and what chance has to do with them.

Where MULAN draws, its draws are made again (`mulan_replay`), so that ECC, EPS, HOMER and tied
labelsets are as exact as the others. With our own generator they agree on average.
"""

import json
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier

import scumble
from scumble._core.java import mulan_label_order
from scumble.evaluate import evaluate
from scumble.learn import HOMER, BinaryRelevance, fit_dataset
from scumble.learn.transformation.label_clustering import mulan_hierarchy
from tests.evaluate.metrics.test_metrics_golden import MULAN, read_measures
from tests.evaluate.model_selection.test_cross_validation_golden import published, run
from tests.learn.java import draw_chains, draw_samples
from tests.learn.mulan_replay import replay, replay_homer
from tests.learn.test_classifiers_golden import nested, read_line, read_split

#: What the paper reports.
FIVE = ("hamming_loss", "precision", "macro_f1", "one_error", "ranking_loss")
#: These depend on the last digits of confidences, in which IBLR's optimisers differ.
OF_CONFIDENCES = {"Logarithmic Loss", "Micro-averaged AUC", "Macro-averaged AUC"} | {
    name for name in MULAN if "Average" in name and "Mean" in name
}


def assert_measures(answers, truth, expected, *, loose=(), tolerance=1e-9):
    found = evaluate(truth, *answers)
    for title, ours in MULAN.items():
        wanted = float(expected[title])  # "NaN" is text in JSON
        within = tolerance if title in loose else 1e-9
        assert found[ours] == pytest.approx(wanted, rel=within, abs=within, nan_ok=True), title


@pytest.mark.parametrize("name", ["emotions", "flags", "medical", "genbase"])
def test_the_draws_of_ensembles_are_javas(golden, name):
    line = read_line(golden, "ensemble_draws.jsonl", name)
    n_rows, n_labels = (len(line["ECC"][0][part]) for part in ("bag", "chain"))
    drawn = draw_chains(n_rows, n_labels)
    for part in ("chain", "bag"):
        assert [draw[part] for draw in drawn] == [draw[part] for draw in line["ECC"]]
    assert draw_samples(n_rows) == line["EPS"]


def unordered(tree):
    return frozenset(map(unordered, tree)) if isinstance(tree, list | tuple) else tree


@pytest.mark.parametrize("name", ["emotions", "flags", "medical", "genbase", "enron"])
def test_homers_tree_is_that_of_mulans_rules(datasets, golden, name):
    line = read_line(golden, "homer_hierarchies.jsonl", name)
    labels, walked = line["label_attribute_order"], line["label_set_iteration_order"]
    if name != "enron":  # its labels have a hierarchy, which enters their hashes
        assert mulan_label_order(labels) == walked
    position = {label: at for at, label in enumerate(labels)}
    train = read_split(datasets, name)[0]
    order = [position[label] for label in walked]
    expected = unordered(nested(line["hierarchy"], position))
    assert unordered(mulan_hierarchy(train.Y, order, n_clusters=3, seed=10)) == expected
    if name == "enron":
        return
    named = pd.DataFrame(train.Y.toarray(), columns=train.labels)
    model = HOMER(BinaryRelevance(DummyClassifier()), method="mulan", random_state=10)
    for fitted in (fit_dataset(model, train), model.fit(train.X, named)):
        assert unordered(fitted.hierarchy_) == expected


SPLITS = {
    "emotions": ["BR", "CC", "CLR", "ECC", "EPS", "HOMER", "IBLR", "LP", "MLKNN", "PS"],
    "flags": ["BR", "CC", "CLR", "ECC", "EPS", "HOMER", "IBLR", "LP", "MLKNN", "PS"],
    "medical": ["BR", "CC", "CLR", "CLRfixed", "ECC", "EPS", "HOMER", "LP", "MLKNN", "PS"],
    "genbase": ["BR", "CLR", "CLRfixed", "ECC", "EPS", "HOMER"],
    "scene": ["BR", "CLR", "ECC", "EPS", "HOMER", "IBLR"],
    "enron": ["BR", "CLR", "EPS", "HOMER"],
}


def test_no_measures_of_splits_are_left_out(golden):
    # IBLR stops elsewhere where labels are separable: see test_neighbour_classifiers.
    known = {(name, method) for name, methods in SPLITS.items() for method in methods}
    left = set(read_measures(golden / "mulan")) - known
    assert left == {(name, "IBLR") for name in ("medical", "genbase", "enron")}


@pytest.mark.parametrize("name", SPLITS)
def test_measures_of_splits(datasets, golden, name):
    expected = read_measures(golden / "mulan")
    if name == "scene":
        data = scumble.read(next((datasets / name).glob("scene.arff*")))
        train, test = data[:1211], data[1211:]
    else:
        train, test = read_split(datasets, name)
    for method in SPLITS[name]:
        if (name, method) == ("enron", "HOMER"):
            line = read_line(golden, "homer_hierarchies.jsonl", name)
            names = line["label_set_iteration_order"]
            answers = replay_homer(method, train, test, names=names)
        else:
            answers = replay(method, train, test)
        loose = OF_CONFIDENCES if method == "IBLR" else ()
        assert_measures(answers, test.Y, expected[name, method], loose=loose, tolerance=1e-3)


@cache
def read_folds(datasets, golden, name):
    """Training and test part of the ten folds, by the names the golden file has for them."""
    data = scumble.read(next((datasets / name).glob(f"{name}.arff*")))
    path = golden / "mulan" / "folds" / f"{name}_2x5folds.csv"
    folds = np.loadtxt(path, delimiter=",", skiprows=1, dtype=int)[:, 1:]
    return {
        f"cv-r{repetition}-f{fold}": (data[numbers != fold], data[numbers == fold])
        for repetition, numbers in enumerate(folds.T)
        for fold in range(5)
    }


FOLDS = [(name, "HOMER", 10) for name in ("flags", "emotions", "genbase", "medical")]
FOLDS += [(name, "EPS", 10) for name in ("flags", "emotions", "genbase", "medical")]
FOLDS += [("flags", "ECC", 10), ("emotions", "ECC", 10), ("genbase", "ECC", 10)]
FOLDS += [("medical", "ECC", 4)]  # MULAN did not get further
FOLDS += [pytest.param("cal500", "HOMER", 10, marks=pytest.mark.slow)]


@pytest.mark.parametrize(("name", "method", "n_folds"), FOLDS)
def test_measures_of_folds_with_mulans_draws(datasets, golden, name, method, n_folds):
    records = json.loads((golden / "mulan" / "golden_cv.json").read_text())
    records = [r for r in records if (r["dataset"], r["algorithm"]) == (name, method)]
    assert len(records) == n_folds
    folds = read_folds(datasets, golden, name)
    for record in records:
        train, test = folds[record["split"]]
        assert_measures(replay(method, train, test), test.Y, record["measures"])


@cache
def means_of_seeds(golden, datasets, name, method, n_folds=10):
    """Give the five metrics of ten runs with our own generator, means over folds."""
    model = HOMER(mulan_compat=True) if method == "HOMER" else method.lower()
    found = [run(golden, datasets, name, model, random_state=at) for at in range(10)]
    return np.array([[one[metric].values[:n_folds].mean() for metric in FIVE] for one in found])


def means_of_mulan(golden, name, method):
    """Give the five metrics of MULAN's folds, one line per fold."""
    titles = {ours: title for title, ours in MULAN.items()}
    folds = published(golden, name, method)
    return np.array([[float(fold[titles[metric]]) for metric in FIVE] for fold in folds])


def distance_from_mulan(golden, datasets, name, method):
    """Tell how far our mean over ten seeds is from MULAN's over its folds, and the two errors.

    The error of the folds is that of MULAN's mean as one of ten folds. The error of the seeds is
    that of a mean over ten seeds against a run with one: MULAN starts every fold from the same.
    """
    theirs = means_of_mulan(golden, name, method)
    ours = means_of_seeds(golden, datasets, name, method, len(theirs))
    of_folds = theirs.std(axis=0, ddof=1) / np.sqrt(len(theirs))
    of_seeds = ours.std(axis=0, ddof=1) * np.sqrt(1 + 1 / len(ours))
    return np.abs(ours.mean(axis=0) - theirs.mean(axis=0)), of_folds, of_seeds


#: What is further than three errors over the folds alone. MULAN has four folds of ECC on medical.
FAR = {("emotions", "HOMER"): {"hamming_loss"}, ("medical", "ECC"): {"hamming_loss", "one_error"}}


@pytest.mark.parametrize("name", ["flags", "emotions", "genbase", "medical"])
@pytest.mark.parametrize("method", ["ECC", "EPS", "HOMER"])
def test_with_our_generator_the_mean_over_seeds_is_mulans(golden, datasets, name, method):
    distance, of_folds, of_seeds = distance_from_mulan(golden, datasets, name, method)
    assert (distance < 3 * np.hypot(of_folds, of_seeds)).all()
    far = {metric for metric, is_far in zip(FIVE, distance > 3 * of_folds, strict=True) if is_far}
    assert far == FAR.get((name, method), set())


def test_homer_on_emotions_is_mulans_as_other_seeds_show_it(golden, datasets):
    # MULAN starts the clustering from one seed, 10, on every node of every fold: ten folds say as
    # much of it as one. On emotions that seed is a lucky one: by Hamming loss we are 3.3 standard
    # errors over folds away from it, and so are MULAN's own rules with other seeds.
    folds = read_folds(datasets, golden, "emotions").values()
    theirs = np.array(
        [
            np.mean([five(replay_homer("HOMER", *fold, seed=seed), fold[1].Y) for fold in folds], 0)
            for seed in range(10)
        ]
    )
    ours = means_of_seeds(golden, datasets, "emotions", "HOMER")
    error = np.sqrt((ours.var(axis=0, ddof=1) + theirs.var(axis=0, ddof=1)) / 10)
    assert (np.abs(ours.mean(axis=0) - theirs.mean(axis=0)) < 3 * error).all()


def five(answers, truth):
    found = evaluate(truth, *answers)
    return [found[metric] for metric in FIVE]
