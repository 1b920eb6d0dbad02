"""Put a decision in other words, as people come back with it.

Five wordings, which share words with the question, and one that names the device alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from zlib import crc32

from vehicle_data import Decision
from vehicle_values import conditions_of

from demem_agent.text.language.words import STOPWORDS

__all__ = ["WORDINGS", "by_device", "wordings"]

#: How much later it is when it is asked with another passenger.
LATER = timedelta(minutes=40)

_TIME = re.compile(r"At (\d+:\d\d [AP]M)")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def wordings(decision: Decision, people: Sequence[str]) -> tuple[str, ...]:
    """Return the five wordings of a decision, in the order of :data:`WORDINGS`."""
    return tuple(put(decision, people) for put in WORDINGS.values())


def by_device(decision: Decision) -> str:
    """Name who asks and the device, and nothing else of the question."""
    return f"{decision.asker} got in and asked for the {decision.device} to be set as usual."


def _question(decision: Decision, _: Sequence[str]) -> str:
    return decision.query


def _another_ride(decision: Decision, people: Sequence[str]) -> str:
    """Say the same at another time to another passenger; what is told of the situation stays."""
    others = [name for name in people if name != decision.asker]
    passenger = others[crc32(decision.id.encode()) % len(others)]
    scene = f"At {_later(decision.query)}, {decision.asker} was driving {passenger}."
    outside = decision.query.replace(decision.quotation, "")
    situation = [part for part in _SENTENCE.split(outside) if conditions_of(part)]
    if decision.quotation == decision.query:
        return f"{scene} {_SENTENCE.split(decision.query)[-1]}"
    kept = [part for part in situation if not _TIME.match(part) and "'" not in part]
    return " ".join([scene, *kept, f"{decision.asker} told the car: '{decision.quotation}'"])


def _later(query: str) -> str:
    match = _TIME.match(query)
    at = datetime.strptime(match[1] if match else "5:00 PM", "%I:%M %p") + LATER
    return f"{at:%I:%M %p}".lstrip("0")


def _shortened(decision: Decision, _: Sequence[str]) -> str:
    """Drop every third of the words of the question that are no stop words."""
    found = []
    count = 0
    for word in _WORD.findall(decision.query):
        count += word.lower() not in STOPWORDS
        if word.lower() in STOPWORDS or count % 3:
            found.append(word)
    return " ".join(found)


def _bare(decision: Decision, _: Sequence[str]) -> str:
    return f"{decision.asker}: {decision.quotation}"


def _half(decision: Decision, _: Sequence[str]) -> str:
    words = decision.quotation.split()
    said = " ".join(words[: (len(words) + 1) // 2])
    return f"{decision.asker} wants the {decision.device} right. '{said}'"


WORDINGS: dict[str, Callable[[Decision, Sequence[str]], str]] = {
    "the question": _question,
    "another ride": _another_ride,
    "shortened": _shortened,
    "quotation": _bare,
    "device and half of the quotation": _half,
}
