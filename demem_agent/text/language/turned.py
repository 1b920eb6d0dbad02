"""Words that turn a question into another one: of whom it is, of which of several, and where.

"¿Cómo se llama mi suegra?" is not of my suegro though both are one stem, "Who was my old boss?" not
of my boss, "Which tap leaks upstairs?" not of every tap, and whom "he" means is not said. In
English, German, French, Spanish, Italian and Portuguese, kin also in Dutch. What is mostly another
word in one of these ("pais", "primo", "left") is left out, or counts among the words that tell.
"""

from __future__ import annotations

import re
from functools import cache

from demem_agent.later import dataclass, pattern

__all__ = ["Turned", "kin_in", "turned"]

#: Who is somebody's, by the words for them, of which each is without accents too. One that may be
#: of several stands with each.
_KIN = {
    "mother": "mother mum mom mummy mommy mama mamá mamma mutter mutti maman mère madre mãe moeder",
    "father": "father dad daddy papa papá vater père padre babbo pai vader",
    "parents": "parents eltern padres genitori ouders",
    "sister": "sister sis sibling schwester sœur soeur hermana sorella irmã zus zusje",
    "brother": "brother bro sibling bruder frère hermano fratello irmão broer broertje",
    "siblings": "siblings geschwister hermanos fratelli irmãos",
    "son": "child kid enfant sohn fils hijo figlio filho zoon zoontje",
    "daughter": "child kid enfant daughter tochter fille hija figlia filha dochter dochtertje",
    "children": "children kids kinder enfants hijos figli filhos kinderen",
    "wife": "wife partner spouse fiancée ehefrau épouse esposa moglie echtgenote",
    "husband": "husband hubby partner spouse fiancé ehemann mari époux esposo marido marito"
    " echtgenoot",
    "girlfriend": "girlfriend gf partner fiancée novia fidanzata namorada vriendin",
    "boyfriend": "boyfriend bf partner fiancé novio fidanzato namorado vriend",
    "grandmother": "grandmother grandma granny nana oma großmutter mamie abuela nonna avó",
    "grandfather": "grandfather grandpa granddad opa großvater papy abuelo nonno avô",
    "aunt": "aunt auntie tante tía zia tia",
    "uncle": "uncle onkel oncle tío zio tio oom",
    "niece": "niece nichte sobrina sobrinha",
    "nephew": "nephew neffe neveu sobrino sobrinho neef",
    "cousin": "cousin primo cugino neef",
    "cousin, a woman": "cousin cousine prima cugina",
    "mother-in-law": "schwiegermutter suegra suocera sogra schoonmoeder",
    "father-in-law": "schwiegervater suegro suocero sogro schoonvader",
    "sister-in-law": "schwägerin cuñada cognata cunhada schoonzus",
    "brother-in-law": "schwager cuñado cognato cunhado zwager",
    "son-in-law": "schwiegersohn gendre yerno genro schoonzoon",
    "daughter-in-law": "schwiegertochter nuera schoondochter",
    "godmother": "godmother patentante marraine madrina madrinha peettante",
    "godfather": "godfather patenonkel parrain padrino padrinho peetoom",
    "stepmother": "stepmother stepmum stepmom stiefmutter madrastra matrigna madrasta stiefmoeder",
    "stepfather": "stepfather stepdad stiefvater padrastro patrigno padrasto stiefvader",
    "friend": "friend freund ami amigo amico vriend",
    "friend, a woman": "friend freundin amie amiga amica vriendin",
    "neighbour": "neighbour neighbor nachbar voisin vecino vicino vizinho buurman",
    "neighbour, a woman": "neighbour neighbor nachbarin voisine vecina vicina vizinha buurvrouw",
    "boss": "boss chef patron jefe capo chefe baas",
    "boss, a woman": "boss chefin patronne jefa capa chefa bazin",
    "teacher": "teacher lehrer professeur profesor maestro professore professor leraar meester",
    "teacher, a woman": "teacher lehrerin professeure profesora maestra professoressa professora"
    " lerares juf",
}
#: The same in several words, or among those that tell.
_KIN_AMONG = {
    "son": r"(?:\b(?:my|our|your|his|her|their|the|whose)|['’]s) (?:\w+ )?son\b",
    "wife": r"\b(?:[mds]eine[rn]?|unsere[rn]?) frau\b|\b[mts]a femme\b|\b(?:mi|tu|su) mujer\b"
    r"|\b(?:minha|tua|sua) mulher\b|\b(?:mijn|jouw|zijn) vrouw\b|\bde vrouw van\b"
    r"|\b(?:die|der) frau von\b",
    "husband": r"\b(?:mein|dein|ihr)(?:e[mnsr])? mann\b|\b(?:mijn|jouw|haar) man\b|\bde man van\b"
    r"|\bde[rmn] mann von\b",
    "grandmother": r"\bgrand[- ]?m[èe]re\b",
    "grandfather": r"\bgrand[- ]?p[èe]re\b",
    "mother-in-law": r"\b(?:mother|mum|mom)[- ]in[- ]law\b|\bbelle[- ]m[èe]re\b",
    "father-in-law": r"\b(?:father|dad)[- ]in[- ]law\b|\bbeau[- ]p[èe]re\b",
    "sister-in-law": r"\bsister[- ]in[- ]law\b|\bbelle[- ]s(?:œ|oe)ur\b",
    "brother-in-law": r"\bbrother[- ]in[- ]law\b|\bbeau[- ]fr[èe]re\b",
    "son-in-law": r"\bson[- ]in[- ]law\b|\bbeau[- ]fils\b",
    "daughter-in-law": r"\bdaughter[- ]in[- ]law\b|\bbelle[- ]fille\b",
}
#: Which of several, and where. What is new is what holds, and tells nothing.
_WHICH = {
    "former": r"former|previous|ex|(?<!how )(?<!years )(?<!year )(?<!months )old(?! enough\b)"
    r"|alte[nms]?|(?<=ein )alter|(?:ehemalig|früher|vorig|vorherig)e[nmrs]?|ancien(?:ne)?s?"
    r"|précédente?s?|anterior(?:es)?|antigu[oa]s?|antig[oa]s?|viej[oa]s?|velh[oa]s?|vecchi[oa]?|precedent[ei]s?",
    "next": r"next|upcoming|nächste[nmrs]?|prochaine?s?|próxim[oa]s?|proxim[oa]s?|prossim[oaie]",
    "first": r"first(?! names?\b)|erste[nmrs]?|premi[eè]re?s?|primer[oa]?s?|primeir[oa]s?"
    r"|(?:il|la|i|le|del|della) prim[oaie]",
    "second": r"second|zweite[nmrs]?|deuxième|seconde|segund[oa]s?|second[oaie]",
    "third": r"third|dritte[nmrs]?|troisième|tercer[oa]?|terz[oaie]|terceir[oa]s?",
    "last": r"last(?! names?\b)|letzte[nmrs]?|derni[eè]re?s?|[uú]ltim[oaie]s?",
    "other": r"other|another|andere[nmrs]?|autres?|otr[oa]s?|altr[oaie]|outr[oa]s?",
    "spare": r"spare|ersatz\w*|de rechange|de repuesto|di scorta|de reserva",
    "upstairs": r"upstairs|oben|à l['’]étage|en haut|arriba|di sopra|lá em cima",
    "downstairs": r"downstairs|unten|en bas|abajo|di sotto|lá em baixo",
    "outside": r"outside|outdoors?|draußen|dehors|à l['’]extérieur|a?fuera|fuori|lá fora",
    "inside": r"inside|indoors?|drinnen|à l['’]intérieur|adentro|lá dentro",
    "left": r"(?:the|my|our|his|her|your) left(?= \w)|on the left|left-hand|linke[nmrs]?|links"
    r"|(?:à )?gauche|izquierd[oa]s?|sinistr[oaie]|esquerd[oa]s?",
    "right": r"on the right|right-hand|right (?=hand|arm|leg|eye|ear|foot|knee|shoulder|side|tap)"
    r"|rechte[nmrs]?|rechts|à droite|a la derecha|a destra|à direita",
    "front": r"front|vordere[nmrs]?|vorne|delanter[oa]s?|anteriore|dianteir[oa]s?",
    "back": r"(?:the|my|our|his|her|your) back(?= \w)|rear|hintere[nmrs]?|hinten|traser[oa]s?"
    r"|posteriore|traseir[oa]s?",
    "upper": r"upper|obere[nmrs]?|du haut|di sopra|de arriba|de cima",
    "lower": r"lower(?! the\b| my\b| it\b)|untere[nmrs]?|du bas|di sotto|de abajo|de baixo",
    "returning": r"(?:flight|train|bus|trip|journey|drive|ride|way) back|return (?=flight|train"
    r"|trip|ticket|journey)|rück(?:flug|fahrt|reise|weg)\w*|(?:de|di|du) (?:vuelta|regreso|retour"
    r"|volta|regresso|ritorno)|(?:vol|train|trajet) retour",
    "elder": r"(?:eld|old)e(?:r|st)|ältere?(?:ste)?[nmrs]?|aînée?|mayor|maggiore|mais velh[oa]",
    "younger": r"youngest|younger|jüng(?:er|st)e[nmrs]?|cadette?|menor|minore|mais nov[oa]",
}
#: What may as well be what holds: "my last blood test".
_MAY_HOLD = frozenset({"last"})
#: Who is meant and named nowhere; what is no person, or polite, is left out.
_PRONOUNS = {
    "he": r"he|him|his|er|ihm|ihn|él|lui|ele|dele|t-il(?<!y a-t-il)",
    "she": r"she|hers?|ella|elle|ela|dela|lei",
}
_WORD = pattern(r"[^\W\d_]+")
#: Letters with accents, and without.
_ACCENTS = str.maketrans("áàãâéèêíìóòõúùçñäöü", "aaaaeeeiiooouucnaou")


@dataclass(frozen=True, slots=True)
class Turned:
    """What turns a question into another one.

    Attributes:
        kin: who is somebody's, each word as those who it may be.
        which: of several, and where.
        pronouns: who is meant and named nowhere.
    """

    kin: frozenset[frozenset[str]]
    which: frozenset[str]
    pronouns: frozenset[str]

    def apart(self, other: Turned, *, named: bool) -> bool:
        """Whether a question is turned into another one than one in nearly its words.

        Args:
            named: whether either names somebody, who may be the one that is somebody's.
        """
        if (self.which ^ other.which) - _MAY_HOLD:
            return True
        if not named and bool(self.kin) != bool(other.kin):
            return True
        return bool(self.kin and other.kin) and not _meet(self.kin, other.kin)


def turned(question: str) -> Turned:
    """Return what turns a question into another one."""
    text = question.casefold()
    return Turned(
        kin=kin_in(text),
        which=frozenset(_found(_WHICH, text)),
        pronouns=frozenset(_found(_PRONOUNS, text)),
    )


def _meet(one: frozenset[frozenset[str]], other: frozenset[frozenset[str]]) -> bool:
    """Whether all who are somebody's in one question may be among those of another."""
    return _among(one, other) and _among(other, one)


def _among(one: frozenset[frozenset[str]], other: frozenset[frozenset[str]]) -> bool:
    return all(any(who & known for known in other) for who in one)


def kin_in(text: str) -> frozenset[frozenset[str]]:
    """Return who is somebody's in a text in lower case, each word as those who it may be."""
    among = _found(_KIN_AMONG, text) if _among_words().search(text) else []
    if among:  # "mother-in-law" is no mother
        return frozenset({frozenset({who}) for who in among})
    words = _words_of_kin()
    return frozenset(words[word] for word in _WORD.findall(text) if word in words)


def _found(table: dict[str, str], text: str) -> list[str]:
    return [name for name, one in table.items() if _pattern(one).search(text)]


@cache
def _among_words() -> re.Pattern[str]:
    """Return what finds any of :data:`_KIN_AMONG`, which few texts have, in one pass."""
    return _pattern("|".join(f"(?:{words})" for words in _KIN_AMONG.values()))


@cache
def _pattern(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{words})(?!\w)")


@cache
def _words_of_kin() -> dict[str, frozenset[str]]:
    """Return by word, with its accents and without, who it may be."""
    found: dict[str, frozenset[str]] = {}
    for who, words in _KIN.items():
        for word in words.casefold().split():
            found[word] = found.get(word, frozenset()) | {who}
    for word in list(found):
        found.setdefault(word.translate(_ACCENTS), found[word])
    return found
