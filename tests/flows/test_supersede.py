"""A line that another has taken the place of: found, told, undone, forgotten, and what is read."""

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
from demem_agent.slots.successions.lineage import HOLDS
from demem_agent.stores.manifest import ended
from demem_agent.testing import BagEncoder
from demem_agent.types import Reading

MOVED = [
    ("I live in Porto.", "2024-03-01"),
    ("The cat is called Minka.", "2024-03-02"),
    ("I work at a bakery near the river.", "2024-03-04"),
    ("I live in Lisbon now.", "2024-07-06"),
]


def moved(**options: Any) -> SlotMemory:
    """Return a memory of somebody who moved: e1 held until e4."""
    memory = SlotMemory(**options)
    for text, at in MOVED:
        memory.ingest(text, speaker="Ana", at=at)
    return memory


def order(reading: Reading) -> list[str]:
    """Return the ids of what was read, best first."""
    return [line.evidence.id for line in sorted(reading.lines, key=lambda line: -line.score)]


def test_what_takes_the_place_of_a_line_is_found_as_it_comes_in() -> None:
    (found,) = moved().successions()
    assert (found.old[0], found.new[0], found.how, found.undone) == ("e1", "e4", "found", False)
    assert HOLDS <= found.confidence <= 1


def test_many_at_once_find_what_one_by_one_finds() -> None:
    many = SlotMemory()
    many.ingest_many([{"text": text, "speaker": "Ana", "at": at} for text, at in MOVED])
    assert many.successions() == moved().successions()
    assert many.fingerprint() == moved().fingerprint()


def test_lines_of_two_people_do_not_take_each_others_place() -> None:
    memory = SlotMemory()
    memory.ingest("I live in Porto.", speaker="Ana")
    memory.ingest("I live in Lisbon now.", speaker="Ben")
    assert memory.successions() == ()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I like tea.", "I like coffee."),
        ("My dog Rex is five years old.", "My cat Bella is three years old."),
        ("I ran 5 km on Monday.", "I ran 7 km on Thursday."),
        ("When it rains, I take the bus.", "When it is sunny, I take the bike."),
        ("Thanks for the help!", "Thanks for the cake!"),
    ],
)
def test_what_holds_beside_another_does_not_take_its_place(one: str, other: str) -> None:
    memory = moved()
    memory.ingest(one, speaker="Ana", at="2024-08-01")
    memory.ingest(other, speaker="Ana", at="2024-08-09")
    sure = [found for found in memory.successions() if found.confidence >= HOLDS]
    assert [(found.old[0], found.new[0]) for found in sure] == [("e1", "e4")]


def test_lines_of_nobody_that_differ_in_a_number_alone_stand_side_by_side() -> None:
    memory = SlotMemory()
    memory.ingest_many([{"text": f"The boiler in room {n} has a brass valve."} for n in (3, 4, 5)])
    assert memory.successions() == ()


def test_a_change_inside_a_long_message_is_found() -> None:
    memory = SlotMemory()
    memory.ingest("I have a dentist appointment with Doctor Marsh on March 22.", speaker="Ana")
    memory.ingest(
        "I'm trying to sort out the cellar before the winter comes and my aunt arrives, and my"
        " dentist appointment with Doctor Marsh was moved to March 25, so can you make me a list?",
        speaker="Ana",
    )
    (found,) = memory.successions()
    said = memory.evidence()[1].text[found.new[1] : found.new[2]]
    assert "was moved to March 25" in said
    assert "cellar" not in said


def test_what_is_not_sure_counts_only_for_a_question_of_both_lines() -> None:
    memory = SlotMemory()
    memory.ingest("My rent for the flat is 800 euros a month.", speaker="Ana", at="2024-03-01")
    memory.ingest("My rent is 950 euros.", speaker="Ana", at="2024-07-06")
    (found,) = memory.successions()
    assert found.confidence < HOLDS
    assert "until" in memory.read("How many euros is my rent?").text
    assert "until" not in memory.read("How long is a month?").text


def test_what_holds_is_ahead_and_the_other_is_marked_in_the_margin() -> None:
    reading = moved().read("Where do I live now?", limit=400)
    best = order(reading)
    assert best.index("e4") + 1 == best.index("e1")
    assert "- [until 6 July 2024] Ana: I live in Porto." in reading.text
    (stale,) = next(line.superseded for line in reading.lines if line.evidence.id == "e1")
    assert (stale.by[0], stale.succession, stale.asked) == ("e4", "s1", False)


def test_what_holds_is_read_where_only_the_other_would_have_been() -> None:
    alone = moved().read("Where do I live?", limit=75)
    assert [item.id for item in alone.evidence] == ["e4"]


def test_a_line_of_no_known_date_holds_no_longer() -> None:
    memory = SlotMemory(clock=None)
    memory.ingest("I live in Porto.", speaker="Ana")
    memory.ingest("I live in Lisbon now.", speaker="Ana")
    assert "[no longer] Ana: I live in Porto." in memory.read("Where do I live?").text


def test_a_line_that_says_more_holds_no_longer_in_part() -> None:
    memory = SlotMemory()
    memory.ingest("I live in Porto. The cat is called Minka.", speaker="Ana", at="2024-03-01")
    memory.ingest("I live in Lisbon now.", speaker="Ana", at="2024-07-06")
    text = memory.read("Where do I live?").text
    assert "[in part until 6 July 2024] Ana: I live in Porto. The cat is called Minka." in text
    assert memory.answer("What is the cat called?").text == "Ana: The cat is called Minka."


@pytest.mark.parametrize(
    "question",
    [
        "Where did I live before?",
        "Where did I use to live previously?",
        "Where did I live in April 2024?",
        "Did I live in Porto?",
        "Wo habe ich früher gewohnt, in Porto?",
    ],
)
def test_a_question_of_the_past_turns_it_round(question: str) -> None:
    memory = moved()
    best = order(memory.read(question, limit=400))
    assert best.index("e1") < best.index("e4")
    assert memory.answer(question).evidence[0] == "e1"


def test_the_answer_is_taken_from_what_holds() -> None:
    assert moved().answer("Where do I live?").text == "Ana: I live in Lisbon now."


def test_what_no_longer_holds_is_withheld_where_that_is_wanted() -> None:
    memory = moved(stale="withhold")
    reading = memory.read("Where do I live?", limit=400)
    assert reading.withheld == ("e1",)
    assert "Porto" not in reading.text
    assert "Porto" in memory.read("Where did I live before?", limit=400).text


def test_nothing_is_moved_or_marked_where_that_is_wanted() -> None:
    shown = moved(stale="show").read("Where do I live now?", limit=400)
    assert "until" not in shown.text
    memory = moved()
    memory.undo("s1")
    assert memory.read("Where do I live now?", limit=400) == shown


@pytest.mark.parametrize("stale", ["hide", None, True])
def test_another_way_is_refused(stale: Any) -> None:
    with pytest.raises(InvalidInput, match="stale"):
        SlotMemory(stale=stale)


def test_of_a_chain_the_last_one_holds() -> None:
    memory = moved()
    memory.supersede("e4", "e2")
    best = order(memory.read("Where do I live now?", limit=400))
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

    def test_what_was_found_is_settled_under_its_id(self) -> None:
        memory = moved()
        assert memory.supersede("e1", "e4").id == "s1"
        (settled,) = memory.successions()
        assert (settled.confidence, settled.how) == (1.0, "told")

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
            for text, at in MOVED:
                await memory.ingest(text, speaker="Ana", at=at)
            await memory.supersede("e2", "e3")
            assert len(await memory.successions()) == 2
            return await memory.fingerprint()

        memory = moved()
        memory.supersede("e2", "e3")
        assert asyncio.run(settled()) == memory.fingerprint()

    def test_an_unknown_succession_is_named(self) -> None:
        with pytest.raises(NotFound, match="succession"):
            moved().undo("s9")


class TestFeedback:
    def told(self, text: str, question: str) -> float:
        memory = moved(decisions=True)
        answer = memory.answer(question)
        memory.feedback(answer, reference=text)
        memory.check()
        (found,) = memory.successions()
        memory.undo(answer.id)
        assert memory.successions() == moved().successions(), "undone, it says nothing more"
        return found.confidence

    def test_the_old_line_proved_right_takes_what_was_found_back(self) -> None:
        assert self.told("I live in Porto.", "Where is my home?") < HOLDS

    def test_the_new_line_proved_right_makes_it_surer(self) -> None:
        (before,) = moved().successions()
        assert self.told("I live in Lisbon now.", "Where is my home?") > before.confidence

    def test_a_question_of_the_past_says_nothing_of_now(self) -> None:
        (before,) = moved().successions()
        assert self.told("I live in Porto.", "Where did I live before?") == before.confidence


class TestForgetting:
    def test_forgetting_what_holds_makes_the_other_hold_again(self) -> None:
        memory = moved()
        assert memory.forget("e4").successions == ("s1",)
        memory.check()
        assert memory.successions() == ()
        assert "until" not in memory.read("Where do I live?").text

    def test_forgetting_what_no_longer_holds_leaves_nothing_of_it(self) -> None:
        memory = moved()
        memory.forget("e1")
        memory.check()
        assert memory.successions() == ()
        assert "Porto" not in json.dumps(memory.export())


class TestStored:
    def test_a_file_has_it_when_it_is_opened_again(self, tmp_path: Path) -> None:
        url = f"sqlite:///{tmp_path}/a.db"
        with SlotMemory.open(url) as memory:
            for text, at in MOVED:
                memory.ingest(text, speaker="Ana", at=at)
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


@given(st.lists(st.sampled_from([text for text, _ in MOVED]), max_size=8), st.integers(60, 400))
def test_readings_hold_to_their_limit_and_lose_nothing(texts: list[str], limit: int) -> None:
    memory = SlotMemory(encoder=BagEncoder())
    for text in texts:
        memory.ingest(text, speaker="Ana")
    reading = memory.read("Where do I live now?", limit=limit)
    assert reading.size == len(reading.text) <= limit
    whole = memory.read("Where do I live now?")
    read = {item.id for item in whole.evidence}
    again = {item.id for line in whole.lines for item in line.again}
    assert read | again == {item.id for item in memory.evidence()}
    memory.check()
