"""Spans sent to a collector of OpenTelemetry's, over OTLP and HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import demem_agent
from demem_agent.errors import InvalidInput, MissingExtra

__all__ = ["exporting"]

_PATH = "/v1/traces"


@contextmanager
def exporting(url: str | None) -> Iterator[None]:
    """Send the spans of this process to a collector until it ends; what waits is sent first.

    Args:
        url: of the collector, such as ``http://localhost:4318``; None sends nothing.

    Raises:
        InvalidInput: for what is no URL of HTTP.
        MissingExtra: without OpenTelemetry's SDK and exporter.
    """
    if url is None:
        yield
        return
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        shown = url.rpartition("@")[2]  # a password is for no log
        raise InvalidInput("otlp", shown, "such as 'http://localhost:4318'")
    try:
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise MissingExtra("demem serve --otlp", "otel") from error
    named = {"service.name": "demem", "service.version": demem_agent.__version__}
    provider = TracerProvider(resource=Resource.create(named))
    exporter = OTLPSpanExporter(endpoint=url.rstrip("/").removesuffix(_PATH) + _PATH)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    try:
        yield
    finally:
        provider.shutdown()
