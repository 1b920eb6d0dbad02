"""What this server refuses, in the way of a provider: so its client raises what it has for it."""

from __future__ import annotations

import json
from collections.abc import Mapping

from demem_adapters.proxy.addresses import Protocol
from demem_agent.server import Response

__all__ = ["refused"]

_OPENAI = {
    401: "authentication_error",
    403: "permission_error",
    429: "rate_limit_error",
}
_ANTHROPIC = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
}


def refused(protocol: Protocol, response: Response) -> Response:
    """Return a problem document as an error of a provider's; the headers stay."""
    problem = json.loads(response.body)
    message = f"demem: {problem['title']}: {problem['detail']}"
    document: Mapping[str, object]
    if protocol == "anthropic":
        kind = _kind(_ANTHROPIC, response.status, "api_error")
        document = {"type": "error", "error": {"type": kind, "message": message}}
    else:
        kind = _kind(_OPENAI, response.status, "server_error")
        error = {"message": message, "type": kind, "param": None, "code": response.problem}
        document = {"error": error}
    headers = {**response.headers, "Content-Type": "application/json"}
    headers["demem-problem"] = response.problem
    body = json.dumps(document).encode()
    return Response(response.status, headers, body, response.problem)


def _kind(known: Mapping[int, str], status: int, failed: str) -> str:
    return known.get(status, "invalid_request_error" if status < 500 else failed)
