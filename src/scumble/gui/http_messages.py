"""Calls and answers of the API, free of any web library."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

Thing = TypeVar("Thing")


class RequestError(Exception):
    """The call cannot be answered; the client may read why."""

    def __init__(self, message: str, status: int = 422) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class ApiRequest:
    """What a client asked.

    Attributes
    ----------
    path : mapping of str to str
        Parts of the address.
    query : mapping of str to str
        What follows the question mark.
    body : bytes
        Of a POST request, bounded.
    """

    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    def json(self) -> dict[str, Any]:
        """Read the body as a JSON object."""
        if not self.body:
            return {}
        try:
            value = json.loads(self.body)
        except (ValueError, RecursionError):
            raise RequestError("The body is not JSON.", 400) from None
        if not isinstance(value, dict):
            raise RequestError("The body must be a JSON object.", 400)
        return value

    def get_query_int(
        self, name: str, default: int, *, minimum: int = 0, maximum: int = 10**9
    ) -> int:
        """Read a whole number of the query."""
        text = self.query.get(name, str(default))
        is_short = text.isascii() and text.isdecimal() and len(text) <= 12
        if not is_short or not minimum <= int(text) <= maximum:
            raise RequestError(f"{name!r} must be a whole number from {minimum} to {maximum}.")
        return int(text)

    def get_query_choice(self, name: str, choices: tuple[str, ...], default: str) -> str:
        """Read a word of the query."""
        text = self.query.get(name, default)
        if text not in choices:
            raise RequestError(f"{name!r} must be one of {', '.join(choices)}.")
        return text


@dataclass(frozen=True)
class ApiResponse:
    """What the API answers, other than a plain 200 with JSON.

    Attributes
    ----------
    content : object
        Values for JSON, a table as CSV, the path of a file, or None.
    status : int
        The HTTP status.
    filename : str or None
        Name under which a browser saves it.
    """

    content: Any
    status: int = 200
    filename: str | None = None


class ItemsById(Generic[Thing]):
    """Things by name, and what is said of those that are not there."""

    def __init__(self, gone: str) -> None:
        self._gone = gone
        self._items: dict[str, Thing] = {}

    def get(self, name: str) -> Thing:
        """Find one of them."""
        if name not in self._items:
            raise RequestError(self._gone, 404)
        return self._items[name]
