"""Cross-validation on MULAN's own folds: the same measures, fold by fold."""

import json

import numpy as np
import pytest

import scumble
from scumble.evaluate import FixedFolds, cross_validate
from scumble.learn import CalibratedLabelRanking
from tests.evaluate.metrics.test_metrics_golden import MULAN


def published(golden, name, method):
    """Measures of MULAN's folds, in the order rep 0 fold 0, rep 0 fold 1, ..."""
    records = json.loads((golden / "mulan" / "golden_cv.json").read_text())
    found = {
        record["split"]: record["measures"]
        for record in records
        if (record["dataset"], record["algorithm"]) == (name, method) and "measures" in record
    }
    return [found[split] for split in sorted(found)]


def run(golden, datasets, name, classifier, **options):
    data = scumble.read(next((datasets / name).glob(f"{name}.arff*")))
    folds = FixedFolds(golden / "mulan" / "folds" / f"{name}_2x5folds.csv")
    return cross_validate(data, classifier, splitter=folds, **options)


CASES = [
    ("emotions", "BR"),
    ("flags", "BR"),
    ("flags", "CLR"),
    ("genbase", "BR"),
    ("emotions", "CLR"),
    pytest.param("genbase", "CLR", marks=pytest.mark.slow),
    ("medical", "BR"),
    ("medical", "CLR"),
    pytest.param("cal500", "BR", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("name", "method"), CASES)
def test_deterministic_classifiers_on_mulans_folds(golden, datasets, name, method):
    expected = published(golden, name, method)
    assert len(expected) == 10
    classifier = "br" if method == "BR" else CalibratedLabelRanking(mulan_compat=True)
    found = run(golden, datasets, name, classifier, random_state=0)
    for title, ours in MULAN.items():
        theirs = np.array([float(measures[title]) for measures in expected])
        np.testing.assert_allclose(
            found[ours].values, theirs, rtol=1e-9, atol=1e-9, err_msg=f"{title}"
        )


def compare(golden, datasets, name, method, n_seeds):
    """Give, for three measures, MULAN's folds and our means over seeds."""
    expected = published(golden, name, method)
    runs = [run(golden, datasets, name, method.lower(), random_state=at) for at in range(n_seeds)]
    for title in ("Hamming Loss", "Example-Based Precision", "Macro-averaged F-Measure"):
        theirs = np.array([float(measures[title]) for measures in expected])
        ours = [found[MULAN[title]].values[: len(theirs)].mean() for found in runs]
        yield title, theirs, np.array(ours)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "method"),
    [(name, method) for name in ("flags", "emotions", "medical") for method in ("ECC", "EPS")],
)
def test_random_classifiers_come_out_as_mulan_on_average(golden, datasets, name, method):
    # Another generator draws other chains and bags. MULAN's own run is one more of the same kind,
    # so the mean over ten seeds must be its mean within three standard errors of their difference,
    # which is less than those over folds of tests/learn/test_measures_golden.py.
    for title, theirs, ours in compare(golden, datasets, name, method, 10):
        error = ours.std(ddof=1) * np.sqrt(1 + 1 / len(ours))
        assert abs(ours.mean() - theirs.mean()) < 3 * error, title
