"""Tools whose success nothing tells beforehand: python examples/tool_choice.py

A help desk has three ways to reset a password. Which one works depends on the system behind a
department, which no ticket mentions. The memory decides, hears whether it worked, and decides
better. No model is called.
"""

from __future__ import annotations

import random

from demem_agent import SlotMemory

TOOLS = ("directory", "mail link", "on-site visit")
#: What works, hardly ever fails, and nobody has told the memory.
WORKS = {
    "sales": "directory",
    "marketing": "mail link",
    "accounting": "on-site visit",
    "purchasing": "mail link",
    "legal": "directory",
    "warehouse": "on-site visit",
}
DECISIONS = 240
WEEK = 60


def worked(department: str, tool: str, luck: random.Random) -> bool:
    """Use a tool, and see whether it worked: the right one in 19 of 20 cases."""
    return luck.random() < (0.95 if WORKS[department] == tool else 0.05)


if __name__ == "__main__":
    memory = SlotMemory(slots=3)
    luck = random.Random(1)
    right = 0
    for n in range(1, DECISIONS + 1):
        department = luck.choice(list(WORKS))
        made = memory.decide(f"password reset for {department}", TOOLS)
        memory.feedback(made, outcome=worked(department, made.action, luck))
        right += made.action == WORKS[department]
        if n % WEEK == 0:
            print(f"week {n // WEEK}: the right tool in {right} of {WEEK}")
            right = 0
    print()
    for department in WORKS:
        print(f"{department}: {memory.advice(f'password reset for {department}')}")
