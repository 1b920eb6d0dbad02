"""Bring a state up to date by what others have written since, row by row."""

from __future__ import annotations

from collections.abc import Container, Iterator

from demem_agent.slots.records import Delta, Operation
from demem_agent.slots.state import State
from demem_agent.stores.base import News, Rows
from demem_agent.stores.codec import certified_from_json
from demem_agent.stores.rows import DAMAGE
from demem_agent.stores.slot_rows import slot_state
from demem_agent.types import Mark

__all__ = ["follow"]


def follow(state: State, news: News) -> bool:
    """Take in what changed; return whether the state is now what loading all rows would make.

    Where it is not, it is to be loaded: a row is damaged, or something else than what is known of
    has changed.
    """
    if news.rows.damaged or state.experiment.describe is not None:
        return False
    try:
        _take_in(state, news)
    except DAMAGE:
        return False
    return all(news.counts.get(table, 0) == count for table, count in _counts(state).items())


def _take_in(state: State, news: News) -> None:
    """Apply all that is told; then slots and certificates, which quote items by their use."""
    rows = news.rows
    amended = [one for one in rows.contexts if one.context.id in state.contexts]
    state.apply(_told(state, news))
    _play(state, rows)
    state.derived.used = state.uses_in(stored.context for stored in state.contexts.values())
    slots = tuple(slot_state(state, row) for row in rows.slots)
    # Words that only these asked for go, as they do where room is made.
    state.apply(Delta(rows.head, (), slots=slots, for_room=bool(amended)))
    for plain in rows.certificates:
        certified = certified_from_json(plain, state)
        state.certificates[certified.certificate.id] = certified


def _told(state: State, news: News) -> Delta:
    """Return what is remembered, forgotten, asked and settled since then, as one delta."""
    rows = news.rows
    known = state.evidence
    items = {stored.evidence.id: stored for stored in rows.evidence}
    successions = {one.id for one in rows.successions}
    marks = {mark.evidence_id for mark in rows.marks}
    slots = {row.number for row in rows.slots}
    moved = [(id, one.slot) for id, one in items.items() if id in known]
    withdrawn, gone = _of_before(state, news)
    return Delta(
        rows.head,
        tuple(one for one in _operations(rows) if one.seq > state.head.seq),
        evidence=tuple(one for id, one in items.items() if id not in known),
        moves=tuple((id, slot) for id, slot in moved if state.slot_of[id] != slot),
        forgotten=tuple(id for id in _ids(news, "evidence", "e", known) if id not in items),
        closed=tuple(
            number
            for number in news.touched.get("slot", ())
            if number in state.slots and number not in slots
        ),
        contexts=tuple(map(state.sharing, rows.contexts)),
        successions=tuple(rows.successions),
        lapsed=tuple(
            id for id in _ids(news, "succession", "s", state.successions) if id not in successions
        ),
        withdrawn=withdrawn,
        expired=gone,
        marks=(
            *rows.marks,
            *(Mark(id) for id in _ids(news, "mark", "e", state.marks) if id not in marks),
        ),
    )


def _play(state: State, rows: Rows) -> None:
    """Take in situations and what was chosen in them.

    One event is played on; in which order several came is known of all together alone.
    """
    new = [one for one in rows.choices if one.id not in state.choices]
    if len(rows.choices) <= 1 and all(one.judged is None for one in new):
        choices = tuple(rows.choices)
        state.apply(Delta(rows.head, (), situations=tuple(rows.situations), choices=choices))
        return
    for stored in rows.situations:
        state.situations[stored.situation.id] = stored
    for decision in rows.choices:
        state.choices[decision.id] = decision
    state.play_anew()


def _ids(news: News, table: str, prefix: str, known: Container[str]) -> Iterator[str]:
    """Yield the ids of rows that changed, as far as they were known."""
    for number in news.touched.get(table, ()):
        id = f"{prefix}{number}"
        if id in known:
            yield id


def _of_before(
    state: State, news: News
) -> tuple[tuple[tuple[str, Operation], ...], tuple[Operation, ...]]:
    """Return which operations of before are withdrawn, by their keys, and which are gone."""
    changed = {seq for seq in news.touched.get("op", ()) if seq <= state.head.seq}
    if not changed:
        return (), ()
    now = {one.seq: one for one in _operations(news.rows)}
    keyed = [(key, one.seq) for key, one in state.keyed.items() if one.seq in changed]
    gone = [one for one in (*state.keyed.values(), *state.receipts) if one.seq in changed]
    return (
        tuple((key, now[seq]) for key, seq in keyed if seq in now),
        tuple(one for one in gone if one.seq not in now),
    )


def _operations(rows: Rows) -> list[Operation]:
    """Return operations in their order."""
    return sorted([*rows.keyed, *rows.receipts], key=_seq)


def _seq(operation: Operation) -> int:
    return operation.seq


def _counts(state: State) -> dict[str, int]:
    """Return how many rows of each table a state has."""
    return {
        "evidence": len(state.evidence),
        "slot": len(state.slots),
        "context": len(state.contexts),
        "certificate": len(state.certificates),
        "succession": len(state.successions),
        "situation": len(state.situations),
        "choice": len(state.choices),
        "mark": len(state.marks),
        "op": len(state.keyed) + len(state.receipts),
    }
