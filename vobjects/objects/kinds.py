# SPDX-License-Identifier: Apache-2.0
"""Kinds of types: Request, Resource and ObjectListBase."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oslo_versionedobjects import base as ovo_base

from vobjects import exceptions
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


class Request(Object):
    """Arguments of a call to an engine."""

    # In an update, null clears a value, at any depth.
    REFUSE_LOSS = 'null'

    def get(self, field: str, default: Any = None) -> Any:
        """Return the value of a field, or ``default`` if it is not set.

        :raises vobjects.exceptions.NoSuchField: the type does not have this
            field
        """
        try:
            is_set = self.obj_attr_is_set(field)
        except AttributeError:
            raise exceptions.NoSuchField(
                self.obj_name(), field, self.fields
            ) from None
        return getattr(self, field) if is_set else default


class Resource(Object):
    """Data that is returned to a reader."""

    REFUSE_LOSS = False
    UNKNOWN_FIELDS = 'keep'

    def check_complete(self) -> None:
        """Check that every required field of a new resource is set.

        A resource that was read may lack fields that its reader's version
        could not hold; only reading sets the version of an instance.

        :raises vobjects.exceptions.FieldsMissing: names the unset fields
        """
        if 'VERSION' not in self.__dict__:
            super().check_complete()
        else:
            self._check_parts()


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
        parent: Any = super()
        return parent._obj_relationship_for(  # type: ignore[no-any-return]
            field, target_version
        )
