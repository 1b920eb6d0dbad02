"""What of somebody or something a question is after: where they work, a name, a price, a day.

"Who is Paulo's employer?" is after what "Where does Paulo work?" is after, and "Where is the card?"
is not after its PIN. One table of what is noted most, in English, German, Spanish, French,
Portuguese and Italian; a question after something else is after nothing that is known here.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from datetime import date
from functools import cache
from itertools import product

from demem_agent.later import dataclass, pattern
from demem_agent.text.language.kin import SOMEBODY, SPEAKERS, relatives
from demem_agent.text.language.places import tells_place
from demem_agent.text.language.questions import asks_for, has_number
from demem_agent.text.language.same_words import one_word_each
from demem_agent.text.language.turned import kin_in
from demem_agent.text.language.words import content_terms
from demem_agent.text.times.dates import ranges
from demem_agent.text.times.named import names_time

__all__ = ["Sought", "is_else", "sought", "words_sought"]

#: Words by what they ask for, or are of.
_WORDS: Mapping[str, str] = {
    "work": r"work(?:s|ed|ing|place)?|jobs?|employ\w*|compan(?:y|ies)|occupation|profession"
    r"|arbeit\w*|\w*arbeitgeber\w*|beruf\w*|beschäftigt|angestellt|firma|unternehmen"
    r"|trabaj\w*|emple\w*|empresa|compañía|oficio|travail\w*|emploi|entreprise|métier|boulot"
    r"|trabalh\w*|empreg\w*|companhia|lavor\w*|impieg\w*|azienda|ditta|mestiere",
    "home": r"lives?|lived|living|(?<!mail )address\w*|resid(?:e[sd]?|ing|ence)|home|street"
    r"|wohn(?:e|t|st|en|te|ten|ort)|gewohnt|adresse|anschrift|straße|zuhause"
    r"|viv(?:e[ns]?|o|ía[ns]?)|dirección|domicilio|calle|habit(?:e[sz]?|ent|ait|aient)|domicile|rue"
    r"|mora[ms]?|morava[ms]?|morada|vive|endereço|residência|rua|abit(?:a|ano|ava|o|i)|indirizzo"
    r"|residenza",
    "name": r"called|names?|named|heiß(?:t|en)|hieß(?:en)?|namens?|nombres?|se llama[n]?"
    r"|s['’]appel\w+|nom|prénom|chama-se|se chama[m]?|nome|si chiama(?:no|va)?",
    "price": r"cost[s]?|prices?|pays?|paid|expensive|charge[sd]?|fees?|salary|wages?|earn(?:s|ed)?"
    r"|kost(?:e[nt]?|et|ete|en)|gekostet|preis\w*|teuer|(?:be)?zahl(?:e[n]?|t|te|ten)|gehalt|lohn"
    r"|verdien\w*|cuesta[n]?|costó|costaba|precio|pag(?:o|a|as|amos|ué|ó|uei|ou|hiamo|ato)|caro"
    r"|sueldo|salario|co[uû]t(?:e|ent|er|ait|é)|prix|pa(?:ie|ye|yé|yer|yons|yez)|cher|salaire|gagne"
    r"|cust(?:a|am|ou|ava)|preço|salário|ganha|costa(?:no|va|to)?|prezzo|stipendio|guadagna",
    "colour": r"colou?r(?:s|ed)?|paint(?:s|ed)?|farbe[n]?|lackiert|(?:an)?gestrichen|pintad[oa]s?"
    r"|couleurs?|peinte?s?|cor(?:es)?|colore|dipint[oaie]",
    "size": r"sizes?|\w*größe|talla|tamaño|taille|pointure|taglia|tamanho|misura|how (?:big|large)",
    "age": r"how old|age|wie alt|edad|cuántos años|âge|idade|quantos anos|età|quanti anni",
    "date": r"birthday|bday|born|dates?|deadline|due|what (?:day|time)|which day|geburtstag|geboren"
    r"|datum|cumpleaños|nació|fecha|qué (?:día|hora)|anniversaire|quel(?:le)? (?:jour|heure)"
    r"|aniversário|nasceu|data|que (?:dia|horas?)|compleanno|nat[oa]|che (?:giorno|ora)",
    "amount": r"doses?|dosage|dosis|posologie|dosagem|dosaggio|how (?:many|much)|wie viele?"
    r"|wieviele?|wie hoch|cuánt[oa]s?|combien|quant[oaie]s?|amount",
    "place": r"terminal|platform|room|floor|city|town|country|gleis|zimmer|raum|stadt|stockwerk"
    r"|andén|habitación|ciudad|lugar|quai|salle|ville|lieu|plataforma|cidade|binario|stanza|città|luogo",
    "measure": r"how (?:wide|tall|deep|fast|heavy|thick|far)"
    r"|wie (?:breit|tief|schnell|schwer|weit)",
    "code": r"pin|codes?|password|passcode|passwort|kennwort|contraseña|clave|código|combinación"
    r"|mot de passe|codice|senha|palavra-passe",
    "phone": r"(?:tele)?phone|mobile number|telefon\w*|handy\w*|teléfono|móvil|téléphone|portable"
    r"|telefone|telemóvel|telefono|cellulare",
}
#: What a question word asks for where no word of the table says it more exactly.
_KINDS = {
    "time": "date",
    "number": "amount",
    "while": "while",
    "place": "place",
    "person": "name",
    "reason": "reason",
}
#: What is told more exactly than a question word can ask.
_EXACT = {
    "place": frozenset({"work", "home"}),
    "name": frozenset({"work", "home"}),
    "amount": frozenset({"price", "size", "age", "measure"}),
}
#: Question words that mean something else in another of these languages, where they begin.
_BEGINS = pattern(
    r"^\W*(?:(?P<place>(?:wo|dove)\b(?= \w))"
    r"|(?P<person>(?:(?:à|avec|chez|pour) )?qui\b|(?:da |con )?chi\b))",
    re.IGNORECASE,
)
#: Which of what is asked for: "which terminal".
_WHICH = pattern(
    r"\b(?:which|what|welche[rsmn]?|qué|quel(?:le)?s?|que|quale|quali|che) (?P<noun>[^\W\d_]+)",
    re.IGNORECASE,
)
#: A time by what was then: "what colour was it when we bought it".
_WHEN = pattern(
    r"\b(?:was|were|did|had)\b.*\bwhen (?!is\b|are\b|was\b|were\b|do\b|does\b|did\b)\w"
    r"|\b(?:war(?:en)?|hatten?|hat)\b.*\bals \w|\b(?:era[mn]?|fue|hab[ií]a|tenía)\b.*\bcuando \w"
    r"|\b(?:étai[ts]|avait)\b.*\b(?:quand|lorsque) \w|\b(?:era[mn]?|tinha|aveva)\b.*\bquando \w",
    re.IGNORECASE,
)
#: What asks for a time to come.
_UNTIL_WHEN = pattern(
    r"\b(?:until when|till when|bis wann|hasta cuándo|jusqu['’]à quand|até quando|fino a quando)\b",
    re.IGNORECASE,
)
#: A verb of what was: "trabajaba", "travaillait", "lavorava", "arbeitete".
_IMPERFECT = pattern(
    r"(?:aba[ns]?|ía[ns]?|ai(?:t|s|ent)|av[ao](?:m|no)?|ev[ao](?:no)?|iv[ao](?:no)?|ia[ms]?)$"
)
#: The same where it is a form of the present with more: "wohnte", "arbeiteten".
_MORE = pattern(r"t(?:e|en|est)$")
#: Letters that two forms of a verb begin with alike.
_STEM = 4
#: Characters of a question that are looked at.
_LONG = 1000
_WORD = pattern(r"[^\W\d_]+")
_DIGIT = pattern(r"\d")
#: Who is asked for by a verb as well: "Who teaches Nadia?"
_ROLES = frozenset({"teacher", "teacher, a woman", "boss", "boss, a woman"})


@dataclass(frozen=True, slots=True)
class Sought:
    """A question by what it is after.

    Attributes:
        of: names of the table; empty where nothing there is asked for.
        by: stems of the words that say so.
        past: whether it asks how something was.
        terms: its stems.
    """

    text: str
    of: frozenset[str]
    by: frozenset[str]
    past: bool
    terms: frozenset[str]

    @classmethod
    def in_question(cls, question: str) -> Sought:
        """Look at a question, of a long one at how it begins."""
        question = question[:_LONG]
        return cls(
            text=question,
            of=_asked(question),
            by=frozenset(one_word_each(content_terms(" ".join(words_sought(question))))),
            past=_is_past(question),
            terms=frozenset(content_terms(question)),
        )


def sought(text: str) -> frozenset[str]:
    """Return of what in the table a text has words."""
    return frozenset(match.lastgroup for match in _every().finditer(text) if match.lastgroup)


def is_else(now: Sought, past: Sought, line: str, told: str, asked: date | None = None) -> bool:
    """Whether a question is after something else than a past one that was corrected.

    Args:
        line: the line that was wrong; "" where there is none.
        told: what was told to be right.
        asked: the day on which the past one was asked.
    """
    if now.past != past.past or _is_earlier(now, past) or _is_earlier(past, now):
        return True
    if _of_relative(now, past.text) or _of_relative(past, now.text):
        return True
    if _is_part(now, past, line, told):
        return True
    if now.of and past.of and now.of.isdisjoint(past.of):
        is_somebodys = past.of == {"name"} and now.of == {"place"}  # whom one gets it from
        if not is_somebodys:
            return True
    if not all(_tells(what, past, line, told) for what in now.of - past.of):
        return True
    return _times_before(now.text, asked) != _times_before(past.text, asked)


def _is_past(question: str) -> bool:
    return _WHEN.search(_UNTIL_WHEN.sub(" ", question)) is not None


def words_sought(text: str, of: Container[str] = tuple(_WORDS)) -> Iterator[str]:
    """Yield the words of a text that are in the table, in order.

    Args:
        of: names of the table.
    """
    for match in _every().finditer(text):
        if match.lastgroup is not None and match.lastgroup in of:
            yield match[0]


def _asked(question: str) -> frozenset[str]:
    found = set(sought(question))
    begins = _BEGINS.search(question)
    kind = _KINDS.get(begins.lastgroup or "" if begins else asks_for(question), "")
    if kind and found.isdisjoint(_EXACT.get(kind, ())):
        found.add(kind)
    if "price" in found:
        found.add("amount")
    return frozenset(found)


def _tells(what: str, past: Sought, line: str, told: str) -> bool:
    """Whether what was told may be what a question is after that the past one was not."""
    if past.of and not past.of.isdisjoint(_EXACT.get(what, ())):
        return True
    if what == "date":
        return _DIGIT.search(told) is not None or names_time(told)
    if what in ("amount", "size", "age", "measure", "code", "phone"):
        return has_number(told, told.lower().split()) or what in sought(f"{line} {told}")
    if what == "place":
        return tells_place(told) or not past.of.isdisjoint(("work", "home"))
    if what in ("reason", "while"):
        return False
    return bool(past.of) or what == "name" or what in sought(f"{line} {told}")


def _times_before(question: str, asked: date | None) -> set[tuple[date, date]]:
    """Return the times that a question speaks of which were over on a day."""
    if asked is None:
        return set()
    return {(one.first, one.last) for one in ranges(question, asked) if one.last < asked}


def _is_part(now: Sought, past: Sought, line: str, told: str) -> bool:
    """Whether a question is after another part of the line: "which terminal" of its hour."""
    nouns = " ".join(match["noun"] for match in _WHICH.finditer(now.text))
    others = frozenset(content_terms(line)) - past.terms - frozenset(content_terms(told))
    return not others.isdisjoint(content_terms(nouns))


def _is_earlier(one: Sought, other: Sought) -> bool:
    """Whether a question has the verb of another one in a form of the past."""
    pairs = product(_words(one.text), _words(other.text))
    return any(_is_past_of(word, known) for word, known in pairs)


def _is_past_of(word: str, known: str) -> bool:
    """Whether a word is a form of the past of a verb that is known in the present."""
    if len(word) <= len(known) or len(known) < _STEM or word[:_STEM] != known[:_STEM]:
        return False
    if _MORE.search(word) and word.startswith(known):
        return known.endswith("t")
    return word[:-3] == known[: len(word) - 3] and _IMPERFECT.search(word) is not None


def _of_relative(one: Sought, other: str) -> bool:
    """Whether a question is of a relative of somebody of whom another one is itself."""
    words = frozenset(_words(other))
    known = kin_in(other.casefold())
    but = _ROLES if "name" in one.of else frozenset[str]()
    for relative in relatives(one.text):
        is_named = relative.owner not in (SPEAKERS, SOMEBODY) and _has(words, relative.owner)
        is_other = relative.who.isdisjoint(but) and not any(relative.who & who for who in known)
        if is_named and is_other:
            return True
    return False


def _has(words: Iterable[str], name: str) -> bool:
    return any(word in (name, f"{name}s", name.removesuffix("s")) for word in words)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


@cache
def _every() -> re.Pattern[str]:
    parts = "|".join(rf"(?P<{name}>{words})" for name, words in _WORDS.items())
    return re.compile(rf"(?<!\w)(?:{parts})(?!\w)", re.IGNORECASE)
