"""Whether what an answer quotes is of somebody or something else than the question names.

"When is Will's birthday?" is not answered by "Summer's birthday today", nor "What is the code of
the shed?" by "the code of the house is 7391", and a price or a telephone number by no line without
a number. Looked at is only what is said in so many words: a line that names nobody may be about
whoever is asked about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import replace
from itertools import chain, product, starmap

from demem_agent.answering.of_whom import Whom, is_of_another, whom_asked
from demem_agent.answering.subject import Of, asked_of, says_of_another
from demem_agent.later import dataclass, pattern
from demem_agent.text.language.earlier import earlier_asked
from demem_agent.text.language.figures import figure_asked
from demem_agent.text.language.languages import STOPWORDS
from demem_agent.text.language.quantities import asks_for_amount, tells_amount
from demem_agent.text.language.turned import kin_in
from demem_agent.text.language.words import content_terms, content_words, language_of, stems
from demem_agent.text.sentences import sentences
from demem_agent.types import Draft, Line, Question, number_of

__all__ = ["contradicted"]

_ARTICLES = (
    r"(?:the|my|our|your|his|her|their|de[rmns]|die|das|mein(?:e[rmns]?)?|la|les?|mon|ma|el|l[oa]s"
    r"|mi|os?|as?|il|lo|gli|de|het|mijn|onze?|zijn|haar|hun)"
)
_OF = r"(?:of|von|vom|van|des|de|du|d['’]|d[oa]s?|del(?:la)?|di)"
_NAME = r"[^\W\d_a-zß-öø-ÿ][\w-]*"
_WORDS = r"[^\W\d_]+(?: [^\W\d_]+){0,2}"
#: Whose something is: "Will's birthday", "the birthday of Will", "das Auto von Will".
_OWNED = pattern(rf"(?<![\w'’])(?P<owner>[^\W\d_][\w-]*)['’]s? (?P<matter>{_WORDS})")
_OF_OWNER = pattern(
    rf"(?P<matter>{_WORDS}) {_OF} ?(?:{_ARTICLES} )?"
    r"(?P<owner>[^\W\d_][\w-]*(?: [^\W\d_][\w-]*)?)"
)
#: Who is or does something: "Summer is allergic to nuts".
_DOES = pattern(
    rf"(?:^|[.!?:,;] |\b(?:and|but|that|und|et|e|y) )(?P<owner>{_NAME}) "
    r"(?P<matter>(?=[a-zß-öø-ÿ])[\w'’]+(?: [\w'’]+){0,6})"
)
_NAMED = pattern(rf"(?<=[\w,] )(?<!['’]s )(?P<name>{_NAME})")
_NAMED_FIRST = pattern(rf"^\W*(?P<name>{_NAME})['’]s\b")
#: What is written large to be heard: "ONLY".
_SHOUTED = pattern(r"[^\W\d_a-zß-öø-ÿ]{2,}")
_ENDS_OWNER = pattern(r"['’]s?$")
_WORD = pattern(r"[^\W_]+")
#: Words of asking for an amount of money.
_OF_MONEY = frozenset(
    content_terms("cost price pay paid charge worth expensive fee earn salary wage rent much spend")
).union(
    *(
        stems(words.split(), language)
        for language, words in {
            "german": "viel hoch teuer kostet kosten kostete preis zahlt bezahlt verdient gehalt",
            "dutch": "hoeveel hoog duur kost kosten kostte prijs betaalt betalen verdient salaris",
            "french": "combien coûte coûtent prix paie paye gagne salaire tarif",
            "spanish": "cuánto cuesta cuestan costó precio paga pago gana sueldo salario tarifa",
            "portuguese": "quanto custa custam custou preço paga pago ganha salário tarifa",
            "italian": "quanto costa costano prezzo paga pago guadagna stipendio tariffa",
        }.items()
    )
)
_GERMAN = "german"
#: Characters of a question whose language is looked at.
_LONG = 1000
#: Words of a question that is of one thing, at most.
_MOST_WORDS = 12
#: Letters that two ways of calling somebody begin with alike: "Jon" and "Jonathan".
_ALIKE = 3
_NO_OWNER = frozenset(
    "it that he she there here what who where when how let today tomorrow yesterday tonight one"
    " everybody everyone somebody nobody"
    # who is meant by a pronoun in other languages: "van ons"
    " mir dir uns ihm ihr ihnen mij me jou ons hem haar hun een moi toi lui nous eux mí ti él ella"
    " nosotros ellos noi voi lei loro mim ele ela nós eles".split()
)
#: Of which something is, and nobody's and no thing's: "the day of the week".
_NO_OWNER_OF = frozenset(
    "week month year day days time times kind type sort people it them us".split()
)
_NO_NAME = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may"
    " june july august september october november december mr mrs ms dr i i'm i'll hi hello hey"
    " dear ok okay".split()
)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a question asks of whom or what.

    Attributes:
        owners: the words of those it names, in lower case; things where they are no names.
        matter: what it asks of them, as words and as stems.
    """

    owners: frozenset[str]
    things: bool
    matter: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Said:
    """A sentence that was read."""

    line: Line
    text: str


def contradicted(question: Question, draft: Draft) -> bool:
    """Whether an answer rests on what is said of another than the one whom a question names.

    It does where what is quoted first names somebody else for it and not the one asked about, and
    no other line that was read says something of the matter and of that one.
    """
    question = _of_its_matter(question)
    query = question.query
    lines = [line for line in question.reading.lines if line.text.strip()]
    if asks_for_amount(query) and not _tells_amount(query, lines):
        return True
    figure = figure_asked(query)
    if figure is not None and not _tells(_telling(figure.rest), lines, figure.told):
        return True
    quoted = [one for one in _said(_first_quoted(lines, draft)) if one.text in draft.text]
    speakers = {line.evidence.speaker for line in lines}
    if _is_of_another(question, speakers, quoted):
        return True
    asked = _asked(query)
    if asked is None:
        return False
    if not quoted or any(_is_of_them(asked, one.line) for one in quoted):
        return False
    of_them = [line for line in lines if _is_of_them(asked, line)]
    if any(_on_it(asked, one) for one in _said(of_them)):
        return False
    if asked.things and not of_them:
        return False
    before = _said(line for line in lines if _followed_by(line, draft))
    return any(_of_another(asked, one.text) for one in [*quoted, *before])


def _of_its_matter(question: Question) -> Question:
    """Return a question without the name of what came later, which it is not of."""
    earlier = earlier_asked(question.query)
    return question if earlier is None else replace(question, query=earlier.rest)


def _is_of_another(question: Question, speakers: Set[str | None], quoted: Sequence[_Said]) -> bool:
    """Whether all that is quoted first is of a relative of who is asked about, or the like."""
    asked = _asked(question.query)
    names = frozenset[str]() if asked is None or asked.things else asked.owners
    whom = whom_asked(question.query, question.asker, speakers, names)
    if not quoted or not whom.matter:
        return False
    lines = question.reading.lines
    if whom.relatives and not any(_has_relative(whom, line) for line in lines):
        return True
    of = asked_of(question.query)
    return all(_says_of_another(question, whom, of, one) for one in quoted)


def _says_of_another(question: Question, whom: Whom, of: Of | None, one: _Said) -> bool:
    by = one.line.evidence.speaker
    if is_of_another(whom, one.text, by):
        return True
    return of is not None and says_of_another(of, one.text, by, question.asker)


def _has_relative(whom: Whom, line: Line) -> bool:
    """Whether a line or its speaker's name has a word for the relative that a question is of."""
    words = f"{line.evidence.speaker or ''} {line.text}"
    told = kin_in(words.casefold())
    return any(who & asked.who for who in told for asked in whom.relatives)


def _said(lines: Iterable[Line]) -> Iterator[_Said]:
    for line in lines:
        item = line.evidence
        for start, end in sentences(item.text, line.start, line.end):
            yield _Said(line, item.text[start:end])


def _asked(query: str) -> _Asked | None:
    """Return whom or what a question is about; None where it names nobody and nothing."""
    if language_of(query[:_LONG]) == _GERMAN:
        return None  # every noun has a capital
    names = [found["name"] for found in _NAMED.finditer(query)]
    names += [found["name"] for found in _NAMED_FIRST.finditer(query)]
    owners = {_bare(name) for name in names if not _is_no_name(name)}
    owners -= _NO_NAME | _NO_OWNER
    things = not owners
    if things:
        owners = _owners(query)
    matter = _telling(query) - _telling(" ".join(owners))
    return _Asked(frozenset(owners), things, matter) if owners and matter else None


def _is_no_name(word: str) -> bool:
    """Whether a word with a capital is one that is written large, or a name in code."""
    return "_" in word or _SHOUTED.fullmatch(word) is not None


def _owners(query: str) -> set[str]:
    """Return what a question asks something of: "the code of the shed", "the shed's code".

    A long question is of several things.
    """
    found: set[str] = set()
    if len(query.split()) > _MOST_WORDS:
        return found
    for match in chain(_OF_OWNER.finditer(query), _OWNED.finditer(query)):
        found.update(_words(match["owner"]))
    return found - _NO_OWNER - _NO_OWNER_OF - STOPWORDS


def _of_another(asked: _Asked, text: str) -> bool:
    """Whether a sentence says whose the matter is, and that is another than is asked about."""
    for form in (_OWNED, _OF_OWNER, _DOES):
        for found in form.finditer(text):
            owners = set(_words(found["owner"])) - _NO_OWNER - _NO_OWNER_OF
            if form is _DOES:
                owners -= _NO_NAME | STOPWORDS
            if owners and not asked.matter.isdisjoint(_telling(found["matter"])):
                return not any(starmap(_same, product(owners, asked.owners)))
    return False


def _is_of_them(asked: _Asked, line: Line) -> bool:
    """Whether a line or the name of who says it has the name of who or what is asked about."""
    words = frozenset(_words(f"{line.evidence.speaker or ''} {line.text}"))
    return any(starmap(_same, product(words, asked.owners)))


def _on_it(asked: _Asked, said: _Said) -> bool:
    return not asked.matter.isdisjoint(_telling(said.text))


def _first_quoted(lines: Iterable[Line], draft: Draft) -> Iterator[Line]:
    """Yield the lines of the item that an answer rests on first."""
    return (line for line in lines if line.evidence.id in draft.evidence[:1])


def _followed_by(line: Line, draft: Draft) -> bool:
    """Whether what is quoted takes the place of a line."""
    return any(one.by[0] in draft.evidence[:1] for one in line.superseded)


def _tells_amount(query: str, lines: Iterable[Line]) -> bool:
    """Whether an amount is told of the matter.

    A question that has no other words than those of asking for an amount is open.
    """
    matter = set(content_terms(query)) - _OF_MONEY
    return _tells(matter, lines, lambda text: tells_amount(text, query))


def _tells(matter: Set[str], lines: Iterable[Line], tells: Callable[[str], bool]) -> bool:
    """Whether a turn that has a word of the matter, or the one right after it, tells something.

    It is open where no turn has any.
    """
    turns = {number_of(line.evidence.id): line.evidence for line in lines}
    on_it = [nth for nth, item in turns.items() if not matter.isdisjoint(_telling(item.text))]
    for nth in chain(on_it, (nth + 1 for nth in on_it)):
        if nth in turns and tells(turns[nth].text):
            return True
    return not on_it


def _telling(text: str) -> frozenset[str]:
    """Return the words that tell something and their stems, which differ with the language."""
    return frozenset(content_words(text)).union(content_terms(text))


def _same(one: str, other: str) -> bool:
    """Whether two words are one name, or one the beginning of the other."""
    short, long = sorted((one, other), key=len)
    return one == other or (len(short) >= _ALIKE and long.startswith(short))


def _bare(name: str) -> str:
    return _ENDS_OWNER.sub("", name).lower()


def _words(text: str) -> Iterable[str]:
    return _WORD.findall(text.lower())
