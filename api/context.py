# SPDX-License-Identifier: Apache-2.0
"""Who asks: a strategy makes the context of a request.

========  ==================================================================
none      everybody is one configured user, with every role. Headers that
          name a user, a project or roles are not looked at: nobody has
          checked them. ``api.conf.check`` keeps such a service on loopback.
========  ==================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from oslo_config import cfg

from api import middleware
from vobjects.clustering.context import RequestContext

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

Authenticate = Callable[['WSGIEnvironment'], RequestContext]

ALL_ROLES = ('admin', 'member', 'reader')


def nobody_checks(conf: cfg.ConfigOpts) -> Authenticate:
    """Return what makes everybody the default user."""
    user, project = conf.api.default_user, conf.api.default_project

    def authenticate(environ: WSGIEnvironment) -> RequestContext:
        return RequestContext(
            user_id=user,
            project_id=project,
            roles=list(ALL_ROLES),
            request_id=environ.get(middleware.REQUEST_ID),
            global_request_id=environ.get(middleware.GLOBAL_REQUEST_ID),
        )

    return authenticate


def anonymous(environ: WSGIEnvironment) -> RequestContext:
    """Return nobody, for what is public."""
    return RequestContext(
        request_id=environ.get(middleware.REQUEST_ID),
        global_request_id=environ.get(middleware.GLOBAL_REQUEST_ID),
    )


STRATEGIES: Mapping[str, Callable[[cfg.ConfigOpts], Authenticate]] = {
    'none': nobody_checks,
}


def strategy(conf: cfg.ConfigOpts) -> Authenticate:
    """Return the configured strategy."""
    return STRATEGIES[conf.api.auth_strategy](conf)
