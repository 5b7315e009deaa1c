"""Text reports of evaluations, comparisons and advice, and the HTML page of an advice.

Functions return lines as in `scumble.report.terminal`; ``width`` is the maximum number of
characters of a line, or None. The dicts that they take are those that the command line prints as
JSON. The *pooled* value of a metric is computed from counts that are added up over all folds.
"""

from typing import Any

from scumble._core.text import display_path, escape_controls, format_number
from scumble.report.terminal import Line, Segment, format_cells, table_lines, wrap_lines

#: Bytes of a mebibyte.
MIB = 2**20
#: Metrics that are listed for a group of labels, such as the minority labels.
GROUP_METRICS = ("macro_precision", "macro_recall", "macro_f1", "micro_f1", "never_predicted")
#: Number of labels with the largest gains, and of labels with the largest losses, that are listed.
N_LABELS_PER_END = 8
#: Columns of the table of gains, with formats.
GAIN_FORMATS = {"training_positives": ",.0f", "before": ".3f", "after": ".3f", "gain": "+.3f"}
#: Signs for verdicts in the table of methods.
VERDICT_MARKS = {"better": "+", "worse": "-"}
#: Metrics of the methods in an advice, with the titles of their columns.
ADVICE_METRIC_TITLES = {
    "macro_f1": "macro F1",
    "minority_f1": "of rare labels",
    "micro_f1": "micro F1",
}


def render_evaluation(result: dict[str, Any], *, width: int | None = None) -> list[Line]:
    """Return the metrics of a cross-validation or a test, with time and memory, as lines.

    ``result`` is what ``scumble evaluate --json`` prints; the additional key ``groups`` may list
    label groups, each of which gets a table after that of all metrics.
    """
    has_test_set = result.get("test") is not None
    groups = result.get("groups", ())
    lines: list[Line] = [[Segment(_evaluation_title(result), "title")]]
    column_titles: tuple[str, ...] = ("mean", "sd", "pooled")
    if has_test_set:  # there is a single value without a standard deviation
        column_titles = ("value",)
    rows = []
    for name, metric in result["metrics"].items():
        if groups and "." in name:  # a metric of a group, which has its own table
            continue
        numbers = _format_metrics(metric["mean"], metric["sd"])
        rows.append((name, *numbers[: len(column_titles)]))
    lines += table_lines(("metric", *column_titles[:2]), rows, width=width)
    for group in groups:
        rows = _group_rows(result, group, len(column_titles))
        lines += table_lines((f"{group} labels", *column_titles), rows)
    notes = [*_resampling_notes(result), _cost_text(result)]
    lines += [[Segment(note, "dim")] for note in notes]
    return lines


def _evaluation_title(result: dict[str, Any]) -> str:
    """Return a title with the data set, classifier, resampling and folds of an evaluation.

    If the classifier was tested on a test set, it is named instead of the number of folds.
    """
    data = escape_controls(result["data"]) or "data"
    method = escape_controls(result["classifier"])
    base_learner = escape_controls((result.get("base") or "").rpartition(".")[2])
    if base_learner:
        method += f" of {base_learner}"
    if result["resample"] is not None:
        method += f" after {escape_controls(result['resample'])}"
    if result.get("test") is None:
        return f"{data}: {method}, {len(result['folds'])} folds"
    return f"{data}: {method}, tested on {_path_text(result['test'])}"


def render_prediction_report(
    result: dict[str, Any],
    *,
    top: int = 20,
    show_all_metrics: bool = False,
    width: int | None = None,
) -> list[Line]:
    """Return the metrics of predictions, then those of each label, the rarest first, as lines.

    ``result`` is what ``scumble score --json`` prints. ``top`` is the maximum number of labels; 0
    lists all. Of label groups, only the most important metrics of minority labels are listed unless
    ``show_all_metrics``.
    """
    title = (
        f"{_path_text(result['predictions'])} against {_path_text(result['truth'])}: "
        f"{result['n_instances']:,} instances, {result['n_labels']:,} labels"
    )
    if result["cut"] is not None:
        title += f", predicted at scores of {result['cut']:g} or more"
    rows = [(name, *_format_metrics(value)) for name, value in result["metrics"].items()]
    minority_metrics = {f"minority.{name}" for name in GROUP_METRICS}
    if not show_all_metrics:  # all metrics of all groups are too many to read
        rows = [row for row in rows if "." not in row[0] or row[0] in minority_metrics]
    ranked = sorted(result["labels"], key=lambda label: label["positives"])
    listed = ranked[:top] if top else ranked
    formats = {}
    if listed:
        formats = {name: spec for name, spec in LABEL_METRIC_FORMATS.items() if name in listed[0]}
    label_rows = [
        (escape_controls(label["name"]), *format_cells(label, formats)) for label in listed
    ]
    label_head = ("label", *(name.replace("_", " ") for name in formats))
    lines: list[Line] = [[Segment(title, "title")]]
    lines += table_lines(("metric", "value"), rows, width=width)
    lines += table_lines(label_head, label_rows, width=width)
    if len(listed) < len(ranked):
        note = f"the {len(listed)} rarest of {len(ranked):,} labels; --top 0 shows all"
        lines.append([Segment(note, "dim")])
    return lines


#: Columns of the table of labels, with formats; only those that a result has are listed.
LABEL_METRIC_FORMATS = {
    "positives": ",.0f",
    "training_positives": ",.0f",
    "true_positives": ",.0f",
    "false_positives": ",.0f",
    "precision": ",.4f",
    "recall": ",.4f",
    "f1": ",.4f",
    "auc": ",.4f",
}


def _group_rows(result: dict[str, Any], group: str, n_columns: int) -> list[tuple[str, ...]]:
    """Return the rows of the table of a label group.

    They hold the name of a metric and the first ``n_columns`` of mean, standard deviation and
    pooled value, as texts.
    """
    rows = []
    for name in GROUP_METRICS:
        metric = result["metrics"][f"{group}.{name}"]
        pooled = result["pooled"][f"{group}.{name}"]
        numbers = _format_metrics(metric["mean"], metric["sd"], pooled)
        rows.append((name, *numbers[:n_columns]))
    return rows


def _format_metrics(*values: float | None) -> list[str]:
    """Return values of metrics as texts with four decimals; None becomes a dash."""
    return [format_number(value, ",.4f") for value in values]


def _resampling_notes(result: dict[str, Any]) -> list[str]:
    """Return a list with a note about the effect of resampling on the training rows of the folds.

    The numbers are means over folds. The list is empty if nothing was resampled.
    """
    folds = [fold for fold in result["folds"] if fold["before"] is not None]
    if not folds:
        return []

    def change_text(measure: str, spec: str) -> str:
        """Return the means of a measure over folds before and after, in a number format."""
        means = []
        for stage in ("before", "after"):
            values = [fold[stage][measure] for fold in folds]
            defined = [value for value in values if value is not None]
            means.append(sum(defined) / max(1, len(defined)))
        return f"{means[0]:{spec}} to {means[1]:{spec}}"

    return [
        f"training parts: {change_text('n_instances', ',.0f')} instances, MeanIR "
        f"{change_text('mean_ir', ',.2f')}, SCUMBLE {change_text('scumble', '.4f')}"
    ]


def _cost_text(result: dict[str, Any]) -> str:
    """Return a line with the time per fold, the peak memory and the seed of an evaluation."""
    seconds = result["seconds"]
    resampling = "" if result["resample"] is None else f"{seconds['resample']:.2f} s to resample, "
    subject = "a fold" if result.get("test") is None else "it"
    return (
        f"{subject} took {resampling}{seconds['fit']:.2f} s to fit and {seconds['predict']:.2f} s "
        f"to predict; at most {result['peak_memory'] / MIB:,.0f} MiB; seed {result['random_state']}"
    )


def _path_text(path: str) -> str:
    """Return the path of an input file for display, or "standard input" for ``-``."""
    return escape_controls(display_path(path, "standard input"))


def render_method_comparison(comparison: dict[str, Any], *, width: int | None = None) -> list[Line]:
    """Return a comparison of methods as lines of text.

    They are a table of means, a verdict on each method, the best method, and a table of the labels
    that it changes most.

    Parameters
    ----------
    comparison : dict
        From `scumble.evaluate.Comparison.to_dict`.
    width : int, optional
        Maximum width of a line, in characters.

    Returns
    -------
    list of list of Segment
        The lines.

    Examples
    --------
    >>> import scumble
    >>> from scumble.report import render_method_comparison
    >>> data = scumble.make_multilabel(300, 8, mean_ir=10, scumble=0.1, random_state=0)
    >>> comparison = scumble.evaluate.compare(data, ["br", "rare"], folds="1x3", random_state=0)
    >>> print("".join(part.text for part in render_method_comparison(comparison.to_dict())[0]))
    synthetic: 2 methods on 3 folds, each against br
    """
    from scumble.evaluate.metrics.label_groups import metric_title

    data = escape_controls(comparison["data"]) or "data"
    n_methods = len(comparison["methods"])
    n_folds = _n_folds(comparison)
    test_rows = f"{n_folds} folds" if n_folds > 1 else "a test part"
    baseline = escape_controls(comparison["baseline"])
    title = f"{data}: {n_methods} methods on {test_rows}, each against {baseline}"
    head = ("method", *map(metric_title, comparison["metrics"]), "seconds a fold")
    noun = "folds" if n_folds > 1 else "rows"
    legend = f"+ better and - worse than the first, beyond what chance in these {noun} explains"
    return [
        [Segment(title, "title")],
        *table_lines(head, _method_rows(comparison), width=width),
        [Segment(legend, "dim")],
        [],
        *wrap_lines((*comparison["verdicts"], *best_sentences(comparison)), width),
        *_gain_lines(comparison, width),
    ]


def _n_folds(comparison: dict[str, Any]) -> int:
    """Return the number of folds of a comparison; 1 if it is on a test set."""
    return len(next(iter(comparison["methods"][0]["folds"].values())))


def _method_rows(comparison: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return the rows of the table of methods: name, mean of each metric, and seconds per fold.

    Means that are better or worse than those of the baseline are marked by "+" or "-".
    """
    marks = {
        (difference["method"], difference["metric"]): VERDICT_MARKS.get(difference["verdict"], " ")
        for difference in comparison["differences"]
    }
    rows = []
    for method in comparison["methods"]:
        means = [
            f"{format_number(mean, ',.3f')} {marks.get((method['name'], metric), ' ')}"
            for metric, mean in method["means"].items()
        ]
        rows.append((method["name"], *means, f"{method['seconds']:,.2f}"))
    return rows


def best_sentences(comparison: dict[str, Any]) -> list[str]:
    """Return a list with a sentence about the method with the best mean.

    If it was selected among more than two, the sentence says that its mean is too optimistic, and
    if possible by how much.
    """
    best = comparison["best"]
    optimism = comparison["optimism"]
    n_methods = len(comparison["methods"])
    if best == comparison["baseline"]:
        return [f"Nothing here has a better mean than {best}."]
    text = f"Best mean: {best}."
    if n_methods > 2:
        noun = "folds" if _n_folds(comparison) > 1 else "rows"
        amount = "; they cannot show by how much"
        if optimism is not None:
            amount = f" by about {optimism:.3f}"
        text += (
            f" It was picked as the best of {n_methods} on these {noun}, which flatters it{amount}."
        )
    return [text]


def _gain_lines(comparison: dict[str, Any], width: int | None) -> list[Line]:
    """Return a table of the labels whose F1 gains and loses most by the best method, with a title.

    There are no lines if the baseline is the best method.
    """
    gains = comparison["gains"]
    if comparison["best"] == comparison["baseline"] or not gains:
        return []
    n_better = sum(row["gain"] > 0 for row in gains)
    n_worse = sum(row["gain"] < 0 for row in gains)
    title = f"{n_better} of {len(gains)} labels gain by {comparison['best']}, {n_worse} lose"
    listed = gains
    if len(gains) > 2 * N_LABELS_PER_END:
        listed = [*gains[:N_LABELS_PER_END], *gains[-N_LABELS_PER_END:]]
        title += f"; the {N_LABELS_PER_END} at either end"
    rows = [(row["name"], *format_cells(row, GAIN_FORMATS)) for row in listed]
    head = ("label", "training rows", "F1 before", "after", "gain")
    return [[], [Segment(escape_controls(title), "title")], *table_lines(head, rows, width=width)]


def render_advice(advice: dict[str, Any], *, width: int | None = None) -> list[Line]:
    """Return an advice as lines: problems, what helps, what does not, certainty, what to do.

    Parameters
    ----------
    advice : dict
        From `scumble.advice.Advice.to_dict`.
    width : int, optional
        Maximum width of a line, in characters.

    Returns
    -------
    list of list of Segment
        The lines.

    Examples
    --------
    >>> import scumble
    >>> from scumble.report import render_advice
    >>> data = scumble.make_multilabel(300, 8, mean_ir=10, scumble=0.1, random_state=0)
    >>> lines = render_advice(scumble.advise(data, random_state=0).to_dict())
    >>> print("".join(part.text for part in lines[0]))
    Advice for synthetic
    """
    lines: list[Line] = [
        [Segment(f"Advice for {escape_controls(advice['data']) or 'this data'}", "title")]
    ]
    for heading, sentences in advice["sentences"].items():
        if not sentences:
            continue
        lines += [[], [Segment(heading, "title")], *wrap_lines(sentences, width)]
        if heading == "What is wrong":
            lines += _risk_lines(advice, width)
        if heading == "What helps here" and not advice["nothing_to_learn"]:
            lines += [[], *_advised_methods_table(advice, width)]
    if not advice["nothing_to_learn"]:
        lines += [
            [],
            [Segment("What to do", "title")],
            [Segment(escape_controls(advice["shell"]))],
            [Segment("or, in Python:", "dim")],
            *([Segment(escape_controls(line))] for line in advice["python"]),
        ]
    return lines


def render_advice_page(advice: dict[str, Any]) -> str:
    """Return an advice as a self-contained HTML page.

    Parameters
    ----------
    advice : dict
        From `scumble.advice.Advice.to_dict`.

    Returns
    -------
    str
        HTML for light and dark mode, with sortable tables; it loads no other files.

    Examples
    --------
    >>> import scumble
    >>> from scumble.report import render_advice_page
    >>> data = scumble.make_multilabel(300, 8, mean_ir=10, scumble=0.1, random_state=0)
    >>> page = render_advice_page(scumble.advise(data, random_state=0).to_dict())
    >>> "https://" in page
    False
    """
    from scumble.report.pages import render_page

    content = {
        "advice": advice,
        "methods": _sort_methods(advice),
        "titles": ADVICE_METRIC_TITLES,
    }
    return render_page("advice.html.j2", content, "report.js", "report.css")


def _risk_lines(advice: dict[str, Any], width: int | None) -> list[Line]:
    """Return a table of the labels at risk: the rare labels with the highest SCUMBLELbl."""
    if not advice["at_risk"]:
        return []
    by_name = {label["name"]: label for label in advice["labels"]}
    rows = []
    for name in advice["at_risk"]:
        label = by_name[name]
        cooccurring = ""
        if label["company"] is not None:
            cooccurring = f"{label['company']}, {label['company_share']:.0%}"
        rows.append(
            (
                name,
                *format_cells(label, {"rows": ",d", "irlbl": ",.1f", "scumble": ".2f"}),
                cooccurring,
                *format_cells(label, {"f1_untreated": ".3f", "f1": ".3f"}),
            )
        )
    head = ("label at risk", "rows", "times rarer", "SCUMBLE", "mostly with")
    return [[], *table_lines((*head, "F1 untreated", "advised"), rows, width=width)]


def _advised_methods_table(advice: dict[str, Any], width: int | None) -> list[Line]:
    """Return a table of the evaluated methods: expected metrics, change of macro F1, seconds.

    The recommended method is marked by a star.
    """
    rows = []
    styles = []
    for method in _sort_methods(advice):
        expected = [
            format_number(method["expected"][metric]["value"], ",.3f")
            for metric in ADVICE_METRIC_TITLES
        ]
        gain = format_number(method["gain"]["value"], "+.3f")
        mark = " *" if method["chosen"] else ""
        rows.append((method["name"] + mark, *expected, gain, f"{method['seconds']:,.1f}"))
        styles.append("rare" if method["chosen"] else "")
    head = ("method (* advised)", *ADVICE_METRIC_TITLES.values(), "change", "seconds")
    return table_lines(head, rows, styles=styles, width=width)


def _sort_methods(advice: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the methods of an advice sorted by expected macro F1, the best first."""

    def macro_f1(method: dict[str, Any]) -> float:
        """Return the expected macro F1 of a method, 0 if it is not defined."""
        return method["expected"]["macro_f1"]["value"] or 0.0

    return sorted(advice["methods"], key=macro_f1, reverse=True)
