"""Items of a store of LangGraph's, put, changed and deleted; memory holds what the store holds."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from generated_conversations import Conversation
from langgraph.store.memory import InMemoryStore

from demem_adapters.common import Memories
from demem_adapters.langgraph import SlotStore, wrap
from demem_agent.errors import StoreError

__all__ = ["Talk"]


class Talk(Conversation):
    """Have an application keep what was said in a store."""

    shares = False  # what the store does not hold the memory is to forget

    def __init__(self, rng: random.Random, opened: Callable[[], Memories], **about: Any) -> None:
        super().__init__(rng, opened, **about)
        self.style = "store"
        self.inner = InMemoryStore()
        self.store = self._wrapped()
        self._keys: list[str] = []

    def _wrapped(self) -> SlotStore:
        return wrap(self.inner, self.memories)

    def _restart(self) -> None:
        super()._restart()
        self.store = self._wrapped()
        if self.rng.random() < 0.5:  # while it was not there another has put something
            key = f"k{self._count}"
            self.inner.put((self.namespace,), key, {"text": self._new("This is fact")})
            self._keys.append(key)
        # What others have in stores of their own is none of it.
        self._until_done(lambda: self.store.catch_up((self.namespace,)))

    def _turn(self) -> None:
        text = self._message()
        drawn = self.rng.random()
        if drawn < 0.3 and self._keys:
            key = self.rng.choice(self._keys)
        else:
            key = f"k{self._count}-{len(self._keys)}"
            self._keys.append(key)
        if drawn < 0.1:
            self._until_done(lambda: self.store.delete((self.namespace,), key))
        else:
            self._until_done(lambda: self.store.put((self.namespace,), key, {"text": text}))
        if self.rng.random() < 0.3:
            self._until_done(lambda: self.store.search((self.namespace,), query=text))

    def remembered(self) -> list[str]:
        self.said = sorted(
            item.value["text"] for item in self.inner.search((self.namespace,), limit=999)
        )
        return sorted(super().remembered())

    def _until_done(self, work: Callable[[], object]) -> None:
        """Do it until it is done; then, now and then, once more."""
        done = False
        while not done or self.rng.random() < 0.15:
            try:
                work()
                done = True
            except StoreError:
                pass
