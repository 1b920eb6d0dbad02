"""A question is known again among the decisions of whoever asks, under the conditions that hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from often import often

from demem_agent.scoring.index import PassageIndex
from demem_agent.slots.ragged import NOTHING, Ragged
from demem_agent.slots.recognition import FARTHEST, KNOWN, UNTOLD, Asked, Decisions, _Question
from demem_agent.slots.records import StoredContext, Vector
from demem_agent.testing import BagEncoder
from demem_agent.types import Context, Evidence, Verdict

ENCODER = BagEncoder()
#: What is remembered; each line is one item, e1 and so on.
LINES = (
    "I like the seat heating at three",
    "Please play some jazz in the morning",
    "Take the motorway to the office",
    "The window must stay shut in the tunnel",
)
#: The question that each line is right for, and the same in other words.
QUESTIONS = (
    "How warm should the seat heating be?",
    "Which music should play in the morning?",
    "Which road leads to the office?",
    "May the window be open in the tunnel?",
)
OTHER_WORDS = (
    "What level has the seat heating now?",
    "Please put on morning music",
    "What road do I take to the office?",
    "Should I shut the window before the tunnel?",
)


def vector(text: str) -> Vector:
    row: Vector = ENCODER.encode([text])[0]
    return row / np.linalg.norm(row)


def index_of(lines: Sequence[str] = LINES) -> PassageIndex:
    index = PassageIndex(ENCODER.dimensions)
    for n, line in enumerate(lines, 1):
        index.add(Evidence(f"e{n}", line), ((0, len(line)),), vector(line)[np.newaxis], 0)
    return index


INDEX = index_of()


def right(line: int) -> tuple[Verdict, ...]:
    return ((f"e{line + 1}", 0, len(LINES[line]), 6.0),)


def decision(
    number: int,
    line: int,
    asker: str | None = None,
    conditions: tuple[str, ...] = (),
    query: str | None = None,
) -> StoredContext:
    """Return a context in which a line proved right."""
    text = QUESTIONS[line] if query is None else query
    context = Context(f"a{number}", text, None, 0, "", (), asker=asker, conditions=conditions)
    return StoredContext(replace(context, verdicts=right(line)), vector(text))


def decisions_of(*rows: StoredContext) -> Decisions:
    decisions = Decisions()
    for stored in rows:
        decisions.put(stored)
    return decisions


def known(
    decisions: Decisions, text: str, asker: str | None = None, *conditions: str
) -> dict[str, float]:
    asked = Asked(text, asker, frozenset(conditions))
    found = decisions.recognised(asked, INDEX)
    return {one.id: one.probability for one in found}


def test_the_same_question_by_the_same_asker_is_known_nearly_surely() -> None:
    decisions = decisions_of(*(decision(n + 1, n, "Ben") for n in range(4)))
    for n, question in enumerate(QUESTIONS):
        found = known(decisions, question, "Ben")
        assert list(found) == [f"a{n + 1}"]
        assert found[f"a{n + 1}"] > 0.99


def test_it_is_known_in_other_words() -> None:
    decisions = decisions_of(*(decision(n + 1, n, "Ben") for n in range(4)))
    for n, question in enumerate(OTHER_WORDS):
        asked = Asked(question, "Ben")
        best_of_all = np.zeros(len(INDEX))
        found = decisions.recognised(asked, INDEX, best_of_all)
        assert [one.id for one in found] == [f"a{n + 1}"]


def test_it_is_known_with_a_word_misspelled() -> None:
    decisions = decisions_of(*(decision(n + 1, n, "Ben") for n in range(4)))
    right, wrong = "Which music in the morning", "Which music in the mornng"
    assert known(decisions, right, "Ben") == known(decisions, wrong, "Ben")
    assert set(known(decisions, right, "Ben")) == {"a2"}


def test_a_question_that_was_misspelled_is_known_when_it_is_misspelled_again() -> None:
    asked = "Which music shuold play in the mornng?"
    context = decision(1, 1, "Ben")
    misspelled = replace(context, context=replace(context.context, query=asked))
    assert known(decisions_of(misspelled), asked, "Ben")["a1"] > 0.99


def test_what_another_one_asked_is_not_known() -> None:
    decisions = decisions_of(*(decision(n + 1, n, "Ben") for n in range(4)))
    assert known(decisions, QUESTIONS[0], "Ana") == {}
    assert known(decisions, QUESTIONS[0]) == {}


def test_what_nobody_in_particular_asked_is_known_for_everybody() -> None:
    decisions = decisions_of(decision(1, 0), decision(2, 1, "Ben"))
    assert list(known(decisions, QUESTIONS[0], "Ana")) == ["a1"]
    assert list(known(decisions, QUESTIONS[0])) == ["a1"]


def test_the_askers_own_decisions_come_alone() -> None:
    decisions = decisions_of(decision(1, 0), decision(2, 0, "Ben"), decision(3, 1))
    assert list(known(decisions, QUESTIONS[0], "Ben")) == ["a2"]


def test_what_others_settled_is_told_apart() -> None:
    decisions = decisions_of(decision(1, 0), decision(2, 0, "Ben"), decision(3, 0, "Ana"))
    asked = Asked(QUESTIONS[0], "Ana")
    assert [one.id for one in decisions.of_others(asked, INDEX)] == ["a2"]
    assert decisions.of_others(replace(asked, asker=None), INDEX) == []


def test_an_unrelated_question_is_not_known() -> None:
    decisions = decisions_of(*(decision(n + 1, n) for n in range(4)))
    assert known(decisions, "Who won the football match?") == {}


def test_a_decision_does_not_count_where_one_of_its_conditions_does_not_hold() -> None:
    decisions = decisions_of(decision(1, 0, "Ben", ("dark", "rain")), decision(2, 1, "Ben"))
    assert known(decisions, QUESTIONS[0], "Ben") == {}
    assert known(decisions, QUESTIONS[0], "Ben", "rain") == {}
    assert list(known(decisions, QUESTIONS[0], "Ben", "rain", "dark", "cold")) == ["a1"]


def test_of_two_whose_conditions_hold_the_more_specific_one_wins() -> None:
    plain = decision(1, 0, "Ben")
    wet = decision(2, 0, "Ben", ("rain",))
    decisions = decisions_of(plain, wet)
    assert list(known(decisions, QUESTIONS[0], "Ben", "rain")) == ["a2"]
    assert list(known(decisions, QUESTIONS[0], "Ben")) == ["a1"]


def test_two_with_conditions_of_which_neither_is_more_specific_both_count() -> None:
    decisions = decisions_of(
        decision(1, 0, "Ben", ("rain",)), decision(2, 0, "Ben", ("dark",)), decision(3, 1, "Ben")
    )
    assert set(known(decisions, QUESTIONS[0], "Ben", "dark", "rain")) == {"a1", "a2"}


def test_a_context_of_which_nothing_was_told_teaches_nothing() -> None:
    stored = decision(1, 0)
    silent = replace(stored, context=replace(stored.context, verdicts=()))
    decisions = decisions_of(silent, decision(2, 1))
    assert known(decisions, QUESTIONS[0]) == {}
    decisions.put(stored)
    assert list(known(decisions, QUESTIONS[0])) == ["a1"]
    decisions.put(silent)
    assert known(decisions, QUESTIONS[0]) == {}


def test_a_context_whose_question_is_forgotten_is_not_known() -> None:
    stored = decision(1, 0)
    decisions = decisions_of(stored, decision(2, 1))
    decisions.put(replace(stored, context=replace(stored.context, query="")))
    assert known(decisions, QUESTIONS[0]) == {}
    assert decisions.teaching(None) == [1]


def test_no_word_of_a_forgotten_question_is_left() -> None:
    stored = decision(1, 0, query="Does Zebulon need the xylophone?")
    decisions = decisions_of(stored, decision(2, 1))
    assert "zebulon" in decisions._vocabulary.words
    decisions.put(replace(stored, context=replace(stored.context, query="", verdicts=())))
    decisions.drop_unused()
    assert {"zebulon", "xylophon"}.isdisjoint(decisions._vocabulary.words)
    words = decisions._vocabulary.words
    assert words == decisions_of(decision(2, 1))._vocabulary.words


def test_what_words_were_dropped_makes_no_difference_to_what_is_known() -> None:
    decisions = decisions_of(*(decision(n + 1, n) for n in range(4)))
    before = [known(decisions, question) for question in QUESTIONS]
    decisions.drop_unused()
    assert [known(decisions, question) for question in QUESTIONS] == before


@pytest.mark.parametrize("query", ["?", "!!", "…"])
def test_questions_without_words_can_be_asked_known_and_forgotten(query: str) -> None:
    first, second = decision(1, 0, query=query), decision(2, 1, query=query)
    decisions = decisions_of(first, second)
    decisions.put(replace(first, context=replace(first.context, query="")))
    blank = replace(first, context=replace(first.context, query=""))
    assert known(decisions, query) == known(decisions_of(blank, second), query)
    assert known(decisions, QUESTIONS[1]) == known(decisions_of(blank, second), QUESTIONS[1])


@settings(deadline=None, max_examples=often(50))
@given(
    texts=st.lists(st.sampled_from((*QUESTIONS, *OTHER_WORDS)), min_size=2, max_size=8),
    asker=st.sampled_from((None, "Ben")),
)
def test_whatever_is_known_as_another_is_akin_to_it(texts: list[str], asker: str | None) -> None:
    rows = [decision(n, 0, asker, query=text) for n, text in enumerate(texts, 1)]
    decisions = decisions_of(*rows)
    ids = [stored.context.id for stored in rows]
    for stored in rows:
        for other in known(decisions, stored.context.query, asker):
            assert stored.context.id in decisions.akin([other], ids, INDEX)


# However it came about


ASKERS = st.sampled_from((None, "Ana", "Ben"))
CONDITIONS = st.sampled_from(((), ("rain",), ("dark",), ("dark", "rain")))
WORDS = st.sampled_from((*QUESTIONS, *OTHER_WORDS, "?", "Seat heating?", "heating seat"))
ROWS = st.lists(st.tuples(st.integers(0, 3), ASKERS, CONDITIONS, WORDS), min_size=1, max_size=8)
#: What becomes of a context: number, line that then proves right (4: none does), question blanked.
CHANGES = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 4), st.booleans()), max_size=12)
Row = tuple[int, str | None, tuple[str, ...], str]


def stored_of(rows: Sequence[Row]) -> list[StoredContext]:
    return [decision(n, *row) for n, row in enumerate(rows, 1)]


def everything_known(decisions: Decisions) -> list[object]:
    found: list[object] = []
    for text in (*QUESTIONS, *OTHER_WORDS, "?", "heating"):
        for asker in (None, "Ana", "Ben", "Cleo"):
            for conditions in ((), ("rain",), ("dark", "rain")):
                asked = Asked(text, asker, frozenset(conditions))
                found.append(decisions.recognised(asked, INDEX))
                found.append(decisions.of_others(asked, INDEX))
    return found


@settings(deadline=None, max_examples=often(25))
@given(rows=ROWS, changes=CHANGES, dropping=st.booleans())
def test_what_is_loaded_knows_exactly_what_was_kept_up(
    rows: list[Row], changes: list[tuple[int, int, bool]], dropping: bool
) -> None:
    stored = stored_of(rows)
    kept_up = Decisions()
    for one in stored:
        kept_up.put(replace(one, context=replace(one.context, verdicts=())))
    for row, line, blank in [*((n, n % 5, False) for n in range(len(stored))), *changes]:
        n = row % len(stored)
        verdicts = right(line) if line < 4 else ()
        context = replace(stored[n].context, verdicts=verdicts)
        if blank:
            context = replace(context, query="")
        stored[n] = replace(stored[n], context=context)
        kept_up.put(stored[n])
        if dropping:
            kept_up.drop_unused()
    assert everything_known(kept_up) == everything_known(decisions_of(*stored))


@settings(deadline=None, max_examples=often(25))
@given(rows=ROWS, data=st.data())
def test_in_which_order_contexts_came_does_not_matter(rows: list[Row], data: st.DataObject) -> None:
    stored = stored_of(rows)
    other = data.draw(st.permutations(stored))
    first, second = decisions_of(*stored), decisions_of(*other)
    for text in (*QUESTIONS, *OTHER_WORDS):
        for asker in (None, "Ana", "Ben"):
            before = known(first, text, asker, "rain")
            assert known(second, text, asker, "rain") == before
            assert all(probability >= KNOWN for probability in before.values())


# Rows of different lengths


def test_no_rows_have_no_sums() -> None:
    assert Ragged().sums(np.ones(3)).shape == (0,)


@given(st.lists(st.lists(st.integers(1, 9), max_size=5), min_size=1, max_size=6), st.data())
def test_some_rows_are_summed_as_among_all(rows: list[list[int]], data: st.DataObject) -> None:
    ragged = Ragged()
    for numbers in rows:
        ragged.append(numbers)
    among = np.array(data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=8)), np.intp)
    weights = np.arange(10) ** 0.5
    assert ragged.sums(weights, among).tolist() == ragged.sums(weights)[among].tolist()


@given(
    rows=st.lists(st.lists(st.integers(1, 9), max_size=5), min_size=1, max_size=10),
    blanked=st.sets(st.integers(0, 9)),
    weights=arrays(np.float64, 10, elements=st.integers(-100, 100).map(float)),
)
def test_sums_are_those_of_plain_python(
    rows: list[list[int]], blanked: set[int], weights: NDArray[np.float64]
) -> None:
    weights[NOTHING] = 0.0
    ragged = Ragged()
    assert [ragged.append(row) for row in rows] == list(range(len(rows)))
    for number in blanked:
        if number < len(rows):
            ragged.blank(number)
            rows[number] = []
    assert len(ragged) == len(rows)
    assert ragged.sums(weights).tolist() == [sum(float(weights[n]) for n in row) for row in rows]
    assert ragged.numbers() == {NOTHING}.union(*rows)
    for number, row in enumerate(rows):
        assert [n for n in ragged.row(number) if n != NOTHING] == row


# What each signal says


def likelihood(
    decisions: Decisions,
    text: str,
    asker: str | None = None,
    index: PassageIndex = INDEX,
    behind: NDArray[np.float64] | None = None,
) -> float:
    """Return how probably a question is the first of some decisions, however improbable."""
    rows = decisions.teaching(asker)
    found = decisions._likeliest(_Question.of(Asked(text, asker)), rows, index, behind)
    return {one.id: one.probability for one in found}["a1"]


def all_behind(by: float) -> NDArray[np.float64]:
    return np.full(len(INDEX), by)


def test_a_question_for_another_kind_of_thing_is_less_likely_the_same() -> None:
    decisions = decisions_of(decision(1, 1, query="When is the concert?"), decision(2, 2))
    same_kind = likelihood(decisions, "When was that concert?")
    assert likelihood(decisions, "Where was that concert?") < same_kind
    assert likelihood(decisions, "That concert?") == same_kind


def test_a_question_of_other_speakers_is_less_likely_the_same_where_nobody_is_known_to_ask() -> (
    None
):
    spoken_by = PassageIndex(ENCODER.dimensions)
    for n, (speaker, line) in enumerate(zip(("Ana", "Ben", "Ana", "Ben"), LINES, strict=True), 1):
        said = Evidence(f"e{n}", line, speaker=speaker)
        spoken_by.add(said, ((0, len(line)),), vector(line)[np.newaxis], 0)
    past = "What level does Ana like for the seat heating?"
    asked = "What level has the seat heating for Ben?"
    decisions = decisions_of(decision(1, 0, query=past), decision(2, 1))
    of_cleo = decisions_of(decision(1, 0, "Cleo", query=past), decision(2, 1))
    assert likelihood(decisions, asked, index=spoken_by) < likelihood(decisions, asked)
    assert likelihood(of_cleo, asked, "Cleo", spoken_by) == likelihood(of_cleo, asked, "Cleo")


@given(near=st.floats(0, FARTHEST - 1), further=st.floats(1, FARTHEST))
def test_a_line_far_behind_makes_it_less_likely_the_same(near: float, further: float) -> None:
    decisions = decisions_of(*(decision(n + 1, n) for n in range(4)))
    before = likelihood(decisions, OTHER_WORDS[0], behind=all_behind(near))
    assert likelihood(decisions, OTHER_WORDS[0], behind=all_behind(near + further)) < before


def test_a_line_out_of_sight_counts_as_the_farthest_and_an_unknown_place_as_a_typical_one() -> None:
    decisions = decisions_of(*(decision(n + 1, n) for n in range(4)))
    farthest, out_of_sight, typical = (
        likelihood(decisions, OTHER_WORDS[0], behind=all_behind(by))
        for by in (FARTHEST, np.inf, UNTOLD)
    )
    assert out_of_sight == farthest < typical == likelihood(decisions, OTHER_WORDS[0])


@pytest.mark.parametrize("asked", [QUESTIONS[0], "how warm, should the SEAT-HEATING be"])
def test_the_same_words_are_known_wherever_their_line_stands(asked: str) -> None:
    decisions = decisions_of(*(decision(n + 1, n) for n in range(4)))
    assert likelihood(decisions, asked, behind=all_behind(np.inf)) > 0.99


def test_words_that_are_rare_in_memory_tell_more_up_to_a_worth() -> None:
    larger = index_of((*LINES, *(f"Nothing {n}" for n in range(100))))
    few = "seat heating"
    many = " ".join(f"word{n}" for n in range(80))
    for words, tells_more in ((few, True), (many, False)):
        others = (decision(n + 1, n) for n in range(1, 4))
        decisions = decisions_of(decision(1, 0, query=f"{words} before"), *others)
        here = likelihood(decisions, f"{words} after")
        there = likelihood(decisions, f"{words} after", index=larger)
        assert there > here if tells_more else there == here
