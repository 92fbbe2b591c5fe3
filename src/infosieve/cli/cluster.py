"""``infosieve cluster``: columns that are redundant with each other, joined."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

import typer

from infosieve.cli import options as o
from infosieve.cli.errors import InputError

# So many columns that are left out are named.
_NAMES = 5


def cluster(
    file: o.FilePath,
    target: o.Target,
    features: o.Features = None,
    exclude: o.Exclude = None,
    categorical: o.Categorical = None,
    missing: o.Missing = "auto",
    groups: o.Groups = None,
    series: o.Series = False,
    delimiter: o.Delimiter = None,
    decimal: o.Decimal = None,
    encoding: o.Encoding = None,
    sheet: o.Sheet = None,
    dates: o.Dates = "error",
    n_clusters: Annotated[str | None, typer.Option(help="a number, or auto")] = None,
    similarity_threshold: Annotated[
        float | None, typer.Option(help="join no clusters less similar than this")
    ] = None,
    similarity: Annotated[str, typer.Option(help="supervised or unsupervised")] = "supervised",
    correlation: Annotated[str, typer.Option(help="pearson or spearman")] = "pearson",
    linkage: Annotated[
        str, typer.Option(help="representative, average or complete")
    ] = "representative",
    representative: Annotated[str, typer.Option(help="mean, medoid or pls")] = "mean",
    connectivity: Annotated[str, typer.Option(help="chain: neighbours only; or none")] = "none",
    scale: o.Scale = "standard",
    cv: Annotated[int, typer.Option(help="folds that judge numbers of clusters")] = 4,
    seed: o.Seed = None,
    jobs: o.Jobs = -1,
    dask: o.Dask = None,
    out: Annotated[
        str | None, typer.Option(help="write the representatives and the target")
    ] = None,
    html: o.Html = None,
    json: o.Json = False,
    quiet: o.Quiet = False,
    config: o.Config = None,
) -> None:
    """Join columns that are redundant with each other."""
    from infosieve.cli.places import check, finish
    from infosieve.cli.workers import check_dask, workers

    check({"FILE": file, "--config": config, "--out": out, "--html": html})
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
        series=series,
    )
    data = read_data(file, target, how)
    from infosieve._engines.numba.jit import announcer
    from infosieve.clustering import FeatureClustering

    announcer.silent = quiet
    number = n_clusters or ("auto" if similarity_threshold is None else None)
    clustering = FeatureClustering(
        o.literal(number),
        similarity_threshold=similarity_threshold,
        similarity=similarity,  # type: ignore[arg-type]
        correlation=correlation,  # type: ignore[arg-type]
        linkage=linkage,  # type: ignore[arg-type]
        representative=representative,  # type: ignore[arg-type]
        connectivity=o.literal(connectivity),
        scale=o.literal(scale),
        cv=cv,
        missing=missing,  # type: ignore[arg-type]
        series=series,
        n_jobs=jobs,
        random_state=seed,
        verbose=0 if quiet else 1,
    )
    X, y = in_memory(data.X), data.y
    left_out = categories(X, data.declared)
    if len(left_out) == X.shape[1]:
        _refuse_nothing_but(left_out)
    X = X.drop(columns=left_out)
    if data.discrete_target is True:
        y = y.astype("category")
    with workers(dask, jobs) as clustering.executor:
        clustering.fit(X, y, data.groups)
    clustering.executor = None
    clustering.set_output(transform="pandas")
    result = with_left_out(clustering.result_, left_out)
    finish(
        _with_categories(result) if data.discrete_target is True else result,
        json,
        html,
        out,
        lambda: data.beside_target(clustering.transform(X)),
    )


def categories(X: Any, declared: Sequence[str]) -> list[Any]:
    """The columns that clusters have no place for: categories have no distances."""
    from infosieve._core.messages import shown
    from infosieve._input.kinds import kind_of

    kinds = {name: kind_of(X[name], f"column {shown(name)} of X") for name in X}
    return [name for name in X if name in declared or kinds[name] == "category"]


def _refuse_nothing_but(left_out: Sequence[Any]) -> None:
    from infosieve._core.messages import shown

    named = ", ".join(map(shown, left_out[:_NAMES]))
    more = f" and {len(left_out) - _NAMES} more" if len(left_out) > _NAMES else ""
    raise InputError(
        f"clusters join columns of numbers, but all are categories: {named}{more}; "
        "infosieve select takes them"
    )


def with_left_out(result: Any, names: Sequence[Any]) -> Any:
    """The result, which knows the categories that were left out."""
    if not names:
        return result
    known = result.provenance
    parameters = {**known.parameters, "categories": [*names]}
    return replace(result, provenance=replace(known, parameters=parameters))


def _with_categories(result: Any) -> Any:
    """The result, whose code says that the target is a category: no parameter does."""
    known = result.provenance
    code = known.code.replace(".fit(X, y", '.fit(X, y.astype("category")')
    return replace(result, provenance=replace(known, code=code))
