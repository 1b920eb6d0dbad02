"""Each method of a memory as what is asked of a server, written once for both kinds of client.

What can be checked without the memory is checked here, by what checks it in process: so a mistake
costs no journey, and is told in the same words.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from demem_agent import messages as chats
from demem_agent.channels import Told
from demem_agent.client.calls import (
    Pages,
    Request,
    all_of,
    delete,
    found,
    get,
    named,
    patch,
    plain,
    post,
    put,
    segment,
)
from demem_agent.door import Door, is_decision
from demem_agent.errors import InvalidInput
from demem_agent.flows.feedback import Raters
from demem_agent.messages.parts import fields_of
from demem_agent.messages.records import IngestedMessages
from demem_agent.reading.ask import Asking, Reads, Routes, When
from demem_agent.slots.choosing.asked import Advises, Decided, Decides, Tries
from demem_agent.stores import DeletionReceipt
from demem_agent.turns import Retold, Turn, text_field, whole_field
from demem_agent.types import (
    Answer,
    ChangeJudged,
    Context,
    Decision,
    Evidence,
    Explained,
    FeedbackReport,
    Gone,
    Health,
    Ingested,
    Known,
    Mark,
    NotesTaken,
    Reading,
    Receipt,
    Route,
    Sharing,
    Situation,
    Slot,
    SplitCertificate,
    Storage,
    Succession,
    Summarised,
    Synced,
    Tried,
    Updated,
    Version,
    Weighed,
)
from demem_agent.where import Where, where_field
from demem_agent.wire.requests import Memory, Page
from demem_agent.wire.requests import Told as Text

#: Turns that go in one request.
BATCH = 512
#: Characters of them: four times as many bytes are within what a server takes.
LARGEST = 1_500_000
#: Whether there is a judge the server knows.
_RATERS = Raters(scorers=(), judges=("of the server",), models=())
_MESSAGE = "a message: a mapping or an object with a role and a content"


def opened(settings: Mapping[str, object]) -> Request[Memory]:
    return put("", Memory, settings)


def shown() -> Request[Memory]:
    return get("", Memory)


def ingest(door: Door, turn: Turn) -> Request[Ingested]:
    return Request("POST", "/items", Ingested, _turn(door.turn(turn)))


def batches(turns: Sequence[Turn]) -> Iterator[Sequence[Turn]]:
    """Yield turns in order, as many at a time as go in one request."""
    batch: list[Turn] = []
    size = 0
    for turn in turns:
        if batch and (len(batch) == BATCH or size + len(turn.text) > LARGEST):
            yield batch
            batch, size = [], 0
        batch.append(turn)
        size += len(turn.text)
    if batch:
        yield batch


def ingest_many(turns: Sequence[Turn]) -> Request[Page[Ingested]]:
    return Request("POST", "/turns", Page[Ingested], {"turns": [_turn(turn) for turn in turns]})


def ingest_messages(
    messages: Iterable[object],
    *,
    session: str | None,
    at: When,
    tools: bool,
    speakers: Mapping[str, str] | None,
    source: str | None,
) -> Request[IngestedMessages]:
    given = list(messages) if isinstance(messages, Iterable) else messages
    chats.turns_of(given, session=session, tools=tools, speakers=speakers, source=source)
    told: list[Any] = []
    for number, message in enumerate(given):
        where = f"messages[{number}]"
        told.append(plain(where, dict(fields_of(message, where, _MESSAGE))))
    return post(
        "/messages",
        IngestedMessages,
        messages=told,
        session=session,
        at=at,
        tools=tools,
        speakers=speakers,
        source=source,
    )


def sync(
    door: Door,
    turns: Iterable[Turn | Mapping[str, object]],
    *,
    source: str,
    by: Known,
    gone: Gone,
    known: float,
) -> Request[Synced]:
    listing = door.listing(turns, source, by, gone, known)
    told = [_turn(turn) for turn in listing.turns]
    return post("/sync", Synced, turns=told, source=source, by=by, gone=gone, known=known)


def route(door: Door, query: str, how: Routes) -> Request[Route]:
    door.routing(query, how)
    return named("/route", Route, {"query": query, **_filtered(how)})


def read(door: Door, query: str, how: Reads) -> Request[Reading]:
    door.reading(query, how)
    return named("/read", Reading, {"query": query, **_filtered(how)})


def weigh(door: Door, query: str, how: Reads) -> Request[Weighed]:
    door.reading(query, how)
    return named("/weigh", Weighed, {"query": query, **_filtered(how)})


def answer(door: Door, query: str, how: Asking) -> Request[Answer]:
    door.asking("answer", query, how)
    return named("/answer", Answer, {"query": query, **_filtered(how)})


def answered(
    door: Door, query: str, text: str, reading: Reading | None, how: Asking
) -> Request[Answer]:
    door.answered(query, text, reading, how)
    told = {"query": query, "text": text, "reading": reading, **_filtered(how)}
    return named("/answered", Answer, told)


def feedback(
    door: Door, answer: Answer | Decision | str, key: str | None, told: Told
) -> Request[FeedbackReport]:
    if is_decision(answer):
        id, *_ = door.outcome(answer, told, key)
    else:
        id = door.feedback(answer, told, key, _RATERS).answer_id
    return named("/feedback", FeedbackReport, {"answer": id, "key": key, **told})


def decide(door: Door, situation: str, actions: Iterable[str], how: Decides) -> Request[Decision]:
    offered = _several(actions)
    door.deciding(situation, offered, how)
    return named("/decide", Decision, {"situation": situation, "actions": offered, **how})


def decided(
    door: Door, situation: str, action: str, actions: Iterable[str], how: Decided
) -> Request[Decision]:
    offered = _several(actions)
    door.decided(situation, action, offered, how)
    told = {"situation": situation, "action": action, "actions": offered, **how}
    return named("/decided", Decision, told)


def advice(door: Door, situation: str, how: Advises) -> Request[Text]:
    door.advising(situation, how)
    return named("/advice", Text, {"situation": situation, **how})


def tried(door: Door, situation: str, how: Tries) -> Request[Page[Tried]]:
    door.trying(situation, how)
    return named("/tried", Page[Tried], {"situation": situation, **how})


def forget(
    door: Door,
    evidence_id: str | None,
    source_id: str | None,
    before: When,
    where: Where | Mapping[str, object] | None,
    versions: bool,
) -> Request[Receipt]:
    told = {"evidence_id": evidence_id, "source_id": source_id, "before": before}
    door.selected(evidence_id, source_id, before, where, versions)
    given = {**told, "where": _where(where), "versions": versions}
    return named("/forget", Receipt, given)


def update(
    door: Door, evidence_id: str, text: str, key: str | None, given: Retold
) -> Request[Updated]:
    door.updating(evidence_id, text, key, given)
    told = {"text": text, "key": key, **given}
    return named(f"/items/{segment('evidence_id', evidence_id)}/update", Updated, told)


def history(evidence_id: str) -> Request[Page[Version]]:
    return get(f"/items/{segment('evidence_id', evidence_id)}/history", Page[Version])


def keep(door: Door, evidence_id: str, kept: bool) -> Request[Mark]:
    id, value = door.marking(evidence_id, "kept", kept)
    return patch(f"/items/{segment('evidence_id', id)}", Mark, kept=value)


def hide(door: Door, evidence_id: str, hidden: bool) -> Request[Mark]:
    id, value = door.marking(evidence_id, "hidden", hidden)
    return patch(f"/items/{segment('evidence_id', id)}", Mark, hidden=value)


def undo(id: str) -> Request[None]:
    return post("/undo", type(None), id=text_field("id", id))


def supersede(door: Door, old: str, new: str, key: str | None) -> Request[Succession]:
    door.superseding(old, new, key)
    return named("/supersede", Succession, {"old": old, "new": new, "key": key})


def summarise(slot: int | None) -> Request[Page[Summarised]]:
    number = None if slot is None else whole_field("slot", slot, 0)
    return post("/summarise", Page[Summarised], slot=number)


def take_notes() -> Request[Page[NotesTaken]]:
    return post("/notes", Page[NotesTaken])


def judge_changes() -> Request[Page[ChangeJudged]]:
    return post("/changes", Page[ChangeJudged])


def slots() -> Request[Page[Slot]]:
    return get("/slots", Page[Slot])


def rename(door: Door, slot: int, name: str | None) -> Request[Slot]:
    number, given = door.naming(slot, name)
    return patch(f"/slots/{number}", Slot, name=given)


def pin(door: Door, slot: int, pinned: bool) -> Request[Slot]:
    number, value = door.pinning(slot, pinned)
    return patch(f"/slots/{number}", Slot, pinned=value)


def merge(door: Door, slot: int, into: int) -> Request[Slot]:
    number, other = door.merging(slot, into)
    return post(f"/slots/{number}/merge", Slot, into=other)


def share(answers: int) -> Request[Page[Sharing]]:
    return post("/share", Page[Sharing], answers=whole_field("answers", answers, 2))


def evidence(where: Where | Mapping[str, object] | None) -> Pages[tuple[Evidence, ...]]:
    return found(Evidence, _where(where) or {})


def item(evidence_id: str) -> Request[Evidence]:
    return get(f"/items/{segment('evidence_id', evidence_id)}", Evidence)


def contexts() -> Pages[tuple[Context, ...]]:
    return all_of("/answers", Context)


def certificates() -> Pages[tuple[SplitCertificate, ...]]:
    return all_of("/certificates", SplitCertificate)


def successions() -> Pages[tuple[Succession, ...]]:
    return all_of("/successions", Succession)


def decisions() -> Pages[tuple[Decision, ...]]:
    return all_of("/decisions", Decision)


def situations() -> Pages[tuple[Situation, ...]]:
    return all_of("/situations", Situation)


def explain(id: str) -> Request[Explained]:
    return get(f"/decisions/{segment('id', id)}", Explained)


def marks() -> Request[Page[Mark]]:
    return get("/marks", Page[Mark])


def health() -> Request[Health]:
    return get("/health", Health)


def storage() -> Request[Storage]:
    return get("/storage", Storage)


def receipts() -> Request[Page[Receipt]]:
    return get("/receipts", Page[Receipt])


def sharings() -> Request[Page[Sharing]]:
    return get("/sharings", Page[Sharing])


def fingerprint() -> Request[Text]:
    return get("/fingerprint", Text)


def check() -> Request[Text]:
    return get("/check", Text)


def export(where: Where | Mapping[str, object] | None) -> Request[list[dict[str, Any]]]:
    chosen = _where(where)
    told = {} if chosen is None else {"where": json.dumps(chosen)}
    return get("/export", list[dict[str, Any]], **told)


def restore(lines: Iterable[Mapping[str, Any]]) -> Request[Memory]:
    if not isinstance(lines, Iterable) or isinstance(lines, str | Mapping):
        raise InvalidInput("lines", lines, "what export gave: a list of mappings")
    return Request("POST", "/import", Memory, [_line(n, line) for n, line in enumerate(lines, 1)])


def deleted() -> Request[DeletionReceipt]:
    return delete("", DeletionReceipt)


def _line(number: int, line: Mapping[str, Any]) -> str:
    """Return a line of an export as it is written, half a character too."""
    try:
        return json.dumps(dict(line), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"line {number}", line, "a row as export writes it") from error


def _several(actions: Any) -> Any:
    """Return names that can be gone through twice; what cannot be is left for the check."""
    return list(actions) if isinstance(actions, Iterator) else actions


def _turn(turn: Turn) -> dict[str, Any]:
    """Return a checked turn as JSON has it, without what it does not say."""
    told = {name: getattr(turn, name) for name in Turn.__annotations__}
    return {name: plain(name, value) for name, value in told.items() if value is not None}


def _where(given: Where | Mapping[str, object] | None) -> dict[str, Any] | None:
    """Return a checked filter as JSON has it; None where nothing is asked for."""
    where = where_field(given)
    if where is None:
        return None
    told = {name: getattr(where, name) for name in Where.__annotations__}
    return {name: plain(f"where.{name}", it) for name, it in told.items() if it is not None}


def _filtered(how: Mapping[str, Any]) -> dict[str, Any]:
    """Return options of asking with their filter as JSON has it."""
    return {**how, "where": _where(how["where"])} if "where" in how else dict(how)
