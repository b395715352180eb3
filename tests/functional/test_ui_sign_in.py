# SPDX-License-Identifier: Apache-2.0
"""Sign in to the console ``/ui`` with a real Keystone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests import downloads
from tests.functional import browser as browsers
from tests.functional import keystone
from tests.functional.browser import Browser
from tests.functional.deployments import Deployment, Platform, deployed
from tests.functional.keystone import Keystone
from tests.functional.processes import wait_for
from tests.functional.test_ui import DOWNLOAD_TIMEOUT

pytestmark = pytest.mark.chromium


@pytest.fixture(scope='module')
def identity(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Keystone]:
    """Keystone with a reader in one project and a member of two."""
    browsers.require()
    with keystone.running(tmp_path_factory.mktemp('identity')) as server:
        for project in ('web', 'shop'):
            server.add_project(project)
        server.add_user('reader', 'web', 'reader')
        server.add_user('member', 'web', 'member')
        server.assign('PUT', 'member', 'shop', 'member')
        yield server


@pytest.fixture(scope='module')
def site(
    identity: Keystone, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Deployment]:
    directory = tmp_path_factory.mktemp('service')
    with deployed(
        Platform('embedded', 'sqlite'), directory, identity.settings()
    ) as deployment:
        deployment.start_engines(1)
        deployment.start_api()
        yield deployment


@pytest.fixture
def page(site: Deployment, window: Browser) -> Iterator[Browser]:
    """The console before a user signs in."""
    window.open('about:blank')
    window.open(f'{site.url}/ui')
    window.run('sessionStorage.clear()')
    window.driver.refresh()
    window.wait_for('Sign in', 'h1')
    yield window
    # Chromium logs each response with an error status.
    assert [error for error in window.errors() if '401' not in error] == []


def sign_in(page: Browser, user: str, password: str, project: str) -> None:
    page.fill('#user', user)
    page.fill('#password', password)
    page.fill('#project', project)
    page.click('Sign in', 'button')


def token_in(page: Browser) -> str:
    """Return the token that the tab keeps."""
    return str(page.run('return sessionStorage.getItem("vobjects.token")'))


def test_form_when_the_password_is_wrong_says_so(page: Browser) -> None:
    axe = downloads.require('axe', DOWNLOAD_TIMEOUT)
    assert page.violations(axe) == []
    sign_in(page, 'reader', 'wrong', 'web')
    page.wait_for('Keystone rejected', '[role=alert]')
    assert token_in(page) == 'None'


def test_reader_when_signed_in_sees_no_changes(
    page: Browser, site: Deployment, identity: Keystone
) -> None:
    sign_in(page, 'reader', 'reader', '')  # has one project
    page.wait_for('reader in web', '.user')
    page.wait_for('Only administrators see the engines', '#console')
    page.click('Clusters')
    page.wait_for('There are no clusters', '#console')
    page.wait_for('clusters:create', '.title')
    assert 'Create cluster' not in page.text()
    token = token_in(page)
    assert identity.project_of(token) == identity.id_of('projects', 'web')
    assert token not in page.driver.current_url
    assert page.run('return localStorage.length') == 0
    assert page.run('return document.cookie') == ''
    page.click('Sign out')
    page.wait_for('Sign in', 'h1')
    assert token_in(page) == 'None'
    wait_for(
        'the token is revoked', lambda: identity.project_of(token) is None
    )


def test_member_of_two_projects_when_signing_in_chooses_one(
    page: Browser, identity: Keystone
) -> None:
    sign_in(page, 'member', 'member', '')
    page.wait_for('Choose a project', '[role=status]')
    page.fill('#project', 'shop')
    page.click('Sign in', 'button')
    page.wait_for('member in shop', '.user')
    page.click('Clusters')
    page.wait_for('Create cluster', '.title')
    page.driver.refresh()
    page.wait_for('member in shop', '.user')


def test_console_when_the_token_is_revoked_asks_to_sign_in_again(
    page: Browser, site: Deployment, identity: Keystone
) -> None:
    sign_in(page, 'member', 'member', 'web')
    page.wait_for('member in web', '.user')
    page.run('sessionStorage.setItem("vobjects.token", "expired")')
    page.wait_for('Sign in', 'h1')
