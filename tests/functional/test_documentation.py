# SPDX-License-Identifier: Apache-2.0
"""The built documentation in a browser."""

from __future__ import annotations

import functools
import http.server
import pathlib
import shutil
import subprocess
import sys
from urllib.parse import quote

import pytest

from tests import downloads, http_server, machine_speed
from tests.functional import browser as browsers
from tests.functional.browser import Browser
from tests.functional.processes import wait_for

pytestmark = pytest.mark.chromium

ROOT = pathlib.Path(__file__).parents[2]

#: The target of ``make docs``, so that the build is quick after it.
HTML = ROOT / 'doc' / 'build' / 'html'

#: Folders with the sources of the pages.
SOURCES = (
    *('doc/source', 'doc/extensions', 'api', 'engine', 'vobjects'),
    'distributions',
)

#: Pages with images, diagrams, wide tables and code.
PAGES = ('start', 'metrics', 'upgrades', 'api/clusters')

#: A page of each other kind.
MORE_PAGES = (
    'index',
    'sizing',
    'clusters',
    'rpc',
    'protocol',
    'configuration',
    'commands/fleet',
    'state-of-versioned-objects',
)

#: Width of a window in pixels, and color scheme.
WINDOWS = ((390, 'dark'), (1440, 'light'))

#: Timeouts of the download of axe-core and of the build, in seconds.
DOWNLOAD_TIMEOUT, BUILD_TIMEOUT = 120, 600


def is_built() -> bool:
    """Return whether the documentation is newer than all of its sources."""
    index = HTML / 'searchindex.js'
    return index.exists() and not any(
        path.stat().st_mtime > index.stat().st_mtime
        for folder in SOURCES
        for path in (ROOT / folder).rglob('*')
        if path.suffix in ('.css', '.js', '.py', '.rst', '.yaml')
    )


@pytest.fixture(scope='module', autouse=True)
def _build() -> None:
    browsers.require()
    if is_built():
        return
    subprocess.run(
        [
            *(sys.executable, '-m', 'sphinx', '-q', '-b', 'html'),
            *('doc/source', str(HTML)),
        ],
        cwd=ROOT,
        check=True,
        timeout=BUILD_TIMEOUT * machine_speed.scale(),
    )


@pytest.mark.parametrize(
    'pages',
    [
        pytest.param(PAGES, id='some'),
        pytest.param(MORE_PAGES, id='more', marks=pytest.mark.long),
    ],
)
def test_pages_fit_the_window_and_have_no_accessibility_problem(
    window: Browser, pages: tuple[str, ...]
) -> None:
    axe = downloads.require('axe', DOWNLOAD_TIMEOUT)
    problems = []
    for width, scheme in WINDOWS:
        window.prefer(scheme)
        for name in pages:
            window.open(f'{(HTML / name).as_uri()}.html', width)
            problems += [
                f'{name} at {width}: {text}' for text in window.violations(axe)
            ]
            needed = window.run('return document.body.scrollWidth')
            if needed > width:
                problems.append(f'{name} is {needed} wide at {width}')
    assert problems == []


@pytest.mark.parametrize(
    ('query', 'expected'),
    [
        ('406', 'errors/microversion-unsupported.html'),
        ('add a field', 'adding.html'),
    ],
)
def test_search_shows_the_page_among_the_first_results(
    window: Browser, query: str, expected: str
) -> None:
    address = f'{(HTML / "search.html").as_uri()}?q={quote(query)}'
    window.open(address, 1440)
    found = wait_for(
        'results',
        lambda: window.run(
            "return [...document.querySelectorAll('ul.search li a')]"
            ".map((link) => link.href.replace(/[?#].*/, ''))"
        ),
    )
    first = found[:5]
    assert any(link.endswith(f'/{expected}') for link in first), first


def collect(html: pathlib.Path, site: pathlib.Path) -> None:
    """Add built documentation to a site."""
    command = (sys.executable, ROOT / 'tools' / 'site', html, site)
    subprocess.run(
        command, check=True, timeout=BUILD_TIMEOUT * machine_speed.scale()
    )


def test_site_when_it_has_two_releases_offers_the_other_one(
    window: Browser, tmp_path: pathlib.Path
) -> None:
    site, newer = tmp_path / 'site', tmp_path / 'newer'
    collect(HTML, site)
    (release,) = (path.parent.name for path in site.glob('*/index.html'))
    shutil.copytree(HTML, newer)
    options = newer / '_static/documentation_options.js'
    options.write_text(options.read_text().replace(release, '10.0.0'))
    collect(newer, site)
    serve = functools.partial(
        http.server.SimpleHTTPRequestHandler, directory=str(site)
    )
    with http_server.serving(serve) as port:
        window.open(f'http://127.0.0.1:{port}/{release}/start.html', 1440)
        window.wait_for('10.0.0', '.releases')
        window.fill('.releases select', '10.0.0')
        window.wait_for('Getting started', 'h1')
        root = f'http://127.0.0.1:{port}'
        wait_for(
            'the page of the other release is shown',
            lambda: window.driver.current_url == f'{root}/10.0.0/start.html',
        )
        window.open(f'{root}/')
        wait_for(
            'the newest release is shown',
            lambda: window.driver.current_url == f'{root}/10.0.0/index.html',
        )
