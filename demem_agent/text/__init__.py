"""Text as people write it: its words, sentences and dates, what it asks for, how it is said.

Units measure how long it is.
"""

from __future__ import annotations

from demem_agent.text.language.words import clean, content_terms
from demem_agent.text.quoting.saying import day, noted, said
from demem_agent.text.units import Measure, measure

__all__ = ["Measure", "clean", "content_terms", "day", "measure", "noted", "said"]
