"""What an exception of the ``openai`` client means, without a word of what it quotes.

Such exceptions hold the request with its key and prompt, and whatever text the provider wrote; none
of that may reach a log or a traceback. So what is made here keeps a kind and numbers, and is raised
where no such exception is being handled, which leaves it without a context.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from demem_agent.errors import ModelError, ModelFault
from demem_agent.llms.calls.retry import wait_asked_for

if TYPE_CHECKING:
    from openai import APIStatusError

__all__ = ["fault_of", "foreign_errors", "refused_field"]

_BY_STATUS: Mapping[int, ModelFault] = {
    401: "unauthorised",
    402: "quota",
    403: "unauthorised",
    404: "no such model",
    408: "unavailable",
    409: "unavailable",
    413: "too long",
    429: "rate limited",
}
#: What providers write as ``code`` or ``type`` in the body of an error, where the status does not
#: tell.
_BY_CODE: Mapping[str, ModelFault] = {
    "content_filter": "refused",
    "content_policy_violation": "refused",
    "context_length_exceeded": "too long",
    "exceed_context_size_error": "too long",
    "insufficient_quota": "quota",
    "string_above_max_length": "too long",
}

#: How servers say that a prompt is too long where neither status nor code does; only compared.
_OVERFLOW = re.compile(
    r"context (?:length|size|window)|maximum context|prompt is too long|too many (?:input )?tokens",
    re.IGNORECASE,
)
_CONTEXT = re.compile(
    r"context (?:length|size|window)(?: is| of)? \(?(\d[\d,]{2,9})\b", re.IGNORECASE
)


@cache
def foreign_errors() -> tuple[type[Exception], ...]:
    """Return the exceptions that a call of the client may end with.

    They include those of the HTTP library that its version uses; a ValueError is JSON or UTF-8 that
    is none.
    """
    from openai import OpenAIError

    libraries = [sys.modules[name] for name in ("httpx", "httpx2") if name in sys.modules]
    errors = [library.RequestError for library in libraries]
    return (OpenAIError, ValueError, *errors)


def fault_of(error: Exception, model: str) -> ModelError:
    """Turn one of the ``foreign_errors`` into the error that is raised in its place."""
    from openai import APIConnectionError, APIStatusError, APITimeoutError

    if isinstance(error, APIStatusError):
        return _status_fault(error, model)
    if isinstance(error, APITimeoutError) or "Timeout" in type(error).__name__:
        return ModelError("timeout", model)
    if isinstance(error, ValueError):
        return ModelError("malformed", model, note="no JSON")
    if isinstance(error, APIConnectionError) or not type(error).__module__.startswith("openai"):
        return ModelError("unavailable", model, note="connection failed")
    return ModelError("malformed", model)


def refused_field(error: Exception) -> str | None:
    """Return the field that a provider says it does not take: its own word, only to be compared."""
    field = getattr(error, "param", None)
    return field.split(".")[0] if isinstance(field, str) else None


def _status_fault(error: APIStatusError, model: str) -> ModelError:
    status = error.status_code
    otherwise: ModelFault = "unavailable" if status >= 500 else "rejected"
    kind = _by_code(error) or _BY_STATUS.get(status, otherwise)
    if kind == "rejected" and _OVERFLOW.search(error.message):
        kind = "too long"
    wait = wait_asked_for(error.response.headers)
    context = _context_told(error) if kind == "too long" else None
    return ModelError(kind, model, status=status, retry_after=wait, context=context)


def _context_told(error: APIStatusError) -> int | None:
    """Return the tokens that a model takes, as llama.cpp has it in a field and others in words."""
    body = error.body if isinstance(error.body, Mapping) else {}
    told = body.get("n_ctx")
    if isinstance(told, int) and told > 0:
        return told
    found = _CONTEXT.search(error.message)
    return int(found[1].replace(",", "")) if found else None


def _by_code(error: APIStatusError) -> ModelFault | None:
    for code in (error.code, error.type):
        if isinstance(code, str) and code in _BY_CODE:
            return _BY_CODE[code]
    return None
