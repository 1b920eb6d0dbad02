"""Background work that looks through the memories of a store: once each, and nothing lost."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from working import Brief, Copying, Down

from demem_agent import InvalidInput, SlotMemory
from demem_agent.jobs import MOST_TRIES, Means, Rounds, Rule, wait_after
from demem_agent.safekeeping import put_aside
from demem_agent.stores import MemoryStore, Store, open_store
from demem_agent.testing import BagEncoder
from demem_agent.types import Noting, Proposal

ENCODER = BagEncoder()


def opened(store: Store, memory_id: str = "ana", **options: Any) -> SlotMemory:
    return SlotMemory.open(store, memory_id=memory_id, encoder=ENCODER, **options)


def told(store: Store, *texts: str, memory_id: str = "ana", **options: Any) -> None:
    with opened(store, memory_id, **options) as memory:
        for text in texts:
            memory.ingest(text, speaker="Ana")


def notes_of(store: Store, memory_id: str = "ana") -> list[tuple[str, ...]]:
    with opened(store, memory_id) as memory:
        return [item.made_from for item in memory.evidence() if item.made_from]


class Hours:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = datetime(2030, 1, 1, 6, 0).timestamp()

    def __call__(self) -> float:
        return self.now

    def pass_by(self) -> None:
        self.now += 3600


def means(*rules: Rule, **options: Any) -> Means:
    given: Any = {"encoder": ENCODER, **options}
    return Means(given, rules)


def rounds_of(store: Store, *kinds: str, rules: tuple[Rule, ...] = (), **options: Any) -> Rounds:
    return Rounds(store, kinds, means(*rules, **options))


def test_notes_are_taken_of_what_every_memory_was_told() -> None:
    store = MemoryStore()
    told(store, "I moved to Lisbon.", "The cat is grey.")
    told(store, "The boat is green.", memory_id="ben")
    assert rounds_of(store, "notes", note_taker=Copying()).once() == {"notes": 3}
    assert notes_of(store) == [("e1",), ("e2",)]
    assert notes_of(store, "ben") == [("e1",)]


def test_what_is_done_is_not_begun_again() -> None:
    store, taker = MemoryStore(), Copying()
    told(store, "I moved to Lisbon.")
    rounds = rounds_of(store, "notes", note_taker=taker)
    assert [rounds.once(), rounds.once()] == [{"notes": 1}, {"notes": 0}]
    assert rounds_of(store, "notes", note_taker=taker).once() == {"notes": 0}
    assert taker.asked == [("e1",)]


def test_what_comes_in_later_is_seen() -> None:
    store = MemoryStore()
    told(store, "I moved to Lisbon.")
    rounds = rounds_of(store, "notes", note_taker=Copying())
    rounds.once()
    told(store, "The cat is grey.")
    told(store, "The boat is green.", memory_id="ben")
    assert rounds.once() == {"notes": 2}


def test_a_summary_that_the_excerpts_do_not_hold_is_written_once() -> None:
    store = MemoryStore()
    texts = [f"The {thing} is in the cellar behind the door." for thing in ("boat", "lamp", "rope")]
    told(store, *texts, slots=1, slot_limit=60)
    rounds = rounds_of(store, "summaries", compressor=Brief())
    assert [rounds.once(), rounds.once()] == [{"summaries": 1}, {"summaries": 0}]
    with opened(store, compressor=Brief()) as memory:
        assert memory.summarise() == ()


def test_a_memory_nobody_opens_forgets_what_its_own_rule_says() -> None:
    store = MemoryStore()
    with opened(store, keep_days=30) as memory:
        memory.ingest("My locker code is 4711.", at=datetime.now() - timedelta(days=29))
    days_later = datetime.now() + timedelta(days=2)
    rounds = rounds_of(store, "retention", clock=lambda: days_later)
    assert rounds.once() == {"retention": 1}
    assert store.survey()[0].items == 0


def test_a_rule_of_the_worker_holds_beside_those_of_the_memories() -> None:
    store = MemoryStore()
    for name, own in (("chat/ana", None), ("chat/ben", 5), ("work/eva", None)):
        with opened(store, name, keep_days=own) as memory:
            memory.ingest("The code is 4711.", at=datetime.now() - timedelta(days=20))
            memory.ingest("The door is red.", at=datetime.now() - timedelta(days=3))
    assert {one.memory_id: one.items for one in store.survey()}["chat/ben"] == 1
    rounds = rounds_of(store, "retention", rules=(Rule(10, "chat/"), Rule(2, "work/")))
    assert rounds.once() == {"retention": 3}
    left = {one.memory_id: one.items for one in store.survey()}
    assert left == {"chat/ana": 1, "chat/ben": 1, "work/eva": 0}


def test_what_goes_by_a_rule_leaves_a_receipt_and_no_rule_in_the_memory() -> None:
    store = MemoryStore()
    with opened(store) as memory:
        memory.ingest("The code is 4711.", at=datetime.now() - timedelta(days=20))
    rounds_of(store, "retention", rules=(Rule(10),)).once()
    with opened(store) as memory:
        assert [receipt.evidence for receipt in memory.receipts()] == [("e1",)]
        assert memory.settings.keep_days is None


def test_what_is_marked_as_kept_stays_whatever_the_rule() -> None:
    store = MemoryStore()
    with opened(store) as memory:
        kept = memory.ingest("The code is 4711.", at=datetime.now() - timedelta(days=20))
        assert kept.evidence_id is not None
        memory.keep(kept.evidence_id)
    assert rounds_of(store, "retention", rules=(Rule(10),)).once() == {"retention": 0}


def test_work_that_fails_waits_and_is_told_of() -> None:
    store, down, hours = MemoryStore(), Down(), Hours()
    told(store, "I moved to Lisbon.")
    rounds = Rounds(store, ["notes"], means(note_taker=down), clock=hours)
    rounds.once()
    rounds.once()
    assert down.asked == 1  # the wait is not over
    assert rounds.backlog.waiting == {"notes": 1}
    down.is_up = True
    hours.pass_by()
    assert rounds.backlog.oldest == 3600
    assert rounds.once() == {"notes": 1}
    assert rounds.backlog.waiting == {"notes": 0}
    assert notes_of(store) == [("e1",)]


def test_work_that_fails_for_ever_is_given_up_until_the_memory_changes() -> None:
    store, down, hours = MemoryStore(), Down(), Hours()
    told(store, "I moved to Lisbon.")
    rounds = Rounds(store, ["notes"], means(note_taker=down), clock=hours)
    for _ in range(MOST_TRIES + 3):
        rounds.once()
        hours.pass_by()
    assert down.asked == MOST_TRIES
    assert rounds.backlog.given_up == 1
    assert rounds.backlog.waiting == {"notes": 0}
    down.is_up = True
    told(store, "The cat is grey.")
    assert rounds.once() == {"notes": 2}
    assert rounds.backlog.given_up == 0


def test_what_was_given_up_is_tried_again_on_another_day() -> None:
    store, down, hours = MemoryStore(), Down(), Hours()
    told(store, "I moved to Lisbon.")
    rounds = Rounds(store, ["notes"], means(note_taker=down), clock=hours)
    for _ in range(MOST_TRIES):
        rounds.once()
        hours.pass_by()
    for _ in range(24):
        hours.pass_by()
    rounds.once()
    assert down.asked == MOST_TRIES + 1


def test_waits_grow_and_end() -> None:
    waits = [wait_after(tries) for tries in range(1, MOST_TRIES + 1)]
    assert waits[-1] is None
    known = [wait for wait in waits if wait is not None]
    assert known == sorted(known)
    assert known[0] >= 1


def test_one_memory_that_cannot_be_opened_keeps_no_other_from_its_work() -> None:
    store = MemoryStore()
    with SlotMemory.open(store, memory_id="another", encoder=BagEncoder(32, "wide")) as memory:
        memory.ingest("I moved to Lisbon.")
    told(store, "The cat is grey.")
    rounds = rounds_of(store, "notes", note_taker=Copying())
    assert rounds.once() == {"notes": 1}
    assert rounds.backlog.waiting == {"notes": 1}


def test_a_memory_that_is_deleted_waits_for_nothing_and_is_not_made_again() -> None:
    store = MemoryStore()
    told(store, "I moved to Lisbon.")
    rounds = rounds_of(store, "notes", note_taker=Down())
    rounds.once()
    store.delete("default", "ana")
    rounds.once()
    assert rounds.backlog.waiting == {"notes": 0}
    assert store.memories("default") == []


def test_what_is_put_aside_stays_there(tmp_path: Path) -> None:
    pytest.importorskip("obstore")
    url, shelf = f"sqlite:///{tmp_path / 'bot.db'}", f"file://{tmp_path / 'cold'}"
    with SlotMemory.open(url, memory_id="ana", encoder=ENCODER) as memory:
        memory.ingest("I moved to Lisbon.")
    put_aside(url, to=shelf, days=0)
    assert put_aside(url, to=shelf, days=0).memories == 1
    store = open_store(url)
    assert rounds_of(store, "retention", "notes", note_taker=Copying()).once()["notes"] == 0
    assert [one.memory_id for one in store.aside()] == ["ana"]  # type: ignore[attr-defined]
    store.close()


def test_an_end_is_waited_for_until_what_is_at_hand_is_done() -> None:
    store = MemoryStore()
    for name in ("ana", "ben", "eva"):
        told(store, "I moved to Lisbon.", memory_id=name)

    class Ending:
        name = "ending"

        def take_notes(self, task: Noting) -> Proposal:
            rounds.end()
            return Copying().take_notes(task)

    rounds = rounds_of(store, "notes", note_taker=Ending())
    rounds.once()
    assert [bool(notes_of(store, name)) for name in ("ana", "ben", "eva")] == [True, False, False]
    assert rounds.backlog.waiting == {"notes": 2}


def test_it_goes_on_until_it_is_told_to_end() -> None:
    store = MemoryStore()
    rounds = rounds_of(store, "notes", note_taker=Copying())
    thread = threading.Thread(target=rounds.run, args=(0.01,))
    thread.start()
    told(store, "I moved to Lisbon.")
    for _ in range(1000):
        if rounds.counts["notes"]:
            break
        threading.Event().wait(0.01)
    rounds.end()
    thread.join()
    assert notes_of(store) == [("e1",)]


def test_two_that_work_on_one_file_do_it_once(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'bot.db'}"
    stores = [open_store(url), open_store(url)]
    for number in range(6):
        told(stores[0], "I moved to Lisbon.", "The cat is grey.", memory_id=f"m{number}")
    every = [
        Rounds(store, ["notes"], means(note_taker=Copying()), concurrency=2) for store in stores
    ]
    threads = [threading.Thread(target=rounds.once) for rounds in every]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(6):
        assert notes_of(stores[0], f"m{number}") == [("e1",), ("e2",)]
    for store in stores:
        store.close()


def test_another_kind_of_work_is_refused() -> None:
    with pytest.raises(InvalidInput, match="kinds"):
        Rounds(MemoryStore(), ["dreams"])
    with pytest.raises(InvalidInput, match="kinds"):
        Rounds(MemoryStore(), [])
    with pytest.raises(InvalidInput, match="concurrency"):
        Rounds(MemoryStore(), ["notes"], concurrency=0)
