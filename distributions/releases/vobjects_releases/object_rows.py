# SPDX-License-Identifier: Apache-2.0
"""Check that rows of versioned objects have a version."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from vobjects_releases import objects
from vobjects_releases.findings import Finding, Rule
from vobjects_releases.tree import Tree, last_name

VERSION_STORED = Rule(
    'OBJECT_VERSION_STORED',
    'Code that stores an object, whose rows another release converts, stores'
    ' its version.',
)

RULES = (VERSION_STORED,)

#: Methods of a database that make a row.
_CREATES = re.compile(r'(add|create|insert|register)_')


def check(tree: Tree) -> Iterator[Finding]:
    """Yield the types that a release stores without a version."""
    for item in objects.object_types(tree).values():
        if objects.is_stored(tree, item.cls):
            for function in item.cls.functions():
                for node in ast.walk(function):
                    if isinstance(node, ast.Call) and _lacks_version(node):
                        yield Finding(
                            VERSION_STORED,
                            item.cls.name,
                            'version',
                            'is not in the row that'
                            f' {function.name} makes, but readers of other'
                            ' releases need it',
                            f'{item.cls.module.path}:{node.lineno}',
                        )


def _lacks_version(call: ast.Call) -> bool:
    """Return whether a call makes a row from values without a version."""
    match call:
        case ast.Call(
            func=ast.Attribute(value=database, attr=name),
            args=[ast.Dict(keys=keys), *_],
        ) if _CREATES.match(name) and 'db' in last_name(database):
            names = {
                key.value if isinstance(key, ast.Constant) else 'version'
                for key in keys
            }
            return 'version' not in names
    return False
