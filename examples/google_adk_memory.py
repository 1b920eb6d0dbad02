"""An agent with memory and two users: python examples/google_adk_memory.py

The model is a fake one, made to answer with the remembered line that is nearest to the question.
Each turn is a session of its own: what is known later comes from memory. Needs ``pip install
'demem-agent[google-adk]'``.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from google.adk.agents import LlmAgent
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools.preload_memory_tool import PreloadMemoryTool
from google.genai import types

from demem_adapters.common import Memories
from demem_adapters.google_adk import MemoryService, remember_session

TURNS = (
    ("ana", "The boiler in the kitchen has a brass valve, fitted in 2019."),
    ("ana", "My sister Ines visits in October and brings her two dogs along."),
    ("ben", "I am new here."),
    ("ana", "Which valve is in the kitchen's boiler?"),
    ("ben", "Which valve is in the kitchen's boiler?"),
)


class Fake(BaseLlm):
    """A model that answers with what was recalled."""

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Answer a question with the remembered line, and note everything else."""
        texts: list[str] = []
        for content in llm_request.contents:
            texts += [part.text or "" for part in content.parts or []]
        *recalled, asked = texts
        # Where older releases put what was preloaded.
        recalled.append(str(llm_request.config.system_instruction))
        lines = "\n".join(recalled).splitlines()
        users = [line for line in lines if line.startswith("user: ")]
        told = [line for line in users if "boiler" in line]
        known = f"You told me: {told[0][6:]}" if told else "I know nothing of it."
        said = known if asked.endswith("?") else "Noted."
        usage = types.GenerateContentResponseUsageMetadata(
            prompt_token_count=1, candidates_token_count=1
        )
        yield LlmResponse(
            content=types.ModelContent(said),
            finish_reason=types.FinishReason.STOP,
            usage_metadata=usage,
        )


async def main() -> None:
    """Run the turns, each in a session of its own, and show what is remembered."""
    agent = LlmAgent(
        name="bot",
        model=Fake(model="fake"),
        tools=[PreloadMemoryTool()],
        after_agent_callback=remember_session,
    )
    memory = MemoryService(Memories(limit=400))
    sessions = InMemorySessionService()
    runner = Runner(app_name="house", agent=agent, session_service=sessions, memory_service=memory)
    for name, turn in TURNS:
        session = await sessions.create_session(app_name="house", user_id=name)
        said = types.UserContent(turn)
        events = runner.run_async(user_id=name, session_id=session.id, new_message=said)
        async for event in events:
            if event.is_final_response() and event.content and event.content.parts:
                print(f"{name}: {turn}\nbot: {event.content.parts[0].text}")
    for name in ("ana", "ben"):
        found = await memory.search_memory(app_name="house", user_id=name, query="kitchen's boiler")
        contents = [entry.content for entry in found.memories]
        print(name, [content.parts[0].text for content in contents if content.parts])


if __name__ == "__main__":
    asyncio.run(main())
