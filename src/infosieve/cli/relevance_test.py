"""``infosieve relevance-test``: which columns are informative at all."""

from infosieve.cli.command import Asked, command
from infosieve.cli.options import Asks


@command(Asks(("RelevanceSettings",), out="the relevant columns and the target"))
def relevance_test(asked: Asked) -> None:
    """Test each column by itself: all that are informative, redundant or not."""
    asked.check()
    data = asked.read()
    from infosieve import significance

    how = asked.settings("RelevanceSettings", data)
    with asked.workers() as executor:
        result = significance.relevance_test(
            data.X, data.y, groups=data.groups, executor=executor, **how
        )
    relevant = [data.X.columns[j] for j in result.relevant.nonzero()[0]]
    asked.finish(result, lambda: data.beside_target(data.X[relevant]))
