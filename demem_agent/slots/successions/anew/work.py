"""Where somebody works, and that it is somewhere else from now on: "Paulo's first day at Bosch".

A beginning is told in many ways, and rarely as one: by a first day, by an offer that is accepted,
by a contract that is signed, by a last day that another place follows. Each names the employer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from demem_agent.later import pattern
from demem_agent.slots.successions.anew.hiring import got_a_job
from demem_agent.slots.successions.anew.parts import parts
from demem_agent.slots.successions.anew.people import SPEAKER, people
from demem_agent.slots.successions.anew.told import Told
from demem_agent.slots.successions.anew.words import (
    MONTH,
    every_stem,
    is_supposed,
    kin_in,
    said_now,
    stems_of,
    telling,
)

__all__ = ["WORDS_OF_WORK", "works", "works_now"]

_WHO = r"(?P<who>(?:[\w'’-]+ ){0,3}?[\w'’-]+)"
_CAPITAL = r"[A-ZÀ-Ý][\w'’&-]*"
_THE = r"(?i:the |der |die |dem |den |das |el |la |le |les |il |lo |l['’]|un |una |une |o |a |os )"
#: Who is worked for, by name, and by what it is.
_NAMED = (
    rf"(?P<at>{_THE}?{_CAPITAL}(?: (?:(?i:de|da|do|di|del|of|the|und|and|&) )?{_CAPITAL}){{0,3}})"
)
_ANY = rf"(?P<at>{_THE}?[^\W\d_][\w'’&-]*(?: [\w'’&-]+){{0,3}})"
_AT = (
    r"(?i:at|with|for|bei der|bei den|beim|bei|in der|im|für|en|con|para|chez|à|au|aux|pour|na|no"
    r"|nas|nos|em|da|dalla|dal|in|alla|al|alle|nel|nella|per|presso) ?"
)
_FEAST = r"(?i:christmas|easter|thanksgiving|halloween)"
_DAY = (
    r"(?i:mon|tues|wednes|thurs|fri|satur|sun)(?i:day)|(?i:next week|(?:am |ab )?\w+tag|lunes"
    r"|lundi|mardi|lunedì|segunda|tomorrow|morgen|mañana|demain|domani|amanhã)"
)
_WHEN = (
    rf"(?:(?i:on |am |ab |im |el |le |a |na |no |il |in )?(?:{_DAY}|(?i:{MONTH})|(?i:el |le |dia "
    r"|día |am )?\d+\.?) )"
)
#: What is said of where somebody works.
_STATES = (
    pattern(
        rf"^\W*{_WHO} (?i:now |still |also |just )?(?i:works?|is working|am working)"
        rf" (?:\w+ ){{0,3}}?(?i:at|for|in) {_ANY}"
    ),
    pattern(
        rf"^\W*{_WHO} (?i:drives?|cooks?|teach(?:es)?|cleans?|codes?|sells?|bakes?|nurses?)"
        rf" (?:[\w-]+ ){{0,3}}?(?i:for|at) (?!{_FEAST}){_NAMED}"
    ),
    pattern(
        rf"^\W*{_WHO}(?:['’](?:m|s)| (?i:am|is)) (?i:an? )(?:[\w-]+ ){{1,3}}?(?i:at|for|with)"
        rf" {_ANY}"
    ),
    # German
    pattern(rf"^\W*{_WHO} (?i:arbeitet?|jobbt?e?) (?:\w+ ){{0,2}}?{_AT}{_ANY}"),
    pattern(
        rf"^\W*{_WHO} (?i:bin|ist) (?:\w+ ){{0,1}}?(?i:bei(?: der| den)?|beim|im|in der)"
        rf" {_ANY} (?i:angestellt|beschäftigt|tätig)"
    ),
    # Spanish, Portuguese, Italian and French
    pattern(
        rf"^\W*(?:{_WHO} )?(?i:trabaj[oa]|curr[oa]|d(?:oy|a) clases?|dou aulas|dá aulas"
        rf"|trabalh[oa]|lavor[oa]|travaille|bosse)"
        rf" (?:\w+ ){{0,2}}?{_AT}{_ANY}"
    ),
    pattern(rf"^\W*(?:{_WHO} )?(?i:soy|es|sou|é|sono|è|suis|est) [a-zà-ÿ]+ {_AT}{_ANY}"),
)


def _words(said: str) -> frozenset[str]:
    return frozenset(said.split())


#: That it begins, and where, by words of which a sentence has one that says so.
_BEGINS = (
    (
        _words("first"),
        pattern(
            rf"^\W*(?i:today (?:is |was )?)?{_WHO}['’]s (?i:very )?(?i:first (?:day|week|shift))"
            rf" (?i:at|with) {_NAMED}"
        ),
    ),
    (
        _words("start starts started starting begin begins beginning began"),
        pattern(
            rf"(?:^|[,;!.] ?|\b(?i:and) )\W*{_WHEN}?{_WHO}(?:['’]m|['’]s| (?i:am|is))?"
            rf" (?i:start(?:s|ed|ing)?|begin(?:s|ning)?|began) (?:(?!(?i:at|with|for)\b)[\w.]+"
            rf" ){{0,4}}?"
            rf"(?i:at|with|for) {_NAMED}"
        ),
    ),
    (
        _words("hired taken joined joining signed"),
        pattern(
            rf"^\W*{_WHO}(?i:['’]ve| have| has| was| got)* (?i:hired|taken on|joined|joining|signed"
            rf"(?: a contract| the contract)?)(?i: by| with| at| for)? {_NAMED}"
        ),
    ),
    (
        _words("erste erster ersten"),
        pattern(
            rf"^\W*(?i:heute )?(?:{_WHO}s )(?i:erste[rn]? (?:arbeits)?(?:tag|woche))"
            rf" (?i:bei der|bei den|beim|bei|in der|im) {_NAMED}"
        ),
    ),
    (
        _words("fange fängt beginne beginnt starte startet bin"),
        pattern(
            rf"(?:^|[,;!.] ?|\b(?i:und) )\W*(?i:(?:ab|am|seit) \w+ )?(?:{_WHO} )?(?i:fange|fängt"
            rf"|beginne|beginnt|starte|startet|bin(?= ich\b))(?i: ich)? (?:(?!(?i:bei|nicht"
            rf"|nie)\b)[\w.]+"
            rf" ){{0,3}}?(?i:bei der|bei den|beim|bei) {_NAMED}(?=\W*$|[,;!.]|"
            rf" (?i:an|angefangen|los|tätig|angestellt)\b)"
        ),
    ),
    (
        _words("unterschrieben zugesagt angenommen"),
        pattern(
            rf"\b(?i:bei(?: der| den)?|beim) {_NAMED}"
            rf" (?i:unterschrieben|zugesagt|angenommen)"
        ),
    ),
    (
        _words("primer primera"),
        pattern(
            rf"^\W*(?i:hoy )?(?i:(?:el )?primer día|(?:la )?primera semana)(?i: de trabajo)?"
            rf" (?i:de) {_WHO} (?i:en) {_NAMED}"
        ),
    ),
    (
        _words("empiezo empieza empecé empezó comienzo entro entra"),
        pattern(
            rf"(?:^|[,;!.] ?|\b(?i:y) )\W*{_WHEN}?(?:{_WHO} )?(?i:empiezo|empieza|empecé|empezó"
            rf"|comienzo|entro|entra) (?:[\w.]+ ){{0,3}}?(?i:en|con) {_NAMED}"
        ),
    ),
    (
        _words(
            "cogido cogida contratado contratada fichado fichada cogieron contrataron aceptaron"
            " aceptado firmé firmado"
        ),
        pattern(
            rf"\b(?i:(?:me (?:han |ha )?(?:cogido|contratado|fichado|cogieron|contrataron|aceptaron"
            rf"|aceptado)|(?:he )?firm(?:é|ado)(?: el contrato)?))"
            rf" (?i:en|con|para) {_ANY}"
        ),
    ),
    (
        _words("premier première"),
        pattern(
            rf"^\W*(?i:aujourd['’]hui,? )?(?i:(?:le )?premier jour|(?:la )?première semaine)"
            rf" (?i:de |d['’]){_WHO} (?i:chez|à|au|aux) ?{_NAMED}"
        ),
    ),
    (
        _words("commence commencé démarre signé pris prise"),
        pattern(
            rf"(?:^|[,;!.] ?|\b(?i:et) )\W*{_WHEN}?(?:{_WHO} |(?i:j['’]))?(?i:commence|ai commencé"
            rf"|a commencé|démarre|ai signé|a signé|suis prise?|est prise?)"
            rf" (?:[\w.]+ ){{0,3}}?(?i:chez|à|au|aux|avec) ?{_NAMED}"
        ),
    ),
    (
        _words("primeiro primeira"),
        pattern(
            rf"^\W*(?i:hoje )?(?i:(?:o )?primeiro dia|(?:a )?primeira semana)(?i: de trabalho)?"
            rf" (?i:d[oae]) {_WHO} (?i:na|no|em|nas|nos) {_NAMED}"
        ),
    ),
    (
        _words("começo começa comecei começou entro assinei assino"),
        pattern(
            rf"(?:^|[,;!.] ?|\b(?i:e) )\W*{_WHEN}?(?:{_WHO} )?(?i:começo|começa|comecei|começou"
            rf"|entro|assinei|assino) (?:[\w.]+ ){{0,3}}?(?i:na|no|em|nas|nos|com a|com o|com)"
            rf" {_NAMED}"
        ),
    ),
    (
        _words("contratado contratada aceite aceito contrataram aceitei"),
        pattern(
            rf"\b(?i:fui (?:contratad|aceit)[oa]|contrataram-me|aceitei (?:o lugar|a proposta))"
            rf" (?i:na|no|em|pela|pelo|da|do) {_ANY}"
        ),
    ),
    (
        _words("primo prima"),
        pattern(
            rf"^\W*(?i:oggi )?(?i:(?:il )?primo giorno|(?:la )?prima settimana)(?i: di lavoro)?"
            rf" (?i:di) {_WHO} {_AT}{_NAMED}"
        ),
    ),
    (
        _words("inizio inizia comincio comincia iniziato firmato"),
        pattern(
            rf"(?:^|[,;!.] ?|\b(?i:e) )\W*{_WHEN}?(?:{_WHO} )?(?i:inizio|inizia|comincio|comincia"
            rf"|ho iniziato|ha iniziato|ho firmato|ha firmato) (?:[\w.]+ ){{0,3}}?{_AT}{_NAMED}"
        ),
    ),
    (
        _words("preso presa assunto assunta"),
        pattern(rf"\b(?i:mi (?:hanno|ha) (?:pres[oa]|assunt[oa]))(?: \w+)?? {_AT}{_ANY}"),
    ),
)
#: That somebody is taken on, or begins, in any words, up to where.
_TAKEN_ON = (
    r"(?:hired|taken on|appointed|(?:got|have|landed|found) (?:the|a|an|my) (?:\w+ )?(?:job|post"
    r"|place"
    r"|position|role)|new job|new position|embauchée?|engagée?|recrutée?|assunt[oa]|pres[oa]"
    r"|colocad[oa]"
    r"|contratad[oa]|cogid[oa]|fichad[oa]|(?:stelle|job|platz)(?= (?:bei|beim|im|in|am)\b)"
    r"|nuevo (?:trabajo|puesto)|nouveau (?:travail|boulot|poste)|novo (?:trabalho|emprego)"
    r"|nuovo (?:lavoro|posto))"
)
_STARTS = (
    r"(?:start(?:s|ed|ing)?|join(?:s|ed|ing)?|fange|fängt|angefangen|beginne|beginnt|begonnen"
    r"|empiezo|empieza|empecé|empezó|comienzo|comienza|commence|commencé|começo|começa|comecei"
    r"|começou"
    r"|inizio|inizia|iniziato|comincio|comincia|cominciato)"
)
_TAKEN = (
    pattern(
        rf"(?P<by>.*?)\b(?i:{_TAKEN_ON})\b(?: [\w'’.]+){{0,3}}? {_AT}(?P<at>{_THE}?[^\W\d_][\w&-]*"
        rf"(?: (?:(?i:de|da|di|of) )?{_CAPITAL}){{0,3}})"
    ),
    pattern(rf"(?P<by>.*?)\b(?i:{_STARTS})\b(?:(?: [\w'’.]+){{0,3}}? {_AT}| ){_NAMED}"),
)
_THIRD = pattern(
    r"\b(?:starts|joins|fängt|beginnt|empieza|empezó|comienza|começa|começou|inizia|comincia)\b",
    re.IGNORECASE,
)
_FIRST = pattern(
    r"\b(?:i|i['’]\w+|we|my|me|ich|hab|habe|mich|mir|bin|yo|he|me|je|j['’]\w+|ai|suis|moi|eu|fui"
    r"|io|ho|sono"
    r"|mi)\b|\bj['’]",
    re.IGNORECASE,
)
_IT = pattern(
    r"\b(?:it|this|that|she|he|they|er|sie|es|elle|il|ils|ela|ele|lei|lui)\b", re.IGNORECASE
)
#: That a place is offered, and that it is taken.
_OFFERS = (
    pattern(rf"^\W*(?:\w+ )??{_NAMED} (?i:(?:has |have )?offered me)"),
    pattern(
        rf"\b(?i:offered me|offer from|job offer (?:from|at))(?:(?! (?i:at|from) )[^.!?;])*?"
        rf"(?: (?i:at|from) | ){_NAMED}"
    ),
    pattern(
        rf"\b(?i:me (?:han )?ofreci(?:eron|do)|m['’](?:a|ont) proposé|ofereceram-me|mi hanno"
        rf" (?:offerto|proposto)|(?:hat|haben) mir)(?: [\w'’]+){{0,4}}? {_AT}{_NAMED}"
    ),
)
_TAKES = pattern(
    r"\b(?:said yes|say yes|accepted|accept it|took it|taking it|take it|i['’]m in|signed"
    r"|zugesagt|angenommen|unterschrieben|dije que sí|acepté|he aceptado|firmé|dit oui|accepté"
    r"|signé|disse que sim|aceitei|assinei|ho detto (?:di )?sì|ho accettato|ho firmato)\b",
    re.IGNORECASE,
)
#: That somebody leaves a place.
_LEAVES = pattern(
    r"\b(?:(?:i['’]m |i am |am |is )?leaving|left|quit|handed in|gave notice|resigned|last (?:day"
    r"|shift|week)|letzter (?:arbeits)?tag|gekündigt|höre|aufgehört|verlasse|dejo|dejé|ha dejado|he"
    r" dejado|último (?:día|dia|turno)|vou sair|saio|saí|larguei|quitte|quitté|dernier jour"
    r"|dernière journée|lascio|ho lasciato|ultimo giorno|ultimo turno)\b",
    re.IGNORECASE,
)
#: Where to, once that is told.
_ON_TO = (
    pattern(
        rf"\b(?i:from|as of|starting|ab|im|desde|en|a partir d[eo]|dès|à partir de|em|da|dal) "
        rf"(?i:{MONTH}|{_DAY}|then on)(?i: on)?,? (?:(?i:i['’]m |i start |i am"
        rf" )?(?:{_AT})?)?{_NAMED}"
        rf"\W*$"
    ),
    pattern(
        rf"\b(?i:y|e|und|and|et) (?i:se ha|me he|vado|va|wechs\w+|gehe?t?|went|going|on|moved"
        rf"|pass\w+"
        rf"|est passée?|foi|vou|fui)(?: \w+){{0,2}}? (?i:en|a|à|zu|zur|zum|to|over to|para a|para o"
        rf"|para|chez|alla|al|in) {_NAMED}"
    ),
)
#: What is begun that is no work.
_NO_WORK = pattern(
    r"\b(?:school|uni|university|college|camp|festival|fair|conference|kindergarten|nursery"
    r"|holidays?|vacation|trip|beach|resort|retreat|hotel|spa|gym|congress|expo|museum|course"
    r"|workshop|class|lessons?|student|page|level|zero|schule|kita|kindergarten|kurs|uni|colegio"
    r"|escuela|instituto|clase|curso|universidad|gimnasio|école|collège|lycée|fac|cours|crèche"
    r"|escola|infantário|universidade|ginásio|aulas?|scuola|asilo|liceo|università|palestra|corso"
    r"|yoga|pilates)\b",
    re.IGNORECASE,
)
#: That it is none: it is refused, dreamt, or told in a story.
_NOT_SO = pattern(
    r"\b(?:turn\w* (?:it |them |that )?down|refused?|declin\w+|said no|no thanks|dream\w*|film"
    r"|movie|novel|abgelehnt|abgesagt|geträumt|beworben|rechac\w+|dije que no|soñ\w+|película"
    r"|refusé|dit non|rêv\w+|recus\w+|disse que não|sonh\w+|filme|rifiut\w+|ho detto (?:di )?no"
    r"|sogn\w+|romanzo|applied|appl(?:y|ying)|interview\w*|last year|back then|years? ago"
    r"|letztes jahr|el año pasado|l['’]année dernière|no ano passado|l['’]anno scorso)\b",
    re.IGNORECASE,
)
_WORD = pattern(r"[^\W\d_]+")
_IN_THE = pattern(r"(?<=\w )no(?= \w)", re.IGNORECASE)
_PORTUGUESE = pattern(
    r"\b(?:sou|dou|dá|trabalho|trabalha|começo|começa|comecei|começou|colocad[oa]|contratad[oa]"
    r"|aulas|da|do"
    r"|ao|pelo|foi|fui)\b",
    re.IGNORECASE,
)
_QUOTED = pattern(r"[«»“”„\"]")
_ENDS_CLAUSE = pattern(r"[,;:!.]")
#: What stands behind the name of who is worked for, and is no part of it.
_BEHIND = pattern(
    r" (?:as|since|in|on|near|from|als|seit|ab|an|como|desde|comme|depuis|le|come|dal|now|today"
    rf"|yesterday|{_DAY}|{MONTH})\b",
    re.IGNORECASE,
)
_FOUND_BY = """work works working job employed nurse drive drives teach teaches cook arbeite
    arbeitet jobbe angestellt beschäftigt trabajo trabaja curro curra soy travaille bosse suis
    trabalho
    trabalha sou lavoro lavora sono serveur clase aulas bin ist"""
#: A sentence that tells where somebody works has one of these.
_WORDS_OF_STATES = frozenset(
    """work works working drives drive cooks cook teaches teach cleans codes sells bakes nurse
    nurses arbeite arbeitet jobbe jobbt angestellt beschäftigt tätig trabajo trabaja curro curra
    trabalho trabalha lavoro lavora travaille bosse doy dou dá""".split()
)
#: What may tell it, where a place stands behind.
_IS_AT = pattern(
    r"(?:\b(?:am|is|bin|ist|soy|es|sou|é|sono|è|suis|est)|['’][ms]) (?:[\w-]+ ){0,3}?"
    r"(?:at|for|with|bei|beim|im|in|en|no|na|da|chez|à|au|alla|dalla|presso)\b",
    re.IGNORECASE,
)
#: A sentence that tells that somebody begins to has one of these.
_WORDS_OF_BEGINNING = frozenset(
    """baan begint vanaf
    start starts started starting begin begins beginning began hired joined joining joins join
    signed first day offered offer leaving left letzter erster erste unterschrieben zugesagt fange
    fängt beginne beginnt stelle job post position appointed got taken bin empiezo empieza empecé
    empezó comienzo entro entra cogido cogieron cogida contratado contratada contrataron fichado
    firmé firmado ofrecieron primer primera nuevo commence commencé démarre signé premier première
    nouveau embauché embauchée engagé engagée recruté recrutée dernier proposé prise pris primeiro
    primeira novo começo começa comecei começou assinei colocado colocada aceitei ofereceram inizio
    inizia comincio comincia cominciato iniziato firmato preso presa assunto assunta offerto
    proposto primo prima nuovo dejado dejo dejé saio sair saí último ultimo lasciato quitté quitte
    accepted accept yes took angenommen acepté aceptado oui accepté sim accettato sì from ab desde
    partir dès dal""".split()
)
#: One that tells that they are taken on, one of these.
_WORDS_OF_TAKING_ON = _words(
    """hired taken appointed job post place position role embauché embauchée engagé engagée recruté
    recrutée assunto assunta preso presa colocado colocada contratado contratada cogido cogida
    fichado fichada stelle platz trabajo puesto travail boulot poste trabalho emprego lavoro posto
    start starts started starting join joins joined joining fange fängt angefangen beginne beginnt
    begonnen empiezo empieza empecé empezó comienzo comienza commence commencé começo começa comecei
    começou inizio inizia iniziato comincio comincia cominciato"""
)
WORDS_OF_WORK = (
    _WORDS_OF_STATES
    | _WORDS_OF_BEGINNING
    | frozenset("am is m bin ist soy es sou é sono è suis est".split())
)


def works(said: str, before: str = "") -> Iterator[Told]:
    """Yield where a sentence says that somebody works, or is to work from now on.

    Args:
        before: what was said right before it, which may tell what is offered, or left.
    """
    if _QUOTED.search(said) or said.endswith("?"):
        return
    words = frozenset(_WORD.findall(said.lower()))
    begins = None if words.isdisjoint(_WORDS_OF_BEGINNING) else _begun(said, before, words)
    if begins is not None:
        yield begins
    else:
        yield from works_now(said)


def works_now(said: str) -> Iterator[Told]:
    """Yield where a sentence, or a part of one, says that somebody works."""
    words = frozenset(_WORD.findall(said.lower()))
    if words.isdisjoint(_WORDS_OF_STATES) and not _IS_AT.search(said):
        return
    for form in _STATES:
        found = form.search(said)
        told = None if found is None else _at(found, anew=said_now(said), sure=True)
        if told is not None and not _supposed(said):
            yield told
            return


def _begun(said: str, before: str, words: frozenset[str]) -> Told | None:
    if _NOT_SO.search(said):
        return None
    for by, form in _BEGINS:
        found = None if by.isdisjoint(words) else form.search(said)
        told = None if found is None else _at(found, anew=True)
        if found is not None and told is not None and not _supposed(_clause(said, found)):
            return told
    taken = None if words.isdisjoint(_WORDS_OF_TAKING_ON) else _taken(said)
    if taken is not None:
        return taken
    both = f"{before} {said}" if before else said
    got = None if _NOT_SO.search(both) else got_a_job(both)
    if got is not None and got.end("at") > len(both) - len(said) and not _supposed(got[0]):
        return None if kin_in(got["at"]) else _at(got, anew=True, sure=True)
    if _NOT_SO.search(both) or both.endswith("?"):
        return None
    if _TAKES.search(said):
        for form in _OFFERS:
            found = form.search(both)
            if found is not None and not _supposed(both):
                return _at(found, anew=True)
    if _LEAVES.search(both):
        for form in _ON_TO:
            found = form.search(said)
            if found is not None and not _supposed(both):
                return _moved_on(both, found)
    return None


def _taken(said: str) -> Told | None:
    """Return where somebody is taken on or begins, by the part of a sentence that says so."""
    for part in parts(said):
        if _supposed(part.said):
            continue
        for form in _TAKEN:
            found = form.search(part.said)
            of = None if found is None else _by(found["by"], found[0])
            if found is not None and of is not None:
                sure = form is _TAKEN[0]
                told = _at(found, anew=True, who=of, sure=sure)
                if told is not None:
                    return told
    return None


def _by(before: str, whole: str) -> str | None:
    """Return who it is that begins, by what stands before that: "" for the speaker."""
    named = [word for word in _WORD.findall(before) if word[0].isupper() and people(word)]
    if kin_in(before) or any(people(word) != SPEAKER for word in named):
        return before.strip().removesuffix("'s").removesuffix("’s")
    if _THIRD.search(whole) or _IT.search(before):
        return None
    return "" if not before.strip() or _FIRST.search(before) else None


def _moved_on(both: str, found: re.Match[str]) -> Told | None:
    """Yield where somebody works after what they leave: who it is stands before that."""
    leaves = _LEAVES.search(both)
    who = both[: leaves.start()].strip(" ,.!") if leaves is not None else ""
    return _at(found, anew=True, who=who)


def _at(
    found: re.Match[str], *, anew: bool, who: str | None = None, sure: bool = False
) -> Told | None:
    parts = found.groupdict()
    of = people((parts.get("who") or "") if who is None else who)
    at = _BEHIND.split(parts["at"])[0]
    if of is None or (not sure and _NO_WORK.search(found[0])):
        return None
    value = telling(at)
    if not value:
        return None
    by = every_stem(_FOUND_BY) | (frozenset() if of == SPEAKER else stems_of(of))
    return Told("work", of, " ".join(sorted(value)), anew, by)


def _supposed(said: str) -> bool:
    """Whether a sentence is of what is only supposed: "no" is "in the" in Portuguese."""
    return is_supposed(_IN_THE.sub(" ", said) if _PORTUGUESE.search(said) else said)


def _clause(said: str, found: re.Match[str]) -> str:
    """Return the part of a sentence that a match ends in, which another may stand beside."""
    start = max((one.end() for one in _ENDS_CLAUSE.finditer(said, 0, found.end("at"))), default=0)
    end = _ENDS_CLAUSE.search(said, found.end("at"))
    return said[min(start, found.end("at")) : end.start() if end else None]
