"""Measure dialogues one by one, in any process, and put together what one process would find."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from typing import Any

from demem_agent.bulk import Done, Load
from demem_agent.bulk.tasks import encoder_options, failed
from demem_agent.errors import DeMemError
from demem_agent.evaluate.data.dialogue import Dialogue
from demem_agent.evaluate.data.plain import json_lines
from demem_agent.evaluate.data.questions import with_probes
from demem_agent.evaluate.grouping import grouped
from demem_agent.evaluate.measured import Measured
from demem_agent.evaluate.run import check_dialogues, evaluate
from demem_agent.evaluate.system import Maker
from demem_agent.evaluate.systems import BASELINES, OURS, Slots
from demem_agent.imports.reading import How
from demem_agent.memory import SlotMemory
from demem_agent.stores import Store, opened_store
from demem_agent.turns import Turn
from demem_agent.types import Evidence

__all__ = ["Asked", "Evaluated", "Evaluating", "key_of", "merged", "tasks_of"]


@dataclass(frozen=True, slots=True)
class Evaluated(Done):
    """What came of the dialogues of a task.

    Attributes:
        measured: their records, as :func:`demem_agent.evaluate.evaluate` gives them.
    """

    measured: tuple[Measured, ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """Questions about a memory, which are read where they are asked.

    Attributes:
        name: of the memory.
        questions: a question a line, as :func:`demem_agent.evaluate.load_questions` reads them.
        told: what a memory is made of for them; None for the one that a store has.
        state: of the memory in the store, in words: what was measured of another state is not
            what is measured of this one.
    """

    name: str
    questions: Load
    told: Load | None = None
    state: str = ""

    def about(self, turns: tuple[Turn, ...]) -> Dialogue:
        """Return these turns with the questions.

        Raises:
            InvalidInput: naming the line and the field.
        """
        return with_probes(Dialogue(self.name, turns), _placed(self.questions))


#: Dialogues that have the same turns, or questions that are still in a file.
Task = Sequence[Dialogue] | Asked


@dataclass(frozen=True, slots=True)
class Evaluating:
    """Measure systems on the dialogues of a task. Not hashable: its settings are a mapping.

    Attributes:
        systems: gives the makers of systems by name for dialogues; as a function of a module, so
            that it can be pickled.
        limits: in characters, each >= 1.
        settings: of memories that are made, as options of ``SlotMemory``.
        encoder: of memories, a name of a model; None for the shipped one.
        store: that has the memories of tasks without anything that they are told, its URL; a store
            itself only where tasks are done in this process. They are read, and not written to.
        format: of files; told by what is in each, unless given.
        how: they are read, as for :func:`demem_agent.imports.read`.
    """

    systems: Callable[[Sequence[Dialogue]], Mapping[str, Maker]]
    limits: tuple[int, ...]
    settings: dict[str, Any] = field(default_factory=dict)
    encoder: str | None = None
    store: str | Store | None = None
    tenant: str = "default"
    format: str | None = None
    how: How = field(default_factory=How)

    def named(self, task: Task) -> str:
        """Return the name of a task: that of its memory, or of its first dialogue."""
        return task.name if isinstance(task, Asked) else task[0].name

    def __call__(self, task: Task) -> Done:
        name = self.named(task)
        try:
            measured = tuple(self._measured(task))
        except DeMemError as error:
            return failed(name, error)
        return Evaluated(name, new=len(measured), measured=measured)

    def _measured(self, task: Task) -> list[Measured]:
        if not isinstance(task, Asked):
            return self._of(task, self._made)
        if task.told is None:
            return self._of_stored(task)
        turns = [
            turn for piece in task.told.pieces for turn in piece.turns(self.format, **self.how)
        ]
        return self._of([task.about(tuple(turns))], self._made)

    def _made(self, **options: Any) -> Slots:
        return Slots(**self.settings, **encoder_options(self.encoder), **options)

    def _of_stored(self, task: Asked) -> list[Measured]:
        """Measure with the memory of a store in the place of ours, and its items for turns."""
        assert self.store is not None
        with opened_store(self.store) as store, ExitStack() as opened:

            def stored(**options: Any) -> Slots:
                given = {**encoder_options(self.encoder), **options}
                memory = SlotMemory.open(store, memory_id=task.name, tenant=self.tenant, **given)
                return _Stored(opened.enter_context(memory))

            said = (item for item in stored().memory.evidence() if not item.made_from)
            return self._of([task.about(tuple(map(_turn, said)))], stored)

    def _of(self, dialogues: Sequence[Dialogue], ours: Callable[..., Slots]) -> list[Measured]:
        makers = dict(self.systems(dialogues))
        for name, options in OURS.items():
            if makers.get(name) is BASELINES[name]:
                makers[name] = partial(ours, **options)
        return evaluate(dialogues, makers, self.limits)


class _Stored(Slots):
    """A memory that was told before, as a system under test."""

    def __init__(self, memory: SlotMemory) -> None:
        self.memory = memory

    def ingest(self, turns: Sequence[Turn]) -> None:
        """Remember nothing: these turns are what it holds."""


def tasks_of(dialogues: Sequence[Dialogue]) -> list[list[Dialogue]]:
    """Return dialogues with questions, those that have the same turns together.

    The oracle looks its evidence up by the turns, so that these have to stay together.

    Raises:
        InvalidInput: without questions, or for two dialogues of one name.
    """
    check_dialogues(dialogues)
    asked = [dialogue for dialogue in dialogues if dialogue.probes]
    return list(grouped(asked, lambda dialogue: dialogue.turns).values())


def merged(names: Iterable[str], measured: Iterable[Measured]) -> list[Measured]:
    """Return records in the order in which one process measures dialogues of these names."""
    by_dialogue = grouped(measured, lambda record: record.dialogue)
    found: list[Measured] = []
    for name in names:
        found += by_dialogue.get(name, ())
    return found


def key_of(task: Task, *given: object) -> str:
    """Return what is the same where the same is measured of the same, and nowhere else.

    Args:
        given: what is measured, and by what; all that the records depend on beside the task.

    Raises:
        InvalidInput: for a file that cannot be read.
    """
    digest = sha256(repr(given).encode())
    if not isinstance(task, Asked):
        digest.update(repr(task).encode())
        return digest.hexdigest()
    digest.update(repr((task.name, task.state)).encode())
    for load in filter(None, (task.told, task.questions)):
        for piece in load.pieces:
            digest.update(repr((piece.name, piece.field)).encode())
            for line in piece.lines():
                digest.update(line)
    return digest.hexdigest()


def _placed(load: Load) -> Iterator[tuple[str, object]]:
    """Yield the place of each question in words, and what stands there."""
    for piece in load.pieces:
        if piece.field is None:
            yield from json_lines(piece.path)
        else:
            for number, value in enumerate(piece.values(), 1):
                yield f"{piece.name}: question {number} of {load.memory_id}", value


def _turn(item: Evidence) -> Turn:
    """Return an item as it was told."""
    return Turn(
        text=item.text,
        speaker=item.speaker,
        at=item.at,
        session=item.session,
        source=item.source,
        source_id=item.source_id,
        trust=item.trust,
        metadata=item.metadata,
    )
