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

import importlib
from collections.abc import Callable
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


def anonymous(environ: WSGIEnvironment) -> RequestContext:
    """Return a context without a user, for public routes."""
    return RequestContext(
        request_id=environ.get(middleware.REQUEST_ID),
        global_request_id=environ.get(middleware.GLOBAL_REQUEST_ID),
    )


#: Strategy -> its module, which is imported only if it is configured. The
#: module has ``check(conf)`` and the class ``Authenticator``.
_MODULES = {'http_basic': 'api.basic_auth', 'keystone': 'api.keystone'}


def check(conf: cfg.ConfigOpts) -> None:
    """Reject a configuration that cannot authenticate callers.

    :raises vobjects.exceptions.VobjectsError: names the option
    """
    module = _MODULES.get(conf.api.auth_strategy)
    if module is not None:
        importlib.import_module(module).check(conf)


def strategy(conf: cfg.ConfigOpts) -> Authenticate:
    """Return the configured strategy.

    :raises vobjects.exceptions.VobjectsError: its configuration is invalid
    """
    module = _MODULES.get(conf.api.auth_strategy)
    if module is None:
        return noauth(conf)
    authenticate: Authenticate = importlib.import_module(module).Authenticator(
        conf
    )
    return authenticate


def _is_local(environ: WSGIEnvironment) -> bool:
    """Return whether a request comes from this machine, if that is known.

    A server that listens on a Unix socket has no address; its requests count
    as local.
    """
    address = environ.get('REMOTE_ADDR', '')
    # The two most frequent values, without parsing.
    return address in ('', '127.0.0.1') or api_conf.is_loopback(address)
