"""Cells, the units of stored results, and the components that they combine.

A *cell* is one fold of one data set, with one resampler and one classifier. A *component* is one of
these parts by name, with its parameters. The *key* of a cell is a checksum of everything that its
result depends on; the store saves results under it.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

#: Name that stands for no resampler, or for no classifier: then the training sets are only
#: measured.
NO_ESTIMATOR = "none"
#: Key of the `LabelCounts` in the details of a result, from which pooled metrics are computed.
LABEL_COUNTS_KEY = "labels"


@dataclass(frozen=True)
class Component:
    """A data set, resampler, classifier or splitter by name, with its parameters.

    Parameters
    ----------
    name : str
        Name in the catalogue or in the repository of public data sets, or a file.
    parameters : mapping
        JSON values only, because they are part of the key of a cell.
    label : str
        Name in tables; by default the name and the parameters.
    where : mapping of str to int
        For a classifier: the largest data set that it is used for, as ``max_instances``,
        ``max_features`` and ``max_labels``. Not part of the key.

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
        """Set the label to name and parameters, if it is empty."""
        if not self.label:
            arguments = ", ".join(f"{name}={value}" for name, value in self.parameters.items())
            label = f"{self.name}({arguments})" if arguments else self.name
            object.__setattr__(self, "label", label)

    @cached_property
    def spec(self) -> dict[str, Any]:
        """Name and parameters, which results depend on, as a dict of JSON values."""
        return {"name": self.name, "parameters": dict(self.parameters)}

    def __hash__(self) -> int:
        """Return a hash of name, parameters and label; a dict of parameters has no hash."""
        return hash((canonical_json(self.spec), self.label))


@dataclass(frozen=True)
class Cell:
    """One fold of one data set, with one resampler and one classifier.

    Parameters
    ----------
    dataset, resampler, classifier, splitter : Component
        The components that are combined.
    seed : int
        The seed of the plan.
    fold : int
        Index of the fold that is the test set, from 0.
    dataset_checksum : str
        Checksum of the content of the data set.
    versions : mapping of str to str
        Versions of the packages and classes that are used.
    seconds, megabytes : float, optional
        Limits of time and memory. Not part of the key, because results do not depend on them.
    keep_predictions : bool
        Whether predictions are stored with the scores.
    extra_scores : tuple of str
        What to compute besides metrics and measures. Not part of the key.
    folder : str
        Folder that paths of data files are relative to.
    work : float
        Number of feature values times number of labels, from which times are estimated.

    Examples
    --------
    Usually the cells of a plan are made by `plan_cells`. The key does not depend on labels:

    >>> from scumble.experiment import Cell, Component
    >>> from dataclasses import replace
    >>> cell = Cell(
    ...     dataset=Component("yeast"),
    ...     resampler=Component("remedial"),
    ...     classifier=Component("br"),
    ...     splitter=Component("kfold"),
    ...     seed=1,
    ...     fold=0,
    ... )
    >>> replace(cell, resampler=Component("remedial", label="REMEDIAL")).key == cell.key
    True
    >>> replace(cell, fold=1).key == cell.key
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
    extra_scores: tuple[str, ...] = ()
    folder: str = ""
    work: float = 0.0

    @cached_property
    def key(self) -> str:
        """Checksum of `spec`, 32 hexadecimal digits, under which the store saves the result."""
        return digest(self.spec)

    @cached_property
    def spec(self) -> dict[str, Any]:
        """Dict of JSON values from which the key is computed: everything that results depend on.

        The data set is identified by the checksum of its content; by its name and parameters if no
        checksum is set.
        """
        return {
            "content": self.dataset_checksum or self.dataset.spec,
            "resampler": self.resampler.spec,
            "classifier": self.classifier.spec,
            "splitter": self.splitter.spec,
            "seed": self.seed,
            "fold": self.fold,
            "versions": dict(self.versions),
        }

    def seed_for(self, purpose: str) -> int:
        """Return the seed for the folds, the resampler or the classifier of this cell.

        It is a checksum of parts of `spec` and does not depend on the order of cells. The seed of
        the folds depends only on data set, splitter and seed of the plan. The seed of
        the classifier does not depend on the resampler, so that results with and without
        resampling differ only by the resampling.

        Parameters
        ----------
        purpose : {"folds", "resampler", "classifier"}
            What the random numbers are for.

        Returns
        -------
        int
            A seed from 0 to 2 ** 31 - 1.
        """
        keys = ["content", "splitter", "seed"]
        if purpose != "folds":
            keys += ["fold", purpose]
        seed_spec = {key: self.spec[key] for key in keys}
        return int(digest({"purpose": purpose, **seed_spec})[:8], 16) % 2**31


@dataclass(frozen=True)
class Result:
    """The result of computing a cell.

    Parameters
    ----------
    scores : mapping of str to float
        Values of metrics and measures; NaN where undefined.
    details : mapping
        Further information as JSON values: times in seconds and `LabelCounts`.
    predictions : bytes, optional
        The predictions as a compressed NumPy archive (npz).

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
    """Return a value as compact JSON with sorted keys, so that equal values have equal texts.

    Raises ValueError for NaN and infinity, TypeError for what JSON cannot hold.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(value: Any) -> str:
    """Return the first 32 hexadecimal digits of the SHA-256 of a value's canonical JSON."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()[:32]
