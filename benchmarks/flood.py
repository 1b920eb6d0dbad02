"""Measure whether a reading has the line that is asked for, among many of one mould.

    python benchmarks/flood.py

Somebody says fifty or two hundred lines that differ by a number or a name, and beside them stand
some talk and one line, in other words, that answers a question of the same matter. Shown by kind,
number and limit: whether that line is read, how many of the mould are, and how many are told to be
left out. Last comes how many of them are read by a question that asks for these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from demem_agent import SlotMemory
from demem_agent.types import Reading

COUNTS = (50, 200)
LIMITS = (2000, 6000)
BEGUN = datetime(2024, 1, 1)
CITIES = "Leeds York Bath Derby Hull Oxford Truro Ripon Wells Exeter Dover Luton".split()
NAMES = "Ada Ben Cara Dev Eve Finn Gus Hana Ivo Jan Kim Lea".split()
#: What is said beside.
TALK = (
    "The bakery closes at six.",
    "I moved my desk to the window.",
    "Lunch was great today.",
    "We should call the landlord about the door.",
    "My sister visits in spring.",
    "The bus was late again.",
    "I need new shoes for the trip.",
    "The film was too long for me.",
    "Let us meet at noon by the gate.",
    "The cat sleeps on the oven.",
)


@dataclass(frozen=True, slots=True)
class Kind:
    """Lines of one mould, by number; the line that answers the question; what asks for many."""

    name: str
    line: Callable[[int], str]
    told: str
    question: str
    many: str


KINDS = (
    Kind(
        "reminders",
        lambda n: f"Reminder: water the plants in the hall, day {n}",
        "Oskar does the plants in the hall on Fridays.",
        "Who waters the plants in the hall?",
        "List the reminders about the plants",
    ),
    Kind(
        "orders",
        lambda n: f"Order {4700 + 37 * n} shipped to {CITIES[n * 7 % 12]}.",
        "The parcel for the Rotterdam customer is stuck in customs.",
        "Which order was not shipped?",
        "Which orders shipped to Leeds?",
    ),
    Kind(
        "people",
        lambda n: f"{NAMES[n % 12]} asked again when the boiler in flat {n} gets repaired.",
        "The plumber Wiktor comes on Tuesday about the heating.",
        "When does the boiler get repaired?",
        "Who asked about the boiler?",
    ),
    Kind(
        "a log",
        lambda n: f"2024-03-{n % 28 + 1:02d} {n % 24:02d}:15 INFO backup {n} done in {n % 90} s",
        "Pilar set the nightly copies up on Heron.",
        "Who set up the backup?",
        "List the backups",
    ),
    Kind(
        "a sensor",
        lambda n: f"The sensor in the greenhouse reads {15 + n % 20}.{n % 10} at {n % 24}:00.",
        "Pilar put the thermometer into the glass house in May.",
        "Who installed the sensor in the greenhouse?",
        "What did the sensor in the greenhouse read?",
    ),
)


def flooded(kind: Kind, count: int) -> SlotMemory:
    """Return a memory of so many lines of a mould, with talk and the line that is asked for."""
    said = [("Sam", kind.line(n)) for n in range(count)]
    said += [("Ana", text) for text in TALK]
    said.insert(len(said) // 2, ("Ana", kind.told))
    memory = SlotMemory()
    for day, (speaker, text) in enumerate(said):
        memory.ingest(text, speaker=speaker, at=BEGUN + timedelta(day))
    return memory


def of_mould(reading: Reading) -> int:
    return sum(line.evidence.speaker == "Sam" for line in reading.lines)


def main() -> None:
    print("| lines | number | limit | read | of the mould | told to be more | where asked for |")
    print("|---|---|---|---|---|---|---|")
    for kind in KINDS:
        for count in COUNTS:
            memory = flooded(kind, count)
            for limit in LIMITS:
                reading = memory.read(kind.question, limit=limit)
                cells = (
                    kind.name,
                    count,
                    f"{limit:,}",
                    "yes" if kind.told in reading.text else "no",
                    of_mould(reading),
                    sum(line.more for line in reading.lines),
                    of_mould(memory.read(kind.many, limit=limit)),
                )
                print(f"| {' | '.join(map(str, cells))} |")


if __name__ == "__main__":
    main()
