"""Vectors of single words in many languages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from demem_agent.encoders.word_table import DIMENSIONS, centred_vectors, pieces_of, word_vectors

Vectors = Callable[[Sequence[str]], NDArray[np.float32]]
WORDS = ("heating", "Heizung".lower(), "猫", "кот", "x", "2024", "\U0001f600")


@pytest.mark.parametrize("vectors", [word_vectors, centred_vectors])
@given(st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=50)), max_size=6))
def test_each_word_has_a_vector_of_length_one_or_none(vectors: Vectors, words: list[str]) -> None:
    found = vectors(words)
    assert found.shape == (len(words), DIMENSIONS)
    lengths = np.linalg.norm(found, axis=1)
    assert all(abs(length - 1) < 1e-5 or length == 0 for length in lengths)


@pytest.mark.parametrize(("one", "same", "other"), [("car", "auto", "katze"), ("cat", "猫", "房")])
def test_what_means_the_same_is_nearer(one: str, same: str, other: str) -> None:
    vectors = centred_vectors([one, same, other])
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.2


def test_a_vector_depends_on_its_word_alone() -> None:
    together = word_vectors(WORDS)
    for row, word in enumerate(WORDS):
        assert word_vectors([word])[0].tolist() == together[row].tolist()


@given(st.text(alphabet="例会在周二上午十点の東京駅", min_size=1, max_size=90))
def test_the_pieces_of_a_run_are_the_run(run: str) -> None:
    assert "".join(pieces_of(run)) == run


def test_threads_get_the_same() -> None:
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: word_vectors(WORDS).tobytes(), range(8)))
    assert len(set(found)) == 1
