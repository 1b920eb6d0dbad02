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
    r"(?:['’]s |is |are )?going to be|will be|wird|werden|será|serán|sera|seront|sarà|saranno"
    r"|va a (?:ser|costar|estar en)|va (?:coûter|être à)|(?:goes|go|going|went|has gone|is going"
    r"|will go) (?:up|down) to|(?:rises|rose|increases"
    r"|increased|drops|dropped|falls|fell) to|(?:is|was|has been) (?:raised|cut|lowered|reduced) to"
    r"|(?:steigt|sinkt|erhöht sich|klettert|fällt|geht (?:hoch|rauf|runter)) auf"
    r"|(?:sube|pasa|baja|subió|bajó|ha subido|ha bajado|aumenta) a"
    r"|(?:passe|monte|augmente|baisse|descend|est passée?) à"
    r"|(?:sale|passa|scende|aumenta|è salit[oa]|è passat[oa]|è sces[oa]) a"
    r"|(?:sobe|desce|passa|aumentou|subiu) para"
)
_ROSE = (
    r"(?:has gone|went|is going|have gone) (?:up|down)|(?:has )?increased|(?:ist|sind)"
    r" (?:gestiegen|gesunken"
    r"|teurer geworden)|(?:ha|han) (?:subido|bajado)|subi[óo]u?|baj[óo]|(?:a|ont) (?:augmenté"
    r"|baissé)|aumentou"
    r"|baixou|è (?:aumentat[oa]|salit[oa]|sces[oa])"
)
_NOW_IS = (
    r"it['’]s|is|now|jetzt|sind|ist|es|ahora|son|c['’]est|est|maintenant|agora|são|é|adesso"
    r"|ora|sono|è"
)
#: That somebody asks another price for it.
_ASKS = (
    r"(?:wants|is asking(?: for)?|asks(?: for)?|charges|demands|verlangt|will|möchte|nimmt|fordert"
    r"|cobra"
    r"|pide|quiere|sube a|demande|veut|prend|réclame|quer|pede|exige|vuole|chiede|prende|viene)(?:"
    r" (?:me"
    r"|us|mir|uns|nos|ci|mi))?|(?:me|nos|mi|ci|nous) (?:cobra|pide|sube a|baja a|demande|prend"
    r"|chiede"
    r"|prende|cobram)"
)
_LEAD = rf"(?:(?:from|as of|ab|desde|à partir de|dès|a partir de|da|dal) {MONTH},? )?"
#: Who is paid the rent asks for it.
_OF_HOME = frozenset(
    """rent miete alquiler arriendo loyer affitto renda aluguel landlord landlady vermieter
    vermieterin hausherr casero casera arrendador propriétaire proprio bailleur padrone
    padrona proprietario proprietaria senhorio senhoria""".split()
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
        rf" {_NEAR}{AMOUNT} (?:for|für|por|pour|per|de|di) (?P<what>[^.!?;,]{{3,30}})",
        re.IGNORECASE,
    ),
    # who asks for it, and how much
    pattern(
        rf"^\W*{_LEAD}(?P<what>(?:l['’])?[^\W\d_][\w'’-]*(?: [\w'’-]+){{0,4}}?) (?P<anew>{_ASKS})"
        rf" {_NEAR}{AMOUNT}{_END}",
        re.IGNORECASE,
    ),
    pattern(
        rf"^\W*{_LEAD}(?P<anew>{_ASKS}) (?P<what>[^\W\d_][\w'’-]*(?: [\w'’-]+){{0,3}}?) {_NEAR}"
        rf"{AMOUNT}{_END}",
        re.IGNORECASE,
    ),
    pattern(
        r"^\W*(?P<what>[^\W\d_][\w'’-]*(?: [\w'’-]+){0,2}?) (?P<anew>(?:has |have )?(?:put|raised)"
        r" (?:it"
        rf"|us) (?:up)?[^.!?\d]{{0,12}}) {_NEAR}{AMOUNT}{_END}",
        re.IGNORECASE,
    ),
    # what it is of, and behind that how much
    pattern(
        rf"^\W*{_WHAT} (?P<anew>{_ROSE}),? (?:y |et |e |und |and |to |auf |a |à |para"
        rf" )?(?:{_NOW_IS} )*{AMOUNT}{_END}",
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


_ASKED = pattern(rf"{_ASKS}|(?:has |have )?(?:put|raised) .*", re.IGNORECASE)
_PUT = pattern(r"(?:has |have )?(?:put|raised)|.*\b(?:sube|baja)\b", re.IGNORECASE)


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
    what = _plain(what - _OF_ANY or what)
    parts = found.groupdict()
    asks = bool(parts.get("anew")) and _ASKED.fullmatch(parts["anew"]) is not None
    if not what or is_supposed(said.replace(parts["anew"], " ", 1) if asks else said):
        return
    if asks and not (said_now(said) or _PUT.match(parts["anew"])):
        return  # what it costs, and not that it is another price
    is_price = bool(found["unit"] or found["per"] or _DECIMALS.search(found["amount"]))
    sure = bool(parts.get("sure")) or is_price or not _PRICED.isdisjoint(what)
    anew = bool(parts.get("anew")) or said_now(said)
    by = stems_of(what | _OF_HOME) if "rent" in what else stems_of(what)
    yield Told("cost", what, number(found["amount"]), anew, by, sure=sure)


def _plain(what: frozenset[str]) -> frozenset[str]:
    """Return what is paid for by one name, where that is the home."""
    if what.isdisjoint(_OF_HOME):
        return what
    return what - _OF_HOME - {"casa", "house"} | {"rent"}
