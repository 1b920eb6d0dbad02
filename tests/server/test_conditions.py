"""Idempotency keys, versions and cursors: nothing twice, nothing by mistake, nothing left out."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from served import MEMORY, Ask, calling

from demem_agent.server.endpoints import ENDPOINTS
from demem_agent.testing import BagEncoder


@pytest.fixture
def ask() -> Iterator[Ask]:
    with calling() as made:
        yield made


ITEM = {"text": "The key is under the mat."}


@pytest.mark.parametrize("key", ["k", '"k"'])
def test_the_same_key_with_the_same_request_does_it_once(ask: Ask, key: str) -> None:
    first = ask("POST", f"{MEMORY}/items", ITEM, idempotency_key=key)
    again = ask("POST", f"{MEMORY}/items", ITEM, idempotency_key=key)
    assert (again.status, again.body) == (first.status, first.body)
    assert ask("GET", MEMORY).json["items"] == 4


def test_the_same_key_with_another_request_is_refused(ask: Ask) -> None:
    ask("POST", f"{MEMORY}/items", ITEM, idempotency_key="k")
    came = ask("POST", f"{MEMORY}/items", {"text": "It is not."}, idempotency_key="k")
    assert (came.status, came.problem) == (422, "idempotency-conflict")
    assert ask("GET", MEMORY).json["items"] == 4


def test_a_key_in_the_body_is_the_same_as_in_the_header(ask: Ask) -> None:
    ask("POST", f"{MEMORY}/items", {**ITEM, "key": "k"})
    assert ask("POST", f"{MEMORY}/items", ITEM, idempotency_key="k").json["evidence_id"] == "e4"
    other = ask("POST", f"{MEMORY}/items", {**ITEM, "key": "other"}, idempotency_key="k")
    assert other.json["field"] == "key"


def test_many_turns_under_one_key_are_remembered_once_also_if_the_first_try_broke_off(
    ask: Ask,
) -> None:
    turns = [{"text": f"Thing number {n}."} for n in range(3)]
    ask("POST", f"{MEMORY}/turns", {"turns": turns[:2]}, idempotency_key="k")
    done = ask("POST", f"{MEMORY}/turns", {"turns": turns}, idempotency_key="k").json["records"]
    assert [one["evidence_id"] for one in done] == ["e4", "e5", "e6"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("feedback", {"answer": "a1", "thumbs": True}),
        ("decide", {"situation": "a flaky test", "actions": ["retry", "wait"]}),
        ("decided", {"situation": "a flaky test", "action": "retry"}),
        ("items/e1/update", {"text": "I moved to Porto."}),
        ("supersede", {"old": "e1", "new": "e2"}),
    ],
)
def test_every_operation_of_the_ledger_takes_a_key(ask: Ask, path: str, body: object) -> None:
    ask("POST", f"{MEMORY}/answer", {"query": "What is the cat called?"})
    first = ask("POST", f"{MEMORY}/{path}", body, idempotency_key="k")
    version = ask("GET", MEMORY).json["version"]
    again = ask("POST", f"{MEMORY}/{path}", body, idempotency_key="k")
    assert first.status == again.status == 200
    assert first.json == again.json
    assert ask("GET", MEMORY).json["version"] == version


def test_a_request_whose_key_is_at_work_is_refused() -> None:
    begun, ending = threading.Event(), threading.Event()

    class Slow(BagEncoder):
        def encode(self, sentences: list[str]) -> object:
            if "slow" in sentences[0]:
                begun.set()
                assert ending.wait(30)
            return super().encode(sentences)

    with calling(encoder=Slow()) as ask:
        said = {"text": "a slow thing"}
        came: list[int] = []

        def first() -> None:
            came.append(ask("POST", f"{MEMORY}/items", said, idempotency_key="k").status)

        thread = threading.Thread(target=first)
        thread.start()
        assert begun.wait(30)
        second = ask("POST", f"{MEMORY}/items", said, idempotency_key="k")
        ending.set()
        thread.join()
        assert (second.status, second.problem) == (409, "in-flight")
        assert int(second.headers["retry-after"]) >= 1
        assert came == [201]
        assert ask("POST", f"{MEMORY}/items", said, idempotency_key="k").status == 201
        assert ask("GET", MEMORY).json["items"] == 4


def test_what_could_be_done_twice_without_a_ledger_takes_no_key() -> None:
    changing = {one.name for one in ENDPOINTS if one.changes and one.keeps == "nothing"}
    # what these do twice is the same as once
    assert changing == {"put_memory", "delete_memory", "import", "ingest_messages", "sync"}


def test_a_change_of_the_version_that_was_seen_is_made_and_of_no_other(ask: Ask) -> None:
    seen = ask("GET", MEMORY)
    tag = seen.headers["etag"]
    assert tag == f'"{seen.json["version"]}"'
    made = ask("POST", f"{MEMORY}/items", ITEM, if_match=tag)
    assert made.status == 201
    assert made.headers["etag"] == ask("GET", MEMORY).headers["etag"] != tag
    late = ask("POST", f"{MEMORY}/items", ITEM, if_match=tag)
    assert (late.status, late.problem) == (412, "changed")
    assert ask("GET", MEMORY).json["items"] == 4


def test_a_memory_can_be_made_only_if_it_is_not_there(ask: Ask) -> None:
    assert ask("PUT", MEMORY, if_none_match="*").status == 412
    assert ask("PUT", "/v1/memories/ben", if_none_match="*").status == 201
    assert ask("DELETE", "/v1/memories/ben", if_match='"none"').status == 412
    assert ask("DELETE", "/v1/memories/nobody", if_match="*").status == 412
    assert ask("DELETE", "/v1/memories/ben", if_match="*").status == 200


def test_of_many_who_change_one_version_one_comes_through(ask: Ask) -> None:
    tag = ask("GET", MEMORY).headers["etag"]
    came: list[int] = []

    def change(n: int) -> None:
        said = {"text": f"Thing number {n}."}
        came.append(ask("POST", f"{MEMORY}/items", said, if_match=tag).status)

    threads = [threading.Thread(target=change, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(came) == [201] + [412] * 7


def test_what_was_seen_is_not_sent_again(ask: Ask) -> None:
    for endpoint in ENDPOINTS:
        if not (endpoint.method == "GET" and endpoint.of_a_memory and endpoint.tagged):
            continue
        path = endpoint.path.format(memory="ana", item="e1", id="x")
        tag = ask("GET", MEMORY).headers["etag"]
        came = ask("GET", path, if_none_match=f'"other", {tag}')
        assert (came.status, came.body) == (304, b""), endpoint.name
        assert came.headers["etag"] == tag
    assert ask("GET", f"{MEMORY}/slots", if_none_match='"other"').status == 200


def test_pages_hold_every_item_once_also_while_others_come_and_go(ask: Ask) -> None:
    for n in range(7):
        ask("POST", f"{MEMORY}/items", {"text": f"Thing number {n}."})
    seen: list[str] = []
    cursor = ""
    while True:
        page = ask("GET", f"{MEMORY}/items?limit=2{cursor}").json
        seen += [one["id"] for one in page["records"]]
        if page["next"] is None:
            break
        ask("DELETE", f"{MEMORY}/items/{seen[0]}")
        cursor = f"&cursor={page['next']}"
    assert seen == [f"e{n}" for n in range(1, 11)]


def test_a_cursor_that_was_edited_or_is_of_another_list_is_refused(ask: Ask) -> None:
    cursor = ask("GET", f"{MEMORY}/items?limit=1").json["next"]
    last = "A" if cursor[-1] != "A" else "B"
    for path in (
        f"{MEMORY}/items?limit=1&cursor={cursor[:-1]}{last}",
        f"{MEMORY}/items?limit=1&speaker=Ana&cursor={cursor}",
        f"{MEMORY}/answers?cursor={cursor}",
        f"/v1/memories?cursor={cursor}",
        f"{MEMORY}/items?cursor=%C3%A9",
        f"{MEMORY}/items?cursor=",
    ):
        assert ask("GET", path).problem == "bad-cursor", path


def test_a_list_is_filtered_by_its_parameters(ask: Ask) -> None:
    def ids(query: str) -> list[str]:
        return [one["id"] for one in ask("GET", f"{MEMORY}/items?{query}").json["records"]]

    assert ids("speaker=Ben") == ["e3"]
    assert ids("from=2024-03-02&to=2024") == ["e1", "e2", "e3"]
    assert ids("from=2025") == []
    assert ids("speaker=null") == []
    found = ask("POST", f"{MEMORY}/find", {"speaker": ["Ana", "Ben"], "limit": 2}).json
    rest = {"speaker": ["Ana", "Ben"], "limit": 2, "cursor": found["next"]}
    assert [one["id"] for one in found["records"]] == ["e1", "e2"]
    assert [one["id"] for one in ask("POST", f"{MEMORY}/find", rest).json["records"]] == ["e3"]
