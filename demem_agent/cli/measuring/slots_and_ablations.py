"""What slots hold, what other partitions would, and what each part is worth, as JSON values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any, TypeVar

from demem_agent import SlotMemory
from demem_agent.cli.progress import ticking
from demem_agent.evaluate import Dialogue, Measured
from demem_agent.studies.slots.audit import Audited
from demem_agent.studies.slots.intervention import Intervened

__all__ = ["ablation_rows", "by_row", "slot_rows"]

#: What is measured of one question of one dialogue.
Record = TypeVar("Record", Measured, Audited, Intervened)


def by_row(records: Sequence[Record]) -> list[Record]:
    """Count the sub-tasks of one row of MemoryArena as questions of one dialogue.

    They share its turns.
    """
    counted: list[Record] = []
    for record in records:
        row, _, task = record.dialogue.rpartition("/")
        counted.append(replace(record, dialogue=row, question=int(task)))
    return counted


def slot_rows(
    dialogues: Sequence[Dialogue], seed: int, rows_of: Callable[[Sequence[Any]], list[Any]]
) -> dict[str, list[Any]]:
    """Return the audit and the intervention of a fresh memory of each dialogue, as JSON values.

    Args:
        rows_of: what the records are taken for before they are counted.
    """
    from demem_agent.studies.slots.audit import audit_table
    from demem_agent.studies.slots.intervention import intervention_table

    audited: list[Audited] = []
    intervened: list[Intervened] = []
    with ticking("slot audits") as tick:
        for done, dialogue in enumerate(dialogues, 1):
            of_slots, of_partitions = _audited(dialogue)
            audited += of_slots
            intervened += of_partitions
            tick(done, len(dialogues))
    held = audit_table(rows_of(audited), seed=seed)
    divided = intervention_table(rows_of(intervened), seed=seed)
    return {"audited": list(map(asdict, held)), "intervened": list(map(asdict, divided))}


def _audited(dialogue: Dialogue) -> tuple[Sequence[Audited], Sequence[Intervened]]:
    """Audit the slots of a fresh memory of a dialogue, and divide its items in other ways."""
    from demem_agent.studies.slots.audit import audit
    from demem_agent.studies.slots.intervention import intervene

    memory = SlotMemory(clock=None)
    memory.ingest_many(dialogue.turns)
    of_slots = audit(memory, dialogue)
    return of_slots, intervene(memory, dialogue, slots=memory.settings.slots)


def ablation_rows(dialogues: Sequence[Dialogue], seed: int) -> list[Any]:
    """Return what each variant finds when a dialogue is replayed with feedback, as JSON values."""
    from demem_agent.studies.ablations.run import ablation_table

    with ticking("ablations") as tick:
        rows = ablation_table(dialogues, seed=seed, tick=tick)
    return list(map(asdict, rows))
