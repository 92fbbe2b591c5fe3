"""The report: one page of answers, escaped, self-contained, and looked at in a real browser."""

import base64
import html
import itertools
import json
import re
import shlex
import shutil
import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import sklearn
from command import A_LONG_TIME, run
from sklearn.base import clone

from infosieve import (
    Alternative,
    CurveFeatures,
    FeatureClustering,
    MISelector,
    PermutationTest,
    RelevanceTest,
    SelectionResult,
    Stability,
    Step,
    choose_k,
    permutation_test,
    relevance_test,
    stability,
)
from infosieve._core.files import printable
from infosieve._core.formats import nats
from infosieve._core.sequential import sequential_rule
from infosieve.cli import main
from infosieve.cli.show import show
from infosieve.datasets import load_tecator, make_friedman, make_xor
from infosieve.report import _asking, _columns, _figures
from infosieve.report._names import _letters, cut, name_text, shortened
from infosieve.report._near_level import probability_to_pass
from infosieve.report._render import breakable, facts_of, page, said
from infosieve.report._selection import FAR, Levels, StepFacts, percentiles
from infosieve.report._tests import Screened

EVIL = "<script>alert('x')</script>"
HOSTILE = [
    EVIL,
    "\"double\" 'single' & <b>bold</b>",
    "x" * 200,
    "עמודה עם שם",
    "🚀 rocket",
    "</script><img src=x onerror=alert(1)>",
    "{{ 7 * 7 }}",
    "tab\tnew\nline\u202eevil",
    "a_name_of_many_joints_" * 6,
]


def friedman():
    X, y = make_friedman(80, 6, random_state=0, return_X_y=True, as_frame=True)
    X["kind"] = np.where(X["X4"] > 0.5, "high", "low")
    return X.rename(columns={"X4": EVIL}), y


def selection():
    options = {"n_neighbors": "auto", "n_permutations": 99, "alpha": 0.1, "max_features": 3}
    return MISelector(random_state=0, **options).fit(*friedman()).result_


def results():
    """A name, a result and curves for it."""
    yield "selection", selection(), None
    tecator = load_tecator(as_frame=True)
    curves = CurveFeatures(tecator.axis, unit="nm", kinds=["curvature", "sample"])
    features = curves.set_output(transform="pandas").fit_transform(tecator.data)
    chosen = MISelector(stop=None, max_features=3).fit(features, tecator.target).result_
    yield "curves", chosen, (curves, tecator.data)
    clusters = FeatureClustering(random_state=0, connectivity="chain")
    clusters = clusters.fit(tecator.data[tecator.feature_names[::4]], tecator.target).result_
    yield "clusters", clusters, (tecator.axis[::4], tecator.data[tecator.feature_names[::4]])
    X, y = friedman()
    yield "choice", choose_k(X.drop(columns="kind"), y, random_state=0), None
    X, y = make_xor(60, 3, random_state=0, return_X_y=True, as_frame=True)
    with pytest.warns(UserWarning, match="No column was selected"):
        nothing = MISelector(random_state=0, lookahead=1, n_permutations=99).fit(X, y).result_
    yield "nothing", nothing, None
    X["level"] = pd.Categorical.from_codes(np.arange(60) % 3, ["a", "b", "c"])
    classes = MISelector(stop=None, max_features=4).fit(X, y).result_
    yield "classes", classes, None
    X, y = friedman()
    best = permutation_test(X, y, [EVIL, "X5"], given="X1", n_permutations=99, random_state=0)
    yield "test", best, None
    each = permutation_test(X, y, [EVIL, "X5", "X6"], correction=None, alpha=0.1, random_state=0)
    yield "tests", each, None
    yield "prediction", predicting(), None


def predicting(**options):
    """A selection whose number of columns a model has chosen; the last of them are not certain."""
    X, y = friedman()
    X[["n1", "n2"]] = np.random.default_rng(0).normal(size=(len(X), 2))
    how = {"stop": "cv", "cv": 3, "min_features": 7, "test": True, "n_permutations": 99}
    return MISelector(**how | options, random_state=0).fit(X, y).result_


@pytest.fixture(scope="module")
def everything():
    return list(results())


def hostile():
    X, y = make_friedman(100, 9, random_state=4, return_X_y=True, as_frame=True)
    X.columns = HOSTILE
    y.name = "<img src=y>"
    return MISelector(stop=None, max_features=9).fit(X, y).result_


def figures_of(text):
    return json.loads(re.search(r'id="figures">(.*?)</script>', text, re.S).group(1))


def body_of(text):
    """What a reader sees of a page: no style, no scripts, names in one piece."""
    body = text[text.index("<body>") : text.index("<script>", text.index("<body>"))]
    return body.replace("<wbr>", "")


def read(text):
    """The words of a page in a row."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", body_of(text))).split())


def test_values_are_text_and_categories():
    X, y = friedman()
    X["kind"] = np.where(X["X3"] > 0.5, "<a href='http://x.example'>1</a>", "2")
    options = {"stop": None, "max_features": 7, "discrete_target": True}
    text = page(MISelector(**options).fit(X, np.digitize(y, [8, 12])).result_)
    (shares,) = [f for f in figures_of(text) if f["layout"].get("barmode") == "stack"]
    assert shares["caption"] == "kind: shares of y in each level"
    n = int((X["X3"] <= 0.5).sum())
    assert shares["layout"]["yaxis"]["ticktext"] == [
        f"2 ({n})",
        f"&lt;a href='h…mple'&gt;1&lt;/a&gt; ({80 - n})",
    ]
    assert [trace["name"] for trace in shares["data"]] == ["0", "1", "2"]
    assert "<a href='http" not in body_of(text) + json.dumps(shares)


def test_names_are_text_everywhere():
    result = selection()
    text = page(result)
    assert EVIL not in text
    assert "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;" in text
    shown = result._repr_html_()
    assert EVIL not in shown
    assert "<table>" in shown
    assert "plotly" not in shown
    data = re.search(r'id="figures">(.*?)</script>', text, re.S).group(1)
    assert "<" not in data
    assert "&lt;script&gt;" in json.dumps(json.loads(data))


def test_hostile_names_stay_names():
    result = hostile()
    text, shown = page(result), result._repr_html_()
    own = body_of(text) + shown
    assert not re.search(r"<(script|img|b)[ >]", own)
    assert "onerror" not in re.sub(r"&lt;/script&gt;.*?&gt;", "", own)
    assert "{{ 7 * 7 }}" in own  # no template of ours
    assert "\u202e" not in own  # no reversed text
    assert f"\u2068{HOSTILE[3]}\u2069" in own  # keeps to its place
    assert "x" * 200 in own  # whole, in the table
    for figure in figures_of(text):
        for label in figure["layout"]["yaxis"].get("ticktext", []):
            assert len(label) < 60
            assert "<" not in label


def test_names_in_their_own_direction():
    assert name_text("plain_name") == "plain_name"
    assert name_text(HOSTILE[3]) == f"\u2068{HOSTILE[3]}\u2069"
    assert name_text("a\u202eb") == "a�b"


def test_names_are_cut_in_the_middle():
    assert cut("gene_expression_probe_0142_at", 14) == "gene_e…0142_at"
    assert cut("a name", 6) == "a name"
    assert cut("tab\tnew\nline", 8) == "tab…line"
    accents = "e\u0301" * 20  # a letter and its accent stay together
    assert cut(accents, 5) == "e\u0301" * 2 + "…" + "e\u0301" * 2
    hands = "👋\U0001f3fd" * 9
    assert cut(hands, 4) == "👋\U0001f3fd…" + "👋\U0001f3fd" * 2
    assert len(cut("a" + "\u0301" * 999, 5)) == 5  # however many marks


ALIKE = [
    [f"gene_expression_of_probe_{i:04d}_at" for i in range(150)],
    [f"{'same' * 9}_{c}_{'same' * 9}" for c in "abcdefgh"],  # which differ in the middle
    ["x" * n for n in range(10, 60)],
    [f"{'same' * 9}{a}{'same' * 9}{b}{'same' * 9}" for a in "ab" for b in "ab"],
    ["x" * 50, "xx" + "…" * 3 + "x" * 40, "x" * 60, "x" * 48 + " #1"],
    ["a" + "\u0301" * n for n in range(20)],
    HOSTILE,
]


@pytest.mark.parametrize("length", [12, 13, 16, 28])
@pytest.mark.parametrize("names", ALIKE)
def test_names_that_are_cut_stay_different(names, length):
    shown = shortened(names, length)
    assert len(set(shown)) == len(names)
    assert all(len(_letters(label)) <= length for label in shown)
    assert len(set(shortened([*names, names[0]], length))) == len(names)  # the same stay the same
    short_ones = [name for name in names if len(name) <= 10 and name.isascii()]
    assert set(short_ones) <= set(shown)


def test_names_that_differ_in_the_middle_show_where():
    names = [f"a_long_beginning_{kind}_and_a_long_end" for kind in ("red", "green", "blue")]
    shown = shortened([*names, names[0]], 16)
    red = "a_…g_red_and_a_…"
    assert shown == [red, "a_…g_green_and_…", "a_…g_blue_and_a…", red]


def test_titles_tell_names_apart():
    X, y = make_friedman(80, 6, random_state=0, return_X_y=True, as_frame=True)
    X.columns = [f"measurement_{'of_a_channel_' * 3}{j}_in_volts" for j in range(6)]
    result = MISelector(stop=None, max_features=3).fit(X, y).result_
    found = page(result).partition("<h1>")[2].partition("</h1>")[0].replace("<wbr>", "")
    chosen = found.partition("untested: ")[2].replace(" and ", ", ").split(", ")
    assert len(set(chosen)) == 3
    assert all(name.startswith("measurement") and "…" in name for name in chosen)


def test_names_are_broken_at_their_joints():
    broken = str(breakable("volatile_acidity meanRadius a.b/c 0.05 -0.5 1e-05 <b>x_y</b>"))
    assert broken == (
        "volatile_<wbr>acidity mean<wbr>Radius a.<wbr>b/<wbr>c 0.05 -0.5 1e-05 "
        "&lt;b&gt;x_<wbr>y&lt;/b&gt;"
    )


def test_nothing_is_fetched_from_anywhere():
    text = page(selection())
    own = text.replace(
        re.search(r"<script>(?!\n\(function)(.*?)</script>", text, re.S).group(1), ""
    )
    assert not re.search(r'(src|href)\s*=(?!"#)', own)  # links lead to parts of the page
    linked = re.findall(r'href="#([^"]+)"', own)
    assert linked
    assert all(f'id="{place}"' in own for place in linked)
    assert "http://" not in own
    assert "https://" not in own
    assert "default-src 'none'" in own


def test_the_code_of_a_page_gives_the_result_again():
    X, y = friedman()
    numbers = X.drop(columns="kind")
    for result in (
        selection(),
        choose_k(numbers, y, random_state=3, n_folds=9),
        permutation_test(numbers, y, "X1", given=["X2"], n_permutations=19, random_state=4),
    ):
        names = {"X": X if isinstance(result, SelectionResult) else numbers, "y": y}
        code = result.provenance.code
        *lines, last = code.splitlines()
        exec("\n".join([*lines, f"again = {last}"]), names)
        again = getattr(names["again"], "result_", names["again"])
        assert again.to_frame().equals(result.to_frame())


def test_clusters_beside_a_selection():
    X, y = friedman()
    numbers = X.drop(columns="kind")
    clusters = FeatureClustering(3).fit(numbers, y).result_
    text = page(selection(), clusters=clusters)
    assert re.findall(r"<h2[^>]*>(.*?)</h2>", body_of(text))[-2] == "Which columns are redundant"
    facts = facts_of(selection(), clusters=clusters)
    several = [members for members in clusters.members if len(members) > 1]
    assert [some.columns for some in facts.redundant.several] == several
    assert "Not among the clusters, which are of numbers: kind." in read(text)
    undecided = "The data do not decide on the number of clusters."
    assert undecided not in read(text)
    scores = {"n_clusters": np.arange(1, 7), "mean_test_score": np.full(6, 0.5),
              "standard_error": np.full(6, 0.1)}  # fmt: skip
    clusters = replace(clusters, cv_results=scores)
    assert clusters.decided is False
    assert undecided in read(page(selection(), clusters=clusters))


def test_the_page_of_a_kept_result_is_the_same():
    result = selection()
    again = SelectionResult.from_json(result.to_json())
    assert page(again) == page(result)


def test_a_test_without_provenance_has_a_page():
    test = PermutationTest(candidates=("a", "b"), observed=[0.2, 0.5], null=[[0.3, 0.1]] * 9)
    assert [one.name for one in facts_of(test).candidates] == ["b", "a"]
    assert "To repeat it" not in page(test)
    with pytest.raises(ValueError, match="beside a selection or clusters only"):
        page(test, curves=([1, 2], np.eye(2)))


def test_what_was_estimated_and_of_what():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(205, 12))
    y = np.sin(2 * X[:, 3]) + 0.3 * rng.normal(size=205)
    how = {"screen": 4, "max_samples": 100, "random_state": 0, "statistic": "ksg"}
    result = MISelector(**how, max_features=1, lookahead=1).fit(X, y).result_
    screened = Screened(n=12, n_estimated=4, permuted=True)
    estimate = facts_of(result).estimate
    assert estimate.screened == (screened,)
    assert (estimate.sizes, estimate.permuted) == ([102, 103], True)
    test = permutation_test(X, y, range(12), **how, alpha=0.05)
    assert len(test.candidates) == 4
    assert (test.n_candidates, test.n_parts, test.n_samples_used) == (12, 2, 205)
    estimate = facts_of(PermutationTest.from_json(test.to_json())).estimate
    assert estimate.screened == (screened,)
    assert estimate.sizes == [102, 103]


def test_nobody_takes_p_of_one_column_for_that_of_the_best():
    X, y = friedman()
    options = {"correction": None, "lookahead": 1, "max_features": 2, "random_state": 0}
    result = MISelector(**options).fit(X.drop(columns="kind"), y).result_
    assert facts_of(result).n_uncorrected == 6
    for text in (page(result), result._repr_html_()):
        assert "the best of the permuted columns" not in text
        assert "is informative about" not in text
        assert "are informative about" not in text


def test_curves_that_do_not_fit_are_refused():
    tecator = load_tecator()
    clusters = FeatureClustering(2, connectivity="chain").fit(tecator.data[:, :6], tecator.target)
    with pytest.raises(ValueError, match=r"rows of 6 finite numbers.* shape \(215, 5\)"):
        page(clusters.result_, curves=(tecator.axis[:6], tecator.data[:, :5]))


def test_reports_are_written_whole(tmp_path):
    place = tmp_path / "report.html"
    selection().report(place)
    assert place.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert list(tmp_path.iterdir()) == [place]
    with pytest.raises(OSError, match="No such file"):
        selection().report(tmp_path / "no" / "report.html")


# --- the page of a selection: one question after the other


def stand_in(feature, other, worth, share, information=0.2):
    return Alternative(
        feature=feature, stand_in=other, information=information, in_place=worth * information,
        p_value=0.0159, without=information, remaining=share * information,
    )  # fmt: skip


def with_alternatives(result, *alternatives):
    """The result after its stand-ins were asked for."""
    return replace(result, alternatives=alternatives)


def relevance_of(result, relevant, **more):
    """A relevance test of the columns of a selection."""
    m = len(result.features)
    flags = np.isin(np.arange(m), relevant)
    return RelevanceTest(
        features=result.features, statistic=result.relevance, alpha=0.05,
        exceedances=np.where(flags, 0, 500), n_draws=np.full(m, 999), n_draws_asked=np.full(m, 999),
        shared=np.ones(m, bool), chance=np.full(m, 0.01),
        provenance=more.get("known", result.provenance),
    )  # fmt: skip


def repeated(result, frequencies):
    """The stability of a selection."""
    halves = [np.flatnonzero(np.asarray(frequencies) > i / 20).tolist() for i in range(20)]
    return Stability(
        features=result.features, chosen=tuple(map(tuple, halves)), provenance=result.provenance
    )


def wide_table():
    """A table with all that is left out, and a column that follows another."""
    rng = np.random.default_rng(0)
    X, y = make_friedman(120, 6, random_state=0, return_X_y=True, as_frame=True)
    X["twice X4"] = 2 * X["X4"] + 1
    X["constant"] = 1.0
    X["customer"] = [f"no. {i}" for i in range(120)]
    X["second meter"] = X["X5"] + 0.01 * rng.normal(size=120)
    X.loc[::10, "X6"] = np.nan
    y.iloc[:3] = np.nan
    return X, y


@pytest.fixture(scope="module")
def found():
    with pytest.warns(UserWarning, match="(?i)left out"):
        return MISelector(random_state=0).fit(*wide_table()).result_


def test_questions_come_in_the_order_of_a_reader(found):
    names = list(found.features)
    first = found.selected[0]
    asked = with_alternatives(found, stand_in(first, names.index("X6"), 0.9, 0.1))
    text = page(
        asked,
        relevance=relevance_of(found, found.selected),
        stability=repeated(found, np.linspace(0, 1, len(names))),
    )
    titles = re.findall(r"<h2[^>]*>(.*?)</h2>", body_of(text))
    assert titles == [
        "What was selected, and how sure",
        "Step by step, beside chance",
        "The columns that are left",
        "What could stand in",
        "What else is informative",
        "How stable it is",
        "What was excluded, and why",
        "The selected columns and the target",
        "To repeat it",
    ]
    questions = re.findall(r"<dt>(?:<a [^>]*>)?([^<]*\?)", body_of(text))
    assert questions == [
        "How sure is that?",
        "How many columns predict best?",
        "What could stand in?",
        "Which columns are redundant?",
        "What is informative at all?",
        "Would it happen again?",
        "What was excluded?",
    ]
    assert text.count("To ask:") == 2  # for clusters, and columns that predict


def test_what_was_not_asked_says_how_to_ask(found):
    text = read(page(found))
    assert "selector.alternatives(X, y)" in text
    seed = found.provenance.seed
    call = f"examine(X, y, selector.set_params(random_state={seed}))"
    asked = f'To ask: from infosieve import examine; {call}.report("report.html")'
    assert text.count(asked) == 3
    assert "How stable it is" not in text  # no empty section
    assert "What could stand in" not in re.findall(r"<h2[^>]*>(.*?)</h2>", page(found))
    command = "infosieve select table.csv --target y --seed 0"
    options = {"file": "table.csv", "target": "y", "seed": 0}
    known = replace(found.provenance, command=command, options=options)
    text = read(page(replace(found, provenance=known)))
    assert f"{command} --alternatives" in text
    assert text.count(f"{command} --full") == 3
    known = replace(known, parameters={**known.parameters, "series": True})
    known = replace(known, options=options | {"series": True})
    text = read(page(replace(found, provenance=known)))
    assert text.count(f"{command} --series --full") == 2
    assert "halves of the samples would tear a series apart" in text


def lines_to_ask(text):
    lines = re.findall(r"To ask: <code>(.*?)</code>", text)
    return [html.unescape(re.sub(r"</?span>", "", line)) for line in lines]


def repeated_rows():
    """Ten patients with six rows each, codes of categories, text and gaps."""
    rng = np.random.default_rng(5)
    X = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"])
    X["code"], X["kind"] = rng.integers(0, 3, 60), rng.choice(["u", "v"], 60)
    y = pd.Series(X["a"] + 0.1 * rng.normal(size=60), name="y")
    X.loc[3, "b"] = np.nan
    return X, y, np.repeat(np.arange(10), 6)


@pytest.mark.filterwarnings("ignore:From . of 4 halves nothing was selected")
@pytest.mark.parametrize("classes", [False, True])
def test_calls_to_ask_run_and_know_what_the_data_are(classes, tmp_path, monkeypatch):
    """Followed literally, they must not take rows of one patient as independent."""
    X, y, groups = repeated_rows()
    y = (y > 0).astype(int) if classes else y
    how = {"discrete_features": ["code"], "missing": "median", "lookahead": 1, "random_state": 0}
    how |= {"discrete_target": True} if classes else {}
    selector = MISelector(**how).fit(X, y, groups=groups)
    lines = lines_to_ask(page(selector.result_))
    assert len(lines) == 5
    shown = {}
    write = type(selector.result_).report
    monkeypatch.setattr(
        type(selector.result_),
        "report",
        lambda result, path, **beside: (shown.update(beside), write(result, path, **beside)),
    )
    few = {"n_resamples": 2}
    halves = lambda *data, **how: stability(*data, **how | few)  # noqa: E731
    monkeypatch.setattr("infosieve.examination.stability", halves)
    monkeypatch.chdir(tmp_path)
    for line in lines:
        again = clone(selector).fit(X, y, groups)
        names = {"selector": again, "X": X, "y": y, "groups": groups}
        exec(line, names | {"__name__": "somebody"})
    assert set(shown) == {"relevance", "clusters", "stability"}
    for name in ("relevance", "stability"):  # columns are alike whatever the rows
        assert shown[name].provenance.parameters["groups"] == 10
    known = shown["relevance"].provenance.parameters
    assert known["discrete_features"] == ["code"]
    assert known["missing"] == shown["clusters"].provenance.parameters["missing"] == "median"
    assert list(shown["clusters"].features) == ["a", "b", "c"]
    (line,) = [line for line in lines if "predict.html" in line]
    assert line.startswith('selector.set_params(stop="cv", random_state=0)'.replace('"', "'"))
    assert "fit(X, y, groups=groups)" in line
    assert "How well do they predict?" in read((tmp_path / "predict.html").read_text())


def test_questions_that_have_no_answer_are_not_asked_again(found):
    known = replace(found.provenance, options={"file": "a.csv", "full": True})
    text = read(page(replace(found, provenance=known)))
    assert "Not asked: clusters are of 2 to 2,000 columns of numbers." in text
    number = {"n_features_to_select": 2, "search": "forward-backward"}
    (line,) = [one for one in lines_to_ask(page(known_as(found, **number))) if "predict" in one]
    assert "stop='cv', n_features_to_select=None, search='forward'" in line
    known = replace(found.provenance, command="infosieve select", options={"target": "y"})
    assert "To ask" not in read(page(replace(found, provenance=known)))


def test_commands_to_ask_run_and_know_what_the_data_are(tmp_path):
    X, y, groups = repeated_rows()
    X.assign(y=(y > 0).astype(int), patient=groups).to_csv(tmp_path / "table.csv", index=False)
    data = ["--target", "y", "--groups", "patient", "--missing", "value", "--categorical", "code"]
    data += ["--categorical", "y"]
    options = ["--alpha", "0.1", "--lookahead", "1", "--out", "chosen.csv", "--quiet"]
    words = ["table.csv", *data, *options, "--seed", "3", "--html", "page.html"]
    done = run("select", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    again = shlex.join(["infosieve", "select", *words])
    asked = lines_to_ask((tmp_path / "page.html").read_text())
    predict, stand_ins, *full = asked
    assert stand_ins == f"{again} --alternatives"
    assert full == [f"{again} --full"] * 3
    asked_for = ["--stop", "cv", "--seed", "3", "--html", "predict.html"]
    assert predict == shlex.join(["infosieve", "select", "table.csv", *data, *asked_for])
    for line in (predict, again.replace("--html page.html", "--json")):
        done = run(*shlex.split(line)[1:], cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    result = SelectionResult.from_json(done.stdout.decode())
    full = lines_to_ask(page(result))[-1]
    assert full.endswith("--full --html report.html")  # one document has no room for all of it
    assert "--json" not in full


def test_how_sure_a_selection_is(found):
    facts = facts_of(found)
    added = [step.p_value for step in found.steps if step.action == "add"]
    assert facts.tested
    sure = f"Each passed a permutation test, p = {min(added):.2g} to {max(added):.2g}."
    assert sure in read(page(found))
    assert facts.n_kept == 0
    assert (facts.alpha, facts.forward_stop) == (0.05, True)
    once = MISelector(stop="permutation", lookahead=1, random_state=0, max_features=1)
    assert not facts_of(once.fit(*friedman()).result_).forward_stop
    kept = MISelector(random_state=0, min_features=3, lookahead=1, n_permutations=99)
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 4)), columns=list("abcd"))
    y = X["a"] + 0.1 * X["b"].sample(60, random_state=0).values
    result = kept.fit(X, y).result_
    facts = facts_of(result)
    assert facts.n_kept == 2
    assert "But 2 others were kept on request, not by a test." in read(page(result))
    assert [step.doubtful for step in facts.steps_with("add")] == [False, True, True]


def test_columns_that_were_left_out_are_not_counted(found):
    copies = [k for others in found.duplicates.values() for k in others]
    n_left_out = len({*copies, *found.constant, *found.identifiers})
    assert n_left_out > 2
    n = len(found.features) - n_left_out
    assert facts_of(found).n_candidates == n == found.steps[0].n_candidates
    X, y = friedman()
    X["who"] = [f"p{i}" for i in range(len(X))]
    with pytest.warns(UserWarning, match="identifiers"):
        result = MISelector(stop="cv", cv=3, max_features=3, random_state=0).fit(X, y).result_
    facts = facts_of(result)
    assert facts.n_candidates == facts.prediction.n_features == 7
    assert facts.prediction.rows[-1][0] == 7


def test_how_many_surrogates_were_as_large(found):
    """Beside an exact p of a test that ended early, nobody is to divide the one by the other."""
    text = page(found)
    cells = re.findall(r'data-head="surrogates as large"[^>]*>([^<]*)</td>', text)
    assert cells == [f"{step.exceedances} of {step.n_permutations}" for step in found.steps]
    assert min(step.n_permutations for step in found.steps) < 199
    stops = "A test stops drawing as soon as it has surely passed or failed"
    assert stops in read(text)
    fixed = MISelector(n_permutations=99, max_features=1, lookahead=1, random_state=0)
    assert stops not in read(page(fixed.fit(*friedman()).result_))
    assert "surrogates" not in read(page(hostile()))  # which has no tests


def with_outcome(result, level, count, drawn):
    """The last step of a result with another outcome of its test."""
    rule = sequential_rule(level, 199)
    last = replace(
        result.steps[-1],
        level=level,
        exceedances=count,
        n_permutations=drawn,
        p_value=rule.p_value(count, drawn),
    )
    return replace(result, steps=(*result.steps[:-1], last))


def test_a_column_near_its_level_is_a_matter_of_the_seed(found):
    assert facts_of(found).near_level is None
    name = found.features[found.steps[-1].features[0]]
    for count, drawn, near in ((3, 5, False), (0, 55, False), (8, 193, True), (10, 199, True)):
        told = facts_of(with_outcome(found, 0.05, count, drawn)).near_level
        assert (told is not None) == near
        assert told is None or (told.tests == [(name,)] and told.sequential and told.share >= 0.25)
    fixed = known_as(found, n_permutations=99)
    last = replace(found.steps[-1], sequential=False, level=0.05, n_permutations=99)
    for count, near in ((0, False), (3, True), (5, True), (40, False)):
        step = replace(last, exceedances=count, p_value=(count + 1) / 100)
        told = facts_of(replace(fixed, steps=(*found.steps[:-1], step))).near_level
        assert (told is not None) == near
        assert told is None or not told.sequential


def test_how_often_another_seed_decides_otherwise():
    """Beside a plain simulation: how often surrogates exceed is drawn, then whole tests are."""
    rng = np.random.default_rng(0)
    for level, count, drawn in ((0.05, 8, 193), (0.0125, 2, 160), (0.075, 1, 57)):
        rule = sequential_rule(level, 199)
        rates = rng.beta(count + 0.5, drawn - count + 0.5, size=20_000)
        times, counts = rule.endings(rng.random((199, rates.size)) < rates)
        share = np.mean(counts <= rule.accept[times])
        assert abs(probability_to_pass(rule, count + 0.5, drawn - count + 0.5) - share) < 0.015


def test_levels_that_are_not_alpha_are_explained(found):
    last = found.steps[-1]
    assert last.level != 0.05
    assert facts_of(found).levels == Levels(rise="after", pairs=True)
    assert facts_of(found).last_level == last.level
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=list("abc"))
    y = X["a"] ** 3 + 0.1 * np.random.default_rng(9).normal(size=len(X))
    plain = facts_of(MISelector(stop="permutation", lookahead=1, random_state=0).fit(X, y).result_)
    assert plain.result.steps[-1].level == 0.05
    assert plain.levels is plain.last_level is None
    pairs = facts_of(MISelector(stop="permutation", random_state=0).fit(X, y).result_)
    assert pairs.levels == Levels(rise="", pairs=True)
    full = facts_of(MISelector(random_state=0, max_features=1).fit(X, y).result_)
    assert full.steps[-1].step.action == "add"  # no level ended it, but those of steps are shown
    assert full.last_level is None
    assert full.levels.rise == "later"  # none of its steps had a level above alpha
    removal = replace(last, action="remove")
    assert facts_of(replace(found, steps=(*found.steps[:-1], removal))).last_level is None


def test_the_terminal_explains_levels(found, capsys):
    show(found)
    lines = capsys.readouterr().out.strip().splitlines()
    assert lines[-2].endswith(found.stop_reason)
    assert (lines[-1],) == said("selection", "last_level", facts_of(found))


def test_what_was_excluded_and_why(found):
    facts = facts_of(found)
    assert facts.copies == [("X4", ["twice X4"])]
    assert facts.names(found.constant) == ["constant"]
    assert facts.names(found.identifiers) == ["customer"]
    assert (found.provenance.n_left_out, found.provenance.n_samples) == (3, 117)
    assert facts.most_missing[0] == "X6"
    assert facts.most_missing[1] == pytest.approx(11 / 117)
    assert "What was excluded? Nothing." in read(page(selection()))
    few = replace(found, missing={0: 1}, provenance=replace(found.provenance, n_samples=1000))
    assert "(less than 1%)." in read(page(few))
    gaps = replace(
        found, duplicates={}, constant=(), identifiers=(),
        provenance=replace(found.provenance, n_left_out=0),
    )  # fmt: skip
    assert "What was excluded? Nothing, but there are gaps." in read(page(gaps))
    assert ">Missing values</h2>" in page(gaps)


def test_stand_ins(found):
    names = list(found.features)
    first, second = found.selected[:2]
    third, fourth = names.index("X6"), names.index("second meter")
    assert facts_of(found).copies_of_selected == [("X4", ["twice X4"])]
    assert facts_of(with_alternatives(found)).stand_ins == []
    asked = with_alternatives(
        found, stand_in(second, third, 0.8, 0.3), stand_in(first, third, 0.7, 0.2),
        stand_in(first, fourth, 0.95, 0.02),
    )  # fmt: skip
    numbers = wide_table()[0].drop(columns=["customer", "constant"]).iloc[3:].fillna(0)
    clusters = FeatureClustering(numbers.shape[1] - 1).fit(numbers, wide_table()[1].iloc[3:])
    labels = np.arange(numbers.shape[1])
    labels[list(numbers).index("second meter")] = list(numbers).index(names[first])
    facts = facts_of(asked, clusters=replace(clusters.result_, labels=labels))
    assert [(name, [one.name for one in others]) for name, others in facts.stand_ins] == [
        (names[first], ["second meter", "X6"]),  # the best first
        (names[second], ["X6"]),
    ]
    of_first = facts.stand_ins[0][1]
    np.testing.assert_allclose([one.worth for one in of_first], [0.95, 0.7])
    np.testing.assert_allclose([one.other.share for one in of_first], [0.02, 0.2])
    assert facts.same_cluster == [True, False, False]
    without = ", ".join(names[j] for j in found.selected[2:-1])
    assert f"No stand-in was found for {without}" in read(page(asked))
    drawn = _figures.stand_ins(facts)
    assert drawn["layout"]["yaxis"]["ticktext"] == [
        names[first], "↳ second meter", "↳ X6", names[second], "↳ X6",
    ]  # fmt: skip
    full, bars, dots = drawn["data"]
    assert (full["x"], full["y"]) == ([1.0, 1.0], [0, 3])
    np.testing.assert_allclose(bars["x"], [0.95, 0.7, 0.8])
    np.testing.assert_allclose(dots["x"], [0.02, 0.2, 0.3])
    assert bars["y"] == dots["y"] == [1, 2, 4]


def test_many_stand_ins_are_all_in_the_table(found):
    first = found.selected[0]
    others = [j for j in range(len(found.features)) if j not in found.selected] * 3
    asked = with_alternatives(found, *(stand_in(first, j, 0.9, 0.1) for j in others))
    assert page(asked).count('data-head="left to add"') == len(others) > 8
    labels = _figures.stand_ins(facts_of(asked))["layout"]["yaxis"]["ticktext"]
    assert len(labels) == 10
    assert labels[-1] == f"↳ and {len(others) - 8} more, in the table"


def test_what_else_is_informative(found):
    names = list(found.features)
    other, copy = names.index("X5"), names.index("twice X4")
    lonely = found.selected[-1]
    relevant = [*found.selected[:-1], other, copy]
    asked = with_alternatives(found, stand_in(found.selected[1], other, 0.9, 0.1))
    facts = facts_of(asked, relevance=relevance_of(found, relevant))
    text = read(page(asked, relevance=relevance_of(found, relevant)))
    assert f"Tested one by one, {len(relevant)} of {len(names)} columns tell something" in text
    assert f"could stand in for {names[found.selected[1]]}" in text
    assert {*facts.other_relevant} == {other, copy}
    assert facts.irrelevant_alone == [lonely]
    assert facts.all_certain([lonely])
    assert (facts.copy_of(copy), facts.copy_of(other)) == ("X4", None)
    figure = _figures.informative(facts)
    labels, colors = figure["layout"]["yaxis"]["ticktext"], figure["data"][0]["marker"]["color"]
    colors = dict(zip(labels, colors, strict=True))
    assert colors["X5"] == colors["twice X4"] == "third"
    assert colors[names[found.selected[0]]] == "found"
    assert colors["constant"] == "faint"


def test_what_the_command_left_out():
    result = selection()
    told = {
        ("exclude", ("id", "time")): "By the command: id and time (--exclude).",
        ("features", ("a", "b")): "By the command: all columns but a and b (--features).",
    }
    for (option, names), words in told.items():
        options = {"file": "t.csv", "target": "y", option: [*names]}
        known = replace(result.provenance, command="infosieve select", options=options)
        assert f"What was excluded? {words}" in read(page(replace(result, provenance=known)))
    unnamed = known_as(result, unnamed=1)
    assert "What was excluded? By the command: 1 column without a name." in read(page(unnamed))
    known = replace(known, n_left_out=1, options={"file": "t.csv", "exclude": ["id"]})
    text = read(page(replace(result, provenance=known)))
    assert "By the command: id (--exclude). Of the others: 1 sample." in text
    assert "1 sample without a target was left out" in text


def test_a_bound_of_most_columns_is_none(capsys):
    X = np.random.default_rng(0).normal(size=(40, 5))
    selector = MISelector(stop=None, n_features_to_select=4, random_state=0)
    weak = stability(selector, X, X[:, 0] + X[:, 1] + X[:, 2], n_resamples=2, random_state=0)
    facts = facts_of(weak)
    bounds = [one.expected_false for one in facts.chosen]
    assert [facts.useless(bound) for bound in bounds] == [bound > 2.5 for bound in bounds]
    show(weak)
    shown = capsys.readouterr().out
    assert "no useful bound" in shown
    assert not any(float(n) > 2.5 for n in re.findall(r"up to ([\d.]+)", shown))


def test_stability_beside_a_selection(found):
    shares = np.zeros(len(found.features))
    shares[list(found.selected)] = 0.3
    shares[found.selected[0]] = 1.0
    shares[list(found.features).index("X6")] = 0.9
    again = repeated(found, shares)
    figure = _figures.frequencies(again, found.selected)
    assert figure["data"][0]["x"][:2] == [1.0, 0.9]
    assert figure["data"][0]["marker"]["color"][:2] == ["found", "faint"]
    assert figure["layout"]["shapes"][0]["x0"] == again.threshold()
    answer = f"1 of {len(found.selected)} selected columns is chosen again and again"
    assert f"{answer} from halves of the samples, and so is 1 other column." in read(
        page(found, stability=again)
    )


def test_answers_about_other_columns_are_refused(found):
    other = selection()
    with pytest.raises(ValueError, match=r"'relevance' is about other columns .* same order"):
        page(found, relevance=relevance_of(other, [0]))
    with pytest.raises(ValueError, match="'stability' is about other columns"):
        page(found, stability=repeated(other, np.zeros(7)))
    best = permutation_test(*friedman(), [EVIL, "X5"], n_permutations=9, random_state=0)
    with pytest.raises(ValueError, match="'relevance' can be shown beside a selection only"):
        page(best, relevance=relevance_of(found, [0]))
    known = replace(found.provenance, data="f" * 32, n_samples=99)
    told = "This was asked of other data than the selection: 99 samples"
    assert told in read(page(found, relevance=relevance_of(found, [0], known=known)))
    assert told not in read(page(found, relevance=relevance_of(found, [0])))


def test_answers_as_they_are(tmp_path):
    """No stand-ins for records: the real ones, from the calls that the page names."""
    X, y = make_friedman(120, 6, random_state=0, return_X_y=True, as_frame=True)
    X["meter"] = X["X4"] + 0.02 * np.random.default_rng(1).normal(size=120)
    selector = MISelector(random_state=0).fit(X, y)
    test = relevance_test(X, y, random_state=0)
    again = stability(selector, X, y, n_resamples=3, random_state=0)
    stand_ins = selector.alternatives(X, y)
    clusters = FeatureClustering(3).fit(X, y).result_
    beside = {"relevance": test, "stability": again, "clusters": clusters}
    selector.result_.report(tmp_path / "page.html", **beside)
    written = (tmp_path / "page.html").read_text(encoding="utf-8")
    text = read(written)
    n = int(test.relevant.sum())
    assert f"{n} of 7 columns by themselves" in text
    assert {"X4", "meter"} == {stand_ins["feature"][0], stand_ins["stand_in"][0]}
    assert f"{stand_ins['stand_in'][0]} for {stand_ins['feature'][0]}" in text
    assert all(" ".join(note.split()) in text for note in again.notes)
    assert "Which columns are redundant" in text
    assert "other data" not in text  # the same table has the same fingerprint in all of them
    kept = [type(one).from_json(one.to_json()) for one in beside.values()]
    assert page(selector.result_, **dict(zip(beside, kept, strict=True))) == written
    for name, one in {"selection": selector.result_, **beside}.items():
        (tmp_path / f"{name}.json").write_text(one.to_json(), encoding="utf-8")
    files = [str(tmp_path / f"{name}.json") for name in ("selection", *beside)]
    assert ended("report", *files, "--html", str(tmp_path / "again.html")) == 0
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == written


def test_a_search_that_had_no_time():
    result = selection()
    result = replace(
        result, selected=(), steps=(), stop_reason="interrupted",
        excerpt=replace(result.excerpt, features={}),
    )  # fmt: skip
    text = read(page(result))
    assert "Unfinished: no column was looked at for Y yet" in text
    assert "Nothing was tested yet." in text
    assert "No column passed" not in text


# --- columns that predict


def section_of(text, title):
    """The words of a section."""
    (part,) = re.findall(rf"<h2[^>]*>{title}</h2>(.*?)</section>", text, re.S)
    return read(f"<body>{part}<script>")


def known_as(result, **parameters):
    """The same result of other parameters."""
    known = {**result.provenance.parameters, **parameters}
    return replace(result, provenance=replace(result.provenance, parameters=known))


def untested(result):
    none = {"p_value": None, "level": None, "exceedances": None, "n_permutations": None}
    steps = [replace(step, **none, null=(), early_stopped=False) for step in result.steps]
    return replace(result, steps=tuple(steps))


def scored(result, means, n_chosen, every=None):
    """The same columns with other scores: two folds, at 0.1 below and above the means."""
    folds = tuple(tuple(mean + d for mean in means) for d in (-0.1, 0.1))
    order = result.cv_scores.order
    scores = replace(
        result.cv_scores, sizes=tuple(range(len(means))), scores=folds, n_chosen=n_chosen,
        all_columns=every, fold_orders=(order, order), others={},
    )  # fmt: skip
    return replace(result, cv_scores=scores)


def test_how_many_columns_predict():
    result = predicting()
    facts, scores = facts_of(result), result.cv_scores
    p, place = facts.prediction, scores.sizes.index(scores.n_chosen)
    assert p.default_model
    assert (p.score, p.chosen_error) == (scores.mean[place], scores.standard_error[place])
    assert (p.n_features, p.every) == (9, np.mean(scores.all_columns))
    own = np.array(scores.scores)[:, place]
    assert p.n_better_folds == sum(own > np.array(scores.all_columns))
    certain = [result.features[s.features[0]] for s in result.steps if s.significant]
    useful = [result.features[s.features[0]] for s in result.steps if not s.significant]
    assert len(certain) > 1 < len(useful)
    assert (p.selected_columns(certain=True), p.selected_columns(certain=False)) == (
        certain,
        useful,
    )
    assert facts.n_kept == len(useful)
    text = read(page(result))
    assert f"{len(certain)} passed a permutation test" in text
    assert facts.forward_stop  # the rule of the default
    assert facts.levels.rise == "after"
    assert "Columns after the first that does not pass were not tested." in text
    outcomes = re.findall(r'data-head="" class="word"><span[^>]*>([^<]*)</span>', page(result))
    assert outcomes == ["certain"] * len(certain) + ["only useful"] * len(useful)
    titles = re.findall(r"<h2[^>]*>(.*?)</h2>", body_of(page(result)))
    assert titles.index("How many columns predict") == 1


def test_only_cross_validation_has_a_section_of_scores(found):
    text = read(page(found))
    assert "How many columns predict" not in re.findall(r"<h2[^>]*>(.*?)</h2>", page(found))
    assert "How well do they predict?" not in text


def test_names_are_text_in_the_figure_of_scores():
    text = page(predicting())
    assert EVIL not in text
    (figure,) = [f for f in figures_of(text) if f["layout"]["yaxis"]["title"]["text"] == "r2"]
    labels = figure["layout"]["xaxis"]["ticktext"]
    assert labels[0] == "none"
    assert any("&lt;/script&gt;" in label for label in labels)
    texts = [t for trace in figure["data"] for t in trace.get("text", ())]
    assert any("&lt;script&gt;alert" in t for t in texts)
    assert not any("<script" in t for t in [*labels, *texts])


def test_pages_of_a_command_name_its_options(found):
    texts = []
    for command in ("", "infosieve select table.csv --target y"):
        known = replace(found.provenance, command=command)
        result = replace(known_as(replace(found, provenance=known), correction=None))
        texts.append(read(page(result)) + " ".join(result.notes))
    python, command = texts
    for words, option in (
        ("declare it (discrete_features) to keep it", "declare it (--categorical) to keep it"),
        ("With correction=None p is that", "With --correction none p is that"),
    ):
        assert words in python
        assert option in command
        assert words not in command


def test_whether_columns_are_certain_was_not_asked():
    result = known_as(untested(predicting()), test=False)
    facts = facts_of(result)
    assert facts.prediction.certain is None
    assert not facts.tested
    assert not facts.prediction.broken_off
    text = read(page(result))
    assert "To ask: selector.set_params(test=True, random_state=0).fit(X, y).result_" in text
    assert "allowed" not in text  # no empty columns in the table
    command = "infosieve select table.csv --target y --stop cv"
    options = {"file": "table.csv", "target": "y", "stop": "cv"}
    known = replace(result.provenance, command=command, options=options)
    text = read(page(replace(result, provenance=known)))
    assert f"To ask: {command} --test" in text
    broken = known_as(result, test=True)
    assert facts_of(broken).prediction.broken_off
    assert "--test" not in read(page(broken))


def test_one_or_all_columns_that_are_certain():
    result = predicting()
    steps = [replace(step, p_value=0.01, level=0.05, null=(0.0,)) for step in result.steps]
    facts = facts_of(replace(result, steps=tuple(steps)))
    assert facts.prediction.selected_columns(certain=False) == []
    none = facts_of(replace(result, steps=tuple(replace(s, p_value=0.9) for s in steps)))
    assert none.passed == none.prediction.selected_columns(certain=True) == []
    one = scored(
        replace(result, selected=result.selected[:1], steps=tuple(steps[:1])), [0.0, 0.5, 0.4], 1
    )
    assert len(facts_of(one).prediction.selected_columns(certain=True)) == 1
    assert "It is certain: it passed a permutation test." in read(page(one))


def test_why_that_number_was_chosen():
    result = predicting()

    def chosen(means, n, changed=result, **more):
        other = scored(changed, means, n)
        return facts_of(replace(other, cv_scores=replace(other.cv_scores, **more))).prediction

    assert chosen([0, 0.3, 0.5, 0.4], 2).scores.best == 2
    fewer = chosen([0, 0.3, 0.5, 0.52], 2)
    assert (fewer.scores.best, fewer.fewer_error) == (3, pytest.approx(4))
    assert chosen([0, 0.6, 0.5, 0.4], 2).scores.best == 1
    errors = [-4, -2, -1.0, -0.9], 2
    squared = chosen(*errors, scoring="neg_mean_squared_error")
    assert squared.fewer_error == pytest.approx(10)
    assert chosen(*errors, scoring="own").fewer_error is None
    own = known_as(result, model={"name": "x", "parameters": {}})
    assert not facts_of(own).prediction.default_model
    n = len(result.selected)
    pair = scored(result, [0, *np.linspace(0.1, 0.5, n)], n - 1)
    assert "One more was selected, because the last two are a pair." in read(page(pair))


def test_by_which_criterion_columns_are_ranked():
    p = facts_of(predicting()).prediction
    ((other, means),) = p.scores.others.items()
    assert {p.scores.criterion, other} == {"cmi", "cmim"}
    assert p.text(max(means[1:])) in read(page(predicting()))
    assert facts_of(predicting(criterion="cmi")).prediction.scores.others == {}


def test_scores_of_any_name_are_text():
    result = predicting()
    scores = replace(result.cv_scores, scoring=EVIL, criterion=EVIL)
    model = {"name": EVIL, "parameters": {}}
    scores = replace(scores, model=model, others={f"{EVIL}2": scores.scores[0]})
    text = page(replace(result, cv_scores=scores))
    assert EVIL not in text
    shown = json.dumps(figures_of(text)[0])
    assert "<script" not in shown
    assert "&lt;script&gt;" in shown


def test_scores_beside_all_columns_and_none():
    result = predicting()
    alone = facts_of(scored(result, [0, 0.3, 0.5], 2)).prediction
    assert alone.every is alone.n_better_folds is None
    both = facts_of(scored(result, [0, 0.3, 0.5], 2, every=(0.5, 0.5))).prediction
    assert (both.every, both.n_better_folds, both.no_better) == (0.5, 1, False)
    whole = facts_of(predicting(min_features=9)).prediction
    assert len(whole.result.selected) == whole.n_features == 9
    chance = facts_of(scored(result, [0, -0.3, -0.1], 2)).prediction
    assert chance.no_better
    assert chance.uncertain == "not certain"
    text = read(page(chance.result))
    assert "useful" not in text
    assert "because the model predicts" not in text


def test_folds_of_groups_and_series():
    result = predicting()
    for known, folds in (
        (result, ""),
        (known_as(result, groups=20), "groups"),
        (known_as(result, series=True), "series"),
        (known_as(result, groups=20, cv="ShuffleSplit()"), ""),  # whose folds are not known
    ):
        assert facts_of(known).prediction.folds_of == folds


def test_nothing_is_said_of_permutations_where_there_are_none():
    result = predicting()
    assert facts_of(result).estimate.permuted
    alone = untested(result)
    assert not facts_of(alone).estimate.permuted
    assert "permuted" not in " ".join(known_as(alone, groups=20).notes)
    assert "surrogates" not in " ".join(known_as(alone, series=True).notes)


@pytest.mark.parametrize("criterion", ["cmim", "jmi"])
def test_what_a_column_is_held_against(criterion):
    ranked = MISelector(criterion=criterion, n_features_to_select=3).fit(*friedman()).result_
    assert facts_of(ranked).one_by_one == criterion
    tested = facts_of(predicting(criterion=criterion))
    assert tested.one_by_one == ""  # a test asks what it adds to all of them


def test_what_was_not_selected_may_be_certain_too(found):
    sure = "a test sees strong additions only, and the best of those left did not pass"
    others = [j for j in range(len(found.features)) if j not in found.selected]
    assert sure in read(page(found, relevance=relevance_of(found, others)))
    result = predicting(min_features=0, max_features=2)
    left = [j for j in range(len(result.features)) if j not in result.selected]
    facts = facts_of(result, relevance=relevance_of(result, left))
    assert sure not in read(page(result, relevance=relevance_of(result, left)))
    assert facts.irrelevant_alone == list(result.selected)
    assert facts.all_certain(result.selected)  # what passed a test
    assert not facts_of(untested(result)).all_certain(result.selected)
    ranked = MISelector(n_features_to_select=2).fit(*friedman()).result_
    left = [j for j in range(len(ranked.features)) if j not in ranked.selected]
    assert sure not in read(page(ranked, relevance=relevance_of(ranked, left)))


# --- figures


def step_facts(number, gain, null):
    step = Step(action="add", features=(0,), mi=gain, gain=gain, n_candidates=1)
    return StepFacts(number, ["a"], null, step, [])


def test_small_steps_are_seen_beside_large_ones():
    """0.01 nats beside 3: both boxes have the same size, and both dots are on the figure."""
    rng = np.random.default_rng(0)
    points = [
        step_facts(i, gain, null)
        for i, gain, null in (
            (1, 3.0, rng.normal(0.2, 0.1, 99)),
            (2, 0.01, rng.normal(0, 1e-3, 99)),
        )
    ]
    bands = [p.above_chance(percentiles(p.null)) for p in points]
    assert [band[[2, 4]].tolist() for band in bands] == [[0, 1], [0, 1]]
    large, small = (np.arcsinh(float(p.above_chance(p.step.gain))) for p in points)
    assert 1 < small < large < 5  # of axes that begin at -2
    same = step_facts(1, 0.5, np.full(9, 0.1))
    assert same.above_chance([0.5, 0.1, 0.0]).tolist() == [FAR, 0.0, -FAR]


def test_the_path_of_a_page(found):
    figure = figures_of(page(found))[0]
    boxes = [trace for trace in figure["data"] if trace["type"] == "box"]
    dots = [trace for trace in figure["data"] if trace.get("mode") == "markers"]
    assert len(boxes) == len(found.steps)
    assert [trace["name"] for trace in dots] == ["selected", "did not pass"]
    for step, place in zip(found.steps, dots[0]["x"] + dots[1]["x"], strict=True):
        middle, high = np.quantile(step.null, [0.5, 0.95])
        assert np.sinh(place) == pytest.approx((step.statistic - middle) / (high - middle))
    across = figure["layout"]["xaxis"]
    np.testing.assert_allclose(np.sinh(across["tickvals"]), [float(t) for t in across["ticktext"]])
    assert across["range"][0] < min(dots[1]["x"])
    assert max(dots[0]["x"]) < across["range"][1]
    assert figure["layout"]["yaxis"]["ticktext"][0] == f"1. {found.features[found.selected[0]]}"


def test_no_dot_of_a_path_is_cut_by_the_axis(found):
    last = found.steps[-1]
    middle, high = np.quantile(last.null, [0.5, 0.95])
    below = middle - 60 * (high - middle)
    far = replace(last, action="refuse", follows=(0,), statistic=below)
    figure = figures_of(page(replace(found, steps=(*found.steps[:-1], far, last))))[0]
    places = [x for t in figure["data"] if t.get("mode") == "markers" for x in t["x"]]
    low, end = figure["layout"]["xaxis"]["range"]
    assert min(places) == pytest.approx(np.arcsinh(-60))
    radius, room = 6, 180  # of a dot, and of a figure on a phone
    assert (min(places) - low) / (end - low) > radius / room


def test_the_last_merge_is_not_on_the_edge():
    X, y = friedman()
    clusters = FeatureClustering(3).fit(X.drop(columns="kind"), y).result_
    for text in (page(clusters), page(selection(), clusters=clusters)):
        titled = {f["layout"]["xaxis"]["title"]["text"]: f for f in figures_of(text)}
        tree = titled["1 − similarity"]  # noqa: RUF001
        ends = [x for trace in tree["data"] for x in trace["x"] if x is not None]
        low, high = tree["layout"]["xaxis"]["range"]
        assert low == 0
        assert max(ends) * 1.02 < high < max(ends) * 1.1


def test_small_gains_have_two_digits(found, capsys):
    numbers = [0.1234, 0.001, 0.00042, 1.234e-05, 1e-17, -0.0004, -0.25, 0.0]
    assert [nats(value) for value in numbers] == [
        "0.123", "0.001", "0.00042", "1.2e-05", "0.000", "-0.0004", "-0.250", "0.000",
    ]  # fmt: skip
    assert [nats(value, "+") for value in (0.00042, 0.5, 0)] == [
        "+0.00042",
        "+0.500",
        "+0.000",
    ]
    small = replace(found.steps[1], gain=0.00042)
    result = replace(found, steps=(found.steps[0], small, *found.steps[2:]))
    text = page(result)
    assert "+0.00042" in read(text)
    shown = json.dumps(figures_of(text)[0])
    assert "+0.00042 nats" in shown
    assert "adds 0.00042 nats" in shown
    show(result)
    assert " +0.00042 " in capsys.readouterr().out


def test_one_column_tells_something(found):
    for n, verb in ((1, "tells"), (2, "tell")):
        text = read(page(found, relevance=relevance_of(found, found.selected[:n])))
        assert f"one by one, {n} of {len(found.features)} columns {verb} something" in text


def test_the_page_of_a_relevance_test_names_the_target():
    X, y = friedman()
    test = relevance_test(X[["X1", "X2", "X6"]], y, random_state=0, n_permutations=999)
    n = int(test.relevant.sum())
    said = "1 of 3 columns is" if n == 1 else f"{n} of 3 columns are"
    assert n > 0
    for options, about in (
        ({}, "the target"),
        ({"file": "a.csv", "target": "the price"}, "the price"),
        ({"file": "a.csv", "target": EVIL}, EVIL),
    ):
        known = replace(test.provenance, command="infosieve", options=options)
        text = page(replace(test, provenance=known))
        assert f"{said} informative about {about}:" in read(text)
        assert EVIL not in body_of(text)
    none = replace(test, exceedances=test.n_draws)
    assert "No column of 3 was found to be informative about the target" in read(page(none))


def test_removed_columns_have_no_place_beside_chance():
    X, y = friedman()
    result = MISelector(random_state=0).fit(X.drop(columns="kind"), y).result_
    steps = [replace(step) for step in result.steps]
    removal = replace(steps[0], action="remove")
    result = replace(result, steps=(*steps[:2], removal, *steps[2:]))
    labels = figures_of(page(result))[0]["layout"]["yaxis"]["ticktext"]
    assert [label.split(".")[0] for label in labels] == [
        "1",
        "2",
        *map(str, range(4, 2 + len(steps))),
    ]
    assert "Columns that were removed again are in the table above." in read(page(result))


def test_refused_columns_say_what_they_follow(found):
    second = replace(found.steps[-1], action="refuse", follows=(found.selected[0],))
    result = replace(found, steps=(*found.steps[:-1], second, found.steps[-1]))
    first, other = (found.features[j] for j in (found.selected[0], second.features[0]))
    (step,) = facts_of(result).steps_with("refuse")
    assert (step.names, step.follows) == ([other], [first])
    assert facts_of(found).steps_with("refuse") == []
    names = [trace["name"] for trace in figures_of(page(result))[0]["data"] if "name" in trace]
    assert "refused: follows a selected column" in names


def test_refused_columns_are_among_the_excluded(found):
    refused = replace(found.steps[-1], action="refuse", follows=found.selected[:1])
    first, other = (found.features[j] for j in (found.selected[0], refused.features[0]))
    twice = replace(found, steps=(*found.steps[:-1], refused, refused, found.steps[-1]))
    assert facts_of(twice).refused == [(other, [first])]
    taken = replace(refused, features=found.selected[-1:])  # refused first, but selected later
    later = replace(found, steps=(found.steps[0], taken, *found.steps[1:]))
    assert facts_of(later).refused == []


@pytest.mark.parametrize(
    ("name", "kind"),
    [("clusters", "ClusterResult"), ("relevance", "RelevanceTest"), ("stability", "Stability")],
)
def test_answers_of_another_kind_are_refused(name, kind, found, tmp_path):
    others = (relevance_of(found, [0]), repeated(found, np.zeros(len(found.features))))
    for other in (found, "page.html", *others):
        if getattr(other, "_schema", "").startswith(name):
            continue
        with pytest.raises(
            TypeError, match=rf"The '{name}' parameter must be a {kind} or None. Got "
        ):
            found.report(tmp_path / "page.html", **{name: other})
    assert not list(tmp_path.iterdir())


def test_both_names_of_a_pair_are_on_its_row(found):
    pair = replace(found.steps[0], features=(0, list(found.features).index("second meter")))
    result = replace(found, steps=(pair, *found.steps[1:]))
    labels = figures_of(page(result))[0]["layout"]["yaxis"]["ticktext"]
    assert labels[0] == "1. X1 and second meter"


def excerpt(levels, classes):
    figure = _columns._pair(list(levels), list(classes), "column", "target")
    return figure, figure["layout"]["yaxis"]["ticktext"]


@pytest.mark.parametrize("n_levels", [2, 7, 30])
def test_all_levels_have_a_name_and_their_shares(n_levels):
    rng = np.random.default_rng(n_levels)
    levels = [f"level {i:02d}" for i in rng.permutation(np.repeat(np.arange(n_levels), 20))]
    classes = rng.choice(["no", "yes", "perhaps"], len(levels), p=[0.2, 0.5, 0.3]).tolist()
    figure, labels = excerpt(levels, classes)
    assert labels == [f"level {i:02d} (20)" for i in range(n_levels)]
    assert figure["layout"]["yaxis"]["tickvals"] == list(range(n_levels))
    table = pd.crosstab(pd.Series(levels), pd.Series(classes), normalize="index")
    assert [trace["name"] for trace in figure["data"]] == list(table)
    for trace in figure["data"]:
        np.testing.assert_allclose(trace["x"], table[trace["name"]])
        assert trace["y"] == list(range(n_levels))
    assert figure["layout"]["xaxis"]["tickformat"] == ".0%"
    assert figure["layout"]["height"] >= 20 * n_levels


def test_very_many_levels_and_classes_share_a_row_and_a_colour():
    levels = [f"{i}" for i in range(41) for _ in range(50 - i)]
    classes = [f"c{i % 12}" for i in range(len(levels))]
    figure, labels = excerpt(levels, classes)
    assert labels[0] == "0 (50)"
    assert labels[29] == "29 (21)"
    assert labels[30] == f"and 11 more levels ({sum(50 - i for i in range(30, 41))})"
    assert len(labels) == 31
    assert len(figure["data"]) == 8
    assert figure["data"][-1]["name"] == "5 more classes"
    np.testing.assert_allclose(np.sum([trace["x"] for trace in figure["data"]], axis=0), 1)


def test_levels_are_in_order_and_gaps_come_last():
    _, labels = excerpt(["10", "2", "(missing)", "1"], ["a", "b", "a", "b"])
    assert labels == ["1 (1)", "2 (1)", "10 (1)", "(missing) (1)"]
    _, labels = excerpt(["b", "a"], ["x", "y"])
    assert labels == ["a (1)", "b (1)"]


def test_boxes_have_a_row_for_each_level():
    rng = np.random.default_rng(0)
    levels = [f"a rather long name of a level {i}" for i in range(12)] * 5
    numbers = rng.normal(size=60).tolist()
    figure, labels = excerpt(levels, numbers)
    assert len(labels) == 12
    assert figure["data"][0]["orientation"] == "h"
    assert figure["caption"] == "column: target in each level"
    turned, labels = excerpt([None, *numbers[1:]], levels)
    assert turned["caption"] == "column for each class of target (1 of 60 missing)"
    assert len(labels) == 12
    points = _columns._pair(numbers, numbers, "x" * 99, "y")
    assert points["caption"] == "x" * 99
    titles = [points["layout"][axis]["title"]["text"] for axis in ("xaxis", "yaxis")]
    assert titles == [f"{'x' * 10}…{'x' * 11}", "y"]


@pytest.mark.parametrize("number", range(9))
def test_axes_are_numbers_as_people_write_them(number, everything):
    _, result, curves = everything[number]
    for figure in figures_of(page(result, curves=curves)):
        for name in ("xaxis", "yaxis"):
            axis = figure["layout"][name]
            assert axis["exponentformat"] == "power"  # no 200µ, no 20k
            assert axis["minexponent"] == 5  # 0.0002 and 20,000 as they are
        for trace in figure["data"]:
            hover = trace.get("hovertemplate", "")
            assert "%{x}" not in hover.replace("K = %{x}", "").replace("%{x} clusters", "")
            assert "%{y}<" not in hover.replace("%{x:.4f}: %{y}<", "")


# --- notebooks


def test_notebooks_show_a_fitted_selector():
    selector = MISelector(lookahead=1, max_features=1, random_state=0)
    plain = selector._repr_html_()
    assert "MISelector" in plain
    assert 'class="infosieve"' not in plain
    X, y = friedman()
    selector.fit(X, y)
    shown = selector._repr_html_()
    assert "sk-top-container" in shown  # as scikit-learn draws it
    assert shown.endswith(selector.result_._repr_html_())
    assert EVIL not in shown.partition('class="infosieve"')[2]
    # Diagrams are numbered, so two of them differ in that.
    assert selector._repr_mimebundle_()["text/html"].endswith(selector.result_._repr_html_())
    with sklearn.config_context(display="text"):
        assert not hasattr(selector, "_repr_html_")
        assert list(selector._repr_mimebundle_()) == ["text/plain"]


@pytest.mark.parametrize("number", range(9))
def test_notebooks_show_all_results(number, everything):
    _, result, _ = everything[number]
    shown = result._repr_html_()
    assert shown.count("<table>") == 1
    assert "<html" not in shown
    assert len(shown) < 40_000


# --- the command


@pytest.fixture
def kept(found, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "selection.json").write_text(found.to_json(), encoding="utf-8")
    numbers = wide_table()[0].drop(columns=["customer", "constant", "X6"]).iloc[3:]
    clusters = FeatureClustering(3).fit(numbers, wide_table()[1].iloc[3:]).result_
    (tmp_path / "clusters.json").write_text(clusters.to_json(), encoding="utf-8")
    choice = choose_k(numbers[["X1", "X2"]], wide_table()[1].iloc[3:], random_state=0)
    (tmp_path / "choice.json").write_text(choice.to_json(), encoding="utf-8")
    return tmp_path


def ended(*arguments):
    with pytest.raises(SystemExit) as end:
        main(list(arguments))
    return end.value.code


def test_several_documents_make_one_page(kept, capsys):
    assert ended("report", "selection.json", "clusters.json", "--html", "page.html") == 0
    assert "Which columns are redundant" in (kept / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        (["clusters.json", "selection.json"], "only a selection has others beside it"),
        (["selection.json", "choice.json"], "stability, clusters; got selection, k-choice"),
        (["selection.json", "selection.json"], "stability, clusters; got selection, selection"),
        (["selection.json", "clusters.json", "clusters.json"], "two documents are of one kind"),
        (["selection.json", "none.json"], "none.json cannot be read"),
        (["-", "-"], "can be read once"),
    ],
)
def test_documents_that_do_not_belong_together_are_refused(kept, capsys, files, reason):
    assert ended("report", *files, "--html", "page.html") == 2
    assert reason in capsys.readouterr().err
    assert not (kept / "page.html").exists()


def test_the_page_is_no_document(kept, capsys):
    (kept / "page.html").write_text("")
    assert ended("report", "selection.json", "page.html", "--html", "page.html") == 2
    assert "--html page.html is the input itself" in capsys.readouterr().err


# --- in a browser


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        pytest.skip("no chromium and chromedriver here (Debian: chromium, chromium-driver)")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (
        "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        "--disable-dev-shm-usage", f"--user-data-dir={tmp_path_factory.mktemp('profile')}",
    ):  # fmt: skip
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    started = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    started.set_page_load_timeout(A_LONG_TIME)
    started.set_script_timeout(A_LONG_TIME)
    yield started
    started.quit()


def opened(browser, path, dark=False, width=1100):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    theme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": theme})
    browser.get_log("browser"), browser.get_log("performance")
    browser.get(path.as_uri())
    until(browser, lambda _: browser.execute_script(DRAWN), "the figures were not drawn")


DRAWN = "return document.documentElement.dataset.drawn"


def until(browser, true, otherwise):
    from selenium.webdriver.support.wait import WebDriverWait

    return WebDriverWait(browser, A_LONG_TIME, poll_frequency=0.1).until(true, otherwise)


def requests(browser):
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    urls = [
        e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"
    ]
    return [url for url in urls if not url.startswith(("file:", "data:", "blob:"))]


def ground(browser):
    return browser.execute_script("return getComputedStyle(document.body).backgroundColor")


@pytest.mark.parametrize("number", range(9))
def test_pages_in_a_browser(number, everything, browser, tmp_path):
    name, result, curves = everything[number]
    path = tmp_path / f"{name}.html"
    result.report(path, curves=curves)
    seen = set()
    for dark in (False, True):
        for width in (1100, 390):
            opened(browser, path, dark, width)
            assert browser.get_log("browser") == []
            assert requests(browser) == []
            wanted = len(browser.find_elements("css selector", ".figure"))
            drawn = browser.find_elements("css selector", ".figure:has(.main-svg)")
            assert len(drawn) == wanted > 0
            assert browser.execute_script(OVERFLOW) <= 0, (name, width)
            seen.add(ground(browser))
            picture = browser.execute_cdp_cmd(
                "Page.captureScreenshot", {"captureBeyondViewport": True}
            )["data"]
            shot = tmp_path / f"{name}-{'dark' if dark else 'light'}-{width}.png"
            shot.write_bytes(base64.b64decode(picture))
            assert shot.stat().st_size > 10_000
    assert seen == {"rgb(255, 255, 255)", "rgb(13, 17, 23)"}
    assert browser.title.endswith("infosieve")


OVERFLOW = "const e = document.documentElement; return e.scrollWidth - e.clientWidth"
WIDEST = """
return Math.max(...[...document.querySelectorAll("td, p, h1, dd, code, .figure, summary")]
  .filter((e) => e.offsetParent).map((e) => e.getBoundingClientRect().right))
"""
SCROLLED = """
return [...document.querySelectorAll(".scroll")].filter((e) => e.scrollWidth > e.clientWidth).length
"""


@pytest.mark.parametrize("width", [1100, 390])
def test_nothing_is_cut_at_the_right(width, browser, tmp_path):
    path, result = tmp_path / "hostile.html", hostile()
    # Of long names all: selected, stand-in, informative.
    first, other = HOSTILE.index("x" * 200), len(HOSTILE) - 1
    result = replace(result, selected=tuple(j for j in result.selected if j != other))
    asked = with_alternatives(result, stand_in(first, other, 0.9, 0.1), stand_in(0, other, 1, 0))
    everything_else = {
        "relevance": relevance_of(result, [0, other]),
        "stability": repeated(result, np.linspace(0, 1, 9)),
    }
    path.write_text(page(asked, **everything_else), encoding="utf-8")
    opened(browser, path, width=width)
    assert browser.execute_script(WIDEST) <= width
    assert browser.execute_script(SCROLLED) == 0
    hidden = "return getComputedStyle(document.querySelector('thead')).display"
    assert (browser.execute_script(hidden) == "none") == (width == 390)


STATES = [
    "Baden-Württemberg", "Bavaria", "Berlin", "Brandenburg", "Hamburg", "Hesse", "Lower Saxony",
    "Mecklenburg-Western Pomerania", "North Rhine-Westphalia", "Rhineland-Palatinate",
    "Saxony-Anhalt", "Schleswig-Holstein",
]  # fmt: skip


def long_names(classes):
    """Columns with a long beginning in common, capitals, and twelve long levels, three times."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 12, (360, 3))
    X = pd.DataFrame({f"region_{j}": np.array(STATES)[codes[:, j]] for j in range(3)})
    X["MEASUREMENT_OF_CHANNEL_01_IN_MILLIVOLTS"] = rng.normal(size=360)
    for j in range(30):
        X[f"gene_expression_of_probe_{j:04d}_at"] = rng.normal(size=360)
    numbers = codes.sum(axis=1) / 9 + 2 * X["MEASUREMENT_OF_CHANNEL_01_IN_MILLIVOLTS"]
    y = np.array(["agree", "disagree", "no answer"])[np.digitize(codes.sum(axis=1), [14, 19])]
    y = pd.Series(y if classes else numbers, name="MEASUREMENT_OF_THE_RESPONSE_IN_VOLTS")
    how = {"stop": None, "max_features": 4, "lookahead": 1, "random_state": 0}
    with warnings.catch_warnings():  # of so many levels together
        warnings.simplefilter("ignore", UserWarning)
        return MISelector(**how).fit(X, y).result_


def labels_in(browser, figure, side="y"):
    """Labels of an axis: text, how far it is turned, where it begins and ends."""
    return browser.execute_script(
        "return [...document.querySelectorAll(arguments[0])].map((e) => { "
        "const b = e.getBoundingClientRect(); "
        "return [e.textContent, e.getAttribute('transform') || '', b.left, b.right]; })",
        f"#figure-{figure} .{side}tick text",
    )


@pytest.mark.parametrize("width", [1100, 390])
def test_long_labels_in_narrow_figures(width, browser, tmp_path):
    result, path = long_names(classes=True), tmp_path / "long.html"
    result.report(path)
    opened(browser, path, width=width)
    shown = figures_of(path.read_text(encoding="utf-8"))
    for number, figure in enumerate(shown):
        labels = [label[0] for label in labels_in(browser, number)]
        assert len(set(labels)) == len(figure["layout"]["yaxis"]["ticktext"])
        assert not any("……" in label for label in labels)
    genes = [label[0] for label in labels_in(browser, 1) if label[0].startswith("gene")]
    assert len(genes) > 20
    assert all(re.search(r"…\w*\d{4}_at$", gene) for gene in genes)
    stacked = [i for i, f in enumerate(shown) if f["layout"].get("barmode") == "stack"]
    assert len(stacked) == 3
    for number in stacked:
        svg, plot = (
            browser.execute_script(
                "const b = document.querySelector(arguments[0]).getBoundingClientRect(); "
                "return [b.left, b.right];",
                f"#figure-{number} {part}",
            )
            for part in (".main-svg", ".nsewdrag")
        )
        assert plot[1] - plot[0] > 0.4 * (svg[1] - svg[0])
        assert "Bavaria" in " ".join(label[0] for label in labels_in(browser, number))
        ticks = labels_in(browser, number, "x")
        assert [tick[0] for tick in ticks] == ["0%", "25%", "50%", "75%", "100%"]
        assert not any(re.search(r"rotate\((?!0,)", tick[1]) for tick in ticks)
        assert all(a[3] < b[2] for a, b in itertools.pairwise(ticks))


def test_the_page_cuts_names_as_python_does(browser):
    from importlib.resources import files

    template = files("infosieve.report").joinpath("templates/page.html").read_text("utf-8")
    (function,) = re.findall(r"^  function shortened\(.*?^  }$", template, re.S | re.M)
    for names in [*ALIKE[:4], [printable(name) for name in HOSTILE]]:
        for length in (12, 17, 28):
            shown = browser.execute_script(
                f"{function} return shortened(...arguments)", names, length
            )
            assert shown == shortened(names, length)
    escaped = ["&lt;" * 9 + c + "&gt;" * 9 for c in "ab"]  # as letters are that mean something
    shown = browser.execute_script(f"{function} return shortened(...arguments)", escaped, 12)
    assert shown == [f"&lt;&lt;…&lt;&lt;{c}{'&gt;' * 5}…" for c in "ab"]
    accents = browser.execute_script(f"{function} return shortened(['e\\u0301'.repeat(20)], 12)")
    assert accents == [cut("e\u0301" * 20, 12)]


@pytest.mark.parametrize("width", [1100, 390])
def test_titles_of_small_figures_are_whole(width, browser, tmp_path):
    result, path = long_names(classes=False), tmp_path / "titles.html"
    result.report(path)
    opened(browser, path, width=width)
    shown = figures_of(path.read_text(encoding="utf-8"))
    boxes = "const b = document.querySelector(arguments[0]).getBoundingClientRect(); "
    boxes += "return [b.left, b.right, b.top, b.bottom];"
    seen = []
    for number, figure in enumerate(shown):
        svg = browser.execute_script(boxes, f"#figure-{number} .main-svg")
        plot = browser.execute_script(boxes, f"#figure-{number} .nsewdrag")
        for axis, (low, high) in (("x", (0, 1)), ("y", (2, 3))):
            text = figure["layout"][f"{axis}axis"]["title"]["text"]
            if not text:
                continue
            seen.append(text)
            title = browser.execute_script(boxes, f"#figure-{number} .{axis}title")
            assert svg[low] <= title[low] < title[high] <= svg[high]
            assert abs(title[low] + title[high] - plot[low] - plot[high]) <= 4
    assert "MEASUREMEN…_MILLIVOLTS" in seen
    assert "MEASUREMEN…SE_IN_VOLTS" in seen


def test_thousands_of_columns_in_a_browser(browser, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5000))
    y = X[:, 7] + X[:, 4999] + 0.1 * rng.normal(size=60)
    X = pd.DataFrame(X, columns=[f"gene_expression_of_probe_{j:04d}_at" for j in range(5000)])
    result = MISelector(n_features_to_select=3, lookahead=1, random_state=0).fit(X, y).result_
    path = tmp_path / "thousands.html"
    frequencies = np.where(np.arange(5000) % 100 == 7, 0.5, 0.0)
    beside = {
        "relevance": relevance_of(result, range(0, 5000, 50)),
        "stability": repeated(result, frequencies),
    }
    path.write_text(page(result, **beside), encoding="utf-8")
    assert path.stat().st_size < 8_000_000
    for width in (1100, 390):
        opened(browser, path, width=width)
        assert browser.get_log("browser") == []
        assert browser.execute_script(WIDEST) <= width
        assert browser.execute_script(SCROLLED) == 0
        assert browser.execute_script(OVERFLOW) <= 0
        for number in range(3):
            labels = [label[0] for label in labels_in(browser, number)]
            assert len(set(labels)) == len(labels) > 2


def test_pages_are_printed_light_and_unfolded(browser, tmp_path):
    path = tmp_path / "print.html"
    selection().report(path)
    opened(browser, path, dark=True)
    fold = "return document.querySelector('details').open"
    assert ground(browser) == "rgb(13, 17, 23)"
    assert not browser.execute_script(fold)
    browser.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    assert ground(browser) == "rgb(255, 255, 255)"
    assert browser.execute_script(fold)
    widths = "return [...document.querySelectorAll('.main-svg')].map((e) => e.clientWidth)"
    assert max(browser.execute_script(widths)) <= 640
    ink = "return getComputedStyle(document.querySelector('.xtick text')).fill"
    assert browser.execute_script(ink) == "rgb(31, 35, 40)"
    browser.execute_script("window.dispatchEvent(new Event('afterprint'))")
    assert ground(browser) == "rgb(13, 17, 23)"
    assert browser.execute_script(ink) == "rgb(230, 237, 243)"


@pytest.mark.parametrize("width", [1100, 390])
@pytest.mark.parametrize("short", [False, True])
def test_names_below_an_axis_do_not_overlap(short, width, browser, tmp_path):
    result = predicting()
    if short:
        result = replace(result, features=tuple(f"name{j}" for j in range(9)))
    path = tmp_path / "scores.html"
    result.report(path)
    opened(browser, path, width=width)
    boxes = browser.execute_script(
        "return [...document.querySelectorAll('#figure-0 .xtick text')].map((e) => "
        "{ const b = e.getBoundingClientRect(); return [b.left, b.right]; })"
    )
    assert len(boxes) == len(result.features) + 1
    boxes.sort()
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(boxes))
    texts = browser.find_elements("css selector", "#figure-0 .xtick text")
    texts = [text.get_attribute("textContent") for text in texts]
    assert any("</script>" in text for text in texts) != short
    assert not any("&" in text for text in texts)


def test_hovering_tells_the_numbers(browser, tmp_path):
    from selenium.webdriver import ActionChains

    result = selection()
    path = tmp_path / "hover.html"
    result.report(path)
    opened(browser, path)
    point = browser.find_elements("css selector", "#figure-0 .scatterlayer .point")[0]
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", point)

    def hovering(_):
        """Plotly may still be busy with where the pointer was: point again."""
        ActionChains(browser).move_by_offset(0, 1).move_to_element(point).perform()
        return browser.find_elements("css selector", "#figure-0 .hoverlayer .hovertext")

    hover = until(browser, hovering, "no text appears")
    assert f"adds {result.steps[0].gain:.3f} nats" in hover[0].text
    assert browser.find_element("css selector", "h1").text.startswith(EVIL)
    heading = browser.find_elements("css selector", "script")
    assert all("alert" not in s.get_attribute("textContent")[:200] for s in heading)


def test_columns_of_few_numbers_are_drawn_as_levels(rng):
    """Points would lie on top of each other."""
    bit, number = rng.integers(0, 2, 90).tolist(), rng.normal(size=90).tolist()
    boxes = _columns._pair([None, *bit[1:]], number, "bit", "y")
    assert boxes["data"][0]["type"] == "box"
    assert boxes["data"][0]["boxmean"] is True
    labels = boxes["layout"]["yaxis"]["ticktext"]
    assert [label.split()[0] for label in labels] == ["0", "1", "(missing)"]
    assert boxes["caption"] == "bit: y in each level (1 of 90 missing)"
    assert _columns._pair(number, bit, "x", "bit")["caption"] == "x for each class of bit"
    assert _columns._pair(bit, bit, "x", "bit")["caption"] == "x: shares of bit in each level"
    assert _columns._pair(number, number, "x", "y")["data"][0]["type"] == "scatter"
    assert _columns._pair([0, 1, 2], [0.5, 1.5, 2.5], "x", "y")["data"][0]["type"] == "scatter"


def test_a_command_that_was_broken_off_is_given_again_as_it_was():
    asked = {"file": "a.csv", "target": "y"}
    for more, end in (
        ({}, "--full"),
        ({"full": True, "html": "a.html", "seed": 0}, "--full --html a.html --seed 0"),
        ({"json": True}, "--full --html report.html"),  # one document has no room for all of it
    ):
        known = SimpleNamespace(provenance=SimpleNamespace(options=asked | more))
        assert _asking.everything(known) == f"infosieve select a.csv --target y {end}"


NEARLY = {
    "numbers": (lambda y: y, lambda y: y + 0.01 * np.arange(y.size) % 0.02, True),
    "numbers, with more noise": (lambda y: y, lambda y: y + 0.5 * np.sin(1e4 * y), False),
    "classes": (lambda y: np.where(y > 0.3, "a", "b"), lambda y: (y > 0.3) + 0.1 * y, True),
    "two numbers": (lambda y: (y > 0.3).astype(int), lambda y: (y > 0.3) + 0.1 * y, True),
    "classes, roughly": (lambda y: np.where(y > 0.3, "a", "b"), lambda y: np.sin(3 * y) + y, False),
}


@pytest.mark.parametrize("case", NEARLY)
def test_a_column_that_tells_nearly_all_is_told(rng, case):
    target, column, told = NEARLY[case]
    y = rng.normal(size=300)
    X = pd.DataFrame({"noise": rng.normal(size=300), "after": column(y)})
    result = MISelector(lookahead=1, random_state=0).fit(X, target(y)).result_
    assert result.steps[0].features == (1,)
    assert facts_of(result).nearly_all == ([("after", result.steps[0].mi)] if told else [])


def test_all_columns_that_tell_nearly_all_are_told(rng):
    y = rng.normal(size=300)
    X = pd.DataFrame({"noise": rng.normal(size=300), "hours": np.exp(y), "pay": y**3})
    result = MISelector(lookahead=1, random_state=0).fit(X, y > 0.3).result_
    assert {name for name, _ in facts_of(result).nearly_all} == {"hours", "pay"}


def test_a_search_that_ends_among_samples_without_their_like_says_so(rng):
    X = pd.DataFrame({f"c{j}": rng.choice(list("abcdef"), 120) for j in range(4)})
    y = np.where(rng.random(120) < 0.8, X["c0"], X["c1"])
    result = MISelector(lookahead=1, random_state=0).fit(X, y).result_
    stop = result.steps[-1]
    for singletons, told in ((29, 0), (30, 30)):
        steps = (*result.steps[:-1], replace(stop, action="stop", singletons=singletons))
        assert facts_of(replace(result, steps=steps)).singletons == told


def test_columns_that_passed_below_zero_are_explained(found):
    added = next(i for i, step in enumerate(found.steps) if step.action == "add")
    below = "A column that passed may add less than zero here"
    assert not any(note.startswith(below) for note in found.notes)
    steps = [*found.steps]
    steps[added] = replace(steps[added], gain=-0.01)
    assert any(note.startswith(below) for note in replace(found, steps=tuple(steps)).notes)


def test_a_stand_in_for_what_adds_less_than_zero_has_no_share(found):
    j, other = found.selected[0], next(k for k in range(6) if k not in found.selected)
    for information, text in ((0.2, "50%"), (-0.2, "+0.100 nats (-0.200)")):
        some = stand_in(j, other, 0.1 / information, 0.1, information)
        assert text in read(page(with_alternatives(found, some)))
