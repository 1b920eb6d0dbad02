"""The fakes that DeMem is tested with, and a provider of models that fails on request.

They are for the tests of others too.
"""

from __future__ import annotations

from demem_agent.testing.asgi import InProcess
from demem_agent.testing.fakes import (
    Async,
    BagEncoder,
    Failing,
    ReadingAnswerer,
    ScriptedAnswerer,
    ScriptedChangeJudge,
    ScriptedReranker,
    ScriptedRouter,
    ScriptedScorer,
    Slow,
)
from demem_agent.testing.faults import FAULTS
from demem_agent.testing.obedient import obedient
from demem_agent.testing.provider import Provider, Seen

__all__ = [
    "FAULTS",
    "Async",
    "BagEncoder",
    "Failing",
    "InProcess",
    "Provider",
    "ReadingAnswerer",
    "ScriptedAnswerer",
    "ScriptedChangeJudge",
    "ScriptedReranker",
    "ScriptedRouter",
    "ScriptedScorer",
    "Seen",
    "Slow",
    "obedient",
]
