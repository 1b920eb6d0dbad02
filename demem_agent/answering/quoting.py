"""Quote sentences as said, with what they tell nothing without and what is known of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from demem_agent.answering.candidates import Sentence
from demem_agent.answering.rambling import beside
from demem_agent.answering.rows import rows
from demem_agent.answering.whole import headed, whole
from demem_agent.later import pattern
from demem_agent.scoring.intent import intent_of
from demem_agent.text.quoting.containing import contained, entry, passes_for_entry
from demem_agent.text.quoting.cutting import CUT, excerpt, through_turn
from demem_agent.text.quoting.fences import in_fence, is_fenced
from demem_agent.text.quoting.saying import day, meant, said, told
from demem_agent.text.times.named import names_time_in_any_language
from demem_agent.text.times.periods import day_name
from demem_agent.types import Draft, Evidence, Question

__all__ = ["draft"]

#: Where a quotation has several lines, and what stands between these and what is known of them.
_LINES = pattern(r"\n *\S")
_BELOW = _NEXT_LINE = "\n  "


def draft(question: Question, chosen: Sequence[Sentence]) -> Draft:
    """Return an answer that quotes sentences, citing each item once: a line for each turn."""
    quoted: list[Sentence] = []
    for sentence in map(_whole, chosen):
        if not _is_within(sentence, quoted):
            quoted = [one for one in quoted if not _is_within(one, [sentence])]
            quoted.append(sentence)
    by_item: dict[str, list[Sentence]] = {}
    for sentence in quoted:
        by_item.setdefault(sentence.evidence.id, []).append(sentence)
    for of_one in by_item.values():
        of_one.extend(_header(of_one[0]))
    is_of_time = intent_of(question.query, question.at.date() if question.at else None).is_of_time
    text = "\n".join(_quote(of_one, is_of_time=is_of_time) for of_one in by_item.values())
    return Draft(text, tuple(by_item))


def _whole(sentence: Sentence) -> Sentence:
    """Return a sentence with what it tells nothing without."""
    reach = beside if sentence.is_part else whole
    start, end = reach(sentence.evidence.text, sentence.start, sentence.end)
    return replace(sentence, start=start, end=end)


def _header(sentence: Sentence) -> Iterator[Sentence]:
    """Yield the row that heads the table of which a sentence is a row, where that is cut."""
    first = headed(sentence.evidence.text, sentence.start, sentence.end)
    if first is not None:
        yield replace(sentence, start=first[0], end=first[1], superseded=None, replaced=())


def _is_within(sentence: Sentence, others: Sequence[Sentence]) -> bool:
    """Whether a sentence is quoted already, as what turns another one round."""
    for other in others:
        end = through_turn(other.evidence.text, other.end)
        if other.evidence.id == sentence.evidence.id and other.start <= sentence.start < end:
            return True
    return False


def _quote(quoted: Sequence[Sentence], *, is_of_time: bool) -> str:
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
            words += _further(item, ended, sentence.start, end)
            if sentence.is_part and item.text[end:].strip():
                words += f" {CUT}"
        ended = end
        notes |= dict.fromkeys(_until(sentence))
        notes |= dict.fromkeys(meant(item, sentence.start, end, alone=True))
    if not notes and item.at is not None and is_of_time and not names_time_in_any_language(words):
        notes[f"said on {day(item)}"] = None
    if not notes:
        return words
    # Behind the last of several lines it would look like a note of that one.
    return f"{words}{_BELOW if _LINES.search(words) else ' '}({'; '.join(notes)})"


def _further(item: Evidence, ended: int, start: int, end: int) -> str:
    """Return a further stretch of a turn as it stands behind the one before.

    Args:
        ended: where that one ended.
    """
    if in_fence(item.text, start):
        return f"\n  {contained(entry(excerpt(item.text, start, end)))}"
    between = item.text[ended:start]
    words = item.text[start:end]
    is_line = "\n" in between or is_fenced(words) or passes_for_entry(words)
    cut = "" if not between.strip() else f"\n  {CUT}" if rows(item.text, start) else f" {CUT}"
    return f"{cut}{_NEXT_LINE if is_line else ' '}{contained(entry(words))}"


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
