"""What is left, and what comes instead: "Enel is cancelled, from March we are with Iren".

Whatever the one was, where it was told by its name the other takes its place: who somebody works
for, a contract, a doctor, an address. The part of a sentence that leaves something names what it
was, and another part that begins something names what it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from demem_agent.later import pattern
from demem_agent.slots.successions.anew.parts import Part, parts
from demem_agent.slots.successions.anew.people import SPEAKER
from demem_agent.slots.successions.anew.told import Kind, Told
from demem_agent.slots.successions.anew.words import kin_in, stems_of

__all__ = ["WORDS_OF_LEAVING", "left"]

_LEAVES = (
    # English
    r"leav(?:e|es|ing)|left|quit|quits|gave notice|handed (?:in|back|over)|cancell?ed|dropped"
    r"|ditched"
    r"|resigned|goodbye|bye|done (?:with|at)|finished (?:with|at)|last (?:day|shift|week)|no longer"
    r"|any ?more|retire[sd]?|retiring|moved away|is gone|said goodbye"
    # German
    r"|verlass\w*|verlässt|gekündigt|kündige|hör(?:e|t) [^.!?]*?\bauf|aufgehört|letzter"
    r" (?:arbeits)?tag"
    r"|schluss|nicht mehr|übergeben|zurückgegeben|abgemeldet|in (?:pension|rente)|tschüss|ade"
    # Spanish
    r"|dej(?:o|é|a|amos)|dejado|baja de|último día|adiós|ya no|se (?:jubila|va|ha ido|fue)|jubilado"
    # French
    r"|quitt(?:e|é|ée|ons)|derni(?:er jour|ère journée)|adieu|au revoir|résili\w+|ne [^.!?]*?\bplus"
    r"|part (?:à|en)|partie?|retraite|rendu les clés"
    # Portuguese
    r"|sai(?:o|r|u)|saí|deix(?:o|ei|ou)|largu?(?:ei|ou)|último (?:dia|turno)|adeus|cancel(?:ei|ou"
    r"|ámos)"
    r"|já não|(?:reforma|reformou|mudou)-se"
    # Italian
    r"|lasci(?:o|a)|lasciato|ultimo (?:giorno|turno)|addio|disdett[oa]|non [^.!?]*?\bpiù|pensione"
    r"|smess\w|via da"
)
_BEGINS = (
    r"start(?:s|ed|ing)?|begin(?:s|ning)?|began|join(?:s|ed|ing)?|new|going (?:with|to)|go to|with"
    r"|assigned"
    r"|put down for|hired|got|first|signed|switch\w*|moved? (?:to|into|in)|took over|takes over|at"
    r"|fang\w*|fäng\w*|beginn\w*|neue?[rnms]?|gehe[nt]?|geht|arbeite[nt]?|wechs\w+|bei|zu"
    r"|übernimmt|sind|bin"
    r"|empiez\w+|comienz\w+|nuev[oa]|asignad[oa]|asignaron|entr[oa]|pas\w+|voy|vamos|trabaj[oa]"
    r"|metido|con"
    r"|en|commenc\w+|nouve\w+|embauch\w+|pris|prise|va|vais|chez|suit|remplace|à la|au"
    r"|come[çc]\w+|nov[oa]|colocad[oa]|vou|vai|seguid[oa]|temos|tenho|na|no"
    r"|inizi\w*|cominci\w*|nuov[oa]|passat[oaie]|vado|andiamo|prend\w+|è con|da|alla|alle|al"
    r"|dall?a?"
)
_LEAVING = pattern(rf"(?<!\w)(?:{_LEAVES})(?!\w)", re.IGNORECASE)
_BEGINNING = pattern(rf"(?<!\w)(?:{_BEGINS})(?!\w)", re.IGNORECASE)
#: That nothing of it is so.
_UNREAL = pattern(
    r"\b(?:if|would|could|should|might|maybe|perhaps|wish\w*|hope|hoping|want|wants|wanted|thinking"
    r"|considering|almost|nearly|never|dream\w*|imagine|years ago|used to|last year|film|movie"
    r"|novel"
    r"|wenn|falls|würde\w*|wäre\w*|könnte\w*|möchte\w*|vielleicht|fast|beinahe|nie|überleg\w*"
    r"|hoff\w*"
    r"|geträumt|letztes jahr|damals"
    r"|ojalá|quizás?|tal vez|podría\w*|quisiera|quiero|quiere|gustaría|casi|nunca|soñ\w+|pensando"
    r"|peut-être|voudrais|voudrait|aimerais|veux|veut|pourrait|presque|jamais|rêv\w+|failli"
    r"|talvez|queria|poderia|quase|sonh\w+|magari|forse|vorrei|vorrebbe|potrebbe|quasi|sogn\w+)\b"
    r"|(?:^\W*|, )s(?:i (?!chiama|è)|e [a-zà-ÿ]{1,4} )|\bs['’]il|\?",
    re.IGNORECASE,
)
_DENIED = pattern(
    r"\b(?:not|isn['’]t|don['’]t|won['’]t|didn['’]t|nicht(?! mehr)|kein\w*|(?<!ya )no|pas"
    r"|não(?<!já não)|non)\b",
    re.IGNORECASE,
)
_DENIED_TO_LEAVE = pattern(
    r"no longer|ya no|já não|ne [^.!?]*plus|non [^.!?]*più|any ?more", re.IGNORECASE
)
#: A name, or a street with its number.
_NAME = pattern(
    r"(?:(?<=\s)|^|(?<=['’]))[A-ZÀ-Ý][\w&-]*(?:['’](?!s\b)\w+)?(?: (?:(?:de|da|do|di|del|of|the|&)"
    r" )?[A-ZÀ-Ý][\w&-]*)*"
)
_DAY_OR_MONTH = pattern(
    r"^(?:\w+day|\w+tag|i|january|february|march|april|may|june|july|august|september|october"
    r"|november"
    r"|december|dr|dra|mr|mrs|ms|frau|herr|doktor)$",
    re.IGNORECASE,
)
_ARTICLES = frozenset(
    "the der die das el la le il lo o a an un una une ein eine we i it my our".split()
)
_ANY_NOUN = pattern(
    r"(?<!\w)(?:at|with|bei|bei der|in der|im|in|zur|zum|en|con|chez|à|au|aux|na|no|em|alla|al"
    r"|dalla|dal|da|nel)"
    r" (?:the |der |dem |el |la |le |l['’]|il |lo )?(?P<what>[a-zà-ÿ][\w-]{3,})",
    re.IGNORECASE,
)
_WORD = pattern(r"[^\W\d_]+")
_FIRST_PERSON = pattern(
    r"\b(?:i|i['’]m|we|my|our|me|us|ich|wir|mein\w*|unser\w*|mich|uns|mir|yo|nos|me|mi|nuestr[oa]"
    r"|je|on|nous"
    r"|mon|ma|notre|eu|nós|meu|minha|io|noi|mi|ci)\b|\bj['’]",
    re.IGNORECASE,
)
#: What is told by a name, and may be left.
_KINDS: tuple[Kind, ...] = ("work", "provider", "post", "home")
#: A sentence that tells of it has one of these.
WORDS_OF_LEAVING = frozenset(
    """leave leaves leaving left quit quits notice handed cancelled canceled dropped ditched
    resigned goodbye bye done finished last longer anymore more retire retires retired retiring away
    gone verlasse verlässt verlassen gekündigt kündige auf aufgehört letzter schluss mehr
    übergeben zurückgegeben abgemeldet pension rente tschüss ade dejo dejé deja dejamos dejado
    baja último adiós ya jubila va fue ido jubilado quitte quitté quittée dernier dernière
    adieu revoir résilié plus part parti partie retraite rendu saio sair saiu saí deixo deixei
    deixou larguei adeus cancelei cancelou não reforma reformou mudou lascio lascia lasciato
    ultimo addio disdetto disdetta più pensione smesso via""".split()
)


def left(said: str, before: str = "") -> Iterator[Told]:
    """Yield what comes in the place of what a sentence says to be left.

    Args:
        before: what was said right before it, which may tell what is left.
    """
    is_told = _LEAVING.search(said) or (before and _LEAVING.search(before))
    if not is_told or _UNREAL.search(said):
        return
    now = parts(said)
    leaving = _leaving(now)
    if leaving is None and before and not _UNREAL.search(before):
        leaving = _leaving(parts(before))
        rest: Sequence[Part] = now
    else:
        rest = [one for one in now if one is not leaving]
    if leaving is None:
        return
    gone = frozenset(_names([leaving]))
    came = next((one for one in rest if _begins(one) and not _DENIED.search(one.said)), None)
    if not gone or came is None:
        return
    new = [word for word in _names([came]) if word not in gone]
    if not new:
        found = _ANY_NOUN.search(came.said)
        new = [] if found is None else [found["what"].lower()]
    if not new:
        return
    found_by = stems_of(gone)
    kin = kin_in(said)
    who = SPEAKER if not kin and _FIRST_PERSON.search(f"{before} {said}") else kin | gone
    for kind in _KINDS:
        if kind == "work" or not kin:
            of = who if kind == "work" else frozenset()
            yield Told(kind, of, " ".join(new), True, found_by, gone)


def _leaving(of: Iterable[Part]) -> Part | None:
    for one in of:
        if _LEAVING.search(one.said):
            plain = _DENIED_TO_LEAVE.sub(" ", one.said)
            return None if _DENIED.search(plain) else one
    return None


def _begins(one: Part) -> bool:
    return one.anew or _BEGINNING.search(one.said) is not None


def _names(of: Iterable[Part]) -> list[str]:
    """Return the words of names in parts, in lower case."""
    names = (name[0].lower() for one in of for name in _NAME.finditer(one.said))
    words = chain.from_iterable(map(_WORD.findall, names))
    return [word for word in words if len(word) > 1 and not _is_light(word)]


def _is_light(word: str) -> bool:
    return word in _ARTICLES or _DAY_OR_MONTH.match(word) is not None
