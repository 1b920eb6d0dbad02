"""What an agent of a framework is told of its tools, and what it tells of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypedDict, TypeVar

from demem_adapters.common.asking import Asker, Conditions, Situation
from demem_adapters.common.choices import hint_block, in_order
from demem_adapters.common.failures import logged
from demem_adapters.common.memories import Memories
from demem_adapters.common.naming import Namespace, named
from demem_agent.turns import whole_field

__all__ = ["Advised", "ToolAdvice", "ToolOptions", "Worked"]

Tool = TypeVar("Tool")
#: What a tool came to, by its name and its result, or by what it raised: True, False or a score in
#: [0, 1]; None where that is not known.
Worked = Callable[[str, Any], bool | float | None]


class ToolOptions(TypedDict, total=False):
    """How an agent is advised on tools; all may be left out.

    namespace: whose memory, a name or a function. asker, conditions: for whom it is decided
    (nobody in particular unless given), and what holds; functions as well. situation: what makes a
    situation of what the user asked, the text itself unless given. hint: whether the model is told
    what worked. order: whether it is offered what worked first. most: how many tools that were
    tried it is offered at most. drop_untried: whether ``most`` counts those never tried. limit: the
    most that the advice may measure, in the memory's unit; 200 unless given.
    """

    namespace: Namespace
    asker: Asker | None
    conditions: Conditions
    situation: Callable[[str], str] | None
    hint: bool
    order: bool
    most: int | None
    drop_untried: bool
    limit: int


class _Whom(TypedDict):
    """For whom something is decided, and what holds."""

    asker: str | None
    conditions: Iterable[str]


class Advised(NamedTuple):
    """What is to be done with the tools in one call of a model.

    Attributes:
        hint: a block for the model; "" where there is nothing to tell.
        names: of the tools that the model is offered, in their order.
    """

    hint: str
    names: list[str]

    def arranged(self, tools: Iterable[Tool], name_of: Callable[[Tool], str | None]) -> list[Tool]:
        """Return the tools as they are offered; those that have no name come last, as they were."""
        named_so: dict[str | None, list[Tool]] = {}
        for tool in tools:
            named_so.setdefault(name_of(tool), []).append(tool)
        found: list[Tool] = []
        for name in (*self.names, None):
            found += named_so.get(name, ())
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAdvice:
    """Advice on tools by what worked in situations like this, the same for every framework.

    A memory that fails costs no call: that is logged by its kind, and the tools stay as they are.
    The hint names tools that the model has and no others, and what it says of them are counts: no
    text that anybody said stands in it.

    Args:
        memories: where it is remembered what worked.
        worked: what a tool came to.

    The others are those of :class:`ToolOptions`.

    Raises:
        InvalidInput: for an option outside its range.
    """

    memories: Memories
    worked: Worked
    namespace: Namespace = "default"
    asker: Asker | None = None
    conditions: Conditions = ()
    situation: Callable[[str], str] | None = None
    hint: bool = True
    order: bool = False
    most: int | None = None
    drop_untried: bool = False
    limit: int = 200

    def __post_init__(self) -> None:
        whole_field("limit", self.limit, 1)
        if self.most is not None:
            whole_field("most", self.most, 1)
        self._who()

    def advise(self, asked: str, names: Iterable[str], /, *given: Any) -> Advised:
        """Return what to tell a model of its tools, and which to offer it.

        Args:
            asked: what the user asked.
            names: of the tools that the model has.
            given: what the framework gives to the call, for what is a function.
        """
        offered = list(dict.fromkeys(names))
        with logged("no tool was advised"):
            return self._advised(asked, offered, *given)
        return Advised("", offered)

    async def aadvise(self, asked: str, names: Iterable[str], /, *given: Any) -> Advised:
        """Return what :meth:`advise` does, without blocking the event loop."""
        return await asyncio.to_thread(self.advise, asked, names, *given)

    def report(self, asked: str, tool: str, result: Any, /, *given: Any) -> None:
        """Record that a tool was used and what it came to; nothing where that is not known.

        Args:
            asked: what the user asked.
            result: of the tool, or the exception that it raised.
        """
        outcome = self.worked(tool, result)
        if outcome is None:
            return
        with logged("what a tool came to was not remembered"):
            namespace = named(self.namespace, *given)
            situation = self._situation(asked)
            if namespace is not None and situation.strip():
                asking = self._asking(*given)
                self.memories.chosen(namespace, situation, tool, outcome=outcome, **asking)

    async def areport(self, asked: str, tool: str, result: Any, /, *given: Any) -> None:
        """Record as :meth:`report` does, without blocking the event loop."""
        await asyncio.to_thread(self.report, asked, tool, result, *given)

    def _advised(self, asked: str, offered: list[str], *given: Any) -> Advised:
        namespace = named(self.namespace, *given)
        situation = self._situation(asked)
        memory = self.memories.known(namespace)
        if memory is None or not situation.strip() or not offered:
            return Advised("", offered)
        asking = self._asking(*given)
        names = self._ordered(offered, memory.tried(situation, actions=offered, **asking))
        if not self.hint:
            return Advised("", names)
        told = memory.advice(situation, actions=names, limit=self.limit, **asking)
        return Advised(hint_block(told), names)

    def _ordered(self, offered: list[str], tried: Iterable[Any]) -> list[str]:
        if not self.order and self.most is None:
            return offered
        ordered = in_order(offered, tried, most=self.most, drop_untried=self.drop_untried)
        if self.order:
            return ordered
        return [name for name in offered if name in ordered]

    def _situation(self, asked: str) -> str:
        return asked if self.situation is None else self.situation(asked)

    def _who(self) -> Situation:
        return Situation(self.asker, self.conditions, unnamed=None)

    def _asking(self, *given: Any) -> _Whom:
        about = self._who().asking(*given)
        return {"asker": about.get("asker"), "conditions": about.get("conditions", ())}
