"""Quote sentences as said, with what they tell nothing without and what is known of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from demem_agent.answering.candidates import Sentence
from demem_agent.answering.following import SHORT, Stretch, following
from demem_agent.answering.kind_told import kind_told
from demem_agent.answering.rambling import beside
from demem_agent.answering.rows import rows
from demem_agent.answering.weighing import LEAVES_AMOUNT
from demem_agent.answering.whole import headed, whole
from demem_agent.later import pattern
from demem_agent.text.language.quantities import asks_for_amount
from demem_agent.text.language.words import content_terms
from demem_agent.text.quoting.containing import contained, entry, passes_for_entry
from demem_agent.text.quoting.cutting import CUT, excerpt, through_turn
from demem_agent.text.quoting.fences import in_fence, is_fenced
from demem_agent.text.quoting.saying import day, meant, said, told
from demem_agent.text.times.named import names_time_in_any_language
from demem_agent.text.times.periods import day_name
from demem_agent.types import Draft, Evidence, Line

__all__ = ["draft"]

#: Words of several languages that ask for what comes before something, or after it.
_IN_ORDER = pattern(
    r"\b(?:after|before|next|then|following|first|last|nach|vor|danach|zuerst|après|avant|ensuite"
    r"|depois|antes|después|dopo|prima)\b",
    re.IGNORECASE,
)
#: Where a quotation has several lines, and what stands between these and what is known of them.
_LINES = pattern(r"\n *\S")
_BELOW = "\n  "
#: Words of several languages that ask for a time.
_WHEN = frozenset("when wann cuándo quand quando wanneer когда".split())


def draft(query: str, chosen: list[Sentence], lines: Sequence[Line]) -> Draft:
    """Return an answer that quotes sentences, citing each item once: a line for each turn."""
    quoted: list[Sentence] = []
    in_order = _IN_ORDER.search(query) is not None
    for sentence in chosen:
        sentence = _whole(sentence, in_order=in_order)
        if not _is_within(sentence, quoted):
            quoted = [one for one in quoted if not _is_within(one, [sentence])]
            quoted.append(sentence)
    if len(quoted) == 1 or (quoted and quoted[0].asks):
        quoted[1:] = _going_on(query, quoted[0], lines) or quoted[1:]
    by_item: dict[str, list[Sentence]] = {}
    for sentence in quoted:
        by_item.setdefault(sentence.evidence.id, []).append(sentence)
    for of_one in by_item.values():
        of_one.extend(_header(of_one[0]))
    text = "\n".join(_quote(of_one, query) for of_one in by_item.values())
    cited = dict.fromkeys(sentence.evidence.id for sentence in [*chosen, *quoted])
    return Draft(text, tuple(cited))


def _whole(sentence: Sentence, *, in_order: bool = False) -> Sentence:
    """Return a sentence with what it tells nothing without.

    Args:
        in_order: whether what comes before or after something is asked for.
    """
    item = sentence.evidence
    if sentence.is_part:
        start, end = beside(item.text, sentence.start, sentence.end)
    else:
        start, end = whole(item.text, sentence.start, sentence.end, in_order=in_order)
    if (start, end) == (sentence.start, sentence.end):
        return sentence
    words = frozenset(content_terms(sentence.evidence.text[start:end]))
    return replace(sentence, start=start, end=end, words=words)


def _header(sentence: Sentence) -> Iterator[Sentence]:
    """Yield the row that heads the table of which a sentence is a row, where that is cut."""
    first = headed(sentence.evidence.text, sentence.start, sentence.end)
    if first is not None:
        yield replace(sentence, start=first[0], end=first[1], superseded=None, replaced=())


def _going_on(query: str, best: Sentence, lines: Sequence[Line]) -> list[Sentence]:
    """Return the sentence that the best one leaves the answer to, where there is one."""
    first = Stretch(best.evidence, best.start, through_turn(best.evidence.text, best.end))
    asked = query.lower()
    most = LEAVES_AMOUNT if asks_for_amount(asked) else SHORT
    after = following(asked, first, lines, lambda stretch: kind_told(asked, stretch), most)
    if after is None:
        return []
    words = frozenset(content_terms(after.text))
    going_on = _whole(Sentence(after.evidence, after.start, after.end, words, words))
    return [] if _is_within(going_on, [best]) else [going_on]


def _is_within(sentence: Sentence, others: list[Sentence]) -> bool:
    """Whether a sentence is quoted already, as what turns another one round."""
    for other in others:
        end = through_turn(other.evidence.text, other.end)
        if other.evidence.id == sentence.evidence.id and other.start <= sentence.start < end:
            return True
    return False


def _quote(quoted: list[Sentence], query: str) -> str:
    """Return sentences of one turn as said with what turns them round; behind it what is known.

    That is what their times mean, and until when they held. A question about a time gets the day
    on which it was said where there are none and the words name no time. What stands
    between them is cut out, with a sign.
    """
    item = quoted[0].evidence
    words = ""
    begun = ended = 0
    notes: dict[str, None] = {}
    for sentence in sorted(quoted, key=lambda one: one.start):
        end = through_turn(item.text, sentence.end)
        is_next = not item.text[ended : sentence.start].strip()
        if not words or (is_next and in_fence(item.text, sentence.start)):
            begun = sentence.start if not words else begun
            words = _begun(item, begun, end, is_part=sentence.is_part)
        else:
            words += _further(item, sentence.start, end, is_next=is_next)
            if sentence.is_part and item.text[end:].strip():
                words += f" {CUT}"
        ended = end
        notes |= dict.fromkeys(_until(sentence))
        notes |= dict.fromkeys(meant(item, sentence.start, end, alone=True))
    wants_day = not _WHEN.isdisjoint(query.lower().split()) and not names_time_in_any_language(
        words
    )
    if not notes and item.at is not None and wants_day:
        notes[f"said on {day(item)}"] = None
    if not notes:
        return words
    # Behind the last of several lines it would look like a note of that one.
    return f"{words}{_BELOW if _LINES.search(words) else ' '}({'; '.join(notes)})"


def _further(item: Evidence, start: int, end: int, *, is_next: bool) -> str:
    """Return a further stretch of a turn as it stands behind the one before."""
    if in_fence(item.text, start):
        return f"\n  {contained(entry(excerpt(item.text, start, end)))}"
    cut = " " if is_next else f" {CUT} "
    words = item.text[start:end]
    if rows(item.text, start) is not None:  # a row stays a line of its own
        cut = "\n  " if is_next else f"\n  {CUT}\n  "
    elif is_fenced(words) or passes_for_entry(words):
        cut = f"{cut.rstrip()}\n  "
    return f"{cut}{contained(entry(words))}"


def _begun(item: Evidence, start: int, end: int, *, is_part: bool) -> str:
    """Return a stretch as said; a part of a block of code stands between fences of its own.

    Args:
        is_part: whether it is of a sentence of which more is left out, as a sign tells.
    """
    is_part = is_part or in_fence(item.text, end) or in_fence(item.text, start)
    return told(item, start, end).words if is_part else said(item, start, end)


def _until(sentence: Sentence) -> Iterator[str]:
    """Yield until when a sentence held that no longer does."""
    stale = sentence.superseded
    over = [one for one in sentence.replaced if sentence.start < one.end <= sentence.end]
    if over:
        days = [one.at for one in over if one.at]
        yield f"in part until {day_name(max(days))}" if days else "in part no longer"
    elif stale is not None:
        yield f"until {day_name(stale.at)}" if stale.at else "no longer"
