"""Encode queries and passages, and refuse vectors that are not of this memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from demem_agent.encoders import EncoderInfo
from demem_agent.errors import CollaboratorError, EncoderMismatch, InvalidInput, StaleState
from demem_agent.later import dataclass
from demem_agent.reading.ask import Ask
from demem_agent.requests import Encode, EncodeQueries, Flow, Vectors
from demem_agent.scoring import PassageIndex, Query, focus
from demem_agent.scoring.directions import rounded
from demem_agent.slots.records import Vector
from demem_agent.slots.state import State
from demem_agent.stores import Rows
from demem_agent.stores.unencoded import encoded_anew, unencoded
from demem_agent.text.language.words import clean

__all__ = [
    "Passages",
    "encodable",
    "encodable_by",
    "encoded",
    "encoded_passages",
    "encoded_queries",
    "encoded_text",
    "lost_vectors",
    "passages_of",
]

Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Passages:
    """The passages of many texts, encoded in one go.

    Attributes:
        matrices: one per text, shape (passages, d); empty for a text without passages.
        encoder: which one made them; None where there was nothing to encode.
    """

    matrices: list[Vector]
    encoder: EncoderInfo | None


def encoded(state: State, ask: Ask) -> Flow[Query]:
    """Return a query as the scorer sees it, encoded unless its vector is known already.

    Raises:
        InvalidInput: for a vector of another length than those of the memory.
        CollaboratorError: for an ``encode_query`` of other dimensions than the memory's vectors.
        EncoderMismatch: for an encoder of other dimensions than the memory was built with.
        StaleState: if the memory was moved to another encoder while this one was at work.
    """
    asked_on = ask.at.date() if ask.at else None
    if ask.vector is not None:
        _require_fitting(state, ask.vector)
        return Query(ask.query, ask.vector, asked_on, ask.asker)
    vectors = yield from encoded_queries(state, (ask.query,), state.head.dimensions)
    _require_memorys(state, vectors)
    return Query(ask.query, vectors.matrix[0], asked_on, ask.asker, vectors.encoder.multilingual)


def encoded_text(state: State, text: str) -> Flow[Vectors]:
    """Return the vector of one text, by the encoder that the memory was built with.

    Raises:
        EncoderMismatch: for an encoder of other dimensions than the memory was built with.
        StaleState: if the memory was moved to another encoder while this one was at work.
    """
    vectors: Vectors = yield Encode((text,))
    _require_memorys(state, vectors)
    return vectors


def encoded_queries(state: State, queries: Sequence[str], dimensions: int) -> Flow[Vectors]:
    """Return the vectors of queries: of all they say where the encoder has a method for that.

    Args:
        dimensions: what ``encode`` gives; 0 where that is not known yet.

    Raises:
        CollaboratorError: for an ``encode_query`` of other dimensions.
    """
    whole = tuple(map(clean, queries))
    about = tuple(encodable(state, query) for query in queries)
    vectors: Vectors = yield EncodeQueries(whole, about)
    given = vectors.matrix.shape[1]
    if vectors.by_query and queries and dimensions not in (0, given):
        raise CollaboratorError(
            f"encode_query of the encoder gave {given} dimensions where encode gave {dimensions}: "
            "have both give the same"
        )
    return vectors


def encodable(state: State, query: str) -> str:
    """Return what of a query is encoded: what it is about, without what no encoder takes.

    Words that it misspells are put right.
    """
    return encodable_by(state.derived.index, query)


def encodable_by(index: PassageIndex | None, query: str) -> str:
    """Return what of a query is encoded where these passages are known; none is known at first."""
    text = query if index is None else index.heard(query).text
    return clean(focus(text))


def encoded_passages(texts: Sequence[str], spans: Sequence[Spans]) -> Flow[Passages]:
    """Encode the passages of many texts in one go, to directions as they are kept.

    Args:
        spans: per text, the (start, end) of its passages.
    """
    pieces: list[str] = []
    for text, cut in zip(texts, spans, strict=True):
        pieces += passages_of(text, cut)
    if not pieces:
        nothing = np.zeros((0, 0), np.float32)
        return Passages([nothing] * len(texts), None)
    vectors: Vectors = yield Encode(tuple(pieces))
    return Passages(_parted(rounded(vectors.matrix), spans), vectors.encoder)


def lost_vectors(rows: Rows, encoder: EncoderInfo) -> Flow[Rows]:
    """Return the rows of a memory with vectors for items that have lost theirs.

    They stay as they are where the memory was built with another encoder.

    Args:
        encoder: which one is at work.
    """
    lost = unencoded(rows)
    if not lost or not rows.head.fits(encoder.name, encoder.fingerprint):
        return rows
    texts = [stored.evidence.text for stored in lost]
    passages = yield from encoded_passages(texts, [stored.spans for stored in lost])
    made = {one.evidence.id: of for one, of in zip(lost, passages.matrices, strict=True)}
    if any(of.shape[1] != rows.head.dimensions for of in made.values()):
        return rows
    return encoded_anew(rows, made)


def passages_of(text: str, spans: Spans) -> Iterator[str]:
    """Yield the passages of a text as they are encoded."""
    for start, end in spans:
        yield clean(text[start:end])


def _parted(matrix: Vector, spans: Sequence[Spans]) -> list[Vector]:
    """Return the rows of each text's passages."""
    matrices = []
    start = 0
    for cut in spans:
        end = start + len(cut)
        matrices.append(matrix[start:end])
        start = end
    return matrices


def _require_memorys(state: State, vectors: Vectors) -> None:
    """Make sure that vectors are of the encoder that the memory was built with."""
    require_same_encoder(state, vectors.encoder)
    dimensions = vectors.matrix.shape[1]
    if state.head.dimensions not in (0, dimensions):
        raise mismatch(state, vectors.encoder, dimensions)


def require_same_encoder(state: State, encoder: EncoderInfo) -> None:
    """Make sure that the memory was not moved to another encoder while this one was at work."""
    if not state.head.fits(encoder.name, encoder.fingerprint):
        raise StaleState("the memory was encoded anew meanwhile")


def mismatch(state: State, encoder: EncoderInfo, dimensions: int) -> EncoderMismatch:
    """Return the error that names both encoders with their dimensions."""
    return EncoderMismatch(
        f"{state.head.encoder} ({state.head.dimensions} dimensions)",
        f"{encoder.name} ({dimensions} dimensions)",
    )


def _require_fitting(state: State, vector: Vector) -> None:
    dimensions = state.head.dimensions
    if dimensions not in (0, len(vector)):
        allowed = f"{dimensions} numbers, as in the memory"
        raise InvalidInput("vector", f"{len(vector)} numbers", allowed)
