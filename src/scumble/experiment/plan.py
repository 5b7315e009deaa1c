"""Plans: which data sets, resamplers, classifiers, folds and seeds are combined."""

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
from scumble.experiment.cell import NOTHING, Component, PlanError, canonical_json, score_name_error

#: Metrics shown where a plan names none; all are computed in any case.
METRICS = ("hamming_loss", "f1", "macro_f1", "micro_f1", "one_error", "ranking_loss")

#: What a plan combines.
KINDS = ("datasets", "resamplers", "classifiers")
#: Keys of a table in a plan that are no parameters.
OWN_KEYS = ("name", "label", "where")
#: Keys of a plan in a file.
KEYS = (
    "name", "datasets", "resamplers", "classifiers", "splitter", "seeds", "metrics", "limits",
    "keep_predictions",
)  # fmt: skip
LIMITS = ("seconds", "megabytes")
#: The sizes of data that a classifier may be kept to.
SIZES = ("max_instances", "max_features", "max_labels")


@dataclass(frozen=True)
class Plan:
    """An experiment: everything is combined with everything.

    Parameters
    ----------
    datasets : sequence of Part or str
        Names on the shelf, or files. Parameters are ``rows`` (draw so many where there are more),
        ``drop`` (features to leave out), and options of `scumble.read`.
    resamplers : sequence of Part or str
        Names of the catalogue or dotted names, chains such as ``"remedial+mlsmote"``, or
        ``"none"``.
    classifiers : sequence of Part or str
        Names of the catalogue, dotted names of scikit-learn's classifiers, or ``"none"``, which
        only measures the training parts before and after resampling. ``where`` leaves a
        classifier out on data that is too large for it.
    splitter : Part or str
        A name of the catalogue.
    seeds : sequence of int
        The whole plan is repeated for each.
    metrics : sequence of str
        What tables show first; every metric is computed for every cell.
    seconds, megabytes : float, optional
        Limits for each cell.
    keep_predictions : bool
        Whether predictions are stored.
    name : str
        Name of the plan, for messages.

    Examples
    --------
    >>> from scumble.experiment import Component, Plan
    >>> plan = Plan(
    ...     datasets=["debtags"],
    ...     resamplers=["none", Component("lpros", {"percent": 25})],
    ...     classifiers=["br", "mlknn"],
    ...     splitter=Part("kfold", {"n_splits": 5, "n_repeats": 2}),
    ... )
    >>> plan.check()
    >>> plan.n_cells
    40
    """

    datasets: Sequence[Component | str]
    classifiers: Sequence[Component | str]
    resamplers: Sequence[Component | str] = (NOTHING,)
    splitter: Component | str = "kfold"
    seeds: Sequence[int] = (0,)
    metrics: Sequence[str] = METRICS
    seconds: float | None = None
    megabytes: float | None = None
    keep_predictions: bool = False
    name: str = "experiment"
    folder: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        lists = {"splitter": _part, "seeds": _values, "metrics": _values}
        for kind, make in (dict.fromkeys(KINDS, _parts) | lists).items():
            object.__setattr__(self, kind, make(getattr(self, kind), kind))

    @property
    def n_folds(self) -> int:
        """Training and test parts that the splitter makes."""
        from scumble.experiment.parts import make_splitter

        (part,) = get_components(self, "splitter")
        return int(make_splitter(part, seed=0, folder=self.folder).get_n_splits())

    @property
    def n_cells(self) -> int:
        """Number of cells, before any ``where`` rules some out."""
        return self.n_folds * prod(len(getattr(self, kind)) for kind in (*KINDS, "seeds"))

    def check(self) -> None:
        """Refuse with a `PlanError` that says everything that cannot work; no data is read."""
        found = [*(list(_plan_errors(self)) or _the_same(self)), *_complaints(self)]
        if found:
            raise PlanError(f"The plan {self.name!r} cannot be run: " + " ".join(found))

    def select(self, **kinds: Sequence[str]) -> Plan:
        """Keep only some ``datasets``, ``resamplers`` or ``classifiers``, named by their labels."""
        kept: dict[str, Any] = {}
        for kind, labels in kinds.items():
            have = {part.label: part for part in get_components(self, kind)}
            for label in labels:
                if label not in have:
                    raise PlanError(
                        f"The plan has no {label!r} among its {kind}.{did_you_mean(label, have)} "
                        f"It has: {', '.join(have)}."
                    )
            kept[kind] = [have[label] for label in labels]
        return replace(self, **kept)


def get_components(plan: Plan, kind: str) -> tuple[Component, ...]:
    """Return the parts of one kind; a plan has made parts of names."""
    found = getattr(plan, kind)
    return found if isinstance(found, tuple) else (found,)


def _part(given: Any, kind: str) -> Component:
    """Turn a name, a mapping with a name, or a Part into a Part."""
    if isinstance(given, str):
        given = Component(given)
    elif isinstance(given, Mapping) and isinstance(given.get("name"), str):
        rest = {key: value for key, value in given.items() if key not in OWN_KEYS}
        where = _where(given.get("where", {}), kind)
        given = Component(given["name"], rest, str(given.get("label", "")), where)
    if not isinstance(given, Component):
        raise PlanError(
            f"An entry of {kind!r} must be a name, or a table with a 'name'. Got {given!r} instead."
        )
    if kind != "classifiers" or "base" not in given.parameters:
        return given
    return replace(given, parameters=_without_base(given.name, given.parameters))


def _without_base(name: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Turn ``base``, a name or a table with a name, into the parameter that it stands for."""
    from scumble.learn.make_and_fit import base_parameter

    rest = {key: value for key, value in parameters.items() if key != "base"}
    if "base" not in parameters:
        return rest
    base = parameters["base"]
    known = "estimator"
    with suppress(ScumbleError):  # a name nobody knows is told with whatever else is wrong
        known = base_parameter(name) or known
    if known in rest:
        raise PlanError(f"'base' and {known!r} of {name!r} are the same. Expected one of them.")
    if isinstance(base, str):
        return rest | {known: {"name": base}}
    if isinstance(base, Mapping) and isinstance(base.get("name"), str):
        return rest | {known: _without_base(base["name"], base)}
    raise PlanError(f"'base' must be a name, or a table with a 'name'. Got {base!r} instead.")


def _where(given: Any, kind: str) -> dict[str, int]:
    """Check for which data a classifier is meant."""
    if given and kind != "classifiers":
        raise PlanError(f"Only classifiers have a 'where'. Got {given!r} among the {kind}.")
    if not isinstance(given, Mapping):
        raise PlanError(f"'where' must be a table with {', '.join(SIZES)}. Got {given!r}.")
    for name, most in given.items():
        if name not in SIZES:
            raise PlanError(f"'where' has no {name!r}. Known are: {', '.join(SIZES)}.")
        if not isinstance(most, int) or isinstance(most, bool) or most < 1:
            raise PlanError(f"{name!r} must be a whole number of at least 1. Got {most!r}.")
    return dict(given)


def _parts(given: Any, kind: str) -> tuple[Component, ...]:
    if isinstance(given, str | Component | Mapping):
        given = [given]
    return tuple(_part(one, kind) for one in _values(given, kind))


def _values(given: Any, kind: str) -> tuple[Any, ...]:
    """Turn a list into a tuple; a single name stands for itself."""
    if isinstance(given, str):
        return (given,)
    if not isinstance(given, Iterable) or isinstance(given, Mapping):
        raise PlanError(f"{kind!r} must be a list. Got {given!r} instead.")
    return tuple(given)


def _plan_errors(plan: Plan) -> Iterator[str]:
    """Check what concerns the plan alone."""
    for kind in (*KINDS, "seeds"):
        if not getattr(plan, kind):
            yield f"There are no {kind}."
    for kind in KINDS:
        labels = Counter(part.label for part in get_components(plan, kind))
        for label in sorted(label for label, times in labels.items() if times > 1):
            yield f"Among the {kind}, {label!r} stands twice: give one a 'label'."
    for seed in plan.seeds:
        if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 2**63:
            yield f"A seed must be a whole number from 0 to 2**63 - 1. Got {seed!r}."
    if len(set(map(repr, plan.seeds))) < len(plan.seeds):
        yield f"A seed stands twice among {list(plan.seeds)}."
    for name in LIMITS:
        limit = getattr(plan, name)
        is_number = isinstance(limit, int | float) and not isinstance(limit, bool)
        if limit is not None and not (is_number and limit > 0):
            yield f"The limit {name!r} must be a number above 0. Got {limit!r}."
    if not isinstance(plan.keep_predictions, bool):
        yield f"'keep_predictions' must be true or false. Got {plan.keep_predictions!r}."
    if not isinstance(plan.name, str):
        yield f"'name' must be a text. Got {plan.name!r}."
    for part in (part for kind in (*KINDS, "splitter") for part in get_components(plan, kind)):
        try:
            canonical_json(part.spec)
        except (TypeError, ValueError):
            yield f"Parameters must be plain values: {part!r}."


def _complaints(plan: Plan) -> Iterator[str]:
    """Try everything a plan names, without reading data."""
    from scumble.experiment.parts import component_errors

    for kind in ("splitter", "resamplers", "classifiers", "datasets"):
        for part in get_components(plan, kind):
            yield from component_errors(kind, part, plan.folder)
    yield from filter(None, map(score_name_error, plan.metrics))


def _the_same(plan: Plan) -> Iterator[str]:
    """Find parts that differ by their label alone: they would share their cells."""
    for kind in KINDS:
        first: dict[str, str] = {}
        for part in get_components(plan, kind):
            known = first.setdefault(canonical_json(part.spec), part.label)
            if known != part.label:
                yield f"Among the {kind}, {known!r} and {part.label!r} are the same: keep one."
            if part.name == NOTHING and part.parameters and kind != "datasets":
                yield f"{part.label}: {NOTHING!r} has no parameters."


# Plans in files -----------------------------------------------------------------------------------


def read_plan(path: str | os.PathLike[str]) -> Plan:
    """Read a plan from a TOML file.

    Parameters
    ----------
    path : str or Path
        The file. Data files in it are named relative to it.

    Returns
    -------
    Plan
        Not checked yet, see `Plan.check`.

    Raises
    ------
    ScumbleError
        If the file cannot be read, is no TOML, or has a key that plans do not have.

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
    return plan_from_dict(content, name=file.stem, folder=str(file.parent), where=str(file))


def plan_from_dict(
    content: Mapping[str, Any], *, name: str = "experiment", folder: str = "", where: str = "plan"
) -> Plan:
    """Make a plan from the tables of a file."""
    _refuse_unknown(content, KEYS, where)
    limits = content.get("limits", {})
    if not isinstance(limits, Mapping):
        raise PlanError(f"{where}: 'limits' must be a table with {' and '.join(LIMITS)}.")
    _refuse_unknown(limits, LIMITS, f"{where}, limits")
    for key in ("datasets", "classifiers"):
        if key not in content:
            raise PlanError(f"{where}: a plan needs {key!r}.")
    rest = {key: content[key] for key in KEYS if key in content and key != "limits"}
    return Plan(**{"name": name, **rest, **limits}, folder=folder)


def _refuse_unknown(content: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    for key in content:
        if key not in known:
            hint = did_you_mean_parameter(key, known) or f" Known are: {', '.join(known)}."
            raise PlanError(f"{where}: unknown key {key!r}.{hint}")
