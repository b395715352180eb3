# SPDX-License-Identifier: Apache-2.0
"""Trusts in Keystone: a user lets the service's account act for them.

A trust covers one project and some roles. It has no secret: using it requires
the password of the service's account, too. Keystone deletes the trust with the
user or the project, and accepts it only while the user has those roles.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from keystoneauth1 import access, adapter, loading, plugin
from keystoneauth1 import exceptions as keystone
from oslo_config import cfg

from engine.trusts.conf import GROUP
from vobjects import exceptions, tls_files
from vobjects.clustering.context import RequestContext
from vobjects.rpc import concurrency_limit

#: Scopes that a token for a trust must not have.
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


#: Statuses of Keystone, or of a proxy in front of it, that decide nothing.
_UNDECIDED = (408, 425, 429)


class InvalidAccount(exceptions.VobjectsError):
    """Raised when the account of ``[receivers]`` cannot act for users."""


class TrustRejected(exceptions.VobjectsError):
    """Raised when Keystone rejects a request; the message has its reason."""


class KeystoneUnavailable(exceptions.VobjectsError):
    """Raised when Keystone does not respond, or rejects the account."""


class KeystoneTrusts:
    """Creates, uses and deletes trusts.

    :param conf: the configuration, with ``[receivers]``; Keystone is not
        called yet
    :raises InvalidAccount: the account does not authenticate by name and
        password
    """

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self._conf = conf
        tls_files.check(f'[{GROUP}]', conf[GROUP])
        try:
            self._session = loading.load_session_from_conf_options(conf, GROUP)
            self._account = self._plugin()
            self._plugin(trust_id='none yet')
        except (keystone.ClientException, TypeError) as error:
            raise InvalidAccount(f'[{GROUP}]: {error}') from None
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
        """The URL of Keystone."""
        return str(self._account.auth_url)

    @concurrency_limit.released()
    def create(
        self,
        context: RequestContext,
        roles: Sequence[str],
        *,
        redelegations: int = 0,
    ) -> str:
        """Create a trust of the caller for the service's account.

        :param context: the context of a request, with the caller's token
        :param roles: the names of the roles to delegate; empty: all the
            caller's roles
        :param redelegations: how many times other services may delegate it
        :returns: the ID of the trust
        :raises TrustRejected: the caller is not allowed to, or lacks these
            roles
        :raises KeystoneUnavailable: Keystone does not respond
        """
        role_names = roles or context.roles
        trustee_id = self._our_id()
        try:
            response = self._identity.post(
                '/OS-TRUST/trusts',
                headers={'X-Auth-Token': context.auth_token},
                authenticated=False,
                json={
                    'trust': {
                        'trustor_user_id': context.user_id,
                        'trustee_user_id': trustee_id,
                        'project_id': context.project_id,
                        'impersonation': True,
                        'roles': [{'name': role} for role in role_names],
                        'allow_redelegation': redelegations > 0,
                        'redelegation_count': redelegations,
                    }
                },
            )
        except keystone.ClientException as error:
            raise _as_error(error) from None
        return str(response.json()['trust']['id'])

    @concurrency_limit.released()
    def use(self, trust: str) -> access.AccessInfo:
        """Return a new token for a trust, with its details.

        :raises TrustRejected: the trust is no longer valid
        :raises KeystoneUnavailable: Keystone does not respond
        """
        try:
            token: access.AccessInfo = self._plugin(trust_id=trust).get_access(
                self._session
            )
        except keystone.ClientException as error:
            reason = _as_error(error)
            if isinstance(reason, TrustRejected):
                self._our_id()  # the account's password may be the cause
            raise reason from None
        return token

    @concurrency_limit.released()
    def revoke(self, trust: str) -> None:
        """Delete a trust, ignoring one that no longer exists.

        :raises KeystoneUnavailable: Keystone does not respond
        """
        try:
            self._session.delete(
                f'{self._identity.get_endpoint()}/OS-TRUST/trusts/{trust}',
                # Only the trustor may delete it; the token is the trustor's.
                auth=self._plugin(trust_id=trust),
            )
        except keystone.ClientException as error:
            reason = _as_error(error)
            if isinstance(reason, KeystoneUnavailable):
                raise reason from None
            self._our_id()
            # The account is valid, so the trust is no longer usable.

    def _our_id(self) -> str:
        """Return the ID of the service's account.

        :raises KeystoneUnavailable: Keystone does not respond, or rejects the
            account
        """
        try:
            return str(self._account.get_access(self._session).user_id)
        except keystone.ClientException as error:
            raise KeystoneUnavailable(str(error)) from None

    def _plugin(self, trust_id: str | None = None) -> Any:
        scope = {**_NO_SCOPE, 'trust_id': trust_id} if trust_id else {}
        auth = loading.load_auth_from_conf_options(self._conf, GROUP, **scope)
        assert auth is not None  # see has_account()
        return auth


def _as_error(
    error: keystone.ClientException,
) -> TrustRejected | KeystoneUnavailable:
    """Return an error that tells whether Keystone has rejected a request."""
    is_decided = (
        isinstance(error, keystone.HTTPClientError)
        and error.http_status not in _UNDECIDED
    )
    cls = TrustRejected if is_decided else KeystoneUnavailable
    return cls(str(error))
