"""``demem bench``: the public benchmarks, from files that the user has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType

from demem_agent.cli.faults import UsageError
from demem_agent.cli.json_values import Json
from demem_agent.cli.measuring.arena import arena_of_marks
from demem_agent.cli.measuring.benchmarks import BENCHMARKS, benchmark_named, loaded
from demem_agent.cli.measuring.comparing import compared, rivals_named
from demem_agent.cli.measuring.protocol_options import ProtocolOptions
from demem_agent.cli.measuring.readings import in_rows, told_of_benchmark
from demem_agent.cli.measuring.slots_and_ablations import ablation_rows, by_row, slot_rows
from demem_agent.cli.measuring.trial import Trial
from demem_agent.cli.measuring.written import note_files, written
from demem_agent.cli.model_options import ModelOptions
from demem_agent.cli.output import Output
from demem_agent.cli.tables.comparison import comparison_parts
from demem_agent.cli.tables.paper import paper_scores
from demem_agent.cli.tables.slots_and_ablations import ablation_parts, slot_parts
from demem_agent.evaluate import Dialogue, save

__all__ = ["bench"]

#: Benchmarks whose questions have one reference each, as judges need it.
MARKED = ("locomo", "longmemeval", "memoryarena")


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is measured besides readings."""

    ablations: bool
    slots: bool


def bench(
    name: Annotated[str, typer.Argument(metavar="|".join(BENCHMARKS), help="Which benchmark.")],
    trial: Trial,
    model_options: ModelOptions,
    protocol_options: ProtocolOptions,
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
    rivals: Annotated[
        str | None,
        typer.Option(
            "--systems",
            metavar="all|NAME,NAME",
            help="Compare with rivals that are installed, and what each takes.",
        ),
    ] = None,
) -> None:
    """Measure this memory and what could be in its place on a public benchmark.

    Tables for a person, or JSON; with --out also every record, the report and the figures.
    docs/evaluation.md defines what is measured. With --model a language model answers and judges
    mark, as in the paper (docs/chat.md).
    """
    if rivals is not None:
        _require_nothing_else(name, trial, model_options, others=ablations or slots)
    if model_options.model is None:
        if model_options != ModelOptions() or protocol_options != ProtocolOptions():
            raise UsageError(
                "--judge, --record and the other options of a language model need --model NAME"
            )
        if rivals is not None:
            _comparison(name, data, trial, output, rivals)
        else:
            _readings(name, data, trial, output, wanted=_Wanted(ablations, slots))
        return
    _require_marked(name, others=ablations or slots)
    from demem_agent.cli.measuring.protocol import Protocol

    protocol = Protocol(trial, model_options, protocol_options)
    also = [paper_scores()] if name == "locomo" else []
    benchmark = benchmark_named(name)
    of_marks = arena_of_marks if name == "memoryarena" else None
    report, parts = protocol.run(
        loaded(benchmark, data), data=benchmark.name, also=also, of_marks=of_marks
    )
    output.show(report, *parts)


def _require_nothing_else(
    name: str, trial: Trial, model_options: ModelOptions, *, others: bool
) -> None:
    """Check that nothing is asked for beside a comparison with rivals, which is of dialogues.

    Args:
        others: whether other measurements were asked for.

    Raises:
        UsageError: for what a comparison leaves out, or for tasks that are rows and no dialogues.
    """
    if others or trial.system or model_options.model is not None:
        raise UsageError(
            "--systems measures rivals alone; leave it out, or "
            "--system, --slots, --ablations and --model"
        )
    if name == "memoryarena":
        raise UsageError("--systems compares on dialogues, and memoryarena has none")


def _require_marked(name: str, *, others: bool) -> None:
    """Check that a model can answer the benchmark and judges mark it.

    Args:
        others: whether measurements were asked for that no model takes part in.

    Raises:
        UsageError: for a benchmark whose questions have no reference each, or for ``others``.
    """
    benchmark_named(name)
    if name not in MARKED:
        raise UsageError(
            f"--model answers the questions of {' and '.join(MARKED)}, and not of {name}"
        )
    if others:
        raise UsageError("--ablations and --slots ask no model; leave out --model, or them")


def _readings(
    name: str, data: Path | None, trial: Trial, output: Output, *, wanted: _Wanted
) -> None:
    """Measure what systems read, and what else is wanted; print it, and write it where asked."""
    trial.ready()
    benchmark = benchmark_named(name)
    if wanted.ablations and in_rows(name):
        raise UsageError(
            "--ablations replays the questions of a dialogue in their order, "
            "and here each has but one"
        )
    dialogues = loaded(benchmark, data)
    by_question = trial.measure(dialogues)
    found, also = _others(dialogues, trial.seed, wanted, in_rows=in_rows(name))
    document, parts = told_of_benchmark(name, by_question, trial, also=also, found=found)
    output.show(document, *parts)


def _comparison(name: str, data: Path | None, trial: Trial, output: Output, rivals: str) -> None:
    """Measure this memory beside rivals; print it, and write it where asked."""
    chosen = rivals_named(rivals)
    benchmark = benchmark_named(name)
    found = compared(loaded(benchmark, data), chosen, trial.limit or (), trial.seed)
    document: Json = {"data": benchmark.name, **found.document}
    parts = list(comparison_parts(document))
    if trial.out is not None:
        trial.out.mkdir(parents=True, exist_ok=True)
        files = written(trial.out, partial(save, found.measured), document, parts)
        note_files(files, document, parts)
    output.show(document, *parts)


def _others(
    dialogues: Sequence[Dialogue], seed: int, wanted: _Wanted, *, in_rows: bool
) -> tuple[Json, list[RenderableType]]:
    """Measure what is wanted besides readings; return it as JSON values, and as tables."""
    found: Json = {}
    also: list[RenderableType] = []
    if wanted.slots:
        found["slots"] = slot_rows(dialogues, seed, rows_of=by_row if in_rows else list)
        also += slot_parts(**found["slots"])
    if wanted.ablations:
        found["ablations"] = ablation_rows(dialogues, seed)
        also += ablation_parts(found["ablations"])
    return found, also
