"""A correction holds until something is said later that answers its question otherwise.

It speaks for one question and takes nobody's place. What is told after it takes its own place where
it takes that of the line which the corrected answer rested on, or where it has all that the
question is about, of the same person, and sets another value. What came before it stays corrected.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from demem_agent.later import dataclass
from demem_agent.scoring.index import Stretch
from demem_agent.slots.placement import Arrival
from demem_agent.slots.state import State
from demem_agent.slots.successions.claims import Claim, claim, claims_in
from demem_agent.slots.successions.lineage import HOLDS
from demem_agent.slots.successions.model import exclusion
from demem_agent.slots.successions.rivals import narrates, owner, worth_in
from demem_agent.slots.successions.subjects import subject_of
from demem_agent.slots.successions.turns import implied
from demem_agent.text.language.words import content_terms
from demem_agent.turns import CORRECTION
from demem_agent.types import Context, Evidence, Succession

__all__ = ["told_from", "with_corrections"]

#: How many times likelier a line is to exclude a correction, where it has all words of the question
#: and is of the same person, than any two lines that are compared: a factor of the odds.
LIKELIER = 10.0
#: Sentences of an item that are looked at, the first ones.
SENTENCES = 12
#: How near two lines count that are of one question, as vectors.
NEAR = 0.5
#: What stands between the question of a correction and what it tells.
_ASKED = '": '
#: Words of questions that are about nothing, besides those that tell nothing anywhere.
_ASKING = frozenset(
    content_terms(
        """now currently today moment still latest newest current new much many long far name called
        time day date ahora ahorita hoy jetzt heute aktuell maintenant actuellement aujourd'hui
        agora hoje adesso oggi"""
    )
)


@dataclass(frozen=True, slots=True)
class _Corrected:
    """A correction with what it was about.

    Attributes:
        words: the stems of the question; ``matter``: of those what it is about.
        statement: the question with what is right, as a sentence.
        owner: of whom it is, as :func:`owner` names them; "" where that is not known.
    """

    item: Evidence
    context: Context
    matter: frozenset[str]
    words: frozenset[str]
    statement: Claim
    owner: str


def told_from(item: Evidence) -> int:
    """Return where a correction begins to tell, behind its question; 0 in any other item."""
    if item.source != CORRECTION:
        return 0
    asked, between, _ = item.text.partition(_ASKED)
    return len(asked) + len(between) if between else 0


def with_corrections(
    state: State, made: Sequence[Succession], arrivals: Iterable[Arrival]
) -> tuple[Succession, ...]:
    """Return successions with those of the corrections that what comes in is later than.

    Args:
        made: those that were found for the arrivals, numbered on from those of the state.
    """
    if not state.derived.cards:
        return tuple(made)
    found = list(made)
    told = list(_told(state))
    for arrival in arrivals:
        item = arrival.evidence
        if item.source == CORRECTION or narrates(item.speaker):
            continue
        ended = [one for one in made if one.new[0] == item.id]
        for one in told:
            if _is_later(item, one.item):
                found += _ending(state, one, item, ended, len(found))
    return tuple(found)


def _told(state: State) -> Iterator[_Corrected]:
    """Yield the corrections whose question is known and that hold still."""
    for id in state.derived.cards:
        item = state.evidence[id]
        context = state.contexts.get((item.source_id or "").removeprefix(f"{CORRECTION}:"))
        if context is None or not context.context.query:
            continue
        if state.derived.current.of_line((id, 0, len(item.text))):
            continue
        told = _corrected(state, item, context.context)
        if told is not None:
            yield told


def _corrected(state: State, item: Evidence, context: Context) -> _Corrected | None:
    """Return a correction as it is compared; None for one without words."""
    statement = claim(f"{context.query.rstrip('? ')}: {item.text[told_from(item) :]}")
    if statement is None:
        return None
    words = frozenset(content_terms(context.query))
    name = _owner(state, context)
    return _Corrected(
        item=item,
        context=context,
        matter=words - _ASKING - frozenset(content_terms(name)),
        words=words,
        statement=statement,
        owner=name,
    )


def _owner(state: State, context: Context) -> str:
    """Return of whom a question is: of who asks it, or of who said what was answered."""
    if context.asker is not None:
        return owner(context.asker)
    lead = context.read[context.lead][0] if context.lead is not None else ""
    return owner(state.evidence[lead].speaker) if lead in state.evidence else ""


def _is_later(item: Evidence, other: Evidence) -> bool:
    """Whether an item that comes in now is no earlier by its day than one that was there before."""
    if item.at is None or other.at is None:
        return True
    return item.at.date() >= other.at.date()


def _ending(
    state: State, told: _Corrected, item: Evidence, ended: Sequence[Succession], count: int
) -> Iterator[Succession]:
    """Yield the succession by which an item takes the place of a correction, if it does."""
    best = max(_likely(state, told, item, ended), default=(0.0, 0, 0))
    confidence, start, end = best
    if confidence >= HOLDS:
        yield Succession(
            id=f"s{state.head.successions + count + 1}",
            old=(told.item.id, 0, len(told.item.text)),
            new=(item.id, start, end),
            confidence=confidence,
            how="found",
            after=state.head.contexts,
        )


def _likely(
    state: State, told: _Corrected, item: Evidence, ended: Iterable[Succession]
) -> Iterator[tuple[float, int, int]]:
    """Yield how probably which parts of an item take the place of a correction."""
    for one in ended:
        if _rested_on(state, told, one):
            yield one.confidence, one.new[1], one.new[2]
    if told.owner and owner(item.speaker) not in ("", told.owner):
        return
    for said in claims_in(item.text, 0, len(item.text))[:SENTENCES]:
        if _is_on(told, said):
            yield _exclusion(state, told, said), said.start, said.end


def _rested_on(state: State, told: _Corrected, one: Succession) -> bool:
    """Whether a succession is of the line that a corrected answer rested on, and of its question.

    Or of another one that was read and has all that the question is about.
    """
    read = [line for line in told.context.read if _overlap(line, one.old)]
    if not read:
        return False
    item, start, end = one.old
    held = frozenset(content_terms(state.evidence[item].text[start:end]))
    lead = told.context.lead
    if lead is not None and told.context.read[lead] in read:
        return not told.matter.isdisjoint(held)
    return bool(told.matter) and told.matter <= held


def _overlap(one: Stretch, other: Stretch) -> bool:
    return one[0] == other[0] and one[1] < other[2] and other[1] < one[2]


def _is_on(told: _Corrected, said: Claim) -> bool:
    """Whether a sentence has all that a question is about, and is of the person it is about."""
    held = frozenset(content_terms(said.said)) | implied(said)
    if not told.matter or not told.matter <= held:
        return False
    subject = subject_of(said.said)
    if subject is None or subject.kind in ("self", "thing"):
        return True
    return subject.words <= told.words


def _exclusion(state: State, told: _Corrected, said: Claim) -> float:
    """Return how probably a sentence on the matter of a correction sets another value."""
    if said.begun is not None and not said.adds:
        return LIKELIER / (1 + LIKELIER)
    likely = exclusion(told.statement, said, worth_in(state), NEAR)
    return round(LIKELIER * likely / (LIKELIER * likely + 1 - likely), 4)
