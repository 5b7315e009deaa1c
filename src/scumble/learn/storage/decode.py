"""Objects from the JSON values of a model file; whatever the file says, no code is run."""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from scumble._core.arrays import Array
from scumble._core.errors import ReadError
from scumble.learn.storage.classes import find_class
from scumble.learn.storage.encode import MARK

_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class Decoder:
    """Makes objects from JSON values."""

    def __init__(self, pools: dict[str, Array], foreign: list[Any]) -> None:
        self._pools = pools
        self._foreign = foreign

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
