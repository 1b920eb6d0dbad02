"""``demem bench --model``: the paper's protocol, from the estimate of its cost to its report."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import RenderableType

from demem_agent.cli.faults import UsageError
from demem_agent.cli.json_values import Json
from demem_agent.cli.measuring.announcing import announcement, spent_words, start, used_value
from demem_agent.cli.measuring.protocol_options import ProtocolOptions
from demem_agent.cli.measuring.systems import OURS
from demem_agent.cli.measuring.trial import Trial
from demem_agent.cli.measuring.written import note_files, written
from demem_agent.cli.model_options import ModelOptions
from demem_agent.cli.progress import ticking
from demem_agent.cli.tables.cells import cell
from demem_agent.cli.tables.protocol import protocol_parts
from demem_agent.errors import CollaboratorError
from demem_agent.evaluate import Dialogue, Maker
from demem_agent.evaluate.protocol.forecast import Estimate, estimate
from demem_agent.evaluate.protocol.reporting import marks_report
from demem_agent.evaluate.protocol.run import Mark, Marked, Panel, Posed, mark, posed
from demem_agent.llms import ChatModel, Ledger, OpenAIChat, Recorded

__all__ = ["OfMarks", "Protocol"]

#: Makes of marks what a report says besides, and the part that prints it.
OfMarks = Callable[[Sequence[Mark]], tuple[Json, RenderableType]]

#: Characters that a reading may have, unless others are given.
_LIMIT = 6000


@dataclass(frozen=True, slots=True)
class Protocol:
    """The options of one run."""

    trial: Trial
    model_options: ModelOptions
    options: ProtocolOptions

    def run(
        self,
        dialogues: Sequence[Dialogue],
        *,
        data: str,
        also: Sequence[RenderableType],
        of_marks: OfMarks | None = None,
    ) -> tuple[Json, list[RenderableType]]:
        """Have a model answer and judges mark; return the report, and the parts to print.

        Args:
            data: what is measured, in words.
            also: parts to print after the tables.
            of_marks: what else the report says of the marks, and the part that prints it.

        Raises:
            UsageError: for what does not go together, or where nobody can be asked whether to
                start.
            CollaboratorError: if it stopped before any answer was marked.
        """
        limit = _one_limit(self.trial)
        ledger = self.model_options.ledger("run", self._names)
        models = {name: self.model_options.chat(name, ledger) for name in self._names}
        questions = self._questions(dialogues, limit)
        expected = self._estimate(questions, models, ledger)
        lines = announcement(expected, len(questions) * self.options.runs, self.model_options)
        start(lines, agreed=self.options.yes or not expected.questions)
        panel = self._panel(lambda name: self._recorded(models[name]))
        marked = _marked(questions, panel)
        used = used_value(ledger)
        report: Json = {"data": data, "limit": limit, **marks_report(marked, panel, questions)}
        report |= {"estimate": asdict(expected), "used": used}
        parts = [*protocol_parts(report), cell(spent_words(used)), *also]
        if of_marks is not None:
            more, part = of_marks(marked.marks)
            report |= more
            parts.append(part)
        self._keep(marked, report, parts)
        return report, parts

    def _keep(self, marked: Marked, report: Json, parts: list[RenderableType]) -> None:
        """Write marks, report and tables where a folder was named, and note the files in both."""
        if self.trial.out is not None:
            files = _write(self.trial.out, marked, report, parts)
            note_files(files, report, parts)

    @property
    def _model(self) -> str:
        return self.model_options.model or ""

    @property
    def _judges(self) -> list[str]:
        return self.options.judge or [self._model]

    @property
    def _names(self) -> list[str]:
        """The models that are asked, each once."""
        return list(dict.fromkeys([self._model, *self._judges]))

    def _panel(self, made: Callable[[str], ChatModel]) -> Panel:
        # A model that also judges is recorded as one.
        by_name = {name: made(name) for name in self._names}
        judges = tuple(by_name[name] for name in self._judges)
        return Panel(by_name[self._model], judges, self.options.runs, self.options.parallel)

    def _questions(self, dialogues: Sequence[Dialogue], limit: int) -> list[Posed]:
        """Have the systems read for every question, under a progress bar."""
        with ticking("readings", transient=True) as tick:
            return posed(dialogues, _systems(self.trial, dialogues), limit, tick=tick)

    def _estimate(
        self, questions: Sequence[Posed], models: dict[str, OpenAIChat], ledger: Ledger
    ) -> Estimate:
        """Estimate what the run will cost, less what is recorded already."""
        panel = self._panel(models.__getitem__)
        return estimate(questions, panel, ledger, self._known(questions))

    def _recorded(self, model: OpenAIChat) -> ChatModel:
        if self.options.record is None:
            return model
        return Recorded(model, self.options.record, "resume")

    def _known(self, questions: Sequence[Posed]) -> tuple[Mark, ...]:
        """Return what is recorded already, by a replay that asks nobody."""
        file = self.options.record
        if file is None or not file.exists():
            return ()
        panel = self._panel(lambda name: Recorded(name, file, "replay"))
        return asyncio.run(mark(questions, panel, ignore=True)).marks


def _one_limit(trial: Trial) -> int:
    if not trial.limit:
        return _LIMIT
    if len(trial.limit) > 1:
        raise UsageError("with --model, --limit is given once: every reading is paid for")
    return trial.limit[0]


def _systems(trial: Trial, dialogues: Sequence[Dialogue]) -> dict[str, Maker]:
    """Return the systems that were named; else ours alone, as every reading is paid for."""
    known = trial.systems(dialogues)
    return known if trial.system else {OURS: known[OURS]}


def _marked(questions: Sequence[Posed], panel: Panel) -> Marked:
    """Have the questions answered and the answers marked, under a progress bar.

    Raises:
        CollaboratorError: if it stopped before any answer was marked.
    """
    with ticking("answers marked") as tick:
        marked = asyncio.run(mark(questions, panel, tick=tick))
    if marked.stopped and all(one.failed for one in marked.marks):
        raise CollaboratorError(f"nothing was marked: {marked.stopped}")
    return marked


def _write(out: Path, marked: Marked, report: Json, parts: Sequence[RenderableType]) -> list[Path]:
    def save_marks(path: Path) -> None:
        lines = [json.dumps(asdict(one)) + "\n" for one in marked.marks]
        path.write_text("".join(lines), encoding="utf-8")

    out.mkdir(parents=True, exist_ok=True)
    return written(out, save_marks, report, parts)
