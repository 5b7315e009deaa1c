"""The queries of the API: parameters after the question mark of an address."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from scumble.gui.api.conversion import ErrorMessage, Length, Range

#: Maximum seconds that a request may wait for the end of a job.
MAX_WAIT = 30
#: Maximum number of labels of a chord diagram.
MAX_LABELS = 2_000
#: Rows of a page of a table: default and maximum.
PAGE_SIZE, MAX_PAGE_SIZE = 50, 500
#: Maximum number of the first row of a page; larger than any data set.
MAX_OFFSET = 10**9


@dataclass(frozen=True)
class WaitQuery:
    """How long to wait for the end of a job."""

    wait: Annotated[
        int,
        Range(0, MAX_WAIT),
        "Seconds to wait for the end of the job; the response is sent as soon as it has finished.",
    ] = 0


@dataclass(frozen=True)
class TableQuery:
    """Which rows of a table are requested."""

    sort: Annotated[str | None, "Column to sort by."] = None
    order: Annotated[
        Literal["ascending", "descending"] | None, "Missing values come last in both orders."
    ] = None
    q: Annotated[
        str,
        Length(0, 1000),
        ErrorMessage("'q' is too long: a search has at most 1,000 characters."),
        "Only rows whose name contains this text, in upper or lower case.",
    ] = ""
    offset: Annotated[int, Range(0, MAX_OFFSET), "Number of the first row, from 0."] = 0
    limit: Annotated[int, Range(1, MAX_PAGE_SIZE), "Rows of a page."] = PAGE_SIZE


@dataclass(frozen=True)
class LabelsQuery(TableQuery):
    """Which rows of the table of labels are requested."""

    sort: Annotated[
        Literal[
            "label",
            "name",
            "count",
            "frequency",
            "irlbl",
            "scumble",
            "scumble_cv",
            "is_minority",
        ]
        | None,
        "Column to sort by.",
    ] = None


@dataclass(frozen=True)
class PartnersQuery(TableQuery):
    """Which rows of the table of co-occurring labels are requested."""

    sort: Annotated[
        Literal["label", "name", "joint_count", "share", "count", "irlbl", "scumble", "is_minority"]
        | None,
        "Column to sort by.",
    ] = None


@dataclass(frozen=True)
class LabelsetsQuery(TableQuery):
    """Which rows of the table of labelsets are requested."""

    sort: Annotated[
        Literal["rank", "size", "count", "imbalance", "scumble"] | None, "Column to sort by."
    ] = None


@dataclass(frozen=True)
class FeaturesQuery(TableQuery):
    """Which rows of the table of features are requested."""

    sort: Annotated[
        Literal["feature", "name", "kind", "n_missing", "n_nonzero", "minimum", "mean", "maximum"]
        | None,
        "Column to sort by.",
    ] = None


@dataclass(frozen=True)
class ChordQuery:
    """Which labels a chord diagram shows; by default, the most difficult ones."""

    labels: Annotated[str | None, "Indices of labels, separated by commas."] = None
    n_labels: Annotated[int | None, Range(0, MAX_LABELS), "Number of difficult labels to show."] = (
        None
    )
    around: Annotated[
        int | None,
        Range(0, MAX_OFFSET),
        "Index of a label, which is shown with the labels that co-occur with it most often.",
    ] = None
    order: Annotated[Literal["difficulty", "given"], "The order of the arcs."] = "difficulty"


@dataclass(frozen=True)
class UploadQuery:
    """How an uploaded file is displayed."""

    name: Annotated[str, "Name of the file; it is only displayed."] = "data"
