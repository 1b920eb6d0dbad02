"""When two texts say the same in nearly the same words.

"Hey, please water the plants!" and "water the plantss" are one request. Nothing that tells
something may differ: a number, a name, a sign such as "%" or "-", a negation, any other word. What
may differ is case, punctuation, white space, greetings, fillers, articles, contractions, drawn-out
letters, the tense of politeness ("I was wondering") and a typo; not any other tense, since who
lived somewhere may not live there. The words are English ones; texts in other languages are the
same when their words are. Of code and data nothing but white space may differ.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from demem_agent.later import pattern
from demem_agent.text.quoting.fences import FENCE

__all__ = ["answers", "differs_by_typo", "tells_nothing", "wording"]

#: A word or a number with what is in it, or a sign that tells something.
_TOKEN = pattern(
    r"`[^`\n]+`|(?<!\w)-(?=[\d.])|\w+(?:(?<=\d)[.,:/-](?=\d)\w+)*(?:['’]\w+)*"
    r"|[%°$€£¥±≠≤≥<>=^~|&+✅❌✔✖✗✘☑☐👍👎]+|(?<=\w)[*/#](?=\w|\b)|(?<=\w )[*/](?= \w)|\?"
)
#: What prose hardly ever has, and code and data hardly ever lack.
_CODE = pattern(r"[{}=;\\_]|</|\w\(|^\s*[\[<]|\|.*\|", re.MULTILINE)
_MAY_BE_CODE = pattern(r"[{}=;\\_<(\[|]")  # one sign to look for is fast
#: Words that are left for a text to be told by them: "hey Ben" stays as it is.
_FEWEST = 2
_FILLERS = frozenset(
    "please pls plz lol lmao haha um umm uh uhm er erm hm hmm oh ah btw wow omg".split()
)
_ARTICLES = frozenset(("a", "an", "the"))
_AT_FIRST = frozenset(
    """hi hey hello hiya heya dear so well ok okay alright anyway also and yeah yep yes actually
    thanks thx cheers""".split()
)
_AT_LAST = frozenset("thanks thx cheers ok okay though".split())
_PHRASES_AT_FIRST = tuple(
    tuple(phrase.split())
    for phrase in (
        "good morning", "good evening", "good afternoon", "thank you", "by the way", "as i said",
        "as i told you", "just so you know", "just a reminder", "just to remind you", "reminder",
        "quick reminder", "fyi",
    )
)  # fmt: skip
_PHRASE_BEGINS = frozenset(phrase[0] for phrase in _PHRASES_AT_FIRST)
#: After these an article changes what is said: "a few" are more than "few".
_WITH_ARTICLE = (["few"], ["little"])
_ANSWERS = frozenset(
    """yes yeah yep yup ya no nope nah ok okay sure right correct exactly absolutely definitely
    agreed deal true indeed maybe perhaps never always both neither either""".split()
)
#: Alone, or with each other, these tell nothing.
_EMPTY = (
    _FILLERS
    | _ARTICLES
    | _AT_FIRST
    | _AT_LAST
    | _ANSWERS
    | frozenset(
        """hehe hahaha ahaha lolol rofl xd k kk mhm mm mmm aha ahh ooh ohh eh huh yay ugh ouch oops
        phew gosh good morning evening afternoon night bye goodbye cya cool nice great awesome
        perfect amazing wonderful lovely sweet fine interesting really seriously brb omw gtg ttyl
        gotcha idk dunno hmmm hmmmm yh np ty gn tbh smh wait what finally jaja jajaja jeje hihi
        genau klar stimmt ja nein sí si vale bueno claro oui non d'accord ?""".split()
    )
)
#: So do these sentences.
_EMPTY_PHRASES = frozenset(
    (
        "thank you", "thank you so much", "i see", "i do not know", "got it", "no problem",
        "no worries", "sounds good", "sounds great", "so true", "see you", "see you later",
        "see ya", "see you soon", "you are welcome", "that is great", "that is nice",
        "that is cool", "very nice", "very cool", "i know", "i agree", "me too", "same here",
        "of course",
    )
)  # fmt: skip
_IN_FULL = {
    "can't": "can not", "cannot": "can not", "cant": "can not", "won't": "will not",
    "shan't": "shall not", "dont": "do not", "doesnt": "does not", "didnt": "did not",
    "isnt": "is not", "wasnt": "was not", "arent": "are not", "havent": "have not",
    "hasnt": "has not", "couldnt": "could not", "wouldnt": "would not", "shouldnt": "should not",
    "im": "i am", "ive": "i have", "thats": "that is", "its": "it is", "it's": "it is",
    "that's": "that is", "there's": "there is", "what's": "what is", "he's": "he is",
    "she's": "she is", "u": "you", "gonna": "going to", "wanna": "want to", "gotta": "got to",
}  # fmt: skip
_ENDINGS = {"m": "am", "re": "are", "ve": "have", "ll": "will"}
_ASKED = frozenset("ask know say tell check see".split())
_WONDERING = frozenset("wondering hoping thinking".split())
_MAY = frozenset("could would will".split())
_POLITE = _MAY | {"wanted", "was"}
_QUESTION = frozenset("what who whom whose where when why how which".split())
_AUXILIARY = frozenset(
    """do does did can could will would shall should is are was were am have has had may
    might""".split()
)
_SUBJECT = frozenset(
    "i you he she it we they this that these those there anyone anything someone my your".split()
)
_DRAWN_OUT = pattern(r"([^\W\d_])\1{2,}")
_DIGIT = pattern(r"\d")
#: Letters that a word has at least for a typo in it to be taken for one, and for two swapped.
_LONG = 6
_SWAPPED = 4
_DOUBLE = pattern(r"(.)\1")
_VOWELS = frozenset("aeiouy")

Words = tuple[str, ...]


def wording(text: str) -> Words:
    """Return the words and signs that tell something in a text, in one form, in order.

    Two texts say the same where these are equal.
    """
    prose, fence, code = text.partition(FENCE)
    if _is_code(prose):
        return tuple(text.split())
    tokens = _tokens(prose)
    told = _without_fillers(_politely(_in_full(tokens)))
    words = told if len(told) >= _FEWEST else tokens
    if fence:
        words = [*words, fence, *code.split()]
    return tuple(words or [text])


def tells_nothing(words: Words) -> bool:
    """Whether words, as :func:`wording` gives them, tell nothing without what was said before."""
    if " ".join(words) in _EMPTY_PHRASES:
        return True
    return all(word in _EMPTY or not any(map(str.isalnum, word)) for word in words)


def answers(text: str) -> bool:
    """Whether a text that tells nothing by itself answers what somebody asked: "yes", "ok"."""
    return not _ANSWERS.isdisjoint(_tokens(text)) or any(sign in text for sign in "👍👎✅❌")


def differs_by_typo(one: str, other: str, is_word: Callable[[str], bool]) -> bool:
    """Whether two texts of different wording differ in one word, mistyped in one of them.

    Args:
        is_word: knows the words of a language; of a mistyped word and the one that was meant it
            knows one.
    """
    if _DIGIT.findall(one) != _DIGIT.findall(other):
        return False  # no typo is in a number; much faster
    here = wording(one)
    there = wording(other)
    if len(here) != len(there) or len(here) < _FEWEST or FENCE in one or _is_code(one):
        return False
    changed = [pair for pair in zip(here, there, strict=True) if pair[0] != pair[1]]
    if len(changed) != 1:
        return False
    word, typed = changed[0]
    if word not in one and typed not in other:  # with capitals: names, as likely as not
        return False
    return _is_slip(word, typed) and is_word(word) != is_word(typed)


def _tokens(prose: str) -> list[str]:
    found = _TOKEN.findall(_DRAWN_OUT.sub(r"\1", prose))
    return [token if token[0] == "`" else token.casefold() for token in found]


def _is_code(text: str) -> bool:
    return bool(_MAY_BE_CODE.search(text) and _CODE.search(text))


def _in_full(tokens: Sequence[str]) -> list[str]:
    words: list[str] = []
    for token in tokens:
        if token in _IN_FULL or "'" in token or "’" in token:
            words += _parts(token.replace("’", "'"))
        else:
            words.append(token)
    return words


def _parts(token: str) -> list[str]:
    """Return the words that a token stands for: "don't" is "do", "not"."""
    if token in _IN_FULL:
        return _IN_FULL[token].split()
    if token.endswith("n't"):
        return [token[:-3], "not"]
    word, _, ending = token.partition("'")
    return [word, _ENDINGS.get(ending, ending)]


def _politely(words: list[str]) -> list[str]:
    """Put the past tense that is only polite into the present: "I wanted to ask"."""
    for n, word in enumerate(words):
        if word in _POLITE:
            after = words[n + 1 : n + 3]
            if word == "wanted" and after[:1] == ["to"] and _ASKED.intersection(after[1:]):
                words[n] = "want"
            elif word == "was" and _WONDERING.intersection(after[:1]):
                words[n] = "am"
            elif word in _MAY and after[:1] == ["you"] and not n:
                words[n] = "can"
    return words


def _without_fillers(words: Sequence[str]) -> list[str]:
    start = 0
    while length := _opening(words, start):
        start += length
    end = len(words)
    while end > start and words[end - 1] in _AT_LAST:
        end -= 1
    kept = []
    mark = "" if _asks(words) else "?"
    for n in range(start, end):
        if words[n] == "?" != mark:
            continue
        is_article = words[n] in _ARTICLES and words[n + 1 : n + 2] not in _WITH_ARTICLE
        if not is_article and words[n] not in _FILLERS:
            kept.append(words[n])
    return kept


def _asks(words: Sequence[str]) -> bool:
    """Whether a text asks by its words, so that a question mark adds nothing."""
    if "?" not in words:
        return False
    if not _QUESTION.isdisjoint(words):
        return True
    return any(word in _AUXILIARY and after in _SUBJECT for word, after in pairwise(words))


def _opening(words: Sequence[str], start: int) -> int:
    """Return how many words from a place on open a text and tell nothing."""
    first = words[start] if start < len(words) else ""
    if first in _PHRASE_BEGINS:
        for phrase in _PHRASES_AT_FIRST:
            if tuple(words[start : start + len(phrase)]) == phrase:
                return len(phrase)
    return int(first in _AT_FIRST)


def _is_slip(one: str, other: str) -> bool:
    """Whether two words are a slip of one finger apart.

    Letters swapped or doubled, one too many or too few, a vowel for another.
    """
    if not (one.isalpha() and other.isalpha()):
        return False
    first = _common(one, other)
    last = _common(one[first:][::-1], other[first:][::-1])
    here = one[first : len(one) - last]
    there = other[first : len(other) - last]
    if len(here) == 2 and here == there[::-1]:
        return len(one) >= _SWAPPED
    if max(len(one), len(other)) < _LONG or one[0] != other[0]:
        return False
    if _DOUBLE.sub(r"\1", one) == _DOUBLE.sub(r"\1", other):
        return True
    if len(here) == len(there) == 1:
        return here in _VOWELS and there in _VOWELS
    return sorted(map(len, (here, there))) == [0, 1]


def _common(one: str, other: str) -> int:
    """Return how many letters two words begin with alike."""
    count = 0
    for here, there in zip(one, other, strict=False):
        if here != there:
            break
        count += 1
    return count
