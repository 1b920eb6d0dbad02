"""Whose memories are meant: mem0's three ids, and the namespace and the ids of memories by them."""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import dataclass
from typing import Any

from demem_agent import Evidence, InvalidInput
from demem_agent.types import number_of

__all__ = ["IDS", "SOURCE", "Scope", "id_of", "may_be_in", "new_id", "owner", "scope"]

#: What a memory may be said to be of, in mem0's words.
IDS = ("user_id", "agent_id", "run_id")
#: By this memories are told apart from what else a namespace holds; imports from mem0 have it too.
SOURCE = "mem0"
#: Before the name in the namespace of what no user said. The ids of mem0 hold no space, so that no
#: user has such a namespace.
_AGENT, _RUN = "agent ", "run "
_ID = "a name without spaces"


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose memories are meant: at least one of the three is given."""

    user_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None

    @property
    def namespace(self) -> str:
        """Where what is said within it is kept: with the user, or else the agent, or the run."""
        if self.user_id is not None:
            return self.user_id
        return f"{_AGENT}{self.agent_id}" if self.agent_id is not None else f"{_RUN}{self.run_id}"

    def given(self) -> dict[str, str]:
        """Return the ids that are given, by their names."""
        named = ((name, getattr(self, name)) for name in IDS)
        return {name: value for name, value in named if value is not None}


def scope(user_id: object = None, agent_id: object = None, run_id: object = None) -> Scope:
    """Return whose memories are meant.

    Raises:
        InvalidInput: where none is given, or one is blank or holds a space.
    """
    made = Scope(_named("user_id", user_id), _named("agent_id", agent_id), _named("run_id", run_id))
    if not made.given():
        raise InvalidInput("user_id", None, "given, or else agent_id or run_id")
    return made


def _named(field: str, given: object) -> str | None:
    if given is None:
        return None
    name = str(given).strip()
    if not name or any(char.isspace() for char in name):
        raise InvalidInput(field, given, _ID)
    if name == "*":
        raise InvalidInput(field, given, f"{_ID}; reset() takes all")
    return name


def owner(namespace: str) -> dict[str, Any]:
    """Return the ids that the namespace of a memory tells."""
    if namespace.startswith(_AGENT):
        return {"agent_id": namespace.removeprefix(_AGENT)}
    if namespace.startswith(_RUN):
        return {"run_id": namespace.removeprefix(_RUN)}
    return {"user_id": namespace}


def new_id(namespace: str) -> str:
    """Return an id for a memory in a namespace: a UUID that begins with its digits."""
    return _digits(namespace) + str(uuid.uuid4())[8:]


def id_of(namespace: str, item: Evidence) -> str:
    """Return the id of a memory by its first item: its own, or one of its place for other items."""
    if item.source == SOURCE and item.source_id is not None:
        return item.source_id
    return f"{_digits(namespace)}-0000-8000-8000-{number_of(item.id):012x}"


def may_be_in(memory_id: str, namespace: str) -> bool:
    """Whether an id was made for a namespace; one of mem0's own was made for none."""
    return memory_id.startswith(_digits(namespace))


def _digits(namespace: str) -> str:
    return hashlib.sha256(namespace.encode("utf-8", "surrogatepass")).hexdigest()[:8]
