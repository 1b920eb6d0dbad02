"""``demem bench NAME --systems all``: this memory beside rivals, with what each takes and needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial

from demem_agent.cli.json_values import Json
from demem_agent.cli.progress import ticking
from demem_agent.errors import InvalidInput
from demem_agent.evaluate import Dialogue, Measured, evaluate, report
from demem_agent.evaluate.rivals import ASKING, RIVALS, Asking, Rival, made_by, missing
from demem_agent.evaluate.run import Tick
from demem_agent.evaluate.weighed import Cost, weighed
from demem_agent.llms.model import ChatModel

__all__ = ["Chosen", "Compared", "compared", "rivals_named"]

#: Characters that a reading may have, unless others are asked for.
LIMITS = (2000, 6000)
_ALL = "all"


@dataclass(frozen=True, slots=True)
class Chosen:
    """Rivals by name: those that ask no model, and those that cannot do without one."""

    rivals: dict[str, Rival]
    asking: dict[str, Asking]

    def asked(self, model: ChatModel) -> dict[str, Rival]:
        """Return all of them, those that need a model with this one."""
        return self.rivals | {name: one.asked(model) for name, one in self.asking.items()}


@dataclass(frozen=True, slots=True)
class Compared:
    """What a comparison came to: the records, and the document that is printed of them."""

    measured: list[Measured]
    document: Json


def rivals_named(names: str) -> Chosen:
    """Return rivals by a list of names with commas, or all.

    Raises:
        InvalidInput: for a name that none has.
    """
    if names == _ALL:
        return Chosen(dict(RIVALS), dict(ASKING))
    chosen = Chosen({}, {})
    for name in names.split(","):
        if name in RIVALS:
            chosen.rivals[name] = RIVALS[name]
        elif name in ASKING:
            chosen.asking[name] = ASKING[name]
        else:
            allowed = f"{_ALL}, or of {', '.join([*RIVALS, *ASKING])}, with commas between"
            raise InvalidInput("systems", name, allowed)
    return chosen


def compared(
    dialogues: Sequence[Dialogue], rivals: dict[str, Rival], limits: Sequence[int], seed: int
) -> Compared:
    """Measure the rivals that are installed, and say what the others lack.

    Only questions with evidence are asked.

    Raises:
        InvalidInput: where none of them is installed.
    """
    lacking = {name: missing(rival) for name, rival in rivals.items()}
    installed = {name: rival for name, rival in rivals.items() if not lacking[name]}
    if not installed:
        raise InvalidInput("systems", list(rivals), "at least one that is installed")
    scored = [_scored(dialogue) for dialogue in dialogues]
    costs = {name: Cost() for name in installed}
    measured = _measured(scored, installed, limits or LIMITS, costs)
    summed = report(measured, seed=seed)
    systems: Json = {}
    for name, rival in installed.items():
        recall = {limit: cell["recall"] for limit, cell in summed["systems"][name].items()}
        systems[name] = {"recall": recall, **asdict(costs[name]), **_said(rival)}
    counted = {key: summed[key] for key in ("dialogues", "questions", "limits")}
    document: Json = {
        "names": [dialogue.name for dialogue in dialogues],
        **counted,
        "systems": systems,
        "missing": {name: needed for name, needed in lacking.items() if needed},
    }
    return Compared(measured, document)


def _scored(dialogue: Dialogue) -> Dialogue:
    probes = [probe for probe in dialogue.probes if probe.has_answer and probe.evidence]
    return replace(dialogue, probes=tuple(probes))


def _measured(
    dialogues: Sequence[Dialogue],
    rivals: dict[str, Rival],
    limits: Sequence[int],
    costs: dict[str, Cost],
) -> list[Measured]:
    """Measure one system after the other."""
    measured: list[Measured] = []
    total = len(rivals) * len(limits) * sum(len(dialogue.probes) for dialogue in dialogues)
    with ticking("readings") as tick:
        for name, rival in rivals.items():
            makers = {name: weighed(rival.make, costs[name])}
            further = partial(_further, tick, len(measured), total)
            measured += evaluate(dialogues, makers, sorted(set(limits)), tick=further)
    return measured


def _further(tick: Tick, before: int, total: int, done: int, _: int) -> None:
    """Count the readings of one system with those of the systems before it."""
    tick(before + done, total)


def _said(rival: Rival) -> Json:
    return {
        "made_by": made_by(rival),
        "encoder": rival.encoder,
        "settings": rival.settings,
        "needs": rival.needs,
    }
