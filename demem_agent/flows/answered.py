"""Record an answer that was produced elsewhere, so that feedback can refer to it like to any other."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from demem_agent.encoders import EncoderInfo
from demem_agent.feedback.crediting import supports_of
from demem_agent.flows.read import context_of, encoded, read_for, slot_ranking
from demem_agent.requests import Commit, Flow
from demem_agent.slots.ledger import operation
from demem_agent.slots.records import Delta, StoredContext
from demem_agent.slots.state import State
from demem_agent.types import Answer, Draft, Mode, Question, Reading

__all__ = ["answered"]


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
