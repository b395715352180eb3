# SPDX-License-Identifier: Apache-2.0
"""What every versioned type of ours does."""

from __future__ import annotations

import bisect
import types
from collections.abc import Mapping
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    NoReturn,
    Self,
    SupportsIndex,
)

from vobjects import _threading  # isort: skip  # noqa: F401 - goes first
from oslo_versionedobjects import base as ovo_base
from oslo_versionedobjects import fields as ovo_fields

from vobjects import exceptions, history
from vobjects.base import children, showing, unknown
from vobjects.base.children import Manifest
from vobjects.base.reading import reader, upgraded
from vobjects.codec import down, hooks, methods
from vobjects.codec.compiled import compiled
from vobjects.versions import Version

AnyField = ovo_fields.Field[Any]


class Object(ovo_base.VersionedObject):
    """A versioned type; :mod:`vobjects.base` says what kinds there are."""

    #: API microversion -> object version, both ascending as numbers. Below
    #: the first key the type is at 1.0, unless that key maps to 1.0: then
    #: the type does not exist below it.
    VERSION_MAP: ClassVar[Mapping[str, str]] = {}

    #: Whether a downgrade that would lose what was said raises.
    REFUSE_LOSS: ClassVar[bool] = True

    #: What is done with a field that a primitive has and its version has
    #: not: it is refused, or kept aside in ``obj_unknown_fields``.
    UNKNOWN_FIELDS: ClassVar[unknown.Policy] = 'refuse'

    if TYPE_CHECKING:
        # Fields are properties that registration makes.
        def __getattr__(self, name: str) -> Any: ...

    _history: ClassVar[history.History]
    _removed: ClassVar[Mapping[str, AnyField]] = {}
    _microversions: ClassVar[tuple[Version, ...]] = ()
    _mapped: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def obj_name_of(cls, entity: Mapping[str, Any]) -> str | None:
        """Return the type name of a primitive; None: it is none."""
        name = entity.get(cls._obj_primitive_key('name'))
        return name if isinstance(name, str) else None

    # For people

    def as_dict(self) -> dict[str, Any]:
        """Return the fields that are set, as a dict that can be changed.

        Values are those of the attributes, so a time is a ``datetime``, and
        secrets are there. An object inside is a dict in its turn, also
        within a list or a dict; lists, dicts and sets are new ones. A list
        object has one field, ``objects``. Nothing is loaded.

        For JSON data at a version see :func:`vobjects.base.plain`.
        """
        return showing.as_dict(self)

    def __repr__(self) -> str:
        return showing.represent(self)

    @property
    def obj_unknown_fields(self) -> Mapping[str, Any]:
        """Fields that came in the primitive and that its version has not.

        They are JSON data, and the reader's to look at: they are neither
        sent on nor cloned.
        """
        aside: dict[str, Any] = self.__dict__.get(unknown.ATTRIBUTE, {})
        return types.MappingProxyType(aside)

    # Copies are made; what is unpickled could be anything.

    def __copy__(self) -> Self:
        made = self.__class__.__new__(self.__class__)
        made.__dict__.update(self.__dict__)
        return made

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise exceptions.NotPickled(self.obj_name())

    # What the type was, and what shows it

    @classmethod
    def fields_at(cls, object_version: str) -> dict[str, AnyField]:
        """Return name to field as the type was at an object version."""
        return cls._history.fields_at(Version.parse(object_version))

    @classmethod
    def introduced(cls) -> Version | None:
        """Return the microversion that brought the type; None: the first."""
        if cls._mapped and cls._mapped[0] == str(history.FIRST):
            return cls._microversions[0]
        return None

    @classmethod
    def version_at(cls, microversion: Version) -> str | None:
        """Return the object version shown at an API microversion.

        :returns: None where the type is not there yet
        """
        position = bisect.bisect_right(cls._microversions, microversion)
        if position:
            return cls._mapped[position - 1]
        return None if cls.introduced() else str(history.FIRST)

    @classmethod
    def first_microversion_of(cls, field: str) -> Version | None:
        """Return from which microversion on a field is there.

        :returns: None when it is there from the first microversion on
        :raises KeyError: when the newest version has no such field
        """
        since = cls._history.since(field)
        for microversion, mapped in zip(
            cls._microversions, cls._mapped, strict=True
        ):
            if Version.parse(mapped) >= since:
                return (
                    microversion
                    if since > history.FIRST
                    else (cls.introduced())
                )
        return cls.introduced()

    # Down

    def obj_to_primitive(
        self,
        target_version: str | None = None,
        version_manifest: Manifest | None = None,
    ) -> dict[str, Any]:
        """Return the primitive, at an older version if asked.

        :param target_version: of this object; None: its own, or the one that
            the manifest has for it
        :param version_manifest: type name -> version for the objects inside
        :raises vobjects.exceptions.LossyDowngrade: an older version could
            not hold a value (never for a Resource)
        :raises vobjects.exceptions.TypeNotSpoken: the manifest lacks a type
        """
        if target_version is None and version_manifest is not None:
            target_version = children.spoken(version_manifest, self.obj_name())
        outer = children.current.get()
        refuse = outer.refuse_loss if outer else self.REFUSE_LOSS
        made = down.convert(self, target_version, version_manifest, refuse)
        if made is not None:
            return made
        # o.vo takes an empty manifest for none; ours then means "no type".
        primitive = methods.obj_to_primitive(
            self, target_version, version_manifest
        )
        self._rename_changes(primitive)
        return primitive

    def _rename_changes(self, primitive: dict[str, Any]) -> None:
        """Report changed fields by the names the older version has."""
        version = primitive[self._obj_primitive_key('version')]
        if version == self.VERSION:
            return
        plan = self._plan_to(version)
        data = primitive[self._obj_primitive_key('data')]
        names = {carry.source: carry.target for carry in plan.carries}
        changed = [
            name
            for name in (names.get(n, n) for n in self.obj_what_changed())
            if name in data
        ]
        key = self._obj_primitive_key('changes')
        if changed:
            primitive[key] = changed
        else:
            primitive.pop(key, None)

    def obj_make_compatible_from_manifest(
        self,
        primitive: dict[str, Any],
        target_version: str,
        version_manifest: Manifest | None,
    ) -> None:
        """Downgrade ``primitive``'s data and every object inside it.

        The outermost object decides whether a loss is refused: a field that
        a reader cannot show matters as little deep inside an answer as it
        does on top.
        """
        outer = children.current.get()
        refuse = outer.refuse_loss if outer else self.REFUSE_LOSS
        token = children.current.set(
            children.Conversion(version_manifest, refuse)
        )
        try:
            self.obj_make_compatible(primitive, target_version)
        finally:
            children.current.reset(token)

    def obj_make_compatible(
        self, primitive: dict[str, Any], target_version: str
    ) -> None:
        """Derive the older form from the declarations.

        A class may override this to convert by hand; it then calls this
        first, with a primitive's data, as in oslo.versionedobjects.
        """
        conversion = children.current.get()
        if conversion is None or conversion.manifest is None:
            super().obj_make_compatible(primitive, target_version)
        else:
            for name, field in self.fields.items():
                if name in primitive and self.obj_attr_is_set(name):
                    children.convert(
                        field._type,
                        getattr(self, name),
                        primitive[name],
                        conversion.manifest,
                    )
        refuse = conversion.refuse_loss if conversion else self.REFUSE_LOSS
        self._plan_to(target_version).apply(primitive, refuse_loss=refuse)

    def _child_slowly(
        self,
        child: ovo_base.VersionedObject | None,
        manifest: Manifest,
        refuse_loss: bool,
    ) -> dict[str, Any] | None:
        """Return an object inside as primitive, by its class's own code."""
        if child is None:
            return None
        primitive = child.obj_to_primitive()
        token = children.current.set(
            children.Conversion(manifest, refuse_loss)
        )
        try:
            children.convert_one(child, primitive, manifest)
        finally:
            children.current.reset(token)
        return primitive

    @classmethod
    def _plan_to(cls, target_version: str) -> history.Plan:
        return cls._history.plan(
            cls._history.version, Version.parse(target_version)
        )

    # Up

    @classmethod
    def _obj_from_primitive(
        cls, context: Any, objver: str, primitive: dict[str, Any]
    ) -> Self:
        """Hydrate any version up to ours as an object of ours."""
        form = compiled(cls)
        if form.may_load() and form.may_make():
            read = form.readers.get(objver) or reader(form, objver)
            made: Self = read(context, primitive)
            return made
        return cls._read_slowly(context, objver, primitive)

    @classmethod
    def _read_slowly(
        cls, context: Any, objver: str, primitive: dict[str, Any]
    ) -> Self:
        data, changes, aside = upgraded(
            cls,
            down.upgrade_from(compiled(cls), objver),
            cls._obj_primitive_field(primitive, 'data'),
            cls._obj_primitive_field(primitive, 'changes', []),
        )
        made: Self = hooks.original('_obj_from_primitive')(
            cls,
            context,
            cls.VERSION,
            {
                cls._obj_primitive_key('data'): data,
                cls._obj_primitive_key('changes'): changes,
            },
        )
        if aside:
            made.__dict__[unknown.ATTRIBUTE] = aside
        return made


methods.READERS[hooks.function_of(Object, '_obj_from_primitive')] = reader
methods.install(Object)
for _name in hooks.CONVERSIONS:
    hooks.KNOWN[_name].add(hooks.function_of(Object, _name))
for _name in ('obj_to_primitive', '_obj_from_primitive'):
    hooks.KNOWN[_name].add(hooks.function_of(Object, _name))
