"""A graph whose store is searched with a memory, and two users: python examples/langgraph_memory.py

The node stands for one that calls a model: it answers with the item of the store that is nearest to
the question, and puts what is no question. Needs ``pip install 'demem-agent[langgraph]'``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

from langgraph.graph import StateGraph
from langgraph.runtime import Runtime
from langgraph.store.memory import InMemoryStore

from demem_adapters.common import Memories
from demem_adapters.langgraph import wrap

TURNS = (
    ("ana", "The boiler in the kitchen has a brass valve, fitted in 2019."),
    ("ana", "My sister Ines visits in October and brings her two dogs along."),
    ("ana", "Which valve is in the kitchen's boiler?"),
    ("ben", "Which valve is in the kitchen's boiler?"),
)


@dataclass
class Who:
    """The context of a run: whose conversation it is."""

    user: str


class State(TypedDict, total=False):
    """What was asked, and what was said to it."""

    asked: str
    said: str


def answer(state: State, runtime: Runtime[Who]) -> State:
    """Answer a question with the nearest item of the store, and put everything else into it."""
    assert runtime.store is not None
    facts = ("facts", runtime.context.user)
    text = state["asked"]
    if not text.endswith("?"):
        runtime.store.put(facts, text.split()[1], {"text": text})
        return {"said": "Noted."}
    found = runtime.store.search(facts, query=text, limit=1)
    return {"said": f"You told me: {found[0].value['text']}" if found else "I know nothing of it."}


if __name__ == "__main__":
    # Any store, such as one in Postgres, and Memories("sqlite:///bot.db").
    store = wrap(InMemoryStore(), Memories())
    graph = StateGraph(State, context_schema=Who).add_node(answer)
    app = graph.set_entry_point("answer").set_finish_point("answer").compile(store=store)
    for user, text in TURNS:
        done = app.invoke({"asked": text}, context=Who(user))
        print(f"{user}: {text}\nbot: {done['said']}")
    later = {"text": "The boiler in the kitchen has a steel valve now."}
    store.put(("facts", "ana"), "boiler", later)
    done = app.invoke({"asked": "Which valve has the boiler?"}, context=Who("ana"))
    print(f"later: {done['said']}")
    held = store.get(("facts", "ana"), "boiler")
    print(f"by key: {held.value if held else None}")
