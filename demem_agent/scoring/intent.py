"""What a query asks for: its times, the kind of thing, whose words, and before or now.

A query is parsed here and nowhere else: each part when it is first needed, once, however many steps
of a read need it.
"""

from __future__ import annotations

from datetime import date
from functools import cached_property

from demem_agent.scoring.asked import Asked, asked_of
from demem_agent.scoring.time_asked import asks_of_before
from demem_agent.text.language.questions import asks_for, asks_how_many, asks_when, asks_who
from demem_agent.text.remembered import kept_lately
from demem_agent.text.times.dates import Span, stretches

__all__ = ["Intent", "intent_of"]


class Intent:
    """What a query asks for.

    Args:
        text: the query.
        asked: the day it is asked, by which "last week" goes; None if unknown.
    """

    def __init__(self, text: str, asked: date | None) -> None:
        self._text = text
        self._asked = asked
        self._times: dict[date | None, tuple[Span, ...]] = {}

    @cached_property
    def before(self) -> bool:
        """Whether it asks for what held before something else did."""
        return asks_of_before(self._text)

    @cached_property
    def kind(self) -> str:
        """What kind of thing it asks for, such as "place"; "" where no word tells."""
        return asks_for(self._text)

    @cached_property
    def message(self) -> Asked:
        """Whether it needs what was said before, and whether an assistant's words answer it."""
        return asked_of(self._text)

    @cached_property
    def is_of_time(self) -> bool:
        """Whether it asks for a time."""
        return asks_when(self._text)

    @cached_property
    def is_of_number(self) -> bool:
        """Whether it asks for a number."""
        return asks_how_many(self._text)

    @cached_property
    def is_of_name(self) -> bool:
        """Whether it asks for a person, a place or a name."""
        return asks_who(self._text)

    def times(self, newest: date | None = None) -> tuple[Span, ...]:
        """Return the times that it speaks of, in the order of the text.

        Args:
            newest: the day that dates without a year go by, where it is not known when it is asked.
        """
        anchor = newest if self._asked is None else None
        if anchor not in self._times:
            self._times[anchor] = tuple(stretches(self._text, self._asked, anchor))
        return self._times[anchor]


@kept_lately(64)
def intent_of(text: str, asked: date | None = None) -> Intent:
    """Return what a query asks for; the same record for each step of a read.

    Args:
        asked: the day it is asked, if known.
    """
    return Intent(text, asked)
