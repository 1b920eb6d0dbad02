"""Recompute what a certificate claims from what it holds, and from nothing else.

The arithmetic is that of ``demem_agent.decision``, as when the certificate was made.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from demem_agent.decision import Envelope, betting, candidate_radius, growing_shares, guard_band
from demem_agent.errors import CertificateRefused
from demem_agent.later import dataclass
from demem_agent.types import Candidate, SplitCertificate

__all__ = ["Replayed", "envelope_of", "replay", "sealed"]

#: Two floats that both came from the same numbers differ by no more than this.
_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Replayed:
    """What the numbers of a certificate come to.

    Attributes:
        radius: smallest over the candidates of the larger of the pair's losses, in [0, 1].
        losses: per candidate, what each context loses at least.
        decision: "split" or "suppressed".
    """

    radius: float
    losses: tuple[tuple[float, float], ...]
    decision: str


def replay(certificate: SplitCertificate) -> Replayed:
    """Decide again, from the certificate alone: scores, envelopes, losses, radius, decision.

    A certificate whose text was forgotten replays as before: the numbers stay.

    Raises:
        CertificateRefused: naming the first field that is not what its numbers come to.
    """
    if certificate.regime == "none":
        raise CertificateRefused(certificate.id, "regime", "none", "one that tests the pair")
    _same(certificate, "digest", certificate.digest, _digest(certificate))
    envelope = _recomputed(certificate)
    result = candidate_radius(envelope)
    _check_candidates(certificate, envelope, result.losses)
    _check_radius(certificate, result.radius)
    _check_decision(certificate)
    of_first, of_second = result.losses.tolist()
    losses = tuple(zip(of_first, of_second, strict=True))
    return Replayed(result.radius, losses, certificate.decision)


def sealed(certificate: SplitCertificate) -> SplitCertificate:
    """Return a certificate with the digest of its numbers."""
    return replace(certificate, digest=_digest(certificate))


def envelope_of(certificate: SplitCertificate) -> Envelope:
    """Build the envelopes of the pair over the candidates from the certificate's scores.

    Shape (2, U).

    Raises:
        KeyError: if a parameter of the certificate's regime is missing.
        ValueError: if scores or parameters are out of their range.
        IndexError: if the place of an answer is.
    """
    given = dict(certificate.parameters)
    if certificate.regime == "confidence sequence":
        histories = _histories(certificate)
        # Certificates from before answers were counted as they turn up name no "growing": all had
        # equal shares.
        shares = growing_shares(len(certificate.candidates)) if given.get("growing") else None
        return betting(histories, delta=given["delta"], shares=shares)
    if certificate.regime == "pairwise preference":
        places = [round(given["first"]), round(given["second"])]
        shares = growing_shares(max(places))[[place - 1 for place in places]]
        return betting(_histories(certificate), delta=given["delta"], shares=shares)
    return guard_band(
        _histories(certificate, len(certificate.scorers)),
        c_beta=given["c_beta"],
        sigma_0=given["sigma_0"],
        eta_cal=given["eta_cal"],
    )


def _check_candidates(
    certificate: SplitCertificate, envelope: Envelope, losses: NDArray[np.float64]
) -> None:
    for u, candidate in enumerate(certificate.candidates):
        name = f"candidates[{u}]"
        _close(certificate, f"{name}.lower", candidate.lower, envelope.lower[:, u])
        _close(certificate, f"{name}.upper", candidate.upper, envelope.upper[:, u])
        _close(certificate, f"{name}.losses", candidate.losses, losses[:, u])


def _check_radius(certificate: SplitCertificate, radius: float) -> None:
    """Refuse a radius that is another one, or that does not exceed the threshold."""
    _close(certificate, "radius", (certificate.radius,), np.array([radius]))
    if radius <= certificate.threshold:
        found = f"below {radius}"
        raise CertificateRefused(certificate.id, "threshold", certificate.threshold, found)


def _check_decision(certificate: SplitCertificate) -> None:
    """Refuse another decision than the one that follows from a radius above the threshold."""
    held = certificate.saturated or certificate.pinned or certificate.undivided
    decision = "suppressed" if held else "split"
    _same(certificate, "decision", certificate.decision, decision)
    _same(certificate, "new_slot", certificate.new_slot is not None, decision == "split")


def _recomputed(certificate: SplitCertificate) -> Envelope:
    """Build the envelopes; refuse numbers that no envelope can be built from."""
    try:
        return envelope_of(certificate)
    except (KeyError, ValueError, IndexError) as error:
        found = f"no envelope: {error}"
        raise CertificateRefused(certificate.id, "scores", "unusable", found) from error


def _histories(certificate: SplitCertificate, length: int = 1) -> NDArray[np.float64]:
    """Return the scores as (2, U, n), with NaN after the last; at least ``length`` long."""
    longest = max(length, 1)
    for candidate in certificate.candidates:
        longest = max(longest, *map(len, candidate.scores))
    table = np.full((2, len(certificate.candidates), longest), np.nan)
    for u, candidate in enumerate(certificate.candidates):
        for x, scores in enumerate(candidate.scores):
            table[x, u, : len(scores)] = scores
    return table


def _digest(certificate: SplitCertificate) -> str:
    """Digest ids and numbers; texts may be forgotten, and undoing comes later."""
    canonical = json.dumps(list(_numbers(certificate)), separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def _numbers(certificate: SplitCertificate) -> Iterator[object]:
    yield certificate.id
    yield certificate.slot
    yield certificate.pair
    yield certificate.channels
    yield certificate.scorers
    yield float(certificate.radius)
    yield float(certificate.threshold)
    yield certificate.saturated
    yield certificate.decision
    if certificate.pinned:  # certificates from before there were pins stay as they are
        yield "pinned"
    if certificate.undivided:
        yield "undivided"
    if certificate.rivals:
        yield ("rivals", certificate.rivals)
    yield certificate.new_slot
    yield certificate.regime
    yield certificate.models
    yield certificate.seed
    # Whole numbers come back from a store as floats: 1 and 1.0 are the same setting.
    yield [(name, float(value)) for name, value in certificate.parameters]
    for candidate in certificate.candidates:
        yield from _numbers_of(candidate)


def _numbers_of(candidate: Candidate) -> Iterator[object]:
    yield (candidate.name, candidate.slot, candidate.revision)
    yield (candidate.scores, candidate.lower, candidate.upper, candidate.losses)


def _same(certificate: SplitCertificate, field: str, stored: object, found: object) -> None:
    if stored != found:
        raise CertificateRefused(certificate.id, field, stored, str(found))


def _close(
    certificate: SplitCertificate, field: str, stored: tuple[float, ...], found: NDArray[np.float64]
) -> None:
    computed = tuple(map(float, found))
    for a, b in zip(stored, computed, strict=True):
        if not math.isclose(a, b, abs_tol=_TOLERANCE):
            raise CertificateRefused(certificate.id, field, stored, str(computed))
