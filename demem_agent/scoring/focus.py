"""What a question is about, without the words that every question has.

"How many times did I bake something in the past two weeks?" is about baking. The other words say what kind of answer is
wanted and for which time, and match turns that have nothing to do with it.
"""

from __future__ import annotations

import re

from demem_agent.dates import running
from demem_agent.text import content_terms

__all__ = ["focus"]

#: Words of asking, in any domain; what they ask for is in ``demem_agent.kinds``.
_FRAME = frozenset(
    """many much often times time ever kind kinds type types sort sorts different various think thinks feel feeling
    lately recently currently tips tip advice suggest suggestion suggestions recommend recommendation recommendations
    idea ideas good way ways able based across conversations conversation tell know please help like likely list order
    mention items item previous""".split()
)
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def focus(question: str) -> str:
    """Give a question without its frame and without a running time ("in the past two weeks").

    A question that has nothing else comes back as it is.
    """
    kept = question
    for span in reversed(running(question)):
        kept = f"{kept[: span[0]]} {kept[span[1] :]}"
    about = " ".join(word for word in _WORD.findall(kept) if word.lower() not in _FRAME)
    return about if about and content_terms(about) else question
