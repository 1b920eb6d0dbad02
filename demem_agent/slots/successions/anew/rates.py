"""What somebody asks for a measure of what they sell: "Kerling raises prices: 94 per 100 gram".

What is sold is named where the price was first told, and not again where it rises: the two have the
seller and the measure in common.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from demem_agent.later import pattern
from demem_agent.slots.successions.anew.told import Told
from demem_agent.slots.successions.anew.words import (
    AMOUNT,
    MONTH,
    NAME,
    is_supposed,
    number,
    stems_of,
)

__all__ = ["WORDS_OF_MEASURES", "rates"]

#: By one name, what something is measured by.
_MEASURES = {
    "g": "g gram grams gramm gramme grammes grammo grammi gramo gramos gramas",
    "kg": "kg kilo kilos kilogram kilograms kilogramm chilo chili",
    "l": "l litre litres liter liters litro litri litros",
    "m": "m metre metres meter meters metro metri metros mètre mètres",
    "hour": "hour hours stunde stunden uur hora horas heure heures ora ore",
    "piece": "piece pieces stück stuk stuks pieza piezas pièce pièces pezzo pezzi",
}
_OF_WORD = {word: unit for unit, words in _MEASURES.items() for word in words.split()}
#: A sentence that tells of it has one of these.
WORDS_OF_MEASURES = frozenset(_OF_WORD) - {"m", "l", "ore", "ora"}
_UNITS = "|".join(sorted(_OF_WORD, key=len, reverse=True))
_PER = (
    r"(?:(?:an?|per|pro|je|por|par|les|the|al|alla|la|el|le|il) |/ ?|all['’]|l['’])"
    rf"(?P<many>\d+ ?)?(?P<measure>{_UNITS})(?!\w)"
)
_SUM = AMOUNT.replace("(?P<per>", "(?:")
_COSTS = (
    r"(?:costs?|is|are|kostet|kosten|kost|cuestan?|coûte(?:nt)?|costa(?:no)?)"
    r"(?: (?:now|jetzt|nu|about))?"
)
_AT = r"(?:at|from|with|bei|beim|bij|en|con|chez|da|dal|dalla|presso)"
_WHAT = r"(?:[\w'’-]+ ){1,3}?"
#: What something costs, and at whose.
_STATES = pattern(rf"^\W*{_WHAT}(?i:{_COSTS}) (?i:{_SUM}) (?i:{_PER}) (?i:{_AT}) (?P<who>{NAME})")
_RAISES = (
    r"(?:has |have |is )?(?:rais(?:es|ed|ing)|put(?:s|ting)? up|increas(?:es|ed|ing)|lower(?:s|ed)"
    r"|cut(?:s)?|changes|changed) (?:its |their |his |her |the )?(?:prices?|rates?)"
    r"|(?:has |have )?puts? (?:its|their|his|her|the) (?:prices?|rates?) up"
    r"|(?:erhöht|senkt|ändert) (?:die |seine |ihre )?preise?"
    r"|(?:verhoogt|verlaagt) (?:de |zijn |haar |hun )?prij(?:zen|s)"
    r"|(?:sube|baja|ha subido|ha bajado) (?:los |sus |el )?precios?"
    r"|(?:augmente|baisse|a augmenté|a baissé) (?:les |ses |leurs |le )?prix"
    r"|(?:aumenta|alza|abbassa|ha aumentato|ha alzato) (?:i (?:suoi )?|il )?prezz[io]"
)
_FROM = (
    rf"(?:(?:from|as of|ab|vanaf|desde|a partir de|à partir de|dès|da|dal|now|jetzt|nu|ora|ahora)"
    rf"(?: \d{{1,2}}\.?)?(?: {MONTH})?,? )?"
)
#: That somebody asks another price from now on, and which.
_CHANGES = (
    pattern(
        rf"^\W*(?P<who>{NAME}) (?i:{_RAISES}) ?(?:[:,;–-] ?|(?i:to|auf|naar|a|à) )"
        rf"(?i:{_FROM}{_SUM} {_PER})"
    ),
    pattern(
        rf"^\W*(?i:(?:new|neuer?|nieuwe|nuev[oa]s?|nouve(?:au|aux)|nuov[oi])"
        rf" (?:prices?|preise?|prijs"
        rf"|prijzen|precios?|prix|prezz[oi]) {_AT}) (?P<who>{NAME})"
        rf"(?: ?[:,–-]| (?i:is|ist|es|est|è))"
        rf" ?(?i:{_FROM}{_SUM} {_PER})"
    ),
)
#: Behind the price: of what it is, where it is not of all that they sell.
_OF = pattern(r" (?:of|for|für|voor|de|pour|per|di|von) (?!\d)(?!now\b)", re.IGNORECASE)


def rates(said: str) -> Iterator[Told]:
    """Yield what a sentence says that a seller asks for a measure."""
    stated = _STATES.search(said)
    if stated is not None:
        if not is_supposed(said[: stated.end()]):
            yield _told(stated, anew=False)
        return
    for form in _CHANGES:
        found = form.search(said)
        if found is not None:
            if not (said.endswith("?") or is_supposed(found[0]) or _OF.match(said, found.end())):
                yield _told(found, anew=True)
            return


def _told(found: re.Match[str], *, anew: bool) -> Told:
    who = frozenset(found["who"].lower().split())
    many = int(found["many"] or 1)
    measure = f"per {many} {_OF_WORD[found['measure'].lower()]}"
    return Told("rate", who | {measure}, number(found["amount"]), anew, stems_of(who))
