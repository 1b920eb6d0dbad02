"""The commands inside a chat: what each shows, as a JSON value and for a person."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from rich.console import RenderableType

from demem_agent import FeedbackReport
from demem_agent.cli.chat.session import Session
from demem_agent.cli.faults import UsageError
from demem_agent.cli.json_values import answer_value, slot_value
from demem_agent.cli.tables import (
    certificate_parts,
    lines_table,
    receipt_grid,
    route_words,
    slots_table,
)
from demem_agent.cli.tables.cells import cell, grid, number, numbers, sentence
from demem_agent.llms import Usage

__all__ = ["SLASH", "Shown", "run"]

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Shown:
    """What a command shows; ``leave`` ends the chat."""

    document: Json
    parts: list[RenderableType] = field(default_factory=list)
    leave: bool = False


@dataclass(frozen=True, slots=True)
class Slash:
    """A command: what it takes and does, in words, and what does it. ``takes`` is "" where it takes
    nothing.
    """

    run: Callable[[Session, str], Shown]
    help: str
    takes: str = ""


def run(session: Session, typed: str) -> Shown:
    """Carry out what was typed, such as ``/forget e3``.

    Raises:
        UsageError: for no such command, and for what it takes left out or given in vain.
    """
    name, _, rest = typed.removeprefix("/").partition(" ")
    rest = rest.strip()
    if name not in SLASH:
        raise UsageError(
            f"there is no command /{name}; /help lists them, and // begins a line with a slash"
        )
    command = SLASH[name]
    if bool(rest) != bool(command.takes):
        raise UsageError(f"/{name} takes {command.takes or 'nothing'}")
    return command.run(session, rest)


def _why(session: Session, _: str) -> Shown:
    answer, memory = session.last, session.memory
    reading, overview, room = answer.reading, session.overview_size, session.room
    slot_of = {item: slot.number for slot in memory.slots for item in slot.evidence}
    shown = grid()
    shown.add_row("answer", cell(answer.id, "bold"))
    shown.add_row("slot", route_words(answer.route))
    scores = sorted(answer.route.scores.items(), key=lambda pair: (-pair[1], pair[0]))
    shown.add_row(
        "scores", cell("  ".join(f"slot {slot}: {number(score)}" for slot, score in scores) or "-")
    )
    read = f"{reading.size} of {reading.limit} {reading.unit}, {len(reading.lines)} lines"
    with_overview = f"; overview {overview} of {room}; in all {reading.size + overview} of {reading.limit + room}"
    shown.add_row("reading", cell(f"{read}{with_overview if room else ''}"))
    lines = lines_table(
        "Evidence that was read (* seems to be behind the answer)",
        reading.lines,
        answer.evidence,
        slot_of,
    )
    document = answer_value(answer, answer.query, memory)
    return Shown({**document, "overview": {"size": overview, "limit": room}}, [shown, lines])


def _slots(session: Session, _: str) -> Shown:
    memory = session.memory
    values = [slot_value(slot, memory.settings.slot_limit) for slot in memory.slots]
    return Shown(
        {"slots": values, "of": memory.settings.slots}, [slots_table(memory.slots, memory.settings)]
    )


def _good(session: Session, _: str) -> Shown:
    return _learned(session.feedback(thumbs=True))


def _bad(session: Session, _: str) -> Shown:
    return _learned(session.feedback(thumbs=False))


def _correct(session: Session, text: str) -> Shown:
    return _learned(session.feedback(correction=text))


def _reference(session: Session, text: str) -> Shown:
    return _learned(session.feedback(reference=text))


def _learned(report: FeedbackReport) -> Shown:
    document = {**asdict(report), "split": report.split}
    words = f"{report.answer_id}: {report.channel}, {numbers(report.rewards.values())}."
    if report.remembered:
        words += f" Remembered as {report.remembered}."
    words += f" {report.tested} pairs tested with {report.counterfactuals} answers."
    parts: list[RenderableType] = [
        cell(words if report.certificate else f"{words} Nothing was split.")
    ]
    if report.failed:
        parts.append(cell(f"Not finished: {report.failed}; the rewards are stored.", "yellow"))
    parts += certificate_parts(report.certificate) if report.certificate else []
    return Shown(document, parts)


def _forget(session: Session, id: str) -> Shown:
    receipt, spoken = session.forget(id)
    parts: list[RenderableType] = [receipt_grid(receipt)]
    if spoken:
        parts.append(
            cell(
                f"Of these the assistant said {', '.join(spoken)}, having read what was to be forgotten."
            )
        )
    return Shown({**asdict(receipt), "replies": list(spoken)}, parts)


def _usage(session: Session, _: str) -> Shown:
    health = session.talker.health if session.talker else None
    if session.talker is None or health is None:
        return Shown({"model": None, "turns": session.turns}, [cell("No model was asked.")])
    prefix = session.talker.conversation.prefix
    used = health.usage
    counted = {"calls": health.calls, "succeeded": health.succeeded, "requests": health.requests}
    document = {
        "model": health.model,
        "turns": session.turns,
        **counted,
        "retries": health.retries,
        "failures": dict(health.failures),
        "breaker": health.breaker,
        **{
            name: getattr(used, name)
            for name in ("prompt_tokens", "completion_tokens", "cached_tokens")
        },
        "cost": used.cost,
        "estimated": used.estimated,
        "stable_prefix": {"share": round(prefix.share, 4), "last": round(prefix.last, 4)},
    }
    shown = grid()
    shown.add_row("model", cell(health.model))
    failures = ", ".join(f"{kind} {count}" for kind, count in health.failures.items())
    calls = f"{health.calls} in {health.requests} requests; failed: "
    shown.add_row("calls", sentence(calls, cell(failures or "none", "yellow" if failures else "")))
    shown.add_row("tokens", cell(_tokens(used)))
    shown.add_row(
        "cost", cell("not known without --price" if used.cost is None else f"{used.cost:.4f}")
    )
    words = (
        f"{prefix.share:.0%} of all bytes of {session.turns} prompts, {prefix.last:.0%} of the last"
    )
    shown.add_row("same as before", cell(words))
    return Shown(document, [shown])


def _tokens(used: Usage) -> str:
    counted = (
        f"{used.prompt_tokens:,} of prompts ({used.cached_tokens:,} from the provider's cache)"
    )
    return f"{counted}, {used.completion_tokens:,} of answers{', in part estimated' if used.estimated else ''}"


def _help(session: Session, _: str) -> Shown:
    shown = grid()
    for name, command in SLASH.items():
        shown.add_row(cell(f"/{name} {command.takes}".strip()), cell(command.help))
    return Shown(
        {"commands": {name: command.help for name, command in SLASH.items()}}, [*_parts(shown)]
    )


def _parts(*parts: RenderableType) -> Iterator[RenderableType]:
    yield from parts
    yield cell("Any other line is said, and remembered; // begins one with a slash.", "dim")


def _quit(session: Session, _: str) -> Shown:
    return Shown({"left": True, "turns": session.turns}, leave=True)


SLASH: Mapping[str, Slash] = {
    "why": Slash(_why, "why the last answer: slot, scores, evidence, budget"),
    "slots": Slash(_slots, "what memory looks like"),
    "good": Slash(_good, "the last answer was good"),
    "bad": Slash(_bad, "the last answer was bad"),
    "correct": Slash(_correct, "what would have been right; it is remembered", "TEXT"),
    "reference": Slash(_reference, "what is right for certain; it is not remembered", "TEXT"),
    "forget": Slash(_forget, "erase an item, and what was said from it", "ID"),
    "usage": Slash(_usage, "tokens, cost, failures, and how much of the prompts stays the same"),
    "help": Slash(_help, "this"),
    "quit": Slash(_quit, "leave; so do Ctrl-D and Ctrl-C"),
}
