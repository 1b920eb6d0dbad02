"""Split precision and recall by the certificate's own claim, as a table beside the paper's.

What a claim is, :mod:`demem_agent.studies.splits.gold` says.
"""

from __future__ import annotations

from collections.abc import Sequence

from demem_agent.settings import SplitSettings
from demem_agent.studies.intervals import Intervals
from demem_agent.studies.paper import SPLITS as PAPER
from demem_agent.studies.sheets import Cell, Sheet, SheetRow
from demem_agent.studies.splits.curves import PRECISION, chosen_threshold, held_out
from demem_agent.studies.splits.gold import JudgedSplit, rights
from demem_agent.studies.splits.loop import CoRouted, Run
from demem_agent.studies.splits.recorded import Tried, over, with_gold

__all__ = ["claims_sheet"]

COLUMNS = ("pairs", "conflicts", "certified", "precision", "recall", "repaired")


def claims_sheet(
    tests: Sequence[Tried], runs: Sequence[Run], pairs: Sequence[CoRouted], seed: int
) -> Sheet:
    """Sum up recorded tests by threshold, then what a replay certified and whom it parted."""
    intervals = Intervals(seed)
    chosen = [test for test in tests if test.chosen]
    plain = [test for test in tests if test.plain]
    paper = (None, None, None, PAPER["precision"], PAPER["recall"], None)
    rows: list[SheetRow] = [
        ("paper, by its definition", paper),
        *_chosen_rows(chosen, intervals),
        *_plain_rows(plain, intervals),
        ("certificates of the replay", _certificates(runs, intervals)),
        ("co-routed, gold lost: parted", _parted(pairs, intervals)),
    ]
    title = "Split precision and recall, by the certificate's claim"
    return Sheet(title, COLUMNS, tuple(rows))


def _chosen_rows(chosen: Sequence[Tried], intervals: Intervals) -> list[SheetRow]:
    """Return a row a threshold, of the pairs that the trigger's own rule picks."""
    now = SplitSettings()
    best = chosen_threshold(chosen)
    thresholds = (
        ("as it ships", now.tau_split),
        ("once K are active", now.tau_sat),
        (f"most recall at {PRECISION:g}", best),
    )
    rows = []
    for name, threshold in thresholds:
        fired = over(chosen, threshold)
        cells = _claimed(chosen, fired, chosen, intervals)
        rows.append((f"{name}: over {threshold:g}", cells))
    rows.append(("chosen on the others", _held_out(chosen, intervals)))
    return rows


def _held_out(chosen: Sequence[Tried], intervals: Intervals) -> tuple[Cell, ...]:
    """Return the cells of tests each at the threshold that the other dialogues chose."""
    others = held_out(chosen)
    folds = []
    fired = []
    for test in chosen:
        of_others = others.get(test.dialogue)
        if of_others is None:
            continue
        folds.append(test)
        if test.strength > of_others.threshold:
            fired.append(test)
    return _claimed(folds, fired, folds, intervals)


def _plain_rows(plain: Sequence[Tried], intervals: Intervals) -> list[SheetRow]:
    """Return rows of the pairs picked without a look at whether the evidence is credible."""
    shipped = SplitSettings().tau_split
    credible = [test for test in plain if test.credible]
    tried = (
        (f"any, credible: over {shipped:g}", credible, shipped),
        (f"any: over {shipped:g}", plain, shipped),
        ("any: over 0.3", plain, 0.3),
    )
    rows = []
    for name, tests, threshold in tried:
        fired = over(tests, threshold)
        rows.append((name, _claimed(tests, fired, plain, intervals)))
    return rows


def _claimed(
    tests: Sequence[Tried], fired: Sequence[Tried], among: Sequence[Tried], intervals: Intervals
) -> tuple[Cell, ...]:
    """Return the cells below ``COLUMNS``; only tests whose pairs both have gold count.

    Args:
        fired: those of the tests whose strength exceeds the threshold.
        among: the tests whose conflicts are to be found.
    """
    certified = with_gold(fired)
    conflicts = [test for test in among if test.truth]
    found = set(map(id, certified))
    return (
        len(with_gold(tests)),
        len(conflicts),
        len(certified),
        intervals.over(certified, lambda test: bool(test.truth)),
        intervals.over(conflicts, lambda test: id(test) in found),
        _share_repaired(certified),
    )


def _certificates(runs: Sequence[Run], intervals: Intervals) -> tuple[Cell, ...]:
    judged: list[JudgedSplit] = []
    for run in runs:
        judged += run.judged
    right = intervals.pooled(runs, lambda run: rights(run.judged))
    return None, None, len(judged), right, None, _share_repaired(judged)


def _parted(pairs: Sequence[CoRouted], intervals: Intervals) -> tuple[Cell, ...]:
    lacking = [pair for pair in pairs if pair.lacking]
    parted = sum(pair.parted for pair in lacking)
    recall = intervals.over(lacking, lambda pair: pair.parted)
    return len(pairs), len(lacking), parted, None, recall, None


def _share_repaired(judged: Sequence[Tried] | Sequence[JudgedSplit]) -> float | None:
    """Return the share of judged pairs that their split repairs; None where none is judged."""
    if not judged:
        return None
    repaired = sum(one.repaired for one in judged)
    return round(repaired / len(judged), 6)
