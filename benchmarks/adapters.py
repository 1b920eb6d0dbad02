"""Measure what an adapter costs over the plain calls: python benchmarks/adapters.py [--turns N]
[--only NAME] [--json]

For each framework that is installed, three things in turn, turn by turn, in one process: a turn
through the framework without the adapter, the same turn with it, and by hand what the adapter did
to its memory: one ``read``, and an ``ingest`` for each text that it remembered and an ``answered``
if it recorded one, on a copy of the memory. The overhead of a turn is what is left of the second
without the first and the third. Each memory holds the same 200 items at first and grows by what the
turns say; encoder, limits and store are the defaults. Garbage is collected between the timed parts,
never in them. "shared code" is what all adapters call, without any framework. Times are in ms, of
the processor and, of the same turns, by the clock. Processor time of all threads does not count
waiting for a thread or for what else a machine does, which the clock does; what a busy machine
slows down by sharing its caches it slows down for all three, so ``share`` gives the overhead in
parts of the memory's own time.

Frameworks whose requirements exclude each other go into environments of their own, as `make
test-adapters` makes them.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from statistics import median, quantiles

from adapter_agents import AGENTS
from adapter_clients import CLIENTS
from adapter_talk import Case, Talk
from adapter_toolkits import TOOLKITS

from demem_adapters.common import Memories
from demem_agent import Evidence, SlotMemory
from demem_agent.stores import MemoryStore

#: Seconds of the processor, and by the clock.
Times = tuple[float, float]
TARGET = 1.0  # ms of the processor, of the median
WARM = 20  # turns before those that count
#: Keep the frameworks from looking for prices, versions and places to send to; said before any is
#: imported.
ALONE = {
    "CREWAI_DISABLE_TELEMETRY": "true",
    "CREWAI_TRACING_ENABLED": "false",
    "DO_NOT_TRACK": "1",
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "LANGSMITH_TRACING": "false",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
    "OTEL_SDK_DISABLED": "true",
}
MAKERS: dict[str, Callable[[Talk, Memories], Case]] = CLIENTS | AGENTS | TOOLKITS


@dataclass(frozen=True, slots=True)
class Row:
    """Medians over the turns of one adapter, in ms of processor time unless said otherwise.

    Attributes:
        without, plain, adapted: of a turn of the framework alone, of memory by hand, and of a turn
            with the adapter.
        overhead: what the adapter adds; low, high: its quartiles.
        share: the overhead in parts of ``plain``.
        by_clock: the overhead by the clock.
    """

    name: str
    without: float
    plain: float
    adapted: float
    overhead: float
    low: float
    high: float
    share: float
    by_clock: float
    met: bool


def main() -> None:
    """Time each adapter whose framework is installed, and print what it costs."""
    given = options()
    chosen = [*MAKERS]
    if given.only:
        chosen = [name for name in MAKERS if names_of(name) & {*given.only}]
    os.environ.update(ALONE)
    rows: list[Row] = []
    skipped: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as home:
        os.environ["HOME"] = home
        os.environ["CREWAI_STORAGE_DIR"] = home
        for name in chosen:
            try:
                rows.append(measured(name, given.turns))
            except ImportError as error:
                skipped[name] = str(error)
    if given.json:
        print(as_json(given, rows, skipped))
    else:
        print(as_text(given, rows, skipped))


def names_of(name: str) -> set[str]:
    """Return what an adapter may be asked for by: its name, and that of its framework."""
    return {name, name.replace(",", "").split()[0]}


def as_json(given: argparse.Namespace, rows: Sequence[Row], skipped: Mapping[str, str]) -> str:
    """Put the rows in JSON, with the settings they were measured under."""
    found = {
        "turns": given.turns,
        "target": TARGET,
        "rows": [*map(asdict, rows)],
        "skipped": skipped,
    }
    return json.dumps(found, indent=1)


def as_text(given: argparse.Namespace, rows: Sequence[Row], skipped: Mapping[str, str]) -> str:
    """Put the rows in a table, with what is not installed under it."""
    missing = [f"not installed: {name} ({why})" for name, why in skipped.items()]
    return "\n".join(
        [f"medians over {given.turns} turns, in ms of processor time\n", table(rows), *missing]
    )


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=200, help="that are timed (200)")
    parser.add_argument(
        "--only", metavar="NAME", action="append", help="only this one, or all of this framework"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    given = parser.parse_args()
    if given.turns < 2:
        parser.error("--turns must be 2 or more")
    known = set[str]().union(*map(names_of, MAKERS))
    for name in given.only or ():
        if name not in known:
            parser.error(f"--only must be one of: {'; '.join(MAKERS)}")
    return given


def measured(name: str, turns: int) -> Row:
    """Run the turns of one adapter.

    Raises:
        ImportError: if its framework is not installed.
    """
    with asyncio.Runner() as runner, Memories() as memories:
        talk = Talk(runner)
        case = MAKERS[name](talk, memories)
        memory = memories.of(case.namespace)
        if not memory.evidence():
            memory.ingest_many(talk.earlier())
        copy = SlotMemory.restore(memory.export(), MemoryStore(), clock=datetime.now)
        times = [triple(case, talk, memory, copy) for _ in range(WARM)]
        gc.collect()
        gc.freeze()  # what the framework has made by now need not be looked through after each turn
        gc.disable()
        try:
            times = [triple(case, talk, memory, copy) for _ in range(turns)]
        finally:
            gc.enable()
            gc.unfreeze()
    return summary(name, times)


def triple(
    case: Case, talk: Talk, memory: SlotMemory, copy: SlotMemory
) -> tuple[Times, Times, Times]:
    """Return what the next turn takes without the adapter, with it, and of the plain calls."""
    talk.go_on()
    items = len(memory.evidence())
    answers = len(memory.contexts())
    without = milliseconds(case.bare)
    adapted = milliseconds(case.adapted)
    kept = memory.evidence()[items:]
    answered = len(memory.contexts()) - answers
    if [item.text for item in kept] != [getattr(talk, side) for side in case.keeps]:
        raise RuntimeError(f"the adapter did not remember the turn as it was: {kept}")
    plain = milliseconds(lambda: by_hand(case, talk, copy, kept, answered))
    gc.collect()
    return without, adapted, plain


def by_hand(
    case: Case, talk: Talk, memory: SlotMemory, kept: Sequence[Evidence], answered: int
) -> None:
    """Do with a memory what the adapter did in a turn, without it."""
    reading = case.read(memory, talk.asked) if case.read else None
    for item in kept:
        memory.ingest(
            item.text,
            speaker=item.speaker,
            session=item.session,
            source=item.source,
            source_id=item.source_id,
        )
    for _ in range(answered):
        memory.answered(talk.asked, talk.said, reading=reading)


def milliseconds(work: Callable[[], object]) -> Times:
    """Return how long a piece of work takes: of the processor, and by the clock."""
    begin, began = time.process_time(), time.perf_counter()
    work()
    end, ended = time.process_time(), time.perf_counter()
    return 1e3 * (end - begin), 1e3 * (ended - began)


def summary(name: str, turns: Sequence[tuple[Times, Times, Times]]) -> Row:
    """Return the medians of an adapter's turns, and the quartiles of what it adds."""
    of_processor = [(w[0], a[0], p[0]) for w, a, p in turns]
    without, adapted, plain = (median(column) for column in zip(*of_processor, strict=True))
    low, middle, high = quantiles((a - w - p for w, a, p in of_processor), n=4)
    return Row(
        name=name,
        without=without,
        plain=plain,
        adapted=adapted,
        overhead=middle,
        low=low,
        high=high,
        share=median((a - w - p) / p for w, a, p in of_processor),
        by_clock=median(a[1] - w[1] - p[1] for w, a, p in turns),
        met=middle <= TARGET,
    )


def table(rows: Sequence[Row]) -> str:
    """List the rows as aligned text."""
    head = f"{'adapter':<24}{'without':>9}{'plain':>9}{'with':>9}{'overhead':>10}{'share':>7}"
    head += f"{'by clock':>10}"
    head += f"  {'quartiles':<16}met (<= {TARGET:g} ms)"
    lines = [head, "-" * len(head)]
    for row in rows:
        times = f"{row.without:>9.2f}{row.plain:>9.2f}{row.adapted:>9.2f}{row.overhead:>10.2f}"
        times += f"{row.share:>7.2f}{row.by_clock:>10.2f}"
        quartiles = f"{row.low:.2f} to {row.high:.2f}"
        lines.append(f"{row.name:<24}{times}  {quartiles:<16}{'yes' if row.met else 'NO'}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
