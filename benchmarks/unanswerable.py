"""Questions that a dialogue does not answer, made by rule of those that it does.

Two rules. *Swapped*: where two people talk and one of them said all the evidence, the other one is
asked about ("What did Caroline paint?", when Melanie painted). *Replaced*: the rarest word of the
question that the evidence holds gives way to another of its kind, a neighbour by the shipped
encoder's word vectors that the evidence does not hold ("Which bow has the cello?", when it is the
violin's). A few can be answered by chance, and a few are nonsense; what is judged on people's own
unanswerable questions needs no such rule.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from demem_agent.encoders import default_encoder
from demem_agent.evaluate import Dialogue, Probe
from demem_agent.scoring import PassageIndex, focus
from demem_agent.scoring.features.speakers import with_model
from demem_agent.text.language.words import stems, words

__all__ = ["Kinds", "replaced", "swapped"]

#: Turns that hold a word before it may stand in a question, and letters that it has at least.
_HELD, _LETTERS = 3, 4
#: Cosines between which a word is another of the same kind, and how many of the nearest are taken.
_NEAR = (0.35, 0.75)
_NEAREST = 12


@dataclass(frozen=True, slots=True, eq=False)
class Kinds:
    """Words with their vectors of unit length, (words, d), to find others of the same kind."""

    words: list[str]
    vectors: NDArray[np.float32]

    @classmethod
    def among(cls, dialogues: Iterable[Dialogue]) -> Kinds:
        """Take the words that several turns hold."""
        counts: Counter[str] = Counter()
        for dialogue in dialogues:
            for turn in dialogue.turns:
                counts.update(set(words(turn.text)))
        kept = [word for word, count in counts.items() if count >= _HELD and _is_plain(word)]
        return cls(kept, _unit(kept))

    def like(self, word: str) -> list[str]:
        """Return the words of the same kind, the nearest first."""
        cosines = self.vectors @ _unit([word])[0]
        low, high = _NEAR
        nearest = np.argsort(-cosines, kind="stable")[:64].tolist()
        return [self.words[n] for n in nearest if low < cosines[n] < high]


def swapped(dialogue: Dialogue, probe: Probe) -> Probe | None:
    """Ask about the other one of two people; None where the rule does not apply."""
    names = list(dict.fromkeys(turn.speaker for turn in dialogue.turns))
    if len(names) != 2 or with_model(names):
        return None
    asked = [name for name in names if name and _whole(name).search(probe.question)]
    told = {turn.speaker for turn in dialogue.turns if turn.source_id in probe.evidence}
    if len(asked) != 1 or told != set(asked):
        return None
    other = names[1 - names.index(asked[0])] or ""
    return _asking(probe, _whole(asked[0]).sub(other, probe.question))


def replaced(
    dialogue: Dialogue, probe: Probe, index: PassageIndex, kinds: Kinds, number: int
) -> Probe | None:
    """Ask with another word of the same kind; None where there is none.

    Args:
        number: of the question: it says which of the nearest words is taken.
    """
    gold = [turn.text for turn in dialogue.turns if turn.source_id in probe.evidence]
    held = set(stems(words(" ".join(gold))))
    names = words(" ".join({turn.speaker or "" for turn in dialogue.turns}))
    carried = [
        word
        for word in dict.fromkeys(words(focus(probe.question)))
        if _is_plain(word) and word not in names and _stem(word) in held
    ]
    if not carried:
        return None
    rarest = max(carried, key=lambda word: index.lexical.idf(_stem(word)))
    others = [
        word
        for word in kinds.like(rarest)
        if _stem(word) not in held and word[:_LETTERS] != rarest[:_LETTERS]
    ]
    if not others:
        return None
    other = others[:_NEAREST][number % min(len(others), _NEAREST)]
    return _asking(probe, _whole(rarest, re.IGNORECASE).sub(other, probe.question))


def _asking(probe: Probe, question: str) -> Probe:
    return replace(probe, question=question, reference="", evidence=())


def _whole(word: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile(rf"\b{re.escape(word)}\b", flags)


def _stem(word: str) -> str:
    return stems([word])[0]


def _is_plain(word: str) -> bool:
    return word.isalpha() and len(word) >= _LETTERS


def _unit(texts: list[str]) -> NDArray[np.float32]:
    vectors = default_encoder().encode(texts)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: NDArray[np.float32] = vectors / np.maximum(lengths, np.float32(1e-9))
    return unit
