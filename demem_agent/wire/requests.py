"""What is asked of a server: the bodies and the parameters of its endpoints.

A field that is left out is left out where the library is called: so the defaults are the
library's. The OpenAPI document is written from these and from the records that come back.
"""

from __future__ import annotations

from typing import Annotated, Any, Generic, Literal, TypeVar, get_type_hints

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from demem_agent.settings import Settings
from demem_agent.types import Gone, Known, Mode, Order, Reading

__all__ = [
    "Advise",
    "Answered",
    "Asked",
    "Decide",
    "Decided",
    "Filter",
    "Filtered",
    "Forget",
    "Found",
    "Ingest",
    "Items",
    "KeyMade",
    "KeyShown",
    "List",
    "MakeKey",
    "Marked",
    "Memory",
    "MemoryName",
    "Merge",
    "Messages",
    "NewMemory",
    "Page",
    "Query",
    "Read",
    "Rotate",
    "Routed",
    "Share",
    "SlotChange",
    "Summarise",
    "Supersede",
    "Sync",
    "Tell",
    "Told",
    "Try",
    "Turn",
    "Turns",
    "Undo",
    "Update",
    "Version",
    "given",
]

Record = TypeVar("Record")

Text = Annotated[str, Meta(min_length=1)]
Key = Annotated[str, Meta(min_length=1, max_length=1000, description="Idempotency key.")]
Time = Annotated[
    str,
    Meta(
        description="A date or a time in ISO 8601.", examples=["2024-03-02", "2024-03-02T18:30:00"]
    ),
]
Period = Annotated[
    str,
    Meta(
        description="A time, a day, a month or a year in ISO 8601.",
        examples=["2024", "2024-05", "2024-05-03", "2024-05-03T10:30:00"],
    ),
]
Unit = Annotated[float, Meta(ge=0, le=1)]
Number = Annotated[int, Meta(ge=0, lt=2**31)]
Count = Annotated[int, Meta(ge=1, lt=2**31)]
Conditions = Annotated[list[Text], Meta(max_length=16)]
PageSize = Annotated[int, Meta(ge=1, le=1000)]


class _Given(Struct, kw_only=True, forbid_unknown_fields=True):
    """What a caller gives; a name that is not known is refused, not passed over."""


def given(body: Struct) -> dict[str, Any]:
    """Return the fields that were given, by name, and what is in them as plain values."""
    found: dict[str, Any] = {}
    for name in body.__struct_fields__:
        value = getattr(body, name)
        if value is not UNSET:
            found[name] = _plain(value)
    return found


def _plain(value: object) -> object:
    if isinstance(value, _Given):
        return given(value)
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value


class Filter(_Given, kw_only=True):
    """Which items are meant: those of which all holds that is given, as ``Where`` says."""

    speaker: str | list[str] | UnsetType | None = UNSET
    session: str | list[str] | UnsetType | None = UNSET
    source: str | list[str] | UnsetType | None = UNSET
    source_ids: str | list[str] | UnsetType | None = UNSET
    since: Period | UnsetType | None = UNSET
    until: Period | UnsetType | None = UNSET
    slot: Number | UnsetType | None = UNSET
    metadata: dict[str, Any] | UnsetType | None = UNSET
    trust: Unit | UnsetType | None = UNSET
    holds: bool | UnsetType | None = UNSET


class _Retold(_Given, kw_only=True):
    at: Time | UnsetType | None = UNSET
    speaker: str | UnsetType | None = UNSET
    session: str | UnsetType | None = UNSET
    source: str | UnsetType | None = UNSET
    source_id: str | UnsetType | None = UNSET
    trust: Unit | UnsetType = UNSET
    metadata: dict[str, Any] | UnsetType | None = UNSET


class Turn(_Retold, kw_only=True):
    """One turn to remember."""

    text: Text
    key: Key | UnsetType | None = UNSET


class Ingest(Turn, kw_only=True):
    """A text to remember, and what is known of it."""


class Turns(_Given, kw_only=True):
    """Turns to remember, in order."""

    turns: list[Turn]


class Messages(_Given, kw_only=True):
    """Chat messages to remember, as OpenAI, Anthropic or LangChain have them."""

    messages: list[dict[str, Any]]
    session: str | UnsetType | None = UNSET
    at: Time | UnsetType | None = UNSET
    tools: bool | UnsetType = UNSET
    speakers: dict[str, str] | UnsetType | None = UNSET
    source: str | UnsetType | None = UNSET


class Sync(_Given, kw_only=True):
    """A list that was edited: all turns that it has now."""

    turns: list[Turn]
    source: Text
    by: Known | UnsetType = UNSET
    gone: Gone | UnsetType = UNSET
    known: Unit | UnsetType = UNSET


class Update(_Retold, kw_only=True):
    """A text in the place of an item; what is not given is as it was."""

    text: Text
    key: Key | UnsetType | None = UNSET


class Marked(_Given, kw_only=True):
    """What is settled of an item."""

    kept: bool | UnsetType = UNSET
    hidden: bool | UnsetType = UNSET


class Supersede(_Given, kw_only=True):
    """Which item has taken the place of which."""

    old: Text
    new: Text
    key: Key | UnsetType | None = UNSET


class Forget(_Given, kw_only=True):
    """What is to be forgotten: exactly one of the first four."""

    evidence_id: Text | UnsetType | None = UNSET
    source_id: Text | UnsetType | None = UNSET
    before: Time | UnsetType | None = UNSET
    where: Filter | UnsetType | None = UNSET
    versions: bool | UnsetType = UNSET


class Undo(_Given, kw_only=True):
    """The id of a certificate, a succession, an answer or a decision."""

    id: Text


class _Situated(_Given, kw_only=True):
    at: Time | UnsetType | None = UNSET
    asker: Text | UnsetType | None = UNSET
    conditions: Conditions | UnsetType = UNSET


class Asked(_Situated, kw_only=True):
    """A query, who asks it, when, and in which conversation."""

    query: str
    context: Annotated[list[str], Meta(max_length=100)] | UnsetType = UNSET
    where: Filter | UnsetType | None = UNSET
    gate: bool | UnsetType = UNSET


class Routed(Asked, kw_only=True):
    """A query, and its vector by the memory's own encoder where it is known."""

    vector: list[float] | UnsetType | None = UNSET


class Read(Routed, kw_only=True):
    """A query, and how what is known is read for it."""

    limit: Count | UnsetType | None = UNSET
    mode: Mode | UnsetType | None = UNSET
    order: Order | UnsetType | None = UNSET
    floor: Annotated[float, Meta(ge=0, lt=1)] | UnsetType | None = UNSET
    slot: Number | UnsetType | None = UNSET
    without: list[Text] | UnsetType = UNSET


class Answered(Asked, kw_only=True):
    """An answer that was given elsewhere, and the reading that it was given from."""

    text: str
    reading: Reading | UnsetType | None = UNSET


class Tell(_Given, kw_only=True):
    """What is told of an answer or a decision: one of these; a reward may go with a text."""

    answer: Text
    reward: Unit | UnsetType | None = UNSET
    reference: Text | UnsetType | None = UNSET
    thumbs: bool | UnsetType | None = UNSET
    correction: Text | UnsetType | None = UNSET
    outcome: bool | Unit | UnsetType | None = UNSET
    agreement: list[Text] | UnsetType | None = UNSET
    judge: bool | UnsetType | None = UNSET
    key: Key | UnsetType | None = UNSET


class _Choice(_Situated, kw_only=True):
    situation: Text
    key: Key | UnsetType | None = UNSET


class Decide(_Choice, kw_only=True):
    """What is to be decided, and what can be chosen."""

    actions: list[Text]
    explore: bool | UnsetType = UNSET
    never: list[Text] | UnsetType = UNSET


class Decided(_Choice, kw_only=True):
    """What an agent chose itself."""

    action: Text
    actions: list[Text] | UnsetType = UNSET


class Try(_Given, kw_only=True):
    """A situation, to be told how actions did in it."""

    situation: Text
    asker: Text | UnsetType | None = UNSET
    conditions: Conditions | UnsetType = UNSET
    actions: list[Text] | UnsetType | None = UNSET


class Advise(Try, kw_only=True):
    """A situation, to be told in a line what worked."""

    limit: Count | UnsetType = UNSET


class SlotChange(_Given, kw_only=True):
    """The name of a slot, for people, and whether it is to stay as it is divided."""

    name: Text | UnsetType | None = UNSET
    pinned: bool | UnsetType = UNSET


class Merge(_Given, kw_only=True):
    """The slot that takes in what is in this one."""

    into: Number


class Share(_Given, kw_only=True):
    """The most answers that may be produced for the tests."""

    answers: Annotated[int, Meta(ge=2, lt=2**31)] | UnsetType = UNSET


class Summarise(_Given, kw_only=True):
    """The slot to write of; all that changed unless given."""

    slot: Number | UnsetType | None = UNSET


def _settings() -> list[tuple[str, Any, Any]]:
    hints = get_type_hints(Settings)
    return [(name, hints[name] | UnsetType, UNSET) for name in Settings.__annotations__]


NewMemory = msgspec.defstruct(
    "NewMemory",
    _settings(),
    bases=(_Given,),
    kw_only=True,
    forbid_unknown_fields=True,
    namespace={"__doc__": "The settings of a memory that is made; the server's unless given."},
)


class MakeKey(_Given, kw_only=True):
    """A key to be made.

    Attributes:
        prefix: the key reaches memories whose ids begin with it; "" for all.
        exact: whether it reaches the memory alone whose id the prefix is.
        days: after how many it expires; never unless given.
    """

    prefix: Annotated[str, Meta(max_length=1000)]
    scopes: Annotated[
        list[Literal["read", "write", "feedback", "forget", "metrics", "admin"]], Meta(min_length=1)
    ]
    name: Annotated[str, Meta(max_length=200)] = ""
    days: Annotated[float, Meta(gt=0, le=36500)] | None = None
    exact: bool = False


class Rotate(_Given, kw_only=True):
    """For how many hours the old key holds beside the new one."""

    hours: Annotated[float, Meta(ge=0, le=24 * 365)] = 24.0


class KeyShown(Struct, kw_only=True):
    """A key without its secret."""

    id: str
    name: str
    prefix: str
    exact: bool
    scopes: list[str]
    made: str
    expires: str | None
    revoked: bool


class KeyMade(KeyShown, kw_only=True):
    """A key as it is shown once: ``key`` is kept by nobody but whoever reads this."""

    key: str


class Query(Struct, kw_only=True, forbid_unknown_fields=True):
    """The parameters of an address; none unless a subclass has some."""


class List(Query, kw_only=True, forbid_unknown_fields=True):
    """A page of a list.

    Attributes:
        cursor: of the page before, its ``next``.
    """

    cursor: Annotated[str, Meta(max_length=4000)] | None = None
    limit: PageSize = 100


class Items(List, kw_only=True, forbid_unknown_fields=True):
    """A page of those items of which all holds that is given.

    Attributes:
        since: called ``from`` in the address; until: ``to``.
    """

    slot: Number | None = None
    session: str | None = None
    speaker: str | None = None
    source: str | None = None
    since: Period | None = msgspec.field(name="from", default=None)
    until: Period | None = msgspec.field(name="to", default=None)


class Filtered(Query, kw_only=True, forbid_unknown_fields=True):
    """What a filter leaves.

    Attributes:
        where: a ``Filter`` as JSON.
    """

    where: str | None = None


class Found(Filter, kw_only=True):
    """Which items are meant, and which page of them."""

    cursor: Annotated[str, Meta(max_length=4000)] | UnsetType | None = UNSET
    limit: PageSize = 100


class MemoryName(Struct, kw_only=True):
    """A memory of the list."""

    memory_id: str


class Memory(Struct, kw_only=True):
    """A memory as it stands.

    Attributes:
        version: which state it is in; also its ``ETag``.
    """

    memory_id: str
    version: str
    items: int
    settings: Settings


class Version(Struct, kw_only=True):
    """What serves."""

    name: str
    version: str
    api: str


class Told(Struct, kw_only=True):
    """A text."""

    text: str


class Page(Struct, Generic[Record], kw_only=True):
    """A page of a list; ``next`` is the cursor of the one after it, None of the last."""

    records: list[Record]
    next: str | None = None
