"""The machine finds what it is for: bugs put in on purpose make it fail, for the right reason."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from machine import BoundedMachine, DecidingMachine, MemoryMachine

from demem_agent.answering import corrections
from demem_agent.changes.lineage import Lineage
from demem_agent.errors import DeMemError, InvalidInput
from demem_agent.feedback import crediting
from demem_agent.flows import arrange as arranging
from demem_agent.flows import feedback, room, undo
from demem_agent.flows import forget as erase
from demem_agent.flows import ingest as ingesting
from demem_agent.flows import supersede as superseding
from demem_agent.flows.quoting import Quotes
from demem_agent.reading import composing
from demem_agent.reading.packing import Packed, packed
from demem_agent.slots import keeping
from demem_agent.slots.choosing import situations
from demem_agent.slots.choosing.playbook import Playbook
from demem_agent.slots.keeping import Brought
from demem_agent.slots.ledger import stored_result, unkeyed
from demem_agent.slots.placement import _Draft
from demem_agent.slots.records import Delta
from demem_agent.slots.state import State
from demem_agent.splitting import division, replaying, trigger
from demem_agent.stores import Address, MemoryStore
from demem_agent.stores.loading import load_state
from demem_agent.stores.sqlite import SqliteStore
from demem_agent.summaries.compress import Summary, compress
from demem_agent.text.units import Measure
from demem_agent.types import Decision, Succession

SEARCH = settings(
    max_examples=25,
    stateful_step_count=20,
    derandomize=True,
    database=None,
    deadline=None,
    phases=(Phase.generate,),
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)
STORES = (MemoryStore, SqliteStore)

SLOW = pytest.mark.slow
Patch = pytest.MonkeyPatch
#: What puts a bug in, and what the machine has to say of it.
BUGS: list[Any] = []


def bug(
    said: str, *marks: pytest.MarkDecorator, machine: type[MemoryMachine] = MemoryMachine
) -> Callable[[Callable[[Patch], None]], Callable[[Patch], None]]:
    """Enter a bug in the table with a pattern for the message of the check that must find it.

    Args:
        marks: ``slow`` for a bug that takes more than a second or two to find.
        machine: that finds it.
    """

    def enter(put_in: Callable[[Patch], None]) -> Callable[[Patch], None]:
        BUGS.append(pytest.param(put_in, said, machine, id=put_in.__name__, marks=marks))
        return put_in

    return enter


@bug("the summary of slot . measures|a summary exceeds L")
def summary_is_not_cut_to_the_limit(patch: Patch) -> None:
    def twice(candidates: Any, limit: int, measure: Measure, gate: Any = None) -> Summary:
        return compress(candidates, 2 * limit, measure, gate)

    patch.setattr("demem_agent.slots.state.compress", twice)
    patch.setattr("demem_agent.slots.placement.compress", twice)


@bug(
    "slots do not hold every live item|listed in slot|misstates the slots|damaged rows: slot"
    "|lost or gained|a split changed other slots"
)
def moved_item_stays_in_its_old_slot_too(patch: Patch) -> None:
    right = State._move

    def move(self: State, moves: Any) -> None:
        moves = list(moves)
        stay = [(self.slot_of[item], item) for item, _ in moves]
        right(self, moves)
        for slot, item in stay:
            self.members[slot][item] = None

    patch.setattr(State, "_move", move)


@bug("context .* is not active|contexts differ|in no active slot|does not restore the state", SLOW)
def undo_leaves_contexts_in_the_closed_slot(patch: Patch) -> None:
    for name in ("_restored", "merging"):
        right = getattr(undo, name)
        patch.setattr(undo, name, lambda *args, right=right: replace(right(*args), contexts=()))


@bug("does not restore the state", SLOW)
def undo_always_merges(patch: Patch) -> None:
    def merged(state: State, certified: Any, before: Any, back: int) -> Delta:
        return arranging.merging(state, state.slots[back], state.slots[before.number], "undo")

    patch.setattr(undo, "_restored", merged)


@bug("the summary of slot . covers|forgotten text is left|the prototype of slot")
def forget_leaves_the_summary(patch: Patch) -> None:
    def rebuilt(state: State, going: Any) -> tuple[Any, ...]:
        touched = sorted({state.slot_of[item] for item in going.items})
        return tuple(
            replace(state.slots[number], revision=state.head.seq + 1) for number in touched
        )

    patch.setattr(erase, "rebuilt", rebuilt)


@bug("forgotten text is left", SLOW)
def forget_leaves_the_answers_in_certificates(patch: Patch) -> None:
    def without(candidate: Any, going: Any) -> Any:
        return replace(candidate, cover=going.without(candidate.cover))

    patch.setattr(erase, "_without", without)


@bug("forgotten text is left")
def forget_leaves_what_was_quoted_in_queries(patch: Patch) -> None:
    right = erase.cleared

    def cleared(stored: Any, going: Any) -> Any:
        return right(stored, replace(going, quotes=Quotes(())))

    patch.setattr(erase, "cleared", cleared)


@bug("forgotten text is left")
def forget_leaves_the_write_ahead_log(patch: Patch) -> None:
    patch.setattr(SqliteStore, "_erase_log", lambda self, **_: None)


@bug("a reading exceeds its limit")
def reading_does_not_count_its_headers(patch: Patch) -> None:
    def without_header(
        best_first: Any, limit: int, measure: Measure, *cut: Any, **head: str
    ) -> Packed:
        return packed(best_first, limit + measure("# 2 March 2024\n"), measure, *cut, **head)

    patch.setattr("demem_agent.reading.composing.packed", without_header)


@bug("IdempotencyConflict was not raised|KeyError: .certificate.")
def key_is_looked_up_without_its_request(patch: Patch) -> None:
    def any_request(
        state: State, key: str | None, request: str, kinds: tuple[str, ...]
    ) -> dict[str, Any] | None:
        known = state.keyed.get(key) if key is not None else None
        asked, kinds = (known.request, (known.kind,)) if known else (request, kinds)
        return stored_result(state, key, asked, kinds)

    patch.setattr("demem_agent.flows.ingest.stored_result", any_request)
    patch.setattr("demem_agent.flows.feedback.stored_result", any_request)


@bug(
    "a re(opened|stored) memory exports something else|the twin gives another result|one too many"
    "|are not those given"
)
def keyed_result_is_not_stored(patch: Patch) -> None:
    for store in STORES:
        _commit_as(
            patch,
            store,
            lambda delta: replace(delta, operations=tuple(map(_without_key, delta.operations))),
        )


@bug("slots, K is|more than K slots|K slots were active|misstates why it was suppressed", SLOW)
def a_full_memory_splits(patch: Patch) -> None:
    def one_more(self: State) -> int:
        return next(k for k in itertools.count() if k not in self.slots)

    patch.setattr(State, "free_slot", one_more)


@bug("the twin")
def ties_are_broken_by_what_came_before(patch: Patch) -> None:
    """Open the lowest free slot and the highest in turn, as an unseeded random choice would."""
    right, turn = _Draft.open, itertools.cycle((False, True))

    def either(self: _Draft) -> tuple[int, bool]:
        taken = self.numbers
        free = [k for k in range(self.state.settings.slots) if k not in taken]
        if next(turn):
            self.numbers = sorted([*taken, *free[:-1]])
        number, opened = right(self)
        self.numbers = sorted([*taken, number])
        return number, opened

    patch.setattr(_Draft, "open", either)


@bug("many at once place as one by one|the twin", SLOW)
def a_batch_places_by_the_slots_before_it(patch: Patch) -> None:
    right = _Draft.add

    def add(self: _Draft, number: int, *rest: Any, **named: Any) -> None:
        first = self.changed.get(number)
        right(self, number, *rest, **named)
        self.changed[number] = first or self.changed[number]

    patch.setattr(_Draft, "add", add)


@bug("the twin|a reopened memory|a restored memory", SLOW)
def loading_loses_what_was_used(patch: Patch) -> None:
    def load(*args: Any) -> State:
        state = load_state(*args)
        state.derived.used.clear()
        state.cache.excerpts.clear()
        return state

    patch.setattr("demem_agent.held.load_state", load)


@bug("the twin|goes on otherwise", SLOW)
def forgetting_the_last_item_of_a_session_forgets_the_session_in_ram(patch: Patch) -> None:
    right = State._drop

    def drop(self: State, items: Any) -> None:
        last = {item: self.evidence[item].session for item in items}
        last = {
            item: session
            for item, session in last.items()
            if self.derived.sessions[session][-1] == item
        }
        right(self, items)
        for session in last.values():
            self.derived.sessions[session] = _Unseen(self.derived.sessions[session])

    patch.setattr(State, "_drop", drop)


@bug("text rendered by read came back", SLOW)
def rendered_text_is_remembered(patch: Patch) -> None:
    patch.setattr("demem_agent.flows.ingest.strip_rendered", lambda text: text)


@bug("a pinned slot was split|misstates why it was suppressed|another decision", SLOW)
def pins_are_not_looked_at_by_splits(patch: Patch) -> None:
    right = trigger._conflict

    def unpinned(state: State, pair: Any, finding: Any, *rest: Any) -> Any:
        found = right(state, pair, finding, *rest)
        if found.saturated:
            return found
        return replace(found, division=finding.division, pinned=False)

    patch.setattr(trigger, "_conflict", unpinned)


@bug("InvalidInput was not raised", SLOW)
def pins_are_not_looked_at_by_merges(patch: Patch) -> None:
    for module in (arranging, undo):
        patch.setattr(module, "require_loose", lambda slot, field: None)


@bug("a parent is not active|descends from itself|damaged rows: slot|KeyError", SLOW)
def merging_leaves_the_lineage(patch: Patch) -> None:
    patch.setattr(arranging, "_lineage", lambda state, back, target, seq: {})


@bug("certificates were altered|split into no active slot", SLOW)
def merging_takes_no_split_back(patch: Patch) -> None:
    patch.setattr(arranging, "_taken_back", lambda *args: ())


@bug("names", SLOW)
def closed_slots_hand_on_their_names(patch: Patch) -> None:
    right = arranging.merging

    def merging(state: State, back: Any, target: Any, kind: str) -> Delta:
        return right(state, back, replace(target, name=back.name or target.name), kind)

    for module in (arranging, undo):
        patch.setattr(module, "merging", merging)


@bug("a correction was remembered twice|the twin gives another result")
def corrections_are_remembered_each_time(patch: Patch) -> None:
    right = ingesting.ingest

    def anew(state: State, given: Any) -> Any:
        context = state.context(given.answer_id).context
        if given.signal.channel != "correction" or context.redacted:
            return None
        turn = corrections.correction_turn(context, given.signal.reference, given.at)
        done = yield from right(state, [turn], [""])
        return done[0].evidence_id

    patch.setattr(feedback, "_remembered", anew)


@bug("something else than a correction was remembered", SLOW)
def corrections_of_forgotten_answers_are_remembered(patch: Patch) -> None:
    right = feedback._remembered

    def all_of_them(state: State, given: Any) -> Any:
        stored = state.contexts.get(given.answer_id)
        if stored is not None:
            whole = replace(stored.context, redacted=False)
            state.contexts[given.answer_id] = replace(stored, context=whole)
        try:
            return (yield from right(state, given))
        finally:
            if stored is not None:
                state.contexts[given.answer_id] = stored

    patch.setattr(feedback, "_remembered", all_of_them)


@bug("a correction that quotes what is forgotten is left", SLOW)
def corrections_outlive_what_they_quote(patch: Patch) -> None:
    patch.setattr(erase, "_corrections", lambda state, going: set())


@bug("a certificate with one number changed is accepted")
def digests_leave_out_the_revisions_of_slots(patch: Patch) -> None:
    right = replaying._numbers

    def fewer(certificate: Any) -> Any:
        candidates = tuple(
            replace(candidate, revision=None) for candidate in certificate.candidates
        )
        return right(replace(certificate, candidates=candidates))

    patch.setattr(replaying, "_numbers", fewer)


@bug("what feedback comes to depends on its order", SLOW)
def the_last_reward_tells_whether_an_answer_was_good(patch: Patch) -> None:
    right = crediting._judged_by

    def judged_by(told: Any, signal: Any) -> Any:
        return right(replace(told, told=told.told[-1:], rewards=told.rewards[-1:]), signal)

    patch.setattr(crediting, "_judged_by", judged_by)


@bug("names what is forgotten|names evidence that is not there|the successions that went")
def forgetting_leaves_the_successions(patch: Patch) -> None:
    patch.setattr(erase, "lapsed", lambda state, going: ())


@bug("not as it was before a succession|the twin|leads back to the line", SLOW)
def an_undone_succession_counts_in_readings(patch: Patch) -> None:
    held = lambda self, item: list(self._by_old.get(item, {}).values())  # noqa: E731
    patch.setattr(Lineage, "of_item", held)


@bug("leads back to the line that it supersedes|InvalidInput was not raised", SLOW)
def a_line_may_supersede_what_supersedes_it(patch: Patch) -> None:
    right = superseding._check

    def check(state: State, old: str, new: str) -> list[Succession]:
        try:
            return right(state, old, new)
        except InvalidInput as error:
            if old == new or "undo" not in str(error):
                raise
            return []

    patch.setattr(superseding, "_check", check)


@bug("is not marked", SLOW)
def lines_that_no_longer_hold_are_not_marked(patch: Patch) -> None:
    patch.setattr("demem_agent.reading.composing.noted", lambda state, now, lines: lines)


@bug("a re(opened|stored) memory|not what stands|the twin|are not live", SLOW)
def stores_do_not_keep_successions(patch: Patch) -> None:
    for store in STORES:
        _commit_as(patch, store, lambda delta: replace(delta, successions=(), lapsed=()))


@bug("live evidence is not|neighbour|the twin")
def memories_of_two_tenants_share_rows(patch: Patch) -> None:
    for store in STORES:
        for name in ("create", "load", "seq", "commit"):
            _for_one_tenant(patch, store, name)


@bug("a question does not follow its witness", SLOW)
def contexts_of_a_question_are_placed_by_their_words(patch: Patch) -> None:
    def by_another_question(pair: Any, told: Any, contexts: Any) -> dict[Any, bool]:
        found = right(pair, told, contexts)
        return {asked: not side for asked, side in found.items() if side is not None}

    right = division._sides_of_questions
    patch.setattr(division, "_sides_of_questions", by_another_question)


@bug("a slot was free, yet the slot was not split|refused", SLOW)
def what_cannot_be_divided_passes_for_divided(patch: Patch) -> None:
    right = trigger._conflict

    def divided(*args: Any) -> Any:
        return replace(right(*args), undivided=False)

    patch.setattr(trigger, "_conflict", divided)


@bug("a line of the other side is ahead", SLOW)
def certificates_say_nothing_of_readings(patch: Patch) -> None:
    patch.setattr(composing, "scoped", lambda state, ranking, found: ranking)


@bug("a certificate with one number changed is accepted")
def digests_leave_out_the_rival_lines(patch: Patch) -> None:
    right = replaying._numbers
    patch.setattr(replaying, "_numbers", lambda made: right(replace(made, rivals=())))


@bug("the twin|split into no active slot|certificates were altered|another decision", SLOW)
def taking_a_certificate_back_forgets_it(patch: Patch) -> None:
    right = undo._taken_back

    def taken_back(state: State, certified: Any) -> Delta:
        delta = right(state, certified)
        return delta if delta.slots else replace(delta, certificates=())

    patch.setattr(undo, "_taken_back", taken_back)


@bug("the playbook is not what the rows come to", machine=DecidingMachine)
def outcomes_count_twice(patch: Patch) -> None:
    right = State._play_on

    def twice(self: State, delta: Delta, before: Any) -> None:
        right(self, delta, before)
        for made in delta.choices:
            if made.id in before:
                self.playbook().judge(made)

    patch.setattr(State, "_play_on", twice)


@bug("the playbook is not what the rows come to", SLOW, machine=DecidingMachine)
def outcomes_told_again_are_added(patch: Patch) -> None:
    right = State._stands_otherwise

    def is_undone(self: State, decision: Decision) -> bool:
        return right(self, decision) and decision.judged is None

    patch.setattr(State, "_stands_otherwise", is_undone)


@bug("forgotten text is left", machine=DecidingMachine)
def situations_keep_what_is_forgotten(patch: Patch) -> None:
    patch.setattr(erase, "_untold_situations", lambda state, going: ())


@bug("forgotten text is left", machine=DecidingMachine)
def actions_keep_what_is_forgotten(patch: Patch) -> None:
    patch.setattr(erase, "_renamed_actions", lambda state, going: ())


@bug("another's situation", SLOW, machine=DecidingMachine)
def conditions_tell_no_situations_apart(patch: Patch) -> None:
    patch.setattr(situations, "_for_whom", lambda asker, conditions: (asker, ()))


@bug("what may never be explored was", SLOW, machine=DecidingMachine)
def all_may_be_explored(patch: Patch) -> None:
    right = Playbook.choice

    def choice(self: Playbook, situation: Any, offer: Any) -> Any:
        return right(self, situation, replace(offer, never=frozenset()))

    patch.setattr(Playbook, "choice", choice)


@bug(
    "choices are not those made|the twin|a suppressed witness changed|a reopened memory differs"
    "|KeyError: 'd",
    machine=DecidingMachine,
)
def choices_are_not_written(patch: Patch) -> None:
    for store in STORES:
        _commit_as(patch, store, lambda delta: replace(delta, choices=()))


@bug(
    "more is kept than there is room for|a certificate that did not change",
    SLOW,
    machine=BoundedMachine,
)
def room_leaves_the_texts_of_certificates(patch: Patch) -> None:
    """They count as gone, and are kept."""
    patch.setattr(room, "_without_texts", lambda certificate: certificate)
    patch.setattr(room, "_without_content", lambda before: before)


@bug("room (took|emptied) what was just brought", machine=BoundedMachine)
def room_takes_what_the_call_has_brought(patch: Patch) -> None:
    right = room.by_worth
    patch.setattr(room, "by_worth", lambda state, brought: right(state, Brought()))


@bug("a row of kind evidence changed that the receipt does not name", machine=BoundedMachine)
def receipts_leave_out_an_item(patch: Patch) -> None:
    right = room.receipt_of

    def receipt_of(delta: Delta) -> Any:
        found = right(delta)
        return replace(found, evidence=found.evidence[1:])

    patch.setattr(room, "receipt_of", receipt_of)


@bug("the receipt names a slot that did not change", machine=BoundedMachine)
def receipts_name_the_first_slot_each_time(patch: Patch) -> None:
    right = room.receipt_of

    def receipt_of(delta: Delta) -> Any:
        found = right(delta)
        return replace(found, slots=(0, *found.slots))

    patch.setattr(room, "receipt_of", receipt_of)


@bug("storage misstates its evidence|room took what was just brought", machine=BoundedMachine)
def the_bound_is_one_of_characters(patch: Patch) -> None:
    def size(state: State, item: str) -> int:
        return len(state.evidence[item].text)

    patch.setattr(keeping, "_item_size", size)


@bug("an emptied context keeps something", machine=BoundedMachine)
def emptied_contexts_keep_their_answers(patch: Patch) -> None:
    right = room._emptied

    def emptied(context: Any) -> Any:
        return replace(right(context), answer=context.answer)

    patch.setattr(room, "_emptied", emptied)


@bug("receipts are not restored|receipts were lost", machine=BoundedMachine)
def loading_loses_the_receipts(patch: Patch) -> None:
    def load(*args: Any) -> State:
        state = load_state(*args)
        state.receipts.clear()
        return state

    patch.setattr("demem_agent.held.load_state", load)


@bug("what a decision rests on went before what is free to", SLOW, machine=BoundedMachine)
def room_looks_at_no_decisions(patch: Patch) -> None:
    patch.setattr(keeping, "rests_on", lambda context: frozenset())


@bug("something went for words that could not stay", machine=BoundedMachine)
def all_goes_for_an_answer_that_is_too_long(patch: Patch) -> None:
    patch.setattr(keeping._Queue, "_brings_too_much", lambda self: False)


@bug("what went for want of room is in a file", machine=BoundedMachine)
def questions_that_went_stay_in_the_file(patch: Patch) -> None:
    patch.setattr(Delta, "erases", property(lambda self: bool(self.forgotten)))


@bug("the twin|a re(opened|stored) memory|a row of kind slot", SLOW, machine=BoundedMachine)
def questions_that_went_go_on_using_items(patch: Patch) -> None:
    patch.setattr(room, "_used_otherwise", lambda state, used: set())


@bug(
    "refused operation changed|InvalidInput was not raised|MemoryFull: the memory is full",
    SLOW,
    machine=BoundedMachine,
)
def what_exceeds_the_bound_alone_is_let_in(patch: Patch) -> None:
    patch.setattr("demem_agent.door.require_room", lambda *args: None)


#: Searches for one bug, each from a seed of its own: the cases of one search resemble each other.
SEARCHES = 100


@pytest.mark.parametrize(("put_in", "said", "machine"), BUGS)
def test_the_machine_finds(
    monkeypatch: Patch,
    put_in: Callable[[Patch], None],
    said: str,
    machine: type[MemoryMachine],
) -> None:
    put_in(monkeypatch)
    assert re.search(said, _found(machine))


def _found(kind: type[MemoryMachine] = MemoryMachine) -> str:
    """Search until something is found, and return what was said of it.

    The cases of a search follow from its name, so they are the same every day.
    """
    for again in range(SEARCHES):
        machine = type(f"Search{again}", (kind,), {})
        try:
            run_state_machine_as_test(machine, settings=SEARCH)
        except (AssertionError, DeMemError, KeyError) as error:
            return f"{type(error).__name__}: {error}".splitlines()[0]
    return "nothing was found"


class _Unseen(list[str]):
    """A list that seems empty until something is appended."""

    def __init__(self, items: list[str]) -> None:
        super().__init__(items)
        self._before = len(items)

    def __bool__(self) -> bool:
        return len(self) > self._before


def _commit_as(patch: Patch, store: type[Any], change: Callable[[Delta], Delta]) -> None:
    right = store.commit
    patch.setattr(store, "commit", lambda self, address, delta: right(self, address, change(delta)))


def _without_key(line: Any) -> Any:
    return unkeyed(line.seq, line.kind)


def _for_one_tenant(patch: Patch, store: type[Any], name: str) -> None:
    right = getattr(store, name)
    patch.setattr(
        store,
        name,
        lambda self, address, *rest: right(self, Address("t", address.memory_id), *rest),
    )
