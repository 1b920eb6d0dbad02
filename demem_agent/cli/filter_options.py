"""The options that say which items are meant: ``--where``, ``--since`` and ``--until``."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from demem_agent import SlotMemory
from demem_agent.cli.faults import UsageError
from demem_agent.metadata import frozen
from demem_agent.where import Where

__all__ = ["Filter"]

_METADATA = "metadata."
#: What may be given several times, and is then any of these.
_SEVERAL = ("speaker", "session", "source", "source_ids")
#: Of these, those whose values are told where none is as asked, and how many.
_NAMES = ("speaker", "session", "source")
_SHOWN = 10
_NUMBERS = ("slot", "trust")
_TIMES = ("since", "until")
_TRUTHS = {"true": True, "false": False}
_KEYS = (*_SEVERAL, *_NUMBERS, *_TIMES, "holds")


@dataclass(frozen=True, slots=True)
class Filter:
    """Which items are meant; all of them unless something is given."""

    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="Only items with speaker, session, source, source_ids, slot, trust (at least), "
            "holds (true or false) or metadata.NAME as given. All must hold; one key again is any "
            "of its values. metadata.NAME alone: it has one.",
        ),
    ] = None
    since: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Only what was said then or later, such as 2024-05."),
    ] = None
    until: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="Only what was said before; a day, month or year is meant whole."
        ),
    ] = None

    def given(self) -> Where | None:
        """Return what was typed as a filter, which the memory checks; None where nothing was.

        Raises:
            UsageError: for what is no KEY=VALUE, an unknown key, or two values of one that has one.
        """
        found: dict[str, Any] = {}
        for typed in self.where or ():
            _add(found, typed)
        for name, value in (("since", self.since), ("until", self.until)):
            if value is not None:
                _put_once(found, name, value)
        return Where(**found) if found else None

    def missed(self, memory: SlotMemory) -> str:
        """Return why a filter that leaves nothing does so, as far as can be told.

        That is a name that no item has, which may be there in other letters.
        """
        where = self.given() or Where()
        for name in _NAMES:
            asked = getattr(where, name)
            there = {getattr(item, name) for item in memory.evidence()} - {None}
            if asked and there.isdisjoint(asked):
                return f"no item has {name} {' or '.join(map(repr, asked))}; {_there(there)}"
        return "nothing matches the filter"


def _there(names: Collection[str]) -> str:
    if not names:
        return "none has any"
    shown = sorted(names)[:_SHOWN]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"there are: {', '.join(shown)}{more}"


def _add(found: dict[str, Any], typed: str) -> None:
    """Add one ``--where`` to what was found before it."""
    name, separator, value = typed.partition("=")
    if name.startswith(_METADATA) and name != _METADATA:
        metadata = found.setdefault("metadata", {})
        _add_metadata(metadata, name.removeprefix(_METADATA), value if separator else None)
        return
    known = ", ".join((*_KEYS, f"{_METADATA}NAME"))
    if not separator or name not in _KEYS:
        raise UsageError(f"--where {typed}: give KEY=VALUE, KEY one of {known}")
    if name in _SEVERAL:
        found.setdefault(name, []).append(value)
    else:
        _put_once(found, name, _meant(name, value))


def _add_metadata(metadata: dict[str, Mapping[str, Any]], name: str, value: str | None) -> None:
    if value is None:
        metadata.setdefault(name, {"exists": True})
        return
    before = metadata.get(name, {}).get("in", [])
    metadata[name] = {"in": [*before, *_readings_of(value)]}


def _readings_of(value: str) -> list[Any]:
    """Return what typed metadata may mean: the text, or the number, truth value or null in it."""
    try:
        meant = frozen("where.metadata", json.loads(value))
    except ValueError:  # no JSON, or a number that metadata cannot have
        return [value]
    return [value] if isinstance(meant, str | tuple | dict) else [value, meant]


def _put_once(found: dict[str, Any], name: str, value: object) -> None:
    if name in found:
        raise UsageError(f"{name} was given twice")
    found[name] = value


def _meant(name: str, value: str) -> object:
    """Return what was typed of a key that has one value, as a filter takes it."""
    if name in _NUMBERS:
        return _number(name, value)
    if name != "holds":
        return value
    if value.lower() not in _TRUTHS:
        raise UsageError(f"--where holds={value}: give true or false")
    return _TRUTHS[value.lower()]


def _number(name: str, value: str) -> int | float:
    try:
        return int(value) if name == "slot" else float(value)
    except ValueError:
        raise UsageError(f"--where {name}={value}: give a number") from None
