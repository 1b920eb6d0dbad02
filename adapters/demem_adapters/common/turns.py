"""What a user says in a call, and how far it is remembered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import takewhile
from typing import NamedTuple, Self, TypedDict

from demem_adapters.common.asking import USER
from demem_adapters.common.digests import digest
from demem_adapters.common.places import Words
from demem_adapters.common.said import kept_as
from demem_adapters.common.texts import Spoken
from demem_agent import Evidence

__all__ = ["Call", "Heard", "LastHeard", "Saying", "Telling", "sayings"]


class Telling(TypedDict, total=False):
    """What is known of a call in which a user says something; all may be left out.

    before: the conversation before, as far as the framework shows it. asker: under which name it is
    remembered, "user" unless given. names: of those who say the messages, where they are known; the
    asker's else. ids: of the messages, where the framework has such: the same id and text in a
    session is the same message. about: what else tells a call from others. under: what else the
    model is told, such as instructions; it tells no message from others, but where no conversation
    is shown an answer that was made anew from one to another call with the same words. kept: by
    which the provider knows what it keeps of the conversation before, if it does: what is said
    after the same again is the same. grows: whether that grows with each answer, so that it is not.
    goes_on: the turn has begun before, and is shown with what came of it since: results of tools,
    or answers of other agents. one_answer: another answer to the same message was made anew, and
    takes the place of the first (True unless given); not where several agents answer one; where no
    conversation is shown, only of the same call at once. anew: remember again what was forgotten
    since, as ``Memories.remember`` does.
    """

    before: Iterable[Spoken]
    session: str | None
    asker: str | None
    names: Sequence[str | None]
    ids: Sequence[str | None]
    about: object
    under: object
    kept: str
    grows: bool
    goes_on: bool
    one_answer: bool
    anew: bool


class Saying(NamedTuple):
    """A message of a user's.

    Attributes:
        words: as it is kept, with who says it.
        id: that the framework has for it.
        mark: what tells it from others in all sessions, "" where it has no id.
        is_last: whether the user says it last.
    """

    words: Words
    id: str | None
    mark: str
    is_last: bool


def sayings(said: Iterable[str], known: Telling) -> list[Saying]:
    """Return the messages of a user's that have words, oldest first."""
    texts = [kept_as(text) for text in said]
    found: list[Saying] = []
    for n, text in enumerate(texts):
        speaker = _at(known.get("names", ()), n) or known.get("asker") or USER
        id = _at(known.get("ids", ()), n)
        mark = digest(known.get("session"), id, text) if id else ""
        if text.strip():
            found.append(Saying((speaker, text), id, mark, n == len(texts) - 1))
    return found


@dataclass(frozen=True, slots=True)
class Call:
    """What a user says in a call, and what tells it from others.

    Attributes:
        words: each message as it is kept, with who says it.
        before: the conversation before, as far as it is shown.
        ids: of the messages, where the framework has such.
        marks: of each message, what tells it from others: all that was said up to it and the day,
            or its own id.
        under: a digest of what the model is told beside the conversation.
        kept: by which the provider knows what it keeps of the conversation before.
        grows: whether that grows with each answer.
        again: the number of the message that is said again if it was forgotten since.
    """

    words: Sequence[Words]
    before: Sequence[Spoken]
    session: str | None
    ids: Sequence[str | None]
    marks: Sequence[str]
    under: str
    kept: str
    grows: bool
    again: int | None

    @classmethod
    def of(cls, said: Sequence[Saying], known: Telling) -> Self:
        """Make one of messages, and of what is known of the call."""
        words = [one.words for one in said]
        ids = [one.id for one in said]
        before = tuple(known.get("before", ()))
        kept = known.get("kept", "")
        # What the user says last, and is not the same message by its id, is told again.
        is_told_again = not (known.get("goes_on") or any(ids))
        return cls(
            words=words,
            before=before,
            session=known.get("session"),
            ids=ids,
            marks=_marks(before, words, ids, (known.get("about", ""), kept)),
            under=digest(known.get("under", "")),
            kept=kept,
            grows=known.get("grows", False),
            again=len(words) - 1 if is_told_again else None,
        )

    @property
    def speaker(self) -> str:
        """Who says the last of it."""
        return self.words[-1][0]

    @property
    def shows_what_was_before(self) -> bool:
        """Whether it tells what was said before it, or by which id, so that it is told from others
        with the same words.
        """
        return bool(self.before or self.ids[-1] or self.kept) and not self.grows


@dataclass(slots=True)
class Heard:
    """What the user has said in a turn, and how far it is remembered.

    Attributes:
        said: as it is kept, oldest first.
        key: of the turn, the same when it is carried out again; "" until it is remembered.
        ids: by which each of it is remembered, as far as it is.
        known: which of it was remembered before.
        after: the id of what was said before it.
        goes_on: whether the turn has begun before, and is shown with what came of it since.
        one_answer: whether another answer to the same message takes the place of the first.
        anew: whether what was forgotten since is remembered again.
        erased: what the model was shown before and has been forgotten since.
    """

    said: tuple[str, ...] = ()
    key: str = ""
    ids: list[str] = field(default_factory=list)
    known: list[str | None] | None = None
    keys: list[str] = field(default_factory=list)
    after: str | None = None
    goes_on: bool = False
    one_answer: bool = False
    anew: bool = False
    erased: list[Evidence] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class LastHeard:
    """What was heard last of somebody.

    Attributes:
        ids: of the messages, by their marks.
        under: as in :class:`Call`.
    """

    ids: Mapping[str, str] = field(default_factory=dict)
    under: str = ""

    def among(self, items: Iterable[Evidence], call: Call) -> list[str | None]:
        """Return by which id each message of a call was heard in the one before, if it is one of
        these items.
        """
        held = {item.id for item in items}
        ids = {mark: id for mark, id in self.ids.items() if id in held}
        again = len(_common(call.marks, [*ids]))
        if again < min(len(ids), 1 if len(call.marks) > 1 else len(ids)):
            ids = {}  # neither made again, nor gone on with or said otherwise
        return [ids.get(mark) for mark in call.marks]

    def is_again(self, heard: Sequence[str | None], call: Call) -> bool:
        """Whether a call is the one before made again; ``heard`` as :meth:`among` gives it."""
        return None not in heard and len(self.ids) == len(heard) and self.under == call.under


def _marks(
    before: Sequence[Spoken],
    said: Sequence[Words],
    named: Sequence[str | None],
    about: object,
) -> list[str]:
    """Return for each message what tells it from others: all that was said up to it and the day,
    or its own id.
    """
    mark = digest(before, about, date.today().isoformat())
    found: list[str] = []
    for (speaker, text), id in zip(said, named, strict=True):
        mark = digest(mark, speaker, text)
        found.append(digest(id, text) if id else mark)
    return found


def _at(values: Sequence[str | None], n: int) -> str | None:
    return values[n] if n < len(values) else None


def _common(one: Sequence[str], other: Sequence[str]) -> list[str]:
    """Return what both begin with."""
    pairs = zip(one, other, strict=False)
    return [mark for mark, _ in takewhile(lambda pair: pair[0] == pair[1], pairs)]
