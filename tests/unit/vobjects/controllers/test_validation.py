# SPDX-License-Identifier: Apache-2.0
"""What decorators say of the methods of controllers, and what keeps it."""

from __future__ import annotations

import types

import pytest

from vobjects import exceptions
from vobjects.controllers import dispatch, method_spec, responses
from vobjects.controllers.dispatch import api_version
from vobjects.controllers.responses import expected_errors, removed, response
from vobjects.controllers.validation import (
    query_schema,
    response_body_schema,
    schema,
)
from vobjects.controllers.version_request import (
    APIVersionRequest,
    VersionedRequest,
)
from vobjects.microversions import errors, presets
from vobjects.microversions.policy import MICROVERSION
from vobjects.versions import Version

TEXT = {'type': 'string'}
ONE = {
    'type': 'object',
    'properties': {'name': TEXT},
    'required': ['name'],
    'additionalProperties': False,
}
TWO = {**ONE, 'properties': {'name': TEXT, 'tag': TEXT}}
QUERY = {
    'type': 'object',
    'properties': {
        'limit': {'type': 'integer', 'minimum': 1},
        'name': {'type': 'array', 'items': TEXT},
    },
    'additionalProperties': False,
}


class Failure(Exception):
    """As frameworks raise them."""

    def __init__(self, code):
        self.code = code


class Controller:
    @api_version('1.0', '1.4')
    @schema(ONE, '1.0', '1.2')
    @schema(TWO, '1.3')
    @response(202, '1.0', '1.1')
    @response(201, '1.2')
    def create(self, req, body):
        return 'old', body

    @create.api_version('1.5')
    @removed('1.8', 'Use POST /v1/things.')
    @schema(TWO)
    def create(self, req, body):
        return 'new', body

    @query_schema(QUERY)
    @response_body_schema({'type': 'array', 'maxItems': 1})
    def index(self, req, query):
        return list(query.items())

    @expected_errors((404, 409), '1.0', '1.4')
    @expected_errors(404, '1.5')
    def fail(self, req, error):
        raise error


def at(version, query='', **more):
    return {
        MICROVERSION: Version.parse(version),
        'QUERY_STRING': query,
        **more,
    }


@pytest.mark.parametrize(
    ('version', 'body', 'expected'),
    [
        ('1.0', {'name': 'x'}, 'old'),
        ('1.3', {'name': 'x', 'tag': 'y'}, 'old'),
        ('1.5', {'name': 'x', 'tag': 'y'}, 'new'),
    ],
)
def test_body_that_fits_its_version_arrives(version, body, expected):
    assert Controller().create(at(version), body=body) == (expected, body)
    assert Controller().create(at(version), body) == (expected, body)


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
def test_body_that_does_not_fit_is_refused(version, body, problem):
    with pytest.raises(errors.ValidationError, match=problem):
        Controller().create(at(version), body=body)


def test_query_is_read_by_its_types():
    asked = at('1.0', 'limit=3&name=a&name=b')

    assert Controller().index(asked) == [('limit', 3), ('name', ['a', 'b'])]


@pytest.mark.parametrize('query', ['limit=0', 'limit=x', 'nope=1',
                                   'limit=1&limit=2'])  # fmt: skip
def test_query_that_does_not_fit_is_refused(query):
    with pytest.raises(errors.ValidationError, match=r'^query'):
        Controller().index(at('1.0', query))


def test_answer_is_held_against_its_schema_where_that_is_asked():
    query = 'limit=3&name=a'
    watched = at('1.0', query, **{method_spec.CHECK_ANSWERS: True})

    assert len(Controller().index(at('1.0', query))) == 2
    with pytest.raises(exceptions.VobjectsError, match=r'index answers at'):
        Controller().index(watched)


@pytest.mark.parametrize(
    ('version', 'status'), [('1.1', 202), ('1.2', 201), ('1.6', 200)]
)
def test_success_has_the_status_of_its_version(version, status):
    at_ = Version.parse(version)

    method = dispatch.resolve(Controller.create, at_)
    assert method_spec.success(method, at_) == status


@pytest.mark.parametrize('version', ['1.8', '1.14'])
def test_method_that_was_removed_answers_410_with_the_reason(version):
    with pytest.raises(responses.MethodRemoved) as caught:
        Controller().create(at(version), body={'name': 'x'})

    assert caught.value.status == 410
    assert caught.value.detail == (
        "create is gone since API version '1.8'. Use POST /v1/things."
    )


def test_method_with_an_end_and_a_removal_says_why():
    @api_version('1.0', '1.4')
    @removed('1.5', 'Nobody used it.')
    def show(req):
        return 'shown'

    assert show(at('1.4')) == 'shown'
    with pytest.raises(responses.MethodRemoved, match='Nobody used it'):
        show(at('1.5'))


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
def test_error_that_is_expected_passes(version, error):
    with pytest.raises(type(error)) as caught:
        Controller().fail(at(version), error)

    assert caught.value is error


@pytest.mark.parametrize(
    ('version', 'error'),
    [
        ('1.5', Failure(409)),
        ('1.0', Failure(410)),
        ('1.0', ValueError('secret')),
    ],
)
def test_error_that_is_not_expected_is_a_fault_of_ours(version, error, caplog):
    with pytest.raises(responses.UnexpectedError) as caught:
        Controller().fail(at(version), error)

    assert caught.value.status == 500
    assert 'secret' not in caught.value.detail
    assert caught.value.__cause__ is error
    assert 'does not declare' in caplog.text


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
def test_schemas_that_do_not_fit_the_method_are_refused(ranges, problem):
    decorators = [schema(ONE, *one) for one in ranges]

    with pytest.raises(exceptions.DeclarationError, match=problem) as caught:
        declare(api_version('1.0', '1.5'), *decorators)

    assert str(caught.value).count('test_validation.py:') == 2


@pytest.mark.parametrize(
    'decorators',
    [
        lambda: [schema({'type': 'nothing'})],
        lambda: [schema(ONE, '1.5', '1.4')],
        lambda: [response(200), response(202)],
        lambda: [schema(ONE), api_version('1.0')],
        lambda: [api_version('1.5'), removed('1.5', 'x')],
    ],
)
def test_declaration_that_cannot_be_is_refused(decorators):
    with pytest.raises(exceptions.DeclarationError):
        declare(*decorators())


def test_plain_method_has_to_have_a_schema_at_every_version():
    whole, half = (declare(schema(ONE, '1.0', last)) for last in (None, '1.9'))

    dispatch.check(presets.SENLIN, whole)
    with pytest.raises(exceptions.DeclarationError, match=r'from 1\.10 on'):
        dispatch.check(presets.SENLIN, half)


@pytest.mark.parametrize('name', ['environ', 'env'])
def test_request_class_has_the_version_under_the_seeds_name(name):
    class Request(VersionedRequest, types.SimpleNamespace):
        pass

    request = Request(**{name: at('1.7')})

    assert request.version_request == APIVersionRequest('1.7')
    assert isinstance(request.version_request, APIVersionRequest)


def test_request_that_nobody_negotiated_has_no_version():
    class Request(VersionedRequest):
        environ = {}

    with pytest.raises(LookupError, match='middleware'):
        Request().version_request  # noqa: B018 - it raises
