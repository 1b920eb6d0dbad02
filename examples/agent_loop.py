"""An agent loop that learns from its tools: python examples/agent_loop.py

An agent restarts services. Its memory holds the runbook, which knows several ways, and not which
host wants which one. Whether a command worked, the tool tells; the loop passes that on as feedback.
No model is called: one agent takes the commands in the order in which memory reads them, as a model
that trusts its memory would; another has memory decide among them.
"""

from __future__ import annotations

import re

from demem_agent import Answer, Reading, SlotMemory

RUNBOOK = (
    "A service under systemd is restarted with `systemctl restart`.",
    "A service in a container is restarted with `docker restart`.",
    "A service under supervisor is restarted with `supervisorctl restart`.",
    "Before the disk of a host is full, old logs are removed with `logrotate --force`.",
    "The hosts saturn, jupiter, mars and venus stand in Lisbon, the others in Porto.",
)
#: What the hosts want: nobody has told the agent.
WANTS = {
    "saturn": "docker restart",
    "jupiter": "supervisorctl restart",
    "mars": "systemctl restart",
    "venus": "docker restart",
    "rhea": "supervisorctl restart",
    "titan": "docker restart",
}
#: The same task as it is put on three days.
ASKED = (
    "How is the web service on {host} restarted?",
    "The web service of {host} hangs. What restarts it?",
    "Please restart the web service on {host} again.",
)


def run(host: str, command: str) -> bool:
    """Run a command on a host: the tool, which tells whether that worked."""
    return WANTS[host] == command


class Agent:
    """Reads its memory and tries what it finds; if it ``learns``, it tells memory how that went."""

    def __init__(self, *, learns: bool) -> None:
        self.learns = learns
        self.memory = SlotMemory(read_limit=2000)
        self.memory.ingest_many([{"text": text, "source": "runbook"} for text in RUNBOOK])

    def solve(self, host: str, task: str) -> int:
        """Carry out a task, and return the number of tool calls that it took."""
        reading = self.memory.read(task)
        tried: list[Answer] = []
        for command in commands_in(reading):
            worked = run(host, command)
            tried.append(self.memory.answered(task, f"`{command}`", reading=reading))
            if self.learns:
                self.hear(tried, worked, f"`{command}` works on {host}")
            if worked:
                return len(tried)
        raise LookupError(f"nothing in memory restarts {host}")

    def hear(self, tried: list[Answer], worked: bool, right: str) -> None:
        """Tell memory how the last attempt went and, once one worked, what the first should be."""
        self.memory.feedback(tried[-1], outcome=worked)
        if worked and len(tried) > 1:
            self.memory.feedback(tried[0], correction=right)


class Decider(Agent):
    """Has its memory decide among the commands that it reads, and tells it what came of that."""

    def __init__(self) -> None:
        super().__init__(learns=True)

    def solve(self, host: str, task: str) -> int:
        """Carry out a task, and return the number of tool calls that it took."""
        left = commands_in(self.memory.read(task))
        calls = 0
        while left:
            made = self.memory.decide(task, left)
            calls += 1
            worked = run(host, made.action)
            self.memory.feedback(made, outcome=worked)
            if worked:
                return calls
            left.remove(made.action)
        raise LookupError(f"nothing in memory restarts {host}")


def commands_in(reading: Reading) -> list[str]:
    """Return the commands that are read, those of the best line first."""
    found: dict[str, None] = {}
    for line in sorted(reading.lines, key=lambda line: -line.score):
        found.update(dict.fromkeys(re.findall(r"`(.+?)`", line.text)))
    return list(found)


if __name__ == "__main__":
    agents = {
        "memory that hears nothing": Agent(learns=False),
        "memory that hears of outcomes": Agent(learns=True),
        "memory that decides": Decider(),
    }
    heading = f"tool calls for {len(WANTS)} tasks"
    print(f"{heading:<32}{'day 1':>8}{'day 2':>8}{'day 3':>8}")
    for name, agent in agents.items():
        row = f"{name:<32}"
        for asked in ASKED:
            calls = sum(agent.solve(host, asked.format(host=host)) for host in WANTS)
            row += f"{calls:>8}"
        print(row)
    heard = agents["memory that hears of outcomes"].memory
    print("\nWhat the tools have taught it:")
    for item in heard.evidence()[len(RUNBOOK) :]:
        print(f"  {item.text}")
    decides = agents["memory that decides"].memory
    print("\nWhat the one that decides says of titan:")
    print(f"  {decides.advice(ASKED[0].format(host='titan'))}")
