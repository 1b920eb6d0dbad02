"""The cannot-link graph of a dialogue as it grows (paper, appendix "Empirical validation of the
greedy partition").

Contexts are vertices; an edge joins two that were tested and whose certified radius exceeds a
level. What was not tested has no edge, and a test compares contexts of one slot only, so all
figures speak of the pairs that were tested. Epochs end at 1, 2, 4, ... feedbacks and at the last.
Degeneracy, greedy colours and packing numbers come from ``demem_agent.decision``, to which the
graph is handed as witnesses or as rewards of which the distances are the edges.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from demem_agent.decision import greedy_partition, packing_number, unknown
from demem_agent.errors import MissingExtra
from demem_agent.evaluate.data.dialogue import Dialogue
from demem_agent.settings import Settings, SplitSettings
from demem_agent.studies.asking import Tick
from demem_agent.studies.paper import GRAPH as PAPER
from demem_agent.studies.sheets import Cell, Found, Sheet, intervals, spread
from demem_agent.studies.splits.recorded import Tried, record_tests

__all__ = ["Epoch", "audit_graph", "colouring", "epochs", "packing", "summed_graph"]

Pair = tuple[int, int]
NOTES = (
    "Edges: tested pairs whose certified radius exceeds the level. Mean and standard deviation over dialogues and "
    "epochs (1, 2, 4, ... feedbacks). Nothing was split while tests were made.",
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
    """Record the tests of every dialogue and follow its graph at three levels: 0, ``tau_split`` and
    ``tau_sat``.

    Raises:
        MissingExtra: without scipy, which packing numbers take.
    """
    require_scipy()
    now = SplitSettings()
    records: list[Epoch] = []
    for done, dialogue in enumerate(dialogues, 1):
        recorded = record_tests(dialogue)
        tests = [test for test in recorded.tests if test.chosen]
        for level in dict.fromkeys((0.0, now.tau_split, now.tau_sat)):
            records += epochs(recorded.dialogue, recorded.feedbacks, tests, level)
        if tick:
            tick(done, len(dialogues))
    return summed_graph(records, seed=seed)


def require_scipy() -> None:
    if find_spec("scipy") is None:
        raise MissingExtra("packing numbers", "lab")


def epochs(dialogue: str, feedbacks: int, tests: Sequence[Tried], level: float) -> list[Epoch]:
    """Follow the graph of recorded tests at one level, in [0, 1]."""
    ends = (
        sorted({min(2**n, feedbacks) for n in range(feedbacks.bit_length() + 1)})
        if feedbacks
        else []
    )
    found = []
    for end in ends:
        known = [test for test in tests if test.feedback <= end]
        edges = _beyond(known, level)
        degeneracy, colours = colouring(edges)
        far = packing(_beyond(known, 2 * level))
        found.append(
            Epoch(
                dialogue,
                end,
                end == feedbacks,
                level,
                end,
                len(known),
                len(edges),
                degeneracy,
                colours,
                far,
            )
        )
    return found


def colouring(edges: Sequence[Pair]) -> tuple[int, int]:
    """Give the degeneracy of a graph and the colours that smallest-last takes; (0, 1) without
    edges.
    """
    if not edges:
        return 0, 1
    graph = _mask(edges)
    partition = greedy_partition(unknown((len(graph), 1)), len(graph), cannot_link=graph)
    return partition.degeneracy, int(partition.labels.max()) + 1


def packing(edges: Sequence[Pair]) -> int:
    """Give the most vertices of which every two are joined, as the packing number of rewards that
    say the same.

    One action serves each set of contexts no two of which are joined, and sets are made until every
    two contexts that are not joined share one: then contexts are at distance 1 where they are
    joined, and 0 where they are not.
    """
    if not edges:
        return 1
    rewards = _rewards(_mask(edges))
    return packing_number(rewards, 0.5).number


def _rewards(graph: NDArray[np.bool_]) -> NDArray[np.float64]:
    size = len(graph)
    open_pairs = ~graph & ~np.eye(size, dtype=np.bool_)
    actions = []
    while open_pairs.any():
        first, second = (int(n) for n in np.argwhere(open_pairs)[0])
        inside = [first, second]
        for vertex in sorted(range(size), key=lambda n: (-int(open_pairs[n, inside].sum()), n)):
            if vertex not in inside and not graph[vertex, inside].any():
                inside.append(vertex)
        open_pairs[np.ix_(inside, inside)] = False
        actions.append(np.isin(np.arange(size), inside))
    return np.array([*actions, *np.eye(size, dtype=np.bool_)], np.float64).T


def _mask(edges: Iterable[Pair]) -> NDArray[np.bool_]:
    """Give the graph of the vertices that have an edge."""
    known = list(edges)
    place = {
        vertex: n for n, vertex in enumerate(sorted({vertex for edge in known for vertex in edge}))
    }
    graph = np.zeros((len(place), len(place)), dtype=np.bool_)
    for first, second in known:
        graph[place[first], place[second]] = graph[place[second], place[first]] = True
    return graph


def _beyond(tests: Sequence[Tried], level: float) -> list[Pair]:
    return list(dict.fromkeys((test.first, test.second) for test in tests if test.radius > level))


def summed_graph(records: Sequence[Epoch], *, seed: int = 0) -> Found:
    """Sum up epochs, a column a level; then the last epoch of every dialogue at the level in force."""
    levels = sorted({one.level for one in records})
    sheets = [
        Sheet("Cannot-link graph, all epochs", *_columns(records, levels, seed)),
        Sheet(
            "The same, last epochs", *_columns([one for one in records if one.last], levels, seed)
        ),
    ]
    shipped = SplitSettings().tau_split
    last = [one for one in records if one.last and one.level == shipped]
    cells = ("contexts", "tested", "edges", "degeneracy", "colours", "packing")
    rows = tuple((one.dialogue, tuple(getattr(one, name) for name in cells)) for one in last)
    sheets.append(Sheet(f"Last epoch of each dialogue, level {shipped:g}", cells, rows))
    drawn = {
        "level": shipped,
        "slots": Settings().slots,
        "epochs": [asdict(one) for one in records],
    }
    return Found(records, tuple(sheets), NOTES, drawn)


def _columns(
    records: Sequence[Epoch], levels: Sequence[float], seed: int
) -> tuple[tuple[str, ...], tuple[tuple[str, tuple[Cell, ...]], ...]]:
    of, slots = intervals(seed), Settings().slots
    groups = [[one for one in records if one.level == level] for level in levels]
    found: dict[str, list[Cell]] = {name: [] for name in ("edges", *PAPER)}
    for group in groups:
        names = [one.dialogue for one in group]
        degeneracy = [one.degeneracy for one in group]
        found["edges"].append(spread([one.edges for one in group]))
        found["degeneracy"].append(spread(degeneracy))
        found["degeneracy, median"].append(statistics.median_low(degeneracy))
        found["epochs with degeneracy + 1 <= K"].append(
            of([value < slots for value in degeneracy], names)
        )
        found["greedy colours"].append(spread([one.colours for one in group]))
        found["packing number at twice the level"].append(spread([one.packing for one in group]))
    columns = (*(f"level {level:g}" for level in levels), "paper")
    return columns, tuple((name, (*cells, PAPER.get(name))) for name, cells in found.items())
