"""Colouring graphs with few colours: smallest-last, and a bounded search where that takes too many.

A graph is a symmetric (N, N) mask without loops.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from demem_agent.decision._arrays import Bools

Whole = NDArray[np.intp]
#: Search nodes spent on witnesses that a greedy colouring does not satisfy.
COLOURING_BUDGET = 50_000


def smallest_last(graph: Bools) -> tuple[Whole, int]:
    """Order the vertices so that each has few neighbours before it.

    Takes the vertex with the fewest remaining neighbours out, the first of equals, until none is
    left; the order is the reverse. ``graph`` is a symmetric (N, N) mask without loops. O(N^2).

    Returns the order, shape (N,), and the degeneracy: the most neighbours that any vertex has
    before it.
    Source: proposition "Greedy graph-relaxation gap".
    """
    size = len(graph)
    degree = graph.sum(axis=1)
    removed = np.empty(size, dtype=np.intp)
    degeneracy = 0
    for i in range(size):
        vertex = degree.argmin()
        removed[i] = vertex
        degeneracy = max(degeneracy, int(degree[vertex]))
        degree -= graph[vertex]
        degree[vertex] += 2 * size  # out of reach, also after the neighbours still to come
    return removed[::-1], degeneracy


def colour(graph: Bools, order: Whole, labels: Whole | None = None) -> Whole:
    """Colour each vertex, in this order, with the smallest colour that no neighbour has yet.

    ``labels`` are colours given beforehand, -1 for none; they are kept, and not changed in place.
    Returns the colours, shape (N,), from 0 up.
    """
    found = np.full(len(graph), -1, dtype=np.intp) if labels is None else labels.copy()
    for vertex in order:
        taken = np.zeros(len(graph) + 1, dtype=np.bool_)
        taken[found[graph[vertex]]] = True  # -1, not coloured yet, marks the spare last place
        found[vertex] = taken[:-1].argmin()
    return found


def searched_colouring(graph: Bools, order: Whole, k: int) -> Whole:
    """Search a colouring of the k-core, and colour the rest after it.

    The core alone decides whether k colours do.
    """
    inside = _core(graph, k)
    core = order[inside[order]]
    rest = order[~inside[order]]
    labels = np.full(len(graph), -1, dtype=np.intp)
    labels[core] = _backtracked(graph[np.ix_(core, core)], k)
    return colour(graph, rest, labels)


def _core(graph: Bools, k: int) -> Bools:
    """Mark what is left when vertices with fewer than k neighbours go, again and again."""
    inside = np.ones(len(graph), dtype=np.bool_)
    while True:
        degree = graph[:, inside].sum(axis=1)
        low = inside & (degree < k)
        if not low.any():
            return inside
        inside &= ~low


def _backtracked(graph: Bools, k: int) -> Whole:
    """Colour the vertex with the fewest free colours first, and take back what leads nowhere.

    Raises ValueError when it is proven that k colours do not do.
    """
    trial = _Trial(graph, k)
    vertex = trial.most_blocked()
    first = 0
    used = 0
    for _ in range(COLOURING_BUDGET):
        state = trial.free_colour(vertex, first, used)
        if state >= 0:
            trial.take(vertex, state, used)
            if len(trial.path) == len(graph):
                return trial.labels
            vertex = trial.most_blocked()
            first = 0
            used = max(used, state + 1)
        elif trial.path:
            vertex, state, used = trial.take_back()
            first = state + 1
        else:
            raise ValueError(
                f"cannot_link must be satisfiable with {k} states, got pairs that need more"
            )
    raise RuntimeError(
        f"cannot_link: a bounded search neither satisfied it with {k} states "
        "nor proved that none do"
    )


class _Trial:
    """Colours on trial.

    Attributes:
        labels: the colour of each vertex, -1 for none.
        blocked: shape (N, k), how many neighbours of a vertex have a colour.
        path: vertex, its colour and the number of colours used before it, in order.
    """

    def __init__(self, graph: Bools, k: int) -> None:
        self.graph = graph
        self.labels = np.full(len(graph), -1, dtype=np.intp)
        self.blocked = np.zeros((len(graph), k), dtype=np.intp)
        self.path: list[tuple[int, int, int]] = []

    def most_blocked(self) -> int:
        colours = (self.blocked > 0).sum(axis=1)
        return int(np.where(self.labels < 0, colours, -1).argmax())

    def free_colour(self, vertex: int, first: int, used: int) -> int:
        """Find a colour from ``first`` on that no neighbour has; -1 if there is none."""
        end = min(used + 1, self.blocked.shape[1])  # one unused colour stands for all of them
        for state in range(first, end):
            if not self.blocked[vertex, state]:
                return state
        return -1

    def take(self, vertex: int, state: int, used: int) -> None:
        self.labels[vertex] = state
        self.blocked[:, state] += self.graph[vertex]
        self.path.append((vertex, state, used))

    def take_back(self) -> tuple[int, int, int]:
        vertex, state, used = self.path.pop()
        self.labels[vertex] = -1
        self.blocked[:, state] -= self.graph[vertex]
        return vertex, state, used
