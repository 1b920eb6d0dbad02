"""Have notes taken of what was said, outside the write path (the paper's psi).

A note is evidence beside the items that it was made from, which stay as they were said. It is kept
only if it says nothing that they do not, goes where they go, and no longer holds where they do not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from demem_agent.errors import CollaboratorError
from demem_agent.flows.commit import committed
from demem_agent.flows.encode import Spans, encoded_passages, require_same_encoder
from demem_agent.later import dataclass
from demem_agent.reading.packing import strip_rendered
from demem_agent.requests import Flow, TakeNotes
from demem_agent.slots.due import wants_note
from demem_agent.slots.ledger import unkeyed
from demem_agent.slots.notes_superseded import with_notes
from demem_agent.slots.placement import Arrival, place
from demem_agent.slots.records import Delta, Vector
from demem_agent.slots.state import State
from demem_agent.summaries.grounding import fault_of_note, note_text
from demem_agent.text.pieces import pieces
from demem_agent.text.quoting.saying import dated
from demem_agent.text.times.dates import moment
from demem_agent.types import Evidence, NotesTaken, Noting, Proposal, Source, number_of

__all__ = ["NOTE", "take_notes"]

#: Speaker and source of a note.
NOTE = "note"
#: Items that notes are taken of at a time, and characters that they have at most; one longer item
#: goes by itself, as far as this.
ITEMS = 20
CHARS = 12_000
#: Items of the same session, right before those, that notes may draw on.
CONTEXT = 6


@dataclass(frozen=True, slots=True)
class _Draft:
    """A note that may be kept, with the items that it was made from."""

    text: str
    made_from: tuple[str, ...]
    spans: Spans


def take_notes(state: State) -> Flow[NotesTaken | None]:
    """Take notes of the next items of which none were taken, as one transaction.

    Nothing is kept where the note taker fails, or somebody else took them meanwhile; the result
    says why.

    Returns:
        None where there is no such item.

    Raises:
        EncoderMismatch: for an encoder of other dimensions than the memory was built with.
        StaleState: if the memory was moved to another encoder meanwhile.
    """
    before = state.head.noted
    items = _due(state)
    if not items:
        return None
    of = tuple(item.id for item in items)
    task = _task_of(state, items)
    try:
        proposal: Proposal = yield TakeNotes(task)
    except CollaboratorError as error:
        return NotesTaken(of, failed=str(error))
    if len(proposal.statements) != len(proposal.covers):
        return NotesTaken(of, failed="statements and covers are not equally many")
    drafts, refused = _drafts(proposal, task)
    texts = [draft.text for draft in drafts]
    passages = yield from encoded_passages(texts, [draft.spans for draft in drafts])
    if passages.encoder is not None:
        require_same_encoder(state, passages.encoder)
    if state.head.noted != before:
        return NotesTaken(of, failed="notes of them were taken meanwhile")
    arrivals = _arrivals(state, drafts, passages.matrices)
    delta = _delta(state, arrivals, number_of(of[-1]))
    yield from committed(state, delta)
    taken = tuple(arrival.evidence.id for arrival in arrivals)
    return NotesTaken(of, taken, tuple(refused))


def _due(state: State) -> list[Evidence]:
    """Return the next items, as many as go into one task."""
    found: list[Evidence] = []
    left = CHARS
    for item in state.evidence.values():
        if number_of(item.id) <= state.head.noted or not _is_to_read(state, item):
            continue
        left -= len(item.text)
        if found and left < 0:
            break
        found.append(item)
        if len(found) == ITEMS:
            break
    return found


def _is_to_read(state: State, item: Evidence) -> bool:
    """Whether a note taker may read an item: no note, no correction, and nothing that is hidden."""
    return wants_note(item) and item.id not in state.hidden


def _task_of(state: State, items: Sequence[Evidence]) -> Noting:
    said = state.derived.sessions.get(items[0].session, [])
    place = said.index(items[0].id)
    before = (state.evidence[id] for id in said[max(place - CONTEXT, 0) : place])
    return Noting(
        sources=tuple(map(_source, items)),
        context=tuple(_source(item) for item in before if _is_to_read(state, item)),
    )


def _source(item: Evidence) -> Source:
    """Return an item as a note taker sees it: with its day, and what relative times mean."""
    return Source(item.id, dated(item, 0, min(len(item.text), CHARS)), False)


def _drafts(proposal: Proposal, task: Noting) -> tuple[list[_Draft], list[str]]:
    """Return the notes that may be kept, each text once, and why the others may not."""
    drafts: dict[str, _Draft] = {}
    refused: list[str] = []
    for number, statement in enumerate(proposal.statements, 1):
        text = strip_rendered(note_text(statement))
        cover = tuple(dict.fromkeys(proposal.covers[number - 1]))
        fault = fault_of_note(text, cover, task)
        if fault is not None:
            refused.append(f"note {number} {fault}")
            continue
        made_from = tuple(sorted(cover, key=number_of))
        drafts.setdefault(text, _Draft(text, made_from, tuple(pieces(text))))
    return list(drafts.values()), refused


def _arrivals(state: State, drafts: Sequence[_Draft], matrices: Sequence[Vector]) -> list[Arrival]:
    """Return notes as items, but for those of which a source was taken away meanwhile."""
    arrivals: list[Arrival] = []
    there = state.evidence.keys() - state.hidden
    for draft, vectors in zip(drafts, matrices, strict=True):
        if not draft.spans or not there >= set(draft.made_from):
            continue
        number = state.head.evidence + len(arrivals) + 1
        note = _note(state, f"e{number}", draft)
        seq = state.head.seq + 1
        arrivals.append(Arrival(seq, note, draft.spans, vectors))
    return arrivals


def _note(state: State, id: str, draft: _Draft) -> Evidence:
    """Return a note as it is remembered: of the time of what it was made from."""
    items = [state.evidence[source] for source in draft.made_from]
    sessions = {item.session for item in items}
    return Evidence(
        id=id,
        text=draft.text,
        speaker=NOTE,
        at=_latest(items),
        session=items[0].session if len(sessions) == 1 else None,
        source=NOTE,
        trust=min(item.trust for item in items),
        made_from=draft.made_from,
    )


def _latest(items: Sequence[Evidence]) -> datetime | None:
    times = list(_times(items))
    return max(times, key=moment) if times else None


def _times(items: Sequence[Evidence]) -> Iterator[datetime]:
    for item in items:
        if item.at is not None:
            yield item.at


def _delta(state: State, arrivals: Sequence[Arrival], noted_up_to: int) -> Delta:
    """Return what is to be written: the notes in their slots, and how far they have come."""
    placed = place(state, arrivals)
    fresh = [arrival.evidence for arrival in arrivals]
    successions = with_notes(state, (), fresh)
    seq = state.head.seq + 1
    head = replace(
        state.head,
        seq=seq,
        evidence=state.head.evidence + len(arrivals),
        noted=noted_up_to,
        successions=state.head.successions + len(successions),
    )
    return Delta(
        head,
        (unkeyed(seq, "note"),),
        evidence=placed.evidence,
        slots=placed.slots,
        successions=successions,
    )
