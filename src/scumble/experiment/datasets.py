"""The data sets of a plan: found, read, cut, and known by their content."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from scumble._core.errors import DataError, ScumbleError, suggest
from scumble.experiment.cell import Cell, Part, canonical
from scumble.experiment.store import Store

if TYPE_CHECKING:
    from scumble.data import MultilabelDataset

Kind = TypeVar("Kind")
#: What is known of a data set before it is used: checksum, work, shape, whether it has weights.
Facts = dict[str, Any]
#: Parameters of a data set that cut it after reading.
CUTS = ("rows", "drop")
#: How many data sets, and how many lists of folds, a process keeps.
KEPT = 2

_data: OrderedDict[Hashable, MultilabelDataset] = OrderedDict()


def recent(kept: OrderedDict[Hashable, Kind], key: Hashable, make: Callable[[], Kind]) -> Kind:
    """Return what was made for a key, made anew if it is not among those used last."""
    if key not in kept:
        kept[key] = make()
        while len(kept) > KEPT:
            kept.popitem(last=False)
    kept.move_to_end(key)
    return kept[key]


def dataset_of(cell: Cell) -> MultilabelDataset:
    """Load the data set of a cell, and make sure that it is the one the plan saw."""

    def load() -> MultilabelDataset:
        data = load_dataset(cell.dataset, cell.folder)
        if cell.content and content_of(data) != cell.content:
            raise DataError(
                f"{cell.dataset.name}: the data set has changed since the plan was made. "
                "Run the plan again."
            )
        return data

    return recent(_data, cell.content or canonical([cell.dataset.spec, cell.folder]), load)


def forget_data() -> None:
    """Free what planning has read, where other processes compute."""
    _data.clear()


def facts_of(part: Part, folder: str, store: Store | None) -> Facts:
    """Return checksum, size and shape of a data set, read only if its file is new to the store."""
    part = with_label_file(part, folder)
    path = file_of(part, folder) or _on_the_shelf(part.name)
    stamp = "" if path is None else _stamp(path, part.parameters.get("labels"))
    place = "data at " + canonical([str(path or part.name), part.spec])
    known = store.recall(place) if store is not None and stamp else None
    if known is not None and known["stamp"] == stamp:
        return dict(known["facts"])
    data = load_dataset(part, folder)
    facts = _measured(data)
    recent(_data, facts["content"], lambda: data)
    if store is not None and stamp:
        store.remember(place, {"stamp": stamp, "facts": facts})
    return facts


def _measured(data: MultilabelDataset) -> Facts:
    values = data.X.nnz if hasattr(data.X, "nnz") else data.X.size
    return {
        "content": content_of(data),
        "work": float(values) * data.n_labels,
        "weighted": data.weights is not None,
        **{f"n_{what}": getattr(data, f"n_{what}") for what in ("instances", "features", "labels")},
    }


def complaints(part: Part, folder: str) -> Iterator[str]:
    """Say what is wrong with a data set that can be told without reading it."""
    from scumble.data import shelf

    yield from _cut_complaints(part)
    path = file_of(part, folder)
    if path is not None:
        if not path.is_file():
            yield f"{part.name}: there is no such file."
        return
    try:
        shelf.find(part.name)
    except ScumbleError as error:
        if _on_the_shelf(part.name) is None:  # a folder of SCUMBLE_DATA may hold it
            yield str(error)


def _on_the_shelf(name: str) -> Path | None:
    from scumble.data import shelf

    with suppress(ScumbleError):
        return shelf.locate(name)
    return None


def _stamp(path: Path, labels: Any) -> str:
    """Describe the files of a data set; its labels may stand in a file beside it or elsewhere."""
    files = [path, *sorted(path.parent.glob("*.xml"))]
    if isinstance(labels, str) and Path(labels).is_file():
        files.append(Path(labels))
    return canonical([[p.name, p.stat().st_size, p.stat().st_mtime_ns] for p in files])


def load_dataset(part: Part, folder: str = "") -> MultilabelDataset:
    """Load a data set by file or name."""
    from scumble.data import read, shelf

    part = with_label_file(part, folder)
    options = dict(part.parameters)
    cut = {name: options.pop(name, None) for name in CUTS}
    path = file_of(part, folder)
    data = read(path, **options) if path is not None else shelf.load(part.name, **options)
    return _cut_rows(_drop_features(data, cut["drop"]), cut["rows"])


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


def _drop_features(data: MultilabelDataset, names: list[str] | None) -> MultilabelDataset:
    if not names:
        return data
    absent = [name for name in names if name not in data.feature_names]
    if absent:
        meant = suggest(absent[0], data.feature_names)
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


def _cut_complaints(part: Part) -> Iterator[str]:
    rows, drop = (part.parameters.get(name) for name in ("rows", "drop"))
    if rows is not None and (not isinstance(rows, int) or isinstance(rows, bool) or rows < 1):
        yield f"{part.label}: 'rows' must be a whole number of at least 1. Got {rows!r}."
    is_names = isinstance(drop, list | tuple) and all(isinstance(name, str) for name in drop)
    if drop is not None and not is_names:
        yield f"{part.label}: 'drop' must be a list of names of features. Got {drop!r}."
