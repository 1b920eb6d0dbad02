"""What a hook does with what it is told: it recalls for a prompt, and remembers what was said."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from demem_agent.cli.agents.heard import Ended, Said, Sent
from demem_agent.cli.agents.hosts import Host
from demem_agent.errors import MissingExtra

__all__ = ["adapters", "remember", "sent"]

#: Turns that a prompt may go back to, and that its model is shown anyway.
_BEFORE = 6


def adapters() -> Any:
    """Import what all adapters share, by name and only now: the core stands without its adapters.

    Raises:
        MissingExtra: if it is not installed.
    """
    try:
        return import_module("demem_adapters.common")
    except ImportError as error:
        raise MissingExtra("demem hook", "cli") from error


def sent(memories: Any, namespace: str, host: Host, told: Sent) -> str:
    """Return what bears on a prompt, as it is put before a model; remember the prompt after that.

    What was said last in the session is told to memory, and left out: the model is shown it.
    """
    common = adapters()
    before: list[str] = []
    with common.logged("nothing was recalled"):
        memory = memories.known(namespace)
        where = {"session": told.session} if told.session else {}
        if memory is not None and where:
            before = [item.text for item in memory.evidence(where=where)][-_BEFORE:]
    reading = memories.prepare(namespace, told.prompt, shown=before, context=before)
    if told.said is not None:
        _said(memories, namespace, host, told.session, told.said)
    return str(common.block(reading))


def remember(memories: Any, namespace: str, host: Host, told: Ended) -> None:
    """Remember what the user said that is not remembered yet, and the answer."""
    common = adapters()
    known: set[str | None] = set()
    with common.logged("a turn was not remembered"):
        memory = memories.known(namespace)
        items = memory.evidence(where={"source": host}) if memory is not None else ()
        known = {item.source_id for item in items}
    for one in told.said:
        if one.id not in known:
            _said(memories, namespace, host, told.session, one)
    with common.logged("a turn was not remembered"):
        memories.remember(
            namespace,
            told.answer,
            speaker=common.ASSISTANT,
            session=told.session or None,
            source=host,
            key=common.digest(host, told.session, told.id, told.answer),
        )


def _said(memories: Any, namespace: str, host: Host, session: str, said: Said) -> None:
    common = adapters()
    with common.logged("a turn was not remembered"):
        memories.remember(
            namespace,
            said.text,
            speaker=common.USER,
            at=said.at,
            session=session or None,
            source=host,
            source_id=said.id or None,
            key=common.digest(host, session, said.id, said.text),
        )
