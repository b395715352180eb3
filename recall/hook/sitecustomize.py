# SPDX-License-Identifier: Apache-2.0
"""Import the types of an old release without all that it needed.

Python imports this module at its start. Code of the package in the environment
variable ``RECALL_PACKAGE`` gets a placeholder for each module, or name in a
module, that cannot be imported. Modules of those in ``RECALL_KEEP`` hold
the types, so their errors are reported.
"""

import builtins
import collections
import collections.abc
import inspect
import os
import sys
import types

PACKAGE = os.environ.get('RECALL_PACKAGE', '')
KEEP = tuple(os.environ.get('RECALL_KEEP', '').split())


class _Meta(type):
    """The type of placeholders: each attribute is a placeholder, too."""

    def __getattr__(cls, name):
        return _placeholder(name)

    def __call__(cls, *args, **kwargs):
        if len(args) == 1 and not kwargs and callable(args[0]):
            return args[0]  # a decorator
        if 'is_placeholder' in vars(cls):
            return cls
        return super().__call__(*args, **kwargs)

    def __iter__(cls):
        return iter(())


def _placeholder(name):
    if name.startswith('__'):
        raise AttributeError(name)
    return _Meta(name, (), {'is_placeholder': True})


def _is_in(name, packages):
    return any(f'{name}.'.startswith(f'{each}.') for each in packages)


def _replace(name):
    """Put placeholders for a module and its packages in sys.modules."""
    parent = None
    for count in range(name.count('.') + 1):
        path = '.'.join(name.split('.')[: count + 1])
        if path not in sys.modules:
            module = sys.modules[path] = types.ModuleType(path)
            module.__path__ = []
            module.__getattr__ = _placeholder
            if parent is not None:
                setattr(parent, path.rpartition('.')[2], module)
        parent = sys.modules[path]
    return parent


_import = builtins.__import__


def _import_or_replace(name, scope=None, names=None, fromlist=(), level=0):
    importer = (scope or {}).get('__name__', '')
    if not _is_in(importer, [PACKAGE]):
        return _import(name, scope, names, fromlist, level)
    try:
        module = _import(name, scope, names, fromlist, level)
    except Exception:
        if level or _is_in(name, KEEP):
            raise
        module = _replace(name)
        if not fromlist:
            module = sys.modules[name.partition('.')[0]]
    for item in fromlist or ():
        known = item == '*' or hasattr(module, item)
        if not known and not _is_in(f'{module.__name__}.{item}', KEEP):
            setattr(module, item, _placeholder(item))
    return module


if PACKAGE:
    builtins.__import__ = _import_or_replace
    # Names that Python itself has moved since.
    for _name in collections.abc.__all__:
        if not hasattr(collections, _name):
            setattr(collections, _name, getattr(collections.abc, _name))
    if not hasattr(inspect, 'getargspec'):
        inspect.getargspec = lambda code: inspect.getfullargspec(code)[:4]
