"""Sentences that only congratulate, regret, praise, thank or offer: they tell nothing themselves.

"I am sorry about your knee." has a word of what was told, and no more. In English, German, French,
Spanish, Italian and Portuguese; a number, or another clause that tells something, makes it more.
"""

from __future__ import annotations

import re

from demem_agent.later import pattern

__all__ = ["merely_polite"]

#: How such sentences begin.
_BEGINS = pattern(
    r"^\W*(?:(?:oh|ah|aw+|wow|ok(?:ay)?|yes|and|so|ach|na|und|et|y|e)\b[,! ]*)*(?:"
    # English
    r"happy (?:birthday|anniversary|new year|christmas|easter|for)\b|congrat\w*|well done|bravo"
    r"|good (?:luck|job|for you)|(?:i['’]?m|i am|we are)?\s*(?:so |very |really |truly )*"
    r"(?:sorry|glad|happy|pleased|delighted) (?:to (?:hear|help|know)|about|for|that|you)"
    r"|(?:it|that|this)(?: all)? (?:sounds|looks|must (?:be|feel))\b|sounds (?:like|good|great|fun)"
    r"|(?:it|that|this)(?: is|['’]s) (?:a |an |really |so |such )*(?:great|good|wonderful|lovely"
    r"|fantastic|amazing|exciting|awesome|nice|brilliant)\b|(?:how|what) (?:a |an )?(?:great|good"
    r"|nice|wonderful|lovely|exciting|sad|awful|fun)\b|thank(?:s| you)\b|you(?:['’]re| are) welcome"
    r"|my pleasure|let me know|feel free|i hope|hope (?:you|it|that|the)|enjoy\b|take care"
    r"|have (?:a |an )?(?:great|good|nice|lovely|fun|safe)\b|is there anything|anything else"
    r"|(?:would you like|do you want) me|(?:how )?can i help|get well"
    # German
    r"|alles gute|(?:herzlichen )?glückwunsch|gratulier\w+|(?:das )?tut mir (?:sehr |so )?leid"
    r"|(?:das )?klingt|das (?:ist|wäre) (?:ja |sehr |wirklich )*(?:toll|schön|super|großartig)"
    r"|viel (?:glück|erfolg|spaß)|vielen dank|danke|gern geschehen|(?:das )?freut mich"
    r"|sag(?:en)? (?:sie )?(?:mir )?bescheid|kann ich|ich hoffe|gute besserung"
    # French
    r"|(?:bon|joyeux) (?:anniversaire|noël)|félicitations|(?:je suis )?(?:vraiment )?désolée?"
    r"|bonne (?:chance|route)|merci|de rien|avec plaisir|n['’]hésite\w*|ça a l['’]air"
    r"|c['’]est (?:super|génial|formidable)|quelle bonne|j['’]espère|bon rétablissement"
    # Spanish and Portuguese
    r"|fel(?:iz|ices)\b|felicidades|enhorabuena|(?:lo |cuánto lo )?siento|suena|(?:buena|boa)s? "
    r"(?:suerte|sorte)|(?:muchas )?gracias|de nada|avísame|me alegro|qué (?:bien|bueno|alegría)"
    r"|espero que|parabéns|(?:sinto|lamento) muito|obrigad[oa]|me avis[ea]|que (?:bom|ótimo)"
    # Italian
    r"|buon (?:compleanno|natale|anniversario)|(?:tanti )?auguri|congratulazioni|complimenti"
    r"|mi (?:dispiace|fa piacere)|buona fortuna|in bocca al lupo|grazie|prego|fammi sapere"
    r"|che (?:bello|bella)|spero che"
    r")",
    re.IGNORECASE,
)
#: What tells something all the same: a number, or another clause.
_TELLS = pattern(
    r"\d|[,;:–—-] (?:\w[\w'’]*[, ]+){3,}\w|\b(?:but|because|since|although|however|aber|weil|mais"
    r"|parce que|pero|porque|però|perché)\b",
    re.IGNORECASE,
)
#: Words that such a sentence has at most.
MOST = 16


def merely_polite(text: str) -> bool:
    """Whether a sentence only congratulates, regrets, praises, thanks or offers something."""
    if len(text.split()) > MOST or _BEGINS.match(text) is None:
        return False
    return _TELLS.search(text) is None
