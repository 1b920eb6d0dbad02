"""A question is told by its sign, or by how it begins where it has none."""

from __future__ import annotations

import pytest

from demem_agent.text.language.asking import asks


@pytest.mark.parametrize(
    "said",
    [
        "You came?",
        "钥匙在哪里？",
        "where's the spare key",
        "wheres my charger",
        "how many eggs do we have",
        "what time is dinner",
        "how long does the train take",
        "which day do we fly",
        "who took my bike",
        "Is there any milk left",
        "do we need bread",
        "does Mia eat fish",
        "hey, what's the wifi password",
        "wo ist der Schlüssel",
        "wie viele Eier haben wir",
        "um wie viel Uhr essen wir",
        "dónde están las llaves",
        "donde esta la llave",
        "cuántos huevos tenemos",
        "où est la clé",
    ],
)
def test_a_question_is_told(said: str) -> None:
    assert asks(said)


@pytest.mark.parametrize(
    "said",
    [
        "The key is under the pot",
        "When I was young I lived in Porto",
        "What a lovely day",
        "what we need is a plan",
        "Which is great",
        "Where I live there is a park",
        "How nice of you",
        "How nice it is",
        "how to reset the router",
        "who knows",
        "Did the dishes",
        "Was the best day ever",
        "Do the laundry on Monday",
        "What is done is done.",
        "Wie gesagt am Montag",
        "wo wir damals waren",
        "Cuando llega Ana comemos",
        "Can opener in the drawer",
        "Will Smith came",
        "Have it in blue",
    ],
)
def test_a_statement_is_no_question(said: str) -> None:
    assert not asks(said)
