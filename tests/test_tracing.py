"""Spans: one for each operation, as the conventions want them, and no word in them unasked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from demem_agent import AsyncSlotMemory, InvalidInput, SlotMemory
from demem_agent.errors import NotFound
from demem_agent.server.exporting import exporting
from demem_agent.stores.memory import MemoryStore
from demem_agent.testing import BagEncoder
from demem_agent.tracing import CAPTURE, SCHEMA

SECRETS = ("Lisbon", "Ana", "live", "cat", "Minka")


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """What is told to a provider that is there for one test alone."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    monkeypatch.delenv(CAPTURE, raising=False)
    return exporter


@pytest.fixture
def memory() -> Iterator[SlotMemory]:
    with SlotMemory.open("memory://", memory_id="m1", encoder=BagEncoder(), clock=None) as made:
        made.ingest("I moved to Lisbon.", speaker="Ana")
        made.ingest("The cat is called Minka.", speaker="Ana")
        yield made


def attributes(span: ReadableSpan) -> Mapping[str, Any]:
    return dict(span.attributes or {})


def only(exporter: InMemorySpanExporter) -> ReadableSpan:
    (span,) = exporter.get_finished_spans()
    return span


OPERATIONS: dict[str, tuple[str, Callable[[SlotMemory], object]]] = {
    "ingest": ("create_memory", lambda m: m.ingest("It rains.")),
    "ingest_many": ("create_memory", lambda m: m.ingest_many([{"text": "a"}, {"text": "b"}])),
    "answered": ("create_memory", lambda m: m.answered("Where does Ana live?", "Lisbon")),
    "read": ("search_memory", lambda m: m.read("Where does Ana live?")),
    "route": ("search_memory", lambda m: m.route("Where does Ana live?")),
    "answer": ("search_memory", lambda m: m.answer("Where does Ana live?")),
    "decide": ("search_memory", lambda m: m.decide("Ana is hungry", ["cook", "order"])),
    "advice": ("search_memory", lambda m: m.advice("Ana is hungry")),
    "tried": ("search_memory", lambda m: m.tried("Ana is hungry")),
    "update": ("update_memory", lambda m: m.update("e1", "I moved to Porto.")),
    "supersede": ("update_memory", lambda m: m.supersede("e1", "e2")),
    "keep": ("update_memory", lambda m: m.keep("e1")),
    "hide": ("update_memory", lambda m: m.hide("e1")),
    "rename": ("update_memory", lambda m: m.rename(0, "home")),
    "pin": ("update_memory", lambda m: m.pin(0)),
    "forget": ("delete_memory", lambda m: m.forget("e1")),
    "delete": ("delete_memory_store", lambda m: m.delete()),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_is_one_span_that_names_the_memory_and_no_word(
    memory: SlotMemory, spans: InMemorySpanExporter, name: str
) -> None:
    operation, does = OPERATIONS[name]
    does(memory)
    span = only(spans)
    told = attributes(span)
    assert span.name == told["gen_ai.operation.name"] == operation
    assert told["gen_ai.memory.store.id"] == "m1"
    assert span.kind is trace.SpanKind.CLIENT
    assert span.instrumentation_scope is not None
    assert span.instrumentation_scope.schema_url == SCHEMA
    written = span.to_json()
    assert not [word for word in SECRETS if word in written]


def test_feedback_is_a_span_of_its_own(memory: SlotMemory, spans: InMemorySpanExporter) -> None:
    answer = memory.answer("Where does Ana live?")
    spans.clear()
    memory.feedback(answer, correction="She lives in Porto.")
    told = attributes(only(spans))
    assert told["gen_ai.operation.name"] == "update_memory"
    assert told["gen_ai.memory.record.id"] == "e3"
    assert "Porto" not in json.dumps(dict(told))


def test_how_many_items_and_which_one_are_told(
    memory: SlotMemory, spans: InMemorySpanExporter
) -> None:
    reading = memory.read("Where does Ana live?")
    assert attributes(only(spans))["gen_ai.memory.record.count"] == len(reading.evidence)
    spans.clear()
    memory.forget("e2")
    told = attributes(only(spans))
    assert (told["gen_ai.memory.record.count"], told["gen_ai.memory.record.id"]) == (1, "e2")


def test_a_memory_that_is_made_is_told_and_one_that_is_there_is_not(
    spans: InMemorySpanExporter,
) -> None:
    store = MemoryStore()
    for _ in range(2):
        SlotMemory.open(store, memory_id="m2", encoder=BagEncoder())
    assert only(spans).name == "create_memory_store"


def test_what_fails_is_told_by_the_name_of_its_error_alone(
    memory: SlotMemory, spans: InMemorySpanExporter
) -> None:
    with pytest.raises(NotFound):
        memory.update("e99", "Minka ran away.")
    span = only(spans)
    assert attributes(span)["error.type"] == "NotFound"
    assert span.status.status_code is trace.StatusCode.ERROR
    assert not span.status.description
    assert not span.events


def test_words_are_told_where_they_are_asked_for(
    memory: SlotMemory, spans: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CAPTURE, "true")
    memory.read("Where does Ana live?")
    told = attributes(only(spans))
    assert told["gen_ai.memory.query.text"] == "Where does Ana live?"
    records = json.loads(told["gen_ai.memory.records"])
    assert {"id": "e1", "content": "I moved to Lisbon."} in records


def test_an_asynchronous_memory_tells_the_same(spans: InMemorySpanExporter) -> None:
    async def talk() -> None:
        async with await AsyncSlotMemory.open(
            "memory://", memory_id="m1", encoder=BagEncoder()
        ) as memory:
            await memory.ingest("I moved to Lisbon.")
            await memory.read("Where?")

    asyncio.run(talk())
    names = [span.name for span in spans.get_finished_spans()]
    assert names == ["create_memory_store", "create_memory", "search_memory"]


def test_a_span_is_part_of_the_one_that_the_caller_is_in(
    memory: SlotMemory, spans: InMemorySpanExporter
) -> None:
    with trace.get_tracer("program").start_as_current_span("turn") as turn:
        memory.read("Where does Ana live?")
    found = next(span for span in spans.get_finished_spans() if span.name == "search_memory")
    assert found.parent is not None
    assert found.parent.span_id == turn.get_span_context().span_id


def test_a_collector_that_cannot_be_is_refused() -> None:
    with pytest.raises(InvalidInput, match="otlp"), exporting("localhost:4318"):
        pass
    with pytest.raises(InvalidInput) as caught, exporting("ftp://me:secret@localhost"):
        pass
    assert "secret" not in str(caught.value)
