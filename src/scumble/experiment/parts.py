"""Make the components that a plan names: data sets, resamplers, classifiers and splitters."""

from __future__ import annotations

import hashlib
import inspect
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from scumble._core.errors import DataError, ScumbleError, did_you_mean, did_you_mean_parameter
from scumble._core.version import __version__
from scumble.experiment.cell import NOTHING, Cell, Component, PlanError, canonical_json
from scumble.experiment.store import Store

if TYPE_CHECKING:
    from scumble.data import MultilabelDataset

Value = TypeVar("Value")
#: Metadata of a data set: checksum ("content"), work, shape, and whether it has weights.
DatasetMetadata = dict[str, Any]
#: Parameters of a data set that reduce it after reading.
REDUCTIONS = ("rows", "drop")
#: Data sets, and lists of folds, that a process keeps in memory. Cells are computed data set by
#: data set, so few are sufficient.
CACHE_SIZE = 2

_datasets: OrderedDict[Hashable, MultilabelDataset] = OrderedDict()


def lru_get(cache: OrderedDict[Hashable, Value], key: Hashable, make: Callable[[], Value]) -> Value:
    """Return the cached value of a key, or make it and drop the least recently used values."""
    if key not in cache:
        cache[key] = make()
        while len(cache) > CACHE_SIZE:
            cache.popitem(last=False)
    cache.move_to_end(key)
    return cache[key]


def load_cell_dataset(cell: Cell) -> MultilabelDataset:
    """Load the data set of a cell; raise an error if it has changed since the plan was made."""

    def load() -> MultilabelDataset:
        data = load_dataset(cell.dataset, cell.folder)
        if cell.dataset_checksum and dataset_checksum(data) != cell.dataset_checksum:
            raise DataError(
                f"{cell.dataset.name}: the data set has changed since the plan was made. "
                "Run the plan again."
            )
        return data

    key = cell.dataset_checksum or canonical_json([cell.dataset.spec, cell.folder])
    return lru_get(_datasets, key, load)


def clear_dataset_cache() -> None:
    """Free the data sets that planning has read, if other processes compute the cells."""
    _datasets.clear()


def dataset_metadata(component: Component, folder: str, store: Store | None) -> DatasetMetadata:
    """Return checksum, size and shape of a data set.

    It is read only if the store does not have them, or if a file has changed.
    """
    component = with_label_file(component, folder)
    path = file_of(component, folder) or _find_in_repository(component.name)
    stamp = "" if path is None else _file_stamp(path, component.parameters.get("labels"))
    name = "data at " + canonical_json([str(path or component.name), component.spec])
    can_store = store is not None and stamp != ""
    stored = store.get_metadata(name) if store is not None and can_store else None
    if stored is not None and stored["stamp"] == stamp:
        return dict(stored["facts"])
    data = load_dataset(component, folder)
    metadata = _compute_metadata(data)
    lru_get(_datasets, metadata["content"], lambda: data)
    if store is not None and can_store:
        store.set_metadata(name, {"stamp": stamp, "facts": metadata})
    return metadata


def _compute_metadata(data: MultilabelDataset) -> DatasetMetadata:
    """Return checksum, size and shape of a data set in memory."""
    n_values = data.X.nnz if hasattr(data.X, "nnz") else data.X.size
    return {
        "content": dataset_checksum(data),
        "work": float(n_values) * data.n_labels,
        "weighted": data.weights is not None,
        "n_instances": data.n_instances,
        "n_features": data.n_features,
        "n_labels": data.n_labels,
    }


def _dataset_errors(component: Component, folder: str) -> Iterator[str]:
    """Yield the errors of a data set that are found without reading it."""
    from scumble.data.public import repository

    yield from _reduction_errors(component)
    path = file_of(component, folder)
    if path is not None:
        if not path.is_file():
            yield f"{component.name}: there is no such file."
        return
    try:
        repository.find(component.name)
    except ScumbleError as error:
        if _find_in_repository(component.name) is None:  # a folder of SCUMBLE_DATA may have it
            yield str(error)


def _find_in_repository(name: str) -> Path | None:
    """Return the local file of a public data set, or None."""
    from scumble.data.public import repository

    with suppress(ScumbleError):
        return repository.locate(name)
    return None


def _file_stamp(path: Path, labels: Any) -> str:
    """Return names, sizes and times of the files of a data set.

    Its labels can be in a file in the same folder, or in the file ``labels``.
    """
    files = [path, *sorted(path.parent.glob("*.xml"))]
    if isinstance(labels, str) and Path(labels).is_file():
        files.append(Path(labels))
    stats = [(file.name, file.stat()) for file in files]
    return canonical_json([[name, stat.st_size, stat.st_mtime_ns] for name, stat in stats])


def load_dataset(component: Component, folder: str = "") -> MultilabelDataset:
    """Load a data set from a file or from the repository."""
    from scumble.data import read
    from scumble.data.public import repository

    component = with_label_file(component, folder)
    options = dict(component.parameters)
    reductions = {name: options.pop(name, None) for name in REDUCTIONS}
    path = file_of(component, folder)
    if path is not None:
        data = read(path, **options)
    else:
        data = repository.load(component.name, **options)
    return _draw_rows(_drop_features(data, reductions["drop"]), reductions["rows"])


def file_of(component: Component, folder: str = "") -> Path | None:
    """Return the file that a data set is named by; None if it is not named by a file."""
    path = Path(folder, component.name)
    if path.is_file() or "/" in component.name or "\\" in component.name:
        return path
    return None


def with_label_file(component: Component, folder: str = "") -> Component:
    """Resolve the path of a label file relative to ``folder``, as that of the data."""
    labels = component.parameters.get("labels")
    if not isinstance(labels, str) or not Path(folder, labels).is_file():
        return component
    parameters = {**component.parameters, "labels": str(Path(folder, labels))}
    return replace(component, parameters=parameters)


def dataset_checksum(data: MultilabelDataset) -> str:
    """Return a checksum of the content of a data set, without its name."""
    import numpy as np
    from scipy import sparse

    checksum = hashlib.sha256()
    features = [(f.name, f.kind, f.categories, f.integer) for f in data.features]
    checksum.update(repr((data.X.shape, data.Y.shape, features, data.labels)).encode())
    X = sparse.csr_array(data.X)
    X.sort_indices()
    for matrix in (X, data.Y):
        checksum.update(np.asarray(matrix.indptr, dtype=np.int64).tobytes())
        checksum.update(np.asarray(matrix.indices, dtype=np.int64).tobytes())
    checksum.update(np.asarray(X.data, dtype=np.float64).tobytes())
    if data.weights is not None:
        checksum.update(np.asarray(data.weights, dtype=np.float64).tobytes())
    return checksum.hexdigest()[:32]


def _drop_features(data: MultilabelDataset, names: list[str] | None) -> MultilabelDataset:
    """Return a data set without the named features."""
    if not names:
        return data
    absent = [name for name in names if name not in data.feature_names]
    if absent:
        suggestion = did_you_mean(absent[0], data.feature_names)
        raise DataError(
            f"{data.name}: there is no feature {absent[0]!r} to drop.{suggestion} Expected for "
            f"example {', '.join(data.feature_names[:5])}."
        )
    columns = [index for index, name in enumerate(data.feature_names) if name not in names]
    features = tuple(data.features[index] for index in columns)
    return replace(data, X=data.X[:, columns], features=features)


def _draw_rows(data: MultilabelDataset, n_rows: int | None) -> MultilabelDataset:
    """Return at most ``n_rows`` rows of a data set, drawn with a fixed seed."""
    import numpy as np

    if n_rows is None or n_rows >= len(data):
        return data
    return data[np.random.default_rng(0).permutation(len(data))[:n_rows]]


def _reduction_errors(component: Component) -> Iterator[str]:
    """Yield the errors of the parameters that reduce a data set."""
    rows = component.parameters.get("rows")
    drop = component.parameters.get("drop")
    if rows is not None and (not isinstance(rows, int) or isinstance(rows, bool) or rows < 1):
        yield f"{component.label}: 'rows' must be a whole number of at least 1. Got {rows!r}."
    is_names = isinstance(drop, list | tuple) and all(isinstance(name, str) for name in drop)
    if drop is not None and not is_names:
        yield f"{component.label}: 'drop' must be a list of names of features. Got {drop!r}."


# Resamplers, classifiers and splitters ------------------------------------------------------------


def make_splitter(component: Component, *, seed: int, folder: str = "") -> Any:
    """Make a splitter; the path of a table of folds is relative to ``folder``."""
    from scumble import catalogue

    parameters = dict(component.parameters)
    if isinstance(parameters.get("fold_table"), str):
        parameters["fold_table"] = str(Path(folder, parameters["fold_table"]))
    return _instantiate(catalogue.get("splitter", component.name), parameters, seed)


def make_resamplers(component: Component, *, seed: int) -> list[Any]:
    """Make a chain of resamplers."""
    if component.name == NOTHING:
        return []
    from scumble.resample import make_chain

    return make_chain(component.name, **{"random_state": seed, **component.parameters})


def make_classifier(component: Component, *, seed: int) -> Any:
    """Make a classifier; a parameter that is a table with a ``name`` is a classifier as well."""
    return _instantiate(_classifier_class(component.name), component.parameters, seed)


def needs_fold_revision(component: Component, weighted: bool) -> bool:
    """Return whether a classifier's results differ from those of the first stores."""
    # The first fold runner did not use weights or scores other than probabilities, and passed
    # nominal columns only to the outermost classifier. Cells that this affects have other keys.
    from scumble.learn.weights import supports_sample_weight

    if component.name == NOTHING:
        return False
    classifier = make_classifier(component, seed=0)
    parameters = classifier.get_params(deep=False)
    inner = getattr(classifier, "estimator", None)
    has_nominal_inside = "categorical_features" not in parameters and hasattr(
        inner, "categorical_features"
    )
    uses_weights = weighted and supports_sample_weight(classifier)
    return uses_weights or has_nominal_inside or not hasattr(classifier, "predict_proba")


def code_versions(
    resampler: Component, classifier: Component, splitter: Component
) -> dict[str, str]:
    """Return the versions of the packages and classes that results depend on."""
    # A class whose results change increases its revision, so that its cells are computed again.
    from scumble import catalogue

    versions = {"scumble": __version__}
    if resampler.name != NOTHING:
        for name in resampler.name.split("+"):
            versions |= _class_versions(name, catalogue.resolve("resampler", name))
    if classifier.name != NOTHING:
        for name in _classifier_names(classifier.spec):
            versions |= _class_versions(name, _classifier_class(name))
    revision = getattr(catalogue.get("splitter", splitter.name), "revision", 0)
    if revision:
        versions[splitter.name] = str(revision)
    return versions


def _class_versions(name: str, cls: Any) -> dict[str, str]:
    """Return the version of another package that a class is from, and the class's revision."""
    versions = {}
    package = cls.__module__.partition(".")[0]
    if package != "scumble":
        versions[package] = str(getattr(import_module(package), "__version__", "unknown"))
    if getattr(cls, "revision", 0):
        versions[name] = str(cls.revision)
    return versions


def component_errors(kind: str, component: Component, folder: str) -> Iterator[str]:
    """Yield the errors of a component of a plan, which is made for this unless it is data."""
    if kind == "datasets":
        yield from _dataset_errors(component, folder)
        return
    try:
        if kind == "splitter":
            splitter = make_splitter(component, seed=0, folder=folder)
            _check_parameters(splitter)
            splitter.get_n_splits()
        elif kind == "resamplers":
            make_resamplers(component, seed=0)
        elif component.name != NOTHING:
            _check_parameters(make_classifier(component, seed=0))
    except (ScumbleError, TypeError, ValueError, ImportError, AttributeError) as error:
        yield f"{component.label}: {error}"


def _classifier_names(spec: Mapping[str, Any]) -> Iterator[str]:
    """Yield the name of a classifier and of those among its parameters."""
    yield spec["name"]
    for value in spec.get("parameters", spec).values():
        if isinstance(value, Mapping) and "name" in value:
            yield from _classifier_names(value)


def _check_parameters(estimator: Any) -> None:
    """Check the parameters of an estimator, if it has a method for it."""
    check = getattr(estimator, "check_parameters", None)
    if check is not None:
        check()


def _classifier_class(name: str) -> Any:
    """Return a classifier's class by its name in the catalogue or its dotted name."""
    from scumble.learn.make_and_fit import find_classifier_class

    return find_classifier_class(name)


def _instantiate(cls: Any, parameters: Mapping[str, Any], seed: int) -> Any:
    """Make an object; it gets the seed if it has a ``random_state`` that is not set."""
    names = inspect.signature(cls).parameters
    for name in parameters:
        if name not in names:
            raise PlanError(
                f"{cls.__name__} has no parameter {name!r}.{did_you_mean_parameter(name, names)} "
                f"Known are: {', '.join(sorted(names)) or 'none'}."
            )
    arguments = {name: _parameter_value(value, seed) for name, value in parameters.items()}
    if "random_state" in names:
        arguments.setdefault("random_state", seed)
    return cls(**arguments)


def _parameter_value(value: Any, seed: int) -> Any:
    """Return a parameter value; a table with a ``name`` becomes the classifier it names."""
    if isinstance(value, Mapping) and "name" in value:
        parameters = {key: inner for key, inner in value.items() if key != "name"}
        return _instantiate(_classifier_class(value["name"]), parameters, seed)
    return value
