"""Who has something told to them asks, in several languages, and tells nothing."""

from __future__ import annotations

import pytest

from demem_agent.text.language.asking import asks, begins_as_question
from demem_agent.text.language.requesting import requests


@pytest.mark.parametrize(
    "said",
    [
        "tell me how many boats we have",
        "Remind me what the fee was.",
        "I wonder how much the fee was",
        "can you show me where the fuse box is",
        "remind me of the door code",
        "tell us about Dana's job",
        "sag mir, wo der Schlüssel liegt",
        "erinnere mich an den Türcode",
        "dis-moi où est la clé",
        "rappelle-moi l'adresse",
        "dime cuántos barcos hay",
        "recuérdame el código",
        "diz-me a que horas é o comboio",
        "dimmi dove sono le chiavi",
        "zeg me waar de sleutel is",
        "powiedz mi gdzie jest klucz",
    ],
)
def test_what_is_to_be_told_is_asked(said: str) -> None:
    assert requests(said)
    assert asks(said)


@pytest.mark.parametrize(
    "said",
    [
        "remind me to call the plumber",
        "tell me about it!",
        "Tell me when you land, my number is 555 031 now",
        "she told me how she met Tom",
        "tell Ana that the bus leaves at 9",
        "rappelle-moi de payer le loyer",
        "recuérdame que llame a Ana",
        "lembra-me de ligar à avó",
        "ricordami di pagare l'affitto",
        "say something nice",
    ],
)
def test_what_is_to_be_done_or_is_told_asks_nothing(said: str) -> None:
    assert not requests(said)


def test_whether_something_is_known_tells_it() -> None:
    assert begins_as_question("where is the drill")
    assert not begins_as_question("did you know that Tom moved?")
