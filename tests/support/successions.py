"""What surely takes the place of what, where one speaker says it among other things."""

from __future__ import annotations

from spoken import spoken

from demem_agent.slots.successions.lineage import HOLDS

FILLING = [
    "The soup was too salty.",
    "We painted the fence green.",
    "My aunt grows tomatoes on her balcony.",
    "It was raining all day.",
]


def sure(*said: str, session: str | None = None) -> list[tuple[str, str]]:
    """Return which line has surely taken the place of which, where one speaker says all."""
    memory = spoken(*said, by="Mia", session=session)
    memory.check()
    held = [found for found in memory.successions() if found.confidence >= HOLDS]
    return [(found.old[0], found.new[0]) for found in held]
