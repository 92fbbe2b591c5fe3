"""The README's code runs and shows what it says."""

import re
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


def run(word):
    """The block of code that has a word."""
    names: dict = {}
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.S)
    exec(next(block for block in blocks if word in block), names)
    return names


def test_curves():
    names = run("FeatureClustering(8")
    model, meat = names["model"], names["meat"]
    assert model.score(meat.data[150:], meat.target[150:]) > 0.995
    assert "curvature[907nm]" in model[:-2].get_feature_names_out()
    assert names["clusters"].n_clusters_ == 8


def test_the_first_example():
    names = run("heat")
    selector = names["selector"]
    assert set(selector.get_feature_names_out()) == {"light", "heat", "salt"}
    assert "p_value" in selector.path_
    alone = selector.relevance_[[0, 4]]  # heat and salt
    assert alone.max() < 0.1
