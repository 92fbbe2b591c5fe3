"""``infosieve stability``: which columns another sample would choose again."""

from infosieve.cli.command import Asked, command
from infosieve.cli.options import Asks

# Rows in order of time have no halves; halves are fitted by processes, without a GPU.
_WITHOUT = ("series", "series_window", "device")


@command(Asks(("StabilitySettings", "SelectorSettings"), _WITHOUT))
def stability(asked: Asked) -> None:
    """Select from halves of the samples, many times: which columns are chosen again and again?"""
    from infosieve.cli.models import check_options, check_scoring, model_of

    asked.check()
    check_options(asked.given, asked["stop"], asked["test"])
    data = asked.read()
    check_scoring(asked["scoring"], data)
    from infosieve import selection
    from infosieve._sources import in_memory

    own = asked.settings("StabilitySettings", data)
    how = {n: v for n, v in asked.settings("SelectorSettings", data).items() if n not in own}
    how["model"] = model_of(asked["model"], data)
    with asked.workers() as executor:
        result = selection.stability(
            selection.MISelector(**how | {"series": False}),
            in_memory(data.X),
            data.y,
            groups=data.groups,
            executor=executor,
            **own,
        )
    asked.finish(result)
