"""Methods on the same folds, with a store that goes on where work was interrupted."""

import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import scumble
from scumble._core.errors import DataError, ParameterError
from scumble.evaluate import compare
from scumble.evaluate.comparison_run import ComparisonRun
from scumble.experiment import Store
from scumble.learn import MLkNN, make_classifier
from scumble.resample import MLSMOTE
from scumble.results.estimator_spec import estimator_spec

METHODS = {"classifiers": ["br", "rare"], "resamplers": ["none", "mlros"], "folds": "1x3"}


@pytest.fixture(scope="module")
def data():
    return scumble.make_multilabel(160, 5, mean_ir=6, scumble=None, random_state=5)


def told(found):
    """Everything but the time it took."""
    plain = found.to_dict()
    for method in plain["methods"]:
        del method["seconds"]
    return plain


def refuse(*_, **__):
    raise AssertionError("this was judged before")


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_the_answer_is_that_without_a_store(data, tmp_path, n_jobs):
    found = compare(data, **METHODS, store=tmp_path / "a.db", random_state=3, n_jobs=n_jobs)
    assert told(found) == told(compare(data, **METHODS, random_state=3))


def test_a_test_part_is_kept_with_its_draws(data, tmp_path, monkeypatch):
    given = {"classifiers": ["br", "rare"], "test": data[100:]}
    found = compare(data[:100], **given, store=tmp_path / "a.db", random_state=0)
    assert told(found) == told(compare(data[:100], **given, random_state=0))
    monkeypatch.setattr(ComparisonRun, "run_fold", refuse)
    assert told(compare(data[:100], **given, store=tmp_path / "a.db", random_state=0)) == told(
        found
    )


def test_what_is_there_is_not_judged_again(data, tmp_path, monkeypatch):
    found = compare(data, **METHODS, store=tmp_path / "a.db", random_state=0)
    asked = []
    judge = ComparisonRun.run_fold
    monkeypatch.setattr(
        ComparisonRun,
        "run_fold",
        lambda *given, **more: (asked.append(1), judge(*given, **more))[1],
    )
    assert told(compare(data, **METHODS, store=tmp_path / "a.db", random_state=0)) == told(found)
    assert not asked
    more = {**METHODS, "classifiers": ["br", "rare", "mlknn"], "metrics": ["hamming_loss"]}
    compare(data, **more, store=tmp_path / "a.db", random_state=0)
    assert len(asked) == 2 * 3  # the new one with and without resampling
    compare(data, **METHODS, store=tmp_path / "a.db", random_state=1)
    compare(data[:150], **METHODS, store=tmp_path / "a.db", random_state=0)
    assert len(asked) == 6 + 12 + 12


def test_killed_in_the_middle_it_goes_on_to_the_same_answer(data, tmp_path):
    scumble.write(data, tmp_path / "mine.arff")
    script = f"""
        import os, signal, sys
        from scumble.cli.main import main
        from scumble.evaluate.comparison_run import ComparisonRun
        judge, done = ComparisonRun.run_fold, []
        def die_at_the_sixth(*given, **more):
            if len(done) == 5:
                os.kill(os.getpid(), signal.SIGKILL)
            done.append(1)
            return judge(*given, **more)
        ComparisonRun.run_fold = die_at_the_sixth
        sys.argv = ["scumble", "compare", {str(tmp_path / "mine.arff")!r}, "-c", "br,rare",
                    "-r", "none,mlros", "--folds", "1x3", "--store", {str(tmp_path / "a.db")!r}]
        main()
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=False)
    assert done.returncode == -signal.SIGKILL
    with Store(tmp_path / "a.db") as store:
        states = store.counts()
    assert (states["done"], states["running"] + states["pending"]) == (5, 7)
    same = scumble.read(tmp_path / "mine.arff")
    found = compare(same, **METHODS, store=tmp_path / "a.db", random_state=0)
    with Store(tmp_path / "a.db") as store:
        attempts = [row["attempts"] for row in store.cells()]
    assert sorted(attempts) == [1] * 11 + [2]  # what was done is not done again
    assert told(found) == told(compare(same, **METHODS, random_state=0))


def test_a_failure_names_the_method_and_is_tried_again(data, tmp_path):
    given = {"folds": "1x3", "store": tmp_path / "a.db", "random_state": 0}
    methods = {"br": "br", "mine": MLkNN(n_neighbors=0)}
    for _ in range(2):
        with pytest.raises(DataError, match=r"mine failed on fold 0: .*'n_neighbors'"):
            compare(data, methods, **given)


def test_methods_are_known_by_their_parameters():
    one = estimator_spec(make_classifier("rare", quality="best"))
    assert one == estimator_spec(make_classifier("rare", quality="best", n_jobs=2))
    assert one != estimator_spec(make_classifier("rare"))
    assert estimator_spec(np.arange(3)) != estimator_spec(np.arange(1, 4))
    with pytest.raises(ParameterError, match="cannot identify"):
        estimator_spec(MLSMOTE(random_state=np.random.default_rng(0)))


def test_a_seed_must_be_one_that_can_be_given_again(data, tmp_path):
    with pytest.raises(ParameterError, match="must be a whole number"):
        compare(data, store=tmp_path / "a.db", random_state=None)
