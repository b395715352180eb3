# SPDX-License-Identifier: Apache-2.0
"""The API answers no input with a 5xx status."""

from __future__ import annotations

import json
from typing import Any

import hypothesis
from hypothesis import strategies as st

from api import app, routes
from tests.unit.api import conftest
from tests.unit.api.client import ApiClient
from tests.unit.api.fake_engine import FakeEngine, FakeFleet

API = ApiClient(
    app.build(
        conftest.make_conf(log_requests=False),
        FakeEngine(),
        FakeFleet(),
    )
)

FIELDS = sorted({name for r in routes.ROUTES for name in r.request.fields})
KEYS = sorted({r.params.key for r in routes.ROUTES if r.params.key})
VERSIONS = st.sampled_from(['', '1.0', '1.7', '1.8', '1.13', 'latest'])

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(['REBOOT', 'EXACT_CAPACITY', '3', '-1', 'name:asc'])
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=8,
)
contents = st.dictionaries(
    st.sampled_from(FIELDS) | st.text(max_size=8), values, max_size=5
)
bodies = st.one_of(
    values,
    st.dictionaries(
        st.sampled_from(KEYS) | st.text(max_size=8),
        contents | values,
        max_size=2,
    ),
    contents,
)
a_route = st.sampled_from(routes.ROUTES)
quick = hypothesis.settings(
    max_examples=50,
    deadline=None,
    database=None,
    suppress_health_check=list(hypothesis.HealthCheck),
)


def send(route: routes.Route, raw: bytes, version: str, **more: Any) -> None:
    path = route.path.replace('{identity}', 'x')
    response = API(route.method, path, raw=raw, version=version, **more)
    assert response.status < 500


@quick
@hypothesis.given(a_route, bodies, VERSIONS)
def test_body_when_any_json_is_no_server_error(
    route: routes.Route, body: Any, version: str
) -> None:
    send(route, json.dumps(body).encode(), version)


@quick
@hypothesis.given(a_route, contents, VERSIONS)
def test_fields_when_any_in_the_right_place_are_no_server_error(
    route: routes.Route, content: Any, version: str
) -> None:
    known = {k: v for k, v in content.items() if k in route.request.fields}
    body = {route.params.key: known} if route.params.key else known
    send(route, json.dumps(body).encode(), version)


@quick
@hypothesis.given(a_route, st.binary(max_size=200), VERSIONS)
def test_body_when_any_bytes_is_no_server_error(
    route: routes.Route, raw: bytes, version: str
) -> None:
    send(route, raw, version)


@quick
@hypothesis.given(
    a_route,
    st.lists(
        st.tuples(
            st.sampled_from(FIELDS) | st.text(max_size=5),
            st.text(max_size=20),
        ),
        max_size=4,
    ),
    VERSIONS,
)
def test_query_when_any_is_no_server_error(
    route: routes.Route, pairs: list[tuple[str, str]], version: str
) -> None:
    query = '&'.join(f'{name}={value}' for name, value in pairs)
    environ = {'QUERY_STRING': query.encode().decode('latin-1')}
    send(route, b'', version, environ=environ)


@quick
@hypothesis.given(
    st.sampled_from(['GET', 'POST', 'PATCH', 'DELETE', 'HEAD']),
    st.text(st.characters(max_codepoint=255), max_size=30),
)
def test_path_when_any_is_no_server_error(method: str, path: str) -> None:
    for prefix in ('/', '/v1/', '/v1/clusters/', '/v1/nodes/x/'):
        environ = {'PATH_INFO': prefix + path}
        assert API.unlinted(method, '/', environ).status < 500


@quick
@hypothesis.given(st.text(st.characters(max_codepoint=255), max_size=40))
def test_header_when_any_is_no_server_error(text: str) -> None:
    environ = {'HTTP_OPENSTACK_API_VERSION': text}
    assert API.unlinted('GET', '/v1/clusters', environ).status < 500
    environ = {'HTTP_OPENSTACK_API_VERSION': f'clustering {text}'}
    assert API.unlinted('GET', '/v1/clusters', environ).status < 500
