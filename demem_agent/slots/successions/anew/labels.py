"""A number that something of the speaker's has beside its name: "Euthyrox 50", "line 4"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from demem_agent.later import pattern
from demem_agent.slots.successions.anew.told import Told
from demem_agent.slots.successions.anew.words import (
    MONTH,
    is_of_others,
    is_supposed,
    number,
    said_now,
    stems_of,
)
from demem_agent.text.language.languages import stop_words

__all__ = ["labels"]

_UNIT = r"mg|µg|mcg|ml|g|drops|tropfen|gotas|gouttes|gocce"
_TO = r"(?:(?:up |down )?to|auf|a|à|from \d+(?:[.,]\d+)? ?(?:mg)? to)"
_LABELS = (
    pattern(
        rf"\b(?P<label>[^\W\d_][\w'’-]{{2,}}) (?:{_TO} )?(?P<number>\d+(?:[.,]\d+)?)(?:"
        rf" ?(?:{_UNIT})\b)?"
        r"(?![\w:%])(?! ?(?:€|\$|£|euros?|%|years?|days?|weeks?|hours?|minutes?|times?|people|kids"
        r"|km|kilos?|kg|stunden|tage|jahre|wochen|minuten|uhr|años|horas|días|ans|heures|jours|anni"
        r"|ore"
        rf"|giorni|am\b|pm\b|st\b|nd\b|rd\b|th\b|{MONTH})|\. {MONTH})",
        re.IGNORECASE,
    ),
    pattern(
        rf"\b(?P<number>\d+(?:[.,]\d+)?) ?(?:{_UNIT}) (?:(?:of|von|de|di|du|d['’]) ?)?"
        r"(?P<label>[^\W\d_][\w'’-]{3,})",
        re.IGNORECASE,
    ),
)
#: That it is of the speaker.
_MINE = pattern(
    r"\b(?:i|me|my|i['’]m|ich|mich|mir|mein\w*|yo|me|mi|je|moi|mon|ma|io|mi|mio|mia|eu|meu|minha)\b"
    r"|\b[jm]['’]|^\W*(?:\w+ ){0,2}?(?:take|taking|drive|on|nehme|fahre|bin|tomo|conduzco|llevo"
    r"|prends|prendo|guido|tomo|conduzo)\b",
    re.IGNORECASE,
)
#: That it is another one than before.
_SET = pattern(
    r"\b(?:put|puts|move[ds]?|bumped|upped|ups|raised|raises|increased|lowered|lowers|reduced|cut"
    r"|switched|changed) (?:me|my)\b|\b(?:up|down) to\b"
    r"|\b(?:hochgesetzt|erhöht|angehoben|gesteigert|reduziert|gesenkt|runtergesetzt|umgestellt"
    r"|versetzt)\b|\bme (?:ha |han )?(?:sub\w+|baj\w+|cambi\w+|aument\w+|pas\w+) a\b"
    r"|\bm['’](?:a|ont) (?:passée?|augmentée?|mise?|baissée?|monté|descendu)\b"
    r"|\bmi (?:ha|hanno) (?:portat[oa]|aumentat[oa]|alzat[oa]|abbassat[oa]|mess[oa]|passat[oa]"
    r"|spostat[oa])\b|\b(?:aumentou|subiu|baixou|passou)-me\b|\bseit (?:\w+tag|gestern|heute)\b"
    r"|\bsince (?:\w+day|yesterday)\b"
    r"|\bdesde (?:el )?(?:lunes|ayer|hoy)\b|\bdepuis (?:lundi|hier)\b|\bda (?:lunedì|ieri|oggi)\b",
    re.IGNORECASE,
)
#: What happened once.
_ONCE = pattern(
    r"\b(?:took|drove|went|did|had|got|bought|met|saw|missed|read|finished|bin \w+ gefahren"
    r"|genommen|tomé|cogí|fui|pris|preso)\b",
    re.IGNORECASE,
)
_DOSED = pattern(
    r"^(?:to|up|down|auf|about|around|etwa|unos|environ|circa|only|just|nur|solo|plus|over|under"
    r"|until|from|paid|pay|cost|costs|kostet|cuesta|coûte|costa|owe|left|reste|quedan|restano"
    r"|bleiben|noch|still|turned|cumplido|compiuto|have|got|had|need|take|taking|drive|ran|run"
    r"|walked|did|made|bought|sold|lost"
    r"|nehme|tomo|prends|prendo|gave|at|on|in|day|days|of|for|and|the|tiene|tengo|ist|is|are|was"
    rf"|{MONTH}|\w+day|\w+tag)$",
    re.IGNORECASE,
)
_LANGUAGES = ("english", "german", "spanish", "french", "italian", "portuguese")


def labels(said: str) -> Iterator[Told]:
    """Yield what number a sentence says that something of the speaker's has, by its name."""
    if not _MINE.search(said) or is_of_others(said) or is_supposed(said) or _ONCE.search(said):
        return
    anew = _SET.search(said) is not None or said_now(said)
    for form in _LABELS:
        for found in form.finditer(said):
            label = found["label"].lower()
            if _DOSED.match(label) or any(label in stop_words(one) for one in _LANGUAGES):
                continue
            what = frozenset([label])
            yield Told("label", what, number(found["number"]), anew, stems_of(what))
