"""Audit the drop-in: what confining a retriever to the slot of a partition does to its recall."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from demem_agent.encoders import default_encoder
from demem_agent.evaluate.data.dialogue import Dialogue
from demem_agent.evaluate.grouping import grouped
from demem_agent.memory import SlotMemory
from demem_agent.studies.asking import Tick, ticked
from demem_agent.studies.drop_in.selecting import ORIGINAL, RETRIEVERS, Dropped, Selecting
from demem_agent.studies.intervals import Intervals
from demem_agent.studies.paper import DROP_IN
from demem_agent.studies.sheets import Cell, Found, Sheet, SheetRow
from demem_agent.studies.slots.held import held_items
from demem_agent.studies.slots.partition import PARTITIONS

__all__ = ["LIMIT", "audit_drop_in", "drop_in_sheets", "dropped_of"]

#: Characters of every reading.
LIMIT = 2000
#: What a partition is called in tables of five retrievers.
_SHORT = {"oracle-support": "gold"}
#: What the paper's systems are here.
_THEIRS = {"cosine": "RAG", "graph": "EMem-G"}
NOTES = (
    "A partition: passages of its slot that the slot scores choose, and no others; nearest: of the "
    "slot whose prototype is nearest, as in the paper; oracle: of the slot with most gold; first: "
    "the chosen slot's ahead of all others. Own slots are those of a memory before feedback; gold "
    "is a partition made from it. Recall of gold turns within 2,000 characters, where the paper "
    "has answers judged right (RAG and EMem-G; cosine and graph stand for them). Differences are "
    "question by question.",
)


def audit_drop_in(
    dialogues: Sequence[Dialogue], *, seed: int = 0, tick: Tick | None = None
) -> Found:
    """Read for each question by every retriever, as it is and confined, and sum up."""
    dropped: list[Dropped] = []
    for dialogue in ticked(dialogues, tick):
        dropped += dropped_of(dialogue, seed=seed)
    return Found(dropped, drop_in_sheets(dropped, seed), NOTES)


def dropped_of(dialogue: Dialogue, *, limit: int = LIMIT, seed: int = 0) -> Iterator[Dropped]:
    """Yield what is read for a dialogue's questions with gold.

    Args:
        limit: of every reading, in characters.
        seed: of the partitions that are drawn.
    """
    memory = SlotMemory(clock=None)
    memory.ingest_many(dialogue.turns)
    slots = memory.settings.slots
    room = -(-len(memory.evidence()) // 4)  # as the partition intervention bounds its slots
    held = held_items(memory, dialogue, default_encoder(), slots, room)
    divided = [
        held.divided(_SHORT.get(name, name), divide, seed) for name, divide in PARTITIONS.items()
    ]
    yield from Selecting(held, dialogue, limit).dropped(divided, also=("own", "gold"))


def drop_in_sheets(dropped: Sequence[Dropped], seed: int) -> tuple[Sheet, ...]:
    """Sum up recall by retriever and selection, its difference to the original, and by category."""
    of = Intervals(seed)
    by_selection = grouped(dropped, lambda one: one.selection)
    recalls: list[SheetRow] = []
    paper = (DROP_IN[_THEIRS[name]] if name in _THEIRS else None for name in RETRIEVERS)
    gains = [None if one is None else round(one[1] - one[0], 3) for one in paper]
    differences: list[SheetRow] = [("paper, judged", tuple(gains))]
    originals = _by_retriever(by_selection.get(ORIGINAL, []))
    for selection, own in by_selection.items():
        found = _by_retriever(own)
        recalls.append((selection, tuple(_recall(found[name], of) for name in RETRIEVERS)))
        if selection != ORIGINAL:
            against = (_less(found[name], originals[name], of) for name in RETRIEVERS)
            differences.append((selection, tuple(against)))
    names = tuple(RETRIEVERS)
    return (
        Sheet("Recall within 2,000 characters", names, tuple(recalls)),
        Sheet("The same, less the original", names, tuple(differences)),
        _by_category(by_selection, of),
    )


def _by_retriever(dropped: Sequence[Dropped]) -> Mapping[str, list[Dropped]]:
    return grouped(dropped, lambda one: one.retriever)


def _recall(dropped: Sequence[Dropped], of: Intervals) -> Cell:
    return of.over(dropped, lambda one: one.recall)


def _less(dropped: Sequence[Dropped], originals: Sequence[Dropped], of: Intervals) -> Cell:
    known = {(one.dialogue, one.question): one.recall for one in originals}
    return of.over(dropped, lambda one: one.recall - known[one.dialogue, one.question])


def _by_category(by_selection: Mapping[str, Sequence[Dropped]], of: Intervals) -> Sheet:
    """Show what confining to the memory's own slots does to each kind of question."""
    confined = by_selection.get("own", [])
    originals = by_selection.get(ORIGINAL, [])
    categories = tuple(dict.fromkeys(one.category for one in originals))
    rows: list[SheetRow] = []
    for name in RETRIEVERS:
        cells = []
        for category in categories:
            own, other = (
                [one for one in all_ if (one.retriever, one.category) == (name, category)]
                for all_ in (confined, originals)
            )
            cells.append(_less(own, other, of))
        rows.append((name, tuple(cells)))
    return Sheet("Own slots, less the original, by category", categories, tuple(rows))
