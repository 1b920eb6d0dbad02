"""Score_theta: BM25 against an oracle, related words, every feature by hand, the prefilter."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from often import often

from demem_agent import Evidence
from demem_agent.encoders import as_matrix
from demem_agent.scoring import (
    FEATURES,
    PassageIndex,
    Query,
    Ranking,
    default_weights,
    feature_table,
    rank,
    slot_scores,
)
from demem_agent.scoring import related as relating
from demem_agent.scoring import score as scoring
from demem_agent.scoring.adequacy import NOTHING
from demem_agent.scoring.features.passage import SHORT
from demem_agent.scoring.lexical import K1, B, LexicalIndex
from demem_agent.scoring.related import RelatedWords
from demem_agent.testing import BagEncoder
from demem_agent.text.language.words import stems

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
        bm25.append(
            sum(idf[w] * (K1 + 1) * counts[w] / (counts[w] + norm) for w in idf if counts[w])
        )
        share.append(sum(idf[w] for w in idf if counts[w]) / max(sum(idf.values()), 1e-9))
    return bm25, share


def lexical(documents: Sequence[list[str]]) -> LexicalIndex:
    index = LexicalIndex()
    for document in documents:
        index.add(document)
    return index


@given(DOCUMENTS, WORDS)
def test_bm25_and_share_are_those_of_the_formula(
    documents: list[list[str]], words: list[str]
) -> None:
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
    # Two rows of two words each: idf = ln(1 + 1.5 / 1.5) = ln 2; count 1, length as the mean: 2.2 /
    # 2.2 = 1.
    bm25, share = lexical([["cat", "dog"], ["bee", "ant"]]).scores(["cat"])
    assert bm25 == pytest.approx([math.log(2), 0.0])
    assert share == pytest.approx([1.0, 0.0])


def test_bm25_knows_the_words_that_some_row_holds() -> None:
    index = lexical([["cat"], ["dog"]])
    index.keep(np.array([False, True]))
    assert (index.holds("cat"), index.holds("dog"), index.holds("eel")) == (False, True, False)


# Related words

FORMS = "bread baked baking bakes oven loaf cat cats dog running runs Lisbon".split()
STRANGE = ["z" * 101, "q" * 101]  # too long for any word piece: words without a vector
PASSAGES = st.lists(st.lists(st.sampled_from(FORMS + STRANGE), max_size=6), min_size=1, max_size=8)
ASKED = st.lists(st.sampled_from([*FORMS, *STRANGE, "pastry"]), min_size=1, max_size=5, unique=True)


def test_a_number_is_met_by_itself_alone() -> None:
    index = RelatedWords()
    index.add(["compute", "77"], ["compute", "77"])
    index.add(["compute", "78"], ["compute", "78"])
    near = index.matches(["77"], ["77"], np.arange(2))
    assert near.tolist() == [[1.0, 0.0]]


def related(passages: Sequence[list[str]]) -> RelatedWords:
    index = RelatedWords()
    for forms in passages:
        index.add(stems(forms), forms)
    return index


def matched(index: RelatedWords, asked: list[str], rows: Sequence[int]) -> np.ndarray:
    return index.matches(stems(asked), asked, np.array(rows, np.intp))


def test_the_same_word_in_any_form_matches_fully() -> None:
    index = related([["baked"], ["cat", "baking"], ["cat"]])
    assert matched(index, ["bakes"], [0, 1, 2])[0, :2] == pytest.approx([1.0, 1.0])
    assert matched(index, ["bakes"], [0, 1, 2])[0, 2] < 0.5


def test_a_related_word_is_nearer_than_another() -> None:
    (oven, cat), (oven_to_dog, cat_to_dog) = matched(
        related([["oven"], ["cat"]]), ["baked", "dog"], [0, 1]
    )
    assert 1.0 > oven > cat >= 0.0
    assert 1.0 > cat_to_dog > oven_to_dog >= 0.0


def test_a_word_of_another_language_is_near_what_means_the_same() -> None:
    car, cat, asked = "\0auto", "\0katze", "car"
    index = RelatedWords()
    for forms in ([car], [cat], [asked]):
        index.add(forms, forms)
    (near_car, near_cat, same) = index.matches([asked], [asked], np.arange(3))[0].tolist()
    assert same == 1.0 > near_car > near_cat
    few = index.few_matches([asked], [asked], np.array([1, 0]))[0].tolist()
    assert few == pytest.approx([near_cat, near_car], abs=1e-6)


def test_english_words_are_near_as_without_others() -> None:
    alone = matched(related([["oven"], ["cat"]]), ["baked"], [0, 1])
    index = related([["oven"], ["cat"]])
    index.add(["\0katze"], ["\0katze"])
    assert matched(index, ["baked"], [0, 1]).tolist() == alone.tolist()


def test_a_passage_is_as_near_as_its_nearest_word() -> None:
    alone = matched(related([["oven"], ["cat"], ["dog"]]), ["baked"], [0, 1, 2])
    together = matched(related([["cat", "oven", "dog"]]), ["baked"], [0])
    assert together[0, 0] == pytest.approx(float(alone.max()), abs=1e-6)


def test_a_long_passage_is_as_near_as_the_nearest_of_its_words() -> None:
    lengths = (0, 1, 16, 17, 32, 33, 100)
    passages = [[FORMS[(n * n + length) % len(FORMS)] for n in range(length)] for length in lengths]
    near = matched(related(passages), ["oven", "baked"], range(len(passages)))
    alone = matched(related([[form] for form in FORMS]), ["oven", "baked"], range(len(FORMS)))
    for nth, forms in enumerate(passages):
        of_words = alone[:, [FORMS.index(form) for form in forms]]
        expected = of_words.max(axis=1, initial=0.0)
        assert near[:, nth] == pytest.approx(expected, abs=1e-6)


def test_a_word_without_a_vector_is_near_to_itself_alone() -> None:
    known, strange = matched(
        related([["bread"], [STRANGE[0]], [STRANGE[1]]]), ["bread", STRANGE[0]], [0, 1, 2]
    )
    assert known.tolist() == [1.0, 0.0, 0.0]
    assert strange.tolist() == [0.0, 1.0, 0.0]


def test_a_passage_without_words_is_near_to_nothing() -> None:
    assert matched(related([[], ["bread"], []]), ["bread"], [0, 1, 2]).tolist() == [[0.0, 1.0, 0.0]]
    assert matched(related([[], []]), ["bread"], [0, 1]).tolist() == [[0.0, 0.0]]
    assert matched(related([["bread"]]), [], [0]).shape == (0, 1)


@settings(max_examples=often(30), deadline=None)
@given(PASSAGES, ASKED)
def test_nearness_is_a_share(passages: list[list[str]], asked: list[str]) -> None:
    near = matched(related(passages), asked, range(len(passages)))
    assert near.shape == (len(asked), len(passages))
    assert ((near >= 0.0) & (near <= 1.0)).all()


@settings(max_examples=often(30), deadline=None)
@given(PASSAGES, ASKED, st.data())
def test_passages_removed_are_as_if_never_added(
    passages: list[list[str]], asked: list[str], data: st.DataObject
) -> None:
    kept = data.draw(st.lists(st.booleans(), min_size=len(passages), max_size=len(passages)))
    index = related(passages)
    if data.draw(st.booleans()):
        matched(index, asked, range(len(passages)))  # its words are encoded at the first question
    index.keep(np.array(kept, np.bool_))
    left = [forms for forms, stays in zip(passages, kept, strict=True) if stays]
    found, fresh = (matched(x, asked, range(len(left))) for x in (index, related(left)))
    assert found.tobytes() == fresh.tobytes()


def test_a_form_that_only_a_removed_passage_had_is_gone() -> None:
    index = related([["baking"], ["baked"]])
    matched(index, ["oven"], [0, 1])
    index.keep(np.array([False, True]))
    assert (
        matched(index, ["oven"], [0]).tolist()
        == matched(related([["baked"]]), ["oven"], [0]).tolist()
    )
    assert "baking" not in repr(vars(index))


def test_passages_can_be_added_after_a_removal() -> None:
    index = related([["bread"], ["cat"]])
    index.keep(np.array([False, True]))
    index.add(["dog"], ["dog"])
    fresh = related([["cat"], ["dog"]])
    assert (
        matched(index, ["bread", "dog"], [0, 1]).tolist()
        == matched(fresh, ["bread", "dog"], [0, 1]).tolist()
    )


@settings(max_examples=often(30), deadline=None)
@given(PASSAGES, ASKED)
def test_questions_between_additions_change_nothing(
    passages: list[list[str]], asked: list[str]
) -> None:
    index = RelatedWords()
    for n, forms in enumerate(passages):
        index.add(stems(forms), forms)
        near = matched(index, asked, range(n + 1))
    np.testing.assert_array_equal(near, matched(related(passages), asked, range(len(passages))))


@settings(max_examples=often(30), deadline=None)
@given(PASSAGES, ASKED, st.data())
def test_some_passages_are_matched_as_among_all(
    passages: list[list[str]], asked: list[str], data: st.DataObject
) -> None:
    rows = sorted(data.draw(st.sets(st.sampled_from(range(len(passages))))))
    index = related(passages)
    np.testing.assert_array_equal(
        matched(index, asked, rows),
        matched(index, asked, range(len(passages)))[:, np.array(rows, np.intp)],
    )


@pytest.mark.parametrize("size", [1, 96 * 3, 96 * 7, 1 << 12, 1 << 30])
def test_the_size_of_a_product_changes_nothing(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    index = related([[*FORMS[n % 7 :: 3], f"word{n}"] for n in range(40)])
    whole = matched(index, FORMS, range(40))
    monkeypatch.setattr(relating, "_PRODUCT", size)
    np.testing.assert_allclose(matched(index, FORMS, range(40)), whole, atol=1e-6)


# Passages

SAID = st.tuples(
    WORDS.filter(bool), st.sampled_from(["s", "t"]), st.sampled_from([None, "Ana", "user"])
)


def put(index: PassageIndex, number: int, *texts: str, slot: int = 0, **fields: object) -> Evidence:
    """Add an item with a passage for each text."""
    item = Evidence(f"e{number}", " ".join(texts), **fields)  # type: ignore[arg-type]  # each test names fields that exist
    ends = np.cumsum([len(text) + 1 for text in texts]) - 1
    spans = [(int(end) - len(text), int(end)) for text, end in zip(texts, ends, strict=True)]
    index.add(item, spans, as_matrix(ENCODER.encode(list(texts)), len(texts)), slot)
    return item


def indexed(
    said: Sequence[tuple[list[str], str, str | None]], numbers: Sequence[int]
) -> PassageIndex:
    index = PassageIndex(ENCODER.dimensions)
    for n in numbers:
        words, session, speaker = said[n]
        put(index, n, " ".join(words), session=session, speaker=speaker)
    return index


def query(text: str, asked: date | None = None) -> Query:
    return Query(text, as_matrix(ENCODER.encode([text]), 1)[0], asked)


def ranked(index: PassageIndex, asked: Query) -> list[tuple[str, float]]:
    ranking = rank(index, asked, default_weights())
    return [
        (index.passages[row].evidence_id, s)
        for row, s in zip(ranking.rows, ranking.scores, strict=True)
    ]


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
def test_the_same_index_ranks_the_same_way_twice(
    said: list[tuple[list[str], str, str | None]],
) -> None:
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
    _, table = feature_table(index, asked)
    return [float(value) for value in table[:, FEATURES.index(name)]]


# What any conversation may hold: several passages an item, times, numbers, names, no date, no
# session, no word at all.
TURNS = st.lists(
    st.tuples(
        st.lists(
            st.sampled_from(
                [
                    "Ana baked bread.",
                    "we met Rex in Lisbon",
                    "7 loaves, yesterday?",
                    "!!",
                    "a cat, baking",
                ]
            ),
            min_size=1,
            max_size=3,
        ),
        st.sampled_from(["s", "t", None]),
        st.sampled_from([None, "Ana", "user", "Ben\n# x"]),
        st.sampled_from([None, datetime(2023, 5, 8), datetime.min, datetime.max]),
    ),
    min_size=1,
    max_size=8,
)
QUESTIONS = st.sampled_from(
    [
        "How many loaves were baked in the past week?",
        "When did Ana bake?",
        "Where did Rex go?",
        "what did you say?",
        "?",
    ]
)
Turns = list[tuple[list[str], str | None, str | None, datetime | None]]


def holding(
    turns: Turns, numbers: Sequence[int], index: PassageIndex | None = None
) -> PassageIndex:
    index = PassageIndex(ENCODER.dimensions) if index is None else index
    for n in numbers:
        texts, session, speaker, at = turns[n]
        put(index, n, *texts, session=session, speaker=speaker, at=at)
    return index


@settings(max_examples=often(30), deadline=None)
@given(TURNS, QUESTIONS, st.data())
def test_the_features_after_removal_are_as_if_the_items_had_never_been_added(
    turns: Turns, text: str, data: st.DataObject
) -> None:
    gone = data.draw(st.sets(st.sampled_from(range(len(turns))), max_size=len(turns) - 1))
    index, left = holding(turns, range(len(turns))), [n for n in range(len(turns)) if n not in gone]
    if data.draw(st.booleans()):
        feature_table(index, query(text))
    index.remove({f"e{n}" for n in gone})
    for found, fresh in zip(
        feature_table(index, query(text)),
        feature_table(holding(turns, left), query(text)),
        strict=True,
    ):
        assert found.tobytes() == fresh.tobytes()


@settings(max_examples=often(30), deadline=None)
@given(TURNS, QUESTIONS, st.data())
def test_the_features_do_not_depend_on_when_they_were_asked_for_before(
    turns: Turns, text: str, data: st.DataObject
) -> None:
    index = PassageIndex(ENCODER.dimensions)
    for n in range(len(turns)):
        holding(turns, [n], index)
        if data.draw(st.booleans()):
            feature_table(index, query("bread and cats"))
    for found, fresh in zip(
        feature_table(index, query(text)),
        feature_table(holding(turns, range(len(turns))), query(text)),
        strict=True,
    ):
        np.testing.assert_array_equal(found, fresh)


@settings(max_examples=often(30), deadline=None)
@given(TURNS, QUESTIONS, st.none() | st.dates() | st.sampled_from([date.min, date.max]))
def test_features_are_finite_whatever_is_asked_and_whenever(
    turns: Turns, text: str, asked: date | None
) -> None:
    rows, table = feature_table(holding(turns, range(len(turns))), query(text, asked))
    assert rows.tolist() == list(range(sum(len(texts) for texts, *_ in turns)))
    assert table.shape == (len(rows), len(FEATURES))
    assert np.isfinite(table).all()


@pytest.mark.parametrize(
    "text",
    [
        "?",
        "🎂",
        "who is who",
        "x" * 400,
        "the past two weeks",
        "हिन्दी",
        "\x00",
        " ".join(f"w{n}" for n in range(99)),
    ],
)
def test_a_query_that_meets_no_word_still_ranks_every_passage(text: str) -> None:
    index = PassageIndex(ENCODER.dimensions)
    for n, said in enumerate(["cat and dog", "!!", "字字"]):
        put(index, n, said)
    assert sorted(item for item, _ in ranked(index, query(text))) == ["e0", "e1", "e2"]


# Each feature by hand. One of two passages bears on the query: it is one standard deviation above
# the mean in both parts of the hybrid score, and the other is as far below it.
HYBRID = 1.0 + 0.6


def pair(*sessions: str) -> PassageIndex:
    index = PassageIndex(ENCODER.dimensions)
    for n, (text, session) in enumerate(zip(["cat", "eel"], sessions, strict=True)):
        put(index, n, text, session=session)
    return index


def test_related_is_the_share_of_the_idf_mass_that_is_met() -> None:
    # ln(1 + 2.5 / 1.5) for a word of one of the three passages, ln(1 + 1.5 / 2.5) for one of two,
    # and half of ln(1 + 3.5 / 0.5) for one of none. The words have no vectors, so that they meet
    # themselves alone.
    rare, common, unknown = "z" * 101, "q" * 101, "y" * 101
    index = PassageIndex(ENCODER.dimensions)
    for n, text in enumerate([common, f"{rare} {common}", "!"]):
        put(index, n, text)
    one, two, none = math.log(8 / 3), math.log(1.6), math.log(8) / 2
    mass = one + two + none
    for asked in (
        f"{rare} {common} {unknown}",
        f"{common} {unknown} {rare}",
        f"{unknown} {common} {rare}",
    ):
        assert feature(index, query(asked), "related") == pytest.approx(
            [two / mass, (one + two) / mass, 0.0]
        )


def test_related_looks_at_the_rarest_words_of_a_long_query() -> None:
    index = PassageIndex(ENCODER.dimensions)
    common = [f"{n:02}" * 60 for n in range(30)]
    for n in range(3):
        put(index, n, " ".join(common) if n else "z" * 101)
    assert feature(index, query(" ".join([*common, "z" * 101])), "related")[0] > 1 / 24
    assert feature(index, query(" ".join(["z" * 101, *common])), "related")[0] > 1 / 24
    assert feature(index, query(" ".join(common)), "related") == pytest.approx([0.0, 1.0, 1.0])


def test_related_meets_other_forms_and_related_words() -> None:
    index = PassageIndex(ENCODER.dimensions)
    for n, text in enumerate(["Ana baked it", "an oven", "a cat"]):
        put(index, n, text)
    baked, oven, cat = feature(index, query("bakes"), "related")
    assert baked == pytest.approx(1.0)
    assert baked > oven > cat


def test_the_passage_before_and_the_one_after_count_within_the_session() -> None:
    assert feature(pair("s", "s"), query("cat"), "before") == pytest.approx([0.0, HYBRID])
    assert feature(pair("s", "s"), query("cat"), "after") == pytest.approx([-HYBRID, 0.0])
    assert feature(pair("s", "t"), query("cat"), "before") == [0.0, 0.0]
    assert feature(pair("s", "t"), query("cat"), "after") == [0.0, 0.0]


def test_a_session_counts_by_its_best_passage() -> None:
    assert feature(pair("s", "s"), query("cat"), "session") == pytest.approx([HYBRID, HYBRID])
    assert feature(pair("s", "t"), query("cat"), "session") == pytest.approx([HYBRID, -HYBRID])


def test_a_passage_is_as_far_behind_as_the_best_of_its_item_is_ahead() -> None:
    index = PassageIndex(ENCODER.dimensions)
    put(index, 1, "cat", "eel")
    assert feature(index, query("cat"), "behind") == pytest.approx([0.0, 2 * HYBRID])
    assert feature(pair("s", "s"), query("cat"), "behind") == [0.0, 0.0]


def test_the_coverage_is_that_of_all_passages_of_a_session_together() -> None:
    index = PassageIndex(ENCODER.dimensions)
    for n, (text, session) in enumerate([("cat", "s"), ("dog", "s"), ("eel", "s"), ("cat", "t")]):
        put(index, n, text, session=session)
    cat, dog, fox = math.log(1 + 2.5 / 2.5), math.log(1 + 3.5 / 1.5), math.log(1 + 4.5 / 0.5)
    covered = [(cat + dog) / (cat + dog + fox)] * 3 + [cat / (cat + dog + fox)]
    assert feature(index, query("cat dog fox dog"), "coverage") == pytest.approx(covered)


@pytest.mark.parametrize(
    ("name", "asks", "does_not"),
    [
        ("timed", "When did it happen?", "What happened?"),
        ("counted", "How many were there?", "What were they?"),
        ("names", "Who was there?", "What was there?"),
    ],
)
def test_the_kind_that_is_asked_for_is_marked(name: str, asks: str, does_not: str) -> None:
    index = PassageIndex(ENCODER.dimensions)
    put(index, 0, "we met Rex, Bella, Ana and Ben", at=datetime(2023, 5, 8))
    put(index, 1, "it was yesterday", at=datetime(2023, 5, 8))
    put(index, 2, "several of us, at 7")
    put(index, 3, "it was yesterday")  # nobody knows which day that was
    expected = {"timed": [0, 1, 0, 0], "counted": [0, 0, 1, 0], "names": [3, 0, 0, 0]}
    assert feature(index, query(asks), name) == expected[name]
    assert feature(index, query(does_not), name) == [0, 0, 0, 0]


def test_passages_of_a_running_time_are_marked() -> None:
    index = PassageIndex(ENCODER.dimensions)
    for n, day in enumerate([1, 2, 8, 9, 10]):
        put(index, n, "cat", at=datetime(2023, 5, day, 13))
    put(index, 5, "cat")
    assert feature(index, query("Which cat, in the past week?", date(2023, 5, 9)), "dated") == [
        0,
        1,
        1,
        1,
        0,
        0,
    ]
    assert feature(index, query("Which cat, in the past week?"), "dated") == [0, 0, 0, 0, 0, 0]


def test_a_memory_without_dates_marks_none() -> None:
    index = pair("s", "t")
    assert feature(index, query("cat in May, or on 7 May 2023?", date.min), "dated") == [0.0, 0.0]
    assert feature(index, query("cat in May, or on 7 May 2023?"), "dated") == [0.0, 0.0]


def test_what_the_user_said_is_marked_unless_the_reply_is_asked_for() -> None:
    index = PassageIndex(ENCODER.dimensions)
    for n, speaker in enumerate(["user", "assistant"]):
        put(index, n, "cat", speaker=speaker)
    said, replied = feature(index, query("Which cat?"), "user")
    assert said > 0.9
    assert replied == 0.0
    said, replied = feature(index, query("Which cat did you recommend?"), "user")
    assert said < 0.1
    assert replied == 0.0


def test_what_an_assistant_said_is_marked_as_far_as_the_reply_is_asked_for() -> None:
    index = PassageIndex(ENCODER.dimensions)
    for n, speaker in enumerate(["user", "assistant"]):
        put(index, n, "cat", speaker=speaker)
    said, replied = feature(index, query("Which cat?"), "model")
    assert said == 0.0
    assert replied < 0.1
    said, replied = feature(index, query("Which cat did you recommend?"), "model")
    assert said == 0.0
    assert replied > 0.9


def test_a_reply_counts_by_what_was_asked_right_before_it() -> None:
    index = PassageIndex(ENCODER.dimensions)
    texts = [("user", "a cat?"), ("assistant", "yes"), ("user", "rain"), ("assistant", "no")]
    for n, (speaker, text) in enumerate(texts):
        put(index, n, text, speaker=speaker, session="s")
    found = feature(index, query("Which cat did you recommend?"), "model_replies")
    assert found[1] > 0.0
    assert found[1] > found[3]
    assert found[0] == found[2] == 0.0


def test_who_talks_with_an_assistant_under_a_name_is_on_the_human_side() -> None:
    index = PassageIndex(ENCODER.dimensions)
    for n, speaker in enumerate(["Ana", "assistant", "Ben", "correction", None]):
        put(index, n, "cat", speaker=speaker)
    found = feature(index, query("Which cat?"), "user")
    assert [value > 0.9 for value in found] == [True, False, True, False, False]
    assert max(feature(index, query("Which cat did you recommend?"), "user")) < 0.1


def test_where_no_assistant_talks_a_name_is_no_user() -> None:
    index = PassageIndex(ENCODER.dimensions)
    for n, speaker in enumerate(["Ana", "Ben"]):
        put(index, n, "cat", speaker=speaker)
    assert feature(index, query("Which cat?"), "user") == [0.0, 0.0]


@pytest.mark.parametrize("words", ["Which cat?", "Which cat did you recommend?"])
def test_what_the_only_user_of_a_chat_is_called_changes_no_score(words: str) -> None:
    scores: list[list[float]] = []
    for name in ("user", "Ana"):
        index = PassageIndex(ENCODER.dimensions)
        for n, speaker in enumerate([name, "assistant"]):
            put(index, n, "cat", speaker=speaker)
        for asker in (None, name):
            asked = replace(query(words), asker=asker)
            scores.append([score for _, score in ranked(index, asked)])
    assert all(other == scores[0] for other in scores)


def test_what_the_asker_said_is_marked_among_people_alone() -> None:
    index = PassageIndex(ENCODER.dimensions)
    for n, speaker in enumerate(["Ana", "assistant", "Ben"]):
        put(index, n, "cat", speaker=speaker)
    asked = replace(query("Which cat?"), asker="ana")
    assert feature(index, asked, "own") == [1.0, 0.0, 0.0]
    asked = replace(query("Which cat did you recommend?"), asker="ana")
    assert feature(index, asked, "own") == [0.0, 0.0, 0.0]


def test_the_frame_of_a_question_is_looked_for_nowhere() -> None:
    index = PassageIndex(ENCODER.dimensions)
    for n, text in enumerate(["many times, different kinds", "cat"]):
        put(index, n, text)
    assert feature(index, query("How many different kinds of cat?"), "share") == [0.0, 1.0]


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


def test_an_article_does_not_name_a_speaker() -> None:
    index = PassageIndex(ENCODER.dimensions)
    for n, speaker in enumerate(["the dealer", "Ana"]):
        put(index, n, "cat", speaker=speaker)
    assert feature(index, query("What did the boss see?"), "named") == [0.0, 0.0]
    assert feature(index, query("What did a dealer see?"), "named") == [1.0, 0.0]


def test_a_mark_that_every_passage_bears_tells_nothing() -> None:
    index = PassageIndex(ENCODER.dimensions)
    for n in range(2):
        put(index, n, "cat", speaker="Ana")
    assert feature(index, query("What did Ana see?"), "named") == [0.0, 0.0]


def two_turns_and_another_session() -> PassageIndex:
    """Make an index of a turn of two passages, one of one that follows, and one of another day."""
    index = PassageIndex(ENCODER.dimensions)
    put(index, 0, "cat", "eel", session="s", speaker="Ana")
    put(index, 1, "bee", session="s", speaker="Ben")
    put(index, 2, "cat", session="t", speaker="Ana")
    return index


def test_all_passages_of_a_turn_share_what_the_turn_holds_of_a_query() -> None:
    held = feature(two_turns_and_another_session(), query("cat"), "turn_share")
    assert held == pytest.approx([1.0, 1.0, 0.0, 1.0])


def test_the_first_passage_of_a_turn_opens_it() -> None:
    opens = feature(two_turns_and_another_session(), query("cat"), "opens")
    assert opens == [1.0, 0.0, 1.0, 1.0]


def test_the_length_of_a_turn_is_that_of_all_its_passages() -> None:
    length = feature(two_turns_and_another_session(), query("cat"), "turn_length")
    assert length == pytest.approx([math.log1p(SHORT / 50)] * 4, abs=1e-6)
    index = PassageIndex(ENCODER.dimensions)
    put(index, 0, "cat" * 40, "eel" * 60)
    length = feature(index, query("cat"), "turn_length")
    assert length == pytest.approx([math.log1p(300 / 50)] * 2, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "of"), [("turn_before", [None, None, 0, None]), ("turn_after", [1, 1, None, None])]
)
def test_turns_beside_a_turn_count_within_its_session_alone(
    name: str, of: list[int | None]
) -> None:
    index = two_turns_and_another_session()
    cosine, bm25 = (feature(index, query("cat"), one) for one in ("cosine", "bm25"))
    hybrid = [a + 0.6 * b for a, b in zip(cosine, bm25, strict=True)]
    best = [max(hybrid[:2]), hybrid[2], hybrid[3]]
    wanted = [0.0 if turn is None else best[turn] for turn in of]
    assert feature(index, query("cat"), name) == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize(
    ("asked", "speaker", "counts"),
    [("cat?", "Ben", True), ("cat.", "Ben", False), ("cat?", "Ana", False)],
)
def test_a_reply_counts_by_the_question_of_somebody_else(
    asked: str, speaker: str, counts: bool
) -> None:
    index = PassageIndex(ENCODER.dimensions)
    put(index, 0, asked, session="s", speaker="Ana")
    put(index, 1, "super good", session="s", speaker=speaker)
    put(index, 2, "bee", session="s", speaker="Ana")
    found = feature(index, query("cat"), "replies")
    assert (found[1] > 0) == counts
    assert found[0] == found[2] == 0.0


def test_passages_of_the_time_that_the_query_speaks_of_are_marked() -> None:
    index = PassageIndex(ENCODER.dimensions)
    for n, day in enumerate([7, 8, 9]):
        put(index, n, "cat", at=datetime(2023, 5, day, 13))
    put(index, 3, "cat")
    assert feature(index, query("What cat was it yesterday?", date(2023, 5, 9)), "dated") == [
        0.0,
        1.0,
        0.0,
        0.0,
    ]


def test_less_trusted_evidence_ranks_lower_and_is_not_dropped() -> None:
    index = PassageIndex(ENCODER.dimensions)
    put(index, 1, "cat dog", session="s", trust=0.2)
    put(index, 2, "cat dog", session="t")
    assert [item for item, _ in ranked(index, query("cat dog"))] == ["e2", "e1"]


# The prefilter


def test_the_prefilter_finds_what_the_full_scoring_ranks_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    index = planted()
    asked = query("Which fox did Ana see?")
    near = ranked(index, asked)
    monkeypatch.setattr(scoring, "PREFILTER", len(index))
    full = ranked(index, asked)
    assert len(near) < len(full) == len(index)
    assert near[0][0] == full[0][0] == "e2500"
    assert [item for item, _ in near[:5]] == [item for item, _ in full[:5]]


@cache
def planted() -> PassageIndex:
    """Build 4,000 passages of which one answers.

    The one after it shares no word with the question.
    """
    index = PassageIndex(ENCODER.dimensions)
    for n in range(4000):
        text = f"bee number {n} eel" if n != 2500 else "the fox was red"
        put(index, n, text, slot=n % 4, session=f"s{n // 20}", speaker="Ana" if n % 2 else "Ben")
    return index


def test_the_prefilter_changes_no_feature_that_is_of_a_passage_and_its_neighbours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    index, asked = planted(), query("When did Ana see how many foxes and eels?")
    chosen, some = feature_table(index, asked)
    monkeypatch.setattr(scoring, "PREFILTER", len(index))
    every, full = feature_table(index, asked)
    assert 2000 <= len(chosen) <= 2000 + 2 * scoring.NEIGHBOURED < len(every) == len(index)
    assert (np.diff(chosen) > 0).all()
    # How far the best of a session or an item is ahead is told among the passages that were chosen.
    same = [n for n, name in enumerate(FEATURES) if name not in ("session", "behind")]
    np.testing.assert_allclose(some[:, same], full[chosen][:, same], atol=1e-6)


def test_the_turn_after_a_hit_passes_the_prefilter_too() -> None:
    index = planted()
    assert "e2501" in {item for item, _ in ranked(index, query("Which fox did Ana see?"))}


def test_the_very_first_turn_passes_the_prefilter_beside_a_hit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    index = PassageIndex(ENCODER.dimensions)
    for n, text in enumerate(["bee", "fox", "eel", "ant", "hen"], start=1):
        put(index, n, text)
    monkeypatch.setattr(scoring, "PREFILTER", 2)
    monkeypatch.setattr(scoring, "NEIGHBOURED", 1)
    rows, _ = feature_table(index, query("fox"))
    assert {0, 1, 2} <= set(rows.tolist())


# Slots


def test_a_slot_scores_the_mass_of_its_passages_its_prototype_and_its_past() -> None:
    rows, scores = np.array([3, 0, 1]), np.log([4.0, 2.0, 1.0])
    ranking = Ranking(rows, scores, NOTHING)
    asked = np.array([1.0, 0.0], np.float32)
    prototypes = {0: np.zeros(2, np.float32), 1: np.array([0.5, 0.5], np.float32), 4: asked}
    found = slot_scores(ranking, np.array([0, 0, 4, 1], np.int32), prototypes, asked, {0: 0.25})
    assert found[0] == pytest.approx(math.log(2 + 1) + 0.25, abs=1e-4)
    assert found[1] == pytest.approx(math.log(4) + 0.5, abs=1e-4)
    assert found[4] < min(found[0], found[1])


@given(st.lists(st.tuples(st.floats(-900, 900), st.integers(0, 3)), max_size=8))
def test_slot_scores_are_finite_however_far_apart_passages_are(
    scored: list[tuple[float, int]],
) -> None:
    scored = sorted(scored, reverse=True)
    ranking = Ranking(
        np.arange(len(scored)), np.array([score for score, _ in scored], np.float64), NOTHING
    )
    vector = np.zeros(2, np.float32)
    prototypes = dict.fromkeys(range(4), vector)
    found = slot_scores(
        ranking, np.array([slot for _, slot in scored], np.int32), prototypes, vector, {}
    )
    assert all(map(math.isfinite, found.values()))
