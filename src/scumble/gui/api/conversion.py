"""Check requests: turn a JSON body or a query into the dataclass that a route declares.

The types of the fields say what is allowed. ``Annotated`` adds to a type a `Range`, a `Length`, an
`ErrorMessage` or, as a plain string, a description for the OpenAPI document. The types are str,
int, float, bool, None, ``Literal``, lists, dicts with text keys, dataclasses and unions of these.

Fields that a dataclass does not declare are ignored, unless it has an ``_unknown_field_message``.
"""

import json
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from scumble.gui.http_messages import RequestError

Record = TypeVar("Record")

#: Maximum digits of an integer in a query; very long numbers are slow to convert.
MAX_DIGITS = 12


@dataclass(frozen=True)
class Range:
    """The limits of a number; both are allowed values unless ``excludes_minimum`` is true."""

    minimum: float
    maximum: float
    excludes_minimum: bool = False

    def allows(self, value: float) -> bool:
        """Return whether a number is within the limits."""
        if self.excludes_minimum and value == self.minimum:
            return False
        return self.minimum <= value <= self.maximum


@dataclass(frozen=True)
class Length:
    """The minimum and maximum number of items of a list, or of characters of a text."""

    minimum: int
    maximum: int

    def allows(self, value: Any) -> bool:
        """Return whether a list or text has an allowed length."""
        return self.minimum <= len(value) <= self.maximum


@dataclass(frozen=True)
class ErrorMessage:
    """The message for a value that is not allowed; ``{name}`` stands for the name of the field."""

    text: str


class ValueNotAllowedError(Exception):
    """A value has not the type of its field; the text completes "'x' must be ..."."""


def convert_body(body: bytes, record_type: type[Record]) -> Record:
    """Return the JSON object of a body as a dataclass; an empty body is an empty object.

    Examples
    --------
    >>> from scumble.gui.api.bodies import ComparisonBody
    >>> from scumble.gui.api.conversion import convert_body
    >>> convert_body(b'{"classifiers": [{"classifier": "br"}]}', ComparisonBody).folds
    5
    >>> convert_body(b'{"classifiers": [{"classifier": 1}]}', ComparisonBody)
    Traceback (most recent call last):
    ...
    scumble.gui.http_messages.RequestError: Each item must have a 'classifier' and may have
    'parameters'.
    """
    values: Any = {}
    if body:
        try:
            values = json.loads(body, parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            raise RequestError("The body is not JSON.", 400) from None
    if not isinstance(values, dict):
        raise RequestError("The body must be a JSON object.", 400)
    return _convert_record(values, record_type)


def _refuse_constant(text: str) -> Any:
    """Raise a ValueError for NaN and infinities, which Python reads but JSON does not have."""
    raise ValueError(text)


def convert_query(query: Mapping[str, str], record_type: type[Record]) -> Record:
    """Return the parameters of a query as a dataclass; unknown ones are ignored.

    Examples
    --------
    >>> from scumble.gui.api.conversion import convert_query
    >>> from scumble.gui.api.queries import WaitQuery
    >>> convert_query({"wait": "30"}, WaitQuery)
    WaitQuery(wait=30)
    >>> convert_query({"wait": "31"}, WaitQuery)
    Traceback (most recent call last):
    ...
    scumble.gui.http_messages.RequestError: 'wait' must be a whole number from 0 to 30.
    """
    hints = field_types(record_type)  # type: ignore[arg-type]  # a class is hashable
    values = {
        name: _parse_integer(text) if accepts(0, hints[name]) else text
        for name, text in query.items()
        if name in hints
    }
    return _convert_record(values, record_type)


def check_range(name: str, value: int, limits: Range) -> None:
    """Raise a `RequestError` if an integer is outside limits that depend on the data set."""
    if not limits.allows(value):
        raise RequestError(f"{name!r} must be {_describe_limits(int, limits)}.")


@cache
def field_types(record_type: type) -> dict[str, Any]:
    """Return the types of the fields of a dataclass or TypedDict, with their annotations."""
    hints = get_type_hints(record_type, include_extras=True)
    return {name: hint for name, hint in hints.items() if not name.startswith("_")}


def default_of(field: Field[Any]) -> Any:
    """Return the default of a field of a dataclass; `dataclasses.MISSING` if it is required."""
    if field.default_factory is not MISSING:
        return field.default_factory()
    return field.default


def split_annotated(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return a type without its annotations, and the annotations."""
    if get_origin(hint) is Annotated:
        inner, *annotations = get_args(hint)
        return inner, tuple(annotations)
    return hint, ()


def is_union(hint: Any) -> bool:
    """Return whether a type is a union such as ``int | None``."""
    return get_origin(hint) in (Union, UnionType)


def _convert_record(values: dict[str, Any], record_type: type[Record]) -> Record:
    """Return a JSON object as a dataclass; raise a `RequestError` if a field is wrong or missing.

    Unknown fields are ignored, unless the class has a message ``_unknown_field_message`` for them.
    """
    hints = field_types(record_type)  # type: ignore[arg-type]  # a class is hashable
    unknown_message = getattr(record_type, "_unknown_field_message", None)
    for name in values:
        if name not in hints and unknown_message is not None:
            raise RequestError(unknown_message.format(name=repr(name)))
    arguments = {}
    for field in fields(record_type):  # type: ignore[arg-type]  # always a dataclass
        hint = hints[field.name]
        if field.name in values:
            arguments[field.name] = _convert_field(field.name, values[field.name], hint)
        elif default_of(field) is MISSING:
            arguments[field.name] = _convert_field(field.name, None, hint)  # None is an error
    return record_type(**arguments)


def _convert_field(name: str, value: Any, hint: Any) -> Any:
    """Return the value of a field; a wrong one raises a `RequestError` that names the field."""
    try:
        return _convert(value, hint, name)
    except ValueNotAllowedError as error:
        raise RequestError(f"{name!r} must be {error}.") from None


def _convert(value: Any, hint: Any, name: str) -> Any:
    """Return a JSON value as a type.

    A wrong value raises a `RequestError` with the `ErrorMessage` of its type, or a
    `ValueNotAllowedError` if there is none; the type around it may have one.
    """
    inner, annotations = split_annotated(hint)
    try:
        if not accepts(value, inner):
            raise ValueNotAllowedError(_describe(inner, annotations))
        converted = _convert_items(value, inner, name)
        _check_limits(converted, inner, annotations)
    except ValueNotAllowedError:
        for annotation in annotations:
            if isinstance(annotation, ErrorMessage):
                raise RequestError(annotation.text.format(name=repr(name))) from None
        raise
    return converted


def _convert_items(value: Any, hint: Any, name: str) -> Any:
    """Return a JSON value, which has a type without annotations, with its items converted."""
    if is_union(hint):
        member = next(member for member in get_args(hint) if accepts(value, member))
        return _convert(value, member, name)
    if get_origin(hint) is list:
        [item_hint] = get_args(hint)
        return [_convert(item, item_hint, name) for item in value]
    if get_origin(hint) is dict:
        _, value_hint = get_args(hint)
        return {key: _convert(item, value_hint, name) for key, item in value.items()}
    if is_dataclass(hint):
        return _convert_record(value, cast(type[Any], hint))
    return value


def _check_limits(value: Any, hint: Any, annotations: tuple[Any, ...]) -> None:
    """Raise a `ValueNotAllowedError` if a value is outside the limits in its annotations."""
    for annotation in annotations:
        if isinstance(annotation, Range | Length) and value is not None:
            if not annotation.allows(value):
                raise ValueNotAllowedError(_describe_limits(hint, annotation))


def accepts(value: Any, hint: Any) -> bool:
    """Return whether a JSON value has a type, without regard to its items and to limits."""
    inner, _ = split_annotated(hint)
    if inner is Any:
        return True
    if is_union(inner):
        return any(accepts(value, member) for member in get_args(inner))
    origin = get_origin(inner)
    if origin is Literal:
        return value in get_args(inner)
    if origin in (list, dict):
        return isinstance(value, origin)
    if inner is float:
        return type(value) in (int, float)  # exactly: true and false are not numbers
    if inner in (str, int, bool, NoneType):
        return type(value) is inner
    return isinstance(value, dict)  # a dataclass


def _parse_integer(text: str) -> int | str:
    """Return the integer of a query, or the text itself if it is not one."""
    # `isdecimal` alone accepts digits of all scripts.
    is_short_number = text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS
    return int(text) if is_short_number else text


def _describe(hint: Any, annotations: tuple[Any, ...]) -> str:
    """Return which values a type allows."""
    if is_union(hint):
        members = [member for member in get_args(hint) if member is not NoneType]
        return " or ".join(_describe(split_annotated(member)[0], annotations) for member in members)
    if get_origin(hint) is Literal:
        return f"one of {', '.join(map(str, get_args(hint)))}"
    for annotation in annotations:
        if isinstance(annotation, Range) and hint is int:
            return _describe_limits(hint, annotation)
    return _TYPE_DESCRIPTIONS.get(get_origin(hint) or hint, "an object")


def _describe_limits(hint: Any, limits: Range | Length) -> str:
    """Return which numbers or lengths are within limits."""
    interval = f"{limits.minimum:,} to {limits.maximum:,}"
    if isinstance(limits, Length):
        return f"of length {interval}"
    members = get_args(hint) if is_union(hint) else (hint,)
    if int in members:
        return f"a whole number from {interval}"
    return f"between {limits.minimum:,} and {limits.maximum:,}"


_TYPE_DESCRIPTIONS: dict[Any, str] = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    NoneType: "null",
    list: "a list",
    dict: "an object",
}
