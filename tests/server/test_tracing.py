"""Traces across a server: its spans are part of the caller's trace, also by the Python client."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from served import MEMORY, Listening, calling, listening

from demem_agent import SlotMemory

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    return exporter


@pytest.fixture
def there() -> Iterator[Listening]:
    with listening() as made:
        yield made


def test_the_span_of_a_request_is_part_of_the_trace_that_its_header_names(
    spans: InMemorySpanExporter,
) -> None:
    with calling() as ask:
        spans.clear()
        query = {"query": "Where does Ana live?"}
        ask("POST", f"{MEMORY}/read", query, traceparent=f"00-{TRACE}-{PARENT}-01")
        ask("POST", f"{MEMORY}/read", query)
    first, second = spans.get_finished_spans()
    assert first.name == second.name == "search_memory"
    assert f"{first.context.trace_id:032x}" == TRACE
    assert first.parent is not None
    assert f"{first.parent.span_id:016x}" == PARENT
    assert second.parent is None


def test_the_client_sends_the_trace_that_it_is_in(
    there: Listening, spans: InMemorySpanExporter
) -> None:
    tracer = trace.get_tracer("program")
    with (
        SlotMemory.open(there.url, memory_id="ana") as memory,
        tracer.start_as_current_span("turn") as turn,
    ):
        memory.ingest("I moved to Lisbon.")
    made = [span for span in spans.get_finished_spans() if span.name == "create_memory"]
    assert [span.context.trace_id for span in made] == [turn.get_span_context().trace_id]
