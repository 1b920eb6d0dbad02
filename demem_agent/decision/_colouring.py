"""Colouring graphs with few colours: smallest-last, and a bounded search where that takes too many.

A graph is a symmetric (N, N) mask without loops.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from demem_agent.decision._arrays import Bools

Whole = NDArray[np.intp]
COLOURING_BUDGET = (
    50_000  # search nodes spent on witnesses that a greedy colouring does not satisfy
)


def smallest_last(graph: Bools) -> tuple[Whole, int]:
    """Order the vertices so that each has few neighbours before it, and give the degeneracy: the
    most any has.

    Takes the vertex with the fewest remaining neighbours out, the first of equals, until none is
    left; the order is the reverse. ``graph`` is a symmetric (N, N) mask without loops. O(N^2).
    Source: proposition "Greedy graph-relaxation gap".
    """
    size = len(graph)
    degree, removed, degeneracy = graph.sum(axis=1), np.empty(size, dtype=np.intp), 0
    for i in range(size):
        vertex = removed[i] = degree.argmin()
        degeneracy = max(degeneracy, int(degree[vertex]))
        degree -= graph[vertex]
        degree[vertex] += 2 * size  # out of reach, also after the neighbours still to come
    return removed[::-1], degeneracy


def colour(graph: Bools, order: Whole, labels: Whole | None = None) -> Whole:
    """Give each vertex, in this order, the smallest colour that none of its neighbours has yet;
    (N,) from 0 up.

    ``labels`` are colours given beforehand, -1 for none; they are kept, and not changed in place.
    """
    found = np.full(len(graph), -1, dtype=np.intp) if labels is None else labels.copy()
    for vertex in order:
        taken = np.zeros(len(graph) + 1, dtype=np.bool_)
        taken[found[graph[vertex]]] = True  # -1, not coloured yet, marks the spare last place
        found[vertex] = taken[:-1].argmin()
    return found


def searched_colouring(graph: Bools, order: Whole, k: int) -> Whole:
    """Search a colouring of the k-core, which alone decides whether k colours do, and colour the
    rest after it.
    """
    inside = np.ones(len(graph), dtype=np.bool_)
    while (low := inside & (graph[:, inside].sum(axis=1) < k)).any():
        inside &= ~low
    core, rest = order[inside[order]], order[~inside[order]]
    labels = np.full(len(graph), -1, dtype=np.intp)
    labels[core] = _backtracked(graph[np.ix_(core, core)], k)
    return colour(graph, rest, labels)


def _backtracked(graph: Bools, k: int) -> Whole:
    """Colour the vertex with the fewest free colours first; ValueError when it is proven that none
    do.
    """
    labels, blocked = (
        np.full(len(graph), -1, dtype=np.intp),
        np.zeros((len(graph), k), dtype=np.intp),
    )
    path: list[tuple[int, int, int]] = []
    vertex, state, used = _most_blocked(labels, blocked), 0, 0
    for _ in range(COLOURING_BUDGET):
        while (
            state < min(used + 1, k) and blocked[vertex, state]
        ):  # one unused colour stands for all of them
            state += 1
        if state < min(used + 1, k):
            labels[vertex], blocked[:, state] = state, blocked[:, state] + graph[vertex]
            path.append((vertex, state, used))
            if len(path) == len(graph):
                return labels
            vertex, state, used = _most_blocked(labels, blocked), 0, max(used, state + 1)
        elif path:
            vertex, state, used = path.pop()
            labels[vertex], blocked[:, state] = -1, blocked[:, state] - graph[vertex]
            state += 1
        else:
            raise ValueError(
                f"cannot_link must be satisfiable with {k} states, got pairs that need more"
            )
    raise RuntimeError(
        f"cannot_link: a bounded search neither satisfied it with {k} states nor proved that none do"
    )


def _most_blocked(labels: Whole, blocked: NDArray[np.intp]) -> int:
    return int(np.where(labels < 0, (blocked > 0).sum(axis=1), -1).argmax())
