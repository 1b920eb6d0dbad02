"""What a page in a file shows: what the server would answer, asked for beforehand.

It is asked of the endpoints themselves, in this process, so that the page is one and the same.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Unpack
from urllib.parse import quote, urlencode

from demem_agent.options import Options
from demem_agent.pool import MemoryPool
from demem_agent.server.endpoints import ENDPOINTS
from demem_agent.server.house import House
from demem_agent.server.keys import KeyRing
from demem_agent.server.keys.records import EVERYTHING
from demem_agent.server.routes import Routes
from demem_agent.server.working import Work, carried_out

__all__ = ["snapshot"]

Json = dict[str, Any]

#: Questions that were asked before and can be looked at, the newest.
_QUESTIONS = 40
#: Shares of a memory's own limit at which they are read.
_SHARES = (0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5)
_LISTS = ("items", "answers", "certificates", "decisions", "situations", "successions")
_RECORDS = ("slots", "marks", "receipts", "sharings", "health", "storage")
_PAGE = 1000


def snapshot(
    rows: Sequence[Json], name: str, *, now: datetime | None = None, **options: Unpack[Options]
) -> Json:
    """Return what the page of an export shows.

    Args:
        rows: the lines of the export.
        name: what the memory is called there; an export does not say.
        now: when it is written; by the clock of the machine unless given.
        options: who does the work, such as the memory's own ``encoder`` where that is not the
            shipped one.

    Raises:
        InvalidInput: naming the line that cannot be.
        EncoderMismatch: if it is another encoder's memory.
    """
    house = House(MemoryPool("memory://", **options), KeyRing())
    try:
        house.restored(name, list(rows))
        taken = _Taken(house, name)
        taken.take()
    finally:
        house.close()
    written = (now or datetime.now(UTC)).strftime("%d %B %Y").lstrip("0")
    return {
        "written": written,
        "answers": taken.answers,
        "questions": taken.questions,
        "limits": taken.limits,
    }


class _Taken:
    """Answers of a house by what was asked."""

    def __init__(self, house: House, memory_id: str) -> None:
        self.answers: Json = {}
        self.questions: list[str] = []
        self.limits: list[int] = []
        self._house = house
        self._routes = Routes(ENDPOINTS)
        self._one = f"/v1/memories/{quote(memory_id, safe='')}"

    def take(self) -> None:
        """Ask for all that the page shows."""
        self._keep_list("/v1/memories")
        self._keep("/v1/key")
        limit = int(self._keep(self._one)["settings"]["read_limit"])
        self.limits = sorted({max(1, round(limit * share)) for share in _SHARES})
        for name in _RECORDS:
            self._keep(f"{self._one}/{name}")
        for name in _LISTS:
            self._keep_list(f"{self._one}/{name}")
        self._keep_histories()
        self._keep_explanations()
        self._keep_questions()

    def _keep_histories(self) -> None:
        """Keep the history of whatever has taken another's place, or lost its own to another."""
        for item in self._records("items"):
            path = f"{self._one}/items/{item['id']}/history"
            history = self._asked("GET", path)
            if len(history["records"]) > 1:
                self.answers[path] = history

    def _keep_explanations(self) -> None:
        for one in self._records("decisions"):
            self._keep(f"{self._one}/decisions/{one['id']}")
        for one in self._records("certificates"):
            path = f"{self._one}/certificates/{one['id']}"
            self._keep(path)
            if not one["redacted"]:
                self.answers[f"POST {path}/replay "] = self._asked("POST", f"{path}/replay")

    def _keep_questions(self) -> None:
        asked = [one["query"] for one in self._records("answers") if one["query"]]
        self.questions = list(dict.fromkeys(reversed(asked)))[:_QUESTIONS]
        for query in self.questions:
            self._keep_readings(query)

    def _keep_readings(self, query: str) -> None:
        """Keep how a question is read, and at each limit the ids of what is."""
        path = f"{self._one}/weigh"
        self.answers[f"POST {path} {query}"] = self._asked("POST", path, {"query": query})
        path = f"{self._one}/read"
        for limit in self.limits:
            reading = self._asked("POST", path, {"query": query, "limit": limit})
            ids = [{"id": item["id"]} for item in reading["evidence"]]
            self.answers[f"POST {path} {query} {limit}"] = {"evidence": ids}

    def _records(self, name: str) -> list[Json]:
        found: list[Json] = self.answers[f"{self._one}/{name}"]["records"]
        return found

    def _keep(self, path: str) -> Json:
        self.answers[path] = found = self._asked("GET", path)
        return found

    def _keep_list(self, path: str) -> None:
        """Keep all pages of a list as one."""
        records: list[Json] = []
        page: Json = {"next": None}
        first = True
        while first or page["next"]:
            more = {} if first else {"cursor": page["next"]}
            query = urlencode({"limit": _PAGE, **more})
            page = self._asked("GET", path, query=query)
            records += page["records"]
            first = False
        self.answers[path] = {"records": records, "next": None}

    def _asked(self, method: str, path: str, body: Json | None = None, query: str = "") -> Json:
        endpoint, names = self._routes.find(method, path.encode())
        sent = b"" if body is None else json.dumps(body).encode()
        work = Work(endpoint=endpoint, key=EVERYTHING, names=names, query=query.encode(), body=sent)
        found: Json = json.loads(carried_out(self._house, work).body)
        return found
