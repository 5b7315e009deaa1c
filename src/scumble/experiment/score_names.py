"""Names of the scores of cells, which are metrics and measures of the training set."""

from itertools import chain

from scumble._core.errors import did_you_mean
from scumble.experiment.extra_scores import EXTRA_SCORES

#: Measures of the training set that are stored with every cell, before and after resampling.
MEASURES = ("n_instances", "n_labelsets", "cardinality", "mean_ir", "max_ir", "cvir", "scumble")
#: A score that every cell with a classifier has since label groups and pooled metrics are stored. A
#: cell without it comes from an older store.
GROUP_SCORES_MARKER = "never_predicted"


def score_names() -> tuple[str, ...]:
    """Return the names of all scores that tables can show.

    These are the metrics, the measures of the training set before and after resampling, and the
    extra scores.
    """
    from scumble.evaluate import metric_names

    return (
        *metric_names(),
        *(f"before.{name}" for name in MEASURES),
        *(f"after.{name}" for name in MEASURES),
        *chain.from_iterable(EXTRA_SCORES.values()),
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
