"""Facts that estimates of all kinds share: which samples they compare, and what was left out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from infosieve.results import PermutationTest, Provenance, RelevanceTest, SelectionResult

# Fewer groups are as few as that many samples.
_FEW = 30


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

    provenance: Provenance | None
    n_parts: int
    n_used: int | None
    permuted: bool = True
    screened: Sequence[Screened] = ()

    def parameter(self, name: str, default: Any = None) -> Any:
        return parameter(self.provenance, name, default)

    @property
    def groups(self) -> int | None:
        """How many groups of rows there are, where rows belong together."""
        groups = self.parameter("groups")
        return groups if isinstance(groups, int) else None

    @property
    def few_groups(self) -> bool:
        return self.groups is not None and self.groups < _FEW

    @property
    def series(self) -> bool:
        return self.groups is None and self.parameter("series", False) is not False

    @property
    def by_order(self) -> tuple[str, ...]:
        return () if self.provenance is None else self.provenance.by_order

    @property
    def sizes(self) -> list[int]:
        """How many samples a part of them has: one number, or two that differ by 1."""
        size, more = divmod(self.n_used or 0, self.n_parts)
        return [size, size + 1] if more else [size]

    @property
    def subsampled(self) -> bool:
        known = self.provenance
        return known is not None and self.n_used is not None and known.n_samples > self.n_used


def parameter(known: Provenance | None, name: str, default: Any = None) -> Any:
    """A parameter of what was asked; the default where it is not known."""
    return default if known is None else known.parameters.get(name, default)


def estimate_of(record: SelectionResult | PermutationTest | RelevanceTest, **more: Any) -> Estimate:
    """The estimate that a record is made of."""
    return Estimate(
        provenance=record.provenance, n_parts=record.n_parts, n_used=record.n_samples_used, **more
    )
