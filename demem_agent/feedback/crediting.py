"""Credit what was told of an answer to its context, to the evidence behind it, and to its slot.

What comes of many feedbacks does not depend on their order, but for which reference or correction
was the latest.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from demem_agent.channels import CHANNELS, ChannelRow, Signal, row_of, told_rewards
from demem_agent.feedback.verdicts import verdicts_after
from demem_agent.later import dataclass
from demem_agent.reading.packing import render
from demem_agent.scoring import Query
from demem_agent.slots.experience import query_of, testable
from demem_agent.slots.records import REWARDED, StoredContext
from demem_agent.slots.routing import credible, slot_ranking, witness_slot
from demem_agent.slots.state import State
from demem_agent.text.language.words import content_terms
from demem_agent.types import Channel, Context, Line, Verdict, number_of

__all__ = ["Rated", "credited", "lines_of", "supports_of"]

#: A reading supports a reference when its lines together hold at least this share of the
#: reference's words.
SUPPORTED = 0.5
#: What a line is ahead by when the question names its speaker, in units of a rare word shared.
NAMED = 0.5


@dataclass(frozen=True, slots=True)
class Rated:
    """One feedback, and what it comes to.

    Attributes:
        signal: what was told of the answer.
        rewards: the same as numbers in [0, 1], by the name of whoever gave them; never empty.
        remembered: id of the evidence that a correction was remembered as, if it was.
    """

    answer_id: str
    signal: Signal
    rewards: Mapping[str, float]
    remembered: str | None = None

    @property
    def level(self) -> float:
        """The caller's own reward, or else the mean of what others gave."""
        if self.signal.reward is not None:
            return self.signal.reward
        return sum(self.rewards.values()) / len(self.rewards)


def lines_of(state: State, context: Context) -> list[Line]:
    """Return the lines that an answer was read from, as far as they are live."""
    lines = []
    for item, start, end in context.read:
        if item in state.evidence:
            lines.append(Line(state.evidence[item], start, end))
    return lines


def supports_of(state: State, context: Context, text: str) -> tuple[str, ...]:
    """Return the evidence whose lines hold what the reading has of a text's words.

    None where the reading has less than half of them.
    """
    return _supports(state, context, text)


def credited(state: State, rated: Rated) -> StoredContext:
    """Return the context of an answer with what this feedback says about it."""
    stored = state.context(rated.answer_id)
    query = query_of(stored)
    context = _known(state, stored.context, rated)
    corrected = _is_corrected(state, context, rated.remembered)
    if corrected or max(context.rewards) >= REWARDED:
        context = _kept(state, context)
    relied_on = corrected or _credible(state, context, query)
    return replace(stored, context=replace(context, credible=relied_on))


def _is_corrected(state: State, context: Context, remembered: str | None) -> bool:
    """Whether a context rests on its correction, which may be forgotten while it is rated."""
    return remembered in state.evidence and remembered in context.supports


def _known(state: State, context: Context, rated: Rated) -> Context:
    """Return a context with one more reward, and with what is known of it now."""
    signal = rated.signal
    told = _with_reward(context, rated)
    channel, reference = _judged_by(told, signal)
    supports = context.supports
    if channel == signal.channel and signal.reference is not None:
        supports = _rests_on(state, context, signal.reference, rated.remembered)
    return replace(
        told,
        channel=channel,
        reference=reference,
        supports=supports,
        verdicts=_verdicts(state, context, rated),
    )


def _verdicts(state: State, context: Context, rated: Rated) -> tuple[Verdict, ...]:
    """Return what is said of lines, with this feedback where the memory keeps decisions."""
    if not state.settings.decisions or state.derived.index is None:
        return context.verdicts
    return verdicts_after(state, context, rated.signal, rated.level, rated.remembered)


def _with_reward(context: Context, rated: Rated) -> Context:
    rewards = (*context.rewards, rated.level)
    told = (*context.told, rated.signal.channel)
    return replace(context, rewards=rewards, told=told)


def _rests_on(
    state: State, context: Context, reference: str, remembered: str | None
) -> tuple[str, ...]:
    """Return the evidence for what would have been right: the correction itself where it is one."""
    if remembered is not None and remembered in state.evidence:
        return (remembered,)
    return supports_of(state, context, reference)


def _kept(state: State, context: Context) -> Context:
    """Return a well served context that keeps what it rests on, in the slot that holds that."""
    kept = dict.fromkeys((*context.kept, *context.supports))
    return replace(context, kept=tuple(kept), slot=_home(state, context))


def _judged_by(told: Context, signal: Signal) -> tuple[Channel, str | None]:
    """Return the channel and the text that other answers to a context can be judged by now.

    What knows more stays: a reference knows most, then a correction, then judges. Else an answer
    that most of its rewards speak for stands in for a reference. That answers agree makes none of
    them right.
    """
    for row in CHANNELS:
        if row.corrects and signal.channel == row.name:
            return row.name, signal.reference
        if row.corrects and told.channel == row.name:
            return row.name, told.reference
        if row.name == "stand-in" and _stands_in(told):
            return row.name, told.answer
        if _was_told(told, row):
            return row.name, None
    return signal.channel, None


def _was_told(context: Context, row: ChannelRow) -> bool:
    """Whether a context has votes or a rating by this channel."""
    return row.tells in ("votes", "rating") and row.name in context.told


def _stands_in(context: Context) -> bool:
    """Whether most of the ratings of an answer speak for it; False where it has none."""
    balance = 0
    for channel, reward in told_rewards(context):
        if row_of(channel).tells == "rating":
            balance += 1 if reward >= REWARDED else -1
    return bool(context.answer) and not context.redacted and balance > 0


def _credible(state: State, context: Context, query: Query) -> bool:
    """Whether the evidence behind an answer can be relied on for tests.

    False where nobody could rate other answers.
    """
    if not context.supports or context.redacted or testable(context) is None:
        return False
    ranking = slot_ranking(state, query)[1]
    return ranking is not None and credible(ranking, state.passage_index(), context.supports)


def _supports(state: State, context: Context, reference: str) -> tuple[str, ...]:
    """Return the evidence of the fewest lines that hold what all have of a reference's words.

    Many lines may hold the same of them (a date stands over every line of its day): those that the
    answer cited go first, then those that share most with the question.
    """
    wanted = set(content_terms(reference))
    lines = lines_of(state, context)
    shared = []
    for line in lines:
        said = content_terms(render([line], state.cache.told))
        shared.append(wanted.intersection(said))
    held = set().union(*shared)
    if len(held) < SUPPORTED * max(len(wanted), 1):
        return ()
    chosen = _cover(shared, _preferred(context, lines))
    items = {lines[n].evidence.id for n in chosen}
    return tuple(sorted(items, key=number_of))


def _cover(words: Sequence[set[str]], order: Sequence[int]) -> list[int]:
    """Choose sets until they hold all words of all sets, greedily.

    Args:
        order: numbers of the sets; of those that add as many words the first is chosen.
    """
    chosen: list[int] = []
    held: set[str] = set()
    while order:
        best = max(order, key=lambda n: len(words[n] - held))
        if words[best] <= held:
            break
        chosen.append(best)
        held |= words[best]
    return chosen


def _preferred(context: Context, lines: Sequence[Line]) -> list[int]:
    """Return the numbers of lines: what was cited first, then what is near to the question."""
    near = _nearness(context.query, lines)

    def preference(n: int) -> tuple[bool, float]:
        return lines[n].evidence.id in context.supports, near[n]

    return sorted(range(len(lines)), key=preference, reverse=True)


def _nearness(query: str, lines: Sequence[Line]) -> list[float]:
    """Weigh what each line shares with a question by how few lines have it.

    The names of speakers count apart.
    """
    bodies = _words_of(line.text for line in lines)
    speakers = _words_of(line.evidence.speaker or "" for line in lines)
    asked = set(content_terms(query))
    rarity = _rarity(asked.difference(*speakers), bodies)
    near = []
    for body, speaker in zip(bodies, speakers, strict=True):
        shared = rarity.keys() & body
        weight = sum(rarity[word] for word in shared)
        ahead = 0.0 if asked.isdisjoint(speaker) else NAMED
        near.append(round(weight + ahead, 4))
    return near


def _words_of(texts: Iterable[str]) -> list[set[str]]:
    return [set(content_terms(text)) for text in texts]


def _rarity(words: set[str], bodies: Sequence[set[str]]) -> dict[str, float]:
    """Return the weight of each word, the larger the fewer of the texts have it."""
    rarity = {}
    for word in words:
        having = sum(word in body for body in bodies)
        rarity[word] = math.log1p(len(bodies) / (1 + having))
    return rarity


def _home(state: State, context: Context) -> int | None:
    """Return the slot that holds most of what a context rests on; its own if that is among them.

    Where it asks what a witness of a split asked, that is the witness's.
    """
    followed = witness_slot(state, context.query, context.asker)
    if followed is not None:
        return followed
    held: Counter[int] = Counter()
    for item in context.supports:
        if item in state.slot_of:
            held[state.slot_of[item]] += 1
    most = max(held.values(), default=0)
    fullest = [slot for slot, count in held.items() if count == most]
    if not fullest or context.slot in fullest:
        return context.slot
    return min(fullest)
