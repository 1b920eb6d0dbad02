"""What a caller keeps beside a text: JSON values by name, which cannot change and can be hashed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn, Self

from demem_agent.errors import InvalidInput
from demem_agent.later import module

if TYPE_CHECKING:
    import json
else:
    json = module("json")

__all__ = ["MOST_BYTES", "NO_METADATA", "Metadata", "frozen", "metadata_field", "same"]

#: Bytes that the metadata of one item may have as JSON in UTF-8: 4 KB.
MOST_BYTES = 4096
#: Lists and mappings that may stand in one another.
DEEPEST = 16
#: Whole numbers are of 64 bits, as in other readers of JSON.
_LARGEST = 2**63
_ALLOWED = "a mapping of texts to JSON values"


def _refuse(self: object, *_: object, **__: object) -> NoReturn:
    """Refuse to change.

    Raises:
        TypeError: always.
    """
    raise TypeError("metadata cannot change; ingest the text with other metadata")


class Metadata(dict[str, Any]):
    """A mapping of JSON values that cannot change: ``item.metadata["project"]``.

    Lists come back as tuples, and mappings as this. It equals any mapping that holds the same, can
    be hashed, and ``json.dumps`` takes it as it is. Its keys are in the order of the alphabet.

    Examples:
        >>> Metadata({"tags": ["a", "b"], "project": "apollo"})
        Metadata({'project': 'apollo', 'tags': ('a', 'b')})
        >>> Metadata({"year": 2024}) == {"year": 2024}
        True

    Raises:
        InvalidInput: for what is no JSON value, naming it.
    """

    __slots__ = ()

    def __init__(self, given: Mapping[str, Any] | Iterable[tuple[str, Any]] = ()) -> None:
        super().__init__(frozen("metadata", dict(given)))

    @classmethod
    def _of(cls, held: Mapping[str, Any]) -> Self:
        """Make one of values that are frozen already."""
        made = cls.__new__(cls)
        dict.update(made, held)
        return made

    @property
    def text(self) -> str:
        """It as JSON, "" where it is empty."""
        if not self:
            return ""
        return json.dumps(self, ensure_ascii=False, sort_keys=True, separators=(",", ":"))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, dict) and not isinstance(other, Metadata):
            try:
                other = Metadata(other)
            except InvalidInput:
                return False
        return super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:  # type: ignore[override]  # a dict has none
        return hash(frozenset(self.items()))

    def __repr__(self) -> str:
        return f"Metadata({super().__repr__()})"

    def __reduce__(self) -> tuple[type[Metadata], tuple[dict[str, Any]]]:
        return Metadata, (dict(self),)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _: dict[int, object]) -> Self:
        return self

    __setitem__ = _refuse
    __delitem__ = _refuse
    __ior__ = _refuse
    clear = _refuse
    pop = _refuse
    popitem = _refuse
    setdefault = _refuse
    update = _refuse


def metadata_field(field: str, given: object) -> Metadata:
    """Return metadata from a mapping; None is none.

    Raises:
        InvalidInput: naming what is no JSON value, or for more than 4,096 bytes of JSON.
    """
    if given is None:
        return NO_METADATA
    if not isinstance(given, Mapping):
        raise InvalidInput(field, given, _ALLOWED)
    made = frozen(field, given)
    size = len(made.text.encode(errors="surrogatepass"))
    if size > MOST_BYTES:
        raise InvalidInput(field, given, f"{_ALLOWED}, at most {MOST_BYTES:,} bytes as JSON")
    return made or NO_METADATA


def frozen(field: str, value: object, deep: int = 0) -> Any:
    """Return a JSON value that cannot change: lists as tuples, mappings as :class:`Metadata`.

    Raises:
        InvalidInput: for what is no JSON value, naming where it stands.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int | float):
        return _number(field, value)
    if not isinstance(value, list | tuple | Mapping):
        allowed = "a JSON value: a text, a number, True, False, None, or a list or mapping of them"
        raise InvalidInput(field, value, allowed)
    if deep == DEEPEST:
        raise InvalidInput(field, value, f"lists and mappings within at most {DEEPEST} others")
    if isinstance(value, Mapping):
        return _frozen_mapping(field, value, deep)
    return tuple(frozen(f"{field}[{n}]", each, deep + 1) for n, each in enumerate(value))


def _number(field: str, value: int | float) -> int | float:
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidInput(field, value, "a finite number")
        return float(value)
    if not -_LARGEST <= value < _LARGEST:
        raise InvalidInput(field, value, "a whole number of 64 bits")
    return int(value)


def _frozen_mapping(field: str, given: Mapping[Any, Any], deep: int) -> Metadata:
    held: dict[str, Any] = {}
    for name, value in given.items():
        if not isinstance(name, str):
            raise InvalidInput(field, name, "texts as names of its values")
        held[name] = frozen(f"{field}.{name}", value, deep + 1)
    return Metadata._of({name: held[name] for name in sorted(held)})


def same(one: object, other: object) -> bool:
    """Whether two frozen JSON values are the same: 1 is 1.0, and neither is True."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, Metadata) and isinstance(other, Metadata):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    return one == other


#: What an item has that came without any.
NO_METADATA = Metadata()
