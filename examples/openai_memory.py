"""Memory for the OpenAI client, offline: python examples/openai_memory.py

The provider runs on this machine and answers with what it was shown; leave it out with a real one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from openai import OpenAI

from demem_adapters.common import Memories
from demem_adapters.openai import wrap
from demem_agent.testing import Provider

TURNS = (
    ("ana", "The boiler in the kitchen has a brass valve."),
    ("ana", "Which valve is in the kitchen's boiler?"),
    ("ben", "Which valve is in the kitchen's boiler?"),
)


def reply(messages: Sequence[Mapping[str, Any]]) -> str:
    """Answer a question with the remembered line, and note everything else."""
    *shown, asked = [str(message["content"]) for message in messages]
    told = [line for line in "\n".join(shown).splitlines() if line.startswith("- user: ")]
    if not asked.endswith("?"):
        return "Noted."
    return f"You told me: {told[0].removeprefix('- user: ')}" if told else "I know nothing of it."


if __name__ == "__main__":
    memories = Memories(limit=400)
    with Provider(reply) as provider:
        plain = OpenAI(base_url=provider.url, api_key="unused")
        client = wrap(plain, memories, namespace=lambda call: call.get("user"))
        for user, text in TURNS:
            messages: Any = [{"role": "user", "content": text}]
            response = client.chat.completions.create(model="small", messages=messages, user=user)
            print(f"{user}: {text}\nbot: {response.choices[0].message.content}")
