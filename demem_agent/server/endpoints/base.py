"""What an endpoint is: one row from which the router, the document and the checks are made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, TypeVar

from demem_agent import SlotMemory
from demem_agent.errors import InvalidInput
from demem_agent.later import dataclass
from demem_agent.server.house import House
from demem_agent.server.keys import Key, Scope
from demem_agent.types import number_of
from demem_agent.wire.requests import List, Page, Query, given

__all__ = ["Call", "Endpoint", "Keeps", "Reply", "by", "page", "scopes"]

Record = TypeVar("Record")

#: What becomes of an idempotency key: it is in the ledger, nothing is done that could be done
#: twice, or it is refused, since nobody would know it again.
Keeps = Literal["ledger", "nothing", "refused"]


def scopes(*names: Scope) -> frozenset[Scope]:
    """Return scopes of which one is enough."""
    return frozenset(names)


@dataclass(slots=True)
class Call:
    """One request as an endpoint gets it.

    Attributes:
        operation: the name of the endpoint.
        key: who calls.
        names: what stands in the path, by name.
        body, query: as the endpoint says they are; the body is None where it takes none.
        token: the idempotency key of the header.
    """

    house: House
    operation: str
    key: Key
    names: Mapping[str, str]
    body: Any
    query: Any
    token: str | None = None

    @property
    def memory_id(self) -> str:
        """The id of the memory that it is about."""
        return self.names["memory"]

    @property
    def memory(self) -> SlotMemory:
        """The memory that it is about.

        Raises:
            NotFound: if there is none.
        """
        return self.house.memory(self.memory_id)

    def number(self, name: str) -> int:
        """Return a number of the path.

        Raises:
            InvalidInput: for what is none.
        """
        text = self.names[name]
        if not text.isascii() or not text.isdigit() or len(text) > 9:
            raise InvalidInput(name, text, "a whole number of at least 0")
        return int(text)

    def given(self) -> dict[str, Any]:
        """Return what the body gives, and the idempotency key with it.

        Raises:
            InvalidInput: where the header and the body give different keys.
        """
        told = given(self.body)
        if self.token is not None:
            if told.get("key") not in (None, self.token):
                allowed = "the same as in the header Idempotency-Key, or left out"
                raise InvalidInput("key", told["key"], allowed)
            told["key"] = self.token
        return told


@dataclass(frozen=True, slots=True)
class Reply:
    """What comes back, where it is more than a record and its usual status.

    Attributes:
        lines: whether the value is a list of JSON values to be sent line by line.
    """

    value: Any
    status: int
    lines: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One endpoint.

    Attributes:
        name: its id in the OpenAPI document, and what the log calls it.
        path: with ``{memory}``, ``{item}``, ``{slot}`` or ``{id}`` in it.
        does: carries it out, in a thread.
        says: what it is, in a sentence.
        scopes: of which a key needs one; none where no key is needed at all.
        lane: which class of operations it is.
        gives: what comes back; None for nothing.
        body: what is sent; None for nothing. ``lines`` says that it is JSON line by line.
        query: the parameters of the address.
        status: of the usual response.
        changes: whether it changes the memory.
        keeps: what becomes of an idempotency key.
        tagged: whether the response has the version of the memory as its ETag.
        streams: whether what comes back are events, for as long as somebody listens.
        text: whether what comes back is plain text, given as bytes.
    """

    name: str
    method: str
    path: str
    does: Callable[[Call], Any]
    says: str
    scopes: frozenset[Scope] = frozenset()
    lane: str = "read"
    gives: Any = None
    body: Any = None
    lines: bool = False
    query: type[Query] = Query
    status: int = 200
    changes: bool = False
    keeps: Keeps = "nothing"
    tagged: bool = True
    streams: bool = False
    text: bool = False

    @property
    def of_a_memory(self) -> bool:
        """Whether it is about one memory."""
        return "{memory}" in self.path

    @property
    def room(self) -> str:
        """What the document groups it by."""
        parts = self.path.strip("/").split("/")
        if parts[0] != "v1":
            return parts[0]
        return parts[3] if len(parts) > 3 and self.of_a_memory else parts[1]


def by(method: Callable[..., Any]) -> Callable[[Call], Any]:
    """Return what calls a method of the memory with what the body gives."""

    def does(call: Call) -> Any:
        return method(call.memory, **call.given())

    return does


def page(
    call: Call,
    records: Iterable[Record],
    query: List,
    *,
    known_by: Callable[[Any], str | int] = lambda record: number_of(record.id),
    under: object = None,
) -> Page[Record]:
    """Return a page of records, which are sorted by what they are known by.

    Args:
        under: the filter that they were chosen by, as JSON values.

    Raises:
        Refusal: for a cursor that was not given for this list.
    """
    place = [call.operation, call.key.id, call.key.prefix, dict(call.names), under]
    left = list(records)
    if query.cursor is not None:
        last = call.house.cursors.read(place, query.cursor)
        left = [record for record in left if _after(known_by(record), last)]
    shown = left[: query.limit]
    more = len(left) > len(shown)
    following = call.house.cursors.made(place, known_by(shown[-1])) if more else None
    return Page(records=shown, next=following)


def _after(one: Any, last: Any) -> bool:
    return bool(one > last)
