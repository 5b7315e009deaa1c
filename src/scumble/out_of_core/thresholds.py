"""Decision thresholds per label, from tables of scores that do not fit into memory."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError, ReadError
from scumble._core.parameters import check_count
from scumble.learn.thresholds import selection as in_memory
from scumble.learn.thresholds.selection import (
    METRIC_BETAS,
    PREDICTION_RATES,
    RECALL_DIGITS,
    CandidateThresholds,
    SelectedThresholds,
    ThresholdRule,
)
from scumble.learn.thresholds.tables import ThresholdTable, table_from_thresholds
from scumble.out_of_core import threshold_statements as statements
from scumble.out_of_core.engines import Column, Engine
from scumble.out_of_core.files import Files, Paths, add_path_to_read_error, find_files
from scumble.out_of_core.scanning import OutOfCoreDataset, open_scan
from scumble.out_of_core.summary import find_label_positions
from scumble.out_of_core.tables import (
    ColumnLayout,
    Workspace,
    arrow_column,
    check_column_name,
    find_column_layout,
)

CALLER = "label_thresholds"


def label_thresholds(
    scores: Paths,
    labels: Paths | OutOfCoreDataset,
    *,
    rule: str = "shrunken",
    metric: str = "f1",
    strength: float = 20.0,
    threshold: float = 0.5,
    n_instances: int | None = None,
    label_column: str | None = None,
    instance_column: str | Sequence[str] | None = None,
    score_column: str = "score",
    separator: str | None = None,
    format: str | None = None,
    engine: str | Engine = "duckdb",
    memory: str | None = None,
    spill_directory: str | None = None,
    threads: int | None = None,
    spark: Any = None,
) -> ThresholdTable:
    r"""Choose a decision threshold per label, from tables on disk.

    The same as `scumble.learn.label_thresholds`, for scores of any model with more rows and labels
    than fit into memory. The scores are a table with a row per instance and label.

    Parameters
    ----------
    scores : str, Path or sequence of them
        Parquet, Arrow or CSV files with the columns instance, label and score, of rows that the
        model **was not fitted on**. Missing pairs have the score 0; scores of 0 or less count as
        missing. Neither is ever predicted.
    labels : str, Path, sequence of them, or OutOfCoreDataset
        The true labels of these instances: files with one label per row or with lists, as `scan`
        reads them; or a scan, which may have other column names.
    rule : {"shrunken", "capped", "rate", "fixed"}
        How to choose, see `scumble.learn.label_thresholds`; ``"plain"`` is not available here.
    metric : {"f1", "f2", "f0.5"}
        The metric to maximize.
    strength : float
        The number of positives that the mean of all labels counts as, in rule ``"shrunken"``.
    threshold : float
        The threshold of rule ``"fixed"``.
    n_instances : int, optional
        Number of instances; by default the number of those in either table.
    label_column, instance_column : str, optional
        Names of these columns, see `scan`; by default ``label`` and ``instance``.
    score_column : str
        The column with the scores.
    separator : str, optional
        The label separator, if the table of labels holds texts such as ``"war;love"``.
    format : {"parquet", "arrow", "csv"}, optional
        Format of the files; by default from their suffix.
    engine, memory, spill_directory, threads, spark
        The database that computes, see `scan`. If ``labels`` is a scan, its engine is used.

    Returns
    -------
    ThresholdTable
        One row per label of either table, sorted.

    See Also
    --------
    scumble.learn.threshold_table : Choose thresholds in memory.

    Notes
    -----
    The thresholds equal those in memory with sparse scores. The scores of each label are ranked,
    and the highest ``max(4 P, P + 4)`` with ties are used, P being the number of positives. A
    duplicate among these pairs raises ReadError.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from scumble.out_of_core import label_thresholds
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "scores.csv").write_text(
    ...     "instance,label,score\n1,sky,0.9\n2,sky,0.8\n3,sky,0.4\n4,sky,0.3\n1,ship,0.2\n"
    ... )
    >>> _ = (folder / "labels.csv").write_text("instance,label\n1,sky\n2,sky\n3,sky\n1,ship\n")
    >>> table = label_thresholds(folder / "scores.csv", folder / "labels.csv", rule="capped")
    >>> table.labels, table.thresholds
    (('ship', 'sky'), array([0.1 , 0.35]))
    """
    threshold_rule = ThresholdRule(rule, metric, strength, threshold)
    threshold_rule.check(caller=CALLER)
    if rule == "plain":
        raise ParameterError(
            f"The 'rule' parameter of {CALLER} must not be 'plain' here: it would rank all scores, "
            "and only the highest of each label are ranked. Expected 'shrunken', 'capped', 'rate' "
            "or 'fixed'; scumble.learn.label_thresholds takes 'plain' in memory."
        )
    if n_instances is not None:
        check_count(n_instances, name="n_instances", caller=CALLER)
    score_files = find_files(scores, format)
    instance_column = instance_column or "instance"
    with ExitStack() as stack:
        if isinstance(labels, OutOfCoreDataset):
            truth = labels
        else:
            truth = open_scan(
                find_files(labels, format),
                engine,
                {
                    "memory": memory,
                    "spill_directory": spill_directory,
                    "threads": threads,
                    "spark": spark,
                },
                caller=CALLER,
                label_column=label_column,
                instance_column=instance_column,
                separator=separator,
            )
            if isinstance(engine, str):
                stack.enter_context(truth)
        stack.enter_context(add_path_to_read_error(score_files, truth.files))
        tables = ThresholdTables(
            score_files,
            truth,
            threshold_rule,
            label_column=label_column or "label",
            instance_column=instance_column,
            score_column=score_column,
        )
        stack.callback(tables.drop_all)
        return tables.choose(n_instances)


class ThresholdTables(Workspace):
    """Tables of scores and candidate thresholds, for one call of `label_thresholds`."""

    def __init__(
        self,
        files: Files,
        truth: OutOfCoreDataset,
        rule: ThresholdRule,
        *,
        label_column: str,
        instance_column: str | Sequence[str],
        score_column: str,
    ) -> None:
        """Register the files with scores, and check that they match the true labels."""
        super().__init__(truth.engine)
        self._rule = rule
        self._truth = truth
        self._path = files.paths[0]
        columns = {column.name: column for column in self.engine.open(self.name("scores"), files)}
        layout = find_column_layout(
            list(columns.values()),
            truth.engine.dialect,
            path=self._path,
            label_column=label_column,
            instance_column=instance_column,
        )
        check_column_name(score_column, columns, parameter="score_column", path=self._path)
        for problem in _layout_problems(layout, truth.layout, columns[score_column]):
            raise ReadError(problem, path=self._path)
        # In the tables of scores and of labels the instance columns are renamed to i0, i1, ...
        renamed = replace(
            layout, instance_columns=tuple(f"i{i}" for i in range(len(layout.instance_columns)))
        )
        self._ids = renamed.instance_columns
        self._values = {
            "source": truth.source_table_name,
            "score": layout.dialect.quote_identifier(score_column),
            "label": layout.label_expression(),
            "truth_label": truth.layout.label_expression(),
            "ids_as": _rename_ids(layout, self._ids),
            "label_ids_as": _rename_ids(truth.layout, self._ids),
            "missing": "(" + " OR ".join(f"{name} IS NULL" for name in self._ids) + ")",
            "ids": renamed.ids(),
            "ids_k": renamed.ids("k."),
            "ids_c": renamed.ids("c."),
            "same_ids_k": renamed.same_ids("k", "t"),
            "same_ids_c": renamed.same_ids("c", "t"),
            "step": repr(float(PREDICTION_RATES[1])),
            "per_unit": round(1 / float(PREDICTION_RATES[1])),
            "last": len(PREDICTION_RATES) - 1,
        }

    def choose(self, n_instances: int | None) -> ThresholdTable:
        """Return the table of thresholds, with a row for each label of either table, sorted.

        ``n_instances`` is the number of instances; None counts those in either table.
        """
        score_labels = self._create_score_tables()
        if not n_instances:
            n_instances = self.fetch_value(statements.COUNT_INSTANCES, title="Counting instances")
        n_rows = int(n_instances)
        table = self.fetch("SELECT label, positives FROM {positives}", title="Counting labels")
        true_labels = table.column("label").to_pylist()
        positives = dict(zip(true_labels, arrow_column(table, "positives"), strict=True))
        self._check_n_instances(n_rows, max(positives.values(), default=0))
        labels = sorted({*score_labels, *positives})
        counts = np.array([positives.get(label, 0) for label in labels], np.int64)
        if self._rule.rule == "fixed":
            selected = self._evaluate_fixed_threshold(labels, counts)
        else:
            selected = self._select_thresholds(labels, counts, n_rows)
        return table_from_thresholds(labels, selected, self._rule.metric)

    def drop_all(self) -> None:
        """Delete all tables of this object, because the engine may remain open."""
        for table in ("candidates_by_label", "top", "positives", "truth"):
            if table in self._created:
                self.engine.drop(self.name(table))

    def _create_score_tables(self) -> list[Any]:
        """Create the tables of scores and of true labels; return the labels that have scores.

        Raise ReadError if a score is invalid or a row does not name its instance.
        """
        self.create_if_missing("cells", statements.SCORES)
        score_labels = self.fetch(statements.SCORE_LABELS, title="Looking at the scores")
        if arrow_column(score_labels, "n_bad").sum():
            raise self._invalid_score_error()
        if self.fetch_value(statements.COUNT_ROWS_WITHOUT_INSTANCE, title="Checking instances"):
            raise ReadError(
                "the table of labels has rows that do not name their instance. Expected a name in "
                "every row; leave these rows out.",
                path=self._truth.files.paths[0],
            )
        has_lists = self._truth.layout.has_lists
        pairs = self.format_sql(statements.PAIRS_IN_LISTS if has_lists else statements.PAIRS)
        self.create_if_missing(
            "truth", statements.TRUE_LABELS, title="Gathering labels", pairs=pairs
        )
        self.create_if_missing("positives", statements.POSITIVES, title="Counting labels")
        return list(score_labels.column("label").to_pylist())

    def _select_thresholds(
        self, labels: list[Any], counts: Array, n_rows: int
    ) -> SelectedThresholds:
        """Return the best candidate threshold of each label, with its counts.

        ``counts`` is the number of positives of each label, ``n_rows`` the number of instances. A
        threshold lies between two scores, and is -inf if the label is predicted for all rows. For
        labels without scores see `_predict_labels_of_all_rows`.
        """
        self.create_if_missing("top", statements.TOP_SCORES, title="Ranking scores")
        self._check_no_duplicate_scores()
        self.create_if_missing(
            "candidates_by_label", statements.CANDIDATE_THRESHOLDS, title="Comparing thresholds"
        )
        shared_recall = self._shared_recall(n_rows) if self._rule.rule == "shrunken" else None
        best = self._fetch_best_candidates(shared_recall)
        self._check_n_instances(n_rows, int(arrow_column(best, "n_predicted").max(initial=0)))
        best = _without_equal_scores(best, n_rows)
        n_predicted = arrow_column(best, "n_predicted")
        middle = in_memory.thresholds_between(
            arrow_column(best, "score"), arrow_column(best, "below")
        )
        selected = SelectedThresholds.without_predictions(counts)
        positions = find_label_positions(best.column("label").to_pylist(), labels)
        selected.thresholds[positions] = np.where(n_predicted == n_rows, -np.inf, middle)
        selected.n_predicted[positions] = n_predicted
        selected.true_positives[positions] = arrow_column(best, "hits")
        selected.expected[positions] = arrow_column(best, "expected")
        self._predict_labels_of_all_rows(selected, n_rows, shared_recall)
        return selected

    def _predict_labels_of_all_rows(
        self, selected: SelectedThresholds, n_rows: int, shared_recall: Array | None
    ) -> None:
        """Set the threshold -inf for labels without scores that all instances have.

        ``selected`` is changed in place. A label with this threshold is always predicted.
        """
        is_without_scores = (selected.n_positives == n_rows) & (selected.n_predicted == 0)
        for label in np.flatnonzero(is_without_scores):
            n_predicted = np.array([n_rows])
            candidates = CandidateThresholds(
                np.array([-np.inf]), n_predicted, n_predicted, n_rows, 0
            )
            expected = in_memory.expected_metric(candidates, self._rule, shared_recall)[0]
            selected.select(int(label), candidates, 0, expected)

    def _fetch_best_candidates(self, shared_recall: Array | None) -> Any:
        """Return an Arrow table with the best candidate threshold of each label.

        ``shared_recall`` is the mean recall at each of `PREDICTION_RATES`, or None if the rule does
        not use it.
        """
        import pyarrow as pa

        rule = self._rule
        squared = METRIC_BETAS[rule.metric] ** 2
        candidates = self.format_sql(statements.ALLOWED_THRESHOLDS)
        hits = statements.OBSERVED_HITS
        if shared_recall is not None:
            table = pa.table(
                {
                    "rate_index": np.arange(len(PREDICTION_RATES)),
                    "rate": PREDICTION_RATES,
                    "recall": shared_recall,
                    "slope": np.append(np.diff(shared_recall) / np.diff(PREDICTION_RATES), 0.0),
                }
            )
            self.load("shared", table)
            candidates = self.format_sql(
                statements.THRESHOLDS_WITH_SHARED_RECALL, allowed=candidates
            )
            hits = statements.EXPECTED_HITS.format(strength=repr(float(rule.strength)))
        return self.fetch(
            statements.SELECTED_THRESHOLDS,
            title="Choosing thresholds",
            candidates=candidates,
            metric=statements.METRIC.format(
                one_plus_squared=1 + squared, squared=squared, expected_hits=hits
            ),
            gain=statements.RATE_GAIN if rule.rule == "rate" else statements.METRIC_GAIN,
        )

    def _shared_recall(self, n_rows: int) -> Array:
        """Return the mean recall of labels with two or more positives, at each prediction rate."""
        n_labels = int(
            self.fetch_value(statements.COUNT_LABELS_SHARING_RECALL, title="Counting labels")
        )
        if not n_labels:
            return np.minimum(PREDICTION_RATES, 1.0)
        self.create_if_missing(
            "recall_segments", statements.RECALL_CURVE_SEGMENTS, n_instances=n_rows
        )
        recalls = self.fetch(statements.RECALLS, title="Averaging recall")
        # A label whose recall is not listed at a rate would predict more than all rows: recall 1.
        total = np.full(len(PREDICTION_RATES), float(n_labels))
        total[0] = 0.0
        positions = arrow_column(recalls, "rate_index")
        total[positions] += arrow_column(recalls, "total") - arrow_column(recalls, "n")
        return np.round(total / n_labels, RECALL_DIGITS)

    def _evaluate_fixed_threshold(self, labels: list[Any], counts: Array) -> SelectedThresholds:
        """Return the counts of the same threshold for all labels: predictions and true positives.

        ``counts`` is the number of positives of each label.
        """
        predictions = self.fetch(
            statements.FIXED_THRESHOLD_COUNTS,
            title="Counting predictions",
            threshold=repr(float(self._rule.threshold)),
        )
        selected = SelectedThresholds.without_predictions(counts)
        positions = find_label_positions(predictions.column("label").to_pylist(), labels)
        selected.n_predicted[positions] = arrow_column(predictions, "n_predicted")
        selected.true_positives[positions] = arrow_column(predictions, "hits")
        return selected.with_fixed_threshold(self._rule)

    def _invalid_score_error(self) -> ReadError:
        """Return the error for the first row without a valid score, label or instance."""
        [row] = self.fetch(statements.INVALID_SCORE, title="Looking at the scores").to_pylist()
        return ReadError(
            f"the score of label {row['label']!r} for instance {self._instance_name(row)} is "
            f"{row['score']}. Expected an instance, a label and a number in every row: a threshold "
            "among scores that are not numbers would mean nothing. Leave such rows out: "
            "missing rows count as 0.",
            path=self._path,
        )

    def _check_no_duplicate_scores(self) -> None:
        """Raise ReadError if an instance has several scores for a label."""
        for row in self.fetch(statements.DUPLICATE_SCORES, title="Checking scores").to_pylist():
            raise ReadError(
                f"label {row['label']!r} of instance {self._instance_name(row)} has {row['n']} "
                "scores. Expected one: is a file there twice?",
                path=self._path,
            )

    def _check_n_instances(self, n_rows: int, n_rows_of_label: int) -> None:
        """Raise ParameterError if ``n_rows``, the number of instances, is too small.

        ``n_rows_of_label`` is the number of instances of the most frequent label.
        """
        if n_rows < n_rows_of_label:
            raise ParameterError(
                f"The 'n_instances' parameter of {CALLER} is {n_rows}, but one label alone has "
                f"{n_rows_of_label} instances. Expected the number of all of them, or None to have "
                "them counted."
            )

    def _instance_name(self, row: dict[str, Any]) -> str:
        """Return the name of the instance in a row of a result, in quotes for messages."""
        return repr("/".join(str(row[name]) for name in self._ids))


def _rename_ids(layout: ColumnLayout, names: Sequence[str]) -> str:
    """Return SQL columns that give the instance columns the names ``names``."""
    pairs = zip(layout.instance_columns, names, strict=True)
    return ", ".join(f"{layout.dialect.quote_identifier(old)} AS {new}" for old, new in pairs)


def _without_equal_scores(best: Any, n_rows: int) -> Any:
    """Return ``best`` without labels whose scores are equal in all rows.

    Labels that all rows have are kept. ``best`` is the Arrow table of `_fetch_best_candidates`.
    """
    n_predicted = arrow_column(best, "n_predicted")
    is_equal = (arrow_column(best, "n_candidates") == 1) & (n_predicted == n_rows)
    return best.filter(~is_equal | (arrow_column(best, "hits") == n_rows))


def _layout_problems(scores: ColumnLayout, truth: ColumnLayout, score: Column) -> Iterator[str]:
    """Yield a message for each reason why scores and true labels cannot be compared.

    ``scores`` and ``truth`` are the layouts of the two tables, ``score`` the column of scores.
    """
    if score.is_list or score.kind == "string":
        content = "lists" if score.is_list else "texts"
        yield (
            f"the column {score.name!r} holds {content}. Expected numbers, one a row. Check "
            "score_column."
        )
    if scores.label.is_list:
        yield (
            f"the column {scores.label.name!r} holds lists. Expected one label a row in a table of "
            "scores."
        )
    if len(scores.instance_columns) != len(truth.instance_columns):
        yield (
            f"an instance has {len(scores.instance_columns)} columns here and "
            f"{len(truth.instance_columns)} in the table of labels. Expected equally many. Check "
            "instance_column."
        )
    kinds: set[tuple[str, str, str]] = {("labels", scores.label.kind, truth.label.kind)}
    for score_id, truth_id in zip(scores.instance_columns, truth.instance_columns, strict=True):
        kinds.add(("instances", _column_kind(scores, score_id), _column_kind(truth, truth_id)))
    for noun, score_kind, truth_kind in sorted(kinds):
        if score_kind != truth_kind:
            yield (
                f"{noun} are of kind {score_kind!r} here and of kind {truth_kind!r} in the table "
                "of labels. Expected the same, or nothing would match. Convert one of them."
            )


def _column_kind(layout: ColumnLayout, name: str) -> str:
    """Return the kind of the column with a name: "integer", "string" or "other"."""
    return next(column.kind for column in layout.columns if column.name == name)
