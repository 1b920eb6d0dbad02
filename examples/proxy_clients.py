"""Memory for clients that know nothing of it, by another base URL: python examples/proxy_clients.py

The provider and the server run on this machine; with real ones it is ``demem serve --proxy URL``.
The server has its memories in RAM; what is given goes to ``demem serve``, so that two workers on
PostgreSQL are

    python examples/proxy_clients.py --store postgresql://ana@db/memories --keys k --workers 2

Anthropic's client is asked where it is installed.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from openai import OpenAI

from demem_agent.testing import Provider

TURNS = (
    ("ana", "The boiler in the kitchen has a brass valve."),
    ("ana", "Which valve is in the kitchen's boiler?"),
    ("ben", "Which valve is in the kitchen's boiler?"),
)


def reply(messages: Sequence[Mapping[str, Any]]) -> str:
    """Answer a question with the remembered line, and note everything else."""
    shown = "\n".join(str(message["content"]) for message in messages)
    told = re.findall("- user: (.*? valve\\.)", shown)
    if not shown.rstrip("'}]").endswith("?"):
        return "Noted."
    return f"You told me: {told[0]}" if told else "I know nothing of it."


@contextmanager
def served(provider: Provider, *options: str) -> Iterator[str]:
    """Serve memories with a proxy before a provider, as a shell would start it."""
    command = [sys.executable, "-m", "demem_agent.cli", "serve", "--port", "0", "--quiet"]
    command += ["--proxy", provider.root, "--proxy", f"anthropic={provider.root}"]
    command += ["--proxy-deadline", "10000", *(options or ("--store", "memory://"))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            line = server.stdout.readline()
            if not line:
                sys.exit("the server has not begun")  # it has said why
            yield line.split()[-1]
        finally:
            server.terminate()


def by_openai(url: str, user: str, text: str) -> None:
    """Say something by OpenAI's client."""
    client = OpenAI(base_url=f"{url}/m/{user}/openai/v1", api_key="unused")
    messages: Any = [{"role": "user", "content": text}]
    response = client.chat.completions.create(model="small", messages=messages)
    print(f"{user}: {text}\n  {response.choices[0].message.content}")


def by_anthropic(url: str) -> None:
    """Ask by Anthropic's client, which has the same memory."""
    from anthropic import Anthropic

    client = Anthropic(base_url=f"{url}/m/ana/anthropic", api_key="unused")
    text = "And which valve does the boiler have?"
    messages: Any = [{"role": "user", "content": text}]
    response = client.messages.create(model="small", max_tokens=100, messages=messages)
    print(f"ana: {text}\n  {response.content[0].text}")  # type: ignore[union-attr]


if __name__ == "__main__":
    with Provider(reply) as provider, served(provider, *sys.argv[1:]) as url:
        for user, text in TURNS:
            by_openai(url, user, text)
        if find_spec("anthropic"):
            by_anthropic(url)
