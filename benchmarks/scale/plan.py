"""What many memories would need, reckoned from what one costs: python benchmarks/scale/plan.py

    python benchmarks/scale/plan.py [--memories 1e6 1e7 1e8] [--hot 0.01] [--reads 50] [--writes 20]
        [--peak 3] [--busy 0.6] [--price-disk 0.08] [--units FILE]

Bytes, RAM, cores and money of so many memories of which a share is used on a day, and the first
wall: which limit is reached with the fewest memories. Every number that was not measured here is an
assumption, an argument with its default, and printed. Multiplication, no more: it knows nothing of
replicas, networks, indexes of a server's store, or of people who are all there at once.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from units import Units, read

__all__ = ["Assumed", "Needs", "needs_of", "walls_of"]

_DAY = 86_400.0
_GB = 10**9


@dataclass(frozen=True, slots=True)
class Assumed:
    """What is taken for granted; prices are in dollars a month, rounded from list prices of large
    clouds for one region in 2025, without discounts: put in your own.

    Attributes:
        hot: which share of the memories is used on a day; ``reads`` and ``writes`` of each then.
        peak: how many times the average the busiest hour has.
        busy: how busy a core may be at the peak, so that nobody waits long.
        spread: in how many workers a hot memory is open.
        disk, objects, ram: a GB; ``core``: one.
        commits: durable commits a second of one primary (a bare statement of PostgreSQL's at 32
            connections made 7,140 on a two-core machine).
        rewrite: seconds that everybody may wait while a SQLite file is written anew, as after a
            memory is deleted, at 17 ms a MB.
        machine: GB of RAM of a machine; ``volume``: GB of a disk.
    """

    hot: float = 0.01
    reads: float = 50.0
    writes: float = 20.0
    peak: float = 3.0
    busy: float = 0.6
    spread: float = 1.0
    disk: float = 0.08
    objects: float = 0.023
    ram: float = 3.0
    core: float = 25.0
    commits: float = 7_140.0
    rewrite: float = 10.0
    machine: float = 512.0
    volume: float = 16_000.0


@dataclass(frozen=True, slots=True)
class Needs:
    """What so many memories need.

    Attributes:
        disk: bytes with all in the store; ``disk_hot``: with all others put aside, of which
            ``objects`` are the bytes.
        ram: bytes of open memories and of workers; ``cores`` at the peak, a worker each.
        commits: a second at the peak.
        dollars: a month with all in the store; ``dollars_aside`` with the others put aside.
    """

    memories: float
    disk: float
    disk_hot: float
    objects: float
    ram: float
    cores: float
    commits: float
    dollars: float
    dollars_aside: float


def needs_of(memories: float, units: Units, assumed: Assumed) -> Needs:
    """Return what so many memories need."""
    hot = memories * assumed.hot
    reads = hot * assumed.reads / _DAY * assumed.peak
    writes = hot * assumed.writes / _DAY * assumed.peak
    opens = hot * assumed.spread / _DAY * assumed.peak
    work = reads * units.mean("read") + writes * units.mean("ingest") + opens * units.mean("open")
    work += hot * assumed.spread / _DAY * units.mean("back")
    cores = max(1.0, work / assumed.busy)
    of_one = units.items * units.item_bytes
    disk, disk_hot = memories * of_one, hot * of_one
    objects = (memories - hot) * units.object_bytes
    ram = hot * assumed.spread * units.memory_bytes + cores * units.process_bytes
    running = ram / _GB * assumed.ram + cores * assumed.core
    return Needs(
        memories=memories,
        disk=disk,
        disk_hot=disk_hot,
        objects=objects,
        ram=ram,
        cores=cores,
        commits=writes,
        dollars=running + disk / _GB * assumed.disk,
        dollars_aside=running + disk_hot / _GB * assumed.disk + objects / _GB * assumed.objects,
    )


def walls_of(units: Units, assumed: Assumed) -> dict[str, float]:
    """Return with how many memories each limit is reached, the first wall first."""
    one = needs_of(10**9, units, assumed)  # so many that a single worker does not count
    each = {name: getattr(one, name) / 10**9 for name in ("disk", "disk_hot", "ram", "commits")}
    file = assumed.rewrite / 0.017 * 2**20
    walls = {
        "a SQLite file that is written anew": file / each["disk"],
        "the RAM of one machine": assumed.machine * _GB / each["ram"],
        "the disk of one store": assumed.volume * _GB / each["disk"],
        "the disk of one store, with the others put aside": assumed.volume * _GB / each["disk_hot"],
        "the commits of one primary": assumed.commits / each["commits"],
    }
    return dict(sorted(walls.items(), key=lambda wall: wall[1]))


def table(needs: list[Needs]) -> Iterator[str]:
    """Yield the lines of a table."""
    yield (
        "| memories | store | store and objects, the rest aside | RAM | cores | commits/s "
        "| $/month | $/month, aside |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    for one in needs:
        aside = f"{_bytes(one.disk_hot)} and {_bytes(one.objects)}"
        yield (
            f"| {one.memories:,.0f} | {_bytes(one.disk)} | {aside} | {_bytes(one.ram)} | "
            f"{one.cores:,.0f} | {one.commits:,.0f} | {one.dollars:,.0f} | "
            f"{one.dollars_aside:,.0f} |"
        )


def _bytes(count: float) -> str:
    for unit, size in (("PB", 10**15), ("TB", 10**12), ("GB", _GB), ("MB", 10**6)):
        if count >= size:
            return f"{count / size:,.1f} {unit}"
    return f"{count:,.0f} bytes"


def main() -> int:
    """Print what is needed, and what is reached first."""
    parser = argparse.ArgumentParser(description="Reckon what many memories need.")
    parser.add_argument("--memories", type=float, nargs="+", default=[1e6, 1e7, 1e8])
    parser.add_argument("--units", type=Path, default=Path(__file__).with_name("units.json"))
    names = {"disk", "objects", "ram", "core"}
    for name in Assumed.__dataclass_fields__:
        option = f"price-{name}" if name in names else name
        parser.add_argument(f"--{option}", dest=name, type=float, default=getattr(Assumed(), name))
    given = vars(parser.parse_args())
    units = read(given.pop("units"))
    counts = given.pop("memories")
    assumed = Assumed(**given)
    print(f"measured: {units.items:,} items a memory, {units.machine}, {units.commit}")
    print(f"assumed: {assumed}\n")
    print("\n".join(table([needs_of(count, units, assumed) for count in counts])))
    print("\nwalls:")
    for what, count in walls_of(units, assumed).items():
        print(f"{count:14,.0f} memories: {what}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
