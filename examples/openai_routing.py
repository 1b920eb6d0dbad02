"""Choose a model and a prompt for each request by what worked: python examples/openai_routing.py

Which of them answers a request rightly depends on what it is about in a way that no description
tells; the cheapest that does is wanted. The provider runs on this machine; leave it out with a real
one. Needs ``pip install 'demem-agent[openai]'``.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from openai import OpenAI

from demem_adapters.common import Memories
from demem_agent.testing import Provider


class Way(NamedTuple):
    """A model with a prompt, and what an answer of it is worth when it is right."""

    model: str
    prompt: str
    worth: float


#: What is dearer is worth less: a right answer is worth 1, less what it costs.
WAYS = {
    "small model": Way("small", "Be brief.", 1.0),
    "small model, in steps": Way("small", "Go step by step.", 0.9),
    "large model": Way("large", "Be brief.", 0.7),
}
#: Which ways answer rightly, and nobody has told the memory.
RIGHT = {
    "invoices from Porto": ("small model", "small model, in steps", "large model"),
    "invoices from Lisbon": ("large model",),
    "delivery notes in Italian": ("small model, in steps", "large model"),
    "customs forms": ("small model", "large model"),
}
ASKED = "Read the total off "
REQUESTS = 60
ROUNDS = 4


def reply(messages: Sequence[Mapping[str, Any]]) -> str:
    """Answer as the way that is told in the system's message would."""
    way, subject = str(messages[0]["content"]), str(messages[-1]["content"])
    able = RIGHT[subject.removeprefix(ASKED)]
    return "right" if way.partition(": ")[0] in able else "wrong"


def answered(client: OpenAI, name: str, request: str) -> bool:
    """Send a request the given way, and see whether the answer is right."""
    way = WAYS[name]
    # A real provider is told the prompt alone; this one plays all the models.
    messages: Any = [
        {"role": "system", "content": f"{name}: {way.prompt}"},
        {"role": "user", "content": request},
    ]
    response = client.chat.completions.create(model=way.model, messages=messages)
    return response.choices[0].message.content == "right"


def routed(client: OpenAI, memories: Memories, request: str) -> float:
    """Have the memory choose a way, tell it what came of that, and return what that is worth."""
    made = memories.choose("office", request, [*WAYS])
    worth = WAYS[made.action].worth * answered(client, made.action, request)
    memories.outcome("office", made, reward=worth)
    return worth


def fixed(client: OpenAI, name: str, request: str) -> float:
    """Send a request always the same way, and return what that is worth."""
    return WAYS[name].worth * answered(client, name, request)


def best(request: str) -> float:
    """Return what the right way would be worth."""
    able = RIGHT[request.removeprefix(ASKED)]
    return max(WAYS[name].worth for name in able)


def round_of(client: OpenAI, memories: Memories, requests: Sequence[str]) -> dict[str, float]:
    """Return what all answers of a round are worth, by who chooses the way."""
    worths = {}
    for name in WAYS:
        worths[f"always {name}"] = sum(fixed(client, name, request) for request in requests)
    worths["memories.choose"] = sum(routed(client, memories, request) for request in requests)
    worths["one who knows it all"] = sum(map(best, requests))
    return worths


def main() -> None:
    """Print what answers are worth, round by round."""
    memories = Memories()
    luck = random.Random(1)
    rounds = []
    with Provider(reply) as provider, OpenAI(base_url=provider.url, api_key="unused") as client:
        for _ in range(ROUNDS):
            requests = [ASKED + subject for subject in luck.choices([*RIGHT], k=REQUESTS)]
            rounds.append(round_of(client, memories, requests))
    heading = "".join(f"{f'round {number + 1}':>9}" for number in range(ROUNDS))
    print(f"{f'worth of {REQUESTS} answers':<30}{heading}")
    for name in rounds[0]:
        print(f"{name:<30}" + "".join(f"{worths[name]:>9.1f}" for worths in rounds))


if __name__ == "__main__":
    main()
