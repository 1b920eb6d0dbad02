"""Spans of what a memory does, where the program that embeds it traces with OpenTelemetry.

They are ``gen_ai.memory.client`` spans of the semantic conventions for generative AI (schema
``gen-ai/1.42.0``, status Development), one for each operation. The Python package of the
conventions does not have these names yet, so they stand here.

Nothing is imported for it: a program that traces has imported ``opentelemetry.trace`` itself, and
for any other an operation costs a look into a dictionary more. What was said is in no span unless
``OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT`` asks for it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, TypeVar

from demem_agent.later import dataclass
from demem_agent.stores.base import Address
from demem_agent.types import Answer, Evidence, FeedbackReport, Ingested, Reading, Receipt, Updated

__all__ = ["CAPTURE", "SCHEMA", "Span", "headers_to_send", "of_a_store", "of_flow", "under_caller"]

Result = TypeVar("Result")

SCHEMA = "https://opentelemetry.io/schemas/gen-ai/1.42.0"
#: The environment variable by which content is asked for, and what it says then.
CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_CAPTURED = ("true", "1", "span_only", "span_and_event")

_OPERATION = "gen_ai.operation.name"
_PROVIDER = "gen_ai.provider.name"
_STORE = "gen_ai.memory.store.id"
_RECORD = "gen_ai.memory.record.id"
_COUNT = "gen_ai.memory.record.count"
_QUERY = "gen_ai.memory.query.text"
_RECORDS = "gen_ai.memory.records"
_ERROR = "error.type"
#: Which of ours it is: several are one of the conventions'.
_OURS = "demem.operation"

_SEARCH, _CREATE = "search_memory", "create_memory"
_UPDATE, _DELETE = "update_memory", "delete_memory"
#: By module and name of a flow. What only follows from another (room is made, a place is freed) is
#: part of its span and has none of its own.
_FLOWS = {
    "read.read": _SEARCH,
    "read.route": _SEARCH,
    "answer.answer": _SEARCH,
    "advise.advise": _SEARCH,
    "advise.tried": _SEARCH,
    "decide.decide": _SEARCH,
    "ingest.ingest": _CREATE,
    "answer.answered": _CREATE,
    "update.update": _UPDATE,
    "update.changed": _UPDATE,
    "feedback.feedback": _UPDATE,
    "decide.outcome": _UPDATE,
    "supersede.supersede": _UPDATE,
    "mark.keep": _UPDATE,
    "mark.hide": _UPDATE,
    "undo.undo": _UPDATE,
    "arrange.rename": _UPDATE,
    "arrange.pin": _UPDATE,
    "arrange.merge": _UPDATE,
    "summarise.summarise": _UPDATE,
    "note.take_notes": _UPDATE,
    "change.judge": _UPDATE,
    "sync.join": _UPDATE,
    "reembed.reembed": _UPDATE,
    "forget.forget": _DELETE,
    "sync.leave": _DELETE,
}


class Span:
    """An operation that is under way; this one is told to nobody."""

    def told(self, result: Result) -> Result:
        """Tell what came of it, and return that."""
        return result


@dataclass(slots=True)
class _Traced(Span):
    """An operation that is told to a span of OpenTelemetry's."""

    span: Any

    def told(self, result: Result) -> Result:
        if not self.span.is_recording():
            return result
        ids = _ids(result)
        if ids is not None:
            self.span.set_attribute(_COUNT, len(ids))
            if len(ids) == 1:
                self.span.set_attribute(_RECORD, ids[0])
        if _is_captured():
            self._show(_shown(result))
        return result

    def _show(self, items: Sequence[Evidence]) -> None:
        if items:
            records = [{"id": item.id, "content": item.text} for item in items]
            self.span.set_attribute(_RECORDS, json.dumps(records, ensure_ascii=False))


_UNTOLD = nullcontext(Span())


def of_flow(
    flow: Callable[..., object], address: Address, given: Sequence[object]
) -> AbstractContextManager[Span]:
    """Return the span of a flow that is carried out; of one that is no operation, or where nobody
    traces, one that is told to nobody.

    Args:
        given: what the flow is begun with; a query in it is told only where content is.
    """
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return _UNTOLD
    name = f"{flow.__module__.rpartition('.')[2]}.{getattr(flow, '__name__', '')}"
    if name not in _FLOWS:
        return _UNTOLD
    more = {_OURS: name.rpartition(".")[2]}
    query = getattr(given[0], "query", None) if given and _is_captured() else None
    if isinstance(query, str):
        more[_QUERY] = query
    return _begun(trace, _FLOWS[name], address, more)


def of_a_store(operation: str, address: Address) -> AbstractContextManager[Span]:
    """Return the span of a memory that is made or deleted.

    Args:
        operation: ``create_memory_store`` or ``delete_memory_store``.
    """
    trace = sys.modules.get("opentelemetry.trace")
    return _UNTOLD if trace is None else _begun(trace, operation, address, {})


@contextmanager
def under_caller(headers: Mapping[str, str]) -> Iterator[None]:
    """Have spans be part of the trace that a request came with (W3C ``traceparent``)."""
    if "opentelemetry.trace" not in sys.modules:
        yield
        return
    from opentelemetry import context, propagate

    token = context.attach(propagate.extract(headers))
    try:
        yield
    finally:
        context.detach(token)


def headers_to_send() -> dict[str, str]:
    """Return the headers by which a server's spans become part of the trace here."""
    headers: dict[str, str] = {}
    if "opentelemetry.trace" in sys.modules:
        from opentelemetry import propagate

        propagate.inject(headers)
    return headers


@contextmanager
def _begun(
    trace: Any, operation: str, address: Address, more: Mapping[str, str]
) -> Iterator[_Traced]:
    tracer = trace.get_tracer("demem_agent", schema_url=SCHEMA)
    attributes = {_OPERATION: operation, _PROVIDER: "demem", _STORE: address.memory_id, **more}
    # What an error says may be what was said to the memory: its name is told, and no more.
    with tracer.start_as_current_span(
        operation,
        kind=trace.SpanKind.CLIENT,
        attributes=attributes,
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        try:
            yield _Traced(span)
        except BaseException as error:
            span.set_attribute(_ERROR, type(error).__name__)
            span.set_status(trace.StatusCode.ERROR)
            raise


def _is_captured() -> bool:
    return os.environ.get(CAPTURE, "").casefold() in _CAPTURED


def _ids(result: object) -> tuple[str, ...] | None:
    """Return the ids of the items that an operation is about; None where it is about none."""
    if isinstance(result, Updated):
        return (result.evidence_id,)
    if isinstance(result, Receipt):
        return result.evidence
    if isinstance(result, FeedbackReport):
        return () if result.remembered is None else (result.remembered,)
    if isinstance(result, list):
        kept = [one.evidence_id for one in result if isinstance(one, Ingested)]
        return tuple(id for id in kept if id is not None)
    if isinstance(result, Reading | Answer):
        return tuple(item.id for item in _shown(result))
    return None


def _shown(result: object) -> tuple[Evidence, ...]:
    """Return the items that an operation found."""
    if isinstance(result, Answer):
        return result.reading.evidence
    return result.evidence if isinstance(result, Reading) else ()
