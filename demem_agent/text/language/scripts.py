"""Words of scripts other than Latin: where they begin and end, one spelling of each, their stems.

Han, kana, Hangul, Thai, Lao, Khmer and Burmese are cut into pairs of neighbouring signs, since no
space says where a word ends (in Korean, where its particles begin); pairs serve BM25 well. A word
of another script runs over its combining marks: vowel signs of Hindi do not cut it.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise

__all__ = [
    "SCRIPTS",
    "is_latin",
    "may_be_other",
    "script_of",
    "spelt",
    "stemmer_of",
    "words_of_any_script",
]

#: What a text may be written in, as Unicode names the letters; the first stands for none as well,
#: the last for all others.
SCRIPTS = ("LATIN", "CYRILLIC", "CJK", "KANA", "HANGUL", "ARABIC", "DEVANAGARI", "GREEK", "OTHER")

#: Where letters of other scripts begin; what is below is Latin, but for signs.
_BEYOND_LATIN = "\u0370"
#: Letters beyond Latin: not punctuation, signs and emoji, which English text has as well.
_OTHER = (
    "[\u0370-\u1dff\u1f00-\u1fff\u2e80-\u2fff\u3005-\ud7ff\uf900-\ufdff\ufe70-\uffdc"
    "\U00020000-\U0003ffff]"
)
_HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HIRAGANA = "\u3041-\u3096\u309d-\u309f"
_KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
_HANGUL = "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"
_SOUTH_EAST = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u109f\u1780-\u17d3"
_PAIRED = f"{_HAN}{_HIRAGANA}{_HANGUL}{_SOUTH_EAST}"
_PARTICLES = frozenset("はがをにでのともへや")
#: Signs of katakana from which on a word may be a compound, as "peanut allergy" is.
_COMPOUND = 4
_JOINERS = "\u200c\u200d"
#: Marks and letters that users leave out or write in two ways.
_SPELLINGS = str.maketrans(
    {
        "\u0640": None,  # the Arabic stroke that stretches a word
        **dict.fromkeys(map(chr, range(0x064B, 0x0653)), None),  # Arabic short vowels
        "\u0670": None,
        "أ": "ا",
        "إ": "ا",
        "آ": "ا",
        "ٱ": "ا",
        "ى": "ي",
        "ی": "ي",
        "ک": "ك",
        "ة": "ت",
        "\u093c": None,  # the dot below of Hindi
        "\u0901": "\u0902",  # its two signs of a nasal
        "ё": "е",
        "\u200c": None,
        "\u200d": None,
        **dict.fromkeys(map(chr, range(0x0591, 0x05C8)), None),  # Hebrew vowels
    }
)
#: By the first letter from which on a script's words have this Snowball stemmer; "" is none.
_STEMMERS = (
    ("\u0370", "greek"),
    ("\u0400", "russian"),
    ("\u0530", "armenian"),
    ("\u0590", ""),
    ("\u0600", "arabic"),
    ("\u0700", ""),
    ("\u0900", "hindi"),
    ("\u0980", ""),
    ("\u0b80", "tamil"),
    ("\u0c00", ""),
    ("\u1f00", "greek"),
    ("\u2000", ""),
)


def may_be_other(text: str) -> bool:
    """Whether a text has a letter that is not Latin."""
    return _others().search(text) is not None


def is_latin(word: str) -> bool:
    """Whether a word is in Latin letters or digits."""
    return word[0] < _BEYOND_LATIN


def script_of(words: Sequence[str]) -> str:
    """Return which of :data:`SCRIPTS` most of some words are in; with kana it is Japanese."""
    if all(word.isascii() for word in words):  # as of most texts; much faster
        return SCRIPTS[0]
    counts = Counter(map(_script_of_word, words))
    if counts["KANA"]:
        counts["KANA"] += counts.pop("CJK", 0)
    return counts.most_common(1)[0][0]


def _script_of_word(word: str) -> str:
    if is_latin(word):
        return SCRIPTS[0]
    name = unicodedata.name(word[0], "").split(" ")[0]
    name = "KANA" if name in ("HIRAGANA", "KATAKANA") else name
    return name if name in SCRIPTS else SCRIPTS[-1]


def spelt(text: str) -> str:
    """Return a text in the one spelling in which words are compared: NFKC, lower case.

    Without marks that users leave out: Arabic vowels, the dot below of Hindi, dots on Russian "ё".
    """
    plain = unicodedata.normalize("NFKC", text).lower().translate(_SPELLINGS)
    return unicodedata.normalize("NFC", plain)


def words_of_any_script(text: str, *, in_pairs: bool = True) -> list[str]:
    """Return the words of a text in lower case in order, those that are not Latin as spelt.

    Args:
        in_pairs: cut scripts without spaces into pairs of signs, else into signs.
    """
    words: list[str] = []
    for run in _runs().finditer(text):
        if run.lastgroup == "word":
            words.append(run[0] if is_latin(run[0]) else spelt(run[0]))
        elif not in_pairs:
            words.extend(_signs().findall(spelt(run[0])))
        elif run.lastgroup == "paired":
            words.extend(_pairs(spelt(run[0])))
        else:
            words.extend(_long_word(spelt(run[0])))
    return [word for word in words if word]


def stemmer_of(word: str) -> str:
    """Return the stemmer of a word that is not Latin, by its script; "" where there is none."""
    found = ""
    for first, stemmer in _STEMMERS:
        if word[0] < first:
            break
        found = stemmer
    return found


def _pairs(run: str) -> Iterator[str]:
    """Yield each sign with the one after it, and each Chinese sign; one alone by itself."""
    signs: list[str] = _signs().findall(run)
    if len(signs) == 1:
        yield run
        return
    for sign in signs:
        if _is_han(sign):
            yield sign
    for first, second in pairwise(signs):
        if not _crosses(first, second):
            yield first + second


def _crosses(first: str, second: str) -> bool:
    """Whether a Japanese word ends between two signs: a particle or a new Chinese sign follows."""
    if _is_han(first):
        return second in _PARTICLES
    return _is_han(second) and "\u3041" <= first <= "\u309f"


def _long_word(run: str) -> Iterator[str]:
    """Yield a word in katakana, and its pairs where it may be of two words."""
    yield run
    if len(run) >= _COMPOUND:
        for first, second in pairwise(run):
            yield first + second


def _is_han(sign: str) -> bool:
    return _han().match(sign) is not None


# Patterns are compiled when they are first needed: a memory of plain ASCII needs none.


@cache
def _others() -> re.Pattern[str]:
    return re.compile(_OTHER)


@cache
def _han() -> re.Pattern[str]:
    return re.compile(f"[{_HAN}]")


@cache
def _signs() -> re.Pattern[str]:
    """Match a letter with the marks that go with it."""
    return re.compile(f"[^{_marks()}][{_marks()}]*|[{_marks()}]+")


@cache
def _runs() -> re.Pattern[str]:
    marks = f"{_marks()}{_JOINERS}"
    paired = f"[{_PAIRED}](?:[{_PAIRED}{marks}])*"
    katakana = f"[{_KATAKANA}]+"
    word = rf"[^\W_{_PAIRED}{_KATAKANA}](?:[^\W_{_PAIRED}{_KATAKANA}]|[{marks}])*"
    return re.compile(f"(?P<paired>{paired})|(?P<katakana>{katakana})|(?P<word>{word})")


@cache
def _marks() -> str:
    """Return the combining marks of all scripts, as what stands between brackets in a pattern."""
    codes = [
        code for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code))[0] == "M"
    ]
    ranges: list[list[int]] = []
    for code in codes:
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)
