"""Find a model that a server on this machine offers, for ``demem chat --local``."""

from __future__ import annotations

import json
from http.client import HTTPException
from urllib.request import urlopen

from demem_agent.cli.faults import UsageError

__all__ = ["found_model"]

#: Where servers listen unless they are told otherwise.
SERVERS = {
    "Ollama": "http://127.0.0.1:11434/v1",
    "llama.cpp": "http://127.0.0.1:8080/v1",
    "LM Studio": "http://127.0.0.1:1234/v1",
}
_SECONDS = 2.0
_HELP = (
    "no model answers on this machine; looked for {places}. With Ollama (https://ollama.com): "
    "ollama pull qwen2.5:3b, then demem chat --local. With llama.cpp: llama-server -m MODEL.gguf "
    "--port 8080. For another address name it with --base-url"
)


def found_model(base_url: str | None) -> tuple[str, str]:
    """Return the name of the first model that a server here offers, and the server's address.

    Args:
        base_url: looked at instead of the usual places.

    Raises:
        UsageError: saying how to get one, where none is there.
    """
    servers = {"--base-url": base_url} if base_url else SERVERS
    for url in servers.values():
        name = _first_model(url)
        if name is not None:
            return name, url
    places = ", ".join(f"{name} at {url}" for name, url in servers.items())
    raise UsageError(_HELP.format(places=places))


def _first_model(base_url: str) -> str | None:
    """Return what a server calls its first model; None where none is there."""
    try:
        with urlopen(f"{base_url.rstrip('/')}/models", timeout=_SECONDS) as reply:
            told = json.load(reply)
        name = told["data"][0]["id"]
    except (OSError, HTTPException, ValueError, LookupError, TypeError):
        return None
    return name if isinstance(name, str) and name else None
