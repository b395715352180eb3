# SPDX-License-Identifier: Apache-2.0
"""What a client gains and loses between two microversions.

A change is *breaking* if a client that was right before can be wrong after:
what it sends may be refused, or what it is answered may lack something or be
something it never met. Everything else is *additive*. A property that is
added to an answer is additive, a value added to an answer's enumeration is
not: clients are told to ignore properties they do not know, but switch on
values.

=====================  ==================  ==================
what changed           in a request        in an answer
=====================  ==================  ==================
operation, status      new: additive; gone: breaking
                       (an error's status that is gone: additive)
property               new: additive,      new: additive,
                       if required:        gone: breaking
                       breaking;
                       gone: breaking
now always there       breaking            additive
no longer always       additive            breaking
accepts more           additive            breaking
accepts less           breaking            additive
=====================  ==================  ==================
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from vobjects.contract.registry import Contract, Shape
from vobjects.contract.shapes import Schema, types_of
from vobjects.versions import Version

#: Keyword -> whether a larger value accepts less.
_BOUNDS: Mapping[str, bool] = {
    'minimum': True,
    'exclusiveMinimum': True,
    'minLength': True,
    'minItems': True,
    'minProperties': True,
    'maximum': False,
    'exclusiveMaximum': False,
    'maxLength': False,
    'maxItems': False,
    'maxProperties': False,
}

#: Keywords of which nobody can say whether a change accepts more or less.
_OPAQUE = ('pattern', 'format', 'uniqueItems', 'not', 'const')

#: Keywords whose value is a list of alternatives, or of demands.
_BRANCHES = ('anyOf', 'oneOf', 'allOf')


@dataclasses.dataclass(frozen=True, slots=True)
class Change:
    """Something that is different.

    :ivar operation: its name
    :ivar place: in a shape: ``body.cluster.config``, ``query.limit``,
        ``response 200.clusters[].config``; empty: the operation itself
    :ivar what: ``is added``, for people
    :ivar breaking: see the module
    """

    operation: str
    place: str
    what: str
    breaking: bool

    @property
    def subject(self) -> str:
        """The last name of the place; empty for an operation."""
        return self.place.rpartition('.')[2].removesuffix('[]')

    def __str__(self) -> str:
        place = f': {self.place}' if self.place else ''
        return f'{self.operation}{place} {self.what}'


@dataclasses.dataclass(frozen=True, slots=True)
class Returned:
    """Something that disappeared and came back.

    :ivar gone: first version that lacks it
    :ivar back: first version that has it again
    """

    operation: str
    place: str
    gone: Version
    back: Version

    def __str__(self) -> str:
        place = f': {self.place}' if self.place else ''
        return (
            f'{self.operation}{place} disappeared at {self.gone} and returned'
            f' at {self.back}'
        )


def between(contract: Contract, old: Version, new: Version) -> list[Change]:
    """Return what is different at ``new``, in the order of the contract.

    :raises vobjects.exceptions.VobjectsError: no such microversion
    """
    before, after = contract.at(old), contract.at(new)
    found: list[Change] = []
    for one in contract.operations:
        name = one.name
        if name not in before and name in after:
            found.append(Change(name, '', 'is added', breaking=False))
        elif name in before and name not in after:
            found.append(Change(name, '', 'is removed', breaking=True))
        elif name in before:
            found += [
                Change(name, place, what, breaking)
                for place, what, breaking in _shapes(before[name], after[name])
            ]
    return found


def returned(contract: Contract) -> list[Returned]:
    """Return what was there, then was not, and later was again."""
    found: list[Returned] = []
    for one in contract.operations:
        there: dict[str, Version] = {}  # place -> last version that had it
        gone: dict[str, Version] = {}  # place -> first version that had not
        for version in contract.versions:
            shape = contract.at(version).get(one.name)
            places = set() if shape is None else {'', *_places(shape)}
            for place in sorted(places & gone.keys()):
                found.append(
                    Returned(one.name, place, gone.pop(place), version)
                )
            for place in there.keys() - places - gone.keys():
                # With the whole, its parts are gone: told once.
                if place == '' or shape is not None:
                    gone[place] = version
            there |= dict.fromkeys(places, version)
    return found


Difference = tuple[str, str, bool]


def _shapes(old: Shape, new: Shape) -> Iterator[Difference]:
    yield from _schemas('query', old.query, new.query, answer=False)
    if old.body is None and new.body is not None:
        yield 'body', 'is read now', new.body_required
    elif old.body is not None and new.body is None:
        yield 'body', 'is no longer read', True
    elif old.body is not None and new.body is not None:
        yield from _schemas('body', old.body, new.body, answer=False)
        if new.body_required != old.body_required:
            what = 'is required' if new.body_required else 'is optional'
            yield 'body', f'{what} now', new.body_required
    for status in sorted(old.responses.keys() | new.responses.keys()):
        yield from _responses(status, old, new)


def _responses(status: int, old: Shape, new: Shape) -> Iterator[Difference]:
    place = f'response {status}'
    if status not in old.responses:
        yield place, 'is added', False
        return
    if status not in new.responses:
        yield place, 'is removed', status < 400
        return
    before, after = old.responses[status], new.responses[status]
    if before is not None and after is not None:
        yield from _schemas(place, before, after, answer=True)
    elif after is not None:
        yield place, 'has a body now', False
    elif before is not None:
        yield place, 'has no body any more', True
    headers = old.headers.get(status, {}), new.headers.get(status, {})
    for name in sorted(headers[0].keys() ^ headers[1].keys()):
        is_new = name in headers[1]
        what = f'{"has" if is_new else "lacks"} header {name} now'
        yield place, what, not is_new


def _schemas(
    place: str, old: Schema, new: Schema, *, answer: bool
) -> Iterator[Difference]:
    """Yield what differs between two schemas, the outermost first."""
    if old == new:
        return
    yield from _types(place, old, new, answer=answer)
    yield from _enums(place, old, new, answer=answer)
    yield from _bounds(place, old, new, answer=answer)
    for keyword in _OPAQUE:
        if old.get(keyword) != new.get(keyword):
            is_looser = keyword not in new
            is_tighter = keyword not in old
            breaking = not (is_tighter if answer else is_looser)
            yield place, f'has another {keyword}', breaking
    yield from _branches(place, old, new, answer=answer)
    yield from _properties(place, old, new, answer=answer)
    yield from _inside(place, old, new, answer=answer)


def _types(
    place: str, old: Schema, new: Schema, *, answer: bool
) -> Iterator[Difference]:
    before, after = types_of(old), types_of(new)
    gained = [name for name in after if name not in before]
    lost = [name for name in before if name not in after]
    # An integer was a number already.
    if 'number' in before:
        gained = [name for name in gained if name != 'integer']
    if 'number' in after:
        lost = [name for name in lost if name != 'integer']
    if gained and before:
        yield place, f'may be {" or ".join(gained)} now', answer
    if lost and after:
        yield place, f'is no longer {" or ".join(lost)}', not answer


def _enums(
    place: str, old: Schema, new: Schema, *, answer: bool
) -> Iterator[Difference]:
    before, after = old.get('enum'), new.get('enum')
    if before == after:
        return
    if before is None or after is None:
        accepts_more = after is None
        what = 'any value' if accepts_more else 'only some values'
        yield place, f'has {what} now', accepts_more is answer
        return
    gained = [str(value) for value in after if value not in before]
    lost = [str(value) for value in before if value not in after]
    if gained:
        yield place, f'may be {", ".join(gained)} now', answer
    if lost:
        yield place, f'is no longer {", ".join(lost)}', not answer


def _bounds(
    place: str, old: Schema, new: Schema, *, answer: bool
) -> Iterator[Difference]:
    for keyword, larger_is_less in _BOUNDS.items():
        before, after = old.get(keyword), new.get(keyword)
        if before == after:
            continue
        if before is None or after is None:
            accepts_less = before is None
        else:
            accepts_less = (after > before) is larger_is_less
        limit = 'no limit' if after is None else after
        yield place, f'has {keyword} {limit} now', accepts_less is not answer


def _branches(
    place: str, old: Schema, new: Schema, *, answer: bool
) -> Iterator[Difference]:
    """Compare alternatives: one by one where they are as many."""
    for keyword in _BRANCHES:
        before, after = old.get(keyword, []), new.get(keyword, [])
        if before == after:
            continue
        if len(before) == len(after):
            for one, other in zip(before, after, strict=True):
                yield from _schemas(place, one, other, answer=answer)
        else:
            accepts_more = (len(after) > len(before)) is (keyword != 'allOf')
            yield place, f'has other {keyword}', accepts_more is answer


def _properties(
    place: str, old: Schema, new: Schema, *, answer: bool
) -> Iterator[Difference]:
    before, after = old.get('properties', {}), new.get('properties', {})
    was, now = set(old.get('required', ())), set(new.get('required', ()))
    for name in [*before, *(name for name in after if name not in before)]:
        where = f'{place}.{name}'
        if name not in after:
            yield where, 'is removed', True
        elif name not in before:
            required = ' and required' if name in now and not answer else ''
            yield where, f'is added{required}', bool(required)
        else:
            if name in now - was:
                what = 'is always there now' if answer else 'is required now'
                yield where, what, not answer
            if name in was - now:
                what = 'may be missing now' if answer else 'is optional now'
                yield where, what, answer
            yield from _schemas(
                where, before[name], after[name], answer=answer
            )


def _inside(
    place: str, old: Schema, new: Schema, *, answer: bool
) -> Iterator[Difference]:
    """Compare items of lists, and properties that are not named."""
    for keyword, step in (('items', '[]'), ('additionalProperties', '.*')):
        before, after = old.get(keyword, True), new.get(keyword, True)
        if before == after:
            continue
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            yield from _schemas(place + step, before, after, answer=answer)
        else:
            accepts_more = before is False or after is True
            what = 'may be anything' if accepts_more else 'is restricted'
            yield place + step, f'{what} now', accepts_more is answer


def _places(shape: Shape) -> Iterator[str]:
    yield from _places_in('query', shape.query)
    if shape.body is not None:
        yield from _places_in('body', shape.body)
    for status, schema in shape.responses.items():
        yield f'response {status}'
        if schema is not None:
            yield from _places_in(f'response {status}', schema)


def _places_in(place: str, schema: Schema) -> Iterator[str]:
    for name, inner in schema.get('properties', {}).items():
        yield f'{place}.{name}'
        yield from _places_in(f'{place}.{name}', inner)
    items: Any = schema.get('items')
    if isinstance(items, Mapping):
        yield from _places_in(f'{place}[]', items)
    for keyword in _BRANCHES:
        for inner in schema.get(keyword, ()):
            yield from _places_in(place, inner)
