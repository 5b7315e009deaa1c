"""The advice for a data set, laid out for the terminal and as a page."""

from __future__ import annotations

from typing import Any

from scumble._core.text import format_number, safe
from scumble.report.pages import render_page
from scumble.report.terminal import Line, Segment, cells, table, wrapped

TITLES = {"macro_f1": "macro F1", "minority_f1": "of rare labels", "micro_f1": "micro F1"}


def render_advice(advice: dict[str, Any], *, width: int | None = None) -> list[Line]:
    """Lay out an advice: what is wrong, what helps, what does not, how sure, what to do.

    Parameters
    ----------
    advice : dict
        From `scumble.advise.Advice.to_dict`.
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
    lines: list[Line] = [[Segment(f"Advice for {safe(advice['data']) or 'this data'}", "title")]]
    for heading, told in advice["sentences"].items():
        if not told:
            continue
        lines += [[], [Segment(heading, "title")]]
        for sentence in told:
            lines += wrapped(sentence, width)
        if heading == "What is wrong":
            lines += _at_risk(advice, width)
        if heading == "What helps here" and not advice["nothing_to_learn"]:
            lines += [[], *_methods(advice, width)]
    if not advice["nothing_to_learn"]:
        told = [advice["shell"], "or, in Python:", *advice["python"]]
        lines += [[], [Segment("What to do", "title")]]
        lines += [[Segment(safe(line), "dim" if line.startswith("or,") else "")] for line in told]
    return lines


def render_advice_page(advice: dict[str, Any]) -> str:
    """Lay out an advice as a page that needs nothing but itself.

    Parameters
    ----------
    advice : dict
        From `scumble.advise.Advice.to_dict`.

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
