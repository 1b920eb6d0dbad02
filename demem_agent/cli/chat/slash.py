"""The commands inside a chat: what each shows, as a JSON value and for a person."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field

from rich.console import RenderableType
from rich.table import Table

from demem_agent import Answer, FeedbackReport
from demem_agent.cli.chat.session import Session
from demem_agent.cli.chat.usage import usage_grid, usage_value
from demem_agent.cli.faults import UsageError
from demem_agent.cli.json_values import Json, answer_value, slot_of_each, slot_values
from demem_agent.cli.memory_options import Company
from demem_agent.cli.tables.cells import cell, grid, number
from demem_agent.cli.tables.certificate import certificate_parts
from demem_agent.cli.tables.decisions import recognised_words
from demem_agent.cli.tables.left_out import size_words
from demem_agent.cli.tables.lines import lines_table
from demem_agent.cli.tables.receipt import receipt_grid
from demem_agent.cli.tables.route import route_words
from demem_agent.cli.tables.slots import slots_table

__all__ = ["SLASH", "Shown", "run"]

#: What is typed where no conditions hold any more.
_NOTHING = "-"


@dataclass(frozen=True, slots=True)
class Shown:
    """What a command shows; ``leave`` ends the chat."""

    document: Json
    parts: list[RenderableType] = field(default_factory=list)
    leave: bool = False


@dataclass(frozen=True, slots=True)
class Slash:
    """A command: what it takes and does, in words, and what does it.

    ``takes`` is "" where it takes nothing.
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
    answer = session.last
    lines = lines_table(
        "Evidence that was read (* seems to be behind the answer)",
        answer.reading.lines,
        cited=answer.evidence,
        slot_of=slot_of_each(session.memory),
    )
    overview = {"size": session.overview_size, "limit": session.room}
    document = {**answer_value(answer, answer.query, session.memory), "overview": overview}
    return Shown(document, [_why_grid(answer, session), lines])


def _why_grid(answer: Answer, session: Session) -> Table:
    shown = grid()
    shown.add_row("answer", cell(answer.id, "bold"))
    shown.add_row("slot", route_words(answer.route))
    recognised = recognised_words(answer.reading)
    if recognised:
        shown.add_row("recognised", cell(recognised))
    shown.add_row("scores", cell(_scores(answer)))
    shown.add_row("reading", cell(_read(answer, session)))
    return shown


def _scores(answer: Answer) -> str:
    best_first = sorted(answer.route.scores.items(), key=lambda pair: (-pair[1], pair[0]))
    words = [f"slot {slot}: {number(score)}" for slot, score in best_first]
    return "  ".join(words) or "-"


def _read(answer: Answer, session: Session) -> str:
    reading = answer.reading
    words = size_words(reading)
    if not session.room:
        return words
    overview = session.overview_size
    in_all = f"{reading.size + overview} of {reading.limit + session.room}"
    return f"{words}; overview {overview} of {session.room}; in all {in_all}"


def _slots(session: Session, _: str) -> Shown:
    slots = session.memory.slots
    settings = session.memory.settings
    values = slot_values(slots, settings.slot_limit)
    document = {"slots": values, "of": settings.slots}
    return Shown(document, [slots_table(slots, settings)])


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
    parts: list[RenderableType] = [cell(_learned_words(report))]
    if report.failed:
        parts.append(cell(f"Not finished: {report.failed}; the rewards are stored.", "yellow"))
    if report.certificate:
        parts += certificate_parts(report.certificate)
    return Shown(document, parts)


def _learned_words(report: FeedbackReport) -> str:
    rewards = ", ".join(f"{name} {number(value)}" for name, value in report.rewards.items())
    words = [f"{report.answer_id}: {report.channel}; the answer has {rewards} of 1."]
    if report.remembered:
        words.append(f"Remembered as {report.remembered}.")
    words.append(f"{report.tested} pairs tested with {report.counterfactuals} answers.")
    if report.certificate is None:
        words.append("Nothing was split.")
    return " ".join(words)


def _asker(session: Session, name: str) -> Shown:
    session.meet(Company(name).checked().asker or name)
    return _situation(session)


def _conditions(session: Session, typed: str) -> Shown:
    facts = [] if typed == _NOTHING else [fact for fact in typed.split(",") if fact.strip()]
    session.conditions = Company(condition=facts).checked().conditions
    return _situation(session)


def _situation(session: Session) -> Shown:
    holds = ", ".join(session.conditions) or "nothing in particular"
    document = {"asker": session.asker, "conditions": list(session.conditions)}
    return Shown(document, [cell(f"{session.asker} talks; what holds: {holds}.")])


def _forget(session: Session, id: str) -> Shown:
    receipt, spoken = session.forget(id)
    parts: list[RenderableType] = [receipt_grid(receipt)]
    if spoken:
        items = ", ".join(spoken)
        words = f"Of these the assistant said {items}, having read what was to be forgotten."
        parts.append(cell(words))
    return Shown({**asdict(receipt), "replies": list(spoken)}, parts)


def _usage(session: Session, _: str) -> Shown:
    talker = session.talker
    health = talker.health if talker else None
    if talker is None or health is None:
        return Shown({"model": None, "turns": session.turns}, [cell("No model was asked.")])
    prefix = talker.conversation.prefix
    document = usage_value(health, prefix, session.turns)
    return Shown(document, [usage_grid(health, prefix, session.turns)])


def _help(session: Session, _: str) -> Shown:
    shown = grid()
    for name, command in SLASH.items():
        shown.add_row(cell(f"/{name} {command.takes}".strip()), cell(command.help))
    otherwise = cell("Any other line is said, and remembered; // begins one with a slash.", "dim")
    commands = {name: command.help for name, command in SLASH.items()}
    return Shown({"commands": commands}, [shown, otherwise])


def _quit(session: Session, _: str) -> Shown:
    return Shown({"left": True, "turns": session.turns}, leave=True)


SLASH: Mapping[str, Slash] = {
    "why": Slash(_why, "why the last answer: slot, scores, evidence, budget"),
    "slots": Slash(_slots, "what memory looks like"),
    "good": Slash(_good, "the last answer was good"),
    "bad": Slash(_bad, "the last answer was bad"),
    "correct": Slash(_correct, "what would have been right; it is remembered", "TEXT"),
    "reference": Slash(_reference, "what is right for certain; it is not remembered", "TEXT"),
    "asker": Slash(_asker, "who talks from here on", "NAME"),
    "conditions": Slash(
        _conditions,
        f"what holds from here on, such as rain, night; {_NOTHING} for nothing",
        "FACTS",
    ),
    "forget": Slash(_forget, "erase an item, and what was said from it", "ID"),
    "usage": Slash(_usage, "tokens, cost, failures, and how much of the prompts stays the same"),
    "help": Slash(_help, "this"),
    "quit": Slash(_quit, "leave; so do Ctrl-D and Ctrl-C"),
}
