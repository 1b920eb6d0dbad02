"""Text as people write it: words, sentences, dates, what a question asks for, how a line is said,
how long it is.
"""

from __future__ import annotations

from demem_agent.text.units import Measure, measure
from demem_agent.text.words import clean, content_terms

__all__ = ["Measure", "clean", "content_terms", "measure"]
