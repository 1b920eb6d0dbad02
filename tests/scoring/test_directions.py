"""Vectors in codes are what they were rounded to, to the last bit, and near what they came as."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from demem_agent.encoders import as_matrix
from demem_agent.scoring.directions import Directions, codes_of, from_codes, rounded

Vectors = np.ndarray[tuple[int, int], np.dtype[np.float32]]


@st.composite
def matrices(draw: st.DrawFn, most: int = 6) -> Vectors:
    """Draw vectors of unit length, or of zeros."""
    shape = (draw(st.integers(1, most)), draw(st.sampled_from((1, 2, 8, 256))))
    numbers = st.floats(-1, 1, width=32)
    return as_matrix(draw(arrays(np.float32, shape, elements=numbers)), shape[0])


@given(matrices())
def test_what_is_rounded_stays_as_it_is(vectors: Vectors) -> None:
    once = rounded(vectors)
    assert rounded(once).tobytes() == once.tobytes()
    codes = codes_of(once)
    assert codes is not None
    np.testing.assert_array_equal(from_codes(codes), once)
    alone = [from_codes(row[None])[0] for row in codes]
    assert np.stack(alone).tobytes() == once.tobytes()


@given(matrices())
def test_a_rounded_vector_is_of_unit_length_and_near(vectors: Vectors) -> None:
    wide = rounded(vectors).astype(np.float64)
    lengths = np.sqrt((wide**2).sum(axis=1))
    is_zero = ~vectors.any(axis=1)
    np.testing.assert_allclose(lengths, np.where(is_zero, 0, 1), atol=2e-5)
    # Each number is off by half a step at most, and a step is the largest divided by 127.
    sines = np.abs(vectors).max(axis=1) * np.sqrt(vectors.shape[1]) / 254
    cosines = (wide * vectors).sum(axis=1)
    assert np.all((cosines >= 1 - sines**2 - 1e-4) | is_zero)


@given(
    parts=st.lists(st.tuples(matrices(), st.booleans()), min_size=1, max_size=4),
    seed=st.integers(0, 99),
)
def test_a_column_says_what_its_vectors_say(parts: list[tuple[Vectors, bool]], seed: int) -> None:
    dimensions = 8
    column = Directions(dimensions)
    kept = np.zeros((0, dimensions), np.float32)
    drawn = np.random.default_rng(seed)
    for part, is_exact in parts:
        fitting = as_matrix(np.resize(part, (len(part), dimensions)), len(part))
        coming = fitting if is_exact else rounded(fitting)
        column.extend(coming)
        kept = np.concatenate([kept, coming])
        assert all(column.row(n).tobytes() == row.tobytes() for n, row in enumerate(kept))
        stays = drawn.random(len(kept)) < 0.8
        column.keep(stays)
        kept = kept[stays]
    query = as_matrix(drawn.standard_normal(dimensions), 1)[0]
    assert len(column) == len(kept)
    assert column.of(slice(None)).tobytes() == kept.tobytes()
    assert column.cosines(query).tobytes() == np.einsum("ij,j->i", kept, query).tobytes()


def test_many_vectors_are_compared_block_by_block() -> None:
    vectors = rounded(as_matrix(np.random.default_rng(0).standard_normal((1_500, 16)), 1_500))
    column = Directions(16)
    for vector in vectors:
        column.extend(vector[None])
    assert (
        column.cosines(vectors[3]).tobytes() == np.einsum("ij,j->i", vectors, vectors[3]).tobytes()
    )
    assert not column.is_exact


def test_another_thread_that_asks_how_they_are_kept_puts_nothing_in_its_place() -> None:
    column = Directions(16)
    column.extend(as_matrix(np.random.default_rng(0).standard_normal((1, 16)), 1))
    coming = [*column._coming]
    assert not column.is_exact
    assert column._coming == coming
