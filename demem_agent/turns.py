"""Check what comes in from outside: turns to remember, queries, times, rewards."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, time
from typing import TYPE_CHECKING, TypedDict

from demem_agent.errors import InvalidInput
from demem_agent.later import dataclass, module
from demem_agent.metadata import metadata_field

if TYPE_CHECKING:
    import hashlib
    import json

    from demem_agent import hints
else:
    hints = module("demem_agent.hints")
    hashlib = module("hashlib")
    json = module("json")

__all__ = [
    "CORRECTION",
    "LONGEST_NAME",
    "Retold",
    "Turn",
    "as_turn",
    "asker_field",
    "choice_field",
    "conditions_field",
    "refuse_unknown",
    "request_hash",
    "require_told",
    "text_field",
    "time_field",
    "unit_field",
    "whole_field",
]


#: ``source`` of what was remembered from a correction, and what its ``source_id`` begins with. No
#: caller gives it: what has it speaks for a whole question.
CORRECTION = "correction"
#: Characters that the text of a turn may have at most, and any other text: what a machine takes in
#: within a minute. Work grows with the length.
LONGEST_TURN = 20_000_000
LONGEST_TEXT = 1_000_000
#: Of a memory or a tenant: every row of theirs begins with both.
LONGEST_NAME = 1_000
#: A decision depends on a few facts at most.
MOST_CONDITIONS = 16
LONGEST_CONDITION = 100


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn to remember, as ``ingest_many`` takes it; a mapping with the same keys does as well.

    Attributes:
        at: a datetime, a date, or an ISO 8601 string; one without is dated by the memory's clock.
        trust: in [0, 1].
        key: idempotency key.
        metadata: what you keep beside the text, JSON values by name, at most 4 KB as JSON; readings
            are filtered by it (:class:`~demem_agent.where.Where`), and never show it. A turn can be
            hashed unless this is a mapping that cannot.

    Examples:
        >>> turns = [Turn("Hello!", speaker="Ben", at="2024-03-05"), Turn("Hi.", speaker="Ana")]
        >>> [done.evidence_id for done in memory.ingest_many(turns)]
        ['e4', 'e5']
    """

    text: str
    speaker: str | None = None
    at: datetime | date | str | None = None
    session: str | None = None
    source: str | None = None
    source_id: str | None = None
    trust: float = 1.0
    key: str | None = None
    metadata: Mapping[str, object] | None = None


class Retold(TypedDict, total=False):
    """Keyword arguments of ``update``: what is not carried over; all may be left out.

    at: when it was said; now unless given, by the memory's clock. speaker, session, source,
    source_id, trust, metadata: as for ``ingest``; those of the item whose place it takes unless
    given.
    """

    at: datetime | date | str | None
    speaker: str | None
    session: str | None
    source: str | None
    source_id: str | None
    trust: float
    metadata: Mapping[str, object] | None


_FIELDS = frozenset(Turn.__annotations__)


def as_turn(given: Turn | Mapping[str, object], where: str = "") -> Turn:
    """Check a turn and return it with ``at`` as a datetime.

    Args:
        where: put before the field's name in errors, such as ``turns[3].``.

    Raises:
        InvalidInput: naming the field.
    """
    turn = given if isinstance(given, Turn) else _turn_from(given, where)
    text_field(f"{where}text", turn.text, LONGEST_TURN)
    for name in ("speaker", "session", "source", "source_id"):
        _optional_text(f"{where}{name}", getattr(turn, name))
    if turn.key is not None:  # one that is blank would be the key of every turn that has none
        text_field(f"{where}key", turn.key)
    require_told(f"{where}source", turn.source)
    trust = unit_field(f"{where}trust", turn.trust)
    at = time_field(f"{where}at", turn.at)
    metadata = metadata_field(f"{where}metadata", turn.metadata)
    return replace(turn, trust=trust, at=at, metadata=metadata or None)


def require_told(field: str, source: str | None) -> None:
    """Refuse the source that marks what feedback has remembered: nobody else gives it."""
    if source == CORRECTION:
        allowed = "another word: this one marks what feedback has remembered"
        raise InvalidInput(field, source, allowed)


def _turn_from(given: object, where: str) -> Turn:
    if not isinstance(given, Mapping):
        field = where.rstrip(".") or "turn"
        raise InvalidInput(field, given, "a Turn or a mapping with a text")
    unknown = [str(key) for key in given if key not in _FIELDS]
    if unknown:
        raise _no_such_field(min(unknown), given, where)
    return Turn(**{"text": None, **given})  # a missing text is reported as any other bad text


def _no_such_field(name: str, given: Mapping[str, object], where: str) -> InvalidInput:
    """Return the error of a field that no turn has, with the one that was probably meant."""
    meant = hints.for_field(name, _FIELDS - given.keys())
    known = ", ".join(sorted(_FIELDS))
    guess = _guess(meant, name)
    place = where.rstrip(".: ")
    says = f"a turn has no field {_glance(name)}: {guess}its fields are {known}"
    says = f"{place}: {says}" if place else says
    return InvalidInput(f"{where}{name}", given.get(name), f"one of {known}", says)


def _guess(meant: str, name: str) -> str:
    """Return what helps, ahead of the fields there are: the one that was meant, or a hint."""
    if meant:
        return f"did you mean {meant!r}? "
    hint = hints.elsewhere(name)
    return f"{hint}; " if hint else ""


def _glance(name: str) -> str:
    return repr(name if len(name) <= 40 else f"{name[:40]}...")


def refuse_unknown(function: str, given: Iterable[str], known: type | Collection[str]) -> None:
    """Raise TypeError for a keyword that is none of those known, as Python would.

    It says what the argument is called here, where that is known.

    Args:
        known: a record or a TypedDict, whose fields they are, or their names.
    """
    names = known.__annotations__ if isinstance(known, type) else known
    unknown = sorted(set(given).difference(names))
    if unknown:
        hint = hints.for_argument(unknown[0], names)
        meant = f"; {hint}" if hint else ""
        raise TypeError(f"{function} got an unexpected keyword argument {unknown[0]!r}{meant}")


def text_field(field: str, value: object, most: int = LONGEST_TEXT) -> str:
    """Return a text that is not blank, of ``most`` characters; raise InvalidInput otherwise."""
    if not isinstance(value, str):
        raise InvalidInput(field, value, "a text")
    if len(value) > most:
        raise InvalidInput(field, value, f"a text of at most {most:,} characters")
    if not value or value.isspace():
        raise InvalidInput(field, value, "a text that is not blank")
    return value


def time_field(field: str, value: object) -> datetime | None:
    """Return a time from a datetime, a date (its midnight) or an ISO 8601 string.

    A zone becomes its offset at that time, so that a store gives back what was remembered.
    """
    if value is None:
        return None
    if isinstance(value, datetime):
        return datetime.fromisoformat(value.isoformat())
    if isinstance(value, date):
        return datetime.combine(value, time())
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value)
        except ValueError:
            pass  # reported below, with the allowed forms
    raise InvalidInput(
        field,
        value,
        "a date or a time in ISO 8601, such as '2023-05-08' or '2023-05-08T13:56', or a datetime",
    )


def unit_field(field: str, value: object) -> float:
    """Return a number in [0, 1] as a float; raise InvalidInput for any other value."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput(field, value, "a number from 0 to 1")
    if not 0 <= value <= 1:
        raise InvalidInput(field, value, "a number from 0 to 1")
    return float(value)


def whole_field(field: str, value: object, least: int) -> int:
    """Return a whole number of at least ``least``; raise InvalidInput for any other value."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise InvalidInput(field, value, f"a whole number of at least {least}")
    return value


def choice_field(field: str, value: object, choices: Sequence[str]) -> str:
    """Return one of two names or more; raise InvalidInput for any other value."""
    if not isinstance(value, str) or value not in choices:
        *names, last = (f"'{choice}'" for choice in choices)
        raise InvalidInput(field, value, f"{', '.join(names)} or {last}")
    return value


def asker_field(given: object) -> str | None:
    """Return who asks, or None; raise InvalidInput for a blank name."""
    if given is None:
        return None
    return text_field("asker", given).strip()


def conditions_field(given: object) -> tuple[str, ...]:
    """Return conditions in lower case, each once, in order: they are compared as they are.

    Raises:
        InvalidInput: for more than 16, or one of more than 100 characters.
    """
    expected = f"a list of at most {MOST_CONDITIONS} short texts"
    if not isinstance(given, Iterable) or isinstance(given, str):
        raise InvalidInput("conditions", given, expected)
    facts = list(given)
    if len(facts) > MOST_CONDITIONS:
        raise InvalidInput("conditions", given, expected)
    checked: dict[str, None] = {}
    for n, fact in enumerate(facts):
        text = " ".join(text_field(f"conditions[{n}]", fact).casefold().split())
        if len(text) > LONGEST_CONDITION:
            allowed = f"a text of at most {LONGEST_CONDITION} characters"
            raise InvalidInput(f"conditions[{n}]", fact, allowed)
        checked[text] = None
    return tuple(sorted(checked))


def request_hash(kind: str, request: object) -> str:
    """Digest a request, so that the same key can be told from a clash; no text survives in it."""
    plain = _plain(request) if isinstance(request, Turn) else request
    canonical = json.dumps([kind, plain], sort_keys=True, default=str)
    return hashlib.sha256(canonical.encode()).hexdigest()


def _plain(turn: Turn) -> dict[str, object]:
    """Return the fields of a turn; those without metadata are as they were before there was any.

    So keys that were used then are known by what they were used for.
    """
    plain: dict[str, object] = {name: getattr(turn, name) for name in Turn.__annotations__}
    if not turn.metadata:
        del plain["metadata"]
    return plain


def _optional_text(field: str, value: object) -> None:
    if value is not None and not isinstance(value, str):
        raise InvalidInput(field, value, "a text or None")
    if value is not None and len(value) > LONGEST_TEXT:
        raise InvalidInput(field, value, f"a text of at most {LONGEST_TEXT:,} characters, or None")
