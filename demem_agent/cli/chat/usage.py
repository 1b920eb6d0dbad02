"""What a chat has asked of its model: calls, tokens, cost, and how much of the prompts stayed."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from demem_agent.cli.chat.conversation import Prefix
from demem_agent.cli.json_values import Json
from demem_agent.cli.tables.cells import by_kind, cell, grid, sentence
from demem_agent.llms import Health, Usage

__all__ = ["usage_grid", "usage_value"]


def usage_value(health: Health, prefix: Prefix, turns: int) -> Json:
    """Return what a model was asked as a JSON value."""
    used = health.usage
    return {
        "model": health.model,
        "turns": turns,
        "calls": health.calls,
        "succeeded": health.succeeded,
        "requests": health.requests,
        "retries": health.retries,
        "failures": dict(health.failures),
        "breaker": health.breaker,
        "prompt_tokens": used.prompt_tokens,
        "completion_tokens": used.completion_tokens,
        "cached_tokens": used.cached_tokens,
        "cost": used.cost,
        "estimated": used.estimated,
        "stable_prefix": {"share": round(prefix.share, 4), "last": round(prefix.last, 4)},
    }


def usage_grid(health: Health, prefix: Prefix, turns: int) -> Table:
    """Show what a model was asked, and what that took."""
    used = health.usage
    shown = grid()
    shown.add_row("model", cell(health.model))
    shown.add_row("calls", _calls(health))
    shown.add_row("tokens", cell(_tokens(used)))
    cost = "not known without --price" if used.cost is None else f"{used.cost:.4f}"
    shown.add_row("cost", cell(cost))
    stable = f"{prefix.share:.0%} of all bytes of {turns} prompts, {prefix.last:.0%} of the last"
    shown.add_row("same as before", cell(stable))
    return shown


def _calls(health: Health) -> Text:
    failed = cell(by_kind(health.failures), "yellow") if health.failures else cell("none")
    return sentence(f"{health.calls} in {health.requests} requests; failed: ", failed)


def _tokens(used: Usage) -> str:
    prompts = f"{used.prompt_tokens:,} of prompts"
    cached = f"{used.cached_tokens:,} from the provider's cache"
    answers = f"{used.completion_tokens:,} of answers"
    estimated = ", in part estimated" if used.estimated else ""
    return f"{prompts} ({cached}), {answers}{estimated}"
