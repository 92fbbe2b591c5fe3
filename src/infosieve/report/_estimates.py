"""Facts that estimates of all kinds share: which samples they compare, and what was left out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from infosieve.results import PermutationTest, Provenance, RelevanceTest, SelectionResult


@dataclass(frozen=True, kw_only=True)
class Screened:
    """How many candidates a cheap score left for an estimate.

    ``ranked``: a ranking without tests, in which those that were best earlier were estimated anew.
    """

    n: int
    n_estimated: int
    pairs: bool = False
    permuted: bool = False
    ranked: bool = False


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """Which samples an estimate compares; ``permuted``: there were permutations, too."""

    record: SelectionResult | PermutationTest | RelevanceTest
    permuted: bool = True
    screened: Sequence[Screened] = ()

    @property
    def groups(self) -> int | None:
        """How many groups of rows there are, where rows belong together."""
        groups = parameter(self.record.provenance, "groups")
        return groups if isinstance(groups, int) else None

    @property
    def series(self) -> bool:
        return is_series(self.record.provenance)

    @property
    def sizes(self) -> list[int]:
        """How many samples a part of them has: one number, or two that differ by 1."""
        size, more = divmod(self.record.n_samples_used or 0, self.record.n_parts)
        return [size, size + 1] if more else [size]


def parameter(known: Provenance | None, name: str, default: Any = None) -> Any:
    """A parameter of what was asked; the default where it is not known."""
    return default if known is None else known.parameters.get(name, default)


def is_series(known: Provenance | None) -> bool:
    """Whether rows are in order of time."""
    return parameter(known, "series", False) is not False
