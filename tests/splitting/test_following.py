"""Contexts of a witness's question follow it: when a slot is divided, and ever after.

Two questions share a slot. What is right for the one is wrong for the other, which their rewards
certify; and what is right for each is said in the words of the other, so that bare words mislead.
Each comes up again and again, before the split and after it.
"""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest

from demem_agent import SlotMemory, SplitSettings
from demem_agent.slots.experience import question_of
from demem_agent.types import Context, Draft, Question, SplitCertificate

GUESTS = "Which lamp is to be lit when guests arrive in the evening?"
READING = "Which lamp is to be lit when I read in the evening?"
RIGHT = {GUESTS: "the big lamp", READING: "the small lamp"}
SAID = (
    "The big lamp is to be lit when I read in the evening.",
    "The small lamp is to be lit when guests arrive in the evening.",
    "The curtains were washed in spring.",
)


class Guessing:
    """Answer with one of the two lamps by a seeded chance, from the item that tells of it."""

    def __init__(self) -> None:
        self.chance = random.Random(8)

    def answer(self, question: Question) -> Draft:
        n = self.chance.randrange(2)
        return Draft(sorted(RIGHT.values())[n], (f"e{n + 1}",))


def memory_of(*, decisions: bool = False, slots: int = 4) -> SlotMemory:
    memory = SlotMemory(
        slots=slots,
        initial_slots=1,
        answerer=Guessing(),
        split=SplitSettings(tau_split=0.1, tau_sat=0.2),
        decisions=decisions,
    )
    for text in SAID:
        memory.ingest(text)
    return memory


def lived(memory: SlotMemory, times: int, questions: Iterable[str] = (GUESTS, READING)) -> None:
    for _ in range(times):
        for query in questions:
            answer = memory.answer(query)
            memory.feedback(answer, reward=float(answer.text == RIGHT[query]))
    memory.check()


def split_of(memory: SlotMemory) -> SplitCertificate:
    (certificate,) = memory.certificates()
    assert certificate.decision == "split"
    return certificate


def sides(contexts: Iterable[Context]) -> dict[str, set[int | None]]:
    found: dict[str, set[int | None]] = {}
    for context in contexts:
        found.setdefault(context.query, set()).add(context.slot)
    return found


@pytest.mark.parametrize("decisions", [False, True])
def test_no_context_of_a_witness_s_question_is_on_the_other_side(decisions: bool) -> None:
    memory = memory_of(decisions=decisions)
    while not memory.certificates() or len(memory.contexts()) <= 30:
        lived(memory, 1)
    made = split_of(memory)
    homes = dict(zip(made.queries, (made.slot, made.new_slot), strict=True))
    assert sides(memory.contexts()) == {query: {home} for query, home in homes.items()}


def test_later_arrivals_are_routed_to_the_side_of_their_witness_whatever_they_earn() -> None:
    memory = memory_of()
    while not memory.certificates():
        lived(memory, 1)
    made = split_of(memory)
    before = len(memory.contexts())
    lived(memory, 75)
    homes = dict(zip(made.queries, (made.slot, made.new_slot), strict=True))
    later = memory.contexts()[before:]
    assert len(later) == 150
    assert [context.slot for context in later] == [homes[context.query] for context in later]


def test_after_an_undo_nothing_follows_a_witness_any_more() -> None:
    memory = memory_of()
    while not memory.certificates():
        lived(memory, 1)
    memory.undo(split_of(memory).id)
    memory.check()
    assert {context.slot for context in memory.contexts()} == {0}


def test_a_reopened_memory_routes_to_the_same_side() -> None:
    memory = memory_of()
    while not memory.certificates():
        lived(memory, 1)
    again = SlotMemory.restore(memory.export(), answerer=Guessing())
    for query in RIGHT:
        assert again.route(query).slot == memory.route(query).slot


def test_the_same_words_of_another_asker_are_another_question() -> None:
    mine = Context("a1", GUESTS, None, 0, "", (), asker="Ann")
    theirs = Context("a2", GUESTS, None, 0, "", (), asker="Ben")
    again = Context("a3", GUESTS.upper(), None, 0, "", (), asker="ANN")
    assert question_of(mine) == question_of(again) != question_of(theirs)
    assert question_of(Context("a4", "", None, 0, "", (), redacted=True)) is None
