"""``infosieve relevance-test``, in a process of its own."""

import json
import re

import command
import numpy as np
import pandas as pd
import pytest

from infosieve import RelevanceTest, relevance_test
from infosieve.cli.show import show
from infosieve.results import PermutationTest


def run(*arguments):
    return command.run(*arguments, text=True)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(size=(120, 7)), columns=[f"x{j}" for j in range(7)])
    frame["kind"] = rng.choice(["a", "b"], 120)
    frame["who"] = np.arange(120) // 3
    frame["y"] = np.cos(2 * frame["x1"]) + (frame["kind"] == "a") + 0.2 * rng.normal(size=120)
    path = tmp_path_factory.mktemp("tables") / "table.csv"
    frame.to_csv(path, index=False)
    return path, frame


def test_the_table_the_page_and_the_relevant_columns(table, tmp_path):
    path, frame = table
    page, out = tmp_path / "page.html", tmp_path / "relevant.csv"
    how = ["--target", "y", "--exclude", "who", "--seed", 2, "--html", page, "--out", out]
    done = run("relevance-test", path, *how, "--jobs", 1, "--quiet")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "2 of 8 features relevant, at a false discovery rate of 0.05 (120 samples)"
    assert [line.split()[:2] for line in lines[2:4]] == [["+", "x1"], ["+", "kind"]]
    others = [re.split(r"\s{2,}", line.strip()) for line in lines[4:10]]
    assert sorted(other[0] for other in others) == ["x0", "x2", "x3", "x4", "x5", "x6"]
    p = [float(other[5]) for other in others]
    assert p == sorted(p)
    assert lines[-1] == "seed 2"
    assert pd.read_csv(out).columns.tolist() == ["x1", "kind", "y"]
    assert "2 of 8 columns are informative about y: x1 and kind" in page.read_text(encoding="utf-8")
    want = relevance_test(frame.drop(columns=["who", "y"]), frame["y"], random_state=2)
    row = want.to_frame().set_index("feature").loc["x1"]
    assert re.split(r"\s{2,}", lines[2])[2:8] == [
        f"{row['information']:.3f}",
        row["view"],
        f"{row['statistic']:.1f}",
        f"{row['chance_q95']:.1f}",
        f"{row['p_value']:.2g}",
        f"{row['q_value']:.2g}",
    ]


def test_of_many_columns_that_are_not_relevant_those_nearest_to_it_are_listed(capsys):
    rng = np.random.default_rng(6)
    result = relevance_test(rng.normal(size=(60, 14)), rng.normal(size=60), random_state=1)
    show(result)
    lines = capsys.readouterr().out.splitlines()
    assert not result.relevant.any()
    nearest = result.to_frame().sort_values("p_value", kind="stable")["feature"][:10]
    assert {line.split()[0] for line in lines[2:12]} == {str(name) for name in nearest}
    assert "... and 4 more that are not relevant" in lines


def test_json_and_options(table, tmp_path):
    path, frame = table
    config = tmp_path / "run.toml"
    config.write_text(
        'target = "y"\nn_permutations = 60\nn_neighbors = [2, 9]\nscale = "standard"\n'
    )
    how = ["--groups", "who", "--alpha", 0.2, "--seed", 5, "--jobs", 1, "--json", "--quiet"]
    done = run("relevance-test", path, "--config", config, *how)
    assert done.returncode == 0, done.stderr
    found = RelevanceTest.from_json(done.stdout)
    want = relevance_test(
        frame.drop(columns=["who", "y"]),
        frame["y"],
        groups=frame["who"],
        alpha=0.2,
        n_permutations=60,
        n_neighbors=(2, 9),
        scale="standard",
        random_state=5,
    )
    pd.testing.assert_frame_equal(found.to_frame(), want.to_frame())
    assert "infosieve relevance-test" in found.provenance.command
    kept = tmp_path / "result.json"
    kept.write_text(done.stdout)
    done = run("report", kept, "--html", tmp_path / "again.html")
    assert done.returncode == 0, done.stderr
    assert "Relevance test" in (tmp_path / "again.html").read_text(encoding="utf-8")


def test_mistakes_are_told_before_work_begins(table):
    path, _ = table
    done = run("relevance-test", path, "--target", "z")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--target 'z' is no column" in done.stderr
    done = run("relevance-test", path, "--target", "y", "--alpha", 7)
    assert done.returncode == 2
    assert "--alpha must be a number between 0 and 1" in done.stderr


def test_a_record_of_another_kind_is_refused(table):
    frame = table[1]
    X = frame[["x1"]]
    text = relevance_test(X, frame["y"], n_permutations=19, random_state=0).to_json()
    assert json.loads(text)["features"] == ["x1"]
    with pytest.raises(ValueError, match="'infosieve/relevance-test', not a document"):
        PermutationTest.from_json(text)
