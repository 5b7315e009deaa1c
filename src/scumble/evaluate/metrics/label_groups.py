"""Groups of labels, such as the minority labels, and the names of metrics of groups.

``macro_f1`` is a metric of all labels, ``minority.macro_f1`` of the labels of a group. A *pooled*
metric, ``pooled.macro_f1``, is computed from counts that were added up over the folds of a
cross-validation. A group is defined by a *rule* of the same name, such as ``minority``, or is a
*custom* group of labels that the user lists.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError, ParameterTypeError, did_you_mean
from scumble._core.registry import load_plugins, registered_objects
from scumble._validation.labels import check_named_labels
from scumble._validation.selection import resolve_label_indices
from scumble.evaluate.metrics.base import Metric
from scumble.measures import concurrence
from scumble.measures.imbalance import minority_from_ratios
from scumble.measures.threaded_kernels import count_labels

#: From the name of a group to its labels, or to None for the rule of that name.
Groups = Mapping[str, Any]

#: Groups that are defined by a rule, in the order of reports.
GROUPS = ("all", "minority", "difficult", "few")
#: Labels that fewer training rows than this have belong to the group ``few``.
FEW_POSITIVES = 10
#: Labels that fewer training rows than this have count in no group: one row is too few to learn
#: from.
MIN_TRAINING_POSITIVES = 2
#: Prefix of pooled metrics.
POOLED_PREFIX = "pooled."
#: Prefixes of names of scores, which cannot be names of groups: ``pooled.f1`` (from counts added up
#: over folds); in experiments also ``ignore.f1`` (undefined values left out), ``hits.f1`` (only
#: rows with a true positive), ``before.mean_ir`` and ``after.mean_ir`` (measures of the training
#: set before and after resampling).
RESERVED_PREFIXES = ("pooled", "ignore", "hits", "before", "after")


def label_groups(
    Y: Any, groups: Any = GROUPS, *, labels: Sequence[str] | None = None
) -> dict[str, Array]:
    """Return the labels of each group, as defined by the labels of a training part.

    A mean over all labels hides the rare ones; metrics of a group of labels show them.

    Parameters
    ----------
    Y : data set, array, sparse matrix or DataFrame of shape (n_samples, n_labels)
        The labels of the training part, before any resampling.
    groups : sequence of str, or mapping of str to labels
        Names of the groups below; or a mapping from names of your own to labels (names, numbers,
        or a mask), in which None stands for the rule of that name. None makes no groups.
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
      rare labels that share their instances with frequent labels.
    - ``few``: labels with one to nine instances.

    Examples
    --------
    Label 0 is frequent, labels 2 and 3 are rare, and label 3 shares no instance with others.

    >>> from scumble.evaluate import label_groups
    >>> Y = [[1, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 0, 1]]
    >>> groups = label_groups(Y, ["minority", "difficult"])
    >>> groups["minority"], groups["difficult"]
    (array([False, False,  True,  True]), array([False, False,  True, False]))
    >>> label_groups(Y, {"mine": ["b", "d"]}, labels=["a", "b", "c", "d"])["mine"]
    array([False,  True, False,  True])
    """
    groups = check_groups(groups, caller="label_groups")
    matrix, names = check_named_labels(Y, caller="label_groups")
    return group_masks(groups, matrix.shape[1], matrix, names if labels is None else labels)


def check_groups(groups: Any, *, caller: str, allow_custom: bool = True) -> dict[str, Any]:
    """Return a user's groups as a dict from names to labels; None stands for the rule of the name.

    ``groups`` is a sequence of names, a string of names separated by commas, a mapping as
    `label_groups` takes it, or None for no groups. Raises an error for unknown rules, for names
    that a custom group cannot have, and for custom groups unless they are allowed.
    """
    if groups is None:
        return {}
    if isinstance(groups, str):
        groups = [name.strip() for name in groups.split(",") if name.strip()]
    if not isinstance(groups, Iterable) or isinstance(groups, np.ndarray):
        raise ParameterTypeError(
            f"The 'groups' parameter of {caller} must be names of groups ({', '.join(GROUPS)}), or "
            f"a mapping from names to labels. Got {groups!r} instead."
        )
    checked = dict(groups) if isinstance(groups, Mapping) else dict.fromkeys(groups)
    allow_custom = allow_custom and isinstance(groups, Mapping)
    for name, labels in checked.items():
        if labels is None or not allow_custom:
            _check_rule_name(name, allow_custom=allow_custom, caller=caller)
        else:
            _check_custom_name(name, caller=caller)
    return checked


def _check_rule_name(name: Any, *, allow_custom: bool, caller: str) -> None:
    """Raise a ParameterError for a name that is not that of a rule."""
    if name not in GROUPS:
        alternative = ", or a mapping with labels of your own." if allow_custom else "."
        raise ParameterError(
            f"{caller}: there is no group of labels {name!r}.{did_you_mean(str(name), GROUPS)} "
            f"Expected {', '.join(GROUPS)}{alternative}"
        )


def _check_custom_name(name: Any, *, caller: str) -> None:
    """Raise a ParameterError unless a name can be that of a custom group.

    It must be a string that is not empty, has no dot, and is not one of `RESERVED_PREFIXES`.
    """
    if not isinstance(name, str) or "." in name or not name or name in RESERVED_PREFIXES:
        raise ParameterError(
            f"{caller}: a group of labels cannot be called {name!r}. Choose a name without a dot, "
            f"other than {', '.join(RESERVED_PREFIXES)}."
        )


def group_masks(
    groups: Groups, n_labels: int, training: Any, names: Sequence[str] | None
) -> dict[str, Array]:
    """Return a mask of the labels of each group, of shape (n_labels,).

    ``training`` is the label matrix of the training part, or None if it is not available: then
    groups whose rules depend on it raise a ParameterError. ``names`` are those of the labels.
    """
    rules = {name for name, labels in groups.items() if labels is None and name != "all"}
    if rules and training is None:
        group_names = " and ".join(sorted(rules))
        raise ParameterError(
            f"evaluate: the training part determines which labels are {group_names}. "
            "Give its labels as 'training', or a mapping with the labels of the group."
        )
    masks_by_rule = {"all": np.ones(n_labels, bool)}
    if rules:
        masks_by_rule |= _masks_by_rule(training)
    masks = {}
    for name, labels in groups.items():
        if labels is None:
            masks[name] = masks_by_rule[name]
        else:
            members = resolve_label_indices(labels, n_labels, names, caller=f"The group {name!r}")
            masks[name] = np.isin(np.arange(n_labels), members)
    return masks


def _masks_by_rule(Y: Any) -> dict[str, Array]:
    """Return the masks of the groups whose rules depend on the labels ``Y`` of the training part.

    The groups are "minority", "difficult" and "few"; see `label_groups`.
    """
    counts = count_labels(Y)
    measures = concurrence(Y)
    is_minority = minority_from_ratios(measures.irlbl)
    median = np.nan
    if is_minority.any():
        median = np.median(measures.by_label[is_minority])
    # The tolerance keeps equal scores, which rounding may separate, on one side of their median.
    is_above_median = np.nan_to_num(measures.by_label) > median + 1e-12
    return {
        "minority": is_minority,
        "difficult": is_minority & is_above_median,
        "few": (counts > 0) & (counts < FEW_POSITIVES),
    }


# Names of metrics -----------------------------------------------------------------------------


def metric_names(groups: Iterable[str] = GROUPS) -> tuple[str, ...]:
    """Return all names of metrics.

    Parameters
    ----------
    groups : iterable of str
        Groups of labels, see `label_groups`.

    Returns
    -------
    tuple of str
        Names of metrics (``macro_f1``), of metrics of groups (``minority.macro_f1``), and of
        metrics pooled over folds (``pooled.macro_f1``, ``pooled.minority.macro_f1``).

    Examples
    --------
    >>> from scumble.evaluate import metric_names
    >>> [name for name in metric_names(["few"]) if name.endswith("macro_recall")]
    ['macro_recall', 'few.macro_recall', 'pooled.macro_recall', 'pooled.few.macro_recall']
    """
    return tuple(_metrics_by_name(groups))


def find_metric(name: str, *, groups: Iterable[str] = ()) -> Metric:
    """Return the record of a metric by its name, with or without prefixes.

    Parameters
    ----------
    name : str
        A name such as ``"macro_f1"``.
    groups : iterable of str
        Groups of labels that are allowed as a prefix, as in ``"minority.macro_f1"``. If there are
        any, the prefix ``pooled.`` is allowed too, as in ``"pooled.macro_f1"`` and
        ``"pooled.minority.macro_f1"``: such metrics are computed from counts added up over folds.

    Returns
    -------
    Metric
        The record of the metric without prefixes: its ``name`` is ``"macro_f1"`` in all of these
        examples.

    Raises
    ------
    ParameterError
        If there is no such metric; the message suggests similar names.

    Examples
    --------
    >>> from scumble.evaluate import find_metric
    >>> find_metric("pooled.minority.macro_f1", groups=["minority"]).name
    'macro_f1'
    """
    metrics = _metrics_by_name(groups)
    if name in metrics:
        return metrics[name]
    without_prefix = [metric_name for metric_name in metrics if "." not in metric_name]
    hint = did_you_mean(str(name), without_prefix) or did_you_mean(str(name), metrics)
    if not hint:
        hint = f" Expected for example {', '.join(sorted(registered_objects('metric')))}."
    raise ParameterError(f"There is no metric {name!r}.{hint}")


def metric_sign(name: str) -> int:
    """Return 1 if larger values of a metric are better, -1 if smaller ones are, 0 if neither.

    The name may have prefixes, which are ignored. It is 0 for measures of training parts, such as
    ``before.mean_ir``, and for unknown names.
    """
    prefix, _, metric_name = name.rpartition(".")
    if prefix in ("before", "after"):  # measures of training parts
        return 0
    if metric_name not in registered_objects("metric"):
        load_plugins()
    metric = registered_objects("metric").get(metric_name)
    if metric is None:
        return 0
    return 1 if metric.greater_is_better else -1


def metric_title(name: str) -> str:
    """Return the name of a metric as a title, such as "macro F1 of minority labels"."""
    group, _, metric_name = name.removeprefix(POOLED_PREFIX).rpartition(".")
    title = metric_name.replace("auc_pr", "AUC-PR").replace("auc", "AUC").replace("f1", "F1")
    title = title.replace("_", " ")
    if name.startswith(POOLED_PREFIX):
        title = f"pooled {title}"
    if group not in ("", "all"):
        title = f"{title} of {group} labels"
    return title


def _metrics_by_name(groups: Iterable[str]) -> dict[str, Metric]:
    """Return all registered metrics by their names, with and without prefixes.

    Label-based metrics also get a name for each group ("minority.macro_f1"). If there are any
    groups, those of predictions also get pooled names, which begin with `POOLED_PREFIX`.
    """
    groups = tuple(groups)
    metrics: dict[str, Metric] = dict(registered_objects("metric"))
    label_based = {name: metric for name, metric in metrics.items() if metric.label_based}
    for group in groups:
        metrics |= {f"{group}.{name}": metric for name, metric in label_based.items()}
    if groups:
        for prefix in ("", *(f"{group}." for group in groups)):
            for name, metric in label_based.items():
                if metric.needs == "predictions":
                    metrics[f"{POOLED_PREFIX}{prefix}{name}"] = metric
    return metrics
