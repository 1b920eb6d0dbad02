"""How many bytes of RAM a state takes, as an estimate from counts: looking at it costs nothing."""

from __future__ import annotations

from demem_agent.scoring.bearing import LOOKED
from demem_agent.slots.cache import Cache
from demem_agent.slots.state import State

__all__ = ["resident"]

#: Bytes that each of these takes, with all that is derived from it. Measured as the growth of the
#: process over memories of 200 to 5,000 items of two kinds of text, opened, read from, and after a
#: hundred answers (``benchmarks/reliability/resident.py``).
_ITSELF = 75_000
_PASSAGE = 243
_TERM = 300
_WORD = 10
_CONTEXT = 3_600
_CERTIFICATE = 8_000
_CHOICE = 1_500
_OPERATION = 700
_SUCCESSION = 700
#: How often the vector of a question is kept: in its record, and beside those of the others.
_VECTORS = 2
#: An item that is an object: one that came in, or was read.
_ITEM = 350
#: What is kept to save work: the line of an item that was read, the excerpts of one that is in a
#: summary, the vector of a word, a ranking, each of its rows, and of those how it stands.
_LINE = 500
_EXCERPTS = 500
_WORD_VECTOR = 100
_RANKING = 2_000
_RANKED = 16
_STANDING = 24


def resident(state: State) -> int:
    """Return about how many bytes a state takes in RAM as it is.

    What all memories of a process share, such as the encoder, is not in it; nor is what a
    collaborator keeps.
    """
    index = state.derived.index
    passages = 0 if index is None else len(index.passages)
    vocabulary = 0 if index is None else index.lexical.vocabulary
    words = 0 if index is None else index.lexical.words
    encoded = 0 if index is None else index.related.encoded
    in_codes = index is None or not index.vectors.is_exact
    of_passages = passages * (1 if in_codes else 4)
    asked = len(state.contexts) + len(state.situations)
    vectors = state.head.dimensions * (of_passages + 4 * _VECTORS * asked)
    counted = (
        _PASSAGE * passages,
        _ITEM * state.evidence.made,
        _TERM * vocabulary,
        _WORD * words,
        _WORD_VECTOR * encoded,
        _CONTEXT * len(state.contexts),
        _CERTIFICATE * len(state.certificates),
        _CHOICE * (len(state.choices) + len(state.situations)),
        _OPERATION * (len(state.keyed) + len(state.receipts)),
        _SUCCESSION * len(state.successions),
    )
    return _ITSELF + vectors + sum(counted) + _saved(state.cache)


def _saved(cache: Cache) -> int:
    """Return about how many bytes that takes which is kept to save work."""
    rankings = list(cache.rankings.values())  # others may rank meanwhile
    of_rankings = sum(_ranked(len(ranking.rows)) for ranking in rankings)
    return of_rankings + _LINE * len(cache.lines) + _EXCERPTS * len(cache.excerpts)


def _ranked(rows: int) -> int:
    return _RANKING + _RANKED * rows + _STANDING * min(rows, LOOKED)
