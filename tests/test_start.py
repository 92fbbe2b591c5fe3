"""What is imported, and when: a budget for the start, without a clock."""

import signal
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


@pytest.mark.skipif(sys.platform != "linux", reason="asks the C library")
def test_no_library_aborts_a_command_that_has_ended():
    """What Python registered runs, what is written is whole, and the exit status stays."""
    code = (
        "import atexit, ctypes, sys\n"
        "from infosieve import __main__, cli\n"
        "libc = ctypes.CDLL(None)\n"
        "assert libc.__cxa_atexit(libc.abort, None, None) == 0\n"
        "atexit.register(print, 'registered')\n"
        "def ended():\n"
        "    print('written')\n"
        "    sys.exit(3)\n"
        "cli.main = ended\n"
    )
    how = {"capture_output": True, "text": True}
    done = subprocess.run([sys.executable, "-c", code + "__main__.main()"], **how)
    assert (done.returncode, done.stdout) == (3, "written\nregistered\n")
    done = subprocess.run([sys.executable, "-c", code + "cli.main()"], **how)  # as Python ends
    assert done.returncode == -6


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="signals of POSIX")
def test_ctrl_c_after_all_is_done_is_no_traceback():
    code = (
        "import atexit, signal\n"
        "from infosieve import __main__, cli\n"
        "def ending():\n"
        "    print('ending', flush=True)\n"
        "    signal.raise_signal(signal.SIGINT)\n"
        "atexit.register(ending)\n"
        "cli.main = lambda: exit(print('written'))\n"
        "__main__.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("written\nending\n", "")
    assert done.returncode == -signal.SIGINT
