"""What can be told in figures or signs alone: a telephone number, an e-mail address, a size.

"What is Mara's phone number?" is answered by no text without one. In English, German, Dutch,
French, Spanish, Portuguese and Italian.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from demem_agent.later import dataclass, pattern
from demem_agent.text.language.numbers import digits

__all__ = ["Figure", "figure_asked"]

#: Words for each.
_WORDS: Mapping[str, str] = {
    "email": r"(?:e-?)?mail[- ]?(?:adress?e?|address|adres)|adresse (?:e-?)?mail"
    r"|indirizzo (?:e-?)?mail"
    r"|(?:direcci[oó]n|correo) (?:de )?(?:e-?mail|correo|electrónico)|correo electrónico"
    r"|endereço de e-?mail|adresse électronique",
    "phone": r"(?:(?:tele)?phone|mobile|cell) numbers?|(?:telefoon|mobiele? |gsm-?)nummer"
    r"|(?:telefon|handy|mobil)nummer|n[uú]m[eé]ro de (?:téléphone|portable|teléfono|móvil|celular)"
    r"|número de (?:telefone|telemóvel)|numero di (?:telefono|cellulare)|cellulare di",
    "size": r"(?:shoe|dress|shirt|ring|hat|collar|clothes|clothing) size"
    r"|(?:schoen|kleding|ring|hemd)maat|maat (?:schoenen|hemd|broek|jas)"
    r"|(?:schuh|kleider|konfektions|ring|hosen)größe|pointure"
    r"|(?:número|talla) de (?:zapatos?|pie|ropa|camisa|pantalón)|número de (?:sapatos?|calçado)"
    r"|taille de (?:chemise|vêtements|bague)"
    r"|(?:numero|misura|taglia) d(?:i|elle) (?:scarpe?|camicia)",
}
_ASKED = pattern(
    rf"(?<!\w)(?:{'|'.join(rf'(?P<{kind}>{words})' for kind, words in _WORDS.items())})(?!\w)",
    re.IGNORECASE,
)
_TOLD = {
    "email": pattern(r"\S@\S|\w \(?at\)? \w+ \(?(?:dot|punkt|punt|punto|point)\b", re.IGNORECASE),
    "phone": pattern(r"\d(?:[\s()/.-]{0,2}\d){4}"),
    "size": pattern(
        r"(?<![\w.,:€$£])\d{1,3}(?:[.,]5)?(?![\w:]|[.,]\d|\s?(?:[€$£%]|(?i:euros?|eur|dollars?|pounds?"
        r"|francs?|uhr|uur)\b))"
        r"|(?<!\w)(?:X*[SL]|M|(?i:small|medium|large|piccola?|media|grande|klein|groot|gro(?:ß|ss)"
        r"|petite?|pequeñ[oa]|pequen[oa]))(?!\w)"
    ),
}


@dataclass(frozen=True, slots=True)
class Figure:
    """What a question asks for that is told in figures.

    Attributes:
        kind: "email", "phone" or "size".
        rest: the question without the words for it.
    """

    kind: str
    rest: str

    def told(self, text: str) -> bool:
        """Whether a text tells one."""
        return _TOLD[self.kind].search(digits(text)) is not None


def figure_asked(question: str) -> Figure | None:
    """Return what a question asks for that is told in figures; None where it asks for none."""
    found = _ASKED.search(question)
    if found is None:
        return None
    return Figure(found.lastgroup or "", question[: found.start()] + question[found.end() :])
