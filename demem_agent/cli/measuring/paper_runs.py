"""The tables of the paper that need a model, each with the paper's own settings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import RenderableType

from demem_agent.cli.faults import UsageError
from demem_agent.cli.measuring.protocol_options import ProtocolOptions
from demem_agent.cli.measuring.trial import Trial
from demem_agent.cli.model_options import ModelOptions
from demem_agent.cli.tables.cells import cell
from demem_agent.cli.tables.paper import paper_arena, paper_llama, paper_longmemeval, paper_scores
from demem_agent.errors import InvalidInput

__all__ = ["TABLES", "PaperRun", "paper_run", "with_folder"]

_JUDGES = ["gpt-4o-mini", "gpt-4.1-mini"]


@dataclass(frozen=True, slots=True)
class PaperRun:
    """One table, or the half of one that is of one benchmark.

    Attributes:
        name: on the command line.
        backbones: the models that answer in the paper, a run each; the first unless one is named.
        stated: makes the paper's own figures, to stand apart.
        marks: which of the two kinds of marks the paper has there.
    """

    name: str
    benchmark: str
    backbones: tuple[str, ...]
    stated: Callable[[], RenderableType]
    marks: str

    def model_options(self, given: ModelOptions) -> ModelOptions:
        """Return the options with the paper's model where none is named."""
        return given if given.model else replace(given, model=self.backbones[0])

    def protocol_options(self, given: ProtocolOptions) -> ProtocolOptions:
        """Return the options with the paper's judges where none are named."""
        return given if given.judge else replace(given, judge=list(_JUDGES))

    def parts(self, model: str | None) -> Iterator[RenderableType]:
        """Yield what is to stand beside the tables of a run."""
        yield self.stated()
        others = [name for name in self.backbones if name != model]
        also = f" Also answered there: {', '.join(others)}, with --model." if others else ""
        yield cell(f"The paper's table has the {self.marks} marks.{also}")


_LLAMA = ("meta-llama/Llama-3.1-70B-Instruct-Turbo",)
_RUNS = (
    PaperRun("locomo-main", "locomo", tuple(_JUDGES), paper_scores, "binary"),
    PaperRun("longmemeval-main", "longmemeval", tuple(_JUDGES), paper_longmemeval, "graded"),
    PaperRun("memoryarena", "memoryarena", ("gpt-4.1-mini",), paper_arena, "binary"),
    PaperRun("llama-locomo", "locomo", _LLAMA, paper_llama, "binary"),
    PaperRun("llama-longmemeval", "longmemeval", _LLAMA, paper_llama, "graded"),
)
#: Temperature 0, R = 5, K = 10 and L = 2,000 are the defaults of every run. The paper does not say
#: how many characters a reading had.
TABLES: Mapping[str, PaperRun] = {run.name: run for run in _RUNS}


def paper_run(table: str | None) -> PaperRun:
    """Return the run of a table.

    Raises:
        UsageError: if none is named.
        InvalidInput: if there is none such.
    """
    if table is None:
        raise UsageError(f"which table? demem bench paper {'|'.join(TABLES)}")
    name = table.removeprefix("tab:")
    if name not in TABLES:
        raise InvalidInput("table", table, f"one of {', '.join(TABLES)}")
    return TABLES[name]


def with_folder(trial: Trial, table: str, model: str | None) -> Trial:
    """Return the options with a folder where none is named: what is paid for is always kept."""
    if trial.out is not None:
        return trial
    name = re.sub(r"[^\w.-]+", "-", f"{table}-{model}")
    return replace(trial, out=Path(name))
