# SPDX-License-Identifier: Apache-2.0
"""A request's JSON body as an object of a request type.

What a controller of any framework needs of a body: read safely, held against
the schema of the request's microversion, brought up to the newest version of
the type, with its defaults.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, TypeVar

from vobjects.microversions import body, dispatch, schema

if TYPE_CHECKING:
    # Whoever has a type has imported it; this module need not.
    from vobjects import base

Asked = TypeVar('Asked', bound='base.Object')


def read(
    cls: type[Asked],
    request: Any,
    raw: bytes,
    *,
    max_bytes: int = body.MAX_BYTES,
) -> Asked:
    """Return what a request's body asks.

    :param cls: a registered type; all its fields come from the body
    :param request: anything that :func:`~.dispatch.version_of` takes
    :param raw: the body; a server should not read one that is much longer
        than ``max_bytes``
    :returns: at the newest version of ``cls``
    :raises vobjects.microversions.errors.InputError: what is wrong, and at
        which microversion it would not be
    :raises vobjects.microversions.errors.MethodNotAtVersion: the whole type
        belongs to a later version
    """
    microversion = dispatch.version_of(request)
    values = body.load_json(raw, max_bytes)
    hashable: Any = cls  # as every class; mypy looks at the instances'
    schema.validate(cls, microversion, field_names(hashable), values)
    key = cls._obj_primitive_key
    asked: Asked = cls.obj_from_primitive(
        {
            key('name'): cls.obj_name(),
            key('namespace'): cls.OBJ_PROJECT_NAMESPACE,
            key('version'): cls.version_at(microversion),
            key('data'): values,
            key('changes'): list(values),
        }
    )
    asked.obj_set_defaults()
    return asked


@functools.lru_cache(maxsize=1024)
def field_names(cls: type[base.Object]) -> tuple[str, ...]:
    """Return the fields that a type has at any of its microversions."""
    versions = ['1.0', *cls.VERSION_MAP.values()]
    return tuple(
        dict.fromkeys(
            name for version in versions for name in cls.fields_at(version)
        )
    )
