# SPDX-License-Identifier: Apache-2.0
"""Credentials of receivers, without Keystone.

Functional tests create, use and delete trusts of a real Keystone.
"""

from __future__ import annotations

import logging
import types
from typing import Any

import pytest
from cryptography.fernet import Fernet
from oslo_config import cfg

from engine.db import credentials, database, models
from engine.trusts import encryption, keystone, receiver_credentials
from tests.unit.engine import engine_harness, request_helpers
from tests.unit.engine.conftest import configuration, url_of
from tests.unit.engine.engine_harness import Engine, Harness
from tests.unit.engine.request_helpers import create_webhook, trigger_webhook
from vobjects.clustering import errors
from vobjects.clustering.requests import receivers

KEY = Fernet.generate_key().decode()

#: URL without a server.
NOWHERE = 'http://127.0.0.1:1/v3'


def with_account(target: database.Database, **options: Any) -> cfg.ConfigOpts:
    """Return a configuration with an account; options are ``[receivers]``'s.

    The section of the account is that of the API.
    """
    conf = configuration(url_of(target))
    receiver_credentials.TrustManager(conf, target)
    values = {
        'auth_type': 'password',
        'auth_url': NOWHERE,
        'username': 'u',
        'password': 'p',
    }
    keystone.loading.register_auth_conf_options(conf, 'keystone_authtoken')
    conf.register_opts(
        keystone.loading.get_auth_plugin_conf_options('password'),
        group='keystone_authtoken',
    )
    for name, value in values.items():
        conf.set_override(name, value, 'keystone_authtoken')
    for name, value in {'encryption_keys': [KEY], **options}.items():
        conf.set_override(name, value, 'receivers')
    return conf


def engine_with_account(harness: Harness) -> Engine:
    conf = with_account(harness.database)
    return Harness(conf, harness.database).engine()


def with_token() -> Any:
    context = engine_harness.request_context()
    context.auth_token = 'token-of-alice'
    return context


def test_receiver_created_without_token_has_no_credential(
    harness: Harness, engine: Engine
) -> None:
    request_helpers.create_cluster(engine, 0)
    receiver = create_webhook(engine)
    assert harness.rows(models.ReceiverCredential) == []
    assert trigger_webhook(engine, receiver.id).action


def test_receiver_without_credential_is_rejected_when_tokens_are_used(
    harness: Harness, engine: Engine
) -> None:
    request_helpers.create_cluster(engine, 0)
    receiver = create_webhook(engine)
    with pytest.raises(errors.Forbidden, match='Create the receiver again'):
        trigger_webhook(engine_with_account(harness), receiver.id)


def test_receiver_creation_without_account_is_rejected(
    harness: Harness, engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    request_helpers.create_cluster(engine, 0)
    with caplog.at_level(logging.CRITICAL + 1):
        with pytest.raises(errors.Unavailable, match='no account'):
            create_webhook(engine, context=with_token())
        with pytest.raises(errors.BadRequest, match='referenced cluster'):
            create_webhook(
                engine_with_account(harness),
                cluster_id='nothing',
                context=with_token(),
            )
        with pytest.raises(errors.Unavailable, match='identity service'):
            create_webhook(engine_with_account(harness), context=with_token())
    assert harness.rows(models.Receiver) == []


def test_receiver_when_keystone_is_unavailable_is_rejected(
    harness: Harness, engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    request_helpers.create_cluster(engine, 0)
    receiver = create_webhook(engine)
    sealed = encryption.Encryptor([KEY]).encrypt(receiver.id, 'trust')
    harness.database.write(
        lambda session: credentials.add(session, receiver.id, sealed)
    )
    other = engine_with_account(harness)
    with caplog.at_level(logging.CRITICAL + 1):
        with pytest.raises(errors.Unavailable, match='identity service'):
            trigger_webhook(other, receiver.id)
        # It is deleted; its trust is revoked when Keystone answers.
        other.call(receivers.ReceiverDeleteRequest(identity=receiver.id))
        assert harness.rows(models.Receiver) == []
        with pytest.raises(keystone.KeystoneUnavailable):
            other.runtime.trusts.revoke_unused()
    assert harness.count(models.ReceiverCredential) == 1


def test_undecryptable_credential_is_kept(
    harness: Harness, caplog: pytest.LogCaptureFixture
) -> None:
    lost_key = encryption.Encryptor([Fernet.generate_key().decode()])
    harness.database.write(
        lambda session: credentials.add(
            session, 'r', lost_key.encrypt('r', 'trust')
        )
    )
    with caplog.at_level(logging.CRITICAL + 1):
        engine_with_account(harness).runtime.trusts.revoke_unused()
    assert harness.count(models.ReceiverCredential) == 1


def test_unused_credentials_belong_to_deleted_receivers(
    any_harness: Harness,
) -> None:
    engine = any_harness.engine()
    cluster = request_helpers.create_cluster(engine, 0)
    receiver = create_webhook(engine)

    def store(*ids: str) -> None:
        for id_ in ids:
            any_harness.database.write(
                lambda session, id_=id_: credentials.add(session, id_, 'x')
            )

    def unused_ids(after: str = '') -> list[str]:
        with any_harness.database.reader() as session:
            return list(credentials.unused(session, after))

    store(receiver.id, '~1', '~2')
    assert unused_ids() == ['~1', '~2']
    assert unused_ids('~1') == ['~2']
    # The deletion of its cluster deletes it, but not its credential.
    engine.run(request_helpers.clusters.ClusterDeleteRequest(identity=cluster))
    assert unused_ids() == sorted([receiver.id, '~1', '~2'])


def test_rotate_keys_reencrypts_all_credentials(
    any_harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(credentials, 'BATCH', 2)
    target, new = any_harness.database, Fernet.generate_key().decode()
    old = encryption.Encryptor([KEY])
    for id_ in 'abcde':
        target.write(
            lambda session, id_=id_: credentials.add(
                session, id_, old.encrypt(id_, f'trust-{id_}')
            )
        )
    conf = with_account(target, encryption_keys=[new, KEY])
    assert receiver_credentials.rotate_keys(conf, target) == 5
    encryptor = encryption.Encryptor([new])
    assert [
        encryptor.decrypt(row.receiver_id, row.sealed)
        for row in any_harness.rows(models.ReceiverCredential)
    ] == [f'trust-{id_}' for id_ in 'abcde']


@pytest.mark.parametrize(
    ('options', 'error', 'message'),
    [
        ({'encryption_keys': []}, encryption.InvalidKey, 'generate_key'),
        ({'auth_type': 'v3token'}, keystone.InvalidAccount, 'receivers'),
        ({'auth_type': 'magic'}, keystone.InvalidAccount, 'magic'),
    ],
)
def test_unusable_account_is_rejected_at_start(
    harness: Harness, options: dict[str, Any], error: Any, message: str
) -> None:
    conf = with_account(harness.database, **options)
    if 'auth_type' in options:
        conf.set_override('auth_section', None, 'receivers')
    with pytest.raises(error, match=message):
        receiver_credentials.TrustManager(conf, harness.database)


@pytest.mark.parametrize(
    ('answer', 'roles'),
    [
        (['operator', 'reader'], ['operator', 'reader']),
        (keystone.TrustRejected('gone'), ['member']),
        (keystone.KeystoneUnavailable('away'), ['member']),
        (None, ['member']),
    ],
)
def test_roles_of_an_owner_without_recorded_roles_are_those_of_the_trust(
    harness: Harness,
    monkeypatch: pytest.MonkeyPatch,
    answer: Any,
    roles: list[str],
) -> None:
    request_helpers.create_cluster(harness.engine())
    hook = create_webhook(harness.engine())
    engine = engine_with_account(harness)
    encryptor = encryption.Encryptor([KEY])

    def change(session: Any) -> None:
        row = session.get(models.Receiver, hook.id)
        row.channel = {'alarm_url': row.channel['alarm_url']}
        if answer is not None:
            sealed = encryptor.encrypt(hook.id, 'trust')
            credentials.add(session, hook.id, sealed)

    def use(trusts: Any, trust: str) -> Any:
        assert trust == 'trust'
        if isinstance(answer, Exception):
            raise answer
        return types.SimpleNamespace(role_names=answer)

    harness.database.write(change)
    monkeypatch.setattr(keystone.KeystoneTrusts, 'use', use)
    caller = engine_harness.request_context()
    caller.asks_owner = True
    request = receivers.ReceiverGetRequest(identity=hook.id)
    assert engine.call(request, caller).actor == {'roles': roles}
