"""What is asked of a memory: one record from the door to the reading.

An option of ``read`` is a key of :class:`Reads`, a field of :class:`Ask` and a line of
:func:`ask_of`, all here; what it does stands where it is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from demem_agent.encoders import as_matrix
from demem_agent.errors import CollaboratorError, InvalidInput
from demem_agent.later import dataclass
from demem_agent.scoring.intent import Intent, intent_of
from demem_agent.settings import Settings, check_floor, check_mode, check_order
from demem_agent.slots.records import Vector
from demem_agent.text.pieces import without_middle
from demem_agent.text.unsaid import in_context
from demem_agent.turns import (
    LONGEST_TEXT,
    asker_field,
    conditions_field,
    refuse_unknown,
    text_field,
    whole_field,
)
from demem_agent.types import Mode, Order
from demem_agent.where import Where, where_field

__all__ = ["Ask", "Asking", "Numbers", "Reads", "Routes", "Situated", "When", "ask_of"]

#: Turns that somebody may give as what was said last.
MOST_TURNS = 100
#: Characters that are read of each end of a very long query.
QUERY_END = 8_192

When = datetime | date | str | None
#: A vector as its encoder gave it.
Numbers = Sequence[float] | NDArray[Any]


class Situated(TypedDict, total=False):
    """Who asks, and when; all may be left out.

    at: when the query is asked, which "last week" in it goes by; now unless given, by the memory's
    clock.
    asker: who asks, by the name under which they speak in memory: their own lines count for more,
    "I" in the query is of them, and what was right for others is not taken for right here.
    conditions: short facts of the situation, such as "rain", that what was decided may depend on.
    """

    at: When
    asker: str | None
    conditions: Iterable[str]


class Asking(Situated, total=False):
    """Who asks, when, and in which conversation; all may be left out.

    at, asker, conditions: as in ``Situated``. context: what was said last in the
    conversation, in order, at most 100 turns. A query that names nothing of what it is about, such
    as "when was that?", is asked with words of these, and recorded so: "when was that? [about:
    loom]".
    where: which items may be read, a :class:`~demem_agent.where.Where` or a mapping with its keys.
    The others are as if they were not there: not ranked, not folded in, nor what a line has been
    superseded by. Scores compare with the whole memory all the same (how rare a word is, what was
    said before and after), so that the items left are in the order that they have among all. What
    worked in a situation is of no item and is left out. A strict reading is refused: a summary
    holds what others said.
    gate: read nothing for a message on which nothing remembered probably bears, such as "Thanks!"
    (``Reading.gated``); for what a user writes to an assistant, rather than for what is looked up.
    Off unless given. What was decided before is read all the same, and so is a strict reading.
    """

    context: Sequence[str]
    where: Where | Mapping[str, object] | None
    gate: bool


class Routes(Asking, total=False):
    """Keyword arguments of ``route``; all may be left out.

    at, asker, conditions, context, where, gate: as for ``answer``; where a query goes is told all
    the same.
    vector: of the query by the memory's own encoder, where you have it already, of any length but
    0; the query may then be "", and is found by its meaning alone.
    """

    vector: Numbers | None


class Reads(Routes, total=False):
    """Keyword arguments of ``read``; all may be left out.

    at, asker, conditions, context, where, gate, vector: as for ``answer`` and ``route``.
    limit: the most that the reading may measure, in the memory's unit, marks included; its
    ``read_limit`` unless given.
    mode: ``evidence`` gives the best evidence up to the limit, the routed slot's ahead; ``strict``
    gives the routed slot's summary alone, as in the paper.
    order: of the days: ``time`` puts the oldest first, ``latest`` the newest; a strict reading,
    which is a summary, is given as it is.
    floor: probability in [0, 1) of being evidence below which a line is not read, as in
    ``Settings.floor``; 0 or None, to fill the limit.
    slot: read this one as if the query had been routed there.
    without: ids of evidence to leave out, such as what the model is shown anyway; a strict reading,
    which is a summary, is given as it is.
    """

    limit: int | None
    mode: Mode | None
    order: Order | None
    floor: float | None
    slot: int | None
    without: Iterable[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A query and how it is to be read, checked.

    Attributes:
        query: with what it leaves unsaid, and without the middle of a very long one.
        at: when it is asked, as far as known.
        vector: of the query, of unit length, where it is known already.
        limit: the most that the reading may measure.
        order: of the days in it.
        floor: probability below which a line is not read; 0.0 for none.
        slot: to read as if the query had been routed there.
        without: ids of the evidence to leave out.
        asker: who asks; None where the caller does not say.
        conditions: facts that hold, each once, in order.
        where: which items may be read; None where all may.
        gated: the message, where nothing is to be read unless something bears on it; "" where
            something is read in any case.
    """

    query: str
    limit: int
    mode: Mode
    order: Order = "time"
    at: datetime | None = None
    vector: Vector | None = None
    floor: float = 0.0
    slot: int | None = None
    without: frozenset[str] = frozenset()
    asker: str | None = None
    conditions: tuple[str, ...] = ()
    where: Where | None = None
    gated: str = ""

    @property
    def intent(self) -> Intent:
        """What it asks for; the same record as of the query that the scorer sees."""
        return intent_of(self.query, self.at.date() if self.at else None)


def ask_of(query: str, given: Mapping[str, Any], settings: Settings, at: datetime | None) -> Ask:
    """Check what is asked and put it into one record.

    Args:
        given: keys of :class:`Reads`.
        at: the time that ``given`` has, or that the memory's clock gave in its place.

    Raises:
        InvalidInput: naming the field and its range.
        TypeError: for an argument that does not exist.
    """
    refuse_unknown("read", given, Reads)
    vector = given.get("vector")
    _check_query(query, vector)
    message = without_middle(query, QUERY_END)  # who asks says so first or last
    return Ask(
        query=in_context(message, _turns(given.get("context", ()))),
        vector=_unit_vector(vector),
        limit=_limit(given.get("limit"), settings),
        mode=_mode(given.get("mode"), settings),
        order=_order(given.get("order"), settings),
        at=at,
        floor=_floor(given, settings),
        slot=_slot(given.get("slot")),
        without=_ids("without", given.get("without", ())),
        asker=asker_field(given.get("asker")),
        conditions=conditions_field(given.get("conditions", ())),
        where=where_field(given.get("where")),
        gated=message if _flag("gate", given.get("gate", False)) else "",
    )


def _check_query(query: object, vector: object) -> None:
    if vector is None:
        text_field("query", query)
    elif not isinstance(query, str):
        raise InvalidInput("query", query, "a text; with a vector it may be blank")


def _turns(given: object) -> Sequence[str]:
    allowed = f"a list of at most {MOST_TURNS} texts, what was said last"
    if not isinstance(given, Sequence) or isinstance(given, str) or len(given) > MOST_TURNS:
        raise InvalidInput("context", given, allowed)
    for turn in given:
        if not isinstance(turn, str) or len(turn) > LONGEST_TEXT:
            raise InvalidInput("context", turn, f"{allowed}, of {LONGEST_TEXT:,} characters")
    return given


def _flag(field: str, given: object) -> bool:
    if not isinstance(given, bool):
        raise InvalidInput(field, given, "True or False")
    return given


def _unit_vector(given: Numbers | None) -> Vector | None:
    if given is None:
        return None
    try:
        vector: NDArray[np.float32] = as_matrix(given, 1)[0]
    except CollaboratorError as error:
        raise InvalidInput("vector", given, "a row of finite numbers") from error
    if not vector.any():
        raise InvalidInput("vector", given, "numbers that are not all 0")
    return vector


def _limit(given: int | None, settings: Settings) -> int:
    return settings.read_limit if given is None else whole_field("limit", given, 1)


def _mode(given: Mode | None, settings: Settings) -> Mode:
    if given is None:
        return settings.mode
    check_mode(given)
    return given


def _order(given: Order | None, settings: Settings) -> Order:
    if given is None:
        return settings.order
    check_order(given)
    return given


def _floor(given: Mapping[str, Any], settings: Settings) -> float:
    floor: float | None = given.get("floor", settings.floor)
    check_floor(floor)
    return floor or 0.0


def _slot(given: object) -> int | None:
    return None if given is None else whole_field("slot", given, 0)


def _ids(field: str, given: object) -> frozenset[str]:
    if not isinstance(given, Iterable) or isinstance(given, str):
        raise InvalidInput(field, given, "a list of ids of evidence")
    ids = tuple(given)
    if not all(isinstance(id, str) for id in ids):
        raise InvalidInput(field, given, "a list of ids of evidence")
    return frozenset(filter(None, ids))
