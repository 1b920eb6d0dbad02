"""The approximation bridge, measured (paper, appendix "Empirical Validation of the Approximation
Bridge").

A question x is a context; an action is to answer it from one content of at most L characters. mu(x,
a) is an offline reward of the content: "gold share", the share of x's gold items that it holds an
excerpt of, or "contained", the share of the reference's parts that one of its lines holds
(:func:`demem_agent.answering.scorers.coverage`). mu*(x) is the most that any content gives, one
made of x's gold alone among them; losses are ``decision.gaps``.

Reference partition g*. Questions whose gold overlaps, directly or through others, belong together
(``supports``). There are more such groups than K, so groups share states: those with most questions
a character choose first, each the state that stands for the slot with most of its gold, or else
with less of it, or else the emptiest, while its gold fits into L; what fits nowhere goes to its
first choice and is cut. States carry the numbers of the memory's slots, so that the router's slot
and the reference state can be compared. g* is one K-state abstraction, not the best there is.

Reference actions. a*_m is the content that costs the questions of state m least on average: the
gold of its groups packed into L, or the summary of a slot. A state without questions has the
summary of its slot. A^impl is the strict
reading: the summary of the routed slot.

With the paper's terms, per dialogue: floor, the largest mean loss of a state under a*; routing
error, the mean over questions of what a* of the routed state costs more than a* of the right one, 0
where they agree; realisation error, the mean over questions where they agree of what the summary
costs more than a*; predicted, their sum; observed, the mean of mu*(x) - mu(x, A^impl); slack,
predicted less observed. The paper's sum is no bound by itself: it leaves out what summaries cost
where the router disagrees. The exact account has the mean loss as floor and the realisation error
over all questions, and is equal to what is observed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from demem_agent.answering.scorers import Contained, coverage
from demem_agent.decision import gaps
from demem_agent.evaluate.data.dialogue import Dialogue, Probe
from demem_agent.memory import SlotMemory
from demem_agent.studies.asking import taught
from demem_agent.studies.slots.audit import gold_items
from demem_agent.studies.slots.partition import supports
from demem_agent.studies.splits.loop import support_sizes
from demem_agent.summaries.compress import Excerpt, compress, excerpts
from demem_agent.text.words import content_terms
from demem_agent.types import Attempt, Evidence

__all__ = ["REWARDS", "Bridged", "Content", "bridge", "bridged", "reference_states"]

Gold = frozenset[str]
Reward = Literal["gold share", "contained"]
REWARDS: tuple[Reward, ...] = ("gold share", "contained")


@dataclass(frozen=True, slots=True)
class Content:
    """A text that questions can be answered from: its lines as words, and the items it holds an
    excerpt of.
    """

    words: tuple[set[str], ...]
    cover: Gold

    @classmethod
    def of(cls, text: str, cover: Iterable[str]) -> Content:
        """Take a summary apart, in which every line has its day."""
        return cls(tuple(set(content_terms(line)) for line in text.splitlines()), frozenset(cover))


@dataclass(frozen=True, slots=True)
class Bridged:
    """One question of one memory under one reward; mu of each action in [0, 1].

    Attributes:
        moment: of the memory: "before feedback" or "after".
        state: of the reference partition.
        agree: the router chose the slot of that number.
        best: mu*; ``reference``: of a* of the right state; ``routed``: of a* of the routed one;
            ``got``: of the strict reading; ``reading``: of the default reading, which draws on all
            slots and is no part of the bridge.
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
class _Seen:
    """Where the router sends a question, the strict reading there, and what the default reading is
    worth.
    """

    slot: int
    strict: Content
    reading: Mapping[Reward, float]


def bridge(dialogue: Dialogue) -> list[Bridged]:
    """Measure a memory of a dialogue before feedback, and after its references were given as
    feedback.
    """
    memory = SlotMemory()
    memory.ingest_many(dialogue.turns)
    found = bridged(memory, dialogue, "before feedback")
    for _ in taught(memory, dialogue):
        pass
    return found + bridged(memory, dialogue, "after")


def bridged(memory: SlotMemory, dialogue: Dialogue, moment: str) -> list[Bridged]:
    """Measure every question with gold under both rewards; the memory, whose unit is "chars", is
    not changed.
    """
    gold = gold_items(memory.evidence(), dialogue)
    asked = [number for number, one in enumerate(gold) if one]
    if not asked:
        return []
    limit, count = memory.settings.slot_limit, memory.settings.slots
    evidence = {item.id: item for item in memory.evidence()}
    homes = {item: slot.number for slot in memory.slots for item in slot.evidence}
    sizes = support_sizes(memory)
    load = sum(sizes[item] for item in frozenset[str]().union(*gold)) / (count * limit)
    states = reference_states(gold, sizes, homes, count, limit)
    packed = [
        _packed(evidence, gold, [n for n in asked if states[n] == m], limit) for m in range(count)
    ]
    own = {slot.number: Content.of(slot.summary, slot.cover) for slot in memory.slots}
    alone = [_packed(evidence, gold, [n], limit) for n in asked]
    seen = [_seen(memory, dialogue.probes[n], gold[n]) for n in asked]
    found: list[Bridged] = []
    for reward in REWARDS:
        worth = [partial(_worth, reward, dialogue.probes[n], gold[n]) for n in asked]
        mu = np.array([[of(one) for one in (*packed, *own.values())] for of in worth])
        every = np.column_stack([mu, [of(one) for of, one in zip(worth, alone, strict=True)]])
        labels, best = np.array([states[n] for n in asked]), every.max(axis=1)
        actions = _actions(
            gaps(every)[:, :-1], labels, count, {slot: count + n for n, slot in enumerate(own)}
        )
        for row, (number, one) in enumerate(zip(asked, seen, strict=True)):
            state = states[number]
            of_reference = (
                float(best[row]),
                float(mu[row, actions[state]]),
                float(mu[row, actions[one.slot]]),
            )
            about = (dialogue.name, number, moment, reward, state, one.slot == state)
            found.append(
                Bridged(*about, *of_reference, worth[row](one.strict), one.reading[reward], load)
            )
    return found


def reference_states(
    gold: Sequence[Gold], sizes: Mapping[str, int], homes: Mapping[str, int], count: int, limit: int
) -> list[int]:
    """Give the state of each question, in [0, count); -1 for one without gold. See the module for
    how groups share.

    Args:
        sizes: characters that each item takes in a content; ``homes``: the memory's slot of each
            item.
    """
    left = [limit] * count
    states = [-1] * len(gold)
    for members in _cheapest_first(gold, sizes):
        items = frozenset[str]().union(*(gold[number] for number in members))
        size, inside = (
            sum(sizes[item] for item in items),
            Counter(homes[item] for item in items if item in homes),
        )
        order = sorted(range(count), key=lambda state: (-inside[state], -left[state], state))
        state = next((state for state in order if left[state] >= size), order[0])
        left[state] -= size
        for number in members:
            states[number] = state
    return states


def _cheapest_first(gold: Sequence[Gold], sizes: Mapping[str, int]) -> list[list[int]]:
    """Give the questions of each group whose gold overlaps; those groups first that take fewest
    characters for each.
    """
    place = {item: n for n, item in enumerate(sorted(frozenset[str]().union(*gold)))}
    groups = supports([frozenset(place[item] for item in one) for one in gold])
    items = list(place)
    inside = [
        [n for n, one in enumerate(gold) if any(place[item] in group for item in one)]
        for group in groups
    ]
    cost = [
        sum(sizes[items[n]] for n in group) / len(own)
        for group, own in zip(groups, inside, strict=True)
    ]
    return [own for _, own in sorted(zip(cost, inside, strict=True))]


def _packed(
    evidence: Mapping[str, Evidence], gold: Sequence[Gold], members: Sequence[int], limit: int
) -> Content:
    """Pack the gold of questions into a content, the items that serve most of them, and the
    shortest, first.
    """
    serves = Counter(item for number in members for item in gold[number])
    order = sorted(serves, key=lambda item: (-serves[item], len(evidence[item].text), item))
    cuts: list[Excerpt] = []
    for rank, item in enumerate(order):
        cuts += excerpts(evidence[item], 0, len(order) - rank, limit, len)
    summary = compress(cuts, limit, len)
    return Content.of(summary.text, (cut.evidence_id for cut in summary.kept))


def _actions(
    losses: NDArray[np.float64], labels: NDArray[np.intp], count: int, own: Mapping[int, int]
) -> NDArray[np.intp]:
    """Give the action of each state: of least mean loss over its questions, the first of equals."""
    actions = np.arange(count)
    for state in range(count):
        inside = labels == state
        if inside.any():
            actions[state] = losses[inside].mean(axis=0).round(9).argmin()
        elif state in own:
            actions[state] = own[state]
    return actions


def _seen(memory: SlotMemory, probe: Probe, gold: Gold) -> _Seen:
    slot = memory.route(probe.question, at=probe.at).slot
    strict = memory.read(probe.question, mode="strict", at=probe.at)
    reading = memory.read(probe.question, mode="evidence", at=probe.at)
    held = frozenset(item.id for item in reading.evidence)
    contained = Contained().score(Attempt(probe.question, "", reading.text, probe.reference))
    of_strict = Content.of(strict.text, (item.id for item in strict.evidence))
    return _Seen(
        slot or 0, of_strict, {"gold share": len(gold & held) / len(gold), "contained": contained}
    )


def _worth(reward: Reward, probe: Probe, gold: Gold, content: Content) -> float:
    if reward == "gold share":
        return len(gold & content.cover) / len(gold)
    return coverage(probe.reference, content.words)
