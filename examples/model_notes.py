"""Have a model take notes of what is said: python examples/model_notes.py

Ingest needs no notes and waits for none: what was said is remembered as it was said. Notes are for
who wants them, beside it, and go where it goes. A provider on this machine stands in for a real
one.
"""

from __future__ import annotations

from demem_agent import SlotMemory
from demem_agent.llms import ModelNoteTaker, OpenAIChat
from demem_agent.testing import Provider, obedient


def main() -> None:
    with Provider(obedient) as provider:
        model = OpenAIChat("small-model", base_url=provider.url, api_key="unused")
        memory = SlotMemory(note_taker=ModelNoteTaker(model))
        told = memory.ingest("I moved to Porto. How are you?", speaker="Ana", at="2025-03-05")
        for taken in memory.take_notes():
            print(f"{len(taken.notes)} notes of {len(taken.of)} items")
    for item in memory.evidence():
        made_from = f" (from {', '.join(item.made_from)})" if item.made_from else ""
        print(f"{item.id} {item.speaker}: {item.text}{made_from}")
    memory.forget(told.evidence_id)
    print(f"left, once it is forgotten: {len(memory)}")


if __name__ == "__main__":
    main()
