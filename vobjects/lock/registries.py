# SPDX-License-Identifier: Apache-2.0
"""Find registered classes in all registries.

Most services share the registry of oslo.versionedobjects. Neutron has its own
registry, a subclass with separate classes, because os-vif has types of the
same names.

This module imports nothing from this package, because
:mod:`vobjects.testing.transfer` loads it where only a service and
oslo.versionedobjects are installed.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any

from oslo_versionedobjects import base as ovo_base

AnyClass = type[ovo_base.VersionedObject]


def load(name: str) -> None:
    """Import the code that registers types.

    :param name: ``module``; ``module:callable``, which is called; or
        ``package.*``, all modules in the package (for example Heat's, which
        no module imports all of)
    :raises ImportError: the module or package does not exist
    :raises AttributeError: the module has no such attribute
    :raises TypeError: the attribute cannot be called without arguments
    """
    module, _, attribute = name.partition(':')
    package = module.removesuffix('.*')
    found: Any = importlib.import_module(package)
    if package != module:
        if not hasattr(found, '__path__'):
            raise ImportError(f'{package} is no package')
        for inner in pkgutil.walk_packages(found.__path__, f'{package}.'):
            importlib.import_module(inner.name)
    for part in attribute.split('.') if attribute else ():
        found = getattr(found, part)
    if attribute:
        found()


def top_level_package(name: str) -> str:
    """Return the top-level package of a name for :func:`load`."""
    return name.partition(':')[0].partition('.')[0]


def registered() -> dict[str, list[AnyClass]]:
    """Return the registered classes by name, newest first.

    If several registries have a name, classes of the shared one come last.
    """
    found: dict[str, list[AnyClass]] = {}
    seen: list[Any] = []
    for registry in _registries(ovo_base.VersionedObjectRegistry):
        classes = registry.obj_classes()
        if any(classes is other for other in seen):
            continue
        seen.append(classes)
        for name, versions in classes.items():
            found.setdefault(name, []).extend(versions)
    return found


def newest(name: str) -> AnyClass | None:
    """Return the newest registered class of a type, if any."""
    return next(iter(registered().get(name, ())), None)


def class_of(name: str, version: str) -> AnyClass:
    """Return the registered class of a type at exactly one version.

    :raises LookupError: there is no such class
    """
    for cls in registered().get(name, ()):
        if version == cls.VERSION:
            return cls
    raise LookupError(f'no class {name} {version} is registered')


def nested_types(cls: Any) -> set[str]:
    """Return the types that fields of a class hold, also inside lists."""
    return {
        name
        for field in cls.fields.values()
        for name in object_types(field._type)
    }


def object_types(kind: Any) -> set[str]:
    """Return the types that a field type holds."""
    found: set[str] = set()
    while kind is not None:
        if hasattr(kind, '_obj_name'):
            found.add(kind._obj_name)
        kind = getattr(getattr(kind, '_element_type', None), '_type', None)
    return found


def _registries(
    parent: type[ovo_base.VersionedObjectRegistry],
) -> Iterator[type[ovo_base.VersionedObjectRegistry]]:
    for registry in parent.__subclasses__():
        yield from _registries(registry)
    yield parent
