"""The README's code runs and shows what it says."""

import re
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


def test_the_first_example():
    code = re.search(r"```python\n(.*?)```", README.read_text(), re.S).group(1)
    names: dict = {}
    exec(code, names)
    selector = names["selector"]
    assert set(selector.get_feature_names_out()) == {"light", "heat", "salt"}
    assert "p_value" in selector.path_
    alone = selector.relevance_[[0, 4]]  # heat and salt
    assert alone.max() < 0.1
