"""AsyncSlotMemory: the same memory with coroutines; what blocks runs in threads."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Concatenate, Never, ParamSpec, Self, TypeVar, Unpack, cast

from demem_agent import flows, tracing
from demem_agent import messages as chats
from demem_agent.channels import Told
from demem_agent.copying import Lines, opened
from demem_agent.door import Door, is_decision, refuse_keywords, refuse_positional
from demem_agent.drivers import Collaborators, drive_async
from demem_agent.errors import CollaboratorError, StaleState
from demem_agent.held import RETRIES, Held, only_reads
from demem_agent.later import module
from demem_agent.memory import MemoryHandle, Progress, learned
from demem_agent.messages.records import IngestedMessages
from demem_agent.options import Options
from demem_agent.reading.ask import Asking, Reads, Routes, When
from demem_agent.requests import Flow
from demem_agent.servers import is_remote, refuse_here, refuse_key
from demem_agent.settings import SHARING
from demem_agent.slots import choosing
from demem_agent.slots.choosing.asked import Advises, Choosing, Decided, Decides, Tries
from demem_agent.slots.history import history
from demem_agent.slots.invariants import check
from demem_agent.slots.keeping import Brought, storage_of
from demem_agent.slots.state import State
from demem_agent.stores import DeletionReceipt, Store
from demem_agent.stores.parts import exported
from demem_agent.turns import Retold, Turn, refuse_unknown, text_field, whole_field
from demem_agent.types import (
    Answer,
    ChangeJudged,
    Context,
    Decision,
    Encoder,
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
from demem_agent.where import Where, where_field

if TYPE_CHECKING:
    from pathlib import Path

    from demem_agent import client
    from demem_agent.stores.backups import BackupReceipt
    from demem_agent.stores.wrapping import EncryptionKey
else:
    client = module("demem_agent.client")

__all__ = ["AsyncSlotMemory"]

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class AsyncSlotMemory(MemoryHandle):
    """The same memory with coroutines; what blocks runs in threads, never on the event loop.

    Every method does what the one of :class:`SlotMemory` with its name does, with the same
    arguments and errors. ``settings``, ``slots`` and ``len()`` are plain, and as of the last
    operation.

    Examples:
        >>> import asyncio
        >>> async def asked():
        ...     memory = AsyncSlotMemory(clock=None)
        ...     await memory.ingest("The cat is called Minka.", speaker="Ana")
        ...     return await memory.answer("What is the cat called?")
        >>> asyncio.run(asked())
        <Answer a1 'Ana: The cat is called Minka.' from e1>
    """

    def __init__(self, *positional: Never, **options: Unpack[Options]) -> None:
        refuse_positional(type(self).__name__, positional)
        self._begin(Held(options))

    def _begin(self, held: Held) -> None:
        super()._begin(held)
        self._lock = asyncio.Lock()

    @classmethod
    async def open(
        cls,
        url: str | Store,
        *,
        skip_damaged: bool = False,
        reembed: bool = False,
        key: str | None = None,
        encryption_key: EncryptionKey | None = None,
        **options: Unpack[Options],
    ) -> Self:
        """Open a memory in a store, or of a server, as ``SlotMemory.open`` does."""
        if is_remote(url):
            refuse_here(
                skip_damaged=skip_damaged,
                reembed=reembed,
                encryption_key=encryption_key is not None,
            )
            made = await client.AsyncRemoteMemory.open(cast(str, url), key=key, **options)
            return cast(Self, made)
        refuse_key(key)
        opening = functools.partial(
            opened,
            url,
            options,
            skip_damaged=skip_damaged,
            reembed=reembed,
            encryption_key=encryption_key,
        )
        memory = cls._of(await asyncio.to_thread(opening))
        if memory._held.built_with_another:
            await memory._reembed_or_release()
        return memory

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
        remembered = await self._remember([self._door.turn(turn)], self._door)
        return remembered[0]

    async def ingest_many(
        self, turns: Iterable[Turn | Mapping[str, object]], *, progress: Progress | None = None
    ) -> list[Ingested]:
        """Remember many turns."""
        return await self._remember_many(self._door.turns(turns), self._door.at_once(), progress)

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
        heard = chats.turns_of(
            messages, session=session, tools=tools, speakers=speakers, source=source
        )
        checked = self._door.turns(heard.turns)
        with chats.explained():
            results = await self._remember_many(checked, self._door.dating(at).at_once(), progress)
        return IngestedMessages(tuple(results), heard.left_out)

    async def route(self, query: str, **how: Unpack[Routes]) -> Route:
        """Choose the slot that a query goes to."""
        return await self._run(flows.read.route, self._door.routing(query, how))

    async def read(self, query: str, **how: Unpack[Reads]) -> Reading:
        """Return the text to put before a model."""
        return await self._run(flows.read.read, self._door.reading(query, how))

    async def weigh(self, query: str, **how: Unpack[Reads]) -> Weighed:
        """Read, and tell what each line has its score from."""
        return await self._run(flows.read.weigh, self._door.reading(query, how))

    async def answer(self, query: str, **how: Unpack[Asking]) -> Answer:
        """Answer from memory alone and remember the decision."""
        given = await self._run(flows.answer.answer, self._door.asking("answer", query, how))
        await self._keep_within(Brought(contexts=frozenset({given.id})))
        return given

    async def answered(
        self, query: str, text: str, *, reading: Reading | None = None, **how: Unpack[Asking]
    ) -> Answer:
        """Record an answer that was produced elsewhere."""
        given = await self._run(
            flows.answer.answered, *self._door.answered(query, text, reading, how)
        )
        await self._keep_within(Brought(contexts=frozenset({given.id})))
        return given

    async def feedback(
        self, answer: Answer | Decision | str, *, key: str | None = None, **told: Unpack[Told]
    ) -> FeedbackReport:
        """Learn from how an answer did, or a decision."""
        if is_decision(answer):
            return await self._run(flows.decide.outcome, *self._door.outcome(answer, told, key))
        report = await self._run(flows.feedback.feedback, self._given(answer, told, key))
        await self._keep_within(learned(report))
        return await self._with_place(report)

    async def decide(
        self, situation: str, actions: Iterable[str], **how: Unpack[Decides]
    ) -> Decision:
        """Choose among actions by what worked in situations like this."""
        return await self._choose(self._door.deciding(situation, actions, how))

    async def decided(
        self,
        situation: str,
        action: str,
        *,
        actions: Iterable[str] = (),
        **how: Unpack[Decided],
    ) -> Decision:
        """Record what an agent chose itself."""
        return await self._choose(self._door.decided(situation, action, actions, how))

    async def advice(self, situation: str, **how: Unpack[Advises]) -> str:
        """Return what worked in a situation, in a line."""
        return await self._run(flows.advise.advise, self._door.advising(situation, how))

    async def tried(self, situation: str, **how: Unpack[Tries]) -> tuple[Tried, ...]:
        """Return how actions did in a situation, the best first."""
        return await self._run(flows.advise.tried, self._door.trying(situation, how))

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
        selected = self._door.selected(evidence_id, source_id, before, where, versions)
        return await self._run(flows.forget.forget, selected)

    async def update(
        self, evidence_id: str, text: str, *, key: str | None = None, **given: Unpack[Retold]
    ) -> Updated:
        """Change a fact: remember a text in the place of an item."""
        asked = self._door.updating(evidence_id, text, key, given)
        made = await self._run(flows.update.update, asked)
        await self._keep_within(Brought(items=frozenset({made.evidence_id})))
        return made

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
        """Bring the memory up to a list that was edited, such as a file read again."""
        listing = self._door.listing(turns, source, by, gone, known)
        async with self._fresh(newest=True):
            flows.sync.require_known(self._held.state, listing)
        await self._run(flows.sync.join, listing)
        async with self._fresh(newest=True):
            plan = flows.sync.planned(self._held.state, listing)
        made: list[flows.update.Made | None] = []
        size = self._batch()
        for start in range(0, len(plan.changes), size):
            made += await self._change(plan.changes[start : start + size])
            if progress:
                progress(plan.unchanged + len(made), len(listing.turns))
        receipt = None
        if plan.leaves and gone == "forget":
            receipt = await self._run(flows.sync.leave, plan, source)
        return flows.sync.synced(plan, made, receipt)

    async def history(self, evidence_id: str) -> tuple[Version, ...]:
        """Return what an item has taken the place of, and what has taken its, old to new."""
        async with self._fresh():
            return history(self._held.state, text_field("evidence_id", evidence_id))

    async def keep(self, evidence_id: str, kept: bool = True) -> None:
        """Have an item stay whatever else is forgotten."""
        await self._run(flows.mark.keep, *self._door.marking(evidence_id, "kept", kept))

    async def hide(self, evidence_id: str, hidden: bool = True) -> None:
        """Have an item never be read."""
        await self._run(flows.mark.hide, *self._door.marking(evidence_id, "hidden", hidden))

    async def undo(self, id: str) -> None:
        """Take back a split, what was told of an answer, or that a line was superseded."""
        await self._run(flows.undo.undo, text_field("id", id))

    async def supersede(self, old: str, new: str, *, key: str | None = None) -> Succession:
        """Settle that one item has taken the place of another."""
        return await self._run(flows.supersede.supersede, *self._door.superseding(old, new, key))

    async def summarise(self, slot: int | None = None) -> tuple[Summarised, ...]:
        """Have the memory's ``compressor`` write summaries."""
        author = self._author()
        named = None if slot is None else whole_field("slot", slot, 0)
        async with self._fresh(newest=True):
            numbers = flows.summarise.due(self._held.state, named)
        done = [await self._run(flows.summarise.summarise, number, author) for number in numbers]
        return tuple(done)

    async def take_notes(self) -> tuple[NotesTaken, ...]:
        """Have the memory's ``note_taker`` take notes of all that was said since it last did."""
        self._require_note_taker()
        done: list[NotesTaken] = []
        while not done or not done[-1].failed:
            taken = await self._run(flows.note.take_notes)
            if taken is None:
                break
            done.append(taken)
            await self._keep_within(Brought(items=frozenset(taken.notes)))
        return tuple(done)

    async def judge_changes(self) -> tuple[ChangeJudged, ...]:
        """Have the memory's ``judge_change`` say which lines later ones have taken the place of."""
        self._require_judge_change()
        async with self._fresh(newest=True):
            pairs = await asyncio.to_thread(flows.change.due, self._held.state)
        done: list[ChangeJudged] = []
        for pair in pairs:
            if flows.change.is_in_vain(done):
                break
            judged = await self._run(flows.change.judge, pair)
            done += [] if judged is None else [judged]
        return tuple(done)

    async def rename(self, slot: int, name: str | None) -> None:
        """Name a slot."""
        await self._run(flows.arrange.rename, *self._door.naming(slot, name))
        await self._keep_within(Brought(slot=slot))

    async def pin(self, slot: int, pinned: bool = True) -> None:
        """Have a slot stay as it is divided."""
        await self._run(flows.arrange.pin, *self._door.pinning(slot, pinned))

    async def merge(self, slot: int, *, into: int) -> None:
        """Move all that is in one slot into another and close it."""
        await self._run(flows.arrange.merge, *self._door.merging(slot, into))

    async def share(self, answers: int = SHARING) -> Sharing | None:
        """Merge two slots where a conflict waits for one, and no known decision loses by it."""
        return await self._run(flows.share.share, whole_field("answers", answers, 2))

    async def reembed(self, encoder: Encoder) -> int:
        """Encode everything anew with another encoder."""
        team = self._held.team_with(encoder)
        return await self._run_by(team, flows.reembed.reembed, self._held.adopting(team))

    async def evidence(
        self, *, where: Where | Mapping[str, object] | None = None, **unknown: Never
    ) -> tuple[Evidence, ...]:
        """Return every live item, in order of ingestion; with a filter those that it leaves."""
        refuse_keywords("evidence", unknown)
        chosen = where_field(where)
        async with self._fresh():
            return self._evidence(chosen)

    async def item(self, evidence_id: str) -> Evidence:
        """Return one live item by its id."""
        async with self._fresh():
            return self._item(evidence_id)

    async def contexts(self) -> tuple[Context, ...]:
        """Return every decision so far: one for each answer."""
        async with self._fresh():
            return self._contexts()

    async def certificates(self) -> tuple[SplitCertificate, ...]:
        """Return every certificate, of splits carried out, undone and suppressed alike."""
        async with self._fresh():
            return self._certificates()

    async def successions(self) -> tuple[Succession, ...]:
        """Return which lines have taken the place of which, undone ones included."""
        async with self._fresh():
            return self._successions()

    async def decisions(self) -> tuple[Decision, ...]:
        """Return every choice among actions so far, with what it came to."""
        async with self._fresh():
            return self._decisions()

    async def situations(self) -> tuple[Situation, ...]:
        """Return every situation in which something was decided."""
        async with self._fresh():
            return self._situations()

    async def decision_log(self) -> choosing.DecisionLog:
        """Return all that was decided."""
        async with self._fresh():
            return self._decision_log()

    async def explain(self, id: str) -> Explained:
        """Explain a decision among actions."""
        log = await self.decision_log()
        return await asyncio.to_thread(choosing.log.explained, log, text_field("id", id))

    async def marks(self) -> tuple[Mark, ...]:
        """Return what ``keep`` and ``hide`` have settled of items."""
        async with self._fresh():
            return self._marks()

    async def health(self) -> Health:
        """Return how the memory stands."""
        async with self._fresh():
            return self._health()

    async def storage(self) -> Storage:
        """Return how much the memory keeps, and how much it may."""
        async with self._fresh():
            return storage_of(self._held.state)

    async def receipts(self) -> tuple[Receipt, ...]:
        """Return what was forgotten for want of room or for its age, the oldest first."""
        async with self._fresh():
            return flows.room.receipts(self._held.state)

    async def sharings(self) -> tuple[Sharing, ...]:
        """Return which slots ``share`` has merged, and what that rested on."""
        async with self._fresh():
            return flows.share.sharings(self._held.state)

    async def fingerprint(self) -> str:
        """Digest what is remembered: the same operations in the same order give the same 64 hex
        digits.
        """
        async with self._fresh():
            return self._held.state.fingerprint()

    async def export(
        self, *, where: Where | Mapping[str, object] | None = None
    ) -> list[dict[str, Any]]:
        """Return the whole memory as JSON values, or one of what a filter leaves."""
        chosen = where_field(where)
        async with self._fresh():
            return list(exported(self._held.state, chosen))

    async def backup(self, path: str | Path) -> BackupReceipt:
        """Write the memory as it stands, alone, into a SQLite file that is not there yet."""
        async with self._fresh():
            return await asyncio.to_thread(self._backup, path)

    @classmethod
    async def restore(
        cls,
        lines: Lines,
        url: str | Store = "memory://",
        *,
        encryption_key: EncryptionKey | None = None,
        **options: Unpack[Options],
    ) -> Self:
        """Make a memory from what ``export`` gave."""
        restoring = functools.partial(
            opened, url, options, lines=lines, encryption_key=encryption_key
        )
        return cls._of(await asyncio.to_thread(restoring))

    async def check(self) -> None:
        """Assert every invariant."""
        async with self._fresh():
            check(self._held.state)

    async def delete(self) -> DeletionReceipt:
        """Delete the whole memory, which cannot be taken back."""
        async with self._lock:
            return await asyncio.to_thread(self._held.delete)

    async def close(self) -> None:
        """Release the store, if ``open`` made it from a URL."""
        async with self._lock:
            await asyncio.to_thread(self._held.release)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @asynccontextmanager
    async def _fresh(self, *, newest: bool = False) -> AsyncGenerator[None]:
        async with self._lock:
            await asyncio.to_thread(self._held.refresh, newest=newest)
            yield

    async def _remember_many(
        self, turns: list[Turn], door: Door, progress: Progress | None
    ) -> list[Ingested]:
        """Remember checked turns a batch at a time, dated by a door."""
        done: list[Ingested] = []
        size = self._batch()
        if len(turns) > size:
            await self._run(flows.ingest.require_requests, *door.arrivals(turns))
        for start in range(0, len(turns), size):
            done += await self._remember(turns[start : start + size], door)
            if progress:
                progress(len(done), len(turns))
        return done

    async def _remember(self, turns: list[Turn], door: Door) -> list[Ingested]:
        done = await self._run(flows.ingest.ingest, *door.arrivals(turns))
        items = (one.evidence_id for one in done if one.evidence_id is not None)
        await self._keep_within(Brought(items=frozenset(items)))
        return done

    async def _change(
        self, changes: Sequence[flows.update.Change]
    ) -> list[flows.update.Made | None]:
        made = await self._run(flows.update.changed, changes)
        items = (one.evidence_id for one in made if one is not None)
        await self._keep_within(Brought(items=frozenset(items)))
        return made

    async def _with_place(self, report: FeedbackReport) -> FeedbackReport:
        """Look for a slot to free where a conflict waits for one, if that is wanted."""
        if not flows.share.wants_place(report, self.settings.split):
            return report
        try:
            await self._run(flows.share.share, self.settings.split.sharing)
        except CollaboratorError as error:
            return replace(report, failed=str(error))
        return report

    async def _choose(self, asked: Choosing) -> Decision:
        made = await self._run(flows.decide.decide, asked)
        await self._keep_within(Brought(decision=made.id))
        return made

    async def _keep_within(self, brought: Brought) -> None:
        """Forget what there is no room for, if there is a bound."""
        if self.settings.is_bounded:
            await self._run(flows.room.make_room, brought)

    async def _reembed_or_release(self) -> None:
        try:
            await self.reembed(self._held.team.encoder)
        except BaseException:
            self._held.release()
            raise

    async def _run(
        self,
        flow: Callable[Concatenate[State, Arguments], Flow[Result]],
        *given: Arguments.args,
        **named: Arguments.kwargs,
    ) -> Result:
        return await self._run_by(None, flow, *given, **named)

    async def _run_by(
        self,
        team: Collaborators | None,
        flow: Callable[Concatenate[State, Arguments], Flow[Result]],
        *given: Arguments.args,
        **named: Arguments.kwargs,
    ) -> Result:
        with tracing.of_flow(flow, self._held.team.address, given) as span:
            return span.told(await self._carried_out(team, flow, *given, **named))

    async def _carried_out(
        self,
        team: Collaborators | None,
        flow: Callable[Concatenate[State, Arguments], Flow[Result]],
        *given: Arguments.args,
        **named: Arguments.kwargs,
    ) -> Result:
        """Carry out a flow as :class:`SlotMemory` does, without blocking the event loop."""
        newest = not only_reads(flow)
        for attempt in range(RETRIES):
            async with self._lock:
                await asyncio.to_thread(self._held.before_a_flow, newest=newest)
                begun = flow(self._held.state, *given, **named)
                doing = team or self._held.team
            try:
                steps = self._held.steps(attempt, newest=newest)
                return await drive_async(begun, self._lock, doing, steps)
            except StaleState:
                if attempt == RETRIES - 1:
                    raise
        raise AssertionError("the loop above returns or raises")
