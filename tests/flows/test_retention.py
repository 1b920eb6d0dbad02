"""A memory keeps so many items, for so many days, and what a user has marked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from often import often
from sealed_files import legible

from demem_agent import AsyncSlotMemory, InvalidInput, SlotMemory
from demem_agent.errors import MemoryFull, NotFound
from demem_agent.stores import MemoryStore, Store
from demem_agent.testing import BagEncoder, ReadingAnswerer
from demem_agent.types import Mark

START = datetime(2024, 5, 1, 10, 0)


class Days:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def pass_by(self, days: int) -> None:
        self.now += timedelta(days=days)


def made(**options: Any) -> SlotMemory:
    given: dict[str, Any] = {
        "clock": None,
        "encoder": BagEncoder(),
        "answerer": ReadingAnswerer(),
        "slots": 3,
    }
    return SlotMemory(**(given | options))


def texts(memory: SlotMemory) -> list[str]:
    return [item.text for item in memory.evidence()]


def filled(memory: SlotMemory, count: int) -> None:
    for n in range(count):
        memory.ingest(f"Remark {n} on the weather.")


class TestAtMostSoMany:
    def test_the_least_worth_goes(self) -> None:
        memory = made(most_items=4)
        memory.ingest("The boiler has a brass valve.")
        memory.feedback(memory.answer("Which valve has the boiler?"), reference="a brass valve")
        filled(memory, 10)
        assert len(memory) == 4
        assert texts(memory)[0] == "The boiler has a brass valve."
        assert texts(memory)[-1] == "Remark 9 on the weather."
        memory.check()

    def test_nothing_but_items_goes_for_it(self) -> None:
        memory = made(most_items=3)
        filled(memory, 3)
        answers = [memory.answer(f"What of remark {n}?") for n in range(3)]
        filled(memory, 6)
        assert [context.query for context in memory.contexts()] == [
            answer.query for answer in answers
        ]

    def test_the_oldest_goes_where_that_is_wanted(self) -> None:
        memory = made(most_items=2, when_full="age")
        memory.ingest("said second", at="2024-02-01")
        memory.ingest("said first", at="2024-01-01")
        memory.ingest("said third", at="2024-03-01")
        assert texts(memory) == ["said second", "said third"]

    def test_what_is_not_dated_is_as_old_as_what_came_before_it(self) -> None:
        memory = made(most_items=3, when_full="age")
        memory.ingest("said late", at="2024-05-01")
        memory.ingest("undated, after that")
        memory.ingest("said early", at="2024-01-01")
        memory.ingest("the last", at="2024-06-01")
        assert texts(memory) == ["said late", "undated, after that", "the last"]

    def test_the_oldest_goes_first_where_storage_is_bounded(self) -> None:
        memory = made(storage=70, when_full="age")
        memory.ingest("The boiler has a brass valve.", at="2024-01-01")
        memory.feedback(memory.answer("Which?", at="2024-01-02"), reference="brass")
        memory.ingest("The violin has a broken bow.", at="2024-01-03")
        memory.ingest("The ferry leaves the harbour.", at="2024-01-04")
        assert texts(memory) == ["The violin has a broken bow.", "The ferry leaves the harbour."]
        assert memory.storage().used <= 70
        memory.check()

    @pytest.mark.parametrize("bound", [{"most_items": 2}, {"storage": 60}])
    def test_one_more_is_refused_where_that_is_wanted(self, bound: dict[str, int]) -> None:
        memory = made(when_full="refuse", **bound)
        filled(memory, 2)
        before = memory.fingerprint()
        with pytest.raises(MemoryFull, match=next(iter(bound))) as raised:
            memory.ingest("Remark 3 on the weather.")
        assert {raised.value.setting: raised.value.limit} == bound
        assert memory.fingerprint() == before
        memory.forget("e1")
        assert memory.ingest("Remark 4 on the weather.").evidence_id == "e3"

    def test_a_full_memory_answers_and_learns(self) -> None:
        memory = made(when_full="refuse", storage=80)
        filled(memory, 3)
        for _ in range(5):
            memory.feedback(memory.answer("What of the weather?"), reward=1.0)
            assert memory.storage().used <= 80
        assert len(memory) == 3
        with pytest.raises(MemoryFull):
            memory.feedback(memory.answer("And?"), correction="rain")
        memory.check()

    def test_of_many_at_once_those_that_have_room_are_stored(self) -> None:
        memory = made(when_full="refuse", most_items=3)
        with pytest.raises(MemoryFull):
            memory.ingest_many([{"text": f"remark {n}"} for n in range(5)])
        assert texts(memory) == ["remark 0", "remark 1", "remark 2"]

    def test_a_retry_with_a_key_is_no_new_item(self) -> None:
        memory = made(when_full="refuse", most_items=1)
        first = memory.ingest("The boiler.", key="k")
        assert memory.ingest("The boiler.", key="k") == first

    @pytest.mark.parametrize("of_the_store", [MemoryStore, None])
    def test_a_tenant_has_so_many_in_all(
        self, tmp_path: Path, of_the_store: Callable[[], Store] | None
    ) -> None:
        where: Any = of_the_store() if of_the_store else f"sqlite:///{tmp_path}/a.db"
        opened = [
            SlotMemory.open(where, memory_id=name, tenant="t", tenant_items=3, encoder=BagEncoder())
            for name in ("a", "b")
        ]
        elsewhere = SlotMemory.open(where, tenant="u", encoder=BagEncoder())
        filled(elsewhere, 3)
        for n in range(3):
            opened[n % 2].ingest(f"remark {n}")
        with pytest.raises(MemoryFull, match="tenant_items"):
            opened[0].ingest("one too many")
        assert [len(memory) for memory in opened] == [2, 1]
        opened[1].forget("e1")
        opened[0].ingest("now there is room")
        with SlotMemory.open(
            where, memory_id="a", tenant="t", tenant_items=1, encoder=BagEncoder()
        ) as narrower:
            narrower.reembed(BagEncoder())  # which brings nothing new
        for memory in (*opened, elsewhere):
            memory.check()
            memory.close()

    @pytest.mark.parametrize(
        "wrong",
        [
            {"most_items": 0},
            {"keep_days": 0},
            {"keep_days": 1.5},
            {"tenant_items": -1},
            {"when_full": "perhaps"},
        ],
    )
    def test_what_cannot_be_a_bound_is_refused(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(InvalidInput, match=next(iter(wrong))):
            made(**wrong)


class TestForSoManyDays:
    def test_more_days_than_there_have_been_keep_all(self) -> None:
        memory = made(clock=Days(), keep_days=10**12)
        memory.ingest("said long ago", at="0001-01-01")
        assert texts(memory) == ["said long ago"]

    def test_what_was_said_is_kept_so_long_and_no_longer(self) -> None:
        clock = Days()
        memory = made(clock=clock, keep_days=3)
        memory.ingest("said on the first of May")
        clock.pass_by(1)
        memory.ingest("said on the second")
        clock.pass_by(1)
        assert len(memory) == 2
        clock.pass_by(1)
        assert texts(memory) == ["said on the second"]
        assert "first of May" not in memory.read("What was said?").text
        assert [receipt.evidence for receipt in memory.receipts()] == [("e1",)]
        memory.check()

    def test_every_look_at_it_comes_too_late(self, tmp_path: Path) -> None:
        clock = Days()
        looks: list[Callable[[SlotMemory], object]] = [
            lambda memory: memory.evidence(),
            lambda memory: memory.read("plover"),
            lambda memory: memory.answer("Where is the plover?"),
            lambda memory: memory.export(),
            lambda memory: memory.slots,
            lambda memory: memory.route("plover"),
        ]
        for look in looks:
            memory = made(clock=clock, keep_days=1)
            memory.ingest("the plover is behind the shed")
            clock.pass_by(1)
            assert "shed" not in repr(look(memory))

    def test_a_memory_that_is_opened_again_holds_nothing_too_old(self, tmp_path: Path) -> None:
        clock = Days()
        url = f"sqlite:///{tmp_path}/a.db"
        with SlotMemory.open(url, clock=clock, keep_days=7, encoder=BagEncoder()) as memory:
            memory.ingest("the plover is behind the shed")
        clock.pass_by(7)
        with SlotMemory.open(url, clock=clock, encoder=BagEncoder()):
            pass
        assert b"plover" not in legible(tmp_path)

    def test_answers_that_were_read_from_it_go_with_it(self) -> None:
        clock = Days()
        memory = made(clock=clock, keep_days=3)
        memory.ingest("the plover is behind the shed")
        clock.pass_by(2)
        memory.ingest("the boiler has a brass valve")
        memory.feedback(memory.answer("Where is the plover?"), reference="behind the shed")
        clock.pass_by(1)
        memory.check()
        (context,) = memory.contexts()
        assert (context.answer, context.reference) == ("", None)
        assert context.query == "Where is the plover?"
        clock.pass_by(2)
        assert memory.contexts()[0].query == ""
        assert "plover" not in str(memory.export())
        memory.check()

    def test_what_was_decided_goes_too(self) -> None:
        clock = Days()
        memory = made(clock=clock, keep_days=3)
        memory.feedback(memory.decide("the plover is loose", ["net", "call"]), reward=1.0)
        clock.pass_by(2)
        memory.feedback(memory.decide("the boiler leaks", ["call", "wait"]), reward=1.0)
        clock.pass_by(1)
        assert [one.text for one in memory.situations()] == ["", "the boiler leaks"]
        exported = str(memory.export())
        assert "net" not in exported
        assert "wait" in exported
        memory.check()

    def test_what_is_not_dated_stays(self) -> None:
        clock = Days()
        undated = made()
        undated.ingest("nobody knows when")
        memory = SlotMemory.restore(
            undated.export(),
            clock=clock,
            keep_days=1,
            encoder=BagEncoder(),
            answerer=ReadingAnswerer(),
        )
        clock.pass_by(400)
        assert texts(memory) == ["nobody knows when"]

    def test_what_comes_in_too_old_goes_with_the_next_call(self) -> None:
        memory = made(clock=Days(), keep_days=30)
        memory.ingest("said last year", at="2023-01-01")
        memory.ingest("said today")
        assert texts(memory) == ["said today"]

    def test_days_pass_by_the_local_time_where_nothing_is_dated_by_it(self) -> None:
        memory = made(keep_days=3)
        memory.ingest("said long ago", at="2019-01-01")
        memory.ingest("said just now", at=datetime.now())
        memory.ingest("nobody knows when")
        assert texts(memory) == ["said just now", "nobody knows when"]

    def test_a_call_that_is_overtaken_while_something_goes_is_made_again(self) -> None:
        clock, store = Days(), MemoryStore()
        options: dict[str, Any] = {"clock": clock, "keep_days": 2, "encoder": BagEncoder()}
        first, second = SlotMemory.open(store, **options), SlotMemory.open(store, **options)
        first.ingest("said on the first of May")
        clock.pass_by(2)
        second.ingest("said on the third")
        assert texts(first) == texts(second) == ["said on the third"]
        assert first.fingerprint() == second.fingerprint()
        assert len(first.receipts()) == 1

    def test_coroutines_keep_it_as_long(self) -> None:
        clock = Days()

        async def run() -> None:
            memory = AsyncSlotMemory(clock=clock, keep_days=2, encoder=BagEncoder())
            await memory.ingest("said on the first of May")
            clock.pass_by(2)
            assert await memory.evidence() == ()
            assert (await memory.health()).forgotten == 1

        asyncio.run(run())

    @settings(max_examples=often(40), deadline=None)
    @given(
        days=st.lists(st.tuples(st.integers(0, 3), st.integers(-6, 2)), min_size=1, max_size=12),
        keep=st.integers(1, 4),
    )
    def test_whatever_comes_in_nothing_too_old_is_ever_seen(
        self, days: list[tuple[int, int]], keep: int
    ) -> None:
        clock = Days()
        memory = made(clock=clock, keep_days=keep)
        said: list[datetime] = []
        for passed, back in days:
            clock.pass_by(passed)
            memory.ingest("a remark", at=clock.now + timedelta(days=back))
            first = (clock.now - timedelta(days=keep - 1)).date()
            said.append(clock.now + timedelta(days=back))
            left = [at for at in said if at.date() >= first]
            assert [item.at for item in memory.evidence()] == left
            memory.check()


class TestMarks:
    def test_what_is_kept_outlives_all_bounds(self) -> None:
        clock = Days()
        memory = made(clock=clock, keep_days=2, most_items=3, storage=120)
        memory.ingest("an unremarkable remark")
        memory.keep("e1")
        for _ in range(8):
            clock.pass_by(1)
            filled(memory, 2)
            memory.check()
        assert texts(memory)[0] == "an unremarkable remark"
        assert memory.marks() == (Mark("e1", kept=True),)
        memory.keep("e1", False)
        assert "e1" not in {item.id for item in memory.evidence()}
        assert memory.marks() == ()

    def test_forget_takes_it_out_all_the_same(self) -> None:
        memory = made()
        memory.ingest("the plover")
        memory.keep("e1")
        memory.forget("e1")
        assert (len(memory), memory.marks()) == (0, ())
        memory.check()

    @pytest.mark.parametrize("bound", [{"most_items": 2}, {"storage": 60}])
    def test_where_everything_is_kept_the_next_item_is_refused(self, bound: dict[str, int]) -> None:
        memory = made(**bound)
        filled(memory, 2)
        for id in ("e1", "e2"):
            memory.keep(id)
        with pytest.raises(MemoryFull, match="marked as kept"):
            memory.ingest("Remark 3 on the weather.")
        memory.keep("e1", False)
        memory.ingest("Remark 4 on the weather.")
        assert [item.id for item in memory.evidence()] == ["e2", "e3"]

    def test_what_is_hidden_is_never_read(self) -> None:
        memory = made(slots=1)
        memory.ingest("The plover is behind the shed.")
        memory.ingest("The boiler has a brass valve.")
        asked = "Where is the plover?"
        memory.feedback(memory.answer(asked), reference="behind the shed")
        memory.hide("e1")
        memory.check()
        for mode in ("evidence", "strict"):
            reading = memory.read(asked, mode=mode)
            assert "shed" not in reading.text
            assert "brass" in reading.text
            assert not reading.settled
        assert "shed" not in memory.answer(asked).text
        assert "shed" not in memory.slots[0].summary
        assert texts(memory)[0] == "The plover is behind the shed."
        memory.hide("e1", False)
        assert "shed" in memory.read(asked).text
        assert "shed" in memory.slots[0].summary
        memory.check()

    def test_what_is_said_twice_is_not_shown_by_the_other(self) -> None:
        memory = made()
        for _ in range(2):
            memory.ingest("The plover is behind the shed.", speaker="Ana")
        memory.hide("e2")
        (line,) = memory.read("Where is the plover?").lines
        assert (line.evidence.id, line.again) == ("e1", ())

    def test_a_memory_of_hidden_items_alone_reads_nothing(self) -> None:
        memory = made()
        memory.ingest("The plover is behind the shed.")
        memory.hide("e1")
        assert memory.read("Where is the plover?").text == ""
        assert not memory.route("Where is the plover?").adequate
        assert memory.answer("Where is the plover?").text == ""
        memory.check()

    def test_a_memory_knows_no_more_than_it_reads(self) -> None:
        with_it, without = made(), made()
        for memory in (with_it, without):
            memory.ingest("The boiler has a brass valve.")
            memory.ingest("The plover is behind the shed.")
        with_it.hide("e2")
        without.forget("e2")
        hidden, forgotten = (one.read("Where is the plover?") for one in (with_it, without))
        assert [line.evidence.id for line in hidden.lines] == ["e1"]
        assert abs(hidden.probability - forgotten.probability) < 0.3

    def test_marks_are_stored_and_exported(self, tmp_path: Path) -> None:
        url = f"sqlite:///{tmp_path}/a.db"
        options: dict[str, Any] = {"clock": None, "encoder": BagEncoder()}
        with SlotMemory.open(url, **options) as memory:
            filled(memory, 3)
            memory.hide("e1")
            memory.keep("e3")
            memory.keep("e2")
            memory.keep("e2", False)
            known, lines = memory.fingerprint(), memory.export()
        marks = (Mark("e1", hidden=True), Mark("e3", kept=True))
        with SlotMemory.open(url, **options) as memory:
            assert (memory.marks(), memory.fingerprint(), memory.export()) == (marks, known, lines)
            memory.check()
        restored = SlotMemory.restore(lines, **options)
        assert (restored.marks(), restored.fingerprint()) == (marks, known)
        restored.check()

    def test_marks_stay_when_a_memory_is_encoded_anew(self) -> None:
        memory = made()
        filled(memory, 3)
        memory.hide("e1")
        memory.reembed(BagEncoder(8))
        memory.check()
        assert "e1" not in {item.id for item in memory.read("weather").evidence}

    def test_what_is_not_there_cannot_be_marked(self) -> None:
        memory = made()
        for mark in (memory.keep, memory.hide):
            with pytest.raises(NotFound):
                mark("e9")
            with pytest.raises(InvalidInput):
                mark("e1", "yes")  # type: ignore[arg-type]

    def test_a_mark_that_changes_nothing_is_no_operation(self) -> None:
        memory = made()
        memory.ingest("The plover.")
        before = memory.export()
        memory.keep("e1", False)
        memory.hide("e1", False)
        assert memory.export() == before


class TestHealth:
    def test_it_counts_what_there_is(self) -> None:
        memory = made(most_items=3, memory_id="ana")
        filled(memory, 5)
        memory.keep("e5")
        memory.hide("e5")
        memory.answer("What of the weather?")
        health = memory.health()
        assert (health.memory_id, health.tenant, health.schema) == ("ana", "default", None)
        assert (health.items, health.forgotten, health.room_made) == (3, 2, 2)
        assert (health.kept, health.hidden, health.answers) == (1, 1, 1)
        assert health.storage == memory.storage()
        assert dict(health.slots) == {slot.number: slot.size for slot in memory.slots}

    def test_it_prints_in_lines(self) -> None:
        memory = made(most_items=3, keep_days=30, clock=Days())
        filled(memory, 2)
        lines = [" ".join(line.split()) for line in str(memory.health()).splitlines()]
        assert "items 2 of at most 3; 0 marked as kept, 0 as hidden" in lines
        assert "storage 48 chars, no bound" in lines
        assert "kept for 30 days" in lines
        assert len(lines) == len(memory.health().told())

    def test_it_names_the_schema_of_a_file(self, tmp_path: Path) -> None:
        with SlotMemory.open(f"sqlite:///{tmp_path}/a.db", encoder=BagEncoder()) as memory:
            assert memory.health().schema
