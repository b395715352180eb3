# SPDX-License-Identifier: Apache-2.0
"""Credentials by which receivers act for their owners.

If the owner authenticates with a Keystone token, a new receiver gets a trust
of that owner. Each call of the receiver uses the trust, so that it succeeds
only while the owner has the same permissions: it fails if the owner is
disabled, deleted or has lost a role. Without tokens (``auth_strategy`` none or
http_basic), receivers have no credentials.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Sequence
from typing import Any

from oslo_config import cfg
from sqlalchemy import orm

from engine.db import credentials, database, models
from engine.providers import base as providers
from engine.trusts import conf as trusts_conf
from engine.trusts import encryption, keystone, project_trusts
from engine.trusts.conf import GROUP
from vobjects import exceptions
from vobjects.clustering import errors
from vobjects.clustering.context import RequestContext

LOG = logging.getLogger(__name__)


class TrustManager:
    """Create, check and revoke the credentials of receivers and projects.

    :param conf: the configuration, with ``[receivers]``
    :param target: the database
    :raises engine.trusts.encryption.InvalidKey: there is an account, but no
        valid encryption key
    :raises engine.trusts.keystone.InvalidAccount: the account cannot act for
        users
    """

    def __init__(
        self, conf: cfg.ConfigOpts, target: database.Database
    ) -> None:
        self._database = target
        self._roles = conf[GROUP].trust_roles
        self._trusts: keystone.KeystoneTrusts | None = None
        self._encryptor: encryption.Encryptor | None = None
        self._projects: project_trusts.ProjectTrusts | None = None
        if trusts_conf.has_account(conf):
            self._trusts = keystone.KeystoneTrusts(conf)
            self._encryptor = encryption.Encryptor(conf[GROUP].encryption_keys)
            self._projects = project_trusts.ProjectTrusts(
                target,
                self._trusts,
                self._encryptor,
                self._roles,
                redelegations=int(conf[GROUP].allow_redelegation),
            )

    @property
    def is_enabled(self) -> bool:
        """Whether ``[receivers]`` configures an account to act with."""
        return self._trusts is not None

    @contextlib.contextmanager
    def create_credential(
        self, context: RequestContext, receiver_id: str
    ) -> Iterator[str | None]:
        """Yield the encrypted credential for a new receiver.

        Yields None if the owner has no token. If the block raises an
        exception, the credential is revoked.

        :raises vobjects.clustering.errors.Forbidden: the caller is not allowed
            to delegate
        :raises vobjects.clustering.errors.Unavailable: Keystone does not
            respond
        """
        if context.auth_token is None:
            yield None
            return
        if self._trusts is None or self._encryptor is None:
            raise _no_account()
        try:
            trust = self._trusts.create(context, self._roles)
        except (keystone.TrustRejected, keystone.KeystoneUnavailable) as error:
            raise project_trusts.client_error(error) from None
        try:
            yield self._encryptor.encrypt(receiver_id, trust)
        except BaseException:
            with contextlib.suppress(keystone.KeystoneUnavailable):
                self._trusts.revoke(trust)
            raise

    def check_receiver(self, receiver_id: str) -> None:
        """Check that a receiver's owner still has the delegated permissions.

        :raises vobjects.clustering.errors.Forbidden: the owner was deleted or
            has lost roles
        :raises vobjects.clustering.errors.Unavailable: Keystone does not
            respond, or the credential cannot be decrypted
        """
        if self._trusts is None or self._encryptor is None:
            return
        with self._database.reader() as session:
            sealed = credentials.get(session, receiver_id)
        if sealed is None:
            raise errors.Forbidden(
                'The receiver has no credential, because its creator had no'
                ' token. Create the receiver again.'
            )
        try:
            self._trusts.use(self._encryptor.decrypt(receiver_id, sealed))
        except keystone.TrustRejected as error:
            LOG.warning(
                'Keystone rejects the trust of receiver %s: %s',
                receiver_id,
                error,
            )
            raise errors.Forbidden(
                'The receiver is no longer allowed to act for its owner.'
            ) from None
        except (
            keystone.KeystoneUnavailable,
            encryption.DecryptionError,
        ) as error:
            raise _unavailable(error) from None

    def roles(self, receiver_id: str) -> list[str]:
        """Return the names of the roles that a receiver's owner delegated.

        :returns: empty if they are not known; :meth:`check_receiver` tells why
        """
        if self._trusts is None or self._encryptor is None:
            return []
        with self._database.reader() as session:
            sealed = credentials.get(session, receiver_id)
        if sealed is None:
            return []
        try:
            trust = self._encryptor.decrypt(receiver_id, sealed)
            return list(self._trusts.use(trust).role_names or ())
        except (
            keystone.TrustRejected,
            keystone.KeystoneUnavailable,
            encryption.DecryptionError,
        ):
            return []

    def ensure_project_trust(self, context: RequestContext) -> None:
        """Check that engines can act in the caller's project later.

        A caller without a token has nothing to delegate.

        :raises vobjects.clustering.errors.Forbidden: the caller is not allowed
            to delegate
        :raises vobjects.clustering.errors.Unavailable: Keystone does not
            respond
        """
        if context.auth_token is None:
            return
        if self._projects is None:
            raise _no_account()
        try:
            self._projects.ensure_trust(context)
        except (keystone.TrustRejected, keystone.KeystoneUnavailable) as error:
            raise project_trusts.client_error(error) from None

    def authorization(
        self, user: str | None, project: str | None
    ) -> providers.Authorization | None:
        """Return the right to act for a user in a project.

        :returns: None if there is no account, so that users delegate nothing
        :raises engine.providers.base.NotAuthorized: this user has not
            delegated any
        """
        if self._projects is None:
            return None
        return self._projects.authorization(user, project)

    def revoke(self, receiver_id: str) -> None:
        """Revoke the credential of a deleted receiver, if it has one.

        :raises engine.trusts.keystone.KeystoneUnavailable: Keystone does not
            respond
        """
        if self._trusts is None or self._encryptor is None:
            return
        with self._database.reader() as session:
            sealed = credentials.get(session, receiver_id)
        if sealed is None:
            return
        try:
            self._trusts.revoke(self._encryptor.decrypt(receiver_id, sealed))
        except encryption.DecryptionError as error:
            # Keep the row: the operator may add the missing key again.
            LOG.error('Cannot revoke credential %s: %s', receiver_id, error)
            return
        self._database.write(
            lambda session: credentials.delete(session, receiver_id)
        )

    def revoke_unused(self) -> None:
        """Revoke all unused credentials.

        These are the credentials of deleted receivers, and of users who own no
        resources.

        :raises engine.trusts.keystone.KeystoneUnavailable: Keystone does not
            respond
        """
        if self._projects is not None:
            self._projects.retire_unused()
        ids: Sequence[str] = ['']
        while ids:
            with self._database.reader() as session:
                ids = credentials.unused(session, after=ids[-1])
            for receiver_id in ids:
                self.revoke(receiver_id)


def rotate_keys(conf: cfg.ConfigOpts, target: database.Database) -> int:
    """Encrypt all credentials with the first key.

    :returns: the number of credentials
    :raises engine.trusts.encryption.InvalidKey: there is no valid key
    :raises engine.trusts.encryption.DecryptionError: no key decrypts a
        credential; the preceding batches are committed
    """
    encryptor = encryption.Encryptor(conf[GROUP].encryption_keys)
    return sum(
        _rotate_table(target, model, encryptor)
        for model in (models.ReceiverCredential, models.ProjectTrust)
    )


def _rotate_table(
    target: database.Database, model: Any, encryptor: encryption.Encryptor
) -> int:
    after, total = '', 0
    while True:

        def body(session: orm.Session, after: str = after) -> tuple[str, int]:
            return credentials.reencrypt(
                session, model, after, encryptor.rotate
            )

        after, number = target.write(body)
        total += number
        if number < credentials.BATCH:
            return total


def _no_account() -> errors.Unavailable:
    LOG.error(
        'Cannot act for users of Keystone: set the options of an account in'
        ' [%s]',
        GROUP,
    )
    return errors.Unavailable(
        'This service has no account with which it can act for you.'
    )


def _unavailable(error: exceptions.VobjectsError) -> errors.Unavailable:
    LOG.error('Cannot act for the owner of a receiver: %s', error)
    return errors.Unavailable(
        'The identity service did not confirm the trust of the owner of the'
        ' receiver.'
    )
