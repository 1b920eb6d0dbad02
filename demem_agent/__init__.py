"""DeMem: agent memory in K bounded slots that splits one only when a certificate shows that it
must.

Everything public is named here: names in ``__all__``, rooms in ``__public__``. The rest may move.
See ``SlotMemory`` to begin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from demem_agent.errors import DeMemError, InvalidInput
from demem_agent.later import members_of
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

if TYPE_CHECKING:
    from demem_agent.async_memory import AsyncSlotMemory
    from demem_agent.memory import SlotMemory
else:
    # The records are light; a memory is loaded by those who make one.
    __getattr__ = members_of(
        __name__,
        {
            "AsyncSlotMemory": "demem_agent.async_memory",
            "SlotMemory": "demem_agent.memory",
        },
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
#: The modules that outsiders may import from, the names in their ``__all__`` and no others.
#: Adapters, examples and the code of the documents are outsiders (``tests/test_package.py``).
__public__ = (
    "demem_agent",
    "demem_agent.async_memories",
    "demem_agent.auditing",
    "demem_agent.bulk",
    "demem_agent.cli",
    "demem_agent.client",
    "demem_agent.decision",
    "demem_agent.encoders",
    "demem_agent.errors",
    "demem_agent.evaluate",
    "demem_agent.feedback",
    "demem_agent.imports",
    "demem_agent.jobs",
    "demem_agent.llms",
    "demem_agent.memories",
    "demem_agent.messages",
    "demem_agent.options",
    "demem_agent.pool",
    "demem_agent.reading",
    "demem_agent.safekeeping",
    "demem_agent.server",
    "demem_agent.settings",
    "demem_agent.slots.choosing",
    "demem_agent.splitting",
    "demem_agent.stores",
    "demem_agent.studies",
    "demem_agent.studies.ablations",
    "demem_agent.studies.slots",
    "demem_agent.studies.splits",
    "demem_agent.studies.synthetic",
    "demem_agent.testing",
    "demem_agent.text",
    "demem_agent.turns",
    "demem_agent.types",
    "demem_agent.where",
)
__version__ = "0.1.0"


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
