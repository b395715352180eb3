# SPDX-License-Identifier: Apache-2.0
"""Compute the fingerprint of a type, as ObjectVersionChecker does.

That class of oslo.versionedobjects is in a module of test fixtures, which a
command cannot depend on. The digest covers the ``repr`` of fields, the
signatures of remotable methods and ``child_versions``. A test compares it
with the original.
"""

from __future__ import annotations

import collections
import hashlib
import inspect
from collections.abc import Callable, Mapping
from typing import Any

_Spec = collections.namedtuple('_Spec', 'args varargs keywords defaults')
_Spec.__name__ = 'ArgSpec'


class _Pairs(list[tuple[str, str]]):
    """Has the ``repr`` that OrderedDict had before Python 3.12."""

    def __repr__(self) -> str:
        return f'OrderedDict({super().__repr__() if self else ""})'


def fingerprint(cls: type, fields: Mapping[str, Any]) -> str:
    """Return the fingerprint, 32 hexadecimal digits.

    :param cls: a versioned type, for its methods and ``child_versions``
    :param fields: name -> field, at that version
    """
    content: tuple[Any, ...] = (sorted(fields.items()), _methods(cls))
    versions: Mapping[str, str] | None = getattr(cls, 'child_versions', None)
    if versions is not None:
        content += (_Pairs(sorted(versions.items())),)
    return hashlib.md5(
        repr(content).encode(), usedforsecurity=False
    ).hexdigest()


def _methods(cls: type) -> list[tuple[str, Any]]:
    """Return the names and signatures of remotable methods, sorted by name."""
    methods = []
    for name in sorted(dir(cls)):
        method, inner = None, getattr(cls, name)
        while inspect.isroutine(inner):  # decorators, each around the next
            inner = getattr(inner, 'original_fn', None)
            method = inner or method
        if method is not None and not isinstance(method, classmethod):
            methods.append((name, _spec(method)))
    return methods


def _spec(method: Callable[..., Any]) -> Any:
    full = inspect.getfullargspec(method)
    if full.kwonlyargs or full.kwonlydefaults or full.annotations:
        return full
    return _Spec(full.args, full.varargs, full.varkw, full.defaults)
