"""Errors as problem documents (RFC 9457), and problem documents as the errors that they were.

A problem's ``type`` is stable: a client may rely on it. Where an error of the library is behind it
the document has its attributes as well, so that a client raises what would have been raised in its
own process.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from demem_agent.errors import (
    BudgetSpent,
    CertificateRefused,
    CollaboratorError,
    DeMemError,
    EncoderMismatch,
    IdempotencyConflict,
    InvalidInput,
    InvariantBroken,
    MemoryFull,
    MemoryGone,
    MissingExtra,
    ModelError,
    NotFound,
    RemoteError,
    StaleState,
    StoreError,
)
from demem_agent.later import dataclass

__all__ = ["MEDIA_TYPE", "PROBLEMS", "Kind", "error_of", "members_of", "problem_of"]

MEDIA_TYPE = "application/problem+json"
_PREFIX = "urn:demem:problem:"


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of problem.

    Attributes:
        name: what its type ends with.
        status: of the response.
        title: what it means, the same each time.
        error: the error of the library behind it; None where the server itself refuses.
        attributes: those of the error that the document has as members.
    """

    name: str
    status: int
    title: str
    error: type[DeMemError] | None = None
    attributes: tuple[str, ...] = ()

    @property
    def type(self) -> str:
        """The URI by which it is known."""
        return f"{_PREFIX}{self.name}"


#: A subclass stands before what it is derived from: the first that fits an error is its kind.
_KINDS = (
    Kind("malformed", 400, "The request is not one that can be read"),
    Kind("bad-cursor", 400, "The cursor is not one that was given for this list"),
    Kind("no-memory", 400, "The request does not say which memory it is about"),
    Kind("unauthorised", 401, "A key is needed, and none that is valid came"),
    Kind("forbidden", 403, "The key does not allow this"),
    Kind("cross-origin", 403, "Pages of other sites may not call"),
    Kind("no-such-path", 404, "There is nothing at this path"),
    Kind("no-such-method", 405, "The path has no such method"),
    Kind("too-slow", 408, "The request did not come in time"),
    Kind("exists", 409, "There is such a memory already"),
    Kind("in-flight", 409, "A request with this idempotency key is at work"),
    Kind("changed", 412, "The memory is not of the version that was named"),
    Kind("too-large", 413, "The request is too large"),
    Kind("not-json", 415, "The body is not of the type that is read here"),
    Kind("misdirected", 421, "The server is not called by this name"),
    Kind("no-key-kept", 422, "The operation keeps no idempotency key"),
    Kind("too-often", 429, "More is asked than the key may ask"),
    Kind("fault", 500, "The server failed"),
    Kind("upstream-failed", 502, "What the request was passed on to cannot be reached"),
    Kind("upstream-late", 504, "What the request was passed on to does not answer in time"),
    Kind("busy", 503, "Too much is going on; nothing of the request was done"),
    Kind("timed-out", 503, "It takes longer than it may; it may still be done"),
    Kind("not-found", 404, "There is no such record", NotFound, ("kind", "id", "by")),
    Kind("memory-gone", 410, "The memory was deleted or renamed", MemoryGone),
    Kind("invalid-input", 422, "A field is outside its range", InvalidInput, ("field", "allowed")),
    Kind(
        "idempotency-conflict",
        422,
        "The idempotency key was used for another request",
        IdempotencyConflict,
        ("key",),
    ),
    Kind("memory-full", 409, "The memory is full", MemoryFull, ("setting", "limit")),
    Kind(
        "encoder-mismatch",
        409,
        "The memory was built with another encoder",
        EncoderMismatch,
        ("built_with", "given"),
    ),
    Kind(
        "certificate-refused",
        409,
        "A certificate does not come to what it claims",
        CertificateRefused,
        ("certificate_id", "field"),
    ),
    Kind("invariant-broken", 500, "The memory is not as it must be", InvariantBroken),
    Kind("model-failed", 502, "A model failed", ModelError, ("model",)),
    Kind("budget-spent", 502, "A spending limit is reached", BudgetSpent, ("ledger", "background")),
    Kind("collaborator-failed", 502, "What helps the memory failed", CollaboratorError),
    Kind("extra-missing", 501, "The server lacks an extra", MissingExtra),
    Kind("stale", 503, "Others wrote at the same time; try again", StaleState),
    Kind("store-failed", 503, "The store failed", StoreError),
)
PROBLEMS: Mapping[str, Kind] = {kind.name: kind for kind in _KINDS}
_BY_TYPE = {kind.type: kind for kind in _KINDS}


def problem_of(error: DeMemError) -> Kind:
    """Return the kind of problem that an error is."""
    for kind in _KINDS:
        if kind.error is not None and isinstance(error, kind.error):
            return kind
    return PROBLEMS["fault"]


def members_of(error: DeMemError) -> dict[str, Any]:
    """Return what the document of an error has of it, its words among it."""
    kind = problem_of(error)
    found = {name: getattr(error, name) for name in kind.attributes}
    return {"detail": str(error), **found}


def error_of(document: Mapping[str, Any], status: int) -> DeMemError:
    """Return the error that a problem document tells of.

    Args:
        status: of the response that it came with.
    """
    kind = _BY_TYPE.get(str(document.get("type")))
    detail = str(document.get("detail") or document.get("title") or f"HTTP {status}")
    if kind is None or kind.error is None:
        name = "unknown" if kind is None else kind.name
        return RemoteError(detail, problem=name, status=status)
    made = kind.error.__new__(kind.error, detail)
    made.args = (detail,)
    for name in kind.attributes:
        setattr(made, name, document.get(name))
    return made
