"""What ``demem bench`` does with a model: a benchmark, a table of the paper, files of such runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import RenderableType

from demem_agent.cli.faults import UsageError
from demem_agent.cli.measuring.benchmarks import BENCHMARKS, benchmark_named, found
from demem_agent.cli.measuring.protocol_options import ProtocolOptions
from demem_agent.cli.measuring.submit_options import SubmitOptions
from demem_agent.cli.measuring.trial import Trial
from demem_agent.cli.model_options import ModelOptions
from demem_agent.cli.output import Output

__all__ = ["OF_RUNS", "Asked", "of_file", "of_paper", "with_model"]

#: What there is besides benchmarks; each takes a word more.
OF_RUNS = ("paper", "verify", "submit")
#: What may be said beside a file.
_TAKEN = {"verify": "--data and --json", "submit": "--data, --contract, --run and --system"}


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked for.

    Attributes:
        name: a benchmark, or one of ``OF_RUNS``.
        of: the table or file after it.
    """

    name: str
    of: str | None
    data: Path | None
    trial: Trial
    model_options: ModelOptions
    protocol_options: ProtocolOptions
    submit_options: SubmitOptions

    def require_no_submission(self) -> None:
        """Check that no option of a submission was given.

        Raises:
            UsageError
        """
        if self.submit_options != SubmitOptions():
            raise UsageError("--contract and --run are of demem bench submit FILE")

    def require_file_alone(self, *, others: bool) -> None:
        """Check that nothing is asked for that a file is not read for.

        Args:
            others: whether other measurements were asked for.

        Raises:
            UsageError
        """
        trial = self.trial
        if self.name == "submit":
            trial = replace(trial, system=None)
        else:
            self.require_no_submission()
        given = (trial, self.model_options, self.protocol_options)
        if others or given != (Trial(), ModelOptions(), ProtocolOptions()):
            taken = _TAKEN[self.name]
            raise UsageError(f"demem bench {self.name} FILE takes {taken}, and nothing else")


def with_model(
    asked: Asked, output: Output, also: Sequence[RenderableType], *, others: bool
) -> None:
    """Have a model answer the questions of a benchmark and judges mark; print what comes of it.

    Args:
        also: parts to print after the tables.
        others: whether measurements were asked for that no model takes part in.

    Raises:
        UsageError: for a benchmark whose questions have no reference each, or for ``others``.
    """
    # Not needed by other measurements, which start sooner without.
    from demem_agent.cli.measuring.protocol import Protocol

    benchmark = benchmark_named(asked.name)
    if benchmark.for_model is None:
        marked = " and ".join(name for name, one in BENCHMARKS.items() if one.for_model is not None)
        raise UsageError(f"--model answers the questions of {marked}, and not of {asked.name}")
    if others:
        raise UsageError("--ablations and --slots ask no model; leave out --model, or them")
    place = found(benchmark, asked.data)
    options = (asked.trial, asked.model_options, asked.protocol_options)
    protocol = Protocol(asked.name, benchmark, place, *options)
    report, parts = protocol.run(benchmark.for_model(place), also=also)
    output.show(report, *parts)


def of_paper(asked: Asked, output: Output, *, others: bool) -> None:
    """Run what a table of the paper is of, with the paper's settings where none are given.

    Args:
        others: whether other measurements were asked for.

    Raises:
        UsageError: for these, or where no table is named.
        InvalidInput: if there is no such table.
    """
    from demem_agent.cli.measuring.paper_runs import paper_run, with_folder

    run = paper_run(asked.of)
    if others:
        raise UsageError("a table of the paper is run without --systems, --slots and --ablations")
    options = run.model_options(asked.model_options)
    asked = replace(
        asked,
        name=run.benchmark,
        trial=with_folder(asked.trial, run.name, options.model),
        model_options=options,
        protocol_options=run.protocol_options(asked.protocol_options),
    )
    with_model(asked, output, list(run.parts(options.model)), others=False)


def of_file(asked: Asked, output: Output, *, others: bool) -> None:
    """Verify the file of a run, or submit its answers.

    Args:
        others: whether other measurements were asked for.

    Raises:
        UsageError: for what a file is not read for, or where none is named.
    """
    from demem_agent.cli.measuring.checking import submit, verify

    asked.require_file_alone(others=others)
    if asked.of is None:
        raise UsageError(f"which file? demem bench {asked.name} DIR/results.jsonl")
    file = Path(asked.of)
    if asked.name == "verify":
        verify(file, asked.data, output)
    else:
        submit(file, asked.data, asked.submit_options, asked.trial.system)
