"""The commands inside a chat: what each shows and does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from chatting import BEFORE, Chat, by, sent

pytest.importorskip("rich")
pytest.importorskip("typer")

from demem_agent import SlotMemory
from demem_agent.cli.chat import SLASH
from demem_agent.testing import Provider

USES = {
    "why": "",
    "slots": "",
    "good": "",
    "bad": "",
    "correct": "It is a steel valve",
    "reference": "a brass valve",
    "asker": "Ben",
    "conditions": "rain",
    "forget": "e1",
    "usage": "",
    "help": "",
    "quit": "",
}


def test_every_command_inside_is_tried_here() -> None:
    assert set(USES) == set(SLASH)


@pytest.mark.parametrize("model", [False, True], ids=["offline", "model"])
@pytest.mark.parametrize("name", USES)
def test_a_command_shows_something_and_gives_one_json_object(
    chat: Chat, provider: Provider, name: str, model: bool
) -> None:
    options = by(provider) if model else ()
    typed = (*BEFORE, f"/{name} {USES[name]}".strip())
    person = chat(*typed, options=options)
    assert (person.code, person.err) == (0, "")
    machine = chat(*typed, options=[*options, "--json"])
    assert (machine.code, machine.err) == (0, "")
    assert person.out.rpartition("you> ")[2].count("\n") >= 2
    assert len(machine.turns) == 3
    assert "error" not in machine.turns[2]


@pytest.mark.parametrize(
    "typed",
    [
        "/nope",
        "/",
        "/forget",
        "/forget e99",
        "/correct",
        "/why now",
        "/good",
        "/correct  ",
        "/reference x",
    ],
)
def test_a_command_that_cannot_be_carried_out_costs_a_line(chat: Chat, typed: str) -> None:
    done = chat(typed, "Ana lives in Porto.", options=["--json"])
    assert done.code == 0
    assert set(done.turns[0]) == {"error"}
    assert done.turns[1]["remembered"] == "e1"


def test_two_slashes_begin_a_line_with_one(chat: Chat) -> None:
    done = chat("//etc holds the settings.", options=["--json"])
    assert done.turns[0]["said"] == "/etc holds the settings."


def test_quit_leaves_before_the_lines_that_follow(chat: Chat) -> None:
    assert len(chat("/quit", "Ana lives in Porto.", options=["--json"]).turns) == 1


def test_a_correction_is_remembered_and_read(chat: Chat) -> None:
    done = chat(
        *BEFORE,
        "/correct It has a steel valve",
        "Which valve has the boiler?",
        "/why",
        options=["--json"],
    )
    read = [line["id"] for line in done.turns[4]["reading"]["lines"]]
    assert done.turns[2]["remembered"] in read


def test_thumbs_are_feedback_on_the_last_answer(chat: Chat) -> None:
    done = chat(*BEFORE, "/good", "/bad", options=["--json"])
    told = [(turn["channel"], turn["reward"]) for turn in done.turns[2:]]
    assert told == [("thumbs", 1.0), ("thumbs", 0.0)]


def test_what_is_forgotten_is_in_no_memory_and_no_prompt_any_more(
    chat: Chat, provider: Provider
) -> None:
    lines = (
        "The code word is xylophone.",
        "What is the code word?",
        "/forget e1",
        "What is the code word?",
    )
    done = chat(*lines, options=by(provider, "good", "-m", "m.db", "--json"))
    assert done.turns[1]["reply_id"] in done.turns[2]["replies"]
    assert "xylophone" not in json.dumps(done.turns[3])
    assert "xylophone" not in json.dumps(sent(provider)[-1])
    assert b"xylophone" not in Path("m.db").read_bytes()


def test_usage_shows_tokens_cost_calls_and_the_stable_part(chat: Chat, provider: Provider) -> None:
    done = chat(*BEFORE, "/usage", options=by(provider, "good", "--price", "1,2", "--json"))
    used = done.turns[2]
    assert (used["calls"], used["requests"], used["failures"]) == (2, 2, {})
    cost = (used["prompt_tokens"] + 2 * used["completion_tokens"]) / 1e6
    assert used["cost"] == pytest.approx(cost)
    assert 0 < used["stable_prefix"]["share"] < used["stable_prefix"]["last"] < 1


def test_who_talks_and_what_holds_are_remembered(chat: Chat) -> None:
    options = ["-m", "m.db", "--asker", "Ana", "--condition", "Rain"]
    chat(
        "The seat heating is on three.",
        "What is the seat heating on?",
        "/asker Ben",
        "/conditions night, frost",
        "What is the seat heating on?",
        "/conditions -",
        "What is the seat heating on?",
        options=options,
    )
    with SlotMemory.open("sqlite:///m.db") as memory:
        asked = [(context.asker, context.conditions) for context in memory.contexts()]
        said = [item.speaker for item in memory.evidence()]
    assert asked == [("Ana", ("rain",)), ("Ben", ("frost", "night")), ("Ben", ())]
    assert said == ["Ana", "Ana", "Ben", "Ben"]


def test_what_was_right_for_one_who_talks_is_first_for_nobody_else(chat: Chat) -> None:
    question = "What is the seat heating on?"
    done = chat(
        "The seat heating is on three for me.",
        "The seat heating is on one for me, too.",
        question,
        "/reference on three",
        question,
        "/why",
        "/asker Ben",
        question,
        "/why",
        options=["--decisions", "--asker", "Ana", "--json"],
    )
    recognised = [turn["reading"]["recognised"] for turn in done.turns if "reading" in turn]
    assert recognised[0] > 0.5
    assert recognised[1] == 0.0
