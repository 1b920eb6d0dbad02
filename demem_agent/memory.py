"""SlotMemory: what a user holds. It is thin: the door checks, a flow does the work."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, Unpack

from demem_agent import flows
from demem_agent import messages as chats
from demem_agent.channels import Told
from demem_agent.copying import Kept, Lines, kept_of, made_again, opened
from demem_agent.door import Door, is_decision
from demem_agent.drivers import Collaborators, drive
from demem_agent.errors import CollaboratorError, InvalidInput, StaleState
from demem_agent.held import Held
from demem_agent.messages.records import IngestedMessages
from demem_agent.options import Options
from demem_agent.reading.ask import Asking, Reads, Routes, When
from demem_agent.requests import Flow
from demem_agent.settings import SHARING, Settings
from demem_agent.slots import choosing
from demem_agent.slots.choosing.asked import Advises, Choosing, Decided, Decides, Tries
from demem_agent.slots.invariants import check
from demem_agent.slots.keeping import Brought, storage_of
from demem_agent.slots.openings import slot_view
from demem_agent.slots.state import State
from demem_agent.stores import Store
from demem_agent.stores.portable import export
from demem_agent.turns import Turn, text_field, whole_field
from demem_agent.types import (
    Answer,
    Context,
    Decision,
    Encoder,
    Evidence,
    Explained,
    FeedbackReport,
    Ingested,
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
    Tried,
)

__all__ = ["BATCH", "RETRIES", "MemoryHandle", "Progress", "SlotMemory", "learned"]

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Progress = Callable[[int, int], object]

#: Turns that ``ingest_many`` encodes and commits at a time.
BATCH = 512
#: Times an operation is tried again when another process has moved the memory on.
RETRIES = 5


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
        """The budget, and how what comes in is placed."""
        return self._held.state.settings

    @property
    def slots(self) -> tuple[Slot, ...]:
        """The active slots, by number."""
        with self._still():
            state = self._held.state
            return tuple(slot_view(state, number) for number in sorted(state.slots))

    @property
    def reranker_failures(self) -> dict[str, int]:
        """How often the reranker failed since the memory was opened, by how.

        The score alone ordered what was read then; its readings say so as ``unranked``.
        """
        return dict(self._held.reranking or {})

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

    def _evidence(self) -> tuple[Evidence, ...]:
        return tuple(self._held.state.evidence.values())

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
        found: list[Succession] = []
        for one in state.successions.values():
            sure = one.confidence if one.undone else state.derived.current.confidence(one)
            found.append(replace(one, confidence=sure))
        return tuple(found)

    def _batch(self) -> int:
        """Return how many turns are written at once: one by one, where each may need room."""
        return BATCH if self.settings.storage is None else 1

    def _given(
        self, answer: Answer | Decision | str, told: Told, key: str | None
    ) -> flows.feedback.Given:
        return self._door.feedback(answer, told, key, self._held.raters())

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
    * a bound on everything kept: ``storage`` (None);
    * who does the work, sync or async: ``encoder``, ``answerer``, ``scorers`` (two at least),
      ``reranker`` (none);
    * ``clock``: dates turns and queries that come without ``at`` (``datetime.now``);
    * ``memory_id``, ``tenant``: which memory of a store.

    :class:`~demem_agent.options.Options` and :class:`~demem_agent.settings.Settings` say more about
    each.

    Examples:
        >>> memory = SlotMemory(slots=4)
        >>> told = memory.ingest("I moved to Lisbon yesterday.", speaker="Ana", at="2024-03-02")
        >>> told.evidence_id
        'e1'
        >>> memory.answer("When did Ana move to Lisbon?").text
        'Ana: I moved to Lisbon yesterday. (yesterday: 1 March 2024)'
    """

    def __init__(self, **options: Unpack[Options]) -> None:
        self._begin(Held(options))

    def _begin(self, held: Held) -> None:
        super()._begin(held)
        self._lock = threading.RLock()

    @classmethod
    def open(
        cls,
        url: str | Store,
        *,
        skip_damaged: bool = False,
        reembed: bool = False,
        **options: Unpack[Options],
    ) -> Self:
        """Open a memory in a store, making it if it does not exist.

        Args:
            url: ``sqlite:///bot.db``, ``memory://``, or a store object.
            skip_damaged: load what can be read of a damaged memory, instead of raising.
            reembed: encode everything anew if the memory was built with another encoder.

        Raises:
            InvalidInput: for a setting that contradicts the stored one.
            EncoderMismatch: if the memory was built with another encoder.
            StoreError: if the store cannot be opened or a row is damaged.
        """
        memory = cls._of(opened(url, options, skip_damaged=skip_damaged, reembed=reembed))
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
    ) -> Ingested:
        """Remember a text.

        Args:
            at: when it was said: a datetime, a date or an ISO 8601 string; now unless given, by the
                memory's clock.
            source_id: your own id of the turn; it comes back in ``Reading.evidence``.
            trust: in [0, 1].
            key: idempotency key: the same key with the same request gives the stored result, also
                when its item was forgotten since; it is not remembered again.

        Raises:
            InvalidInput: naming the field and its range; nothing was stored.
            IdempotencyConflict: if the key was used for another request.
        """
        turn = Turn(
            text,
            speaker=speaker,
            at=at,
            session=session,
            source=source,
            source_id=source_id,
            trust=trust,
            key=key,
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
        """
        return self._remember_many(self._door.turns(turns), self._door, progress)

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
        heard = chats.turns_of(
            messages, session=session, tools=tools, speakers=speakers, source=source
        )
        checked = self._door.turns(heard.turns)
        with chats.explained():
            results = self._remember_many(checked, self._door.dating(at), progress)
        return IngestedMessages(tuple(results), heard.left_out)

    def route(self, query: str, **how: Unpack[Routes]) -> Route:
        """Choose the slot that a query goes to, and tell whether any is adequate.

        Args:
            how: who asks, when, and the vector of the query: :class:`~demem_agent.reading.Routes`.

        Raises:
            InvalidInput: naming the field and its range.
        """
        return self._run(flows.read.route, self._door.routing(query, how))

    def read(self, query: str, **how: Unpack[Reads]) -> Reading:
        """Return the text to put before a model: never more than its limit, marks included.

        A limit too small for the marks and one line gives an empty text; ``left_out`` says at
        which one the first line comes in.

        Args:
            how: ``limit``, ``mode``, ``order``, ``floor``, ``at``, ``asker``, ``conditions``,
                ``context``, ``slot``, ``vector``, ``without``, as
                :class:`~demem_agent.reading.Reads` explains them.

        Raises:
            InvalidInput: naming the field and its range.
            NotFound: for a slot that is not active.
        """
        return self._run(flows.read.read, self._door.reading(query, how))

    def answer(self, query: str, **how: Unpack[Asking]) -> Answer:
        """Answer from memory alone and remember the decision, so that feedback can refer to it.

        Args:
            how: who asks, when, and under which conditions: :class:`~demem_agent.reading.Asking`.

        Raises:
            InvalidInput: naming the field and its range.
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
        """
        return self._run(flows.advise.tried, self._door.trying(situation, how))

    def forget(
        self, evidence_id: str | None = None, *, source_id: str | None = None, before: When = None
    ) -> Receipt:
        """Erase evidence and every text that came from it.

        When this returns it is in no file either. Every answer whose reading held an item is
        blanked, since nobody can tell what it drew on; so is a reference that rests on the item or
        quotes it. Rewards stay.

        Give exactly one of: an evidence id, the caller's own ``source_id``, or ``before``, which
        means everything dated earlier.

        Raises:
            NotFound: for an unknown evidence id or source id.
        """
        return self._run(flows.forget.forget, self._door.selected(evidence_id, source_id, before))

    def undo(self, id: str) -> None:
        """Take back a split, what was told of an answer or a decision, or a succession.

        A split is exactly undone if nothing came after it; else the slots are merged, and what came
        after is kept. A certificate that names rivals says nothing of readings any more, whether
        or not it had split a slot. By the id of an answer what its feedback said of lines of
        memory is taken back, so that it is not recognised from it any more; its rewards stay on
        record. By the id of a succession, such as ``s1``, its old line holds again. By the id of a
        decision, such as ``d1``, what it came to teaches nothing any more.

        Raises:
            NotFound: for what is the id of nothing that can be undone.
            InvalidInput: if there is nothing to undo.
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
        """
        author = self._author()
        named = None if slot is None else whole_field("slot", slot, 0)
        with self._still():
            numbers = flows.summarise.due(self._held.state, named)
        return tuple(self._run(flows.summarise.summarise, number, author) for number in numbers)

    def rename(self, slot: int, name: str | None) -> None:
        """Name a slot, for people; None takes it away. Nothing else depends on it.

        Raises:
            NotFound: for a slot that is not active.
        """
        self._run(flows.arrange.rename, *self._door.naming(slot, name))
        self._keep_within(Brought(slot=slot))

    def pin(self, slot: int, pinned: bool = True) -> None:
        """Have a slot stay as it is divided: it is neither split nor merged.

        It still takes in what is placed there. A conflict certified in it is logged as suppressed,
        and acted on once the slot is no longer pinned.

        Raises:
            NotFound: for a slot that is not active.
        """
        self._run(flows.arrange.pin, *self._door.pinning(slot, pinned))

    def merge(self, slot: int, *, into: int) -> None:
        """Move all that is in one slot into another and close it.

        That frees its number for a later split. Splits that this takes back are marked as undone.

        Raises:
            NotFound: for a slot that is not active.
            InvalidInput: if one of them is pinned, or both are the same.
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
        """
        return self._run(flows.share.share, whole_field("answers", answers, 2))

    def reembed(self, encoder: Encoder) -> int:
        """Encode everything anew with another encoder, and return the number of items.

        Raises:
            InvalidInput: for what is no encoder.
        """
        team = self._held.team_with(encoder)
        return self._run_by(team, flows.reembed.reembed, self._held.adopting(team))

    def evidence(self) -> tuple[Evidence, ...]:
        """Return every live item, in order of ingestion."""
        with self._still():
            return self._evidence()

    def contexts(self) -> tuple[Context, ...]:
        """Return every decision so far: one for each answer."""
        with self._still():
            return self._contexts()

    def certificates(self) -> tuple[SplitCertificate, ...]:
        """Return every certificate, of splits carried out, undone and suppressed alike."""
        with self._still():
            return self._certificates()

    def successions(self) -> tuple[Succession, ...]:
        """Return which lines have taken the place of which, undone ones included.

        Their confidence is as of now, with what feedback has said since they were found.
        """
        with self._still():
            return self._successions()

    def decisions(self) -> tuple[Decision, ...]:
        """Return every choice among actions so far, with what it came to."""
        with self._still():
            return self._decisions()

    def situations(self) -> tuple[Situation, ...]:
        """Return every situation in which something was decided."""
        with self._still():
            return self._situations()

    def decision_log(self) -> choosing.DecisionLog:
        """Return all that was decided, as ``demem_agent.evaluate.replay_decisions`` takes it."""
        with self._still():
            return self._decision_log()

    def explain(self, id: str) -> Explained:
        """Explain a decision among actions: what it rested on, and how it looks now.

        All decisions before it are played again, so it takes the time of as many.

        Args:
            id: of the decision, such as ``d3``.

        Raises:
            NotFound: for what is the id of no decision.
        """
        return choosing.log.explained(self.decision_log(), text_field("id", id))

    def storage(self) -> Storage:
        """Return how much the memory keeps, and how much it may."""
        with self._still():
            return storage_of(self._held.state)

    def receipts(self) -> tuple[Receipt, ...]:
        """Return what was forgotten to keep within ``storage``, the oldest first."""
        with self._still():
            return flows.room.receipts(self._held.state)

    def sharings(self) -> tuple[Sharing, ...]:
        """Return which slots ``share`` has merged, and what that rested on, the oldest first."""
        with self._still():
            return flows.share.sharings(self._held.state)

    def fingerprint(self) -> str:
        """Digest what is remembered, as 64 hex digits.

        The same operations in the same order give the same, with a clock that gives the same or
        with ``clock=None``: what comes without ``at`` is dated by the clock.
        """
        with self._still():
            return self._held.state.fingerprint()

    def export(self) -> list[dict[str, Any]]:
        """Return the whole memory as JSON values, the first with the format and the settings."""
        with self._still():
            return list(export(self._held.state))

    @classmethod
    def restore(
        cls,
        lines: Lines,
        url: str | Store = "memory://",
        **options: Unpack[Options],
    ) -> Self:
        """Make a memory from what ``export`` gave, in a store that does not hold it yet.

        Raises:
            InvalidInput: naming the line that is not as ``export`` writes it.
            StoreError: if the store holds a memory of that id already.
        """
        return cls._of(opened(url, options, lines=lines))

    def check(self) -> None:
        """Assert every invariant.

        Raises:
            InvariantBroken: naming the first that does not hold.
        """
        with self._still():
            check(self._held.state)

    def close(self) -> None:
        """Release the store, if ``open`` made it from a URL.

        A store object belongs to whoever made it.
        """
        with self._lock:
            self._held.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _still(self) -> Generator[None]:
        with self._lock:
            self._held.refresh()
            yield

    def _remember_many(
        self, turns: list[Turn], door: Door, progress: Progress | None
    ) -> list[Ingested]:
        """Remember checked turns a batch at a time, dated by a door."""
        done: list[Ingested] = []
        size = self._batch()
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
        """Forget what there is no room for, if storage is bounded."""
        if self.settings.storage is not None:
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
        """Carry out a flow; begin again where another process has moved the memory on.

        Args:
            team: who does the work, if not those of the memory.
        """
        for attempt in range(RETRIES):
            with self._lock:
                self._held.refresh()
                begun = flow(self._held.state, *given, **named)
                doing = team or self._held.team
            try:
                return drive(begun, self._lock, doing)
            except StaleState:
                if attempt == RETRIES - 1:
                    raise
        raise AssertionError("the loop above returns or raises")
