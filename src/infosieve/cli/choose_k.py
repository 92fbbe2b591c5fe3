"""``infosieve choose-k``: K from the data."""

from infosieve.cli.command import Asked, command
from infosieve.cli.options import Asks


@command(Asks(("ChoiceSettings",)))
def choose_k(asked: Asked) -> None:
    """Choose K, the number of neighbours of the estimates, from the data."""
    asked.check()
    data = asked.read()
    from infosieve import estimators

    how = asked.settings("ChoiceSettings", data)
    with asked.workers() as executor:
        result = estimators.choose_k(data.X, data.y, groups=data.groups, executor=executor, **how)
    asked.finish(result)
