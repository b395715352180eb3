# SPDX-License-Identifier: Apache-2.0
"""Callers with a token of Keystone's: keystonemiddleware says who they are.

Its middleware stands around nothing here. It is asked at the moment a route
needs to know its caller, so that public paths need no Keystone, and a refusal
is an error document like any other.

Tokens that were good are remembered in this process, for as many seconds as
``[keystone_authtoken] token_cache_time`` says, unless ``memcached_servers``
names a place that all processes share.
"""

from __future__ import annotations

import collections
import logging
import threading
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from keystoneauth1 import exceptions as keystone_errors
from keystoneauth1 import loading
from keystonemiddleware import auth_token
from oslo_config import cfg

from api import errors, middleware
from vobjects import exceptions
from vobjects.clustering.context import RequestContext

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

LOG = logging.getLogger(__name__)

GROUP = 'keystone_authtoken'

#: Where the middleware looks for our cache in the environ.
CACHE = 'vobjects.token_cache'

#: Tokens that one process remembers.
MAX_TOKENS = 4096

#: What the API decides, whatever the configuration says. Undelayed, the
#: middleware tells a bad token from a Keystone that does not answer.
_OURS = {
    'delay_auth_decision': False,
    'include_service_catalog': False,
    'cache': CACHE,
}

_HEADER = 'HTTP_X_AUTH_TOKEN'


class BadKeystone(exceptions.VobjectsError):
    """``[keystone_authtoken]`` cannot be used as it is."""


class TokenCache:
    """What the middleware said of tokens: the latest ones, for a while.

    It has the two methods of a memcache client that the middleware calls.
    Keys are digests, never tokens.

    :param most: entries
    :param clock: monotonic seconds
    """

    def __init__(
        self,
        most: int = MAX_TOKENS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most = most
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: collections.OrderedDict[str, tuple[float, Any]]
        self._kept = collections.OrderedDict()

    def get(self, key: str) -> Any:
        """Return what is kept under a key; None: nothing, or no longer."""
        with self._lock:
            until, value = self._kept.get(key, (0.0, None))
            if value is not None and self._clock() >= until:
                del self._kept[key]
                return None
            return value

    def set(self, key: str, value: Any, time: float = 0) -> None:
        """Keep a value.

        :param time: seconds
        """
        with self._lock:
            self._kept[key] = (self._clock() + time, value)
            self._kept.move_to_end(key)
            if len(self._kept) > self._most:
                self._kept.popitem(last=False)


class Authenticator:
    """Makes the context of a request with a token.

    :param conf: with ``[keystone_authtoken]``
    :raises BadKeystone: see :func:`check`
    """

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        check(conf)
        self._protocol = auth_token.AuthProtocol(
            _let_in, {'oslo_config_config': conf, **_OURS}
        )
        shared = conf[GROUP].memcached_servers
        self._cache = None if shared else TokenCache()

    def __call__(self, environ: WSGIEnvironment) -> RequestContext:
        """Return who asks, with the token.

        :raises api.errors.Unauthenticated: without a good token
        :raises api.errors.IdentitySilent: Keystone cannot be asked
        """
        if self._cache is not None:
            environ[CACHE] = self._cache
        said: list[Any] = []

        def started(
            status: str, headers: list[tuple[str, str]], exc_info: Any = None
        ) -> Any:
            said[:] = [int(status[:3]), dict(headers)]

        try:
            # What it says in its own body is said better by our errors.
            list(self._protocol(environ, started))
        except keystone_errors.ClientException as error:
            LOG.error('Keystone cannot be asked: %s', error)
            raise errors.IdentitySilent from None
        status, headers = said
        if status == 401:
            raise errors.Unauthenticated(headers.get('WWW-Authenticate', ''))
        if status != 200:
            raise errors.IdentitySilent
        context: RequestContext = RequestContext.from_environ(
            environ,
            auth_token=environ.get(_HEADER),
            request_id=environ.get(middleware.REQUEST_ID),
            global_request_id=environ.get(middleware.GLOBAL_REQUEST_ID),
        )
        return context


def _let_in(
    environ: WSGIEnvironment, start_response: StartResponse
) -> Iterable[bytes]:
    """Answer for the application: the caller is known."""
    start_response('200 OK', [])
    return []


def check(conf: cfg.ConfigOpts) -> None:
    """Refuse a configuration with which no token could be checked.

    :raises BadKeystone: naming the option
    """
    for group, options in auth_token.list_opts():
        conf.register_opts(options, group=group)
    try:
        plugin = loading.load_auth_from_conf_options(conf, GROUP)
    except keystone_errors.ClientException as error:
        raise BadKeystone(f'[{GROUP}]: {error}') from None
    if plugin is None:
        raise BadKeystone(
            f'[api] auth_strategy = keystone needs [{GROUP}] auth_type, with'
            ' auth_url and the credentials of a user that may check tokens'
        )
    if not conf[GROUP].www_authenticate_uri:
        raise BadKeystone(
            f'[api] auth_strategy = keystone needs [{GROUP}]'
            ' www_authenticate_uri: where callers without a token are sent'
        )
