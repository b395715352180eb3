# SPDX-License-Identifier: Apache-2.0
"""Sign in to Keystone with a name and a password.

A browser cannot call Keystone from a page of another origin, so the API passes
the password on. The token goes back in the response body: the console keeps it
for the tab and sends it in ``X-Auth-Token``. There is no cookie, so other
sites cannot send requests with it.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from keystoneauth1 import exceptions as keystone_errors
from keystoneauth1 import loading, session
from keystoneauth1.identity import v3
from oslo_config import cfg

from api import check_limiter, errors, keystone
from vobjects.microversions.errors import ValidationError

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

LOG = logging.getLogger(__name__)

#: Timeout of each request to Keystone, in seconds.
TIMEOUT = 30

#: Name of the domain of users and projects, unless the request names another.
DEFAULT_DOMAIN = 'Default'

_FIELDS = frozenset({'user', 'password', 'domain', 'project', 'project_id'})
_MAX_LENGTH = 4096


class KeystoneSignIn:
    """Exchange names and passwords for tokens.

    :param conf: with ``[keystone_authtoken]``, which
        :func:`api.keystone.check` accepts
    """

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        keystone.check(conf)
        options = conf[keystone.GROUP]
        plugin = loading.load_auth_from_conf_options(conf, keystone.GROUP)
        url = getattr(plugin, 'auth_url', '') or options.www_authenticate_uri
        self._url = f'{url.rstrip("/").removesuffix("/v3")}/v3'
        self._challenge = f'Keystone uri="{options.www_authenticate_uri}"'
        verify = not options.insecure and (options.cafile or True)
        self._session = session.Session(verify=verify, timeout=TIMEOUT)
        self._limiter = check_limiter.CheckLimiter(conf.api.threads)

    def sign_in(self, environ: WSGIEnvironment, body: Any) -> dict[str, Any]:
        """Return a token, or the projects that the user may choose from.

        :param body: ``user``, ``password``, and optionally ``domain`` and
            ``project``, or ``project_id``. Without a project, Keystone chooses
            the user's default project, or the only one
        :returns: ``token``, or ``projects``
        :raises vobjects.microversions.errors.ValidationError: the body is
            invalid
        :raises api.errors.SignInRejected: Keystone rejected them
        :raises api.errors.KeystoneUnavailable: Keystone does not answer
        """
        values = _validated(body)
        domain = values.get('domain') or DEFAULT_DOMAIN
        scope: dict[str, Any] = {}
        if project_id := values.get('project_id'):
            scope = {'project_id': project_id}
        elif project := values.get('project'):
            scope = {'project_name': project, 'project_domain_name': domain}
        with self._limiter.check(environ.get('REMOTE_ADDR', '')):
            try:
                return self._authenticate(values, domain, scope)
            except (
                keystone_errors.Unauthorized,
                keystone_errors.NotFound,
            ):
                raise errors.SignInRejected(self._challenge) from None
            except keystone_errors.ClientException as error:
                LOG.error('Keystone is unavailable: %s', error)
                raise errors.KeystoneUnavailable from None

    def _authenticate(
        self, values: Mapping[str, str], domain: str, scope: Mapping[str, Any]
    ) -> dict[str, Any]:
        password = v3.Password(
            self._url,
            username=values['user'],
            password=values['password'],
            user_domain_name=domain,
            **scope,
        )
        access = password.get_access(self._session)
        if access.project_id:
            return {'token': access.auth_token}
        projects = self._session.get(
            f'{self._url}/auth/projects',
            authenticated=False,
            headers={'X-Auth-Token': access.auth_token},
        ).json()['projects']
        if len(projects) != 1:
            return {
                'projects': [
                    {'id': project['id'], 'name': project['name']}
                    for project in projects
                ]
            }
        return self._authenticate(
            values, domain, {'project_id': projects[0]['id']}
        )

    def sign_out(self, environ: WSGIEnvironment) -> None:
        """Revoke the caller's token.

        :raises api.errors.KeystoneUnavailable: Keystone does not answer
        """
        token = environ.get('HTTP_X_AUTH_TOKEN', '')
        try:
            self._session.delete(
                f'{self._url}/auth/tokens',
                authenticated=False,
                headers={'X-Auth-Token': token, 'X-Subject-Token': token},
            )
        except (keystone_errors.Unauthorized, keystone_errors.NotFound):
            return  # it has expired
        except keystone_errors.ClientException as error:
            LOG.error('Keystone is unavailable: %s', error)
            raise errors.KeystoneUnavailable from None


def _validated(body: Any) -> dict[str, str]:
    if not isinstance(body, dict):
        raise ValidationError('body', 'must be a JSON object')
    for name in ('user', 'password'):
        if not body.get(name):
            raise ValidationError(f'body.{name}', 'is required')
    for name, value in body.items():
        if name not in _FIELDS:
            raise ValidationError(
                'body', f'may have only {", ".join(sorted(_FIELDS))}'
            )
        if not isinstance(value, str) or len(value) > _MAX_LENGTH:
            raise ValidationError(
                f'body.{name}',
                f'must be a string of at most {_MAX_LENGTH} characters',
            )
    return body
