"""Objects as JSON values, with their arrays set aside."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from scipy import sparse

from scumble._core.arrays import Array
from scumble._core.errors import ParameterError
from scumble.learn.storage.classes import is_own

#: The key that marks what JSON has no word for.
MARK = "$"
#: Objects within objects: deeper ones hold themselves, or are no model.
MAX_DEPTH = 200


class Encoder:
    """Turns objects into JSON values; those of other packages are kept for skops."""

    def __init__(self) -> None:
        self.foreign: list[Any] = []
        self._pools: dict[str, list[Array]] = {}
        self._sizes: dict[str, int] = {}
        self._known: dict[int, tuple[Array, Any]] = {}  # the array is kept alive with its entry

    def pools(self) -> dict[str, Array]:
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
        if is_own(kind):
            return self._encode_own(value, depth)
        self.foreign.append(value)
        return {MARK: "foreign", "at": len(self.foreign) - 1}

    def _encode_own(self, value: Any, depth: int) -> Any:
        kind = type(value)
        name = f"{kind.__module__}.{kind.__qualname__}"
        if isinstance(value, tuple):
            return {MARK: "named", "class": name, "of": [self.encode(v, depth) for v in value]}
        state = vars(value)
        if is_dataclass(value):  # without what was computed from the fields
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
        self.foreign.append(value)
        return {MARK: "foreign", "at": len(self.foreign) - 1}

    def _encode_sparse(self, value: Any) -> Any:
        parts = {part: self._array(getattr(value, part)) for part in ("indptr", "indices", "data")}
        return {MARK: "sparse", "as": value.format, "shape": list(value.shape), **parts}

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
