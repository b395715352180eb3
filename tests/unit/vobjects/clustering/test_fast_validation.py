# SPDX-License-Identifier: Apache-2.0
"""Fast validation of the types of the service."""

import pytest

from tests.unit.vobjects.microversions import test_fast_validation as library
from vobjects import objects
from vobjects.clustering import types
from vobjects.microversions import fast_validation, schema

SHAPES = library.every_shape(
    cls
    for cls in objects.registered_types()
    if issubclass(cls, objects.Request)
    and cls.__module__.startswith(types.__package__)
)


@pytest.mark.parametrize('shape', SHAPES, ids=str)
def test_edge_values_are_accepted_as_by_jsonschema_and_the_fields(shape):
    library.check_edge_values(shape)


@pytest.mark.parametrize('shape', SHAPES, ids=str)
def test_every_request_type_of_the_service_has_a_fast_validator(shape):
    accepts = schema.request_schema_at(*shape).validator.accepts

    assert accepts is not fast_validation.accepts_nothing
