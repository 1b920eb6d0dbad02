"""What a question is after, and whether another one is after something else."""

from __future__ import annotations

from datetime import date

import pytest

from demem_agent.text.language.sought import Sought, is_else

DAY = date(2026, 3, 10)


@pytest.mark.parametrize(
    ("question", "after"),
    [
        ("Where does Paulo work?", {"work"}),
        ("Who is Paulo's employer?", {"work"}),
        ("¿En qué empresa está Lucía?", {"work"}),
        ("Qui est l'employeur d'Amélie ?", {"work"}),
        ("Dove abita Giulia?", {"home"}),
        ("Where is the joint card?", {"place"}),
        ("What's the name of Olga's cat?", {"name"}),
        ("Chi è il mio dentista?", {"name"}),
        ("How old is Olga's cat?", {"age"}),
        ("Why do I take it?", {"reason"}),
        ("What did they say about it?", set()),
    ],
)
def test_what_a_question_is_after(question: str, after: set[str]) -> None:
    assert Sought.in_question(question).of == after


#: A past question, the line that was wrong, what was told to be right, and another question.
ELSE = [
    ("Where does Ana work?", "Ana works at Bosch.", "Siemens", "Where does Ana live?"),
    ("Where does Ana work?", "Ana works at Bosch.", "Siemens", "Where does Ana's son work?"),
    ("Where does Ana work?", "Ana works at Bosch.", "Siemens", "Where did Ana work last year?"),
    ("Wo arbeitet Ana?", "Ana arbeitet bei Bosch.", "Siemens", "Wo arbeitete Ana?"),
    ("Dove lavora Ana?", "Ana lavora alla Bosch.", "Siemens", "Dove lavorava Ana?"),
    ("When does it leave?", "It leaves at 6 from gate 3.", "At 7", "Which gate is it?"),
    ("What is the PIN of the card?", "The PIN is 4471.", "4417", "Where is the card?"),
    ("What is she allergic to?", "She is allergic to nuts.", "kiwi", "Since when is she allergic?"),
    ("What was it when it came?", "It was red.", "blue", "What is it?"),
]
SAME = [
    ("Where does Ana work?", "Ana works at Bosch.", "Siemens", "Who is Ana's employer?"),
    ("Wo arbeitet Ana?", "Ana arbeitet bei Bosch.", "Siemens", "Wo arbeite ich?"),
    ("How much is the rent?", "The rent is 780.", "840", "What do I pay?"),
    ("When is it due?", "It is due on May 3.", "May 9", "Until when do we have time?"),
    ("Who teaches Ana?", "Ana's teacher is Mr. Falk.", "Mr. Lind", "Who is Ana's teacher?"),
    ("Who is Ana's teacher?", "Ana's teacher is Mr. Falk.", "Mr. Lind", "Who teaches Ana?"),
    ("Who sells it?", "Boxwell sells it.", "It's from Cartonia", "Where do we get it from?"),
]


@pytest.mark.parametrize(("past", "line", "told", "now"), ELSE)
def test_something_else_is_asked(past: str, line: str, told: str, now: str) -> None:
    assert _is_else(past, line, told, now)


@pytest.mark.parametrize(("past", "line", "told", "now"), SAME)
def test_the_same_is_asked(past: str, line: str, told: str, now: str) -> None:
    assert not _is_else(past, line, told, now)


@pytest.mark.parametrize(("past", "line", "told", "now"), [*ELSE, *SAME])
def test_the_same_question_is_never_after_something_else(
    past: str, line: str, told: str, now: str
) -> None:
    assert not _is_else(past, line, told, past)


def _is_else(past: str, line: str, told: str, now: str) -> bool:
    return is_else(Sought.in_question(now), Sought.in_question(past), line, told, DAY)
