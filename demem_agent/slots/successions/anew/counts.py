"""How many of something somebody has: "two lambs born, that makes ten" after "we have eight sheep".

What has come or gone, told beside how many it is now, tells how many it was: by that number the
earlier sentence is known, in whatever words it was said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from demem_agent.later import pattern
from demem_agent.slots.successions.anew.told import Told
from demem_agent.slots.successions.anew.words import (
    MONTH,
    is_of_others,
    is_supposed,
    said_now,
    stems_of,
    telling,
)
from demem_agent.text.language.number_words import NUMBER, every_word, number_of_word

__all__ = ["WORDS_OF_COUNTS", "counts"]

#: What is counted by itself, and no measure, time or money.
_NO_THING = (
    rf"(?!(?:€|\$|£|%|euros?|dollars?|pounds?|quid|years?|months?|weeks?|days?|hours?|minutes?"
    rf"|mins?"
    r"|times?|o['’]clock|am\b|pm\b|kms?|cm|kg|kilos?|mg|ml|litres?|liters?|miles?|percent|degrees"
    r"|jahre?|monate?|wochen?|tage?|stunden?|minuten?|uhr|mal|prozent|grad|años?|mes(?:es)?"
    r"|semanas?"
    r"|días?|horas?|minutos?|veces|ans?|mois|semaines?|jours?|heures?|fois|anos?|dias?|vezes|anni"
    rf"|anno|mesi|mese|settiman[ae]|giorn[oi]|or[ae]|minuti|volte|{MONTH})\b)"
)
_THING = rf"{_NO_THING}(?P<what>[^\W\d_][\w'’-]{{2,}})"
_NOW = (
    r"(?:now|already|jetzt|nun|schon|inzwischen|mittlerweile|ya|ahora|maintenant|désormais|ora"
    r"|adesso|ormai|agora|já)"
)
_HAS = (
    r"(?:(?:i|we)(?:['’]ve| have| own| keep|['’]ve got| have got| got)|(?:i['’]m|we['’]re|we are)"
    r" (?:at"
    r"|up to|down to)|ich habe|wir haben|wir sind|hab|tengo|tenemos|somos|j['’]ai|(?:nous )?avons"
    r"|on a|on est à|tenho|temos|somos|ho|abbiamo|siamo(?: a)?)"
)
#: How many the speaker, or something of theirs, has.
_STATES = (
    pattern(rf"^\W*(?:\w+ )??{_HAS} (?:{_NOW} )?(?P<n>{NUMBER}) (?:\w+ )??{_THING}", re.IGNORECASE),
    pattern(
        rf"^\W*(?:the|our|my|der|die|das|unser|unsere|el|la|le|notre|il|o|a|nosso|nossa)"
        rf" (?P<of>[\w-]+)"
        rf" (?:has|hat|tiene|a|ha|tem) (?P<n>{NUMBER}) {_THING}",
        re.IGNORECASE,
    ),
)
_PERCENT = r"(?:%|€|am\b|pm\b|uhr\b|o['’]clock|years?|to\b)"
_HAS_NOW = pattern(rf"\b{_HAS}(?!\w)", re.IGNORECASE)
_OWN = (
    pattern(
        rf"^\W*(?:my|our|unsere|meine|mis|nuestr[ao]s|mes|nos|os meus|as minhas|i miei|le mie)"
        rf" {_THING}: (?P<n>{NUMBER})\b",
        re.IGNORECASE,
    ),
)
#: What a total begins with.
_SO = (
    r"(?:so|that makes|makes|making|that['’]s|which makes|only|macht(?: also| zusammen)?|also|sind"
    r" es"
    r"|bleiben|ya son|son ya|o sea|así que|quedan|ahora|ça fait|donc|du coup|reste|ficam|são(?:"
    r" já)?"
    r"|já são|quindi|adesso|ora|fanno|siamo a|così)"
)
_TOTAL = pattern(
    rf"(?:^|[,;:.!–] ?|\b(?:and|und|y|et|e) ){_SO},? (?:{_SO} )?"
    rf"(?:(?:we|i|it|they)(?:['’]re| are|['’]s| is| have|['’]ve got)? |{_HAS} |(?:es|sind|wir"
    rf" sind) )?"
    rf"(?:{_NOW} )?(?P<n>{NUMBER})(?: (?!{_NOW}\b|in\b|im\b|en\b|at\b){_THING})?"
    rf"(?=\W*$|[,;.!]| (?:{_NOW}|in (?:the|total|all)|im|insgesamt|en total|au total|in tutto|no"
    rf" total|again)\b)",
    re.IGNORECASE,
)
_REMAINS = pattern(
    r"\b(?:only|makes|macht|bleiben|quedan|ya son|ça fait|reste|ficam|restam|restano|siamo a)\b",
    re.IGNORECASE,
)
#: How many it was and is.
_FROM_TO = pattern(
    rf"\b(?:from|von|de|da) (?P<was>{NUMBER})(?: {_THING})? (?:up |down )?(?:to|auf|a|à|para)"
    rf" (?P<n>{NUMBER})"
    rf"(?![:\d])(?! ?{_PERCENT})",
    re.IGNORECASE,
)
_NUMBER = pattern(rf"(?<![\w:.,]){NUMBER} {_NO_THING}(?=[^\W\d_])", re.IGNORECASE)
_LESS = pattern(
    r"\b(?:lost|died|dead|gone|sold|gave|eaten|stolen|fox|ran away|left|quit|killed|broke|fewer"
    r"|verloren|gestorben|verkauft|weg|gefressen|perd\w+|muerto|murió|vend\w+|mort\w*|volé|parti"
    r"|morreu|morreram|fugiu|mort[oai]|scappat\w+|vendut\w+|persi|perso)\b",
    re.IGNORECASE,
)
_MORE = pattern(
    r"\b(?:new|more|another|born|caught|got|bought|joined|adopted|arrived|came|added|hatched|extra"
    r"|geboren|dazu\w*|neue?[rns]?|gekauft|bekommen|geschlüpft|más|nacid\w+|nuev\w+|compr\w+"
    r"|lleg\w+"
    r"|adopt\w+|né\w*|de plus|nouve\w+|achet\w+|arriv\w+|encore|nasc\w+|mais|nov[oa]s?|apanh\w+"
    r"|cheg"
    r"\w+|nat[oaie]|nuov\w+|comprat\w+|adottat\w+)\b",
    re.IGNORECASE,
)
_HOLDS = (
    "have has got own keep haben habe hat tengo tenemos tiene avons ai tenho temos tem abbiamo ho"
)
#: A sentence that tells of it has one of these.
WORDS_OF_COUNTS = frozenset(
    """have ve got own keep has we so makes making that only haben habe hab hat macht also jetzt
    bleiben tengo tenemos somos tiene ya son quedan ahora ai avons a ça donc reste tenho temos
    somos tem ficam são já ho abbiamo ha siamo quindi adesso fanno ora now""".split()
)


def counts(said: str) -> Iterator[Told]:
    """Yield how many of something a sentence says that its speaker has."""
    if is_of_others(said) or is_supposed(said):
        return
    between = _FROM_TO.search(said)
    if between is not None and (between["what"] or _HAS_NOW.search(said)):
        yield from _from_to(between)
        return
    total = _TOTAL.search(said)
    if total is not None:
        yield from _total(said, total)
        return
    for form in (*_STATES, *_OWN):
        found = form.search(said)
        if found is not None:
            number = number_of_word(found["n"])
            what = telling(found["what"])
            if number is not None and what:
                by = stems_of(what)
                yield Told("count", by, str(number), said_now(said), by)
            return


def _from_to(between: re.Match[str]) -> Iterator[Told]:
    was, now = number_of_word(between["was"]), number_of_word(between["n"])
    if was is not None and now is not None:
        what = stems_of(telling(between["what"] or ""))
        found_by = stems_of(every_word(was)) | what
        yield Told("count", what, str(now), True, found_by, frozenset([str(was)]))


def _total(said: str, total: re.Match[str]) -> Iterator[Told]:
    """Yield how many it is now, and how many it was by what has come or gone."""
    now = number_of_word(total["n"])
    if now is None:
        return
    what = telling(total["what"] or "")
    changes = _NUMBER.search(said, 0, total.start())
    of = stems_of(what)
    if changes is None:
        if of and (said_now(said) or _REMAINS.search(total[0])):
            yield Told("count", of, str(now), True, of)
        return
    change = number_of_word(changes[0].split()[0])
    if change is None:
        return
    less, more = _LESS.search(said), _MORE.search(said)
    gone = set()
    if not less or more:
        gone.add(now - change)
    if less or not more:
        gone.add(now + change)
    before = frozenset(str(one) for one in gone if one > 0)
    by = frozenset().union(*(every_word(int(one)) for one in before))
    yield Told("count", of, str(now), True, stems_of(by) | of, before)
