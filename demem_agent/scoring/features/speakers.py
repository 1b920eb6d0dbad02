"""Features of who said a passage."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from demem_agent.later import pattern
from demem_agent.scoring.features.work import Feature, Work

__all__ = ["FEATURES", "with_model"]

_WORD = pattern(r"[^\W_]+")
_SAID = (
    r"(?:said|told|suggested|recommended|mentioned|gave|given|provided|shared|listed|explained"
    r"|advised|described|wrote|written|proposed|offered|showed|shown)"
)
_OF_ANYBODY = frozenset("the a an my your our his her their of".split())
#: A question about what the other side of a chat said: the user's own words are then not ahead.
_ASKS_FOR_REPLY = pattern(
    rf"\byou(?:['’]ve|\s+have|\s+had)?"
    rf"(?:\s+(?:just|also|once|earlier|previously|already))?\s+{_SAID}\b"
    r"|\bdid\s+you\s+(?:say|tell|suggest|recommend|mention|give|provide|share|list"
    r"|explain|advise|describe|write)\b"
    r"|\byour\s+(?:suggestion|advice|recommendation|answer|reply|response|explanation)s?\b"
    r"|\bremind\s+me\b",
    re.IGNORECASE,
)
#: What the sides of a chat with a model are called, by convention.
_USER = ("user", "human")
_ASSISTANT = "assistant"
_SIDES = frozenset({*_USER, _ASSISTANT})
#: Who is no person in such a chat: the model, and what was remembered of corrections.
_NO_PERSON = (_ASSISTANT, "correction")


def with_model(names: Iterable[str | None]) -> bool:
    """Whether speakers of these names are a user and a model, and not people among themselves."""
    return any(name and name.lower() in _SIDES for name in names)


def _named(work: Work) -> NDArray[np.bool_]:
    """Mark what is said by a speaker whose name, or a word of it, stands in the query."""
    asked = set(_words(work.query.text))
    wanted = []
    for name, code in work.passages.speakers.codes.items():
        is_asked = not asked.isdisjoint(_telling(name))
        if is_asked:
            wanted.append(code)
    return _said_by(work, wanted)


def _user(work: Work) -> NDArray[np.bool_]:
    """Mark what the human side of a chat said, unless the query asks what the other side did."""
    if _ASKS_FOR_REPLY.search(work.query.text):
        return work.nothing()
    return _said_by(work, _human(work))


def _human(work: Work) -> list[int]:
    """Return who is on the human side of a chat.

    They are those who are called so, and all who talk with an assistant under names of their own.
    """
    codes = work.passages.speakers.codes.items()
    named = [(name.lower(), code) for name, code in codes if name]
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
    asker = work.query.asker.casefold()
    codes = work.passages.speakers.codes.items()
    own = [code for name, code in codes if name and name.casefold() == asker]
    human = _human(work)
    if human and (_ASKS_FOR_REPLY.search(work.query.text) or set(own) == set(human)):
        return work.nothing()
    return _said_by(work, own)


def _words(name: str | None) -> list[str]:
    return _WORD.findall(name.lower()) if name else []


def _telling(name: str | None) -> list[str]:
    """Return the words of a name but for those of anybody: "the dealer" is told by "dealer"."""
    words = _words(name)
    return [word for word in words if word not in _OF_ANYBODY] or words


def _said_by(work: Work, wanted: list[int]) -> NDArray[np.bool_]:
    """Mark what one of these speakers said; unless all is, since then it tells nothing."""
    speakers = work.passages.speaker.view()[work.rows]
    marked = np.isin(speakers, np.asarray(wanted, np.int32))
    return work.nothing() if marked.all() else marked


FEATURES = (
    Feature("named", _named),
    Feature("user", _user, by_hand=True),
    Feature("own", _own, by_hand=True),
)
