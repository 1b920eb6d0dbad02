"""What a labelling of contexts costs, and better places for contexts that are not free to choose.

``losses`` is (N, A) in [0, 1]: what each action costs each context at most. ``labels`` is (N,), the
state of each context in [0, K).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from demem_agent.decision._arrays import Bools, Floats, entry_of_each
from demem_agent.decision._colouring import Whole, smallest_last
from demem_agent.decision._covers import Key, worst_and_mean

#: Choices of actions for which the contexts of witnesses are placed anew.
TRIALS = 60


def class_losses(losses: Floats, labels: Whole, k: int) -> Floats:
    """Compute the worst loss of each state under each action, (K, A); 0 for an empty state.

    A context with the label -1 is in no state.
    """
    worst = np.zeros((k, losses.shape[1]))
    inside = labels >= 0
    np.maximum.at(worst, labels[inside], losses[inside])
    return worst


def class_actions(losses: Floats, labels: Whole, k: int) -> Whole:
    """Find the action that costs each state least at worst, shape (K,); -1 for an empty state."""
    actions: Whole = class_losses(losses, labels, k).argmin(axis=1)
    actions[np.bincount(labels, minlength=k) == 0] = -1
    return actions


def price(losses: Floats, labels: Whole, k: int) -> Key:
    """Rank a labelling: its certified radius, then the mean loss under the actions of that."""
    worst = class_losses(losses, labels, k)
    taken = worst.argmin(axis=1)[labels]
    mean = entry_of_each(losses, taken).mean()
    return float(worst.min(axis=1).max()), float(mean)


class Placing:
    """Place contexts where the actions serve them, none beside one that it must not meet.

    Attributes:
        apart: symmetric (N, N) mask of the pairs to be kept apart.
        bound: the contexts that have such a pair, in the order in which they are placed.
    """

    def __init__(self, losses: Floats, k: int, apart: Bools) -> None:
        self.losses = losses
        self.k = k
        self.apart = apart
        order, _ = smallest_last(apart)
        self.bound = order[apart[order].any(axis=1)].tolist()
        self.meets = {context: np.flatnonzero(apart[context]).tolist() for context in self.bound}

    def placed(self, classes: Whole, choices: list[list[int]]) -> Whole:
        """Improve a colouring's classes by moves, and by other actions of the states."""
        best = self._moved(classes)
        for chosen in choices:
            best = self._better(best, self._place(self._filled(chosen, best)))
        return self._swapped(best)

    def _filled(self, chosen: list[int], labels: Whole) -> list[int]:
        """Return K actions: the chosen ones, then others that the labels use, then again these."""
        spare = self._actions(labels).tolist()
        others = [action for action in spare if action >= 0 and action not in chosen]
        return [*chosen, *others, *chosen * self.k][: self.k]

    def _swapped(self, labels: Whole) -> Whole:
        """Change one state's action at a time, where it would pay if contexts were free."""
        left = TRIALS
        while left > 0:
            trials = self._promising(labels)[: min(left, TRIALS // 4)]
            tried, better = self._first_better(labels, trials)
            left -= tried
            if better is labels:
                break
            labels = better
        return labels

    def _first_better(self, labels: Whole, trials: list[list[int]]) -> tuple[int, Whole]:
        """Place the contexts for each choice of actions until one is better; count the trials."""
        for tried, actions in enumerate(trials, start=1):
            better = self._better(labels, self._place(actions))
            if better is not labels:
                return tried, better
        return len(trials), labels

    def _promising(self, labels: Whole) -> list[list[int]]:
        """Return actions with one state's changed that would cost less were contexts free."""
        actions = np.maximum(self._actions(labels), 0)
        present = self._price(labels)
        found: list[tuple[Key, int, int]] = []
        for state in range(len(actions)):
            others = np.delete(actions, state)
            for action, key in enumerate(self._prices_with(others)):
                if key < present:
                    found.append((key, state, action))
        return [_changed(actions, state, action) for _, state, action in sorted(found)]

    def _prices_with(self, others: Whole) -> list[Key]:
        """Rank each action beside the others, as if contexts were free."""
        base = self.losses[:, others].min(axis=1, initial=1.0)
        return [worst_and_mean(np.minimum(base, column)) for column in self.losses.T]

    def _better(self, best: Whole, other: Whole | None) -> Whole:
        if other is None:
            return best
        moved = self._moved(other)
        return moved if self._price(moved) < self._price(best) else best

    def _place(self, actions: list[int]) -> Whole | None:
        """Let each context take the cheapest state free of its witnesses; None if none is."""
        costs = self.losses[:, actions]
        labels: list[int] = costs.argmin(axis=1).tolist()
        for context in self.bound:
            labels[context] = -1
        for context in self.bound:
            state = self._cheapest_free(labels, context, costs[context].tolist())
            if state is None:
                return None
            labels[context] = state
        return np.array(labels, np.intp)

    def _moved(self, labels: Whole) -> Whole:
        """Move contexts to cheaper states while that lowers the price.

        The states' actions follow their contexts.
        """
        best = labels
        lowest = self._price(labels)
        while True:
            moved = self._moved_once(best)
            found = self._price(moved)
            if found >= lowest:
                return best
            best = moved
            lowest = found

    def _moved_once(self, labels: Whole) -> Whole:
        """Let each context take the cheapest state that is free to it, those bound in turn."""
        actions = np.maximum(self._actions(labels), 0)
        costs = self.losses[:, actions]
        moved: list[int] = costs.argmin(axis=1).tolist()
        for context in self.bound:
            moved[context] = int(labels[context])
        for context in self.bound:
            moved[context] = self._cheapest_free(moved, context, costs[context].tolist()) or 0
        return np.array(moved, np.intp)

    def _cheapest_free(
        self, labels: Sequence[int], context: int, costs: Sequence[float]
    ) -> int | None:
        """Return the cheapest state that holds nothing a context must not meet, if there is one.

        In plain Python: there are few states, and an array for each context takes several times as
        long.
        """
        taken = {labels[other] for other in self.meets[context]}
        free = [state for state in range(self.k) if state not in taken]
        return min(free, key=costs.__getitem__, default=None)

    def _actions(self, labels: Whole) -> Whole:
        return class_actions(self.losses, labels, self.k)

    def _price(self, labels: Whole) -> Key:
        return price(self.losses, labels, self.k)


def _changed(actions: Whole, state: int, action: int) -> list[int]:
    changed: list[int] = actions.tolist()
    changed[state] = action
    return changed
