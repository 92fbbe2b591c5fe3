"""Workers in processes of their own: the same bits as threads, whatever happens to them."""

import asyncio
import gc
import os
import pickle
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager, nullcontext

import dask
import numpy as np
import pandas as pd
import pytest
from command import A_LONG_TIME
from distributed import Client, LocalCluster, Security
from distributed.comm import CommClosedError
from sklearn.base import clone

from infosieve import (
    FeatureClustering,
    MISelector,
    choose_k,
    open_columns,
    permutation_test,
    relevance,
)
from infosieve._core.progress import Progress
from infosieve._executors import dask as executor_module
from infosieve._executors.dask import Dask, _Blocks, _Shared
from infosieve._executors.threads import Threads
from infosieve.datasets import make_copies, make_friedman, make_xor

pytestmark = [
    pytest.mark.usefixtures("forked_workers"),
    pytest.mark.filterwarnings("ignore:Port .* is already in use"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@contextmanager
def started(n_workers=2, **options):
    options = {"processes": True, "dashboard_address": ":0", "threads_per_worker": 1} | options
    with (
        LocalCluster(n_workers=n_workers, silence_logs=50, **options) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield cluster, client


@pytest.fixture(scope="module")
def client(forked_workers):
    with started() as (_, client):
        yield client


@contextmanager
def impatience(*clients):
    """Where no scheduler will ever answer; all that comes before has the time that it needs."""
    for client in clients:
        client._timeout = 3  # a client knows from its beginning how long it waits
    with dask.config.set({"distributed.comm.timeouts.connect": "3s"}):
        yield


@contextmanager
def no_workers_soon(client):
    """Where no worker will come: the scheduler that says so may take its time to answer."""
    client._timeout = 3  # how long it waits for a worker to send something to
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(executor_module, "_patience", lambda: 3.0)
        yield


def until_gone(rest):
    """Wait until a function names nothing that is left, at whatever speed."""
    end = time.monotonic() + A_LONG_TIME
    while left := rest():
        assert time.monotonic() < end, left
        time.sleep(0.1)


@pytest.fixture
def unread(monkeypatch):
    monkeypatch.setattr("infosieve._input.lazy_columns.SMALL", 0)


@pytest.fixture
def small_jobs(monkeypatch):
    """Many jobs, so that there is something to distribute and to interrupt."""
    monkeypatch.setattr(executor_module, "_JOB_SECONDS", 0.02)
    monkeypatch.setattr(executor_module, "_SMALL", 100)


def mixed():
    X, y = make_friedman(100, 7, random_state=3, return_X_y=True)
    table = pd.DataFrame(X, columns=list("abcdefg"))
    table["copy"] = -table["b"]
    table["one"] = 1.0
    table["text"] = np.where(table["c"] > 0.5, "yes", np.where(table["d"] > 0.4, "no", "maybe"))
    table["tied"] = (4 * table["d"]).round()
    table["y"] = y
    return table


def content(selector):
    result = selector.result_
    choice = None if result.k_choice is None else result.k_choice.mi.tolist()
    return (result.selected, result.features, result.steps, result.relevance.tolist(),
            result.duplicates, result.constant, result.stop_reason, choice, result.provenance.data,
            result.excerpt.features)  # fmt: skip


SEARCHES = {
    "default": {},
    "published": {"n_neighbors": "auto", "criterion": "mi", "stop": "permutation",
                "null": "global", "correction": None, "lookahead": 1},
    "backward": {"search": "forward-backward", "alpha": 0.3, "stop": "permutation"},
    "backward by mi": {"search": "forward-backward", "removal": "mi", "criterion": "mi"},
    "global max": {"null": "global", "stop": "permutation", "correction": "max"},
    "local, uncorrected": {"correction": None, "lookahead": 1},
    "cv": {"resample": "cv", "n_neighbors": 4, "max_features": 2, "lookahead": 1},
    "cv, uncorrected": {"resample": "cv", "correction": None, "max_features": 2, "lookahead": 1},
    "max-mi": {"stop": "max-mi", "criterion": "mi", "method": "ksg2"},
    "no test": {"stop": None, "max_features": 4, "metric": "chebyshev"},
    "own units": {"scale": None, "max_features": 2},
    "normal scores": {"scale": "normal-scores", "max_features": 2},
}  # fmt: skip


@pytest.mark.parametrize("where", ["memory", "file"])
@pytest.mark.parametrize("name", SEARCHES)
def test_the_bits_of_threads(name, where, client, small_jobs, unread, tmp_path):
    table = mixed()
    how = {"random_state": 1, "n_permutations": 99, "max_features": 3} | SEARCHES[name]
    X, y = table.drop(columns="y"), table["y"]
    theirs = MISelector(**how).fit(X, y)
    if where == "file":
        table.to_parquet(tmp_path / "table.parquet")
        source = open_columns(tmp_path / "table.parquet")
        X, y = source.drop("y"), source["y"]
    ours = MISelector(**how, executor=client).fit(X, y)
    assert content(ours) == content(theirs)
    assert ours.result_.provenance.parameters["executor"] == "dask, 2 workers"


@pytest.mark.parametrize("where", ["memory", "file"])
@pytest.mark.parametrize("together", ["", "groups", "series"])
def test_gaps_groups_and_series(together, where, client, small_jobs, unread, tmp_path):
    table = mixed()
    rng = np.random.default_rng(0)
    for name in ("a", "c", "text"):
        table.loc[rng.random(100) < 0.2, name] = None
    if together == "series":
        table["y"] = np.cumsum(table["y"])
    how = {"random_state": 1, "min_features": 1, "max_features": 2, "series": together == "series"}
    fit = {"groups": np.repeat(np.arange(25), 4)} if together == "groups" else {}
    X, y = table.drop(columns="y"), table["y"]
    walks = together == "series"
    with pytest.warns(UserWarning, match="'y' of y is not stationary") if walks else nullcontext():
        theirs = MISelector(**how).fit(X, y, **fit)
    if where == "file":
        table.to_parquet(tmp_path / "table.parquet")
        source = open_columns(tmp_path / "table.parquet")
        X, y = source.drop("y"), source["y"]
    with pytest.warns(UserWarning, match="is not stationary") if walks else nullcontext():
        ours = MISelector(**how, executor=client).fit(X, y, **fit)
    assert content(ours) == content(theirs)
    assert ours.result_.missing == theirs.result_.missing


def test_pairs(client, small_jobs):
    X, y = make_xor(120, 5, random_state=0, return_X_y=True)
    theirs, ours = (
        MISelector(random_state=0, executor=executor).fit(X, y) for executor in (None, client)
    )
    assert len(theirs.selected_) == 2
    assert any(len(step.features) == 2 for step in theirs.result_.steps)
    assert content(ours) == content(theirs)


@pytest.mark.parametrize("where", ["memory", "file"])
def test_classes(where, client, small_jobs, unread, tmp_path):
    """Of a target with ties, workers say what else tells rows of a file apart."""
    table = mixed().drop(columns="y")
    X, y = table.drop(columns="text"), table["text"]
    theirs = MISelector(random_state=0, max_features=3).fit(X, y)
    if where == "file":
        table.to_parquet(tmp_path / "table.parquet")
        source = open_columns(tmp_path / "table.parquet")
        X, y = source.drop("text"), source["text"]
    ours = MISelector(random_state=0, executor=client, max_features=3).fit(X, y)
    assert content(ours) == content(theirs)


def test_a_number_of_columns_by_cross_validation(client, small_jobs):
    table = mixed()
    X, y = table.drop(columns="y"), table["y"]
    how = {"stop": "cv", "cv": 2, "max_features": 3, "test": True, "random_state": 0}
    theirs, ours = (MISelector(**how, executor=executor).fit(X, y) for executor in (None, client))
    assert content(ours) == content(theirs)
    assert ours.result_.cv_scores == theirs.result_.cv_scores


def test_the_same_from_functions(client, small_jobs):
    table = mixed()
    X, y = table.drop(columns="y"), table["y"]
    pd.testing.assert_series_equal(relevance(X, y, executor=client), relevance(X, y))
    given = X[["a", "text"]]
    pd.testing.assert_series_equal(
        relevance(X, y, condition=given, executor=client), relevance(X, y, condition=given)
    )
    ours, theirs = (choose_k(X, y, random_state=0, executor=e) for e in (client, None))
    assert (ours.k, ours.feature) == (theirs.k, theirs.feature)
    assert np.array_equal(ours.mi, theirs.mi)
    assert np.array_equal(ours.mi_permuted, theirs.mi_permuted)
    for correction in (None, "max"):
        for null in ("global", "local"):
            ours, theirs = (
                permutation_test(
                    X, y, ["b", "c", "text"], given="d", null=null, correction=correction,
                    n_permutations=60, random_state=0, executor=e,
                )
                for e in (client, None)
            )  # fmt: skip
            assert np.array_equal(ours.null, theirs.null)
            assert np.array_equal(ours.observed, theirs.observed)


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"n_clusters": 3, "linkage": "average"},
        {"n_clusters": 3, "similarity": "unsupervised", "representative": "medoid"},
        {"representative": "pls", "connectivity": "chain", "correlation": "spearman"},
        {"n_clusters": None, "similarity_threshold": 0.3, "linkage": "complete"},
    ],
)
def test_the_same_clusters(how, client, small_jobs):
    X, y = make_copies(150, random_state=0, return_X_y=True)
    theirs, ours = (
        FeatureClustering(**how, random_state=0, executor=e).fit(X, y) for e in (None, client)
    )
    assert np.array_equal(ours.children_, theirs.children_)
    assert np.array_equal(ours.similarities_, theirs.similarities_)
    assert np.array_equal(ours.labels_, theirs.labels_)
    assert np.array_equal(ours.representatives_, theirs.representatives_)
    if theirs.cv_results_ is not None:
        for key, values in theirs.cv_results_.items():
            assert np.array_equal(ours.cv_results_[key], values)


def test_an_address_will_do(client):
    table = mixed()
    X, y = table.drop(columns="y"), table["y"]
    address = client.scheduler.address
    pd.testing.assert_series_equal(relevance(X, y, executor=address), relevance(X, y))
    assert client.status == "running"


def test_workers_read_what_they_see_and_get_what_they_do_not(client, unread, tmp_path, capsys):
    table = mixed()
    theirs = MISelector(random_state=0, max_features=2).fit(table.drop(columns="y"), table["y"])
    table.to_parquet(tmp_path / "table.parquet")
    table.to_parquet("memory://dask/table.parquet")  # of this process
    how = {"random_state": 0, "max_features": 2, "executor": client, "verbose": 1}
    for path, sent in ((tmp_path / "table.parquet", False), ("memory://dask/table.parquet", True)):
        source = open_columns(path)
        ours = MISelector(**how).fit(source.drop("y"), source["y"])
        assert content(ours) == content(theirs)
        shown = capsys.readouterr().err
        assert ("not all workers can read memory://dask" in shown) == sent
        assert "http://127.0.0.1:" in shown  # the dashboard


def test_columns_in_memory_are_sent_once(client, small_jobs, monkeypatch):
    sent = []
    original = Client.scatter

    def scatter(self, data, *arguments, **options):
        sent.extend(type(value).__name__ for value in data)
        return original(self, data, *arguments, **options)

    monkeypatch.setattr(Client, "scatter", scatter)
    X, y = make_friedman(80, 40, random_state=0, return_X_y=True)
    how = {"n_permutations": 99, "random_state": 0, "lookahead": 1, "stop": "permutation"}
    how |= {"min_features": 3, "max_features": 3}
    selector = MISelector(**how, executor=client).fit(X, y)
    steps = len(selector.result_.steps)
    blocks = len(_Blocks(_columns(X), 2, _Shared).blocks)
    assert sent.count("Columns") <= blocks + 2 * steps  # and the selected ones of each step


def _columns(X):
    from infosieve._input.scaling import prepare

    return prepare(X.T, np.zeros(X.shape[1], bool), "standard", 0, Threads(1))


# Hypothesis objects where another thread draws from `random`, as those of a Dask client do.
@pytest.mark.parametrize("seed", range(100))
def test_pieces_are_all_columns_in_order(seed):
    rng = np.random.default_rng(seed)
    n_columns, n_threads, size = (int(rng.integers(1, end)) for end in (61, 10, 71))
    x = _columns(rng.normal(size=(5, n_columns)))
    wanted = sorted(rng.choice(n_columns, rng.integers(1, n_columns + 1), replace=False))
    blocks = _Blocks(x, n_threads, _Shared)
    for place in (blocks, Threads(1).place(x)):
        taken = []
        for ref, which in place.pieces(wanted, size):
            columns = (ref._make() if place is blocks else ref).take(which)
            assert columns.n_columns <= size
            taken.append(columns.values)
        assert np.array_equal(np.concatenate(taken), x.values[wanted])


def test_jobs_grow_until_they_are_worth_it():
    executor = Dask("nowhere", Threads(1))
    executor._threads = {"one": 2, "two": 2}
    assert executor.batch_size("score 0", 10**6, 10**6, 16) == 256
    executor._seconds["score 0"] = [1e-4, 5.0]  # the second was compiled first
    assert executor.batch_size("score 0", 10**6, 10**6, 16) == 5000
    assert executor.batch_size("score 0", 1200, 1200, 16) == 100  # everybody has some
    executor._seconds["score 3"] = [1.0]
    assert executor.batch_size("score 3", 10**6, 10**6, 256) == 256  # they share lists


# ---- what goes wrong


def long_run():
    X, y = make_friedman(200, 40, random_state=0, return_X_y=True)
    how = {"random_state": 0, "max_features": 2, "lookahead": 1, "n_permutations": 199}
    return X, y, how


def kill_in_step(number, action, monkeypatch):
    """Call ``action`` in the midst of a step, once: while its second block is computed."""
    original = Dask.map
    state = {"calls": 0, "done": False}

    def counted(self, job, many, kind=""):
        permuted = job.__name__ in ("_permute", "score_copies")
        if permuted:
            state["calls"] += 1
        results = original(self, job, many, kind)
        for i, result in enumerate(results):
            here = permuted and state["calls"] == number and i == 1
            if here and not state["done"]:
                state["done"] = True
                action()
            yield result

    monkeypatch.setattr(Dask, "map", counted)
    return state


@pytest.mark.parametrize("how_many", [1, 2])
def test_a_killed_worker_changes_nothing(how_many, small_jobs, monkeypatch, capsys):
    X, y, how = long_run()
    theirs = MISelector(**how).fit(X, y)
    with started() as (_, client):
        pids = list(client.run(os.getpid).values())

        def kill():
            for pid in pids[:how_many]:
                os.kill(pid, signal.SIGKILL)

        state = kill_in_step(2, kill, monkeypatch)
        ours = MISelector(**how, executor=client, verbose=1).fit(X, y)
        assert state["done"]
        assert set(client.run(os.getpid).values()) != set(pids)
    assert content(ours) == content(theirs)
    assert "is gone; others do its work" in capsys.readouterr().err


def test_a_killed_worker_that_reads_itself(small_jobs, unread, monkeypatch, tmp_path):
    table = mixed()
    table.to_parquet(tmp_path / "table.parquet")
    source = open_columns(tmp_path / "table.parquet")
    how = {"random_state": 0, "max_features": 2}
    theirs = MISelector(**how).fit(table.drop(columns="y"), table["y"])
    with started() as (_, client):
        address, pid = next(iter(client.run(os.getpid).items()))

        def kill():  # what is sent to a worker that died just now waits for a connection
            os.kill(pid, signal.SIGKILL)
            while address in client.has_what():
                time.sleep(0.01)

        state = kill_in_step(2, kill, monkeypatch)
        ours = MISelector(**how, executor=client).fit(source.drop("y"), source["y"])
        assert state["done"]
    assert content(ours) == content(theirs)


def test_what_is_sent_to_a_worker_that_died_just_now_is_sent_again(client, monkeypatch):
    """Dask itself waits as long as connecting may take: here it would for ever."""
    given_up = []

    async def never():
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            given_up.append(True)
            raise

    def dying(*values, **how):
        monkeypatch.undo()  # from now on the worker is gone
        return never()

    gone = client.nthreads() | {"tcp://127.0.0.1:1": 1}
    monkeypatch.setattr(client, "nthreads", lambda: gone)
    monkeypatch.setattr(client, "scatter", dying)
    shared = _Shared(lambda: np.arange(5), broadcast=True)
    with pytest.raises(executor_module._GONE):
        shared.future(client)
    until_gone(lambda: not given_up)
    with Dask(client, Threads(1)) as executor:
        assert list(executor.map(_sum, [(1, (shared,))])) == [10]


def test_a_job_waits_for_what_could_not_be_sent(client, monkeypatch):
    shared, original, failed = _Shared(lambda: np.arange(5), broadcast=True), _Shared.future, []

    def fails_once(shared, client):
        if not failed:
            failed.append(True)
            raise CommClosedError("a worker is gone that was sent a value")
        return original(shared, client)

    monkeypatch.setattr(_Shared, "future", fails_once)
    with Dask(client, Threads(1)) as executor:
        assert list(executor.map(_sum, [(1, (shared,))])) == [10]
    assert failed


def _sum(runner, values):
    return int(values.sum())


def test_without_workers_it_ends(small_jobs, monkeypatch, tmp_path, client):
    X, y, how = long_run()
    theirs = MISelector(**how).fit(X, y)
    how["checkpoint"] = tmp_path / "steps.json"
    with started() as (cluster, own), ExitStack() as stack:

        def leave():
            cluster.scale(0)
            until_gone(own.nthreads)
            stack.enter_context(no_workers_soon(own))

        state = kill_in_step(2, leave, monkeypatch)
        selector = MISelector(**how, executor=own)
        with pytest.raises(ConnectionError, match=r"No worker .* for 3 seconds\. .* fit was ended; "
                           r"the 1 steps that were finished .*steps.json has them"):  # fmt: skip
            selector.fit(X, y)
        assert state["done"]
    assert selector.selected_.tolist() == theirs.selected_[:1].tolist()
    ours = MISelector(**how, executor=client).fit(X, y)
    assert ours.result_.steps == theirs.result_.steps


@contextmanager
def scheduler_and_worker(folder):
    """In processes of their own, started as on a real cluster."""
    file = folder / "scheduler.json"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1"]
    command += ["--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
    scheduler = subprocess.Popen(command, **quiet)
    command = [sys.executable, "-m", "distributed.cli.dask_worker", "--nthreads", "1"]
    command += ["--no-dashboard", "--scheduler-file", str(file), "--host", "127.0.0.1"]
    worker = subprocess.Popen(command, **quiet)
    try:
        until_gone(lambda: not (file.exists() and file.read_text().strip()))
        yield scheduler, file
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait()


def test_a_killed_scheduler_is_reported(small_jobs, monkeypatch, tmp_path):
    X, y, how = long_run()
    theirs = MISelector(**how).fit(X, y)
    how["checkpoint"] = tmp_path / "steps.json"
    with (
        scheduler_and_worker(tmp_path) as (scheduler, file),
        Client(scheduler_file=str(file), set_as_default=False) as own,
        ExitStack() as stack,
    ):
        own.wait_for_workers(1)

        def kill():
            stack.enter_context(impatience(own))
            scheduler.kill()
            until_gone(lambda: own.status == "running")

        state = kill_in_step(2, kill, monkeypatch)
        with pytest.raises(ConnectionError, match=r"scheduler is gone.*the 1 steps"):
            MISelector(**how, executor=own).fit(X, y)
        assert state["done"]
    ours = MISelector(**how).fit(X, y)  # threads go on where workers stopped
    assert ours.result_.steps == theirs.result_.steps


def interrupt():
    """What Python makes of SIGINT; tests/test_cli.py sends a real one."""
    raise KeyboardInterrupt


def test_interrupts_cancel_what_is_under_way(client, small_jobs, monkeypatch):
    X, y, how = long_run()
    state = kill_in_step(2, interrupt, monkeypatch)
    selector = MISelector(**how, executor=client)
    with pytest.raises(KeyboardInterrupt, match="the 1 steps that were finished are kept") as error:
        selector.fit(X, y)
    assert state["done"]
    assert len(selector.selected_) == 1
    until_gone(lambda: tasks(client))
    del error  # as long as that was there, somebody kept its traceback
    theirs = MISelector(**how).fit(X, y)
    assert content(MISelector(**how, executor=client).fit(X, y)) == content(theirs)


def tasks(client):
    return client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks))


@pytest.mark.parametrize("look", [1.0, 0.001])
def test_nothing_is_left_behind(look, client, small_jobs, monkeypatch):
    """Nor where jobs take longer than a look, and what is thrown then refers to itself."""
    monkeypatch.setattr(executor_module, "_LOOK", look)
    X, y, how = long_run()
    gc.collect()
    gc.disable()
    try:
        MISelector(**how, executor=client).fit(X, y)
        until_gone(lambda: tasks(client))
    finally:
        gc.enable()


def test_errors_of_jobs_are_those_of_threads(client, unread, tmp_path):
    table = mixed()
    table.loc[4, "e"] = np.nan
    table.to_parquet(tmp_path / "table.parquet")
    source = open_columns(tmp_path / "table.parquet")
    with pytest.raises(ValueError, match=r"missing values \(NaN\) in 1 of its columns: 'e' \(1\)"):
        relevance(source.drop("y"), source["y"], executor=client, missing="error")


def test_a_job_that_kills_its_workers_is_given_up():
    with (
        started(1) as (_, client),
        Dask(client, Threads(1)) as executor,
        pytest.raises(ConnectionError, match="too little memory"),
    ):
        list(executor.map(_dies, [(1, ())]))


def _dies(runner):
    os.kill(os.getpid(), signal.SIGKILL)


def test_wrong_executors(client, monkeypatch):
    table = mixed()
    X, y = table.drop(columns=["y", "text"]), table["y"]
    for wrong in (4, object(), LocalCluster, client.cluster):
        with pytest.raises(TypeError, match=r"The 'executor' parameter must be None"):
            relevance(X, y, executor=wrong)
    with pytest.raises(TypeError, match=r"pass Client\(cluster\)"):
        relevance(X, y, executor=client.cluster)
    for wrong in ("threads", "tcp://host", "http://127.0.0.1:8786", "tcp://a b:1", ":8786", ""):
        with pytest.raises(ValueError, match=r"'executor' parameter must be the address of a Dask"):
            relevance(X, y, executor=wrong)
    for address in ("tls://127.0.0.1:9", "tcp://127.0.0.1:9"):
        nobody = pytest.raises(ConnectionError, match=f"No Dask scheduler answers at '{address}'")
        with impatience(), nobody:
            relevance(X, y, executor=address)
    with Client(client.scheduler.address, set_as_default=False) as other:
        pass
    with pytest.raises(ConnectionError, match="a Dask client that is closed"):
        MISelector(executor=other).fit(X, y)
    monkeypatch.setattr(executor_module, "versions", lambda: {"infosieve": "99.1"})
    with pytest.raises(RuntimeError, match=r"worker tcp://.* has infosieve .*this process has 99"):
        relevance(X, y, executor=client)


def test_a_scheduler_without_workers_is_reported():
    table = mixed()
    with (
        started(0) as (_, client),
        no_workers_soon(client),
        pytest.raises(ConnectionError, match="No worker has been at the Dask scheduler"),
    ):
        relevance(table[["a"]], table["y"], executor=client)


def test_gpus_are_looked_for_where_jobs_run(client, monkeypatch):
    """Whatever this process has: the workers have none."""
    from infosieve._engines.cuda.engine import why_no_gpu

    table = mixed()
    X, y = table.drop(columns="y"), table["y"]
    with Dask(client, Threads(1)) as executor:
        assert executor.missing_requirement(why_no_gpu).startswith("on tcp://127.0.0.1:")
    with pytest.raises(RuntimeError, match=r"'device' parameter is 'cuda', but on tcp://.*CuPy"):
        relevance(X, y, executor=client, device="cuda")
    monkeypatch.setattr("infosieve._engines.devices.WORTHWHILE", 0)
    ours = relevance(X, y, executor=client, device="auto")
    pd.testing.assert_series_equal(ours, relevance(X, y))


def test_workers_that_come_later_are_asked_once(monkeypatch, capsys):
    """One that is of no use gets no jobs, and is reported once."""
    with started(1) as (cluster, client), Dask(client, Threads(1, Progress(1))) as executor:
        monkeypatch.setattr(executor_module, "versions", lambda: {"infosieve": "99.1"})
        cluster.scale(2)
        client.wait_for_workers(2)
        for _ in range(3):
            executor._look_around()
        assert len(executor._threads) == 1
        assert len(executor._unfit) == 1
        assert capsys.readouterr().err.count("has come, but has another version") == 1
        where = set(executor.map(_whereabouts, ((1, ()) for _ in range(6))))
        assert len(where) == 1


def _whereabouts(runner):
    return os.getpid()


def test_clones_share_a_client_and_pickles_have_its_address(client):
    for estimator in (MISelector(executor=client), FeatureClustering(executor=client)):
        assert pickle.loads(pickle.dumps(estimator)).executor == client.scheduler.address
        assert estimator.executor is client
        assert clone(estimator).executor is client
    with Client(client.scheduler.address, set_as_default=False) as other:
        fitted = MISelector(executor=other, max_features=1).fit(*long_run()[:2])
    assert pickle.loads(pickle.dumps(fitted)).executor is None
    assert clone(MISelector(7, executor="tcp://x:1")).get_params()["n_neighbors"] == 7


def test_encrypted_connections_pass_through(small_jobs):
    table = mixed()
    X, y = table.drop(columns="y"), table["y"]
    with started(1, security=Security.temporary()) as (_, client):
        assert client.scheduler.address.startswith("tls://")
        pd.testing.assert_series_equal(relevance(X, y, executor=client), relevance(X, y))


def test_what_workers_say_is_shown(client, capsys, monkeypatch):
    import logging

    def warned(job):
        def wrapped(self, function, many, kind=""):
            client.run(lambda: logging.getLogger("distributed.worker").warning("mind the gap"))
            return job(self, function, many, kind)

        return wrapped

    table = mixed()
    how = {"executor": client, "max_features": 1, "stop": None}
    for verbose in (0, 1):
        with monkeypatch.context() as patched:
            patched.setattr(Dask, "map", warned(Dask.map))
            MISelector(**how, verbose=verbose).fit(table[["a", "b"]], table["y"])
        assert ("mind the gap" in capsys.readouterr().err) == bool(verbose)
    MISelector(**how, verbose=1).fit(table[["a", "b"]], table["y"])
    assert "mind" not in capsys.readouterr().err  # that was another run
