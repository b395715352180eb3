# SPDX-License-Identifier: Apache-2.0
"""Projects in which engines act, as a cloud served by HTTP sees them.

The real Keystone is in the functional tests.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any

import pytest
from cryptography.fernet import Fernet
from oslo_config import cfg
from sqlalchemy import orm

from engine.db import credentials, models
from engine.health import manager
from engine.providers import openstack
from engine.trusts import encryption, keystone
from engine.trusts import receiver_credentials as trust_manager
from tests import cloud as fake
from tests import sdk_warnings
from tests.unit.engine import request_helpers
from tests.unit.engine.conftest import url_of
from tests.unit.engine.engine_harness import Engine, Harness
from tests.unit.engine.policies.policy_helpers import attach, create_policy
from tests.unit.engine.policies.test_health import spec
from tests.unit.engine.providers.openstack import conftest
from vobjects.clustering import errors
from vobjects.clustering.context import RequestContext
from vobjects.clustering.requests import clusters, nodes

pytestmark = sdk_warnings.IGNORED

UNAVAILABLE = keystone.KeystoneUnavailable
KEY = Fernet.generate_key().decode()


@pytest.fixture
def cloud() -> Iterator[fake.Cloud]:
    with fake.serving() as served:
        yield served


def configured(
    harness: Harness, cloud: fake.Cloud, **options: object
) -> cfg.ConfigOpts:
    """Return a configuration for a cloud whose Keystone knows callers."""
    conf = conftest.configured(cloud, **options)
    conf.set_override('connection', url_of(harness.database), 'database')
    conf.set_override('auth_section', 'provider_openstack', 'receivers')
    conf.set_override('encryption_keys', [KEY], 'receivers')
    return conf


def engine_of(
    harness: Harness, cloud: fake.Cloud, **options: object
) -> Engine:
    conf = configured(harness, cloud, **options)
    return Engine(conf, harness.database, openstack.load(conf))


@pytest.fixture
def engine(harness: Harness, cloud: fake.Cloud) -> Engine:
    """An engine whose nodes are in the cloud."""
    return engine_of(harness, cloud)


def of(
    user: str, project: str, *roles: str, token: bool = True
) -> RequestContext:
    return RequestContext(
        user_id=user,
        project_id=project,
        roles=roles or ('member',),
        auth_token=f'token of {user}' if token else None,
    )


ALICE, BOB = of('alice', 'web'), of('bob', 'shop')


def last(harness: Harness, kind: str) -> models.Action:
    """Return the last action of a kind."""
    rows = [row for row in harness.rows(models.Action) if row.action == kind]
    return max(rows, key=lambda row: row.created_at)


def grow(engine: Engine, context: RequestContext) -> None:
    engine.run(clusters.ClusterScaleOutRequest(identity='c', count=1), context)


def later(harness: Harness) -> None:
    """Make the latest requests hours old."""

    def body(session: orm.Session) -> None:
        for row in session.query(models.ProjectTrust):
            row.used_at -= datetime.timedelta(hours=3)

    harness.database.write(body)


def test_nodes_are_created_in_the_project_of_the_caller(
    harness: Harness, cloud: fake.Cloud, engine: Engine
) -> None:
    for context in (ALICE, BOB):
        request_helpers.create_cluster(engine, 2, context=context)
        grow(engine, context)
    owners = [server['tenant_id'] for server in cloud.servers.values()]
    assert sorted(owners) == ['shop'] * 3 + ['web'] * 3
    assert {project for _line, project in cloud.scopes} == {'web', 'shop'}
    # A trust for both, however often they ask, of the roles that they have.
    assert len(cloud.requests_to('POST /identity/v3/OS-TRUST/trusts')) == 2
    for trust in cloud.trusts.values():
        assert trust['roles'] == [{'name': 'member'}]
        assert trust['impersonation'] is True
    # The stored trust is encrypted.
    for row in harness.rows(models.ProjectTrust):
        assert not [id_ for id_ in cloud.trusts if id_ in row.sealed]


def test_details_are_read_with_the_owners_trust(
    harness: Harness, cloud: fake.Cloud, engine: Engine
) -> None:
    request_helpers.create_cluster(engine, 1, context=ALICE)
    (node,) = harness.rows(models.Node)
    cloud.scopes.clear()
    request = nodes.NodeGetRequest(identity=node.id, show_details=True)
    # Reading needs no trust.
    shown = engine.call(request, of('carol', 'web', 'reader', token=False))
    assert shown.details['id'] == node.physical_id
    assert {project for _line, project in cloud.scopes} == {'web'}


def test_adopt_uses_the_callers_trust(
    cloud: fake.Cloud, engine: Engine
) -> None:
    request_helpers.create_cluster(engine, 1, context=ALICE)
    (server,) = cloud.servers
    cloud.servers['copy'] = {**cloud.servers[server], 'id': 'copy'}
    request = nodes.NodeAdoptPreviewRequest(
        identity='copy', type='os.nova.server-1.0'
    )
    assert engine.call(request, ALICE).properties['flavor']
    with pytest.raises(errors.BadRequest, match='404: Instance copy'):
        engine.call(request, BOB)


def test_action_without_trust_fails(
    harness: Harness, cloud: fake.Cloud, engine: Engine
) -> None:
    request_helpers.create_cluster(
        engine, 1, context=of('alice', 'web', token=False)
    )
    reason = last(harness, 'NODE_CREATE').status_reason
    assert reason is not None
    assert 'log in as that user and update the cluster' in reason
    assert 'user alice in project web' in reason
    assert cloud.servers == {}
    assert cloud.scopes == []
    with pytest.raises(errors.Forbidden, match='not authorized'):
        engine.call(
            clusters.ClusterUpdateRequest(identity='c', name='d'),
            RequestContext(
                user_id='alice',
                project_id='web',
                roles=['member'],
                auth_token='token of bob',
            ),
        )
    # As it says.
    grow(engine, ALICE)
    assert last(harness, 'CLUSTER_SCALE_OUT').status == 'SUCCEEDED'
    harness.assert_idle()


def test_rejected_trust_is_replaced_at_the_next_request(
    harness: Harness, cloud: fake.Cloud, engine: Engine
) -> None:
    request_helpers.create_cluster(engine, 1, context=ALICE)
    trusts = dict(cloud.trusts)
    cloud.trusts.clear()
    # The engine uses its cached token until it expires.
    cloud.token = 'other'
    check = clusters.ClusterCheckRequest(identity='c')
    engine.run(check, of('alice', 'web', token=False))
    (node,) = harness.rows(models.Node)
    assert node.status == 'ERROR'
    assert 'log in as that user' in node.status_reason
    engine.run(check, ALICE)
    assert last(harness, 'CLUSTER_CHECK').status == 'SUCCEEDED'
    (node,) = harness.rows(models.Node)
    assert node.status == 'ACTIVE'
    assert len(cloud.trusts) == 1
    assert cloud.trusts.keys().isdisjoint(trusts)
    # What Keystone has ended is forgotten.
    engine.runtime.trusts.revoke_unused()
    assert harness.rows(models.ReceiverCredential) == []
    assert harness.count(models.ProjectTrust) == 1


def test_trust_is_replaced_when_the_user_has_more_roles(
    harness: Harness, cloud: fake.Cloud, engine: Engine
) -> None:
    request_helpers.create_cluster(engine, 1, context=ALICE)
    (first,) = cloud.trusts
    grow(engine, of('alice', 'web', 'member', 'balancer'))
    engine.runtime.trusts.revoke_unused()
    (second,) = cloud.trusts.values()
    assert second['id'] != first
    assert second['roles'] == [{'name': 'member'}, {'name': 'balancer'}]
    # A request with fewer roles creates no trust.
    grow(engine, ALICE)
    assert list(cloud.trusts) == [second['id']]


def test_token_that_cannot_delegate_uses_existing_trust(
    cloud: fake.Cloud, engine: Engine
) -> None:
    request_helpers.create_cluster(engine, 0, context=ALICE)
    cloud.fail('POST', '/identity/v3/OS-TRUST', 403, 'restricted')
    grow(engine, of('alice', 'web', 'member', 'balancer'))
    assert len(cloud.servers) == 1
    with pytest.raises(errors.Forbidden, match='restricted'):
        request_helpers.create_cluster(engine, 0, context=BOB)


def test_unused_trust_is_revoked(
    any_harness: Harness, cloud: fake.Cloud
) -> None:
    engine = engine_of(any_harness, cloud)
    request_helpers.create_cluster(engine, 1, context=ALICE)
    request_helpers.create_cluster(engine, 0, context=BOB)
    engine.call(clusters.ClusterDeleteRequest(identity='c'), BOB)
    later(any_harness)
    engine.runtime.trusts.revoke_unused()
    # Bob's action is not done.
    assert len(cloud.trusts) == 2
    engine.run_actions()
    engine.runtime.trusts.revoke_unused()
    (left,) = cloud.trusts.values()
    assert left['trustor_user_id'] == 'alice'
    assert any_harness.rows(models.ReceiverCredential) == []
    engine.run(clusters.ClusterDeleteRequest(identity='c'), ALICE)
    # She has asked for something just now.
    engine.runtime.trusts.revoke_unused()
    assert len(cloud.trusts) == 1
    later(any_harness)
    engine.runtime.trusts.revoke_unused()
    assert cloud.trusts == {}
    any_harness.assert_idle()


def test_concurrent_requests_at_two_engines_keep_one_trust(
    harness: Harness,
    cloud: fake.Cloud,
    engine: Engine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = engine_of(harness, cloud)
    create = keystone.KeystoneTrusts.create

    def slowly(self: Any, *arguments: Any, **options: Any) -> str:
        monkeypatch.setattr(keystone.KeystoneTrusts, 'create', create)
        trust = create(self, *arguments, **options)
        other.runtime.admit(arguments[0])
        return trust

    for roles in (('member',), ('member', 'balancer')):
        monkeypatch.setattr(keystone.KeystoneTrusts, 'create', slowly)
        engine.runtime.admit(of('alice', 'web', *roles))
        engine.runtime.trusts.revoke_unused()
        assert len(cloud.trusts) == harness.count(models.ProjectTrust) == 1
    request_helpers.create_cluster(engine, 1, context=ALICE)
    assert len(cloud.servers) == 1


def test_polling_uses_the_owners_trust(
    harness: Harness,
    cloud: fake.Cloud,
    engine: Engine,
    caplog: pytest.LogCaptureFixture,
) -> None:
    context = of(*_CALLER)
    request_helpers.create_cluster(engine, 1, context=context)
    create_policy(
        engine, 'health', version='1.2', **spec('NODE_STATUS_POLLING')
    )
    assert attach(engine).status == 'SUCCEEDED'
    (server,) = cloud.servers.values()
    server['status'] = 'SHUTOFF'

    def look() -> list[str]:
        cloud.scopes.clear()

        def body(session: orm.Session) -> None:
            hours = datetime.timedelta(hours=2)
            for row in session.query(models.HealthRegistration):
                row.due -= hours
            for node in session.query(models.Node):
                node.updated_at -= hours

        harness.database.write(body)
        assert manager.Manager(engine.runtime, engine.member.id).step()
        return harness.statuses('NODE_RECOVER')

    trusts = dict(cloud.trusts)
    cloud.trusts.clear()
    cloud.token = 'other'
    # An engine without access does not consider nodes unhealthy.
    assert look() == []
    assert 'is unknown: the service may not act for user' in caplog.text
    cloud.trusts.update(trusts)
    assert look() == ['READY']
    assert {project for _line, project in cloud.scopes} == {'ours'}


#: User and project of a default request context.
_CALLER = ('alice', 'ours')


def test_account_service_uses_one_project_for_all(
    harness: Harness, cloud: fake.Cloud
) -> None:
    engine = engine_of(harness, cloud, account='service')
    request_helpers.create_cluster(engine, 1, context=ALICE)
    assert {server['tenant_id'] for server in cloud.servers.values()} == {
        fake.OWN_PROJECT
    }
    assert cloud.trusts == {}


def test_requests_without_tokens_use_the_service_account(
    harness: Harness, cloud: fake.Cloud
) -> None:
    conf = configured(harness, cloud)
    conf.set_override('auth_section', None, 'receivers')
    engine = Engine(conf, harness.database, openstack.load(conf))
    request_helpers.create_cluster(
        engine, 1, context=of('alice', 'web', token=False)
    )
    (server,) = cloud.servers.values()
    assert server['tenant_id'] == fake.OWN_PROJECT


def test_request_with_token_without_account_is_rejected(
    harness: Harness, cloud: fake.Cloud, caplog: pytest.LogCaptureFixture
) -> None:
    conf = configured(harness, cloud)
    conf.set_override('auth_section', None, 'receivers')
    engine = Engine(conf, harness.database, openstack.load(conf))
    with pytest.raises(errors.Unavailable, match='no account'):
        request_helpers.create_cluster(engine, 1, context=ALICE)
    assert 'an account in [receivers]' in caplog.text


def test_request_when_keystone_is_unavailable_is_rejected(
    cloud: fake.Cloud, engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    cloud.fail('POST', '/identity/v3/auth/tokens', 503)
    with pytest.raises(errors.Unavailable, match='is unavailable'):
        request_helpers.create_cluster(engine, 1, context=ALICE)


def test_rotate_keys_reencrypts_trusts_and_credentials(
    harness: Harness, cloud: fake.Cloud, engine: Engine
) -> None:
    request_helpers.create_cluster(engine, 0, context=ALICE)
    harness.database.write(
        lambda session: credentials.add(
            session, 'r', encryption.Encryptor([KEY]).encrypt('r', 'trust')
        )
    )
    new = Fernet.generate_key().decode()
    conf = configured(harness, cloud)
    conf.set_override('encryption_keys', [new, KEY], 'receivers')
    assert trust_manager.rotate_keys(conf, harness.database) == 2
    (row,) = harness.rows(models.ProjectTrust)
    assert (
        encryption.Encryptor([new]).decrypt(row.id, row.sealed) in cloud.trusts
    )


def test_undecryptable_trust_is_replaced(
    harness: Harness, cloud: fake.Cloud, engine: Engine
) -> None:
    request_helpers.create_cluster(engine, 0, context=ALICE)
    conf = configured(harness, cloud)
    new = Fernet.generate_key().decode()
    conf.set_override('encryption_keys', [new], 'receivers')
    other = Engine(conf, harness.database, openstack.load(conf))
    grow(other, ALICE)
    assert cloud.servers == {}
    grow(other, ALICE)
    assert len(cloud.servers) == 1


@pytest.mark.parametrize('is_allowed', [True, False])
def test_stacks_need_trusts_that_may_be_delegated(
    harness: Harness, cloud: fake.Cloud, is_allowed: bool
) -> None:
    conf = configured(harness, cloud)
    conf.set_override('allow_redelegation', is_allowed, 'receivers')
    engine = Engine(conf, harness.database, openstack.load(conf))
    stack_spec = {
        'type': 'os.heat.stack',
        'version': '1.0',
        'properties': {'template': {'heat_template_version': '2018-08-31'}},
    }
    request_helpers.create_profile(
        engine, 'stacks', spec=stack_spec, context=ALICE
    )
    engine.run(
        clusters.ClusterCreateRequest(
            name='c', profile_id='stacks', desired_capacity=1
        ),
        ALICE,
    )
    action = last(harness, 'NODE_CREATE')
    assert len(cloud.stacks) == is_allowed
    if is_allowed:
        assert action.status == 'SUCCEEDED'
    else:
        assert 'set [receivers] allow_redelegation' in action.status_reason


def test_disabled_user_is_reported_although_services_answer_503(
    harness: Harness, cloud: fake.Cloud, engine: Engine
) -> None:
    request_helpers.create_cluster(engine, 1, context=ALICE)
    cloud.disabled_users.add('alice')
    grow(engine, ALICE)
    action = last(harness, 'NODE_CREATE')
    assert action.status == 'FAILED'
    assert 'the service may not act for user alice' in action.status_reason
    cloud.disabled_users.clear()
    grow(engine, ALICE)
    assert last(harness, 'NODE_CREATE').status == 'SUCCEEDED'


@pytest.mark.parametrize('call', ['create', 'use', 'revoke'])
@pytest.mark.parametrize(
    ('status', 'is_rejected'),
    [(401, True), (403, True), (404, True)]
    # Limits of requests tell nothing about a trust.
    + [(status, False) for status in (0, 408, 425, 429, 500, 503)],
)
def test_only_a_decision_of_keystone_rejects_a_trust(
    harness: Harness,
    cloud: fake.Cloud,
    call: str,
    status: int,
    is_rejected: bool,
) -> None:
    conf = configured(harness, cloud)
    trust_manager.TrustManager(conf, harness.database)
    trusts = keystone.KeystoneTrusts(conf)
    trust = trusts.create(ALICE, [])
    method = 'DELETE' if call == 'revoke' else 'POST'
    path = 'auth/tokens' if call == 'use' else 'OS-TRUST'
    cloud.fail(method, f'/identity/v3/{path}', status)
    if call == 'revoke' and is_rejected:
        trusts.revoke(trust)  # it is not there any more
        return
    error = keystone.TrustRejected if is_rejected else UNAVAILABLE
    arguments: Any = (ALICE, []) if call == 'create' else (trust,)
    with pytest.raises(error):
        getattr(trusts, call)(*arguments)


def test_trust_is_kept_while_keystone_limits_requests(
    harness: Harness, cloud: fake.Cloud, engine: Engine
) -> None:
    request_helpers.create_cluster(engine, 1, context=ALICE)
    cloud.fail('POST', '/identity/v3/auth/tokens', 429)
    cloud.token = 'other'  # the engine's token has expired
    check = clusters.ClusterCheckRequest(identity='c')
    engine.run(check, of('alice', 'web', token=False))
    cloud.faults.clear()
    (row,) = harness.rows(models.ProjectTrust)
    assert not row.refused
    engine.run(check, of('alice', 'web', token=False))
    (node,) = harness.rows(models.Node)
    assert node.status == 'ACTIVE'
