"""Attributes of which somebody has one at a time: told again with another value, it has changed.

"My PIN is 4417" and, later, "My PIN is 4471". So it is of a few nouns alone, which are named here,
and where both sentences say nothing but the value. Two meetings, bookings or codes stand beside
each other, and so do the passwords of two things. The rules know English, German, Spanish, French
and Portuguese.
"""

from __future__ import annotations

import re

from demem_agent.later import dataclass, pattern

__all__ = ["Attribute", "attribute", "restates"]

#: What somebody or something has one of at a time, as far as it is told whose it is.
_ONE = (
    # English
    "pin|password|passcode|phone number|mobile number|room number|licen[cs]e plate|number plate"
    "|address|postcode|zip code|dose|dosage|weight|shoe size|due date|username|deductible"
    "|(?:gate|door|alarm|entry|access|safe|lock) code"
    # German
    "|passwort|telefonnummer|handynummer|zimmernummer|kennzeichen|adresse|postleitzahl|dosis"
    "|gewicht|schuhgröße|türcode|geburtstermin"
    # Spanish
    "|contraseña|número de teléfono|matrícula|dirección|código postal|peso|fecha de parto"
    # French
    "|mot de passe|code pin|numéro de téléphone|plaque|code postal|poids|pointure|digicode"
    # Portuguese
    "|palavra-passe|senha|número de telefone|número de telemóvel|morada|endereço|data do parto"
)
#: What there is one of even where that is not told.
_ALONE = "rent|salary|mortgage|miete|gehalt|alquiler|sueldo|loyer|salaire|renda|aluguel|salário"
_OWN = (
    "my|our|meine?|unsere?|mi|nuestr[oa]|mon|ma|notre|o meu|a minha|meu|minha|o nosso|a nossa|nosso"
    "|nossa"
)
_THE = "the|der|die|das|el|la|le|o|a"
_IS = "is|ist|es|est|é|lautet|beträgt"
_NOW = "now|jetzt|nun|ahora|maintenant|désormais|agora"
_OF = "of|for|at|to|von|für|zum|zur|del?|du|pour|do|da|para"
_TELLS = pattern(
    r"^\W*(?:(?:and|so|ok|okay|fyi|btw|update|et|und|y|e)\b[,:]? )?"
    rf"(?:(?P<own>{_OWN}) |(?:{_THE}) |l['’])?"
    rf"(?P<beside>(?:[\w'’-]+ ){{0,3}}?)(?:(?P<one>{_ONE})|(?P<alone>{_ALONE}))"
    rf"(?P<of>(?: (?:{_OF}) [^.!?:;,=]{{1,40}}?)?)"
    rf"(?: (?:{_IS})(?: (?:{_NOW}))?| ?[:=]) (?P<value>[^!?;]{{1,60}}?)(?:,? (?:{_NOW}))?[.!]*$",
    re.IGNORECASE,
)
_WEIGHS = pattern(
    r"^\W*(?:i (?:now )?weigh|ich wiege|peso|je pèse|eu peso)(?: \w+)? (?P<value>\d[^!?;]{1,16}?)"
    rf"(?:,? (?:{_NOW}))?[.!]*$",
    re.IGNORECASE,
)
_PER = (
    r"(?:a|an|per|/|pro|im|al|por|par) ?(?:month|week|year|day|hour|monat|woche|jahr|tag|mes|semana"
    r"|año|día|mois|semaine|an|jour|mês|ano|dia)"
)
_UNIT = (
    r"€|\$|£|%|euros?|eur|dollars?|pounds?|quid|chf|kgs?|kilos?|lbs?|stone|mg|µg|g|ml|drops|tablets"
    r"|gouttes|gotas|tropfen"
)
_MONTH = (
    r"(?:jan|feb|fév|mar|mär|apr|avr|abr|ma[iy]|jui?n|jul|juil|ju[ln]h|aug|ago|aoû|sep|set|oct|okt"
    r"|out|nov|de[czt]|ene|dez|déc)\w*"
)
#: What a value may be: an amount, a code or number, a date, or a street with its number.
_VALUES = tuple(
    pattern(rf"^(?:{one})$", re.IGNORECASE)
    for one in (
        rf"(?:(?:about|around|etwa|unos|environ|cerca de) )?[€$£]?\d[\d.,]*(?: ?(?:{_UNIT}))?"
        rf"(?: (?:net|netto|neto|brut|gross|warm|kalt))?(?: {_PER})?",
        r"[^\s\d]*\d\S*",
        r"\+?\d(?:[ ./()-]{0,2}\d){5,14}",
        rf"(?:(?:the|on|am|le|el|dia|día) )?\d{{1,2}}(?:st|nd|rd|th|er|\.)?(?: (?:of|de))? {_MONTH}"
        r"(?: \d{4})?",
        rf"{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?",
    )
)
_STREET = pattern(
    r"^\d+\w?,? (?:[\w'’.-]+ ){0,3}[A-Z][\w'’.-]+\b[^.]*$|^(?:[A-Z][\w'’.-]+ )+\d+\w?$"
)
_WORD = pattern(r"[^\W_]+")
_DIGIT = pattern(r"\d")
#: What tells no thing from another.
_FREE = frozenset(
    """new current neue neues neuer aktuelle nueva nuevo actual nouveau nouvelle actuel nova novo
    atual the der die das dem la el le l o a of von for für zum zur de del du do da pour para to
    at""".split()
)
_MEASURES = frozenset(
    """euro euros eur dollar dollars pound pounds quid chf kg kgs kilo kilos lb lbs stone mg µg g ml
    drops tablets month week year day hour monat woche jahr tag mes semana año día mois semaine an
    jour mês ano dia net netto neto brut gross warm kalt""".split()
)
#: Whose, without a name: that may be anybody's.
_THEIRS = frozenset(
    "his her their its sein seine ihr ihre su sus son sa ses leur leurs seu sua dele dela".split()
)


@dataclass(frozen=True, slots=True)
class Attribute:
    """The value of something that there is one of: ``what`` it is, in words, and the value."""

    what: frozenset[str]
    value: str


def attribute(said: str) -> Attribute | None:
    """Return the one value that a sentence tells of something, and nothing else; None otherwise."""
    weighs = _WEIGHS.match(said)
    if weighs is not None:
        return _valued(frozenset(["weight", "own"]), weighs["value"])
    found = _TELLS.match(said)
    if found is None:
        return None
    noun = found["one"] or found["alone"]
    beside = _words(f"{found['beside']} {found['of']}") - _FREE
    if not _THEIRS.isdisjoint(beside):
        return None
    if found["own"]:
        beside |= {"own"}
    elif not (beside or found["alone"]):
        return None  # the password of anything
    return _valued(beside | {" ".join(noun.lower().split())}, found["value"])


def restates(earlier: Attribute | None, later: Attribute | None) -> bool:
    """Whether a later value takes the place of an earlier one of the same thing."""
    if earlier is None or later is None or earlier.what != later.what:
        return False
    if _WORD.findall(earlier.value) == _WORD.findall(later.value):
        return False
    return _in_one_measure(_words(earlier.value), _words(later.value))


def _valued(what: frozenset[str], said: str) -> Attribute | None:
    value = said.strip().strip("\"'“”«».")
    is_one = any(form.match(value) for form in _VALUES) or _STREET.match(value) is not None
    return Attribute(what, value.lower()) if is_one and _DIGIT.search(value) else None


def _in_one_measure(old: frozenset[str], new: frozenset[str]) -> bool:
    """Whether no unit of the one stands in the place of another of the other."""
    return not ((old - new) & _MEASURES and (new - old) & _MEASURES)


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))
