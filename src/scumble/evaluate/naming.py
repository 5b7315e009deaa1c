"""What metrics are called: of all labels, of a group of them, and pooled over folds."""

from __future__ import annotations

from collections.abc import Iterable

from scumble._core.errors import ParameterError, suggest
from scumble._core.registry import load_plugins, registered
from scumble.evaluate.groups import GROUPS
from scumble.evaluate.metric import Metric

#: Stands before a metric whose counts were added up over the folds first.
POOLED = "pooled."


def metric_names(groups: Iterable[str] = GROUPS) -> tuple[str, ...]:
    """List every name a metric can be asked for by.

    Parameters
    ----------
    groups : iterable of str
        Groups of labels, see `label_groups`.

    Returns
    -------
    tuple of str
        Plain ones (``macro_f1``), those of groups (``minority.macro_f1``), and those pooled over
        folds (``pooled.macro_f1``, ``pooled.minority.macro_f1``).

    Examples
    --------
    >>> from scumble.evaluate import metric_names
    >>> [name for name in metric_names(["few"]) if name.endswith("macro_recall")]
    ['macro_recall', 'few.macro_recall', 'pooled.macro_recall', 'pooled.few.macro_recall']
    """
    return tuple(_known(groups))


def find_metric(name: str, *, groups: Iterable[str] = ()) -> Metric:
    """Find a metric by name.

    Parameters
    ----------
    name : str
        Such as ``"macro_f1"``.
    groups : iterable of str
        Groups of labels that a name may begin with, as in ``"minority.macro_f1"``. With any of
        them, ``"pooled.macro_f1"`` and ``"pooled.minority.macro_f1"`` are metrics, too.

    Returns
    -------
    Metric
        What is known of it.

    Raises
    ------
    ParameterError
        If there is none, with names that come close.

    Examples
    --------
    >>> from scumble.evaluate import find_metric
    >>> find_metric("pooled.minority.macro_f1", groups=["minority"]).name
    'macro_f1'
    """
    known = _known(groups)
    if name in known:
        return known[name]
    plain = [each for each in known if "." not in each]
    hint = suggest(str(name), plain) or suggest(str(name), known)
    more = "" if hint else f" Expected for example {', '.join(sorted(registered('metric')))}."
    raise ParameterError(f"There is no metric {name!r}.{hint}{more}")


def direction(name: str) -> int:
    """Tell which values of a metric are better: 1 for more, -1 for less, 0 where neither is."""
    start, _, last = name.rpartition(".")
    if start in ("before", "after"):  # measures of training parts
        return 0
    if last not in registered("metric"):
        load_plugins()
    metric = registered("metric").get(last)
    return 0 if metric is None else 1 if metric.greater_is_better else -1


def metric_title(name: str) -> str:
    """Write the name of a metric as a reader says it."""
    pooled, rest = name.startswith(POOLED), name.removeprefix(POOLED)
    group, _, last = rest.rpartition(".")
    title = last.replace("auc_pr", "AUC-PR").replace("auc", "AUC").replace("f1", "F1")
    of_group = f" of {group} labels" if group not in ("", "all") else ""
    return f"{'pooled ' if pooled else ''}{title.replace('_', ' ')}{of_group}"


def _known(groups: Iterable[str]) -> dict[str, Metric]:
    groups = tuple(groups)
    plain: dict[str, Metric] = dict(registered("metric"))
    told = {name: metric for name, metric in plain.items() if metric.of_labels}
    counted = {name: metric for name, metric in told.items() if metric.needs == "predictions"}
    found = plain | {f"{group}.{name}": told[name] for group in groups for name in told}
    for start in ("", *(f"{group}." for group in groups)) if groups else ():
        found |= {f"{POOLED}{start}{name}": metric for name, metric in counted.items()}
    return found
