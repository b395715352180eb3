# SPDX-License-Identifier: Apache-2.0
"""Errors that tell clients which microversion they need."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import requests

from tests.functional.deployments import Deployment, Platform, deployed
from tests.functional.processes import TIMEOUT
from tests.functional.rest import NEWEST, RestClient
from tests.upgrade import mixed_fleet
from vobjects.microversions import client, presets

#: Method, path and body that need a newer microversion, and the version.
NEWER: list[tuple[str, str, Any, str]] = [
    ('DELETE', '/v1/clusters/web', {'force': True}, '1.8'),
    ('DELETE', '/v1/clusters/web?force=true', None, '1.8'),
    ('PATCH', '/v1/nodes/web', {'node': {'tainted': True}}, '1.13'),
    ('GET', '/v1/actions?cluster_id=web', None, '1.14'),
    ('PATCH', '/v1/clusters/web', {'cluster': {'config': {}}}, '1.7'),
    ('GET', '/v1/services', None, '1.7'),
    ('PUT', '/v1/services', None, '1.7'),
    ('POST', '/v1/profiles/validate', {'profile': {'spec': {}}}, '1.2'),
]


@pytest.fixture(scope='module')
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    directory = tmp_path_factory.mktemp('teaching')
    settings = {'api': {'strict_versions': True}}
    platform = Platform('embedded', 'sqlite')
    with deployed(platform, directory, settings) as deployment:
        mixed_fleet.start_engine(deployment, 'new')
        deployment.start_api()
        yield deployment


def error_item(
    rest: RestClient, method: str, path: str, body: Any
) -> dict[str, Any]:
    """Return the item of an error response."""
    response = rest.request(method, path, body)
    assert response.status_code in (400, 404), response.text
    assert client.required_version(response.json()) is not None
    (item,) = response.json()['errors']
    error: dict[str, Any] = item
    return error


def check_all(rest: RestClient, served: str, because: str) -> None:
    """Check the errors at 1.1 while a maximum is served."""
    for method, path, body, needs in NEWER:
        item = error_item(rest.at('1.1'), method, path, body)
        requirement = f'needs API version {needs} or later; this request asked'
        assert f'{requirement} for 1.1' in item['detail'], item
        assert item['available_from'] == needs
        links = {link['rel']: link['href'] for link in item['links']}
        assert links['history'] == presets.SENLIN.history_url
        minors = [int(text.partition('.')[2]) for text in (needs, served)]
        limit = f'Version {needs} is not served now: the maximum is {served}'
        assert (limit in item['detail']) is (minors[0] > minors[1]), item
        if minors[0] > minors[1]:
            assert because in item['detail'], item


def test_refusals_name_the_version_and_the_release_that_withholds_it(
    fleet: Deployment,
) -> None:
    known = ['1.3', ('1.5', '1.9')]
    with fleet.rest() as rest, requests.Session() as session:
        mixed_fleet.wait_for_maximum(rest, NEWEST)
        check_all(rest, NEWEST, '')
        agreed = client.for_requests(session, fleet.url, 'clustering', known)
        assert str(agreed) == '1.9'

        old = mixed_fleet.start_engine(
            fleet, 'old', mixed_fleet.old_manifest(fleet)
        )
        mixed_fleet.wait_for_maximum(rest, '1.7')
        check_all(rest, '1.7', 'but a server (release ')
        agreed = client.for_requests(session, fleet.url, 'clustering', known)
        assert str(agreed) == '1.7'
        response = session.get(f'{fleet.url}/v1/clusters', timeout=TIMEOUT)
        assert response.status_code == 200
        assert client.served_version(response.headers, 'clustering') == agreed

        mixed_fleet.stop_engine(fleet, old)
        mixed_fleet.wait_for_maximum(rest, NEWEST)
        check_all(rest, NEWEST, '')
