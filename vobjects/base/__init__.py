# SPDX-License-Identifier: Apache-2.0
"""The base classes of versioned types, and their registration.

:class:`Object` is an ``oslo_versionedobjects.base.VersionedObject`` whose
conversions follow from the declarations of :mod:`vobjects.history`. Its
primitives and fingerprints are those of oslo.versionedobjects, and a class
that still writes ``obj_make_compatible`` by hand keeps working.

::

    Object           what a receiver acts on or stores: losing data is refused
    ├── Request      asked of an engine; VERSION_MAP says from which
    │                microversion on a client may ask it
    └── Resource     an answer for a reader: what the reader cannot show is
                     left out; VERSION_MAP says what each microversion shows

What is said here in general is done by :mod:`vobjects.codec` with functions
made for each class and version, wherever a class changed nothing of it.
"""

from __future__ import annotations

from vobjects.base.children import Manifest
from vobjects.base.declaring import register
from vobjects.base.kinds import Request, Resource
from vobjects.base.lists import ObjectListBase
from vobjects.base.objects import AnyField, Object
from vobjects.base.primitives import plain, plain_all, shown_all, versions_in
from vobjects.base.registry import registered, registered_types

__all__ = [
    'AnyField',
    'Manifest',
    'Object',
    'ObjectListBase',
    'Request',
    'Resource',
    'plain',
    'plain_all',
    'register',
    'registered',
    'registered_types',
    'shown_all',
    'versions_in',
]
