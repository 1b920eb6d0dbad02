"""A note is superseded with what it was made from.

It says in other words what its items say: where a line of these no longer holds, neither does what
the note has of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from demem_agent.slots.state import State
from demem_agent.summaries.grounding import rests_on
from demem_agent.types import Evidence, Succession

__all__ = ["undone_with", "with_notes"]


def with_notes(
    state: State, made: Sequence[Succession], fresh: Iterable[Evidence] = ()
) -> tuple[Succession, ...]:
    """Return successions with those of the notes made from their old lines, right behind them.

    Args:
        made: the last of them are new, and numbered on from those of the state.
        fresh: notes that are about to be put into memory: what their items are superseded by
            already counts for them as well.
    """
    found = list(made)
    known = {(one.old[0], one.new) for one in made}
    count = state.head.successions + sum(one.id not in state.successions for one in made)
    for note, one in (*_of_notes(state, made), *_of_fresh(state, fresh)):
        if (note.id, one.new) in known:
            continue
        known.add((note.id, one.new))
        count += 1
        found.append(replace(one, id=f"s{count}", old=(note.id, 0, len(note.text))))
    return tuple(found)


def undone_with(state: State, succession: Succession) -> list[Succession]:
    """Return the successions that go back with one: those of the notes of its old line."""
    notes = state.derived.notes.get(succession.old[0], ())
    found = []
    for note in notes:
        found += [one for one in state.derived.current.of_item(note) if one.new == succession.new]
    return found


def _of_notes(state: State, made: Iterable[Succession]) -> Iterator[tuple[Evidence, Succession]]:
    """Yield the notes that rest on lines which no longer hold."""
    for one in made:
        for id in state.derived.notes.get(one.old[0], ()):
            note = state.evidence[id]
            if id != one.new[0] and _falls_with(state, note, one):
                yield note, one


def _of_fresh(state: State, fresh: Iterable[Evidence]) -> Iterator[tuple[Evidence, Succession]]:
    for note in fresh:
        for source in note.made_from:
            for one in state.derived.current.of_item(source):
                if _falls_with(state, note, one):
                    yield note, one


def _falls_with(state: State, note: Evidence, one: Succession) -> bool:
    """Whether all of an item of a note is over, or the part that the note rests on."""
    item, start, end = one.old
    text = state.evidence[item].text
    if not (text[:start] + text[end:]).strip():
        return True
    return rests_on(note.text, text[start:end])
