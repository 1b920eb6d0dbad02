"""The salutation and the closing of a letter are left out, and nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent.text.quoting.greetings import without_greetings


@pytest.mark.parametrize(
    ("letter", "told"),
    [
        ("Dear Mia, the hens are well.\n\nYour loving Gran", "the hens are well."),
        ("Hi team, the figures are attached. Best regards, Sandra", "the figures are attached."),
        (
            "Dear Mr Hale, I write about the fence. Yours sincerely, Ruth Calder",
            "I write about the fence.",
        ),
        ("Hello Ana and Ben!\nIt rains.\nCheers,\nTom", "It rains."),
        ("We bring you a cap. Lots of kisses from Grandma Inge", "We bring you a cap."),
        ("Hey Mel! Good to see you", "Good to see you"),
        ('She wrote: "Dear Emil, come soon. Love, Inge"', 'She wrote: " come soon. "'),
    ],
)
def test_a_letter_is_what_stands_between_its_greetings(letter: str, told: str) -> None:
    assert " ".join(without_greetings(letter).split()) == told


@pytest.mark.parametrize(
    "said",
    [
        "Tom and I love Mia.",
        "Hi, I am Ben",
        "She is dear to me, Ben says",
        "Thanks to Caroline the school was great",
        "Your loving gran came, and Best wishes it was",
        "My regards to Sandra",
    ],
)
def test_what_is_no_letter_stays(said: str) -> None:
    assert without_greetings(said) == said


@given(st.text("Dear Mi,.\n Yours\"'from love", max_size=80))
def test_nothing_is_added(text: str) -> None:
    assert len(without_greetings(text)) <= len(text)
