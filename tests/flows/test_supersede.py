"""An item that was settled to hold in place of another: told, undone, forgotten, read."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent import AsyncSlotMemory, InvalidInput, SlotMemory
from demem_agent.errors import DeMemError, IdempotencyConflict, NotFound
from demem_agent.stores.manifest import ended
from demem_agent.testing import BagEncoder
from demem_agent.types import Reading

LINES = [
    ("The keys hang by the door.", "2024-03-01"),
    ("The cat is called Minka.", "2024-03-02"),
    ("I like the bakery near the river.", "2024-03-04"),
    ("The rack in the hall has all our keys.", "2024-07-06"),
]
ASKED = "Where are the keys?"


def moved(**options: Any) -> SlotMemory:
    """Return a memory in which it was settled that e4 holds in place of e1."""
    memory = SlotMemory(**options)
    for text, at in LINES:
        memory.ingest(text, speaker="Ana", at=at)
    memory.supersede("e1", "e4")
    return memory


def order(reading: Reading) -> list[str]:
    """Return the ids of what was read, best first."""
    return [line.evidence.id for line in sorted(reading.lines, key=lambda line: -line.score)]


def test_what_holds_is_ahead_and_the_other_is_marked_in_the_margin() -> None:
    reading = moved().read(ASKED, limit=400)
    best = order(reading)
    assert best.index("e4") + 1 == best.index("e1")
    assert "- [until 6 July 2024] Ana: The keys hang by the door." in reading.text
    (stale,) = next(line.superseded for line in reading.lines if line.evidence.id == "e1")
    assert (stale.by[0], stale.succession, stale.asked) == ("e4", "s1", False)


def test_what_holds_is_read_where_only_the_other_would_have_been() -> None:
    alone = moved().read(ASKED, limit=100)
    assert [item.id for item in alone.evidence] == ["e4"]


def test_a_line_of_no_known_date_holds_no_longer() -> None:
    memory = SlotMemory(clock=None)
    memory.ingest("The keys hang by the door.", speaker="Ana")
    memory.ingest("The rack has the keys.", speaker="Ana")
    memory.supersede("e1", "e2")
    assert "[no longer] Ana: The keys hang by the door." in memory.read(ASKED).text


@pytest.mark.parametrize(
    "question", ["Where were the keys before?", "Where did the keys hang in April 2024?"]
)
def test_a_question_of_the_past_turns_it_round(question: str) -> None:
    best = order(moved().read(question, limit=400))
    assert best.index("e1") < best.index("e4")


def test_what_no_longer_holds_is_withheld_where_that_is_wanted() -> None:
    memory = moved(stale="withhold")
    reading = memory.read(ASKED, limit=400)
    assert reading.withheld == ("e1",)
    assert "door" not in reading.text
    assert "door" in memory.read("Where were the keys before?", limit=400).text


def test_nothing_is_moved_or_marked_where_that_is_wanted() -> None:
    shown = moved(stale="show").read(ASKED, limit=400)
    assert "until" not in shown.text
    memory = moved()
    memory.undo("s1")
    assert "until" not in memory.read(ASKED, limit=400).text


@pytest.mark.parametrize("stale", ["hide", None, True])
def test_another_way_is_refused(stale: Any) -> None:
    with pytest.raises(InvalidInput, match="stale"):
        SlotMemory(stale=stale)


def test_of_a_chain_the_last_one_holds() -> None:
    memory = moved()
    memory.supersede("e4", "e2")
    best = order(memory.read(ASKED, limit=400))
    assert best.index("e2") < min(best.index("e1"), best.index("e4"))


class TestByHand:
    def test_it_is_settled_and_can_be_taken_back(self) -> None:
        memory = moved()
        before = memory.read("What is the cat called?", limit=400)
        made = memory.supersede("e2", "e3")
        assert (made.id, made.confidence, made.how) == ("s2", 1.0, "told")
        assert memory.read("What is the cat called?", limit=400) != before
        memory.undo("s2")
        assert memory.read("What is the cat called?", limit=400) == before
        assert [one.undone for one in memory.successions()] == [False, True]
        with pytest.raises(InvalidInput, match="s2"):
            memory.undo("s2")

    @pytest.mark.parametrize(
        ("old", "new", "error"),
        [
            ("e1", "e1", InvalidInput),
            ("e9", "e1", NotFound),
            ("e1", "e9", NotFound),
            ("e4", "e1", InvalidInput),
            ("", "e1", InvalidInput),
        ],
    )
    def test_what_cannot_be_is_refused(self, old: str, new: str, error: type[DeMemError]) -> None:
        memory = moved()
        before = memory.fingerprint()
        with pytest.raises(error):
            memory.supersede(old, new)
        assert memory.fingerprint() == before

    def test_the_same_key_gives_the_stored_result(self) -> None:
        memory = moved()
        made = memory.supersede("e2", "e3", key="k")
        assert memory.supersede("e2", "e3", key="k") == made
        assert len(memory.successions()) == 2
        with pytest.raises(IdempotencyConflict):
            memory.supersede("e1", "e3", key="k")

    def test_with_coroutines_it_is_the_same(self) -> None:
        async def settled() -> str:
            memory = AsyncSlotMemory()
            for text, at in LINES:
                await memory.ingest(text, speaker="Ana", at=at)
            await memory.supersede("e1", "e4")
            await memory.supersede("e2", "e3")
            assert len(await memory.successions()) == 2
            return await memory.fingerprint()

        memory = moved()
        memory.supersede("e2", "e3")
        assert asyncio.run(settled()) == memory.fingerprint()

    def test_an_unknown_succession_is_named(self) -> None:
        with pytest.raises(NotFound, match="succession"):
            moved().undo("s9")


class TestForgetting:
    def test_forgetting_what_holds_makes_the_other_hold_again(self) -> None:
        memory = moved()
        assert memory.forget("e4").successions == ("s1",)
        memory.check()
        assert memory.successions() == ()
        assert "until" not in memory.read(ASKED).text

    def test_forgetting_what_no_longer_holds_leaves_nothing_of_it(self) -> None:
        memory = moved()
        memory.forget("e1")
        memory.check()
        assert memory.successions() == ()
        assert "door" not in json.dumps(memory.export())


class TestStored:
    def test_a_file_has_it_when_it_is_opened_again(self, tmp_path: Path) -> None:
        url = f"sqlite:///{tmp_path}/a.db"
        with SlotMemory.open(url) as memory:
            for text, at in LINES:
                memory.ingest(text, speaker="Ana", at=at)
            memory.supersede("e1", "e4")
            memory.supersede("e2", "e3")
            memory.undo("s1")
            before = (memory.fingerprint(), memory.successions(), memory.export())
        with SlotMemory.open(url) as again:
            assert (again.fingerprint(), again.successions(), again.export()) == before
            again.forget("e3")
        with SlotMemory.open(url) as last:
            assert [one.id for one in last.successions()] == ["s1"]

    def test_an_export_has_it(self) -> None:
        memory = moved()
        again = SlotMemory.restore(json.loads(json.dumps(memory.export())))
        assert again.fingerprint() == memory.fingerprint()
        assert again.successions() == memory.successions()

    def test_a_line_that_names_what_is_not_there_is_refused(self) -> None:
        lines = moved().export()
        for line in lines:
            if line["kind"] == "succession":
                line["old"] = ["e77", 0, 3]
        with pytest.raises(InvalidInput):
            SlotMemory.restore(ended(lines))

    def test_encoding_anew_leaves_it(self) -> None:
        memory = moved()
        before = memory.successions()
        memory.reembed(BagEncoder())
        assert memory.successions() == before
        memory.check()


@given(st.lists(st.sampled_from([text for text, _ in LINES]), max_size=8), st.integers(60, 400))
def test_readings_hold_to_their_limit_and_lose_nothing(texts: list[str], limit: int) -> None:
    memory = SlotMemory(encoder=BagEncoder())
    for text in texts:
        memory.ingest(text, speaker="Ana")
    reading = memory.read(ASKED, limit=limit)
    assert reading.size == len(reading.text) <= limit
    whole = memory.read(ASKED)
    read = {item.id for item in whole.evidence}
    again = {item.id for line in whole.lines for item in line.again}
    assert read | again == {item.id for item in memory.evidence()}
    memory.check()
