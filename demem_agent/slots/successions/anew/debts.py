"""What is left of a debt: "paid Markus 500 back, 1000 left" after "I owe Markus 1500"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from demem_agent.later import pattern
from demem_agent.slots.successions.anew.told import Kind, Told
from demem_agent.slots.successions.anew.words import (
    AMOUNT,
    SUM,
    every_stem,
    is_supposed,
    number,
    telling,
    written,
)

__all__ = ["debts"]

#: That something is owed.
_OWES = pattern(
    r"\b(?:owes?|owing|debts?|loan|mortgage|to pay (?:back|off|on)|left to pay|schuld\w*|kredit"
    r"|darlehen|hypothek|deb(?:o|emos)|deuda|préstamo|hipoteca|dois|devons|doit|dette|prêt|crédit"
    r"|devo|dobbiamo|debito|prestito|mutuo|dívida|empréstimo)\b"
    # what is to be given back
    r"|(?:^|[:;,] ?|\b(?:must|have to|has to|need to) )(?:pay back|repay)\b|\bzurück(?:zu)?zahlen\b"
    r"|\bterug(?: te )?betalen\b|\b(?:hay|tengo|tenemos) que devolver\b|\bà rembourser\b"
    r"|\bda restituire\b",
    re.IGNORECASE,
)
#: That some of it is paid.
_PAID = pattern(
    r"\b(?:paid|pay|gave|given|repaid|transferred|sent)\b|\b(?:zurück)?(?:gezahlt|bezahlt|gegeben"
    r"|überwiesen)\b|\b(?:devolv\w+|devuelto|pag(?:ué|ado|amos)|di)\b|\b(?:rendu|remboursé|payé"
    r"|donné)\b|\b(?:ridato|restituito|pagato|dato|reso)\b|\b(?:paguei|devolvi)\b",
    re.IGNORECASE,
)
#: How much is left.
_LEFT = pattern(
    rf"\b(?P<one>{SUM}) (?:left|to go|remaining|more to go|still open|to pay|übrig|offen)\b"
    rf"|\b(?:bleiben|bleibt|sind|noch|only|nur|nur noch)(?: noch)? (?P<two>{SUM})"
    rf"|\b(?:ne |me )?(?:queda[n]?|reste(?:nt)?|restan[o]?|resta[m]?|rimangono|mancano|falta[n]?)"
    rf" (?:aún |encore |ancora )?(?P<three>{SUM})"
    rf"|\b(?:is|are|it['’]s)(?: now)? down to (?P<four>{SUM})",
    re.IGNORECASE,
)
#: That it is the speaker who is owed it.
_TO_ME = pattern(
    r"\b(?:owes?|paid|gave|sent|pays) (?:me|us)\b|\bschulde[tn] (?:mir|uns)\b|\bhat mir\b|\bme"
    r" (?:debe|devolvió|ha)|\b(?:me|m['’]a|nous) (?:doit|rendu|remboursé)\b|\bmi (?:deve|ha)\b"
    r"|\bme (?:deve|devolveu)\b",
    re.IGNORECASE,
)
_AMOUNT = pattern(AMOUNT, re.IGNORECASE)
_DEBT = (
    "owe owes debt debts loan mortgage pay schulde schulden kredit darlehen debo deuda préstamo"
    " dois dette prêt crédit devo debito prestito mutuo"
)
#: What of a debt tells nothing of whom it is owed to, or for what.
_FREE = frozenset(
    "owe paid pay gave given repaid back left remaining open more euros dollars pounds euro already"
    " zurückgezahlt zurück gezahlt bezahlt gegeben bleiben bleibt hab offen übrig schulde schon"
    " devolví devuelto pagué pagado quedan queda le les debo rendu remboursé payé donné reste dois"
    " ridato restituito pagato reso dato restano rimangono mancano devo another first rate"
    " instalment".split()
).union(_DEBT.split())


def debts(said: str) -> Iterator[Told]:
    """Yield how much a sentence says that is owed."""
    if is_supposed(said):
        return
    left = _LEFT.search(said)
    paid = _PAID.search(said)
    owes = _OWES.search(said)
    if not (owes or (left and paid)):
        return
    of = frozenset(word for word in telling(said) - _FREE if not word.isdigit())
    kind: Kind = "credit" if _TO_ME.search(said) else "debt"
    amounts = _amounts(said)
    if left is not None:
        now = _sum(next(part for part in left.groupdict().values() if part))
        before = [one for one in amounts if one != now] if paid else []
        gone = frozenset() if of or not before else _added(now, before[0])
        yield Told(kind, of, now, True, every_stem(_DEBT) | of, gone)
    elif len(amounts) == 1:
        yield Told(kind, of, amounts[0])


def _amounts(said: str) -> list[str]:
    """Return the amounts of a sentence; where some are told to be of money, these alone."""
    found = list(_AMOUNT.finditer(said))
    money = [one for one in found if one["unit"] or one[0][0] in "€$£"]
    return [number(one["amount"]) for one in money or found]


def _added(left: str, paid: str) -> frozenset[str]:
    """Return how much was owed before so much was paid."""
    return frozenset([written(float(left) + float(paid))])


def _sum(said: str) -> str:
    found = _AMOUNT.search(said)
    return number(found["amount"]) if found is not None else ""
