"""Adding something takes its file and one import: all else is found through the registry.

A copy of the package gets one thing of each kind; its own common tests then examine them.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).resolve().parents[1]
FILES = {
    "resample/rarest_clones.py": '''
        """Clone the rows of the rarest label."""

        import numpy as np

        from scumble._core.parameters import Int
        from scumble.measures import label_counts
        from scumble.resample.base import BaseResampler, ResampleResult


        class RarestClones(BaseResampler, display_group="Add rows"):
            """Clone every row of the rarest label a number of times.

            Parameters
            ----------
            times : int
                How many clones each of its rows gets.

            Notes
            -----
            Of equally rare labels the first.

            Examples
            --------
            >>> from scumble.resample import RarestClones
            >>> RarestClones(times=2).fit_resample([[0.0], [1.0]], [[1, 0], [1, 1]])[0].ravel()
            array([0., 1., 1., 1.])
            """

            _parameter_constraints = {"times": Int(minimum=0)}

            def __init__(self, *, times=1):
                self.times = times

            def _fit_resample(self, X, Y):
                rows, counts = np.arange(Y.shape[0]), label_counts(Y)
                if counts.any():
                    rarest = np.argmin(np.where(counts > 0, counts, Y.shape[0] + 1))
                    has_it = np.flatnonzero(Y[:, [rarest]].toarray())
                    rows = np.concatenate([rows, np.tile(has_it, self.times)])
                return ResampleResult(rows, Y[rows])
        ''',
    "learn/modest.py": '''
        """Binary relevance that predicts fewer labels."""

        from scumble._core.parameters import Real
        from scumble.learn.transformation.binary_relevance import BinaryRelevance


        class ModestRelevance(BinaryRelevance, name="modest", display_group="Single labels"):
            """Binary relevance that predicts a label from a confidence on.

            Parameters
            ----------
            estimator : classifier, default=None
                Learns one label.
            confidence : float, default=0.6
                The least confidence of a label that is predicted.
            categorical_features : None, indices, names, mask or mapping, default=None
                The nominal columns of X.
            n_jobs : int, default=None
                Number of threads.
            """

            _parameter_constraints = {"confidence": Real(0, 1)}
            class_weight = None

            def __init__(
                self, estimator=None, confidence=0.6, *, categorical_features=None, n_jobs=None
            ):
                self.estimator = estimator
                self.confidence = confidence
                self.categorical_features = categorical_features
                self.n_jobs = n_jobs

            def _predict_labels_and_scores(self, X):
                labels, confidences = super()._predict_labels_and_scores(X)
                return labels & (confidences >= self.confidence), confidences
        ''',
    "measures/silence.py": '''
        """Instances without labels."""

        import numpy as np

        from scumble._validation.labels import check_labels
        from scumble.measures.base import measure


        @measure(level="dataset", upper=1.0)
        def silence(Y):
            """Share of the instances that have no label."""
            Y = check_labels(Y, caller="silence")
            return float((np.diff(Y.indptr) == 0).mean())
        ''',
    "evaluate/overlooked.py": '''
        """Labels that were not found."""

        from scumble.evaluate.metrics.base import bipartition_metric


        @bipartition_metric(greater_is_better=False, label_based=True)
        def overlooked(counts, undefined):
            """Share of the labels that are there and were not predicted, over all cells."""
            true = counts.by_label.true.sum()
            return float(1 - counts.by_label.hits.sum() / true) if true else 0.0
        ''',
    "data/formats/dense_json.py": '''
        """Tables of numbers as JSON."""

        import json

        import numpy as np

        from scumble.data.dataset import MultilabelDataset
        from scumble.data.formats.base import Format


        def sniff(source, head):
            return 0.9 if head.startswith(b'{"X"') else 0.0


        def read_dense_json(source, *, labels=None):
            """Read it."""
            with source.open() as stream:
                found = json.loads(stream.read())
            parts = {key: np.array(found[key], float).reshape(found["shape"][key]) for key in "XY"}
            return MultilabelDataset(parts["X"], parts["Y"].astype(int), name=source.path.stem)


        def write_dense_json(dataset, target):
            """Write it."""
            X = dataset.X.toarray() if dataset.is_sparse else dataset.X
            told = {"X": X.tolist(), "Y": dataset.Y.toarray().astype(int).tolist()}
            told["shape"] = {"X": X.shape, "Y": dataset.Y.shape}
            with target.open() as stream:
                stream.write(json.dumps(told).encode())


        FORMAT = Format(
            name="dense_json",
            title="Tables of numbers as JSON",
            display_group="Text tables",
            suffixes=(".json",),
            sniff=sniff,
            read=read_dense_json,
            write=write_dense_json,
            preserved_parts=frozenset(
                {"labels never seen", "missing values", "rows without labels"}
            ),
        )
        ''',
}
IMPORTS = {
    "resample": ("rarest_clones", "RarestClones"),
    "learn": ("modest", "ModestRelevance"),
    "measures": ("silence", "silence"),
    "evaluate": ("overlooked", "overlooked"),
    "data/formats": ("dense_json", None),
}
#: The common tests, and which of them are about the new one.
EXAMS = {
    "resampler": ("tests/resample/test_common.py", "RarestClones or every_resampler"),
    "classifier": ("tests/learn/test_classifiers.py", "modest or ModestRelevance"),
    "measure": ("tests/measures/test_common.py", "silence"),
    "metric": (
        "tests/evaluate/metrics/test_metrics.py",
        "promises or overlooked or dense_and_sparse",
    ),
    "format": ("tests/data/formats/test_common.py", "dense_json"),
    "names": ("tests/test_api.py", "exports or public"),
    "parameters": ("tests/test_parameters.py", "RarestClones or Modest"),
    "entries": ("tests/test_catalogue.py", "family"),
}


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    """A copy of package and tests with one more thing of each kind."""
    folder = tmp_path_factory.mktemp("scratch")
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "tests", folder / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, folder)
    for name, text in FILES.items():
        (folder / "src/scumble" / name).write_text(dedent(text).lstrip())
    for room, (module, name) in IMPORTS.items():
        init = folder / "src/scumble" / room / "__init__.py"
        start = f"from scumble.{room.replace('/', '.')}"
        line = f"{start}.{module} import {name}" if name else f"{start} import {module}"
        before, mark, after = init.read_text().partition("\nfrom scumble")
        text = f"{before}\n{line}{mark}{after}"
        if name:
            text = text.replace("__all__ = [\n", f'__all__ = [\n    "{name}",\n')
        init.write_text(text)
    return folder


def run(scratch, *words):
    """Run Python on the copy."""
    environment = {**os.environ, "PYTHONPATH": str(scratch / "src")}
    environment.pop("PYTEST_XDIST_WORKER", None)
    return subprocess.run(
        [sys.executable, *words], cwd=scratch, env=environment, capture_output=True, text=True
    )


@pytest.mark.parametrize("kind", EXAMS)
def test_what_is_added_sits_the_exam(scratch, kind):
    path, chosen = EXAMS[kind]
    done = run(
        scratch, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", path, "-k", chosen
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    assert " passed" in done.stdout


#: What is typed, and what is told then.
SHOWN = {
    "methods resampler": "rarestclones",
    "methods classifier": "modest",
    "methods format": "dense_json",
    "methods metric": "overlooked",
    "methods measure": "silence",
    "methods resampler rarestclones": "times: an int in [0, inf) (default: 1)",
}
SHOW = f"""
import contextlib, scumble
from scumble.cli.main import main
from scumble.gui.methods import methods
print(scumble.__file__, *(method["name"] for method in methods()))
for words in {list(SHOWN)}:
    print("next")
    with contextlib.suppress(SystemExit):
        main(words.split())
"""


def test_what_is_added_is_offered_everywhere(scratch):
    done = run(scratch, "-c", SHOW)
    form, *texts = done.stdout.split("next\n")
    assert form.startswith(str(scratch)), done.stderr
    assert "rarestclones" in form
    for (words, told), text in zip(SHOWN.items(), texts, strict=True):
        assert told in text, words
