"""What a memory with bounded storage still knows, on dialogues with known evidence.

    python benchmarks/storage.py --data FOLDER/locomo_dev5.json --json > storage.json
    python benchmarks/storage.py --report storage.json --into docs/storage.md

A dialogue is remembered, and of every second question the answer is told. Then only so many
characters may be kept, and all questions are asked: those that were told of again, and those that
nobody asked before. Counted is the share of a question's gold turns that are in 2,000 characters
read. The same with the bound from the beginning on, where a question is asked as soon as what it
is about was said. FOLDER is LoCoMo's; it is not shipped. Some five minutes; drawing needs the
extra `lab`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from evaluate_all import commit, header, replaced, row

from demem_agent import SlotMemory
from demem_agent.evaluate.bootstrap import Interval, bootstrap
from demem_agent.evaluate.data.dialogue import Dialogue, Probe
from demem_agent.evaluate.data.locomo import load_locomo
from demem_agent.evaluate.drawing.looks import label, new_figure
from demem_agent.slots.experiment import Experiment
from demem_agent.slots.keeping import (
    Brought,
    Piece,
    by_worth,
    certificate_piece,
    context_piece,
    item_piece,
    rests_on,
    specificity,
)
from demem_agent.slots.state import State
from demem_agent.types import number_of

Order = Callable[[State, Brought], Iterable[Piece]]

ROOT = Path(__file__).parents[1]
DRAWING = ROOT / "docs" / "drawings" / "storage.svg"
STORAGES = (5_000, 10_000, 20_000, 40_000, 80_000)
AT = 20_000
READ = 2_000
#: What a picture and the table call the ways to choose what is kept.
OURS = "by decision"
LOOKS = {OURS: "#D55E00", "most specific": "#0072B2", "newest": "#888888", "everything": "#000000"}
TOLD = ("text", "lines")


def newest(state: State, _: Brought) -> Iterator[Piece]:
    """Yield what is kept, the oldest items first, once all contexts have gone."""
    yield from records(state)
    for item in sorted(state.evidence, key=number_of):
        yield item_piece(state, item)


def most_specific(state: State, _: Brought) -> Iterator[Piece]:
    """Yield what is kept, the least specific items first, once all contexts have gone."""
    yield from records(state)
    ranked = [(specificity(state, item), number_of(item), item) for item in state.evidence]
    for _, _, item in sorted(ranked):
        yield item_piece(state, item)


def records(state: State) -> Iterator[Piece]:
    """Yield what is kept besides items."""
    for id in state.certificates:
        yield certificate_piece(state, id)
    for id in state.contexts:
        yield context_piece(state, id)


ORDERS: Mapping[str, Order] = {
    OURS: by_worth,
    "most specific": most_specific,
    "newest": newest,
}


@dataclass(frozen=True, slots=True)
class Asked:
    """One question, asked once all is said.

    Attributes:
        stream: how it came to the bound, and what was told.
        told: whether its answer was told before.
        recall: share in [0, 1] of its gold turns that were read.
    """

    stream: str
    dialogue: str
    system: str
    storage: int | None
    told: bool
    recall: float


def main() -> None:
    given = arguments()
    if given.report is not None:
        report = json.loads(given.report.read_text(encoding="utf-8"))
    else:
        report = measured(load_locomo(given.data), given.data.name)
    if given.json:
        json.dump(report, sys.stdout, indent=1)
        return
    made = {"made": stamp(report), "table": "\n".join(table(report)), "credit": credit(report)}
    if given.into is None:
        print("\n\n".join(made.values()))
        return
    draw(report)
    page = given.into.read_text(encoding="utf-8")
    given.into.write_text(replaced(page, made), encoding="utf-8")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--data", type=Path, help="a LoCoMo file")
    which.add_argument("--report", type=Path, help="what --json gave before")
    parser.add_argument("--json", action="store_true", help="print the report")
    parser.add_argument("--into", type=Path, help="the page to write the blocks into")
    return parser.parse_args()


# Measuring


def measured(dialogues: Sequence[Dialogue], data: str) -> dict[str, Any]:
    """Return what was read and credited, over all dialogues."""
    asked: list[Asked] = []
    credited: dict[str, list[int]] = {told: [0, 0, 0] for told in TOLD}
    for dialogue in dialogues:
        print(dialogue.name, file=sys.stderr)
        for told in TOLD:
            learned = learn(dialogue, told)
            add(credited[told], credit_of(learned, dialogue))
            asked += bounded_afterwards(learned, dialogue, told)
        asked += bounded_all_along(dialogue)
    return {
        "commit": commit(),
        "data": data,
        "read": READ,
        "credit": {told: shares(counts) for told, counts in credited.items()},
        "asked": [asdict(one) for one in asked],
    }


def probes_of(dialogue: Dialogue) -> list[Probe]:
    """Return the questions that the dialogue answers; of each second one something is told."""
    return [one for one in dialogue.probes if one.evidence and one.category != "adversarial"]


def learn(dialogue: Dialogue, told: str) -> SlotMemory:
    """Return a memory without a bound that was told of every second question."""
    memory = SlotMemory(clock=None)
    memory.ingest_many(dialogue.turns)
    for probe in probes_of(dialogue)[::2]:
        tell(memory, probe, dialogue, told)
    return memory


def tell(memory: SlotMemory, probe: Probe, dialogue: Dialogue, told: str) -> None:
    """Have a question answered, and tell its answer: in words, or by the lines that hold it."""
    answer = memory.answer(probe.question)
    if told == "text":
        memory.feedback(answer, reference=probe.reference)
        return
    for turn in dialogue.turns:
        if turn.source_id in probe.evidence:
            memory.feedback(answer, reference=turn.text)


def credit_of(memory: SlotMemory, dialogue: Dialogue) -> list[int]:
    """Count items that are credited and right, that are credited, and that are right."""
    sources = {item.id: item.source_id for item in memory.evidence()}
    counts = [0, 0, 0]
    for context, probe in zip(memory.contexts(), probes_of(dialogue)[::2], strict=True):
        found = {sources[item] for item in rests_on(context)}
        gold = set(probe.evidence)
        add(counts, [len(found & gold), len(found), len(gold)])
    return counts


def add(counts: list[int], more: Sequence[int]) -> None:
    """Add counts to others, place by place."""
    for n, count in enumerate(more):
        counts[n] += count


def shares(counts: Sequence[int]) -> dict[str, float]:
    """Return precision and recall."""
    both, credited, gold = counts
    return {"precision": both / max(credited, 1), "recall": both / gold}


def bounded_afterwards(learned: SlotMemory, dialogue: Dialogue, told: str) -> Iterator[Asked]:
    """Ask all questions of a memory that may keep only so much from now on."""
    lines = learned.export()
    stream = f"bounded afterwards, told by {told}"
    everything = SlotMemory.restore(lines, clock=None)
    yield from ask(everything, dialogue, stream, "everything")
    for system, order in ORDERS.items():
        for storage in STORAGES:
            experiment = Experiment(keeping=order)
            memory = SlotMemory.restore(lines, storage=storage, experiment=experiment, clock=None)
            memory.rename(memory.slots[0].number, None)  # any call that changes it will do
            require_within(memory, storage)
            yield from ask(memory, dialogue, stream, system, storage)


def bounded_all_along(dialogue: Dialogue) -> Iterator[Asked]:
    """Ask all questions of a memory that was never larger, told as soon as a question can be."""
    for system, order in ORDERS.items():
        memory = SlotMemory(storage=AT, experiment=Experiment(keeping=order), clock=None)
        waiting = probes_of(dialogue)[::2]
        said: set[str] = set()
        for turn in dialogue.turns:
            memory.ingest_many([turn])
            said.add(turn.source_id or "")
            ready = [probe for probe in waiting if said.issuperset(probe.evidence)]
            waiting = [probe for probe in waiting if probe not in ready]
            for probe in ready:
                tell(memory, probe, dialogue, "text")
        require_within(memory, AT)
        yield from ask(memory, dialogue, "bounded all along", system, AT)


def require_within(memory: SlotMemory, storage: int) -> None:
    """Stop where a memory keeps more than it may."""
    used = memory.storage().used
    if used > storage:
        sys.exit(f"{used} characters are kept, {storage} were allowed")


def ask(
    memory: SlotMemory,
    dialogue: Dialogue,
    stream: str,
    system: str,
    storage: int | None = None,
) -> Iterator[Asked]:
    """Ask all questions, and see how much of their evidence is read."""
    for n, probe in enumerate(probes_of(dialogue)):
        gold = set(probe.evidence)
        reading = memory.read(probe.question, limit=READ)
        found = gold.intersection(item.source_id for item in reading.evidence)
        yield Asked(
            stream=stream,
            dialogue=dialogue.name,
            system=system,
            storage=storage,
            told=n % 2 == 0,
            recall=len(found) / len(gold),
        )


# Showing


def stamp(report: Mapping[str, Any]) -> str:
    """Say what the figures were made by, and from which commit."""
    made = f"Made by `python benchmarks/storage.py` from commit `{report['commit']}`"
    return f"{made} on `{report['data']}`."


def asked(report: Mapping[str, Any], where: Mapping[str, object]) -> list[dict[str, Any]]:
    """Return what was asked, and how much was found, of those that are so."""
    return [one for one in report["asked"] if where.items() <= one.items()]


def interval(report: Mapping[str, Any], where: Mapping[str, object]) -> Interval:
    """Return the mean recall of the questions that are so, with its interval over dialogues."""
    chosen = asked(report, where)
    recalls = [one["recall"] for one in chosen]
    return bootstrap(recalls, [one["dialogue"] for one in chosen])


def table(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each way to come to a bound of 20,000 characters, and to choose."""
    yield from header(f"{AT:,} characters kept", ["kept", "asked again", "never asked"])
    for stream in dict.fromkeys(one["stream"] for one in report["asked"]):
        for system in LOOKS:
            storage = None if system == "everything" else AT
            where = {"stream": stream, "system": system, "storage": storage}
            if asked(report, where):
                cells = [cell(interval(report, {**where, "told": told})) for told in (True, False)]
                yield row(stream, [system, *cells])


def cell(found: Interval) -> str:
    """Return a mean with its interval."""
    if found.low is None or found.high is None:
        return f"{found.mean:.3f}"
    return f"{found.mean:.3f} [{found.low:.2f}, {found.high:.2f}]"


def credit(report: Mapping[str, Any]) -> str:
    """Return a table of how right the items are that decisions are said to rest on."""
    lines = [*header("told", ["precision", "recall"])]
    for told, found in report["credit"].items():
        words = {"text": "the answer in words", "lines": "the lines that hold it, one by one"}[told]
        lines.append(row(words, [f"{found[name]:.2f}" for name in ("precision", "recall")]))
    return "\n".join(lines)


def draw(report: Mapping[str, Any]) -> None:
    """Draw what is read against what may be kept, asked again and never asked."""
    figure = new_figure(10, 4.2)
    panels = figure.subplots(1, 2, sharey=True)
    for axes, told, title in zip(
        panels, (True, False), ("asked again", "never asked"), strict=True
    ):
        for system, colour in LOOKS.items():
            curve(axes, report, system, colour, told=told)
        label(axes, "characters kept", "gold turns read" if told else "", title)
        axes.set(xscale="log", ylim=(0, 1), xticks=STORAGES)
        axes.set_xticklabels([f"{storage:,}" for storage in STORAGES])
        axes.minorticks_off()
    panels[1].legend(frameon=False, fontsize=9, loc="lower right")
    figure.savefig(DRAWING, metadata={"Date": None})


def curve(axes: Any, report: Mapping[str, Any], system: str, colour: str, *, told: bool) -> None:
    stream = "bounded afterwards, told by text"
    where: dict[str, object] = {"stream": stream, "system": system, "told": told}
    if system == "everything":
        mean = interval(report, where).mean
        axes.axhline(mean, color=colour, linestyle=":", linewidth=1, label=system)
        return
    found = [interval(report, {**where, "storage": storage}) for storage in STORAGES]
    means = [one.mean for one in found]
    axes.plot(STORAGES, means, marker="o", markersize=4, color=colour, label=system)


if __name__ == "__main__":
    main()
