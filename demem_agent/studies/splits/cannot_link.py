"""The cannot-link graph of a dialogue as it grows.

Paper: appendix "Empirical validation of the greedy partition". Contexts are vertices; an edge joins
two that were tested and whose certified radius exceeds a level. What was not tested has no edge,
and a test compares contexts of one slot only, so all figures speak of the pairs that were tested.
Epochs end at 1, 2, 4, ... feedbacks and at the last. Degeneracy, greedy colours and packing numbers
come from ``demem_agent.decision``, to which the graph is handed as witnesses or as rewards of which
the distances are the edges.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from operator import attrgetter, itemgetter

import numpy as np
from numpy.typing import NDArray

from demem_agent.decision import greedy_partition, packing_number, unknown
from demem_agent.errors import MissingExtra
from demem_agent.evaluate.data.dialogue import Dialogue
from demem_agent.evaluate.grouping import grouped
from demem_agent.settings import Settings, SplitSettings
from demem_agent.studies.asking import Tick, ticked
from demem_agent.studies.intervals import Intervals
from demem_agent.studies.paper import GRAPH as PAPER
from demem_agent.studies.records import dialogues_of
from demem_agent.studies.sheets import Cell, Found, Sheet, spread
from demem_agent.studies.splits.recorded import Tried, record_tests

__all__ = ["Epoch", "audit_graph", "colouring", "epochs", "packing", "summed_graph"]

Pair = tuple[int, int]
#: Which vertices are joined, shape (n, n) and symmetric.
Graph = NDArray[np.bool_]
NOTES = (
    "Edges: tested pairs whose certified radius exceeds the level. Mean and standard deviation "
    "over dialogues and epochs (1, 2, 4, ... feedbacks). Nothing was split while tests were made.",
)


@dataclass(frozen=True, slots=True)
class Epoch:
    """The graph of one dialogue at one level when so many feedbacks had been given.

    Attributes:
        last: whether no feedback came after.
        contexts, tested, edges: so far.
        packing: the most contexts of which every two are certified further apart than twice the
            level.
    """

    dialogue: str
    feedbacks: int
    last: bool
    level: float
    contexts: int
    tested: int
    edges: int
    degeneracy: int
    colours: int
    packing: int


def audit_graph(dialogues: Sequence[Dialogue], *, seed: int = 0, tick: Tick | None = None) -> Found:
    """Record the tests of every dialogue and follow its graph.

    This is done at three levels: 0, ``tau_split`` and ``tau_sat``.

    Raises:
        MissingExtra: without scipy, which packing numbers take.
    """
    require_scipy()
    now = SplitSettings()
    levels = dict.fromkeys((0.0, now.tau_split, now.tau_sat))
    records = []
    for dialogue in ticked(dialogues, tick):
        recorded = record_tests(dialogue)
        tests = [test for test in recorded.tests if test.chosen]
        for level in levels:
            records += epochs(recorded.dialogue, recorded.feedbacks, tests, level)
    return summed_graph(records, seed=seed)


def require_scipy() -> None:
    """Raise MissingExtra without scipy."""
    if find_spec("scipy") is None:
        raise MissingExtra("packing numbers", "lab")


def epochs(dialogue: str, feedbacks: int, tests: Sequence[Tried], level: float) -> list[Epoch]:
    """Follow the graph of recorded tests at one level, in [0, 1]."""
    found = []
    for end in _ends(feedbacks):
        known = [test for test in tests if test.feedback <= end]
        edges = _beyond(known, level)
        degeneracy, colours = colouring(edges)
        epoch = Epoch(
            dialogue=dialogue,
            feedbacks=end,
            last=end == feedbacks,
            level=level,
            contexts=end,
            tested=len(known),
            edges=len(edges),
            degeneracy=degeneracy,
            colours=colours,
            packing=packing(_beyond(known, 2 * level)),
        )
        found.append(epoch)
    return found


def _ends(feedbacks: int) -> list[int]:
    """Return 1, 2, 4, ... and the number of feedbacks, at which epochs end; none without any."""
    ends = []
    end = 1
    while end < feedbacks:
        ends.append(end)
        end *= 2
    return [*ends, feedbacks] if feedbacks else []


def colouring(edges: Sequence[Pair]) -> tuple[int, int]:
    """Return the degeneracy of a graph and the colours that smallest-last takes.

    Without edges these are 0 and 1.
    """
    if not edges:
        return 0, 1
    graph = _mask(edges)
    partition = greedy_partition(unknown((len(graph), 1)), len(graph), cannot_link=graph)
    return partition.degeneracy, int(partition.labels.max()) + 1


def packing(edges: Sequence[Pair]) -> int:
    """Return the most vertices of which every two are joined; 1 without edges.

    It is found as the packing number of rewards that say the same. One action serves each set of
    contexts no two of which are joined, and sets are made until every two contexts that are not
    joined share one. Then contexts are at distance 1 where they are joined, and 0 where they are
    not.
    """
    if not edges:
        return 1
    rewards = _rewards(_mask(edges))
    return packing_number(rewards, 0.5).number


def _rewards(graph: Graph) -> NDArray[np.float64]:
    size = len(graph)
    alone = np.eye(size, dtype=np.bool_)
    open_pairs = ~graph & ~alone
    actions = []
    while open_pairs.any():
        inside = _unjoined(graph, open_pairs)
        open_pairs[np.ix_(inside, inside)] = False
        actions.append(np.isin(np.arange(size), inside))
    return np.array([*actions, *alone], np.float64).T


def _unjoined(graph: Graph, open_pairs: Graph) -> list[int]:
    """Return vertices no two of which are joined, begun with the first open pair.

    Those come first that are in most open pairs with it.
    """
    first_pair = np.argwhere(open_pairs)[0]
    inside: list[int] = first_pair.tolist()
    shared = open_pairs[:, inside].sum(axis=1)
    order = np.argsort(-shared, kind="stable")
    for vertex in order.tolist():
        if vertex not in inside and not graph[vertex, inside].any():
            inside.append(vertex)
    return inside


def _mask(edges: Sequence[Pair]) -> Graph:
    """Return the graph of the vertices that have an edge."""
    vertices: set[int] = set()
    for edge in edges:
        vertices.update(edge)
    place = {vertex: n for n, vertex in enumerate(sorted(vertices))}
    graph = np.zeros((len(place), len(place)), dtype=np.bool_)
    for edge in edges:
        first, second = map(place.__getitem__, edge)
        graph[first, second] = True
        graph[second, first] = True
    return graph


def _beyond(tests: Sequence[Tried], level: float) -> list[Pair]:
    edges: dict[Pair, None] = {}
    for test in tests:
        if test.radius > level:
            edges[test.first, test.second] = None
    return list(edges)


def summed_graph(records: Sequence[Epoch], *, seed: int = 0) -> Found:
    """Sum up epochs, a column a level; then the last epoch of every dialogue at tau_split."""
    shipped = SplitSettings().tau_split
    last = [one for one in records if one.last]
    last_shipped = [one for one in last if one.level == shipped]
    sheets = (
        _over_epochs("Cannot-link graph, all epochs", records, seed),
        _over_epochs("The same, last epochs", last, seed),
        _by_dialogue(last_shipped, shipped),
    )
    drawn = {
        "level": shipped,
        "slots": Settings().slots,
        "epochs": list(map(asdict, records)),
    }
    return Found(records, sheets, NOTES, drawn)


def _over_epochs(title: str, records: Sequence[Epoch], seed: int) -> Sheet:
    groups = grouped(records, lambda one: one.level)
    columns = []
    cells = []
    for level in sorted(groups):
        columns.append(f"level {level:g}")
        cells.append(_cells(groups[level], seed))
    rows = []
    for name in ("edges", *PAPER):
        of_levels = map(itemgetter(name), cells)
        rows.append((name, (*of_levels, PAPER.get(name))))
    return Sheet(title, (*columns, "paper"), tuple(rows))


def _cells(group: Sequence[Epoch], seed: int) -> dict[str, Cell]:
    """Return the cells of one level, by the names of their rows."""
    slots = Settings().slots
    enough = Intervals(seed).over(group, lambda one: one.degeneracy < slots)
    median = statistics.median_low(one.degeneracy for one in group)
    return {
        "edges": spread(group, "edges"),
        "degeneracy": spread(group, "degeneracy"),
        "degeneracy, median": median,
        "epochs with degeneracy + 1 <= K": enough,
        "greedy colours": spread(group, "colours"),
        "packing number at twice the level": spread(group, "packing"),
    }


def _by_dialogue(last: Sequence[Epoch], level: float) -> Sheet:
    columns = ("contexts", "tested", "edges", "degeneracy", "colours", "packing")
    cells = attrgetter(*columns)
    rows = zip(dialogues_of(last), map(cells, last), strict=True)
    return Sheet(f"Last epoch of each dialogue, level {level:g}", columns, tuple(rows))
