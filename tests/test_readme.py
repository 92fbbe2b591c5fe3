"""The README's code runs and shows what it says."""

import re
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


def test_the_first_example():
    setup, calls = re.search(
        r"```python\n(.*?)\n\n(relevance.*?)```", README.read_text(), re.S
    ).groups()
    names: dict = {}
    exec(setup, names)
    alone, pair, given_heat = (eval(call.partition("#")[0], names) for call in calls.splitlines())
    assert pair > 2 * alone["heat"] + alone["light"]
    assert given_heat.idxmax() == "light"
    assert alone[["noise", "sound"]].abs().max() < 0.1
