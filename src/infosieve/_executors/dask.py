"""Workers of a Dask cluster: jobs are submitted, and their results come in order.

What jobs need is sent once. Workers that can read the files of a table read its columns
themselves; otherwise blocks of columns are scattered among them. Nothing is lost with a worker:
what it held is sent again, and what it was doing is done by another.
"""

import asyncio
import gc
import pickle
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import wait
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import count, islice
from typing import Any, Self, TypeVar
from weakref import WeakSet

import dask
import distributed
import numpy as np
from dask.utils import parse_timedelta

from infosieve._core.chunks import chunks
from infosieve._core.dialect import Dialect, parameter, speaking, spoken
from infosieve._core.errors import MissingRequirementError
from infosieve._core.files import first_line
from infosieve._core.provenance import versions
from infosieve._core.types import ColumnNumbers, ColumnSet, Which
from infosieve._executors import WorkersLostError
from infosieve._executors.threads import Threads, Whole
from infosieve._sources import ColumnSource

T = TypeVar("T")

_JOB_SECONDS = 0.5  # what a job should take, since scheduling one costs a few milliseconds
_FIRST = 256  # candidates of a job, before it is known how long one takes
_AHEAD = 3  # jobs under way for each thread of the cluster
_SMALL = 1 << 16  # bytes; values up to this size are sent with each job
_BLOCK_BYTES, _BLOCK_COLUMNS = 1 << 24, 32  # of scattered columns: at most, at least
_TRIES = 10  # how often a job whose data were lost is sent again
_LOOK = 1.0  # seconds between two looks at which workers there are
_RECENT = 8  # as many of the values that were shared last are kept, to be shared again

_GONE = (distributed.CancelledError, distributed.comm.CommClosedError)


class Dask:
    """Distributes jobs among the workers of a Dask cluster (:class:`._core.types.Executor`).

    ``client`` may be the address of a scheduler. Security is Dask's own: that of the client, or of
    Dask's configuration. The progress of ``here`` hears of workers that come and go.
    """

    remote = True

    def __init__(self, client: Any, here: Threads) -> None:
        self.here, self.progress = here, here.progress
        self._given = client
        self._recent: dict[int, tuple[Any, Any]] = {}  # the latest comes last
        self._seconds: dict[str, deque[float]] = {}
        self._readable: dict[int, tuple[ColumnSource, bool]] = {}
        self._unfit: set[str] = set()  # workers that came later and cannot do what is asked
        self._live: set[_Job] = set()
        self._sent: WeakSet[_Shared] = WeakSet()
        self._numbers = count()
        self._threads: dict[str, int] = {}  # of each worker that gets jobs
        self._looked = 0.0
        self._lines: dict[str, int] = {}  # of each worker's log, before this run

    def __enter__(self) -> Self:
        self.client = self._connected()
        try:
            self._wait_for_workers()
            self._greet()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._recent.clear()
        for shared in self._sent:  # a traceback that somebody keeps would keep these on workers
            shared.forget()
        if self.client.status == "running":
            with suppress(Exception):
                self._cancel(self._live)
                self._look_around()
                self._show_logs()
        if isinstance(self._given, str):
            with suppress(Exception):
                self.client.close(timeout=5)

    @property
    def text(self) -> str:
        return f"dask, {len(self._threads)} workers"

    @property
    def _n_threads(self) -> int:
        return max(1, sum(self._threads.values()))

    # What jobs need

    def share(self, value: T) -> T:
        """What stands for a value on all workers; a small one stands for itself."""
        known = self._recent.pop(id(value), None)
        if known is None:
            shared: Any = value
            if _size(value) > _SMALL:
                shared = self._sending(lambda: value, broadcast=True)
            known = value, shared
        self._recent[id(value)] = known
        if len(self._recent) > _RECENT:
            del self._recent[next(iter(self._recent))]
        return known[1]  # type: ignore[no-any-return]

    def can_read(self, source: ColumnSource) -> bool:
        """Whether all workers can read a source themselves."""
        if id(source) not in self._readable:
            # If it cannot be read even in this process, it need not be sent.
            readable = source.visible() and all(self._ask(source.visible).values())
            self._readable[id(source)] = source, readable
            if not readable:
                self.progress.say(
                    f"not all workers can read {source.where}: columns are sent to them"
                )
        return self._readable[id(source)][1]

    def missing_requirement(self, check: Callable[[], str | None]) -> str | None:
        """What a worker is missing; of several, the first one."""
        answers = self._ask(check)
        return next((f"on {who}: {text}" for who, text in answers.items() if text), None)

    def place(self, x: ColumnSet) -> Any:
        """Columns on the workers: read there, or sent in blocks."""
        source = getattr(x, "source", None)
        if source is not None and self.can_read(source):
            return Whole(self.share(x), x.n_columns)
        return _Blocks(x, self._n_threads, self._sending)

    def _sending(self, make: Callable[[], Any], broadcast: bool) -> "_Shared":
        shared = _Shared(make, broadcast)
        self._sent.add(shared)
        return shared

    # Jobs

    def batch_size(self, kind: str, total: int, whole: int, fewest: int) -> int:
        """As many as take about half a second, but few enough that all workers have some."""
        known = self._seconds.get(kind)
        size = _FIRST if not known else int(_JOB_SECONDS / max(min(known), 1e-9))
        share = -(-total // (_AHEAD * self._n_threads))
        return max(1, min(max(size, fewest), max(share, fewest // 4)))

    def map(
        self, job: Callable[..., T], many: Iterable[tuple[int, tuple[Any, ...]]], kind: str = ""
    ) -> Iterator[T]:
        """The jobs' results, in order; some are always under way."""
        self._wait_for_workers()
        waiting: deque[_Job] = deque()
        unread = iter(many)
        try:
            while True:
                room = max(0, _AHEAD * self._n_threads - len(waiting))
                for weight, arguments in islice(unread, room):
                    waiting.append(_Job(job, weight, arguments))
                    self._live.add(waiting[-1])
                    with suppress(distributed.TimeoutError, *_GONE):  # or when its turn comes
                        self._submit(waiting[-1])
                if not waiting:
                    return
                if time.monotonic() > self._looked + _LOOK:
                    self._wait_for_workers()
                result, seconds = self._result(waiting[0])
                done = waiting.popleft()
                done.future.release()  # the worker may forget the result, whoever keeps the job
                self._live.discard(done)
                known = self._seconds.setdefault(kind, deque(maxlen=8))
                known.append(seconds / max(1, done.weight))
                yield result
        finally:  # also where the caller has enough, or something went wrong
            if waiting and self.client.status == "running":
                with suppress(Exception):
                    self._cancel(waiting)
            if hasattr(unread, "close"):
                unread.close()

    def _cancel(self, jobs: Iterable["_Job"]) -> None:
        jobs = list(jobs)
        self.client.cancel([job.future for job in jobs if job.future is not None], force=True)
        self._live.difference_update(jobs)

    def _submit(self, job: "_Job") -> None:
        job.tries += 1
        if job.tries > _TRIES:
            raise WorkersLostError(
                f"A job was lost with the workers that had its data, {_TRIES} times. Look at the "
                "workers' logs."
            )
        arguments = [a.future(self.client) if isinstance(a, _Shared) else a for a in job.arguments]
        name = getattr(job.function, "func", job.function).__name__.strip("_")
        job.future = self.client.submit(
            _run,
            spoken(),
            job.function,
            *arguments,
            key=f"infosieve-{name}-{next(self._numbers)}-{time.time_ns():x}",
            pure=False,
            workers=list(self._threads) if self._unfit else None,
        )

    def _result(self, job: "_Job") -> tuple[Any, float]:
        while True:
            try:
                if job.future is None:
                    self._submit(job)
                # Only this wait may be given up early. A request for a result may not, because Dask
                # gathers several at a time, and the next one would be lost with it.
                job.future.exception(timeout=_LOOK)
                return job.future.result(timeout=_patience())  # type: ignore[no-any-return]
            except distributed.TimeoutError:
                if job.future is not None and job.future.status == "error":  # the job raised it
                    raise
            except distributed.KilledWorker as error:
                raise WorkersLostError(
                    f"A job ended the workers that ran it, one after the other ({error}). They "
                    "may have too little memory: give them more, or fewer threads each. Their "
                    "logs may have the reason."
                ) from None
            except _GONE:
                job.future = None
            self._wait_for_workers()

    # Workers

    def _connected(self) -> Any:
        if not isinstance(self._given, str):
            if getattr(self._given, "asynchronous", False):
                raise TypeError(
                    f"{parameter('executor')} is an asynchronous client, which cannot be waited "
                    "for. Pass a plain one: Client(address)."
                )
            if self._given.status != "running":
                raise WorkersLostError(
                    f"{parameter('executor')} is a Dask client that is {self._given.status}. "
                    "Pass one that is connected."
                )
            return self._given
        check_address(self._given)
        reason = None
        try:
            return distributed.Client(self._given, set_as_default=False)
        except KeyboardInterrupt:
            pass
        except (OSError, ValueError, TypeError) as error:
            reason = first_line(error)
        # A client that did not connect must be collected now: at the end of the process it would
        # wait for its own thread, which is gone by then, and complain.
        gc.collect()
        if reason is None:
            raise KeyboardInterrupt
        raise WorkersLostError(
            f"No Dask scheduler answers at {self._given!r} ({reason}). Check the address, which "
            "'dask scheduler' prints, or wait longer (distributed.comm.timeouts.connect in Dask's "
            "configuration)."
        )

    def _greet(self) -> None:
        """The workers must run this version, or their bits might differ."""
        mine = versions()["infosieve"]
        for address, (theirs, _) in self._ask(_introduce, []).items():
            if theirs != mine:
                raise MissingRequirementError(
                    f"The Dask worker {address} has infosieve {theirs}, this process has {mine}. "
                    "Install the same version everywhere."
                )
        self._lines = {address: len(lines) for address, lines in self._logs().items()}
        n_workers, link = len(self._threads), self.client.dashboard_link
        self.progress.say(f"{n_workers} Dask workers, {self._n_threads} threads; {link}")

    def _ask(self, question: Callable[..., T], *arguments: Any) -> dict[str, T]:
        """The answers of all workers; all have to answer once more if one is lost meanwhile."""
        for _ in range(_TRIES):
            try:
                return self.client.run(question, *arguments)  # type: ignore[no-any-return]
            except ModuleNotFoundError as error:
                raise MissingRequirementError(
                    f"A Dask worker cannot import what it needs ({error}). Install infosieve, in "
                    "the same version, wherever workers run."
                ) from None
            except (OSError, *_GONE):
                self._wait_for_workers()
        raise WorkersLostError("The Dask workers do not answer.")

    def _look_around(self) -> None:
        """Note which workers there are; report those that came and went."""
        first, self._looked = self._looked == 0.0, time.monotonic()
        now = dict(self.client.nthreads())
        for address in self._threads.keys() - now.keys():
            self.progress.say(f"the worker {address} is gone; others do its work")
        if not first:
            for address in now.keys() - self._threads.keys() - self._unfit:
                self._meet(address)
        self._unfit &= now.keys()
        self._threads = {who: n for who, n in now.items() if who not in self._unfit}

    def _meet(self, address: str) -> None:
        """A worker that comes later gets no jobs unless it has this version and can read."""
        sources = [source for source, readable in self._readable.values() if readable]
        fit = False
        with suppress(Exception):
            answer = self.client.run(_introduce, sources, workers=[address])[address]
            fit = answer == (versions()["infosieve"], True)
        if not fit:
            self._unfit.add(address)
        self.progress.say(
            f"the worker {address} has come"
            + ("" if fit else ", but has another version of infosieve or cannot read the table")
        )

    def _wait_for_workers(self) -> None:
        """Wait until the scheduler answers and has a worker, for as long as connecting may take."""
        patience = _patience()
        deadline = time.monotonic() + patience
        announced = False
        while True:
            reached = False
            with suppress(OSError, distributed.TimeoutError, *_GONE):
                if self.client.status == "running":
                    self._look_around()
                    reached = True
            if reached and self._threads:
                return
            if self.client.status in ("closed", "closing") or time.monotonic() > deadline:
                raise WorkersLostError(
                    f"No worker has been at the Dask scheduler for {patience:.0f} seconds. Start "
                    "some, or wait longer (distributed.comm.timeouts.connect in Dask's "
                    "configuration)."
                    if reached
                    else "The Dask scheduler is gone."
                )
            if not announced:
                self.progress.say("waiting for " + ("a worker" if reached else "the scheduler"))
                announced = True
            time.sleep(0.2)

    def _show_logs(self) -> None:
        """Show what workers have logged in this run: warnings, or all at a verbosity of 2."""
        levels = ("WARNING", "ERROR", "CRITICAL")
        for address, lines in self._logs().items():
            for level, text in reversed(lines[: len(lines) - self._lines.get(address, 0)]):
                if self.progress.verbose > 1 or level in levels:
                    self.progress.say(f"{address}: {text}")

    def _logs(self) -> dict[str, Any]:
        """The lines of all workers' logs, the newest first; none where nobody listens."""
        return dict(self.client.get_worker_logs()) if self.progress.verbose else {}


def check_address(address: str, name: str = "") -> None:
    """Refuse what can be no address, instead of waiting for an answer."""
    scheme, place = distributed.comm.parse_address(address)
    with suppress(ValueError):
        backend = distributed.comm.registry.get_backend(scheme)
        try:
            host, port = backend.get_address_host_port(place)
        except NotImplementedError:  # a kind of address without ports
            return
        if host and host == "".join(host.split()) and 0 < port < 1 << 16:
            return
    raise ValueError(
        f"{name or parameter('executor')} must be the address of a Dask scheduler, such as "
        f"'tcp://10.0.0.1:8786'; 'dask scheduler' prints its own. Got {address!r} instead."
    )


@dataclass(eq=False)
class _Job:
    """What was asked for, so that it can be asked for again."""

    function: Callable[..., Any]
    weight: int
    arguments: tuple[Any, ...]
    future: Any = None
    tries: int = 0


class _Shared:
    """A value on the workers; sent again if they have lost it."""

    def __init__(self, make: Callable[[], Any], broadcast: bool) -> None:
        self._make, self._broadcast, self._future = make, broadcast, None

    def future(self, client: Any) -> Any:
        if self._future is None or self._future.status != "finished":
            self._future = _scattered(client, self._make(), self._broadcast)
        return self._future

    def forget(self) -> None:
        if self._future is not None:
            self._future.release()
        self._future = None


def _scattered(client: Any, value: Any, broadcast: bool) -> Any:
    """A value on the workers.

    Dask waits for one that died just now as long as connecting may take. Here it is given up as
    soon as the scheduler knows that a worker is gone, as if the value had been lost with it.
    """
    workers = client.nthreads().keys()
    # Dask takes lists apart, so the value stands in one.
    sent = client.scatter([value], broadcast=broadcast, hash=False, asynchronous=True)
    sending = asyncio.run_coroutine_threadsafe(sent, client.loop.asyncio_loop)
    try:
        while True:
            if wait([sending], _LOOK).done:
                return sending.result()[0]
            if workers - client.nthreads().keys():
                raise distributed.comm.CommClosedError("a worker is gone that was sent a value")
    finally:
        sending.cancel()


class _Blocks:
    """Columns in blocks among the workers. See :class:`.threads.Whole`."""

    def __init__(self, x: ColumnSet, n_threads: int, sending: Callable[..., _Shared]) -> None:
        fitting = max(1, _BLOCK_BYTES // (8 * x.n_samples))
        self.widest = min(fitting, max(_BLOCK_COLUMNS, -(-x.n_columns // (2 * n_threads))))
        self.x, self._sending = x, sending
        self.blocks = [
            sending(partial(x.take, columns), broadcast=False)
            for columns in chunks(x.n_columns, self.widest)
        ]

    def pieces(self, columns: ColumnNumbers, size: int) -> Iterator[tuple[Any, Which]]:
        wanted = np.asarray(columns, np.int64)
        number = wanted // self.widest
        for run in np.split(wanted, np.flatnonzero(np.diff(number)) + 1):
            for part in chunks(run.size, size):
                some = run[part]
                yield self.blocks[some[0] // self.widest], some % self.widest

    def together(self, columns: Sequence[int]) -> tuple[Any, Which]:
        taken = self.x.take(list(columns), with_order=False)
        return self._sending(lambda: taken, broadcast=False), slice(None)


def _size(value: Any) -> int:
    """Bytes of a value that is sent."""
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(value, 5, buffer_callback=buffers.append)
    return len(head) + sum(buffer.raw().nbytes for buffer in buffers)


def _run(dialect: Dialect, job: Callable[..., T], *arguments: Any) -> tuple[T, float]:
    """On a worker: a job, and how long it took. What it says is in the words of who asked."""
    start = time.perf_counter()
    with speaking(dialect):
        result = job(Threads(1), *arguments)
    return result, time.perf_counter() - start


def _patience() -> float:
    """How long a worker or the scheduler may be away: seconds."""
    return float(parse_timedelta(dask.config.get("distributed.comm.timeouts.connect")))


def _introduce(sources: list[ColumnSource]) -> tuple[str, bool]:
    """On a worker: its version, and whether it can read all the sources."""
    return versions()["infosieve"], all(source.visible() for source in sources)
