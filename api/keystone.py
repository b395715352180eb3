# SPDX-License-Identifier: Apache-2.0
"""Authenticate callers by Keystone token, with keystonemiddleware.

The middleware does not wrap the application. It is called when a route needs
its caller, so that public paths need no Keystone and a rejection is an error
document like any other.

Valid tokens are cached in this process for ``[keystone_authtoken]
token_cache_time`` seconds, unless ``memcached_servers`` names a cache that all
processes share.
"""

from __future__ import annotations

import collections
import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import webob
from keystoneauth1 import exceptions as keystone_errors
from keystoneauth1 import loading
from keystonemiddleware import auth_token
from oslo_config import cfg

from api import errors, middleware
from vobjects import exceptions, tls_files
from vobjects.clustering.context import RequestContext

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

LOG = logging.getLogger(__name__)

GROUP = 'keystone_authtoken'

#: Key in the environ under which the middleware finds the token cache.
CACHE = 'vobjects.token_cache'

#: Maximum tokens cached by one process.
MAX_TOKENS = 4096

#: Settings that the configuration cannot override. Without delayed decisions,
#: the middleware distinguishes a bad token from an unreachable Keystone.
_OVERRIDES = {
    'delay_auth_decision': False,
    'include_service_catalog': False,
    'cache': CACHE,
}

_HEADER = 'HTTP_X_AUTH_TOKEN'


class InvalidKeystoneConfig(exceptions.VobjectsError):
    """``[keystone_authtoken]`` is not usable."""


class TokenCache:
    """Cache of validated tokens with expiry and a size limit.

    Implements the two methods of a memcache client that the middleware calls.
    Keys are digests, never tokens.

    :param max_entries: maximum number of entries
    :param clock: returns monotonic seconds
    """

    def __init__(
        self,
        max_entries: int = MAX_TOKENS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._max_entries = max_entries
        self._clock = clock
        self._lock = threading.Lock()
        self._entries: collections.OrderedDict[str, tuple[float, Any]]
        self._entries = collections.OrderedDict()

    def get(self, key: str) -> Any:
        """Return the value of a key, or None if it is missing or expired."""
        with self._lock:
            until, value = self._entries.get(key, (0.0, None))
            if value is not None and self._clock() >= until:
                del self._entries[key]
                return None
            return value

    def set(self, key: str, value: Any, time: float = 0) -> None:
        """Store a value.

        :param time: lifetime in seconds
        """
        with self._lock:
            self._entries[key] = (self._clock() + time, value)
            self._entries.move_to_end(key)
            if len(self._entries) > self._max_entries:
                self._entries.popitem(last=False)


class Authenticator:
    """Authenticate requests by token.

    :param conf: with ``[keystone_authtoken]``
    :raises InvalidKeystoneConfig: see :func:`check`
    """

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        check(conf)
        # The response to authenticated callers, in place of the application.
        accept = webob.Response()
        self._protocol = auth_token.AuthProtocol(
            accept, {'oslo_config_config': conf, **_OVERRIDES}
        )
        shared = conf[GROUP].memcached_servers
        self._cache = None if shared else TokenCache()

    def __call__(self, environ: WSGIEnvironment) -> RequestContext:
        """Authenticate the caller and return the context, with the token.

        :raises api.errors.Unauthenticated: the token is missing or invalid
        :raises api.errors.KeystoneUnavailable: Keystone is unavailable
        """
        if self._cache is not None:
            environ[CACHE] = self._cache
        try:
            # Its response body is not used: api.errors has better ones.
            response = webob.Request(environ).get_response(self._protocol)
        except keystone_errors.ClientException as error:
            LOG.error('Keystone is unavailable: %s', error)
            raise errors.KeystoneUnavailable from None
        if response.status_int == 401:
            raise errors.Unauthenticated(
                response.headers.get('WWW-Authenticate', '')
            )
        if response.status_int != 200:
            raise errors.KeystoneUnavailable
        context: RequestContext = RequestContext.from_environ(
            environ,
            auth_token=environ.get(_HEADER),
            request_id=environ.get(middleware.REQUEST_ID),
            global_request_id=environ.get(middleware.GLOBAL_REQUEST_ID),
        )
        return context


def check(conf: cfg.ConfigOpts) -> None:
    """Reject a configuration that cannot validate tokens.

    :raises InvalidKeystoneConfig: names the option
    :raises vobjects.exceptions.TlsConfigError: names the file
    """
    for group, options in auth_token.list_opts():
        conf.register_opts(options, group=group)
    tls_files.check(f'[{GROUP}]', conf[GROUP])
    try:
        plugin = loading.load_auth_from_conf_options(conf, GROUP)
    except keystone_errors.ClientException as error:
        raise InvalidKeystoneConfig(f'[{GROUP}]: {error}') from None
    if plugin is None:
        raise InvalidKeystoneConfig(
            f'[api] auth_strategy = keystone needs [{GROUP}] auth_type, with'
            ' auth_url and the credentials of a user that may validate tokens'
        )
    if not conf[GROUP].www_authenticate_uri:
        raise InvalidKeystoneConfig(
            f'[api] auth_strategy = keystone needs [{GROUP}]'
            ' www_authenticate_uri, the URL for callers without a token'
        )
