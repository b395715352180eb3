# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import datetime

import pytest

from vobjects import fields, objects
from vobjects.testing import comparison

AT = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
EARLIER = AT.replace(year=1999)


@pytest.fixture
def event(registry: None) -> objects.Object:
    @objects.register
    class Event(objects.Object):
        fields = {'at': fields.DateTimeField()}

    return Event(at=AT)


def test_differences_when_times_differ_has_both(event: objects.Object) -> None:
    assert comparison.differences(event, {'at': EARLIER}) == {
        'at': (AT, EARLIER)
    }


def test_differences_when_time_has_no_zone_assumes_utc(
    event: objects.Object,
) -> None:
    naive = AT.replace(tzinfo=None)
    assert comparison.differences(event, {'at': naive}) == {}


def test_differences_when_objects_are_equal_is_empty(
    event: objects.Object,
) -> None:
    assert comparison.differences(event, event.obj_clone()) == {}


def test_differences_when_field_is_not_expected_reports_unset(
    event: objects.Object,
) -> None:
    assert comparison.differences(event, {}) == {'at': (AT, comparison.UNSET)}
