"""A provider that replies as a model would to packages that have memories extracted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from demem_agent.testing import Provider, Seen

__all__ = ["REWRITTEN", "Extracting"]

#: What is said, and what a model makes of it.
REWRITTEN: Mapping[str, str] = {
    "The Heron bike arrived on Thursday.": "Bo got a Heron bike on a Thursday",
    "My sister Ana plays the violin in Porto.": "Bo has a sister Ana, who plays violin in Porto",
    "We planted tomatoes behind the shed.": "Bo grows tomatoes behind the shed",
    "The landlord wants the deposit by Friday.": "Bo owes the landlord a deposit by Friday",
    "I am allergic to peanuts.": "Bo is allergic to peanuts",
    "The train to Madrid leaves at nine.": "Bo's train to Madrid leaves at nine",
}
Json = dict[str, Any]


class Extracting(Provider):
    """Find what was said in a request, and reply with what a model makes of it.

    The reply has the form that the request asks for: calls of its tools, JSON by its schema, or
    what its words ask for.
    """

    def body(self, seen: Seen, fault: str) -> Json:
        """Return the reply to a request."""
        whole: Json = super().body(seen, fault)
        (choice,) = whole["choices"]
        if seen.body.get("tools"):
            choice["message"] = {"role": "assistant", "tool_calls": list(_calls(seen.body))}
            choice["finish_reason"] = "tool_calls"
        else:
            choice["message"]["content"] = _content(seen.body)
        return whole


def _content(request: Mapping[str, Any]) -> str:
    asked = request["messages"][-1]["content"]
    told = "\n".join(str(message["content"]) for message in request["messages"])
    if "<facts>" in asked:
        return "".join(f"<fact>{fact}</fact>" for fact in _facts(told))
    if "## New Messages" in asked:
        new = asked.partition("## New Messages")[2]
        return json.dumps({"memory": [{"text": fact} for fact in _facts(new)]})
    return json.dumps(_by_schema(_schema(request, told), told))


def _schema(request: Mapping[str, Any], told: str) -> str:
    """Return the name of the schema that a request has in a field or in its words."""
    named = request.get("response_format", {}).get("json_schema", {}).get("name", "")
    titles = re.findall(r'^  "title": "(\w+)"', told, re.MULTILINE)
    return named or "".join(titles[-1:])


def _by_schema(name: str, told: str) -> Json:
    """Return what Hindsight or Graphiti asks for.

    That is facts; or entities, facts between them, and what is known of both.
    """
    facts = _facts("".join(re.findall(r"<CURRENT[ _]MESSAGES?>(.*?)</CURRENT", told, re.DOTALL)))
    if name == "ExtractedEntities":
        named = ["Bo", *(fact.split()[-1] for fact in facts)] if facts else []
        return {"extracted_entities": [{"name": one, "entity_type_id": 0} for one in named]}
    if name == "ExtractedEdges":
        return {"edges": [_edge(fact) for fact in facts]}
    if name.startswith("FactExtractionResponse"):
        return {"facts": [_what(fact) for fact in _facts(told)]}
    known: dict[str, Json] = {
        "NodeResolutions": {"entity_resolutions": []},
        "EdgeDuplicate": {"duplicate_facts": [], "contradicted_facts": []},
        "SummarizedEntities": {"summaries": []},
    }
    return known.get(name, {})


def _what(fact: str) -> Json:
    """Return a fact as Hindsight asks for one."""
    unknown = dict.fromkeys(("when", "where", "who", "why"), "N/A")
    return {"what": fact, **unknown, "fact_type": "world", "entities": []}


def _edge(fact: str) -> Json:
    named = {"source_entity_name": "Bo", "target_entity_name": fact.split()[-1]}
    return {**named, "relation_type": "HAS", "fact": fact}


def _calls(request: Mapping[str, Any]) -> Iterator[Json]:
    """Yield a call of the tool for a new memory, for each that there is."""
    told = json.dumps(request["messages"])
    for number, fact in enumerate(_facts(told)):
        named = {"name": "Memory", "arguments": json.dumps({"content": fact})}
        yield {"id": f"call_{number}", "type": "function", "function": named}


def _facts(told: str) -> list[str]:
    return [fact for said, fact in REWRITTEN.items() if said in told]
