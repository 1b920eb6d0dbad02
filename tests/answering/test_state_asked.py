"""Where somebody lives and what they work, however the one asked about tells it."""

from __future__ import annotations

import pytest

from demem_agent import SlotMemory
from demem_agent.answering.state_asked import StateAsked, state_asked


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ("where do I live?", StateAsked("home", "")),
        ("What is my address?", StateAsked("home", "")),
        ("Où habite Lise ?", StateAsked("home", "lise")),
        ("what does Kasia do?", StateAsked("work", "kasia")),
        ("Wo arbeitet Felix?", StateAsked("work", "felix")),
        ("what does Kasia do on Sundays?", None),
        ("where do penguins live?", None),
    ],
)
def test_who_is_asked_about_is_known(query: str, asked: StateAsked | None) -> None:
    assert state_asked(query) == asked


@pytest.mark.parametrize(
    ("said", "query", "answer"),
    [
        (
            [
                ("user", "our new place is at 14 Chapel Row"),
                ("user", "Dad's address is 3 Mill Hill"),
            ],
            "What is my address?",
            "14 Chapel Row",
        ),
        (
            [("user", "abitiamo in via Dante 15"), ("user", "Paola abita in via Petrarca 3")],
            "Qual è il mio indirizzo?",
            "via Dante 15",
        ),
        (
            [
                ("Mila", "I teach maths now"),
                ("Jon", "Mila, do you work tomorrow?"),
                ("Jon", "ask Mila about work stuff"),
            ],
            "What is Mila's job?",
            "I teach maths now",
        ),
    ],
)
def test_what_one_tells_of_oneself_answers_ahead_of_what_shares_a_word(
    said: list[tuple[str, str]], query: str, answer: str
) -> None:
    memory = SlotMemory(clock=None)
    for speaker, text in said:
        memory.ingest(text, speaker=speaker)
    assert answer in memory.answer(query).text.splitlines()[0]
