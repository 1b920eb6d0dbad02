"""The paper's protocol: a model answers from what a system reads, judges mark it, all R times.

As in the paper (appendix "Benchmark and Evaluation Details"): every answer is made from one reading
within a limit and marked right or wrong by each judge against the reference; judges are averaged;
the figure is the mean of R runs with one sample standard deviation. Each judge also gives a grade
from 0 to 4, which is reported apart. Unlike in the paper judges see the question as well, and runs
differ by the seed of the models alone, as memory is deterministic. Memory is told of no mark.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from time import perf_counter

from demem_agent.errors import BudgetSpent, InvalidInput, ModelError, ModelFault
from demem_agent.evaluate.data.dialogue import Dialogue
from demem_agent.evaluate.metrics import as_reading
from demem_agent.evaluate.system import Maker, System, too_long
from demem_agent.llms.answerer import ModelAnswerer
from demem_agent.llms.judges import Judging, ModelJudge
from demem_agent.llms.model import PLAIN, ChatModel, Completion, Options, Prompt
from demem_agent.turns import whole_field
from demem_agent.types import Attempt, Question

__all__ = ["KINDS", "Mark", "Marked", "Panel", "Posed", "Seeded", "mark", "posed"]

#: The ways in which each judge marks an answer.
KINDS: tuple[Judging, Judging] = ("binary", "graded")
#: Faults that every further call would share.
_HOPELESS: frozenset[ModelFault] = frozenset(
    ("unauthorised", "no such model", "quota", "circuit open")
)

#: Called with (questions done, questions in all), each question once a run.
Tick = Callable[[int, int], object]


@dataclass(frozen=True, slots=True)
class Posed:
    """One question with what a system reads for it.

    Attributes:
        seconds: that the read took.
    """

    system: str
    dialogue: str
    question: int
    category: str
    reference: str
    asked: Question
    seconds: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True)
class Panel:
    """Who answers and who marks.

    Attributes:
        judges: each marks every answer in two ways; the paper has two, other models than the one
            that answers or not.
        runs: R, >= 1; the paper has 5.
        parallel: questions at once, >= 1.
    """

    model: ChatModel
    judges: tuple[ChatModel, ...]
    runs: int = 5
    parallel: int = 8

    def __post_init__(self) -> None:
        whole_field("runs", self.runs, 1)
        whole_field("parallel", self.parallel, 1)
        names = [judge.name for judge in self.judges]
        if not names or len(set(names)) < len(names):
            raise InvalidInput("judges", names, "one or more, each of another name")


@dataclass(frozen=True, slots=True)
class Mark:
    """What came of one question in one run.

    Attributes:
        answer: "" when the model does not know, and where it is ``useless``.
        binary, graded: of each judge in its order, in [0, 1]; empty where a model failed.
        failed: how a model failed; "" where none did.
        useless: whether the model gave nothing that can be used.
        size: characters of what was read, the paper's B(q).
        seconds: from the question to the answer, the read included and the judges not: the paper's
            L(q). Of a recorded answer it says nothing.
    """

    run: int
    system: str
    dialogue: str
    question: int
    category: str
    answer: str = ""
    binary: tuple[float, ...] = ()
    graded: tuple[float, ...] = ()
    failed: str = ""
    useless: bool = False
    size: int = 0
    seconds: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True)
class Marked:
    """All marks, in order of runs and questions.

    Attributes:
        stopped: why there are no more; "" when it is all.
    """

    marks: tuple[Mark, ...]
    stopped: str = ""


@dataclass(frozen=True, slots=True)
class Seeded:
    """A chat model whose calls have a seed, so that repeated runs differ and are recorded apart."""

    model: ChatModel
    seed: int

    @property
    def name(self) -> str:
        """The model's own name."""
        return self.model.name

    def complete(self, prompt: Prompt, options: Options = PLAIN, /) -> Completion:
        """Ask the model with the seed."""
        return self.model.complete(prompt, replace(options, seed=self.seed))

    async def acomplete(self, prompt: Prompt, options: Options = PLAIN, /) -> Completion:
        """Ask the model with the seed, without blocking."""
        return await self.model.acomplete(prompt, replace(options, seed=self.seed))


def posed(
    dialogues: Sequence[Dialogue],
    systems: Mapping[str, Maker],
    limit: int,
    *,
    tick: Tick | None = None,
) -> list[Posed]:
    """Have every system read for every question that has an answer; no model is asked.

    Args:
        limit: characters that a reading may have, >= 1.

    Raises:
        InvalidInput: if no question has a reference, or naming the system that reads more than the
            limit.
    """
    whole_field("limit", limit, 1)
    total = len(dialogues) * len(systems)
    done = 0
    found: list[Posed] = []
    for dialogue in dialogues:
        for name, make in systems.items():
            found += _posed(dialogue, name, make, limit)
            done += 1
            if tick:
                tick(done, total)
    if not found:
        names = [dialogue.name for dialogue in dialogues]
        raise InvalidInput("dialogues", names, "dialogues with questions that have a reference")
    return found


def _posed(dialogue: Dialogue, name: str, make: Maker, limit: int) -> Iterator[Posed]:
    system = make()
    system.ingest(dialogue.turns)
    for number, probe in enumerate(dialogue.probes):
        if not probe.has_answer or not probe.reference.strip():
            continue
        began = perf_counter()
        text = system.read(probe.question, limit, probe.at)
        seconds = perf_counter() - began
        _check_length(system, text, limit, name)
        yield Posed(
            system=name,
            dialogue=dialogue.name,
            question=number,
            category=probe.category,
            reference=probe.reference,
            asked=Question(probe.question, probe.at, as_reading(text)),
            seconds=seconds,
        )


def _check_length(system: System, text: str, limit: int, name: str) -> None:
    if too_long(system, text, limit):
        field = f"the reading of {name!r}"
        raise InvalidInput(field, f"{len(text)} characters", f"at most {limit} characters")


async def mark(
    questions: Sequence[Posed], panel: Panel, *, tick: Tick | None = None, ignore: bool = False
) -> Marked:
    """Answer and mark every question in every run, run by run.

    A question on which a model fails is not marked, and says so. A spending limit, or a fault that
    all further calls would share, ends it; what was marked until then is kept.

    Args:
        ignore: go on after such faults as well, as makes sense for a replay.
    """
    marking = _Marking(questions, panel, ignore)
    workers = [marking.work(tick) for _ in range(panel.parallel)]
    await asyncio.gather(*workers)
    return marking.marked()


class _Marking:
    """Questions that several workers take from the same row, and what came of them so far."""

    def __init__(self, questions: Sequence[Posed], panel: Panel, ignore: bool) -> None:
        self._panel = panel
        self._ignore = ignore
        self._jobs = list(product(range(panel.runs), questions))
        self._waiting = iter(enumerate(self._jobs))
        self._found: dict[int, Mark] = {}
        self._stopped = ""

    async def work(self, tick: Tick | None) -> None:
        """Take one question after the other, until there are none or it all came to an end."""
        for number, (run, one) in self._waiting:
            done = await self._marked(run, one)
            if done is not None:
                self._found[number] = done
            if self._stopped:
                return
            if tick:
                tick(len(self._found), len(self._jobs))

    def marked(self) -> Marked:
        """Return what was found, in order."""
        marks = [self._found[number] for number in sorted(self._found)]
        return Marked(tuple(marks), self._stopped)

    async def _marked(self, run: int, one: Posed) -> Mark | None:
        """Answer one question and have it marked; None where all came to an end."""
        blank = Mark(run, one.system, one.dialogue, one.question, one.category)
        try:
            return await self._filled(blank, one)
        except (ModelError, BudgetSpent) as error:
            if self._ends(error):
                self._stopped = self._stopped or str(error)
                return None
            return replace(blank, failed=_kind(error))

    async def _filled(self, blank: Mark, one: Posed) -> Mark:
        """Fill in what the model answers and what the judges make of it."""
        began = perf_counter()
        answer = await _answer(self._panel.model, blank.run, one.asked)
        seconds = one.seconds + perf_counter() - began
        attempt = Attempt(
            query=one.asked.query,
            answer=answer or "",
            reading=one.asked.reading.text,
            reference=one.reference,
        )
        return replace(
            blank,
            answer=attempt.answer,
            useless=answer is None,
            size=one.asked.reading.size,
            seconds=seconds,
            binary=await self._scores("binary", blank.run, attempt),
            graded=await self._scores("graded", blank.run, attempt),
        )

    async def _scores(self, kind: Judging, run: int, attempt: Attempt) -> tuple[float, ...]:
        scores = []
        for judge in self._panel.judges:
            seeded = ModelJudge(Seeded(judge, run), kind)
            scores.append(await seeded.score(attempt))
        return tuple(scores)

    def _ends(self, error: ModelError | BudgetSpent) -> bool:
        """Whether no more is to be asked after an error."""
        if isinstance(error, BudgetSpent):
            return True
        return error.kind in _HOPELESS and not self._ignore


async def _answer(model: ChatModel, run: int, asked: Question) -> str | None:
    """Return an answer, or None where a model replied and nothing in it can be used.

    That is for the judges, too.
    """
    answerer = ModelAnswerer(Seeded(model, run), fall_back=False)
    try:
        draft = await answerer.answer(asked)
    except ModelError as error:
        if error.kind != "malformed":
            raise
        return None
    return draft.text


def _kind(error: ModelError | BudgetSpent) -> str:
    return error.kind if isinstance(error, ModelError) else "budget spent"
