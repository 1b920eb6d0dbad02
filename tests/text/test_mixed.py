"""A text that goes from one language into another has the words of each by their own language."""

from __future__ import annotations

from itertools import groupby

import pytest

from demem_agent import SlotMemory
from demem_agent.scoring.query import elsewhere_than
from demem_agent.text.language.words import is_mixed, worded

MIXED = {
    "Non lo so più, the notary keeps the keys of the house.": ["italian", "english"],
    "Ik heb haar gesproken and the lace arrives by boat.": ["dutch", "english"],
    "We had tea at the harbour, sie sucht noch eine Wohnung.": ["english", "german"],
    "Hablé con mi hermana, they moved the wedding to the garden.": ["spanish", "english"],
    "Je suis chez ma mère, the dog is at the vet.": ["french", "english"],
    "Sono dalla zia, ze heeft een nieuwe hond.": ["italian", "dutch"],
}
OF_ONE = [
    "We had a cappuccino in Los Angeles, near La Jolla.",
    "He said au revoir and left for the train.",
    "Ik ga morgen met de trein naar mijn moeder.",
    "Questa sera guardo The Crown con mia sorella.",
    "Das Meeting war gut, der Chef ist happy.",
    "I met Maria de la Cruz, the baker.",
    "Ciao!",
    "",
]


@pytest.mark.parametrize(("text", "languages"), MIXED.items())
def test_each_stretch_has_its_language(text: str, languages: list[str]) -> None:
    told = worded(text)
    assert [language for language, _ in groupby(told.languages)] == languages
    assert len(told.stems) == len(told.words) == len(told.languages)


@pytest.mark.parametrize("text", OF_ONE)
def test_a_few_words_of_another_language_make_no_stretch(text: str) -> None:
    assert not is_mixed(text)
    assert set(worded(text).languages) <= {worded(text).language}


def test_words_are_stemmed_and_left_out_by_their_own_language() -> None:
    told = worded("Non lo so più, the notary keeps the keys of the house.")
    assert told.stems[-4:] == ["notari", "keep", "key", "hous"]


def test_a_line_of_two_languages_is_of_neither_alone() -> None:
    made = SlotMemory(clock=None)
    made.ingest("Non lo so più, the notary keeps the keys of the house.")
    made.ingest("La casa della nonna è vicino al mare.")
    index = made._held.state.passage_index()
    found = elsewhere_than("Who keeps the keys?", index)
    assert found is not None
    assert found.rows.tolist() == [False, True]


def test_a_line_of_two_languages_is_found_by_a_question_in_each() -> None:
    made = SlotMemory(clock=None)
    line = "Ik heb haar gisteren gesproken and the laces arrive by boat."
    for said in [
        line,
        "The boat is blue and the harbour is full.",
        "De haven is mooi met al die mensen.",
    ]:
        made.ingest(said)
    assert made.read("How does the lace arrive?").ranked[0].text == line
    assert made.read("Wanneer heb ik haar gesproken?").ranked[0].text == line


def test_a_name_is_found_in_a_line_of_another_language() -> None:
    made = SlotMemory(clock=None)
    line = "Ik heb gisteren met Joris gebeld over de pruik."
    for said in [line, "Ik heb gisteren met Pim gebeld over de baard.", "I like the sea."]:
        made.ingest(said)
    assert made.read("What is there with Joris?").ranked[0].text == line
