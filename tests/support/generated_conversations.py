"""Conversations as applications have them, generated: several messages before an answer, errors,
retries, edits, answers that are made anew or cut off, tool loops, restarts, and a store that fails
now and then. What is remembered in the end is compared with what was said.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, Literal

from demem_adapters.common import Heard, Memories, Spoken, said_last
from demem_adapters.common.said import holding
from demem_agent import Reading, SlotMemory
from demem_agent.errors import StaleState, StoreError
from demem_agent.stores import MemoryStore

__all__ = ["Conversation", "FailingStore", "problems_of", "problems_of_two"]

#: How an application shows a conversation: from its beginning, the last messages of it, without
#: what failed, or nothing but what is said now.
STYLES = ("whole", "window", "dropping", "none")
_WINDOW = 7
#: What people say again and again.
_COMMON = ("Yes.", "I live in Rome.", "I live in Oslo.", "Go on.")
Outcome = Literal["whole", "fails", "cut", "tools"]


class FailingStore(MemoryStore):
    """Fails to commit now and then, also when it has committed."""

    def __init__(self, rng: random.Random, share: float) -> None:
        super().__init__()
        self._rng = rng
        self.share = share

    def commit(self, address: Any, delta: Any) -> None:
        drawn = self._rng.random()
        if drawn < self.share:
            raise (StaleState if drawn < self.share / 2 else StoreError)("made to fail")
        super().commit(address, delta)
        if drawn > 1 - self.share / 4:
            raise StoreError("made to fail after all")


class Conversation:
    """One conversation of a user's with an application, and what is to be remembered of it.

    Attributes:
        shares: whether others may use the namespace meanwhile.

    Args:
        opened: opens the memories, anew at each restart.
        name: begins each message that is said once.
        restarts: whether the application is started anew now and then.
    """

    shares = True

    def __init__(
        self,
        rng: random.Random,
        opened: Callable[[], Memories],
        *,
        namespace: str = "ana",
        name: str = "",
        restarts: bool = True,
    ) -> None:
        self.rng = rng
        self.opened = opened
        self.memories = opened()
        self.namespace = namespace
        self.name = name
        self.restarts = restarts
        self.style = rng.choice(STYLES)
        self.edits = self.style in ("whole", "window")
        self.said: list[str] = []  # all that is to be remembered, in order
        self.shown: list[Spoken] = []
        self.problems: list[str] = []
        self._count = 0
        self._last_of_user = ""
        #: Begins the first message, unless it is to be any.
        self.begins = ""

    def run(self, turns: int) -> list[str]:
        """Have so many turns; return what went wrong in them."""
        for _ in range(turns):
            self._turn()
            if self.rng.random() < 0.12:
                self._restart()
        return self.problems

    def settle(self) -> None:
        """Wait until all is written, as at the end of a process."""
        while self.memories.waiting:
            self.memories.names()

    def remembered(self) -> list[str]:
        """Return what is remembered of it, oldest first."""
        memory = self.memories.known(self.namespace)
        return self.held_by(memory) if memory else []

    @classmethod
    def held_by(cls, memory: SlotMemory) -> list[str]:
        """Return what a memory holds of such conversations, oldest first."""
        return [item.text for item in holding(memory)]

    def close(self) -> None:
        """Let go of what the conversation holds open."""

    def _restart(self) -> None:
        if not self.restarts:
            return
        self.settle()
        self.memories = self.opened()

    def _new(self, kind: str) -> str:
        self._count += 1
        return f"{self.name}{kind} {self._count} of thing {self.rng.randrange(10**9)}."

    def _message(self) -> str:
        """Return what the user says next."""
        if self.begins and not self.shown:
            return self._new(self.begins)
        if self.name or self.rng.random() < 0.6:
            return self._new("This is fact")
        common = self.rng.choice(_COMMON)
        # Said twice in a row it cannot be told from a call that is made again, where the
        # application does not show that it was said before.
        return self._new("This is fact") if common == self._last_of_user else common

    def _turn(self) -> None:
        texts = [self._message()]
        self._last_of_user = texts[0]
        # What a window does not show at all nobody can hear.
        while len(texts) < _WINDOW and self.rng.random() < 0.2:
            texts.append(self._message())
            self._last_of_user = texts[-1]
        if len(texts) > 1 and self.style in ("none", "dropping"):
            # "Go on. Yes." that failed and "Go on. No." is the same with another ending, or said
            # once more: where no history is shown nobody can tell.
            texts[0] = self._new("This is fact")
        self.said += texts
        begun = len(self.shown)
        self.shown += [Spoken(True, text) for text in texts]
        outcome = self._call(texts)
        while outcome in ("fails", "cut") and self.rng.random() < 0.5:
            outcome = self._call(texts)  # the application tries again
        if outcome == "fails" and self.style == "dropping":
            del self.shown[begun:]
        if outcome == "cut" and self.rng.random() < 0.5:
            self.shown.append(Spoken(False, self._new("I was just about to say")))
        if outcome == "whole" and self.rng.random() < 0.1:
            self._again(texts)
        edits = self.edits and self.rng.random() < 0.08
        if edits and outcome in ("whole", "fails"):
            self._edit(texts)

    def _again(self, texts: list[str]) -> None:
        """Have the last answer made anew."""
        answer = self.shown.pop()
        outcome = self._call(texts, instead=answer.text)
        if outcome != "whole":
            self.shown.append(answer)

    def _edit(self, texts: list[str]) -> None:
        """Have the user change the last message, and send it again."""
        while not self.shown[-1].by_user:
            self.shown.pop()
        self.shown.pop()
        edited = self._new("This is edit")
        self._last_of_user = edited
        self.said.append(edited)
        self.shown.append(Spoken(True, edited))
        self._call([*texts[:-1], edited])

    def _visible(self, texts: list[str]) -> list[Spoken]:
        if self.style == "none":
            return [Spoken(True, text) for text in texts]
        return self.shown[-_WINDOW:] if self.style == "window" else [*self.shown]

    def _call(self, texts: list[str], instead: str | None = None) -> Outcome:
        """Call the model; whatever becomes of it, the user has said what was said."""
        visible = self._visible(texts)
        before, said = said_last(visible)
        shown = [one.text for one in visible]
        reading = self.memories.prepare(self.namespace, texts[-1], shown=shown)
        if reading and any(texts[-1] in item.text for item in reading.evidence):
            self.problems.append(f"the question is in its own reading: {texts[-1]}")
        heard = self.memories.heard(self.namespace, said, before=before)
        weights = (0.68, 0.16, 0.1, 0.06)
        outcome: Outcome = self.rng.choices(("whole", "fails", "cut", "tools"), weights)[0]
        if outcome == "tools":  # the model calls one, and goes on with its result
            outcome = "whole"
            if self.rng.random() < 0.5:
                self._restart()
                heard = self.memories.heard(self.namespace, said, before=before)
                if instead and self.restarts and not before:
                    # Of the first message of a conversation another process cannot say that it is
                    # not said once more.
                    instead = ""
        if outcome == "whole":
            self._answer(texts[-1], heard, reading, instead)
        return outcome

    def _answer(
        self, asked: str, heard: Heard, reading: Reading | None, instead: str | None
    ) -> None:
        common = not self.name and self.rng.random() < 0.3 and instead is None
        answer = "Noted." if common else self._new("This is answer")
        self.memories.converse(self.namespace, asked, answer, key=heard, reading=reading)
        self.shown.append(Spoken(False, answer))
        if instead:
            self._drop(instead)
        self.said.append(answer)

    def _drop(self, text: str) -> None:
        """Take out the last of what was said so."""
        self.said.reverse()
        self.said.remove(text)
        self.said.reverse()


def problems_of_two(
    seed: int, opened: Callable[[random.Random], Callable[[], Memories]], turns: int = 12
) -> list[str]:
    """Have two conversations of one user's in turn, each of which is shown, as in two windows; and
    return what is lost, doubled, foreign or out of order.
    """
    rng = random.Random(seed)
    opening = opened(rng)
    talks = [Conversation(rng, opening), Conversation(rng, opening)]
    for number, talk in enumerate(talks):
        talk.style = "whole"
        talk.said = talks[0].said
        # Two that begin with the same at once cannot be told apart.
        talk.begins = f"Window {number}"
    problems: list[str] = []
    for _ in range(turns):
        talk = rng.choice(talks)
        problems += talk.run(1)
        talk.settle()
    remembered = talks[0].remembered()
    if remembered != talks[0].said:
        problems.append(f"two: said {talks[0].said}, remembered {remembered}")
    return problems


def problems_of(
    seed: int,
    opened: Callable[[random.Random], Callable[[], Memories]],
    turns: int = 12,
    conversation: type[Conversation] = Conversation,
) -> list[str]:
    """Have a conversation, and return what is lost, doubled, foreign or out of order."""
    rng = random.Random(seed)
    talk = conversation(rng, opened(rng))
    try:
        problems = talk.run(turns)
        talk.settle()
        remembered = talk.remembered()
    finally:
        talk.close()
    if remembered != talk.said:
        problems.append(f"{talk.style}: said {talk.said}, remembered {remembered}")
    return problems
