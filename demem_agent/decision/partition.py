"""Partitions of contexts into K memory states, made from certificates alone.

``greedy_partition`` is the paper's: colour the cannot-link graph. ``cover_partition`` chooses the
states' actions so that the certified radius is small, and is never worse than the colouring on the
same envelope. Both keep apart the pairs a caller names (witnesses), whatever that costs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from demem_agent.decision._arrays import Bools, Floats, numbers, pairwise_minimax, require
from demem_agent.decision._colouring import Whole, colour, searched_colouring, smallest_last
from demem_agent.decision._covers import (
    Key,
    bottleneck_actions,
    exchange,
    first_level,
    worst_and_mean,
)
from demem_agent.decision.certificates import lower_losses, upper_gaps
from demem_agent.decision.envelopes import Envelope

Pairs = Iterable[tuple[int, int]]
#: Choices of actions for which the contexts of witnesses are placed anew.
TRIALS = 60


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
    """Partition by colouring the cannot-link graph at the smallest level that K colours are shown for.

    That is where its degeneracy leaves K colours enough. Bisects over the certified lower distances and 0, and colours smallest-last. O(N^2 (A + log N))
    time, O(N^2) memory. Two contexts of a state may still need different actions than a third:
    ``certified`` says what a state costs at most, ``level`` does not.

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

    Each context takes the best of them. Bisects over the upper gaps, each level a set cover by a budgeted search; then adds and swaps
    actions while the worst upper gap, or at equal worst the mean one, falls. The classes of
    ``greedy_partition`` are improved the same way and the better of the two is given, so
    ``certified`` is never above that of the colouring. Where witnesses are given their contexts are
    placed one by one into states free of what they must not meet, which is a heuristic. Not exact:
    with known rewards ``worst_case_frontier`` is.

    Args and errors are those of ``greedy_partition``. Source: ours; the objective is eq.
    (certified-cluster-distortion).
    """
    apart = _witnesses(envelope, k, cannot_link)
    distance, losses = pairwise_minimax(lower_losses(envelope)), upper_gaps(envelope)
    greedy = _coloured(distance, losses, k, apart)
    classes = _class_actions(losses, greedy.labels, k)
    starts = [classes[classes >= 0].tolist(), bottleneck_actions(losses, k)]
    choices = [exchange(losses, start, k) for start in starts]
    if apart is None:
        labels = min(
            (losses[:, c].argmin(axis=1) for c in choices),
            key=lambda found: _price(losses, found, k),
        )
    else:
        labels = _placed(losses, k, apart, greedy.labels, choices)
    return _described(distance, losses, labels, k, apart)


def fallback(envelope: Envelope, partition: Partition, x: int) -> int:
    """Route a context to the state whose certified radius is smallest once it is in it, the first
    of equals.

    ``x`` is a row of the envelope; its own label, if it has one, is ignored. An empty state costs
    what the context alone does. Takes O(N A). Raises ValueError for ``x`` outside the envelope, for
    a partition of another number of contexts and for one without actions, whose number of states is
    not known.
    Source: algorithm "DeMem: Decision-aware Memory with Certified Splits", fallback router.
    """
    losses = upper_gaps(envelope)
    require(
        0 <= x < len(losses) and x % 1 == 0, "x", f"a whole number in [0, {len(losses) - 1}]", x
    )
    require(
        len(partition.labels) == len(losses),
        "partition",
        f"of {len(losses)} contexts",
        len(partition.labels),
    )
    if partition.actions is None:
        raise ValueError("partition must have actions, got None")
    others = np.where(np.arange(len(losses)) == x, -1, partition.labels)
    worst = np.maximum(_class_losses(losses, others, len(partition.actions)), losses[x])
    return int(worst.min(axis=1).argmin())


# Witnesses


def _witnesses(envelope: Envelope, k: int, given: Pairs | Bools | None) -> Bools | None:
    """Check k, and turn witnesses into a symmetric mask; None when there are none."""
    require(k >= 1 and k % 1 == 0, "k", "a whole number >= 1", k)
    size = len(envelope.lower)
    if isinstance(given, np.ndarray) and given.dtype == np.bool_:
        require(
            given.shape == (size, size),
            "cannot_link",
            f"of shape ({size}, {size})",
            f"shape {given.shape}",
        )
        require(bool((given == given.T).all()), "cannot_link", "symmetric", "a mask that is not")
        apart: Bools = given.copy()
    else:
        apart = _mask([] if given is None else list(given), size)
    require(
        not np.diag(apart).any(),
        "cannot_link",
        "pairs of two different contexts",
        "one and the same",
    )
    return apart if apart.any() else None


def _mask(pairs: list[tuple[int, int]], size: int) -> Bools:
    ends = numbers("cannot_link", pairs or np.empty((0, 2)))
    fits = (
        ends.ndim == 2
        and ends.shape[1] == 2
        and bool(((ends >= 0) & (ends < size) & (ends % 1 == 0)).all())
    )
    require(fits, "cannot_link", f"pairs of whole numbers in [0, {size - 1}]", pairs[:3])
    first, second = ends.astype(np.intp).T
    apart = np.zeros((size, size), dtype=np.bool_)
    apart[first, second] = apart[second, first] = True
    return apart


# Colouring


def _coloured(distance: Floats, losses: Floats, k: int, apart: Bools | None) -> Partition:
    levels = np.unique(np.append(distance, 0.0))  # the diagonal is 0, so it adds nothing

    def order_at(level: float) -> tuple[Whole, int]:
        return smallest_last(_graph(distance, level, apart))

    level = float(levels[first_level(levels, lambda alpha: order_at(alpha)[1] < k)])
    graph = _graph(distance, level, apart)
    order, degeneracy = smallest_last(graph)
    labels = colour(graph, order)
    if (
        labels.max() >= k
    ):  # only the witnesses can bring this about: at the last level nothing else is left
        labels = searched_colouring(graph, order, k)
    return Partition(
        labels, _class_actions(losses, labels, k), level, _price(losses, labels, k)[0], degeneracy
    )


def _graph(distance: Floats, level: float, apart: Bools | None) -> Bools:
    edges: Bools = distance > level
    return edges if apart is None else edges | apart


# What a labelling costs


def _class_losses(losses: Floats, labels: Whole, k: int) -> Floats:
    """Compute the worst loss of each state under each action, (K, A); 0 for an empty state."""
    worst = np.zeros((k, losses.shape[1]))
    inside = labels >= 0
    np.maximum.at(worst, labels[inside], losses[inside])
    return worst


def _class_actions(losses: Floats, labels: Whole, k: int) -> Whole:
    actions: Whole = _class_losses(losses, labels, k).argmin(axis=1)
    actions[np.bincount(labels, minlength=k) == 0] = -1
    return actions


def _price(losses: Floats, labels: Whole, k: int) -> Key:
    """Rank a labelling: its certified radius, then the mean loss under the actions that attain it."""
    worst = _class_losses(losses, labels, k)
    mean = losses[np.arange(len(losses)), worst.argmin(axis=1)[labels]].mean()
    return float(worst.min(axis=1).max()), float(mean)


def _described(
    distance: Floats, losses: Floats, labels: Whole, k: int, apart: Bools | None
) -> Partition:
    together = labels[:, None] == labels[None, :]
    level = float(distance[together].max())
    degeneracy = smallest_last(_graph(distance, level, apart))[1]
    return Partition(
        labels, _class_actions(losses, labels, k), level, _price(losses, labels, k)[0], degeneracy
    )


# Actions for states whose contexts are not free to choose


def _placed(
    losses: Floats, k: int, apart: Bools, classes: Whole, choices: list[list[int]]
) -> Whole:
    """Improve the colouring's classes by moves, and by placing the contexts for other actions of
    the states.
    """
    order = smallest_last(apart)[0]
    bound = order[apart[order].any(axis=1)]
    best = _moved(losses, classes, k, apart, bound)
    for chosen in choices:
        spare = _class_actions(losses, best, k)
        filled = [*chosen, *(int(a) for a in spare if a >= 0 and a not in chosen), *chosen * k][:k]
        best = _better(losses, best, _place(losses, filled, apart, bound), k, apart, bound)
    return _swapped(losses, best, k, apart, bound)


def _swapped(losses: Floats, labels: Whole, k: int, apart: Bools, bound: Whole) -> Whole:
    """Change one state's action at a time, where it would pay if contexts were free, and place them
    anew.
    """
    left = TRIALS
    while left > 0:
        actions = np.maximum(_class_actions(losses, labels, k), 0)
        trials = sorted(_promising(losses, actions, _price(losses, labels, k)))[
            : min(left, TRIALS // 4)
        ]
        before = labels
        for _, state, action in trials:
            left -= 1
            changed = [*actions[:state].tolist(), action, *actions[state + 1 :].tolist()]
            labels = _better(losses, labels, _place(losses, changed, apart, bound), k, apart, bound)
            if labels is not before:
                break
        if labels is before:
            break
    return labels


def _promising(losses: Floats, actions: Whole, price: Key) -> list[tuple[Key, int, int]]:
    found: list[tuple[Key, int, int]] = []
    for state in range(len(actions)):
        base = losses[:, np.delete(actions, state)].min(axis=1, initial=1.0)
        for action, column in enumerate(losses.T):
            key = worst_and_mean(np.minimum(base, column))
            found += [(key, state, action)] if key < price else []
    return found


def _better(
    losses: Floats, best: Whole, other: Whole | None, k: int, apart: Bools, bound: Whole
) -> Whole:
    if other is None:
        return best
    moved = _moved(losses, other, k, apart, bound)
    return moved if _price(losses, moved, k) < _price(losses, best, k) else best


def _place(losses: Floats, actions: list[int], apart: Bools, bound: Whole) -> Whole | None:
    """Give each context the cheapest state free of its witnesses; None when one finds no state
    free.
    """
    costs = losses[:, actions]
    labels: Whole = costs.argmin(axis=1)
    labels[bound] = -1
    for context in bound:
        free = _free(labels, apart[context], len(actions))
        if not free.any():
            return None
        labels[context] = np.where(free, costs[context], np.inf).argmin()
    return labels


def _moved(losses: Floats, labels: Whole, k: int, apart: Bools, bound: Whole) -> Whole:
    """Move contexts to cheaper states while that lowers the price; the states' actions follow their
    contexts.
    """
    best, price = labels, _price(losses, labels, k)
    while True:
        costs = losses[:, np.maximum(_class_actions(losses, best, k), 0)]
        moved = costs.argmin(axis=1)
        moved[bound] = best[bound]
        for context in bound:
            free = _free(moved, apart[context], k)
            moved[context] = np.where(free, costs[context], np.inf).argmin()
        if (found := _price(losses, moved, k)) >= price:
            return best
        best, price = moved, found


def _free(labels: Whole, neighbours: Bools, k: int) -> Bools:
    free = np.ones(k + 1, dtype=np.bool_)
    free[labels[neighbours]] = False  # -1, not placed yet, marks the spare last place
    return free[:-1]
