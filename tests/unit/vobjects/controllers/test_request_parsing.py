# SPDX-License-Identifier: Apache-2.0
"""Bodies, queries and paths as objects of a request type."""

from __future__ import annotations

import pytest
from oslo_versionedobjects import base as ovo_base

from tests.unit.vobjects.microversions import samples
from vobjects import fields, objects
from vobjects.controllers import request_parsing
from vobjects.microversions import errors, version_policy
from vobjects.objects.history import added, changed, removed
from vobjects.versions import Version


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    for cls in (samples.SampleCreateRequest, samples.SampleLateRequest):
        monkeypatch.setitem(
            ovo_base.VersionedObjectRegistry()._obj_classes,
            cls.__name__,
            [cls],
        )


def request_at(version):
    return {version_policy.MICROVERSION: Version.parse(version)}


def parse(version, raw, **options):
    cls = samples.SampleCreateRequest
    return request_parsing.parse_body(cls, request_at(version), raw, **options)


BODY = b'{"identity": "i", "name": "n", "profile_id": "p"'


def test_body_becomes_an_object_at_the_newest_version_with_defaults():
    request = parse('1.8', BODY + b', "color": "red", "force": true}')

    assert request.VERSION == '1.4'
    assert (request.name, request.colour, request.force) == ('n', 'red', True)
    assert request.desired_capacity == 0
    assert request.metadata == {}


def test_defaults_are_not_shared_between_objects():
    parse('1.8', BODY + b'}').metadata['a'] = 'b'

    assert parse('1.8', BODY + b'}').metadata == {}


@pytest.mark.parametrize(
    ('function', 'body', 'message'),
    [
        ('parse_body', '{}', 'must be bytes as received, not str'),
        ('parse_body', {}, 'not dict; parse_values takes'),
        ('parse_values', b'{}', 'takes parsed JSON; parse_body bytes'),
    ],
)
def test_body_of_another_form_is_an_error_of_the_caller(
    function, body, message
):
    with pytest.raises(TypeError, match=message):
        getattr(request_parsing, function)(
            samples.SampleCreateRequest, request_at('1.8'), body
        )


def test_type_when_missing_at_the_version_is_rejected():
    with pytest.raises(errors.MethodNotAtVersion):
        request_parsing.parse_body(
            samples.SampleLateRequest, request_at('1.8'), b'{}'
        )


NAMED = b'{"name": "n", "profile_id": "p"}'
PATH = {'identity': 'i'}


def test_body_and_path_become_one_object():
    path = {**PATH, 'desired_capacity': '2'}

    request = parse('1.8', NAMED, path=path)

    assert (request.identity, request.name) == ('i', 'n')
    assert request.desired_capacity == 2


@pytest.mark.parametrize(
    ('raw', 'options', 'problem'),
    [
        (BODY + b', "force": true}', {}, 'needs API version 1.8'),
        (b'', {}, 'is empty'),
        (b'{', {}, 'is not JSON'),
        (b'[]', {}, 'must be a JSON object'),
        (b'"x"', {}, 'must be a JSON object'),
        (b'\xff', {}, 'is not UTF-8'),
        (BODY + b'}', {'max_bytes': 10}, 'the maximum is 10'),
        (BODY + b'}', {'path': PATH}, 'body.identity'),
        (NAMED, {'path': {'identity': 'a\0'}}, 'path.identity: has the'),
        (NAMED, {'path': {'identity': '\ud800'}}, 'cannot be stored'),
        (
            BODY + b'}',
            {'path': {'desired_capacity': '-1'}},
            'path.desired_capacity: ',
        ),
    ],
)
def test_body_or_path_when_invalid_is_rejected(raw, options, problem):
    with pytest.raises(errors.InputError) as caught:
        parse('1.7', raw, **options)

    assert problem in caught.value.detail


def parse_query(version, text, **options):
    cls = samples.SampleCreateRequest
    return request_parsing.parse_query(
        cls, request_at(version), text, **options
    )


QUERY = 'name=n&profile_id=p'


def test_query_becomes_an_object_at_the_newest_version_with_defaults():
    request = parse_query(
        '1.9', f'{QUERY}&color=red&size=7&timeout=5', path=PATH
    )

    assert request.VERSION == '1.4'
    assert (request.identity, request.colour) == ('i', 'red')
    assert (request.size, request.timeout) == (7, 5)
    assert request.desired_capacity == 0


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('force=true', 'needs API version'),
        ('color=a&color=b', 'more than once'),
        ('nothing=1', 'nothing'),
        ('identity=j', 'identity'),
        ('size=ten', 'size'),
        ('name=%00', 'cannot be stored'),
        ('name=%ff', 'UTF-8'),
    ],
)
def test_query_when_invalid_is_rejected(text, message):
    with pytest.raises(errors.InputError, match=message):
        parse_query('1.7', f'{QUERY}&{text}', path=PATH)


def test_query_is_that_of_the_request_by_default():
    environ = {
        **request_at('1.9'),
        'QUERY_STRING': 'name=n&profile_id=p&size=7',
    }
    cls = samples.SampleCreateRequest
    request = request_parsing.parse_query(cls, environ, path=PATH)
    assert request.size == 7


def test_query_when_the_request_has_no_environ_must_be_passed():
    class Controller:
        version_request = Version(1, 9)

    cls = samples.SampleCreateRequest
    with pytest.raises(LookupError, match='pass query_string'):
        request_parsing.parse_query(cls, Controller(), path=PATH)
    request_parsing.parse_query(cls, Controller(), QUERY, path=PATH)


def test_values_become_an_object_like_a_body():
    values = {'name': 'n', 'profile_id': 'p', 'color': 'red'}
    request = request_parsing.parse_values(
        samples.SampleCreateRequest, request_at('1.8'), values, path=PATH
    )

    assert (request.identity, request.colour) == ('i', 'red')


@pytest.mark.parametrize('values', [None, [], 'x', {'name': 1}])
def test_values_when_invalid_are_rejected(values):
    with pytest.raises(errors.InputError):
        request_parsing.parse_values(
            samples.SampleCreateRequest, request_at('1.8'), values, path=PATH
        )


class Countdown(fields.DateTime):
    """A time that records each text from which it is read."""

    texts: list[str] = []

    def from_primitive(self, obj, attr, value):
        self.texts.append(value)
        return super().from_primitive(obj, attr, value)


@pytest.fixture
def timed_type(registry):
    def time(**options):
        return fields.Field(Countdown(), **options)

    @objects.register
    class Span(objects.Object):
        fields = {'end': time()}

    @objects.register
    class TimedRequest(objects.Request):
        VERSION = '1.2'
        VERSION_MAP = {'1.2': '1.1', '1.3': '1.2'}
        EARLY_VERSION_MAP = {'1.0': '1.1'}
        EARLY_IGNORED = ('late',)
        fields = {
            'start': time(nullable=True),
            'late': added('1.1', time(nullable=True)),
            'span': fields.ObjectField('Span', nullable=True),
            'spans': fields.ListOfObjectsField('Span', default=[]),
            'old': removed('1.2', time(nullable=True)),
            'day': changed(
                '1.2',
                time(nullable=True),
                fields.StringField(nullable=True),
                up=lambda value: value,
                down=lambda value: value,
            ),
        }

    Countdown.texts.clear()
    return TimedRequest


GOOD, BAD = '2026-11-26T20:00:00Z', '2026-13-26T20:00:00Z'


def test_body_when_valid_has_each_value_read_once(timed_type):
    values = {'start': GOOD, 'span': {'end': GOOD}, 'spans': [{'end': GOOD}]}
    request = request_parsing.parse_values(
        timed_type, request_at('1.3'), values
    )
    assert Countdown.texts == [GOOD] * 3
    assert request.start == request.span.end == request.spans[0].end


@pytest.mark.parametrize(
    ('values', 'path'),
    [
        ({'start': BAD}, 'body.start'),
        ({'late': BAD}, 'body.late'),
        ({'span': {'end': BAD}}, 'body.span.end'),
        ({'spans': [{'end': GOOD}, {'end': BAD}]}, 'body.spans[1].end'),
        ({'old': BAD}, 'body.old'),
        ({'day': BAD}, 'body.day'),
    ],
)
@pytest.mark.parametrize('version', ['1.0', '1.2'])
def test_body_when_only_a_field_rejects_a_value_names_it(
    timed_type, values, path, version
):
    request = {**request_at(version), version_policy.EARLY: True}
    with pytest.raises(errors.ValidationError) as caught:
        request_parsing.parse_values(timed_type, request, values)
    assert caught.value.path == path


SECRET = 'SeCrEt'


@objects.register
class SecretInner(objects.Object):
    fields = {'key': fields.sensitive(fields.StringField())}


@objects.register
class SecretRequest(objects.Request):
    VERSION = '1.1'
    VERSION_MAP = {'1.1': '1.1'}
    fields = {
        name: fields.sensitive(field)
        for name, field in {
            'address': fields.IPAddressField(nullable=True),
            'at': fields.DateTimeField(nullable=True),
            'changed': changed(
                '1.1',
                fields.StringField(nullable=True),
                fields.IntegerField(nullable=True),
                up=int,
                down=str,
            ),
            'list': fields.ListOfStringsField(nullable=True),
            'mapping': fields.DictOfIntegersField(nullable=True),
            'number': fields.IntegerField(nullable=True),
            'text': fields.NameField(nullable=True),
            'uuid': fields.UUIDField(nullable=True),
            'word': fields.EnumField(['a'], nullable=True),
        }.items()
    } | {'inner': fields.ListOfObjectsField('SecretInner', default=[])}


@pytest.mark.parametrize('version', ['1.0', '1.1'])
@pytest.mark.parametrize(
    ('field', 'value', 'path'),
    [
        ('address', SECRET, 'address'),
        ('at', SECRET, 'at'),
        ('changed', [SECRET], 'changed'),
        ('list', SECRET, 'list'),
        ('list', ['a', {SECRET: 1}], 'list[1]'),
        ('mapping', {'a': SECRET}, 'mapping'),
        ('mapping', {SECRET: 'x'}, 'mapping'),
        ('number', SECRET, 'number'),
        ('text', f'{SECRET} ', 'text'),
        ('text', {SECRET: SECRET}, 'text'),
        ('text', SECRET * 99, 'text'),
        ('uuid', SECRET, 'uuid'),
        ('word', SECRET, 'word'),
        ('inner', [{'key': [SECRET]}], 'inner[0].key'),
        ('inner', SECRET, 'inner'),
        ('inner', [SECRET], 'inner[0]'),
        ('inner', [{'key': 'a'}, [{'key': SECRET}]], 'inner[1]'),
    ],
)
def test_error_of_a_sensitive_field_hides_its_value(
    version, field, value, path
):
    with pytest.raises(errors.ValidationError) as caught:
        request_parsing.parse_values(
            SecretRequest, request_at(version), {field: value}
        )

    assert caught.value.path == f'body.{path}'
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    ('field', 'path'),
    [
        *((f, f) for f in ('address', 'at', 'mapping', 'number', 'uuid')),
        ('word', 'word'),
        ('inner', 'inner[0]'),
    ],
)
def test_error_of_a_sensitive_parameter_hides_its_value(field, path):
    with pytest.raises(errors.ValidationError) as caught:
        request_parsing.parse_query(
            SecretRequest, request_at('1.1'), f'{field}={SECRET}'
        )

    assert caught.value.path == f'query.{path}'
    assert SECRET not in str(caught.value)


def test_error_of_bad_characters_names_the_place_and_hides_the_text():
    version = request_at('1.1')
    body = b'{"inner": [{"key": "%s\\u0000"}]}' % SECRET.encode()
    with pytest.raises(errors.MalformedBody, match='has the') as in_body:
        request_parsing.parse_body(SecretRequest, version, body)
    with pytest.raises(errors.MalformedQuery) as in_query:
        request_parsing.parse_query(
            SecretRequest, version, f'text={SECRET}%FF'
        )

    assert in_body.value.detail.startswith('body.inner[0].key has the')
    assert SECRET not in in_body.value.detail + in_query.value.detail
