"""One past decision: what was asked, what was read, what it rests on, what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.console import RenderableType
from rich.table import Table

from demem_agent import Route, SlotMemory
from demem_agent.cli.json_values import slot_of_each
from demem_agent.cli.tables.cells import cell, day, first_words, grid, numbers
from demem_agent.cli.tables.decisions import verdicts_table
from demem_agent.cli.tables.lines import lines_table
from demem_agent.cli.tables.route import NOT_KNOWN, route_table, route_words
from demem_agent.text.language.words import content_terms, terms
from demem_agent.types import Context, Evidence, Line, Superseded, by_id

__all__ = ["context_parts", "lines_read"]


def context_parts(
    context: Context, route: Route | None, memory: SlotMemory
) -> Iterator[RenderableType]:
    """Yield the decision, the scores of all slots, the evidence it was answered from, the verdicts.

    Args:
        route: where the question would go now; None when the question was forgotten.
    """
    yield _decision(context, memory)
    if route is not None:
        yield route_words(route)
        yield route_table(route, memory.slots, context.slot)
    lines = lines_read(context, memory)
    yield lines_table(
        "Why this evidence: what was read, * what it rests on",
        lines,
        cited=context.supports,
        slot_of=slot_of_each(memory),
        shared=[_shared(context.query, line) for line in lines],
    )
    missing = len(context.read) - len(lines)
    if missing:
        yield cell(f"{missing} more lines were forgotten since.", "dim")
    if context.verdicts:
        yield verdicts_table(context, by_id(memory.evidence()))


def lines_read(context: Context, memory: SlotMemory) -> list[Line]:
    """Return the lines of the reading whose evidence still lives, with what holds no longer."""
    live = by_id(memory.evidence())
    lines: list[Line] = []
    for item, start, end in context.read:
        if item in live:
            stale = tuple(_superseded((item, start, end), memory, live))
            lines.append(Line(live[item], start, end, superseded=stale))
    return lines


def _superseded(
    line: tuple[str, int, int], memory: SlotMemory, live: Mapping[str, Evidence]
) -> Iterator[Superseded]:
    """Yield what of a line holds no longer."""
    item, start, end = line
    for version in memory.history(item):
        for one in version.replaces:
            old, first, last = one.old
            if old == item and not one.undone and first < end and start < last:
                at = live[one.new[0]].at
                yield Superseded(max(first, start), min(last, end), one.new, at, one.id)


def _decision(context: Context, memory: SlotMemory) -> Table:
    shown = grid()
    shown.add_row("decision", cell(context.id, "bold"))
    shown.add_row("question", cell(context.query or "(forgotten)"))
    if context.at:
        shown.add_row("asked", cell(day(context.at)))
    _add_situation(shown, context)
    unanswered = "(forgotten)" if context.redacted else "(nothing)"
    shown.add_row("answer", cell(context.answer or unanswered))
    if not context.known:
        shown.add_row("", cell(NOT_KNOWN, "yellow"))
    _add_feedback(shown, context)
    _add_needed(shown, context, memory)
    return shown


def _add_situation(shown: Table, context: Context) -> None:
    if context.asker is not None:
        shown.add_row("asker", cell(context.asker))
    if context.conditions:
        shown.add_row("conditions", cell(", ".join(context.conditions)))


def _add_feedback(shown: Table, context: Context) -> None:
    if context.reference is not None:
        shown.add_row("reference", cell(context.reference))
    shown.add_row("rewards", cell(numbers(context.rewards) or "no feedback yet"))
    shown.add_row("known by", cell(context.channel))


def _add_needed(shown: Table, context: Context, memory: SlotMemory) -> None:
    """Add the evidence that an answer rests on, where feedback or the answerer told."""
    needed = [item for item in memory.evidence() if item.id in context.supports]
    for n, item in enumerate(needed):
        shown.add_row("needs" if n == 0 else "", cell(_needed_words(item)))


def _needed_words(item: Evidence) -> str:
    when = f" ({day(item.at)})" if item.at else ""
    return f"{item.id}{when}: {first_words(item.text)}"


def _shared(query: str, line: Line) -> str:
    """Return the words of a question that a line or its speaker's name has, in any inflection."""
    held = {*content_terms(line.text), *content_terms(line.evidence.speaker or "")}
    found: dict[str, None] = {}
    for typed in query.split():
        word = typed.strip('.,:;!?()"')
        if terms(typed) and held.issuperset(terms(word)):
            found[word] = None
    return ", ".join(found) or "-"
