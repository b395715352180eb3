# SPDX-License-Identifier: Apache-2.0
"""Trusts of Keystone: a user lets our account act in its place.

A trust is good for one project and some roles. It has no secret of its own:
to use it takes our account's password, too. Keystone drops it with the user
or the project, and honours it only while the user still has those roles.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from keystoneauth1 import access, adapter, loading, plugin
from keystoneauth1 import exceptions as keystone
from oslo_config import cfg

from engine.delegations.conf import GROUP
from vobjects import exceptions
from vobjects.clustering.context import RequestContext
from vobjects.rpc import gate

#: What a token for a trust must not be for besides.
_NO_SCOPE = dict.fromkeys(
    (
        'project_id',
        'project_name',
        'project_domain_id',
        'project_domain_name',
        'domain_id',
        'domain_name',
        'system_scope',
    )
)


class BadAccount(exceptions.VobjectsError):
    """The account of ``[receivers]`` cannot act for others."""


class Refused(exceptions.VobjectsError):
    """Keystone does not allow it; the message has its reason."""


class Silent(exceptions.VobjectsError):
    """Keystone does not answer, or not to our account."""


class Trusts:
    """Makes, uses and ends trusts.

    :param conf: with ``[receivers]``; nothing is asked yet
    :raises BadAccount: the account is not one of a name and a password
    """

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self._conf = conf
        try:
            self._session = loading.load_session_from_conf_options(conf, GROUP)
            self._account = self._plugin()
            self._plugin(trust_id='none yet')
        except (keystone.ClientException, TypeError) as error:
            raise BadAccount(f'[{GROUP}]: {error}') from None
        self._identity = adapter.Adapter(
            self._session,
            auth=self._account,
            interface=cast(Any, plugin.AUTH_INTERFACE),
            service_type='identity',
            min_version='3',
            max_version='3.latest',
        )

    @property
    def url(self) -> str:
        """Where Keystone is."""
        return str(self._account.auth_url)

    @gate.waiting()
    def create(self, context: RequestContext, roles: Sequence[str]) -> str:
        """Have the caller trust us.

        :param context: with the caller's token
        :param roles: that the caller hands on; none: all it has
        :returns: the ID of the trust
        :raises Refused: the caller may not, or has not these roles
        :raises Silent: nobody answered
        """
        wanted = roles or context.roles
        ours = self._our_id()
        try:
            answer = self._identity.post(
                '/OS-TRUST/trusts',
                headers={'X-Auth-Token': context.auth_token},
                authenticated=False,
                json={
                    'trust': {
                        'trustor_user_id': context.user_id,
                        'trustee_user_id': ours,
                        'project_id': context.project_id,
                        'impersonation': True,
                        'roles': [{'name': role} for role in wanted],
                    }
                },
            )
        except keystone.HTTPClientError as error:
            raise Refused(str(error)) from None
        except keystone.ClientException as error:
            raise Silent(str(error)) from None
        return str(answer.json()['trust']['id'])

    @gate.waiting()
    def use(self, trust: str) -> access.AccessInfo:
        """Return a new token by a trust, and what it is good for.

        :raises Refused: for nothing any more
        :raises Silent: nobody answered
        """
        try:
            found: access.AccessInfo = self._plugin(trust_id=trust).get_access(
                self._session
            )
        except keystone.HTTPClientError as error:
            self._our_id()  # the password may be what is wrong
            raise Refused(str(error)) from None
        except keystone.ClientException as error:
            raise Silent(str(error)) from None
        return found

    @gate.waiting()
    def revoke(self, trust: str) -> None:
        """End a trust; harmless when it has ended.

        :raises Silent: nobody answered
        """
        try:
            self._session.delete(
                f'{self._identity.get_endpoint()}/OS-TRUST/trusts/{trust}',
                # Who trusts may end it, and that is who we are with it.
                auth=self._plugin(trust_id=trust),
            )
        except keystone.HTTPClientError:
            self._our_id()
            # Else it is of no use to anybody any more.
        except keystone.ClientException as error:
            raise Silent(str(error)) from None

    def _our_id(self) -> str:
        """Return the ID of our account, which Keystone lets in.

        :raises Silent: it does not
        """
        try:
            return str(self._account.get_access(self._session).user_id)
        except keystone.ClientException as error:
            raise Silent(str(error)) from None

    def _plugin(self, trust_id: str | None = None) -> Any:
        scope = {**_NO_SCOPE, 'trust_id': trust_id} if trust_id else {}
        found = loading.load_auth_from_conf_options(self._conf, GROUP, **scope)
        assert found is not None  # see has_account()
        return found
