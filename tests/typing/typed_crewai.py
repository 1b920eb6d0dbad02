"""What a strictly typed user of the crewai adapter gets; mypy reads it, and nothing runs it."""

from __future__ import annotations

from typing import assert_type

from crewai import Agent, Crew, Task
from crewai.memory.types import MemoryMatch, MemoryRecord

from demem_adapters.common import Memories
from demem_adapters.contrib.crewai import LongTermMemory


def crew(agent: Agent, task: Task, memories: Memories) -> None:
    memory = LongTermMemory(memories=memories, root_scope="/user/ana")
    Crew(agents=[agent], tasks=[task], memory=memory)
    assert_type(memory.recall("When?"), list[MemoryMatch])
    assert_type(memory.remember("In May.", "/house", ["dates"]), MemoryRecord | None)
