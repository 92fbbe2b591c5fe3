"""The fast engines against plain loops, on every search structure and at every switch."""

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import naive
import numpy as np
import pytest
from conftest import KINDS, columns, make_batch
from hypothesis import example, given
from hypothesis import strategies as st

from infosieve import (
    MISelector,
    choose_k,
    false_neighbors,
    permutation_test,
    relevance,
    relevance_test,
)
from infosieve._core.types import Batch
from infosieve._engines.cuda import engine as cuda_engine
from infosieve._engines.numba import engine as numba_engine
from infosieve._executors.threads import Threads
from infosieve._input.scaling import prepare
from infosieve._scoring.mixed import score
from infosieve.datasets import make_friedman

ONE = Threads(1)
ENGINES = {
    "numba": (numba_engine, numba_engine.NumbaEngine),
    "cuda": (cuda_engine, cuda_engine.CudaEngine),
}

# What forces a path: constants of the engine, as it would choose them at other sizes.
PATHS = {
    "numba": {},
    "numba, lists": {"_sharing_pays": lambda batch: True},
    "numba, short lists": {
        "_sharing_pays": lambda batch: True,
        "_list_lengths": lambda n, batch: (3, 2),
    },
    "numba, trees": {"_sharing_pays": lambda batch: False},
    "numba, narrow strips": {"_strip_width": lambda n, k, n_distinct: 16},
    "cuda": {},
    "cuda, short lists": {"_room": lambda want, n: 8},
    "cuda, small pieces": {"_SHARE": 1e-9},
}


def engine_named(path, patch):
    name = path.partition(",")[0]
    for constant, value in PATHS[path].items():
        patch.setattr(ENGINES[name][0], constant, value)
    return ENGINES[name][1]()


def marked(names):
    return [pytest.param(n, marks=pytest.mark.engine(n.partition(",")[0])) for n in names]


@pytest.fixture(params=marked(PATHS))
def engine_on_a_path(request, monkeypatch):
    return engine_named(request.param, monkeypatch)


@pytest.fixture(params=marked(ENGINES))
def engine(request):
    return ENGINES[request.param][1]()


def flags_of(columns):
    """What the naive twin is told of columns."""
    return np.where(columns.categorical, 1, np.where(columns.labelled, naive.GAPS, 0))


def expected(batch, ks):
    flags = [flags_of(c) for c in (batch.candidates, batch.given, batch.target)]
    return np.array(
        [
            naive.information(
                batch.candidates.values[j : j + 1],
                batch.given.values,
                batch.target.values,
                np.arange(ks[0], ks[1] + 1),
                batch.criterion,
                batch.method,
                batch.metric,
                ([flags[0][j]], flags[1], flags[2]),
            )
            for j in range(batch.n_candidates)
        ]
    )


METHODS = [("mi", "ksg1"), ("mi", "ksg2"), ("cmi", "ksg1"), ("gain", "ksg1")]


@pytest.mark.parametrize("metric", ["euclidean", "chebyshev"])
@pytest.mark.parametrize(("criterion", "method"), METHODS)
@pytest.mark.parametrize("n_selected", range(6))
def test_agrees_with_the_plain_loop(engine_on_a_path, metric, criterion, method, n_selected):
    for n, n_targets, ks in ((2, 1, (1, 1)), (9, 2, (1, 8)), (60, 1, (3, 10)), (61, 2, (2, 4))):
        batch = make_batch(
            ["normal"] * 3,
            ["normal"] * n_selected,
            ["normal"] * n_targets,
            n,
            n_selected,
            criterion=criterion,
            method=method,
            metric=metric,
            n_neighbors=ks,
        )
        fast = engine_on_a_path.score(batch, ONE)[0]
        np.testing.assert_allclose(fast, expected(batch, ks), rtol=0, atol=1e-12)


@pytest.mark.parametrize("path_name", marked(PATHS))
@given(
    x=st.lists(st.sampled_from(KINDS), min_size=1, max_size=3),
    s=st.lists(st.sampled_from(KINDS), max_size=3),
    y=st.lists(st.sampled_from(KINDS), min_size=1, max_size=2),
    n=st.integers(2, 40),
    seed=st.integers(0, 10**6),
    lo=st.integers(1, 4),
    more=st.integers(0, 6),
    form=st.sampled_from(METHODS),
    metric=st.sampled_from(["euclidean", "chebyshev"]),
)
@example(["category"], [], ["category"], 30, 0, 3, 7, ("mi", "ksg1"), "euclidean")
@example(["category"], ["category"], ["category"], 30, 0, 3, 7, ("cmi", "ksg1"), "euclidean")
@example(["binary"], ["binary"], ["binary"], 40, 0, 3, 7, ("mi", "ksg2"), "euclidean")
@example(["category"], ["normal"], ["category"], 12, 1, 1, 6, ("mi", "ksg1"), "chebyshev")
@example(["gaps", "gaps"], [], ["category"], 40, 2, 2, 5, ("mi", "ksg1"), "euclidean")
@example(
    ["gaps", "normal"], ["gaps", "gaps"], ["normal"], 40, 3, 2, 5, ("gain", "ksg1"), "euclidean"
)
@example(["gaps"], ["gaps", "category"], ["category"], 40, 4, 1, 3, ("cmi", "ksg1"), "chebyshev")
def test_agrees_with_ties_and_categories(path_name, x, s, y, n, seed, lo, more, form, metric):
    lo = min(lo, n - 1)
    ks = (lo, min(lo + more, n - 1))
    batch = make_batch(
        x, s, y, n, seed, criterion=form[0], method=form[1], metric=metric, n_neighbors=ks
    )
    with pytest.MonkeyPatch.context() as patch:
        fast = score(batch, engine_named(path_name, patch), ONE)[0]
    np.testing.assert_allclose(fast, expected(batch, ks), rtol=0, atol=1e-12)


@pytest.mark.parametrize("n", [1000, 3000])
@pytest.mark.parametrize("kinds", [["normal"], ["integers"], ["binary"], ["heavy"]])
@pytest.mark.parametrize("method", ["ksg1", "ksg2"])
def test_agrees_for_thousands_of_samples_in_the_plane(engine, n, kinds, method):
    batch = make_batch(kinds, [], ["normal"], n, 7, n_neighbors=(4, 5), method=method)
    fast = engine.score(batch, ONE)[0]
    np.testing.assert_allclose(fast, expected(batch, (4, 5)), rtol=0, atol=1e-12)


SLOW = {}


@pytest.mark.parametrize("n", [2047, 2049])
@pytest.mark.parametrize("criterion", ["mi", "cmi", "gain"])
def test_agrees_for_thousands_of_samples_in_sets(engine_on_a_path, n, criterion):
    batch = make_batch(
        ["normal"] * 4,
        ["normal", "rounded"],
        ["normal"],
        n,
        8,
        criterion=criterion,
        n_neighbors=(5, 5),
    )
    if (n, criterion) not in SLOW:  # the plain loops take seconds: once for all paths
        SLOW[n, criterion] = expected(batch.only(np.arange(1)), (5, 5))
    got = engine_on_a_path.score(batch, ONE)[0]
    np.testing.assert_allclose(got[:1], SLOW[n, criterion], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(got, numba_engine.NumbaEngine().score(batch, ONE)[0])


def test_what_is_chosen():
    """Many candidates share lists; few, or few dimensions and many samples, have trees."""

    def pays(n_candidates, n_selected, n):
        return numba_engine._sharing_pays(
            make_batch(["normal"] * n_candidates, ["normal"] * n_selected, ["normal"], n, 0)
        )

    assert pays(20, 4, 100)
    assert pays(20, 4, 3000)
    assert not pays(1, 4, 100)
    assert not pays(1, 4, 3000)
    assert not pays(10, 1, 5000)
    assert not pays(40, 4, numba_engine.MAX_ROWS + 1)


@pytest.mark.parametrize("metric", ["euclidean", "chebyshev"])
@pytest.mark.parametrize(("criterion", "method"), METHODS)
@pytest.mark.parametrize("n_selected", [0, 1, 3])
def test_all_structures_give_the_same_bits(engine_on_a_path, metric, criterion, method, n_selected):
    batch = make_batch(
        ["normal", "rounded", "heavy", "binary", "normal"],
        ["normal", "integers", "category"][:n_selected],
        ["normal"],
        500,
        3,
        criterion=criterion,
        method=method,
        metric=metric,
    )
    reference = numba_engine.NumbaEngine().score(batch, ONE)
    np.testing.assert_array_equal(engine_on_a_path.score(batch, ONE), reference)


@pytest.mark.parametrize("n_selected", [0, 3])
@pytest.mark.parametrize("n_candidates", [1, 5, 40])
def test_threads_and_chunks_change_nothing(engine, monkeypatch, n_selected, n_candidates):
    batch = make_batch(
        ["normal"] * n_candidates, ["rounded"] * n_selected, ["normal"], 300, 5, n_neighbors=(2, 6)
    )
    reference = engine.score(batch, ONE)
    for n_jobs in (2, 3):
        np.testing.assert_array_equal(engine.score(batch, Threads(n_jobs)), reference)
    monkeypatch.setattr(numba_engine, "chunks", lambda n, size: [slice(i, i + 1) for i in range(n)])
    np.testing.assert_array_equal(engine.score(batch, Threads(2)), reference)


def test_a_range_of_k_is_each_k_in_one_search(engine_on_a_path):
    engine = engine_on_a_path
    batch = make_batch(["normal"] * 4, ["normal"], ["normal"], 80, 6, n_neighbors=(2, 9))
    together = engine.score(batch, ONE)[0]
    for k in range(2, 10):
        single = make_batch(["normal"] * 4, ["normal"], ["normal"], 80, 6, n_neighbors=(k, k))
        np.testing.assert_array_equal(engine.score(single, ONE)[0][:, 0], together[:, k - 2])


@pytest.mark.parametrize("kinds", [["normal", "rounded"] * 3, ["category", "normal", "binary"]])
@pytest.mark.parametrize("given", [[], ["normal"]])
@pytest.mark.parametrize(
    ("n", "n_folds", "ks"), [(60, 3, (1, 4)), (60, 20, (2, 11)), (9, 9, (1, 7))]
)
def test_samples_without_a_part_are_scored_as_if_alone(engine, kinds, given, n, n_folds, ks):
    batch = make_batch(kinds, given, ["normal"], n, 9, n_neighbors=ks)
    folds = np.random.default_rng(0).permutation(n) % n_folds
    scores = score(replace(batch, folds=folds), engine, ONE)
    assert scores.shape == (n_folds, len(kinds), ks[1] - ks[0] + 1)
    for fold, one in enumerate(scores):
        rows = np.flatnonzero(folds != fold)
        np.testing.assert_array_equal(score(batch.rows(rows), engine, ONE)[0], one)


def test_neighbours_that_all_belong_to_one_part(engine):
    """More of one fold near a point than any spare list holds: the search must go on."""
    rng = np.random.default_rng(2)
    x = np.concatenate([rng.normal(0, 1e-3, 30), rng.normal(5, 1, 70)])
    y = np.concatenate([rng.normal(0, 1e-3, 30), rng.normal(5, 1, 70)])
    folds = np.concatenate([np.zeros(30, int), rng.integers(1, 10, 70)])
    prepared = [prepare(v[None], np.zeros(1, bool), "standard", 0, ONE) for v in (x, y)]
    batch = Batch(prepared[0], prepared[0].take([]), prepared[1], n_neighbors=(2, 12))
    together = engine.score(replace(batch, folds=folds), ONE)
    for fold, one in enumerate(together):
        rows = np.flatnonzero(folds != fold)
        np.testing.assert_array_equal(engine.score(batch.rows(rows), ONE)[0], one)


def test_permuted_copies_are_scored_as_columns_of_their_own(engine_on_a_path, rng):
    for known in ([], ["normal"]):
        batch = make_batch(["rounded", "normal"], known, ["normal"], 70, 10, n_neighbors=(3, 5))
        orders = np.array([rng.permutation(70) for _ in range(20)], np.int32)
        permuted = batch.candidates.permuted(orders)
        np.testing.assert_array_equal(permuted.values[::2], batch.candidates.values[0][orders])
        scores = engine_on_a_path.score(replace(batch, permutations=orders), ONE)[0]
        assert scores.shape == (40, 3)
        apart = engine_on_a_path.score(replace(batch, candidates=permuted), ONE)[0]
        np.testing.assert_array_equal(scores, apart)
        want = expected(replace(batch, candidates=permuted.take([7])), (3, 5))
        np.testing.assert_allclose(scores[7:8], want, rtol=0, atol=1e-12)


@pytest.mark.parametrize("criterion", ["mi", "cmi", "gain"])
def test_candidates_of_several_columns(engine, criterion):
    rng = np.random.default_rng(1)
    x, s, y = (
        columns(["normal"] * 4, 50, rng),
        columns(["normal"], 50, rng),
        columns(["normal"], 50, rng),
    )
    batch = Batch(x, s, y, criterion, n_neighbors=(3, 3), width=2)
    for j, got in enumerate(engine.score(batch, ONE)[0]):
        pair = x.values[2 * j : 2 * j + 2]
        want = naive.information(pair, s.values, y.values, 3, criterion)
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-12)


def test_exact_duplicates_at_distance_zero(engine_on_a_path):
    engine = engine_on_a_path
    # Noise keeps samples apart, but an engine may still be given equal ones.
    from infosieve._core.types import Columns

    rng = np.random.default_rng(2)
    values = rng.integers(0, 2, (7, 40)).astype(float)

    def raw(rows):
        flags = np.zeros(len(rows), bool)
        return Columns(values[rows], flags, np.full(len(rows), 2))

    for s in ([], [5], [4, 5]):
        for criterion, method in METHODS:
            batch = Batch(
                raw([0, 1, 2, 3]), raw(s), raw([6]), criterion, method, "euclidean", (1, 12)
            )
            np.testing.assert_allclose(
                engine.score(batch, ONE)[0], expected(batch, (1, 12)), rtol=0, atol=1e-12
            )
            one = batch.only(np.array([1]))
            np.testing.assert_allclose(
                engine.score(one, ONE)[0], expected(one, (1, 12)), rtol=0, atol=1e-12
            )


def test_a_block_of_zero_extent(engine):
    # With KSG2 a categorical target has a rectangle of no height, which is not distance zero.
    batch = make_batch(["normal"] * 4, ["normal"], ["category"], 30, 4, method="ksg2")
    assert_same = np.testing.assert_allclose
    assert_same(engine.score(batch, ONE)[0], expected(batch, (3, 10)), rtol=0, atol=1e-12)
    one = batch.only(np.array([0]))
    assert_same(engine.score(one, ONE)[0], expected(one, (3, 10)), rtol=0, atol=1e-12)


def test_outliers_among_several_targets(engine):
    # All other distances fall into one cell of the lists' counting sort.
    batch = make_batch(["normal"] * 4, ["normal"], ["normal"] * 2, 300, 11, n_neighbors=(3, 4))
    for fold in (batch.given, batch.target):
        fold.values[0, 7] = 1e6
    for criterion in ("mi", "cmi", "gain"):
        changed = replace(batch, criterion=criterion)
        np.testing.assert_allclose(
            engine.score(changed, ONE)[0], expected(changed, (3, 4)), rtol=0, atol=1e-12
        )


# ---- the GPU and what stands in for it

FORMS = [
    Batch(*[columns(["normal"] * m, 5, np.random.default_rng(0)) for m in (1, s, 1)], *how)
    for s, how in [
        (0, ("mi", "ksg1", "chebyshev", (5, 5))),
        (2, ("mi", "ksg2", "euclidean", (2, 20))),
        (2, ("gain", "ksg1", "euclidean", (3, 15))),
        (2, ("cmi", "ksg1", "euclidean", (1, 32))),
    ]
]


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")
@pytest.mark.parametrize("batch", FORMS, ids=["strips", "rectangle", "gain", "32 neighbours"])
def test_the_kernels_compile(batch, tmp_path):
    source = Path(cuda_engine.__file__).parent / "kernels.cu"
    options = [f"-D{name}={value}" for name, value in cuda_engine.form_of(batch)]
    command = [
        "nvcc",
        "-ptx",
        "--fmad=false",
        "-std=c++17",
        "-arch=sm_80",
        "-Werror",
        "all-warnings",
    ]
    subprocess.run([*command, *options, source, "-o", tmp_path / "kernels.ptx"], check=True)
    ptx = (tmp_path / "kernels.ptx").read_text()
    assert "fma.rn.f64" not in ptx
    for name in ("strips", "given", "lists", "fill", "false_neighbors"):
        assert f".entry {name}(" in ptx


def data():
    X, y = make_friedman(150, 12, random_state=0, return_X_y=True)
    X[:, 7] = np.round(3 * X[:, 7])
    return X, y


@pytest.mark.engine("cuda")
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"search": "forward-backward", "stop": "permutation", "alpha": 0.3},
        {"n_neighbors": "auto", "criterion": "mi", "null": "global", "correction": None},
        {"resample": "cv", "n_neighbors": 4, "lookahead": 1, "max_features": 2},
        {"metric": "chebyshev", "criterion": "mi", "method": "ksg2"},
        {"n_neighbors": (2, 32), "max_features": 2},
    ],
)
def test_a_selection_on_the_gpu_has_the_same_bits(how):
    X, y = data()
    for target in (y, np.c_[y, X[:, 1]], np.where(y > np.median(y), "high", "low")):
        ours, theirs = (
            MISelector(**how, random_state=0, device=device).fit(X, target)
            for device in ("cuda", "cpu")
        )
        assert ours.result_.steps == theirs.result_.steps
        assert ours.relevance_.tolist() == theirs.relevance_.tolist()
        assert ours.result_.provenance.parameters["device"].startswith("cuda (")


@pytest.mark.engine("cuda")
def test_functions_on_the_gpu_have_the_same_bits(monkeypatch):
    monkeypatch.setattr("infosieve._engines.devices.WORTHWHILE", 0)
    X, y = data()
    for device in ("cuda", "auto"):
        assert np.array_equal(relevance(X, y, device=device), relevance(X, y))
        ours = choose_k(X, y, random_state=0, device=device)
        assert np.array_equal(ours.mi, choose_k(X, y, random_state=0).mi)
        how = {"given": [3], "null": "local", "random_state": 0}
        ours = permutation_test(X, y, [1, 2], device=device, **how)
        assert np.array_equal(ours.null, permutation_test(X, y, [1, 2], **how).null)
        for target in (y, np.c_[y, X[:, 0]], np.where(y > np.median(y), "a", "b")):
            ours = false_neighbors(X, target, device=device)
            assert np.array_equal(ours, false_neighbors(X, target))
    assert ours.dtype == np.int64
    ragged = np.repeat(X[:40], 4, axis=0), np.repeat(y[:40], 4)
    assert np.array_equal(false_neighbors(*ragged, device="cuda"), false_neighbors(*ragged))


@pytest.mark.engine("cuda")
def test_too_little_memory_means_smaller_pieces(monkeypatch):
    import cupy

    batch = make_batch(["normal"] * 50, ["normal"], ["normal"], 200, 0)
    whole = cuda_engine.CudaEngine().score(batch, ONE)
    original, budgets = cuda_engine._sums, []

    def short(batch, budget):
        budgets.append(budget)
        if len(budgets) < 3:
            raise cupy.cuda.memory.OutOfMemoryError(1 << 40, 0, 0)
        return original(batch, budget)

    monkeypatch.setattr(cuda_engine, "_sums", short)
    assert np.array_equal(cuda_engine.CudaEngine().score(batch, ONE), whole)
    assert budgets[0] > 4 * budgets[1] - 4 >= 16 * budgets[2] - 20
    monkeypatch.setattr(cuda_engine, "_LEAST", 1 << 60)
    budgets.clear()
    with pytest.raises(MemoryError, match=r"too little free memory .* or use device='cpu'"):
        cuda_engine.CudaEngine().score(batch, ONE)


@pytest.mark.skipif(cuda_engine.why_no_gpu() is None, reason="there is a GPU")
def test_without_a_gpu_it_is_said_and_auto_takes_the_cpu():
    X, y = data()
    calls = [
        lambda device: MISelector(device=device).fit(X, y),
        lambda device: relevance(X, y, device=device),
        lambda device: choose_k(X, y, device=device),
        lambda device: permutation_test(X, y, 1, device=device),
        lambda device: false_neighbors(X, y, device=device),
    ]
    for call in calls:
        with pytest.raises(RuntimeError, match=r"'device' parameter is 'cuda', but .*'auto'"):
            call("cuda")
        with pytest.raises(ValueError, match=r"'device' parameter must be one of 'cpu', 'cuda'"):
            call("gpu")
    selector = MISelector(device="auto", max_features=1, random_state=0).fit(X, y)
    assert selector.result_.provenance.parameters["device"] == "cpu"


@pytest.mark.parametrize(
    ("version", "count", "message"),
    [
        ((12_040, 13_000), 1, r"driver is for CUDA 12, CuPy for CUDA 13.*cupy-cuda12x"),
        ((13_000, 13_000), 0, "no NVIDIA GPU is visible"),
        (None, 0, r"GPU, or no compiler for it, answers \(cudaErrorInsufficientDriver\)"),
    ],
)
def test_what_is_wrong_with_a_gpu(version, count, message, monkeypatch):
    import re
    import types

    def fail():
        raise RuntimeError("cudaErrorInsufficientDriver")

    runtime = types.SimpleNamespace(getDeviceCount=(lambda: count) if version else fail)
    if version:
        runtime.driverGetVersion, runtime.runtimeGetVersion = (lambda v=v: v for v in version)
    nvrtc = types.SimpleNamespace(getVersion=lambda: (13, 0))
    cuda = types.SimpleNamespace(runtime=runtime, nvrtc=nvrtc)
    monkeypatch.setitem(sys.modules, "cupy", types.SimpleNamespace(cuda=cuda))
    assert re.search(message, cuda_engine.why_no_gpu())


def test_auto_takes_a_gpu_where_it_pays(monkeypatch):
    from infosieve._engines import devices

    monkeypatch.setattr(cuda_engine, "why_no_gpu", lambda: None)
    enough = int(devices.WORTHWHILE / 1000)

    def chosen(device, n, m, k):
        return type(devices.engine_of(device, ONE, n, m, k)).__name__

    assert chosen("auto", 1000, enough, 15) == "CudaEngine"
    assert devices.engine_of("auto", ONE, 1000, enough, 15).or_cpu
    assert chosen("auto", 1000, enough - 1, 15) == "NumbaEngine"
    assert chosen("auto", 1000, enough, 33) == "NumbaEngine"
    assert chosen("auto", devices.MOST_SAMPLES + 1, enough, 15) == "NumbaEngine"
    assert chosen("cuda", 2, 1, 32) == "CudaEngine"
    with pytest.raises(ValueError, match=r"'cpu' for more than 32 neighbours.*Got 40"):
        devices.engine_of("cuda", ONE, 2, 1, 40)


def test_what_the_gpu_cannot_do_the_cpu_does(monkeypatch):
    """Too little memory under "auto", many samples of few classes, sets of columns."""

    def no_memory(work):
        raise MemoryError("no memory")

    monkeypatch.setattr(cuda_engine, "_within_memory", no_memory)
    batch = make_batch(["normal"] * 3, ["normal"], ["normal"], 60, 0)
    want = numba_engine.NumbaEngine().score(batch, ONE)
    assert np.array_equal(cuda_engine.CudaEngine(or_cpu=True).score(batch, ONE), want)
    with pytest.raises(MemoryError):
        cuda_engine.CudaEngine().score(batch, ONE)
    monkeypatch.setattr(cuda_engine, "_MANY", 50)
    classes = make_batch(["normal"] * 3, [], ["binary"], 60, 0)
    want = numba_engine.NumbaEngine().score(classes, ONE)
    assert np.array_equal(cuda_engine.CudaEngine().score(classes, ONE), want)


@pytest.mark.engine("cuda")
@pytest.mark.parametrize("n", [7, 13, 14, 30, 31, 60, 62])
def test_other_categories_stay_infinitely_far_in_full_lists(n):
    wrong_lists(n, range(6))


def wrong_lists(n, seeds):
    """Lists that hold everybody: those of another category, and padding, come last."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        given = columns(["category", "normal"], n, rng)
        given.values[0] = np.where(np.arange(n) < 0.7 * n, 0.0, 1e200)
        folds = columns(["normal"] * 3, n, rng), given, columns(["normal"], n, rng)
        for criterion in ("mi", "cmi", "gain"):
            for k in (max(1, n // 2), int(0.7 * n) - 1):
                batch = Batch(*folds, criterion, n_neighbors=(1, min(k, 32)))
                want = numba_engine.NumbaEngine().score(batch, ONE)
                assert np.array_equal(cuda_engine.CudaEngine().score(batch, ONE), want)


# ---- the kernels on a CPU, thread by thread


@pytest.fixture
def emulated(monkeypatch):
    """The CUDA engine on a CuPy that compiles kernels for the CPU."""
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed")
    monkeypatch.syspath_prepend(str(Path(__file__).parent / "emulated"))
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    cuda_engine._module.cache_clear()
    yield monkeypatch
    cuda_engine._module.cache_clear()
    sys.modules.pop("cupy", None)


@pytest.mark.parametrize("metric", ["euclidean", "chebyshev"])
@pytest.mark.parametrize(("criterion", "method"), METHODS)
@pytest.mark.parametrize("given", [[], ["normal"], ["rounded", "category"]])
def test_emulated_kernels_have_the_same_bits(emulated, metric, criterion, method, given):
    how = {"criterion": criterion, "method": method, "metric": metric, "n_neighbors": (2, 6)}
    reference, ours = numba_engine.NumbaEngine(), cuda_engine.CudaEngine()
    for n, target, seed in ((14, ["normal"], 0), (30, ["binary"], 1), (13, ["normal"] * 2, 2)):
        if "category" in given and n < 30:
            continue
        batch = make_batch(["normal", "binary", "heavy"], given, target, n, seed, **how)
        want = reference.score(batch, ONE)
        np.testing.assert_array_equal(ours.score(batch, ONE), want)
        with emulated.context() as tight:
            tight.setattr(cuda_engine, "_room", lambda want, n: 4)
            tight.setattr(cuda_engine, "_SHARE", 1e-9)
            np.testing.assert_array_equal(ours.score(batch, ONE), want)
    rng = np.random.default_rng(0)
    orders = np.array([rng.permutation(14) for _ in range(12)], np.int32)
    batch = make_batch(["normal"] * 3, given[:1], ["normal"], 14, 0, **how)
    batch = replace(batch, permutations=orders)
    np.testing.assert_array_equal(ours.score(batch, ONE), reference.score(batch, ONE))


@pytest.mark.parametrize("n", [13, 14, 30, 31])
def test_emulated_categories_stay_infinitely_far_in_full_lists(emulated, n):
    wrong_lists(n, range(3))


def test_emulated_false_neighbors(emulated):
    X, y = data()
    for target in (y[:40], np.c_[y, X[:, 0]][:40], np.where(y > np.median(y), "a", "b")[:40]):
        ours = false_neighbors(X[:40], target, device="cuda")
        assert np.array_equal(ours, false_neighbors(X[:40], target))


def test_an_emulated_selection(emulated):
    X, y = data()
    how = {"n_neighbors": (3, 5), "n_permutations": 99, "max_features": 2, "random_state": 0}
    how |= {"lookahead": 1, "correction": None}
    ours, theirs = (
        MISelector(**how, device=device).fit(X[:40, :4], y[:40]) for device in ("cuda", "cpu")
    )
    assert ours.result_.steps == theirs.result_.steps
    assert ours.result_.provenance.parameters["device"] == "cuda (emulated)"
    assert "device" not in ours.result_._repr_html_().partition("MISelector(")[2][:200]


def test_an_emulated_test_of_every_column(emulated):
    X, y = data()
    X = np.c_[X[:30, :3], np.arange(30) // 12]  # shared draws, and one column by itself
    how = {"n_neighbors": (3, 5), "n_permutations": 80, "random_state": 0}
    ours, theirs = (relevance_test(X, y[:30], **how, device=d) for d in ("cuda", "cpu"))
    assert ours.device == "cuda (emulated)"
    assert ours.shared.tolist() == [True, True, True, False]
    assert ours.to_frame().equals(theirs.to_frame())
