"""Score_theta: BM25 against a brute-force oracle, removal, deterministic order, and the prefilter's reach."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from demem_agent import Evidence
from demem_agent.encoders import as_matrix
from demem_agent.scoring import FEATURES, PassageIndex, Query, default_weights, features, rank, slot_scores
from demem_agent.scoring import score as scoring
from demem_agent.scoring.lexical import K1, B, LexicalIndex
from demem_agent.testing import BagEncoder

ENCODER = BagEncoder(8)
WORDS = st.lists(st.sampled_from("ant bee cat dog eel fox".split()), max_size=12)
DOCUMENTS = st.lists(WORDS, max_size=10)


# BM25


def oracle(documents: Sequence[list[str]], words: list[str]) -> tuple[list[float], list[float]]:
    """Score every document by the textbook formula, one at a time."""
    mean = max(sum(map(len, documents)) / max(len(documents), 1), 1.0)
    idf = {}
    for word in words:
        held = sum(word in document for document in documents)
        idf[word] = math.log(1 + (len(documents) - held + 0.5) / (held + 0.5))
    bm25, share = [], []
    for document in documents:
        counts = Counter(document)
        norm = K1 * (1 - B + B * len(document) / mean)
        bm25.append(sum(idf[w] * (K1 + 1) * counts[w] / (counts[w] + norm) for w in idf if counts[w]))
        share.append(sum(idf[w] for w in idf if counts[w]) / max(sum(idf.values()), 1e-9))
    return bm25, share


def lexical(documents: Sequence[list[str]]) -> LexicalIndex:
    index = LexicalIndex()
    for document in documents:
        index.add(document)
    return index


@given(DOCUMENTS, WORDS)
def test_bm25_and_share_are_those_of_the_formula(documents: list[list[str]], words: list[str]) -> None:
    bm25, share = lexical(documents).scores(words)
    expected = oracle(documents, words)
    np.testing.assert_allclose(bm25, expected[0], atol=1e-5)
    np.testing.assert_allclose(share, expected[1], atol=1e-5)


@given(DOCUMENTS, WORDS, st.data())
def test_bm25_after_a_removal_is_as_if_the_row_had_never_been_added(
    documents: list[list[str]], words: list[str], data: st.DataObject
) -> None:
    kept = data.draw(st.lists(st.booleans(), min_size=len(documents), max_size=len(documents)))
    index = lexical(documents)
    index.keep(np.array(kept, np.bool_))
    fresh = lexical([document for document, stays in zip(documents, kept, strict=True) if stays])
    for found, expected in zip(index.scores(words), fresh.scores(words), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_bm25_of_a_case_worked_by_hand() -> None:
    # Two rows of two words each: idf = ln(1 + 1.5 / 1.5) = ln 2; count 1, length as the mean: 2.2 / 2.2 = 1.
    bm25, share = lexical([["cat", "dog"], ["bee", "ant"]]).scores(["cat"])
    assert bm25 == pytest.approx([math.log(2), 0.0])
    assert share == pytest.approx([1.0, 0.0])


# Passages

SAID = st.tuples(WORDS.filter(bool), st.sampled_from(["s", "t"]), st.sampled_from([None, "Ana", "user"]))


def put(index: PassageIndex, number: int, text: str, slot: int = 0, **fields: object) -> Evidence:
    item = Evidence(f"e{number}", text, **fields)  # type: ignore[arg-type]  # each test names fields that exist
    index.add(item, [(0, len(text))], as_matrix(ENCODER.encode([text]), 1), slot)
    return item


def indexed(said: Sequence[tuple[list[str], str, str | None]], numbers: Sequence[int]) -> PassageIndex:
    index = PassageIndex(ENCODER.dimensions)
    for n in numbers:
        words, session, speaker = said[n]
        put(index, n, " ".join(words), session=session, speaker=speaker)
    return index


def query(text: str, asked: date | None = None) -> Query:
    return Query(text, as_matrix(ENCODER.encode([text]), 1)[0], asked)


def ranked(index: PassageIndex, asked: Query) -> list[tuple[str, float]]:
    ranking = rank(index, asked, default_weights())
    return [(index.passages[row].evidence_id, s) for row, s in zip(ranking.rows, ranking.scores, strict=True)]


@settings(deadline=None)
@given(st.lists(SAID, min_size=1, max_size=8), st.data())
def test_an_index_ranks_after_removal_as_if_the_item_had_never_been_added(
    said: list[tuple[list[str], str, str | None]], data: st.DataObject
) -> None:
    gone = data.draw(st.sets(st.sampled_from(range(len(said)))))
    index = indexed(said, range(len(said)))
    index.remove({f"e{n}" for n in gone})
    fresh = indexed(said, [n for n in range(len(said)) if n not in gone])
    assert ranked(index, query("cat and dog")) == ranked(fresh, query("cat and dog"))
    assert index.evidence_ids() == fresh.evidence_ids()


@given(st.lists(SAID, min_size=1, max_size=8))
def test_the_same_index_ranks_the_same_way_twice(said: list[tuple[list[str], str, str | None]]) -> None:
    numbers = range(len(said))
    first, second = indexed(said, numbers), indexed(said, numbers)
    assert ranked(first, query("cat and dog")) == ranked(second, query("cat and dog"))


def test_equal_scores_are_ordered_by_age() -> None:
    index = PassageIndex(ENCODER.dimensions)
    for n in range(100):
        put(index, n, "cat" if n % 3 else "dog", session=f"s{n}")
    assert [item for item, _ in ranked(index, query("cat"))] == sorted(
        (f"e{n}" for n in range(100)), key=lambda item: (int(item[1:]) % 3 == 0, int(item[1:]))
    )


def test_an_empty_index_ranks_nothing() -> None:
    assert ranked(PassageIndex(ENCODER.dimensions), query("cat")) == []


def feature(index: PassageIndex, asked: Query, name: str) -> list[float]:
    _, table = features(index, asked)
    return [float(value) for value in table[:, FEATURES.index(name)]]


def test_a_neighbour_counts_within_its_session_alone() -> None:
    index = PassageIndex(ENCODER.dimensions)
    for n, (text, session) in enumerate([("cat", "s"), ("eel", "s"), ("bee", "t")]):
        put(index, n, text, session=session)
    assert feature(index, query("cat"), "neighbour") == pytest.approx([0.0, 1.0, 0.0])


def test_a_speaker_named_in_the_query_is_marked() -> None:
    index = PassageIndex(ENCODER.dimensions)
    for n, speaker in enumerate(["Ana Lima", "Ben", None]):
        put(index, n, "cat", speaker=speaker)
    assert feature(index, query("What did ANA see?"), "named") == [1.0, 0.0, 0.0]


def test_a_mark_that_every_passage_bears_tells_nothing() -> None:
    index = PassageIndex(ENCODER.dimensions)
    for n in range(2):
        put(index, n, "cat", speaker="Ana")
    assert feature(index, query("What did Ana see?"), "named") == [0.0, 0.0]


def test_passages_of_the_time_that_the_query_speaks_of_are_marked() -> None:
    index = PassageIndex(ENCODER.dimensions)
    for n, day in enumerate([7, 8, 9]):
        put(index, n, "cat", at=datetime(2023, 5, day, 13))
    put(index, 3, "cat")
    assert feature(index, query("What cat was it yesterday?", date(2023, 5, 9)), "dated") == [0.0, 1.0, 0.0, 0.0]


def test_less_trusted_evidence_ranks_lower_and_is_not_dropped() -> None:
    index = PassageIndex(ENCODER.dimensions)
    put(index, 1, "cat dog", session="s", trust=0.2)
    put(index, 2, "cat dog", session="t")
    assert [item for item, _ in ranked(index, query("cat dog"))] == ["e2", "e1"]


# The prefilter


def test_the_prefilter_finds_what_the_full_scoring_ranks_first(monkeypatch: pytest.MonkeyPatch) -> None:
    index = planted()
    asked = query("Which fox did Ana see?")
    near = ranked(index, asked)
    monkeypatch.setattr(scoring, "PREFILTER", len(index))
    full = ranked(index, asked)
    assert len(near) < len(full) == len(index)
    assert near[0][0] == full[0][0] == "e2500"
    assert [item for item, _ in near[:5]] == [item for item, _ in full[:5]]


def planted() -> PassageIndex:
    """Build 4,000 passages of which one answers, and the one after it shares no word with the question."""
    index = PassageIndex(ENCODER.dimensions)
    for n in range(4000):
        text = f"bee number {n} eel" if n != 2500 else "the fox was red"
        put(index, n, text, slot=n % 4, session=f"s{n // 20}", speaker="Ana" if n % 2 else "Ben")
    return index


def test_the_turn_after_a_hit_passes_the_prefilter_too() -> None:
    index = planted()
    assert "e2501" in {item for item, _ in ranked(index, query("Which fox did Ana see?"))}


# Slots


def test_a_slot_scores_its_best_three_passages_its_prototype_and_its_past() -> None:
    index = PassageIndex(ENCODER.dimensions)
    for n, slot in enumerate([0, 0, 0, 0, 1]):
        put(index, n, f"cat {n}", slot=slot)
    asked = query("cat")
    ranking = rank(index, asked, default_weights())
    prototypes = {0: asked.vector, 1: np.zeros(8, np.float32), 2: np.zeros(8, np.float32)}
    scores = slot_scores(ranking, index.slot.view(), prototypes, asked.vector, {2: 0.25})
    votes = dict(zip((int(row) for row in ranking.rows), ranking.scores, strict=True))
    worst = min(votes.values())
    best_three = sorted((votes[row] for row in range(4)), reverse=True)[:3]
    assert scores[0] == pytest.approx(sum(best_three) / 3 + 1.0, abs=1e-3)
    assert scores[1] == pytest.approx((votes[4] + 2 * worst) / 3, abs=1e-3)
    assert scores[2] == pytest.approx(worst + 0.25, abs=1e-3)
