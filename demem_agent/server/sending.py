"""What goes out: records, lines, problems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from demem_agent.errors import DeMemError
from demem_agent.later import dataclass
from demem_agent.server.receiving import Send
from demem_agent.server.refusals import Refusal
from demem_agent.wire.problems import MEDIA_TYPE, Kind, members_of, problem_of
from demem_agent.wire.values import written

__all__ = ["Response", "problem", "problem_from", "sent"]

#: What every response has: none of it is for a cache that is not the caller's, or for a page.
_ALWAYS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
}
_PRIVATE = "private, no-cache"


@dataclass(frozen=True, slots=True)
class Response:
    """A response, whole. Not hashable: its headers are a mapping.

    Attributes:
        problem: the name of the kind of problem that it is; "" for none.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes = b""
    problem: str = ""


def problem(kind: Kind, detail: str, members: Mapping[str, Any] | None = None) -> Response:
    """Return a problem document."""
    document = {
        "type": kind.type,
        "title": kind.title,
        "status": kind.status,
        "detail": detail,
        **(members or {}),
    }
    body = written(document)
    headers = {"Content-Type": MEDIA_TYPE}
    if kind.status == 503:
        headers["Retry-After"] = "1"
    return Response(kind.status, headers, body, kind.name)


def problem_from(error: DeMemError | Refusal) -> Response:
    """Return what an error looks like to whoever called."""
    if isinstance(error, Refusal):
        made = problem(error.kind, error.detail)
        closing = {"Connection": "close"} if error.closes else {}
        headers = {**made.headers, **error.headers, **closing}
        return Response(made.status, headers, made.body, made.problem)
    members = members_of(error)
    return problem(problem_of(error), members.pop("detail"), members)


async def sent(send: Send, response: Response) -> None:
    """Send a response."""
    headers = {**_ALWAYS, **response.headers}
    if "ETag" in response.headers:
        headers["Cache-Control"] = _PRIVATE
    if response.status not in (204, 304):
        headers["Content-Length"] = str(len(response.body))
    raw = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": response.status, "headers": raw})
    await send({"type": "http.response.body", "body": response.body})
