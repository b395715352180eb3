# SPDX-License-Identifier: Apache-2.0
"""Headless Chromium, controlled by Selenium."""

from __future__ import annotations

import base64
import contextlib
import os
import pathlib
import shutil
from collections.abc import Iterator
from typing import Any

from selenium import webdriver
from selenium.common import exceptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support import select

from tests import requirements
from tests.functional.processes import TIMEOUT, wait_for

#: Maximum number of Tab keys to reach an element.
MAX_TABS = 60


def require() -> None:
    """Skip the test without Chromium; fail it in CI."""
    requirements.programs('chromium', 'chromedriver')


@contextlib.contextmanager
def running(directory: pathlib.Path) -> Iterator[Browser]:
    """Run a browser with its profile in a directory."""
    require()
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which('chromium') or ''
    for argument in (
        '--headless=new',
        # Needed as root, and in containers without shared memory.
        '--no-sandbox',
        '--disable-dev-shm-usage',
        '--disable-gpu',
        '--hide-scrollbars',
        f'--user-data-dir={directory / "profile"}',
        # Connect to the service under test only.
        '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
        '--disable-background-networking',
    ):
        options.add_argument(argument)
    options.set_capability('goog:loggingPrefs', {'browser': 'ALL'})
    driver = webdriver.Chrome(
        options,
        Service(shutil.which('chromedriver'), log_output=os.devnull),
    )
    driver.set_script_timeout(TIMEOUT)
    try:
        yield Browser(driver)
    finally:
        driver.quit()


class Browser:
    """A browser window.

    :ivar driver: the WebDriver, for everything without a method here
    """

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver

    def open(self, url: str, width: int = 1280, height: int = 900) -> None:
        """Open a page in a window with a size in pixels."""
        self.driver.execute_cdp_cmd(
            'Emulation.setDeviceMetricsOverride',
            {
                'width': width,
                'height': height,
                'deviceScaleFactor': 1,
                'mobile': width < 600,
            },
        )
        self.driver.get(url)

    def text(self, selector: str = 'body') -> str:
        """Return the text of an element; '' while there is none."""
        try:
            return self.driver.find_element(By.CSS_SELECTOR, selector).text
        except (
            exceptions.NoSuchElementException,
            exceptions.StaleElementReferenceException,
        ):
            return ''

    def wait_for(
        self, text: str, selector: str = 'body', within: float = TIMEOUT
    ) -> None:
        """Wait until an element contains a text."""
        wait_for(
            f'{selector} shows {text!r}',
            lambda: text in self.text(selector),
            timeout=within,
            interval=0.2,
        )

    def wait_until_gone(self, text: str, selector: str = 'body') -> None:
        """Wait until an element no longer contains a text."""
        wait_for(
            f'{selector} shows {text!r} no more',
            lambda: text not in self.text(selector),
            interval=0.2,
        )

    def run(self, script: str, *arguments: object) -> Any:
        """Run JavaScript and return its result."""
        return self.driver.execute_script(script, *arguments)

    def click(self, text: str, selector: str = 'a, button') -> None:
        """Click the first displayed element whose text contains a text.

        Wait for the element, which may replace another at any time.
        """

        def clicked() -> bool:
            try:
                for element in self.driver.find_elements(
                    By.CSS_SELECTOR, selector
                ):
                    if text in element.text and element.is_displayed():
                        element.click()
                        return True
            except (
                exceptions.ElementClickInterceptedException,
                exceptions.StaleElementReferenceException,
            ):
                pass
            return False

        wait_for(f'{text!r} can be clicked', clicked, interval=0.1)

    def fill(self, selector: str, text: str) -> None:
        """Replace the text of an input, or choose the option of a select."""
        element = self.driver.find_element(By.CSS_SELECTOR, selector)
        if element.tag_name == 'select':
            select.Select(element).select_by_visible_text(text)
        else:
            element.clear()
            element.send_keys(text)

    def prefer(self, scheme: str) -> None:
        """Prefer a color scheme, ``light`` or ``dark``."""
        self.driver.execute_cdp_cmd(
            'Emulation.setEmulatedMedia',
            {'features': [{'name': 'prefers-color-scheme', 'value': scheme}]},
        )

    @contextlib.contextmanager
    def headers(self, headers: dict[str, str]) -> Iterator[None]:
        """Send further headers with each request."""
        self.driver.execute_cdp_cmd('Network.enable', {})

        def send(values: dict[str, str]) -> None:
            self.driver.execute_cdp_cmd(
                'Network.setExtraHTTPHeaders', {'headers': values}
            )

        send(headers)
        try:
            yield
        finally:
            send({})

    def screenshot(self, path: pathlib.Path) -> None:
        """Write an image of the window in PNG."""
        data = self.driver.execute_cdp_cmd('Page.captureScreenshot', {})
        path.write_bytes(base64.b64decode(data['data']))

    def violations(self, axe: pathlib.Path) -> list[str]:
        """Return the accessibility problems that axe-core finds in the page.

        :param axe: path of axe-core
        """
        # With the debugger, a content security policy allows the script.
        self.driver.execute_cdp_cmd(
            'Runtime.evaluate', {'expression': axe.read_text()}
        )
        result = self.driver.execute_async_script(
            'const done = arguments[0]; axe.run().then(done, done);'
        )
        return [
            f'{violation["id"]}: {violation["help"]}: {node["html"][:200]}'
            for violation in result['violations']
            for node in violation['nodes']
        ]

    def press(self, *keys: str) -> None:
        """Press keys in the focused element."""
        self.driver.switch_to.active_element.send_keys(*keys)

    def tab_to(self, text: str) -> None:
        """Press Tab until the focused element contains a text."""
        for _ in range(MAX_TABS):
            self.press(Keys.TAB)
            if text in self.focused():
                return
        raise AssertionError(f'{text!r} cannot be reached by keyboard')

    def focused(self) -> str:
        """Return the text of the focused element."""
        return str(self.run('return document.activeElement.textContent'))

    def errors(self) -> list[str]:
        """Return the errors logged since the last call."""
        return [
            entry['message']
            for entry in self.driver.get_log('browser')
            if entry['level'] == 'SEVERE'
        ]
