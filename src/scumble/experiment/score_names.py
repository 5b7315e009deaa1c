"""Names of the scores of cells, which are metrics and measures of the training set."""

from scumble._core.errors import did_you_mean

#: Measures of the training set that are stored with every cell, before and after resampling.
MEASURES = ("n_instances", "n_labelsets", "cardinality", "mean_ir", "max_ir", "cvir", "scumble")
#: Metrics that are stored a second time, as ``ignore.<name>``: means that leave out undefined
#: values.
METRICS_IGNORING_UNDEFINED = (
    "precision",
    "recall",
    "f1",
    "macro_precision",
    "macro_recall",
    "macro_f1",
)
#: Metrics that are stored a third time, as ``hits.<name>``: means over the rows (``f1``) or labels
#: (``macro_f1``) with at least one true positive.
METRICS_WITH_HITS = ("f1", "macro_f1")
#: A score that every cell with a classifier has since label groups and pooled metrics are stored. A
#: cell without it comes from an older store.
GROUP_SCORES_MARKER = "never_predicted"


def score_names() -> tuple[str, ...]:
    """Return the names of all scores that tables can show.

    These are the metrics, the means of `METRICS_IGNORING_UNDEFINED` and `METRICS_WITH_HITS`, and
    the measures of the training set before and after resampling.
    """
    from scumble.evaluate import metric_names

    measures = (*MEASURES, "mean_ir_zero")
    return (
        *metric_names(),
        *(f"ignore.{name}" for name in METRICS_IGNORING_UNDEFINED),
        *(f"hits.{name}" for name in METRICS_WITH_HITS),
        *(f"before.{name}" for name in measures),
        *(f"after.{name}" for name in measures),
    )


def score_name_error(name: object) -> str | None:
    """Return the error message for an unknown name of a score; None if the name is known."""
    names = score_names()
    if name in names:
        return None
    return f"There is no metric {name!r}.{did_you_mean(str(name), names)}"


def needs_group_scores(name: str) -> bool:
    """Return whether the cells of older stores lack a score, see `GROUP_SCORES_MARKER`.

    These are metrics of groups, pooled metrics and the marker itself.
    """
    from scumble.evaluate import metric_names

    return name == GROUP_SCORES_MARKER or ("." in name and name in metric_names())
