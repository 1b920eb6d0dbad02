"""Open WebUI's filter, called as it calls it: python examples/open_webui_memory.py

The function that stands for a model answers with the line of its prompt that is nearest to the
question. Nothing of Open WebUI is needed.
"""

from __future__ import annotations

import asyncio
import types
from pathlib import Path
from typing import Any

TURNS = (
    ("ana", "The boiler in the kitchen has a brass valve, fitted in 2019."),
    ("ana", "My sister Ines visits in October and brings her two dogs along."),
    ("ana", "Which valve is in the kitchen's boiler?"),
    ("ben", "Which valve is in the kitchen's boiler?"),
)


def pasted() -> Any:
    """Load the file that is pasted into Open WebUI as it does, and return the filter."""
    module = types.ModuleType("function_demem")
    source = Path(__file__).with_name("open_webui_filter.py").read_text(encoding="utf-8")
    exec(compile(source, "demem", "exec", dont_inherit=True), module.__dict__)
    return module.Filter()


def model(messages: list[dict[str, Any]]) -> str:
    """Answer a question from what stands before it, and note everything else."""
    *before, asked = messages
    if not asked["content"].endswith("?"):
        return "Noted."
    lines = "\n".join(one["content"] for one in before if one["role"] == "user").splitlines()
    told = [line.split(": ", 1)[1] for line in lines if line.startswith("- user: The boiler")]
    return f"You told me: {told[0]}" if told else "I know nothing of it."


async def turn(filter: Any, chat: str, user: str, text: str) -> str:
    """Run one turn of a new chat as Open WebUI does."""
    who, about = {"id": user}, {"chat_id": chat, "message_id": f"{chat}-answer"}
    asked = {"role": "user", "content": text}
    body = await filter.inlet({"model": "m", "messages": [asked]}, who, about)
    reply = model(body["messages"])
    saved = [{**asked, "id": f"{chat}-question"}, {"role": "assistant", "content": reply}]
    await filter.outlet({"messages": saved, "chat_id": chat, "id": f"{chat}-answer"}, who, about)
    return reply


async def main() -> None:
    """Run the turns, each in a chat of its own."""
    filter = pasted()
    filter.valves = filter.Valves(memory="memory://")  # a file in Open WebUI's folder unless set
    for number, (user, text) in enumerate(TURNS):
        print(f"{user}: {text}\nbot: {await turn(filter, f'chat-{number}', user, text)}")


if __name__ == "__main__":
    asyncio.run(main())
