"""Whether somebody says no more than that they do not know: "I don't know it", "geen idee".

In English, German, Dutch, French, Spanish, Portuguese and Italian; a figure, or a clause that goes
on with "but", tells something all the same.
"""

from __future__ import annotations

import re

from demem_agent.later import pattern

__all__ = ["knows_not"]

_NOT_KNOWN = pattern(
    # English
    r"\b(?:i (?:do not|don['’]?t|did not|didn['’]t|can['’]?t|cannot|couldn['’]t)(?: \w+){0,2}?"
    r" (?:know|remember|recall|find|tell|say)|dunno|idk|no (?:idea|clue)|not sure|unsure"
    r"|i (?:do not|don['’]t) have (?:that|this|any|a record|information|it)"
    r"|i have no (?:record|information|notes?|memory)"
    r"|(?:have not|haven['’]t|did not|didn['’]t|never) (?:\w+ )?(?:tell|told|mention|mentioned"
    r"|say|said|share|shared)"
    # Dutch
    r"|weet (?:ik|het|dat)(?: \w+){0,2}? niet|geen idee|niet (?:verteld|gezegd|gevonden)"
    # German
    r"|wei(?:ß|ss) (?:ich|es|das)(?: \w+){0,2}? nicht|keine ahnung"
    r"|nicht (?:gesagt|erzählt|gefunden|bekannt)"
    # French
    r"|(?:je |j['’])(?:ne |n['’])?(?:le )?(?:sais|ai) pas(?: d['’]| cette| encore)?|aucune idée"
    r"|pas (?:encore )?dit|sais pas"
    # Spanish, Portuguese and Italian
    r"|no (?:lo |la )?sé|ni idea|no (?:me )?(?:lo )?has dicho|no tengo (?:ese|esa|información)"
    r"|não (?:o |a )?sei|não faço ideia|não me disse(?:ste)?|não tenho (?:ess[ae]|informação)"
    r"|non (?:lo |la )?so|non (?:ne )?ho idea|nessuna idea|non me l['’]hai detto|boh)\b",
    re.IGNORECASE,
)
_TELLS = pattern(
    r"\d|\b(?:but|maar|aber|mais|pero|mas|però|ma|if|wenn|als|only that|except)\b", re.IGNORECASE
)
#: Characters that such a sentence has at most.
LONGEST = 100


def knows_not(sentence: str) -> bool:
    """Whether a sentence says that something is not known, and tells nothing else."""
    if len(sentence) > LONGEST or _TELLS.search(sentence):
        return False
    return _NOT_KNOWN.search(sentence) is not None
