"""A long sentence is cut where somebody begins to say another thing."""

from __future__ import annotations

from demem_agent.text.clauses import clauses, supposed

LONG = (
    "I'm trying to plan the week for my whole family and the dog, and I've finished 15 problems"
    " with good results, so I'm looking for a better way to learn"
)


def parts(text: str) -> list[str]:
    return [text[start:end] for start, end in clauses(text, 0, len(text))]


def test_a_long_sentence_is_cut_before_another_thing_is_said() -> None:
    assert parts(LONG) == [
        "I'm trying to plan the week for my whole family and the dog",
        "and I've finished 15 problems with good results",
        "so I'm looking for a better way to learn",
    ]


def test_a_short_one_is_left_whole() -> None:
    assert parts("I like tea, and I like the sea.") == ["I like tea, and I like the sea."]


def test_a_condition_stays_with_what_it_is_of() -> None:
    said = "When it rains in the morning and the road is wet, I take the bus to the office"
    text = f"{said}, and I've sold the old bike that stood in the yard for years"
    assert parts(text)[0].startswith(said)


def test_a_question_is_heard_for_what_it_takes_for_granted() -> None:
    question = "Can you remind me that it's moved to 4 PM?"
    assert supposed(question) == " it's moved to 4 PM?"
    assert supposed("Can you help me?") == ""
