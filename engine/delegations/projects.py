# SPDX-License-Identifier: Apache-2.0
"""Acting in a cloud for users, in their own projects.

Whoever asks for something that an engine will do later comes with a token.
By it a trust of that user for that project is made, once; engines get tokens
of their own by it as long as there is something to do there.
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
from engine.delegations import box, trusts
from engine.providers import base as providers
from vobjects.clustering import errors
from vobjects.clustering.context import RequestContext

LOG = logging.getLogger(__name__)

#: Seconds for which a trust is kept that nothing uses: who makes and removes
#: clusters all day does not need a new one each time, and what is asked for
#: just now has the time to be written down.
KEPT_FOR = 3600.0


class Projects:
    """See the module's docstring.

    :param roles: that users hand on; none: all that they have
    """

    def __init__(
        self,
        target: database.Database,
        made: trusts.Trusts,
        opened: box.Box,
        roles: Sequence[str],
    ) -> None:
        self._database = target
        self._trusts = made
        self._box = opened
        self._roles = roles

    def admit(self, context: RequestContext) -> None:
        """See that engines can do later what the caller asks for.

        :param context: with the caller's token
        :raises engine.delegations.trusts.Refused: the caller may not delegate
        :raises engine.delegations.trusts.Silent: nobody could be asked
        """
        with self._database.reader() as session:
            known = table.get(session, context.user_id, context.project_id)
            now = clock.now(session)
        if known is not None and self._will_do(known, context, now):
            return
        try:
            trust = self._trusts.create(context, self._roles)
        except trusts.Refused:
            if known is None or known.refused:
                raise
            # Its token is good for less than the one that it came with first.
            return
        if not self._keep(context, known, trust):
            self._trusts.revoke(trust)

    def of(
        self, user: str | None, project: str | None
    ) -> providers.Delegation:
        """Return the right to act for a user in a project.

        :raises engine.providers.base.NotDelegated: nobody has given it
        """
        with self._database.reader() as session:
            row = table.get(session, user, project)
        if row is None:
            raise _not_delegated(user, project)
        return providers.Delegation(
            row.id, _Auth(self._trusts.url, lambda: self._access(row))
        )

    def retire_unused(self, kept_for: float = KEPT_FOR) -> None:
        """Have the trusts revoked that nothing has used for so long."""
        while self._database.write(
            lambda session: table.retire_unused(session, kept_for)
        ):
            pass

    def _will_do(
        self,
        row: table.ProjectTrust,
        context: RequestContext,
        now: datetime.datetime,
    ) -> bool:
        """Tell whether a trust is as good as a new one, and note its use."""
        wanted = set(self._roles or context.roles)
        if row.refused or not wanted <= set(row.roles):
            return False
        if (now - row.used_at).total_seconds() < table.PRECISION:
            return True
        return self._database.write(
            lambda session: table.touch(session, row.id)
        )

    def _keep(
        self,
        context: RequestContext,
        known: table.ProjectTrust | None,
        trust: str,
    ) -> bool:
        """Keep a new trust, unless another engine was faster."""
        id_ = models.new_id()

        def body(session: orm.Session) -> bool:
            row = table.ProjectTrust(
                id=id_,
                user=context.user_id,
                project=context.project_id,
                sealed=self._box.seal(id_, trust),
                roles=sorted(self._roles or context.roles),
            )
            replaced = None if known is None else known.id
            return table.replace(session, replaced, row)

        try:
            return self._database.write(body)
        except oslo_db_exception.DBDuplicateEntry:
            return False

    def _access(self, row: table.ProjectTrust) -> access.AccessInfo:
        """Return a new token.

        :raises engine.providers.base.NotDelegated: there is none any more
        :raises engine.providers.base.ProviderError: nobody could be asked
        """
        try:
            return self._trusts.use(self._box.open(row.id, row.sealed))
        except trusts.Silent as error:
            LOG.warning('Cannot act for user %s: %s', row.user, error)
            raise providers.ProviderError(
                'the identity service could not be asked about user'
                f' {row.user}'
            ) from None
        except (trusts.Refused, box.Unreadable) as error:
            LOG.warning(
                'The trust of user %s for project %s is refused: %s',
                row.user,
                row.project,
                error,
            )
            self._database.write(lambda session: table.refuse(session, row.id))
            raise _not_delegated(row.user, row.project) from None


class _Auth(identity.BaseIdentityPlugin):
    """Authenticates by a trust, for a session of keystoneauth.

    :param url: of Keystone
    :param get: returns a new token
    """

    def __init__(self, url: str, get: Callable[[], access.AccessInfo]) -> None:
        super().__init__(auth_url=url)
        self._get = get

    def get_auth_ref(self, session: Any, **options: Any) -> access.AccessInfo:
        """Return a new token; the session is not for Keystone."""
        return self._get()


def _not_delegated(
    user: str | None, project: str | None
) -> providers.NotDelegated:
    return providers.NotDelegated(
        f'the service may not act for user {user} in project {project} (any'
        ' more): log in as that user and update the cluster'
    )


def refusal(error: trusts.Refused | trusts.Silent) -> errors.ClusteringError:
    """Return what a caller is told who cannot be acted for."""
    if isinstance(error, trusts.Refused):
        return errors.Forbidden(
            'The identity service does not let you have the service act for'
            f' you: {error}'
        )
    LOG.error('Cannot act for a user: %s', error)
    return errors.Unavailable('The identity service could not be asked.')
