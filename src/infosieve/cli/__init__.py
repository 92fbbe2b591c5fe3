"""The command ``infosieve``: arguments to estimators, results to the screen and to files.

Nothing heavy is imported before a command needs it.
"""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from typing import Annotated, Any

import typer

STATUS = (
    "Exit status: 0 done; 1 a cluster that is gone, or an error that nobody expected; 2 bad input, "
    "or what is asked for cannot be done here (a file cannot be written, a library or a GPU is "
    "missing); 130 interrupted; 141 nobody reads the output."
)
app = typer.Typer(
    name="infosieve",
    help="Which columns of a table matter for one of them, and how sure is that?",
    epilog=STATUS,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

PATH = (
    "a CSV, TSV, Parquet or Arrow file with a header, or a directory of Parquet files; Parquet "
    "also on a remote filesystem (s3://...); - is standard input"
)
FilePath = Annotated[str, typer.Argument(metavar="FILE", help=PATH)]
Target = Annotated[str, typer.Option(help="the column to predict")]
Features = Annotated[
    list[str] | None, typer.Option(help="columns to look at (globs, may be repeated); default: all")
]
Exclude = Annotated[list[str] | None, typer.Option(help="columns to leave out (globs)")]
Categorical = Annotated[
    list[str] | None, typer.Option(help="columns of numbers that are categories (globs)")
]
DropMissing = Annotated[
    bool, typer.Option("--drop-missing", help="leave out rows with missing values")
]
Delimiter = Annotated[str | None, typer.Option(help="what separates the values of a CSV file")]
Decimal = Annotated[str, typer.Option(help="the decimal mark of a CSV file: . or ,")]
Seed = Annotated[int | None, typer.Option(help="the same seed gives the same result")]
Jobs = Annotated[int | None, typer.Option(help="threads; -1 for all cores")]
Dask = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="compute on a Dask cluster: its scheduler's address; or local, to start one here",
    ),
]
DeviceName = Annotated[
    str, typer.Option(help="cpu, cuda (an NVIDIA GPU), or auto: a GPU where it pays")
]
Json = Annotated[bool, typer.Option("--json", help="the whole result as JSON, instead of a table")]
Html = Annotated[str | None, typer.Option(help="write a report to look at")]
Quiet = Annotated[bool, typer.Option("--quiet", help="no progress")]


def _configured(context: typer.Context, value: str | None) -> str | None:
    """Take defaults from a TOML file: keys are the options' names."""
    if value is None:
        return None
    import difflib
    import tomllib

    from infosieve.cli.tables import InputError

    try:
        with open(value, "rb") as file:
            content = tomllib.load(file)
    except OSError as error:
        raise InputError(f"--config {value}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"--config {value} is no TOML: {error}") from None
    known = {p.name: p for p in context.command.params if p.name and p.name != "config"}
    defaults = {}
    for key, given in content.items():
        name = key.replace("-", "_")
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"; do you mean {near[0]!r}?" if near else ""
            raise InputError(
                f"--config {value} has {key!r}, which is no option of this command{hint}"
            )
        multiple = getattr(known[name], "multiple", False)
        if isinstance(given, list) and not multiple:
            given = ",".join(map(str, given))
        elif multiple and isinstance(given, str):
            given = [given]
        flag = getattr(known[name], "is_flag", False)
        if isinstance(given, dict) or flag != isinstance(given, bool):
            kind = "true or false" if flag else "a text, a number or a list"
            raise InputError(f"--config {value}: {key!r} must be {kind}; got {given!r}")
        defaults[name] = given
    context.default_map = {**(context.default_map or {}), **defaults}
    return value


Config = Annotated[
    str | None,
    typer.Option(
        is_eager=True, callback=_configured, help="a TOML file of options, by their names"
    ),
]
N_NEIGHBORS = "K: one number, a range such as 3,15 whose estimates are averaged, or auto"


def _literal(text: str | None) -> Any:
    """An option's text as Python has it: 5, 0.1, (3, 15), None, or the text."""
    if text is None or text.lower() == "none":
        return None
    if "," in text:
        return tuple(_literal(part.strip()) for part in text.split(","))
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _data(
    path: str,
    target: str,
    features: list[str] | None,
    exclude: list[str] | None,
    categorical: list[str] | None,
    drop_missing: bool,
    delimiter: str | None,
    decimal: str,
) -> tuple[Any, Any, list[str]]:
    """The columns and the target of a file, and which columns are declared categories."""
    from infosieve.cli import tables

    table = tables.read(path, delimiter, decimal)
    names = list(table.columns)
    tables.find(target, names, "--target")
    chosen = tables.matching(features, names, "--features") if features else names
    left_out = tables.matching(exclude, names, "--exclude") if exclude else []
    without = {target, *left_out}
    chosen = [c for c in chosen if c not in without]
    if not chosen:
        raise tables.InputError("no column is left to look at: see --features and --exclude")
    table = table[[*chosen, target]]
    declared = (
        tables.matching(categorical, list(table.columns), "--categorical") if categorical else []
    )
    table = tables.checked(table, declared, drop_missing)
    y = table[target]
    if target in declared:
        y = y.astype("category")
    return table[chosen], y, [c for c in declared if c != target]


def _beside(columns: Any, y: Any) -> Any:
    """The table that --out names: some columns, and the target."""
    import pandas as pd

    from infosieve.cli.tables import in_memory

    return pd.concat([in_memory(columns), y], axis=1)


@app.command()
def select(
    context: typer.Context,
    file: FilePath,
    target: Target,
    features: Features = None,
    exclude: Exclude = None,
    categorical: Categorical = None,
    drop_missing: DropMissing = False,
    delimiter: Delimiter = None,
    decimal: Decimal = ".",
    n_neighbors: Annotated[str, typer.Option(help=N_NEIGHBORS)] = "3,15",
    criterion: Annotated[str, typer.Option(help="cmi: what a column adds; mi: of the set")] = "cmi",
    search: Annotated[str, typer.Option(help="forward or forward-backward")] = "forward",
    removal: Annotated[str, typer.Option(help="what removes a column: test or mi")] = "test",
    stop: Annotated[str, typer.Option(help="fdr, permutation, max-mi or none")] = "fdr",
    null: Annotated[
        str, typer.Option(help="permute what is new (local) or all (global)")
    ] = "local",
    correction: Annotated[
        str, typer.Option(help="max: allow for the best of many; or none")
    ] = "max",
    resample: Annotated[str, typer.Option(help="cv: test means over 20 parts; or none")] = "none",
    alpha: Annotated[float, typer.Option(help="the level of the tests")] = 0.05,
    n_permutations: Annotated[int, typer.Option(help="permutations of a test")] = 199,
    n_features_to_select: Annotated[int | None, typer.Option(help="so many, no test")] = None,
    min_features: Annotated[int, typer.Option(help="at least so many")] = 0,
    max_features: Annotated[int | None, typer.Option(help="at most so many")] = None,
    method: Annotated[str, typer.Option(help="ksg1 or ksg2")] = "ksg1",
    metric: Annotated[str, typer.Option(help="euclidean or chebyshev")] = "euclidean",
    scale: Annotated[str, typer.Option(help="standard, normal-scores or none")] = "standard",
    lookahead: Annotated[int, typer.Option(help="2: try pairs where no column passes")] = 2,
    seed: Seed = None,
    jobs: Jobs = None,
    dask: Dask = None,
    device: DeviceName = "cpu",
    checkpoint: Annotated[
        str | None, typer.Option(help="a file that a killed run goes on from")
    ] = None,
    out: Annotated[
        str | None, typer.Option(help="write the selected columns and the target")
    ] = None,
    html: Html = None,
    json: Json = False,
    quiet: Quiet = False,
    config: Config = None,
) -> None:
    """Select the columns that tell something about the target, and no more than that."""
    places = {"FILE": file, "--config": config, "--checkpoint": checkpoint}
    _check(places | {"--out": out, "--html": html}, dask)
    options = features, exclude, categorical, drop_missing, delimiter, decimal
    X, y, declared = _data(file, target, *options)
    from infosieve._engines.numba.jit import announcer
    from infosieve.cli.places import finish
    from infosieve.selection._selector import MISelector

    announcer.silent = quiet
    selector = MISelector(
        _literal(n_neighbors),
        criterion=criterion,  # type: ignore[arg-type]
        search=search,  # type: ignore[arg-type]
        removal=removal,  # type: ignore[arg-type]
        stop=_literal(stop),
        null=null,  # type: ignore[arg-type]
        correction=_literal(correction),
        resample=_literal(resample),
        alpha=alpha,
        n_permutations=n_permutations,
        n_features_to_select=n_features_to_select,
        min_features=min_features,
        max_features=max_features,
        method=method,  # type: ignore[arg-type]
        metric=metric,  # type: ignore[arg-type]
        scale=_literal(scale),
        discrete_features=declared or "auto",
        lookahead=lookahead,  # type: ignore[arg-type]
        n_jobs=jobs,
        device=device,  # type: ignore[arg-type]
        random_state=seed,
        checkpoint=checkpoint,
        verbose=0 if quiet else 1,
    )
    try:
        with _workers(dask, jobs) as selector.executor:
            selector.fit(X, y)
    except KeyboardInterrupt as error:  # typer would swallow what it says
        _fail(str(error) or "interrupted", 130, debug=False)
    chosen = [X.columns[j] for j in selector.selected_]
    finish(selector.result_, json, html, out, lambda: _beside(X[chosen], y))


@app.command()
def choose_k(
    context: typer.Context,
    file: FilePath,
    target: Target,
    features: Features = None,
    exclude: Exclude = None,
    categorical: Categorical = None,
    drop_missing: DropMissing = False,
    delimiter: Delimiter = None,
    decimal: Decimal = ".",
    k_min: Annotated[int, typer.Option(help="the smallest K")] = 2,
    k_max: Annotated[int, typer.Option(help="the largest K")] = 20,
    n_splits: Annotated[int, typer.Option(help="parts of the samples")] = 20,
    method: Annotated[str, typer.Option(help="ksg1 or ksg2")] = "ksg1",
    metric: Annotated[str, typer.Option(help="euclidean or chebyshev")] = "euclidean",
    scale: Annotated[str, typer.Option(help="standard, normal-scores or none")] = "standard",
    seed: Seed = None,
    jobs: Jobs = None,
    dask: Dask = None,
    device: DeviceName = "cpu",
    html: Html = None,
    json: Json = False,
    config: Config = None,
) -> None:
    """Choose K, the number of neighbours of the estimates, from the data."""
    _check({"FILE": file, "--config": config, "--html": html}, dask)
    options = features, exclude, categorical, drop_missing, delimiter, decimal
    X, y, declared = _data(file, target, *options)
    from infosieve.cli.places import finish
    from infosieve.estimators._choice_of_k import choose_k as choose

    with _workers(dask, jobs) as executor:
        result = choose(
            X,
            y,
            k_min=k_min,
            k_max=k_max,
            n_splits=n_splits,
            method=method,  # type: ignore[arg-type]
            metric=metric,  # type: ignore[arg-type]
            scale=_literal(scale),
            discrete_features=declared or "auto",
            n_jobs=jobs,
            executor=executor,
            device=device,  # type: ignore[arg-type]
            random_state=seed,
        )
    finish(result, json, html)


@app.command()
def cluster(
    context: typer.Context,
    file: FilePath,
    target: Target,
    features: Features = None,
    exclude: Exclude = None,
    categorical: Categorical = None,
    drop_missing: DropMissing = False,
    delimiter: Delimiter = None,
    decimal: Decimal = ".",
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
    scale: Annotated[str, typer.Option(help="standard, normal-scores or none")] = "standard",
    cv: Annotated[int, typer.Option(help="folds that judge numbers of clusters")] = 4,
    seed: Seed = None,
    jobs: Jobs = None,
    dask: Dask = None,
    out: Annotated[
        str | None, typer.Option(help="write the representatives and the target")
    ] = None,
    html: Html = None,
    json: Json = False,
    quiet: Quiet = False,
    config: Config = None,
) -> None:
    """Join columns that say the same about the target."""
    _check({"FILE": file, "--config": config, "--out": out, "--html": html}, dask)
    options = features, exclude, categorical, drop_missing, delimiter, decimal
    X, y, declared = _data(file, target, *options)
    from infosieve._engines.numba.jit import announcer
    from infosieve.cli import tables
    from infosieve.cli.places import finish
    from infosieve.clustering._feature_clustering import FeatureClustering

    announcer.silent = quiet
    number = n_clusters or ("auto" if similarity_threshold is None else None)
    clustering = FeatureClustering(
        _literal(number),
        similarity_threshold=similarity_threshold,
        similarity=similarity,  # type: ignore[arg-type]
        correlation=correlation,  # type: ignore[arg-type]
        linkage=linkage,  # type: ignore[arg-type]
        representative=representative,  # type: ignore[arg-type]
        connectivity=_literal(connectivity),
        scale=_literal(scale),
        cv=cv,
        n_jobs=jobs,
        random_state=seed,
        verbose=0 if quiet else 1,
    )
    X = tables.in_memory(X)
    with _workers(dask, jobs) as clustering.executor:
        clustering.fit(X.astype(dict.fromkeys(declared, "category")), y)
    clustering.executor = None
    clustering.set_output(transform="pandas")
    finish(clustering.result_, json, html, out, lambda: _beside(clustering.transform(X), y))


@app.command()
def report(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="what --json wrote; - is standard input")
    ],
    out: Annotated[str, typer.Option(help="the page")] = "report.html",
) -> None:
    """Write the HTML report of a result that was kept as JSON."""
    _check({"FILE": file, "--out": out}, pages=["--out"])
    from infosieve.cli.places import write_page
    from infosieve.cli.tables import read_result

    write_page(read_result(file), out)


class Example(StrEnum):
    """Data of the demo."""

    friedman = "friedman"
    tecator = "tecator"


@app.command()
def demo(
    data: Annotated[Example | None, typer.Argument(help="one of them; default: both")] = None,
    out: Annotated[str, typer.Option(help="the report")] = "infosieve-demo.html",
) -> None:
    """Select where the answer is known, and write a report."""
    _check({"--out": out}, pages=["--out"])
    from infosieve.cli.demo import run

    run([data.value] if data else [e.value for e in Example], out)


@contextmanager
def _workers(dask: str | None, jobs: int | None) -> Iterator[Any]:
    """What --dask asks for: a scheduler's address, a cluster of this machine, or nothing."""
    if dask != "local":
        yield dask
        return
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise ImportError(
            "--dask needs Dask, which is not here: pip install dask distributed fsspec"
        ) from None
    import logging
    import signal

    from infosieve._executors.threads import Threads

    n_workers = Threads(-1 if jobs is None else jobs).n_workers
    options = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    # Ctrl-C in a terminal reaches the workers, too; who inherits to ignore it does so.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        cluster = LocalCluster(n_workers=n_workers, silence_logs=logging.CRITICAL, **options)
    finally:
        signal.signal(signal.SIGINT, before)
    with cluster, Client(cluster, set_as_default=False) as client:
        yield client


def _check(
    places: Mapping[str, str | None], dask: str | None = None, pages: Iterable[str] = ("--html",)
) -> None:
    """What can be refused before work begins."""
    from infosieve.cli.places import check

    check(places, pages)
    if dask not in (None, "local"):
        from infosieve._executors import check_address

        check_address(dask, "--dask, unless it is local,")


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="print the version")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="show where an error comes from")] = False,
) -> None:
    if version:
        import infosieve

        print(infosieve.__version__)
        raise typer.Exit


def main(arguments: list[str] | None = None) -> None:
    """Run the command; the exit status is one of :data:`STATUS`."""
    given = sys.argv[1:] if arguments is None else arguments
    debug = "--debug" in given
    given = [a for a in given if a != "--debug"] or ["--help"]
    import warnings

    warnings.showwarning = _warned  # type: ignore[assignment]
    try:
        code = app(given, prog_name="infosieve", standalone_mode=False)
        sys.stdout.flush()
        if code == 130:  # typer has caught Ctrl-C
            _fail("interrupted", 130, debug)
        sys.exit(code if isinstance(code, int) else 0)
    except typer.Exit as stop:
        sys.exit(stop.exit_code)
    except SystemExit as stop:  # typer makes a 1 of a reader that has gone away
        sys.exit(141 if isinstance(stop.__context__, BrokenPipeError) else stop.code)
    except (KeyboardInterrupt, typer.Abort) as error:
        _fail(str(error) or "interrupted", 130, debug)
    except typer.TyperException as error:
        _fail(error.format_message(), 2, debug)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except ConnectionError as error:
        _fail(str(error) or type(error).__name__, 1, debug)
    except (ValueError, TypeError, OSError, MemoryError, ImportError) as error:
        text = str(error) or type(error).__name__
        if "X has missing values" in text:
            text += " --drop-missing leaves out those rows, --exclude a column."
        _fail(text, 2, debug)
    except Exception as error:
        if type(error) is RuntimeError:  # a GPU, or a worker, that cannot do what is asked
            _fail(str(error), 2, debug)
        text = f"unexpected {type(error).__name__}: {error}; --debug shows where it comes from"
        _fail(text, 1, debug)


def _fail(text: str, code: int, debug: bool) -> None:
    """One line on standard error."""
    if debug:
        import traceback

        traceback.print_exc()
    elif code == 130:  # what Ctrl-C broke off inside a compiler would complain
        sys.unraisablehook = lambda _: None
    from infosieve._core.files import printable

    print(f"infosieve: error: {printable(' '.join(text.split()))}", file=sys.stderr)
    sys.exit(code)


def _warned(message: Any, category: Any, filename: str, lineno: int, *_: Any) -> None:
    from infosieve._core.files import printable

    print(f"infosieve: warning: {printable(message)}", file=sys.stderr)
