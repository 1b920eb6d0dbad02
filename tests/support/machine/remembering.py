"""Remember: one turn, many, under a key, while the store fails, and what was read before."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from demem_agent.errors import IdempotencyConflict, StoreError
from demem_agent.types import Ingested
from machine.incoming import KEYS, Request, filled, marks_in, picks, turns
from machine.twin import Twins

__all__ = ["Remembering"]


class Remembering(Twins):
    """The rules by which turns come in."""

    @rule(turn=turns(), key=st.sampled_from(KEYS))
    def ingest(self, turn: Request, key: str | None) -> None:
        """Remember one turn."""
        request = filled(turn, self.ledger.mark())
        if key in self.ledger.keyed or key in self.ledger.reported:
            return self._clash(lambda memory: memory.ingest(**request, key=key), key)
        full = len(self.it.slots)
        done = self._same(lambda memory: memory.ingest(**request, key=key))
        said = "a slot is opened if and only if the result says so"
        assert len(self.it.slots) == full + done.opened, said
        self.unsplit = None
        self._entered(request, key, done)

    @rule(
        turns=st.lists(st.tuples(turns(), st.sampled_from(KEYS)), min_size=1, max_size=4),
        twice=st.booleans(),
    )
    def ingest_many(self, turns: list[tuple[Request, str | None]], twice: bool) -> None:
        """Remember several turns at once; the twin remembers them one by one."""
        batch = [(filled(turn, self.ledger.mark()), key) for turn, key in turns]
        if twice:
            batch += batch[:1]
        given = [{**request, "key": key} for request, key in batch]
        known = self.ledger.keyed.keys() | self.ledger.reported.keys()
        asked = {key for _, key in batch if key in known}
        if any(map(self._is_forgotten, asked)):
            return  # what such a key gives ``ingest`` finds out
        if asked or _clashing(batch):
            return self._refused(lambda memory: memory.ingest_many(given), IdempotencyConflict)
        done = self.it.ingest_many(given)
        one_by_one = [self.twin.ingest(**one) for one in given]
        assert done == one_by_one, "many at once place as one by one"
        self.unsplit = None
        for (request, key), result in zip(batch, done, strict=True):
            self._entered(request, key, result)

    @rule(turn=turns(), written=st.booleans())
    def ingest_while_the_store_fails(self, turn: Request, written: bool) -> None:
        """Remember a turn at the second try."""
        request = filled(turn, self.ledger.mark())
        request["key"] = f"once {self.ledger.issued}"
        before = self.it.fingerprint()
        self.store.break_after(0, written)
        try:
            self.it.ingest(**request)
        except StoreError:
            pass
        else:
            raise AssertionError("StoreError was not raised")
        # What was written, though nobody was told, is there to be seen; the key makes the retry
        # below count once.
        assert written or self.it.fingerprint() == before, "a failed commit changed the state"
        self.unsplit = None
        self._entered(request, None, self._same(lambda memory: memory.ingest(**request)))
        self._saw("lost acknowledgement" if written else "failed commit")

    @precondition(lambda self: self.ledger.keyed)
    @rule(pick=picks())
    def ingest_again_under_the_same_key(self, pick: int) -> None:
        """Remember what is remembered."""
        key, (request, result) = self._picked(self.ledger.keyed, pick)
        self._idle(lambda memory: memory.ingest(**request, key=key), result)
        self._idle(lambda memory: memory.ingest_many([{**request, "key": key}])[0], result)
        self._saw("replayed ingest")

    @precondition(lambda self: self.readings)
    @rule(pick=picks(), around=st.none() | turns(), cut=st.booleans())
    def ingest_what_was_read(self, pick: int, around: Request | None, cut: bool) -> None:
        """Remember a reading, whole or cut, alone or behind a turn: none of it is remembered."""
        rendered = self.readings[pick % len(self.readings)]
        if cut:
            rendered = rendered[: rendered.rindex("\n")]
        self.unsplit = None
        self._saw("re-ingested reading")
        if around is None:
            self._ingest_reading_alone(rendered)
        else:
            self._ingest_reading_behind(filled(around, self.ledger.mark()), rendered)

    def _ingest_reading_alone(self, rendered: str) -> None:
        done = self._same(lambda memory: memory.ingest(rendered, speaker="assistant"))
        skipped = Ingested(None, None, skipped=True)
        assert done == skipped, "text rendered by read came back as evidence"

    def _ingest_reading_behind(self, own: Request, rendered: str) -> None:
        request = own | {"text": f"{own['text']}\n{rendered}"}
        done = self._same(lambda memory: memory.ingest(**request))
        stored = self.it.evidence()[-1].text
        said = "text rendered by read came back inside new evidence"
        assert marks_in(stored) == marks_in(own["text"]), said
        assert stored.strip() == own["text"].strip(), "what was not rendered is kept as it is"
        self.ledger.enter(request | {"text": stored}, done)

    def _entered(self, request: Request, key: str | None, done: Ingested) -> None:
        """Take in that a turn was remembered, under its key."""
        if key is not None and key in self.ledger.keyed:
            known = self.ledger.keyed[key][1]
            assert done == known, "the same key in one batch gives the same result"
            return
        assert not done.skipped, "a text was not remembered"
        self.ledger.enter(request, done)
        if key is not None:
            self.ledger.keyed[key] = (request, done)


def _clashing(batch: list[tuple[Request, str | None]]) -> bool:
    """Whether two turns of a batch share a key and nothing else."""
    first: dict[str, Request] = {}
    for request, key in batch:
        if key is not None and first.setdefault(key, request) != request:
            return True
    return False
