"""Ask a dialogue's questions in order and tell the memory what would have been right."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from demem_agent.errors import InvalidInput
from demem_agent.evaluate.data.dialogue import Dialogue, Probe
from demem_agent.memory import SlotMemory
from demem_agent.types import Answer, FeedbackReport

__all__ = [
    "STAND_INS",
    "Asked",
    "Tell",
    "Tick",
    "by_reference",
    "can_teach",
    "taught",
    "ticked",
    "worth_auditing",
]

#: What stands in for the paper's language model; every report of a split audit says it.
STAND_INS = (
    "Offline scorers (token F1; reference contained in the reading) and an extractive answerer "
    "stand in for the paper's judges and language model. Columns headed \"paper\" are the paper's "
    "figures, not of this run."
)

#: Called with (dialogues done, all).
Tick = Callable[[int, int], object]
#: Gives feedback on the answer to a question.
Tell = Callable[[SlotMemory, Answer, Probe], FeedbackReport]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that was answered, and what feedback on it did.

    Attributes:
        question: its number in the dialogue's probes, from 0.
    """

    question: int
    answer: Answer
    report: FeedbackReport


def by_reference(memory: SlotMemory, answer: Answer, probe: Probe) -> FeedbackReport:
    """Tell the memory the reference of a question, as feedback on its answer."""
    return memory.feedback(answer, reference=probe.reference)


def can_teach(probe: Probe) -> bool:
    """Whether something answers a question, and its reference is known."""
    return probe.has_answer and bool(probe.reference.strip())


def taught(memory: SlotMemory, dialogue: Dialogue, tell: Tell = by_reference) -> Iterator[Asked]:
    """Answer each question and give feedback on it; leave out those that cannot teach.

    Lazy: what is between two questions sees the memory as it is then.
    """
    for number, probe in enumerate(dialogue.probes):
        if can_teach(probe):
            answer = memory.answer(probe.question, at=probe.at)
            yield Asked(number, answer, tell(memory, answer, probe))


def ticked(dialogues: Sequence[Dialogue], tick: Tick | None) -> Iterator[Dialogue]:
    """Yield dialogues, and tick each time that one is done."""
    for done, dialogue in enumerate(dialogues, 1):
        yield dialogue
        if tick is not None:
            tick(done, len(dialogues))


def worth_auditing(dialogues: Sequence[Dialogue]) -> list[Dialogue]:
    """Return the dialogues with two questions or more that have evidence: a conflict takes two.

    Raises:
        InvalidInput: if there are none.
    """
    found = list(filter(_can_conflict, dialogues))
    if not found:
        raise InvalidInput(
            "dialogues",
            len(dialogues),
            "some with two questions that have evidence, since a conflict takes two",
        )
    return found


def _can_conflict(dialogue: Dialogue) -> bool:
    return sum(map(_has_gold, dialogue.probes)) > 1


def _has_gold(probe: Probe) -> bool:
    return bool(probe.evidence) and probe.has_answer
