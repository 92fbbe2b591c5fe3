"""``infosieve select``: which columns matter."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Annotated, Any

import typer

from infosieve._core.files import first_line, printable
from infosieve.cli import options as o
from infosieve.cli.errors import InputError, fail

_CORRECTION = "max: p of the best of many; none: p of the column alone, which many pass by chance"
_SCREEN = (
    "how many candidates of a step are estimated, the best by a table of counts, in each "
    "permutation anew: a number, none (all), or auto: 32 for up to 1,000 samples, fewer for more"
)
_MAX_SAMPLES = (
    "samples of one estimate, a number, a share such as 0.1, or none (all): more are split into "
    "parts whose estimates are averaged; auto: 4,000, and at most 25 parts; with --groups, parts "
    "have a row of each group, and are 100 at most"
)
_MODEL = (
    "of --stop cv: neighbors, trees, support-vectors or linear, or a regressor or classifier of "
    'scikit-learn by its name, with parameters: "SVR(C=10, epsilon=0.05)"'
)
_SCORING = (
    "of --stop cv: what is a good prediction, as scikit-learn calls it; default: r2, accuracy"
)
_TEST = "of --stop cv: test the columns that are kept, too, and say which are certain"
_FULL = (
    "also ask --alternatives, what infosieve relevance and stability ask, and which columns are "
    "redundant, on one page with --html; takes longer: a hundred more selections, on halves of the "
    "samples"
)


def select(
    context: typer.Context,
    file: o.FilePath,
    target: o.Target,
    features: o.Features = None,
    exclude: o.Exclude = None,
    categorical: o.Categorical = None,
    missing: o.Missing = "auto",
    groups: o.Groups = None,
    series: o.Series = False,
    series_window: o.SeriesWindow = None,
    delimiter: o.Delimiter = None,
    decimal: o.Decimal = None,
    encoding: o.Encoding = None,
    sheet: o.Sheet = None,
    dates: o.Dates = "error",
    n_neighbors: o.Neighbors = "3,15",
    criterion: o.Criterion = "auto",
    search: o.Search = "forward",
    removal: Annotated[str, typer.Option(help="what removes a column: test or mi")] = "test",
    stop: o.Stop = "auto",
    model: Annotated[str | None, typer.Option(help=_MODEL)] = None,
    cv: Annotated[int, typer.Option(metavar="N", help="of --stop cv: so many folds")] = 5,
    scoring: Annotated[str | None, typer.Option(help=_SCORING)] = None,
    test: Annotated[bool, typer.Option("--test", help=_TEST)] = False,
    null: Annotated[
        str,
        typer.Option(
            help="permute among samples near in the selected columns (local) or all (global)"
        ),
    ] = "local",
    correction: Annotated[str, typer.Option(help=_CORRECTION)] = "max",
    resample: Annotated[str, typer.Option(help="cv: test means over 20 folds; or none")] = "none",
    alpha: o.Alpha = 0.05,
    n_permutations: o.Permutations = "auto",
    screen: Annotated[str, typer.Option(help=_SCREEN)] = "auto",
    max_samples: Annotated[str, typer.Option(help=_MAX_SAMPLES)] = "auto",
    n_features_to_select: o.Exactly = None,
    min_features: Annotated[int, typer.Option(help="at least so many")] = 0,
    max_features: o.AtMost = None,
    method: o.Method = "ksg1",
    metric: o.Metric = "euclidean",
    scale: o.Scale = "standard",
    lookahead: o.Lookahead = 2,
    seed: o.Seed = None,
    jobs: o.Jobs = -1,
    dask: o.Dask = None,
    device: o.Device = "cpu",
    checkpoint: o.Checkpoint = None,
    out: Annotated[
        str | None, typer.Option(help="write the selected columns and the target")
    ] = None,
    alternatives: Annotated[
        bool, typer.Option("--alternatives", help="also which columns could stand in for these")
    ] = False,
    full: Annotated[bool, typer.Option("--full", help=_FULL)] = False,
    html: o.Html = None,
    json: o.Json = False,
    quiet: o.Quiet = False,
    config: o.Config = None,
) -> None:
    """Select the columns that are informative about the target, and no redundant ones."""
    from infosieve.cli.models import check_options, check_scoring, model_of
    from infosieve.cli.places import check, finish, show_result, signed
    from infosieve.cli.workers import check_dask, workers

    places = {"FILE": file, "--config": config, "--checkpoint": checkpoint}
    check(places | {"--out": out, "--html": html})
    check_dask(dask)
    check_options(context, stop, test or alternatives or full)
    if full and json and html is None:
        raise InputError(
            "--full --json would lose what relevance and stability answer: one document has the "
            "selection only; add --html page.html, or leave --full out and give the commands "
            "infosieve relevance and infosieve stability with --json"
        )
    if full and (series or series_window is not None):
        raise InputError(
            "--full selects from halves of the samples, and a series would be torn apart; leave "
            "--full out: --alternatives, and infosieve relevance, answer the other questions"
        )
    from infosieve.cli.data import read_data
    from infosieve.cli.tables import Reading

    how = Reading(
        features=features,
        exclude=exclude,
        categorical=categorical,
        missing=missing,
        groups=groups,
        delimiter=delimiter,
        decimal=decimal,
        encoding=encoding,
        sheet=sheet,
        dates=dates,
        series=series or series_window is not None,
    )
    data = read_data(file, target, how)
    check_scoring(scoring, data)
    from infosieve._engines.numba.jit import announcer
    from infosieve.selection import MISelector

    announcer.silent = quiet
    selector = MISelector(
        o.literal(n_neighbors),
        criterion=criterion,  # type: ignore[arg-type]
        search=search,  # type: ignore[arg-type]
        removal=removal,  # type: ignore[arg-type]
        stop=o.literal(stop),
        model=model_of(model, data),
        cv=cv,
        scoring=scoring,
        test=test,
        null=null,  # type: ignore[arg-type]
        correction=o.literal(correction),
        resample=o.literal(resample),
        alpha=alpha,
        n_permutations=o.literal(n_permutations),
        screen=o.literal(screen),
        max_samples=o.literal(max_samples),
        n_features_to_select=n_features_to_select,
        min_features=min_features,
        max_features=max_features,
        method=method,  # type: ignore[arg-type]
        metric=metric,  # type: ignore[arg-type]
        scale=o.literal(scale),
        discrete_features=data.discrete_features,
        discrete_target=data.discrete_target,
        missing=missing,  # type: ignore[arg-type]
        series=series if series_window is None else series_window,
        lookahead=lookahead,  # type: ignore[arg-type]
        n_jobs=jobs,
        device=device,  # type: ignore[arg-type]
        random_state=seed,
        checkpoint=checkpoint,
        verbose=0 if quiet else 1,
    )
    unfinished: BaseException | None = None
    beside: dict[str, Any] = {}
    shown = False
    try:
        with workers(dask, jobs) as selector.executor:
            selector.fit(data.X, data.y, data.groups)
            if alternatives or full:
                _ = selector.alternatives_  # which its result then has
            if full:
                if not json:  # what comes now may take much longer
                    show_result(signed(_with_units(selector.result_, data)), json)
                    shown = True
                beside |= _more(selector, data)
    except (KeyboardInterrupt, Exception) as error:
        unfinished = error  # told when what is finished has been printed and written
    result = getattr(selector, "result_", None)
    if result is not None and (result.steps or unfinished is None):
        result = _with_units(result, data)
        chosen = [data.X.columns[j] for j in result.selected]
        with _told_first(unfinished):
            finish(
                result, json, html, out, lambda: data.beside_target(data.X[chosen]), beside, shown
            )
    if isinstance(unfinished, KeyboardInterrupt):
        fail(str(unfinished) or "interrupted", 130)  # typer would swallow what it says
    if unfinished is not None:
        raise unfinished


def _with_units(result: Any, data: Any) -> Any:
    """The result, which knows what numbers count that stand for dates, and what has no name."""
    more = {"dates": dict(data.units)} if data.units else {}
    more |= {"unnamed": data.n_unnamed} if data.n_unnamed else {}
    if not more:
        return result
    parameters = {**result.provenance.parameters, **more}
    return replace(result, provenance=replace(result.provenance, parameters=parameters))


def _more(selector: Any, data: Any) -> Iterator[tuple[str, Any]]:
    """What else is informative, which columns are redundant, and what halves of samples choose."""
    from sklearn.base import clone

    from infosieve.cli.tables import in_memory
    from infosieve.selection import stability
    from infosieve.significance import relevance_test

    names = ("metric", "discrete_features", "discrete_target", "missing", "series", "device")
    how = {name: getattr(selector, name) for name in names}
    shared = {"groups": data.groups, "n_jobs": selector.n_jobs, "executor": selector.executor}
    shared |= {"random_state": selector.result_.provenance.seed, "verbose": selector.verbose}
    warnings.filterwarnings("ignore", ".*, as identifiers have: ")  # told before, as left out
    yield "relevance", relevance_test(data.X, data.y, alpha=selector.alpha, **how, **shared)
    warnings.filterwarnings("ignore", ".*samples have no target, and are left out")  # told before
    halves = clone(selector).set_params(executor=None, checkpoint=None, n_jobs=None, verbose=0)
    yield "stability", stability(halves, in_memory(data.X), data.y, **shared)
    if (clusters := _redundant(selector, data)) is not None:
        yield "clusters", clusters


def _redundant(selector: Any, data: Any) -> Any:
    """Clusters of columns of numbers that are redundant; None where there are too many, or one."""
    from infosieve.cli.cluster import categories, with_left_out
    from infosieve.cli.tables import in_memory
    from infosieve.clustering import FeatureClustering
    from infosieve.report._asking import CLUSTERED, REDUNDANT

    if data.X.shape[1] > CLUSTERED:
        return None
    X = in_memory(data.X)
    left_out = categories(X, data.declared)
    X = X.drop(columns=left_out)
    if X.shape[1] < 2:
        return None
    missing = selector.missing
    if missing in ("auto", "value"):  # medians would hide how alike columns are
        complete = int(X.notna().all(axis="columns").sum())
        missing = "drop" if 2 * complete >= len(X) else "auto"
    known = selector.result_.provenance
    clustering = FeatureClustering(
        n_clusters=None,
        **REDUNDANT,
        missing=missing,
        n_jobs=selector.n_jobs,
        random_state=known.seed,
        verbose=selector.verbose,
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*samples have missing values")  # a note has it
        clustering.fit(X)
    return with_left_out(clustering.result_, left_out)


@contextmanager
def _told_first(unfinished: BaseException | None) -> Iterator[None]:
    """What broke off the work matters more than what cannot be written then."""
    try:
        yield
    except Exception as error:
        if unfinished is None:
            raise
        if not isinstance(error, BrokenPipeError):
            print(f"infosieve: error: {printable(first_line(error))}", file=sys.stderr)
