"""The approximation bridge, measured.

Paper: appendix "Empirical Validation of the Approximation Bridge". A question x is a context. An
action is to answer it from one content of at most L characters, and mu(x, a) is an offline reward
of the content:

* "gold share", the share of x's gold items that it holds an excerpt of;
* "contained", the share of the reference's parts that one of its lines holds
  (:func:`demem_agent.answering.scorers.coverage`).

mu*(x) is the most that any content gives, one made of x's gold alone among them; losses are
``decision.gaps``.

Reference partition g*. Questions whose gold overlaps, directly or through others, belong together
(``supports``). There are more such groups than K, so groups share states, as
:mod:`demem_agent.studies.slots.reference` says; what fits nowhere is cut. States carry the numbers
of the memory's slots, so that the router's slot and the reference state can be compared. g* is one
K-state abstraction, not the best there is.

Reference actions. a*_m is the content that costs the questions of state m least on average: the
gold of its groups packed into L, or the summary of a slot. A state without questions has the
summary of its slot. A^impl is the strict reading: the summary of the routed slot.

With the paper's terms, per dialogue:

* floor: the largest mean loss of a state under a*;
* routing error: the mean over questions of what a* of the routed state costs more than a* of the
  right one, 0 where they agree;
* realisation error: the mean over questions where they agree of what the summary costs more than
  a*;
* predicted: the sum of these three;
* observed: the mean of mu*(x) - mu(x, A^impl);
* slack: predicted less observed.

The paper's sum is no bound by itself: it leaves out what summaries cost where the router disagrees.
The exact account has the mean loss as floor and the realisation error over all questions, and is
equal to what is observed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from demem_agent.answering.scorers import Contained, coverage
from demem_agent.decision import gaps
from demem_agent.evaluate.data.dialogue import Dialogue, Probe
from demem_agent.evaluate.grouping import grouped
from demem_agent.memory import SlotMemory
from demem_agent.studies.asking import taught
from demem_agent.studies.slots.audit import gold_items, share_held
from demem_agent.studies.slots.reference import characters, gold_of, reference_states
from demem_agent.studies.splits.loop import support_sizes
from demem_agent.summaries.compress import Excerpt, compress, excerpts
from demem_agent.text.language.words import content_terms
from demem_agent.types import Attempt, Evidence, by_id

__all__ = ["REWARDS", "Bridged", "Content", "bridge", "bridged"]

Gold = frozenset[str]
Rewards = NDArray[np.float64]
Reward = Literal["gold share", "contained"]
REWARDS: tuple[Reward, ...] = ("gold share", "contained")


@dataclass(frozen=True, slots=True)
class Content:
    """A text that questions can be answered from.

    Attributes:
        words: of each of its lines.
        cover: the items that it holds an excerpt of.
    """

    words: tuple[set[str], ...]
    cover: Gold

    @classmethod
    def of(cls, text: str, cover: Iterable[str]) -> Content:
        """Take a summary apart, in which every line has its day."""
        terms = map(content_terms, text.splitlines())
        return cls(tuple(map(set, terms)), frozenset(cover))


@dataclass(frozen=True, slots=True)
class Bridged:
    """One question of one memory under one reward; mu of each action in [0, 1].

    Attributes:
        moment: of the memory: "before feedback" or "after".
        state: of the reference partition.
        agree: the router chose the slot of that number.
        best: mu*.
        reference: mu of a* of the right state; ``routed``: of a* of the routed one.
        got: mu of the strict reading.
        reading: mu of the default reading, which draws on all slots and is no part of the bridge.
        load: characters of all the dialogue's gold, as a share of K * L; above 1 no states hold it
            all.
    """

    dialogue: str
    question: int
    moment: str
    reward: Reward
    state: int
    agree: bool
    best: float
    reference: float
    routed: float
    got: float
    reading: float
    load: float


@dataclass(frozen=True, slots=True)
class _Partition:
    """The reference partition of a dialogue's questions.

    Attributes:
        states: of each question; -1 without gold.
        load: as in :class:`Bridged`.
    """

    states: Sequence[int]
    load: float


@dataclass(frozen=True, slots=True)
class _Question:
    """A question with gold, and what a memory has for it.

    Attributes:
        number: in the dialogue's probes.
        state: of the reference partition; ``slot``: where the router sends it.
        alone: its own gold packed into L.
        strict: the strict reading.
        reading: what the default reading is worth.
    """

    number: int
    probe: Probe
    gold: Gold
    state: int
    slot: int
    alone: Content
    strict: Content
    reading: Mapping[Reward, float]

    def worth(self, reward: Reward, content: Content) -> float:
        """Return mu of answering the question from a content."""
        if reward == "gold share":
            return len(self.gold & content.cover) / len(self.gold)
        return coverage(self.probe.reference, content.words)


@dataclass(frozen=True, slots=True)
class _Actions:
    """What questions can be answered from: the packed gold of each state, then the summaries.

    Attributes:
        states: how many there are; the content of the same number is the state's packed gold.
        summaries: where in ``contents`` the summary of each slot stands.
    """

    contents: Sequence[Content]
    states: int
    summaries: Mapping[int, int]


def bridge(dialogue: Dialogue) -> list[Bridged]:
    """Measure a memory before feedback, and after a dialogue's references were its feedback."""
    memory = SlotMemory(clock=None)
    memory.ingest_many(dialogue.turns)
    before = bridged(memory, dialogue, "before feedback")
    for _ in taught(memory, dialogue):
        pass
    return before + bridged(memory, dialogue, "after")


def bridged(memory: SlotMemory, dialogue: Dialogue, moment: str) -> list[Bridged]:
    """Measure every question with gold under both rewards.

    The memory, whose unit is "chars", is not changed.
    """
    gold = gold_items(memory.evidence(), dialogue)
    if not any(gold):
        return []
    partition = _partition(memory, gold)
    questions = _questions(memory, dialogue, gold, partition.states)
    actions = _actions(memory, gold, partition.states)
    measured = _Moment(dialogue.name, moment, partition.load)
    found = []
    for reward in REWARDS:
        values = _values(reward, questions, actions)
        for row, question in enumerate(questions):
            one = measured.bridged(question, row, values)
            found.append(one)
    return found


@dataclass(frozen=True, slots=True)
class _Moment:
    """When which memory is measured; the fields are as in :class:`Bridged`."""

    dialogue: str
    moment: str
    load: float

    def bridged(self, question: _Question, row: int, values: _Values) -> Bridged:
        """Measure a question, which has a row of the values."""
        reward = values.reward
        return Bridged(
            dialogue=self.dialogue,
            question=question.number,
            moment=self.moment,
            reward=reward,
            state=question.state,
            agree=question.slot == question.state,
            best=float(values.best[row]),
            reference=values.by_reference(row, question.state),
            routed=values.by_reference(row, question.slot),
            got=question.worth(reward, question.strict),
            reading=question.reading[reward],
            load=self.load,
        )


def _partition(memory: SlotMemory, gold: Sequence[Gold]) -> _Partition:
    limit = memory.settings.slot_limit
    count = memory.settings.slots
    sizes = support_sizes(memory)
    homes = {}
    for slot in memory.slots:
        homes.update(dict.fromkeys(slot.evidence, slot.number))
    states = reference_states(gold, sizes, homes, count, limit)
    everything = gold_of(gold, range(len(gold)))
    return _Partition(states, characters(everything, sizes) / (count * limit))


def _questions(
    memory: SlotMemory, dialogue: Dialogue, gold: Sequence[Gold], states: Sequence[int]
) -> list[_Question]:
    """Return what the memory has for each question with gold."""
    evidence = by_id(memory.evidence())
    limit = memory.settings.slot_limit
    found = []
    for number, probe in enumerate(dialogue.probes):
        own = gold[number]
        if not own:
            continue
        route = memory.route(probe.question, at=probe.at)
        question = _Question(
            number=number,
            probe=probe,
            gold=own,
            state=states[number],
            slot=route.slot or 0,
            alone=_packed(evidence, [own], limit),
            strict=_strict(memory, probe),
            reading=_worth_of_reading(memory, probe, own),
        )
        found.append(question)
    return found


def _strict(memory: SlotMemory, probe: Probe) -> Content:
    """Return what the strict reading holds for a question."""
    reading = memory.read(probe.question, mode="strict", at=probe.at)
    return Content.of(reading.text, map(attrgetter("id"), reading.evidence))


def _worth_of_reading(memory: SlotMemory, probe: Probe, gold: Gold) -> dict[Reward, float]:
    """Return what the default reading is worth to a question."""
    reading = memory.read(probe.question, mode="evidence", at=probe.at)
    attempt = Attempt(probe.question, "", reading.text, probe.reference)
    return {
        "gold share": share_held(gold, reading),
        "contained": Contained().score(attempt),
    }


def _actions(memory: SlotMemory, gold: Sequence[Gold], states: Sequence[int]) -> _Actions:
    """Return the packed gold of each state and the summary of each slot."""
    contents = _packed_states(memory, gold, states)
    count = len(contents)
    summaries = {}
    for slot in memory.slots:
        summaries[slot.number] = len(contents)
        contents.append(Content.of(slot.summary, slot.cover))
    return _Actions(contents, count, summaries)


def _packed_states(
    memory: SlotMemory, gold: Sequence[Gold], states: Sequence[int]
) -> list[Content]:
    """Return for each state the gold of its questions, packed."""
    evidence = by_id(memory.evidence())
    members = grouped(range(len(gold)), states.__getitem__)
    contents = []
    for state in range(memory.settings.slots):
        wanted = map(gold.__getitem__, members.get(state, ()))
        contents.append(_packed(evidence, list(wanted), memory.settings.slot_limit))
    return contents


def _packed(evidence: Mapping[str, Evidence], gold: Sequence[Gold], limit: int) -> Content:
    """Pack the gold of questions into a content.

    First come the items that serve most of the questions, and of these the shortest.
    """
    serves = Counter[str]()
    for one in gold:
        serves.update(one)
    order = sorted(serves, key=lambda item: (-serves[item], len(evidence[item].text), item))
    cuts: list[Excerpt] = []
    for rank, item in enumerate(order):
        weight = len(order) - rank
        cuts += excerpts(evidence[item], 0, weight, limit, len)
    summary = compress(cuts, limit, len)
    return Content.of(summary.text, map(attrgetter("evidence_id"), summary.kept))


@dataclass(frozen=True, slots=True, eq=False)
class _Values:
    """What contents are worth to the questions under one reward.

    Attributes:
        mu: shape (questions, contents).
        best: mu* of each question.
        chosen: the reference action of each state.
    """

    reward: Reward
    mu: Rewards
    best: Rewards
    chosen: NDArray[np.intp]

    def by_reference(self, row: int, state: int) -> float:
        """Return what a question gets from the reference action of a state."""
        return float(self.mu[row, self.chosen[state]])


def _values(reward: Reward, questions: Sequence[_Question], actions: _Actions) -> _Values:
    mu = _mu(reward, questions, actions.contents)
    alone = [question.worth(reward, question.alone) for question in questions]
    every = np.column_stack([mu, alone])
    losses = gaps(every)[:, :-1]
    chosen = _reference_actions(losses, questions, actions)
    return _Values(reward, mu, best=every.max(axis=1), chosen=chosen)


def _mu(reward: Reward, questions: Sequence[_Question], contents: Sequence[Content]) -> Rewards:
    """Return what each question gets from each content, shape (questions, contents)."""
    mu = np.zeros((len(questions), len(contents)))
    for row, question in enumerate(questions):
        for column, content in enumerate(contents):
            mu[row, column] = question.worth(reward, content)
    return mu


def _reference_actions(
    losses: Rewards, questions: Sequence[_Question], actions: _Actions
) -> NDArray[np.intp]:
    """Return the action of each state: of least mean loss over its questions, the first of equals.

    Args:
        losses: shape (questions, contents).
    """
    labels = np.array([question.state for question in questions])
    chosen = np.arange(actions.states)
    for state in range(actions.states):
        inside = labels == state
        if inside.any():
            mean_losses = losses[inside].mean(axis=0).round(9)
            chosen[state] = mean_losses.argmin()
        elif state in actions.summaries:
            chosen[state] = actions.summaries[state]
    return chosen
