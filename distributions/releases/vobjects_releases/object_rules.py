# SPDX-License-Identifier: Apache-2.0
"""Compare the objects of two releases with their conversions."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator, Mapping

from vobjects_releases import objects
from vobjects_releases.carried import carried_types
from vobjects_releases.findings import Finding, Rule
from vobjects_releases.object_values import field_values
from vobjects_releases.objects import ObjectType
from vobjects_releases.rpc import Rpc
from vobjects_releases.rpc_paths import Version
from vobjects_releases.tree import Function, Tree, last_name

ADDED_CONVERTED = Rule(
    'OBJECT_FIELD_CONVERTED',
    'The conversion to an older version mentions each field that is newer.',
)
VERSION_RAISED = Rule(
    'OBJECT_VERSION_RAISED',
    'A type with a new field has a new version.',
)
REMOVED_CONVERTED = Rule(
    'OBJECT_FIELD_KEPT',
    'A field stays in the type, or the conversion to the version of the older'
    ' release adds it.',
)
NESTED_CONVERTED = Rule(
    'OBJECT_NESTED_CONVERTED',
    'The conversion of a type converts nested objects with new versions, as'
    ' that of its base does, and keeps those of types that the peer knows.',
)
VALUE_CONVERTED = Rule(
    'OBJECT_VALUE_CONVERTED',
    'A field with a new value comes with a new version of its type, whose'
    ' conversion mentions the field.',
)
RIGHT_LEVEL = Rule(
    'OBJECT_CONVERSION_LEVEL',
    'A conversion looks for fields where its callers put them: in the data of'
    ' the primitive, or in the primitive itself.',
)

RULES = (
    ADDED_CONVERTED,
    VERSION_RAISED,
    REMOVED_CONVERTED,
    VALUE_CONVERTED,
    NESTED_CONVERTED,
    RIGHT_LEVEL,
)


def compare(old: Rpc, new: Rpc) -> Iterator[Finding]:
    """Yield the new fields without a conversion.

    A type that no call or row of the older release carries gets notes. So do
    lost fields, and new ones in an old version: a peer ignores these.
    """
    types = objects.object_types(new.tree)
    yield from _levels(new.tree, types)
    known = objects.object_types(old.tree)
    names = {item.cls.name for item in known.values()}
    carried = carried_types(old, known) | (carried_types(new, types) - names)
    carried |= {
        item.cls.name
        for item in types.values()
        if objects.is_stored(new.tree, item.cls)
    }
    for finding in _types(old.tree, new.tree, known, types):
        if finding.subject in carried:
            yield finding
        else:
            yield dataclasses.replace(
                finding,
                severity='note',
                description=f'{finding.description}; no call seems to carry'
                ' the type',
            )


def _types(
    old: Tree,
    tree: Tree,
    known: Mapping[str, ObjectType],
    types: Mapping[str, ObjectType],
) -> Iterator[Finding]:
    yield from _nested(tree, known, types)
    names = {item.cls.name for item in known.values()}
    peers = objects.peers(tree)
    for name, after in types.items():
        if name in known:
            before = known[name]
            yield from _added(tree, before, after)
            yield from _removed(tree, before, after)
            yield from _nullable(tree, before, after)
            yield from _values(old, tree, before, after)
            between = {
                peer for peer in peers[after.cls.name] if peer > before.version
            }
        elif after.cls.name not in names:
            # It got a second version before its first release.
            versions = objects.history(tree, after, after.fields).values()
            between = {
                (major, minor - 1) for major, minor in versions if minor
            }
        else:
            continue
        between.update(objects.converted(tree, after.cls))
        yield from _added_within(tree, after, between)
        yield from _lost_parts(tree, after)


def _added(
    tree: Tree, before: ObjectType, after: ObjectType
) -> Iterator[Finding]:
    for field in sorted(after.fields.keys() - before.fields.keys()):
        if before.version == after.version:
            yield Finding(
                VERSION_RAISED,
                after.cls.name,
                field,
                f'is new, but the version of the type is still'
                f' {_text(before.version)}',
                after.cls.location,
                'note',
            )
        elif _lacks_conversion(tree, before, after, field):
            yield Finding(
                ADDED_CONVERTED,
                after.cls.name,
                field,
                f'is new in version {_text(after.version)}, but no conversion'
                f' to version {_text(before.version)} removes it',
                after.cls.location,
            )


def _lacks_conversion(
    tree: Tree, before: ObjectType, after: ObjectType, field: str
) -> bool:
    """Tell whether no method converts a field for the older version."""
    return before.version[0] == after.version[0] and not objects.converts(
        tree, after.cls, field, before.version
    )


def _removed(
    tree: Tree, before: ObjectType, after: ObjectType
) -> Iterator[Finding]:
    for field in sorted(before.fields.keys() - after.fields.keys()):
        if _lacks_conversion(tree, before, after, field):
            yield Finding(
                REMOVED_CONVERTED,
                after.cls.name,
                field,
                f'is not in version {_text(after.version)}, and no conversion'
                f' to version {_text(before.version)} adds it',
                after.cls.location,
                'note',
            )


def _nullable(
    tree: Tree, before: ObjectType, after: ObjectType
) -> Iterator[Finding]:
    """Check the fields that may be null in the newer release only."""
    for field in sorted(before.fields.keys() & after.fields.keys()):
        old, new = before.fields[field], after.fields[field]
        if (
            isinstance(old, ast.Call)
            and isinstance(new, ast.Call)
            and last_name(old.func) == last_name(new.func)
            and not _may_be_null(old)
            and _may_be_null(new)
            and _lacks_conversion(tree, before, after, field)
        ):
            yield Finding(
                ADDED_CONVERTED,
                after.cls.name,
                field,
                f'may be null in version {_text(after.version)}, but no'
                f' conversion to version {_text(before.version)} replaces it',
                after.cls.location,
            )


def _values(
    old: Tree, tree: Tree, before: ObjectType, after: ObjectType
) -> Iterator[Finding]:
    """Check the texts that a field accepts in the newer release only."""
    for field in sorted(before.fields.keys() & after.fields.keys()):
        known = field_values(old, before, field)
        values = field_values(tree, after, field) - known
        if known and values and _lacks_conversion(tree, before, after, field):
            yield Finding(
                VALUE_CONVERTED,
                after.cls.name,
                field,
                f'may be {" or ".join(map(repr, sorted(values)))} in'
                f' version {_text(after.version)}, which version'
                f' {_text(before.version)} of the older release rejects',
                after.cls.location,
            )


def _may_be_null(field: ast.Call) -> bool:
    return any(
        item.arg == 'nullable'
        and isinstance(item.value, ast.Constant)
        and item.value.value is True
        for item in field.keywords
    )


def _nested(
    tree: Tree,
    before: Mapping[str, ObjectType],
    after: Mapping[str, ObjectType],
) -> Iterator[Finding]:
    """Check that conversions of types with nested objects call their base."""
    changed = _changed(before, after)
    for item in after.values():
        found = tree.methods(item.cls).get('obj_make_compatible')
        nested = sorted(
            name
            for name, field in item.fields.items()
            if _nested_type(field) in changed
            and not _is_loaded(tree, item, name)
        )
        if (
            found is not None
            and nested
            and not any(
                isinstance(node, ast.Attribute)
                and node.attr.startswith('obj_make_compatible')
                for node in ast.walk(found[1])
            )
        ):
            yield Finding(
                NESTED_CONVERTED,
                item.cls.name,
                '',
                'is converted by a method that does not call'
                ' obj_make_compatible of its base, so that'
                f' {", ".join(nested)} keep their version',
                f'{found[0].module.path}:{found[1].lineno}',
            )


def _is_loaded(tree: Tree, item: ObjectType, field: str) -> bool:
    """Return whether a type loads a field when code first reads it.

    Senders rarely set such a field.
    """
    found = tree.methods(item.cls).get('obj_load_attr')
    return found is not None and any(
        isinstance(node, ast.Attribute)
        and node.attr == field
        and isinstance(node.ctx, ast.Store)
        for node in ast.walk(found[1])
    )


def _nested_type(field: ast.expr) -> str:
    """Return the name of the type of objects in a field, or ``''``."""
    match field:
        case ast.Call(func=called, args=[ast.Constant(value=str(name)), *_]):
            if last_name(called) in ('ObjectField', 'ListOfObjectsField'):
                return name
    return ''


def _changed(
    before: Mapping[str, ObjectType], after: Mapping[str, ObjectType]
) -> set[str]:
    """Return the names of the types with a new version."""
    versions = {item.cls.name: item.version for item in before.values()}
    return {
        item.cls.name
        for item in after.values()
        if versions.get(item.cls.name, item.version) != item.version
    }


def _added_within(
    tree: Tree, after: ObjectType, peers: set[Version]
) -> Iterator[Finding]:
    """Check the fields that comments add to a version of a type.

    :param peers: versions that the code names for its peers
    """
    if not after.version[1]:
        return
    added = objects.history(tree, after, after.fields)
    for field, version in sorted(added.items()):
        for peer in sorted(peers, reverse=True):
            if (
                peer[0] == version[0]
                and peer < version
                and not objects.converts(tree, after.cls, field, peer)
            ):
                yield Finding(
                    ADDED_CONVERTED,
                    after.cls.name,
                    field,
                    f'is new in version {_text(version)}, as a comment says,'
                    f' but no conversion to version {_text(peer)} removes it',
                    after.cls.location,
                )


def _lost_parts(tree: Tree, item: ObjectType) -> Iterator[Finding]:
    """Check that a conversion which keeps some nested types keeps all.

    These are the types that the comments add to a version.
    """
    names = {cls.name for cls in tree.classes.values()} - {item.cls.name}
    added = objects.history(tree, item, names)
    lost = {
        (name, _text(version))
        for name, version in added.items()
        if not objects.converts(tree, item.cls, name, version)
    }
    for name, version in sorted(lost) if len(lost) < len(added) else ():
        yield Finding(
            NESTED_CONVERTED,
            item.cls.name,
            name,
            f'is new in version {version}, as a comment says, but unlike'
            ' others, the conversion to that version does not mention it',
            item.cls.location,
        )


def _text(version: tuple[int, int]) -> str:
    return '.'.join(map(str, version))


def _levels(tree: Tree, types: Mapping[str, ObjectType]) -> Iterator[Finding]:
    """Yield the conversions that use another level than their callers.

    oslo.versionedobjects passes the data of a primitive. A service may also
    call ``obj_make_compatible`` with what ``obj_to_primitive`` returned.
    """
    whole = next(_calls_with_primitive(tree), '')
    if not whole:
        return
    for item in types.values():
        for function in item.cls.functions():
            if function.name == 'obj_make_compatible':
                for field in sorted(_keys(function) & item.fields.keys()):
                    yield Finding(
                        RIGHT_LEVEL,
                        item.cls.name,
                        field,
                        'is not in the primitive itself, which'
                        f' {whole} passes to obj_make_compatible, but in its'
                        ' data',
                        f'{item.cls.module.path}:{function.lineno}',
                    )


def _calls_with_primitive(tree: Tree) -> Iterator[str]:
    """Yield calls whose argument is a primitive with version and data.

    The same function gets it from ``obj_to_primitive``, or passes it to
    ``obj_from_primitive``.
    """
    for module in tree.modules.values():
        if 'obj_make_compatible' not in module.source:
            continue
        for function in module.nodes.functions:
            whole = set()
            converted = {}
            for node in ast.walk(function):
                match node:
                    case ast.Assign(
                        targets=[ast.Name(id=name)],
                        value=ast.Call(func=called),
                    ) if last_name(called) == 'obj_to_primitive':
                        whole.add(name)
                    case ast.Call(func=called, args=[ast.Name(id=name), *_]):
                        if last_name(called) == 'obj_from_primitive':
                            whole.add(name)
                        elif last_name(called) == 'obj_make_compatible':
                            converted[name] = f'{module.path}:{node.lineno}'
            for name in sorted(whole & converted.keys()):
                yield converted[name]


def _keys(function: Function) -> set[str]:
    """Return the keys that a conversion deletes or pops from its argument."""
    primitive = (
        function.args.args[1].arg if len(function.args.args) > 1 else ''
    )
    found: set[str] = set()
    for node in ast.walk(function):
        match node:
            case (
                ast.Delete(
                    targets=[
                        ast.Subscript(
                            value=ast.Name(id=name),
                            slice=ast.Constant(value=key),
                        )
                    ]
                )
                | ast.Call(
                    func=ast.Attribute(value=ast.Name(id=name), attr='pop'),
                    args=[ast.Constant(value=key), *_],
                )
            ) if name == primitive:
                found.add(str(key))
    return found
