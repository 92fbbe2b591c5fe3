"""What is imported, and when: a budget for the start, without a clock."""

import subprocess
import sys

import pytest

# What columns are selected without: pictures, pages, other machines, curves, clusters.
SPARED = {
    "IPython",
    "cupy",
    "dask",
    "distributed",
    "fsspec",
    "infosieve.clustering",
    "infosieve.curves",
    "infosieve.datasets",
    "infosieve.plots",
    "infosieve.report._render",
    "jinja2",
    "matplotlib",
    "plotly",
    "polars",
    "pyarrow.dataset",
    "pyarrow.parquet",
    "scipy.cluster",
    "scipy.signal",
    "sklearn.cross_decomposition",
    "sklearn.ensemble",
    "typer",
}


def imported(code: str) -> set[str]:
    """The modules that a fresh interpreter has after some lines."""
    code += "\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    "name", ["MISelector", "mutual_information", "permutation_test", "open_columns"]
)
def test_a_name_brings_what_it_needs(name):
    assert imported(f"from infosieve import {name}") & SPARED == set()


@pytest.mark.parametrize("name", ["mutual_information", "permutation_test", "open_columns"])
def test_functions_need_no_estimators(name):
    """scikit-learn brings scipy.stats: together, half of what an import takes."""
    assert imported(f"from infosieve import {name}") & {"sklearn", "scipy.stats"} == set()


def test_the_package_itself_brings_nothing():
    heavy = {"numpy", "pandas", "sklearn", "numba", "pyarrow", "scipy"}
    assert imported("import infosieve") & heavy == set()


def test_garbage_is_collected_when_work_begins():
    """Not while the command is being imported."""
    code = (
        "import gc\n"
        "from infosieve import __main__, cli\n"
        "seen = []\n"
        "cli.main = lambda: seen.append(gc.isenabled())\n"
        "__main__.main()\n"
        "from infosieve.cli.workers import workers\n"
        "with workers(None, None):\n"
        "    seen.append(gc.isenabled())\n"
        "assert seen == [False, True], seen\n"
        "assert gc.get_freeze_count() > 1000\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
