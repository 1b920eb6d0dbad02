"""A crew with memory and two users: python examples/crewai_memory.py

The model is a fake one, made to answer with the remembered line that is nearest to the question.
Each turn is a crew of its own: what is known later comes from memory. Needs ``pip install
'demem-agent[crewai]'``.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import Any

# CrewAI writes to the home folder and sends telemetry: here it does neither. Said before it is
# imported.
os.environ["HOME"] = tempfile.mkdtemp()
os.environ["CREWAI_STORAGE_DIR"] = os.environ["HOME"]
os.environ["CREWAI_DISABLE_TELEMETRY"] = "true"
os.environ["CREWAI_TRACING_ENABLED"] = "false"
os.environ["OTEL_SDK_DISABLED"] = "true"

from crewai import Agent, BaseLLM, Crew, CrewOutput, Task

from demem_adapters.common import Memories
from demem_adapters.contrib.crewai import LongTermMemory

TURNS = (
    ("ana", "The boiler in the kitchen has a brass valve, fitted in 2019."),
    ("ana", "My sister Ines visits in October and brings her two dogs along."),
    ("ben", "I am new here."),
    ("ana", "Which valve is in the kitchen's boiler?"),
    ("ben", "Which valve is in the kitchen's boiler?"),
)


class Fake(BaseLLM):
    """A model that answers with what was recalled."""

    def call(self, messages: Any, *_: Any, **__: Any) -> str:
        """Answer a question with the remembered line, and note everything else."""
        prompt = messages[-1]["content"]
        lines = prompt.splitlines()
        said = [line for line in lines if line.startswith("- (score=")]
        told = [line for line in said if "boiler" in line]
        known = f"You told me: {told[0].partition(') ')[2]}" if told else "I know nothing of it."
        answer = known if "?" in lines[1] else "Noted."
        return f"Thought: done\nFinal Answer: {answer}"


def crew_of(memory: LongTermMemory, turn: str) -> Crew:
    """Make a crew of one for a turn."""
    model = Fake(model="fake")
    helper = Agent(role="Helper", goal="Help", backstory="You help about the house.", llm=model)
    task = Task(description=turn, expected_output="An answer", agent=helper)
    return Crew(agents=[helper], tasks=[task], memory=memory)


if __name__ == "__main__":
    memories = Memories(limit=400)
    for name, turn in TURNS:
        memory = LongTermMemory(memories=memories, root_scope=f"/user/{name}")
        result = crew_of(memory, turn).kickoff()
        assert isinstance(result, CrewOutput)  # it was not asked to stream
        print(f"{name}: {turn}\nbot: {result.raw}")
    print("\nHelpful?", memory.feedback(result, thumbs=False).rewards)
    for name in ("ana", "ben"):
        memory = LongTermMemory(memories=memories, root_scope=f"/user/{name}")
        print(name, [match.record.content for match in memory.recall("kitchen's boiler")])
    shutil.rmtree(os.environ["HOME"])
