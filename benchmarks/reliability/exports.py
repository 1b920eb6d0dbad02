"""What becomes of exports that somebody has edited: refused, or restored and whole.

    python benchmarks/reliability/exports.py [--count 2000] [--seed 0] [--json]

Exports of memories to which everything has happened are changed at random: values are put in each
other's place or replaced by what nobody expects, fields go, lines go, come twice or change places.
Of every four, two have their last line written anew, as somebody would who means it, one is put
into the first format, which has none, and one is left as it is. Each is restored. Nothing but a
DeMemError may come of that, and what is restored must pass ``check()``, and go on doing so while it
is read, asked, told, undone, restored again and, item by item, forgotten.
"""

from __future__ import annotations

import argparse
import copy
import json
import platform
import random
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from reports import as_json

from demem_agent import SlotMemory, SplitSettings
from demem_agent.errors import DeMemError
from demem_agent.splitting import replay
from demem_agent.stores.manifest import END, ended
from demem_agent.testing import BagEncoder, ReadingAnswerer, ScriptedScorer
from demem_agent.types import Attempt, Compression, Proposal

Lines = list[dict[str, Any]]

COUNT = 2_000
#: Operations on one restored memory are cut short after so many items.
MOST_FORGOTTEN = 12
#: What may stand anywhere in a file.
HOSTILE: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 3, 99, 10**6, 2**31, 2**63, -(2**63) - 1, 10**400, 0.5, -0.5,
    1.5, 1e308, float("nan"), float("inf"), "", " ", "e1", "e0", "e2", "e99", "a1", "a99", "c1",
    "s1", "x1", "d1", "e", "e-1", "e1.5", "e" + "9" * 30, "\ud800", "\0", "0001-01-01",
    "9999-12-31T23:59:59-14:00", "not a time", "none", "split", "correction", "tokens", "AAAA",
    "AACAPw==", "AADAfw==", [], [[]], [1], ["e1"], ["e1", 0, 3], [["e1", 0, 3]], [["e1", 5, 2]],
    {}, {"id": "e1"}, {"a": {"b": []}}, "x" * 5_000,
)  # fmt: skip


def judged(attempt: Attempt) -> float:
    """Say whether the reading held what would have been right."""
    return float((attempt.reference or "") in attempt.reading)


class Brief:
    """Summarise by the first line, and take notes of it."""

    name = "brief"

    def compress(self, task: Compression) -> Proposal:
        """Quote the first source."""
        first = task.sources[0]
        return Proposal((first.text,), ((first.evidence_id,),))

    def take_notes(self, task: Any) -> Proposal:
        """Quote the first source."""
        first = task.sources[0]
        return Proposal((f"{first.text} indeed",), ((first.evidence_id,),))


def options() -> dict[str, Any]:
    """Return who does the work in all memories here."""
    right = ScriptedScorer(judged)
    return {
        "clock": None,
        "encoder": BagEncoder(),
        "answerer": ReadingAnswerer(),
        "scorers": (right, right),
    }


def split() -> SlotMemory:
    """Return a memory that was split, in which something was told, undone, named and forgotten."""
    memory = SlotMemory(slots=3, initial_slots=1, slot_limit=70, read_limit=90, **options())
    memory.ingest(
        "the boiler has a brass valve", speaker="Ana", at="2023-05-08T10:00+02:00", key="k"
    )
    memory.ingest("the violin has a broken bow", session="s", source="chat", trust=0.5)
    memory.ingest("this is none of your business", source_id="x3", metadata={"project": ["a", 1]})
    memory.feedback(memory.answer("Which valve has the boiler?"), reference="a brass valve")
    memory.feedback(memory.answer("Which bow has the violin?"), reference="a broken bow", key="f")
    memory.ingest("the piano has a golden key")
    memory.feedback(memory.answer("Which key has the piano?"), correction="a silver key")
    memory.rename(0, "home")
    memory.pin(0)
    memory.answer("What now?", asker="Ben", conditions=["winter"])
    memory.forget(source_id="x3")
    return memory


def crowded() -> SlotMemory:
    """Return a memory with one slot, in which conflicts wait, and with no answers to spare."""
    wait = SplitSettings(counterfactuals=2, tau_split=0.1, tau_sat=0.2)
    memory = SlotMemory(slots=1, slot_limit=70, read_limit=90, split=wait, **options())
    facts = {"boiler": "brass valve", "violin": "broken bow", "ferry": "new bell"}
    for thing, what in facts.items():
        memory.ingest(f"the {thing} has a {what}")
        asked = memory.answer(f"What has the {thing}?")
        memory.feedback(asked, reference=f"a {what}")
    return memory


def changed() -> SlotMemory:
    """Return a memory of facts that were changed, synchronised, marked and noted."""
    memory = SlotMemory(note_taker=Brief(), compressor=Brief(), **options())
    memory.ingest("Our dentist is Dr Weiss.", speaker="Ana", source="crm", source_id="c-17")
    memory.ingest("The plumber comes on Fridays.", speaker="Ben")
    memory.update("e2", "The plumber comes on Mondays.", key="u")
    memory.sync([{"text": "Our dentist is Dr Okafor.", "source_id": "c-17"}], source="crm")
    memory.sync([], source="crm", gone="forget")
    memory.ingest("The plumber is ill.", speaker="Ben")
    memory.supersede("e3", "e5", key="s")
    memory.keep("e2")
    memory.hide("e3")
    memory.take_notes()
    memory.summarise()
    return memory


def decided() -> SlotMemory:
    """Return a memory in which actions were chosen."""
    memory = SlotMemory(**options())
    for n, situation in enumerate(["a flaky test", "a broken build", "a flaky test"]):
        made = memory.decide(situation, ["retry", "read the log"], key=f"d{n}", asker="Ana")
        memory.feedback(made, reward=n / 2, key=f"o{n}")
    memory.decided("a broken build", "revert", actions=["retry"])
    memory.undo("d1")
    return memory


def bounded() -> SlotMemory:
    """Return a memory that had to make room."""
    memory = SlotMemory(storage=80, **options())
    for n in range(6):
        memory.ingest(f"number {n} of the things to keep", key=f"k{n}")
    return memory


MEMORIES: tuple[Callable[[], SlotMemory], ...] = (split, crowded, changed, decided, bounded)


def exports() -> list[Lines]:
    """Return an export of each memory, as a file has it."""
    return [json.loads(json.dumps(make().export())) for make in MEMORIES]


def mutated(lines: Lines, drawn: random.Random) -> Lines:
    """Return an export that was changed at random, in one to three places."""
    made = copy.deepcopy(lines)
    for _ in range(drawn.choice((1, 1, 1, 2, 3))):
        _mutate(made, drawn)
    closing = drawn.randrange(4)
    if closing < 2:
        return _ended(made)
    if closing == 2:
        return _of_first_format(made)
    return made


def _ended(lines: Lines) -> Lines:
    try:
        return ended(lines)
    except (TypeError, KeyError, ValueError):  # no export any more
        return lines


def _of_first_format(lines: Lines) -> Lines:
    made = [line for line in lines if line.get("kind") != END]
    if made and "format" in made[0]:
        made[0]["format"] = 1
    return made


def _mutate(lines: Lines, drawn: random.Random) -> None:
    if not lines:
        return
    place = drawn.randrange(len(lines))
    what = drawn.randrange(10)
    if what == 0:
        del lines[place]
    elif what == 1:
        lines.insert(drawn.randrange(len(lines)), copy.deepcopy(lines[place]))
    elif what == 2:
        other = drawn.randrange(len(lines))
        lines[place], lines[other] = lines[other], lines[place]
    else:
        _mutate_within(lines, place, drawn)


def _mutate_within(lines: Lines, place: int, drawn: random.Random) -> None:
    """Change a value somewhere in a line."""
    spots = list(_spots(lines[place]))
    if not spots:
        return
    holder, name = drawn.choice(spots)
    what = drawn.randrange(8)
    if what == 0 and isinstance(holder, dict):
        del holder[name]
    elif what == 1:
        other = lines[drawn.randrange(len(lines))]
        source, at = drawn.choice(list(_spots(other)) or [(holder, name)])
        holder[name] = copy.deepcopy(source[at])
    elif what <= 4:
        holder[name] = _near(holder[name], drawn)
    else:
        holder[name] = copy.deepcopy(drawn.choice(HOSTILE))


def _spots(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place within a value: what holds it, and by which name or number."""
    names: list[Any] = []
    if isinstance(value, dict):
        names = [*value]
    elif isinstance(value, list):
        names = [*range(len(value))]
    for name in names:
        yield value, name
        yield from _spots(value[name])


def _near(value: Any, drawn: random.Random) -> Any:
    """Return a value that is nearly the same."""
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, int | float):
        return drawn.choice((value + 1, value - 1, -value, value * 2, value + 0.5, str(value)))
    if isinstance(value, str):
        cut = drawn.randrange(len(value) + 1)
        return drawn.choice((value[:cut], value[cut:], value + value, value + "x", value.upper()))
    if isinstance(value, list):
        return drawn.choice((value[:-1], value[1:], value * 2, value[::-1], [value]))
    return drawn.choice((list(value), {**value, "more": 1}))


@dataclass(slots=True)
class Found:
    """What became of the exports.

    Attributes:
        failures: of what was neither refused nor whole, by where it came from.
    """

    exports: int = 0
    refused: int = 0
    restored: int = 0
    failures: Counter[str] = field(default_factory=Counter)


def tried(lines: Lines, found: Found, url: str = "memory://") -> None:
    """Restore an export, and use what comes of it to the end."""
    found.exports += 1
    try:
        memory = SlotMemory.restore(lines, url, **options())
    except DeMemError:
        found.refused += 1
        return
    except Exception as error:  # that there is none is what is measured
        found.failures[f"restore: {_named(error)}"] += 1
        return
    found.restored += 1
    try:
        with memory:
            used(memory)
    except Exception as error:
        found.failures[f"after it: {_named(error)}"] += 1


def _named(error: Exception) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    said = str(error)[:100] if isinstance(error, DeMemError) else ""
    where = frame.filename.rpartition("demem_agent/")[2]
    return f"{type(error).__name__} {said} in {where}:{frame.lineno}"


def used(memory: SlotMemory) -> None:
    """Do everything with a memory, and check it after each step.

    Raises:
        Exception: what is no error of the library, or a state that cannot be.
    """
    memory.check()
    again = SlotMemory.restore(memory.export(), **options())
    if again.export() != memory.export():
        raise AssertionError("it exports something else than it was restored from")
    for step in _steps(memory):
        try:
            step()
        except DeMemError as error:
            if type(error).__name__ == "InvariantBroken":
                raise
        memory.check()


def _steps(memory: SlotMemory) -> Iterator[Callable[[], object]]:
    yield from (memory.health, memory.storage, memory.receipts, memory.sharings)
    yield lambda: memory.read("Which valve has the boiler?", at="2024-05-01")
    yield lambda: memory.read("boiler violin", mode="strict")
    yield lambda: memory.ingest("the boiler has a brass valve", speaker="Ana", key="k")
    yield lambda: memory.feedback(memory.answer("Which bow has the violin?"), reference="a bow")
    yield lambda: memory.feedback("a1", reference="a brass valve")
    yield lambda: memory.feedback("a2", reference="a broken bow", key="f")
    yield lambda: memory.feedback("a2", correction="a steel bow")
    yield lambda: memory.decide("a flaky test", ["retry", "read the log"], key="d0", asker="Ana")
    yield lambda: memory.feedback("d2", reward=0.0)
    yield lambda: memory.tried("a flaky test")
    yield lambda: memory.update("e2", "The plumber comes on Sundays.")
    yield lambda: memory.sync([{"text": "Dr Weiss.", "source_id": "c-17"}], source="crm")
    yield lambda: memory.share()
    for certificate in memory.certificates():
        yield lambda certificate=certificate: replay(certificate)
        yield lambda certificate=certificate: memory.undo(certificate.id)
    for one in (*memory.successions(), *memory.decisions(), *memory.contexts()):
        yield lambda one=one: memory.undo(one.id)
    for decision in memory.decisions():
        yield lambda decision=decision: memory.explain(decision.id)
    numbers = [slot.number for slot in memory.slots]
    for number in numbers[1:]:
        yield lambda number=number: memory.merge(number, into=numbers[0])
    items = memory.evidence()
    for item in items:
        yield lambda item=item: memory.history(item.id)
    yield lambda: memory.forget(before="2023-06-01")
    for item in items[:MOST_FORGOTTEN]:
        yield lambda item=item: memory.forget(item.id)
    if len(items) <= MOST_FORGOTTEN:
        yield lambda: _require_nothing_left(memory)


def _require_nothing_left(memory: SlotMemory) -> None:
    for item in memory.evidence():
        memory.forget(item.id)
    if len(memory):
        raise AssertionError("what was forgotten is there")


def measured(count: int, seed: int) -> Found:
    """Restore so many mutated exports."""
    known = exports()
    found = Found()
    for n in range(count):
        drawn = random.Random(f"{seed} {n}")
        url = "sqlite:///:memory:" if n % 4 == 0 else "memory://"
        tried(mutated(known[n % len(known)], drawn), found, url)
    return found


def main() -> None:
    """Print what became of mutated exports; leave with 1 where anything failed."""
    parser = argparse.ArgumentParser(description="What becomes of edited exports.")
    parser.add_argument("--count", type=int, default=COUNT, help="exports to change")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = measured(given.count, given.seed)
    if given.json:
        print(as_json(found))
    else:
        print(f"python {platform.python_version()} on {platform.machine()}, seed {given.seed}")
        print(f"{found.exports:,} mutated exports: {found.refused:,} refused, ", end="")
        print(f"{found.restored:,} restored, {found.failures.total():,} failed")
        for what, times in found.failures.most_common(40):
            print(f"{times:6,}  {what}")
    sys.exit(bool(found.failures))


if __name__ == "__main__":
    main()
