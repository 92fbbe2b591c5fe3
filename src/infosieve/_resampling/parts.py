"""Many samples in parts: the estimate of a large sample as the mean of those of its parts.

The cost of an estimate grows faster than the sample, that of parts of a fixed size in proportion to
it. The variance of the mean is about that of one estimate of all samples; neighbourhoods are wider,
which blurs what many given columns leave. Parts are random and the same for every question about
the same target; classes are spread evenly.
"""

from typing import Any

import numpy as np

from infosieve._core.categories import category_labels
from infosieve._core.dialect import parameter
from infosieve._core.parameters import is_int
from infosieve._core.types import Columns, IntArray
from infosieve._resampling.words import random_order

# What "auto" means: samples of a part, and parts at most. The rest of the samples is not used.
PART, MOST_PARTS = 4000, 25
_LEAST = 50


def part_size(max_samples: Any, n_samples: int) -> int | None:
    """The samples of a part; None: there is one estimate of all."""
    if max_samples is None:
        return None
    if isinstance(max_samples, str) and max_samples == "auto":
        return PART
    if is_int(max_samples) and max_samples >= _LEAST:
        return int(max_samples)
    if isinstance(max_samples, float) and 0.0 < max_samples <= 1.0:
        return max(_LEAST, int(max_samples * n_samples))
    raise ValueError(
        f"{parameter('max_samples')} must be 'auto', an int of at least {_LEAST} (samples of an "
        "estimate), a float in (0, 1] (their share), or None (all in one estimate). Got "
        f"{max_samples!r} instead."
    )


def parts_of(max_samples: Any, target: Columns) -> tuple[IntArray, IntArray] | None:
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
