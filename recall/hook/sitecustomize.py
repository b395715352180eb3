# SPDX-License-Identifier: Apache-2.0
"""Import the types of an old release without all that it needed.

Python imports this module at its start. Code of the packages in the
environment variable ``RECALL_PACKAGES`` gets a placeholder for each module, or
name in a module, that cannot be imported. Modules of the packages in
``RECALL_KEEP`` hold the types, so their errors are reported.
"""

from __future__ import annotations

import builtins
import collections
import collections.abc
import inspect
import os
import sys
import types

PACKAGES = tuple(os.environ.get('RECALL_PACKAGES', '').split())
KEEP = tuple(os.environ.get('RECALL_KEEP', '').split())


class _Meta(type):
    """The type of placeholders: each attribute is a placeholder, too."""

    def __getattr__(cls, name):
        if name.startswith('__') and name.endswith('__'):
            raise AttributeError(name)
        return placeholder(name)

    def __call__(cls, *args, **kwargs):
        if len(args) == 1 and not kwargs and callable(args[0]):
            return args[0]  # a decorator
        if cls.__dict__.get('is_placeholder'):
            return cls
        return super().__call__(*args, **kwargs)

    def __iter__(cls):
        return iter(())

    def __getitem__(cls, key):
        return placeholder('item')

    def __mro_entries__(cls, bases):
        return (cls,)


def placeholder(name):
    return _Meta(name, (), {'is_placeholder': True})


def _belongs(name, packages):
    return any(name == p or name.startswith(f'{p}.') for p in packages)


def _placeholder_module(name):
    module = types.ModuleType(name)
    module.__path__ = []
    module.__getattr__ = _attribute
    return module


def _attribute(name):
    if name.startswith('__'):
        raise AttributeError(name)
    return placeholder(name)


_import = builtins.__import__


def _import_or_replace(
    name, namespace=None, locals_=None, fromlist=(), level=0
):
    importer = (namespace or {}).get('__name__', '')
    if not _belongs(importer, PACKAGES):
        return _import(name, namespace, locals_, fromlist, level)
    try:
        module = _import(name, namespace, locals_, fromlist, level)
    except Exception:
        absolute = name if not level else ''
        if not absolute or _belongs(absolute, KEEP):
            raise
        parts = absolute.split('.')
        for count in range(1, len(parts) + 1):
            path = '.'.join(parts[:count])
            if path not in sys.modules:
                sys.modules[path] = _placeholder_module(path)
                if count > 1:
                    parent = sys.modules['.'.join(parts[: count - 1])]
                    setattr(parent, parts[count - 1], sys.modules[path])
        module = sys.modules[absolute if fromlist else parts[0]]
    for item in fromlist or ():
        if item == '*' or hasattr(module, item):
            continue
        if _belongs(f'{module.__name__}.{item}', KEEP):
            continue
        setattr(module, item, placeholder(item))
    return module


if PACKAGES:
    builtins.__import__ = _import_or_replace
    # Names that Python itself has moved since.
    for _name in collections.abc.__all__:
        if not hasattr(collections, _name):
            setattr(collections, _name, getattr(collections.abc, _name))
    if not hasattr(inspect, 'getargspec'):
        inspect.getargspec = lambda function: inspect.getfullargspec(function)[
            :4
        ]
