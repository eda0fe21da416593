"""The viewer's pages in a real browser: they load, search, link, zoom, and can be seen."""

from __future__ import annotations

import base64
import shutil
import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.report import pages

from graphwright.report import viewer

selenium = pytest.importorskip("selenium", reason="selenium drives the browser")
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(
    not (CHROMIUM and DRIVER), reason="there is no Chromium with its driver")
SWITCHES = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--window-size=1400,900",
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A browser without a window, with a profile of its own."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for switch in SWITCHES:
        options.add_argument(switch)
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('profile')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The page of each program."""
    folder = tmp_path_factory.mktemp("pages")
    makers: dict[str, Callable[[], Any]] = {
        "block": pages.block, "breaks": pages.with_breaks, "large": pages.of_large_graph}
    found = {}
    for name, make in makers.items():
        found[name] = folder / f"{name}.html"
        viewer.write(found[name], make())
    return found


@pytest.fixture
def opened(browser: Any, files: dict[str, Path]) -> Iterator[Callable[[str], Any]]:
    """Opens a page; at the end the console must have no complaint."""

    def open_page(name: str) -> Any:
        browser.get(files[name].as_uri())
        return browser

    browser.get_log("browser")
    yield open_page
    assert browser.get_log("browser") == []


def keys(browser: Any, *names: str) -> None:
    """Press keys, to what has the focus."""
    from selenium.webdriver import ActionChains, Keys

    chain = ActionChains(browser)
    for name in names:
        chain.send_keys(getattr(Keys, name, name))
    chain.perform()


def lit(browser: Any, style: str = "on") -> set[str]:
    """The keys of what is lit up ("on") or selected ("pin")."""
    found: list[str] = browser.execute_script(
        "return [...document.querySelectorAll(`[data-k].${arguments[0]}`)]"
        ".map(element => element.dataset.k)", style)
    return set(found)


def picture(png: bytes) -> list[bytes]:
    """The pixels of a PNG of 8 bits a channel, by the filters of the format's definition."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    width, height, _, kind = struct.unpack(">IIBB", png[16:26])
    size, data, at = {2: 3, 6: 4}[kind], b"", 8
    while at < len(png):
        length, name = struct.unpack(">I4s", png[at:at + 8])
        data += png[at + 8:at + 8 + length] if name == b"IDAT" else b""
        at += 12 + length
    raw, rows, line = zlib.decompress(data), [], bytearray(width * size)
    for row in range(height):
        start = row * (width * size + 1)
        line = unfiltered(raw[start], raw[start + 1:start + 1 + width * size], line, size)
        rows += [bytes(line[n:n + 3]) for n in range(0, width * size, size)]
    return rows


def unfiltered(kind: int, line: bytes, above: bytearray, size: int) -> bytearray:
    """A row of a PNG from its filtered bytes and the row above."""
    out = bytearray(line)
    for n in range(len(out) if kind else 0):
        left = out[n - size] if n >= size else 0
        up, corner = above[n], above[n - size] if n >= size else 0
        if kind == 4:
            guess = left + up - corner
            best = min((abs(guess - v), k, v) for k, v in enumerate((left, up, corner)))[2]
        out[n] = (out[n] + (left, up, (left + up) // 2, best)[kind - 1]
                  if kind == 4 else out[n] + (left, up, (left + up) // 2)[kind - 1]) & 255
    return out


def test_pointing_at_a_line_lights_up_its_nodes_and_kernels(opened: Any) -> None:
    from selenium.webdriver import ActionChains

    browser = opened("block")
    line = browser.find_element("css selector", ".src[data-k]")
    number = line.find_element("css selector", ".no")
    ActionChains(browser).move_to_element(number).perform()
    found = lit(browser)
    assert {key[0] for key in found} == {"L", "n", "k"}
    assert line.get_attribute("data-k") in found
    assert not lit(browser, "pin")


def test_a_click_selects_and_escape_clears(opened: Any) -> None:
    browser = opened("block")
    kernel = browser.find_element("css selector", ".step")
    kernel.find_element("css selector", "h4").click()
    assert lit(browser, "pin") == {kernel.get_attribute("data-k")}
    assert kernel.get_attribute("aria-selected") == "true"
    assert any(key.startswith("L") for key in lit(browser))
    status = browser.find_element("css selector", "[role=status]").text
    assert status.startswith(kernel.get_attribute("data-t")) and "source line" in status
    keys(browser, "ESCAPE")
    assert not lit(browser, "pin")


def test_search_finds_a_node_and_goes_there(opened: Any) -> None:
    browser = opened("block")
    keys(browser, "/")
    keys(browser, *"gelu")
    hits = browser.find_elements("css selector", "#hits [role=option]")
    assert hits and "gelu" in hits[0].text
    keys(browser, "ARROW_DOWN", "ENTER")
    (key,) = lit(browser, "pin")
    assert not browser.find_element("id", "hits").is_displayed()
    assert browser.switch_to.active_element.get_attribute("data-k") == key
    browser.find_element("id", "q").clear()
    browser.find_element("id", "q").send_keys("no such thing")
    assert "Nothing has this name" in browser.find_element("id", "hits").text


def test_tabs_and_edges_follow_the_arrow_keys(opened: Any) -> None:
    browser = opened("block")
    browser.find_element("id", "graph0_0_tab").click()
    keys(browser, "ARROW_RIGHT")
    assert browser.find_element("id", "graph0_1").is_displayed()
    assert not browser.find_element("id", "graph0_0").is_displayed()
    keys(browser, "HOME")
    node = browser.find_element("css selector", ".gw-node.gw-op")
    browser.execute_script("arguments[0].focus()", node)
    keys(browser, "ARROW_DOWN")
    below = browser.switch_to.active_element
    edges = browser.execute_script(
        "return [...document.querySelectorAll('.gw-edges path')].map(path => path.dataset.e)")
    numbers = [key.get_attribute("data-k").removeprefix("n0c") for key in (node, below)]
    assert " ".join(numbers) in edges
    keys(browser, "ENTER")
    assert lit(browser, "pin") == {below.get_attribute("data-k")}
    assert {key[0] for key in lit(browser)} == {"n", "L", "k"}


def test_buffers_of_the_memory_plan_are_reached_by_keys(opened: Any) -> None:
    browser = opened("block")
    browser.find_element("id", "graph0_3_tab").click()
    first, second = browser.find_elements("css selector", "#graph0_3 [data-k]")[:2]
    browser.execute_script("arguments[0].focus()", first)
    keys(browser, "ARROW_DOWN", "ENTER")
    assert lit(browser, "pin") == {second.get_attribute("data-k")}
    assert any(key.startswith("k") for key in lit(browser))


def test_theme_and_motion_follow_the_system_and_the_button(opened: Any) -> None:
    browser = opened("breaks")
    colour = "return getComputedStyle(document.documentElement).backgroundColor"
    light = browser.execute_script(colour)
    browser.find_element("id", "theme").click()
    dark = browser.execute_script(colour)
    assert (light, dark) == ("rgb(255, 255, 255)", "rgb(20, 24, 29)")
    media = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    media["features"].append({"name": "prefers-reduced-motion", "value": "reduce"})
    moves = "return getComputedStyle(document.querySelector('.src')).transitionDuration"
    assert browser.execute_script(moves) != "0s"
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    browser.refresh()
    assert browser.execute_script(colour) == dark
    assert browser.execute_script(moves) == "0s"
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_breaks_are_shown_with_their_source(opened: Any) -> None:
    browser = opened("breaks")
    (tab,) = [tab for tab in browser.find_elements("css selector", "[role=tab]")
              if tab.text == "Breaks and guards"]
    tab.click()
    text = browser.find_element("css selector", ".tree").text
    assert "GB0003 graph break" in text
    assert "<script>alert('&')</script>" in text


def test_a_large_graph_is_drawn_zoomed_and_dragged(opened: Any) -> None:
    from selenium.webdriver import ActionChains

    browser = opened("large")
    canvas = browser.find_element("css selector", ".canvas")
    assert len(canvas.find_elements("css selector", ".gw-node")) == pages.NODES + 2
    where = "return document.querySelector('.gw-zoom').getAttribute('transform')"
    states = [browser.execute_script(where)]
    for action in (
        lambda: browser.find_element("css selector", "[data-zoom='1.25']").click(),
        lambda: ActionChains(browser).drag_and_drop_by_offset(canvas, 60, 40).perform(),
        lambda: browser.find_element("css selector", "[data-zoom=fit]").click(),
    ):
        action()
        states.append(browser.execute_script(where))
    assert len(set(states)) == 4
    inside = browser.execute_script(
        "const box = document.querySelector('.canvas').getBoundingClientRect();"
        "return [...document.querySelectorAll('.canvas .gw-node')].every(node => {"
        "const at = node.getBoundingClientRect(); return at.left >= box.left - 1 &&"
        "at.right <= box.right + 1 && at.top >= box.top - 1 && at.bottom <= box.bottom + 1})")
    assert inside
    assert not lit(browser, "pin")


@pytest.mark.parametrize("name", ["block", "breaks", "large"])
def test_a_narrow_screen_shows_a_picture_and_no_wider_page(
    browser: Any, opened: Any, name: str
) -> None:
    narrow = {"width": 400, "height": 700, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", narrow)
    try:
        opened(name)
        width = browser.execute_script("return document.documentElement.scrollWidth")
        assert width <= 400
        small = {"x": 0, "y": 0, "width": 400, "height": 700, "scale": 0.25}
        shot = browser.execute_cdp_cmd("Page.captureScreenshot", {"clip": small})
        pixels = picture(base64.b64decode(shot["data"]))
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert len(set(pixels)) > 20
    assert pixels.count(b"\xff\xff\xff") < 0.95 * len(pixels)
