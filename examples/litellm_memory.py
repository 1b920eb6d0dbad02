"""Memory for LiteLLM, offline: python examples/litellm_memory.py

The first turns go through the callback of ``acompletion``, the last one through ``wrap`` of
``completion``. The provider runs on this machine and answers with what it was shown. Needs ``pip
install 'demem-agent[litellm]'``.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from typing import Any

# Else it looks for newer prices when it is imported.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

import litellm

from demem_adapters.common import Memories
from demem_adapters.litellm import MemoryLogger, wrap
from demem_agent.testing import Provider

TURNS = (
    ("ana", "The boiler in the kitchen has a brass valve, fitted in 2019."),
    ("ana", "My sister Ines visits in October and brings her two dogs along."),
    ("ana", "Which valve is in the kitchen's boiler?"),
)


def reply(messages: Sequence[Mapping[str, Any]]) -> str:
    """Answer a question with the remembered line, and note everything else."""
    *shown, asked = [str(message["content"]) for message in messages]
    lines = "\n".join(shown).splitlines()
    said = [line for line in lines if line.startswith("- user: ")]
    told = [line for line in said if "boiler" in line]
    if not asked.endswith("?"):
        return "Noted."
    return f"You told me: {told[0].removeprefix('- user: ')}" if told else "I know nothing of it."


def whose(call: Mapping[str, Any]) -> str:
    """Return whose memory a call has."""
    return str(call["user"])


def show(user: str, text: str, response: Any) -> None:
    """Print a turn."""
    print(f"{user}: {text}\nbot: {response.choices[0].message.content}")


async def converse(memories: Memories, small: Mapping[str, Any]) -> None:
    """Run the turns through the callback."""
    litellm.callbacks = [MemoryLogger(memories, namespace=whose)]
    for user, text in TURNS:
        messages = [{"role": "user", "content": text}]
        response = await litellm.acompletion(**small, messages=messages, user=user)
        show(user, text, response)
    close: Any = litellm.close_litellm_async_clients  # type: ignore[attr-defined]
    await close()


if __name__ == "__main__":
    memories = Memories(limit=400)
    with Provider(reply) as provider:
        small = {"model": "openai/small", "api_base": provider.url, "api_key": "unused"}
        asyncio.run(converse(memories, small))
        litellm.callbacks = []
        completion = wrap(litellm.completion, memories, namespace=whose)
        text = TURNS[-1][1]
        messages = [{"role": "user", "content": text}]
        show("ben", text, completion(**small, messages=messages, user="ben"))
