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

The manifest of a conversion travels in a context variable, not on the object:
one object may be converted by several threads for several peers at once.

What is said here in general is done by :mod:`vobjects.codec` with functions
made for each class and version, wherever a class changed nothing of it.
"""

from __future__ import annotations

import bisect
import contextvars
import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from vobjects import _threading  # isort: skip  # noqa: F401 - goes first
from oslo_versionedobjects import base as ovo_base
from oslo_versionedobjects import exception as ovo_exception
from oslo_versionedobjects import fields as ovo_fields

from vobjects import exceptions, history
from vobjects.codec import down, hooks, methods, properties
from vobjects.codec.compiled import Compiled, compiled
from vobjects.versions import NULL, Version

AnyField = ovo_fields.Field[Any]
Manifest = Mapping[str, str]


@dataclasses.dataclass(frozen=True, slots=True)
class _Conversion:
    """What every object below the root of one conversion has to know."""

    manifest: Manifest | None
    refuse_loss: bool


_conversion: contextvars.ContextVar[_Conversion | None] = (
    contextvars.ContextVar('vobjects_conversion', default=None)
)


class Object(ovo_base.VersionedObject):
    """A versioned type; see the module's docstring and DESIGN section 2."""

    #: API microversion -> object version, both ascending as numbers. Below
    #: the first key the type is at 1.0, unless that key maps to 1.0: then
    #: the type does not exist below it.
    VERSION_MAP: ClassVar[Mapping[str, str]] = {}

    #: Whether a downgrade that would lose what was said raises.
    REFUSE_LOSS: ClassVar[bool] = True

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
            target_version = _spoken(version_manifest, self.obj_name())
        outer = _conversion.get()
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
        outer = _conversion.get()
        refuse = outer.refuse_loss if outer else self.REFUSE_LOSS
        token = _conversion.set(_Conversion(version_manifest, refuse))
        try:
            self.obj_make_compatible(primitive, target_version)
        finally:
            _conversion.reset(token)

    def obj_make_compatible(
        self, primitive: dict[str, Any], target_version: str
    ) -> None:
        """Derive the older form from the declarations.

        A class may override this to convert by hand; it then calls this
        first, with a primitive's data, as in oslo.versionedobjects.
        """
        conversion = _conversion.get()
        if conversion is None or conversion.manifest is None:
            super().obj_make_compatible(primitive, target_version)
        else:
            for name, field in self.fields.items():
                if name in primitive and self.obj_attr_is_set(name):
                    _convert_children(
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
        token = _conversion.set(_Conversion(manifest, refuse_loss))
        try:
            _convert_child(child, primitive, manifest)
        finally:
            _conversion.reset(token)
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
            read = form.readers.get(objver) or _reader(form, objver)
            made: Self = read(context, primitive)
            return made
        return cls._read_slowly(context, objver, primitive)

    @classmethod
    def _read_slowly(
        cls, context: Any, objver: str, primitive: dict[str, Any]
    ) -> Self:
        upgrade = down.upgrade_from(compiled(cls), objver)
        data = cls._obj_primitive_field(primitive, 'data')
        changes = cls._obj_primitive_field(primitive, 'changes', [])
        if not upgrade.known.issuperset(data):
            cls._check_known(data, upgrade.source)
        if not upgrade.empty:
            data = dict(data)
            upgrade.plan.apply(data, refuse_loss=cls.REFUSE_LOSS)
            changes = [upgrade.names.get(name, name) for name in changes]
        made: Self = hooks.original('_obj_from_primitive')(
            cls,
            context,
            cls.VERSION,
            {
                cls._obj_primitive_key('data'): data,
                cls._obj_primitive_key('changes'): changes,
            },
        )
        return made

    @classmethod
    def _check_known(cls, data: Mapping[str, Any], source: Version) -> None:
        """Refuse fields that the stated version does not have.

        oslo.versionedobjects forgets them without notice; a reader may.
        """
        if not cls.REFUSE_LOSS:
            return
        known = cls._history.fields_at(source)
        for name in data:
            if name not in known:
                raise exceptions.UnknownField(cls.obj_name(), name, source)


def _reader(form: Compiled, version: str) -> methods.Reader:
    """Return ``_obj_from_primitive`` of a class for one version."""
    cls: Any = form.cls
    upgrade = down.upgrade_from(form, version)

    def check(data: dict[str, Any]) -> None:
        if not upgrade.known.issuperset(data):
            cls._check_known(data, upgrade.source)

    read = methods.reader(
        form,
        version,
        cls.VERSION,
        cls._read_slowly,
        check,
        complete=form.names <= upgrade.known,
    )
    if not upgrade.empty:
        read = _upgrading(form, upgrade, check)
    if len(form.readers) < down.MAX_VERSIONS:
        form.readers[version] = read
    return read


def _upgrading(
    form: Compiled,
    upgrade: down.Upgrade,
    check: Callable[[dict[str, Any]], None],
) -> methods.Reader:
    """Return what reads an older version, whose fields are not ours."""
    cls: Any = form.cls
    data_key, changes_key = form.data_key, form.changes_key

    def read(context: Any, primitive: dict[str, Any]) -> Any:
        data = dict(primitive[data_key])
        check(data)
        upgrade.plan.apply(data, refuse_loss=cls.REFUSE_LOSS)
        changes = [
            upgrade.names.get(name, name)
            for name in primitive.get(changes_key, ())
        ]
        return methods.hydrate(form, context, cls.VERSION, data, changes)

    return read


methods.READERS[hooks.function_of(Object, '_obj_from_primitive')] = _reader
methods.install(Object)
for _name in hooks.CONVERSIONS:
    hooks.KNOWN[_name].add(hooks.function_of(Object, _name))
for _name in ('obj_to_primitive', '_obj_from_primitive'):
    hooks.KNOWN[_name].add(hooks.function_of(Object, _name))


class ObjectListBase(ovo_base.ObjectListBase[Any]):
    """Mix-in for a type that is a list; it comes before :class:`Object`.

    Its items follow the manifest like any objects inside. Without a manifest
    ``child_versions`` says theirs, gaps allowed; where that is empty too the
    conversion is refused, while oslo.versionedobjects labels them 1.0.
    """

    obj_make_compatible = Object.obj_make_compatible

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


class Request(Object):
    """What is asked of an engine."""


class Resource(Object):
    """What is answered to a reader."""

    REFUSE_LOSS = False


ObjectType = TypeVar('ObjectType', bound=Object)


def register(cls: type[ObjectType]) -> type[ObjectType]:
    """Check a type's declarations, derive its history, make it known.

    :raises vobjects.exceptions.DeclarationError: naming type, field and fix
    """
    name = cls.obj_name()
    version = _parse(name, 'VERSION', cls.VERSION)
    declared = _declared(cls)
    timeline = history.History(name, version, declared)
    cls._history = timeline
    cls._removed = {
        key: field
        for key, field in declared.items()
        if (changes := history.changes_of(field))
        and changes[-1].kind == 'removed'
    }
    cls.fields = {
        key: field
        for key, field in declared.items()
        if key not in cls._removed
    }
    _check_optional(cls, declared)
    _read_version_map(cls, version)
    ovo_base.VersionedObjectRegistry.register(cls)
    properties.install(cls)
    return cls


def registered(name: str) -> type[Object]:
    """Return the newest registered class of a type name.

    :raises oslo_versionedobjects.exception.UnsupportedObjectError: if none
    """
    classes = ovo_base.VersionedObjectRegistry.obj_classes()
    if name not in classes:
        raise ovo_exception.UnsupportedObjectError(objtype=name)
    found = classes[name][0]
    if not issubclass(found, Object):
        raise ovo_exception.UnsupportedObjectError(objtype=name)
    return found


def registered_types() -> Iterator[type[Object]]:
    """Yield the newest class of every registered type, by name."""
    classes = ovo_base.VersionedObjectRegistry.obj_classes()
    for name in sorted(classes):
        found = classes[name][0]
        if issubclass(found, Object):
            yield found


def plain(obj: Object, manifest: Manifest) -> dict[str, Any]:
    """Return an object as a reader of that manifest sees it, as JSON data.

    :param manifest: type name -> version, with every type inside ``obj``
    :returns: field name to JSON value; envelopes are stripped, also inside
    :raises vobjects.exceptions.TypeNotSpoken: the manifest lacks a type
    """
    return _strip(obj.obj_to_primitive(version_manifest=manifest))


def versions_in(primitive: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (type name, version) of a primitive and of each inside it.

    The walk follows field types, so that a caller's own JSON which happens
    to look like an object is not taken for one.

    :raises oslo_versionedobjects.exception.UnsupportedObjectError: a type
        nobody registered
    :raises oslo_versionedobjects.exception.IncompatibleObjectVersion: a
        version newer than the registered one
    """
    name, version, data = _envelope(primitive)
    yield name, version
    cls = registered(name)
    if Version.parse(version) > cls._history.version:
        raise ovo_exception.IncompatibleObjectVersion(
            objname=name, objver=version, supported=cls.VERSION
        )
    for key, field in cls.fields_at(version).items():
        for child in _primitives_inside(field._type, data.get(key)):
            yield from versions_in(child)


def _envelope(primitive: Mapping[str, Any]) -> tuple[str, str, dict[str, Any]]:
    space = Object.OBJ_SERIAL_NAMESPACE
    try:
        return (
            primitive[f'{space}.name'],
            primitive[f'{space}.version'],
            primitive[f'{space}.data'],
        )
    except (KeyError, TypeError) as error:
        raise exceptions.ConversionError(
            f'{exceptions.cut(primitive)} is not the primitive of an object'
        ) from error


def _strip(primitive: Mapping[str, Any]) -> dict[str, Any]:
    name, version, data = _envelope(primitive)
    shape = registered(name).fields_at(version)
    return {
        key: _strip_value(shape[key]._type, value) if key in shape else value
        for key, value in data.items()
    }


def _strip_value(kind: Any, value: Any) -> Any:
    if value is None:
        return None
    if isinstance(kind, ovo_fields.Object):
        return _strip(value)
    if isinstance(kind, ovo_fields.Dict):
        inner = kind._element_type._type
        return {key: _strip_value(inner, item) for key, item in value.items()}
    if isinstance(kind, (ovo_fields.List, ovo_fields.Set)):
        inner = kind._element_type._type
        return [_strip_value(inner, item) for item in value]
    return value


def _primitives_inside(kind: Any, value: Any) -> Iterator[Mapping[str, Any]]:
    if value is None:
        return
    if isinstance(kind, ovo_fields.Object):
        yield value
    elif isinstance(kind, ovo_fields.Dict):
        for item in value.values():
            yield from _primitives_inside(kind._element_type._type, item)
    elif isinstance(kind, (ovo_fields.List, ovo_fields.Set)):
        for item in value:
            yield from _primitives_inside(kind._element_type._type, item)


def _convert_children(
    kind: Any, value: Any, primitive: Any, manifest: Manifest
) -> None:
    """Downgrade the objects inside a field, whatever contains them."""
    if value is None or primitive is None:
        return
    if isinstance(kind, ovo_fields.Object):
        _convert_child(value, primitive, manifest)
    elif isinstance(kind, ovo_fields.Dict):
        for key, item in value.items():
            _convert_children(
                kind._element_type._type, item, primitive[key], manifest
            )
    elif isinstance(kind, (ovo_fields.List, ovo_fields.Set)):
        for item, inner in zip(value, primitive, strict=True):
            _convert_children(kind._element_type._type, item, inner, manifest)


def _convert_child(
    child: ovo_base.VersionedObject,
    primitive: dict[str, Any],
    manifest: Manifest,
) -> None:
    # By the child's own name: a subclass of the declared type has versions
    # of its own, which the declared type's version says nothing about.
    version = _spoken(manifest, child.obj_name())
    key = child._obj_primitive_key
    data = primitive[key('data')]
    child.obj_make_compatible_from_manifest(
        data,
        version,
        manifest,  # type: ignore[arg-type]
    )
    primitive[key('version')] = version
    if isinstance(child, Object):
        child._rename_changes(primitive)
        return
    changes = [n for n in primitive.get(key('changes'), ()) if n in data]
    if changes:
        primitive[key('changes')] = changes
    else:
        primitive.pop(key('changes'), None)


def _spoken(manifest: Manifest, name: str) -> str:
    try:
        return manifest[name]
    except KeyError:
        raise exceptions.TypeNotSpoken(name) from None


def _declared(cls: type[Object]) -> dict[str, AnyField]:
    """Collect own, inherited and removed fields with their histories."""
    declared = dict(cls.fields)
    for parent in cls.__mro__[1:]:
        for source in ('fields', '_removed'):
            for key, field in getattr(parent, source, {}).items():
                declared.setdefault(key, field)
    for key, field in declared.items():
        if not isinstance(field, ovo_fields.Field):
            raise exceptions.DeclarationError(
                f'{cls.obj_name()}.{key}: {exceptions.cut(field)} is no field'
            )
    return declared


def _check_optional(
    cls: type[Object], declared: Mapping[str, AnyField]
) -> None:
    """A field that one side lacks must have something to be there."""
    for key, field in declared.items():
        for change in history.changes_of(field):
            if change.kind not in ('added', 'removed'):
                continue
            has_default = field.default is not ovo_fields.UnspecifiedDefault
            if not (field.nullable or has_default):
                raise exceptions.DeclarationError(
                    f'{cls.obj_name()}.{key}: a field'
                    f' {change.kind} at {change.version} needs nullable=True'
                    ' or a default, for peers that never heard of it'
                )


def _read_version_map(cls: type[Object], version: Version) -> None:
    name = cls.obj_name()
    before: tuple[Version, Version] = (NULL, NULL)
    pairs: list[tuple[Version, Version]] = []
    for microversion, mapped in cls.VERSION_MAP.items():
        pair = (
            _parse(name, 'VERSION_MAP', microversion),
            _parse(name, 'VERSION_MAP', mapped),
        )
        if not (before[0] < pair[0] and before[1] < pair[1]):
            raise exceptions.DeclarationError(
                f'{name}.VERSION_MAP: {microversion!r}: {mapped!r} must be'
                ' after the entry before it in both columns, as numbers'
                " ('1.10' is after '1.9')"
            )
        pairs.append(pair)
        before = pair
    mapped_to = pairs[-1][1] if pairs else history.FIRST
    shown = bool(pairs) or issubclass(cls, (Request, Resource))
    if shown and mapped_to != version:
        raise exceptions.DeclarationError(
            f"{name}.VERSION_MAP ends at '{mapped_to}' but VERSION is"
            f" '{version}'; add the microversion that shows '{version}'"
        )
    cls._microversions = tuple(pair[0] for pair in pairs)
    cls._mapped = tuple(str(pair[1]) for pair in pairs)


def _parse(type_name: str, where: str, text: str) -> Version:
    try:
        return Version.parse(text)
    except exceptions.InvalidVersion as error:
        raise exceptions.DeclarationError(
            f'{type_name}.{where}: {error}'
        ) from None
