# SPDX-License-Identifier: Apache-2.0
"""Types that are lists of objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oslo_versionedobjects import base as ovo_base

from vobjects.base.objects import Object
from vobjects.codec import methods
from vobjects.versions import Version

# A default is for type checkers only, and until Python 3.13 in a package of
# its own only.
if TYPE_CHECKING:
    from typing_extensions import TypeVar

    Item = TypeVar('Item', bound=ovo_base.VersionedObject, default=Any)
else:
    from typing import TypeVar

    Item = TypeVar('Item')


class ObjectListBase(ovo_base.ObjectListBase[Item]):
    """Mix-in for a type that is a list; it comes before :class:`Object`.

    Its items follow the manifest like any objects inside. Without a manifest
    ``child_versions`` says theirs, gaps allowed; where that is empty too the
    conversion is refused, while oslo.versionedobjects labels them 1.0.
    """

    obj_make_compatible = Object.obj_make_compatible
    obj_what_changed = methods.list_what_changed

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
