"""Memory for Google's client, offline: python examples/google_genai_memory.py

The provider runs on this machine and answers with what it was shown; leave it out with a real one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from google.genai import Client, types

from demem_adapters.common import Memories
from demem_adapters.google_genai import wrap
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
        plain = Client(api_key="unused", http_options=types.HttpOptions(base_url=provider.root))
        for user, text in TURNS:
            # A chat of each turn's own: what ana said in one is known in the next, and not to ben.
            chat = wrap(plain, memories, namespace=user).chats.create(model="small")
            print(f"{user}: {text}\nbot: {chat.send_message(text).text}")
