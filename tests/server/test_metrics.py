"""The server's numbers: what they count, who may see them, and that they name nobody."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from prometheus_client.parser import text_string_to_metric_families
from served import MEMORY, Ask, calling

from demem_agent.server import KeyRing


@pytest.fixture
def ring() -> KeyRing:
    return KeyRing()


@pytest.fixture
def ask(ring: KeyRing) -> Iterator[Ask]:
    with calling(ring=ring) as made:
        yield made


def numbers(ask: Ask) -> dict[tuple[str, tuple[str, ...]], float]:
    """Return what the server counts, by name and labels."""
    came = ask("GET", "/metrics")
    assert came.status == 200
    return {
        (sample.name, tuple(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(came.body.decode())
        for sample in family.samples
    }


def test_each_request_is_counted_under_what_came_of_it(ask: Ask) -> None:
    before = numbers(ask)
    ask("POST", f"{MEMORY}/read", {"query": "Where does Ana live?"})
    ask("POST", f"{MEMORY}/read", {"query": ""})
    after = numbers(ask)
    for name, labels in (
        ("demem_requests_total", ("read", "200")),
        ("demem_requests_total", ("read", "422")),
        ("demem_problems_total", ("invalid-input",)),
    ):
        assert after[name, labels] == before.get((name, labels), 0) + 1
    assert after["demem_request_seconds_count", ("read",)] == 2


def test_what_is_open_and_how_much_room_there_is_are_told(ask: Ask) -> None:
    told = numbers(ask)
    assert told["demem_open_memories", ()] == 1
    assert 0 < told["demem_open_bytes", ()] <= told["demem_open_bytes_allowed", ()]
    # Whoever asks is at work himself.
    assert told["demem_lane_taken", ("read",)] == 1
    assert told["demem_lane_taken", ("write",)] == 0 < told["demem_lane_room", ("write",)]


def test_a_key_for_numbers_alone_reads_no_memory(ask: Ask, ring: KeyRing) -> None:
    _, written = ring.make("", ["metrics"])
    assert ask.by(written)("GET", "/metrics").status == 200
    assert ask.by(written)("POST", f"{MEMORY}/read", {"query": "?"}).problem == "forbidden"
    _, other = ring.make("", ["read"])
    assert ask.by(other)("GET", "/metrics").problem == "forbidden"


def test_no_id_of_a_memory_or_a_key_and_no_word_said_is_in_them(ask: Ask, ring: KeyRing) -> None:
    key, written = ring.make("", ["read", "metrics"])
    ask.by(written)("POST", f"{MEMORY}/read", {"query": "Where does Ana live?"})
    text = ask.by(written)("GET", "/metrics").body
    for word in (b"ana", b"Lisbon", key.id.encode()):
        assert word not in text
