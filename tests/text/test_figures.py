"""What is told in figures alone."""

from __future__ import annotations

import pytest

from demem_agent.text.language.figures import figure_asked


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("What is Vera's phone number?", "Vera: 0151 22 33 44"),
        ("Wie ist die E-Mail-Adresse von Vera?", "vera@example.org, schreib ihr"),
        ("What is Vera's e-mail address?", "it's vera at example dot org"),
        ("Welche Schuhgröße hat Vera?", "Vera braucht Schuhe in 38,5"),
        ("What is Vera's shirt size?", "Vera takes an M"),
        ("Che numero di scarpe porta Vera?", "Vera ha il 39"),
    ],
)
def test_a_figure_is_told(question: str, told: str) -> None:
    figure = figure_asked(question)
    assert figure is not None
    assert figure.told(told)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What is Vera's phone number?", "call Vera at 9, she lives at no. 12"),
        ("Wat is het mailadres van Vera?", "Vera heeft 2 honden"),
        ("Quelle est la pointure de Vera ?", "Vera a payé 49 euros, c'est l'été"),
        ("What is Vera's shoe size?", "Vera's shoes cost $89"),
    ],
)
def test_another_figure_tells_nothing(question: str, said: str) -> None:
    figure = figure_asked(question)
    assert figure is not None
    assert not figure.told(said)


@pytest.mark.parametrize("question", ["Who is Vera?", "How many phones are there?", "What size?"])
def test_other_questions_ask_for_no_figure(question: str) -> None:
    assert figure_asked(question) is None
