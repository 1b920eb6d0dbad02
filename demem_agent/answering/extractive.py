"""Answer without a model: quote the sentences of the reading that answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from demem_agent.answering.corrections import CORRECTION, said_to
from demem_agent.answering.following import SHORT, Stretch, following
from demem_agent.answering.in_time import Told, by_their_time, time_asked
from demem_agent.answering.unbroken import unbroken
from demem_agent.answering.values import asked_value, of_values
from demem_agent.answering.whole import whole
from demem_agent.encoders import as_matrix, default_encoder
from demem_agent.later import dataclass, pattern
from demem_agent.scoring.features.speakers import asks_for_words_of
from demem_agent.scoring.spelling import put_right
from demem_agent.slots.successions.claims import claim
from demem_agent.slots.successions.rivals import narrates
from demem_agent.slots.successions.turns import implied
from demem_agent.text.language.asking import asks, has_words
from demem_agent.text.language.courtesy import merely_polite
from demem_agent.text.language.kinds import holds, kind_asked
from demem_agent.text.language.mentions import merely_names
from demem_agent.text.language.quantities import asks_for_amount, tells_amount
from demem_agent.text.language.questions import NAME, has_number
from demem_agent.text.language.reporting import reports, teller
from demem_agent.text.language.words import clean, content_terms, stems
from demem_agent.text.quoting.containing import contained, entry, passes_for_entry
from demem_agent.text.quoting.cutting import CUT, excerpt, through_turn
from demem_agent.text.quoting.fences import in_fence, is_fenced
from demem_agent.text.quoting.greetings import without_greetings
from demem_agent.text.quoting.pasted import asks_of_document, of_oneself, pasted
from demem_agent.text.quoting.saying import day, meant, said, told
from demem_agent.text.sentences import sentences
from demem_agent.text.times.asked_days import (
    ASKING,
    asked_days,
    asks_of_saying,
    echoes,
    said_within,
)
from demem_agent.text.times.dates import Span, find, stretches
from demem_agent.text.times.named import names_time
from demem_agent.text.times.periods import day_name
from demem_agent.text.unsaid import parted
from demem_agent.text.values import objects
from demem_agent.types import (
    Draft,
    Encoder,
    Evidence,
    Line,
    Question,
    Reading,
    Superseded,
    number_of,
)

__all__ = ["ExtractiveAnswerer"]

#: Weights of the parts of a sentence's score; set by hand, on no data.
_COSINE = 1.0
_KIND = 0.3
_SPEAKER = 0.2
_CONTEXT = 0.3
_ASKS = 0.4
_CORRECTS = 0.3
_BEGINS = 0.3
#: The words of the conversation count less than those of the question, all together.
_AFTER = 0.5
#: A sentence that shares no more than this with the question answers nothing.
_LEAST = 0.25
#: The second sentence is quoted as well when it scores at least this share of the first.
_CLOSE = 0.85
#: One of another turn must have this share of the question's words that the first has not: of
#: LoCoMo's second sentences one in five is evidence, and of these one in three.
_ADDS = 0.25

#: What a sentence counts that tells no amount where one is asked for, and characters of one at
#: most that may leave it to the next.
_NO_AMOUNT = 0.6
_LEAVES_AMOUNT = 120
_HOW_MANY = ("how many", "how much", "how long", "how old")
#: Words of asking for an amount of money.
_OF_MONEY = frozenset(
    content_terms("cost price pay paid charge worth expensive fee earn salary wage")
)
#: Words of several languages that ask for what comes before something, or after it.
_IN_ORDER = pattern(
    r"\b(?:after|before|next|then|following|first|last|nach|vor|danach|zuerst|après|avant|ensuite"
    r"|depois|antes|después|dopo|prima)\b",
    re.IGNORECASE,
)
_PLACE = pattern(r"\b(?:in|at|to|from|near|on)\s+(?:the\s+)?\w+")


#: Words of several languages that ask for a time.
_WHEN = frozenset("when wann cuándo quand quando wanneer когда".split())
_YEAR = pattern(r"\d{4}")
_WORDS = pattern(r"\w+")
#: Where something is, behind a preposition that no time stands behind.
_STANDS = pattern(
    r"\b(?:in(?:side|to)?|at|to|from|near|on(?:to)?|under(?:neath)?|behind|beside|by|next to|above"
    r"|below|between|outside|over|opposite|around|with)\s+(?:the\s+|a\s+)?"
    r"(?!\d{1,2}(?:[:.]\d\d)?\s?(?:[ap]m|o['’]clock)?\b(?!\s[A-Z])|noon|midnight|night|time|last\b"
    r"|next\b|(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:january|february|march|april|may|june"
    r"|july|august|september|october|november|december)\b|morning|evening|afternoon|weekend)\w+"
    r"|\b(?:upstairs|downstairs|outside|inside|here|there|home|online)\b",
    re.IGNORECASE,
)


_FIRST_PERSON = pattern(r"\b(?:i|we|ich|wir|je|nous|on|yo|eu|vivo|trabajo|moro|trabalho)\b|\bj['’]")


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence of the reading, with its words and those of the line it stands in.

    Attributes:
        begins: words of what has begun by it in the place of something else, which it may lack.
        superseded: what it says that no longer holds.
        replaced: the values of objects in JSON in its line that no longer hold.
    """

    evidence: Evidence
    start: int
    end: int
    words: frozenset[str]
    around: frozenset[str]
    superseded: Superseded | None = None
    begins: frozenset[str] = frozenset()
    replaced: tuple[Superseded, ...] = ()

    @property
    def text(self) -> str:
        return self.evidence.text[self.start : self.end]

    def is_of(self, line: Line) -> bool:
        """Whether it stands in a line."""
        same = self.evidence.id == line.evidence.id
        return same and line.start <= self.start < line.end

    @property
    def asks(self) -> bool:
        return asks(self.text)

    @property
    def corrects(self) -> bool:
        return self.evidence.source == CORRECTION


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question in lower case, how rare each word of it is in the reading, and their sum.

    Those words are ``aside`` that match nothing alone where others are read: the times and the
    kind that it asks for; ``matter`` is the question without the times.

    Attributes:
        after: what was said before it, where it names of itself what it is about.
    """

    query: str
    matter: str
    rarity: dict[str, float]
    mass: float
    aside: frozenset[str]
    after: _Asked | None = None

    def share(self, words: frozenset[str]) -> float:
        """Return how much of the question some words hold, in [0, 1], by rarity."""
        shared = self.rarity.keys() & words
        if shared <= self.aside:
            return 0.0
        return sum(self.rarity[word] for word in shared) / self.mass

    def lexical(self, sentence: _Sentence, overlap: float) -> float:
        """Return what a sentence scores besides vectors and kind; ``overlap`` is its share."""
        score = overlap + _CONTEXT * self.share(sentence.around)
        if self.after is not None:
            score += _AFTER * self.after.share(sentence.around)
        score += _SPEAKER * _is_named(self.query, sentence.evidence.speaker)
        score -= _ASKS * sentence.asks
        score += _CORRECTS * sentence.corrects
        score += _BEGINS * self.is_of_what_begins(sentence)
        return score

    def is_of_what_begins(self, sentence: _Sentence) -> bool:
        """Whether nothing is asked but what has begun, for whoever tells of it."""
        if not sentence.begins or not self.rarity.keys() - self.aside <= sentence.begins:
            return False
        own = _FIRST_PERSON.search(self.query) is not None
        return own or _is_named(self.query, sentence.evidence.speaker) > 0


class ExtractiveAnswerer:
    """Pick the one or two sentences of a reading nearest to a question by words, vectors and kind.

    ``answer`` gives a :class:`Draft` with the text and the evidence it rests on; the text is empty
    when no sentence has anything to do with the question.
    """

    def __init__(self, encoder: Encoder | None = None) -> None:
        self._encoder = encoder or default_encoder()

    def answer(self, question: Question) -> Draft:
        """Quote what answers a question, or the latest correction of this very question."""
        question = _without_rejected(question)
        found = _sentences(question)
        if not found:
            return Draft("")
        corrected = _corrected(question)
        if corrected is not None:
            return corrected
        if not has_words(question.query):
            return Draft("")
        speakers = dict.fromkeys(sentence.evidence.speaker for sentence in found)
        query = put_right(question.query, [sentence.text for sentence in found], speakers)
        decided = _decided(question.reading, found)
        if not decided and _is_of_the_absent(question):
            found = _reporting(question, found)
            if not found:
                return Draft("")
        chosen = _told(question.reading, decided)
        chosen = chosen or _said_then(question, found) or _said_by(question, found)
        if decided and not _is_what_was_right(chosen, decided):
            chosen = []
        passed = [] if decided else [*_passed_over(question, found), *_polite(found)]
        of_it = replace(question, query=query)
        chosen = chosen or self._best(of_it, found, decided, passed)
        return _draft(parted(query)[0], chosen, question.reading.lines)

    def _best(
        self,
        question: Question,
        found: list[_Sentence],
        decided: list[_Sentence],
        passed: Sequence[int],
    ) -> list[_Sentence]:
        """Return the best sentence, and the second where it comes close; none if none relates.

        Args:
            decided: those of the line that proved right, of which the answer is; what was right
                as it stood is given again, with what it was given with.
            passed: the numbers of sentences that are none of these.
        """
        asked = _asked(question, found)
        scores = self._scores(asked, found)
        if time_asked(question.query) >= 0:  # the first of all need not hold any more
            scores = _by_what_holds(scores, found)
        scores = _by_amount(asked, scores, found)
        scores[list(passed)] = 0.0
        if not decided:
            scores = _without_documents(question, scores, found)
        told = [Told(one.evidence, one.text, one.words) for one in found]
        scores = by_their_time(question.query, told, scores)
        chosen = _nearest(asked, scores, found)
        if not decided or _is_what_was_right(chosen, decided):
            return chosen
        of_it = [nth for nth, one in enumerate(found) if one in decided]
        return _nearest(asked, scores[of_it], [found[nth] for nth in of_it]) or decided[:1]

    def _scores(self, asked: _Asked, found: list[_Sentence]) -> np.ndarray:
        cosine = self._cosines(asked.matter, found)
        overlap, lexical, kind = _by_words(asked, found)
        scores = _COSINE * cosine + lexical + _KIND * kind
        related = (overlap > 0) | (cosine > _LEAST)
        return np.round(np.where(related, scores, 0.0), 4)

    def _cosines(self, query: str, found: list[_Sentence]) -> np.ndarray:
        said = [sentence.text for sentence in found]
        texts = list(map(clean, [query, *said]))
        vectors = as_matrix(self._encoder.encode(texts), len(texts))
        cosines: np.ndarray = vectors[1:] @ vectors[0]
        return cosines


def _without_rejected(question: Question) -> Question:
    """Return a question without the lines that were called wrong for it."""
    reading = question.reading
    if not reading.rejected:
        return question
    lines = tuple(line for line in reading.lines if not _is_rejected(line, reading))
    return replace(question, reading=replace(reading, lines=lines))


def _is_rejected(line: Line, reading: Reading) -> bool:
    for item, start, end in reading.rejected:
        if item == line.evidence.id and line.start < end and start < line.end:
            return True
    return False


def _nearest(asked: _Asked, scores: np.ndarray, found: list[_Sentence]) -> list[_Sentence]:
    """Return the sentence with the best score, and the second where it is close and adds to it."""
    order = np.argsort(-scores, kind="stable")
    best = found[order[0]]
    if scores[order[0]] < _LEAST:
        return []
    for nth in order[1:2]:
        is_close = scores[nth] >= _CLOSE * scores[order[0]]
        if is_close and _adds(asked, best, found[nth]):
            return [best, found[nth]]
    return [best]


def _adds(asked: _Asked, best: _Sentence, second: _Sentence) -> bool:
    """Whether a sentence is of the same turn as the best, or has more of the question."""
    if second.evidence.id == best.evidence.id:
        return True
    return asked.share(second.words - best.words) >= _ADDS


def _is_what_was_right(chosen: list[_Sentence], decided: list[_Sentence]) -> bool:
    """Whether sentences begin in the turn of which a line proved right, and have a part of it."""
    begins = [one.evidence.id for one in chosen[:1]]
    right = {one.text for one in decided}
    return begins == [decided[0].evidence.id] and any(one.text in right for one in chosen)


def _decided(reading: Reading, found: list[_Sentence]) -> list[_Sentence]:
    """Return the sentences of what stands first by an earlier decision; none without one."""
    if not reading.recognised:
        return []
    first = max(reading.lines, key=lambda line: line.score)
    return [sentence for sentence in found if sentence.is_of(first)]


def _told(reading: Reading, decided: list[_Sentence]) -> list[_Sentence]:
    """Return the sentences that a reference named, of the line that proved right."""
    told = []
    for sentence in decided:
        for item, start, end in reading.told:
            is_there = sentence.start < end and start < sentence.end
            if item == sentence.evidence.id and is_there and sentence not in told:
                told.append(sentence)
    return told


def _said_then(question: Question, found: list[_Sentence]) -> list[_Sentence]:
    """Return how the two best lines begin that were said on the days asked for.

    None where a question asks for anything but a time.
    """
    lines = question.reading.lines
    days = {line.evidence.at.date() for line in lines if line.evidence.at}
    asked_on = question.at.date() if question.at else None
    asked = asked_days(question.query, asked_on, max(days, default=None), _names(lines))
    if not asked:
        return []
    return _begins([line for line in lines if said_within(line.evidence.at, asked)], found)


def _said_by(question: Question, found: list[_Sentence]) -> list[_Sentence]:
    """Return how the two best lines begin that somebody said of whom nothing else is asked."""
    lines = question.reading.lines
    if not asks_of_saying(question.query, _names(lines)):
        return []
    asked = question.query.lower()
    own = [line for line in lines if _is_named(asked, line.evidence.speaker)]
    return _begins([line for line in own if not echoes(line.text, question.query)], found)


def _is_of_the_absent(question: Question) -> bool:
    """Whether nothing is asked but what somebody said who says no line that is read."""
    name = teller(question.query)
    if name is None:
        return False
    names = _names(question.reading.lines)
    own = set(name.lower().split())
    return names.isdisjoint(own) and asks_of_saying(question.query, names | own)


def _reporting(question: Question, found: list[_Sentence]) -> list[_Sentence]:
    """Return the sentences that report what such a one said, or go on from one that does."""
    name = teller(question.query) or ""
    return [sentence for sentence in found if reports(sentence.evidence.text, name)]


def _passed_over(question: Question, found: list[_Sentence]) -> list[int]:
    """Return the numbers of sentences that only look like what somebody who is asked about says.

    They have no more than a name, where the one of that name says something; or were pasted, where
    somebody's words are asked for and there are some on the matter.
    """
    names = _names(question.reading.lines)
    asked = set(_WORDS.findall(question.query.lower()))
    own = [not asked.isdisjoint((one.evidence.speaker or "").lower().split()) for one in found]
    gone: list[int] = []
    if any(own):
        named = names & asked
        gone += [
            nth for nth, one in enumerate(found) if not own[nth] and merely_names(one.text, named)
        ]
    if asks_for_words_of(["i", *names], question.query.lower()):
        gone += _pasted_over(question, found, least=1)
    return gone


def _without_documents(
    question: Question, scores: np.ndarray, found: list[_Sentence]
) -> np.ndarray:
    """Return scores of which those of pasted sentences are 0, where who asks speaks of themselves.

    Somebody has to have said as much on the matter, in a sentence that relates to the question.
    """
    if not of_oneself(question.query) or asks_of_document(question.query):
        return scores
    others = scores.copy()
    others[_pasted_over(question, found)] = 0.0
    return others if others.max() >= _LEAST else scores


def _polite(found: Iterable[_Sentence]) -> Iterator[int]:
    """Yield the numbers of sentences in which an assistant only answers what was told it."""
    for nth, one in enumerate(found):
        if narrates(one.evidence.speaker) and merely_polite(one.text):
            yield nth


def _pasted_over(question: Question, found: list[_Sentence], least: int | None = None) -> list[int]:
    """Return the numbers of pasted sentences, where another one has enough words of the matter.

    Args:
        least: how many; as many as any of the pasted ones has if None.
    """
    items = {one.evidence.id: one.evidence.text for one in found}
    documents = {id for id, text in items.items() if pasted(text)}
    names = _names(question.reading.lines)
    matter = set(content_terms(question.query)) - set(stems([*ASKING, *names]))
    held = [len(matter & one.words) for one in found]
    is_pasted = [one.evidence.id in documents for one in found]
    said = max((n for n, passed in zip(held, is_pasted, strict=True) if not passed), default=0)
    if least is None:
        least = max((n for n, passed in zip(held, is_pasted, strict=True) if passed), default=0)
    if said < max(least, 1):
        return []
    return [nth for nth, passed in enumerate(is_pasted) if passed]


def _names(lines: Iterable[Line]) -> set[str]:
    found: set[str] = set()
    for line in lines:
        found.update((line.evidence.speaker or "").lower().split())
    return found


def _begins(lines: Iterable[Line], found: list[_Sentence]) -> list[_Sentence]:
    """Return how the two best of some lines begin."""
    begins = []
    for line in sorted(lines, key=lambda line: -line.score)[:2]:
        begins += [sentence for sentence in found if sentence.is_of(line)][:1]
    return begins


def _draft(query: str, chosen: list[_Sentence], lines: Sequence[Line]) -> Draft:
    """Return an answer that quotes sentences, citing each item once: a line for each turn."""
    quoted: list[_Sentence] = []
    in_order = _IN_ORDER.search(query) is not None
    for sentence in chosen:
        sentence = _whole(sentence, in_order=in_order)
        if not _is_within(sentence, quoted):
            quoted = [one for one in quoted if not _is_within(one, [sentence])]
            quoted.append(sentence)
    if len(quoted) == 1 or (quoted and quoted[0].asks):
        quoted[1:] = _going_on(query, quoted[0], lines) or quoted[1:]
    by_item: dict[str, list[_Sentence]] = {}
    for sentence in quoted:
        by_item.setdefault(sentence.evidence.id, []).append(sentence)
    text = "\n".join(_quote(of_one, query) for of_one in by_item.values())
    cited = dict.fromkeys(sentence.evidence.id for sentence in [*chosen, *quoted])
    return Draft(text, tuple(cited))


def _whole(sentence: _Sentence, *, in_order: bool = False) -> _Sentence:
    """Return a sentence with what it tells nothing without.

    Args:
        in_order: whether what comes before or after something is asked for.
    """
    item = sentence.evidence
    start, end = whole(item.text, sentence.start, sentence.end, in_order=in_order)
    if (start, end) == (sentence.start, sentence.end):
        return sentence
    words = frozenset(content_terms(sentence.evidence.text[start:end]))
    return replace(sentence, start=start, end=end, words=words)


def _going_on(query: str, best: _Sentence, lines: Sequence[Line]) -> list[_Sentence]:
    """Return the sentence that the best one leaves the answer to, where there is one."""
    first = Stretch(best.evidence, best.start, through_turn(best.evidence.text, best.end))
    asked = query.lower()
    most = _LEAVES_AMOUNT if asks_for_amount(asked) else SHORT
    after = following(asked, first, lines, lambda stretch: _kind_told(asked, stretch), most)
    if after is None:
        return []
    words = frozenset(content_terms(after.text))
    going_on = _whole(_Sentence(after.evidence, after.start, after.end, words, words))
    return [] if _is_within(going_on, [best]) else [going_on]


def _corrected(question: Question) -> Draft | None:
    """Return the latest correction of this very question: it outranks what it corrects.

    One that holds no longer is a line like others.
    """
    latest_first = sorted(question.reading.lines, key=lambda line: -number_of(line.evidence.id))
    for line in latest_first:
        if line.evidence.source != CORRECTION or line.start != 0 or _is_over(line):
            continue
        right = said_to(question.query, line.text)
        if right:
            return Draft(right, (line.evidence.id,))
    return None


def _is_over(line: Line) -> bool:
    """Whether all of a line holds no longer, and it is not what is asked for."""
    over = sum(one.end - one.start for one in line.superseded if not one.asked)
    return over >= line.end - line.start


def _sentences(question: Question) -> list[_Sentence]:
    found: list[_Sentence] = []
    asked = frozenset(content_terms(question.query))
    for line in question.reading.lines:
        item = line.evidence
        replaced = of_values(item.text, line.superseded)
        data = objects(item.text)
        around = frozenset(content_terms(line.text))
        for start, end in unbroken(item.text, sentences(item.text, line.start, line.end)):
            is_whole = (start, end) == (line.start, line.end)  # as of most excerpts
            said = _object_around(data, start, end)  # an object is quoted as a whole
            words = around if is_whole else frozenset(content_terms(item.text[slice(*said)]))
            stale = _superseded(line, start, end, replaced)
            if replaced and stale is None:
                quoted = whole(item.text, start, end)
                stale = asked_value(item.text, quoted, replaced, asked)
            found.append(
                _Sentence(item, start, end, words, around, stale, replaced=tuple(replaced))
            )
    return _with_what_begins(found)


def _with_what_begins(found: list[_Sentence]) -> list[_Sentence]:
    """Return sentences, those that hold in the place of others with the words of what begins.

    "Day one at Siemens" is of where somebody works, as the line was of which it takes the place.
    """
    told: dict[int, frozenset[str]] = {}
    for sentence in found:
        for nth in _holding(sentence, found):
            claimed = claim(found[nth].text)
            told[nth] = frozenset() if claimed is None else implied(claimed)
    for nth, words in told.items():
        one = found[nth]
        found[nth] = replace(one, words=one.words | words, around=one.around | words, begins=words)
    return found


def _object_around(data: Sequence[tuple[int, int]], start: int, end: int) -> tuple[int, int]:
    """Return the object of which a stretch is a part; itself where it is of none."""
    for first, last in data:
        if first <= start and end <= last:
            return first, last
    return start, end


def _superseded(
    line: Line, start: int, end: int, values: Sequence[Superseded]
) -> Superseded | None:
    """Return what a sentence of a line is superseded by, beside values in it."""
    for stale in line.superseded:
        if stale.start < end and start < stale.end and stale not in values:
            return stale
    return None


def _by_what_holds(scores: np.ndarray, found: list[_Sentence]) -> np.ndarray:
    """Give what a sentence scores that no longer holds to the one that does, where it is read.

    Where the old one is asked for, the other way round.
    """
    held = scores.copy()
    for nth, sentence in enumerate(found):
        for other in _holding(sentence, found):
            is_asked = sentence.superseded is not None and sentence.superseded.asked
            gains, loses = (nth, other) if is_asked else (other, nth)
            held[gains] = max(held[gains], scores[loses])
            held[loses] = 0.0
    return held


def _by_amount(asked: _Asked, scores: np.ndarray, found: list[_Sentence]) -> np.ndarray:
    """Have what tells no amount count less where one is asked for, and another sentence tells it.

    That is one that has a word of the question, and may leave the amount to the next: "Bought the
    boat! 740 in the end."
    """
    if not asks_for_amount(asked.query):
        return scores
    own = [tells_amount(one.text, asked.query) for one in found]
    tells = np.zeros(len(found), np.bool_)
    for nth, one in enumerate(found):
        is_next_told = any(own[nth + 1 : nth + 2]) and _leaves_amount(one, found[nth + 1])
        tells[nth] = (own[nth] or is_next_told) and asked.share(one.words) > 0
    if not (tells & (scores >= _LEAST)).any():
        return scores
    return np.where(tells, scores, _NO_AMOUNT * scores)


def _leaves_amount(one: _Sentence, after: _Sentence) -> bool:
    return one.evidence.id == after.evidence.id and len(one.text) <= _LEAVES_AMOUNT


def _holding(sentence: _Sentence, found: list[_Sentence]) -> Iterator[int]:
    """Yield the numbers of the sentences that hold in the place of one."""
    if sentence.superseded is None:
        return
    item, start, end = sentence.superseded.by
    for nth, other in enumerate(found):
        if other.evidence.id == item and start < other.end and other.start < end:
            yield nth


def _asked(question: Question, found: list[_Sentence]) -> _Asked:
    own, before = parted(question.query)
    rarity = _rarity(_wanted(own, found), found)
    mass = max(sum(rarity.values()), 1e-9)
    after = _asked(replace(question, query=before), found) if before else None
    times = _times(replace(question, query=own), found)
    aside = _aside(own, times)
    matter = rarity.keys() - aside
    if all(matter.isdisjoint(one.words) for one in found):
        return _Asked(own.lower(), own, rarity, mass, frozenset(), after)
    return _Asked(own.lower(), _without(own, times), rarity, mass, aside, after)


def _times(question: Question, found: list[_Sentence]) -> list[Span]:
    asked_on = question.at.date() if question.at else None
    days = (one.evidence.at.date() for one in found if one.evidence.at)
    return stretches(question.query, asked_on, max(days, default=None))


def _aside(query: str, times: Iterable[Span]) -> frozenset[str]:
    """Return the words of the times that a question asks about, and of asking for a price.

    What was "in March" need not say so: its day does. What something cost is told by a number.
    """
    aside: set[str] = set()
    for time in times:
        aside.update(content_terms(query[time.start : time.end]))
    is_number = any(words in query.lower() for words in _HOW_MANY)
    return frozenset(aside | _OF_MONEY if is_number else aside)


def _without(query: str, times: Iterable[Span]) -> str:
    for time in sorted(times, key=lambda time: time.start, reverse=True):
        query = f"{query[: time.start]}{query[time.end :]}"
    return query


def _by_words(asked: _Asked, found: list[_Sentence]) -> np.ndarray:
    """Return three rows, a column a sentence: its share, its lexical score and its kind."""
    columns = []
    for sentence in found:
        share = asked.share(sentence.words)
        lexical = asked.lexical(sentence, share)
        kind = _kind(asked.query, sentence)
        columns.append((share, lexical, kind))
    return np.array(columns).T


def _wanted(query: str, found: list[_Sentence]) -> frozenset[str]:
    """Return the words of the question, without the speakers' names if others are left.

    Who speaks counts apart.
    """
    words = frozenset(content_terms(query))
    names: set[str] = set()
    for speaker in {sentence.evidence.speaker for sentence in found}:
        names.update(content_terms(speaker or ""))
    return words - names or words


def _rarity(wanted: frozenset[str], found: list[_Sentence]) -> dict[str, float]:
    """Weigh each word of the question by how few sentences of the reading hold it."""
    rarity: dict[str, float] = {}
    for word in wanted:
        holding = sum(word in sentence.words for sentence in found)
        rarity[word] = float(np.log1p(len(found) / (1 + holding)))
    return rarity


def _kind(query: str, sentence: _Sentence | Stretch) -> float:
    """Return 1.0 when the sentence holds the kind of thing that the question word asks for.

    A place counts half: many words follow "in" or "at". The query is in lower case.
    """
    text = sentence.text
    if "when" in query.split() or "what date" in query:
        return 1.0 if _has_time(sentence) else 0.0
    if asks_for_amount(query):
        return 1.0 if tells_amount(text, query) else 0.0
    if any(words in query for words in _HOW_MANY):
        return 1.0 if has_number(text, text.lower().split()) else 0.0
    if query.startswith("who"):
        return 1.0 if NAME.search(without_greetings(text)) else 0.0
    if query.startswith("where"):
        return 0.5 if _PLACE.search(text) else 0.0
    return 0.0


def _kind_told(query: str, stretch: Stretch) -> float:
    """Return how far a stretch tells the kind of thing asked for, more exactly than a score needs.

    A place is one behind more words than "in", but no time ("at noon"), or a name; colours and
    sizes count as well. The query is in lower case.
    """
    known = set(_WORDS.findall(f"{query} {stretch.evidence.speaker or ''}".lower()))
    if query.startswith("where"):
        is_told = _STANDS.search(stretch.text) is not None or holds("name", stretch.text, known)
        return 0.5 if is_told else 0.0
    if asks_for_amount(query):
        return 1.0 if tells_amount(stretch.text, query) else 0.0
    kind = kind_asked(query)
    if kind in ("colour", "number"):
        return 1.0 if holds(kind, stretch.text, known) else 0.0
    return _kind(query, stretch)


def _has_time(sentence: _Sentence | Stretch) -> bool:
    return _has_relative_time(sentence) or _YEAR.search(sentence.text) is not None


def _has_relative_time(sentence: _Sentence | Stretch) -> bool:
    """Whether a sentence says a relative time that the day it was said resolves."""
    at = sentence.evidence.at
    return at is not None and bool(find(sentence.text, at.date()))


def _is_named(query: str, speaker: str | None) -> float:
    names = speaker.lower().split() if speaker else []
    return 1.0 if any(name in query for name in names) else 0.0


def _is_within(sentence: _Sentence, others: list[_Sentence]) -> bool:
    """Whether a sentence is quoted already, as what turns another one round."""
    for other in others:
        end = through_turn(other.evidence.text, other.end)
        if other.evidence.id == sentence.evidence.id and other.start <= sentence.start < end:
            return True
    return False


def _quote(quoted: list[_Sentence], query: str) -> str:
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
            words = _begun(item, begun, end)
        else:
            words += _further(item, sentence.start, end, is_next=is_next)
        ended = end
        notes |= dict.fromkeys(_until(sentence))
        notes |= dict.fromkeys(meant(item, sentence.start, end, alone=True))
    wants_day = not _WHEN.isdisjoint(query.lower().split()) and not names_time(words)
    if not notes and item.at is not None and wants_day:
        notes[f"said on {day(item)}"] = None
    return f"{words} ({'; '.join(notes)})" if notes else words


def _further(item: Evidence, start: int, end: int, *, is_next: bool) -> str:
    """Return a further stretch of a turn as it stands behind the one before."""
    if in_fence(item.text, start):
        return f"\n  {contained(entry(excerpt(item.text, start, end)))}"
    cut = " " if is_next else f" {CUT} "
    words = item.text[start:end]
    if is_fenced(words) or passes_for_entry(words):
        cut = f"{cut.rstrip()}\n  "
    return f"{cut}{contained(entry(words))}"


def _begun(item: Evidence, start: int, end: int) -> str:
    """Return a stretch as said; a part of a block of code stands between fences of its own."""
    is_part = in_fence(item.text, end) or in_fence(item.text, start)
    return told(item, start, end).words if is_part else said(item, start, end)


def _until(sentence: _Sentence) -> Iterator[str]:
    """Yield until when a sentence held that no longer does."""
    stale = sentence.superseded
    over = [one for one in sentence.replaced if sentence.start < one.end <= sentence.end]
    if over:
        days = [one.at for one in over if one.at]
        yield f"in part until {day_name(max(days))}" if days else "in part no longer"
    elif stale is not None:
        yield f"until {day_name(stale.at)}" if stale.at else "no longer"
