"""How long memories are kept, as it is typed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from demem_agent.errors import InvalidInput
from demem_agent.jobs import Rule

__all__ = ["rules_of"]

_TYPED = re.compile(r"(?:(?P<prefix>.*)=)?(?P<days>[1-9][0-9]{0,5})d")


def rules_of(typed: Sequence[str]) -> list[Rule]:
    """Read rules, each ``365d``, or ``PREFIX=365d`` for the memories whose ids begin so.

    Raises:
        InvalidInput: for anything else.
    """
    return list(map(_rule, typed))


def _rule(typed: str) -> Rule:
    found = _TYPED.fullmatch(typed)
    if found is None:
        raise InvalidInput("forget_older_than", typed, "days, as in 365d or PREFIX=365d")
    return Rule(int(found["days"]), found["prefix"] or "")
