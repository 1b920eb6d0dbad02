"""Cut text into sentences and passages; nothing here knows what the text is for."""

from __future__ import annotations

from collections.abc import Iterable, Set
from itertools import groupby, pairwise

from demem_agent.later import pattern
from demem_agent.text.language.shortened import goes_on

__all__ = ["PASSAGE_CHARS", "packed", "passages", "sentences"]

#: Longest stretch, in characters, that is scored and packed as one piece.
PASSAGE_CHARS = 350

#: Not after an initial, a title or what is written with a stop in German or Spanish: "J. K.
#: Rowling", "Dr. Ito", "ca. 4 Std.".
_TITLES = (
    "Dr Dra Mr Mrs Ms Sr Sra Srta Sig Dott Avv Prof Hr Hrn Frl Mag Ing Dipl Mme Mlle St Nr ca bzw"
    " usw Std Av Avda"
).split()


def _not_after(*shortened: str) -> str:
    """Return what is not behind any of these and a stop, those of one length together: faster."""
    by_length = groupby(sorted(shortened, key=len), len)
    return "".join(rf"(?<!\b(?:{'|'.join(some)})\.)" for _, some in by_length)


_ABBREVIATED = (
    r"(?<![\s.][A-Z]\.)(?<!^[A-Z]\.)(?<!z\.B\.)(?<!d\.h\.)" + _not_after(*_TITLES) + r"(?<!str\.)"
)
#: Nor after what is shortened in English before what it goes with: "e.g. before", "Mt. Pleasant".
_SHORTENED = "".join(rf"(?<!\b{short}\.)" for short in r"e\.g i\.e [Vv]s [Aa]pprox Mt Ft".split())
#: Nor after what stands before a number, where one follows: "No. 5", "pp. 3-9", "vol. II".
_NUMBERED = "".join(
    rf"(?<!\b{short}\.)"
    for short in (
        "[Nn]o [Nn]os p pp [Ff]ig [Ff]igs [Vv]ol [Cc]h [Ss]ec [Ee]st [Ee]xt [Aa]pt [Rr]m"
    ).split()
)
#: Nor after a day of the week that German shortens, "am Mo. um 8", nor after "Fr." for a woman.
_GERMAN = (
    "".join(rf"(?<!\b[Aa][mb] {day}\.)" for day in "Mo Di Mi Do Fr Sa So".split())
    + r"(?<!\b(?:bei|mit|von|und|für) Fr\.)"
)
#: Nor after "8 a.m." and the like, where what follows goes on in small letters.
_DOTTED = r"(?:(?!\s+[a-zà-ÿ])|(?<![A-Za-z]\.[A-Za-z]\.))"
_BEFORE_NUMBER = rf"(?:(?!\s+(?:[\d#§]|[IVXLC]{{2,}}\b))|{_NUMBERED})"
#: Nor after the number of a day in German: "14. Juni", "im 2. Stock".
_ORDINAL = (
    r"(?!(?<=\d\.)\s+(?:Jan(?:uar)?|Feb(?:ruar)?|März|April|Mai|Juni|Juli|Aug(?:ust)?"
    r"|Sept?(?:ember)?|Okt(?:ober)?|Nov(?:ember)?|Dez(?:ember)?|Stock|Etage|Klasse)\b)"
)
_BEHIND = r"[\"'”’)\]]*\s"
_STOP = (
    rf"(?<=\.)(?={_BEHIND}){_ABBREVIATED}{_SHORTENED}{_GERMAN}{_DOTTED}{_BEFORE_NUMBER}{_ORDINAL}"
)
_SENTENCE_END = pattern(  # one sign to look for is fast, and only a stop may be none
    rf"[.!?…。！？\n](?:(?<=\n)\n*|(?:(?<!\.)|{_STOP}){_BEHIND}+)"
)
#: The number of an item of a list: "1. Emma 2. Tobias".
_ITEM = pattern(r"(?<![\w.,])(\d{1,2})\.[^\S\n]+(?=\S)")

#: (start, end) in a text.
_Stretch = tuple[int, int]


def sentences(text: str, start: int = 0, end: int | None = None) -> list[tuple[int, int]]:
    """Return the (start, end) of every sentence in ``text[start:end]``.

    They have no white space around them.
    """
    end = len(text) if end is None else end
    cuts = [start]
    in_lists = _behind_numbers(text, start, end)
    for match in _SENTENCE_END.finditer(text, start, end):
        stop, cut = match.span()
        if cut not in in_lists and not (text[stop] == "." and _is_shortened(text, stop, cut)):
            cuts.append(cut)
    cuts.append(end)
    found: list[_Stretch] = []
    for first, last in pairwise(cuts):
        stretch = _strip(text, first, last)
        if stretch:
            found.append(stretch)
    return found


def _is_shortened(text: str, stop: int, cut: int) -> bool:
    """Whether a stop that looks like the end of a sentence stands inside one, in one line."""
    return goes_on(text, stop, cut) and "\n" not in text[stop:cut]


def _behind_numbers(text: str, start: int, end: int) -> set[int]:
    """Return where the items of lists begin, behind their numbers, which count from one on."""
    behind: set[int] = set()
    if " 2. " not in text and "\n2. " not in text:  # as most often
        return behind
    run: list[int] = []
    for item in _ITEM.finditer(text, start, end):
        if int(item[1]) != len(run) + 1:
            run = []
        if int(item[1]) == len(run) + 1:
            run.append(item.end())
        if len(run) > 1:
            behind.update(run)
    return behind


def passages(text: str, limit: int = PASSAGE_CHARS) -> list[tuple[int, int]]:
    """Cut a text into (start, end) pieces of at most ``limit`` characters.

    They are cut at the ends of sentences or words if possible. A text that fits is one piece. The
    pieces are in order, do not overlap and hold every character that is not white space.
    """
    whole = len(text) <= limit
    return packed(text, [(0, len(text))] if whole else sentences(text), limit)


def packed(
    text: str,
    units: Iterable[_Stretch],
    limit: int,
    borders: Set[int] = frozenset(),
) -> list[_Stretch]:
    """Put stretches of a text together to pieces of at most ``limit``.

    Args:
        units: in order, holding all that is not white space; one that is too long is cut.
        borders: places at which a piece ends.
    """
    pieces: list[_Stretch] = []
    for start, end in units:
        is_border = start in borders
        for first, last in _hard_cut(text, start, end, limit):
            stretch = _strip(text, first, last)
            if stretch:
                _append(pieces, stretch, 0 if is_border else limit)
                is_border = False
    return pieces or [(0, min(len(text), limit))]


def _append(pieces: list[_Stretch], stretch: _Stretch, limit: int) -> None:
    """Add a stretch to the last piece where both fit together, else as a piece of its own."""
    start, end = stretch
    if pieces and end - pieces[-1][0] <= limit:
        start = pieces.pop()[0]
    pieces.append((start, end))


def _hard_cut(text: str, start: int, end: int, limit: int) -> list[_Stretch]:
    """Cut a sentence between words, or within a word where it is longer than ``limit``."""
    cuts: list[_Stretch] = []
    while end - start > limit:
        cut = text.rfind(" ", start + 1, start + limit)
        if cut <= start:
            cut = start + limit
        cuts.append((start, cut))
        start = cut + 1 if text[cut].isspace() else cut
    if start < end:
        cuts.append((start, end))
    return cuts


def _strip(text: str, start: int, end: int) -> _Stretch | None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return (start, end) if start < end else None
