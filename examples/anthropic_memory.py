"""Memory for the Anthropic client, offline: python examples/anthropic_memory.py

The provider runs on this machine and answers with what it was shown; leave it out with a real one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from anthropic import Anthropic

from demem_adapters.anthropic import wrap
from demem_adapters.common import Memories
from demem_agent.testing import Provider

TURNS = (
    ("ana", "The boiler in the kitchen has a brass valve."),
    ("ana", "Which valve is in the kitchen's boiler?"),
    ("ben", "Which valve is in the kitchen's boiler?"),
)


def reply(messages: Sequence[Mapping[str, Any]]) -> str:
    """Answer a question with the remembered line, and note everything else."""
    lines = str(messages[-1]["content"]).splitlines()
    told = [line for line in lines if line.startswith("- user: ")]
    if not lines[-1].endswith("?"):
        return "Noted."
    return f"You told me: {told[0].removeprefix('- user: ')}" if told else "I know nothing of it."


if __name__ == "__main__":
    memories = Memories(limit=400)
    with Provider(reply) as provider:
        plain = Anthropic(base_url=provider.root, api_key="unused")
        client = wrap(plain, memories, namespace=lambda call: call["metadata"]["user_id"])
        for user, text in TURNS:
            with client.messages.stream(
                model="small",
                max_tokens=500,
                messages=[{"role": "user", "content": text}],
                metadata={"user_id": user},
            ) as stream:
                print(f"{user}: {text}\nbot: {''.join(stream.text_stream)}")
