"""Which word of a memory one stands for that no passage holds: "alergic" for "allergic".

Either side may have misspelled it. A word that English has is taken for right: it stands at most
for one of the memory's that English does not have. To that rule all words of another language are
unknown, so near ones stand for each other there. The numbers are set by hand.
"""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cache, partial
from itertools import islice, product, starmap

from demem_agent.encoders.static import is_word, whole_words
from demem_agent.later import dataclass
from demem_agent.scoring.focus import FRAME
from demem_agent.scoring.letters import marked, plain
from demem_agent.scoring.lexical import LexicalIndex
from demem_agent.scoring.names import Names
from demem_agent.scoring.related import RelatedWords
from demem_agent.text.language.compounds import as_held
from demem_agent.text.language.languages import ENGLISH
from demem_agent.text.language.same_words import in_held_words
from demem_agent.text.language.spelling import NearWords, is_spelled, without_accents
from demem_agent.text.language.words import STOPWORDS, stems, worded, words

__all__ = ["Heard", "Spelling", "put_right"]

#: Shorter words are too near to each other.
SHORTEST = 4
#: The shortest right word that may stand for a misspelled one of the memory's.
SHORTEST_RIGHT = 5
#: From this length on two letters may be wrong.
LONG = 9
#: Unknown words of a query that are looked up, and how much of it is looked at: it may be a whole
#: document.
MOST_WORDS = 24
MOST_CHARACTERS = 8192
#: How much likelier a misspelling is that keeps the first letter, or only doubles, drops a double
#: or swaps letters that are there, in log-odds.
SAME_START = 2.0
SAME_LETTERS = 1.0
#: Words of asking are taken to be in so many passages, as few others are.
COMMON = 100

_CALENDAR = frozenset(
    """january february march april june july august september october november december monday
    tuesday wednesday thursday friday saturday sunday yesterday today tomorrow week weekend month
    year""".split()
)


@dataclass(frozen=True, slots=True)
class Heard:
    """A query as it is understood.

    Attributes:
        text: with the words put right that it misspells, and with the memory's own words for what
            it calls otherwise.
        meant: those of its words that are not sure, each with the word of the memory that it stands
            for: itself where the text was put right.
    """

    text: str
    meant: Mapping[str, str] = field(default_factory=dict)


class Spelling:
    """The words of a memory, to be found by one that is spelled nearly the same.

    They are entered when one is first looked for.
    """

    def __init__(
        self, lexical: LexicalIndex, related: RelatedWords, speakers: Names, languages: Names
    ) -> None:
        self._lexical = lexical
        self._related = related
        self._speakers = speakers
        self._languages = languages
        self._near = NearWords()

    def forget(self) -> None:
        """Enter all words anew, since some are no longer in the memory."""
        self._near = NearWords()

    def heard(self, text: str, known: Container[str] = ()) -> Heard:
        """Return a query as it is understood; as it stands where the memory knows its words.

        Args:
            known: stems that are known though no passage holds them.
        """
        if len(text) <= MOST_CHARACTERS:
            text = in_held_words(text, lambda stem: self._lexical.holds(stem) or stem in known)
            text = as_held(text, partial(self._is_held, known), self._stand_beside)
        unknown = list(islice(self._unknown(text[:MOST_CHARACTERS], known), MOST_WORDS))
        if not unknown:  # as for most; much faster
            return Heard(text)
        meant: dict[str, str] = {}
        names = self._names()
        for form in unknown:
            if form in names:
                continue
            is_right = _is_right(form)
            word = self._instead(form) if is_right else self._put_right(form, text, names)
            if word is None:
                continue
            if is_right:
                meant[form] = word
            else:
                meant[word] = word
                text = _replaced(text, form, word)
        return Heard(text, meant)

    def _is_held(self, known: Container[str], form: str) -> bool:
        """Whether a passage holds a word, in any language of the memory, or it is known."""
        (stem,) = stems([form])
        return self._lexical.holds(stem) or stem in known or self._is_foreign(form)

    def _stand_beside(self, first: str, second: str) -> bool:
        """Whether some passage has two words side by side."""
        return any(
            starmap(self._related.has_pair, product(self._stems(first), self._stems(second)))
        )

    def _stems(self, form: str) -> list[str]:
        """Return the stems of a word in English and in each language of the memory's."""
        return [*stems([form]), *self._foreign_stems(form)]

    def _names(self) -> frozenset[str]:
        """Return the words of the names of those who speak."""
        found: set[str] = set()
        for name in self._speakers.codes:
            found.update(words(name or ""))
        return frozenset(found)

    def _unknown(self, text: str, known: Container[str]) -> Iterator[str]:
        """Yield the words of a query that no passage holds, each once."""
        told = worded(text)
        forms = [form for form in dict.fromkeys(told.words) if len(form) >= SHORTEST]
        for form, stem in zip(forms, stems(forms, told.language), strict=True):
            is_held = self._lexical.holds(stem) or self._is_foreign(form)
            is_known = is_held or stem in known or form in _common()
            if not is_known and is_spelled(form):
                yield form

    def _instead(self, form: str) -> str | None:
        """Return the misspelled word of the memory that a right one stands for."""
        if len(form) < SHORTEST_RIGHT:
            return None
        near = _with_letter(form[0], self._near_words(form, 1))
        wrong = {word: far for word, far in near.items() if not far or not _is_right(word)}
        return _likeliest(form, wrong, self._held(wrong))

    def _put_right(self, form: str, text: str, names: frozenset[str]) -> str | None:
        """Return the word that a misspelled one stands for, of the memory or of asking."""
        asking = _common_words()
        is_name = _is_like_a_name(form, text)
        if is_name:
            asking = _calendar_words()
        most = 2 if len(form) >= LONG and not is_name else 1
        near = self._near_words(form, most) | self._near_forms(form)
        held = self._held(near)
        for word, far in (asking.to(form, 1) | NearWords(names).to(form, 1)).items():
            near[word] = far
            held[word] = COMMON
        if is_name:
            near = _with_letter(form[0], near)
        return _likeliest(form, near, held)

    def _near_words(self, form: str, most: int) -> dict[str, int]:
        """Return the words of the memory within a distance, and how far each is."""
        self._near.extend(map(plain, self._related.forms(len(self._near))))
        near = self._near.to(form, most)
        return {word: far for word, far in near.items() if _may_be_meant(word)}

    def _is_foreign(self, form: str) -> bool:
        """Whether a passage holds a word in a language of the memory's other than English."""
        return any(map(self._lexical.holds, self._foreign_stems(form)))

    def _foreign_stems(self, form: str) -> Iterator[str]:
        for language in self._languages.codes:
            if language and language != ENGLISH:
                yield from stems([form], language)

    def _near_forms(self, form: str) -> dict[str, int]:
        """Return the English words next to one that the memory holds in another form: "cooked"."""
        near = _english_words().to(form, 1)
        held = self._held(near)
        return {word: far for word, far in near.items() if held[word] and len(word) >= SHORTEST}

    def _held(self, forms: Iterable[str]) -> dict[str, int]:
        """Return how many passages hold each word, in the language in which the most do."""
        held = {}
        for form in forms:
            held[form] = max(map(self._lexical.held, self._stems(form)))
        return held


def put_right(query: str, texts: Sequence[str], speakers: Iterable[str | None]) -> str:
    """Return a query with the words put right that it misspells, as some texts have them.

    Only words that English does not have; where there are none the texts are not looked at.
    """
    forms = [form for form in dict.fromkeys(words(query[:MOST_CHARACTERS])) if _is_suspect(form)]
    if not forms:
        return query
    lexical, related, names, languages = LexicalIndex(), RelatedWords(), Names(), Names()
    for text in texts:
        told = worded(text)
        languages.code(told.language)
        lexical.add(told.stems)
        related.add(told.stems, marked(told))
    for speaker in speakers:
        names.code(speaker)
    return Spelling(lexical, related, names, languages).heard(query).text


def _is_suspect(form: str) -> bool:
    """Whether a word may be misspelled, as far as can be told from it alone."""
    may_be = len(form) >= SHORTEST and is_spelled(form) and form not in _common()
    return may_be and not _is_right(form)


def _may_be_meant(word: str) -> bool:
    return len(word) >= SHORTEST and is_spelled(word)


def _with_letter(first: str, near: Mapping[str, int]) -> dict[str, int]:
    """Leave out the words that begin with another letter."""
    return {word: far for word, far in near.items() if word[0] == first}


def _likeliest(form: str, near: Mapping[str, int], held: Mapping[str, int]) -> str | None:
    """Return the word that another most probably stands for; None where there is none."""

    def unlikeliness(word: str) -> tuple[int, float, str]:
        odds = math.log1p(held[word])
        odds += SAME_START * (word[0] == form[0])
        odds += SAME_LETTERS * (set(word) == set(form))
        return near[word], -odds, word

    return min(near, key=unlikeliness, default=None)


def _is_like_a_name(form: str, text: str) -> bool:
    """Whether a word is written with a capital wherever it stands, and not first of all."""
    places = list(_places(form, text))
    return bool(places) and all(place.start() and place[0][0].isupper() for place in places)


def _replaced(text: str, form: str, known: str) -> str:
    """Put a word in the place of another, with a capital where that had one."""
    for place in reversed(list(_places(form, text))):
        word = known.capitalize() if place[0][0].isupper() else known
        text = f"{text[: place.start()]}{word}{text[place.end() :]}"
    return text


def _places(form: str, text: str) -> Iterator[re.Match[str]]:
    """Find where a word stands by itself."""
    return re.finditer(rf"(?<!\w){re.escape(form)}(?!\w)", text, re.IGNORECASE)


def _is_right(form: str) -> bool:
    """Whether English has a word."""
    plain = without_accents(form)
    is_known = plain.isalpha() and is_word(plain)  # as most are; the stems of all take long to make
    return is_known or stems([plain])[0] in _english()


@cache
def _english() -> frozenset[str]:
    """Return the stems of the words that the shipped encoder has a vector of its own for."""
    return frozenset(stems(whole_words()))


@cache
def _english_words() -> NearWords:
    return NearWords(whole_words())


@cache
def _common() -> frozenset[str]:
    """Return the words of asking and of the calendar."""
    return frozenset(word for word in STOPWORDS | FRAME | _CALENDAR if len(word) >= SHORTEST)


@cache
def _common_words() -> NearWords:
    return NearWords(sorted(_common()))


@cache
def _calendar_words() -> NearWords:
    return NearWords(sorted(_CALENDAR))
