"""``demem mcp``: a memory served to MCP clients."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer

from demem_agent.cli.memory_options import Place
from demem_agent.cli.output import Output
from demem_agent.errors import MissingExtra

__all__ = ["mcp"]


def mcp(
    place: Place,
    output: Output,
    per_call: Annotated[
        bool,
        typer.Option(
            "--namespace-per-call", help="Have each call name the memory, instead of --id."
        ),
    ] = False,
    limit: Annotated[
        int | None, typer.Option(metavar="N", help="Most that is recalled at once.")
    ] = None,
    asker: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Who asks in all calls; unless given each may say it."),
    ] = None,
    http: Annotated[
        bool, typer.Option("--http", help="Streamable HTTP at /mcp, instead of stdio.")
    ] = False,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="To listen on; this machine alone.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="N", min=0, max=65535)] = 8000,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="May be called by this name; may be repeated."),
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(metavar="URL", help="Of web pages that may call it; may be repeated."),
    ] = None,
) -> None:
    """Serve a memory to MCP clients, over stdio or HTTP.

    They remember, recall, give feedback, explain and forget. The memory is made when it is first
    written to. Only this machine is served unless --host and --allow-host say otherwise; nothing
    asks who a client is. --json prints an error as one JSON document.
    """
    adapter = _adapter()
    place.require_folder()
    namespace = None if per_call else place.memory_id
    options = place.options()
    with adapter.Memories(place.url, limit=limit, tenant=place.tenant, **options) as memories:
        server = adapter.make_server(memories, namespace=namespace, asker=asker)
        adapter.serve(
            server,
            http=http,
            host=host,
            port=port,
            hosts=tuple(allow_host or ()),
            origins=tuple(allow_origin or ()),
        )


def _adapter() -> Any:
    """Import the adapter, by name and only now: the core stands without its adapters.

    Raises:
        MissingExtra: if it, or what it needs, is not installed.
    """
    try:
        return import_module("demem_adapters.mcp")
    except ImportError as error:
        raise MissingExtra("demem mcp", "mcp") from error
