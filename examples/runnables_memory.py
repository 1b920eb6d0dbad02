"""A graph of one's own with memory, streamed, and two users: python examples/runnables_memory.py

A function stands for the model: it answers with what was recalled. Needs ``pip install
'demem-agent[langgraph]'``.
"""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage, BaseMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph

from demem_adapters.common import Memories
from demem_adapters.runnables import memory_nodes

TURNS = (
    ("ana", "The boiler in the kitchen has a brass valve, fitted in 2019."),
    ("ana", "My sister Ines visits in October and brings her two dogs along."),
    ("ana", "Which valve is in the kitchen's boiler?"),
    ("ben", "Which valve is in the kitchen's boiler?"),
)


def reply(messages: list[BaseMessage]) -> AIMessage:
    """Answer a question with what was recalled, as a model would that is shown it."""
    *before, asked = messages
    if not str(asked.text).endswith("?"):
        return AIMessage("Noted.")
    lines = "\n".join(str(message.text) for message in before).splitlines()
    told = [line.partition(": ")[2] for line in lines if "user: " in line]
    boiler = [line for line in told if "boiler" in line]
    return AIMessage(f"You told me: {boiler[0]}" if boiler else "I know nothing of it.")


def built(memories: Memories) -> Any:
    """Build the graph: recall, answer, remember."""
    recall, remember = memory_nodes(memories)

    def answer(state: MessagesState) -> dict[str, Any]:
        return {"messages": [reply(recall.put_before(state))]}

    graph = StateGraph(MessagesState)
    graph.add_node("recall", recall)
    graph.add_node("answer", answer)
    graph.add_node("remember", remember)
    graph.add_edge(START, "recall")
    graph.add_edge("recall", "answer")
    graph.add_edge("answer", "remember")
    graph.add_edge("remember", END)
    return graph.compile(checkpointer=InMemorySaver())


if __name__ == "__main__":
    app = built(Memories())  # Memories("sqlite:///bot.db") keeps what is remembered
    for number, (user, text) in enumerate(TURNS):
        # Each conversation is new: what is known of earlier ones is in the memory of the user.
        config = {"configurable": {"user_id": user, "thread_id": f"{user}-{number}"}}
        steps = app.stream({"messages": [("user", text)]}, config, stream_mode="updates")
        said = [step["answer"]["messages"][-1].text for step in steps if "answer" in step]
        print(f"{user}: {text}\nbot: {said[-1]}")
