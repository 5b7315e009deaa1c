"""What a plan names: data sets, known by their content; resamplers, classifiers and splitters."""

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

Kind = TypeVar("Kind")
#: What is known of a data set before it is used: checksum, work, shape, whether it has weights.
DatasetMetadata = dict[str, Any]
#: Parameters of a data set that cut it after reading.
CUTS = ("rows", "drop")
#: How many data sets, and how many lists of folds, a process keeps.
KEPT = 2

_data: OrderedDict[Hashable, MultilabelDataset] = OrderedDict()


def lru_get(kept: OrderedDict[Hashable, Kind], key: Hashable, make: Callable[[], Kind]) -> Kind:
    """Return what was made for a key, made anew if it is not among those used last."""
    if key not in kept:
        kept[key] = make()
        while len(kept) > KEPT:
            kept.popitem(last=False)
    kept.move_to_end(key)
    return kept[key]


def load_cell_dataset(cell: Cell) -> MultilabelDataset:
    """Load the data set of a cell, and make sure that it is the one the plan saw."""

    def load() -> MultilabelDataset:
        data = load_dataset(cell.dataset, cell.folder)
        if cell.dataset_checksum and dataset_checksum(data) != cell.dataset_checksum:
            raise DataError(
                f"{cell.dataset.name}: the data set has changed since the plan was made. "
                "Run the plan again."
            )
        return data

    return lru_get(
        _data, cell.dataset_checksum or canonical_json([cell.dataset.spec, cell.folder]), load
    )


def clear_dataset_cache() -> None:
    """Free what planning has read, where other processes compute."""
    _data.clear()


def dataset_metadata(part: Component, folder: str, store: Store | None) -> DatasetMetadata:
    """Return checksum, size and shape of a data set, read only if its file is new to the store."""
    part = with_label_file(part, folder)
    path = file_of(part, folder) or _on_the_shelf(part.name)
    stamp = "" if path is None else _stamp(path, part.parameters.get("labels"))
    place = "data at " + canonical_json([str(path or part.name), part.spec])
    known = store.get_metadata(place) if store is not None and stamp else None
    if known is not None and known["stamp"] == stamp:
        return dict(known["facts"])
    data = load_dataset(part, folder)
    facts = _measured(data)
    lru_get(_data, facts["content"], lambda: data)
    if store is not None and stamp:
        store.set_metadata(place, {"stamp": stamp, "facts": facts})
    return facts


def _measured(data: MultilabelDataset) -> DatasetMetadata:
    values = data.X.nnz if hasattr(data.X, "nnz") else data.X.size
    return {
        "content": dataset_checksum(data),
        "work": float(values) * data.n_labels,
        "weighted": data.weights is not None,
        **{f"n_{what}": getattr(data, f"n_{what}") for what in ("instances", "features", "labels")},
    }


def _data_complaints(part: Component, folder: str) -> Iterator[str]:
    """Say what is wrong with a data set that can be told without reading it."""
    from scumble.data import repository

    yield from _cut_complaints(part)
    path = file_of(part, folder)
    if path is not None:
        if not path.is_file():
            yield f"{part.name}: there is no such file."
        return
    try:
        repository.find(part.name)
    except ScumbleError as error:
        if _on_the_shelf(part.name) is None:  # a folder of SCUMBLE_DATA may hold it
            yield str(error)


def _on_the_shelf(name: str) -> Path | None:
    from scumble.data import repository

    with suppress(ScumbleError):
        return repository.locate(name)
    return None


def _stamp(path: Path, labels: Any) -> str:
    """Describe the files of a data set; its labels may stand in a file beside it or elsewhere."""
    files = [path, *sorted(path.parent.glob("*.xml"))]
    if isinstance(labels, str) and Path(labels).is_file():
        files.append(Path(labels))
    return canonical_json([[p.name, p.stat().st_size, p.stat().st_mtime_ns] for p in files])


def load_dataset(part: Component, folder: str = "") -> MultilabelDataset:
    """Load a data set by file or name."""
    from scumble.data import read, repository

    part = with_label_file(part, folder)
    options = dict(part.parameters)
    cut = {name: options.pop(name, None) for name in CUTS}
    path = file_of(part, folder)
    data = read(path, **options) if path is not None else repository.load(part.name, **options)
    return _cut_rows(_drop_features(data, cut["drop"]), cut["rows"])


def file_of(part: Component, folder: str = "") -> Path | None:
    """Find the file a data set is named by."""
    path = Path(folder, part.name)
    if path.is_file() or any(sign in part.name for sign in ("/", "\\")):
        return path
    return None


def with_label_file(part: Component, folder: str = "") -> Component:
    """Let the path of a file of labels start where that of the data does."""
    labels = part.parameters.get("labels")
    if not isinstance(labels, str) or not Path(folder, labels).is_file():
        return part
    return replace(part, parameters={**part.parameters, "labels": str(Path(folder, labels))})


def dataset_checksum(data: MultilabelDataset) -> str:
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


def _drop_features(data: MultilabelDataset, names: list[str] | None) -> MultilabelDataset:
    if not names:
        return data
    absent = [name for name in names if name not in data.feature_names]
    if absent:
        meant = did_you_mean(absent[0], data.feature_names)
        raise DataError(
            f"{data.name}: there is no feature {absent[0]!r} to drop.{meant} Expected for example "
            f"{', '.join(data.feature_names[:5])}."
        )
    kept = [at for at, name in enumerate(data.feature_names) if name not in names]
    return replace(data, X=data.X[:, kept], features=tuple(data.features[at] for at in kept))


def _cut_rows(data: MultilabelDataset, rows: int | None) -> MultilabelDataset:
    import numpy as np

    if rows is None or rows >= len(data):
        return data
    return data[np.random.default_rng(0).permutation(len(data))[:rows]]


def _cut_complaints(part: Component) -> Iterator[str]:
    rows, drop = (part.parameters.get(name) for name in ("rows", "drop"))
    if rows is not None and (not isinstance(rows, int) or isinstance(rows, bool) or rows < 1):
        yield f"{part.label}: 'rows' must be a whole number of at least 1. Got {rows!r}."
    is_names = isinstance(drop, list | tuple) and all(isinstance(name, str) for name in drop)
    if drop is not None and not is_names:
        yield f"{part.label}: 'drop' must be a list of names of features. Got {drop!r}."


# Resamplers, classifiers and splitters ------------------------------------------------------------


def make_splitter(part: Component, *, seed: int, folder: str = "") -> Any:
    """Make a splitter; the path of a file of folds starts at ``folder``."""
    from scumble import catalogue

    parameters = dict(part.parameters)
    if isinstance(parameters.get("fold_table"), str):
        parameters["fold_table"] = str(Path(folder, parameters["fold_table"]))
    return _instance(catalogue.get("splitter", part.name), parameters, seed)


def make_resamplers(part: Component, *, seed: int) -> list[Any]:
    """Make a chain of resamplers."""
    if part.name == NOTHING:
        return []
    from scumble.resample import make_chain

    return make_chain(part.name, **{"random_state": seed, **part.parameters})


def make_classifier(part: Component, *, seed: int) -> Any:
    """Make a classifier; a parameter that is a table with a ``name`` stands for another one."""
    return _instance(_class_of(part.name), part.parameters, seed)


def needs_fold_revision(part: Component, weighted: bool) -> bool:
    """Tell whether a classifier's cells hold other numbers than those of the first stores."""
    # Their fold runner knew neither weights nor scores other than probabilities, and told nominal
    # columns to the outermost classifier only. Cells for which this matters have keys of their own.
    from scumble.learn.weights import supports_sample_weight

    if part.name == NOTHING:
        return False
    made = make_classifier(part, seed=0)
    outer, inner = made.get_params(deep=False), getattr(made, "estimator", None)
    told_inside = "categorical_features" not in outer and hasattr(inner, "categorical_features")
    uses_weights = weighted and supports_sample_weight(made)
    return uses_weights or told_inside or not hasattr(made, "predict_proba")


def code_versions(
    resampler: Component, classifier: Component, splitter: Component
) -> dict[str, str]:
    """Name the versions of the code that decides about results."""
    # A class whose results change raises its revision, so that stored cells are computed anew.
    from scumble import catalogue

    found = {"scumble": __version__}
    for kind, part in (("resampler", resampler), ("classifier", classifier)):
        if part.name == NOTHING:
            continue
        for name in part.name.split("+") if kind == "resampler" else _classifiers_in(part.spec):
            cls = catalogue.resolve(kind, name) if kind == "resampler" else _class_of(name)
            package = cls.__module__.partition(".")[0]
            if package != "scumble":
                found[package] = str(getattr(import_module(package), "__version__", "unknown"))
            if getattr(cls, "revision", 0):
                found[name] = str(cls.revision)
    if revision := getattr(catalogue.get("splitter", splitter.name), "revision", 0):
        found[splitter.name] = str(revision)
    return found


def component_errors(kind: str, part: Component, folder: str) -> Iterator[str]:
    """Say what is wrong with a part; everything but data is made to find out."""
    if kind == "datasets":
        yield from _data_complaints(part, folder)
        return
    try:
        if kind == "splitter":
            _checked(make_splitter(part, seed=0, folder=folder)).get_n_splits()
        elif kind == "resamplers":
            make_resamplers(part, seed=0)
        elif part.name != NOTHING:
            _checked(make_classifier(part, seed=0))
    except (ScumbleError, TypeError, ValueError, ImportError, AttributeError) as error:
        yield f"{part.label}: {error}"


def _classifiers_in(spec: Mapping[str, Any]) -> Iterator[str]:
    """Name a classifier and those among its parameters."""
    yield spec["name"]
    for value in spec.get("parameters", spec).values():
        if isinstance(value, Mapping) and "name" in value:
            yield from _classifiers_in(value)


def _checked(made: Any) -> Any:
    check = getattr(made, "check_parameters", None)
    if check is not None:
        check()
    return made


def _class_of(name: str) -> Any:
    """Find a classifier's class by its name in the catalogue or its dotted name."""
    from scumble.learn.make_and_fit import find_classifier_class

    return find_classifier_class(name)


def _instance(cls: Any, parameters: Mapping[str, Any], seed: int) -> Any:
    known = inspect.signature(cls).parameters
    for name in parameters:
        if name not in known:
            raise PlanError(
                f"{cls.__name__} has no parameter {name!r}.{did_you_mean_parameter(name, known)} "
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
