"""The door: what comes in is checked here, and dated, before a flow sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, replace
from datetime import datetime
from typing import Any, get_args

from demem_agent import flows
from demem_agent.channels import Signal
from demem_agent.errors import InvalidInput
from demem_agent.feedback.signals import signal_of
from demem_agent.later import dataclass
from demem_agent.metadata import NO_METADATA, Metadata
from demem_agent.reading.ask import Ask, Asking, Routes, When, ask_of
from demem_agent.reading.packing import strip_rendered
from demem_agent.settings import Settings
from demem_agent.slots.choosing.asked import (
    Advised,
    Choosing,
    advised_of,
    choosing_of,
    tried_of,
)
from demem_agent.slots.keeping import require_room
from demem_agent.text.units import Measure
from demem_agent.turns import (
    Retold,
    Turn,
    as_turn,
    choice_field,
    refuse_unknown,
    request_hash,
    require_told,
    text_field,
    time_field,
    unit_field,
    whole_field,
)
from demem_agent.types import Answer, Decision, Gone, Known, Reading
from demem_agent.where import Where, where_field

__all__ = ["Door", "is_decision", "refuse_keywords", "refuse_positional"]

#: Keyword arguments of methods that spell them out; a test holds them to the methods.
KEYWORDS = {
    "ingest_messages": ("session", "at", "tools", "speakers", "source", "progress"),
    "evidence": ("where",),
    "forget": ("source_id", "before", "where", "versions"),
}


def refuse_keywords(method: str, given: Iterable[str]) -> None:
    """Raise TypeError for keywords that a method does not take, with what they are called here."""
    refuse_unknown(method, given, KEYWORDS[method])


def refuse_positional(kind: str, given: Sequence[object]) -> None:
    """Raise TypeError where a memory is made with anything but keywords, such as a URL."""
    if given:
        says = f"to keep it in a store, use {kind}.open(url, ...)"
        raise TypeError(f"{kind}() takes keyword arguments alone, got {given[0]!r}; {says}")


def is_decision(what: object) -> bool:
    """Whether feedback is given on a decision among actions, or its id, not on an answer."""
    if isinstance(what, str):
        return what[:1] == "d" and what[1:].isdigit()
    return isinstance(what, Decision)


@dataclass(frozen=True, slots=True)
class Door:
    """Checks of arguments; each method returns what a flow takes.

    All raise InvalidInput, naming the field and its range.

    Attributes:
        clock: dates turns and queries that come without a time; with None they stay undated.
    """

    settings: Settings
    clock: Callable[[], datetime] | None
    measure: Measure

    def turns(self, given: Iterable[Turn | Mapping[str, object]]) -> list[Turn]:
        """Check turns to remember, each named by its number in errors."""
        if not isinstance(given, Iterable) or isinstance(given, str | Mapping):
            raise InvalidInput("turns", given, "a list of Turn records or mappings")
        turns = [as_turn(turn, f"turns[{n}].") for n, turn in enumerate(given)]
        for n, turn in enumerate(turns):
            self._require_room_for(turn, f"turns[{n}].")
        return turns

    def turn(self, turn: Turn) -> Turn:
        """Check a turn to remember."""
        turn = as_turn(turn)
        self._require_room_for(turn)
        return turn

    def arrivals(self, turns: Sequence[Turn]) -> tuple[list[Turn], list[str]]:
        """Return checked turns with their dates, and the hash of each that has a key.

        They are hashed before they are dated: a retry comes at another time and is the same
        request.
        """
        return [self._dated(turn) for turn in turns], [_hash_of(turn) for turn in turns]

    def at_once(self) -> Door:
        """Return a door that dates all that comes without a time alike, as what one call brings."""
        return self.dating(self._now())

    def dating(self, at: object) -> Door:
        """Return a door that dates what comes without a time by ``at``; this one for None."""
        said = time_field("at", at)
        return self if said is None else replace(self, clock=lambda: said)

    def routing(self, query: str, given: Mapping[str, object]) -> Ask:
        """Check a query and the keyword arguments of ``route``."""
        refuse_unknown("route", given, Routes)
        return self._ask(query, given)

    def reading(self, query: str, given: Mapping[str, object]) -> Ask:
        """Check a query and the keyword arguments of ``read``."""
        ask = self._ask(query, given)
        if ask.where is not None and ask.mode == "strict":
            allowed = "'evidence' together with where, since a summary holds what others said"
            raise InvalidInput("mode", ask.mode, allowed)
        return ask

    def asking(self, method: str, query: str, given: Mapping[str, object]) -> Ask:
        """Check a query and the keyword arguments of ``answer`` or ``answered``."""
        refuse_unknown(method, given, Asking)
        ask = self.reading(query, given)
        self._require_room("query", ask.query, *ask.conditions)
        return ask

    def answered(
        self, query: str, text: str, reading: Reading | None, given: Mapping[str, object]
    ) -> tuple[Ask, str, Reading | None]:
        """Check an answer that was given elsewhere."""
        ask = self.asking("answered", query, given)
        if not isinstance(text, str):
            raise InvalidInput("text", text, "a text, empty where nothing was answered")
        self._require_room("text", text, ask.query, *ask.conditions)
        if reading is not None and not isinstance(reading, Reading):
            raise InvalidInput("reading", reading, "what read gave, or left out")
        return ask, text, reading

    def feedback(
        self,
        answer: Answer | Decision | str,
        told: Mapping[str, object],
        key: str | None,
        raters: flows.feedback.Raters,
    ) -> flows.feedback.Given:
        """Check what is told of an answer, and that somebody is there to judge it if asked to."""
        known = answer if isinstance(answer, Answer) else None
        answer_id = text_field("answer", answer if known is None else known.id)
        signal = signal_of(told)
        if signal.judged and not raters.judges:
            raise InvalidInput("judge", True, "left out, as the memory was made without judges")
        if key is not None:
            text_field("key", key)
        request = [answer_id, *astuple(signal)]
        return flows.feedback.Given(
            answer_id=answer_id,
            signal=signal,
            key=key,
            request=request_hash("feedback", request),
            raters=raters,
            at=self.when(None),
            answer=known,
        )

    def deciding(self, situation: str, actions: object, given: Mapping[str, object]) -> Choosing:
        """Check what is to be decided, and the keyword arguments of ``decide``."""
        return self._with_room(
            choosing_of(situation, actions, given, at=self.when(given.get("at")))
        )

    def decided(
        self, situation: str, action: str, actions: object, given: Mapping[str, object]
    ) -> Choosing:
        """Check what an agent decided itself, and the keyword arguments of ``decided``."""
        at = self.when(given.get("at"))
        chosen = text_field("action", action)
        return self._with_room(choosing_of(situation, actions, given, at=at, action=chosen))

    def advising(self, situation: str, given: Mapping[str, object]) -> Advised:
        """Check a situation and the keyword arguments of ``advice``."""
        return advised_of(situation, given)

    def trying(self, situation: str, given: Mapping[str, object]) -> Advised:
        """Check a situation and the keyword arguments of ``tried``."""
        return tried_of(situation, given)

    def outcome(
        self, decision: Answer | Decision | str, told: Mapping[str, object], key: str | None
    ) -> tuple[str, Signal, str | None, str]:
        """Check what is told of a decision."""
        id = decision.id if isinstance(decision, Decision) else text_field("decision", decision)
        signal = signal_of(told)
        if key is not None:
            text_field("key", key)
        return id, signal, key, request_hash("outcome", [id, *astuple(signal)])

    def selected(
        self,
        evidence_id: str | None,
        source_id: str | None,
        before: When,
        where: Where | Mapping[str, object] | None,
        versions: bool,
    ) -> flows.forget.Selected:
        """Check what is to be forgotten: exactly one of these is given."""
        at = time_field("before", before)
        if not isinstance(versions, bool):
            raise InvalidInput("versions", versions, "True or False")
        filtered = where_field(where)
        selected = flows.forget.Selected(evidence_id, source_id, at, filtered, versions=versions)
        if where is not None and selected.where is None:
            raise InvalidInput("where", where, "a filter that asks for something")
        if evidence_id is not None:
            text_field("evidence_id", evidence_id)
        if source_id is not None:
            text_field("source_id", source_id)
        _require_one(evidence_id=evidence_id, source_id=source_id, before=before, where=where)
        return selected

    def marking(self, evidence_id: str, field: str, value: bool) -> tuple[str, bool]:
        """Check the id of an item, and what is to be settled of it."""
        if not isinstance(value, bool):
            raise InvalidInput(field, value, "True or False")
        return text_field("evidence_id", evidence_id), value

    def naming(self, slot: int, name: str | None) -> tuple[int, str | None]:
        """Check the number of a slot and its new name."""
        number = whole_field("slot", slot, 0)
        if name is not None:
            text_field("name", name)
            self._require_room("name", name)
        return number, name

    def pinning(self, slot: int, pinned: bool) -> tuple[int, bool]:
        """Check the number of a slot, and whether it is to be pinned."""
        number = whole_field("slot", slot, 0)
        if not isinstance(pinned, bool):
            raise InvalidInput("pinned", pinned, "True or False")
        return number, pinned

    def merging(self, slot: int, into: int) -> tuple[int, int]:
        """Check the numbers of two slots."""
        return whole_field("slot", slot, 0), whole_field("into", into, 0)

    def superseding(self, old: str, new: str, key: str | None) -> tuple[str, str, str | None]:
        """Check the ids of two items and an idempotency key."""
        if key is not None:
            text_field("key", key)
        return text_field("old", old), text_field("new", new), key

    def updating(
        self, evidence_id: str, text: str, key: str | None, given: Mapping[str, Any]
    ) -> flows.update.Request:
        """Check a text that is to take the place of an item, and what is said of it."""
        refuse_unknown("update", given, Retold)
        item = text_field("evidence_id", evidence_id)
        turn = self.turn(Turn(text, key=key, **given))
        if not strip_rendered(turn.text).strip():
            raise InvalidInput("text", text, "more than a reading of this library")
        told = {name: getattr(turn, name) for name in ("text", *given)}
        if turn.at is None:
            told.pop("at", None)
        if "metadata" in told:
            told["metadata"] = turn.metadata or NO_METADATA
        request = request_hash("update", [item, told]) if key is not None else ""
        return flows.update.Request(item, told, key, request, self._now())

    def listing(
        self,
        turns: Iterable[Turn | Mapping[str, object]],
        source: str,
        by: Known,
        gone: Gone,
        known: float,
    ) -> flows.sync.Listing:
        """Check a list that was edited, and how it is to be compared with what is remembered."""
        choice_field("by", by, get_args(Known))
        choice_field("gone", gone, get_args(Gone))
        name = text_field("source", source)
        require_told("source", name)
        least = unit_field("known", known)
        return flows.sync.Listing(name, tuple(self.turns(turns)), self._now(), by, least)

    def when(self, at: object) -> datetime | None:
        """Return the time given, or else what the clock says."""
        when = time_field("at", at)
        return self._now() if when is None else when

    def _ask(self, query: str, given: Mapping[str, object]) -> Ask:
        return ask_of(query, given, self.settings, self.when(given.get("at")))

    def _with_room(self, asked: Choosing) -> Choosing:
        """Refuse a situation that would exceed the storage alone, with all actions offered."""
        self._require_room("situation", asked.text, *asked.conditions, *asked.actions)
        return asked

    def _require_room_for(self, turn: Turn, where: str = "") -> None:
        if self.settings.storage is not None:
            beside = Metadata(turn.metadata or ()).text
            self._require_room(f"{where}text", strip_rendered(turn.text), beside)

    def _require_room(self, field: str, *texts: str) -> None:
        require_room(self.settings, self.measure, field, *texts)

    def _now(self) -> datetime | None:
        return None if self.clock is None else time_field("clock", self.clock())

    def _dated(self, turn: Turn) -> Turn:
        if turn.at is not None or self.clock is None:
            return turn
        return replace(turn, at=self._now())


def _hash_of(turn: Turn) -> str:
    return "" if turn.key is None else request_hash("ingest", turn)


def _require_one(**told: object) -> None:
    """Refuse what is to be forgotten where it is told in no way, or in two."""
    given = [name for name, value in told.items() if value is not None]
    first, *others = told
    if not given:
        allowed = f"given, or else one of {', '.join(others[:-1])} and {others[-1]}"
        raise InvalidInput(first, None, allowed)
    if len(given) > 1:
        raise InvalidInput(given[1], told[given[1]], f"left out, as {given[0]} is given")
