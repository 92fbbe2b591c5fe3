"""Permuted functions of a target whose rows belong together, in groups.

A permuted function has the means of other groups, and what is left of its own rows beside the mean
of theirs, with one random sign for each group: a cluster-robust test of scores (Hemerik, Goeman and
Finos 2020, https://doi.org/10.1111/rssb.12369). So all that rows of a group have to do with each
other stays as it is, and their order does not matter. A column that is the same in all rows of a
group is compared as whole groups are exchanged, matched rows by their signs.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np

from infosieve._core.types import FloatArray, IntArray, WritableArrays
from infosieve._resampling.layout import Layout
from infosieve._resampling.permutations import Permutations
from infosieve._scoring.functions import UNIT


@dataclass(frozen=True)
class ByGroup(WritableArrays):
    """Functions of a target as means of groups, and what is left of rows beside them.

    Attributes
    ----------
    starts : ndarray of shape (n_groups,)
        Where the rows of each group begin.
    groups : ndarray of shape (n_samples,)
        The group of each row.
    means : ndarray of shape (n_functions, n_groups)
        Multiples of the unit, as functions are.
    left : ndarray of shape (n_functions, n_samples)
    order, edges : ndarray
        Groups by strata, in which they exchange.
    """

    starts: IntArray
    groups: IntArray
    means: FloatArray
    left: FloatArray
    order: IntArray
    edges: IntArray

    @classmethod
    def of(cls, values: FloatArray, layout: Layout, permutations: Permutations) -> Self:
        """Functions (n_functions, n_samples), group by group."""
        starts = layout.once[1]
        sizes = np.diff(starts, append=values.shape[1])
        groups = np.repeat(np.arange(starts.size), sizes)
        means = np.rint(np.add.reduceat(values, starts, axis=1) / sizes / UNIT) * UNIT
        left = values - means[:, groups]
        return cls(starts, groups, means, left, permutations.order, permutations.edges)

    def moved(self, drawn: IntArray) -> FloatArray:
        """Permuted functions: (n_permutations, n_functions, n_samples)."""
        turned = drawn < 0
        givers, signs = np.where(turned, ~drawn, drawn), np.where(turned, -1.0, 1.0)
        means = self.means[:, givers].transpose(1, 0, 2)
        return means[:, :, self.groups] + signs[:, None, self.groups] * self.left

    def scale(self, values: FloatArray) -> FloatArray:
        """The root mean square of correlations under all permutations, times the root of n.

        Of candidates' functions (n_columns, n_functions, n_samples) with those of the target: of
        the means by Hoeffding (1951, https://doi.org/10.1214/aoms/1177729545); of signs it is the
        sum of the squares of products within groups.
        """
        of_groups = np.add.reduceat(values, self.starts, axis=2)
        shape = (*values.shape[:2], len(self.means))
        total, squares = np.zeros(shape), np.zeros(shape)
        for first, last in pairwise(self.edges.tolist()):
            some = self.order[first:last]
            one, of_one = _moments(of_groups[..., some])
            other, of_other = _moments(self.means[:, some])
            total += one[..., None] * other / some.size
            squares += of_one[..., None] * of_other / max(some.size - 1, 1)
        for j, left in enumerate(self.left):
            within = np.add.reduceat(values * left, self.starts, axis=2)
            squares[..., j] += (within**2).sum(axis=2)
        return np.asarray(np.sqrt((total**2 + squares) / values.shape[2]))


def _moments(of_groups: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The sum over groups, and the sum of squares about the mean."""
    of_groups = np.ascontiguousarray(of_groups)
    total = of_groups.sum(axis=-1)
    left = of_groups - total[..., None] / of_groups.shape[-1]
    return total, (left**2).sum(axis=-1)
