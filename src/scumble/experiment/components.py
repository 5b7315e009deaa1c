"""Make the objects that the components of a plan name.

These are data sets, resamplers, classifiers and splitters; see `Component`.
"""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from scumble._core.errors import DataError, ScumbleError, did_you_mean, did_you_mean_parameter
from scumble._core.version import __version__
from scumble.data.checksum import dataset_checksum
from scumble.experiment.plan_error import PlanError
from scumble.results.cell import NO_ESTIMATOR, Cell, Component, canonical_json
from scumble.results.store import Store

if TYPE_CHECKING:
    from scumble.data import MultilabelDataset

Value = TypeVar("Value")
#: Parameters of a data set that reduce it after reading: the maximum number of rows, and names of
#: features to leave out.
REDUCTIONS = ("rows", "drop")
#: Number of data sets, and of lists of splits, that a process keeps in memory. Cells are computed
#: data set by data set, so few are sufficient.
CACHE_SIZE = 2

#: The data sets used last in this process, by the checksum of their content.
_cached_datasets: OrderedDict[Hashable, MultilabelDataset] = OrderedDict()


class DatasetMetadata(NamedTuple):
    """What plans need to know about a data set."""

    checksum: str  # see `dataset_checksum`
    #: Number of feature values (of those that are not 0, if the features are sparse) times number
    #: of labels, from which computing times are estimated.
    work: float
    has_weights: bool  # whether it has sample weights
    n_instances: int
    n_features: int
    n_labels: int

    def to_dict(self) -> dict[str, Any]:
        """Return the metadata as JSON values, under the keys that stores have."""
        return {
            "content": self.checksum,
            "work": self.work,
            "weighted": self.has_weights,
            "n_instances": self.n_instances,
            "n_features": self.n_features,
            "n_labels": self.n_labels,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> DatasetMetadata:
        """Return the metadata for a dict that `to_dict` has made."""
        return cls(
            checksum=values["content"],
            work=values["work"],
            has_weights=values["weighted"],
            n_instances=values["n_instances"],
            n_features=values["n_features"],
            n_labels=values["n_labels"],
        )


def lru_get(cache: OrderedDict[Hashable, Value], key: Hashable, make: Callable[[], Value]) -> Value:
    """Return the cached value of a key, or store and return ``make()`` if there is none.

    The cache keeps the `CACHE_SIZE` most recently used values.
    """
    if key not in cache:
        cache[key] = make()
        while len(cache) > CACHE_SIZE:
            cache.popitem(last=False)
    cache.move_to_end(key)
    return cache[key]


def load_cell_dataset(cell: Cell) -> MultilabelDataset:
    """Return the data set of a cell from the memory of this process, or load it.

    Raises a DataError if the data set has changed since the plan was made.
    """

    def load_and_verify() -> MultilabelDataset:
        """Load the data set and compare its checksum with that of the cell."""
        data = load_dataset(cell.dataset, cell.folder)
        if cell.dataset_checksum and dataset_checksum(data) != cell.dataset_checksum:
            raise DataError(
                f"{cell.dataset.name}: the data set has changed since the plan was made. "
                "Run the plan again."
            )
        return data

    key = cell.dataset_checksum or canonical_json([cell.dataset.spec, cell.folder])
    return lru_get(_cached_datasets, key, load_and_verify)


def clear_dataset_cache() -> None:
    """Drop the data sets that planning has read, to free memory: other processes compute cells."""
    _cached_datasets.clear()


def dataset_metadata(component: Component, folder: str, store: Store | None) -> DatasetMetadata:
    """Return what plans need to know about a data set.

    The store saves the metadata with the version of the data set's files, unless it has no local
    file. The data set is read only if the store does not have the metadata or if a file has
    changed; it then stays in memory for the cells that are computed next.
    """
    component = resolve_label_file(component, folder)
    path = dataset_path(component, folder) or _find_in_repository(component.name)
    # Without a local file nothing shows whether the data has changed, so nothing is stored.
    file_version = None
    if path is not None:
        file_version = _file_version(path, component.parameters.get("labels"))
    name = "data at " + canonical_json([str(path or component.name), component.spec])
    if store is not None and file_version is not None:
        stored = store.get_metadata(name)  # the keys "stamp" and "facts" are those of older stores
        if stored is not None and stored["stamp"] == file_version:
            return DatasetMetadata.from_dict(stored["facts"])
    data = load_dataset(component, folder)
    metadata = _compute_metadata(data)
    lru_get(_cached_datasets, metadata.checksum, lambda: data)
    if store is not None and file_version is not None:
        store.set_metadata(name, {"stamp": file_version, "facts": metadata.to_dict()})
    return metadata


def _compute_metadata(data: MultilabelDataset) -> DatasetMetadata:
    """Return what plans need to know about a data set that has been read."""
    n_values = data.X.nnz if hasattr(data.X, "nnz") else data.X.size
    return DatasetMetadata(
        checksum=dataset_checksum(data),
        work=float(n_values) * data.n_labels,
        has_weights=data.weights is not None,
        n_instances=data.n_instances,
        n_features=data.n_features,
        n_labels=data.n_labels,
    )


def _dataset_errors(component: Component, folder: str) -> Iterator[str]:
    """Yield error messages for a data set, as far as they are known without reading it.

    There is a message for each invalid parameter, and one if the file does not exist or if the
    repository does not have a data set of this name.
    """
    from scumble.data.public import repository

    yield from _reduction_errors(component)
    path = dataset_path(component, folder)
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
    """Return the local file of a public data set; None if it is unknown or not downloaded."""
    from scumble.data.public import repository

    with suppress(ScumbleError):
        return repository.locate(name)
    return None


def _file_version(path: Path, labels: Any) -> str:
    """Return names, sizes and modification times of the files of a data set, as JSON.

    These are the data file, the XML files beside it, which can name the labels, and the file
    ``labels``, if this is the path of a file.
    """
    files = [path, *sorted(path.parent.glob("*.xml"))]
    if isinstance(labels, str) and Path(labels).is_file():
        files.append(Path(labels))
    stats = [(file.name, file.stat()) for file in files]
    return canonical_json([[name, stat.st_size, stat.st_mtime_ns] for name, stat in stats])


def load_dataset(component: Component, folder: str = "") -> MultilabelDataset:
    """Read a data set from its file or from the repository, and reduce it.

    The parameter ``drop`` leaves out features, ``rows`` limits the number of rows.
    """
    from scumble.data import read
    from scumble.data.public import repository

    component = resolve_label_file(component, folder)
    options = dict(component.parameters)
    reductions = {name: options.pop(name, None) for name in REDUCTIONS}
    path = dataset_path(component, folder)
    if path is not None:
        data = read(path, **options)
    else:
        data = repository.load(component.name, **options)
    return _draw_rows(_drop_features(data, reductions["drop"]), reductions["rows"])


def dataset_path(component: Component, folder: str = "") -> Path | None:
    """Return the path of a data set whose name is a path; None if it is a name in the repository.

    A name is a path if it has a slash, or if there is such a file. It is relative to ``folder``.
    """
    path = Path(folder, component.name)
    if path.is_file() or "/" in component.name or "\\" in component.name:
        return path
    return None


def resolve_label_file(component: Component, folder: str = "") -> Component:
    """Return a data set with its parameter ``labels`` resolved relative to ``folder``.

    The component is returned unchanged unless ``labels`` is the path of an existing file.
    """
    labels = component.parameters.get("labels")
    if not isinstance(labels, str) or not Path(folder, labels).is_file():
        return component
    parameters = {**component.parameters, "labels": str(Path(folder, labels))}
    return replace(component, parameters=parameters)


def _drop_features(data: MultilabelDataset, names: list[str] | None) -> MultilabelDataset:
    """Return a data set without the named features; raise a DataError for an unknown name."""
    if not names:
        return data
    absent = [name for name in names if name not in data.feature_names]
    if absent:
        suggestion = did_you_mean(absent[0], data.feature_names)
        raise DataError(
            f"{data.name}: there is no feature {absent[0]!r} to drop.{suggestion} Expected for "
            f"example {', '.join(data.feature_names[:5])}."
        )
    feature_indices = [index for index, name in enumerate(data.feature_names) if name not in names]
    features = tuple(data.features[index] for index in feature_indices)
    return replace(data, X=data.X[:, feature_indices], features=features)


def _draw_rows(data: MultilabelDataset, n_rows: int | None) -> MultilabelDataset:
    """Return ``n_rows`` random rows of a data set, drawn with seed 0; all of them if None."""
    import numpy as np

    if n_rows is None or n_rows >= len(data):
        return data
    return data[np.random.default_rng(0).permutation(len(data))[:n_rows]]


def _reduction_errors(component: Component) -> Iterator[str]:
    """Yield error messages for the parameters ``rows`` and ``drop`` of a data set."""
    n_rows = component.parameters.get("rows")
    drop = component.parameters.get("drop")
    is_whole_number = isinstance(n_rows, int) and not isinstance(n_rows, bool)
    if n_rows is not None and not (is_whole_number and n_rows >= 1):
        yield f"{component.label}: 'rows' must be a whole number of at least 1. Got {n_rows!r}."
    is_names = isinstance(drop, list | tuple) and all(isinstance(name, str) for name in drop)
    if drop is not None and not is_names:
        yield f"{component.label}: 'drop' must be a list of names of features. Got {drop!r}."


# Resamplers, classifiers and splitters ------------------------------------------------------------


def make_splitter(component: Component, *, seed: int, folder: str = "") -> Any:
    """Return the splitter that a component names, with ``seed`` unless it sets ``random_state``.

    The path of a table of folds is relative to ``folder``.
    """
    from scumble import catalogue

    parameters = dict(component.parameters)
    if isinstance(parameters.get("fold_table"), str):
        parameters["fold_table"] = str(Path(folder, parameters["fold_table"]))
    return _instantiate(catalogue.get("splitter", component.name), parameters, seed)


def make_resamplers(component: Component, *, seed: int) -> list[Any]:
    """Return the resamplers that a component names, in order; an empty list for "none".

    ``seed`` is their ``random_state`` unless the component sets it.
    """
    if component.name == NO_ESTIMATOR:
        return []
    from scumble.resample import make_chain

    return make_chain(component.name, **{"random_state": seed, **component.parameters})


def make_classifier(component: Component, *, seed: int) -> Any:
    """Return the classifier that a component names, with ``seed`` unless it sets ``random_state``.

    A parameter that is a mapping with the key ``name`` stands for a classifier as well.
    """
    return _instantiate(_classifier_class(component.name), component.parameters, seed)


def results_changed_since_first_run_fold(component: Component, has_weights: bool) -> bool:
    """Return whether `run_fold` gives a classifier other results than its first version did.

    The keys of such cells get the entry "fold", the *fold revision*, so that results in older
    stores are not used. ``has_weights`` says whether the data set has sample weights.
    """
    # The first version used neither weights nor scores other than probabilities, and passed the
    # indices of nominal columns only to the outermost classifier.
    from scumble.learn.weights import supports_sample_weight

    if component.name == NO_ESTIMATOR:
        return False
    classifier = make_classifier(component, seed=0)
    parameters = classifier.get_params(deep=False)
    inner = getattr(classifier, "estimator", None)
    has_nominal_inside = "categorical_features" not in parameters and hasattr(
        inner, "categorical_features"
    )
    uses_weights = has_weights and supports_sample_weight(classifier)
    return uses_weights or has_nominal_inside or not hasattr(classifier, "predict_proba")


def code_versions(
    resampler: Component, classifier: Component, splitter: Component
) -> dict[str, str]:
    """Return the versions of the packages and classes that results depend on, by name.

    These are the version of scumble, of other packages that a class is from, and the revisions of
    classes that have one.
    """
    # A class whose results change increases its revision, so that its cells are computed again.
    from scumble import catalogue

    versions = {"scumble": __version__}
    if resampler.name != NO_ESTIMATOR:
        for name in resampler.name.split("+"):
            versions |= _class_versions(name, catalogue.resolve("resampler", name))
    if classifier.name != NO_ESTIMATOR:
        for name in (classifier.name, *_inner_classifier_names(classifier.parameters)):
            versions |= _class_versions(name, _classifier_class(name))
    revision = getattr(catalogue.get("splitter", splitter.name), "revision", 0)
    if revision:
        versions[splitter.name] = str(revision)
    return versions


def _class_versions(name: str, cls: Any) -> dict[str, str]:
    """Return the version of the package of a class, unless it is scumble, and its revision, if any.

    ``name`` is the key of the revision.
    """
    versions = {}
    package = cls.__module__.partition(".")[0]
    if package != "scumble":
        versions[package] = str(getattr(import_module(package), "__version__", "unknown"))
    if getattr(cls, "revision", 0):
        versions[name] = str(cls.revision)
    return versions


def component_errors(kind: str, component: Component, folder: str) -> Iterator[str]:
    """Yield error messages for a component of a plan.

    ``kind`` is "datasets", "resamplers", "classifiers" or "splitter". Data sets are not read; other
    components are made to check their parameters.
    """
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
        elif component.name != NO_ESTIMATOR:
            _check_parameters(make_classifier(component, seed=0))
    except (ScumbleError, TypeError, ValueError, ImportError, AttributeError) as error:
        yield f"{component.label}: {error}"


def _inner_classifier_names(parameters: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of the classifiers among the parameters of a classifier, at any depth.

    A parameter stands for a classifier if it is a mapping with the key ``name``; the other keys of
    the mapping are the parameters of this classifier.
    """
    for value in parameters.values():
        if isinstance(value, Mapping) and "name" in value:
            yield value["name"]
            yield from _inner_classifier_names(value)


def _check_parameters(estimator: Any) -> None:
    """Call ``check_parameters`` of an estimator, if it has this method; it raises on errors."""
    check = getattr(estimator, "check_parameters", None)
    if check is not None:
        check()


def _classifier_class(name: str) -> Any:
    """Return the class of a classifier for its name in the catalogue, or for its dotted name."""
    from scumble.learn.make_and_fit import find_classifier_class

    return find_classifier_class(name)


def _instantiate(cls: Any, parameters: Mapping[str, Any], seed: int) -> Any:
    """Return an object of a class; raise a PlanError for a parameter that it does not have.

    Its ``random_state`` is the seed, if the class has this parameter and ``parameters`` do not.
    """
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
    """Return a parameter value; replace a mapping with the key ``name`` by the classifier it names.

    The other keys of the mapping are the parameters of this classifier.
    """
    if isinstance(value, Mapping) and "name" in value:
        parameters = {key: inner for key, inner in value.items() if key != "name"}
        return _instantiate(_classifier_class(value["name"]), parameters, seed)
    return value
