"""Messages as turns: what of them is remembered, by whom it was said, and by which key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from demem_agent.errors import IdempotencyConflict, InvalidInput
from demem_agent.later import module
from demem_agent.messages.parts import Piece
from demem_agent.messages.records import Omitted, Turns
from demem_agent.messages.shapes import Message, message_of
from demem_agent.messages.thinking import without_thinking
from demem_agent.turns import Turn, text_field

if TYPE_CHECKING:
    import hashlib
    import json
else:
    hashlib = module("hashlib")
    json = module("json")

__all__ = ["Hearing", "digest", "explained", "turns_of"]

_DIGITS = 32


def turns_of(
    messages: Iterable[object],
    *,
    session: str | None = None,
    tools: bool = False,
    speakers: Mapping[str, str] | None = None,
    source: str | None = None,
) -> Turns:
    """Return the turns that a list of messages comes to.

    What users and assistants said is remembered; instructions, thinking, images and the like are
    left out. Each turn has a key: of the session, the message's id or, where it has none, how
    often the same was said before, and what it says. So a list that has grown, or whose beginning
    was cut off, comes to the same turns and new ones.

    Args:
        messages: as OpenAI (of chat completions, or the items of responses), Anthropic or LangChain
            have them, also mixed; mappings or objects.
        session: which conversation it is; lists without one count as one conversation.
        tools: whether calls of tools and their results are remembered, as turns of the speaker
            "tool NAME".
        speakers: who a role or a name in the messages is, such as ``{"user": "Ana"}``; the name in
            a message, or else its role, where this says nothing.
        source: of every turn.

    Raises:
        InvalidInput: naming the message and its field, such as ``messages[3].content[1].type``.

    Examples:
        >>> heard = turns_of([{"role": "user", "content": "Hello."}], speakers={"user": "Ana"})
        >>> [(turn.speaker, turn.text) for turn in heard.turns]
        [('Ana', 'Hello.')]
    """
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Iterable):
        raise InvalidInput("messages", messages, "a list of messages")
    hearing = Hearing(session, tools=tools, speakers=speakers, source=source)
    turns: list[Turn] = []
    for n, message in enumerate(messages):
        turns += hearing.turns(message, f"messages[{n}]")
    return Turns(tuple(turns), tuple(hearing.left_out))


class Hearing:
    """Takes in the messages of one conversation, one after the other.

    Attributes:
        left_out: what of them is not remembered, so far.
    """

    def __init__(
        self,
        session: str | None,
        *,
        tools: bool = False,
        speakers: Mapping[str, str] | None = None,
        source: str | None = None,
        origin: str = "messages",
    ) -> None:
        if session is not None:
            text_field("session", session)
        if not isinstance(tools, bool):
            raise InvalidInput("tools", tools, "True or False")
        self._session = session
        self._tools = tools
        self._speakers = _checked(speakers)
        self._source = source
        self._origin = origin
        self._said: Counter[tuple[str, str]] = Counter()
        self._tool_of: dict[str, str] = {}
        self.left_out: list[Omitted] = []

    def turns(self, given: object, where: str) -> list[Turn]:
        """Return the turns of one message.

        Raises:
            InvalidInput: naming the message and its field.
        """
        return self.heard(message_of(given, where))

    def heard(self, message: Message) -> list[Turn]:
        """Return the turns of one message that is in one shape already."""
        before = len(self.left_out)
        turns: list[Turn] = []
        nth = 0  # of what may be remembered, whether it is or not: another setting moves no id
        for piece in _joined(message.pieces):
            if piece.kind == "other":
                self.leave_out(piece.where, piece.text)
                continue
            if piece.kind == "text":
                turns += self._spoken(message, piece, nth)
            else:
                turns += self._used(message, piece, nth)
            nth += 1
        if not turns and len(self.left_out) == before:
            self.leave_out(message.where, "empty")
        return turns

    def leave_out(self, where: str, why: str) -> None:
        """Note what is not remembered."""
        self.left_out.append(Omitted(where, why))

    def _spoken(self, message: Message, piece: Piece, nth: int) -> Iterator[Turn]:
        """Yield what was said as a turn; what a model thinks within its text is left out."""
        text = without_thinking(piece.text) if message.role == "assistant" else piece.text
        if not text:
            self.leave_out(piece.where, "thinking")
            return
        yield self._turn(message, self._speaker(message), message.role, text, nth)

    def _used(self, message: Message, piece: Piece, nth: int) -> Iterator[Turn]:
        """Yield the call of a tool or its result as a turn, if they are wanted."""
        name = piece.tool or self._tool_of.get(piece.call or "", "")
        if piece.kind == "call" and piece.call is not None:
            self._tool_of[piece.call] = name
        if not self._tools:
            self.leave_out(piece.where, f"tool {piece.kind}")
            return
        text = f"called with {piece.text}" if piece.kind == "call" else piece.text
        if text.strip():
            speaker = f"tool {name}".strip()
            yield self._turn(message, speaker, f"{speaker} {piece.call}", text, nth)

    def _turn(self, message: Message, speaker: str, role: str, text: str, nth: int) -> Turn:
        return Turn(
            text,
            speaker=speaker,
            at=message.at,
            session=self._session,
            source=self._source,
            source_id=_nth_id(message.id, nth),
            key=self._key(message, role, text, nth),
        )

    def _key(self, message: Message, role: str, text: str, nth: int) -> str:
        about = [role, text, message.at and message.at.isoformat()]
        if message.id is not None:
            return f"{self._origin}:{digest(self._session, message.id, nth, *about)}"
        self._said[role, text] += 1
        return f"{self._origin}:{digest(self._session, self._said[role, text], *about)}"

    def _speaker(self, message: Message) -> str:
        if message.name is not None:
            return self._speakers.get(message.name, message.name)
        return self._speakers.get(message.role, message.role)


@contextmanager
def explained() -> Generator[None]:
    """Say of a message that was remembered otherwise what may be other about it."""
    try:
        yield
    except IdempotencyConflict as conflict:
        conflict.add_note(
            "a message of this session was remembered with another speaker or source; "
            "give the same ones, or another session"
        )
        raise


def digest(*parts: object) -> str:
    """Return 32 hexadecimal digits, the same for the same parts."""
    text = json.dumps(parts, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def _nth_id(id: str | None, nth: int) -> str | None:
    """Return the caller's id of a turn; a message may come to several."""
    return f"{id}#{nth + 1}" if id is not None and nth else id


def _joined(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Yield pieces, texts that follow each other as one; blank ones drop out."""
    texts: list[Piece] = []
    for piece in pieces:
        if piece.kind == "text":
            texts.append(piece)
            continue
        if piece.kind != "other":
            yield from _whole(texts)
            texts = []
        yield piece
    yield from _whole(texts)


def _whole(texts: list[Piece]) -> Iterator[Piece]:
    text = ""
    for n, piece in enumerate(texts):
        goes_on = n == 0 or piece.cited or texts[n - 1].cited or text[-1:].isspace()
        text += piece.text if goes_on or piece.text[:1].isspace() else f"\n{piece.text}"
    if text.strip():
        yield Piece(texts[0].where, "text", text)


def _checked(speakers: object) -> Mapping[str, str]:
    if speakers is None:
        return {}
    expected = "names by role or by name, such as {'user': 'Ana'}"
    if not isinstance(speakers, Mapping):
        raise InvalidInput("speakers", speakers, expected)
    for name in speakers.values():
        text_field("speakers", name)
    return speakers
