# SPDX-License-Identifier: Apache-2.0
"""Find the differences between two locks, without judging them.

A change has a *scope*:

``edit``
    An existing version of a type has changed.
``step``
    A newer version of a type differs from the newest version in the old lock.
``type``
    The type as a whole has changed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Literal

from vobjects.lock.model import (
    BY_HAND,
    Conversion,
    FieldShape,
    Lock,
    TypeShape,
    order,
)

Scope = Literal['edit', 'step', 'type']


@dataclasses.dataclass(frozen=True, slots=True)
class Change:
    """A difference between two locks.

    :ivar what: ``added``, ``retyped``, ...; see the table of rules
    :ivar old: the type before
    :ivar new: the type after; equal to ``old`` if the type was removed
    :ivar field: the name of the changed field; may be empty
    :ivar detail: details for the description
    :ivar conversions: declared from ``old`` to ``new``
    """

    scope: Scope
    what: str
    old: TypeShape
    new: TypeShape
    field: str = ''
    detail: str = ''
    conversions: tuple[Conversion, ...] = ()

    @property
    def before(self) -> FieldShape:
        """The field before the change; for a new field, the new one."""
        found = self.old.field(self.field) or self.new.field(self.field)
        assert found is not None
        return found

    @property
    def after(self) -> FieldShape:
        """The field after the change; for a removed field, the old one."""
        found = self.new.field(self.field) or self.old.field(self.field)
        assert found is not None
        return found


def between(old: Lock, new: Lock) -> Iterator[Change]:
    """Yield the changes from ``old`` to ``new``.

    New types and new versions are not changes, because no peer relies on
    them yet.
    """
    for name, shapes in old.types.items():
        if name not in new.types:
            yield Change('type', 'gone', shapes[-1], shapes[-1])
            continue
        for shape in shapes:
            same = new.shape(name, shape.version)
            if same is not None:
                yield from _edits(shape, same)
        yield from _newest(shapes, new)


def _newest(shapes: tuple[TypeShape, ...], new: Lock) -> Iterator[Change]:
    """Compare the newest version of each major version."""
    majors = {order(shape.version)[0]: shape for shape in shapes}
    now = new.types[shapes[0].name]
    for major, shape in majors.items():
        same = [one for one in now if order(one.version)[0] == major]
        if not same:
            yield Change('type', 'major', shape, now[-1])
            continue
        newest = same[-1]
        if order(newest.version) < order(shape.version):
            yield Change('type', 'fell', shape, newest)
        elif order(newest.version) > order(shape.version):
            # A type with declared history knows its old version. Differences
            # between that and the lock are reported as edits, not again here.
            base = new.shape(shape.name, shape.version) or shape
            path = tuple(
                conversion
                for one in same
                if order(one.version) > order(shape.version)
                for conversion in one.conversions
            )
            yield from _fields('step', base, newest, path)


def _edits(old: TypeShape, new: TypeShape) -> Iterator[Change]:
    found = list(_fields('edit', old, new, ()))
    yield from found
    if old.kind != new.kind and old.kind != 'plain':
        yield Change(
            'edit', 'kind', old, new, detail=f'{old.kind} to {new.kind}'
        )
    if old.microversion != new.microversion:
        yield Change('edit', 'microversion', old, new)
    for conversion in old.conversions:
        if conversion not in new.conversions:
            yield Change(
                'edit',
                'conversion',
                old,
                new,
                field=_known(conversion, old, new),
                detail=str(conversion),
            )
    if old.namespace != new.namespace:
        yield Change('edit', 'namespace', old, new)
    elif not found and '' != old.fingerprint != new.fingerprint != '':
        yield Change('edit', 'methods', old, new)


def _known(conversion: Conversion, old: TypeShape, new: TypeShape) -> str:
    for name in (conversion.field, conversion.old):
        if old.field(name) or new.field(name):
            return name
    return ''


def _fields(
    scope: Scope,
    old: TypeShape,
    new: TypeShape,
    conversions: tuple[Conversion, ...],
) -> Iterator[Change]:
    names = {field.name for shape in (old, new) for field in shape.fields}
    for name in sorted(names):
        for what, detail in _of_field(old.field(name), new.field(name)):
            concerned = tuple(
                one
                for one in conversions
                if one.concerns(name) or one == BY_HAND
            )
            yield Change(scope, what, old, new, name, detail, concerned)


def _of_field(
    old: FieldShape | None, new: FieldShape | None
) -> Iterator[tuple[str, str]]:
    if old is None or new is None:
        yield ('removed' if new is None else 'added'), ''
        return
    if old.kind.without_limits() != new.kind.without_limits():
        yield 'retyped', ''
    elif old.kind != new.kind:
        gained = _words(new) - _words(old)
        lost = _words(old) - _words(new)
        if lost:
            yield 'narrowed', ', '.join(sorted(lost))
        if gained:
            yield 'widened', ', '.join(sorted(gained))
        if not lost and not gained:
            yield 'limits', ''
    if old.nullable != new.nullable:
        yield ('nullable' if new.nullable else 'not-nullable'), ''
    if old.default != new.default:
        yield 'default', ''


def _words(field: FieldShape) -> set[str]:
    """Return the words of an enum, including one inside a list."""
    kind = field.kind
    found = set(kind.words)
    while kind.inner is not None:
        kind = kind.inner
        found |= set(kind.words)
    return found
