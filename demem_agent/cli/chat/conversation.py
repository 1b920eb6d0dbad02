"""What of a conversation goes before a model, laid out so that most of it is the same from turn to
turn.

Providers cache prompts by their beginning. So what changes least comes first: the instructions, an
overview of the slots, the turns so far; and the reading for the last message, which is another
every time, comes last. That grows only at its end, until there are too many turns: then the older
ones go together and the overview is made anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from demem_agent.llms.answerer import answering_prompt
from demem_agent.llms.model import Message, Prompt, shared_prefix
from demem_agent.llms.prompts import prompt_text
from demem_agent.reading.packing import wrap
from demem_agent.text.units import Measure
from demem_agent.types import Question, Slot

__all__ = ["Conversation", "Prefix", "overview"]

#: Exchanges that go before the model: when there are ``MOST``, all but the last ``KEPT`` are
#: dropped at once. What is dropped is still remembered, and comes back in readings.
KEPT, MOST = 8, 24


class Conversation:
    """The last turns, and an overview of memory as it was when they began."""

    def __init__(self) -> None:
        self.exchanges: list[tuple[str, str]] = []
        self.overview: str | None = None
        self.prefix = Prefix()

    def prompt(self, question: Question) -> Prompt:
        """Put what was said last, and its reading, after what came before."""
        said = [text for text, _ in self.exchanges]
        asked = [*said, answering_prompt(question).variable.lstrip("\n")]
        asked[0] = f"{self.overview}\n\n{asked[0]}" if self.overview else asked[0]
        replies = (Message("assistant", reply) for _, reply in self.exchanges)
        more = [
            message for pair in zip(replies, _users(asked[1:]), strict=True) for message in pair
        ]
        return Prompt(prompt_text("chat"), asked[0], tuple(more))

    def add(self, said: str, replied: str) -> None:
        """Take in a turn of each."""
        self.exchanges.append((said, replied))
        if len(self.exchanges) >= MOST:
            del self.exchanges[:-KEPT]
            self.overview = None

    def clear(self) -> None:
        """Hold no text any more: some of it was forgotten, and what came after may have drawn on
        it.
        """
        self.exchanges.clear()
        self.overview = None
        self.prefix.latest = None


class Prefix:
    """How much of the prompts so far began as the prompt before them did: what a provider's cache
    can reuse.
    """

    def __init__(self) -> None:
        self.latest: Prompt | None = None
        self.last = 0.0
        self._shared = 0.0
        self._all = 0

    @property
    def share(self) -> float:
        """Give the share of all bytes, in [0, 1]; of the first prompt nothing counts as shared."""
        return self._shared / max(self._all, 1)

    def note(self, prompt: Prompt) -> None:
        """Count a prompt that is sent."""
        self.last = shared_prefix(self.latest, prompt) if self.latest else 0.0
        size = len(prompt.text.encode("utf-8", "surrogatepass"))
        self._shared += self.last * size
        self._all += size
        self.latest = prompt


def overview(slots: Sequence[Slot], limit: int, measure: Measure) -> str:
    """Give the last lines of each slot's summary as one block of at most ``limit``; "" if none
    fits.

    Slots share the room evenly; what one does not need is left to the others.
    """
    kept: dict[int, str] = {}
    left = limit - measure(wrap("")) - 1
    for after, slot in enumerate(sorted(slots, key=lambda slot: (slot.size, slot.number))):
        part = _last_lines(slot, left // (len(slots) - after), measure)
        left -= measure(part + "\n") if part else 0
        kept[slot.number] = part
    parts = [kept[number] for number in sorted(kept) if kept[number]]
    while parts and measure(wrap("\n".join(parts))) > limit:
        parts.pop()  # a tokenizer need not be additive
    return wrap("\n".join(parts)) if parts else ""


def _last_lines(slot: Slot, limit: int, measure: Measure) -> str:
    name = " ".join((slot.name or "").split())
    head = _harmless(f"# part {slot.number}" + (f", {name}" if name else ""))
    room = limit - measure(head + "\n")
    lines: list[str] = []
    for line in reversed([*_lines(slot.summary)]):
        room -= measure(line + "\n")
        if room < 0:
            break
        lines.insert(0, line)
    return "\n".join([head, *lines]) if lines else ""


def _lines(summary: str) -> Iterator[str]:
    """Give the entries of a summary, each with the lines that go on from it."""
    entry = ""
    for line in _harmless(summary).splitlines():
        if line.startswith("- ") and entry:
            yield entry
            entry = ""
        entry = f"{entry}\n{line}" if entry else line
    if entry:
        yield entry


def _harmless(text: str) -> str:
    return text.replace(
        "demem:memory", "demem-memory"
    )  # no name or summary may end the block that it stands in


def _users(texts: Sequence[str]) -> list[Message]:
    return [Message("user", text) for text in texts]
