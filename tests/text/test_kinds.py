"""What kind of thing an English question asks for, and which texts hold one."""

from __future__ import annotations

import pytest

from demem_agent.text.language.kinds import holds, kind_asked


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("What colour is the canoe?", "colour"),
        ("When is Tom's birthday?", "time"),
        ("Which days does Tom play?", "time"),
        ("How long did she work there?", "time"),
        ("How many puppies are there?", "number"),
        ("What is Tom's shoe size?", "number"),
        ("Which rent does Priya pay?", "number"),
        ("Who is her best friend?", "name"),
        ("Where was Gran born?", "name"),
        ("What is the cat called?", "name"),
        ("Why is the pond frozen?", ""),
        ("Tell me about the pond", ""),
    ],
)
def test_a_question_asks_for_one_kind(question: str, kind: str) -> None:
    assert kind_asked(question) == kind


@pytest.mark.parametrize(
    ("kind", "with_one", "without"),
    [
        ("colour", "it is Dark Green", "it is old"),
        ("time", "we meet on Tuesdays", "we meet at the gate"),
        ("time", "it was last spring", "it was long"),
        ("number", "he paid eighty", "he paid nothing"),
        ("number", "plot 36", "the plot"),
        ("name", "we saw Anouk", "We saw her"),
        ("name", "Madame Perrin has a room", "Madame has a room"),
        ("name", "it is (Biscuit)", "it is Monday, and mr smith is out on Friday"),
    ],
)
def test_a_text_holds_a_kind_or_not(kind: str, with_one: str, without: str) -> None:
    assert holds(kind, with_one, frozenset())
    assert not holds(kind, without, frozenset())


@pytest.mark.parametrize(
    ("kind", "text", "asked"),
    [("name", "she rang Priya", "priya"), ("number", "room 12", "12")],
)
def test_what_the_question_says_itself_is_no_answer(kind: str, text: str, asked: str) -> None:
    assert holds(kind, text, frozenset())
    assert not holds(kind, text, frozenset({asked}))


def test_where_no_kind_is_asked_for_any_text_will_do() -> None:
    assert holds("", "", frozenset())
