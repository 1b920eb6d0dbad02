"""Say what worked in a situation, within a limit; nothing is recorded."""

from __future__ import annotations

from demem_agent.flows.encode import encoded_text
from demem_agent.requests import Flow
from demem_agent.slots.choosing.advising import advice_words
from demem_agent.slots.choosing.asked import Advised
from demem_agent.slots.state import State
from demem_agent.text.words import clean

__all__ = ["advise"]

#: What stands between two actions.
BETWEEN = "; "


def advise(state: State, asked: Advised) -> Flow[str]:
    """Return what worked in a situation, or else in those of its profile; "" where nothing did.

    Raises:
        EncoderMismatch: for an encoder of other dimensions than the memory was built with.
    """
    if not state.situations:
        return ""
    vectors = yield from encoded_text(state, clean(asked.text))
    book = state.playbook()
    vector = vectors.matrix[0]
    known = book.known((asked.text, asked.asker, asked.conditions, vector))
    records = [] if known is None else book.records(known)
    if not records:
        slot = book.nearest(vector) if known is None else book.slot_of(known)
        records = [] if slot is None else book.profile(slot)
    return _within(advice_words(records), asked.limit, state)


def _within(words: list[str], limit: int, state: State) -> str:
    """Join as many as the limit has room for, the first ones."""
    said = ""
    for word in words:
        longer = said + BETWEEN + word if said else word
        if state.measure(longer) > limit:
            break
        said = longer
    return said
