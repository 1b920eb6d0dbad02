"""RemoteMemory: a memory behind a URL, with the methods of SlotMemory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Never, Self, Unpack

from demem_agent.channels import Told
from demem_agent.client import asks
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

__all__ = ["RemoteMemory"]

Progress = Callable[[int, int], object]


class RemoteMemory:
    """A memory that a server has; safe to share between threads.

    ``SlotMemory.open("http://...", key=...)`` gives one. Its methods are those of
    :class:`~demem_agent.SlotMemory`, with the same arguments, records and errors; a reason of the
    server's own, or none at all, is a :class:`~demem_agent.errors.RemoteError`, which is a
    StoreError. Missing is what needs the memory in this process: ``backup``, ``reembed``,
    ``decision_log``, copies and pickles, and who does the work (encoder, answerer, ...), which
    is the server's own.

    Examples:
        >>> from demem_agent.server import make_app
        >>> from demem_agent.testing import InProcess
        >>> with InProcess(make_app(clock=None)) as server:
        ...     remote = RemoteMemory.open(server, memory_id="ana")
        ...     remote.ingest("I moved to Lisbon.").evidence_id
        'e1'
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
    def open(
        cls, server: str | Transport, *, key: str | None = None, **options: Unpack[Options]
    ) -> Self:
        """Open a memory of a server, making it if it does not exist.

        Args:
            server: its URL, or what takes requests to it.
            key: ``dm_...``; none where the server asks for none.
            options: ``memory_id``, and settings of a memory that is made.

        Raises:
            InvalidInput: for a setting that contradicts the stored one, and for an option that the
                server has of its own.
            RemoteError: if the server cannot be reached, or refuses.
        """
        settings = settings_in(options)
        caller = caller_of(server, key, options)
        return cls(caller, caller.ask(asks.opened(settings)).settings)

    @classmethod
    def restore(
        cls,
        lines: Lines,
        server: str | Transport,
        *,
        key: str | None = None,
        **options: Unpack[Options],
    ) -> Self:
        """Make a memory of a server from what ``export`` gave; there must be none of its id.

        Raises:
            InvalidInput: naming the line that is not as ``export`` writes it.
            RemoteError: if there is such a memory, or the server cannot be reached, or refuses.
        """
        settings_in(options)
        caller = caller_of(server, key, options)
        return cls(caller, caller.ask(asks.restore(lines)).settings)

    @property
    def slots(self) -> tuple[Slot, ...]:
        """The active slots, by number."""
        return tuple(self._caller.ask(asks.slots()).records)

    @property
    def version(self) -> str:
        """Which state the memory is in."""
        return self._caller.ask(asks.shown()).version

    @property
    def resident(self) -> int:
        """About how many bytes of RAM the memory takes on the server."""
        return self._caller.ask(asks.health()).resident

    @property
    def reranker_failures(self) -> dict[str, int]:
        """How often the server's reranker failed since it opened the memory, by how."""
        return dict(self._caller.ask(asks.health()).reranker_failures)

    @property
    def router_failures(self) -> dict[str, int]:
        """How often the server's router failed since it opened the memory, by how."""
        return dict(self._caller.ask(asks.health()).router_failures)

    def ingest(
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
        return self._caller.ask(asks.ingest(self._door, turn))

    def ingest_many(
        self, turns: Iterable[Turn | Mapping[str, object]], *, progress: Progress | None = None
    ) -> list[Ingested]:
        """Remember many turns, a request for each 512 or 1.5 million characters."""
        checked = self._door.turns(turns)
        done: list[Ingested] = []
        for batch in asks.batches(checked):
            done += self._caller.ask(asks.ingest_many(batch)).records
            if progress:
                progress(len(done), len(checked))
        return done

    def ingest_messages(
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
        done = self._caller.ask(
            asks.ingest_messages(
                messages, session=session, at=at, tools=tools, speakers=speakers, source=source
            )
        )
        if progress:
            progress(len(done.results), len(done.results))
        return done

    def route(self, query: str, **how: Unpack[Routes]) -> Route:
        """Choose the slot that a query goes to, and tell whether any is adequate."""
        return self._caller.ask(asks.route(self._door, query, how))

    def read(self, query: str, **how: Unpack[Reads]) -> Reading:
        """Return the text to put before a model."""
        return self._caller.ask(asks.read(self._door, query, how))

    def weigh(self, query: str, **how: Unpack[Reads]) -> Weighed:
        """Read, and tell what each line has its score from."""
        return self._caller.ask(asks.weigh(self._door, query, how))

    def answer(self, query: str, **how: Unpack[Asking]) -> Answer:
        """Answer from memory alone and remember the decision."""
        return self._caller.ask(asks.answer(self._door, query, how))

    def answered(
        self, query: str, text: str, *, reading: Reading | None = None, **how: Unpack[Asking]
    ) -> Answer:
        """Record an answer that was produced elsewhere."""
        return self._caller.ask(asks.answered(self._door, query, text, reading, how))

    def feedback(
        self, answer: Answer | Decision | str, *, key: str | None = None, **told: Unpack[Told]
    ) -> FeedbackReport:
        """Learn from how an answer did, or a decision."""
        return self._caller.ask(asks.feedback(self._door, answer, key, told))

    def decide(self, situation: str, actions: Iterable[str], **how: Unpack[Decides]) -> Decision:
        """Choose among actions by what worked in situations like this."""
        return self._caller.ask(asks.decide(self._door, situation, actions, how))

    def decided(
        self, situation: str, action: str, *, actions: Iterable[str] = (), **how: Unpack[Decided]
    ) -> Decision:
        """Record what an agent chose itself."""
        return self._caller.ask(asks.decided(self._door, situation, action, actions, how))

    def advice(self, situation: str, **how: Unpack[Advises]) -> str:
        """Return what worked in a situation, in a line."""
        return self._caller.ask(asks.advice(self._door, situation, how)).text

    def tried(self, situation: str, **how: Unpack[Tries]) -> tuple[Tried, ...]:
        """Return how actions did in a situation, the best first."""
        return tuple(self._caller.ask(asks.tried(self._door, situation, how)).records)

    def forget(
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
        return self._caller.ask(
            asks.forget(self._door, evidence_id, source_id, before, where, versions)
        )

    def update(
        self, evidence_id: str, text: str, *, key: str | None = None, **given: Unpack[Retold]
    ) -> Updated:
        """Change a fact: remember a text in the place of an item."""
        return self._caller.ask(asks.update(self._door, evidence_id, text, key, given))

    def sync(
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
        done = self._caller.ask(
            asks.sync(self._door, listing, source=source, by=by, gone=gone, known=known)
        )
        if progress:
            progress(len(listing), len(listing))
        return done

    def history(self, evidence_id: str) -> tuple[Version, ...]:
        """Return what an item has taken the place of, and what has taken its, old to new."""
        return tuple(self._caller.ask(asks.history(evidence_id)).records)

    def keep(self, evidence_id: str, kept: bool = True) -> None:
        """Have an item stay whatever else is forgotten."""
        self._caller.ask(asks.keep(self._door, evidence_id, kept))

    def hide(self, evidence_id: str, hidden: bool = True) -> None:
        """Have an item never be read."""
        self._caller.ask(asks.hide(self._door, evidence_id, hidden))

    def undo(self, id: str) -> None:
        """Take back a split, a succession, or what was told of an answer or a decision."""
        self._caller.ask(asks.undo(id))

    def supersede(self, old: str, new: str, *, key: str | None = None) -> Succession:
        """Settle that one item has taken the place of another."""
        return self._caller.ask(asks.supersede(self._door, old, new, key))

    def summarise(self, slot: int | None = None) -> tuple[Summarised, ...]:
        """Have the server's compressor write summaries."""
        return tuple(self._caller.ask(asks.summarise(slot)).records)

    def take_notes(self) -> tuple[NotesTaken, ...]:
        """Have the server's note taker take notes of what was said since it last did."""
        return tuple(self._caller.ask(asks.take_notes()).records)

    def judge_changes(self) -> tuple[ChangeJudged, ...]:
        """Have the server's judge say which lines later ones have taken the place of."""
        return tuple(self._caller.ask(asks.judge_changes()).records)

    def rename(self, slot: int, name: str | None) -> None:
        """Name a slot, for people; None takes it away."""
        self._caller.ask(asks.rename(self._door, slot, name))

    def pin(self, slot: int, pinned: bool = True) -> None:
        """Have a slot stay as it is divided."""
        self._caller.ask(asks.pin(self._door, slot, pinned))

    def merge(self, slot: int, *, into: int) -> None:
        """Move all that is in one slot into another and close it."""
        self._caller.ask(asks.merge(self._door, slot, into))

    def share(self, answers: int = SHARING) -> Sharing | None:
        """Merge two slots where a conflict waits for one, and no known decision loses by it."""
        return next(iter(self._caller.ask(asks.share(answers)).records), None)

    def evidence(
        self, *, where: Where | Mapping[str, object] | None = None, **unknown: Never
    ) -> tuple[Evidence, ...]:
        """Return every live item, in order of ingestion; with a filter those that it leaves."""
        refuse_keywords("evidence", unknown)
        return self._caller.run(asks.evidence(where))

    def item(self, evidence_id: str) -> Evidence:
        """Return one live item by its id."""
        return self._caller.ask(asks.item(evidence_id))

    def contexts(self) -> tuple[Context, ...]:
        """Return every decision so far: one for each answer."""
        return self._caller.run(asks.contexts())

    def certificates(self) -> tuple[SplitCertificate, ...]:
        """Return every certificate, of splits carried out, undone and suppressed alike."""
        return self._caller.run(asks.certificates())

    def successions(self) -> tuple[Succession, ...]:
        """Return which lines have taken the place of which, undone ones included."""
        return self._caller.run(asks.successions())

    def decisions(self) -> tuple[Decision, ...]:
        """Return every choice among actions so far, with what it came to."""
        return self._caller.run(asks.decisions())

    def situations(self) -> tuple[Situation, ...]:
        """Return every situation in which something was decided."""
        return self._caller.run(asks.situations())

    def explain(self, id: str) -> Explained:
        """Explain a decision among actions: what it rested on, and how it looks now."""
        return self._caller.ask(asks.explain(id))

    def marks(self) -> tuple[Mark, ...]:
        """Return what ``keep`` and ``hide`` have settled of items."""
        return tuple(self._caller.ask(asks.marks()).records)

    def health(self) -> Health:
        """Return how the memory stands, against its bounds, and what waits in it."""
        return self._caller.ask(asks.health())

    def storage(self) -> Storage:
        """Return how much the memory keeps, and how much it may."""
        return self._caller.ask(asks.storage())

    def receipts(self) -> tuple[Receipt, ...]:
        """Return what was forgotten for want of room or for its age, the oldest first."""
        return tuple(self._caller.ask(asks.receipts()).records)

    def sharings(self) -> tuple[Sharing, ...]:
        """Return which slots ``share`` has merged, the oldest first."""
        return tuple(self._caller.ask(asks.sharings()).records)

    def fingerprint(self) -> str:
        """Digest what is remembered, as 64 hex digits."""
        return self._caller.ask(asks.fingerprint()).text

    def export(self, *, where: Where | Mapping[str, object] | None = None) -> list[dict[str, Any]]:
        """Return the whole memory, or what a filter leaves, as JSON values."""
        return self._caller.ask(asks.export(where))

    def check(self) -> None:
        """Assert every invariant."""
        self._caller.ask(asks.check())

    def delete(self) -> DeletionReceipt:
        """Delete the whole memory, which cannot be taken back."""
        return self._caller.ask(asks.deleted())

    def close(self) -> None:
        """Release the connections."""
        self._caller.close()

    def __len__(self) -> int:
        """Return the number of live evidence items."""
        return self._caller.ask(asks.shown()).items

    def __repr__(self) -> str:
        """Return which memory it is; no text."""
        return f"<{type(self).__name__} {self._caller.memory_id!r}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
