"""Where a facade keeps what it holds: what a configuration of mem0's comes to here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from demem_adapters.common import LOG, Memories
from demem_agent import InvalidInput

__all__ = ["Config", "memories_of"]

#: Memories, the URL of a store, or a configuration as mem0 has it: a mapping, or a ``MemoryConfig``
#: of mem0's own.
Config = Memories | str | Mapping[str, Any] | object | None

#: The part of a configuration that is this library's: a ``url``, and options of its memories.
_OWN = "demem"
#: What mem0 needs and this does without.
_PASSED_OVER = frozenset(
    """vector_store llm embedder reranker graph_store history_db_path version custom_instructions
    custom_prompt custom_fact_extraction_prompt custom_update_memory_prompt""".split()
)
_IN_RAM = "memory://"


def memories_of(config: Config) -> tuple[Memories, bool]:
    """Return the memories that a configuration means, and whether they were made for it.

    Raises:
        InvalidInput: naming a part of the configuration that mem0 has not either.
    """
    if isinstance(config, Memories):
        return config, False
    if isinstance(config, str):
        return Memories(config), True
    about = _as_mapping(config)
    for name in about:
        if name != _OWN and name not in _PASSED_OVER:
            known = ", ".join(sorted({_OWN, *_PASSED_OVER}))
            raise InvalidInput(f"config.{name}", about[name], f"left out: it has {known}")
    passed_over = sorted(name for name in about if name != _OWN and about[name] is not None)
    if passed_over:
        LOG.warning("not needed here, and passed over: %s", ", ".join(passed_over))
    own = dict(about.get(_OWN) or {})
    url = own.pop("url", _IN_RAM)
    if url == _IN_RAM:
        LOG.warning("what is remembered ends with this process: give a url to keep it")
    return Memories(url, **own), True


def _as_mapping(config: Config) -> Mapping[str, Any]:
    if config is None:
        return {}
    if isinstance(config, Mapping):
        return config
    dump = getattr(config, "model_dump", None)
    dumped = dump() if callable(dump) else None
    if not isinstance(dumped, Mapping):
        raise InvalidInput("config", config, "Memories, a URL or a mapping as mem0 has it")
    return dumped
