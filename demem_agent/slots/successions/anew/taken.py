"""What is taken in the place of something: "stop ibuprofen, take paracetamol instead"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from demem_agent.later import pattern
from demem_agent.slots.successions.anew.told import Told
from demem_agent.slots.successions.anew.words import is_of_others, is_supposed, stems_of, telling

__all__ = ["WORDS_OF_TAKING", "taken"]

_TAKE = (
    r"take|taking|takes|use|using|am on|i['’]m on|put me on|nehmen?|nehme|genommen|tom[oe]|tomar"
    r"|prends|prendre|prendo|prendere|usa[r]?|uso|benutze|utilise[r]?|tomo"
)
_STOP = (
    r"stop(?:ped)?(?: (?:with|taking|using))?|come off|came off|quit|no more|drop(?:ped)?|instead"
    r" of|rather than|statt|anstatt|setz\w*|deja(?:r|do)?(?: de tomar)?|dejé(?: de tomar)?"
    r"|suspende[r]?|en vez de|en lugar de|arrête[rz]?|arrêté|plus de|au lieu de"
    r"|smette(?:re)?(?: di prendere)?"
    r"|smetti|sospende(?:re)?|basta|invece di"
)
_INSTEAD = (
    r"instead|stattdessen|lieber|dafür|en su lugar|mejor|à la place|plutôt|invece|al suo posto|em"
    r" vez|now|jetzt|ahora|maintenant|ora|adesso"
)
_ARTICLE = "the |das |die |den |el |la |le |l['’]|il |du |de la |de |con |mit |some |un |una "
_WHAT = rf"(?P<gone>(?:{_ARTICLE})?[^\W\d_][\w-]{{3,}}(?: [^\W\d_][\w-]+)?)"
_NEW = rf"(?P<new>(?:{_ARTICLE})?[^\W\d_][\w-]{{3,}})"
_REPLACED = (
    pattern(
        rf"\b(?:{_STOP}) {_WHAT}\s*(?:[,;.–-]|\band\b|\bund\b|\by\b|\bet\b|\be\b)[^.!?]*?"
        rf"(?:(?:{_TAKE}|{_INSTEAD}) )+{_NEW}",
        re.IGNORECASE,
    ),
    pattern(
        rf"\b{_WHAT} (?:absetzen|weglassen|streichen|abgesetzt|weggelassen|sein lassen)\b[^!?]*?"
        rf"(?:(?:{_TAKE}|{_INSTEAD}|und|soll ich|ich) )+{_NEW}",
        re.IGNORECASE,
    ),
    pattern(
        rf"\b(?:{_TAKE}) {_NEW} (?:instead of|rather than|statt|anstatt|en vez de|en lugar de|au"
        rf" lieu d(?:e|u)|invece d(?:i|el|ella)) {_WHAT}",
        re.IGNORECASE,
    ),
)
_TAKES = pattern(rf"\b(?:{_TAKE}) {_NEW}", re.IGNORECASE)
_TAKES_LAST = pattern(
    r"\b(?P<new>[^\W\d_][\w-]{3,}) (?:nehmen|genommen|verschrieben)\b", re.IGNORECASE
)
#: A sentence that tells of it has one of these.
WORDS_OF_TAKING = frozenset(
    """take taking takes use using on nehmen nehme nehm genommen verschrieben tomo tome tomar prends
    prendre prendo prendere usa usar uso benutze utilise utiliser absetzen weglassen abgesetzt
    weggelassen streichen""".split()
)


def taken(said: str) -> Iterator[Told]:
    """Yield what a sentence says that its speaker takes, and what it takes the place of."""
    if is_of_others(said):
        return
    for form in _REPLACED:
        found = form.search(said)
        if found is not None:
            gone, new = telling(found["gone"]), telling(found["new"])
            if gone and new and not gone & new:
                yield Told("taken", frozenset(), " ".join(sorted(new)), True, stems_of(gone), gone)
            return
    found = _TAKES.search(said) or _TAKES_LAST.search(said)
    if found is not None and not is_supposed(said):
        new = telling(found["new"])
        if new:
            yield Told("taken", frozenset(), " ".join(sorted(new)), False, stems_of(new))
