"""Every error this library raises on purpose, in one tree.

::

    DeMemError
    ├── InvalidInput          also a ValueError: a field is outside its range
    ├── NotFound              also a KeyError: no answer, evidence or certificate has that id
    ├── IdempotencyConflict   the key was used before, for another request
    ├── EncoderMismatch       the memory was built with another encoder
    ├── InvariantBroken       check() found a state that must not exist
    ├── CertificateRefused    a certificate does not come to what it claims
    ├── CollaboratorError     an encoder, answerer, scorer or reranker gave an unusable result
    │   ├── ModelError        a language model failed or gave nothing usable; ``kind`` says how
    │   └── BudgetSpent       a spending limit stops a call of a language model
    ├── MissingExtra          also an ImportError: an optional dependency is not installed
    ├── WorkersGone           no worker is left to work on many memories
    ├── MemoryFull            there is no room for what came, and the memory is not to forget for it
    └── StoreError            the database failed, is locked, is newer, or holds a damaged row
        ├── MemoryGone        the memory was deleted or renamed while it was open
        ├── RemoteError       the server of a memory cannot be reached, or refuses
        └── StaleState        another writer has moved the memory on; the flow is run again
"""

from __future__ import annotations

from typing import Literal

__all__ = [
    "BudgetSpent",
    "CertificateRefused",
    "CollaboratorError",
    "DeMemError",
    "EncoderMismatch",
    "IdempotencyConflict",
    "InvalidInput",
    "InvariantBroken",
    "MemoryFull",
    "MemoryGone",
    "MissingExtra",
    "ModelError",
    "ModelFault",
    "NotFound",
    "RemoteError",
    "StaleState",
    "StoreError",
    "WorkersGone",
]

#: How a call of a language model can fail. The first four are asked again, within the deadline.
ModelFault = Literal[
    "rate limited",  # too many requests
    "unavailable",  # no connection, reset, or an error of the server
    "timeout",  # stalled, or too slow for the deadline
    "malformed",  # a success that is none: HTML, cut JSON, no choices, no text
    "cut off",  # the answer ended before it was whole
    "refused",  # by the model or a content filter
    "rejected",  # the request is not one that the provider takes
    "too long",  # the prompt is longer than the model takes
    "unauthorised",  # the key is wrong, or not allowed to
    "no such model",
    "quota",  # the account has no credit left
    "circuit open",  # too many failures lately: not asked at all
    "not recorded",  # a replay without that call
]


class DeMemError(Exception):
    """Base of every error raised on purpose by this library; all can be pickled, so they cross
    processes.

    Examples:
        >>> try:
        ...     memory.forget("e99")
        ... except DeMemError as error:
        ...     print(error)
        no evidence has the id 'e99'
    """

    def __reduce__(self) -> tuple[object, ...]:
        return _remade, (type(self), self.args, self.__dict__)


class InvalidInput(DeMemError, ValueError):
    """Report a field outside its allowed range; nothing was stored.

    Attributes:
        field: name of the offending argument, as the caller wrote it.
        allowed: the allowed range, in words.

    Examples:
        >>> memory.read("Where?", limit=0)
        Traceback (most recent call last):
            ...
        demem_agent.errors.InvalidInput: limit must be a whole number of at least 1, got 0
    """

    def __init__(self, field: str, got: object, allowed: str, says: str = "") -> None:
        """Report a field.

        Args:
            says: the message, where that is said better than as "field must be allowed, got ...".
        """
        self.field = field
        self.allowed = allowed
        super().__init__(says or f"{field} must be {allowed}, got {_shown(got)}")


class NotFound(DeMemError, KeyError):
    """Report an id that no live record has.

    Attributes:
        kind: of the record, such as "evidence".
        id: that was looked for.
        by: what it was taken for: the memory's own id, or the caller's ``source_id``.
    """

    def __init__(self, kind: str, id: str, by: str = "id") -> None:
        self.kind = kind
        self.id = id
        self.by = by
        super().__init__(f"no {kind} has the {by} {_shown(id)}")

    def __str__(self) -> str:  # KeyError would show the repr of its message
        return str(self.args[0])


class IdempotencyConflict(DeMemError):
    """Report an idempotency key that was used before, for another request."""

    def __init__(self, key: str, *, is_turn: bool = False) -> None:
        """Report a key.

        Args:
            is_turn: whether a turn has it, which an import may have given it.
        """
        self.key = key
        message = f"the key {key!r} was already used for another request; use a new key"
        if is_turn:
            message += ", or sync(...) for a list or file that was edited"
        super().__init__(message)


class EncoderMismatch(DeMemError):
    """Report an encoder that differs from the one the memory was built with."""

    def __init__(self, built_with: str, given: str) -> None:
        self.built_with = built_with
        self.given = given
        super().__init__(
            f"the memory was built with the encoder {built_with}, but {given} was given; "
            "use the first one, or move the memory over: "
            "SlotMemory.open(..., encoder=..., reembed=True)"
        )


class InvariantBroken(DeMemError):
    """Report a state that breaks an invariant; raised by ``check()`` only."""


class CertificateRefused(DeMemError):
    """Report the first field of a certificate that is not what its other numbers come to.

    Attributes:
        field: the field at fault.
    """

    def __init__(self, certificate_id: str, field: str, stored: object, found: str) -> None:
        self.certificate_id = certificate_id
        self.field = field
        super().__init__(
            f"certificate {certificate_id}: {field} is {stored}, its numbers come to {found}"
        )


class CollaboratorError(DeMemError):
    """Report an encoder, answerer, scorer or reranker whose result cannot be used."""


class ModelError(CollaboratorError):
    """Report a call of a language model that gave nothing usable; it quotes neither prompt, reply
    nor key.

    Attributes:
        kind: how it failed.
        model: its name, as the caller wrote it.
        status: the HTTP status, where there was one.
        retry_after: seconds that the provider asked to wait, where it did.
        context: tokens that the model takes, where the provider told that of a longer prompt.
        requests: HTTP requests that the call made.
    """

    def __init__(
        self,
        kind: ModelFault,
        model: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        context: int | None = None,
        note: str = "",
    ) -> None:
        self.kind = kind
        self.model = model
        self.status = status
        self.retry_after = retry_after
        self.context = context
        self.requests = 0
        code = f"HTTP {status}" if status else ""
        details = "; ".join(filter(None, (code, note)))
        text = f"the model {_shown(model)} failed: {kind}"
        if details:
            text += f" ({details})"
        super().__init__(text)

    @property
    def is_too_much(self) -> bool:
        """Whether less to work on may help: the prompt or the reply was too long."""
        return self.kind in ("too long", "cut off")


class BudgetSpent(CollaboratorError):
    """Report a spending limit that a call of a language model would pass; the call was not made.

    Attributes:
        ledger: name of the ledger with that limit.
        background: whether only background work is stopped yet.
    """

    def __init__(self, ledger: str, spent: str, limit: str, background: bool) -> None:
        self.ledger = ledger
        self.background = background
        what = "background work of a model" if background else "a call of a model"
        super().__init__(
            f"the budget of the {ledger} does not allow {what}: {spent} of {limit} spent or held"
        )


class MissingExtra(DeMemError, ImportError):
    """Report an optional dependency that is not installed, with the command that installs it."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an extra: pip install 'demem-agent[{extra}]'")


class WorkersGone(DeMemError):
    """Report that no worker is left to work on many memories; what is done is done."""


class StoreError(DeMemError):
    """Report a store that could not read or write; what was acknowledged before is still there."""


class MemoryFull(DeMemError):
    """Report that there is no room for what came in; nothing of it was stored.

    Attributes:
        setting: the bound, as it is called in ``Settings``.
        limit: its value.
    """

    def __init__(self, setting: str, limit: int, why: str) -> None:
        self.setting = setting
        self.limit = limit
        super().__init__(f"the memory is full: {setting} is {limit:,}, and {why}")


class MemoryGone(StoreError):
    """Report a memory that was deleted, or renamed, while it was open.

    Nothing that is done to it any more comes back to the store, also where another memory has its
    id by now.
    """

    def __init__(self, memory_id: str) -> None:
        super().__init__(f"there is no memory {memory_id!r} any more: it was deleted or renamed")


class RemoteError(StoreError):
    """Report that the server of a memory cannot be reached, or refuses for a reason of its own.

    Attributes:
        problem: the kind of problem, such as "unauthorised", "forbidden" or "busy"; "unreachable"
            where nothing came back.
        status: of the response; None where none came.
    """

    def __init__(self, says: str, *, problem: str, status: int | None = None) -> None:
        self.problem = problem
        self.status = status
        super().__init__(says)


class StaleState(StoreError):
    """Report that another writer has moved the memory on since it was loaded."""


def _shown(value: object) -> str:
    try:
        text = repr(value)
    except (
        Exception
    ):  # lists in lists, thousands deep, or what a caller's own class makes of itself
        text = f"a {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."


def _remade(
    kind: type[DeMemError], args: tuple[object, ...], state: dict[str, object]
) -> DeMemError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error
