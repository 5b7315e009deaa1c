"""One part of each kind, as a newcomer would add it: its file, its test and its import line.

`tests/test_adding.py` adds them to a copy of the package and runs the common tests on them.
"""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part that is added to the package."""

    #: What the part is, and its name in the catalogue or on the command line.
    kind: str
    name: str
    #: Its file below ``src/scumble``, with the content.
    file: str
    source: str
    #: Its test below ``tests``, with the content.
    test_file: str
    test: str
    #: The file below ``src/scumble`` that imports it, and the line.
    import_file: str
    import_line: str
    #: What ``__all__`` of that file lists; empty if nothing is exported.
    exported_name: str = ""
    #: The common tests: all of these run, and none is left out.
    common_tests: tuple[str, ...]


RESAMPLER = Part(
    kind="resampler",
    name="rarestclones",
    file="resample/rarest_clones.py",
    source='''
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
            Of equally rare labels, the first.

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
                """Return the rows, followed by the clones."""
                rows = np.arange(Y.shape[0])
                counts = label_counts(Y)
                if counts.any():
                    rarest = np.argmin(np.where(counts > 0, counts, Y.shape[0] + 1))
                    rows_with_label = np.flatnonzero(Y[:, [rarest]].toarray())
                    rows = np.concatenate([rows, np.tile(rows_with_label, self.times)])
                return ResampleResult(rows, Y[rows])
        ''',
    test_file="resample/test_rarest_clones.py",
    test="""
        from scumble.resample import RarestClones


        def test_rows_of_the_rarest_label_are_cloned():
            X, Y = RarestClones(times=2).fit_resample([[0], [1]], [[1, 0], [1, 1]])
            assert X.ravel().tolist() == [0, 1, 1, 1]
            assert Y.tolist() == [[1, 0], [1, 1], [1, 1], [1, 1]]
        """,
    import_file="resample/__init__.py",
    import_line="from scumble.resample.rarest_clones import RarestClones",
    exported_name="RarestClones",
    common_tests=(
        "tests/resample/test_common.py",
        "tests/resample/test_chain.py",
        "tests/learn/test_texts.py",
        "tests/cli/test_resample.py",
    ),
)

MEASURE = Part(
    kind="measure",
    name="unlabelled_share",
    file="measures/unlabelled.py",
    source='''
        """Instances without labels."""

        import numpy as np

        from scumble._validation.labels import check_labels
        from scumble.measures.base import measure


        @measure(level="dataset", upper=1.0, in_summary=True)
        def unlabelled_share(Y):
            """Share of the instances that have no label.

            Examples
            --------
            >>> from scumble.measures import unlabelled_share
            >>> unlabelled_share([[1, 0], [0, 0]])
            0.5
            """
            Y = check_labels(Y, caller="unlabelled_share")
            if Y.shape[0] == 0:
                return float("nan")
            return float((np.diff(Y.indptr) == 0).mean())
        ''',
    test_file="measures/test_unlabelled.py",
    test="""
        from scumble.measures import characterize, unlabelled_share

        Y = [[1, 0], [0, 0]]


        def test_half_of_the_rows_have_no_label():
            assert unlabelled_share(Y) == 0.5
            assert characterize(Y).to_dict()["unlabelled_share"] == 0.5
        """,
    import_file="measures/__init__.py",
    import_line="from scumble.measures.unlabelled import unlabelled_share",
    exported_name="unlabelled_share",
    common_tests=(
        "tests/measures/test_common.py",
        "tests/measures/test_summary.py",
        "tests/report/test_concurrence.py",
        "tests/gui/test_api.py",
        "tests/out_of_core/test_command_line.py",
    ),
)

METRIC = Part(
    kind="metric",
    name="recall_at_k",
    file="evaluate/metrics/recall_at_k.py",
    source='''
        """Recall of the labels with the highest scores."""

        import numpy as np

        from scumble.evaluate.metrics.base import ranking_metric


        def _perfect_recall(Y):
            """Return the share of the relevant labels that can be ranked first."""
            n_relevant = Y.sum(axis=1)
            return float(np.minimum(1, 1 / np.maximum(n_relevant, 1)).mean())


        @ranking_metric(perfect_value=_perfect_recall)
        def recall_at_k(rankings, undefined, *, k=1):
            """Share of the relevant labels among the k labels with the highest scores.

            Examples
            --------
            >>> from scumble.evaluate import recall_at_k
            >>> recall_at_k([[1, 1, 0]], [[0.9, 0.2, 0.4]], k=2)
            0.5
            """
            hits = rankings.Y.multiply(rankings.top_labels(k)).sum(axis=1)
            n_relevant = rankings.Y.sum(axis=1)
            recalls = np.where(n_relevant > 0, hits / np.maximum(n_relevant, 1), 1.0)
            return float(recalls.mean())
        ''',
    test_file="evaluate/metrics/test_recall_at_k.py",
    test="""
        from scumble.evaluate import evaluate, recall_at_k

        Y, S = [[1, 1, 0]], [[0.9, 0.2, 0.4]]


        def test_an_example_worked_by_hand():
            assert [recall_at_k(Y, S, k=k) for k in (1, 2, 3)] == [0.5, 0.5, 1.0]
            assert evaluate(Y, scores=S)["recall_at_k"] == 0.5
        """,
    import_file="evaluate/__init__.py",
    import_line="from scumble.evaluate.metrics.recall_at_k import recall_at_k",
    exported_name="recall_at_k",
    common_tests=("tests/evaluate/metrics",),
)

CLASSIFIER = Part(
    kind="classifier",
    name="modest",
    file="learn/transformation/modest.py",
    source='''
        """Binary relevance that predicts fewer labels."""

        from scumble._core.parameters import Real
        from scumble.learn.transformation.binary_relevance import BinaryRelevance


        class ModestRelevance(BinaryRelevance, name="modest", display_group="Single labels"):
            """Binary relevance that predicts a label at a larger score.

            Parameters
            ----------
            estimator : classifier, default=None
                Learns one label.
            threshold : float, default=0.6
                The least score of a label that is predicted.
            categorical_features : None, indices, names, mask or mapping, default=None
                The nominal columns of X.
            n_jobs : int, default=None
                Number of threads.

            Examples
            --------
            >>> from scumble.learn import ModestRelevance
            >>> ModestRelevance(threshold=0.9).fit([[0], [0]], [[1], [0]]).predict([[0]])
            array([[0]])
            """

            _parameter_constraints = {"threshold": Real(0, 1)}
            class_weight = None

            def __init__(
                self, estimator=None, threshold=0.6, *, categorical_features=None, n_jobs=None
            ):
                self.estimator = estimator
                self.threshold = threshold
                self.categorical_features = categorical_features
                self.n_jobs = n_jobs

            def _predict_labels_and_scores(self, X):
                """Return labels and scores."""
                labels, scores = super()._predict_labels_and_scores(X)
                return labels & (scores >= self.threshold), scores
        ''',
    test_file="learn/transformation/test_modest.py",
    test="""
        from scumble.learn import ModestRelevance


        def test_a_label_needs_a_larger_score():
            X, Y = [[0], [0], [1], [1]], [[1], [0], [1], [1]]
            assert ModestRelevance(threshold=0.9).fit(X, Y).predict([[0]]).tolist() == [[0]]
            assert ModestRelevance(threshold=0.1).fit(X, Y).predict([[0]]).tolist() == [[1]]
        """,
    import_file="learn/__init__.py",
    import_line="from scumble.learn.transformation.modest import ModestRelevance",
    exported_name="ModestRelevance",
    common_tests=("tests/learn/test_classifiers.py", "tests/learn/storage/test_storage.py"),
)

RANKER = Part(
    kind="classifier",
    name="centroid",
    file="learn/rankers/centroid.py",
    source='''
        """Scores by the distances to the centroids of the rows with and without a label."""

        import numpy as np

        from scumble._core.arrays import to_dense
        from scumble._core.parameters import Real
        from scumble.learn.base import BaseRanker
        from scumble.learn.classifier_tags import ClassifierTags
        from scumble.learn.regression_columns import RegressionColumns


        class CentroidRanker(BaseRanker, name="centroid", display_group="Rankers"):
            """Scores by the distances to the centroids of the rows with and without a label.

            Parameters
            ----------
            power : float, default=2.0
                Exponent of the distances.
            categorical_features : None, indices, names, mask or mapping, default=None
                The nominal columns of X.

            Notes
            -----
            The out-of-sample score of a row is by centroids from which it is left out.

            Examples
            --------
            >>> from scumble.learn import CentroidRanker
            >>> CentroidRanker().fit([[0], [1], [8]], [[1], [1], [0]]).predict([[2]])
            array([[1]])
            """

            classifier_tags = ClassifierTags(scores_can_be_0_or_1=False)
            _parameter_constraints = {
                **BaseRanker._parameter_constraints,
                "power": Real(0, closed="neither"),
            }

            def __init__(self, power=2.0, *, categorical_features=None):
                self.power = power
                self.categorical_features = categorical_features

            def _fit(self, X, Y, sample_weight=None):
                """Set the weights and the sums of the rows with and without each label."""
                self._columns = RegressionColumns.from_training_rows(X, self._codes.n_values)
                rows = to_dense(self._columns.transform(X))
                weights = np.ones(len(rows)) if sample_weight is None else sample_weight
                has_label = Y.toarray() * weights[:, np.newaxis]
                lacks_label = ~Y.toarray() * weights[:, np.newaxis]
                self.weights_with_ = has_label.sum(axis=0)
                self.weights_without_ = lacks_label.sum(axis=0)
                self.sums_with_ = has_label.T @ rows
                self.sums_without_ = lacks_label.T @ rows

            def _fit_out_of_sample(self, X, Y, sample_weight):
                """Fit, and return the scores by the other rows."""
                self._fit(X, Y, sample_weight)
                rows = to_dense(self._columns.transform(X))
                weights = np.ones(len(rows)) if sample_weight is None else sample_weight
                labels = Y.toarray()
                scores = np.empty(Y.shape)
                for index, row in enumerate(rows):
                    weight_with = labels[index] * weights[index]
                    weight_without = ~labels[index] * weights[index]
                    scores[index] = self._scores_of(
                        row,
                        weights_with=self.weights_with_ - weight_with,
                        sums_with=self.sums_with_ - np.outer(weight_with, row),
                        weights_without=self.weights_without_ - weight_without,
                        sums_without=self.sums_without_ - np.outer(weight_without, row),
                    )
                return scores

            def _predict_scores(self, X):
                """Return the scores of new rows."""
                rows = to_dense(self._columns.transform(X))
                scores = [
                    self._scores_of(
                        row,
                        weights_with=self.weights_with_,
                        sums_with=self.sums_with_,
                        weights_without=self.weights_without_,
                        sums_without=self.sums_without_,
                    )
                    for row in rows
                ]
                return np.array(scores).reshape(len(rows), len(self.weights_with_))

            def _scores_of(
                self, row, *, weights_with, sums_with, weights_without, sums_without
            ):
                """Return the scores of a row; a label without rows on one side has 0 or 1."""
                to_with = self._distances(row, weights_with, sums_with)
                to_without = self._distances(row, weights_without, sums_without)
                total = np.maximum(to_with + to_without, 1e-300)
                scores = np.where(to_with == to_without, 0.5, to_without / total)
                scores = np.where(weights_without <= 1e-9, 1.0, scores)
                return np.where(weights_with <= 1e-9, 0.0, scores)

            def _distances(self, row, weights, sums):
                """Return the distances of a row to centroids, raised to the power."""
                centroids = sums / np.maximum(weights, 1e-9)[:, np.newaxis]
                return np.linalg.norm(row - centroids, axis=1) ** self.power
        ''',
    test_file="learn/rankers/test_centroid.py",
    test="""
        import numpy as np

        from scumble.learn import CentroidRanker


        def test_a_row_is_left_out_of_its_own_centroid():
            X, Y = np.array([[0.0], [1.0], [8.0], [9.0]]), [[1], [1], [0], [0]]
            # Row 0: the centroids of the others are 1 and 8.5.
            score = CentroidRanker(power=1).fit_out_of_sample(X, Y)[0, 0]
            assert score == 8.5 / 9.5
        """,
    import_file="learn/__init__.py",
    import_line="from scumble.learn.rankers.centroid import CentroidRanker",
    exported_name="CentroidRanker",
    common_tests=("tests/learn/test_classifiers.py", "tests/learn/storage/test_storage.py"),
)

FORMAT = Part(
    kind="format",
    name="dense_json",
    file="data/formats/dense_json.py",
    source='''
        """Tables of numbers as JSON."""

        import json

        import numpy as np

        from scumble.data.dataset import MultilabelDataset
        from scumble.data.formats.base import Format


        def sniff(source, head):
            """Return how likely a file has this format."""
            return 0.9 if head.startswith(b'{"X"') else 0.0


        def read_dense_json(source, *, labels=None):
            """Return the data set in a file."""
            with source.open() as stream:
                try:
                    tables = json.load(stream)
                    X = np.array(tables["X"], float).reshape(tables["shapes"]["X"])
                    Y = np.array(tables["Y"], int).reshape(tables["shapes"]["Y"])
                except (ValueError, TypeError, KeyError) as error:
                    raise source.error(f"this is no table as JSON: {error}.") from error
            return MultilabelDataset(X, Y, name=source.stem)


        def write_dense_json(dataset, target):
            """Write a data set."""
            X = dataset.X.toarray() if dataset.is_sparse else dataset.X
            tables = {"X": X.tolist(), "Y": dataset.Y.toarray().astype(int).tolist()}
            tables["shapes"] = {"X": X.shape, "Y": dataset.Y.shape}
            with target.open() as stream:
                stream.write(json.dumps(tables).encode())


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
    test_file="data/formats/test_dense_json.py",
    test="""
        import scumble


        def test_a_file_is_recognised(tmp_path):
            path = tmp_path / "films.json"
            path.write_text('{"X": [[1.5]], "Y": [[1]], "shapes": {"X": [1, 1], "Y": [1, 1]}}')
            assert scumble.read(path).X.tolist() == [[1.5]]
        """,
    import_file="data/formats/__init__.py",
    import_line="from scumble.data.formats import dense_json  # noqa: F401",
    common_tests=("tests/data/formats/test_common.py", "tests/data/test_io.py"),
)

#: Files of text lines, which cannot be empty.
FORMAT_WITHOUT_ZERO_ROWS = Part(
    kind="format",
    name="json_lines",
    file="data/formats/json_lines.py",
    source='''
        """A row of numbers per line, as JSON."""

        import json

        import numpy as np

        from scumble.data.dataset import MultilabelDataset
        from scumble.data.formats.base import Format


        def sniff(source, head):
            """Return how likely a file has this format."""
            return 0.9 if head.startswith(b'{"x"') else 0.0


        def read_json_lines(source, *, labels=None):
            """Return the data set in a file."""
            rows = []
            with source.open() as stream:
                for number, line in enumerate(stream, start=1):
                    try:
                        row = json.loads(line)
                        rows.append((row["x"], row["y"]))
                    except (ValueError, TypeError, KeyError) as error:
                        message = "this is no row. Expected a JSON object with x and y."
                        raise source.error(message, line=number) from error
            if not rows:
                raise source.error("there are no rows. Expected a JSON object per line.")
            X = np.array([x for x, _ in rows], float)
            Y = np.array([y for _, y in rows], int)
            return MultilabelDataset(X, Y, name=source.stem)


        def write_json_lines(dataset, target):
            """Write a data set."""
            X = dataset.X.toarray() if dataset.is_sparse else dataset.X
            Y = dataset.Y.toarray().astype(int)
            with target.open() as stream:
                for x, y in zip(X.tolist(), Y.tolist(), strict=True):
                    stream.write(json.dumps({"x": x, "y": y}).encode() + b"\\n")


        FORMAT = Format(
            name="json_lines",
            title="A row of numbers per line, as JSON",
            display_group="Text tables",
            suffixes=(".jsonl",),
            sniff=sniff,
            read=read_json_lines,
            write=write_json_lines,
            preserved_parts=frozenset(
                {"labels never seen", "missing values", "rows without labels"}
            ),
            can_hold_zero_rows=False,
        )
        ''',
    test_file="data/formats/test_json_lines.py",
    test="""
        import gzip

        import scumble


        def test_a_compressed_file_is_recognised(tmp_path):
            path = tmp_path / "films.jsonl.gz"
            path.write_bytes(gzip.compress(b'{"x": [1.5], "y": [1]}'))
            assert scumble.read(path).X.tolist() == [[1.5]]
        """,
    import_file="data/formats/__init__.py",
    import_line="from scumble.data.formats import json_lines  # noqa: F401",
    common_tests=("tests/data/formats/test_common.py", "tests/data/test_io.py"),
)

PLOT = Part(
    kind="plot",
    name="frequencies",
    file="plots/frequencies.py",
    source='''
        """The frequencies of the labels."""

        import numpy as np

        from scumble.plots.base import add_title, as_summary, prepare_axes, register_plot


        @register_plot("frequencies", title="the sorted frequencies of the labels")
        def plot_frequencies(data, *, ax=None, dark=None):
            """Draw the frequencies of the labels, the most frequent first.

            Examples
            --------
            >>> from scumble.plots import plot_frequencies
            >>> plot_frequencies([["a"], ["a", "b"]]).lines[0].get_ydata()
            array([1. , 0.5])
            """
            summary = as_summary(data)
            ax, theme = prepare_axes(ax, dark, size=(7.0, 4.2), purpose="plot_frequencies")
            frequencies = np.sort(summary.labels.frequency)[::-1]
            ax.plot(frequencies, color=theme.frequent_colors[0])
            ax.set(xlabel="rank of the label", ylabel="frequency")
            add_title(ax, summary.name, "frequencies of the labels")
            return ax
        ''',
    test_file="plots/test_frequencies.py",
    test="""
        from scumble.plots import plot_frequencies


        def test_the_most_frequent_label_is_first():
            assert plot_frequencies([["b"], ["a", "b"]]).lines[0].get_ydata().tolist() == [1, 0.5]
        """,
    import_file="plots/__init__.py",
    import_line="from scumble.plots.frequencies import plot_frequencies",
    exported_name="plot_frequencies",
    common_tests=("tests/plots/test_plots.py", "tests/cli/test_plot.py"),
)

COMMAND = Part(
    kind="command",
    name="unlabelled",
    file="cli/unlabelled.py",
    source='''
        """``unlabelled``: count the instances without labels."""

        from __future__ import annotations

        from typing import Annotated

        import typer

        from scumble.cli import console
        from scumble.cli.files import FileRole
        from scumble.cli.options import DataArgument, JsonOption, ReadOptions


        def unlabelled(
            data: DataArgument,
            read: ReadOptions,
            *,
            report: Annotated[
                str | None,
                typer.Option("--report", help="Write the number to this file as well."),
                FileRole.WRITES,
            ] = None,
            json: JsonOption = False,
        ) -> None:
            """Count the instances without labels."""
            from scumble._core.files import atomic_write
            from scumble.measures import characterize

            n_unlabelled = characterize(read.load(data)).n_unlabelled
            if report is not None:
                with atomic_write(report) as target, target.open() as stream:
                    stream.write(str(n_unlabelled).encode())
            result = {"n_unlabelled": n_unlabelled}
            console.show_outcome(result, f"{n_unlabelled} without labels", as_json=json)
        ''',
    test_file="cli/test_unlabelled.py",
    test="""
        from tests.cli.test_cli import run


        def test_the_number_is_printed_and_written(capsys, tmp_path):
            path = tmp_path / "films.csv"
            path.write_text("minutes,war,love\\n90,1,0\\n120,0,0\\n")
            out, _ = run(
                capsys, "unlabelled", path, "--labels", "war,love", "--report", tmp_path / "n.txt"
            )
            assert out == "1 without labels\\n"
            assert (tmp_path / "n.txt").read_text() == "1"
        """,
    import_file="cli/main.py",
    import_line='    "unlabelled": "unlabelled",',
    common_tests=(
        "tests/cli/test_files.py",
        "tests/cli/test_tables.py",
        "tests/cli/test_cli.py",
        "tests/cli/test_mistakes.py",
    ),
)

PARTS = (
    RESAMPLER,
    MEASURE,
    METRIC,
    CLASSIFIER,
    RANKER,
    FORMAT,
    FORMAT_WITHOUT_ZERO_ROWS,
    PLOT,
    COMMAND,
)
