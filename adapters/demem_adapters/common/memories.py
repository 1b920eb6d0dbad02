"""A memory for each namespace, as adapters need it: recalled from before a model call, told of it
afterwards.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import logging
from collections.abc import Iterable, Iterator, Sequence
from itertools import dropwhile
from typing import Any, Unpack

from demem_adapters.common.namespaces import Namespaces
from demem_adapters.common.recent import Recent
from demem_adapters.common.said import DECLARED, answer_of_call, echoes, kept_as
from demem_agent import Answer, FeedbackReport, Reading
from demem_agent.errors import DeMemError, IdempotencyConflict, InvalidInput, NotFound
from demem_agent.feedback.channels import Told
from demem_agent.options import Options
from demem_agent.stores import Store
from demem_agent.turns import whole_field
from demem_agent.types import number_of

__all__ = ["DECLARED", "LOG", "Memories", "digest", "logged"]

LOG = logging.getLogger("demem_adapters")
#: Calls whose answers feedback can refer to without a look into the memory.
_MOST_ANSWERS = 10_000


class Memories(Namespaces):
    """One memory for each namespace (a user, a conversation, a tenant), made when it is first
    written to.

    Safe to share between threads; the methods with ``a`` before their name are for event loops and
    never block one. A namespace of None has no memory: nothing is recalled from it, and nothing
    remembered.

    Args:
        url: where the memories live: ``memory://``, ``sqlite:///bot.db``, or a store object.
        limit: most that is recalled at once, in the memories' unit; their ``read_limit`` unless
            given.
        most_open: how many are held in RAM at once, those that were used last; the others are
            opened again.
        options: of every memory, as :class:`~demem_agent.SlotMemory` takes them; the clock is the
            machine's if none is.
    """

    def __init__(
        self,
        url: str | Store = "memory://",
        *,
        limit: int | None = None,
        most_open: int = 200,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(url, most_open=most_open, **options)
        self.limit = None if limit is None else whole_field("limit", limit, 1)
        #: By the id of a call, the answers in each namespace: two providers may give the same id.
        self._answers: Recent[str, dict[str, str]] = Recent(_MOST_ANSWERS)

    def recall(
        self,
        namespace: str | None,
        query: str,
        *,
        limit: int | None = None,
        vector: Sequence[float] | None = None,
        shown: Iterable[str] = (),
    ) -> Reading | None:
        """Read for a query; None where there is nothing to put before a model. Never makes a
        namespace.

        Args:
            vector: of the query by the memories' own encoder, where it is known; the query may then
                be blank.
            shown: texts that are left out, as in :meth:`prepare`.
        """
        memory = self.known(namespace) if query.strip() or vector is not None else None
        if memory is None:
            return None
        texts = frozenset(shown)
        without = [item.id for item in memory.evidence() if item.text in texts] if texts else ()
        reading = memory.read(
            query, limit=self.limit if limit is None else limit, vector=vector, without=without
        )
        return reading if reading.text else None

    def prepare(
        self,
        namespace: str | None,
        query: str,
        *,
        limit: int | None = None,
        shown: Iterable[str] = (),
    ) -> Reading | None:
        """Recall for a model that can answer without: a memory that fails is logged by its kind,
        and gives None.

        Args:
            shown: texts of the messages that the model is shown anyway: what was remembered of
                these is left out, but not of a strict reading, which is a summary.
        """
        with logged("nothing was recalled"):
            return self.recall(namespace, query, limit=limit, shown=shown)
        return None

    async def arecall(
        self, namespace: str | None, query: str, *, limit: int | None = None
    ) -> Reading | None:
        """Read for a query, without blocking the event loop."""
        return await asyncio.to_thread(self.recall, namespace, query, limit=limit)

    async def aprepare(
        self,
        namespace: str | None,
        query: str,
        *,
        limit: int | None = None,
        shown: Iterable[str] = (),
    ) -> Reading | None:
        """Recall for a model that can answer without, without blocking the event loop."""
        return await asyncio.to_thread(self.prepare, namespace, query, limit=limit, shown=shown)

    def remember(
        self,
        namespace: str | None,
        text: str,
        *,
        speaker: str | None = None,
        at: Any = None,
        session: str | None = None,
        source: str | None = None,
        source_id: str | None = None,
        key: str | None = None,
    ) -> None:
        """Remember a text as it was said; the same with the same key again changes nothing, and a
        blank text is none.

        Raises:
            IdempotencyConflict: for a key that something else was remembered under.
        """
        said = kept_as(text)
        if said.strip() and namespace is not None:
            self.of(namespace).ingest(
                said,
                speaker=speaker,
                at=at,
                session=session,
                source=source,
                source_id=source_id,
                key=key,
            )

    async def aremember(self, namespace: str | None, text: str, **about: Any) -> None:
        """Remember a text, without blocking the event loop; arguments as of :meth:`remember`."""
        await asyncio.to_thread(self.remember, namespace, text, **about)

    def answered(
        self,
        namespace: str | None,
        query: str,
        text: str,
        reading: Reading | None,
        *,
        call: str | None = None,
    ) -> Answer | None:
        """Record an answer that a model gave from a reading, so that :meth:`feedback` can refer to
        its call.
        """
        if not query.strip() or namespace is None:
            return None
        memory = self.of(namespace)
        if (
            reading is None
        ):  # from nothing: left to itself, memory would guess what it was given from
            size, unit, mode = (
                memory.settings.read_limit,
                memory.settings.unit,
                memory.settings.mode,
            )
            reading = Reading("", 0, size, unit, mode, (), ())
        answer = memory.answered(query, text, reading=reading)
        if call is not None:
            self._answers[call] = {**self._answers.get(call, {}), namespace: answer.id}
        return answer

    def before(
        self, namespace: str | None, asked: str, *, session: str | None = None, again: bool = False
    ) -> str:
        """Give the id of what the user said before this in a session, "" for the first, for the key
        of a turn.

        Where a framework has no id for a message, its words and the day tell one event from
        another, but not what is said once more after something else ("Rome", "Oslo", "Rome"). With
        this in the key it is an event of its own, while a turn that is carried out again at once is
        the same one.

        Args:
            again: the turn goes on, as with the results of tools: look before its question, if that
                is there already.
        """
        try:
            memory = self.known(namespace)
            items = memory.evidence() if memory is not None else ()
        except DeMemError:
            return ""  # it is logged when the turn is remembered
        words, kept = kept_as(asked), reversed(items)
        said = [item for item in kept if item.speaker == "user" and item.session == session]
        if again and any(item.text == words for item in said):
            said = [*dropwhile(lambda item: item.text != words, said)]
        return next((item.id for item in said if item.text != words), "")

    def converse(
        self,
        namespace: str | None,
        asked: str,
        said: str,
        *,
        key: str,
        reading: Reading | None = None,
        session: str | None = None,
        call: str | None = None,
    ) -> Answer | None:
        """Remember both sides of a turn that ended well, and that the answer was given from a
        reading.

        A memory that fails costs no answer: what goes wrong here is logged by its kind, and the
        model's answer stands.

        Args:
            said: what the model answered; blank where it only called a tool.
            key: of the turn, the same when it is carried out again.
            call: the id that :meth:`feedback` is to know the answer by.
        """
        with logged("a turn was not remembered"):
            self.remember(namespace, asked, speaker="user", session=session, key=f"{key}:user")
            if not said.strip():
                return None
            about: dict[str, Any] = {"speaker": "assistant", "session": session, "source_id": call}
            with contextlib.suppress(
                IdempotencyConflict
            ):  # carried out again, it is the same answer under another id
                self.remember(namespace, said, key=f"{key}:{digest(said)}", **about)
            return self.answered(namespace, asked, said, reading, call=call)
        return None

    def feedback(
        self, call: str, *, namespace: str | None = None, **told: Unpack[Told]
    ) -> FeedbackReport:
        """Tell how the answer of a call did, by the id that the provider or the framework gave it.

        Args:
            namespace: whose answer it is. Give it where the id comes from outside, such as a
                browser, and where the answer may be of another process or of one before: without it
                only this object's are known.
            told: as of ``SlotMemory.feedback``.

        Raises:
            InvalidInput: for a call that is not known, or not in this namespace, or in several
                where none is given; what ``SlotMemory.feedback`` raises.
        """
        known = self._answers.get(call, {})
        if namespace is None and len(known) > 1:
            raise InvalidInput("namespace", None, "given: calls of several have this id")
        whose = next(iter(known), None) if namespace is None else namespace
        memory = self.known(whose)
        answer = known.get(whose or "") or (
            answer_of_call(memory, call) if memory is not None else None
        )
        if memory is None or answer is None:
            raise InvalidInput("call", call, "the id of a call whose answer was remembered")
        return memory.feedback(answer, **told)

    def forget(self, namespace: str, evidence_id: str) -> tuple[str, ...]:
        """Erase an item for good, with the answers of the assistant that tell of it; gives the ids
        of all of them.

        An answer does that was given to it or from a reading of it, and holds words of it that the
        question does not; so does one that was given from such an answer. The item itself goes
        last: while it is there, a call that failed half-way can be made again.

        Raises:
            NotFound: for an id that no item has.
        """
        memory = self.known(namespace)
        items = memory.evidence() if memory is not None else ()
        item = next((item for item in items if item.id == evidence_id), None)
        if memory is None or item is None:
            raise NotFound("evidence", evidence_id)
        gone: list[str] = []
        for id in [
            *echoes(memory, item),
            evidence_id,
        ]:  # one may have gone with another, as corrections do
            gone += memory.forget(id).evidence if id not in gone else ()
        return tuple(sorted(gone, key=number_of))

    def __getstate__(self) -> dict[str, Any]:
        kept = super().__getstate__()
        return {
            **kept,
            "about": {**kept["about"], "limit": self.limit},
            "answers": dict(self._answers),
        }

    def __setstate__(self, kept: dict[str, Any]) -> None:
        super().__setstate__(kept)
        for call, answers in kept["answers"].items():
            self._answers[call] = dict(answers)


@contextlib.contextmanager
def logged(what: str) -> Iterator[None]:
    """Log a memory that fails, where that must not cost a model's answer.

    It is named by its kind, and bad input by its field: in the text of an error somebody's words
    may stand.
    """
    try:
        yield
    except DeMemError as error:
        field = f" ({error.field})" if isinstance(error, InvalidInput) else ""
        LOG.warning("%s: %s%s", what, type(error).__name__, field)


def digest(*parts: object) -> str:
    """Give a key, the same for the same parts: for events that come without an id of their own."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:32]
