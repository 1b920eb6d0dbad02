"""``demem chat``: a conversation with a memory behind it and, if there is one, a model.

It takes place in a terminal or through a pipe.
"""

from __future__ import annotations

from demem_agent.cli.chat.conversation import Conversation, Prefix
from demem_agent.cli.chat.loop import talk
from demem_agent.cli.chat.opening import opened
from demem_agent.cli.chat.overview import overview
from demem_agent.cli.chat.screen import Screen
from demem_agent.cli.chat.session import Said, Session
from demem_agent.cli.chat.slash import SLASH
from demem_agent.cli.chat.talker import Talker

__all__ = [
    "SLASH",
    "Conversation",
    "Prefix",
    "Said",
    "Screen",
    "Session",
    "Talker",
    "opened",
    "overview",
    "talk",
]
