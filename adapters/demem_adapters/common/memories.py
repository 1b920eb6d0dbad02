"""A memory for each namespace, as adapters need it: recalled from before a model call, told of it
afterwards.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Unpack

from demem_adapters.common.asking import ASSISTANT, USER, as_asked
from demem_adapters.common.digests import digest
from demem_adapters.common.failures import LOG, logged
from demem_adapters.common.keeping import Keeps, KeptHere
from demem_adapters.common.links import ANSWERS
from demem_adapters.common.patience import patient
from demem_adapters.common.recalling import Matching, erased_of, has
from demem_adapters.common.recent import Recent
from demem_adapters.common.remembering import MOST_KNOWN, Remembers, Said
from demem_adapters.common.said import answer_of_call, answers_to, echoes, holding, kept_as
from demem_adapters.common.turns import Heard
from demem_adapters.common.writing import patiently
from demem_agent import Answer, Evidence, FeedbackReport, Reading, SlotMemory
from demem_agent.errors import IdempotencyConflict, InvalidInput, NotFound
from demem_agent.feedback import Told
from demem_agent.options import Options
from demem_agent.pool import MOST_BYTES, MemoryPool
from demem_agent.reading import Asking
from demem_agent.stores import Store
from demem_agent.text import content_terms
from demem_agent.turns import text_field
from demem_agent.types import number_of
from demem_agent.where import Where, as_where

__all__ = ["Heard", "Matching", "Memories", "Said"]


class Memories(Remembers):
    """One memory for each namespace (a user, a conversation, a tenant), made when it is first
    written to.

    Safe to share between threads; the methods with ``a`` before their name are for event loops and
    never block one. A namespace of None has no memory: nothing is recalled from it, and nothing
    remembered.

    Args:
        url: where the memories live: ``memory://``, ``sqlite:///bot.db``, or a store object.
        limit: most that is recalled at once, in the memories' unit, with the sentence that declares
            it to be data where that stands before it; their ``read_limit`` unless given. One that
            has room for no line is warned of once, with the least that has.
        most_open: how many are held in RAM at once, those that were used last; the others are
            opened again. ``most_bytes``: how many bytes of RAM they may take together.
        background: write turns in a thread, so that no answer waits for it. What is recalled in
            this process sees them all the same, where they can be written soon.
        most_waiting: how many writes are held until they can be done; what comes on top is lost.
        patience: seconds that a call waits, at most, until what it has to remember is written: for
            what waits to be written before it, and for others who hold the memory or its store.
        recall_patience: seconds that a call waits, at most, to recall before a model is called; the
            model is called without it then.
        gate: recall nothing before a model is called for a message on which nothing remembered
            probably bears, such as "Thanks!". What a model or a program looks up by a tool or a
            retriever is read for in any case.
        options: of every memory, as :class:`~demem_agent.SlotMemory` takes them.

    What :meth:`heard` and :meth:`converse` cannot write, as where other processes hold the store,
    is written as soon as that can be done. :attr:`waiting` and :attr:`lost` count what is not.
    """

    def __init__(
        self,
        url: str | Store | MemoryPool = "memory://",
        *,
        limit: int | None = None,
        most_open: int = 200,
        most_bytes: int = MOST_BYTES,
        background: bool = False,
        most_waiting: int = 1000,
        patience: float = 1.0,
        recall_patience: float = 0.5,
        gate: bool = True,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(
            url,
            limit=limit,
            most_open=most_open,
            most_bytes=most_bytes,
            background=background,
            most_waiting=most_waiting,
            patience=patience,
            recall_patience=recall_patience,
            gate=gate,
            **options,
        )
        #: By the id of a call, the answers in each namespace: two providers may give the same id.
        self._answers: Recent[str, dict[str, str]] = Recent(MOST_KNOWN)

    def keeping(self, of: str) -> Keeps[Any]:
        """Return what keeps values for a while, from one call to the next.

        Args:
            of: what is kept, to tell it from what others keep.
        """
        return KeptHere()

    @patient
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
            told: Said = {"text": asked, "speaker": said_by, "session": session, "key": once}
            self._remember_now(namespace, told)
        if not said.strip():
            return None
        once = f"{of_turn}:{digest(said)}"
        # Carried out again, it is the same answer under another id.
        with contextlib.suppress(IdempotencyConflict):
            if others:
                self._say_instead(namespace, others, said, once, session, call)
            else:
                about: Said = {"text": said, "speaker": ASSISTANT, "session": session}
                about["source_id"], about["key"] = call, once
                if isinstance(key, Heard):
                    about["anew"] = key.anew
                    about["metadata"] = {ANSWERS: key.ids[-1]} if key.ids else None
                self._remember_now(namespace, about)
        try:
            return self.answered(namespace, asked, said, reading, call=call, **asking)
        except InvalidInput as error:
            # It is remembered, so what this costs is not said of the turn.
            but = "an answer was remembered, but not what it was given from: %s (%s)"
            LOG.warning(but, type(error).__name__, error.field)
            return None

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

    @patient
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
        answer = self.answer_id(call, namespace)
        memory = self.known(namespace)
        if memory is None or answer is None:
            raise InvalidInput("call", call, "the id of a call whose answer was remembered")
        return memory.feedback(answer, **told)

    def answer_id(self, call: str, namespace: str) -> str | None:
        """Return the id of the answer of a call in its memory; None where none was remembered."""
        text_field("namespace", namespace)
        memory = self.known(namespace)  # what waits for it is written first
        if memory is None:
            return None
        return self._answers.get(call, {}).get(namespace) or answer_of_call(memory, call)

    async def afeedback(self, call: str, *, namespace: str, **told: Unpack[Told]) -> FeedbackReport:
        """Tell as :meth:`feedback` does, without blocking the event loop."""
        return await asyncio.to_thread(self.feedback, call, namespace=namespace, **told)

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

    @patient
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
        return {**super().__getstate__(), "answers": dict(self._answers)}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        super().__setstate__(kept)
        for call, answers in kept["answers"].items():
            self._answers[call] = dict(answers)


def _is_erased(
    memory: SlotMemory | None,
    key: str | Heard,
    asked: str,
    said: str,
    reading: Reading | None,
) -> bool:
    """Whether what an answer was given to, or tells of, was erased while the model gave it."""
    if isinstance(key, Heard) and key.ids and not has(memory, key.ids[-1], key.said[-1]):
        return True
    told = frozenset(content_terms(said)) - frozenset(content_terms(asked))
    erased = [*key.erased] if isinstance(key, Heard) else []
    if reading is not None:
        erased += erased_of(memory, reading)
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
