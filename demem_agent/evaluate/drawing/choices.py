"""Draw a log of decisions: how it went, what was chosen, who follows which profile, who left.

Needs matplotlib, from the extra ``lab``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from demem_agent.errors import InvalidInput
from demem_agent.evaluate.deciding.course import Course, Followed, Noted, course_of, moving_mean
from demem_agent.evaluate.drawing.figures import require_matplotlib
from demem_agent.evaluate.drawing.looks import label, new_figure, plain
from demem_agent.slots.choosing.log import DecisionLog

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_decisions"]

#: Colours that are told apart without colour vision (Okabe and Ito); grey for all other actions.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#332288", "#999933")
OTHERS = "#BBBBBB"
REWARD, EXPLORING, CERTIFIED = "#D55E00", "#0072B2", "#444444"
#: The most situations, and partings, that are drawn one by one.
MOST_ROWS = 24
MOST_PARTINGS = 14
LONGEST = 34
#: With more actions than this, cells have no room for how often each was tried.
FEW_COLUMNS = 4
#: Cells of a higher mean are so dark that figures in them are white.
DARK = 0.65
#: What files may be drawn as.
SUFFIXES = (".svg", ".png", ".pdf")


def draw_decisions(log: DecisionLog, path: str | Path) -> Path:
    """Draw a log of decisions as one picture of four panels.

    * How it went: the mean reward of the last decisions, and the share of all that explored.
    * What was chosen, over time.
    * The situations by their profiles, with the mean reward of each action.
    * What was certified, and when.

    Args:
        log: as ``SlotMemory.decision_log`` gives it.
        path: of the picture, ending in .svg, .png or .pdf; its folder is made if it is not there.

    Raises:
        InvalidInput: for another ending, and for a log without decisions.
        MissingExtra: without matplotlib.
    """
    to = Path(path)
    if to.suffix.lower() not in SUFFIXES:
        raise InvalidInput("path", str(path), f"a file that ends in {', '.join(SUFFIXES)}")
    if not log.decisions:
        raise InvalidInput("log", "no decisions", "one with a decision at least")
    require_matplotlib()
    figure = _figure(course_of(log))
    to.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(to)
    return to


def _figure(course: Course) -> Figure:
    rows = min(len(course.situations), MOST_ROWS)
    below = max(2.6, 0.9 + 0.3 * rows)
    figure = new_figure(13, 4.2 + below)
    heights = (3.6, below + 0.6)
    parts = figure.subfigures(2, 1, height_ratios=heights, squeeze=False)
    left, right = parts[0, 0].subplots(1, 2)
    _draw_course(left, course)
    _draw_choices(right, course)
    left, right = parts[1, 0].subplots(1, 2, width_ratios=(1.3, 1))
    _draw_profiles(left, course)
    _draw_partings(right, course, rows)
    return figure


def _draw_course(axes: Axes, course: Course) -> None:
    """Draw the mean reward of late and how much was explored, both in [0, 1]."""
    count = len(course.chosen)
    at = np.arange(1, count + 1)
    window = _window(count)
    rewards = moving_mean(course.rewards, window)
    explored = np.cumsum(course.explores) / at
    axes.plot(at, rewards, color=REWARD, linewidth=1.8, label=f"mean reward, last {window}")
    axes.plot(at, explored, color=EXPLORING, linewidth=1.4, label="explored so far, share")
    _mark_changes(axes, course)
    label(axes, "decisions", "", "How it went")
    axes.set_ylim(0, 1.03)
    axes.set_xlim(1, max(count, 2))
    axes.legend(fontsize=8.5, loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)


def _window(count: int) -> int:
    return max(10, count // 20)


def _mark_changes(axes: Axes, course: Course) -> None:
    """Mark when a situation left its profile, and when all was begun anew."""
    left = {noted.after for noted in course.partings if noted.parting.own is not None}
    _upright(axes, sorted(left), ":", "a situation certified apart")
    _upright(axes, course.restarts, "--", "all begun anew")


def _upright(axes: Axes, places: Sequence[int], style: str, name: str) -> None:
    """Draw upright lines that the legend names once."""
    for number, place in enumerate(places):
        named = "_nolegend_" if number else name
        axes.axvline(place, color=CERTIFIED, linewidth=1.2, linestyle=style, label=named)


def _draw_choices(axes: Axes, course: Course) -> None:
    """Draw which share of late each action has of all choices."""
    count = len(course.chosen)
    at = np.arange(1, count + 1)
    chosen = np.array(course.chosen)
    window = _window(count)
    named = list(course.actions[: len(COLOURS)])
    shares = [moving_mean((chosen == name).astype(np.float64), window) for name in named]
    colours: list[str] = list(COLOURS[: len(named)])
    if len(course.actions) > len(named):
        shares.append(1 - np.sum(shares, axis=0))
        colours.append(OTHERS)
        named.append(f"{len(course.actions) - len(COLOURS)} others")
    names = [plain(_short(name)) for name in named]
    axes.stackplot(at, shares, colors=colours, labels=names, linewidth=0)
    label(axes, "decisions", f"share of the last {window}", "What was chosen")
    axes.set_ylim(0, 1)
    axes.set_xlim(1, max(count, 2))
    axes.legend(fontsize=8.5, loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)


def _draw_profiles(axes: Axes, course: Course) -> None:
    """Draw the mean reward of each action in each situation, situations by their profiles."""
    shown = _most_decided(course.situations)
    named = list(course.actions[: len(COLOURS)])
    means = np.full((len(shown), len(named)), np.nan)
    for row, one in enumerate(shown):
        _write_records(axes, means, row, one, named)
    axes.imshow(means, vmin=0, vmax=1, cmap="Blues", aspect="auto", alpha=0.8)
    axes.set_yticks(range(len(shown)), [plain(_short(one.words)) for one in shown], fontsize=8.5)
    _name_columns(axes, named)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    _part_profiles(axes, shown, len(named))
    left_out = len(course.situations) - len(shown)
    note = f"white: not tried; {left_out} more situations" if left_out else "white: not tried"
    axes.set_xlabel(note, fontsize=9)
    axes.set_title("Mean rewards by profile, now", fontsize=10.5, loc="left")


def _name_columns(axes: Axes, named: Sequence[str]) -> None:
    """Write the names of actions below their columns, aslant where there are many."""
    words = [plain(_short(name, 20)) for name in named]
    axes.set_xticks(range(len(named)), words, fontsize=9)
    if len(named) > FEW_COLUMNS:
        axes.tick_params(axis="x", labelrotation=30)
        for name in axes.get_xticklabels():
            name.set_horizontalalignment("right")


def _most_decided(situations: Sequence[Followed]) -> list[Followed]:
    """Return those with the most outcomes, in the order given."""
    counts = np.array(list(map(_outcomes, situations)))
    kept = set(np.argsort(-counts, kind="stable")[:MOST_ROWS].tolist())
    return [one for place, one in enumerate(situations) if place in kept]


def _outcomes(situation: Followed) -> int:
    return sum(record.count for record in situation.records)


def _write_records(
    axes: Axes, means: np.ndarray, row: int, one: Followed, named: Sequence[str]
) -> None:
    """Fill in how actions did in a situation, in colours and in figures."""
    for record in one.records:
        if record.action in named:
            column = named.index(record.action)
            means[row, column] = record.mean
            many = len(named) > FEW_COLUMNS
            words = f"{record.mean:.2f}" if many else f"{record.mean:.2f} ({record.count})"
            ink = "#FFFFFF" if record.mean > DARK else "#000000"
            axes.text(column, row, words, ha="center", va="center", fontsize=8, color=ink)


def _part_profiles(axes: Axes, shown: Sequence[Followed], columns: int) -> None:
    """Draw a line between profiles, and name each at its first row."""
    for row, one in enumerate(shown):
        if row and shown[row - 1].slot == one.slot:
            continue
        axes.axhline(row - 0.5, color="#000000", linewidth=1.2, clip_on=False)
        name = "no profile" if one.slot is None else f"profile {one.slot}"
        axes.text(columns - 0.45, row, name, fontsize=9, fontweight="bold", va="center")


def _draw_partings(axes: Axes, course: Course, rows: int) -> None:
    """Draw who left a profile and when, with the means that disagreed; there is room for rows."""
    words = {one.id: one.words for one in course.situations}
    shown = _certified_first(course.partings)
    for row, noted in enumerate(shown):
        is_certified = noted.parting.own is not None
        face = REWARD if is_certified else "#FFFFFF"
        axes.plot(noted.after, row, marker="o", markersize=7, color=REWARD, markerfacecolor=face)
    _upright(axes, course.restarts, "--", "all begun anew")
    names = [_parting_words(noted, words[noted.parting.situation]) for noted in shown]
    axes.set_yticks(range(len(shown)), [plain(name) for name in names], fontsize=8.5)
    axes.yaxis.tick_right()
    label(axes, "decisions", "", _partings_title(course, len(shown)))
    axes.set_ylim(max(len(shown), rows / 2, 2) - 0.5, -0.7)
    axes.set_xlim(1, max(len(course.chosen), 2))
    axes.tick_params(axis="y", length=0)


def _certified_first(partings: Sequence[Noted]) -> list[Noted]:
    """Return as many as there is room for, certificates before all others, in order of time."""
    ordered = sorted(partings, key=lambda noted: noted.parting.own is None)
    return sorted(ordered[:MOST_PARTINGS], key=lambda noted: noted.after)


def _parting_words(noted: Noted, words: str) -> str:
    parting = noted.parting
    if parting.own is None or parting.others is None:
        return f"{_short(words)}\nprofile {parting.slot} given up"
    own = f"{parting.own.mean:.2f} ± {parting.own.half_width:.2f}"
    others = f"{parting.others.mean:.2f} ± {parting.others.half_width:.2f}"
    return f"{_short(words)}\n{_short(parting.action or '', 16)}: {own} here, {others} there"


def _partings_title(course: Course, shown: int) -> str:
    if not course.partings and not course.restarts:
        return "Certified: nothing so far"
    said = "Left its profile: ● certified, ○ given up"
    if len(course.partings) > shown:
        said += f"; {len(course.partings) - shown} more"
    if course.restarts:
        said += "; - - all begun anew"
    return said


def _short(text: str, longest: int = LONGEST) -> str:
    """Return a text on one line, the middle left out where it is long: its end tells it apart."""
    line = " ".join(text.split())
    if len(line) <= longest:
        return line
    half = (longest - 3) // 2
    return f"{line[:half].rstrip()}...{line[-half:].lstrip()}"
