"""That nothing is left of a debt: "paid Tom back in full" after "I owe Tom 300"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from demem_agent.later import pattern
from demem_agent.slots.successions.anew.told import Told
from demem_agent.slots.successions.anew.words import every_stem, is_supposed, telling

__all__ = ["WORDS_OF_SETTLING", "settled"]

#: A sentence that tells of it has one of these.
WORDS_OF_SETTLING = frozenset(
    """paid repaid settled cleared zurückgezahlt zurückbezahlt abbezahlt abgezahlt beglichen getilgt
    terugbetaald afbetaald afgelost devuelto devolví pagado saldado liquidado remboursé soldé
    restituito saldato estinto""".split()
)
#: That it is all of it.
_ALL = pattern(
    r"\b(?:in full|in one go|all at once|completely|fully|entirely|(?:all|every (?:cent|penny)) of"
    r" it|everything|every (?:cent|penny)|paid (?:[\w'’]+ ){0,4}?off|settled|cleared"
    r"|komplett|vollständig|ganz|alles|auf einmal|restlos|abbezahlt|abgezahlt|beglichen|getilgt"
    r"|helemaal|volledig|in één keer|afbetaald|afgelost"
    r"|todo|por completo|del todo|de una vez|íntegramente|saldado|liquidado"
    r"|tout|intégralement|entièrement|en une (?:seule )?fois|soldé"
    r"|tutto|interamente|completamente|in una volta|in un['’]unica soluzione|saldato|estinto)\b",
    re.IGNORECASE,
)
#: Before what is paid, where it is the speaker who has.
_MINE = (
    r"(?:i|we|i['’]ve|we['’]ve|have|had to|just|finally|now|today|ok|so|and|also|already|yesterday)"
)
_PAID = pattern(
    rf"^\W*(?:{_MINE} )*(?:paid|repaid|settled|cleared)\b"
    r"|^(?!.*\b(?:hat|wurde|ist|war)\b).*\b(?:zurückgezahlt|zurückbezahlt|abbezahlt|abgezahlt"
    r"|beglichen|getilgt)\b"
    r"|^(?!.*\b(?:heeft|werd|was)\b).*\b(?:terugbetaald|afbetaald|afgelost)\b"
    r"|^\W*(?:(?:yo|ya|por fin|hoy) )*(?:(?:le |lo |la |les )?(?:he|hemos)"
    r" (?:devuelto|pagado|saldado|liquidado)|(?:le |lo |la )?devolví)\b"
    r"|^\W*(?:enfin )?(?:j['’]ai|on a|nous avons) (?:enfin |tout |intégralement |entièrement"
    r" )*(?:remboursé|soldé)\b"
    r"|^\W*(?:(?:io|finalmente|gli|le) )*(?:ho|abbiamo) (?:finalmente |già )?"
    r"(?:restituito|saldato|estinto)\b",
    re.IGNORECASE,
)
#: That it is a part of it, or somebody else's.
_PART = pattern(
    r"\b(?:part|half|some|most|teil|hälfte|deel|helft|parte|mitad|moitié|partie|metà|except|almost"
    r"|not|first|erste|eerste|fast|bijna|casi|presque|quasi)\b|\w['’]s ",
    re.IGNORECASE,
)
_CLAUSE = pattern(r"[,;:.!–](?!\d)")
_DEBT = (
    "owe owes debt debts loan mortgage pay repay schulde schulden kredit darlehen zurückzahlen debo"
    " deuda préstamo dois dette prêt crédit devo debito prestito mutuo schuldig lening"
)
#: What tells nothing of whom it is owed to, or for what.
_FREE = frozenset(
    """paid repaid settled cleared back off full one go once fully completely entirely all
    every cent penny everything finally today yesterday already had money rest habe
    haben hab komplett vollständig ganz alles einmal restlos endlich zurück ik heb
    hebben wij helemaal volledig één keer eindelijk aan de het alles todo completo vez
    íntegramente tout intégralement entièrement fois seule enfin tutto interamente
    completamente volta unica soluzione finalmente whole entire""".split()
).union(_DEBT.split(), WORDS_OF_SETTLING)


def settled(said: str) -> Iterator[Told]:
    """Yield that nothing is owed any more of what a sentence says its speaker has paid."""
    clause = _CLAUSE.split(said, maxsplit=1)[0]
    if said.endswith("?") or not (_PAID.search(clause) and _ALL.search(clause)):
        return
    plain = _ALL.sub(" ", clause)  # "back in full" is not "back in 2019"
    if is_supposed(plain) or _PART.search(clause):
        return
    of = frozenset(word for word in telling(clause) - _FREE if not word.isdigit())
    if of:
        yield Told("debt", of, "0", True, every_stem(_DEBT) | of)
