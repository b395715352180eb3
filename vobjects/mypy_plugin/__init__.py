# SPDX-License-Identifier: Apache-2.0
"""A mypy plug-in that types the attributes of versioned objects.

::

    [tool.mypy]
    plugins = ["vobjects.mypy_plugin"]

The plug-in reads ``fields = {...}`` in the body of every class derived from
``oslo_versionedobjects.base.VersionedObject``, yours included:

* Each field becomes an attribute with the type that the field coerces to,
  optional if the field is nullable. Wrappers such as ``added`` are
  transparent.
* A nested object has the type of its class, which the plug-in finds by name
  in the module itself or in a module that it imports.
* The constructor takes the context, and the fields as keywords. Any other
  keyword is an error.
* Items of a list object have the item type of its ``objects`` field.

If a key or a part of the mapping is computed, the plug-in cannot read it.
Every attribute of that class is then ``Any``; for subclasses of
:class:`vobjects.objects.Object` mypy reports an error as well.

This plug-in replaces ``oslo_versionedobjects.mypy``, which supports neither
nested fields, enumerations, lists and constructors nor version histories.

::

    field_types  read ``fields = {...}`` of a class and return mypy types
    members      add attributes and constructors to versioned objects
"""

from __future__ import annotations

import hashlib
import pathlib
from collections.abc import Callable

from mypy.nodes import TypeInfo
from mypy.plugin import ClassDefContext, Plugin

from vobjects.mypy_plugin import members

#: mypy drops its cache when this value changes. By itself, mypy would notice
#: changes of this file only.
__version__ = hashlib.sha256(
    b''.join(
        path.read_bytes()
        for path in sorted(pathlib.Path(__file__).parent.glob('*.py'))
    )
).hexdigest()


class VersionedObjects(Plugin):
    """Types the fields of versioned objects; see the module's docstring."""

    def get_base_class_hook(
        self, fullname: str
    ) -> Callable[[ClassDefContext], None] | None:
        """Return the hook that handles subclasses of versioned objects."""
        symbol = self.lookup_fully_qualified(fullname)
        if (
            symbol is not None
            and isinstance(symbol.node, TypeInfo)
            and members.may_have_fields(symbol.node)
        ):
            return members.declare
        return None


def plugin(version: str) -> type[Plugin]:
    """Return the plug-in class; mypy passes its own version."""
    return VersionedObjects
