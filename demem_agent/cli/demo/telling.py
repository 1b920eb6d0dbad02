"""Tell the demo to a person, in tables of at most 100 columns with a few sentences between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from demem_agent import Evidence
from demem_agent.cli.demo.story import Asked, Forgotten, Learned, Story, Strict, Suppressed
from demem_agent.cli.tables.cells import (
    add_columns,
    add_figures,
    cell,
    counted,
    day,
    lines,
    number,
    table,
)
from demem_agent.cli.tables.certificate import certificate_parts
from demem_agent.cli.tables.receipt import receipt_grid
from demem_agent.cli.tables.slots import slots_table

__all__ = ["tell"]

#: Letters of a fingerprint that are shown.
_FINGERPRINT = 24


def tell(story: Story) -> Iterator[RenderableType]:
    """Yield the demo step by step."""
    chapters = (
        ("Remember", _remember(story)),
        ("Slots under a budget", _slots(story)),
        ("Answer, with dates resolved", _answers(story)),
        ("Feedback", _feedback(story)),
        ("A certified split", _split(story)),
        ("Undo", _undo(story)),
        ("All slots active: a split is suppressed", _suppressed(story)),
        ("Forget", _forget(story)),
        ("Check", _check(story)),
    )
    for n, (title, parts) in enumerate(chapters, 1):
        heading = Rule(cell(f"{n}. {title}", "bold"), align="left", style="cyan")
        yield Padding(heading, (1, 0, 0, 0))
        yield from parts


def _remember(story: Story) -> Iterator[RenderableType]:
    yield cell(
        f"{story.turns} turns of a conversation between friends, in {story.sessions} sessions "
        "from January to June 2025. Everything below happens in RAM; no model is called and "
        "nothing is downloaded."
    )
    yield _evidence(story.first)
    yield cell("... and so on: examples/demo.jsonl", "dim")


def _slots(story: Story) -> Iterator[RenderableType]:
    settings = story.settings
    yield cell(
        f"At most {settings.slots} slots. The summary of each measures at most "
        f"{settings.slot_limit} {settings.unit}, a reading at most {settings.read_limit}. That is "
        f"very little, so that conflicts come soon; {settings.initial_slots} slots may be opened "
        "by similarity, the rest only by a certified split."
    )
    yield slots_table(story.slots, settings)


def _answers(story: Story) -> Iterator[RenderableType]:
    yield cell(
        "A reading takes the best evidence of all slots; the answer quotes it and says which days "
        "it means."
    )
    shown = table()
    add_columns(shown, "", no_wrap=True)
    shown.add_column("question and answer", ratio=1)
    add_figures(shown, "slot")
    add_columns(shown, "rests on", no_wrap=True)
    for one in story.asked:
        shown.add_row(
            cell(one.answer.id),
            lines(cell(one.question, "dim"), cell(one.answer.text)),
            cell(str(one.answer.route.slot)),
            _cited(one),
        )
    yield shown


def _feedback(story: Story) -> Iterator[RenderableType]:
    yield cell(
        "Some questions come again and again. We say what would have been right, and two scorers "
        "compare: do the words agree, and did the reading hold the answer?"
    )
    yield _learned(story.learned)


def _split(story: Story) -> Iterator[RenderableType]:
    split = story.split
    first, second = split.certificate.pair
    yield cell(
        f"{first} and {second} were in one slot, and its summary has no room for what both rest "
        "on. So each content that they could share is tried: both are answered from it, each mean "
        "score gets a guard band, and what a question loses at least is its best lower bound less "
        "its upper bound under that content."
    )
    yield ""
    yield from certificate_parts(split.certificate)
    yield cell("\nBoth questions again, answered from the summary of one slot alone:")
    yield _compared(split.kept_shared, split.after)
    yield slots_table(split.slots, story.settings)


def _undo(story: Story) -> Iterator[RenderableType]:
    never, undone = story.split.fingerprints
    yield cell(
        "A split can be taken back. We do so on a copy, and keep the split in the memory itself:"
    )
    shown = table()
    add_columns(shown, "copy", "fingerprint of what is remembered")
    shown.add_row("was given the same feedback, may not split", _beginning(never))
    shown.add_row(f"split undone ({story.split.certificate.id})", _beginning(undone))
    yield shown
    yield cell(
        "They are equal: nothing came after the split, so undo gives back every byte.", "green"
    )


def _suppressed(story: Story) -> Iterator[RenderableType]:
    found = story.suppressed
    yield cell(
        f"Now all {story.settings.slots} slots are active. The next conflict has to exceed a "
        "higher threshold; it is certified and kept, and the slot stays whole. Nothing is rejected "
        "and nothing is dropped."
    )
    yield ""
    yield from certificate_parts(found.certificate)
    yield cell("\nWhat that costs, and what it does not:")
    yield _cost(found)
    if found.evidence.score > min(one.score for one in found.strict):
        yield cell(
            "The evidence behind a summary is append-only: an ordinary reading still finds it."
        )


def _forget(story: Story) -> Iterator[RenderableType]:
    forgotten = story.forgotten
    yield cell(
        f"Mara wants the turn {forgotten.source_id} forgotten, the one about the budget. "
        "The receipt:"
    )
    yield receipt_grid(forgotten.receipt)
    yield _before_and_after(forgotten)


def _check(story: Story) -> Iterator[RenderableType]:
    yield cell(f"Every invariant holds: {counted(story.checked)}.", "green")
    yield cell("To try it on your own file: demem ingest chat.jsonl --memory chat.db", "dim")


def _evidence(items: Sequence[Evidence]) -> Table:
    shown = table()
    add_columns(shown, "turn", "date", "speaker", no_wrap=True)
    shown.add_column("text", ratio=1)
    for item in items:
        words = (item.source_id, day(item.at), item.speaker, item.text)
        shown.add_row(*map(cell, words))
    return shown


def _learned(learned: Sequence[Learned]) -> Table:
    shown = table()
    add_columns(shown, "", no_wrap=True)
    shown.add_column("question and reference", ratio=1)
    for name in learned[0].report.rewards:
        add_figures(shown, name.replace("_", " "))
    shown.add_column("conflict", overflow="fold")
    for one in learned:
        shown.add_row(
            cell(one.answer.id),
            lines(cell(one.need.question, "dim"), cell(one.need.reference)),
            *map(number, one.report.rewards.values()),
            cell(_outcome(one)),
        )
    return shown


def _compared(shared: Sequence[Strict], after: Sequence[Strict]) -> Table:
    shown = table(framed=True)
    shown.add_column("question", ratio=2)
    for heading in ("if the slot were shared", "after the split"):
        shown.add_column(heading, ratio=3)
        shown.add_column("score", justify="right", no_wrap=True)
    for one, other in zip(shared, after, strict=True):
        better = "green" if other.score > one.score else ""
        shown.add_row(
            cell(one.need.question, "dim"),
            _answered(one),
            cell(number(one.score)),
            _answered(other),
            cell(number(other.score), better),
            end_section=True,
        )
    return shown


def _answered(one: Strict) -> Text:
    return cell(f"slot {one.slot}: {one.answer or '(nothing)'}")


def _cost(found: Suppressed) -> Table:
    shown = table()
    add_columns(shown, "read from")
    shown.add_column("question and answer", ratio=1)
    add_figures(shown, "score")
    for one in found.strict:
        shown.add_row(f"summary of slot {one.slot}", _exchange(one), number(one.score))
    shown.add_row("all the evidence", _exchange(found.evidence), number(found.evidence.score))
    return shown


def _before_and_after(forgotten: Forgotten) -> Table:
    after = forgotten.after.answer.text or "(nothing in memory answers this)"
    shown = table()
    add_columns(shown, "")
    shown.add_column(forgotten.before.question, ratio=1)
    shown.add_row("before", cell(forgotten.before.answer.text))
    shown.add_row("after", cell(after))
    return shown


def _exchange(one: Strict) -> Text:
    return lines(cell(one.need.question, "dim"), cell(one.answer or "(nothing)"))


def _outcome(one: Learned) -> str:
    certificate = one.report.certificate
    if certificate is None:
        return "none certified" if one.report.tested else "nothing to test"
    return f"{certificate.id}: {'split' if one.report.split else 'suppressed'}"


def _cited(one: Asked) -> Text:
    cited = [cell(f"{item.source_id}, {day(item.at)}") for item in one.cited]
    return lines(*cited)


def _beginning(fingerprint: str) -> Text:
    return cell(f"{fingerprint[:_FINGERPRINT]}...")
