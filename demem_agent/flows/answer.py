"""Answer from memory alone, or record what another model answered: feedback can refer to both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from demem_agent.answering.model import default_answer_model
from demem_agent.errors import InvalidInput
from demem_agent.feedback.crediting import supports_of
from demem_agent.flows.commit import committed
from demem_agent.flows.understand import understood
from demem_agent.reading.ask import Ask
from demem_agent.reading.composing import read_for
from demem_agent.requests import Complete, Flow
from demem_agent.scoring import Query
from demem_agent.settings import Settings
from demem_agent.slots.filtering import within
from demem_agent.slots.ledger import unkeyed
from demem_agent.slots.records import Delta, StoredContext, Vector
from demem_agent.slots.routing import slot_ranking
from demem_agent.slots.state import State
from demem_agent.text.language.words import content_terms
from demem_agent.text.sentences import sentences
from demem_agent.types import Answer, Context, Draft, Evidence, Line, Question, Reading, Route

__all__ = ["answer", "answered"]


def answer(state: State, ask: Ask) -> Flow[Answer]:
    """Read, have the answerer answer, and store the context with what produced it."""
    query = yield from understood(state, ask)
    routed, reading = read_for(state, ask, query)
    question = Question(ask.query, ask.at, reading, ask.asker)
    draft = yield from _drafted(state, question, routed)
    context = _context(state, ask, question, routed, draft)
    yield from _stored(state, context, query.vector)
    probability = draft.probability
    return Answer(
        id=context.id,
        query=ask.query,
        text=draft.text,
        evidence=draft.evidence,
        route=routed,
        reading=reading,
        known=context.known,
        probability=routed.probability if probability is None else probability,
    )


def answered(state: State, ask: Ask, text: str, reading: Reading | None) -> Flow[Answer]:
    """Store the context of an answer that somebody else gave.

    What it rests on is taken to be the lines of the reading that hold its words.

    Args:
        reading: that it was given from; one as it would be now unless given.

    Raises:
        InvalidInput: for a reading of another memory.
    """
    if reading is not None:
        _require_own(state, reading)
    query = yield from understood(state, ask)
    routed, seen = _seen(state, ask, query, reading)
    question = Question(ask.query, ask.at, seen, ask.asker)
    context = _context(state, ask, question, routed, Draft(text))
    context = replace(context, supports=supports_of(state, context, text))
    yield from _stored(state, context, query.vector)
    return Answer(
        id=context.id,
        query=ask.query,
        text=context.answer,
        evidence=context.supports,
        route=routed,
        reading=seen,
        known=context.known,
        probability=routed.probability,
    )


def _drafted(state: State, question: Question, routed: Route) -> Flow[Draft]:
    """Have the answerer answer; what is not known may be withheld."""
    drafts: list[Draft] = yield Complete((question,))
    draft = drafts[0]
    if state.settings.unknown == "withhold" and not _is_known(
        state.settings, question.reading, routed, draft
    ):
        return replace(draft, text="", evidence=())
    return draft


def _is_known(settings: Settings, reading: Reading, routed: Route, draft: Draft) -> bool:
    """Whether an answer is probable enough; what proved right before is."""
    if not draft.text.strip():
        return False
    if reading.settled:
        return True
    if draft.probability is None:
        return routed.adequate
    known_from = settings.known_from
    least = default_answer_model().known if known_from is None else known_from
    return draft.probability >= least


def _seen(state: State, ask: Ask, query: Query, reading: Reading | None) -> tuple[Route, Reading]:
    """Return where a query goes, and the reading given or else the one it would get now."""
    if reading is None:
        return read_for(state, ask, query)
    routed, _ = slot_ranking(state, query, within(state, ask.where))
    return routed, reading


def _stored(state: State, context: Context, vector: Vector) -> Flow[None]:
    seq = state.head.seq + 1
    count = state.head.contexts + 1
    delta = Delta(
        replace(state.head, seq=seq, contexts=count),
        (unkeyed(seq, "answer"),),
        contexts=(StoredContext(context, vector),),
    )
    yield from committed(state, delta)


def _context(state: State, ask: Ask, question: Question, routed: Route, draft: Draft) -> Context:
    """Return the context to store.

    What another operation took away while the answerer worked is not in it.
    """
    lines = question.reading.lines
    live = [line for line in lines if line.evidence.id in state.evidence]
    forgotten = len(live) < len(lines)
    slot = routed.slot if routed.slot in state.slots else min(state.slots, default=None)
    supports = [item for item in draft.evidence if item in state.evidence]
    context = Context(
        id=f"a{state.head.contexts + 1}",
        query=question.query,
        at=question.at,
        slot=slot,
        answer="" if forgotten else draft.text,
        read=state.cache.shared(map(_stretch, live)),
        supports=tuple(supports),
        redacted=forgotten,
        asker=ask.asker,
        conditions=ask.conditions,
        known=_is_known(state.settings, question.reading, routed, draft),
    )
    lead = _lead(live, supports or supports_of(state, context, draft.text), draft.text)
    return replace(context, lead=None if lead is None else live.index(lead))


def _lead(live: Sequence[Line], supports: Sequence[str], answer: str) -> Line | None:
    """Return the line that an answer rests on before others: a rating speaks of it.

    Of the lines of what it rests on it is the one of which most is quoted as the answer begins, or
    else that holds most words of that, or has the highest score; where it rests on none, the one
    with the highest score of all. An empty answer rests on no line.
    """
    if not answer.strip():
        return None
    begins = answer.strip().partition("\n")[0]
    words = set(content_terms(begins))

    def holds(line: Line) -> tuple[int, int, float, float]:
        own = set(content_terms(f"{line.evidence.speaker or ''} {line.text}"))
        held = len(words & own)
        return _quoted(line, begins), held, held / max(len(own), 1), line.score

    resting = [line for line in live if line.evidence.id in supports]
    if resting:
        return max(resting, key=holds)
    return max(live, key=lambda line: line.score, default=None)


def _quoted(line: Line, text: str) -> int:
    """Return how many characters of a line's sentences stand in a text as they were said."""
    said = {line.text[start:end] for start, end in sentences(line.text)}
    return sum(len(one) for one in said if one in text)


def _stretch(line: Line) -> tuple[str, int, int]:
    return line.evidence.id, line.start, line.end


def _require_own(state: State, reading: Reading) -> None:
    """Refuse a reading of another memory: ids are counted anew in each.

    What was forgotten since is no matter.
    """
    for line in reading.lines:
        if not isinstance(line, Line) or not isinstance(line.evidence, Evidence):
            raise InvalidInput("reading", line, "a reading that this memory gave")
        item = line.evidence
        held = state.evidence.get(item.id)
        fits = 0 <= line.start < line.end <= len(item.text)
        foreign = held is not None and held.text != item.text
        if foreign or not fits:
            raise InvalidInput("reading", item.id, "a reading that this memory gave")
