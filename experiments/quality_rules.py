"""Rules for the number of columns, judged by what quality_curves.py kept of the choosing tables.

    python experiments/quality_rules.py

A rule sees the scores of the inner folds only, and says how many of the first columns of which
ranking are kept; the errors on the outer test samples judge it. Nothing is computed anew.
"""

import argparse
from dataclasses import dataclass

import numpy as np
from quality_curves import CHOOSE, MODELS, OUTER
from spectra import kept, table

OURS = ("cmi", "mi", "cmim", "jmi")


@dataclass(frozen=True)
class Rule:
    """How the number is chosen along a curve of scores (folds x sizes)."""

    pick: str = "best"  # see `place`
    slack: float = 0.0
    cap: str = "50"  # the most columns: a number, or "M/5"
    whole: bool = False  # whether all columns are one of the choices
    by: str | None = None  # the model that scores; None: the model behind
    score: str = "scores"  # scores: r2 or accuracy; losses: log loss; delta: the delta test
    ranks: str = "errors"  # errors: of the ranking of all training samples; errors_of_mean_ranks

    def sizes(self, row):
        most = max(3, row["of"] // 5) if self.cap == "M/5" else int(self.cap)
        return [i for i, k in enumerate(row["sizes"]) if k <= most]

    def scores(self, row, model):
        """Folds x sizes, more is better."""
        if self.score == "delta":
            return -np.array([row["delta"]])
        kinds = [self.by or model] if self.by != "mean" else MODELS
        if self.score == "losses" and "losses" in row:
            kinds = [kind for kind in kinds if kind in row["losses"]] or ["trees"]
            return -np.mean([row["losses"][kind] for kind in kinds], axis=0)
        return np.mean([row["scores"][kind] for kind in kinds], axis=0)

    def place(self, scores, shares):
        """Which of the sizes, the shares of the columns."""
        mean = scores.mean(axis=0)
        best = int(np.argmax(mean))
        if self.pick == "smoothed":
            wide = np.pad(mean, 1, mode="edge")
            return int(np.argmax(wide[:-2] / 4 + wide[1:-1] / 2 + wide[2:] / 4))
        if self.pick == "se":
            margin = self.slack * scores[:, best].std(ddof=1) / np.sqrt(len(scores))
            return int(np.argmax(mean >= mean[best] - margin))
        if self.pick == "paired se":
            behind = scores[:, [best]] - scores
            margin = self.slack * behind.std(axis=0, ddof=1) / np.sqrt(len(scores))
            return int(np.argmax(behind.mean(axis=0) <= margin))
        if self.pick == "share":
            return int(np.argmax(mean >= mean[best] - self.slack * abs(mean[best])))
        if self.pick == "price":
            return int(np.argmin(self.costs(mean, shares)))
        if self.pick == "error":  # of scores that are 1 where nothing is wrong
            return int(np.argmax(1 - mean <= (1 + self.slack) * (1 - mean[best])))
        return best

    def costs(self, mean, shares):
        """log of the error and a price for each share of the columns."""
        return np.log(np.maximum(1 - mean, 1e-3)) + self.slack * shares


def chosen(rule, rows, whole, model):
    """The error and the share of columns that a rule ends with, along the best of some rankings."""
    tried = []
    for row in rows:
        sizes = rule.sizes(row)
        scores = rule.scores(row, model)[:, sizes]
        shares = np.array(row["sizes"])[sizes] / row["of"]
        place = rule.place(scores, shares)
        worth = scores.mean(axis=0).max()
        if rule.pick == "price":
            worth = -rule.costs(scores.mean(axis=0), shares).min()
        tried.append((worth, row[rule.ranks][model][sizes[place]], shares[place]))
    worth, error, share = max(tried, key=lambda t: t[0])
    if rule.whole:
        score = rule.scores(whole, model).mean(axis=0)
        whole_worth = -rule.costs(score, 1.0)[0] if rule.pick == "price" else score[0]
        if whole_worth > worth:
            return whole["errors"][model][0], 1.0
    return error, share


def applied(rule, rows, whole, model):
    """A rule; or, of one ranking, the best number by looking at the test samples, or five."""
    if rule == "looking":
        return min(rows[0]["errors"][model]), np.nan
    if rule == "five":
        place = min(4, len(rows[0]["sizes"]) - 1)
        return rows[0]["errors"][model][place], rows[0]["sizes"][place] / whole["of"]
    return chosen(rule, rows, whole, model)


def relative(error, whole, n_test, classes):
    """Errors of one table over that of all columns; half a wrong sample is the least error."""
    least = 0.5 / n_test if classes else 1e-9
    return np.log(max(error, least) / max(whole, least))


class Curves:
    """The kept rows by table, fold and ranking."""

    def __init__(self, rows, names, folds=None):
        self.rows = {
            (row["data"], row["fold"], row["ranking"]): row
            for row in rows
            if row["data"] in names and (folds is None or row["fold"] in folds)
        }
        there = {(name, ranking) for name, _, ranking in self.rows}
        needed = ("all columns", "forest importance", *OURS)
        self.names = [n for n in names if all((n, ranking) in there for ranking in needed)]

    def has(self, rankings):
        return all(self.folds(name, rankings) for name in self.names)

    def folds(self, name, rankings):
        needed = (*rankings, "all columns")
        return [f for f in range(OUTER) if all((name, f, r) in self.rows for r in needed)]

    def n_folds(self):
        counts = {len(self.folds(name, OURS)) for name in self.names}
        return " or ".join(map(str, sorted(counts)))

    def judged(self, rule, rankings, names):
        """Log error over that of all columns and share kept, tables x models."""
        found = np.array([[self.one(rule, rankings, n, m) for m in MODELS] for n in names])
        return found[..., 0], found[..., 1]

    def one(self, rule, rankings, name, model):
        folds = self.folds(name, rankings)
        wholes = [self.rows[name, fold, "all columns"] for fold in folds]
        found = [
            applied(rule, [self.rows[name, fold, r] for r in rankings], whole, model)
            for fold, whole in zip(folds, wholes, strict=True)
        ]
        error, share = np.mean(found, axis=0)
        base = np.mean([whole["errors"][model][0] for whole in wholes])
        n_test = sum(whole["n_test"] for whole in wholes)
        return relative(error, base, n_test, wholes[0]["classes"]), share

    def line(self, words, rule, rankings):
        """Words, means over tables, and the mean difference to the default with its error."""
        ratios, shares = self.judged(rule, rankings, self.names)
        each = np.exp(ratios.mean(axis=0))
        kept = "" if np.isnan(shares).any() else f"{100 * shares.mean():.0f} %"
        cells = [f"{np.exp(ratios.mean()):.3f}", *(f"{v:.3f}" for v in each), kept]
        return [*words, *cells, self.against(ratios, rule)]

    def against(self, ratios, rule):
        """In % of error, paired by tables: the default with the same chooser."""
        if not isinstance(rule, Rule):
            return ""
        by = rule.by if rule.by in (None, "neighbours") else None
        base, _ = self.judged(Rule(*PICKS[WITHIN], by=by), DEFAULT, self.names)
        apart = 100 * (ratios - base).mean(axis=1)
        if not apart.any():
            return "the default"
        return f"{apart.mean():+.1f} ± {apart.std(ddof=1) / np.sqrt(len(apart)):.1f} %"


HEAD = ["error over that of all columns", *MODELS, "kept", "against the default"]
PICKS = {
    "best k": ("best", 0),
    "smoothed over k, then best": ("smoothed", 0),
    "one standard error": ("se", 1),
    "half a standard error": ("se", 0.5),
    "one standard error of the difference": ("paired se", 1),
    "within 1 % of the score": ("share", 0.01),
    "within 2 % of the score": ("share", 0.02),
    "within 5 % of the error": ("error", 0.05),
    "within 10 % of the error": ("error", 0.1),
    "price 0.2": ("price", 0.2),
    "price 0.3": ("price", 0.3),
    "price 0.5": ("price", 0.5),
    "price 0.7": ("price", 0.7),
    "price 1": ("price", 1),
}
PAIRS = "cmi with pairs"
DEFAULT = (PAIRS, "cmim")
WITHIN = "within 5 % of the error"
SETS = (
    ("cmi",), ("mi",), ("cmim",), ("jmi",), (PAIRS,), ("relevance",),
    ("cmi, mi and cmim merged",), ("cmi", "mi"), ("cmi", "cmim"), ("cmi", "jmi"),
    ("cmi", "mi", "cmim"), OURS, (PAIRS, "cmim"), (PAIRS, "mi", "cmim"), ("forest importance",),
)  # fmt: skip


def rankings_text(curves):
    """One ranking after the other: what it holds."""
    rules = {"best k by looking": "looking", "five columns": "five"}
    rows = []
    for (ranking,) in [s for s in SETS if len(s) == 1 and curves.has(s)]:
        rows += [curves.line([ranking, words], rule, [ranking]) for words, rule in rules.items()]
    return table(["ranking", "number of columns", *HEAD], rows, left=2)


def sets_text(curves):
    """One ranking or several, the best by the scores of the inner folds."""
    rows = []
    for rankings in [s for s in SETS if curves.has(s)]:
        for name in ("best k", WITHIN):
            words = [", ".join(rankings), name]
            rows.append(curves.line(words, Rule(*PICKS[name]), rankings))
    return table(["rankings", "number of columns", *HEAD], rows, left=2)


def rules_text(curves):
    rows = []
    for by in (None, "neighbours"):
        for name, (pick, slack) in PICKS.items():
            words = [name, by or "the model behind"]
            rows.append(curves.line(words, Rule(pick, slack, by=by), DEFAULT))
    for name in ("best k", WITHIN):
        rule = Rule(*PICKS[name], whole=True)
        rows.append(curves.line([f"{name}, or all columns", "the model behind"], rule, DEFAULT))
    return table(["rule", "number chosen by", *HEAD], rows, left=2)


def caps_text(curves):
    rows = []
    for cap in ("10", "20", "50", "M/5"):
        rows.append(curves.line([cap], Rule(*PICKS[WITHIN], cap=cap), DEFAULT))
    return table(["at most", *HEAD], rows)


def models_text(curves):
    """Who chooses the number, for all models behind."""
    rows = []
    for by in (None, *MODELS, "mean"):
        words = {None: "the model behind", "mean": "the mean score of the three"}.get(by, by)
        rows.append(curves.line([words], Rule(*PICKS[WITHIN], by=by), DEFAULT))
    for by in ("neighbours", "trees"):
        rule = Rule(by=by, score="losses")
        rows.append(curves.line([f"{by}, best log loss"], rule, DEFAULT))
    rows.append(curves.line(["delta test, cmi with pairs"], Rule(score="delta"), (PAIRS,)))
    rows.append(curves.line(["delta test, cmi"], Rule(score="delta"), ("cmi",)))
    rows.append(curves.line(["the model behind, best k, cmi"], Rule(), ("cmi",)))
    rule = Rule(ranks="errors_of_mean_ranks")
    words = "the same, ranks averaged over the inner folds"
    rows.append(curves.line([words], rule, ("cmi",)))
    return table(["number chosen by", *HEAD], rows)


def each_text(curves):
    rows = []
    own, near = (Rule(*PICKS[WITHIN], by=by) for by in (None, "neighbours"))
    tried = ((DEFAULT, own), (DEFAULT, near), (("forest importance",), Rule()))
    for name in curves.names:
        row = [name]
        for rankings, rule in tried:
            ratios, shares = curves.judged(rule, rankings, [name])
            row.append(f"{np.exp(ratios.mean()):.2f} ({100 * shares.mean():.0f} %)")
        rows.append(row)
    head = ["table", "by the model behind", "by neighbours", "forest importance, best k"]
    return table(head, rows)


def criteria_text(curves):
    """Which criterion leads on which table, at the best number by the inner folds."""
    rows, firsts = [], dict.fromkeys((PAIRS, *OURS[1:]), 0)
    for name in curves.names:
        whole = next(row for key, row in curves.rows.items() if key[0] == name)
        ratios = [
            np.exp(curves.judged(Rule(*PICKS[WITHIN]), (ranking,), [name])[0].mean())
            for ranking in firsts
        ]
        best = int(np.argmin(ratios))
        firsts[list(firsts)[best]] += 1
        cells = [f"**{r:.2f}**" if i == best else f"{r:.2f}" for i, r in enumerate(ratios)]
        rows.append([name, "classes" if whole["classes"] else "numbers", whole["of"], *cells])
    counts = ", ".join(f"{ranking} on {n}" for ranking, n in firsts.items())
    head = ["table", "target", "columns", *firsts]
    return f"{table(head, rows)}\n\nThe least error: {counts} of {len(rows)} tables."


def verdicts_text(curves):
    """Why neither a third ranking nor the delta test is part of the default."""
    three = (PAIRS, "mi", "cmim")
    apart = curves.against(curves.judged(Rule(*PICKS[WITHIN]), three, curves.names)[0], Rule())
    delta = curves.line([""], Rule(score="delta"), (PAIRS,))[-1]
    return (
        f'A third ranking ("mi") changes the error by {apart}: too little to be sure of on so few '
        "tables, and takes more time, so it is not part of the default. The delta test "
        f"({delta}) needs no model, and is kept out: it has not earned its place."
    )


def chosen_text(folds=None):
    """What the page says of it."""
    curves = Curves(kept("quality_curves"), CHOOSE, folds)
    return f"""\
The {len(curves.names)} choosing tables, {curves.n_folds()} outer folds, rankings of 50 columns. A
rule sees the scores of the inner folds only. The default of `stop="cv"`: two rankings, "cmi" with
pairs and "cmim", of these the one with the better best score, and along it the fewest columns whose
error (1 - score) is within 5 % of the smallest, scored by nearest neighbours unless a model is
given. What was tried beside it ("against the default": the difference of the error, mean over
tables and models, with its standard error over tables; by the model behind if both can, by
neighbours if neighbours choose. Here pairs were looked for at every step; the selector looks for
them while fewer than four columns are selected):

**Rankings**, one by one, and several of which the inner folds choose the best one. "By looking" is
the best k by the test samples, what a ranking holds. "Forest importance" is there for comparison.

{rankings_text(curves)}

{sets_text(curves)}

**Rules** for the number of columns along the default rankings. "Within": the fewest columns whose
score (or error) is so near to the best. "Price" c: the least log(1 - score) + c k / M, k of M
columns.

{rules_text(curves)}

**The most columns**, within 5 % of the error ("M/5": a fifth of the columns, at least three):

{caps_text(curves)}

**Who chooses the number**, within 5 % of the error unless it says otherwise. The delta test needs
no model and no folds: it takes the number of columns in which nearest neighbours among the training
samples differ least in the target.

{models_text(curves)}

{verdicts_text(curves)}

**Which criterion leads where**: error over that of all columns of each criterion by itself, the
number of columns by the rule above and the model behind, mean over the three models.

{criteria_text(curves)}

Each choosing table (share of the columns that is kept):

{each_text(curves)}"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folds", type=int, nargs="+", help="only these outer folds")
    print(chosen_text(parser.parse_args().folds))


if __name__ == "__main__":
    main()
