"""What the verbs and arguments of other memories are called here; read only when one is missed."""

from __future__ import annotations

import difflib
from collections.abc import Collection

__all__ = [
    "ARGUMENTS",
    "FIELDS",
    "FILTERED",
    "VERBS",
    "elsewhere",
    "for_argument",
    "for_field",
    "for_verb",
]

_REMEMBER = "ingest(text) for one text, ingest_many(turns) for many"
_READ = "read(query) for the text to put before a model, or answer(query)"
_LIST = "evidence(), every item that is remembered"
_ONE = "item(evidence_id), or history(evidence_id) for what it was before"
_FORGET = "forget(evidence_id), or forget(source_id=...) by your own id"
_FORGET_ALL = "delete() for this whole memory, or demem_agent.memories.delete_memory for one by id"
_FORGET_MANY = (
    "forget(where={'source_ids': [...]}) by your own ids, or forget(evidence_id) for each"
)
_USERS = "demem_agent.memories.list_memories: each user is a memory of their own, by its id"
_CHANGE = "update(evidence_id, text)"
_MERGE = "sync(turns, source=...), which updates what changed and adds what is new"
_KEPT = "nothing: each call is kept when it returns, in the file that SlotMemory.open(url) names"
_COUNT = "len(memory), or storage() for how much is kept"

#: By the name of a method elsewhere, what is called here for the same.
VERBS = {
    "add": _REMEMBER,
    "add_fact": _REMEMBER,
    "add_facts": _REMEMBER,
    "add_memory": _REMEMBER,
    "add_message": _REMEMBER,
    "add_messages": _REMEMBER,
    "add_texts": _REMEMBER,
    "aadd": _REMEMBER,
    "append": _REMEMBER,
    "archival_memory_insert": _REMEMBER,
    "archival_memory_search": _READ,
    "ask": "answer(query)",
    "batch_delete": _FORGET_MANY,
    "chat": "read(query) before you ask your model, and answered(query, text) after",
    "clear": _FORGET_ALL,
    "commit": _KEPT,
    "conversation_search": _READ,
    "core_memory_append": _REMEMBER,
    "core_memory_replace": _CHANGE,
    "correct": "update(evidence_id, text), or feedback(answer, correction=...)",
    "count": _COUNT,
    "delete_all": _FORGET_ALL,
    "delete_many": _FORGET_MANY,
    "delete_users": _FORGET_ALL,
    "dump": "export()",
    "edit": _CHANGE,
    "erase": _FORGET,
    "facts": _LIST,
    "find": _READ,
    "flush": _KEPT,
    "from_config": "SlotMemory.open(url, ...), which takes all options by keyword",
    "get": _ONE,
    "get_all": _LIST,
    "get_context": _READ,
    "get_history": "history(evidence_id)",
    "get_memories": _LIST,
    "get_memory": _READ,
    "get_relevant_documents": _READ,
    "insert": _REMEMBER,
    "invoke": _READ,
    "items": _LIST,
    "learn": "feedback(answer, reward=...)",
    "list": _LIST,
    "list_memories": _LIST,
    "list_users": _USERS,
    "load": "SlotMemory.open(url), or SlotMemory.restore(lines)",
    "load_memory_variables": _READ,
    "lookup": _READ,
    "memories": _LIST,
    "modify": _CHANGE,
    "persist": _KEPT,
    "put": _REMEMBER,
    "query": _READ,
    "rate": "feedback(answer, thumbs=...)",
    "recall": _READ,
    "reflect": "answer(query)",
    "remember": _REMEMBER,
    "remove": _FORGET,
    "replace": _CHANGE,
    "reset": _FORGET_ALL,
    "retain": _REMEMBER,
    "retrieve": _READ,
    "revert": "undo(id)",
    "reward": "feedback(answer, reward=...)",
    "rollback": "undo(id)",
    "save": f"ingest(text) to remember; to keep, {_KEPT}",
    "save_context": _REMEMBER,
    "search": _READ,
    "similarity_search": _READ,
    "size": _COUNT,
    "stats": "health() for what is held and what waits, storage() for how full it is",
    "store": _REMEMBER,
    "summarize": "summarise(slot)",
    "summary": "slots, each with its summary, or read(query, mode='strict')",
    "supersedes": "supersede(old, new)",
    "to_json": "export()",
    "update_memory": _CHANGE,
    "upsert": _MERGE,
    "users": _USERS,
    "versions": "history(evidence_id)",
    "write": _REMEMBER,
}

#: What arguments of ours are for, as far as their names elsewhere mislead.
_FOR = {
    "limit": "how much may be read, in the memory's unit (characters), not how many items",
    "floor": "the least probability of being evidence with which a line is read",
    "where": "a filter",
    "asker": "who asks",
    "speaker": "who said it",
    "session": "which conversation it is of",
    "at": "when",
    "context": "what was said last",
    "source_id": "your own id of a turn",
    "trust": "from 0 to 1",
    "key": "the same key again changes nothing",
    "metadata": "what else is to be kept with it",
    "mode": "'evidence' or 'strict'",
    "actions": "what can be chosen",
}
#: What others call the fields of a turn.
FIELDS = {
    **dict.fromkeys(("content", "message", "msg", "body", "utterance", "said"), "text"),
    **dict.fromkeys(("role", "author", "from", "sender", "name", "user", "who"), "speaker"),
    **dict.fromkeys(("date", "time", "datetime", "timestamp", "ts", "created_at", "when"), "at"),
    **dict.fromkeys(("conversation", "thread", "chat", "session_id", "thread_id"), "session"),
    **dict.fromkeys(("id", "uuid", "message_id"), "source_id"),
}
_USER = "a user is a memory of their own: SlotMemory.open(url, memory_id='ana')"
_STAYS = "an item stays by keep(evidence_id), whatever else is forgotten"
#: What filters ask of items, by name.
FILTERED = {
    **{name: name for name in ("speaker", "session", "source", "since", "until")},
    **{name: name for name in ("trust", "metadata", "source_ids")},
    "source_id": "source_ids",
}
#: What is said where nothing that a method takes stands for it.
_ELSEWHERE = {
    **dict.fromkeys(("user_id", "user", "customer_id"), _USER),
    **dict.fromkeys(("immutable", "pinned", "permanent"), _STAYS),
    "infer": "what was said is kept as it is; a note_taker given at the opening takes notes of it",
    "limit": "read(query, limit=...) takes it; of evidence() take a part, evidence()[-5:]",
    "keep_days": "how long all is kept is said when the memory is made: SlotMemory(keep_days=...)",
    "memory_id": "a memory is named where it is opened: SlotMemory.open(url, memory_id=...)",
    "reranker": "a reranker is given when the memory is made: SlotMemory(reranker=...)",
    "encoder": "an encoder is given when the memory is made: SlotMemory(encoder=...)",
    "stale": "what becomes of old lines is said when the memory is made: SlotMemory(stale=...)",
}
#: By the name of an argument elsewhere, those here that stand for it, the first that fits.
ARGUMENTS = {
    **dict.fromkeys(
        "k top_k topk n n_results num_results max_results max_tokens size".split(), ("limit",)
    ),
    **dict.fromkeys(("expiration_date", "expires_at", "ttl", "retention"), ("keep_days",)),
    **dict.fromkeys(("score", "threshold", "min_score", "score_threshold"), ("floor",)),
    **dict.fromkeys(("filter", "filters", "metadata_filter"), ("where",)),
    **dict.fromkeys(("user_id", "user", "customer_id"), ("memory_id",)),
    **dict.fromkeys(("agent_id", "namespace", "app_id", "bank_id", "memory_id"), ("memory_id",)),
    **dict.fromkeys(("role", "name", "author"), ("speaker", "asker")),
    **dict.fromkeys(
        ("run_id", "session_id", "thread_id", "conversation_id"), ("session", "memory_id")
    ),
    **dict.fromkeys(
        ("date", "time", "timestamp", "created_at", "when", "reference_time", "valid_at"), ("at",)
    ),
    **dict.fromkeys(("messages", "history", "chat_history"), ("context",)),
    **dict.fromkeys(("id", "doc_id", "uuid"), ("source_id",)),
    **dict.fromkeys(("tags", "meta", "extra"), ("metadata",)),
    **dict.fromkeys(("confidence", "weight", "importance"), ("trust",)),
    **dict.fromkeys(("idempotency_key", "request_id"), ("key",)),
    **dict.fromkeys(("rerank", "reranking"), ("reranker",)),
    **dict.fromkeys(("embedder", "embedding", "embedding_model"), ("encoder",)),
    **dict.fromkeys(("options", "tools", "choices"), ("actions",)),
}


def for_verb(kind: str, name: str, known: Collection[str]) -> str:
    """Return what to say of a method that a memory does not have.

    Args:
        kind: name of the class.
        known: what it has.
    """
    if name in VERBS:
        return f"{kind} has no {name!r}: use {VERBS[name]}"
    near = difflib.get_close_matches(name, known, 1, 0.75)
    meant = f": did you mean {near[0]!r}?" if near else ""
    return f"{kind} has no {name!r}{meant}"


def for_argument(name: str, known: Collection[str]) -> str:
    """Return what to say of an argument that a method does not take, "" where nothing is near."""
    meant = (name, *ARGUMENTS.get(name, ()))
    if "where" in known and name in FILTERED:
        return _as_filter(name)
    for ours in meant:
        if ours in known:
            return f"here it is {ours}={_for(ours)}"
    for ours in meant:
        if "where" in known and ours in FILTERED:
            return _as_filter(ours)
        if ours in _ELSEWHERE:
            return _ELSEWHERE[ours]
    near = difflib.get_close_matches(name, known, 1, 0.6)
    return f"did you mean {near[0]}=?" if near else ""


def _as_filter(name: str) -> str:
    return f"here it is where={{{FILTERED[name]!r}: ...}}, which items may be meant"


def _for(argument: str) -> str:
    return f", {_FOR[argument]}" if argument in _FOR else ""


def elsewhere(name: str) -> str:
    """Return how else what an argument of another memory does is had here; "" where it is not."""
    meant = (name, *ARGUMENTS.get(name, ()))
    return next((_ELSEWHERE[ours] for ours in meant if ours in _ELSEWHERE), "")


def for_field(name: str, free: Collection[str]) -> str:
    """Return the field that one of another name, or a misspelled one, stands for; "" for none.

    Args:
        free: the fields of a turn that are not given.
    """
    low = name[:40].lower().replace("-", "_")
    near = difflib.get_close_matches(low, sorted(free), n=1, cutoff=0.7)
    if near:
        return near[0]
    others = (FIELDS.get(low, ""), *ARGUMENTS.get(low, ()))
    return next((ours for ours in others if ours in free), "")
