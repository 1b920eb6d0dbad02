"""What opens a memory behind a URL."""

from __future__ import annotations

from typing import Any

from demem_agent.client.caller import Caller
from demem_agent.client.transport import Http, Transport
from demem_agent.door import Door
from demem_agent.errors import InvalidInput
from demem_agent.options import Options, settings_given
from demem_agent.settings import Settings
from demem_agent.text.units import measure

__all__ = ["caller_of", "door_of", "settings_in"]


def caller_of(server: str | Transport, key: str | None, options: Options) -> Caller:
    """Return what asks a server for the memory that options name."""
    transport = Http(server) if isinstance(server, str) else server
    return Caller(transport, key, options.get("memory_id", "default"))


def door_of(settings: Settings) -> Door:
    """Return what checks arguments as it does in process.

    Tokens are counted by the server alone: here no text is too long in them.
    """
    counted = _nothing if settings.unit == "tokens" else measure(settings.unit)
    return Door(settings, None, counted)


def _nothing(text: str) -> int:
    return 0


def settings_in(options: Options) -> dict[str, Any]:
    """Return the settings among options.

    Raises:
        InvalidInput: for an option that a server has of its own, and for a setting out of its
            range.
        TypeError: for an option that there is not.
    """
    Settings(**settings_given(options))
    found: dict[str, Any] = {}
    for name, value in options.items():
        if name in Settings.__annotations__:
            found[name] = value
        elif name != "memory_id":
            raise InvalidInput(name, value, "left out: the server has its own")
    return found
