"""The settings of each public function: every parameter, with its rule, its help and its option.

Checks, options of the command, provenance and the words of errors derive from the fields here.
Defaults are those of the function's signature (a test compares them); a parameter that a function
does not have is at rest. A class for each function has what is special there, and the rules that
hold between parameters.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache, partial
from types import MappingProxyType
from typing import Any, ClassVar, Literal, Self, TypeAlias, get_args

import numpy as np

from infosieve._core import rules
from infosieve._core.dialect import mention, parameter, setting
from infosieve._core.rules import ParameterError, Rule, is_text
from infosieve._core.types import (
    Device,
    Method,
    Metric,
    Missing,
    Neighbors,
    PreparedScale,
    Scale,
)

Stop: TypeAlias = Literal["fdr", "permutation", "max-mi", "cv"] | None
StatisticName: TypeAlias = Literal["auto", "combined", "ksg"]
Null: TypeAlias = Literal["local", "global"]
Correction: TypeAlias = Literal["max"] | None
Resample: TypeAlias = Literal["cv"] | None
Similarity: TypeAlias = Literal["supervised", "unsupervised"]
Correlation: TypeAlias = Literal["pearson", "spearman"]
Linkage: TypeAlias = Literal["representative", "average", "complete"]
Representative: TypeAlias = Literal["mean", "medoid", "pls"]

# K of information (docs/default.md); of entropies; and the values that choose_k tries.
DEFAULT_NEIGHBORS, ENTROPY_NEIGHBORS, NEIGHBORS_TRIED = (3, 15), (3, 10), (2, 20)
# K of tests of single columns (docs/relevant.md).
TEST_NEIGHBORS = (3, 25)
# Folds of resampled estimates.
N_FOLDS = 20
# Samples of an estimate, at least, where many are split into parts.
FEWEST_SAMPLES = 50
# Permutations of a test, at least, and for each unit of 1 / alpha.
N_PERMUTATIONS, _PERMUTATIONS_EACH = 199, 10
# What pairs get of a level; single columns have the rest.
PAIR_SHARE = 0.25
# Criteria that hold candidates against one selected column at a time.
ONE_BY_ONE = ("cmim", "jmi")


@dataclass(frozen=True)
class Parameter:
    """What is known of a parameter besides its default.

    Attributes
    ----------
    rule : Rule
        What its values must be.
    help : str
        What the command says of its option; empty: no option is that parameter alone.
    option : str
        How the command calls it; empty: as it is called here.
    expert : bool
        Whether most users need not see it: --help leaves it out, --help-all does not.
    matters : bool
        Whether a result depends on it.
    """

    rule: Rule
    help: str = ""
    option: str = ""
    expert: bool = False
    matters: bool = True


def option(default: Any, *known: Any, **more: Any) -> Any:
    """A field of settings: a default, and a :class:`Parameter`."""
    return field(default=default, metadata={"parameter": Parameter(*known, **more)})


_scale = partial(
    option,
    rule=rules.one_of("standard", "normal-scores", None),
    help="standard, normal-scores or none",
)
_max_samples = partial(
    option,
    rule=Rule(
        f"'auto', an int of at least {FEWEST_SAMPLES} (samples of an estimate), a float in (0, 1] "
        "(their share), or None (all in one estimate)",
        lambda n: rules.whole(FEWEST_SAMPLES)(n) or (isinstance(n, float) and bool(0.0 < n <= 1.0)),
        none=True,
        auto=True,
    ),
    help="samples of one estimate, a number, a share such as 0.1, or none (all): more are split "
    "into parts whose estimates are averaged; auto: 4,000, and at most 25 parts; with --groups, "
    "parts have a row of each group, and are 100 at most",
    expert=True,
)
_statistic = partial(
    option,
    rule=rules.one_of(*get_args(StatisticName)),
    help="what tests compare: combined (a line, a curve, a spread, an interaction and any shape at "
    "once), ksg (the estimate of information), or auto: combined, unless other settings need ksg",
    expert=True,
)
_screen = partial(
    option,
    rule=rules.SCREEN,
    help="how many candidates of a step are estimated, the best by a table of counts, in each "
    "permutation anew: a number, none (all), or auto: 32 for up to 1,000 samples, fewer for more",
    expert=True,
)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a function was asked, checked; parameters that it does not have are at rest here.

    ``asked`` has those that it does have, as they were passed.
    """

    discrete_features: Any = option("auto", rules.ANYTHING, option="--categorical")
    discrete_target: Any = option("auto", rules.ANYTHING, option="--categorical")
    missing: Missing = option(
        "auto",
        rules.one_of(*get_args(Missing)),
        "gaps: value (a gap is a value of its own), median (filled with it), drop (only "
        "complete rows), error (refused); auto: value, and median in the columns beside it",
    )
    groups: Any = option(None, rules.ANYTHING)
    series: bool | int = option(False, rules.SERIES)
    n_neighbors: Neighbors | Literal["auto"] = option(
        DEFAULT_NEIGHBORS,
        rules.neighbors(),
        "K: one number, or a range such as 3,15 whose estimates are averaged",
        expert=True,
    )
    criterion: str = option(
        "mi", rules.one_of("frenzel-pompe", "cmi", "mi"), "frenzel-pompe, cmi or mi"
    )
    method: Method = option("ksg1", rules.one_of(*get_args(Method)), "ksg1 or ksg2", expert=True)
    metric: Metric = option(
        "euclidean", rules.one_of(*get_args(Metric)), "euclidean or chebyshev", expert=True
    )
    scale: Scale = _scale("standard")
    max_samples: int | float | Literal["auto"] | None = _max_samples(None)
    n_jobs: int | None = option(
        1, rules.JOBS, "threads; -1, the default, for all cores", option="--jobs", matters=False
    )
    executor: Any = option(
        None,
        rules.ANYTHING,
        "compute on a Dask cluster: its scheduler's address; or local, to start one here",
        option="--dask",
        matters=False,
    )
    device: Device = option(
        "cpu",
        rules.one_of(*get_args(Device)),
        "cpu, cuda (an NVIDIA GPU), or auto: a GPU where it pays",
        matters=False,
    )
    random_state: Any = option(
        0, rules.SEED, "the same seed gives the same result", option="--seed", matters=False
    )
    checkpoint: Any = option(
        None, rules.ANYTHING, "a file that a killed run goes on from", matters=False
    )
    verbose: int = option(0, rules.VERBOSITY, matters=False)
    asked: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)

    # Parameters of others that this function does not have.
    absent: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def of(cls, asked: Mapping[str, Any]) -> Self:
        """Settings from a function's parameters by name; what is wrong with them is raised.

        Names that are none of its parameters (candidates, say) are kept, and not looked at.
        """
        asked = {name: value for name, value in asked.items() if name not in ("X", "y")}
        known = cls.parameters()
        own = {name: value for name, value in asked.items() if name in known}
        for name, value in own.items():
            if value is not getattr(cls, name):  # defaults obey their rules
                known[name].rule.check(name, value)
        settings = cls(**own, asked=MappingProxyType(asked))
        settings.check()
        return settings

    @classmethod
    @cache
    def parameters(cls) -> dict[str, Parameter]:
        """What is known of each parameter, by name."""
        known = {one.name: one.metadata.get("parameter") for one in fields(cls)}
        return {name: one for name, one in known.items() if one and name not in cls.absent}

    @property
    def prepared_scale(self) -> PreparedScale:
        """The scale on which columns are prepared."""
        return self.scale

    @property
    def by_place(self) -> bool:
        """Whether tests replace rows of a group by those at the same place of others."""
        return False

    def check(self) -> None:
        """Refuse settings that contradict each other."""

    def _refuse_ksg2(self, why: str, way_out: str = "") -> None:
        if self.method == "ksg2":
            raise ParameterError("method", f"'ksg1' with {why}", self.method, way_out)


_CONDITIONAL = (
    "{}: conditional information is Frenzel and Pompe's estimate, which generalises that form only"
)


@dataclass(frozen=True, kw_only=True)
class InformationSettings(Settings):
    """Those of :func:`mutual_information` and :func:`relevance`."""

    absent = ("random_state", "checkpoint", "verbose")

    max_samples: int | float | Literal["auto"] | None = _max_samples("auto")
    condition: Any = option(None, rules.ANYTHING)

    def check(self) -> None:
        if self.condition is not None and self.criterion != "mi":
            how = f"{mention('condition')} or {setting('criterion', 'cmi')}"
            self._refuse_ksg2(_CONDITIONAL.format(how))


@dataclass(frozen=True, kw_only=True)
class ChoiceSettings(Settings):
    """Those of :func:`choose_k`."""

    absent = ("criterion", "max_samples", "checkpoint", "verbose")

    n_neighbors: Neighbors = option(NEIGHBORS_TRIED, rules.neighbors(), "the range of K to try")
    n_folds: int = option(N_FOLDS, rules.count(2), "folds of the samples")


@dataclass(frozen=True, kw_only=True)
class SamplingSettings(Settings):
    """Those of permutation tests, which a search has as well."""

    max_samples: int | float | Literal["auto"] | None = _max_samples("auto")
    statistic: StatisticName = _statistic("auto")
    null: Null = option(
        "local",
        rules.one_of("local", "global"),
        "permute among samples near in the selected columns (local) or all (global)",
        expert=True,
    )
    correction: Correction = option(
        "max",
        rules.one_of("max", None),
        "max: p of the best of many; none: p of the column alone, which many pass by chance",
        expert=True,
    )
    resample: Resample = option(
        None, rules.one_of("cv", None), "cv: test means over 20 folds; or none", expert=True
    )
    alpha: float | None = option(
        None, rules.rate(optional=True), "the significance level of the tests"
    )
    n_permutations: int | Literal["auto"] = option(
        "auto",
        rules.PERMUTATIONS,
        "permutations of a test, or auto: up to 199, and more for a smaller --alpha",
    )
    screen: int | Literal["auto"] | None = _screen(None)

    @property
    def combined(self) -> bool:
        """Whether tests ask in several ways at once: unless settings are of estimates only."""
        return self.statistic == "combined" or (self.statistic == "auto" and not self._of_estimates)

    @property
    def by_place(self) -> bool:
        return not self.combined

    @property
    def _of_estimates(self) -> dict[str, Any]:
        """Those settings of tests that only a test by estimates can follow."""
        plain = {"null": "local", "resample": None, "method": "ksg1"}
        found = {name: getattr(self, name) for name in plain if getattr(self, name) != plain[name]}
        return found | ({"criterion": "mi"} if self.criterion == "mi" else {})

    def check(self) -> None:
        if self.statistic == "combined" and self._of_estimates:
            name, value = next(iter(self._of_estimates.items()))
            raise ParameterError(
                "statistic", f"'ksg' or 'auto' with {setting(name, value)}", self.statistic
            )

    @property
    def sequential(self) -> bool:
        """Whether tests end as soon as they have surely passed or failed."""
        return is_text(self.n_permutations, "auto")

    @property
    def most_permutations(self) -> int:
        """The number of permutations."""
        return permutations_asked(self.n_permutations, self.alpha)


@dataclass(frozen=True, kw_only=True)
class TestSettings(SamplingSettings):
    """Those of :func:`permutation_test`."""

    __test__ = False  # no class of tests, whatever pytest thinks of its name
    absent = ("checkpoint", "verbose")

    pairs: bool = option(False, rules.FLAG, "test pairs of the candidates")
    criterion: str = option(
        "cmi",
        rules.one_of("mi", "cmi"),
        "cmi: given the columns of --given; mi: of all of them together",
        expert=True,
    )

    @property
    def by_place(self) -> bool:
        return self.pairs or not self.combined

    @property
    def sequential(self) -> bool:
        """Without a level, there is nothing that a test could be sure of early."""
        return super().sequential and self.alpha is not None

    @property
    def most_permutations(self) -> int:
        """As many as the default has, unless ``alpha`` is out of its reach."""
        small = self.alpha is not None and self.alpha < 1 / (N_PERMUTATIONS + 1)
        return permutations_asked(self.n_permutations, self.alpha if small else None)

    def check(self) -> None:
        super().check()
        if self.pairs and self.correction is None:
            raise ValueError(
                f"Pairs are the best of many: {setting('pairs', True)} needs "
                f"{setting('correction', 'max')}."
            )

    def check_conditional(self, n_given: int) -> None:
        """The second form of the estimate is not conditional on anything."""
        if n_given and self.criterion == "cmi":
            how = f"{mention('given')} or {setting('criterion', 'cmi')}"
            self._refuse_ksg2(_CONDITIONAL.format(how))


def permutations_asked(n_permutations: Any, alpha: float | None) -> int:
    """The number of permutations; "auto" is enough for tests at ``alpha`` and fractions of it."""
    if not is_text(n_permutations, "auto"):
        return int(n_permutations)
    wanted = 0 if alpha is None else math.ceil(_PERMUTATIONS_EACH / alpha) - 1
    return max(N_PERMUTATIONS, wanted)


def stop_asked(stop: Any, n_features_to_select: int | None) -> Stop:
    """The stop that "auto" means: no test where the number of features is given."""
    if not is_text(stop, "auto"):
        return stop  # type: ignore[no-any-return]
    return "fdr" if n_features_to_select is None else None


@dataclass(frozen=True, kw_only=True)
class RelevanceSettings(Settings):
    """Those of :func:`relevance_test`."""

    absent = ("criterion", "max_samples", "checkpoint")

    scale: Scale = _scale("normal-scores")
    statistic: StatisticName = _statistic("auto")
    n_neighbors: Neighbors = option(
        TEST_NEIGHBORS,
        rules.neighbors(),
        "K: one number, or a range whose estimates are averaged",
        expert=True,
    )
    alpha: float = option(0.05, rules.rate(), "the false discovery rate")
    n_permutations: int | Literal["auto"] = option(
        "auto",
        rules.PERMUTATIONS,
        "draws of a null distribution, or auto: enough for one column of all to be relevant by "
        "itself",
    )

    @property
    def combined(self) -> bool:
        """Whether tests ask in several ways at once: unless an estimate is asked for by name."""
        return self.statistic in ("auto", "combined") and self.method == "ksg1"

    @property
    def by_place(self) -> bool:
        return not self.combined

    @property
    def shares(self) -> bool:
        """Whether columns whose values repeat alike share a null distribution."""
        return self.scale == "normal-scores" and self.groups is None and self.series is False

    @property
    def prepared_scale(self) -> PreparedScale:
        return "spread-scores" if self.shares else self.scale


def level_share(lookahead: int, of_pairs: bool) -> float:
    """The share of a level at which single columns, or pairs, are tested."""
    if lookahead == 1:
        return 1.0
    return PAIR_SHARE if of_pairs else 1 - PAIR_SHARE


@dataclass(frozen=True, kw_only=True)
class SelectorSettings(SamplingSettings):
    """Those of :class:`MISelector`."""

    screen: int | Literal["auto"] | None = _screen("auto")
    alpha: float = option(0.05, rules.rate(), "the significance level of the tests")
    n_neighbors: Neighbors | Literal["auto"] = option(
        DEFAULT_NEIGHBORS,
        rules.neighbors(auto=True),
        "K: one number, a range such as 3,15 whose estimates are averaged, or auto",
        expert=True,
    )
    criterion: str = option(
        "auto",
        rules.one_of("auto", "mi", "cmi", *ONE_BY_ONE),
        "cmi: given the selected columns; mi: of the set; cmim, jmi: given one selected column "
        "at a time, the least or the mean of that; auto: cmi, and with --stop cv the better of "
        "cmi and cmim",
    )
    search: Literal["forward", "forward-backward"] = option(
        "forward", rules.one_of("forward", "forward-backward"), "forward or forward-backward"
    )
    removal: Literal["test", "mi"] = option(
        "test", rules.one_of("test", "mi"), "what removes a column: test or mi", expert=True
    )
    stop: Stop | Literal["auto"] = option(
        "auto",
        rules.one_of("auto", "fdr", "permutation", "max-mi", "cv", None),
        "fdr, permutation, max-mi, none, cv (as many as a model predicts well with, by "
        "cross-validation), or auto: fdr, unless --n-features-to-select is given",
    )
    lookahead: Literal[1, 2] = option(
        2, rules.one_of(1, 2), "2: try pairs where no single column passes"
    )
    n_features_to_select: int | None = option(None, rules.count(1, True), "exactly so many")
    min_features: int = option(0, rules.count(0), "at least so many")
    max_features: int | None = option(None, rules.count(1, True), "at most so many")
    model: Any = option(
        None,
        rules.MODEL,
        "of --stop cv: neighbors, trees, support-vectors or linear, or a regressor or "
        'classifier of scikit-learn by its name, with parameters: "SVR(C=10, epsilon=0.05)"',
    )
    cv: Any = option(5, rules.FOLDS, "of --stop cv: so many folds")
    scoring: Any = option(
        None,
        rules.SCORING,
        "of --stop cv: what is a good prediction, as scikit-learn calls it; default: r2, accuracy",
    )
    test: bool = option(
        False,
        rules.FLAG,
        "of --stop cv: test the columns that are kept, too, and say which are certain",
    )

    @property
    def by_model(self) -> bool:
        """Whether a model chooses the number of columns."""
        return self.stop == "cv"

    @property
    def stop_rule(self) -> Stop:
        """The stop that "auto" means."""
        return stop_asked(self.stop, self.n_features_to_select)

    def check(self) -> None:
        super().check()
        if self.method == "ksg2" and self.criterion != "mi":
            criterion = "cmi" if self.criterion == "auto" else self.criterion
            self._refuse_ksg2(
                f"{setting('criterion', criterion)}, because conditional information is defined "
                "for that form only",
                f"Use {setting('criterion', 'mi')} with it.",
            )
        if self.criterion in ONE_BY_ONE:
            self._check_one_by_one()
        if self.by_model:
            self._check_prediction()
        else:
            self._refuse_prediction()
        self._check_permutations()

    def _check_one_by_one(self) -> None:
        """A test conditional on all selected columns needs a criterion that is."""
        if self.stop_rule in ("fdr", "permutation"):
            raise ValueError(
                f"{parameter('criterion')} {self.criterion!r} holds candidates against one "
                "selected column at a time; it has no test of what they add to all of them, which "
                f"{setting('stop', self.stop)} asks for. Use {setting('criterion', 'cmi')} with "
                f"it; or {setting('stop', 'cv')}, {setting('stop', None)} or "
                f"{mention('n_features_to_select')} with this criterion."
            )
        if self.search != "forward":
            why = f"'forward' with {setting('criterion', self.criterion)}, which ranks candidates"
            raise ParameterError("search", f"{why} only", self.search)

    def _check_prediction(self) -> None:
        by_cv = f"with {setting('stop', 'cv')}, which"
        if self.n_features_to_select is not None:
            raise ParameterError(
                "n_features_to_select",
                f"None {by_cv} chooses the number; {mention('min_features')} and "
                f"{mention('max_features')} bound it",
                self.n_features_to_select,
            )
        if self.search != "forward":
            raise ParameterError("search", f"'forward' {by_cv} cuts a ranking", self.search)

    def _refuse_prediction(self) -> None:
        """Settings that only a cross-validated stop has a use for."""
        for name, default in (("model", None), ("scoring", None), ("test", False)):
            value = getattr(self, name)
            if value is not default and value is not np.False_:
                raise ValueError(
                    f"{parameter(name)} is about {setting('stop', 'cv')}: pass that, too, or leave "
                    f"it out. Got {setting(name, value)} with {setting('stop', self.stop)}."
                )

    def _check_permutations(self) -> None:
        """Enough permutations for a p-value that can be as small as the smallest level there is."""
        stop, pairs = "fdr" if self.by_model and self.test else self.stop_rule, False
        if stop in ("fdr", "permutation"):
            level, pairs = self.alpha, self.lookahead == 2
            level = level if stop == "permutation" else -math.expm1(-level)
            level *= level_share(self.lookahead, of_pairs=pairs)
        elif self.search == "forward-backward" and self.removal == "test":
            level = self.alpha
        else:
            return
        n, least = self.most_permutations, math.ceil(1 / level) - 1
        while 1 / (least + 1) > level:
            least += 1
        if n >= least:
            return
        note = "" if stop in ("fdr", "permutation") else " for removals"
        if pairs:
            note = f" for pairs ({setting('lookahead', 1)} leaves them out)"
        raise ValueError(
            f"{parameter('n_permutations')} must be at least {least}, or 'auto', for a level of "
            f"{level:.4g}{note}: p = (b + 1) / (n_permutations + 1) cannot get lower than "
            f"{1 / (n + 1):.4g} with {n}."
        )


@dataclass(frozen=True, kw_only=True)
class ClusteringSettings(Settings):
    """Those of :class:`FeatureClustering`."""

    absent: ClassVar[tuple[str, ...]] = (
        *("discrete_features", "discrete_target", "n_neighbors", "criterion", "method"),
        *("metric", "max_samples", "device", "checkpoint"),
    )

    n_clusters: int | Literal["auto"] | None = option(
        "auto",
        Rule(
            "an int of at least 1, 'auto', or None with a 'similarity_threshold'",
            rules.whole(1),
            of_option="a whole number of at least 1, or auto",
            none=True,
            auto=True,
        ),
        "a number, or auto (as many as a model predicts well with), the default without "
        "--similarity-threshold",
    )
    similarity_threshold: float | None = option(
        None, rules.between(-1, 1, True), "join no clusters less similar than this"
    )
    similarity: Similarity = option(
        "supervised", rules.one_of(*get_args(Similarity)), "supervised or unsupervised"
    )
    correlation: Correlation = option(
        "pearson", rules.one_of(*get_args(Correlation)), "pearson or spearman"
    )
    linkage: Linkage = option(
        "representative", rules.one_of(*get_args(Linkage)), "representative, average or complete"
    )
    representative: Representative = option(
        "mean", rules.one_of(*get_args(Representative)), "mean, medoid or pls"
    )
    connectivity: Any = option(
        None, replace(rules.ANYTHING, kind="words"), "chain: neighbours only; or none"
    )
    model: Any = option(
        None,
        rules.MODEL,
        "what judges numbers of clusters: a word or a name as --model of infosieve select has "
        "them; default: partial least squares",
        expert=True,
    )
    cv: Any = option(4, rules.FOLDS, "folds that judge numbers of clusters")
    missing: Missing = option(
        "auto",
        rules.one_of("auto", "median", "drop", "error"),
        "gaps: median (filled with it), drop (only complete rows), error (refused); auto: median",
    )
    series: bool = option(False, rules.one_of(False, True))

    def check(self) -> None:
        if (self.n_clusters is None) == (self.similarity_threshold is None):
            raise ValueError(
                f"Exactly one of {mention('n_clusters')} and {mention('similarity_threshold')} "
                f"must be None: with a threshold, pass {setting('n_clusters', None)}. Got "
                f"{self.n_clusters!r} and {self.similarity_threshold!r}."
            )


@dataclass(frozen=True, kw_only=True)
class StabilitySettings(Settings):
    """Those of :func:`stability`; the selector has its own."""

    absent: ClassVar[tuple[str, ...]] = (
        *("discrete_features", "discrete_target", "missing", "series", "n_neighbors"),
        *("criterion", "method", "metric", "scale", "max_samples", "device"),
    )

    n_jobs: int | None = option(
        1,
        rules.JOBS,
        "processes, a half each; -1, the default, for all cores",
        option="--jobs",
        matters=False,
    )
    n_resamples: int = option(
        50, rules.count(1), "how often the samples are halved; two selections each"
    )


_EVERY = [
    item
    for settings in (SelectorSettings, StabilitySettings, ClusteringSettings)
    for item in settings.parameters().items()
]
# Parameters on which no result depends; and the options that are not called as parameters are.
OF_NO_MATTER = frozenset(name for name, one in _EVERY if not one.matters)
OPTION_NAMES = {name: one.option for name, one in _EVERY if one.option}


def neighbors_among(n_neighbors: Any, n_samples: int) -> tuple[int, int]:
    """The range of K as (lo, hi). A range is capped by the samples, a single K is not."""
    lo, hi = rules.ends_of(n_neighbors)
    most = n_samples - 1
    if isinstance(n_neighbors, (tuple, list)):
        return min(int(lo), most), min(int(hi), most)
    if hi > most:
        raise ValueError(
            f"{parameter('n_neighbors')} asks for {hi} neighbours, but {n_samples} samples have "
            f"only {most}. Use a smaller K, or a range, which is capped."
        )
    return int(lo), int(hi)


# What "auto" keeps of the candidates when they are screened: so many of up to a thousand samples,
# half as many for each four times that, and so many at least.
SCREENED, FEWEST_SCREENED = 32, 8


def screen_size(screen: Any, n_samples: int) -> int | None:
    """How many screened candidates get an estimate; None: all."""
    if not is_text(screen, "auto"):
        return None if screen is None else int(screen)
    size = SCREENED
    while n_samples > 1000 and size > FEWEST_SCREENED:
        size, n_samples = size // 2, n_samples // 4
    return size
