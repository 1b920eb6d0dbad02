"""One chat: every line is remembered, answered if it can be, and may be rated; nothing here reads
or prints.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Unpack

from demem_agent import Answer, FeedbackReport, SlotMemory
from demem_agent.cli.chat.conversation import overview
from demem_agent.cli.chat.quoting import asks
from demem_agent.cli.chat.talker import Talker
from demem_agent.cli.faults import UsageError
from demem_agent.feedback.channels import Told
from demem_agent.text.units import measure
from demem_agent.types import Receipt, number_of

__all__ = ["ASSISTANT", "SOURCE", "Said", "Session"]

#: ``Evidence.source`` of what a chat remembers.
SOURCE = "chat"
USER, ASSISTANT = "user", "assistant"
#: How far the assistant's own turns are trusted: a model may have been wrong, and must not convince
#: itself.
TRUST = 0.5


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
        self._now = now
        self._session = f"{SOURCE} {now():%Y-%m-%d %H:%M}"
        self._last: Answer | None = None

    @property
    def last(self) -> Answer:
        """Give the last answer.

        Raises:
            UsageError: if there is none, or it was forgotten.
        """
        if self._last is None:
            raise UsageError("nothing was answered yet")
        return self._last

    @property
    def overview_size(self) -> int:
        text = self.talker.conversation.overview if self.talker else None
        return measure(self.memory.settings.unit)(text) if text else 0

    def say(self, line: str) -> Said:
        """Answer a line, and remember it whatever comes of that; the model's answer is remembered
        once it is whole.

        The line itself is remembered after it was answered, so that its reading holds what was
        known before.
        """
        at = self._now()
        self.turns += 1
        try:
            answer = self._answer(line, at)
        finally:
            kept = self.memory.ingest(
                line, speaker=USER, at=at, session=self._session, source=SOURCE
            )
        trouble = self.talker.trouble if self.talker else None
        reply_id = None
        if self.talker and answer:
            self.talker.conversation.add(line, answer.text or "(no answer)")
            reply_id = None if trouble else self._remember_reply(answer, at)
        return Said(line, kept.evidence_id, kept.slot, answer, reply_id, trouble)

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
        spoken = [
            item.id
            for item in self.memory.evidence()
            if (item.source, item.speaker) == (SOURCE, ASSISTANT)
            and item.source_id in receipt.contexts
        ]
        receipt = _together([receipt, *map(self.memory.forget, spoken)])
        if self.talker:
            self.talker.conversation.clear()
        self._last = None
        return receipt, tuple(spoken)

    def _answer(self, line: str, at: datetime) -> Answer | None:
        if self.talker is None and not asks(line):
            return None
        if self.talker:
            if self.talker.conversation.overview is None:
                unit = self.memory.settings.unit
                self.talker.conversation.overview = overview(
                    self.memory.slots, self.room, measure(unit)
                )
            self.talker.expect(line)
        self._last = self.memory.answer(line, at=at)
        return self._last

    def _remember_reply(self, answer: Answer, at: datetime) -> str | None:
        """Remember what the assistant said, by the id of the answer: so it is found again when that
        is blanked.
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


def _together(receipts: Sequence[Receipt]) -> Receipt:
    evidence, contexts, certificates = (
        tuple(sorted({id for receipt in receipts for id in getattr(receipt, name)}, key=number_of))
        for name in ("evidence", "contexts", "certificates")
    )
    slots = tuple(sorted({slot for receipt in receipts for slot in receipt.slots}))
    return Receipt(evidence, slots, contexts, certificates)
