# SPDX-License-Identifier: Apache-2.0
"""Attributes and the constructor, put into a class as mypy sees it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mypy.nodes import (
    ARG_NAMED_OPT,
    ARG_OPT,
    ARG_POS,
    ARG_STAR2,
    Argument,
    AssignmentStmt,
    FuncDef,
    NameExpr,
    SymbolTableNode,
    TypeInfo,
    Var,
)
from mypy.plugin import ClassDefContext
from mypy.plugins.common import add_attribute_to_class, add_method_to_class
from mypy.types import (
    AnyType,
    Instance,
    NoneType,
    ProperType,
    Type,
    TypeOfAny,
    UnionType,
    get_proper_type,
)

from vobjects.mypy_plugin.declared import (
    CODE,
    KEY,
    Declared,
    Unready,
    fields_of,
)

OVO = 'oslo_versionedobjects.base'
ROOTS = frozenset({f'{OVO}.VersionedObject', f'{OVO}.VersionedObjectMixin'})
OBJECT = 'vobjects.base.objects.Object'

#: Constructors that take any field; ours stands for them.
CONSTRUCTORS = frozenset(
    {
        'builtins.object',
        f'{OVO}.ObjectListBase',
        f'{OVO}.VersionedObject',
    }
)


def may_have_fields(info: TypeInfo) -> bool:
    """Tell whether classes below this one are looked at."""
    return any(parent.fullname in ROOTS for parent in info.mro)


def declare(ctx: ClassDefContext) -> None:
    """Add what the fields of a class make of it."""
    info = ctx.cls.info
    if info.fullname == OBJECT:
        # There for those who go without this plug-in.
        info.names.pop('__getattr__', None)
    _forget(ctx, '__init__', '__getattr__')
    found = Declared(ctx)
    try:
        _wait_for_parents(ctx)
        for value in _mappings(ctx):
            found.read(value)
    except Unready:
        ctx.api.defer()
        return
    for name, typ in found.attributes.items():
        known = info.names.get(name)
        if known is None or known.plugin_generated:
            add_attribute_to_class(
                ctx.api,
                ctx.cls,
                name,
                typ,
                override_allow_incompatible=True,
                overwrite_existing=True,
            )
    info.metadata[KEY] = {
        'fields': sorted(found.attributes),
        'removed': sorted(found.removed),
        'seen': not found.unseen,
    }
    for expression in found.unseen:
        if any(parent.fullname == OBJECT for parent in info.mro):
            ctx.api.fail(
                'These fields cannot be read, so that every attribute of'
                f' "{info.name}" is Any; write them as a literal, or inherit'
                ' them from a class',
                expression,
                code=CODE,
            )
    if found.unseen or _unread(info):
        _take_anything(ctx)
    _give_items(info)
    _add_constructor(ctx)


def _forget(ctx: ClassDefContext, *names: str) -> None:
    """Remove methods that an earlier visit made; it may have known less."""
    known = ctx.cls.info.names
    for name in names:
        if name in known and known[name].plugin_generated:
            made = known.pop(name).node
            if isinstance(made, FuncDef):
                ctx.cls.defs.body.remove(made)


def _wait_for_parents(ctx: ClassDefContext) -> None:
    parents = ctx.cls.info.mro[1:]
    if not ctx.api.final_iteration and any(
        KEY not in parent.metadata
        for parent in parents
        if may_have_fields(parent) and parent.fullname not in ROOTS
    ):
        raise Unready


def _mappings(ctx: ClassDefContext) -> Iterable[Any]:
    for statement in ctx.cls.defs.body:
        if isinstance(statement, AssignmentStmt) and any(
            isinstance(target, NameExpr) and target.name == 'fields'
            for target in statement.lvalues
        ):
            yield statement.rvalue


def _unread(info: TypeInfo) -> bool:
    """Tell whether a parent has fields that nobody looked at."""
    return any(
        'fields' in parent.names
        and KEY not in parent.metadata
        and parent.fullname not in ROOTS
        for parent in info.mro[1:]
    )


def _take_anything(ctx: ClassDefContext) -> None:
    text = ctx.api.named_type('builtins.str')
    add_method_to_class(
        ctx.api,
        ctx.cls,
        '__getattr__',
        [Argument(Var('name', text), text, None, ARG_POS)],
        _any(),
    )


def _any() -> AnyType:
    return AnyType(TypeOfAny.explicit)


def _give_items(info: TypeInfo) -> None:
    """Let a list of objects be a list of what ``objects`` holds."""
    held = info.names.get('objects')
    if held is None or not held.plugin_generated:
        return
    kind = _without_none(held.type)
    if isinstance(kind, Instance) and len(kind.args) == 1:
        for number, base in enumerate(info.bases):
            if base.type.name == 'ObjectListBase' and base.args:
                info.bases[number] = base.copy_modified(args=kind.args)


def _without_none(typ: Type | None) -> ProperType | None:
    kind = get_proper_type(typ)
    if isinstance(kind, UnionType):
        for item in map(get_proper_type, kind.items):
            if not isinstance(item, NoneType):
                return item
    return kind


def _add_constructor(ctx: ClassDefContext) -> None:
    info = ctx.cls.info
    attributes = fields_of(info)
    if not attributes or any(
        _is_own(parent.names.get('__init__'), parent) for parent in info.mro
    ):
        return
    anything = _any()
    arguments = [
        Argument(Var('context', anything), anything, None, ARG_OPT),
        *(
            Argument(Var(name, typ), typ, None, ARG_NAMED_OPT)
            for name, typ in attributes.items()
        ),
    ]
    if info.get('__getattr__') is not None:
        arguments.append(
            Argument(Var('fields', anything), anything, None, ARG_STAR2)
        )
    add_method_to_class(ctx.api, ctx.cls, '__init__', arguments, NoneType())


def _is_own(init: SymbolTableNode | None, owner: TypeInfo) -> bool:
    return (
        init is not None
        and not init.plugin_generated
        and owner.fullname not in CONSTRUCTORS
    )
