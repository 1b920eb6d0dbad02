"""An agent of a small prompt and a whole session: python examples/openai_agents_memory.py

The model is shown the new message and what is remembered; the session loses nothing. The model is
the SDK's scripted one; its answers say what it was shown of what was remembered. Needs ``pip
install 'demem-agent[openai-agents]'``.
"""

from __future__ import annotations

import asyncio

from agents import Agent, Runner, SQLiteSession, set_tracing_disabled
from agents.testing import ModelCall, ModelStep, ScriptedModel, assistant_message

from demem_adapters.common import DECLARED, Memories
from demem_adapters.openai_agents import MemorySession

TURNS = (
    "The boiler in the kitchen has a brass valve, fitted in 2019.",
    "The gate in the garden squeaks whenever the wind comes from the east.",
    "My sister Ines visits in October and brings her two dogs along.",
    "Which valve is in the kitchen's boiler?",
)


def say_what_is_recalled(call: ModelCall) -> ModelStep:
    """Answer with what the model was shown of what was remembered."""
    contents = [str(item.get("content")) for item in call.input]
    shown = [content for content in contents if content.startswith(DECLARED)]
    lines = "\n".join(shown).splitlines()
    recalled = [line for line in lines if line.startswith("- user")]
    number = sum(item.get("role") == "user" for item in call.input) - len(shown)
    text = f"I see {number} message(s) of yours and recall {recalled}."
    return ModelStep([assistant_message(text, item_id=f"msg-{text}")])


async def main() -> None:
    """Run the turns in one session, and correct the last answer."""
    set_tracing_disabled(True)  # tracing would send to OpenAI
    steps = [ModelStep.respond(say_what_is_recalled) for _ in TURNS]
    agent = Agent("Helper", model=ScriptedModel(steps))
    session = MemorySession(SQLiteSession("monday"), Memories(limit=180), namespace="ana", turns=0)
    for turn in TURNS:
        result = await Runner.run(agent, turn, session=session, run_config=session.run_config())
        print(f"user: {turn}\nbot:  {result.final_output}")
    print(f"\nThe session holds all {len(await session.get_items())} items.")
    report = await session.feedback(correction="It is a steel valve since last week.")
    print(f"The correction is remembered as {report.remembered}.")


if __name__ == "__main__":
    asyncio.run(main())
