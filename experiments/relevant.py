"""All that is informative: false discoveries, and what is found that others miss.

    python experiments/relevant.py [--minutes 20] [--only PART] [--seed 0] [--show]

Parts: rate, power, copies, neighbours, ties. Keeps experiments/results/relevant.json, which grows
by data sets and can be taken up, and writes docs/relevant.md. One thread.
"""

import argparse
import json
import math
import os
import time
import warnings

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np
from procedures import boruta
from scipy.spatial.distance import pdist, squareform
from scipy.stats import chatterjeexi, chi2, false_discovery_control, gamma, norm
from sklearn.feature_selection import SelectFdr, f_classif, f_regression
from spectra import APART, HERE, called, seed_number, table, told

from infosieve import MISelector, relevance, relevance_test
from infosieve.datasets import make_friedman

DOCS = HERE.parent / "docs"
ALPHA = 0.05
# Data sets of one target, where the rate is measured.
SETS = 20
# Each part may take so many of all minutes.
SHARES = {"rate": 0.45, "power": 0.2, "copies": 0.2, "neighbours": 0.05, "ties": 0.1}


# ---- data


def correlated(y, m, share, rho, rng):
    """(X, relevant): columns follow the target, or do not; noise is correlated between them."""
    n = y.size
    X = np.sqrt(rho) * rng.normal(size=(n, 1)) + np.sqrt(1 - rho) * rng.normal(size=(n, m))
    relevant = np.zeros(m, bool)
    relevant[: round(share * m)] = True
    shapes = (y, y**2 - 1, np.sin(3 * y) * 1.4)
    for j in np.flatnonzero(relevant):
        X[:, j] += (5 / np.sqrt(n)) * shapes[j % 3]
    return X, relevant


# Mean and standard deviation of the target, given a column; strength for 200 samples.
EFFECTS = {
    "linear": (lambda x: 0.45 * x, lambda x: 1.0 + 0 * x),
    "monotone": (lambda x: 0.5 * np.exp(x), lambda x: 1.0 + 0 * x),
    "periodic": (lambda x: 1.1 * np.sin(4 * x), lambda x: 1.0 + 0 * x),
    "quadratic": (lambda x: 0.45 * x**2, lambda x: 1.0 + 0 * x),
    "variance": (lambda x: 0 * x, lambda x: np.exp(0.4 * x)),
}


def drawn(effect, n, m, m_relevant, rng):
    """Columns that are independent given the target; each relevant one has the effect alone.

    The target is drawn from the effect of a hidden column, and relevant columns are drawn like it
    from what is known of it given the target, on a grid.
    """
    X = rng.normal(size=(n, m))
    if effect == "class":
        y = rng.permutation(np.arange(n) % 2)
        X[:, :m_relevant] += 0.55 * y[:, None]
        return X, np.where(y == 1, "yes", "no")
    mean, spread = EFFECTS[effect]
    hidden = rng.normal(size=n)
    y = mean(hidden) + spread(hidden) * rng.normal(size=n)
    grid = np.linspace(-4, 4, 1601)
    likely = norm.pdf(grid) * norm.pdf(y[:, None], mean(grid), spread(grid))
    below = np.cumsum(likely, axis=1) / likely.sum(axis=1, keepdims=True)
    for i in range(n):
        X[i, :m_relevant] = np.interp(rng.random(m_relevant), below[i], grid)
    return X, y


def with_copies(run):
    """Equation (F) with three noisy copies of each of its five columns, among 80 others."""
    rng = np.random.default_rng([3, run])
    X, y = make_friedman(300, 5, random_state=run, return_X_y=True)
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    copies = [z + 0.5 * rng.normal(size=z.shape) for _ in range(3)]
    return np.column_stack([z, *copies, rng.normal(size=(300, 80))]), y


# ---- who is relevant


def ours(X, y, statistic="auto"):
    return relevance_test(X, y, alpha=ALPHA, statistic=statistic, random_state=0).relevant


def estimates(X, y):
    return ours(X, y, "ksg")


def f_test(X, y):
    of = f_classif if y.dtype.kind == "U" else f_regression
    return SelectFdr(of, alpha=ALPHA).fit(X, y).get_support()


def xi(X, y):
    """Chatterjee (2021), the target as a function of the column; asymptotic p-values."""
    codes = np.unique(y, return_inverse=True)[1].astype(float)
    found = chatterjeexi(X, codes[:, None], axis=0, y_continuous=y.dtype.kind == "f")
    return false_discovery_control(found.pvalue) <= ALPHA


def distance_correlation(X, y):
    """Unbiased, with the chi-square test of Shen, Panda and Vogelstein (2022)."""
    y = np.unique(y, return_inverse=True)[1].astype(float) if y.dtype.kind == "U" else y
    b = centred(y)
    p = []
    for column in X.T:
        a = centred(column)
        p.append(chi2.sf(len(y) * (a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum()) + 1, 1))
    return false_discovery_control(p) <= ALPHA


def hsic(X, y):
    """Gaussian kernels of median width; p by a gamma distribution (Gretton and others 2008)."""
    y = np.unique(y, return_inverse=True)[1].astype(float) if y.dtype.kind == "U" else y
    b, p = gaussian(y), []
    for column in X.T:
        p.append(gamma_p(gaussian(column), b))
    return false_discovery_control(p) <= ALPHA


def gaussian(values):
    d = squareform(pdist(values[:, None], "sqeuclidean"))
    return np.exp(-d / np.median(d[d > 0]))


def gamma_p(k, m):
    n = len(k)
    centre = np.eye(n) - 1 / n
    kc, mc = centre @ k @ centre, centre @ m @ centre
    statistic = (kc * mc).sum() / n
    squares = (kc * mc / 6) ** 2
    variance = (squares.sum() - np.trace(squares)) / n / (n - 1)
    variance *= 72 * (n - 4) * (n - 5) / n / (n - 1) / (n - 2) / (n - 3)
    of_k, of_m = ((x.sum() - np.trace(x)) / n / (n - 1) for x in (k, m))
    mean = (1 + of_k * of_m - of_k - of_m) / n
    return gamma.sf(statistic, mean**2 / variance, scale=variance * n / mean)


def centred(values):
    """Distances, U-centred (Székely and Rizzo 2014)."""
    d, n = squareform(pdist(values[:, None])), len(values)
    means = d.sum(axis=0) / (n - 2)
    a = d - means - means[:, None] + d.sum() / ((n - 1) * (n - 2))
    np.fill_diagonal(a, 0.0)
    return a


OTHERS = {
    "estimates only": estimates,
    "F test": f_test,
    "xi": xi,
    "distance correlation": distance_correlation,
    "HSIC": hsic,
}


# ---- parts: cases, and what a data set gives


def rate_cases():
    every = [[200, 100, share, rho] for share in (0, 0.01, 0.1, 0.5) for rho in (0, 0.5, 0.9)]
    every += [[200, 500, share, 0.9] for share in (0, 0.1)]
    return every + [[1000, 100, share, 0.9] for share in (0, 0.1)]


def rate(case, run):
    """False and true discoveries in twenty data sets of one target.

    Draws depend on the target, not on the columns: those of one test serve all data sets, and
    p-values are the ones that each would have by itself.
    """
    m, n, share, rho = case
    rng = np.random.default_rng([1, run, m, n])
    y = rng.normal(size=n)
    sets = [correlated(y, m, share, rho, rng) for _ in range(SETS)]
    together = np.column_stack([X for X, _ in sets])
    draws = max(1999, math.ceil(m / ALPHA))
    p = relevance_test(together, y, n_permutations=draws, random_state=run).p_values
    out = []
    for (_, relevant), own in zip(sets, p.reshape(SETS, m), strict=True):
        found = false_discovery_control(own) <= ALPHA
        out.append([int((found & ~relevant).sum()), int((found & relevant).sum())])
    return out


def power(case, run):
    """Of 20 relevant columns among 200: true and false discoveries of each."""
    effect, n = case
    X, y = drawn(effect, n, 200, 20, np.random.default_rng([2, run, n]))
    out = {}
    for name, of in {"relevance_test": ours, **OTHERS}.items():
        found = of(X, y)
        out[name] = [int(found[:20].sum()), int(found[20:].sum())]
    return out


def copies(case, run):
    """The same of 20 that are relevant, copies included, among 100; and seconds."""
    X, y = with_copies(run)
    out = {}
    ways = {"relevance_test": ours, "Boruta": lambda X, y: np.isin(range(100), boruta(X, y, run))}
    ways |= {"MISelector": lambda X, y: MISelector(random_state=run).fit(X, y).get_support()}
    for name, of in {**ways, **OTHERS}.items():
        start = time.process_time()
        found = of(X, y)
        seconds = time.process_time() - start
        out[name] = [int(found[:20].sum()), int(found[20:].sum()), round(seconds, 2)]
    return out


RANGES = ((3, 10), (3, 15), (3, 25), (10, 30))


def neighbours(case, run):
    """20 columns with an effect: how many are above 99.9 % of 2,000 without, for ranges of K."""
    effect, n = case
    rng = np.random.default_rng([4, run, n])
    X, y = drawn(effect, n, 20, 20, rng)
    null = rng.normal(size=(n, 2000))
    out = []
    for ks in RANGES:
        found = relevance(np.c_[X, null], y, scale="normal-scores", n_neighbors=ks)
        out.append(int((found[:20] > np.quantile(found[20:], 0.999)).sum()))
    return out


TIED = {
    "1 of 10 is 1, others 0": lambda n, rng: rng.permutation(np.arange(n) % 10 == 0),
    "2 values": lambda n, rng: rng.integers(0, 2, n),
    "3 values": lambda n, rng: rng.integers(0, 3, n),
    "half zeros": lambda n, rng: np.where(rng.random(n) < 0.5, 0, rng.exponential(size=n)),
    "10 values": lambda n, rng: rng.integers(0, 10, n),
    "counts (mean 4)": lambda n, rng: rng.poisson(4, n),
    "one digit": lambda n, rng: rng.normal(size=n).round(1),
}


def ties(case, run):
    """Does a column with ties have p <= 0.01, ties kept and spread? By 199 permutations."""
    (kind,), n = case, 200
    rng = np.random.default_rng([5, run])
    x = TIED[kind](n, rng).astype(float)
    z = (x - x.mean()) / x.std()
    out = []
    for y in (0.3 * z + rng.normal(size=n), np.exp(0.3 * z) * rng.normal(size=n)):
        orders = np.array([np.arange(n), *(rng.permutation(n) for _ in range(199))]).T
        for values in (x, np.lexsort((rng.random(n), x)).argsort().astype(float)):
            found = relevance(values[orders], y, scale="normal-scores", n_neighbors=(3, 25))
            out.append(bool((found[1:] >= found[0]).sum() < 2))
    return out


EVERY = ["linear", "monotone", "quadratic", "periodic", "variance", "class"]
PARTS = {
    "rate": (rate, rate_cases(), 100),
    "power": (power, [[effect, n] for n in (100, 200) for effect in EVERY], 60),
    "copies": (copies, [["copies"]], 20),
    "neighbours": (neighbours, [[effect, n] for n in (100, 300) for effect in EVERY], 10),
    "ties": (ties, [[kind] for kind in TIED], 200),
}


# ---- the page


def mean_of(values, digits=3):
    """The mean and a 95 % interval."""
    values = np.array(values, float)
    half = 1.96 * values.std(ddof=1) / np.sqrt(values.size) if values.size > 1 else np.nan
    return f"{values.mean():.{digits}f} ± {half:.{digits}f}"


def rate_rows(kept):
    for key, runs in kept.items():
        m, n, share, rho = json.loads(key)
        false, true = np.moveaxis(np.array(runs), 2, 0)
        found = f"{true.mean() / (share * m):.0%}" if share else ""
        rated = mean_of(proportions(runs).mean(axis=1))
        yield [f"{share:.0%}", rho, m, n, false.size, rated, found]


def proportions(runs):
    """The share of false discoveries in each data set: targets by sets."""
    false, true = np.moveaxis(np.array(runs), 2, 0)
    return false / np.maximum(false + true, 1)


def power_rows(kept, names):
    for key, runs in kept.items():
        effect, n = json.loads(key)
        cells = []
        for name in names:
            true = np.mean([run[name][0] for run in runs]) / 20
            false = [run[name][1] / max(1, sum(run[name][:2])) for run in runs]
            cells.append(f"{true:.0%} ({np.mean(false):.3f})")
        yield [effect, n, len(runs), *cells]


def verdict(kept):
    """The default beside the best of the others, effect by effect, and its mean beside theirs."""
    shares = [
        {name: 5 * np.mean([run[name][0] for run in runs]) for name in runs[0]}
        for runs in kept.values()
    ]
    others = [name for name in OTHERS if name != "estimates only"]
    behind = [found["relevance_test"] - max(found[name] for name in others) for found in shares]
    means = {name: np.mean([found[name] for found in shares]) for name in shares[0]}
    rest = ", ".join(f"{name} {means[name]:.0f} %" for name in OTHERS)
    return (
        f"On average `relevance_test` finds {means['relevance_test']:.0f} %, {rest}. In its worst "
        f"row it is {-min(behind):.0f} points behind the best of the other tests."
    )


def page(kept, seed=0):
    parts = [TEXT["head"].format(seed=told(seed))]
    head = ["relevant", "correlation", "columns", "samples", "data sets", "rate", "found"]
    parts += [TEXT["rate"], table(head, rate_rows(kept["rate"]), left=0)]
    shares = np.concatenate([proportions(runs) for runs in kept["rate"].values()])
    parts += [TEXT["all"].format(n=shares.size, mean=mean_of(shares.mean(axis=1)))]
    names = ["relevance_test", *OTHERS]
    head = ["effect", "samples", "data sets", "`relevance_test`", *OTHERS]
    parts += [
        TEXT["power"].format(verdict=verdict(kept["power"])),
        table(head, power_rows(kept["power"], names)),
    ]
    (runs,) = kept["copies"].values()
    rows = [
        [f"`{name}`" if name[0] in "rM" else name, mean_of([run[name][0] for run in runs], 1),
         mean_of([run[name][1] for run in runs], 1),
         f"{np.mean([run[name][2] for run in runs]):.1f}"]
        for name in runs[0]
    ]  # fmt: skip
    parts += [TEXT["copies"].format(n=len(runs))]
    parts += [table(["", "of 20 found", "of 80 called relevant", "seconds"], rows)]
    rows = [
        [*json.loads(key), 20 * len(runs), *(f"{share:.0%}" for share in np.mean(runs, 0) / 20)]
        for key, runs in kept["neighbours"].items()
    ]
    head = ["effect", "samples", "columns", *(f"K {lo} to {hi}" for lo, hi in RANGES)]
    parts += [TEXT["neighbours"], table(head, rows)]
    rows = [
        [*json.loads(key), len(runs), *(f"{share:.0%}" for share in np.mean(runs, 0))]
        for key, runs in ((key, kept["ties"][key]) for key in map(json.dumps, PARTS["ties"][1]))
    ]
    head = ["column", "data sets", "mean: ties kept", "spread", "variance: ties kept", "spread"]
    parts += [TEXT["ties"], table(head, rows)]
    return "\n\n".join(parts) + "\n"


TEXT = {
    "head": """# All that is informative

Written by [`experiments/relevant.py`](../experiments/relevant.py){seed}.
`relevance_test` tests every column by itself, and calls those
relevant whose q-value is at most 0.05 ([how](how.md#all-that-is-informative)). Do its promises
hold, and what does it find that simpler tests miss? Everything here is with default settings.
Intervals are those of 95 %.""",
    "rate": """## False discoveries

Columns are noise, and some of them follow the target: in a line, in a parabola, in waves. The noise
of all columns has the given correlation, relevant or not. The rate is the mean share of columns
without information among those called relevant, which should be 0.05 at the most; where nothing is
relevant, it is the share of data sets in which anything is called so. "Found" is the share of
relevant columns that were. Correlated noise makes false discoveries come together. Twenty data sets
each have one target and its draws, so intervals are those of means over targets.""",
    "all": """Over all {n:,} data sets of this table the mean share is {mean}.""",
    "power": """## What is found

200 columns, 20 of them relevant, independent given the target. The target is normal with a mean
that depends on the column in a line, by exp, in a parabola or in waves, or with a standard
deviation that does; or there are two classes with different means. Shares of the relevant columns
that were found, and in brackets the mean share of false ones among all that were called relevant.
Columns without information are the same for all effects.
F test: scikit-learn's `SelectFdr` with `f_regression` or `f_classif`. xi: Chatterjee's rank
correlation. Distance correlation: the unbiased one, with its chi-square test. HSIC: Gaussian
kernels of median width, with a gamma distribution. *Estimates only*: `statistic="ksg"`. All at a
false discovery rate of 0.05, by Benjamini and Hochberg. {verdict}""",
    "copies": """## Where all that is relevant is wanted

Equation (F), 300 samples: five columns that matter, three noisy copies of each (noise of half a
standard deviation), 80 columns of noise. "All relevant" are 20. Boruta (a forest, 100 rounds) is
made for this question; `MISelector` answers another one, which columns are enough together, and
should find about five. Means over {n} data sets; seconds of one core.""",
    "neighbours": """## Which K

Why the default is K from 3 to 25, more than elsewhere: shares of single columns with an effect that
lie above 99.9 % of columns without. Large K see smooth effects, small K waves.""",
    "ties": """## Ties

Columns with ties can keep them, with a null distribution of their own, or have equal values in
random order, and share the distribution of all (spread). 200 samples; shares of data sets with p ≤
0.01, for an effect on the mean of the target and on its variance. Where one value has many of the
samples, ties are worth keeping. So columns in which a value has more than a fifth of the samples
keep theirs.""",
}


def save(kept, file):
    """Atomically, a line for each case."""
    lines = []
    for part, cases in kept.items():
        each = ",\n".join(f"{json.dumps(key)}: {json.dumps(runs)}" for key, runs in cases.items())
        lines.append(f"{json.dumps(part)}: {{\n{each}\n}}")
    fresh = file.with_suffix(".new")
    fresh.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    fresh.replace(file)


def measure(kept, part, seconds, seed, file):
    """More data sets of all cases of a part, one of each at a time."""
    of, cases, most = PARTS[part]
    known = kept.setdefault(part, {})
    end = time.process_time() + seconds
    for run in range(most):
        for case in cases:
            runs = known.setdefault(json.dumps(case), [])
            if len(runs) > run:
                continue
            runs.append(of(case, APART * seed + run))
            if time.process_time() > end:
                return
        save(kept, file)
        print(part, run + 1, flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--seed", type=seed_number, default=0)
    parser.add_argument("--show", action="store_true", help="write the page from what is kept")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    seed, file = options.seed, HERE / "results" / f"{called('relevant', options.seed)}.json"
    kept = json.loads(file.read_text()) if file.exists() else {}
    for part in () if options.show else [options.only] if options.only else PARTS:
        share = 1 if options.only else SHARES[part]
        measure(kept, part, 60 * options.minutes * share, seed, file)
        save(kept, file)
    if PARTS.keys() <= kept.keys():
        (DOCS / "relevant.md").write_text(page(kept, seed), encoding="utf-8")


if __name__ == "__main__":
    main()
