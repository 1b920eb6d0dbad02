"""Words by which people say that something has changed, or ask for how it was: one short table.

A row is a language, a column what its words tell. To add a language, add its row; words are matched
whole, in any case, and "..." stands for up to three words between two parts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Literal

__all__ = [
    "Sign",
    "adds",
    "asks_of_now",
    "asks_of_the_past",
    "denied",
    "depends",
    "negates",
    "tells",
]

Sign = Literal["changed", "denies", "adds", "depends", "negates", "past", "now", "event"]

#: ``changed``: what is said holds from now on. ``denies``: what stands after it held before.
#: ``adds``: it comes to what held before. ``depends``: it holds under a condition. ``negates``:
#: off, not. ``event``: it happened once. ``past`` and ``now``: what a question asks for.
_SIGNS: Mapping[str, Mapping[Sign, str]] = {
    "English": {
        "changed": "now|nowadays|no longer|anymore|any more|instead|actually|from now on|these days"
        "|since then|lately|as of|changed|switched|moved|replaced|updated|update|increased"
        "|decreased|reduced|raised|lowered|lower|extended|postponed|rescheduled|pushed back"
        "|revised|adjusted|grown|grew|improved|meant|correction|wait|used to|back to|reached"
        "|surpassed|upgraded|swapped|turns out|so far|already|new",
        "denies": "not|no longer|instead of|rather than|never|isn't|wasn't|don't|doesn't|didn't"
        "|used to|from|quit|stopped|left|sold",
        "adds": "also|too|as well|another|besides|both|in addition|one more|other|else"
        "|additionally",
        "depends": "if|when|whenever|while|unless|during|in case|on weekends|at night|except",
        "negates": "not|no|never|off|without|n't|cannot|none|nothing|disable|disabled|stop|stopped"
        "|quit|cancelled|canceled|neither|hardly",
        "past": "used to|before|previously|originally|original|first|at first|formerly|former"
        "|earlier|initially|initial|back then|in the past|once|ago|old|previous|last time"
        "|until|prior",
        "now": "now|current|currently|still|at the moment|these days|today|nowadays|at present"
        "|presently|latest|most recent|most recently|anymore|up to date|right now",
        "event": "yesterday|tonight|last night|last week|last weekend|last month|last year|ago"
        "|this morning|the other day|tomorrow|next week|next weekend|next month|on monday"
        "|on tuesday|on wednesday|on thursday|on friday|on saturday|on sunday|went|happened",
    },
    "German": {
        "changed": "jetzt|nun|nicht mehr|stattdessen|inzwischen|mittlerweile|neuerdings|ab sofort"
        "|eigentlich|geändert|gewechselt|umgezogen|verschoben|ersetzt|erhöht|gesenkt",
        "denies": "nicht|kein|keine|keinen|statt|anstatt|anstelle|nicht mehr",
        "adds": "auch|außerdem|zusätzlich|noch ein|noch eine|ebenfalls",
        "depends": "wenn|falls|während|sobald|außer|nachts",
        "negates": "nicht|kein|keine|keinen|nie|niemals|ohne|aus|ausgeschaltet",
        "past": "früher|vorher|zuvor|ursprünglich|zuerst|damals|ehemals|anfangs|ehemalig",
        "now": "jetzt|nun|aktuell|derzeit|momentan|zurzeit|heute|noch|inzwischen|heutzutage",
        "event": "gestern|morgen|letzte woche|letztes jahr|heute morgen",
    },
    "Spanish": {
        "changed": "ahora|ya no|en vez|en lugar|actualmente|desde ahora|cambié|cambiado|mudé"
        "|mudado|en realidad|aplazado|subido|bajado",
        "denies": "no|ya no|en vez de|en lugar de|nunca",
        "adds": "también|además|otro|otra",
        "depends": "si|cuando|mientras|salvo|excepto|de noche",
        "negates": "no|nunca|sin|ningún|ninguna|apagado",
        "past": "antes|anteriormente|originalmente|al principio|antiguamente|antiguo",
        "now": "ahora|actualmente|hoy|todavía|aún|hoy en día|en este momento",
        "event": "ayer|mañana|anoche|la semana pasada|el año pasado",
    },
    "French": {
        "changed": "maintenant|désormais|ne ... plus|au lieu|dorénavant|changé|déménagé|remplacé"
        "|en fait|reporté|augmenté|baissé",
        "denies": "ne ... pas|ne ... plus|pas|plutôt que|au lieu de|jamais",
        "adds": "aussi|également|en plus|un autre|une autre",
        "depends": "si|quand|lorsque|pendant que|sauf|la nuit",
        "negates": "ne ... pas|pas|jamais|sans|aucun|aucune|éteint",
        "past": "avant|auparavant|autrefois|à l'origine|au début|jadis|ancien|ancienne",
        "now": "maintenant|actuellement|aujourd'hui|encore|en ce moment|toujours|à présent",
        "event": "hier|demain|la semaine dernière|l'année dernière|ce matin",
    },
    "Italian": {
        "changed": "ora|adesso|non ... più|invece|ormai|cambiato|trasferito|spostato",
        "denies": "non|invece di|mai",
        "adds": "anche|inoltre|un altro|un'altra",
        "depends": "se|quando|mentre|tranne|di notte",
        "negates": "non|mai|senza|nessun|nessuna|spento",
        "past": "prima|in precedenza|originariamente|all'inizio|un tempo",
        "now": "ora|adesso|attualmente|oggi|ancora|in questo momento",
        "event": "ieri|domani|la settimana scorsa|l'anno scorso",
    },
    "Portuguese": {
        "changed": "agora|já não|em vez|atualmente|mudei|mudou|passei|adiado",
        "denies": "não|em vez de|nunca|já não",
        "adds": "também|além disso|outro|outra",
        "depends": "se|quando|enquanto|exceto|à noite",
        "negates": "não|nunca|sem|nenhum|nenhuma|desligado",
        "past": "antes|anteriormente|originalmente|no início|antigamente",
        "now": "agora|atualmente|hoje|ainda|no momento",
        "event": "ontem|amanhã|a semana passada|o ano passado",
    },
    "Dutch": {
        "changed": "nu|niet meer|voortaan|in plaats|inmiddels|tegenwoordig|veranderd|verhuisd",
        "denies": "niet|geen|in plaats van|nooit",
        "adds": "ook|bovendien|nog een",
        "depends": "als|wanneer|terwijl|tenzij|behalve",
        "negates": "niet|geen|nooit|zonder|uit",
        "past": "vroeger|eerder|voorheen|oorspronkelijk|eerst|destijds",
        "now": "nu|momenteel|vandaag|nog|tegenwoordig|op dit moment",
        "event": "gisteren|morgen|vorige week|vorig jaar",
    },
}

#: Words between the two parts of a phrase such as "ne ... plus".
_BETWEEN = r"(?:\W+\w+){0,3}?\W+"
#: Words after one that denies, in which what held before is named.
_DENIED = 3
_WORD = re.compile(r"\w+")
#: What a question shares with the past of another word, and does not ask for it.
_FIRST_NAME = re.compile(r"\bfirst name|\bfirst aid|\bbefore (?:i|we|you) (?:go|leave)\b", re.I)


def tells(text: str, sign: Sign) -> bool:
    """Whether a text has one of the words of a sign, in any language of the table."""
    return _pattern(sign).search(text) is not None


def denied(text: str) -> Iterable[str]:
    """Yield the few words after each that denies, in lower case: what no longer holds."""
    low = text.casefold()
    for found in _pattern("denies").finditer(low):
        for nth, word in enumerate(_WORD.finditer(low, found.end())):
            if nth >= _DENIED:
                break
            yield word[0]


def negates(text: str) -> bool:
    """Whether a text says that something is off, or is not."""
    return tells(text, "negates") or "n't" in text.replace("’", "'")


def adds(text: str) -> bool:
    """Whether a text says that it comes to what was said before."""
    return tells(text, "adds")


def depends(text: str) -> bool:
    """Whether a text holds under a condition that it names."""
    return tells(text, "depends")


def asks_of_the_past(question: str) -> bool:
    """Whether a question asks for how something was; one that asks for now as well does not."""
    if asks_of_now(question) or _FIRST_NAME.search(question):
        return False
    return tells(question, "past")


def asks_of_now(question: str) -> bool:
    """Whether a question asks for how something is now."""
    return tells(question, "now")


@cache
def _pattern(sign: Sign) -> re.Pattern[str]:
    phrases: dict[str, None] = {}
    for language in _SIGNS.values():
        for phrase in language[sign].split("|"):
            phrases[phrase] = None
    longest_first = sorted(phrases, key=len, reverse=True)
    parts = "|".join(map(_part, longest_first))
    return re.compile(rf"(?<!\w)(?:{parts})(?!\w)", re.IGNORECASE)


def _part(phrase: str) -> str:
    return re.escape(phrase).replace(r"\ \.\.\.\ ", _BETWEEN)
