"""What users and models say, remembered once."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime
from typing import Any, Required, TypedDict, Unpack
from uuid import uuid4

from demem_adapters.common.digests import digest
from demem_adapters.common.failures import logged
from demem_adapters.common.hearing import (
    anchor_of,
    known_of,
    of_session,
    remembered_of,
    waiting_of,
)
from demem_adapters.common.links import AFTER
from demem_adapters.common.patience import patient
from demem_adapters.common.places import standing_of
from demem_adapters.common.recalling import Recalls
from demem_adapters.common.recent import Recent
from demem_adapters.common.said import holding, kept_as
from demem_adapters.common.turns import Call, Heard, LastHeard, Telling, sayings
from demem_adapters.common.writing import patiently
from demem_agent import SlotMemory
from demem_agent.errors import IdempotencyConflict, NotFound
from demem_agent.turns import Turn, as_turn, text_field

__all__ = ["MOST_KNOWN", "Remembers", "Said"]

#: Of how many calls, speakers and messages it is known without a look into the memory.
MOST_KNOWN = 10_000


class Said(TypedDict, total=False):
    """A text and what is known of it, as arguments of :meth:`Memories.remember`."""

    text: Required[str]
    speaker: str | None
    at: datetime | date | str | None
    session: str | None
    source: str | None
    source_id: str | None
    key: str | None
    metadata: Mapping[str, object] | None
    anew: bool


class Remembers(Recalls):
    """The part of :class:`~demem_adapters.common.Memories` that remembers.

    Args:
        about, options: as its other parts take them.
    """

    def __init__(self, *about: Any, **options: Any) -> None:
        super().__init__(*about, **options)
        #: What was heard last of each speaker in a session, by what had been said up to it.
        self._heard: Recent[tuple[str, str | None, str], LastHeard] = Recent(MOST_KNOWN)
        #: Whose memory a message was said to first, by what tells it from others.
        self._whose: Recent[str, str] = Recent(MOST_KNOWN)

    @patient
    def remember(
        self,
        namespace: str | None,
        text: str,
        *,
        speaker: str | None = None,
        at: datetime | date | str | None = None,
        session: str | None = None,
        source: str | None = None,
        source_id: str | None = None,
        key: str | None = None,
        metadata: Mapping[str, object] | None = None,
        anew: bool = False,
    ) -> None:
        """Remember a text as it was said; a blank text is none.

        The same text with the same key again changes nothing. When this returns it is remembered;
        where writes are left to a thread (``background``) it waits to be.

        Args:
            metadata: what is kept beside it, JSON values by name, at most 4 KB; ``where`` filters
                by it.
            anew: remember it again where what had the key was forgotten since; else it stays so.

        Raises:
            IdempotencyConflict: for a key that something else was remembered under; in the
                background that is logged.
            StoreError: also where others hold the memory or its store for longer than
                ``patience``; with a key it can be made again. Never in the background.
        """
        said = kept_as(text)
        if namespace is None or not said.strip():
            return
        about: Any = {
            "speaker": speaker,
            "at": at,
            "session": session,
            "source": source,
            "source_id": source_id,
            "metadata": metadata,
        }
        if self._writes.is_at_work or not self._writes.background:
            self._enter(namespace, said, key, about, anew)
            return
        as_turn(Turn(said, key=key, **about))  # what is wrong with it is said now
        once = key or uuid4().hex  # done again after an error, it is the same event
        self.write_soon(namespace, lambda: self._enter(namespace, said, once, about, anew))

    def _enter(
        self, namespace: str, said: str, key: str | None, about: Mapping[str, Any], anew: bool
    ) -> None:
        """Remember a text now, in the thread that this is called in."""
        memory = self.of(namespace)
        patiently(lambda: entered(memory, said, key, about, anew))

    def _remember_now(self, namespace: str, given: Said) -> None:
        """Remember a text as a part of what is being written; blank ones are none."""
        about: Any = {**given}
        said, key, anew = (
            kept_as(about.pop("text")),
            about.pop("key", None),
            about.pop("anew", False),
        )
        if said.strip():
            self._enter(namespace, said, key, about, anew)

    def keep(self, namespace: str | None, turns: Callable[[], Iterable[Said]]) -> None:
        """Remember texts that a framework hands over, each with a ``key`` of its own, and once.

        What cannot be written now is written as soon as that can be done. A memory that fails costs
        nothing: what goes wrong is logged by its kind.

        Args:
            turns: gives the texts, when all that was to be written before is there. It is asked
                again after an error.
        """
        if namespace is None:
            return
        given: list[Said] = []
        told: list[bool] = []

        def remembered() -> None:
            if not told:
                given.extend(turns())
                told.append(True)
            while given:  # again after an error, the rest of it
                # It was handed over before, in another way.
                with contextlib.suppress(IdempotencyConflict):
                    self._remember_now(namespace, given[0])
                del given[0]

        self.write(namespace, remembered)

    async def akeep(self, namespace: str | None, turns: Iterable[Said]) -> None:
        """Remember texts as :meth:`keep` does, without blocking the event loop."""
        given = [*turns]
        await asyncio.to_thread(self.keep, namespace, lambda: given)

    async def aremember(self, namespace: str | None, text: str, **about: Any) -> None:
        """Remember a text, without blocking the event loop; arguments as in :meth:`remember`."""
        await asyncio.to_thread(self.remember, namespace, text, **about)

    def heard(self, namespace: str | None, said: Iterable[str], **known: Unpack[Telling]) -> Heard:
        """Remember what the user says as a call begins: after it was recalled for, and before the
        model is called.

        So nothing is lost of a call that fails or whose answer is cut off. What is remembered
        already is not remembered again: of a call that is made again, in this process or another,
        and of a conversation that is shown from its beginning each time. A memory that fails costs
        no answer.

        Args:
            said: all that the user has said since the last answer, oldest first; as
                :func:`~demem_adapters.common.said_last` gives it.
            known: what is known of the call, as :class:`~demem_adapters.common.Telling` says.

        Returns:
            The turn, for :meth:`~demem_adapters.common.Memories.converse`.
        """
        session = known.get("session")
        messages = [
            one
            for one in sayings(said, known)
            if one.is_last or self._is_of(namespace, session and one.mark)
        ]
        turn = Heard(tuple(one.words[1] for one in messages))
        if namespace is None or not messages:
            return turn
        for one in messages:
            if one.mark and one.mark not in self._whose:
                self._whose[one.mark] = namespace
        turn.goes_on = known.get("goes_on", False)
        turn.one_answer = known.get("one_answer", True)
        turn.anew = known.get("anew", False)

        with logged("a turn was not remembered"):
            text_field("namespace", namespace)
            call = Call.of(messages, known)
            self._writes.do(namespace, lambda: self._hear(namespace, turn, call))
        return turn

    def _is_of(self, namespace: str | None, mark: str | None) -> bool:
        """Whether a message was not said to another memory: several may share a conversation."""
        return not mark or self._whose.get(mark, namespace) == namespace

    async def aheard(
        self, namespace: str | None, said: Iterable[str], **known: Unpack[Telling]
    ) -> Heard:
        """Remember as :meth:`heard` does, without blocking the event loop."""
        return await asyncio.to_thread(self.heard, namespace, said, **known)

    def _hear(self, namespace: str, turn: Heard, call: Call) -> None:
        """Remember what of a turn is not remembered yet; again after an error, the rest of it."""
        memory = self.of(namespace)
        if turn.known is None:
            self._find(memory, (namespace, call.session, call.speaker), turn, call)
        known = turn.known or []
        beside = None if turn.after is None else {AFTER: turn.after}
        for n in range(len(turn.ids), len(turn.said)):
            speaker, text = call.words[n]
            about: Any = {"speaker": speaker, "session": call.session, "metadata": beside}
            id = known[n]
            if id is None:
                id = entered(memory, text, turn.keys[n], about, turn.anew or n == call.again)
            turn.ids.append(id or "")
        ids = dict(zip(call.marks, turn.ids, strict=True))
        self._heard[namespace, call.session, call.speaker] = LastHeard(ids, call.under)
        turn.key = digest("turn", turn.ids[-1])

    def _find(
        self,
        memory: SlotMemory,
        whose: tuple[str, str | None, str],
        turn: Heard,
        call: Call,
    ) -> None:
        """Find out where a turn stands, and which of it is remembered."""
        items = of_session(memory.evidence(), call.session)
        held = {item.id for item in holding(memory)}
        last = self._heard.get(whose, LastHeard())
        if any(call.ids):
            anchor = ""
            waiting = waiting_of([item for item in items if item.id in held], call.words)
            found = known_of(waiting, call.words)
        else:
            standing = standing_of(items, call.before, call.words, holding=held, kept=call.kept)
            turn.after = standing.after
            anchor = anchor_of(standing.since, call.words, grows=call.grows)
            waiting = waiting_of(standing.since, call.words)
            found = remembered_of(standing, call.words, goes_on=turn.goes_on, grows=call.grows)
        heard = last.among(waiting if call.grows else items, call)
        if turn.one_answer and not call.shows_what_was_before:
            # A turn that goes on was heard when it began, if only by another process.
            goes_on = turn.goes_on and found[-1] is not None
            turn.one_answer = not call.grows and (goes_on or last.is_again(heard, call))
        # What was heard in the call before is known for sure; the rest is compared.
        rest = [None if id in heard else id for id in found]
        turn.known = [sure or id for sure, id in zip(heard, rest, strict=True)]
        about = (call.session, turn.after, anchor)
        turn.keys = [
            digest("heard", speaker, mark, *about)
            for (speaker, _), mark in zip(call.words, call.marks, strict=True)
        ]


def entered(
    memory: SlotMemory, text: str, key: str | None, about: Mapping[str, Any], anew: bool
) -> str | None:
    """Remember a text, and return its id.

    Args:
        anew: remember it again where what had the key was forgotten since.
    """
    done = memory.ingest(text, key=key, **about)
    times = 0
    while anew and done.evidence_id and not _holds(memory, done.evidence_id):
        times += 1
        done = memory.ingest(text, key=digest(key, times), **about)
    return done.evidence_id


def _holds(memory: SlotMemory, evidence_id: str) -> bool:
    try:
        memory.item(evidence_id)
    except NotFound:
        return False
    return True
