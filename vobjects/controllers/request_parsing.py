# SPDX-License-Identifier: Apache-2.0
"""Read the JSON body of a request as an object of a request type.

Controllers of any framework can use :func:`parse_body`. It parses the body
safely, validates it with the schema of the request's microversion, converts it
to the newest version of the type and sets the defaults.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, TypeVar

from vobjects.controllers.version_request import environ_of, version_of
from vobjects.microversions import json_body, schema
from vobjects.microversions.version_policy import EARLY

if TYPE_CHECKING:
    # Needed for annotations only: callers have imported the type themselves.
    from vobjects import objects

T = TypeVar('T', bound='objects.Object')

_all_field_names = functools.lru_cache(maxsize=1024)(schema.all_field_names)


def parse_body(
    cls: type[T],
    request: Any,
    raw: bytes,
    *,
    max_bytes: int = json_body.MAX_BYTES,
) -> T:
    """Return the body of a request as an object.

    :param cls: a registered type; all its fields come from the body
    :param request: see :func:`vobjects.controllers.version_request.version_of`
    :param raw: the body; a server should not read one much longer than
        ``max_bytes``
    :param max_bytes: maximum length of the body
    :returns: an object at the newest version of ``cls``
    :raises vobjects.microversions.errors.InputError: the body is invalid; the
        message gives the fault and the microversion that accepts it, if any
    :raises vobjects.microversions.errors.MethodNotAtVersion: the whole type
        belongs to a later version
    """
    microversion = version_of(request)
    early = environ_of(request).get(EARLY, False)
    values = json_body.load_json(raw, max_bytes)
    hashable: Any = cls  # mypy checks the instances' __hash__
    names = _all_field_names(hashable)
    schema.validate(cls, microversion, names, values, early=early)
    key = cls._obj_primitive_key
    request_object: T = cls.obj_from_primitive(
        {
            key('name'): cls.obj_name(),
            key('namespace'): cls.OBJ_PROJECT_NAMESPACE,
            key('version'): cls.version_at(microversion, early=early),
            key('data'): values,
            key('changes'): list(values),
        }
    )
    request_object.obj_set_defaults()
    return request_object
