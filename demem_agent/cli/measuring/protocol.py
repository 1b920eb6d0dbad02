"""``demem bench --model``: what is said before the paper's protocol starts, what it shows, and
where that goes.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import typer
from rich.console import Console, RenderableType

from demem_agent.cli.faults import UsageError
from demem_agent.cli.measuring.protocol_options import Marking
from demem_agent.cli.measuring.trial import OURS, Trial
from demem_agent.cli.memory_options import WIDTH_OF_A_PIPE, ticking
from demem_agent.cli.model_options import Endpoint
from demem_agent.cli.printing import print_line
from demem_agent.cli.tables import protocol_parts
from demem_agent.cli.tables.cells import cell
from demem_agent.errors import CollaboratorError
from demem_agent.evaluate import Dialogue, Maker
from demem_agent.evaluate.protocol.forecast import Estimate, estimate, marks_report
from demem_agent.evaluate.protocol.run import Mark, Marked, Panel, Posed, mark, posed
from demem_agent.llms import ChatModel, Ledger, OpenAIChat, Recorded

__all__ = ["Protocol"]

Json = dict[str, Any]

#: Characters that a reading may have, unless others are given.
_LIMIT = 6000


@dataclass(frozen=True, slots=True)
class Protocol:
    """The options of one run."""

    trial: Trial
    endpoint: Endpoint
    marking: Marking

    def run(
        self, dialogues: Sequence[Dialogue], data: str, also: Sequence[RenderableType]
    ) -> tuple[Json, list[RenderableType]]:
        """Have a model answer and judges mark; give the report, and the parts to print, ``also``
        after the tables.

        Raises:
            UsageError: for what does not go together, or where nobody can be asked whether to
                start.
            CollaboratorError: if it stopped before any answer was marked.
        """
        limit, names = _one_limit(self.trial), self._names
        ledger = self.endpoint.ledger("run", names)
        asked = {name: self.endpoint.chat(name, ledger) for name in names}
        with ticking("readings", transient=True) as tick:
            questions = posed(dialogues, _systems(self.trial, dialogues), limit, tick=tick)
        expected = estimate(
            questions, self._panel(asked.__getitem__), ledger, self._known(questions)
        )
        self._announce(expected, len(questions) * self.marking.runs)
        panel = self._panel(lambda name: self._recorded(asked[name]))
        with ticking("answers marked") as tick:
            marked = asyncio.run(mark(questions, panel, tick=tick))
        if marked.stopped and all(one.failed for one in marked.marks):
            raise CollaboratorError(f"nothing was marked: {marked.stopped}")
        report = {"data": data, "limit": limit, **marks_report(marked, panel, questions)}
        report |= {"estimate": asdict(expected), "used": _used(ledger)}
        parts = [*protocol_parts(report), cell(_spent(report["used"])), *also]
        if self.trial.out is not None:
            report["written"] = [
                str(path) for path in _write(self.trial.out, marked, report, parts)
            ]
            parts.append(cell(f"written: {', '.join(report['written'])}"))
        return report, parts

    @property
    def _judges(self) -> list[str]:
        return self.marking.judge or [self.endpoint.model or ""]

    @property
    def _names(self) -> list[str]:
        return list(dict.fromkeys([self.endpoint.model or "", *self._judges]))

    def _panel(self, made: Callable[[str], ChatModel]) -> Panel:
        by_name = {
            name: made(name) for name in self._names
        }  # a model that also judges is recorded as one
        judges = tuple(by_name[name] for name in self._judges)
        return Panel(
            by_name[self.endpoint.model or ""], judges, self.marking.runs, self.marking.parallel
        )

    def _recorded(self, model: OpenAIChat) -> ChatModel:
        return (
            model if self.marking.record is None else Recorded(model, self.marking.record, "resume")
        )

    def _known(self, questions: Sequence[Posed]) -> tuple[Mark, ...]:
        """Give what is recorded already, by a replay that asks nobody."""
        file = self.marking.record
        if file is None or not file.exists():
            return ()
        panel = self._panel(lambda name: Recorded(name, file, "replay"))
        return asyncio.run(mark(questions, panel, ignore=True)).marks

    def _announce(self, expected: Estimate, everything: int) -> None:
        """Say on the error stream what is about to be asked, and start only if that is wanted.

        Raises:
            UsageError: where nobody is there to ask.
            typer.Abort: if the answer is no.
        """
        for line in _announcement(expected, everything, self.endpoint):
            print_line(line, sys.stderr)
        if self.marking.yes or not expected.questions:
            return
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise UsageError("nothing was asked yet: pass --yes to start where nobody can be asked")
        typer.confirm("Start?", abort=True, err=True)


def _one_limit(trial: Trial) -> int:
    if trial.limit and len(trial.limit) > 1:
        raise UsageError("with --model, --limit is given once: every reading is paid for")
    return trial.limit[0] if trial.limit else _LIMIT


def _systems(trial: Trial, dialogues: Sequence[Dialogue]) -> dict[str, Maker]:
    """Give the systems that were named; else ours alone, as every reading is paid for."""
    known = trial.systems(dialogues)
    return known if trial.system else {OURS: known[OURS]}


def _announcement(expected: Estimate, everything: int, endpoint: Endpoint) -> list[str]:
    done = everything - expected.questions
    first = f"{everything:,} answers to be marked{f', {done:,} of them recorded' if done else ''}."
    if not expected.questions:
        return [first]
    cost = (
        "cost not known without --price" if expected.cost is None else f"cost {expected.cost:,.4f}"
    )
    tokens = f"{expected.prompt_tokens:,} tokens of prompts and {expected.completion_tokens:,} of answers"
    limits = [f"a cost of {endpoint.limit_cost:g}"] if endpoint.limit_cost is not None else []
    limits += [f"{endpoint.limit_tokens:,} tokens"] if endpoint.limit_tokens is not None else []
    last = (
        f"It stops at {' or '.join(limits)}."
        if limits
        else "Neither --limit-cost nor --limit-tokens is set."
    )
    return [
        first,
        f"About {expected.calls:,} calls: {tokens}, {cost}; what has to be repeated not counted.",
        last,
    ]


def _used(ledger: Ledger) -> Json:
    spending = ledger.spending
    used = spending.spent
    cost = None if spending.unpriced else used.cost
    names = ("requests", "prompt_tokens", "completion_tokens", "cached_tokens", "estimated")
    return {**{name: getattr(used, name) for name in names}, "cost": cost}


def _spent(used: Json) -> str:
    tokens = (
        f"{used['prompt_tokens']:,} tokens of prompts, {used['completion_tokens']:,} of answers"
    )
    cost = "cost not known" if used["cost"] is None else f"cost {used['cost']:.4f}"
    return f"Asked in this run: {used['requests']:,} requests, {tokens}, {cost}."


def _write(out: Path, marked: Marked, report: Json, parts: Sequence[RenderableType]) -> list[Path]:
    out.mkdir(parents=True, exist_ok=True)
    results, report_file, table = (
        out / name for name in ("results.jsonl", "report.json", "table.txt")
    )
    results.write_text(
        "".join(json.dumps(asdict(one)) + "\n" for one in marked.marks), encoding="utf-8"
    )
    report_file.write_text(json.dumps(report, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    text = StringIO()
    Console(file=text, highlight=False, width=WIDTH_OF_A_PIPE).print(*parts, sep="\n")
    table.write_text(text.getvalue(), encoding="utf-8")
    return [results, report_file, table]
