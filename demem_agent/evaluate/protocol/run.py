"""The paper's protocol: a model answers from what a system reads, judges mark the answers, and all
that R times.

As in the paper (appendix "Benchmark and Evaluation Details"): every answer is made from one reading
within a limit and marked right or wrong by each judge against the reference; judges are averaged;
the figure is the mean of R runs with one sample standard deviation. Each judge also gives a grade
from 0 to 4, which is reported apart. Unlike in the paper judges see the question as well, and runs
differ by the seed of the models alone, as memory is deterministic. Memory is told of no mark.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from demem_agent.errors import BudgetSpent, InvalidInput, ModelError, ModelFault
from demem_agent.evaluate.data.dialogue import Dialogue
from demem_agent.evaluate.metrics import UNANSWERABLE, as_reading
from demem_agent.evaluate.system import Maker
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
    """One question with what a system reads for it."""

    system: str
    dialogue: str
    question: int
    category: str
    reference: str
    asked: Question


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
        if not self.judges or len({judge.name for judge in self.judges}) < len(self.judges):
            raise InvalidInput(
                "judges", [judge.name for judge in self.judges], "one or more, each of another name"
            )


@dataclass(frozen=True, slots=True)
class Mark:
    """What came of one question in one run.

    Attributes:
        answer: "" when the model does not know, and where it gave nothing that can be used, which
            is ``useless``.
        binary, graded: of each judge in its order, in [0, 1]; empty where ``failed`` tells how a
            model failed.
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


@dataclass(frozen=True, slots=True)
class Marked:
    """All marks, in order of runs and questions; ``stopped`` tells why there are no more, "" when
    it is all.
    """

    marks: tuple[Mark, ...]
    stopped: str = ""


@dataclass(frozen=True, slots=True)
class Seeded:
    """A chat model of which every call has a seed, so that repeated runs differ and are recorded
    apart.
    """

    model: ChatModel
    seed: int

    @property
    def name(self) -> str:
        return self.model.name

    def complete(self, prompt: Prompt, options: Options = PLAIN, /) -> Completion:
        return self.model.complete(prompt, replace(options, seed=self.seed))

    async def acomplete(self, prompt: Prompt, options: Options = PLAIN, /) -> Completion:
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
    wanted = [(dialogue, name) for dialogue in dialogues for name in systems]
    found: list[Posed] = []
    for done, (dialogue, name) in enumerate(wanted, 1):
        found += _posed(dialogue, name, systems[name], limit)
        if tick:
            tick(done, len(wanted))
    if not found:
        raise InvalidInput(
            "dialogues",
            [d.name for d in dialogues],
            "dialogues with questions that have a reference",
        )
    return found


def _posed(dialogue: Dialogue, name: str, make: Maker, limit: int) -> Iterator[Posed]:
    system = make()
    system.ingest(dialogue.turns)
    for number, probe in enumerate(dialogue.probes):
        if probe.category in UNANSWERABLE or not probe.reference.strip():
            continue
        text = system.read(probe.question, limit, probe.at)
        if len(text) > limit:
            raise InvalidInput(
                f"the reading of {name!r}", f"{len(text)} characters", f"at most {limit} characters"
            )
        asked = Question(probe.question, probe.at, as_reading(text))
        yield Posed(name, dialogue.name, number, probe.category, probe.reference, asked)


async def mark(
    questions: Sequence[Posed], panel: Panel, *, tick: Tick | None = None, ignore: bool = False
) -> Marked:
    """Answer and mark every question in every run, run by run.

    A question on which a model fails is not marked, and says so. A spending limit, or a fault that
    all further calls would share, ends it; what was marked until then is kept.

    Args:
        ignore: go on after such faults as well, as makes sense for a replay.
    """
    jobs = [(run, one) for run in range(panel.runs) for one in questions]
    found: dict[int, Mark] = {}
    waiting, stopped = iter(enumerate(jobs)), _Stopped(ignore)

    async def work() -> None:
        for number, (run, one) in waiting:
            done = await _marked(run, one, panel, stopped)
            if done is not None:
                found[number] = done
            if stopped.why:
                return
            if tick:
                tick(len(found), len(jobs))

    await asyncio.gather(*(work() for _ in range(panel.parallel)))
    return Marked(tuple(found[number] for number in sorted(found)), stopped.why)


class _Stopped:
    """Why no more is asked, once that is so."""

    def __init__(self, ignore: bool) -> None:
        self.why = ""
        self._ignore = ignore

    def note(self, error: ModelError | BudgetSpent) -> bool:
        """Tell whether an error ends it all."""
        ends = isinstance(error, BudgetSpent) or (error.kind in _HOPELESS and not self._ignore)
        if ends:
            self.why = self.why or str(error)
        return ends


async def _marked(run: int, one: Posed, panel: Panel, stopped: _Stopped) -> Mark | None:
    """Answer one question and have it marked; None where that came to an end."""
    blank = Mark(run, one.system, one.dialogue, one.question, one.category)
    try:
        answer = await _answer(panel.model, run, one.asked)
        attempt = Attempt(one.asked.query, answer or "", one.asked.reading.text, one.reference)
        binary, graded = [
            [await _score(judge, kind, run, attempt) for judge in panel.judges] for kind in KINDS
        ]
    except (ModelError, BudgetSpent) as error:
        return None if stopped.note(error) else replace(blank, failed=_kind(error))
    return replace(
        blank,
        answer=answer or "",
        useless=answer is None,
        binary=tuple(binary),
        graded=tuple(graded),
    )


async def _answer(model: ChatModel, run: int, asked: Question) -> str | None:
    """Give an answer, or None where a model replied and nothing in it can be used: that is for the
    judges, too.
    """
    try:
        return (await ModelAnswerer(Seeded(model, run), fall_back=False).answer(asked)).text
    except ModelError as error:
        if error.kind != "malformed":
            raise
        return None


async def _score(judge: ChatModel, kind: Judging, run: int, attempt: Attempt) -> float:
    return await ModelJudge(Seeded(judge, run), kind).score(attempt)


def _kind(error: ModelError | BudgetSpent) -> str:
    return error.kind if isinstance(error, ModelError) else "budget spent"
