"""Permuted functions of a target whose rows belong together, in groups."""

from dataclasses import dataclass

import numpy as np

from infosieve._core.types import FloatArray, IntArray, WritableArrays
from infosieve._resampling.permutations import Permutations

UNIT = 2.0**-12


@dataclass(frozen=True)
class Grouped(WritableArrays):
    """Functions of a target: what each group has on the whole, and what its rows have beside.

    A permuted function has the means of other groups, and what rows have beside the mean of theirs
    with one random sign for each group (a cluster-robust test of scores by sign-flipping, Hemerik,
    Goeman and Finos 2020, https://doi.org/10.1111/rssb.12369). Whatever rows of a group have to do
    with each other stays as it is, and their order does not matter.
    """

    starts: IntArray
    groups: IntArray
    means: FloatArray
    left: FloatArray

    @classmethod
    def of(cls, values: FloatArray, starts: IntArray) -> "Grouped":
        sizes = np.diff(np.r_[starts, values.shape[1]])
        groups = np.repeat(np.arange(starts.size), sizes)
        means = np.add.reduceat(values, starts, axis=1) / sizes
        means = np.rint(means / UNIT) * UNIT
        return cls(starts, groups, means, values - means[:, groups])

    def moved(self, drawn: IntArray) -> FloatArray:
        """Permuted functions: (n_permutations, n_functions, n_samples)."""
        flipped = drawn < 0
        signs = np.where(flipped, -1.0, 1.0)
        means = self.means[:, np.where(flipped, ~drawn, drawn)].transpose(1, 0, 2)
        return means[:, :, self.groups] + signs[:, None, self.groups] * self.left

    def scale(self, values: FloatArray, permutations: Permutations) -> FloatArray:
        """The root mean square of correlations under all permutations, times the root of n."""
        of_groups = np.add.reduceat(values, self.starts, axis=2)
        shape = (*values.shape[:2], len(self.means))
        mean, variance = np.zeros(shape), np.zeros(shape)
        for first, last in zip(permutations.edges[:-1], permutations.edges[1:], strict=True):
            some = permutations.order[first:last]
            one, other = of_groups[..., some], self.means[:, some]
            sums = one.sum(axis=2)[..., None], other.sum(axis=1)
            mean += sums[0] * sums[1] / some.size
            if some.size > 1:
                a = (one**2).sum(axis=2)[..., None] - sums[0] ** 2 / some.size
                b = (other**2).sum(axis=1) - sums[1] ** 2 / some.size
                variance += a * b / (some.size - 1)
        for j, left in enumerate(self.left):
            variance[..., j] += (np.add.reduceat(values * left, self.starts, axis=2) ** 2).sum(-1)
        return np.asarray(np.sqrt((mean**2 + np.maximum(variance, 0.0)) / values.shape[2]))
