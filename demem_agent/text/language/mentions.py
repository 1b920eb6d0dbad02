"""Whether a text names somebody and tells next to nothing beside: "ok (looks at ravi)"."""

from __future__ import annotations

from collections.abc import Collection

from demem_agent.later import pattern
from demem_agent.text.language.words import words
from demem_agent.text.remembered import kept_lately
from demem_agent.text.sameness import tells_nothing, wording

__all__ = ["SO_LITTLE", "greets", "merely_names"]

#: What somebody shows or does rather than says.
_SHOWN = pattern(r"\([^()\n]{1,60}\)|(?<![*\w])\*[^*\s][^*\n]{0,60}\*(?!\*)|\[[^\]\n]{1,60}\]")
#: Characters of a text that may say so little.
SO_LITTLE = 60
_MARKS = pattern(r"[^\w\s]")
_WORD = pattern(r"[^\W_]+")
#: Words of greeting, calling, thanking and pity in some languages, with those that lead to a name.
_GREETS = frozenset(
    """hi hello hey heya yo dear good morning evening afternoon night day bye goodbye cheers thanks
    thank you welcome back happy birthday congrats congratulations love sweet poor little bless
    aww oh ah wow lol haha the my our and to for a miss missed sorry well done bravo ok okay yes no
    hallo moin servus guten guter gute morgen abend tag nacht liebe lieber liebes danke tschüss
    tschau arme armer armes kleine kleiner der die das mein meine
    bonjour bonsoir salut coucou merci cher chère pauvre petit petite bravo à le la les mon ma
    hola buenos buenas días tardes noches gracias adiós querido querida pobre pobrecito pobrecita
    el al mi felicidades
    olá oi bom boa dia tarde noite obrigado obrigada tchau adeus querido caro cara coitado coitada
    coitadinho coitadinha pobrezinho parabéns o os as do da de meu minha
    ciao buongiorno buonasera grazie caro cara povero povera poverino poverina bravo il del
    hoi dag goedemorgen dank je lieve arme cześć hej dzień dobry dzięki biedny biedna biedactwo
    kochany kochana""".split()
)


def greets(text: str, names: Collection[str]) -> bool:
    """Whether a text does no more than greet, call or pity one of some names.

    Args:
        names: their words, in lower case.
    """
    if len(text) > SO_LITTLE or not names:
        return False
    said = _WORD.findall(text.lower())
    return not said or (
        any(word in names for word in said)
        and all(word in names or word in _GREETS for word in said)
    )


def merely_names(text: str, names: Collection[str]) -> bool:
    """Whether a text has hardly a word beside some names that tells anything.

    Args:
        names: their words, in lower case.
    """
    return len(text) <= SO_LITTLE and _merely_names(text, frozenset(names))


@kept_lately(1024)  # lines are ranked again and again
def _merely_names(text: str, names: frozenset[str]) -> bool:
    said = [word for word in words(_SHOWN.sub(" ", text)) if word not in names]
    return not said or tells_nothing(wording(_MARKS.sub(" ", " ".join(said))))
