# SPDX-License-Identifier: Apache-2.0
"""The status page ``/ui`` in a browser."""

from __future__ import annotations

import functools
import http.server
import pathlib
from collections.abc import Iterator

import pytest
from selenium.webdriver.common.keys import Keys

from tests import http_server
from tests.functional import browser as browsers
from tests.functional.browser import Browser
from tests.functional.deployments import Deployment, Platform, deployed
from tests.functional.rest import NEWEST, RestClient, unique
from tests.upgrade import mixed_fleet

pytestmark = pytest.mark.chromium

#: Width of a window in pixels.
PHONE, DESKTOP = 390, 1280

EVIL = '<img src=x onerror="document.title=\'taken\'">'


@pytest.fixture(scope='module')
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    browsers.require()
    directory = tmp_path_factory.mktemp('ui')
    with deployed(Platform('embedded', 'sqlite'), directory) as deployment:
        deployment.start_engines(1)
        deployment.start_api()
        yield deployment


@pytest.fixture(scope='module')
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browsers.running(tmp_path_factory.mktemp('browser')) as browser:
        yield browser


@pytest.fixture
def client(site: Deployment) -> Iterator[RestClient]:
    with site.rest() as rest:
        yield rest


@pytest.fixture
def page(site: Deployment, window: Browser) -> Iterator[Browser]:
    """The page on a desktop, which must not log errors."""
    window.open(f'{site.url}/ui')
    window.wait_for('Up to date', '#state')
    window.errors()
    yield window
    assert window.errors() == []


@pytest.fixture(scope='module')
def cluster(site: Deployment) -> tuple[str, str]:
    """ID and name of a cluster of two nodes."""
    with site.rest() as rest:
        id_ = rest.create_cluster(rest.create_profile(), 2)
        resource = rest.get(f'/v1/clusters/{id_}')
    return id_, resource['name']


def summary_of(cluster_id: str) -> str:
    return f'#clusters [data-id="{cluster_id}"] summary'


def test_page_shows_changes_of_a_cluster(
    page: Browser, client: RestClient
) -> None:
    created = client.create_cluster(client.create_profile(), 3)
    page.wait_for('ACTIVE', '#clusters')
    page.wait_for('3 of 3 nodes', '#clusters')
    page.wait_for('CLUSTER_CREATE', '#actions')
    client.wait_for_success(client.start_action(created, 'scale_in', count=1))
    page.wait_for('2 of 2 nodes', summary_of(created))
    page.wait_for('CLUSTER_SCALE_IN', '#actions')
    client.wait_for_success(client.delete(f'/v1/clusters/{created}'))
    page.wait_for('CLUSTER_DELETE', '#actions')
    client.assert_missing(f'/v1/clusters/{created}')
    page.wait_until_gone('2 of 2 nodes', '#clusters')


def test_page_works_by_keyboard_and_keeps_open_details(
    page: Browser, site: Deployment, cluster: tuple[str, str]
) -> None:
    cluster_id, name = cluster
    page.wait_for(name, '#clusters')
    page.tab_to(name)
    assert page.run(
        'return getComputedStyle(document.activeElement).outlineStyle'
    ) not in ('none', ''), 'the focus must be visible'
    page.press(Keys.ENTER)
    page.wait_for('index 1', '#clusters')
    page.wait_for('index 2', '#clusters')
    site.execute(
        "UPDATE nodes SET status = 'WARNING', status_reason = 'too hot'"
        ' WHERE cluster_id = :id',
        id=cluster_id,
    )
    page.wait_for('too hot', '#clusters')
    assert name in page.focused()
    page.press(Keys.ENTER)
    page.wait_until_gone('too hot', '#clusters')


def test_filter_shows_matching_names(
    page: Browser, client: RestClient, cluster: tuple[str, str]
) -> None:
    other = unique('other')
    client.create_cluster(client.create_profile(), 0, name=other)
    page.wait_for(other, '#clusters')
    field = page.driver.find_element('id', 'filter')
    field.send_keys(other.upper())
    page.wait_until_gone(cluster[1], '#clusters')
    assert other in page.text('#clusters')


@pytest.mark.parametrize('width', [PHONE, DESKTOP])
def test_page_fits_the_width_of_the_window(
    page: Browser,
    site: Deployment,
    cluster: tuple[str, str],
    width: int,
) -> None:
    cluster_id, _name = cluster
    long = 'x' * 200
    site.execute(
        'UPDATE clusters SET status_reason = :long WHERE id = :id',
        long=long,
        id=cluster_id,
    )
    page.open(f'{site.url}/ui', width)
    page.wait_for('of 2 nodes', '#clusters')
    page.run(
        'document.querySelector(arguments[0]).click()', summary_of(cluster_id)
    )
    page.wait_for(long, '#clusters')
    wide, shown = page.run(
        'return [document.documentElement.scrollWidth, innerWidth]'
    )
    assert wide <= shown == width
    small = page.run(
        'return [...document.querySelectorAll("summary, button, input")]'
        '.filter(one => one.offsetParent).map(one => one.offsetHeight)'
    )
    assert min(small) >= 24, 'too small for a finger (WCAG 2.2, 2.5.8)'


#: Sends requests that need no CORS preflight.
FORGE = """
const [url, name, done] = arguments;
const body = JSON.stringify({profile: {name, spec: {
  type: 'os.nova.server', version: '1.0', properties: {name: 'x'}}}});
const bodies = [new Blob([body]), new TextEncoder().encode(body), body];
Promise.all(bodies.map((body) => fetch(url, {
  mode: 'no-cors', credentials: 'include', method: 'POST', body,
}))).then((answers) => done(answers.map((answer) => answer.type)), done);
"""


@pytest.fixture
def elsewhere(tmp_path: pathlib.Path) -> Iterator[str]:
    """URL of a page of another origin on this machine."""
    (tmp_path / 'index.html').write_text('<!doctype html><p>Elsewhere')
    serve = functools.partial(
        http.server.SimpleHTTPRequestHandler, directory=str(tmp_path)
    )
    with http_server.serving(serve) as port:
        yield f'http://127.0.0.1:{port}/'


def test_pages_of_other_origins_change_nothing(
    site: Deployment, window: Browser, client: RestClient, elsewhere: str
) -> None:
    window.open(elsewhere)
    window.wait_for('Elsewhere')
    name = unique('forged')
    sent = window.driver.execute_async_script(
        FORGE, f'{site.url}/v1/profiles', name
    )
    assert sent == ['opaque'] * 3
    assert name not in [
        profile['name'] for profile in client.get('/v1/profiles')
    ]


def test_markup_from_users_is_escaped(
    page: Browser, site: Deployment, cluster: tuple[str, str]
) -> None:
    cluster_id, name = cluster
    site.execute(
        'UPDATE clusters SET status_reason = :evil WHERE id = :id',
        evil=EVIL,
        id=cluster_id,
    )
    page.wait_for(name, '#clusters')
    page.run(
        'document.querySelector(arguments[0]).click()', summary_of(cluster_id)
    )
    page.wait_for(EVIL, '#clusters')
    assert page.driver.title == 'Clusters'


def test_page_shows_the_engine_that_limits_the_microversion(
    page: Browser, site: Deployment
) -> None:
    page.wait_for(f'Highest microversion: {NEWEST}', '#maximum')
    old = mixed_fleet.start_engine(site, 'old', mixed_fleet.old_manifest(site))
    page.wait_for('Highest microversion: 1.7', '#maximum')
    page.wait_for('1.8 is not served', '#limits')
    page.wait_for('ClusterDeleteRequest', '#limits')
    page.wait_for(old.id[:8], '#members')
    page.wait_for('API version 1.7', '#serves')
    mixed_fleet.stop_engine(site, old)
    page.wait_for(f'Highest microversion: {NEWEST}', '#maximum')
    page.wait_until_gone(old.id[:8], '#members')


def test_page_reports_loss_and_return_of_the_api(
    site: Deployment, window: Browser
) -> None:
    window.open(f'{site.url}/ui')
    window.wait_for('Up to date', '#state')
    (api,) = (
        process for process in site.group.processes if process.name == 'api'
    )
    assert api.stop() == 0
    site.group.remove(api)
    window.wait_for('cannot be reached', '#state')
    site.start_api('api-again')
    window.wait_for('Up to date', '#state')
    window.errors()  # of a server that was away
