"""Whether a text tells how much something is: no date, no hour, and not "day one"."""

from __future__ import annotations

import re

from demem_agent.later import pattern
from demem_agent.text.language.numbers import digits
from demem_agent.text.language.same_words import stems_of_meaning
from demem_agent.text.times.dates import absolute
from demem_agent.text.times.named import NAMED

__all__ = ["asks_for_amount", "counted", "tells_amount", "tells_count"]

#: Ordinals, and numbers that only name one of several: "1st", "no. 4", "#4", "part 2".
_NAMES = pattern(
    r"\b\d+(?:st|nd|rd|th)\b"
    r"|(?:#|\bno\.|\b(?:number|day|days? no\.|week|part|step|chapter|page|room|floor|gate|line)) ?"
    r"\d+\b(?!\s?(?:%|[€$£]))",
    re.IGNORECASE,
)
#: "One" counts nothing in "day one", "no one", "one of them", and is no price in "one paddle".
_ONE = pattern(
    r"\bone\b(?! (?:hundred|thousand|million|euros?|pounds?|dollars?|bucks?|quid|grand|kilos?"
    r"|litres?|liters?|metres?|meters?|miles?)\b)",
    re.IGNORECASE,
)
#: What questions of an amount are asked with, in some languages; "how many" wants a count.
_MUCH = pattern(
    r"\bhow much\b|\bwie ?viel\b|\bcombien (?!de\b|d['’])|\bcu[aá]nto\b|\bquanto\b"
    r"|^\W*(?:what|which)\b.*\b(?:price|cost|rent|salary|wage|fee|deposit|budget)\b"
    r"|^\W*what (?:do|does|did|will|would)\b.*\b(?:pay|cost|earn|charge)\b"
    # German and Dutch
    r"|^\W*(?:wie (?:hoch|teuer)\b|(?:was|welche[rsn]?)\b).*\b(?:preis|miete|gehalt|lohn|kaution"
    r"|gebühr|\w*kosten|\w*rechnung|\w*beitrag)\b|^\W*was (?:kost|zahl|bezahl|verdien)\w*\b"
    r"|\bhoeveel (?:is|was|kost\w*|betaal\w*|verdien\w*|vraag\w*|vroeg|krijg\w*|kreeg|geld|euro)\b"
    r"|^\W*(?:hoe (?:hoog|duur)\b|(?:wat|welke?)\b).*\b(?:prijs|huur|salaris|loon|borg|tarief"
    r"|\w*kosten|\w*rekening|\w*boete)\b|^\W*wat (?:kost|betaal|verdien)\w*\b|^\W*hoe duur\b"
    # French, Spanish, Portuguese and Italian
    r"|^\W*(?:quel(?:le)?s?\b.*\b(?:prix|loyer|salaire|tarif|caution)|que co[uû]t\w+)\b"
    r"|^\W*(?:qu[eé]|cu[aá]l)\b.*\b(?:precio|alquiler|sueldo|salario|fianza|tarifa)\b"
    r"|^\W*(?:que|qual)\b.*\b(?:preço|renda|aluguel|salário|caução|tarifa)\b"
    r"|^\W*(?:qual[ei]?|che)\b.*\b(?:prezzo|affitto|stipendio|cauzione|tariffa)\b"
    r"|^\W*(?:che )?cosa cost\w+\b",
    re.IGNORECASE,
)
#: What a question counts, in some languages.
_MANY = pattern(
    r"\b(?:how many|wie ?viele?|combien (?:de |d['’])|cu[aá]nt[oa]s|quant[ie]|quant[oa]s"
    r"|hoeveel)\s*(?P<what>[^\W\d_]+)",
    re.IGNORECASE,
)
_TOKEN = pattern(r"\d[\d.,]*|[^\W\d_]+")
#: The word is within so many behind the number: "7 hard km".
_NEAR = 3
_OF_MONEY = pattern(
    r"\b(?:costs?|paid|pay(?:s|ing)?|price[ds]?|charged?|earn(?:s|ed)?|salary|wages?|rent|fees?"
    r"|worth|spent|spend|owes?|deposit|budget|fined?|bills?|kost(?:et|en|ete)|verdien(?:t|e|st)"
    r"|miete|preis|gehalt|bezahlt|coût(?:e|é|ent|er)|coûte|prix|loyer|gagne[nrst]*|salaire|paye[rsz]?"
    r"|cuestan?|costó|precio|alquiler|sueldo|ganan?|custam?|custou|preço|renda|salário|ganham?"
    r"|costano?|prezzo|affitto|stipendio|guadagna|kost(?:te)?|betaal\w*|huur|prijs|salaris|loon"
    r"|borg)\b",
    re.IGNORECASE,
)
_UNITS = (
    r"km|cm|mm|m|kg|g|mg|ml|l|h|lit(?:re|er)s?|miles?|hours?|min(?:utes?)?|days?|weeks?|months?"
    r"|years?|times|people|persons|guests|pages|Stunden|Tage|Wochen|Jahre|Leute|heures?|jours?|ans"
    r"|uur|uren|dagen|weken|maanden|jaar|keer|mensen|ore|giorni|settimane|mesi|anni|volte|persone"
    r"|semaines?|personnes|horas?|d[ií]as?|años|anos|semanas?"
)
#: Numbers that are no money: ages, measures, and how often or how long.
_NO_MONEY = pattern(
    r"\b[A-Z][\w'’-]+, \d{1,2}(?=\s*(?:[,.;)!]|$))"
    r"|\b(?:is|['’]s|am|aged?|turned) \d{1,2}(?=\s*(?:[,;)!]|\.?(?!\S)|and\b|years?\b))"
    rf"|\b\d+(?:[.,]\d+)*[ -]?(?:%|(?:{_UNITS})\b)"
)
_DIGITS = r"\d+(?:[.,]\d+)*"
_NUMBER = pattern(_DIGITS)
#: Units of money, and words for paying, which make an amount of any number beside them: "1800
#: euros" and "paid 1800" tell of no year.
_CURRENCY = (
    r"euros?|eur|dollars?|usd|bucks|pounds?|gbp|quid|francs?|franken|chf|cents?|grand"
    r"|dólar(?:es)?|dollari|libras?|sterline|livres sterling|pfund|francos?|franchi|pesos?|reais"
    r"|zł(?:ot(?:y|e|ych))?|zloty|pln|kron(?:or|er|en)|kr|rub(?:el|les?)|руб(?:л(?:ей|я|ь))?"
    r"|евро|долларов|yen|yuan|rupees?|рублей"
)
_PAYS = (
    r"paid|pay|costs?|charged?|earns?|earned|owes?|kostete?n?|(?:be)?zahle?[nt]?|verdiene?[nt]?"
    r"|coûtent?|coûtait|payé|payons|cuestan?|costó|pagu?[éo]|pagamos|custam?|custou|paguei|costano?"
    r"|pagato|kostt?en?|kostte|betaald?|betaalde[n]?|kosztuje|kosztowa[łl]\w*|zapłaci\w+"
)
_MONEY = pattern(
    rf"(?<![\w.,])(?P<behind>{_DIGITS})\s?(?:[€$£¥₽]|(?:{_CURRENCY})\b|[元円원])"
    rf"|(?:[€$£¥₽]|(?<!\w)(?:eur|usd|gbp|chf|pln))\s?(?P<before>{_DIGITS})"
    rf"|\b(?:{_PAYS})\s(?:(?:me|us|him|her|about|around|only|just|nur|etwa|environ|unos)\s)?"
    rf"(?P<paid>{_DIGITS})(?!\w)",
    re.IGNORECASE,
)


def asks_for_amount(question: str) -> bool:
    """Whether a question asks how much something is, in some languages; no count is one."""
    return _MUCH.search(question) is not None


def counted(question: str) -> str:
    """Return the word for what a question asks the number of: "km"; "" where it asks for none."""
    found = _MANY.search(question)
    return "" if found is None else found["what"].lower()


def tells_count(text: str, what: str) -> bool:
    """Whether a text has a number right before a word, or before one that means the same.

    Args:
        what: as from :func:`counted`.
    """
    meant = stems_of_meaning(what)
    tokens = _TOKEN.findall(digits(text).lower())
    for nth, token in enumerate(tokens):
        if token[0].isdigit() and not meant.isdisjoint(_stems(tokens[nth + 1 : nth + _NEAR])):
            return True
    return False


def _stems(words: list[str]) -> frozenset[str]:
    return frozenset(stem for word in words for stem in stems_of_meaning(word))


def tells_amount(text: str, question: str) -> bool:
    """Whether a text tells how much something is, in digits or number words.

    Args:
        question: that asks for it; its own numbers tell nothing, and where it is of money, measures
            and ages do not.
    """
    if not _NUMBER.search(text) and digits(text) == text:
        return False
    asked = set(_NUMBER.findall(digits(question)))
    if not _amounts_of_money(text) <= asked:
        return True
    said = digits(_ONE.sub(" ", text))
    for time in reversed(absolute(said)):
        said = f"{said[: time.start]} {said[time.end :]}"
    said = _NAMES.sub(" ", NAMED.sub(_no_time, said))
    if _OF_MONEY.search(question):
        said = _NO_MONEY.sub(" ", said)
    return not set(_NUMBER.findall(said)) <= asked


def _amounts_of_money(text: str) -> set[str]:
    """Return the numbers beside which a unit of money stands, or a word for paying."""
    return {found["behind"] or found["before"] or found["paid"] for found in _MONEY.finditer(text)}


def _no_time(named: re.Match[str]) -> str:
    """Return "" for a time, and what may be a price as well, as "13.40" may, as it is."""
    return named[0] if _NUMBER.fullmatch(named[0]) and "." in named[0] else " "
