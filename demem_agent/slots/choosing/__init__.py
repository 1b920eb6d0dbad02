"""What worked in which situations: situations known again, and the learner that chooses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from demem_agent.later import members_of
from demem_agent.slots.choosing.asked import Advises, Decided, Decides, Tries

if TYPE_CHECKING:
    from demem_agent.slots.choosing import log as log
    from demem_agent.slots.choosing import playbook as playbook
    from demem_agent.slots.choosing.log import DecisionLog
else:
    __getattr__ = members_of(__name__, {"DecisionLog": "demem_agent.slots.choosing.log"})

__all__ = ["Advises", "Decided", "Decides", "DecisionLog", "Tries"]
