"""The page of quality.py: docs/quality.md and its figures, from what was kept."""

import numpy as np
import pandas as pd
from panel import PANEL
from procedures import FIRST_PAIRS, SELECTORS
from quality_curves import CHOOSE, JUDGE, MODELS, MOST_ROWS, OUTER, SIZES
from quality_rules import Rule, chosen_text
from spectra import HERE, kept, table
from summarize import by_problem, f1

DOCS = HERE.parent / "docs"
TESTS = "MISelector()"
CV = 'MISelector(stop="cv")'
CV_MODEL = 'MISelector(stop="cv", model=…)'
OURS = (CV_MODEL, CV, TESTS)
ALL = "all columns"
SEQUENTIAL = "sequential selection"
BY_CV = {  # rankings of others, their number by cross-validation of the model behind
    name: f"{name}, number by CV"
    for name in ("univariate MI", "mRMR", "forest importance", "HSIC Lasso")
}
FIELDS = ("data", "fold", "selector", "of", "seconds", "selected")
FEW = 0.2  # a fifth of the columns
CRITERIA = (FIRST_PAIRS, "cmim")  # what our default ranks by

TEXT = """# Selection on real data

*Written by [`experiments/quality.py`](../experiments/quality.py)
from `experiments/results/quality.json` (what each selector
chose) and `quality_curves.json` (errors against the number of columns).*

## What was done

{n_tables} real tables in two parts, fixed before anything was looked at. **Choosing**: the six of
the earlier version of this page and every third of the others in alphabetical order
({choose}). What `stop="cv"` does by default was chosen by these. **Judging**: all the others
({judge}). The figures of this page are those of the judging tables, unless it says otherwise.

{folds} Of tables with more than {most:,} samples, {most:,} drawn at random are used. Samples that
are equal stay in the same fold, and so do those of one sample (mayonnaise_triplicates) or one
molecule (musk1, whose names of molecules and conformations are no columns: a first run had them,
and they give the class away). A selector sees the training samples. It chooses its columns and
their number there, where it needs that by a cross-validation in five inner folds, the ranking made
anew in each. Three models that nobody tunes are then fitted to the chosen columns and judged on the
test samples: support vectors with a Gaussian kernel (**kernel**; C = 10, numbers to predict
standardised), five nearest **neighbours** weighted by distance, and 60 extremely randomised
**trees**. They share one preparation: text becomes 0/1 columns, gaps medians, columns are
standardised. Ours see text and gaps as they are, the others codes and medians.

Errors are mean squared error over the variance of the target (numbers), or the share of wrong
classes; the mean over folds is divided by that of all columns, and means over tables and models are
geometric. An error counts as half a wrong sample at least. **Against
ours**: the difference from `MISelector(stop="cv", model=…)`, mean and standard error over tables,
positive where ours has less error. **Rank**: among all selectors, for each table and
model, the mean (1 is the best). **Stability** is Nogueira's index of the sets
chosen on the folds: 1 when they are all the same, 0 when they agree as chance would. **Seconds**
are those of one selection, one thread, as the processor counts them, cross-validation included: a
rough guide, the median over tables.

## Who predicts best with how many columns

{means}

"model=…" is the model behind; without it nearest neighbours choose the number.

{verdict}

{paired}

{twice}

{times}

{sequential}

![Error against the share of columns kept](quality_kept.png)

## Error against the number of columns

The first k columns of each ranking, k the same for all tables and models; where a ranking has fewer
columns, its last error goes on.

![Error against the number of columns](quality.png)

{five}

## What chose the default

{rules}

## Each table

Error over that of all columns, the geometric mean over the three models (share of the columns that
is kept). **Bold**: the least of the row among selectors.

{matrix}

{wins}

{each}

## How the others were run

"Number by CV" takes the first 1, 2, 3, 4, 5, 7, 10, 14, 20, 28, 40 or 50 columns of a ranking, as
five-fold cross-validation of the model behind wants (the best mean score). Univariate MI is
scikit-learn's, mRMR the package mrmr_selection (F statistic and correlation), forest importance the
mean decrease of impurity in 200 extremely randomised trees, HSIC Lasso the package pyHSICLasso
(blocks of 20). RFECV is scikit-learn's, with a random forest, a tenth of the columns at a time.
Boruta is boruta_py with forests of depth 5. FOCI is our own version of what Azadkia and Chatterjee
(2021) describe, classes as codes, until its measure falls, at most 20 columns (what the package
index has under its name, pyFOCI 0.1.2, is an empty template). IPSS is the package ipss, gradient
boosting, at a false discovery rate of 0.1 (of more than two classes, the codes). Sequential
selection is forward selection with the model behind, until the score rises by less than 0.001, at
most 20 columns. A selection may take ten minutes of the processor; sequential selection is given up
at once where its first ten candidates show that 20 columns would take longer. Both are "not
ended" and left out of the means; in ranks they come last.

{panel}
"""


def stability(sets, m):
    """Nogueira, Sechidis and Brown (2018); None where it is not defined."""
    chosen = np.zeros((len(sets), m))
    for row, columns in zip(chosen, sets, strict=True):
        row[columns] = 1
    share = chosen.mean(axis=1).mean()
    if len(sets) < 2 or share in (0.0, 1.0):
        return None
    return 1 - chosen.var(axis=0, ddof=1).mean() / (share * (1 - share))


# ---- what was kept, as one frame: a row for each table, fold, selector and model


def records():
    """Of the judging tables; and their curves."""
    curves = [row for row in kept("quality_curves") if row["data"] in JUDGE]
    found = [r for row in curves for r in from_curve(row)]
    for row in kept("quality"):
        for model in [row["model"]] if row["model"] else MODELS:
            error = row["errors"].get(model, np.nan)
            found.append({name: row[name] for name in FIELDS} | {"model": model, "error": error})
    return pd.DataFrame(found), curves


def from_curve(row):
    """All columns, or the first of a ranking by cross-validation of each model."""
    base = {"data": row["data"], "fold": row["fold"], "of": row["of"]}
    if row["ranking"] == ALL:
        return [
            base | {"selector": ALL, "model": model, "error": row["errors"][model][0],
                    "seconds": 0.0, "selected": list(range(row["of"]))}
            for model in MODELS
        ]  # fmt: skip
    if row["ranking"] not in BY_CV:
        return []
    found = []
    for model in MODELS:
        place = Rule().place(np.array(row["scores"][model]), None)
        seconds = row["seconds"] + row["inner_seconds"] + row["model_seconds"][model]
        found.append(base | {
            "selector": BY_CV[row["ranking"]], "model": model, "seconds": seconds,
            "error": row["errors"][model][place], "selected": row["order"][: row["sizes"][place]],
        })  # fmt: skip
    return found


def least_errors(curves):
    """Half a wrong sample of all that are tested, for each table of classes."""
    tested = {}
    for row in curves:
        if row["ranking"] == ALL:
            tested.setdefault(row["data"], []).append(row["n_test"] if row["classes"] else 1e9)
    return {name: 0.5 / sum(n) for name, n in tested.items()}


def summary(rows, least):
    """A row for each table, selector and model: means over the folds that it has."""
    whole = rows[rows["selector"] == ALL].set_index(["data", "model", "fold"])["error"].sort_index()
    found = []
    for (name, selector, model), some in rows.groupby(["data", "selector", "model"], sort=False):
        base = whole.loc[name, model].reindex(some["fold"]).mean()
        ended = some["selected"].notna().all()
        sets = some["selected"].tolist() if ended else []
        of = some["of"].iloc[0]
        error = some["error"].mean() if ended else np.nan
        ratio = max(error, least[name]) / max(base, least[name]) if ended else np.nan
        found.append({
            "data": name, "selector": selector, "model": model, "of": of, "error": error,
            "ratio": ratio, "kept": np.mean([len(s) for s in sets]) if ended else np.nan,
            "stability": stability(sets, of) if ended else None,
            "seconds": some["seconds"].mean(), "folds": len(some),
        })  # fmt: skip
    return pd.DataFrame(found)


def complete(rows, selectors=None):
    """The rows of tables and folds that every selector was tried on, the tables, the selectors.

    Sequential selection is so slow that it may have been tried on fewer.
    """
    there = set(rows["selector"])
    selectors = selectors or [s for s in order_of() if s in there and s != SEQUENTIAL]
    some = rows[rows["selector"].isin(selectors)]
    tried = some.groupby(["data", "fold"])["selector"].nunique()
    done = tried.index[tried == len(selectors)]
    rows = rows[pd.MultiIndex.from_frame(rows[["data", "fold"]]).isin(done)]
    names = set(done.get_level_values("data"))
    return rows, [name for name in JUDGE if name in names], selectors


def order_of():
    return [*OURS, ALL, *BY_CV.values(), *SELECTORS, SEQUENTIAL]


def mean_ratio(values):
    return np.exp(np.log(values.dropna()).mean())


def apart(some, ours):
    """In % of error, paired by tables: mean and standard error, or nothing where it is itself."""
    logs = [np.log(t["ratio"]).groupby(t["data"]).mean() for t in (some, ours)]
    difference = 100 * (logs[0] - logs[1]).dropna()
    if not difference.any():
        return ""
    return f"{difference.mean():+.0f} ± {difference.std() / np.sqrt(len(difference)):.0f} %"


def ranks(found, selectors):
    """The mean rank over tables and models; what did not end comes last."""
    some = found[found["selector"].isin(selectors)]
    wide = some.pivot_table(index=["data", "model"], columns="selector", values="ratio",
                            dropna=False)  # fmt: skip
    return wide.rank(axis=1, na_option="bottom").mean()


def overall(found, selectors):
    """A row for each selector."""
    rows, ours = {}, CV_MODEL in selectors
    for selector in selectors:
        some = found[found["selector"] == selector]
        rows[selector] = {
            "all": mean_ratio(some["ratio"]),
            "apart": apart(some, found[found["selector"] == CV_MODEL]) if ours else "",
            **{model: mean_ratio(some.loc[some["model"] == model, "ratio"]) for model in MODELS},
            "share": (some["kept"] / some["of"]).mean(),
            "stability": pd.to_numeric(some["stability"]).mean(),
            "seconds": some["seconds"].median(),
            "not ended": int(some["ratio"].isna().sum()),
        }
    result = pd.DataFrame(rows).T
    numbers = [name for name in result if name != "apart"]
    result[numbers] = result[numbers].astype(float)
    result["rank"] = ranks(found, selectors)
    few = [s for s in selectors if result.loc[s, "share"] <= FEW]
    result["rank of few"] = ranks(found, few).reindex(selectors)
    return result


# ---- words and tables


def means_of(result):
    few = result["rank of few"]
    columns = {
        "selector": [f"**{code(s)}**" if s in OURS else s for s in result.index],
        "error over that of all columns": result["all"].map("{:.2f}".format),
        **{f"… {model}": result[model].map("{:.2f}".format) for model in MODELS},
        "against ours": result["apart"],
        "kept": (100 * result["share"]).map("{:.0f} %".format),
        "rank": result["rank"].map("{:.2f}".format),
        "rank of those that keep a fifth or less": few.map(lambda v: blank(v, ".2f")),
        "stability": result["stability"].map(lambda v: blank(v, ".2f")),
        "seconds": result["seconds"].map("{:.1f}".format),
        "not ended": result["not ended"].map(lambda n: f"{n:.0f}" if n else ""),
    }
    order = np.argsort(result["rank"].to_numpy(float), kind="stable")
    cells = {head: np.asarray(values)[order] for head, values in columns.items()}
    cells = {head: values for head, values in cells.items() if any(values)}
    return table(list(cells), list(zip(*cells.values(), strict=True)))


def blank(value, digits):
    return "" if np.isnan(value) else f"{value:{digits}}"


def code(selector):
    return f"`{selector}`" if selector in OURS else selector


def verdict(result, n_pairs):
    """Who wins: no word that the numbers do not say."""
    few = result[result["rank of few"].notna()].sort_values("rank of few")
    best, least = result["rank"].idxmin(), result["all"].idxmin()
    said = [
        f"Of all, {code(best)} has the best mean rank ({result['rank'].min():.2f}) and "
        f"{code(least)} the least error ({result['all'].min():.2f}, with "
        f"{100 * result.loc[least, 'share']:.0f} % of the columns). {few_text(few)}\n"
    ]
    for selector in [s for s in OURS if s in result.index]:
        row = result.loc[selector]
        ahead = result.index[(result["all"] < row["all"] - 5e-3)]
        words = f"{', '.join(map(code, ahead))}" if len(ahead) else "nobody"
        said.append(
            f"- {code(selector)}: {row['all']:.2f} times the error of all columns with "
            f"{100 * row['share']:.0f} % of them. Less error: {words}."
        )
    if result["not ended"].any():
        some = result.loc[result["not ended"] > 0, "not ended"]
        late = ", ".join(f"{code(s)} {n:.0f}" for s, n in some.items())
        said.append(f"\nNot ended, of {n_pairs} pairs of table and model: {late}.")
    return "\n".join(said)


def few_text(few):
    """Who is ahead among those that keep few columns."""
    if few.empty:
        return "No selector keeps a fifth of the columns or fewer on average."
    if len(few) == 1:
        return f"Only {code(few.index[0])} keeps a fifth of the columns or fewer on average."
    (first, one), (second, two) = list(few.iterrows())[:2]
    least = few["all"].idxmin()
    return (
        f"Of the {len(few)} selectors that keep a fifth of the columns or fewer on average, "
        f"{code(first)} has the best mean rank ({one['rank of few']:.2f}), {code(second)} the "
        f"second ({two['rank of few']:.2f}); {code(least)} has the least error of them "
        f"({few['all'].min():.2f})."
    )


def few_text_of_folds(result):
    """Those that keep few columns, on all folds that all of them have: also how stable they are."""
    few = [s for s in result.index if not np.isnan(result.loc[s, "rank of few"])]
    rows, curves = records()
    rows, names, selectors = complete(rows, [ALL, *few])
    n_folds = rows.groupby("data")["fold"].nunique()
    names = [name for name in names if n_folds[name] > 1]
    rows = rows[rows["data"].isin(names) & rows["selector"].isin(selectors)]
    if not names:
        return ""
    found = summary(rows, least_errors(curves))
    cells = overall(found, selectors).drop(index=ALL)
    cells["rank of few"] = ranks(found, few)
    cells = cells.sort_values("rank of few")
    head = ["selector", "error over that of all columns", "kept", "rank among them", "stability"]
    lines = [
        [code(s), f"{r['all']:.2f}", f"{100 * r['share']:.0f} %", f"{r['rank of few']:.2f}",
         blank(r["stability"], ".2f")]
        for s, r in cells.iterrows()
    ]  # fmt: skip
    return (
        f"**On {' or '.join(map(str, sorted(set(n_folds[names]))))} outer folds**, those that keep "
        f"few columns ({len(names)} tables):\n\n{table(head, lines)}"
    )


def paired_text(found, result):
    """Ours against the other that keeps few columns and is nearest, on the same tables."""
    few = result[result["rank of few"].notna()].sort_values("rank of few")
    others = [s for s in few.index if s not in OURS]
    if CV not in few.index or not others:
        return ""
    logs = found.assign(log=np.log(found["ratio"])).pivot_table(
        index="data", columns="selector", values="log"
    )
    difference = 100 * (logs[others[0]] - logs[CV]).dropna()
    error = difference.std() / np.sqrt(len(difference))
    kept_by = [f"{100 * result.loc[s, 'share']:.0f} %" for s in (others[0], CV)]
    words = "more" if difference.mean() > 0 else "less"
    sure = (
        "within its standard error"
        if abs(difference.mean()) < error
        else (
            "within two standard errors" if abs(difference.mean()) < 2 * error else "not by chance"
        )
    )
    return (
        f"Table by table, {others[0]} has {abs(difference.mean()):.0f} ± {error:.0f} % {words} "
        f"error than {code(CV)} ({sure}), with {kept_by[0]} of the columns against {kept_by[1]}."
    )


def times_text(found, names, curves):
    """Is ours within twice mRMR's ranking and one cross-validation of the model?"""
    mrmr = {(r["data"], r["fold"]): r for r in curves if r["ranking"] == "mRMR"}
    ratios = {}
    for name in names:
        rows = [r for (data, _), r in mrmr.items() if data == name]
        ours = found[(found["data"] == name) & (found["selector"] == CV)]
        if not rows or ours.empty:
            continue
        ranking = np.mean([r["seconds"] + r["inner_seconds"] for r in rows])
        model = np.mean([r["model_seconds"]["neighbours"] for r in rows])
        ratios[name] = ours["seconds"].mean() / (2 * ranking + model)
    late = [f"{name} ({r:.1f})" for name, r in sorted(ratios.items(), key=lambda i: -i[1]) if r > 1]
    if not ratios:
        return ""
    return (
        f"**Time.** {code(CV)} takes {np.median(list(ratios.values())):.1f} times (median) what "
        "twice mRMR's rankings (of all samples and of each inner fold) and one cross-validation of "
        f"the model take together; it takes no more on {len(ratios) - len(late)} of {len(ratios)} "
        f"tables, and more on {', '.join(late) or 'none'}."
    )


def sequential_text(found):
    """Sequential selection, which is slow, on the tables that it was tried on, and ours there."""
    tried = found[found["selector"] == SEQUENTIAL]
    if tried.empty:
        return ""
    ended = tried[tried["ratio"].notna()]
    pairs = pd.MultiIndex.from_frame(ended[["data", "model"]])
    cells = []
    for selector in (SEQUENTIAL, CV_MODEL, *BY_CV.values()):
        some = found[found["selector"] == selector].set_index(["data", "model"])
        if not pairs.isin(some.index).all():
            continue
        some = some.loc[pairs]
        share = 100 * (some["kept"] / some["of"]).mean()
        seconds = some["seconds"].median()
        cells.append([code(selector), f"{mean_ratio(some['ratio']):.2f}", f"{share:.0f} %",
                      f"{seconds:.1f}"])  # fmt: skip
    head = ["selector", "error over that of all columns", "kept", "seconds"]
    return (
        f"**Sequential selection** with the model behind was tried on {len(tried)} pairs of table "
        f"and model ({', '.join(dict.fromkeys(tried['data']))}); it ended on {len(ended)} of them. "
        f"On these:\n\n{table(head, cells)}"
    )


def five_of(curves, names, least):
    """At five columns, and at the best number by looking."""
    rows = []
    lines = lines_of(curves, names, least)
    for ranking, line in sorted(lines.items(), key=lambda item: item[1]["five"]):
        rows.append([named(ranking), f"{line['five']:.2f}", f"{line['best']:.2f}"])
    head = [
        "ranking",
        "error over that of all columns, 5 columns",
        "at its best number, by looking",
    ]
    return table(head, rows)


def named(ranking):
    words = "cmi" if ranking == FIRST_PAIRS else ranking
    return f'ours, criterion "{words}"' if ranking in (*CRITERIA, "mi", "jmi") else ranking


def lines_of(curves, names, least):
    """For each ranking: the mean curve over tables and models, and its value at five columns."""
    folds = {}
    for row in curves:
        if row["data"] in names:
            folds.setdefault((row["ranking"], row["data"]), []).append(row)
    lines = {}
    for ranking in dict.fromkeys(row["ranking"] for row in curves if row["ranking"] != ALL):
        if any((ranking, name) not in folds for name in names):
            continue
        logs, bests = [], []
        for name in names:
            some = folds[ranking, name]
            wholes = {row["fold"]: row for row in folds[ALL, name]}
            for model in MODELS:
                ours = np.mean([carried(row["errors"][model]) for row in some], axis=0)
                base = np.mean([wholes[row["fold"]]["errors"][model][0] for row in some])
                best = np.mean([min(row["errors"][model]) for row in some])
                logs.append(np.log(np.maximum(ours, least[name]) / max(base, least[name])))
                bests.append(np.log(max(best, least[name]) / max(base, least[name])))
        curve = np.exp(np.mean(logs, axis=0))
        five = curve[SIZES.index(5)]
        lines[ranking] = {"curve": curve, "five": five, "best": np.exp(np.mean(bests))}
    return lines


def carried(errors):
    return list(errors) + [errors[-1]] * (len(SIZES) - len(errors))


def matrix_of(found, names, selectors):
    shown = [s for s in selectors if s != ALL]
    rows = []
    for name in names:
        some = found[found["data"] == name]
        ratios = {s: mean_of_ended(some[some["selector"] == s]) for s in shown}
        best = np.nanmin([r for r, _ in ratios.values()])
        cells = []
        for ratio, share in ratios.values():
            text = "not ended" if np.isnan(ratio) else f"{ratio:.2f}"
            text = f"**{text}**" if ratio == best else text
            cells.append(text if np.isnan(ratio) else f"{text} ({100 * share:.0f} %)")
        rows.append([name, some["of"].iloc[0], *cells])
    return table(["table", "columns", *map(code, shown)], rows)


def mean_of_ended(some):
    """Over the models, if all ended."""
    if some["ratio"].isna().any():
        return np.nan, np.nan
    return mean_ratio(some["ratio"]), (some["kept"] / some["of"]).mean()


def wins_of(found, names, selectors, curves):
    """For each table where another is ahead of ours: who, and what the figures show of why."""
    held = {}
    for row in curves:
        if row["ranking"] in CRITERIA:
            held.setdefault(row["data"], []).append(row)
    wholes = {(r["data"], r["fold"]): r for r in curves if r["ranking"] == ALL}
    ahead, said = 0, []
    for name in names:
        some = found[found["data"] == name]
        ratios = {s: mean_of_ended(some[some["selector"] == s]) for s in selectors}
        mine, share = ratios[CV_MODEL]
        best = min((s for s in ratios if not np.isnan(ratios[s][0])), key=lambda s: ratios[s][0])
        if best in OURS or ratios[best][0] >= mine - 5e-3:
            ahead += 1
            continue
        other, other_share = ratios[best]
        why = reason(share, other_share, other, by_looking(held[name], wholes))
        said.append(
            f"- **{name}**: {code(best)} {other:.2f} with {100 * other_share:.0f} %, "
            f"{code(CV_MODEL)} {mine:.2f} with {100 * share:.0f} %. {why}"
        )
    head = f"One of ours has the least error (or is within 0.005 of it) on {ahead} of {len(names)} "
    return (
        f"{head}tables. On the others (in brackets: our rankings at their best number, chosen by "
        "the test samples, which flatters them):\n\n" + "\n".join(said)
    )


def by_looking(rows, wholes):
    """The ratio of our rankings at the best number, were it and the better ranking known."""
    logs = []
    folds = sorted({row["fold"] for row in rows})
    for model in MODELS:
        mine = [min(min(r["errors"][model]) for r in rows if r["fold"] == f) for f in folds]
        base = [wholes[rows[0]["data"], fold]["errors"][model][0] for fold in folds]
        logs.append(np.log(max(np.mean(mine), 1e-9) / max(np.mean(base), 1e-9)))
    return np.exp(np.mean(logs))


def reason(share, other_share, other, held):
    """What the figures show: more columns, a better ranking, or a better number."""
    said = []
    if other_share > 1.5 * share:
        said.append("It keeps more columns.")
    elif other_share < share / 1.5:
        said.append("It keeps fewer columns.")
    if held <= other:
        said.append(f"Our rankings hold as much, at a number that is not found ({held:.2f}).")
    else:
        said.append(f"Our rankings have no number of columns as good ({held:.2f} at best).")
    return " ".join(said)


def each_of(found, names, selectors):
    parts = []
    for name in names:
        rows = []
        some = found[found["data"] == name].set_index(["selector", "model"])
        for selector in selectors:
            one = some.loc[selector]
            cells = [error_text(one.loc[model]) if model in one.index else "" for model in MODELS]
            index = pd.to_numeric(one["stability"]).mean()
            rows.append([
                code(selector), *cells, "" if np.isnan(index) else f"{index:.2f}",
                f"{one['seconds'].mean():.1f}",
            ])  # fmt: skip
        head = ["selector", *(f"{model} (columns)" for model in MODELS), "stability", "seconds"]
        parts.append(f"### {name}\n\n{table(head, rows)}")
    return "\n\n".join(parts)


def error_text(row):
    return "not ended" if np.isnan(row["error"]) else f"{row['error']:.3f} ({row['kept']:.0f})"


def panel():
    """The same rivals where the answer is known, from what run.py kept."""
    found = by_problem(kept("judge"))
    rivals = ["default", "kNN wrapper", "univariate MI", "RFECV", "Boruta", "mRMR"]
    rows = []
    for name in rivals:
        problems = [p for p in PANEL if name in found[p]]
        if len(problems) < len(PANEL):
            continue
        tallies = [list(found[p][name].values()) for p in problems]
        hits, false, missed = np.mean([np.mean(t, axis=0) for t in tallies], axis=0)
        fewest = min(len(t) for t in tallies)
        score = np.mean([f1(t) for t in tallies])
        words = "MISelector()" if name == "default" else name
        rows.append([words, f"{score:.2f}", *(f"{v:.2f}" for v in (hits, false, missed)), fewest])
    if len(rows) < 2:
        return ""
    rows.sort(key=lambda row: row[1], reverse=True)
    head = ["selector", "mean F1", "found", "false", "missed", "data sets a problem, at least"]
    return (
        "## Where the answer is known\n\nThe panel of [the default setting](default.md): "
        f"{len(PANEL)} problems whose relevant columns are known. F1 is pooled over the data sets "
        "of a problem; found, false and missed are columns a data set. The number of columns is "
        "chosen by cross-validation with nearest neighbours where a selector needs one. Real "
        "tables reward columns that help a model a little; here those that do not matter are wrong."
        f"\n\n{table(head, rows)}"
    )


# ---- figures

COLORS = ("#c1272d", "#e69f00", "#7a0177", "#999999", "#56b4e9", "#0072b2", "#009e73", "#cc79a7",
          "#000000", "#8c6d31", "#5254a3", "#66a61e", "#bc80bd")  # fmt: skip


def pyplot():
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt


def draw_curves(lines):
    plt = pyplot()
    figure, ax = plt.subplots(figsize=(8.5, 4.8))
    ordered = sorted(lines.items(), key=lambda item: item[1]["five"])
    for (ranking, line), color in zip(ordered, COLORS, strict=False):
        wide = 2.4 if named(ranking) != ranking else 1.3
        ax.plot(SIZES, line["curve"], "o-", ms=3.5, lw=wide, color=color, label=named(ranking))
    ax.axhline(1, color="#999999", lw=1, ls="--")
    ax.set(xscale="log", yscale="log", xlabel="columns", ylabel="error over that of all columns")
    errors = (0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.2, 1.4, 1.7, 2)
    for axis, ticks in ((ax.xaxis, SIZES), (ax.yaxis, errors)):
        axis.set_ticks(ticks)
        axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter("")
    finish(figure, ax, "quality.png")


def draw_kept(result):
    plt = pyplot()
    figure, ax = plt.subplots(figsize=(8.5, 4.8))
    for (selector, row), color in zip(result.iterrows(), COLORS, strict=False):
        size, mark = (11, "*") if selector in OURS else (7, "o")
        ax.plot(100 * row["share"], row["all"], mark, ms=size, color=color, label=selector)
    ax.axhline(1, color="#999999", lw=1, ls="--")
    ax.axvline(100 * FEW, color="#999999", lw=1, ls=":")
    ax.set(xlabel="columns kept, %", ylabel="error over that of all columns")
    finish(figure, ax, "quality_kept.png")


def finish(figure, ax, file):
    ax.grid(alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize=8.5, loc="center left", bbox_to_anchor=(1.01, 0.5))
    figure.tight_layout()
    figure.savefig(DOCS / file, dpi=110)


def folds_text(found, selectors):
    """How many of the folds were used, as the figures say."""
    used = {s: sorted(set(found.loc[found["selector"] == s, "folds"])) for s in selectors}
    common = used[ALL]
    text = f"Samples are cut into {OUTER} outer folds, stratified where there are classes"
    if common != [OUTER]:
        verb = "is" if common == [1] else "are"
        text += f"; of these, {' or '.join(map(str, common))} {verb} used as test samples"
    fewer = [code(s) for s in selectors if used[s] != common]
    if fewer:
        counts = " or ".join(str(n) for n in sorted({n for s in selectors for n in used[s]}))
        text += f" ({', '.join(fewer)}: {counts}, compared with all columns on the same ones)"
    return text + "."


def compared():
    """What all were run on: a row for each table, selector and model; tables, selectors, curves."""
    rows, curves = records()
    rows, names, selectors = complete(rows)
    folds = set(zip(rows["data"], rows["fold"], strict=True))
    curves = [row for row in curves if (row["data"], row["fold"]) in folds]
    return summary(rows, least_errors(curves)), names, selectors, curves


def with_all_rankings(curves):
    """Of tables and folds that have every ranking of the picture."""
    needed = {ALL, *CRITERIA, *BY_CV}
    there = {}
    for row in curves:
        there.setdefault((row["data"], row["fold"]), set()).add(row["ranking"])
    return [row for row in curves if needed <= there[row["data"], row["fold"]]]


def show():
    everything, names, selectors, curves = compared()
    least = least_errors(curves)
    found = everything[everything["selector"].isin(selectors)]
    result = overall(found, selectors)
    curves = with_all_rankings(curves)
    lines = lines_of(curves, names, least)
    missing = [name for name in JUDGE if name not in names]
    judge = f"{len(names)}: {', '.join(names)}"
    if missing:
        judge += f"; not all of them were run on {', '.join(missing)}"
    text = TEXT.format(
        n_tables=len(CHOOSE) + len(JUDGE),
        choose=f"{len(CHOOSE)}: {', '.join(CHOOSE)}",
        judge=judge,
        folds=folds_text(found, selectors),
        most=MOST_ROWS,
        means=means_of(result),
        paired=paired_text(found, result),
        twice=few_text_of_folds(result),
        times=times_text(found, names, curves),
        verdict=verdict(result, len(names) * len(MODELS)),
        sequential=sequential_text(everything),
        five=five_of(curves, names, least),
        rules=chosen_text(),
        matrix=matrix_of(found, names, selectors),
        wins=wins_of(found, names, selectors, curves) if CV_MODEL in selectors else "",
        each=each_of(found, names, selectors),
        panel=panel(),
    )
    (DOCS / "quality.md").write_text(text, encoding="utf-8")
    draw_curves(lines)
    draw_kept(result)
