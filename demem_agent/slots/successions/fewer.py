"""Things that are counted, of which one is gone: "I lost a hive, four left".

The earlier sentence tells how many there were: a number right before the thing. The rules know
English, German, Spanish, French and Portuguese, and were written by hand.
"""

from __future__ import annotations

import re
from functools import cache

from demem_agent.later import dataclass, pattern
from demem_agent.text.language.changes import tells
from demem_agent.text.language.languages import stop_words
from demem_agent.text.language.words import stems

__all__ = ["Fewer", "fewer"]

_LANGUAGES = ("english", "german", "spanish", "french", "portuguese")
#: Number words, each with its number.
_NUMBERS = {
    word: number
    for number, words in enumerate(
        (
            "one eine einer eins un una uno une um uma",
            "two zwei dos deux dois duas both",
            "three drei tres trois três",
            "four vier cuatro quatre quatro",
            "five fünf cinco cinq",
            "six sechs seis",
            "seven sieben siete sept sete",
            "eight acht ocho huit oito",
            "nine neun nueve neuf nove",
            "ten zehn diez dix dez",
            "eleven elf once onze",
            "twelve zwölf doce douze doze",
        ),
        1,
    )
    for word in words.split()
}
_COUNT = rf"(?P<count>\d{{1,3}}|{'|'.join(_NUMBERS)})"
#: How many are left. Of what stands before it, mostly.
_LEFT = pattern(
    rf"\b{_COUNT}(?: of (?:them|us))? (?:left|remain(?:ing)?|are left|is left)\b"
    rf"|\bnoch {_COUNT.replace('count', 'german')}\b"
    r"(?! (?:tage?|wochen?|stunden?|minuten?|uhr|mal)\b)"
    rf"|\b{_COUNT.replace('count', 'over')} (?:sind )?(?:noch )?übrig\b"
    rf"|\b(?:il |m['’]|nous )?(?:en reste|reste plus que) {_COUNT.replace('count', 'french')}\b"
    rf"|\b(?:me |nos )?queda[n]? {_COUNT.replace('count', 'spanish')}\b"
    r"|\b(?:resta[m]?|sobra[m]?|fica(?:m|ram))(?:-me|-nos)? "
    rf"{_COUNT.replace('count', 'portuguese')}\b",
    re.IGNORECASE,
)
#: That something is lost, without which nothing tells of how many there were.
_LOST = pattern(
    r"\b(?:lost|died|dead|sold|gave|broke|broken|stolen|ran away|ate|used|starb|gestorben|verloren"
    r"|verkauft|eingegangen|weggelaufen|kaputt|geklaut|gestohlen|perd[íi]\w*|perdido|murió|muerto"
    r"|vend[íi]\w*|vendido|robaron|rompi\w*|perdu|mort|morte|vendu|volée?|cassée?|morreu|perdeu"
    r"|roubaram|fugiu|partiu-se)\b",
    re.IGNORECASE,
)
_GONE = (
    r"(?:(?:just|sadly|has|have|recently|now|was|got|is|had|also) )*(?:died|passed away|ran away"
    r"|run away|stolen|escaped|broke|broken|dead|gone|sold)\b"
)
_ONE_OF = pattern(
    rf"\b(?:one|another|two|three|\d+) of (?:the|my|our) (?P<what>(?:\w+ )?\w+) {_GONE}"
    r"|\b(?:lost|sold|gave away) (?:one|two|three|\d+) of (?:the|my|our) (?P<lost>\w+)"
    # German
    r"|\bein\w? (?:der|meiner|unserer|von (?:den|meinen|unseren)) (?P<deren>\w+) (?:ist|wurde)"
    r" (?:\w+ ){0,2}(?:gestorben|weggelaufen|gestohlen|eingegangen|kaputt\w*|verkauft)\b"
    r"|\bhabe?n?\b[^.!?]* ein\w{0,2} (?:der|meiner|unserer) (?P<davon>\w+) (?:verloren|verkauft)\b"
    # Spanish
    r"|\bun[oa]? de (?:los|las|mis|nuestr[oa]s) (?P<cuyo>\w+)(?: se)?(?: ha| han)?"
    r" (?:murió|muerto|escapó|escapado|perdió|perdido|rompió|roto)\b"
    r"|\b(?:perd[íi]|perdimos|vend[íi]|vendimos|(?:he|hemos) (?:perdido|vendido)) un[oa]? de"
    r" (?:los|las|mis|nuestr[oa]s) (?P<mio>\w+)"
    # French
    r"|\b(?:l['’])?une? (?:des|de (?:mes|nos)) (?P<dont>\w+) (?:est|s['’]est|a été)"
    r" (?:\w+ )??(?:morte?|enfuie?|échappée?|volée?|cassée?|vendue?)\b"
    r"|\b(?:ai|avons) (?:perdu|vendu) une? (?:des|de (?:mes|nos)) (?P<mien>\w+)"
    # Portuguese
    r"|\bum[a]? d[oa]s (?:(?:meus|minhas|nossos|nossas) )?(?P<cujo>\w+) (?:morreu|fugiu|partiu-se"
    r"|foi roubad[oa])\b"
    r"|\b(?:perdi|perdemos|vendi|vendemos) um[a]? d[oa]s (?:(?:meus|minhas|nossos|nossas) )?"
    r"(?P<meu>\w+)",
    re.IGNORECASE,
)
#: What makes it none, in the later sentence and in the earlier one.
_NOT_SO = pattern(
    r"\b(?:if|would|could|might|almost|nearly|never|not|n['’]t|wenn|würde|fast|beinahe|nicht|nie|si"
    r"|casi|no|nunca|peut-être|presque|failli|pas|jamais|quase|não|dream\w*|days?|weeks?|hours?"
    r"|minutes?|sister|brother|neighbou?r\w*|cousin|friend|aunt|uncle)\b",
    re.IGNORECASE,
)
_NOT_HAD = pattern(
    r"\b(?:was|were|had|saw|met|sold|used to|wants?|would|ago|war|waren|hatte|hatten|sah|fue|fueron"
    r"|tenía|había|vi|compraba|était|avait|avais|foi|foram|tinha|havia|ordered|ate|need|needs|if"
    r"|he|she|they|his|her|their|your|er|sie|él|ella|ellos|il|elle|ils|ele|ela)\b",
    re.IGNORECASE,
)
#: That the speaker has them.
_MINE = pattern(
    r"\b(?:i|we|my|our|ich|wir|je|nous|on|tengo|tenemos|tenho|temos)\b|\bj['’]"
    rf"|^\W*(?:(?:so|now|also|still)\b ?)*(?:\d{{1,3}}|{'|'.join(_NUMBERS)})\b",
    re.IGNORECASE,
)
_WORD = pattern(r"[^\W\d_]+|\d+")
#: Words between the number and the thing, at most.
BETWEEN = 1


@dataclass(frozen=True, slots=True)
class Fewer:
    """That of some things that are counted some are gone.

    Attributes:
        kinds: ("count",); ``who``: "", the speaker.
        words: stems of the things.
        count: how many are left; None where that is not told.
    """

    kinds: tuple[str, ...]
    who: str
    words: frozenset[str]
    count: int | None

    def ends(self, said: str, _: frozenset[str]) -> bool:
        """Whether an earlier sentence tells how many there were."""
        if _NOT_HAD.search(said) or not _MINE.search(said) or tells(said, "likes"):
            return False
        words = _WORD.findall(said.lower())
        for nth, word in enumerate(words):
            number = _number(word)
            if number is not None and number > max(self.count or 0, 1):
                near = words[nth + 1 : nth + 2 + BETWEEN]
                if not self.words.isdisjoint(_stems(near)):
                    return True
        return False


def fewer(said: str, before: str = "") -> Fewer | None:
    """Return of what a sentence says that fewer are left; None where it says nothing of the kind.

    Args:
        before: what was said right before it, which may name what there are fewer of.
    """
    if _NOT_SO.search(said):
        return None
    one_of = _ONE_OF.search(said)
    if one_of is not None:
        what = next(part for part in one_of.groupdict().values() if part)
        return Fewer(("count",), "", _stems(what.lower().split()), None)
    left = _LEFT.search(said)
    told = f"{before} {said[: left.start()]}" if left is not None else ""
    if left is None or not _LOST.search(told):
        return None
    count = next(_number(part.lower()) for part in left.groupdict().values() if part)
    things = [word for word in _WORD.findall(told.lower()) if _may_be_counted(word)]
    return Fewer(("count",), "", _stems(things), count) if things else None


def _may_be_counted(word: str) -> bool:
    return _number(word) is None and not _LOST.match(word) and word not in _stop_words()


def _number(word: str) -> int | None:
    return int(word) if word.isdigit() else _NUMBERS.get(word)


def _stems(words: list[str]) -> frozenset[str]:
    """Return the stems of words in each language: of a few words it cannot be told which it is."""
    found = set(words)
    for language in _LANGUAGES:
        found.update(stems(words, language))
    return frozenset(found)


@cache
def _stop_words() -> frozenset[str]:
    return frozenset().union(*map(stop_words, _LANGUAGES))
