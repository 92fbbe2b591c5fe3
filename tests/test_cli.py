"""The real command, in a process of its own: results, files, mistakes, signals."""

import ast
import dataclasses
import errno
import gc
import gzip
import html
import importlib.util
import inspect
import json
import os
import pty
import re
import select
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import psutil
import pytest
from command import A_LONG_TIME, COMMAND, in_step, read_exactly, run

import infosieve
from infosieve import (
    FeatureClustering,
    KChoice,
    MISelector,
    PermutationTest,
    SelectionResult,
    choose_k,
    cli,
    permutation_test,
    relevance_test,
    stability,
)
from infosieve._core import dialect, settings
from infosieve._core.errors import MissingRequirementError
from infosieve._core.messages import quoted, shown, warn
from infosieve._core.settings import OPTION_NAMES
from infosieve._engines.numba import jit
from infosieve._engines.numba.jit import announcer
from infosieve._executors import WorkersLostError
from infosieve._input.notices import tell_of_targets
from infosieve._input.tables import read_table
from infosieve.cli.errors import begin_anew, show_warning
from infosieve.cli.options import literal
from infosieve.datasets import make_friedman
from infosieve.report import _asking
from infosieve.selection._progress import shorter

T = ("--target", "Y")
FAST = ["--n-permutations", "99", "--alpha", "0.1", "--max-features", "2", "--seed", "0"]


def frame(n=60):
    X, y = make_friedman(n, 6, random_state=0, return_X_y=True, as_frame=True)
    return X.assign(kind=np.where(X["X4"] > 0.5, "high", "low"), Y=y)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    table = frame()
    table.to_csv(folder / "table.csv", index=False)
    table.to_csv(folder / "table.tsv", index=False, sep="\t")
    table.to_csv(folder / "semicolons.csv", index=False, sep=";")
    table.to_parquet(folder / "table.parquet")
    table.to_feather(folder / "table.feather")
    gaps = table.copy()
    gaps.loc[[3, 7], "X2"] = np.nan
    gaps.to_csv(folder / "gaps.csv", index=False)
    stray = table.astype({"X3": object})
    stray.loc[4, "X3"] = "oops"
    stray.to_csv(folder / "stray.csv", index=False)
    (folder / "empty.csv").write_text("")
    (folder / "blank.csv").write_text("\n\n")
    (folder / "header.csv").write_text("a,b,Y\n")
    (folder / "one.csv").write_text("a\n1\n2\n")
    (folder / "twice.csv").write_text("a,a,Y\n1,2,3\n4,5,6\n")
    (folder / "headless.csv").write_text("1,2,3\n4,5,6\n7,8,9\n")
    (folder / "ragged.csv").write_text("a,b,Y\n1,2,3\n4,5\n")
    (folder / "row.csv").write_text("a,b,Y\n1,2,3\n")
    (folder / "constant.csv").write_text("a,b,Y\n1,2,3\n2,3,3\n4,1,3\n")
    (folder / "flat.csv").write_text("a,b,Y\n1,2,3.5\n1,2,4\n1,2,5\n")
    (folder / "missing.csv").write_text("a,b,Y\n1,,3\n2,,4\n3,,5\n")
    (folder / "infinite.csv").write_text("a,b,Y\n1,2,3\ninf,3,4\n3,4,5\n")
    (folder / "broken.parquet").write_bytes(b"PAR1 and nothing more")
    (folder / "broken.feather").write_bytes(b"ARROW1 and nothing more")
    (folder / "binary.csv").write_bytes(bytes(range(256)) * 4)
    (folder / "bad.toml").write_text("alpha = = 3")
    (folder / "unknown.toml").write_text("alfa = 0.1")
    (folder / "good.toml").write_text(
        'target = "Y"\nseed = 0\nn-permutations = 99\nalpha = 0.1\nmax_features = 1\n'
        'n_neighbors = [3, 8]\nfeatures = ["X*"]\n'
    )
    (folder / "typed.toml").write_text("alpha = {a = 1}")
    (folder / "flag.toml").write_text('json = "yes"')
    (folder / "commas.csv").write_text("a;b;Y\n0,5;1;2\n0,7;2;3\n1,5;3;4\n")
    (folder / "latin.csv").write_bytes("a,größe,Y\n1,2,3\n4,5,6\n".encode("latin-1"))
    table.to_csv(folder / "tabs.csv", index=False, sep="\t")
    pd.DataFrame(index=range(3)).to_parquet(folder / "none.parquet", index=False)
    odd = table.rename(columns={"X1": "self", "X2": "\x1b[31mred", "X3": "[bold]"})
    odd["flag"] = [True, False, None] * 20
    odd["level"] = np.where(np.arange(60) % 10 == 0, "low", "3")
    odd.to_csv(folder / "odd.csv", index=False)
    (folder / "table.csv.gz").write_bytes(gzip.compress((folder / "table.csv").read_bytes()))
    (folder / "damaged.json").write_text("{")
    (folder / "directory").mkdir()
    os.mkfifo(folder / "pipe")
    os.mkfifo(folder / "pipe.html")
    options = {"n_permutations": 99, "alpha": 0.1, "max_features": 1, "random_state": 0}
    kept = MISelector(**options).fit(table[["X4", "X5"]], table["Y"]).result_.to_json()
    (folder / "result.json").write_text(kept)
    (folder / "impossible.json").write_text(json.dumps(json.loads(kept) | {"selected": [1]}))
    return folder


# --- results


def test_select_prints_a_table_on_standard_output_and_the_rest_beside(folder):
    done = run("select", folder / "table.csv", "--target", "Y", *FAST)
    assert done.returncode == 0
    lines = done.stdout.decode().splitlines()
    assert lines[0] == "2 of 7 features selected (60 samples)"
    head = r"\s+feature\s+adds \(nats\)\s+how\s+evidence\s+chance \(95 %\)\s+p\s+allowed"
    assert re.match(head, lines[1])
    assert re.match(r"\+\s+X4\s+\+0\.\d+\s+rises\s+\d+\.\d\s+\d\.\d\s+0\.01\s+0\.0714", lines[2])
    assert "\x1b" not in done.stdout.decode() + done.stderr.decode()
    assert "infosieve: add X4" in done.stderr.decode()
    quiet = run("select", folder / "table.csv", "--target", "Y", "--quiet", *FAST)
    assert quiet.stdout == done.stdout
    assert quiet.stderr == b""


@pytest.mark.parametrize("name", ["table.csv", "table.tsv", "table.parquet", "table.feather"])
def test_all_formats_and_standard_input_give_the_same_json(name, folder):
    arguments = ["--target", "Y", "--json", "--quiet", *FAST]
    done = run("select", folder / name, *arguments)
    result = SelectionResult.from_json(done.stdout.decode())
    table = frame()
    X = table.drop(columns="Y")
    options = {"n_permutations": 99, "alpha": 0.1, "max_features": 2, "random_state": 0}
    ref = MISelector(**options).fit(X, table["Y"]).result_
    assert result.steps == ref.steps
    np.testing.assert_array_equal(result.relevance, ref.relevance)
    if name != "table.tsv":  # its ending says what separates it
        piped = run("select", "-", *arguments, stdin=(folder / name).read_bytes())
        assert SelectionResult.from_json(piped.stdout.decode()).steps == ref.steps


def test_choose_k_and_cluster(folder):
    done = run("choose-k", folder / "table.csv", "--target", "Y", "--exclude", "kind", "--seed", 3)
    table = frame()
    X = table.drop(columns=["Y", "kind"])
    ref = choose_k(X, table["Y"], random_state=3)
    assert done.stdout.decode().startswith(f"K = {ref.k}, by {ref.feature}")
    out = run("choose-k", folder / "table.csv", "--target", "Y", "--exclude", "kind", "--seed", 3,
              "--json").stdout.decode()  # fmt: skip
    np.testing.assert_array_equal(KChoice.from_json(out).t, ref.t)
    options = ["--n-clusters", 3, "--connectivity", "chain", "--out", folder / "reduced.csv"]
    done = run("cluster", folder / "table.csv", "--target", "Y", "--features", "X*", *options)
    ref = FeatureClustering(3, connectivity="chain").fit(X, table["Y"])
    assert done.stdout.decode().startswith("3 clusters of 6 features")
    written = pd.read_csv(folder / "reduced.csv")
    assert list(written) == [*ref.get_feature_names_out(), "Y"]
    np.testing.assert_allclose(written.to_numpy()[:, :3], ref.transform(X))
    done = run("cluster", folder / "table.csv", "--target", "Y", "--n-clusters", 2)
    assert done.stdout.decode().startswith("2 clusters of 6 features")
    left_out = b"Clusters are of numbers: kind is a category, and is not among them."
    assert left_out in done.stdout.splitlines()


def test_a_permutation_test_has_a_command(folder, tmp_path):
    how = ["--given", "X4", "--seed", 3, "--n-permutations", 39, "--missing", "drop"]
    asked = ["permutation-test", folder / "gaps.csv", *T, "--candidates", "X[12]", *how]
    table = pd.read_csv(folder / "gaps.csv")
    table = table.dropna()
    X = table.drop(columns="Y")
    settings = {"given": ["X4"], "random_state": 3, "n_permutations": 39}
    for more, options in (([], {}), (["--pairs", "--alpha", 0.3], {"pairs": True, "alpha": 0.3})):
        done = run(*asked, *more, "--json")
        assert done.returncode == 0, done.stderr
        found = PermutationTest.from_json(done.stdout.decode())
        ref = permutation_test(X, table["Y"], ["X1", "X2"], **settings, **options)
        np.testing.assert_array_equal(found.p_values, ref.p_values)
        np.testing.assert_array_equal(found.null, ref.null)
    assert found.provenance.options["candidates"] == ["X[12]"]
    done = run(*asked, "--html", tmp_path / "test.html", text=True)
    assert done.stdout.startswith("2 features tested given X4, 39 permutations\n")
    assert "<h1>" in (tmp_path / "test.html").read_text()
    every = run(
        "permutation-test", folder / "table.csv", *T, "--features", "X[1-4]", *how, text=True
    )
    assert every.stdout.startswith("3 features tested given X4, 39 permutations\n")
    for wrong, said in (
        (["--given", "X*"], "'X1' of X is both in --candidates and in --given"),
        (["--given", "X9"], "--given 'X9' is no column; do you mean"),
        (["--pairs", "--correction", "none"], "--pairs needs --correction max"),
    ):
        done = run("permutation-test", folder / "table.csv", *T, "--candidates", "X1", *wrong)
        assert (done.returncode, said in done.stderr.decode()) == (2, True), done.stderr


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "feather"])
def test_selected_columns_are_written(ending, folder, tmp_path):
    place = tmp_path / f"selected.{ending}"
    done = run("select", folder / "table.csv", "--target", "Y", "--out", place, *FAST)
    assert done.returncode == 0
    readers = {"csv": pd.read_csv, "tsv": lambda p: pd.read_csv(p, sep="\t")}
    readers |= {"parquet": pd.read_parquet, "feather": pd.read_feather}
    written = readers[ending](place)
    assert written.shape == (60, 3)
    assert list(written)[-1] == "Y"
    assert list(tmp_path.iterdir()) == [place]


def test_options_columns_gaps_categories_and_config(folder):
    done = run("select", folder / "gaps.csv", "--target", "Y", "--missing", "drop", "--features",
               "X[1-4]", "--features", "kind", "--exclude", "X3", "--json", *FAST)  # fmt: skip
    result = SelectionResult.from_json(done.stdout.decode())
    assert result.features == ("X1", "X2", "X4", "kind")
    assert result.provenance.n_samples == 58
    assert b"2 of 60 samples have missing values, and are left out (--missing drop)" in done.stderr
    done = run("select", folder / "table.csv", "--config", folder / "good.toml", "--json")
    result = SelectionResult.from_json(done.stdout.decode())
    assert result.provenance.parameters["alpha"] == 0.1
    assert result.n_neighbors == (3, 8)
    assert len(result.selected) == 1
    assert len(result.features) == 6
    done = run("select", folder / "table.csv", "--config", folder / "good.toml", "--json",
               "--max-features", 2)  # fmt: skip
    result = SelectionResult.from_json(done.stdout.decode())
    assert result.provenance.parameters["max_features"] == 2  # whatever the tests say
    done = run("select", folder / "semicolons.csv", "--delimiter", ";", "--target", "kind", *FAST)
    assert b"X4" in done.stdout


def test_screening_and_samples_are_options_and_told(folder, tmp_path):
    (tmp_path / "few.toml").write_text('screen = 2\nmax_samples = "none"\n')
    done = run("select", folder / "table.csv", "--target", "Y", "--exclude", "kind", *FAST,
               "--config", tmp_path / "few.toml", "--correction", "none",
               "--statistic", "ksg")  # fmt: skip
    assert done.returncode == 0, done.stderr
    text = done.stdout.decode()
    assert "6 candidates were ranked by tables of counts, and the 2 best were estimated.\n" in text
    assert "p is that of a column alone, not of the best of 6 candidates" in text
    assert "infosieve: --correction none: p is that of a column alone" in done.stderr.decode()
    for option, value in (("0.9", 0.9), ("none", None), ("50", 50), ("auto", "auto")):
        done = run("select", folder / "table.csv", "--target", "Y", "--json", "--quiet", *FAST,
                   "--max-samples", option, "--screen", "none")  # fmt: skip
        asked = SelectionResult.from_json(done.stdout.decode()).provenance.parameters
        assert (asked["max_samples"], asked["screen"]) == (value, None)


def test_reports_and_the_demo(folder, tmp_path):
    page, kept = tmp_path / "page.html", tmp_path / "result.json"
    done = run("select", folder / "table.csv", "--target", "Y", "--json", "--html", page, *FAST)
    assert page.read_text().startswith("<!doctype html>")
    assert b"page.html written" in done.stderr
    kept.write_bytes(done.stdout)
    run("report", kept, "--html", tmp_path / "again.html")
    assert (tmp_path / "again.html").read_text() == page.read_text()
    for command in (["choose-k"], ["cluster", "--n-clusters", 2]):
        options = ["--target", "Y", "--exclude", "kind", "--json"]
        done = run(command[0], folder / "table.csv", *options, *command[1:])
        again = run("report", "-", "--html", tmp_path / "other.html", stdin=done.stdout)
        assert again.returncode == 0
        assert "<h1>" in (tmp_path / "other.html").read_text()
    test = permutation_test(frame()[["X4"]], frame()["Y"], "X4", random_state=0)
    again = run("report", "-", "--html", tmp_path / "test.html", stdin=test.to_json().encode())
    assert again.returncode == 0, again.stderr
    assert "<h1>" in (tmp_path / "test.html").read_text()
    done = run("demo", "friedman", cwd=tmp_path)
    lines = done.stdout.decode().strip().splitlines()
    assert lines[-2:] == ["found: X1, X2, X3, X4, X5", "truth: X1, X2, X3, X4, X5"]
    assert done.stderr.decode().strip().endswith("infosieve-demo.html")
    assert (tmp_path / "infosieve-demo.html").exists()


AGAIN = {
    "select": ["select", "table.csv", *T, "--max-features", "2", "--n-permutations", "99"],
    "declared": ["select", "table.csv", "--target", "level", "--categorical", "level",
                 "--categorical", "X6", "--n-neighbors", "4,9", "--max-features", "1"],
    "choose-k": ["choose-k", "table.csv", *T, "--n-neighbors", "2,6", "--categorical", "X6"],
    "groups": ["select", "table.csv", *T, "--groups", "who", "--missing", "value", "--max-features",
               "1"],
    "series": ["select", "table.csv", *T, "--series-window", "3", "--max-features", "1",
               "--exclude", "who"],
    "cluster": ["cluster", "table.csv", "--target", "level", "--categorical", "level",
                "--n-clusters", "3", "--exclude", "kind", "--exclude", "Y"],
}  # fmt: skip


@pytest.mark.parametrize("case", AGAIN)
def test_to_have_it_again(case, tmp_path):
    """The command that the result names, and the code: both give the result again."""
    table = frame().round({"X6": 0})
    table["level"] = np.digitize(table["Y"], [12, 16])
    table["who"] = np.repeat([f"p{i}" for i in range(20)], 3)
    if case in ("groups", "series"):
        table.loc[3, "X2"] = np.nan
    else:
        table = table.drop(columns="who")
    table.to_csv(tmp_path / "table.csv", index=False)
    done = run(*AGAIN[case], "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    first = json.loads(done.stdout)
    known = first["provenance"]
    program, *arguments = shlex.split(known["command"])
    assert program == "infosieve"
    again = json.loads(run(*arguments, cwd=tmp_path).stdout)
    assert again["provenance"]["command"] == known["command"]
    target = AGAIN[case][3]
    table_again = read_exactly(tmp_path / "table.csv")
    names = {"X": table_again[first["features"]], "y": table_again[target]}
    names["groups"] = table.get("who")
    start, _, call = known["code"].partition("\n\n")
    exec(start, names)
    got = eval(call, names)
    got = json.loads(getattr(got, "result_", got).to_json())
    assert got["provenance"]["data"] == known["data"]
    assert got["provenance"]["code"] == known["code"] or case == "cluster"
    for result in (got, again, first):
        del result["provenance"]
    assert got == again == first


def test_code_has_arrays_as_lists():
    X = np.random.default_rng(0).integers(0, 3, (40, 4)).astype(float)
    mask = np.array([True, False, False, True])
    chosen = np.array([1, 2])
    test = permutation_test(X, X[:, 0], chosen, given=[np.int64(3)], discrete_features=mask,
                            discrete_target=True, random_state=0)  # fmt: skip
    start, _, call = test.provenance.code.partition("\n\n")
    assert "discrete_features=[True, False, False, True], discrete_target=True" in call
    names = {"X": X, "y": X[:, 0]}
    exec(start, names)
    assert eval(call, names).to_json() == test.to_json()


def test_odd_names_flags_and_compressed_files(folder, tmp_path):
    out = tmp_path / "o.csv"
    options = ["--target", "self", "--categorical", "level", "--exclude", "flag", "--out", out]
    done = run("select", folder / "odd.csv", *options, *FAST)
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout.decode() + done.stderr.decode()
    assert "self" in pd.read_csv(out)
    assert out.stat().st_mode & 0o777 == 0o666 & ~current_umask()
    options = ["--target", "Y", "--exclude", "level", "--missing", "drop"]
    assert run("select", folder / "odd.csv", *options, *FAST).returncode == 0
    plain = run("select", folder / "table.csv", "--target", "Y", "--quiet", *FAST)
    assert (
        run("select", folder / "table.csv.gz", "--target", "Y", "--quiet", *FAST).stdout
        == plain.stdout
    )
    ascii_only = run("select", folder / "table.csv", "--target", "Y", "--quiet", *FAST,
                     env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})  # fmt: skip
    assert ascii_only.returncode == 0
    table = read_exactly(folder / "table.csv")
    table.to_csv(tmp_path / "commas.csv", index=False, sep=";", decimal=",")
    options = ["--delimiter", ";", "--decimal", ",", "--target", "Y", "--quiet"]
    assert run("select", tmp_path / "commas.csv", *options, *FAST).stdout == plain.stdout
    bare = run()
    assert bare.stdout.startswith(b"Usage: infosieve")


def current_umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


COMMANDS_OF = {
    MISelector: cli.select.select,
    relevance_test: cli.questions.relevance_test,
    permutation_test: cli.questions.permutation_test,
    choose_k: cli.questions.choose_k,
    FeatureClustering: cli.questions.cluster,
    stability: cli.questions.stability,
}


@pytest.mark.parametrize("function", COMMANDS_OF, ids=lambda one: one.__name__)
def test_every_parameter_has_an_option(function):
    renamed = {"n_jobs": "jobs", "random_state": "seed", "verbose": "quiet", "executor": "dask"}
    renamed |= {"discrete_features": "categorical", "discrete_target": "categorical"}
    options = set(COMMANDS_OF[function].asks.signature().parameters)
    wanted = set(inspect.signature(function).parameters) - {"X", "y", "selector"}
    assert {renamed.get(name, name) for name in wanted} <= options


@pytest.mark.parametrize("function", COMMANDS_OF, ids=lambda one: one.__name__)
def test_defaults_are_those_of_the_library(function):
    """But for the threads: a command has the machine to itself."""
    options = COMMANDS_OF[function].asks.signature().parameters
    assert options["jobs"].default == -1
    for name, parameter in inspect.signature(function).parameters.items():
        if name in options:
            default = options[name].default
            value = literal(default) if isinstance(default, str) else default
            assert value == parameter.default or name in ("candidates", "given"), name


SETTINGS_OF = {
    MISelector: settings.SelectorSettings,
    FeatureClustering: settings.ClusteringSettings,
    permutation_test: settings.TestSettings,
    relevance_test: settings.RelevanceSettings,
    choose_k: settings.ChoiceSettings,
    stability: settings.StabilitySettings,
}


@pytest.mark.parametrize("function", SETTINGS_OF, ids=lambda one: one.__name__)
def test_settings_are_the_parameters_of_the_function(function):
    kind, signature = SETTINGS_OF[function], inspect.signature(function).parameters
    of_call = {"X", "y", "selector", "candidates", "given", "groups"}
    assert set(kind.parameters()) - of_call == set(signature) - of_call
    for one in dataclasses.fields(kind):
        if one.name in set(signature) - {"n_jobs", "random_state"}:  # at rest: one, and a seed
            assert one.default == signature[one.name].default, one.name


def test_help_has_what_most_users_need_and_help_all_the_rest():
    first, whole = (run("select", how).stdout.decode() for how in ("--help", "--help-all"))
    experts = "null correction resample removal method metric screen max-samples n-neighbors"
    for name in f"{experts} delimiter decimal encoding".split():
        assert f"--{name} " not in first
        assert f"--{name} " in whole
    assert len(whole) > len(first)
    for name in ("target", "alpha", "stop", "seed", "html", "help-all"):
        assert f"--{name}" in first
    done = run("cluster", "--help-all", "--target", "Y")
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_nothing_heavy_is_imported_to_answer_at_once(argument):
    code = (
        "import sys\n"
        "from infosieve.cli import main\n"
        "try:\n"
        f"    main([{argument!r}])\n"
        "finally:\n"
        "    print(*sys.modules, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True)
    assert done.returncode == 0
    heavy = {"numpy", "pandas", "sklearn", "numba", "pyarrow", "scipy", "plotly", "distributed"}
    assert heavy & set(done.stderr.decode().split()) == set()


NEVER_INSTALLED = """
import importlib.metadata
import runpy
known = importlib.metadata.distribution
def distribution(name):
    if name == "infosieve":
        raise importlib.metadata.PackageNotFoundError(name)
    return known(name)
importlib.metadata.distribution = distribution
runpy.run_module("infosieve", run_name="__main__", alter_sys=True)
"""


@pytest.mark.parametrize("arguments", [["--version"], ["select", "table.csv", *FAST, "--json"]])
def test_a_source_tree_that_was_never_installed_works(arguments, folder):
    """There, nothing but the package itself knows its version."""
    path = os.pathsep.join([str(Path(cli.__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
    more = ["--target", "Y", "--features", "X4"] if len(arguments) > 1 else []
    done = subprocess.run(
        [sys.executable, "-c", NEVER_INSTALLED, *arguments, *more],
        capture_output=True,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": path},
    )
    assert done.returncode == 0, done.stderr
    version = done.stdout.decode().strip()
    if more:
        version = SelectionResult.from_json(done.stdout.decode()).provenance.versions["infosieve"]
    assert version == infosieve.__version__


def test_help_says_what_there_is():
    done = run("--help")
    assert all(
        word in done.stdout for word in (b"select", b"choose-k", b"cluster", b"report", b"demo")
    )
    for command in ("select", "choose-k", "cluster", "report", "demo"):
        assert run(command, "--help").returncode == 0
    version = run("--version").stdout.decode().strip()
    assert re.fullmatch(r"\d+\.\d+\.\d+", version)


# --- mistakes


MISTAKES = [
    (["select"], "Missing argument 'FILE'"),
    (["selct", "table.csv"], "No such command 'selct'"),
    (["select", "table.csv"], "Missing option '--target'"),
    (["select", "table.csv", *T, "--alpa", "1"], "No such option"),
    (["select", "table.csv", *T, "--random-state", "1"], "do you mean --seed?"),
    (["relevance-test", "table.csv", *T, "--n_permutations=9"], "do you mean --n-permutations?"),
    (["cluster", "table.csv", *T, "--n_jobs", "1"], "--n_jobs is no option; do you mean --jobs?"),
    (["select", "table.csv", *T, "--exclude", "X1,X2"],
     "'X1,X2' is no column; --exclude names one: give several, --exclude a"),
    (["select", "table.csv", *T, "--categorical", "X1, X[23]"],
     "--categorical names one: give several, --categorical a --categorical b"),
    (["select", "table.csv", *T, "--features", "X1,X9"], "'X1,X9' is no column; --features names"),
    (["select", "table.csv", "--target", "Y,X1"], "'Y,X1' is no column; --target takes one column"),
    (["select", "table.csv", *T, "--groups", "X2,X1"], "--groups takes one column"),
    (["select", "table.csv", *T, "--alpha", "many"], "'many' is not a valid float|--alpha"),
    (["select", "tabel.csv", *T], "tabel.csv: no such file; do you mean table"),
    (["select", "nowhere/at/all.csv", *T], "no such file"),
    (["select", "directory", *T], "directory has no Parquet files"),
    (["select", "empty.csv", *T], "empty.csv is empty"),
    (["select", "blank.csv", *T], "blank.csv is empty"),
    (["select", "header.csv", *T], "has a header and no rows"),
    (["select", "one.csv", "--target", "a"], "has one column, 'a'"),
    (["select", "table.tsv", *T, "--delimiter", ","], "has one column|separated by"),
    (["select", "commas.csv", *T, "--delimiter", ";", "--decimal", "."], "pass --decimal , to re"),
    (["select", "latin.csv", *T, "--encoding", "utf-8"], "latin.csv is no text in utf-8 (line 1)"),
    (["select", "table.csv", *T, "--encoding", "martian"], "'martian' is none that Python knows"),
    (["select", "table.csv", *T, "--dates", "julian"], "--dates must be one of error, ordinal"),
    (["select", "table.csv", *T, "--sheet", "One"], "--sheet 'One': table.csv is no Excel file"),
    (["select", "twice.csv", *T], "more than one column named 'a'"),
    (["select", "headless.csv", *T], "first row of numbers (1, 2, 3, ...): it needs a header"),
    (["select", "ragged.csv", *T], "row 2 has 2 values, the first row has 3 ('4,5')"),
    (["select", "row.csv", *T], "one sample"),
    (["select", "constant.csv", *T], "column 'Y' of y is constant"),
    (["select", "flat.csv", *T], "All 2 columns of X are constant"),
    (["select", "stray.csv", *T], "column 'X3' holds numbers but for 'oops' in row 5"),
    (["select", "table.csv", *T, "--decimal", ","], "--decimal must be . or ,"),
    (["select", "table.csv", *T, "--delimiter", ";;"], "--delimiter must be one character"),
    (["select", "none.parquet", *T], "none.parquet has no columns"),
    (["select", "table.csv", *T, "--out", "table.csv", *FAST, "--quiet"], "is the input itself"),
    (["select", "table.csv", *T, "--config", "typed.toml"], "'alpha' must be a text, a number"),
    (["select", "table.csv", *T, "--config", "flag.toml"], "'json' must be true or false"),
    (["select", "gaps.csv", *T, "--missing", "error"], "(NaN) in 1 of its columns: 'X2' (2)"),
    (["select", "gaps.csv", "--target", "X2", "--missing", "error"],
     "gaps.csv: the target 'X2' has no value in 2 of 60 rows (the first is row 4)"),
    (["select", "gaps.csv", *T, "--missing", "never"], "--missing must be one of 'auto', 'value'"),
    (["select", "table.csv", *T, "--groups", "kinds"], "--groups 'kinds' is no column; do you"),
    (["select", "table.csv", *T, "--groups", "Y"], "--groups and --target are one column, 'Y'"),
    (["select", "table.csv", *T, "--groups", "kind", "--series"], "--series is for rows in order"),
    (["choose-k", "table.csv", *T, "--series-window", "0"], "'--series-window': Input should be"),
    (["select", "missing.csv", *T, "--missing", "drop"], "3 of 3 samples have missing values"),
    (["select", "infinite.csv", *T], "infinite values"),
    (["select", "broken.parquet", *T], "broken.parquet cannot be read"),
    (["select", "broken.feather", *T], "broken.feather cannot be read"),
    (["select", "binary.csv", *T], "binary.csv"),
    (["select", "table.csv", "--target", "y"], "--target 'y' is no column; do you mean 'Y'?"),
    (["select", "table.csv", "--target", "Kind"], "do you mean 'kind'"),
    (["select", "table.csv", "--target", "zzz"], "there are 'X1', 'X2'"),
    (["select", "table.csv", *T, "--features", "Z*"], "--features 'Z*' is no column"),
    (["select", "table.csv", *T, "--exclude", "Q"], "--exclude 'Q' is no column"),
    (["select", "table.csv", *T, "--categorical", "Q9"], "--categorical 'Q9' is no column"),
    (["select", "table.csv", *T, "--features", "Y"], "--features has the target, 'Y'"),
    (["select", "table.csv", *T, "--alpha", "2"], "--alpha must be a number between"),
    (["select", "table.csv", *T, "--criterion", "x"], "--criterion must be one of"),
    (["select", "table.csv", *T, "--n-neighbors", "9,3"], "--n-neighbors must be"),
    (["select", "table.csv", *T, "--n-neighbors", "99"], "asks for 99 neighbours, but 60"),
    (["select", "table.csv", *T, "--max-features", "0"], "--max-features"),
    (["select", "table.csv", *T, "--jobs", "0"], "--jobs"),
    (["select", "table.csv", *T, "--seed", "-1"], "must be a whole number of at least 0. Got -1"),
    (["select", "table.csv", *T, "--out", "x.xlsx"], "x.xlsx: the ending must be one of"),
    (["select", "table.csv", *T, "--out", "no/where.csv"], "there is no directory 'no'"),
    (["select", "table.csv", *T, "--out", "directory"], "the ending must be"),
    (["select", "table.csv", *T, "--config", "none.toml"], "--config none.toml: No such file"),
    (["select", "table.csv", *T, "--config", "bad.toml"], "--config bad.toml is no TOML"),
    (["select", "table.csv", *T, "--config", "unknown.toml"], "has 'alfa', which is no option"),
    (["select", "table.csv", *T, "--checkpoint", "damaged.json"], "Nothing was overwritten"),
    (["select", "table.csv", *T, "--checkpoint", "no/c.json"], "checkpoint cannot be written"),
    (["select", "table.csv", *T, "--html", "x.pdf"], "x.pdf: the ending must be one of .html"),
    (["select", "table.csv", *T, "--html", "no/x.html"], "there is no directory 'no'"),
    (["select", "table.csv", *T, "--full", "--json"], "add --html page.html, or leave --full out"),
    (["report", "none.json"], "none.json cannot be read: No such file"),
    (["report", "damaged.json"], "damaged.json is no result of infosieve"),
    (["report", "binary.csv"], "binary.csv is no text"),
    (["report", "table.csv"], "table.csv is no result of infosieve"),
    (["report", "impossible.json"], "damaged: 'selected' must be what the steps select, [0]"),
    (["demo", "mnist"], "mnist"),
    (["select", "table.csv", *T, "--dask", "nonsense"], "--dask, unless it is local, must be the"),
    (["cluster", "table.csv", *T, "--dask", "tcp://host"], "Got 'tcp://host' instead"),
    (["choose-k", "table.csv", *T, "--dask", "http://host:80"], "such as 'tcp://10.0.0.1:8786'"),
    (["select", "table.csv", *T, "--checkpoint", "pipe"], "The checkpoint pipe is a pipe"),
    (["select", "table.csv", *T, "--html", "pipe.html"], "pipe.html is a pipe; name a file"),
    (["report", "result.json", "--html", "pipe.html"], "pipe.html is a pipe; name a file"),
    (["demo", "--html", "pipe.html"], "pipe.html is a pipe; name a file"),
    (["cluster", "table.csv", *T, "--features", "kind"], "all are categories: 'kind'"),
    (["cluster", "table.csv", *T, "--exclude", "kind", "--n-clusters", "9"], "asks for 9 clusters"),
    (["choose-k", "table.csv", *T, "--n-neighbors", "9,3"], "--n-neighbors must be"),
    (["select", "table.csv", *T, "--n-permutations", "many"], "--n-permutations"),
    (["select", "table.csv", *T, "--screen", "many"], "--screen must be 'auto', an int"),
    (["select", "table.csv", *T, "--screen", "1"], "--screen must be 'auto', an int"),
    (["select", "table.csv", *T, "--max-samples", "1.5"], "--max-samples must be 'auto'"),
    (["select", "table.csv", *T, "--stop", "never"], "--stop must be one of"),
    (["report", "result.json", "--out", "page.html"], "No such option"),
    (["select", "table.csv", *T, "--seed", "1", "--seed=1"], "--seed is given twice: give it once"),
    (["select", "table.csv", *T, *T], "--target is given twice"),
    (["demo", "--html", "a.html", "--html", "b.html"], "--html is given twice"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "message"), MISTAKES, ids=lambda v: str(v)[:60])
def test_mistakes_are_told_in_one_line(arguments, message, folder):
    done = run(*arguments, cwd=folder)
    assert done.returncode == 2, done.stderr.decode()
    assert done.stdout == b""
    lines = done.stderr.decode().strip().splitlines()
    (said,) = [line for line in lines if not line.startswith("infosieve: compiling")]
    assert said.startswith("infosieve: error: ")
    assert any(part in said for part in message.split("|")), said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["report", "a.html", "--html", "a.html"], "--html a.html is the input itself"),
        (["report", "a.html", "--html", "./a.html"], "--html ./a.html is the input itself (a."),
        (["report", "a.html", "--html", "soft.html"], "--html soft.html is the input itself"),
        (["report", "a.html", "--html", "hard.html"], "--html hard.html is the input itself"),
        (["select", "a.csv", *T, "--checkpoint", "a.csv", "--out", "a.csv"],
         "--checkpoint a.csv is the input itself"),
        (["select", "a.csv", *T, "--html", "table.html"], "--html table.html is the input itself"),
        (["select", "a.csv", *T, "--out", "b.csv", "--checkpoint", "there/../b.csv"],
         "--checkpoint there/../b.csv and --out b.csv are the same file"),
        (["select", "a.csv", *T, "--out", "new.csv", "--html", "to-new.html"],
         "--out new.csv and --html to-new.html are the same file"),
        (["select", "a.csv", *T, "--config", "c.toml", "--checkpoint", "c.toml"],
         "--config c.toml and --checkpoint c.toml are the same file"),
        (["cluster", "a.csv", *T, "--config", "c.toml", "--html", "config.html"],
         "--config c.toml and --html config.html are the same file"),
        (["choose-k", "a.csv", *T, "--config", "c.toml", "--html", "config.html"],
         "--config c.toml and --html config.html are the same file"),
        (["cluster", "a.csv", *T, "--out", "a.csv"], "--out a.csv is the input itself"),
        (["choose-k", "a.csv", *T, "--html", "table.html"], "--html table.html is the input"),
    ],
    ids=str,
)  # fmt: skip
def test_one_file_for_two_purposes_is_refused(arguments, message, tmp_path):
    frame().to_csv(tmp_path / "a.csv", index=False)
    for name in ("a.html", "c.toml", "b.csv"):
        (tmp_path / name).write_text("")
    (tmp_path / "there").mkdir()
    links = {"soft": "a.html", "table": "a.csv", "to-new": "new.csv", "config": "c.toml"}
    for name, to in links.items():
        (tmp_path / f"{name}.html").symlink_to(to)
    os.link(tmp_path / "a.html", tmp_path / "hard.html")
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir() if p.is_file()}
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    (said,) = done.stderr.decode().strip().splitlines()
    assert message in said
    assert before == {p.name: p.read_bytes() for p in tmp_path.iterdir() if p.is_file()}


def test_streams_are_files_too(tmp_path):
    frame().to_csv(tmp_path / "a.csv", index=False)
    before = (tmp_path / "a.csv").read_bytes()
    command = [*COMMAND, "select", "-", *T, *FAST, "--quiet"]
    with open(tmp_path / "a.csv", "ab") as end:
        for more, stdout in ((["--out", "a.csv"], subprocess.PIPE), (["--json"], end)):
            with open(tmp_path / "a.csv", "rb") as file:
                done = subprocess.run([*command, *more], stdin=file, stdout=stdout, cwd=tmp_path,
                                      stderr=subprocess.PIPE)  # fmt: skip
            assert done.returncode == 2
            assert b"is the input itself (-); name another file" in done.stderr
            assert (tmp_path / "a.csv").read_bytes() == before


def no_room(monkeypatch, *endings):
    """No room on the disk for files of some names."""
    original = os.replace

    def replaced(fresh, target):
        if str(target).endswith(endings):
            raise OSError(errno.ENOSPC, "No space left on device")
        original(fresh, target)

    monkeypatch.setattr(os, "replace", replaced)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    monkeypatch.setattr(announcer, "silent", announcer.silent)


COMMANDS = {
    "select": [*FAST, "--quiet"],
    "cluster": ["--exclude", "kind", "--n-clusters", "2", "--quiet"],
    "choose-k": ["--exclude", "kind"],
}


@pytest.mark.parametrize("failing", [(".html",), (".csv",), (".html", ".csv")], ids=str)
@pytest.mark.parametrize("command", COMMANDS)
def test_what_cannot_be_written_loses_nothing(
    command, failing, folder, tmp_path, monkeypatch, capsys
):
    """The result is printed, the other file is written, and the error names the file."""
    files = {".html": tmp_path / "page.html", ".csv": tmp_path / "out.csv"}
    options = {".html": "--html", ".csv": "--out"}
    if command == "choose-k":
        del files[".csv"]
    arguments = [command, str(folder / "table.csv"), *T, *COMMANDS[command], "--json"]
    for ending, file in files.items():
        arguments += [options[ending], str(file)]
    no_room(monkeypatch, *failing)
    with pytest.raises(SystemExit) as stopped:
        cli.main(arguments)
    printed, said = capsys.readouterr()
    assert json.loads(printed)["schema"].startswith("infosieve/")
    expected = [file for ending, file in files.items() if ending in failing]
    assert stopped.value.code == (2 if expected else 0)
    lines = [line for line in said.splitlines() if "error" in line]
    reason = "cannot be written: No space left on device; name another file"
    assert sorted(lines) == sorted(f"infosieve: error: {f} {reason}" for f in expected)
    written = [file for file in files.values() if file not in expected]
    assert sorted(tmp_path.iterdir()) == sorted(written)
    assert all(f"infosieve: {f} written" in said for f in written)


def test_reports_that_cannot_be_written_are_named(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    no_room(monkeypatch, ".html")
    for arguments in (["report", str(folder / "result.json")], ["demo", "friedman"]):
        with pytest.raises(SystemExit, match="2"):
            cli.main([*arguments, "--html", "page.html"])
        printed, said = capsys.readouterr()
        assert "error: page.html cannot be written: No space left on device" in said
        assert ("truth: X1, X2" in printed) == (arguments[0] == "demo")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("how", [["--json"], []])
def test_files_are_written_whoever_reads_the_output(how, folder, tmp_path):
    """A reader that goes away, or a full disk there, costs no file that was asked for."""
    options = [*FAST, "--quiet", "--out", "out.csv", "--html", "page.html", *how]
    command = [*COMMAND, "select", folder / "table.csv", *T, *options]
    read, write = os.pipe()
    os.close(read)
    outputs = {write: 141}
    if os.path.exists("/dev/full"):
        outputs[os.open("/dev/full", os.O_WRONLY)] = 2
    for stdout, status in outputs.items():
        done = subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, cwd=tmp_path)
        os.close(stdout)
        assert done.returncode == status
        assert (b"No space left on device" in done.stderr) == (status == 2)
        assert b"Exception ignored" not in done.stderr
        for name in ("out.csv", "page.html"):
            (tmp_path / name).unlink()


def test_every_exit_status_is_documented(monkeypatch, capsys):
    said = run("--help").stdout.decode()
    page = (Path(__file__).parents[1] / "docs/command.md").read_text()
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    for error, status in (
        (None, 0),
        (WorkersLostError("gone"), 1),
        (KeyError("what nobody expected"), 1),
        (RecursionError("deep"), 1),
        (ValueError("bad"), 2),
        (PermissionError("no"), 2),
        (ImportError("no library"), 2),
        (RuntimeError("a mistake of ours"), 1),
        (MissingRequirementError("no GPU"), 2),
        (KeyboardInterrupt(), 130),
    ):

        def ended(*_, error=error, **__):
            if error is not None:
                raise error

        monkeypatch.setattr(cli, "app", ended)
        with pytest.raises(SystemExit) as stopped:
            cli.main(["demo"])
        assert stopped.value.code == status
        for text in (said, page):
            assert re.search(rf"\b{status} ", text.partition("Exit status: ")[2]), status
    capsys.readouterr()


def test_a_gpu_that_is_not_there_is_bad_input(folder):
    if importlib.util.find_spec("cupy"):
        pytest.skip("CuPy is here")
    for command in ("select", "choose-k"):
        done = run(command, folder / "table.csv", *T, "--device", "cuda")
        assert done.returncode == 2
        assert b"--device is 'cuda', but CuPy is not here" in done.stderr


def test_debug_shows_where_an_error_comes_from(folder):
    done = run("--debug", "select", "table.csv", "--target", "y", cwd=folder)
    assert b"Traceback" in done.stderr
    assert done.returncode == 2


def test_a_full_disk_is_told(folder):
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full here")
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*COMMAND, "select", str(folder / "table.csv"), *T, "--json", "--quiet", *FAST],
            stdout=full,
            stderr=subprocess.PIPE,
        )
    assert done.returncode == 2
    assert b"infosieve: error: [Errno 28] No space left on device" in done.stderr


def test_a_reader_that_goes_away_is_no_error(folder):
    with subprocess.Popen(
        [*COMMAND, "select", str(folder / "table.csv"), *T, "--json", "--quiet", *FAST],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


# --- signals and terminals


def wide(folder):
    path = folder / "wide.parquet"
    if not path.exists():
        rng = np.random.default_rng(0)
        X = pd.DataFrame(rng.normal(size=(150, 120))).add_prefix("c")
        X.assign(Y=X["c0"] + X["c1"] ** 2 + 0.5 * rng.normal(size=150)).to_parquet(path)
    return path


@pytest.mark.parametrize("more", [[], ["--json"], ["--checkpoint", "steps.json"]])
def test_control_c_gives_what_was_found(more, folder, tmp_path):
    """All that was asked for: the table or JSON, --out and --html, marked as unfinished."""
    options = ["--target", "Y", "--seed", "0", "--out", "out.csv", "--html", "page.html", *more]
    interrupted = in_step(2, "signal.raise_signal(signal.SIGINT)")
    done = run("select", wide(folder), *options, cwd=tmp_path, first=interrupted, text=True)
    assert done.returncode == 130
    last = done.stderr.strip().splitlines()[-1]
    assert "fit was interrupted; the 1 steps that were finished are kept" in last
    assert "Traceback" not in done.stderr
    lines = done.stdout.splitlines()
    if "--json" in more:
        result = SelectionResult.from_json(done.stdout)
        assert (result.stop_reason, len(result.steps)) == ("interrupted", 1)
    else:
        assert lines[0].startswith("unfinished: 1 of 120 features selected so far (150")
        assert any(line.startswith("Unfinished: the search was broken off") for line in lines)
        assert lines[-1] == "seed 0; stop reason: interrupted"
    assert pd.read_csv(tmp_path / "out.csv").shape == (150, 2)
    assert "Unfinished: the search was broken off" in (tmp_path / "page.html").read_text()
    kept = {"out.csv", "page.html", *more[1:]}
    assert {p.name for p in tmp_path.iterdir()} == kept


@pytest.mark.parametrize("lost", [KeyboardInterrupt, WorkersLostError])
@pytest.mark.parametrize("n_steps", [0, 1])
def test_what_was_found_before_the_end_is_kept(
    lost, n_steps, folder, tmp_path, monkeypatch, capsys
):
    kept = SelectionResult.from_json((folder / "result.json").read_text())
    broken = replace(kept, stop_reason="interrupted")
    if n_steps == 0:
        broken = replace(broken, steps=(), selected=())

    def fit(self, X, y, groups=None):
        self.result_ = broken
        raise lost("the 1 steps that were finished are kept")

    monkeypatch.setattr(MISelector, "fit", fit)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    place = tmp_path / "no" / "out.csv"
    arguments = ["select", str(folder / "table.csv"), *T, "--features", "X[45]"]
    for more in ([], ["--json"], ["--out", str(place)]):
        place.parent.mkdir(exist_ok=True)
        monkeypatch.setattr("infosieve.cli.places.write_table", cannot_write)
        with pytest.raises(SystemExit) as stopped:
            cli.main([*arguments, *more])
        assert stopped.value.code == (130 if lost is KeyboardInterrupt else 1)
        printed, said = capsys.readouterr()
        lines = said.splitlines()
        assert lines[-1] == "infosieve: error: the 1 steps that were finished are kept"
        assert lines[:-1] == ["infosieve: error: no room"] * ("--out" in more and n_steps > 0)
        if n_steps == 0:
            assert printed == ""
        elif "--json" in more:
            assert SelectionResult.from_json(printed).steps == kept.steps
        else:
            assert "stop reason: interrupted" in printed


def cannot_write(*_):
    raise OSError("no room")


def test_questions_that_cannot_be_answered_cost_no_selection(tmp_path):
    """Three groups cannot be halved: the selection, and what else is finished, is told first."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    table = table.assign(who=np.arange(60) // 20, Y=table["a"] + 0.1 * rng.normal(size=60))
    table.to_csv(tmp_path / "table.csv", index=False)
    asked = ["--groups", "who", "--full", "--html", "page.html", "--out", "out.csv", "--seed", 0]
    done = run("select", "table.csv", *T, *asked, cwd=tmp_path)
    assert done.returncode == 2
    assert b"3 groups cannot be halved" in done.stderr.splitlines()[-1]
    assert b"of 2 features selected (60 samples)" in done.stdout
    assert b"relevant" in done.stdout
    assert (tmp_path / "out.csv").exists()
    assert "by themselves (false discovery rate" in (tmp_path / "page.html").read_text()


def test_full_asks_which_columns_are_redundant(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"])
    table["twice"] = table["a"] + 0.1 * rng.normal(size=60)
    table.loc[:20, "twice"] = np.nan  # medians would hide that it follows a
    table["kind"] = rng.choice(["u", "v"], 60)
    table["name"] = [f"n{i}" for i in range(60)]
    table = table.assign(Y=table["b"] + 0.1 * rng.normal(size=60))
    table.to_csv(tmp_path / "table.csv", index=False)
    asked = ["--lookahead", 1, "--full", "--html", "page.html", "--seed", 0, "--quiet"]
    done = run("select", "table.csv", *T, *asked, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.decode().splitlines()
    assert "3 clusters of 4 features (rank correlation of 0.7 or more)" in lines
    assert "  0: a, twice" in lines
    assert b"missing values" not in done.stderr
    assert done.stderr.count(b"identifiers") == 1  # told once
    page = html.unescape((tmp_path / "page.html").read_text())
    answer = "a and twice (rank correlation of 0.7 or more). Not among the clusters"
    assert answer in re.sub(r"\s+", " ", re.sub("<[^>]*>", "", page))


def test_what_control_c_broke_off_is_silent(monkeypatch, capsys):
    """A compiler's half-made objects complain when they are collected, after the message."""

    class HalfMade:
        def __del__(self):
            raise AttributeError("no pointer yet")

    def interrupted(*_, **__):
        half = HalfMade()
        raise KeyboardInterrupt(f"while there was a {type(half).__name__}")

    monkeypatch.setattr(cli, "app", interrupted)
    monkeypatch.setattr(sys, "unraisablehook", sys.__unraisablehook__)
    with pytest.raises(SystemExit, match="130") as stopped:
        cli.main(["demo"])
    stopped.value.__context__ = stopped.value.__cause__ = None
    del stopped
    gc.collect()
    said = capsys.readouterr().err
    assert "while there was a HalfMade" in said
    assert "no pointer yet" not in said


def test_a_killed_command_goes_on(folder, tmp_path):
    arguments = [
        "select",
        wide(folder),
        "--target",
        "Y",
        "--seed",
        0,
        "--json",
        "--max-features",
        2,
    ]
    checkpoint = tmp_path / "c.json"
    killed = in_step(2, "os.kill(os.getpid(), signal.SIGKILL)")
    done = run(*arguments, "--checkpoint", checkpoint, first=killed)
    assert done.returncode == -signal.SIGKILL
    assert b"infosieve: add c" in done.stderr
    assert len(json.loads(checkpoint.read_text())["steps"]) == 1
    again = run(*arguments, "--checkpoint", checkpoint)
    whole = run(*arguments)
    assert b"1 steps are in the checkpoint" in again.stderr
    a, b = (SelectionResult.from_json(r.stdout.decode()) for r in (again, whole))
    assert a.steps == b.steps


def test_a_bar_is_drawn_in_a_terminal(folder):
    """The table and the bar go to a pseudo-terminal; the bar is gone at the end."""
    ours, theirs = pty.openpty()
    options = ["--target", "Y", "--seed", "0", "--max-features", "1"]
    process = subprocess.Popen(
        [*COMMAND, "select", str(wide(folder)), *options],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=os.environ | {"TERM": "xterm-256color"},
    )
    os.close(theirs)
    shown = b""
    while True:
        ready, _, _ = select.select([ours], [], [], A_LONG_TIME)
        assert ready, "nothing for ten minutes"
        try:
            some = os.read(ours, 65536)
        except OSError:
            break
        if not some:
            break
        shown += some
    os.close(ours)
    assert process.wait() == 0
    text = shown.decode()
    assert "step 1, permutations" in text
    assert "left" in text
    assert "\x1b[2K" in text  # lines of the bar were erased
    assert re.search(r"1 of 120 features selected", text)


# --- tables that stay on disk, and workers


def test_a_directory_of_parquet_files_is_one_table(folder, tmp_path):
    table = frame()
    (tmp_path / "parts").mkdir()
    for i in range(3):
        part = table.iloc[i * 20 : (i + 1) * 20]
        part.to_parquet(tmp_path / "parts" / f"part-{i}.parquet")
    arguments = ["--target", "Y", "--json", "--quiet", "--categorical", "X6", *FAST]
    whole = run("select", folder / "table.parquet", *arguments)
    done = run("select", tmp_path / "parts", *arguments, "--out", tmp_path / "out.csv")
    assert done.returncode == 0, done.stderr
    ours, theirs = (SelectionResult.from_json(r.stdout.decode()) for r in (done, whole))
    assert ours.steps == theirs.steps
    assert ours.provenance.data == theirs.provenance.data
    chosen = pd.read_csv(tmp_path / "out.csv")
    assert list(chosen.columns) == [*(ours.features[j] for j in ours.selected), "Y"]
    np.testing.assert_allclose(chosen["Y"], table["Y"])


def test_gaps_are_treated_as_asked(tmp_path):
    table = frame()
    table.loc[[3, 7], "X2"] = np.nan
    table.loc[9, "kind"] = None
    table.to_parquet(tmp_path / "gaps.parquet")
    table.to_csv(tmp_path / "gaps.csv", index=False)
    table.dropna().to_csv(tmp_path / "rest.csv", index=False)
    refused = run("select", tmp_path / "gaps.parquet", *T, *FAST, "--missing", "error")
    assert refused.returncode == 2
    assert b"missing values (NaN) in 2 of its columns: 'X2' (2), 'kind' (1)" in refused.stderr
    assert b"pass --missing auto" in refused.stderr
    arguments = [*T, "--json", "--quiet", *FAST]
    rest = SelectionResult.from_json(
        run("select", tmp_path / "rest.csv", *arguments).stdout.decode()
    )
    options = {"n_permutations": 99, "alpha": 0.1, "max_features": 2, "random_state": 0}
    for name in ("gaps.parquet", "gaps.csv"):
        done = run("select", tmp_path / name, "--missing", "drop", *arguments)
        assert SelectionResult.from_json(done.stdout.decode()).steps == rest.steps
        for way in ("auto", "value", "median"):
            done = run("select", tmp_path / name, "--missing", way, *arguments)
            ref = MISelector(missing=way, **options).fit(table.drop(columns="Y"), table["Y"])
            assert SelectionResult.from_json(done.stdout.decode()).steps == ref.result_.steps


def test_a_target_with_a_unit_is_refused_in_the_words_of_the_command(tmp_path):
    table = pd.DataFrame({"a": np.arange(60.0), "Y": [f"{v / 8} kg" for v in range(60)]})
    table.to_csv(tmp_path / "table.csv", index=False)
    done = run("select", "table.csv", *T, cwd=tmp_path)
    assert done.returncode == 2
    said = done.stderr.decode().splitlines()[-1]
    assert "'Y' of y holds numbers as text" in said
    assert said.endswith(
        "Take out what is no part of the numbers in the file; if they are classes, --categorical "
        "says so."
    )


def test_rows_without_a_target_are_told(folder, tmp_path):
    out = tmp_path / "out.csv"
    done = run("select", folder / "gaps.csv", "--target", "X2", "--out", out, *FAST)
    assert done.returncode == 0
    said = done.stderr.decode()
    assert "column 'X2' of y has missing values in 2 of 60 samples (the first in row 4)" in said
    assert len(pd.read_csv(out, skip_blank_lines=False)) == 60


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_groups_and_series(ending, tmp_path):
    table = frame(120).assign(patient=np.repeat([f"p{i}" for i in range(40)], 3))
    place = tmp_path / f"t.{ending}"
    table.to_csv(place, index=False) if ending == "csv" else table.to_parquet(place)
    X, y = table.drop(columns=["Y", "patient"]), table["Y"]
    options = {"n_permutations": 99, "alpha": 0.1, "max_features": 2, "random_state": 0}
    done = run("select", place, *T, "--json", "--groups", "patient", *FAST)
    assert done.returncode == 0, done.stderr
    ref = MISelector(**options).fit(X, y, table["patient"]).result_
    got = SelectionResult.from_json(done.stdout.decode())
    assert (got.features, got.steps) == (ref.features, ref.steps)
    assert got.provenance.code.endswith(".fit(X, y, groups=groups)")
    without = ["--exclude", "patient"]
    for more, series in ((["--series"], True), (["--series-window", 4], 4)):
        done = run("select", place, *T, *without, "--json", *more, *FAST)
        ref = MISelector(series=series, **options).fit(X, y).result_
        assert SelectionResult.from_json(done.stdout.decode()).steps == ref.steps
    numbers = ["--features", "X*", "--json", "--seed", 0]
    for more, given in (
        (["--groups", "patient"], {"groups": table["patient"]}),
        (["--series"], {"series": True}),
    ):
        done = run("choose-k", place, *T, *numbers, *more)
        ref = choose_k(X.drop(columns="kind"), y, random_state=0, **given)
        np.testing.assert_array_equal(KChoice.from_json(done.stdout.decode()).t, ref.t)
        done = run("cluster", place, *T, *numbers, *more)
        assert done.returncode == 0, done.stderr


def test_workers_of_this_machine(folder):
    arguments = ["--target", "Y", "--json", *FAST]
    threads = run("select", folder / "table.parquet", *arguments)
    workers = run("select", folder / "table.parquet", *arguments, "--dask", "local", "--jobs", 2)
    assert workers.returncode == 0, workers.stderr
    ours, theirs = (SelectionResult.from_json(r.stdout.decode()) for r in (workers, threads))
    assert ours.steps == theirs.steps
    assert b"2 Dask workers, 2 threads; http://127.0.0.1:" in workers.stderr
    assert b"Traceback" not in workers.stderr
    arguments = ["--target", "Y", "--json", "--seed", 0, "--features", "X*"]
    for command in ("choose-k", "cluster"):
        one, two = (
            json.loads(run(command, folder / "table.csv", *arguments, *more).stdout)
            for more in ([], ["--dask", "local", "--jobs", 1])
        )
        assert "dask" in str(two["provenance"].pop("parameters"))
        del one["provenance"], two["provenance"]
        assert one == two


def test_a_cluster_that_is_not_there(folder):
    env = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "1s"}
    arguments = ["--target", "Y", "--dask", "tcp://127.0.0.1:9"]
    done = run("select", folder / "table.csv", *arguments, env=env)
    assert done.returncode == 1
    (said,) = done.stderr.decode().strip().splitlines()
    assert said.startswith("infosieve: error: No Dask scheduler answers at 'tcp://127.0.0.1:9'")
    assert "after 1 s" in said
    assert "distributed.comm.timeouts.connect" in said


def test_a_cluster_that_cannot_be_asked_is_no_traceback(folder):
    """A half-made client used to wait for its thread, twice Dask's time, and to complain."""
    arguments = ["--target", "Y", "--dask", "tls://127.0.0.1:9"]
    done = run("select", folder / "table.csv", *arguments)
    assert done.returncode == 1
    (said,) = done.stderr.decode().strip().splitlines()
    assert said.startswith("infosieve: error: No Dask scheduler answers at 'tls://127.0.0.1:9'")


def test_waiting_for_a_cluster_can_be_interrupted(folder):
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes calls and says nothing
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        command = [*COMMAND, "select", str(folder / "table.csv"), *T, "--dask", address]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        silent.settimeout(A_LONG_TIME)
        caller, _ = silent.accept()
        with caller:
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=A_LONG_TIME)
    assert process.returncode == 130
    assert said.decode().strip() == "infosieve: error: interrupted"


def test_an_interrupt_at_the_terminal_ends_workers_too(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 200)), columns=[f"c{j}" for j in range(200)])
    X.assign(Y=X["c0"] + X["c1"] ** 2).to_parquet(tmp_path / "wide.parquet")
    options = ["--dask", "local", "--jobs", 2, "--checkpoint", "steps.json"]
    at_terminal = "import os; os.setsid(); open('group', 'w').write(str(os.getpid()))"
    at_terminal += in_step(2, "os.killpg(0, signal.SIGINT)")
    done = run("select", "wide.parquet", *T, *options, cwd=tmp_path, first=at_terminal, text=True)
    assert done.returncode == 130
    assert "Traceback" not in done.stderr
    last = done.stderr.strip().splitlines()[-1]
    assert "the 1 steps that were finished are kept" in last
    end = time.monotonic() + A_LONG_TIME
    while members := running(int((tmp_path / "group").read_text())):
        assert time.monotonic() < end, members
        time.sleep(0.1)


def running(group):
    """Processes of a group, but for those that have ended and whom nobody has asked how."""
    found = []
    for process in psutil.process_iter():
        with suppress(ProcessLookupError, psutil.Error):
            if os.getpgid(process.pid) == group and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def test_a_pair_is_told(tmp_path):
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.uniform(-1, 1, size=(300, 5)), columns=list("abcde"))
    X["Y"] = np.sign(X["b"] * X["d"]) + 0.2 * rng.normal(size=300)
    X.to_csv(tmp_path / "pair.csv", index=False)
    done = run("select", "pair.csv", *T, "--seed", "0", cwd=tmp_path)
    assert re.search(
        "^(b and d|d and b) are a pair: what it adds and p are those", done.stdout.decode(), re.M
    )


# Modules whose messages a command does not pass on: they write Python, or read records.
_OF_PYTHON = ("cli", "datasets", "plots", "results", "_asking.py")


def messages():
    """Texts of the library, with 7 for what is filled in, and where they are.

    But for those that are for Python only: the first of either()'s.
    """
    for path in sorted(Path(infosieve.__file__).parent.rglob("*.py")):
        if set(_OF_PYTHON) & set(path.parts):
            continue
        inside = set()
        for node in ast.walk(ast.parse(path.read_text())):
            call = getattr(node, "func", None)
            if getattr(call, "id", "") in ("either", "Rule"):
                inside.update(id(part) for part in ast.walk(node.args[0]))
            if id(node) in inside or not isinstance(node, (ast.JoinedStr, ast.Constant)):
                continue
            inside.update(id(part) for part in ast.walk(node) if isinstance(part, ast.Constant))
            parts = node.values if isinstance(node, ast.JoinedStr) else [node]
            text = "".join(str(p.value) if isinstance(p, ast.Constant) else "7" for p in parts)
            if " " in text and "\n" not in text:  # docstrings have several lines
                yield f"{path.name}:{node.lineno}", text


def test_messages_of_the_library_name_options():
    """Whoever gives a command has no discrete_features, no cv=3 and no 'alpha' parameter."""
    calls = (MISelector, FeatureClustering, infosieve.relevance_test, infosieve.stability)
    names = {name for call in calls for name in inspect.signature(call).parameters}
    any_name = "|".join(sorted(names - {"X", "y", "selector", "verbose"}))
    python = re.compile(
        rf"'({any_name})' parameter|\b({any_name})=|\(({any_name})\)|\bin row \d|'({any_name})'"
    )
    gap = "(missing)"  # NaN, in words
    # What a command refuses before the library would, or does not have.
    never = ("cannot be given halves", "would be torn apart", "and the selector have an 'executor'")
    never += (
        "SelectFromModel(model)",
        "The selector has a 'checkpoint'",
        "is there after fit with stop='cv'",
    )
    every = [one for one in messages() if not any(words in one[1] for words in never)]
    assert len(every) > 300  # or they are not found any more
    assert [one for one in every if python.search(one[1].replace(gap, ""))] == []


@pytest.mark.parametrize(
    ("ask", "python", "command"),
    [
        (lambda: dialect.parameter("n_jobs"), "The 'n_jobs' parameter", "--jobs"),
        (lambda: dialect.mention("max_features"), "'max_features'", "--max-features"),
        (lambda: dialect.bare("discrete_features"), "discrete_features", "--categorical"),
        (lambda: dialect.setting("stop", None), "stop=None", "--stop none"),
        (lambda: dialect.setting("series", True), "series=True", "--series"),
        (lambda: dialect.setting("test", False), "test=False", "no --test"),
        (lambda: dialect.setting("n_neighbors", (3, 9)), "n_neighbors=(3, 9)", "--n-neighbors 3,9"),
        (lambda: dialect.row(4), "row 4", "row 5"),
        (lambda: dialect.either("X.loc", "the file"), "X.loc", "the file"),
    ],
)
def test_parameters_and_rows_in_both_dialects(ask, python, command):
    assert ask() == python
    with dialect.speaking(dialect.Dialect(OPTION_NAMES)):
        assert ask() == command
    assert ask() == python


def test_threads_of_a_worker_speak_for_whom_they_work():
    words = dialect.Dialect(OPTION_NAMES)
    first, second = threading.Event(), threading.Event()

    def work(asked, begins, ends):
        with dialect.speaking(asked):
            begins.set()
            ends.wait(A_LONG_TIME)
            return dialect.mention("alpha")

    with ThreadPoolExecutor(2) as pool:
        one = pool.submit(work, words, first, second)
        first.wait(A_LONG_TIME)
        other = pool.submit(work, dialect.PYTHON, second, first)
        assert (one.result(), other.result()) == ("--alpha", "'alpha'")
        with dialect.speaking(words):
            assert pool.submit(dialect.mention, "alpha").result() == "--alpha"
        assert pool.submit(dialect.mention, "alpha").result() == "'alpha'"


def test_halves_that_others_fit_speak_as_the_command_does(tmp_path):
    """Two processes: what goes wrong in one of them names options."""
    frame(40).assign(kind=["a"] * 36 + ["b"] * 4).to_csv(tmp_path / "table.csv", index=False)
    asked = ["--n-neighbors", "25", "--n-resamples", 2, "--jobs", 2, "--stop", "none"]
    done = run("stability", "table.csv", *T, *asked, cwd=tmp_path, text=True)
    assert done.returncode == 2
    assert re.search(r"on half . \(20 of 40 samples\): --n-neighbors asks for 25", done.stderr)


# Names that a shell, the command or its messages could take for something else.
ODD = [
    "alpha=0.1", "--seed", "--full", "--", "-", "-x", "--random-state", "--debug", "--json=1",
    "it's", 'say "x"', """both ' and \"""", "a b", "a,b", "x*", "[z]", "$HOME", "`id`", "a;b",
    "in row 3", "back\\slash", "X has missing values", "n_jobs=2 of 'y'", "'alpha' parameter",
]  # fmt: skip


@pytest.fixture
def odd(tmp_path):
    values = np.random.default_rng(0).normal(size=(40, len(ODD)))
    values[:, 1] = np.round(values[:, 1])
    table = pd.DataFrame(values, columns=ODD)
    table.to_csv(tmp_path / "-odd.csv", index=False)
    return tmp_path


def given_words(words, capsys):
    """The result that the command prints, run in this process."""
    with pytest.raises(SystemExit) as ended:
        cli.main(words)
    out, err = capsys.readouterr()
    assert not ended.value.code, err
    found = json.loads(out)
    del found["provenance"]["parameters"]["random_state"]  # the seed that was asked for, or none
    return found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("number", range(0, len(ODD), 2))
def test_the_printed_command_gives_the_result_again(number, odd, capsys, monkeypatch):
    """Columns of any name are targets, candidates, and left out; the file's name is odd, too."""
    monkeypatch.chdir(odd)
    target, feature, other, category = (ODD[(number + i) % len(ODD)] for i in range(4))
    words = ["select", "--target", target, "--features", feature, f"--features={other}"]
    words += ["--features", category, "--categorical", category, "--exclude", other, "--json"]
    words += ["--quiet", "--stop", "none", "--max-features", "1", "--", "-odd.csv"]
    first = given_words(words, capsys)
    assert set(first["features"]) == {feature, category}
    command = first["provenance"]["command"]
    again = given_words(shlex.split(command)[1:], capsys)
    assert again == first
    known = SelectionResult.from_json(json.dumps(first)).provenance
    assert _asking.given(known, "target") == [target]
    assert _asking.given(known, "features") == [feature, other, category]
    more = shlex.split(_asking._command({**known.options, "test": True}))
    assert more[-3:] == ["--test", "--", "-odd.csv"]


@pytest.mark.parametrize("name", ODD)
def test_names_of_columns_stay_in_messages(name):
    table = pd.DataFrame({name: [1.0, 2.0, 3.0, 4.0, np.nan]})
    said = f"column {shown(name)} of y has missing values in 1 of 5 samples (the first in row "
    for words, row in ((dialect.PYTHON, 4), (dialect.Dialect(OPTION_NAMES), 5)):
        with dialect.speaking(words), pytest.warns(UserWarning, match="row") as told:
            tell_of_targets(read_table(table, "y", missing="auto"), np.arange(5) == 4)
        assert str(told[0].message) == f"{said}{row}): these samples are left out."
    assert shlex.split(f"infosieve --exclude {quoted(name)}") == ["infosieve", "--exclude", name]


def test_a_name_is_that_column_whatever_it_would_match(odd, capsys, monkeypatch):
    monkeypatch.chdir(odd)
    words = ["select", "--target", "-", "--features", "x*", "--features", "[z]", "--json"]
    found = given_words([*words, "--stop", "none", "--max-features", "1", "--", "-odd.csv"], capsys)
    assert found["features"] == ["x*", "[z]"]


def test_what_would_be_shorter_is_named_as_an_option():
    selector = MISelector(screen="auto", n_permutations=199)
    for pairs, python, command in (
        (True, "lookahead=1, no pairs", "--lookahead 1, no pairs"),
        (False, "n_permutations='auto', tests that", "--n-permutations auto, tests that"),
    ):
        saving = shorter(selector, 100, 8, None)
        assert saving(pairs).startswith(python)
        with dialect.speaking(dialect.Dialect(OPTION_NAMES)):
            assert saving(pairs).startswith(command)


def test_progress_in_python_keeps_its_words(folder, capsys):
    """The command names options while it runs, and changes nothing for whoever called it."""
    with pytest.raises(SystemExit):
        cli.main(["select", str(folder / "table.csv"), *T, "--correction", "none", *FAST])
    assert "infosieve: --correction none: p is" in capsys.readouterr().err
    table = frame().drop(columns="kind")
    MISelector(correction=None, max_features=1, verbose=1).fit(table.drop(columns="Y"), table["Y"])
    assert "infosieve: correction=None: p is" in capsys.readouterr().err


def test_one_line_says_that_kernels_are_compiled(capsys, monkeypatch):
    """The first run compiles a dozen of them; another call, much later, is told of anew."""
    clock = [100.0]
    monkeypatch.setattr(jit.time, "monotonic", lambda: clock[0])
    teller = type(announcer)()
    kernel = SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=jit.kernel)})
    for _ in range(5):
        teller.on_start(kernel)
        teller.on_start(kernel)  # one that the first calls
        clock[0] += 20
        teller.on_end(kernel)
        teller.on_end(kernel)
    assert capsys.readouterr().err.count("infosieve: compiling") == 1
    clock[0] += 100
    teller.on_start(kernel)
    assert capsys.readouterr().err.count("infosieve: compiling") == 1


def test_a_subject_is_warned_of_once_whatever_the_numbers_are(capsys):
    begin_anew()
    county = {"about": "identifiers", "of": "county"}

    def warn_of_several():
        warn("county has 43 categories in 1,200 samples", **county)
        warn("county has 45 categories in 600 samples", **county)
        warn("county has 44 categories in 600 samples", **county, apart="99 of 100 halves: ")
        warn("year 1 has 3 categories", about="identifiers", of="year 1")
        warn("year 2 has 3 categories", about="identifiers", of="year 2")
        warn("column 'year 1' has gaps")
        warn("column 'year 2' has gaps")
        for gap in (0.1, 0.2):
            warnings.warn(f"another package: {gap}", FutureWarning, stacklevel=1)

    def shown_of(function):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            function()
        for one in found:
            show_warning(one.message, one.category, one.filename, one.lineno)
        return capsys.readouterr().err.splitlines()

    said = shown_of(warn_of_several)
    assert [line.removeprefix("infosieve: warning: ") for line in said] == [
        "county has 43 categories in 1,200 samples",
        "year 1 has 3 categories",
        "year 2 has 3 categories",
        "column 'year 1' has gaps",
        "column 'year 2' has gaps",
        "another package: 0.1",
    ]
    assert not shown_of(lambda: warn("county has 46 categories", **county))
    begin_anew()
    assert shown_of(lambda: warn("county has 46 categories", **county))


def test_columns_without_their_option_are_told(folder):
    done = run("select", "d.csv", "--target", "Y", "--features", "X0", "X1", cwd=folder, text=True)
    assert done.returncode == 2
    assert "extra argument(s) (X1)" in done.stderr
    assert "--features is given once for each column: --features X1" in done.stderr
    done = run("select", "d.csv", "X1", "--target", "Y", cwd=folder, text=True)
    assert "extra argument(s) (X1)" in done.stderr
    assert "once for each" not in done.stderr
