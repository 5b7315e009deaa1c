"""A cell: the smallest piece of an experiment, and the key it is known by."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from scumble._core.errors import ScumbleError, did_you_mean

#: The name that stands for "nothing is done here": no resampling, no classifier.
NOTHING = "none"
#: Measures of the training part that are kept with every cell, before and after resampling.
MEASURES = ("n_instances", "n_labelsets", "cardinality", "mean_ir", "max_ir", "cvir", "scumble")
#: Metrics that are kept a second time with undefined values left out.
METRICS_IGNORING_UNDEFINED = (
    "precision",
    "recall",
    "f1",
    "macro_precision",
    "macro_recall",
    "macro_f1",
)
#: Metrics that are kept a third time over what has at least one hit.
WITH_HITS = ("f1", "macro_f1")
#: A score that every cell with a classifier has since groups of labels and pooling are known.
GROUP_SCORES_MARKER = "never_predicted"
#: Where the details of a cell hold what can be added up over folds.
LABEL_COUNTS_KEY = "labels"


class PlanError(ScumbleError, ValueError):
    """A plan asks for something that does not exist or does not fit.

    Examples
    --------
    >>> from scumble.experiment import Plan
    >>> Plan(datasets=["debtags"], classifiers=["bra"]).check()
    Traceback (most recent call last):
        ...
    scumble.experiment.cell.PlanError: The plan 'experiment' cannot be run: bra: There is no ...
    """


@dataclass(frozen=True)
class Component:
    """A data set, resampler, classifier or splitter by name, with its parameters.

    Parameters
    ----------
    name : str
        Name in the catalogue or on the shelf, or a file.
    parameters : mapping
        Plain values only: they become part of the key.
    label : str
        What tables call it; by default the name and the parameters.
    where : mapping of str to int
        Of a classifier: the largest data it is meant for, by ``max_instances``, ``max_features``
        and ``max_labels``. No part of the key.

    Examples
    --------
    >>> from scumble.experiment import Component
    >>> Component("remedial", {"one_sided": "keep"}).label
    'remedial(one_sided=keep)'
    """

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    label: str = ""
    where: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.label:
            inside = ", ".join(f"{name}={value}" for name, value in self.parameters.items())
            object.__setattr__(self, "label", f"{self.name}({inside})" if inside else self.name)

    @cached_property
    def spec(self) -> dict[str, Any]:
        """What decides about results, as plain values: everything but the label."""
        return {"name": self.name, "parameters": dict(self.parameters)}

    def __hash__(self) -> int:
        return hash((canonical_json(self.spec), self.label))


@dataclass(frozen=True)
class Cell:
    """One fold of one data set, treated by one resampler, learned by one classifier.

    Parameters
    ----------
    dataset, resampler, classifier, splitter : Part
        The parts that are combined.
    seed : int
        The plan's seed.
    fold : int
        Number of the fold that is the test part, counted from 0.
    content : str
        Checksum of the data set's content.
    versions : mapping of str to str
        Versions of the code that takes part.
    seconds, megabytes : float, optional
        Limits; not part of the key, since they change no result.
    keep_predictions : bool
        Whether predictions are stored with the scores.
    folder : str
        Where relative paths of data files start.
    work : float
        How much work the data set makes, for estimates.

    Examples
    --------
    A plan makes its own cells. The key does not depend on what the parts are called:

    >>> from scumble.experiment import Cell, Component
    >>> parts = Component("yeast"), Component("remedial"), Component("br"), Component("kfold")
    >>> cell = Cell(*parts, seed=1, fold=0)
    >>> renamed = Cell(parts[0], Component("remedial", label="REMEDIAL"), *parts[2:], seed=1, fold=0)
    >>> cell.key == renamed.key
    True
    >>> cell.key == Cell(*parts, seed=1, fold=1).key
    False
    """

    dataset: Component
    resampler: Component
    classifier: Component
    splitter: Component
    seed: int
    fold: int
    dataset_checksum: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    seconds: float | None = None
    megabytes: float | None = None
    keep_predictions: bool = False
    folder: str = ""
    work: float = 0.0

    @cached_property
    def key(self) -> str:
        """Checksum of everything that decides about the result."""
        return digest(self.spec)

    @cached_property
    def spec(self) -> dict[str, Any]:
        """What the key is made of; the data set enters by its content, not by name or place."""
        kinds = ("resampler", "classifier", "splitter")
        parts = {kind: getattr(self, kind).spec for kind in kinds}
        turn = {"seed": self.seed, "fold": self.fold, "versions": dict(self.versions)}
        return {"content": self.dataset_checksum or self.dataset.spec, **parts, **turn}

    def seed_for(self, purpose: str) -> int:
        """Derive a seed from what the purpose depends on, never from the order of cells.

        Folds depend on data, splitter and seed alone, and the classifier's seed does not depend
        on the resampler, so that "before" and "after" differ by the treatment only.

        Parameters
        ----------
        purpose : {"folds", "resampler", "classifier"}
            What needs random numbers.

        Returns
        -------
        int
            Below 2 ** 31.
        """
        keys = ["content", "splitter", "seed"]
        if purpose != "folds":
            keys += ["fold", purpose]
        chosen = {key: self.spec[key] for key in keys}
        return int(digest({"purpose": purpose, **chosen})[:8], 16) % 2**31


@dataclass(frozen=True)
class Result:
    """What computing a cell gives.

    Parameters
    ----------
    scores : mapping of str to float
        Metrics and measures; NaN where undefined.
    details : mapping
        Anything else worth keeping, as plain values.
    predictions : bytes, optional
        A compressed archive of what was predicted.

    Examples
    --------
    >>> from scumble.experiment import Result
    >>> Result({"f1": 0.5}, {"note": "fine"}).scores["f1"]
    0.5
    """

    scores: Mapping[str, float]
    details: Mapping[str, Any] = field(default_factory=dict)
    predictions: bytes | None = None


def canonical_json(value: Any) -> str:
    """Write plain values so that equal ones have equal texts."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(value: Any) -> str:
    """Return a checksum of plain values."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()[:32]


# What the scores of a cell are called -----------------------------------------------------------


def score_names() -> tuple[str, ...]:
    """List every score that tables may show."""
    from scumble.evaluate import metric_names

    return (
        *metric_names(),
        *(f"ignore.{name}" for name in METRICS_IGNORING_UNDEFINED),
        *(f"hits.{name}" for name in WITH_HITS),
        *(f"{when}.{name}" for when in ("before", "after") for name in (*MEASURES, "mean_ir_zero")),
    )


def score_name_error(name: object) -> str | None:
    """Say what is wrong with the name of a score."""
    known = score_names()
    if name in known:
        return None
    return f"There is no metric {name!r}.{did_you_mean(str(name), known)}"


def needs_group_scores(name: str) -> bool:
    """Tell whether a score is missing from the cells of stores made before groups were known."""
    from scumble.evaluate import metric_names

    return name == GROUP_SCORES_MARKER or ("." in name and name in metric_names())
