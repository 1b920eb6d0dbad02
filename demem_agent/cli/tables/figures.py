"""Figures as they are printed: shares, means with their intervals, counts."""

from __future__ import annotations

from demem_agent.cli.json_values import Document

__all__ = ["figure", "interval", "share"]


def share(value: float, digits: int = 3) -> str:
    """Return a number between -1 and 1 without the zero before its point: ``.874``.

    1 is as wide as the others: ``1.00``.
    """
    words = f"{round(value, digits) + 0.0:.{digits}f}"  # adding 0.0 takes the sign off a zero
    if words.lstrip("-").startswith("1"):
        return words[:-1]
    return words.replace("0.", ".", 1)


def interval(found: Document | None, sign: bool = False) -> str:
    """Return a mean with its interval: ``.778 [.74, .81]``.

    Of one dialogue it is the mean alone, of no question a dash.

    Args:
        sign: whether a mean above 0 begins with a plus.
    """
    if found is None:
        return "-"
    mean = share(found["mean"])
    if sign and found["mean"] > 0:
        mean = f"+{mean}"
    if found["low"] is None:
        return mean
    return f"{mean} [{share(found['low'], 2)}, {share(found['high'], 2)}]"


def figure(found: Document | float | int | None) -> str:
    """Return a figure in print: ``.879 [.75, .94]``, ``8.4 ± 1.5``, ``1,323``, or a dash."""
    if found is None:
        return "-"
    if isinstance(found, int):
        return f"{found:,}"
    if isinstance(found, float):
        return _number(found, abs(found) > 1, 3)
    if "deviation" in found:
        return f"{found['mean']:.1f} ± {found['deviation']:.1f}"
    return _with_ends(found)


def _with_ends(found: Document) -> str:
    ends = [end for end in (found["low"], found["high"]) if end is not None]
    large = max(map(abs, [found["mean"], *ends])) > 1
    mean = _number(found["mean"], large, 3)
    if not ends:
        return mean
    words = [_number(end, large, 2) for end in ends]
    return f"{mean} [{', '.join(words)}]"


def _number(value: float, large: bool, digits: int) -> str:
    return f"{value:,.1f}" if large else share(value, digits)
