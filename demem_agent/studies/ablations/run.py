"""What slots, routing, summaries and certified splits are each worth.

These are the paper's ablations, replayed with feedback.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Unpack

from demem_agent.errors import InvalidInput
from demem_agent.evaluate.bootstrap import Interval
from demem_agent.evaluate.data.dialogue import Dialogue
from demem_agent.memory import SlotMemory
from demem_agent.options import Options
from demem_agent.settings import SplitSettings
from demem_agent.slots.experiment import Experiment
from demem_agent.splitting.trigger import Trigger
from demem_agent.studies.ablations.replay import LIMITS, Build, Learning, Replay, replay
from demem_agent.studies.ablations.triggers import (
    Choice,
    always,
    as_often,
    at_random,
    least_similar,
)
from demem_agent.studies.ablations.variants import BY_DESCRIPTION, BY_FEATURES
from demem_agent.studies.asking import Tick
from demem_agent.studies.intervals import Intervals
from demem_agent.studies.records import dialogues_of
from demem_agent.studies.slots.audit import Row
from demem_agent.studies.splits.gold import rights

__all__ = ["ABLATIONS", "AsOften", "ablation_table", "replayed", "summed_up"]

#: A dialogue, and the number of the question in its probes.
Question = tuple[str, int]
#: The values of each measure, by question.
Values = Mapping[str, Mapping[Question, float]]

#: All start alike, whatever the defaults are: similarity may open five of ten slots, the rest is
#: left to splits.
_START: Options = {"slots": 10, "initial_slots": 5, "clock": None}
_UNSPLIT = SplitSettings(pairs=0)
#: What a :class:`~demem_agent.studies.ablations.replay.Replay` says of a dialogue as a whole.
_ENDINGS = ("splits", "slots", "largest")


def _made(*, learns: bool = True, **options: Unpack[Options]) -> Learning:
    given: Options = {**_START, **options}
    return Learning(SlotMemory(**given), learns=learns)


def _split_by(trigger: Callable[[], Trigger]) -> Learning:
    # Made anew for each memory: a trigger may hold a generator.
    return _made(experiment=Experiment(trigger=trigger()))


@dataclass(frozen=True, slots=True)
class AsOften:
    """Makes a memory that splits as often as another one did, by pairs that are chosen.

    Attributes:
        choice: makes the choice, anew for each memory.
    """

    choice: Callable[[], Choice]

    def __call__(self, times: Sequence[int] = ()) -> Learning:
        """Make a memory that splits at these feedbacks; never where there are none."""
        return _split_by(lambda: as_often(times, self.choice()))


#: By name, the paper's variants; its DeMem-Core, which reads strictly throughout, as it is and with
#: summaries that describe; and three that separate what these mix: no feedback at all, all ten
#: slots opened by similarity, and one slot only. "heuristic-split" and "random-split" split as
#: often in each dialogue as the one that all are compared with. Where nothing gives them feedback,
#: as in :func:`~demem_agent.evaluate.run.evaluate`, those that differ in their splits alone are all
#: the same.
ABLATIONS: Mapping[str, Build] = {
    "certified": _made,
    "no-feedback": partial(_made, learns=False),
    "no-split": partial(_made, split=_UNSPLIT),
    "heuristic-split": AsOften(lambda: least_similar),
    "always-split": partial(_split_by, always),
    "random-split": AsOften(partial(at_random, 0)),
    "all-slots": partial(_made, split=_UNSPLIT, initial_slots=10),
    "one-slot": partial(_made, slots=1, initial_slots=1),
    "feature-routing": partial(_made, experiment=BY_FEATURES),
    "demem-core": partial(_made, mode="strict"),
    "description-summaries": partial(_made, experiment=BY_DESCRIPTION),
    "demem-core, described": partial(_made, experiment=BY_DESCRIPTION, mode="strict"),
}


def ablation_table(
    dialogues: Sequence[Dialogue],
    ablations: Mapping[str, Build] = ABLATIONS,
    *,
    base: str = "certified",
    limits: Sequence[int] = LIMITS,
    seed: int = 0,
    resamples: int = 1000,
    tick: Tick | None = None,
) -> list[Row]:
    """Replay dialogues under every ablation and sum up, one row each.

    This is :func:`replayed`, then :func:`summed_up`.

    Raises:
        InvalidInput: if ``base`` is not among the ablations, or no question has gold.
    """
    _among(base, ablations)  # before the replays, which take minutes
    runs = replayed(dialogues, ablations, limits, tick, base=base)
    return summed_up(runs, base, seed=seed, resamples=resamples)


def replayed(
    dialogues: Sequence[Dialogue],
    ablations: Mapping[str, Build] = ABLATIONS,
    limits: Sequence[int] = LIMITS,
    tick: Tick | None = None,
    *,
    base: str = "certified",
) -> dict[str, list[Replay]]:
    """Replay every dialogue under every ablation.

    Args:
        limits: in characters, of the readings in evidence mode.
        tick: called after each replay.
        base: the ablation that an :class:`AsOften` splits as often as; it is replayed first.
    """
    runs: dict[str, list[Replay]] = {name: [] for name in ablations}
    total = len(dialogues) * len(ablations)
    done = 0
    first_the_base = sorted(ablations, key=lambda name: name != base)
    for dialogue in dialogues:
        times: tuple[int, ...] = ()
        for name in first_the_base:
            make = ablations[name]
            if isinstance(make, AsOften):
                make = partial(make, times)
            run = replay(dialogue, make, limits)
            if name == base:
                times = run.split_at
            runs[name].append(run)
            done += 1
            if tick:
                tick(done, total)
    return runs


def summed_up(
    runs: Mapping[str, Sequence[Replay]], base: str, *, seed: int = 0, resamples: int = 1000
) -> list[Row]:
    """Sum up replays of the same dialogues, by the ablation they were made with.

    Args:
        base: the ablation that ``Row.against`` compares with, question by question.

    Returns:
        A row an ablation. Its ``measures`` are

        * the means of every measure of :class:`~demem_agent.studies.ablations.replay.Step` over
          questions, and of the same at the end as "again: ...";
        * "splits", "slots" and "largest" over dialogues;
        * "right" and "repaired" over judged certificates, where there are any.

        ``against`` has the differences in the measures over questions.

    Raises:
        InvalidInput: if ``base`` is not among the ablations, or no question was measured.
    """
    _among(base, runs)
    intervals = Intervals(seed, resamples)
    standard = _values(runs[base])
    if not standard:
        given = dialogues_of(runs[base])
        raise InvalidInput("dialogues", given, "dialogues with questions that have gold")
    rows = []
    for name, replays in runs.items():
        values = _values(replays)
        measures = _means(values, intervals) | _endings(replays, intervals)
        against = {}
        if name != base:
            against = _means(_differences(values, standard), intervals)
        rows.append(Row(name, measures, against))
    return rows


def _among(base: str, names: Mapping[str, object]) -> None:
    if base not in names:
        raise InvalidInput("base", base, f"one of {list(names)}")


def _values(replays: Sequence[Replay]) -> Values:
    found: dict[str, dict[Question, float]] = {}
    for run in replays:
        for step in run.steps:
            before = "again: " if step.again else ""
            for measure, value in step.measures.items():
                of_measure = found.setdefault(before + measure, {})
                of_measure[run.dialogue, step.question] = value
    return found


def _differences(values: Values, standard: Values) -> Values:
    found = {}
    for measure, of_measure in values.items():
        known = standard[measure]
        found[measure] = {key: value - known[key] for key, value in of_measure.items()}
    return found


def _means(values: Values, intervals: Intervals) -> dict[str, Interval]:
    found = {}
    for measure, of_measure in values.items():
        dialogues = [dialogue for dialogue, _ in of_measure]
        found[measure] = intervals.mean(list(of_measure.values()), dialogues)
    return found


def _endings(replays: Sequence[Replay], intervals: Intervals) -> dict[str, Interval]:
    """Return what is measured at the end of each dialogue."""
    found = intervals.means(replays, _ENDINGS)
    right = intervals.pooled(replays, lambda run: rights(run.judged))
    repaired = intervals.pooled(replays, lambda run: [split.repaired for split in run.judged])
    if right is not None and repaired is not None:
        found["right"] = right
        found["repaired"] = repaired
    return found
