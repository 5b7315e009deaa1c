"""Text reports of evaluations, comparisons and advice; and the page of an advice."""

from typing import Any

from scumble._core.text import display_path, escape_controls, format_number
from scumble.report.terminal import Line, Segment, cells, table, wrap_lines

MIB = 2**20
#: Metrics that are listed for a group of labels.
GROUP_METRICS = ("macro_precision", "macro_recall", "macro_f1", "micro_f1", "never_predicted")
#: Number of labels that are listed from either end of the order by gain.
N_LABELS = 8
#: Columns of the table of gains, with formats.
GAIN_FORMATS = {"training_positives": ",.0f", "before": ".3f", "after": ".3f", "gain": "+.3f"}
MARKS = {"better": "+", "worse": "-"}
#: Metrics of the methods in an advice, with titles.
TITLES = {"macro_f1": "macro F1", "minority_f1": "of rare labels", "micro_f1": "micro F1"}


def render_evaluation(result: dict[str, Any], *, width: int | None = None) -> list[Line]:
    """Render the metrics of a cross-validation or a test, and time and memory, as text."""
    is_tested = result.get("test") is not None
    groups = result.get("groups", ())
    lines: list[Line] = [[Segment(_evaluation_title(result), "title")]]
    heads: tuple[str, ...] = ("mean", "sd", "pooled")
    if is_tested:  # a test part has a single value without a standard deviation
        heads = ("value",)
    rows = []
    for name, metric in result["metrics"].items():
        if groups and "." in name:  # a metric of a group, which has its own table
            continue
        numbers = _format_metrics(metric["mean"], metric["sd"])
        rows.append((name, *numbers[: len(heads)]))
    lines += table(("metric", *heads[:2]), rows, width=width)
    for group in groups:
        lines += table((f"{group} labels", *heads), _group_rows(result, group, len(heads)))
    notes = [*_resampling_notes(result), _cost_text(result)]
    lines += [[Segment(note, "dim")] for note in notes]
    return lines


def _evaluation_title(result: dict[str, Any]) -> str:
    """Return a title with data, classifier, resampling and folds of an evaluation."""
    data = escape_controls(result["data"]) or "data"
    learner = escape_controls(result["classifier"])
    base = escape_controls((result.get("base") or "").rpartition(".")[2])
    if base:
        learner += f" of {base}"
    if result["resample"] is not None:
        learner += f" after {escape_controls(result['resample'])}"
    if result.get("test") is None:
        return f"{data}: {learner}, {len(result['folds'])} folds"
    return f"{data}: {learner}, tested on {_path_text(result['test'])}"


def render_prediction_report(
    result: dict[str, Any],
    *,
    top: int = 20,
    show_all_metrics: bool = False,
    width: int | None = None,
) -> list[Line]:
    """Render the metrics of predictions, then those of each label, the rarest first, as text."""
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
    label_rows = [(escape_controls(label["name"]), *cells(label, formats)) for label in listed]
    label_head = ("label", *(name.replace("_", " ") for name in formats))
    lines: list[Line] = [[Segment(title, "title")]]
    lines += table(("metric", "value"), rows, width=width)
    lines += table(label_head, label_rows, width=width)
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
    """Return the rows of a label group: metric, mean, standard deviation and pooled value."""
    rows = []
    for name in GROUP_METRICS:
        metric = result["metrics"][f"{group}.{name}"]
        pooled = result["pooled"][f"{group}.{name}"]
        numbers = _format_metrics(metric["mean"], metric["sd"], pooled)
        rows.append((name, *numbers[:n_columns]))
    return rows


def _format_metrics(*values: float | None) -> list[str]:
    """Format values of metrics."""
    return [format_number(value, ",.4f") for value in values]


def _resampling_notes(result: dict[str, Any]) -> list[str]:
    """Return a note about the mean effect of resampling on the training parts, if there is one."""
    folds = [fold for fold in result["folds"] if fold["before"] is not None]
    if not folds:
        return []

    def change(measure: str, spec: str) -> str:
        means = []
        for stage in ("before", "after"):
            values = [fold[stage][measure] for fold in folds]
            defined = [value for value in values if value is not None]
            means.append(sum(defined) / max(1, len(defined)))
        return f"{means[0]:{spec}} to {means[1]:{spec}}"

    return [
        f"training parts: {change('n_instances', ',.0f')} instances, MeanIR "
        f"{change('mean_ir', ',.2f')}, SCUMBLE {change('scumble', '.4f')}"
    ]


def _cost_text(result: dict[str, Any]) -> str:
    """Return time, memory and seed of an evaluation as a sentence."""
    seconds = result["seconds"]
    resampling = "" if result["resample"] is None else f"{seconds['resample']:.2f} s to resample, "
    subject = "a fold" if result.get("test") is None else "it"
    return (
        f"{subject} took {resampling}{seconds['fit']:.2f} s to fit and {seconds['predict']:.2f} s "
        f"to predict; at most {result['peak_memory'] / MIB:,.0f} MiB; seed {result['random_state']}"
    )


def _path_text(path: str) -> str:
    """Return the name of an input file, or "standard input"."""
    return escape_controls(display_path(path, "standard input"))


def render_method_comparison(comparison: dict[str, Any], *, width: int | None = None) -> list[Line]:
    """Render a comparison: means, a sentence for each method, and gains per label, as text.

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
        *table(head, _method_rows(comparison), width=width),
        [Segment(legend, "dim")],
        [],
        *wrap_lines((*comparison["verdicts"], *best_sentences(comparison)), width),
        *_gain_lines(comparison, width),
    ]


def _n_folds(comparison: dict[str, Any]) -> int:
    """Return the number of folds of a comparison; 1 for a test part."""
    return len(next(iter(comparison["methods"][0]["folds"].values())))


def _method_rows(comparison: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return the rows of methods: name, means with marks, and seconds per fold."""
    marks = {
        (difference["method"], difference["metric"]): MARKS.get(difference["verdict"], " ")
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
    """Return a sentence with the best method, and a warning if it was selected among several."""
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
    """Return a table of the labels that gain and lose most by the best method."""
    gains = comparison["gains"]
    if comparison["best"] == comparison["baseline"] or not gains:
        return []
    n_better = sum(row["gain"] > 0 for row in gains)
    n_worse = sum(row["gain"] < 0 for row in gains)
    title = f"{n_better} of {len(gains)} labels gain by {comparison['best']}, {n_worse} lose"
    listed = gains
    if len(gains) > 2 * N_LABELS:
        listed = [*gains[:N_LABELS], *gains[-N_LABELS:]]
        title += f"; the {N_LABELS} at either end"
    rows = [(row["name"], *cells(row, GAIN_FORMATS)) for row in listed]
    head = ("label", "training rows", "F1 before", "after", "gain")
    return [[], [Segment(escape_controls(title), "title")], *table(head, rows, width=width)]


def render_advice(advice: dict[str, Any], *, width: int | None = None) -> list[Line]:
    """Render an advice as text: problems, what helps, what does not, certainty, what to do.

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
    """Render an advice as a self-contained HTML page.

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

    content = {"advice": advice, "methods": _sort_methods(advice), "titles": TITLES}
    return render_page("advice.html.j2", content, "report.js", "report.css")


def _risk_lines(advice: dict[str, Any], width: int | None) -> list[Line]:
    """Return a table of the rare labels with the highest concurrence."""
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
                *cells(label, {"rows": ",d", "irlbl": ",.1f", "scumble": ".2f"}),
                cooccurring,
                *cells(label, {"f1_untreated": ".3f", "f1": ".3f"}),
            )
        )
    head = ("label at risk", "rows", "times rarer", "SCUMBLE", "mostly with")
    return [[], *table((*head, "F1 untreated", "advised"), rows, width=width)]


def _advised_methods_table(advice: dict[str, Any], width: int | None) -> list[Line]:
    """Return a table of the methods with expected metrics, change of macro F1 and seconds."""
    rows = []
    styles = []
    for method in _sort_methods(advice):
        expected = [format_number(method["expected"][metric]["value"], ",.3f") for metric in TITLES]
        gain = format_number(method["gain"]["value"], "+.3f")
        mark = " *" if method["chosen"] else ""
        rows.append((method["name"] + mark, *expected, gain, f"{method['seconds']:,.1f}"))
        styles.append("rare" if method["chosen"] else "")
    head = ("method (* advised)", *TITLES.values(), "change", "seconds")
    return table(head, rows, styles=styles, width=width)


def _sort_methods(advice: dict[str, Any]) -> list[dict[str, Any]]:
    """Sort the methods of an advice by macro F1, the best first."""

    def macro_f1(method: dict[str, Any]) -> float:
        return method["expected"]["macro_f1"]["value"] or 0.0

    return sorted(advice["methods"], key=macro_f1, reverse=True)
