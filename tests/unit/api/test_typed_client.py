# SPDX-License-Identifier: Apache-2.0
"""The typed client has the operations of the contract."""

from __future__ import annotations

import inspect
import typing

import pytest

from api import routes
from vobjects.clustering import client, history
from vobjects_client.operations import Operation

#: Operations for other callers than clients of users.
OTHERS = {
    'GET /v1/profile-types/{identity}/ops',  # the result depends on the type
    'POST /v1/clusters/{identity}/actions (update_policy)',  # policy_update
    'POST /v1/receivers/{identity}/notify',
    'POST /v1/webhooks/{identity}/trigger',
}
OPERATIONS = [
    pytest.param(value, id=f'{group.__name__}.{name}')
    for group in (
        client.Profiles,
        client.Policies,
        client.Clusters,
        client.Nodes,
        client.Receivers,
        client.Actions,
        client.Events,
        client.Service,
    )
    for name, value in inspect.getmembers_static(
        group, lambda value: isinstance(value, Operation)
    )
]


def api_route(operation: Operation[..., typing.Any]) -> routes.Route:
    """Return the route of the API that serves an operation."""
    (found,) = (
        route
        for route in routes.ROUTES
        if (route.method, route.path) == (operation.method, operation.path)
        and route.request is operation.request
        and route.params.key != 'update_policy'
    )
    return found


def contract_name(route: routes.Route) -> str:
    """Return the name of a route in the contract."""
    key = f' ({route.params.key})' if route.params.dispatch_on_key else ''
    return f'{route.method} {route.path}{key}'


@pytest.mark.parametrize('operation', OPERATIONS)
def test_an_operation_has_the_form_of_its_route(operation):
    served = api_route(operation)
    sent = operation
    if sent.method not in ('GET', 'DELETE'):
        body = sent.body
        if callable(body):
            body = next(iter(body({'operation': served.params.key})))
        assert body == served.params.key
    schema = served.renderer.schema(history.MAXIMUM, True)
    properties = (schema or {}).get('properties', {})
    if sent.result:
        result = properties[sent.result]
        is_list = typing.get_origin(sent.response) is list
        assert (result.get('type') == 'array') == is_list
    else:
        assert sent.response is None or not properties


def test_the_client_has_every_operation():
    called = {contract_name(api_route(each.values[0])) for each in OPERATIONS}
    served = {contract_name(route) for route in routes.ROUTES}
    assert called | OTHERS == served
    assert not called & OTHERS
