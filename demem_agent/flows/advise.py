"""Say what worked in a situation, as records or within a limit; nothing is recorded."""

from __future__ import annotations

from demem_agent.flows.encode import encoded_text
from demem_agent.requests import Flow
from demem_agent.slots.choosing.advising import advice_words, records_of, within
from demem_agent.slots.choosing.asked import Advised
from demem_agent.slots.state import State
from demem_agent.text.language.words import clean
from demem_agent.types import Tried

__all__ = ["advise", "tried"]


def advise(state: State, asked: Advised) -> Flow[str]:
    """Return what worked in a situation, or else in those of its profile; "" where nothing did.

    Raises:
        EncoderMismatch: for an encoder of other dimensions than the memory was built with.
    """
    records = yield from tried(state, asked)
    return within(advice_words(records), asked.limit, state.measure)


def tried(state: State, asked: Advised) -> Flow[tuple[Tried, ...]]:
    """Return how actions did in a situation, or else in those of its profile, the best first.

    Raises:
        EncoderMismatch: for an encoder of other dimensions than the memory was built with.
    """
    if not state.situations:
        return ()
    vectors = yield from encoded_text(state, clean(asked.text))
    told = (asked.text, asked.asker, asked.conditions, vectors.matrix[0])
    book = state.playbook()
    return tuple(records_of(book, told, book.known(told), asked.actions))
