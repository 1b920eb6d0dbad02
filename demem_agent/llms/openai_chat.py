"""A chat model behind any address that speaks OpenAI's chat completions.

OpenAI, Azure, vLLM, Ollama and llama.cpp do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from demem_agent.errors import ModelError
from demem_agent.llms.calls.access import Access
from demem_agent.llms.calls.background import arun, run
from demem_agent.llms.calls.breaker import Breaker
from demem_agent.llms.calls.caller import Caller, Need, Progress
from demem_agent.llms.calls.checking import (
    check_finish,
    completed_so_far,
    completed_text,
    first_choice,
    reported_usage,
)
from demem_agent.llms.calls.dialect import chat_fields, to_leave_out
from demem_agent.llms.calls.faults import fault_of, foreign_errors, refused_field
from demem_agent.llms.calls.health import Health
from demem_agent.llms.calls.retry import AskAgain, Retry
from demem_agent.llms.model import PLAIN, Completion, Options, Prompt, Usage
from demem_agent.llms.spending import Ledger, Urgency
from demem_agent.llms.stream import Stream
from demem_agent.text.units import measure

if TYPE_CHECKING:
    from openai import AsyncOpenAI

__all__ = ["OpenAIChat"]

#: What a message costs beside its text, at most.
_PER_MESSAGE = 16
_REFUSED = object()


class OpenAIChat:
    """Complete prompts by one model of a provider.

    What comes back is whole, or an error says why not: see :class:`~demem_agent.errors.ModelError`.
    It is safe to use from several threads and event loops. Fields that the provider refuses
    (a JSON schema, a temperature) are left out from then on.

    Args:
        model: as the provider names it.
        base_url, api_key, headers, query: see :class:`~demem_agent.llms.calls.access.Access`.
        extra: more fields for every request, such as ``{"top_p": 0.9}``.
        retry: how often and how long a call is tried; 3 requests and 30 s when left out, or where
            the address is on this machine 300 s since the last piece of a stream.
        concurrency: calls that run at once, >= 1; others wait, within their deadline. 64 when left
            out, or 1 on this machine.
        ledger: where tokens and cost are counted and limited; that of the process when left out.
        breaker: may be shared by all models of one provider.

    Raises:
        InvalidInput: without a key and an address; for a model without price where the ledger
            limits the cost.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
        extra: Mapping[str, Any] | None = None,
        retry: Retry | None = None,
        concurrency: int | None = None,
        ledger: Ledger | None = None,
        breaker: Breaker | None = None,
    ) -> None:
        access = Access(base_url, api_key, headers or {}, query or {})
        self._caller = Caller(
            model, access, retry=retry, concurrency=concurrency, ledger=ledger, breaker=breaker
        )
        self._extra = dict(extra or {})
        self._refused: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return f"OpenAIChat({self.name!r}, base_url={self._caller.host!r})"

    @property
    def name(self) -> str:
        """The model, as the provider names it."""
        return self._caller.model

    @property
    def is_local(self) -> bool:
        """Whether it is on this machine."""
        return self._caller.is_local

    @property
    def health(self) -> Health:
        """What became of all calls so far."""
        return self._caller.health

    def close(self) -> None:
        """Let go of the connection, which is closed unless other models use it.

        The next call makes a new one.
        """
        self._caller.close()

    def complete(self, prompt: Prompt, options: Options = PLAIN, /) -> Completion:
        """Complete a prompt, waiting for it.

        Raises:
            ModelError: if the provider fails, or gives what is no whole answer.
            BudgetSpent: if a spending limit stops it.
        """
        return run(self._complete(prompt, options, self._caller.deadline()))

    async def acomplete(self, prompt: Prompt, options: Options = PLAIN, /) -> Completion:
        """Complete a prompt; as :meth:`complete`, and may be cancelled."""
        return await arun(self._complete(prompt, options, self._caller.deadline()))

    def stream(self, prompt: Prompt, options: Options = PLAIN, /) -> Stream:
        """Return the pieces of an answer as they come, for ``for`` or ``async for``.

        Once they are through, ``completion`` has the whole; an answer that ends early raises
        instead. Nothing is asked again once a piece has come.
        """
        return Stream(lambda give: self._complete(prompt, options, self._caller.deadline(), give))

    async def _complete(
        self,
        prompt: Prompt,
        options: Options,
        until: float,
        give: Callable[[str], object] | None = None,
    ) -> Completion:
        asking = _Asking(
            model=self.name,
            prompt=prompt,
            options=options,
            extra=self._extra,
            refused=set(self._refused),
            give=give,
        )
        urgency: Urgency = "background" if options.background else "normal"
        need = Need(asking.prompt_tokens, options.max_tokens, urgency)
        (text, finish, model), usage = await self._caller.call(asking.send, need, until)
        # Only now is it known that leaving them out was the cure.
        self._refused |= asking.refused
        return Completion(text, finish, usage, model)


@dataclass(frozen=True, slots=True)
class _Asking:
    """One call, over all its requests."""

    model: str
    prompt: Prompt
    options: Options
    extra: Mapping[str, Any]
    refused: set[str]
    give: Callable[[str], object] | None

    @property
    def prompt_tokens(self) -> int:
        return measure("tokens")(self.prompt.text) + _PER_MESSAGE * len(self.prompt.messages)

    async def send(self, client: AsyncOpenAI, progress: Progress) -> tuple[str, str, str]:
        """Make one request; return the text, why it ended, and the model that answered."""
        raw = await self._request(client)
        if raw is _REFUSED:
            raise AskAgain("rejected", self.model, status=400)
        if self.give is not None:
            return await self._streamed(raw, self.give, progress)
        progress.spend(reported_usage(raw, lambda: self._estimate(completed_so_far(raw))))
        text, finish = completed_text(raw, self.model)
        return text, finish, _named(raw, self.model)

    async def _request(self, client: AsyncOpenAI) -> Any:
        """Make the request.

        ``_REFUSED`` is returned where the next one is to do without a field that this provider
        refuses.
        """
        from openai import BadRequestError, UnprocessableEntityError

        stream = self.give is not None
        fields = chat_fields(self.prompt, self.options, stream, self.refused)
        create = cast(Any, client.chat.completions.create)
        # As extra_body, messages go past the client's conversion of its arguments, a fifth of the
        # time of a call.
        body = {**fields, **self.extra}
        try:
            return await create(model=self.model, messages=(), stream=stream, extra_body=body)
        except (BadRequestError, UnprocessableEntityError) as error:
            if not _by_shape(error, self.model):
                raise
            field = to_leave_out(refused_field(error), fields)
            if field is None:
                raise
            self.refused.add(field)
            return _REFUSED

    async def _streamed(
        self, pieces: Any, give: Callable[[str], object], progress: Progress
    ) -> tuple[str, str, str]:
        reading = _Reading(self.model)
        fault: ModelError | None = None
        try:
            async for piece in pieces:
                progress.alive()
                text = reading.take(piece)
                if text:
                    give(text)
        except foreign_errors() as error:
            fault = fault_of(error, self.model)
        finally:
            progress.spend(reported_usage(reading, lambda: self._estimate(reading.text)))
            await pieces.close()
        if fault is not None and not reading.text:
            raise fault
        return reading.text, reading.finished(), reading.named

    def _estimate(self, text: str) -> Usage:
        return Usage(self.prompt_tokens, measure("tokens")(text), requests=1, estimated=True)


class _Reading:
    """What has come of a stream."""

    def __init__(self, model: str) -> None:
        self.named = model
        self._model = model
        self.text = ""
        self.usage: object = None
        self._finish: object = None
        self._refused = False

    def take(self, piece: object) -> str:
        """Take in a piece and return its text."""
        self.usage = getattr(piece, "usage", None) or self.usage
        self.named = _named(piece, self.named)
        choice = first_choice(piece)
        self._finish = getattr(choice, "finish_reason", None) or self._finish
        delta = getattr(choice, "delta", None)
        if getattr(delta, "refusal", None):
            self._refused = True
        content = getattr(delta, "content", None)
        text = content if isinstance(content, str) else ""
        self.text += text
        return text

    def finished(self) -> str:
        """Return why it ended.

        Raises:
            ModelError: cut off or refused; malformed where nothing has come at all.
        """
        if self._refused:
            raise ModelError("refused", self._model)
        if self._finish is None and not self.text:
            raise ModelError("malformed", self._model, note="an empty stream")
        finish = check_finish(self._finish, self._model)
        if not self.text.strip():
            raise ModelError("malformed", self._model, note="no text")
        return finish


def _named(raw: object, otherwise: str) -> str:
    named = getattr(raw, "model", None)
    return named if isinstance(named, str) and named else otherwise


def _by_shape(error: Exception, model: str) -> bool:
    """Whether a refusal is of the request's shape, not of what it says or how long it is."""
    return fault_of(error, model).kind == "rejected"
