"""What every reader is told, and what it has turns made by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Literal

from demem_agent.errors import InvalidInput
from demem_agent.imports.stamps import Dates
from demem_agent.later import dataclass
from demem_agent.messages.hearing import Hearing, digest
from demem_agent.messages.records import Omitted
from demem_agent.metadata import Metadata, metadata_field
from demem_agent.turns import Turn, text_field

__all__ = ["Extra", "Wanted", "fact", "items_of", "mapping_of", "text_of", "words_of"]

#: What becomes of fields that a turn has no place for.
Extra = Literal["refuse", "drop", "metadata"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a reader is told.

    Attributes:
        name: of the file without its extension; tells turns without ids apart from those of others.
        by_place: whether a turn without an id is known by its place in the file; what was piped in
            or given as values is known by its words.
        left_out: takes what is not remembered.
        dates: which number comes first in dates of chats; None to go by the file.
    """

    name: str
    tools: bool
    speakers: Mapping[str, str] | None
    extra: Extra
    by_place: bool
    left_out: list[Omitted]
    dates: Dates | None = None

    def hearing(self, session: str | None, *, origin: str, source: str | None = None) -> Hearing:
        """Return what takes in the messages of a conversation, and leaves out what this does."""
        hearing = Hearing(
            session, tools=self.tools, speakers=self.speakers, source=source, origin=origin
        )
        hearing.left_out = self.left_out
        return hearing

    def leave_out(self, where: str, why: str) -> None:
        """Note what is not remembered."""
        self.left_out.append(Omitted(where, why))

    def metadata(self, given: Mapping[str, Any], where: str) -> Metadata | None:
        """Return what is kept beside a text; what cannot be is left out.

        Args:
            given: what another program has beside it; what is empty is passed over.
        """
        told = {name: value for name, value in given.items() if value not in (None, "", [], {})}
        try:
            return metadata_field(f"{where}.metadata", told) or None
        except InvalidInput:  # too long, or no JSON: of values that a client gives
            self.leave_out(f"{where}.metadata", "metadata over 4 KB")
            return None


def fact(
    origin: str,
    id: object,
    text: str,
    *,
    at: datetime | None = None,
    speaker: str | None = None,
    session: str | None = None,
    metadata: Metadata | None = None,
) -> Turn:
    """Return a turn for what another memory holds; known by its id and by what it says, and when.

    Args:
        origin: the other memory, which is the ``source`` of the turn.
        id: the other memory's own; None where it has none.
    """
    own = None if id is None else str(id)
    turn = Turn(
        text,
        speaker=speaker,
        at=at,
        session=session,
        source=origin,
        source_id=own,
        metadata=metadata,
    )
    return replace(turn, key=f"{origin}:{words_of(turn)}")


def words_of(turn: Turn) -> str:
    """Return a digest of a turn: its id, text, speaker, session, time and metadata."""
    at = None if turn.at is None else str(turn.at)
    said = (turn.source_id, turn.text, turn.speaker, turn.session, at)
    return digest(*said, Metadata(turn.metadata).text) if turn.metadata else digest(*said)


def mapping_of(value: object, where: str, expected: str) -> Mapping[str, Any]:
    """Return an object of JSON; raise InvalidInput for any other value."""
    if not isinstance(value, Mapping):
        raise InvalidInput(where, value, expected)
    return value


def items_of(
    fields: Mapping[str, Any], name: str, where: str, expected: str
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the objects of a list in a field, each with its place; none where it is not there.

    Raises:
        InvalidInput: for what is no list of objects.
    """
    given = fields.get(name)
    if given is None:
        return
    if not isinstance(given, list | tuple):
        raise InvalidInput(f"{where}.{name}", given, f"a list of {expected}")
    for n, item in enumerate(given):
        place = f"{where}.{name}[{n}]"
        yield place, mapping_of(item, place, expected)


def text_of(fields: Mapping[str, Any], where: str, *names: str) -> str:
    """Return the text in the first of these fields that is there.

    Raises:
        InvalidInput: naming the first of them, if there is none, or the one that is no text.
    """
    for name in names:
        if fields.get(name) is not None:
            return text_field(f"{where}.{name}", fields[name])
    return text_field(f"{where}.{names[0]}", None)
