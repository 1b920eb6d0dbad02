"""Ask: route, read and answer; and what every reading must be."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st
from hypothesis.stateful import rule

from demem_agent.slots.recognition import KNOWN
from demem_agent.types import Context, Mode, Reading, Route
from machine.incoming import (
    FILTERS,
    NEIGHBOUR_MARKS,
    Ask,
    Request,
    When,
    asks,
    kept_conditions,
    marks_in,
)
from machine.ledger import moment
from machine.twin import Twins

__all__ = ["Asking"]


class Asking(Twins):
    """The rules by which questions are asked."""

    @rule(
        ask=asks(),
        limit=st.none() | st.integers(1, 700),
        mode=st.sampled_from((None, "evidence", "strict")),
    )
    def route_and_read(self, ask: Ask, limit: int | None, mode: Mode | None) -> None:
        """Route a query and read for it, which changes nothing."""
        query = self._query(ask)
        before = self.it.fingerprint()
        who = self._situation(ask)
        route = self._same(lambda memory: memory.route(query, at=ask.at, **who))
        self._check_route(route)
        reading = self._same(
            lambda memory: memory.read(query, limit=limit, mode=mode, at=ask.at, **who)
        )
        self._check_recognised(reading, **who)
        self._check_reading(reading, limit or self.setup.read_limit, mode or self.setup.mode)
        strict = reading.mode == "strict"
        said = "a strict reading is of another slot"
        assert not strict or set(reading.slots) <= {route.slot}, said
        assert self.it.fingerprint() == before, "reading changed the state"
        for neighbour in self.neighbours:
            found = marks_in(neighbour.read(query).text)
            assert not found, "a neighbour reads what is not its own"

    @rule(ask=asks(), where=st.sampled_from(FILTERS))
    def read_what_a_filter_leaves(self, ask: Ask, where: Request) -> None:
        """Read under a filter, and export by it: nothing of other items is in either."""
        query = self._query(ask)
        who = self._situation(ask)
        reading = self._same(
            lambda memory: memory.read(query, where=where, mode="evidence", at=ask.at, **who)
        )
        left = self._same(lambda memory: memory.evidence(where=where))
        assert set(reading.evidence) <= set(left), "a reading is of what its filter does not leave"
        outside = marks_in(list(self.ledger.live.values())) - marks_in(left)
        assert not outside & marks_in(reading), "a reading holds what its filter does not leave"
        lines = self._same(lambda memory: memory.export(where=where))
        assert not outside & marks_in(lines), "an export holds what its filter does not leave"
        if outside and left:
            self._saw("filtered")

    @rule(ask=asks())
    def answer(self, ask: Ask) -> None:
        """Answer a question."""
        self._answer(self._query(ask), ask.at, **self._situation(ask))

    def _answer(
        self, query: str, at: When, asker: str | None = None, conditions: Sequence[str] = ()
    ) -> str:
        """Answer a question; return the answer's id."""
        who: Request = {"asker": asker, "conditions": conditions}
        answer = self._same(lambda memory: memory.answer(query, at=at, **who))
        assert answer.id == f"a{len(self.ledger.queries) + 1}", "answers are numbered in order"
        self._check_reading(answer.reading, self.setup.read_limit, self.setup.mode)
        self._check_recognised(answer.reading, asker, conditions)
        self.ledger.queries[answer.id] = query
        self.ledger.asked[answer.id] = moment(at)
        self.ledger.situations[answer.id] = (asker, kept_conditions(conditions))
        self.ledger.rewards[answer.id] = ()
        self.unsplit = None
        return answer.id

    def _check_route(self, route: Route) -> None:
        active = {slot.number for slot in self.it.slots}
        assert set(route.scores) == active, "not every active slot is scored"
        if route.slot is not None:
            best = max(route.scores.values())
            assert route.scores[route.slot] == best, "not the best slot"

    def _check_reading(self, reading: Reading, limit: int, mode: Mode) -> None:
        """Check that a reading is what it says, and holds nothing but what it names."""
        asked = (limit, mode)
        assert (reading.limit, reading.mode) == asked, "a reading misstates how it was asked for"
        size = self.setup.measure(reading.text)
        assert size == reading.size, "a reading misstates its size"
        assert size <= limit, "a reading exceeds its limit"
        self._check_evidence(reading)
        holding = self._slots_behind(reading)
        assert set(reading.slots) == holding, "a reading misstates the slots it is from"
        assert mode == "evidence" or len(holding) <= 1, "a strict reading is from one slot"
        if reading.text:
            self.readings.append(reading.text)

    def _check_recognised(
        self, reading: Reading, asker: str | None, conditions: Sequence[str]
    ) -> None:
        """Check that what is known again was decided for who asks, and under what holds."""
        known = KNOWN <= reading.recognised <= 1 if reading.decisions else reading.recognised == 0
        assert known, "a reading misstates how probably the same was decided before"
        assert self.setup.decisions or not reading.decisions, "known again, and nothing is kept"
        self._check_scope(reading)
        held = set(kept_conditions(conditions))
        for id in reading.decisions:
            context = self._context(id)
            assert context.query, "a question is known again that was forgotten"
            assert context.verdicts, "a question is known again of which nothing was told"
            assert context.asker in (asker, None), "a question of another asker is known again"
            assert held.issuperset(context.conditions), "a condition does not hold"
            self._saw("recognised")

    def _check_scope(self, reading: Reading) -> None:
        """Check that a line that is right on the other side of a certificate is ahead of none."""
        known = [self._context(id) for id in reading.decisions]
        for made in self.ledger.certificates.values():
            if made.undone or not made.rivals:
                continue
            sides = [_sides(self._context(made.pair[n]), made.rivals[n], known) for n in (0, 1)]
            if sides[0] == sides[1]:
                continue
            item, start, end = made.rivals[int(sides[0])]
            told = [verdict for context in known for verdict in context.verdicts]
            if any(verdict[0] == item and verdict[3] > 0 for verdict in told):
                continue
            least = min(line.score for line in reading.lines) if reading.lines else 0.0
            for line in reading.lines:
                if line.evidence.id == item and line.start < end and start < line.end:
                    assert line.score == least, "a line of the other side is ahead of another"
            self._saw("kept behind")

    def _check_evidence(self, reading: Reading) -> None:
        for item in reading.evidence:
            live = self.ledger.live.get(item.id)
            assert item == live, "a reading gives evidence that is not live"
        said = "a reading holds text of evidence that it does not name"
        shown = marks_in(reading.evidence)
        if reading.mode == "strict":
            shown |= self._marks_decided(reading.slots)
        assert marks_in(reading.text) <= shown, said
        said = "a reading names nothing, or what it does not hold"
        assert bool(reading.text) == bool(reading.evidence or reading.advice), said
        strange = NEIGHBOUR_MARKS.search(reading.text)
        assert not strange, "a reading holds a neighbour's text"

    def _slots_behind(self, reading: Reading) -> set[int]:
        read = {item.id for item in reading.evidence}
        return {slot for slot, items in self._placed().items() if items & read}


def _sides(witness: Context, line: tuple[str, int, int], known: Sequence[Context]) -> bool:
    """Whether what is known again is the decision of a witness, or was settled the same."""
    for context in known:
        best = max(context.verdicts, key=lambda verdict: verdict[3], default=None)
        whom = context.asker, context.conditions
        same = best is not None and best[3] > 0 and best[:3] == line
        if context.id == witness.id or (same and whom == (witness.asker, witness.conditions)):
            return True
    return False
