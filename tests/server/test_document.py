"""The OpenAPI document describes what there is: every endpoint, what it takes and what it gives."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from served import MEMORY, Ask, calling

from demem_agent.server.endpoints import ENDPOINTS
from demem_agent.server.routes import Routes


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    with calling() as made:
        yield made


@pytest.fixture(scope="module")
def document(ask: Ask) -> dict[str, Any]:
    came = ask("GET", "/openapi.json")
    assert came.status == 200
    return dict(came.json)


def references(value: object) -> Iterator[str]:
    """Yield everything that a document refers to."""
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for part in value.values():
            yield from references(part)
    elif isinstance(value, list):
        for part in value:
            yield from references(part)


def test_every_endpoint_is_in_the_document_under_its_name(document: dict[str, Any]) -> None:
    named = {
        operation["operationId"]: (method.upper(), path)
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    }
    assert named.pop("openapi") == ("GET", "/openapi.json")
    assert named == {one.name: (one.method, one.path) for one in ENDPOINTS}


def test_everything_that_is_referred_to_is_there(document: dict[str, Any]) -> None:
    found = set(references(document))
    assert len(found) > 50
    for reference in found:
        part: Any = document
        for name in reference.removeprefix("#/").split("/"):
            part = part[name]
        assert part


def test_every_endpoint_tells_what_a_refusal_looks_like(document: dict[str, Any]) -> None:
    for path, operations in document["paths"].items():
        for operation in operations.values():
            refusals = [status for status in operation["responses"] if status >= "400"]
            assert {"403", "421"} <= set(refusals), path
            if operation.get("security") != []:
                assert {"401", "503"} <= set(refusals), path


def test_what_a_body_may_not_have_is_told(document: dict[str, Any]) -> None:
    for endpoint in ENDPOINTS:
        if endpoint.body is None:
            continue
        content = document["paths"][endpoint.path][endpoint.method.lower()]["requestBody"]
        reference = content["content"]["application/json"]["schema"]["$ref"]
        schema = document["components"]["schemas"][reference.rpartition("/")[2]]
        assert schema["additionalProperties"] is False, endpoint.name


def test_an_optional_parameter_that_is_left_out_is_not_null(document: dict[str, Any]) -> None:
    for operations in document["paths"].values():
        for operation in operations.values():
            for parameter in operation.get("parameters", ()):
                assert "null" not in json.dumps(parameter["schema"])


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.name)
def test_a_path_leads_to_its_endpoint_whatever_an_id_has_in_it(endpoint: Any) -> None:
    written = re.sub(r"\{\w+\}", "a%2F%C3%A9%2E%2E%3F", endpoint.path)
    found, names = Routes(ENDPOINTS).find(endpoint.method, written.encode())
    assert found is endpoint
    assert set(names.values()) <= {"a/é..?"}
    assert len(names) == endpoint.path.count("{")


def test_what_can_be_got_can_be_asked_for_by_its_head_alone(ask: Ask) -> None:
    assert ask("HEAD", MEMORY).headers["etag"] == ask("GET", MEMORY).headers["etag"]
    assert ask("HEAD", f"{MEMORY}/read").problem == "no-such-method"


def test_the_names_of_endpoints_are_names_of_functions() -> None:
    assert all(re.fullmatch("[a-z_]+", endpoint.name) for endpoint in ENDPOINTS)
    assert len({endpoint.name for endpoint in ENDPOINTS}) == len(ENDPOINTS)


def test_what_is_said_of_a_version_and_of_life_needs_no_memory(ask: Ask) -> None:
    assert ask("GET", "/version").json["api"] == "v1"
    assert ask("GET", "/health/live").json == {"text": "alive"}
    assert ask("GET", "/health/ready").json == {"text": "ready"}


def test_a_store_that_cannot_be_read_is_said_by_readiness_alone(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    from demem_agent.errors import StoreError

    def fails(*_: object) -> bool:
        raise StoreError("the disk is gone")

    monkeypatch.setattr(ask.app.house.pool.store, "holds", fails)
    assert ask("GET", "/health/ready").problem == "store-failed"
    assert ask("GET", "/health/live").status == 200


def test_nothing_that_comes_back_is_for_a_shared_cache(ask: Ask) -> None:
    for path in ("/version", MEMORY, f"{MEMORY}/items", "/v1/memories", "/nowhere"):
        came = ask("GET", path)
        assert came.headers["cache-control"] in ("no-store", "private, no-cache")
        assert came.headers["x-content-type-options"] == "nosniff"
