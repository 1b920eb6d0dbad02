"""The integer programs behind exact frontiers, for HiGHS through scipy.

``covers`` is an (N, A) mask: which action is good enough for which context.
"""

from __future__ import annotations

import importlib
import math
from types import ModuleType

import numpy as np

from demem_agent.decision._arrays import Bools, Floats


def smallest_cover(covers: Bools) -> list[int]:
    rows = np.unique(covers, axis=0).astype(np.float64)
    return _solve(np.ones(covers.shape[1]), rows, lower=1.0, upper=math.inf)


def largest_packing(covers: Bools) -> list[int]:
    return _solve(-np.ones(len(covers)), covers.T.astype(np.float64), lower=-math.inf, upper=1.0)


def _solve(cost: Floats, rows: Floats, *, lower: float, upper: float) -> list[int]:
    """Minimise ``cost @ y`` over y in {0, 1} with lower <= rows @ y <= upper; give the chosen
    places.
    """
    optimize = scipy("scipy.optimize")
    constraint = optimize.LinearConstraint(rows, lower, upper)
    answer = optimize.milp(
        cost, integrality=np.ones(len(cost)), bounds=optimize.Bounds(0, 1), constraints=[constraint]
    )
    return _chosen(answer)


def median_actions(weighted: Floats, k: int) -> list[int]:
    """Solve k-median: y opens an action, z sends a context to an open one; z comes out whole by
    itself.
    """
    optimize, sparse = scipy("scipy.optimize"), scipy("scipy.sparse")
    n, width = weighted.shape
    eye = sparse.identity(n * width, format="csr")
    once = sparse.hstack(
        [sparse.csr_matrix((n, width)), sparse.kron(sparse.identity(n), np.ones((1, width)))]
    )
    opened = sparse.hstack([sparse.kron(np.ones((n, 1)), sparse.identity(width)), -eye])
    count = sparse.csr_matrix(np.concatenate([np.ones(width), np.zeros(n * width)])[None, :])
    answer = optimize.milp(
        np.concatenate([np.zeros(width), weighted.ravel()]),
        integrality=np.concatenate([np.ones(width), np.zeros(n * width)]),
        bounds=optimize.Bounds(0, 1),
        constraints=[
            optimize.LinearConstraint(once.tocsr(), 1, 1),
            optimize.LinearConstraint(opened.tocsr(), 0, math.inf),
            optimize.LinearConstraint(count, 0, k),
        ],
        options={"mip_rel_gap": 0.0},
    )
    return [place for place in _chosen(answer) if place < width]


def _chosen(answer: object) -> list[int]:
    values = getattr(answer, "x", None)
    if getattr(answer, "status", None) != 0 or values is None:
        raise RuntimeError(
            f"the integer program was not solved: {getattr(answer, 'message', answer)}"
        )
    return [int(place) for place in np.flatnonzero(np.asarray(values) > 0.5)]


def scipy(name: str) -> ModuleType:
    # Imported on demand: nothing else of the kernel needs more than numpy.
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError("exact frontiers need scipy: pip install 'demem-agent[lab]'") from error
