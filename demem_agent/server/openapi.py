"""The OpenAPI 3.1 document, written from the endpoints, what they take and what they give."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import demem_agent
from demem_agent.server.endpoints import Endpoint
from demem_agent.server.receiving import TAGS
from demem_agent.wire.problems import MEDIA_TYPE, PROBLEMS
from demem_agent.wire.values import schemas

__all__ = ["document"]

Json = dict[str, Any]

_TEMPLATE = "#/components/schemas/{name}"
_JSON = "application/json"
_LINES = "application/x-ndjson"
_EVENTS = "text/event-stream"
#: An idempotency key as it may be written: printable, without quotes round it.
_TOKEN = "[!#-~]+"
_PLACE = re.compile(r"\{(\w+)\}")
_PLACES: dict[str, Json] = {
    "memory": {"type": "string", "minLength": 1, "maxLength": 1000},
    "item": {"type": "string", "minLength": 1},
    "id": {"type": "string", "minLength": 1},
    "slot": {"type": "integer", "minimum": 0, "maximum": 999_999_999},
}
_WHAT = {
    "memory": "The id of the memory; a slash in it is written %2F.",
    "item": "The id of the item, such as e1.",
    "id": "The id.",
    "slot": "The number of the slot.",
}
_TAG = {"description": "The version of the memory.", "schema": {"type": "string"}}
#: What any request may come to, and what one with a body, a memory or a key may.
_ANY = ("malformed", "cross-origin", "misdirected", "fault")
_WITH_BODY = ("too-slow", "too-large", "not-json")
_WITH_MEMORY = ("not-found", "memory-gone")
_WITH_KEY = ("unauthorised", "forbidden", "too-often")
_WITH_LANE = ("busy", "timed-out", "store-failed", "invalid-input")
_CHANGING = ("memory-full", "encoder-mismatch", "exists", "in-flight", "changed")
_HELPED = ("collaborator-failed",)


def document(endpoints: Iterable[Endpoint]) -> Json:
    """Return the document."""
    rows = list(endpoints)
    kinds = _kinds(rows)
    refs, parts = schemas(kinds, _TEMPLATE)
    of = dict(zip(map(repr, kinds), refs, strict=True))
    paths: dict[str, Json] = {}
    for row in rows:
        paths.setdefault(row.path, {})[row.method.lower()] = _operation(row, of, parts)
    paths["/openapi.json"] = {"get": _own_operation()}
    return {
        "openapi": "3.1.0",
        "info": _INFO,
        "paths": paths,
        "components": {
            "schemas": {**parts, "Problem": _problem()},
            "responses": {"Problem": _failure()},
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"key": []}],
    }


_INFO: Json = {
    "title": "DeMem",
    "version": demem_agent.__version__,
    "summary": "Agent memory in K bounded slots, over HTTP.",
    "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
}


def _kinds(rows: Iterable[Endpoint]) -> list[Any]:
    """Return every kind that an endpoint takes or gives, each once."""
    found: dict[str, Any] = {}
    for row in rows:
        for kind in (row.body, row.gives, row.query):
            if kind is not None:
                found[repr(kind)] = kind
    return list(found.values())


def _operation(row: Endpoint, of: dict[str, Json], parts: dict[str, Json]) -> Json:
    made: Json = {
        "operationId": row.name,
        "summary": row.says,
        "tags": [row.room],
        "parameters": _parameters(row, of, parts),
        "responses": _responses(row, of),
    }
    if row.scopes:
        needs = " or ".join(sorted(row.scopes))
        made["description"] = f"Needs a key with the scope {needs}."
    else:
        made["security"] = []
    if row.body is not None:
        content = {_JSON: {"schema": of[repr(row.body)]}}
        made["requestBody"] = {"required": _has_required(row, of, parts), "content": content}
    if row.lines:
        content = {_LINES: {"schema": {"type": "string"}}}
        made["requestBody"] = {"required": True, "content": content}
    return made


def _has_required(row: Endpoint, of: dict[str, Json], parts: dict[str, Json]) -> bool:
    name = of[repr(row.body)]["$ref"].rpartition("/")[2]
    return bool(parts[name].get("required"))


def _parameters(row: Endpoint, of: dict[str, Json], parts: dict[str, Json]) -> list[Json]:
    made = [_in_path(name) for name in _PLACE.findall(row.path)]
    name = of[repr(row.query)]["$ref"].rpartition("/")[2]
    for written, schema in parts[name].get("properties", {}).items():
        made.append({"name": written, "in": "query", "required": False, "schema": _some(schema)})
    if row.keeps == "ledger":
        says = "The same key, the same request: done once."
        made.append(_in_header("Idempotency-Key", says, _TOKEN))
    if row.streams:
        says = "The id of the last event that was seen."
        made.append(_in_header("Last-Event-ID", says, "[0-9]+"))
    if row.of_a_memory and row.changes:
        made.append(_in_header("If-Match", "Change this version of the memory alone.", TAGS))
    elif row.of_a_memory and row.tagged and row.method == "GET":
        says = "Answer 304 if the memory is of this version."
        made.append(_in_header("If-None-Match", says, TAGS))
    return made


def _some(schema: Json) -> Json:
    """Return the schema of a parameter that is there: what is left out is not null."""
    parts = [part for part in schema.get("anyOf", ()) if part != {"type": "null"}]
    made = parts[0] if len(parts) == 1 else {k: v for k, v in schema.items() if k != "default"}
    return {**made, "default": schema["default"]} if schema.get("default") is not None else made


def _in_path(name: str) -> Json:
    return {
        "name": name,
        "in": "path",
        "required": True,
        "description": _WHAT[name],
        "schema": _PLACES[name],
    }


def _in_header(name: str, says: str, pattern: str) -> Json:
    schema = {"type": "string", "minLength": 1, "maxLength": 200, "pattern": f"^{pattern}$"}
    return {"name": name, "in": "header", "required": False, "description": says, "schema": schema}


def _responses(row: Endpoint, of: dict[str, Json]) -> Json:
    usual: Json = {"description": row.says}
    if row.gives is not None:
        usual["content"] = {_JSON: {"schema": of[repr(row.gives)]}}
    elif row.streams:
        usual["content"] = {_EVENTS: {"schema": {"type": "string"}}}
    elif row.text:
        usual["content"] = {"text/plain": {"schema": {"type": "string"}}}
    elif row.status != 204:
        usual["content"] = {_LINES: {"schema": {"type": "string"}}}
    if row.of_a_memory and row.tagged:
        usual["headers"] = {"ETag": _TAG}
    made = {str(row.status): usual}
    if row.name == "put_memory":
        made["201"] = {**usual, "description": "The memory was made."}
    if row.of_a_memory and row.tagged and row.method == "GET":
        made["304"] = {"description": "The memory is of the version that If-None-Match names."}
    return {**made, **_problems(row)}


def _problems(row: Endpoint) -> Json:
    """Return the problems that a request to an endpoint may come to, by status."""
    names = [*_ANY]
    for has, more in (
        (row.scopes, _WITH_KEY),
        (row.body is not None or row.lines, _WITH_BODY),
        (row.of_a_memory or "{id}" in row.path, _WITH_MEMORY),
        (row.lane or row.streams, _WITH_LANE),
        (row.changes, _CHANGING),
        (row.changes or row.name in ("read", "route", "weigh"), _HELPED),
        (row.keeps == "refused", ("no-key-kept",)),
        (row.name.startswith("replay"), ("certificate-refused",)),
    ):
        names += more if has else ()
    made: Json = {}
    for name in names:
        kind = PROBLEMS[name]
        known = made.get(str(kind.status), {}).get("description")
        says = f"{known}; {name}" if known else name
        made[str(kind.status)] = _failing(says)
    return made


def _failing(says: str) -> Json:
    return {"$ref": "#/components/responses/Problem", "description": says}


def _failure() -> Json:
    schema = {"$ref": _TEMPLATE.format(name="Problem")}
    return {"description": "A problem.", "content": {MEDIA_TYPE: {"schema": schema}}}


def _problem() -> Json:
    return {
        "type": "object",
        "description": "A problem (RFC 9457). Its type is stable.",
        "required": ["type", "title", "status", "detail"],
        "properties": {
            "type": {"type": "string", "enum": [kind.type for kind in PROBLEMS.values()]},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "detail": {"type": "string"},
            "field": {"type": "string", "description": "What is outside its range."},
            "allowed": {"type": "string", "description": "The range, in words."},
        },
    }


def _own_operation() -> Json:
    usual = {"description": "This document.", "content": {_JSON: {"schema": {"type": "object"}}}}
    return {
        "operationId": "openapi",
        "summary": "Return this document.",
        "tags": ["openapi.json"],
        "security": [],
        "responses": {"200": usual, **{s: _failing(s) for s in ("403", "421")}},
    }
