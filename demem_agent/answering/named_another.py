"""Whether an answer tells the name of something else than was asked, in other languages.

"Wie heißt mein Vermieter?" is not answered by "Unsere Katze heißt Minka": all that both have is
that something has a name. In English vectors of words tell a landlord from a cat, and a boss from a
chief; elsewhere they know words by their letters alone, so that here a line counts that has
the word asked for, a part of it or one of its meaning, or says no more than "he" or "it".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from demem_agent.later import pattern
from demem_agent.text.language.languages import ENGLISH
from demem_agent.text.language.same_words import stems_of_meaning
from demem_agent.text.language.words import content_words, language_of, stems
from demem_agent.text.sentences import sentences
from demem_agent.types import Draft, Line, Question

__all__ = ["named_another"]

#: Words of having a name.
_NAMING = frozenset(
    """heißt heissen heissst heisst heißen hieß hiess nennt nennen genannt name namen heet heten
    heette genaamd naam noemen noemt chiama chiamano chiamava chiami nome nomi llama llaman llamaba
    nombre appelle appellent appelait nom chama chamam chamava heter hette namn hedder""".split()
)
#: By what a sentence goes on about something that was named before.
_GOES_ON = pattern(
    r"\b(?:er|sie|es|hij|ze|zij|het|lui|lei|él|ella|il|elle|ele|ela|den|det)\s+"
    r"(?:heißt|heisst|hieß|hiess|heet|heette|si chiama|se llama|s['’]appelle|chama|heter|hedder)\b"
    r"|^\W*(?:si chiama|se llama|chama-se)\b"
)
#: Letters of the shortest word that may be a part of another, or stand at its beginning or end.
_PART = 3
#: Characters of a turn that is about one thing.
_LONGEST_TURN = 2000


def named_another(question: Question, draft: Draft) -> bool:
    """Whether what is quoted first names something, and nothing there is what was to be named."""
    language = language_of(question.query)
    if language == ENGLISH:
        return False
    every = content_words(question.query)
    wanted = [word for word in every if word not in _NAMING]
    if not wanted or len(wanted) == len(every):
        return False
    first = [line for line in question.reading.lines if line.evidence.id in draft.evidence[:1]]
    quoted = list(_quoted(first, draft.text))
    if not quoted or not all(_names(text) for text in quoted):
        return False
    said = [word for line in first for word in content_words(line.evidence.text[:_LONGEST_TURN])]
    return not _meets(wanted, said, language)


def _quoted(lines: Sequence[Line], answer: str) -> Iterator[str]:
    """Yield the sentences of some lines that an answer has."""
    for line in lines:
        text = line.evidence.text
        for start, end in sentences(text, line.start, line.end):
            if text[start:end] in answer:
                yield text[start:end]


def _names(text: str) -> bool:
    """Whether a sentence says what something is called, and says what that is."""
    low = text.lower()
    return not _NAMING.isdisjoint(content_words(low)) and _GOES_ON.search(low) is None


def _meets(wanted: Iterable[str], said: Sequence[str], language: str) -> bool:
    """Whether one of some words is among others, as a part of one, or by one of its meaning."""
    held = {*stems(list(said), language), *stems(list(said))}
    for word in wanted:
        meant = {*stems([word], language), *stems_of_meaning(word)}
        if not held.isdisjoint(meant) or any(_is_part(word, other) for other in said):
            return True
    return False


def _is_part(one: str, other: str) -> bool:
    """Whether the shorter of two words begins or ends the longer one."""
    short, long = sorted((one, other), key=len)
    return len(short) >= _PART and (long.startswith(short) or long.endswith(short))
