"""What classifiers are worth: alone, compared, advised, or by their predictions.

Laid out for the terminal, and the advice as a page.
"""

from typing import Any

from scumble._core.text import display_path, escape_controls, format_number
from scumble.report.terminal import Line, Segment, cells, table, wrap_lines

MIB = 2**20
#: What is told of a group of labels.
OF_GROUPS = ("macro_precision", "macro_recall", "macro_f1", "micro_f1", "never_predicted")
#: Labels with the largest gains and losses that are shown.
N_LABELS = 8
#: What is shown of them.
GAINS = {"training_positives": ",.0f", "before": ".3f", "after": ".3f", "gain": "+.3f"}
MARKS = {"better": "+", "worse": "-"}
#: What is told of a method that was tried for an advice.
TITLES = {"macro_f1": "macro F1", "minority_f1": "of rare labels", "micro_f1": "micro F1"}


def render_evaluation(result: dict[str, Any], *, width: int | None = None) -> list[Line]:
    """Lay out the metrics of a cross-validation with what it cost."""
    resampled = (
        "" if result["resample"] is None else f" after {escape_controls(result['resample'])}"
    )
    tested = result.get("test")
    where = f"{len(result['folds'])} folds" if tested is None else f"tested on {_read(tested)}"
    base = escape_controls((result.get("base") or "").rpartition(".")[2])
    learner = f"{escape_controls(result['classifier'])}{f' of {base}' if base else ''}{resampled}"
    title = f"{escape_controls(result['data']) or 'data'}: {learner}, {where}"
    groups = result.get("groups", ())
    # One test part has one value, and no spread.
    heads = ("mean", "sd", "pooled") if tested is None else ("value",)
    told = {name: one for name, one in result["metrics"].items() if not groups or "." not in name}
    rows = [(name, *_numbers(one["mean"], one["sd"])[: len(heads)]) for name, one in told.items()]
    lines: list[Line] = [[Segment(title, "title")]]
    lines += table(("metric", *heads[:2]), rows, width=width)
    for group in groups:
        lines += table((f"{group} labels", *heads), _group(result, group, len(heads)))
    lines += [[Segment(text, "dim")] for text in (*_treatment(result), _cost(result))]
    return lines


def render_prediction_report(
    result: dict[str, Any],
    *,
    top: int = 20,
    show_all_metrics: bool = False,
    width: int | None = None,
) -> list[Line]:
    """Lay out what predictions are worth: metrics, then labels, the rarest first."""
    title = (
        f"{_read(result['predictions'])} against {_read(result['truth'])}: "
        f"{result['n_instances']:,} instances, {result['n_labels']:,} labels"
    )
    if result["cut"] is not None:
        title += f", predicted from a score of {result['cut']:g} on"
    rows = [(name, *_numbers(value)) for name, value in result["metrics"].items()]
    rare = {f"minority.{name}" for name in OF_GROUPS}
    if not show_all_metrics:  # all metrics of all groups are too many to read
        rows = [row for row in rows if "." not in row[0] or row[0] in rare]
    ranked = sorted(result["labels"], key=lambda label: label["positives"])
    shown = ranked[:top] if top else ranked
    columns = {name: spec for name, spec in _COLUMNS.items() if shown and name in shown[0]}
    told = [(escape_controls(one["name"]), *cells(one, columns)) for one in shown]
    lines: list[Line] = [[Segment(title, "title")]]
    lines += table(("metric", "value"), rows, width=width)
    lines += table(("label", *(name.replace("_", " ") for name in columns)), told, width=width)
    if len(shown) < len(ranked):
        more = f"the {len(shown)} rarest of {len(ranked):,} labels; --top 0 shows all"
        lines.append([Segment(more, "dim")])
    return lines


#: What is told of a label, where it is known, with formats.
_COLUMNS = dict.fromkeys(("positives", "training_positives"), ",.0f")
_COLUMNS |= dict.fromkeys(("true_positives", "false_positives"), ",.0f")
_COLUMNS |= dict.fromkeys(("precision", "recall", "f1", "auc"), ",.4f")


def _group(result: dict[str, Any], group: str, n_numbers: int) -> list[tuple[str, ...]]:
    """Tell of a group of labels the mean over folds, and what counts added up over folds say."""
    rows = []
    for name in OF_GROUPS:
        spread, pooled = (result[kind][f"{group}.{name}"] for kind in ("metrics", "pooled"))
        rows.append((name, *_numbers(spread["mean"], spread["sd"], pooled)[:n_numbers]))
    return rows


def _numbers(*values: float | None) -> list[str]:
    return [format_number(value, ",.4f") for value in values]


def _treatment(result: dict[str, Any]) -> list[str]:
    """Tell what resampling did to the training parts, on average."""
    folds = [fold for fold in result["folds"] if fold["before"] is not None]
    if not folds:
        return []

    def mean(when: str, measure: str) -> float:
        values = [fold[when][measure] for fold in folds]
        return sum(v for v in values if v is not None) / max(1, len(values) - values.count(None))

    rows, ratios, scores = (
        [mean(when, measure) for when in ("before", "after")]
        for measure in ("n_instances", "mean_ir", "scumble")
    )
    return [
        f"training parts: {rows[0]:,.0f} to {rows[1]:,.0f} instances, MeanIR {ratios[0]:,.2f} to "
        f"{ratios[1]:,.2f}, SCUMBLE {scores[0]:.4f} to {scores[1]:.4f}"
    ]


def _cost(result: dict[str, Any]) -> str:
    seconds = result["seconds"]
    before = "" if result["resample"] is None else f"{seconds['resample']:.2f} s to resample, "
    what = "a fold" if result.get("test") is None else "it"
    return (
        f"{what} took {before}{seconds['fit']:.2f} s to fit and {seconds['predict']:.2f} s to "
        f"predict; at most {result['peak_memory'] / MIB:,.0f} MiB; seed {result['random_state']}"
    )


def _read(path: str) -> str:
    """Name a file that was read."""
    return escape_controls(display_path(path, "standard input"))


def render_method_comparison(found: dict[str, Any], *, width: int | None = None) -> list[Line]:
    """Lay out a comparison: means, a sentence for each method, and what the labels gain.

    Parameters
    ----------
    found : dict
        From `scumble.evaluate.Comparison.to_dict`.
    width : int, optional
        Cells a line may take.

    Returns
    -------
    list of list of Segment
        The lines.

    Examples
    --------
    >>> import scumble
    >>> from scumble.report import render_method_comparison
    >>> data = scumble.make_multilabel(300, 8, mean_ir=10, scumble=0.1, random_state=0)
    >>> found = scumble.evaluate.compare(data, ["br", "rare"], folds="1x3", random_state=0)
    >>> print("".join(part.text for part in render_method_comparison(found.to_dict())[0]))
    synthetic: 2 methods on 3 folds, each against br
    """
    from scumble.evaluate.groups import metric_title

    n_folds = _n_folds(found)
    judged = f"{n_folds} folds" if n_folds > 1 else "a test part"
    title = f"{escape_controls(found['data']) or 'data'}: {len(found['methods'])} methods on {judged}, each "
    lines: list[Line] = [[Segment(f"{title}against {escape_controls(found['baseline'])}", "title")]]
    head = ("method", *map(metric_title, found["metrics"]), "seconds a fold")
    lines += table(head, _method_rows(found), width=width)
    where = "folds" if n_folds > 1 else "rows"
    marked = f"+ better and - worse than the first, beyond what chance in these {where} explains"
    lines += [[Segment(marked, "dim")], []]
    lines += wrap_lines((*found["verdicts"], *best_sentences(found)), width)
    return lines + _gain_lines(found, width)


def _n_folds(found: dict[str, Any]) -> int:
    return len(next(iter(found["methods"][0]["folds"].values())))


def _method_rows(found: dict[str, Any]) -> list[tuple[str, ...]]:
    marks = {
        (one["method"], one["metric"]): MARKS.get(one["verdict"], " ")
        for one in found["differences"]
    }
    return [
        (
            method["name"],
            *(
                f"{format_number(mean, ',.3f')} {marks.get((method['name'], metric), ' ')}"
                for metric, mean in method["means"].items()
            ),
            f"{method['seconds']:,.2f}",
        )
        for method in found["methods"]
    ]


def best_sentences(found: dict[str, Any]) -> list[str]:
    """Name the best, and warn of choosing it among many."""
    best, optimism = found["best"], found["optimism"]
    if best == found["baseline"]:
        return [f"Nothing here has a better mean than {best}."]
    told = f"Best mean: {best}."
    if len(found["methods"]) > 2:
        where = "folds" if _n_folds(found) > 1 else "rows"
        much = (
            "; by how much, they cannot tell" if optimism is None else f" by about {optimism:.3f}"
        )
        told += (
            f" It was picked as the best of {len(found['methods'])} on these {where}, which "
            f"flatters it{much}."
        )
    return [told]


def _gain_lines(found: dict[str, Any], width: int | None) -> list[Line]:
    """Show what the best method gives to labels, and takes from them."""
    gains = found["gains"]
    if found["best"] == found["baseline"] or not gains:
        return []
    shown = gains if len(gains) <= 2 * N_LABELS else [*gains[:N_LABELS], *gains[-N_LABELS:]]
    rows = [(row["name"], *cells(row, GAINS)) for row in shown]
    up, down = (sum(row["gain"] * sign > 0 for row in gains) for sign in (1, -1))
    told = f"{up} of {len(gains)} labels gain by {found['best']}, {down} lose"
    if len(shown) < len(gains):
        told += f"; the {N_LABELS} at either end"
    head = ("label", "training rows", "F1 before", "after", "gain")
    return [[], [Segment(escape_controls(told), "title")], *table(head, rows, width=width)]


def render_advice(advice: dict[str, Any], *, width: int | None = None) -> list[Line]:
    """Lay out an advice: what is wrong, what helps, what does not, how sure, what to do.

    Parameters
    ----------
    advice : dict
        From `scumble.advice.Advice.to_dict`.
    width : int, optional
        Cells a line may take.

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
    for heading, told in advice["sentences"].items():
        if not told:
            continue
        lines += [[], [Segment(heading, "title")], *wrap_lines(told, width)]
        if heading == "What is wrong":
            lines += _at_risk(advice, width)
        if heading == "What helps here" and not advice["nothing_to_learn"]:
            lines += [[], *_methods(advice, width)]
    if not advice["nothing_to_learn"]:
        told = [advice["shell"], "or, in Python:", *advice["python"]]
        lines += [[], [Segment("What to do", "title")]]
        lines += [
            [Segment(escape_controls(line), "dim" if line.startswith("or,") else "")]
            for line in told
        ]
    return lines


def render_advice_page(advice: dict[str, Any]) -> str:
    """Lay out an advice as a page that needs nothing but itself.

    Parameters
    ----------
    advice : dict
        From `scumble.advice.Advice.to_dict`.

    Returns
    -------
    str
        HTML, light and dark, with tables that can be sorted; it loads nothing.

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

    content = {"advice": advice, "methods": _ordered(advice), "titles": TITLES}
    return render_page("advice.html.j2", content, "report.js", "report.css")


def _at_risk(advice: dict[str, Any], width: int | None) -> list[Line]:
    """Show the rare labels in the most unequal company, and what is known of them."""
    by_name = {label["name"]: label for label in advice["labels"]}
    rows = [_risk(by_name[name]) for name in advice["at_risk"]]
    if not rows:
        return []
    head = ("label at risk", "rows", "times rarer", "SCUMBLE", "meets most")
    return [[], *table((*head, "F1 untreated", "advised"), rows, width=width)]


def _risk(label: dict[str, Any]) -> tuple[str, ...]:
    met = label["company"]
    return (
        label["name"],
        *cells(label, {"rows": ",d", "irlbl": ",.1f", "scumble": ".2f"}),
        "" if met is None else f"{met}, {label['company_share']:.0%}",
        *cells(label, {"f1_untreated": ".3f", "f1": ".3f"}),
    )


def _methods(advice: dict[str, Any], width: int | None) -> list[Line]:
    rows = [
        (
            one["name"] + (" *" if one["chosen"] else ""),
            *(format_number(one["expected"][metric]["value"], ",.3f") for metric in TITLES),
            format_number(one["gain"]["value"], "+.3f"),
            f"{one['seconds']:,.1f}",
        )
        for one in _ordered(advice)
    ]
    head = ("method (* advised)", *TITLES.values(), "change", "seconds")
    styles = ["rare" if row[0].endswith(" *") else "" for row in rows]
    return table(head, rows, styles=styles, width=width)


def _ordered(advice: dict[str, Any]) -> list[dict[str, Any]]:
    """Sort methods by macro F1, the best first."""
    return sorted(advice["methods"], key=lambda one: -(one["expected"]["macro_f1"]["value"] or 0.0))
