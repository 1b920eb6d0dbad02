"""``demem hook``: what the hooks of a coding agent run."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from demem_agent.cli.agents import remembering
from demem_agent.cli.agents.heard import Sent, answer_for, heard
from demem_agent.cli.agents.hosts import host_of
from demem_agent.cli.faults import UsageError
from demem_agent.cli.memory_options import Place
from demem_agent.cli.output import Output
from demem_agent.cli.printing import print_line

__all__ = ["hook"]

#: Most that is put before a model unless a call says it: hosts cut what is much longer.
_LIMIT = 2000


def hook(
    place: Place,
    output: Output,
    host: Annotated[
        str,
        typer.Argument(metavar="HOST", help="claude-code, codex or cursor.", show_default=False),
    ],
    limit: Annotated[
        int, typer.Option(metavar="N", help="Most that is put before the model at once.")
    ] = _LIMIT,
) -> None:
    """Recall for a prompt and remember what was said, as the hooks of a coding agent ask for it.

    demem setup puts it where the agent finds it. It reads what the agent says from stdin, as JSON,
    and prints what is to reach the model, if anything. Whatever goes wrong is said on stderr, by
    its kind, and the exit code is 0: an agent never waits or stops for its memory. What it prints
    is JSON in any case.
    """
    named = host_of(host)
    told = heard(named, _told())
    if told is None:
        return
    place.require_folder()
    options = place.options()
    common = remembering.adapters()
    with common.Memories(place.url, limit=limit, tenant=place.tenant, **options) as memories:
        if isinstance(told, Sent):
            recalled = remembering.sent(memories, place.memory_id, named, told)
            if recalled:
                print_line(answer_for(named, recalled))
        else:
            remembering.remember(memories, place.memory_id, named, told)
            if told.fault:
                print_line(f"demem: the transcript was not read: {told.fault}", sys.stderr)


def _told() -> Mapping[str, Any]:
    """Return the object on stdin.

    Raises:
        UsageError: where there is none.
    """
    text = sys.stdin.buffer.read().decode("utf-8-sig", errors="replace")
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, Mapping):
        raise UsageError("stdin holds no JSON object, as the hooks of an agent are given")
    return found
