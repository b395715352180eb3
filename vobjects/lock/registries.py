# SPDX-License-Identifier: Apache-2.0
"""Find registered classes in all registries.

Most services share the registry of oslo.versionedobjects. Neutron has its own
registry, a subclass with separate classes, because os-vif has types of the
same names.

This module imports nothing from this package, because
``vobjects_releases.transfer_script`` loads it where only a service and
oslo.versionedobjects are installed.
"""

from __future__ import annotations

import importlib
import operator
import pkgutil
import sys
from collections.abc import Callable, Iterator
from typing import Any

if 'vobjects' in sys.modules:
    importlib.import_module('vobjects._threading')  # before oslo.messaging

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
    module_name, _, attribute = name.partition(':')
    package = module_name.removesuffix('.*')
    module: Any = importlib.import_module(package)
    if package != module_name:
        if not hasattr(module, '__path__'):
            raise ImportError(f'{package} is not a package')
        for submodule in pkgutil.walk_packages(module.__path__, f'{package}.'):
            importlib.import_module(submodule.name)
    if attribute:
        operator.attrgetter(attribute)(module)()


def top_level_package(name: str) -> str:
    """Return the top-level package of a name for :func:`load`."""
    return name.partition(':')[0].partition('.')[0]


def registered() -> dict[str, list[AnyClass]]:
    """Return the registered classes by name, newest first.

    If several registries have a name, classes of the shared one come last.
    """
    classes: dict[str, list[AnyClass]] = {}
    # Subclasses that share the registry of their parent count once.
    registries = {
        id(registry.obj_classes()): registry.obj_classes()
        for registry in _registries(ovo_base.VersionedObjectRegistry)
    }
    for registry in registries.values():
        for name, versions in registry.items():
            classes.setdefault(name, []).extend(versions)
    return classes


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
    """Return the names of the types nested in a class, also inside lists."""
    return {
        name
        for field in cls.fields.values()
        for name in object_types(field._type)
    }


def is_readable(
    cls: Any,
    find_class: Callable[[str], Any],
    seen: frozenset[str] = frozenset(),
) -> bool:
    """Return whether oslo.versionedobjects can instantiate a class.

    It reads a primitive into an instance without arguments. The payloads of
    Ironic's notifications require arguments: the service only sends them. A
    class of Cyborg connects to the message bus, so only a running service can
    read it.

    :param find_class: returns the class of a nested type; None: ignore it
    :param seen: names of types that contain this one
    """
    try:
        cls()
    except Exception:  # noqa: BLE001 - whatever a service raises
        return False
    seen |= {cls.obj_name()}
    return all(
        is_readable(inner, find_class, seen)
        for inner in map(find_class, nested_types(cls) - seen)
        if inner is not None
    )


def object_types(field_type: Any) -> set[str]:
    """Return the names of the types that a field type holds."""
    names: set[str] = set()
    while field_type is not None:
        if hasattr(field_type, '_obj_name'):
            names.add(field_type._obj_name)
        element = getattr(field_type, '_element_type', None)
        field_type = getattr(element, '_type', None)
    return names


def _registries(
    parent: type[ovo_base.VersionedObjectRegistry],
) -> Iterator[type[ovo_base.VersionedObjectRegistry]]:
    for registry in parent.__subclasses__():
        yield from _registries(registry)
    yield parent
