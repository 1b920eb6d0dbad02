"""Slots: listed, named, merged, summarised; certificates and what else was done to them."""

from __future__ import annotations

from demem_agent.errors import NotFound
from demem_agent.server.endpoints.base import Call, Endpoint, page, scopes
from demem_agent.splitting import replay
from demem_agent.types import (
    ChangeJudged,
    NotesTaken,
    Receipt,
    Sharing,
    Slot,
    SplitCertificate,
    Succession,
    Summarised,
)
from demem_agent.wire.requests import List, Merge, Page, Share, SlotChange, Summarise, Told, given

__all__ = ["ENDPOINTS"]


def slots(call: Call) -> Page[Slot]:
    return Page(records=list(call.memory.slots))


def change_slot(call: Call) -> Slot:
    memory, number = call.memory, call.number("slot")
    told = given(call.body)
    _slot(call, number)
    if "name" in told:
        memory.rename(number, told["name"])
    if "pinned" in told:
        memory.pin(number, told["pinned"])
    return _slot(call, number)


def merge(call: Call) -> Slot:
    call.memory.merge(call.number("slot"), into=call.body.into)
    return _slot(call, call.body.into)


def share(call: Call) -> Page[Sharing]:
    done = call.memory.share(**given(call.body))
    return Page(records=[] if done is None else [done])


def summarise(call: Call) -> Page[Summarised]:
    return Page(records=list(call.memory.summarise(**given(call.body))))


def take_notes(call: Call) -> Page[NotesTaken]:
    return Page(records=list(call.memory.take_notes()))


def judge_changes(call: Call) -> Page[ChangeJudged]:
    return Page(records=list(call.memory.judge_changes()))


def certificates(call: Call) -> Page[SplitCertificate]:
    return page(call, call.memory.certificates(), call.query)


def certificate(call: Call) -> SplitCertificate:
    for one in call.memory.certificates():
        if one.id == call.names["id"]:
            return one
    raise NotFound("certificate", call.names["id"])


def undo(call: Call) -> SplitCertificate:
    certificate(call)
    call.memory.undo(call.names["id"])
    return certificate(call)


def replayed(call: Call) -> Told:
    replay(certificate(call))
    return Told(text="sound")


def successions(call: Call) -> Page[Succession]:
    return page(call, call.memory.successions(), call.query)


def receipts(call: Call) -> Page[Receipt]:
    return Page(records=list(call.memory.receipts()))


def sharings(call: Call) -> Page[Sharing]:
    return Page(records=list(call.memory.sharings()))


def _slot(call: Call, number: int) -> Slot:
    for slot in call.memory.slots:
        if slot.number == number:
            return slot
    raise NotFound("slot", str(number))


_ONE = "/v1/memories/{memory}"
_READ = scopes("read")
_WRITE = scopes("write")

ENDPOINTS = (
    Endpoint(
        name="list_slots",
        method="GET",
        path=f"{_ONE}/slots",
        does=slots,
        says="List the active slots, by number.",
        scopes=_READ,
        gives=Page[Slot],
    ),
    Endpoint(
        name="change_slot",
        method="PATCH",
        path=f"{_ONE}/slots/{{slot}}",
        does=change_slot,
        says="Name a slot, or have it stay as it is divided.",
        scopes=_WRITE,
        lane="write",
        gives=Slot,
        body=SlotChange,
        changes=True,
        keeps="refused",
    ),
    Endpoint(
        name="merge_slot",
        method="POST",
        path=f"{_ONE}/slots/{{slot}}/merge",
        does=merge,
        says="Move all that is in one slot into another and close it.",
        scopes=_WRITE,
        lane="write",
        gives=Slot,
        body=Merge,
        changes=True,
        keeps="refused",
    ),
    Endpoint(
        name="share",
        method="POST",
        path=f"{_ONE}/share",
        does=share,
        says="Merge two slots where a conflict waits for one, and no known decision loses by it.",
        scopes=_WRITE,
        lane="whole",
        gives=Page[Sharing],
        body=Share,
        changes=True,
        keeps="refused",
    ),
    Endpoint(
        name="list_sharings",
        method="GET",
        path=f"{_ONE}/sharings",
        does=sharings,
        says="List which slots were merged by a test, the oldest first.",
        scopes=_READ,
        gives=Page[Sharing],
    ),
    Endpoint(
        name="summarise",
        method="POST",
        path=f"{_ONE}/summarise",
        does=summarise,
        says="Have the memory's compressor write summaries.",
        scopes=_WRITE,
        lane="whole",
        gives=Page[Summarised],
        body=Summarise,
        changes=True,
        keeps="refused",
    ),
    Endpoint(
        name="take_notes",
        method="POST",
        path=f"{_ONE}/notes",
        does=take_notes,
        says="Have the memory's note taker take notes of what was said since it last did.",
        scopes=_WRITE,
        lane="whole",
        gives=Page[NotesTaken],
        changes=True,
        keeps="refused",
    ),
    Endpoint(
        name="judge_changes",
        method="POST",
        path=f"{_ONE}/changes",
        does=judge_changes,
        says="Have the memory's judge say which lines later ones have taken the place of.",
        scopes=_WRITE,
        lane="whole",
        gives=Page[ChangeJudged],
        changes=True,
        keeps="refused",
    ),
    Endpoint(
        name="list_certificates",
        method="GET",
        path=f"{_ONE}/certificates",
        does=certificates,
        says="List every certificate, of splits carried out, undone and suppressed alike.",
        scopes=_READ,
        gives=Page[SplitCertificate],
        query=List,
    ),
    Endpoint(
        name="get_certificate",
        method="GET",
        path=f"{_ONE}/certificates/{{id}}",
        does=certificate,
        says="Show a certificate.",
        scopes=_READ,
        gives=SplitCertificate,
    ),
    Endpoint(
        name="undo_certificate",
        method="POST",
        path=f"{_ONE}/certificates/{{id}}/undo",
        does=undo,
        says="Take back what a certificate did.",
        scopes=_WRITE,
        lane="write",
        gives=SplitCertificate,
        changes=True,
        keeps="refused",
    ),
    Endpoint(
        name="replay_certificate",
        method="POST",
        path=f"{_ONE}/certificates/{{id}}/replay",
        does=replayed,
        says="Work a certificate out again from its numbers; it is refused if they do not fit.",
        scopes=_READ,
        gives=Told,
    ),
    Endpoint(
        name="list_successions",
        method="GET",
        path=f"{_ONE}/successions",
        does=successions,
        says="List which lines have taken the place of which.",
        scopes=_READ,
        gives=Page[Succession],
        query=List,
    ),
    Endpoint(
        name="list_receipts",
        method="GET",
        path=f"{_ONE}/receipts",
        does=receipts,
        says="List what was forgotten for want of room or for its age, the oldest first.",
        scopes=_READ,
        gives=Page[Receipt],
    ),
)
