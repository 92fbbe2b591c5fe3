"""Subsamples: the estimate of a large sample as the mean of the estimates of its parts.

The cost of an estimate grows faster than the sample, that of parts of a fixed size in proportion to
it. The variance of the mean is about that of one estimate of all samples; neighbourhoods are wider,
which blurs what many given columns leave. Parts are random and the same for every question about
the same target; classes are spread evenly.
"""

import numpy as np

from infosieve._core.categories import category_labels
from infosieve._core.settings import FEWEST_SAMPLES
from infosieve._core.types import Columns, IntArray
from infosieve._resampling.random_bits import random_order

# What "auto" means: samples of a part, and the most parts. Samples beyond these are not used.
PART, MOST_PARTS = 4000, 25


def part_size(max_samples: int | float | str | None, n_samples: int) -> int | None:
    """The samples of a part, from a checked setting; None: there is one estimate of all."""
    if max_samples is None:
        return None
    if isinstance(max_samples, str):
        return PART
    if isinstance(max_samples, float):
        return max(FEWEST_SAMPLES, int(max_samples * n_samples))
    return int(max_samples)


def parts_of(
    max_samples: int | float | str | None, target: Columns
) -> tuple[IntArray, IntArray] | None:
    """The samples by parts, and where parts begin and end; None: all are one part."""
    n = target.n_samples
    size = part_size(max_samples, n)
    n_parts = 1 if size is None else n // size
    if n_parts < 2:
        return None
    order = random_order((0, "samples", 0), n)
    order = order[np.argsort(category_labels(target)[order], kind="stable")]
    used = n_parts if max_samples != "auto" else min(n_parts, MOST_PARTS)
    parts = [order[part::n_parts] for part in range(used)]
    edges = np.concatenate([[0], np.cumsum([part.size for part in parts])])
    return np.concatenate([np.sort(part) for part in parts]), edges
