"""Whether a text names a time that needs no day beside it: "at 3pm", "on Tuesday", "12 May"."""

from __future__ import annotations

import re

from demem_agent.later import pattern

__all__ = ["DAYS_ABROAD", "MONTHS_ABROAD", "NAMED", "names_time", "names_time_in_any_language"]

#: A time of the day, a weekday, a day or month, or a year.
NAMED = pattern(
    r"\b\d{1,2}[:.h]\d{2}\b(?!\s*%)|\b\d{1,2} ?(?:[ap]\.?m\b|uhr\b|o['’]?clock\b)"
    r"|\b(?:noon|midday|midnight)\b"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:1[89]|20)\d\d\b"
    r"|\b(?:jan(?:uary)?|feb(?:ruary)?|march|mar|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.? (?:the )?\d{1,2}\b"
    r"|\b\d{1,2}(?:st|nd|rd|th)?\.? (?:of )?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
    r"|\b(?:in|by|since|until|every) (?:january|february|march|april|may|june|july|august"
    r"|september|october|november|december)\b"
    r"|\b\d{1,2}[/.]\d{1,2}[/.]\d{2,4}\b|\bat (?:half|quarter) (?:past|to)\b",
    re.IGNORECASE,
)

#: Months and days of the week in six other languages, as a pattern for lower-case text.
MONTHS_ABROAD = (
    "januari|januar|februari|februar|märz|maart|april|mai|mei|juni|juli|augustus|august|september"
    "|o[kc]tober|november|de[zc]ember|gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto"
    "|settembre|ottobre|novembre|dicembre|janvier|février|mars|avril|juin|juillet|août|septembre"
    "|octobre|décembre|enero|febrero|abril|mayo|junio|julio|septiembre|octubre|noviembre"
    "|diciembre|janeiro|fevereiro|março|maio|junho|julho|setembro|outubro|novembro|dezembro"
)
DAYS_ABROAD = (
    "(?:maan|dins|woens|donder|vrij|zater|zon)dag(?:en)?"
    "|(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?|(?:lune|marte|mercole|giove|vener)dì"
    "|sabato|domenica|(?:lun|mar|mercre|jeu|vendre|same)dis?|dimanches?|lunes|martes|miércoles"
    "|jueves|viernes|sábados?|domingos?|(?:segunda|terça|quarta|quinta|sexta)s?-feiras?"
)
#: In German, Dutch, French, Spanish, Portuguese and Italian: a month beside a word or a number, a
#: day of the week, an hour.
_ABROAD = pattern(
    rf"\b(?:\d{{1,2}}[.°º]?|1er|de|di|in|im|en|em|ab|bis|tot|vanaf|eind|begin|half|ende|anfang|mitte"
    rf"|fino a|fine|inizio|da|fin|début|mi|finales de|do|desde|até|depuis) (?:{MONTHS_ABROAD})\b"
    rf"|\b(?:{DAYS_ABROAD})\b"
    r"|\b(?:um|gegen|om|rond|alle|verso le|à|vers|a las?|às|pelas) \d{1,2}\b(?! ?(?:[%€]|euros?\b))"
    r"|\b\d{1,2} (?:uur|heures?|horas?)\b"
    r"|\b(?:mittag|mitternacht|middag|middernacht|mezzogiorno|mezzanotte|midi|minuit|mediodía"
    r"|medianoche|meio-dia|meia-noite)s?\b",
    re.IGNORECASE,
)


def names_time_in_any_language(text: str) -> bool:
    """Whether a text names a time in English or in one of six other languages."""
    return names_time(text) or _ABROAD.search(text) is not None


def names_time(text: str) -> bool:
    """Whether a text names a time of the day, a weekday or a date, in English."""
    return NAMED.search(text) is not None
