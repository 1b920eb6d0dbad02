"""Partitions of contexts into K memory states, made from certificates alone.

``greedy_partition`` is the paper's: colour the cannot-link graph. ``cover_partition`` chooses the
states' actions so that the certified radius is small, and is never worse than the colouring on the
same envelope. Both keep apart the pairs a caller names (witnesses), whatever that costs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from demem_agent.decision._arrays import (
    Bools,
    Floats,
    all_whole,
    numbers,
    pairwise_minimax,
    require,
)
from demem_agent.decision._colouring import Whole, colour, searched_colouring, smallest_last
from demem_agent.decision._covers import bottleneck_actions, exchange, first_level
from demem_agent.decision._placing import Placing, class_actions, class_losses, price
from demem_agent.decision.certificates import lower_losses, upper_gaps
from demem_agent.decision.envelopes import Envelope

Pairs = Iterable[tuple[int, int]]


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """Hold a partition of N contexts into K states.

    Attributes:
        labels: shape (N,), the state of each context in [0, K); -1 for one that is in no state yet;
            read-only.
        actions: shape (K,), the action that attains each state's certified radius, -1 for an empty
            state; None where the caller keeps no actions; read-only.
        level: no state holds two contexts certified to lie further apart than this.
        certified: largest certified upper radius of a state, in [0, 1].
        degeneracy: that of the cannot-link graph at ``level``, witnesses included.
    """

    labels: Whole
    actions: Whole | None
    level: float
    certified: float
    degeneracy: int

    def __post_init__(self) -> None:
        self._set("labels", self.labels)
        if self.actions is not None:
            self._set("actions", self.actions)

    def _set(self, name: str, values: Whole) -> None:
        array = np.array(values, dtype=np.intp)
        array.setflags(write=False)
        object.__setattr__(self, name, array)


def greedy_partition(
    envelope: Envelope, k: int, *, cannot_link: Pairs | Bools | None = None
) -> Partition:
    """Partition by colouring the cannot-link graph at the smallest level where K colours do.

    Where its degeneracy says that they do, that is. Bisects over the certified lower distances and
    0, and colours smallest-last. O(N^2 (A + log N)) time, O(N^2) memory. Two contexts of a state
    may still need different actions than a third: ``certified`` says what a state costs at most,
    ``level`` does not.

    Args:
        envelope: bounds on the rewards of N contexts.
        k: number of states, >= 1.
        cannot_link: pairs to be kept apart at any level, or a symmetric (N, N) mask.

    Raises ValueError for k < 1, for witnesses that name no two different contexts, and for
    witnesses proven to need more than K states. Deciding that is NP-complete: RuntimeError where a
    bounded search comes to no answer.
    Source: algorithm "Greedy-Partition", proposition "Greedy graph-relaxation gap".
    """
    apart = _witnesses(envelope, k, cannot_link)
    distance = pairwise_minimax(lower_losses(envelope))
    return _coloured(distance, upper_gaps(envelope), k, apart)


def cover_partition(
    envelope: Envelope, k: int, *, cannot_link: Pairs | Bools | None = None
) -> Partition:
    """Partition by choosing at most K actions whose certified radius is small.

    Each context takes the best of them. Bisects over the upper gaps, each level a set cover by a
    budgeted search; then adds and swaps actions while the worst upper gap, or at equal worst the
    mean one, falls. The classes of ``greedy_partition`` are improved the same way and the better of
    the two is given, so ``certified`` is never above that of the colouring. Where witnesses are
    given their contexts are placed one by one into states free of what they must not meet, which is
    a heuristic. Not exact: with known rewards ``worst_case_frontier`` is.

    Args and errors are those of ``greedy_partition``. Source: ours; the objective is eq.
    (certified-cluster-distortion).
    """
    apart = _witnesses(envelope, k, cannot_link)
    distance = pairwise_minimax(lower_losses(envelope))
    losses = upper_gaps(envelope)
    greedy = _coloured(distance, losses, k, apart)
    classes = class_actions(losses, greedy.labels, k)
    from_classes = exchange(losses, classes[classes >= 0].tolist(), k)
    from_search = exchange(losses, bottleneck_actions(losses, k), k)
    choices = [from_classes, from_search]
    if apart is None:
        labels = _cheapest_of(losses, choices, k)
    else:
        labels = Placing(losses, k, apart).placed(greedy.labels, choices)
    return _described(distance, losses, labels, k, apart)


def _cheapest_of(losses: Floats, choices: list[list[int]], k: int) -> Whole:
    """Let each context take the best action of a choice, for the choice with the lowest price."""
    labellings: list[Whole] = [losses[:, chosen].argmin(axis=1) for chosen in choices]
    return min(labellings, key=lambda labels: price(losses, labels, k))


def fallback(envelope: Envelope, partition: Partition, x: int) -> int:
    """Route a context to the state whose certified radius is smallest once it is in it.

    The first of equals. ``x`` is a row of the envelope; its own label, if it has one, is ignored.
    An empty state costs what the context alone does. Takes O(N A). Raises ValueError for ``x``
    outside the envelope, for a partition of another number of contexts and for one without actions,
    whose number of states is not known.
    Source: algorithm "DeMem: Decision-aware Memory with Certified Splits", fallback router.
    """
    losses = upper_gaps(envelope)
    size = len(losses)
    require(0 <= x < size and x % 1 == 0, "x", f"a whole number in [0, {size - 1}]", x)
    partitioned = len(partition.labels)
    require(partitioned == size, "partition", f"of {size} contexts", partitioned)
    if partition.actions is None:
        raise ValueError("partition must have actions, got None")
    others = partition.labels.copy()
    others[x] = -1
    without = class_losses(losses, others, len(partition.actions))
    joined = np.maximum(without, losses[x])
    return int(joined.min(axis=1).argmin())


def _witnesses(envelope: Envelope, k: int, given: Pairs | Bools | None) -> Bools | None:
    """Check k, and turn witnesses into a symmetric mask; None when there are none."""
    require(k >= 1 and k % 1 == 0, "k", "a whole number >= 1", k)
    apart = _as_mask(() if given is None else given, len(envelope.lower))
    loops = bool(np.diag(apart).any())
    require(not loops, "cannot_link", "pairs of two different contexts", "one and the same")
    return apart if apart.any() else None


def _as_mask(given: Pairs | Bools, size: int) -> Bools:
    if isinstance(given, np.ndarray) and given.dtype == np.bool_:
        _require_symmetric(given, size)
        return given.copy()
    return _mask(list(given), size)


def _require_symmetric(mask: Bools, size: int) -> None:
    fits = mask.shape == (size, size)
    require(fits, "cannot_link", f"of shape ({size}, {size})", f"shape {mask.shape}")
    symmetric = bool((mask == mask.T).all())
    require(symmetric, "cannot_link", "symmetric", "a mask that is not")


def _mask(pairs: list[tuple[int, int]], size: int) -> Bools:
    ends = numbers("cannot_link", pairs or np.empty((0, 2)))
    is_list = ends.ndim == 2 and ends.shape[1] == 2
    fits = is_list and all_whole(ends, size)
    require(fits, "cannot_link", f"pairs of whole numbers in [0, {size - 1}]", pairs[:3])
    first, second = ends.astype(np.intp).T
    apart = np.zeros((size, size), dtype=np.bool_)
    apart[first, second] = True
    apart[second, first] = True
    return apart


def _coloured(distance: Floats, losses: Floats, k: int, apart: Bools | None) -> Partition:
    levels = np.unique(np.append(distance, 0.0))  # the diagonal is 0, so it adds nothing

    def colourable(level: float) -> bool:
        _, degeneracy = smallest_last(_graph(distance, level, apart))
        return degeneracy < k

    place = first_level(levels, colourable)
    level = float(levels[place])
    graph = _graph(distance, level, apart)
    order, degeneracy = smallest_last(graph)
    labels = colour(graph, order)
    # Only the witnesses can bring this about: at the last level nothing else is left.
    if labels.max() >= k:
        labels = searched_colouring(graph, order, k)
    return _partition(losses, labels, k, level=level, degeneracy=degeneracy)


def _partition(
    losses: Floats, labels: Whole, k: int, *, level: float, degeneracy: int
) -> Partition:
    certified, _ = price(losses, labels, k)
    actions = class_actions(losses, labels, k)
    return Partition(labels, actions, level, certified, degeneracy)


def _graph(distance: Floats, level: float, apart: Bools | None) -> Bools:
    edges: Bools = distance > level
    return edges if apart is None else edges | apart


def _described(
    distance: Floats, losses: Floats, labels: Whole, k: int, apart: Bools | None
) -> Partition:
    together = labels[:, None] == labels[None, :]
    level = float(distance[together].max())
    _, degeneracy = smallest_last(_graph(distance, level, apart))
    return _partition(losses, labels, k, level=level, degeneracy=degeneracy)
