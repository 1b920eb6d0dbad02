"""A chat without a model: what is told is noted, what is asked is quoted."""

from __future__ import annotations

from pathlib import Path

import pytest
from chatting import Chat

from demem_agent import SlotMemory

pytest.importorskip("rich")
pytest.importorskip("typer")

from demem_agent.cli.chat.quoting import asks
from demem_agent.cli.tables.route import NOT_KNOWN


def test_offline_what_is_told_is_noted_and_what_is_asked_is_quoted(chat: Chat) -> None:
    done = chat("Ana lives in Porto.", "Where does Ana live?")
    assert (done.code, done.err) == (0, "")
    assert "demem> (noted, as e1)" in done.out
    assert "demem> user: Ana lives in Porto." in done.out


def test_offline_no_question_is_given_as_its_own_answer(chat: Chat) -> None:
    done = chat("Ana lives in Porto.", *["Where does Ana live?"] * 3, options=["--json"])
    assert [turn["answer"] for turn in done.turns[1:]] == ["user: Ana lives in Porto."] * 3


def test_offline_a_corrected_question_is_answered_as_it_was_corrected(chat: Chat) -> None:
    done = chat(
        "Mr Tamm serviced it.",
        "Who serviced it?",
        "/correct Ms Saar",
        "Who serviced it?",
        options=["--json"],
    )
    assert done.turns[-1]["answer"] == "Ms Saar"


def test_offline_a_question_that_memory_cannot_answer_is_said_to_be_one(chat: Chat) -> None:
    assert "(nothing in memory answers this)" in chat("Where does Ana live?").out


def test_without_a_memory_named_it_lives_in_ram_and_says_so(chat: Chat) -> None:
    done = chat("Ana lives in Porto.")
    assert "in RAM" in done.out
    assert not list(Path.cwd().iterdir())


def test_what_was_said_is_there_in_the_next_chat(chat: Chat) -> None:
    chat("Ana lives in Porto.", options=["-m", "m.db", "--read-limit", "900"])
    done = chat("Where does Ana live?", options=["-m", "m.db", "--json"])
    assert done.turns[0]["answer"] == "user: Ana lives in Porto."
    assert done.turns[0]["read"]["limit"] == 900


@pytest.mark.parametrize(
    "line", ["Where is it?", "is it here", "What now", '"Where?"', "¿Dónde está?", "行くの？"]
)
def test_a_question_is_known_by_its_end_or_its_first_word(line: str) -> None:
    assert asks(line)


@pytest.mark.parametrize("line", ["It is here.", "", "   ", "I asked where it is.", "Isabel came."])
def test_what_is_told_is_no_question(line: str) -> None:
    assert not asks(line)


def test_offline_it_is_said_where_nothing_answers(chat: Chat) -> None:
    lines = ("Ana lives in Porto.", "Where does Ana live?", "Who won the football final in Brazil?")
    known = [turn["known"] for turn in chat(*lines, options=["--json"]).turns]
    assert known == [None, True, False]
    shown = chat(*lines).out
    assert shown.count("(nothing in memory answers this)") == 1


def test_offline_what_is_not_known_can_be_withheld(chat: Chat) -> None:
    done = chat(
        "Ana lives in Porto.",
        "Who won the football final in Brazil?",
        options=["--unknown", "withhold"],
    )
    assert "demem> (nothing in memory answers this)" in done.out
    assert NOT_KNOWN not in done.out


def test_a_question_is_understood_from_the_lines_before_it(chat: Chat) -> None:
    told = ["Rui moored the boat in Kiel.", "Mia keeps the piano in Faro."]
    done = chat(*told, "Who has the boat?", "Where is it?", options=["--json"])
    assert done.turns[-1]["answer"] == "user: Rui moored the boat in Kiel."


def test_another_one_who_talks_has_said_none_of_it(chat: Chat) -> None:
    told = ["Rui moored the boat in Kiel.", "Mia keeps the piano in Faro.", "I love the boat."]
    chat(*told, "/asker Mia", "Where is it?", options=["-m", "m.db", "--json"])
    with SlotMemory.open("sqlite:///m.db") as memory:
        assert [context.query for context in memory.contexts()] == ["Where is it?"]
