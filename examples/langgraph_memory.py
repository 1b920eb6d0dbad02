"""A LangGraph graph whose store is searched with a memory: python examples/langgraph_memory.py

Offline: the node below stands for one that calls a model. Needs: pip install 'demem-agent[langgraph]'
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

from langgraph.graph import StateGraph
from langgraph.runtime import Runtime
from langgraph.store.memory import InMemoryStore

from demem_adapters.langgraph import wrap
from demem_adapters.shared import Memories


@dataclass
class Who:
    """The context of a run: whose conversation it is."""

    user: str


class State(TypedDict, total=False):
    asked: str
    found: list[str]


def recall(state: State, runtime: Runtime[Who]) -> State:
    assert runtime.store is not None
    items = runtime.store.search(("facts", runtime.context.user), query=state["asked"], limit=1)
    return {"found": [item.value["text"] for item in items]}


if __name__ == "__main__":
    store = wrap(InMemoryStore(), Memories())  # any store, such as one in Postgres; Memories("sqlite:///bot.db")
    facts = {
        "ana": ["The boiler has a brass valve.", "The bike is in the cellar.", "Soup is on Mondays."],
        "ben": ["The bike was sold in May."],
    }
    for user, texts in facts.items():
        for number, text in enumerate(texts):
            store.put(("facts", user), f"f{number}", {"text": text})
    graph = StateGraph(State, context_schema=Who).add_node(recall)
    graph.set_entry_point("recall").set_finish_point("recall")
    app = graph.compile(store=store)
    for user in facts:
        print(f"{user}: {app.invoke({'asked': 'Where is the bike?'}, context=Who(user))['found']}")
    store.put(("facts", "ana"), "f1", {"text": "The bike is in the garden."})
    print(f"ana, later: {app.invoke({'asked': 'Where is the bike?'}, context=Who('ana'))['found']}")
    print(f"by key: {store.get(('facts', 'ana'), 'f1').value}")
