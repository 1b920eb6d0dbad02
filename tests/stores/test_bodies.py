"""The body of a row gives back what it was made from, also as versions before wrote it."""

from __future__ import annotations

import hashlib
import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent.stores.bodies import body_of, values_in
from demem_agent.stores.sealing import packed
from demem_agent.stores.squeezing import DICTIONARY, squeezed, unsqueezed
from demem_agent.stores.tables import COLUMNS

NUMBERS = st.integers(-(2**60), 2**60)
PLAIN = st.none() | NUMBERS | st.binary(max_size=60) | st.text(max_size=60)
RAW = st.none() | st.binary(max_size=300)


@st.composite
def rows(draw: st.DrawFn) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Draw the columns of a table, and values for them."""
    names = COLUMNS[draw(st.sampled_from(sorted(COLUMNS)))]
    is_raw = {"vectors", "codes", "vector", "total"}
    return names, {name: draw(RAW if name in is_raw else PLAIN) for name in names}


@given(rows())
def test_a_body_gives_back_its_values(given: tuple[tuple[str, ...], dict[str, Any]]) -> None:
    names, row = given
    assert values_in(body_of(row, names), names) == row


@given(rows())
def test_a_body_of_before_gives_back_its_values(
    given: tuple[tuple[str, ...], dict[str, Any]],
) -> None:
    names, row = given
    before = packed([row[name] for name in names[:-1]])
    assert values_in(before, names) == {**row, names[-1]: None}


@given(plain=st.binary(max_size=400), cut=st.integers(0, 400), more=st.binary(max_size=3))
def test_what_is_cut_or_longer_is_noticed(plain: bytes, cut: int, more: bytes) -> None:
    whole = squeezed(plain)
    assert unsqueezed(whole) == plain
    changed = whole[:cut] + more
    if changed != whole:
        with pytest.raises(ValueError, match="what was deflated"):
            unsqueezed(changed)


@given(seed=st.integers(0, 9), length=st.integers(5_000, 9_000), signs=st.integers(2, 256))
def test_what_a_small_window_reaches_over_and_what_it_does_not_comes_back(
    seed: int, length: int, signs: int
) -> None:
    plain = bytes(np.random.default_rng(seed).integers(0, signs, length, np.uint8))
    whole = squeezed(plain)
    assert unsqueezed(whole) == plain
    assert len(whole) <= len(zlib.compress(plain, 9)) + 20


def test_the_dictionary_is_the_one_that_files_were_written_with() -> None:
    known = "7a5ce18af9aa8257248a98b1e8efdf70fe00f5957456b22871496593b1674af5"
    assert hashlib.sha256(DICTIONARY).hexdigest() == known, "no file of before could be read"


def test_what_rows_have_in_common_takes_little_room() -> None:
    row: dict[str, Any] = dict.fromkeys(COLUMNS["evidence"])
    row |= {"slot": 0, "text": b"I was going to work today", "trust": 1.0, "spans": "[[0,25]]"}
    row |= {"made_from": "[]", "codes": bytes(256)}
    assert len(body_of(row, COLUMNS["evidence"])) < 256 + 50
