"""From names and parameters to data sets, resamplers, classifiers and splitters."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from scumble import catalogue
from scumble._core.errors import DataError, ScumbleError
from scumble._core.validation import check_count
from scumble._core.version import __version__
from scumble.experiment.cell import NOTHING, Part
from scumble.experiment.errors import PlanError
from scumble.experiment.scores import complaint

if TYPE_CHECKING:
    from scumble.data import MultilabelDataset
    from scumble.experiment.plan import Plan

#: Parameters of a data set that cut it after reading.
CUTS = ("rows", "drop")


def make_splitter(part: Part, *, seed: int, folder: str = "") -> Any:
    """Make a splitter.

    Parameters
    ----------
    part : Part
        Its name and parameters.
    seed : int
        Its random state, unless the parameters have one.
    folder : str
        Where the path of a file of folds starts.

    Returns
    -------
    splitter
        With ``split`` and ``get_n_splits``.
    """
    parameters = dict(part.parameters)
    if isinstance(parameters.get("fold_table"), str):
        parameters["fold_table"] = str(Path(folder, parameters["fold_table"]))
    return _instance(catalogue.get("splitter", part.name), parameters, seed)


def make_resamplers(part: Part, *, seed: int) -> list[Any]:
    """Make a chain of resamplers."""
    if part.name == NOTHING:
        return []
    from scumble.resample import make_chain

    return make_chain(part.name, **{"random_state": seed, **part.parameters})


def make_classifier(part: Part, *, seed: int) -> Any:
    """Make a classifier.

    Parameters
    ----------
    part : Part
        A name of the catalogue, or a dotted name such as
        ``"sklearn.neighbors.KNeighborsClassifier"``. A parameter that is a table with a ``name``
        stands for another classifier.
    seed : int
        Its random state, unless the parameters have one.

    Returns
    -------
    classifier
        Not fitted.
    """
    return _instance(_class_of(part.name), part.parameters, seed)


def runs_otherwise(part: Part, weighted: bool) -> bool:
    """Tell whether a classifier's cells hold other numbers than those of the first stores.

    Their fold runner knew neither weights nor scores other than probabilities, and told nominal
    columns to the outermost classifier only. Cells for which this matters have keys of their own.
    """
    from scumble.learn.weights import takes_weights

    if part.name == NOTHING:
        return False
    made = make_classifier(part, seed=0)
    outer, inner = made.get_params(deep=False), getattr(made, "estimator", None)
    told_inside = "categorical_features" not in outer and hasattr(inner, "categorical_features")
    uses_weights = weighted and takes_weights(made)
    return uses_weights or told_inside or not hasattr(made, "predict_proba")


def fits(part: Part, facts: Mapping[str, Any]) -> bool:
    """Tell whether a classifier is meant for data of some size."""
    return all(facts[f"n_{name.removeprefix('max_')}"] <= most for name, most in part.where.items())


def load_dataset(part: Part, folder: str = "") -> MultilabelDataset:
    """Load a data set by file or name."""
    from scumble.data import read, shelf

    part = with_label_file(part, folder)
    options = dict(part.parameters)
    cut = {name: options.pop(name, None) for name in CUTS}
    path = file_of(part, folder)
    data = read(path, **options) if path is not None else shelf.load(part.name, **options)
    return _cut_rows(_drop_features(data, cut["drop"]), cut["rows"])


def _drop_features(data: MultilabelDataset, names: list[str] | None) -> MultilabelDataset:
    if not names:
        return data
    absent = [name for name in names if name not in data.feature_names]
    if absent:
        close = get_close_matches(absent[0], data.feature_names) or data.feature_names[:5]
        raise DataError(
            f"{data.name}: there is no feature {absent[0]!r} to drop. Expected for example "
            f"{', '.join(close)}."
        )
    kept = [at for at, name in enumerate(data.feature_names) if name not in names]
    return replace(data, X=data.X[:, kept], features=tuple(data.features[at] for at in kept))


def _cut_rows(data: MultilabelDataset, rows: int | None) -> MultilabelDataset:
    import numpy as np

    if rows is None or rows >= len(data):
        return data
    return data[np.random.default_rng(0).permutation(len(data))[:rows]]


def _cut_complaints(part: Part) -> Iterator[str]:
    rows, drop = (part.parameters.get(name) for name in ("rows", "drop"))
    if rows is not None and (not isinstance(rows, int) or isinstance(rows, bool) or rows < 1):
        yield f"{part.label}: 'rows' must be a whole number of at least 1. Got {rows!r}."
    is_names = isinstance(drop, list | tuple) and all(isinstance(name, str) for name in drop)
    if drop is not None and not is_names:
        yield f"{part.label}: 'drop' must be a list of names of features. Got {drop!r}."


def file_of(part: Part, folder: str = "") -> Path | None:
    """Find the file a data set is named by."""
    path = Path(folder, part.name)
    if path.is_file() or any(sign in part.name for sign in ("/", "\\")):
        return path
    return None


def with_label_file(part: Part, folder: str = "") -> Part:
    """Let the path of a file of labels start where that of the data does."""
    labels = part.parameters.get("labels")
    if not isinstance(labels, str) or not Path(folder, labels).is_file():
        return part
    return replace(part, parameters={**part.parameters, "labels": str(Path(folder, labels))})


def content_of(data: MultilabelDataset) -> str:
    """Return a checksum of everything in a data set but its name."""
    import numpy as np
    from scipy import sparse

    found = hashlib.sha256()
    described = [(f.name, f.kind, f.categories, f.integer) for f in data.features]
    found.update(repr((data.X.shape, data.Y.shape, described, data.labels)).encode())
    X = sparse.csr_array(data.X)
    X.sort_indices()
    for matrix in (X, data.Y):
        found.update(np.asarray(matrix.indptr, dtype=np.int64).tobytes())
        found.update(np.asarray(matrix.indices, dtype=np.int64).tobytes())
    found.update(np.asarray(X.data, dtype=np.float64).tobytes())
    if data.weights is not None:
        found.update(np.asarray(data.weights, dtype=np.float64).tobytes())
    return found.hexdigest()[:32]


def versions_of(resampler: Part, classifier: Part, splitter: Part) -> dict[str, str]:
    """Name the versions of the code that decides about results.

    A class whose results change raises its ``revision``, so that stored cells are computed anew.
    """
    found = {"scumble": __version__}
    for kind, part in (("resampler", resampler), ("classifier", classifier)):
        if part.name == NOTHING:
            continue
        for name in part.name.split("+") if kind == "resampler" else _classifiers_in(part.spec()):
            cls = catalogue.get("resampler", name) if kind == "resampler" else _class_of(name)
            package = cls.__module__.partition(".")[0]
            if package != "scumble":
                found[package] = str(getattr(import_module(package), "__version__", "unknown"))
            if getattr(cls, "revision", 0):
                found[name] = str(cls.revision)
    if revision := getattr(catalogue.get("splitter", splitter.name), "revision", 0):
        found[splitter.name] = str(revision)
    return found


def complaints(plan: Plan) -> Iterator[str]:
    """Try everything a plan names, without data."""
    from scumble.data import shelf

    tries: list[tuple[Any, Any]] = [
        (plan.splitter, lambda p: _counted(make_splitter(p, seed=0, folder=plan.folder)))
    ]
    tries += [(part, lambda p: make_resamplers(p, seed=0)) for part in plan.resamplers]
    tries += [
        (part, lambda p: p.name == NOTHING or _checked(make_classifier(p, seed=0)))
        for part in plan.classifiers
    ]
    for part, attempt in tries:
        try:
            attempt(part)
        except (ScumbleError, TypeError, ValueError, ImportError, AttributeError) as error:
            yield f"{part.label}: {error}"
    for dataset in cast("tuple[Part, ...]", plan.datasets):  # a plan makes parts of names
        yield from _cut_complaints(dataset)
        path = file_of(dataset, plan.folder)
        if path is not None and not path.is_file():
            yield f"{dataset.name}: there is no such file."
        elif path is None:
            try:
                shelf.find(dataset.name)
            except ScumbleError as error:
                if not _lies_in_a_folder(dataset.name):
                    yield str(error)
    yield from filter(None, map(complaint, plan.metrics))


def _lies_in_a_folder(name: str) -> bool:
    """Tell whether a folder of SCUMBLE_DATA holds a data set the shelf does not know."""
    from scumble.data import shelf

    try:
        shelf.locate(name)
    except ScumbleError:
        return False
    return True


def _classifiers_in(spec: Mapping[str, Any]) -> Iterator[str]:
    """Name a classifier and those among its parameters."""
    yield spec["name"]
    for value in spec.get("parameters", spec).values():
        if isinstance(value, Mapping) and "name" in value:
            yield from _classifiers_in(value)


def _counted(splitter: Any) -> int:
    """Count the folds of a splitter, its parameters checked before there is data."""
    for name, minimum in (("n_splits", 2), ("n_repeats", 1)):
        if hasattr(splitter, name):
            caller = type(splitter).__name__
            check_count(getattr(splitter, name), name=name, caller=caller, minimum=minimum)
    return int(splitter.get_n_splits())


def _checked(made: Any) -> Any:
    check = getattr(made, "_check_parameters", None)
    if check is not None:
        check()
    return made


def _class_of(name: str) -> Any:
    """Find a classifier's class by its name in the catalogue or its dotted name."""
    if name.lower() == "c45":
        from scumble.learn import C45Classifier

        return C45Classifier
    if "." not in name:
        return catalogue.get("classifier", name)
    module, _, attribute = name.rpartition(".")
    try:
        cls = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise PlanError(f"There is no classifier {name!r}: {error}.") from error
    if not (inspect.isclass(cls) and hasattr(cls, "fit") and hasattr(cls, "get_params")):
        raise PlanError(f"{name!r} is no classifier in scikit-learn's manner.")
    return cls


def _instance(cls: Any, parameters: Mapping[str, Any], seed: int) -> Any:
    known = inspect.signature(cls).parameters
    for name in parameters:
        if name not in known:
            raise PlanError(
                f"{cls.__name__} has no parameter {name!r}. "
                f"Known are: {', '.join(sorted(known)) or 'none'}."
            )
    given = {name: _value(value, seed) for name, value in parameters.items()}
    if "random_state" in known:
        given.setdefault("random_state", seed)
    return cls(**given)


def _value(value: Any, seed: int) -> Any:
    """Turn a table with a name into the classifier it stands for."""
    if isinstance(value, Mapping) and "name" in value:
        rest = {key: inner for key, inner in value.items() if key != "name"}
        return _instance(_class_of(value["name"]), rest, seed)
    return value
