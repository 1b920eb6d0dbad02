"""Of what two sentences say something: of the same, or surely of two.

"I take 5 mg" and "My dog takes 10 mg now" differ in a number alone, and so do room 3 and room 4;
what holds of the one ends nothing of the other. The subject is what stands before the first verb
that is known here, in English, French, Portuguese, Spanish and German. Where that cannot be told,
or where one may be the other under another name ("Biscuit" and "my dog"), nothing is sure. Rules
written by hand.
"""

from __future__ import annotations

import re
from typing import Literal

from demem_agent.later import dataclass, pattern
from demem_agent.text.language.words import stems

__all__ = ["BEINGS", "KIN", "Subject", "apart", "is_mine", "is_of_kin", "of_others", "subject_of"]

#: Verbs that tell what somebody or something is, has, does or amounts to; what stands before them
#: is the subject.
_VERBS = (
    # English
    "is|are|am|was|were|has|have|had|takes?|took|lives?|lived|works?|worked|earns?|earned|costs?"
    r"|weighs?|weighed|likes?|loves?|prefers?|eats?|drinks?|drives?|plays?|studies|study|speaks?"
    r"|wants?|needs?|owns?|uses?|used|pays?|paid|moved|starts?|started|begins?|began|ends?|ended"
    r"|opens?|closes?|leaves?|left|meets?|rehearses?|sleeps?|goes|go|runs?|runs|makes?|gets?|got"
    r"|teaches|teach|will|sits?|stands?|lies|lie|measures?|reads?|keeps?|kept|arrives?|sings?"
    # French
    r"|suis|est|sont|était|ai|a|ont|habite|habites|habitent|travaille|prends?|prend|coûte|coûtent"
    r"|gagne|gagnes|pèse|aime|préfère|paie|paye|vis|vit|s['’]appelle|commence|finit|arrive|part|mange|boit"
    # Portuguese and Spanish
    r"|sou|é|são|estou|está|tenho|tem|moro|mora|moram|trabalho|trabalha|tomo|toma|custa|ganho"
    r"|ganha|peso|pesa|gosto|gosta|prefiro|prefere|vivo|vive|viven|chama|começa|chega|chego|soy|es"
    r"|son|estoy|tengo|tiene|trabajo|trabaja|cuesta|gano|gana|se\s+llama|empieza|llega|como|come|paga|pagan"
    # Italian
    r"|costano|costa|prende|abita|lavora|guida"
    # German
    r"|bin|ist|sind|habe|hat|haben|wohne|wohnt|wohnen|arbeite|arbeitet|nehme|nimmt|kostet|kosten"
    r"|zahle|zahlt|zahlen|bezahle|bezahlt|verdiene|verdient|wiege|wiegt|mag|heißt|heiße|lebe|lebt|fahre|fährt|esse|isst|beginnt"
)
#: What may stand before the verb besides the subject.
_ADVERBS = (
    "now|also|just|still|only|currently|actually|recently|really|usually|already|finally|always"
    "|maintenant|agora|ahora|jetzt"
)
_LEADS = (
    r"(?:(?:so|well|oh|okay|ok|hey|yes|yeah|no|update|news|btw|by the way|fyi|and|but|anyway|also"
    r"|now|et|mais|e|mas|y|pero|und|aber)\b[,:]? )*"
)
_SUBJECT = pattern(
    rf"^\W*{_LEADS}(?P<subject>[^\W_][\w'’-]*(?: [\w'’-]+){{0,7}}?)"
    r"(?:['’](?:s|m|re|ve|d|ll)\b(?! \w+ (?:is|are|was|has)\b)"
    r"|(?<!\bmy)(?<!\bour)(?<!\bhis)(?<!\bher)(?<!\btheir)(?<!\bthe)(?<!\ba) "
    rf"(?:(?:{_ADVERBS}) )*(?:{_VERBS})\b)",
    re.IGNORECASE,
)
#: "j'habite" and "moro", in which the pronoun is a part of the word.
_I_WITHIN = pattern(
    rf"^\W*{_LEADS}(?:j['’]|(?:sou|estou|tenho|moro|trabalho|tomo|ganho|peso|gosto|prefiro|vivo"
    r"|chego|soy|estoy|tengo|trabajo|gano|prefiero|llego|moramos|vivimos|vivemos)\b)",
    re.IGNORECASE,
)

_SELF = frozenset("i we user je nous on eu nós yo nosotros ich wir".split())
#: Who or what may be anybody.
_UNKNOWN = frozenset(
    """he she it they this that these those there here who what which one everyone everybody all
    somebody someone nobody you il elle ils elles ce ça cela tu vous ele ela eles isso isto você él
    ella ellos eso esto er sie es das dies du ihr man""".split()
)
_MY = frozenset(
    "my our mon ma mes notre nos meu minha meus minhas nosso nossa mi mis mein meine "
    "unser unsere nuestro nuestra".split()
)
_THEIRS = frozenset(
    "his her their its son sa ses leur leurs seu sua su sus sein seine ihr ihre dele dela".split()
)
_DETERMINERS = frozenset(
    """the a an le la les l un une des o os as um uma el los las una der die das den dem ein eine
    of de du d da do das dos del von for at in on to with and""".split()
)
#: What tells no thing from another of its kind.
_ANY = frozenset(
    """new old current present latest own whole own next actual previous former other nouveau
    nouvelle actuel actuelle novo nova nuevo nueva neu neue neuer""".split()
)
#: Who acts for himself, where it is said of him as "my".
BEINGS = frozenset(
    """sister brother mother mom mum dad father parent parents wife husband partner boyfriend
    girlfriend fiance fiancee friend friends boss manager colleague coworker cousin aunt uncle son
    daughter kid kids child children roommate flatmate neighbour neighbor niece nephew grandmother
    grandfather grandma grandpa granny ex teacher student baby twin dog cat horse puppy kitten
    parrot rabbit hamster pony pet sœur frère mère père maman papa femme mari ami amie fils fille
    chien chat voisin voisine patron collègue irmã irmão mãe pai mulher marido amigo amiga filho
    filha cão gato cachorro vizinho chefe hermana hermano madre padre esposa esposo hijo hija perro
    vecino jefe schwester bruder mutter vater frau mann freund freundin sohn tochter hund katze
    nachbar nachbarin chef chefin""".split()
)

#: Relations that are called by the word alone, as if it were their name.
_AT_HOME = frozenset(
    """mum mummy mom mommy mama dad daddy papa grandma grandpa granny nan nana maman mamie papi
    mamma nonna nonno mamá papá abuela abuelo mutti vati oma opa mamãe papai vovó vovô""".split()
)

#: Stems of such relations: a sentence without any is of none of them.
KIN = frozenset(stems(sorted(_AT_HOME))) | _AT_HOME
_ME = frozenset("i me my we us our ich mich mir wir uns mein meine yo mi nos je moi io eu".split())
_OF_NAME = pattern(r"\b[A-Z][\w-]+['’]s (\w+)")

_OF_BEING = pattern(
    r"\b(?:of|for|von|für|del?|da|do|du|para|pour) (?:my|our|mein\w*|unser\w*|mi|nuestr[oa]|mon|ma"
    rf"|notre|o meu|a minha|meu|minha) (?P<being>{'|'.join(sorted(BEINGS))})\b",
    re.IGNORECASE,
)
_MINE = pattern(r"\b(?:my|our) (\w+)", re.IGNORECASE)
_WORDS = pattern(r"\w+")
_I_SAY = pattern(
    r"^\W*(?:i|ich|je|eu|yo)\b|^\W*j['’]|^\W*(?:tomo|pago|gano|ganho|tengo|tenho|vivo|moro)\b",
    re.IGNORECASE,
)

Kind = Literal["self", "being", "named", "thing"]


@dataclass(frozen=True, slots=True)
class Subject:
    """Of what a sentence says something.

    Attributes:
        kind: the speaker, somebody's relation or animal, somebody by name (or a thing that is
            called by one word), or a thing.
        words: its stems and numbers; none of the speaker.
        holder: whose it is: "" for the speaker's, "*" for his, hers or theirs, a name, or None
            where that is not told.
    """

    kind: Kind
    words: frozenset[str]
    holder: str | None = None


def subject_of(said: str) -> Subject | None:
    """Return of what a sentence says something; None where that cannot be told."""
    if _I_WITHIN.match(said):
        return Subject("self", frozenset())
    found = _SUBJECT.match(said)
    if found is None:
        return None
    return _parsed(found["subject"].replace("’", "'").split())


def _parsed(phrase: list[str]) -> Subject | None:
    low = [word.lower() for word in phrase]
    if low[0] in _UNKNOWN:
        return None
    if not _SELF.isdisjoint(low):
        return Subject("self", frozenset()) if len(low) == 1 else None  # "Ana and I"
    if len(low) == 1 and low[0] in _AT_HOME:
        return Subject("being", frozenset(stems(low)), "")
    holder = _holder(low)
    left = [word for nth, word in enumerate(low) if not _is_article(low, nth)]
    words = frozenset(stems([word.removesuffix("'s") for word in left if word not in _ANY]))
    if not words:
        return None
    if holder is not None:
        head = [word for word in left if not word.endswith("'s")]
        is_being = not BEINGS.isdisjoint(head)
        kept = words - frozenset(stems([holder])) if holder else words
        return Subject("being" if is_being else "thing", kept or words, holder)
    if not BEINGS.isdisjoint(left) and left != low:
        return Subject("being", words)  # "the neighbour"
    is_name = left == low and all(word[0].isupper() for word in phrase)
    return Subject("named" if is_name else "thing", words)


def _is_article(low: list[str], nth: int) -> bool:
    """Whether a word of a phrase only says whose a thing is, or that it is one.

    Behind such a word it is the thing itself: "my son", in which "son" is not French.
    """
    if low[nth] not in _MY | _THEIRS:
        return low[nth] in _DETERMINERS
    return not nth or low[nth - 1] not in _MY | _THEIRS


def _holder(low: list[str]) -> str | None:
    """Return whose the thing is that a phrase names: of "my mother's phone", the mother's."""
    held_by = [word for word in low if word.endswith("'s")]
    if held_by:
        return held_by[-1].removesuffix("'s")
    for word in low:
        if word in _MY:
            return ""
        if word in _THEIRS:
            return "*"
    return None


def apart(first: Subject, second: Subject) -> bool:
    """Whether two subjects are surely of two people or things."""
    kinds = {first.kind, second.kind}
    if kinds == {"self"}:
        return False
    if "self" in kinds:
        return bool(kinds & {"being", "named"})
    for one, other in ((first, second), (second, first)):
        if one.holder and other.words.issuperset(stems([one.holder])):
            return one.kind == "being"  # Sabine's ex is not Sabine; a dog's weight is told of it
    if _others_hold(first.holder, second.holder):
        return True
    if kinds == {"being", "thing"}:
        thing = first if first.kind == "thing" else second
        return thing.holder == "" and first.words.isdisjoint(second.words)
    if kinds == {"being", "named"} or kinds == {"named", "thing"}:
        return False  # one may be the name of the other
    gone, come = first.words - second.words, second.words - first.words
    if kinds == {"named"} or kinds == {"being"}:
        return bool(gone and come)
    return bool(gone and come and first.words & second.words)


def of_others(said: str) -> frozenset[str]:
    """Return what is told to be of somebody else, and whose: their things, relations, animals."""
    found: set[str] = set()
    if "'" in said or "’" in said:
        found.update(one[1].lower() for one in _OF_NAME.finditer(said))
    if _may_name_being(said):
        found.update(one["being"].lower() for one in _OF_BEING.finditer(said))
    return frozenset(found)


def _may_name_being(said: str) -> bool:
    """Whether a sentence may have a word of :data:`BEINGS`; most have none."""
    return not said.isascii() or not BEINGS.isdisjoint(_WORDS.findall(said.lower()))


def is_mine(said: str, of_others: frozenset[str]) -> bool:
    """Whether a sentence is of the speaker's, where another is of those things or of theirs."""
    if not of_others.isdisjoint(one[1].lower() for one in _MINE.finditer(said)):
        return True
    if _I_SAY.search(said) is None or of_others.isdisjoint(BEINGS):
        return False
    return of_others.isdisjoint(_WORDS.findall(said.lower()))


def is_of_kin(said: str, beside: str) -> bool:
    """Whether a sentence is of a relation called by the word alone, and another of the speaker.

    "Doc puts mum up to 75" and "doc put me on 50" begin alike.
    """
    words = frozenset(_WORDS.findall(said.lower()))
    kin = words & _AT_HOME
    if not kin or not words.isdisjoint(_ME):
        return False
    others = frozenset(_WORDS.findall(beside.lower()))
    return kin.isdisjoint(others) and not others.isdisjoint(_ME)


def _others_hold(one: str | None, other: str | None) -> bool:
    """Whether a thing is surely held by two: mine, and somebody else's; or of two by name."""
    if one is None or other is None or one == other:
        return False
    return "" in (one, other) or "*" not in (one, other)
