# SPDX-License-Identifier: Apache-2.0
"""Base class of types that are lists of objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oslo_versionedobjects import base as ovo_base

from vobjects.objects.codec import lazy_list
from vobjects.objects.object import Object
from vobjects.versions import Version

# Only type checkers need the default of a TypeVar; before Python 3.13 it
# requires typing_extensions.
if TYPE_CHECKING:
    from typing_extensions import TypeVar

    Item = TypeVar('Item', bound=ovo_base.VersionedObject, default=Any)
else:
    from typing import TypeVar

    Item = TypeVar('Item')


class ObjectListBase(ovo_base.ObjectListBase[Item]):
    """Mix-in for a type that is a list; put it before :class:`Object`.

    The manifest determines the versions of the items, as for any nested
    objects. Without a manifest, ``child_versions`` does; it may have gaps. If
    that is empty, too, the conversion is refused, whereas
    oslo.versionedobjects labels the items 1.0.
    """

    obj_make_compatible = Object.obj_make_compatible
    obj_what_changed = lazy_list.list_what_changed

    def _obj_relationship_for(
        self, field: str, target_version: str
    ) -> list[tuple[str, str]] | None:
        if field == 'objects' and self.child_versions:
            return sorted(
                self.child_versions.items(),
                key=lambda pair: Version.parse(pair[0]),
            )
        followed: Any = super()
        found: list[tuple[str, str]] | None = followed._obj_relationship_for(
            field, target_version
        )
        return found
