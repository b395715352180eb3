# SPDX-License-Identifier: Apache-2.0
"""The base classes of versioned types, and their registration.

:class:`Object` is an ``oslo_versionedobjects.base.VersionedObject`` that
derives its conversions from the declarations of
:mod:`vobjects.objects.history`. Its primitives and fingerprints are those of
oslo.versionedobjects, and a class that implements ``obj_make_compatible``
itself keeps working.

::

    Object           data that a receiver acts on or stores: a downgrade that
    │                would lose data is refused
    ├── Request      arguments of a call to an engine; VERSION_MAP lists the
    │                microversions that accept them
    └── Resource     data for a reader: fields that the reader does not know
                     are omitted; VERSION_MAP lists the microversions that
                     show them

:mod:`vobjects.objects.codec` implements the same behaviour with functions
compiled for each class and version. They are used unless a class overrides a
method.
"""

from __future__ import annotations

from vobjects import _threading  # isort: skip  # noqa: F401 - goes first
from vobjects.objects.children import Manifest
from vobjects.objects.object import (
    AnyField,
    Object,
    ObjectListBase,
    Request,
    Resource,
)
from vobjects.objects.primitives import (
    to_json,
    to_json_list,
    to_json_text,
    versions_in,
)
from vobjects.objects.registration import (
    register,
    registered_type,
    registered_types,
)

__all__ = [
    'AnyField',
    'Manifest',
    'Object',
    'ObjectListBase',
    'Request',
    'Resource',
    'register',
    'registered_type',
    'registered_types',
    'to_json',
    'to_json_list',
    'to_json_text',
    'versions_in',
]
