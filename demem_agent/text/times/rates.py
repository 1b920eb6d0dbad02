"""Whether something is counted before a time, which is a span then: "9 visits in 2 months".

A count alone makes it one, without a verb: "9 visits coming in 2 months" is of what is to come.
"""

from __future__ import annotations

import re

from demem_agent.later import pattern

__all__ = ["counts"]

_LEADS = (
    r"(?:and|so|but|only|just|about|around|that['’]?s|it['’]?s|already|almost|nearly|over|more than"
    r"|less than|another|like|wow|ok|yes|still|a total of|some|total|in total"
    r"|und|nur|schon|fast|über|etwa|rund|insgesamt|das sind|es sind"
    r"|nog maar|maar|al|bijna|al wel|och|solo|già|quasi|sono)"
)
_NUMBER = (
    r"(?:\d[\d.,]*|no|zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen"
    r"|twenty|thirty|forty|fifty|(?:a )?hundred|(?:a )?dozen|dozens of|hundreds of|several|many"
    r"|kein(?:e[nr]?)?|null|ein(?:e[nr]?)?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf"
    r"|zwanzig|viele|mehrere|dutzende|geen|een|twee|drie|vijf|zes|zeven|acht|negen|tien|twaalf)"
)
#: What is to come or goes on, and counts nothing.
_NO_THING = (
    r"(?!\w+ing\b|left\b|more\b|to\b|is\b|are\b|will\b|we\b|of\b|days?\b|weeks?\b|months?\b|years?\b"
    r"|tage?n?\b|wochen?\b|monate?n?\b|jahre?n?\b|frei\b|übrig\b|o['’]clock\b|uhr\b|am\b|pm\b)"
)
_COUNT = pattern(
    rf"[^\w]*(?:{_LEADS}\W+)*{_NUMBER}(?:\s?[€$£%])?(?:\s+{_NO_THING}[^\W\d_][\w'’-]*){{1,3}}\s*",
    re.IGNORECASE,
)


def counts(clause: str) -> bool:
    """Whether a clause up to a time says nothing but how many of something there are."""
    return _COUNT.fullmatch(clause) is not None
