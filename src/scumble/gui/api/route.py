"""The record of a route: an address of the API with its handler, its input and its output."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Route:
    """An address of the API.

    Attributes
    ----------
    method : str
        The HTTP method.
    path : str
        The path, with the names of its variable parts in braces.
    handler : callable or None
        Gets the state of the server and, by name, the variable parts of the path, the ``body`` and
        the ``query``. Coroutines run in the event loop and are fast; plain functions compute and
        run in a thread. None for uploads, whose body the server receives as a stream.
    summary : str
        What a request does.
    response : type or None
        The type of the JSON response.
    body : type or None
        The dataclass of the JSON body; bytes for a file.
    query : type or None
        The dataclass of the query.
    result : type or None
        The type of the result of the job that is the response.
    status : int
        The status of a response that is not an error.
    description : str
        Further explanation.
    media_type : str
        The type of the content of the response.
    further_errors : tuple of int
        Statuses of errors besides those that follow from the path, the body and the query.
    """

    method: str
    path: str
    handler: Callable[..., Any] | None
    summary: str
    response: Any = None
    body: Any = None
    query: Any = None
    result: Any = None
    status: int = 200
    description: str = ""
    media_type: str = "application/json"
    further_errors: tuple[int, ...] = ()

    @property
    def path_variables(self) -> list[str]:
        """Names of the variable parts of the path."""
        return re.findall(r"{(\w+)}", self.path)

    @property
    def error_statuses(self) -> list[int]:
        """Statuses of the errors that a request may cause."""
        statuses = set(self.further_errors)
        if self.path_variables:
            statuses.add(404)
        if self.body is not None:
            statuses |= {400, 413, 422}
        if self.query is not None:
            statuses.add(422)
        return sorted(statuses)
