"""Several workers are one server: whichever of them is asked, the same comes back.

Most of it is shown by two applications on one file with what workers share between them; that
processes do so as well is shown by some.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from prometheus_client.parser import text_string_to_metric_families
from served import MEMORY, Ask, listening, served
from streams import Listener

from demem_agent import InvalidInput, SlotMemory
from demem_agent.errors import StoreError
from demem_agent.server import KeyRing, Limits, make_app
from demem_agent.server.common import Common
from demem_agent.stores import connections
from demem_agent.testing import BagEncoder


class Pair(NamedTuple):
    """Two workers, and what they share."""

    first: Ask
    second: Ask
    common: Common
    ring: KeyRing


class Gate(BagEncoder):
    """An encoder that waits, once it is told to, until it is let go on."""

    def __init__(self) -> None:
        super().__init__()
        self.is_shut = False
        self.waits, self.opens = threading.Event(), threading.Event()

    def encode(self, texts: Any) -> Any:
        if self.is_shut:
            self.is_shut = False
            self.waits.set()
            assert self.opens.wait(20)
        return super().encode(texts)


@contextmanager
def pair_of(folder: Path, rate: float | None = None, **first: Any) -> Iterator[Pair]:
    common = Common(rate, workers=2)
    common.came(0)
    common.came(1)
    keys = str(folder / "bot.db.keys")
    about: dict[str, Any] = {"url": f"sqlite:///{folder}/bot.db", "common": common}
    with ExitStack() as stack:
        one, other = (KeyRing(keys) for _ in range(2))
        yield Pair(
            stack.enter_context(served(ring=one, **about, **first)),
            stack.enter_context(served(ring=other, **about)),
            common,
            one,
        )


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    with pair_of(tmp_path) as made:
        assert made.first("PUT", MEMORY).status == 201
        yield made


def texts(ask: Ask) -> list[str]:
    return [one["text"] for one in ask("GET", f"{MEMORY}/items?limit=1000").json["records"]]


def test_what_one_worker_wrote_the_other_reads_at_once_and_nothing_is_lost(pair: Pair) -> None:
    said = [f"Box {number} holds a lamp." for number in range(12)]
    for number, text in enumerate(said):
        ask = pair[number % 2]
        came = ask("POST", f"{MEMORY}/items", {"text": text})
        assert came.json["evidence_id"] == f"e{number + 1}"
        assert texts(pair[(number + 1) % 2]) == said[: number + 1]
    assert {ask("GET", f"{MEMORY}/check").status for ask in pair[:2]} == {200}
    digests = {ask("GET", f"{MEMORY}/fingerprint").body for ask in pair[:2]}
    assert len(digests) == 1


def test_a_request_that_is_made_again_at_another_worker_is_done_once(pair: Pair) -> None:
    item = {"text": "The key is under the mat."}
    first = pair.first("POST", f"{MEMORY}/items", item, idempotency_key="k")
    again = pair.second("POST", f"{MEMORY}/items", item, idempotency_key="k")
    assert (first.status, first.body) == (again.status, again.body)
    other = pair.second("POST", f"{MEMORY}/items", {"text": "No."}, idempotency_key="k")
    assert other.problem == "idempotency-conflict"
    assert texts(pair.first) == ["The key is under the mat."]


def test_what_is_at_work_at_one_worker_is_in_flight_at_the_other(tmp_path: Path) -> None:
    gate = Gate()
    with pair_of(tmp_path, encoder=gate) as pair:
        pair.first("PUT", MEMORY)
        gate.is_shut = True
        item = {"text": "The key is under the mat."}
        came = []
        thread = threading.Thread(
            target=lambda: came.append(
                pair.first("POST", f"{MEMORY}/items", item, idempotency_key="k")
            )
        )
        thread.start()
        assert gate.waits.wait(20)
        flying = pair.second("POST", f"{MEMORY}/items", item, idempotency_key="k")
        gate.opens.set()
        thread.join()
        assert (flying.status, flying.problem) == (409, "in-flight")
        again = pair.second("POST", f"{MEMORY}/items", item, idempotency_key="k")
        assert (again.status, again.body) == (came[0].status, came[0].body)


def test_a_worker_that_dies_leaves_nothing_in_flight() -> None:
    common = Common(workers=2)
    assert common.begin("ana", "k", 1)
    assert common.begin("ana", "other", 0)
    assert not common.begin("ana", "k", 0)
    common.left(1)
    assert common.begin("ana", "k", 0)
    assert not common.begin("ana", "other", 1)


def test_a_change_meant_for_one_version_is_refused_if_another_worker_comes_in_between(
    tmp_path: Path,
) -> None:
    gate = Gate()
    with pair_of(tmp_path, encoder=gate) as pair:
        pair.first("PUT", MEMORY)
        pair.first("POST", f"{MEMORY}/items", {"text": "One."})
        tag = pair.first("GET", MEMORY).headers["etag"]
        gate.is_shut = True
        came = []
        thread = threading.Thread(
            target=lambda: came.append(
                pair.first("POST", f"{MEMORY}/items", {"text": "Mine."}, if_match=tag)
            )
        )
        thread.start()
        assert gate.waits.wait(20)
        assert pair.second("POST", f"{MEMORY}/items", {"text": "Theirs."}).status == 201
        gate.opens.set()
        thread.join()
        assert (came[0].status, came[0].problem) == (412, "changed")
        assert texts(pair.first) == ["One.", "Theirs."]


def test_a_change_of_the_version_that_is_there_is_made_also_if_it_is_several_writes(
    pair: Pair,
) -> None:
    tag = pair.first("GET", MEMORY).headers["etag"]
    turns = {"turns": [{"text": f"Thing {n}."} for n in range(100)]}
    came = pair.second("POST", f"{MEMORY}/turns", turns, if_match=tag)
    assert came.status == 201
    assert len(texts(pair.first)) == 100
    assert pair.first("POST", f"{MEMORY}/turns", turns, if_match=tag).status == 412


def test_a_list_goes_on_at_another_worker(pair: Pair) -> None:
    pair.first("POST", f"{MEMORY}/turns", {"turns": [{"text": f"Thing {n}."} for n in range(5)]})
    path, found = f"{MEMORY}/items?limit=2", []
    cursor = ""
    for number in range(3):
        page = pair[number % 2]("GET", path + cursor).json
        found += [one["text"] for one in page["records"]]
        cursor = f"&cursor={page['next']}"
    assert found == [f"Thing {n}." for n in range(5)]


def test_a_key_is_known_at_once_and_so_is_that_it_is_taken_back(pair: Pair) -> None:
    key, written = pair.ring.make("", ["read"])
    assert pair.second("GET", MEMORY).status == 401
    assert pair.second.by(written)("GET", MEMORY).status == 200
    pair.ring.revoke(key.id)
    assert pair.second.by(written)("GET", MEMORY).status == 401


def test_requests_of_a_key_are_counted_together(tmp_path: Path) -> None:
    with pair_of(tmp_path, rate=2.0) as pair:
        came = [pair[number % 2]("GET", "/v1/memories") for number in range(6)]
    assert [one.status for one in came] == [200] * 4 + [429] * 2
    assert came[-1].headers["retry-after"] == "1"


def test_a_memory_that_one_worker_deletes_is_gone_at_the_other_and_can_be_made_anew(
    pair: Pair,
) -> None:
    pair.second("POST", f"{MEMORY}/items", {"text": "Here."})
    assert pair.first("DELETE", MEMORY).status == 200
    assert pair.second("GET", MEMORY).status == 404
    assert pair.second("PUT", MEMORY).status == 201
    assert texts(pair.first) == []


def test_of_two_workers_that_import_a_memory_one_does(pair: Pair) -> None:
    lines = pair.first("GET", f"{MEMORY}/export").body
    came: list[tuple[int, str]] = []

    def imported(ask: Ask) -> None:
        path, kind = "/v1/memories/ben/import", "application/x-ndjson"
        one = ask("POST", path, lines, content_type=kind)
        came.append((one.status, "" if one.status == 201 else one.problem))

    threads = [threading.Thread(target=imported, args=(ask,)) for ask in pair[:2]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(came) == [(201, ""), (409, "exists")]


def test_who_listens_at_one_worker_is_told_what_another_does_with_its_number(
    tmp_path: Path,
) -> None:
    common = Common(workers=2)
    url, keys = f"sqlite:///{tmp_path}/bot.db", str(tmp_path / "keys")
    with (
        listening(url=url, common=common, keys=keys, limits=Limits(heartbeat=0.1)) as at,
        served(url=url, common=common, ring=KeyRing(keys)) as other,
    ):
        assert other("PUT", MEMORY).status == 201
        listener = Listener(at.url, "ana")
        other("POST", f"{MEMORY}/items", {"text": "Theirs."})
        told = listener.event()
        assert (told["id"], told["operation"], told["version"]) == ("1", "elsewhere", "0-1")
        with SlotMemory.open(at.url, memory_id="ana") as memory:
            memory.ingest("Ours.")
            told = listener.event()
            assert (told["id"], told["operation"]) == ("2", "ingest")
        other("DELETE", MEMORY)
        assert listener.event()["event"] == "gone"
        listener.close()


def test_whichever_worker_is_asked_tells_the_numbers_of_all(pair: Pair) -> None:
    for _ in range(3):
        pair.second("GET", MEMORY)
    pair.common.note(1, pair.second.app.house.metrics.numbers())
    found = {
        sample.labels["worker"]: sample.value
        for family in text_string_to_metric_families(pair.first("GET", "/metrics").body.decode())
        for sample in family.samples
        if sample.name == "demem_requests_total" and sample.labels["operation"] == "get_memory"
    }
    assert found == {"1": 3.0}
    body = pair.first("GET", "/metrics").body.decode()
    assert body.count("# TYPE demem_request_seconds histogram") == 1
    assert 'process_resident_memory_bytes{worker="0"}' in body


def test_a_server_is_ready_when_all_its_workers_are(pair: Pair) -> None:
    assert pair.first("GET", "/health/ready").status == 200
    pair.common.left(1)
    came = pair.first("GET", "/health/ready")
    assert (came.status, came.problem) == (503, "busy")
    assert "1 of 2 workers" in came.json["detail"]
    assert pair.first("GET", "/health/live").status == 200
    pair.common.came(1)
    assert pair.first("GET", "/health/ready").status == 200


def test_what_is_kept_for_all_is_bounded() -> None:
    common = Common(workers=2)
    for number in range(70):
        common.keep(f"n{number}", bytes(2**20))
    assert common.kept("n0") is None
    assert common.kept("n69") == bytes(2**20)
    common.keep("n69", b"new")
    assert common.kept("n69") == b"new"
    common.drop("n69")
    assert common.kept("n69") is None


def test_memories_in_ram_are_served_by_one_process() -> None:
    with pytest.raises(StoreError, match="memory://"):
        make_app("memory://", common=Common(workers=2), keys="unused")
    make_app("memory://", common=Common(workers=1)).close()


def test_keys_in_ram_are_those_of_one_process(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as caught:
        make_app(f"sqlite:///{tmp_path}/bot.db", common=Common(workers=2))
    assert caught.value.field == "keys"


def test_a_file_that_this_sqlite_cannot_share_is_served_by_one_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("demem_agent.stores.sqlite.must_be_alone", lambda: True)
    monkeypatch.setattr(connections, "must_be_alone", lambda: True)
    with pytest.raises(StoreError, match=r"demem-agent\[sqlite\]"):
        make_app(f"sqlite:///{tmp_path}/bot.db", common=Common(workers=2), keys="unused")
    assert not (tmp_path / "unused").exists()
