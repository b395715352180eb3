# SPDX-License-Identifier: Apache-2.0
"""A body as an object of a request type."""

from __future__ import annotations

import pytest
from oslo_versionedobjects import base as ovo_base

from tests.unit.vobjects.microversions import samples
from vobjects.controllers import request_parsing
from vobjects.microversions import errors, policy
from vobjects.versions import Version


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    for cls in (samples.SampleCreateRequest, samples.SampleLateRequest):
        monkeypatch.setitem(
            ovo_base.VersionedObjectRegistry()._obj_classes,
            cls.__name__,
            [cls],
        )


def at(version):
    return {policy.MICROVERSION: Version.parse(version)}


def read(version, raw, **options):
    cls = samples.SampleCreateRequest
    return request_parsing.read(cls, at(version), raw, **options)


BODY = b'{"identity": "i", "name": "n", "profile_id": "p"'


def test_body_becomes_an_object_at_the_newest_version_with_defaults():
    found = read('1.8', BODY + b', "color": "red", "force": true}')

    assert found.VERSION == '1.4'
    assert (found.name, found.colour, found.force) == ('n', 'red', True)
    assert found.desired_capacity == 0
    assert found.metadata == {}


def test_default_of_one_object_is_not_that_of_the_next():
    read('1.8', BODY + b'}').metadata['a'] = 'b'

    assert read('1.8', BODY + b'}').metadata == {}


def test_what_the_version_lacks_is_refused_by_naming_one_that_has_it():
    with pytest.raises(errors.ValidationError, match='needs API version'):
        read('1.7', BODY + b', "force": true}')


def test_type_that_the_version_lacks_is_refused():
    with pytest.raises(errors.MethodNotAtVersion):
        request_parsing.read(samples.SampleLateRequest, at('1.8'), b'{}')


@pytest.mark.parametrize('raw', [b'', b'{', b'[]', b'"x"', b'\xff'])
def test_body_that_is_no_object_is_refused(raw):
    with pytest.raises(errors.InputError):
        read('1.8', raw)


def test_body_that_is_too_long_is_refused():
    with pytest.raises(errors.BodyTooLarge):
        read('1.8', BODY + b'}', max_bytes=10)


def test_names_are_those_of_all_versions():
    names = request_parsing.field_names(samples.SampleCreateRequest)

    assert {'color', 'colour', 'legacy', 'force'} <= set(names)
    assert len(names) == len(set(names))
