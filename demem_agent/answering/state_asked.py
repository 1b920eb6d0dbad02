"""Where somebody lives or what they work, where that is asked for: "what does Kasia do?".

Few say it in the words of the question: "we're at 5 Rua do Almada", "I started as a nurse". What
tells it of the one asked about, by themselves or by name, stands ahead of what only shares a word.
"""

from __future__ import annotations

import re
from typing import Literal

import numpy as np

from demem_agent.answering.asking import LEAST
from demem_agent.answering.candidates import Sentence
from demem_agent.later import dataclass, pattern
from demem_agent.slots.successions.claims import claim
from demem_agent.slots.successions.states import stated
from demem_agent.text.language.kin import first_person
from demem_agent.types import Question

__all__ = ["StateAsked", "by_state", "state_asked"]

Kind = Literal["home", "work"]

#: What sentences that tell what is asked for are ahead of all others, and how far their own
#: scores order them.
_TELLS = 0.1
_OWN = 0.2
_NAME = r"(?:[oa] |[ie]l |la )?((?!(?:I|Ich|Je|Eu|Io|Yo)\b)[A-ZÀ-Ý][\w-]+)"
_ME = r"(?i:i|we)"
_MY = (
    r"(?i:my|our|mein\w*|unser\w*|mi|nuestr[oa]|mon|ma|notre|(?:a |o )?(?:meu|minha|noss[oa])"
    r"|(?:il |la )?(?:mio|mia|nostr[oa]))"
)
#: How it is asked for, of who asks and of somebody by name.
_FORMS: dict[Kind, tuple[str, ...]] = {
    "home": (
        rf"\b(?i:where) (?i:do|does|did) (?:{_ME}|{_NAME}) (?i:now |still )?(?i:live)\b",
        rf"\b{_MY} (?i:(?:home |new |old |current )*(?:address|adresse|dirección|morada|endereço"
        rf"|indirizzo))\b",
        rf"\b{_NAME}['’]s (?i:(?:home |new |old )*address)\b",
        rf"\b(?i:wo) (?i:wohn(?:e|en|st)|leb(?:e|en)) (?i:ich|wir)\b|\b(?i:wo wohnt) {_NAME}",
        r"\b(?i:wo) (?i:habe?n? (?:ich|wir)) .*(?i:gewohnt|gelebt)\b",
        rf"\b(?i:d[óo]nde) (?i:viv(?:o|imos|ía|íamos))\b(?! [A-Z])|\b(?i:d[óo]nde vive) {_NAME}",
        rf"\b(?i:où)(?i: est-ce que)? (?i:j['’]habit|on habit|nous habit)\w+|\b(?i:où habite)"
        rf" {_NAME}",
        rf"\b(?i:onde) (?i:mor(?:o|amos|ava|ávamos)|viv(?:o|emos))\b|\b(?i:onde mora) {_NAME}",
        rf"\b(?i:dove) (?i:abit(?:o|iamo|avo)|viv(?:o|iamo))\b|\b(?i:dove abita) {_NAME}",
    ),
    "work": (
        rf"\b(?i:where|who) (?i:do|does|did) (?:{_ME}|{_NAME}) (?i:now |still )?(?i:work)\b",
        rf"\b(?i:what) (?i:do|does) (?:{_ME}|{_NAME}) do(?i: for a living| for work| as a"
        rf" job)?\W*$",
        rf"\b{_MY} (?i:(?:new |old |current )?(?:job|employer|beruf|trabajo|empleo|travail|métier"
        rf"|emprego"
        r"|profissão|lavoro))\b",
        rf"\b{_NAME}['’]s (?i:(?:new |old )?(?:job|employer|profession))\b",
        rf"\b(?i:wo|als was|bei wem) (?i:arbeite[nt]?) (?:(?i:ich|wir)\b|{_NAME})",
        r"\b(?i:wo) (?i:habe?n? (?:ich|wir)) .*(?i:gearbeitet)\b",
        rf"\b(?i:was macht) {_NAME}(?i: beruflich)?\W*$",
        rf"\b(?i:d[óo]nde) (?i:trabaj(?:o|amos|aba))\b(?! [A-Z])|\b(?i:d[óo]nde trabaja) {_NAME}",
        rf"\b(?i:a qué se dedica|qué hace) {_NAME}\W*$",
        r"\b(?i:où)(?i: est-ce que)? (?i:je travaill\w+)|\b(?i:où travaille)(?i:-t-(?:il|elle))? "
        rf"{_NAME}",
        rf"\b(?i:que fait) {_NAME}(?i: dans la vie)?\W*$|\b(?i:métier d)(?i:e |['’]){_NAME}",
        rf"\b(?i:onde) (?i:trabalh(?:o|amos|ava))\b|\b(?i:onde trabalha) {_NAME}",
        rf"\b(?i:o que faz) {_NAME}\W*$",
        rf"\b(?i:dove) (?i:lavor(?:o|iamo|avo))\b|\b(?i:dove lavora) {_NAME}",
        rf"\b(?i:che lavoro fa|cosa fa) {_NAME}(?i: di lavoro)?\W*$",
    ),
}
_ASKED: tuple[tuple[Kind, re.Pattern[str]], ...] = tuple(
    (kind, pattern(form)) for kind, forms in _FORMS.items() for form in forms
)
#: What somebody is by their work.
_AS = pattern(
    r"\b(?:start(?:ed|ing|s)?|work(?:ed|ing|s)?|job|train(?:ing|ed)|lehre|arbeitet?|jobbe"
    r"|angefangen"
    r"|empec\w+|empiez\w+|trabaj[oa]|commenc\w+|travaille|comec\w+|começ\w+|trabalh[oa]|inizi\w+"
    r"|lavor[oa])(?: [\w'’]+){0,4}? (?:as|als|de|como|comme|come) \w"
    r"|\b(?:i|\w+) teach(?:es)?\b|\bfacci?[oa] (?:il |la |l['’])\w|\bfa (?:il |la |l['’])\w"
    r"|\b(?:i['’]m|i am|he is|she is) (?:now |also )?an? (?!bit|lot|little|fan|mess|huge|big|good"
    r"|vegan"
    r"|vegetarian|mother|father|mum|dad|member|mile|few|morning|night|early|late|person|sucker)\w+"
    r"|\b(?:soy|sou|sono|bin|suis) (?:ya |jetzt |maintenant |agora |ora |un |una |um |uma"
    r" )?[a-zà-ÿ]{5,}"
    r"(?:er|erin|in|ista|or|ora|ero|era|eiro|eira|ier|ière|eur|euse|iste|aire|ario|aria|tore|trice"
    r"|ente"
    r"|ger|login|loge|logo|loga|ano|ana|ico|ica)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class StateAsked:
    """Which state of somebody a question asks for; ``name`` is "" for who asks."""

    kind: Kind
    name: str


def state_asked(query: str) -> StateAsked | None:
    """Return which state of whom a question asks for; None where it asks for none."""
    for kind, form in _ASKED:
        found = form.search(query)
        if found is not None:
            name = next((name for name in found.groups() if name), "")
            return StateAsked(kind, name.lower())
    return None


def by_state(question: Question, scores: np.ndarray, found: list[Sentence]) -> np.ndarray:
    """Put ahead what tells where the one asked about lives, or what they work."""
    asked = state_asked(question.query)
    if asked is None:
        return scores
    ahead = max(float(scores.max()), LEAST) + _TELLS
    weighed = scores.copy()
    for nth, one in enumerate(found):
        if not one.asks and _tells(asked, one, question.asker):
            weighed[nth] = ahead + _OWN * scores[nth]
    return weighed


def _tells(asked: StateAsked, one: Sentence, asker: str | None) -> bool:
    speaks = _speaks(asked, one.evidence.speaker, asker)
    said = claim(one.text)
    if said is None:
        return False
    subject = said.subject
    if subject is not None and (subject.kind in ("named", "being") or subject.holder):
        speaks = False  # whoever says it
        if not asked.name:
            return False
    who = {asked.name} if asked.name else {"i"}
    for told in said.told:
        of = told.what or {"i"}
        if told.kind == asked.kind and ((speaks and "i" in of) or not who.isdisjoint(of)):
            return asked.name != "" or speaks
    state = stated(said.said, asked.kind)
    if state is not None:
        return (speaks and state.who == "") or state.who == asked.name != ""
    is_role = asked.kind == "work" and _AS.search(said.said) is not None
    return is_role and ((speaks and first_person(said.said)) or _named(asked.name, said.said))


def _speaks(asked: StateAsked, speaker: str | None, asker: str | None) -> bool:
    """Whether who says something may be the one asked about."""
    by = (speaker or "").casefold().split()
    if asked.name:
        return asked.name in by
    return asker is None or not by or by == asker.casefold().split()


def _named(name: str, said: str) -> bool:
    return bool(name) and name in said.casefold().split()
