"""Answer from memory alone, or record what another model answered; either way feedback can refer to
it.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from demem_agent.encoders import EncoderInfo
from demem_agent.feedback.crediting import supports_of
from demem_agent.flows.encode import encoded
from demem_agent.reading.composing import read_for
from demem_agent.requests import Ask, Commit, Flow
from demem_agent.slots.ledger import operation
from demem_agent.slots.records import Delta, StoredContext
from demem_agent.slots.routing import slot_ranking
from demem_agent.slots.state import State
from demem_agent.types import (
    Answer,
    Context,
    Draft,
    Mode,
    Question,
    Reading,
    Route,
)

__all__ = ["answer", "answered", "context_of"]


def answer(
    state: State, encoder: EncoderInfo, query: str, at: datetime | None, limit: int, mode: Mode
) -> Flow[Answer]:
    """Read, have the answerer answer, and store the context with what produced it."""
    asked = yield from encoded(state, encoder, query, at)
    routed, reading = read_for(state, asked, limit, mode)
    drafts: list[Draft] = yield Ask((Question(query, at, reading),))
    number, seq = state.head.contexts + 1, state.head.seq + 1
    context = context_of(state, f"a{number}", Question(query, at, reading), routed, drafts[0])
    result = Answer(context.id, query, drafts[0].text, drafts[0].evidence, routed, reading)
    delta = Delta(
        replace(state.head, seq=seq, contexts=number),
        (operation(seq, "answer", None, "", {}),),
        contexts=(StoredContext(context, asked.vector),),
    )
    yield Commit(delta)
    state.apply(delta)
    return result


def context_of(state: State, id: str, question: Question, routed: Route, draft: Draft) -> Context:
    """Give the context to store; what another operation took away while the answerer worked is not
    in it.
    """
    lines = question.reading.lines
    live = tuple(
        (line.evidence.id, line.start, line.end)
        for line in lines
        if line.evidence.id in state.evidence
    )
    forgotten = len(live) < len(lines)
    return Context(
        id=id,
        query=question.query,
        at=question.at,
        slot=routed.slot if routed.slot in state.slots else min(state.slots, default=None),
        answer="" if forgotten else draft.text,
        read=live,
        supports=tuple(item for item in draft.evidence if item in state.evidence),
        redacted=forgotten,
    )


def answered(
    state: State,
    encoder: EncoderInfo,
    query: str,
    text: str,
    at: datetime | None,
    reading: Reading | None,
    limit: int,
    mode: Mode,
) -> Flow[Answer]:
    """Store the context of an answer that somebody else gave.

    What it rests on is taken to be the lines of the reading that hold its words.

    Args:
        reading: that it was given from; one as it would be now unless given.
    """
    asked = yield from encoded(state, encoder, query, at)
    if reading is None:
        routed, seen = read_for(state, asked, limit, mode)
    else:
        routed, seen = slot_ranking(state, asked)[0], reading
    number, seq = state.head.contexts + 1, state.head.seq + 1
    context = context_of(state, f"a{number}", Question(query, at, seen), routed, Draft(text))
    context = replace(context, supports=supports_of(state, context, text))
    delta = Delta(
        replace(state.head, seq=seq, contexts=number),
        (operation(seq, "answer", None, "", {}),),
        contexts=(StoredContext(context, asked.vector),),
    )
    yield Commit(delta)
    state.apply(delta)
    return Answer(context.id, query, context.answer, context.supports, routed, seen)
