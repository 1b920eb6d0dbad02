"""Claude Code, Codex and Cursor: where each keeps what it is to start, and which hooks it has.

As of Claude Code 2.1, Codex 0.124, from which on hooks are on unless switched off, and Cursor 3.20.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import typer

from demem_agent.cli.faults import UsageError

__all__ = [
    "HOSTS",
    "Host",
    "Named",
    "Paths",
    "command_of",
    "entries_of",
    "host_of",
    "is_ours",
    "paths_of",
]

Host = Literal["claude-code", "codex", "cursor"]
HOSTS: tuple[Host, ...] = get_args(Host)
#: A host, as a command is told it.
Named = Annotated[str, typer.Argument(metavar="HOST", help="claude-code, codex or cursor.")]

#: Seconds after which a host gives up on a hook.
_PATIENCE = 30
#: By host, the events that its hooks are run at.
_EVENTS: Mapping[Host, Sequence[str]] = {
    "claude-code": ("UserPromptSubmit", "Stop", "SessionEnd"),
    "codex": ("UserPromptSubmit", "Stop"),
    "cursor": ("beforeSubmitPrompt", "afterAgentResponse"),
}


@dataclass(frozen=True, slots=True)
class Paths:
    """The files of a host.

    Attributes:
        servers: that names its MCP servers.
        hooks: that names its hooks.
    """

    servers: Path
    hooks: Path


def host_of(name: str) -> Host:
    """Return a host by its name.

    Raises:
        UsageError: naming those there are.
    """
    for host in HOSTS:
        if host == name:
            return host
    raise UsageError(f"there is no set-up for {name!r}; those there are {', '.join(HOSTS)}")


def paths_of(host: Host, project: Path | None) -> Paths:
    """Return the files of a host: of a project, or of the user where none is given.

    Hooks of a project go where Claude Code keeps what is one person's own: the memory is.
    """
    home = Path.home()
    if host == "claude-code":
        if project is None:
            return Paths(home / ".claude.json", home / ".claude" / "settings.json")
        return Paths(project / ".mcp.json", project / ".claude" / "settings.local.json")
    if host == "codex":
        own = Path(os.environ.get("CODEX_HOME") or home / ".codex")
        folder = own if project is None else project / ".codex"
        return Paths(folder / "config.toml", folder / "hooks.json")
    folder = (home if project is None else project) / ".cursor"
    return Paths(folder / "mcp.json", folder / "hooks.json")


def command_of(words: Sequence[str]) -> list[str]:
    """Return a command of this program as it runs without any search path."""
    return [sys.executable, "-m", "demem_agent.cli", *words]


def entries_of(host: Host, words: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
    """Return what stands under each event in the file of a host's hooks.

    Args:
        words: of the command that the hooks run.
    """
    parts = command_of(words)
    command = subprocess.list2cmdline(parts) if os.name == "nt" else shlex.join(parts)
    if host == "cursor":
        return {event: {"command": command} for event in _EVENTS[host]}
    handler = {"type": "command", "command": command, "timeout": _PATIENCE}
    return {event: {"hooks": [handler]} for event in _EVENTS[host]}


def is_ours(handler: object) -> bool:
    """Whether a handler of a hook runs this program."""
    command = handler.get("command") if isinstance(handler, Mapping) else None
    return isinstance(command, str) and "demem_agent.cli hook " in command
