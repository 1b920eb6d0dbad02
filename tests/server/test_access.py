"""Who may call, and what of: keys, prefixes, names of the server, pages of other sites."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from served import MEMORY, Ask, calling, served

from demem_agent.server import KeyRing
from demem_agent.server.endpoints import ENDPOINTS
from demem_agent.server.keys import SCOPES, Scope

#: What is needed to ask each endpoint something that it understands.
BODIES: dict[str, object] = {
    "ingest": {"text": "Hello!"},
    "ingest_many": {"turns": [{"text": "Hello!"}]},
    "ingest_messages": {"messages": [{"role": "user", "content": "Hello!"}]},
    "sync": {"turns": [], "source": "notes"},
    "find_items": {},
    "mark_item": {"kept": True},
    "update": {"text": "Hello!"},
    "supersede": {"old": "e1", "new": "e2"},
    "forget": {"evidence_id": "e1"},
    "undo": {"id": "s1"},
    "read": {"query": "?"},
    "weigh": {"query": "?"},
    "route": {"query": "?"},
    "answer": {"query": "?"},
    "answered": {"query": "?", "text": "!"},
    "feedback": {"answer": "a1", "thumbs": True},
    "decide": {"situation": "x", "actions": ["a"]},
    "decided": {"situation": "x", "action": "a"},
    "advice": {"situation": "x"},
    "tried": {"situation": "x"},
    "change_slot": {"name": "home"},
    "merge_slot": {"into": 0},
    "share": {},
    "summarise": {},
    "put_memory": {},
    "make_key": {"prefix": "", "scopes": ["admin"]},
    "rotate_key": {},
}
OF_A_MEMORY = [endpoint for endpoint in ENDPOINTS if endpoint.of_a_memory]
KEYED = [endpoint for endpoint in ENDPOINTS if endpoint.scopes]


def test_every_endpoint_with_a_body_is_asked_something_here() -> None:
    assert {one.name for one in ENDPOINTS if one.body is not None} == set(BODIES)


def asked(ask: Ask, name: str, memory: str, **headers: str) -> tuple[int, str, bytes]:
    """Ask an endpoint; return the status, the problem ("" for none) and all that came."""
    endpoint = next(one for one in ENDPOINTS if one.name == name)
    path = endpoint.path.format(memory=memory, item="e1", slot="0", id="a1")
    body: object = BODIES.get(name)
    if endpoint.lines:
        body, headers = b"{}\n", {**headers, "content_type": "application/x-ndjson"}
    came = ask(endpoint.method, path, body, **headers)
    problem = came.problem if came.status >= 400 else ""
    return came.status, problem, came.body + json.dumps(dict(came.headers)).encode()


@pytest.fixture
def ring() -> KeyRing:
    return KeyRing()


@pytest.fixture
def ask(ring: KeyRing) -> Iterator[Ask]:
    with calling(ring=ring) as made:
        yield made


def test_as_soon_as_there_is_a_key_everybody_needs_one(ask: Ask, ring: KeyRing) -> None:
    ring.make("", ["read"])
    for endpoint in KEYED:
        assert asked(ask, endpoint.name, "ana")[:2] == (401, "unauthorised"), endpoint.name


def test_a_key_that_was_taken_back_is_refused_and_leaves_nothing_open(
    ask: Ask, ring: KeyRing
) -> None:
    key, written = ring.make("", list(SCOPES))
    ring.revoke(key.id)
    for endpoint in KEYED:
        for caller in (ask, ask.by(written)):
            assert asked(caller, endpoint.name, "ana")[:2] == (401, "unauthorised"), endpoint.name


@pytest.mark.parametrize("scope", SCOPES)
def test_a_key_does_what_its_scopes_say_and_nothing_else(
    ask: Ask, ring: KeyRing, scope: Scope
) -> None:
    _, written = ring.make("", [scope])
    caller = ask.by(written)
    allowed = {one.name for one in KEYED if asked(caller, one.name, "ana")[0] != 403}
    assert allowed == {one.name for one in KEYED if scope in one.scopes}


def test_a_foreign_memory_is_never_readable_nor_is_it_told_whether_it_is_there(
    ask: Ask, ring: KeyRing
) -> None:
    _, written = ring.make("team-a/", list(SCOPES))
    caller = ask.by(written)
    for endpoint in OF_A_MEMORY:
        there = asked(caller, endpoint.name, "ana")
        assert there[:2] == (403, "forbidden"), endpoint.name
        assert there == asked(caller, endpoint.name, "nobody")
        assert b"Lisbon" not in there[2]


@pytest.mark.parametrize(
    "trick", ["team-a%2F..%2Fana", "team-a/../ana", "team-a%2f../ana", "team-a%00ana"]
)
def test_no_path_leads_from_a_prefix_to_a_memory_outside(
    ask: Ask, ring: KeyRing, trick: str
) -> None:
    _, written = ring.make("team-a/", list(SCOPES))
    came = ask.by(written)("GET", f"/v1/memories/{trick}/items")
    assert came.status in (403, 404)
    assert b"Lisbon" not in came.body


def test_a_list_has_only_what_the_key_reaches(ask: Ask, ring: KeyRing) -> None:
    _, written = ring.make("team-a/", ["read", "write"])
    team = ask.by(written)
    assert team("PUT", "/v1/memories/team-a%2Fbot").status == 201
    found = team("GET", "/v1/memories").json["records"]
    assert found == [{"memory_id": "team-a/bot"}]


def test_a_cursor_of_one_key_is_of_no_use_with_another(ask: Ask, ring: KeyRing) -> None:
    _, one = ring.make("", ["read"])
    _, other = ring.make("", ["read"])
    cursor = ask.by(one)("GET", f"{MEMORY}/items?limit=1").json["next"]
    path = f"{MEMORY}/items?limit=1&cursor={cursor}"
    assert ask.by(one)("GET", path).json["records"][0]["id"] == "e2"
    assert ask.by(other)("GET", path).problem == "bad-cursor"


@pytest.mark.parametrize(
    "written", ["", "dm_", "dm__", "dm_x_y", "Bearer", "dm_{id}_", "dm_{id}_{id}", "\xff\xfe"]
)
def test_what_is_no_key_is_refused(ask: Ask, ring: KeyRing, written: str) -> None:
    key, _ = ring.make("", ["read"])
    came = ask("GET", MEMORY, authorization=f"Bearer {written.replace('{id}', key.id)}")
    assert came.problem == "unauthorised"
    assert came.headers["www-authenticate"].startswith("Bearer")


def test_a_key_is_taken_as_a_bearer_s_alone(ask: Ask, ring: KeyRing) -> None:
    _, written = ring.make("", ["read"])
    assert ask("GET", MEMORY, authorization=f"bearer {written}").status == 200
    assert ask("GET", MEMORY, authorization=f"Basic {written}").problem == "unauthorised"


def test_a_wrong_key_is_refused_also_from_this_machine(ask: Ask) -> None:
    assert ask("GET", MEMORY).status == 200
    assert ask.by("dm_a_b")("GET", MEMORY).problem == "unauthorised"


def test_without_a_key_no_other_machine_is_let_in() -> None:
    with served(client="192.168.1.7") as ask:
        assert ask("GET", "/v1/memories").problem == "unauthorised"
        assert ask("GET", "/health/live").status == 200


@pytest.mark.parametrize(
    "header", ["forwarded", "x_forwarded_for", "x_forwarded_host", "via", "x_real_ip"]
)
def test_without_a_key_whoever_comes_by_a_proxy_is_not_let_in(ask: Ask, header: str) -> None:
    assert ask("GET", MEMORY, **{header: "127.0.0.1"}).problem == "unauthorised"


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "", "127.0.0.1.nip.io"])
def test_another_name_is_refused_before_anything_else(ask: Ask, host: str) -> None:
    assert ask("GET", MEMORY, host=host).problem == "misdirected"
    assert ask("GET", "/openapi.json", host=host).problem == "misdirected"


@pytest.mark.parametrize("host", ["localhost:8000", "LOCALHOST", "127.0.0.1:1", "[::1]:8000"])
def test_names_of_this_machine_are_known(ask: Ask, host: str) -> None:
    assert ask("GET", MEMORY, host=host).status == 200


def test_a_name_that_was_allowed_is_known() -> None:
    with served(names=("memory.example",)) as ask:
        assert ask("GET", "/v1/memories", host="memory.example").status == 200


def test_a_page_of_the_server_itself_may_call(ask: Ask) -> None:
    came = ask("GET", MEMORY, host="localhost:8000", origin="http://localhost:8000")
    assert came.status == 200
    assert ask("GET", MEMORY, host="localhost:8000", origin="http://localhost").status == 403
    assert ask("GET", MEMORY, host="localhost:8000", origin="null").status == 403


@pytest.mark.parametrize("header", ["host", "authorization", "content-length"])
def test_two_of_a_header_that_there_is_one_of_are_refused(ask: Ask, header: str) -> None:
    came: list[int] = []

    async def twice() -> None:
        async def receive() -> dict[str, object]:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: object) -> None:
            assert isinstance(message, dict)
            came.append(message.get("status", 0))

        raw = [(b"host", b"localhost"), (header.encode(), b"1"), (header.encode(), b"2")]
        scope = {
            "type": "http",
            "method": "GET",
            "path": "/health/live",
            "raw_path": b"/health/live",
            "query_string": b"",
            "headers": raw,
            "client": ("127.0.0.1", 1),
        }
        await ask.app(scope, receive, send)

    import asyncio

    asyncio.run(twice())
    assert came[0] == 400


def test_an_admin_gives_no_more_than_he_has(ask: Ask, ring: KeyRing) -> None:
    _, written = ring.make("team-a/", ["admin", "read"])
    admin = ask.by(written)
    made = admin("POST", "/v1/keys", {"prefix": "team-a/bot", "scopes": ["read"]})
    assert made.status == 201
    assert ring.key_of(made.json["key"]) is not None
    wide = admin("POST", "/v1/keys", {"prefix": "team", "scopes": ["read"]})
    assert wide.json["field"] == "prefix"
    strong = admin("POST", "/v1/keys", {"prefix": "team-a/", "scopes": ["write"]})
    assert strong.problem == "forbidden"


def test_a_key_that_ends_gives_none_that_outlives_it(ask: Ask, ring: KeyRing) -> None:
    for_ever, _ = ring.make("team-a/", ["read"])
    shorter, _ = ring.make("team-a/", ["read"], days=0.5)
    _, written = ring.make("team-a/", ["admin", "read"], days=1)
    admin = ask.by(written)
    told = {"prefix": "team-a/", "scopes": ["read"]}
    for days in (None, 1.1):
        assert admin("POST", "/v1/keys", {**told, "days": days}).json["field"] == "days"
    assert admin("POST", "/v1/keys", {**told, "days": 0.9}).status == 201
    assert admin("POST", f"/v1/keys/{for_ever.id}/rotate", {}).problem == "forbidden"
    assert admin("POST", f"/v1/keys/{shorter.id}/rotate", {}).status == 201
    assert admin("DELETE", f"/v1/keys/{for_ever.id}").status == 200


def test_an_admin_sees_and_revokes_only_what_allows_no_more_than_he_may(
    ask: Ask, ring: KeyRing
) -> None:
    all_of_it, _ = ring.make("", list(SCOPES))
    key, written = ring.make("team-a/", ["admin", "read"])
    admin = ask.by(written)
    assert [one["id"] for one in admin("GET", "/v1/keys").json["records"]] == [key.id]
    assert admin("DELETE", f"/v1/keys/{all_of_it.id}").problem == "not-found"
    assert admin("DELETE", f"/v1/keys/{key.id}").json["revoked"] is True
    assert admin("GET", "/v1/keys").problem == "unauthorised"


def test_no_response_but_the_one_that_makes_a_key_has_a_secret(ask: Ask, ring: KeyRing) -> None:
    key, written = ring.make("", list(SCOPES))
    secret = written.rpartition("_")[2]
    came = ask.by(written)("GET", "/v1/keys")
    assert key.id.encode() in came.body
    assert secret.encode() not in came.body
    assert key.digest.hex().encode() not in came.body
