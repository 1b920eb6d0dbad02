"""Who is somebody's boss, doctor or landlord: "new boss is Karin", "Dr. Novak took over"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from demem_agent.later import pattern
from demem_agent.slots.successions.anew.told import Told
from demem_agent.slots.successions.anew.words import (
    NAME,
    TITLE,
    every_stem,
    is_supposed,
    said_now,
    stems_of,
    telling,
)

__all__ = ["WORDS_OF_POSTS", "posts"]

#: By one name, what a post of which there is one is called.
_POSTS = {
    "boss": "boss manager supervisor chef chefin vorgesetzter vorgesetzte jefe jefa cheffe patron"
    " patronne capo capa chefe",
    "doctor": "gp doctor doc physician hausarzt hausärztin arzt ärztin médico médica médecin"
    " généraliste medico",
    "dentist": "dentist zahnarzt zahnärztin dentista dentiste",
    "landlord": "landlord landlady vermieter vermieterin casero casera propriétaire proprietario"
    " proprietaria senhorio senhoria",
    "teacher": "teacher tutor lehrer lehrerin profesor profesora maestro maestra professeur prof"
    " insegnante professor professora",
    "trainer": "trainer trainerin coach entrenador entrenadora entraîneur allenatore allenatrice",
    "hairdresser": "hairdresser barber friseur friseurin friseuse peluquero peluquera coiffeur"
    " coiffeuse parrucchiere parrucchiera",
    "therapist": "therapist psychologist therapeut therapeutin terapeuta psicóloga psicólogo"
    " thérapeute psychologue",
    "neighbour": "neighbour neighbor nachbar nachbarin vecino vecina voisin voisine vicino vicina",
    "flatmate": "flatmate roommate housemate mitbewohner mitbewohnerin coloc colocataire"
    " coinquilino coinquilina",
    "lawyer": "lawyer anwalt anwältin abogado abogada avocat avocate avvocato avvocata",
    "midwife": "midwife hebamme matrona comadrona levatrice",
    "vet": "vet tierarzt tierärztin veterinario veterinaria vétérinaire",
    "caretaker": "caretaker janitor hausmeister hausmeisterin portero concierge portinaio portinaia"
    " huismeester gardien gardienne conserje custode",
}
_OF_WORD = {word: post for post, words in _POSTS.items() for word in words.split()}
#: A sentence that tells of a post has one of these, or says that who held it is gone.
WORDS_OF_POSTS = frozenset(_OF_WORD).union(
    """retired retires retiring left quit gone resigned died passed stopped closed moved pension
    rente weg gegangen aufgehört ausgezogen weggezogen gekündigt gestorben jubilado jubilada
    jubiló fue ido va marchó marchado mudó mudado parti partie retraite démissionné démissionnée
    déménagé quitté andato andata pensione smesso lasciato partito partita trasferito trasferita
    reformou aposentou mudou embora hört leaving my our mein meine unser unsere mi nuestro nuestra
    mon ma notre mio mia meu minha mr mrs ms miss dr frau herr señor señora monsieur madame mme
    signor signora meneer mevrouw""".split()
)
#: Of these there are several: a new one ends none.
_SEVERAL = frozenset({"neighbour", "flatmate"})
_WORDS = "|".join(sorted(_OF_WORD, key=len, reverse=True))
_BESIDE = r"(?P<beside>(?:(?!(?:is|ist|es|est|è|was)\b)[\w'’-]+ ){0,4}?)"
_OF = (
    r"(?P<of>(?: (?:of|for|von|de|du|del|della|di|da|do) [\w'’-]+(?: [\w'’-]+)?| traitant| di base"
    r"| de cabecera| [a-zà-ÿ]+)?)"
)
_IS = (
    r"(?:['’]s| is| was always)(?: now)?(?: called| named)?| (?:ist|heißt)(?: jetzt| nun)?"
    r"| (?:es|se llama)(?: ahora)?|,? (?:est|s['’]appelle|c['’]est)(?: maintenant)?"
    r"| (?:è|si chiama)(?: ora| adesso)?| (?:é|chama-se)(?: agora)?"
)
_NAMED = rf"(?P<name>(?:(?i:{TITLE}) )*(?:{NAME}))"
_FORMS = (
    pattern(rf"(?:^|[,;:.] ?)\W*{_BESIDE}\b(?P<post>(?i:{_WORDS})){_OF}(?i:{_IS}) {_NAMED}"),
    pattern(
        rf"(?:^|[,;:.] ?)\W*{_NAMED} (?i:is|ist|es|est|è|é)(?i: now| jetzt| ahora| maintenant|"
        rf" adesso| ora)? {_BESIDE}\b(?P<post>(?i:{_WORDS})){_OF}"
    ),
)
#: Whoever it is: that he is gone is told by his name.
_ANY = pattern(
    r"^\W*(?i:my|our|meine?|unsere?|mi|nuestr[oa]|mon|ma|notre|il mio|la mia|meu|minha) "
    rf"(?P<what>[^\W\d_][\w-]*(?: [a-zà-ÿ][\w-]*)?)(?i:{_IS}) {_NAMED}"
)
_NEW_WORD = r"(?:new|neue[rn]?|nuev[oa]|nouve(?:au|lle|l)|nuov[oa]|nov[oa]|nieuwe)"
_NEW = pattern(rf"\b{_NEW_WORD}\b", re.IGNORECASE)
#: Before the name of somebody, who is no thing by it.
_HONORIFIC = (
    r"(?i:mr|mrs|ms|miss|dr|frau|herrn?|señora?|monsieur|madame|mme|m|signora?|meneer|mevrouw)\.?"
)
_PERSON = rf"(?P<name>{_HONORIFIC} {NAME})"
_DET = (
    r"(?i:the|our|my|der|dem|den|die|unsere?[mnr]?|meine?[mnr]?|el|la|nuestr[oa]|mi|le|notre|mon|ma"
    r"|il|lo|nostr[oa]|de|onze|mijn)"
)
#: The post by what it is called, up to the mark behind which who holds it is named.
_CALLED = r"(?P<what>[^\W\d_][\w-]*(?: [\w'’-]+){0,4}?)"
_ROLES = (
    # "new caretaker: Ms Dragovic", "the new caretaker is Ms Dragovic"
    pattern(
        rf"(?:^|[,;:.!] ?)\W*(?P<whose>(?:[\w'’-]+ ){{0,2}}?)(?P<new>(?i:{_NEW_WORD})) {_CALLED}"
        rf"(?: ?[:–]|(?i:{_IS})| (?i:is|heet|wird)) {_PERSON}"
    ),
    # "the caretaker is now Ms Dragovic"
    pattern(
        rf"(?:^|[,;:.!] ?)\W*(?P<whose>{_DET}) {_CALLED} (?i:is|ist|heißt|es|est|è|é)"
        rf" (?P<new>(?i:now|jetzt|nun|ahora|maintenant|adesso|ora|nu)) {_PERSON}"
    ),
    # "Ms Dragovic is the new caretaker"
    pattern(
        rf"(?:^|[,;:.!] ?)\W*{_PERSON} (?i:is|ist|es|est|è|é|wird)(?i: now| jetzt| nu| ahora|"
        rf" adesso)? (?P<whose>(?:[\w'’-]+ ){{0,2}}?)(?P<new>(?i:{_NEW_WORD}))"
        rf" (?P<what>[^\W\d_][\w-]*(?: [\w'’-]+){{0,4}}?)(?=\W*$|[,;:.!])"
    ),
    # "the caretaker, Mr Yilmaz, lives on the ground floor", "our caretaker is Mr Yilmaz"
    pattern(
        rf"\b(?P<whose>{_DET}) (?P<what>[^\W\d_][\w-]*(?: [\w'’-]+){{0,2}}?)"
        rf"(?:,|(?i:{_IS})| (?i:is|heet))? {_PERSON}"
    ),
)
#: Of these there are several as well, of whom any may be told with a title.
_OF_MANY = frozenset(
    """colleague coworker friend client customer tenant student pupil patient member guest employee
    partner volunteer kollege kollegin freund freundin kunde kundin mieter mieterin schüler
    schülerin patientin mitglied gast mitarbeiter mitarbeiterin collega vriend vriendin
    klant huurder leerling buurman buurvrouw compañero compañera amigo amiga cliente
    inquilino inquilina alumno alumna paciente collègue ami amie locataire élève amico amica
    studente studentessa paziente socio socia""".split()
)
_NEW_WORDS = frozenset("nieuwe nieuw onze mijn".split())
_MARKED = pattern(rf"(?<!\w){_HONORIFIC} [A-ZÀ-Ý]")
#: Where it is that somebody holds it, behind the name.
_SOMEWHERE = pattern(
    r" (?:at|in|for|bei|beim|im|an|für|en|chez|à|au|aux|nel|nella|alla|al|presso|bij|op|voor)"
    r" (?P<place>[\w'’-]+(?: [\w'’-]+){0,2})",
    re.IGNORECASE,
)
_GONE = (
    r"(?:(?:has |have |is |just |now |sadly )*(?:retire[ds]|retiring|leaving|left(?=\W*(?:[,;.–-]"
    r"|and\b"
    r"|the (?:company|firm|team|practice|job|school)))|quit|gone|moved (?:out"
    r"|away|on)|resigned|died|passed away|stopped|closed)"
    r"|hört (?:\w+ )?auf|(?:ist|hat|geht|ging) (?:\w+ ){0,2}?(?:pension|rente|weg|gegangen"
    r"|aufgehört|ausgezogen"
    r"|weggezogen|gekündigt|gestorben)"
    r"|(?:moved|is moving|moves) to|se (?:ha |va a )?(?:jubil\w+|fue|ido|va|marchó|marchado|mudó"
    r"|mudado)"
    r"|(?:est|a|part) (?:parti\w*|pris sa retraite|démissionné|déménagé|en retraite|à la retraite"
    r"|quitté\w*)|(?:è|ha|va) (?:andat[oa]|in pensione|smesso|lasciato|partit[oa]|trasferit[oa])"
    r"|part (?:bientôt )?(?:à la|en) retraite|(?:reformou|aposentou|mudou|reforma)-se|foi embora)"
)
#: That somebody stands in the place of who is gone.
_AFTER = (
    r"(?i:t(?:akes|ook|aking) over|has taken over|has the|has (?:his|her|the) (?:job|place)|lives"
    r"|is (?:my|our|the)|übernimmt|übernommen|jetzt|nun|ahora|reprend|remplace|maintenant|ora"
    r"|adesso|siamo passat[ie]|sono passat[oa]|andiamo da|vado da|voy (?:a|con)|vamos (?:a|con)|je"
    r" vais chez|on va chez"
    r"|nous suit|me suit|vou a[o]?|sou seguid[oa]|gehe(?:n)?|bin|sind|we['’]re with|i['’]m with|i"
    r" see|we see|we go to"
    r"|i go to|prende il|subentra|sostituisce|substitui|agora|now|replaces?|replaced|new)"
)
_SUCCESSOR = pattern(
    rf"^\W*(?P<old>(?:(?i:{TITLE}) )*(?:{NAME})) (?i:{_GONE})\b(?P<rest>[^.!?]*?[,;–-].*|[^.!?]*?"
    rf" and .*|.*[.] .*)$"
)
_ANOTHER = pattern(rf"{_NAMED}")
_TAKES_OVER = pattern(rf"\b{_AFTER}\b")
_TITLES = frozenset(
    """meneer mevrouw dr mr mrs ms miss prof frau herr herrn doktor doctor doctora docteur dottor
    dottore dottoressa señor señora monsieur madame mme signor signora sr sra dra""".split()
)


def posts(said: str) -> Iterator[Told]:
    """Yield who a sentence says to hold a post for its speaker."""
    role = _role(said) if _MARKED.search(said) else None
    if role is not None:
        yield role
    if is_supposed(said):
        return
    gone = _SUCCESSOR.search(said)
    if gone is not None:
        yield from _successor(gone)
        return
    if role is not None:
        return
    for form in _FORMS:
        found = form.search(said)
        if found is not None:
            break
    else:
        yield from _of_any(said)
        return
    post = _OF_WORD[found["post"].lower()]
    beside = f"{found['beside']} {found['of']}"
    name = _plain_name(found["name"])
    anew = post not in _SEVERAL and (_NEW.search(beside) is not None or said_now(said))
    what = telling(beside) - {"traitant", "base", "cabecera"} | {post}
    if name:
        yield Told("post", what, name, anew, every_stem(_POSTS[post]) | what)


def _role(said: str) -> Told | None:
    """Return who a sentence says to hold a post, of those whom it names with a title."""
    for form in _ROLES:
        found = form.search(said)
        if found is not None:
            break
    else:
        return None
    where = _SOMEWHERE.match(said, found.end())
    whole = f"{found['whose']} {found['what']} {where['place'] if where else ''}"
    name = _plain_name(found["name"])
    if not name or is_supposed(said[: found.end()]):
        return None
    words = telling(whole) - _NEW_WORDS
    posts = {_OF_WORD[word] for word in words if word in _OF_WORD}
    what = frozenset(words - _OF_WORD.keys() | posts)
    if not what or not (posts.isdisjoint(_SEVERAL) and what.isdisjoint(_OF_MANY)):
        return None
    anew = found.groupdict().get("new") is not None or said_now(found[0])
    by = stems_of(what).union(*(every_stem(_POSTS[post]) for post in posts))
    return Told("post", what, name, anew, by)


def _of_any(said: str) -> Iterator[Told]:
    """Yield who is told to be something to the speaker that is no post of those known."""
    found = _ANY.search(said)
    name = _plain_name(found["name"]) if found is not None else ""
    if found is not None and name:
        yield Told("post", frozenset([f"any {found['what'].lower()}"]), name)


def _successor(found: re.Match[str]) -> Iterator[Told]:
    """Yield who has come in the place of somebody who is gone, whatever his post was."""
    old = frozenset(_plain_name(found["old"]).split())
    rest = found["rest"]
    if not old or not _TAKES_OVER.search(rest):
        return
    for another in _ANOTHER.finditer(rest):
        name = _plain_name(another["name"])
        if name and old.isdisjoint(name.split()):
            yield Told("post", frozenset(), name, True, stems_of(old), old)
            return


def _plain_name(said: str) -> str:
    """Return a name without titles, in lower case."""
    words = [word.strip(".").lower() for word in said.split()]
    return " ".join(word for word in words if word not in _TITLES and word not in _SMALL)


_SMALL = frozenset("the a an der die el la le il lo un une una de di du von".split())
