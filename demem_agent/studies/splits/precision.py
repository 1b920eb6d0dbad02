"""Audit splits by two definitions (paper, appendix "Certified Split: Trigger Frequency and Accuracy
on LoCoMo").

By the paper's, a pair of contexts is incompatible when their gold together is longer than L. By its
own claim, a certificate is right when, whichever of its contents the two share, one of them has
less gold than it could have (:mod:`demem_agent.studies.splits.gold`). Precision and recall by claim
are those on recorded tests, where nothing was split (:mod:`demem_agent.studies.splits.recorded`);
all else is of a replay as the memory ships (:mod:`demem_agent.studies.splits.loop`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from demem_agent.evaluate.data.dialogue import Dialogue
from demem_agent.memory import SlotMemory
from demem_agent.settings import Settings, SplitSettings
from demem_agent.studies.asking import Tick
from demem_agent.studies.paper import SLOTS as PAPER_SLOTS
from demem_agent.studies.paper import SPLITS as PAPER
from demem_agent.studies.sheets import Cell, Found, Sheet, intervals, spread
from demem_agent.studies.splits.curves import (
    PRECISION,
    Point,
    chosen_threshold,
    curve,
    held_out,
    point,
)
from demem_agent.studies.splits.loop import CoRouted, Run, Within, replay_splits, within_slots
from demem_agent.studies.splits.recorded import PAIRS, Tried, record_tests

__all__ = ["LENGTHS", "audit_splits", "summed_splits"]

#: The memory's own L, and shorter ones that show what the paper's definition depends on;
#: characters.
LENGTHS = (2000, 800, 400, 200)

NOTES = (
    f"Tested pairs: at most {PAIRS} a feedback (the memory itself tests {SplitSettings().pairs}), chosen by the "
    "trigger's rule while nothing was split. Conflicts: those where, by gold, each shared content serves one of the "
    "two worse than it could be served. Any: chosen without a look at whether the evidence is credible; "
    "recall is then of the conflicts among all these pairs. Parted: a certificate names the pair, or it is in two "
    "slots at the end.",
)


def audit_splits(
    dialogues: Sequence[Dialogue], *, seed: int = 0, tick: Tick | None = None
) -> Found:
    """Replay each dialogue with and without splits, and sum up."""
    runs: list[Run] = []
    pairs: list[CoRouted] = []
    tests: list[Tried] = []
    within: list[Within] = []
    for done, dialogue in enumerate(dialogues, 1):
        recorded = record_tests(dialogue)
        tests += recorded.tests
        memory = SlotMemory()
        memory.ingest_many(dialogue.turns)
        within.append(within_slots(memory, dialogue, "before feedback"))
        within.append(within_slots(recorded.memory, dialogue, "after, never split"))
        memory = SlotMemory()
        run, met = replay_splits(memory, dialogue)
        runs.append(run)
        pairs += met
        within.append(within_slots(memory, dialogue, "after"))
        if tick:
            tick(done, len(dialogues))
    return summed_splits(runs, pairs, tests, within, seed=seed)


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
    shipped = SplitSettings().tau_split
    drawn = {
        "curve": [_drawn(one) for one in curve(chosen)],
        "shipped": _drawn(point(chosen, shipped)),
        "others": {name: _drawn(one) for name, one in held_out(chosen).items()},
        "paper": {"precision": PAPER["precision"], "recall": PAPER["recall"]},
    }
    sheets = (
        _frequency(runs, seed),
        _claims(tests, runs, pairs, seed),
        _by_length(runs, pairs, seed),
        _within(within, seed),
        _dialogues(runs, chosen),
    )
    return Found([*runs, *pairs, *tests, *within], sheets, NOTES, drawn)


def _drawn(one: Point) -> dict[str, float]:
    return {**asdict(one), "precision": one.precision, "recall": one.recall}


def _frequency(runs: Sequence[Run], seed: int) -> Sheet:
    of, names = intervals(seed), [run.dialogue for run in runs]
    feedbacks = [(run.dialogue, n < run.splits) for run in runs for n in range(run.feedbacks)]
    slots = Settings().slots
    rows: list[tuple[str, tuple[Cell, ...]]] = [
        ("splits per dialogue", (of([run.splits for run in runs], names), PAPER["splits"])),
        (
            "splits per routing event",
            (of([split for _, split in feedbacks], [d for d, _ in feedbacks]), PAPER["rate"]),
        ),
        ("suppressed per dialogue", (of([run.suppressed for run in runs], names), None)),
        ("slots before feedback", (spread([run.before for run in runs]), None)),
        ("final active slots", (spread([run.slots for run in runs]), PAPER_SLOTS)),
        (
            "dialogues that reach K",
            (of([run.slots == slots for run in runs], names), PAPER["full"]),
        ),
        (f"most slots ever (K = {slots})", (max(run.most for run in runs), None)),
        ("turns or tests rejected", (sum(run.failed for run in runs), None)),
    ]
    return Sheet("How often slots are split", ("ours", "paper"), tuple(rows))


def _claims(
    tests: Sequence[Tried], runs: Sequence[Run], pairs: Sequence[CoRouted], seed: int
) -> Sheet:
    now = SplitSettings()
    chosen, plain = [t for t in tests if t.chosen], [t for t in tests if t.plain]
    credible = [t for t in plain if t.credible]
    of = intervals(seed)
    judged = [(run.dialogue, one) for run in runs for one in run.judged]
    lacking = [pair for pair in pairs if pair.lacking]
    others = held_out(chosen)
    folds = [t for t in chosen if t.dialogue in others]
    moved = {name: one.threshold for name, one in others.items()}
    best = chosen_threshold(chosen)
    right = of([one.right for _, one in judged], [name for name, _ in judged])
    repaired = _share([one.repaired for _, one in judged])
    parted = [pair.named or pair.apart for pair in lacking]
    found = of(parted, [pair.dialogue for pair in lacking])
    rows: tuple[tuple[str, tuple[Cell, ...]], ...] = (
        ("paper, by its definition", (None, None, None, PAPER["precision"], PAPER["recall"], None)),
        (f"as it ships: over {now.tau_split:g}", _claimed(chosen, chosen, now.tau_split, seed)),
        (f"once K are active: over {now.tau_sat:g}", _claimed(chosen, chosen, now.tau_sat, seed)),
        (f"most recall at {PRECISION:g}: over {best:g}", _claimed(chosen, chosen, best, seed)),
        ("chosen on the others", _claimed(folds, folds, moved, seed)),
        (f"any, credible: over {now.tau_split:g}", _claimed(credible, plain, now.tau_split, seed)),
        (f"any: over {now.tau_split:g}", _claimed(plain, plain, now.tau_split, seed)),
        ("any: over 0.3", _claimed(plain, plain, 0.3, seed)),
        ("certificates of the replay", (None, None, len(judged), right, None, repaired)),
        (
            "co-routed, gold lost: parted",
            (len(pairs), len(lacking), sum(parted), None, found, None),
        ),
    )
    columns = ("pairs", "conflicts", "certified", "precision", "recall", "repaired")
    return Sheet("Split precision and recall, by the certificate's claim", columns, rows)


def _claimed(
    tests: Sequence[Tried], among: Sequence[Tried], threshold: float | dict[str, float], seed: int
) -> tuple[Cell, ...]:
    """Give one row: of tests with gold, at one threshold or at one for each dialogue."""
    of = intervals(seed)
    at = threshold if isinstance(threshold, dict) else {test.dialogue: threshold for test in tests}
    known = [test for test in among if test.truth is not None]
    fired = [test for test in tests if test.truth is not None and test.strength > at[test.dialogue]]
    conflicts = [test for test in known if test.truth]
    names = [test.dialogue for test in fired]
    found = {id(test) for test in fired}
    return (
        sum(test.truth is not None for test in tests),
        len(conflicts),
        len(fired),
        of([bool(test.truth) for test in fired], names),
        of([id(test) in found for test in conflicts], [test.dialogue for test in conflicts]),
        _share([test.repaired for test in fired]),
    )


def _share(values: Sequence[bool]) -> float | None:
    return round(sum(values) / len(values), 6) if values else None


def _by_length(runs: Sequence[Run], pairs: Sequence[CoRouted], seed: int) -> Sheet:
    of = intervals(seed)
    certified = [(run.dialogue, size) for run in runs for size in run.sizes]
    rows: list[tuple[str, tuple[Cell, ...]]] = [
        ("paper", (None, PAPER["precision"], PAPER["recall"], None)),
    ]
    for length in LENGTHS:
        wide = [pair for pair in pairs if pair.size > length]
        names = [pair.dialogue for pair in wide]
        row = (
            of([pair.size > length for pair in pairs], [pair.dialogue for pair in pairs]),
            of([size > length for _, size in certified], [name for name, _ in certified]),
            of([pair.named for pair in wide], names),
            of([pair.named or pair.apart for pair in wide], names),
        )
        rows.append(
            (f"L = {length:,}" + (", as it is" if length == LENGTHS[0] else ", what if"), row)
        )
    columns = ("of co-routed pairs", "precision", "recall: certified", "certified or apart")
    return Sheet(
        "By the paper's definition: the gold of both is longer than L", columns, tuple(rows)
    )


def _within(within: Sequence[Within], seed: int) -> Sheet:
    of, rows = intervals(seed), []
    for state in dict.fromkeys(one.state for one in within):
        group = [one for one in within if one.state == state]
        by_pair = [(one.dialogue, n < one.lacking) for one in group for n in range(one.pairs)]
        rates = [
            [(one.dialogue, rate) for one in group for rate in getattr(one, part)]
            for part in ("slot", "summary")
        ]
        row: tuple[Cell, ...] = (
            sum(one.pairs for one in group),
            of([lacks for _, lacks in by_pair], [name for name, _ in by_pair]),
            *(of([rate for _, rate in found], [name for name, _ in found]) for found in rates),
        )
        rows.append((state, row))
    columns = ("pairs in one slot", "summary lacks gold", "conflict in slot", "in summary")
    return Sheet("Conflict inside slots, all dialogues", columns, tuple(rows))


def _dialogues(runs: Sequence[Run], chosen: Sequence[Tried]) -> Sheet:
    rows: list[tuple[str, tuple[Cell, ...]]] = []
    for run in runs:
        own = point(
            [test for test in chosen if test.dialogue == run.dialogue], SplitSettings().tau_split
        )
        right = sum(one.right for one in run.judged)
        row = (run.feedbacks, run.splits, run.suppressed, run.slots, len(run.judged), right)
        shares = (own.precision if own.certified else None, own.recall if own.conflicts else None)
        rows.append((run.dialogue, (*row, own.certified, *shares)))
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
