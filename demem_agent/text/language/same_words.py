"""Everyday words for one thing, short forms among them: "wlan" and "wifi", "bf", "km", "Termin".

One short table of what people note most. It makes nothing the same that may be another thing: a
PIN is no password, and a mobile no landline. To add a word, put it beside those that mean the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache

from demem_agent.later import pattern
from demem_agent.text.language.words import stems

__all__ = ["in_held_words", "is_everyday", "one_word_each", "stems_of_meaning"]

#: Each row means one thing, in English, German, Spanish, French, Italian and Portuguese.
_SAME = (
    "wifi wlan",
    "password passcode pw pwd passwort kennwort contraseña senha code",
    "birthday bday geburtstag cumpleaños anniversaire compleanno aniversário",
    "dentist zahnarzt zahnärztin dentista dentiste",
    "doctor gp physician arzt ärztin hausarzt médico médica médecin medico dottore dottoressa",
    "appointment appt termin rdv appuntamento",
    "address addr adresse anschrift dirección indirizzo morada endereço",
    "boyfriend bf novio fidanzato namorado",
    "girlfriend gf novia fidanzata namorada",
    "bike bicycle fahrrad vélo bici bicicleta bicicletta",
    "car auto wagen coche voiture macchina carro",
    "flat apartment wohnung piso appartement appartamento apartamento",
    "km kilometre kilometer kilómetro kilomètre chilometro quilómetro quilômetro",
    "kg kilo kilogram kilogramm kilogramme chilo",
    "gb gig gigabyte",
    "hour hr hrs stunde hora heure ora",
    "minute min mins minuto",
    "painkiller schmerzmittel schmerztablette analgésico antidouleur antidolorifico",
    "allergy allergie alergia allergia",
    "salary wage gehalt lohn sueldo salaire stipendio salário",
    "rent miete alquiler loyer affitto renda aluguel",
    "insurance versicherung seguro assurance assicurazione",
    "vet tierarzt tierärztin veterinario vétérinaire veterinário",
    "keys schlüssel llaves clés chiavi chaves",
    "mum mother mom mutter mama madre mère mãe",
    "dad father vater papa padre père pai",
)
_LANGUAGES = ("english", "german", "spanish", "french", "italian", "portuguese")
#: Letters of a stem that is another word's as well where it is shorter: "sal" of "salaire".
LEAST_STEM = 4
_WORD = pattern(r"[^\W_]+")


def in_held_words(text: str, held: Callable[[str], bool]) -> str:
    """Return a text with words put for those of the table that nothing holds, if that is held.

    Args:
        held: whether a stem is held.
    """
    rows = _rows()
    for word in dict.fromkeys(_WORD.findall(text)):
        row = rows.get(word.lower())
        if row is None or _is_held(word.lower(), held):
            continue
        other = next((one for one in row if _is_held(one, held)), None)
        if other is not None:
            text = _put(text, word, other)
    return text


def one_word_each(terms: Iterable[str]) -> list[str]:
    """Return stems, those of one meaning as the same one."""
    same = _first_stems()
    return [same.get(term, term) for term in terms]


def stems_of_meaning(word: str) -> frozenset[str]:
    """Return the stems of a word in lower case and of those of the table that mean the same."""
    every = (word, *_rows().get(word, ()))
    return frozenset(stem for one in every for stem in _all_stems(one))


def is_everyday(word: str) -> bool:
    """Whether the table has a word, in whatever case."""
    return word.lower() in _rows()


def _is_held(word: str, held: Callable[[str], bool]) -> bool:
    return any(map(held, _all_stems(word)))


def _put(text: str, word: str, other: str) -> str:
    """Put a word in the place of another wherever that stands alone."""
    parts: list[str] = []
    ended = 0
    for found in _WORD.finditer(text):
        if found[0] == word:
            parts += [text[ended : found.start()], other]
            ended = found.end()
    return "".join([*parts, text[ended:]])


@cache
def _all_stems(word: str) -> tuple[str, ...]:
    every = [word, *(stems([word], language)[0] for language in _LANGUAGES)]
    return tuple(dict.fromkeys(every))


@cache
def _rows() -> Mapping[str, tuple[str, ...]]:
    """Return by each word of the table the others of its row; plurals with s are known as well."""
    found: dict[str, tuple[str, ...]] = {}
    for row in _SAME:
        words = tuple(row.split())
        for word in words:
            others = tuple(other for other in words if other != word)
            found[word] = others
            found.setdefault(f"{word}s", others)
    return found


@cache
def _first_stems() -> Mapping[str, str]:
    """Return by each stem of a row the English stem of its first word."""
    found: dict[str, str] = {}
    for row in _SAME:
        words = tuple(row.split())
        (first,) = stems([words[0]])
        for word in words:
            for stem in _all_stems(word):
                if len(stem) >= LEAST_STEM or stem in (word, *stems([word])):
                    found.setdefault(stem, first)
    return found
