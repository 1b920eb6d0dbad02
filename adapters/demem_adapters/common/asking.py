"""Who asks in a call, and what holds then."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from demem_agent import InvalidInput
from demem_agent.reading import Asking
from demem_agent.turns import text_field
from demem_agent.where import Where, where_field

__all__ = [
    "ASSISTANT",
    "USER",
    "Asker",
    "Conditions",
    "Filter",
    "Situation",
    "as_asked",
    "in_conversation",
    "is_person",
]

#: Turns that a question may go back to.
MOST_TURNS = 6
#: Most characters of a message that are asked for. Who pastes a log or a book says what they want
#: before it or after it, and to score all of it takes seconds.
MOST_ASKED = 8_000

#: Under which names the two sides of a turn are remembered, where the user has no other.
USER, ASSISTANT = "user", "assistant"
#: A fixed name, or a function of what the framework gives to a call; None from it means a user
#: whose name is not known.
Asker = str | Callable[..., str | None]
#: Facts that always hold, or a function of what the framework gives to a call.
Conditions = Iterable[str] | Callable[..., Iterable[str]]
#: Which items may be read, as ``read(where=...)`` takes it, or a function of what the framework
#: gives to a call; None from it means all.
Filter = Where | Mapping[str, object] | Callable[..., Where | Mapping[str, object] | None]


@dataclass(frozen=True, slots=True)
class Situation:
    """Who asks in the calls of an adapter, and what holds in them.

    Args:
        asker: the name under which what the user says is remembered, and for whom it is decided.
        conditions: short facts, such as "rain", that what is right may depend on.
        where: which items of the memory may be read.
        unnamed: who asks where no name is known; None where that is nobody in particular.

    Raises:
        InvalidInput: for an asker that is no text or blank, for conditions that are one text, and
            for a filter that cannot be, naming its field.
    """

    asker: Asker | None = None
    conditions: Conditions = ()
    where: Filter | None = None
    _: KW_ONLY
    unnamed: str | None = USER

    def __post_init__(self) -> None:
        if self.asker is not None and not callable(self.asker):
            text_field("asker", self.asker)
        if isinstance(self.conditions, str):
            raise InvalidInput("conditions", self.conditions, "a list of short texts")
        if not callable(self.conditions):
            object.__setattr__(self, "conditions", tuple(self.conditions))
        if not callable(self.where):
            object.__setattr__(self, "where", where_field(self.where))

    def asking(self, /, *given: Any, **about: Any) -> Asking:
        """Return who asks in a call and what holds, as options of ``read`` and ``answered``.

        These check what a function gave.

        Args:
            given, about: what the framework gives to the call, for what is a function.
        """
        asker = self.asker(*given, **about) if callable(self.asker) else self.asker
        facts = self.conditions
        if callable(facts):
            facts = _kept(facts(*given, **about))
        asking: Asking = {"asker": asker or self.unnamed, "conditions": facts}
        where = self.where(*given, **about) if callable(self.where) else self.where
        return asking if where is None else {**asking, "where": where}


def in_conversation(asking: Asking, before: Sequence[str]) -> Asking:
    """Return who asks and what holds, with what was said last before the question.

    Args:
        before: what the user and the assistant said, in order.
    """
    said = [text for text in before if text.strip()][-MOST_TURNS:]
    return {**asking, "context": [as_asked(text) for text in said]}


def as_asked(text: str) -> str:
    """Return what of a message is asked for: of one above 8,000 characters its beginning and end.

    The same of what it gave.
    """
    if len(text) <= MOST_ASKED:
        return text
    half = MOST_ASKED // 2 - 1
    return f"{text[:half].rstrip()}\n{text[-half:].lstrip()}"


def is_person(speaker: str | None) -> bool:
    """Whether a turn was said by a user, under whatever name."""
    return speaker is not None and speaker != ASSISTANT


def _kept(facts: Iterable[str] | None) -> Iterable[str]:
    """Return what a function gave so that it can be gone through more than once."""
    return facts if isinstance(facts, str) else tuple(facts or ())
