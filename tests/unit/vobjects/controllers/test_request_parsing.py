# SPDX-License-Identifier: Apache-2.0
"""Bodies as objects of a request type."""

from __future__ import annotations

import pytest
from oslo_versionedobjects import base as ovo_base

from tests.unit.vobjects.microversions import samples
from vobjects.controllers import request_parsing
from vobjects.microversions import errors, version_policy
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


def test_field_when_missing_at_the_version_names_a_later_one():
    with pytest.raises(errors.ValidationError, match='needs API version'):
        parse('1.7', BODY + b', "force": true}')


def test_type_when_missing_at_the_version_is_rejected():
    with pytest.raises(errors.MethodNotAtVersion):
        request_parsing.parse_body(
            samples.SampleLateRequest, request_at('1.8'), b'{}'
        )


@pytest.mark.parametrize('raw', [b'', b'{', b'[]', b'"x"', b'\xff'])
def test_body_when_not_an_object_is_rejected(raw):
    with pytest.raises(errors.InputError):
        parse('1.8', raw)


def test_body_when_too_long_is_rejected():
    with pytest.raises(errors.BodyTooLarge):
        parse('1.8', BODY + b'}', max_bytes=10)
