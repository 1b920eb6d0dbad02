"""How many bytes of RAM a state takes, as an estimate from counts: looking at it costs nothing."""

from __future__ import annotations

from demem_agent.slots.state import State

__all__ = ["resident"]

#: Bytes that each of these takes, with all that is derived from it and kept to save work. Measured
#: as the growth of the process over many memories, opened and read from
#: (``benchmarks/reliability/pool.py``).
_ITSELF = 80_000
_PASSAGE = 720
_TERM = 560
_WORD = 10
_CONTEXT = 3_000
_CERTIFICATE = 8_000
_CHOICE = 1_500
_OPERATION = 700
_SUCCESSION = 700
#: Numbers that a kept ranking has for each passage, of eight bytes.
_RANKED = 3


def resident(state: State) -> int:
    """Return about how many bytes a state takes in RAM.

    It is what a memory grows to by being read from. What all memories of a process share, such as
    the encoder, is not in it; nor is what a collaborator keeps.
    """
    index = state.derived.index
    passages = 0 if index is None else len(index.passages)
    vocabulary = 0 if index is None else index.lexical.vocabulary
    words = 0 if index is None else index.lexical.words
    in_codes = index is None or not index.vectors.is_exact
    of_passages = passages * (1 if in_codes else 4)
    asked = len(state.contexts) + len(state.situations)
    vectors = state.head.dimensions * (of_passages + 4 * asked)
    ranked = 8 * _RANKED * passages * len(state.cache.rankings)
    counted = (
        _PASSAGE * passages,
        _TERM * vocabulary,
        _WORD * words,
        _CONTEXT * len(state.contexts),
        _CERTIFICATE * len(state.certificates),
        _CHOICE * (len(state.choices) + len(state.situations)),
        _OPERATION * (len(state.keyed) + len(state.receipts)),
        _SUCCESSION * len(state.successions),
    )
    return _ITSELF + vectors + ranked + sum(counted)
