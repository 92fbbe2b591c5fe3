"""Categories as columns of codes, so far apart that unequal ones count as infinitely distant.

A gap among numbers is a category of its own, and all numbers are another.
"""

import numpy as np

from infosieve._core.types import GAP, Columns, FloatArray, IntArray

# The distance between the codes of neighbouring categories.
APART = GAP


def category_labels(columns: Columns) -> IntArray:
    """One integer for each sample's combination of categories, gaps among them: 0, 1, ..."""
    return _labels(columns.values[columns.labelled])


def _labels(codes: FloatArray) -> IntArray:
    labels = np.zeros(codes.shape[1], np.int64)
    for row in codes_of(codes):
        labels = labels * (row.max(initial=0) + 1) + row
        if labels.max(initial=0) > 8 * labels.size:
            labels = _closed(labels)
    return _closed(labels) if len(codes) else labels


def n_singletons(*blocks: Columns) -> int:
    """How many samples share their combination of categories with nobody."""
    together = np.concatenate([block.values[block.labelled] for block in blocks])
    return int((np.bincount(_labels(together)) == 1).sum())


def codes_of(codes: FloatArray) -> IntArray:
    return np.rint(codes / APART).astype(np.int64)


def _closed(labels: IntArray) -> IntArray:
    """The same without gaps."""
    return np.unique(labels, return_inverse=True)[1]
