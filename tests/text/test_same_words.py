"""Everyday words for one thing find what was said in another of them."""

from __future__ import annotations

import pytest

from demem_agent import SlotMemory
from demem_agent.text.language.same_words import in_held_words, one_word_each
from demem_agent.text.language.words import content_terms


@pytest.mark.parametrize(
    ("query", "held", "meant"),
    [
        ("wlan code?", {"wifi", "code"}, "wifi code?"),
        ("my boyfriend", {"bf"}, "my bf"),
        ("how many kilometres", {"km"}, "how many km"),
        ("dunja bday?", {"geburtstag"}, "dunja geburtstag?"),
        ("wifi code?", {"wifi", "wlan", "code"}, "wifi code?"),
        ("the harbour", {"wifi"}, "the harbour"),
    ],
)
def test_only_words_that_nothing_holds_are_put_otherwise(
    query: str, held: set[str], meant: str
) -> None:
    assert in_held_words(query, held.__contains__) == meant


def test_words_of_one_meaning_are_one_stem() -> None:
    terms = [one_word_each(content_terms(text)) for text in ("wifi password", "WLAN-Passwort")]
    assert terms[0] == terms[1]


def test_a_line_with_the_short_form_is_quoted() -> None:
    memory = SlotMemory(clock=None)
    memory.ingest("my bf Olav hates coriander", speaker="Mara")
    memory.ingest("the name of the café is Kajen", speaker="Mara")
    assert "Olav" in memory.answer("What is my boyfriend's name?").text


@pytest.mark.parametrize("asked", ["wlan code?", "Wie ist das WLAN-Passwort?", "wifi pw"])
def test_a_correction_is_known_again_in_other_everyday_words(asked: str) -> None:
    memory = SlotMemory(clock=None)
    memory.ingest("the wifi password is heron-41", speaker="Mara")
    memory.ingest("the code of the shed is 2290", speaker="Mara")
    answer = memory.answer("what's the wifi password?")
    memory.feedback(answer, correction="otter-12")
    assert "otter-12" in memory.read(asked).ranked[0].text
