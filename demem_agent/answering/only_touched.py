"""Whether what an answer quotes only touches on what is asked: another's, a wish, a question.

"What is my boat called?" is not answered by "Sofia has a boat, Gaivota", nor by "one day I'll have
my own boat", and "is the limit on the card 2000?" tells no limit. Each has the word of what is
asked. What has none of them is left to the probability.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain

from demem_agent.later import dataclass, pattern
from demem_agent.slots.successions.subjects import subject_of
from demem_agent.text.language.asking import asks, begins_as_question
from demem_agent.text.language.kin import first_person, relatives
from demem_agent.text.language.words import content_terms
from demem_agent.text.sentences import sentences
from demem_agent.types import Draft, Line, Question

__all__ = ["only_touched"]

#: From this share of what is asked on, another sentence may tell it.
_MOST = 0.5
_WISHED = pattern(
    r"\b(?:wants?(?! to (?:give|tell|say|share))|wish(?:es)?|dreams? of|thinking (?:of|about)"
    r"|would love|would like|['’]d (?:love|like)|if (?:i|we|he|she) (?:had|won|could|get|got)"
    r"|one day|some ?day|will mal|möchten?|hätte gern\w*|wünsch\w*|quiere|quisiera|ojalá|voudrait"
    r"|voudrais|rêve|vorre\w+|sogn\w+|queria|gostava"
    r"|zou graag|wilde?n? graag|wil (?:ooit|later)|droom\w*|ooit)\b",
    re.IGNORECASE,
)
#: What asks for a wish, a plan or an opinion itself.
_OF_WISHES = pattern(
    r"\b(?:wants?|wish\w*|dream\w*|plan\w*|would|think\w*|consider\w*|hop(?:e|es|ing)|like|prefer"
    r"|if|gift|present)\b",
    re.IGNORECASE,
)
#: What takes for granted that something was so: "is the dentist still on 12 May?"
_STILL = pattern(r"\b(?:still|noch|todavía|aún|encore|toujours|ancora|ainda|nog)\b", re.IGNORECASE)
_OWNER = pattern(r"(?<![\w'’])(?P<owner>[^\W\d_][\w-]*)['’]s (?P<thing>(?:[\w-]+ ?){1,3})")
_NAME = pattern(r"(?<![\w'’])[^\W\d_a-zß-öø-ÿ][\w-]+")
_MY = pattern(
    r"\b(?:my|our|mein\w*|unser\w*|mon|ma|mes|notre|nos|mis?|nuestr[oa]s?|meus?|minhas?|noss[oa]s?"
    r"|mi[oae]|miei|nostr[oaei]|mijn|onze?) (\w+(?: \w+)?)",
    re.IGNORECASE,
)
#: What somebody is, as far as there is one of it.
_THE = pattern(
    r"\b(?:is|was|as|becomes|became) (?:the |our |my |now |also )+((?:\w+ ?){1,3})"
    r"|\b(?:ist|war|wird) (?:jetzt |auch )?(?:der|die|das|mein\w*|unser\w*) ((?:\w+ ?){1,3})"
    r"|\b(?:is|was|wordt) (?:nu |ook )?(?:de|het|mijn|onze?) ((?:\w+ ?){1,3})"
    r"|\b(?:est|était) (?:maintenant )?(?:l[ae] |l['’]|mon |ma |notre )((?:\w+ ?){1,3})"
    r"|\b(?:es|era) (?:ahora )?(?:el|la|mi|nuestr[oa]) ((?:\w+ ?){1,3})"
    r"|\b(?:é|era) (?:agora )?[oa] (?:meu |minha |noss[oa] )?((?:\w+ ?){1,3})"
    r"|\b(?:è|era) (?:ora )?(?:il |la |lo |l['’])?(?:mi[oa] |nostr[oa] )?((?:\w+ ?){1,3})",
    re.IGNORECASE,
)
_THIRD = pattern(
    r"\b(?:he|she|his|her|they|their|him|them|sie|ih[mn]|ihnen|ihre?[nmrs]?|sein(?:e[nmrs]?)?"
    r"|ze|zij|hij|hem|haar|hun|zijn|elles?|ils|lui|leurs?|ses|il (?:a|est|va|était|avait|fait)"
    r"|él|ell[ao]s?|sus|lei|loro|suo[i]?|su[ae]|el[ea]s?|del[ea]s?|lhes?)\b",
    re.IGNORECASE,
)
_WORD = pattern(r"[^\W_]+")
#: What asks of who asks: "my boat", "do I take"; not "the code that I have got".
_OWN = pattern(
    r"\b(?:my|our|(?:do|does|did|am|are|can|have|was) (?:i|we)|mein\w*|unser\w*|mi|mis|nuestr[oa]s?"
    r"|mon|ma|mes|notre|nos|meus?|minhas?|noss[oa]s?|mi[oae]|miei|nostr[oaei]"
    r"|mijn|onze?|(?:heb|had|ben|was|kan|moet|neem|woon|betaal) ik"
    r"|(?:habe|bin|war|nehme|zahle) ich)\b",
    re.IGNORECASE,
)
#: Words of asking that tell nothing of what is asked.
_LIGHT = frozenset(content_terms("name called call kind type much many tell know remember"))


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a question asks, by stems, and of whom.

    Attributes:
        own: whether it is of who asks, and of nobody else.
        names: of those that it names, in lower case.
        kin: whether it is of what belongs to them, which may be somebody.
    """

    words: frozenset[str]
    own: bool
    names: frozenset[str]
    kin: bool


def only_touched(question: Question, draft: Draft) -> bool:
    """Whether all that an answer quotes first has a word of what is asked, and tells none of it."""
    asked = _asked(question.query)
    if not asked.words or _OF_WISHES.search(question.query):
        return False
    lines = question.reading.lines
    first = [line for line in lines if line.evidence.id in draft.evidence[:1]]
    quoted = [(line, text) for line in first for text in _said(line) if text in draft.text]
    is_replied = len(set(draft.evidence)) > 1
    if not quoted:
        return False
    for line, text in quoted:
        if is_replied and asks(text):
            return False
        own = _speaks_of_self(asked, line.evidence.speaker, question.asker)
        if not _touches(asked, text, lines, own):
            return False
    others = (line for line in lines if line.evidence.id not in draft.evidence[:1])
    return not any(_may_tell(asked, text) for text in chain.from_iterable(map(_said, others)))


def _said(line: Line) -> Iterator[str]:
    """Yield the sentences of a line."""
    text = line.evidence.text
    for start, end in sentences(text, line.start, line.end):
        yield text[start:end]


def _asked(query: str) -> _Asked:
    first = _WORD.search(query)
    begins = first.end() if first else 0  # behind "¿" as well
    names = frozenset(one[0].lower() for one in _NAME.finditer(query, begins))
    own = _OWN.search(query) is not None and not names and not relatives(query)
    words = frozenset(content_terms(query)) - _LIGHT - names
    return _Asked(words, own, names - {"i"}, kin=_OWNER.search(query) is not None)


def _speaks_of_self(asked: _Asked, speaker: str | None, asker: str | None) -> bool | None:
    """Whether who says something is who is asked about; None where that is open."""
    by = (speaker or "").casefold()
    if asked.own:
        return None if not asker or not by or by == asker.casefold() else False
    return any(
        one.startswith(name) or name.startswith(one) for one in by.split() for name in asked.names
    )


def _touches(asked: _Asked, text: str, read: Sequence[Line], own: bool | None) -> bool:
    """Whether a sentence has a word of what is asked and tells nothing of it.

    Args:
        read: the lines.
        own: whether who says it is who is asked about, None where that is open.
    """
    if asked.words.isdisjoint(content_terms(text)):
        return False
    if asks(text) and begins_as_question(text):
        return _STILL.search(text) is None
    wished = _WISHED.search(text)
    if wished is not None and asked.words.isdisjoint(content_terms(text[: wished.start()])):
        return True
    if asked.own:
        return own is None and _is_of_another(asked, text, read)
    return not own and not asked.kin and _is_of_who_says_it(asked, text)


def _is_of_another(asked: _Asked, text: str, read: Sequence[Line]) -> bool:
    """Whether a sentence tells of somebody else's what is asked of one's own."""
    owned = _OWNER.search(text)
    if owned is not None and not asked.words.isdisjoint(content_terms(owned["thing"])):
        return not _is_own(asked, owned["owner"], read)
    subject = subject_of(text)
    if subject is None:
        return False
    if subject.kind == "being":
        return subject.words.isdisjoint(asked.words) and not _has_own(asked, text)
    if subject.kind != "named":
        return False
    name = _WORD.findall(text)[0]
    return not first_person(text) and not _is_own(asked, name, read) and not _is_the(asked, text)


def _has_own(asked: _Asked, text: str) -> bool:
    """Whether a sentence says "my" of what is asked."""
    return any(not asked.words.isdisjoint(content_terms(found[1])) for found in _MY.finditer(text))


def _is_the(asked: _Asked, text: str) -> bool:
    """Whether a sentence says who is what is asked: "Karin is the new boss"."""
    return any(
        not asked.words.isdisjoint(content_terms(found[found.lastindex or 1]))
        for found in _THE.finditer(text)
    )


def _is_own(asked: _Asked, name: str, read: Sequence[Line]) -> bool:
    """Whether somebody or something of that name is told to be the speaker's: "my dog Pepper"."""
    called = re.compile(rf"\b(?:my|our) ((?:\w+ ){{1,3}}){re.escape(name)}\b")
    said = chain.from_iterable(map(_said, read))
    found = chain.from_iterable(map(called.finditer, said))
    return any(not asked.words.isdisjoint(content_terms(one[1])) for one in found)


def _is_of_who_says_it(asked: _Asked, text: str) -> bool:
    """Whether a sentence is of who says it, where somebody by name is asked about."""
    if not asked.names or _THIRD.search(text):
        return False
    named = asked.names.intersection(word.lower() for word in _WORD.findall(text))
    return not named and first_person(text)


def _may_tell(asked: _Asked, text: str) -> bool:
    """Whether another sentence that was read may tell what is asked."""
    words = frozenset(content_terms(text))
    if len(asked.words & words) < _MOST * len(asked.words) or asks(text) or _WISHED.search(text):
        return False
    if asked.own:
        return first_person(text) and not _is_of_another(asked, text, ())
    return bool(asked.names) and not asked.names.isdisjoint(
        word.lower() for word in _WORD.findall(text)
    )
