"""How many exchanged words make another situation of what is described alike.

    python benchmarks/same_situation.py --data FOLDER [--files 2 7 17 18] [--json]

Decisions that come back in other words: those of ``vehicle``, each in five wordings, for whoever
asks, under the conditions that hold. They arrive in rounds, in another wording each time, all of a
file in one memory. For each threshold: how many arrivals are known again as what they are, how many
are taken for another decision, and how many count as new though they came up before.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from vehicle_data import Car, load
from vehicle_wordings import wordings

from demem_agent.encoders import default_encoder
from demem_agent.slots.choosing import situations
from demem_agent.slots.records import StoredSituation
from demem_agent.types import Encoder, Situation

THRESHOLDS = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 1.0)
SEED = 7


def arrivals(car: Car) -> Iterator[tuple[str, str, str, tuple[str, ...]]]:
    """Yield (decision, text, asker, conditions) of five rounds, each in another wording."""
    drawn = random.Random(SEED)
    texts = {one.id: wordings(one, car.people) for one in car.decisions}
    for number in range(5):
        order = list(car.decisions)
        drawn.shuffle(order)
        for one in order:
            yield one.id, texts[one.id][number % len(texts[one.id])], one.asker, one.conditions


def counted(car: Car, threshold: float, encoder: Encoder) -> Counter[str]:
    """Count what becomes of the arrivals of a file."""
    situations.EXCHANGED = threshold
    known = situations.Situations(encoder.encode(["a"]).shape[1])
    of: dict[str, str] = {}
    seen: set[str] = set()
    counts: Counter[str] = Counter()
    came = list(arrivals(car))
    vectors = encoder.encode([text for _, text, _, _ in came])
    for (decision, text, asker, conditions), vector in zip(came, vectors, strict=True):
        found = known.known((text, asker, conditions, vector))
        if found is None:
            counts["new" if decision not in seen else "missed"] += 1
            id = f"x{len(known) + 1}"
            known.add(StoredSituation(Situation(id, text, asker, conditions), vector))
            of[id] = decision
        else:
            counts["known" if of[found] == decision else "wrong"] += 1
        seen.add(decision)
    return counts


def table(cars: Sequence[Car]) -> list[dict[str, float]]:
    """Return the shares of arrivals at each threshold."""
    encoder = default_encoder()
    rows = []
    for threshold in THRESHOLDS:
        counts: Counter[str] = Counter()
        for car in cars:
            counts += counted(car, threshold, encoder)
        again = counts["known"] + counts["missed"] + counts["wrong"]
        shares = {name: counts[name] / again for name in ("known", "missed", "wrong")}
        rows.append({"threshold": threshold, **shares})
    return rows


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--files", type=int, nargs="*", default=[])
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rows = table(load(given.data / "vehicle", given.files))
    if given.json:
        print(json.dumps(rows))
        return
    print("exchanged   known   missed   wrong")
    for row in rows:
        print(
            f"{row['threshold']:9.2f}   {row['known']:.3f}    {row['missed']:.3f}   "
            f"{row['wrong']:.3f}"
        )


if __name__ == "__main__":
    main()
