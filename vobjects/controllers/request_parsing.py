# SPDX-License-Identifier: Apache-2.0
"""Read the JSON body of a request as an object of a request type.

Controllers of any framework can use :func:`read`: it parses the body safely,
validates it with the schema of the request's microversion, converts it to the
newest version of the type and sets the defaults.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, TypeVar

from vobjects.controllers import dispatch
from vobjects.microversions import json_body, schema
from vobjects.microversions.policy import EARLY

if TYPE_CHECKING:
    # Needed for annotations only: callers have imported the type themselves.
    from vobjects import objects

Asked = TypeVar('Asked', bound='objects.Object')


def read(
    cls: type[Asked],
    request: Any,
    raw: bytes,
    *,
    max_bytes: int = json_body.MAX_BYTES,
) -> Asked:
    """Return the body of a request as an object.

    :param cls: a registered type; all its fields come from the body
    :param request: any request that :func:`~.dispatch.version_of` accepts
    :param raw: the body; a server should not read one much longer than
        ``max_bytes``
    :param max_bytes: maximum length of the body
    :returns: an object at the newest version of ``cls``
    :raises vobjects.microversions.errors.InputError: the body is invalid; the
        message gives the fault and the microversion that accepts it, if any
    :raises vobjects.microversions.errors.MethodNotAtVersion: the whole type
        belongs to a later version
    """
    microversion = dispatch.version_of(request)
    early = dispatch.environ_of(request).get(EARLY, False)
    values = json_body.load_json(raw, max_bytes)
    hashable: Any = cls  # mypy checks the instances' __hash__
    names = field_names(hashable)
    schema.validate(cls, microversion, names, values, early=early)
    key = cls._obj_primitive_key
    asked: Asked = cls.obj_from_primitive(
        {
            key('name'): cls.obj_name(),
            key('namespace'): cls.OBJ_PROJECT_NAMESPACE,
            key('version'): cls.version_at(microversion, early=early),
            key('data'): values,
            key('changes'): list(values),
        }
    )
    asked.obj_set_defaults()
    return asked


@functools.lru_cache(maxsize=1024)
def field_names(cls: type[objects.Object]) -> tuple[str, ...]:
    """Return the fields that a type has at any of its microversions."""
    versions = ['1.0', *cls.VERSION_MAP.values()]
    return tuple(
        dict.fromkeys(
            name for version in versions for name in cls.fields_at(version)
        )
    )
