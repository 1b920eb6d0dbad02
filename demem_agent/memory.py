"""SlotMemory: what a user holds. It is thin: the door checks, a flow does the work."""

from __future__ import annotations

import copy
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Never,
    NoReturn,
    ParamSpec,
    Self,
    TypeVar,
    Unpack,
    cast,
)

from demem_agent import flows, tracing
from demem_agent import messages as chats
from demem_agent.changes.lineage import FOUND
from demem_agent.channels import Told
from demem_agent.copying import Kept, Lines, kept_of, made_again, opened
from demem_agent.door import Door, is_decision, refuse_keywords, refuse_positional
from demem_agent.drivers import Collaborators, drive
from demem_agent.errors import CollaboratorError, InvalidInput, NotFound, StaleState
from demem_agent.held import RETRIES, Held, only_reads
from demem_agent.later import module
from demem_agent.messages.records import IngestedMessages
from demem_agent.options import Options
from demem_agent.reading.ask import Asking, Reads, Routes, When
from demem_agent.requests import Flow
from demem_agent.servers import is_remote, refuse_here, refuse_key
from demem_agent.settings import SHARING, Settings
from demem_agent.slots import choosing
from demem_agent.slots.choosing.asked import Advises, Choosing, Decided, Decides, Tries
from demem_agent.slots.filtering import items_within
from demem_agent.slots.history import history
from demem_agent.slots.invariants import check
from demem_agent.slots.keeping import Brought, storage_of
from demem_agent.slots.openings import slot_view
from demem_agent.slots.resident import resident
from demem_agent.slots.state import State
from demem_agent.stores import DeletionReceipt, Store
from demem_agent.stores.parts import exported
from demem_agent.stores.standing import standing
from demem_agent.stores.waiting import Turnstile
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
from demem_agent.where import Where, where_field

if TYPE_CHECKING:
    from pathlib import Path

    from demem_agent import client, hints
    from demem_agent.stores import backups
    from demem_agent.stores.backups import BackupReceipt
    from demem_agent.stores.wrapping import EncryptionKey
else:
    client = module("demem_agent.client")
    hints = module("demem_agent.hints")
    backups = module("demem_agent.stores.backups")

__all__ = ["BATCH", "RETRIES", "MemoryHandle", "Progress", "SlotMemory", "learned"]

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Progress = Callable[[int, int], object]

#: Turns that ``ingest_many`` encodes and commits at a time.
BATCH = 512


def learned(report: FeedbackReport) -> Brought:
    """Return what a feedback has brought: its answer, and the correction as it was remembered."""
    items = () if report.remembered is None else (report.remembered,)
    return Brought(frozenset(items), frozenset({report.answer_id}))


class MemoryHandle:
    """What both memories have: the memory they hold, its door, and how they are copied."""

    _held: Held
    _door: Door

    @property
    def settings(self) -> Settings:
        """The budget, and how what comes in is placed.

        Examples:
            >>> memory.settings.read_limit
            6000
        """
        return self._held.state.settings

    @property
    def slots(self) -> tuple[Slot, ...]:
        """The active slots, by number.

        Examples:
            >>> [(slot.number, slot.evidence) for slot in memory.slots]
            [(0, ('e1',)), (1, ('e2',)), (2, ('e3',))]
        """
        with self._still():
            state = self._held.state
            return tuple(slot_view(state, number) for number in sorted(state.slots))

    @property
    def version(self) -> str:
        """Which state the memory is in: the same as long as nothing is done that changes it.

        It tells the memory from an earlier one of its id as well, and is of no other use than to be
        compared with another.

        Examples:
            >>> before = memory.version
            >>> memory.version == before, memory.ingest("Hello!").evidence_id
            (True, 'e4')
            >>> memory.version == before
            False
        """
        with self._still():
            return self._held.version

    @property
    def resident(self) -> int:
        """About how many bytes of RAM the memory takes, as of the last operation.

        It is an estimate from what it holds; what all memories of a process share, such as the
        encoder, is not in it.

        Examples:
            >>> memory.resident < 200_000
            True
        """
        return resident(self._held.state)

    @property
    def reranker_failures(self) -> dict[str, int]:
        """How often the reranker failed since the memory was opened, by how.

        The score alone ordered what was read then; its readings say so as ``unranked``.

        Examples:
            >>> memory.reranker_failures
            {}
        """
        return dict(self._held.reranking or {})

    @property
    def router_failures(self) -> dict[str, int]:
        """How often the router failed since the memory was opened, by how.

        The score alone chose the slot then; routes and readings say so as ``unrouted``.

        Examples:
            >>> memory.router_failures
            {}
        """
        return dict(self._held.routing or {})

    if not TYPE_CHECKING:  # a checker is to see what is missed itself

        def __getattr__(self, name: str) -> NoReturn:
            """Say what the verb of another memory is called here."""
            kind = type(self)
            if name.startswith("_") or hasattr(kind, name):
                object.__getattribute__(self, name)  # it raises what it did
            public = [known for known in dir(kind) if not known.startswith("_")]
            raise AttributeError(hints.for_verb(kind.__name__, name, public))

        def __setattr__(self, name: str, value: object) -> None:
            """Refuse to have set what is settled when a memory is made or opened."""
            if name in Options.__annotations__:
                kind = type(self).__name__
                says = f"{kind}({name}=...) or {kind}.open(url, {name}=...)"
                raise AttributeError(f"{name} is given when a memory is made or opened: {says}")
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        """Return which memory it is and how much it holds, as of the last operation; no text."""
        state = self._held.state
        holds = f"items {len(state.evidence)}, slots {len(state.slots)}"
        return f"<{type(self).__name__} {self._held.team.address.memory_id!r}: {holds}>"

    def __len__(self) -> int:
        """Return the number of live evidence items."""
        with self._still():
            return len(self._held.state.evidence)

    def __getstate__(self) -> Kept:
        """Return what makes the memory again elsewhere."""
        with self._still():
            return kept_of(self._held)

    def __setstate__(self, kept: Kept) -> None:
        self._begin(made_again(kept))

    def __copy__(self) -> Self:
        return copy.deepcopy(self)

    def __deepcopy__(self, _: dict[int, object]) -> Self:
        """Copy a memory in RAM with all it holds; one in a store becomes another handle on it.

        Who does the work (encoder, answerer, ...) is shared, not copied.
        """
        made = type(self).__new__(type(self))
        made.__setstate__(self.__getstate__())
        made._held.owns_store = False
        return made

    @classmethod
    def _of(cls, held: Held) -> Self:
        made = cls.__new__(cls)
        made._begin(held)
        return made

    def _begin(self, held: Held) -> None:
        self._held = held
        self._door = Door(held.state.settings, held.clock, held.state.measure)

    def _still(self) -> AbstractContextManager[object]:
        """Keep the state still, and up to date, while it is inspected."""
        return nullcontext()

    def _evidence(self, where: Where | None) -> tuple[Evidence, ...]:
        return tuple(items_within(self._held.state, where))

    def _item(self, evidence_id: str) -> Evidence:
        found = self._held.state.evidence.get(text_field("evidence_id", evidence_id))
        if found is None:
            raise NotFound("evidence", evidence_id)
        return found

    def _contexts(self) -> tuple[Context, ...]:
        return tuple(stored.context for stored in self._held.state.contexts.values())

    def _certificates(self) -> tuple[SplitCertificate, ...]:
        certificates = self._held.state.certificates.values()
        return tuple(certified.certificate for certified in certificates)

    def _decisions(self) -> tuple[Decision, ...]:
        return tuple(self._held.state.choices.values())

    def _decision_log(self) -> choosing.DecisionLog:
        state = self._held.state
        return choosing.DecisionLog(
            slots=state.settings.slots,
            settings=state.settings.decide,
            dimensions=state.head.dimensions,
            situations=tuple(state.situations.values()),
            decisions=tuple(state.choices.values()),
        )

    def _situations(self) -> tuple[Situation, ...]:
        return tuple(stored.situation for stored in self._held.state.situations.values())

    def _successions(self) -> tuple[Succession, ...]:
        state = self._held.state
        return tuple(one for one in state.successions.values() if one.how != FOUND)

    def _batch(self) -> int:
        """Return how many turns are written at once: one by one, where each may need room."""
        return 1 if self.settings.is_bounded else BATCH

    def _given(
        self, answer: Answer | Decision | str, told: Told, key: str | None
    ) -> flows.feedback.Given:
        return self._door.feedback(answer, told, key, self._held.raters())

    def _require_note_taker(self) -> None:
        """Refuse to go on without a note taker."""
        if self._held.team.note_taker is None:
            raise InvalidInput("note_taker", None, "given when the memory is made or opened")

    def _require_judge_change(self) -> None:
        """Refuse to go on without a judge of changes."""
        if self._held.team.judge_change is None:
            raise InvalidInput("judge_change", None, "given when the memory is made or opened")

    def _marks(self) -> tuple[Mark, ...]:
        return self._held.state.marks_in_order()

    def _health(self) -> Health:
        team = self._held.team
        here = standing(team.store, team.address)
        damaged = self._held.damaged
        return flows.health.health(self._held.state, team.address, team.store.schema, here, damaged)

    def _backup(self, path: str | Path) -> BackupReceipt:
        team = self._held.team
        return backups.backed_up(team.store, path, only=team.address)

    def _author(self) -> str:
        """Return the name of the compressor; refuse to go on without one."""
        if self._held.team.compressor is None:
            raise InvalidInput("compressor", None, "given when the memory is made or opened")
        return self._held.team.compressor.name


class SlotMemory(MemoryHandle):
    """Agent memory in K bounded slots: remember, route, read, answer, learn from feedback.

    Safe to share between threads. Made by its constructor it lives in RAM; ``SlotMemory.open``
    keeps it in a store. Keyword arguments of both, all optional:

    * the budget: ``slots`` (10), ``slot_limit`` (2000), ``read_limit`` (6000), ``unit`` ("chars"),
      ``counter`` for ``unit="tokens"``;
    * placement and reading: ``initial_slots`` (5), ``near`` (0.9), ``mode`` ("evidence"),
      ``order`` ("time"), ``decisions`` (True), ``split``
      (:class:`~demem_agent.settings.SplitSettings`);
    * what is not known: ``unknown`` ("show"), ``known_from`` (None);
    * bounds on what is kept: ``storage``, ``most_items``, ``keep_days``, ``tenant_items`` (None),
      ``when_full`` ("worth");
    * who does the work, sync or async: ``encoder``, ``answerer``, ``scorers`` (two at least),
      ``reranker`` (none), ``router`` (none); ``score_theta`` ("linear") orders passages;
    * ``clock``: dates turns and queries that come without ``at`` (``datetime.now``);
    * ``memory_id``, ``tenant``: which memory of a store.

    :class:`~demem_agent.options.Options` and :class:`~demem_agent.settings.Settings` say more about
    each.

    Where an example says ``memory``, three things have been said: e1 "I moved to Lisbon." by Ana,
    under the id m1 of her own, e2 "The cat is called Minka." by Ana, and e3 "The plumber comes on
    Fridays." by Ben, each on a day of its own.

    Examples:
        >>> memory = SlotMemory(slots=4)
        >>> told = memory.ingest("I moved to Lisbon yesterday.", speaker="Ana", at="2024-03-02")
        >>> told.evidence_id
        'e1'
        >>> memory.answer("When did Ana move to Lisbon?").text
        'Ana: I moved to Lisbon yesterday. (yesterday: 1 March 2024)'
    """

    def __init__(self, *positional: Never, **options: Unpack[Options]) -> None:
        refuse_positional(type(self).__name__, positional)
        self._begin(Held(options))

    def _begin(self, held: Held) -> None:
        super()._begin(held)
        self._lock = Turnstile()

    @classmethod
    def open(
        cls,
        url: str | Store,
        *,
        skip_damaged: bool = False,
        reembed: bool = False,
        key: str | None = None,
        encryption_key: EncryptionKey | None = None,
        **options: Unpack[Options],
    ) -> Self:
        """Open a memory in a store, making it if it does not exist.

        Args:
            url: ``sqlite:///bot.db``, ``memory://``, or a store object. Of a server of memories,
                ``http://localhost:8000``, it is a :class:`~demem_agent.client.RemoteMemory` that
                comes back, which has the same methods.
            skip_damaged: load what can be read of a damaged memory, instead of raising.
            reembed: encode everything anew if the memory was built with another encoder.
            key: of a server, ``dm_...``.
            encryption_key: of an encrypted file, and of a new one that is to be: 32 bytes, or a
                callable that returns them. Left out, that of the environment
                (``DEMEM_ENCRYPTION_KEY``), if there is one; a store that is open has its own.

        Raises:
            InvalidInput: for a setting that contradicts the stored one, or a key that is none.
            EncoderMismatch: if the memory was built with another encoder.
            StoreError: if the store cannot be opened, another key opens it, or a row is damaged.

        Examples:
            >>> with SlotMemory.open("memory://", memory_id="ana") as memory:
            ...     memory.ingest("I moved to Lisbon.").evidence_id
            'e1'
        """
        if is_remote(url):
            refuse_here(
                skip_damaged=skip_damaged,
                reembed=reembed,
                encryption_key=encryption_key is not None,
            )
            return cast(Self, client.RemoteMemory.open(cast(str, url), key=key, **options))
        refuse_key(key)
        memory = cls._of(
            opened(
                url,
                options,
                skip_damaged=skip_damaged,
                reembed=reembed,
                encryption_key=encryption_key,
            )
        )
        if memory._held.built_with_another:
            memory._reembed_or_release()
        return memory

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
        """Remember a text.

        Args:
            at: when it was said: a datetime, a date or an ISO 8601 string; now unless given, by the
                memory's clock.
            source_id: your own id of the turn; it comes back in ``Reading.evidence``.
            trust: in [0, 1].
            key: idempotency key: the same key with the same request gives the stored result, also
                when its item was forgotten since; it is not remembered again.
            metadata: what you keep beside it, JSON values by name, at most 4 KB as JSON; ``where``
                filters by it.

        Raises:
            InvalidInput: naming the field and its range; nothing was stored.
            IdempotencyConflict: if the key was used for another request.
            MemoryFull: where there is no room, and nothing is to be forgotten for it.

        Examples:
            >>> memory.ingest("Here is the key.", speaker="Ben", at="2024-03-05", key="k").slot
            3
            >>> memory.ingest("Here is the key.", speaker="Ben", at="2024-03-05", key="k").slot
            3
        """
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
        return self._remember([self._door.turn(turn)], self._door)[0]

    def ingest_many(
        self, turns: Iterable[Turn | Mapping[str, object]], *, progress: Progress | None = None
    ) -> list[Ingested]:
        """Remember many turns, faster than one by one and with the same result.

        Turns without ``at`` were said now, as for ``ingest``. A history without dates, which was
        not, is for a memory that is made or opened with ``clock=None``: it stays undated.

        Args:
            turns: :class:`~demem_agent.turns.Turn` records, or mappings with the arguments of
                ``ingest``.
            progress: called with (done, total) after each batch of 512, which is one transaction.

        Raises:
            InvalidInput: naming the turn and the field; then none of the turns was stored.
            IdempotencyConflict: if a key was used for another turn; likewise.
            MemoryFull: where there is no room for a turn; those before it were stored.

        Examples:
            >>> turns = [{"text": "Hello!", "speaker": "Ana"}, Turn("Hi.", speaker="Ben")]
            >>> [done.evidence_id for done in memory.ingest_many(turns)]
            ['e4', 'e5']
        """
        return self._remember_many(self._door.turns(turns), self._door.at_once(), progress)

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
        """Remember what was said in a list of chat messages, each once.

        A list as OpenAI, Anthropic or LangChain have it: what users and assistants said is
        remembered, and nothing else of the messages. The same list again, when it has grown or its
        beginning was cut off, adds only what is new.

        Args:
            session: which conversation it is; lists without one count as one conversation.
            at: when messages without a time of their own were said; now unless given, by the
                memory's clock.
            tools: whether calls of tools and their results are remembered, as turns of the speaker
                "tool NAME".
            speakers: who a role is, or a name in the messages, such as ``{"user": "Ana"}``.
            source: of every turn.
            progress: called with (done, total) after each batch.

        Returns:
            What became of each turn, and what was left out, and why.

        Raises:
            InvalidInput: naming the message and its field, such as
                ``messages[3].content[1].type``; nothing was stored.
            IdempotencyConflict: if a message was remembered with another speaker or source.

        Examples:
            >>> memory = SlotMemory()
            >>> chat = [{"role": "system", "content": "Be kind."}]
            >>> chat.append({"role": "user", "content": "I moved to Lisbon."})
            >>> memory.ingest_messages(chat, session="s1").reasons
            {'system': 1}
            >>> len(memory)
            1
        """
        refuse_keywords("ingest_messages", unknown)
        heard = chats.turns_of(
            messages, session=session, tools=tools, speakers=speakers, source=source
        )
        checked = self._door.turns(heard.turns)
        with chats.explained():
            results = self._remember_many(checked, self._door.dating(at).at_once(), progress)
        return IngestedMessages(tuple(results), heard.left_out)

    def route(self, query: str, **how: Unpack[Routes]) -> Route:
        """Choose the slot that a query goes to, and tell whether any is adequate.

        Args:
            how: who asks, when, and the vector of the query: :class:`~demem_agent.reading.Routes`.

        Raises:
            InvalidInput: naming the field and its range.

        Examples:
            >>> memory.route("What is the cat called?").adequate
            True
            >>> memory.route("Which vaccine did the violin get?").adequate
            False
        """
        return self._run(flows.read.route, self._door.routing(query, how))

    def read(self, query: str, **how: Unpack[Reads]) -> Reading:
        """Return the text to put before a model: never more than its limit, marks included.

        A limit too small for the marks and one line gives an empty text; ``left_out`` says at
        which one the first line comes in.

        Args:
            how: ``limit``, ``mode``, ``order``, ``floor``, ``at``, ``asker``, ``conditions``,
                ``context``, ``where``, ``gate``, ``slot``, ``vector``, ``without``, as
                :class:`~demem_agent.reading.Reads` explains them.

        Raises:
            InvalidInput: naming the field and its range.
            NotFound: for a slot that is not active.

        Examples:
            >>> reading = memory.read("Where does Ana live?", limit=100)
            >>> print(reading)
            <demem:memory>
            # 2 March 2024
            - Ana: I moved to Lisbon.
            </demem:memory>
            >>> reading.size, [item.id for item in reading.evidence]
            (71, ['e1'])
        """
        return self._run(flows.read.read, self._door.reading(query, how))

    def weigh(self, query: str, **how: Unpack[Reads]) -> Weighed:
        """Read as ``read`` does, and tell what each line has its score from.

        Args:
            how: as for ``read``.

        Raises:
            InvalidInput: naming the field and its range.
            NotFound: for a slot that is not active.

        Examples:
            >>> weighed = memory.weigh("What is the cat called?")
            >>> weighed.reading == memory.read("What is the cat called?")
            True
            >>> weighed.parts[0]["related"] > 0
            True
        """
        return self._run(flows.read.weigh, self._door.reading(query, how))

    def answer(self, query: str, **how: Unpack[Asking]) -> Answer:
        """Answer from memory alone and remember the decision, so that feedback can refer to it.

        Args:
            how: who asks, when, and under which conditions: :class:`~demem_agent.reading.Asking`.

        Raises:
            InvalidInput: naming the field and its range.

        Examples:
            >>> memory.answer("What is the cat called?")
            <Answer a1 'Ana: The cat is called Minka.' from e2>
            >>> memory.answer("What is the cat called?").text
            'Ana: The cat is called Minka.'
        """
        given = self._run(flows.answer.answer, self._door.asking("answer", query, how))
        self._keep_within(Brought(contexts=frozenset({given.id})))
        return given

    def answered(
        self, query: str, text: str, *, reading: Reading | None = None, **how: Unpack[Asking]
    ) -> Answer:
        """Record an answer that was produced elsewhere, so that feedback can refer to it.

        Args:
            text: the answer as it was given, such as by your own model; it is not remembered as
                evidence.
            reading: what it was given from; give what ``read`` gave, or what rewards say of
                evidence is guesswork.
            how: as for ``answer``.

        Raises:
            InvalidInput: for a blank query, or a text that is none.

        Examples:
            >>> reading = memory.read("When does the plumber come?")
            >>> memory.answered("When does the plumber come?", "On Fridays.", reading=reading)
            <Answer a1 'On Fridays.' from e3>
        """
        given = self._run(flows.answer.answered, *self._door.answered(query, text, reading, how))
        self._keep_within(Brought(contexts=frozenset({given.id})))
        return given

    def feedback(
        self, answer: Answer | Decision | str, *, key: str | None = None, **told: Unpack[Told]
    ) -> FeedbackReport:
        """Learn from how an answer did, or a decision; split a slot if a conflict is certified.

        Give one of these; ``reward`` may go with ``reference`` or ``correction``. Of a decision
        among actions ``reward``, ``thumbs`` or ``outcome`` can be told; told again, the last one
        counts.

        Args:
            answer: the answer or its id, or a decision that ``decide`` or ``decided`` gave.
            reward: in [0, 1].
            reference: what would have been right; the scorers turn it into rewards. The shipped
                ones look at the answer's words and at whether the reading held the reference, so
                their mean says that memory could have answered rather than that the answer was
                right.
            thumbs: True for up, False for down.
            correction: what a user says would have been right. It is remembered as evidence, with
                its question and with ``source`` "correction"; what was remembered before stays
                beside it.
            outcome: of the tool or task the answer was used for: True, False, or a score in [0, 1].
            agreement: other answers to the same question; the reward is how far they agree with
                this one.
            judge: True to have the memory's ``judges`` rate it.
            key: the same key again changes nothing.

        Raises:
            InvalidInput: for nothing told, two that do not go together, or a value outside its
                range.
            NotFound: for an unknown answer or decision.

        Examples:
            >>> answer = memory.answer("When does the plumber come?")
            >>> report = memory.feedback(answer, reference="On Fridays.")
            >>> report.channel, report.split
            ('reference', False)
            >>> memory.feedback(answer, correction="On Mondays.").remembered
            'e4'
            >>> memory.answer("When does the plumber come?").text
            'On Mondays.'
        """
        if is_decision(answer):
            return self._run(flows.decide.outcome, *self._door.outcome(answer, told, key))
        report = self._run(flows.feedback.feedback, self._given(answer, told, key))
        self._keep_within(learned(report))
        return self._with_place(report)

    def decide(self, situation: str, actions: Iterable[str], **how: Unpack[Decides]) -> Decision:
        """Choose among actions by what worked in situations like this, and record the choice.

        Tell what it came to by ``feedback(decision, reward=...)``, also late, or never: a choice
        without an outcome teaches nothing. No model is asked.

        Args:
            situation: what it is decided in, in words; it is known again in others.
            actions: names of what can be chosen: tools, routes, prompts, policies. They may differ
                from one call to the next.
            how: for whom, when and under which conditions; what may be explored; an idempotency
                key: :class:`~demem_agent.slots.choosing.Decides`.

        Raises:
            InvalidInput: naming the field and its range; nothing was recorded.
            IdempotencyConflict: if the key was used for another request.

        Examples:
            >>> made = memory.decide("a flaky test", ["retry", "read the log"])
            >>> made.action, made.explores
            ('retry', True)
            >>> told = memory.feedback(made, reward=1.0)
            >>> memory.decide("a flaky test", ["retry", "read the log"], explore=False).action
            'retry'
        """
        return self._choose(self._door.deciding(situation, actions, how))

    def decided(
        self,
        situation: str,
        action: str,
        *,
        actions: Iterable[str] = (),
        **how: Unpack[Decided],
    ) -> Decision:
        """Record what an agent chose itself, so that ``feedback`` can say what it came to.

        Args:
            actions: what else could have been chosen, as far as known.

        Raises:
            InvalidInput: naming the field and its range; nothing was recorded.

        Examples:
            >>> made = memory.decided("a flaky test", "retry", actions=["retry", "read the log"])
            >>> made.id, made.action, made.probability
            ('d1', 'retry', None)
        """
        return self._choose(self._door.decided(situation, action, actions, how))

    def advice(self, situation: str, **how: Unpack[Advises]) -> str:
        """Return what worked in a situation, such as "tool 4: 12 of 13; not tool 7: 1 of 9".

        It is what a model that chooses itself is told; "" where nothing is known. Nothing is
        recorded.

        Args:
            how: for whom, under which conditions, and at which length:
                :class:`~demem_agent.slots.choosing.Advises`.

        Raises:
            InvalidInput: naming the field and its range.

        Examples:
            >>> for _ in range(3):
            ...     made = memory.decided("a flaky test", "read the log")
            ...     told = memory.feedback(made, reward=1.0)
            >>> memory.advice("a flaky test")
            'read the log: 3 of 3'
        """
        return self._run(flows.advise.advise, self._door.advising(situation, how))

    def tried(self, situation: str, **how: Unpack[Tries]) -> tuple[Tried, ...]:
        """Return how actions did in a situation, or else where it is alike, the best first.

        An action without a known outcome there is left out. Nothing is recorded.

        Args:
            how: for whom, under which conditions, and of which actions:
                :class:`~demem_agent.slots.choosing.Tries`.

        Raises:
            InvalidInput: naming the field and its range.

        Examples:
            >>> told = memory.feedback(memory.decided("a flaky test", "retry"), reward=0.5)
            >>> memory.tried("a flaky test")
            (Tried(action='retry', count=1, total=0.5),)
        """
        return self._run(flows.advise.tried, self._door.trying(situation, how))

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
        """Erase evidence and every text that came from it.

        When this returns it is in no file either. Every answer whose reading held an item is
        blanked, also one that quotes other lines: a model may have used all that it read, and
        nobody can tell what it drew on. So is a reference that rests on the item or quotes it.
        Rewards stay.

        Give exactly one of: an evidence id, the caller's own ``source_id``, ``before``, which means
        everything dated earlier, or ``where``, which means everything that the filter leaves
        (:class:`~demem_agent.where.Where`): of one that leaves nothing, nothing is forgotten.

        An item that took the place of another is forgotten alone: what it took the place of holds
        again, if it is the last version, and only ``versions`` erases the fact itself.

        Args:
            versions: whether all versions of what is chosen go as well, by what ``update``,
                ``sync`` and ``supersede`` settled.

        Raises:
            NotFound: for an unknown evidence id or source id.
            InvalidInput: for more than one of these or none, and for a filter without any field.

        Examples:
            >>> memory.forget(source_id="m1").evidence
            ('e1',)
            >>> len(memory)
            2
        """
        refuse_keywords("forget", unknown)
        selected = self._door.selected(evidence_id, source_id, before, where, versions)
        return self._run(flows.forget.forget, selected)

    def update(
        self, evidence_id: str, text: str, *, key: str | None = None, **given: Unpack[Retold]
    ) -> Updated:
        """Change a fact: remember a text in the place of an item, and return what came of it.

        From then on readings treat the old item as ``Settings.stale`` says, and the new one leads.
        Nothing is lost: ``history`` has both, and ``undo`` takes it back. An item that another has
        been told to hold in the place of is changed by what holds now, so that its first id goes on
        naming the fact. A text that the item has already changes nothing.

        Args:
            given: ``at``, ``speaker``, ``session``, ``source``, ``source_id``, ``trust``,
                ``metadata``; what is not given is as it was, but for ``at``, which is now:
                :class:`~demem_agent.turns.Retold`.
            key: idempotency key: the same key with the same request gives the stored result.

        Raises:
            NotFound: for an id that no live item has.
            InvalidInput: naming the field and its range; nothing was stored.
            IdempotencyConflict: if the key was used for another request.

        Examples:
            >>> memory.update("e2", "The cat is called Luna.", at="2024-06-11")
            Updated(evidence_id='e4', replaced='e2', succession='s1')
            >>> memory.answer("What is the cat called?").text
            'Ana: The cat is called Luna.'
        """
        asked = self._door.updating(evidence_id, text, key, given)
        made = self._run(flows.update.update, asked)
        self._keep_within(Brought(items=frozenset({made.evidence_id})))
        return made

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
        """Bring the memory up to a list that was edited, such as a file read again.

        What the list says as it did is left, also where it was corrected or forgotten by hand
        since. What it says otherwise is an update, as ``update`` makes one. What is new in it is
        remembered. The first time all of it is new.

        Args:
            turns: as ``ingest_many`` takes them, all that the list has now. A turn is known again
                by its ``source_id``; one without is by its text, and is given an id of its own,
                such as "notes.txt#2". Without ``at`` it was said now, as for ``ingest``.
            source: name of the list; what was ingested under it with a ``source_id`` counts.
                Of several items that were ingested with the id of one turn, what says the same as
                that turn holds, or else the latest, in the place of the others.
            by: "id", or "text" where ids are places in the list, which an edit moves.
            gone: what becomes of what is in the list no more: "tell" leaves it and gives its ids,
                "forget" erases it, with all that was said of it before.
            known: share of the turns, in [0, 1], that must be known, or edited by half at most,
                where anything would change or be gone: less is taken for another list.
            progress: called with (done, total) after each batch of 512, which is one transaction.

        Raises:
            InvalidInput: naming the turn and the field; then nothing was changed.

        Examples:
            >>> contacts = [{"text": "Our dentist is Dr Weiss.", "source_id": "c-17"}]
            >>> print(memory.sync(contacts, source="crm"))
            0 changed, 1 new, 0 gone
            >>> contacts = [{"text": "Our dentist is Dr Okafor.", "source_id": "c-17"}]
            >>> print(memory.sync(contacts, source="crm"))
            1 changed, 0 new, 0 gone
        """
        listing = self._door.listing(turns, source, by, gone, known)
        with self._still(newest=True):
            flows.sync.require_known(self._held.state, listing)
        self._run(flows.sync.join, listing)
        with self._still(newest=True):
            plan = flows.sync.planned(self._held.state, listing)
        made: list[flows.update.Made | None] = []
        size = self._batch()
        for start in range(0, len(plan.changes), size):
            made += self._change(plan.changes[start : start + size])
            if progress:
                progress(plan.unchanged + len(made), len(listing.turns))
        receipt = None
        if plan.leaves and gone == "forget":
            receipt = self._run(flows.sync.leave, plan, source)
        return flows.sync.synced(plan, made, receipt)

    def history(self, evidence_id: str) -> tuple[Version, ...]:
        """Return what an item has taken the place of, and what has taken its, old to new.

        Any item of the chain gives all of it. Beside what was settled, what lines say counts where
        it is all but certain, under an id such as ``e1>e3``; what was undone is told as well.

        Raises:
            NotFound: for an id that no live item has.

        Examples:
            >>> done = memory.update("e2", "The cat is called Luna.")
            >>> [(str(one.evidence), one.holds) for one in memory.history("e2")]
            [('Ana: The cat is called Minka.', False), ('Ana: The cat is called Luna.', True)]
        """
        with self._still():
            return history(self._held.state, text_field("evidence_id", evidence_id))

    def keep(self, evidence_id: str, kept: bool = True) -> None:
        """Have an item stay whatever else is forgotten: for want of room, or for its age.

        ``forget`` and ``delete`` take it out all the same. What takes its place by ``update`` or
        ``sync`` is kept in its stead. Where all that there is room for is
        marked so, the next item is refused with MemoryFull.

        Args:
            kept: False to take that back.

        Raises:
            NotFound: for an unknown evidence id.

        Examples:
            >>> memory.keep("e1")
            >>> memory.marks()
            (Mark(evidence_id='e1', kept=True, hidden=False),)
        """
        self._run(flows.mark.keep, *self._door.marking(evidence_id, "kept", kept))

    def hide(self, evidence_id: str, hidden: bool = True) -> None:
        """Have an item never be read: it is in no reading, answer or summary, but not forgotten.

        What takes its place by ``update`` or ``sync`` is hidden as well. ``evidence`` and
        ``export`` have it still, and answers that were given before say what they
        said.

        Args:
            hidden: False to have it read again.

        Raises:
            NotFound: for an unknown evidence id.

        Examples:
            >>> memory.hide("e2")
            >>> "Minka" in memory.read("What is the cat called?").text
            False
            >>> memory.hide("e2", hidden=False)
        """
        self._run(flows.mark.hide, *self._door.marking(evidence_id, "hidden", hidden))

    def undo(self, id: str) -> None:
        """Take back a split, what was told of an answer or a decision, or a succession.

        A split is exactly undone if nothing came after it; else the slots are merged, and what came
        after is kept. A certificate that names rivals says nothing of readings any more, whether
        or not it had split a slot. By the id of an answer what its feedback said of lines of
        memory is taken back, so that it is not recognised from it any more; its rewards stay on
        record. By the id of a succession, such as ``s1``, its old line holds again; of one that
        ``update`` made, in place of the new one. By two items, as in ``e1>e3``, it is settled that
        the one has not taken the place of the other, whatever both say. By the id of a decision,
        such as ``d1``, what it came to teaches nothing any more.

        Raises:
            NotFound: for what is the id of nothing that can be undone.
            InvalidInput: if there is nothing to undo.

        Examples:
            >>> done = memory.update("e2", "The cat is called Luna.")
            >>> memory.undo(done.succession)
            >>> memory.answer("What is the cat called?").text
            'Ana: The cat is called Minka.'
        """
        self._run(flows.undo.undo, text_field("id", id))

    def supersede(self, old: str, new: str, *, key: str | None = None) -> Succession:
        """Settle that one item has taken the place of another, and return the succession.

        From then on readings treat the old item as ``Settings.stale`` says. Nothing is deleted, and
        ``undo`` takes it back.

        Args:
            old, new: ids of evidence; the whole item is meant.
            key: idempotency key: the same key with the same request gives the stored result.

        Raises:
            NotFound: for an id that no live item has.
            InvalidInput: for the same item twice, or where ``old`` has taken the place of ``new``.
            IdempotencyConflict: if the key was used for another request.

        Examples:
            >>> memory.ingest("The plumber is ill this month.", speaker="Ben").evidence_id
            'e4'
            >>> memory.supersede("e3", "e4").id
            's1'
        """
        return self._run(flows.supersede.supersede, *self._door.superseding(old, new, key))

    def summarise(self, slot: int | None = None) -> tuple[Summarised, ...]:
        """Have the memory's ``compressor`` write summaries.

        Args:
            slot: the one to write of; all that changed since it last did, unless given.

        Ingest and read never wait for it: nothing is locked while it works, and what it gives is
        kept only if the slot has not changed meanwhile and everything in it stands in the evidence
        that it names. Else the slot keeps the excerpts it has, and the result says why. Strict
        readings give what was written; its next change drops it.

        Raises:
            InvalidInput: if the memory has no compressor.
            NotFound: for a slot that is not active.

        Examples:
            >>> from demem_agent.types import Proposal
            >>> class Brief:
            ...     name = "brief"
            ...     def compress(self, task):
            ...         first = task.sources[0]
            ...         return Proposal((first.text,), ((first.evidence_id,),))
            >>> brief = SlotMemory(compressor=Brief(), clock=None)
            >>> brief.ingest("I moved to Lisbon.").slot
            0
            >>> brief.summarise(0)
            (Summarised(slot=0, kept=True, reason=''),)
        """
        author = self._author()
        named = None if slot is None else whole_field("slot", slot, 0)
        with self._still(newest=True):
            numbers = flows.summarise.due(self._held.state, named)
        return tuple(self._run(flows.summarise.summarise, number, author) for number in numbers)

    def take_notes(self) -> tuple[NotesTaken, ...]:
        """Have the memory's ``note_taker`` take notes of all that was said since it last did.

        A note is a sentence that can be understood alone, remembered beside what it was made from
        (``Evidence.made_from``), with "note" as its speaker. Ingest and read never wait for it:
        nothing is locked while it works. A note is kept only if every number and name in it, and
        half of its words, stand in the items that it names; it is forgotten with them, and
        superseded with them.

        Returns:
            What became of each batch of at most 20 items, in order. The last one says so where the
            note taker failed; the next call goes on there.

        Raises:
            InvalidInput: if the memory has no note taker.

        Examples:
            >>> from demem_agent.types import Proposal
            >>> class Noting:
            ...     name = "noting"
            ...     def take_notes(self, task):
            ...         return Proposal(("Ana moved to Lisbon.",), (("e1",),))
            >>> noted = SlotMemory(note_taker=Noting(), clock=None)
            >>> noted.ingest("I moved to Lisbon.", speaker="Ana").evidence_id
            'e1'
            >>> noted.take_notes()[0].notes
            ('e2',)
            >>> [(item.speaker, item.text) for item in noted.evidence()]
            [('Ana', 'I moved to Lisbon.'), ('note', 'Ana moved to Lisbon.')]
        """
        self._require_note_taker()
        done: list[NotesTaken] = []
        while not done or not done[-1].failed:
            taken = self._run(flows.note.take_notes)
            if taken is None:
                break
            done.append(taken)
            self._keep_within(Brought(items=frozenset(taken.notes)))
        return tuple(done)

    def judge_changes(self) -> tuple[ChangeJudged, ...]:
        """Have the memory's ``judge_change`` say which lines later ones have taken the place of.

        It is asked about each line and those nearest to it that the same owner said before, as far
        as one may have taken the place of the other and nothing was settled of the two. Ingest and
        read never wait for it: nothing is locked while it works. What it says counts from then on,
        as if it was told; by ``supersede``, ``update`` and ``undo`` it is overruled. It is kept
        with its reason, so that nothing is asked twice, and forgotten with either line.

        Returns:
            What became of each pair, in order. Those of which the judge failed say so, and are
            asked about again by the next call; after three of them nothing more is asked.

        Raises:
            InvalidInput: if the memory has no judge of changes.

        Examples:
            >>> from demem_agent.types import ChangeVerdict
            >>> class Replacing:
            ...     name = "replacing"
            ...     def judge(self, task):
            ...         return ChangeVerdict("replaces", "a dentist has another name")
            >>> judged = SlotMemory(judge_change=Replacing(), clock=None)
            >>> for text in ("My dentist is Dr Rao.", "My dentist is Dr Levin."):
            ...     judged.ingest(text, speaker="Ana").evidence_id
            'e1'
            'e2'
            >>> judged.judge_changes()[0].succession
            's1'
            >>> judged.successions()[0].reason
            'a dentist has another name'
        """
        self._require_judge_change()
        with self._still(newest=True):
            pairs = flows.change.due(self._held.state)
        done: list[ChangeJudged] = []
        for pair in pairs:
            if flows.change.is_in_vain(done):
                break
            judged = self._run(flows.change.judge, pair)
            done += [] if judged is None else [judged]
        return tuple(done)

    def rename(self, slot: int, name: str | None) -> None:
        """Name a slot, for people; None takes it away. Nothing else depends on it.

        Raises:
            NotFound: for a slot that is not active.

        Examples:
            >>> memory.rename(0, "home")
            >>> memory.slots[0].name
            'home'
        """
        self._run(flows.arrange.rename, *self._door.naming(slot, name))
        self._keep_within(Brought(slot=slot))

    def pin(self, slot: int, pinned: bool = True) -> None:
        """Have a slot stay as it is divided: it is neither split nor merged.

        It still takes in what is placed there. A conflict certified in it is logged as suppressed,
        and acted on once the slot is no longer pinned.

        Raises:
            NotFound: for a slot that is not active.

        Examples:
            >>> memory.pin(0)
            >>> memory.slots[0].pinned
            True
        """
        self._run(flows.arrange.pin, *self._door.pinning(slot, pinned))

    def merge(self, slot: int, *, into: int) -> None:
        """Move all that is in one slot into another and close it.

        That frees its number for a later split. Splits that this takes back are marked as undone.

        Raises:
            NotFound: for a slot that is not active.
            InvalidInput: if one of them is pinned, or both are the same.

        Examples:
            >>> memory.merge(1, into=0)
            >>> [slot.number for slot in memory.slots]
            [0, 2]
        """
        self._run(flows.arrange.merge, *self._door.merging(slot, into))

    def share(self, answers: int = SHARING) -> Sharing | None:
        """Merge two slots where a conflict waits for one, and no known decision loses by it.

        Every context of which it is known what is right is answered from its own slot and from what
        both would be. The next feedback then tests what waited anew. Slots that are pinned or
        named, and those that a certificate holds apart, are left alone. With
        ``SplitSettings.sharing`` feedback does this by itself.

        Args:
            answers: the most that may be produced for the tests, >= 2.

        Returns:
            What was merged and what that rests on; None where nothing waits, no two slots are found
            that may share, or the answers are used up before.

        Raises:
            InvalidInput: for ``answers`` out of range.
            CollaboratorError: if the answerer or a scorer fails; nothing was merged.

        Examples:
            >>> memory.share() is None  # no conflict waits for a slot
            True
        """
        return self._run(flows.share.share, whole_field("answers", answers, 2))

    def reembed(self, encoder: Encoder) -> int:
        """Encode everything anew with another encoder, and return the number of items.

        Raises:
            InvalidInput: for what is no encoder.

        Examples:
            >>> from demem_agent.testing import BagEncoder
            >>> memory.reembed(BagEncoder())
            3
        """
        team = self._held.team_with(encoder)
        return self._run_by(team, flows.reembed.reembed, self._held.adopting(team))

    def evidence(
        self, *, where: Where | Mapping[str, object] | None = None, **unknown: Never
    ) -> tuple[Evidence, ...]:
        """Return every live item, in order of ingestion; with a filter those that it leaves.

        Raises:
            InvalidInput: naming the field of the filter and its range.

        Examples:
            >>> for item in memory.evidence():
            ...     print(item.id, item)
            e1 Ana: I moved to Lisbon.
            e2 Ana: The cat is called Minka.
            e3 Ben: The plumber comes on Fridays.
        """
        refuse_keywords("evidence", unknown)
        chosen = where_field(where)
        with self._still():
            return self._evidence(chosen)

    def item(self, evidence_id: str) -> Evidence:
        """Return one live item by its id.

        Raises:
            NotFound: for an id that no live item has.

        Examples:
            >>> print(memory.item("e2"))
            Ana: The cat is called Minka.
        """
        with self._still():
            return self._item(evidence_id)

    def contexts(self) -> tuple[Context, ...]:
        """Return every decision so far: one for each answer.

        Examples:
            >>> given = memory.answer("What is the cat called?")
            >>> [(one.id, one.query, one.read[0]) for one in memory.contexts()]
            [('a1', 'What is the cat called?', ('e1', 0, 18))]
        """
        with self._still():
            return self._contexts()

    def certificates(self) -> tuple[SplitCertificate, ...]:
        """Return every certificate, of splits carried out, undone and suppressed alike.

        Examples:
            >>> memory.certificates()  # nothing has been in conflict
            ()
        """
        with self._still():
            return self._certificates()

    def successions(self) -> tuple[Succession, ...]:
        """Return which lines have taken the place of which as far as it is stored, undone ones
        included.

        What lines say of each other themselves is judged when something is read, and not stored:
        ``history`` and ``Reading.replaced`` have it.

        Examples:
            >>> done = memory.update("e2", "The cat is called Luna.")
            >>> [(one.old[0], one.new[0], one.how) for one in memory.successions()]
            [('e2', 'e4', 'updated')]
        """
        with self._still():
            return self._successions()

    def decisions(self) -> tuple[Decision, ...]:
        """Return every choice among actions so far, with what it came to.

        Examples:
            >>> made = memory.decided("a flaky test", "retry")
            >>> [(one.id, one.action, one.reward) for one in memory.decisions()]
            [('d1', 'retry', None)]
        """
        with self._still():
            return self._decisions()

    def situations(self) -> tuple[Situation, ...]:
        """Return every situation in which something was decided.

        Examples:
            >>> made = memory.decided("a flaky test", "retry")
            >>> memory.situations()
            (Situation(id='x1', text='a flaky test', asker=None, conditions=(), seen=4),)
        """
        with self._still():
            return self._situations()

    def decision_log(self) -> choosing.DecisionLog:
        """Return all that was decided, as ``demem_agent.evaluate.replay_decisions`` takes it.

        Examples:
            >>> made = memory.decided("a flaky test", "retry")
            >>> len(memory.decision_log().decisions)
            1
        """
        with self._still():
            return self._decision_log()

    def explain(self, id: str) -> Explained:
        """Explain a decision among actions: what it rested on, and how it looks now.

        All decisions before it are played again, so it takes the time of as many.

        Args:
            id: of the decision, such as ``d3``.

        Raises:
            NotFound: for what is the id of no decision.

        Examples:
            >>> made = memory.decided("a flaky test", "retry")
            >>> memory.explain(made.id).situation.text
            'a flaky test'
        """
        return choosing.log.explained(self.decision_log(), text_field("id", id))

    def marks(self) -> tuple[Mark, ...]:
        """Return what ``keep`` and ``hide`` have settled of items; none of those without a mark.

        Examples:
            >>> memory.hide("e2")
            >>> [(mark.evidence_id, mark.hidden) for mark in memory.marks()]
            [('e2', True)]
        """
        with self._still():
            return self._marks()

    def health(self) -> Health:
        """Return how the memory stands: what it holds, against its bounds, and what waits in it.

        Examples:
            >>> health = memory.health()
            >>> health.items, health.answers, health.pending
            (3, 0, 0)
        """
        with self._still():
            return self._health()

    def storage(self) -> Storage:
        """Return how much the memory keeps, and how much it may.

        Examples:
            >>> kept = memory.storage()
            >>> kept.used, kept.evidence, kept.limit
            (71, 71, None)
        """
        with self._still():
            return storage_of(self._held.state)

    def receipts(self) -> tuple[Receipt, ...]:
        """Return what was forgotten for want of room or for its age, the oldest first.

        Examples:
            >>> small = SlotMemory(storage=40, clock=None)
            >>> for text in ("The cat is called Minka.", "The plumber comes on Fridays."):
            ...     done = small.ingest(text)
            >>> [gone.evidence for gone in small.receipts()]
            [('e1',)]
        """
        with self._still():
            return flows.room.receipts(self._held.state)

    def sharings(self) -> tuple[Sharing, ...]:
        """Return which slots ``share`` has merged, and what that rested on, the oldest first.

        Examples:
            >>> memory.sharings()  # no slots have been merged by a test
            ()
        """
        with self._still():
            return flows.share.sharings(self._held.state)

    def fingerprint(self) -> str:
        """Digest what is remembered, as 64 hex digits.

        The same operations in the same order give the same, with a clock that gives the same or
        with ``clock=None``: what comes without ``at`` is dated by the clock.

        Examples:
            >>> again = SlotMemory.restore(memory.export())
            >>> again.fingerprint() == memory.fingerprint()
            True
        """
        with self._still():
            return self._held.state.fingerprint()

    def export(self, *, where: Where | Mapping[str, object] | None = None) -> list[dict[str, Any]]:
        """Return the whole memory as JSON values, the first with the format and the settings, the
        last with what the others come to.

        With a filter it is a memory of the items alone that this leaves, with the ids that they
        have, which ``restore`` takes as any other: their slots, made of them alone, the successions
        between them and the keys that they came with. Questions, answers, decisions, names and
        certificates, which may quote others, are not in it.

        Raises:
            InvalidInput: naming the field of the filter and its range.

        Examples:
            >>> [line["kind"] for line in memory.export()]
            ['memory', 'evidence', 'evidence', 'evidence', 'slot', 'slot', 'slot', 'end']
        """
        chosen = where_field(where)
        with self._still():
            return list(exported(self._held.state, chosen))

    def backup(self, path: str | Path) -> BackupReceipt:
        """Write the memory as it stands, alone, into a SQLite file that is not there yet.

        The file is there whole or not at all, and its owner alone may read it. All memories of a
        store: :func:`demem_agent.safekeeping.backup`.

        Raises:
            InvalidInput: if there is such a file, or no folder to make it in.
            StoreError: for a memory that holds damaged rows, or that cannot be written.

        Examples:
            >>> import tempfile
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     made = memory.backup(f"{folder}/ana.db")
            ...     with SlotMemory.open(f"sqlite:///{folder}/ana.db") as again:
            ...         made.memories, len(again)
            (1, 3)
        """
        with self._still():
            return self._backup(path)

    @classmethod
    def restore(
        cls,
        lines: Lines,
        url: str | Store = "memory://",
        *,
        encryption_key: EncryptionKey | None = None,
        **options: Unpack[Options],
    ) -> Self:
        """Make a memory from what ``export`` gave, in a store that does not hold it yet.

        Raises:
            InvalidInput: naming the line that is not as ``export`` writes it.
            StoreError: if the store holds a memory of that id already.

        Examples:
            >>> again = SlotMemory.restore(memory.export())
            >>> len(again)
            3
        """
        return cls._of(opened(url, options, lines=lines, encryption_key=encryption_key))

    def check(self) -> None:
        """Assert every invariant.

        Raises:
            InvariantBroken: naming the first that does not hold.

        Examples:
            >>> memory.check()
        """
        with self._still():
            check(self._held.state)

    def delete(self) -> DeletionReceipt:
        """Delete the whole memory, which cannot be taken back.

        When this returns nothing of it is in any file, nor in what this handle keeps. Every later
        call raises MemoryGone, by this handle and by any other, also in another process; none of
        them brings it back. Exports and backups that were made before are yours.

        Raises:
            MemoryGone: if it is gone already.
            StoreError: also where it is deleted, but its text cannot leave the file yet since
                another process reads; it does so with the next write or close.

        Examples:
            >>> gone = memory.delete()
            >>> try:
            ...     memory.read("Where does Ana live?")
            ... except DeMemError as error:
            ...     print(type(error).__name__)
            MemoryGone
        """
        with self._lock:
            return self._held.delete()

    def close(self) -> None:
        """Release the store, if ``open`` made it from a URL.

        A store object belongs to whoever made it.

        Examples:
            >>> kept = SlotMemory.open("memory://")
            >>> kept.close()
        """
        with self._lock:
            self._held.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _still(self, *, newest: bool = False) -> Generator[None]:
        with self._lock:
            self._held.refresh(newest=newest)
            yield

    def _remember_many(
        self, turns: list[Turn], door: Door, progress: Progress | None
    ) -> list[Ingested]:
        """Remember checked turns a batch at a time, dated by a door."""
        done: list[Ingested] = []
        size = self._batch()
        if len(turns) > size:
            self._run(flows.ingest.require_requests, *door.arrivals(turns))
        for start in range(0, len(turns), size):
            done += self._remember(turns[start : start + size], door)
            if progress:
                progress(len(done), len(turns))
        return done

    def _remember(self, turns: list[Turn], door: Door) -> list[Ingested]:
        done = self._run(flows.ingest.ingest, *door.arrivals(turns))
        items = (one.evidence_id for one in done if one.evidence_id is not None)
        self._keep_within(Brought(items=frozenset(items)))
        return done

    def _change(self, changes: Sequence[flows.update.Change]) -> list[flows.update.Made | None]:
        made = self._run(flows.update.changed, changes)
        items = (one.evidence_id for one in made if one is not None)
        self._keep_within(Brought(items=frozenset(items)))
        return made

    def _with_place(self, report: FeedbackReport) -> FeedbackReport:
        """Look for a slot to free where a conflict waits for one, if that is wanted.

        The feedback stands whatever becomes of it.
        """
        if not flows.share.wants_place(report, self.settings.split):
            return report
        try:
            self._run(flows.share.share, self.settings.split.sharing)
        except CollaboratorError as error:
            return replace(report, failed=str(error))
        return report

    def _choose(self, asked: Choosing) -> Decision:
        made = self._run(flows.decide.decide, asked)
        self._keep_within(Brought(decision=made.id))
        return made

    def _keep_within(self, brought: Brought) -> None:
        """Forget what there is no room for, if there is a bound."""
        if self.settings.is_bounded:
            self._run(flows.room.make_room, brought)

    def _reembed_or_release(self) -> None:
        try:
            self.reembed(self._held.team.encoder)
        except BaseException:
            self._held.release()
            raise

    def _run(
        self,
        flow: Callable[Concatenate[State, Arguments], Flow[Result]],
        *given: Arguments.args,
        **named: Arguments.kwargs,
    ) -> Result:
        return self._run_by(None, flow, *given, **named)

    def _run_by(
        self,
        team: Collaborators | None,
        flow: Callable[Concatenate[State, Arguments], Flow[Result]],
        *given: Arguments.args,
        **named: Arguments.kwargs,
    ) -> Result:
        """Carry out a flow, for those who trace in a span.

        Args:
            team: who does the work, if not those of the memory.
        """
        with tracing.of_flow(flow, self._held.team.address, given) as span:
            return span.told(self._carried_out(team, flow, *given, **named))

    def _carried_out(
        self,
        team: Collaborators | None,
        flow: Callable[Concatenate[State, Arguments], Flow[Result]],
        *given: Arguments.args,
        **named: Arguments.kwargs,
    ) -> Result:
        """Carry out a flow; begin again where another process has moved the memory on.

        The second time nobody else writes while the flow works, so that it is not begun a third
        time but where the memory was encoded anew.
        """
        newest = not only_reads(flow)
        for attempt in range(RETRIES):
            with self._lock:
                self._held.before_a_flow(newest=newest)
                begun = flow(self._held.state, *given, **named)
                doing = team or self._held.team
            try:
                steps = self._held.steps(attempt, newest=newest)
                return drive(begun, self._lock, doing, steps)
            except StaleState:
                if attempt == RETRIES - 1:
                    raise
        raise AssertionError("the loop above returns or raises")
