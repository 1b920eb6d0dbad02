"""A question of how something was before something else is another one than that of now."""

from __future__ import annotations

import pytest

from demem_agent.text.language.another import Asks, is_another
from demem_agent.text.language.before import asks_how_it_was_before


@pytest.mark.parametrize(
    "question",
    [
        "What did a jar cost before the price went up?",
        "When was the lesson until June?",
        "Who was our vet prior to Dr. Nogueira?",
        "Before the move, where did Ana keep the skis?",
        "Wo hat Tom gewohnt, bevor er umgezogen ist?",
        "Combien coûtait le pot avant la hausse ?",
        "¿Dónde vivía Ana antes de mudarse?",
        "Quanto custava o frasco antes do aumento?",
        "Quanto costava l'affitto prima dell'aumento?",
    ],
)
def test_it_is_told_in_several_languages(question: str) -> None:
    assert asks_how_it_was_before(question)


@pytest.mark.parametrize(
    "question",
    [
        "What do I pack before I leave?",
        "When is the train before noon?",
        "Was muss ich vor der Reise tun?",
        "¿Qué tengo que hacer antes de salir?",
        "O que devo fazer antes da viagem?",
        "What did a jar cost?",
    ],
)
def test_what_is_still_to_be_done_is_none(question: str) -> None:
    assert not asks_how_it_was_before(question)


def test_it_is_another_question_than_that_of_now() -> None:
    now = Asks.of("What does a jar of my honey cost?")
    assert is_another(Asks.of("What did a jar cost before the price went up?"), now)


def test_the_same_asked_twice_is_one_question() -> None:
    past = Asks.of("What did a jar cost before the price went up?")
    assert not is_another(Asks.of("What did the jar cost before the price was raised?"), past)
