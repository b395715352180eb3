# SPDX-License-Identifier: Apache-2.0
"""Isolation of projects.

The tests refer to resources of another project by ID, name and short ID, in
queries of lists, and in fields of requests. They derive the requests from
routes and types, so that new ones are covered.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from api.policy import GLOBAL_PROJECT
from api.routes import CLUSTER_ACTIONS, ROUTES, Route
from tests.functional import deployments, endpoints
from tests.functional.deployments import Deployment
from tests.functional.rest import RestClient, error_message, unique

OWNER, OTHER = 'ada', 'eve'

#: Field that refers to a resource -> kind of the resource.
REFERENCES = {
    'profile_id': 'profiles',
    'policy_id': 'policies',
    'cluster_id': 'clusters',
    'nodes': 'nodes',
}

#: Other fields that a request needs to be valid.
OTHER_FIELDS: dict[str, dict[str, Any]] = {
    'receivers': {'action': 'CLUSTER_SCALE_OUT'},
}

#: The same for single routes.
OF_ROUTES: dict[str, dict[str, Any]] = {
    f'POST {CLUSTER_ACTIONS} resize': {'min_size': 0},
}

LISTS = [
    route
    for route in ROUTES
    if route.method == 'GET' and GLOBAL_PROJECT in route.request.fields
]

REFERRING = [
    pytest.param(route, field, id=f'{name} {field}')
    for name, route in endpoints.BY_NAME.items()
    if route.params.body and not route.public
    for field in route.client_fields()
    if field in REFERENCES
]


# Databases differ in how they compare an ID with other text.
@pytest.fixture(scope='module', params=deployments.TRANSPORTS)
def service(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Deployment]:
    """The service with a user in each of two projects."""
    directory = tmp_path_factory.mktemp('service')
    users = directory / 'users'
    deployments.write_users(users, **{OWNER: OWNER, OTHER: OTHER})
    rules = directory / 'policy.yaml'
    # Only admins may do this by default.
    rules.write_text(
        'nodes:adopt: rule:member_or_above\n'
        'nodes:adopt-preview: rule:member_or_above\n'
    )
    settings = {
        'api': {
            'auth_strategy': 'http_basic',
            'http_basic_projects': f'{OWNER}:web,{OTHER}:shop',
        },
        'oslo_middleware': {'http_basic_auth_user_file': users},
        'oslo_policy': {'policy_file': rules},
    }
    with deployments.deployed(
        request.param, directory, settings
    ) as deployment:
        deployment.start_engines(1)
        deployment.start_api()
        yield deployment


class Tenant:
    """A user, with one resource of each kind.

    :ivar name: of all of them
    :ivar ids: by kind
    """

    def __init__(self, rest: RestClient, name: str) -> None:
        self.rest = rest
        self.name = name
        self.ids: dict[str, str] = {}
        for kind, content in (
            (
                'profiles',
                {'spec': endpoints.VALUES_BY_RESOURCE['profiles', 'spec']},
            ),
            (
                'policies',
                {'spec': endpoints.VALUES_BY_RESOURCE['policies', 'spec']},
            ),
            ('clusters', {'profile_id': name, 'desired_capacity': 0}),
            ('nodes', {'profile_id': name, 'cluster_id': name}),
            (
                'receivers',
                {
                    'type': 'webhook',
                    'cluster_id': name,
                    'action': 'CLUSTER_SCALE_OUT',
                },
            ),
        ):
            key = kind.removesuffix('s').replace('policie', 'policy')
            body = {key: {'name': name, **content}}
            response = rest.request('POST', f'/v1/{kind}', body)
            assert response.status_code in (201, 202), response.text
            self.ids[kind] = response.json()[key]['id']
            if response.status_code == 202:
                action = response.headers['Location'].rpartition('/')[2]
                rest.wait_for_success(action)
                self.ids['actions'] = action
        attach = rest.start_action(name, 'policy_attach', policy_id=name)
        rest.wait_for_success(attach)
        self.ids['events'] = rest.get('/v1/events')[0]['id']

    def has(self, text: str) -> bool:
        """Return whether a text contains the ID of a resource."""
        return any(identity in text for identity in self.ids.values())


@pytest.fixture(scope='module')
def tenants(service: Deployment) -> Iterator[tuple[Tenant, Tenant]]:
    """Two users whose resources have the same names."""
    name = unique('same')
    clients = []
    for user in (OWNER, OTHER):
        rest = service.rest()
        rest._session.auth = (user, user)
        clients.append(rest)
    yield Tenant(clients[0], name), Tenant(clients[1], name)
    for rest in clients:
        rest.__exit__(None, None, None)


def test_same_name_finds_the_resource_of_each_project(
    tenants: tuple[Tenant, Tenant],
) -> None:
    for tenant in tenants:
        for kind in ('profiles', 'policies', 'clusters', 'nodes', 'receivers'):
            path = f'/v1/{kind}/{tenant.name}'
            assert tenant.rest.get(path)['id'] == tenant.ids[kind]


def test_short_id_finds_no_resource_of_another_project(
    tenants: tuple[Tenant, Tenant],
) -> None:
    owner, other = tenants
    for kind, identity in owner.ids.items():
        assert owner.rest.get(f'/v1/{kind}/{identity[:12]}')['id'] == identity
        other.rest.expect_error(404, 'GET', f'/v1/{kind}/{identity[:12]}')


def test_no_route_shows_or_changes_resources_of_another_project(
    tenants: tuple[Tenant, Tenant],
) -> None:
    owner, other = tenants
    before = {
        path: owner.rest.get(path)
        for path in (f'/v1/{kind}/{id_}' for kind, id_ in owner.ids.items())
    }
    for name, route in endpoints.BY_NAME.items():
        identity = owner.ids.get(route.path.split('/')[2])
        if 'identity' not in route.path_fields or route.public or not identity:
            continue
        body = None
        if route.params.body:
            content = endpoints.required_of(route) | OF_ROUTES.get(name, {})
            body = endpoints.content_of(route, content)
        path = endpoints.path_of(route, identity)
        reason = other.rest.expect_error(404, route.method, path, body)
        assert identity in reason, name
    assert {path: owner.rest.get(path) for path in before} == before


@pytest.mark.parametrize('route', LISTS, ids=lambda route: route.path)
def test_no_list_query_shows_resources_of_another_project(
    route: Route, tenants: tuple[Tenant, Tenant]
) -> None:
    owner, other = tenants
    detail = other.rest.expect_error(
        403, 'GET', f'{route.path}?global_project=true'
    )
    assert GLOBAL_PROJECT in detail
    tried = 0
    for field in route.client_fields():
        for value in {*owner.ids.values(), OWNER, 'web'}:
            response = other.rest.request(
                'GET', f'{route.path}?{field}={value}'
            )
            # An error may repeat the value itself.
            text = response.text.replace(value, '')
            assert not owner.has(text), f'{field}={value}: {text}'
            if response.status_code == 200:
                ((_key, items),) = response.json().items()
                assert not [item for item in items if item['id'] == value]
            tried += response.status_code == 200
    assert tried


@pytest.mark.parametrize(('route', 'field'), REFERRING)
def test_no_request_can_refer_to_resources_of_another_project(
    route: Route, field: str, tenants: tuple[Tenant, Tenant]
) -> None:
    owner, other = tenants
    resource = route.path.split('/')[2]
    foreign = owner.ids[REFERENCES[field]]
    content = {
        **endpoints.required_of(route),
        **OTHER_FIELDS.get(resource, {}),
    }
    # All other references are to its own resources.
    for key in content.keys() & REFERENCES.keys():
        content[key] = _referring(content[key], other.ids[REFERENCES[key]])
    body = endpoints.content_of(
        route, {**content, field: _referring(content.get(field), foreign)}
    )
    path = endpoints.path_of(route, other.ids.get(resource, ''))
    before = owner.rest.get(f'/v1/{REFERENCES[field]}/{foreign}')

    response = other.rest.request(route.method, path, body)

    assert response.status_code in (400, 404), response.text
    assert foreign in error_message(response), 'rejected for another reason'
    assert owner.rest.get(f'/v1/{REFERENCES[field]}/{foreign}') == before


def _referring(like: Any, identity: str) -> Any:
    """Return a reference to a resource in the form of a field's value."""
    if isinstance(like, list):
        return [identity]
    return {identity: identity} if isinstance(like, dict) else identity


def test_server_of_another_projects_node_is_not_adopted(
    tenants: tuple[Tenant, Tenant],
) -> None:
    owner, other = tenants
    node = owner.rest.get(f'/v1/nodes/{owner.ids["nodes"]}')
    body = {'identity': node['physical_id'], 'type': 'os.nova.server-1.0'}
    for path in ('adopt', 'adopt-preview'):
        detail = other.rest.expect_error(
            400, 'POST', f'/v1/nodes/{path}', body
        )
        assert not owner.has(detail)
    assert owner.rest.get(f'/v1/nodes/{owner.ids["nodes"]}') == node
