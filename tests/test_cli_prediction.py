"""``--stop cv`` in the command: models by name, scores, mistakes, and runs that are broken off."""

import json
import re
import shlex
import signal
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from command import after_fold, read_exactly, run
from sklearn.compose import make_column_selector
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from sklearn.utils.discovery import all_estimators

from infosieve import ClusterResult, MISelector, SelectionResult
from infosieve._core.model_text import described, made_of_word, name_of, written
from infosieve._core.rules import MODELS
from infosieve.cli import models
from infosieve.cli.errors import InputError
from infosieve.cli.show import show
from infosieve.datasets import make_friedman
from infosieve.selection._models import default_model

T = ("--target", "Y")
CV = ("--stop", "cv", "--cv", "3", "--seed", "0")
FEW = (*CV, "--max-features", "3")


def frame():
    """Numbers and text with gaps, codes of categories, flags, groups; numbers and classes."""
    X, y = make_friedman(90, 6, random_state=0, return_X_y=True, as_frame=True)
    kind = np.where(X["X4"] > 0.5, "high", "low").astype(object)
    kind[::9] = None
    code = np.digitize(X["X5"], [0.3, 0.6])
    X.loc[::7, "X2"] = np.nan
    X = X.assign(kind=kind, code=code, flag=X["X1"] > 0.5, who=np.repeat(np.arange(30), 3))
    return X.assign(Y=1000 * y, level=np.where(y > y.median(), "much", "little"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    frame().to_csv(folder / "table.csv", index=False)
    (folder / "run.toml").write_text(
        'target = "Y"\nstop = "cv"\nmodel = "Ridge(alpha=2.5)"\ncv = 3\ntest = true\nseed = 0\n'
        'scoring = "neg_mean_absolute_error"\nfeatures = ["X*"]\nmax_features = 2\n'
    )
    (folder / "idle.toml").write_text('target = "Y"\ncv = 3\n')
    return folder


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(150, 80))).add_prefix("c")
    path = tmp_path_factory.mktemp("wide") / "wide.parquet"
    X.assign(Y=X["c0"] + X["c1"] ** 2 + 0.5 * rng.normal(size=150)).to_parquet(path)
    return path


# --- results


def test_scores_are_printed_after_the_path(folder):
    asked = ("select", folder / "table.csv", *T, "--exclude", "level", "--exclude", "who", *FEW)
    done = run(*asked, "--model", "support-vectors", "--quiet")
    assert (done.returncode, done.stderr) == (0, b"")
    lines = done.stdout.decode().splitlines()
    result = SelectionResult.from_json(run(*asked, "--model", "support-vectors", "--json").stdout)
    scores = result.cv_scores
    assert re.fullmatch(r"\s+feature\s+adds \(nats\)\s+", lines[1]), "no p without a test"
    head = lines.index("how well SVR predicts (3 folds, each with its own ranking)")
    assert lines[head + 1].split() == ["columns", "r2", "±", "standard", "error"]
    rows = lines[head + 2 : head + 7]
    numbers = [re.sub(r"\s*█.*|^>", "", row).split()[:-2] for row in rows]
    assert numbers == [["none"], ["1"], ["2"], ["3"], ["all", "9"]]
    (chosen,) = [k for k, row in zip(scores.sizes, rows, strict=False) if row.startswith(">")]
    assert chosen == scores.n_chosen == len(result.selected)
    means = [float(re.search(r"-?\d\.\d{3}", row)[0]) for row in rows]
    np.testing.assert_allclose(means, [*scores.mean, np.mean(scores.all_columns)], atol=5.1e-4)
    assert max(means) > 0.5, "the target is in thousands, which support vectors must not see"
    assert {scores.criterion, *scores.others} == {"cmi", "cmim"}
    ((other, means),) = scores.others.items()
    assert lines[head + 7 : head + 9] == [
        "> was chosen, as was the ranking, so that its score is too good",
        f"columns are ranked by {scores.criterion}; by {other}, r2 is {max(means[1:]):.3f} at best",
    ]
    assert lines[head + 9] == "which of them are certain was not tested; --test does"
    assert lines[-1].startswith("seed 0; stop reason: r2 of SVR is ")


def test_a_model_by_name_is_prepared_as_the_default_is(folder):
    """Text, flags, gaps, and numbers that are categories."""
    asked = ("select", folder / "table.csv", *T, "--exclude", "level", "--categorical", "code",
             "--categorical", "who", "--json", *CV)  # fmt: skip
    by_default = SelectionResult.from_json(run(*asked).stdout)
    own = written(default_model(classes=False))
    named = SelectionResult.from_json(run(*asked, "--model", own).stdout)
    assert named.selected == by_default.selected
    ours, ref = named.cv_scores, by_default.cv_scores
    np.testing.assert_allclose(ours.scores, ref.scores, rtol=1e-9)
    np.testing.assert_allclose(ours.all_columns, ref.all_columns, rtol=1e-9)
    assert ours.model_name == ref.model_name


@pytest.mark.parametrize("word", ["neighbors", "trees"])
def test_a_word_is_a_model_in_python_too(word, folder):
    done = run("select", folder / "table.csv", *T, "--features", "X*", "--features", "kind",
               "--model", word, *FEW, "--json")  # fmt: skip
    known = SelectionResult.from_json(done.stdout)
    table = read_exactly(folder / "table.csv")
    X = table[[name for name in table if name[0] == "X" or name == "kind"]]
    how = {"stop": "cv", "cv": 3, "max_features": 3, "random_state": 0}
    ref = MISelector(model=word, **how).fit(X, table["Y"]).result_
    assert known.cv_scores.scores == ref.cv_scores.scores
    assert known.provenance.parameters["model"] == word


def test_clusters_are_judged_by_a_model_of_any_name(folder):
    asked = ["cluster", folder / "table.csv", *T, "--features", "X[13456]", "--cv", "3", "--seed",
             "0", "--json"]  # fmt: skip
    words = ClusterResult.from_json(run(*asked, "--model", "linear").stdout)
    named = ClusterResult.from_json(run(*asked, "--model", "RidgeCV()").stdout)
    assert words.cv_results.keys() == named.cv_results.keys()
    np.testing.assert_array_equal(
        words.cv_results["mean_test_score"], named.cv_results["mean_test_score"]
    )
    assert words.provenance.parameters["model"] == "linear"
    done = run(*asked, "--model", "SVC")
    assert b"--model is SVC, but column 'Y' of y has numbers" in done.stderr


AGAIN = {
    "numbers": [*T, "--exclude", "level", "--model", "SVR(C=10, epsilon=0.05)"],
    "declared": [*T, "--exclude", "level", "--categorical", "code", "--model", "support-vectors"],
    "classes": ["--target", "level", "--exclude", "Y", "--model", "linear", "--scoring",
                "balanced_accuracy", "--groups", "who"],
    "default": [*T, "--exclude", "level", "--criterion", "jmi"],
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*'who' of X has 30 values")  # which may be individuals
@pytest.mark.filterwarnings("ignore:SVR predicts no better")  # behind two columns, on few rows
@pytest.mark.parametrize("case", AGAIN)
def test_to_have_it_again(case, folder):
    """The command and the code that the result names."""
    done = run("select", "table.csv", *AGAIN[case], *FEW[:-1], 2, "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    first = json.loads(done.stdout)
    known = first["provenance"]
    program, *arguments = shlex.split(known["command"])
    assert program == "infosieve"
    again = json.loads(run(*arguments, cwd=folder).stdout)
    assert again["provenance"]["command"] == known["command"]
    table = read_exactly(folder / "table.csv")
    names = {"X": table[first["features"]], "y": table[AGAIN[case][1]], "groups": table["who"]}
    start, _, call = known["code"].partition("\n\n")
    exec(start, names)
    got = json.loads(eval(call, names).result_.to_json())
    assert got["provenance"]["data"] == known["data"]
    assert got["provenance"]["code"] == known["code"]
    for result in (got, again, first):
        del result["provenance"]
    assert got == again == first


def test_models_are_kept_by_name_and_parameters(folder):
    asked = ("select", folder / "table.csv", *T, "--features", "X*", "--json", *FEW)
    done = run(*asked, "--model", "SVR(C=10, epsilon=0.05)")
    model = SelectionResult.from_json(done.stdout).cv_scores.model
    assert (model["parameters"]["svr__C"], model["parameters"]["svr__epsilon"]) == (10, 0.05)
    assert model["parameters"]["svr"] == "sklearn.svm._classes.SVR"


def test_certain_columns_of_classes_with_a_page_and_a_table(folder, tmp_path):
    page, out = tmp_path / "page.html", tmp_path / "out.csv"
    done = run("select", folder / "table.csv", "--target", "level", "--features", "X*",
               "--features", "kind", "--model", "neighbors", "--test", "--alpha", 0.1, "--html",
               page, "--out", out, "--criterion", "cmi", *FEW)  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout.decode().splitlines()
    head = r"\s+feature\s+adds \(nats\)\s+how\s+evidence\s+chance \(95 %\)\s+p\s+allowed"
    assert re.fullmatch(head, lines[1])
    (told,) = [line for line in lines if line.startswith("certain")]
    assert told.startswith("certain, by permutation tests: X4")
    (head,) = [i for i, line in enumerate(lines) if line.startswith("how well")]
    assert lines[head].startswith("how well KNeighborsClassifier predicts (3 folds, ")
    assert lines[head + 1].split()[:2] == ["columns", "accuracy"]
    assert "--model neighbors" in page.read_text()
    assert list(pd.read_csv(out).columns)[-1] == "level"
    assert b"fold 3 of 3: accuracy" in done.stderr
    assert "> was chosen, so that its score is too good" in lines


def test_options_of_a_file(folder):
    done = run("select", folder / "table.csv", "--config", folder / "run.toml", "--json")
    assert done.returncode == 0, done.stderr
    result = SelectionResult.from_json(done.stdout)
    assert result.cv_scores.model_name == "Ridge"
    assert result.cv_scores.model["parameters"]["ridge__alpha"] == 2.5
    assert (result.cv_scores.scoring, len(result.cv_scores.scores)) == (
        "neg_mean_absolute_error",
        3,
    )
    assert result.steps[0].p_value is not None


def test_what_is_certain_in_words(capsys):
    """All, some, none that passed; tests that were broken off; prediction that is chance."""
    X, y = make_friedman(60, 5, random_state=0, return_X_y=True, as_frame=True)
    asked = {"stop": "cv", "cv": 2, "max_features": 2, "min_features": 2, "random_state": 0}
    result = MISelector(**asked, test=True).fit(X, y).result_
    first, second = result.steps
    assert (first.significant, len(result.selected)) == (True, 2)

    def told(*steps, **more):
        show(replace(result, steps=steps, **more))
        return capsys.readouterr().out

    failed = replace(second, p_value=0.9, level=0.05)
    names = [X.columns[j] for j in result.selected]
    text = told(first, replace(second, p_value=0.01, level=0.05))
    assert f"certain, by permutation tests: {', '.join(names)}\n" in text
    assert f"tests: {names[0]}; the others help to predict" in told(first, failed)
    for untested in (failed, replace(second, p_value=None, level=None)):
        text = told(replace(first, p_value=0.9, level=0.05), untested)
        assert "certain, by permutation tests: no column; the others" in text
    bare = [replace(step, p_value=None, level=None) for step in (first, second)]
    assert "the tests, which would say it, were broken off" in told(*bare)
    assert "better than none" not in text
    scores = result.cv_scores
    poor = replace(scores, scores=tuple((0.5, *([0.1] * (len(s) - 1))) for s in scores.scores))
    assert "no number of columns predicts better than none" in told(*bare, cv_scores=poor)
    huge = replace(scores, scores=tuple(tuple(-1e5 * np.array(s)) for s in scores.scores))
    assert re.search(r"none\s+-?\d[\d.e+]*\s", told(*bare, cv_scores=huge))


# --- mistakes


MISTAKES = [
    (["--model", "trees"], "--model is about --stop cv: pass that, too, or leave it out"),
    (["--cv", "5"], "--cv is about --stop cv"),
    (["--scoring", "r2"], "--scoring is about --stop cv"),
    (["--test"], "--test is about --stop cv"),
    (["--config", "idle.toml"], "--cv is about --stop cv"),
    ([*CV, "--alpha", "0.05"], "--alpha is about tests, and --stop cv makes none: add --test"),
    ([*CV, "--n-permutations", "99"], "--n-permutations is about tests"),
    ([*CV, "--null", "global"], "--null is about tests"),
    ([*CV, "--search", "forward-backward"], "--search must be 'forward' with --stop cv"),
    ([*CV, "--n-features-to-select", "2"], "--min-features and --max-features bound it"),
    ([*CV[:2], "--cv", "1"], "--cv must be an int of at least 2. Got 1"),
    ([*CV, "--model", "suport-vectors"], "do you mean support-vectors?"),
    ([*CV, "--model", "svr"], "do you mean SVR or"),
    ([*CV, "--model", "forest"], "do you mean RandomForestClassifier or RandomForestRegressor?"),
    ([*CV, "--model", "print"], "'print' is none of neighbors, trees, support-vectors, linear, or"),
    ([*CV, "--model", "SVR(1)"], "parameters have names, such as SVR(name=1)"),
    ([*CV, "--model", "SVR(c=1)"], "--model SVR has no parameter 'c'; do you mean C?"),
    ([*CV, "--model", "SVR(zzz=1)"], "--model SVR has no parameter 'zzz'; it has kernel, degree"),
    ([*CV, "--model", "SVR(C=-1)"], "--model SVR: The 'C' parameter of SVR must be a float in"),
    ([*CV, "--model", "SVR(C=open('x'))"], "C must be a number, a text in quotes, True, False"),
    ([*CV, "--model", "StackingRegressor"], "--model StackingRegressor needs estimators"),
    ([*CV, "--model", "SVC"], "has numbers: pass a regressor, or one of neighbors"),
    ([*CV, "--model", "LogisticRegression"], "say what the target is (--categorical)"),
    ([*CV, "--model", "PoissonRegressor", "--target", "level"], "classes: pass a classifier"),
    ([*CV, "--scoring", "accuraccy"], "is no score of scikit-learn; do you mean accuracy or"),
    ([*CV, "--scoring", "zzzz"], "is no score of scikit-learn; such as r2 or"),
    ([*CV, "--scoring", "accuracy"], "--scoring 'accuracy' cannot judge predictions of"),
    ([*CV, "--scoring", "r2", "--target", "level"], "which has classes: could not convert string"),
    ([*CV, "--model", "GammaRegressor", "--features", "Z"], "--features 'Z' is no column"),
    ([*CV, "--model", "IsotonicRegression"], "(fold 1): Isotonic|another --model or --scoring."),
    ([*CV, "--model", "SVC", "--scoring", "neg_log_loss", "--target", "level"],
     "and judged by neg_log_loss (fold 1): |another --model or --scoring."),
    ([*CV[:2], "--cv", "40", "--groups", "who"], "--cv asks for 40 folds, but there are 30 groups"),
    (["--criterion", "cmim"], "Use --criterion cmi with it; or --stop cv"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "message"), MISTAKES, ids=lambda v: str(v)[:60])
def test_mistakes_are_told_in_one_line(arguments, message, folder):
    target = [] if "--target" in arguments or "--config" in arguments else T
    done = run("select", "table.csv", *target, *arguments, "--exclude", "who", cwd=folder)
    assert done.returncode == 2, done.stderr.decode()
    assert done.stdout == b""
    lines = done.stderr.decode().strip().splitlines()
    (said,) = [line for line in lines if not line.startswith("infosieve: compiling")]
    assert said.startswith("infosieve: error: ")
    assert all(part in said for part in message.split("|")), said


def test_what_tests_need_goes_with_what_asks_for_tests():
    models.check_options({"alpha"}, "cv", tests=True)
    models.check_options({"alpha"}, "auto", tests=False)
    with pytest.raises(InputError, match="--alpha is about tests"):
        models.check_options({"alpha"}, "cv", tests=False)


# --- models by name


def test_all_models_of_scikit_learn_are_known():
    known = dict(models._models())
    assert known == dict(all_estimators(["classifier", "regressor"]))
    for word, names in MODELS.items():
        assert models.model_of(word, []) == word
        for name, classes in zip(names, (False, True), strict=True):
            assert name_of(described(made_of_word(word, classes))) == name


@pytest.mark.parametrize(
    "text",
    ["__import__('os').abort()", "SVR(C=__import__('os').abort())", "SVR(**{'C': 1})", "SVR(*[1])",
     "(lambda: SVR())()", "SVR(C=1)(C=1)", "SVR; 1", "SVR(C=1", "", "\0", "(" * 5000,
     "SVR(C=" + "[" * 5000 + "]" * 5000 + ")", "SVR(C=" + "-" * 5000 + "1)", "os.abort()",
     "MISelector()", "StandardScaler", "BaseEstimator"],
    ids=lambda text: text[:20],
)  # fmt: skip
def test_nothing_is_evaluated(text):
    with pytest.raises(InputError, match="--model"):
        models.model_of(text, [])


def test_literal_parameters():
    text = "MLPRegressor(hidden_layer_sizes=(5, 3), activation='tanh', early_stopping=True)"
    model = models.model_of(text, [])[-1]
    assert (model.hidden_layer_sizes, model.activation) == ((5, 3), "tanh")


def test_columns_by_type_and_name():
    """Numbers, text, flags; numbers that are declared categories, whatever is in their names."""
    odd = "a(b|c)*\n"
    table = pd.DataFrame(
        {"x": [0.0, 1.0, np.nan], "x2": [1, 2, 3], odd: [1, 2, 2], "t": ["u", None, "v"],
         "f": [True, False, True]}
    )  # fmt: skip
    pipeline = models.prepared(SVR(), ["x2", odd])
    made = pipeline[0].fit_transform(table)
    assert made.shape == (3, 2 + 3 + 2 + 3 + 2)  # x and its gaps; t, f; x2, odd
    np.testing.assert_allclose(made[:, :2].mean(axis=0), 0, atol=1e-12)
    assert set(np.unique(made[:, 2:])) == {0, 1}
    for names in (["x"], ["t"], [odd], ["x2", "f"]):
        assert len(models.prepared(SVR(), ["x2", odd])[0].fit_transform(table[names])) == 3


def test_objects_without_words_are_written_as_calls():
    chosen = make_column_selector("^a", dtype_exclude=["number"])
    pipeline = models.prepared(SVR(C=2), ["a"])
    text = written(pipeline)
    assert " at 0x" not in text
    assert " at 0x" not in json.dumps(described(pipeline))
    for one in (text, written(make_pipeline(StandardScaler(), SVR()))):
        assert "Pipeline(steps=[" in one
    assert written(chosen) == "make_column_selector(pattern='^a', dtype_exclude=['number'])"
    assert name_of(described(make_pipeline(StandardScaler(), SVR()))) == "SVR"
    assert name_of({"name": "sklearn.pipeline.Pipeline", "parameters": {}}) == "Pipeline"


# --- runs that are broken off


@pytest.mark.parametrize("more", [[], ["--checkpoint", "folds.json"]])
def test_control_c_says_what_is_finished(more, wide, tmp_path):
    options = [*T, "--stop", "cv", "--seed", "0", "--out", "out.csv", *more]
    interrupted = after_fold(2, "signal.raise_signal(signal.SIGINT)")
    done = run("select", wide, *options, cwd=tmp_path, first=interrupted, text=True)
    assert (done.returncode, done.stdout) == (130, "")
    last = done.stderr.strip().splitlines()[-1]
    assert "fit was interrupted; 2 of 10 folds were finished" in last
    assert "Traceback" not in done.stderr
    if not more:
        assert last.endswith("and are lost; a checkpoint would have kept them")
        assert list(tmp_path.iterdir()) == []
        return
    assert "the checkpoint folds.json has them: run again to go on" in last
    done = run("select", wide, *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert b"2 folds are in the checkpoint" in done.stderr


def test_a_killed_command_goes_on(wide, tmp_path):
    arguments = ["select", wide, *T, *CV, "--json", "--max-features", 3, "--model", "linear"]
    checkpoint = tmp_path / "c.json"
    killed = after_fold(1, "os.kill(os.getpid(), signal.SIGKILL)")
    done = run(*arguments, "--checkpoint", checkpoint, first=killed)
    assert done.returncode == -signal.SIGKILL
    assert b"fold 1 of " in done.stderr
    assert len(json.loads(checkpoint.read_text())["parts"]) == 1
    again, whole = run(*arguments, "--checkpoint", checkpoint), run(*arguments)
    assert b"1 fold is in the checkpoint" in again.stderr
    a, b = (json.loads(r.stdout) for r in (again, whole))
    assert json.dumps(a | {"provenance": 0}) == json.dumps(b | {"provenance": 0})
    other = run(*arguments[:-1], "trees", "--checkpoint", checkpoint)
    assert (other.returncode, other.stdout) == (2, b"")
    assert b"is of another run: model was" in other.stderr
