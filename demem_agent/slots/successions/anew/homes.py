"""Where somebody lives, told by the address: "Lendkai 33 is home now"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from demem_agent.later import pattern
from demem_agent.slots.successions.anew.told import Told
from demem_agent.slots.successions.anew.words import (
    every_stem,
    is_of_others,
    is_supposed,
    said_now,
)

__all__ = ["homes"]

_STREET = (
    r"(?P<street>\d+\w?,? (?:[\w'’.-]+ ){0,4}?[A-ZÀ-Ý][\w'’.-]+(?: [A-ZÀ-Ý][\w'’.-]+){0,2}"
    r"|(?:(?i:via|viale|corso|piazza|calle|avenida|plaza|rua|travessa|the) )?"
    r"(?:[\w'’.-]+ ){0,3}?[A-ZÀ-Ý][\w'’.-]+ \d+\w?(?![:.,]?\d))"
)
_HOME = (
    r"(?:my |our |the |mein |unser |meine |unsere |mi |nuestra |mon |ma |notre |casa )?(?:new "
    r"|neues |neue |nueva |nouvelle |nuova )?(?:home|address|place|zuhause|adresse|wohnung|casa"
    r"|dirección|domicile|indirizzo)"
)
_NOW = "now|jetzt|nun|ahora|maintenant|ora|adesso|agora"
_IS = rf"(?:is|['’]s|ist|es|está en|est|c['’]est|è|é)(?: (?:{_NOW}))?(?: en| in| at| au)?"
_FORMS = (
    pattern(rf"^\W*{_STREET} (?i:{_IS} {_HOME})\b(?! for)"),
    pattern(rf"\b(?i:{_HOME}(?: mia| nostra)?:? {_IS}|chez (?:moi|nous),? c['’]est) {_STREET}"),
    pattern(
        rf"^\W*(?i:(?:\w+ )?(?:we (?:now )?live|i (?:now )?live|living|ich (?:wohne|lebe)"
        r"|wir (?:wohnen|leben)|wohne|vivo|vivimos|j['’]habite|on habite|nous habitons|abito"
        r"|abitiamo|viviamo|moro|moramos)(?: (?:now|jetzt|nun|ahora|maintenant|ora|adesso|agora))?"
        rf"(?: (?:at|in|in der|in the|am|an der|en|en la|au|na|no|a|à|em))?(?: [A-ZÀ-Ý]\w+,?"
        rf" ?(?:in|en|na|at|au)?)??) {_STREET}"
    ),
    # a move, or the new home and where it is
    pattern(
        r"\b(?i:moved (?:in|to|into|house)|settled|installed|instalad[oa]s?|nos mudamos|me mudé"
        r"|ahora"
        r" estamos|ya estamos|emménagé|déménagé|installée?s?|trasferit[oiae]|traslocat[oi]"
        r"|mudei-me|mudámo-nos|mudamos|eingezogen|umgezogen|sind jetzt|wohnen jetzt)(?: \w+)??,?"
        r"(?i: (?:at|in|to|into|en|a|na|no|para a|em|au|aux|in die|in den|im|in der))+"
        r" (?:[A-ZÀ-Ý]\w+,? (?i:in |en |na |at |au )?)?"
        rf"{_STREET}"
    ),
    pattern(
        r"\b(?i:(?:new|neue[sr]?|nueva|nouvel|nouvelle|nuova|nova) (?:home|house|place|flat|address"
        r"|adresse|wohnung|zuhause|casa|piso|dirección|maison|appart\w*|morada|apartamento)"
        r"|(?:casa|morada|piso|appartamento|indirizzo) (?:nueva|nova|nuova|nuevo|nuovo)|nuovo"
        r" indirizzo)"
        r"(?i:,|:| is| ist| es| está| est| è| é| fica)?(?i: (?:at|in|in der|im|en|na|no|au|is))* "
        rf"{_STREET}"
    ),
    # no more than that: "we're at 7 Mill Lane now, come over" is a visit
    pattern(
        rf"^\W*(?i:(?:\w+ )?we(?:['’]re| are)(?: now)? at|wir sind jetzt in der) {_STREET}(?i:"
        rf" now)?\W*$"
    ),
)
_FOUND_BY = (
    "live home address flat house wohne wohnen lebe zuhause adresse wohnung vivo vivimos casa piso"
    " dirección habite habitons chez adresse abito abitiamo indirizzo moro moramos morada street"
    " lane road calle rue via"
)
_NEW = pattern(
    r"\b(?:new|neue[sr]?|nuev[oa]|nouvel(?:le)?|nuov[oa]|nova|moved|settled|installed|instalad\w*"
    r"|mudamos|mudé"
    r"|emménagé|déménagé|installée?s?|trasferit\w|traslocat\w|mudei|mudámo|eingezogen|umgezogen)\b",
    re.IGNORECASE,
)
#: Somebody else's, by name.
_THEIR_HOME = pattern(
    r"\b[A-ZÄÖÜ]\w+(?:['’]s?|s) (?:new |neue[sr]? |old )?(?i:adresse|wohnung|zuhause|haus|address"
    r"|place"
    r"|flat|house|home)\b"
)
_SPACE = pattern(r"\W+")


def homes(said: str) -> Iterator[Told]:
    """Yield at what address a sentence says that its speaker lives."""
    for form in _FORMS:
        found = form.search(said)
        if found is not None:
            break
    else:
        return
    if is_of_others(said) or is_supposed(said) or _THEIR_HOME.search(said):
        return
    street = _SPACE.sub(" ", found["street"].lower()).strip()
    anew = said_now(said) or _NEW.search(found[0]) is not None
    yield Told("home", frozenset(), street, anew, every_stem(_FOUND_BY))
