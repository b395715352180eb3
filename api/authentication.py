# SPDX-License-Identifier: Apache-2.0
"""Authenticate callers: a strategy builds the context of a request.

==========  ================================================================
none        every caller is the configured default user, with every role.
            Headers that name a user, a project or roles are ignored, since
            they are not verified. Only requests from this machine are
            accepted, unless ``[api] none_beyond_loopback`` is set.
http_basic  name and password, see :mod:`api.basic_auth`
keystone    a Keystone token, see :mod:`api.keystone`
==========  ================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from oslo_config import cfg

from api import conf as api_conf
from api import errors, middleware
from vobjects.clustering.context import RequestContext

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

#: Returns the context of a request; raises api.errors.Unauthenticated if the
#: credentials are missing or wrong.
Authenticate = Callable[['WSGIEnvironment'], RequestContext]

ALL_ROLES = ('admin', 'member', 'reader')


def noauth(conf: cfg.ConfigOpts) -> Authenticate:
    """Return a strategy that treats local callers as the default user.

    With ``none_beyond_loopback``, it accepts callers on other machines, too.
    """
    user, project = conf.api.default_user, conf.api.default_project
    only_loopback = not conf.api.none_beyond_loopback

    def authenticate(environ: WSGIEnvironment) -> RequestContext:
        if only_loopback and not _is_local(environ):
            raise errors.NotLocal(
                'With [api] auth_strategy = none, only requests from the'
                ' machine of the API are accepted; set another auth_strategy'
                ' to authenticate callers.'
            )
        return RequestContext(
            user_id=user,
            project_id=project,
            roles=list(ALL_ROLES),
            request_id=environ.get(middleware.REQUEST_ID),
            global_request_id=environ.get(middleware.GLOBAL_REQUEST_ID),
        )

    return authenticate


def http_basic(conf: cfg.ConfigOpts) -> Authenticate:
    """Return the strategy for names and passwords."""
    # Imported here, as below, so that only the chosen strategy is loaded.
    from api import basic_auth

    return basic_auth.Authenticator(conf)


def keystone_token(conf: cfg.ConfigOpts) -> Authenticate:
    """Return the strategy for Keystone tokens."""
    from api import keystone

    return keystone.Authenticator(conf)


def anonymous(environ: WSGIEnvironment) -> RequestContext:
    """Return a context without a user, for public routes."""
    return RequestContext(
        request_id=environ.get(middleware.REQUEST_ID),
        global_request_id=environ.get(middleware.GLOBAL_REQUEST_ID),
    )


STRATEGIES: Mapping[str, Callable[[cfg.ConfigOpts], Authenticate]] = {
    'none': noauth,
    'http_basic': http_basic,
    'keystone': keystone_token,
}


def check(conf: cfg.ConfigOpts) -> None:
    """Reject a configuration that cannot authenticate callers.

    :raises vobjects.exceptions.VobjectsError: names the option
    """
    if conf.api.auth_strategy == 'http_basic':
        from api import basic_auth

        basic_auth.check(conf)
    elif conf.api.auth_strategy == 'keystone':
        from api import keystone

        keystone.check(conf)


def strategy(conf: cfg.ConfigOpts) -> Authenticate:
    """Return the configured strategy.

    :raises vobjects.exceptions.VobjectsError: its configuration is invalid
    """
    return STRATEGIES[conf.api.auth_strategy](conf)


def _is_local(environ: WSGIEnvironment) -> bool:
    """Return whether a request comes from this machine, if that is known.

    A server that listens on a Unix socket has no address; its requests count
    as local.
    """
    address = environ.get('REMOTE_ADDR', '')
    # The two most frequent values, without parsing.
    return address in ('', '127.0.0.1') or api_conf.is_loopback(address)
