"""Ask a model for a JSON object, and take it only as it must be, after one repair at most."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from demem_agent.errors import BudgetSpent, ModelError
from demem_agent.llms.model import ChatModel, Message, Options, Prompt

__all__ = ["Failures", "Reply", "asked_for", "data_line"]

_FENCED = re.compile(r"\A\s*```(?:json)?\s*\n(.*?)\n\s*```\s*\Z", re.DOTALL)
_AGAIN = (
    "That cannot be used: {problem}. Reply again with one JSON object as described, and nothing"
    " else."
)


class Reply(BaseModel):
    """What a model replies: exactly these fields, of exactly these types."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


@dataclass(slots=True)
class Failures:
    """How often a model was not to be had, or gave nothing usable, and why."""

    count: int = 0
    reasons: dict[str, int] = field(default_factory=dict)

    def note(self, error: ModelError | BudgetSpent) -> None:
        """Count one."""
        reason = error.kind if isinstance(error, ModelError) else "budget spent"
        self.count += 1
        self.reasons[reason] = self.reasons.get(reason, 0) + 1

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count what fails within, and let it go on."""
        try:
            yield
        except (ModelError, BudgetSpent) as error:
            self.note(error)
            raise


Kind = TypeVar("Kind", bound=Reply)
#: Tells in a few words what is wrong with a reply; None when nothing is. It must not quote memory.
Check = Callable[[Kind], str | None]


def data_line(id: str, mark: str, text: str) -> str:
    """Return an item of evidence as a model sees it: one line, which cannot end its block."""
    harmless = " ".join(text.split()).replace("demem:evidence", "demem-evidence")
    return f"[{id}]{mark} {harmless}"


async def asked_for(
    model: ChatModel,
    prompt: Prompt,
    kind: type[Kind],
    options: Options,
    check: Check[Kind] | None = None,
) -> Kind:
    """Return what a model replies, once it is of the kind asked for and passes the check.

    A reply that does not is sent back once, with what is wrong with it.

    Raises:
        ModelError: malformed, when the second reply is no better; or what the model raises.
        BudgetSpent: when a spending limit stops a call.
    """
    options = replace(options, schema=_schema(kind))
    judged = partial(_judged, kind, check)
    first = await model.acomplete(prompt, options)
    found, problem = judged(first.text)
    if found is None:
        second = await model.acomplete(_repairing(prompt, first.text, problem), options)
        found, problem = judged(second.text)
    if found is None:
        raise ModelError("malformed", model.name, note=f"{problem}, twice")
    return found


def _repairing(prompt: Prompt, reply: str, problem: str) -> Prompt:
    """Return the prompt that sends a reply back, with what is wrong with it."""
    replied = Message("assistant", reply)
    again = Message("user", _AGAIN.format(problem=problem))
    return replace(prompt, more=(replied, again))


@cache
def _schema(kind: type[Reply]) -> dict[str, Any]:
    return kind.model_json_schema()


def _judged(kind: type[Kind], check: Check[Kind] | None, text: str) -> tuple[Kind | None, str]:
    fenced = _FENCED.match(text)
    body = fenced.group(1) if fenced else text
    try:
        found = kind.model_validate_json(body)
    except ValidationError as error:
        return None, _named(error)
    problem = check(found) if check else None
    if problem:
        return None, problem
    return found, ""


def _named(error: ValidationError) -> str:
    """Name the fields at fault, and nothing of what was in them."""
    faults = error.errors(include_url=False, include_input=False, include_context=False)
    places: dict[str, str] = {}
    for fault in faults[:3]:
        place = ".".join(map(str, fault["loc"])) or "the whole"
        places[place] = fault["type"]
    return ", ".join(f"{place}: {what}" for place, what in places.items())
