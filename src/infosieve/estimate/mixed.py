"""Categories among the columns: who is left out, and tables of nothing but categories."""

from dataclasses import dataclass, field

import numpy as np

from infosieve._scale import APART
from infosieve._types import Batch, BoolArray, Columns, Engine, FloatArray, IntArray, Runner
from infosieve.estimate.ksg import nats, psi_table


@dataclass(frozen=True)
class Scores:
    """Nats of a batch, and the samples that a candidate's scores had to leave out.

    ``lonely`` maps a candidate to the samples whose combination of categories occurs only
    once, so that they have no neighbour. Where all columns are categories, only those are
    left out who are alone in X or alone in y: a cell of one sample is evidence, too.
    """

    nats: FloatArray
    lonely: dict[int, IntArray] = field(default_factory=dict)

    @property
    def averaged(self) -> FloatArray:
        """One number a candidate: the mean over K, and over parts where there are some."""
        return np.asarray(self.nats.mean(axis=2).mean(axis=0))


def score(batch: Batch, engine: Engine, runner: Runner) -> Scores:
    """Score a batch that may have categories: (n_parts, n_candidates, n_K) nats."""
    parts = (batch.candidates, batch.selected, batch.target)
    if not any(part.categorical.any() for part in parts):
        return Scores(engine.score(batch, runner))
    batch = batch.written_out()
    if batch.parts is None:
        whole = _score(batch, engine, runner)
        return Scores(whole[0][None], whole[1])
    remaining = batch.without_parts()
    each = [_score(batch.rows(rows), engine, runner) for rows in remaining]
    lonely: dict[int, IntArray] = {}
    for rows, (_, alone) in zip(remaining, each, strict=True):
        lonely |= {candidate: rows[samples] for candidate, samples in alone.items()}
    return Scores(np.stack([scores for scores, _ in each]), lonely)


def _score(batch: Batch, engine: Engine, runner: Runner) -> tuple[FloatArray, dict[int, IntArray]]:
    m = batch.n_candidates
    lo, hi = batch.n_neighbors
    scores = np.zeros((m, hi - lo + 1))
    lonely: dict[int, IntArray] = {}
    shared = np.concatenate([_codes(batch.selected), _codes(batch.target)])
    only_categories = batch.selected.categorical.all() and batch.target.categorical.all()
    categorical = batch.candidates.categorical.reshape(m, batch.width)
    groups = [np.flatnonzero(~categorical.any(axis=1))]
    groups += [np.array([j]) for j in np.flatnonzero(categorical.any(axis=1))]
    for group in groups:
        if group.size == 0:
            continue
        part = batch.only(group)
        # All of a group have the same codes beside the shared ones: those of the first.
        own = _codes(part.candidates.take(slice(0, batch.width)))
        nothing_else = only_categories and categorical[group].all()
        if nothing_else:
            selected, target = _codes(batch.selected), _codes(batch.target)
            if batch.conditional:
                target = np.concatenate([selected, target])
            alone = _alone(np.concatenate([selected, own])) | _alone(target)
        else:
            alone = _alone(np.concatenate([shared, own]))
        if alone.any():
            part = part.rows(np.flatnonzero(~alone))
            lonely |= dict.fromkeys(group.tolist(), np.flatnonzero(alone))
        if part.target.n_samples >= 2:
            scores[group] = _contingency(part) if nothing_else else engine.score(part, runner)[0]
    return scores, lonely


def category_labels(columns: Columns) -> IntArray:
    """One integer for each sample's combination of the categorical columns: 0, 1, ..."""
    return _closed(_labels(_codes(columns)))


def _codes(columns: Columns) -> FloatArray:
    return columns.values[columns.categorical]


def _labels(codes: FloatArray) -> IntArray:
    """One integer for each combination of the rows of ``codes``, in their order."""
    labels = np.zeros(codes.shape[1], np.int64)
    for row in np.rint(codes / APART).astype(np.int64):
        labels = labels * (row.max(initial=0) + 1) + row
        if labels.max(initial=0) > 8 * labels.size:
            labels = _closed(labels)
    return labels


def _closed(labels: IntArray) -> IntArray:
    """The same without gaps."""
    return np.unique(labels, return_inverse=True)[1]


def _sizes(codes: FloatArray) -> IntArray:
    """For each sample, how many samples have its combination of categories."""
    labels = _labels(codes)
    return np.bincount(labels)[labels]


def _alone(codes: FloatArray) -> BoolArray:
    return np.asarray(_sizes(codes) == 1)


def _contingency(batch: Batch) -> FloatArray:
    """MI of categories given categories: counts of equal samples, the sample included."""
    n = batch.target.n_samples
    x, s, y = batch.candidates.values, batch.selected.values, batch.target.values
    psi = psi_table(n)[0]
    sums = psi[_sizes(np.concatenate([x, s, y]))].sum() - psi[_sizes(np.concatenate([x, s]))].sum()
    if batch.conditional:
        sums += psi[_sizes(s)].sum() - psi[_sizes(np.concatenate([s, y]))].sum()
    else:
        sums -= psi[_sizes(y)].sum()
    return nats(np.array([sums]), n, batch.conditional)
