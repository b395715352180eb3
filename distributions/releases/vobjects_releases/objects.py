# SPDX-License-Identifier: Apache-2.0
"""Find the classes of oslo.versionedobjects in a tree, and their conversions.

The conversion of a class is the code of ``obj_make_compatible`` and similar
methods, of its bases, and of what they call in the same class or module.
"""

from __future__ import annotations

import ast
import collections
import dataclasses
import operator
import re
from collections.abc import Callable, Container, Iterator, Mapping

from vobjects_releases.rpc_paths import Version, parse_version
from vobjects_releases.tree import Class, Function, Tree, is_name, last_name

#: Methods that convert an object to the version of a peer or of a row.
CONVERSIONS = frozenset(
    (
        'obj_make_compatible',
        'obj_make_compatible_from_manifest',
        '_obj_make_compatible',
        '_convert_to_version',
        'convert_to_version',
    )
)

#: Fields of classes of oslo.versionedobjects.
_MIXED_IN = {
    'oslo_versionedobjects.base.TimestampedObject': (
        'created_at',
        'updated_at',
    ),
    'oslo_versionedobjects.base.VersionedPersistentObject': (
        'created_at',
        'updated_at',
        'deleted_at',
        'deleted',
    ),
}

#: Those that are no methods of oslo.versionedobjects.
_STORED = frozenset(('_convert_to_version', 'convert_to_version'))

_COMPARISONS: Mapping[type[ast.cmpop], Callable[[Version, Version], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


#: Start of an entry in the history of a type, such as "Version 1.1: Add size".
_ENTRY = re.compile(r'(?:version\s+)?(\d{1,4}\.\d{1,4})\b', re.IGNORECASE)


#: In an entry; others change what an older version has, too.
_ADDITION = re.compile(r'\b(add(s|ed)?|introduce[ds]?|new)\b', re.IGNORECASE)

#: In an addition; what follows is no part of it, such as "to resize disks".
_PURPOSE = re.compile(r'\b(?:as|for|from|in|of|on|to|with)\b')

#: An entry of a table of versions by type.
_PEERS = re.compile(
    r"""['"]([A-Z]\w*)['"]:\s*(\[[^][]*\]|['"]\d{1,4}\.\d{1,4}['"])"""
)

_QUOTED = re.compile(r"""['"](\d{1,4}\.\d{1,4})['"]""")

_NOTE = re.compile(r'(TODO|NOTE|FIXME|XXX)\b')


@dataclasses.dataclass(frozen=True, slots=True)
class ObjectType:
    """A class with fields and a version."""

    cls: Class
    version: Version
    fields: Mapping[str, ast.expr]


def object_types(tree: Tree) -> dict[str, ObjectType]:
    """Return the types of a tree by the qualified names of their classes."""
    found = {}
    for name, cls in tree.classes.items():
        version = parse_version(
            tree.class_constant(cls, cls.assigned('VERSION'))
        )
        if version is None:
            continue
        fields: dict[str, ast.expr] = {
            field: ast.Constant(None)
            for base in tree.external_bases(cls)
            for field in _MIXED_IN.get(base, ())
        }
        for each in reversed(tree.bases(cls)):
            fields |= _fields(each)
        if fields and not _is_private(tree, cls):
            found[name] = ObjectType(cls, version, fields)
    return found


def _is_private(tree: Tree, cls: Class) -> bool:
    """Return whether no process of the service receives a class.

    It is not registered, or only consumers of notifications get it.
    """
    return any(
        'notification' in last_name(node).lower()
        for each in tree.bases(cls)
        for node in (*each.node.bases, *each.node.decorator_list)
    ) or any(
        isinstance(item, ast.Call)
        and last_name(item.func) == 'register_if'
        and any(
            isinstance(value, ast.Constant) and value.value is False
            for value in item.args
        )
        for item in cls.node.decorator_list
    )


def declaration(tree: Tree, item: ObjectType, field: str) -> Class:
    """Return the class whose body has a field of a type."""
    return next(
        each for each in tree.bases(item.cls) if field in _fields(each)
    )


def _fields(cls: Class) -> Mapping[str, ast.expr]:
    value = cls.assigned('fields')
    if not isinstance(value, ast.Dict):
        return {}
    return {
        key.value: item
        for key, item in zip(value.keys, value.values, strict=True)
        if isinstance(key, ast.Constant) and isinstance(key.value, str)
    }


def history(
    tree: Tree, item: ObjectType, names: Container[str]
) -> dict[str, Version]:
    """Return the versions to which the comments of a type add names.

    The convention is a list such as ``# Version 1.1: Add size``.
    """
    found: dict[str, Version] = {}
    version = None
    adds = False
    for line in tree.comments(item.cls):
        entry = _ENTRY.match(line)
        if entry is not None:
            version = parse_version(entry[1])
            adds = False
        elif not line or _NOTE.match(line):
            version = None
        adds = adds or bool(_ADDITION.search(line))
        if adds and version is not None and version <= item.version:
            added, *purpose = _PURPOSE.split(line, maxsplit=1)
            for word in re.findall(r'\w+', added):
                if word in names:
                    found.setdefault(word, version)
            version = None if purpose else version
    return found


def peers(tree: Tree) -> dict[str, set[Version]]:
    """Return the versions of types that code names for its peers.

    Services keep them in tables by release, such as ``{'Order': '1.2'}`` or
    ``{'objects': {'Order': ['1.3', '1.2']}}``.
    """
    found: dict[str, set[Version]] = collections.defaultdict(set)
    for module in tree.modules.values():
        for name, versions in _PEERS.findall(module.source):
            for text in _QUOTED.findall(versions):
                version = parse_version(text)
                if version is not None:
                    found[name].add(version)
    return found


def conversions(tree: Tree, cls: Class) -> Iterator[tuple[Class, Function]]:
    """Yield the methods that convert a class, and those that they call."""
    methods = tree.methods(cls)
    pending = [methods[name] for name in CONVERSIONS & methods.keys()]
    pending += [
        (each, function)
        for each in tree.bases(cls)[1:]
        for function in each.functions()
        if function.name in CONVERSIONS
    ]
    seen = set()
    while pending:
        owner, function = pending.pop()
        if function in seen:
            continue
        seen.add(function)
        yield owner, function
        for node in ast.walk(function):
            if isinstance(node, ast.Call):
                match node.func:
                    case ast.Attribute(
                        value=ast.Name(id='self' | 'cls'), attr=name
                    ) if name in methods:
                        pending.append(methods[name])
                found = tree.functions.get(owner.module.dotted(node.func))
                if found is not None:
                    pending.append((Class(found[0], owner.node), found[1]))


def converted(tree: Tree, cls: Class) -> Iterator[Version]:
    """Yield the newest version for which each step of a class converts.

    The step ``if target_version < (1, 4)`` is one for peers with version 1.3.
    """
    for owner, function in conversions(tree, cls):
        for node in ast.walk(function) if owner.node is cls.node else ():
            match node:
                case ast.Compare(
                    left=ast.Name(id=name),
                    ops=[ast.Lt()],
                    comparators=[ast.Tuple(elts=[major, minor])],
                ) if 'version' in name:
                    version = parse_version(
                        f'{ast.unparse(major)}.{ast.unparse(minor)}'
                    )
                    if version and version[1]:
                        yield version[0], version[1] - 1


def is_stored(tree: Tree, cls: Class) -> bool:
    """Return whether rows of a database hold versions of a class.

    Another method than that of oslo.versionedobjects then converts them.
    """
    return not tree.methods(cls).keys().isdisjoint(_STORED)


def converts(tree: Tree, cls: Class, field: str, peer: Version) -> bool:
    """Return whether a conversion for a peer mentions a field.

    :param peer: version of the type that the peer has
    """
    return any(
        _mentions(tree, owner, function, field, peer)
        for owner, function in conversions(tree, cls)
    )


def _mentions(
    tree: Tree, owner: Class, function: Function, field: str, peer: Version
) -> bool:
    pending: list[ast.AST] = list(function.body)
    while pending:
        node = pending.pop()
        match node:
            case ast.If():
                result = _result(node.test, peer)
                pending.append(node.test)
                pending += node.body if result is not False else []
                pending += node.orelse if result is not True else []
                continue
            case ast.Constant(value=value) if value == field:
                return True
            case ast.Attribute(attr=name) | ast.Name(id=name) if name == field:
                return True
            case ast.Name() | ast.Attribute():
                if _constant_mentions(tree, owner, node, field):
                    return True
        pending += ast.iter_child_nodes(node)
    return False


def _constant_mentions(
    tree: Tree, owner: Class, node: ast.Name | ast.Attribute, field: str
) -> bool:
    """Return whether a constant holds the name of a field."""
    values = [
        each.assigned(last_name(node))
        for each in tree.bases(owner)
        if last_name(node) != 'fields'
    ]
    for item in owner.module.body.body:
        if isinstance(item, ast.Assign) and any(
            is_name(target, last_name(node)) for target in item.targets
        ):
            values.append(item.value)
    return any(
        isinstance(child, ast.Constant) and child.value == field
        for value in values
        if value is not None
        for child in ast.walk(value)
    )


def _result(test: ast.expr, peer: Version) -> bool | None:
    """Return the result of a comparison with the peer's version.

    :returns: ``None`` if the test compares something else
    """
    match test:
        case ast.Compare(
            left=ast.Name(id=name),
            ops=[comparison],
            comparators=[
                ast.Tuple(
                    elts=[
                        ast.Constant(value=int(major)),
                        ast.Constant(value=int(minor)),
                    ]
                )
            ],
        ) if 'version' in name and type(comparison) in _COMPARISONS:
            return _COMPARISONS[type(comparison)](peer, (major, minor))
        case ast.BoolOp(op=ast.And(), values=parts):
            results = [_result(part, peer) for part in parts]
            return False if False in results else None
    return None
