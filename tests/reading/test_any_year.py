"""A date without a year is the last of it on which something was said."""

from __future__ import annotations

import pytest

from demem_agent import Answer, SlotMemory


@pytest.fixture(scope="module")
def memory() -> SlotMemory:
    made = SlotMemory()
    for who, at, text in [
        ("Ines", "2024-02-15", "the night shift, two accidents"),
        ("Kasia", "2024-06-03", "the cat is ill"),
        ("Ines", "2025-02-15", "we baked rye bread"),
        ("Kasia", "2025-11-30", "I start on a new ward"),
    ]:
        made.ingest(text, speaker=who, at=at, session=at)
    return made


def asked(memory: SlotMemory, question: str, at: str) -> Answer:
    return memory.answer(question, asker="Ines", at=at)


@pytest.mark.parametrize(
    ("question", "at", "right"),
    [
        ("What did I write about on 15 February?", "2025-12-01", "rye bread"),
        ("What did I write about on 15 February?", "2026-03-01", "rye bread"),
        ("What did Kasia say on 3 June?", "2026-07-01", "cat is ill"),
        ("What happened at the end of November?", "2027-03-01", "new ward"),
        ("Was habe ich am 15. Februar gesagt?", "2027-03-01", "rye bread"),
    ],
)
def test_the_last_year_counts_in_which_something_was_said(
    memory: SlotMemory, question: str, at: str, right: str
) -> None:
    given = asked(memory, question, at)
    assert right in given.text
    assert given.known


@pytest.mark.parametrize(
    "question",
    [
        "What did I say on 15 February 2023?",
        "What was said on 4 June?",
        "What did Kasia say at the beginning of January?",
        "What did I say last June?",
    ],
)
def test_where_nothing_was_said_then_nothing_is_quoted(memory: SlotMemory, question: str) -> None:
    given = asked(memory, question, "2025-12-01")
    assert not given.text
    assert not given.known
