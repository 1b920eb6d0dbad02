"""What a model was asked for one answer and what it replied, kept so that others can check it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from time import perf_counter
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from demem_agent.errors import ModelError, ModelFault
from demem_agent.llms.model import PLAIN, ChatModel, Completion, Options, Prompt, Usage
from demem_agent.llms.prompts import prompt_text

__all__ = ["PROMPTS", "Call", "Heard", "Line", "PromptName", "Replayed"]

#: The instructions with which a run asks.
PromptName = Literal["answer", "judge_binary", "judge_graded"]
PROMPTS: tuple[PromptName, ...] = get_args(PromptName)


class Line(BaseModel):
    """What a results file holds: exactly these fields."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Call(Line):
    """One call of a model.

    Attributes:
        prompt: name of the instructions that were sent, as the system message.
        user: the user's message; None where it is the prompt of the question.
        more: role and text of the messages after these two: a reply that could not be used, and
            what was wrong with it.
        reply: None where the call failed.
        failed: how it failed; "" where it did not.
        served: the model, as the provider named it in its reply.
        estimated: the provider did not say how many tokens it used; they were counted here.
        cost: in the currency of the prices of the run; None where a price was not known.
        seconds: from asking to the reply.
        kept: made in an earlier attempt that failed, and not again.
    """

    prompt: PromptName
    model: str
    seed: int | None
    temperature: float | None
    max_tokens: int | None
    user: str | None
    more: tuple[tuple[str, str], ...] = ()
    reply: str | None
    failed: ModelFault | Literal[""] = ""
    finish: str = ""
    served: str = ""
    prompt_tokens: int = Field(default=0, ge=0)
    completion_tokens: int = Field(default=0, ge=0)
    cached_tokens: int = Field(default=0, ge=0)
    requests: int = Field(default=0, ge=0)
    estimated: bool = False
    cost: float | None = 0.0
    seconds: float = Field(default=0.0, ge=0)
    kept: bool = False

    @property
    def usage(self) -> Usage:
        """What it used."""
        return Usage(
            prompt_tokens=self.prompt_tokens,
            completion_tokens=self.completion_tokens,
            cached_tokens=self.cached_tokens,
            requests=self.requests,
            cost=self.cost,
            estimated=self.estimated,
        )

    @property
    def sent(self) -> tuple[object, ...]:
        """What was sent to which model."""
        options = (self.seed, self.temperature, self.max_tokens)
        return self.model, self.prompt, self.user, self.more, *options


class Heard:
    """The calls of one question in one run, in order; what is known is not asked again.

    Args:
        own: the prompt of the question, which calls do not repeat.
        known: calls of an earlier attempt; one that failed fails again.
    """

    def __init__(self, own: str, known: Sequence[Call] = ()) -> None:
        self.calls: list[Call] = []
        self._own = own
        self._known = list(known)

    @property
    def left(self) -> int:
        """How many known calls nobody asked for."""
        return len(self._known)

    @property
    def seconds(self) -> float:
        """What all calls so far took."""
        return sum(call.seconds for call in self.calls)

    def by(self, model: ChatModel) -> ChatModel:
        """Return the model with its calls kept here."""
        return _Hearing(model, self)

    async def ask(self, model: ChatModel, prompt: Prompt, options: Options) -> Completion:
        """Return what is known of a call, or ask the model and keep it.

        Raises:
            ModelError, BudgetSpent: of the model; a call that failed is kept as well.
        """
        asked = self._asked(model.name, prompt, options)
        call = self._taken(asked)
        if call is None:
            return await self._made(model, asked, prompt, options)
        self.calls.append(call)
        if call.failed:
            raise ModelError(call.failed, model.name)
        return Completion(call.reply or "", call.finish, call.usage, call.served)

    def _asked(self, model: str, prompt: Prompt, options: Options) -> Call:
        """Return a call as it is sent, without what comes of it."""
        return Call(
            prompt=_name_of(prompt.stable),
            model=model,
            seed=options.seed,
            temperature=options.temperature,
            max_tokens=options.max_tokens,
            user=None if prompt.variable == self._own else prompt.variable,
            more=tuple((message.role, message.text) for message in prompt.more),
            reply=None,
        )

    def _taken(self, asked: Call) -> Call | None:
        """Take the first known call that asks the same."""
        for place, call in enumerate(self._known):
            if call.sent == asked.sent:
                return self._known.pop(place)
        return None

    async def _made(
        self, model: ChatModel, asked: Call, prompt: Prompt, options: Options
    ) -> Completion:
        """Ask a model, and keep the call with what came of it."""
        began = perf_counter()
        try:
            found = await model.acomplete(prompt, options)
        except ModelError as error:
            self._keep(asked, began, failed=error.kind, requests=error.requests)
            raise
        used = asdict(found.usage)
        told = {"reply": found.text, "finish": found.finish, "served": found.model}
        self._keep(asked, began, **told, **used)
        return found

    def _keep(self, asked: Call, began: float, **came: object) -> None:
        self.calls.append(asked.model_copy(update={**came, "seconds": perf_counter() - began}))


class _Hearing:
    """A model whose calls are kept."""

    def __init__(self, model: ChatModel, heard: Heard) -> None:
        self._model = model
        self._heard = heard

    @property
    def name(self) -> str:
        return self._model.name

    def complete(self, prompt: Prompt, options: Options = PLAIN, /) -> Completion:
        return asyncio.run(self.acomplete(prompt, options))

    async def acomplete(self, prompt: Prompt, options: Options = PLAIN, /) -> Completion:
        return await self._heard.ask(self._model, prompt, options)


class Replayed:
    """A model of which only the name is there: what is not known of it fails."""

    def __init__(self, name: str) -> None:
        self.name = name

    def complete(self, prompt: Prompt, options: Options = PLAIN, /) -> Completion:
        """Fail.

        Raises:
            ModelError: of the kind ``not recorded``.
        """
        raise ModelError("not recorded", self.name)

    async def acomplete(self, prompt: Prompt, options: Options = PLAIN, /) -> Completion:
        """Fail; as :meth:`complete`."""
        return self.complete(prompt, options)


def _name_of(system: str) -> PromptName:
    return _names()[system]


@cache
def _names() -> dict[str, PromptName]:
    return {prompt_text(name): name for name in PROMPTS}
