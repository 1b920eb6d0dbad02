"""One chat: every line is remembered, answered if it can be, and may be rated.

Nothing here reads what is typed, or prints.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Unpack

from demem_agent import Answer, FeedbackReport, SlotMemory
from demem_agent.channels import Told
from demem_agent.cli.chat.overview import overview
from demem_agent.cli.chat.quoting import asks
from demem_agent.cli.chat.talker import Talker
from demem_agent.cli.faults import UsageError
from demem_agent.text.units import measure
from demem_agent.types import Evidence, Ingested, Receipt, number_of

__all__ = ["ASSISTANT", "SOURCE", "Said", "Session"]

#: ``Evidence.source`` of what a chat remembers.
SOURCE = "chat"
USER, ASSISTANT = "user", "assistant"
#: How far the assistant's own turns are trusted: a model may have been wrong, and must not convince
#: itself.
TRUST = 0.5
#: Turns that a question may go back to: "when was that?".
MOST_TURNS = 6


@dataclass(frozen=True, slots=True)
class Said:
    """What came of one line.

    Attributes:
        remembered: id of the evidence that the line became; None for what is nothing but a reading.
        answer: None for a statement when there is no model.
        reply_id: id of the evidence that the model's answer became.
        trouble: why the model could not be had.
    """

    line: str
    remembered: str | None
    slot: int | None
    answer: Answer | None = None
    reply_id: str | None = None
    trouble: str | None = None


class Session:
    """A conversation with a memory.

    Args:
        talker: the memory's answerer; None without a model.
        room: what the overview of the slots may measure.
        place: where the memory is kept; None in RAM.
        now: dates what is said.

    Attributes:
        asker: who talks, by the name under which it is remembered; conditions: what holds then.
    """

    def __init__(
        self,
        memory: SlotMemory,
        talker: Talker | None = None,
        room: int = 0,
        place: str | None = None,
        now: Callable[[], datetime] = datetime.now,
    ) -> None:
        self.memory = memory
        self.talker = talker
        self.room = room
        self.place = place
        self.turns = 0
        self.asker = USER
        self.conditions: tuple[str, ...] = ()
        self._now = now
        self._session = f"{SOURCE} {now():%Y-%m-%d %H:%M}"
        self._last: Answer | None = None
        self._spoken: deque[str] = deque(maxlen=MOST_TURNS)

    @property
    def last(self) -> Answer:
        """The last answer.

        Raises:
            UsageError: if there is none, or it was forgotten.
        """
        if self._last is None:
            raise UsageError("nothing was answered yet")
        return self._last

    @property
    def overview_size(self) -> int:
        """What the overview measures that goes before the model; 0 without one."""
        text = self.talker.conversation.overview if self.talker else None
        if not text:
            return 0
        return measure(self.memory.settings.unit)(text)

    def say(self, line: str) -> Said:
        """Answer a line, and remember it whatever comes of that.

        The line itself is remembered after it was answered, so that its reading holds what was
        known before. The model's answer is remembered once it is whole.
        """
        at = self._now()
        self.turns += 1
        try:
            answer = self._answer(line, at)
        finally:
            kept = self._remember_line(line, at)
            self._spoken.append(line)
        if answer and answer.text:
            self._spoken.append(answer.text)
        said = Said(line, kept.evidence_id, kept.slot, answer)
        if self.talker is None:
            return said
        trouble = self.talker.trouble
        reply_id = None
        if answer and not trouble:
            self.talker.conversation.add(line, answer.text or "(no answer)")
            reply_id = self._remember_reply(answer, at)
        return replace(said, reply_id=reply_id, trouble=trouble)

    def meet(self, asker: str) -> None:
        """Have somebody talk from here on; what another said goes before no model as theirs."""
        if asker != self.asker:
            self._spoken.clear()
            if self.talker:
                self.talker.conversation.clear()
        self.asker = asker

    def feedback(self, **told: Unpack[Told]) -> FeedbackReport:
        """Tell how the last answer did."""
        if self.talker:
            self.talker.expect(None)
        return self.memory.feedback(self.last, **told)

    def forget(self, evidence_id: str) -> tuple[Receipt, tuple[str, ...]]:
        """Erase an item, and what the assistant said after it had read it.

        Returns:
            one receipt of it all, and the ids of the assistant's turns among what was erased.
        """
        receipt = self.memory.forget(evidence_id)
        spoken = self._replies_to(receipt.contexts)
        receipts = [receipt, *map(self.memory.forget, spoken)]
        if self.talker:
            self.talker.conversation.clear()
        self._spoken.clear()
        self._last = None
        return _together(receipts), spoken

    def _answer(self, line: str, at: datetime) -> Answer | None:
        if self.talker is None and not asks(line):
            return None
        before = [*self._spoken]
        if self.talker:
            self._make_overview(self.talker)
            self.talker.expect(line, before)
        self._last = self.memory.answer(
            line,
            at=at,
            asker=self.asker,
            conditions=self.conditions,
            context=before,
            gate=self.talker is not None,  # what is quoted is quoted for questions alone
        )
        return self._last

    def _make_overview(self, talker: Talker) -> None:
        """Put an overview of the slots before the conversation, where it has none."""
        if talker.conversation.overview is None:
            size = measure(self.memory.settings.unit)
            talker.conversation.overview = overview(self.memory.slots, self.room, size)

    def _remember_line(self, line: str, at: datetime) -> Ingested:
        return self.memory.ingest(
            line, speaker=self.asker, at=at, session=self._session, source=SOURCE
        )

    def _remember_reply(self, answer: Answer, at: datetime) -> str | None:
        """Remember what the assistant said, by the id of the answer; return the item's own id.

        By the answer's id it is found again when that answer is blanked.
        """
        kept = self.memory.ingest(
            answer.text,
            speaker=ASSISTANT,
            at=at,
            session=self._session,
            source=SOURCE,
            source_id=answer.id,
            trust=TRUST,
        )
        return kept.evidence_id

    def _replies_to(self, answers: Sequence[str]) -> tuple[str, ...]:
        """Return the ids of what the assistant said as these answers."""
        spoken = filter(_is_reply, self.memory.evidence())
        return tuple(item.id for item in spoken if item.source_id in answers)


def _is_reply(item: Evidence) -> bool:
    return item.source == SOURCE and item.speaker == ASSISTANT


def _together(receipts: Sequence[Receipt]) -> Receipt:
    """Return one receipt of what several forgot; an id that several list stands there once."""
    evidence: set[str] = set()
    slots: set[int] = set()
    contexts: set[str] = set()
    certificates: set[str] = set()
    for receipt in receipts:
        evidence.update(receipt.evidence)
        slots.update(receipt.slots)
        contexts.update(receipt.contexts)
        certificates.update(receipt.certificates)
    return Receipt(
        evidence=_in_order(evidence),
        slots=tuple(sorted(slots)),
        contexts=_in_order(contexts),
        certificates=_in_order(certificates),
    )


def _in_order(ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(ids, key=number_of))
