"""The OpenAPI document of the API, generated from the table of routes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import MISSING, fields, is_dataclass
from types import NoneType
from typing import Any, Literal, NotRequired, get_args, get_origin, is_typeddict

from scumble.gui.api.conversion import (
    Length,
    Range,
    default_of,
    field_types,
    is_union,
    split_annotated,
)
from scumble.gui.api.responses import FURTHER_VALUES, Error, JobDescription
from scumble.gui.api.route import Route
from scumble.gui.guard import DOWNLOAD_TOKEN_PARAMETER

Schema = dict[str, Any]

DESCRIPTION = (
    "The API of the page of `scumble gui`. The server listens on this machine only, unless another "
    "address was specified. Send the token that the command prints as `Authorization: Bearer "
    "TOKEN`; a browser that saves a file cannot send it, see `/tickets`. Requests to other host "
    "names (421), from other origins (403), and without the token (401) are refused. NaN is null. "
    "Long work is a job: request it until its state is done, failed or cancelled."
)
PATH_VARIABLES = {
    "dataset": "Id of the data set.",
    "upload": "Id of the upload.",
    "model": "Id of the model.",
    "job": "Id of the job.",
    "file": "Id of the file, from the result of a job.",
    "label": "Index of the label, from 0.",
    "feature": "Index of the feature, from 0.",
    "example": "debtags or synthetic.",
    "name": "Name of the data set.",
}
STATUS_DESCRIPTIONS = {
    200: "The response.",
    201: "The file is available.",
    202: "The job has been submitted.",
    204: "It has been removed.",
    400: "The body is not a JSON object.",
    404: "It does not exist, or no longer.",
    408: "The client stopped sending.",
    409: "The state of the server does not allow this.",
    413: "The body is too large.",
    422: "A value is not allowed; the message says which values are.",
    503: "The server is busy.",
    507: "The disk is full.",
}
JSON_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}


def make_openapi(routes: Sequence[Route]) -> dict[str, Any]:
    """Return the OpenAPI document of routes."""
    builder = SchemaBuilder()
    paths: dict[str, Any] = {}
    for route in routes:
        operations = paths.setdefault(route.path, {})
        operations[route.method.lower()] = _describe_route(route, builder)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "scumble",
            "version": "1",
            "description": DESCRIPTION,
            "license": {"name": "BSD-3-Clause"},
        },
        "servers": [{"url": "/api/v1"}],
        "security": [{"token": []}, {"ticket": []}],
        "paths": paths,
        "components": {
            "schemas": builder.schemas,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "ticket": {"type": "apiKey", "in": "query", "name": DOWNLOAD_TOKEN_PARAMETER},
            },
        },
    }


def _describe_route(route: Route, builder: SchemaBuilder) -> dict[str, Any]:
    """Return the OpenAPI description of a route."""
    operation: dict[str, Any] = {"summary": route.summary}
    if route.description:
        operation["description"] = route.description
    parameters = [*_path_parameters(route), *_query_parameters(route, builder)]
    if parameters:
        operation["parameters"] = parameters
    if route.body is bytes:
        operation["requestBody"] = {"required": True, "content": _binary_content()}
    elif route.body is not None:
        content = {"application/json": {"schema": builder.schema(route.body)}}
        operation["requestBody"] = {"required": _has_required_field(route.body), "content": content}
    responses = {str(route.status): _success_response(route, builder)}
    for status in route.error_statuses:
        content = {"application/json": {"schema": builder.schema(Error)}}
        responses[str(status)] = {"description": STATUS_DESCRIPTIONS[status], "content": content}
    operation["responses"] = responses
    return operation


def _path_parameters(route: Route) -> list[dict[str, Any]]:
    """Return the descriptions of the variable parts of a path."""
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "description": PATH_VARIABLES[name],
            "schema": {"type": "string"},
        }
        for name in route.path_variables
    ]


def _query_parameters(route: Route, builder: SchemaBuilder) -> list[dict[str, Any]]:
    """Return the descriptions of the parameters after the question mark; none is required."""
    if route.query is None:
        return []
    parameters = []
    for name, schema in builder.properties(route.query).items():
        description = schema.pop("description")
        # A parameter that has no value is left out: there is no null in a query.
        schema["type"] = "integer" if "integer" in schema["type"] else "string"
        if "enum" in schema:
            schema["enum"] = [value for value in schema["enum"] if value is not None]
        parameters.append(
            {
                "name": name,
                "in": "query",
                "required": False,
                "description": description,
                "schema": schema,
            }
        )
    return parameters


def _success_response(route: Route, builder: SchemaBuilder) -> dict[str, Any]:
    """Return the description of the response to a request that is not refused."""
    response: dict[str, Any] = {"description": STATUS_DESCRIPTIONS[route.status]}
    if route.media_type == "text/csv":
        response["content"] = {"text/csv": {"schema": {"type": "string"}}}
    elif route.media_type == "application/octet-stream":
        response["content"] = _binary_content()
    elif route.result is not None:
        result = {"anyOf": [builder.schema(route.result), {"type": "null"}]}
        job = builder.schema(JobDescription)
        schema = {"allOf": [job, {"type": "object", "properties": {"result": result}}]}
        response["content"] = {"application/json": {"schema": schema}}
    elif route.response is not None:
        response["content"] = {"application/json": {"schema": builder.schema(route.response)}}
    return response


def _binary_content() -> dict[str, Any]:
    """Return the OpenAPI ``content`` object of a binary body (application/octet-stream)."""
    return {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}


def _has_required_field(record_type: type) -> bool:
    """Return whether a field of a dataclass has no default."""
    return any(default_of(field) is MISSING for field in fields(record_type))


class SchemaBuilder:
    """Makes JSON schemas of types.

    Attributes
    ----------
    schemas : dict of str to dict
        The schemas of the dataclasses and typed dictionaries, by name; others refer to them.
    """

    def __init__(self) -> None:
        self.schemas: dict[str, Schema] = {}

    def schema(self, hint: Any) -> Schema:
        """Return the schema of a type."""
        inner, annotations = split_annotated(hint)
        schema = self._schema_without_annotations(inner)
        for annotation in annotations:
            if isinstance(annotation, str):
                schema["description"] = annotation
            elif isinstance(annotation, Range):
                schema.update(_range_schema(annotation))
            elif isinstance(annotation, Length):
                unit = "Length" if inner is str else "Items"
                schema[f"min{unit}"] = annotation.minimum
                schema[f"max{unit}"] = annotation.maximum
        return schema

    def properties(self, record_type: Any) -> dict[str, Schema]:
        """Return the schemas of the fields of a dataclass or typed dictionary, with their defaults.

        A default of None is left out.
        """
        properties = {
            name: self.schema(_without_not_required(hint))
            for name, hint in field_types(record_type).items()
        }
        if is_dataclass(record_type):
            for field in fields(record_type):
                default = default_of(field)
                if default is not MISSING and default is not None:
                    properties[field.name]["default"] = default
        return properties

    def _schema_without_annotations(self, hint: Any) -> Schema:
        """Return the schema of a type that is not ``Annotated``."""
        origin = get_origin(hint)
        if hint is Any:
            return {}
        if hint in JSON_TYPES:
            return {"type": JSON_TYPES[hint]}
        if origin is Literal:
            values = list(get_args(hint))
            return {"type": "string", "enum": values}
        if is_union(hint):
            return self._union_schema(get_args(hint))
        if origin is list:
            [item_hint] = get_args(hint)
            return {"type": "array", "items": self.schema(item_hint)}
        if origin is dict:
            _, value_hint = get_args(hint)
            values_schema = self.schema(value_hint)
            if not values_schema:
                return {"type": "object"}
            return {"type": "object", "additionalProperties": values_schema}
        return self._reference(hint)

    def _union_schema(self, members: Sequence[Any]) -> Schema:
        """Return the schema of a union: a list of types if they are plain, else alternatives."""
        schemas = [self.schema(member) for member in members]
        if all(set(schema) == {"type"} for schema in schemas):
            return {"type": [schema["type"] for schema in schemas]}
        is_choice = all(set(schema) <= {"type", "enum"} for schema in schemas)
        if is_choice and "enum" in schemas[0] and schemas[1:] == [{"type": "null"}]:
            return {"type": ["string", "null"], "enum": [*schemas[0]["enum"], None]}
        return {"anyOf": schemas}

    def _reference(self, record_type: Any) -> Schema:
        """Return a reference to the schema of a dataclass or typed dictionary."""
        name = record_type.__name__
        if name not in self.schemas:
            self.schemas[name] = {}  # it may refer to itself
            self.schemas[name] = self._record_schema(record_type)
        return {"$ref": f"#/components/schemas/{name}"}

    def _record_schema(self, record_type: Any) -> Schema:
        """Return the schema of a dataclass or typed dictionary."""
        schema: Schema = {"type": "object", "properties": self.properties(record_type)}
        if is_typeddict(record_type):
            schema["required"] = sorted(record_type.__required_keys__)
            schema["additionalProperties"] = False
            if record_type in FURTHER_VALUES:
                schema["additionalProperties"] = self.schema(FURTHER_VALUES[record_type])
        else:
            required = [f.name for f in fields(record_type) if default_of(f) is MISSING]
            schema["required"] = required
            if hasattr(record_type, "_unknown_field_message"):
                schema["additionalProperties"] = False
        if record_type.__doc__:
            schema["description"] = re.sub(r"\s+", " ", record_type.__doc__).strip()
        return schema


def _without_not_required(hint: Any) -> Any:
    """Return the type of a key that need not be present."""
    return get_args(hint)[0] if get_origin(hint) is NotRequired else hint


def _range_schema(limits: Range) -> Schema:
    """Return the limits of a number as keywords of a schema."""
    minimum = "exclusiveMinimum" if limits.excludes_minimum else "minimum"
    return {minimum: limits.minimum, "maximum": limits.maximum}
