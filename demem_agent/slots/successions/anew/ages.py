"""How old somebody is: "Emma turned 10", "had her 34th birthday", "ist jetzt dreizehn"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from demem_agent.later import pattern
from demem_agent.slots.successions.anew.people import SPEAKER, people
from demem_agent.slots.successions.anew.told import Told
from demem_agent.slots.successions.anew.words import is_supposed, said_now, stems_of
from demem_agent.text.language.number_words import NUMBER, ORDINAL, every_word, number_of_word

__all__ = ["BIRTHDAY", "WORDS_OF_AGES", "ages"]

_WHO = r"(?P<who>(?:[\w'’-]+ ){0,3}?[\w'’-]+)"
_AGE = rf"(?P<age>{NUMBER})"
_YEARS = r"(?: (?:years?(?: old)?|jahre?(?: alt)?|años|ans|anni|anos))"
_DAY = (
    r"(?:today|yesterday|last|this|on|now|already|heute|gestern|am|letzten?|hoy|ayer|el|hier|samedi"
    r"|dimanche|aujourd['’]hui|oggi|ieri|sabato|domenica|hoje|ontem|no)"
)
_AFTER = (
    r"(?=\W*$|[,!;:]|\.(?! ?\w)"
    rf"|{_YEARS}?"
    rf" (?:{_DAY}|and|in|und|y|et|e|geworden)\b"
    rf"|{_YEARS}\b)"
)
_ADVERB = (
    r"(?:(?:just|already|now|finally|seit \w+|gestern|heute|jetzt|nun|schon|endlich|ya|ahora|ayer"
    r"|hoy"
    r"|por fin|maintenant|déjà|enfin|appena|ora|adesso|già|oggi|ieri|já|agora|ontem|hoje"
    r"|finalmente)"
    r" )*"
)
_LEAD = (
    r"(?:(?:today|yesterday|heute|gestern|hoy|ayer|aujourd['’]hui|hier|oggi|ieri|hoje|ontem),? )?"
)
_THEIR = (
    r"(?:her|his|my|their|ihren|seinen|meinen|ihr|sein|sus?|mis?|ses?|son|sa|mes|mon|os seus|os"
    r" meus|i"
    r" suoi|i miei|il suo|os|los|les|i|the)"
)
_TH = r"(?:st|nd|rd|th|\.|º|°|er|ème|e)?"
#: That somebody comes to an age.
_TURNS = (
    rf"^\W*{_LEAD}{_WHO} {_ADVERB}(?:(?:has |is )?(?:just )?turn(?:ed|s|ing)|wurde|wird|(?:ha "
    rf"|acaba"
    rf" de )?cumpl(?:ido|ió|e|ir)|a (?:eu|fêté ses)|vient d(?:['’]avoir|e fêter ses)|fête ses"
    rf"|(?:ha )?"
    rf"comp(?:iuto|ie|ì)|ne (?:fa|compie)|ha fatto|fa|fez|completou|faz)"
    rf" {_ADVERB}{_AGE}{_AFTER}",
    rf"^\W*{_WHO} ist (?:\w+ ){{0,3}}?{_AGE}(?: jahre alt)? geworden\b",
    # a birthday, by its number
    rf"^\W*{_LEAD}{_WHO} (?:just )?(?:had|celebrated|has had|has|hat(?:te)?|feierte?|celebró|ha"
    rf" celebrado)"
    rf" (?:\w+ )??(?:heute |gestern |am \w+ )?{_THEIR} (?P<age>\d{{1,3}}|{ORDINAL}){_TH}(?:"
    rf" (?:birthday|geburtstag|cumpleaños|compleanno"
    rf"|aniversário|bday)|{_AFTER})",
    rf"^\W*{_LEAD}(?:we |wir |on a |nous avons |hemos |abbiamo )?(?:celebrated|feierten|haben|fêté"
    rf"|celebrado|festeggiato|festejámos|celebrámos|celebramos) (?:los |les |i |os |den"
    rf" )?{_AGE}{_TH}"
    rf"(?: (?:ans|años|anni|anos|geburtstag))? (?:de |d['’]|di |von |do |da |del"
    rf" )(?P<who>[\w'’-]+)",
    rf"^\W*{_LEAD}(?:it['’]s |it is |its )?(?P<who>[\w'’-]+(?: [\w'’-]+)?)['’]s"
    rf" (?P<age>\d{{1,3}})(?:st|nd|rd|th) (?:birthday|bday)"
    rf"(?: party)? (?:was|is|yesterday|today)\b",
)
_IS = rf"^\W*{_WHO}(?: {_ADVERB}(?:is|(?<=\bi )am|ist|bin)|['’][sm]) {_ADVERB}{_AGE}{_AFTER}"
_HAS = (
    rf"^\W*(?:{_WHO} )?{_ADVERB}(?:tiene|tengo|a|ha|ho|tem|tenho) {_ADVERB}{_AGE}"
    rf" (?:años|ans|anni|anos)\b",
    rf"^\W*(?P<who>j)['’]ai {_AGE} ans\b",
)
_FORMS = (
    *((pattern(form, re.IGNORECASE), True) for form in _TURNS),
    *((pattern(form, re.IGNORECASE), False) for form in (_IS, *_HAS)),
)
#: Past forms in which a birthday is told, which tell nothing supposed by themselves.
_HAD = pattern(r"\b(?:was|hatte)\b", re.IGNORECASE)
#: Which birthday it is may be told by an ordinal.
BIRTHDAY = frozenset({"birthday", "bday", "geburtstag"})
#: A sentence that tells of it has one of these.
WORDS_OF_AGES = frozenset(
    """is am are s m turned turns turning birthday bday celebrated ist bin wurde wird geworden hatte
    geburtstag feierte tiene tengo cumplió cumplido cumple cumplir celebrado a ai eu fêté fêter
    fête avoir ha ho compiuto compie compì fa fatto festeggiato tem tenho fez faz completou
    festejámos celebrámos""".split()
)


def ages(said: str) -> Iterator[Told]:
    """Yield how old a sentence says that somebody is."""
    for form, comes_to in _FORMS:
        found = form.search(said)
        if found is not None:
            yield from _age(said, found, anew=comes_to or said_now(said))
            return


def _age(said: str, found: re.Match[str], *, anew: bool) -> Iterator[Told]:
    age = number_of_word(found["age"])
    who = people(found.groupdict()["who"] or "")
    supposed = is_supposed(_HAD.sub(" ", said) if anew else said)
    if age is None or who is None or supposed:
        return
    named = who - SPEAKER
    yield Told("age", who, str(age), anew, stems_of(named | every_word(age)))
