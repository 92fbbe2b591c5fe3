"""``infosieve stability``: which columns another sample would choose again."""

from typing import Annotated

import typer

from infosieve.cli import options as o
from infosieve.cli.errors import fail


def stability(
    file: o.FilePath,
    target: o.Target,
    features: o.Features = None,
    exclude: o.Exclude = None,
    categorical: o.Categorical = None,
    missing: o.Missing = "auto",
    groups: o.Groups = None,
    delimiter: o.Delimiter = None,
    decimal: o.Decimal = None,
    encoding: o.Encoding = None,
    sheet: o.Sheet = None,
    dates: o.Dates = "error",
    n_resamples: Annotated[
        int, typer.Option(help="how often the samples are halved; two selections each")
    ] = 50,
    n_neighbors: o.Neighbors = "3,15",
    criterion: o.Criterion = "auto",
    search: o.Search = "forward",
    stop: o.Stop = "auto",
    alpha: o.Alpha = 0.05,
    n_permutations: o.Permutations = "auto",
    n_features_to_select: o.Exactly = None,
    max_features: o.AtMost = None,
    metric: o.Metric = "euclidean",
    scale: o.Scale = "standard",
    lookahead: o.Lookahead = 2,
    seed: o.Seed = None,
    jobs: Annotated[
        int, typer.Option(help="processes, a half each; -1, the default, for all cores")
    ] = -1,
    dask: o.Dask = None,
    checkpoint: o.Checkpoint = None,
    html: o.Html = None,
    json: o.Json = False,
    quiet: o.Quiet = False,
    config: o.Config = None,
) -> None:
    """Select from halves of the samples, many times: which columns are chosen again and again?"""
    from infosieve.cli.places import check, finish
    from infosieve.cli.workers import check_dask, workers

    places = {"FILE": file, "--config": config, "--checkpoint": checkpoint}
    check(places | {"--html": html})
    check_dask(dask)
    from infosieve.cli.data import read_data
    from infosieve.cli.tables import Reading, in_memory

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
    )
    data = read_data(file, target, how)
    from infosieve import selection
    from infosieve._engines.numba.jit import announcer

    announcer.silent = quiet
    selector = selection.MISelector(
        o.literal(n_neighbors),
        criterion=criterion,  # type: ignore[arg-type]
        search=search,  # type: ignore[arg-type]
        stop=o.literal(stop),
        alpha=alpha,
        n_permutations=o.literal(n_permutations),
        n_features_to_select=n_features_to_select,
        max_features=max_features,
        metric=metric,  # type: ignore[arg-type]
        scale=o.literal(scale),
        discrete_features=data.discrete_features,
        discrete_target=data.discrete_target,
        missing=missing,  # type: ignore[arg-type]
        lookahead=lookahead,  # type: ignore[arg-type]
    )
    try:
        with workers(dask, jobs) as executor:
            result = selection.stability(
                selector,
                in_memory(data.X),
                data.y,
                n_resamples=n_resamples,
                groups=data.groups,
                n_jobs=jobs,
                executor=executor,
                random_state=seed,
                checkpoint=checkpoint,
                verbose=0 if quiet else 1,
            )
    except KeyboardInterrupt as error:
        fail(str(error) or "interrupted", 130)  # typer would swallow what it says
    finish(result, json, html)
