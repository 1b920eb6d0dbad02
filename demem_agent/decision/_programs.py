"""The integer programs behind exact frontiers, for HiGHS through scipy.

``covers`` is an (N, A) mask: which action is good enough for which context.
"""

from __future__ import annotations

import importlib
import math
from types import ModuleType
from typing import Any

import numpy as np

from demem_agent.decision._arrays import Bools, Floats


def smallest_cover(covers: Bools) -> list[int]:
    """Find the fewest actions that together are good enough for every context."""
    rows = np.unique(covers, axis=0).astype(np.float64)
    return _solve(np.ones(covers.shape[1]), rows, lower=1.0, upper=math.inf)


def largest_packing(covers: Bools) -> list[int]:
    """Find the most contexts no two of which any one action serves."""
    return _solve(-np.ones(len(covers)), covers.T.astype(np.float64), lower=-math.inf, upper=1.0)


def _solve(cost: Floats, rows: Floats, *, lower: float, upper: float) -> list[int]:
    """Minimise ``cost @ y`` over y in {0, 1} with lower <= rows @ y <= upper.

    Returns the chosen places.
    """
    optimize = scipy("scipy.optimize")
    answer = optimize.milp(
        cost,
        integrality=np.ones(len(cost)),
        bounds=optimize.Bounds(0, 1),
        constraints=[optimize.LinearConstraint(rows, lower, upper)],
    )
    return _chosen(answer)


def median_actions(weighted: Floats, k: int) -> list[int]:
    """Solve k-median: the at most k actions with the smallest sum of each context's least loss.

    In the program y opens an action, and z sends a context to an open one; z comes out whole by
    itself. ``weighted`` is (N, A).
    """
    optimize = scipy("scipy.optimize")
    n, width = weighted.shape
    opens = np.concatenate([np.ones(width), np.zeros(n * width)])
    cost = np.concatenate([np.zeros(width), weighted.ravel()])
    at_most_k = optimize.LinearConstraint(_row(opens), 0, k)
    answer = optimize.milp(
        cost,
        integrality=opens,
        bounds=optimize.Bounds(0, 1),
        constraints=[*_sending(n, width), at_most_k],
        options={"mip_rel_gap": 0.0},
    )
    return [place for place in _chosen(answer) if place < width]


# Sparse matrices over (y, z), typed as Any: scipy is not there where types are checked.


def _sending(n: int, width: int) -> list[object]:
    """Have every context sent to one action, which is open."""
    optimize = scipy("scipy.optimize")
    sent_once = optimize.LinearConstraint(_sent_once(n, width), 1, 1)
    only_to_open = optimize.LinearConstraint(_open_less_sent(n, width), 0, math.inf)
    return [sent_once, only_to_open]


def _sent_once(n: int, width: int) -> Any:
    """Build the rows that count where each context is sent."""
    sparse = scipy("scipy.sparse")
    nothing = sparse.csr_matrix((n, width))
    sent = sparse.kron(sparse.identity(n), np.ones((1, width)))
    return sparse.hstack([nothing, sent]).tocsr()


def _open_less_sent(n: int, width: int) -> Any:
    """Build the rows of y less z, one for each context and action."""
    sparse = scipy("scipy.sparse")
    opened = sparse.kron(np.ones((n, 1)), sparse.identity(width))
    sent = sparse.identity(n * width, format="csr")
    return sparse.hstack([opened, -sent]).tocsr()


def _row(values: Floats) -> Any:
    return scipy("scipy.sparse").csr_matrix(values[None, :])


def _chosen(answer: object) -> list[int]:
    values = getattr(answer, "x", None)
    if getattr(answer, "status", None) != 0 or values is None:
        said = getattr(answer, "message", answer)
        raise RuntimeError(f"the integer program was not solved: {said}")
    return [int(place) for place in np.flatnonzero(np.asarray(values) > 0.5)]


def scipy(name: str) -> ModuleType:
    """Import a module of scipy, or raise an ImportError that says how to install it."""
    # Imported on demand: nothing else of the kernel needs more than numpy.
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError("exact frontiers need scipy: pip install 'demem-agent[lab]'") from error
