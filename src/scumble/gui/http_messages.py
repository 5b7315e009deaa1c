"""Responses and errors of the API; this module needs no web library."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")


class RequestError(Exception):
    """The request cannot be processed; the client may read the reason."""

    def __init__(self, message: str, status: int = 422) -> None:
        super().__init__(message)
        self.status = status


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
