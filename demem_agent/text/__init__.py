"""Text as people write it: its words, sentences and dates, what it asks for, how it is said.

Units measure how long it is.
"""

from __future__ import annotations

from demem_agent.text.saying import day, noted, said
from demem_agent.text.units import Measure, measure
from demem_agent.text.words import clean, content_terms

__all__ = ["Measure", "clean", "content_terms", "day", "measure", "noted", "said"]
