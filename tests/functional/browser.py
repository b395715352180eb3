# SPDX-License-Identifier: Apache-2.0
"""Chromium without a screen, as a person would use it."""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from selenium import webdriver
from selenium.common import exceptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.functional.processes import TIMEOUT, wait_for

#: Keys pressed at most on the way to an element.
MOST_TABS = 60


def require() -> None:
    """Skip the test if there is no Chromium; fail it where CI is set."""
    missing = [
        name
        for name in ('chromium', 'chromedriver')
        if shutil.which(name) is None
    ]
    if not missing:
        return
    reason = f'no {" and no ".join(missing)}; see `make services`'
    if os.environ.get('CI'):
        pytest.fail(reason)
    pytest.skip(reason)


@contextlib.contextmanager
def opened(directory: pathlib.Path) -> Iterator[Browser]:
    """Yield a browser whose profile is in a directory; end it after."""
    require()
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which('chromium') or ''
    for argument in (
        '--headless=new',
        # Root, in a container, without shared memory.
        '--no-sandbox',
        '--disable-dev-shm-usage',
        '--disable-gpu',
        f'--user-data-dir={directory / "profile"}',
        # Nobody but the service under test is asked.
        '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
        '--disable-background-networking',
    ):
        options.add_argument(argument)
    options.set_capability('goog:loggingPrefs', {'browser': 'ALL'})
    driver = webdriver.Chrome(
        options,
        Service(shutil.which('chromedriver'), log_output=os.devnull),
    )
    try:
        yield Browser(driver)
    finally:
        driver.quit()


class Browser:
    """One window.

    :ivar driver: for what this class does not say
    """

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver

    def look_at(self, url: str, width: int = 1280, height: int = 900) -> None:
        """Open a page in a window of a size, in pixels."""
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
        """Return what an element shows; '' while it is being replaced."""
        try:
            return self.driver.find_element(By.CSS_SELECTOR, selector).text
        except exceptions.StaleElementReferenceException:
            return ''

    def wait_for(
        self, text: str, selector: str = 'body', within: float = TIMEOUT
    ) -> None:
        """Wait until an element shows a text."""
        wait_for(
            f'{selector} shows {text!r}',
            lambda: text in self.text(selector),
            timeout=within,
            interval=0.2,
        )

    def wait_until_gone(self, text: str, selector: str = 'body') -> None:
        """Wait until an element no longer shows a text."""
        wait_for(
            f'{selector} shows {text!r} no more',
            lambda: text not in self.text(selector),
            interval=0.2,
        )

    def run(self, script: str, *arguments: object) -> Any:
        """Return what a script returns."""
        return self.driver.execute_script(script, *arguments)

    def press(self, *keys: str) -> None:
        """Press keys, wherever the focus is."""
        self.driver.switch_to.active_element.send_keys(*keys)

    def tab_to(self, text: str) -> None:
        """Press the tabulator until what has the focus shows a text."""
        for _ in range(MOST_TABS):
            self.press(Keys.TAB)
            if text in self.focused():
                return
        raise AssertionError(f'{text!r} cannot be reached by keyboard')

    def focused(self) -> str:
        """Return the text of what has the focus."""
        return str(self.run('return document.activeElement.textContent'))

    def logged_errors(self) -> list[str]:
        """Return the errors that the page has logged since the last time."""
        return [
            entry['message']
            for entry in self.driver.get_log('browser')
            if entry['level'] == 'SEVERE'
        ]
