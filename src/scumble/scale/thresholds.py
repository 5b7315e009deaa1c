"""A threshold for each label, from tables of scores that do not fit into memory."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError, ReadError
from scumble._core.validation import check_count
from scumble.learn import thresholds as in_memory
from scumble.learn.threshold_tables import ThresholdTable, table_from_thresholds
from scumble.learn.thresholds import (
    METRIC_BETAS,
    PREDICTION_RATES,
    RECALL_DIGITS,
    CandidateThresholds,
    SelectedThresholds,
    ThresholdRule,
)
from scumble.scale import threshold_statements as statements
from scumble.scale.engines import Column, Engine
from scumble.scale.files import Files, Paths, add_path_to_read_error, find_files
from scumble.scale.scanning import OutOfCoreDataset, open_scan
from scumble.scale.summary import find_label_positions
from scumble.scale.tables import (
    ColumnLayout,
    Workspace,
    _check_column_name,
    column,
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
    r"""Choose for each label from which score on it is predicted, from tables on disk.

    The same as `scumble.learn.label_thresholds`, for scores of a model that lives elsewhere and
    has more rows and labels than fit into memory: a table with a row for each score worth keeping.

    Parameters
    ----------
    scores : str, Path or sequence of them
        Parquet, Arrow or CSV files with the columns instance, label and score, of rows the model
        **has not learnt from**. Pairs that are not there have the score 0; scores of 0 or less
        count as not there. Neither is ever predicted.
    labels : str, Path, sequence of them, or Scan
        The labels these instances have: files with one label a row or with lists, as `scan` reads
        them; or a scan, which may have other names of columns.
    rule, metric, strength, threshold : object
        See `scumble.learn.label_thresholds`.
    n_instances : int, optional
        Number of instances; by default those that either table names are counted.
    label_column, instance_column : str, optional
        Names of these columns, see `scan`; by default ``label`` and ``instance``.
    score_column : str
        The column with the scores.
    separator : str, optional
        What stands between labels where the table of labels holds texts such as ``"war;love"``.
    format : {"parquet", "arrow", "csv"}, optional
        Form of the files; by default from their suffix.
    engine, memory, spill_directory, threads, spark
        The database that computes, see `scan`. Where ``labels`` is a scan, its engine computes.

    Returns
    -------
    ThresholdTable
        One row per label of either table, sorted.

    See Also
    --------
    scumble.learn.threshold_table : The same in memory.

    Notes
    -----
    The thresholds are those of memory with sparse scores. Of each label the scores are ranked, and
    the highest ``max(4 P, P + 4)`` with their equals are kept, P being its positives; one of
    these pairs that is there twice is refused.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from scumble.scale import label_thresholds
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "scores.csv").write_text(
    ...     "instance,label,score\n1,sky,0.9\n2,sky,0.8\n3,sky,0.4\n4,sky,0.3\n1,ship,0.2\n"
    ... )
    >>> _ = (folder / "labels.csv").write_text("instance,label\n1,sky\n2,sky\n3,sky\n1,ship\n")
    >>> table = label_thresholds(folder / "scores.csv", folder / "labels.csv", rule="capped")
    >>> table.labels, table.thresholds
    (('ship', 'sky'), array([0.1 , 0.35]))
    """
    wanted = ThresholdRule(rule, metric, strength, threshold)
    wanted.check(caller=CALLER)
    if rule == "plain":
        raise ParameterError(
            f"The 'rule' parameter of {CALLER} must not be 'plain' here: it would rank all scores, "
            "and only the highest of each label are ranked. Expected 'shrunken', 'capped', 'rate' "
            "or 'fixed'; scumble.learn.label_thresholds takes 'plain' in memory."
        )
    if n_instances is not None:
        check_count(n_instances, name="n_instances", caller=CALLER)
    given = find_files(scores, format)
    limits = {"memory": memory, "spill_directory": spill_directory, "threads": threads}
    columns: Any = {"label_column": label_column, "instance_column": instance_column or "instance"}
    with ExitStack() as stack:
        truth = labels
        if not isinstance(truth, OutOfCoreDataset):
            started = (find_files(truth, format), engine, limits | {"spark": spark})
            truth = open_scan(*started, caller=CALLER, separator=separator, **columns)
            if isinstance(engine, str):
                stack.enter_context(truth)
        stack.enter_context(add_path_to_read_error(given, truth.files))
        columns["label_column"] = label_column or "label"
        work = ThresholdTables(given, truth, wanted, score_column=score_column, **columns)
        stack.callback(work.forget)
        return work.choose(n_instances)


class ThresholdTables(Workspace):
    """The tables behind one choice of thresholds."""

    def __init__(
        self, files: Files, truth: OutOfCoreDataset, rule: ThresholdRule, **columns: Any
    ) -> None:
        super().__init__(truth.engine)
        score_column = columns.pop("score_column")
        self._rule, self._truth, self._where = rule, truth, files.paths[0]
        found = self.engine.open(self.name("scores"), files)
        layout = find_column_layout(found, truth.engine.dialect, where=self._where, **columns)
        known = {one.name: one for one in found}
        score = known[_check_column_name(score_column, known, "score_column", self._where)]
        for complaint in _complaints(layout, truth.layout, score):
            raise ReadError(complaint, path=self._where)
        own = replace(
            layout, instance_columns=tuple(f"i{at}" for at in range(len(layout.instance_columns)))
        )
        self._ids = own.instance_columns
        self._values = {
            "source": truth.source_table_name,
            "score": layout.dialect.quote_identifier(score.name),
            "label": layout.label_expression(),
            "truth_label": truth.layout.label_expression(),
            "ids_as": _renamed(layout, self._ids),
            "label_ids_as": _renamed(truth.layout, self._ids),
            "missing": "(" + " OR ".join(f"{name} IS NULL" for name in self._ids) + ")",
            "ids": own.ids(),
            "ids_k": own.ids("k."),
            "ids_c": own.ids("c."),
            "same_ids_k": own.same_ids("k", "t"),
            "same_ids_c": own.same_ids("c", "t"),
            "step": repr(float(PREDICTION_RATES[1])),
            "per_unit": round(1 / float(PREDICTION_RATES[1])),
            "last": len(PREDICTION_RATES) - 1,
        }

    def choose(self, n_instances: int | None) -> ThresholdTable:
        """Run the statements."""
        names = self._load_score_tables()
        counted = n_instances or self.fetch_value(
            statements.COUNT_INSTANCES, title="Counting instances"
        )
        n_rows = int(counted)
        found = self.fetch("SELECT label, positives FROM {positives}", title="Counting labels")
        pairs = zip(found.column("label").to_pylist(), column(found, "positives"), strict=True)
        positives = dict(pairs)
        self._refuse_few(n_rows, max(positives.values(), default=0))
        labels = sorted({*names, *positives})
        counts = np.array([positives.get(label, 0) for label in labels], np.int64)
        is_fixed = self._rule.rule == "fixed"
        cuts = self._fixed(labels, counts) if is_fixed else self._best(labels, counts, n_rows)
        return table_from_thresholds(labels, cuts, self._rule.metric)

    def forget(self) -> None:
        """Drop what was kept, where the engine goes on."""
        for table in ("cuts", "top", "positives", "truth"):
            if table in self._done:
                self.engine.drop(self.name(table))

    def _load_score_tables(self) -> list[Any]:
        """Make ``cells``, ``truth`` and ``positives``; return the labels of the scores."""
        self.create_if_missing("cells", statements.SCORES)
        found = self.fetch(statements.SCORE_LABELS, title="Looking at the scores")
        if column(found, "n_bad").sum():
            raise self._bad_cell()
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
        return list(found.column("label").to_pylist())

    def _best(self, labels: list[Any], counts: Array, n_rows: int) -> SelectedThresholds:
        """Take the best cut of each label."""
        self.create_if_missing("top", statements.TOP_SCORES, title="Ranking scores")
        self._refuse_twice()
        self.create_if_missing(
            "cuts", statements.CANDIDATE_THRESHOLDS, title="Comparing thresholds"
        )
        shared = self._shared_recall(n_rows) if self._rule.rule == "shrunken" else None
        found = self._chosen(shared)
        self._refuse_few(n_rows, int(column(found, "n_predicted").max(initial=0)))
        found = _without_equal_scores(found, n_rows)
        n_predicted = column(found, "n_predicted")
        middle = in_memory._middle(column(found, "score"), column(found, "below"))
        chosen, at = (
            SelectedThresholds.without_predictions(counts),
            find_label_positions(found.column("label").to_pylist(), labels),
        )
        chosen.thresholds[at] = np.where(n_predicted == n_rows, -np.inf, middle)
        chosen.n_predicted[at], chosen.hits[at] = n_predicted, column(found, "hits")
        chosen.expected[at] = column(found, "expected")
        self._take_all_rows(chosen, n_rows, shared)
        return chosen

    def _take_all_rows(self, chosen: SelectedThresholds, n_rows: int, shared: Array | None) -> None:
        """Predict labels that all rows have and no score is there for."""
        for label in np.flatnonzero((chosen.n_positives == n_rows) & (chosen.n_predicted == 0)):
            every = np.array([n_rows])
            cuts = CandidateThresholds(np.array([-np.inf]), every, every, n_rows, 0)
            chosen.select(
                int(label), cuts, 0, in_memory._expected_metric(cuts, self._rule, shared)[0]
            )

    def _chosen(self, shared: Array | None) -> Any:
        import pyarrow as pa

        rule = self._rule
        squared = METRIC_BETAS[rule.metric] ** 2
        candidates, hits = self.format_sql(statements.ALLOWED_THRESHOLDS), statements.OBSERVED_HITS
        if shared is not None:
            slopes = np.append(np.diff(shared) / np.diff(PREDICTION_RATES), 0.0)
            places = {"place": np.arange(len(PREDICTION_RATES)), "rate": PREDICTION_RATES}
            self.load("shared", pa.table({**places, "recall": shared, "slope": slopes}))
            candidates = self.format_sql(
                statements.THRESHOLDS_WITH_SHARED_RECALL, allowed=candidates
            )
            hits = statements.EXPECTED_HITS.format(strength=repr(float(rule.strength)))
        metric = statements.METRIC.format(more=1 + squared, squared=squared, expected_hits=hits)
        gain = statements.RATE_GAIN if rule.rule == "rate" else statements.METRIC_GAIN
        values = {"candidates": candidates, "metric": metric, "gain": gain}
        return self.fetch(statements.SELECTED_THRESHOLDS, title="Choosing thresholds", **values)

    def _shared_recall(self, n_rows: int) -> Array:
        """Average the recall of labels with two positives or more, as memory does."""
        n_labels = int(
            self.fetch_value(statements.COUNT_LABELS_SHARING_RECALL, title="Counting labels")
        )
        if not n_labels:
            return np.minimum(PREDICTION_RATES, 1.0)
        self.create_if_missing("pieces", statements.RECALL_CURVE_SEGMENTS, n_instances=n_rows)
        found = self.fetch(statements.RECALLS, title="Averaging recall")
        total = np.full(
            len(PREDICTION_RATES), float(n_labels)
        )  # where more than all rows are predicted: 1
        total[0] = 0.0
        total[column(found, "place")] += column(found, "total") - column(found, "n")
        return np.round(total / n_labels, RECALL_DIGITS)

    def _fixed(self, labels: list[Any], counts: Array) -> SelectedThresholds:
        """Count what one threshold for all labels gives."""
        threshold = repr(float(self._rule.threshold))
        found = self.fetch(
            statements.FIXED_THRESHOLD_COUNTS, title="Counting predictions", threshold=threshold
        )
        chosen, at = (
            SelectedThresholds.without_predictions(counts),
            find_label_positions(found.column("label").to_pylist(), labels),
        )
        chosen.n_predicted[at] = column(found, "n_predicted")
        chosen.hits[at] = column(found, "hits")
        return chosen.at_threshold(self._rule)

    def _bad_cell(self) -> ReadError:
        [row] = self.fetch(statements.INVALID_SCORE, title="Looking at the scores").to_pylist()
        return ReadError(
            f"the score of label {row['label']!r} for instance {self._instance(row)} is "
            f"{row['score']}. Expected an instance, a label and a number in every row: a threshold "
            "among scores that are no numbers would mean nothing. Leave such rows out: what is not "
            "there counts as 0.",
            path=self._where,
        )

    def _refuse_twice(self) -> None:
        for row in self.fetch(statements.DUPLICATE_SCORES, title="Checking scores").to_pylist():
            raise ReadError(
                f"label {row['label']!r} of instance {self._instance(row)} has {row['n']} scores. "
                "Expected one: is a file there twice?",
                path=self._where,
            )

    def _refuse_few(self, n_rows: int, needed: int) -> None:
        if n_rows < needed:
            raise ParameterError(
                f"The 'n_instances' parameter of {CALLER} is {n_rows}, but one label alone has "
                f"{needed} instances. Expected the number of all of them, or None to have them "
                "counted."
            )

    def _instance(self, row: dict[str, Any]) -> str:
        return repr("/".join(str(row[name]) for name in self._ids))


def _renamed(layout: ColumnLayout, names: Sequence[str]) -> str:
    pairs = zip(layout.instance_columns, names, strict=True)
    return ", ".join(f"{layout.dialect.quote_identifier(old)} AS {new}" for old, new in pairs)


def _without_equal_scores(found: Any, n_rows: int) -> Any:
    """Leave out labels whose scores are equal in all rows, unless all rows have them."""
    equal = (column(found, "n_cuts") == 1) & (column(found, "n_predicted") == n_rows)
    return found.filter(~equal | (column(found, "hits") == n_rows))


def _complaints(scores: ColumnLayout, truth: ColumnLayout, score: Column) -> Iterator[str]:
    """Find scores that are no numbers, and names that the two tables write differently."""
    if score.is_list or score.kind == "string":
        held = "lists" if score.is_list else "texts"
        yield (
            f"the column {score.name!r} holds {held}. Expected numbers, one a row. Check "
            "score_column."
        )
    if scores.label.is_list:
        yield (
            f"the column {scores.label.name!r} holds lists. Expected one label a row in a table of "
            "scores."
        )
    if len(scores.instance_columns) != len(truth.instance_columns):
        yield (
            f"an instance has {len(scores.instance_columns)} columns here and {len(truth.instance_columns)} in "
            "the table of labels. Expected equally many. Check instance_column."
        )
    kinds: set[tuple[str, str, str]] = {("labels", scores.label.kind, truth.label.kind)}
    for ours, theirs in zip(scores.instance_columns, truth.instance_columns, strict=True):
        kinds.add(("instances", _kind(scores, ours), _kind(truth, theirs)))
    for what, ours, theirs in sorted(kinds):
        if ours != theirs:
            yield (
                f"{what} are of kind {ours!r} here and of kind {theirs!r} in the table of labels. "
                "Expected the same, or nothing would match. Convert one of them."
            )


def _kind(layout: ColumnLayout, name: str) -> str:
    return next(one.kind for one in layout.columns if one.name == name)
