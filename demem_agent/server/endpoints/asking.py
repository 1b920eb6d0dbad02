"""Asking: what is read, answered and told of it; what is decided and what it came to."""

from __future__ import annotations

from demem_agent import SlotMemory
from demem_agent.errors import NotFound
from demem_agent.server.endpoints.base import Call, Endpoint, by, page, scopes
from demem_agent.types import (
    Answer,
    Context,
    Decision,
    Explained,
    FeedbackReport,
    Reading,
    Route,
    Situation,
    Tried,
    Weighed,
)
from demem_agent.wire.requests import (
    Advise,
    Answered,
    Asked,
    Decide,
    Decided,
    List,
    Page,
    Read,
    Routed,
    Tell,
    Told,
    Try,
)

__all__ = ["ENDPOINTS"]


def feedback(call: Call) -> FeedbackReport:
    told = call.given()
    try:
        return call.memory.feedback(**told)
    except NotFound:
        known = call.house.answer_id(call.memory_id, told["answer"])
        if known is None:
            raise
        told["answer"] = known
        return call.memory.feedback(**told)


def advice(call: Call) -> Told:
    return Told(text=call.memory.advice(**call.given()))


def tried(call: Call) -> Page[Tried]:
    return Page(records=list(call.memory.tried(**call.given())))


def contexts(call: Call) -> Page[Context]:
    return page(call, call.memory.contexts(), call.query)


def context(call: Call) -> Context:
    found = {one.id: one for one in call.memory.contexts()}
    id = call.names["id"]
    known = id if id in found else call.house.answer_id(call.memory_id, id)
    if known is None or known not in found:
        raise NotFound("answer", id)
    return found[known]


def decisions(call: Call) -> Page[Decision]:
    return page(call, call.memory.decisions(), call.query)


def situations(call: Call) -> Page[Situation]:
    return page(call, call.memory.situations(), call.query)


def explained(call: Call) -> Explained:
    return call.memory.explain(call.names["id"])


_ONE = "/v1/memories/{memory}"
_READ = scopes("read")
_ANSWER = scopes("write", "feedback")

ENDPOINTS = (
    Endpoint(
        name="read",
        method="POST",
        path=f"{_ONE}/read",
        does=by(SlotMemory.read),
        says="Return the text to put before a model, and what is in it.",
        scopes=_READ,
        gives=Reading,
        body=Read,
    ),
    Endpoint(
        name="weigh",
        method="POST",
        path=f"{_ONE}/weigh",
        does=by(SlotMemory.weigh),
        says="Read, and tell what each line has its score from.",
        scopes=_READ,
        gives=Weighed,
        body=Read,
    ),
    Endpoint(
        name="route",
        method="POST",
        path=f"{_ONE}/route",
        does=by(SlotMemory.route),
        says="Choose the slot that a query goes to, and tell whether any is adequate.",
        scopes=_READ,
        gives=Route,
        body=Routed,
    ),
    Endpoint(
        name="answer",
        method="POST",
        path=f"{_ONE}/answer",
        does=by(SlotMemory.answer),
        says="Answer from memory alone, and remember the decision.",
        scopes=_ANSWER,
        lane="write",
        gives=Answer,
        body=Asked,
        changes=True,
        keeps="refused",
    ),
    Endpoint(
        name="answered",
        method="POST",
        path=f"{_ONE}/answered",
        does=by(SlotMemory.answered),
        says="Record an answer that was produced elsewhere.",
        scopes=_ANSWER,
        lane="write",
        gives=Answer,
        body=Answered,
        changes=True,
        keeps="refused",
    ),
    Endpoint(
        name="feedback",
        method="POST",
        path=f"{_ONE}/feedback",
        does=feedback,
        says="Learn from how an answer or a decision did.",
        scopes=scopes("feedback"),
        lane="write",
        gives=FeedbackReport,
        body=Tell,
        changes=True,
        keeps="ledger",
    ),
    Endpoint(
        name="decide",
        method="POST",
        path=f"{_ONE}/decide",
        does=by(SlotMemory.decide),
        says="Choose among actions by what worked in situations like this.",
        scopes=_ANSWER,
        lane="write",
        gives=Decision,
        body=Decide,
        changes=True,
        keeps="ledger",
    ),
    Endpoint(
        name="decided",
        method="POST",
        path=f"{_ONE}/decided",
        does=by(SlotMemory.decided),
        says="Record what an agent chose itself.",
        scopes=_ANSWER,
        lane="write",
        gives=Decision,
        body=Decided,
        changes=True,
        keeps="ledger",
    ),
    Endpoint(
        name="advice",
        method="POST",
        path=f"{_ONE}/advice",
        does=advice,
        says="Tell in a line what worked in a situation.",
        scopes=_READ,
        gives=Told,
        body=Advise,
    ),
    Endpoint(
        name="tried",
        method="POST",
        path=f"{_ONE}/tried",
        does=tried,
        says="Tell how actions did in a situation, the best first.",
        scopes=_READ,
        gives=Page[Tried],
        body=Try,
    ),
    Endpoint(
        name="list_answers",
        method="GET",
        path=f"{_ONE}/answers",
        does=contexts,
        says="List every answer so far, with what came of it.",
        scopes=_READ,
        gives=Page[Context],
        query=List,
    ),
    Endpoint(
        name="get_answer",
        method="GET",
        path=f"{_ONE}/answers/{{id}}",
        does=context,
        says="Show an answer, with what came of it.",
        scopes=_READ,
        gives=Context,
    ),
    Endpoint(
        name="list_decisions",
        method="GET",
        path=f"{_ONE}/decisions",
        does=decisions,
        says="List every choice among actions so far, with what it came to.",
        scopes=_READ,
        gives=Page[Decision],
        query=List,
    ),
    Endpoint(
        name="explain_decision",
        method="GET",
        path=f"{_ONE}/decisions/{{id}}",
        does=explained,
        says="Explain a choice: what it rested on, and how it looks now.",
        scopes=_READ,
        lane="whole",
        gives=Explained,
    ),
    Endpoint(
        name="list_situations",
        method="GET",
        path=f"{_ONE}/situations",
        does=situations,
        says="List every situation in which something was decided.",
        scopes=_READ,
        gives=Page[Situation],
        query=List,
    ),
)
