"""Groups of labels that a training part tells apart, and what metrics of them are called.

The rare, the difficult, the barely seen; ``macro_f1`` of all labels, ``minority.macro_f1`` of a
group, ``pooled.macro_f1`` of counts that were added up over the folds.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError, ParameterTypeError, did_you_mean
from scumble._core.registry import load_plugins, registered_objects
from scumble._core.selection import resolve_label_indices
from scumble._core.validation import check_named_labels
from scumble.evaluate.metric import Metric
from scumble.measures import concurrence
from scumble.measures.imbalance import minority_from_ratios
from scumble.measures.threaded_kernels import count_labels

#: Name of a group -> its labels, None for the rule of that name.
Groups = Mapping[str, Any]

#: The groups that every training part has, in the order they are told.
GROUPS = ("all", "minority", "difficult", "few")
#: A label with fewer training positives than this belongs to the group ``few``.
FEW = 10
#: A label with fewer training positives than this is in no mean of a group: nobody can learn it.
MIN_TRAINING_POSITIVES = 2
#: Stands before a metric whose counts were added up over the folds first.
POOLED_PREFIX = "pooled."
#: What stands before a dot in the name of a score and is no group.
RESERVED = ("pooled", "ignore", "hits", "before", "after")


def label_groups(
    Y: Any, groups: Any = GROUPS, *, labels: Sequence[str] | None = None
) -> dict[str, Array]:
    """Tell which labels belong to which group, by the labels of a training part.

    A mean over all labels hides what happens to the rare ones. These groups show them apart.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The labels of the training part, before any resampling.
    groups : sequence of str, or mapping of str to labels
        Names of the groups below; or groups of your own: a mapping from names to labels (by name,
        by number, or as a mask), None standing for the rule of that name. None makes no groups.
    labels : sequence of str, optional
        Names of the labels; by default those of ``Y``.

    Returns
    -------
    dict of str to ndarray of bool
        For each group a mask with one value per label.

    Raises
    ------
    ParameterError
        If there is no such group or label.

    Notes
    -----
    - ``all``: every label.
    - ``minority``: IRLbl > MeanIR.
    - ``difficult``: minority labels whose SCUMBLELbl lies above the median of the minority labels:
      rare ones that share their instances with frequent ones.
    - ``few``: one to nine instances.

    Examples
    --------
    Label 0 is everywhere, labels 2 and 3 are rare, and label 3 stands alone.

    >>> from scumble.evaluate import label_groups
    >>> Y = [[1, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 0, 1]]
    >>> found = label_groups(Y, ["minority", "difficult"])
    >>> found["minority"], found["difficult"]
    (array([False, False,  True,  True]), array([False, False,  True, False]))
    >>> label_groups(Y, {"mine": ["b", "d"]}, labels=["a", "b", "c", "d"])["mine"]
    array([False,  True, False,  True])
    """
    wanted = check_groups(groups, caller="label_groups")
    matrix, names = check_named_labels(Y, caller="label_groups")
    return group_masks(wanted, matrix.shape[1], matrix, names if labels is None else labels)


def check_groups(groups: Any, *, caller: str, allow_custom: bool = True) -> dict[str, Any]:
    """Bring what a user says about groups into one form."""
    if groups is None:
        return {}
    if isinstance(groups, str):
        groups = [name.strip() for name in groups.split(",") if name.strip()]
    if not isinstance(groups, Iterable) or isinstance(groups, np.ndarray):
        raise ParameterTypeError(
            f"The 'groups' parameter of {caller} must be names of groups ({', '.join(GROUPS)}), or "
            f"a mapping from names to labels. Got {groups!r} instead."
        )
    found = dict(groups) if isinstance(groups, Mapping) else dict.fromkeys(groups)
    for name, chosen in found.items():
        _check_name(name, chosen, allow_custom and isinstance(groups, Mapping), caller)
    return found


def _check_name(name: Any, chosen: Any, allow_custom: bool, caller: str) -> None:
    if chosen is None or not allow_custom:
        if name not in GROUPS:
            raise ParameterError(
                f"{caller}: there is no group of labels {name!r}.{did_you_mean(str(name), GROUPS)} "
                f"Expected {', '.join(GROUPS)}"
                + (", or a mapping with labels of your own." if allow_custom else ".")
            )
    elif not isinstance(name, str) or "." in name or not name or name in RESERVED:
        raise ParameterError(
            f"{caller}: a group of labels cannot be called {name!r}. Choose a name without a dot, "
            f"other than {', '.join(RESERVED)}."
        )


def group_masks(
    groups: Groups, n_labels: int, training: Any, names: Sequence[str] | None
) -> dict[str, Array]:
    """Make the masks of groups; ``training`` holds canonical labels, or None where unknown."""
    rules = {name for name, chosen in groups.items() if chosen is None and name != "all"}
    if rules and training is None:
        raise ParameterError(
            f"evaluate: the training part tells which labels are {' and '.join(sorted(rules))}. "
            "Give its labels as 'training', or a mapping with the labels of the group."
        )
    known = {"all": np.ones(n_labels, bool)} | (_by_rule(training) if rules else {})
    return {
        name: known[name] if chosen is None else _by_choice(name, chosen, n_labels, names)
        for name, chosen in groups.items()
    }


def _by_rule(Y: Any) -> dict[str, Array]:
    counts = count_labels(Y)
    found = concurrence(Y)
    minority = minority_from_ratios(found.irlbl)
    middle = np.median(found.by_label[minority]) if minority.any() else np.nan
    # As everywhere, equal scores must not lie above themselves by rounding.
    difficult = minority & (np.nan_to_num(found.by_label) > middle + 1e-12)
    return {"minority": minority, "difficult": difficult, "few": (counts > 0) & (counts < FEW)}


def _by_choice(name: str, chosen: Any, n_labels: int, names: Sequence[str] | None) -> Array:
    """Make a mask of names, numbers or a mask."""
    members = resolve_label_indices(chosen, n_labels, names, caller=f"The group {name!r}")
    return np.isin(np.arange(n_labels), members)


# What metrics are called --------------------------------------------------------------------------


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
    hint = did_you_mean(str(name), plain) or did_you_mean(str(name), known)
    more = (
        "" if hint else f" Expected for example {', '.join(sorted(registered_objects('metric')))}."
    )
    raise ParameterError(f"There is no metric {name!r}.{hint}{more}")


def metric_sign(name: str) -> int:
    """Tell which values of a metric are better: 1 for more, -1 for less, 0 where neither is."""
    start, _, last = name.rpartition(".")
    if start in ("before", "after"):  # measures of training parts
        return 0
    if last not in registered_objects("metric"):
        load_plugins()
    metric = registered_objects("metric").get(last)
    return 0 if metric is None else 1 if metric.greater_is_better else -1


def metric_title(name: str) -> str:
    """Write the name of a metric as a reader says it."""
    pooled, rest = name.startswith(POOLED_PREFIX), name.removeprefix(POOLED_PREFIX)
    group, _, last = rest.rpartition(".")
    title = last.replace("auc_pr", "AUC-PR").replace("auc", "AUC").replace("f1", "F1")
    of_group = f" of {group} labels" if group not in ("", "all") else ""
    return f"{'pooled ' if pooled else ''}{title.replace('_', ' ')}{of_group}"


def _known(groups: Iterable[str]) -> dict[str, Metric]:
    groups = tuple(groups)
    plain: dict[str, Metric] = dict(registered_objects("metric"))
    told = {name: metric for name, metric in plain.items() if metric.label_based}
    counted = {name: metric for name, metric in told.items() if metric.needs == "predictions"}
    found = plain | {f"{group}.{name}": told[name] for group in groups for name in told}
    for start in ("", *(f"{group}." for group in groups)) if groups else ():
        found |= {f"{POOLED_PREFIX}{start}{name}": metric for name, metric in counted.items()}
    return found
