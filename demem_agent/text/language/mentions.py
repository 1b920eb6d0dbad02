"""Whether a text names somebody and tells next to nothing beside: "ok (looks at ravi)"."""

from __future__ import annotations

from collections.abc import Collection

from demem_agent.later import pattern
from demem_agent.text.language.words import words
from demem_agent.text.sameness import tells_nothing, wording

__all__ = ["SO_LITTLE", "merely_names"]

#: What somebody shows or does rather than says.
_SHOWN = pattern(r"\([^()\n]{1,60}\)|(?<![*\w])\*[^*\s][^*\n]{0,60}\*(?!\*)|\[[^\]\n]{1,60}\]")
#: Characters of a text that may say so little.
SO_LITTLE = 60
_MARKS = pattern(r"[^\w\s]")


def merely_names(text: str, names: Collection[str]) -> bool:
    """Whether a text has hardly a word beside some names that tells anything.

    Args:
        names: their words, in lower case.
    """
    if len(text) > SO_LITTLE:
        return False
    said = [word for word in words(_SHOWN.sub(" ", text)) if word not in names]
    return not said or tells_nothing(wording(_MARKS.sub(" ", " ".join(said))))
