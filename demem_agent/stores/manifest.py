"""The last line of an export, by which one is known that was cut off, edited or put in another
order.

It guards against damage and against slips. Who edits an export on purpose can write this line anew,
as :func:`ended` does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from demem_agent.errors import InvalidInput
from demem_agent.stores.codec import Json, Plain, dumps

__all__ = ["END", "Tally", "closing", "digest_of", "ended"]

#: ``kind`` of the last line.
END = "end"
#: Hex digits that tell one line from another: enough to name the one that was edited.
_SUM = 8
_WHOLE = "a whole export, with every line as it was written"


class Tally:
    """What the lines of an export come to, as they pass by."""

    def __init__(self) -> None:
        self._sums: list[str] = []
        self._whole = hashlib.sha256()

    def add(self, line: Plain) -> None:
        """Count a line.

        Raises:
            TypeError, ValueError, RecursionError: for what is no JSON object.
        """
        written = dumps(line).encode("ascii")
        self._sums.append(hashlib.sha256(written).hexdigest()[:_SUM])
        self._whole.update(written + b"\n")

    def end(self) -> Json:
        """Return the last line: how many came before it, and a digest of all and of each."""
        return {
            "kind": END,
            "lines": len(self._sums),
            "digest": self._whole.hexdigest(),
            "sums": "".join(self._sums),
        }

    def require(self, end: Plain) -> None:
        """Check that the lines are those of which the last one tells.

        Raises:
            InvalidInput: naming the first line that is not.
        """
        if dict(end) == self.end():
            return
        number = len(self._sums) + 1
        told = _split(end.get("sums"))
        if told is None or end.get("lines") != len(told):
            raise _refused(number, "does not tell what the lines before it come to")
        for place, (is_here, was_there) in enumerate(zip(self._sums, told, strict=False), 1):
            if is_here != was_there:
                raise _refused(place, "is not what was written there: it was edited or moved")
        if len(told) > len(self._sums):
            raise _refused(number, "is missing: the export had more of them")
        if len(told) < len(self._sums):
            raise _refused(len(told) + 1, "was added after the export was written")
        raise _refused(number, "does not fit the lines before it")

    def cut_off(self) -> InvalidInput:
        """Return the error for lines that end without the last one."""
        return _refused(len(self._sums) + 1, "is missing: the export was cut off before its end")


def ended(lines: Iterable[Plain]) -> list[Json]:
    """Return lines that were edited as an export that is whole, its last line written anew.

    Examples:
        >>> lines = SlotMemory().export()
        >>> lines[0]["settings"]["slots"] = 12
        >>> SlotMemory.restore(ended(lines)).settings.slots
        12
    """
    kept = [dict(line) for line in lines if line["kind"] != END]
    tally = Tally()
    for line in kept:
        tally.add(line)
    return [*kept, tally.end()]


def digest_of(lines: Iterable[Plain]) -> str:
    """Return the digest of an export, which its last line tells; 64 hex digits."""
    *_, end = ended(lines)
    return str(end["digest"])


def closing(lines: Iterable[Json]) -> Iterator[Json]:
    """Yield the lines of an export and then the last one."""
    tally = Tally()
    for line in lines:
        tally.add(line)
        yield line
    yield tally.end()


def _split(sums: object) -> list[str] | None:
    """Return the sums of single lines, or None for what holds none."""
    if not isinstance(sums, str) or len(sums) % _SUM:
        return None
    return [sums[start : start + _SUM] for start in range(0, len(sums), _SUM)]


def _refused(number: int, why: str) -> InvalidInput:
    return InvalidInput(f"line {number}", None, _WHOLE, f"line {number} of the export {why}")
