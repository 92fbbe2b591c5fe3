"""``infosieve cluster``: columns that are redundant with each other, joined."""

from dataclasses import replace

from infosieve.cli.command import Asked, command
from infosieve.cli.errors import InputError
from infosieve.cli.options import Asks


@command(Asks(("ClusteringSettings",), ("series_window",), "the representatives and the target"))
def cluster(asked: Asked) -> None:
    """Join columns that are redundant with each other."""
    asked.check()
    data = asked.read()
    from infosieve._core.messages import shown
    from infosieve._sources import in_memory
    from infosieve.cli.models import alone
    from infosieve.clustering import FeatureClustering
    from infosieve.examination import categories, with_left_out

    how = asked.settings("ClusteringSettings", data)
    if how["similarity_threshold"] is not None and "n_clusters" not in asked.given:
        how["n_clusters"] = None
    how["model"] = alone(asked["model"], data)
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
