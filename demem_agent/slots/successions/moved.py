"""What is said to be moved to another day, whatever it is: "the move got pushed to the 20th".

The rules know English, German, Spanish, French, Italian and Portuguese, and were written by hand.
"""

from __future__ import annotations

import re

from demem_agent.later import dataclass, pattern

__all__ = ["Moved", "moved"]

_WHAT = r"(?P<what>(?:l['’])?[^\W\d_][\w'’-]*(?: [\w'’-]+){0,5}?)"
_MOVED = "pushed|moved|postponed|rescheduled|shifted|put off|delayed|bumped|brought"
_VERSCHOBEN = "verschoben|verlegt|vorgezogen|vorverlegt|verlegen|verschieben"
#: That it is, or no more, as a day ends the sentence: "auf den 20. verschoben".
_LATER = rf"(?= .*\b(?:{_VERSCHOBEN})\b| den \d{{1,2}}\.?$)"
_TO = r"(?:back |forward |off |out |up )?(?:to|until|till)"
#: What is moved, and behind that when it is to be.
_FORMS = tuple(
    pattern(form, re.IGNORECASE)
    for form in (
        rf"^\W*{_WHAT} (?:(?:got|gets|was|is|has been|have been|were|are|been|has|now) ){{0,2}}"
        rf"(?:{_MOVED}|slipped) {_TO}\b",
        rf"^\W*(?:they|the \w+|we|i|\w+)(?:['’]ve)? (?:have |had to |has )?(?:{_MOVED}|put|push"
        rf"|move) (?:the|my|our) {_WHAT} {_TO}\b",
        rf"^\W*{_WHAT} (?:has )?(?:{_MOVED}) (?:me|us) {_TO}\b",
        rf"^\W*(?P<what>[^.!?]{{3,60}})[,;:–-]+ ?(?:\w+ )?they(?:['’]ve| have| had to)? (?:{_MOVED}"
        rf"|put|push|move) (?:me|us|it) {_TO}\b",
        rf"^\W*{_WHAT} (?:is|was) (?:now )?(?:on|only on)(?= .*\b(?:now|instead)\b)",
        rf"^\W*{_WHAT} is now (?:on|only on)\b",
        # German
        rf"^\W*{_WHAT} (?:wurde|wird|ist)(?: jetzt| nun| leider)? (?:auf|um){_LATER}",
        rf"\b(?:hat|haben|habe|mussten?) (?:den|die|das|meinen?|unseren?|mein|unser) {_WHAT}"
        rf" auf{_LATER}",
        rf"^\W*{_WHAT} (?:ist|findet) (?:jetzt|nun)(?: erst| schon| doch)? am\b",
        # Spanish
        rf"^\W*{_WHAT} (?:se (?:ha )?(?:aplaz|retras|cambi|adelant|pospon|pospuest|mov|pas)\w*"
        r"|pasa|queda|(?:está|ha sido|fue) (?:aplazad|retrasad|adelantad|cambiad|pospuest)[oa])"
        r" (?:al?|para(?: el)?|hasta(?: el)?)\b",
        rf"\b(?:han?|hemos|he|(?:me|nos) (?:han|ha)) (?:aplazado|retrasado|cambiado|adelantado"
        rf"|pospuesto"
        rf"|movido|pasado) (?:la|el|mi|nuestr[oa]) {_WHAT} (?:al?|para|hasta)\b",
        # French
        rf"^\W*{_WHAT} (?:est|a été|sera|passe)(?: finalement)? (?:(?:repouss|décal|report|avanc"
        rf"|déplac)ée?s? )?"
        r"(?:au|à|pour)\b",
        rf"\b(?:a|ont|avons|ai|on a) (?:repoussé|décalé|reporté|avancé|déplacé) (?:le |la |l['’]"
        rf"|mon |ma |notre ){_WHAT} (?:au|à|pour)\b",
        # Italian
        rf"^\W*{_WHAT} (?:è|è stat[oa]|viene|slitta|passa)(?: stat[oa])?"
        r" ?(?:spostat[oa]|rimandat[oa]|rinviat[oa]|anticipat[oa]|posticipat[oa])?"
        r" (?:al|a|alla|alle|per)\b",
        rf"\b(?:hanno|ha|abbiamo|ho) (?:spostato|rimandato|rinviato|anticipato"
        rf"|posticipato) (?:il |la |l['’]|lo ){_WHAT} (?:al|a|alla|alle)\b",
        # Portuguese
        r"\b(?:adi|antecip|remarc|mud|pass|troc|alter|transferi|empurr)(?:ou|aram|ei|ámos|amos|u)"
        rf"(?:-(?:me|nos))? (?:o|a)s? (?:meu |minha |nosso |nossa )?{_WHAT} para\b",
        rf"^\W*{_WHAT} (?:foi|ficou|fica|passa) (?:(?:adiad|antecipad|remarcad|mudad)[oa] )?para\b",
    )
)


@dataclass(frozen=True, slots=True)
class Moved:
    """What is moved, in words, and from where in the text on it is told to when."""

    what: str
    to: int


def moved(low: str) -> Moved | None:
    """Return what a text in lower case says to be moved to another time; None where nothing is."""
    for form in _FORMS:
        found = form.search(low)
        if found is not None:
            return Moved(found["what"], found.end())
    return None
