"""Which engine a device has."""

from typing import Any, Literal, TypeAlias, get_args

from infosieve._core.dialect import parameter, setting
from infosieve._core.errors import MissingRequirementError
from infosieve._core.parameters import check_choice
from infosieve._core.types import Engine, Executor
from infosieve._engines.cuda.engine import MAX_K, CudaEngine, why_no_gpu
from infosieve._engines.numba.engine import NumbaEngine

Device: TypeAlias = Literal["cpu", "cuda", "auto"]

# Samples times candidates, permuted columns included, from which on a GPU pays, and samples up to
# which it does: docs/benchmarks-gpu.md.
WORTHWHILE, MOST_SAMPLES = 2e7, 50_000


def check_device(device: Any) -> None:
    """The name of a device."""
    check_choice(device, "device", get_args(Device))


def require_device(device: Device, executor: Executor) -> None:
    """That it is there, where the executor's jobs run."""
    reason = executor.missing_requirement(why_no_gpu) if device == "cuda" else None
    if reason is not None:
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
    if device == "auto":
        work = n_samples * n_candidates
        pays = work >= WORTHWHILE and n_samples <= MOST_SAMPLES and largest_k <= MAX_K
        if pays and executor.missing_requirement(why_no_gpu) is None:
            return CudaEngine(or_cpu=True)
    if device != "cuda":
        return NumbaEngine()
    if largest_k > MAX_K:
        raise ValueError(
            f"{parameter('device')} must be 'cpu' for more than {MAX_K} neighbours: the GPU's "
            f"kernels have room for no more. Got {largest_k}; use fewer, or the CPU."
        )
    return CudaEngine()
