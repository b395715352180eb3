# SPDX-License-Identifier: Apache-2.0
"""The version of a request, end to end through the application."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.unit.api.client import ApiClient
from tests.unit.api.fake_engine import FakeFleet
from vobjects.clustering import history
from vobjects.versions import Maximum, Version

LATEST = str(history.MAXIMUM)

HEADER = 'OpenStack-API-Version'


@pytest.mark.parametrize(
    ('header', 'served'),
    [
        (None, '1.0'),
        ('', '1.0'),
        ('compute 2.1', '1.0'),
        ('compute latest', '1.0'),
        ('clustering 1.7', '1.7'),
        ('clustering 1.10', '1.10'),
        ('compute 2.1, clustering 1.8', '1.8'),
        ('compute 2.1,clustering 1.8,identity 3.4', '1.8'),
        ('clustering latest', LATEST),
        ('clustering LATEST', LATEST),
        ('CLUSTERING 1.3', '1.3'),
    ],
)
def test_header_when_it_can_be_served_selects_the_version(
    api: ApiClient, header: str | None, served: str
) -> None:
    headers = {} if header is None else {HEADER: header}
    response = api('GET', '/v1/clusters', headers=headers)
    assert response.status == 200
    assert response.version == f'clustering {served}'


@pytest.mark.parametrize(
    ('method', 'path', 'since', 'before'),
    [
        ('GET', '/v1/services', '1.7', '1.6'),
        ('POST', '/v1/profiles/validate', '1.2', '1.1'),
    ],
)
def test_method_when_the_version_lacks_it_is_404_with_its_first_version(
    strict_api: ApiClient, method: str, path: str, since: str, before: str
) -> None:
    response = strict_api(method, path, version=before)
    assert response.status == 404
    assert response.code == 'clustering.microversion-method-missing'
    assert f'needs API version {since} or later' in response.detail
    assert path in response.detail


@pytest.mark.parametrize('status', [400, 406])
def test_method_missing_status_when_configured_is_answered(
    make_api, status: int
) -> None:
    api = make_api(method_missing_status=status, strict_versions=True)
    response = api('GET', '/v1/services', version='1.6')
    assert response.status == status
    if status == 400:
        assert response.json['error']['message'] == (
            "API version '1.6' is not supported on this method."
        )


def test_version_when_retired_has_headers_in_all_responses(
    make_api: Callable[..., ApiClient],
) -> None:
    line = '1.0-1.2 deprecated=2026-01-01 sunset=2027-06-30 successor=1.7'
    api = make_api(retire=[line])
    for path, status in [
        ('/v1/clusters', 200),  # by the handler
        ('/v1/nowhere', 404),  # raised inside of the version middleware
        ('/v1/clusters/none', 404),  # raised by an engine
    ]:
        response = api('GET', path, version='1.2')
        assert response.status == status
        assert response.headers['deprecation'] == '@1767225600'
        assert response.headers['sunset'] == 'Wed, 30 Jun 2027 00:00:00 GMT'
        assert 'title="clustering 1.7"' in response.headers['link']
        assert 'sunset' not in api('GET', path, version='1.3').headers
    assert 'sunset' not in api('GET', '/').headers


@pytest.mark.parametrize(
    ('path', 'version', 'status', 'code'),
    [
        ('/v1/clusters', '9.9', 406, 'microversion-unsupported'),
        ('/v1/no-such-path', '1.0', 404, 'path-not-found'),
    ],
)
def test_documentation_url_when_configured_is_linked_from_errors(
    make_api: Callable[..., ApiClient],
    path: str,
    version: str,
    status: int,
    code: str,
) -> None:
    api = make_api(documentation_url='https://docs.example.org/vobjects/')
    rejected = api('GET', path, version=version)
    assert rejected.status == status
    assert rejected.json['errors'][0]['links'][0] == {
        'rel': 'help',
        'href': f'https://docs.example.org/vobjects/errors/{code}.html',
    }


def test_history_url_when_configured_is_linked(
    make_api: Callable[..., ApiClient],
) -> None:
    page = 'https://example.org/history'
    retire = ['1.2 sunset=2030-01-01']
    api = make_api(history_url=page, retire=retire, strict_versions=True)

    rejected = api(*DELETE_BY_FORCE, version='1.2')

    shown = api('GET', '/v1').json['version']
    for links in (rejected.json['errors'][0]['links'], shown['links']):
        assert {'rel': 'history', 'href': page} in links
    assert f'<{page}>; rel="sunset"' in rejected.headers['link']


@pytest.mark.parametrize('verb', ['PUT', 'DELETE'])
def test_path_when_the_version_lacks_all_methods_is_404_with_the_first_version(
    strict_api: ApiClient, verb: str
) -> None:
    early = strict_api(verb, '/v1/services', version='1.6')
    late = strict_api(verb, '/v1/services', version='1.7')

    assert early.status == 404
    assert early.detail == (
        'GET /v1/services needs API version 1.7 or later; this request asked'
        ' for 1.6.'
    )
    assert late.status == 405
    assert late.headers['allow'] == 'GET, HEAD'


DELETE_BY_FORCE = ('DELETE', '/v1/clusters/c1', {'force': True})
NEEDS_1_8 = "'force' needs API version 1.8 or later; this request asked for"


def test_error_when_its_version_is_served_names_it_and_links_the_history(
    strict_api: ApiClient,
) -> None:
    response = strict_api(*DELETE_BY_FORCE, version='1.2')

    assert response.status == 400
    assert response.detail == f'body.force: {NEEDS_1_8} 1.2.'
    item = response.json['errors'][0]
    assert item['available_from'] == '1.8'
    assert {link['rel'] for link in item['links']} == {'help', 'history'}


@pytest.mark.parametrize(
    ('request_', 'needs'),
    [
        (DELETE_BY_FORCE, '1.8'),
        (('GET', '/v1/actions?cluster_id=c1', None), '1.14'),
        (('GET', '/v1/services', None), '1.7'),
        (('PUT', '/v1/services', None), '1.7'),
    ],
)
def test_error_when_its_version_is_not_served_has_maximum_and_reason(
    strict_api: ApiClient,
    fleet: FakeFleet,
    request_: tuple[str, str, dict[str, bool] | None],
    needs: str,
) -> None:
    fleet.max_version = Maximum(Version(1, 5), 'engine-2 (0.1.0) is older')

    response = strict_api(*request_, version='1.2')

    assert f'needs API version {needs} or later' in response.detail
    assert response.detail.endswith(
        f'Version {needs} is not served now: the maximum is 1.5, because'
        ' engine-2 (0.1.0) is older.'
    )
    assert response.json['error']['message'] == response.detail


def test_error_when_no_other_version_helps_links_no_history(
    api: ApiClient,
) -> None:
    cluster = {'cluster': {'name': 'c1', 'profile_id': 'p'}}
    api('POST', '/v1/clusters', cluster)

    response = api('DELETE', '/v1/clusters/c1', {'farce': True}, version='1.2')

    assert response.status == 400
    item = response.json['errors'][0]
    assert [link['rel'] for link in item['links']] == ['help']
