"""Audit splits by two definitions.

Paper: appendix "Certified Split: Trigger Frequency and Accuracy on LoCoMo".

* By the paper's, a pair of contexts is incompatible when their gold together is longer than L.
* By its own claim, a certificate is right when, whichever of its contents the two share, one of
  them has less gold than it could have (:mod:`demem_agent.studies.splits.gold`).

Precision and recall by claim are those on recorded tests, where nothing was split
(:mod:`demem_agent.studies.splits.recorded`). All else is of a replay as the memory ships
(:mod:`demem_agent.studies.splits.loop`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from operator import attrgetter

from demem_agent.evaluate.data.dialogue import Dialogue
from demem_agent.evaluate.grouping import grouped
from demem_agent.memory import SlotMemory
from demem_agent.settings import Settings, SplitSettings
from demem_agent.studies.asking import Tick, ticked
from demem_agent.studies.intervals import Intervals
from demem_agent.studies.paper import SLOTS as PAPER_SLOTS
from demem_agent.studies.paper import SPLITS as PAPER
from demem_agent.studies.records import flags
from demem_agent.studies.sheets import Cell, Found, Sheet, SheetRow, spread
from demem_agent.studies.splits.claims import claims_sheet
from demem_agent.studies.splits.curves import Point, curve, held_out, point
from demem_agent.studies.splits.gold import rights
from demem_agent.studies.splits.loop import CoRouted, Run, Within, replay_splits, within_slots
from demem_agent.studies.splits.recorded import PAIRS, Tried, record_tests

__all__ = ["LENGTHS", "audit_splits", "summed_splits"]

#: The memory's own L, and shorter ones that show what the paper's definition depends on;
#: characters.
LENGTHS = (2000, 800, 400, 200)

NOTES = (
    f"Tested pairs: at most {PAIRS} a feedback (the memory itself tests {SplitSettings().pairs}), "
    "chosen by the trigger's rule while nothing was split. Conflicts: those where, by gold, each "
    "shared content serves one of the two worse than it could be served. Any: chosen without a "
    "look at whether the evidence is credible; recall is then of the conflicts among all these "
    "pairs. Parted: a certificate names the pair, or it is in two slots at the end.",
)


def audit_splits(
    dialogues: Sequence[Dialogue], *, seed: int = 0, tick: Tick | None = None
) -> Found:
    """Replay each dialogue with and without splits, and sum up."""
    runs: list[Run] = []
    pairs: list[CoRouted] = []
    tests: list[Tried] = []
    within: list[Within] = []
    for dialogue in ticked(dialogues, tick):
        recorded = record_tests(dialogue)
        tests += recorded.tests
        memory = SlotMemory(clock=None)
        run, met = replay_splits(memory, dialogue)
        runs.append(run)
        pairs += met
        within += (
            _before_feedback(dialogue),
            within_slots(recorded.memory, dialogue, "after, never split"),
            within_slots(memory, dialogue, "after"),
        )
    return summed_splits(runs, pairs, tests, within, seed=seed)


def _before_feedback(dialogue: Dialogue) -> Within:
    memory = SlotMemory(clock=None)
    memory.ingest_many(dialogue.turns)
    return within_slots(memory, dialogue, "before feedback")


def summed_splits(
    runs: Sequence[Run],
    pairs: Sequence[CoRouted],
    tests: Sequence[Tried],
    within: Sequence[Within],
    *,
    seed: int = 0,
) -> Found:
    """Sum up records; without a dialogue with gold there is nothing to sum up."""
    chosen = [test for test in tests if test.chosen]
    sheets = (
        _frequency(runs, seed),
        claims_sheet(tests, runs, pairs, seed),
        _by_length(runs, pairs, seed),
        _within(within, seed),
        _dialogues(runs, chosen),
    )
    return Found([*runs, *pairs, *tests, *within], sheets, NOTES, _all_drawn(chosen))


def _all_drawn(chosen: Sequence[Tried]) -> dict[str, object]:
    """Return the points of the figure, of the tests that the trigger's own rule chose."""
    shipped = point(chosen, SplitSettings().tau_split)
    return {
        "curve": list(map(_drawn, curve(chosen))),
        "shipped": _drawn(shipped),
        "others": {name: _drawn(one) for name, one in held_out(chosen).items()},
        "paper": {"precision": PAPER["precision"], "recall": PAPER["recall"]},
    }


def _drawn(one: Point) -> dict[str, float]:
    return {**asdict(one), "precision": one.precision, "recall": one.recall}


def _frequency(runs: Sequence[Run], seed: int) -> Sheet:
    rows = (*_rows_of_splits(runs, seed), *_rows_of_slots(runs, seed))
    return Sheet("How often slots are split", ("ours", "paper"), rows)


def _rows_of_splits(runs: Sequence[Run], seed: int) -> tuple[SheetRow, ...]:
    of = Intervals(seed)
    splits = of.over(runs, lambda run: run.splits)
    rate = of.pooled(runs, lambda run: flags(run.splits, run.feedbacks))
    suppressed = of.over(runs, lambda run: run.suppressed)
    return (
        ("splits per dialogue", (splits, PAPER["splits"])),
        ("splits per routing event", (rate, PAPER["rate"])),
        ("suppressed per dialogue", (suppressed, None)),
    )


def _rows_of_slots(runs: Sequence[Run], seed: int) -> tuple[SheetRow, ...]:
    slots = Settings().slots
    before = spread(runs, "before")
    final = spread(runs, "slots")
    full = Intervals(seed).over(runs, lambda run: run.slots == slots)
    most = max(map(attrgetter("most"), runs))
    failed = sum(map(attrgetter("failed"), runs))
    return (
        ("slots before feedback", (before, None)),
        ("final active slots", (final, PAPER_SLOTS)),
        ("dialogues that reach K", (full, PAPER["full"])),
        (f"most slots ever (K = {slots})", (most, None)),
        ("turns or tests rejected", (failed, None)),
    )


def _by_length(runs: Sequence[Run], pairs: Sequence[CoRouted], seed: int) -> Sheet:
    paper = (None, PAPER["precision"], PAPER["recall"], None)
    rows: list[SheetRow] = [("paper", paper)]
    for length in LENGTHS:
        what = "as it is" if length == LENGTHS[0] else "what if"
        rows.append((f"L = {length:,}, {what}", _over_length(length, runs, pairs, seed)))
    columns = ("of co-routed pairs", "precision", "recall: certified", "certified or apart")
    title = "By the paper's definition: the gold of both is longer than L"
    return Sheet(title, columns, tuple(rows))


def _over_length(
    length: int, runs: Sequence[Run], pairs: Sequence[CoRouted], seed: int
) -> tuple[Cell, ...]:
    of = Intervals(seed)
    wide = [pair for pair in pairs if pair.size > length]
    return (
        of.over(pairs, lambda pair: pair.size > length),
        of.pooled(runs, lambda run: [size > length for size in run.sizes]),
        of.over(wide, lambda pair: pair.named),
        of.over(wide, lambda pair: pair.parted),
    )


def _within(within: Sequence[Within], seed: int) -> Sheet:
    of = Intervals(seed)
    rows = []
    for state, group in grouped(within, lambda one: one.state).items():
        pairs = map(attrgetter("pairs"), group)
        cells = (
            sum(pairs),
            of.pooled(group, lambda one: flags(one.lacking, one.pairs)),
            of.pooled(group, lambda one: one.slot),
            of.pooled(group, lambda one: one.summary),
        )
        rows.append((state, cells))
    columns = ("pairs in one slot", "summary lacks gold", "conflict in slot", "in summary")
    return Sheet("Conflict inside slots, all dialogues", columns, tuple(rows))


def _dialogues(runs: Sequence[Run], chosen: Sequence[Tried]) -> Sheet:
    shipped = SplitSettings().tau_split
    tests = grouped(chosen, lambda test: test.dialogue)
    rows = []
    for run in runs:
        own = point(tests.get(run.dialogue, ()), shipped)
        rows.append((run.dialogue, (*_replayed(run), *_tested(own))))
    columns = (
        "feedbacks",
        "splits",
        "suppr.",
        "slots",
        "judged",
        "right",
        "certified",
        "precision",
        "recall",
    )
    return Sheet("By dialogue: the replay, then the recorded tests", columns, tuple(rows))


def _replayed(run: Run) -> tuple[Cell, ...]:
    right = rights(run.judged)
    return run.feedbacks, run.splits, run.suppressed, run.slots, len(right), sum(right)


def _tested(own: Point) -> tuple[Cell, ...]:
    precision = own.precision if own.certified else None
    recall = own.recall if own.conflicts else None
    return own.certified, precision, recall
