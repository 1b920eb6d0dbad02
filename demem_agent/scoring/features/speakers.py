"""Features of who said a passage."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from demem_agent.later import pattern
from demem_agent.scoring.features.work import Feature, Work
from demem_agent.scoring.query import Query
from demem_agent.text.language.languages import ENGLISH
from demem_agent.text.language.scripts import may_be_other
from demem_agent.text.language.words import content_terms, language_of

__all__ = [
    "FEATURES",
    "asked_about",
    "asked_first",
    "asked_to_tell",
    "asks_for_reply",
    "asks_for_words_of",
    "named_in",
    "telling_names",
    "with_model",
    "words_of_names",
]

_WORD = pattern(r"[^\W_]+")
_OF_ANYBODY = frozenset("the a an my your our his her their of".split())
#: Somebody is asked for as the one who said something: "did ... say", "... said", "dijo ...".
_TOLD_BY = (
    r"\b(?:did|has|have|had|does)\s+(?:the\s+)?{name}\s+(?:\w+\s+)?(?:say|said|tell|told|talk(?:ed)?"
    r"|speak|spoken|mention(?:ed)?|write|written|report(?:ed)?|share|shared|bring|brought)\b"
    r"|\b{name}\s+(?:said|says|told|tells|talked|mentioned|wrote|sagte|erzählte|dijo|contó"
    r"|disse|contou|a\s+dit|ha\s+detto)\b"
    r"|\bha(?:t|st|be)\s+{name}\b.*\b(?:gesagt|erzählt)\b"
    r"|\b(?:dijo|contó|disse|contou)\s+{name}\b|\bsagte\s+{name}\b|\ba\s+dit\s+{name}\b"
)
#: What each of these has in it.
_SAYS = pattern(
    r"sa[iy]|tell|told|talk|sp[eo][ak]|mention|wr[io]t|report|share|bring|brought|sagt|erzähl"
    r"|di[jst]|cont[oó]|detto"
)
#: Who asks, in a question about themselves.
_ONESELF = frozenset("i me my mine myself".split())
#: What the sides of a chat with a model are called, by convention.
_USER = ("user", "human")
_ASSISTANT = "assistant"
_SIDES = frozenset({*_USER, _ASSISTANT})
#: Who is no person in such a chat: the model, and what was remembered of corrections.
_NO_PERSON = (_ASSISTANT, "correction")


def with_model(names: Iterable[str | None]) -> bool:
    """Whether speakers of these names are a user and a model, and not people among themselves."""
    return any(name and name.lower() in _SIDES for name in names)


def words_of_names(names: Iterable[str | None]) -> frozenset[str]:
    """Return the telling words of the names of people who speak, in lower case."""
    found: set[str] = set()
    for name in names:
        if name and name.lower() not in (*_USER, *_NO_PERSON):
            found.update(_telling(name))
    return frozenset(found)


def asked_about(query: Query, codes: Mapping[str | None, int]) -> int | None:
    """Return the number of the one among several people whom a query is about.

    It is who is named in it, or else who asks and says "I". None where that is nobody or more than
    one, and where one person alone talks with a model.

    Args:
        codes: the numbers of all speakers by their names.
    """
    people: dict[str | None, int] = {
        name: code for name, code in codes.items() if name and name not in _NO_PERSON
    }
    if len(people) < 2 or any(name and name.lower() in _USER for name in people):
        return None
    wanted = named_in(query.text, people) or _oneself(query, people)
    if len(wanted) > 1:  # "tell me about Ravi", to one who is called "me"
        wanted = [code for code in wanted if code not in _of_pronouns(people)]
    return wanted[0] if len(wanted) == 1 else None


def _of_pronouns(codes: Mapping[str | None, int]) -> set[int]:
    """Return the numbers of those who are called "me" or the like."""
    return {code for name, code in codes.items() if name and name.lower() in _ONESELF}


def asked_first(query: Query, codes: Mapping[str | None, int]) -> list[int]:
    """Return the numbers of those whose words a query asks for before others'.

    It is the one whom it is about, and in a chat with a model the human side, or the model where
    the query asks what that said.
    """
    is_chat = with_model(codes)
    if is_chat and asks_for_reply(query):
        return _of_name(_ASSISTANT, codes)
    wanted = asked_about(query, codes)
    if wanted is not None or not is_chat:
        return [] if wanted is None else [wanted]
    return named_in(query.text, codes) or _human(codes)


def asked_to_tell(query: Query, codes: Mapping[str | None, int]) -> list[int]:
    """Return the numbers of those of whom a query asks what they said, none where it does not."""
    low = query.text.lower()
    if not _SAYS.search(low):  # as in most; much faster
        return []
    named = set(named_in(query.text, codes))
    found = [
        code
        for name, code in codes.items()
        if code in named and asks_for_words_of(_telling(name), low)
    ]
    return found + _oneself(query, codes) if asks_for_words_of(["i"], low) else found


def asks_for_words_of(names: Iterable[str], question: str) -> bool:
    """Whether somebody of one of these names is asked for as the one who said something.

    Args:
        names, question: in lower case.
    """
    return any(re.search(_TOLD_BY.format(name=re.escape(name)), question) for name in names)


def _oneself(query: Query, codes: Mapping[str | None, int]) -> list[int]:
    """Return the number of who asks, where the query says "I"."""
    if query.asker is None or _ONESELF.isdisjoint(_words(query.text)):
        return []
    return _of_name(query.asker, codes)


def named_in(text: str, codes: Mapping[str | None, int]) -> list[int]:
    """Return the numbers of the speakers whose name, or a word of it, stands in a text."""
    asked = set(_words(text))
    if language_of(text) != ENGLISH:
        asked |= {word.removesuffix("s") for word in asked}  # as in German "Annas"
    return [code for name, code in codes.items() if _is_named(name, text, asked)]


def _is_named(name: str | None, text: str, asked: set[str]) -> bool:
    """Whether a name, or a word of it, stands in a text of these words."""
    if name and may_be_other(name):
        return _stands_in(name, text)
    return not asked.isdisjoint(_telling(name))


def _of_name(asker: str, codes: Mapping[str | None, int]) -> list[int]:
    wanted = asker.casefold()
    return [code for name, code in codes.items() if name and name.casefold() == wanted]


def _named(work: Work) -> NDArray[np.bool_]:
    """Mark what is said by a speaker whose name, or a word of it, stands in the query."""
    return _said_by(work, named_in(work.query.text, work.passages.speakers.codes))


def _stands_in(name: str, query: str) -> bool:
    """Whether a word of a name in another script than Latin stands in a query, in any form."""
    asked = set(content_terms(query))
    return any(asked.issuperset(_longest(content_terms(part))) for part in name.split())


def _longest(terms: list[str]) -> list[str]:
    """Leave out the single signs of a Chinese name that has several."""
    pairs = [term for term in terms if len(term) > 1]
    return pairs or terms


def asks_for_reply(query: Query) -> bool:
    """Whether a query rather asks for what an assistant said than for anything else."""
    return query.intent.message.of_reply > 0


def _user(work: Work) -> NDArray[np.float32]:
    """Return for what the human side of a chat said how probably the model is not asked for."""
    said = _said_by(work, _human(work.passages.speakers.codes))
    return said * np.float32(1.0 - _reply(work, said))


def _model(work: Work) -> NDArray[np.float32]:
    """Return for what an assistant said how probably that is asked for."""
    said = _said_by(work, _of_name(_ASSISTANT, work.passages.speakers.codes))
    return said * np.float32(_reply(work, said))


def _reply(work: Work, said: NDArray[np.bool_]) -> float:
    """Return how probably what an assistant said is asked for; 0 where it makes no difference."""
    return work.query.intent.message.reply if said.any() else 0.0


def _model_replies(work: Work) -> NDArray[np.float32]:
    """Return the same by how well what somebody else said right before meets the query.

    It is the best hybrid score of the turn before, where that is above 0.
    """
    said = _model(work)
    if not said.any():
        return said
    turns = work.passages.turns
    before = np.maximum(work.turn - 1, 0)
    ends = turns.ends(before)
    session, speaker = work.passages.session.view(), work.passages.speaker.view()
    follows = (session[ends] == session[work.rows]) & (speaker[ends] != speaker[work.rows])
    return said * np.where(follows, np.maximum(work.best_of_turn[before], 0), np.float32(0))


def _human(speakers: Mapping[str | None, int]) -> list[int]:
    """Return who is on the human side of a chat.

    They are those who are called so, and all who talk with an assistant under names of their own.
    """
    named = [(name.lower(), code) for name, code in speakers.items() if name]
    is_chat = any(name == _ASSISTANT for name, _ in named)
    wanted: list[int] = []
    for name, code in named:
        is_person = is_chat and name not in _NO_PERSON
        if name in _USER or is_person:
            wanted.append(code)
    return wanted


def _own(work: Work) -> NDArray[np.bool_]:
    """Mark what the one who asks has said, unless it is marked as the human side's already."""
    if work.query.asker is None:
        return work.nothing()
    own = _of_name(work.query.asker, work.passages.speakers.codes)
    human = _human(work.passages.speakers.codes)
    if human and (asks_for_reply(work.query) or set(own) == set(human)):
        return work.nothing()
    return _said_by(work, own)


def _words(name: str | None) -> list[str]:
    return _WORD.findall(name.lower()) if name else []


def _telling(name: str | None) -> list[str]:
    """Return the words of a name but for those of anybody: "the dealer" is told by "dealer"."""
    words = _words(name)
    return [word for word in words if word not in _OF_ANYBODY] or words


def telling_names(names: Iterable[str | None]) -> set[str]:
    """Return the words of the names of people and sides, in lower case."""
    return set().union(*map(_telling, names))


def _said_by(work: Work, wanted: list[int]) -> NDArray[np.bool_]:
    """Mark what one of these speakers said; unless all is, since then it tells nothing."""
    if not wanted:
        return work.nothing()
    speakers = work.passages.speaker.view()[work.rows]
    if len(wanted) == 1:  # as most often; much faster
        marked = speakers == wanted[0]
    else:
        marked = np.isin(speakers, np.asarray(wanted, np.int32))
    return work.nothing() if marked.all() else marked


FEATURES = (
    Feature("named", _named),
    Feature("user", _user),
    Feature("model", _model),
    Feature("model_replies", _model_replies),
    Feature("own", _own, by_hand=True),
)
