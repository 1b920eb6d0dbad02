"""Whether a question asks for what held before."""

from __future__ import annotations

import pytest

from demem_agent.scoring.time_asked import asks_of_before, sum_of_words


@pytest.mark.parametrize(
    "question",
    [
        "Where did I work before?",
        "What was my previous address?",
        "Wo habe ich früher gewohnt?",
        "Quel était mon ancien médecin ?",
    ],
)
def test_a_question_of_before_is_told(question: str) -> None:
    assert asks_of_before(question)


@pytest.mark.parametrize(
    "question",
    ["Where do I work?", "What is my address?", "Wo wohne ich?", "What did I buy yesterday?", ""],
)
def test_a_question_of_now_or_of_an_event_is_none_of_before(question: str) -> None:
    assert not asks_of_before(question)


def test_the_order_of_words_makes_no_difference() -> None:
    one, other = "where did I work before", "before work I did where"
    assert sum_of_words(one) == pytest.approx(sum_of_words(other), abs=1e-6)
