"""The public operations, each written once as a generator of requests: ingest, read, answer,
feedback and the others. Each is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from demem_agent.later import members_of

if TYPE_CHECKING:
    from demem_agent.flows import advise as advise
    from demem_agent.flows import answer as answer
    from demem_agent.flows import arrange as arrange
    from demem_agent.flows import change as change
    from demem_agent.flows import decide as decide
    from demem_agent.flows import encode as encode
    from demem_agent.flows import feedback as feedback
    from demem_agent.flows import forget as forget
    from demem_agent.flows import health as health
    from demem_agent.flows import ingest as ingest
    from demem_agent.flows import mark as mark
    from demem_agent.flows import note as note
    from demem_agent.flows import read as read
    from demem_agent.flows import reembed as reembed
    from demem_agent.flows import room as room
    from demem_agent.flows import share as share
    from demem_agent.flows import summarise as summarise
    from demem_agent.flows import supersede as supersede
    from demem_agent.flows import sync as sync
    from demem_agent.flows import undo as undo
    from demem_agent.flows import update as update
else:
    __getattr__ = members_of(__name__)
