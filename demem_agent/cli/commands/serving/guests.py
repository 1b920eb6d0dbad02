"""What ``demem serve`` has beside its endpoints: a proxy before providers of models, MCP."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Any

import typer

from demem_agent.cli.faults import UsageError
from demem_agent.errors import MissingExtra

__all__ = ["Guests"]

_PROTOCOLS = ("openai", "anthropic")


@dataclass(frozen=True, slots=True)
class Guests:
    """Which providers of models are behind the server, and whether it speaks MCP."""

    proxy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[NAME=]URL",
            help="Pass on to this provider, with memory: openai (unless named) or anthropic=URL; "
            "may be repeated. Its key, if the server is to have it: DEMEM_OPENAI_KEY, "
            "DEMEM_ANTHROPIC_KEY.",
        ),
    ] = None
    proxy_deadline: Annotated[
        int,
        typer.Option(
            metavar="MS", min=1, max=60_000, help="Most that a memory may take to recall."
        ),
    ] = 150
    proxy_field: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Field of a body that may name the memory, such as safety_identifier. [none]",
        ),
    ] = None

    mcp: Annotated[bool, typer.Option("--mcp", help="Speak MCP at /mcp, with the same keys.")] = (
        False
    )

    def invited(self) -> list[Any]:
        """Return what the server is to have beside its endpoints.

        Raises:
            UsageError: for a name that no provider has.
            InvalidInput: for an address that is none.
            MissingExtra: if what is asked for is not installed.
        """
        found: list[Any] = []
        if self.proxy:
            adapter = _imported("demem_adapters.proxy", "demem serve --proxy", "server")
            upstreams = [adapter.Upstream(*_told(given)) for given in self.proxy]
            deadline = self.proxy_deadline / 1000
            found.append(adapter.Proxy(upstreams, deadline=deadline, identity=self.proxy_field))
        if self.mcp:
            found.append(_imported("demem_adapters.mcp.guest", "demem serve --mcp", "mcp").guest)
        return found

    def said(self, address: str) -> list[str]:
        """Return lines that say where that is found."""
        found = []
        for given in self.proxy or ():
            protocol, upstream, key = _told(given)
            whose = "the key of this server" if key else "the key that callers send"
            found.append(f"{upstream} with memory: {address}/m/{{memory}}/{protocol}, by {whose}")
        if self.mcp:
            found.append(f"MCP: {address}/mcp, the memory in the header demem-memory")
        return found


def _told(given: str) -> tuple[str, str, str | None]:
    """Return the protocol, the address and the key of what was typed."""
    name, found, address = given.partition("=")
    if not found or "://" in name:
        name, address = _PROTOCOLS[0], given
    if name not in _PROTOCOLS:
        raise UsageError(f"--proxy {name}=... is none of {' and '.join(_PROTOCOLS)}")
    return name, address, os.environ.get(f"DEMEM_{name.upper()}_KEY") or None


def _imported(module: str, what: str, extra: str) -> Any:
    """Import a guest, by name and only now: the core stands without its adapters.

    Raises:
        MissingExtra: if it, or what it needs, is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra(what, extra) from error
