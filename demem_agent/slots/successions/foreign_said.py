"""What an earlier sentence in another language than English says that may be over.

A boat that is liked is not over because a trip of that name is: what is cancelled was had or was
to take place, and what was sold was had. The rules know German, Spanish, French and Portuguese,
and were written by hand.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Literal

from demem_agent.later import pattern
from demem_agent.text.language.changes import tells
from demem_agent.text.language.words import stems

__all__ = ["Over", "goes_to", "is_journey", "said_before"]

Language = Literal["german", "spanish", "french", "portuguese"]
#: As what something was said before that is over: had, to take place, or done.
Over = Literal["thing", "event", "habit"]

_HAD: Mapping[Language, re.Pattern[str]] = {
    "german": pattern(
        r"\b(?:habe?n?|hat|besitz\w+|fahre?n?|fährt|nutz\w+|benutz\w+|abonnier\w*|gekauft)\b",
        re.IGNORECASE,
    ),
    "spanish": pattern(
        r"\b(?:tengo|tenemos|tiene|conduzco|uso|usamos|compr[éo]|comprado|suscri\w+)\b",
        re.IGNORECASE,
    ),
    "french": pattern(
        r"\b(?:ai|avons|a|ont|conduis|roule|utilis\w+|possède|abonnée?)\b", re.IGNORECASE
    ),
    "portuguese": pattern(
        r"\b(?:tenho|temos|tem|conduzo|uso|usamos|comprei|comprámos|assino)\b", re.IGNORECASE
    ),
}
_MONTHS = (
    "januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember"
    "|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre"
    "|janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre"
    "|janeiro|fevereiro|março|maio|junho|julho|setembro|outubro|novembro|dezembro"
)
_DAYS = (
    "(?:mon|diens|donners|frei|sams)tags?|mittwochs?|sonntags?|sonnabend|lunes|martes|miércoles"
    "|jueves|viernes|sábado|domingo|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche"
    r"|(?:segunda|terça|quarta|quinta|sexta)(?:-feira)?"
)
#: A time that something is to take place at, or that it is to.
_TO_COME = pattern(
    rf"\b(?:{_MONTHS}|{_DAYS}|weihnachten|ostern|navidad|noël|natal|páscoa|pâques|morgen|mañana"
    r"|demain|amanhã|nächste\w*|próxim\w+|prochaine?|heute abend|esta noche|ce soir|esta noite"
    r"|uhr|gebucht|reserviert|geplant|reservad\w|réservée?s?|prévue?s?|marcad\w|karten|entradas"
    r"|billets?|bilhetes?|vamos|voy a|vou|allons|vais|werden|wollen)\b|\b\d{1,2}[.:h]\d\d"
    r"|\b(?:dia|día|le|am|um|el) \d",
    re.IGNORECASE,
)
_JOURNEYS = frozenset(
    """reise fahrt ausflug flug urlaub tour viaje vuelo excursión vacaciones escapada voyage vol
    séjour vacances viagem voo excursão férias passeio""".split()
)
_TO_WHERE = r"[^.!?;]*?\b(?:nach|à|au|aux|en|al?|para|ao)\s+(?P<to>[A-ZÀ-Ý][\w-]+)"
_GOES: Mapping[Language, re.Pattern[str]] = {
    "german": pattern(rf"\b(?:fliege|fahre|reise|fliegt|fährt|reist|gehe|geht)n?\b{_TO_WHERE}"),
    "spanish": pattern(
        rf"\b(?:[Vv]oy|[Vv]amos|[Vv]a|[Vv]iaj(?:o|a|amos)|[Vv]ol(?:amos|aré|aremos))\b{_TO_WHERE}"
    ),
    "french": pattern(
        r"\b(?:vais|va|allons|pars|part|partons|voyage|voyageons|prends l['’]avion)\b"
        rf"{_TO_WHERE}"
    ),
    "portuguese": pattern(
        rf"\b(?:[Vv]ou|[Vv]amos|[Vv]ai|[Vv]iaj(?:o|a|amos)|[Vv]oamos|[Vv]oo)\b{_TO_WHERE}"
    ),
}


def said_before(said: str, over: Over, language: Language) -> bool:
    """Whether a sentence says that something is so which may be over."""
    if tells(said, "likes"):
        return False
    if over == "habit" or _HAD[language].search(said):
        return True
    return over == "event" and _TO_COME.search(said) is not None


def is_journey(word: str, language: Language) -> bool:
    """Whether a stem is of a word for a journey, which is told without it: "we fly to Rome"."""
    return word in stems(sorted(_JOURNEYS), language)


def goes_to(said: str, words: Collection[str], language: Language) -> bool:
    """Whether a sentence says that somebody travels to where one of some stems names."""
    found = _GOES[language].search(said)
    return found is not None and not set(stems([found["to"].lower()], language)).isdisjoint(words)
