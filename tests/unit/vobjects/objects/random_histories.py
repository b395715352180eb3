# SPDX-License-Identifier: Apache-2.0
"""Random histories of types, and the builds that have them.

A :class:`TypeHistory` draws changes of fields. :func:`build` declares the
classes of a build that knows only the first versions of that history, in a
separate registry: a real old build.
"""

from __future__ import annotations

import contextlib
import dataclasses
import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from oslo_versionedobjects import base as ovo_base

from vobjects import fields, objects
from vobjects.objects import manifest
from vobjects.objects.field_changes import added, changed, removed, renamed

POSITIONS = ('top', 'object', 'list', 'dict', 'subclass')
ROOTS = {'request': objects.Request, 'resource': objects.Resource}
REGISTRY = ovo_base.VersionedObjectRegistry()


def to_text(number: int) -> str:
    return str(number)


def to_number(text: str) -> int:
    number = int(text)
    if str(number) != text:
        raise ValueError('not canonical')
    return number


def to_list(text: str) -> list[str]:
    return [text]


def from_list(texts: list[str]) -> str:
    (text,) = texts
    return text


def same(value: Any) -> Any:
    return value


@dataclasses.dataclass(frozen=True)
class Kind:
    """A field type.

    :ivar values: JSON values that it accepts
    :ivar next: other types that it can change to, with converters
    """

    make: Callable[..., Any]
    values: tuple[Any, ...]
    next: tuple[tuple[str, Callable[[Any], Any], Callable[[Any], Any]], ...]


def _enum(*words: str) -> Callable[..., Any]:
    return lambda **options: fields.EnumField(list(words), **options)


KINDS = {
    'text': Kind(
        fields.StringField,
        ('a', 'b', '7', '12', ''),
        (('number', to_number, to_text), ('list', to_list, from_list)),
    ),
    'number': Kind(
        fields.IntegerField,
        (0, 1, 7, -3),
        (('text', to_text, to_number), ('positive', same, same)),
    ),
    'positive': Kind(
        fields.NonNegativeIntegerField,
        (0, 1, 7),
        (('number', same, same),),
    ),
    'list': Kind(
        fields.ListOfStringsField,
        ([], ['a'], ['a', 'b']),
        (('text', from_list, to_list),),
    ),
    'few': Kind(_enum('a', 'b'), ('a', 'b'), (('many', same, same),)),
    'many': Kind(
        _enum('a', 'b', 'c'),
        ('a', 'b', 'c'),
        (('few', same, same), ('text', same, same)),
    ),
}


@dataclasses.dataclass
class FieldHistory:
    """The changes of one field, oldest first.

    :ivar changes: (version, kind of change, its details)
    """

    name: str
    kind: str
    options: dict[str, Any]
    changes: list[tuple[int, str, dict[str, Any]]]

    def declare(self, limit: int) -> tuple[str, Any] | None:
        """Return the name and declaration at a version; None: not yet."""
        name, kind = self.name, self.kind
        field = KINDS[kind].make(**self.options)
        for version, change, details in self.changes:
            at = f'1.{version}'
            if version > limit:
                if change == 'added':
                    return None
                break
            if change == 'added':
                field = added(at, field, **details)
            elif change == 'renamed':
                field = renamed(at, name, field)
                name = details['name']
            elif change == 'changed':
                options = dict(details)
                kind, new_options = options.pop('kind'), options.pop('new')
                new = KINDS[kind].make(**new_options)
                field = changed(at, field, new, **options)
            else:
                dropped = details.get('dropped')
                late = dropped is not None and dropped > limit
                field = removed(
                    at,
                    field,
                    dropped=None
                    if dropped is None or late
                    else f'1.{dropped}',
                    on_drop=details['on_drop'],
                )
        return name, field


@dataclasses.dataclass
class TypeHistory:
    """The history of one type.

    :ivar newest: minor part of the newest version
    """

    root: str
    position: str
    newest: int
    fields: list[FieldHistory]

    def changes(self) -> set[str]:
        return {c[1] for field in self.fields for c in field.changes}

    def drops_fields(self) -> bool:
        return any(
            details.get('dropped') is not None
            for field in self.fields
            for _, _, details in field.changes
        )

    def dropped_defaults(self) -> list[Any]:
        """Return the defaults of fields that the type drops, of all forms."""
        return self._defaults(
            field
            for field in self.fields
            if any(details.get('dropped') for _, _, details in field.changes)
        )

    def defaults(self) -> list[Any]:
        """Return the defaults of all fields, of all forms.

        A type that lacks the field may lose such a value silently: a sender
        may have set it for a client that omitted the field.
        """
        return self._defaults(self.fields)

    def _defaults(self, selected: Iterable[FieldHistory]) -> list[Any]:
        defaults: list[Any] = [None]
        for field in selected:
            current = [field.options.get('default')]
            defaults += current
            for _, change, details in field.changes:
                if change == 'changed':
                    up = details['up']
                    current = [up(v) for v in current if v is not None]
                    current.append(details['new'].get('default'))
                    defaults += current
        return defaults

    def ignores(self) -> bool:
        """Tell whether a value may get lost by declaration."""
        return any(
            details.get('on_drop') == 'ignore'
            for field in self.fields
            for _, _, details in field.changes
        )

    def substitutes(self) -> list[Any]:
        """Return the values that replace values lost by declaration."""
        return [
            details['instead']
            for field in self.fields
            for _, _, details in field.changes
            if 'instead' in details
        ]


def draw(rng: random.Random, newest: int, count: int) -> TypeHistory:
    """Draw a history; each version changes at least one field."""
    root = rng.choice(sorted(ROOTS))
    position = rng.choice(POSITIONS)
    names = (f'f{number}' for number in range(1000))
    drawn = [_start(rng, next(names), 0) for _ in range(count)]
    live = list(drawn)
    for version in range(1, newest + 1):
        change = rng.choice(['added', 'removed', 'renamed', 'changed'])
        field = rng.choice(live) if live else None
        if (
            change == 'removed'
            and field
            and (_optional(field) or root == 'resource')
        ):
            late = rng.choice([None, version, min(version + 2, newest)])
            if not _optional(field):
                late = None
            details = {
                'on_drop': rng.choice(['refuse', 'ignore']),
                'dropped': late,
            }
            field.changes.append((version, 'removed', details))
            live.remove(field)
        elif change == 'renamed' and field:
            details = {'name': next(names)}
            field.changes.append((version, 'renamed', details))
        elif (
            change == 'changed'
            and field
            and (step := _change(rng, field)) is not None
        ):
            field.changes.append((version, 'changed', step))
        else:
            drawn.append(_start(rng, next(names), version))
            live.append(drawn[-1])
    return TypeHistory(root, position, newest, drawn)


def _start(rng: random.Random, name: str, version: int) -> FieldHistory:
    kind = rng.choice(sorted(KINDS))
    options = _options(rng, kind, optional=version > 0)
    changes: list[Any] = []
    if version:
        on_drop = rng.choice(['refuse', 'refuse', 'ignore'])
        changes.append((version, 'added', {'on_drop': on_drop}))
    return FieldHistory(name, kind, options, changes)


def _options(
    rng: random.Random, kind: str, *, optional: bool
) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if rng.random() < 0.5:
        options['nullable'] = True
    if rng.random() < 0.4 or (optional and not options):
        options['default'] = rng.choice(KINDS[kind].values)
    return options


def _newest(field: FieldHistory) -> tuple[str, dict[str, Any]]:
    for _, change, details in reversed(field.changes):
        if change == 'changed':
            return details['kind'], details['new']
    return field.kind, field.options


def _optional(field: FieldHistory) -> bool:
    return bool(_newest(field)[1])


def _change(rng: random.Random, field: FieldHistory) -> dict[str, Any] | None:
    """Draw a change of type that registration accepts; None: there is none."""
    kind, options = _newest(field)
    new_kind, up, down = rng.choice(KINDS[kind].next)
    new_options = _options(rng, new_kind, optional=bool(options))
    details = {
        'kind': new_kind,
        'new': new_options,
        'up': up,
        'down': down,
        'on_drop': rng.choice(['refuse', 'refuse', 'ignore']),
    }
    if rng.random() < 0.3 or details['on_drop'] == 'ignore':
        details['instead'] = KINDS[kind].values[0]
    return details if _keeps_defaults(field, details) else None


def _keeps_defaults(field: FieldHistory, change: dict[str, Any]) -> bool:
    """Tell whether each earlier default survives a change of type."""
    changes = [d for _, name, d in field.changes if name == 'changed']
    changes.append(change)
    forms = [field.options, *(details['new'] for details in changes)]
    for number, options in enumerate(forms[:-1]):
        if 'default' not in options:
            continue
        value = options['default']
        try:
            for details in changes[number:]:
                value = details['up'](value)
                kind = details['kind']
                if kind in ('few', 'positive') and (
                    value not in KINDS[kind].values
                ):
                    return False
            for details in reversed(changes[number:]):
                value = details['down'](value)
        except ValueError:
            return False
        if value != options['default']:
            return False
    return True


@dataclasses.dataclass
class Build:
    """The classes of a build, and its registry."""

    history: TypeHistory
    newest: int
    registry: dict[str, list[Any]]

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        """Make this build's registry the process's."""
        before = dict(REGISTRY._obj_classes)
        REGISTRY._obj_classes.clear()
        REGISTRY._obj_classes.update(self.registry)
        manifest.at_microversion.cache_clear()
        try:
            yield
        finally:
            REGISTRY._obj_classes.clear()
            REGISTRY._obj_classes.update(before)
            manifest.at_microversion.cache_clear()

    def cls(self, name: str) -> Any:
        return self.registry[name][0]

    @property
    def evolving(self) -> Any:
        """The class whose fields change."""
        top = self.history.position == 'top'
        return self.cls('Outer' if top else self.leaf_name)

    @property
    def leaf_name(self) -> str:
        return 'Special' if self.history.position == 'subclass' else 'Leaf'

    def manifest(self, version: int) -> dict[str, str]:
        return dict.fromkeys(self.registry, f'1.{version}')

    def wrap(self, obj: Any) -> Any:
        """Return the outer object that contains an evolving one."""
        position = self.history.position
        if position == 'top':
            return obj
        value = {'list': [obj, obj], 'dict': {'k': obj}}.get(position, obj)
        return self.cls('Outer')(leaf=value)

    def unwrap(self, outer: Any) -> Any:
        if self.history.position == 'top':
            return outer
        return self._item_of(outer.leaf)

    def inner(self, data: Any) -> Any:
        """Return the JSON data of the evolving object."""
        if self.history.position == 'top':
            return data
        return self._item_of(data['leaf'])

    def _item_of(self, value: Any) -> Any:
        """Return an evolving object from its container."""
        keys = {'list': 0, 'dict': 'k'}
        position = self.history.position
        return value[keys[position]] if position in keys else value

    @property
    def in_body(self) -> Any:
        """The class of the objects in a body, which does not name classes."""
        return self.cls('Outer' if self.history.position == 'top' else 'Leaf')

    def body_steps(self) -> list[str]:
        """Return the paths of the objects in a body."""
        return {
            'top': [''],
            'list': ['.leaf[0]', '.leaf[1]'],
            'dict': ['.leaf.k', '.leaf.l'],
        }.get(self.history.position, ['.leaf'])

    def body(self, items: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the body of a request with such objects."""
        position = self.history.position
        if position == 'top':
            return items[0]
        if position == 'dict':
            return {'leaf': dict(zip('kl', items, strict=True))}
        return {'leaf': items if position == 'list' else items[0]}

    def bodies(self, data: Any) -> list[dict[str, Any]]:
        """Return the data of the objects of a body, from a primitive's."""
        position = self.history.position
        if position == 'top':
            return [data]
        leaf = data['leaf']
        if position == 'dict':
            held = [leaf[key] for key in 'kl']
        else:
            held = leaf if position == 'list' else [leaf]
        return [item['versioned_object.data'] for item in held]


def build(history: TypeHistory, newest: int) -> Build:
    """Declare the classes of a build that knows versions up to ``newest``."""
    root = ROOTS[history.root]
    inner_root = objects.Object if history.root == 'request' else root
    versions: dict[str, Any] = {
        'VERSION': f'1.{newest}',
        'VERSION_MAP': {f'1.{n}': f'1.{n}' for n in range(1, newest + 1)},
        '__module__': __name__,
    }
    declared = dict(
        pair
        for field in history.fields
        if (pair := field.declare(newest)) is not None
    )
    before = dict(REGISTRY._obj_classes)
    REGISTRY._obj_classes.clear()
    try:
        if history.position == 'top':
            _register('Outer', root, {**versions, 'fields': declared})
        else:
            leaf = _register(
                'Leaf', inner_root, {**versions, 'fields': declared}
            )
            if history.position == 'subclass':
                _register('Special', leaf, dict(versions))
            holder = {
                'object': fields.ObjectField('Leaf'),
                'list': fields.ListOfObjectsField('Leaf'),
                'dict': fields.Field(fields.Dict(fields.Object('Leaf'))),
                'subclass': fields.ObjectField('Leaf', subclasses=True),
            }
            body = {
                **versions,
                'fields': {'leaf': holder[history.position]},
                'NO_FIELD_CHANGES': {
                    f'1.{n}': 'The nested type changes.'
                    for n in range(1, newest + 1)
                },
            }
            _register('Outer', root, body)
        registry = {k: list(v) for k, v in REGISTRY._obj_classes.items()}
    finally:
        REGISTRY._obj_classes.clear()
        REGISTRY._obj_classes.update(before)
    return Build(history, newest, registry)


def _register(name: str, parent: Any, body: dict[str, Any]) -> Any:
    return objects.register(type(name, (parent,), body))


def values_of(rng: random.Random, known: dict[str, Any]) -> dict[str, Any]:
    """Draw JSON values for fields; optional ones may stay unset."""
    values: dict[str, Any] = {}
    for name, field in known.items():
        if not fields.is_required(field) and rng.random() < 0.3:
            continue
        if field.nullable and rng.random() < 0.2:
            values[name] = None
            continue
        accepted = [
            value
            for kind in KINDS.values()
            if isinstance(field._type, type(kind.make()._type))
            for value in kind.values
        ]
        allowed = getattr(field._type, 'valid_values', None)
        values[name] = rng.choice(
            [v for v in accepted if allowed is None or v in allowed]
        )
    return values
