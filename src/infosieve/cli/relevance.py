"""``infosieve relevance``: which columns are informative at all."""

from typing import Annotated

import typer

from infosieve.cli import options as o

_N_PERMUTATIONS = (
    "draws of a null distribution, or auto: enough for one column of all to be relevant by itself"
)


def relevance(
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
    alpha: Annotated[float, typer.Option(help="the false discovery rate")] = 0.05,
    n_permutations: Annotated[str, typer.Option(help=_N_PERMUTATIONS)] = "auto",
    n_neighbors: Annotated[
        str, typer.Option(help="K: one number, or a range whose estimates are averaged")
    ] = "3,25",
    method: o.Method = "ksg1",
    metric: o.Metric = "euclidean",
    scale: o.Scale = "normal-scores",
    seed: o.Seed = None,
    jobs: o.Jobs = -1,
    dask: o.Dask = None,
    device: o.Device = "cpu",
    out: Annotated[
        str | None, typer.Option(help="write the relevant columns and the target")
    ] = None,
    html: o.Html = None,
    json: o.Json = False,
    quiet: o.Quiet = False,
    config: o.Config = None,
) -> None:
    """Test each column by itself: all that are informative, redundant or not."""
    from infosieve.cli.places import check, finish
    from infosieve.cli.workers import check_dask, workers

    check({"FILE": file, "--config": config, "--out": out, "--html": html})
    check_dask(dask)
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
    from infosieve._engines.numba.jit import announcer
    from infosieve.significance import relevance_test

    announcer.silent = quiet
    with workers(dask, jobs) as executor:
        result = relevance_test(
            data.X,
            data.y,
            alpha=alpha,
            n_permutations=o.literal(n_permutations),
            n_neighbors=o.literal(n_neighbors),
            method=method,  # type: ignore[arg-type]
            metric=metric,  # type: ignore[arg-type]
            scale=o.literal(scale),
            discrete_features=data.discrete_features,
            discrete_target=data.discrete_target,
            missing=missing,  # type: ignore[arg-type]
            groups=data.groups,
            series=series if series_window is None else series_window,
            n_jobs=jobs,
            executor=executor,
            device=device,  # type: ignore[arg-type]
            random_state=seed,
            verbose=0 if quiet else 1,
        )
    relevant = [data.X.columns[j] for j in result.relevant.nonzero()[0]]
    finish(result, json, html, out, lambda: data.beside_target(data.X[relevant]))
