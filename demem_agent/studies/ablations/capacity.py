"""Certified splits against slots opened by similarity, at the same number of slots.

More slots hold more, whatever opened them, so each variant that splits is compared, dialogue by
dialogue, with a memory that similarity gave as many slots as the variant ended with, and that is
told the same. Variants may merge: where a conflict waits for a slot, two slots become one if a test
finds that they may share, and the next feedback splits. The measure is what strict readings find
when all is asked again, since the default reading draws on all slots.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Unpack

from demem_agent.evaluate.data.dialogue import Dialogue
from demem_agent.memory import SlotMemory
from demem_agent.options import Options
from demem_agent.settings import SHARING, SplitSettings
from demem_agent.studies.ablations.replay import Build, Learning, Replay, replay
from demem_agent.studies.asking import Tick, ticked
from demem_agent.studies.intervals import Intervals
from demem_agent.studies.sheets import Cell, Found, Sheet, SheetRow, spread

__all__ = ["LINE", "VARIANTS", "Compared", "audit_capacity", "capacity_sheets", "compared"]

#: By so much a repartition must beat similarity at the same number of slots to be worth its splits.
LINE = 0.03
_MERGING = SplitSettings(sharing=SHARING)


def _made(**options: Unpack[Options]) -> Learning:
    given: Options = {"slots": 10, "initial_slots": 5, "clock": None, **options}
    return Learning(SlotMemory(**given))


#: By name, memories that split; how they begin, and whether they merge.
VARIANTS: Mapping[str, Build] = {
    "certified": _made,
    "certified, merges": partial(_made, split=_MERGING),
    "certified from one slot, merges": partial(_made, initial_slots=1, split=_MERGING),
}
#: What is compared, by its name in a step and in a table, when all is asked again.
_MEASURES = {
    "summary words": "in the summary",
    "slot": "in the slot",
    "reading 2000": "in 2,000 characters",
}


@dataclass(frozen=True, slots=True)
class Compared:
    """One question of one dialogue, asked again at the end.

    Attributes:
        variant: a memory that splits.
        slots: that it ended with; ``splits``: carried out.
        certified: what it finds, in [0, 1]; ``similar``: what as many slots by similarity find.
    """

    dialogue: str
    variant: str
    question: int
    slots: int
    splits: int
    certified: Mapping[str, float]
    similar: Mapping[str, float]


def audit_capacity(
    dialogues: Sequence[Dialogue], *, seed: int = 0, tick: Tick | None = None
) -> Found:
    """Replay every variant, and similarity at its number of slots, and sum up."""
    records: list[Compared] = []
    for dialogue in ticked(dialogues, tick):
        records += compared(dialogue)
    return Found(records, capacity_sheets(records, seed), (_verdict(records, seed),))


def compared(
    dialogue: Dialogue,
    variants: Mapping[str, Build] = VARIANTS,
    by_similarity: Callable[[int], Learning] | None = None,
) -> list[Compared]:
    """Replay a dialogue under each variant, and under similarity with as many slots.

    Args:
        by_similarity: makes a memory of so many slots that never splits.
    """
    opened = by_similarity or _opened
    known: dict[int, Replay] = {}
    records: list[Compared] = []
    for name, build in variants.items():
        run = replay(dialogue, build, limits=(2000,))
        if run.slots not in known:
            known[run.slots] = replay(dialogue, partial(opened, run.slots), limits=(2000,))
        others = {step.question: step.measures for step in known[run.slots].steps if step.again}
        records += [
            Compared(
                dialogue=dialogue.name,
                variant=name,
                question=step.question,
                slots=run.slots,
                splits=run.splits,
                certified=step.measures,
                similar=others[step.question],
            )
            for step in run.steps
            if step.again
        ]
    return records


def _opened(slots: int) -> Learning:
    """Make a memory whose slots similarity opens, all of them, and that never splits."""
    unsplit = SplitSettings(pairs=0)
    return _made(slots=slots, initial_slots=slots, split=unsplit)


def capacity_sheets(records: Sequence[Compared], seed: int) -> tuple[Sheet, ...]:
    """Sum up records, a row a variant, with what each measure is and is more than similarity's."""
    of = Intervals(seed)
    rows: list[SheetRow] = []
    for variant in dict.fromkeys(one.variant for one in records):
        own = [one for one in records if one.variant == variant]
        cells: list[Cell] = [spread(own, "slots"), spread(own, "splits")]
        for measure in _MEASURES:
            cells += [
                of.over(own, partial(_found, measure=measure)),
                of.over(own, partial(_more, measure=measure)),
            ]
        rows.append((variant, tuple(cells)))
    columns = ["slots", "splits"]
    for words in _MEASURES.values():
        columns += [words, "more"]
    return (Sheet("At the same number of slots, all asked again", tuple(columns), tuple(rows)),)


def _found(one: Compared, measure: str) -> float:
    return one.certified[measure]


def _more(one: Compared, measure: str) -> float:
    return one.certified[measure] - one.similar[measure]


def _verdict(records: Sequence[Compared], seed: int) -> str:
    """Say whether any variant beats similarity by the line."""
    of = Intervals(seed)
    beaten = []
    for variant in dict.fromkeys(one.variant for one in records):
        own = [one for one in records if one.variant == variant]
        more = of.over(own, partial(_more, measure="summary words"))
        if more is not None and more.mean >= LINE:
            beaten.append(variant)
    which = ", ".join(beaten) if beaten else "none"
    return (
        "More: than as many slots opened by similarity, question by question. Found in the summary "
        f"by at least {LINE:g} more: {which}."
    )
