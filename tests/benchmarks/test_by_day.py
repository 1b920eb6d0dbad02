"""The questions that ask for the day of a session, and what is counted of their readings."""

from __future__ import annotations

from datetime import date

from benchmark_files import benchmark

from demem_agent import SlotMemory
from demem_agent.text.times.asked_days import asked_days
from demem_agent.text.times.dates import stretches

by_day = benchmark("by_day")

DAY = date(2023, 5, 1)


def test_every_question_asks_for_its_days_alone() -> None:
    for asked in by_day.questions(DAY, date(2023, 8, 1), "Ana"):
        times = stretches(asked.text, asked.at, None)
        (span,) = asked_days(asked.text, times, asked.at, None, {"ana"})
        assert (span.first, span.last) == (asked.first, asked.last)
        assert asked.first <= DAY <= asked.last < asked.at


def test_what_was_said_then_is_told_apart_from_the_rest() -> None:
    memory = SlotMemory(clock=None)
    memory.ingest("The roof leaks.", at=DAY, session="s1")
    memory.ingest("Bruno limps on.", at="2023-06-01", session="s2")
    asked = next(by_day.questions(DAY, DAY, "Ana"))
    reading = memory.read("roof and Bruno", floor=0)
    noted = {"s1": "A leaking roof.", "s2": "A limping dog."}
    assert by_day.figures(asked, reading, memory, noted) == {
        "own": 0.5,
        "filled": 1.0,
        "summary": 1.0,
    }
