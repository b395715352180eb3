# SPDX-License-Identifier: Apache-2.0
"""The console ``/ui`` in a browser."""

from __future__ import annotations

import base64
import functools
import http.server
import pathlib
import re
import signal
from collections.abc import Callable, Iterator

import pytest
import requests
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests import downloads, http_server
from tests.functional import browser as browsers
from tests.functional.browser import Browser
from tests.functional.deployments import (
    Deployment,
    Platform,
    deployed,
    write_users,
)
from tests.functional.processes import TIMEOUT, free_port
from tests.functional.rest import NEWEST, SPEC, RestClient, unique
from tests.upgrade import mixed_fleet
from vobjects.objects.manifest import Manifest

pytestmark = pytest.mark.chromium

#: Width of a window in pixels.
PHONE, DESKTOP = 390, 1440

#: Timeout of the download of axe-core in seconds.
DOWNLOAD_TIMEOUT = 120

EVIL = '<img src=x onerror="document.title=\'taken\'">'

KINDS = (
    'clusters',
    'nodes',
    'actions',
    'profiles',
    'policies',
    'receivers',
    'events',
)

SCALING = {
    'type': 'senlin.policy.scaling',
    'version': '1.0',
    'properties': {
        'event': 'CLUSTER_SCALE_OUT',
        'adjustment': {'type': 'CHANGE_IN_CAPACITY', 'number': 2},
    },
}


@pytest.fixture(scope='module')
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    browsers.require()
    directory = tmp_path_factory.mktemp('ui')
    settings = {'api': {'trace_url': 'https://traces.test/?id={request_id}'}}
    platform = Platform('embedded', 'sqlite')
    with deployed(platform, directory, settings) as deployment:
        deployment.start_engines(1)
        deployment.start_api()
        yield deployment


@pytest.fixture
def client(site: Deployment) -> Iterator[RestClient]:
    with site.rest() as rest:
        yield rest


@pytest.fixture
def page(site: Deployment, window: Browser) -> Iterator[Browser]:
    """The fleet view on a desktop; the console must not log errors."""
    show(window, site)
    window.errors()
    yield window
    assert window.errors() == []


@pytest.fixture
def camera(
    page: Browser, site: Deployment, request: pytest.FixtureRequest
) -> Callable[..., None]:
    """Write an image of a view for the documentation, with --screenshots."""
    directory = request.config.getoption('--screenshots')

    def shoot(
        name: str, view: str, text: str, width: int = 1280, height: int = 900
    ) -> None:
        if directory is not None:
            page.prefer('dark' if name.endswith('dark') else 'light')
            show(page, site, view, width, height)
            page.wait_for(text, '#console')
            page.screenshot(directory / f'console-{name}.png')
            page.prefer('light')
            show(page, site)

    return shoot


@pytest.fixture(scope='module')
def cluster(site: Deployment) -> tuple[str, str]:
    """ID and name of a cluster of two nodes, with a policy and a receiver."""
    with site.rest() as rest:
        profile = {'profile': {'name': 'small-server', 'spec': SPEC}}
        profile_id = rest.expect(201, 'POST', '/v1/profiles', profile).json()[
            'profile'
        ]['id']
        for other in ('api-gateway', 'batch-workers'):
            rest.create_cluster(profile_id, 1, name=other, max_size=10)
        name = 'web'
        id_ = rest.create_cluster(profile_id, 2, name=name, max_size=10)
        policy = {'policy': {'name': 'scale-by-two', 'spec': SCALING}}
        policy_id = rest.expect(201, 'POST', '/v1/policies', policy).json()[
            'policy'
        ]['id']
        rest.run(id_, 'policy_attach', policy_id=policy_id)
        receiver = {
            'name': 'web-alarm',
            'type': 'webhook',
            'cluster_id': id_,
            'action': 'CLUSTER_SCALE_OUT',
        }
        rest.expect(201, 'POST', '/v1/receivers', {'receiver': receiver})
    return id_, name


def show(
    browser: Browser,
    site: Deployment,
    view: str = '',
    width: int = DESKTOP,
    height: int = 900,
) -> None:
    """Load a view and wait for its data."""
    browser.open('about:blank')
    browser.open(f'{site.url}/ui#/{view}', width, height)
    browser.wait_for('Updated', '#updated')
    browser.wait_until_gone('Loading', '#console')


def views(cluster: tuple[str, str], client: RestClient) -> list[str]:
    """Return all views: tables and a page of each kind."""
    cluster_id, name = cluster
    found = ['', *KINDS, f'clusters/{cluster_id}']
    for kind in KINDS[1:]:
        item = client.get(f'/v1/{kind}?limit=1')[0]
        found.append(f'{kind}/{item["id"]}')
    (action,) = client.get(
        f'/v1/actions?target={cluster_id}&action=CLUSTER_CREATE'
    )
    return [*found, f'actions/{action["id"]}', f'clusters?name={name}']


def test_every_view_fits_the_window_and_has_no_violation(
    page: Browser,
    site: Deployment,
    client: RestClient,
    cluster: tuple[str, str],
    camera: Callable[..., None],
) -> None:
    camera('cluster', f'clusters/{cluster[0]}', 'small-server', height=1300)
    camera('clusters-dark', 'clusters', 'batch-workers', PHONE, 860)
    axe = downloads.require('axe', DOWNLOAD_TIMEOUT)
    problems = []
    for number, view in enumerate(views(cluster, client)):
        page.prefer('dark' if number % 2 else 'light')
        for width in (PHONE, DESKTOP)[:: -1 if number % 3 else 1]:
            show(page, site, view, width)
            assert page.text('h1') != ''
            wide, shown = page.run(
                'return [document.documentElement.scrollWidth, innerWidth]'
            )
            if not wide <= shown == width:
                problems.append(f'{view}: {wide} wide at {width}')
            small = page.run(
                'return [...document.querySelectorAll('
                '"button, input, select, header a")]'
                '.filter(one => one.offsetParent && one.offsetHeight < 24)'
                '.map(one => one.outerHTML)'
            )
            # Too small for a finger: WCAG 2.2, 2.5.8.
            problems += [f'{view}: small: {element}' for element in small]
        problems += [
            f'{view} at {width}: {text}' for text in page.violations(axe)
        ]
    page.prefer('light')
    assert problems == []


def test_cluster_when_created_scaled_and_deleted_is_followed_to_the_end(
    page: Browser, site: Deployment, client: RestClient
) -> None:
    profile = client.get(f'/v1/profiles/{client.create_profile()}')
    name = unique('shop')
    show(page, site, 'clusters')
    page.click('Create cluster')
    page.wait_for(profile['name'], 'dialog')
    page.fill('#field-name', name)
    page.fill('#field-profile_id', profile['name'])
    page.fill('#field-desired_capacity', '3')
    page.click('Create cluster', 'dialog button')
    page.wait_for('SUCCEEDED', '.notices')
    page.wait_for(name, '.rows')
    page.click(name, '.rows a')
    page.wait_for('3 of 3', '.facts')
    page.click('Scale in')
    page.wait_for('will be deleted', 'dialog')
    page.click('Scale in', 'dialog button')
    page.wait_for('2 of 2', '.facts')
    page.wait_for('CLUSTER SCALE IN', '#console')
    page.click('Delete')
    page.wait_for('its 2 nodes will be deleted', 'dialog')
    page.click('Cancel', 'dialog button')
    page.wait_until_gone('will be deleted')
    page.click('Delete')
    page.click('Delete', 'dialog button')
    page.wait_for('Delete', '.notices')
    page.wait_for('Clusters', 'h1')
    assert page.driver.current_url.endswith('#/clusters')
    page.wait_until_gone(name, '.rows')
    assert client.get(f'/v1/clusters?name={name}') == []
    # Messages about successful changes leave by themselves.
    page.wait_until_gone('Create cluster', '.notices')
    # The page of the deleted cluster requests it, or its nodes, once more.
    assert [error for error in page.errors() if '40' not in error] == []


def test_dialog_when_the_api_rejects_the_change_shows_the_reason(
    page: Browser, site: Deployment, cluster: tuple[str, str]
) -> None:
    show(page, site, f'clusters/{cluster[0]}')
    page.click('Resize')
    page.fill('#field-min_size', '5')
    page.fill('#field-max_size', '4')
    page.click('Resize', 'dialog button')
    page.wait_for('max_size', 'dialog [role=alert]')
    page.press(Keys.ESCAPE)
    page.wait_until_gone('Number of nodes')
    assert [error for error in page.errors() if '400' not in error] == []


def test_policy_when_attached_and_detached_is_listed(
    page: Browser, site: Deployment, client: RestClient
) -> None:
    created = client.create_cluster(client.create_profile(), 0)
    body = {'policy': {'name': unique('policy'), 'spec': SCALING}}
    client.expect(201, 'POST', '/v1/policies', body)
    name = body['policy']['name']
    show(page, site, f'clusters/{created}')
    page.click('Attach policy')
    page.wait_for(str(name), 'dialog')
    page.fill('#field-policy_id', str(name))
    page.click('Attach policy', 'dialog button')
    page.wait_for('enabled', '#console')
    page.click('Detach')
    page.click('Detach', 'dialog button')
    page.wait_until_gone('enabled', '#console')
    assert client.get(f'/v1/clusters/{created}/policies') == []


def test_webhook_when_created_scales_its_cluster(
    page: Browser, site: Deployment, client: RestClient
) -> None:
    created = client.create_cluster(client.create_profile(), 1)
    cluster_name = client.get(f'/v1/clusters/{created}')['name']
    name = unique('alarm')
    show(page, site, 'receivers')
    page.click('Create webhook')
    page.wait_for(cluster_name, 'dialog')
    page.fill('#field-name', name)
    page.fill('#field-cluster_id', cluster_name)
    page.fill('#field-action', 'CLUSTER SCALE OUT')
    page.click('Create webhook', 'dialog button')
    page.wait_for(name, '.rows')
    (receiver,) = client.get(f'/v1/receivers?name={name}')
    response = requests.post(receiver['channel']['alarm_url'], timeout=TIMEOUT)
    assert response.status_code == 202
    show(page, site, f'clusters/{created}')
    page.wait_for('2 of 2', '.facts')


def test_view_when_opened_by_keyboard_shows_the_focus(
    page: Browser, cluster: tuple[str, str]
) -> None:
    page.tab_to('Clusters')
    assert page.run(
        'return getComputedStyle(document.activeElement).outlineStyle'
    ) not in ('none', '')
    page.press(Keys.ENTER)
    page.wait_for(cluster[1], '.rows')
    assert page.driver.title == 'Clusters - Clustering console'
    assert page.focused() == 'Clusters'
    page.tab_to(cluster[1])
    page.press(Keys.ENTER)
    page.wait_for('2 of 2', '.facts')
    assert page.driver.title.startswith(cluster[1])


def test_table_when_filtered_sorted_and_paged_keeps_them_in_the_url(
    page: Browser, site: Deployment, client: RestClient
) -> None:
    profile = client.create_profile()
    created = client.create_cluster(profile, 30)
    cluster_name = client.get(f'/v1/clusters/{created}')['name']
    nodes = client.nodes(created)
    first, last = nodes[0]['name'], nodes[-1]['name']
    show(page, site, f'nodes?cluster_id={created}&limit=25&sort=index')
    page.wait_for(first, '.rows')
    page.wait_for(cluster_name, '.filters')
    assert last not in page.text('.rows')
    page.click('Next page')
    page.wait_for(last, '.rows')
    assert 'marker=' in page.driver.current_url
    page.driver.refresh()
    page.wait_for(last, '.rows')
    page.click('First page')
    page.wait_for(first, '.rows')
    page.click('Index', 'th button')
    page.wait_for(last, '.rows')
    assert 'sort=index%3Adesc' in page.driver.current_url
    page.fill('#filter-status', 'ERROR')
    page.wait_for('No node matches', '#console')
    page.click('Cluster: ', '.chip')
    page.wait_until_gone(cluster_name, '.filters')


def test_table_finds_resources_by_a_part_of_their_names(
    page: Browser, site: Deployment, client: RestClient
) -> None:
    profile = client.create_profile()
    part = unique('needle')
    for name in (f'a-{part}', f'{part.upper()}-b', unique('other')):
        client.create_cluster(profile, 0, name=name)
    show(page, site, 'clusters?limit=25')
    page.wait_for('other', '.rows')
    page.fill('#filter-name', f'{part[1:]}\n')
    page.wait_until_gone('other', '.rows')
    page.wait_for(f'a-{part}', '.rows')
    page.wait_for(f'{part.upper()}-b', '.rows')


def tick(page: Browser, *names: str) -> None:
    """Select rows of a table."""
    for name in names:
        page.driver.find_element(
            By.CSS_SELECTOR, f'[aria-label="Select {name}"]'
        ).click()


def test_selection_when_confirmed_once_is_changed_and_followed(
    page: Browser, site: Deployment, client: RestClient
) -> None:
    profile = client.create_profile()
    part = unique('bulk')
    names = [f'{part}-{number}' for number in range(3)]
    for name in names:
        client.create_cluster(profile, 1, name=name)
    show(page, site, f'clusters?name={part}')
    page.wait_for(names[2], '.rows')
    for width in (DESKTOP, PHONE):
        show(page, site, f'clusters?name={part}', width)
        page.wait_for(names[2], '.rows')
        tick(page, *names[:2])
        page.wait_for('2 selected', '.bulk')
        page.click('Delete', '.bulk button')
        page.wait_for('Their 2 nodes will be deleted, too.', 'dialog')
        assert names[0] in page.text('dialog')
        axe = downloads.require('axe', DOWNLOAD_TIMEOUT)
        assert page.violations(axe) == []
        if width == DESKTOP:
            page.click('Cancel', 'dialog button')
    page.click('Delete: 2 clusters', 'dialog button')
    page.wait_for('2 of 2', '.notices')
    page.wait_for('SUCCEEDED', '.notices')
    page.wait_until_gone(names[0], '.rows')
    left = [item['name'] for item in client.get('/v1/clusters')]
    assert [name for name in names if name in left] == names[2:]
    assert page.text('.bulk') == ''


def test_selection_when_some_are_refused_says_why_and_keeps_these(
    page: Browser, site: Deployment, client: RestClient
) -> None:
    used, unused = client.create_profile(), client.create_profile()
    client.create_cluster(used, 0)
    names = [
        client.get(f'/v1/profiles/{id_}')['name'] for id_ in (used, unused)
    ]
    show(page, site, 'profiles?sort=created_at:desc')
    page.wait_for(names[0], '.rows')
    tick(page, *names)
    page.click('Delete', '.bulk button')
    page.click('Delete: 2 profiles', 'dialog button')
    page.wait_for(f'1 of 2 failed. {names[0]}: ', 'dialog [role=alert]')
    page.wait_for('Delete: 1 profile', 'dialog')
    page.press(Keys.ESCAPE)
    page.wait_for('1 selected', '.bulk')
    page.wait_until_gone(names[1], '.rows')
    assert [error for error in page.errors() if '409' not in error] == []


def test_policy_when_made_by_the_form_of_its_type_has_these_properties(
    page: Browser, site: Deployment, client: RestClient
) -> None:
    axe = downloads.require('axe', DOWNLOAD_TIMEOUT)
    name = unique('form')
    show(page, site, 'policies', PHONE)
    page.click('Create policy')
    page.wait_for('senlin.policy.affinity-1.0', 'dialog')
    page.fill('#field-name', name)
    page.fill('#field-spec', 'senlin.policy.scaling-1.0')
    page.wait_for('Action that the policy controls.', 'dialog')
    page.fill('#field-spec-event', 'CLUSTER_SCALE_IN')
    page.click('More properties', 'dialog summary')
    page.fill('#field-spec-adjustment-number', '3')
    page.fill('#field-spec-adjustment-best_effort', 'true')
    assert page.violations(axe) == []
    assert page.run(
        'const box = document.querySelector("dialog");'
        'return box.scrollWidth <= box.clientWidth'
    )
    page.click('Create policy', 'dialog button')
    page.wait_for(name, '.rows')
    (policy,) = client.get(f'/v1/policies?name={name}')
    assert policy['spec']['properties'] == {
        'event': 'CLUSTER_SCALE_IN',
        'adjustment': {'number': 3, 'best_effort': True},
    }


YAML = """\
# As for "openstack cluster profile create --spec-file".
type: os.nova.server
version: 1.0
properties:
  flavor: small
  networks: [{network: private}]
"""


def test_profile_when_edited_as_yaml_fills_the_form_of_its_type(
    page: Browser, site: Deployment, client: RestClient
) -> None:
    name = unique('yaml')
    show(page, site, 'profiles')
    page.click('Create profile')
    page.wait_for('os.nova.server-1.0', 'dialog')
    page.click('Edit as YAML', 'dialog label')
    page.fill('#field-name', name)
    page.fill('#field-spec-text', 'type: [\n')
    page.click('Create profile', 'dialog button')
    assert 'This is not YAML' in page.run(
        'return document.activeElement.validationMessage'
    )
    page.fill('#field-spec-text', YAML)
    page.click('Edit as YAML', 'dialog label')
    page.wait_for('Name or ID of the flavor.', 'dialog')
    page.fill('#field-spec-flavor', 'large')
    page.click('Create profile', 'dialog button')
    page.wait_for(name, '.rows')
    (profile,) = client.get(f'/v1/profiles?name={name}')
    assert profile['spec'] == {
        'type': 'os.nova.server',
        'version': '1.0',
        'properties': {
            'flavor': 'large',
            'networks': [{'network': 'private'}],
        },
    }


def test_action_when_shown_has_progress_and_dependencies(
    page: Browser,
    site: Deployment,
    cluster: tuple[str, str],
    client: RestClient,
    camera: Callable[..., None],
) -> None:
    grow = client.start_action(cluster[0], 'scale_out', count=3)
    camera('action', f'actions/{grow}', 'NODE CREATE')
    client.wait_for_success(grow)
    shrink = client.start_action(cluster[0], 'scale_in', count=3)
    client.wait_for_success(shrink)
    show(page, site, f'actions?target={cluster[0]}')
    page.wait_for(cluster[1], '.rows')
    page.click('CLUSTER CREATE', '.rows a')
    page.wait_for('2 of 2', '.progress')
    page.wait_for('NODE CREATE', '.tree')
    page.wait_for('end', '[aria-label=Events]')
    page.wait_for('Trace', '.facts a[href^="https://traces.test/?id=req-"]')
    page.click('CLUSTER CREATE', '[aria-label=Events] a')
    page.wait_for('NODE CREATE', '.tree')
    page.click('NODE CREATE', '.tree a')
    page.wait_for('Part of', '#console')
    page.wait_for('NODE CREATE', 'h1')


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
    window.errors()


def test_markup_from_users_is_escaped(
    page: Browser, site: Deployment, cluster: tuple[str, str]
) -> None:
    cluster_id, name = cluster
    site.execute(
        'UPDATE clusters SET status_reason = :evil WHERE id = :id',
        evil=EVIL,
        id=cluster_id,
    )
    show(page, site, f'clusters/{cluster_id}')
    page.wait_for(EVIL, '.facts')
    assert page.driver.title.startswith(name)


@pytest.mark.usefixtures('cluster')
def test_fleet_when_mixed_names_the_engine_that_limits_the_microversion(
    page: Browser, site: Deployment, camera: Callable[..., None]
) -> None:
    page.wait_for(f'{NEWEST} is served now', '#maximum')
    page.wait_for('ACTIVE', '.cards')
    newer = ('SummaryRequest', 'RollbackVerdictRequest')
    manifest = {
        name: version
        for name, version in mixed_fleet.old_manifest(site).items()
        if name not in newer
    }
    old = mixed_fleet.start_engine(site, 'old', Manifest(manifest))
    page.wait_for('1.7 is served now', '#maximum')
    # The request rate needs two readings of the metrics.
    camera('fleet', '', 'no server errors', height=1250)
    page.wait_for('1.8 is not served', '#reason')
    page.wait_for('ClusterDeleteRequest', '#reason')
    page.wait_for('ClusterDeleteRequest 1.0, needs 1.1', '#matrix')
    page.wait_for(f'engines support {NEWEST}', '#console')
    page.wait_for('1 of 2', '.progress')
    page.wait_for(old.id[:8], '#members')
    page.wait_for('The numbers are older', '#uncounted')
    assert 'ACTIVE' in page.text('.cards')
    page.wait_for('cannot tell what is stored', '#rollback')
    axe = downloads.require('axe', DOWNLOAD_TIMEOUT)
    assert page.violations(axe) == []
    mixed_fleet.stop_engine(site, old)
    page.wait_for(f'{NEWEST} is served now', '#maximum')
    page.wait_until_gone(old.id[:8], '#members')


def test_fleet_when_held_names_its_owner_and_the_command_that_ends_it(
    page: Browser, site: Deployment
) -> None:
    site.run('fleet', 'hold', '--owner=alice', '--reason=<b>2.0</b> is new')
    page.wait_for('vobjects fleet finalize', '#hold')
    assert re.search(
        r'A hold is set by alice at [\d:-]+, because <b>2\.0</b> is new:',
        ' '.join(page.text('#hold').split()),
    )
    site.run('fleet', 'finalize')
    page.wait_for('vobjects fleet hold', '#hold')
    page.wait_for('Rollback to 0.1.0', '#rollback')
    assert 'impossible' not in page.text('#rollback')


def test_console_when_the_api_wants_a_password_shows_the_user(
    site: Deployment, window: Browser, tmp_path: pathlib.Path
) -> None:
    users = tmp_path / 'users'
    write_users(users, alice='secret')
    port = free_port()
    url = f'http://127.0.0.1:{port}'
    api = site.start_api(
        'api-basic',
        {
            'api': {'port': port, 'auth_strategy': 'http_basic'},
            'oslo_middleware': {'http_basic_auth_user_file': users},
        },
    )
    site.wait_until_served(url=url)
    token = base64.b64encode(b'alice:secret').decode()
    # As after the dialog, which no test can fill in without a window.
    with window.headers({'Authorization': f'Basic {token}'}):
        window.open(f'{url}/ui')
        window.wait_for('alice in admin', '.user')
        window.wait_for('Only administrators see the engines', '#console')
    window.open('about:blank')
    assert api.stop() == 0
    site.group.remove(api)
    window.errors()


def test_console_when_engines_hang_marks_what_it_shows(
    site: Deployment, window: Browser
) -> None:
    show(window, site, 'clusters')
    window.wait_for('Updated', '#updated')
    engines = [
        process
        for process in site.group.processes
        if process.name.startswith('engine')
    ]
    for engine in engines:
        engine.send_signal(signal.SIGSTOP)
    try:
        window.wait_for('do not answer', '#outage')
        window.wait_for('Not updated since', '#updated')
    finally:
        for engine in engines:
            engine.send_signal(signal.SIGCONT)
    window.wait_until_gone('do not answer')
    window.errors()  # 503, if the engines were suspended for long


def test_console_when_the_api_is_gone_marks_what_it_shows(
    site: Deployment, window: Browser
) -> None:
    show(window, site)
    window.wait_for('up', '#members')
    (api,) = (
        process for process in site.group.processes if process.name == 'api'
    )
    assert api.stop() == 0
    site.group.remove(api)
    window.wait_for('cannot be reached', '#outage')
    window.wait_for('Not updated since', '#updated')
    window.wait_for('was served', '#maximum')
    window.wait_for('was up', '#members')
    assert window.text('#members').count('up') == window.text(
        '#members'
    ).count('was up')
    site.start_api('api-again')
    window.wait_for('is served now', '#maximum')
    window.wait_until_gone('cannot be reached')
    window.errors()  # of a server that was away
