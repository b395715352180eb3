# SPDX-License-Identifier: Apache-2.0
"""Read ``fields = {...}`` of a class and return mypy types."""

from __future__ import annotations

from collections.abc import Iterator

from mypy.errorcodes import ErrorCode
from mypy.maptype import map_instance_to_supertype
from mypy.nodes import (
    AssignmentStmt,
    CallExpr,
    Decorator,
    DictExpr,
    Expression,
    FuncDef,
    IndexExpr,
    MemberExpr,
    MypyFile,
    NameExpr,
    PlaceholderNode,
    RefExpr,
    StrExpr,
    SymbolTableNode,
    TypeInfo,
    Var,
)
from mypy.plugin import ClassDefContext
from mypy.types import (
    AnyType,
    CallableType,
    Instance,
    NoneType,
    Type,
    TypeOfAny,
    UnionType,
    get_proper_type,
)

CODE = ErrorCode(
    'vobjects-fields',
    'Fields of a versioned object that cannot be read',
    'vobjects',
)

OVO = 'oslo_versionedobjects'
FIELD = f'{OVO}.fields.Field'
FIELD_TYPE = f'{OVO}.fields.AbstractFieldType'
ENUM = f'{OVO}.fields.BaseEnumField'
OBJECT_FIELDS = {
    f'{OVO}.fields.ObjectField': None,
    f'{OVO}.fields.ListOfObjectsField': 'builtins.list',
    f'{OVO}.fields.Object': None,
}
CONTAINERS = {
    f'{OVO}.fields.List': 'builtins.list',
    f'{OVO}.fields.Set': 'builtins.set',
    f'{OVO}.fields.Dict': 'builtins.dict',
}

#: Function that wraps a field -> name and position of the field's argument.
WRAPPERS = {
    'vobjects.sensitive.sensitive': ('field', 0),
    'vobjects.objects.field_changes.added': ('field', 1),
    'vobjects.objects.field_changes.renamed': ('field', 2),
    'vobjects.objects.field_changes.changed': ('new_field', 2),
    'vobjects.objects.field_changes.removed': ('field', 1),
}
REMOVED = 'vobjects.objects.field_changes.removed'

#: Types that are part of an API, which keep the fields that it removed.
API_TYPES = (
    'vobjects.objects.kinds.Request',
    'vobjects.objects.kinds.Resource',
)

#: Key of the plug-in's data in ``TypeInfo.metadata``, which mypy caches.
KEY = 'vobjects'


class NotReady(Exception):
    """A name is not analyzed yet; mypy must process the class again."""


class FieldReader:
    """Reads the fields of one class, as far as it can.

    :ivar attributes: name -> type
    :ivar removed: names of fields that the newest version lacks
    :ivar unreadable: expressions that the plug-in cannot read
    """

    def __init__(self, ctx: ClassDefContext) -> None:
        self._ctx = ctx
        self.attributes: dict[str, Type] = {}
        self.removed: set[str] = set()
        self.unreadable: list[Expression] = []

    def read(self, mapping: Expression) -> None:
        """Read a mapping of names to fields.

        :raises Unready: mypy must process the class again
        """
        if not isinstance(mapping, DictExpr):
            self._read_part(mapping)
            return
        for key, value in mapping.items:
            if key is None:
                self._read_part(value)
            elif isinstance(key, StrExpr):
                self._read_field(key.value, value)
            else:
                self.unreadable.append(key)

    def _read_part(self, value: Expression) -> None:
        """Read a mapping that is defined elsewhere or included with ``**``."""
        if isinstance(value, CallExpr) and _callee(value) == 'builtins.dict':
            for name, part in zip(value.arg_names, value.args, strict=True):
                if name is None:
                    self._read_part(part)
                else:
                    self._read_field(name, part)
            return
        if isinstance(value, MemberExpr) and value.name == 'fields':
            owner = self._node(value.expr)
            if isinstance(owner, TypeInfo) and KEY in owner.metadata:
                self.attributes.update(fields_of(owner))
                return
        literal = self._constant(value)
        if isinstance(literal, DictExpr):
            self.read(literal)
        else:
            self.unreadable.append(value)

    def _read_field(self, name: str, value: Expression) -> None:
        if (
            isinstance(value, CallExpr)
            and _callee(value) == REMOVED
            and not self._is_kept(value)
        ):
            self.removed.add(name)
            self.attributes.pop(name, None)
        else:
            self.removed.discard(name)
            self.attributes[name] = self._field(value)

    def _is_kept(self, removal: CallExpr) -> bool:
        """Tell whether the type keeps a field that the API removed."""
        info = self._ctx.cls.info
        return 'dropped' not in removal.arg_names and (
            any(info.has_base(base) for base in API_TYPES)
            or 'VERSION_MAP' in info.names
        )

    # Types of fields

    def _field(self, value: Expression) -> Type:
        """Return the type of a field's values."""
        if isinstance(value, RefExpr):
            constant = self._constant(value)
            if constant is not None:
                return self._field(constant)
            node = self._node(value)
            declared = node.type if isinstance(node, Var) else None
            return self._argument_of(declared, FIELD)
        if not isinstance(value, CallExpr):
            return _unknown()
        wrapper = _callee(value)
        if wrapper in WRAPPERS:
            inner = _argument(value, *WRAPPERS[wrapper])
            return _unknown() if inner is None else self._field(inner)
        node = self._node(value.callee)
        if isinstance(node, TypeInfo):
            value_type = self._value_type(node, value)
        else:
            value_type = self._return_type_argument(node, FIELD)
        if self._is_nullable(value, node):
            return _optional(value_type)
        return value_type

    def _value_type(self, info: TypeInfo, call: CallExpr) -> Type:
        """Return the type of the values of a field class."""
        for parent in info.mro:
            if parent.fullname in OBJECT_FIELDS:
                nested = self._object(call)
                container = OBJECT_FIELDS[parent.fullname]
                return (
                    self._container(container, nested) if container else nested
                )
        if any(parent.fullname == ENUM for parent in info.mro):
            return self._ctx.api.named_type('builtins.str')
        if info.fullname == FIELD:
            field_type = _argument(call, 'field_type', 0)
            if field_type is None:
                return _unknown()
            return self._coerced_type(field_type)
        return self._argument_of(Instance(info, []), FIELD)

    def _coerced_type(self, value: Expression) -> Type:
        """Return the type that a field type (not a field) coerces to."""
        if not isinstance(value, CallExpr):
            return _unknown()
        info = self._node(value.callee)
        if not isinstance(info, TypeInfo):
            return self._return_type_argument(info, FIELD_TYPE)
        if info.fullname in OBJECT_FIELDS:
            return self._object(value)
        containers = [
            CONTAINERS[parent.fullname]
            for parent in info.mro
            if parent.fullname in CONTAINERS
        ]
        if not containers:
            return self._argument_of(Instance(info, []), FIELD_TYPE)
        element = _argument(value, 'element_type', 0)
        item_type = (
            _unknown() if element is None else self._coerced_type(element)
        )
        if _is_true(_argument(value, 'nullable', None)):
            item_type = _optional(item_type)
        return self._container(containers[0], item_type)

    def _container(self, name: str, item_type: Type) -> Type:
        named_type = self._ctx.api.named_type
        if name == 'builtins.dict':
            return named_type(name, [named_type('builtins.str'), item_type])
        return named_type(name, [item_type])

    def _argument_of(self, typ: Type | None, owner: str) -> Type:
        """Return ``X`` for a type that is an ``owner[X]``."""
        proper = get_proper_type(typ)
        if isinstance(proper, Instance):
            for parent in proper.type.mro:
                if parent.fullname == owner:
                    if not proper.args and proper.type.type_vars:
                        return _unknown()
                    return map_instance_to_supertype(proper, parent).args[0]
        return _unknown()

    def _return_type_argument(self, node: object, owner: str) -> Type:
        function = node.func if isinstance(node, Decorator) else node
        signature = getattr(function, 'type', None)
        if isinstance(function, FuncDef) and isinstance(
            signature, CallableType
        ):
            return self._argument_of(signature.ret_type, owner)
        return _unknown()

    def _is_nullable(self, call: CallExpr, node: object) -> bool:
        position = None
        if isinstance(node, TypeInfo):
            init = node.get_method('__init__')
            names = init.arg_names if isinstance(init, FuncDef) else []
            if 'nullable' in names:
                position = names.index('nullable') - 1
        return _is_true(_argument(call, 'nullable', position))

    # Resolution of names

    def _node(self, value: Expression) -> object:
        """Return the definition that a name refers to; None if unknown."""
        if isinstance(value, IndexExpr):
            value = value.base
        if not isinstance(value, RefExpr):
            return None
        if value.node is None or isinstance(value.node, PlaceholderNode):
            self._defer()
            return None
        return value.node

    def _defer(self) -> None:
        if not self._ctx.api.final_iteration:
            raise NotReady

    def _constant(self, value: Expression) -> Expression | None:
        """Return the value of a name that this module assigns exactly once."""
        if not isinstance(value, RefExpr):
            return value if isinstance(value, DictExpr) else None
        node = self._node(value)
        values = [
            statement.rvalue
            for statement in self._module().defs
            if isinstance(statement, AssignmentStmt)
            for target in statement.lvalues
            if isinstance(target, NameExpr) and target.node is node
        ]
        return values[0] if node is not None and len(values) == 1 else None

    def _module(self) -> MypyFile:
        return self._ctx.api.modules[self._ctx.api.cur_mod_id]

    def _object(self, call: CallExpr) -> Type:
        """Return the class that an object field names."""
        name = _argument(call, 'objtype', 0) or _argument(
            call, 'obj_name', None
        )
        if not isinstance(name, StrExpr):
            return _unknown()
        for symbol in self._symbols(name.value):
            if isinstance(symbol.node, TypeInfo) and any(
                parent.fullname == f'{OVO}.base.VersionedObject'
                for parent in symbol.node.mro
            ):
                return Instance(symbol.node, [])
        # The class may be defined further down.
        self._defer()
        return _unknown()

    def _symbols(self, name: str) -> Iterator[SymbolTableNode]:
        """Yield a name's meanings in this module, then in imported modules."""
        names = self._module().names
        if name in names:
            yield names[name]
        for symbol in list(names.values()):
            if isinstance(symbol.node, MypyFile):
                imported = symbol.node.names.get(name)
                if imported is not None:
                    yield imported


def fields_of(info: TypeInfo) -> dict[str, Type]:
    """Return the fields of a class and of its parents, with their types."""
    types: dict[str, Type] = {}
    removed: set[str] = set()
    for parent in info.mro:
        metadata: dict[str, list[str]] = parent.metadata.get(KEY, {})
        removed.update(metadata.get('removed', ()))
        for name in metadata.get('fields', ()):
            symbol = info.get(name)
            if name not in removed and symbol is not None:
                types.setdefault(name, symbol.type or _unknown())
    return types


def _callee(call: CallExpr) -> str:
    return call.callee.fullname if isinstance(call.callee, RefExpr) else ''


def _argument(
    call: CallExpr, name: str, position: int | None
) -> Expression | None:
    for number, (keyword, value) in enumerate(
        zip(call.arg_names, call.args, strict=True)
    ):
        if keyword == name or (keyword is None and number == position):
            return value
    return None


def _is_true(value: Expression | None) -> bool:
    """Return whether an argument is true or, if not a literal, may be."""
    if value is None:
        return False
    return not (
        isinstance(value, NameExpr) and value.fullname == 'builtins.False'
    )


def _optional(typ: Type) -> Type:
    if isinstance(get_proper_type(typ), AnyType):
        return typ
    return UnionType([typ, NoneType()])


def _unknown() -> Type:
    return AnyType(TypeOfAny.explicit)
