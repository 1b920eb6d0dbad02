"""Whether somebody only wishes or dreams of something: no plan, and nothing that was.

"I'd love to go in May" has the words of "When do I go?", and does not answer it where "booked for
3 June" stands beside it. One short table of six languages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from demem_agent.later import pattern

__all__ = ["wishes"]

_WISHES: Mapping[str, str] = {
    "English": r"would (?:\w+ )?(?:love|like|prefer)|['’]d (?:love|like|prefer|rather)"
    r"|wish(?:es|ed)?"
    r"|want(?:s|ed)?(?: \w+)? to|dream(?:s|ed|t|ing)? of|dreaming|hop(?:e|es|ed|ing) to|one day"
    r"|some day|someday|should really|if only|thinking (?:of|about)|maybe|perhaps|might"
    r"|bucket list",
    "German": r"möchten?|würden? (?:gern\w*|so gern|am liebsten)|hätten? gern\w*|wünsch\w*|träum\w*"
    r"|will (?:\w+ ){0,4}(?:mal|irgendwann)|irgendwann|eines tages|vielleicht|am liebsten|hoffe\w*"
    r"|überlege\w*|wäre schön",
    "Spanish": r"me (?:gustaría|encantaría)|nos (?:gustaría|encantaría)|quisier[ao]\w*|quiero"
    r"|queremos|ojalá|sueño con|soñ\w+|algún día|quizás?|tal vez|a lo mejor|espero",
    "French": r"j['’]aimerais|aimer(?:ait|ions|aient)|voudr(?:ais|ait|ions|aient)|je veux|rêv\w+"
    r"|un jour|peut-être|si seulement|j['’]espère|envie d\w*",
    "Italian": r"vorre\w+|mi piacerebbe|ci piacerebbe|magari|sogno\w*|sogn\w+|un giorno|forse|spero"
    r"|se solo",
    "Portuguese": r"gostaria\w*|adoraria\w*|queria\w*|quero|sonho\w*|um dia|talvez|oxalá|tomara"
    r"|quem dera|espero",
}
_WISHED = pattern(rf"(?<!\w)(?:{'|'.join(_WISHES.values())})(?!\w)", re.IGNORECASE)


def wishes(text: str) -> bool:
    """Whether a text tells of something that is wished for or supposed."""
    return _WISHED.search(text) is not None
