"""Examine a pair of contexts: answer both queries from every content they could share, and judge.

A generator, driven like the flows; what the scores certify is in
``demem_agent.splitting.conflict``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demem_agent.reading.packing import assemble, wrap
from demem_agent.requests import Ask, Flow, Score
from demem_agent.slots.experience import known_reference, query_of, testable
from demem_agent.slots.records import StoredContext
from demem_agent.slots.routing import slot_ranking
from demem_agent.slots.state import State
from demem_agent.splitting.conflict import Content, Verdict, bearable, contents, judge, worth_having
from demem_agent.splitting.division import Division, divide
from demem_agent.splitting.trials import Pair, Preview, Trials, ids_of, reply_to
from demem_agent.types import Attempt, Draft, Question, Reading

__all__ = ["Finding", "divided", "examined", "threshold_of"]

#: A context of the pair, 0 or 1, and the number of a content that it is asked from.
Cell = tuple[int, int]
Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Finding:
    """What an examination comes to: how the slot would be divided, and what the scores certify."""

    division: Division
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class _Bench:
    """A pair and the contents that its queries are answered from."""

    state: State
    preview: Preview
    pair: Pair
    contents: Sequence[Content]
    trials: Trials

    def place(self, cell: Cell) -> tuple[StoredContext, Content]:
        x, u = cell
        return self.pair[x], self.contents[u]

    def key(self, cell: Cell) -> tuple[str, str]:
        """Return what an answer is kept under: the context, and the text of the content."""
        stored, content = self.place(cell)
        return stored.context.id, content.summary.text


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
    shared = pair[1].context.slot
    division = None if shared is None else divided(state, preview, shared, pair)
    if shared is None or division is None:
        return None
    routed = _routed(state, pair, trials)
    tested = contents(preview.slots, shared, routed, division)
    verdict = yield from _tried(_Bench(state, preview, pair, tested, trials), thorough)
    return None if verdict is None else Finding(division, verdict)


def divided(state: State, preview: Preview, shared: int, pair: Pair) -> Division | None:
    """Divide a slot by a pair, on paper; None where one side would be empty."""
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
        missing = [cell for cell in step if bench.key(cell) not in trials.answers]
        if len(trials.answers) + len(missing) > settings.counterfactuals:
            trials.left.append(ids)
            return None
        yield from _answer(bench, missing)
        known |= yield from _rated(bench, step)
        if not thorough and _settled(bench.state, known):
            trials.done.append(ids)
            return None
    trials.done.append(ids)
    return judge(bench.contents, _answers(bench), _table(known), settings)


def _steps(count: int) -> list[list[Cell]]:
    """Return what to answer, by steps: each query from its own would-be slot, the other's, the rest.

    Args:
        count: of contents, of which the last two are the would-be slots.
    """
    first = count - 2
    second = count - 1
    steps = [[(0, first), (1, second)], [(0, second), (1, first)]]
    for u in range(count - 2):
        steps.append([(0, u), (1, u)])
    return steps


def _settled(state: State, known: Mapping[Cell, Scores]) -> bool:
    """Whether what is known already rules a split out."""
    settings = state.settings.split
    threshold = threshold_of(state)
    if len(known) == 2:
        return not any(worth_having(scores, settings, threshold) for scores in known.values())
    for x, u in known:
        if x == 0 and (1, u) in known:
            column = np.array([[known[0, u]], [known[1, u]]])
            if bearable(column, settings, threshold):
                return True
    return False


def _routed(state: State, pair: Pair, trials: Trials) -> list[int]:
    """Return the slots that the queries of a pair go to now."""
    found = []
    for stored in pair:
        at = (stored.context.id, state.head.seq)
        if at not in trials.routes:  # one context meets several others in the tests of a feedback
            trials.routes[at] = slot_ranking(state, query_of(stored))[0].slot
        slot = trials.routes[at]
        if slot is not None:
            found.append(slot)
    return found


def _answer(bench: _Bench, missing: Sequence[Cell]) -> Flow[None]:
    """Answer from contents as strict readings give them, unless that was answered before."""
    state = bench.state
    readings: dict[tuple[str, str], Reading] = {}
    asked: dict[tuple[str, str], Question] = {}
    for cell in missing:
        stored, content = bench.place(cell)
        reading = _content_reading(state, content)
        at = bench.key(cell)
        readings[at] = reading
        if at not in state.tried:
            asked[at] = Question(stored.context.query, stored.context.at, reading)
    drafts: list[Draft] = []
    if asked:
        request = Ask(tuple(asked.values()))
        drafts = yield from reply_to(request, state, bench.preview)
    fresh = dict(zip(asked, drafts, strict=True))
    for at, reading in readings.items():
        draft = fresh[at] if at in fresh else state.tried[at]
        bench.trials.answers[at] = (draft, reading.text)
    for at, draft in fresh.items():
        state.keep_tried(*at, draft)


def _rated(bench: _Bench, step: Sequence[Cell]) -> Flow[dict[Cell, Scores]]:
    """Have answers rated, each with shape (B,) in [0, 1]."""
    attempts = []
    for cell in step:
        stored, _ = bench.place(cell)
        draft, reading = bench.trials.answers[bench.key(cell)]
        reference = known_reference(stored.context) or ""
        attempts.append(Attempt(stored.context.query, draft.text, reading, reference))
    judged = testable(bench.pair[0].context) == "judges"
    request = Score(tuple(attempts), judged=judged)
    scores: Scores = yield from reply_to(request, bench.state, bench.preview)
    return dict(zip(step, scores, strict=True))


def _answers(bench: _Bench) -> list[tuple[str, str]]:
    """Return what the two contexts were answered, by content."""
    found = []
    for u in range(len(bench.contents)):
        first, _ = bench.trials.answers[bench.key((0, u))]
        second, _ = bench.trials.answers[bench.key((1, u))]
        found.append((first.text, second.text))
    return found


def _table(known: Mapping[Cell, Scores]) -> Scores:
    """Return the scores of all contents, shape (2, U, B)."""
    count = len(known) // 2
    first = [known[0, u] for u in range(count)]
    second = [known[1, u] for u in range(count)]
    return np.array([first, second])


def _content_reading(state: State, content: Content) -> Reading:
    limit = state.settings.slot_limit + state.measure(wrap(""))
    lines, text = assemble(content.summary, state.evidence, limit, state.measure)
    items = dict.fromkeys(line.evidence for line in lines)
    return Reading(
        text=text,
        size=state.measure(text),
        limit=limit,
        unit=state.settings.unit,
        mode="strict",
        evidence=tuple(items),
        slots=(),
        lines=tuple(lines),
    )
