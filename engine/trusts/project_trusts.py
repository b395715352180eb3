# SPDX-License-Identifier: Apache-2.0
"""Act in a cloud for users in their projects.

A request for work that an engine does later carries the user's token. On the
first such request, the service creates a trust of that user for that project.
Engines use the trust to get tokens, as long as they have work to do there.
"""

from __future__ import annotations

import datetime
import logging
from collections.abc import Callable, Sequence
from typing import Any

from keystoneauth1 import access
from keystoneauth1.identity import base as identity
from oslo_db import exception as oslo_db_exception
from sqlalchemy import orm

from engine.db import clock, database, models
from engine.db import trusts as table
from engine.providers import base as providers
from engine.trusts import encryption, keystone
from vobjects.clustering import errors
from vobjects.clustering.context import RequestContext

LOG = logging.getLogger(__name__)

#: Seconds to keep an unused trust. A user who creates and deletes clusters all
#: day does not need a new trust each time, and a new request has the time to
#: be stored.
RETENTION = 3600.0


class ProjectTrusts:
    """Creates and uses the trusts of users for their projects.

    :param roles: the roles that users delegate; empty: all their roles
    :param redelegations: how many times the services of the cloud may delegate
        a trust
    """

    def __init__(
        self,
        target: database.Database,
        trusts: keystone.KeystoneTrusts,
        encryptor: encryption.Encryptor,
        roles: Sequence[str],
        redelegations: int = 0,
    ) -> None:
        self._database = target
        self._trusts = trusts
        self._encryptor = encryptor
        self._roles = roles
        self._redelegations = redelegations

    def ensure_trust(self, context: RequestContext) -> None:
        """Check that engines can do later what the caller requests.

        :param context: the context of the request, with the caller's token
        :raises engine.trusts.keystone.TrustRejected: the caller is not allowed
            to delegate
        :raises engine.trusts.keystone.KeystoneUnavailable: Keystone does not
            respond
        """
        with self._database.reader() as session:
            row = table.get(session, context.user_id, context.project_id)
            now = clock.now(session)
        if row is not None and self._is_sufficient(row, context, now):
            return
        try:
            trust = self._trusts.create(
                context, self._roles, redelegations=self._redelegations
            )
        except keystone.TrustRejected:
            if row is None or row.refused:
                raise
            # This token has fewer rights than the one that created the trust.
            return
        if not self._store(context, row, trust):
            self._trusts.revoke(trust)

    def authorization(
        self, user: str | None, project: str | None
    ) -> providers.Authorization:
        """Return the right to act for a user in a project.

        :raises engine.providers.base.NotAuthorized: there is no trust
        """
        with self._database.reader() as session:
            row = table.get(session, user, project)
        if row is None:
            raise _not_authorized(user, project)
        return providers.Authorization(
            row.id, _Auth(self._trusts.url, lambda: self._access(row))
        )

    def retire_unused(self, retention: float = RETENTION) -> None:
        """Retire the trusts that were not used for ``retention`` seconds."""
        while self._database.write(
            lambda session: table.retire_unused(session, retention)
        ):
            pass

    def _is_sufficient(
        self,
        row: models.ProjectTrust,
        context: RequestContext,
        now: datetime.datetime,
    ) -> bool:
        """Tell whether a trust is as good as a new one, and record its use."""
        roles = set(self._roles or context.roles)
        if row.refused or not roles <= set(row.roles):
            return False
        if (now - row.used_at).total_seconds() < table.PRECISION:
            return True
        return self._database.write(
            lambda session: table.touch(session, row.id)
        )

    def _store(
        self,
        context: RequestContext,
        replaced: models.ProjectTrust | None,
        trust: str,
    ) -> bool:
        """Store a new trust, unless another engine was faster."""
        id_ = models.new_id()

        def body(session: orm.Session) -> bool:
            row = models.ProjectTrust(
                id=id_,
                user=context.user_id,
                project=context.project_id,
                sealed=self._encryptor.encrypt(id_, trust),
                roles=sorted(self._roles or context.roles),
            )
            replaced_id = None if replaced is None else replaced.id
            return table.replace(session, replaced_id, row)

        try:
            return self._database.write(body)
        except oslo_db_exception.DBDuplicateEntry:
            return False

    def _access(self, row: models.ProjectTrust) -> access.AccessInfo:
        """Return a new token.

        :raises engine.providers.base.NotAuthorized: the trust is no longer
            valid
        :raises engine.providers.base.ProviderError: Keystone does not respond
        """
        try:
            return self._trusts.use(
                self._encryptor.decrypt(row.id, row.sealed)
            )
        except keystone.KeystoneUnavailable as error:
            LOG.warning('Cannot act for user %s: %s', row.user, error)
            raise providers.ProviderError(
                'the identity service did not issue a token for user'
                f' {row.user}'
            ) from None
        except (keystone.TrustRejected, encryption.DecryptionError) as error:
            LOG.warning(
                'Keystone rejects the trust of user %s for project %s: %s',
                row.user,
                row.project,
                error,
            )
            self._database.write(
                lambda session: table.mark_refused(session, row.id)
            )
            raise _not_authorized(row.user, row.project) from None


class _Auth(identity.BaseIdentityPlugin):
    """Authenticates a keystoneauth session by a trust.

    :param url: the URL of Keystone
    :param get: returns a new token
    """

    def __init__(self, url: str, get: Callable[[], access.AccessInfo]) -> None:
        super().__init__(auth_url=url)
        self._get = get

    def get_auth_ref(self, session: Any, **options: Any) -> access.AccessInfo:
        """Return a new token; the session itself is not used."""
        return self._get()


def _not_authorized(
    user: str | None, project: str | None
) -> providers.NotAuthorized:
    return providers.NotAuthorized(
        f'the service may not act for user {user} in project {project}:'
        ' log in as that user and update the cluster'
    )


def client_error(
    error: keystone.TrustRejected | keystone.KeystoneUnavailable,
) -> errors.ClusteringError:
    """Convert an error of Keystone to an error for the caller."""
    if isinstance(error, keystone.TrustRejected):
        return errors.Forbidden(
            'The identity service does not allow this service to act for you:'
            f' {error}'
        )
    LOG.error('Cannot act for a user: %s', error)
    return errors.Unavailable('The identity service is unavailable.')
