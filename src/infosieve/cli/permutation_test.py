"""``infosieve permutation-test``: whether some columns tell anything, given others."""

from infosieve.cli.command import Asked, command
from infosieve.cli.errors import InputError
from infosieve.cli.options import Asks, Names, option

_MORE = {
    "candidates": option(Names, "columns to test (globs, may be repeated); default: all others"),
    "given": option(Names, "columns that are known already (globs, may be repeated)"),
}


@command(Asks(("TestSettings",), more=_MORE))
def permutation_test(asked: Asked) -> None:
    """Test whether columns tell anything about the target that given columns do not."""
    asked.check()
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
