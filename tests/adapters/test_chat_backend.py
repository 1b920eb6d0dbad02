"""The chatbot backend of the examples keeps its users apart, over HTTP, as one would run it."""

from __future__ import annotations

import runpy
import sys
import urllib.error
from collections.abc import Iterator
from typing import Any

import pytest
from adapter_contract import ASKED, ROOT, VALVE

pytest.importorskip(
    "fastapi", reason="the example of a chatbot backend: pip install fastapi uvicorn"
)

from openai import AsyncOpenAI

from demem_adapters.common import Memories
from demem_agent.testing import BagEncoder, Provider

EXAMPLE = ROOT / "examples" / "chat_backend.py"


@pytest.fixture(scope="module")
def example() -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLE))


@pytest.fixture
def people(example: dict[str, Any]) -> Iterator[dict[str, Any]]:
    users = {"1": "ana", "2": "ben"}
    with Provider(lambda messages: f"Noted: {messages[-1]['content']}") as provider:
        client = AsyncOpenAI(base_url=provider.url, api_key="unused", max_retries=0)
        app = example["make_backend"](client, Memories(encoder=BagEncoder()), users, model="good")
        with example["serving"](app) as url:
            known = {name: example["Person"](url, name, token) for token, name in users.items()}
            yield {**known, "eve": example["Person"](url, "eve", "3")}


def refused(person: Any, *request: Any) -> int:
    with pytest.raises(urllib.error.HTTPError) as raised:
        person.request(*request)
    with raised.value:
        return raised.value.code


def test_what_a_user_said_is_known_in_another_session_and_to_nobody_else(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", [str(EXAMPLE)])
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    printed = capsys.readouterr().out
    which = "Which valve is in the kitchen's boiler?"
    assert f"ben (monday): {which}\nbot: I know nothing of it." in printed
    assert f"ana (tuesday): {which}\nbot: You told me: The boiler in the" in printed
    assert "It is of steel since last week" in printed.partition("ana (wednesday)")[2]
    assert printed.endswith("ana has it forgotten: ['e1', 'e4']\nben is remembered with 2 items\n")


def test_who_has_no_token_gets_nothing(people: dict[str, Any]) -> None:
    assert refused(people["eve"], "GET", "/memory") == 401
    assert refused(people["eve"], "POST", "/chat", {"session": "s", "text": VALVE}) == 401


def test_feedback_on_the_answer_of_another_is_refused(people: dict[str, Any]) -> None:
    answer = people["ana"].say("monday", VALVE)
    correction = {"answer": answer, "correction": "I own it."}
    assert refused(people["ben"], "POST", "/feedback", correction) == 400
    told = people["ana"].request("POST", "/feedback", {"answer": answer, "thumbs": True})
    assert told == {"reward": 1.0, "remembered": None}


def test_nobody_can_forget_what_is_anothers(people: dict[str, Any]) -> None:
    people["ana"].say("monday", VALVE)
    assert refused(people["ben"], "DELETE", "/memory/e1") == 400
    assert [item["text"] for item in people["ana"].request("GET", "/memory")] == [
        VALVE,
        f"Noted: {VALVE}",
    ]


def test_what_a_user_has_forgotten_is_in_no_answer_of_the_bots_either(
    people: dict[str, Any],
) -> None:
    people["ana"].say("monday", VALVE)
    assert people["ana"].request("DELETE", "/memory/e1") == {"forgotten": ["e1", "e2"]}
    assert people["ana"].request("GET", "/memory") == []


def test_a_model_that_is_down_is_said_to_be(
    people: dict[str, Any], example: dict[str, Any]
) -> None:
    client = AsyncOpenAI(base_url="http://127.0.0.1:9", api_key="unused", max_retries=0)
    app = example["make_backend"](
        client, Memories(encoder=BagEncoder()), {"1": "ana"}, model="good"
    )
    with example["serving"](app) as url:
        ana = example["Person"](url, "ana", "1")
        assert refused(ana, "POST", "/chat", {"session": "monday", "text": VALVE}) == 502
        (kept,) = ana.request("GET", "/memory")  # what she said stays
        assert (kept["who"], kept["text"]) == ("user", VALVE)


def test_a_mistake_of_a_request_is_one_line(people: dict[str, Any]) -> None:
    answer = people["ana"].say("monday", ASKED)
    assert refused(people["ana"], "POST", "/feedback", {"answer": answer}) == 400
    assert refused(people["ana"], "POST", "/chat", {"session": "monday"}) == 422
