"""Record what the split trigger tests, in a memory where nothing is ever split, and judge every
test by gold.

Whether a trigger finds the conflicts there are can only be told of pairs that it tested without
acting on any: one split changes every later test. So each feedback tests several pairs, all scores
are kept, and any threshold can be judged afterwards on the same tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

from demem_agent.evaluate.data.dialogue import Dialogue
from demem_agent.memory import SlotMemory
from demem_agent.options import Options
from demem_agent.requests import Flow
from demem_agent.settings import SplitSettings
from demem_agent.slots.experience import testable
from demem_agent.slots.experiment import Experiment
from demem_agent.slots.records import StoredContext
from demem_agent.slots.state import State
from demem_agent.splitting.conflict import pairs_to_test
from demem_agent.splitting.queue import Pending, Tests
from demem_agent.splitting.trigger import Conflict, Trigger, examined
from demem_agent.studies.asking import taught
from demem_agent.studies.slots.audit import gold_items
from demem_agent.studies.splits.gold import claim
from demem_agent.types import Candidate

__all__ = ["PAIRS", "Recorded", "Tried", "record_tests"]

#: Pairs tested per feedback by each of the two rules; the trigger itself tests
#: ``SplitSettings.pairs``.
PAIRS = 4


@dataclass(frozen=True, slots=True)
class Tried:
    """One test of a pair, as the trigger makes it, and what gold says of it.

    Attributes:
        feedback: which one of the dialogue made the test, from 1.
        first, second: numbers of the two questions in the dialogue's probes.
        chosen: the trigger's own rule picks the pair: both contexts are credible.
        plain: the same rule without a look at what is credible picks it; one of the two always
            does.
        credible: both contexts are, whichever rule picked them.
        radius: the certificate's, in [0, 1].
        strength: the pair is certified at any threshold below it: the radius or, where that is
            less, the lower bound of what the better would-be slot is worth to its own context.
        truth: the radius with the share of gold that a content holds in place of its scores; None
            without gold.
        repaired: as in :class:`~demem_agent.studies.splits.gold.JudgedSplit`.
    """

    dialogue: str
    feedback: int
    first: int
    second: int
    chosen: bool
    plain: bool
    credible: bool
    radius: float
    strength: float
    truth: float | None
    repaired: bool


@dataclass(frozen=True, slots=True)
class Recorded:
    """All tests of one dialogue, and the memory after them: with all that feedback taught, and
    without a split.
    """

    dialogue: str
    feedbacks: int
    tests: tuple[Tried, ...]
    memory: SlotMemory


@dataclass(frozen=True, slots=True)
class _Seen:
    pair: tuple[str, str]
    chosen: bool
    plain: bool
    credible: bool
    candidates: tuple[Candidate, ...]
    radius: float


def record_tests(dialogue: Dialogue, *, pairs: int = PAIRS, **options: Unpack[Options]) -> Recorded:
    """Answer a dialogue's questions with their references as feedback, test pairs at each, and
    split nothing.

    Args:
        pairs: tested at most per feedback and rule, >= 1.
        options: of the memory, but for ``split``.
    """
    seen: list[list[_Seen]] = []
    options["split"] = SplitSettings(pairs=pairs, counterfactuals=2 * 12 * pairs)
    options["experiment"] = Experiment(trigger=_recorder(seen, pairs))
    memory = SlotMemory(**options)
    memory.ingest_many(dialogue.turns)
    gold = gold_items(memory.evidence(), dialogue)
    questions = {asked.answer.id: asked.question for asked in taught(memory, dialogue)}
    tests = tuple(
        _judged(dialogue.name, feedback, one, [questions[context] for context in one.pair], gold)
        for feedback, found in enumerate(seen, 1)
        for one in found
    )
    return Recorded(dialogue.name, len(questions), tests, memory)


def _recorder(seen: list[list[_Seen]], pairs: int) -> Trigger:
    def trigger(state: State, pending: Pending, tests: Tests) -> Flow[Conflict | None]:
        found: list[_Seen] = []
        chosen, plain = _chosen(state, pending, pairs), _plain(state, pending, pairs)
        for id, other in (chosen | plain).items():
            pair = (other, pending.context)
            verdict, _ = yield from examined(state, pending, pair, tests, thorough=True)
            if verdict is not None:
                credible = all(stored.context.credible for stored in pair)
                ids = (id, pending.context.context.id)
                found.append(
                    _Seen(
                        ids, id in chosen, id in plain, credible, verdict.candidates, verdict.radius
                    )
                )
        seen.append(found)
        return None

    return trigger


def _chosen(state: State, pending: Pending, limit: int) -> dict[str, StoredContext]:
    slot = pending.context.context.slot
    found = (
        pairs_to_test(state, pending.context, pending.slots[slot].summary, limit)
        if slot is not None
        else []
    )
    return {stored.context.id: stored for stored in found}


def _plain(state: State, pending: Pending, limit: int) -> dict[str, StoredContext]:
    """Choose partners as ``pairs_to_test`` does, whether or not what they rest on is credible."""
    mine = pending.context.context
    rater = testable(mine)
    if rater is None or mine.slot is None or not mine.supports:
        return {}
    held = {excerpt.evidence_id for excerpt in pending.slots[mine.slot].summary.kept}
    others = [
        stored
        for stored in state.contexts.values()
        if stored.context.slot == mine.slot
        and stored.context.id != mine.id
        and stored.context.supports
        and testable(stored.context) == rater
        and not held.issuperset((*mine.supports, *stored.context.supports))
    ]
    others.sort(key=lambda stored: round(float(stored.vector @ pending.context.vector), 4))
    return {stored.context.id: stored for stored in others[:limit]}


def _judged(
    dialogue: str,
    feedback: int,
    one: _Seen,
    questions: Sequence[int],
    gold: Sequence[frozenset[str]],
) -> Tried:
    first, second = questions
    known = gold[first] and gold[second]
    truth, repaired = claim(one.candidates, gold[first], gold[second]) if known else (None, False)
    sides = {candidate.name: candidate.lower for candidate in one.candidates}
    own = max(sides["split first"][0], sides["split second"][1])
    strength = min(one.radius, own)
    return Tried(
        dialogue,
        feedback,
        first,
        second,
        one.chosen,
        one.plain,
        one.credible,
        one.radius,
        strength,
        truth,
        repaired,
    )
