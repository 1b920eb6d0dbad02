"""With whom somebody has a contract: "I've switched to A1" after "my phone plan is with"
" Magenta"."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from demem_agent.later import pattern
from demem_agent.slots.successions.anew.told import Told
from demem_agent.slots.successions.anew.words import (
    NAME,
    every_stem,
    is_of_others,
    is_supposed,
    said_now,
    stems_of,
    telling,
)

__all__ = ["WORDS_OF_PROVIDERS", "providers"]

#: By what is provided, the words for it.
_OF = {
    "mobile": "phone mobile cell sim handy handyvertrag handyanbieter mobilfunk"
    " mobilfunkvertrag móvil celular operadora forfait portable opérateur cellulare"
    " operatore telefonino telemóvel",
    "internet": "internet wifi broadband wlan fibra fibre fibra",
    "bank": "bank banks account konto hausbank banco cuenta banque compte banca conto",
    "energy": "electricity power energy strom gas stromanbieter luz electricidad électricité luce"
    " elettricità energia gaz",
    "insurance": "insurance insured versicherung versichert seguro aseguradora assurance assuré"
    " assurée assureur assicurazione assicurato assicurata",
}
_OF_WORD = {word: what for what, words in _OF.items() for word in words.split()}
#: Well-known ones, so that it need not be told what they provide.
_KNOWN = {
    "mobile": "a1 magenta drei spusu vodafone o2 telekom congstar movistar"
    " orange yoigo másmóvil masmovil pepephone digi jazztel free sfr bouygues sosh windtre"
    " iliad fastweb verizon t-mobile at&t ee giffgaff sunrise swisscom lebara"
    " lycamobile proximus kpn telenet ",
    "bank": "erste raiffeisen bawag ing n26 revolut sparkasse volksbank commerzbank comdirect dkb"
    " postbank santander bbva caixabank sabadell openbank bankinter bnp lcl boursorama"
    " boursobank fortuneo crédit unicredit intesa fineco bpm illimity monzo starling barclays hsbc"
    " lloyds natwest ubs wise postfinance",
    "energy": "edf engie octopus verbund enel eni endesa iberdrola naturgy eon vattenfall enbw"
    " totalenergies ovo edp lichtblick yello repsol plenitude holaluz ",
    "insurance": "allianz generali axa uniqa huk ergo mapfre maif macif matmut groupama geico"
    " aviva admiral unipol aok barmer dak helvetia",
}
_DOMAINS = {brand: what for what, brands in _KNOWN.items() for brand in brands.split()}
#: A sentence that tells of one has one of these.
WORDS_OF_PROVIDERS = frozenset(_OF_WORD).union(
    _DOMAINS,
    """with from by via bei von über con de chez avec par da do com switched changed moved signed
    pris genommen taken took cogido preso cancelled canceled dropped left ditched gekündigt
    baja dejé cancelé dejado résilié quitté disdetto lasciato cancelei cancelámos deixei
    passata passato pasado est""".split(),
)
_ANY = "contract provider with bei anbieter vertrag contrato compañía chez contratto"
#: What may stand before it, so that it is of the speaker.
_LEAD = (
    r"(?i:(?:^|[,;.] )\W*(?:(?:so|ok|okay|btw|fyi|update|well|and|also|finally|now|just|i|we"
    r"|i['’]ve|i['’]m|we['’]ve|we['’]re|have|am|are|ich|wir|hab|habe|haben|bin|sind|jetzt|nun"
    r"|seit \w+|ahora|ya|yo|me|nos|he|hemos|estoy|estamos|soy|j['’]ai|je|on|nous|suis|sommes|a"
    r"|avons|maintenant|ho|abbiamo|sono|siamo|ora|adesso|io|noi|mi|ci|agora|estou"
    r"|cambiato)\b[, ]*)*)"
)
_SWITCHED = (
    r"(?:switch(?:ed|ing)|changed|mov(?:ed|ing)|ported|transferred|gewechselt|wechsle"
    r"|cambiad[oa]|cambié|pasad[oa]|pasé|mudad[oa]|changé|passée?s?|basculé|cambiato|passat[oa]"
    r"|mudei)"
)
_TO = (
    r"(?:to|over to|across to|zu[rm]?|nach|a|al|à|chez|pour|con|per|para)"
    r"(?: (?:the|der|die|la|le|el|il))?"
)
_WITH = r"(?:with|bei|bei der|beim|con|chez|avec|de|von|from)"
_BRAND = rf"(?P<name>{NAME}|[A-Z]\d)"
_ENDS = (
    r"(?=\W*$|[,.!;]| (?:now|last|since|for|yesterday|today|this|because|jetzt|seit|wegen|für|ahora"
    r"|por|desde|para|maintenant|depuis|pour|ora|adesso|da|per|and|und|y|et|e)\b)"
)
_MY = "my|our|the|mi|nuestr[oa]|mon|ma|il mio|la mia|i"
_ANEW = (
    pattern(
        rf"{_LEAD}(?i:{_SWITCHED})(?i: (?:{_MY})?"
        rf" ?(?P<what>[\w' -]{{0,30}}?))?(?i: {_TO}) {_BRAND}{_ENDS}"
    ),
    pattern(rf"{_LEAD}(?i:(?:zur|zum|zu|nach)) {_BRAND} (?i:gewechselt)"),
)
_HOLDS = (
    pattern(
        rf"\b(?P<what>(?i:{'|'.join(sorted(_OF_WORD, key=len, reverse=True))}))\b"
        rf"(?i:(?: [\w'’-]+){{0,2}}? (?:{_WITH}|is|are|ist|es|est|è|la|die)(?: (?:the|die|der|el"
        rf"|la|le|il))?) {_BRAND}"
    ),
    pattern(rf"{_LEAD}(?i:{_WITH}) {_BRAND}{_ENDS}"),
)
#: What is somewhere, as well as from somebody.
_DEVICES = frozenset(
    "phone mobile cell handy móvil celular portable cellulare telefonino telemóvel".split()
)
_TERMS = frozenset(
    "contract plan provider vertrag handyvertrag anbieter tarif contrato compañía tarifa abonnement"
    " forfait contratto operatore".split()
)
#: What is provided, whatever it is, in a few words.
_WHAT = r"(?P<what>[^\W\d_][\w'’-]*(?: [\w'’-]+){0,3}?)"
_WHOSE = (
    r"(?i:my|our|the|mein|meine|unser|unsere|der|die|das|den|mi|nuestr[oa]|el|la|los|mon|ma|notre"
    r"|le"
    r"|il|lo|i|mio|mia|nostr[oa]|o|a|os|as|meu|minha|nosso|nossa)"
)
_FROM = r"(?i:with|from|by|via|bei der|bei|von|über|con|del?|chez|avec|par|da|do|com|na|no|per)"
_NOW = r"(?i:now|jetzt|ab jetzt|nun|ahora|ya|maintenant|désormais|ora|adesso|agora|já)"
_RUNS = (
    r"(?i:is|are|comes|come|goes|runs|ist|sind|kommt|läuft|geht|es|está|va|viene|llega|est|passe"
    r"|vient"
    r"|è|arriva|é|vem|vai|fica)"
)
#: The same of whatever is told to be provided.
_HOLDS_ANY = (
    pattern(
        rf"(?:^|[,;.] |\b(?i:and) )\W*(?:{_WHOSE} |(?i:l['’]))?{_WHAT} (?:{_NOW} )?{_RUNS}"
        rf"(?: {_NOW})? {_FROM} {_BRAND}{_ENDS}"
    ),
    pattern(
        rf"\b(?i:get|have|haben|tengo|tenemos|ho|abbiamo|tenho|temos|j['’]ai|on a|avons)"
        rf"(?: {_NOW})? (?:{_WHOSE} |(?i:l['’]))?{_WHAT} {_FROM} {_BRAND}{_ENDS}"
    ),
    pattern(rf"^\W*(?:{_WHOSE} |(?i:l['’]))?{_WHAT} (?i:ce l['’](?:ho|abbiamo)) {_FROM} {_BRAND}"),
    pattern(rf"^\W*{_WHAT} (?i:(?:chez (?:nous|moi) ?)?,? ?c['’]est) {_BRAND}\W*$"),
    pattern(rf"^\W*{_WHOSE} {_WHAT},? (?i:c['’]est|is|ist|es|è|é) {_BRAND}\W*$"),
)
_ANEW_ANY = (
    pattern(
        rf"(?i:{_SWITCHED}|signed up|signed on|gone|pasad[oa]|fatt[oa]|angemeldet|inscrit\w*)"
        rf"(?i: {_TO}| with| bei| con| chez) {_BRAND} (?i:for|für|para|pour|per|con) (?:{_WHOSE} "
        r"|(?i:l['’]))?(?P<what>[^\W\d_][\w'’-]*(?: [\w'’-]+){0,2})"
    ),
    pattern(
        rf"(?i:taken|took|taking|pris|choisi|genommen|cogido|elegido|preso|scelto|escolhemos)"
        rf" {_BRAND} (?i:as|comme|als|como|come) (?:{_WHOSE} )?{_WHAT}(?=\W*$|[,;.]| (?i:instead|à"
        rf" la"
        r" place|now|statt\w*|en su lugar|invece))"
    ),
)
_GOING = pattern(
    rf"\b(?i:going|gone|went|passée?s?|passat[oaie])"
    rf" (?i:with|chez|con) {_BRAND}{_ENDS}"
)
#: That one is left, and who comes after.
_CANCELLED = (
    r"(?:cancelled|canceled|dropped|left|ditched|got rid of|gekündigt|me di de baja de|nos dimos"
    r" de baja"
    r" de|dejé|cancelé|hemos dejado|résilié|quitté|disdetto|lasciato|cancelei|cancelámos|deixei)"
)
_LEFT = (
    pattern(
        rf"(?i:{_CANCELLED}) (?i:the |la |el |le |a |o |il )?(?P<gone>{NAME})[,;:.!–-]+"
        rf" (?P<rest>.+)"
    ),
    pattern(
        rf"^\W*(?P<rest>.+)[,;:.!–-]+ ?(?P<gone>{NAME}) (?i:is|are|ist|wurde|est|è|está)?"
        rf" ?(?i:{_CANCELLED}|over|gone)\W*$"
    ),
)
_COMES = pattern(
    rf"\b(?i:now|with|to|have|jetzt|bei|ahora|con|tenemos|temos|maintenant|chez|adesso|ora|agora)\b"
    rf"[^.!?]*?\b(?<!\bI )(?P<name>{NAME})"
)
#: What is insured, or has its own contract beside another.
_QUALIFIES = frozenset(
    """car house home health dental travel pet life bike auto haus haushalt kranken zahn reise hund
    coche casa hogar salud vida viaje moto voiture maison habitation santé macchina vita carro
    saúde boat van office work büro oficina bureau ufficio escritório tablet""".split()
)
_WORD = pattern(r"[^\W\d_]+")


def providers(said: str) -> Iterator[Told]:
    """Yield with whom a sentence says that its speaker has a contract, and of what."""
    if is_of_others(said) or is_supposed(said):
        return
    for form in _LEFT:
        found = form.search(said)
        come = None if found is None else _COMES.search(found["rest"])
        if found is not None and come is not None and come["name"] != found["gone"]:
            gone = frozenset(found["gone"].lower().split())
            yield Told("provider", frozenset(), come["name"].lower(), True, stems_of(gone), gone)
            return
    for form in _ANEW_ANY:
        found = form.search(said)
        if found is not None:
            yield from _of(found["what"], found["name"], anew=True)
            return
    for form in (*_ANEW, _GOING):
        found = form.search(said)
        if found is not None:
            yield from _with(said, found["name"], anew=True)
            if (what := found.groupdict().get("what")) is not None:
                yield from _of(what, found["name"], anew=True)
            return
    for form in _HOLDS_ANY:
        found = form.search(said)
        if found is not None:
            yield from _of(found["what"], found["name"], anew=said_now(said))
            break
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
    if what is None:
        return
    if _DOMAINS.get(first) == what or _DEVICES.isdisjoint(words) or not _TERMS.isdisjoint(words):
        beside = _QUALIFIES.intersection(words)
        yield Told("provider", beside | {what}, low, anew, _found_by(what))


def _of(phrase: str, name: str, *, anew: bool) -> Iterator[Told]:
    """Yield who provides what is told in a few words."""
    what = telling(phrase)
    if what:
        kinds = {_OF_WORD[word] for word in what if word in _OF_WORD}
        beside = _QUALIFIES.intersection(what)
        found_by = frozenset().union(stems_of(what), *map(_found_by, kinds))
        yield Told("provider", beside | kinds if kinds else what, name.lower(), anew, found_by)


@cache
def _found_by(what: str) -> frozenset[str]:
    """Return by what an earlier sentence is found that tells who provides something."""
    return every_stem(f"{_ANY} {_OF[what]} {_KNOWN.get(what, '')}")
