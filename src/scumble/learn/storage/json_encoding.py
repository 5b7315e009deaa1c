"""Objects as JSON values, with their arrays set aside, and back; the way back runs no code."""

import inspect
import math
import re
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError, ReadError

#: The key that marks what JSON has no word for.
MARK = "$"
#: Objects within objects: deeper ones hold themselves, or are no model.
MAX_DEPTH = 200
#: Classes of these rooms hold numbers, and are made from a file without running any code.
_OWN = re.compile(r"scumble\.(learn|resample|_core\.(neighbours|features))(\.[A-Za-z_]\w*)*")
#: What skops does not trust by itself, and we check after loading.
CHECKED = frozenset({"sklearn.tree._tree.Tree"})


class Encoder:
    """Turns objects into JSON values; those of other packages are kept for skops."""

    def __init__(self) -> None:
        self.third_party_objects: list[Any] = []
        self._pools: dict[str, list[Array]] = {}
        self._sizes: dict[str, int] = {}
        self._known: dict[int, tuple[Array, Any]] = {}  # the array is kept alive with its entry

    def arrays_by_dtype(self) -> dict[str, Array]:
        """Return all numbers seen, in one flat array for each type."""
        return {kind: np.concatenate(self._pools[kind]) for kind in sorted(self._pools)}

    def encode(self, value: Any, depth: int = 0) -> Any:
        """Turn a value into what JSON can hold."""
        if depth > MAX_DEPTH:
            raise ParameterError("The model holds itself, or is nested too deeply to be saved.")
        if value is None or isinstance(value, str | bool) or type(value) is int:
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {MARK: "float", "is": repr(value)}
        if isinstance(value, np.generic) and value.dtype.kind in "biuf":
            return {MARK: "scalar", "of": self._array(np.asarray(value))}
        if isinstance(value, np.ndarray) and type(value) is np.ndarray:
            return self._encode_array(value, depth)
        if isinstance(value, sparse.csr_array | sparse.csc_array):
            return self._encode_sparse(value)
        return self._encode_object(value, depth + 1)

    def _encode_object(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if kind is list:
            return [self.encode(item, depth) for item in value]
        if kind is tuple:
            return {MARK: "tuple", "of": [self.encode(item, depth) for item in value]}
        if kind is dict:
            pairs = [[self.encode(k, depth), self.encode(v, depth)] for k, v in value.items()]
            return {MARK: "dict", "of": pairs}
        if is_storable_class(kind):
            return self._encode_own(value, depth)
        return self._encode_foreign(value)

    def _encode_own(self, value: Any, depth: int) -> Any:
        kind = type(value)
        name = f"{kind.__module__}.{kind.__qualname__}"
        if isinstance(value, tuple):
            return {MARK: "named", "class": name, "of": [self.encode(v, depth) for v in value]}
        state = vars(value)
        if is_dataclass(value) and not isinstance(value, BaseEstimator):  # fields, nothing cached
            state = {field.name: state[field.name] for field in fields(value)}
        of = {key: self.encode(item, depth) for key, item in state.items()}
        return {MARK: "object", "class": name, "of": of}

    def _encode_array(self, value: Array, depth: int) -> Any:
        if value.dtype.kind in "biuf" and value.dtype.itemsize <= 8:
            return self._array(value)
        if value.dtype.kind in "OUS":
            cells = [self.encode(cell, depth + 1) for cell in value.ravel().tolist()]
            dtype = value.dtype.str
            return {MARK: "cells", "type": dtype, "shape": list(value.shape), "of": cells}
        return self._encode_foreign(value)

    def _encode_sparse(self, value: Any) -> Any:
        parts = {part: self._array(getattr(value, part)) for part in ("indptr", "indices", "data")}
        return {MARK: "sparse", "as": value.format, "shape": list(value.shape), **parts}

    def _encode_foreign(self, value: Any) -> Any:
        self.third_party_objects.append(value)
        return {MARK: "foreign", "at": len(self.third_party_objects) - 1}

    def _array(self, value: Array) -> Any:
        known = self._known.get(id(value))
        if known is not None:
            return known[1]
        kind = value.dtype.name
        start = self._sizes.get(kind, 0)
        flat = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<")).reshape(-1)
        self._pools.setdefault(kind, []).append(flat)
        self._sizes[kind] = start + flat.size
        entry = {MARK: "array", "type": kind, "at": start, "shape": list(value.shape)}
        self._known[id(value)] = (value, entry)
        return entry


_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class Decoder:
    """Makes objects from JSON values."""

    def __init__(self, arrays_by_dtype: dict[str, Array], third_party_objects: list[Any]) -> None:
        self._pools = arrays_by_dtype
        self._foreign = third_party_objects

    def decode(self, value: Any) -> Any:
        """Make what was encoded."""
        if isinstance(value, list):
            return [self.decode(item) for item in value]
        if not isinstance(value, dict):
            return value
        way = getattr(self, f"_decode_{value.get(MARK)}", None)
        if way is None:
            raise ReadError(f"an entry is of the unknown kind {value.get(MARK)!r}.")
        return way(value)

    def _decode_float(self, value: dict[str, Any]) -> float:
        return _FLOATS[value["is"]]

    def _decode_scalar(self, value: dict[str, Any]) -> Any:
        return self._decode_array(value["of"])[()]

    def _decode_tuple(self, value: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(self.decode(item) for item in value["of"])

    def _decode_dict(self, value: dict[str, Any]) -> dict[Any, Any]:
        return {self.decode(key): self.decode(item) for key, item in value["of"]}

    def _decode_foreign(self, value: dict[str, Any]) -> Any:
        return self._foreign[_whole(value["at"])]

    def _decode_array(self, value: dict[str, Any]) -> Array:
        pool = self._pools[value["type"]]
        shape = tuple(_whole(size) for size in value["shape"])
        start, size = _whole(value["at"]), math.prod(shape)
        if start + size > len(pool):
            raise ReadError(f"an array of shape {shape} has too few numbers in the file.")
        return pool[start : start + size].reshape(shape).copy()

    def _decode_cells(self, value: dict[str, Any]) -> Array:
        kind = np.dtype(value["type"])
        if kind.kind not in "OUS":
            raise ReadError(f"an array of single cells is of type {kind}.")
        cells = np.empty(len(value["of"]), kind)
        for at, cell in enumerate(value["of"]):
            cells[at] = self.decode(cell)
        return cells.reshape([_whole(size) for size in value["shape"]])

    def _decode_sparse(self, value: dict[str, Any]) -> Any:
        maker = {"csr": sparse.csr_array, "csc": sparse.csc_array}[value["as"]]
        parts = [self._decode_array(value[part]) for part in ("data", "indices", "indptr")]
        matrix = maker(tuple(parts), shape=tuple(_whole(size) for size in value["shape"]))
        matrix.check_format(full_check=True)  # kernels do not look twice at an index
        return matrix

    def _decode_named(self, value: dict[str, Any]) -> Any:
        kind = _class(value["class"])
        if not issubclass(kind, tuple):
            raise ReadError(f"{value['class']} is no tuple.")
        return tuple.__new__(kind, [self.decode(item) for item in value["of"]])

    def _decode_object(self, value: dict[str, Any]) -> Any:
        kind = _class(value["class"])
        if issubclass(kind, tuple):
            raise ReadError(f"{value['class']} is a tuple.")
        made = object.__new__(kind)
        state = {str(key): self.decode(item) for key, item in value["of"].items()}
        vars(made).update(_defaults(kind) | state)
        return made


def _class(name: str) -> type:
    kind = find_class(name)
    if kind is None or inspect.isabstract(kind):
        raise ReadError(
            f"the model holds an object of type {name!r}, which is not trusted. Expected a "
            "classifier of scumble.learn or a part of one."
        )
    return kind


def _defaults(kind: type) -> dict[str, Any]:
    """Parameters an estimator has got since the file was written."""
    if not issubclass(kind, BaseEstimator):
        return {}
    known = inspect.signature(kind).parameters.values()
    return {p.name: p.default for p in known if p.default is not inspect.Parameter.empty}


def _whole(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ReadError(f"a size or place is {value!r}. Expected a whole number from 0 on.")
    return value


# Which classes a file may name ------------------------------------------------------------------


def is_storable_class(kind: type) -> bool:
    """Tell whether a class is one of this package that a file may hold."""
    if not _OWN.fullmatch(kind.__module__):
        return False
    return find_class(f"{kind.__module__}.{kind.__qualname__}") is kind


def find_class(name: str) -> type | None:
    """Find one of this package's classes by its full name."""
    module, _, short = name.rpartition(".")
    if not _OWN.fullmatch(module):
        return None
    try:
        found: Any = getattr(import_module(module), short, None)
    except ImportError:
        return None
    defined_here = isinstance(found, type) and found.__module__ == module
    return found if defined_here else None


def check_trusted_types(found: list[str], trusted: tuple[str, ...]) -> list[str]:
    """Refuse the types skops does not trust, unless they are ours or the caller trusts them."""
    known = {*trusted, *CHECKED}
    unknown = [name for name in found if name not in known and find_class(name) is None]
    if unknown:
        raise ReadError(
            f"the model holds objects of types that are not trusted: {', '.join(unknown)}. Making "
            "them could run code of whoever wrote the file. If you know where it comes from, say "
            f"load(path, trusted={unknown!r})."
        )
    return found
