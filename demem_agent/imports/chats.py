"""Chats in which a time stands before each message, as WhatsApp exports them, and notes like them.

What WhatsApp itself says in a chat is left out, by how it is written more than by its words, which
are in the language of the phone: it has no name before it, or a mark of the direction of writing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from demem_agent.imports.signed import is_name
from demem_agent.imports.sources import Source
from demem_agent.imports.stamps import dates_in, stamped
from demem_agent.imports.wanted import Wanted, words_of
from demem_agent.later import dataclass
from demem_agent.turns import Turn

__all__ = ["is_chat", "read_chat"]

#: Stands before what WhatsApp itself says where a user could, on iOS.
_NOTICE = "\u200e"
#: Marks that show nothing: of the direction of writing, and around a name that is mentioned.
_UNSEEN = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")
#: A name, which has no quotes as what WhatsApp tells of a group has, and what is said.
_SAID = re.compile(r"(?P<name>[^:\n\"“”„«»]{1,80}?)\s?:(?: (?P<said>.*)|\s*)", re.DOTALL)
#: What stands for a picture: "<Media omitted>", "<attached: 1.jpg>", "1.jpg (file attached)".
_MEDIA = re.compile(
    r"<(?=[^<>\n]*[^\x00-\x7f]|[^<>\n]* )[^<>\n]{3,80}>|[\w.+-]+\.\w{2,5} \([^()\n]{4,40}\)|null"
)
#: The same behind what is said of it, on iOS: "image omitted", in the language of the phone.
_OMITTED = re.compile(r"(?<=\S)\s*\u200e(?:<[^<>\n]{3,80}>|[^\W\d_]+(?: [^\W\d_]+){1,3})\s*$")
#: That a message was edited, or is no more, where nothing but the words tells.
_EDITED = re.compile(
    r"\u200e?<(?:This message was edited|Diese Nachricht wurde bearbeitet|Se editó este mensaje"
    r"|Ce message a été modifié|Questo messaggio è stato modificato|Mensagem editada"
    r"|Dit bericht is bewerkt)\.?>"
)
_DELETED = re.compile(
    r"(?:You deleted this message|This message was deleted|Du hast diese Nachricht gelöscht"
    r"|Diese Nachricht wurde gelöscht|Eliminaste este mensaje|Se eliminó este mensaje"
    r"|Vous avez supprimé ce message|Ce message a été supprimé|Hai eliminato questo messaggio"
    r"|Questo messaggio è stato eliminato|Você apagou esta mensagem|Mensagem apagada"
    r"|Je hebt dit bericht verwijderd|Dit bericht is verwijderd)\.?"
)
_DIGITS = 12


@dataclass(frozen=True, slots=True)
class _Message:
    """What stands behind a stamp, up to the next one.

    Attributes:
        where: the line of the stamp.
        said: what stands behind it, line by line.
    """

    where: str
    at: datetime
    said: list[str]

    def signed(self) -> tuple[str, str]:
        """Return the name that is before it, "" without one, and what is said."""
        text = "\n".join(self.said).rstrip()
        found = _SAID.fullmatch(text)
        if found is None:
            return "", text
        return _plain(found["name"]).lstrip("~ \u00a0\u202f").strip(), found["said"] or ""


def is_chat(lines: Iterable[str]) -> bool:
    """Whether the first line of a text that is not blank begins with a date and a time."""
    first = next((line for line in lines if line.strip()), "")
    return stamped(first.strip()) is not None


def read_chat(source: Source, wanted: Wanted) -> Iterator[Turn]:
    """Yield a turn a message, with its speaker and its time; each day of a chat is a session.

    A line without a stamp goes on from the one before it. Where no message has a name, each is a
    note of nobody. A message is known by its words, its speaker and its time, so that a later
    export of the chat adds what is new.

    Raises:
        InvalidInput: where nothing tells whether dates begin with the day or with the month.
    """
    messages = list(_messages(source, wanted))
    is_signed = _is_signed([one.signed()[0] for one in messages])
    seen: Counter[str] = Counter()
    for message in messages:
        speaker, text = message.signed() if is_signed else ("", "\n".join(message.said))
        if is_signed and not speaker:
            wanted.leave_out(message.where, "notice")
            continue
        said, why = _without_notices(text)
        if why:
            wanted.leave_out(message.where, why)
        if not said:
            continue
        turn = Turn(
            said,
            speaker=(wanted.speakers or {}).get(speaker, speaker) or None,
            at=message.at,
            session=f"{wanted.name} {message.at:%Y-%m-%d}",
        )
        about = words_of(turn)[:_DIGITS]
        seen[about] += 1
        own = f"{about}.{seen[about]}" if seen[about] > 1 else about
        turn = replace(turn, source_id=own, key=f"chat:{wanted.name}:{own}")
        yield replace(turn, source=source.name) if wanted.by_place else turn


def _messages(source: Source, wanted: Wanted) -> Iterator[_Message]:
    lines = [line.rstrip() for line in source.lines()]
    stamps = [stamped(line) for line in lines]
    dates = wanted.dates or dates_in([found[0] for found in stamps if found], source.name)
    message: _Message | None = None
    for number, (line, found) in enumerate(zip(lines, stamps, strict=True), 1):
        where = f"{source.name} line {number}"
        # A date that is none is one that somebody has pasted into what is said.
        at = found[0].moment(dates) if found else None
        if found and at:
            if message:
                yield message
            message = _Message(where, at, [found[1]])
        elif message:
            message.said.append(line)
        elif line.strip():
            wanted.leave_out(where, "no time")
    if message:
        yield message


def _is_signed(names: Sequence[str]) -> bool:
    """Whether what stands before the first colon of messages are names, "" where there is none."""
    given = [name for name in names if name]
    return len(set(given)) < len(given) or (bool(given) and all(map(is_name, given)))


def _without_notices(text: str) -> tuple[str, str]:
    """Return what somebody said, and why the rest is left out, "" where there is none."""
    lines = _EDITED.sub("", text).split("\n")
    if text.startswith(_NOTICE) and len(lines) == 1:
        return "", "media" if _MEDIA.fullmatch(_plain(text)) else "notice"
    kept = [_OMITTED.sub("", line) for line in lines]
    if _MEDIA.fullmatch(_plain(kept[0])):
        kept[0] = ""
    has_media = kept != lines
    plain = _plain("\n".join(kept))
    if _DELETED.fullmatch(plain):
        return "", "deleted"
    if has_media:
        return plain, "media"
    return plain, "" if plain else "empty"


def _plain(text: str) -> str:
    return _UNSEEN.sub("", text).strip()
