# SPDX-License-Identifier: Apache-2.0
"""Who asks: a strategy makes the context of a request.

==========  ================================================================
none        everybody is one configured user, with every role. Headers that
            name a user, a project or roles are not looked at: nobody has
            checked them. Only requests from this machine are let in, unless
            ``[api] none_beyond_loopback`` is set.
http_basic  name and password, see :mod:`api.basic`
keystone    a token, see :mod:`api.keystone`
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

#: Raises api.errors.Unauthenticated for a caller that is not who it says.
Authenticate = Callable[['WSGIEnvironment'], RequestContext]

ALL_ROLES = ('admin', 'member', 'reader')


def nobody_checks(conf: cfg.ConfigOpts) -> Authenticate:
    """Return what makes everybody on this machine the default user."""
    user, project = conf.api.default_user, conf.api.default_project
    only_loopback = not conf.api.none_beyond_loopback

    def authenticate(environ: WSGIEnvironment) -> RequestContext:
        if only_loopback and not _is_near(environ):
            raise errors.NotLocal(
                'Nobody is authenticated here, so only requests from the'
                ' machine of the API are served; [api] auth_strategy in its'
                ' configuration changes that.'
            )
        return RequestContext(
            user_id=user,
            project_id=project,
            roles=list(ALL_ROLES),
            request_id=environ.get(middleware.REQUEST_ID),
            global_request_id=environ.get(middleware.GLOBAL_REQUEST_ID),
        )

    return authenticate


def by_password(conf: cfg.ConfigOpts) -> Authenticate:
    """Return what reads name and password."""
    # Here, as below: what is not chosen is not loaded.
    from api import basic

    return basic.Authenticator(conf)


def by_token(conf: cfg.ConfigOpts) -> Authenticate:
    """Return what asks Keystone about a token."""
    from api import keystone

    return keystone.Authenticator(conf)


def anonymous(environ: WSGIEnvironment) -> RequestContext:
    """Return nobody, for what is public."""
    return RequestContext(
        request_id=environ.get(middleware.REQUEST_ID),
        global_request_id=environ.get(middleware.GLOBAL_REQUEST_ID),
    )


STRATEGIES: Mapping[str, Callable[[cfg.ConfigOpts], Authenticate]] = {
    'none': nobody_checks,
    'http_basic': by_password,
    'keystone': by_token,
}


def check(conf: cfg.ConfigOpts) -> None:
    """Refuse a configuration with which nobody could be authenticated.

    :raises vobjects.exceptions.VobjectsError: naming the option
    """
    if conf.api.auth_strategy == 'http_basic':
        from api import basic

        basic.check(conf)
    elif conf.api.auth_strategy == 'keystone':
        from api import keystone

        keystone.check(conf)


def strategy(conf: cfg.ConfigOpts) -> Authenticate:
    """Return the configured strategy.

    :raises vobjects.exceptions.VobjectsError: it cannot work as configured
    """
    return STRATEGIES[conf.api.auth_strategy](conf)


def _is_near(environ: WSGIEnvironment) -> bool:
    """Tell whether a request is from this machine, as far as is known.

    A server that listens on a socket in the file system knows no address.
    """
    address = environ.get('REMOTE_ADDR', '')
    # Two that nearly all of them have, without parsing.
    return address in ('', '127.0.0.1') or api_conf.is_loopback(address)
