# SPDX-License-Identifier: Apache-2.0
"""The contract of decorated controllers."""

import dataclasses

import openapi_spec_validator
import pytest

from tests.unit.vobjects_contract import samples
from vobjects.controllers.actions import Actions, action
from vobjects.controllers.decorators import (
    expected_errors,
    gone,
    query_schema,
    response,
    response_body_schema,
    schema,
)
from vobjects.controllers.dispatch import RequestAdapter, api_version
from vobjects.versions import Version
from vobjects_contract import (
    changes,
    controllers,
    history_check,
    openapi,
    type_schemas,
)
from vobjects_contract.registry import Contract

NAME = {'type': 'string'}
OLD = type_schemas.closed({'name': NAME})
NEW = type_schemas.closed({'name': NAME, 'size': {'type': 'integer'}})
RUN = type_schemas.closed({'run': OLD}, ['run'])


class Things:
    @api_version('1.0', '1.1')
    @response_body_schema(OLD)
    def show(self, req, name):
        """Show a thing."""

    @show.api_version('1.2')
    @response_body_schema(NEW)
    @expected_errors(404)
    def show(self, req, name):
        """Show a thing, with its size.

        And more.
        """

    @schema(OLD, '1.0', '1.2')
    @schema(NEW, '1.3')
    @response(201, '1.0', '1.2')
    @response(202, '1.3')
    @response_body_schema(OLD)
    def create(self, req, body):
        return body

    @api_version('1.1')
    @query_schema(type_schemas.closed({'limit': {'type': ['integer']}}))
    @response_body_schema(type_schemas.list_of(OLD))
    @gone('1.4', 'Use GET /v1/boxes.')
    def index(self, req, query):
        return []

    @api_version('1.1')
    @response(204)
    def delete(self, req, name):
        return None

    @action('run')
    @api_version('1.2')
    @schema(RUN)
    @response(204)
    def run(self, req, name, body):
        return None

    @action('stop')
    @response(204)
    def stop(self, req, name, body):
        return None

    def plain(self, req, name, query):
        return None


THINGS = Things()
ROUTES = (
    ('GET', '/v1/things/{name}', THINGS.show),
    ('POST', '/v1/things', THINGS.create),
    ('GET', '/v1/things', THINGS.index),
    ('DELETE', '/v1/things/{name}', THINGS.delete),
    ('POST', '/v1/things/{name}/actions', Actions(THINGS)),
)


def contract(*routes, **changed):
    policy = dataclasses.replace(samples.POLICY, **changed)
    return Contract(
        policy,
        controllers.operations(policy, routes or ROUTES),
        {f'1.{minor}': () for minor in range(6)},
    )


def test_operation_exists_at_the_versions_of_its_method():
    api = contract()

    assert {
        operation.name: tuple(map(str, api.since(operation.name)))
        for operation in api.operations
        if operation.method != 'DELETE'
    } == {
        'GET /v1/things/{name}': ('1.0', 'None'),
        'POST /v1/things': ('1.0', 'None'),
        'GET /v1/things': ('1.1', '1.3'),
        'POST /v1/things/{name}/actions (run)': ('1.2', 'None'),
        'POST /v1/things/{name}/actions (stop)': ('1.0', 'None'),
    }


def test_operation_of_a_service_with_own_errors_exists_at_its_versions():
    adapter = RequestAdapter(as_exception=lambda error: KeyError(str(error)))

    class Boxes:
        @api_version('1.2', adapter=adapter)
        def show(self, req, name):
            return None

    api = contract(('GET', '/v1/boxes/{name}', Boxes().show))

    assert next(filter(api.at, api.versions)) == Version(1, 2)


def test_shape_follows_the_decorators_of_its_version():
    old, new = (
        contract().at(Version(1, minor))['POST /v1/things'] for minor in (2, 3)
    )

    assert (old.body, new.body) == (OLD, NEW)
    assert old.responses[201] == new.responses[202] == OLD
    assert 201 not in new.responses
    assert old.query == type_schemas.closed({})
    assert old.path == {}


def test_response_is_that_of_the_function_of_the_version():
    name = 'GET /v1/things/{name}'
    old, new = (contract().at(Version(1, minor))[name] for minor in (1, 2))

    assert (old.responses[200], new.responses[200]) == (OLD, NEW)
    assert 404 in new.responses
    assert 404 not in old.responses
    assert (old.body, list(old.path)) == (None, ['name'])


@pytest.mark.parametrize(
    ('name', 'has_404'), [('GET /v1/things', True), ('POST /v1/things', False)]
)
def test_method_has_404_when_the_default_version_lacks_it(name, has_404):
    shape = contract().at(Version(1, 2))[name]

    assert (404 in shape.responses) is has_404


def test_method_has_the_errors_of_the_negotiation():
    policy = {'malformed_status': 418, 'other_service_status': 421}
    shape = contract(**policy).at(Version(1, 2))['GET /v1/things']

    assert {400, 401, 403, 406, 418, 421} <= shape.responses.keys()


def test_query_schema_is_converted_to_the_newer_dialect():
    shape = contract().at(Version(1, 2))['GET /v1/things']

    assert shape.query['properties'] == {'limit': {'type': 'integer'}}


def test_summary_is_the_first_line_of_the_newest_function():
    (operation,) = (
        operation
        for operation in contract().operations
        if operation.name == 'GET /v1/things/{name}'
    )

    assert (operation.summary, operation.tag) == (
        'Show a thing, with its size',
        'things',
    )


def test_undeclared_parts_are_named():
    api = contract(
        ('GET', '/v1/x/{name}', THINGS.plain),
        ('POST', '/v1/x/{name}/actions', Actions(THINGS)),
        ('POST', '/v1/x', THINGS.create),
    )

    assert [
        line for line in api.undeclared() if ' at 1.2: ' in line
    ] == [
        'GET /v1/x/{name} at 1.2: query has no schema',
        'GET /v1/x/{name} at 1.2: response 200 has no schema',
        'POST /v1/x/{name}/actions (stop) at 1.2: body has no schema',
    ]  # fmt: skip


def test_comparison_reports_changes_of_decorators():
    reported = changes.compare(contract(), Version(1, 3), Version(1, 4))

    assert [str(change) for change in reported] == [
        'GET /v1/things is removed'
    ]
    assert reported[0].breaking


def test_history_must_document_changes_of_decorators():
    problems = list(history_check.problems(contract()))

    assert any('body.size is added' in line for line in problems)
    assert any('(run) is added' in line for line in problems)


@pytest.mark.parametrize('minor', range(6))
def test_document_is_valid(minor):
    document = openapi.document(contract(), Version(1, minor))

    openapi_spec_validator.validate(document)
