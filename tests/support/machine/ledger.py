"""What ought to be remembered, told by the operations alone."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from datetime import UTC, date, datetime, time, timedelta

from demem_agent.metadata import Metadata
from demem_agent.types import Evidence, FeedbackReport, Ingested, SplitCertificate
from machine.incoming import Request, When, mark, marks_in

__all__ = ["Ledger", "instant", "moment"]

#: A sentence as it came in, without its end.
_SENTENCE = re.compile(r"The [^@]*? is mk\d{4}zz[^.!?…。\n]*")


@dataclass
class Ledger:
    """What ought to be remembered, told by the operations alone.

    Attributes:
        live: what was ingested and not forgotten, by id.
        ingested: how many items there ever were.
        queries, asked, situations, rewards: of every answer, by its id; a situation is who asked,
            and what held.
        keyed, reported: what came under a key, with its result.
        settled: of every succession that was told and stands, its old and its new item.
        owners: the item in which each mark came in.
        issued: how many marks were.
    """

    live: dict[str, Evidence] = field(default_factory=dict)
    ingested: int = 0
    queries: dict[str, str] = field(default_factory=dict)
    asked: dict[str, datetime | None] = field(default_factory=dict)
    situations: dict[str, tuple[str | None, tuple[str, ...]]] = field(default_factory=dict)
    rewards: dict[str, tuple[float, ...]] = field(default_factory=dict)
    keyed: dict[str, tuple[Request, Ingested]] = field(default_factory=dict)
    reported: dict[str, tuple[Request, FeedbackReport]] = field(default_factory=dict)
    certificates: dict[str, SplitCertificate] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    pins: set[int] = field(default_factory=set)
    settled: dict[str, tuple[str, str]] = field(default_factory=dict)
    owners: dict[str, str] = field(default_factory=dict)
    issued: int = 0

    def mark(self) -> str:
        """Issue a mark."""
        self.issued += 1
        return mark(self.issued)

    def forbidden(self) -> set[str]:
        """Return the marks of which no trace may be left."""
        issued = {mark(n) for n in range(1, self.issued + 1)}
        return issued - marks_in(list(self.live.values()))

    def enter(self, request: Request, done: Ingested) -> None:
        """Take in an item that was remembered."""
        self.ingested += 1
        assert done.evidence_id == f"e{self.ingested}", "evidence is numbered in order of ingestion"
        item = _record(done.evidence_id, request)
        self.live[item.id] = item
        for found in marks_in(item):
            self.owners.setdefault(found, item.id)

    def correction(self, answer: str, told: str) -> Request:
        """Return a correction as it ought to be remembered.

        It has its question, its time and where it is from.
        """
        return {
            "text": f"{self._begun(answer)} {told.strip()}",
            "speaker": None,
            "at": self.asked[answer],
            "source": "correction",
            "source_id": f"correction:{answer}",
        }

    def remembered(self, request: Request) -> str | None:
        """Return the id of the latest live correction of the same question, if it says the same."""
        begun = self._begun(request["source_id"].removeprefix("correction:"))
        latest: Evidence | None = None
        for item in self.live.values():
            if item.source == "correction" and item.text.startswith(begun):
                latest = item
        if latest is None or latest.text != request["text"]:
            return None
        return latest.id

    def close(self, slot: int) -> None:
        """Take in that a slot was closed."""
        self.names.pop(slot, None)

    def sentence(self, pick: int) -> str:
        """Return a sentence of something remembered, as somebody would quote it.

        The last mark of the item is left out.
        """
        item = list(self.live.values())[pick % len(self.live)]
        found = _SENTENCE.findall(item.text)
        return str(found[pick % len(found)])

    def _begun(self, answer: str) -> str:
        return f'correction to "{self.queries[answer].strip()}":'


def moment(at: When) -> datetime | None:
    """Return a time as the memory keeps it."""
    if isinstance(at, str):
        return datetime.fromisoformat(at)
    if isinstance(at, date) and not isinstance(at, datetime):
        return datetime.combine(at, time())
    return at


def instant(at: datetime) -> timedelta:
    """Return a time as the span since the year 1, in which times of all zones can be compared."""
    aware = at if at.tzinfo else at.replace(tzinfo=UTC)
    return aware - datetime(1, 1, 1, tzinfo=UTC)


def _record(id: str, request: Request) -> Evidence:
    given = {"at": moment(request.get("at"))}
    for each in fields(Evidence):
        if each.name in request and each.name not in ("id", "at"):
            given[each.name] = request[each.name]
    given["metadata"] = Metadata(request.get("metadata") or ())
    return Evidence(id, **given)
