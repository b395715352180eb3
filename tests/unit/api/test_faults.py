# SPDX-License-Identifier: Apache-2.0
"""Errors of engines, of the message bus and of the API itself."""

from __future__ import annotations

import logging
from http import HTTPStatus

import oslo_messaging
import pytest

from tests.unit.api.client import ApiClient
from tests.unit.api.fake_engine import FakeEngine, FakeFleet
from vobjects import exceptions
from vobjects.clustering import errors
from vobjects.microversions import application_errors
from vobjects.versions import Maximum, Version

CLUSTER = {'cluster': {'name': 'c', 'profile_id': 'p', 'config': {'a': 1}}}


def test_error_of_an_engine_when_it_has_no_message_shows_no_traceback(
    api: ApiClient, engine: FakeEngine
) -> None:
    shown = {'__str__': lambda self: '\nTraceback (most recent call'}
    engine.error = type('BadRequest_Remote', (errors.BadRequest,), shown)('')
    response = api('DELETE', '/v1/clusters/c')
    assert response.status == 400
    assert response.detail == 'Bad request'


@pytest.mark.parametrize(
    ('error', 'status', 'type_name'),
    [
        (errors.BadRequest, 400, 'BadRequest'),
        (errors.InvalidSpec, 400, 'InvalidSpec'),
        (errors.MultipleChoices, 400, 'MultipleChoices'),
        (errors.Forbidden, 403, 'Forbidden'),
        (errors.OverQuota, 403, 'OverQuota'),
        (errors.ResourceNotFound, 404, 'ResourceNotFound'),
        (errors.ResourceInUse, 409, 'ResourceInUse'),
        (errors.ResourceIsLocked, 409, 'ResourceIsLocked'),
        (errors.ActionConflict, 409, 'ActionConflict'),
        (errors.ActionCooldown, 409, 'ActionCooldown'),
        (errors.ActionImmutable, 409, 'ActionImmutable'),
        (errors.ActionInProgress, 409, 'ActionInProgress'),
        (errors.FeatureNotSupported, 409, 'FeatureNotSupported'),
        (errors.PolicyBindingNotFound, 404, 'PolicyBindingNotFound'),
    ],
)
@pytest.mark.parametrize('remote', [False, True])
def test_error_of_an_engine_when_raised_has_its_status_and_message(
    api: ApiClient,
    engine: FakeEngine,
    error: type[errors.ClusteringError],
    status: int,
    type_name: str,
    remote: bool,
) -> None:
    if remote:  # as oslo.messaging rebuilds a remote error
        shown = {'__str__': lambda self: 'no\nTraceback (most recent call'}
        error = type(f'{error.__name__}_Remote', (error,), shown)
    engine.error = error('The cluster c is so.')
    response = api('DELETE', '/v1/clusters/c')
    assert response.status == status
    assert response.detail == 'The cluster c is so.'
    assert response.json['error']['type'] == type_name
    assert response.json['title'] == HTTPStatus(status).phrase


@pytest.mark.parametrize(
    'error',
    [
        exceptions.NoLivePeer('no server of engine is alive'),
        exceptions.Unreachable('the database does not respond'),
        oslo_messaging.MessagingTimeout('no reply'),
        oslo_messaging.MessageDeliveryFailure('no broker'),
    ],
)
def test_engine_when_out_of_reach_is_503_with_retry_after(
    api: ApiClient, engine: FakeEngine, error: Exception
) -> None:
    engine.error = error
    response = api('POST', '/v1/clusters', CLUSTER, version='1.7')
    assert response.status == 503
    assert int(response.headers['retry-after']) > 0
    assert response.version == 'clustering 1.7'


@pytest.mark.parametrize('path', ['/', '/v1', '/v1/'])
def test_discovery_when_no_engine_is_alive_is_503(
    api: ApiClient, fleet: FakeFleet, path: str
) -> None:
    fleet.max_version = None
    response = api('GET', path)
    assert response.status == 503
    assert 'retry-after' in response.headers


@pytest.mark.parametrize('version', ['', '1.14', '1.99', 'x'])
def test_request_when_no_engine_is_alive_is_503(
    api: ApiClient, fleet: FakeFleet, version: str
) -> None:
    fleet.max_version = None
    for path in ('/v1/clusters', '/v1/nope'):
        response = api('GET', path, version=version)
        assert response.status == 503
        assert response.version == 'clustering 1.0'


@pytest.mark.parametrize(
    'error',
    [
        RuntimeError('secret'),
        KeyError('secret'),
        ValueError('secret'),
        oslo_messaging.RemoteError('SecretError', 'secret', ['Traceback']),
        errors.ClusteringError('secret'),
        RecursionError('secret'),
    ],
)
def test_error_when_unexpected_is_500_and_only_logged(
    api: ApiClient,
    engine: FakeEngine,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
) -> None:
    engine.error = error
    with caplog.at_level(logging.ERROR):
        response = api('GET', '/v1/clusters', version='1.8')
    assert response.status == 500
    assert response.version == 'clustering 1.8'
    assert b'secret' not in response.content.lower()
    assert response.headers['x-openstack-request-id'] in response.detail
    assert 'secret' in caplog.text
    assert 'Traceback' in caplog.text


def test_downgrade_when_lossy_in_a_race_is_the_406_of_a_fresh_negotiation(
    api: ApiClient, engine: FakeEngine, fleet: FakeFleet
) -> None:
    reason = 'ClusterCreateRequest 1.1 is needed and engine-2 speaks only 1.0'
    engine.error = exceptions.LossyDowngrade(
        'ClusterCreateRequest', 'config', "{'a': 1}", '1.1', '1.0', 'engine-2'
    )
    fleet.earlier = [Maximum(Version(1, 14))]
    fleet.max_version = Maximum(Version(1, 6), reason)
    raced = api('POST', '/v1/clusters', CLUSTER, version='1.7')
    fresh = api('POST', '/v1/clusters', CLUSTER, version='1.7')
    assert raced.status == fresh.status == 406
    assert raced.detail == fresh.detail
    assert raced.code == fresh.code == 'clustering.microversion-unsupported'
    assert raced.version == fresh.version == 'clustering 1.7'
    assert 'engine-2' in raced.detail


@pytest.mark.parametrize(
    ('error', 'maximum'),
    [
        (
            exceptions.LossyDowngrade(
                'ClusterCreateRequest', 'config', '1', '1.1', '1.0', 'engine-2'
            ),
            '1.6',
        ),
        (exceptions.UnsupportedType('ServiceListRequest', 'engine-2'), '1.6'),
        (
            exceptions.UnsupportedType('ClusterCreateRequest', 'engine-2'),
            '1.0',
        ),
    ],
)
def test_conversion_error_when_raised_is_406_with_the_maximum(
    api: ApiClient, engine: FakeEngine, error: Exception, maximum: str
) -> None:
    engine.error = error
    response = api('POST', '/v1/clusters', CLUSTER, version='1.7')
    assert response.status == 406
    item = response.json['errors'][0]
    assert item['max_version'] == maximum
    assert error.type_name in item['detail']
    assert 'engine-2' in item['detail']


def test_outage_is_logged_once_until_it_has_ended(
    api: ApiClient,
    engine: FakeEngine,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 1000.0
    monkeypatch.setattr(application_errors.time, 'monotonic', lambda: now)

    def warnings(text: str) -> int:
        engine.error = exceptions.Unreachable(text)
        caplog.clear()
        for _ in range(3):
            assert api('GET', '/v1/clusters').status == 503
        return len([r for r in caplog.records if r.levelname == 'WARNING'])

    assert warnings('the disk is full') == 1
    now += application_errors.OUTAGE_END - 1
    assert warnings('the disk is full') == 0
    assert warnings('the database is away') == 1
    now += application_errors.OUTAGE_END - 1
    assert warnings('the disk is full') == 0
    now += application_errors.OUTAGE_END
    assert warnings('the disk is full') == 1
