"""Requests and responses of the API; this module needs no web library."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")


class RequestError(Exception):
    """The request cannot be processed; the client may read the reason."""

    def __init__(self, message: str, status: int = 422) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class ApiRequest:
    """A request to the API.

    Attributes
    ----------
    path : mapping of str to str
        The variable parts of the path.
    query : mapping of str to str
        The parameters after the question mark.
    body : bytes
        The body of a POST request; the server limits its size.
    """

    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    def json(self) -> dict[str, Any]:
        """Return the body as a JSON object; an empty body is an empty object."""
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
        """Return an integer parameter of the query."""
        text = self.query.get(name, str(default))
        # Very long numbers are slow to convert; `isdecimal` alone accepts digits of all scripts.
        is_short_number = text.isascii() and text.isdecimal() and len(text) <= 12
        if not is_short_number or not minimum <= int(text) <= maximum:
            raise RequestError(f"{name!r} must be a whole number from {minimum} to {maximum}.")
        return int(text)

    def get_query_choice(self, name: str, choices: tuple[str, ...], default: str) -> str:
        """Return a parameter of the query that must be one of several words."""
        text = self.query.get(name, default)
        if text not in choices:
            raise RequestError(f"{name!r} must be one of {', '.join(choices)}.")
        return text


@dataclass(frozen=True)
class ApiResponse:
    """A response of the API that is more than status 200 with JSON.

    Attributes
    ----------
    content : object
        Values for JSON, a table as CSV, the path of a file, or None.
    status : int
        The HTTP status.
    filename : str or None
        The name under which a browser saves the content.
    """

    content: Any
    status: int = 200
    filename: str | None = None


class ItemsById(Generic[Item]):
    """Items by their ids, with the message for ids that do not exist."""

    def __init__(self, not_found_message: str) -> None:
        self._not_found_message = not_found_message
        self._items: dict[str, Item] = {}

    def get(self, item_id: str) -> Item:
        """Return an item; raise a `RequestError` if it does not exist."""
        if item_id not in self._items:
            raise RequestError(self._not_found_message, 404)
        return self._items[item_id]
