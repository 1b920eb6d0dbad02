"""Read public benchmarks, and the user's own files, into turns and questions."""

from __future__ import annotations

from demem_agent.evaluate.beam import load_beam
from demem_agent.evaluate.dialogue import Dialogue, Probe
from demem_agent.evaluate.locomo import load_locomo
from demem_agent.evaluate.longmemeval import load_longmemeval
from demem_agent.evaluate.plain import load_jsonl, load_text

__all__ = ["Dialogue", "Probe", "load_beam", "load_jsonl", "load_locomo", "load_longmemeval", "load_text"]
