"""The parts of a sentence that may each tell a value, without when it is to hold.

"Enel is cancelled, from March the power is with Iren": the second part tells the value, and "from
March" that it is another one than before.
"""

from __future__ import annotations

import re

from demem_agent.later import dataclass, pattern
from demem_agent.slots.successions.anew.words import MONTH, NOW
from demem_agent.text.remembered import kept_lately

__all__ = ["Part", "parts"]

#: Sentences whose parts are kept: several look for them, one after the other.
KEPT = 64
#: Parts of a sentence that are looked at, the first ones.
MOST = 4
_ENDS = pattern(
    r"\s*(?:[;:!–—]|,(?!\d)|\.(?=\s)|…|\s-\s)\s*|\s(?:and|but|und|aber|y|pero|et|mais|e|ma"
    r"|mas)\s(?=(?:[\w'’]+"
    r" ){1,6})",
    re.IGNORECASE,
)
_DAYS = (
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|\w+tag|mittwoch|lunes|martes|miércoles|jueves"
    r"|viernes"
    r"|sábado|domingo|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lunedì|martedì|mercoledì"
    r"|giovedì|venerdì|sabato|domenica|segunda|terça|quarta|quinta|sexta"
)
#: From when on something holds, or since when.
_WHEN = pattern(
    rf"\s*\b(?:{NOW}|this year|dieses jahr|este año|cette année|quest['’]anno|este ano"
    r"|(?:from|since|as of|starting|starting from|beginning|ab|seit|desde|a partir d[eo]l?|dès|à"
    r" partir d[eu]"
    r"|depuis|da|dal|dalla|a partire da|next|nächste[nr]?|am|on|im|in|en|le|el|em|a|na|il)"
    rf" (?:the |el |le |il |o |dem )?(?:{MONTH}|{_DAYS}|today|tomorrow|heute|morgen|gestern|hoy"
    rf"|ayer|mañana"
    r"|aujourd['’]hui|hier|demain|oggi|ieri|domani|hoje|ontem|amanhã|next (?:week|month|year)|then"
    r"|\d{1,2}(?:st|nd|rd|th|er|\.)(?! ?\d))(?: on)?)(?!\w)",
    re.IGNORECASE,
)
_LEADS = pattern(
    r"^\W*(?:(?:so|ok|okay|btw|fyi|update|news|well|also|finally|endlich|por fin|enfin"
    r"|finalmente),? )*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a sentence without when it holds.

    Attributes:
        anew: whether that is told, as from now on.
    """

    said: str
    anew: bool


@kept_lately(KEPT)
def parts(said: str) -> tuple[Part, ...]:
    """Return the parts of a sentence in order; of one that is told in one go, itself."""
    found = []
    for one in _ENDS.split(said)[:MOST]:
        text = _LEADS.sub("", one.strip())
        plain = " ".join(_WHEN.sub(" ", text).split())
        if plain:
            found.append(Part(plain, plain != " ".join(text.split())))
    return tuple(found)
