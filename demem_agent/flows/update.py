"""Remember an item in the place of another: both and their succession in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from demem_agent.answering.corrections import CORRECTION
from demem_agent.changes.lineage import BY_HAND
from demem_agent.errors import InvalidInput, NotFound
from demem_agent.flows.commit import committed
from demem_agent.flows.ingest import arrivals_of, cut, encoded_turns, head_after
from demem_agent.later import dataclass
from demem_agent.reading.packing import strip_rendered
from demem_agent.requests import Flow
from demem_agent.slots.ledger import OF_TURNS, operation, stored_result
from demem_agent.slots.notes_superseded import with_notes
from demem_agent.slots.placement import Arrival, place
from demem_agent.slots.records import Delta
from demem_agent.slots.state import State
from demem_agent.turns import Turn
from demem_agent.types import Evidence, Mark, Succession, Updated

__all__ = [
    "Change",
    "Made",
    "Request",
    "carried_over",
    "changed",
    "says_the_same",
    "told_between",
    "update",
]

#: How sure it is what was told.
TOLD = 1.0


@dataclass(frozen=True, slots=True)
class Request:
    """What ``update`` was asked for, checked.

    Attributes:
        item: the id that was given; what holds in its place by now is what is replaced.
        given: what the caller says of the new item, by the fields of a turn; the rest is carried
            over.
        hash: of the request where it has a key, else "".
        now: when it is said, unless that is given.
    """

    item: str
    given: Mapping[str, Any]
    key: str | None
    hash: str
    now: datetime | None


@dataclass(frozen=True, slots=True)
class Change:
    """One turn on its way in, perhaps in the place of an item.

    Attributes:
        turn: with what is carried over, and dated.
        old: id of the item whose place it takes; None for one that is new.
        kind: of the operation; an update of what was forgotten meanwhile is refused.
        request: hash of the request where it has a key, else "".
        noted: what is recorded of it beside its result, where it has a key.
    """

    turn: Turn
    old: str | None
    kind: str
    key: str | None = None
    request: str = ""
    noted: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Made:
    """What became of a change.

    Attributes:
        evidence_id: of the new item.
        replaced, succession: None where it took the place of none.
    """

    evidence_id: str
    replaced: str | None = None
    succession: str | None = None


def update(state: State, asked: Request) -> Flow[Updated]:
    """Remember a text in the place of an item, or of what holds in its place already.

    Raises:
        NotFound: for an id that no live item has.
        InvalidInput: for a text of which nothing would be remembered.
        IdempotencyConflict: if the key was used for another request.
    """
    done = stored_result(state, asked.key, asked.hash, ("update",))
    if done is not None:
        return Updated(**done)
    if asked.item not in state.evidence:
        raise NotFound("evidence", asked.item)
    old = state.evidence[state.derived.current.holding(asked.item, BY_HAND)]
    if says_the_same(old, asked.given):
        return (yield from _left(state, old.id, asked))
    turn = carried_over(old, {"at": asked.now, **asked.given})
    change = Change(turn, old.id, "update", asked.key, asked.hash)
    (made,) = yield from changed(state, [change])
    if made is None or made.replaced is None:
        raise InvalidInput("text", turn.text, "more than a reading of this library")
    return Updated(made.evidence_id, made.replaced, made.succession)


def says_the_same(item: Evidence, given: Mapping[str, Any]) -> bool:
    """Whether an item is what a caller says of it already."""
    told = {**given, "text": strip_rendered(given["text"])}
    return all(getattr(item, name) == value for name, value in told.items())


def carried_over(item: Evidence, given: Mapping[str, Any]) -> Turn:
    """Return a turn that is as an item was but for what is given.

    A correction is right for its question: what is said in its place is a statement like others.
    """
    left = {"speaker", "source", "source_id"} if item.source == CORRECTION else set()
    names = Turn.__annotations__.keys() & Evidence.__annotations__.keys()
    kept = {name: getattr(item, name) for name in names - left}
    return Turn(**{**kept, **given})


def changed(state: State, changes: Sequence[Change]) -> Flow[list[Made | None]]:
    """Remember turns as one transaction and one operation each, and settle whose place they take.

    Returns:
        What became of each; None where nothing of it is left to remember.

    Raises:
        NotFound: if an item was forgotten meanwhile that an update was of.
        IdempotencyConflict: if a key was used for another request.
    """
    coming = [cut(one.turn, one.request) for one in changes]
    passages = yield from encoded_turns(state, coming, range(len(coming)))
    done = [_done(state, one) for one in changes]
    todo = [n for n, one in enumerate(coming) if one.spans and done[n] is None]
    if not todo:
        return done
    arrivals = arrivals_of(state, coming, todo, passages)
    head = head_after(state, passages.encoder, arrivals)
    marks = _marks_after(state, [changes[n] for n in todo], arrivals)
    hidden = {mark.evidence_id for mark in marks if mark.hidden}
    placed = place(state, arrivals, hidden)
    told = _told(state, [changes[n] for n in todo], arrivals)
    successions = with_notes(state, _numbered(state, told.values()))
    by_new = {one.new[0]: one for one in successions[: len(told)]}
    operations = []
    for n, arrival in zip(todo, arrivals, strict=True):
        made = _made(arrival, by_new.get(arrival.evidence.id))
        done[n] = made
        result = {**asdict(made), **dict(changes[n].noted)}
        change = changes[n]
        operations.append(operation(arrival.seq, change.kind, change.key, change.request, result))
    delta = Delta(
        replace(head, seq=arrivals[-1].seq, successions=head.successions + len(successions)),
        tuple(operations),
        evidence=placed.evidence,
        slots=placed.slots,
        successions=successions,
        marks=tuple(marks),
    )
    yield from committed(state, delta)
    return done


def _marks_after(
    state: State, changes: Iterable[Change], arrivals: Iterable[Arrival]
) -> list[Mark]:
    """Return the marks of what items take the place of, as theirs: they are of the fact."""
    marks = []
    for change, arrival in zip(changes, arrivals, strict=True):
        if change.old in state.evidence:
            held = state.marks.get(_held(state, change))
            if held is not None:
                marks.append(replace(held, evidence_id=arrival.evidence.id))
    return marks


def _done(state: State, change: Change) -> Made | None:
    """Return what became of a change that was carried out before."""
    stored = stored_result(state, change.key, change.request, ("update", *OF_TURNS))
    if stored is None:
        return None
    return Made(stored["evidence_id"], stored.get("replaced"), stored.get("succession"))


def _told(
    state: State, changes: Iterable[Change], arrivals: Iterable[Arrival]
) -> dict[str, Succession]:
    """Return the successions between items that come in and those whose place they take.

    They are by the id of the old item, which is what holds by now of what was named.
    """
    told: dict[str, Succession] = {}
    for change, arrival in zip(changes, arrivals, strict=True):
        if change.old in state.evidence:
            old = _held(state, change)
            told[old] = told_between(state, state.evidence[old], arrival.evidence)
        elif change.kind == "update":
            raise NotFound("evidence", str(change.old))
    return told


def _held(state: State, change: Change) -> str:
    """Return what holds by now of the item that a change is of.

    A list speaks of its own turns alone: what was told to hold in place of one is another.
    """
    by = BY_HAND if change.kind == "update" else ("updated",)
    return state.derived.current.holding(str(change.old), by)


def told_between(state: State, old: Evidence, new: Evidence) -> Succession:
    """Return the succession, without an id yet, by which one item holds in place of another."""
    return Succession(
        id="",
        old=(old.id, 0, len(old.text)),
        new=(new.id, 0, len(new.text)),
        confidence=TOLD,
        how="updated",
        after=state.head.contexts,
    )


def _numbered(state: State, successions: Iterable[Succession]) -> tuple[Succession, ...]:
    first = state.head.successions + 1
    return tuple(replace(one, id=f"s{n}") for n, one in enumerate(successions, first))


def _made(arrival: Arrival, succession: Succession | None) -> Made:
    if succession is None:
        return Made(arrival.evidence.id)
    return Made(arrival.evidence.id, succession.old[0], succession.id)


def _left(state: State, item: str, asked: Request) -> Flow[Updated]:
    """Leave an item as it is; a key is remembered all the same."""
    result = Updated(item, item, None)
    if asked.key is not None:
        seq = state.head.seq + 1
        line = operation(seq, "update", asked.key, asked.hash, asdict(result))
        yield from committed(state, Delta(replace(state.head, seq=seq), (line,)))
    return result
