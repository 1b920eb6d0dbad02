"""What the server itself refuses, before or beside the library."""

from __future__ import annotations

from collections.abc import Mapping

from demem_agent.wire.problems import PROBLEMS, Kind

__all__ = ["Refusal"]


class Refusal(Exception):
    """Report a request that is refused.

    Attributes:
        kind: of problem.
        detail: what is wrong, for whoever reads it; it quotes nothing of what was sent.
        headers: that go with the response.
        closes: whether the connection is closed, since a body is on its way that nobody reads.
    """

    def __init__(
        self,
        name: str,
        detail: str,
        headers: Mapping[str, str] | None = None,
        *,
        closes: bool = False,
    ) -> None:
        self.kind: Kind = PROBLEMS[name]
        self.detail = detail
        self.headers = dict(headers or {})
        self.closes = closes
        super().__init__(detail)

    def __reduce__(self) -> tuple[object, ...]:
        return _remade, (self.kind.name, self.detail, self.headers, self.closes)


def _remade(name: str, detail: str, headers: Mapping[str, str], closes: bool) -> Refusal:
    return Refusal(name, detail, headers, closes=closes)
