"""The questions of a run, each with what a system reads for it; no model is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter

from demem_agent.errors import InvalidInput
from demem_agent.evaluate.data.dialogue import Dialogue, Probe
from demem_agent.evaluate.gold import TurnsById, gold_turns
from demem_agent.evaluate.grouping import grouped
from demem_agent.evaluate.metrics import as_reading, recall
from demem_agent.evaluate.system import Maker, System, too_long
from demem_agent.llms.answerer import answering_prompt
from demem_agent.turns import whole_field
from demem_agent.types import Question

__all__ = ["Posed", "is_posed", "posed"]

#: Called with (readings done, readings in all), those of a dialogue at once.
Tick = Callable[[int, int], object]


@dataclass(frozen=True, slots=True)
class Posed:
    """One question with what a system reads for it.

    Attributes:
        seconds: that the read took.
        recall: how much of the evidence stands in the reading, in [0, 1]; None without evidence.
    """

    system: str
    dialogue: str
    question: int
    category: str
    reference: str
    asked: Question
    seconds: float = field(default=0.0, compare=False)
    recall: float | None = None

    @property
    def prompt(self) -> str:
        """What the model that answers is sent after its instructions."""
        return answering_prompt(self.asked).variable


def posed(
    dialogues: Sequence[Dialogue],
    systems: Mapping[str, Maker],
    limit: int,
    *,
    unanswerable: bool = False,
    tick: Tick | None = None,
) -> list[Posed]:
    """Have every system read for every question that has an answer; no model is asked.

    Args:
        limit: characters that a reading may have, >= 1.
        unanswerable: pose questions as well that nothing answers, where a reference says so.

    Raises:
        InvalidInput: if no question has a reference, or naming the system that reads more than the
            limit.
    """
    whole_field("limit", limit, 1)
    total = len(dialogues) * len(systems)
    done = 0
    found: list[Posed] = []
    for dialogue in dialogues:
        for name, make in systems.items():
            found += _posed(dialogue, name, make, limit, unanswerable)
            done += 1
            if tick:
                tick(done, total)
    if not found:
        names = [dialogue.name for dialogue in dialogues]
        raise InvalidInput("dialogues", names, "dialogues with questions that have a reference")
    return found


def _posed(
    dialogue: Dialogue, name: str, make: Maker, limit: int, unanswerable: bool
) -> Iterator[Posed]:
    system = make()
    system.ingest(dialogue.turns)
    turns = grouped(dialogue.turns, lambda turn: turn.source_id)
    for number, probe in enumerate(dialogue.probes):
        if not is_posed(probe, unanswerable=unanswerable):
            continue
        began = perf_counter()
        text = system.read(probe.question, limit, probe.at)
        seconds = perf_counter() - began
        _check_length(system, text, limit, name)
        yield Posed(
            system=name,
            dialogue=dialogue.name,
            question=number,
            category=probe.category,
            reference=probe.reference,
            asked=Question(probe.question, probe.at, as_reading(text)),
            seconds=seconds,
            recall=_recall(text, probe, turns),
        )


def is_posed(probe: Probe, *, unanswerable: bool) -> bool:
    """Whether a question is posed: judges need a reference."""
    return (probe.has_answer or unanswerable) and bool(probe.reference.strip())


def _recall(text: str, probe: Probe, turns: TurnsById) -> float | None:
    if not (probe.has_answer and probe.evidence):
        return None
    return recall(text, list(gold_turns(probe, turns)))


def _check_length(system: System, text: str, limit: int, name: str) -> None:
    if too_long(system, text, limit):
        field = f"the reading of {name!r}"
        raise InvalidInput(field, f"{len(text)} characters", f"at most {limit} characters")
