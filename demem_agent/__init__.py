"""DeMem: agent memory in K bounded slots that splits one only when a certificate shows that it
must.

Everything public is named here; the rest may move. See ``SlotMemory`` to begin.
"""

from __future__ import annotations

from demem_agent.async_memory import AsyncSlotMemory
from demem_agent.errors import DeMemError, InvalidInput
from demem_agent.memory import SlotMemory
from demem_agent.settings import Settings, SplitSettings
from demem_agent.turns import Turn
from demem_agent.types import (
    Answer,
    Answerer,
    Draft,
    Encoder,
    Evidence,
    FeedbackReport,
    Ingested,
    Reading,
    Receipt,
    Route,
    Scorer,
    Slot,
    SplitCertificate,
)

__all__ = [
    "Answer",
    "Answerer",
    "AsyncSlotMemory",
    "DeMemError",
    "Draft",
    "Encoder",
    "Evidence",
    "FeedbackReport",
    "Ingested",
    "InvalidInput",
    "Reading",
    "Receipt",
    "Route",
    "Scorer",
    "Settings",
    "Slot",
    "SlotMemory",
    "SplitCertificate",
    "SplitSettings",
    "Turn",
]
__version__ = "0.1.0"
