"""Whether a sentence has something told to who says it: "tell me how many hives I have".

It is a question without the form of one, and tells nothing. "Remind me to call" asks nothing, and
"Tell me when you land, my number is 917" goes on to tell something.
"""

from __future__ import annotations

import re

from demem_agent.later import pattern

__all__ = ["requests"]

#: By language: what has something told, and what it has told.
_FORMS: tuple[tuple[str, str], ...] = (
    (  # English
        r"(?:(?:can|could|would|will) you (?:please )?)?(?:tell|remind|show|give) (?:me|us)"
        r"(?: again| please)?|let me know|say|wondering"
        r"|(?:i )?need to know|i(?:['’]m| am| was)? (?:just )?"
        r"(?:wonder(?:ing)?|curious)|i(?:['’]d| would)? (?:like|want|love) to know"
        r"|(?:do|would) you (?:happen to )?know|(?:i have )?no idea"
        r"|(?:i )?(?:can['’]?t|don['’]?t) (?:quite )?(?:remember|recall)",
        r"(?:(?:of|about) )?(?:what(?:['’]s)?|which|who(?:['’]s|m|se)?|where(?:['’]s)?|when|why"
        r"|whether|how(?! to\b)|if)\b",
    ),
    (
        r"(?:(?:can|could) you )?(?:(?:tell|show|give) (?:me|us)(?: again)?"
        r"(?: about)?|remind (?:me|us) (?:of|about))|what about",
        r"(?:the|my|our|his|her|their|all|every)\b(?! (?:truth|money)\b)",
    ),
    (r"(?:tell|remind) (?:me|us) about", r"(?!it\b|that\b|this\b)\w+"),
    (  # German
        r"sagt? mir(?: mal| bitte| nochmal)?|erinnere? mich(?: bitte)?(?: daran)?|zeigt? mir"
        r"|nenne? mir|(?:ich )?frage? mich|(?:ich habe )?keine ahnung"
        r"|ich (?:wüsste gern|möchte wissen|will wissen|muss wissen)"
        r"|(?:kannst|könntest) du mir (?:bitte )?sagen",
        r"(?:an )?(?:wo(?:hin|her|mit)?|was|wann|wer|wem|wen|wessen|wie(?! schön)|welche[rsmn]?"
        r"|warum|ob)\b",
    ),
    (
        r"(?:nenne?|zeigt?|sagt?) mir(?: nochmal)?|erinnere? mich an",
        r"(?:alle|den|die|das|mein(?:e[nr]?)?|unser(?:e[nr]?)?)\b",
    ),
    (  # French
        r"(?:dis|dites|rappelle|rappelez|montre|montrez|donne|donnez)[- ](?:moi|nous)"
        r"|je me demande|j['’]aimerais savoir|je voudrais savoir"
        r"|(?:tu peux|pouvez-vous|peux-tu) me (?:dire|rappeler)",
        r"(?:(?:à|de|d['’]) ?)?(?:(?:où|quand|qui|quel(?:le)?s?|combien|comment|pourquoi"
        r"|ce (?:que|qui)|si|la|les?|mon|ma|mes|notre|nos)\b|ce qu['’]|l['’])",
    ),
    (  # Spanish
        r"d[ií](?:me|game|ganos|nos)|recu[eé]rdame|enséñame|me (?:dices|recuerdas|pregunto)"
        r"|(?:quisiera|quiero|necesito) saber"
        r"|(?:me )?(?:puedes|podrías) (?:decirme|decir|recordarme)",
        r"(?:(?:a|de|en|con|desde|hasta) )?(?:qué|d[oó]nde|cu[aá]ndo|qui[eé]n(?:es)?|cu[aá]l(?:es)?"
        r"|cu[aá]nt[oa]s?|cómo|por qué|si|el|la|los|las|mis?|nuestr[oa]s?)\b",
    ),
    (  # Portuguese
        r"di(?:z|ga|gam)-(?:me|nos)|(?:me|nos) (?:diz|diga|lembr[ae])|pergunto-me"
        r"|(?:lembr|record)[ae]-(?:me|nos)|(?:gostava de|gostaria de|queria|quero|preciso de) saber"
        r"|(?:podes|pode|consegues) (?:dizer|lembrar)-(?:me|nos)",
        r"(?:(?:a|de|em|com|para) )?(?:o que|onde|quando|quem|qua(?:l|is)|quant[oa]s?|como|por ?que"
        r"|se|a|o|as|os|d[ao]s?|(?:a )?minhas?|(?:o )?meus?|noss[oa]s?)\b",
    ),
    (  # Italian
        r"dimmi|ditemi|ricord(?:a|ate)mi|mi (?:chiedo|domando)|vorrei sapere"
        r"|(?:puoi|potresti) dirmi",
        r"(?:(?:a|di|in|con) )?(?:(?:che|cosa|dove|quando|chi|qual[ei]?|quant[oaei]|come|perché|se"
        r"|il|la|i|le|gli|mi[oae]|miei|nostr[oaei])\b|l['’])",
    ),
    (  # Dutch
        r"(?:zeg|vertel) me|ik vraag me af|herinner me(?: eraan)?(?: aan)?",
        r"(?:wat|waar|wanneer|wie|welke?|hoe|of|waarom|mijn|onze?|de|het)\b",
    ),
    (  # Polish
        r"powiedz(?:cie)? mi|przypomnij(?:cie)? mi|zastanawiam się|(?:chcę|chciał\w*) wiedzieć",
        r"(?:gdzie|kiedy|kto|kogo|co|jak(?:i|a|ie|iego|iej)?|ile|czy|który|która|dlaczego|mój"
        r"|moja)\b",
    ),
)
_OPENS = (
    r"(?:and|so|but|ok|okay|hey|hi|please|pls|bitte|por favor|s['’]il te pla[iî]t|hm+|also|now|und"
    r"|e|y|et)"
)
_REQUEST = pattern(
    rf"[\s\"'“(]*(?:{_OPENS},? )*"
    rf"(?:{'|'.join(rf'(?:{has}),? {told}' for has, told in _FORMS)})",
    re.IGNORECASE,
)
#: What goes on to tell something.
_TELLS_TOO = pattern(
    r"[,;:–—(] ?(?!(?:please|pls|bitte|por favor|s['’]il|per favore|will you|again|ok)\b)"
    r"(?:[^\W_]+ ?){3}",
    re.IGNORECASE,
)
#: Characters that such a sentence has at most.
LONGEST = 80


def requests(sentence: str) -> bool:
    """Whether a sentence has something told to who says it, and tells nothing itself."""
    if len(sentence) > LONGEST:
        return False
    found = _REQUEST.match(sentence)
    return found is not None and not _TELLS_TOO.search(sentence, found.end())
