"""Have a model choose the slot that a question goes to: python examples/model_routing.py

The score of the memory needs no model and knows all the evidence; a model sees the names and the
summaries of the slots alone. A provider on this machine stands in for a real one.
"""

from __future__ import annotations

from demem_agent import SlotMemory
from demem_agent.llms import ModelRouter, OpenAIChat, Retry
from demem_agent.testing import BagEncoder, Provider, obedient

TOLD = (
    "The boiler has a brass valve and makes 21 degrees.",
    "The violin has a broken bow, says Ana.",
    "The concert in Porto costs 14 euros.",
)


def main() -> None:
    with Provider(obedient) as provider:
        model = OpenAIChat("small", base_url=provider.url, api_key="none", retry=Retry(attempts=1))
        memory = SlotMemory(
            slots=3,
            initial_slots=3,
            near=1.0,
            slot_limit=200,
            encoder=BagEncoder(),
            router=ModelRouter(model),
        )
        for text in TOLD:
            memory.ingest(text)
        query = "What does the concert cost?"
        print(f"the model chose slot {memory.route(query).slot}")
        print(memory.read(query, mode="strict").text)
    # The provider is gone: the score chooses, and the route says why.
    route = memory.route("Which bow is broken?")
    print(f"the score chose slot {route.slot}: {route.unrouted}")


if __name__ == "__main__":
    main()
