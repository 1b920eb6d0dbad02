"""Rate answers by a model: against a reference, or against the memory behind them alone."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from demem_agent.llms.model import ChatModel, Options, Prompt
from demem_agent.llms.prompts import prompt_text
from demem_agent.llms.structured import Flag, Number, Reply, asked_for
from demem_agent.types import Attempt

__all__ = ["Judging", "ModelJudge"]

Judging = Literal["binary", "graded", "unaided"]
_BEST = 4


class _Marked(Reply):
    right: Flag


class _Graded(Reply):
    grade: Annotated[Number, Field(ge=0, le=_BEST)]


class ModelJudge:
    """A :class:`~demem_agent.types.Scorer` that asks a model; works in sync and async memories.

    Args:
        model: any :class:`~demem_agent.llms.ChatModel`.
        kind: "binary", right or wrong by a reference (the paper's protocol); "graded", in fifths by
            a reference; "unaided", by the memory behind the answer alone: for ``judges``, where no
            reference is known.
        name: in reports and certificates; made of the kind and the model unless given.
    """

    def __init__(self, model: ChatModel, kind: Judging, *, name: str | None = None) -> None:
        self.kind: Judging = kind
        self._name = name or f"{kind} judge {model.name}"
        self._model = model
        self._options = Options(max_tokens=50, temperature=0.0)

    @property
    def name(self) -> str:
        """The name in reports and certificates."""
        return self._name

    async def score(self, attempt: Attempt) -> float:
        """Return a score in [0, 1].

        Raises:
            ModelError, BudgetSpent: feedback is recorded then, and its report says that tests could
                not be finished.
        """
        if self.kind == "binary":
            marked = await asked_for(self._model, self._prompt(attempt), _Marked, self._options)
            return float(marked.right)
        graded = await asked_for(self._model, self._prompt(attempt), _Graded, self._options)
        return graded.grade / _BEST

    def _prompt(self, attempt: Attempt) -> Prompt:
        known = f"Reference answer: {attempt.reference}"
        if self.kind == "unaided":
            known = attempt.reading
        given = attempt.answer or "(no answer)"
        asked = f"Question: {attempt.query}\n\n{known}\n\nAnswer to be marked: {given}"
        return Prompt(prompt_text(f"judge_{self.kind}"), asked)
