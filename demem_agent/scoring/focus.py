"""What a question is about, without the words that every question has.

"How many times did I bake something in the past two weeks?" is about baking. The other words say
what kind of answer is wanted and for which time, and match turns that have nothing to do with it.
"""

from __future__ import annotations

from demem_agent.text.language.words import words
from demem_agent.text.times.dates import running

__all__ = ["FRAME", "focus"]

#: Words of asking, in any domain; what they ask for is in ``demem_agent.text.language.questions``.
FRAME = frozenset(
    """many much often time times ever kind kinds type types sort sorts different various think
    thinks feel feeling lately recently currently tip tips advice suggest suggestion suggestions
    recommend recommendation recommendations idea ideas good way ways able based across
    conversation conversations tell know please help like likely list order mention item items
    previous""".split()
)
#: Around a word, and not of it in any script.
_AROUND = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~“”‘’«»…¿¡、。，！？؟"


def focus(question: str) -> str:
    """Return a question without its frame and without a running time ("in the past two weeks").

    A question that has nothing else comes back as it is.
    """
    kept = question
    for start, end in reversed(running(question)):
        kept = f"{kept[:start]} {kept[end:]}"
    said = kept.split()
    telling = {word: _telling(word) for word in dict.fromkeys(said)}  # a query may be a document
    if not words(" ".join(telling.values())):
        return question
    return " ".join(filter(None, map(telling.__getitem__, said)))


def _telling(word: str) -> str:
    """Return a word without what is around it; "" for one of asking."""
    bare = word.strip(_AROUND)
    return "" if bare.lower() in FRAME else bare
