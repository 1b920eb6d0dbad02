"""Whether a question asks how something was before something else: "before the price went up".

It asks for another time than now, where it speaks of the past: "What do I pack before I leave?"
does not. A past tense is told by its forms in English, German, French, Spanish, Italian and
Portuguese.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from demem_agent.later import pattern

__all__ = ["asks_how_it_was_before"]

#: By language: a past tense, and what stands ahead of the event that ended what was.
_FORMS: Mapping[str, tuple[str, str]] = {
    "English": (
        r"(?:did|was|were|had|used|wasn['’]t|weren['’]t|didn['’]t)",
        r"(?:before|until|till|prior to|up to the)",
    ),
    "German": (
        r"(?:war(?:en|st)?|hat(?:te)?|hatten|habe[nt]?|hast|hieß(?:en)?|kostete[n]?|wohnte[n]?"
        r"|lebte[n]?|arbeitete[n]?|gab|lag(?:en)?|stand(?:en)?|galt)",
        r"(?:bevor|ehe|vor de[mnr]|vorm|bis(?: zu[mr])?)",
    ),
    "French": (
        r"(?:\w+ai(?:t|ent|s)|a|as|ont|ai|avons|avez)",
        r"avant (?:que|qu['’]|de|d['’]|le|la|les|l['’]|son|sa|ses|mon|ma|mes|notre|nos|\w+)",
    ),
    "Spanish": (
        r"(?:\w+aba[ns]?|\w+ábamos|\w+ía[ns]?|\w+íamos|\w{3,}[óé]|era[ns]?|fue(?:ron)?|fui|tuvo|hubo"
        r"|había[ns]?)",
        r"(?:antes del?(?: que| la| los| las)?|hasta)",
    ),
    "Italian": (
        r"(?:\w+[aei]v(?:a|ano|i|o|amo)|era(?:no|vamo)?|ero|fu|ha|hanno|ho|abbiamo)",
        r"prima (?:d[ie](?:l|lla|i|lle|gli)?|che|d['’]|dell['’])",
    ),
    "Portuguese": (
        r"(?:\w+av(?:a|am|as)|\w+ávamos|\w+ia[ms]?|\w+[oe]u|era[ms]?|foi|foram|tinha[ms]?"
        r"|houve|havia)",
        r"(?:antes d(?:e|o|a|os|as)(?: que)?|até)",
    ),
}
_EVENT = r"(?=\W\w|(?<=['’])\w)"
_BEFORE = pattern(
    "|".join(
        rf"(?:(?<!\w){past}(?!\w).*(?<!\w){before}{_EVENT}|^\W*{before} .*(?<!\w){past}(?!\w))"
        for past, before in _FORMS.values()
    ),
    re.IGNORECASE,
)
#: What each of these has.
_MAY = pattern(
    r"be[fv]|until|till|prior|up to|\behe\b|\bvor|\bbis\b|avant|antes|hasta|prima|até", re.I
)


def asks_how_it_was_before(question: str) -> bool:
    """Whether a question asks how something was before, or until, something else."""
    if not _MAY.search(question):  # as in most; much faster
        return False
    return _BEFORE.search(question) is not None
