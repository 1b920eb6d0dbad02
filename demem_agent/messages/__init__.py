"""Chat messages as turns to remember: lists as OpenAI, Anthropic and LangChain have them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from demem_agent.later import members_of

if TYPE_CHECKING:
    from demem_agent.messages.hearing import explained as explained
    from demem_agent.messages.hearing import turns_of
    from demem_agent.messages.records import IngestedMessages, Omitted, Turns
else:
    # A memory that is given no messages loads none of this.
    __getattr__ = members_of(
        __name__,
        {
            "IngestedMessages": "demem_agent.messages.records",
            "Omitted": "demem_agent.messages.records",
            "Turns": "demem_agent.messages.records",
            "explained": "demem_agent.messages.hearing",
            "turns_of": "demem_agent.messages.hearing",
        },
    )

__all__ = ["IngestedMessages", "Omitted", "Turns", "turns_of"]
