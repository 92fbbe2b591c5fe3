"""Real tables, models and folds of the judgement by prediction; error against number of columns.

    python experiments/quality_curves.py --data DIR [--rankings cmi ...] [--part choose] [--seed 0]

For each table, outer fold and ranking: the first fifty columns by the training samples; for each
of five inner folds the ranking made anew and the scores of three models behind its first k
columns; and the errors of these models on the outer test samples, behind the first k columns of
the ranking of all training samples. From that, every rule for the number of columns can be judged
without running anything again. Kept in results/quality_curves.json; rows that are there are not
computed again. DIR holds the tables: `gasoline.csv`, ..., and `real/*.csv.gz`; the column to
predict is `target` in the latter.
"""

import argparse
import os
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np
import pandas as pd
from procedures import FIRST_PAIRS, RANKINGS, codes_with_gaps, first_pairs, is_text, mean_ranks
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.metrics import log_loss, r2_score
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR
from spectra import HERE, called, keep, kept, seed_number

from infosieve.datasets import load_tecator

OUTER, INNER, MOST_ROWS = 3, 5, 1200
SIZES = (1, 2, 3, 4, 5, 7, 10, 14, 20, 28, 40, 50)
AVERAGED = ("cmi", "jmi")  # of these, also ranks averaged over the inner folds
MODELS = ("kernel", "neighbours", "trees")
MOST_CLASSES = 15  # a target with fewer distinct values, or of text, is one of classes

# ---- tables


@dataclass(frozen=True)
class Table:
    """Columns as the file has them, what is to be predicted, and which samples belong together."""

    X: pd.DataFrame
    y: np.ndarray
    groups: np.ndarray
    grouped: bool  # by the source; else only equal samples belong together

    @property
    def classes(self):
        return self.y.dtype.kind not in "fiu"

    def rows(self, which):
        X = self.X.iloc[which].reset_index(drop=True)
        return Table(X, self.y[which], self.groups[which], self.grouped)


EARLIER = ("Tecator", "gasoline", "diabetes", "sonar", "ionosphere", "breast cancer")
OTHERS = (
    "auto_price", "bodyfat", "chemical_yield", "cpu_act", "credit_gaps", "digits_fourier", "dna",
    "epistasis1000", "epistasis20", "friedman_c0_250_50", "friedman_c4_500_50", "german", "heart",
    "hepatic_injury", "hill_valley", "juice", "libras", "mayonnaise_triplicates", "music", "musk1",
    "parkinson_speech", "permeability", "riboflavin", "scat_gaps", "spambase", "spectf", "stroke",
    "waveform40", "wind", "wine",
)  # fmt: skip
# Fixed before anything was looked at: those of the earlier page and every third of the others
# choose the default, the rest judges it.
CHOOSE = (*EARLIER, *OTHERS[2::3])
JUDGE = tuple(name for name in OTHERS if name not in CHOOSE)
FILES = {
    "gasoline": "octane",
    "sonar": "Class",
    "ionosphere": "Class",
    "wine": "alcohol",
    "juice": "saccharose",
}
# Which samples belong together, and which sample it is: no features.
GROUPS = ("sample", "molecule_name")
IDENTIFIERS = ["conformation_name"]


def load(name, folder, seed=0):
    """A table, at most MOST_ROWS of its samples."""
    if name == "Tecator":
        X, y = load_tecator(return_X_y=True)
    elif name == "diabetes":
        X, y = load_diabetes(return_X_y=True)
    elif name == "breast cancer":
        X, y = load_breast_cancer(return_X_y=True)
    elif name in FILES:
        X = pd.read_csv(folder / f"{name}.csv").drop(columns="split", errors="ignore")
        y = X.pop(FILES[name]).to_numpy()
    else:
        X = pd.read_csv(folder / "real" / f"{name}.csv.gz")
        y = X.pop("target").to_numpy()
    X = pd.DataFrame(X)
    X.columns = X.columns.astype(str)
    if y.dtype.kind not in "fiu" or len(np.unique(y)) <= MOST_CLASSES:
        y = y.astype(str)
    X = X.drop(columns=IDENTIFIERS, errors="ignore")
    group = next((column for column in GROUPS if column in X), None)
    whole = Table(X, y, alike(X) if group is None else X.pop(group).to_numpy(), group is not None)
    if len(y) > MOST_ROWS:
        rng = np.random.default_rng(seed)
        whole = whole.rows(np.sort(rng.permutation(len(y))[:MOST_ROWS]))
    return whole


def alike(X):
    """Samples that are equal have the same number."""
    numbers = codes_with_gaps(X)
    rows = np.where(np.isnan(numbers), np.inf, numbers)
    return pd.factorize(np.unique(rows, axis=0, return_inverse=True)[1].ravel())[0]


def parts_of(table, n, seed):
    kind = StratifiedGroupKFold if table.classes else GroupKFold
    folds = kind(n, shuffle=True, random_state=seed)
    return list(folds.split(np.zeros(len(table.y)), table.y, table.groups))


class Prepared:
    """The preparation that is the same for everybody, learned from ``learn``.

    ``owner`` says which column each of the prepared ones comes from.
    """

    def __init__(self, learn, *others):
        text = np.array([is_text(learn[name]) for name in learn])
        numbers = np.flatnonzero(~text)
        middle = learn.iloc[:, numbers].median()
        tables = (learn, *others)
        blocks = [[t.iloc[:, numbers].fillna(middle).to_numpy(float) for t in tables]]
        owner = list(numbers)
        for j in np.flatnonzero(text):
            hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
            hot.fit(learn.iloc[:, [j]])
            blocks.append([hot.transform(t.iloc[:, [j]]) for t in tables])
            owner += [j] * blocks[-1][0].shape[1]
        self.owner = np.array(owner)
        self.parts = [np.hstack(part) for part in zip(*blocks, strict=True)]
        scaler = StandardScaler().fit(self.parts[0])
        self.parts = [scaler.transform(part) for part in self.parts]

    def __call__(self, columns):
        chosen = np.concatenate([np.flatnonzero(self.owner == j) for j in columns])
        return [part[:, chosen] for part in self.parts]


# ---- models, whose settings nobody tunes


def model_of(kind, classes):
    if kind == "kernel":
        if classes:
            return SVC(C=10)
        return TransformedTargetRegressor(SVR(C=10), transformer=StandardScaler())
    if kind == "neighbours":
        return (KNeighborsClassifier if classes else KNeighborsRegressor)(5, weights="distance")
    trees = ExtraTreesClassifier if classes else ExtraTreesRegressor
    return trees(60, random_state=0, n_jobs=1)


def guesses(kind, learn, judge, y, classes):
    """The predictions, and the probabilities of classes where a model has them."""
    model = model_of(kind, classes).fit(learn, y)
    if not classes or kind == "kernel":
        return model.predict(judge), None, None
    shares = model.predict_proba(judge)
    return model.classes_[np.argmax(shares, axis=1)], shares, model.classes_


def error_of(guess, y, variance, classes):
    return np.mean(guess != y) if classes else np.mean((guess - y) ** 2) / variance


def loss_of(shares, known, y):
    """The log loss; a class that was not learned from has the probability of rounding."""
    labels = np.union1d(known, y)
    wide = np.full((len(y), len(labels)), 1e-6)
    wide[:, np.searchsorted(labels, known)] = np.clip(shares, 1e-6, None)
    wide /= wide.sum(axis=1, keepdims=True)
    return log_loss(y, wide, labels=labels)


# ---- curves


def sizes_of(m):
    return [k for k in SIZES if k <= m]


def delta(prepared, order, sizes, y, classes):
    """The noise that nearest neighbours see in the first k columns: the delta test."""
    found = []
    for k in sizes:
        part = prepared(order[:k])[0]
        near = NearestNeighbors(n_neighbors=1).fit(part).kneighbors(return_distance=False)[:, 0]
        found.append(np.mean(y != y[near]) if classes else np.mean((y - y[near]) ** 2) / 2)
    return found


def behind(prepared, order, sizes, y, y_test, variance, classes):
    """Errors, scores, losses and seconds of each model behind the first columns of an order."""
    errors, scores, losses, seconds = ({kind: [] for kind in MODELS} for _ in range(4))
    for k in sizes:
        learn, judge = prepared(order[:k])
        for kind in MODELS:
            start = time.process_time()
            guess, shares, known = guesses(kind, learn, judge, y, classes)
            seconds[kind].append(time.process_time() - start)
            errors[kind].append(error_of(guess, y_test, variance, classes))
            score = np.mean(guess == y_test) if classes else r2_score(y_test, guess)
            scores[kind].append(score)
            if shares is not None:
                losses[kind].append(loss_of(shares, known, y_test))
    return errors, scores, losses, seconds


def ranked(ranking, table, inner, seed):
    """The order of all samples and those without each inner fold; seconds of both.

    Of the processor: others may be busy.
    """
    start = time.process_time()
    if ranking == FIRST_PAIRS:  # all at once, as the selector makes them
        orders = first_pairs(table, inner, seed)
        return *orders, time.process_time() - start, 0.0
    order = plain(RANKINGS[ranking](table, seed))
    middle = time.process_time()
    others = [plain(RANKINGS[ranking](table.rows(learn), seed)) for learn, _ in inner]
    return order, others, middle - start, time.process_time() - middle


def plain(order):
    return [int(j) for j in order]


def curve(name, folder, ranking, fold, seed):
    """One row: see the top of this file."""
    warnings.simplefilter("ignore")
    whole = load(name, folder, seed)
    learn, judge = parts_of(whole, OUTER, seed)[fold]
    table, test = whole.rows(learn), whole.rows(judge)
    m, variance, classes = (
        table.X.shape[1],
        whole.y.var() if not whole.classes else 1,
        whole.classes,
    )
    folds = parts_of(table, INNER, fold + 1 + seed)
    order, inner_orders, seconds, inner_seconds = ranked(ranking, table, folds, fold)
    everything = ranking == "all columns"
    sizes = [m] if everything else sizes_of(min(m, len(order)))
    prepared = Prepared(table.X, test.X)
    inner = []
    for (one, other), inner_order in zip(folds, inner_orders, strict=True):
        part, rest = table.rows(one), table.rows(other)
        how = Prepared(part.X, rest.X), inner_order, sizes, part.y, rest.y, variance, classes
        inner.append(behind(*how)[1:])
    final = behind(prepared, order, sizes, table.y, test.y, variance, classes)[0]
    row = {
        "data": name, "fold": fold, "ranking": ranking, "of": m, "n": len(learn),
        "n_test": len(judge), "classes": classes, "sizes": sizes, "order": order,
        "seconds": round(seconds, 3), "inner_seconds": round(inner_seconds, 3),
        "model_seconds": {kind: round(sum(sum(t[kind]) for *_, t in inner), 2) for kind in MODELS},
        "inner_orders": inner_orders, "errors": rounded(final),
        "scores": {kind: [rounded(s[kind]) for s, _, _ in inner] for kind in MODELS},
        "losses": {kind: [rounded(loss[kind]) for _, loss, _ in inner] for kind in MODELS[1:]},
    }  # fmt: skip
    if everything:
        return row | {"order": [], "inner_orders": []}
    if not classes:
        del row["losses"]
    if ranking in AVERAGED:
        mean = mean_ranks(inner_orders, m)
        how = prepared, mean, sizes, table.y, test.y, variance, classes
        row["errors_of_mean_ranks"] = rounded(behind(*how)[0])
    row["delta"] = rounded(delta(prepared, order, sizes, table.y, classes), 6)
    return row


def rounded(value, digits=4):
    if isinstance(value, dict):
        return {name: rounded(v, digits) for name, v in value.items() if len(v)}
    return [float(f"{v:.{digits}g}") for v in value]


# ---- running


def key(row):
    return row["data"], row["fold"], row["ranking"]


def cost(name, folder):
    """Small tables first, so that answers come early."""
    table = load(name, folder)
    return len(table.y) * table.X.shape[1]


def run(arguments):
    file = called("quality_curves", arguments.seed)
    rows = kept(file) if (HERE / "results" / f"{file}.json").exists() else []
    done = {key(row) for row in rows}
    part = {"choose": CHOOSE, "judge": JUDGE}[arguments.part]
    names = sorted(arguments.tables or part, key=lambda name: cost(name, arguments.data))
    jobs = [
        (name, arguments.data, ranking, fold, arguments.seed)
        for name in names
        for fold in range(arguments.folds)
        for ranking in arguments.rankings
        if (name, fold, ranking) not in done
    ]
    start = last = time.perf_counter()
    with ProcessPoolExecutor(arguments.workers) as pool:
        futures = {pool.submit(curve, *job): job for job in jobs}
        for number, future in enumerate(as_completed(futures), start=1):
            try:
                rows.append(future.result())
            except Exception as error:  # the others go on; it is tried again next time
                print(*futures[future], repr(error)[:300], flush=True)
            if time.perf_counter() - last > 20 or number == len(jobs):
                last = time.perf_counter()
                keep(file, sorted(rows, key=key))
                print(f"{number} of {len(jobs)}, {last - start:.0f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--part", choices=("choose", "judge"), default="choose")
    parser.add_argument("--tables", nargs="+", choices=(*CHOOSE, *JUDGE))
    parser.add_argument("--rankings", nargs="+", choices=RANKINGS, default=list(RANKINGS))
    parser.add_argument("--folds", type=int, default=OUTER)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=seed_number, default=0)
    run(parser.parse_args())


if __name__ == "__main__":
    main()
