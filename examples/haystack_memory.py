"""A Haystack agent with memory and two users: python examples/haystack_memory.py

A pipeline reads from the same memory. The model is Haystack's own fake, made to answer with the
remembered line that is nearest to the question. Each run is a conversation of its own: what is
known later comes from memory. Needs ``pip install 'demem-agent[haystack]'``.
"""

from __future__ import annotations

import os

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"  # Haystack reads it when it is imported

from haystack import Pipeline
from haystack.components.agents import Agent
from haystack.components.generators.chat import MockChatGenerator
from haystack.dataclasses import ChatMessage

from demem_adapters.haystack import MemoryRetriever, SharedMemories, memory_hooks

TURNS = (
    ("ana", "The boiler in the kitchen has a brass valve, fitted in 2019."),
    ("ana", "My sister Ines visits in October and brings her two dogs along."),
    ("ben", "I am new here."),
    ("ana", "Which valve is in the kitchen's boiler?"),
    ("ben", "Which valve is in the kitchen's boiler?"),
)


def answer(messages: list[ChatMessage]) -> str:
    """Answer a question with the remembered line, and note everything else."""
    *recalled, asked = [message.text or "" for message in messages]
    lines = "".join(recalled).splitlines()
    said = [line for line in lines if line.startswith("- user: ")]
    told = [line for line in said if "boiler" in line]
    if not asked.endswith("?"):
        return "Noted."
    return f"You told me: {told[0][8:]}" if told else "I know nothing of it."


if __name__ == "__main__":
    memories = SharedMemories(limit=400)
    model = MockChatGenerator(response_fn=answer)
    agent = Agent(chat_generator=model, hooks=memory_hooks(memories))
    for name, turn in TURNS:
        result = agent.run([ChatMessage.from_user(turn)], hook_context={"namespace": name})
        print(f"{name}: {turn}\nbot: {result['last_message'].text}")
    call = result["last_message"].meta["demem_call"]
    print("\nHelpful?", memories.feedback(call, namespace=name, thumbs=False).rewards)

    pipeline = Pipeline()
    pipeline.add_component("recall", MemoryRetriever(memories))
    again = Pipeline.loads(pipeline.dumps(), allowed_modules=["demem_adapters.*"])
    query = {"query": "When was the boiler's valve fitted?", "namespace": "ana", "top_k": 2}
    for document in again.run({"recall": query})["recall"]["documents"]:
        print("from YAML:", document.content)
