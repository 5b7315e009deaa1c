"""Methods compared on the same folds, laid out for the terminal."""

from __future__ import annotations

from typing import Any

from scumble._core.text import format_number, safe
from scumble.report.terminal import Line, Segment, cells, table, wrapped

#: Labels with the largest gains and losses that are shown.
N_LABELS = 8
#: What is shown of them.
GAINS = {"training_positives": ",.0f", "before": ".3f", "after": ".3f", "gain": "+.3f"}
MARKS = {"better": "+", "worse": "-"}


def render_methods(found: dict[str, Any], *, width: int | None = None) -> list[Line]:
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
    >>> from scumble.report import render_methods
    >>> data = scumble.make_multilabel(300, 8, mean_ir=10, scumble=0.1, random_state=0)
    >>> found = scumble.evaluate.compare(data, ["br", "rare"], folds="1x3", random_state=0)
    >>> print("".join(part.text for part in render_methods(found.to_dict())[0]))
    synthetic: 2 methods on 3 folds, each against br
    """
    from scumble.evaluate.groups import metric_title

    n_folds = _n_folds(found)
    judged = f"{n_folds} folds" if n_folds > 1 else "a test part"
    title = f"{safe(found['data']) or 'data'}: {len(found['methods'])} methods on {judged}, each "
    lines: list[Line] = [[Segment(f"{title}against {safe(found['baseline'])}", "title")]]
    head = ("method", *map(metric_title, found["metrics"]), "seconds a fold")
    lines += table(head, _rows(found), width=width)
    where = "folds" if n_folds > 1 else "rows"
    marked = f"+ better and - worse than the first, beyond what chance in these {where} explains"
    lines += [[Segment(marked, "dim")], []]
    for sentence in (*found["verdicts"], *best_sentences(found)):
        lines += wrapped(sentence, width)
    return lines + _labels(found, width)


def _n_folds(found: dict[str, Any]) -> int:
    return len(next(iter(found["methods"][0]["folds"].values())))


def _rows(found: dict[str, Any]) -> list[tuple[str, ...]]:
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
    sentences = [f"Best mean: {best}."]
    if len(found["methods"]) > 2:
        where = "folds" if _n_folds(found) > 1 else "rows"
        much = (
            "; by how much, they cannot tell" if optimism is None else f" by about {optimism:.3f}"
        )
        sentences.append(
            f"It was picked as the best of {len(found['methods'])} on these {where}, which "
            f"flatters it{much}."
        )
    return [" ".join(sentences)]


def _labels(found: dict[str, Any], width: int | None) -> list[Line]:
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
    return [[], [Segment(safe(told), "title")], *table(head, rows, width=width)]
