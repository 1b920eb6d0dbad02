"""``demem bench``: the public benchmarks, from files that the user has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType

from demem_agent.cli.faults import UsageError
from demem_agent.cli.json_values import Json
from demem_agent.cli.measuring.benchmarks import BENCHMARKS, benchmark_named, loaded
from demem_agent.cli.measuring.comparison import Comparison
from demem_agent.cli.measuring.model_runs import OF_RUNS, Asked, of_file, of_paper, with_model
from demem_agent.cli.measuring.protocol_options import ProtocolOptions, require_no_model_options
from demem_agent.cli.measuring.readings import in_rows, told_of_benchmark
from demem_agent.cli.measuring.slots_and_ablations import ablation_rows, by_row, slot_rows
from demem_agent.cli.measuring.submit_options import SubmitOptions
from demem_agent.cli.measuring.trial import Trial
from demem_agent.cli.model_options import ModelOptions
from demem_agent.cli.output import Output
from demem_agent.cli.tables.paper import paper_scores
from demem_agent.cli.tables.slots_and_ablations import ablation_parts, slot_parts
from demem_agent.evaluate import Dialogue

__all__ = ["bench"]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is measured besides readings."""

    ablations: bool
    slots: bool


def bench(
    name: Annotated[
        str,
        typer.Argument(
            metavar="|".join([*BENCHMARKS, *OF_RUNS]), help="Which benchmark, or what else."
        ),
    ],
    trial: Trial,
    model_options: ModelOptions,
    protocol_options: ProtocolOptions,
    submit_options: SubmitOptions,
    output: Output,
    of: Annotated[
        str | None,
        typer.Argument(
            metavar="TABLE|FILE", help="The paper's table; the file to verify or submit."
        ),
    ] = None,
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
    mark, as in the paper; the same command goes on with what is in the folder of --out. With
    --systems it is what rivals ask that need one.

    paper TABLE: a table of the paper that needs a model, with its models, judges and runs.
    verify FILE: whether the figures of such a run follow from what models replied.
    submit FILE: its answers, in the form of a public script, to stdout.
    docs/use/runs.md has these three.
    """
    asked = Asked(name, of, data, trial, model_options, protocol_options, submit_options)
    others = ablations or slots
    if name in ("verify", "submit"):
        of_file(asked, output, others=others or rivals is not None)
        return
    asked.require_no_submission()
    if name == "paper":
        of_paper(asked, output, others=others or rivals is not None)
        return
    if of is not None:
        raise UsageError(f"{of!r} is one word too many: only {', '.join(OF_RUNS)} take another")
    if rivals is not None:
        _require_nothing_else(name, trial, others=others)
        comparison = Comparison(trial, model_options, protocol_options)
        comparison.run(benchmark_named(name), data, rivals, output)
        return
    if model_options.model is not None:
        with_model(asked, output, [paper_scores()] if name == "locomo" else [], others=others)
        return
    require_no_model_options(model_options, protocol_options)
    _readings(name, data, trial, output, wanted=_Wanted(ablations, slots))


def _require_nothing_else(name: str, trial: Trial, *, others: bool) -> None:
    """Check that nothing is asked for beside a comparison with rivals, which is of dialogues.

    Args:
        others: whether other measurements were asked for.

    Raises:
        UsageError: for what a comparison leaves out, or for tasks that are rows and no dialogues.
    """
    if others or trial.system:
        raise UsageError(
            "--systems measures rivals alone; leave it out, or --system, --slots and --ablations"
        )
    if name == "memoryarena":
        raise UsageError("--systems compares on dialogues, and memoryarena has none")


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


def _others(
    dialogues: Sequence[Dialogue], seed: int, wanted: _Wanted, *, in_rows: bool
) -> tuple[Json, list[RenderableType]]:
    """Measure what is wanted besides readings; return it as JSON values, and as tables."""
    more: Json = {}
    also: list[RenderableType] = []
    if wanted.slots:
        more["slots"] = slot_rows(dialogues, seed, rows_of=by_row if in_rows else list)
        also += slot_parts(**more["slots"])
    if wanted.ablations:
        more["ablations"] = ablation_rows(dialogues, seed)
        also += ablation_parts(more["ablations"])
    return more, also
