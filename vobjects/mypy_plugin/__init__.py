# SPDX-License-Identifier: Apache-2.0
"""A plug-in for mypy: the attributes of versioned objects have types.

::

    [tool.mypy]
    plugins = ["vobjects.mypy_plugin"]

It reads ``fields = {...}`` in the body of every class below
``oslo_versionedobjects.base.VersionedObject``, of ours and of others:

* each field is an attribute, of the type that the field coerces to, with
  ``None`` where it is nullable, also below ``added`` and its like;
* objects inside have the type of their class, by its name where that is
  visible: in the module, or in a module that this one imports;
* the constructor takes the fields, and only them, as keywords;
* items of a list object have the type of its ``objects``.

What cannot be read (a key or a part of the mapping that is computed) makes
every attribute of that class ``Any``; for our own types it is also reported.

This takes the place of ``oslo_versionedobjects.mypy``, which reads neither
nested fields, enumerations, lists, constructors nor, of course, histories.
"""

from __future__ import annotations

import hashlib
import pathlib
from collections.abc import Callable

from mypy.nodes import TypeInfo
from mypy.plugin import ClassDefContext, Plugin

from vobjects.mypy_plugin import members

#: mypy forgets what it kept when this changes; of the code it looks at this
#: file alone.
__version__ = hashlib.sha256(
    b''.join(
        path.read_bytes()
        for path in sorted(pathlib.Path(__file__).parent.glob('*.py'))
    )
).hexdigest()


class VersionedObjects(Plugin):
    """Types for versioned objects; see the module's docstring."""

    def get_base_class_hook(
        self, fullname: str
    ) -> Callable[[ClassDefContext], None] | None:
        """Return what looks at each class that has fields."""
        found = self.lookup_fully_qualified(fullname)
        if (
            found is not None
            and isinstance(found.node, TypeInfo)
            and members.may_have_fields(found.node)
        ):
            return members.declare
        return None


def plugin(version: str) -> type[Plugin]:
    """Return the plug-in; mypy calls this with its own version."""
    return VersionedObjects
