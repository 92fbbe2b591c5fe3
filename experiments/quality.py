"""Selection on real tables: three kinds of models behind selectors, nested cross-validation.

    python experiments/quality_curves.py --data DIR --part choose ...   # what chose the default
    python experiments/quality_curves.py --data DIR --part judge ...    # rankings that are judged
    python experiments/quality.py --data DIR [--folds 3] [--workers 2]  # other selectors
    python experiments/quality.py --show

Each selector sees the training samples of an outer fold and chooses its columns, and their number,
there; three models are then fitted to them and judged on the test samples. DIR holds the tables
(see quality_curves.py, whose tables, folds and models these are). Keeps what was selected in
results/quality.json (rows that are there are not computed again) and writes docs/quality.md and its
figures (quality_page.py).
"""

import argparse
import os
import signal
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np
import pandas as pd
from procedures import SELECTORS, NotEndedError, groups_of, sequential
from quality_curves import (
    INNER,
    JUDGE,
    MODELS,
    OUTER,
    Prepared,
    cost,
    error_of,
    guesses,
    load,
    model_of,
    parts_of,
)
from quality_page import CV, CV_MODEL, OURS, SEQUENTIAL, TESTS, show
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from spectra import HERE, called, keep, kept, seed_number

from infosieve import MISelector

LIMIT = 600  # seconds of the processor for a selection
# Which of them know the model behind, and choose anew for each.
WITH_MODEL = (CV_MODEL, SEQUENTIAL)


class OutOfTimeError(BaseException):
    """No Exception: scikit-learn would take it for a model that cannot be fitted."""


def within(seconds, select):
    """What ``select`` returns, and its seconds; None where it takes more of the processor."""

    def stop(*_):
        raise OutOfTimeError

    signal.signal(signal.SIGPROF, stop)
    start = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        found = np.asarray(select(), int)
    except (OutOfTimeError, NotEndedError):
        found = None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return found, time.process_time() - start


def ours(table, seed, **how):
    search = MISelector(random_state=seed, **how)
    return search.fit(table.X, table.y, groups=groups_of(table)).selected_


def as_passed(model, classes):
    """A model behind the preparation of this page, for columns as the table has them."""
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    levels = make_pipeline(
        OneHotEncoder(handle_unknown="ignore", sparse_output=False), StandardScaler()
    )
    both = [
        (numbers, make_column_selector(dtype_include="number")),
        (levels, make_column_selector(dtype_exclude="number")),
    ]
    return make_pipeline(make_column_transformer(*both), model_of(model, classes))


def selected_by(selector, model, table, inner, seed):
    if selector == SEQUENTIAL:
        return sequential(table, inner, model_of(model, table.classes), LIMIT)
    if selector == TESTS:
        return ours(table, seed)
    if selector == CV:
        return ours(table, seed, stop="cv", cv=inner)
    if selector == CV_MODEL:
        return ours(table, seed, stop="cv", cv=inner, model=as_passed(model, table.classes))
    return SELECTORS[selector](table, inner, seed)


def warm():
    """What is compiled or read from a cache once is not part of anybody's seconds."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 4))).assign(text=rng.choice(["a", "b"], 60))
    X.columns, X.iloc[0, 0] = X.columns.astype(str), np.nan
    number = X["1"] + rng.normal(size=60)
    for y in (number.to_numpy(), np.where(number > 0, "a", "b")):
        for how in ({}, {"stop": "cv"}):
            MISelector(random_state=0, **how).fit(X, y)


def one(name, folder, selector, model, fold, seed):
    """A selection, and the errors of models behind it: all of them, or the one that it knows."""
    warnings.simplefilter("ignore")
    whole = load(name, folder, seed)
    learn, judge = parts_of(whole, OUTER, seed)[fold]
    table, test = whole.rows(learn), whole.rows(judge)
    inner = parts_of(table, INNER, fold + 1 + seed)
    found, seconds = within(LIMIT, lambda: selected_by(selector, model, table, inner, fold))
    row = {
        "data": name, "fold": fold, "selector": selector, "model": model, "of": table.X.shape[1],
        "seconds": round(seconds, 2), "selected": None, "errors": {},
    }  # fmt: skip
    if found is None:
        return row
    errors = errors_behind(found, table, test, whole, [model] if model else MODELS)
    return row | {"selected": [int(j) for j in found], "errors": errors}


def errors_behind(selected, table, test, whole, models):
    if not len(selected):
        return dict.fromkeys(models, float(f"{without(table, test, whole):.4g}"))
    prepared = Prepared(table.X.iloc[:, selected], test.X.iloc[:, selected])
    learn, judge = prepared(range(len(selected)))
    variance = 1 if whole.classes else whole.y.var()
    errors = {}
    for model in models:
        guess = guesses(model, learn, judge, table.y, whole.classes)[0]
        errors[model] = float(f"{error_of(guess, test.y, variance, whole.classes):.4g}")
    return errors


def without(table, test, whole):
    """The error without any column: the mean, or the most frequent class."""
    if not whole.classes:
        return error_of(table.y.mean(), test.y, whole.y.var(), False)
    values, counts = np.unique(table.y, return_counts=True)
    return error_of(values[np.argmax(counts)], test.y, 1, True)


def key(row):
    return row["data"], row["fold"], row["selector"], row["model"] or ""


def run(arguments):
    file = called("quality", arguments.seed)
    rows = kept(file) if (HERE / "results" / f"{file}.json").exists() else []
    done = {key(row) for row in rows}
    names = sorted(arguments.tables, key=lambda name: cost(name, arguments.data))
    jobs = [
        (name, arguments.data, selector, model, fold, arguments.seed)
        for fold in range(arguments.folds)
        for name in names
        for selector in arguments.selectors
        for model in (MODELS if selector in WITH_MODEL else (None,))
        if (name, fold, selector, model or "") not in done
    ]
    start = last = time.perf_counter()
    warmed = warm if set(OURS) & set(arguments.selectors) else None
    with ProcessPoolExecutor(arguments.workers, initializer=warmed) as pool:
        futures = {pool.submit(one, *job): job for job in jobs}
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
    everyone = [TESTS, CV, *SELECTORS, *WITH_MODEL]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--folds", type=int, default=OUTER)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--tables", nargs="+", choices=JUDGE, default=JUDGE)
    parser.add_argument("--selectors", nargs="+", choices=everyone, default=everyone)
    parser.add_argument("--seed", type=seed_number, default=0, help="the page is that of seed 0")
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    if arguments.show:
        show()
    else:
        run(arguments)


if __name__ == "__main__":
    main()
