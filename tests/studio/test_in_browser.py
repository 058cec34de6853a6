"""The studio in a real browser: a whole session from a table file to a saved model."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from provetree import load_model
from provetree.cli.studio import table_of
from provetree.studio.serve import Studio, open_studio
from provetree.studio.wishes import Wishes
from testkit.browser import SECONDS, chromium, why_not
from testkit.studio_cases import NASTY, done, frame, hard_table, small_table

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytestmark = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def opened() -> Iterator[Studio]:
    found, _ = open_studio(small_table(), Wishes(max_depth=2))
    done(found.session, figures=True)
    yield found
    found.stop()


def shown(browser: Any, studio: Studio, **settings: Any) -> Any:
    """A page of the studio that remembers what goes wrong in it."""
    settings.setdefault("viewport", {"width": 1300, "height": 900})
    page = browser.new_page(**settings)
    page.problems = []
    page.requests = []
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.on("dialog", lambda dialog: page.problems.append(f"dialog {dialog.message}"))
    page.on(
        "console",
        lambda told: page.problems.append(told.text) if told.type in ("error", "warning") else None,
    )
    page.on("request", lambda request: page.requests.append(request.url))
    page.goto(studio.url)
    page.wait_for_selector("#stage svg")
    return page


def until(holds: Callable[[], Any]) -> Any:
    """Wait until something holds, and return it; the page may not evaluate strings itself."""
    end = time.monotonic() + SECONDS
    while not (found := holds()):
        assert time.monotonic() < end, "the page did not get there"
        time.sleep(0.02)
    return found


def state(page: Any) -> Any:
    return page.evaluate("window.studio.state()")


def settled(page: Any, n_versions: int) -> Any:
    """Wait until there are so many versions and nothing is searched; return the current one."""

    def is_there() -> Any:
        now = state(page)
        if now["search"] or len(now["versions"]) != n_versions:
            return None
        return next(v for v in now["versions"] if v["number"] == now["current"])

    return until(is_there)


def flags(path: Path) -> dict[str, Any]:
    return {
        "data": str(path),
        "target": "answer",
        "test_share": 0.25,
        "seed": 0,
        "ignore": (),
        "categorical": (),
        "task": None,
        "class_weight": None,
    }


def test_a_whole_session_from_a_table_to_a_saved_model(browser: Any, tmp_path: Path) -> None:
    X, y = frame(300, 3)
    X["answer"] = y
    data, kept = tmp_path / "data.csv", tmp_path / "data.studio.json"
    X.to_csv(data, index=False)
    table = table_of(flags(data))
    studio, _ = open_studio(table, Wishes(max_depth=2), session_file=kept)
    done(studio.session, figures=True)
    page = shown(browser, studio)
    assert page.inner_text("h1") == "A tree for answer"
    best = settled(page, 1)
    assert "no tree of depth 2 makes fewer" in page.inner_text("#sentence")

    # Another question, with the cost that was told.
    page.click('#stage .node[data-node="0"]')
    page.wait_for_selector(".others li")
    until(lambda: "proven" in page.inner_text("#others"))
    words = page.inner_text('.others li:has-text("income") .cost')
    page.click('.others li:has-text("income") button')
    forced = settled(page, 2)
    assert words == f"+{forced['cost'] - best['cost']} errors"
    assert page.text_content('#stage .node[data-node="0"] .name >> nth=0') == "income"
    assert page.text_content('#stage .node[data-node="0"] .tag') == "kept"
    assert f"Your rules cost\n{words[1:]}" in page.inner_text("#tiles")

    # A forbidden column, on top of that; and back again.
    page.click('#column-list button[aria-label="Forbid noise"]')
    forbidden = settled(page, 3)
    assert "not 'noise'" in forbidden["step"]
    until(lambda: "never noise" in page.inner_text("#rules"))
    page.click("#undo")
    until(lambda: state(page)["current"] == 2)
    page.keyboard.press("Control+z")
    until(lambda: state(page)["current"] == 1)
    assert page.query_selector("#stage .tag") is None
    page.click('#version-list .go:has-text("3:")')
    until(lambda: state(page)["current"] == 3)

    # Named, compared, and saved.
    page.click('button[aria-label="Name version 3"]')
    page.fill("#name", "what we <b>agreed</b> on")
    page.keyboard.press("Enter")
    until(lambda: "what we <b>agreed</b> on" in page.inner_text("#version-list"))
    page.click('button[aria-label^="Compare version 1"]')
    page.wait_for_selector("#compare .pair svg >> nth=1")
    assert "They decide differently for" in page.inner_text("#compare")
    page.click("#save summary")
    with page.expect_download() as download:
        page.click('[data-save="model"]')
    assert download.value.suggested_filename == "answer-version-3.json"
    download.value.save_as(tmp_path / "model.json")
    model = load_model(tmp_path / "model.json")
    assert model.tree == studio.session.version(3).tree
    predicted = model.predict(table.train)
    assert int((predicted != table.y_train).sum()) == forbidden["cost"]

    # Stopped and started again: the page that is still open goes on.
    studio.stop()
    until(lambda: page.is_visible("#lost"))
    page.click("#undo")
    until(lambda: "was not sent" in page.inner_text("#fault"))
    again, note = open_studio(table_of(flags(data)), session_file=kept)
    assert note is not None
    until(lambda: not page.is_visible("#lost"))
    assert state(page)["current"] == 3
    page.click("#undo")
    until(lambda: state(page)["current"] == 2)
    assert again.session.current == 2

    # The file changes under the studio.
    data.write_text(data.read_text() + "\n30,3000,S,1,yes\n")
    until(lambda: page.is_visible("#changed"))
    assert "data.csv has changed" in page.inner_text("#changed")
    beyond = [url for url in page.requests if not url.startswith(("http://127.0.0.1:", "blob:"))]
    assert [url for url in beyond if not url.startswith("data:")] == []
    # While the server was away the browser itself said that it could not connect.
    assert [p for p in page.problems if "ERR_CONNECTION" not in p and "ERR_" not in p] == []
    page.close()
    again.stop()


def test_names_of_a_table_never_run(browser: Any, opened: Studio) -> None:
    page = shown(browser, opened)
    page.click('#stage .node[data-node="0"]')
    page.wait_for_selector(".others li")
    assert NASTY in page.inner_text("#column-list")
    assert page.query_selector("main img, main i, main b:not(.tile b), main script") is None
    assert page.problems == []
    page.close()


def threshold_of(opened: Studio, now: Any) -> float:
    return float(opened.session.version(now["number"]).tree.threshold[0])


def test_a_threshold_follows_the_slider(browser: Any, opened: Studio) -> None:
    opened.session.go(1)
    split = {"column": 1, "threshold": 3000.0}
    opened.session.wish({"do": "take", "path": "", "split": split})
    done(opened.session)
    before = len(opened.session.versions)
    page = shown(browser, opened)
    page.click('#stage .node[data-node="0"]')
    page.wait_for_selector("#threshold")
    page.focus("#threshold")
    place = "document.getElementById('threshold').value"
    asked = int(page.evaluate(place))
    # Three places at once, as a hand moves it; single keys may be far apart on a busy machine.
    page.evaluate(
        "(at) => { const slider = document.getElementById('threshold'); for (let i = 1; i < 4; i++)"
        "{ slider.value = String(at + i); slider.dispatchEvent(new Event('input')); } }",
        asked,
    )
    now = settled(page, before + 1)
    assert int(page.evaluate(place)) == asked + 3
    earlier = threshold_of(opened, now)
    page.keyboard.press("ArrowRight")
    until(lambda: opened.session.shown().tree.threshold[0] > earlier)
    # Of the same movement or of a new one, as the time between them was short or long.
    before = len(opened.session.versions) - 1
    now = settled(page, before + 1)
    assert int(page.evaluate(place)) == asked + 4
    told = page.inner_text("#threshold-words")
    tree = opened.session.version(now["number"]).tree
    left = int(tree.left[0])
    assert "yes" in told
    assert tree.n_samples[left] > 0
    page.fill("#exact", "2900,5")
    page.click("#moving button")
    now = settled(page, before + 2)
    assert opened.session.version(now["number"]).tree.threshold[0] == 2900.5
    page.fill("#exact", "many")
    page.click("#moving button")
    until(lambda: "is a number" in page.inner_text("#fault"))
    assert page.problems == []
    page.close()


def test_the_keyboard_is_enough(browser: Any, opened: Studio) -> None:
    opened.session.go(1)
    page = shown(browser, opened)
    before = len(opened.session.versions)
    page.focus("#zoom-fit")
    page.keyboard.press("Tab")
    focused = "document.activeElement.dataset.path"
    assert page.evaluate(focused) == ""
    page.keyboard.press("ArrowDown")
    assert page.evaluate(focused) == "L"
    page.keyboard.press("ArrowRight")
    assert page.evaluate(focused) == "R"
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "node"
    page.wait_for_selector(".others li")
    until(lambda: "proven" in page.inner_text("#others"))
    reached = "document.activeElement.getAttribute('aria-label') || ''"
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate(reached).startswith("Take "):
            break
    page.keyboard.press("Enter")
    settled(page, before + 1)
    said = until(lambda: page.inner_text("#say"))
    assert "Your rules cost" in said
    page.focus("#leaves")
    page.keyboard.press("ArrowLeft")
    settled(page, before + 2)
    assert page.get_attribute("#leaves", "aria-valuetext").startswith("3 leaves")
    assert page.problems == []
    page.close()


def test_a_second_tab_sees_the_same(browser: Any, opened: Studio) -> None:
    opened.session.go(1)
    one, two = shown(browser, opened), shown(browser, opened)
    before = len(opened.session.versions)
    one.click('#column-list button[aria-label="Forbid income"]')
    first, second = settled(one, before + 1), settled(two, before + 1)
    assert first["number"] == second["number"]
    two.close()
    one.click("#undo")
    until(lambda: state(one)["current"] == 1)
    one.close()


def test_a_limit_that_is_reached(browser: Any) -> None:
    studio, _ = open_studio(hard_table(), Wishes(max_depth=4), seconds=1.0)
    page = shown(browser, studio)
    until(lambda: page.inner_text("#badge") == "Not proven")
    assert "so far" in page.inner_text("#sentence")
    # Twice as long as before: so long that no busy page is too late to see it.
    first = studio.session.version(1)
    studio.session.versions[1] = replace(first, limit=1800.0)
    page.click("#search-on")
    until(lambda: page.inner_text("#badge") == "Searching")
    until(lambda: "Proven so far: no tree makes fewer than" in page.inner_text("#gap-words"))
    page.select_option("#depth", "1")  # a new wish ends the search
    until(lambda: page.inner_text("#badge") == "Proven")
    assert page.problems == []
    page.close()
    studio.stop()


def test_a_wrong_token_is_refused(browser: Any, opened: Studio) -> None:
    page = browser.new_page()
    answer = page.goto(opened.url + "x")
    assert answer.status == 403
    assert "whole address" in page.inner_text("body")
    page.close()


def test_pages_of_other_origins_are_refused(browser: Any, opened: Studio) -> None:
    """A page elsewhere that even knows the token can neither read nor change anything."""
    from http.server import HTTPServer, SimpleHTTPRequestHandler
    from threading import Thread

    class Quiet(SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<p>elsewhere</p>")

        def log_message(self, *_: object) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Quiet)
    Thread(target=server.serve_forever, daemon=True).start()
    page = browser.new_page()
    page.goto(f"http://127.0.0.1:{server.server_address[1]}/")
    ask = """async ([address, token]) => {
      const found = [];
      for (const [path, settings] of [
        ["/api/state", { headers: { "X-Studio-Token": token } }],
        ["/api/undo", { method: "POST", mode: "no-cors", body: "{}" }],
        ["/api/wish", { method: "POST", headers: { "X-Studio-Token": token,
          "Content-Type": "application/json" }, body: '{"do": "depth", "depth": 0}' }],
      ]) {
        try { const answer = await fetch(address + path, settings); found.push(answer.status); }
        catch (error) { found.push("refused"); }
      }
      return found;
    }"""
    before = opened.session.revision
    home = f"http://127.0.0.1:{opened.port}"
    assert page.evaluate(ask, [home, opened.token]) == ["refused"] * 3
    assert opened.session.revision == before
    page.close()
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessibility_rules(browser: Any, opened: Studio, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    opened.session.go(1)
    opened.session.wish({"do": "forbid", "column": 3})
    done(opened.session, figures=True)
    page = shown(browser, opened, color_scheme=scheme, bypass_csp=True)
    page.click('#stage .node[data-node="0"]')
    page.wait_for_selector(".others li")
    page.click('button[aria-label^="Compare version 1 "]')
    page.wait_for_selector("#compare .pair svg >> nth=1")
    page.click("#save summary")
    found = axe.Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    page.close()


@pytest.mark.parametrize("width", [320, 390, 800])
def test_narrow_pages_do_not_scroll_sideways(browser: Any, opened: Studio, width: int) -> None:
    page = shown(browser, opened, viewport={"width": width, "height": 800})
    page.click('#stage .node[data-node="0"]')
    page.wait_for_selector(".others li")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    buttons = [b.bounding_box() for b in page.query_selector_all("button") if b.is_visible()]
    inside = [b["x"] >= 0 and b["x"] + b["width"] <= width + 1 for b in buttons if b]
    assert all(inside)
    page.close()


def test_colours_can_be_switched(browser: Any, opened: Studio) -> None:
    page = shown(browser, opened, color_scheme="dark")
    ink = "getComputedStyle(document.body).color"
    before = page.evaluate(ink)
    assert page.inner_text("#theme") == "Light colours"
    page.click("#theme")
    assert page.evaluate(ink) != before
    page.close()


def test_the_saved_session_is_plain_json(opened: Studio) -> None:
    json.dumps(opened.session.to_data(), allow_nan=False)
