"""What somebody is reported to have said: "What did Zoe say?", and "Zoe said she'd come".

Of one who never spoke it is known only from others. Whether a text reports it is told by its words:
a name and a verb of saying. That is loose on purpose: what is no report costs an answer little,
a report that is missed costs it all.
"""

from __future__ import annotations

import re

from demem_agent.later import pattern
from demem_agent.text.language.languages import STOPWORDS

__all__ = ["reports", "teller"]

_NAME = r"(?P<name>(?:(?:Dr|Mrs?|Ms|Prof)\.? )?[^\W\d_a-z][\w'’-]+(?: [^\W\d_a-z][\w'’-]+){0,2})"
_SAY = (
    r"(?:say|said|says|tell|told|tells|mention(?:ed)?|write|written|wrote|report(?:ed)?|suggest(?:ed)?"
    r"|recommend(?:ed)?|announced?|promised?|claim(?:ed)?|reply|replied|explain(?:ed)?|warn(?:ed)?)"
)
#: Questions for what somebody said, whom they name.
_ASKS = pattern(
    rf"\b(?:[Dd]id|[Hh]as|[Hh]ave|[Hh]ad|[Dd]oes)\s+{_NAME}\s+(?:\w+\s+)?{_SAY}\b",
)
#: The same by somebody who writes no capitals, of whom memory must know a name by then.
_ASKS_SMALL = pattern(rf"\b(?:did|has|have|had|does)\s+(?P<name>[^\W\d_]+)\s+(?:\w+\s+)?{_SAY}\b")
_ASKS_ALSO = (
    pattern(rf"\b[Hh]a(?:t|ben)\s+{_NAME}\b.*\b(?:gesagt|erzählt|gemeint|geschrieben)\b"),
    pattern(rf"\b(?:sagte|erzählte|meinte|dijo|contó|disse|contou|a dit|ha detto)\s+{_NAME}"),
    pattern(
        rf"\b(?:was|what|que|qué|qu['’]|o que|cosa)\s*(?:ha\s+)?{_NAME}"
        r"\s+(?:said|says|told|sagte|dijo|disse|a\s+dit|ha\s+detto|ha\s+dicho)\b"
    ),
    pattern(rf"\b(?:[Qq]ué\s+ha\s+dicho|[Cc]osa\s+ha\s+detto)\s+{_NAME}"),
)
#: How it is told that somebody said something; anybody who is "he" or "she" may be the one named.
_SAYS = (
    r"(?:said|says|say|saying|tells|telling|told|mention\w*|wrote|writes|written|texted|messaged"
    r"|emailed|report\w*|suggest\w*|recommend\w*|advis\w+|announc\w+|promis\w+|claim\w*|repl\w+"
    r"|answer\w*|explain\w*|warn\w*|confirm\w*|complain\w*|insist\w*|swore|thinks|thought|reckons"
    r"|admit\w*|agree\w*|offered|invited|asked|asks|called|joked|shouted|sagt\w*|gesagt|meint\w*"
    r"|erzähl\w*|schr[ei]\w+b\w*|geschrieben|dijo|dice|dicho|contó|contado|escribió|dit|dis[ae]it"
    r"|raconté|disse|contou|falou|detto|zei|zegt|verteld)"
)
_REPORTED = pattern(rf"\b{_SAYS}\b|\baccording to\b|\bheard from\b", re.IGNORECASE)


def teller(question: str) -> str | None:
    """Return the name of whom a question asks what they said; None where it asks for nobody's.

    Only a name with a capital is one, unless the question has no capitals at all: "What did people
    say?" is open.
    """
    forms = (_ASKS_SMALL,) if question.islower() else (_ASKS, *_ASKS_ALSO)
    for form in forms:
        found = form.search(question)
        if found is None:
            continue
        name = found["name"]
        if name.split()[0].lower() not in STOPWORDS:
            return name
    return None


def reports(text: str, name: str) -> bool:
    """Whether a text tells what somebody said: it has the name, and a verb of saying.

    "Zoe: ..." as well.
    """
    for word in _telling(name):
        own = re.search(rf"(?<!\w){re.escape(word)}(?P<says>\s*:)?(?!\w)", text, re.IGNORECASE)
        if own is not None and (own["says"] or _REPORTED.search(text)):
            return True
    return False


def _telling(name: str) -> list[str]:
    """Return the words of a name without its title."""
    words = [word for word in name.split() if not word.endswith(".")]
    return [word.removesuffix("'s").removesuffix("’s") for word in words]
