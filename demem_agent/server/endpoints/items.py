"""Items: remembered, listed, changed, marked, forgotten."""

from __future__ import annotations

from typing import Any

from demem_agent import SlotMemory
from demem_agent.messages.records import IngestedMessages
from demem_agent.server.endpoints.base import Call, Endpoint, by, page, scopes
from demem_agent.server.endpoints.filters import where_of
from demem_agent.types import (
    Evidence,
    Ingested,
    Mark,
    Receipt,
    Succession,
    Synced,
    Updated,
    Version,
)
from demem_agent.wire.requests import (
    Forget,
    Found,
    Ingest,
    Items,
    List,
    Marked,
    Messages,
    Page,
    Query,
    Supersede,
    Sync,
    Turns,
    Undo,
    Update,
    given,
)

__all__ = ["ENDPOINTS"]


class Forgetting(Query, kw_only=True, forbid_unknown_fields=True):
    """How an item is forgotten.

    Attributes:
        versions: whether all versions of it go as well.
    """

    versions: bool = False


def ingest_many(call: Call) -> Page[Ingested]:
    turns = given(call.body)["turns"]
    if call.token is not None:
        for number, turn in enumerate(turns):
            if turn.get("key") is None:
                turn["key"] = f"{call.token}#{number}"
    return Page(records=call.memory.ingest_many(turns))


def listed(call: Call) -> Page[Evidence]:
    where = where_of(call.query)
    found = call.memory.evidence(where=where or None)
    return page(call, found, call.query, under=where)


def found(call: Call) -> Page[Evidence]:
    where = given(call.body)
    size = where.pop("limit", 100)
    query = List(cursor=where.pop("cursor", None), limit=size)
    items = call.memory.evidence(where=where or None)
    return page(call, items, query, under=where)


def shown(call: Call) -> Evidence:
    return call.memory.item(call.names["item"])


def update(call: Call) -> Updated:
    return call.memory.update(call.names["item"], **call.given())


def history(call: Call) -> Page[Version]:
    return Page(records=list(call.memory.history(call.names["item"])))


def mark(call: Call) -> Mark:
    memory, item = call.memory, call.names["item"]
    told: dict[str, Any] = given(call.body)
    memory.item(item)
    if "kept" in told:
        memory.keep(item, told["kept"])
    if "hidden" in told:
        memory.hide(item, told["hidden"])
    marks = {one.evidence_id: one for one in memory.marks()}
    return marks.get(item, Mark(item))


def marks(call: Call) -> Page[Mark]:
    return Page(records=list(call.memory.marks()))


def forget_item(call: Call) -> Receipt:
    return call.memory.forget(call.names["item"], versions=call.query.versions)


def undo(call: Call) -> None:
    call.memory.undo(call.body.id)


_ONE = "/v1/memories/{memory}"
_ITEMS = f"{_ONE}/items"
_ITEM = f"{_ITEMS}/{{item}}"
_READ = scopes("read")
_WRITE = scopes("write")
_FORGET = scopes("forget")

ENDPOINTS = (
    Endpoint(
        name="ingest",
        method="POST",
        path=_ITEMS,
        does=by(SlotMemory.ingest),
        says="Remember a text.",
        scopes=_WRITE,
        lane="write",
        gives=Ingested,
        body=Ingest,
        status=201,
        changes=True,
        keeps="ledger",
    ),
    Endpoint(
        name="ingest_many",
        method="POST",
        path=f"{_ONE}/turns",
        does=ingest_many,
        says="Remember many turns; with an idempotency key K the turn number N has the key K#N.",
        scopes=_WRITE,
        lane="write",
        gives=Page[Ingested],
        body=Turns,
        status=201,
        changes=True,
        keeps="ledger",
    ),
    Endpoint(
        name="ingest_messages",
        method="POST",
        path=f"{_ONE}/messages",
        does=by(SlotMemory.ingest_messages),
        says="Remember what was said in a list of chat messages, each once.",
        scopes=_WRITE,
        lane="write",
        gives=IngestedMessages,
        body=Messages,
        status=201,
        changes=True,
    ),
    Endpoint(
        name="sync",
        method="POST",
        path=f"{_ONE}/sync",
        does=by(SlotMemory.sync),
        says="Bring the memory up to a list that was edited.",
        scopes=_WRITE,
        lane="whole",
        gives=Synced,
        body=Sync,
        changes=True,
    ),
    Endpoint(
        name="list_items",
        method="GET",
        path=_ITEMS,
        does=listed,
        says="List the live items in order of ingestion.",
        scopes=_READ,
        gives=Page[Evidence],
        query=Items,
    ),
    Endpoint(
        name="find_items",
        method="POST",
        path=f"{_ONE}/find",
        does=found,
        says="List the items of which all holds that the filter asks for.",
        scopes=_READ,
        gives=Page[Evidence],
        body=Found,
    ),
    Endpoint(
        name="get_item",
        method="GET",
        path=_ITEM,
        does=shown,
        says="Show an item.",
        scopes=_READ,
        gives=Evidence,
    ),
    Endpoint(
        name="mark_item",
        method="PATCH",
        path=_ITEM,
        does=mark,
        says="Have an item stay whatever else is forgotten, or never be read.",
        scopes=_WRITE,
        lane="write",
        gives=Mark,
        body=Marked,
        changes=True,
        keeps="refused",
    ),
    Endpoint(
        name="forget_item",
        method="DELETE",
        path=_ITEM,
        does=forget_item,
        says="Erase an item and every text that came from it, and return the receipt.",
        scopes=_FORGET,
        lane="write",
        gives=Receipt,
        query=Forgetting,
        changes=True,
        keeps="refused",
    ),
    Endpoint(
        name="update",
        method="POST",
        path=f"{_ITEM}/update",
        does=update,
        says="Remember a text in the place of an item.",
        scopes=_WRITE,
        lane="write",
        gives=Updated,
        body=Update,
        changes=True,
        keeps="ledger",
    ),
    Endpoint(
        name="history",
        method="GET",
        path=f"{_ITEM}/history",
        does=history,
        says="Tell what an item has taken the place of, and what has taken its, old to new.",
        scopes=_READ,
        gives=Page[Version],
    ),
    Endpoint(
        name="marks",
        method="GET",
        path=f"{_ONE}/marks",
        does=marks,
        says="List what is settled of items.",
        scopes=_READ,
        gives=Page[Mark],
    ),
    Endpoint(
        name="supersede",
        method="POST",
        path=f"{_ONE}/supersede",
        does=by(SlotMemory.supersede),
        says="Settle that one item has taken the place of another.",
        scopes=_WRITE,
        lane="write",
        gives=Succession,
        body=Supersede,
        changes=True,
        keeps="ledger",
    ),
    Endpoint(
        name="forget",
        method="POST",
        path=f"{_ONE}/forget",
        does=by(SlotMemory.forget),
        says="Erase items and every text that came from them, and return the receipt.",
        scopes=_FORGET,
        lane="write",
        gives=Receipt,
        body=Forget,
        changes=True,
        keeps="refused",
    ),
    Endpoint(
        name="undo",
        method="POST",
        path=f"{_ONE}/undo",
        does=undo,
        says="Take back a split, a succession, or what was told of an answer or a decision.",
        scopes=_WRITE,
        lane="write",
        body=Undo,
        status=204,
        changes=True,
        keeps="refused",
    ),
)
