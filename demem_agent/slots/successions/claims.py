"""Sentences as they are compared with each other: their words, numbers, names and signs of change.

Nothing here knows a memory.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from demem_agent.later import pattern
from demem_agent.slots.successions.amended import Amended, amended
from demem_agent.slots.successions.anew.parsing import may_tell_anew, values_told
from demem_agent.slots.successions.anew.told import Told
from demem_agent.slots.successions.attributes import Attribute, attribute
from demem_agent.slots.successions.endings import Ending, ended
from demem_agent.slots.successions.fewer import Fewer, fewer
from demem_agent.slots.successions.foreign_turns import ForeignEnding, ended_abroad
from demem_agent.slots.successions.retold import Retold, retold
from demem_agent.slots.successions.states import State, begun
from demem_agent.slots.successions.subjects import Subject, of_others, subject_of
from demem_agent.text.clauses import clauses, supposed
from demem_agent.text.language.changes import Sign, denied, signs, tells
from demem_agent.text.language.languages import language_of_words, stop_words
from demem_agent.text.language.numbers import digits, spelt
from demem_agent.text.language.scripts import may_be_other, words_of_any_script
from demem_agent.text.language.words import STOPWORDS, clean, stems
from demem_agent.text.remembered import kept_lately
from demem_agent.text.sentences import sentences

__all__ = ["Claim", "claim", "claims_in", "tokens"]

#: How a question begins that tells something first, and where it begins to ask.
_TELLS = pattern(
    r"\W*(?:(?:and|but|so|by the way|also|especially),? )?"
    r"(?:i|my|we|our|i['’]\w+|we['’]\w+|since|because|considering|given)\b",
    re.IGNORECASE,
)
_ASKS = pattern(
    r"[,;–-] (?:(?:so|and|but|or) )?(?:can|could|how|what|which|should|is|are|do|does|would|will"
    r"|any|where|when|who|why)\b",
    re.IGNORECASE,
)
#: What stands before a number that something is set to or amounts to, in some languages.
BEFORE_VALUES = frozenset(
    """to at is are be now about around level have has until by reached auf ist bei zu hat habe es
    son tiene tengo est sont ai à è sono ho é tem tenho op naar heb heeft""".split()
)
#: Characters of a sentence in which it is looked for what begins or is over.
LONGEST = 300
#: Characters before a sentence in which it may be named what it is of.
BEFORE = 60
#: Signs of a sentence that may go on from what was said before it: "I said yes".
_TELLS_CHANGE: frozenset[Sign] = frozenset({"turns", "anew"})
#: Characters of a sentence that tells one value, at most.
SET = 120
#: Characters of a sentence of which it is looked for the values that it tells, at most.
TOLD = 160
#: Passages of which the sentences are kept, whichever memory they are of.
KEPT = 128
#: Characters that a greeting has at most.
SHORT = 40
#: Words that a sentence has at least that says something.
FEWEST_WORDS = 3
#: What somebody shows or does rather than says, and lines of a program.
_NOT_SAID = pattern(r"^\W*\[|[{};]\s*$|^\s*(?:</?\w|//|#|```)|\w\(.*\)\s*:?$|\w = \S")
#: Somebody who is greeted, thanked or agreed with by name: whoever it is takes nobody's place.
_GREETS = pattern(
    r"^\W*(?:(?:hey|hi|hello|bye|thanks|thank you|cool|great|nice|wow|congrats|congratulations"
    r"|awesome|(?:i )?(?:totally |really |completely )?agree)\b[, ]*){1,3}(?!\w+day\b)[^\W\d]+\W*$",
    re.IGNORECASE,
)
#: What each of these has in it.
_MARKS = pattern(r"[\[{};</#`(=]")
#: A word that stands in one sentence and not in the other, capitalised and inside it, is a name.
_NAME = pattern(r"(?<=[\w,;:)] )[^\W\d_a-zß-öø-ÿ][\w'-]*")
_TOKEN = pattern(r"\d+(?:[.,:/]\d+)*|[^\W\d_]+")
_NUMBER = pattern(r"(\d+(?:[.,:/]\d+)*)")
_ASCII_TOKEN = pattern(r"[a-z]+|\d+(?:[.,:/]\d+)*")
_TURNED_ON = pattern(
    r"\b(?:turn\w*|keep|switch\w*|is|are|want)\b(?: [\w']+){0,3} on\b"
    r"|\b(?:enabl|activat|encend|allum)\w+",
    re.IGNORECASE,
)


@dataclass(frozen=True)  # without slots, since what few pairs need is worked out when it is
class Claim:
    """One sentence ``text[start:end]`` of an item, as it is compared.

    Attributes:
        said: its text; of a question what stands before it asks. plain: with numbers in digits.
        words: its stems in order, without stop words, numbers in digits; ``held``: each once.
        signs: of change, that it may have.
        before: the end of what was said right before it in the item, where something may be over.
    """

    start: int
    end: int
    said: str
    plain: str
    words: tuple[str, ...]
    held: frozenset[str]
    signs: frozenset[Sign]
    before: str = ""

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Those of its words that are numbers."""
        return frozenset(word for word in self.held if word[0].isdigit())

    @cached_property
    def valued(self) -> frozenset[str]:
        """Those of its numbers that something is set to or amounts to, as in "at 60"."""
        pairs = pairwise(tokens(self.plain))
        return frozenset(
            word for near, word in pairs if near in BEFORE_VALUES and word[0].isdigit()
        )

    @cached_property
    def names(self) -> frozenset[str]:
        """Those of its words that are names."""
        names = [word.lower() for word in _NAME.findall(self.plain)]
        return frozenset(stems(names)) - STOPWORDS if names else frozenset()

    @cached_property
    def denied(self) -> frozenset[str]:
        """Stems after a word that denies, as in "not Porto"."""
        if "denies" not in self.signs:
            return frozenset()
        gone = [word for word in denied(self.plain) if word not in STOPWORDS]
        return frozenset(stems(gone))

    @cached_property
    def negated(self) -> bool:
        """Whether it says off, or no longer."""
        return self._tells("negates")

    @cached_property
    def on(self) -> bool:
        """Whether it says on."""
        return _TURNED_ON.search(self.said) is not None

    @cached_property
    def changed(self) -> bool:
        """Whether it says that something has changed."""
        return self._tells("changed")

    @cached_property
    def renews(self) -> bool:
        """Whether it says of a number or a time that it is a new one."""
        return self._tells("renews")

    @cached_property
    def refuses(self) -> bool:
        """Whether it says that something is not so."""
        return self._tells("refuses")

    @cached_property
    def closes(self) -> bool:
        """Whether it says that nothing else is so."""
        return self._tells("closes")

    @cached_property
    def adds(self) -> bool:
        """Whether it says that it comes to something else."""
        return self._tells("adds")

    @cached_property
    def depends(self) -> bool:
        """Whether it holds under a condition."""
        return self._tells("depends")

    @cached_property
    def happened(self) -> bool:
        """Whether it is of something that happened once."""
        return self._tells("event")

    @cached_property
    def many(self) -> bool:
        """Whether it is of what is done or liked beside other things."""
        return self._tells("many")

    @cached_property
    def likes(self) -> bool:
        """Whether it says what somebody likes, or does not."""
        return self._tells("likes")

    @cached_property
    def turns(self) -> bool:
        """Whether something may begin or be over by it; not by a sentence that tells much else."""
        return len(self.said) <= LONGEST and self._tells("turns")

    @cached_property
    def begun(self) -> State | None:
        """What state of somebody it says to have begun."""
        return begun(self.said) if self.turns else None

    @cached_property
    def ended(self) -> Ending | Retold | ForeignEnding | Amended | Fewer | None:
        """What it says to be over."""
        if not self.turns:
            return None
        over = ended(self.said) or retold(self.said) or ended_abroad(self.said)
        return over or amended(self.said) or fewer(self.said, self.before)

    @cached_property
    def amended(self) -> Amended | None:
        """Which date or amount it says to be another one, if what was planned is over as well."""
        over = self.ended
        if isinstance(over, Ending) and over.kinds == ("plan",):
            return amended(self.said)
        return over if isinstance(over, Amended) else None

    @cached_property
    def attribute(self) -> Attribute | None:
        """The value of something that there is one of at a time, where it tells nothing else."""
        return attribute(self.said) if len(self.said) <= SET else None

    @cached_property
    def told(self) -> tuple[Told, ...]:
        """The values that it tells, of which a later sentence may tell others."""
        return values_told(self.said, self.before) if len(self.said) <= TOLD else ()

    @cached_property
    def anew(self) -> tuple[Told, ...]:
        """Those that it tells to hold from now on."""
        if not self.said or not may_tell_anew(self.signs, self.said):
            return ()
        return tuple(one for one in self.told if one.anew)

    @cached_property
    def subject(self) -> Subject | None:
        """Of what it says something, where that can be told."""
        return subject_of(self.said[:LONGEST])

    @cached_property
    def of_others(self) -> frozenset[str]:
        """What is told to be of somebody else, and whose."""
        return of_others(self.said[:LONGEST])

    @cached_property
    def exclaims(self) -> bool:
        """Whether it calls out, or has hardly any words."""
        return self.said.rstrip("\"'”’) ").endswith("!") or len(self.words) < FEWEST_WORDS

    def _tells(self, sign: Sign) -> bool:
        return sign in self.signs and tells(self.said, sign)


@kept_lately(KEPT)  # a new passage is soon an earlier one that the next are compared with
def claims_in(text: str, start: int, end: int) -> tuple[Claim, ...]:
    """Return the sentences of ``text[start:end]`` that claim something."""
    found = []
    for sentence in sentences(text, start, end):
        asks = _asks(text[slice(*sentence)])
        for first, last in clauses(text, *sentence):
            made = claim(text, first, last, asks=asks)
            if made is not None:
                found.append(made)
    return tuple(found)


def claim(text: str, start: int = 0, end: int | None = None, *, asks: bool = False) -> Claim | None:
    """Return a sentence as it is compared; None for a question and for one without words.

    Of a question that begins by telling something ("I have 8, is that enough?") that counts, and
    what it takes for granted after that.

    Args:
        asks: whether it is of a sentence that ends as a question.
    """
    end = len(text) if end is None else end
    said = clean(text[start:end])
    if _MARKS.search(said) and _NOT_SAID.search(said):  # few have a mark; much faster
        return None
    if len(said) <= SHORT and _GREETS.match(said):
        return None
    if asks or _asks(said):
        said = _told_in(said)
    found = tokens(said)
    heard = signs(said, found)
    plain = said
    if spelt(found):
        plain = digits(said)
        found = tokens(plain)
    language = language_of_words(found)
    left_out = stop_words(language)
    words = tuple(stems([word for word in found if word not in left_out], language))
    if not words:
        return None
    before = clean(text[max(start - BEFORE, 0) : start]) if _TELLS_CHANGE & heard else ""
    return Claim(start, end, said, plain, words, frozenset(words), heard, before)


def tokens(text: str) -> list[str]:
    """Return the words and numbers of a text in order, in lower case."""
    if text.isascii():
        return _ASCII_TOKEN.findall(text.lower())
    low = text.lower()
    return _tokens_of_any_script(low) if may_be_other(low) else _TOKEN.findall(low)


def _tokens_of_any_script(low: str) -> list[str]:
    """Return the words and numbers of a text in lower case that has letters beyond Latin."""
    found: list[str] = []
    for n, part in enumerate(_NUMBER.split(low)):
        if n % 2:
            found.append(part)
        else:
            found += words_of_any_script(part)
    return found


def _asks(said: str) -> bool:
    return said.rstrip("\"'”’) ").endswith("?")


def _told_in(said: str) -> str:
    """Return what a question tells: what stands before it asks, and what it takes for granted."""
    if not _TELLS.match(said):
        return ""
    asks = _ASKS.search(said)
    return f"{said[: asks.start()]}{supposed(said, asks.end())}" if asks else said
