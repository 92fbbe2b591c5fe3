"""``infosieve choose-k``: K from the data."""

from typing import Annotated

import typer

from infosieve.cli import options as o


def choose_k(
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
    n_neighbors: Annotated[str, typer.Option(help="the range of K to try")] = "2,20",
    n_folds: Annotated[int, typer.Option(help="folds of the samples")] = 20,
    method: o.Method = "ksg1",
    metric: o.Metric = "euclidean",
    scale: o.Scale = "standard",
    seed: o.Seed = None,
    jobs: o.Jobs = -1,
    dask: o.Dask = None,
    device: o.Device = "cpu",
    html: o.Html = None,
    json: o.Json = False,
    config: o.Config = None,
) -> None:
    """Choose K, the number of neighbours of the estimates, from the data."""
    from infosieve.cli.places import check, finish
    from infosieve.cli.workers import check_dask, workers

    check({"FILE": file, "--config": config, "--html": html})
    check_dask(dask)
    from infosieve import estimators
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
    with workers(dask, jobs) as executor:
        result = estimators.choose_k(
            data.X,
            data.y,
            n_neighbors=o.literal(n_neighbors),
            n_folds=n_folds,
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
        )
    finish(result, json, html)
