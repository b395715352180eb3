# SPDX-License-Identifier: Apache-2.0
"""Declarations of controller methods, and their enforcement."""

import pytest

from vobjects import exceptions
from vobjects.controllers import dispatch, dispatch_check, method_spec, wrapper
from vobjects.controllers.decorators import (
    expected_errors,
    gone,
    query_schema,
    response,
    response_body_schema,
    schema,
)
from vobjects.controllers.dispatch import api_version
from vobjects.controllers.frameworks import version_of
from vobjects.controllers.ranges import RangeMap
from vobjects.microversions import application_errors, errors, presets
from vobjects.microversions.version_policy import MICROVERSION
from vobjects.versions import Version

TEXT = {'type': 'string'}
SCHEMA = {
    'type': 'object',
    'properties': {'name': TEXT},
    'required': ['name'],
    'additionalProperties': False,
}
TAG_SCHEMA = {**SCHEMA, 'properties': {'name': TEXT, 'tag': TEXT}}
QUERY_SCHEMA = {
    'type': 'object',
    'properties': {
        'limit': {'type': 'integer', 'minimum': 1},
        'name': {'type': 'array', 'items': TEXT},
    },
    'additionalProperties': False,
}


class Failure(Exception):
    """An error as frameworks raise it."""

    def __init__(self, code):
        self.code = code


class Controller:
    @api_version('1.0', '1.4')
    @schema(SCHEMA, '1.0', '1.2')
    @schema(TAG_SCHEMA, '1.3')
    @response(202, '1.0', '1.1')
    @response(201, '1.2')
    def create(self, req, body):
        return 'old', body

    @create.api_version('1.5')
    @gone('1.8', 'Use POST /v1/things.')
    @schema(TAG_SCHEMA)
    def create(self, req, body):
        return 'new', body

    @query_schema(QUERY_SCHEMA)
    @response_body_schema({'type': 'array', 'maxItems': 1})
    def index(self, req, query):
        return list(query.items())

    @expected_errors((404, 409), '1.0', '1.4')
    @expected_errors(404, '1.5')
    def fail(self, req, error):
        raise error


def request_at(version, query='', **environ):
    return {
        MICROVERSION: Version.parse(version),
        'QUERY_STRING': query,
        **environ,
    }


@pytest.mark.parametrize(
    ('version', 'body', 'expected'),
    [
        ('1.0', {'name': 'x'}, 'old'),
        ('1.3', {'name': 'x', 'tag': 'y'}, 'old'),
        ('1.5', {'name': 'x', 'tag': 'y'}, 'new'),
    ],
)
def test_body_when_valid_at_its_version_is_passed(version, body, expected):
    assert Controller().create(request_at(version), body=body) == (
        expected,
        body,
    )
    assert Controller().create(request_at(version), body) == (expected, body)


@pytest.mark.parametrize(
    ('version', 'body', 'problem'),
    [
        ('1.2', {'name': 'x', 'tag': 'y'},
         "'tag' needs API version 1.3 or later; this request asked for 1.2"),
        ('1.5', {'name': 'x', 'nope': 'y'}, 'nope'),
        ('1.0', {'name': 1}, r'body\.name: must be a string, not 1'),
        ('1.0', {}, 'name'),
        ('1.0', None, 'body: must be a JSON object, not null'),
    ],
)  # fmt: skip
def test_body_when_invalid_at_its_version_is_rejected(version, body, problem):
    with pytest.raises(errors.ValidationError, match=problem) as caught:
        Controller().create(request_at(version), body=body)

    needed = Version(1, 3) if 'tag' in problem else None
    assert caught.value.available_from == needed


def test_query_is_converted_to_its_types():
    request = request_at('1.0', 'limit=3&name=a&name=b')

    assert Controller().index(request) == [('limit', 3), ('name', ['a', 'b'])]


@pytest.mark.parametrize('query', ['limit=0', 'limit=x', 'nope=1',
                                   'limit=1&limit=2'])  # fmt: skip
def test_query_when_invalid_is_rejected(query):
    with pytest.raises(errors.ValidationError, match=r'^query'):
        Controller().index(request_at('1.0', query))


def test_response_is_validated_when_the_environ_requests_it():
    query = 'limit=3&name=a'
    request = request_at('1.0', query, **{wrapper.CHECK_RESPONSES: True})

    assert len(Controller().index(request_at('1.0', query))) == 2
    with pytest.raises(
        exceptions.VobjectsError, match=r'index: the response at'
    ):
        Controller().index(request)


@pytest.mark.parametrize(
    ('version', 'status'), [('1.1', 202), ('1.2', 201), ('1.6', 200)]
)
def test_success_status_is_that_of_the_version(version, status):
    parsed = Version.parse(version)

    method = dispatch.resolve(Controller.create, parsed)
    assert method_spec.success_status(method, parsed) == status


@pytest.mark.parametrize('version', ['1.8', '1.14'])
def test_method_when_removed_responds_410_with_the_reason(version):
    with pytest.raises(errors.MethodRemoved) as caught:
        Controller().create(request_at(version), body={'name': 'x'})

    assert caught.value.status == 410
    assert caught.value.detail == (
        "create was removed in API version '1.8'. Use POST /v1/things."
    )


def test_method_when_its_range_ended_with_a_removal_gives_the_reason():
    @api_version('1.0', '1.4')
    @gone('1.5', 'It was unused.')
    def show(req):
        return 'shown'

    assert show(request_at('1.4')) == 'shown'
    with pytest.raises(errors.MethodRemoved, match='It was unused'):
        show(request_at('1.5'))


@pytest.mark.parametrize(
    ('version', 'error'),
    [
        ('1.0', Failure(404)),
        ('1.4', Failure(409)),
        ('1.5', Failure(403)),
        ('1.5', errors.MalformedBody('no')),
        ('1.5', type('Falcon', (Exception,), {'status': '404 Not Found'})()),
    ],
)
def test_error_when_expected_propagates(version, error):
    with pytest.raises(type(error)) as caught:
        Controller().fail(request_at(version), error)

    assert caught.value is error


@pytest.mark.parametrize(
    ('version', 'error'),
    [
        ('1.5', Failure(409)),
        ('1.0', Failure(410)),
        ('1.0', ValueError('secret')),
    ],
)
def test_error_when_unexpected_becomes_a_500(version, error, caplog):
    with pytest.raises(application_errors.UnexpectedError) as caught:
        Controller().fail(request_at(version), error)

    assert caught.value.status == 500
    assert 'secret' not in caught.value.detail
    assert caught.value.__cause__ is error
    assert 'undeclared error' in caplog.text


def declare(*decorators):
    def show(req, body=None):
        return 'shown'

    for decorator in reversed(decorators):
        show = decorator(show)
    return show


@pytest.mark.parametrize(
    ('ranges', 'problem'),
    [
        ([('1.0', '1.4'), ('1.4', None)], 'overlaps'),
        ([(None, None), ('1.4', None)], 'overlaps'),
        ([('1.0', '1.2'), ('1.4', None)], r'has no request schema from 1\.3'),
        ([('1.0', '1.2')], r'has no request schema from 1\.3 on'),
        ([('1.1', None)], r'has no request schema from 1\.0'),
        ([(None, '1.5'), ('1.6', None)], 'for no version of'),
    ],
)
def test_schemas_when_their_ranges_do_not_match_are_rejected(ranges, problem):
    decorators = [schema(SCHEMA, *bounds) for bounds in ranges]

    with pytest.raises(exceptions.DeclarationError, match=problem) as caught:
        declare(api_version('1.0', '1.5'), *decorators)

    assert str(caught.value).count('test_decorators.py:') == 2


@pytest.mark.parametrize(
    'decorators',
    [
        lambda: [schema({'type': 'nothing'})],
        lambda: [schema(SCHEMA, '1.5', '1.4')],
        lambda: [response(200), response(202)],
        lambda: [schema(SCHEMA), api_version('1.0')],
        lambda: [api_version('1.5'), gone('1.5', 'x')],
    ],
)
def test_declaration_when_contradictory_is_rejected(decorators):
    with pytest.raises(exceptions.DeclarationError):
        declare(*decorators())


def test_check_when_a_version_has_no_schema_is_an_error():
    complete, partial = (
        declare(schema(SCHEMA, '1.0', last)) for last in (None, '1.9')
    )

    dispatch_check.check(presets.SENLIN, complete)
    with pytest.raises(exceptions.DeclarationError, match=r'from 1\.10 on'):
        dispatch_check.check(presets.SENLIN, partial)


class OwnWrapper(wrapper.MethodWrapper):
    """Checks of a service with its own errors and loose ranges."""

    def __init__(self, function):
        spec = method_spec.MethodSpec()
        spec.success_statuses = RangeMap('success status', may_overlap=True)
        super().__init__(function, spec)

    def check_request(self, arguments, named):
        request = self.request_of(arguments, named)
        return version_of(request), request

    def check_error(self, version, error):
        raise Failure(503) from error


def test_service_may_check_its_calls_itself():
    class Own:
        @wrapper.declare('error_statuses', 404, '1.0', None, OwnWrapper)
        def show(self, req):
            raise KeyError

    for call in (
        lambda: Own().show({MICROVERSION: Version(1, 2)}),
        lambda: Own().show(req={MICROVERSION: Version(1, 2)}),
    ):
        with pytest.raises(Failure):
            call()


@pytest.mark.parametrize(
    ('version', 'status'), [('1.1', None), ('1.2', 200), ('1.5', 202)]
)
def test_ranges_that_may_overlap_give_the_value_declared_first(
    version, status
):
    @wrapper.declare('success_statuses', 200, '1.2', '1.5', OwnWrapper)
    @wrapper.declare('success_statuses', 202, '1.5', '1.9', OwnWrapper)
    def show(req):
        pass

    statuses = method_spec.spec_of(show).success_statuses
    assert statuses.at(Version.parse(version)) == status
