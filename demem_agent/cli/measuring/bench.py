"""``demem bench``: the public benchmarks, from files that the user has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from rich.console import RenderableType

from demem_agent import SlotMemory
from demem_agent.cli.faults import UsageError
from demem_agent.cli.measuring.protocol_options import Marking
from demem_agent.cli.measuring.trial import Trial
from demem_agent.cli.memory_options import Output, ticking
from demem_agent.cli.model_options import Endpoint
from demem_agent.cli.tables import ablation_parts, paper_scores, paper_table, slot_parts
from demem_agent.errors import InvalidInput
from demem_agent.evaluate import (
    Dialogue,
    Measured,
    load_beam,
    load_locomo,
    load_longmemeval,
    load_memoryarena,
)
from demem_agent.studies.slots.audit import Audited
from demem_agent.studies.slots.intervention import Intervened

__all__ = ["BENCHMARKS", "bench", "by_row", "loaded", "marked", "named"]

#: What is measured of one question of one dialogue.
Record = TypeVar("Record", Measured, Audited, Intervened)


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A data set that users fetch themselves: its name, how it is read, what is expected and where
    it is from.
    """

    name: str
    load: Callable[[Path], list[Dialogue]]
    expected: str
    source: str


BENCHMARKS: Mapping[str, Benchmark] = {
    "locomo": Benchmark(
        "LoCoMo",
        load_locomo,
        "a file such as locomo10.json",
        "https://github.com/snap-research/locomo",
    ),
    "longmemeval": Benchmark(
        "LongMemEval",
        load_longmemeval,
        "a file such as longmemeval_s.json, plain or gzipped",
        "https://github.com/xiaowu0162/LongMemEval",
    ),
    "beam": Benchmark(
        "BEAM",
        load_beam,
        "a folder of chats, each with chat.json and probing_questions.json",
        "https://github.com/mohammadtavakoli78/BEAM",
    ),
    "memoryarena": Benchmark(
        "MemoryArena",
        partial(load_memoryarena, every=True),
        "a file of rows, or a folder of *.jsonl",
        "arXiv 2602.16313",
    ),
}


#: Benchmarks whose questions have one reference each, as judges need it.
MARKED = ("locomo", "longmemeval")


def bench(
    name: Annotated[str, typer.Argument(metavar="|".join(BENCHMARKS), help="Which benchmark.")],
    trial: Trial,
    endpoint: Endpoint,
    marking: Marking,
    output: Output,
    data: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Its file or folder; none is shipped.")
    ] = None,
    ablations: Annotated[
        bool,
        typer.Option(
            "--ablations", help="Replay with feedback, without one part at a time; takes minutes."
        ),
    ] = False,
    slots: Annotated[
        bool,
        typer.Option(
            "--slots", help="Audit what slots hold, and divide the same items in other ways."
        ),
    ] = False,
) -> None:
    """Measure this memory and what could be in its place on a public benchmark.

    Tables for a person, or JSON; with --out also every record, the report and the figures.
    docs/evaluation.md defines what is measured. With --model a language model answers and judges
    mark, as in the paper (docs/chat.md).
    """
    if endpoint.model is not None:
        marked(name, trial, endpoint, marking, output, data, others=ablations or slots)
        return
    if endpoint != Endpoint() or marking != Marking():
        raise UsageError(
            "--judge, --record and the other options of a language model need --model NAME"
        )
    trial.ready()
    benchmark = named(name)
    if ablations and name == "memoryarena":
        raise UsageError(
            "--ablations replays the questions of a dialogue in their order, and here each has but one"
        )
    dialogues = loaded(benchmark, data)
    measured = (
        by_row(trial.measure(dialogues)) if name == "memoryarena" else trial.measure(dialogues)
    )
    found: dict[str, Any] = {}
    also: list[RenderableType] = [paper_table()] if name == "locomo" else []
    if slots:
        found["slots"] = slot_rows(
            dialogues, trial.seed, rows_of=by_row if name == "memoryarena" else list
        )
        also += slot_parts(**found["slots"])
    if ablations:
        found["ablations"] = ablation_rows(dialogues, trial.seed)
        also += ablation_parts(found["ablations"])
    trial.show(measured, output, data=benchmark.name, also=also, found=found)


def marked(
    name: str,
    trial: Trial,
    endpoint: Endpoint,
    marking: Marking,
    output: Output,
    data: Path | None,
    *,
    others: bool,
) -> None:
    """Run the paper's protocol on a benchmark whose questions have references.

    Raises:
        UsageError: for another benchmark, or ``others``: measurements that no model takes part in.
    """
    benchmark = named(name)
    if name not in MARKED:
        raise UsageError(
            f"--model answers the questions of {' and '.join(MARKED)}, and not of {name}"
        )
    if others:
        raise UsageError("--ablations and --slots ask no model; leave out --model, or them")
    from demem_agent.cli.measuring.protocol import Protocol

    also = [paper_scores()] if name == "locomo" else []
    report, parts = Protocol(trial, endpoint, marking).run(
        loaded(benchmark, data), benchmark.name, also
    )
    output.show(report, *parts)


def by_row(records: Sequence[Record]) -> list[Record]:
    """Count the sub-tasks of one row of MemoryArena as questions of one dialogue: they share its
    turns.
    """
    placed = ((record, record.dialogue.rpartition("/")) for record in records)
    return [replace(record, dialogue=row, question=int(task)) for record, (row, _, task) in placed]


def slot_rows(
    dialogues: Sequence[Dialogue], seed: int, rows_of: Callable[[Sequence[Any]], list[Any]]
) -> dict[str, list[Any]]:
    """Give the audit and the intervention of a fresh memory of each dialogue, as JSON values."""
    from demem_agent.studies.slots.audit import audit, audit_table
    from demem_agent.studies.slots.intervention import intervene, intervention_table

    audited, intervened = [], []
    with ticking("slot audits") as tick:
        for done, dialogue in enumerate(dialogues, 1):
            memory = SlotMemory()
            memory.ingest_many(dialogue.turns)
            audited += audit(memory, dialogue)
            intervened += intervene(memory, dialogue, slots=memory.settings.slots)
            tick(done, len(dialogues))
    return {
        "audited": [asdict(row) for row in audit_table(rows_of(audited), seed=seed)],
        "intervened": [asdict(row) for row in intervention_table(rows_of(intervened), seed=seed)],
    }


def ablation_rows(dialogues: Sequence[Dialogue], seed: int) -> list[Any]:
    """Give what each variant finds when the questions of a dialogue are replayed with feedback, as
    JSON values.
    """
    from demem_agent.studies.ablations.run import ablation_table

    with ticking("ablations") as tick:
        return [asdict(row) for row in ablation_table(dialogues, seed=seed, tick=tick)]


def named(name: str) -> Benchmark:
    if name not in BENCHMARKS:
        raise InvalidInput("benchmark", name, f"one of {', '.join(BENCHMARKS)}")
    return BENCHMARKS[name]


def loaded(benchmark: Benchmark, data: Path | None) -> list[Dialogue]:
    wanted = f"--data takes {benchmark.expected} ({benchmark.source}), which DeMem does not ship"
    if data is None:
        raise UsageError(f"where is {benchmark.name}? {wanted}")
    if not data.exists():
        raise UsageError(f"there is no {benchmark.name} at {data}: {wanted}")
    return benchmark.load(data)
