"""What every adapter needs: memories, whose they are, who asks, and what to put before a model.

A framework that takes pieces instead of one text finds them in
:mod:`demem_adapters.common.passages`.
"""

from __future__ import annotations

from demem_adapters.common.asking import (
    ASSISTANT,
    USER,
    Asker,
    Conditions,
    Filter,
    Situation,
    as_asked,
    in_conversation,
    is_person,
)
from demem_adapters.common.choices import HINT, hint_block, in_order
from demem_adapters.common.digests import digest
from demem_adapters.common.endings import Ending, came_to_its_end, ending_of
from demem_adapters.common.failures import LOG, logged
from demem_adapters.common.injecting import (
    BESIDE,
    DECLARED,
    Inject,
    Place,
    block,
    checked,
    put_before,
)
from demem_adapters.common.memories import Heard, Memories, Said
from demem_adapters.common.messages import (
    SYSTEM,
    Message,
    last_of_user,
    names_of_last,
    other_parts,
)
from demem_adapters.common.naming import Namespace, named
from demem_adapters.common.recent import Recent
from demem_adapters.common.said import kept_as
from demem_adapters.common.texts import Spoken, said_last, text_of
from demem_adapters.common.tools import Advised, ToolAdvice, ToolOptions, Worked
from demem_adapters.common.turns import Telling

__all__ = [
    "ASSISTANT",
    "BESIDE",
    "DECLARED",
    "HINT",
    "LOG",
    "SYSTEM",
    "USER",
    "Advised",
    "Asker",
    "Conditions",
    "Ending",
    "Filter",
    "Heard",
    "Inject",
    "Memories",
    "Message",
    "Namespace",
    "Place",
    "Recent",
    "Said",
    "Situation",
    "Spoken",
    "Telling",
    "ToolAdvice",
    "ToolOptions",
    "Worked",
    "as_asked",
    "block",
    "came_to_its_end",
    "checked",
    "digest",
    "ending_of",
    "hint_block",
    "in_conversation",
    "in_order",
    "is_person",
    "kept_as",
    "last_of_user",
    "logged",
    "named",
    "names_of_last",
    "other_parts",
    "put_before",
    "said_last",
    "text_of",
]
