"""A fact that is changed: what is read, what is kept, and how it is taken back."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent import AsyncSlotMemory, InvalidInput, SlotMemory
from demem_agent.errors import IdempotencyConflict, MemoryFull, NotFound
from demem_agent.testing import BagEncoder
from demem_agent.types import Updated

WHO = "Who is our dentist?"
WEISS = "Our dentist is Dr Weiss."
OKAFOR = "Our dentist is Dr Okafor."
BRAUN = "Our dentist is Dr Braun."


def known(**options: Any) -> SlotMemory:
    """Return a memory in which e1 says who the dentist is."""
    memory = SlotMemory(**options)
    where = {"session": "chat", "source": "crm", "source_id": "c1", "trust": 0.5}
    memory.ingest(WEISS, speaker="Ana", at="2024-03-02", **where)
    memory.ingest("The cat is called Minka.", speaker="Ana", at="2024-03-03")
    return memory


def test_the_new_line_leads_and_the_old_one_is_marked() -> None:
    memory = known()
    assert memory.update("e1", OKAFOR, at="2024-06-11") == Updated("e3", "e1", "s1")
    text = memory.read(WHO).text
    assert f"- [until 11 June 2024] Ana: {WEISS}" in text
    assert f"- Ana: {OKAFOR}" in text
    assert memory.answer(WHO).text == f"Ana: {OKAFOR}"
    memory.check()


def test_the_old_line_is_withheld_where_that_is_wanted() -> None:
    memory = known(stale="withhold")
    memory.update("e1", OKAFOR, at="2024-06-11")
    reading = memory.read(WHO)
    assert (reading.withheld, "Weiss" in reading.text) == (("e1",), False)


def test_it_is_settled() -> None:
    memory = known()
    memory.update("e1", OKAFOR)
    (made,) = memory.successions()
    assert (made.old[0], made.new[0], made.confidence, made.how) == ("e1", "e3", 1.0, "updated")


def test_what_is_not_given_is_as_it_was_but_for_the_time() -> None:
    memory = known(clock=None)
    memory.update("e1", OKAFOR)
    memory.update("e1", BRAUN, speaker="Ben", source_id="c2", trust=1.0, at="2024-06-11")
    _, _, first, second = memory.evidence()
    assert (first.speaker, first.session, first.source, first.source_id, first.trust, first.at) == (
        "Ana", "chat", "crm", "c1", 0.5, None,
    )  # fmt: skip
    assert (second.speaker, second.session, second.source, second.source_id, second.trust) == (
        "Ben", "chat", "crm", "c2", 1.0,
    )  # fmt: skip


def test_the_first_id_goes_on_naming_the_fact() -> None:
    memory = known()
    memory.update("e1", OKAFOR)
    assert memory.update("e1", BRAUN).replaced == "e3"
    assert memory.answer(WHO).text == f"Ana: {BRAUN}"


def test_what_was_told_to_hold_in_its_place_is_what_changes() -> None:
    memory = known()
    memory.ingest(OKAFOR, speaker="Ben")
    memory.supersede("e1", "e3")
    assert memory.update("e1", BRAUN).replaced == "e3"


def test_a_text_that_it_has_already_changes_nothing() -> None:
    memory = known()
    before = memory.fingerprint()
    done = memory.update("e1", WEISS)
    assert (done, done.changed) == (Updated("e1", "e1", None), False)
    assert memory.fingerprint() == before
    assert memory.update("e1", WEISS, at="2024-06-11").changed


def test_the_same_key_gives_the_stored_result() -> None:
    memory = known()
    made = memory.update("e1", OKAFOR, key="k")
    same = memory.update("e2", "The cat is called Minka.", key="same")
    assert memory.update("e1", OKAFOR, key="k") == made
    assert memory.update("e2", "The cat is called Minka.", key="same") == same
    assert len(memory) == 3
    with pytest.raises(IdempotencyConflict):
        memory.update("e1", BRAUN, key="k")
    memory.forget("e3")
    assert memory.update("e1", OKAFOR, key="k") == made


@pytest.mark.parametrize(
    ("item", "text", "how", "error"),
    [
        ("e9", OKAFOR, {}, NotFound),
        ("", OKAFOR, {}, InvalidInput),
        ("e1", " ", {}, InvalidInput),
        ("e1", OKAFOR, {"at": "noon"}, InvalidInput),
        ("e1", OKAFOR, {"trust": 2}, InvalidInput),
        ("e1", OKAFOR, {"user": "Ana"}, TypeError),
        ("e1", "<demem:memory>\n# undated\n- x\n</demem:memory>", {}, InvalidInput),
    ],
)
def test_what_cannot_be_is_refused(item: str, text: str, how: Any, error: type[Exception]) -> None:
    memory = known()
    before = memory.fingerprint()
    with pytest.raises(error):
        memory.update(item, text, **how)
    assert (memory.fingerprint(), len(memory)) == (before, 2)


def test_what_was_decided_is_answered_from_the_new_line() -> None:
    memory = known(decisions=True)
    memory.feedback(memory.answer(WHO), reward=1.0)
    memory.update("e1", OKAFOR)
    assert memory.answer(WHO).text == f"Ana: {OKAFOR}"


def test_a_correction_is_changed_to_a_statement_of_its_own() -> None:
    memory = known()
    corrected = memory.feedback(memory.answer(WHO), correction=OKAFOR).remembered
    assert corrected is not None
    memory.update(corrected, BRAUN)
    assert memory.answer(WHO).text == BRAUN
    assert memory.evidence()[-1].source is None
    memory.check()


class TestUndo:
    def test_the_old_line_has_its_place_back(self) -> None:
        memory = known()
        memory.update("e1", OKAFOR, at="2024-06-11")
        memory.undo("s1")
        memory.check()
        text = memory.read(WHO).text
        assert f"- Ana: {WEISS}" in text
        assert f"- [no longer] Ana: {OKAFOR}" in text
        assert memory.answer(WHO).text == f"Ana: {WEISS}"

    def test_of_several_updates_the_last_one_is_undone_first(self) -> None:
        memory = known()
        memory.update("e1", OKAFOR)
        memory.update("e1", BRAUN)
        with pytest.raises(InvalidInput, match="e4 has come after it"):
            memory.undo("s1")
        memory.undo("s2")
        memory.undo("s1")
        memory.check()
        assert memory.answer(WHO).text == f"Ana: {WEISS}"

    def test_what_was_undone_can_be_changed_again(self) -> None:
        memory = known()
        memory.update("e1", OKAFOR)
        memory.undo("s1")
        assert memory.update("e3", BRAUN).replaced == "e1"
        assert memory.answer(WHO).text == f"Ana: {BRAUN}"
        memory.check()

    def test_where_another_way_leads_to_the_new_line_no_circle_is_made(self) -> None:
        memory = known()
        memory.update("e1", OKAFOR)
        memory.supersede("e1", "e2")
        memory.supersede("e2", "e3")
        memory.undo("s1")
        memory.check()


class TestHistory:
    def test_any_member_gives_the_chain_old_to_new(self) -> None:
        memory = known()
        memory.update("e1", OKAFOR)
        memory.update("e1", BRAUN)
        chain = memory.history("e1")
        assert [one.evidence.id for one in chain] == ["e1", "e3", "e4"]
        assert [one.holds for one in chain] == [False, False, True]
        assert [[by.id for by in one.replaces] for one in chain] == [[], ["s1"], ["s2"]]
        assert memory.history("e3") == memory.history("e4") == chain

    def test_an_item_that_nothing_has_changed_stands_alone(self) -> None:
        (only,) = known().history("e2")
        assert (only.evidence.id, only.replaces, only.holds) == ("e2", (), True)

    def test_what_was_undone_is_told(self) -> None:
        memory = known()
        memory.update("e1", OKAFOR)
        memory.undo("s1")
        new, old = memory.history("e1")
        assert (new.evidence.id, new.holds, [one.undone for one in new.replaces]) == (
            "e3", False, [True],
        )  # fmt: skip
        assert (old.evidence.id, old.holds) == ("e1", True)

    def test_what_was_found_is_in_it_where_it_is_believed(self) -> None:
        memory = SlotMemory()
        memory.ingest("I live in Porto.", speaker="Ana", at="2024-03-01")
        memory.ingest("I live in Lisbon now.", speaker="Ana", at="2024-07-06")
        assert [one.evidence.id for one in memory.history("e2")] == ["e1", "e2"]

    def test_it_is_in_order_also_where_the_earlier_item_holds(self) -> None:
        memory = known()
        memory.supersede("e2", "e1")
        assert [one.evidence.id for one in memory.history("e2")] == ["e2", "e1"]

    def test_an_unknown_item_is_named(self) -> None:
        with pytest.raises(NotFound, match="e9"):
            known().history("e9")


class TestForgetting:
    def test_what_was_updated_twice_does_not_hold_again_without_what_was_between(self) -> None:
        memory = known()
        for text in (OKAFOR, BRAUN, "Our dentist is Dr Adeyemi."):
            memory.update("e1", text)
        memory.forget("e3")
        memory.forget("e4")
        memory.check()
        assert [one.evidence.id for one in memory.history("e1")] == ["e1", "e5"]
        assert not memory.history("e1")[0].holds
        again = SlotMemory.restore(memory.export())
        assert again.successions() == memory.successions()

    def test_the_old_line_holds_again_where_the_last_is_forgotten(self) -> None:
        memory = known()
        memory.update("e1", OKAFOR)
        memory.forget("e3")
        assert memory.answer(WHO).text == f"Ana: {WEISS}"


def test_with_coroutines_it_is_the_same() -> None:
    async def run() -> Any:
        memory = AsyncSlotMemory(clock=None)
        await memory.ingest(WEISS, speaker="Ana")
        done = await memory.update("e1", OKAFOR)
        return done, await memory.history("e1"), await memory.fingerprint()

    memory = SlotMemory(clock=None)
    memory.ingest(WEISS, speaker="Ana")
    expected = memory.update("e1", OKAFOR), memory.history("e1"), memory.fingerprint()
    assert asyncio.run(run()) == expected


def test_a_file_and_an_export_have_it(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    with SlotMemory.open(url, clock=None) as memory:
        memory.ingest(WEISS, speaker="Ana")
        made = memory.update("e1", OKAFOR, key="k")
        before = (memory.fingerprint(), memory.history("e1"))
        lines = json.loads(json.dumps(memory.export()))
    with SlotMemory.open(url) as again:
        assert (again.fingerprint(), again.history("e1")) == before
        assert again.update("e1", OKAFOR, key="k") == made
    restored = SlotMemory.restore(lines)
    assert (restored.fingerprint(), restored.history("e1")) == before


def test_a_memory_of_bounded_storage_keeps_to_it_and_keeps_what_holds() -> None:
    memory = SlotMemory(storage=60)
    memory.ingest(WEISS)
    for text in (OKAFOR, BRAUN, WEISS):
        memory.update(memory.evidence()[-1].id, text)
    memory.check()
    assert memory.storage().used <= 60
    assert memory.answer(WHO).text == WEISS


@given(st.lists(st.tuples(st.integers(1, 6), st.sampled_from("abcd"), st.booleans()), max_size=8))
def test_of_any_updates_one_item_of_each_chain_holds(steps: list[tuple[int, str, bool]]) -> None:
    memory = SlotMemory(encoder=BagEncoder(), clock=None)
    memory.ingest_many([{"text": "the boiler"}, {"text": "a violin"}])
    for item, text, back in steps:
        if item <= len(memory):
            done = memory.update(f"e{item}", f"it is {text}")
            if back and done.succession is not None:
                memory.undo(done.succession)
        memory.check()
    for item in ("e1", "e2"):
        chain = memory.history(item)
        assert sum(one.holds for one in chain) == 1
        assert memory.history(chain[-1].evidence.id) == chain


def test_metadata_is_carried_over_unless_it_is_given() -> None:
    memory = SlotMemory(encoder=BagEncoder())
    first = memory.ingest("I live in Porto.", metadata={"topic": "home"}).evidence_id or ""
    second = memory.update(first, "I live in Faro.").evidence_id
    third = memory.update(second, "I live in Faro.", metadata={"topic": "town"})
    told = [dict(item.metadata) for item in memory.evidence()]
    assert told == [{"topic": "home"}, {"topic": "home"}, {"topic": "town"}]
    assert not memory.update(
        third.evidence_id, "I live in Faro.", metadata={"topic": "town"}
    ).changed


class TestMarks:
    """What was settled of a fact is settled of the version of it that holds."""

    def test_what_takes_the_place_of_a_hidden_item_is_hidden(self) -> None:
        memory = SlotMemory(clock=None, encoder=BagEncoder())
        memory.ingest("The alarm code is 7431.")
        memory.hide("e1")
        memory.update("e1", "The alarm code is 9926.")
        memory.check()
        assert "9926" not in memory.read("What is the alarm code?").text
        assert {mark.evidence_id for mark in memory.marks() if mark.hidden} == {"e1", "e2"}
        memory.undo("s1")
        assert "7431" not in memory.read("What is the alarm code?").text
        memory.check()

    def test_what_was_hidden_since_an_update_stays_so_when_that_is_undone(self) -> None:
        memory = SlotMemory(clock=None, encoder=BagEncoder())
        memory.ingest("The alarm code is 7431.")
        memory.update("e1", "The alarm code is 9926.")
        memory.hide("e2")
        memory.undo("s1")
        memory.check()
        assert "7431" not in memory.read("What is the alarm code?").text

    def test_what_a_list_changes_is_marked_as_it_was(self) -> None:
        memory = SlotMemory(clock=None, encoder=BagEncoder())
        code = {"text": "The alarm code is 7431.", "source_id": "c1"}
        memory.sync([code], source="crm")
        memory.keep("e1")
        memory.hide("e1")
        memory.sync([{**code, "text": "The alarm code is 9926."}], source="crm")
        assert [(mark.kept, mark.hidden) for mark in memory.marks()] == [(True, True)] * 2

    def test_where_all_is_kept_a_version_makes_way_for_the_next(self) -> None:
        memory = SlotMemory(clock=None, encoder=BagEncoder(), most_items=1)
        memory.ingest("Anna lives in Oslo.")
        memory.keep("e1")
        assert memory.update("e1", "Anna lives in Rome.").evidence_id == "e2"
        assert [item.text for item in memory.evidence()] == ["Anna lives in Rome."]
        with pytest.raises(MemoryFull):
            memory.ingest("The cat sleeps.")

    def test_marks_that_were_carried_over_are_in_the_file(self, tmp_path: Path) -> None:
        url = f"sqlite:///{tmp_path}/a.db"
        with SlotMemory.open(url, clock=None, encoder=BagEncoder()) as memory:
            memory.ingest("The alarm code is 7431.")
            memory.hide("e1")
            memory.update("e1", "The alarm code is 9926.")
        with SlotMemory.open(url, clock=None, encoder=BagEncoder()) as memory:
            assert [mark.evidence_id for mark in memory.marks()] == ["e1", "e2"]
            memory.check()

    def test_for_want_of_room_the_old_version_of_what_is_kept_goes(self) -> None:
        memory = SlotMemory(clock=None, encoder=BagEncoder(), most_items=3)
        memory.ingest("Anna lives in Oslo.")
        memory.keep("e1")
        memory.update("e1", "Anna lives in Rome.")
        for text in ("One is red.", "Two is blue.", "Three is green."):
            memory.ingest(text)
        texts = {item.text for item in memory.evidence()}
        assert "Anna lives in Rome." in texts
        assert "Anna lives in Oslo." not in texts
        memory.check()


class TestForgettingVersions:
    """A fact goes with all that it was."""

    @pytest.mark.parametrize("named", ["e1", "e2", "e3", "e4"])
    def test_any_version_names_all(self, named: str) -> None:
        memory = SlotMemory(clock=None, encoder=BagEncoder())
        memory.ingest("Anna lives in Oslo.")
        memory.update("e1", "Anna lives in Rome.")
        memory.update("e1", "Anna lives in Bern.")
        memory.ingest("Anna lives in Faro.")
        memory.ingest("The cat sleeps.")
        memory.supersede("e3", "e4")
        receipt = memory.forget(named, versions=True)
        assert receipt.evidence == ("e1", "e2", "e3", "e4")
        assert [item.text for item in memory.evidence()] == ["The cat sleeps."]
        memory.check()

    def test_an_update_that_was_undone_is_a_version_and_what_was_told_wrongly_is_none(self) -> None:
        memory = SlotMemory(clock=None, encoder=BagEncoder())
        memory.ingest("Anna lives in Oslo.")
        memory.undo(str(memory.update("e1", "Anna lives in Rome.").succession))
        memory.ingest("The cat sleeps.")
        memory.undo(memory.supersede("e1", "e3").id)
        assert memory.forget("e1", versions=True).evidence == ("e1", "e2")

    def test_without_it_what_was_before_holds_again(self) -> None:
        memory = SlotMemory(clock=None, encoder=BagEncoder())
        memory.ingest("Anna lives in Oslo.")
        memory.update("e1", "Anna lives in Rome.")
        assert memory.forget("e2").evidence == ("e2",)
        with pytest.raises(InvalidInput, match="versions"):
            memory.forget("e1", versions=1)  # type: ignore[arg-type]

    def test_with_coroutines_it_is_the_same(self) -> None:
        async def run(memory: AsyncSlotMemory) -> tuple[str, ...]:
            await memory.ingest("Anna lives in Oslo.")
            await memory.update("e1", "Anna lives in Rome.")
            return (await memory.forget("e1", versions=True)).evidence

        assert asyncio.run(run(AsyncSlotMemory(clock=None, encoder=BagEncoder()))) == ("e1", "e2")
