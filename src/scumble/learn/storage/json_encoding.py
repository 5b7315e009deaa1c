"""Objects as JSON values, with their arrays stored separately; decoding runs no code of a file."""

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

#: The key of a JSON object that names the type of an encoded value that JSON has no type for.
MARK = "$"
#: The largest number of objects that an object is nested in. Deeper objects contain themselves, or
#: are not models.
MAX_DEPTH = 200
#: Modules whose classes may be stored. Decoding one of them runs none of its methods.
_STORABLE_MODULES = re.compile(
    r"scumble\.(learn|resample|_core\.neighbours|_validation\.features)(\.[A-Za-z_]\w*)*"
)
#: Types that skops does not trust, and that `check_model` checks after loading.
CHECKED = frozenset({"sklearn.tree._tree.Tree"})


class Encoder:
    """Encodes objects as JSON values.

    The numbers of arrays are collected by dtype, objects of other packages in a list for skops;
    the JSON values refer to them by position.
    """

    def __init__(self) -> None:
        self.third_party_objects: list[Any] = []
        self._chunks: dict[str, list[Array]] = {}  # flat arrays of numbers, by dtype
        self._sizes: dict[str, int] = {}  # number of elements in the chunks, by dtype
        # An array and the JSON value that refers to it, by the id of the array: each array is
        # stored once. The reference to the array keeps it alive, so that its id stays unique.
        self._encoded_arrays: dict[int, tuple[Array, Any]] = {}

    def arrays_by_dtype(self) -> dict[str, Array]:
        """Return the elements of all encoded arrays, in one flat array per dtype."""
        return {dtype: np.concatenate(self._chunks[dtype]) for dtype in sorted(self._chunks)}

    def encode(self, value: Any, depth: int = 0) -> Any:
        """Return an object as a JSON value; ``depth`` is the number of objects it is nested in."""
        if depth > MAX_DEPTH:
            raise ParameterError("The model holds itself, or is nested too deeply to be saved.")
        if value is None or isinstance(value, str | bool) or type(value) is int:
            return value
        if type(value) is float:
            if math.isfinite(value):
                return value
            return {MARK: "float", "is": repr(value)}
        if isinstance(value, np.generic) and value.dtype.kind in "biuf":
            return {MARK: "scalar", "of": self._encode_numbers(np.asarray(value))}
        if isinstance(value, np.ndarray) and type(value) is np.ndarray:
            return self._encode_array(value, depth)
        if isinstance(value, sparse.csr_array | sparse.csc_array):
            return self._encode_sparse(value)
        return self._encode_object(value, depth + 1)

    def _encode_object(self, value: Any, depth: int) -> Any:
        """Return the JSON value of a collection, an object of this package, or any other object."""
        cls = type(value)
        if cls is list:
            return [self.encode(item, depth) for item in value]
        if cls is tuple:
            return {MARK: "tuple", "of": [self.encode(item, depth) for item in value]}
        if cls is dict:
            pairs = [
                [self.encode(key, depth), self.encode(item, depth)] for key, item in value.items()
            ]
            return {MARK: "dict", "of": pairs}
        if is_storable_class(cls):
            return self._encode_storable(value, depth)
        return self._encode_third_party(value)

    def _encode_storable(self, value: Any, depth: int) -> Any:
        """Return the JSON value of an object of this package: its class name and attributes.

        A named tuple is stored as its items. Of a dataclass only the fields are stored, except of
        an estimator, where all attributes are.
        """
        cls = type(value)
        name = f"{cls.__module__}.{cls.__qualname__}"
        if isinstance(value, tuple):
            items = [self.encode(item, depth) for item in value]
            return {MARK: "named", "class": name, "of": items}
        attributes = vars(value)
        if is_dataclass(value) and not isinstance(value, BaseEstimator):
            # Only the fields: other attributes are cached results.
            attributes = {field.name: attributes[field.name] for field in fields(value)}
        encoded = {key: self.encode(item, depth) for key, item in attributes.items()}
        return {MARK: "object", "class": name, "of": encoded}

    def _encode_array(self, value: Array, depth: int) -> Any:
        """Return the JSON value of an array.

        Numbers are stored together, objects and texts one by one, other types by skops.
        """
        if value.dtype.kind in "biuf" and value.dtype.itemsize <= 8:
            return self._encode_numbers(value)
        if value.dtype.kind in "OUS":
            cells = [self.encode(cell, depth + 1) for cell in value.ravel().tolist()]
            dtype = value.dtype.str
            return {MARK: "cells", "type": dtype, "shape": list(value.shape), "of": cells}
        return self._encode_third_party(value)

    def _encode_sparse(self, value: Any) -> Any:
        """Return the JSON value of a CSR or CSC matrix."""
        parts = {
            name: self._encode_numbers(getattr(value, name))
            for name in ("indptr", "indices", "data")
        }
        return {MARK: "sparse", "as": value.format, "shape": list(value.shape), **parts}

    def _encode_third_party(self, value: Any) -> Any:
        """Append an object to `third_party_objects`; return a JSON value with its index."""
        self.third_party_objects.append(value)
        return {MARK: "foreign", "at": len(self.third_party_objects) - 1}

    def _encode_numbers(self, value: Array) -> Any:
        """Store the numbers of an array; return a JSON value with its dtype, start and shape.

        An array that was stored before is not stored again.
        """
        if id(value) in self._encoded_arrays:
            _, entry = self._encoded_arrays[id(value)]
            return entry
        dtype = value.dtype.name
        start = self._sizes.get(dtype, 0)
        flat = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<")).reshape(-1)
        self._chunks.setdefault(dtype, []).append(flat)
        self._sizes[dtype] = start + flat.size
        entry = {MARK: "array", "type": dtype, "at": start, "shape": list(value.shape)}
        self._encoded_arrays[id(value)] = (value, entry)
        return entry


#: The floats that JSON has no number for, by their text in Python.
_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class Decoder:
    """Decodes the JSON values that `Encoder` makes, with the arrays and objects they refer to.

    Values come from a file that anyone may have written: a value that `Encoder` does not make
    causes a `ReadError` or another error, but runs no code of the file.
    """

    def __init__(self, arrays_by_dtype: dict[str, Array], third_party_objects: list[Any]) -> None:
        self._arrays_by_dtype = arrays_by_dtype
        self._third_party_objects = third_party_objects
        self._decoders = {
            "float": self._decode_float,
            "scalar": self._decode_scalar,
            "tuple": self._decode_tuple,
            "dict": self._decode_dict,
            "foreign": self._decode_third_party,
            "array": self._decode_array,
            "cells": self._decode_cells,
            "sparse": self._decode_sparse,
            "named": self._decode_named_tuple,
            "object": self._decode_object,
        }

    def decode(self, value: Any) -> Any:
        """Return the object that a JSON value encodes."""
        if isinstance(value, list):
            return [self.decode(item) for item in value]
        if not isinstance(value, dict):
            return value
        mark = value.get(MARK)
        if not isinstance(mark, str) or mark not in self._decoders:
            raise ReadError(f"an entry is of the unknown kind {mark!r}.")
        return self._decoders[mark](value)

    def _decode_float(self, value: dict[str, Any]) -> float:
        """Return NaN or an infinity."""
        return _FLOATS[value["is"]]

    def _decode_scalar(self, value: dict[str, Any]) -> Any:
        """Return a NumPy scalar."""
        return self._decode_array(value["of"])[()]

    def _decode_tuple(self, value: dict[str, Any]) -> tuple[Any, ...]:
        """Return a tuple."""
        return tuple(self.decode(item) for item in value["of"])

    def _decode_dict(self, value: dict[str, Any]) -> dict[Any, Any]:
        """Return a dict, whose keys may be any encoded values."""
        return {self.decode(key): self.decode(item) for key, item in value["of"]}

    def _decode_third_party(self, value: dict[str, Any]) -> Any:
        """Return an object that skops has loaded."""
        return self._third_party_objects[_as_size(value["at"])]

    def _decode_array(self, value: dict[str, Any]) -> Array:
        """Return an array of numbers; raise a ReadError if the file has too few of them."""
        elements = self._arrays_by_dtype[value["type"]]
        shape = _as_shape(value["shape"])
        start = _as_size(value["at"])
        size = math.prod(shape)
        if start + size > len(elements):
            raise ReadError(f"an array of shape {shape} has too few numbers in the file.")
        return elements[start : start + size].reshape(shape).copy()

    def _decode_cells(self, value: dict[str, Any]) -> Array:
        """Return an array of objects or texts, encoded one by one."""
        dtype = np.dtype(value["type"])
        if dtype.kind not in "OUS":
            raise ReadError(f"an array of single cells is of type {dtype}.")
        cells = np.empty(len(value["of"]), dtype)
        for index, cell in enumerate(value["of"]):
            cells[index] = self.decode(cell)
        return cells.reshape(_as_shape(value["shape"]))

    def _decode_sparse(self, value: dict[str, Any]) -> Any:
        """Return a CSR or CSC matrix whose indices have been checked."""
        cls = {"csr": sparse.csr_array, "csc": sparse.csc_array}[value["as"]]
        parts = tuple(self._decode_array(value[name]) for name in ("data", "indices", "indptr"))
        matrix = cls(parts, shape=_as_shape(value["shape"]))
        matrix.check_format(full_check=True)  # kernels do not check indices again
        return matrix

    def _decode_named_tuple(self, value: dict[str, Any]) -> Any:
        """Return a NamedTuple of this package."""
        cls = _trusted_class(value["class"])
        if not issubclass(cls, tuple):
            raise ReadError(f"{value['class']} is not a tuple.")
        return tuple.__new__(cls, [self.decode(item) for item in value["of"]])

    def _decode_object(self, value: dict[str, Any]) -> Any:
        """Return an object of this package, made without a call of its ``__init__``.

        Parameters of an estimator that the file lacks get their default values.
        """
        cls = _trusted_class(value["class"])
        if issubclass(cls, tuple):
            raise ReadError(f"{value['class']} is a tuple.")
        decoded = object.__new__(cls)
        attributes = {str(key): self.decode(item) for key, item in value["of"].items()}
        vars(decoded).update(_default_parameters(cls) | attributes)
        return decoded


def _default_parameters(cls: type) -> dict[str, Any]:
    """Return the default values of an estimator's parameters by name; none for other classes."""
    if not issubclass(cls, BaseEstimator):
        return {}
    parameters = inspect.signature(cls).parameters.values()
    return {
        parameter.name: parameter.default
        for parameter in parameters
        if parameter.default is not inspect.Parameter.empty
    }


def _as_shape(values: Any) -> tuple[int, ...]:
    """Return a list of sizes as a tuple; raise a ReadError for any other than integers >= 0."""
    return tuple(_as_size(value) for value in values)


def _as_size(value: Any) -> int:
    """Return a size or index; raise a ReadError unless it is an integer >= 0."""
    if type(value) is not int or value < 0:
        raise ReadError(f"a size or index is {value!r}. Expected an integer >= 0.")
    return value


# Classes that a file may name ---------------------------------------------------------------------


def _trusted_class(name: str) -> type:
    """Return a storable class by its full name; raise a ReadError for any other name."""
    cls = find_class(name)
    if cls is None or inspect.isabstract(cls):
        raise ReadError(
            f"the model holds an object of type {name!r}, which is not trusted. Expected a "
            "classifier of scumble.learn or a part of one."
        )
    return cls


def is_storable_class(cls: type) -> bool:
    """Return whether a class belongs to the modules whose objects can be stored in a file."""
    if not _STORABLE_MODULES.fullmatch(cls.__module__):
        return False
    return find_class(f"{cls.__module__}.{cls.__qualname__}") is cls


def find_class(name: str) -> type | None:
    """Return a storable class by its full name; None if no storable module defines it."""
    module, _, class_name = name.rpartition(".")
    if not _STORABLE_MODULES.fullmatch(module):
        return None
    try:
        cls: Any = getattr(import_module(module), class_name, None)
    except ImportError:
        return None
    is_defined_there = isinstance(cls, type) and cls.__module__ == module
    return cls if is_defined_there else None


def check_trusted_types(names: list[str], trusted: tuple[str, ...]) -> list[str]:
    """Return ``names`` if all of them are trusted; raise a ReadError otherwise.

    ``names`` are full names of types that skops does not trust by itself. Trusted are the names in
    ``trusted``, which the caller of `load` passed, storable classes, and `CHECKED`.
    """
    allowed = {*trusted, *CHECKED}
    untrusted = [name for name in names if name not in allowed and find_class(name) is None]
    if untrusted:
        raise ReadError(
            "the model holds objects of types that are not trusted: "
            f"{', '.join(untrusted)}. Making them could run code of whoever wrote the file. If "
            f"you know where it comes from, call load(path, trusted={untrusted!r})."
        )
    return names
