"""The pages of the gallery and the notebook run from top to bottom, and say what is true."""

import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat
import pytest
from command import A_LONG_TIME
from nbclient import NotebookClient

EXAMPLES = Path(__file__).parent.parent / "examples"
PAGES = sorted(EXAMPLES.glob("*.py"))


def spectroscopist(page):
    sample, train, test = page["sample"], page["train"], page["test"]
    assert not set(sample[train]) & set(sample[test])
    starts, ends = page["chosen"]["from"], page["chosen"]["to"]
    assert starts.min() > 890
    assert ends.max() < 966
    assert len(page["channels"]) == 11
    assert all(few < everything for everything, few in page["rows"].values())
    assert all(few < 0.6 * everything for everything, few in page["rows"].values())
    assert len(page["heights"].get_feature_names_out()) == 5
    first = page["selector"].path_["gain"].iloc[0]
    assert first > 2 * page["heights"].path_["gain"].iloc[0]


def biologist(page):
    home, chosen, relevant = page["home"], page["chosen"], page["relevant"]
    switch = page["names"][page["switch"]]
    assert switch in chosen
    assert 0 in set(home[chosen])
    assert page["acts"][chosen].all()
    assert page["by_means"] > 0.05
    assert relevant[switch]
    assert (relevant & ~page["acts"]).sum() <= 0.1 * relevant.sum()
    assert (relevant & page["acts"]).sum() > 0.5 * page["acts"].sum()
    right = {panel: row["right (%)"] for panel, row in page["accuracy"].items()}
    assert right["without the last"] > right["all genes, by a ridge"]
    assert len(page["same"])
    assert page["same"].all()


def analyst(page):
    for name in ("invoice", "customer"):
        assert any(f"'{name}'" in str(warning.message) for warning in page["caught"])
    assert "customer" in page["careless"].get_feature_names_out()
    found = set(page["selector"].get_feature_names_out())
    assert found == {"plan", "months", "calls", "satisfaction"}
    assert {"age", "distance"} <= set(page["by_rows"].get_feature_names_out())
    assert set(page["cities"].get_feature_names_out()) == found
    area = page["scores"]
    assert area["certain"]["area under the curve"] > area["as rows"]["area under the curve"]
    useful, by_rows = (set(page[who].get_feature_names_out()) for who in ("useful", "by_rows"))
    assert found < useful
    assert area["useful"]["area under the curve"] <= area["certain"]["area under the curve"] + 0.01
    assert len(by_rows - found) == 4
    gaps = {step.features: step.gap_gain for step in page["selector"].result_.steps}
    assert gaps[(list(page["X"]).index("satisfaction"),)] > 0.01


def engineer(page):
    assert list(page["series"].get_feature_names_out()) == ["steam -30 min"]
    assert len(page["independent"].get_feature_names_out()) == 7
    assert page["table"].loc["steam -30 min"].tolist() == [8, 8]
    idle = page["table"].drop("steam -30 min")
    assert idle["in time"].sum() == 1
    assert idle["independent"].sum() > 30
    later = page["scores"]["other six days"]
    assert later["in time"] > later["independent"]
    assert 0.4 < later["in time"] < 0.6


TRUE = {
    "08_spectroscopist": spectroscopist,
    "09_biologist": biologist,
    "10_analyst": analyst,
    "11_engineer": engineer,
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page(page, as_a_reader):
    names = runpy.run_path(str(page), run_name="__main__")
    assert plt.get_fignums(), "a page has a picture"
    if page.stem in TRUE:
        TRUE[page.stem](names)


def test_every_check_has_its_page():
    assert set(TRUE) <= {page.stem for page in PAGES}


def test_the_tour(tmp_path, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    notebook = nbformat.read(EXAMPLES / "tour.ipynb", as_version=4)
    resources = {"metadata": {"path": str(tmp_path)}}
    patience = {"timeout": A_LONG_TIME, "startup_timeout": A_LONG_TIME}
    NotebookClient(notebook, resources=resources, **patience).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    kinds = [kind for output in outputs for kind in output.get("data", {})]
    assert kinds.count("image/png") >= 5
    assert any("curvature[" in str(o.get("data", {}).get("text/html", "")) for o in outputs)
