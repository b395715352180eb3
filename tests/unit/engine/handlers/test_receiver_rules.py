# SPDX-License-Identifier: Apache-2.0
"""The API's policy rules for the actions of receivers, when these start."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable
from typing import Any

import pytest

from api import authentication, policy
from engine.db import models
from engine.handlers import receivers, triggers
from tests.unit.api.client import ApiClient, Response
from tests.unit.engine import (
    engine_harness,
    in_process_api,
    request_helpers,
)
from tests.unit.engine.engine_harness import Engine, Harness
from tests.unit.engine.handlers.test_messages import (
    OUT,
    actions_of,
    post,
    remaining_bodies,
)
from vobjects.clustering import errors
from vobjects.clustering.requests import receivers as requests

Apis = Callable[..., ApiClient]

#: Parameters without which an action is malformed.
PARAMS: dict[str, Any] = {
    'CLUSTER_ADD_NODES': {'nodes': ['n']},
    'CLUSTER_DEL_NODES': {'nodes': ['n']},
    'CLUSTER_REPLACE_NODES': {'nodes': {'m': 'n'}},
    'CLUSTER_ATTACH_POLICY': {'policy_id': 'p'},
    'CLUSTER_DETACH_POLICY': {'policy_id': 'p'},
    'CLUSTER_UPDATE_POLICY': {'policy_id': 'p'},
    'CLUSTER_OPERATION': {'operation': 'reboot'},
}

CLOSED = 'rule:context_is_admin'


@pytest.fixture
def engine(harness: Harness) -> Engine:
    engine = harness.engine()
    request_helpers.create_cluster(
        engine, 1, context=engine_harness.request_context()
    )
    return engine


@pytest.fixture
def engine_client(engine: Engine) -> in_process_api.EngineClient:
    return in_process_api.EngineClient(engine)


@pytest.fixture
def api(
    engine_client: in_process_api.EngineClient,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Apis:
    """Return a function that starts an API with roles and rules."""

    def start(*roles: str, **rules: str) -> ApiClient:
        monkeypatch.setattr(authentication, 'ALL_ROLES', roles)
        # An API reads its file again after a while.
        file = tmp_path / f'policy-{len([*tmp_path.iterdir()])}.yaml'
        file.write_text(
            json.dumps({k.replace('__', ':'): v for k, v in rules.items()})
        )
        conf = in_process_api.make_conf()
        policy.Enforcer(conf)  # registers the options
        conf.set_override('policy_file', str(file), 'oslo_policy')
        return in_process_api.connect(engine_client, conf)

    return start


def create(api: ApiClient, action: str) -> Any:
    receiver = {
        'name': 'r',
        'type': 'webhook',
        'cluster_id': 'c',
        'action': action,
        'params': PARAMS.get(action, {}),
    }
    return api('POST', '/v1/receivers', {'receiver': receiver})


def trigger(api: ApiClient, identity: str) -> Response:
    return api(
        'POST',
        f'/v1/webhooks/{identity}/trigger',
        environ={'QUERY_STRING': 'V=2'},
    )


@pytest.mark.parametrize('action', triggers.REQUESTS)
def test_rule_that_is_closed_later_closes_webhooks_of_members(
    api: Apis, engine: Engine, action: str
) -> None:
    rule = {policy.RECEIVER_ACTIONS[action].replace(':', '__'): CLOSED}
    opened, closed = api('member'), api('member', **rule)
    identity = create(opened, action).json['receiver']['id']
    assert trigger(closed, identity).status == 403
    assert action in trigger(closed, identity).detail
    renamed = {'receiver': {'name': 's'}}
    path = f'/v1/receivers/{identity}'
    assert closed('PATCH', path, renamed, version='1.7').status == 403
    assert create(closed, action).status == 403
    assert trigger(opened, identity).status != 403


def test_webhook_of_an_administrator_works_under_a_closed_rule(
    api: Apis, engine: Engine
) -> None:
    closed = api('admin', clusters__delete=CLOSED)
    created = create(closed, 'CLUSTER_DELETE')
    assert set(created.json['receiver']['channel']) == {'alarm_url'}
    assert created.json['receiver']['actor'] == {}
    identity = created.json['receiver']['id']
    shown = closed('GET', f'/v1/receivers/{identity}').json['receiver']
    assert (shown['actor'], set(shown['channel'])) == ({}, {'alarm_url'})
    # A member of the project cannot turn it into another tool.
    member = api('member', clusters__delete=CLOSED)
    renamed = {'receiver': {'name': 's'}}
    path = f'/v1/receivers/{identity}'
    assert member('PATCH', path, renamed, version='1.7').status == 403
    assert trigger(closed, identity).status == 202


@pytest.mark.parametrize('roles', ['reader', 'member', 'admin'])
def test_update_by_the_owner_records_the_current_roles(
    api: Apis, harness: Harness, roles: str
) -> None:
    identity = create(api('member'), 'CLUSTER_CHECK').json['receiver']['id']
    again = api(roles, receivers__update='@', clusters__action='@')
    renamed = {'receiver': {'name': 's'}}
    path = f'/v1/receivers/{identity}'
    assert again('PATCH', path, renamed, version='1.7').status == 200
    row = harness.row(models.Receiver, identity)
    assert row.channel[receivers.CREATOR]['roles'] == [roles]


@pytest.mark.parametrize(
    ('rules', 'status'),
    [
        ({}, 202),
        ({'clusters__action': CLOSED}, 403),
        ({'clusters__action': 'user_id:alice'}, 202),
        ({'clusters__action': 'project_id:other'}, 403),
    ],
)
def test_receiver_without_recorded_roles_is_that_of_a_member(
    api: Apis, harness: Harness, rules: dict[str, str], status: int
) -> None:
    identity = create(api('admin'), 'CLUSTER_CHECK').json['receiver']['id']

    def forget(session: Any) -> None:
        row = session.get(models.Receiver, identity)
        row.channel = {'alarm_url': row.channel['alarm_url']}

    harness.database.write(forget)
    assert trigger(api('reader', **rules), identity).status == status


def test_engine_of_an_earlier_release_answers_as_before(
    api: Apis, engine_client: in_process_api.EngineClient
) -> None:
    closed = api('admin', clusters__action=CLOSED)
    identity = create(closed, 'CLUSTER_CHECK').json['receiver']['id']
    engine_client.is_old = True
    assert trigger(closed, identity).status == 202
    assert trigger(closed, 'unknown').status == 404


@pytest.mark.parametrize('at_version', ['1.0', '1.9', '1.10', '1.14'])
def test_malformed_or_unknown_webhook_gives_the_same_error(
    api: Apis, engine: Engine, at_version: str
) -> None:
    started = api('member')
    path = '/v1/webhooks/{}/trigger'
    unknown = started('POST', path.format('x') + '?V=1', version=at_version)
    assert unknown.status == 404
    assert "receiver 'x' could not be found" in unknown.detail
    assert started('POST', path.format('x'), version=at_version).status == 400


@pytest.mark.parametrize(
    ('creator', 'notifier', 'starts'),
    [
        ('admin', 'admin', True),
        ('member', 'admin', False),
        ('admin', 'member', False),
    ],
)
def test_messages_start_only_actions_open_to_owner_and_notifier(
    api: Apis,
    harness: Harness,
    engine: Engine,
    creator: str,
    notifier: str,
    starts: bool,
) -> None:
    body = {'receiver': {'name': 'r', 'type': 'message'}}
    receiver = api(creator)('POST', '/v1/receivers', body).json['receiver']
    as_owner = engine_harness.request_context()
    shown = engine.call(
        requests.ReceiverGetRequest(identity=receiver['id']), as_owner
    )
    post(engine, shown, OUT)
    before = len(actions_of(harness))
    closed = api(notifier, clusters__action=CLOSED)
    path = f'/v1/receivers/{receiver["id"]}/notify'
    assert closed('POST', path).status == 204
    assert (len(actions_of(harness)) > before) is starts
    assert remaining_bodies(engine, shown) == []


def test_question_about_another_project_finds_nothing(
    api: Apis, engine: Engine
) -> None:
    created = create(api('member'), 'CLUSTER_CHECK').json['receiver']
    context = engine_harness.request_context('theirs')
    context.asks_owner = True
    with pytest.raises(errors.ResourceNotFound):
        engine.call(
            requests.ReceiverGetRequest(identity=created['id']), context
        )
