# SPDX-License-Identifier: Apache-2.0
"""The base classes of versioned types, and their registration.

:class:`Object` is an ``oslo_versionedobjects.base.VersionedObject`` that
derives its conversions from the declarations of
:mod:`vobjects.objects.history`. Its primitives and fingerprints are those of
oslo.versionedobjects, and a class that implements ``obj_make_compatible``
itself keeps working.

- :class:`Object` is data that a receiver acts on or stores. A downgrade that
  would lose data is refused.
- :class:`Request`, a subclass, has the arguments of a call to an engine.
  ``VERSION_MAP`` lists the microversions that accept them.
- :class:`Resource`, another subclass, is data for a reader. Fields that the
  reader does not know are omitted. ``VERSION_MAP`` lists the microversions
  that show them.

``vobjects.objects.codec`` implements the same behaviour with functions
compiled for each class and version. They are used unless a class overrides a
method.

::

    adoption        add the compiled codec to existing oslo.versionedobjects
                    classes
    nested_downgrade  downgrade nested objects for an older peer
    annotated_fields  declare fields by annotations
    codec           compile functions for each versioned class, to convert
                    objects faster
    conversions     conversions of values whose inverse and loss are known
    conversion_plan  plans: how to convert the data of a type between two of
                    its versions
    declaration_checks  check at registration that fields can do what their
                    type needs
    field_changes   declare how the fields of a type have changed
    history         the history of a type's fields, derived from their
                    declarations
    field_spans     the spans of versions of a field, and steps between them
    manifest        manifests: the newest version of each type that a build
                    supports
    kinds           kinds of types: Request, Resource and ObjectListBase
    object          the base class of types: Object
    primitives      convert objects to JSON data, and inspect primitives by
                    type
    registration    register types: check their declarations and derive their
                    histories
    representation  show objects for debugging: as a ``repr`` or as a plain
                    dict
    upgrade         convert primitives of any version to the newest version
    unknown_fields  handle fields in a primitive that its stated version does
                    not have
"""

from __future__ import annotations

from vobjects import _threading  # isort: skip  # noqa: F401 - goes first
from vobjects.objects.kinds import ObjectListBase as ObjectListBase
from vobjects.objects.kinds import Request as Request
from vobjects.objects.kinds import Resource as Resource
from vobjects.objects.nested_downgrade import Manifest as Manifest
from vobjects.objects.object import AnyField as AnyField
from vobjects.objects.object import Object as Object
from vobjects.objects.primitives import to_json as to_json
from vobjects.objects.primitives import to_json_list as to_json_list
from vobjects.objects.primitives import to_json_text as to_json_text
from vobjects.objects.primitives import versions_in as versions_in
from vobjects.objects.registration import register as register
from vobjects.objects.registration import registered_type as registered_type
from vobjects.objects.registration import registered_types as registered_types
