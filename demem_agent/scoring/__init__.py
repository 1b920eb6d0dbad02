"""Score_theta: features of passages, their scores, and the scores of slots through them."""

from __future__ import annotations

from demem_agent.scoring.adequacy import SIGNALS, Adequacy, Signals, default_adequacy
from demem_agent.scoring.bearing import Bearing, default_bearing
from demem_agent.scoring.features import FEATURES
from demem_agent.scoring.floor import Floor, default_floor
from demem_agent.scoring.focus import focus
from demem_agent.scoring.index import Passage, PassageIndex
from demem_agent.scoring.mlp import Mlp, default_mlp
from demem_agent.scoring.query import Query
from demem_agent.scoring.score import Ranking, feature_table, parts_of, rank, slot_scores
from demem_agent.scoring.weights import PassageScore, Weights, default_weights
from demem_agent.text.times.dates import moment

__all__ = [
    "FEATURES",
    "SIGNALS",
    "Adequacy",
    "Bearing",
    "Floor",
    "Mlp",
    "Passage",
    "PassageIndex",
    "PassageScore",
    "Query",
    "Ranking",
    "Signals",
    "Weights",
    "default_adequacy",
    "default_bearing",
    "default_floor",
    "default_mlp",
    "default_weights",
    "feature_table",
    "focus",
    "moment",
    "parts_of",
    "rank",
    "slot_scores",
]
