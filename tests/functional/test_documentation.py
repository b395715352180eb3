# SPDX-License-Identifier: Apache-2.0
"""The built documentation in a browser."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest

from tests import downloads
from tests.functional import browser as browsers

pytestmark = pytest.mark.chromium

ROOT = pathlib.Path(__file__).parents[2]

#: The target of ``make docs``, so that the build is quick after it.
HTML = ROOT / 'doc' / 'build' / 'html'

#: A page of each kind, with images, diagrams, wide tables and code.
PAGES = (
    'index',
    'start',
    'sizing',
    'rpc',
    'protocol',
    'configuration',
    'api/clusters',
    'commands/fleet',
    'state-of-versioned-objects',
)

#: Width of a window in pixels, and color scheme.
WINDOWS = ((390, 'dark'), (1440, 'light'))

#: Timeouts of the download of axe-core and of the build, in seconds.
DOWNLOAD_TIMEOUT, BUILD_TIMEOUT = 120, 600


def test_pages_fit_the_window_and_have_no_accessibility_problem(
    tmp_path: pathlib.Path,
) -> None:
    axe = downloads.require('axe', DOWNLOAD_TIMEOUT)
    subprocess.run(
        [
            *(sys.executable, '-m', 'sphinx', '-q', '-b', 'html'),
            *('doc/source', str(HTML)),
        ],
        cwd=ROOT,
        check=True,
        timeout=BUILD_TIMEOUT,
    )
    problems = []
    with browsers.running(tmp_path) as page:
        for width, scheme in WINDOWS:
            page.prefer(scheme)
            for name in PAGES:
                page.open(f'{(HTML / name).as_uri()}.html', width)
                problems += [
                    f'{name} at {width}: {text}'
                    for text in page.violations(axe)
                ]
                needed = page.run('return document.body.scrollWidth')
                if needed > width:
                    problems.append(f'{name} is {needed} wide at {width}')
    assert problems == []
