# SPDX-License-Identifier: Apache-2.0
"""The contract of Nova's API, derived from its routes and declarations."""

import functools
from unittest import mock

from nova import rpc
from nova.api.openstack.compute import routes

from vobjects.controllers.actions import Actions
from vobjects.microversions import presets
from vobjects_contract import controllers
from vobjects_contract.registry import Contract


class _Actions(Actions):
    """The methods that Nova's resource calls by the key of the body."""

    def __init__(self, methods):
        super().__init__()
        self._methods = methods

    methods = property(lambda self: self._methods)


@functools.cache
def contract():
    """Return the contract."""
    policy = presets.NOVA
    # Controllers create clients of other processes.
    with mock.patch.multiple(
        rpc, get_client=mock.Mock, get_notifier=mock.Mock
    ):
        routes_ = [*_routes(policy)]
    return Contract(policy, controllers.operations(policy, routes_))


def _routes(policy):
    """Yield method, path and handler of each operation that is not removed."""
    for path, methods in routes.ROUTE_LIST:
        if isinstance(methods, str):  # a redirection
            continue
        for method, (create, name) in methods.items():
            resource = create()
            if name == 'action':
                handler = _Actions(resource.wsgi_actions)
            else:
                handler = getattr(resource.controller, name)
            if not hasattr(handler, 'removed'):
                yield method, f'/{policy.path}{path}', handler
