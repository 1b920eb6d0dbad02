"""Ask a model for a JSON object, and take it however the reply says it, after one repair at most.

A reply is the first object in a text that is of the kind asked for: fences, prose and thinking
around it are cut off, fields that were not asked for left out, and values put right whose meaning
is plain, such as "true" for true or one text for a list of one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from demem_agent.errors import BudgetSpent, ModelError
from demem_agent.llms.model import ChatModel, Message, Options, Prompt
from demem_agent.messages.thinking import without_thinking
from demem_agent.types import Proposal

__all__ = [
    "Entries",
    "Failures",
    "Flag",
    "Number",
    "Reply",
    "Text",
    "Texts",
    "asked_for",
    "data_line",
]

_BEGINS = re.compile(r"[{[]")
#: Objects of a reply that are looked at.
_MOST_OBJECTS = 20
#: Temperature of a repair: at 0 a model mostly says the same again.
_REPAIRING = 0.7
_AGAIN = (
    "That cannot be used: {problem}. Reply again with one JSON object as described, and nothing"
    " else."
)


def _flag(given: object) -> object:
    """Return a word for true or false as what it means."""
    meant = {"true": True, "yes": True, "false": False, "no": False}
    return meant.get(given.strip().lower(), given) if isinstance(given, str) else given


def _number(given: object) -> object:
    """Return digits as a number."""
    return int(given) if isinstance(given, str) and given.strip().isdecimal() else given


def _text(given: object) -> object:
    """Return a number as it is written, and nothing as an empty text."""
    if isinstance(given, int | float) and not isinstance(given, bool):
        return str(given)
    return "" if given is None else given


def _texts(given: object) -> object:
    """Return one text as a list of one, and nothing as an empty list."""
    if isinstance(given, str):
        return [given] if given else []
    return [] if given is None else given


def _id(given: object) -> object:
    """Return the id of an item as a model may write it: "[e3]", "e3:", 3."""
    if isinstance(given, int) and not isinstance(given, bool):
        return f"e{given}"
    if not isinstance(given, str):
        return given
    bare = given.strip().strip("[]:.~* ")
    return f"e{bare}" if bare.isdecimal() else bare


def _listed(given: object) -> object:
    """Return one thing as a list of one, and nothing as an empty list."""
    if isinstance(given, list):
        return given
    return [] if given is None else [given]


#: The types of the fields of a :class:`Reply`.
Flag = Annotated[bool, BeforeValidator(_flag)]
Number = Annotated[int, BeforeValidator(_number)]
Text = Annotated[str, BeforeValidator(_text)]
Texts = Annotated[list[Text], BeforeValidator(_texts)]
Ids = Annotated[list[Annotated[str, BeforeValidator(_id)]], BeforeValidator(_listed)]


class Reply(BaseModel):
    """What a model replies: these fields, and what else it says left out."""

    # Servers that hold a model to a schema want to be told that there is nothing else.
    model_config = ConfigDict(
        strict=True, extra="ignore", frozen=True, json_schema_extra={"additionalProperties": False}
    )


class Entry(Reply):
    """One thing of several that a model writes, with the ids of what it was made from."""

    text: Text
    of: Ids = Field(alias="from")


def _usable(given: object) -> object:
    """Return those of some entries that are any; all of them where none is."""
    every = _listed(given)
    assert isinstance(every, list)
    found = [one for one in every if _is_entry(one)]
    return found or every


def _is_entry(given: object) -> bool:
    try:
        Entry.model_validate(given)
    except ValidationError:
        return False
    return True


class Entries(Reply):
    """Several entries: one that is none costs no other."""

    entries: Annotated[list[Entry], BeforeValidator(_usable)]

    @property
    def proposal(self) -> Proposal:
        """The entries as memory takes them."""
        texts, ids = (tuple(one.text for one in self.entries), [one.of for one in self.entries])
        return Proposal(texts, tuple(map(tuple, ids)))


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


class UnusableReply(ModelError):
    """Report a model that replied otherwise than it was asked to, twice."""

    @property
    def is_too_much(self) -> bool:
        """Less to work on may help."""
        return True


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
    plain: Callable[[str], Kind | None] | None = None,
) -> Kind:
    """Return what a model replies, once it is of the kind asked for and passes the check.

    A reply that does not is sent back once, with what is wrong with it, and asked for less coldly.
    One that was cut off for its length is not: the next would be as long.

    Args:
        plain: makes what is asked for of a second reply that is no object; None where that cannot
            be.

    Raises:
        UnusableReply: when the second reply is no better.
        ModelError: what the model raises.
        BudgetSpent: when a spending limit stops a call.
    """
    options = replace(options, schema=_schema(kind))
    judged = partial(_judged, kind, check)
    first = await model.acomplete(prompt, options)
    found, problem = judged(first.text)
    if found is None:
        again = replace(options, temperature=options.temperature or _REPAIRING)
        second = await model.acomplete(_repairing(prompt, first.text, problem), again)
        found, problem = judged(second.text)
        if found is None and plain is not None:
            found = plain(without_thinking(second.text))
    if found is None:
        raise UnusableReply("malformed", model.name, note=f"{problem}, twice")
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
    """Return the first object of a reply that can be used, or what is wrong with the first."""
    first = ""
    for given in _objects(without_thinking(text)):
        try:
            found = kind.model_validate(_as_fields(kind, given))
        except ValidationError as error:
            first = first or _named(error)
            continue
        problem = check(found) if check else None
        if not problem:
            return found, ""
        first = first or problem
    return None, first or "it has no JSON object"


def _objects(text: str) -> Iterator[dict[str, Any] | list[Any]]:
    """Yield the JSON objects and lists in a text, outermost ones, as far as they are whole."""
    decoder = json.JSONDecoder(strict=False)  # models put line ends into texts as they are
    end = 0
    for _ in range(_MOST_OBJECTS):
        begins = _BEGINS.search(text, end)
        if begins is None:
            return
        try:
            given, end = decoder.raw_decode(text, begins.start())
        except (ValueError, RecursionError):
            end = begins.end()
        else:
            yield given


def _as_fields(kind: type[Reply], given: dict[str, Any] | list[Any]) -> object:
    """Return a list as the only field of a reply that has one."""
    names = list(kind.model_fields)
    return {names[0]: given} if isinstance(given, list) and len(names) == 1 else given


def _named(error: ValidationError) -> str:
    """Name the fields at fault, and nothing of what was in them."""
    faults = error.errors(include_url=False, include_input=False, include_context=False)
    places: dict[str, str] = {}
    for fault in faults[:3]:
        place = ".".join(map(str, fault["loc"])) or "the whole"
        places[place] = fault["type"]
    return ", ".join(f"{place}: {what}" for place, what in places.items())
