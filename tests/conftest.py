import multiprocessing
import os
import signal

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from infosieve._core.settings import Settings
from infosieve._core.types import Batch
from infosieve._engines.cuda.engine import why_no_gpu
from infosieve._executors.threads import Threads
from infosieve._input.problem import open_problem
from infosieve._input.scaling import prepare
from infosieve.selection import _checkpoint as checkpoint

collect_ignore = ["emulated"]  # a CuPy that is none: it must not be found where nobody asks for it

settings.register_profile(
    "infosieve",
    deadline=None,
    print_blob=True,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],  # of a busy machine, nothing is learned by that
)
settings.register_profile("few", settings.get_profile("infosieve"), max_examples=10)
settings.load_profile("infosieve")


# Before Dask is imported, here and in processes that tests start: a busy machine may need long for
# a connection. Tests of what happens where nobody answers have less patience.
os.environ.setdefault("DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT", "600s")


def in_order(X, y):
    """The same samples in the order to which the door brings them, as plain loops need them."""
    rows = open_problem(X, y, Settings(missing="auto")).rows
    return (part.iloc[rows].reset_index(drop=True) if hasattr(part, "iloc") else part[rows]
            for part in (X, y))  # fmt: skip


def pytest_addoption(parser):
    parser.addoption("--engines", default="numba,cuda", help="engines to test: numba, cuda")


def pytest_configure(config):
    config.addinivalue_line("markers", "engine(name): needs an engine")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # started in the background of a shell
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config, items):
    wanted = config.getoption("--engines").split(",")
    if not set(wanted) <= {"numba", "cuda"}:
        raise pytest.UsageError(f"--engines must name numba or cuda, or both; got {wanted}")
    reason = why_no_gpu() if any(item.get_closest_marker("engine") for item in items) else None
    for item in items:
        marker = item.get_closest_marker("engine")
        if marker is None:
            continue
        if marker.args[0] not in wanted:
            item.add_marker(pytest.mark.skip(reason=f"--engines does not name {marker.args[0]}"))
        elif marker.args[0] == "cuda" and reason is not None:
            item.add_marker(pytest.mark.skip(reason=f"no GPU: {reason}"))


def column(kind, n, rng):
    """A raw column of one of the kinds that real tables have."""
    if kind == "normal":
        return rng.normal(size=n)
    if kind == "heavy":
        return rng.standard_cauchy(n)
    if kind == "rounded":
        return np.round(rng.normal(size=n), 1)
    if kind == "integers":
        return rng.poisson(3.0, n).astype(float)
    if kind == "binary":
        return rng.integers(0, 2, n).astype(float)
    if kind == "category":
        return rng.integers(0, 3, n).astype(float)
    if kind == "gaps":
        return np.where(rng.random(n) < 0.3, np.nan, np.round(rng.normal(size=n), 1))
    raise ValueError(kind)


KINDS = ["normal", "heavy", "rounded", "integers", "binary", "category", "gaps"]


def columns(kinds, n, rng, scale="standard"):
    """Prepared columns of the given kinds; related to each other by what they share."""
    values = np.array([column(kind, n, rng) for kind in kinds]).reshape(len(kinds), n)
    categorical = np.array([kind == "category" for kind in kinds], bool)
    return prepare(values, categorical, scale, 3, Threads(1))


def make_batch(x, s, y, n, seed, **options):
    rng = np.random.default_rng(seed)
    parts = (columns(kinds, n, rng) for kinds in (x, s, y))
    return Batch(*parts, **options)


@pytest.fixture
def rng():
    return np.random.default_rng(20090101)


@pytest.fixture
def ctrl_c():
    """Python's own answer to SIGINT: whoever ran before may have another."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def ctrl_c_while_writing(monkeypatch):
    """A function: Ctrl-C comes while a checkpoint is written for the n-th time."""

    def at(number):
        written, write = [], checkpoint.write_atomically

        def interrupted(*arguments):
            written.append(1)
            if len(written) == number:
                raise KeyboardInterrupt
            write(*arguments)

        monkeypatch.setattr(checkpoint, "write_atomically", interrupted)

    return at


@pytest.fixture
def as_a_reader(tmp_path, monkeypatch):
    """In an empty folder, without windows."""
    import matplotlib
    import matplotlib.pyplot as plt

    monkeypatch.chdir(tmp_path)
    backend = matplotlib.get_backend()
    matplotlib.use("Agg")
    monkeypatch.setattr(plt, "show", lambda: None)
    yield
    plt.close("all")
    matplotlib.use(backend)


@pytest.fixture(scope="session")
def forked_workers():
    """Dask's workers fork from a process that has imported what they need, where systems can."""
    import dask
    from distributed.utils import get_mp_context

    if "forkserver" not in multiprocessing.get_all_start_methods():
        yield
        return
    with dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}):
        get_mp_context().set_forkserver_preload(
            ["distributed", "infosieve.clustering", "infosieve.selection", "infosieve.significance",
             "pyarrow.parquet"]
        )  # fmt: skip
        yield
