# SPDX-License-Identifier: Apache-2.0
"""Compare the classes that stored data names by their modules.

The pickle of an instance has the name of its class and module. Code that
moves a class therefore cannot read the pickles of the older release.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from vobjects_releases.findings import Finding, Rule
from vobjects_releases.tree import Class, Tree, last_name

STORED_CLASS_KEPT = Rule(
    'STORED_CLASS_KEPT',
    'A module with classes of data stays importable while a database may'
    ' hold pickles of them.',
)

RULES = (STORED_CLASS_KEPT,)

#: Bases of classes whose instances are data.
_DATA = ('BaseModel', 'Enum', 'IntEnum', 'StrEnum', 'NamedTuple')


def compare(old: Tree, new: Tree) -> Iterator[Finding]:
    """Yield the modules of data that the newer release cannot import."""
    reader = next(_readers(new), '')
    if not reader:
        return
    aliases = _aliases(new)
    removed: dict[tuple[str, str], list[str]] = {}
    for name, classes in sorted(_data_modules(old).items()):
        package, _, last = name.rpartition('.')
        if package and name not in new.modules and name not in aliases:
            # A package that is gone is one finding, however large it was.
            key = (package, last if package in new.modules else '')
            removed.setdefault(key, []).extend(classes)
    for (package, last), classes in removed.items():
        yield Finding(
            STORED_CLASS_KEPT,
            package,
            last,
            f'the {"module" if last else "package"} was removed with'
            f' {", ".join(classes)}, but {reader} reads pickles from a'
            ' database',
            reader,
        )


def _data_modules(tree: Tree) -> dict[str, list[str]]:
    """Return the modules that define data only, with their classes."""
    found: dict[str, list[str]] = {}
    others = set()
    for cls in tree.classes.values():
        if _is_data(tree, cls) and _has_attributes(tree, cls):
            found.setdefault(cls.module.name, []).append(cls.name)
        else:
            others.add(cls.module.name)
    return {name: found[name] for name in found.keys() - others}


def _has_attributes(tree: Tree, cls: Class) -> bool:
    """Return whether a class is more than a base of others."""
    return any(
        isinstance(item, ast.Assign | ast.AnnAssign)
        for each in tree.bases(cls)
        for item in each.node.body
    )


def _is_data(tree: Tree, cls: Class) -> bool:
    return any(
        base.rpartition('.')[2] in _DATA for base in tree.external_bases(cls)
    ) or any(
        'dataclass'
        in last_name(item.func if isinstance(item, ast.Call) else item)
        for item in cls.node.decorator_list
    )


def _aliases(tree: Tree) -> set[str]:
    """Return the names that code puts into ``sys.modules``."""
    found = set()
    for module in tree.modules.values():
        for node in module.body.body:
            match node:
                case ast.Assign(
                    targets=[
                        ast.Subscript(
                            value=ast.Attribute(attr='modules'),
                            slice=ast.Constant(value=str(name)),
                        )
                    ]
                ):
                    found.add(name)
    return found


def _readers(tree: Tree) -> Iterator[str]:
    """Yield code that reads pickles from columns of a database."""
    for module in tree.modules.values():
        if any(
            target.startswith('sqlalchemy')
            for target in module.imports.values()
        ):
            for node in module.nodes.calls:
                names = {
                    module.dotted(item) for item in (node.func, *node.args)
                }
                if names & _LOADS or any(
                    name.startswith('sqlalchemy')
                    and name.endswith('.PickleType')
                    for name in names
                ):
                    yield f'{module.path}:{node.lineno}'


_LOADS = frozenset(
    f'{module}.loads' for module in ('pickle', 'cloudpickle', 'dill')
)
