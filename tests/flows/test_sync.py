"""A list that was edited: what is left, changed, new and gone."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent import AsyncSlotMemory, InvalidInput, SlotMemory, Turn, imports
from demem_agent.errors import IdempotencyConflict
from demem_agent.testing import BagEncoder
from demem_agent.types import Synced

DENTIST = {"text": "Our dentist is Dr Weiss.", "source_id": "c1"}
CAT = {"text": "The cat is called Minka.", "source_id": "c2"}
RENT = {"text": "The rent is 800 euros a month.", "source_id": "c3"}
OKAFOR = {**DENTIST, "text": "Our dentist is Dr Okafor."}
NOTES = ["The key is under the mat.", "The alarm code is 7431.", "The plumber comes on Fridays."]


def made(**options: Any) -> SlotMemory:
    return SlotMemory(**{"clock": None, "encoder": BagEncoder(), **options})


def synced(*turns: dict[str, Any]) -> SlotMemory:
    memory = made()
    memory.sync(turns, source="crm")
    return memory


def counts(done: Synced) -> tuple[int, int, int, int]:
    return len(done.changed), len(done.new), len(done.gone), done.unchanged


def live(memory: SlotMemory) -> list[str]:
    """Return what holds, in order."""
    return [item.text for item in memory.evidence() if memory.history(item.id)[-1].evidence == item]


class TestById:
    def test_at_first_all_is_new_and_then_nothing_is(self) -> None:
        memory = made()
        assert memory.sync([DENTIST, CAT], source="crm").new == ("e1", "e2")
        before = memory.fingerprint()
        assert counts(memory.sync([DENTIST, CAT], source="crm")) == (0, 0, 0, 2)
        assert memory.fingerprint() == before
        assert {item.source for item in memory.evidence()} == {"crm"}

    def test_what_says_something_else_is_an_update(self) -> None:
        memory = synced(DENTIST, CAT)
        done = memory.sync([CAT, OKAFOR], source="crm")
        assert counts(done) == (1, 0, 0, 1)
        assert (done.changed[0].replaced, done.changed[0].evidence_id) == ("e1", "e3")
        assert memory.answer("Who is our dentist?").text == OKAFOR["text"]
        memory.check()

    def test_another_speaker_or_time_is_a_change_as_well(self) -> None:
        memory = synced(DENTIST)
        assert counts(memory.sync([{**DENTIST, "speaker": "Ana"}], source="crm")) == (1, 0, 0, 0)
        dated = {**DENTIST, "speaker": "Ana", "at": "2024-03-02"}
        assert counts(memory.sync([dated], source="crm")) == (1, 0, 0, 0)

    def test_what_is_gone_is_told_and_stays(self) -> None:
        memory = synced(DENTIST, CAT)
        done = memory.sync([CAT, RENT], source="crm")
        assert (str(done), done.gone) == ("0 changed, 1 new, 1 gone", ("e1",))
        assert (len(memory), done.receipt) == (3, None)

    def test_what_is_gone_is_forgotten_where_that_is_wanted_with_all_it_said(self) -> None:
        memory = synced(DENTIST, CAT)
        memory.sync([OKAFOR, CAT], source="crm")
        done = memory.sync([CAT], source="crm", gone="forget")
        assert done.gone == ("e3",)
        assert done.receipt is not None
        assert set(done.receipt.evidence) == {"e1", "e3"}
        assert live(memory) == [CAT["text"]]
        memory.check()

    def test_what_comes_back_is_new(self) -> None:
        memory = synced(DENTIST, CAT)
        memory.sync([CAT], source="crm", gone="forget")
        assert counts(memory.sync([CAT, DENTIST], source="crm")) == (0, 1, 0, 1)

    def test_a_list_that_goes_back_to_what_it_said_is_followed(self) -> None:
        memory = synced(DENTIST)
        memory.sync([OKAFOR], source="crm")
        assert counts(memory.sync([DENTIST], source="crm")) == (1, 0, 0, 0)
        assert live(memory) == [DENTIST["text"]]
        memory.check()

    def test_what_was_corrected_by_hand_stays_until_the_list_says_something_else(self) -> None:
        memory = synced(DENTIST)
        memory.update("e1", "Our dentist is Dr Braun.")
        assert counts(memory.sync([DENTIST], source="crm")) == (0, 0, 0, 1)
        assert live(memory) == ["Our dentist is Dr Braun."]
        assert memory.sync([OKAFOR], source="crm").changed[0].replaced == "e2"

    def test_a_correction_that_the_list_takes_over_is_no_change(self) -> None:
        memory = synced(DENTIST)
        memory.update("e1", OKAFOR["text"])
        assert counts(memory.sync([OKAFOR], source="crm")) == (0, 0, 0, 1)

    def test_what_was_forgotten_stays_so_until_the_list_says_something_else(self) -> None:
        memory = synced(DENTIST, CAT)
        memory.forget("e1")
        assert counts(memory.sync([DENTIST, CAT], source="crm")) == (0, 0, 0, 2)
        assert counts(memory.sync([OKAFOR, CAT], source="crm")) == (0, 1, 0, 1)

    def test_what_was_told_to_hold_in_place_of_a_turn_is_not_changed_by_it(self) -> None:
        memory = synced(DENTIST, CAT)
        memory.supersede("e1", "e2")
        assert memory.sync([OKAFOR, CAT], source="crm").changed[0].replaced == "e1"

    def test_what_was_ingested_under_the_source_counts(self) -> None:
        memory = made()
        memory.ingest_many([{**turn, "source": "crm"} for turn in (DENTIST, CAT)])
        assert counts(memory.sync([OKAFOR, CAT], source="crm")) == (1, 0, 0, 1)
        assert memory.sync([OKAFOR], source="crm").gone == ("e2",)

    def test_what_was_ingested_with_a_key_is_known_by_it(self) -> None:
        memory = made()
        keyed = [{**turn, "key": turn["source_id"]} for turn in (DENTIST, CAT)]
        memory.ingest_many(keyed)
        assert counts(memory.sync(keyed, source="crm")) == (0, 0, 0, 2)
        keyed[0] |= OKAFOR
        assert counts(memory.sync(keyed, source="crm")) == (1, 0, 0, 1)

    def test_what_another_list_has_under_the_same_key_is_not_remembered_twice(self) -> None:
        memory = made()
        keyed = [{**turn, "key": turn["source_id"]} for turn in (DENTIST, CAT)]
        memory.sync(keyed, source="one")
        assert counts(memory.sync(keyed, source="two")) == (0, 0, 0, 2)
        assert counts(memory.sync([{**keyed[0], **OKAFOR}], source="two")) == (0, 1, 0, 0)
        assert memory.sync(keyed[1:], source="one").gone == ("e1",)

    def test_keys_stay_keys(self) -> None:
        memory = made()
        memory.ingest("One.", key="k")
        with pytest.raises(IdempotencyConflict, match=r"sync\("):
            memory.ingest("Two.", key="k")
        memory.supersede("e1", memory.ingest("Three.").evidence_id or "", key="told")
        with pytest.raises(IdempotencyConflict, match=r"use a new key$"):
            memory.supersede("e2", "e1", key="told")

    def test_other_lists_are_left_alone(self) -> None:
        memory = synced(DENTIST)
        memory.sync([CAT], source="crm:eu")
        memory.ingest("Not of a list.", source="crm")
        assert memory.sync([DENTIST], source="crm", gone="forget").gone == ()
        assert memory.sync([], source="crm", gone="forget").gone == ("e1",)
        assert len(memory) == 2

    def test_turns_that_share_an_id_are_told_apart_by_their_order(self) -> None:
        memory = made()
        parts = [{"text": f"part {n}", "source_id": "d"} for n in range(3)]
        parts.append({"text": "odd", "source_id": "d #2"})
        assert counts(memory.sync(parts, source="x")) == (0, 4, 0, 0)
        parts[1] = {"text": "part 9", "source_id": "d"}
        assert counts(memory.sync(parts, source="x")) == (1, 0, 0, 3)
        assert counts(memory.sync(parts[:2], source="x")) == (0, 0, 2, 2)


class TestByText:
    def sync(self, memory: SlotMemory, texts: Sequence[str]) -> tuple[int, int, int, int]:
        turns = [Turn(text, source_id=f"n.txt#{n}") for n, text in enumerate(texts, 1)]
        return counts(memory.sync(turns, source="n.txt", by="text"))

    def test_a_line_put_in_moves_no_other(self) -> None:
        memory = made()
        self.sync(memory, NOTES)
        assert self.sync(memory, ["Water the plants.", *NOTES]) == (0, 1, 0, 3)
        assert self.sync(memory, [*reversed(NOTES), "Water the plants."]) == (0, 0, 0, 4)

    def test_an_edited_line_is_an_update_wherever_it_stands(self) -> None:
        memory = made()
        self.sync(memory, NOTES)
        edited = [NOTES[2], "Water the plants.", "The alarm code is 9902.", NOTES[0]]
        assert self.sync(memory, edited) == (1, 1, 0, 2)

        assert memory.history("e2")[-1].evidence.text == "The alarm code is 9902."

    def test_each_has_an_id_of_its_own(self) -> None:
        memory = made()
        self.sync(memory, NOTES)
        self.sync(memory, ["Water the plants.", "The alarm code is 9902.", NOTES[0]])
        ids = {item.text: item.source_id for item in memory.evidence()}
        assert [ids[text] for text in NOTES] == ["n.txt#1", "n.txt#2", "n.txt#3"]
        assert ids["Water the plants."] == "n.txt#4"
        assert ids["The alarm code is 9902."] == "n.txt#2"

    def test_another_text_is_no_edit(self) -> None:
        memory = made()
        self.sync(memory, NOTES[:1])
        assert self.sync(memory, ["Sailing is fun."]) == (0, 1, 1, 0)

    def test_what_was_forgotten_stays_so(self) -> None:
        memory = made()
        self.sync(memory, NOTES)
        memory.forget("e2")
        assert self.sync(memory, ["Water the plants.", *NOTES]) == (0, 1, 0, 3)

    def test_the_same_text_twice_is_two_turns(self) -> None:
        memory = made()
        assert self.sync(memory, ["ok", "ok"]) == (0, 2, 0, 0)
        assert self.sync(memory, ["ok", "ok", "ok"]) == (0, 1, 0, 2)
        assert self.sync(memory, ["ok"]) == (0, 0, 2, 1)

    def test_turns_with_ids_and_without_live_side_by_side(self) -> None:
        memory = made()
        mixed = [{"text": NOTES[0]}, CAT, {"text": NOTES[1], "source_id": "x#1"}]
        assert counts(memory.sync(mixed, source="x")) == (0, 3, 0, 0)
        assert len({item.source_id for item in memory.evidence()}) == 3
        mixed[0] = {"text": "The key is under the pot."}
        assert counts(memory.sync(mixed, source="x")) == (1, 0, 0, 2)


def test_a_turn_that_is_but_a_reading_is_skipped() -> None:
    memory = synced(CAT)
    quoted = {"text": memory.read("Which cat?").text, "source_id": "q"}
    done = memory.sync([CAT, quoted], source="crm")
    assert (counts(done), done.skipped) == ((0, 0, 0, 1), 1)


@pytest.mark.parametrize(
    "how",
    [
        {"source": ""},
        {"source": None},
        {"source": "crm", "by": "place"},
        {"source": "crm", "gone": "delete"},
        {"source": "crm", "known": 2},
    ],
)
def test_what_cannot_be_is_refused(how: Any) -> None:
    with pytest.raises(InvalidInput, match=list(how)[-1]):
        made().sync([CAT], **how)


def test_of_a_list_with_a_bad_turn_none_is_remembered() -> None:
    memory = synced(CAT)
    with pytest.raises(InvalidInput, match=r"turns\[1\]"):
        memory.sync([DENTIST, {"text": 5}], source="crm")
    assert len(memory) == 1


def test_progress_is_told_of_all_turns() -> None:
    told: list[tuple[int, int]] = []
    memory = synced(CAT)
    memory.sync([CAT, DENTIST], source="crm", progress=lambda done, of: told.append((done, of)))
    assert told == [(2, 2)]


def test_bounded_storage_is_kept_to() -> None:
    memory = made(storage=60)
    memory.sync([DENTIST, CAT, RENT], source="crm")
    memory.sync([OKAFOR, CAT, RENT], source="crm")
    memory.check()
    assert memory.storage().used <= 60


def test_with_coroutines_a_file_and_an_export_it_is_the_same(tmp_path: Path) -> None:
    async def run(memory: AsyncSlotMemory) -> str:
        await memory.sync([DENTIST, CAT], source="crm")
        await memory.sync([OKAFOR, RENT], source="crm", gone="forget")
        return await memory.fingerprint()

    memory = made()
    memory.sync([DENTIST, CAT], source="crm")
    memory.sync([OKAFOR, RENT], source="crm", gone="forget")
    other = AsyncSlotMemory(clock=None, encoder=BagEncoder())
    assert asyncio.run(run(other)) == memory.fingerprint()
    url = f"sqlite:///{tmp_path}/a.db"
    again = SlotMemory.restore(json.loads(json.dumps(memory.export())), url, encoder=BagEncoder())
    assert counts(again.sync([OKAFOR, RENT], source="crm")) == (0, 0, 0, 2)
    again.close()
    with SlotMemory.open(url, encoder=BagEncoder()) as opened:
        assert counts(opened.sync([OKAFOR, RENT], source="crm")) == (0, 0, 0, 2)


WORDS = st.sampled_from(["key mat red", "key mat blue", "cat", "dog barks", "rent 800", "rent 900"])
LISTS = st.lists(st.tuples(st.none() | st.sampled_from("abc"), WORDS), max_size=5)


@given(st.lists(LISTS, max_size=4), st.booleans())
def test_after_any_edits_what_holds_is_what_the_list_says(
    lists: list[list[tuple[str | None, str]]], forgets: bool
) -> None:
    memory = made()
    for drawn in [*lists, *lists[-1:]]:
        turns = [Turn(text, source_id=id) for id, text in drawn]
        done = memory.sync(turns, source="x", gone="forget" if forgets else "tell")
        memory.check()
        assert done.unchanged + len(done.changed) + len(done.new) == len(turns)
        gone = set() if forgets else set(done.gone)
        updated = {one.old[0] for one in memory.successions() if one.how == "updated"}
        holds = [item for item in memory.evidence() if item.id not in updated | gone]
        assert sorted(item.text for item in holds) == sorted(turn.text for turn in turns)
    if lists:
        assert done.unchanged == len(turns)


def keyed(text: str, id: str = "2") -> dict[str, Any]:
    """Return a turn as an import makes it: its key follows its words."""
    return {"text": text, "source_id": id, "source": "s", "key": f"k:{text}"}


@pytest.mark.parametrize(("says", "old"), [("Faro is home.", "e1"), ("Porto is home.", "e2")])
def test_of_items_ingested_with_one_id_what_the_list_says_holds(says: str, old: str) -> None:
    memory = made()
    memory.ingest_many([keyed("Porto is home.")])
    memory.ingest_many([keyed("Faro is home.")])
    done = memory.sync([keyed(says)], source="s", gone="forget")
    assert counts(done) == (0, 0, 0, 1)
    assert (len(memory), live(memory)) == (2, [says])
    assert memory.history(old)[-1].evidence.text == says
    assert counts(memory.sync([keyed(says)], source="s", gone="forget")) == (0, 0, 0, 1)
    memory.check()


def test_of_items_ingested_with_one_id_the_latest_is_changed() -> None:
    memory = made()
    memory.ingest_many([keyed("Porto is home."), keyed("Faro is home.")])
    done = memory.sync([keyed("Braga is home.")], source="s", gone="forget")
    assert (counts(done), done.changed[0].replaced) == ((1, 0, 0, 0), "e2")
    assert [one.evidence.id for one in memory.history("e1")] == ["e1", "e2", "e3"]


def test_of_turns_that_share_an_id_each_is_known_wherever_it_stands() -> None:
    memory = made()
    memory.ingest_many([keyed("One."), keyed("Two."), keyed("Three.")])
    done = memory.sync([keyed("Three."), keyed("Two.")], source="s", gone="forget")
    assert (counts(done), done.gone) == ((0, 0, 1, 2), ("e1",))
    assert live(memory) == ["Two.", "Three."]


def test_a_late_call_under_the_key_of_a_turn_that_left_its_list_brings_nothing_back() -> None:
    memory = made()
    turn = keyed("Porto is home.") | {"key": "k"}
    first = memory.sync([turn], source="s", gone="forget").new
    memory.sync([], source="s", gone="forget")
    assert [one.evidence_id for one in memory.ingest_many([turn])] == list(first)
    assert memory.evidence() == ()


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["ingest", "sync", "update"]),
        st.lists(st.tuples(WORDS, st.sampled_from(["a", "b"])), max_size=3),
    ),
    max_size=5,
)


@given(STEPS, st.lists(st.tuples(WORDS, st.sampled_from(["a", "b"])), max_size=3))
def test_however_turns_came_what_the_list_says_is_not_lost(steps: Any, last: Any) -> None:
    memory = made()
    for how, drawn in [*steps, ("sync", last)]:
        turns = [keyed(text, id) | {"key": f"{id}:{text}"} for text, id in drawn]
        if how == "ingest":
            memory.ingest_many(turns)
        elif how == "update":
            for item in memory.evidence()[: len(drawn)]:
                memory.update(item.id, item.text, trust=0.5)
        else:
            done = memory.sync(turns, source="s", gone="forget")
            memory.check()
            assert {text for text, _ in drawn} <= {item.text for item in memory.evidence()}
            assert not set(done.new) & set(done.gone)
            assert done.unchanged + len(done.changed) + len(done.new) == len(turns)


@pytest.mark.parametrize("format", ["mem0", "csv"])
def test_of_an_export_ingested_twice_and_then_followed_nothing_is_lost(format: str) -> None:
    def exported(home: str) -> list[Turn]:
        if format == "csv":
            return list(imports.read(["id,text", f"7,{home}", "8,Ana sings."], "csv", name="s"))
        rows = [{"id": "7", "memory": home}, {"id": "8", "memory": "Ana sings."}]
        return list(imports.read([json.dumps({"results": rows})], "mem0", name="s"))

    memory = made()
    memory.ingest_many(exported("Porto is home."))
    memory.ingest_many(exported("Faro is home."))
    source = memory.evidence()[0].source or "s"
    done = memory.sync(exported("Faro is home."), source=source, gone="forget")
    assert done.gone == ()
    assert {"Faro is home.", "Ana sings."} <= set(live(memory))
    if format == "mem0":
        assert (counts(done), live(memory)) == ((0, 0, 0, 2), ["Ana sings.", "Faro is home."])


def test_another_list_of_the_same_name_is_refused_where_a_share_is_to_be_known() -> None:
    memory = synced(DENTIST, CAT)
    before = memory.fingerprint()
    for other in ([RENT], [{**RENT, "source_id": "c1"}], []):
        with pytest.raises(InvalidInput, match="known"):
            memory.sync(other, source="crm", gone="forget", known=0.1)
    assert memory.fingerprint() == before
    assert counts(memory.sync([OKAFOR], source="crm", known=0.1)) == (1, 0, 1, 0)
