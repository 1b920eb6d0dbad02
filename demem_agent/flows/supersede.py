"""Settle by hand that one item has taken the place of another."""

from __future__ import annotations

from dataclasses import asdict, replace

from demem_agent.errors import InvalidInput, NotFound
from demem_agent.flows.commit import committed
from demem_agent.requests import Flow
from demem_agent.scoring.index import Stretch
from demem_agent.slots.ledger import StoredResult, operation, stored_result
from demem_agent.slots.notes_superseded import undone_with, with_notes
from demem_agent.slots.records import Delta
from demem_agent.slots.state import State
from demem_agent.turns import request_hash
from demem_agent.types import Succession

__all__ = ["supersede"]

#: How sure it is what a user tells.
TOLD = 1.0


def supersede(state: State, old: str, new: str, key: str | None) -> Flow[Succession]:
    """Record that one item holds in place of another, whole, and return the succession.

    What was found between the two is settled by it, under the id that it had. What a judge has said
    against it is undone.

    Raises:
        NotFound: for an id that no live item has.
        InvalidInput: for the same item twice, or where the old one has taken the place of the new.
        IdempotencyConflict: if the key was used for another request.
    """
    request = request_hash("supersede", [old, new]) if key is not None else ""
    done = stored_result(state, key, request, ("supersede",))
    if done is not None:
        return _replayed(done)
    denied = _check(state, old, new)
    seq = state.head.seq + 1
    known = _standing(state, old, new)
    id = f"s{state.head.successions + 1}" if known is None else known.id
    succession = _told(state, id, old, new)
    if known is not None and known.how == "updated":
        succession = replace(succession, how="updated")
    made = with_notes(state, (succession,))
    count = state.head.successions + sum(one.id not in state.successions for one in made)
    delta = Delta(
        replace(state.head, seq=seq, successions=count),
        (operation(seq, "supersede", key, request, asdict(succession)),),
        successions=(*denied, *made),
    )
    yield from committed(state, delta)
    return succession


def _told(state: State, id: str, old: str, new: str) -> Succession:
    """Return the succession that a user tells: all of one item holds in place of all of another."""
    return Succession(
        id=id,
        old=_whole(state, old),
        new=_whole(state, new),
        confidence=TOLD,
        how="told",
        after=state.head.contexts,
    )


def _check(state: State, old: str, new: str) -> list[Succession]:
    """Return what a judge has said to the contrary, undone, with that of notes."""
    for item in (old, new):
        if item not in state.evidence:
            raise NotFound("evidence", item)
    if old == new:
        raise InvalidInput("new", new, "another item than the one that it takes the place of")
    lineage = state.derived.current
    judged = list(lineage.judged_between(new, old))
    if lineage.leads(new, old, without=[one.id for one in judged]):
        allowed = f"an item that {old} has not taken the place of; undo that first"
        raise InvalidInput("new", new, allowed)
    denied = {gone.id: gone for one in judged for gone in (one, *undone_with(state, one))}
    return [replace(one, undone=True) for one in denied.values()]


def _standing(state: State, old: str, new: str) -> Succession | None:
    """Return the succession between two items that was not undone, the first if there are more."""
    for one in state.successions.values():
        if (one.old[0], one.new[0], one.undone) == (old, new, False):
            return one
    return None


def _whole(state: State, item: str) -> Stretch:
    return item, 0, len(state.evidence[item].text)


def _replayed(stored: StoredResult) -> Succession:
    lines = {"old": tuple(stored["old"]), "new": tuple(stored["new"])}
    return Succession(**{**stored, **lines})
