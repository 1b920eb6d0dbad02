"""An agent with memory and two users: python examples/google_adk_memory.py

The model is a fake one, made to answer with the remembered line that is nearest to the question.
Each turn is a session of its own: what is known later comes from memory. Needs ``pip install
'demem-agent[google-adk]'``.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
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
    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        *recalled, asked = [
            part.text or "" for content in llm_request.contents for part in content.parts or []
        ]
        recalled.append(
            str(llm_request.config.system_instruction)
        )  # where older releases put what was preloaded
        told = [
            line
            for line in "\n".join(recalled).splitlines()
            if line.startswith("user: ") and "boiler" in line
        ]
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
    tools = [PreloadMemoryTool()]
    agent = LlmAgent(
        name="bot", model=Fake(model="fake"), tools=tools, after_agent_callback=remember_session
    )
    memories = Memories(limit=400)
    memory, sessions = MemoryService(memories), InMemorySessionService()
    runner = Runner(app_name="house", agent=agent, session_service=sessions, memory_service=memory)
    for name, turn in TURNS:
        session = await sessions.create_session(app_name="house", user_id=name)
        async for event in runner.run_async(
            user_id=name, session_id=session.id, new_message=types.UserContent(turn)
        ):
            if event.is_final_response() and event.content and event.content.parts:
                print(f"{name}: {turn}\nbot: {event.content.parts[0].text}")
    for name in ("ana", "ben"):
        found = await memory.search_memory(app_name="house", user_id=name, query="kitchen's boiler")
        print(
            name, [entry.content.parts[0].text for entry in found.memories if entry.content.parts]
        )


if __name__ == "__main__":
    asyncio.run(main())
