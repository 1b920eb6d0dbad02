"""Wrap a RAG retriever and see what changes: python examples/rag_before_and_after.py

With two files, TURNS.jsonl and QUESTIONS.jsonl, it takes those.
The pipeline is LangChain's own in-memory vector store, asked for its 25 nearest of 40 turns.
Before: as many of them as the budget has room for, nearest first. After: wrap() has a memory
partition the same 25 and select within that budget. The table is the share of the turns an answer
rests on that are in the text. With the ten questions of the file that comes along, one question
moves it by as much as .1; benchmarks/rag_drop_in.py has enough of them to tell.
Needs: pip install 'demem-agent[langchain]'
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import InMemoryVectorStore

from demem_adapters.langchain import wrap
from demem_agent.encoders import default_encoder
from demem_agent.evaluate import Dialogue, load_own, recall

BUDGETS = (250, 500, 1000)
CANDIDATES = 25


class Shipped(Embeddings):
    """The encoder that DeMem ships, as LangChain calls it; any other does as well."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Encode texts."""
        return default_encoder().encode(texts).tolist()

    def embed_query(self, text: str) -> list[float]:
        """Encode one text, as texts are."""
        return self.embed_documents([text])[0]


def store_of(dialogue: Dialogue) -> InMemoryVectorStore:
    """Put the turns of a dialogue into a vector store."""
    store = InMemoryVectorStore(Shipped())
    for number, turn in enumerate(dialogue.turns):
        about = {
            "speaker": turn.speaker,
            "at": str(turn.at),
            "session": turn.session,
            "start_index": number,
        }
        store.add_documents([Document(id=turn.source_id, page_content=turn.text, metadata=about)])
    return store


def text_of(documents: Sequence[Document], budget: int) -> str:
    """Return the documents as one text, as many of them as fit."""
    text = ""
    for document in documents:
        line = f"{document.metadata['speaker']}: {document.page_content}\n"
        if len(text) + len(line) <= budget:
            text += line
    return text


def recalled(retriever: BaseRetriever, dialogue: Dialogue, budget: int) -> float:
    """Return the share of what answers rest on that a retriever finds within a budget."""
    gold = {turn.source_id: turn for turn in dialogue.turns}
    shares: list[float] = []
    for probe in dialogue.probes:
        if probe.evidence:
            needed = [gold[id] for id in probe.evidence]
            shares.append(recall(text_of(retriever.invoke(probe.question), budget), needed))
    return mean(shares)


if __name__ == "__main__":
    here = Path(__file__).parent
    shipped = [here / "support_chat.jsonl", here / "support_chat_questions.jsonl"]
    dialogue = load_own(*(sys.argv[1:] or shipped))
    before = store_of(dialogue).as_retriever(search_kwargs={"k": CANDIDATES})
    print("evidence recall\nbudget    before   after")
    for budget in BUDGETS:
        after = wrap(before, limit=budget)  # the one line that changes
        found = [recalled(retriever, dialogue, budget) for retriever in (before, after)]
        print(f"{budget:>6}", *(f"{share:>8.3f}" for share in found))
