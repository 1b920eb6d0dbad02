"""Measure what selection adds to a retriever: python benchmarks/rag_drop_in.py --data locomo10.json
[--json]

The drop-in experiment of the paper (appendix "Drop-in Experiment"), with recall of the gold turns
in the place of a judged answer. A retriever by cosine and one by BM25 give their best turns
(--candidates); what fits in --limit characters of these, best first, is the retriever alone.
Wrapped by the langchain adapter's ``wrap``, the same candidates are partitioned into K slots and
what a reading of that limit takes of them comes back. In both, a line is "speaker: text" and counts
with its line break. "cosine" and "bm25" of `demem bench` stand beside them; they spend a part of
the limit on dates. "1 slot" and "text only" tell what the partition and the candidates' metadata
(speaker, session, date) are worth. Needs the extra `langchain`; about five minutes for five
dialogues.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from numpy.typing import NDArray

from demem_adapters.langchain import wrap
from demem_agent import Turn
from demem_agent.encoders import default_encoder
from demem_agent.evaluate import (
    BASELINES,
    Dialogue,
    Maker,
    Measured,
    evaluate,
    load_locomo,
    paired,
    report,
)
from demem_agent.scoring.lexical import LexicalIndex
from demem_agent.text.language.words import content_terms, terms

Score = Callable[[str], NDArray[Any]]
#: (with selection, alone, as `demem bench` has it)
PAIRS = (("cosine, wrapped", "cosine, alone", "cosine"), ("bm25, wrapped", "bm25, alone", "bm25"))
#: What selection may go without: slots to divide the candidates among; what their metadata says of
#: them.
LESS: dict[str, dict[str, Any]] = {
    "1 slot": {"slots": 1},
    "text only": {"turn": lambda d: {"text": d.page_content}},
}


class Ranked(BaseRetriever):
    """The k turns of a dialogue that score highest for a query, best first."""

    documents: list[Document]
    score: Any
    k: int

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        order = np.argsort(-self.score(query).round(5), kind="stable")
        return [self.documents[n] for n in order[: self.k]]


class Retrieved:
    """A retriever, alone or wrapped, as a system under test."""

    def __init__(
        self, score: Callable[[Sequence[str]], Score], k: int, options: dict[str, Any] | None
    ) -> None:
        self._score = score
        self._k = k
        self._options = options

    def ingest(self, turns: Sequence[Turn]) -> None:
        """Make the retriever of the documents that the turns are."""
        documents = [_document(n, turn) for n, turn in enumerate(turns)]
        score = self._score([*map(_line, documents)])
        self._retriever = Ranked(documents=documents, score=score, k=self._k)

    def read(self, query: str, limit: int, at: datetime | None = None) -> str:
        """Return as much of what the retriever finds as a limit has room for."""
        if self._options is not None:
            selected = wrap(self._retriever, limit=limit, **self._options).invoke(query)
            return "\n".join(map(_line, selected))
        text = ""
        for line in map(_line, self._retriever.invoke(query)):
            if len(text) + len(line) < limit:
                text += f"{line}\n"
        return text


def by_cosine(lines: Sequence[str]) -> Score:
    """Score lines by the shipped encoder."""
    vectors = default_encoder().encode(list(lines))
    return lambda query: np.einsum("ij,j->i", vectors, default_encoder().encode([query])[0])


def by_bm25(lines: Sequence[str]) -> Score:
    """Score lines by the words they share with a query."""
    index = LexicalIndex()
    for line in lines:
        index.add(terms(line))
    return lambda query: index.scores(content_terms(query))[0]


def _document(number: int, turn: Turn) -> Document:
    about = {
        "speaker": turn.speaker,
        "at": str(turn.at),
        "session": turn.session,
        "start_index": number,
    }
    return Document(id=turn.source_id, page_content=turn.text, metadata=about)


def _line(document: Document) -> str:
    return f"{document.metadata['speaker']}: {document.page_content}"


def main() -> None:
    """Compare retrievers with themselves behind a memory, and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="a LoCoMo file")
    parser.add_argument("--sample", help="only the dialogue of this name")
    parser.add_argument(
        "--candidates", type=int, default=100, help="turns that a retriever gives (100)"
    )
    parser.add_argument("--limit", type=int, default=2000, help="characters (2000)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    given = parser.parse_args()
    dialogues = [_answerable(dialogue) for dialogue in load_locomo(given.data, given.sample)]
    measured = evaluate(dialogues, systems(given.candidates), [given.limit])
    found = report(measured)
    if given.json:
        print(json.dumps(found | {"difference": differences(measured, given.limit)}, indent=1))
    else:
        show(found, differences(measured, given.limit), given)


def systems(candidates: int) -> dict[str, Maker]:
    """Return each retriever alone, behind a memory, and as the evaluation has it."""
    made: dict[str, Maker] = {}
    for (wrapped, alone, plain), score in zip(PAIRS, (by_cosine, by_bm25), strict=True):
        made[plain] = BASELINES[plain]
        made[alone] = partial(Retrieved, score, candidates, None)
        made[wrapped] = partial(Retrieved, score, candidates, {})
        for what, options in LESS.items():
            made[f"{wrapped}, {what}"] = partial(Retrieved, score, candidates, options)
    # Memory that is not bound to the candidates.
    return made | {"demem, all turns": BASELINES["demem"]}


def differences(measured: Sequence[Measured], limit: int) -> dict[str, list[float | None]]:
    """Return by pair the difference in recall with its interval by dialogue: mean, low, high."""
    found = {}
    for wrapped, *others in PAIRS:
        for other in others:
            interval = paired(measured, wrapped, other, limit)
            found[f"{wrapped} less {other}"] = [interval.mean, interval.low, interval.high]
    return found


def show(
    found: Mapping[str, Any], less: Mapping[str, Sequence[float | None]], given: argparse.Namespace
) -> None:
    """Print the tables."""
    categories = list(found["categories"])
    asked = f"{found['dialogues']} dialogues, {found['scored']} questions"
    print(f"{asked}; {given.candidates} candidates; recall at {given.limit:,} characters\n")
    heads = [f"{name:>12}" for name in categories]
    print(f"{'retriever':<26}{'all':>8}", *heads, f"{'characters':>12}{'ms':>8}")
    for name, cells in found["systems"].items():
        print(_system(name, cells[str(given.limit)], categories))
    print()
    for name, (mean, *ends) in less.items():
        interval = [f"{end:>+8.3f}" for end in ends if end is not None]
        print(f"{name:<36}{mean:>+8.3f}", *interval)


def _system(name: str, cell: Mapping[str, Any], categories: Sequence[str]) -> str:
    """Return the line of a retriever: recall in all and by category, characters and ms."""
    parts = [f"{name:<26}{cell['recall']['mean']:>8.3f}"]
    for category in categories:
        recall = cell["categories"][category]["recall"]["mean"]
        parts.append(f"{recall:>12.3f}")
    milliseconds = 1e3 * cell["seconds"]["median"]
    parts.append(f"{cell['size']:>12.0f}{milliseconds:>8.1f}")
    return " ".join(parts)


def _answerable(dialogue: Dialogue) -> Dialogue:
    probes = tuple(probe for probe in dialogue.probes if probe.has_answer)
    return replace(dialogue, probes=probes)


if __name__ == "__main__":
    main()
