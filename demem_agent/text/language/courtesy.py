"""Sentences that only congratulate, regret, praise, thank or offer: they tell nothing themselves.

"I am sorry about your knee." has a word of what was told, and no more. In English, German, French,
Spanish, Italian and Portuguese; a number, or another clause that tells something, makes it more.
"""

from __future__ import annotations

import re

from demem_agent.later import pattern

__all__ = ["acknowledges", "merely_exclaims", "merely_offers", "merely_polite"]

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
_DIGIT = pattern(r"\d")
#: Words that such a sentence has at most.
MOST = 16


_DO = (
    r"(?:keep|make|set|remind|create|draft|add|track|prepare|look|write|find|help|save|note|put|list"
    r"|send|remember|store|show|give|check|update|explain|suggest|walk|go)"
)
#: What a model would do, by language: "If you like I can keep a list".
_OFFERS = pattern(
    r"^\W*(?:(?:and|also|ok(?:ay)?|sure|great|alternatively|und|et|y|e)\b[,! ]*)*(?:"
    rf"if you(?:['’]d| would)? (?:like|want|wish|prefer)\b.*\bi (?:can|could|will|['’]ll)\b"
    rf"|i(?:['’]d| would) be (?:happy|glad) to\b|i(?: can|['’]ll| will| could)(?: also)? {_DO}\b"
    rf".*\b(?:for you|if you|you)\b|(?:shall|should|can|may|could) i (?:also )?{_DO}\b"
    rf"|(?:would you like|do you want) (?:me|help)\b|let me know (?:if|whether|what|when)\b"
    # German
    r"|(?:wenn|falls) (?:du|sie) (?:willst|möchtest|magst|möchten|wollen)\b.*\bich\b"
    r"|ich (?:kann|könnte|werde)\b.*\b(?:dir|dich|ihnen|für dich|für sie)\b|soll ich\b"
    r"|möchtest du, dass ich\b|gern(?:e)? (?:kann|erstelle|helfe) ich\b"
    # French
    r"|si (?:tu veux|vous voulez|tu le souhaites|vous le souhaitez)\b.*\bje\b"
    r"|je (?:peux|pourrais|vais) (?:te|vous|t['’]|aussi)\b|(?:veux-tu|voulez-vous) que je\b"
    # Spanish
    r"|si (?:quieres|quiere|lo deseas|te parece)\b.*\bpuedo\b|puedo (?:\w+(?:te|le)\b|.* por ti\b)"
    r"|¿?(?:quieres|te gustaría|desea) que (?:te |le )?\w+"
    # Portuguese
    r"|se (?:quiser|quiseres|desejar|preferir(?:es)?)\b.*\bposso\b"
    r"|posso (?:\w+-(?:te|lhe)\b|também\b)"
    r"|(?:queres|quer|gostaria) que (?:eu )?\w+"
    # Italian
    r"|se (?:vuoi|vuole|preferisci|lo desideri)\b.*\bposso\b|posso (?:\w+(?:ti|le)\b|anche\b)"
    r"|vuoi che (?:ti )?\w+"
    # Polish
    r"|jeśli chcesz\b.*\bmogę\b|mogę (?:ci|też)\b|czy chcesz, żebym\b"
    r")",
    re.IGNORECASE,
)
#: How a model says that it has heard what it was told, by language.
_HEARD = pattern(
    r"^\W*(?:(?:ok(?:ay)?|great|perfect|sure|alright|thanks?|thank you|parfait|perfecto|perfeito"
    r"|super|gut|bene)\b[,.! ]*)*(?:noted|got it|understood|saved|added|updated|recorded|remembered"
    r"|done|will do|i(?:['’]ve| have|['’]ll)? (?:just )?(?:noted?|saved?|added?|updated?|recorded?"
    r"|stored?|remember(?:ed)?|made a note|put (?:it|that|this)|keep (?:that|it) in mind)"
    r"|(?:ist )?notiert|vermerkt|gespeichert|gemerkt|verstanden|ich habe (?:es |das |mir )?\w*"
    r"|(?:c['’]est )?noté|enregistré|compris|bien reçu|j['’]ai (?:bien )?(?:noté|ajouté|enregistré)"
    r"|anotado|apuntado|guardado|entendido|registrado|he (?:anotado|apuntado|guardado|añadido)"
    r"|anotei|guardei|registei|apontado|percebido|annotato|segnato|salvato|ricevuto|capito"
    r"|ho (?:annotato|segnato|salvato|aggiunto)|zapisane|zapisałem|zanotowane)\b",
    re.IGNORECASE,
)
#: Characters of such a sentence at most.
_LONGEST = 160


def merely_offers(text: str) -> bool:
    """Whether a sentence of a model only offers to do something."""
    if len(text) > _LONGEST or _DIGIT.search(text):
        return False
    return _OFFERS.match(text) is not None


def acknowledges(text: str) -> bool:
    """Whether a sentence of a model begins by saying that it has heard what it was told."""
    return len(text) <= _LONGEST and _HEARD.match(text) is not None


#: A call of so few words that it tells nothing: "What a day!"
_CALLS = pattern(
    r"^\W*(?:(?:oh|ah|wow|wauw|ach|och)\b[,! ]*)?(?:(?:what an?|wat een|was für ein(?:e[nr]?)?"
    r"|quelle?|qué)(?: [\w'’]+){1,2}|(?:che|que)(?: bel[\w'’]+)? [\w'’]+) ?!+\W*$",
    re.IGNORECASE,
)


def merely_exclaims(sentence: str) -> bool:
    """Whether a sentence calls out how something is, and no more: "What a day!"."""
    return _CALLS.match(sentence) is not None


def merely_polite(text: str) -> bool:
    """Whether a sentence only congratulates, regrets, praises, thanks or offers something."""
    if len(text.split()) > MOST or _BEGINS.match(text) is None:
        return False
    return _TELLS.search(text) is None
