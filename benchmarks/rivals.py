"""Do certificates name rivals? What two people want otherwise must not be one decision.

    pip install demem-agent
    python benchmarks/rivals.py --data FOLDER [--files 2 7] [--told line] [--json]

FOLDER has history_N.txt and qa_N.json of VehicleMemBench. The stream is ``recurring`` of
``benchmarks/decisions.py``: five rounds of all decisions of a car in a memory that keeps decisions,
each time in a wording not used before, and the ``line`` that says what is right is told with a
reward of 1 if it was first and of 0 if not.

Counted are the certificates, and how many of them name two decisions that contradict each other by
``benchmarks/vehicle_data.py``: they set another value of the same device, or what is right for one
is what contradicts the other. Of the decisions that two people want otherwise (``mirrored``), and
of those with another condition, it is counted how many have such a certificate by the end. "wrong
side" counts contexts of a split's own questions, in the same words, that are not in the slot of
their witness; "on the rival's side" those of its decisions, in any words, in the other's slot.
Milliseconds are of one feedback, by the clock of the process.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, get_args

from vehicle_data import Car, Decision, load
from vehicle_memory import Event, Judge, Situation, Subject, Told, taught
from vehicle_wordings import WORDINGS, wordings

from demem_agent import SplitCertificate
from demem_agent.slots.experience import spoken
from demem_agent.types import Context

ROUNDS = 5


@dataclass(frozen=True, slots=True)
class Named:
    """A certificate, with the two decisions that it names.

    Attributes:
        contradict: whether they contradict each other by the data.
    """

    file: int
    id: str
    regime: str
    decision: str
    pair: tuple[str, str]
    contradict: bool


@dataclass(slots=True)
class Timed:
    """A subject whose feedbacks are timed."""

    subject: Subject
    seconds: float = 0.0
    told: int = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.subject, name)

    def tell(self, *args: Any, **kwargs: Any) -> None:
        """Give feedback, and count the time that it takes."""
        begun = time.process_time()
        self.subject.tell(*args, **kwargs)
        self.seconds += time.process_time() - begun
        self.told += 1


@dataclass(slots=True)
class Found:
    """What the streams of all files came to."""

    certificates: list[Named] = field(default_factory=list)
    rivals: dict[str, list[bool]] = field(default_factory=dict)
    wrong_side: int = 0
    followed: int = 0
    decided_wrong: int = 0
    decided: int = 0
    seconds: float = 0.0
    told: int = 0
    events: list[Event] = field(default_factory=list)


def contradict(first: Decision, second: Decision) -> bool:
    """Whether two decisions contradict each other by the data."""
    other_value = first.device == second.device and first.value != second.value
    crosswise = set(first.right) & set(second.wrong) or set(second.right) & set(first.wrong)
    return first.id != second.id and (other_value or bool(crosswise))


def run(car: Car, told: Told, found: Found) -> None:
    """Live through the rounds of one car, and count."""
    timed = Timed(Subject.of(car, {"decisions": True}, ()))
    asked: list[Decision] = []
    for situation in _stream(car):
        event = taught(timed, Judge(car), car, situation, told)  # type: ignore[arg-type]  # as one
        found.events.append(event)
        asked.append(situation.decision)
    memory = timed.memory
    memory.check()
    of = {c.id: decision for c, decision in zip(memory.contexts(), asked, strict=True)}
    for certificate in memory.certificates():
        found.certificates.append(_named(car, certificate, of))
    _count_rivals(car, found)
    _count_sides(memory.contexts(), memory.certificates(), of, found)
    found.seconds += timed.seconds
    found.told += timed.told


def _stream(car: Car) -> Iterable[Situation]:
    """Yield the decisions of a car as ``decisions.py`` asks them."""
    chance = random.Random(car.number)
    put = {d.id: wordings(d, car.people) for d in car.decisions}
    orders = {d.id: _shuffled(range(ROUNDS), chance) for d in car.decisions}
    for turn in range(1, ROUNDS + 1):
        for decision in _shuffled(car.decisions, chance):
            number = orders[decision.id][turn - 1]
            wording = list(WORDINGS)[number]
            yield Situation(decision, put[decision.id][number], wording, turn)
        print(f"file {car.number}: round {turn}", end="\x1b[K\r", file=sys.stderr)


def _shuffled(items: Iterable[Any], chance: random.Random) -> list[Any]:
    found = list(items)
    chance.shuffle(found)
    return found


def _named(car: Car, certificate: SplitCertificate, of: dict[str, Decision]) -> Named:
    first, second = (of[id] for id in certificate.pair)
    return Named(
        file=car.number,
        id=certificate.id,
        regime=certificate.regime,
        decision=certificate.decision,
        pair=(first.id, second.id),
        contradict=contradict(first, second),
    )


def _count_rivals(car: Car, found: Found) -> None:
    """Count the decisions with a counterpart that have a certificate with it."""
    met = {frozenset(n.pair) for n in found.certificates if n.file == car.number}
    for decision in car.decisions:
        if decision.of != decision.id:
            certified = frozenset((decision.id, decision.of)) in met
            found.rivals.setdefault(decision.origin, []).append(certified)


def _count_sides(
    contexts: Sequence[Context],
    certificates: Sequence[SplitCertificate],
    of: Mapping[str, Decision],
    found: Found,
) -> None:
    """Count the contexts of a split's own questions by whether they are with their witness."""
    by_id = {context.id: context for context in contexts}
    for certificate in certificates:
        if certificate.decision == "split" and not certificate.undone:
            first, second = (by_id[id] for id in certificate.pair)
            _count_side(contexts, first, second, of, found)
            _count_side(contexts, second, first, of, found)


def _count_side(
    contexts: Sequence[Context],
    witness: Context,
    other: Context,
    of: Mapping[str, Decision],
    found: Found,
) -> None:
    """Count the contexts of the question of one of two witnesses, and those of its decision."""
    asked = _asked(witness)
    for context in contexts:
        if _asked(context) == asked:
            found.followed += 1
            found.wrong_side += context.slot != witness.slot
        if of[context.id].id == of[witness.id].id:
            found.decided += 1
            found.decided_wrong += context.slot == other.slot != witness.slot


def _asked(context: Context) -> tuple[str | None, str]:
    """Return who asks what."""
    return context.asker, spoken(context.query)


def main() -> None:
    """Live through the cars, and print what was certified."""
    given = _arguments()
    found = Found()
    for car in load(given.data, given.files):
        run(car, given.told, found)
    print("", end="\x1b[K", file=sys.stderr)
    report = _report(found, given.told)
    if given.json:
        print(json.dumps(report, indent=1))
        return
    for name, value in report.items():
        print(f"{name}: {value}")


def _report(found: Found, told: Told) -> dict[str, Any]:
    return {
        "told": told,
        **_of_certificates(found),
        "wrong side": f"{found.wrong_side} of {found.followed}",
        "on the rival's side": f"{found.decided_wrong} of {found.decided}",
        "milliseconds a feedback": round(1000 * found.seconds / max(found.told, 1), 2),
        **_of_readings(found.events),
    }


def _of_certificates(found: Found) -> dict[str, Any]:
    """Return how many certificates there are, and what they tell apart."""
    certificates = found.certificates
    others = [asdict(named) for named in certificates if not named.contradict]
    certified: dict[str, str] = {}
    for origin, known in found.rivals.items():
        certified[origin] = f"{sum(known)} of {len(known)}"
    return {
        "certificates": len(certificates),
        "that name rivals": len(certificates) - len(others),
        "by regime": dict(Counter(named.regime for named in certificates)),
        "by decision": dict(Counter(named.decision for named in certificates)),
        "others": others,
        "certified of": certified,
    }


def _of_readings(events: Iterable[Event]) -> dict[str, float]:
    """Return how the readings of the last two rounds are."""
    late = [event for event in events if event.round >= 4]
    contradicted = [event for event in late if event.contradicted]
    return {
        "right line first, rounds 4 and 5": _share([e.first for e in late]),
        "contradiction in 500, rounds 4 and 5": _share([e.wrong_in_short for e in contradicted]),
    }


def _share(held: Sequence[bool]) -> float:
    return round(sum(held) / max(len(held), 1), 3)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of VehicleMemBench files")
    parser.add_argument(
        "--files", type=int, nargs="*", default=[], help="numbers; all unless given"
    )
    parser.add_argument("--told", choices=get_args(Told), default="line", help="as feedback")
    parser.add_argument("--json", action="store_true", help="for programs")
    return parser.parse_args()


if __name__ == "__main__":
    main()
