"""What something costs: "The gym is 29,90 these days" after "The gym costs 24,90"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from demem_agent.later import pattern
from demem_agent.slots.successions.anew.told import Told
from demem_agent.slots.successions.anew.words import (
    AMOUNT,
    MONTH,
    is_supposed,
    number,
    said_now,
    stems_of,
    telling,
)

__all__ = ["costs"]

#: What is said of a price alone.
_COSTS = r"costs?|charges?|kostet|kosten|cuesta|cuestan|coûte|coûtent|costa|costano|custa|custam"
#: What is said of a price and of much else; what stands behind it has to be one then.
_IS = (
    r"is(?: at)?|are|ist|sind|beträgt|liegt bei|es(?: de)?|son|está en|est(?: de| à)?|sont(?: de|"
    r" à)?|è(?: di| a)?|sono|é(?: de)?|são"
)
#: That it becomes another one.
_BECOMES = (
    r"(?:goes|go|going|went|has gone|is going|will go) (?:up|down) to|(?:rises|rose|increases"
    r"|increased|drops|dropped|falls|fell) to|(?:is|was|has been) (?:raised|cut|lowered|reduced) to"
    r"|(?:steigt|sinkt|erhöht sich|klettert|fällt|geht (?:hoch|rauf|runter)) auf"
    r"|(?:sube|pasa|baja|subió|bajó|ha subido|ha bajado|aumenta) a"
    r"|(?:passe|monte|augmente|baisse|descend|est passée?) à"
    r"|(?:sale|passa|scende|aumenta|è salit[oa]|è passat[oa]|è sces[oa]) a"
    r"|(?:sobe|desce|passa|aumentou|subiu) para"
)
_WHAT = r"(?P<what>(?:l['’])?[^\W\d_][\w'’-]*(?: [\w'’-]+){0,5}?)"
_FROM = rf"(?:(?:from|as of|ab|desde|à partir de|en|da) {MONTH} )?"
_NEAR = _FROM + r"(?:(?:only|just|about|around|now|jetzt|nun|nur|ahora|maintenant|ora|adesso) )?"
_END = rf"(?! ?(?:%|st\b|nd\b|rd\b|th\b|years?|jahre?|años|ans|anni|[ap]m\b|uhr|kg|{MONTH}))"
_FORMS = (
    pattern(rf"^\W*{_WHAT} (?P<sure>{_COSTS}) {_NEAR}{AMOUNT}{_END}", re.IGNORECASE),
    pattern(rf"^\W*{_WHAT} (?P<anew>{_BECOMES}) {_NEAR}{AMOUNT}{_END}", re.IGNORECASE),
    pattern(rf"^\W*{_WHAT} (?:{_IS}) {_NEAR}{AMOUNT}{_END}", re.IGNORECASE),
    pattern(
        rf"\b(?P<sure>pay|paying|pays|zahle|zahlen|pago|pagamos|paie|paye|payons|paghiamo)"
        rf" {_NEAR}{AMOUNT} (?:for|für|por|pour|per) (?P<what>[^.!?;,]{{3,30}})",
        re.IGNORECASE,
    ),
    # the verb first, as after "ab März"
    pattern(rf"\b(?P<sure>{_COSTS}) {_WHAT} {_NEAR}{AMOUNT}{_END}", re.IGNORECASE),
)
#: What there is a price of, so that a bare number beside it is one.
_PRICED = frozenset(
    "rent fee fees price cost subscription membership salary wage mortgage insurance allowance"
    " deposit premium miete gehalt lohn beitrag gebühr rate kaution alquiler sueldo cuota hipoteca"
    " salario loyer salaire cotisation abonnement affitto stipendio abbonamento retta mutuo renda"
    " aluguel salário mensalidade".split()
)
#: What tells no more of it, where something else does: "gym" and "gym membership" are one.
_OF_ANY = frozenset(
    """membership subscription fee fees price cost beitrag mitgliedschaft gebühr cuota suscripción
    abonnement cotisation abbonamento quota mensalidade assinatura""".split()
)
#: Where it costs that: elsewhere it may cost something else.
_AT = pattern(
    r" (?:at|in|bei|beim|im|en|chez|da|al|near) (?P<place>(?:the |der |la |le |il )?\w+)",
    re.IGNORECASE,
)
_DECIMALS = pattern(r"[.,]\d\d$")


def costs(said: str) -> Iterator[Told]:
    """Yield what a sentence says that something costs."""
    for form in _FORMS:
        found = form.search(said)
        if found is not None:
            break
    else:
        return
    place = _AT.match(said, found.end())
    what = telling(f"{found['what']} {place['place'] if place else ''}")
    what = what - _OF_ANY or what
    if not what or is_supposed(said):
        return
    parts = found.groupdict()
    is_price = bool(found["unit"] or found["per"] or _DECIMALS.search(found["amount"]))
    sure = bool(parts.get("sure")) or is_price or not _PRICED.isdisjoint(what)
    anew = bool(parts.get("anew")) or said_now(said)
    yield Told("cost", what, number(found["amount"]), anew, stems_of(what), sure=sure)
