"""How forgotten texts are known again in what a caller typed: whole, in part, or in other case."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Self

from demem_agent.later import dataclass, pattern
from demem_agent.text.sentences import sentences

__all__ = ["QUOTED_CHARS", "TELLING_WORDS", "Quotes"]

#: A shorter sentence is too common to count as somebody quoting the forgotten text.
QUOTED_CHARS = 20
#: As many words in a row tell who is quoted, however short they are.
TELLING_WORDS = 3

_WORD = pattern(r"\w+")
#: How the text of a slot opens: for whom, when and about what something was decided. Of a question
#: it gives the rarest words (:mod:`demem_agent.slots.openings`).
_OPENING = pattern(r"\bdecided ([^:\n]+):")
#: What a question got from the turns before it (:mod:`demem_agent.text.unsaid`): single words.
_CARRIED = pattern(r"\[about: ([^\[\]]*)\]")
#: As many of them in one text tell where they came from; so do all that there are, and a number.
CARRIED_WORDS = 2


@dataclass(frozen=True, slots=True)
class Quotes:
    """Texts, and their longer sentences, each reduced to its words.

    Attributes:
        words: of each of the texts.
        asked: the words of each question that is forgotten with them.
    """

    spoken: tuple[str, ...]
    words: tuple[frozenset[str], ...] = ()
    asked: tuple[frozenset[str], ...] = ()

    @classmethod
    def of(cls, texts: Iterable[str]) -> Self:
        """Collect what tells that one of these texts is quoted."""
        texts = list(texts)
        found: dict[str, None] = {}
        for text in texts:
            found[_spoken(text)] = None
            for start, end in sentences(text):
                if end - start >= QUOTED_CHARS:
                    found[_spoken(text[start:end])] = None
        return cls(tuple(found), tuple(map(_words, texts)))

    def with_questions(self, queries: Iterable[str]) -> Self:
        """Return the same with the questions that quote one of them: they are forgotten, too."""
        asked = [_words(query) for query in queries if self.held_by(query)]
        return replace(self, asked=tuple(asked))

    def held_by(self, text: str) -> bool:
        """Whether a text quotes one of them, or is itself a part of one.

        So does one that repeats how a slot opens, where that tells of a question that goes, and a
        question that was asked with words of one of them.
        """
        if not text.strip():
            return False
        spoken = _spoken(text)
        if any(quote in spoken or spoken in quote for quote in self.spoken):
            return True
        if any(map(self._gave, _CARRIED.findall(text))):
            return True
        return bool(self.asked) and any(map(self._opens, _OPENING.findall(text)))

    def _opens(self, told: str) -> bool:
        """Whether what opens the text of a slot tells of a question that goes."""
        about = _words(told.rpartition(", ")[-1])
        return bool(about) and any(about <= question for question in self.asked)

    def _gave(self, carried: str) -> bool:
        """Whether words that a question got from turns before it come from one of the texts."""
        words = _words(carried)
        return any(_tells(words & of_text, words, of_text) for of_text in self.words)

    def repeated_in(self, text: str) -> bool:
        """Whether a text is one of them, or shares with one what tells them apart.

        "Blue" is a part of many.
        """
        if not text.strip():
            return False
        spoken = _spoken(text)
        return any(_repeats(spoken, quote) for quote in self.spoken)


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))


def _repeats(spoken: str, quote: str) -> bool:
    if quote == spoken:
        return True
    if quote in spoken:
        return _is_telling(quote)
    return spoken in quote and _is_telling(spoken)


def _spoken(text: str) -> str:
    """Reduce a text to its words: a quotation is known whatever its case, spaces and signs."""
    words = _WORD.findall(text.casefold())
    return f" {' '.join(words)} " if words else text.strip()


def _is_telling(spoken: str) -> bool:
    """Whether a stretch is more than a word or two that anybody may use.

    It is longer, or has a number in it.
    """
    if len(spoken) >= QUOTED_CHARS or len(spoken.split()) >= TELLING_WORDS:
        return True
    return any(sign.isdigit() for sign in spoken)


def _tells(shared: frozenset[str], *of: frozenset[str]) -> bool:
    """Whether words that two texts share tell that one has them from the other."""
    if len(shared) >= CARRIED_WORDS or (shared and shared in of):
        return True
    return any(map(_is_telling, shared))
