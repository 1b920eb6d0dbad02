"""Every error is a problem document (RFC 9457) of a stable type, whatever refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from served import MEMORY, Ask, calling

from demem_agent import errors
from demem_agent.errors import DeMemError, InvalidInput, NotFound, RemoteError
from demem_agent.server.endpoints import ENDPOINTS
from demem_agent.wire.problems import PROBLEMS, error_of, members_of, problem_of


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    with calling() as made:
        yield made


REFUSED: list[tuple[int, str, str, str, Any, dict[str, str]]] = [
    (400, "malformed", "POST", f"{MEMORY}/read", b"{", {}),
    (400, "malformed", "POST", f"{MEMORY}/items", b'{"metadata": {"a": ' + b"[" * 100_000, {}),
    (400, "malformed", "POST", f"{MEMORY}/read", b'{"query": "\xff"}', {}),
    (400, "malformed", "POST", f"{MEMORY}/items", {"text": "x"}, {"idempotency_key": '""'}),
    (400, "bad-cursor", "GET", f"{MEMORY}/items?cursor=AAAA", None, {}),
    (403, "cross-origin", "GET", MEMORY, None, {"origin": "https://evil.example"}),
    (403, "cross-origin", "GET", MEMORY, None, {"sec_fetch_site": "cross-site"}),
    (404, "no-such-path", "GET", "/nothing", None, {}),
    (404, "no-such-path", "GET", "/v1/memories//items", None, {}),
    (404, "no-such-path", "GET", "/v1/memories/%FF", None, {}),
    (404, "not-found", "GET", "/v1/memories/nobody", None, {}),
    (404, "not-found", "GET", f"{MEMORY}/items/e99", None, {}),
    (404, "not-found", "POST", f"{MEMORY}/feedback", {"answer": "a99", "thumbs": True}, {}),
    (405, "no-such-method", "TRACE", MEMORY, None, {}),
    (409, "exists", "POST", f"{MEMORY}/import", b"{}\n", {"content_type": "application/x-ndjson"}),
    (412, "changed", "DELETE", f"{MEMORY}/items/e1", None, {"if_match": '"0-0"'}),
    (413, "too-large", "POST", f"{MEMORY}/read", b" " * (8 * 2**20 + 1), {}),
    (415, "not-json", "POST", f"{MEMORY}/read", b"{}", {"content_type": "text/plain"}),
    (415, "not-json", "POST", f"{MEMORY}/read", b"{}", {"content_encoding": "gzip"}),
    (421, "misdirected", "GET", MEMORY, None, {"host": "evil.example"}),
    (422, "invalid-input", "POST", f"{MEMORY}/read", {}, {}),
    (422, "invalid-input", "POST", f"{MEMORY}/read", {"query": "x", "limit": 0}, {}),
    (422, "invalid-input", "POST", f"{MEMORY}/read", {"query": "x", "colour": "red"}, {}),
    (422, "invalid-input", "POST", f"{MEMORY}/items", {"text": " "}, {}),
    (422, "invalid-input", "GET", f"{MEMORY}/items?limit=0", None, {}),
    (422, "invalid-input", "GET", f"{MEMORY}/items?colour=red", None, {}),
    (422, "invalid-input", "GET", f"{MEMORY}/items?limit=1&limit=2", None, {}),
    (422, "invalid-input", "PATCH", f"{MEMORY}/slots/x", {"name": "home"}, {}),
    (422, "invalid-input", "PUT", "/v1/memories/new", {"slots": 0}, {}),
    (422, "no-key-kept", "POST", f"{MEMORY}/answer", {"query": "?"}, {"idempotency_key": "k"}),
]


@pytest.mark.parametrize(
    ("status", "name", "method", "path", "body", "headers"),
    REFUSED,
    ids=[f"{number}-{row[1]}" for number, row in enumerate(REFUSED)],
)
def test_what_is_refused_says_so_in_a_problem_document(
    ask: Ask, status: int, name: str, method: str, path: str, body: Any, headers: dict[str, str]
) -> None:
    came = ask(method, path, body, **headers)
    assert (came.status, came.problem) == (status, name)


def test_nothing_that_was_refused_has_changed_the_memory(ask: Ask) -> None:
    before = ask("GET", MEMORY).json["version"]
    for _, _, method, path, body, headers in REFUSED:
        ask(method, path, body, **headers)
    assert ask("GET", MEMORY).json["version"] == before


def test_a_field_out_of_range_is_named_with_its_range(ask: Ask) -> None:
    told = ask("POST", f"{MEMORY}/read", {"query": "x", "floor": 2}).json
    assert told["field"] == "floor"
    assert "1" in told["allowed"]


def test_a_path_tells_which_methods_it_has(ask: Ask) -> None:
    assert ask("POST", MEMORY).headers["allow"] == "DELETE, GET, HEAD, PUT"


def test_a_fault_that_nobody_foresaw_is_a_problem_and_its_words_are_nowhere(
    ask: Ask, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(*_: object) -> None:
        raise RuntimeError("I moved to Lisbon")

    monkeypatch.setattr("demem_agent.server.app.carried_out", fails)
    came = ask("GET", MEMORY)
    assert (came.status, came.problem) == (500, "fault")
    assert b"Lisbon" not in came.body
    assert "Lisbon" not in caplog.text
    assert came.json["detail"].rpartition(" ")[2] in caplog.text
    assert "RuntimeError" in caplog.text


def test_every_kind_of_problem_has_a_type_of_its_own() -> None:
    assert len({kind.type for kind in PROBLEMS.values()}) == len(PROBLEMS)
    assert all(400 <= kind.status < 600 for kind in PROBLEMS.values())


MADE: list[DeMemError] = [
    InvalidInput("limit", 0, "a whole number of at least 1"),
    NotFound("evidence", "e9"),
    NotFound("evidence", "m1", by="source_id"),
    errors.IdempotencyConflict("k"),
    errors.EncoderMismatch("a", "b"),
    errors.InvariantBroken("slot 1 is not there"),
    errors.CertificateRefused("c1", "radius", 1, "2"),
    errors.CollaboratorError("the encoder gave nothing"),
    errors.ModelError("timeout", "m"),
    errors.BudgetSpent("ledger", "1", "2", background=True),
    errors.MissingExtra("it", "server"),
    errors.MemoryFull("most_items", 3, "nothing is to be forgotten"),
    errors.StoreError("locked"),
    errors.MemoryGone("ana"),
    errors.StaleState("moved on"),
]


@pytest.mark.parametrize("error", MADE, ids=lambda error: type(error).__name__)
def test_an_error_comes_back_as_what_it_was(error: DeMemError) -> None:
    kind = problem_of(error)
    document = json.loads(json.dumps({"type": kind.type, **members_of(error)}))
    back = error_of(document, kind.status)
    assert type(back) is type(error)
    assert str(back) == str(error)
    assert [getattr(back, name) for name in kind.attributes] == [
        getattr(error, name) for name in kind.attributes
    ]


def test_every_error_of_the_library_that_a_server_can_raise_was_tried() -> None:
    named = {getattr(errors, name) for name in errors.__all__ if name.endswith(("r", "l", "t"))}
    known = {type(error) for error in MADE} | {RemoteError, DeMemError, errors.WorkersGone}
    every = {kind for kind in vars(errors).values() if isinstance(kind, type)}
    every = {kind for kind in every if issubclass(kind, DeMemError)}
    assert every - known == set(), named


def test_a_problem_that_is_not_known_is_still_an_error_of_the_library() -> None:
    error = error_of({"type": "about:blank", "title": "Teapot"}, 418)
    assert isinstance(error, RemoteError)
    assert (str(error), error.problem, error.status) == ("Teapot", "unknown", 418)


def test_each_endpoint_answers_what_is_no_json_with_a_problem(ask: Ask) -> None:
    for endpoint in ENDPOINTS:
        path = endpoint.path.format(memory="ana", item="e1", slot="0", id="x")
        if endpoint.body is not None:
            came = ask(endpoint.method, path, b"nonsense")
            assert came.problem == "malformed", endpoint.name
