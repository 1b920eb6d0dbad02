"""Runs of the Agents SDK with a session, whose model is scripted; what is taken back is forgotten
for good, and said again.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Callable
from typing import Any

import agents
from adapter_contract import blocks_among
from agents import Agent, Runner, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call
from generated_conversations import Conversation, Outcome

from demem_adapters.common import Memories, Spoken
from demem_adapters.openai_agents import MemorySession

__all__ = ["Talk"]

_WEIGHTS = (0.68, 0.16, 0.1, 0.06)


class Listed:
    """A session in a list, as one in a database that outlives the process."""

    session_settings = None

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.items: list[Any] = []

    async def add_items(self, items: list[Any]) -> None:
        self.items += items

    async def get_items(self, limit: int | None = None) -> list[Any]:
        return self.items[-limit:] if limit else [*self.items]

    async def pop_item(self) -> Any:
        return self.items.pop() if self.items else None

    async def clear_session(self) -> None:
        self.items.clear()


class Talk(Conversation):
    """Have a conversation in a session."""

    def __init__(self, rng: random.Random, opened: Callable[[], Memories], **about: Any) -> None:
        agents.set_tracing_disabled(True)
        super().__init__(rng, opened, **about)
        self.style = "none"  # a session is told what is said now
        self.edits = True
        self.runner = asyncio.Runner()
        self.kept = Listed(f"{self.name}monday")
        self.session = self._session()
        self._begun = 0

    def close(self) -> None:
        self.runner.close()

    def _session(self) -> MemorySession:
        return MemorySession(self.kept, self.memories, namespace=self.namespace)

    def _restart(self) -> None:
        super()._restart()
        self.session = self._session()

    def _new(self, kind: str) -> str:
        # Words of its own: what is taken back takes along the answers that tell of it.
        return f"{self.name}{self.rng.getrandbits(64):x}"

    def _turn(self) -> None:
        self._begun = len(self.kept.items)
        super()._turn()

    def _again(self, texts: list[str]) -> None:
        self.shown.pop()
        self._take_back(len(texts) + 1)
        self.said += texts
        self._call(texts)

    def _edit(self, texts: list[str]) -> None:
        self.shown.clear()
        self._take_back(len(texts) + (self.said[-len(texts) :] != texts))
        edited = [*texts[:-1], self._new("This is edit")]
        self._last_of_user = edited[-1]
        self.said += edited
        self._call(edited)

    def _take_back(self, count: int) -> None:
        while len(self.kept.items) > self._begun:
            self.runner.run(self.session.pop_item())
        del self.said[-count:]

    def _call(self, texts: list[str], instead: str | None = None) -> Outcome:
        outcomes: tuple[Outcome, ...] = ("whole", "fails", "cut", "tools")
        outcome = self.rng.choices(outcomes, _WEIGHTS)[0]
        common = not self.name and self.rng.random() < 0.3
        answer = "Noted." if common else self._new("This is answer")
        said = assistant_message(answer, item_id=f"m{self.rng.random()}")
        cut = said.model_copy(update={"status": "incomplete"})
        steps: dict[Outcome, list[Any]] = {
            "whole": [[said]],
            "cut": [[cut]],
            "fails": [RuntimeError("no model")],
            "tools": [[function_call("weigh", {}, call_id="c1")], [said]],
        }
        with contextlib.suppress(RuntimeError):
            self.runner.run(self._run(texts, ScriptedModel(steps[outcome])))
        if outcome in ("whole", "tools"):
            self.said.append(answer)
            self.shown.append(Spoken(False, answer))
            return "whole"
        return outcome

    async def _run(self, texts: list[str], model: ScriptedModel) -> None:
        agent = Agent("Helper", model=model, tools=[function_tool(weigh)])
        given: Any = [{"role": "user", "content": text} for text in texts]
        config = self.session.run_config()
        try:
            await Runner.run(agent, given, session=self.session, run_config=config)
        finally:
            for call in model.calls:
                self._look(texts[-1], call.input)

    def _look(self, asked: str, items: Any) -> None:
        blocks = [str(item.get("content")) for item in items if "content" in item]
        for block in blocks_among(blocks):
            if asked in block:
                self.problems.append(f"the question is in its own reading: {asked}")


def weigh() -> str:
    """Weigh it."""
    return "A kilo."
