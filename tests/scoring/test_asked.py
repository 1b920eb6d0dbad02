"""What a message asks for, by its words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent.scoring.asked import BUCKETS, asked_of, pairs_of


@pytest.mark.parametrize(
    "question",
    [
        "Which three restaurants did you suggest for the anniversary?",
        "What did you say the dose was?",
        "Welches Buch hast du mir empfohlen?",
        "remind me how you told me to clean the oven",
        "What did the assistant advise about the leak?",
    ],
)
def test_a_question_for_the_assistants_words_is_told(question: str) -> None:
    assert asked_of(question).of_reply > 0


@pytest.mark.parametrize(
    "question",
    [
        "What is my locker code?",
        "What did Ana say about the rent?",
        "Wo wohnt meine Schwester?",
        "",
    ],
)
def test_a_question_for_what_the_user_told_is_none(question: str) -> None:
    assert asked_of(question).of_reply < 0


@pytest.mark.parametrize("message", ["Thanks!", "ok great", "Write a haiku about rain.", "Danke!"])
def test_small_talk_and_tasks_need_less_memory_than_a_question(message: str) -> None:
    assert asked_of(message).of_memory < asked_of("What is my locker code?").of_memory


@given(st.text(max_size=400))
def test_any_text_has_finite_log_odds_the_same_each_time(text: str) -> None:
    first = asked_of(text)
    assert abs(first.of_reply) < 1e4
    assert abs(first.of_memory) < 1e4
    assert 0.0 <= first.reply <= 1.0
    assert first == asked_of(text)


@given(st.text(max_size=400))
def test_pairs_are_places_in_the_table_each_once(text: str) -> None:
    pairs = pairs_of(text)
    assert pairs == sorted(set(pairs))
    assert pairs[0] >= 0
    assert pairs[-1] < BUCKETS


def test_of_a_very_long_message_both_ends_count() -> None:
    long = " ".join(f"word{n}" for n in range(500))
    ends = " ".join(f"word{n}" for n in (*range(24), *range(476, 500)))
    assert asked_of(long).of_reply == pytest.approx(asked_of(ends).of_reply, abs=1.0)
