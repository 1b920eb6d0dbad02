"""Record what the split trigger tests where nothing is ever split, and judge it by gold.

Whether a trigger finds the conflicts there are can only be told of pairs that it tested without
acting on any: one split changes every later test. So each feedback tests several pairs, all scores
are kept, and any threshold can be judged afterwards on the same tests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
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
from demem_agent.splitting.examination import examined
from demem_agent.splitting.trials import Preview, Trials
from demem_agent.splitting.trigger import Conflict, Trigger
from demem_agent.studies.asking import taught
from demem_agent.studies.slots.audit import gold_items
from demem_agent.studies.splits.gold import claim
from demem_agent.types import Candidate, Context

__all__ = ["PAIRS", "Recorded", "Tried", "over", "record_tests", "with_gold"]

Gold = frozenset[str]

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


def over(tests: Iterable[Tried], threshold: float) -> list[Tried]:
    """Return the tests whose pair is certified at a threshold."""
    return [test for test in tests if test.strength > threshold]


def with_gold(tests: Iterable[Tried]) -> list[Tried]:
    """Return the tests of which gold says something: both contexts have some."""
    return [test for test in tests if test.truth is not None]


@dataclass(frozen=True, slots=True)
class Recorded:
    """All tests of one dialogue, and the memory after them.

    The memory has all that feedback taught, and no split.
    """

    dialogue: str
    feedbacks: int
    tests: tuple[Tried, ...]
    memory: SlotMemory


@dataclass(frozen=True, slots=True)
class _Seen:
    """One test as it was made; the fields are as in :class:`Tried`, the contexts by their ids."""

    pair: tuple[str, str]
    chosen: bool
    plain: bool
    credible: bool
    candidates: tuple[Candidate, ...]
    radius: float

    @property
    def strength(self) -> float:
        """The strength that :class:`Tried` speaks of, in [0, 1]."""
        lower = {candidate.name: candidate.lower for candidate in self.candidates}
        worth_to_first, _ = lower["split first"]
        _, worth_to_second = lower["split second"]
        return min(self.radius, max(worth_to_first, worth_to_second))


def record_tests(dialogue: Dialogue, *, pairs: int = PAIRS, **options: Unpack[Options]) -> Recorded:
    """Answer a dialogue's questions with their references as feedback, and split nothing.

    Pairs are tested at each question.

    Args:
        pairs: tested at most per feedback and rule, >= 1.
        options: of the memory, but for ``split``.
    """
    seen: list[list[_Seen]] = []
    options["split"] = SplitSettings(pairs=pairs, counterfactuals=2 * 12 * pairs)
    options["experiment"] = Experiment(trigger=_recorder(seen, pairs))
    options["clock"] = None
    memory = SlotMemory(**options)
    memory.ingest_many(dialogue.turns)
    gold = gold_items(memory.evidence(), dialogue)
    questions = {asked.answer.id: asked.question for asked in taught(memory, dialogue)}
    tests = _Judge(dialogue.name, gold, questions).tried(seen)
    return Recorded(dialogue.name, len(questions), tuple(tests), memory)


@dataclass(frozen=True, slots=True)
class _Judge:
    """What the tests of a dialogue are judged by.

    Attributes:
        gold: of each question.
        questions: number of the question of each context.
    """

    dialogue: str
    gold: Sequence[Gold]
    questions: Mapping[str, int]

    def tried(self, seen: Sequence[Sequence[_Seen]]) -> Iterator[Tried]:
        """Judge the tests that each feedback made."""
        for feedback, made in enumerate(seen, 1):
            for one in made:
                yield self._tried(feedback, one)

    def _tried(self, feedback: int, one: _Seen) -> Tried:
        first, second = map(self.questions.__getitem__, one.pair)
        truth, repaired = self._claim(one, first, second)
        return Tried(
            dialogue=self.dialogue,
            feedback=feedback,
            first=first,
            second=second,
            chosen=one.chosen,
            plain=one.plain,
            credible=one.credible,
            radius=one.radius,
            strength=one.strength,
            truth=truth,
            repaired=repaired,
        )

    def _claim(self, one: _Seen, first: int, second: int) -> tuple[float | None, bool]:
        """Judge the claim about two questions; nothing is known where one has no gold."""
        of_first = self.gold[first]
        of_second = self.gold[second]
        if not of_first or not of_second:
            return None, False
        return claim(one.candidates, of_first, of_second)


def _recorder(seen: list[list[_Seen]], pairs: int) -> Trigger:
    """Make a trigger that tests the pairs of both rules, notes them in ``seen``, and never splits.

    Args:
        pairs: tested at most by each of the two.
    """

    def trigger(state: State, preview: Preview, trials: Trials) -> Flow[Conflict | None]:
        found = yield from _tested(state, preview, trials, pairs)
        seen.append(found)
        return None

    return trigger


def _tested(state: State, preview: Preview, trials: Trials, pairs: int) -> Flow[list[_Seen]]:
    mine = preview.context.context
    chosen = _chosen(state, preview, pairs)
    plain = _plain(state, preview, pairs)
    found = []
    for id, other in (chosen | plain).items():
        pair = (other, preview.context)
        finding = yield from examined(state, preview, pair, trials, thorough=True)
        if finding is None:
            continue
        verdict = finding.verdict
        one = _Seen(
            pair=(id, mine.id),
            chosen=id in chosen,
            plain=id in plain,
            credible=mine.credible and other.context.credible,
            candidates=verdict.candidates,
            radius=verdict.radius,
        )
        found.append(one)
    return found


def _chosen(state: State, preview: Preview, limit: int) -> dict[str, StoredContext]:
    """Return the partners that the trigger's own rule picks, by id."""
    slot = preview.context.context.slot
    if slot is None:
        return {}
    found = pairs_to_test(state, preview.context, preview.slots[slot].summary, limit)
    return _by_id(found)


def _plain(state: State, preview: Preview, limit: int) -> dict[str, StoredContext]:
    """Choose partners as ``pairs_to_test`` does, whether or not what they rest on is credible."""
    mine = preview.context.context
    if mine.slot is None or not mine.supports or testable(mine) is None:
        return {}
    held = set(map(attrgetter("evidence_id"), preview.slots[mine.slot].summary.kept))
    others = [other for other in _beside(mine, state) if _at_odds(mine, other.context, held)]
    own_vector = preview.context.vector
    others.sort(key=lambda stored: round(float(stored.vector @ own_vector), 4))
    return _by_id(others[:limit])


def _at_odds(mine: Context, theirs: Context, held: set[str]) -> bool:
    """Whether two can be tested together, and the summary lacks what one of them rests on."""
    if not theirs.supports or testable(theirs) != testable(mine):
        return False
    both_served = held.issuperset(mine.supports) and held.issuperset(theirs.supports)
    return not both_served


def _beside(mine: Context, state: State) -> Iterator[StoredContext]:
    """Yield the other contexts of the slot."""
    for stored in state.contexts.values():
        theirs = stored.context
        if theirs.slot == mine.slot and theirs.id != mine.id:
            yield stored


def _by_id(found: Sequence[StoredContext]) -> dict[str, StoredContext]:
    return {stored.context.id: stored for stored in found}
