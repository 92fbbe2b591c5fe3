"""All questions about one table: ``examine``, and ``--full`` of the command."""

import html
import json

import numpy as np
import pandas as pd
import pytest
from command import read_exactly, run

from infosieve import MISelector, examine, relevance_test, stability
from infosieve.results import ClusterResult

FEW = {"n_permutations": 99, "alpha": 0.1, "lookahead": 1, "random_state": 0}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"])
    X["twice"] = X["a"] + 0.1 * rng.normal(size=60)
    X["kind"] = rng.choice(["u", "v"], 60)
    return X, pd.Series(X["b"] + 0.1 * rng.normal(size=60), name="Y")


def without_times(result):
    document = json.loads(result.to_json())
    del document["provenance"]
    return document


def test_each_answer_is_that_of_its_own_call(table, tmp_path):
    X, y = table
    told = []
    found = examine(X, y, MISelector(**FEW), n_resamples=2, tell=lambda *one: told.append(one))
    selector = MISelector(**FEW).fit(X, y)
    selector.alternatives(X, y)
    assert without_times(found.selection) == without_times(selector.result_)
    ref = relevance_test(X, y, alpha=0.1, random_state=0)
    assert without_times(found.relevance) == without_times(ref)
    ref = stability(MISelector(**FEW), X, y, n_resamples=2, random_state=0)
    assert found.stability.chosen == ref.chosen
    assert set(found.clusters.members) == {("a", "twice"), ("b",), ("c",)}
    assert found.clusters.provenance.parameters["categories"] == ["kind"]
    assert [name for name, _ in told] == ["selection", "relevance", "stability", "clusters"]
    assert all(getattr(found, name) is result for name, result in told)
    found.report(tmp_path / "page.html")
    page = html.unescape((tmp_path / "page.html").read_text())
    for heading in ("How stable", "By itself", "Which columns are redundant"):
        assert heading.lower() in page.lower(), heading


@pytest.mark.parametrize("form", ["array", "categories", "series", "declared"])
def test_tables_of_any_kind(form, table):
    X, y = table
    how, more = {}, {}
    if form == "array":
        X = X[["a", "b", "c", "twice"]].to_numpy()
    elif form == "categories":
        X = X[["kind"]].assign(b=np.where(X["b"] > 0, "high", "low"))
    elif form == "series":
        X, how = X.drop(columns="kind"), {"series": 3}
    else:
        X, how = X[["a", "b", "c"]].assign(c=X["c"].round()), {"discrete_features": ["c"]}
    found = examine(X, y, MISelector(**FEW, **how), n_resamples=1, **more)
    assert (found.stability is None) == (form == "series")
    assert (found.clusters is None) == (form == "categories")
    if form == "array":
        assert {(0, 3), (1,), (2,)} == set(found.clusters.members)
    if form == "declared":
        assert found.clusters.features == ("a", "b")


def test_groups_stay_together(table):
    X, y = table
    groups = np.repeat(np.arange(20), 3)
    found = examine(X, y, MISelector(**FEW), groups=groups, n_resamples=1)
    for result in (found.selection, found.relevance, found.stability):
        assert result.provenance.parameters["groups"] == 20


def test_full_of_the_command_is_the_same(table, tmp_path):
    X, y = table
    X.assign(Y=y).to_csv(tmp_path / "table.csv", index=False)
    asked = ["select", "table.csv", "--target", "Y", "--seed", 0, "--lookahead", 1, "--alpha", 0.1,
             "--n-permutations", 99]  # fmt: skip
    done = run(*asked, "--full", "--json", "--html", "page.html", cwd=tmp_path, text=True)
    assert done.returncode == 0, done.stderr
    exact = read_exactly(tmp_path / "table.csv")
    selector = MISelector(**FEW)
    found = examine(exact.drop(columns="Y"), exact["Y"], selector, n_resamples=1)
    kept = json.loads(done.stdout)
    del kept["provenance"]
    assert kept == without_times(found.selection)
    assert isinstance(found.clusters, ClusterResult)
