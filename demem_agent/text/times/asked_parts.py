"""Parts of months and years that questions ask for: "at the end of January", "Anfang Mai".

What is said in a turn is told beside it as a fact, so such a part is read in questions alone.

Conventions: a month begins with its first ten days and ends with what follows its twentieth; its
first week is its first seven days and its last one its last seven, its first half ends with the
fifteenth. A year begins with its first three months and ends with its last three. Without a year it
is the latest such part that began by the anchor.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator, Mapping
from datetime import date

from dateutil.relativedelta import relativedelta

from demem_agent.later import pattern
from demem_agent.text.times.foreign_days import FOREIGN_MONTHS
from demem_agent.text.times.periods import MONTH, days_name, month_in, whole_months
from demem_agent.text.times.stretches import Span

__all__ = ["asked_parts"]

#: By language: words for each part, what stands between it and its month, the months that were and
#: are, and likewise the years.
_WORDS: Mapping[str, Mapping[str, str]] = {
    "English": {
        "opens": r"(?:at|in|on|by|towards?|around|near|about|during|over|from)\s+",
        "begin": r"(?:very\s+)?(?:beginning|start|first(?:\s+few)?\s+days)",
        "middle": r"middle",
        "end": r"(?:very\s+|tail\s+)?(?:end|last(?:\s+few)?\s+days)",
        "week": r"(?P<nth>first|second|third|fourth|last|1st|2nd|3rd|4th)\s+week",
        "half": r"(?P<half>first|second)\s+half",
        "of": r"\s+(?:of|(?<=week\s)in)\s+(?:the\s+month\s+of\s+)?",
        "month": MONTH,
        "last month": r"last\s+month",
        "this month": r"(?:this|the)\s+month",
        "last year": r"last\s+year",
        "this year": r"(?:this|the)\s+year",
    },
    "German": {
        "opens": r"(?:am|zum|gegen|seit|in|zu|um|im)\s+",
        "begin": r"(?:anfang|beginn)",
        "middle": r"mitte",
        "end": r"ende",
        "week": r"(?P<nth>ersten?|zweiten?|dritten?|vierten?|letzten?)\s+woche",
        "half": r"(?P<half>ersten?|zweiten?)\s+hälfte",
        "of": r"\s+(?:(?:im|des|vom|von)\s+)?(?:monats?\s+)?",
        "last month": r"(?:letzten|vorigen|vergangenen)\s+monats?",
        "this month": r"(?:dieses|diesen|des)\s+monats",
        "last year": r"(?:letzten|vorigen|vergangenen)\s+jahr(?:e?s)?",
        "this year": r"(?:dieses|diesen|des)\s+jahr(?:e?s)",
    },
    "French": {
        "opens": r"(?:à|vers|en|depuis|pendant|au)\s+",
        "begin": r"début",
        "middle": r"(?:mi(?=-)|milieu)",
        "end": r"fin",
        "week": r"(?P<nth>première|deuxième|seconde|troisième|quatrième|dernière)\s+semaine",
        "half": r"(?P<half>première|seconde|deuxième)\s+(?:moitié|quinzaine)",
        "of": r"(?:-|\s+(?:(?:du\s+mois\s+)?(?:de\s+|d['’])|du\s+)?)",
        "last month": r"mois\s+dernier",
        "this month": r"(?:ce\s+)?mois(?!\s+de|\s+d['’])",
        "last year": r"(?:l['’])?(?:an|année)\s+derni(?:er|ère)",
        "this year": r"(?:cette|l['’])\s*année(?!\s+dern)",
    },
    "Spanish": {
        "opens": r"(?:a|al|hacia|en|desde|por)\s+",
        "begin": r"(?:principios?|comienzos?|inicios?|primeros\s+días)",
        "middle": r"(?:mediados|mitad)",
        "end": r"(?:finales|final|fines|fin|últimos\s+días)",
        "week": r"(?P<nth>primera|segunda|tercera|cuarta|última)\s+semana",
        "half": r"(?P<half>primera|segunda)\s+(?:mitad|quincena)",
        "of": r"\s+del?\s+(?:mes\s+de\s+)?",
        "last month": r"mes\s+pasado",
        "this month": r"(?:este\s+)?mes(?!\s+de|\s+pas)",
        "last year": r"año\s+pasado",
        "this year": r"(?:este\s+)?año(?!\s+pas)",
    },
    "Portuguese": {
        "opens": r"(?:n[oa]s?|em|a[os]?|por|desde|pel[oa]s?)\s+",
        "begin": r"(?:início|princípio|começo|inícios|princípios|primeiros\s+dias)",
        "middle": r"(?:meados|meio)",
        "end": r"(?:fim|fins|final|finais|últimos\s+dias)",
        "week": r"(?P<nth>primeira|segunda|terceira|quarta|última)\s+semana",
        "half": r"(?P<half>primeira|segunda)\s+(?:metade|quinzena)",
        "of": r"\s+d[eo]\s+(?:mês\s+de\s+)?",
        "last month": r"mês\s+passado",
        "this month": r"(?:este\s+)?mês(?!\s+de|\s+pas)",
        "last year": r"ano\s+passado",
        "this year": r"(?:este\s+)?ano(?!\s+pas)",
    },
    "Italian": {
        "opens": r"(?:alla|all['’]|a|verso|in|nella|da|ai)\s*",
        "begin": r"(?:inizio|inizi|primi(?:\s+giorni)?)",
        "middle": r"metà",
        "end": r"(?:fine|ultimi\s+giorni)",
        "week": r"(?P<nth>prima|seconda|terza|quarta|ultima)\s+settimana",
        "half": r"(?P<half>prima|seconda)\s+metà",
        "of": r"\s+(?:(?:di|del(?:l['’])?)\s*)?(?:mese\s+di\s+)?",
        "last month": r"mese\s+scorso",
        "this month": r"(?:questo\s+)?mese(?!\s+di|\s+sc)",
        "last year": r"anno\s+scorso",
        "this year": r"(?:quest['’]\s*)?anno(?!\s+sc)",
    },
    "Dutch": {
        "opens": r"(?:aan|in|op|tegen|rond|sinds)\s+",
        "begin": r"begin",
        "middle": r"(?:midden|half)",
        "end": r"einde?",
        "week": r"(?P<nth>eerste|tweede|derde|vierde|laatste)\s+week",
        "half": r"(?P<half>eerste|tweede)\s+helft",
        "of": r"\s+(?:van\s+)?(?:de\s+maand\s+)?",
        "last month": r"(?:de\s+)?vorige\s+maand",
        "this month": r"(?:deze|de)\s+maand",
        "last year": r"vorig\s+jaar",
        "this year": r"(?:dit|het)\s+jaar",
    },
}
_NTH = {
    1: "first 1st erste ersten première primera primeira prima eerste",
    2: "second 2nd zweite zweiten deuxième seconde segunda seconda tweede",
    3: "third 3rd dritte dritten troisième tercera terceira terza derde",
    4: "fourth 4th vierte vierten quatrième cuarta quarta vierde",
    0: "last letzte letzten dernière última ultima laatste",
}
_NUMBER = {word: nth for nth, words in _NTH.items() for word in words.split()}
_ARTICLE = r"(?:(?:the|de[rmn]?|la|les?|l['’]|el|l[oa]s|o|a|il|het|una?|une?)\s*)?"
_FOREIGN = "|".join(FOREIGN_MONTHS)
_YEAR = r"(?:,?\s+(?:of\s+|del?\s+)?(?P<its>[12]\d{3})\b)?"


def _form(words: Mapping[str, str]) -> re.Pattern[str]:
    """Return the pattern of a language, matched against lower-case text."""
    return re.compile(
        rf"(?<!\w)(?:{words['opens']})?{_ARTICLE}"
        rf"(?:(?P<begin>{words['begin']})|(?P<middle>{words['middle']})|(?P<end>{words['end']})"
        rf"|{words['week']}|{words['half']}){words['of']}"
        rf"(?:(?P<month>{words.get('month', _FOREIGN)})(?!\w){_YEAR}"
        rf"|(?P<last_month>{words['last month']})|(?P<this_month>{words['this month']})"
        rf"|(?P<last_year>{words['last year']})|(?P<this_year>{words['this year']})"
        r"|(?P<year>(?:19|20)\d\d))(?![\w])"
    )


def _gate(words: Mapping[str, str]) -> re.Pattern[str]:
    """Return what every match of a language has, which is much faster to look for."""
    parts = "|".join(words[part] for part in ("begin", "middle", "end", "week", "half"))
    return re.compile(rf"\b(?:{parts}){words['of']}")


_FORMS = [(_gate(words), _form(words)) for words in _WORDS.values()]
_WORD = pattern(r"\w+")
_YEAR_ALONE = pattern(r"\d{4}")
#: Of each of these a part has a word, one of a part and one of what it is a part of.
_PARTS = frozenset(
    """beginning start first 1st second 2nd third 3rd fourth 4th middle end last anfang beginn
    mitte ende erste ersten zweite zweiten dritte dritten vierte vierten letzte letzten début
    mi milieu fin première deuxième seconde troisième quatrième dernière principio principios
    comienzo comienzos inicio inicios primeros mediados mitad final finales fines últimos
    primera segunda tercera cuarta última início inícios princípio princípios começo meados
    meio fim fins finais primeiros primeira terceira quarta inizio inizi primi metà fine
    ultimi prima seconda terza ultima eind einde begin midden half eerste tweede derde vierde
    laatste""".split()
)
_WHOLES = frozenset(FOREIGN_MONTHS) | frozenset(
    """month year monat monats jahr jahres jahrs mois an année mes año mês ano mese anno maand jaar
    jan january feb february mar march apr april may jun june jul july aug august sep sept september
    oct october nov november dec december""".split()
)


def asked_parts(low: str, anchor: date | None) -> Iterator[Span]:
    """Yield the parts of months and years in a question in lower case; only with an anchor."""
    if anchor is None or not _may_have_part(low):
        return
    for gate, form in _FORMS:
        if not gate.search(low):
            continue
        for match in form.finditer(low):
            first, last = _days(match, anchor)
            yield Span(match.start(), match.end(), first, last, days_name(first, last))


def _may_have_part(low: str) -> bool:
    words = set(_WORD.findall(low))
    if words.isdisjoint(_PARTS):
        return False
    return not words.isdisjoint(_WHOLES) or any(map(_YEAR_ALONE.fullmatch, words))


def _days(match: re.Match[str], anchor: date) -> tuple[date, date]:
    if match["year"] or match["last_year"] or match["this_year"]:
        year = int(match["year"] or anchor.year - bool(match["last_year"]))
        return _of_year(match, year)
    if match["month"]:
        return _of_named_month(match, anchor)
    month = anchor.replace(day=1) - relativedelta(months=bool(match["last_month"]))
    return _of_month(match, month.year, month.month)


def _of_named_month(match: re.Match[str], anchor: date) -> tuple[date, date]:
    name = match["month"]
    month = FOREIGN_MONTHS.get(name) or month_in(name)
    if match["its"]:
        return _of_month(match, int(match["its"]), month)
    found = _of_month(match, anchor.year, month)
    return found if found[0] <= anchor else _of_month(match, anchor.year - 1, month)


def _of_year(match: re.Match[str], year: int) -> tuple[date, date]:
    begins, length = 1, 3
    if match["middle"]:
        begins, length = 5, 4
    elif match["end"]:
        begins = 10
    elif match["half"]:
        begins, length = (1, 6) if _NUMBER[match["half"]] == 1 else (7, 6)
    elif match["nth"]:
        return _of_month(match, year, 1 if _NUMBER[match["nth"]] else 12)
    return whole_months(date(year, begins, 1), length)


def _of_month(match: re.Match[str], year: int, month: int) -> tuple[date, date]:
    ends = calendar.monthrange(year, month)[1]
    first, last = 1, 10
    if match["middle"]:
        first, last = 11, 20
    elif match["end"]:
        first, last = 21, ends
    elif match["half"]:
        first, last = (1, 15) if _NUMBER[match["half"]] == 1 else (16, ends)
    elif match["nth"]:
        nth = _NUMBER[match["nth"]]
        first, last = (7 * nth - 6, 7 * nth) if nth else (ends - 6, ends)
    return date(year, month, first), date(year, month, last)
