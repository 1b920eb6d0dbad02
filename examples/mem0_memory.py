"""A chat written for mem0, with its import changed, and two users: python examples/mem0_memory.py

The function that stands for a model answers with the memory that is nearest to the question.
Nothing of mem0 is needed.
"""

from __future__ import annotations

from demem_adapters.mem0 import Memory  # instead of: from mem0 import Memory

TURNS = (
    ("ana", "The boiler in the kitchen has a brass valve, fitted in 2019."),
    ("ana", "My sister Ines visits in October and brings her two dogs along."),
    ("ana", "Which valve is in the kitchen's boiler?"),
    ("ben", "Which valve is in the kitchen's boiler?"),
)


def model(asked: str, memories: list[str]) -> str:
    """Answer a question from what was found, and note everything else."""
    if not asked.endswith("?"):
        return "Noted."
    told = [text for text in memories if text != "Noted."]
    return f"You told me: {told[0]}" if told else "I know nothing of it."


def chat(memory: Memory, message: str, user_id: str) -> str:
    """Search, answer and add, as mem0's own example does."""
    found = memory.search(query=message, filters={"user_id": user_id}, top_k=3)
    reply = model(message, [entry["memory"] for entry in found["results"]])
    messages = [
        {"role": "user", "content": message},
        {"role": "assistant", "content": reply},
    ]
    memory.add(messages, user_id=user_id)
    return reply


if __name__ == "__main__":
    with Memory("memory://") as memory:  # Memory("sqlite:///bot.db") keeps what is remembered
        for user, text in TURNS:
            print(f"{user}: {text}\nbot: {chat(memory, text, user)}")
        first = memory.get_all(filters={"user_id": "ana"})["results"][0]
        memory.update(first["id"], "The boiler in the kitchen has a steel valve now.")
        for row in memory.history(first["id"]):
            print(f"{row['event']}: {row['new_memory']}")
