"""Dates and amounts that are said to be changed, where the rest is told in other words.

"They changed the flight: I arrive on the 16th" is of "I arrive on the 14th at noon", and "the dose
goes up to 10 mg of cortisone" of "I take 5 mg of cortisone". Both have a value of one kind, and a
word for what it is of; where several earlier sentences do, the latest is meant. The rules know
English, German, Spanish, French and Portuguese, and were written by hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Literal

from demem_agent.later import dataclass, pattern
from demem_agent.slots.successions.anew.words import kin_in
from demem_agent.slots.successions.moved import moved
from demem_agent.slots.successions.subjects import BEINGS
from demem_agent.text.language.languages import language_of_words, stop_words
from demem_agent.text.language.words import stems

__all__ = ["Amended", "amended", "times_in"]

_LANGUAGES = ("english", "german", "spanish", "french", "portuguese", "italian")
Kind = Literal["day", "weekday", "clock", "amount"]

_MONTH = (
    r"(?:jan|feb|fév|mar|mär|apr|avr|abr|mai|may|jui?n|juil|jul|aug|ago|aoû|sep|set|oct|okt|out|nov"
    r"|de[cz]|déc|ene)[a-zéûç]*"
)
_NUMBER = r"\d{1,3}(?:[.,]\d{3})+|\d+(?:[.,]\d+)?"
_KINDS: dict[Kind, re.Pattern[str]] = {
    "day": pattern(
        rf"\b(?:dia|día|le|am|the|el|den|al|au|il) (\d{{1,2}})(?:er|st|nd|rd|th|º)?\b(?![:.]\d|h\d"
        rf"| ?%)"
        rf"|\b(\d{{1,2}})(?:st|nd|rd|th|er|º)?\.?(?: (?:of|de))? {_MONTH}\b"
        rf"|\b{_MONTH} (\d{{1,2}})(?:st|nd|rd|th)?\b(?![:.]\d)|\b(\d{{1,2}})(?:st|nd|rd|th)\b"
    ),
    "weekday": pattern(
        r"\b(mon|tues|wednes|thurs|fri|satur|sun)day\b"
        r"|\b(mon|diens|donners|frei|sams|sonn)tag\b|\b(mittwoch)\b"
        r"|\b(lunes|martes|miércoles|jueves|viernes|sábado|domingo|lundi|mardi|mercredi|jeudi"
        r"|vendredi|samedi|dimanche|lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica)\b"
        r"|\b(segunda|terça|quarta|quinta|sexta)(?:-feira)?\b"
    ),
    "clock": pattern(
        r"\b(\d{1,2}[:h]\d\d)\b|\b(\d{1,2}) ?(?:am|pm|uhr|heures|horas)\b|\bat (\d{1,2})\b"
        r"|\b(?:às|a las|um|à) (\d{1,2})(?:h\b|\b(?![.:h]))"
    ),
    "amount": pattern(
        rf"({_NUMBER}) ?(?:(?P<mg>mg)|(?P<ug>µg|mcg)|(?P<ml>ml)|(?P<pills>tablets?|pills?|drops?"
        r"|tabletten|tropfen|pastillas|gotas|comprimidos?|gouttes|comprimés?)"
        r"|(?P<eur>€|euros?\b|eur\b)|(?P<usd>\$|dollars?\b|dólares)|(?P<gbp>£|pounds?\b|quid\b))"
        rf"|(?:(?P<eur2>€)|(?P<usd2>\$)|(?P<gbp2>£)) ?({_NUMBER})"
    ),
}
_TIMES: tuple[Kind, ...] = ("day", "weekday", "clock")
_EVENT = (
    "date|time|day|flight|train|bus|ferry|appointment|slot|schedule|booking|hour|departure|delivery"
    "|exam|lesson|class|session|visit|interview|check-?up|operation|surgery|inspection|viewing"
)
#: That a date is another one, up to where it is told.
_REDATED = pattern(
    rf"\b(?:changed|moved|switched|rebooked|pushed|shifted) (?:the|my|our) (?:\w+ )?"
    rf"(?:{_EVENT})s?\b"
    rf"|\b(?:{_EVENT})s? (?:was |were |has been |have been |got |is )?(?:changed|rebooked)\b"
    r"|\bchange of plans?\b|\bplans? (?:have |has )?changed\b|\bnew (?:date|time|day)\b"
    # German
    r"|\b(?:termin|datum|flug|zug|bus|uhrzeit|abflug|prüfung|untersuchung|op"
    r"|besichtigung)\b[^.!?:]*"
    r"\b(?:geändert|verlegt|umgebucht|verschoben)\b|\bplanänderung\b|\bneue[rs]? (?:termin|datum)\b"
    r"|\b(?:verlegt|verschoben|umgebucht|geändert)\b(?=\s*[:,;–-])"
    # Spanish
    r"|\b(?:han |ha |he )?(?:cambi|mov|adelant|aplaz|retras)(?:aron|ado|ó|é|ieron|ido)"
    r" (?:la fecha|la hora|el vuelo|el tren|la cita|el día|la consulta|el examen|la visita)\b"
    r"|\bcambio de planes?\b"
    r"|\bnueva (?:fecha|hora)\b"
    # French
    r"|\b(?:changé|décalé|déplacé|reporté|avancé) (?:la date|l['’]heure|le vol|le train"
    r"|le rendez-vous|le jour|la visite|l['’]examen|la consultation)\b"
    r"|\bchangement d(?:e plans?|e programme|['’]horaire)\b|\bnouvelle (?:date|heure)\b"
    # Portuguese
    r"|\b(?:mud|alter|adi|antecip|remarc|troc)(?:ou|aram|ei|ámos) (?:a data|a hora|o voo|o comboio"
    r"|a consulta|o dia|o exame|a visita)\b|\bmudança de planos?\b|\bnova (?:data|hora)\b"
)
_SETS = (
    r"\b(?:goes|go|going|went|gone) (?:up|down|back) to|\b(?:rises|rose|rising|raised|increased"
    r"|increases|increasing|drops|dropped|dropping|falls|fell|lowered|reduced|cut|upped|changed"
    r"|changes|back|down|up) to"
    r"|\b(?:steigt|stieg|sinkt|sank|fällt|fiel|geht) auf"
    r"|\b(?:beträgt|liegt|kostet|ist) (?:jetzt|nun)"
    r"|\b(?:erhöht|gesenkt|reduziert) auf|\bauf"
    r"|\b(?:sube|baja|pasa|subió|bajó|pasó|subido|bajado|pasado|vuelve|aumenta|aumentó) a"
    r"|\b(?:passe|passera|passée?|monte|montée?|descend|augmente|augmentée?|baisse|baissée?|revient"
    r"|tombe) (?:\w+ \w+ )?à"
    r"|\b(?:sobe|desce|passa|subiu|desceu|passou|volta|aumenta|aumentou|baixou) (?:para|a)"
)
#: That an amount is another one, and which.
_SET = pattern(
    rf"(?:{_SETS}) (?:about |around |etwa |unos |environ |cerca de )?"
    rf"(?=[€$£]? ?(?:{_NUMBER}))"
)
#: A time of day, to which something is moved rather than set: "auf 13:10 verschoben".
_CLOCK = pattern(r"\d{1,2}[:h]\d\d\b")
#: What "auf" alone needs behind the amount.
_RAISED = pattern(
    r"\b(?:erhöht|gesenkt|reduziert|gestiegen|gesunken|gefallen|angehoben|hoch|runter)\b"
)
#: What makes another amount, and another date, none: it is past, supposed, or denied.
_NOT_SO = pattern(
    r"\b(?:would|could|should|might|may|if|unless|want|wants|wanted|asked|hope|never|not|n['’]t|was"
    r"|used to|sometimes|vielleicht|würde|könnte|wenn|falls|nicht|nie"
    r"|quizás?|si|quiero|quiere|podría|no|nunca|peut-être|veut|voudrais|pourrait|pas encore|jamais"
    r"|talvez|se|quero|quer|podia|não|nunca)\b"
)
_WISHED = pattern(
    r"\b(?:would|could|should|might|maybe|if|want|wants|hope|asked|can (?:we|you|i)|vielleicht|wenn"
    r"|quizás?|quiero|peut-être|voudrais|talvez|quero|haven['’]t|hasn['’]t|didn['’]t|ob)\b"
)
_PAST = pattern(
    r"\b(?:was|were|went|had|did|paid|took|bought|spent|got|came|arrived|met|saw|born|ago"
    r"|war|waren|hatte|hatten|kam|kostete|zahlte|nahm|geboren|era|fue|fui|llegué|compré|pagué"
    r"|costó|tomé"
    r"|nací|foi|estive|cheguei|comprei|paguei|custou|tomei|nasci|étais|était|avais|avait|née?"
    r"|ai (?:payé|pris|acheté|vu|été)|a coûté)\b"
)
_WORD = pattern(r"[^\W\d_]+")
_CLAUSE = pattern(r"[,;:.!–]")
#: A name inside a sentence; in German every noun has a capital.
_NAME = pattern(r"(?<=[\w,;)] )[^\W\d_a-zà-ÿ][\w’'-]+|^[A-Z]\w+(?=['’]s\b)")
_GERMAN_NAME = pattern(r"\b(?:von|für|bei) ([A-ZÄÖÜ]\w+)")
_WEEKDAYS_AND_MONTHS = pattern(
    rf"^(?:{_MONTH}|\w+day|\w+tag|mittwoch|i|lunes|martes|lundi|mardi)$", re.IGNORECASE
)
#: What tells nothing of what a value is of.
_LIGHT = frozenset(
    """date time day days month dose dosage price amount new now change changed changes plan plans
    goes back down they moved today tomorrow week per from instead doctor datum zeit tag uhr preis
    menge dosis neu neue neuer jetzt nun geändert termin monat woche ab statt arzt ärztin fecha
    hora día mes precio cantidad nueva ahora cambio cambiado semana planes desde médico médica
    heure jour mois prix montant nouvelle nouveau maintenant changement changé semaine partir
    médecin data dia mês preço quantidade nova agora mudança mudou mudaram afinal mana passe passa
    passer baisse monte wird wurde geht kostet prices sube sobe steigt euro euros dollar dollars
    pound pounds mg ml pas paso""".split()
)
#: Of an authority that a date is told by there is one.
_TELLS_DATES = frozenset("doctor médica médico médecin ärztin arzt".split())


#: What is moved, and is no word for a time there.
_EVENTS = frozenset(["termin"])
#: Characters of the word before a time that is told.
LEADS = 4


@dataclass(frozen=True, slots=True)
class Amended:
    """That a date or an amount is another one than was told.

    Attributes:
        kinds: which; ``who``: "", nobody else than the earlier sentence is of.
        words: words and stems of what it is of, of which an earlier sentence has one.
        of: words of what an amount is of, which the earlier one has all.
        names: of people and things in it, which the earlier one has all.
        values: by kind, what it is now.
        kin: the relations in it, which the earlier one has and no other; None where any may be.
    """

    kinds: tuple[Kind, ...]
    who: str
    words: frozenset[str]
    names: frozenset[str]
    of: frozenset[str]
    values: tuple[tuple[Kind, frozenset[str]], ...]
    kin: frozenset[str] | None = None

    def ends(self, said: str, held: frozenset[str]) -> bool:
        """Whether an earlier sentence tells the value that is changed by this."""
        low = said.lower()
        if _PAST.search(low) or not self._sets_another(low):
            return False
        plain = set(_WORD.findall(low))
        if self.kin is not None and kin_in(low) != self.kin:
            return False
        if not self.of <= plain:
            return False
        return self.names <= plain and not self.words.isdisjoint(plain | held)

    def _sets_another(self, low: str) -> bool:
        """Whether some value is of the same kind, and none of these."""
        for kind, now in self.values:
            before = _values(low, kind)
            if before:
                return now.isdisjoint(before) and _measure(now) == _measure(before)
        return False


def amended(said: str) -> Amended | None:
    """Return which date or amount a sentence says to be another one; None where it does not."""
    low = said.lower()
    set_to = _SET.search(low)
    amount = None if set_to is None or _NOT_SO.search(low) else _amount(said, low, set_to)
    if amount is not None or (set_to is not None and not _CLOCK.match(low[set_to.end() :])):
        return amount
    if _WISHED.search(low):
        return None
    redated = _REDATED.search(low)
    values = _times(low[redated.end() :]) if redated is not None else ()
    if values:
        return _made(said, values, _TELLS_DATES)
    event = moved(low)
    if event is None:
        return None
    of = frozenset(_topic(event.what, _TELLS_DATES | _EVENTS))
    values = _times(low[event.to - LEADS :])
    made = _made(said, values, _TELLS_DATES | _EVENTS, of) if values and of else None
    return None if made is None else replace(made, kin=kin_in(low))


def _times(told: str) -> tuple[tuple[Kind, frozenset[str]], ...]:
    """Return by kind the times that a text in lower case tells."""
    found: dict[Kind, frozenset[str]] = {kind: _values(told, kind) for kind in _TIMES}
    return tuple((kind, values) for kind, values in found.items() if values)


def times_in(low: str) -> frozenset[str]:
    """Return the days and times of day that a text in lower case names."""
    return frozenset().union(*(_values(low, kind) for kind in _TIMES))


def _amount(said: str, low: str, set_to: re.Match[str]) -> Amended | None:
    told = low[set_to.end() :]
    amount = _KINDS["amount"].match(told)
    if amount is None or (set_to[0].split()[0] == "auf" and not _RAISED.search(told)):
        return None
    values: tuple[Kind, frozenset[str]] = ("amount", _values(amount[0], "amount"))
    of = _CLAUSE.split(low[: set_to.start()])[-1]
    return _made(said, (values,), frozenset(), frozenset(_topic(of, frozenset())))


def _made(
    said: str,
    values: tuple[tuple[Kind, frozenset[str]], ...],
    also: frozenset[str],
    of: frozenset[str] = frozenset(),
) -> Amended | None:
    plain = _WORD.findall(said.lower())
    language = language_of_words(plain)
    topic = _topic(said, also)
    if not topic:
        return None
    words = set(topic)
    for one in _LANGUAGES:  # a short earlier sentence may be taken to be in any
        words.update(stems(topic, one))
    kinds: tuple[Kind, ...] = tuple(kind for kind, _ in values)
    return Amended(kinds, "", frozenset(words), frozenset(_others(said, language)), of, values)


def _topic(said: str, also: frozenset[str]) -> list[str]:
    light = (_LIGHT - also) | _stop_words()
    plain = _WORD.findall(said.lower())
    return [word for word in plain if word not in light and not _named_time(word)]


def _others(said: str, language: str) -> Iterator[str]:
    """Yield who and what is named, and whose relation or animal a sentence is of."""
    names = _GERMAN_NAME if language == "german" else _NAME
    for name in names.findall(said):
        for word in _WORD.findall(name.lower()):
            if len(word) > 1 and not _named_time(word):
                yield word
    yield from BEINGS.intersection(_WORD.findall(said.lower()))


def _named_time(word: str) -> bool:
    return _WEEKDAYS_AND_MONTHS.match(word) is not None


def _values(low: str, kind: Kind) -> frozenset[str]:
    """Return the values of a kind in a text in lower case; of amounts the measure stands ahead."""
    found = set()
    for one in _KINDS[kind].finditer(low):
        parts = [part for part in one.groups() if part]
        if kind == "amount":
            measure = next(name for name, part in one.groupdict().items() if part)
            number = next(part for part in parts if part[0].isdigit())
            found.add(f"{measure.rstrip('2')} {number}")
        else:
            found.add(parts[0])
    return frozenset(found)


def _measure(values: frozenset[str]) -> frozenset[str]:
    """Return the measures of amounts, if they are."""
    return frozenset(value.split()[0] for value in values if " " in value)


@cache
def _stop_words() -> frozenset[str]:
    return frozenset().union(*map(stop_words, _LANGUAGES))
