"""The report: escaped, self-contained, and looked at in a real browser."""

import base64
import json
import re
import shutil
import time

import numpy as np
import pandas as pd
import pytest

from infosieve import (
    CurveFeatures,
    FeatureClustering,
    MISelector,
    PermutationTest,
    SelectionResult,
    choose_k,
    permutation_test,
)
from infosieve.datasets import load_tecator, make_friedman, make_xor
from infosieve.report._render import page

EVIL = "<script>alert('x')</script>"


def friedman():
    X, y = make_friedman(80, 6, random_state=0, return_X_y=True, as_frame=True)
    X["kind"] = np.where(X["X4"] > 0.5, "high", "low")
    return X.rename(columns={"X4": EVIL}), y


def selection():
    options = {"n_neighbors": "auto", "n_permutations": 99, "alpha": 0.1, "max_features": 3}
    return MISelector(random_state=0, **options).fit(*friedman()).result_


def results():
    """A name, a result and curves for it."""
    yield "selection", selection(), None
    tecator = load_tecator(as_frame=True)
    curves = CurveFeatures(tecator.axis, unit="nm", kinds=["curvature", "sample"])
    features = curves.set_output(transform="pandas").fit_transform(tecator.data)
    chosen = MISelector(stop=None, max_features=3).fit(features, tecator.target).result_
    yield "curves", chosen, (curves, tecator.data)
    clusters = FeatureClustering(random_state=0, connectivity="chain")
    clusters = clusters.fit(tecator.data[tecator.feature_names[::4]], tecator.target).result_
    yield "clusters", clusters, (tecator.axis[::4], tecator.data[tecator.feature_names[::4]])
    X, y = friedman()
    yield "choice", choose_k(X.drop(columns="kind"), y, random_state=0), None
    X, y = make_xor(60, 3, random_state=0, return_X_y=True, as_frame=True)
    with pytest.warns(UserWarning, match="No column was selected"):
        nothing = MISelector(random_state=0, lookahead=1, n_permutations=99).fit(X, y).result_
    yield "nothing", nothing, None
    X["level"] = pd.Categorical.from_codes(np.arange(60) % 3, ["a", "b", "c"])
    classes = MISelector(stop=None, max_features=4).fit(X, y).result_
    yield "classes", classes, None
    X, y = friedman()
    best = permutation_test(X, y, [EVIL, "X5"], given="X1", n_permutations=99, random_state=0)
    yield "test", best, None
    each = permutation_test(X, y, [EVIL, "X5", "X6"], correction=None, alpha=0.1, random_state=0)
    yield "tests", each, None


def test_values_are_text_and_categories():
    X, y = friedman()
    X["kind"] = np.where(X["X3"] > 0.5, "<a href='http://x.example'>1</a>", "2")
    options = {"stop": None, "max_features": 7, "discrete_target": True}
    text = page(MISelector(**options).fit(X, np.digitize(y, [8, 12])).result_)
    figures = json.loads(re.search(r'id="figures">(.*?)</script>', text, re.S).group(1))
    last = [f for f in figures if f["layout"]["xaxis"]["title"]["text"] == "kind"][-1]
    assert last["layout"]["xaxis"]["type"] == last["layout"]["yaxis"]["type"] == "category"
    assert last["data"][0]["x"] == ["&lt;a href='http://x.example'&gt;1&lt;/a&gt;", "2"]
    assert sum(map(sum, last["data"][0]["z"])) == 80


def test_names_are_text_everywhere():
    result = selection()
    text = page(result)
    assert EVIL not in text
    assert "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;" in text
    shown = result._repr_html_()
    assert EVIL not in shown
    assert "<table>" in shown
    assert "plotly" not in shown
    data = re.search(r'id="figures">(.*?)</script>', text, re.S).group(1)
    assert "<" not in data
    assert "&lt;script&gt;" in json.dumps(json.loads(data))


def test_nothing_is_fetched_from_anywhere():
    text = page(selection())
    own = text.replace(
        re.search(r"<script>(?!\n\(function)(.*?)</script>", text, re.S).group(1), ""
    )
    assert not re.search(r"(src|href)\s*=", own)
    assert "http://" not in own
    assert "https://" not in own
    assert "default-src 'none'" in own


def test_the_code_of_a_page_gives_the_result_again():
    X, y = friedman()
    numbers = X.drop(columns="kind")
    for result in (
        selection(),
        choose_k(numbers, y, random_state=3, n_folds=9),
        permutation_test(numbers, y, "X1", given=["X2"], n_permutations=19, random_state=4),
    ):
        names = {"X": X if isinstance(result, SelectionResult) else numbers, "y": y}
        code = result.provenance.code
        *lines, last = code.splitlines()
        exec("\n".join([*lines, f"again = {last}"]), names)
        again = getattr(names["again"], "result_", names["again"])
        assert again.to_frame().equals(result.to_frame())


def test_clusters_beside_a_selection():
    X, y = friedman()
    numbers = X.drop(columns="kind")
    clusters = FeatureClustering(3).fit(numbers, y).result_
    assert "Which columns are redundant" in page(selection(), clusters=clusters)


def test_the_page_of_a_kept_result_is_the_same():
    result = selection()
    again = SelectionResult.from_json(result.to_json())
    assert page(again) == page(result)


def test_a_test_without_provenance_has_a_page():
    test = PermutationTest(candidates=("a", "b"), observed=[0.2, 0.5], null=[[0.3, 0.1]] * 9)
    text = page(test)
    assert "2 columns, tested one by one" in text
    assert "not corrected" in text
    assert "To repeat it" not in text
    with pytest.raises(ValueError, match="beside a selection or clusters only"):
        page(test, curves=([1, 2], np.eye(2)))


def test_a_page_says_what_was_estimated_and_of_what():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(205, 12))
    y = np.sin(2 * X[:, 3]) + 0.3 * rng.normal(size=205)
    how = {"screen": 4, "max_samples": 100, "random_state": 0}
    result = MISelector(**how, max_features=1, lookahead=1).fit(X, y).result_
    screened = "Of 12 candidates the 4 best by a table of counts were estimated"
    text = page(result)
    assert f"{screened}, in each permutation anew." in text
    assert "Estimates are means over 2 parts of 102 or 103 samples." in text
    assert "permuted columns do as well in" in text
    test = permutation_test(X, y, range(12), **how, alpha=0.05)
    assert len(test.candidates) == 4
    assert (test.n_candidates, test.n_parts, test.n_samples_used) == (12, 2, 205)
    text = page(PermutationTest.from_json(test.to_json()))
    assert "3, the best of 12 columns: p = " in text
    assert f"{screened}, in each permutation anew." in text
    assert "parts of 102 or 103 samples" in text


def test_nobody_takes_p_of_one_column_for_that_of_the_best():
    X, y = friedman()
    options = {"correction": None, "lookahead": 1, "max_features": 2, "random_state": 0}
    result = MISelector(**options).fit(X.drop(columns="kind"), y).result_
    for text in (page(result), result._repr_html_()):
        assert "not of the best of 6 candidates" in text
        assert "its own permuted copies do as well in" in text
        assert "the best of 6 columns without information, more often" in text
        assert "permuted columns do as well in" not in text
        assert "is informative about" not in text
        assert "are informative about" not in text


def test_curves_that_do_not_fit_are_refused():
    tecator = load_tecator()
    clusters = FeatureClustering(2, connectivity="chain").fit(tecator.data[:, :6], tecator.target)
    with pytest.raises(ValueError, match=r"rows of 6 finite numbers.* shape \(215, 5\)"):
        page(clusters.result_, curves=(tecator.axis[:6], tecator.data[:, :5]))


def test_reports_are_written_whole(tmp_path):
    place = tmp_path / "report.html"
    selection().report(place)
    assert place.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert list(tmp_path.iterdir()) == [place]
    with pytest.raises(OSError, match="No such file"):
        selection().report(tmp_path / "no" / "report.html")


# --- in a browser


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        pytest.skip("no chromium and chromedriver here (Debian: chromium, chromium-driver)")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (
        "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        "--disable-dev-shm-usage", f"--user-data-dir={tmp_path_factory.mktemp('profile')}",
    ):  # fmt: skip
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    started = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield started
    started.quit()


def opened(browser, path, dark=False, width=1100):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    theme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": theme})
    browser.get_log("browser"), browser.get_log("performance")
    browser.get(path.as_uri())
    for _ in range(100):
        if browser.execute_script("return document.documentElement.dataset.drawn"):
            return
        time.sleep(0.1)
    pytest.fail("the figures were not drawn")


def requests(browser):
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    urls = [
        e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"
    ]
    return [url for url in urls if not url.startswith(("file:", "data:", "blob:"))]


def ground(browser):
    return browser.execute_script("return getComputedStyle(document.body).backgroundColor")


@pytest.mark.parametrize("number", range(8))
def test_pages_in_a_browser(number, browser, tmp_path):
    name, result, curves = list(results())[number]
    path = tmp_path / f"{name}.html"
    result.report(path, curves=curves)
    seen = set()
    for dark in (False, True):
        for width in (1100, 390):
            opened(browser, path, dark, width)
            assert browser.get_log("browser") == []
            assert requests(browser) == []
            wanted = len(browser.find_elements("css selector", ".figure"))
            drawn = browser.find_elements("css selector", ".figure:has(.main-svg)")
            assert len(drawn) == wanted > 0
            overflow = browser.execute_script(
                "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
            assert overflow <= 0, (name, width)
            seen.add(ground(browser))
            picture = browser.execute_cdp_cmd(
                "Page.captureScreenshot", {"captureBeyondViewport": True}
            )["data"]
            shot = tmp_path / f"{name}-{'dark' if dark else 'light'}-{width}.png"
            shot.write_bytes(base64.b64decode(picture))
            assert shot.stat().st_size > 10_000
    assert seen == {"rgb(255, 255, 255)", "rgb(13, 17, 23)"}
    assert browser.title.endswith("infosieve")


def test_hovering_tells_the_numbers(browser, tmp_path):
    from selenium.webdriver import ActionChains

    result = selection()
    path = tmp_path / "hover.html"
    result.report(path)
    opened(browser, path)
    point = browser.find_elements("css selector", "#figure-0 .scatterlayer .point")[0]
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", point)
    time.sleep(0.3)
    ActionChains(browser).move_to_element(point).pause(0.5).perform()
    hover = browser.find_elements("css selector", "#figure-0 .hoverlayer .hovertext")
    assert hover
    assert f"adds {result.steps[0].gain:.3f} nats" in hover[0].text
    assert browser.find_element("css selector", "h1").text.startswith(EVIL)
    heading = browser.find_elements("css selector", "script")
    assert all("alert" not in s.get_attribute("textContent")[:200] for s in heading)
