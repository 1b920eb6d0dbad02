"""Numbers from 1 to 99 in words of six languages, for what is told beside what is counted.

A word alone tells no number in every language: "once" is eleven in Spanish, and "sei" a verb in
German. So these are looked for only where a number has to stand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

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
        first = words.split()
        found.update((word, n) for n, word in enumerate(first, 1))
        for ten, tens in enumerate(_TENS[language].split(), 2):
            found[tens] = 10 * ten
            found.update(_above(language, 10 * ten, tens, first[:_ONES]))
    return found


def _above(language: str, ten: int, tens: str, ones: list[str]) -> Iterator[tuple[str, int]]:
    """Yield the words of the numbers between two tens."""
    for n, one in enumerate(ones, 1):
        for joined in _JOINED[language]:
            if language == "german":
                yield f"{one}{joined}{tens}", ten + n
            elif language == "italian":
                yield f"{tens[:-1] if one[0] in 'uo' else tens}{one}", ten + n
            else:
                yield f"{tens}{joined}{one}", ten + n


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


_WORDS = "|".join(sorted(numbers_by_word(), key=len, reverse=True))
#: A number below a hundred in words, or one in digits.
NUMBER = rf"(?:\d{{1,3}}(?![\d:h])(?![.,]\d)|(?:{_WORDS})(?!\w))"
#: Which birthday it is, in words.
ORDINAL = rf"(?:{'|'.join(sorted(_ordinals(), key=len, reverse=True))})(?!\w)"
