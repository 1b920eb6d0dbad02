"""Words of saying that something holds from now on, of whom it is, and numbers; by language."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from demem_agent.later import pattern
from demem_agent.slots.successions.subjects import BEINGS
from demem_agent.text.language.languages import stop_words
from demem_agent.text.language.words import stems

__all__ = [
    "AMOUNT",
    "MONTH",
    "NAME",
    "NOW",
    "SUM",
    "TITLE",
    "every_stem",
    "is_of_others",
    "is_supposed",
    "kin_in",
    "number",
    "said_now",
    "stems_of",
    "telling",
    "written",
]

_LANGUAGES = ("english", "german", "spanish", "french", "italian", "portuguese")
MONTH = (
    r"(?:jan(?:uar[y]?|uary)?|feb(?:ruar[y]?)?|mar(?:ch|zo)?|apr(?:il|ile)?|may|june?|july?"
    r"|aug(?:ust)?|sept?(?:ember)?|o[ck]t(?:ober)?|nov(?:ember)?|de[cz](?:ember)?|januar|februar"
    r"|märz|mai|juni|juli|enero|febrero|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre"
    r"|diciembre|janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre"
    r"|gennaio|febbraio|maggio|giugno|luglio|settembre|ottobre|novembre|dicembre"
    r"|janeiro|fevereiro|março|maio|junho|julho|setembro|outubro|novembro|dezembro)(?!\w)"
)
#: That something holds from now on.
NOW = (
    r"now|nowadays|these days|from now on|by now|as of (?:now|today)"
    r"|jetzt|nun|inzwischen|mittlerweile|neuerdings|ab sofort"
    r"|ahora|ya|actualmente|desde ahora"
    r"|maintenant|désormais|dorénavant"
    r"|ora|adesso|ormai|agora|já|atualmente"
)
_NOW = pattern(
    rf"\b(?:{NOW})\b"
    r"|\b(?:from|since|as of|starting|ab|seit|desde|a partir de|dès|à partir de|depuis|en|da|dal"
    rf"|dalla|a partir da) (?:{MONTH}|\w+day|\w+tag|lunes|martes|lundi|mardi|lunedì|martedì|today"
    r"|heute|hoy|aujourd'hui|oggi|hoje|next month|next year)\b",
    re.IGNORECASE,
)
TITLE = (
    r"(?:dr|mr|mrs|ms|miss|prof|frau|herrn?|doktor|doctora?|docteur|dottore?|dottoressa|señora?"
    r"|monsieur|madame|mme|signora?|sra?|dra|an?|the|der|die|el|la|le|il|lo|un|une|una)\.?"
)
#: Somebody or something by name.
NAME = r"[A-ZÀ-Ý][\w'’&-]*(?: (?:(?i:de|di|du|la|von|&) )?[A-ZÀ-Ý][\w'’&-]*){0,2}"
_UNIT = r"€|\$|£|euros?|eur|dollars?|pounds?|quid|chf|bucks"
_PER = (
    r"(?:an?|per|/|pro|im|al|por|par|each|every) ?(?:month|week|year|monat|woche|jahr|mes|semana"
    r"|año|mois|semaine|an|mese|settimana|anno|mês|ano)"
)
_NUMBER = r"\d{1,3}(?:[.,]\d{3})+(?![.,]?\d)|\d+(?:[.,]\d{1,2})?(?!\d)"
AMOUNT = rf"(?:[€$£] ?)?(?P<amount>{_NUMBER})(?P<unit> ?(?:{_UNIT})(?!\w))?(?P<per> ?(?:{_PER})\b)?"
#: The same where no part of it is looked for.
SUM = AMOUNT.replace("?P<amount>", "?:").replace("?P<unit>", "?:").replace("?P<per>", "?:")
#: That something is only supposed, wished, past or denied.
_SUPPOSED = pattern(
    r"\b(?:if|unless|would|could|should|might|maybe|perhaps|wish\w*|hope|hoping|want|wants|wanted"
    r"|thought (?:about|of)|thinking|considering|almost|nearly|never|not|dream\w*|was|were|used to"
    r"|back in|ago|imagine|when (?:i|we) (?:was|were)|asked|plan(?:s|ning)? to|love to|like to|once"
    # German
    r"|wenn|falls|würde\w*|wäre\w*|könnte\w*|sollte\w*|möchte\w*|ich will|will ich|wollen"
    r"|vielleicht|fast|beinahe|nie|niemals|nicht|kein\w*|war|waren|damals|früher|überleg\w*|hoff\w*"
    # Spanish
    r"|ojalá|quizás?|tal vez|podría\w*|debería\w*|quisiera|quiero|gustaría|casi|nunca|no|era"
    r"|antes|hace \w+ (?:años|meses)|pensado|pensando"
    # French
    r"|peut-être|voudrais|aimerais|veux|pourrait|devrait|serait|presque|jamais|pas|était|étais"
    r"|avant|il y a \w+ (?:ans|mois)|failli|pensé"
    # Italian
    r"|magari|forse|vorrei|voglio|potrebbe|dovrebbe|sarebbe|quasi|non|era|ero|prima"
    r"|\w+ (?:anni|mesi) fa|pensato|pensando"
    # Portuguese
    r"|talvez|queria|quero|poderia|deveria|seria|quase|nunca|não|antes)\b"
    r"|(?:^\W*|, )s(?:i (?!chiama)|e (?:l['’]|[a-z]{1,3} ))|\bs['’]il|n['’]t\b|\bn['’]|\?",
    re.IGNORECASE,
)
#: Somebody else than the speaker, in languages of which ``BEINGS`` has few.
_RELATIONS = BEINGS | frozenset(
    """suegra suegro tía tío prima primo abuela abuelo sobrina sobrino novia novio oncle tante
    cousine cousin belle-mère beau-père copine copain sorella fratello madre padre moglie marito
    figlio figlia zio zia cugino cugina nonno nonna amico amica fidanzata fidanzato suocera suocero
    vicina vicino cane gatto gatta mamma papà oma opa mama mutti tante onkel kollege kollegin
    nachbarin cousine neffe nichte schwiegermutter avó avô tia tio colega gata vet tierarzt
    veterinario vétérinaire""".split()
) - {"boss", "manager", "chef", "chefin", "chefe", "jefe", "patron", "teacher", "neighbour"} - {
    "neighbor",
    "vecino",
    "nachbar",
    "voisin",
    "voisine",
    "vizinho",
    "nachbarin",
    "roommate",
    "flatmate",
}
_THEIRS = frozenset(
    """his her their seine seinen seiner seinem ihre ihrem ihren su sus leur leurs suo sua suoi sue
    dele dela seu""".split()
)
_PRONOUNS = _THEIRS | frozenset("she him ihm ihn él ella ellos ellas elle elles ele ela".split())
#: "he", which is "I have" in Spanish.
_HE = pattern(r"(?<!\bme )(?<!\byo )\bhe\b(?! \w+(?:do|cho|to)\b)", re.IGNORECASE)
#: "son", which is "are" in Spanish.
_ARE = pattern(r"\b(?:ya|ahora|que|y) son\b|\bson (?=ya\b|ahora\b|\d|de\b)")
_WORD = pattern(r"[^\W\d_]+")
_WORD_OR_NUMBER = pattern(r"[^\W\d_]+|\d+")
#: What tells nothing of what a value is of.
_FREE = frozenset(
    """new current now my our neue neuer neues neuen jetzt nueva nuevo nouveau nouvelle nouvel nuova
    nuovo ahora maintenant adesso ora still noch encore aún todavía ancora month week year monat mes
    mois mese just also so ok btw fyi update costs price prices cost kosten preis precio prix prezzo
    fees fee""".split()
)


def said_now(said: str) -> bool:
    """Whether a sentence says that something holds from now on."""
    return _NOW.search(said) is not None


def is_supposed(said: str) -> bool:
    """Whether a sentence is of what is only supposed, wished or long past, or denies something."""
    return _SUPPOSED.search(said) is not None


def is_of_others(said: str) -> bool:
    """Whether a sentence has somebody else in it than its speaker: a relation or a pronoun."""
    words = _WORD.findall(_ARE.sub(" ", said.lower()))
    if not (_RELATIONS.isdisjoint(words) and _PRONOUNS.isdisjoint(words)):
        return True
    return "he" in words and _HE.search(said) is not None


def kin_in(said: str) -> frozenset[str]:
    """Return the relations and animals that a sentence names."""
    return _RELATIONS.intersection(_WORD.findall(said.lower()))


def telling(phrase: str) -> frozenset[str]:
    """Return the words of a phrase that tell what it is of; whose, where that is not the speaker.

    Months and weekdays tell nothing.
    """
    words = _WORD_OR_NUMBER.findall(phrase.lower())
    found = {word for word in words if word not in _light() and not _MONTH_OR_DAY.match(word)}
    found.update(word for word in words if word in _THEIRS)
    return frozenset(found)


_MONTH_OR_DAY = pattern(rf"^(?:{MONTH}|\w+day|\w+tag)$", re.IGNORECASE)


@cache
def every_stem(words: str) -> frozenset[str]:
    """Return words, given apart by spaces, and their stems in each language."""
    return stems_of(tuple(words.split()))


def stems_of(words: Iterable[str]) -> frozenset[str]:
    """Return words and their stems in each language: of few it is not told which they are in."""
    each = list(words)
    found = set(each)
    for language in _LANGUAGES:
        found.update(stems(each, language))
    return frozenset(found)


def number(text: str) -> str:
    """Return a number as it is compared: ``1.500`` and ``1500`` are one, and 29,90 is 29.9."""
    digits = text.replace(" ", "")
    for mark in ".,":
        head, _, tail = digits.rpartition(mark)
        if head and len(tail) == 3:
            digits = head + tail
    return written(float(digits.replace(",", ".")))


def written(value: float) -> str:
    """Return a number as it is compared."""
    return f"{round(value, 2):.15g}"


@cache
def _light() -> frozenset[str]:
    return _FREE.union(*map(stop_words, _LANGUAGES)) - _THEIRS
