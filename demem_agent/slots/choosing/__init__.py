"""What worked in which situations: situations known again, and the learner that chooses."""

from __future__ import annotations

from demem_agent.slots.choosing.asked import Advises, Decided, Decides, Tries
from demem_agent.slots.choosing.log import DecisionLog

__all__ = ["Advises", "Decided", "Decides", "DecisionLog", "Tries"]
