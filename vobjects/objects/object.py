# SPDX-License-Identifier: Apache-2.0
"""The base class of types: Object."""

from __future__ import annotations

import bisect
import types
from collections.abc import Collection, Mapping
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Literal,
    NoReturn,
    Self,
    SupportsIndex,
    dataclass_transform,
)

from oslo_versionedobjects import base as ovo_base
from oslo_versionedobjects import exception as ovo_exception
from oslo_versionedobjects import fields as ovo_fields

from vobjects import exceptions, field_values, unregistered
from vobjects.objects import (
    annotated_fields,
    field_changes,
    history,
    nested_downgrade,
    representation,
    unknown_fields,
)
from vobjects.objects.codec import (
    lazy_list,
    override_detection,
    ovo_methods,
)
from vobjects.objects.codec.class_codec import class_codec
from vobjects.objects.codec.override_detection import (
    get_function,
    is_convertible,
    version_tuple,
)
from vobjects.objects.conversion_plan import ConversionPlan, RefuseLoss
from vobjects.objects.nested_downgrade import Manifest
from vobjects.versions import Version

AnyField = ovo_fields.Field[Any]

#: See :attr:`Object.ROUTE`.
Route = Literal['any', 'capable', 'capable-wait']

_set = object.__setattr__

#: The fields that oslo.versionedobjects converts by ``obj_relationships``.
_RELATED_FIELDS = (ovo_fields.ObjectField, ovo_fields.ListOfObjectsField)


# In type checkers, `added` is no specifier, so that an added field may be left
# out: it always has a default or can be unset.
@dataclass_transform(
    eq_default=False,
    kw_only_default=True,
    field_specifiers=(
        field_changes.changed,
        field_changes.removed,
        field_changes.renamed,
        field_changes.words,
    ),
)
class Object(ovo_base.VersionedObject):
    """A versioned type; see :mod:`vobjects.objects` for the subclasses."""

    #: API microversion -> object version, both ascending as numbers. If the
    #: first key maps to 1.0, the type does not exist below that key;
    #: otherwise it has version 1.0 there.
    VERSION_MAP: ClassVar[Mapping[str, str]] = {}

    #: As VERSION_MAP, for services that accept fields and types before the
    #: microversion that documents them (``VersionPolicy.accepts_early``). For
    #: such services, the newer object version of both maps applies.
    EARLY_VERSION_MAP: ClassVar[Mapping[str, str]] = {}

    #: Fields that such services accept early without effect: they validate and
    #: then ignore the value, until the microversion that documents the field.
    EARLY_IGNORED: ClassVar[Collection[str]] = ()

    #: Object version that changes no field -> the reason why it exists, such
    #: as a new meaning of a value, which needs engines of that version.
    #: Registration refuses other versions without a change.
    NO_FIELD_CHANGES: ClassVar[Mapping[str, str]] = {}

    #: The oldest version that the type still has, see ``vobjects lock drop``.
    OLDEST_VERSION: ClassVar[str] = '1.0'

    #: Which servers handle a call that needs a version of this type: 'any',
    #: once all servers support it; 'capable', those that support it, or none
    #: with an error; 'capable-wait', the same, but a call waits for such a
    #: server until its timeout. See ``vobjects.rpc.routing``.
    ROUTE: ClassVar[Route] = 'any'

    #: Whether a downgrade that would lose a value raises an error; the
    #: outermost object decides. 'null': also if the value is null.
    REFUSE_LOSS: ClassVar[RefuseLoss] = True

    #: How to handle a field in a primitive that the stated version lacks:
    #: 'refuse' it, or 'keep' it in ``obj_unknown_fields``.
    UNKNOWN_FIELDS: ClassVar[unknown_fields.UnknownFieldPolicy] = 'refuse'

    #: Keyword of JSON Schema -> default bound of the texts, lists or objects
    #: in a request, in place of ``vobjects.microversions.schema_bounds``.
    #: Neither the fingerprint nor the lock has them.
    BOUNDS: ClassVar[Mapping[str, int]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        annotated_fields.declare(cls)

    if not TYPE_CHECKING:
        # Hidden from mypy, which would otherwise allow every attribute.
        def __setattr__(self, name: str, value: Any) -> None:
            """Set a field, or another attribute that the class has.

            :raises vobjects.exceptions.NoSuchField: the class lacks this
                public name; oslo.versionedobjects would never send its value
            """
            if name[:1] != '_' and not hasattr(self.__class__, name):
                raise exceptions.NoSuchField(
                    self.obj_name(), name, self.fields
                )
            _set(self, name, value)

    #: The required fields: neither nullable nor with a default. The second has
    #: the names of the instance attributes that hold the values.
    _required: ClassVar[tuple[str, ...]] = ()
    _required_attributes: ClassVar[frozenset[str]] = frozenset()

    _history: ClassVar[history.History]
    _removed: ClassVar[Mapping[str, AnyField]] = {}
    _microversions: ClassVar[tuple[Version, ...]] = ()
    _mapped_versions: ClassVar[tuple[str, ...]] = ()
    _early_versions: ClassVar[tuple[tuple[Version, str], ...]] = ()

    @classmethod
    def obj_name_of(cls, entity: Mapping[str, Any]) -> str | None:
        """Return the type name of a primitive; None: it is not one."""
        name = entity.get(cls._obj_primitive_key('name'))
        return name if isinstance(name, str) else None

    # Inspection

    def obj_load_attr(self, attrname: str) -> None:
        """Handle reading a field that is not set; a class may load it.

        A nullable field that stays unset is read as null.

        :raises NotImplementedError: the field is not nullable
        """
        if not self.fields[attrname].nullable:
            raise NotImplementedError(
                f'{self.obj_name()}.{attrname} is not set: set it first, or'
                f' test obj_attr_is_set({attrname!r}). Only a field with'
                ' nullable=True is read as null while it is not set.'
            )

    def check_complete(self) -> None:
        """Check that every required field is set, also of objects inside.

        The library checks requests and resources that it sends. Objects inside
        that were read, and those that load their fields, may lack some.

        :raises vobjects.exceptions.FieldsMissing: names the unset fields
        """
        # The serializer checks every request; this test is usually enough.
        if not self._required_attributes <= self.__dict__.keys():
            missing = [
                name
                for name in self._required
                if not self.obj_attr_is_set(name)
            ]
            if missing:
                raise exceptions.FieldsMissing(self.obj_name(), missing)
        self._check_parts()

    def _check_parts(self) -> None:
        """Check the objects inside as :meth:`check_complete` does."""
        for attribute, field_type in class_codec(type(self)).nested.items():
            value = self.__dict__.get(attribute)
            if value is None or value.__class__ is lazy_list.LazyObjectList:
                continue
            for part in field_values.objects_in(field_type, value):
                if (
                    isinstance(part, Object)
                    and part.REFUSE_LOSS
                    and 'VERSION' not in part.__dict__
                    and get_function(type(part), 'obj_load_attr') is _load
                ):
                    part.check_complete()

    def as_dict(self) -> dict[str, Any]:
        """Return the fields that are set, as a dict that you may change.

        Values are those of the attributes, so a time is a ``datetime``, and
        secrets are included. Nested objects become dicts, also inside lists
        and dicts; lists, dicts and sets are copied. A list object has one
        field, ``objects``. Lazy-loaded fields are not loaded.

        For JSON data at a given version, use
        :func:`vobjects.objects.primitives.to_json`.
        """
        return representation.as_dict(self)

    def __repr__(self) -> str:
        return representation.object_repr(self)

    @property
    def obj_unknown_fields(self) -> Mapping[str, Any]:
        """Fields of the primitive that its stated version does not have.

        They are JSON data for inspection; they are neither sent nor cloned.
        """
        unknown: dict[str, Any] = self.__dict__.get(
            unknown_fields.ATTRIBUTE, {}
        )
        return types.MappingProxyType(unknown)

    # Objects can be copied, but not pickled: unpickling may run any code.

    def __copy__(self) -> Self:
        copied = self.__class__.__new__(self.__class__)
        copied.__dict__.update(self.__dict__)
        return copied

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise exceptions.NotPickled(self.obj_name())

    # Versions and microversions

    @classmethod
    def fields_at(cls, object_version: str) -> dict[str, AnyField]:
        """Return the fields that the API has at an object version, by name.

        Primitives may have more: a type keeps the fields that it only removes
        from the API.
        """
        return cls._history.fields_at(Version.parse(object_version))

    @classmethod
    def introduced(cls) -> Version | None:
        """Return the microversion that added the type; None: the first."""
        if cls._mapped_versions and cls._mapped_versions[0] == str(
            history.FIRST
        ):
            return cls._microversions[0]
        return None

    @classmethod
    def version_at(
        cls, microversion: Version, *, early: bool = False
    ) -> str | None:
        """Return the object version shown at an API microversion.

        :param early: use EARLY_VERSION_MAP, too
        :returns: None if the type does not exist at that microversion
        """
        if early:
            for since, mapped in reversed(cls._early_versions):
                if since <= microversion:
                    return mapped
        position = bisect.bisect_right(cls._microversions, microversion)
        if position:
            return cls._mapped_versions[position - 1]
        return None if cls.introduced() else cls.OLDEST_VERSION

    @classmethod
    def ignored_at(cls, microversion: Version) -> frozenset[str]:
        """Return the fields of EARLY_IGNORED that a microversion lacks."""
        version = cls.version_at(microversion)
        known = cls.fields_at(version) if version else {}
        return frozenset(cls.EARLY_IGNORED) - known.keys()

    @classmethod
    def names_of(cls, field: str) -> frozenset[str]:
        """Return all names that a field has had, with the newest.

        :raises KeyError: the type has no such field
        """
        changes = field_changes.changes_of(cls.fields[field])
        old_names = (change.old_name for change in changes)
        return frozenset({field, *filter(None, old_names)})

    @classmethod
    def first_microversion_of(cls, field: str) -> Version | None:
        """Return the microversion that added a field.

        :returns: None if the field exists since the first microversion
        :raises KeyError: the newest version has no such field
        """
        since = cls._history.since(field)
        for microversion, mapped in zip(
            cls._microversions, cls._mapped_versions, strict=True
        ):
            if Version.parse(mapped) >= since:
                return (
                    microversion
                    if since > cls._history.oldest
                    else cls.introduced()
                )
        return cls.introduced()

    # Downgrade

    def obj_to_primitive(
        self,
        target_version: str | None = None,
        version_manifest: Manifest | None = None,
    ) -> dict[str, Any]:
        """Return the primitive, optionally at an older version.

        :param target_version: version of this object; None: its own version,
            or the one in the manifest
        :param version_manifest: type name -> version, for nested objects
        :raises vobjects.exceptions.LossyDowngrade: the older version cannot
            hold a value (not for a Resource, except where a conversion
            function rejects the value)
        :raises vobjects.exceptions.UnsupportedType: the manifest lacks a type
        """
        manifest = version_manifest
        if target_version is None and manifest is not None:
            target_version = nested_downgrade.version_in(
                manifest, self.obj_name()
            )
        outer = nested_downgrade.current_downgrade.get()
        refuse_loss = outer.refuse_loss if outer else self.REFUSE_LOSS
        codec = class_codec(self.__class__)
        is_compiled = codec.may_convert() and is_convertible(self)
        version = self.VERSION
        if target_version is None:
            target_version = version
        elif version_tuple(target_version) > version_tuple(version):
            raise ovo_exception.InvalidTargetVersion(version=target_version)
        # oslo.versionedobjects ignores an empty manifest, unless the version
        # differs.
        keeps_version = target_version == version and not manifest
        if is_compiled and keeps_version:
            return codec.primitive(self)
        # Without a manifest, obj_relationships has the nested versions, if
        # anything has.
        if is_compiled and (manifest is not None or not codec.nested):
            write = codec.writer_at(target_version)
            return write(self, manifest, refuse_loss)  # type: ignore[no-any-return]
        if not self.REFUSE_LOSS:
            self.check_complete()
        primitive = ovo_methods.obj_to_primitive(self)
        if not keeps_version:
            nested_downgrade.downgrade(
                self, primitive, target_version, manifest, refuse_loss
            )
        return primitive

    def obj_make_compatible_from_manifest(
        self,
        primitive: dict[str, Any],
        target_version: str,
        version_manifest: Manifest | None,
    ) -> None:
        """Downgrade the data of a primitive and all nested objects.

        The outermost object decides whether to reject a loss: in a response,
        a field that the reader does not know is dropped at any depth.
        """
        outer = nested_downgrade.current_downgrade.get()
        refuse_loss = outer.refuse_loss if outer else self.REFUSE_LOSS
        token = nested_downgrade.current_downgrade.set(
            nested_downgrade.DowngradeSettings(version_manifest, refuse_loss)
        )
        try:
            self.obj_make_compatible(primitive, target_version)
            nested_downgrade.rename_nested_changes(
                self, self._plan_to(target_version), primitive
            )
        finally:
            nested_downgrade.current_downgrade.reset(token)

    def obj_make_compatible(
        self, primitive: dict[str, Any], target_version: str
    ) -> None:
        """Convert data to an older version, by the declarations.

        A class may override this method to convert by hand. It must call this
        one first, with a primitive's data, as in oslo.versionedobjects.
        """
        conversion = nested_downgrade.current_downgrade.get()
        manifest = conversion.manifest if conversion else None
        refuse_loss = (
            conversion.refuse_loss if conversion else self.REFUSE_LOSS
        )
        plan = self._plan_to(target_version)
        converted = plan.converted
        for name, field in class_codec(type(self)).fields.items():
            if (
                not field.holds_objects
                or name in converted
                or primitive.get(name) is None
                or not self.obj_attr_is_set(name)
            ):
                continue
            if manifest is None:
                if isinstance(field.field, _RELATED_FIELDS):
                    self._obj_make_obj_compatible(
                        primitive, target_version, name
                    )
            elif field.encode is None:
                nested_downgrade.downgrade_written(
                    self,
                    {name: field.field._type},
                    primitive,
                    manifest,
                    refuse_loss,
                )
            else:
                primitive[name] = field.encode(
                    getattr(self, name), manifest, refuse_loss
                )
        plan.apply(primitive, refuse_loss=refuse_loss)
        if manifest is not None:
            nested_downgrade.downgrade_written(
                self, plan.new_objects, primitive, manifest, refuse_loss
            )

    @classmethod
    def _plan_to(cls, target_version: str) -> ConversionPlan:
        return cls._history.plan(
            cls._history.version, Version.parse(target_version)
        )

    # Upgrade

    @classmethod
    def _obj_from_primitive(
        cls, context: Any, objver: str, primitive: dict[str, Any]
    ) -> Self:
        """Return an object of this class from a primitive of any version.

        :raises oslo_versionedobjects.exception.UnsupportedObjectError: the
            type of an object inside is not registered; the error names the
            field
        """
        codec = class_codec(cls)
        try:
            if codec.may_decode():
                return codec.decode(context, objver, primitive)  # type: ignore[no-any-return]
            data, changes, unknown = codec.upgrade_from(objver).apply(
                cls._obj_primitive_field(primitive, 'data'),
                cls._obj_primitive_field(primitive, 'changes', ()),
            )
            obj: Self = override_detection.ORIGINALS['_obj_from_primitive'](
                cls,
                context,
                cls.VERSION,
                {codec.data_key: data, codec.changes_key: changes},
            )
        except ovo_exception.UnsupportedObjectError as error:
            raise unregistered.located(error, primitive) from error
        if unknown:
            obj.__dict__[unknown_fields.ATTRIBUTE] = unknown
        return obj


_load = get_function(Object, 'obj_load_attr')

override_detection.REPLACEABLE_SETATTR.add(Object.__setattr__)
ovo_methods.install(Object)
for _name in (
    *override_detection.CONVERSIONS,
    'obj_to_primitive',
    '_obj_from_primitive',
):
    override_detection.REPLACEABLE[_name].add(get_function(Object, _name))
