"""Numbers from 1 to 99 in words of six languages, for what is told beside what is counted.

A word alone tells no number in every language: "once" is eleven in Spanish, and "sei" a verb in
German. So these are looked for only where a number has to stand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product

__all__ = ["NUMBER", "ORDINAL", "every_word", "number_of_word", "numbers_by_word"]

_TO_TWENTY = {
    "english": "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
    " fifteen sixteen seventeen eighteen nineteen",
    "german": "ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn"
    " fünfzehn sechzehn siebzehn achtzehn neunzehn",
    "spanish": "uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince"
    " dieciséis diecisiete dieciocho diecinueve",
    "french": "un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze"
    " seize dix-sept dix-huit dix-neuf",
    "portuguese": "um dois três quatro cinco seis sete oito nove dez onze doze treze catorze quinze"
    " dezasseis dezassete dezoito dezanove",
    "italian": "uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici"
    " quattordici quindici sedici diciassette diciotto diciannove",
}
_TENS = {
    "english": "twenty thirty forty fifty sixty seventy eighty ninety",
    "german": "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
    "spanish": "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa",
    "french": "vingt trente quarante cinquante soixante",
    "portuguese": "vinte trinta quarenta cinquenta sessenta setenta oitenta noventa",
    "italian": "venti trenta quaranta cinquanta sessanta settanta ottanta novanta",
}
#: Between tens and ones; in German the ones stand before.
_JOINED = {
    "english": ("-", " "),
    "german": ("und",),
    "spanish": (" y ",),
    "french": ("-", " et "),
    "portuguese": (" e ",),
    "italian": ("",),
}
#: One of something, and other forms of words above.
_MORE = {
    **dict.fromkeys("a an another eine einen einem einer una une uma".split(), 1),
    "duas": 2,
    "veintiuno": 21,
    "veintidós": 22,
    "veintitrés": 23,
    **{
        f"veinti{one}": 20 + n
        for n, one in enumerate("cuatro cinco seis siete ocho nueve".split(), 4)
    },
    "dezesseis": 16,
    "dezessete": 17,
    "dezenove": 19,
    "quatre-vingts": 80,
}
_ODD_ORDINALS = {
    "second": 2,
    "third": 3,
    "fifth": 5,
    "eighth": 8,
    "ninth": 9,
    "twelfth": 12,
    "dritten": 3,
    "siebten": 7,
    "achten": 8,
    "twentieth": 20,
    "thirtieth": 30,
    "fortieth": 40,
    "fiftieth": 50,
    "sixtieth": 60,
    "seventieth": 70,
    "eightieth": 80,
    "ninetieth": 90,
}
_ONES = 9


@cache
def numbers_by_word() -> Mapping[str, int]:
    """Return what each word for a number below a hundred stands for."""
    found = dict(_MORE)
    for language, words in _TO_TWENTY.items():
        found.update((word, n) for n, word in enumerate(words.split(), 1))
        found.update((word, 10 * n) for n, word in enumerate(_TENS[language].split(), 2))
        for first, joined, last in _joined(language):
            for parts in product(first, joined, last):
                found["".join(parts)] = first[parts[0]] + last[parts[2]]
    return found


#: Words by what they stand for.
_Words = Mapping[str, int]


def _joined(language: str) -> Iterator[tuple[_Words, Sequence[str], _Words]]:
    """Yield what the numbers between two tens are joined of: words, what is between, and words."""
    ones = {word: n for n, word in enumerate(_TO_TWENTY[language].split()[:_ONES], 1)}
    tens = {word: 10 * n for n, word in enumerate(_TENS[language].split(), 2)}
    joined = _JOINED[language]
    if language == "german":
        yield ones, joined, tens
    elif language == "italian":  # "ventuno", "ventidue"
        cut = {word[:-1]: ten for word, ten in tens.items()}
        open_ones = {word: n for word, n in ones.items() if word[0] in "uo"}
        yield cut, joined, open_ones
        yield tens, joined, {word: n for word, n in ones.items() if word not in open_ones}
    else:
        yield tens, joined, ones


def number_of_word(word: str) -> int | None:
    """Return the number that a word, an ordinal or digits stand for; None for another word."""
    low = word.lower()
    if low.isdecimal():
        return int(low)
    return numbers_by_word().get(low) or _ordinals().get(low)


@cache
def _ordinals() -> Mapping[str, int]:
    """Return what the English and German ordinals stand for by which birthdays are told."""
    found = dict(_ODD_ORDINALS)
    for word, number in numbers_by_word().items():
        found.setdefault(f"{word}th", number)
        for ending in ("te", "ten", "ter"):
            found.setdefault(word + ("s" if number > 19 else "") + ending, number)
    return {word: number for word, number in found.items() if number > 1}


@cache
def every_word(number: int) -> frozenset[str]:
    """Return all words for a number, and its digits."""
    words = {word for word, n in numbers_by_word().items() if n == number}
    return frozenset(words | {str(number)})


def _any(words: Iterable[str]) -> str:
    return f"(?:{'|'.join(sorted(words, key=len, reverse=True))})"


def _all_joined() -> Iterator[str]:
    """Yield what matches the numbers that are joined of two words, by language.

    Some hundred words one beside the other take an expression ten times as long to compile.
    """
    for language in _JOINED:
        for first, joined, last in _joined(language):
            yield _any(first) + _any(joined) + _any(last)


def _single(least: int, most: int) -> Iterator[str]:
    """Yield the words for numbers in a range that are not joined of two."""
    joined: set[str] = set()
    for language in _JOINED:
        for parts in _joined(language):
            joined.update(map("".join, product(*parts)))
    for word, number in numbers_by_word().items():
        if least <= number <= most and word not in joined:
            yield word


def _ordinal() -> str:
    """Return what matches an ordinal."""
    larger = "|".join([*_all_joined(), _any(_single(20, 99))])
    return "|".join(
        [
            rf"(?:{larger})(?:th|ste[nr]?)",
            rf"{_any(_single(2, 19))}(?:th|te[nr]?)",
            _any(_ODD_ORDINALS),
        ]
    )


#: A number below a hundred in words, or one in digits.
NUMBER = (
    r"(?:\d{1,3}(?![\d:h])(?![.,]\d)"
    rf"|(?:{'|'.join([*_all_joined(), _any(_single(1, 99))])})(?!\w))"
)
#: Which birthday it is, in words.
ORDINAL = rf"(?:{_ordinal()})(?!\w)"
