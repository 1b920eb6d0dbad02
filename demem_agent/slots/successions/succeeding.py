"""Find, as items come in, the earlier lines that they take the place of.

Looked at are the few lines of the same owner that share most words with the new one, by idf. A
batch is gone through in order, each item as if all before it had been committed: what is found
depends on the order of items, and not on how many came at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, product

from demem_agent.later import dataclass
from demem_agent.scoring.index import Stretch
from demem_agent.slots.placement import Arrival
from demem_agent.slots.state import State
from demem_agent.slots.successions.ahead import NEAREST, Ahead, Passage, passages_of
from demem_agent.slots.successions.anew.parsing import may_tell_anew
from demem_agent.slots.successions.claims import Claim, tokens
from demem_agent.slots.successions.echoes import echoed
from demem_agent.slots.successions.lineage import HOLDS
from demem_agent.slots.successions.model import judged, probability
from demem_agent.slots.successions.objects import Replaced, replaced
from demem_agent.slots.successions.rivals import narrates, owner
from demem_agent.slots.successions.signals import ALIKE, Compared, Signals, compared, signals
from demem_agent.slots.successions.taking_back import may_mend
from demem_agent.slots.successions.turns import ends_one, turns, words_of_turn
from demem_agent.slots.successions.withdrawals import taken_back, withdrawal
from demem_agent.slots.successions.worth import Worth
from demem_agent.text.language.changes import signs
from demem_agent.text.language.words import terms
from demem_agent.types import Succession, number_of

__all__ = ["KEPT", "NEAREST", "Pair", "pairs", "succeeded"]

#: What is found with less confidence is not kept.
KEPT = 0.2
#: Lines that one item takes the place of, at most.
MOST = 3
#: Sentences of a passage that are looked for by themselves, the first that tell of a change.
CHANGES = 2
#: Sentences of an item that are compared, the first ones.
SENTENCES = 12


#: Returns how probably two sentences exclude each other, by their signals.
Judge = Callable[[Signals], float]


@dataclass(frozen=True, slots=True)
class Pair:
    """An earlier and a later sentence of one owner, with what tells whether they exclude."""

    old: Stretch
    new: Stretch
    signals: Signals


def succeeded(
    state: State, arrivals: Sequence[Arrival], *, without: str | None = None
) -> tuple[Succession, ...]:
    """Return the successions by which new items take the place of earlier lines.

    Args:
        without: items of this source take the place of none.
    """
    judge = state.experiment.exclusion
    least = KEPT if judge is probability else 0.0
    found: list[Succession] = []
    ahead = Ahead(state)
    for arrival in arrivals:
        item = arrival.evidence
        coming = passages_of(arrival)
        passed = narrates(item.speaker) or (without is not None and item.source == without)
        compared = () if passed else _pairs_of(ahead, coming, least)
        anew = [] if passed else list(replaced(ahead, coming))
        best = _apart_from(anew, _best(compared, judge))
        surest = chain(anew, _with_echoes(ahead, coming, best))
        for confidence, old, new in _with_withdrawn(state, ahead, found, surest):
            made = Succession(
                id=f"s{state.head.successions + len(found) + 1}",
                old=old,
                new=new,
                confidence=confidence,
                how="found",
                after=state.head.contexts,
            )
            found.append(made)
        if arrival is not arrivals[-1]:
            ahead.add(coming)
    return tuple(found)


def _apart_from(
    found: Sequence[Replaced], best: Sequence[tuple[float, Pair]]
) -> list[tuple[float, Pair]]:
    """Return the pairs of sentences of whose items no values are known to be replaced."""
    known = {old[0] for _, old, _ in found}
    return [one for one in best if one[1].old[0] not in known]


def pairs(state: State, arrivals: Sequence[Arrival]) -> Iterator[Pair]:
    """Yield all that is compared as items come in, for whoever fits the model."""
    ahead = Ahead(state)
    for arrival in arrivals:
        coming = passages_of(arrival)
        if not narrates(arrival.evidence.speaker):
            yield from _pairs_of(ahead, coming)
        ahead.add(coming)


def _pairs_of(ahead: Ahead, coming: Sequence[Passage], least: float = 0.0) -> Iterator[Pair]:
    """Yield the pairs of an earlier sentence and one of a new item that share enough.

    Args:
        least: leave out what the model cannot give this probability.
    """
    known = ahead.worth()
    yield from _withdrawn(ahead, coming, known)
    left = SENTENCES
    of_nobody = not owner(coming[0].evidence.speaker)
    for passage in coming:
        if not left:
            return
        nearest = ahead.nearest(passage, ahead.terms_of(passage), known)
        if not nearest and passage is coming[-1] and not _may_change(passage):
            return
        later = ahead.claims_of(passage)[:left]
        left -= len(later)
        turned = list(_turned(ahead, passage, later, known))
        yield from turned
        left_over = _unsettled(later, turned)
        for near, sentences in _near(ahead, passage, nearest, left_over, known):
            cosine = round(float(near.vector @ passage.vector), 3)
            soon = _in_one_session(near, passage)
            for old, new in product(ahead.claims_of(near), sentences):
                pair = compared(old, new, known, cosine, soon=soon, told=of_nobody)
                if pair is None or not _may_exclude(pair):
                    continue
                found = judged(pair, known, least)
                if found is not None:
                    yield Pair(_stretch(near, old), _stretch(passage, new), found)


def _near(
    ahead: Ahead,
    passage: Passage,
    nearest: Sequence[Passage],
    later: Sequence[Claim],
    known: Worth,
) -> Iterator[tuple[Passage, Sequence[Claim]]]:
    """Yield the passages that a new one is compared with, each with the sentences that are.

    A passage that says much is near to none: those of its sentences that tell of a change are
    looked for by their own words as well.
    """
    found = set()
    for near in nearest:
        found.add((near.evidence.id, near.start))
        yield near, later
    for one in _changes(passage, later):
        words = tuple(dict.fromkeys(terms(one.plain)))
        for near in ahead.nearest(passage, words, known):
            if (near.evidence.id, near.start) not in found:
                yield near, (one,)


def _turned(ahead: Ahead, passage: Passage, later: Sequence[Claim], known: Worth) -> Iterator[Pair]:
    """Yield what the sentences of a new passage say to be over, which may share no word of it."""
    for new in later:
        for near in ahead.latest(passage, words_of_turn(new)):
            over = [old for old in ahead.claims_of(near) if turns(old, new)]
            for old in over:
                yield from _pair(near, old, passage, new, known)
            if over and ends_one(new):
                break


def _unsettled(later: Sequence[Claim], turned: Sequence[Pair]) -> Sequence[Claim]:
    """Return the sentences that may take the place of more than they have."""
    told = {pair.new[1] for pair in turned}
    return [one for one in later if one.start not in told or not ends_one(one)]


def _withdrawn(ahead: Ahead, coming: Sequence[Passage], known: Worth) -> Iterator[Pair]:
    """Yield what a new item takes back of what its speaker has just said, with what it says now."""
    text = coming[0].evidence.text
    mends = text.lstrip().startswith("*") or text.rstrip().endswith("*")  # a slip, as in "*14th"
    words = tokens(text)
    if not (mends or may_mend(words) or "withdraws" in signs(text, words)):
        return
    said = _said_first(ahead, coming)
    for nth, (passage, new) in enumerate(said):
        found = withdrawal(new.said)
        if found is None:
            continue
        if not found.value and nth + 1 < len(said):
            passage, new = said[nth + 1]
            found = replace(found, value=new.said)
        last = ahead.last(passage)
        before = [claim for _, claim in said[:nth]]
        taken = taken_back(found, [before, *map(ahead.claims_of, last)])
        if taken is not None and taken[0]:  # what it says itself before that stands as it is read
            yield from _pair(last[taken[0] - 1], taken[1], passage, new, known, withdrawn=True)


def _said_first(ahead: Ahead, coming: Sequence[Passage]) -> list[tuple[Passage, Claim]]:
    """Return the first sentences of an item, each with the passage that it is in."""
    said: list[tuple[Passage, Claim]] = []
    for passage in coming:
        for claim in ahead.claims_of(passage):
            if len(said) == SENTENCES:
                return said
            said.append((passage, claim))
    return said


def _pair(
    near: Passage,
    old: Claim,
    passage: Passage,
    new: Claim,
    known: Worth,
    *,
    withdrawn: bool = False,
) -> Iterator[Pair]:
    """Yield two sentences of which one takes the place of the other whatever words they share."""
    cosine = round(float(near.vector @ passage.vector), 3)
    soon = _in_one_session(near, passage)
    told = not owner(passage.evidence.speaker)
    pair = compared(old, new, known, cosine, soon=soon, told=told, withdrawn=withdrawn)
    if pair is not None:
        yield Pair(_stretch(near, old), _stretch(passage, new), signals(pair, known))


def _may_exclude(pair: Compared) -> bool:
    """Whether two sentences are alike enough, and do not only count two things of one kind."""
    if pair.turned:
        return True
    return pair.alike >= ALIKE and not (pair.told and _counts(pair.earlier, pair.later))


def _may_change(passage: Passage) -> bool:
    """Whether a sentence of a passage may tell of a change; most passages have none."""
    text = passage.evidence.text[passage.start : passage.end]
    found = signs(text, tokens(text))
    return not {"changed", "renews", "turns"}.isdisjoint(found) or may_tell_anew(found, text)


def _changes(passage: Passage, later: Sequence[Claim]) -> list[Claim]:
    """Return the first sentences that tell of a change and are a part of what is said."""
    length = passage.end - passage.start
    parts = [one for one in later if one.end - one.start < length]
    found = [one for one in parts if one.changed or (one.numbers and one.renews)]
    return found[:CHANGES]


def _in_one_session(one: Passage, other: Passage) -> bool:
    session = one.evidence.session
    return session is not None and session == other.evidence.session


def _counts(old: Claim, new: Claim) -> bool:
    """Whether two sentences differ in numbers alone, as those on room 3 and on room 4 do."""
    differ = old.held ^ new.held
    return bool(differ) and differ <= old.numbers | new.numbers


def _best(found: Iterable[Pair], judge: Judge) -> list[tuple[float, Pair]]:
    """Return the surest pair of each earlier sentence, the surest first."""
    best: dict[Stretch, tuple[float, Pair]] = {}
    for pair in found:
        confidence = judge(pair.signals)
        if confidence >= KEPT and confidence > best.get(pair.old, (0.0,))[0]:
            best[pair.old] = (confidence, pair)
    ordered = sorted(best.values(), key=lambda one: (-one[0], number_of(one[1].old[0])))
    return ordered[:MOST]


def _with_echoes(
    ahead: Ahead, coming: Sequence[Passage], best: Iterable[tuple[float, Pair]]
) -> Iterator[tuple[float, Stretch, Stretch]]:
    """Yield how surely which line is followed by which; with a line what an assistant says back."""
    for confidence, pair in best:
        yield confidence, pair.old, pair.new
        later = chain.from_iterable(map(ahead.claims_of, coming))
        for echo in echoed(ahead, pair.old, later):
            yield confidence, echo, pair.new


def _with_withdrawn(
    state: State,
    ahead: Ahead,
    found: Sequence[Succession],
    surest: Iterable[tuple[float, Stretch, Stretch]],
) -> Iterator[tuple[float, Stretch, Stretch]]:
    """Yield what is followed by what; and with a line the value that it was once corrected to.

    "No wait, it's the 14th" names nothing that it could be found by: it is over with the line of
    which it says so.
    """
    for confidence, old, new in surest:
        yield confidence, old, new
        before = (*state.derived.current.of_item(old[0]), *found)
        for one in before if confidence >= HOLDS else ():
            if one.old == old and one.new[0] != new[0] and one.confidence >= HOLDS:
                claim = ahead.claim_at(one.new)
                if claim is not None and withdrawal(claim.said) is not None:
                    yield confidence, one.new, new


def _stretch(passage: Passage, claim: Claim) -> Stretch:
    return passage.evidence.id, claim.start, claim.end
