"""Of several figures for one thing, the latest answers for now and the earliest for the first."""

from __future__ import annotations

import pytest

from demem_agent import SlotMemory

WATER = [
    ("2026-01-04", "Ana", "the pond is at 41 cm"),
    ("2026-03-09", "Ana", "pond 55 cm now, all that rain"),
    ("2026-03-09", "assistant", "Noted: the pond is at 55 cm."),
    ("2026-08-20", "Ana", "pond measured: 23 cm"),
    ("2026-08-21", "Ana", "the ducks are back"),
]
LATIN = [
    ("2026-02-01", "Ana", "Latein: 61 Punkte"),
    ("2026-05-01", "Ana", "Latein heute 74 Punkte, juhu"),
    ("2026-06-01", "Ana", "ich lerne auch Vokabeln"),
]


def answered(talk: list[tuple[str, str, str]], question: str) -> str:
    memory = SlotMemory(clock=None)
    for at, speaker, text in talk:
        memory.ingest(text, speaker=speaker, at=at, session=at)
    return memory.answer(question, at="2026-09-01").text


@pytest.mark.parametrize(
    ("talk", "question", "figure"),
    [
        (WATER, "How high is the pond now?", "23 cm"),
        (WATER, "What was the latest level of the pond?", "23 cm"),
        (WATER, "What was the first level of the pond?", "41 cm"),
        (LATIN, "Wie viele Punkte gab der erste Test in Latein?", "61 Punkte"),
    ],
)
def test_the_figure_of_the_time_asked_for_is_quoted(
    talk: list[tuple[str, str, str]], question: str, figure: str
) -> None:
    assert figure in answered(talk, question).splitlines()[0]


def test_what_has_no_figure_is_left_where_it_stands() -> None:
    assert "ducks are back" in answered(WATER, "Are the ducks back now?")


def test_another_thing_with_a_later_figure_is_no_rival() -> None:
    talk = [*WATER, ("2026-08-25", "Ana", "the well is at 90 cm")]
    assert "23 cm" in answered(talk, "How high is the pond now?")


def test_what_a_document_tells_stands_where_nobody_said_it() -> None:
    clause = "The fee of the harbour is now {} euros, as table {} says, and the master pays it."
    document = "\n".join(clause.format(n * 7, n) for n in range(1, 20))
    talk = [("2026-01-04", "Ana", document), ("2026-02-01", "Ana", "it rained")]
    assert "fee of the harbour" in answered(talk, "What is the fee of the harbour now?")
