"""``demem chat``: a conversation in a terminal or a pipe, with a memory behind it and, if there is
one, a model.
"""

from __future__ import annotations

from demem_agent.cli.chat.conversation import Conversation, Prefix, overview
from demem_agent.cli.chat.loop import Screen, talk
from demem_agent.cli.chat.opening import opened
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
