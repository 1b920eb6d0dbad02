"""Who is meant in a sentence about people in a car, and what they say in it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

__all__ = ["People", "quotations", "unquoted"]

#: A quotation after a colon; an apostrophe within a word does not end it, a missing mark does.
_QUOTED = re.compile(r"(?<=[:,] )['‘\"](.+?)(?:['’\"](?=[\s.,;)]|$)|$)")
_PRONOUN = re.compile(r"(?:He|She|They)\b")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=\x00)\s+")
#: What comes first in a sentence, before its subject.
_OPENING = re.compile(r"(?:At \d+:\d\d [AP]M,?\s*)?")


class People:
    """The people of a file, by their full names.

    A text may call them by the first name or the last, where only one has it.
    """

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        parts: Counter[str] = Counter()
        for name in names:
            parts.update(name.split())
        self._called: dict[str, str] = {}
        for name in names:
            self._called[name] = name
            for part in name.split():
                if parts[part] == 1:
                    self._called[part] = name
        longest_first = sorted(self._called, key=len, reverse=True)
        self._name = re.compile(rf"\b(?:{'|'.join(map(re.escape, longest_first))})\b")

    def owner(self, text: str) -> str | None:
        """Return who speaks or acts last in a text, outside of what is quoted."""
        subject: str | None = None
        for sentence in _SENTENCE.split(_QUOTED.sub("\x00", text)):
            subject = self._subject(sentence) or subject
        return subject

    def swapped(self, text: str, one: str, other: str) -> str:
        """Put one for the other in a text, and the other for the one."""
        to = {one: other, other: one}

        def put(match: re.Match[str]) -> str:
            called = match[0]
            name = self._called[called]
            if name not in to:
                return called
            return self._short(to[name]) if called != name else to[name]

        return self._name.sub(put, text)

    def _subject(self, sentence: str) -> str | None:
        """Return the person that a sentence begins with; a pronoun is who came before."""
        opening = _OPENING.match(sentence)
        begin = opening.end() if opening else 0
        if _PRONOUN.match(sentence, begin):
            return None
        found = self._name.search(sentence, begin)
        return self._called[found[0]] if found else None

    def _short(self, name: str) -> str:
        """Return the first name, or the full one where two have it."""
        first, *_ = name.split()
        return first if first in self._called else name


def quotations(text: str) -> list[str]:
    """Return what is quoted in a text, in order."""
    return [match[1] for match in _QUOTED.finditer(text)]


def unquoted(text: str) -> str:
    """Return the sentences of a text before anything is quoted in it: the scene."""
    return " ".join(_scene(text))


def _scene(text: str) -> Iterator[str]:
    for sentence in _SENTENCE.split(_QUOTED.sub("\x00", text)):
        if "\x00" in sentence:
            return
        yield sentence
