"""What the scores of a cell are called, and which values of them are better."""

from __future__ import annotations

from scumble._core.suggestions import suggest

#: Measures of the training part that are kept with every cell, before and after resampling.
MEASURES = ("n_instances", "n_labelsets", "cardinality", "mean_ir", "max_ir", "cvir", "scumble")
#: Metrics that are kept a second time with undefined values left out.
IGNORING = ("precision", "recall", "f1", "macro_precision", "macro_recall", "macro_f1")
#: Metrics that are kept a third time over what has at least one hit.
WITH_HITS = ("f1", "macro_f1")
#: A score that every cell with a classifier has since groups of labels and pooling are known.
NEWER = "never_predicted"
#: Where the details of a cell hold what can be added up over folds.
LABELS = "labels"


def score_names() -> tuple[str, ...]:
    """List every score that tables may show."""
    from scumble.evaluate import metric_names

    return (
        *metric_names(),
        *(f"ignore.{name}" for name in IGNORING),
        *(f"hits.{name}" for name in WITH_HITS),
        *(f"{when}.{name}" for when in ("before", "after") for name in (*MEASURES, "mean_ir_zero")),
    )


def complaint(name: object) -> str | None:
    """Say what is wrong with the name of a score."""
    known = score_names()
    if name in known:
        return None
    return f"There is no metric {name!r}.{suggest(str(name), known)}"


def is_newer(name: str) -> bool:
    """Tell whether a score is missing from the cells of stores made before groups were known."""
    from scumble.evaluate import metric_names

    return name == NEWER or ("." in name and name in metric_names())
