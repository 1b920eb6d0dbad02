"""Who said what in a memory: which item answers which question, and which tells of another."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import takewhile
from typing import NamedTuple, Self

from demem_adapters.common.asking import ASSISTANT, as_asked, is_person
from demem_adapters.common.choices import HINT
from demem_adapters.common.injecting import DECLARED
from demem_adapters.common.links import after_of, answered_by
from demem_agent import Evidence, SlotMemory
from demem_agent.reading import strip_rendered
from demem_agent.text import content_terms
from demem_agent.types import Context

__all__ = [
    "answer_of_call",
    "answers",
    "answers_to",
    "echoes",
    "holding",
    "kept_as",
    "left_behind",
]

#: What stands before a block, with the end of its line, which may be escaped as the block is.
_DECLARED = re.compile(rf"(?:{re.escape(DECLARED)}|{re.escape(HINT)})(?:\n|(?:\\+r)?\\+n)")
#: What a query has been given of the turns before it; the user has not said that.
_CARRIED = re.compile(r" \[about: [^\[\]]*\]$")


def kept_as(text: str) -> str:
    """Return a text as it is kept: without what was recalled, if somebody has pasted it back, as in
    the JSON of a call or of a tool's result.
    """
    return strip_rendered(_DECLARED.sub("", text))


def holding(memory: SlotMemory) -> list[Evidence]:
    """Return what is remembered, oldest first, without answers that were made anew since.

    Nothing that was said is erased for that: an answer that stands in the place of another is told
    to, so that readings say until when the first one held, and it can be told how that did.
    """
    items = {item.id: item for item in memory.evidence()}
    gone: set[str] = set()
    for one in memory.successions():
        old, new = items.get(one.old[0]), items.get(one.new[0])
        told = one.how != "found" and not one.undone
        if told and old and new and old.speaker == new.speaker == ASSISTANT:
            gone.add(old.id)
    return [item for id, item in items.items() if id not in gone]


def answers_to(
    memory: SlotMemory, items: Sequence[Evidence], evidence_id: str, asked: str
) -> list[Evidence]:
    """Return the answers to one message of a user's, oldest first.

    Args:
        items: among which they are, oldest first; :func:`holding` gives those that hold.
        evidence_id: of the message.
    """
    linked = [item for item in items if answered_by(item) == evidence_id]
    if linked:
        return linked
    words = kept_as(asked)
    behind: list[Evidence] = []
    for item in reversed(items):
        if item.id == evidence_id:
            break
        if answered_by(item) is not None:
            continue
        if is_person(item.speaker) and item.text == words:
            behind.clear()  # what was said once more has answers of its own
        else:
            behind.append(item)
    behind.reverse()
    next_to_it = {item.id for item in takewhile(lambda item: item.speaker == ASSISTANT, behind)}
    told = [item for item in behind if item.speaker == ASSISTANT]
    if not told:
        return []
    given = {_said_in(context) for context in memory.contexts()}
    answered = {answer for _, answer in given}
    found: list[Evidence] = []
    for item in told:
        unrecorded = item.id in next_to_it and item.text not in answered
        if unrecorded or (as_asked(words), item.text) in given:
            found.append(item)
    return found


def left_behind(items: Sequence[Evidence], asked: str) -> list[Evidence]:
    """Return the answers to this message, said last today, that the user did not go on from.

    Args:
        items: of the memory, oldest first.
        asked: the message, as it is kept.
    """
    users = [item for item in items if is_person(item.speaker)]
    question = next((item for item in reversed(users) if item.text == asked), None)
    if question is None or not _is_of_today(question):
        return []
    # Where nothing is shown before it, what was said next went on from it.
    of_session = [item.id for item in users if item.session == question.session]
    if not after_of(question) and of_session[-1] != question.id:
        return []
    gone_on_from = {after_of(item) for item in users}
    given = [item for item in items if answered_by(item) == question.id]
    return [item for item in given if item.id not in gone_on_from]


def _is_of_today(item: Evidence) -> bool:
    return item.at is not None and item.at.date() == datetime.now(item.at.tzinfo).date()


def answers(items: Iterable[Evidence]) -> Iterator[tuple[Evidence, str]]:
    """Yield what the assistant said, each with what a user had said last in the same session."""
    asked: dict[str | None, str] = {}
    for item in items:
        if item.speaker == ASSISTANT:
            yield item, asked.get(item.session, "")
        elif is_person(item.speaker):
            asked[item.session] = as_asked(item.text)


def answer_of_call(memory: SlotMemory, call: str) -> str | None:
    """Return the id of the answer that a call gave, None if there is none.

    The assistant's item that has the id of the call says which answer it is.
    """
    said: tuple[str, str] | None = None
    for item, asked in answers(memory.evidence()):
        if item.source_id == call:
            said = asked, item.text
    if said is None:
        return None
    contexts = reversed(memory.contexts())
    return next((context.id for context in contexts if _said_in(context) == said), None)


def echoes(memory: SlotMemory, items: Iterable[Evidence]) -> list[str]:
    """Return the ids of the assistant's items that tell of one of these items.

    One does that was given to it, or from a reading of it or of another that does, and that holds
    words of the item which its question does not.
    """
    said = [*answers(memory.evidence())]
    given = [one for context in memory.contexts() for one in _Given.all_of(context, said)]
    found: dict[str, None] = {}
    for item in items:
        found |= dict.fromkeys(_echoes_of(item, given, said))
    return [*found]


class _Given(NamedTuple):
    """An answer that was given.

    Attributes:
        said: question and answer, as they are kept.
        read: ids of what it was given from.
        words, asked: the words of the answer, and of its question.
    """

    said: tuple[str, str]
    read: frozenset[str]
    words: frozenset[str]
    asked: frozenset[str]

    @classmethod
    def all_of(cls, context: Context, said: Iterable[tuple[Evidence, str]]) -> Iterator[Self]:
        """Yield what a context tells of items.

        The answer of one from which something was forgotten is blank. What the assistant said to
        its question stands for it: that tells of what else was read as it did before.
        """
        asked, answer = _said_in(context)
        texts = [answer]
        if context.redacted and not answer and asked:
            texts = [item.text for item, question in said if question == asked]
        for text in texts:
            yield cls(
                (asked, text),
                frozenset(id for id, *_ in context.read),
                frozenset(content_terms(text)),
                frozenset(content_terms(context.query)),
            )

    def tells_of(self, item: Evidence, words: Collection[str], known: Collection[str]) -> bool:
        """Whether it tells of an item with these words, of which the known ones tell as well."""
        told = self.words.intersection(words)
        if self.said[0] == as_asked(item.text):
            return bool(told)
        return not self.read.isdisjoint(known) and not told <= self.asked


def _echoes_of(
    item: Evidence, given: Iterable[_Given], said: Iterable[tuple[Evidence, str]]
) -> list[str]:
    words = frozenset(content_terms(item.text))
    found: list[str] = []
    while True:
        known = {item.id, *found}
        telling = {one.said for one in given if one.tells_of(item, words, known)}
        more: list[str] = []
        for held, asked in said:
            if held.id not in known and (asked, held.text) in telling:
                more.append(held.id)
        if not more:
            return found
        found += more


def _said_in(context: Context) -> tuple[str, str]:
    asked = _CARRIED.sub("", as_asked(kept_as(context.query)))
    return asked, kept_as(context.answer)
