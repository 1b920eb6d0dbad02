"""``demem notes``: have a language model take notes of what was said."""

from __future__ import annotations

from dataclasses import asdict

from demem_agent import SlotMemory
from demem_agent.cli.faults import UsageError
from demem_agent.cli.measuring.announcing import spent_words, used_value
from demem_agent.cli.memory_options import Place
from demem_agent.cli.model_options import ModelOptions
from demem_agent.cli.output import Output
from demem_agent.cli.tables.cells import cell
from demem_agent.types import NotesTaken

__all__ = ["notes"]


def notes(place: Place, model_options: ModelOptions, output: Output) -> None:
    """Have a language model take notes of all that was said since it last did.

    A note is a sentence that can be understood alone, remembered beside what it was made from. One
    that says what its items do not is refused. It is forgotten and superseded with them.
    """
    name = model_options.model
    if name is None:
        raise UsageError("--model names the language model that takes the notes")
    from demem_agent.llms import ModelNoteTaker  # other commands start sooner without

    ledger = model_options.ledger("notes", [name])
    taker = ModelNoteTaker(model_options.chat(name, ledger))
    with place.open(note_taker=taker) as memory:
        done = memory.take_notes()
        used = used_value(ledger)
        document = {"batches": [asdict(taken) for taken in done], "used": used}
        output.show(document, *map(cell, _words(memory, done)), cell(spent_words(used)))


def _words(memory: SlotMemory, done: tuple[NotesTaken, ...]) -> list[str]:
    """Say what was taken, what was refused and why, and what failed."""
    taken = sum(len(one.notes) for one in done)
    looked = sum(len(one.of) for one in done if not one.failed)
    words = [f"Notes: {taken} of {looked} items. Items remembered now: {len(memory)}."]
    for one in done:
        words += [f"refused: {reason}" for reason in one.refused]
        if one.failed:
            words.append(f"stopped: {one.failed}; run it again to go on")
    return words
