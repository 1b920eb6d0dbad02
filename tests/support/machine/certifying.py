"""What every certificate must be: it certifies, it tells why it was acted on, it replays."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from demem_agent import SlotMemory
from demem_agent.errors import CertificateRefused
from demem_agent.splitting import replay
from demem_agent.types import SplitCertificate
from machine.incoming import Request
from machine.twin import Twins

__all__ = ["Certifying", "flipped", "is_refused"]

#: What slots hold, by their numbers.
Placed = dict[int, set[str]]


class Certifying(Twins):
    """The checks of a certificate against the state without it and the state now."""

    def _compare_unsplit(
        self, before: list[Request], request: Request, made: SplitCertificate
    ) -> None:
        """Find out what the state would be had the conflict not been tested for.

        The certificate is checked by that.
        """
        with SlotMemory.restore(before, **self._unsplitting()) as copy:
            copy.feedback(**request)
            unsplit = copy.fingerprint()
            placed = {slot.number: set(slot.evidence) for slot in copy.slots}
        self._check_certificate(made, placed)
        if made.decision == "split":
            self.unsplit = (made.id, unsplit)
        else:
            assert self.it.fingerprint() == unsplit, "a suppressed witness changed the state"

    def _check_certificate(self, made: SplitCertificate, placed: Placed) -> None:
        """Check a certificate against the state as it would be without it and the state now."""
        number = len(self.ledger.certificates) + 1
        assert made.id == f"c{number}", "certificates are numbered in order"
        shared = min(max(candidate.losses) for candidate in made.candidates)
        assert made.radius == shared > made.threshold, "a certificate's numbers do not certify"
        self._note_certificate(made)
        full = len(placed) == self.setup.slots
        pinned = made.slot in self.ledger.pins
        said = "a certificate misstates why it was suppressed"
        assert (made.saturated, made.pinned) == (full, pinned), said
        limit = self.setup.split.tau_sat if full else self.setup.split.tau_split
        assert made.threshold == limit, "a certificate is by another threshold than the setting"
        self._check_rivals(made)
        if full or pinned or made.undivided:
            if made.undivided:
                self._check_undivided(made)
            said = "K slots were active" if full else "a pinned slot was split"
            assert (made.decision, made.new_slot) == ("suppressed", None), said
            assert self._placed() == placed, "a suppressed witness moved evidence"
        else:
            self._check_split(made, placed)

    def _check_undivided(self, made: SplitCertificate) -> None:
        """Check that there was nothing to divide: else each side had evidence of its own."""
        self._saw("nothing to divide")
        first, second = (self._context(answer) for answer in made.pair)
        apart = first.slot != second.slot
        inside = self._placed().get(made.slot, set())
        own = (set(first.supports) ^ set(second.supports)) & inside
        sides = {item in second.supports for item in own}
        assert apart or len(sides) < 2, "a slot that could be divided was not"

    def _check_rivals(self, made: SplitCertificate) -> None:
        """Check that what a certificate calls right was told, and that both are not the same."""
        if not made.rivals:
            assert made.regime != "rival lines", "rivals without their lines"
            return
        assert made.rivals[0] != made.rivals[1], "a line is its own rival"
        for answer, line in zip(made.pair, made.rivals, strict=True):
            told = {verdict[:3]: verdict[3] for verdict in self._context(answer).verdicts}
            assert told.get(line, 0) > 0, "a rival line that was not told to be right"
        self._saw("certificate that names rivals")

    def _check_split(self, made: SplitCertificate, placed: Placed) -> None:
        assert made.decision == "split", "a slot was free, yet the slot was not split"
        assert made.new_slot is not None
        assert made.new_slot not in placed, "a split opened a slot that was there already"
        now = self._placed()
        divided = now.pop(made.slot) | now.pop(made.new_slot)
        assert divided == placed.pop(made.slot), "a split lost or gained evidence"
        assert now == placed, "a split changed other slots"
        home = {context.id: context.slot for context in self.it.contexts()}
        homes = [home[answer] for answer in made.pair]
        assert homes == [made.slot, made.new_slot], "a split leaves its pair together"

    def _note_certificate(self, made: SplitCertificate) -> None:
        """Take in a certificate, and note what is worth reaching about it."""
        certificates = self.ledger.certificates.values()
        earlier = [old.pair for old in certificates if old.decision == "suppressed"]
        self.ledger.certificates[made.id] = made
        self._saw(made.decision)
        self._saw(f"certificate by {made.channels[1]}")
        if made.regime in ("confidence sequence", "pairwise preference"):
            self._saw("certificate by repeated rewards")
        if made.pinned:
            self._saw("suppressed as pinned")
        if made.decision == "split" and made.pair in earlier:
            self._saw("suppressed witness acted on")


def is_refused(certificate: SplitCertificate) -> bool:
    """Whether a certificate does not replay."""
    try:
        replay(certificate)
    except CertificateRefused:
        return True
    return False


def flipped(value: Any) -> Iterator[Any]:
    """Yield every copy of a record, or of a tuple, in which exactly one number is another.

    It is the next number there is.
    """
    if isinstance(value, bool | str) or value is None:
        return
    if isinstance(value, int):
        yield value + 1
    elif isinstance(value, float):
        yield math.nextafter(value, math.inf)
    elif isinstance(value, tuple):
        yield from _flipped_tuples(value)
    elif is_dataclass(value) and not isinstance(value, type):
        for each in fields(value):
            for other in flipped(getattr(value, each.name)):
                yield replace(value, **{each.name: other})


def _flipped_tuples(value: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for n, part in enumerate(value):
        for other in flipped(part):
            yield (*value[:n], other, *value[n + 1 :])
