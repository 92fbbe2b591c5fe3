"""``infosieve cluster``: columns that are redundant with each other, joined."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from infosieve.cli.command import Asked, command
from infosieve.cli.errors import InputError
from infosieve.cli.options import Asks

if TYPE_CHECKING:
    from infosieve.results import ClusterResult

# So many columns that are left out are named.
_NAMES = 5


_OUT = "the representatives and the target"


@command(Asks(("ClusteringSettings",), ("series_window",), _OUT))
def cluster(asked: Asked) -> None:
    """Join columns that are redundant with each other."""
    asked.check()
    data = asked.read()
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
        _refuse_nothing_but(left_out)
    X = X.drop(columns=left_out)
    if data.discrete_target is True:
        y = y.astype("category")
    with asked.workers() as clustering.executor:
        clustering.fit(X, y, data.groups)
    clustering.executor = None
    clustering.set_output(transform="pandas")
    result = with_left_out(clustering.result_, left_out)
    asked.finish(
        _with_categories(result) if data.discrete_target is True else result,
        lambda: data.beside_target(clustering.transform(X)),
    )


def _refuse_nothing_but(left_out: Sequence[Any]) -> None:
    from infosieve._core.messages import shown

    named = ", ".join(map(shown, left_out[:_NAMES]))
    more = f" and {len(left_out) - _NAMES} more" if len(left_out) > _NAMES else ""
    raise InputError(
        f"clusters join columns of numbers, but all are categories: {named}{more}; "
        "infosieve select takes them"
    )


def _with_categories(result: "ClusterResult") -> "ClusterResult":
    """The result, whose code says that the target is a category: no parameter does."""
    known = result.provenance
    code = known.code.replace(".fit(X, y", '.fit(X, y.astype("category")')
    return replace(result, provenance=replace(known, code=code))
