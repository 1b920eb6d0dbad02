"""What a slot opens with tells of questions, which are forgotten with what they quote."""

from __future__ import annotations

import pytest

from demem_agent.flows.quoting import Quotes

ITEM = "The bow violin is amber42."
QUESTIONS = ["The bow violin is amber42?", "Which platform has the train?"]


@pytest.mark.parametrize(
    "text",
    [
        "- decided bow violin amber42: The ticket is lost. (right once)",
        "It says: decided for Ana, when rain, bow amber42: The ticket is lost.",
    ],
)
def test_a_text_that_tells_of_a_forgotten_question_goes(text: str) -> None:
    quotes = Quotes.of([ITEM])
    assert not quotes.held_by(text)
    assert quotes.with_questions(QUESTIONS).held_by(text)


@pytest.mark.parametrize(
    "text", ["- decided platform train: The ticket is lost.", "We decided: no.", "amber"]
)
def test_a_text_that_tells_of_another_question_stays(text: str) -> None:
    quotes = Quotes.of([ITEM])
    assert quotes.with_questions(QUESTIONS).held_by(text) == quotes.held_by(text)
