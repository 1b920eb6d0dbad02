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
    r"|(?:(?i:via|viale|corso|piazza|calle|avenida|plaza|rua|the) )?"
    r"(?:[\w'’.-]+ ){0,3}?[A-ZÀ-Ý][\w'’.-]+ \d+\w?(?![:.,]?\d))"
)
_HOME = (
    r"(?:my |our |the |mein |unser |meine |unsere |mi |nuestra |mon |ma |notre |casa )?(?:new |neues |neue"
    r" |nueva |nouvelle |nuova )?(?:home|address|place|zuhause|adresse|wohnung|casa|dirección"
    r"|domicile|indirizzo)"
)
_IS = r"(?:is|['’]s|ist|es|está en|est|c['’]est|è|é)(?: (?:now|jetzt|nun|ahora|maintenant|ora|adesso|agora))?(?: en| in| at| au)?"
_FORMS = (
    pattern(rf"^\W*{_STREET} (?i:{_IS} {_HOME})\b(?! for)"),
    pattern(
        rf"\b(?i:{_HOME}(?: mia| nostra)?:? {_IS}|chez (?:moi|nous),? c['’]est) {_STREET}"
    ),
    pattern(
        rf"^\W*(?i:(?:\w+ )?(?:we['’]re|i['’]m|we are|i am|we (?:now )?live|i (?:now )?live|living|ich (?:wohne|lebe)"
        r"|wir (?:wohnen|leben)|wohne|vivo|vivimos|j['’]habite|on habite|nous habitons|abito"
        r"|abitiamo|viviamo|moro|moramos|ich bin|wir sind|sind)(?: (?:now|jetzt|nun|ahora|maintenant|ora|adesso|agora))?"
        rf"(?: (?:at|in|in der|in the|am|an der|en|en la|au|na|no))?) {_STREET}"
    ),
)
_FOUND_BY = every_stem(
    "live home address flat house wohne wohnen lebe zuhause adresse wohnung vivo vivimos casa piso"
    " dirección habite habitons chez adresse abito abitiamo indirizzo moro moramos morada street lane"
    " road calle rue via"
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
    if is_of_others(said) or is_supposed(said):
        return
    street = _SPACE.sub(" ", found["street"].lower()).strip()
    yield Told("home", frozenset(), street, said_now(said), _FOUND_BY)
