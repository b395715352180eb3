# SPDX-License-Identifier: Apache-2.0
"""Actions that only some microversions have; the service has none."""

from __future__ import annotations

import dataclasses
import io
import json
from typing import Any

import pytest

from api import authentication, dispatcher, policy, routes
from api.service import Service
from tests.unit.api import conftest
from tests.unit.api.fake_engine import FakeEngine
from tests.unit.vobjects.microversions import samples, wsgi
from vobjects.microversions import presets
from vobjects.microversions.middleware import Microversions
from vobjects.rpc import byte_budget

PATH = '/v1/clusters/c1/actions'

OLD = next(
    route
    for route in routes.ROUTES
    if route.params.dispatch_on_key and route.path == routes.CLUSTER_ACTIONS
)
YOUNG = dataclasses.replace(
    OLD,
    request=samples.SampleDanceRequest,
    params=routes.action('dance'),
    lookup_first=None,
)


@pytest.fixture(scope='module')
def app() -> Microversions:
    conf = conftest.make_conf()
    service = Service(
        versions=presets.SENLIN,
        client=FakeEngine(),
        maximum=presets.SENLIN.limit,
        authenticate=authentication.strategy(conf),
        enforcer=policy.Enforcer(conf),
        max_body_size=conf.api.max_body_size,
        max_json_size=conf.api.max_json_size,
        max_limit=conf.api.max_limit,
        lists=byte_budget.ByteBudget(1 << 26),
    )
    return Microversions(
        dispatcher.Dispatcher((OLD, YOUNG), service), presets.SENLIN
    )


def rejection(
    app: Microversions, version: str, body: dict[str, Any]
) -> tuple[int, dict[str, Any]]:
    content = json.dumps(body).encode()
    response = wsgi.call(
        app,
        PATH,
        method='POST',
        headers={'OpenStack-API-Version': f'clustering {version}'},
        **{
            'CONTENT_TYPE': 'application/json',
            'CONTENT_LENGTH': str(len(content)),
            'wsgi.input': io.BytesIO(content),
        },
    )
    (item,) = response.json['errors']
    return response.status, item


def test_action_when_the_version_lacks_it_names_its_first_version(
    app: Microversions,
) -> None:
    status, item = rejection(app, '1.8', {'dance': {}})

    assert status == 404
    assert item['available_from'] == '1.9'
    assert item['detail'] == (
        "POST /v1/clusters/{identity}/actions with 'dance' needs API version"
        ' 1.9 or later; this request asked for 1.8.'
    )


def test_action_when_the_version_has_it_is_read(app: Microversions) -> None:
    status, item = rejection(app, '1.9', {'dance': {'stile': 'tango'}})

    assert (status, item['code']) == (400, 'clustering.validation-failed')
    assert "did you mean 'style'?" in item['detail']


def test_action_when_unknown_lists_those_of_the_version(
    app: Microversions,
) -> None:
    _, early = rejection(app, '1.8', {'danse': {}})
    _, late = rejection(app, '1.9', {'danse': {}})

    old = repr(OLD.params.key)
    assert early['detail'] == (
        f"body.danse: unknown action; must be one of {old}, not 'danse'."
    )
    assert late['detail'] == (
        f"body.danse: unknown action; must be one of {old}, 'dance', not"
        " 'danse'; did you mean 'dance'?"
    )


def test_token_when_the_engine_acts_later_is_forwarded() -> None:
    forwarding = [route for route in routes.ROUTES if route.forwards_token]
    assert not [route.path for route in forwarding if route.method == 'GET']
    assert not [route.path for route in forwarding if route.public]
    methods = {(route.method, route.path) for route in forwarding}
    assert {
        ('POST', '/v1/clusters'),
        ('PATCH', '/v1/clusters/{identity}'),
        ('POST', '/v1/nodes'),
        ('POST', '/v1/nodes/adopt'),
        ('POST', '/v1/nodes/adopt-preview'),
        ('POST', '/v1/receivers'),
        ('POST', '/v1/clusters/{identity}/actions'),
    } <= methods
    assert ('POST', '/v1/profiles') not in methods
