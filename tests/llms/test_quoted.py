"""An answer of a model counts where its quotations stand in the reading and hold what it says."""

from __future__ import annotations

from datetime import datetime

import pytest

from demem_agent import SlotMemory
from demem_agent.llms.quoted import cited, unfounded
from demem_agent.types import Question

LINES = (
    {"text": "I am allergic to peanuts and sesame.", "speaker": "Noor", "at": "2025-01-16"},
    {"text": "We moved to Porto yesterday, with 3 cats.", "speaker": "Mara", "at": "2025-11-15"},
    {"text": "The rent is 1,240 euros.", "speaker": "Mara", "at": "2025-11-20"},
)


def asked(query: str) -> Question:
    memory = SlotMemory(clock=None)
    memory.ingest_many(LINES)
    return Question(query, datetime(2025, 12, 1), memory.read(query, floor=0))


@pytest.mark.parametrize(
    "quote",
    [
        "I am allergic to peanuts and sesame",
        "allergic to peanuts",
        "16 January 2025 - Noor: I am allergic to peanuts and sesame",
        "2025-01-16 Noor: I am allergic to peanuts",
        "I am allergic to peanuts and sesame...",
        "Noor is allergic to peanuts, sesame",
    ],
)
def test_a_quotation_leads_to_its_line(quote: str) -> None:
    question = asked("What is Noor allergic to?")
    assert [line.evidence.id for line in cited([quote], question.reading.lines)] == ["e1"]


@pytest.mark.parametrize("quote", ["", "...", "the moon", "allergic", "peanuts grow underground"])
def test_other_words_lead_to_no_line_but_for_one_that_stands_there(quote: str) -> None:
    question = asked("What is Noor allergic to?")
    found = [line.evidence.id for line in cited([quote], question.reading.lines)]
    assert found == (["e1"] if quote == "allergic" else [])


@pytest.mark.parametrize(
    ("answer", "quote"),
    [
        ("peanuts and sesame", "allergic to peanuts"),
        ("14 November 2025", "moved to Porto yesterday"),
        ("2025-11-14", "moved to Porto yesterday"),
        ("November 2025", "moved to Porto yesterday"),
        ("To Porto, on Friday", "moved to Porto yesterday"),
        ("Three cats", "with 3 cats"),
        ("Because she moved.", "moved to Porto"),
        ("1,240 euros", "The rent is 1,240 euros"),
        ("1 line", "The rent is"),
    ],
)
def test_what_the_quotations_hold_may_be_said(answer: str, quote: str) -> None:
    question = asked("Where did Mara move, and what is the rent?")
    assert unfounded(answer, question, cited([quote], question.reading.lines)) is None


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("2024-11-14", "date"),
        ("on 15 May 2025", "date"),
        ("12 cats", "number"),
        ("1,300 euros", "number"),
        ("to Lisbon", "name"),
        ("She and Tomek moved", "name"),
    ],
)
def test_a_date_a_number_or_a_name_from_nowhere_is_told(answer: str, kind: str) -> None:
    question = asked("Where did Mara move, and what is the rent?")
    lines = cited(["moved to Porto yesterday"], question.reading.lines)
    told = unfounded(answer, question, lines)
    assert told is not None
    assert kind in told
