"""Headless Chromium, driven by Selenium: pages as a person meets them.

Concept: a Page is one URL at one width and in one theme. The browser and its
driver are Debian's. Nothing is fetched: Selenium is told where both are.
"""

from __future__ import annotations

import base64
import contextlib
import json
import pathlib
import shutil
from collections.abc import Iterator
from typing import Any

from selenium import webdriver
from selenium.common.exceptions import TimeoutException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

CHECKS = (pathlib.Path(__file__).parent / "page_checks.js").read_text()


def find_programs() -> tuple[str, str] | None:
    """Chromium and its driver; None where one is missing."""
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    return (browser, driver) if browser and driver else None


class Page:
    """An open page. Sizes are CSS pixels."""

    def __init__(self, driver: webdriver.Chrome):
        self._driver = driver

    def show(self, url: str, *, width: int = 1280, height: int = 900,
             theme: str = "light", media: str = "screen") -> None:
        """Opens the URL and waits until it says that it is drawn."""
        self._command("Emulation.setDeviceMetricsOverride",
                      width=width, height=height, deviceScaleFactor=1,
                      mobile=width < 600)
        self._command("Emulation.setEmulatedMedia", media=media, features=[
            {"name": "prefers-color-scheme", "value": theme},
            {"name": "prefers-reduced-motion", "value": "reduce"}])
        self._driver.get_log("browser")  # of an earlier page
        self._driver.get(url)
        try:
            WebDriverWait(self._driver, 30).until(
                lambda driver: driver.execute_script(
                    "return document.documentElement.dataset.drawn"))
        except TimeoutException:
            raise AssertionError(
                f"{url} was not drawn: {self.console()}") from None

    def open(self, url: str) -> None:
        """A page of others, which says in its own way that it is drawn."""
        self._command("Emulation.setDeviceMetricsOverride",
                      width=1280, height=900, deviceScaleFactor=1, mobile=False)
        self._driver.get(url)

    def forget(self) -> None:
        """What the browser keeps of pages: the next one comes to a stranger."""
        self._command("Network.clearBrowserCache")
        self._driver.get("about:blank")

    def await_true(self, expression: str) -> None:
        try:
            WebDriverWait(self._driver, 30, poll_frequency=0.05).until(
                lambda driver: driver.execute_script(f"return {expression};"))
        except TimeoutException:
            raise AssertionError(f"never true: {expression}") from None

    def click(self, selector: str) -> None:
        self._driver.execute_script(
            "document.querySelector(arguments[0]).click();", selector)

    def ask(self, script: str, *arguments: Any) -> Any:
        return self._driver.execute_script(script, *arguments)

    def ask_async(self, script: str, *arguments: Any) -> Any:
        """What the script hands to the function that is its last argument."""
        return self._driver.execute_async_script(script, *arguments)

    def check(self, name: str) -> Any:
        """The faults that a function of page_checks.js finds."""
        return self.ask(f"{CHECKS}\nreturn {name}();")

    def console(self) -> list[str]:
        return [entry["message"] for entry in self._driver.get_log("browser")]

    def find(self, selector: str) -> list[WebElement]:
        return self._driver.find_elements(By.CSS_SELECTOR, selector)

    def press(self, *keys: str) -> WebElement:
        """Types into whatever has the focus; what has it then."""
        self._driver.switch_to.active_element.send_keys(*keys)
        return self._driver.switch_to.active_element

    def save_picture(self, path: pathlib.Path, *, whole: bool = True) -> None:
        """The whole page, however long, or what the window shows of it."""
        picture = self._command("Page.captureScreenshot", format="png",
                                captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(picture["data"]))

    def save_pdf(self, path: pathlib.Path) -> None:
        """As it is printed, whatever medium was asked for."""
        self._command("Emulation.setEmulatedMedia", media="")
        printed = self._command("Page.printToPDF", printBackground=True)
        path.write_bytes(base64.b64decode(printed["data"]))

    def _command(self, command: str, **arguments: Any) -> dict[str, Any]:
        return self._driver.execute_cdp_cmd(command, arguments)


@contextlib.contextmanager
def open_browser() -> Iterator[Page]:
    programs = find_programs()
    assert programs, "chromium and chromium-driver are missing: " \
        "run cmake/install_packages.sh check"
    options = webdriver.ChromeOptions()
    options.binary_location = programs[0]
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu",
                 "--disable-dev-shm-usage", "--hide-scrollbars",
                 "--allow-file-access-from-files"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(
        options=options, service=Service(programs[1]))
    try:
        yield Page(driver)
    finally:
        driver.quit()


TAB = Keys.TAB
ARROW_RIGHT = Keys.ARROW_RIGHT
ESCAPE = Keys.ESCAPE
ENTER = Keys.ENTER


def dump(value: Any) -> str:
    """For messages of failed tests."""
    return json.dumps(value, indent=1)
