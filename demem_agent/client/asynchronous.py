"""AsyncRemoteMemory: a memory behind a URL, with the methods of AsyncSlotMemory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Never, Self, TypeVar, Unpack

from demem_agent.channels import Told
from demem_agent.client import asks, calls
from demem_agent.client.caller import Caller
from demem_agent.client.opening import caller_of, door_of, settings_in
from demem_agent.client.transport import Transport
from demem_agent.copying import Lines
from demem_agent.door import refuse_keywords
from demem_agent.messages.records import IngestedMessages
from demem_agent.options import Options
from demem_agent.reading.ask import Asking, Reads, Routes, When
from demem_agent.settings import SHARING, Settings
from demem_agent.slots.choosing.asked import Advises, Decided, Decides, Tries
from demem_agent.stores import DeletionReceipt
from demem_agent.turns import Retold, Turn, refuse_unknown
from demem_agent.types import (
    Answer,
    ChangeJudged,
    Context,
    Decision,
    Evidence,
    Explained,
    FeedbackReport,
    Gone,
    Health,
    Ingested,
    Known,
    Mark,
    NotesTaken,
    Reading,
    Receipt,
    Route,
    Sharing,
    Situation,
    Slot,
    SplitCertificate,
    Storage,
    Succession,
    Summarised,
    Synced,
    Tried,
    Updated,
    Version,
    Weighed,
)
from demem_agent.where import Where

__all__ = ["AsyncRemoteMemory"]

Result = TypeVar("Result")
Progress = Callable[[int, int], object]


class AsyncRemoteMemory:
    """The same memory with coroutines: requests wait in threads, never on the event loop.

    ``AsyncSlotMemory.open("http://...", key=...)`` gives one. Its methods are those of
    :class:`~demem_agent.AsyncSlotMemory`, and it misses what
    :class:`~demem_agent.client.RemoteMemory` misses. What is an attribute there, ``slots`` and
    ``version``, has to be asked for here: ``await memory.slots()``; ``count`` is its length.
    """

    def __init__(self, caller: Caller, settings: Settings) -> None:
        """Hold a memory that is there; :meth:`open` makes one if it is not."""
        self._caller = caller
        self._settings = settings
        self._door = door_of(settings)

    @property
    def settings(self) -> Settings:
        """The budget, and how what comes in is placed."""
        return self._settings

    @classmethod
    async def open(
        cls, server: str | Transport, *, key: str | None = None, **options: Unpack[Options]
    ) -> Self:
        """Open a memory of a server, as ``RemoteMemory.open`` does."""
        settings = settings_in(options)
        caller = caller_of(server, key, options)
        shown = await asyncio.to_thread(caller.ask, asks.opened(settings))
        return cls(caller, shown.settings)

    @classmethod
    async def restore(
        cls,
        lines: Lines,
        server: str | Transport,
        *,
        key: str | None = None,
        **options: Unpack[Options],
    ) -> Self:
        """Make a memory of a server from what ``export`` gave; there must be none of its id."""
        settings_in(options)
        caller = caller_of(server, key, options)
        shown = await asyncio.to_thread(caller.ask, asks.restore(lines))
        return cls(caller, shown.settings)

    async def slots(self) -> tuple[Slot, ...]:
        """The active slots, by number."""
        return tuple((await self._ask(asks.slots())).records)

    async def version(self) -> str:
        """Which state the memory is in."""
        return (await self._ask(asks.shown())).version

    async def resident(self) -> int:
        """About how many bytes of RAM the memory takes on the server."""
        return (await self._ask(asks.health())).resident

    async def reranker_failures(self) -> dict[str, int]:
        """How often the server's reranker failed since it opened the memory, by how."""
        return dict((await self._ask(asks.health())).reranker_failures)

    async def router_failures(self) -> dict[str, int]:
        """How often the server's router failed since it opened the memory, by how."""
        return dict((await self._ask(asks.health())).router_failures)

    async def ingest(
        self,
        text: str,
        *,
        speaker: str | None = None,
        at: When = None,
        session: str | None = None,
        source: str | None = None,
        source_id: str | None = None,
        trust: float = 1.0,
        key: str | None = None,
        metadata: Mapping[str, object] | None = None,
        **unknown: Never,
    ) -> Ingested:
        """Remember a text."""
        refuse_unknown("ingest", unknown, Turn)
        turn = Turn(
            text,
            speaker=speaker,
            at=at,
            session=session,
            source=source,
            source_id=source_id,
            trust=trust,
            key=key,
            metadata=metadata,
        )
        return await self._ask(asks.ingest(self._door, turn))

    async def ingest_many(
        self, turns: Iterable[Turn | Mapping[str, object]], *, progress: Progress | None = None
    ) -> list[Ingested]:
        """Remember many turns, a request for each 512 or 1.5 million characters."""
        checked = self._door.turns(turns)
        done: list[Ingested] = []
        for batch in asks.batches(checked):
            done += (await self._ask(asks.ingest_many(batch))).records
            if progress:
                progress(len(done), len(checked))
        return done

    async def ingest_messages(
        self,
        messages: Iterable[object],
        *,
        session: str | None = None,
        at: When = None,
        tools: bool = False,
        speakers: Mapping[str, str] | None = None,
        source: str | None = None,
        progress: Progress | None = None,
        **unknown: Never,
    ) -> IngestedMessages:
        """Remember what was said in a list of chat messages, each once."""
        refuse_keywords("ingest_messages", unknown)
        done = await self._ask(
            asks.ingest_messages(
                messages, session=session, at=at, tools=tools, speakers=speakers, source=source
            )
        )
        if progress:
            progress(len(done.results), len(done.results))
        return done

    async def route(self, query: str, **how: Unpack[Routes]) -> Route:
        """Choose the slot that a query goes to, and tell whether any is adequate."""
        return await self._ask(asks.route(self._door, query, how))

    async def read(self, query: str, **how: Unpack[Reads]) -> Reading:
        """Return the text to put before a model."""
        return await self._ask(asks.read(self._door, query, how))

    async def weigh(self, query: str, **how: Unpack[Reads]) -> Weighed:
        """Read, and tell what each line has its score from."""
        return await self._ask(asks.weigh(self._door, query, how))

    async def answer(self, query: str, **how: Unpack[Asking]) -> Answer:
        """Answer from memory alone and remember the decision."""
        return await self._ask(asks.answer(self._door, query, how))

    async def answered(
        self, query: str, text: str, *, reading: Reading | None = None, **how: Unpack[Asking]
    ) -> Answer:
        """Record an answer that was produced elsewhere."""
        return await self._ask(asks.answered(self._door, query, text, reading, how))

    async def feedback(
        self, answer: Answer | Decision | str, *, key: str | None = None, **told: Unpack[Told]
    ) -> FeedbackReport:
        """Learn from how an answer did, or a decision."""
        return await self._ask(asks.feedback(self._door, answer, key, told))

    async def decide(
        self, situation: str, actions: Iterable[str], **how: Unpack[Decides]
    ) -> Decision:
        """Choose among actions by what worked in situations like this."""
        return await self._ask(asks.decide(self._door, situation, actions, how))

    async def decided(
        self, situation: str, action: str, *, actions: Iterable[str] = (), **how: Unpack[Decided]
    ) -> Decision:
        """Record what an agent chose itself."""
        return await self._ask(asks.decided(self._door, situation, action, actions, how))

    async def advice(self, situation: str, **how: Unpack[Advises]) -> str:
        """Return what worked in a situation, in a line."""
        return (await self._ask(asks.advice(self._door, situation, how))).text

    async def tried(self, situation: str, **how: Unpack[Tries]) -> tuple[Tried, ...]:
        """Return how actions did in a situation, the best first."""
        return tuple((await self._ask(asks.tried(self._door, situation, how))).records)

    async def forget(
        self,
        evidence_id: str | None = None,
        *,
        source_id: str | None = None,
        before: When = None,
        where: Where | Mapping[str, object] | None = None,
        versions: bool = False,
        **unknown: Never,
    ) -> Receipt:
        """Erase evidence and every text that came from it."""
        refuse_keywords("forget", unknown)
        return await self._ask(
            asks.forget(self._door, evidence_id, source_id, before, where, versions)
        )

    async def update(
        self, evidence_id: str, text: str, *, key: str | None = None, **given: Unpack[Retold]
    ) -> Updated:
        """Change a fact: remember a text in the place of an item."""
        return await self._ask(asks.update(self._door, evidence_id, text, key, given))

    async def sync(
        self,
        turns: Iterable[Turn | Mapping[str, object]],
        *,
        source: str,
        by: Known = "id",
        gone: Gone = "tell",
        known: float = 0.0,
        progress: Progress | None = None,
    ) -> Synced:
        """Bring the memory up to a list that was edited, in one request."""
        listing = self._door.turns(turns)
        done = await self._ask(
            asks.sync(self._door, listing, source=source, by=by, gone=gone, known=known)
        )
        if progress:
            progress(len(listing), len(listing))
        return done

    async def history(self, evidence_id: str) -> tuple[Version, ...]:
        """Return what an item has taken the place of, and what has taken its, old to new."""
        return tuple((await self._ask(asks.history(evidence_id))).records)

    async def keep(self, evidence_id: str, kept: bool = True) -> None:
        """Have an item stay whatever else is forgotten."""
        await self._ask(asks.keep(self._door, evidence_id, kept))

    async def hide(self, evidence_id: str, hidden: bool = True) -> None:
        """Have an item never be read."""
        await self._ask(asks.hide(self._door, evidence_id, hidden))

    async def undo(self, id: str) -> None:
        """Take back a split, a succession, or what was told of an answer or a decision."""
        await self._ask(asks.undo(id))

    async def supersede(self, old: str, new: str, *, key: str | None = None) -> Succession:
        """Settle that one item has taken the place of another."""
        return await self._ask(asks.supersede(self._door, old, new, key))

    async def summarise(self, slot: int | None = None) -> tuple[Summarised, ...]:
        """Have the server's compressor write summaries."""
        return tuple((await self._ask(asks.summarise(slot))).records)

    async def take_notes(self) -> tuple[NotesTaken, ...]:
        """Have the server's note taker take notes of what was said since it last did."""
        return tuple((await self._ask(asks.take_notes())).records)

    async def judge_changes(self) -> tuple[ChangeJudged, ...]:
        """Have the server's judge say which lines later ones have taken the place of."""
        return tuple((await self._ask(asks.judge_changes())).records)

    async def rename(self, slot: int, name: str | None) -> None:
        """Name a slot, for people; None takes it away."""
        await self._ask(asks.rename(self._door, slot, name))

    async def pin(self, slot: int, pinned: bool = True) -> None:
        """Have a slot stay as it is divided."""
        await self._ask(asks.pin(self._door, slot, pinned))

    async def merge(self, slot: int, *, into: int) -> None:
        """Move all that is in one slot into another and close it."""
        await self._ask(asks.merge(self._door, slot, into))

    async def share(self, answers: int = SHARING) -> Sharing | None:
        """Merge two slots where a conflict waits for one, and no known decision loses by it."""
        return next(iter((await self._ask(asks.share(answers))).records), None)

    async def evidence(
        self, *, where: Where | Mapping[str, object] | None = None, **unknown: Never
    ) -> tuple[Evidence, ...]:
        """Return every live item, in order of ingestion; with a filter those that it leaves."""
        refuse_keywords("evidence", unknown)
        return await self._run(asks.evidence(where))

    async def item(self, evidence_id: str) -> Evidence:
        """Return one live item by its id."""
        return await self._ask(asks.item(evidence_id))

    async def contexts(self) -> tuple[Context, ...]:
        """Return every decision so far: one for each answer."""
        return await self._run(asks.contexts())

    async def certificates(self) -> tuple[SplitCertificate, ...]:
        """Return every certificate, of splits carried out, undone and suppressed alike."""
        return await self._run(asks.certificates())

    async def successions(self) -> tuple[Succession, ...]:
        """Return which lines have taken the place of which, undone ones included."""
        return await self._run(asks.successions())

    async def decisions(self) -> tuple[Decision, ...]:
        """Return every choice among actions so far, with what it came to."""
        return await self._run(asks.decisions())

    async def situations(self) -> tuple[Situation, ...]:
        """Return every situation in which something was decided."""
        return await self._run(asks.situations())

    async def explain(self, id: str) -> Explained:
        """Explain a decision among actions: what it rested on, and how it looks now."""
        return await self._ask(asks.explain(id))

    async def marks(self) -> tuple[Mark, ...]:
        """Return what ``keep`` and ``hide`` have settled of items."""
        return tuple((await self._ask(asks.marks())).records)

    async def health(self) -> Health:
        """Return how the memory stands, against its bounds, and what waits in it."""
        return await self._ask(asks.health())

    async def storage(self) -> Storage:
        """Return how much the memory keeps, and how much it may."""
        return await self._ask(asks.storage())

    async def receipts(self) -> tuple[Receipt, ...]:
        """Return what was forgotten for want of room or for its age, the oldest first."""
        return tuple((await self._ask(asks.receipts())).records)

    async def sharings(self) -> tuple[Sharing, ...]:
        """Return which slots ``share`` has merged, the oldest first."""
        return tuple((await self._ask(asks.sharings())).records)

    async def fingerprint(self) -> str:
        """Digest what is remembered, as 64 hex digits."""
        return (await self._ask(asks.fingerprint())).text

    async def export(
        self, *, where: Where | Mapping[str, object] | None = None
    ) -> list[dict[str, Any]]:
        """Return the whole memory, or what a filter leaves, as JSON values."""
        return await self._ask(asks.export(where))

    async def check(self) -> None:
        """Assert every invariant."""
        await self._ask(asks.check())

    async def delete(self) -> DeletionReceipt:
        """Delete the whole memory, which cannot be taken back."""
        return await self._ask(asks.deleted())

    async def count(self) -> int:
        """Return the number of live evidence items."""
        return (await self._ask(asks.shown())).items

    async def close(self) -> None:
        """Release the connections."""
        await asyncio.to_thread(self._caller.close)

    def __repr__(self) -> str:
        """Return which memory it is; no text."""
        return f"<{type(self).__name__} {self._caller.memory_id!r}>"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _ask(self, request: calls.Request[Result]) -> Result:
        return await asyncio.to_thread(self._caller.ask, request)

    async def _run(self, asking: calls.Pages[Result]) -> Result:
        return await asyncio.to_thread(self._caller.run, asking)
