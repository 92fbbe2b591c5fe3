"""Golden cases: small tables, and every setting of every call spelled out.

A case is a kind of call, a table, and what differs from the settings of its kind below. These are
complete, so that no default that is changed later changes a record. A parameter that is renamed is
renamed in its one line here (and in the cases that set it).
"""

import contextlib
import functools
import io
import json
import sys
import tempfile
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
from facts import facts_of, facts_of_selector
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier

from infosieve import (
    ClusterResult,
    CurveFeatures,
    FeatureClustering,
    KChoice,
    MISelector,
    RelevanceTest,
    SelectionResult,
    Stability,
    choose_k,
    entropy,
    false_neighbors,
    mutual_information,
    open_columns,
    permutation_test,
    relevance,
    relevance_test,
    stability,
)
from infosieve.estimators import histogram, parzen, three_entropies

# ---- settings: all of them


def but(settings, *names):
    return {name: value for name, value in settings.items() if name not in names}


ESTIMATE = {
    "n_neighbors": (3, 6),
    "method": "ksg1",
    "metric": "euclidean",
    "scale": "standard",
    "discrete_features": "auto",
    "discrete_target": "auto",
    "missing": "auto",
}
SERIES = {"series": False}
COMPUTE = {"n_jobs": 1, "executor": None, "device": "cpu"}
TEST = {
    "statistic": "ksg",
    "null": "local",
    "correction": "max",
    "resample": None,
    "alpha": 0.05,
    "n_permutations": "auto",
    "screen": None,
    "max_samples": None,
    "random_state": 7,
}
SELECTOR = {
    **ESTIMATE, **SERIES, **COMPUTE, **TEST,
    "criterion": "cmi",
    "search": "forward",
    "removal": "test",
    "stop": "fdr",
    "model": None,
    "cv": 5,
    "scoring": None,
    "test": False,
    "n_features_to_select": None,
    "min_features": 0,
    "max_features": None,
    "lookahead": 1,
    "checkpoint": None,
    "verbose": 0,
}  # fmt: skip
PERMUTATION_TEST = {
    **ESTIMATE, **SERIES, **COMPUTE, **TEST,
    "given": (),
    "pairs": False,
    "criterion": "cmi",
    "groups": None,
}  # fmt: skip
RELEVANCE_TEST = {
    **ESTIMATE, **SERIES, **COMPUTE,
    "scale": "normal-scores",
    "alpha": 0.05,
    "statistic": "ksg",
    "n_permutations": 99,
    "groups": None,
    "random_state": 7,
    "verbose": 0,
}  # fmt: skip
INFORMATION = {
    **ESTIMATE, **SERIES,
    "condition": None,
    "criterion": "frenzel-pompe",
    "max_samples": None,
    "groups": None,
}  # fmt: skip
RELEVANCE = INFORMATION | COMPUTE
CHOICE = {
    **ESTIMATE, **SERIES, **COMPUTE,
    "n_neighbors": (2, 6),
    "n_folds": 5,
    "groups": None,
    "random_state": 7,
}  # fmt: skip
STABILITY = {
    "n_resamples": 3,
    "groups": None,
    "n_jobs": 1,
    "executor": None,
    "random_state": 7,
    "checkpoint": None,
    "verbose": 0,
}
CLUSTERING = {
    "n_clusters": 3,
    "similarity_threshold": None,
    "similarity": "supervised",
    "correlation": "pearson",
    "linkage": "representative",
    "representative": "mean",
    "connectivity": None,
    "scale": "standard",
    "model": None,
    "cv": 4,
    "missing": "auto",
    "series": False,
    "n_jobs": 1,
    "executor": None,
    "random_state": 7,
    "verbose": 0,
}
FALSE_NEIGHBORS = {"scale": "standard", "n_jobs": 1, "device": "cpu"}
CURVES = {
    "axis": None,
    "unit": "nm",
    "kinds": "all",
    "n_windows": (2, 4),
    "n_splines": 5,
    "smoothing": 5,
}
# Which settings are whose: a test compares them with signatures.
COMPLETE = [
    (MISelector, SELECTOR), (permutation_test, PERMUTATION_TEST), (relevance_test, RELEVANCE_TEST),
    (mutual_information, INFORMATION), (relevance, RELEVANCE), (choose_k, CHOICE),
    (stability, STABILITY), (FeatureClustering, CLUSTERING), (false_neighbors, FALSE_NEIGHBORS),
    (CurveFeatures, CURVES),
]  # fmt: skip


# ---- tables


def table(X, y, groups=None):
    """Rounded: the last bits of sines and of products of matrices depend on the CPU."""
    y = y.round(6) if pd.api.types.is_numeric_dtype(y) else y
    return SimpleNamespace(X=X.round(6), y=y, groups=groups)


def numbers(n=60, m=6, noise=0.3):
    rng = np.random.default_rng(11)
    X = pd.DataFrame(rng.normal(size=(n, m)), columns=list("abcdefghijkl")[:m])
    y = np.sin(2 * X["b"]) + 0.6 * X["d"] + noise * rng.normal(size=n)
    return table(X, y.rename("y"))


def arrays():
    """Without names; two targets."""
    rng = np.random.default_rng(12)
    X = rng.normal(size=(60, 5))
    return table(X, np.c_[X[:, 1] ** 2, X[:, 3] + 0.5 * rng.normal(size=60)])


def many():
    return numbers(150, 12)


def noise():
    rng = np.random.default_rng(13)
    return table(rng.normal(size=(50, 5)), rng.normal(size=50))


def joint():
    """Two columns that are informative only together."""
    rng = np.random.default_rng(14)
    X = pd.DataFrame(rng.uniform(-1, 1, size=(100, 5)), columns=list("abcde"))
    y = np.sign(X["a"] * X["c"]) + 0.8 * X["e"] + 0.1 * rng.normal(size=100)
    return table(X, y.rename("y"))


def summed():
    """A noisy sum of two columns is found first, and of no use once these are there."""
    rng = np.random.default_rng(21)
    X = pd.DataFrame(rng.normal(size=(150, 5)), columns=list("abcde"))
    X.insert(0, "sum", X["b"] + X["d"] + 0.9 * rng.normal(size=150))
    return table(X, (X["b"] + X["d"] + 0.1 * rng.normal(size=150)).rename("y"))


def waves():
    """A column that follows a selected one along a curve, and tells nothing else."""
    rng = np.random.default_rng(24)
    X = pd.DataFrame(rng.normal(size=(150, 4)), columns=list("abcd"))
    X["wave"] = np.sin(2 * X["a"]) + 0.5 * rng.normal(size=150)
    y = np.sin(2 * X["a"]) + 0.7 * X["b"] + 0.7 * X["c"] + 0.2 * X["d"]
    return table(X, (y + 0.1 * rng.normal(size=150)).rename("y"))


def strong():
    """One column tells much, the others nothing: a pair with it is of one column."""
    rng = np.random.default_rng(25)
    X = pd.DataFrame(rng.normal(size=(100, 5)), columns=list("abcde"))
    return table(X, (X["a"] + 0.5 * rng.normal(size=100)).rename("y"))


def alike():
    """Copies, noisy copies, a curve of another column, a constant."""
    known = numbers(80, 5)
    rng = np.random.default_rng(15)
    X = known.X.assign(copy=-2.0 * known.X["b"], near=known.X["b"] + 0.1 * rng.normal(size=80))
    X["curve"] = X["b"] ** 2 + 0.1 * rng.normal(size=80)
    return table(X.assign(one=1.0), known.y)


def categories():
    """Text, booleans, counts and rounded values; classes to predict."""
    rng = np.random.default_rng(16)
    n = 90
    x = rng.normal(size=(n, 3))
    X = pd.DataFrame({
        "colour": np.array(["red", "green", "blue"])[np.digitize(x[:, 0], [-0.4, 0.4])],
        "yes": x[:, 1] > 0,
        "count": rng.poisson(3.0, n),
        "rounded": np.round(x[:, 1], 1),
        "level": rng.integers(0, 4, n),
        "number": x[:, 2],
        "name": [f"id {i}" for i in range(n)],
    })  # fmt: skip
    classes = np.where(X["colour"] == "red", "A", np.where(x[:, 1] > 0.3, "B", "C"))
    classes[::11] = "A"
    return table(X, pd.Series(classes, name="class"))


def gaps(n=90):
    """Gaps that carry information, gaps among categories, samples without a target."""
    known = numbers(n, 5)
    rng = np.random.default_rng(17)
    X = known.X.mask(rng.random(known.X.shape) < [0.0, 0.15, 0.3, 0.0, 0.0])
    X["e"] = X["e"].mask(known.y > 0.6)
    text = np.where(known.X["d"] > 0, "up", "down").astype(object)
    text[rng.random(n) < 0.2] = None
    X["text"] = text
    return table(X, known.y.mask(np.arange(n) % 30 == 7))


def together(sizes):
    rng = np.random.default_rng(18)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    X = pd.DataFrame(rng.normal(size=(len(groups), 4)), columns=list("abcd"))
    X["b"] += rng.normal(size=len(sizes))[groups]
    X["c"] = rng.normal(size=len(sizes))[groups]  # one value for each group
    y = X["b"] + 0.7 * X["c"] + 0.4 * rng.normal(size=len(groups))
    return table(X, y.rename("y"), groups)


def equal_groups():
    return together([3] * 25)


def unequal_groups():
    return together([1, 2, 3, 4, 5] * 6)


def in_time(kind="numbers", n=120):
    rng = np.random.default_rng(19)
    shocks = rng.normal(size=(n, 5))
    x = np.zeros((n, 5))
    for i in range(1, n):
        x[i] = 0.6 * x[i - 1] + shocks[i]
    X = pd.DataFrame(x, columns=list("abcde"))
    y = X["b"] + 0.5 * np.abs(X["d"]) + 0.4 * shocks[:, 4]
    if kind == "categories":
        X["b"] = np.where(X["b"] > 0.5, "high", np.where(X["b"] > -0.8, "mid", "low"))
    if kind == "gaps, pairs":
        y = np.sign(X["a"] * X["c"]) + 0.2 * shocks[:, 4]
        X = X.mask(rng.random(X.shape) < 0.05)
    if kind == "wandering":
        y = y.cumsum()
    return table(X, y.rename("y"))


def spectra():
    rng = np.random.default_rng(20)
    axis = np.linspace(0, 1, 12)
    heights = rng.normal(size=(40, 3))
    bumps = [np.exp(-40 * (axis - centre) ** 2) for centre in (0.2, 0.5, 0.8)]
    X = pd.DataFrame(heights @ np.array(bumps) + 0.05 * rng.normal(size=(40, 12)))
    X.columns = [f"{900 + 10 * j}" for j in range(12)]
    return table(X, pd.Series(heights[:, 1] + 0.1 * rng.normal(size=40), name="y"))


# ---- where it is computed


@contextlib.contextmanager
def nothing_is_small():
    """Tables that stay on disk are read in parts, however small they are."""
    import infosieve._input.lazy_columns
    import infosieve.selection
    import infosieve.significance  # noqa: F401

    limits = [module for name, module in list(sys.modules.items())
              if name.startswith("infosieve.") and "SMALL" in vars(module)]  # fmt: skip
    assert limits, "no module has SMALL, the size below which a table on disk is read at once"
    before = [module.SMALL for module in limits]
    try:
        for module in limits:
            module.SMALL = 0
        yield
    finally:
        for module, value in zip(limits, before, strict=True):
            module.SMALL = value


@contextlib.contextmanager
def emulated_gpu():
    """The CUDA engine on a CuPy that compiles kernels for the CPU."""
    folder = str(Path(__file__).parent.parent / "emulated")
    before = sys.modules.pop("cupy", None)

    def forget():
        for name, module in list(sys.modules.items()):
            if name.startswith("infosieve.") and "cuda" in name:
                for function in vars(module).values():
                    if hasattr(function, "cache_clear"):
                        function.cache_clear()

    forget()
    sys.path.insert(0, folder)
    try:
        yield {"device": "cuda"}
    finally:
        sys.path.remove(folder)
        sys.modules.pop("cupy", None)
        if before is not None:
            sys.modules["cupy"] = before
        forget()


@contextlib.contextmanager
def dask_workers():
    """A cluster in this process."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=1, threads_per_worker=2, processes=False, silence_logs=50,
                     dashboard_address=None) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):  # fmt: skip
        yield {"executor": client}


@contextlib.contextmanager
def on_disk(data):
    """The same table in a Parquet file, of which columns are read when they are needed."""
    with tempfile.TemporaryDirectory() as folder, nothing_is_small():
        path = Path(folder) / "table.parquet"
        data.X.assign(y=data.y).to_parquet(path)
        source = open_columns(path)
        yield SimpleNamespace(X=source.drop("y"), y=source["y"], groups=data.groups)


# ---- kinds of calls: settings in, facts out


def select(data, jobs, where=contextlib.nullcontext, **settings):
    with where() as more:
        how = {**SELECTOR, "n_jobs": jobs, **settings, **(more or {})}
        return facts_of_selector(MISelector(**how).fit(data.X, data.y, data.groups))


def select_on_disk(data, jobs, **settings):
    with on_disk(data) as source:
        return select(source, jobs, **settings)


def select_with_alternatives(data, jobs, **settings):
    selector = MISelector(**{**SELECTOR, "n_jobs": jobs, **settings})
    selector.fit(data.X, data.y, data.groups)
    frame = selector.alternatives(data.X, data.y, data.groups)
    return facts_of_selector(selector) | {"frame": frame}


def select_by_cv(data, jobs, **settings):
    selector = MISelector(**{**SELECTOR, "n_jobs": jobs, "stop": "cv", "criterion": "auto",
                             "cv": 3, **settings}).fit(data.X, data.y, data.groups)  # fmt: skip
    return facts_of_selector(selector) | {"frame": selector.cv_scores_}


def select_twice(data, jobs, **settings):
    """What a checkpoint has, and a run that goes on from it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.json"
        how = {**SELECTOR, "n_jobs": jobs, "checkpoint": path, **settings}
        first = facts_of_selector(MISelector(**how).fit(data.X, data.y, data.groups))
        kept = json.loads(path.read_text(encoding="utf-8"))
        again = facts_of_selector(MISelector(**how).fit(data.X, data.y, data.groups))
    parts = ("schema", "schema_version", "data", "n_samples", "seed", "steps", "parts")
    return first | {
        "kept": {name: kept[name] for name in parts if name in kept},
        "keys": sorted(kept),
        "selected again": again["selected"],
        "steps again": again["steps"],
    }


def ask(data, jobs, candidates, where=contextlib.nullcontext, **settings):
    with where() as more:
        how = {**PERMUTATION_TEST, "groups": data.groups, "n_jobs": jobs, **settings,
               **(more or {})}  # fmt: skip
        test = permutation_test(data.X, data.y, candidates, **how)
    return facts_of(test) | {"frame": test.to_frame()}


def ask_on_disk(data, jobs, **settings):
    with on_disk(data) as source:
        return ask(source, jobs, **settings)


def find_relevant_on_disk(data, jobs, **settings):
    with on_disk(data) as source:
        return find_relevant(source, jobs, **settings)


def find_relevant(data, jobs, where=contextlib.nullcontext, **settings):
    with where() as more:
        how = {**RELEVANCE_TEST, "groups": data.groups, "n_jobs": jobs, **settings, **(more or {})}
        test = relevance_test(data.X, data.y, **how)
    return facts_of(test) | {"frame": test.to_frame()}


def information(data, jobs, columns, given=None, **settings):
    how = INFORMATION | settings | {"groups": data.groups}
    how["condition"] = None if given is None else data.X[given]
    return {"value": mutual_information(data.X[columns], data.y, **how)}


def of_each(data, jobs, given=None, where=contextlib.nullcontext, **settings):
    with where() as more:
        how = {**RELEVANCE, **settings, "groups": data.groups, "n_jobs": jobs, **(more or {})}
        how["condition"] = None if given is None else data.X[given]
        values = relevance(data.X, data.y, **how)
    return {"values": np.asarray(values), "names": list(getattr(values, "index", []))}


def of_each_on_disk(data, jobs, **settings):
    with on_disk(data) as source:
        return of_each(source, jobs, **settings)


def densities(data, jobs):
    """The entropy, and the estimators to compare with."""
    X, y = data.X[["b", "d"]], data.y
    return {
        "values": [
            entropy(X, n_neighbors=(3, 6), metric="euclidean"),
            entropy(y, n_neighbors=4, metric="chebyshev"),
            three_entropies(X, y, n_neighbors=(3, 6), metric="euclidean"),
            histogram(X["b"], y, bins=5),
            histogram(X["b"], y, bins="auto"),
            parzen(X["b"], y, bandwidth=0.4),
            parzen(X["b"], y, bandwidth="scott"),
        ]
    }


def choose(data, jobs, **settings):
    choice = choose_k(data.X, data.y, **{**CHOICE, "groups": data.groups, "n_jobs": jobs,
                                         **settings})  # fmt: skip
    return facts_of(choice) | {"frame": choice.to_frame()}


def halve(data, jobs, selector, **settings):
    how = {**STABILITY, "groups": data.groups, "n_jobs": jobs, **settings}
    found = stability(selector, data.X, data.y, **how)
    return facts_of(found) | {
        "frame": found.to_frame(),
        "stable": found.stable(max_false=1.0, assumption="r-concave"),
        "threshold": found.threshold(max_false=1.0, assumption="r-concave"),
        "expected": [
            found.expected_false(0.8, assumption=a) for a in ("r-concave", "unimodal", None)
        ],
    }


def halve_twice(data, jobs, selector, **settings):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "halves.json"
        first = halve(data, jobs, selector, checkpoint=path, **settings)
        kept = json.loads(path.read_text(encoding="utf-8"))
        again = halve(data, jobs, selector, checkpoint=path, **settings)
    parts = ("schema", "schema_version", "data", "n_samples", "seed", "halves")
    return first | {
        "kept": {name: kept[name] for name in parts},
        "keys": sorted(kept),
        "chosen again": again["chosen"],
    }


def cluster(data, jobs, **settings):
    clusters = FeatureClustering(**{**CLUSTERING, "n_jobs": jobs, **settings})
    clusters.fit(data.X, data.y, data.groups)
    return facts_of(clusters.result_) | {
        "values": clusters.representatives_,
        "frame": clusters.result_.to_frame(),
        "transformed": np.asarray(clusters.transform(data.X)),
    }


def wrong_neighbors(data, jobs, where=contextlib.nullcontext, **settings):
    with where() as more:
        how = {**FALSE_NEIGHBORS, **settings, "n_jobs": jobs, **(more or {})}
        return {"values": np.asarray(false_neighbors(data.X, data.y, **how)).sum(axis=0),
                "all": np.asarray(false_neighbors(data.X, data.y, **how))}  # fmt: skip


def curves(data, jobs, **settings):
    features = CurveFeatures(**{**CURVES, **settings}).fit(data.X)
    return {
        "axis": features.axis_,
        "columns": features.get_feature_names_out(),
        "transformed": np.asarray(features.transform(data.X)),
        "described": features.describe(),
    }


def documents(data, jobs):
    """Names in JSON, and parameters that provenance has: of each kind of record."""
    X, y = data.X, data.y
    chosen = MISelector(**SELECTOR | {"max_features": 1, "n_permutations": 29}).fit(X, y)
    few = {"n_permutations": 29}
    records = [
        chosen.result_,
        permutation_test(X, y, "b", **PERMUTATION_TEST | few),
        relevance_test(X, y, **RELEVANCE_TEST | few),
        choose_k(X, y, **CHOICE),
        stability(MISelector(**SELECTOR | {"max_features": 1} | few), X, y, **STABILITY),
        FeatureClustering(**CLUSTERING).fit(X, y).result_,
    ]
    facts = {}
    for record in records:
        content = json.loads(record.to_json())
        name = content["schema"]
        known = content["provenance"]
        assert facts_of(type(record).from_json(record.to_json())).keys() == facts_of(record).keys()
        known["parameters"].pop("n_jobs", None)
        facts |= {
            f"{name}: keys": sorted(content),
            f"{name}: version": content["schema_version"],
            f"{name}: provenance": sorted(known),
            f"{name}: parameters": known["parameters"],
        }
        if "steps" in content:
            facts |= {f"{name}: step": sorted(content["steps"][0])}
    return facts


# ---- the command

READ = {"--target": "y", "--missing": "auto", "--dates": "error", "--seed": "7"}
QUIET = {"--quiet": True}
ESTIMATES = {"--method": "ksg1", "--metric": "euclidean", "--scale": "standard"}
SEARCHES = {
    "--n-neighbors": "3,6", "--criterion": "cmi", "--search": "forward", "--stop": "fdr",
    "--alpha": "0.05", "--n-permutations": "auto", "--metric": "euclidean", "--scale": "standard",
    "--lookahead": "1",
}  # fmt: skip
OPTIONS = {
    "select": {
        **READ, **ESTIMATES, **SEARCHES, **QUIET,
        "--removal": "test", "--null": "local", "--correction": "max", "--resample": "none",
        "--statistic": "ksg",
        "--screen": "none", "--max-samples": "none", "--min-features": "0", "--device": "cpu",
    },
    "relevance-test": {
        **READ, **ESTIMATES, **QUIET,
        "--alpha": "0.05", "--n-permutations": "99", "--n-neighbors": "3,6", "--device": "cpu",
        "--scale": "normal-scores", "--statistic": "ksg",
    },
    "cluster": {
        **READ, **QUIET,
        "--n-clusters": "3", "--similarity": "supervised", "--correlation": "pearson",
        "--linkage": "representative", "--representative": "mean", "--connectivity": "none",
        "--scale": "standard", "--cv": "4",
    },
    "stability": {**READ, **SEARCHES, **QUIET, "--statistic": "ksg", "--n-resamples": "3"},
    "choose-k": {**READ, **ESTIMATES, "--n-neighbors": "2,6", "--n-folds": "5", "--device": "cpu"},
}  # fmt: skip
RESULTS = {
    "select": SelectionResult, "relevance-test": RelevanceTest, "cluster": ClusterResult,
    "stability": Stability, "choose-k": KChoice,
}  # fmt: skip


def call(arguments):
    """Exit status, standard output and standard error of the command, run in this process."""
    import infosieve.cli

    out, errors = io.StringIO(), io.StringIO()
    status = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        try:
            infosieve.cli.main([str(word) for word in arguments])
        except SystemExit as ended:
            status = ended.code or 0
    return status, out.getvalue(), errors.getvalue()


def words(options):
    """Options that are given; None: it is not, True: a flag."""
    for name, value in options.items():
        if value is True:
            yield name
        elif value is not None:
            yield from (name, value)


def command(data, jobs, name, in_a_file="", **options):
    """A run with --json, and what it writes besides; options are given as Python's keywords."""
    given = {f"--{key.replace('_', '-')}": value for key, value in options.items()}
    given = OPTIONS[name] | {"--jobs": jobs} | given
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        frame = data.X.assign(y=data.y)
        if data.groups is not None:
            frame["group"] = data.groups
        frame.to_csv("table.csv", index=False)
        if in_a_file:
            Path("options.toml").write_text(in_a_file, encoding="utf-8")
            given["--config"] = "options.toml"
        status, text, errors = call([name, "table.csv", *words(given), "--json"])
        assert status == 0, errors
        page = given.get("--html") is None or "<html" in Path(given["--html"]).read_text("utf-8")
        written = pd.read_csv(given["--out"]) if "--out" in given else None
    record = RESULTS[name].from_json(text)
    parameters = but(json.loads(text)["provenance"]["parameters"], "n_jobs", "model", "selector")
    return facts_of(record) | {
        "status": status,
        "page": page,
        "parameters": parameters,
        "written": None if written is None else list(written.columns),
        "values written": None if written is None else written.to_numpy().tolist(),
    }


WRONG = {
    "help": ["--help"],
    "no command": [],
    "unknown command": ["nothing"],
    "help of a command": ["select", "--help"],
    "no file": ["select"],
    "no target": ["select", "table.csv"],
    "a file that is not there": ["select", "none.csv", "--target", "y"],
    "a column that is not there": ["select", "table.csv", "--target", "z"],
    "an unknown option": ["select", "table.csv", "--target", "y", "--nothing"],
    "a wrong number": ["select", "table.csv", "--target", "y", "--alpha", "2"],
    "a wrong word": ["select", "table.csv", "--target", "y", "--stop", "soon"],
    "a word for a number": ["select", "table.csv", "--target", "y", "--cv", "many"],
    "a model without cv": ["select", "table.csv", "--target", "y", "--model", "SVC()"],
    "full and JSON": ["select", "table.csv", "--target", "y", "--full", "--json"],
    "an unknown ending": ["select", "table.csv", "--target", "y", "--out", "x.doc"],
    "out is the input": ["select", "table.csv", "--target", "y", "--out", "table.csv"],
    "no such column of groups": ["relevance-test", "table.csv", "--target", "y", "--groups", "z"],
    "two numbers of clusters": [
        "cluster", "table.csv", "--target", "y", "--n-clusters", "3", "--similarity-threshold", "0",
    ],
    "more clusters than columns": ["cluster", "table.csv", "--target", "y", "--n-clusters", "99"],
    "no halves": ["stability", "table.csv", "--target", "y", "--n-resamples", "0"],
    "one fold": ["choose-k", "table.csv", "--target", "y", "--n-folds", "1"],
    "no result": ["report", "table.csv"],
    "an unknown key of a file of options": [
        "select", "table.csv", "--target", "y", "--config", "wrong.toml",
    ],
}  # fmt: skip


def wrong_uses(data, jobs):
    """Exit statuses, and whether anything was printed on standard output."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        data.X.assign(y=data.y).to_csv("table.csv", index=False)
        Path("wrong.toml").write_text("nothing = 1\n")
        ended = {name: call(arguments) for name, arguments in WRONG.items()}
    return {"status": {name: status for name, (status, _, _) in ended.items()},
            "printed": {name: bool(text) for name, (_, text, _) in ended.items()}}  # fmt: skip


def pages(data, jobs):
    """Exit statuses of what writes pages: from documents, and everything at once."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        data.X.assign(y=data.y).to_csv("table.csv", index=False)
        status = {}
        for name in ("select", "relevance-test", "cluster", "stability"):
            status[name], text, _ = call([name, "table.csv", *words(OPTIONS[name]), "--json"])
            Path(f"{name}.json").write_text(text, encoding="utf-8")
        names = [f"{name}.json" for name in status]
        status["report"] = call(["report", *names, "--html", "all.html"])[0]
        asked = [*words(OPTIONS["select"]), "--full", "--html", "full.html"]
        status["full"] = call(["select", "table.csv", *asked])[0]
        whole = ["<html" in Path(n).read_text("utf-8") for n in ("all.html", "full.html")]
    return {"status": status, "pages": whole}


MISTAKES = {
    "an unknown word": lambda X, y: MISelector(stop="soon").fit(X, y),
    "a level of two": lambda X, y: MISelector(alpha=2).fit(X, y),
    "too few permutations": lambda X, y: MISelector(n_permutations=9).fit(X, y),
    "a negative seed": lambda X, y: MISelector(random_state=-1).fit(X, y),
    "no target": lambda X, y: MISelector().fit(X, None),
    "lengths that differ": lambda X, y: MISelector().fit(X, y[1:]),
    "a constant target": lambda X, y: MISelector().fit(X, 0 * y),
    "gaps that are refused": lambda X, y: MISelector(missing="error").fit(X.mask(X > 1), y),
    "pairs by parts of two": lambda X, y: MISelector(criterion="cmim", lookahead=2).fit(X, y),
    "more columns than there are": lambda X, y: MISelector(n_features_to_select=99).fit(X, y),
    "a model that is none": lambda X, y: MISelector(stop="cv", model=3).fit(X, y),
    "scores before cv": lambda X, y: MISelector(max_features=1).fit(X, y).cv_scores_,
    "not fitted": lambda X, y: MISelector().transform(X),
    "an unknown column": lambda X, y: permutation_test(X, y, "z"),
    "a column given itself": lambda X, y: permutation_test(X, y, "a", given="a"),
    "pairs, uncorrected": lambda X, y: permutation_test(X, y, ["a", "b"], pairs=True,
                                                        correction=None),
    "no neighbours": lambda X, y: mutual_information(X, y, n_neighbors=0),
    "too many neighbours": lambda X, y: relevance(X, y, n_neighbors=99),
    "an array of three dimensions": lambda X, y: relevance(np.zeros((30, 2, 2)), y),
    "repeated samples": lambda X, y: entropy(np.zeros(30)),
    "one fold": lambda X, y: choose_k(X, y, n_folds=1),
    "halves of a series": lambda X, y: stability(MISelector(series=True), X, y),
    "halves by no selector": lambda X, y: stability(LinearRegression(), X, y),
    "more clusters than columns": lambda X, y: FeatureClustering(99).fit(X, y),
    "a document of something else": lambda X, y: SelectionResult.from_json("{}"),
    "a file that is not there": lambda X, y: open_columns("none.parquet"),
}  # fmt: skip


def mistakes(data, jobs):
    """Of which kinds, which callers may catch, the errors are."""
    kinds = (ValueError, TypeError, AttributeError, LookupError, OSError)
    raised = {}
    for name, mistake in MISTAKES.items():
        try:
            mistake(data.X, data.y)
            raised[name] = None
        except Exception as error:
            raised[name] = [kind.__name__ for kind in kinds if isinstance(error, kind)]
    return {"status": raised}


# ---- cases

PUBLISHED = {"criterion": "mi", "stop": "permutation", "null": "global", "correction": None}
FEW = {"n_permutations": 39, "alpha": 0.1}
FIXED = {"stop": None, "max_features": 3}


def choosy(**settings):
    """A selector for halves of a table."""
    return MISelector(**SELECTOR | settings)


CASES = {
    # Criteria, and rules that end a search.
    "cmi": (select, numbers, {}),
    "mi": (select, numbers, {"criterion": "mi"}),
    "cmim": (select, many, {"criterion": "cmim", **FIXED}),
    "jmi": (select, many, {"criterion": "jmi", **FIXED}),
    "the published procedure": (select, numbers, {**PUBLISHED, "n_neighbors": "auto"}),
    "max-mi": (select, numbers, {"criterion": "mi", "stop": "max-mi", "method": "ksg2"}),
    "four, whatever tests say": (select, numbers, {"stop": "auto", "n_features_to_select": 4}),
    "nothing informative": (select, noise, {"stop": "permutation"}),
    "nothing informative, one kept": (select, noise, {"min_features": 1, "stop": "permutation"}),
    "no names, two targets": (select, arrays, {"metric": "chebyshev", **FEW}),
    "normal scores": (select, numbers, {"scale": "normal-scores", "n_neighbors": 4}),
    "own units": (select, numbers, {"scale": None, **FIXED}),
    # Tests.
    "global null": (select, numbers, {"null": "global", "stop": "permutation"}),
    "local, uncorrected": (select, numbers, {"correction": None, "stop": "permutation", **FEW}),
    "global, uncorrected, mi": (select, numbers, {**PUBLISHED, **FEW}),
    "means over folds": (select, numbers, {"resample": "cv", "n_neighbors": 4, **FEW}),
    "means over folds, uncorrected": (
        select, numbers, {"resample": "cv", "n_neighbors": 4, "correction": None, **FEW},
    ),
    "a number of permutations": (select, numbers, {"n_permutations": 99, "stop": "permutation"}),
    "copies and curves": (select, alike, {}),
    "a column that follows another": (
        select, waves, {"n_neighbors": (3, 15), "screen": "auto", "random_state": 0},
    ),
    "removal by a test": (
        select, summed, {"search": "forward-backward", "stop": "permutation"},
    ),
    "removal by mi": (
        select, summed,
        {"search": "forward-backward", "removal": "mi", "criterion": "mi", "stop": "max-mi"},
    ),
    "pairs": (select, joint, {"lookahead": 2}),
    "pairs, screened": (select, joint, {"lookahead": 2, "screen": 3}),
    "pairs, untested": (
        select, joint, {"lookahead": 2, "stop": "auto", "n_features_to_select": 3},
    ),
    # Screens and parts.
    "screen of three": (select, many, {"screen": 3}),
    "screen, uncorrected": (select, many, {"screen": 3, "correction": None, **FEW}),
    "screen as it comes": (select, many, {"screen": "auto", "lookahead": 2}),
    "parts": (select, many, {"max_samples": 50}),
    "a share of the samples, screened": (select, many, {"max_samples": 0.5, "screen": 4}),
    "parts as they come": (select, many, {"max_samples": "auto"}),
    # Rows that belong together, rows in time.
    "equal groups": (select, equal_groups, {}),
    "unequal groups": (select, unequal_groups, {"screen": 2}),
    "series": (select, in_time, {"series": True}),
    "series, screened, a window": (select, in_time, {"series": 4, "screen": 3}),
    "series of categories": (
        select, functools.partial(in_time, "categories"), {"series": True, **FEW},
    ),
    "series with gaps, pairs": (
        select, functools.partial(in_time, "gaps, pairs", 200), {"series": 2, "lookahead": 2},
    ),
    "a series that wanders": (
        select, functools.partial(in_time, "wandering"), {"series": True, **FEW},
    ),
    # Gaps and categories.
    "gaps as they come": (select, gaps, {}),
    "gaps are values": (select, gaps, {"missing": "value"}),
    "gaps are medians": (select, gaps, {"missing": "median", **FEW}),
    "samples with gaps left out": (select, gaps, {"missing": "drop", **FEW}),
    "gaps, screened": (select, gaps, {"screen": 3, **FEW}),
    "categories": (select, categories, {}),
    "declared categories": (
        select, categories, {"discrete_features": ["level", "count"], "discrete_target": True},
    ),
    # Prediction.
    "cv": (select_by_cv, numbers, {}),
    "cv of a given model": (select_by_cv, many, {"model": LinearRegression(), "max_features": 4}),
    "cv of classes": (
        select_by_cv, categories, {"criterion": "cmi", "scoring": "accuracy", "max_features": 3},
    ),
    "cv of classes, given model": (
        select_by_cv, lambda: table((known := numbers()).X, np.where(known.y > 0, "up", "down")),
        {"model": KNeighborsClassifier(3), "criterion": "cmim", "max_features": 3},
    ),
    "cv, tested": (select_by_cv, many, {"test": True, "max_features": 4, "screen": 4}),
    "cv of groups, gaps": (select_by_cv, equal_groups, {"criterion": "jmi", "max_features": 3}),
    "cv of a series": (
        select_by_cv, in_time, {"series": True, "criterion": "cmi", "max_features": 3},
    ),
    "alternatives": (select_with_alternatives, alike, {}),
    "alternatives, groups": (select_with_alternatives, equal_groups, {"screen": 2, **FEW}),
    # Where it is computed, and what is kept.
    "on disk": (select_on_disk, many, {"screen": 3}),
    "on disk, all estimated, pairs": (select_on_disk, joint, {"lookahead": 2}),
    "on disk, gaps": (select_on_disk, gaps, {"screen": 3, **FEW}),
    "gpu": (
        select, functools.partial(numbers, 40, 4),
        {"where": emulated_gpu, "max_features": 2, "correction": None, **FEW},
    ),
    "dask": (select, many, {"where": dask_workers, "screen": 3, **FEW}),
    "checkpoint": (select_twice, alike, {}),
    "checkpoint of cv": (
        select_twice, numbers,
        {"stop": "cv", "criterion": "auto", "cv": 3, "test": True, "max_features": 3},
    ),
    # Tests by themselves.
    "test of one column": (ask, numbers, {"candidates": "b", "n_permutations": 99}),
    "test of all": (ask, numbers, {"candidates": list("abcdef"), "alpha": None}),
    "test of each": (
        ask, numbers, {"candidates": list("abc"), "correction": None, "given": "d"},
    ),
    "test beside curves": (
        ask, alike, {"candidates": ["b", "near", "curve", "d"], "given": ["a", "copy"]},
    ),
    "test of pairs": (ask, joint, {"candidates": list("abcd"), "pairs": True}),
    "test of pairs, screened": (
        ask, joint, {"candidates": list("abcd"), "pairs": True, "screen": 2, "given": "e"},
    ),
    "test of pairs with a strong column": (
        ask, strong,
        {"candidates": list("abcd"), "pairs": True, "alpha": None, "given": "e"},
    ),
    "test of the published kind": (
        ask, numbers,
        {"candidates": "b", "given": "d", "criterion": "mi", "null": "global", "alpha": None,
         "n_permutations": 49},
    ),
    "test by folds": (
        ask, numbers,
        {"candidates": ["a", "b"], "resample": "cv", "n_neighbors": 4, **FEW},
    ),
    "test in parts, groups": (
        ask, equal_groups, {"candidates": ["a", "b"], "given": "c", "alpha": None},
    ),
    "test of screened columns on workers": (
        ask, many,
        {"candidates": list("abcdefghijkl"), "screen": 4, "max_samples": 50,
         "where": dask_workers},
    ),
    "relevant columns": (find_relevant, many, {"n_permutations": "auto"}),
    "test on disk, gaps": (
        ask_on_disk, gaps, {"candidates": ["c", "e", "text"], "given": ["b"], "screen": 2},
    ),
    "relevant, on disk": (find_relevant_on_disk, gaps, {}),
    "relevant, gaps": (find_relevant, gaps, {}),
    "relevant, categories": (find_relevant, categories, {}),
    "relevant, series": (find_relevant, in_time, {"series": True}),
    "relevant, unequal groups": (find_relevant, unequal_groups, {}),
    "relevant, own units": (find_relevant, numbers, {"scale": "standard", "n_neighbors": 5}),
    # Estimates.
    "information of a set": (information, numbers, {"columns": ["b", "d"]}),
    "information given columns": (information, numbers, {"columns": ["b"], "given": ["d", "e"]}),
    "information given columns, cmi": (
        information, numbers, {"columns": ["b"], "given": ["d"], "criterion": "cmi"},
    ),
    "information given columns, mi": (
        information, numbers,
        {"columns": ["b"], "given": ["d"], "criterion": "mi", "method": "ksg2"},
    ),
    "information, gaps": (information, gaps, {"columns": ["c", "e"], "given": ["text"]}),
    "information, groups": (information, unequal_groups, {"columns": ["b", "c"]}),
    "information, parts": (information, many, {"columns": ["b"], "max_samples": 50}),
    "of each": (of_each, alike, {}),
    "of each, given": (of_each, categories, {"given": ["colour"]}),
    "of each, series": (of_each, in_time, {"series": 3, "criterion": "cmi", "given": ["b"]}),
    "of each, gaps, on disk": (of_each_on_disk, gaps, {"metric": "chebyshev"}),
    "densities": (densities, numbers, {}),
    "choice of K": (choose, numbers, {}),
    "choice of K, groups": (choose, equal_groups, {"method": "ksg2"}),
    # Halves, clusters, curves.
    "halves": (halve, numbers, {"selector": choosy(**FEW)}),
    "halves of groups": (halve, equal_groups, {"selector": choosy(**FIXED)}),
    "checkpoint of halves": (halve_twice, numbers, {"selector": choosy(**FIXED)}),
    "clusters": (cluster, spectra, {}),
    "clusters along an axis": (
        cluster, spectra, {"connectivity": "chain", "representative": "pls", "n_clusters": 4},
    ),
    "clusters by cross-validation": (cluster, spectra, {"n_clusters": "auto", "cv": 3}),
    "clusters by rank correlation": (
        cluster, alike,
        {"similarity": "unsupervised", "correlation": "spearman", "linkage": "complete",
         "representative": "medoid", "n_clusters": None, "similarity_threshold": 0.5},
    ),
    "false neighbours": (wrong_neighbors, numbers, {}),
    "curves": (curves, spectra, {}),
    "curves on an axis": (
        curves, spectra, {"axis": tuple(np.arange(12.0) ** 1.5), "kinds": ["slope", "moments"]},
    ),
    # Documents and the command.
    "documents": (documents, functools.partial(numbers, 30, 4), {}),
    "command: select": (
        command, numbers, {"name": "select", "out": "few.csv", "html": "page.html"},
    ),
    "command: select, alternatives": (
        command, alike, {"name": "select", "alternatives": True, "screen": "3"},
    ),
    "command: select, gaps": (
        command, gaps,
        {"name": "select", "missing": "drop", "correction": "none", "n_permutations": "39"},
    ),
    "command: select, cv": (
        command, numbers,
        {"name": "select", "stop": "cv", "criterion": "auto", "model": "linear", "cv": "3",
         "test": True, "search": None, "removal": None},
    ),
    "command: select, categories": (
        command, lambda: table((known := categories()).X, known.y.rename("y")),
        {"name": "select", "categorical": "level", "max_features": "2"},
    ),
    "command: select, groups": (
        command, equal_groups, {"name": "select", "groups": "group", "alpha": "0.1"},
    ),
    "command: select, series": (command, in_time, {"name": "select", "series_window": "4"}),
    "command: select, a file of options": (
        command, numbers,
        {"name": "select", "alpha": None, "max_features": None, "screen": None,
         "in_a_file": "alpha = 0.01\nmax-features = 1\nscreen = 4\n"},
    ),
    "command: relevance": (command, gaps, {"name": "relevance-test", "out": "relevant.csv"}),
    "command: cluster": (command, spectra, {"name": "cluster", "out": "clusters.csv"}),
    "command: stability": (command, numbers, {"name": "stability", "max_features": "2"}),
    "command: choose-k": (command, numbers, {"name": "choose-k"}),
    "command: pages": (pages, functools.partial(numbers, 40, 4), {}),
    "mistakes": (mistakes, functools.partial(numbers, 30, 4), {}),
    "command: wrong uses": (wrong_uses, functools.partial(numbers, 30, 4), {}),
}  # fmt: skip


def facts(name, jobs=1):
    """The facts of a case, whatever it warns of."""
    kind, data, settings = CASES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kind(data(), jobs, **settings)
