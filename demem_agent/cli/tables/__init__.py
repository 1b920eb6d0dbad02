"""What a person sees: one file a table, all of them from records alone."""

from __future__ import annotations

from demem_agent.cli.tables.certificate import certificate_parts, certificates_table
from demem_agent.cli.tables.choices import explained_parts
from demem_agent.cli.tables.context import context_parts
from demem_agent.cli.tables.decisions import recognised_words
from demem_agent.cli.tables.evaluation import evaluation_parts
from demem_agent.cli.tables.left_out import left_out_words, size_words
from demem_agent.cli.tables.lines import lines_table
from demem_agent.cli.tables.paper import paper_scores, paper_table
from demem_agent.cli.tables.protocol import protocol_parts
from demem_agent.cli.tables.receipt import receipt_grid
from demem_agent.cli.tables.replays import replay_parts
from demem_agent.cli.tables.route import NOT_KNOWN, route_table, route_words
from demem_agent.cli.tables.slots import slots_table
from demem_agent.cli.tables.slots_and_ablations import ablation_parts, slot_parts
from demem_agent.cli.tables.split_audit import audit_parts
from demem_agent.cli.tables.successions import history_table, succession_words, successions_table

__all__ = [
    "NOT_KNOWN",
    "ablation_parts",
    "audit_parts",
    "certificate_parts",
    "certificates_table",
    "context_parts",
    "evaluation_parts",
    "explained_parts",
    "history_table",
    "left_out_words",
    "lines_table",
    "paper_scores",
    "paper_table",
    "protocol_parts",
    "receipt_grid",
    "recognised_words",
    "replay_parts",
    "route_table",
    "route_words",
    "size_words",
    "slot_parts",
    "slots_table",
    "succession_words",
    "successions_table",
]
