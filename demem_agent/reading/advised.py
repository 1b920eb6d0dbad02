"""What worked where the same was decided before: the head of a reading."""

from __future__ import annotations

from demem_agent.reading.ask import Ask
from demem_agent.reading.packing import wrap
from demem_agent.scoring import Query
from demem_agent.slots.choosing.advising import advice_words, records_of, within
from demem_agent.slots.state import State

__all__ = ["advised", "heading"]

#: The most of a limit that advice takes: the rest is for what was said.
SHARE = 0.25
HEAD = "# What worked in this situation\n- "


def advised(state: State, ask: Ask, query: Query) -> str:
    """Return what worked in the situation that a query tells, in a line; "" where it is unknown.

    Only a situation that came up before counts: most queries tell none, and what the nearest one
    knows is no answer to them. What worked is of no item, so that no filter leaves it.
    """
    if not state.situations or not ask.query.strip() or ask.where is not None:
        return ""
    told = (ask.query, ask.asker, ask.conditions, query.vector)
    book = state.playbook()
    known = book.known(told)
    if known is None:
        return ""
    room = int(SHARE * ask.limit) - state.measure(wrap(HEAD))
    return within(advice_words(records_of(book, told, known)), room, state.measure)


def heading(advice: str) -> str:
    """Return advice as it stands at the head of a reading; "" for none."""
    return HEAD + advice if advice else ""
