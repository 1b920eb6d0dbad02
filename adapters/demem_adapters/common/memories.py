"""A memory for each namespace, as adapters need it: recalled from before a model call, told of it
afterwards.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import takewhile
from typing import Any, Required, TypedDict, Unpack

from demem_adapters.common.asking import ASSISTANT, USER, as_asked
from demem_adapters.common.choices import Choices
from demem_adapters.common.digests import digest
from demem_adapters.common.failures import LOG, logged
from demem_adapters.common.hearing import (
    anchor_of,
    known_of,
    of_session,
    remembered_of,
    waiting_of,
)
from demem_adapters.common.injecting import BESIDE
from demem_adapters.common.links import AFTER, ANSWERS
from demem_adapters.common.places import Words, standing_of
from demem_adapters.common.recent import Recent
from demem_adapters.common.said import (
    answer_of_call,
    answers_to,
    echoes,
    holding,
    kept_as,
    left_behind,
)
from demem_adapters.common.texts import Spoken
from demem_adapters.common.writing import Writes, patiently
from demem_agent import Answer, Evidence, FeedbackReport, Reading, SlotMemory
from demem_agent.errors import DeMemError, IdempotencyConflict, InvalidInput, NotFound
from demem_agent.feedback import Told
from demem_agent.options import Options
from demem_agent.pool import MOST_BYTES
from demem_agent.reading import Asking
from demem_agent.stores import DeletionReceipt, Store
from demem_agent.text import content_terms
from demem_agent.turns import text_field, whole_field
from demem_agent.types import number_of
from demem_agent.where import Where, as_where

__all__ = ["Heard", "Matching", "Memories", "Said"]

#: Whether an item may be read.
Matching = Callable[[Evidence], bool]

#: Calls whose answers feedback can refer to without a look into the memory.
_MOST_ANSWERS = 10_000


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


@dataclass(frozen=True, slots=True)
class _Said:
    """What a user says in a call, and what tells it from others.

    Attributes:
        words: each message as it is kept, with who says it.
        before: the conversation before, as far as it is shown.
        ids: of the messages, where the framework has such.
        marks: of each message, what tells it from others: all that was said up to it and the day,
            or its own id.
        under: a digest of what the model is told beside the conversation.
        kept: by which the provider knows what it keeps of the conversation before.
        grows: whether that grows with each answer.
        again: the number of the message that is said again if it was forgotten since.
    """

    words: Sequence[Words]
    before: Sequence[Spoken]
    session: str | None
    ids: Sequence[str | None]
    marks: Sequence[str]
    under: str
    kept: str
    grows: bool
    again: int | None

    @property
    def speaker(self) -> str:
        """Who says the last of it."""
        return self.words[-1][0]


@dataclass(slots=True)
class Heard:
    """What the user has said in a turn, and how far it is remembered.

    Attributes:
        said: as it is kept, oldest first.
        key: of the turn, the same when it is carried out again; "" until it is remembered.
        ids: by which each of it is remembered, as far as it is.
        known: which of it was remembered before.
        after: the id of what was said before it.
        goes_on: whether the turn has begun before, and is shown with what came of it since.
        one_answer: whether another answer to the same message takes the place of the first.
        anew: whether what was forgotten since is remembered again.
        erased: what the model was shown before and has been forgotten since.
    """

    said: tuple[str, ...] = ()
    key: str = ""
    ids: list[str] = field(default_factory=list)
    known: list[str | None] | None = None
    keys: list[str] = field(default_factory=list)
    after: str | None = None
    goes_on: bool = False
    one_answer: bool = False
    anew: bool = False
    erased: list[Evidence] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _LastHeard:
    """What was heard last of somebody.

    Attributes:
        ids: of the messages, by their marks.
        under: as in ``_Said``.
    """

    ids: Mapping[str, str] = field(default_factory=dict)
    under: str = ""


class Memories(Choices):
    """One memory for each namespace (a user, a conversation, a tenant), made when it is first
    written to.

    Safe to share between threads; the methods with ``a`` before their name are for event loops and
    never block one. A namespace of None has no memory: nothing is recalled from it, and nothing
    remembered.

    Args:
        url: where the memories live: ``memory://``, ``sqlite:///bot.db``, or a store object.
        limit: most that is recalled at once, in the memories' unit, with the sentence that declares
            it to be data where that stands before it; their ``read_limit`` unless given.
        most_open: how many are held in RAM at once, those that were used last; the others are
            opened again. ``most_bytes``: how many bytes of RAM they may take together.
        background: write turns in a thread, so that no answer waits for it. What is recalled in
            this process sees them all the same.
        most_waiting: how many writes are held until they can be done; what comes on top is lost.
        patience: seconds that a call waits, at most, for what waits to be written before it.
        options: of every memory, as :class:`~demem_agent.SlotMemory` takes them.

    What :meth:`heard` and :meth:`converse` cannot write, as where other processes hold the store,
    is written as soon as that can be done. :attr:`waiting` and :attr:`lost` count what is not.
    """

    def __init__(
        self,
        url: str | Store = "memory://",
        *,
        limit: int | None = None,
        most_open: int = 200,
        most_bytes: int = MOST_BYTES,
        background: bool = False,
        most_waiting: int = 1000,
        patience: float = 1.0,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(url, most_open=most_open, most_bytes=most_bytes, **options)
        self._writes = Writes(background=background, most=most_waiting, patience=patience)
        #: What was heard last of each speaker in a session, by what had been said up to it.
        self._heard: Recent[tuple[str, str | None, str], _LastHeard] = Recent(_MOST_ANSWERS)
        #: Whose memory a message was said to first, by what tells it from others.
        self._whose: Recent[str, str] = Recent(_MOST_ANSWERS)
        self.limit = None if limit is None else whole_field("limit", limit, 1)
        #: By the id of a call, the answers in each namespace: two providers may give the same id.
        self._answers: Recent[str, dict[str, str]] = Recent(_MOST_ANSWERS)

    @property
    def waiting(self) -> int:
        """How many writes wait until they can be done."""
        return self._writes.waiting

    @property
    def lost(self) -> int:
        """How many writes were given up; each was logged by its kind."""
        return self._writes.lost

    def of(self, namespace: str) -> SlotMemory:
        """Return the memory of a namespace, making it if there is none.

        What waits to be written to it is written first, if it can be.

        Raises:
            InvalidInput: if the namespace is no text, or blank.
        """
        self._writes.settle(namespace)
        return super().of(namespace)

    def known(self, namespace: str | None) -> SlotMemory | None:
        """Return the memory of a namespace, or None if nothing was ever written to it.

        What waits to be written to it is written first, if it can be.
        """
        if namespace is not None:
            self._writes.settle(namespace)
        return super().known(namespace)

    def names(self) -> list[str]:
        """Return the namespaces that were written to, in order of the alphabet."""
        self._writes.settle_all()
        return super().names()

    def delete(self, namespace: str) -> DeletionReceipt:
        """Delete the memory of a namespace for good; see :meth:`Namespaces.delete`.

        What waits to be written to it is not written any more.
        """
        text_field("namespace", namespace)
        self._writes.settle(namespace)
        with self._writes.dropped(namespace):
            return super().delete(namespace)

    def close(self) -> None:
        """Write what waits, for some seconds at most, and release the store if it was made from a
        URL.
        """
        self._writes.drain()
        super().close()

    def recall(
        self,
        namespace: str | None,
        query: str,
        *,
        limit: int | None = None,
        vector: Sequence[float] | None = None,
        shown: Iterable[str] = (),
        matching: Matching | None = None,
        beside: str = "",
        anew: bool = False,
        **asking: Unpack[Asking],
    ) -> Reading | None:
        """Read for a query; None where there is nothing to put before a model. Never makes a
        namespace.

        Args:
            query: of one above 8,000 characters, as of a message into which a log was pasted, the
                beginning and the end are asked for.
            vector: of the query by the memories' own encoder, where it is known; the query may then
                be blank.
            shown: texts that are left out, as in :meth:`prepare`.
            matching: tells whether an item may be read, where a filter of a framework asks for what
                ``where`` cannot: all items are gone through. Where ``where`` can it is to be
                preferred: there, what may not be read has no say in which lines hold no longer.
            beside: what is put before a model with the reading, and counts for the limit:
                ``BESIDE`` where that is a ``block``.
            anew: leave out what was answered to this today, unless the user has gone on from it:
                who asks for another answer does not want the first one again.
            asking: who asks, when, under which conditions and after what; ``where``: which items
                may be read, as :class:`~demem_agent.where.Where` says.

        Raises:
            InvalidInput: naming the field and its range; also for a filter on a strict reading,
                which is a summary and holds what others said.
        """
        if vector is None and not query.strip():
            return None
        memory = self.known(namespace)
        if memory is None:
            return None
        most = self.limit if limit is None else limit
        without = [*_ids_of(memory, shown), *_ids_but(memory, matching)]
        if anew:
            without += [item.id for item in left_behind(memory.evidence(), kept_as(query))]

        def read(most: int | None) -> Reading:
            asked = as_asked(query)
            return memory.read(asked, limit=most, vector=vector, without=without, **asking)

        reading = self._read_beside(beside, read, memory, most) if beside else read(most)
        return reading if reading is not None and reading.text else None

    def _read_beside(
        self,
        beside: str,
        read: Callable[[int], Reading],
        memory: SlotMemory,
        limit: int | None,
    ) -> Reading | None:
        """Return a reading that is within the limit with what is put in beside it."""
        size = self.measure(memory.settings.unit)
        most = memory.settings.read_limit if limit is None else whole_field("limit", limit, 1)
        room = most - size(beside)
        while room > 0:
            reading = read(room)
            over = size(beside + reading.text) - most
            if over <= 0:
                return reading
            room -= over  # a counter of tokens may find more in both together
        LOG.warning("nothing was recalled: the limit has no room beside what declares it as data")
        return None

    def prepare(
        self,
        namespace: str | None,
        query: str,
        *,
        limit: int | None = None,
        shown: Iterable[str] = (),
        **asking: Unpack[Asking],
    ) -> Reading | None:
        """Recall for a model that can answer without; the limit holds for the ``block`` of it.

        None where there is nothing, and where the memory fails: that is logged by its kind.

        Args:
            shown: texts of the messages that the model is shown anyway. What was remembered of
                these is left out, and so is the query itself, of a call that failed or an earlier
                time; but not of a strict reading, which is a summary.
            asking: as in :meth:`recall`, ``where`` included.
        """
        shown = [*shown, kept_as(query)]
        with logged("nothing was recalled"):
            about: Any = {"limit": limit, "shown": shown, "beside": BESIDE, "anew": True}
            return self.recall(namespace, query, **about, **asking)
        return None

    async def arecall(
        self,
        namespace: str | None,
        query: str,
        *,
        limit: int | None = None,
        beside: str = "",
        **asking: Unpack[Asking],
    ) -> Reading | None:
        """Read for a query as :meth:`recall` does, without blocking the event loop."""
        return await asyncio.to_thread(
            self.recall, namespace, query, limit=limit, beside=beside, **asking
        )

    async def aprepare(
        self,
        namespace: str | None,
        query: str,
        *,
        limit: int | None = None,
        shown: Iterable[str] = (),
        **asking: Unpack[Asking],
    ) -> Reading | None:
        """Recall for a model that can answer without, without blocking the event loop."""
        return await asyncio.to_thread(
            self.prepare, namespace, query, limit=limit, shown=shown, **asking
        )

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

        The same text with the same key again changes nothing.

        Args:
            metadata: what is kept beside it, JSON values by name, at most 4 KB; ``where`` filters
                by it.
            anew: remember it again where what had the key was forgotten since; else it stays so.

        Raises:
            IdempotencyConflict: for a key that something else was remembered under.
        """
        said = kept_as(text)
        if namespace is None or not said.strip():
            return
        memory = self.of(namespace)

        about: Any = {
            "speaker": speaker,
            "at": at,
            "session": session,
            "source": source,
            "source_id": source_id,
            "metadata": metadata,
        }
        patiently(lambda: _entered(memory, said, key, about, anew))

    def keep(self, namespace: str | None, turns: Iterable[Said]) -> None:
        """Remember texts that a framework hands over, each with a ``key`` of its own.

        What cannot be written now is written as soon as that can be done. A memory that fails costs
        nothing: what goes wrong is logged by its kind.
        """
        given = [*turns]
        if namespace is None or not given:
            return

        def remembered() -> None:
            while given:  # again after an error, the rest of it
                self.remember(namespace, **given[0])
                del given[0]

        with logged("a turn was not remembered"):
            text_field("namespace", namespace)
            self._writes.do(namespace, remembered)

    async def aremember(self, namespace: str | None, text: str, **about: Any) -> None:
        """Remember a text, without blocking the event loop; arguments as in :meth:`remember`."""
        await asyncio.to_thread(self.remember, namespace, text, **about)

    def answered(
        self,
        namespace: str | None,
        query: str,
        text: str,
        reading: Reading | None,
        *,
        call: str | None = None,
        **asking: Unpack[Asking],
    ) -> Answer | None:
        """Record an answer that a model gave from a reading; None where there is no memory.

        Args:
            reading: what the model was given; None where that was nothing.
            call: the id that :meth:`feedback` is to know the answer by.
            asking: as the reading was made with.
        """
        if namespace is None or not query.strip():
            return None
        memory = self.of(namespace)
        # From nothing: left to itself, memory would guess what the answer was given from.
        given = _nothing_read(memory) if reading is None else reading
        answer = memory.answered(as_asked(query), text, reading=given, **asking)
        if call is not None:
            self._answers[call] = {**self._answers.get(call, {}), namespace: answer.id}
        return answer

    def take_back(self, namespace: str, meant: Callable[[], str | None]) -> None:
        """Forget an item for good as :meth:`forget` does, in its order with what waits to be
        written, or as soon as that can be done.

        A memory that fails costs nothing: what goes wrong is logged by its kind.

        Args:
            meant: tells which item, by its id, when all that was written before is there; None for
                none. It is asked again after an error.
        """

        def taken_back() -> None:
            evidence_id = meant()
            if evidence_id is not None:
                self.forget(namespace, evidence_id)

        with logged("what was taken back was not forgotten"):
            self._writes.do(namespace, taken_back, "what was taken back waits to be forgotten")

    def heard(
        self,
        namespace: str | None,
        said: Iterable[str],
        *,
        before: Iterable[Spoken] = (),
        session: str | None = None,
        asker: str | None = None,
        names: Sequence[str | None] = (),
        ids: Sequence[str | None] = (),
        about: object = "",
        under: object = "",
        kept: str = "",
        grows: bool = False,
        goes_on: bool = False,
        one_answer: bool = True,
        anew: bool = False,
    ) -> Heard:
        """Remember what the user says as a call begins: after it was recalled for, and before the
        model is called.

        So nothing is lost of a call that fails or whose answer is cut off. What is remembered
        already is not remembered again: of a call that is made again, in this process or another,
        and of a conversation that is shown from its beginning each time. A memory that fails costs
        no answer.

        Args:
            said: all that the user has said since the last answer, oldest first; as
                :func:`~demem_adapters.common.said_last` gives it.
            before: the conversation before that, as far as the framework shows it.
            asker: under which name it is remembered, "user" unless given.
            names: of those who say the messages, where they are known; the asker's else.
            ids: of the messages, where the framework has such: the same id and text in a session is
                the same message.
            about: what else tells a call from others.
            under: what else the model is told, such as instructions. It tells no message from
                others; where no conversation is shown, it tells an answer that was made anew from
                one to another call with the same words.
            kept: by which the provider knows what it keeps of the conversation before, if it does:
                what is said after the same again is the same.
            grows: whether that grows with each answer, so that it is not.
            goes_on: the turn has begun before, and is shown with what came of it since: results of
                tools, or answers of other agents.
            one_answer: another answer to the same message was made anew, and takes the place of the
                first; not where several agents answer one. Where no conversation is shown, only of
                the same call at once.
            anew: remember again what was forgotten since, as :meth:`remember` does.

        Returns:
            The turn, for :meth:`converse`.
        """
        texts = [kept_as(text) for text in said]
        whose = [_at(ids, n) and digest(session, ids[n], text) for n, text in enumerate(texts)]
        numbered: list[tuple[str, int]] = []
        for n, text in enumerate(texts):
            is_last = n == len(texts) - 1
            if text.strip() and (is_last or self._is_of(namespace, session and whose[n])):
                numbered.append((text, n))
        turn = Heard(tuple(text for text, _ in numbered))
        if namespace is None or not turn.said:
            return turn
        for mark in filter(None, whose):
            if mark not in self._whose:
                self._whose[mark] = namespace
        turn.goes_on = goes_on
        turn.one_answer = one_answer
        turn.anew = anew
        by = [(_at(names, n) or asker or USER, text) for text, n in numbered]
        named = [_at(ids, n) for _, n in numbered]
        talk = tuple(before)
        marks = _marks(talk, by, named, (about, kept))
        # What the user says last, and is not the same message by its id, is told again.
        again = None if goes_on or any(named) else len(by) - 1
        call = _Said(by, talk, session, named, marks, digest(under), kept, grows, again)

        def remembered() -> None:
            self._hear(namespace, turn, call)

        with logged("a turn was not remembered"):
            text_field("namespace", namespace)
            self._writes.do(namespace, remembered)
        return turn

    def _is_of(self, namespace: str | None, mark: str | None) -> bool:
        """Whether a message was not said to another memory: several may share a conversation."""
        return mark is None or self._whose.get(mark, namespace) == namespace

    async def aheard(self, namespace: str | None, said: Iterable[str], **about: Any) -> Heard:
        """Remember as :meth:`heard` does, without blocking the event loop."""
        return await asyncio.to_thread(self.heard, namespace, said, **about)

    def _hear(self, namespace: str, turn: Heard, call: _Said) -> None:
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
                id = _entered(memory, text, turn.keys[n], about, turn.anew or n == call.again)
            turn.ids.append(id or "")
        ids = dict(zip(call.marks, turn.ids, strict=True))
        self._heard[namespace, call.session, call.speaker] = _LastHeard(ids, call.under)
        turn.key = digest("turn", turn.ids[-1])

    def _find(
        self,
        memory: SlotMemory,
        whose: tuple[str, str | None, str],
        turn: Heard,
        call: _Said,
    ) -> None:
        """Find out where a turn stands, and which of it is remembered."""
        items = of_session(memory.evidence(), call.session)
        held = {item.id for item in holding(memory)}
        last = self._heard.get(whose, _LastHeard())
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
        heard = self._heard_among(last, call, waiting if call.grows else items)
        is_the_same = bool(call.before or call.ids[-1] or call.kept) and not call.grows
        if turn.one_answer and not is_the_same:
            same = None not in heard and len(last.ids) == len(heard) and last.under == call.under
            # A turn that goes on was heard when it began, if only by another process.
            turn.one_answer = not call.grows and (same or (turn.goes_on and found[-1] is not None))
        # What was heard in the call before is known for sure; the rest is compared.
        rest = [None if id in heard else id for id in found]
        turn.known = [sure or id for sure, id in zip(heard, rest, strict=True)]
        about = (call.session, turn.after, anchor)
        turn.keys = [
            digest("heard", speaker, mark, *about)
            for (speaker, _), mark in zip(call.words, call.marks, strict=True)
        ]

    def _heard_among(
        self, last: _LastHeard, call: _Said, items: Sequence[Evidence]
    ) -> list[str | None]:
        """Return by which id each message was heard in the call before, among these items."""
        held = {item.id for item in items}
        ids = {mark: id for mark, id in last.ids.items() if id in held}
        again = len(_common(call.marks, [*ids]))
        if again < min(len(ids), 1 if len(call.marks) > 1 else len(ids)):
            ids = {}  # neither made again, nor gone on with or said otherwise
        return [ids.get(mark) for mark in call.marks]

    def converse(
        self,
        namespace: str | None,
        asked: str,
        said: str,
        *,
        key: str | Heard,
        reading: Reading | None = None,
        session: str | None = None,
        call: str | None = None,
        **asking: Unpack[Asking],
    ) -> Answer | None:
        """Remember both sides of a turn that ended well, and that the answer was given from a
        reading.

        A memory that fails costs no answer: what goes wrong here is logged by its kind, and the
        model's answer stands. What cannot be written now is written as soon as that can be done;
        then None is returned.

        Args:
            said: what the model answered; blank where it only called a tool.
            key: of the turn, the same when it is carried out again; or what :meth:`heard` gave for
                it, which has remembered the user's side.
            call: the id that :meth:`feedback` is to know the answer by.
            asking: as it was recalled with; what the user said is remembered under the asker's
                name.
        """
        if namespace is None or (isinstance(key, Heard) and not said.strip()):
            return None

        others: list[Evidence] = []  # the same when it is tried again
        looked: list[bool] = []

        def remembered() -> Answer | None:
            if _is_erased(self.known(namespace), key, asked, said, reading):
                return None
            if isinstance(key, Heard) and key.one_answer and key.ids and not looked:
                memory = self.of(namespace)
                others.extend(answers_to(memory, holding(memory), key.ids[-1], asked))
                looked.append(True)
            return self._converse(
                namespace, asked, said, key, others, reading, session, call, asking
            )

        with logged("a turn was not remembered"):
            text_field("namespace", namespace)
            return self._writes.do(namespace, remembered)
        return None

    def _converse(
        self,
        namespace: str,
        asked: str,
        said: str,
        key: str | Heard,
        others: Sequence[Evidence],
        reading: Reading | None,
        session: str | None,
        call: str | None,
        asking: Asking,
    ) -> Answer | None:
        if isinstance(key, Heard):
            of_turn = key.key or digest(asked, session, call)
        else:
            of_turn = key
            said_by = asking.get("asker") or USER
            once = f"{of_turn}:user"
            self.remember(namespace, asked, speaker=said_by, session=session, key=once)
        if not said.strip():
            return None
        once = f"{of_turn}:{digest(said)}"
        # Carried out again, it is the same answer under another id.
        with contextlib.suppress(IdempotencyConflict):
            if others:
                self._say_instead(namespace, others, said, once, session, call)
            else:
                about: Any = {"speaker": ASSISTANT, "session": session, "source_id": call}
                if isinstance(key, Heard):
                    about["anew"] = key.anew
                    about["metadata"] = {ANSWERS: key.ids[-1]} if key.ids else None
                self.remember(namespace, said, key=once, **about)
        try:
            return self.answered(namespace, asked, said, reading, call=call, **asking)
        except InvalidInput as error:
            # It is remembered, so what this costs is not said of the turn.
            told = "an answer was remembered, but not what it was given from: %s (%s)"
            LOG.warning(told, type(error).__name__, error.field)
            return None

    def still_holds(
        self, namespace: str | None, reading: Reading | None, heard: Heard | None = None
    ) -> bool:
        """Return whether nothing that was read has been forgotten since.

        For what is recalled once and put before a model again, as while tools answer it.

        Args:
            heard: the turn, which keeps what has been: an answer that tells of it is not
                remembered.
        """
        if namespace is None or reading is None:
            return True
        try:
            erased = _erased_of(self.known(namespace), reading)
        except DeMemError:
            return True
        if heard is not None:
            heard.erased += erased
        return not erased

    def _say_instead(
        self,
        namespace: str,
        others: Sequence[Evidence],
        said: str,
        once: str,
        session: str | None,
        call: str | None,
    ) -> None:
        """Remember an answer in the place of others to the same message, oldest first."""
        memory, words = self.of(namespace), kept_as(said)
        holds = next((item.id for item in others if item.text == words), None)
        if holds is None and words.strip():
            last = others[-1].id
            key = digest(once, last)  # it may have been given before, and not hold any more
            about: Any = {"session": session, "source_id": call, "key": key}
            holds = patiently(lambda: memory.update(last, words, **about)).evidence_id
        for item in others[:-1]:  # none, but where processes have told of answers side by side
            if holds is not None and item.text != words:
                memory.supersede(item.id, holds, key=digest(once, item.id, holds))

    def feedback(self, call: str, *, namespace: str, **told: Unpack[Told]) -> FeedbackReport:
        """Tell how the answer of a call did, by the id that the provider or the framework gave it.

        Args:
            namespace: whose answer it is, as the caller knows it: the user who is logged in, not
                what came with the id. An id alone names nobody, and may come from a browser: with
                the namespace of whoever tells, it never writes into the memory of another.
            told: as in ``SlotMemory.feedback``.

        Raises:
            InvalidInput: for a call that is not known in this namespace.
            DeMemError: what ``SlotMemory.feedback`` raises.
        """
        text_field("namespace", namespace)
        memory = self.known(namespace)  # what waits for it is written first
        answer = self._answers.get(call, {}).get(namespace)
        if memory is not None and answer is None:
            answer = answer_of_call(memory, call)
        if memory is None or answer is None:
            raise InvalidInput("call", call, "the id of a call whose answer was remembered")
        return memory.feedback(answer, **told)

    async def afeedback(self, call: str, *, namespace: str, **told: Unpack[Told]) -> FeedbackReport:
        """Tell as :meth:`feedback` does, without blocking the event loop."""
        return await asyncio.to_thread(self.feedback, call, namespace=namespace, **told)

    def forget(
        self,
        namespace: str,
        evidence_id: str | None = None,
        *,
        where: Where | Mapping[str, object] | None = None,
    ) -> tuple[str, ...]:
        """Erase items for good, with the answers of the assistant that tell of them.

        Give one of: an id, or ``where``, which means all that the filter leaves.

        An answer does that was given to it or from a reading of it, and holds words of it that the
        question does not; so does one that was given from such an answer. The items themselves go
        last: while they are there, a call that failed half-way can be made again.

        Returns:
            The ids of all that was erased, in order of time.

        Raises:
            NotFound: for an id that no item has.
            InvalidInput: for both or neither, or a filter that asks for nothing; what is wrong in
                it is named.
        """
        if (evidence_id is None) == (where is None):
            raise InvalidInput("evidence_id", evidence_id, "given, or else where, and not both")
        memory = self.known(namespace)
        if evidence_id is None:
            return _forget_all(memory, as_where(where or {}))
        if memory is None:
            raise NotFound("evidence", evidence_id)
        gone = _forget_each(memory, echoes(memory, [memory.item(evidence_id)]))
        gone += memory.forget(evidence_id).evidence
        return tuple(sorted(gone, key=number_of))

    async def aforget(
        self,
        namespace: str,
        evidence_id: str | None = None,
        *,
        where: Where | Mapping[str, object] | None = None,
    ) -> tuple[str, ...]:
        """Erase as :meth:`forget` does, without blocking the event loop."""
        return await asyncio.to_thread(self.forget, namespace, evidence_id, where=where)

    def _gone(self, namespace: str) -> None:
        for call, answers in [*self._answers.items()]:
            if namespace in answers:
                left = {name: answer for name, answer in answers.items() if name != namespace}
                self._answers[call] = left
        for whose in [*self._heard]:
            if whose[0] == namespace:
                self._heard.pop(whose, None)
        for mark, name in [*self._whose.items()]:
            if name == namespace:
                self._whose.pop(mark, None)

    def __getstate__(self) -> dict[str, Any]:
        self._writes.settle_all()
        kept = super().__getstate__()
        about = {
            **kept["about"],
            "limit": self.limit,
            "background": self._writes.background,
            "most_waiting": self._writes.most,
            "patience": self._writes.patience,
        }
        return {**kept, "about": about, "answers": dict(self._answers)}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        super().__setstate__(kept)
        for call, answers in kept["answers"].items():
            self._answers[call] = dict(answers)


def _marks(
    before: Sequence[Spoken],
    said: Sequence[Words],
    named: Sequence[str | None],
    about: object,
) -> list[str]:
    """Return for each message what tells it from others: all that was said up to it and the day,
    or its own id.
    """
    mark = digest(before, about, date.today().isoformat())
    found: list[str] = []
    for (speaker, text), id in zip(said, named, strict=True):
        mark = digest(mark, speaker, text)
        found.append(digest(id, text) if id else mark)
    return found


def _at(values: Sequence[str | None], n: int) -> str | None:
    return values[n] if n < len(values) else None


def _common(one: Sequence[str], other: Sequence[str]) -> list[str]:
    """Return what both begin with."""
    pairs = zip(one, other, strict=False)
    return [mark for mark, _ in takewhile(lambda pair: pair[0] == pair[1], pairs)]


def _ids_of(memory: SlotMemory, texts: Iterable[str]) -> Sequence[str]:
    """Return the ids of the items that are one of these texts."""
    shown = frozenset(texts)
    if not shown:
        return ()
    return [item.id for item in memory.evidence() if item.text in shown]


def _ids_but(memory: SlotMemory, matching: Matching | None) -> Sequence[str]:
    """Return the ids of the items that do not match."""
    if matching is None:
        return ()
    if memory.settings.mode == "strict":
        raise InvalidInput("filters", matching, "left out where memories are read by summaries")
    return [item.id for item in memory.evidence() if not matching(item)]


def _entered(
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


def _has(memory: SlotMemory | None, evidence_id: str, text: str) -> bool:
    """Whether an item is there; in a memory that was made anew another may have its id."""
    try:
        return memory is not None and memory.item(evidence_id).text == text
    except NotFound:
        return False


def _erased_of(memory: SlotMemory | None, reading: Reading) -> list[Evidence]:
    return [item for item in reading.evidence if not _has(memory, item.id, item.text)]


def _is_erased(
    memory: SlotMemory | None,
    key: str | Heard,
    asked: str,
    said: str,
    reading: Reading | None,
) -> bool:
    """Whether what an answer was given to, or tells of, was erased while the model gave it."""
    if isinstance(key, Heard) and key.ids and not _has(memory, key.ids[-1], key.said[-1]):
        return True
    told = frozenset(content_terms(said)) - frozenset(content_terms(asked))
    erased = [*key.erased] if isinstance(key, Heard) else []
    if reading is not None:
        erased += _erased_of(memory, reading)
    return any(not told.isdisjoint(content_terms(item.text)) for item in erased)


def _nothing_read(memory: SlotMemory) -> Reading:
    """Return a reading of nothing, as this memory would give it."""
    settings = memory.settings
    return Reading(
        text="",
        size=0,
        limit=settings.read_limit,
        unit=settings.unit,
        mode=settings.mode,
        evidence=(),
        slots=(),
    )


def _forget_all(memory: SlotMemory | None, where: Where) -> tuple[str, ...]:
    """Forget all that a filter leaves, and before it the answers that tell of any of it."""
    if where == Where():
        raise InvalidInput("where", where, "a filter that asks for something")
    if memory is None:
        return ()
    items = memory.evidence(where=where)
    meant = {item.id for item in items}
    telling = [id for id in echoes(memory, items) if id not in meant]
    gone = _forget_each(memory, telling)
    gone += memory.forget(where=where).evidence
    return tuple(sorted(gone, key=number_of))


def _forget_each(memory: SlotMemory, ids: Iterable[str]) -> list[str]:
    """Forget items, and return the ids of all that went: some go with others, as corrections do."""
    gone: list[str] = []
    for id in ids:
        if id not in gone:
            gone += memory.forget(id).evidence
    return gone
