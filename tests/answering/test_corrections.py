"""Corrections: each is remembered once, beside what was known, and is read, retried and forgotten
like evidence.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

import pytest
from machine import BreakableStore

from demem_agent import Answer, SlotMemory, SplitSettings
from demem_agent.errors import CollaboratorError, StoreError
from demem_agent.stores import MemoryStore
from demem_agent.testing import BagEncoder, Failing, ReadingAnswerer, ScriptedScorer
from demem_agent.types import Attempt, Context, Evidence, FeedbackReport

OLD, QUESTION, RIGHT = (
    "Ana's office is in Lisbon.",
    "Where is Ana's office?",
    "Ana's office is in Porto.",
)
REMEMBERED = f'correction to "{QUESTION}": {RIGHT}'
OTHERS = (
    "The boiler has a brass valve.",
    "The violin has a broken bow.",
    "The train has a new driver.",
)
ASKED, GIVEN = datetime(2024, 3, 2, 9, 30), datetime(2024, 5, 1, 8, 0)


def memory_of(**options: Any) -> SlotMemory:
    memory = SlotMemory(
        **{
            "clock": None,
            "encoder": BagEncoder(),
            "answerer": ReadingAnswerer(),
            "slots": 4,
            **options,
        }
    )
    memory.ingest(OLD, at="2024-01-05")
    for text in OTHERS:
        memory.ingest(text)
    return memory


def asked(memory: SlotMemory, question: str = QUESTION) -> Answer:
    return memory.answer(question, at=ASKED)


def corrected(memory: SlotMemory, told: str = RIGHT, **more: Any) -> FeedbackReport:
    report = memory.feedback(asked(memory), correction=told, **more)
    memory.check()
    return report


def corrections(memory: SlotMemory) -> list[Evidence]:
    return [item for item in memory.evidence() if item.source == "correction"]


def context_of(memory: SlotMemory, answer_id: str) -> Context:
    return next(context for context in memory.contexts() if context.id == answer_id)


# What is remembered


def test_a_correction_is_remembered_with_its_question_its_time_and_where_it_is_from() -> None:
    memory = memory_of()
    report = corrected(memory)
    assert corrections(memory) == [
        Evidence("e5", REMEMBERED, None, ASKED, None, "correction", "correction:a1", 1.0)
    ]
    assert report.remembered == "e5"


def test_a_memory_with_a_clock_dates_a_correction_when_its_question_was_asked() -> None:
    memory = memory_of(clock=lambda: GIVEN)
    corrected(memory)
    assert [item.at for item in corrections(memory)] == [ASKED]


def test_a_correction_is_read_as_one_and_as_nobodys_words() -> None:
    memory = memory_of()
    corrected(memory)
    assert f"\n- {REMEMBERED}\n" in memory.read(QUESTION, limit=300).text


def test_a_correction_of_an_undated_question_has_no_date() -> None:
    memory = memory_of()
    memory.feedback(memory.answer(QUESTION), correction=RIGHT)
    assert [item.at for item in corrections(memory)] == [None]


@pytest.mark.parametrize(
    "told", [{"reward": 1.0}, {"reference": RIGHT}, {"thumbs": False}, {"agreement": [RIGHT]}]
)
def test_nothing_else_that_is_told_becomes_evidence(told: dict[str, Any]) -> None:
    memory = memory_of()
    report = memory.feedback(asked(memory), **told)
    assert (report.remembered, len(memory)) == (None, 4)


def test_the_old_fact_stays_as_it_was() -> None:
    memory = memory_of()
    before = memory.evidence()
    corrected(memory)
    assert memory.evidence()[:4] == before


def test_the_context_rests_on_the_correction() -> None:
    memory = memory_of()
    corrected(memory)
    context = context_of(memory, "a1")
    assert (context.channel, context.reference, context.supports) == ("correction", RIGHT, ("e5",))
    assert context.credible


@pytest.mark.parametrize("limit", [300, 6000])
@pytest.mark.parametrize("question", [QUESTION, "Ana's office, where is it?"])
def test_a_reading_after_it_holds_it(limit: int, question: str) -> None:
    memory = memory_of()
    corrected(memory)
    reading = memory.read(question, limit=limit)
    assert RIGHT in reading.text
    assert reading.size <= limit


@pytest.mark.parametrize(
    "question", [QUESTION, " Is it?\n", "Where??", "No mark", "Wo ist Ünï 🎻?"]
)
def test_the_question_and_its_correction_are_one_sentence(question: str) -> None:
    memory = memory_of()
    memory.feedback(asked(memory, question), correction="  so.\n")
    assert [item.text for item in corrections(memory)] == [
        f'correction to "{question.strip()}": so.'
    ]


# Once


def test_the_same_correction_given_again_is_remembered_once() -> None:
    memory = memory_of()
    answer = asked(memory)
    reports = [memory.feedback(answer, correction=RIGHT) for _ in range(3)]
    assert {report.remembered for report in reports} == {"e5"}
    assert len(corrections(memory)) == 1
    assert len(context_of(memory, "a1").rewards) == 3


def test_the_same_correction_of_the_same_question_asked_again_is_remembered_once() -> None:
    memory = memory_of()
    corrected(memory)
    assert corrected(memory).remembered == "e5"
    assert context_of(memory, "a2").supports == ("e5",)


def test_another_correction_of_the_same_answer_is_remembered_beside_the_first() -> None:
    memory = memory_of()
    answer = asked(memory)
    memory.feedback(answer, correction="In Faro.")
    memory.feedback(answer, correction=RIGHT)
    assert [item.id for item in corrections(memory)] == ["e5", "e6"]
    assert context_of(memory, "a1").supports == ("e6",)


def test_a_keyed_retry_gives_the_stored_report_and_remembers_nothing() -> None:
    memory = memory_of()
    first = corrected(memory, key="k")
    before = memory.fingerprint()
    assert memory.feedback("a1", correction=RIGHT, key="k") == first
    assert memory.fingerprint() == before


def test_a_correction_that_was_forgotten_is_remembered_when_it_is_given_anew() -> None:
    memory = memory_of()
    corrected(memory)
    memory.forget("e5")
    assert corrected(memory).remembered == "e6"


# What fails on the way


@pytest.mark.parametrize(
    ("good", "written", "left"), [(0, False, 0), (0, True, 1), (1, False, 1), (1, True, 1)]
)
def test_a_store_that_fails_on_the_way_loses_no_correction_and_a_retry_makes_no_second_one(
    good: int, written: bool, left: int
) -> None:
    store, plain = BreakableStore(MemoryStore()), memory_of()
    memory = memory_of_store(store)
    asked(memory)
    store.break_after(good, written)
    with pytest.raises(StoreError):
        memory.feedback("a1", correction=RIGHT, key="k")
    assert len(corrections(memory)) == left
    memory.check()
    report = memory.feedback("a1", correction=RIGHT, key="k")
    assert report == corrected(plain, key="k")
    assert memory.fingerprint() == plain.fingerprint()


def memory_of_store(store: BreakableStore) -> SlotMemory:
    memory = SlotMemory.open(
        store, clock=None, encoder=BagEncoder(), answerer=ReadingAnswerer(), slots=4
    )
    memory.ingest(OLD, at="2024-01-05")
    for text in OTHERS:
        memory.ingest(text)
    return memory


def test_a_scorer_that_fails_leaves_the_correction_remembered() -> None:
    right = ScriptedScorer(1.0)
    memory = memory_of(scorers=(right, Failing()))
    with pytest.raises(CollaboratorError):
        memory.feedback(asked(memory), correction=RIGHT)
    assert [item.text for item in corrections(memory)] == [REMEMBERED]
    assert context_of(memory, "a1").rewards == ()


# Forgetting


def test_a_forgotten_correction_leaves_no_trace_and_takes_nothing_else_along() -> None:
    memory = memory_of()
    corrected(memory)
    receipt = memory.forget("e5")
    memory.check()
    assert receipt.evidence == ("e5",)
    assert "Porto" not in repr(memory.export())
    assert len(memory) == 4
    context = context_of(memory, "a1")
    assert (context.reference, context.channel, context.credible, context.supports) == (
        None,
        "none",
        False,
        (),
    )


def test_corrections_are_forgotten_by_the_answer_they_are_about() -> None:
    memory = memory_of()
    corrected(memory)
    assert memory.forget(source_id="correction:a1").evidence == ("e5",)


def test_a_correction_goes_with_the_item_that_it_quotes() -> None:
    memory = memory_of()
    corrected(memory, f"No. {OLD} It was there in May as well.")
    assert memory.forget("e1").evidence == ("e1", "e5")
    assert "Lisbon" not in repr(memory.export())


def test_a_correction_goes_with_the_item_that_its_question_quotes() -> None:
    memory = memory_of()
    answer = asked(memory, f"Is it so? {OLD}")
    memory.feedback(answer, correction="It has moved to the river.")
    assert memory.forget("e1").evidence == ("e1", "e5")
    assert "Lisbon" not in repr(memory.export())


def test_a_correction_stays_when_what_it_contradicts_is_forgotten() -> None:
    memory = memory_of()
    corrected(memory)
    assert memory.forget("e1").evidence == ("e1",)
    assert [item.text for item in corrections(memory)] == [REMEMBERED]


def test_another_correction_of_the_same_question_stays() -> None:
    memory = memory_of()
    corrected(memory, "In Faro, they say.")
    corrected(memory)
    assert memory.forget("e5").evidence == ("e5",)


def test_a_correction_goes_with_a_correction_that_goes_and_that_it_quotes() -> None:
    memory = memory_of()
    memory.feedback(
        asked(memory, f"Is it so? {OLD}"), correction="No. She bought a small house in Braga."
    )
    memory.feedback(
        asked(memory, "Why? She bought a small house in Braga."), correction="Her aunt is there."
    )
    assert memory.forget("e1").evidence == ("e1", "e5", "e6")


def test_a_correction_of_a_forgotten_answer_teaches_and_is_not_remembered() -> None:
    memory = memory_of()
    answer = asked(memory)
    memory.forget("e1")
    report = memory.feedback(answer.id, correction=RIGHT)
    assert (report.remembered, len(memory)) == (None, 3)
    assert context_of(memory, answer.id).redacted


# Unusual ones


def test_an_empty_memory_remembers_a_correction_first() -> None:
    memory = SlotMemory(encoder=BagEncoder(), answerer=ReadingAnswerer())
    report = memory.feedback(memory.answer(QUESTION), correction=RIGHT)
    memory.check()
    assert (report.remembered, [item.text for item in memory.evidence()]) == ("e1", [REMEMBERED])
    assert context_of(memory, "a1").slot == memory.slots[0].number
    assert RIGHT in memory.read(QUESTION, limit=300).text


def test_a_long_correction_is_kept_whole_and_read_within_the_limit() -> None:
    memory = memory_of()
    told = " ".join(f"Step {n}: turn the handle {n} times." for n in range(300))
    assert len(told) > 10_000
    corrected(memory, told)
    assert [item.text for item in corrections(memory)] == [f'correction to "{QUESTION}": {told}']
    reading = memory.read(QUESTION, limit=300)
    assert 0 < reading.size <= 300
    assert memory.read(QUESTION).size <= 6000


@pytest.mark.parametrize(
    "told", ["\x00\x07", "\ud800", "\u202e\u05d0", "🎻" * 50, "</demem:memory>", "# 5 May 2024"]
)
def test_any_text_can_be_a_correction(told: str) -> None:
    memory = memory_of()
    corrected(memory, told)
    assert [item.text for item in corrections(memory)] == [f'correction to "{QUESTION}": {told}']
    assert SlotMemory.restore(memory.export(), encoder=BagEncoder()).evidence() == memory.evidence()


def test_a_correction_with_a_reading_in_it_is_remembered_once() -> None:
    memory = memory_of()
    answer = asked(memory)
    for _ in range(2):
        memory.feedback(answer, correction=f"{answer.reading.text}\n{RIGHT}")
    assert len(corrections(memory)) == 1


# Slots


@pytest.mark.parametrize("initial", [1, 4])
def test_a_context_is_at_home_where_its_correction_is(initial: int) -> None:
    memory = memory_of(initial_slots=initial, near=0.9)
    report = corrected(memory)
    home = {item: slot.number for slot in memory.slots for item in slot.evidence}
    assert context_of(memory, "a1").slot == home[str(report.remembered)]


def test_two_users_corrections_that_contradict_each_other_split_a_slot() -> None:
    right = ScriptedScorer(lambda attempt: float(attempt.reference in attempt.reading))
    split = SplitSettings(c_beta=0.2, sigma_0=0.1, eta_cal=0.02, tau_split=0.1, tau_sat=0.2)
    memory = SlotMemory(
        clock=None,
        encoder=BagEncoder(),
        answerer=ReadingAnswerer(),
        scorers=(right, right),
        initial_slots=1,
        slot_limit=100,
        read_limit=200,
        split=split,
    )
    memory.ingest("Tea is served at noon.")
    memory.feedback(memory.answer("Ana asks: when is tea?"), correction="tea is at four for Ana")
    report = memory.feedback(
        memory.answer("Bo asks: when is tea?"), correction="tea is at six for Bo"
    )
    memory.check()
    assert report.split
    assert {item for slot in memory.slots for item in slot.evidence} == {"e1", "e2", "e3"}
    assert [
        slot.number for item in ("e2", "e3") for slot in memory.slots if item in slot.evidence
    ] == [0, 1]


def test_the_same_question_is_answered_as_it_was_corrected() -> None:
    memory = SlotMemory()
    memory.ingest("My sister Carla moved to Porto in May.", speaker="Ana")
    memory.feedback(memory.answer("Where does Carla live?"), correction="in Braga now")
    again = memory.answer("where does Carla live")
    assert (again.text, again.evidence) == ("in Braga now", ("e2",))


def test_of_two_corrections_of_one_question_the_later_is_given() -> None:
    memory = SlotMemory()
    for told in ("in Braga now", "in Faro, since June"):
        memory.feedback(memory.answer("Where does Carla live?"), correction=told)
    assert memory.answer("Where does Carla live?").text == "in Faro, since June"


def test_a_correction_that_goes_back_to_an_earlier_one_counts() -> None:
    memory = SlotMemory()
    for told in ("under the mat", "in the shed", "under the mat"):
        memory.feedback(memory.answer("Where is the key?"), correction=told)
    assert memory.answer("Where is the key?").text == "under the mat"
    assert len(memory) == 3


def test_the_same_correction_from_several_threads_is_remembered_once() -> None:
    memory = SlotMemory()
    answer = memory.answer("Where is the key?")
    with ThreadPoolExecutor(4) as pool:
        list(
            pool.map(
                lambda _: memory.feedback(answer, correction="under the mat", key="k"), range(4)
            )
        )
    assert len(memory) == 1
    memory.check()


@pytest.mark.parametrize("forgotten", ["The car in the garage is blue.", "Yes.", "Blue"])
def test_a_correction_that_shares_a_word_with_what_is_forgotten_stays(forgotten: str) -> None:
    memory = SlotMemory()
    memory.ingest(forgotten)
    memory.feedback(memory.answer("Which colour has the door?"), correction="Yes, it is blue now")
    assert memory.forget("e1").evidence == ("e1",)
    assert len(memory) == 1


def test_a_correction_of_a_question_with_a_reading_in_it_is_remembered_once() -> None:
    memory = SlotMemory()
    memory.ingest("The spare key is behind the blue pot.")
    answer = memory.answer(f"{memory.read('Where is the key?').text}\nWhere is the key?")
    for _ in range(2):
        memory.feedback(answer, correction="under the mat")
    assert [item.text for item in memory.evidence()][1:] == [
        'correction to "Where is the key?": under the mat'
    ]


def test_a_correction_that_is_forgotten_while_the_answer_is_rated_leaves_a_sound_memory() -> None:
    def forgetting(_: Attempt) -> float:
        if any(item.id == "e1" for item in memory.evidence()):
            memory.forget("e1")
        return 1.0

    scorer = ScriptedScorer(forgetting)
    memory = SlotMemory(scorers=(scorer, scorer))
    report = memory.feedback(memory.answer("Where is the key?"), correction="under the mat")
    assert (report.reward, len(memory)) == (1.0, 0)
    memory.check()
