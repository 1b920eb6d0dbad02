"""With whom somebody has a contract: "I've switched to A1" after "my phone plan is with Magenta"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from demem_agent.later import pattern
from demem_agent.slots.successions.anew.told import Told
from demem_agent.slots.successions.anew.words import (
    NAME,
    is_of_others,
    is_supposed,
    said_now,
    stems_of,
)

__all__ = ["providers"]

#: By what is provided, the words for it.
_OF = {
    "mobile": "phone mobile cell sim provider contract handy handyvertrag handyanbieter mobilfunk"
    " mobilfunkvertrag móvil celular línea operadora compañía forfait portable opérateur cellulare"
    " operatore telefonino telemóvel",
    "internet": "internet wifi broadband wlan fibra fibre fibra",
    "bank": "bank banks account konto hausbank banco cuenta banque compte banca conto",
    "energy": "electricity power energy strom gas stromanbieter luz electricidad électricité luce"
    " elettricità energia gaz",
    "insurance": "insurance insured versicherung versichert seguro aseguradora assurance assuré"
    " assurée assureur assicurazione assicurato assicurata",
}
_OF_WORD = {word: what for what, words in _OF.items() for word in words.split()}
_FOUND_BY = {what: stems_of(words.split()) for what, words in _OF.items()}
#: Well-known ones, so that it need not be told what they provide.
_KNOWN = {
    "mobile": "a1 magenta drei three hot yesss spusu bob vodafone o2 telekom congstar aldi movistar"
    " orange yoigo másmóvil masmovil pepephone digi jazztel free sfr bouygues sosh tim windtre wind"
    " iliad fastweb ho kena meo nos verizon t-mobile at&t ee giffgaff sunrise swisscom salt lebara"
    " lycamobile tesco voda proximus kpn telenet mint cricket",
    "bank": "erste raiffeisen bawag ing n26 revolut sparkasse volksbank commerzbank comdirect dkb"
    " postbank santander bbva caixabank sabadell openbank bankinter bnp lcl boursorama"
    " boursobank fortuneo unicredit intesa fineco bpm illimity monzo starling barclays hsbc lloyds"
    " natwest chase citi ubs wise postfinance",
    "energy": "edf engie octopus verbund enel eni endesa iberdrola naturgy eon vattenfall enbw"
    " totalenergies ovo edp lichtblick yello repsol plenitude holaluz kelag",
    "insurance": "allianz generali axa uniqa huk ergo zurich mapfre maif macif matmut groupama geico"
    " aviva admiral unipol mutua aok barmer dak donau helvetia",
}
_DOMAINS = {
    brand: what for what, brands in _KNOWN.items() for brand in brands.split()
}
#: Of two kinds: what stands first in them counts.
_LEAD = (
    r"^\W*(?:(?:so|ok|okay|btw|fyi|update|well|and|also|finally|now|just|i|we|i['’]ve|i['’]m|we['’]ve"
    r"|we['’]re|have|am|are|i have|i am|ich|wir|hab|habe|haben|bin|sind|jetzt|nun|seit \w+"
    r"|ahora|ya|yo|me|nos|he|hemos|estoy|estamos|soy|j['’]ai|je|on|nous|suis|sommes|a|avons|ai"
    r"|maintenant|ho|abbiamo|sono|siamo|ora|adesso|io|noi|mi|ci|agora|estou|cambiato|passé),? ?)*"
)
_SWITCHED = (
    r"(?:switch(?:ed|ing)|changed|mov(?:ed|ing)|went|gone|ported|transferred|gewechselt|wechsle"
    r"|cambiad[oa]|cambié|pasad[oa]|pasé|mudad[oa]|changé|passée?|basculé|cambiato|passat[oa]|mudei)"
)
_TO = (
    r"(?:to|over to|across to|zu[rm]?|nach|a|al|à|chez|pour|con|per|para)"
    r"(?: (?:the|der|die|la|le|el|il))?"
)
_WITH = r"(?:with|at|bei|bei der|beim|con|chez|avec|à|na|no|de|von|from|mit)"
_BRAND = rf"(?P<name>{NAME}|[A-Z]\d)"
_ENDS = (
    r"(?=\W*$|[,.!;]| (?:now|last|since|for|yesterday|today|this|because|jetzt|seit|wegen|für|ahora"
    r"|por|desde|para|maintenant|depuis|pour|ora|adesso|da|per|and|und|y|et|e)\b)"
)
_ANEW = (
    pattern(
        rf"{_LEAD}(?i:{_SWITCHED})(?i: (?:my|our|the|mi|nuestr[oa]|mon|ma|il mio|la mia|i)?"
        rf" ?(?P<what>[\w' -]{{0,30}}?))?(?i: {_TO}) {_BRAND}{_ENDS}".replace("_LEAD", "")
    ),
    pattern(rf"{_LEAD}(?i:(?:zur|zum|zu|nach)) {_BRAND} (?i:gewechselt)"),
    pattern(rf"{_LEAD}(?i:{_WITH}) {_BRAND}{_ENDS}"),
)
_HOLDS = (
    pattern(
        rf"\b(?P<what>(?i:{'|'.join(sorted(_OF_WORD, key=len, reverse=True))}))\b"
        rf"(?i:[^.!?,;\d]{{0,25}}? (?:{_WITH}|is|are|ist|es|est|è|la|die)(?: (?:the|die|der|el|la|le|il))?) {_BRAND}"
    ),
    pattern(rf"{_LEAD}(?i:{_WITH}) {_BRAND}{_ENDS}"),
)
_WORD = pattern(r"[^\W\d_]+")


def providers(said: str) -> Iterator[Told]:
    """Yield with whom a sentence says that its speaker has a contract, and of what."""
    if is_of_others(said) or is_supposed(said):
        return
    for form in _ANEW[:2]:
        found = form.search(said)
        if found is not None:
            yield from _with(said, found["name"], anew=True)
            return
    for form in _HOLDS:
        found = form.search(said)
        if found is not None:
            yield from _with(said, found["name"], anew=said_now(said))
            return


def _with(said: str, name: str, *, anew: bool) -> Iterator[Told]:
    """Yield what is provided: as it is told, or by the name of who provides it."""
    low = name.lower()
    words = _WORD.findall(said.lower())
    told = [_OF_WORD[word] for word in words if word in _OF_WORD and word not in low.split()]
    first = low.split()[0]
    what = _DOMAINS.get(first) if not told else told[0]
    if low.startswith("crédit"):
        what = "bank"
    if what is not None:
        yield Told("provider", frozenset([what]), low, anew, _FOUND_BY[what])
