"""Where the points of curves lie, and how the features computed there are named."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from infosieve._core.types import FloatArray


class Feature(NamedTuple):
    """What one feature is: its name, its kind, the range of the axis that it comes from."""

    name: str
    kind: str
    start: float
    end: float


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Where the points of the curves lie, and what is computed there."""

    axis: FloatArray  # positions, rising or falling
    names: list[str] | None  # of the columns, where these name features; then the axis is 0, 1, ...
    unit: str  # of the axis, for names
    n_windows: tuple[int, ...]  # that cover the axis side by side, for each width
    n_splines: int
    smoothing: int  # neighbouring points that derivatives are taken from

    @property
    def ends(self) -> tuple[float, float]:
        """The first and the last position."""
        return float(self.axis[0]), float(self.axis[-1])

    @property
    def even(self) -> bool:
        """Whether the points are evenly spaced."""
        steps = np.diff(self.axis)
        return bool(np.all(np.abs(steps - steps.mean()) <= 1e-6 * np.abs(steps.mean())))

    def labels(self, positions: Any) -> list[str]:
        """Texts for positions on the axis, as short as they can be and still differ."""
        n_distinct = len(set(map(float, positions)))
        if self.names is not None:
            texts = [self.names[round(p)] for p in positions]
            for digits in range(1, 17):
                if len(set(texts)) == n_distinct:
                    break
                parts = [(int(p), p - int(p)) for p in positions]
                texts = [self.names[i] + (f"+{f:.{digits}g}" if f else "") for i, f in parts]
            return texts
        for digits in range(1, 18):
            texts = [_short(p, digits) for p in positions]
            if len(set(texts)) == n_distinct:
                break
        return [text + self.unit for text in texts]

    def at(self, kind: str, positions: Any, starts: Any, ends: Any) -> list[Feature]:
        """A feature for each position, and the range of the axis that it comes from."""
        labels = [f"{kind}[{label}]" for label in self.labels(positions)]
        return _features(labels, kind, starts, ends)

    def between(self, word: str, kind: str, starts: Any, ends: Any) -> list[Feature]:
        """A feature for each range of the axis."""
        texts = self.labels([*starts, *ends])
        unit = "" if self.names is not None else self.unit
        pairs = zip(texts[: len(starts)], texts[len(starts) :], strict=True)
        names = [f"{word}[{a.removesuffix(unit)}:{b}]" for a, b in pairs]
        return _features(names, kind, starts, ends)

    def windows(self) -> list[tuple[int, int]]:
        """The first and last columns of windows of all widths, which overlap by half.

        Windows of a single column are left out; if all are, there is one over everything.
        """
        low, high = min(self.ends), max(self.ends)
        found: list[tuple[int, int]] = []
        for count in self.n_windows:
            width = (high - low) / count
            for start in low + width / 2 * np.arange(2 * count - 1):
                slack = 1e-9 * width
                inside = (self.axis >= start - slack) & (self.axis <= start + width + slack)
                columns = np.flatnonzero(inside)
                if columns.size >= 2 and (columns[0], columns[-1]) not in found:
                    found.append((int(columns[0]), int(columns[-1])))
        return found or [(0, self.axis.size - 1)]


def _features(names: list[str], kind: str, starts: Any, ends: Any) -> list[Feature]:
    ranges = zip(names, starts, ends, strict=True)
    return [Feature(name, kind, float(start), float(end)) for name, start, end in ranges]


def _short(position: float, digits: int) -> str:
    """A number to so many significant digits, whole numbers in full."""
    rounded = float(f"{position:.{digits}g}")
    if 1e-4 <= abs(rounded) < 1e15 or rounded == 0:
        decimals = max(0, digits - 1 - math.floor(math.log10(abs(position) or 1.0)))
        return f"{position:.{decimals}f}"
    return f"{rounded:.{digits}g}"
