"""Selection on real data: a fixed model behind different selectors, nested cross-validation.

    python experiments/quality.py --data DIR [--repeats 2] [--workers 2] [--show]

Each selector sees the learning part of each of five folds (repeated), and chooses its columns, and
their number, there; one and the same model is then fitted to them and judged on the rest.
Gasoline, sonar and ionosphere are read from DIR; the others come with the package and with
scikit-learn. Keeps what was selected in results/quality.json (rows that are there are not computed again) and writes
docs/quality.md and its figure.
"""

import argparse
import os
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np
import pandas as pd
from procedures import boruta, first_of, minimal_redundancy, recursive, univariate
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from spectra import HERE, keep, kept

from infosieve import MISelector
from infosieve.datasets import load_tecator

DOCS = HERE.parent / "docs"
FOLDS = 5


def from_file(file, target):
    def load(folder):
        table = pd.read_csv(folder / file)
        return table.drop(columns=target).to_numpy(float), table[target].to_numpy()

    return load


DATA = {
    "Tecator": lambda _: load_tecator(return_X_y=True),
    "gasoline": from_file("gasoline.csv", "octane"),
    "diabetes": lambda _: load_diabetes(return_X_y=True),
    "sonar": from_file("sonar.csv", "Class"),
    "ionosphere": from_file("ionosphere.csv", "Class"),
    "breast cancer": lambda _: named(*load_breast_cancer(return_X_y=True)),
}
FILES = ("gasoline", "sonar", "ionosphere")


def named(X, y):
    return X, np.array(["malignant", "benign"])[y]


def model_of(y):
    """Support vectors, with settings that nobody tunes."""
    if y.dtype.kind in "fiu":
        model = make_pipeline(StandardScaler(), SVR(C=10, epsilon=0.05))
        return TransformedTargetRegressor(model, transformer=StandardScaler())
    return make_pipeline(StandardScaler(), SVC(C=10))


def wrapper(X, y, seed):
    """scikit-learn's forward selection with the model that is used afterwards."""
    found = SequentialFeatureSelector(model_of(y), tol=1e-3, cv=5).fit(X, y)
    return np.flatnonzero(found.get_support())


def ours(X, y, seed):
    return MISelector(random_state=seed).fit(X, y).selected_


def ours_tuned(X, y, seed):
    """As many of the first twenty as cross-validation wants; nothing is tested."""

    def ranked(X, y):
        most = min(20, X.shape[1])
        search = MISelector(stop=None, max_features=most, lookahead=1, random_state=seed)
        return search.fit(X, y).selected_

    return first_of(ranked, X, y, model_of(y))


SELECTORS = {
    "all columns": lambda X, y, seed: np.arange(X.shape[1]),
    "MISelector()": ours,
    "MISelector(stop=None), number by CV": ours_tuned,
    "univariate MI, number by CV": lambda X, y, seed: univariate(X, y, seed, model_of(y)),
    "sequential selector": wrapper,
    "RFECV": recursive,
    "Boruta": boruta,
    "mRMR, number by CV": lambda X, y, seed: minimal_redundancy(X, y, seed, model_of(y)),
}


def one(name, folder, selector, repeat, fold):
    """A selection and the error behind it, on one fold."""
    warnings.simplefilter("ignore")
    X, y = DATA[name](folder)
    _, group = np.unique(X, axis=0, return_inverse=True)  # equal samples stay together
    numbers = y.dtype.kind in "fiu"
    kind = GroupKFold if numbers else StratifiedGroupKFold
    parts = kind(FOLDS, shuffle=True, random_state=repeat).split(X, y, group)
    learn, judge = list(parts)[fold]
    start = time.process_time()  # of this process alone: others may be busy
    selected = np.asarray(SELECTORS[selector](X[learn], y[learn], repeat))
    seconds = time.process_time() - start
    if selected.size:
        model = model_of(y).fit(X[learn][:, selected], y[learn])
        guess = model.predict(X[judge][:, selected])
    elif numbers:
        guess = np.full(len(judge), y[learn].mean())
    else:
        values, counts = np.unique(y[learn], return_counts=True)
        guess = np.full(len(judge), values[np.argmax(counts)])
    error = np.mean((guess - y[judge]) ** 2) / y.var() if numbers else np.mean(guess != y[judge])
    return {
        "data": name, "selector": selector, "repeat": repeat, "fold": fold,
        "selected": sorted(int(j) for j in selected), "of": X.shape[1], "error": float(error),
        "seconds": round(seconds, 2),
    }  # fmt: skip


def key(row):
    return row["data"], row["selector"], row["repeat"], row["fold"]


def run(arguments):
    rows = kept("quality") if (HERE / "results" / "quality.json").exists() else []
    done = {key(row) for row in rows}
    names = [n for n in DATA if arguments.data is not None or n not in FILES]
    jobs = [
        (name, arguments.data, selector, repeat, fold)
        for repeat in range(arguments.repeats)
        for fold in range(FOLDS)
        for name in names
        for selector in SELECTORS
        if (name, selector, repeat, fold) not in done
    ]
    start = last = time.perf_counter()
    with ProcessPoolExecutor(arguments.workers) as pool:
        futures = [pool.submit(one, *job) for job in jobs]
        for number, future in enumerate(as_completed(futures), start=1):
            rows.append(future.result())
            if time.perf_counter() - last > 20 or number == len(jobs):
                last = time.perf_counter()
                keep("quality", sorted(rows, key=key))
                print(f"{number} of {len(jobs)}, {last - start:.0f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    if not arguments.show:
        run(arguments)


if __name__ == "__main__":
    main()
