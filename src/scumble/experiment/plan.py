"""Plans: the data sets, resamplers, classifiers, folds and seeds that an experiment combines."""

from __future__ import annotations

import os
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path
from typing import Any

from scumble._core.errors import ReadError, ScumbleError, did_you_mean, did_you_mean_parameter
from scumble.experiment.extra_scores import EXTRA_SCORES, group_of_extra_score
from scumble.experiment.plan_error import PlanError
from scumble.experiment.score_names import score_name_error
from scumble.results.cell import (
    NO_ESTIMATOR,
    Component,
    canonical_json,
)

#: Metrics that tables show if a plan names none; all metrics are computed in any case.
METRICS = ("hamming_loss", "f1", "macro_f1", "micro_f1", "one_error", "ranking_loss")

#: The fields of a plan whose components are combined: a *kind* is the name of such a field, of
#: "splitter" or of "seeds".
KINDS = ("datasets", "resamplers", "classifiers")
#: Keys of a component in a plan file that are not parameters.
COMPONENT_KEYS = ("name", "label", "where")
#: Keys of a plan file.
KEYS = (
    "name", "datasets", "resamplers", "classifiers", "splitter", "seeds", "metrics", "limits",
    "keep_predictions", "extra_scores",
)  # fmt: skip
#: Limits of a cell: seconds, and megabytes (2 ** 20 bytes) of memory.
LIMITS = ("seconds", "megabytes")
#: Limits of the size of data sets that a classifier is used for.
SIZE_LIMITS = ("max_instances", "max_features", "max_labels")


@dataclass(frozen=True)
class Plan:
    """An experiment: all combinations of data sets, resamplers, classifiers, folds and seeds.

    Parameters
    ----------
    datasets : sequence of Component or str
        Names in the repository of public data sets, or files. Parameters are ``rows`` (maximum
        number of rows; they are drawn at random), ``drop`` (features to leave out), and options
        of `scumble.read`.
    classifiers : sequence of Component or str
        Names in the catalogue, dotted names of scikit-learn's classifiers, or ``"none"``, which
        only measures the training sets before and after resampling. ``where`` limits the size of
        the data sets that a classifier is used for.
    resamplers : sequence of Component or str
        Names in the catalogue or dotted names, chains such as ``"remedial+mlsmote"``, or
        ``"none"``.
    splitter : Component or str
        A name in the catalogue.
    seeds : sequence of int
        The plan is repeated for each seed.
    metrics : sequence of str
        Metrics that tables show; all metrics are computed for every cell.
    seconds, megabytes : float, optional
        Limits of time and memory for each cell.
    keep_predictions : bool
        Whether predictions are stored.
    extra_scores : sequence of str
        Scores that are computed besides all metrics, as the paper needs them: ``"ignore"`` adds
        means that leave out undefined values (``ignore.macro_f1``), ``"hits"`` means of F1 over
        rows or labels with a true positive (``hits.macro_f1``), ``"mean_ir_zero"`` the mean
        imbalance ratio in which labels that do not occur count as 0 (``before.mean_ir_zero``).
        Cells that lack them are computed again.
    name : str
        Name of the plan, for messages.
    folder : str
        Folder that paths of data files are relative to.

    Examples
    --------
    >>> from scumble.experiment import Component, Plan
    >>> plan = Plan(
    ...     datasets=["debtags"],
    ...     resamplers=["none", Component("lpros", {"percent": 25})],
    ...     classifiers=["br", "mlknn"],
    ...     splitter=Component("kfold", {"n_splits": 5, "n_repeats": 2}),
    ... )
    >>> plan.check()
    >>> plan.n_cells
    40
    """

    datasets: Sequence[Component | str]
    classifiers: Sequence[Component | str]
    resamplers: Sequence[Component | str] = (NO_ESTIMATOR,)
    splitter: Component | str = "kfold"
    seeds: Sequence[int] = (0,)
    metrics: Sequence[str] = METRICS
    seconds: float | None = None
    megabytes: float | None = None
    keep_predictions: bool = False
    extra_scores: Sequence[str] = ()
    name: str = "experiment"
    folder: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        """Turn names into components, and lists into tuples."""
        for kind in KINDS:
            object.__setattr__(self, kind, _as_components(getattr(self, kind), kind))
        object.__setattr__(self, "splitter", _as_component(self.splitter, "splitter"))
        object.__setattr__(self, "seeds", _as_tuple(self.seeds, "seeds"))
        object.__setattr__(self, "metrics", _as_tuple(self.metrics, "metrics"))
        object.__setattr__(self, "extra_scores", _as_tuple(self.extra_scores, "extra_scores"))

    @property
    def n_splits(self) -> int:
        """Number of pairs of training and test sets that the splitter makes."""
        from scumble.experiment.components import make_splitter

        (splitter,) = get_components(self, "splitter")
        return int(make_splitter(splitter, seed=0, folder=self.folder).get_n_splits())

    @property
    def n_cells(self) -> int:
        """Number of cells, including those that a ``where`` leaves out."""
        return self.n_splits * prod(len(getattr(self, kind)) for kind in (*KINDS, "seeds"))

    def check(self) -> None:
        """Check the plan without reading data.

        Raises
        ------
        PlanError
            If something is wrong; the message lists all errors.
        """
        errors = list(_plan_errors(self)) or list(_duplicate_errors(self))
        errors += _component_errors(self)
        if errors:
            raise PlanError(f"The plan {self.name!r} cannot be run: " + " ".join(errors))

    def select(self, **kinds: Sequence[str]) -> Plan:
        """Return a plan with only the named datasets, resamplers or classifiers.

        Parameters
        ----------
        **kinds : sequence of str
            Labels of components, in the order of the result, by "datasets", "resamplers" or
            "classifiers"; kinds that are not named stay complete.

        Returns
        -------
        Plan
            The smaller plan.

        Raises
        ------
        PlanError
            If the plan has no component of such a label.
        """
        selected: dict[str, Any] = {}
        for kind, labels in kinds.items():
            by_label = {component.label: component for component in get_components(self, kind)}
            for label in labels:
                if label not in by_label:
                    suggestion = did_you_mean(label, by_label)
                    raise PlanError(
                        f"The plan has no {label!r} among its {kind}.{suggestion} "
                        f"It has: {', '.join(by_label)}."
                    )
            selected[kind] = [by_label[label] for label in labels]
        return replace(self, **selected)


def get_components(plan: Plan, kind: str) -> tuple[Component, ...]:
    """Return the components of a field of a plan as a tuple, of one item for "splitter"."""
    components = getattr(plan, kind)
    if isinstance(components, tuple):
        return components
    return (components,)


def _as_component(entry: Any, kind: str) -> Component:
    """Return the component for a name, or for a mapping with a name and parameters.

    A component is returned as it is; anything else raises a PlanError. The parameter ``base`` of
    classifiers is replaced, see `_resolve_base`.
    """
    component = entry
    if isinstance(entry, str):
        component = Component(entry)
    elif isinstance(entry, Mapping) and isinstance(entry.get("name"), str):
        component = Component(
            entry["name"],
            parameters={key: value for key, value in entry.items() if key not in COMPONENT_KEYS},
            label=str(entry.get("label", "")),
            where=_check_where(entry.get("where", {}), kind),
        )
    if not isinstance(component, Component):
        raise PlanError(
            f"An entry of {kind!r} must be a name, or a table with a 'name'. Got {entry!r} instead."
        )
    if kind != "classifiers" or "base" not in component.parameters:
        return component
    return replace(component, parameters=_resolve_base(component.name, component.parameters))


def _resolve_base(name: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters of a classifier with ``base`` replaced by the parameter that it stands for.

    ``base`` is the name of the base learner, or a mapping with a name and parameters. Classifiers
    call it "estimator" or otherwise; the value becomes a mapping with a name.
    """
    from scumble.learn.make_and_fit import base_parameter

    resolved = {key: value for key, value in parameters.items() if key != "base"}
    if "base" not in parameters:
        return resolved
    base = parameters["base"]
    parameter = "estimator"
    with suppress(ScumbleError):  # an unknown name is reported with all other errors of the plan
        parameter = base_parameter(name) or parameter
    if parameter in resolved:
        raise PlanError(f"'base' and {parameter!r} of {name!r} are the same. Expected one of them.")
    if isinstance(base, str):
        resolved[parameter] = {"name": base}
    elif isinstance(base, Mapping) and isinstance(base.get("name"), str):
        resolved[parameter] = _resolve_base(base["name"], base)
    else:
        raise PlanError(f"'base' must be a name, or a table with a 'name'. Got {base!r} instead.")
    return resolved


def _check_where(where: Any, kind: str) -> dict[str, int]:
    """Return the size limits of a classifier as a dict; raise a PlanError if they are invalid."""
    if where and kind != "classifiers":
        raise PlanError(f"Only classifiers have a 'where'. Got {where!r} among the {kind}.")
    if not isinstance(where, Mapping):
        raise PlanError(f"'where' must be a table with {', '.join(SIZE_LIMITS)}. Got {where!r}.")
    for name, limit in where.items():
        if name not in SIZE_LIMITS:
            raise PlanError(f"'where' has no {name!r}. Known are: {', '.join(SIZE_LIMITS)}.")
        if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
            raise PlanError(f"{name!r} must be a whole number of at least 1. Got {limit!r}.")
    return dict(where)


def _as_components(entries: Any, kind: str) -> tuple[Component, ...]:
    """Return the components for a sequence of entries, or for a single entry."""
    if isinstance(entries, str | Component | Mapping):
        entries = [entries]
    return tuple(_as_component(entry, kind) for entry in _as_tuple(entries, kind))


def _as_tuple(values: Any, kind: str) -> tuple[Any, ...]:
    """Return values as a tuple, of one item for a string; raise a PlanError if they are no list."""
    if isinstance(values, str):
        return (values,)
    if not isinstance(values, Iterable) or isinstance(values, Mapping):
        raise PlanError(f"{kind!r} must be a list. Got {values!r} instead.")
    return tuple(values)


def _plan_errors(plan: Plan) -> Iterator[str]:
    """Yield error messages for the plan itself: for its lists, labels, seeds and limits."""
    for kind in (*KINDS, "seeds"):
        if not getattr(plan, kind):
            yield f"There are no {kind}."
    for kind in KINDS:
        counts = Counter(component.label for component in get_components(plan, kind))
        for label in sorted(label for label, count in counts.items() if count > 1):
            yield f"Among the {kind}, {label!r} occurs twice: give one a 'label'."
    for seed in plan.seeds:
        if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 2**63:
            yield f"A seed must be a whole number from 0 to 2**63 - 1. Got {seed!r}."
    if len(set(map(repr, plan.seeds))) < len(plan.seeds):
        yield f"A seed occurs twice in {list(plan.seeds)}."
    for name in LIMITS:
        limit = getattr(plan, name)
        is_number = isinstance(limit, int | float) and not isinstance(limit, bool)
        if limit is not None and not (is_number and limit > 0):
            yield f"The limit {name!r} must be a number above 0. Got {limit!r}."
    if not isinstance(plan.keep_predictions, bool):
        yield f"'keep_predictions' must be true or false. Got {plan.keep_predictions!r}."
    if not isinstance(plan.name, str):
        yield f"'name' must be a text. Got {plan.name!r}."
    for extra_score in plan.extra_scores:
        if extra_score not in EXTRA_SCORES:
            yield f"'extra_scores' has {', '.join(EXTRA_SCORES)}. Got {extra_score!r}."
    for kind in (*KINDS, "splitter"):
        for component in get_components(plan, kind):
            try:
                canonical_json(component.spec)
            except (TypeError, ValueError):
                yield f"Parameters must be plain values: {component!r}."


def _component_errors(plan: Plan) -> Iterator[str]:
    """Yield error messages for all components and metrics that the plan names; read no data."""
    from scumble.experiment.components import component_errors

    for kind in ("splitter", "resamplers", "classifiers", "datasets"):
        for component in get_components(plan, kind):
            yield from component_errors(kind, component, plan.folder)
    for metric in plan.metrics:
        error = score_name_error(metric)
        extra_score = group_of_extra_score(metric)
        if error is not None:
            yield error
        elif extra_score is not None and extra_score not in plan.extra_scores:
            yield f"The metric {metric!r} needs extra_scores = [{extra_score!r}]."


def _duplicate_errors(plan: Plan) -> Iterator[str]:
    """Yield an error message for each pair of components that differ only by their labels.

    Their cells would have the same key. Parameters of "none", which have no effect, are errors too.
    """
    for kind in KINDS:
        first_label_by_spec: dict[str, str] = {}
        for component in get_components(plan, kind):
            label = component.label
            first_label = first_label_by_spec.setdefault(canonical_json(component.spec), label)
            if first_label != label:
                yield f"Among the {kind}, {first_label!r} and {label!r} are the same: keep one."
            if component.name == NO_ESTIMATOR and component.parameters and kind != "datasets":
                yield f"{label}: {NO_ESTIMATOR!r} has no parameters."


# Plans in files -----------------------------------------------------------------------------------


def read_plan(path: str | os.PathLike[str]) -> Plan:
    """Read a plan from a TOML file.

    Parameters
    ----------
    path : str or Path
        The file. Paths of data files in it are relative to its folder.

    Returns
    -------
    Plan
        The plan, which is not checked yet, see `Plan.check`.

    Raises
    ------
    ScumbleError
        If the file cannot be read, is not TOML, or has a key that plans do not have.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from scumble.experiment import read_plan
    >>> text = '''
    ... datasets = ["debtags"]
    ... classifiers = ["br", {name = "homer", n_clusters = 3}]
    ... resamplers = ["none", "remedial"]
    ... splitter = {name = "kfold", n_splits = 2, n_repeats = 1}
    ... limits = {seconds = 600}
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "plan.toml"
    ...     _ = file.write_text(text)
    ...     read_plan(file).n_cells
    8
    """
    file = Path(path)
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ReadError(f"the plan cannot be read: {error.strerror}.", path=file) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ReadError(f"this is not TOML: {error}.", path=file) from error
    return plan_from_dict(content, name=file.stem, folder=str(file.parent), source=str(file))


def plan_from_dict(
    content: Mapping[str, Any], *, name: str = "experiment", folder: str = "", source: str = "plan"
) -> Plan:
    """Return the plan for the parsed content of a plan file.

    ``name`` is used if the content has none, paths of data files are relative to ``folder``, and
    ``source`` is the name of the file in error messages. Unknown keys, and a content without data
    sets or classifiers, raise a PlanError.
    """
    _check_keys(content, KEYS, source)
    limits = content.get("limits", {})
    if not isinstance(limits, Mapping):
        raise PlanError(f"{source}: 'limits' must be a table with {' and '.join(LIMITS)}.")
    _check_keys(limits, LIMITS, f"{source}, limits")
    for key in ("datasets", "classifiers"):
        if key not in content:
            raise PlanError(f"{source}: a plan needs {key!r}.")
    fields = {key: content[key] for key in KEYS if key in content and key != "limits"}
    return Plan(**{"name": name, **fields, **limits}, folder=folder)


def _check_keys(content: Mapping[str, Any], keys: tuple[str, ...], source: str) -> None:
    """Raise a PlanError for a key that is not among ``keys``.

    ``source``, the file or a table in it, begins the message.
    """
    for key in content:
        if key not in keys:
            hint = did_you_mean_parameter(key, keys) or f" Known are: {', '.join(keys)}."
            raise PlanError(f"{source}: unknown key {key!r}.{hint}")
