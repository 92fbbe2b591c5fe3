"""Who computes: what --dask asks for."""

import gc
import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def collect_again() -> None:
    """Let Python's collector in, if the command began without it; what is there stays."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


@contextmanager
def workers(dask: str | None, jobs: int | None) -> Iterator[Any]:
    """A scheduler's address, a cluster of this machine, or nothing."""
    collect_again()
    if dask != "local":
        yield dask
        return
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise ImportError(
            "--dask needs Dask, which is not here: pip install dask distributed fsspec"
        ) from None

    from infosieve._executors.threads import Threads

    n_workers = Threads(-1 if jobs is None else jobs).n_workers
    options = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    # Ctrl-C in a terminal reaches the workers, too; who inherits to ignore it does so.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        cluster = LocalCluster(n_workers=n_workers, silence_logs=logging.CRITICAL, **options)
    finally:
        signal.signal(signal.SIGINT, before)
    with cluster, Client(cluster, set_as_default=False) as client:
        yield client
