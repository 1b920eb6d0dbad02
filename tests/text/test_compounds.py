"""What is written as one word here and as two there is one thing."""

from __future__ import annotations

import pytest

from demem_agent import SlotMemory
from demem_agent.text.language.compounds import as_held

FILLING = [
    "Your contract says that notice is three months.",
    "That is what I do with my own time.",
    "My name is on your list, is it?",
    "Das ist, was ich mit meiner Zeit mache.",
    "Dit is wat ik met mijn tijd doe.",
]


def written(text: str, held: set[str], pairs: set[tuple[str, str]] | None = None) -> str:
    there = pairs or set()
    return as_held(text, held.__contains__, lambda first, second: (first, second) in there)


@pytest.mark.parametrize(
    ("text", "held", "pairs", "expected"),
    [
        ("What is my call sign?", {"callsign"}, set(), "What is my callsign?"),
        ("My call-sign?", {"callsign"}, set(), "My callsign?"),
        ("What is my callsign?", {"call", "sign"}, {("call", "sign")}, "What is my call sign?"),
        ("The Callsign!", {"call", "sign"}, {("call", "sign")}, "The Call sign!"),
        # Both spellings are held: what was asked is found as it stands.
        ("My call sign?", {"callsign", "call", "sign"}, {("call", "sign")}, "My call sign?"),
        ("My callsign?", {"callsign", "call", "sign"}, {("call", "sign")}, "My callsign?"),
        # Two words that stand apart are no compound.
        ("My callsign?", {"call", "sign"}, set(), "My callsign?"),
        ("I call, sign it", {"callsign"}, set(), "I call, sign it"),
        ("Is he art or heart?", {"heart"}, set(), "Is he art or heart?"),
        ("", set(), set(), ""),
    ],
)
def test_a_question_gets_the_spelling_that_is_held(
    text: str, held: set[str], pairs: set[tuple[str, str]], expected: str
) -> None:
    assert written(text, held, pairs) == expected


def test_a_document_is_left_as_it_is() -> None:
    text = "call sign " * 200
    assert written(text, {"callsign"}) == text


@pytest.mark.parametrize(
    ("line", "question"),
    [
        ("My radio call sign is Otter 4.", "What is my callsign?"),
        ("My callsign is Otter 4.", "What is my call sign?"),
        ("The wigmaker who taught me was Odile.", "Who was the wig maker that taught me?"),
        ("Die Kunden Nummer bei EWE: 5510.", "Was ist meine Kundennummer?"),
        ("Mijn huis arts heet Bakker.", "Hoe heet mijn huisarts?"),
    ],
)
def test_the_line_with_the_other_spelling_is_first_and_the_answer(line: str, question: str) -> None:
    made = SlotMemory(clock=None)
    made.ingest_many([{"text": text} for text in [*FILLING, line]])
    assert made.read(question).ranked[0].text == line
    assert made.answer(question).text == line


def test_words_side_by_side_in_two_lines_are_no_pair() -> None:
    made = SlotMemory(clock=None)
    made.ingest_many([{"text": "I will call"}, {"text": "Sign it at the desk."}])
    related = made._held.state.passage_index().related
    assert not related.has_pair("call", "sign")
    assert related.has_pair("sign", "desk")
