"""The commands about one question each: their data, what answers it, and what becomes of that."""

from dataclasses import replace

from infosieve.cli.command import Asked, command
from infosieve.cli.errors import InputError
from infosieve.cli.options import Asks, Names, option

_OF_TEST = {
    "candidates": option(Names, "columns to test (globs, may be repeated); default: all others"),
    "given": option(Names, "columns that are known already (globs, may be repeated)"),
}
# Rows in order of time have no halves; halves are fitted by processes, without a GPU.
_NO_HALVES = ("series", "series_window", "device")


@command(Asks(("RelevanceSettings",), out="the relevant columns and the target"))
def relevance_test(asked: Asked) -> None:
    """Test each column by itself: all that are informative, redundant or not."""
    data = asked.read()
    from infosieve import significance

    how = asked.settings("RelevanceSettings", data)
    with asked.workers() as executor:
        result = significance.relevance_test(
            data.X, data.y, groups=data.groups, executor=executor, **how
        )
    relevant = [data.X.columns[j] for j in result.relevant.nonzero()[0]]
    asked.finish(result, lambda: data.beside_target(data.X[relevant]))


@command(Asks(("TestSettings",), more=_OF_TEST))
def permutation_test(asked: Asked) -> None:
    """Test whether columns tell anything about the target that given columns do not."""
    data = asked.read()
    from infosieve import significance

    given = data.matching(asked["given"] or (), "--given")
    candidates = [name for name in data.X.columns if name not in given]
    if asked["candidates"]:
        candidates = data.matching(asked["candidates"], "--candidates")
    if not candidates:
        raise InputError("no column is left to test: see --candidates and --given")
    how = asked.settings("TestSettings", data)
    with asked.workers() as executor:
        result = significance.permutation_test(
            data.X, data.y, candidates, given=given, groups=data.groups, executor=executor, **how
        )
    asked.finish(result)


@command(Asks(("StabilitySettings", "SelectorSettings"), _NO_HALVES))
def stability(asked: Asked) -> None:
    """Select from halves of the samples, many times: which columns are chosen again and again?"""
    from infosieve.cli.models import check_options, model_of

    check_options(asked.given, asked["stop"], asked["test"])
    data = asked.read()
    from infosieve import selection
    from infosieve._sources import in_memory

    own = asked.settings("StabilitySettings", data)
    how = {n: v for n, v in asked.settings("SelectorSettings", data).items() if n not in own}
    selector = selection.MISelector(**how | {"series": False})
    selector.model = model_of(asked["model"], data.declared)
    with asked.workers() as executor:
        result = selection.stability(
            selector, in_memory(data.X), data.y, groups=data.groups, executor=executor, **own
        )
    asked.finish(result)


@command(Asks(("ChoiceSettings",)))
def choose_k(asked: Asked) -> None:
    """Choose K, the number of neighbours of the estimates, from the data."""
    data = asked.read()
    from infosieve import estimators

    how = asked.settings("ChoiceSettings", data)
    with asked.workers() as executor:
        result = estimators.choose_k(data.X, data.y, groups=data.groups, executor=executor, **how)
    asked.finish(result)


@command(Asks(("ClusteringSettings",), ("series_window",), "the representatives and the target"))
def cluster(asked: Asked) -> None:
    """Join columns that are redundant with each other."""
    data = asked.read()
    from infosieve._core.messages import shown
    from infosieve._sources import in_memory
    from infosieve.cli.models import alone
    from infosieve.clustering import FeatureClustering
    from infosieve.examination import categories, with_left_out

    how = asked.settings("ClusteringSettings", data) | {"model": alone(asked["model"])}
    if how["similarity_threshold"] is not None and "n_clusters" not in asked.given:
        how["n_clusters"] = None
    clustering = FeatureClustering(**how)
    X, y = in_memory(data.X), data.y
    left_out = categories(X, data.declared or "auto")
    if len(left_out) == X.shape[1]:
        named = ", ".join(map(shown, left_out[:5])) + (", ..." if len(left_out) > 5 else "")
        raise InputError(
            f"clusters join columns of numbers, but all are categories: {named}; "
            "infosieve select takes them"
        )
    X = X.drop(columns=left_out)
    if data.discrete_target is True:
        y = y.astype("category")
    with asked.workers() as clustering.executor:
        clustering.fit(X, y, data.groups)
    clustering.executor = None
    clustering.set_output(transform="pandas")
    result = with_left_out(clustering.result_, left_out)
    if data.discrete_target is True:  # which no parameter says
        known = result.provenance
        code = known.code.replace(".fit(X, y", '.fit(X, y.astype("category")')
        result = replace(result, provenance=replace(known, code=code))
    asked.finish(result, lambda: data.beside_target(clustering.transform(X)))
