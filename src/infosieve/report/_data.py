"""What figures show, computed once: the report and :mod:`infosieve.plots` draw the same numbers.

Records come from above this package, so functions here take them as they are: by their fields.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from infosieve._core.types import BoolArray, FloatArray, IntArray
from infosieve.results._facts import certainty

if TYPE_CHECKING:
    import pandas as pd

# Colours of groups (clusters, parts of curves), in order.
GROUPS = ("#1f6feb", "#d9480f", "#2b8a3e", "#ae3ec9", "#e8a200", "#0b7285", "#c2255c", "#5c7cfa")


def p_text(p_value: float | None, lower_limit: bool, *, plain: bool = False) -> str:
    """ "p = 0.005", or "p ≥ 0.12" where that is a lower limit; nothing without a test.

    ``plain`` is for the cell of a table: "0.005", ">=0.12".
    """
    if p_value is None:
        return ""
    if plain:
        return f"{'>=' if lower_limit else ''}{p_value:.3g}"
    return f"p {'≥' if lower_limit else '='} {p_value:.3g}"


def nats(value: float, sign: str = "") -> str:
    """Information in three decimals, and what is below them in two digits; ``sign``: "+", or none.

    What is less than rounding errors of an estimate is zero.
    """
    if abs(value) < 1e-9:
        value = 0.0
    return f"{value:{sign}.{'3f' if value == 0 or abs(value) >= 0.001 else '2g'}}"


def percentiles(values: FloatArray) -> FloatArray:
    """What boxes and bands are drawn from: 5, 25, 50, 75 and 95 % lie below."""
    return np.percentile(values, (5, 25, 50, 75, 95), axis=0)


# Widths of a band beyond which nobody asks how many.
FAR = 1000.0


@dataclass(frozen=True, kw_only=True)
class PathPoint:
    """One step of a selection, as it is drawn.

    Attributes
    ----------
    number : int
        Which step it is, from 1.
    names : list of str
        The columns: one, or the two of a pair.
    action : {"add", "remove", "refuse", "stop"}
    gain : float
    null : ndarray
        Gains of permuted columns.
    p_text : str
    doubtful : bool
        Whether it was added although its test was not passed.
    """

    number: int
    names: list[str]
    action: str
    gain: float
    null: FloatArray
    p_text: str
    doubtful: bool = False

    def above_chance(self, values: Any) -> FloatArray:
        """Gains in widths of the chance band: 0 its middle, 1 where 95 % of permuted ones end.

        Steps of 0.3 and 0.01 nats fit on such a scale together, each beside its own chance.
        """
        _, _, middle, _, high = percentiles(self.null)
        difference = np.asarray(values, np.float64) - middle
        with np.errstate(divide="ignore", invalid="ignore"):
            widths = difference / (high - middle)
        widths = np.where(difference == 0, 0.0, widths)  # also where all permuted ones are equal
        return np.clip(widths, -FAR, FAR)


def path(result: Any) -> list[PathPoint]:
    """The steps of a selection.

    The criterion "mi" compares whole sets: the information of the set before the step is
    subtracted from its permuted values, as it is from the gain.
    """
    whole = result.criterion == "mi"
    known, points = 0.0, []
    for number, step in enumerate(result.steps, start=1):
        points.append(
            PathPoint(
                number=number,
                names=[str(result.features[j]) for j in step.features],
                action=step.action,
                gain=step.gain,
                null=np.array(step.null, np.float64) - (known if whole else 0.0),
                p_text=p_text(step.p_value, step.lower_limit),
                doubtful=step.action == "add" and step.significant is False,
            )
        )
        known = step.mi if step.action in ("add", "remove") else known
    return points


def path_beside_chance(result: Any) -> list[PathPoint]:
    """The steps that add a column, or do not, and were tested; none without a test.

    What a removal changes is not what its test compares, so it has no place on that scale.
    """
    return [p for p in path(result) if p.action != "remove" and len(p.null)]


def chance_ticks(largest: float) -> list[float]:
    """Round numbers of widths, up to the largest that is shown; they are drawn as arcsinh."""
    steps = [0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0]
    return [step for step in steps if step <= max(largest, 2.0)]


def n_candidates(result: Any) -> int:
    """How many columns were looked at: copies, constants and identifiers were left out."""
    copies = {k for others in result.duplicates.values() for k in others}
    out = copies | {*result.constant, *result.identifiers, *untested(result)}
    return len(result.features) - len(out)


def untested(result: Any) -> list[int]:
    """Columns that no test could tell from chance, and that tests left out therefore."""
    known = set(result.provenance.by_order)
    looked = any(step.p_value is not None for step in result.steps) and result.cv_scores is None
    some = [j for j, name in enumerate(result.features) if looked and str(name) in known]
    return [] if {j for step in result.steps for j in step.features} & {*some} else some


# Up to so many columns of a ranking have room of the same width.
_SAME_WIDTH = 30


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """Scores of a model against the number of columns, as they are drawn.

    Attributes
    ----------
    sizes : ndarray of int
        Numbers of columns.
    mean, error : ndarray of shape (n_sizes,)
        Of the scores over the folds, and the standard error.
    folds : ndarray of shape (n_folds, n_sizes)
    without : float
        The mean without columns.
    every : float or None
        That with all columns; None where these were not tried.
    n_chosen : int
    n_features : int
        How many columns there are, without those that were left out.
    names : list of str
        The columns in the order of the ranking.
    certain : list of bool, or None
        Of the first of them, those that are selected, which passed a test; None: nobody asked.
    n_selected : int
    model, scoring, criterion : str
    others : dict
        The mean along rankings by other criteria.
    """

    sizes: IntArray
    mean: FloatArray
    error: FloatArray
    folds: FloatArray
    without: float
    every: float | None
    n_chosen: int
    n_features: int
    names: list[str]
    certain: list[bool] | None
    n_selected: int
    model: str
    scoring: str
    criterion: str
    others: dict[str, FloatArray]

    @property
    def score(self) -> float:
        """The mean with the chosen number of columns."""
        return float(self.mean[self.sizes == self.n_chosen][0])

    @property
    def last(self) -> int:
        """The largest number of columns."""
        return int(self.sizes[-1])

    def text(self, score: float) -> str:
        """A score in as many digits as all have."""
        text = f"{score:.3f}" if 0.1 <= np.abs(self.mean).max() < 1000 else f"{score:.3g}"
        return text.removeprefix("-") if float(text) == 0 else text

    def label(self, number: int) -> str:
        """ "3. X2", the column that comes third; "none" comes before the first."""
        return "none" if number == 0 else f"{number}. {self.names[number - 1]}"

    @property
    def mean_label(self) -> str:
        """What the line of the means is called."""
        return f"{self.criterion}: mean of {len(self.folds)}, standard error"

    def place(self, number: Any) -> FloatArray:
        """Where a number of columns lies on its axis; many share the room of a few."""
        at = np.asarray(number, np.float64)
        return at if self.last <= _SAME_WIDTH else np.arcsinh(at)

    def ticks(self) -> list[int]:
        """Numbers that an axis has, where it has no names."""
        if self.last <= _SAME_WIDTH:
            return list(range(0, self.last + 1, 5))
        round_ones = [f * 10**power for power in range(7) for f in (1, 2, 5)]
        return [0, *(n for n in round_ones if n <= self.last)]

    @property
    def heights(self) -> tuple[float, float, float]:
        """The ends of an axis of scores, and where columns are marked, below all of them."""
        ends = self.mean - self.error, self.mean + self.error
        every = self.without if self.every is None else self.every
        shown = np.concatenate((self.folds.ravel(), *ends, *self.others.values(), [every]))
        low, high = float(shown.min()), float(shown.max())
        span = (high - low) or max(abs(high), 1.0)
        return low - 0.14 * span, high + 0.05 * span, low - 0.07 * span

    def marked(self) -> list[tuple[str, bool, list[int]]]:
        """Selected columns of a kind: its name, whether marks are filled, and their numbers."""
        numbers = range(1, self.n_selected + 1)
        if self.certain is None:
            return [("selected", True, list(numbers))]
        kinds = [
            (name, kind, [i for i in numbers if self.certain[i - 1] is kind])
            for name, kind in (("certain", True), (uncertain(self), False))
        ]
        return [kind for kind in kinds if kind[2]]


def uncertain(scores: Any) -> str:
    """What columns are that a model has chosen, and no test has found: not always useful."""
    return "only useful" if scores.mean[1:].max() > scores.mean[0] else "not certain"


def prediction(result: Any) -> Prediction:
    """The cross-validated scores of a selection."""
    scores, passed = result.cv_scores, list(certainty(result).values())
    every = scores.all_columns
    return Prediction(
        sizes=np.array(scores.sizes),
        mean=scores.mean,
        error=scores.standard_error,
        folds=np.array(scores.scores, np.float64),
        without=scores.without,
        every=None if every is None else float(np.mean(every)),
        n_chosen=scores.n_chosen,
        n_features=n_candidates(result),
        names=[str(result.features[j]) for j in scores.order],
        certain=[bool(c) for c in passed] if any(c is not None for c in passed) else None,
        n_selected=len(result.selected),
        model=scores.model_name,
        scoring=scores.scoring,
        criterion=scores.criterion,
        others={name: np.array(means) for name, means in scores.others.items()},
    )


@dataclass(frozen=True, kw_only=True)
class Relevance:
    """Marginal information of some columns, largest first.

    ``informative`` says which of them have some, by a test; none where nothing was tested.
    """

    names: list[str]
    nats: FloatArray
    selected: BoolArray
    informative: BoolArray


def relevance(result: Any, most: int, test: Any = None) -> Relevance:
    """The columns of a selection with the largest marginal information, as a test has it."""
    nats = result.relevance if test is None else np.asarray(test.statistic, np.float64)
    relevant = np.zeros(nats.size, bool) if test is None else np.asarray(test.relevant, bool)
    order = np.argsort(-nats, kind="stable")[:most]
    return Relevance(
        names=[str(result.features[j]) for j in order],
        nats=nats[order],
        selected=np.isin(order, result.selected),
        informative=relevant[order],
    )


def best_features(choice: Any, most: int) -> list[int]:
    """The features of a choice of K with the largest t, by their numbers."""
    order: IntArray = np.argsort(-choice.t.max(axis=1), kind="stable")
    return [int(j) for j in order[:most]]


@dataclass(frozen=True, kw_only=True)
class Line:
    """t against K, of one feature."""

    name: str
    t: FloatArray
    chose: bool


def t_lines(choice: Any, features: Sequence[int]) -> list[Line]:
    """t of some features at each K, and which of them chose K."""
    return [
        Line(name=str(name), t=choice.t[j], chose=name == choice.feature)
        for j, name in ((j, choice.features[j]) for j in features)
    ]


@dataclass(frozen=True, kw_only=True)
class Tested:
    """One candidate of a permutation test, and the permuted values that it was compared with.

    ``high`` is the value below which 95 % of them lie.
    """

    name: str
    observed: float
    null: FloatArray
    high: float
    exceedances: int
    p_value: float
    p_text: str


def tested(test: Any) -> list[Tested]:
    """The candidates of a permutation test, the largest observed value first."""
    null = np.broadcast_to(test.null, (test.n_permutations, len(test.candidates)))
    exceedances, p_values = test.exceedances, test.p_values
    return [
        Tested(
            name=str(test.candidates[j]),
            observed=float(test.observed[j]),
            null=null[:, j],
            high=float(np.quantile(null[:, j], 0.95)),
            exceedances=int(exceedances[j]),
            p_value=float(p_values[j]),
            p_text=p_text(float(p_values[j]), test.lower_limit),
        )
        for j in np.argsort(-test.observed, kind="stable")
    ]


@dataclass(frozen=True, kw_only=True)
class Leaf:
    """A leaf of a dendrogram: a column, or several that are not drawn one by one.

    Attributes
    ----------
    name : str
        The name of the column, or of the first of them.
    n_columns : int
    """

    name: str
    n_columns: int

    @property
    def more(self) -> str:
        """ " + 36", where it stands for 37 columns."""
        return f" + {self.n_columns - 1:,}" if self.n_columns > 1 else ""


@dataclass(frozen=True, kw_only=True)
class Tree:
    """A dendrogram.

    Attributes
    ----------
    links : list of (at, height, cluster)
        The corners of each merge, along the leaves and across them, and its cluster; None where it
        joins clusters.
    leaves : list of Leaf
        In their order, at 5, 15, 25, ...
    """

    links: list[tuple[list[float], list[float], int | None]]
    leaves: list[Leaf]


def tree(result: Any, most: int) -> Tree:
    """The merges of a clustering, ready to be drawn: the last ones, with so many leaves."""
    from scipy.cluster.hierarchy import dendrogram

    m, nodes, merges = len(result.features), result.node_clusters, result.linkage_matrix
    if m == 1:
        return Tree(links=[], leaves=[Leaf(name=str(result.features[0]), n_columns=1)])
    drawn: Any = dendrogram(
        merges,
        no_plot=True,
        truncate_mode="lastp",
        p=most,
        link_color_func=lambda node: "" if nodes[node] is None else str(nodes[node]),
    )
    corners = zip(drawn["icoord"], drawn["dcoord"], drawn["color_list"], strict=True)
    first = list(range(m))  # column of each node
    for a, b in result.children.tolist():
        first.append(min(first[a], first[b]))
    sizes = [1] * m + merges[:, 3].astype(int).tolist()
    return Tree(
        links=[(x, y, int(cluster) if cluster else None) for x, y, cluster in corners],
        leaves=[
            Leaf(name=str(result.features[first[node]]), n_columns=sizes[node])
            for node in drawn["leaves"]
        ],
    )


def cluster_parts(result: Any, axis: FloatArray) -> list[tuple[float, float, int]]:
    """The parts of an axis that clusters of its columns cover: start, end, cluster."""
    half = np.abs(np.gradient(axis)) / 2 if axis.size > 1 else np.ones(1)
    parts = []
    for label in range(len(result.clusters)):
        members = np.flatnonzero(result.labels == label)
        for run in np.split(members, np.flatnonzero(np.diff(members) > 1) + 1):
            low, high = sorted((axis[run[0]], axis[run[-1]]))
            parts.append((float(low - half[run[0]]), float(high + half[run[-1]]), label))
    return parts


def feature_parts(features: "pd.DataFrame", axis: FloatArray) -> list[tuple[float, float, str]]:
    """The parts of an axis that features come from: start, end, name; a point gets some width."""
    width = np.abs(np.diff(axis)).mean() if axis.size > 1 else 1.0
    parts = []
    for name, a, b in features[["feature", "from", "to"]].itertuples(index=False):
        slack = width / 2 if a == b else 0.0
        parts.append((float(min(a, b) - slack), float(max(a, b) + slack), str(name)))
    return parts
