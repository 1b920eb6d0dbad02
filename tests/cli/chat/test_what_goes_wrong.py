"""What a chat does when its model, its user or its input fails."""

from __future__ import annotations

import pytest
from chatting import BEFORE, Chat, by, reply

pytest.importorskip("rich")
pytest.importorskip("typer")

from demem_agent import SlotMemory
from demem_agent.cli.chat import Session, Talker
from demem_agent.llms import OpenAIChat
from demem_agent.testing import Provider

FAULTS = (
    "401",
    "404",
    "429",
    "500",
    "html",
    "null-content",
    "no-choices",
    "cut-json",
    "length",
    "refusal",
    "reset",
)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_failing_model_costs_a_line_and_memory_answers(
    chat: Chat, provider: Provider, fault: str
) -> None:
    lines = ("Ana lives in Porto.", "Where does Ana live?")
    options = by(provider, f"fault-{fault}", "-m", "m.db", "--timeout=0.2")
    done = chat(*lines, options=options)
    assert (done.code, done.err) == (0, "")
    shown = " ".join(done.out.split())  # however it is wrapped
    assert shown.count("answered from memory instead") == 2
    assert "demem> user: Ana lives in Porto." in shown
    with SlotMemory.open("sqlite:///m.db") as memory:
        assert [item.text for item in memory.evidence()] == list(lines)


def test_after_a_failure_in_the_middle_the_model_talks_on(chat: Chat) -> None:
    with Provider(reply, faults={"shaky": "no-finish:1"}) as provider:
        done = chat(*BEFORE, "/usage", options=by(provider, "shaky", "--json"))
    first, second, usage = done.turns
    assert "cut off" in first["trouble"]
    assert (second["trouble"], second["answer"]) == (None, "The boiler has a brass valve.")
    assert usage["failures"] == {"cut off": 1}


def test_a_spending_limit_leaves_the_chat_to_memory(chat: Chat, provider: Provider) -> None:
    since = len(provider.requests)
    done = chat(*BEFORE, options=by(provider, "good", "--limit-tokens", "10", "--json"))
    assert len(provider.requests) == since
    assert ["budget of the chat" in turn["trouble"] for turn in done.turns] == [True, True]
    assert done.turns[1]["answer"] == "user: The boiler has a brass valve."


def test_an_interruption_in_an_answer_leaves_the_line_remembered_and_no_reply(
    provider: Provider,
) -> None:
    def interrupted(piece: str) -> None:
        raise KeyboardInterrupt

    talker = Talker(OpenAIChat("good", base_url=provider.url), interrupted)
    memory = SlotMemory(answerer=talker)
    with pytest.raises(KeyboardInterrupt):
        Session(memory, talker).say("Ana lives in Porto.")
    assert [item.text for item in memory.evidence()] == ["Ana lives in Porto."]
    memory.check()


def test_ctrl_c_leaves_cleanly(chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    typed = iter(["Ana lives in Porto."])

    def pressed(prompt: str = "") -> str:
        line = next(typed, None)
        if line is None:
            raise KeyboardInterrupt
        return line

    monkeypatch.setattr("builtins.input", pressed)
    done = chat(options=["-m", "m.db"])
    assert (done.code, done.err) == (0, "")
    with SlotMemory.open("sqlite:///m.db") as memory:
        assert len(memory) == 1


def test_text_that_would_act_on_a_terminal_is_written_out(chat: Chat) -> None:
    with Provider("\x1b[31mred\x07 text") as provider:
        done = chat("Hello \x1b[2J there.", options=by(provider))
    assert "\x1b" not in done.out
    assert "\x07" not in done.out
