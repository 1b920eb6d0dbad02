"""Whether a model can judge: it marks a dozen answers of which it is known whether they are right.

Small models mostly cannot. The figures of a judge that takes a wrong name for the right one, or
another wording for a wrong answer, say nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from demem_agent.errors import ModelError
from demem_agent.llms.judges import ModelJudge
from demem_agent.llms.model import ChatModel
from demem_agent.types import Attempt

__all__ = ["LEAST", "PAIRS", "Pair", "marked_rightly"]


@dataclass(frozen=True, slots=True)
class Pair:
    """An answer beside the reference, and whether it is right."""

    question: str
    reference: str
    answer: str
    is_right: bool


#: Of half of them the words alone tell the opposite.
PAIRS: Final = (
    Pair("Where does Mara live?", "Lisbon", "She lives in Lisbon.", is_right=True),
    Pair("Where does Mara live?", "Lisbon", "She lives in Porto.", is_right=False),
    Pair("Where does Mara live?", "Lisbon", "She left Lisbon; now it is Porto.", is_right=False),
    Pair("When is the recital?", "9 May 2024", "On the ninth of May, 2024.", is_right=True),
    Pair("When is the recital?", "9 May 2024", "On 19 May 2024.", is_right=False),
    Pair("How many hives does Odile have?", "4", "She has 4 hives.", is_right=True),
    Pair("How many hives does Odile have?", "4", "Four.", is_right=True),
    Pair("Who has the spare key?", "her sister", "I do not know.", is_right=False),
    Pair("Who has the spare key?", "her sister", "Not her sister, her aunt.", is_right=False),
    Pair("How long was the trip?", "two weeks", "It took a fortnight.", is_right=True),
    Pair("Does Ravi still play the cello?", "yes", "He does.", is_right=True),
    Pair("What colour is the van?", "blue", "It is green.", is_right=False),
)
#: Answers of :data:`PAIRS` that a judge marks rightly at least.
LEAST = 10


async def marked_rightly(model: ChatModel) -> int:
    """Return how many of :data:`PAIRS` a model marks rightly; a reply of no use is a wrong mark.

    Raises:
        ModelError: if the model cannot be asked.
        BudgetSpent: at a spending limit.
    """
    judge = ModelJudge(model, "binary")
    right = 0
    for pair in PAIRS:
        attempt = Attempt(pair.question, pair.answer, "", pair.reference)
        try:
            right += bool(await judge.score(attempt)) == pair.is_right
        except ModelError as error:
            if error.kind != "malformed":
                raise
    return right
