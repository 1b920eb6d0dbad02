"""What is taken of what a model replies, in whatever it wraps it."""

from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent.errors import ModelError
from demem_agent.llms.model import Completion, Options, Prompt, Usage
from demem_agent.llms.structured import Flag, Number, Reply, Text, Texts, asked_for

GOOD = {"quotes": ["I am allergic to peanuts"], "answer": "peanuts", "known": True}
WHOLE = json.dumps(GOOD)


class Asked(Reply):
    quotes: Texts
    answer: Text
    known: Flag


class Graded(Reply):
    grade: Number


class Model:
    """Says what it is given, one reply after the other, the last one again and again."""

    name = "model"

    def __init__(self, *replies: str) -> None:
        self.replies = list(replies)
        self.asked: list[Options] = []

    async def acomplete(self, prompt: Prompt, options: Options, /) -> Completion:
        self.asked.append(options)
        text = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        return Completion(text, "stop", Usage(), self.name)

    def complete(self, prompt: Prompt, options: Options, /) -> Completion:
        raise NotImplementedError


def taken(model: Model, temperature: float | None = 0.0) -> Asked:
    options = Options(temperature=temperature)
    return asyncio.run(asked_for(model, Prompt("rules", "question"), Asked, options))


@pytest.mark.parametrize(
    "reply",
    [
        WHOLE,
        f"```json\n{WHOLE}\n```",
        f"Here is the JSON object:\n{WHOLE}",
        f"{WHOLE}\n\nLet me know if you need {{more}}.",
        f"Sure!\n```json\n{WHOLE}\n```\nThere it is.",
        f'<think>\nPerhaps {{"answer": "sesame"}}?\n</think>\n\n{WHOLE}',
        f"{{thinking aloud}} {WHOLE}",
        json.dumps(GOOD | {"explanation": "it says so"}),
        json.dumps(GOOD | {"known": "True"}),
        json.dumps(GOOD | {"quotes": GOOD["quotes"][0]}),
        json.dumps({"error": None}) + WHOLE,
        WHOLE.replace("allergic to", "allergic to").replace("{", "{\n\t"),
    ],
)
def test_a_right_reply_is_taken_in_whatever_it_is_wrapped(reply: str) -> None:
    model = Model(reply)
    found = taken(model)
    assert (found.answer, found.known, len(found.quotes)) == ("peanuts", True, 1)
    assert len(model.asked) == 1


def test_numbers_and_nothing_are_texts_as_they_are_meant() -> None:
    found = taken(Model('{"quotes": null, "answer": 42, "known": "no"}'))
    assert (found.quotes, found.answer, found.known) == ([], "42", False)


@pytest.mark.parametrize("reply", ["", "peanuts", "[1, 2]", '{"answer": ', '{"quotes": [{}]}'])
def test_what_is_no_reply_is_sent_back_once_and_then_an_error(reply: str) -> None:
    model = Model(reply)
    with pytest.raises(ModelError, match="malformed"):
        taken(model)
    assert len(model.asked) == 2


def test_a_repair_is_asked_for_less_coldly_than_at_0() -> None:
    model = Model("peanuts", WHOLE)
    taken(model, temperature=0.0)
    cold, warm = model.asked
    assert cold.temperature == 0.0
    assert warm.temperature is not None
    assert warm.temperature > 0.0


def test_a_temperature_of_ones_own_is_kept_in_a_repair() -> None:
    model = Model("peanuts", WHOLE)
    taken(model, temperature=0.2)
    assert [options.temperature for options in model.asked] == [0.2, 0.2]


def test_a_schema_says_that_there_is_nothing_else() -> None:
    model = Model(WHOLE)
    taken(model)
    schema = model.asked[0].schema
    assert schema is not None
    assert schema["additionalProperties"] is False
    assert list(schema["properties"]) == schema["required"] == ["quotes", "answer", "known"]


@given(st.text(max_size=60), st.text(max_size=60))
def test_prose_around_a_reply_changes_nothing(before: str, after: str) -> None:
    prose = before.replace("{", "(").replace("<", "("), after.replace("<", "(")
    assert taken(Model(f"{prose[0]}\n{WHOLE}\n{prose[1]}")).answer == "peanuts"


@pytest.mark.parametrize(("given_", "grade"), [("3", 3), (3, 3), (" 2 ", 2)])
def test_digits_are_a_number(given_: object, grade: int) -> None:
    prompt = Prompt("rules", "question")
    model = Model(json.dumps({"grade": given_}))
    assert asyncio.run(asked_for(model, prompt, Graded, Options())).grade == grade
