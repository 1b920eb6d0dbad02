"""The paper's protocol: a model answers from what a system reads, judges mark it, all R times.

As in the paper (appendix "Benchmark and Evaluation Details"): every answer is made from one reading
within a limit and marked right or wrong by each judge against the reference; judges are averaged;
the figure is the mean of R runs with one sample standard deviation. Each judge also gives a grade
from 0 to 4, which is reported apart. Unlike in the paper judges see the question as well, and runs
differ by the seed of the models alone, as memory is deterministic. Memory is told of no mark.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from demem_agent.errors import BudgetSpent, InvalidInput, ModelError, ModelFault
from demem_agent.evaluate.grouping import grouped
from demem_agent.evaluate.protocol.calls import Call, Heard
from demem_agent.evaluate.protocol.posing import Posed
from demem_agent.llms.answerer import ModelAnswerer
from demem_agent.llms.judges import Judging, ModelJudge
from demem_agent.llms.model import PLAIN, ChatModel, Completion, Options, Prompt
from demem_agent.turns import whole_field
from demem_agent.types import Attempt, Question

__all__ = [
    "KINDS",
    "Mark",
    "Marked",
    "Panel",
    "Place",
    "Seeded",
    "answered",
    "mark",
]

#: The ways in which each judge marks an answer.
KINDS: tuple[Judging, Judging] = ("binary", "graded")
#: Faults that every further call would share.
_HOPELESS: frozenset[ModelFault] = frozenset(
    ("unauthorised", "no such model", "quota", "circuit open")
)
_SPENT = "budget spent"

#: Called with (questions done, questions in all), each question once a run.
Tick = Callable[[int, int], object]
#: An answer: its run, the system, the dialogue, and the question's number there.
Place = tuple[int, str, str, int]


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
            L(q).
        calls: of all models, in order.
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
    calls: tuple[Call, ...] = field(default=(), compare=False)

    @property
    def place(self) -> Place:
        """Which answer it is of."""
        return self.run, self.system, self.dialogue, self.question

    @property
    def ended(self) -> bool:
        """Whether all came to an end there: it is no failure of this question."""
        return self.failed == _SPENT or self.failed in _HOPELESS


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


async def mark(
    questions: Sequence[Posed],
    panel: Panel,
    *,
    known: Sequence[Mark] = (),
    keep: Callable[[Mark], object] | None = None,
    tick: Tick | None = None,
) -> Marked:
    """Answer and mark every question in every run, run by run.

    A question on which a model fails is not marked, and says so. A spending limit, or a fault that
    all further calls would share, ends it; what was marked until then is kept.

    Args:
        known: marks of an earlier call. Those that are whole are not made again; of one that
            failed, the calls that came to something are kept.
        keep: called with each new mark, as soon as it is there.
    """
    marking = _Marking(questions, panel, known, keep)
    workers = [marking.work(tick) for _ in range(panel.parallel)]
    await asyncio.gather(*workers)
    return marking.marked()


class _Marking:
    """Questions that several workers take from the same row, and what came of them so far."""

    def __init__(
        self,
        questions: Sequence[Posed],
        panel: Panel,
        known: Sequence[Mark],
        keep: Callable[[Mark], object] | None,
    ) -> None:
        self._panel = panel
        self._keep = keep
        self._jobs = list(product(range(panel.runs), questions))
        self._found = {mark.place: mark for mark in known if not mark.failed}
        self._heard = grouped(known, lambda mark: mark.place)
        self._waiting = iter([job for job in self._jobs if _place(*job) not in self._found])
        self._stopped = ""

    async def work(self, tick: Tick | None) -> None:
        """Take one question after the other, until there are none or it all came to an end."""
        for run, one in self._waiting:
            done = await self._marked(run, one)
            if self._keep and (done.calls or not done.ended):
                self._keep(done)
            if not done.ended:
                self._found[done.place] = done
            if self._stopped:
                return
            if tick:
                tick(len(self._found), len(self._jobs))

    def marked(self) -> Marked:
        """Return what was found, in order."""
        places = [_place(*job) for job in self._jobs]
        marks = [self._found[place] for place in places if place in self._found]
        return Marked(tuple(marks), self._stopped)

    async def _marked(self, run: int, one: Posed) -> Mark:
        """Answer one question and have it marked."""
        heard = Heard(one.prompt, list(self._usable(_place(run, one))))
        done, error = await answered(one, run, self._panel, heard)
        if done.ended:
            self._stopped = self._stopped or str(error)
        return done

    def _usable(self, place: Place) -> Iterator[Call]:
        """Yield what models replied in an attempt that failed, the last one."""
        for mark in self._heard.get(place, ())[-1:]:
            for call in mark.calls:
                if not call.failed:
                    yield call.model_copy(update={"kept": True})


async def answered(
    one: Posed, run: int, panel: Panel, heard: Heard
) -> tuple[Mark, ModelError | BudgetSpent | None]:
    """Answer one question and have it marked; return the error as well where a model failed."""
    blank = Mark(run, one.system, one.dialogue, one.question, one.category)
    try:
        done = await _filled(blank, one, panel, heard)
    except (ModelError, BudgetSpent) as error:
        return replace(blank, failed=_kind(error), calls=tuple(heard.calls)), error
    return replace(done, calls=tuple(heard.calls)), None


async def _filled(blank: Mark, one: Posed, panel: Panel, heard: Heard) -> Mark:
    """Fill in what the model answers and what the judges make of it."""
    answer = await _answer(heard.by(panel.model), blank.run, one.asked)
    seconds = one.seconds + heard.seconds
    attempt = Attempt(
        query=one.asked.query,
        answer=answer or "",
        reading=one.asked.reading.text,
        reference=one.reference,
    )
    judges = [Seeded(heard.by(judge), blank.run) for judge in panel.judges]
    return replace(
        blank,
        answer=attempt.answer,
        useless=answer is None,
        size=one.asked.reading.size,
        seconds=seconds,
        binary=await _scores("binary", judges, attempt),
        graded=await _scores("graded", judges, attempt),
    )


async def _scores(
    kind: Judging, judges: Sequence[ChatModel], attempt: Attempt
) -> tuple[float, ...]:
    return tuple([await ModelJudge(judge, kind).score(attempt) for judge in judges])


def _place(run: int, one: Posed) -> Place:
    return run, one.system, one.dialogue, one.question


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
    return error.kind if isinstance(error, ModelError) else _SPENT
