"""Which engine a device has."""

from typing import Any

from infosieve._core.dialect import parameter, setting
from infosieve._core.types import Device, Engine, Executor
from infosieve._engines.numba.engine import NumbaEngine

# Samples times candidates, permuted columns included, from which on a GPU pays, and samples up to
# which it does: docs/benchmarks-gpu.md.
WORTHWHILE, MOST_SAMPLES = 2e7, 50_000


def _cuda() -> Any:
    """The GPU's engine, which is loaded where somebody asks for it."""
    from infosieve._engines.cuda import engine

    return engine


def require_device(device: Device, executor: Executor) -> None:
    """That it is there, where the executor's jobs run."""
    if device != "cuda":
        return
    reason = executor.missing_requirement(_cuda().why_no_gpu)
    if reason is not None:
        from infosieve._core.errors import MissingRequirementError

        raise MissingRequirementError(
            f"{parameter('device')} is 'cuda', but {reason}. Otherwise, use "
            f"{setting('device', 'cpu')}, or 'auto', which takes a GPU where there is one."
        )


def engine_of(
    device: Device, executor: Executor, n_samples: int, n_candidates: int, largest_k: int
) -> Engine:
    """The engine of a device that is there.

    ``n_candidates`` includes permuted columns.
    """
    large = n_samples * n_candidates >= WORTHWHILE and n_samples <= MOST_SAMPLES
    if device == "cpu" or (device == "auto" and not large):
        return NumbaEngine()
    cuda = _cuda()
    fits = largest_k <= cuda.MAX_K
    if device == "auto":
        there = fits and executor.missing_requirement(cuda.why_no_gpu) is None
        engine: Engine = cuda.CudaEngine(or_cpu=True) if there else NumbaEngine()
        return engine
    if not fits:
        raise ValueError(
            f"{parameter('device')} must be 'cpu' for more than {cuda.MAX_K} neighbours: the GPU's "
            f"kernels have room for no more. Got {largest_k}; use fewer, or the CPU."
        )
    return cuda.CudaEngine()  # type: ignore[no-any-return]
