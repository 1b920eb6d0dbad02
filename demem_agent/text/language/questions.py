"""What kind of thing a question asks for, and which texts hold one: times, numbers, names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from demem_agent.later import pattern

__all__ = ["NAME", "asks_for", "asks_how_many", "asks_when", "asks_who", "has_number"]

_DIGIT = pattern(r"\d")
_NUMBERS = frozenset(
    "one two three four five six seven eight nine ten"
    " once twice dozen hundred several couple".split()
)
#: A capital inside a sentence.
NAME = pattern(r"(?<=[a-z,] )[A-Z][a-z]+")

_WHEN = pattern(
    r"\bwhen\b|\bwhat date\b|\bhow long\b|\bdays\b"
    r"|\b(?:wann|cuándo|quand|quando|wanneer|когда|متى)\b"
    "|什么时候|什麼時候|何时|哪天|几点|いつ|何時|何日|언제|며칠|कब",
    re.IGNORECASE,
)
_HOW_MANY = pattern(r"\bhow (?:many|much|long|old|often)\b", re.IGNORECASE)
_WHO = pattern(r"^\W*(?:who|which|where)\b|\bname[sd]?\b", re.IGNORECASE)

#: Words that ask, by what they ask for, in some languages; the first in a text counts. Those that
#: mean something else in another of these languages are left out (German "was").
_ASKED_FOR = {
    "number": "how (?:many|much|old|often|far)|wie viele?|wie oft|combien|cuánt[oa]s?"
    "|quant[oaei]|quant[oa]s|hoeveel|сколько|كم|بكم",
    "while": "how long|wie lange|как долго",
    "time": "when|(?:what|which) (?:date|day|month|year|time)|wann|quand|cuándo|quando|wanneer"
    "|когда|متى",
    "place": "where|wohin|woher|où|dónde|onde|dov['’]è|где|куда|откуда|أين",
    "person": "whom|whose|who|wer|wem|wessen|quién(?:es)?|quem|кто|кого|кому|кем|чей|чья",
    "reason": "why|warum|wieso|weshalb|pourquoi|por qué|perché|por que|waarom|почему|зачем|لماذا",
    "way": "how|как|كيف",
    "thing": "what|which|welche[rsmn]?|quel(?:le)?s?|qué|cuál(?:es)?|quale|quali|qual|quais"
    "|что|как(?:ой|ая|ое|ие|ую|ого|ом)|ماذا|أي",
}
#: The same in scripts whose words have no ends, or end in marks.
_ASKED_IN_SIGNS = {
    "number": "多少|几[个個岁]|幾[个個岁]|いくつ|いくら|何[人個歳本枚回匹台]|얼마|몇|कितन[ाीे]",
    "while": "多久|多长时间|どのくらい|얼마나 오래|कितनी देर",
    "time": "什么时候|什麼時候|何时|几点|哪天|哪年|いつ|何時|何日|언제|며칠|कब",
    "place": "哪里|哪裡|哪儿|在哪|どこ|어디|कहाँ|कहां",
    "person": "谁|誰|だれ|누구|누가|किसने|किसे|किसको|किसक[ाीे]|कौन(?! स)",
    "reason": "为什么|為什麼|なぜ|どうして|왜|क्यों",
    "way": "怎么|怎麼|怎样|どうやって|어떻게|कैसे",
    "thing": "什么|什麼|哪|何|なに|どれ|どの|무엇|뭐|무슨|어느|어떤|क्या|कौन स",
}
#: What is told by a longer word comes before what is told by a part of it.
_SIGNS_FIRST = ("while", "number", "time", "place", "person", "reason", "way", "thing")


@cache
def _asks() -> re.Pattern[str]:
    parts = [
        rf"(?P<{kind}>\b(?:{_ASKED_FOR[kind]})\b|{_ASKED_IN_SIGNS[kind]})" for kind in _SIGNS_FIRST
    ]
    return re.compile("|".join(parts), re.IGNORECASE)


def asks_for(question: str) -> str:
    """Return what kind of thing a question asks for; "" where no word tells."""
    found = _asks().search(question)
    return (found.lastgroup or "") if found else ""


def has_number(text: str, words: Iterable[str]) -> bool:
    """Whether a text, whose words in lower case are given, has a digit or a number word."""
    return _DIGIT.search(text) is not None or not _NUMBERS.isdisjoint(words)


def asks_when(question: str) -> bool:
    """Whether a question asks for a time."""
    return _WHEN.search(question) is not None


def asks_how_many(question: str) -> bool:
    """Whether a question asks for a number."""
    return _HOW_MANY.search(question) is not None


def asks_who(question: str) -> bool:
    """Whether a question asks for a person, a place or a name."""
    return _WHO.search(question) is not None
