"""What the scripts share. No other library's estimators are imported here."""

import argparse
import math
import os
import platform
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"
SEED = 0  # of the data that are generated: --seed of the script that was started


def seed_number(text):
    """What --seed takes: random_state ends at 2**32."""
    if not text.isdecimal() or int(text) > 4000:
        raise argparse.ArgumentTypeError(f"must be a whole number from 0 to 4000, got {text!r}")
    return int(text)


def state(number=0):
    """The seed of a data set: another --seed begins at another million."""
    return 1_000_000 * SEED + number


def told(seed):
    """For a page: which seed, if not the usual one."""
    return f", seed {seed}" if seed else ""


def best_times(functions, repeats):
    """The best time of each function, all of them called in turn."""
    best = dict.fromkeys(functions, math.inf)
    for _ in range(repeats):
        for name, function in functions.items():
            start = time.perf_counter()
            function()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def peak_memory(reset=False):
    """The most bytes this process has held, since the last reset (Linux only)."""
    if reset:
        Path("/proc/self/clear_refs").write_text("5")
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.partition("VmHWM:")[2].split()[0])


def machine(packages):
    """Where this ran, and the versions of those packages that are installed."""
    name = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        models = [line for line in cpuinfo.read_text().splitlines() if "model name" in line]
        name = models[0].partition(":")[2].strip() if models else name
    versions = {}
    for package in packages:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return {
        "processor": name,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "versions": versions,
    }


def micro(seconds):
    """A time for a table, in microseconds or milliseconds."""
    return f"{1e6 * seconds:,.1f} µs" if seconds < 1e-3 else f"{1e3 * seconds:,.2f} ms"
