"""Who may replace whom, and when: what lines say is judged only where it may count."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent import InvalidInput, SlotMemory
from demem_agent.errors import NotFound
from demem_agent.types import Reading

OLD, NEW = "My dentist is Dr Rao.", "My dentist is Dr Levin."
ASKED = "Who is my dentist?"
BESIDE = ("The bakery on Elm Road was shut.", "Our choir sings on Mondays.", "It rained all day.")
BESIDE_BY = ("Ben", "Eve", "Tom")


def memory_of(*lines: dict[str, Any], **options: Any) -> SlotMemory:
    memory = SlotMemory(**options)
    for number, (text, speaker) in enumerate(zip(BESIDE, BESIDE_BY, strict=True)):
        memory.ingest(text, speaker=speaker, at=f"2024-01-0{number + 1}")
    for line in lines:
        memory.ingest(**line)
    return memory


def said(text: str, at: str | None, speaker: str | None = "Ana", **more: Any) -> dict[str, Any]:
    return {"text": text, "at": at, "speaker": speaker, **more}


def order(reading: Reading) -> list[str]:
    return [line.text for line in sorted(reading.lines, key=lambda line: -line.score)]


def first(*lines: dict[str, Any], question: str = ASKED) -> str:
    return order(memory_of(*lines).read(question))[0]


def replaced(*lines: dict[str, Any], question: str = ASKED) -> list[tuple[str, str]]:
    """Return which texts stand behind which others."""
    memory = memory_of(*lines)
    texts = {item.id: item.text for item in memory.evidence()}
    pairs = memory.read(question).replaced
    return [(texts[old[0]], texts[new[0]]) for old, new in pairs]


@pytest.mark.parametrize(
    ("old", "new", "question"),
    [
        (OLD, NEW, ASKED),
        ("The heating works.", "The heating is off.", "Does the heating work?"),
        ("Ich wohne in Kassel.", "Ich wohne in Trier.", "Wo wohne ich?"),
        ("例会在周二上午十点。", "例会在周四下午两点。", "例会什么时候?"),
    ],
)
@pytest.mark.parametrize("speaker", ["Ana", None])
def test_what_was_said_later_stands_first_in_either_order(
    old: str, new: str, question: str, speaker: str | None
) -> None:
    for before, after in ((old, new), (new, old)):
        lines = (said(before, "2024-03-01", speaker), said(after, "2024-06-01", speaker))
        assert first(*lines, question=question) == after
        assert first(*lines[::-1], question=question) == after


@pytest.mark.parametrize(
    ("old", "new", "question"),
    [
        (
            "The front door code is 4471.",
            "The back door code is 9982.",
            "What is the front door code?",
        ),
        (
            "The upper shelf holds the paint.",
            "The lower shelf holds the glue.",
            "What does the upper shelf hold?",
        ),
        (
            "My sister lives in Graz.",
            "My brother lives in Linz.",
            "Where does my sister live?",
        ),
        ("Bus 41 leaves at 8:10.", "Bus 42 leaves at 8:25.", "When does bus 41 leave?"),
    ],
)
@pytest.mark.parametrize("speaker", ["Ana", None])
def test_another_subject_takes_nothing_over(
    old: str, new: str, question: str, speaker: str | None
) -> None:
    lines = (said(old, "2024-03-01", speaker), said(new, "2024-06-01", speaker))
    memory = memory_of(*lines)
    assert order(memory.read(question))[0] == old
    assert not any(line.superseded for line in memory.read(question).lines)


@pytest.mark.parametrize(
    "new",
    [
        said(NEW, "2024-06-01", "Ben"),
        said(NEW, "2024-06-01", "assistant"),
        said(NEW, "2024-06-01", "tool"),
        said(NEW, "2024-06-01", trust=0.0),
        said(NEW, "2024-02-01"),
    ],
)
def test_nobody_else_no_less_trusted_and_no_earlier_line_replaces_one(new: dict[str, Any]) -> None:
    assert (OLD, NEW) not in replaced(said(OLD, "2024-03-01"), new)


def test_an_echo_of_the_assistant_stands_behind_whatever_its_date() -> None:
    echo = "Noted, Dr Rao is your dentist."
    lines = (
        said(OLD, "2024-03-01"),
        said(NEW, "2024-06-01"),
        said(echo, "2024-07-01", "assistant"),
    )
    memory = memory_of(*lines)
    found = order(memory.read(ASKED))
    assert found.index(NEW) < min(found.index(OLD), found.index(echo))


def test_what_is_said_again_after_all_is_not_over() -> None:
    again = "We are back with Dr Rao, my dentist is Dr Rao."
    lines = (said(OLD, "2024-03-01"), said(NEW, "2024-06-01"), said(again, "2024-09-01"))
    assert (OLD, NEW) not in replaced(*lines)
    assert first(*lines) == again


def test_passages_of_a_document_replace_nothing() -> None:
    memory = SlotMemory(clock=None)
    turns = [
        {"text": text, "source_id": f"manual:{n}"}
        for n, text in enumerate(
            [
                "The fan of the Ember 5 is covered for 4 years.",
                "The display of the Ember 5 is covered for 2 years.",
                "The fan of the Ember 5 is covered for 6 years.",
            ]
        )
    ]
    memory.ingest_many(turns)
    assert memory.read("How long is the fan of the Ember 5 covered?").replaced == ()
    assert [item.id for item in memory.evidence(where={"holds": False})] == []


def test_rows_of_a_table_of_nobody_replace_nothing() -> None:
    lines = [said(f"Box {n} holds {n + 9} spoons.", f"2024-03-0{n}", None) for n in range(1, 6)]
    assert replaced(*lines, question="How many spoons does box 2 hold?") == []


def test_items_of_one_moment_are_never_over() -> None:
    lines = [said(text, "2024-03-01T10:00") for text in (OLD, NEW)]
    memory = memory_of(*lines)
    assert not any(line.superseded for line in memory.read(ASKED).lines)
    assert all(version.holds for version in memory.history("e4"))


def test_undated_lines_come_as_they_were_remembered() -> None:
    memory = SlotMemory(clock=None)
    for text in (OLD, BESIDE[0], NEW):
        memory.ingest(text, speaker="Ana")
    assert order(memory.read(ASKED))[0] == NEW


CHAIN = [
    said("I work at Harbour Ltd.", "2023-01-01"),
    said("I work at Quay Group.", "2023-08-01"),
    said("I live in Cork.", "2023-02-01"),
    said("I live in Galway.", "2024-02-01"),
    said("My manager is Priya.", "2023-03-01"),
    said("My manager is Tomas.", "2024-03-01"),
]
QUESTIONS = ("Where do I work?", "Where do I live?", "Who is my manager?")


def holding(lines: list[dict[str, Any]]) -> tuple[set[str], list[str]]:
    """Return what no longer holds by a filter, and what stands first for each question."""
    memory = SlotMemory()
    for line in lines:
        memory.ingest(**line)
    over = {item.text for item in memory.evidence(where={"holds": False})}
    for question in QUESTIONS:
        for line in memory.read(question).lines:
            if line.superseded:
                over.add(f"{question} {line.text} {line.superseded[0].at}")
    return over, [order(memory.read(question))[0] for question in QUESTIONS]


@given(st.permutations(CHAIN))
def test_the_same_dated_turns_in_any_order_give_the_same_lines_that_hold(
    lines: list[dict[str, Any]],
) -> None:
    assert holding(lines) == holding(CHAIN)


@given(st.data())
def test_a_mark_never_ends_before_the_line_was_said(data: st.DataObject) -> None:
    days = data.draw(st.permutations(["2024-01-05", "2024-02-05", "2024-03-05", "2024-04-05"]))
    texts = itertools.cycle(("I live in Cork.", "I live in Galway from May 2020."))
    memory = SlotMemory()
    for day, text in zip(days, texts, strict=False):
        memory.ingest(text, speaker="Ana", at=day)
    for line in memory.read("Where do I live?").lines:
        for over in line.superseded:
            assert over.at is None or line.evidence.at is None or over.at > line.evidence.at


class TestTakenBack:
    def test_a_change_that_is_none_is_taken_back_by_its_items(self) -> None:
        memory = memory_of(said(OLD, "2024-03-01"), said(NEW, "2024-06-01"))
        assert memory.read(ASKED).replaced
        memory.undo("e4>e5")
        assert memory.read(ASKED).replaced == ()
        (denied,) = memory.successions()
        assert (denied.old[0], denied.new[0], denied.how, denied.undone) == (
            "e4",
            "e5",
            "judged",
            True,
        )
        memory.check()
        again = SlotMemory.restore(memory.export())
        assert again.read(ASKED).replaced == ()

    def test_it_is_taken_back_once(self) -> None:
        memory = memory_of(said(OLD, "2024-03-01"), said(NEW, "2024-06-01"))
        memory.undo("e4>e5")
        with pytest.raises(InvalidInput, match="e4>e5"):
            memory.undo("e4>e5")
        with pytest.raises(NotFound, match="e9"):
            memory.undo("e4>e9")

    def test_forgetting_the_new_line_gives_the_old_one_its_place_back(self) -> None:
        memory = memory_of(said(OLD, "2024-03-01"), said(NEW, "2024-06-01"))
        memory.evidence(where={"holds": False})  # what is judged may be kept
        memory.forget("e5")
        assert memory.read(ASKED).replaced == ()
        assert memory.evidence(where={"holds": False}) == ()
        assert order(memory.read(ASKED))[0] == OLD

    def test_what_is_hidden_replaces_nothing(self) -> None:
        ports = ('{"host": "mail", "port": 25}', '{"host": "mail", "port": 587}')
        memory = memory_of(said(ports[0], "2024-03-01"), said(ports[1], "2024-06-01"))
        assert [item.id for item in memory.evidence(where={"holds": False})] == ["e4"]
        memory.hide("e5")
        assert memory.evidence(where={"holds": False}) == ()
        assert [version.holds for version in memory.history("e4")] == [True]

    def test_what_was_settled_the_other_way_round_is_no_change(self) -> None:
        memory = memory_of(said(OLD, "2024-03-01"), said(NEW, "2024-06-01"))
        memory.supersede("e5", "e4")
        assert order(memory.read(ASKED))[0] == OLD
        assert [version.evidence.id for version in memory.history("e4")] == ["e5", "e4"]


def test_a_question_of_before_turns_it_round() -> None:
    lines = (said(OLD, "2024-03-01"), said(NEW, "2024-06-01"))
    assert first(*lines, question="Who was my dentist before Dr Levin?") == OLD
    assert first(*lines, question="Wer war vorher mein Zahnarzt, my dentist?") == OLD


def test_a_question_of_a_time_at_which_the_old_line_held_turns_it_round() -> None:
    lines = (said(OLD, "2024-03-01"), said(NEW, "2024-06-01"))
    assert first(*lines, question="Who is my dentist in April 2024?") == OLD


def test_nothing_is_moved_where_that_is_wanted() -> None:
    lines = (said(OLD, "2024-03-01"), said(NEW, "2024-06-01"))
    assert memory_of(*lines, stale="show").read(ASKED).replaced == ()


def test_what_proved_right_since_is_not_put_behind() -> None:
    memory = memory_of(said(OLD, "2024-03-01"), said(NEW, "2024-06-01"))
    memory.feedback(memory.answer(ASKED, at="2024-08-01"), reference=OLD)
    assert order(memory.read(ASKED, at="2024-08-02"))[0] == OLD
    memory.ingest("My dentist is Dr Holm.", speaker="Ana", at="2024-09-01")
    assert order(memory.read(ASKED, at="2024-09-02"))[0] == "My dentist is Dr Holm."
