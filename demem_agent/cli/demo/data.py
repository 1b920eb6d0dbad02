"""The demo's conversation and what is asked about it.

The conversation is ``examples/demo.jsonl``, which ``demem ingest`` reads as well.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from demem_agent import Turn
from demem_agent.errors import StoreError
from demem_agent.evaluate import load_jsonl

__all__ = ["ASKED_AT", "FORGET", "NEEDS", "QUESTIONS", "SECRET", "Need", "conversation"]


class Need(NamedTuple):
    """A question that comes up again and again, and what would be a right answer to it."""

    question: str
    reference: str


#: When all questions are asked: the day after the conversation ends.
ASKED_AT = "2025-06-02T09:00"

#: Their answers stand in the conversation as "yesterday", "last Friday", "next month".
QUESTIONS = (
    "When did Mara move into the flat on Linden Street?",
    "When was Pixel at the vet?",
    "When does Okeanos deliver the last sensors?",
    "What is the budget of the tide gauge project?",
)

#: Each rests on one long sentence, two of which do not fit one summary of the demo's size. The
#: first three are one topic with three different right answers; the others follow in case that
#: these do not end up in one slot.
NEEDS = (
    Need(
        "What must I leave out of a dinner for Noor?",
        "leave out peanuts or sesame oil, even traces close her throat, so read every label twice",
    ),
    Need(
        "What should I cook for Jonas before a long run?",
        "make the sesame noodles with lots of peanut sauce, at five sharp, before a long run",
    ),
    Need(
        "What must I leave out of a dinner for Father?",
        "leave out salt or grapefruit because of his heart pills, serve lentil soup with lemon",
    ),
    Need(
        "How does a deploy to staging go out?",
        "from the develop branch on port 8443, at any hour, without a call, by one of us alone",
    ),
    Need(
        "How does a deploy to production go out?",
        "from a signed tag on port 9443, on Tuesdays after 22:00, once both of us have approved",
    ),
    Need(
        "How do I start the boiler?",
        "press the green switch twice, wait for 1.4 bar, leave the window open a hand wide",
    ),
    Need(
        "How do I start the heater?",
        "turn the grey knob once to the left, shut the window, wait for the blue lamp",
    ),
    Need(
        "How do I water the fern?",
        "every second day with rain water from the green can, in the morning, never in the sun",
    ),
    Need(
        "How do I water the cactus?",
        "on the first of the month with a single spoon from the tap, leave it in full sun",
    ),
)

#: The turn that is forgotten, by its own id, and what must be nowhere afterwards.
FORGET, SECRET = "s2:8", "62,000"


def conversation() -> tuple[Turn, ...]:
    """Return the turns of the demo, from the installed package or from the checkout.

    Raises:
        StoreError: if neither has them.
    """
    package = Path(str(files("demem_agent")))
    installed = package / "examples" / "demo.jsonl"
    checkout = package.parent / "examples" / "demo.jsonl"
    for place in (installed, checkout):
        if place.is_file():
            return load_jsonl(place).turns
    raise StoreError(
        f"the demo's conversation is not installed: looked for {installed} and {checkout}"
    )
