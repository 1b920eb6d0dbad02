"""Examine a pair of contexts: answer both queries from every content they could share, and judge.

A generator, driven like the flows; what the scores certify is in
``demem_agent.splitting.conflict``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demem_agent.later import dataclass
from demem_agent.reading.directing import directed
from demem_agent.reading.packing import assemble, wrap
from demem_agent.requests import Complete, Flow, Request, Score
from demem_agent.slots.experience import known_reference, query_of, testable
from demem_agent.slots.routing import slot_ranking
from demem_agent.slots.state import State
from demem_agent.splitting.conflict import Content, Verdict, bearable, contents, judge, worth_having
from demem_agent.splitting.division import Division, divide
from demem_agent.splitting.trials import Pair, Preview, Trials, ids_of, reply_to, slot_of
from demem_agent.summaries.compress import Summary
from demem_agent.types import Attempt, Context, Draft, Question, Reading

__all__ = ["Finding", "divided", "examined", "strict_reading", "threshold_of"]

#: A context of the pair, 0 or 1, and the number of a content that it is asked from.
Cell = tuple[int, int]
#: What an answer is kept under: the id of a context, and the text that it was answered from.
Key = tuple[str, str]
Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Finding:
    """What an examination comes to: how the slot would be divided, and what the scores certify.

    Attributes:
        division: None where there is nothing to divide.
    """

    division: Division | None
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class _Bench:
    """A pair and the contents that its queries are answered from.

    Attributes:
        readings: of the contents, as strict readings give them. Where one has no room for all of a
            content, what it holds depends on more than the content's text.
    """

    state: State
    preview: Preview
    pair: Pair
    contents: Sequence[Content]
    readings: Sequence[Reading]
    trials: Trials

    def context(self, cell: Cell) -> Context:
        return self.pair[cell[0]].context

    def reading(self, cell: Cell) -> Reading:
        return self.readings[cell[1]]

    def key(self, cell: Cell) -> Key:
        return self.context(cell).id, self.reading(cell).text

    def known(self, cell: Cell) -> bool:
        return self.key(cell) in self.trials.answers

    def reply_to(self, request: Request) -> Flow[Any]:
        return reply_to(request, self.state, self.preview)


def examined(
    state: State, preview: Preview, pair: Pair, trials: Trials, *, thorough: bool = False
) -> Flow[Finding | None]:
    """Answer both queries of a pair from every content they could share, and judge.

    None where no split is called for: one side would be empty, neither would-be slot would serve
    its own query, or some candidate is good enough for both. Also when the budget is used up; then
    the pair is left for later.

    Args:
        thorough: do not end early; for audits, which want all scores.

    Raises:
        Overtaken: if the memory moved on while a reply was awaited.
    """
    shared = slot_of(pair)
    division = None if shared is None else divided(state, preview, shared, pair)
    if shared is None or division is None:
        return None
    routed = yield from _routed(state, preview, pair, trials)
    tested = contents(preview.slots, shared, routed, division)
    readings = [strict_reading(state, content.summary) for content in tested]
    verdict = yield from _tried(_Bench(state, preview, pair, tested, readings, trials), thorough)
    return None if verdict is None else Finding(division, verdict)


def divided(state: State, preview: Preview, shared: int, pair: Pair) -> Division | None:
    """Divide a slot by a pair, on paper; None where one side would be empty."""
    if not state.members[shared]:
        return None
    free = state.free_slot()
    new = state.settings.slots if free is None else free
    division = divide(state, shared, pair, preview.used, new)
    if 0 < len(division.moved) < len(state.members[shared]):
        return division
    return None


def threshold_of(state: State) -> float:
    """Return the radius that a conflict must exceed now."""
    settings = state.settings.split
    return settings.tau_sat if state.free_slot() is None else settings.tau_split


def _tried(bench: _Bench, thorough: bool) -> Flow[Verdict | None]:
    """Answer both queries from the contents, in steps that may end the test early, and judge."""
    ids = ids_of(bench.pair)
    trials = bench.trials
    settings = bench.state.settings.split
    known: dict[Cell, Scores] = {}
    for step in _steps(len(bench.contents)):
        missing = [cell for cell in step if not bench.known(cell)]
        if not _affordable(bench, missing):
            trials.left.append(ids)
            return None
        yield from _answer(bench, missing)
        known |= yield from _rated(bench, step)
        if not thorough and _settled(bench.state, known):
            trials.done.append(ids)
            return None
    trials.done.append(ids)
    return judge(bench.contents, _answers(bench), _table(known), settings)


def _affordable(bench: _Bench, missing: Sequence[Cell]) -> bool:
    """Whether the budget of answers allows for so many more."""
    budget = bench.state.settings.split.counterfactuals
    return len(bench.trials.answers) + len(missing) <= budget


def _steps(count: int) -> list[list[Cell]]:
    """Return what to answer, by steps: from would-be slots, own ones first, then from the rest.

    Args:
        count: of contents, of which the last two are the would-be slots.
    """
    first = count - 2
    second = count - 1
    from_own = [(0, first), (1, second)]
    crosswise = [(0, second), (1, first)]
    others = [[(0, u), (1, u)] for u in range(first)]
    return [from_own, crosswise, *others]


def _settled(state: State, known: Mapping[Cell, Scores]) -> bool:
    """Whether what is known already rules a split out."""
    settings = state.settings.split
    threshold = threshold_of(state)
    if len(known) == 2:
        return not any(worth_having(scores, settings, threshold) for scores in known.values())
    for x, u in known:
        answered_by_both = x == 0 and (1, u) in known
        if answered_by_both and bearable(_column(known, u), settings, threshold):
            return True
    return False


def _column(known: Mapping[Cell, Scores], u: int) -> Scores:
    """Return the scores of both contexts from one content, shape (2, 1, B)."""
    return np.array([[known[0, u]], [known[1, u]]])


def _routed(state: State, preview: Preview, pair: Pair, trials: Trials) -> Flow[list[int]]:
    """Return the slots that the queries of a pair go to now, by the router where there is one.

    Raises:
        Overtaken: if the memory moved on while the router chose.
    """

    def asked(request: Request) -> Flow[Any]:
        return reply_to(request, state, preview)

    found = []
    for stored in pair:
        at = (stored.context.id, state.head.seq)
        if at not in trials.routes:  # one context meets several others in the tests of a feedback
            query = yield from directed(state, query_of(stored), asked=asked)
            trials.routes[at] = slot_ranking(state, query)[0].slot
        slot = trials.routes[at]
        if slot is not None:
            found.append(slot)
    return found


def _answer(bench: _Bench, missing: Sequence[Cell]) -> Flow[None]:
    """Answer from contents as strict readings give them, unless that was answered before."""
    state = bench.state
    readings: dict[Key, Reading] = {}
    for cell in missing:
        readings[bench.key(cell)] = bench.reading(cell)
    fresh = yield from _drafts(bench, missing, readings)
    tried = state.cache.tried
    for key, reading in readings.items():
        draft = fresh[key] if key in fresh else tried[key]
        bench.trials.answers[key] = (draft, reading.text)
    for (context_id, content), draft in fresh.items():
        state.cache.keep_tried(context_id, content, draft)


def _drafts(
    bench: _Bench, cells: Sequence[Cell], readings: Mapping[Key, Reading]
) -> Flow[dict[Key, Draft]]:
    """Have answered what no earlier feedback has asked for."""
    tried = bench.state.cache.tried
    asked: dict[Key, Question] = {}
    for cell in cells:
        key = bench.key(cell)
        context = bench.context(cell)
        if key not in tried:
            asked[key] = Question(context.query, context.at, readings[key], context.asker)
    if not asked:
        return {}
    request = Complete(tuple(asked.values()))
    drafts: list[Draft] = yield from bench.reply_to(request)
    return dict(zip(asked, drafts, strict=True))


def _rated(bench: _Bench, step: Sequence[Cell]) -> Flow[dict[Cell, Scores]]:
    """Have answers rated, each with shape (B,) in [0, 1]."""
    attempts = tuple(_attempt(bench, cell) for cell in step)
    judged = testable(bench.pair[0].context) == "judges"
    scores: Scores = yield from bench.reply_to(Score(attempts, judged=judged))
    return dict(zip(step, scores, strict=True))


def _attempt(bench: _Bench, cell: Cell) -> Attempt:
    context = bench.context(cell)
    draft, reading = bench.trials.answers[bench.key(cell)]
    return Attempt(context.query, draft.text, reading, known_reference(context) or "")


def _answers(bench: _Bench) -> list[tuple[str, str]]:
    """Return what the two contexts were answered, by content."""
    answers = bench.trials.answers
    found = []
    for u in range(len(bench.contents)):
        first, _ = answers[bench.key((0, u))]
        second, _ = answers[bench.key((1, u))]
        found.append((first.text, second.text))
    return found


def _table(known: Mapping[Cell, Scores]) -> Scores:
    """Return the scores from all contents, shape (2, U, B)."""
    columns = [_column(known, u) for u in range(len(known) // 2)]
    return np.concatenate(columns, axis=1)


def strict_reading(state: State, summary: Summary) -> Reading:
    """Return what is read of a slot that has this summary."""
    marks = state.measure(wrap(""))
    limit = state.settings.slot_limit + marks
    found = assemble(summary, state.evidence, limit, state.measure)
    items = dict.fromkeys(line.evidence for line in found.lines)
    return Reading(
        text=found.text,
        size=state.measure(found.text),
        limit=limit,
        unit=state.settings.unit,
        mode="strict",
        evidence=tuple(items),
        slots=(),
        lines=tuple(found.lines),
    )
