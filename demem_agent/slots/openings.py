"""The first lines of a slot's text: what was decided there, for whom, and how often it proved so.

A slot serves decisions, so its text says them first: who asked, the question in a few words, and
what is right. They are made of the contexts of the slot when the text is asked for, and stored
nowhere: what is forgotten or taken back is not in them. They have a share of the limit at most, and
stand for the excerpts that say the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field

from demem_agent.later import dataclass
from demem_agent.scoring.index import Stretch
from demem_agent.slots.experience import asker_of
from demem_agent.slots.recognition import best_line
from demem_agent.slots.records import SlotState
from demem_agent.slots.state import State
from demem_agent.summaries.compress import Excerpt, summary_text
from demem_agent.text.quoting.containing import on_one_line
from demem_agent.text.quoting.saying import noted
from demem_agent.types import Context, Slot, number_of

__all__ = ["Opened", "Opening", "opened", "slot_view"]

#: Share of a limit that the first lines have at most; set by hand.
SHARE = 0.25
#: Characters of what is right that are shown at most.
LONGEST = 160
#: Words of a question that are shown at most, the rarest.
WORDS = 4

#: Puts the marks of a reading around a text, or nothing.
Wrap = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Opening:
    """A decision as the text of a slot opens with it.

    Attributes:
        line: as rendered.
        evidence_id, start, end: the stretch of evidence that it quotes.
    """

    line: str
    evidence_id: str
    start: int
    end: int

    def says(self, excerpt: Excerpt) -> bool:
        """Whether an excerpt says nothing else."""
        same = excerpt.evidence_id == self.evidence_id
        return same and self.start <= excerpt.start and excerpt.end <= self.end


@dataclass(frozen=True, slots=True)
class Opened:
    """The text of a slot: its decisions, then its excerpts in order of time.

    Attributes:
        excerpts: by rank.
    """

    openings: tuple[Opening, ...]
    excerpts: tuple[Excerpt, ...]
    text: str

    @property
    def cover(self) -> tuple[str, ...]:
        """The ids of the evidence in it, once each."""
        first = [opening.evidence_id for opening in self.openings]
        return tuple(dict.fromkeys([*first, *(kept.evidence_id for kept in self.excerpts)]))


def opened(state: State, slot: SlotState, limit: int, wrap: Wrap) -> Opened | None:
    """Return a slot's text of at most ``limit`` once it is wrapped; None where nothing was decided.

    Excerpts that rank last go first when it does not fit. A summary that a model wrote is given as
    it was written: None.
    """
    if slot.written is not None or not state.settings.decisions:
        return None
    openings = _fitting(state, _decisions(state, slot.number), int(SHARE * limit))
    if not openings:
        return None
    kept = [one for one in slot.summary.kept if not _is_said(one, openings)]
    text = _text(openings, kept)
    while kept and state.measure(wrap(text)) > limit:
        kept.pop()
        text = _text(openings, kept)
    if state.measure(wrap(text)) > limit:
        return None
    return Opened(tuple(openings), tuple(kept), text)


def _is_said(excerpt: Excerpt, openings: Iterable[Opening]) -> bool:
    """Whether an opening says what an excerpt does."""
    return any(opening.says(excerpt) for opening in openings)


def slot_view(state: State, number: int) -> Slot:
    """Return a slot as a user sees it: its text, at most L, opens with what was decided in it."""
    slot = state.slots[number]
    found = opened(state, slot, state.settings.slot_limit, str)
    text = slot.text if found is None else found.text
    return Slot(
        number=number,
        summary=text,
        size=state.measure(text),
        evidence=tuple(state.members[number]),
        cover=slot.cover if found is None else found.cover,
        contexts=tuple(stored.context.id for stored in state.contexts_in(number)),
        parent=slot.parent,
        revision=slot.revision,
        name=slot.name,
        pinned=slot.pinned,
        author=slot.written.author if slot.written else None,
    )


def _text(openings: Iterable[Opening], kept: Sequence[Excerpt]) -> str:
    lines = [opening.line for opening in openings]
    if kept:
        lines.append(summary_text(kept))
    return "\n".join(lines)


def _fitting(state: State, found: Iterable[Opening], limit: int) -> list[Opening]:
    """Return as many as have room, in their order."""
    taken: list[Opening] = []
    for opening in found:
        longer = "\n".join([*(one.line for one in taken), opening.line])
        if state.measure(longer) > limit:
            break
        taken.append(opening)
    return taken


def _decisions(state: State, number: int) -> list[Opening]:
    """Return what was decided in a slot by evidence of its own: what proved right most often first.

    Of those that proved right as often the latest comes first.
    """
    found: dict[tuple[object, ...], _Decision] = {}
    for stored in state.contexts_in(number):
        context = stored.context
        line = _line_of(state, context, number)
        if line is not None:
            key = (asker_of(context), context.conditions, line)
            found.setdefault(key, _Decision(line)).contexts.append(context)
    ordered = sorted(found.values(), key=_Decision.rank)
    return [_opening(state, decision) for decision in ordered]


@dataclass(frozen=True, slots=True)
class _Decision:
    """A line and the contexts, of one asker and the same conditions, in which it proved right."""

    line: Stretch
    contexts: list[Context] = field(default_factory=list)

    def rank(self) -> tuple[int, int]:
        """Its place: what proved right most often comes first, and then what did so last."""
        return -len(self.contexts), -number_of(self.contexts[-1].id)


def _line_of(state: State, context: Context, number: int) -> Stretch | None:
    """Return the line that proved right in a context of a slot, if the slot holds it still."""
    line = best_line(context) if context.query else None
    if line is None or line[0] not in state.evidence or line[0] in state.hidden:
        return None
    return line if state.slot_of.get(line[0]) == number else None


def _opening(state: State, decision: _Decision) -> Opening:
    item, start, end = decision.line
    end = _cut(state.evidence[item].text, start, end)
    right = noted(state.evidence[item], start, end)
    asked = _asked(state, decision.contexts[-1])
    times = len(decision.contexts)
    often = "once" if times == 1 else f"{times} times"
    return Opening(f"- {asked} {right} (right {often})", item, start, end)


def _asked(state: State, context: Context) -> str:
    """Return for whom, under which conditions and about what, as the beginning of a line."""
    whom = f"for {context.asker}, " if context.asker else ""
    held = f"when {', '.join(context.conditions)}, " if context.conditions else ""
    about = " ".join(state.derived.decisions.telling(context.query, WORDS))
    return on_one_line(f"decided {whom}{held}{about}:")


def _cut(text: str, start: int, end: int) -> int:
    """Return where a stretch ends that is no longer than :data:`LONGEST`, at a word if it can."""
    if end - start <= LONGEST:
        return end
    space = text.rfind(" ", start + 1, start + LONGEST)
    return space if space > start else start + LONGEST
