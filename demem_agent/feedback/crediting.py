"""Credit what was told of an answer to its context, to the evidence behind it, and to the slot that
holds that.

What comes of many feedbacks does not depend on their order, but for which reference or correction
was the latest.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from demem_agent.feedback.signals import Signal
from demem_agent.reading.packing import render
from demem_agent.scoring import lesson
from demem_agent.slots.experience import query_of, testable
from demem_agent.slots.records import REWARDED, StoredContext, rewarded
from demem_agent.slots.routing import credible, slot_ranking
from demem_agent.slots.state import State
from demem_agent.text.words import content_terms
from demem_agent.types import Channel, Context, Lesson, Line, number_of

__all__ = ["learned", "lines_of", "supports_of"]

#: A reading supports a reference when its lines together hold at least this share of the
#: reference's words.
SUPPORTED = 0.5
#: What a line is ahead by when the question names its speaker, in units of a rare word shared.
NAMED = 0.5
#: Channels that give a text to judge other answers by, what knows most first.
_TELLING: tuple[Channel, ...] = ("reference", "correction")
#: Channels that rate the observed answer alone, and may make it stand in for a reference.
_RATING: tuple[Channel, ...] = ("outcome", "thumbs", "reward")


def lines_of(state: State, context: Context) -> list[Line]:
    """Give the lines that an answer was read from, as far as they are live."""
    return [
        Line(state.evidence[item], a, b) for item, a, b in context.read if item in state.evidence
    ]


def supports_of(state: State, context: Context, text: str) -> tuple[str, ...]:
    """Give the evidence whose lines hold what the reading has of a text's words; none where it has
    less than half.
    """
    return _supports(context, lines_of(state, context), text)


def learned(
    state: State,
    answer_id: str,
    rewards: Mapping[str, float],
    signal: Signal,
    remembered: str | None,
) -> StoredContext:
    """Give the context of an answer with what this feedback says about it.

    Args:
        rewards: what was told, as numbers by name.
        remembered: id of the evidence that a correction was remembered as, if it is still there.
    """
    stored = state.context(answer_id)
    context = stored.context
    if remembered not in state.evidence:  # forgotten again while the answer was being rated
        remembered = None
    level = signal.reward if signal.reward is not None else sum(rewards.values()) / len(rewards)
    told = replace(context, rewards=(*context.rewards, level), told=(*context.told, signal.channel))
    channel, reference = _known(told, signal)
    supports = context.supports
    if channel == signal.channel and signal.reference is not None:
        found = _supports(context, lines_of(state, context), signal.reference)
        supports = (remembered,) if remembered is not None else found
    known = replace(told, channel=channel, reference=reference, supports=supports)
    if any(reward >= REWARDED for reward in known.rewards) or remembered in supports:
        kept = tuple(dict.fromkeys([*context.kept, *supports]))
        known = replace(known, kept=kept, slot=_home(state, known))
    known = replace(
        known, credible=remembered in supports or _credible(state, replace(stored, context=known))
    )
    return replace(
        stored, context=replace(known, lesson=_lesson(state, replace(stored, context=known)))
    )


def _known(told: Context, signal: Signal) -> tuple[Channel, str | None]:
    """Tell how other answers to a context can be judged now, and by which text; what knows more
    stays.

    A reference knows most, then a correction, then judges. Else an answer that most of its rewards
    speak for stands in for a reference. That answers agree makes none of them right.
    """
    for channel in _TELLING:
        if signal.channel == channel:
            return channel, signal.reference
        if told.channel == channel:
            return channel, told.reference
    if "judge" in told.told:
        return "judge", None
    good = [reward >= REWARDED for channel, reward in _dealt(told) if channel in _RATING]
    if told.answer and not told.redacted and 2 * sum(good) > len(good):
        return "stand-in", told.answer
    own: Channel = signal.channel
    for channel in reversed(_RATING):
        own = channel if channel in told.told else own
    return own, None


def _dealt(context: Context) -> list[tuple[Channel, float]]:
    """Give rewards with their channels; those of a memory from before there were channels have
    none.
    """
    known = context.rewards[len(context.rewards) - len(context.told) :]
    return list(zip(context.told, known, strict=True))


def _credible(state: State, stored: StoredContext) -> bool:
    """Tell whether the evidence behind an answer can be relied on for tests; False where nobody
    could rate them.
    """
    context = stored.context
    if not context.supports or context.redacted or testable(context) is None:
        return False
    ranking = slot_ranking(state, query_of(stored))[1]
    return ranking is not None and credible(ranking, state.passage_index(), context.supports)


def _lesson(state: State, stored: StoredContext) -> Lesson:
    """Give what the rewards of a context teach about ranking, where the memory learns."""
    context = stored.context
    if (
        not state.settings.learn
        or state.derived.index is None
        or context.redacted
        or not rewarded(context)
    ):
        return ()
    live = [line for line in context.read if line[0] in state.evidence]
    return lesson(state.derived.index, query_of(stored), live, context.supports)


def _supports(context: Context, lines: Sequence[Line], reference: str) -> tuple[str, ...]:
    """Give the fewest lines, greedily, that hold what the reading has of the reference's words.

    Many lines may hold the same of them (a date stands over every line of its day): those that the
    answer cited go first, then those that share most with the question.
    """
    wanted = set(content_terms(reference))
    words = [set(content_terms(render([line]))) & wanted for line in lines]
    near = _nearness(context.query, lines)
    cited = [line.evidence.id in context.supports for line in lines]
    chosen: list[int] = []
    held: set[str] = set()
    while gains := [len(w - held) for w in words]:
        best = max(range(len(lines)), key=lambda n: (gains[n], cited[n], near[n], -n))
        if not gains[best]:
            break
        chosen.append(best)
        held |= words[best]
    if len(held) < SUPPORTED * max(len(wanted), 1):
        return ()
    return tuple(sorted({lines[n].evidence.id for n in chosen}, key=number_of))


def _nearness(query: str, lines: Sequence[Line]) -> list[float]:
    """Weigh what each line shares with a question by how few lines have it; names of speakers count
    apart.
    """
    bodies = [set(content_terms(line.text)) for line in lines]
    speakers = [set(content_terms(line.evidence.speaker or "")) for line in lines]
    words = set(content_terms(query))
    rarity = {
        w: math.log1p(len(lines) / (1 + sum(w in b for b in bodies)))
        for w in words.difference(*speakers)
    }
    shared = (sum(rarity[w] for w in rarity.keys() & body) for body in bodies)
    return [
        round(s + NAMED * (not words.isdisjoint(name)), 4)
        for s, name in zip(shared, speakers, strict=True)
    ]


def _home(state: State, context: Context) -> int | None:
    """Give the slot that holds most of what a context rests on; the one it is in if that is among
    them.
    """
    places = Counter(state.slot_of[item] for item in context.supports if item in state.slot_of)
    if not places:
        return context.slot
    most = max(places.values())
    first = [slot for slot, count in places.items() if count == most]
    return context.slot if context.slot in first else min(first)
