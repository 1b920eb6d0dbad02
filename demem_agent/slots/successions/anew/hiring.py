"""A job that is got, with whom named beside it: "Joost got the job! Medtronic, starts 1 August"."""

from __future__ import annotations

import re

from demem_agent.later import pattern
from demem_agent.slots.successions.anew.words import MONTH

__all__ = ["got_a_job"]

_CAPITAL = r"[A-ZÀ-Ý][\w'’&-]*"
_WHO = r"(?P<who>(?:[\w'’-]+ ){0,2}?[\w'’-]+)"
#: That somebody has got one.
_GOT = (
    r"(?:got|landed|has got|['’]s got|have got|['’]ve got|has) (?:the|a new|his new|her new|my new)"
    r" (?:\w+ )?(?:job|post|position)"
    r"|(?:hat|habe|hab) (?:den (?:neuen )?job|die (?:neue )?stelle)(?: bekommen)?"
    r"|(?:heeft|heb) de (?:nieuwe )?baan(?: gekregen)?"
    r"|(?:ha|he) conseguido el (?:trabajo|puesto)|consiguió el (?:trabajo|puesto)"
    r"|(?:a|ai) (?:eu|obtenu|décroché) le (?:poste|boulot)"
    r"|(?:ha|ho) (?:avuto|ottenuto|preso) il (?:posto|lavoro)"
)
_DAY = (
    r"(?:mon|tues|wednes|thurs|fri)day|(?:mon|diens|donners|frei)tag|mittwoch|maandag|lunes|lundi"
    r"|lunedì"
)
#: When it begins, so that what is named is where.
_FROM = (
    r"(?:starts?|starting|beginning|from|as of|ab|seit|start|beginnt|begint|vanaf|desde|empieza"
    r"|a partir del?|à partir du?|dès|commence|da|dal|inizia|in|on|im|am|en|le|el|il|op)"
)
_AT = r"(?:at |with |bei |beim |bij |en |chez |à |alla |da |in )?"
_FORM = pattern(
    rf"^\W*(?:(?i:yes|yay|wow|news|juhu),? |(?i:j['’]))?(?:{_WHO} )?(?i:{_GOT})\W*[!:,;.–—-]+ *"
    rf"(?i:{_AT})(?P<at>{_CAPITAL}(?: {_CAPITAL}){{0,3}})"
    rf"(?:,| [–-])? (?i:{_FROM}) (?:(?i:on|in|am|im|the|le|el|il|op|a|à) )?"
    rf"(?i:\d{{1,2}}\b|{MONTH}|{_DAY}|next |nächst\w+ |volgende )"
)


def got_a_job(said: str) -> re.Match[str] | None:
    """Return who has got a job, and ``at`` whom, if a text names that beside it with its begin."""
    return _FORM.search(said)
