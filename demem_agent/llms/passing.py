"""Requests that other programs wrote, passed on as they are.

So what a framework asks by a client of its own is recorded, counted and limited as any other call.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from demem_agent.errors import InvalidInput, ModelError
from demem_agent.llms.calls.access import Access
from demem_agent.llms.calls.background import arun, run
from demem_agent.llms.calls.caller import Caller, Need, Progress
from demem_agent.llms.calls.checking import completed_so_far, first_choice, reported_usage
from demem_agent.llms.calls.retry import Retry
from demem_agent.llms.model import PLAIN, Completion, Options, Prompt, Usage
from demem_agent.llms.spending import Ledger
from demem_agent.text.units import measure

if TYPE_CHECKING:
    from openai import AsyncOpenAI

__all__ = ["Passing"]

#: The JSON object of a request, or of a message.
Json = Mapping[str, Any]


class Passing:
    """Pass on whole requests: a prompt is one, and what comes of it is a whole message.

    The user's message of a prompt is the JSON object of a chat completion's request; the text of
    the completion is the JSON object of the message that came, tool calls and all. Whatever model
    a request names, this one is asked. What came is not judged: an answer that was cut off is for
    the program that asked.

    Args:
        model, base_url, api_key, retry, ledger: as of :class:`~demem_agent.llms.OpenAIChat`.

    Raises:
        InvalidInput: as there.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        retry: Retry | None = None,
        ledger: Ledger | None = None,
    ) -> None:
        access = Access(base_url, api_key)
        self._caller = Caller(
            model, access, retry=retry, concurrency=None, ledger=ledger, breaker=None
        )
        self.name = model

    def complete(self, prompt: Prompt, options: Options = PLAIN, /) -> Completion:
        """Pass a request on, and wait for what comes; the request says all, and no option counts.

        Raises:
            ModelError: if the provider fails, or gives no message.
            BudgetSpent: if a spending limit stops it.
            InvalidInput: for a prompt that is no request.
        """
        return run(self._complete(prompt))

    async def acomplete(self, prompt: Prompt, options: Options = PLAIN, /) -> Completion:
        """Pass a request on; as :meth:`complete`, and may be cancelled."""
        return await arun(self._complete(prompt))

    async def _complete(self, prompt: Prompt) -> Completion:
        request = _request(prompt)
        tokens = measure("tokens")(prompt.variable)

        async def send(client: AsyncOpenAI, progress: Progress) -> tuple[str, str]:
            create = cast(Any, client.chat.completions.create)
            raw = await create(model=self.name, messages=(), extra_body=request)
            progress.spend(reported_usage(raw, lambda: _estimate(tokens, raw)))
            return _message(raw, self.name)

        need = Need(tokens, request.get("max_tokens"))
        (text, finish), usage = await self._caller.call(send, need, self._caller.deadline())
        return Completion(text, finish, usage, self.name)


def _request(prompt: Prompt) -> Json:
    """Return the fields of a request, without the model's name."""
    try:
        request = dict(json.loads(prompt.variable))
    except (TypeError, ValueError) as error:
        raise InvalidInput("prompt", prompt.variable, "the JSON object of a request") from error
    request.pop("model", None)
    return request


def _message(raw: object, model: str) -> tuple[str, str]:
    choice: Any = first_choice(raw)
    if getattr(choice, "message", None) is None:
        raise ModelError("malformed", model, note="no choices")
    message = choice.message.model_dump(mode="json", exclude_none=True)
    return json.dumps(message), str(choice.finish_reason or "stop")[:20]


def _estimate(prompt_tokens: int, raw: object) -> Usage:
    answer = measure("tokens")(completed_so_far(raw))
    return Usage(prompt_tokens, answer, requests=1, estimated=True)
