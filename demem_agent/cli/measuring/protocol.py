"""``demem bench --model``: the paper's protocol, from the estimate of its cost to its report."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter

from rich.console import RenderableType

from demem_agent.cli.faults import UsageError
from demem_agent.cli.json_values import Json
from demem_agent.cli.measuring.announcing import announcement, spent_words, start, used_value
from demem_agent.cli.measuring.arena import arena_of_marks
from demem_agent.cli.measuring.benchmarks import Benchmark, digest_of
from demem_agent.cli.measuring.protocol_options import ProtocolOptions
from demem_agent.cli.measuring.systems import OURS
from demem_agent.cli.measuring.trial import Trial
from demem_agent.cli.measuring.written import note_files, report_files
from demem_agent.cli.model_options import ModelOptions
from demem_agent.cli.progress import ticking
from demem_agent.cli.tables.cells import cell
from demem_agent.cli.tables.protocol import protocol_parts
from demem_agent.errors import CollaboratorError, InvalidInput, ModelError
from demem_agent.evaluate import Dialogue, Maker
from demem_agent.evaluate.protocol.forecast import Estimate, estimate
from demem_agent.evaluate.protocol.judging import LEAST, PAIRS, marked_rightly
from demem_agent.evaluate.protocol.library import this_library
from demem_agent.evaluate.protocol.lines import Header, instructions
from demem_agent.evaluate.protocol.posing import Posed, posed
from demem_agent.evaluate.protocol.reporting import marks_report
from demem_agent.evaluate.protocol.results import Contents, Results, resumed, with_times
from demem_agent.evaluate.protocol.run import Mark, Marked, Panel, Seeded, mark
from demem_agent.llms import ChatModel, Ledger, ModelAnswerer, OpenAIChat

__all__ = ["RESULTS", "Protocol"]

#: The file of a folder in which all of a run is kept.
RESULTS = "results.jsonl"
#: Characters that a reading may have, unless others are given.
_LIMIT = 6000


@dataclass(frozen=True, slots=True)
class Protocol:
    """A run with a model.

    Attributes:
        name: of the benchmark on the command line.
        data: its file or folder.
    """

    name: str
    benchmark: Benchmark
    data: Path
    trial: Trial
    model_options: ModelOptions
    options: ProtocolOptions

    def run(
        self, dialogues: Sequence[Dialogue], *, also: Sequence[RenderableType]
    ) -> tuple[Json, list[RenderableType]]:
        """Have a model answer and judges mark; return the report, and the parts to print.

        Where a folder was named, everything is kept in a file there, and what is there already is
        not asked again.

        Args:
            also: parts to print after the tables.

        Raises:
            UsageError: for what does not go together, or where nobody can be asked whether to
                start.
            InvalidInput: if the file in the folder is of another run.
            CollaboratorError: if it stopped before any answer was marked.
        """
        limit = _one_limit(self.trial)
        ledger = self.model_options.ledger("run", self._names)
        panel = self._panel(ledger)
        questions = self._questions(dialogues, limit)
        header = self._header(questions, limit)
        had = None if self._file is None else resumed(self._file, header, questions)
        questions = with_times(questions, had)
        expected = estimate(questions, panel, ledger, had.marks if had else ())
        self._announce(expected, len(questions) * panel.runs, _tried(questions, panel, expected))
        if expected.questions and not self.options.any_judge:
            _require_judges(panel.judges)
        marked, digest = self._marked(questions, panel, header, had)
        used = used_value(ledger)
        report: Json = {
            "data": self.benchmark.name,
            "limit": limit,
            **marks_report(marked, panel, questions),
            "estimate": asdict(expected),
            "used": used,
        }
        parts = [*protocol_parts(report), cell(spent_words(used)), *also]
        if self.name == "memoryarena":
            more, part = arena_of_marks(marked.marks)
            report |= more
            parts.append(part)
        self._keep(report, parts, digest)
        return report, parts

    @property
    def _file(self) -> Path | None:
        return None if self.trial.out is None else self.trial.out / RESULTS

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

    def _panel(self, ledger: Ledger) -> Panel:
        """Return who answers and who marks; a model that also judges is one."""
        there = self._judging_options()
        model: ChatModel = self.model_options.chat(self._model, ledger)
        judges: list[ChatModel] = []
        for name in self._judges:
            same = name == self._model and there == self.model_options
            judges.append(model if same else there.chat(name, ledger))
        return Panel(model, tuple(judges), self.options.runs, self.options.parallel)

    def _judging_options(self) -> ModelOptions:
        """Return where judges are."""
        options = self.model_options
        return replace(
            options,
            base_url=self.options.judge_url or options.base_url,
            key_env=self.options.judge_key_env or options.key_env,
        )

    def _questions(self, dialogues: Sequence[Dialogue], limit: int) -> list[Posed]:
        """Have the systems read for every question, under a progress bar."""
        systems = _systems(self.trial, dialogues)
        also = self.benchmark.unanswerable
        with ticking("readings", transient=True) as tick:
            return posed(dialogues, systems, limit, unanswerable=also, tick=tick)

    def _header(self, questions: Sequence[Posed], limit: int) -> Header:
        library = this_library()
        systems = tuple(dict.fromkeys(one.system for one in questions))
        return Header(
            benchmark=self.name,
            data=self.data.name,
            sha256=digest_of(self.data),
            version=library.version,
            commit=library.commit,
            model=self._model,
            judges=tuple(self._judges),
            systems=systems,
            questions=len(questions) // len(systems),
            limit=limit,
            runs=self.options.runs,
            seeds=tuple(range(self.options.runs)),
            prompts=instructions(),
            began=datetime.now(UTC).isoformat(timespec="seconds"),
        )

    def _announce(self, expected: Estimate, everything: int, seconds: float | None) -> None:
        """Say on the error stream what is about to be asked, and start only if that is wanted.

        Args:
            seconds: that a call takes, where that was tried.

        Raises:
            UsageError: where nobody is there to ask.
            typer.Abort: if the answer is no.
        """
        parallel = self.options.parallel
        lines = [*announcement(expected, everything, self.model_options, seconds, parallel)]
        if expected.questions and not self.options.any_judge:
            lines.append(f"Each judge is first tried on {len(PAIRS)} answers, by a call each.")
        if expected.questions and self._file is None:
            lines.append("Nothing is kept of it without --out DIR.")
        start(lines, agreed=self.options.yes or not expected.questions)

    def _marked(
        self, questions: Sequence[Posed], panel: Panel, header: Header, had: Contents | None
    ) -> tuple[Marked, str]:
        """Have the questions answered and marked; return the digest of the file as well."""
        if self._file is None:
            return _marked(questions, panel), ""
        results = Results(self._file, header, questions, had)
        marked = _marked(questions, panel, had.marks if had else (), results.add)
        return marked, results.close().digest

    def _keep(self, report: Json, parts: list[RenderableType], digest: str) -> None:
        """Write report and tables where a folder was named, and note the files in both."""
        if self.trial.out is None or self._file is None:
            return
        report["digest"] = digest
        parts.append(cell(f"Others check it by: demem bench verify {self._file}"))
        parts.append(cell(f"digest: {digest}"))
        files = report_files(self.trial.out, report, parts)
        note_files([self._file, *files], report, parts)


def _tried(questions: Sequence[Posed], panel: Panel, expected: Estimate) -> float | None:
    """Return the seconds that a model on this machine takes to answer; None of any other model.

    Raises:
        CollaboratorError: if it fails.
    """
    if not (expected.questions and isinstance(panel.model, OpenAIChat) and panel.model.is_local):
        return None
    began = perf_counter()
    try:
        asyncio.run(
            ModelAnswerer(Seeded(panel.model, 0), fall_back=False).answer(questions[0].asked)
        )
    except ModelError as error:
        if error.kind not in ("malformed", "cut off"):  # what is of no use took its time as well
            raise
    return perf_counter() - began


def _require_judges(judges: Sequence[ChatModel]) -> None:
    """Check that judges mark nearly all of what is known rightly.

    Raises:
        InvalidInput: naming the one that does not.
        CollaboratorError: if one fails.
    """
    for judge in judges:
        right = asyncio.run(marked_rightly(Seeded(judge, 0)))
        if right < LEAST:
            raise InvalidInput(
                "--judge",
                judge.name,
                f"a model that marks {LEAST} of {len(PAIRS)} built-in answers rightly, and not "
                f"{right}; --any-judge takes any",
            )


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


def _marked(
    questions: Sequence[Posed],
    panel: Panel,
    known: Sequence[Mark] = (),
    keep: Callable[[Mark], object] | None = None,
) -> Marked:
    """Have the questions answered and the answers marked, under a progress bar.

    Raises:
        CollaboratorError: if it stopped before any answer was marked.
    """
    with ticking("answers marked") as tick:
        marked = asyncio.run(mark(questions, panel, known=known, keep=keep, tick=tick))
    if marked.stopped and all(one.failed for one in marked.marks):
        raise CollaboratorError(f"nothing was marked: {marked.stopped}")
    return marked
