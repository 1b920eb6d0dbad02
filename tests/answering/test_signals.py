"""What is seen of the sentences of a reading."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from often import often

from demem_agent import SlotMemory
from demem_agent.answering.candidates import Sentence, sentences_read
from demem_agent.answering.signals import ANSWER, SENTENCE, Seen, seen
from demem_agent.encoders import default_encoder
from demem_agent.types import Question


def found_in(query: str, *said: tuple[str, str]) -> tuple[list[Sentence], Seen]:
    """Return the sentences of what was said, (text, speaker) each, and what is seen of them."""
    memory = SlotMemory(clock=None)
    for text, speaker in said:
        memory.ingest(text, speaker=speaker)
    question = Question(query, None, memory.read(query))
    found = sentences_read(question)
    return found, seen(question, found, default_encoder())


def of(name: str, query: str, *said: tuple[str, str]) -> dict[str, float]:
    """Return a signal by the text of each sentence."""
    found, shown = found_in(query, *said)
    return dict(zip([one.text for one in found], shown.of(name).tolist(), strict=True))


@settings(deadline=None, max_examples=often(25))
@given(
    query=st.text(min_size=1, max_size=60).filter(str.strip),
    said=st.lists(st.text(min_size=1, max_size=60).filter(str.strip), min_size=1, max_size=4),
)
def test_whatever_was_said_every_signal_is_a_number(query: str, said: list[str]) -> None:
    found, shown = found_in(query, *((text, "Ana") for text in said))
    assert shown.table.shape == (len(found), len(SENTENCE))
    assert np.isfinite(shown.table).all()
    assert ((shown.met >= 0) & (shown.met <= 1)).all()
    assert np.isfinite(shown.answer(0, -0.1)).all()
    assert shown.answer(0, -0.1).shape == (len(ANSWER),)


def test_no_number_stands_for_another() -> None:
    met = of(
        "met",
        "Who lives at number 7?",
        ("Ana lives at number 7.", "Bo"),
        ("Zoe lives at number 9.", "Bo"),
    )
    assert met["Ana lives at number 7."] == pytest.approx(1.0)
    assert met["Zoe lives at number 9."] < 0.8


def test_who_says_it_stands_for_the_name_in_the_question() -> None:
    said = "The boat is in Faro."
    by_ana = of("met", "Where is Ana's boat?", (said, "Ana"))
    by_bo = of("met", "Where is Ana's boat?", (said, "Bo"))
    assert by_ana[said] > by_bo[said]


def test_the_question_itself_is_an_echo_and_what_answers_it_is_not() -> None:
    echo = of("echo", "Where is the key?", ("Where is the key?", "Ana"), ("Under the pot.", "Bo"))
    assert echo == {"Where is the key?": 1.0, "Under the pot.": 0.0}


def test_a_reply_of_somebody_else_is_told_from_what_one_says_next() -> None:
    asked = ("Where is the spare key?", "Ana")
    assert of("answers", asked[0], asked, ("Under the pot.", "Bo"))["Under the pot."] > 0.5
    assert of("answers", asked[0], asked, ("Under the pot.", "Ana"))["Under the pot."] == 0.0


def test_a_later_sentence_that_is_alike_is_near_the_earlier_one_only() -> None:
    later = of(
        "later", "What is the rent?", ("The rent is 780.", "Ana"), ("The rent is 840.", "Ana")
    )
    assert later["The rent is 780."] > 0.5
    assert later["The rent is 840."] == 0.0


def test_of_a_question_without_end_its_two_ends_are_looked_at() -> None:
    long = f"Where is the boat? {'lorem ipsum ' * 50_000} Where is the key?"
    _, shown = found_in(long, ("The key is under the pot.", "Ana"))
    assert shown.met.shape[1] < 200
